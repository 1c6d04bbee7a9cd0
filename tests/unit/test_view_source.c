/* Sources with a view: batches of its outputs, whatever the size of batches and the number of
 * threads, rows that are refused, raw records, columns by name, rows by number, tables, examples.
 *
 * Messages are lines of JSON, so that a test shows its data. */
#include <columnstone/dataset.h>
#include <columnstone/index.h>
#include <columnstone/query.h>

#include "message_batch_support.h"
#include "source_support.h"

static const char shop_types[] =
    "name: 'shop.proto' package: 'shop' syntax: 'proto3'"
    " message_type { name: 'Event'"
    "  field { name: 'query' number: 1 label: 1 type: 9 }"
    "  field { name: 'price' number: 2 label: 1 type: 1 }"
    "  field { name: 'clicked' number: 3 label: 1 type: 8 } }"
    " message_type { name: 'Visit'"
    "  field { name: 'id' number: 1 label: 1 type: 3 }"
    "  field { name: 'user' number: 2 label: 1 type: 9 proto3_optional: true oneof_index: 0 }"
    "  field { name: 'event' number: 3 label: 3 type: 11 type_name: '.shop.Event' }"
    "  oneof_decl { name: '_user' } }";

/* ---- views and sources ---- */

/* Binds a query of messages, or of batches of `type`; NULL after a failure. */
static cst_view *bind_view(const char *query_text, const struct ArrowSchema *type,
                           const cst_schema *schema, cst_error *error) {
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  cst_query *query = NULL;
  cst_view *view = NULL;
  cst_descriptors *descriptors = text_descriptors(shop_types, NULL, error);
  message.descriptors = descriptors;
  message.form = CST_MESSAGE_JSON;
  options.message = strstr(query_text, "from message") != NULL ? &message : NULL;
  options.type = type;
  options.schema = schema;
  if (descriptors != NULL &&
      cst_query_from_text(query_text, strlen(query_text), NULL, &query, error) == CST_OK) {
    (void)cst_view_new(query, &options, &view, error);
  }
  cst_query_free(query);
  cst_descriptors_release(descriptors);
  return view;
}

static cst_view *need_view(const char *query) {
  cst_error error = CST_ERROR_INIT;
  cst_view *view = bind_view(query, NULL, NULL, &error);
  CHECK_STR(error.message, "");
  return view;
}

static cst_source *open_lines(const char *path, const cst_view *view, cst_source_options options,
                              cst_error *error) {
  cst_source *source = NULL;
  options.view = view;
  if (options.format == NULL) {
    options.container = "lines";
  }
  (void)cst_source_open(&path, 1, &options, &source, error);
  return source;
}

/* All rows as lines of JSON; *batches counts them. What is not delivered is in the error. */
static const char *read_all(cst_source *source, size_t *batches, cst_error *error) {
  static json_text all;
  json_text one;
  cst_pass *pass = NULL;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  all = (json_text){.size = 0};
  if (cst_source_arrow_schema(source, &schema, error) != CST_OK) {
    return all.text;
  }
  CHECK_EQ(cst_pass_new(source, &pass, error), CST_OK);
  while (cst_pass_next(pass, &batch, error) == CST_OK && batch.release != NULL) {
    batch_as_json(&schema, &batch, &one);
    batch.release(&batch);
    (void)write_json_text(&all, one.text, one.size, NULL);
    if (batches != NULL) {
      ++*batches;
    }
  }
  cst_pass_free(pass);
  schema.release(&schema);
  return all.text;
}

static const char *write_lines(const char *name, const char *lines) {
  const char *path = harness_temp_path(name);
  harness_write_file(path, lines, strlen(lines));
  return path;
}

static const char visits[] =
    "{\"id\": 7, \"user\": \"ann\", \"event\": [{\"query\": \"tea\", \"price\": 4, \"clicked\": "
    "true},"
    " {\"query\": \"pot\", \"price\": 2}]}\n"
    "{\"id\": 8}\n"
    "{\"id\": 9, \"event\": [{\"query\": \"cup\", \"clicked\": true, \"price\": 1}]}\n"
    "{\"id\": 10, \"event\": [{\"query\": \"a\"}, {\"query\": \"b\"}, {\"query\": \"c\"}]}\n";

