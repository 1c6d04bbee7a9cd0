/* Inference by a source: over all files, over the beginning of a pipe, and what may come later. */
#include "schema/schema.h"
#include "source/input/source.h"
#include "source_support.h"

static cst_source *open_pipe(memory *m, const bytes *file, int threads, int batch_size) {
  *m = (memory){.data = file->data, .size = file->size};
  cst_reader reader = memory_reader(m, false);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.threads = threads;
  options.batch_size = batch_size;
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open_readers(&reader, 1, &options, &source, NULL), CST_OK);
  return source;
}

TEST(files_are_inferred_wholly) {
  bytes last = {0};
  bytes features = {0};
  bytes record = {0};
  put_float(&features, "late", 1);
  put_field(&record, 1, features.data, features.size);
  bytes_add_record(&last, record.data, record.size);
  const char *paths[] = {write_examples("i1", 0, 20000), write_bytes("i2", &last)};
  for (int threads = 1; threads <= 3; threads++) {
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.threads = threads;
    cst_source *source;
    const cst_schema *schema;
    CHECK_EQ(cst_source_open(paths, 2, &options, &source, NULL), CST_OK);
    CHECK_EQ(cst_source_schema(source, &schema, NULL), CST_OK);
    CHECK_EQ(cst_schema_num_features(schema), 4);
    CHECK_STR(cst_schema_feature(schema, 1)->name, "late");
    CHECK_EQ(cst_schema_feature(schema, 1)->type, CST_FEATURE_FLOAT);
    cst_source_release(source);
  }
  bytes_free(&last);
  bytes_free(&features);
  bytes_free(&record);
}

static void add_text_id(bytes *file) {
  bytes features = {0};
  bytes record = {0};
  put_text(&features, "id", "text");
  put_field(&record, 1, features.data, features.size);
  bytes_add_record(file, record.data, record.size);
  bytes_free(&features);
  bytes_free(&record);
}

TEST(a_feature_of_two_types_names_its_record) {
  bytes file = {0};
  add_examples(&file, 0, 300);
  int64_t offset = (int64_t)file.size;
  add_text_id(&file);
  const char *paths[] = {write_examples("t1", 0, 5000), write_bytes("t2", &file)};
  cst_source *source;
  CHECK_EQ(cst_source_open(paths, 2, NULL, &source, NULL), CST_OK);
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema;
  CHECK_EQ(cst_source_infer(source, NULL, NULL, &schema, &error), CST_SCHEMA);
  CHECK_STR(error.file, paths[1]);
  CHECK_EQ(error.record, 300);
  CHECK_EQ(error.offset, offset);
  CHECK_STR(error.path, "id");
  cst_source_release(source);
  bytes_free(&file);
}

TEST(other_formats_have_nothing_to_infer) {
  const char *path = write_examples("raw", 0, 1);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "raw";
  cst_source *source;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  cst_schema *schema;
  cst_specs *specs;
  const cst_schema *none = NULL;
  CHECK_EQ(cst_source_infer(source, NULL, NULL, &schema, NULL), CST_UNSUPPORTED);
  CHECK_EQ(cst_source_specs(source, &specs, NULL), CST_UNSUPPORTED);
  CHECK_EQ(cst_source_schema(source, &none, NULL), CST_OK);
  CHECK(none == NULL);
  cst_source_release(source);
}

static bool stop(void *ctx, uint64_t bytes_read, uint64_t records) {
  uint64_t *seen = ctx;
  *seen = bytes_read;
  return records == 0;
}

