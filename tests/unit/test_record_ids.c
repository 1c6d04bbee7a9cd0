/* Columns of ids: the file and record of every row, in passes and takes, behind stages, beside
 * dropped records, and in parts. The id of a record is file * 100 + its number in the file.
 */
#include <columnstone/array.h>
#include <columnstone/index.h>
#include <columnstone/tensor.h>

#include "arrow/owned.h"
#include "source_support.h"

enum { FILES = 3, ROWS = 20 };

typedef struct id_files {
  const char *paths[FILES];
  cst_source *source;
} id_files;

static cst_source *open_files(const id_files *f, const cst_source_options *options) {
  cst_source *source = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_source_open(f->paths, FILES, options, &source, &error), CST_OK);
  CHECK_STR(error.message, "");
  return source;
}

static id_files write_files(void) {
  id_files f = {.source = NULL};
  for (int i = 0; i < FILES; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "f%d.tfrecord", i);
    f.paths[i] = write_examples(name, i * 100, i * 100 + ROWS);
  }
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.batch_size = 7;
  f.source = open_files(&f, &options);
  return f;
}

static cst_source *with_ids(cst_source *source, const cst_id_columns *columns) {
  cst_source *out = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_source_with_ids(source, columns, &out, &error), CST_OK);
  CHECK_STR(error.message, "");
  return out;
}

/* The column of ids that stands so many before the end. */
static int64_t id_at(const struct ArrowArray *batch, int64_t from_end, int64_t row) {
  const struct ArrowArray *column = batch->children[batch->n_children - from_end];
  return ((const int64_t *)column->buffers[1])[column->offset + row];
}

static int64_t value_at(const struct ArrowArray *batch, int64_t row) {
  const struct ArrowArray *lists = batch->children[0];
  const int64_t *offsets = lists->buffers[1];
  const int64_t *values = lists->children[0]->buffers[1];
  return values[lists->children[0]->offset + offsets[lists->offset + row]];
}

/* Every row has the ids of its value, files from `first` on. Releases the batch. */
static int64_t check_ids(struct ArrowArray *batch, int64_t first) {
  int64_t rows = batch->length;
  for (int64_t i = 0; i < rows; i++) {
    CHECK_EQ((id_at(batch, 2, i) - first) * 100 + id_at(batch, 1, i), value_at(batch, i));
  }
  batch->release(batch);
  return rows;
}

static int64_t check_pass(cst_source *source, int64_t first) {
  cst_pass *pass = NULL;
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  int64_t rows = 0;
  CHECK_EQ(cst_pass_new(source, &pass, &error), CST_OK);
  while (cst_pass_next(pass, &batch, &error) == CST_OK && batch.release != NULL) {
    rows += check_ids(&batch, first);
  }
  CHECK_STR(error.message, "");
  cst_pass_free(pass);
  return rows;
}

TEST(every_row_has_its_file_and_record) {
  id_files f = write_files();
  cst_source *source = with_ids(f.source, NULL);
  struct ArrowSchema schema;
  CHECK_EQ(cst_source_arrow_schema(source, &schema, NULL), CST_OK);
  CHECK_EQ(schema.n_children, 5);
  CHECK_STR(schema.children[3]->name, "__file__");
  CHECK_STR(schema.children[4]->name, "__record__");
  schema.release(&schema);
  CHECK_EQ(check_pass(source, 0), FILES * ROWS);
  cst_source_release(source);
  const cst_id_columns columns = {sizeof columns, "f", "r", 40};
  source = with_ids(f.source, &columns);
  CHECK_EQ(check_pass(source, 40), FILES * ROWS);
  cst_source_release(source);
  cst_source_release(f.source);
}

TEST(tensors_of_ids_are_dense) {
  id_files f = write_files();
  cst_source *source = with_ids(f.source, NULL);
  cst_specs *specs;
  CHECK_EQ(cst_source_specs(source, &specs, NULL), CST_OK);
  CHECK_EQ(cst_specs_num_specs(specs), 5);
  for (size_t i = 0; i < 2; i++) {
    const cst_tensor_spec *spec = cst_specs_get(specs, i);
    CHECK_STR(spec->name, i == 0 ? "__file__" : "__record__");
    CHECK_EQ(spec->kind, CST_TENSOR_DENSE);
  }
  cst_specs_release(specs);
  cst_source_release(source);
  cst_source_release(f.source);
}

TEST(rows_that_are_taken) {
  id_files f = write_files();
  cst_source *source = with_ids(f.source, NULL);
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  const uint64_t rows[] = {59, 0, 25, 25, 19, 20, 40};
  CHECK_EQ(cst_source_take(source, rows, 7, &batch, &error), CST_OK);
  CHECK_STR(error.message, "");
  CHECK_EQ(id_at(&batch, 2, 0), 2);
  CHECK_EQ(id_at(&batch, 1, 0), 19);
  CHECK_EQ(check_ids(&batch, 0), 7);
  cst_source_release(source);
  cst_source_release(f.source);
}

