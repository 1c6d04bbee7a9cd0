/* Sources over caller's streams: what they give, cut to size, and what goes wrong. */
#include "source_support.h"

typedef struct opener {
  cst_source *source; /* whose streams are given */
  int opened;
  int closed;
  size_t num_columns; /* of the last request */
  bool fails;
} opener;

static cst_status open_one(void *ctx, const cst_stream_request *request,
                           struct ArrowArrayStream *out, cst_error *error) {
  opener *o = ctx;
  o->opened++;
  o->num_columns = request->columns == NULL ? 0 : request->num_columns;
  return o->fails ? cst__fail(error, CST_IO, "try again", "the server is gone")
                  : cst_source_stream(o->source, out, error);
}

static void close_one(void *ctx) { ((opener *)ctx)->closed++; }

static cst_source *examples(const char *name, int first, int end, int64_t batch_size) {
  const char *path = write_examples(name, first, end);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.batch_size = batch_size;
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  return source;
}

static cst_stream_opener as_opener(opener *o, bool once) {
  return (cst_stream_opener){.size = sizeof(cst_stream_opener),
                             .name = "numbers",
                             .open = open_one,
                             .close = close_one,
                             .ctx = o,
                             .once = once};
}

TEST(batches_have_the_size_that_is_asked_for) {
  opener a = {.source = examples("s0", 0, 10, 3)};
  opener b = {.source = examples("s1", 10, 25, 100)};
  cst_stream_opener openers[] = {as_opener(&a, false), as_opener(&b, false)};
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source;
  options.batch_size = 7;
  CHECK_EQ(cst_source_open_streams(openers, 2, &options, &source, NULL), CST_OK);
  for (int pass = 0; pass < 2; pass++) {
    bytes text = {0};
    bytes expected = {0};
    CHECK_EQ(text_of_pass(source, &text, NULL), CST_OK);
    expected_text(&expected, 25, 7);
    check_same(&text, &expected);
    bytes_free(&text);
    bytes_free(&expected);
  }
  cst_source_release(source);
  CHECK_EQ(a.closed, 1);
  CHECK_EQ(b.closed, 1);
  CHECK_EQ(a.opened, 3); /* for the schema, and for each pass */
  cst_source_release(a.source);
  cst_source_release(b.source);
}

TEST(columns_are_picked) {
  opener a = {.source = examples("p0", 0, 4, 2)};
  cst_stream_opener stream = as_opener(&a, false);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  const char *columns[] = {"name", "id"};
  options.columns = columns;
  options.num_columns = 2;
  cst_source *source;
  bytes text = {0};
  CHECK_EQ(cst_source_open_streams(&stream, 1, &options, &source, NULL), CST_OK);
  CHECK_EQ(text_of_pass(source, &text, NULL), CST_OK);
  static const char expected[] =
      "4 rows: name=['row 0'] id=[0]; name=['row 1'] id=[1]; name=['row 2'] id=[2]; "
      "name=['row 3'] id=[3];\n";
  CHECK_EQ(a.num_columns, 2);
  CHECK_EQ(text.size, sizeof expected - 1);
  CHECK_MEM(text.data, expected, sizeof expected - 1);
  bytes_free(&text);
  cst_source_release(source);
  cst_error error = CST_ERROR_INIT;
  columns[1] = "idd";
  CHECK_EQ(cst_source_open_streams(&stream, 1, &options, &source, &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "idd");
  cst_source_release(a.source);
}

TEST(what_can_be_opened_once_is_read_once) {
  opener a = {.source = examples("o0", 0, 5, 2)};
  cst_stream_opener stream = as_opener(&a, true);
  cst_source *source;
  bytes text = {0};
  bytes expected = {0};
  CHECK_EQ(cst_source_open_streams(&stream, 1, NULL, &source, NULL), CST_OK);
  CHECK_EQ(text_of_pass(source, &text, NULL), CST_OK);
  expected_text(&expected, 5, 1024);
  check_same(&text, &expected);
  CHECK_EQ(a.opened, 1);
  CHECK_EQ(text_of_pass(source, &text, NULL), CST_STATE);
  bytes_free(&text);
  bytes_free(&expected);
  cst_source_release(source);
  CHECK_EQ(a.closed, 1);
  cst_source_release(a.source);
}

TEST(failures_name_the_stream) {
  opener a = {.fails = true};
  cst_stream_opener stream = as_opener(&a, false);
  cst_source *source;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_source_open_streams(&stream, 1, NULL, &source, &error), CST_IO);
  CHECK_STR(error.file, "numbers");
  CHECK_STR(error.message, "the server is gone");
  CHECK_EQ(a.closed, 1);
}

TEST(streams_have_no_records_to_skip) {
  opener a = {.source = NULL};
  cst_stream_opener stream = as_opener(&a, false);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source;
  cst_error error = CST_ERROR_INIT;
  options.on_error = CST_ON_ERROR_SKIP;
  CHECK_EQ(cst_source_open_streams(&stream, 1, &options, &source, &error), CST_UNSUPPORTED);
  CHECK_EQ(a.opened, 0);
  CHECK_EQ(a.closed, 1);
}

static int open_and_read(void *ctx) {
  opener *a = ctx;
  cst_stream_opener stream = as_opener(a, false);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source;
  options.batch_size = 3;
  cst_status status = cst_source_open_streams(&stream, 1, &options, &source, NULL);
  if (status != CST_OK) {
    return (int)status;
  }
  cst_pass *pass = NULL;
  status = cst_pass_new(source, &pass, NULL);
  struct ArrowArray batch = {.release = NULL};
  while (status == CST_OK) {
    status = cst_pass_next(pass, &batch, NULL);
    if (status != CST_OK || batch.release == NULL) {
      break;
    }
    batch.release(&batch);
  }
  cst_pass_free(pass);
  cst_source_release(source);
  return (int)status;
}

TEST(allocation_failures) {
  opener a = {.source = examples("m0", 0, 8, 4)};
  struct ArrowSchema schema;
  CHECK_EQ(cst_source_arrow_schema(a.source, &schema, NULL), CST_OK); /* inferred once */
  schema.release(&schema);
  FOR_EACH_ALLOCATION_FAILURE(open_and_read, &a, CST_NO_MEMORY);
  cst_source_release(a.source);
}