TEST(progress_can_stop_it) {
  bytes file = {0};
  bytes features = {0};
  bytes record = {0};
  bytes text = {0};
  add_noise(&text, 1 << 20, 1);
  for (size_t i = 0; i < text.size; i++) {
    text.data[i] = (uint8_t)('a' + text.data[i]);
  }
  bytes_add(&text, "", 1);
  put_text(&features, "s", (const char *)text.data);
  put_field(&record, 1, features.data, features.size);
  for (int i = 0; i < 40; i++) {
    bytes_add_record(&file, record.data, record.size);
  }
  const char *path = write_bytes("progress", &file);
  cst_source *source;
  CHECK_EQ(cst_source_open(&path, 1, NULL, &source, NULL), CST_OK);
  cst_schema *schema;
  uint64_t seen = 0;
  CHECK_EQ(cst_source_infer(source, stop, &seen, &schema, NULL), CST_CALLBACK);
  CHECK(seen >= 16 << 20);
  CHECK(seen < file.size);
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&features);
  bytes_free(&record);
  bytes_free(&text);
}

/* ---- pipes ---- */

TEST(a_pipe_is_sampled_and_read_once) {
  bytes file = {0};
  bytes expected = {0};
  add_examples(&file, 0, 12000);
  expected_text(&expected, 12000, 700);
  for (int threads = 1; threads <= 3; threads++) {
    memory m;
    bytes text = {0};
    cst_error error = CST_ERROR_INIT;
    cst_source *source = open_pipe(&m, &file, threads, 700);
    CHECK_EQ(text_of_pass(source, &text, NULL), CST_OK);
    check_same(&text, &expected);
    CHECK(!m.out_of_order);
    cst_pass *pass;
    cst_findings *faults;
    CHECK_EQ(cst_pass_new(source, &pass, &error), CST_STATE);
    CHECK_EQ(cst_source_verify(source, NULL, &faults, NULL, NULL), CST_STATE);
    cst_findings_free(faults);
    struct ArrowArrayStream stream;
    CHECK_EQ(cst_source_stream(source, &stream, NULL), CST_STATE);
    cst_source_release(source);
    bytes_free(&text);
  }
  bytes_free(&file);
  bytes_free(&expected);
}

TEST(a_pipe_whose_beginning_was_read_cannot_be_counted) {
  bytes file = {0};
  add_examples(&file, 0, 10);
  memory m;
  cst_source *source = open_pipe(&m, &file, 1, 10);
  const cst_schema *schema;
  cst_schema *inferred;
  CHECK_EQ(cst_source_schema(source, &schema, NULL), CST_OK);
  CHECK_EQ(cst_source_infer(source, NULL, NULL, &inferred, NULL), CST_STATE);
  cst_source_release(source);
  bytes_free(&file);
}

static void add_new_feature(bytes *file) {
  bytes features = {0};
  bytes record = {0};
  put_int(&features, "late", 1);
  put_field(&record, 1, features.data, features.size);
  bytes_add_record(file, record.data, record.size);
  bytes_free(&features);
  bytes_free(&record);
}

TEST(a_projected_pipe_takes_the_features_that_are_not_wanted) {
  bytes file = {0};
  add_examples(&file, 0, 11000);
  for (int late = 0; late < 2; late++) {
    static const char *const columns[] = {"x"};
    memory m = {.data = file.data, .size = file.size};
    cst_reader reader = memory_reader(&m, false);
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.columns = columns;
    options.num_columns = 1;
    options.batch_size = 1000;
    cst_source *source;
    bytes text = {0};
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(cst_source_open_readers(&reader, 1, &options, &source, NULL), CST_OK);
    CHECK_EQ(text_of_pass(source, &text, &error), late ? CST_SCHEMA : CST_OK);
    bytes_free(&text);
    cst_source_release(source);
    add_new_feature(&file);
  }
  bytes_free(&file);
}

static void check_late(void (*add)(bytes *file), const char *path) {
  bytes file = {0};
  add_examples(&file, 0, 15000);
  int64_t offset = (int64_t)file.size;
  add(&file);
  for (int threads = 1; threads <= 2; threads++) {
    memory m;
    bytes text = {0};
    cst_error error = CST_ERROR_INIT;
    cst_source *source = open_pipe(&m, &file, threads, 1000);
    CHECK_EQ(text_of_pass(source, &text, &error), CST_SCHEMA);
    CHECK_EQ(error.record, 15000);
    CHECK_EQ(error.offset, offset);
    CHECK_STR(error.path, path);
    CHECK_CONTAINS(error.hint, "schema infer");
    bytes_free(&text);
    cst_source_release(source);
  }
  bytes_free(&file);
}