static const char clicks_query[] = "from message shop.Visit\n"
                                   "let clicks = event where clicked\n"
                                   "output id = id\n"
                                   "output n = dense(size(clicks), default=0)\n"
                                   "output queries = ragged(event.query)\n";

static const char clicks_rows[] =
    "{\"id\":7,\"n\":1,\"queries\":[\"tea\",\"pot\"]}\n{\"id\":8,\"n\":0,\"queries\":[]}\n"
    "{\"id\":9,\"n\":1,\"queries\":[\"cup\"]}\n{\"id\":10,\"n\":0,\"queries\":[\"a\",\"b\",\"c\"]}"
    "\n";

static const char rows_query[] = "from message shop.Visit\n"
                                 "let event.id = id\n"
                                 "rows event\n"
                                 "output q = query\n"
                                 "output id = id\n"
                                 "output at = record_index()\n";

static const char rows_rows[] =
    "{\"q\":\"tea\",\"id\":7,\"at\":0}\n{\"q\":\"pot\",\"id\":7,\"at\":0}\n"
    "{\"q\":\"cup\",\"id\":9,\"at\":2}\n{\"q\":\"a\",\"id\":10,\"at\":3}\n"
    "{\"q\":\"b\",\"id\":10,\"at\":3}\n{\"q\":\"c\",\"id\":10,\"at\":3}\n";

/* ---- the same rows, however they are read ---- */

static void check_every_reading(const char *query, const char *path, const char *format,
                                const char *expected) {
  static const int64_t sizes[] = {1, 3, 1024};
  static const int32_t threads[] = {1, 2, 4};
  cst_view *view = need_view(query);
  for (size_t i = 0; i < 9; i++) {
    cst_error error = CST_ERROR_INIT;
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.batch_size = sizes[i % 3];
    options.threads = threads[i / 3];
    options.format = format;
    cst_source *source = open_lines(path, view, options, &error);
    CHECK_STR(error.message, "");
    size_t batches = 0;
    CHECK_STR(read_all(source, &batches, &error), expected);
    CHECK_STR(error.message, "");
    size_t rows = 0;
    for (const char *at = expected; *at != '\0'; at++) {
      rows += *at == '\n';
    }
    size_t size = (size_t)sizes[i % 3];
    CHECK_EQ(batches, (rows + size - 1) / size);
    cst_source_release(source);
  }
  cst_view_release(view);
}

TEST(batches_of_any_size_and_threads_give_the_same_rows) {
  const char *path = write_lines("visits", visits);
  check_every_reading(clicks_query, path, NULL, clicks_rows);
  check_every_reading(rows_query, path, NULL, rows_rows);
}

TEST(tables_are_read_by_the_types_of_their_view) {
  const char *path = write_lines("visits.jsonl", visits);
  check_every_reading(
      "from table [{id: int32, event: [{query: string, clicked: bool}]}]\n"
      "output id = id\noutput n = size(event where clicked)\noutput at = record_index()\n",
      path, "json",
      "{\"id\":7,\"n\":1,\"at\":0}\n{\"id\":8,\"n\":null,\"at\":1}\n"
      "{\"id\":9,\"n\":1,\"at\":2}\n{\"id\":10,\"n\":0,\"at\":3}\n");
  check_every_reading("from table [{id: int64, event: [{query: string}]}]\nrows event\n"
                      "output q = query\n",
                      path, "json",
                      "{\"q\":\"tea\"}\n{\"q\":\"pot\"}\n{\"q\":\"cup\"}\n{\"q\":\"a\"}\n"
                      "{\"q\":\"b\"}\n{\"q\":\"c\"}\n");
}

/* ---- columns ---- */

TEST(columns_are_outputs) {
  static const char *const wanted[] = {"queries", "id"};
  static const char *const unknown[] = {"querys"};
  const char *path = write_lines("visits", visits);
  cst_view *view = need_view(clicks_query);
  cst_error error = CST_ERROR_INIT;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_specs *specs = NULL;
  options.columns = wanted;
  options.num_columns = 2;
  cst_source *source = open_lines(path, view, options, &error);
  CHECK_CONTAINS(read_all(source, NULL, &error), "{\"queries\":[\"tea\",\"pot\"],\"id\":7}\n");
  CHECK_EQ(cst_source_specs(source, &specs, &error), CST_OK);
  CHECK_EQ(cst_specs_num_specs(specs), 2);
  CHECK_STR(cst_specs_get(specs, 1)->name, "queries");
  CHECK_EQ(cst_specs_get(specs, 1)->kind, CST_TENSOR_RAGGED);
  cst_specs_release(specs);
  cst_source_release(source);
  options.columns = unknown;
  options.num_columns = 1;
  CHECK(open_lines(path, view, options, &error) == NULL);
  CHECK_EQ(error.code, CST_NOT_FOUND);
  CHECK_STR(error.hint, "did you mean 'queries'?");
  cst_view_release(view);
}

