/* The table format arrow: plans, several files, files that are read twice. */
#include <stdio.h>

#include "format/table/table.h"
#include "harness.h"

typedef struct sample {
  const char *names[2];
  const char *column; /* NULL: all */
  bool rereadable;
} sample;

static const char *path_of(const char *name) {
  static char path[200];
  snprintf(path, sizeof path, "fuzz/corpus/ipc/%s", name);
  return path;
}

static cst_status open_file(void *ctx, size_t i, cst__input **out, cst_error *error) {
  const sample *s = ctx;
  return cst__input_open(path_of(s->names[i]), &(cst__input_options){0}, out, error);
}

static const char *file_name(void *ctx, size_t i) { return ((const sample *)ctx)->names[i]; }

static cst_status count_rows(const void *plan, int64_t *rows, cst_error *error) {
  void *reader;
  struct ArrowArray batch;
  CST__TRY(cst__arrow_table.open(plan, &(const cst__table_reading){0}, &reader, error));
  cst_status status;
  do {
    status = cst__arrow_table.next(reader, &batch, error);
    if (status == CST_OK && batch.release != NULL) {
      *rows += batch.length;
      batch.release(&batch);
    } else {
      break;
    }
  } while (status == CST_OK);
  if (status == CST_OK) CHECK(cst__arrow_table.consumed(reader) > 0);
  cst__arrow_table.close(reader);
  return status;
}

static cst_status read_sample(const sample *s, int64_t *rows, cst_error *error) {
  cst__table_files files = {.count = s->names[1] != NULL ? 2 : 1,
                            .open = open_file,
                            .name = file_name,
                            .ctx = (void *)(uintptr_t)s,
                            .rereadable = s->rereadable};
  cst__table_options options = {.columns = s->column != NULL ? &s->column : NULL,
                                .num_columns = s->column != NULL,
                                .batch_size = 1024,
                                .threads = 1};
  void *plan;
  struct ArrowSchema schema;
  *rows = 0;
  CST__TRY(cst__arrow_table.plan(&files, &options, &plan, &schema, error));
  if (s->column != NULL) CHECK_STR(schema.children[0]->name, s->column);
  schema.release(&schema);
  cst_status status = count_rows(plan, rows, error);
  cst__arrow_table.plan_free(plan);
  return status;
}

TEST(files_one_behind_the_other) {
  int64_t rows;
  cst_error error = CST_ERROR_INIT;
  sample s = {{"good_simple_stream_lz4", "good_simple_file_zstd"}, NULL, true};
  CHECK_EQ(read_sample(&s, &rows, &error), CST_OK);
  CHECK_EQ(rows, 10);
  s.column = "large";
  CHECK_EQ(read_sample(&s, &rows, &error), CST_OK);
  CHECK_EQ(rows, 10);
}

TEST(what_does_not_fit) {
  int64_t rows;
  cst_error error = CST_ERROR_INIT;
  sample s = {{"good_simple_stream_lz4", "good_views_file_zstd"}, NULL, true};
  CHECK_EQ(read_sample(&s, &rows, &error), CST_SCHEMA);
  CHECK_STR(error.file, "good_views_file_zstd");
  CHECK_EQ(rows, 5);
  s.column = "larg";
  CHECK_EQ(read_sample(&s, &rows, &error), CST_NOT_FOUND);
  CHECK_STR(error.file, "good_simple_stream_lz4");
  CHECK_CONTAINS(error.hint, "'large'");
}

TEST(dictionaries_behind_the_batches) {
  int64_t rows;
  cst_error error = CST_ERROR_INIT;
  sample s = {{"polars_categories", "polars_categories"}, NULL, true};
  CHECK_EQ(read_sample(&s, &rows, &error), CST_OK);
  CHECK_EQ(rows, 6);
  s.rereadable = false;
  CHECK_EQ(read_sample(&s, &rows, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.hint, "by its path");
}

static int read_once(void *context) {
  int64_t rows;
  return read_sample(context, &rows, NULL);
}

TEST(out_of_memory) {
  sample s = {{"polars_categories", NULL}, "c", true};
  FOR_EACH_ALLOCATION_FAILURE(read_once, &s, CST_NO_MEMORY);
  sample two = {{"good_views_stream_zstd", "good_views_file_lz4"}, "list", true};
  FOR_EACH_ALLOCATION_FAILURE(read_once, &two, CST_NO_MEMORY);
}