TEST(a_feature_behind_the_sample_is_an_error) { check_late(add_new_feature, "late"); }
TEST(a_type_behind_the_sample_is_an_error) { check_late(add_text_id, "id"); }

TEST(a_pipe_that_fails_behind_its_good_records) {
  bytes file = {0};
  bytes expected = {0};
  add_examples(&file, 0, 100);
  file.size -= 3;
  expected_text(&expected, 99, 33);
  memory m;
  bytes text = {0};
  cst_error error = CST_ERROR_INIT;
  cst_source *source = open_pipe(&m, &file, 2, 33);
  CHECK_EQ(text_of_pass(source, &text, &error), CST_CORRUPT);
  CHECK_EQ(error.record, 99);
  check_same(&text, &expected);
  bytes_free(&text);
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&expected);
}

TEST(a_sample_that_cannot_be_decoded_fails_again_and_again) {
  bytes file = {0};
  add_examples(&file, 0, 100);
  file.data[record_offset(&file, 50) + 20] ^= 1;
  memory m;
  cst_source *source = open_pipe(&m, &file, 1, 10);
  for (int i = 0; i < 2; i++) {
    const cst_schema *schema;
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(cst_source_schema(source, &schema, &error), CST_CORRUPT);
    CHECK_EQ(error.record, 50);
  }
  cst_source_release(source);
  bytes_free(&file);
}

/* ---- a sample that was asked for ---- */

static cst_source *open_sampled(const char *const *paths, size_t count, int64_t records,
                                int batch_size) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.sample_records = records;
  options.batch_size = batch_size;
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open(paths, count, &options, &source, NULL), CST_OK);
  return source;
}

/* The rows before `record`, which lies at `offset` of the last file, and then its failure. */
static void check_ends(cst_source *source, int rows, int64_t record, int64_t offset,
                       const char *says, const char *hint) {
  bytes text = {0};
  bytes expected = {0};
  cst_error error = CST_ERROR_INIT;
  expected_text(&expected, rows, 10);
  CHECK_EQ(text_of_pass(source, &text, &error), CST_SCHEMA);
  check_same(&text, &expected);
  CHECK_EQ(error.record, record);
  CHECK_EQ(error.offset, offset);
  CHECK_CONTAINS(error.message, says);
  CHECK_CONTAINS(error.hint, hint);
  bytes_free(&text);
  bytes_free(&expected);
}

TEST(a_file_is_sampled_if_asked_for) {
  bytes file = {0};
  add_examples(&file, 0, 300);
  int64_t offset = (int64_t)file.size;
  add_new_feature(&file);
  const char *path = write_bytes("sampled", &file);
  for (int64_t records = 1; records <= 301; records += 150) { /* the whole of it, at last */
    const cst_schema *schema;
    cst_source *source = open_sampled(&path, 1, records, 10);
    CHECK_EQ(cst_source_schema(source, &schema, NULL), CST_OK);
    CHECK_EQ(cst_schema_num_features(schema), records == 1 ? 2 : records == 151 ? 3 : 4);
    if (records == 151) {
      check_ends(source, 300, 300, offset, "", "schema infer");
    }
    cst_source_release(source);
  }
  bytes_free(&file);
}

TEST(a_part_of_a_sampled_file_is_sampled_too) {
  bytes file = {0};
  add_examples(&file, 0, 300);
  add_new_feature(&file);
  const char *path = write_bytes("parted", &file);
  cst_source *source = open_sampled(&path, 1, 100, 10);
  cst_source *part;
  bytes text = {0};
  CHECK_EQ(cst_source_range(source, 200, 301, &part, NULL), CST_OK);
  CHECK_EQ(text_of_pass(part, &text, NULL), CST_SCHEMA); /* and nothing is left out */
  cst_source_release(part);
  cst_source_release(source);
  bytes_free(&text);
  bytes_free(&file);
}

