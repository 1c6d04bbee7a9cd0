/* Views: bound to messages, examples and tables, run, and made again with other outputs. */
#include <pthread.h>

#include "query/view/query_view.h"

#include "arrow_text.h"
#include "view_support.h"

TEST(messages_to_batches_and_tensors) {
  cst_view *view = NEW_VIEW(ranking_text);
  cst_error error = CST_ERROR_INIT;
  CHECK_STR(cst_view_input(view), "message");
  CHECK_STR(cst_view_message(view), "shop.Session");
  check_view_rows(view, session_records, NUM_SESSIONS, ranking_rows);
  check_view_rows(view, NULL, 0, "");
  cst_tensors *tensors;
  (void)cst_view_run(view, session_records, NUM_SESSIONS, NULL, &tensors, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(cst_tensors_num_tensors(tensors), 3);
  const cst_tensor *label = cst_tensors_find(tensors, "label");
  CHECK_EQ(label->kind, CST_TENSOR_DENSE);
  CHECK_EQ(((const int64_t *)label->values.data)[0], 1);
  CHECK_EQ(cst_tensors_find(tensors, "tokens")->kind, CST_TENSOR_RAGGED);
  CHECK_EQ(cst_tensors_find(tensors, "prices")->kind, CST_TENSOR_SPARSE);
  cst_view_release(view); /* the tensors stay */
  CHECK_EQ(label->values.size, 2);
  cst_tensors_release(tensors);
}

TEST(source_paths) {
  cst_view *view = NEW_VIEW(ranking_text);
  const char *const *paths;
  size_t count;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_view_source_paths(view, NULL, &paths, &count, NULL), CST_OK);
  CHECK_EQ(count, 3);
  CHECK_STR(paths[0], "event.clicked");
  CHECK_STR(paths[1], "event.price");
  CHECK_STR(paths[2], "event.query");
  CHECK_EQ(cst_view_source_paths(view, "tokens", &paths, &count, NULL), CST_OK);
  CHECK_EQ(count, 1);
  CHECK_STR(paths[0], "event.query");
  CHECK_EQ(cst_view_source_paths(view, "token", &paths, &count, &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "token");
  CHECK_STR(error.hint, "did you mean 'tokens'?");
  cst_view_release(view);
}

/* One path, or "" for none. */
static void check_row_path(const char *text, const char *expected) {
  cst_view *view = new_view(&(view_case){text});
  const char *const *paths;
  size_t count;
  CHECK_EQ(cst_view_row_paths(view, &paths, &count, NULL), CST_OK);
  CHECK_EQ(count, *expected != '\0');
  CHECK_STR(count > 0 ? paths[0] : "", expected);
  cst_view_release(view);
}

/* A label in a filter of rows leaves a server without any. */
TEST(what_decides_about_rows) {
#define EVENTS "from message shop.Session param training: bool = true param n: int64 = 1 "
  check_row_path(EVENTS "let clicks = event where clicked output n = size(clicks)", "");
  check_row_path(EVENTS "rows event output q = query", "");
  check_row_path(EVENTS "let shown = event[n:] rows shown output q = query", "");
  check_row_path(EVENTS "let shown = event where clicked rows shown output q = query",
                 "event.clicked");
  check_row_path(EVENTS "let a = event where clicked let b = a[n:] rename b as c rows c "
                        "output q = query",
                 "event.clicked");
  check_row_path(EVENTS
                 "let n_ = size(event) let shown = event where n_ > 1 rows shown output q = query",
                 "event");
  check_row_path(EVENTS "let shown = event where clicked or not training rows shown "
                        "output q = query",
                 "");
  cst_view *view = NEW_VIEW(EVENTS "let shown = event where clicked and price > 0 rows shown "
                                   "output q = query");
  const char *const *paths;
  size_t count;
  CHECK_EQ(cst_view_row_paths(view, &paths, &count, NULL), CST_OK);
  CHECK_EQ(count, 2);
  CHECK_STR(paths[1], "event.price");
  CHECK_EQ(cst_view_row_paths(view, NULL, &count, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_view_row_paths(NULL, &paths, &count, NULL), CST_INVALID_ARGUMENT);
  CHECK(paths == NULL);
  cst_view_release(view);
#undef EVENTS
}

/* What no other output needs is not parsed. */
TEST(chosen_outputs) {
  cst_view *all = NEW_VIEW(ranking_text);
  cst_view *some;
  cst_error error = CST_ERROR_INIT;
  const char *const names[] = {"tokens", "label"};
  const char *const wrong[] = {"tokens", "lable"};
  CHECK_EQ(cst__query_view_with_outputs(all, names, 2, &some, &error), CST_OK);
  check_view_rows(some, session_records, NUM_SESSIONS,
                  "{\"tokens\":[\"shoes\",\"hat\"],\"label\":1}\n{\"tokens\":[],\"label\":0}\n");
  CHECK_STR(cst_view_output(some, 0), "tokens");
  CHECK(cst_view_output(some, 2) == NULL);
  cst_view_release(some);
  CHECK_EQ(cst__query_view_with_outputs(all, names, 1, &some, &error), CST_OK);
  size_t count;
  CHECK_STR(cst__query_plan_paths(some->plan, &count)[0], "event.query");
  CHECK_EQ(count, 1);
  cst_view_release(some);
  CHECK_EQ(cst__query_view_with_outputs(all, wrong, 2, &some, &error), CST_NOT_FOUND);
  CHECK_STR(error.hint, "did you mean 'label'?");
  CHECK_EQ(cst__query_view_with_outputs(all, names, 0, &some, &error), CST_OK);
  CHECK_EQ(cst_view_num_outputs(some), 0);
  cst_view_release(some);
  cst_view_release(all);
}

TEST(parameters) {
  cst_view *view = NEW_VIEW(ranking_text, .params = {"longest", "1"}, .outputs = {"tokens"});
  check_view_rows(view, session_records, NUM_SESSIONS,
                  "{\"tokens\":[\"shoes\"]}\n{\"tokens\":[]}\n");
  cst_view_release(view);
}

/* Options of the query stand over those of the caller. */
TEST(message_options) {
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  options.message = "shop.Event";
  cst_view *view = NEW_VIEW("output x = price", .options = &options);
  const cst_bytes events[] = {{(const uint8_t *)"\x1d\x00\x00\x20\x40", 5}, {NULL, 0}};
  check_view_rows(view, events, 2, "{\"x\":2.5}\n{\"x\":null}\n");
  cst_view_release(view);
  options.form = CST_MESSAGE_BINARY;
  view = NEW_VIEW("from message shop.Event with form = json, defaults = true output x = price",
                  .options = &options);
  const cst_bytes texts[] = {{(const uint8_t *)"{\"price\": 4}", 12}, {(const uint8_t *)"{}", 2}};
  check_view_rows(view, texts, 2, "{\"x\":4.0}\n{\"x\":0.0}\n");
  cst_view_release(view);
}

static const char example_schema[] =
    "feature { name: 'n' type: INT shape { dim { size: 1 } } presence { min_fraction: 1 } }"
    "feature { name: 's' type: BYTES }"
    "feature { name: 'unread' type: FLOAT }";

/* Features that the schema fixes to one value are values. */
TEST(examples) {
  static const char record[] = "\x0a\x23\x0a\x0a\x0a\x01n\x12\x05\x1a\x03\x0a\x01\x05"
                               "\x0a\x15\x0a\x01s\x12\x10\x0a\x0e\x0a\x05hello\x0a\x05world";
  const cst_bytes records[] = {{(const uint8_t *)record, sizeof record - 1}};
  cst_view *view =
      NEW_VIEW("from example output m = n + 1 output s = ragged(s)", .schema = example_schema);
  CHECK_STR(cst_view_input(view), "example");
  CHECK(cst_view_message(view) == NULL);
  check_view_rows(view, records, 1, "{\"m\":6,\"s\":[\"hello\",\"world\"]}\n");
  cst_view *again = reopened_view(view, NULL);
  check_view_rows(again, records, 1, "{\"m\":6,\"s\":[\"hello\",\"world\"]}\n");
  CHECK_STR(cst_view_digest(again), cst_view_digest(view));
  cst_view_release(again);
  cst_view_release(view);
}

static const char table_type[] = "struct{id: int64, event: list<struct{p: float32, q: string}>}";
static const char table_rows[] = "{1, [{1.5, 'a'} {null, 'b'}]} {2, null} {3, [{4, 'c'}]}";

static cst_status apply_view(const cst_view *view, const char *type, const char *rows,
                             json_text *json, char *origin_text, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowSchema out_schema;
  struct ArrowArray out;
  struct ArrowArray origin = {0};
  cst_view_run_options options = CST_VIEW_RUN_OPTIONS_INIT;
  arrow_text(type, rows, &schema, &batch);
  options.origin = &origin;
  cst_status status = cst_view_apply(view, &schema, &batch, &options, &out_schema, &out, error);
  CHECK(batch.release == NULL);
  schema.release(&schema);
  if (status != CST_OK) {
    return status;
  }
  batch_as_json(&out_schema, &out, json);
  CHECK_EQ(origin.length, out.length);
  for (int64_t i = 0; i < origin.length; i++) {
    origin_text += sprintf(origin_text, "%d ", (int)((const int64_t *)origin.buffers[1])[i]);
  }
  out_schema.release(&out_schema);
  out.release(&out);
  origin.release(&origin);
  return CST_OK;
}

/* Batches of the type that it was bound to, and of others that have what it needs. */
TEST(tables) {
  struct ArrowSchema type;
  json_text json;
  char origin[64] = "";
  cst_error error = CST_ERROR_INIT;
  const char *text = table_type;
  arrow_text_parse_type(&text, &type);
  cst_view *view = NEW_VIEW("from table rows event output q = q output p = p", .type = &type);
  CHECK_STR(cst_view_input(view), "table");
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(apply_view(view, table_type, table_rows, &json, origin, &error), CST_OK);
    CHECK_STR(json.text,
              "{\"q\":\"a\",\"p\":1.5}\n{\"q\":\"b\",\"p\":null}\n{\"q\":\"c\",\"p\":4.0}\n");
    CHECK_STR(origin, "0 0 2 ");
  }
  CHECK_EQ(
      apply_view(view, "struct{x: int8, event: large_list<struct{q: large_string, p: float32}>}",
                 "{1, [{'z', 2}]}", &json, origin, &error),
      CST_OK);
  CHECK_STR(json.text, "{\"q\":\"z\",\"p\":2.0}\n");
  CHECK_EQ(apply_view(view, "struct{id: int64}", "{1}", &json, origin, &error), CST_SCHEMA);
  CHECK_EQ(apply_view(view, "int64", "1", &json, origin, &error), CST_INVALID_ARGUMENT);
  struct ArrowArray none;
  CHECK_EQ(cst_view_run_arrow(view, NULL, 0, NULL, NULL, &none, &error), CST_STATE);
  cst_view *again = reopened_view(view, NULL);
  CHECK_EQ(apply_view(again, table_type, table_rows, &json, origin, &error), CST_OK);
  CHECK_STR(origin, "0 0 2 ");
  cst_view_release(again);
  cst_view_release(view);
  type.release(&type);
}

TEST(a_type_in_the_query) {
  json_text json;
  char origin[64];
  cst_error error = CST_ERROR_INIT;
  cst_view *view;
  const view_case c = {"from table [{id: int64, name: [string]}] output n = size(name)",
                       .options = NULL};
  cst_query *query;
  CHECK_EQ(cst_query_from_text(c.text, strlen(c.text), NULL, &query, &error), CST_OK);
  CHECK_EQ(cst_view_new(query, NULL, &view, &error), CST_OK);
  CHECK_EQ(apply_view(view, "struct{name: list<string>}", "{['a']} {null}", &json, origin, &error),
           CST_OK);
  CHECK_STR(json.text, "{\"n\":1}\n{\"n\":null}\n");
  cst_view_release(view);
  cst_query_free(query);
}

static void check_refused(const view_case *c, cst_status expected, const char *message) {
  cst_error error = CST_ERROR_INIT;
  cst_view *view;
  CHECK_EQ(view_of_case(c, &view, &error), expected);
  CHECK(view == NULL);
  CHECK_CONTAINS(error.message, message);
}
#define CHECK_REFUSED(status, message, ...) \
  check_refused(&(view_case){__VA_ARGS__}, status, message)

TEST(what_cannot_be_bound) {
  cst_message_options event = CST_MESSAGE_OPTIONS_INIT;
  event.message = "shop.Event";
  CHECK_REFUSED(CST_NOT_FOUND, "no message of this name", "from message shop.Sesion output x = id");
  CHECK_REFUSED(CST_INVALID_ARGUMENT, "the options say shop.Event",
                "from message shop.Session output x = id", .options = &event);
  CHECK_REFUSED(CST_INVALID_ARGUMENT, "message has no option 'colour'",
                "from message shop.Session with colour = red output x = id");
  CHECK_REFUSED(CST_INVALID_ARGUMENT, "needs their schema", "from example output x = id");
  CHECK_REFUSED(CST_INVALID_ARGUMENT, "the query reads a table of unknown type",
                "from table output x = id");
  CHECK_REFUSED(CST_INVALID_ARGUMENT, "the query reads messages and needs their descriptors",
                "from message output x = id", .schema = example_schema);
  CHECK_REFUSED(CST_NOT_FOUND, "", "from message shop.Session output x = idd");
  cst_query *query;
  cst_view *view;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_query_from_text("output x = id", 13, NULL, &query, &error), CST_OK);
  CHECK_EQ(cst_view_new(query, NULL, &view, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "the query has no `from`");
  cst_query_free(query);
}

/* Records that a message decoder or the query refuses are named. */
TEST(bad_records) {
  cst_view *view = NEW_VIEW("from message shop.Session output x = 10 // id");
  const cst_bytes records[] = {session_records[0], {(const uint8_t *)"\x08", 1}};
  const cst_bytes zero[] = {session_records[0], session_records[1], {NULL, 0}};
  cst_error error = CST_ERROR_INIT;
  struct ArrowArray batch;
  CHECK_EQ(cst_view_run_arrow(view, records, 2, NULL, NULL, &batch, &error), CST_CORRUPT);
  CHECK_EQ(error.record, 1);
  CHECK_EQ(cst_view_run_arrow(view, zero, 3, NULL, NULL, &batch, &error), CST_SCHEMA);
  CHECK_EQ(error.record, 2);
  CHECK_STR(error.path, "x");
  CHECK_CONTAINS(error.message, "line 1 of the query");
  CHECK_EQ(cst_view_run_arrow(view, records, 1, NULL, NULL, &batch, &error), CST_OK);
  batch.release(&batch);
  cst_view_release(view);
}

/* Broadcasts multiply: what a batch may come to is bounded. */
TEST(the_limit_of_elements) {
  static const char text[] =
      "from message shop.Session let event.all = event.query output x = event.all";
  cst_view *view = NEW_VIEW(text, .max_elements = 1);
  cst_view *enough = NEW_VIEW(text, .max_elements = 100);
  cst_error error = CST_ERROR_INIT;
  struct ArrowArray batch;
  CHECK_EQ(cst_view_run_arrow(view, session_records, NUM_SESSIONS, NULL, NULL, &batch, &error),
           CST_LIMIT);
  check_view_rows(enough, session_records, NUM_SESSIONS,
                  "{\"x\":[\"shoes\",\"hat\"]}\n{\"x\":[]}\n");
  cst_view_release(view);
  cst_view_release(enough);
}

typedef struct small_stack {
  cst_view *view;
  cst_status status;
} small_stack;

static void *run_on_small_stack(void *context) {
  small_stack *run = context;
  cst_tensors *tensors = NULL;
  run->status = cst_view_run(run->view, session_records, NUM_SESSIONS, NULL, &tensors, NULL);
  cst_tensors_release(tensors);
  return NULL;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these need more */
TEST(a_serving_call_needs_64_kib_of_stack) {
  small_stack run = {NEW_VIEW(ranking_text), CST_STATE};
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK_EQ(pthread_attr_init(&attributes), 0);
  CHECK_EQ(pthread_attr_setstacksize(&attributes, harness_stack_size(64 << 10)), 0);
  CHECK_EQ(pthread_create(&thread, &attributes, run_on_small_stack, &run), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(run.status, CST_OK);
  pthread_attr_destroy(&attributes);
  cst_view_release(run.view);
}
#endif

typedef struct bind_input {
  cst_query *query;
  cst_view_options options;
} bind_input;

static int bind_scenario(void *context) {
  const bind_input *input = context;
  cst_view *view;
  cst_tensors *tensors = NULL;
  cst_status status = cst_view_new(input->query, &input->options, &view, NULL);
  if (status == CST_OK) {
    status = cst_view_run(view, session_records, NUM_SESSIONS, NULL, &tensors, NULL);
  }
  cst_tensors_release(tensors);
  cst_view_release(view);
  return (int)status;
}

TEST(allocation_failures) {
  cst_error error = CST_ERROR_INIT;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  const cst_query_value param = {"longest", "3"};
  const char *const outputs[] = {"label", "prices"};
  bind_input input = {NULL, CST_VIEW_OPTIONS_INIT};
  message.descriptors = text_descriptors(session_types, NULL, &error);
  input.options.message = &message;
  input.options.params = &param;
  input.options.num_params = 1;
  input.options.outputs = outputs;
  input.options.num_outputs = 2;
  CHECK_EQ(cst_query_from_text(ranking_text, strlen(ranking_text), NULL, &input.query, NULL),
           CST_OK);
  FOR_EACH_ALLOCATION_FAILURE(bind_scenario, &input, CST_NO_MEMORY);
  cst_query_free(input.query);
  cst_descriptors_release((cst_descriptors *)(uintptr_t)message.descriptors);
}
