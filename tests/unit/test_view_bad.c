/* Calls of views with bad records, and with deadlines. */
#include <time.h>

#include "arrow_text.h"
#include "view_support.h"

typedef struct told {
  int64_t records[16];
  cst_status codes[16];
  char path[256];
  size_t count;
} told;

static void note_bad(void *ctx, const cst_error *error) {
  told *t = ctx;
  t->records[t->count] = error->record;
  t->codes[t->count++] = error->code;
  snprintf(t->path, sizeof t->path, "%s", error->path);
}

/* Sessions 7 and 8, one that is cut off, one whose text is none. */
#define SEVEN \
  { (const uint8_t *)"\x08\x07\x12\x07\x0a\x03hat\x10\x01", 11 }
#define EIGHT \
  { (const uint8_t *)"\x08\x08", 2 }
#define SHORT \
  { (const uint8_t *)"\x08\x08\x12\x70", 4 }
#define NO_TEXT \
  { (const uint8_t *)"\x08\x09\x12\x05\x0a\x03h\xff\xfe", 9 }
static const cst_bytes mixed[] = {SHORT, SEVEN, NO_TEXT, EIGHT, SHORT};
enum { NUM_MIXED = 5 };

static const char all_kinds[] = "from message shop.Session\n"
                                "output label = dense(size(event where clicked), default=3)\n"
                                "output first = dense(event[0].query, default=\"none\")\n"
                                "output two = dense(event.clicked, shape=[2], default=false)\n"
                                "output tokens = ragged(event.query)\n"
                                "output prices = sparse(event.price)\n"
                                "output number = record_index()\n";

#define ROW_7                                                                 \
  "{\"label\":1,\"first\":\"hat\",\"two\":[true,false],\"tokens\":[\"hat\"]," \
  "\"prices$values\":[],\"prices$index0\":[],\"number\":1}\n"
#define ROW_8                                                                              \
  "{\"label\":0,\"first\":\"none\",\"two\":[false,false],\"tokens\":[],\"prices$values\":" \
  "[],\"prices$index0\":[],\"number\":3}\n"
#define ROW_NULL                                                                        \
  "{\"label\":null,\"first\":null,\"two\":null,\"tokens\":null,\"prices$values\":null," \
  "\"prices$index0\":null,\"number\":null}\n"

static void check_told(const told *t, const int64_t *records, size_t count) {
  CHECK_EQ(t->count, count);
  for (size_t i = 0; i < count; i++) CHECK_EQ(t->records[i], records[i]);
}

static void check_origin(struct ArrowArray *origin, const int64_t *rows, int64_t count) {
  CHECK_EQ(origin->length, count);
  if (count > 0) CHECK_MEM(origin->buffers[1], rows, (size_t)count * sizeof *rows);
  origin->release(origin);
}

static void check_mixed(const cst_view *view, cst_on_error on_error, const char *expected,
                        const int64_t *origins, int64_t count) {
  cst_view_run_options options = CST_VIEW_RUN_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray origin;
  json_text json;
  told bad = {.count = 0};
  options.on_error = on_error;
  options.on_bad = note_bad;
  options.bad_ctx = &bad;
  options.origin = &origin;
  (void)cst_view_run_arrow(view, mixed, NUM_MIXED, &options, &schema, &batch, &error);
  CHECK_STR(error.message, "");
  batch_as_json(&schema, &batch, &json);
  CHECK_STR(json.text, expected);
  check_told(&bad, (const int64_t[]){0, 2, 4}, 3);
  CHECK_EQ(bad.codes[0], CST_CORRUPT);
  check_origin(&origin, origins, count);
  schema.release(&schema);
  batch.release(&batch);
}