TEST(raw_records_go_along) {
  const char *path = write_lines("visits", visits);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.raw_column = "raw";
  cst_error error = CST_ERROR_INIT;
  cst_view *view = need_view("from message shop.Visit rows event output q = query");
  cst_source *source = open_lines(path, view, options, &error);
  const char *text = read_all(source, NULL, &error);
  CHECK_STR(error.message, "");
  CHECK_CONTAINS(text, "{\"q\":\"tea\",\"raw\":[\"{\\\"id\\\": 7");
  CHECK_CONTAINS(text, "{\"q\":\"pot\",\"raw\":[\"{\\\"id\\\": 7");
  CHECK_CONTAINS(text, "{\"q\":\"cup\",\"raw\":[\"{\\\"id\\\": 9");
  cst_source_release(source);
  options.offset_column = "at"; /* of the lines */
  source = open_lines(path, view, options, &error);
  text = read_all(source, NULL, &error);
  CHECK_STR(error.message, "");
  CHECK_CONTAINS(text, "{\"q\":\"tea\",\"raw\":[\"{\\\"id\\\": 7");
  CHECK_CONTAINS(text, "\"],\"at\":0}\n{\"q\":\"pot\"");
  CHECK(strstr(text, "\"at\":0}\n{\"q\":\"a\"") == NULL);
  cst_schema *inferred;
  CHECK_EQ(cst_source_infer(source, NULL, NULL, &inferred, &error), CST_OK); /* it is no feature */
  CHECK_EQ(cst_schema_num_features(inferred), 2);
  cst_schema_release(inferred);
  cst_source_release(source);
  options.raw_column = NULL;
  options.offset_column = "q";
  CHECK(open_lines(path, view, options, &error) == NULL);
  CHECK_CONTAINS(error.message,
                 "the column of raw records or offsets has the same name as an output");
  options.offset_column = NULL;
  options.raw_column = "q";
  CHECK(open_lines(path, view, options, &error) == NULL);
  CHECK_CONTAINS(error.message,
                 "the column of raw records or offsets has the same name as an output");
  cst_view_release(view);
}

/* ---- bad records ---- */

static const char bad_visits[] =
    "{\"id\": 1, \"event\": [{\"price\": 4}]}\n"
    "{\"id\": 2, \"event\": [{\"price\": 4}, {\"price\": 4}]}\n" /* refused: too long */
    "{\"id\": 3, \"event\": 5}\n"                                /* no such message */
    "{\"id\": 4}\n";

static const char dense_query[] = "from message shop.Visit\n"
                                  "output id = id\n"
                                  "output price = dense(event.price, shape=[1], default=0)\n"
                                  "output n = dense(size(event), default=9)\n";

typedef struct told {
  int count;
  int64_t records[8];
  char message[8][512];
  char path[8][256];
} told;

static bool note_dropped(void *ctx, const cst_dropped *dropped) {
  told *t = ctx;
  t->records[t->count] = dropped->record;
  snprintf(t->path[t->count], sizeof t->path[0], "%s", dropped->error->path);
  snprintf(t->message[t->count++], sizeof t->message[0], "%s", dropped->error->message);
  return true;
}

TEST(refused_records_end_the_pass) {
  const char *path = write_lines("bad", bad_visits);
  cst_view *view = need_view(dense_query);
  for (int32_t threads = 1; threads <= 2; threads++) {
    cst_error error = CST_ERROR_INIT;
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.batch_size = 1;
    options.threads = threads;
    cst_source *source = open_lines(path, view, options, &error);
    CHECK_STR(read_all(source, NULL, &error), "{\"id\":1,\"price\":[4.0],\"n\":1}\n");
    CHECK_EQ(error.code, CST_SCHEMA);
    CHECK_EQ(error.record, 1);
    CHECK_EQ(error.offset, 35);
    CHECK_STR(error.path, "price");
    CHECK_CONTAINS(error.message, "line 3 of the query");
    CHECK_STR(error.file, path);
    cst_source_release(source);
  }
  cst_view_release(view);
}

