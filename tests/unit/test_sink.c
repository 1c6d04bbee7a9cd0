/* cst_sink over every built-in format: opening, writing, finishing, failing. */
#include <columnstone/sink.h>
#include <unistd.h>

#include "arrow_text.h"

typedef struct fixture {
  struct ArrowSchema schema;
  struct ArrowArray array;
  const char *path;
  const char *format;
  const char *sequence_column;
} fixture;

static void make(fixture *f, const char *type, const char *rows, const char *name) {
  memset(f, 0, sizeof *f);
  arrow_text(type, rows, &f->schema, &f->array);
  f->path = harness_temp_path(name);
}

static void drop(fixture *f) {
  ArrowSchemaRelease(&f->schema);
  ArrowArrayRelease(&f->array);
  unlink(f->path);
}

static cst_status write_with(const fixture *f, cst_error *error) {
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  options.format = f->format;
  const cst_option column = {"sequence_column", f->sequence_column, NULL};
  options.format_options = &column;
  options.num_format_options = f->sequence_column != NULL;
  cst_sink *sink;
  cst_status status = cst_sink_open(f->path, &f->schema, &options, &sink, error);
  if (status != CST_OK) {
    return status;
  }
  status = cst_sink_write(sink, &f->array, error);
  if (status == CST_OK) {
    status = cst_sink_finish(sink, error);
  }
  cst_sink_free(sink);
  return status;
}

static int write_once(void *ctx) {
  cst_error error = CST_ERROR_INIT;
  return (int)write_with(ctx, &error);
}

static void check_file(const char *path, const char *expected) {
  char buf[1024] = "";
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  buf[fread(buf, 1, sizeof buf - 1, file)] = '\0';
  fclose(file);
  CHECK_STR(buf, expected);
}

static const char columns[] = "struct{a: large_list<int64>, b: large_list<large_binary>}";
static const char rows[] = "{[1, 2], ['x']} {null, []}";

TEST(json_lines) {
  fixture f;
  make(&f, columns, rows, "x.jsonl");
  CHECK_EQ(write_once(&f), CST_OK);
  check_file(f.path, "{\"a\": [1, 2], \"b\": [\"x\"]}\n{\"a\": null, \"b\": []}\n");
  f.array.offset = 1;
  f.array.length = 1;
  CHECK_EQ(write_once(&f), CST_OK);
  check_file(f.path, "{\"a\": null, \"b\": []}\n");
  drop(&f);
}

/* Columns of a type are encoded: slot i of n has index n - 1 - i, so that they come backwards. */
static void encode_columns(struct ArrowSchema *schema, struct ArrowArray *array) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    struct ArrowSchema indices;
    struct ArrowArray places;
    ArrowSchemaInit(&indices);
    CHECK_EQ(ArrowSchemaSetType(&indices, NANOARROW_TYPE_INT32), 0);
    CHECK_EQ(ArrowSchemaSetName(&indices, schema->children[i]->name), 0);
    CHECK_EQ(ArrowSchemaAllocateDictionary(&indices), 0);
    ArrowSchemaMove(schema->children[i], indices.dictionary);
    ArrowSchemaMove(&indices, schema->children[i]);
    CHECK_EQ(ArrowArrayInitFromType(&places, NANOARROW_TYPE_INT32), 0);
    CHECK_EQ(ArrowArrayStartAppending(&places), 0);
    for (int64_t n = array->length; n > 0; n--) {
      CHECK_EQ(ArrowArrayAppendInt(&places, n - 1), 0);
    }
    CHECK_EQ(ArrowArrayFinishBuildingDefault(&places, NULL), 0);
    CHECK_EQ(ArrowArrayAllocateDictionary(&places), 0);
    ArrowArrayMove(array->children[i], places.dictionary);
    ArrowArrayMove(&places, array->children[i]);
  }
}

static void make_encoded(fixture *f, const char *name) {
  make(f, "struct{e: large_string, t: list<date32>}", "{'a', [0]} {'b', null} {null, [1, 2]}",
       name);
  encode_columns(&f->schema, &f->array);
}