TEST(bad_messages_are_left_out_or_rows_of_nulls) {
  cst_view *view = NEW_VIEW(all_kinds);
  cst_error error = CST_ERROR_INIT;
  struct ArrowArray batch;
  check_mixed(view, CST_ON_ERROR_SKIP, ROW_7 ROW_8, (const int64_t[]){1, 3}, 2);
  check_mixed(view, CST_ON_ERROR_NULL, ROW_NULL ROW_7 ROW_NULL ROW_8 ROW_NULL,
              (const int64_t[]){0, 1, 2, 3, 4}, 5);
  CHECK_EQ(cst_view_run_arrow(view, mixed + 1, 3, NULL, NULL, &batch, &error), CST_CORRUPT);
  CHECK_EQ(error.record, 1);
  cst_view_release(view);
}

TEST(where_elements_are_rows_bad_records_have_none) {
  cst_view *view = NEW_VIEW("from message shop.Session rows event output q = query "
                            "output n = record_index()");
  check_mixed(view, CST_ON_ERROR_SKIP, "{\"q\":\"hat\",\"n\":1}\n", (const int64_t[]){1}, 1);
  check_mixed(view, CST_ON_ERROR_NULL, "{\"q\":\"hat\",\"n\":1}\n", (const int64_t[]){1}, 1);
  cst_view_release(view);
}

static const cst_tensor *tensor_of(const cst_tensors *tensors, const char *name) {
  const cst_tensor *found = cst_tensors_find(tensors, name);
  CHECK(found != NULL);
  return found;
}

TEST(tensors_of_rows_of_nulls) {
  cst_view *view = NEW_VIEW(all_kinds);
  cst_view_run_options options = CST_VIEW_RUN_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  cst_tensors *tensors;
  told bad = {.count = 0};
  options.on_error = CST_ON_ERROR_NULL;
  options.on_bad = note_bad;
  options.bad_ctx = &bad;
  for (int again = 0; again < 2; again++) {
    bad.count = 0;
    (void)cst_view_run(view, mixed, NUM_MIXED, &options, &tensors, &error);
    CHECK_STR(error.message, "");
    check_told(&bad, (const int64_t[]){0, 2, 4}, 3);
    static const int64_t labels[] = {0, 1, 0, 0, 0};
    static const int64_t splits[] = {0, 0, 1, 1, 1, 1};
    const cst_tensor *label = tensor_of(tensors, "label");
    CHECK_EQ(label->values.size, 5);
    CHECK_MEM(label->values.data, labels, sizeof labels);
    CHECK_EQ(tensor_of(tensors, "first")->values.size, 5);
    CHECK_EQ(tensor_of(tensors, "two")->values.size, 10);
    CHECK_EQ(tensor_of(tensors, "tokens")->values.size, 1);
    CHECK_MEM(tensor_of(tensors, "tokens")->splits[0].data, splits, sizeof splits);
    CHECK_EQ(tensor_of(tensors, "number")->values.size, 5);
    cst_tensors_release(tensors);
  }
  options.on_error = CST_ON_ERROR_SKIP;
  CHECK_EQ(cst_view_run(view, mixed, NUM_MIXED, &options, &tensors, &error), CST_OK);
  CHECK_EQ(tensor_of(tensors, "two")->values.size, 4);
  cst_tensors_release(tensors);
  static const cst_bytes all_bad[] = {SHORT, NO_TEXT};
  for (int null = 0; null < 2; null++) {
    options.on_error = null ? CST_ON_ERROR_NULL : CST_ON_ERROR_SKIP;
    CHECK_EQ(cst_view_run(view, all_bad, 2, &options, &tensors, &error), CST_OK);
    CHECK_EQ(tensor_of(tensors, "label")->values.size, null ? 2 : 0);
    cst_tensors_release(tensors);
    CHECK_EQ(cst_view_run(view, NULL, 0, &options, &tensors, &error), CST_OK);
    cst_tensors_release(tensors);
  }
  cst_view_release(view);
}