TEST(refused_records_are_skipped_or_null) {
  const char *path = write_lines("bad", bad_visits);
  cst_view *view = need_view(dense_query);
  for (size_t i = 0; i < 8; i++) {
    told t = {0};
    bool nulls = i % 2 == 1;
    cst_error error = CST_ERROR_INIT;
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.on_error = nulls ? CST_ON_ERROR_NULL : CST_ON_ERROR_SKIP;
    options.batch_size = i < 4 ? 2 : 1024;
    options.threads = i % 4 < 2 ? 1 : 2;
    options.on_dropped = note_dropped;
    options.dropped_ctx = &t;
    cst_source *source = open_lines(path, view, options, &error);
    CHECK_STR(read_all(source, NULL, &error),
              nulls
                  ? "{\"id\":1,\"price\":[4.0],\"n\":1}\n{\"id\":null,\"price\":null,\"n\":null}\n"
                    "{\"id\":null,\"price\":null,\"n\":null}\n{\"id\":4,\"price\":[0.0],\"n\":0}\n"
                  : "{\"id\":1,\"price\":[4.0],\"n\":1}\n{\"id\":4,\"price\":[0.0],\"n\":0}\n");
    CHECK_STR(error.message, "");
    CHECK_EQ(t.count, 2);
    CHECK_EQ(t.records[0], 1);
    CHECK_EQ(t.records[1], 2);
    CHECK_STR(t.path[0], "price");
    CHECK_CONTAINS(t.message[0], "line 3 of the query");
    cst_source_release(source);
  }
  cst_view_release(view);
}

TEST(refused_rows_of_tables_are_skipped_or_null) {
  const char *path =
      write_lines("bad.jsonl", "{\"id\": 1, \"n\": [4]}\n{\"id\": 2, \"n\": [4, 4]}\n"
                               "{\"id\": 3, \"n\": []}\n");
  cst_view *view = need_view("from table [{id: int64, n: [int64]}]\noutput id = id\n"
                             "output n = dense(n, shape=[1], default=0)\n");
  for (int i = 0; i < 4; i++) {
    told t = {0};
    bool nulls = i % 2 == 1;
    cst_error error = CST_ERROR_INIT;
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.format = "json";
    options.on_error = nulls ? CST_ON_ERROR_NULL : CST_ON_ERROR_SKIP;
    options.batch_size = i < 2 ? 1 : 1024;
    options.on_dropped = note_dropped;
    options.dropped_ctx = &t;
    cst_source *source = open_lines(path, view, options, &error);
    CHECK_STR(read_all(source, NULL, &error),
              nulls ? "{\"id\":1,\"n\":[4]}\n{\"id\":null,\"n\":null}\n{\"id\":3,\"n\":[0]}\n"
                    : "{\"id\":1,\"n\":[4]}\n{\"id\":3,\"n\":[0]}\n");
    CHECK_STR(error.message, "");
    CHECK_EQ(t.count, 1);
    CHECK_EQ(t.records[0], 1);
    cst_source_release(source);
  }
  cst_view_release(view);
}

TEST(with_rows_a_bad_record_has_none) {
  const char *path = write_lines("bad", bad_visits);
  cst_view *view = need_view("from message shop.Visit\nrows event\noutput price = price\n");
  told t = {0};
  cst_error error = CST_ERROR_INIT;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.on_error = CST_ON_ERROR_NULL;
  options.on_dropped = note_dropped;
  options.dropped_ctx = &t;
  cst_source *source = open_lines(path, view, options, &error);
  CHECK_STR(read_all(source, NULL, &error), "{\"price\":4.0}\n{\"price\":4.0}\n{\"price\":4.0}\n");
  CHECK_EQ(t.count, 1);
  CHECK_EQ(t.records[0], 2);
  cst_source_release(source);
  cst_view_release(view);
}

/* ---- rows by number, parts ---- */

