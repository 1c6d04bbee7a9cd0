/* Whole formats: the streams of a plug-in, one file after the other. The plug-in here gives raw
 * records: its files are TFRecords, read by a source of their own. */
#include <errno.h>

#include "source/pass/stream_reader.h"
#include "source_support.h"
#include "verify_support.h"

static int fail_code; /* of get_next; 0: none */
static int open_streams;

typedef struct wrapped {
  struct ArrowArrayStream inner;
} wrapped;

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  wrapped *w = stream->private_data;
  return w->inner.get_schema(&w->inner, out);
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  wrapped *w = stream->private_data;
  return fail_code != 0 ? fail_code : w->inner.get_next(&w->inner, out);
}

static const char *get_last_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return fail_code == EIO ? NULL : "page 3 is damaged";
}

static void release(struct ArrowArrayStream *stream) {
  wrapped *w = stream->private_data;
  w->inner.release(&w->inner);
  free(w);
  stream->release = NULL;
  open_streams--;
}

static cst_status open_file(const char *path, const cst_plugin_read_options *read_options,
                            struct ArrowArrayStream *out, cst_error *error) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source;
  options.batch_size = read_options->batch_size;
  options.columns = read_options->columns;
  options.num_columns = read_options->num_columns;
  CST__TRY(cst_source_open(&path, 1, &options, &source, error));
  wrapped *w = malloc(sizeof *w);
  cst_status status =
      w != NULL ? cst_source_stream(source, &w->inner, error) : cst__fail_memory(error, sizeof *w);
  cst_source_release(source);
  if (status != CST_OK) {
    free(w);
    return status;
  }
  *out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, release, w};
  open_streams++;
  return CST_OK;
}

static const cst_plugin_format plugin = {.size = sizeof plugin,
                                         .abi_version = CST_PLUGIN_ABI_VERSION,
                                         .name = "fake",
                                         .open = open_file};

/* A source as the registry would have made it for such files. */
static cst_source *open_foreign(const char *const *paths, size_t count) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "raw";
  options.batch_size = 40;
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open(paths, count, &options, &source, NULL), CST_OK);
  source->inputs->format = (cst__format){.name = "fake", .plugin = &plugin};
  CHECK_EQ(cst__stream_reader_schema(source, &source->found.arrow_schema, NULL), CST_OK);
  fail_code = 0;
  return source;
}

TEST(files_follow_each_other) {
  const char *paths[] = {write_examples("f0", 0, 80), write_examples("f1", 80, 120)};
  cst_source *source = open_foreign(paths, 2);
  bytes text = {0};
  bytes expected = {0};
  CHECK_EQ(text_of_pass(source, &text, NULL), CST_OK);
  expected_text(&expected, 120, 40);
  check_same(&text, &expected);
  bytes_free(&text);
  bytes_free(&expected);
  cst_pass *pass;
  struct ArrowArray batch;
  uint64_t read;
  uint64_t rows;
  CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
  CHECK_EQ(cst_pass_next(pass, &batch, NULL), CST_OK);
  batch.release(&batch);
  cst_pass_progress(pass, &read, &rows);
  CHECK_EQ(read, 0);
  CHECK_EQ(rows, 40);
  cst_pass_free(pass);
  cst_source_release(source);
  CHECK_EQ(open_streams, 0);
}

TEST(files_of_other_columns_are_refused) {
  bytes features = {0};
  bytes record = {0};
  bytes file = {0};
  put_int(&features, "other", 1);
  put_field(&record, 1, features.data, features.size);
  bytes_add_record(&file, record.data, record.size);
  const char *paths[] = {write_examples("c0", 0, 40), write_bytes("c1", &file)};
  cst_source *source = open_foreign(paths, 2);
  bytes text = {0};
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(text_of_pass(source, &text, &error), CST_SCHEMA);
  CHECK_STR(error.file, paths[1]);
  cst_source_release(source);
  CHECK_EQ(open_streams, 0);
  bytes_free(&text);
  bytes_free(&features);
  bytes_free(&record);
  bytes_free(&file);
}

TEST(failures_have_a_status_and_the_file) {
  static const struct {
    int code;
    cst_status status;
  } cases[] = {{EIO, CST_IO},
               {ENOMEM, CST_NO_MEMORY},
               {ENOTSUP, CST_UNSUPPORTED},
               {EINVAL, CST_CORRUPT},
               {5000, CST_CORRUPT}};
  const char *path = write_examples("codes", 0, 10);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cst_source *source = open_foreign(&path, 1);
    cst_pass *pass;
    CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
    fail_code = cases[i].code;
    for (int again = 0; again < 2; again++) {
      cst_error error = CST_ERROR_INIT;
      struct ArrowArray batch;
      CHECK_EQ(cst_pass_next(pass, &batch, &error), cases[i].status);
      CHECK(batch.release == NULL);
      CHECK_STR(error.file, path);
      CHECK_CONTAINS(error.message, "fake: ");
    }
    cst_pass_free(pass);
    cst_source_release(source);
  }
  CHECK_EQ(open_streams, 0);
}

TEST(a_file_that_is_gone) {
  const char *paths[] = {write_examples("g0", 0, 40), write_examples("g1", 40, 80)};
  cst_source *source = open_foreign(paths, 2);
  CHECK_EQ(remove(paths[1]), 0);
  bytes text = {0};
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(text_of_pass(source, &text, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.file, "g1");
  cst_source_release(source);
  bytes_free(&text);
}

static void check_two_files(cst_findings *files) {
  CHECK_EQ(cst_findings_num_rows(files), 2);
  CHECK_EQ(cst_findings_number(files, "records", 0), 10);
  CHECK_EQ(cst_findings_number(files, "records", 1), 32);
  cst_findings_free(files);
}

TEST(rows_of_whole_formats_are_counted_and_verified) {
  const char *paths[] = {write_examples("n0", 0, 10), write_examples("n1", 10, 42)};
  cst_source *source = open_foreign(paths, 2);
  cst_findings *faults;
  cst_findings *files;
  CHECK_EQ(cst_source_count(source, NULL, NULL, &files, NULL), CST_OK);
  check_two_files(files);
  CHECK_EQ(cst_source_verify(source, NULL, &faults, &files, NULL), CST_OK);
  check_two_files(files);
  CHECK_EQ(cst_findings_total(faults, "num_faults"), 0);
  cst_findings_free(faults);
  fail_code = EINVAL;
  CHECK_EQ(faults_of(source), 2);
  CHECK_EQ(cst_source_count(source, NULL, NULL, &files, NULL), CST_CORRUPT);
  CHECK_EQ(cst_findings_num_rows(files), 0);
  cst_findings_free(files);
  cst_source_release(source);
  CHECK_EQ(open_streams, 0);
}

TEST(a_schema_is_inferred_from_whole_formats) {
  const char *path = write_examples("infer", 0, 10);
  cst_source *source = open_foreign(&path, 1);
  cst_schema *schema;
  cst_specs *specs;
  CHECK_EQ(cst_source_infer(source, NULL, NULL, &schema, NULL), CST_OK);
  CHECK_EQ(cst_schema_num_features(schema), 3);
  CHECK_EQ(cst_source_specs(source, &specs, NULL), CST_OK);
  CHECK_EQ(cst_specs_num_specs(specs), 3);
  cst_specs_release(specs);
  cst_schema_release(schema);
  cst_source_release(source);
}
