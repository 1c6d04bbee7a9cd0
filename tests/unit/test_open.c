/* Opening sources: what is found at once, what is copied, and who closes readers. */
#include "schema/schema.h"
#include "source_support.h"

static const char schema_text[] =
    "feature { name: 'id' type: INT } feature { name: 'name' type: BYTES } "
    "feature { name: 'x' type: FLOAT }";

static cst_schema *parse_schema(const char *text) {
  cst_schema *schema = NULL;
  CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, NULL), CST_OK);
  return schema;
}

static cst_status try_open(const char *path, const cst_source_options *options, cst_error *error) {
  cst_source *source = NULL;
  cst_status status = cst_source_open(&path, 1, options, &source, error);
  if (status == CST_OK) {
    cst_source_release(source);
  } else {
    CHECK(source == NULL);
    CHECK_EQ(error->code, status);
  }
  return status;
}

TEST(missing_files_and_empty_globs_fail_at_once) {
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(try_open(harness_temp_path("none"), NULL, &error), CST_NOT_FOUND);
  CHECK_EQ(try_open(harness_temp_path("none-*"), NULL, &error), CST_NOT_FOUND);
  CHECK_EQ(try_open(harness_temp_dir(), NULL, &error), CST_IO);
}

TEST(wrong_arguments) {
  const char *path = write_examples("args", 0, 1);
  cst_error error = CST_ERROR_INIT;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.batch_size = -1;
  CHECK_EQ(try_open(path, &options, &error), CST_INVALID_ARGUMENT);
  options.batch_size = 0;
  options.batch_bytes = -1;
  CHECK_EQ(try_open(path, &options, &error), CST_INVALID_ARGUMENT);
  options.batch_bytes = 0;
  options.threads = -1;
  CHECK_EQ(try_open(path, &options, &error), CST_INVALID_ARGUMENT);
  options.threads = 1 << 20;
  CHECK_EQ(try_open(path, &options, &error), CST_INVALID_ARGUMENT);
  options.threads = 0;
  options.format = "exampel";
  CHECK_EQ(try_open(path, &options, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.hint, "example");
  options = (cst_source_options){0};
  CHECK_EQ(try_open(path, &options, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_source_open(&path, 1, NULL, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_source_open(NULL, 1, NULL, &(cst_source *){NULL}, &error), CST_INVALID_ARGUMENT);
}

TEST(what_can_be_named_once) {
  static const char *const pipes[] = {"-", "-"};
  static const char *const columns[] = {"a", "b", "a"};
  cst_error error = CST_ERROR_INIT;
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open(pipes, 2, NULL, &source, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "standard input is named 2 times");
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.columns = columns;
  options.num_columns = 3;
  CHECK_EQ(cst_source_open(pipes, 1, &options, &source, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.path, "a");
}

TEST(unknown_columns_fail_at_once) {
  const char *path = write_examples("columns", 0, 10);
  cst_schema *schema = parse_schema(schema_text);
  cst_error error = CST_ERROR_INIT;
  const char *columns[] = {"id", "nmae"};
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.schema = schema;
  options.columns = columns;
  options.num_columns = 2;
  CHECK_EQ(try_open(path, &options, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.hint, "name");
  options.format = "raw";
  CHECK_EQ(try_open(path, &options, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.hint, "record");
  options.columns = (const char *[]){"record", "record"};
  CHECK_EQ(try_open(path, &options, &error), CST_INVALID_ARGUMENT);
  cst_schema_release(schema);
}

TEST(unknown_columns_of_an_inferred_schema_fail_with_the_first_batch) {
  const char *path = write_examples("columns", 0, 10);
  const char *columns[] = {"nmae"};
  cst_error error = CST_ERROR_INIT;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.columns = columns;
  options.num_columns = 1;
  cst_source *source;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, &error), CST_OK);
  bytes text = {0};
  CHECK_EQ(text_of_pass(source, &text, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.hint, "name");
  cst_source_release(source);
}

TEST(columns_keep_the_callers_order) {
  const char *path = write_examples("order", 0, 3);
  for (int given = 0; given < 2; given++) {
    cst_schema *schema = parse_schema(schema_text);
    const char *columns[] = {"x", "id"};
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.schema = given ? schema : NULL;
    options.columns = columns;
    options.num_columns = 2;
    cst_source *source;
    CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
    columns[0] = NULL; /* copied */
    cst_schema_release(schema);
    bytes text = {0};
    CHECK_EQ(text_of_pass(source, &text, NULL), CST_OK);
    bytes_add(&text, "", 1);
    CHECK_STR((const char *)text.data,
              "3 rows: x=null id=[0]; x=[f3f000000] id=[1]; x=[f3f800000] id=[2];\n");
    bytes_free(&text);
    cst_specs *specs;
    CHECK_EQ(cst_source_specs(source, &specs, NULL), CST_OK);
    CHECK_EQ(cst_specs_num_specs(specs), 2);
    cst_specs_release(specs);
    cst_source_release(source);
  }
}

TEST(no_columns_keep_the_rows) {
  const char *path = write_examples("zero", 0, 5);
  for (int raw = 0; raw < 2; raw++) {
    const char *none[] = {NULL};
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    options.format = raw ? "raw" : "example";
    options.columns = none;
    cst_source *source;
    CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
    bytes text = {0};
    CHECK_EQ(text_of_pass(source, &text, NULL), CST_OK);
    bytes_add(&text, "", 1);
    CHECK_STR((const char *)text.data, "5 rows:;;;;;\n");
    bytes_free(&text);
    cst_source_release(source);
  }
}

TEST(a_tensor_group_that_does_not_exist) {
  const char *path = write_examples("group", 0, 1);
  cst_schema *schema = parse_schema(schema_text);
  cst_error error = CST_ERROR_INIT;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.schema = schema;
  options.group = "serving";
  CHECK_EQ(try_open(path, &options, &error), CST_NOT_FOUND);
  cst_schema_release(schema);
}

static cst_status compression_of(const uint8_t *data, size_t size, bool can_seek,
                                 const char **found) {
  memory m = {.data = data, .size = size};
  cst_reader reader = memory_reader(&m, can_seek);
  cst_source *source;
  CHECK_EQ(cst_source_open_readers(&reader, 1, NULL, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_compression(source, 1, found, NULL), CST_INVALID_ARGUMENT);
  cst_status status = cst_source_compression(source, 0, found, NULL);
  cst_source_release(source);
  return status;
}

TEST(compression_of_a_file) {
  static const uint8_t gzip[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const char *found = "";
  bytes all = {0};
  add_examples(&all, 0, 3);
  CHECK_EQ(compression_of(gzip, sizeof gzip, true, &found), CST_OK);
  CHECK_STR(found, "gzip");
  CHECK_EQ(compression_of(all.data, all.size, true, &found), CST_OK);
  CHECK(found == NULL);
  CHECK_EQ(compression_of(all.data, all.size, false, &found), CST_STATE);
  bytes_free(&all);
}

TEST(names_and_sizes) {
  const char *paths[] = {write_examples("size1", 0, 10), write_examples("size2", 10, 30)};
  bytes all = {0};
  add_examples(&all, 0, 30);
  cst_source *source;
  CHECK_EQ(cst_source_open(paths, 2, NULL, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_num_files(source), 2);
  CHECK_STR(cst_source_file(source, 1), paths[1]);
  CHECK(cst_source_file(source, 2) == NULL);
  CHECK_EQ(cst_source_total_bytes(source), all.size);
  cst_source_release(source);
  memory m = {.data = all.data, .size = all.size};
  cst_reader reader = memory_reader(&m, true);
  CHECK_EQ(cst_source_open_readers(&reader, 1, NULL, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_total_bytes(source), -1);
  CHECK_STR(cst_source_file(source, 0), "memory");
  CHECK_STR(cst_source_container(source), "tfrecord");
  cst_source_release(source);
  bytes_free(&all);
}

TEST(globs_are_sorted) {
  (void)write_examples("glob-b", 1, 2);
  (void)write_examples("glob-a", 0, 1);
  const char *pattern = harness_temp_path("glob-*");
  cst_source *source;
  CHECK_EQ(cst_source_open(&pattern, 1, NULL, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_num_files(source), 2);
  CHECK_CONTAINS(cst_source_file(source, 0), "glob-a");
  cst_source_release(source);
}

/* ---- readers ---- */

TEST(readers_are_closed_exactly_once) {
  for (int way = 0; way < 6; way++) {
    bytes file = {0};
    add_examples(&file, 0, 10);
    memory m[2] = {{.data = file.data, .size = file.size}, {.data = file.data, .size = file.size}};
    cst_reader readers[2] = {memory_reader(&m[0], true), memory_reader(&m[1], true)};
    cst_source_options options = CST_SOURCE_OPTIONS_INIT;
    cst_source *source = NULL;
    options.threads = way == 1 ? -1 : 2;
    options.format = way == 2 ? "none" : NULL;
    options.size = way == 3 ? 0 : sizeof options;
    readers[1].read_at = way == 4 ? NULL : readers[1].read_at;
    cst_status status =
        cst_source_open_readers(readers, 2, &options, way == 5 ? NULL : &source, NULL);
    CHECK_EQ(status == CST_OK, way == 0);
    if (status == CST_OK) {
      bytes text = {0};
      CHECK_EQ(text_of_pass(source, &text, NULL), CST_OK);
      bytes_free(&text);
      CHECK_EQ(m[0].closed, 0);
      cst_source_release(source);
    }
    CHECK_EQ(m[0].closed, 1);
    CHECK_EQ(m[1].closed, 1);
    bytes_free(&file);
  }
}

TEST(passes_over_readers_at_the_same_time) {
  bytes file = {0};
  bytes expected = {0};
  add_examples(&file, 0, 500);
  expected_text(&expected, 500, 1024);
  memory m = {.data = file.data, .size = file.size, .most = 100};
  cst_reader reader = memory_reader(&m, true);
  cst_source *source;
  CHECK_EQ(cst_source_open_readers(&reader, 1, NULL, &source, NULL), CST_OK);
  cst_pass *held;
  CHECK_EQ(cst_pass_new(source, &held, NULL), CST_OK);
  for (int i = 0; i < 2; i++) {
    bytes text = {0};
    CHECK_EQ(text_of_pass(source, &text, NULL), CST_OK);
    check_same(&text, &expected);
    bytes_free(&text);
  }
  cst_pass_free(held);
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&expected);
}

/* ---- memory ---- */

static int open_scenario(void *ctx) {
  const char *const *paths = ctx;
  const char *columns[] = {"id", "x"};
  cst_schema *schema;
  CST__TRY(cst_schema_from_text(schema_text, sizeof schema_text - 1, &schema, NULL));
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.schema = schema;
  options.columns = columns;
  options.num_columns = 2;
  options.group = "";
  cst_source *source;
  cst_status status = cst_source_open(paths, 2, &options, &source, NULL);
  cst_schema_release(schema);
  if (status == CST_OK) {
    struct ArrowSchema arrow;
    cst_specs *specs;
    status = cst_source_arrow_schema(source, &arrow, NULL);
    if (status == CST_OK) {
      arrow.release(&arrow);
      status = cst_source_specs(source, &specs, NULL);
    }
    if (status == CST_OK) {
      cst_specs_release(specs);
    }
    cst_source_release(source);
  }
  return (int)status;
}

TEST(every_allocation_failure_is_reported) {
  const char *paths[] = {write_examples("oom1", 0, 2), write_examples("oom2", 2, 4)};
  FOR_EACH_ALLOCATION_FAILURE(open_scenario, paths, CST_NO_MEMORY);
}