static const char *take_as_json(cst_source *source, const uint64_t *rows, size_t count,
                                cst_error *error) {
  static json_text text;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  text = (json_text){.size = 0};
  if (cst_source_take(source, rows, count, &batch, error) == CST_OK) {
    CHECK_EQ(cst_source_arrow_schema(source, &schema, error), CST_OK);
    batch_as_json(&schema, &batch, &text);
    schema.release(&schema);
    batch.release(&batch);
  }
  return text.text;
}

TEST(rows_by_their_numbers) {
  static const uint64_t rows[] = {3, 0, 3};
  const char *path = write_lines("visits", visits);
  cst_error error = CST_ERROR_INIT;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *part = NULL;
  cst_view *view = need_view("from message shop.Visit output id = id output at = record_index()");
  cst_source *source = open_lines(path, view, options, &error);
  CHECK_STR(take_as_json(source, rows, 3, &error),
            "{\"id\":10,\"at\":3}\n{\"id\":7,\"at\":0}\n{\"id\":10,\"at\":3}\n");
  CHECK_EQ(cst_source_range(source, 1, 3, &part, &error), CST_OK);
  CHECK_STR(read_all(part, NULL, &error), "{\"id\":8,\"at\":1}\n{\"id\":9,\"at\":2}\n");
  cst_source_release(part);
  cst_source_release(source);
  cst_view_release(view);
  view = need_view(rows_query);
  source = open_lines(path, view, options, &error);
  CHECK_STR(take_as_json(source, rows, 3, &error), "");
  CHECK_EQ(error.code, CST_UNSUPPORTED);
  uint64_t count = 0;
  CHECK_EQ(cst_source_num_rows(source, &count, &error), CST_OK);
  CHECK_EQ(count, 6);
  cst_source_release(source);
  cst_view_release(view);
}

TEST(datasets_of_a_view) {
  const char *path = write_lines("visits", visits);
  for (int with_rows = 0; with_rows < 2; with_rows++) {
    cst_error error = CST_ERROR_INIT;
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    cst_dataset_options how = CST_DATASET_OPTIONS_INIT;
    cst_dataset *dataset = NULL;
    cst_shuffle shuffle;
    uint64_t rows = 0;
    cst_view *view = need_view(with_rows ? rows_query : clicks_query);
    cst_source *source = open_lines(path, view, options, &error);
    how.shuffle = CST_SHUFFLE_AUTO;
    CHECK_EQ(cst_dataset_new(source, &how, &dataset, &error), CST_OK);
    CHECK_EQ(cst_dataset_num_rows(dataset, &rows, &error), CST_OK);
    CHECK_EQ(rows, with_rows ? 6 : 4);
    CHECK_EQ(cst_dataset_shuffle(dataset, &shuffle, &error), CST_OK);
    CHECK_EQ(shuffle, with_rows ? CST_SHUFFLE_WINDOW : CST_SHUFFLE_GLOBAL);
    cst_dataset_release(dataset);
    cst_source_release(source);
    cst_view_release(view);
  }
}

TEST(several_files_and_parts_of_them) {
  const char *paths[2] = {write_lines("visits", visits), write_lines("visits2", visits)};
  cst_view *view = need_view(rows_query);
  char expected[sizeof rows_rows * 2];
  snprintf(expected, sizeof expected, "%s%s", rows_rows, rows_rows);
  for (int32_t threads = 1; threads <= 4; threads++) {
    cst_error error = CST_ERROR_INIT;
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    cst_source *source = NULL, *part = NULL;
    options.view = view;
    options.container = "lines";
    options.threads = threads;
    options.batch_size = 4;
    CHECK_EQ(cst_source_open(paths, 2, &options, &source, &error), CST_OK);
    size_t batches = 0;
    CHECK_STR(read_all(source, &batches, &error), expected);
    CHECK_EQ(batches, 3);
    CHECK_EQ(cst_source_split(source, 1, 2, &part, &error), CST_OK);
    CHECK_STR(read_all(part, NULL, &error), rows_rows);
    cst_source_release(part);
    cst_source_release(source);
  }
  cst_view_release(view);
}

/* ---- streams ---- */