/* In the same file, where decoding finds it, and in another one, where inference does. */
TEST(a_record_that_does_not_fit_ends_the_sample) {
  bytes first = {0};
  bytes second = {0};
  add_examples(&first, 0, 50);
  int64_t offset = (int64_t)first.size;
  add_text_id(&first);
  add_text_id(&second);
  const char *const same[] = {write_bytes("ends", &first)};
  const char *const others[] = {write_examples("ends1", 0, 50), write_bytes("ends2", &second)};
  cst_source *source = open_sampled(same, 1, 80, 10);
  check_ends(source, 50, 50, offset, "earlier records", "");
  cst_source_release(source);
  source = open_sampled(others, 2, 80, 10);
  check_ends(source, 50, 0, 0, "", "one type in all records");
  cst_source_release(source);
  bytes_free(&first);
  bytes_free(&second);
}

TEST(a_damaged_record_ends_the_sample_but_for_the_first) {
  bytes file = {0};
  add_examples(&file, 0, 100);
  for (int bad = 0; bad <= 50; bad += 50) {
    bytes text = {0};
    const cst_schema *schema;
    cst_error error = CST_ERROR_INIT;
    file.data[record_offset(&file, 50 - bad) + 20] ^= 1;
    const char *path = write_bytes("damaged", &file);
    cst_source *source = open_sampled(&path, 1, 80, 10);
    CHECK_EQ(cst_source_schema(source, &schema, &error), bad == 0 ? CST_OK : CST_CORRUPT);
    CHECK_EQ(text_of_pass(source, &text, &error), CST_CORRUPT);
    CHECK_EQ(error.record, 50 - bad);
    cst_source_release(source);
    bytes_free(&text);
  }
  bytes_free(&file);
}

TEST(a_file_cut_in_its_first_record_says_so_before_columns_are_looked_for) {
  static const char *const columns[] = {"id"};
  bytes file = {0};
  add_examples(&file, 0, 1);
  file.size -= 1;
  const char *path = write_bytes("cut", &file);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.sample_records = 10;
  options.columns = columns;
  options.num_columns = 1;
  cst_source *source;
  cst_error error = CST_ERROR_INIT;
  struct ArrowSchema schema;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_arrow_schema(source, &schema, &error), CST_CORRUPT);
  CHECK_CONTAINS(error.message, "truncated");
  cst_source_release(source);
  options.sample_records = -1;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_INVALID_ARGUMENT);
  bytes_free(&file);
}

/* ---- memory ---- */

static int infer_scenario(void *ctx) {
  const bytes *file = ctx;
  memory m = {.data = file->data, .size = file->size};
  cst_reader reader = memory_reader(&m, false);
  cst_source *source;
  const cst_schema *schema;
  CST__TRY(cst_source_open_readers(&reader, 1, NULL, &source, NULL));
  cst_status status = cst_source_schema(source, &schema, NULL);
  cst_source_release(source);
  return (int)status;
}

TEST(every_allocation_failure_is_reported) {
  bytes file = {0};
  add_examples(&file, 0, 30);
  FOR_EACH_ALLOCATION_FAILURE(infer_scenario, &file, CST_NO_MEMORY);
  bytes_free(&file);
}

static int sample_scenario(void *ctx) {
  const char *path = ctx;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.sample_records = 40;
  cst_source *source;
  const cst_schema *schema;
  CST__TRY(cst_source_open(&path, 1, &options, &source, NULL));
  cst_status status = cst_source_schema(source, &schema, NULL);
  cst_source_release(source);
  return (int)status;
}

TEST(every_allocation_failure_of_a_sample_is_reported) {
  bytes file = {0};
  add_examples(&file, 0, 30);
  add_text_id(&file);
  char *path = (char *)(uintptr_t)write_bytes("failing", &file);
  FOR_EACH_ALLOCATION_FAILURE(sample_scenario, path, CST_NO_MEMORY);
  bytes_free(&file);
}