/* What the query refuses, what no tensor holds, and what is too much for one record. */
TEST(other_reasons_than_bad_messages) {
  static const cst_bytes records[] = {EIGHT, SEVEN, EIGHT};
  static const struct {
    const char *text;
    int64_t max_elements;
    cst_status code;
    bool only_tensors;
  } cases[] = {
      {"from message shop.Session output x = dense(event[0].query)", 0, CST_SCHEMA, false},
      {"from message shop.Session output x = dense(event.query, shape=[1])", 0, CST_SCHEMA, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cst_view *view = NEW_VIEW(cases[i].text, .max_elements = cases[i].max_elements);
    cst_view_run_options options = CST_VIEW_RUN_OPTIONS_INIT;
    cst_error error = CST_ERROR_INIT;
    cst_tensors *tensors;
    told bad = {.count = 0};
    options.on_error = CST_ON_ERROR_SKIP;
    options.on_bad = note_bad;
    options.bad_ctx = &bad;
    (void)cst_view_run(view, records, 3, &options, &tensors, &error);
    CHECK_STR(error.message, "");
    check_told(&bad, (const int64_t[]){0, 2}, 2);
    CHECK_EQ(bad.codes[0], cases[i].code);
    CHECK_STR(bad.path, "x");
    CHECK_EQ(tensor_of(tensors, "x")->values.size, 1);
    cst_tensors_release(tensors);
    cst_view_release(view);
  }
}

TEST(limits_of_one_record_and_of_all) {
  static const cst_bytes records[] = {EIGHT, SEVEN, SEVEN};
  cst_view *view =
      NEW_VIEW("from message shop.Session output q = ragged(event.query)", .max_elements = 4);
  cst_view_run_options options = CST_VIEW_RUN_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  struct ArrowArray batch;
  told bad = {.count = 0};
  options.on_error = CST_ON_ERROR_SKIP;
  options.on_bad = note_bad;
  options.bad_ctx = &bad;
  CHECK_EQ(cst_view_run_arrow(view, records, 3, &options, NULL, &batch, &error), CST_LIMIT);
  CHECK_EQ(bad.count, 0);
  CHECK(error.record >= 1);
  cst_view_release(view);
}

static const char table_type[] = "struct{id: int64, tag: list<string>}";
static const char table_rows[] = "{1, ['a']} {null, []} {3, ['b' 'c']} {null, null}";

TEST(rows_of_batches) {
  const char *type = table_type;
  struct ArrowSchema bound;
  arrow_text_parse_type(&type, &bound);
  cst_view *view =
      NEW_VIEW("from table output id = dense(id) output tag = ragged(tag)", .type = &bound);
  for (int on_error = CST_ON_ERROR_SKIP; on_error <= CST_ON_ERROR_NULL; on_error++) {
    cst_view_run_options options = CST_VIEW_RUN_OPTIONS_INIT;
    cst_error error = CST_ERROR_INIT;
    struct ArrowSchema schema;
    struct ArrowSchema out_schema;
    struct ArrowArray batch;
    struct ArrowArray out;
    struct ArrowArray origin;
    cst_tensors *tensors;
    json_text json;
    told bad = {.count = 0};
    bool null = on_error == CST_ON_ERROR_NULL;
    options.on_error = (cst_on_error)on_error;
    options.on_bad = note_bad;
    options.bad_ctx = &bad;
    options.origin = &origin;
    arrow_text(table_type, table_rows, &schema, &batch);
    (void)cst_view_apply(view, &schema, &batch, &options, &out_schema, &out, &error);
    CHECK_STR(error.message, "");
    check_told(&bad, (const int64_t[]){1, 3}, 2);
    check_origin(&origin, null ? (const int64_t[]){0, 1, 2, 3} : (const int64_t[]){0, 2},
                 null ? 4 : 2);
    batch_as_json(&out_schema, &out, &json);
    CHECK_STR(json.text, null ? "{\"id\":1,\"tag\":[\"a\"]}\n{\"id\":null,\"tag\":null}\n"
                                "{\"id\":3,\"tag\":[\"b\",\"c\"]}\n{\"id\":null,\"tag\":null}\n"
                              : "{\"id\":1,\"tag\":[\"a\"]}\n{\"id\":3,\"tag\":[\"b\",\"c\"]}\n");
    CHECK(batch.release == NULL);
    out_schema.release(&out_schema);
    out.release(&out);
    schema.release(&schema);
    options.origin = NULL;
    bad.count = 0;
    arrow_text(table_type, table_rows, &schema, &batch);
    CHECK_EQ(cst_view_apply_tensors(view, &schema, &batch, &options, &tensors, &error), CST_OK);
    CHECK_EQ(tensor_of(tensors, "id")->values.size, null ? 4 : 2);
    CHECK_EQ(bad.count, 2);
    CHECK(batch.release == NULL);
    cst_tensors_release(tensors);
    schema.release(&schema);
    arrow_text(table_type, table_rows, &schema, &batch);
    CHECK_EQ(cst_view_apply_tensors(view, &schema, &batch, NULL, &tensors, &error), CST_SCHEMA);
    CHECK_EQ(error.record, 1);
    CHECK(tensors == NULL);
    schema.release(&schema);
  }
  bound.release(&bound);
  cst_view_release(view);
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

TEST(deadlines) {
  cst_view *view = NEW_VIEW(ranking_text);
  cst_view_run_options options = CST_VIEW_RUN_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  cst_tensors *tensors;
  told bad = {.count = 0};
  options.on_error = CST_ON_ERROR_SKIP;
  options.on_bad = note_bad;
  options.bad_ctx = &bad;
  options.deadline = 1;
  CHECK_EQ(cst_view_run(view, mixed, NUM_MIXED, &options, &tensors, &error), CST_TIMEOUT);
  CHECK_STR(error.message, "the deadline has passed");
  CHECK_EQ(error.record, -1);
  CHECK_EQ(bad.count, 0);
  CHECK(tensors == NULL);
  CHECK_EQ(cst_view_run(view, mixed + 1, 1, NULL, &tensors, &error),
           CST_OK); /* the next has none */
  cst_tensors_release(tensors);
  options.deadline = now() + (int64_t)3600 * 1000000000;
  CHECK_EQ(cst_view_run(view, mixed, NUM_MIXED, &options, &tensors, &error), CST_OK);
  CHECK_EQ(bad.count, 3);
  cst_tensors_release(tensors);
  options.deadline = -1;
  CHECK_EQ(cst_view_run(view, mixed, 1, &options, &tensors, &error), CST_INVALID_ARGUMENT);
  options.deadline = 0;
  options.on_error = (cst_on_error)3;
  CHECK_EQ(cst_view_run(view, mixed, 1, &options, &tensors, &error), CST_INVALID_ARGUMENT);
  cst_view_release(view);
}

static int sifted_scenario(void *context) {
  const cst_bytes *saved = context;
  cst_view_run_options options = CST_VIEW_RUN_OPTIONS_INIT;
  struct ArrowArray origin = {0};
  cst_error error = CST_ERROR_INIT;
  cst_tensors *tensors = NULL;
  cst_view *view;
  options.on_error = CST_ON_ERROR_NULL;
  options.origin = &origin;
  cst_status status = cst_view_from_bytes(saved->data, saved->size, NULL, &view, &error);
  if (status == CST_OK) {
    status = cst_view_run(view, mixed + 1, 3, &options, &tensors, &error);
  }
  CHECK_EQ(origin.release != NULL, status == CST_OK);
  if (status == CST_OK) origin.release(&origin);
  cst_tensors_release(tensors);
  cst_view_release(view);
  return status;
}

TEST(sifting_without_memory) {
  cst_view *view = NEW_VIEW(ranking_text);
  void *bytes;
  size_t size;
  CHECK_EQ(cst_view_to_bytes(view, &bytes, &size, NULL), CST_OK);
  cst_bytes saved = {bytes, size};
  FOR_EACH_ALLOCATION_FAILURE(sifted_scenario, &saved, CST_NO_MEMORY);
  cst_free(bytes);
  cst_view_release(view);
}