TEST(dictionaries_are_written_as_their_values) {
  fixture f;
  make_encoded(&f, "x.jsonl");
  cst_error error = CST_ERROR_INIT;
  (void)write_with(&f, &error);
  CHECK_STR(error.message, "");
  check_file(f.path, "{\"e\": null, \"t\": [\"1970-01-02\", \"1970-01-03\"]}\n"
                     "{\"e\": \"b\", \"t\": null}\n"
                     "{\"e\": \"a\", \"t\": [\"1970-01-01\"]}\n");
  f.array.offset = 1; /* and stay what they are */
  f.array.length = 1;
  CHECK_EQ(write_once(&f), CST_OK);
  check_file(f.path, "{\"e\": \"b\", \"t\": null}\n");
  drop(&f);
}

TEST(dictionaries_in_arrow_files) {
  fixture f;
  struct ArrowSchema schema;
  cst_source *source;
  const char *path;
  make_encoded(&f, "x.arrow");
  CHECK_EQ(write_once(&f), CST_OK);
  path = f.path;
  CHECK_EQ(cst_source_open(&path, 1, NULL, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_arrow_schema(source, &schema, NULL), CST_OK);
  CHECK(schema.children[0]->dictionary == NULL);
  CHECK_STR(schema.children[0]->format, "U");
  schema.release(&schema);
  cst_source_release(source);
  drop(&f);
}

TEST(dictionaries_are_checked) {
  fixture f;
  make_encoded(&f, "x.jsonl");
  cst_error error = CST_ERROR_INIT;
  ((int32_t *)(uintptr_t)f.array.children[0]->buffers[1])[1] = 3;
  CHECK_EQ(write_with(&f, &error), CST_CORRUPT);
  CHECK_STR(error.path, "e");
  struct ArrowArray *dictionary = f.array.children[0]->dictionary;
  f.array.children[0]->dictionary = NULL;
  CHECK_EQ(write_with(&f, &error), CST_INVALID_ARGUMENT);
  f.array.children[0]->dictionary = dictionary;
  drop(&f);
}

TEST(allocation_failures_of_dictionaries) {
  fixture f;
  make_encoded(&f, "x.jsonl");
  FOR_EACH_ALLOCATION_FAILURE(write_once, &f, CST_NO_MEMORY);
  drop(&f);
}

TEST(no_columns) {
  fixture f;
  make(&f, "struct{}", "{} {}", "x.jsonl");
  CHECK_EQ(write_once(&f), CST_OK);
  check_file(f.path, "{}\n{}\n");
  drop(&f);
}

TEST(names_that_come_twice) {
  static const struct {
    const char *type, *row, *file, *path;
  } cases[] = {
      {"struct{a: int64, b: int64, a: int64}", "{1, 2, 3}", "x.jsonl", "a"},
      {"struct{a: int64, a: int64}", "{1, 2}", "x.csv", "a"},
      {"struct{s: large_list<struct{a: int64, a: int64}>}", "{[{1, 2}]}", "x.jsonl", "s.a"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fixture f;
    make(&f, cases[i].type, cases[i].row, cases[i].file);
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(write_with(&f, &error), CST_INVALID_ARGUMENT);
    CHECK_STR(error.path, cases[i].path);
    CHECK_CONTAINS(error.message, "same name");
    drop(&f);
  }
}

TEST(allocation_failures) {
  static const char *const names[] = {"x.jsonl", "x.arrow", "x.arrows", "x.tfrecord"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    fixture f;
    make(&f, columns, rows, names[i]);
    FOR_EACH_ALLOCATION_FAILURE(write_once, &f, CST_NO_MEMORY);
    drop(&f);
  }
}

TEST(raw_records) {
  fixture f;
  make(&f, "struct{record: large_binary}", "{'abc'} {''} {'de'}", "x.tfrecord");
  CHECK_EQ(write_once(&f), CST_OK);
  FILE *file = fopen(f.path, "rb");
  CHECK(file != NULL);
  fseek(file, 0, SEEK_END);
  CHECK_EQ(ftell(file), 3 * 16 + 5);
  fclose(file);
  f.array.offset = 2;
  f.array.length = 1;
  CHECK_EQ(write_once(&f), CST_OK);
  file = fopen(f.path, "rb");
  fseek(file, 0, SEEK_END);
  CHECK_EQ(ftell(file), 16 + 2);
  fclose(file);
  drop(&f);
}

TEST(sequence_examples) {
  static const uint8_t record[] = {0x0a, 0x0c, 0x0a, 0x0a, 0x0a, 0x01, 'n',  0x12, 0x05, 0x1a, 0x03,
                                   0x0a, 0x01, 0x07, 0x12, 0x0f, 0x0a, 0x0d, 0x0a, 0x01, 'a',  0x12,
                                   0x08, 0x0a, 0x06, 0x1a, 0x04, 0x0a, 0x02, 0x01, 0x02};
  uint8_t file[64];
  fixture f;
  make(&f, "struct{n: int64, steps: struct{a: list<list<int64>>}}", "{7, {[[1, 2]]}}",
       "x.tfrecord");
  f.format = "sequence_example";
  f.sequence_column = "steps";
  FOR_EACH_ALLOCATION_FAILURE(write_once, &f, CST_NO_MEMORY);
  FILE *opened = fopen(f.path, "rb");
  CHECK(opened != NULL);
  CHECK_EQ(fread(file, 1, sizeof file, opened), 16 + sizeof record);
  fclose(opened);
  CHECK_MEM(file + 12, record, sizeof record);
  f.format = NULL; /* the struct column tells */
  CHECK_EQ(write_once(&f), CST_OK);
  opened = fopen(f.path, "rb");
  CHECK_EQ(fread(file, 1, sizeof file, opened), 16 + sizeof record);
  fclose(opened);
  CHECK_MEM(file + 12, record, sizeof record);
  drop(&f);
}

TEST(raw_needs_one_binary_column) {
  fixture f;
  cst_error error = CST_ERROR_INIT;
  make(&f, columns, rows, "x.tfrecord");
  f.format = "raw";
  CHECK_EQ(write_with(&f, &error), CST_UNSUPPORTED);
  CHECK_EQ(access(f.path, F_OK), -1);
  drop(&f);
}

TEST(names_of_formats) {
  fixture f;
  cst_error error = CST_ERROR_INIT;
  make(&f, columns, rows, "x.unknown");
  CHECK_EQ(write_with(&f, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.message, ".unknown");
  CHECK_CONTAINS(error.hint, "json");
  f.format = "jsnol";
  CHECK_EQ(write_with(&f, &error), CST_NOT_FOUND);
  CHECK_STR(error.hint, "did you mean 'json'?");
  f.format = "../arrow";
  CHECK_EQ(write_with(&f, &error), CST_NOT_FOUND);
  f.format = NULL;
  f.path = "-";
  CHECK_EQ(write_with(&f, &error), CST_INVALID_ARGUMENT);
  f.path = "";
  CHECK_EQ(write_with(&f, &error), CST_INVALID_ARGUMENT);
  drop(&f);
}

TEST(without_a_finish_there_is_no_file) {
  fixture f;
  cst_sink *sink;
  make(&f, columns, rows, "x.arrow");
  CHECK_EQ(cst_sink_open(f.path, &f.schema, NULL, &sink, NULL), CST_OK);
  CHECK_EQ(cst_sink_write(sink, &f.array, NULL), CST_OK);
  cst_sink_free(sink);
  CHECK_EQ(access(f.path, F_OK), -1);
  drop(&f);
}

TEST(a_finished_sink_takes_no_more) {
  fixture f;
  cst_sink *sink;
  cst_error error = CST_ERROR_INIT;
  make(&f, columns, rows, "x.jsonl");
  CHECK_EQ(cst_sink_open(f.path, &f.schema, NULL, &sink, NULL), CST_OK);
  CHECK_EQ(cst_sink_finish(sink, NULL), CST_OK);
  CHECK_EQ(cst_sink_write(sink, &f.array, &error), CST_STATE);
  CHECK_EQ(cst_sink_finish(sink, &error), CST_STATE);
  cst_sink_free(sink);
  drop(&f);
}

TEST(errors_count_rows_from_the_start_of_the_output) {
  fixture f;
  cst_sink *sink;
  cst_error error = CST_ERROR_INIT;
  make(&f, "struct{a: large_list<float64>}", "{[0.5]} {[1.5]} {[0.1]}", "x.tfrecord");
  struct ArrowArray good = f.array;
  good.length = 2;
  CHECK_EQ(cst_sink_open(f.path, &f.schema, NULL, &sink, NULL), CST_OK);
  CHECK_EQ(cst_sink_write(sink, &good, NULL), CST_OK);
  CHECK_EQ(cst_sink_write(sink, &f.array, &error), CST_UNSUPPORTED);
  CHECK_EQ(error.record, 4);
  CHECK_STR(error.path, "a");
  CHECK_STR(error.file, f.path);
  CHECK_EQ(cst_sink_write(sink, &good, &error), CST_STATE);
  cst_sink_free(sink);
  drop(&f);
}

TEST(damaged_arrays_are_refused) {
  static const char *const names[] = {"x.jsonl", "x.arrow", "x.arrows", "x.tfrecord"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    fixture f;
    make(&f, columns, rows, names[i]);
    int64_t *offsets = (int64_t *)(uintptr_t)f.array.children[0]->buffers[1];
    offsets[1] = 1000000;
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(write_with(&f, &error), CST_CORRUPT);
    CHECK_STR(error.path, "a");
    offsets[1] = 2;
    drop(&f);
  }
}

/* ---- what is there already ---- */

static cst_status convert(const char *from, const char *to, bool overwrite, uint32_t num_shards,
                          cst_error *error) {
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  cst_source *source;
  options.overwrite = overwrite;
  options.num_shards = num_shards;
  CHECK_EQ(cst_source_open(&from, 1, NULL, &source, error), CST_OK);
  cst_status status = cst_convert(source, to, &options, NULL, NULL, NULL, error);
  cst_source_release(source);
  return status;
}

TEST(converting_replaces_a_file_only_if_told) {
  fixture f;
  const char *to = harness_temp_path("there.jsonl");
  cst_error error = CST_ERROR_INIT;
  make(&f, columns, rows, "from.jsonl");
  CHECK_EQ(write_with(&f, NULL), CST_OK);
  (void)unlink(to);
  CHECK(!cst_sink_exists(to, NULL));
  CHECK_EQ(convert(f.path, to, false, 0, &error), CST_OK);
  CHECK(cst_sink_exists(to, NULL));
  CHECK_EQ(convert(f.path, to, false, 0, &error), CST_IO);
  CHECK_STR(error.message, "the output exists");
  CHECK_STR(error.file, to);
  CHECK_EQ(convert(f.path, to, true, 0, &error), CST_OK);
  (void)unlink(to);
  drop(&f);
}

TEST(converting_replaces_shards_only_if_told) {
  fixture f;
  const char *to = harness_temp_path("part.x.jsonl.gz");
  const char *shard = harness_temp_path("part.x-00000-of-00001.jsonl.gz");
  cst_sink_options sharded = CST_SINK_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  sharded.shard_bytes = 1;
  make(&f, columns, rows, "from.jsonl");
  CHECK_EQ(write_with(&f, NULL), CST_OK);
  (void)unlink(shard);
  CHECK(!cst_sink_exists(to, &sharded));
  CHECK_EQ(convert(f.path, to, false, 1, &error), CST_OK);
  CHECK(cst_sink_exists(to, &sharded));
  CHECK(!cst_sink_exists(to, NULL)); /* another file */
  CHECK_EQ(convert(f.path, to, false, 2, &error), CST_IO);
  CHECK_EQ(convert(f.path, to, true, 1, &error), CST_OK);
  (void)unlink(shard);
  drop(&f);
}

TEST(shards_that_keep_take_all_names_or_none) {
  fixture f;
  const char *to = harness_temp_path("kept.jsonl");
  const char *shards[] = {harness_temp_path("kept-00000-of-00002.jsonl"),
                          harness_temp_path("kept-00001-of-00002.jsonl")};
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  cst_sink *sink;
  cst_error error = CST_ERROR_INIT;
  options.num_shards = 2;
  options.keep_existing = true;
  make(&f, columns, rows, "from.jsonl");
  CHECK_EQ(cst_sink_open(to, &f.schema, &options, &sink, NULL), CST_OK);
  fclose(fopen(shards[1], "w")); /* somebody else's, made meanwhile */
  CHECK_EQ(cst_sink_finish(sink, &error), CST_IO);
  CHECK_STR(error.message, "the output exists");
  cst_sink_free(sink);
  CHECK(access(shards[0], F_OK) != 0);
  CHECK_EQ(unlink(shards[1]), 0);
  drop(&f);
}

TEST(a_link_that_leads_nowhere_exists) {
  const char *path = harness_temp_path("nowhere.jsonl");
  CHECK_EQ(symlink("not-there.jsonl", path), 0);
  CHECK(cst_sink_exists(path, NULL));
  CHECK_EQ(unlink(path), 0);
}

TEST(devices_are_meant_to_be_written_to) {
  CHECK(!cst_sink_exists("-", NULL));
  CHECK(!cst_sink_exists("/dev/null", NULL));
  CHECK(!cst_sink_exists("/tmp", NULL)); /* the sink says what is wrong with it */
  CHECK(!cst_sink_exists(NULL, NULL));
}