/* Parts keep the numbers of the files that were opened. */
TEST(parts_keep_the_numbers) {
  id_files f = write_files();
  cst_source *source = with_ids(f.source, NULL);
  cst_source *range = NULL;
  CHECK_EQ(cst_source_range(source, 30, 55, &range, NULL), CST_OK);
  CHECK_EQ(check_pass(range, 0), 25);
  CHECK_EQ(cst_source_num_files(range), 2);
  CHECK_EQ(cst_source_num_opened(range), FILES);
  CHECK_STR(cst_source_opened(range, 0), f.paths[0]);
  CHECK(cst_source_opened(range, FILES) == NULL && cst_source_num_opened(NULL) == 0);
  cst_source_release(range);
  cst_source_release(source);
  cst_source_release(f.source);
}

/* ---- stages ---- */

static cst_status keep_odd(void *ctx, struct ArrowArray *batch, struct ArrowArray *out,
                           struct ArrowArray *origin, cst_error *error) {
  struct ArrowSchema *schema = ctx;
  cst_array *all = NULL;
  cst_array *odd = NULL;
  int64_t *rows = calloc((size_t)batch->length + 1, sizeof *rows);
  size_t count = 0;
  for (int64_t i = 0; i < batch->length; i++) {
    if (value_at(batch, i) % 2 == 1) {
      rows[count++] = i;
    }
  }
  CHECK_EQ(cst_array_import(schema, batch, 0, NULL, &all, error), CST_OK);
  CHECK_EQ(cst_array_take(all, rows, count, &odd, error), CST_OK);
  CHECK_EQ(cst_array_export(odd, out, error), CST_OK);
  CHECK_EQ(cst__owned_new(NULL, 2, 0, false, origin, error), CST_OK);
  int64_t *origins = cst__owned_buffer(origin, 1, count * sizeof *origins);
  memcpy(origins, rows, count * sizeof *origins);
  origin->length = (int64_t)count;
  cst_array_release(odd);
  cst_array_release(all);
  free(rows);
  return CST_OK;
}

TEST(behind_a_stage_that_drops_rows) {
  id_files f = write_files();
  struct ArrowSchema schema;
  CHECK_EQ(cst_source_arrow_schema(f.source, &schema, NULL), CST_OK);
  cst_stage stage = CST_STAGE_INIT;
  cst_source *odd = NULL;
  stage.run = keep_odd;
  stage.ctx = &schema;
  CHECK_EQ(cst_source_with_stage(f.source, &stage, &odd, NULL), CST_OK);
  cst_source *source = with_ids(odd, NULL);
  CHECK_EQ(check_pass(source, 0), FILES * ROWS / 2);
  cst_source_release(source);
  source = with_ids(f.source, NULL);
  cst_source *later = NULL; /* the columns of ids come after all stages */
  CHECK_EQ(cst_source_with_stage(source, &stage, &later, NULL), CST_OK);
  CHECK_EQ(check_pass(later, 0), FILES * ROWS / 2);
  cst_source_release(later);
  cst_source_release(source);
  cst_source_release(odd);
  schema.release(&schema);
  cst_source_release(f.source);
}

TEST(dropped_records_are_counted) {
  id_files f = write_files();
  bytes damaged = {0};
  add_examples(&damaged, 100, 100 + ROWS);
  damaged.data[record_offset(&damaged, 4) + 20] ^= 1;
  f.paths[1] = write_bytes("damaged.tfrecord", &damaged);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.on_error = CST_ON_ERROR_SKIP;
  options.threads = 3;
  cst_source *skipping = open_files(&f, &options);
  cst_source *source = with_ids(skipping, NULL);
  CHECK_EQ(check_pass(source, 0), FILES * ROWS - 1);
  cst_source_release(source);
  cst_source_release(skipping);
  bytes_free(&damaged);
  cst_source_release(f.source);
}

TEST(names_that_are_taken) {
  id_files f = write_files();
  cst_id_columns columns = {sizeof columns, "name", NULL, 0};
  cst_source *source = with_ids(f.source, &columns);
  struct ArrowSchema schema;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_source_arrow_schema(source, &schema, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "a column of ids has the same name as another column");
  CHECK_STR(error.path, "name");
  cst_source_release(source);
  columns.record = "name";
  CHECK_EQ(cst_source_with_ids(f.source, &columns, &source, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_source_with_ids(NULL, NULL, &source, &error), CST_INVALID_ARGUMENT);
  cst_source_release(f.source);
}

static int read_with_ids(void *context) {
  const id_files *f = context;
  cst_source *plain = NULL;
  cst_source *source = NULL;
  cst_pass *pass = NULL;
  struct ArrowArray batch = {.release = NULL};
  CST__TRY(cst_source_open(f->paths, FILES, NULL, &plain, NULL));
  cst_status status = cst_source_with_ids(plain, NULL, &source, NULL);
  if (status == CST_OK) {
    status = cst_pass_new(source, &pass, NULL);
  }
  if (status == CST_OK) {
    status = cst_pass_next(pass, &batch, NULL);
  }
  if (batch.release != NULL) {
    batch.release(&batch);
  }
  cst_pass_free(pass);
  cst_source_release(source);
  cst_source_release(plain);
  return (int)status;
}

TEST(allocation_failures) {
  id_files f = write_files();
  FOR_EACH_ALLOCATION_FAILURE(read_with_ids, &f, CST_NO_MEMORY);
  cst_source_release(f.source);
}