/* Two batches of three rows, of all columns or of those that are asked for. */
static cst_status open_batches(void *ctx, const cst_stream_request *request,
                               struct ArrowArrayStream *out, cst_error *error) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source = NULL;
  options.format = "json";
  options.batch_size = 3;
  CHECK_EQ(request->num_columns, 2);
  CHECK_EQ(cst_source_open((const char *const *)&ctx, 1, &options, &source, error), CST_OK);
  cst_status status = cst_source_stream(source, out, error);
  cst_source_release(source);
  return status;
}

TEST(streams_of_the_callers_go_through_a_view) {
  const char *path = write_lines("visits.jsonl", visits);
  cst_view *view = need_view(
      "from table [{id: int64, user: string, event: [{query: string, price: float64, "
      "clicked: bool}]}]\nlet event.id = id\nrows event\noutput q = query\noutput id = id\n"
      "output at = record_index()\n");
  for (int64_t size = 1; size <= 1024; size *= 4) {
    cst_error error = CST_ERROR_INIT;
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    cst_source *source = NULL;
    cst_stream_opener opener = CST_STREAM_OPENER_INIT;
    opener.open = open_batches;
    opener.ctx = (void *)(uintptr_t)path;
    options.view = view;
    options.batch_size = size;
    CHECK_EQ(cst_source_open_streams(&opener, 1, &options, &source, &error), CST_OK);
    CHECK_STR(error.message, "");
    CHECK_STR(read_all(source, NULL, &error), rows_rows);
    CHECK_STR(error.message, "");
    cst_source_release(source);
  }
  cst_view_release(view);
}

/* ---- what does not go together ---- */

TEST(options_that_a_view_does_not_take) {
  const char *path = write_lines("visits", visits);
  cst_view *view = need_view(clicks_query);
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  options.column_flags = CST_COLUMNS_OFFSETS_32;
  CHECK(open_lines(path, view, options, &error) == NULL);
  CHECK_CONTAINS(error.hint, "column_flags");
  options.column_flags = 0;
  options.message = &message;
  CHECK(open_lines(path, view, options, &error) == NULL);
  CHECK_CONTAINS(error.message, "its own descriptors");
  options.message_column = "value";
  CHECK(open_lines(path, view, options, &error) == NULL);
  CHECK_EQ(error.code, CST_UNSUPPORTED);
  options = (cst_source_options)CST_SOURCE_OPTIONS_INIT;
  options.format = "json";
  CHECK(open_lines(write_lines("visits.jsonl", visits), view, options, &error) == NULL);
  CHECK_CONTAINS(error.message, "the format json does not contain protobuf messages");
  cst_view_release(view);
}

TEST(a_table_of_other_types_does_not_fit) {
  const char *path = write_lines("other.csv", "id,n\n1,2\n");
  cst_view *view = need_view("from table [{id: int64, missing: int64}]\noutput s = id + missing\n");
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  options.format = "csv";
  CHECK(open_lines(path, view, options, &error) == NULL);
  CHECK_STR(error.path, "missing");
  cst_view_release(view);
}

/* ---- examples ---- */

static const char example_schema[] =
    "feature { name: 'id' type: INT presence { min_fraction: 1 } shape { dim { size: 1 } } }"
    "feature { name: 'name' type: BYTES presence { min_fraction: 1 } shape { dim { size: 1 } }"
    "  string_domain { name: 'n' } }"
    "feature { name: 'x' type: FLOAT value_count { min: 0 max: 1 } }";

TEST(examples_are_flat_for_queries) {
  const char *path = write_examples("examples", 0, 4);
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema = NULL;
  CHECK_EQ(cst_schema_parse(example_schema, strlen(example_schema), &schema, &error), CST_OK);
  cst_view *view =
      bind_view("from example\noutput a = upper(name)\noutput b = x * 2\n", NULL, schema, &error);
  CHECK_STR(error.message, "");
  cst_schema_release(schema);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "example";
  cst_source *source = open_lines(path, view, options, &error);
  CHECK_STR(read_all(source, NULL, &error),
            "{\"a\":\"ROW 0\",\"b\":null}\n{\"a\":\"ROW 1\",\"b\":1.0}\n"
            "{\"a\":\"ROW 2\",\"b\":2.0}\n{\"a\":\"ROW 3\",\"b\":null}\n");
  CHECK_STR(error.message, "");
  cst_source_release(source);
  cst_view_release(view);
}

/* ---- what looks at all of a source ---- */

TEST(inference_looks_at_the_outputs) {
  const char *path = write_lines("visits", visits);
  cst_error error = CST_ERROR_INIT;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_schema *schema = NULL;
  cst_view *view = need_view("from message shop.Visit\nrows event\noutput q = query\n");
  for (int32_t threads = 1; threads <= 2; threads++) {
    options.threads = threads;
    cst_source *source = open_lines(path, view, options, &error);
    CHECK_EQ(cst_source_infer(source, NULL, NULL, &schema, &error), CST_OK);
    CHECK_STR(error.message, "");
    CHECK_EQ(cst_schema_num_features(schema), 1);
    cst_schema_release(schema);
    CHECK_CONTAINS(read_all(source, NULL, &error), "{\"q\":\"tea\"}");
    cst_source_release(source);
  }
  cst_view_release(view);
}

/* ---- stages after a view ---- */

static cst_status drop_first_row(void *ctx, struct ArrowArray *batch, struct ArrowArray *out,
                                 struct ArrowArray *origin, cst_error *error) {
  (void)ctx;
  (void)origin;
  (void)error;
  *out = *batch;
  batch->release = NULL;
  return CST_OK;
}

TEST(stages_of_the_callers_come_after_a_view) {
  static const char *const names[] = {"n"};
  const char *path = write_lines("visits", visits);
  cst_error error = CST_ERROR_INIT;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_view *view = need_view(clicks_query);
  cst_source *source = open_lines(path, view, options, &error);
  cst_stage stage = CST_STAGE_INIT;
  cst_source *staged = NULL;
  cst_specs *specs = NULL;
  stage.columns = names;
  stage.num_columns = 1;
  stage.run = drop_first_row;
  stage.keeps_rows = true;
  CHECK_EQ(cst_source_with_stage(source, &stage, &staged, &error), CST_OK);
  CHECK_STR(read_all(staged, NULL, &error), "{\"n\":1}\n{\"n\":0}\n{\"n\":1}\n{\"n\":0}\n");
  CHECK_STR(error.message, "");
  (void)cst_source_specs(staged, &specs, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(cst_specs_num_specs(specs), 1);
  cst_specs_release(specs);
  cst_source_release(staged);
  cst_source_release(source);
  cst_view_release(view);
}

/* ---- allocation failures ---- */

typedef struct reading {
  const char *path;
  const cst_view *view;
  cst_source_options options;
} reading;

static int read_through(void *ctx) {
  const reading *r = ctx;
  cst_pass *pass = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_source *source = open_lines(r->path, r->view, r->options, &error);
  cst_status status = source != NULL ? cst_pass_new(source, &pass, &error) : error.code;
  while (status == CST_OK) {
    struct ArrowArray batch;
    status = cst_pass_next(pass, &batch, &error);
    if (batch.release == NULL) {
      break;
    }
    batch.release(&batch);
  }
  cst_pass_free(pass);
  cst_source_release(source);
  return status;
}

TEST(failed_allocations) {
  static const char *const columns[] = {"id", "q"};
  cst_view *rows = need_view(rows_query);
  reading r = {write_lines("visits", visits), rows, CST_SOURCE_OPTIONS_INIT};
  r.options.raw_column = "raw";
  r.options.offset_column = "at";
  r.options.columns = columns;
  r.options.num_columns = 2;
  r.options.batch_size = 2;
  FOR_EACH_ALLOCATION_FAILURE(read_through, &r, CST_NO_MEMORY);
  cst_view_release(rows);
  cst_view *dense = need_view(dense_query);
  reading bad = {write_lines("bad", bad_visits), dense, CST_SOURCE_OPTIONS_INIT};
  bad.options.on_error = CST_ON_ERROR_NULL;
  FOR_EACH_ALLOCATION_FAILURE(read_through, &bad, CST_NO_MEMORY);
  cst_view_release(dense);
  cst_view *table = need_view("from table [{id: int32, event: [{query: string}]}]\nrows event\n");
  reading json = {write_lines("visits.jsonl", visits), table, CST_SOURCE_OPTIONS_INIT};
  json.options.format = "json";
  FOR_EACH_ALLOCATION_FAILURE(read_through, &json, CST_NO_MEMORY);
  cst_view_release(table);
}
