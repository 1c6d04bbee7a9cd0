/* Stages of a source: flat and those of the caller, in passes, by row numbers, in parts, with rows
 * that are dropped, and in tensors.
 */
#include <columnstone/array.h>
#include <columnstone/index.h>
#include <columnstone/tensor.h>

#include "arrow/owned.h"
#include "source_support.h"

static const char *const keeps_all[] = {"id", "name", "x"};

typedef struct opening {
  const char *path;
  const cst_schema *schema;
  int64_t batch_size;
  int32_t threads;
  bool no_flat;
  cst_on_error on_error;
  cst_dropped_callback on_dropped;
  void *ctx;
} opening;

static cst_source *open_source(const opening *o) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  cst_source *source = NULL;
  options.schema = o->schema;
  options.batch_size = o->batch_size;
  options.threads = o->threads;
  options.flat = !o->no_flat;
  options.on_error = o->on_error;
  options.on_dropped = o->on_dropped;
  options.dropped_ctx = o->ctx;
  cst_source_open(&o->path, 1, &options, &source, &error);
  CHECK_STR(error.message, "");
  return source;
}

/* ---- stages of the caller ---- */

typedef struct stage_ctx {
  struct ArrowSchema schema; /* of its input */
  int64_t divisor;           /* rows whose id it divides go on */
  int closed;
  bool tells; /* where rows come from */
  cst_status fails;
} stage_ctx;

static cst_status stage_bind(void *ctx, const struct ArrowSchema *input, struct ArrowSchema *output,
                             cst_error *error) {
  stage_ctx *s = ctx;
  if (s->schema.release == NULL) CST__TRY(cst__schema_copy(input, &s->schema, error));
  return cst__schema_copy(input, output, error);
}

static void stage_close(void *ctx) {
  stage_ctx *s = ctx;
  s->closed++;
  if (s->schema.release != NULL) s->schema.release(&s->schema);
}

/* Of flat batches whose first column is the id. */
static cst_status stage_filter(void *ctx, struct ArrowArray *batch, struct ArrowArray *out,
                               struct ArrowArray *origin, cst_error *error) {
  stage_ctx *s = ctx;
  const struct ArrowArray *ids = batch->children[0];
  const int64_t *id = (const int64_t *)ids->buffers[1] + ids->offset;
  int64_t count = batch->length;
  cst_array *array = NULL, *kept = NULL;
  if (s->fails != CST_OK) {
    batch->release(batch);
    return s->fails;
  }
  uint8_t *mask = calloc((size_t)count + 1, 1);
  int64_t num_kept = 0;
  CHECK_EQ(cst__owned_new(NULL, 2, 0, false, origin, error), CST_OK);
  int64_t *rows = cst__owned_buffer(origin, 1, (size_t)count * sizeof *rows);
  for (int64_t i = 0; i < count; i++) {
    mask[i] = id[i] % s->divisor == 0;
    rows[num_kept] = i;
    num_kept += mask[i];
  }
  origin->length = num_kept;
  if (!s->tells) origin->release(origin);
  CHECK_EQ(cst_array_import(&s->schema, batch, true, NULL, &array, error), CST_OK);
  CHECK_EQ(cst_array_filter(array, mask, &kept, error), CST_OK);
  CHECK_EQ(cst_array_export(kept, out, error), CST_OK);
  cst_array_release(array);
  cst_array_release(kept);
  free(mask);
  return CST_OK;
}

static cst_source *with_filter(cst_source *source, stage_ctx *ctx) {
  cst_stage stage = CST_STAGE_INIT;
  cst_error error = CST_ERROR_INIT;
  cst_source *out = NULL;
  stage.name = "multiples";
  stage.bind = stage_bind;
  stage.run = stage_filter;
  stage.close = stage_close;
  stage.ctx = ctx;
  cst_source_with_stage(source, &stage, &out, &error);
  CHECK_STR(error.message, "");
  return out;
}

static cst_source *with_columns(cst_source *source, const char *const *columns, size_t count) {
  cst_stage stage = CST_STAGE_INIT;
  cst_error error = CST_ERROR_INIT;
  cst_source *out = NULL;
  stage.columns = columns;
  stage.num_columns = count;
  cst_source_with_stage(source, &stage, &out, &error);
  CHECK_STR(error.message, "");
  return out;
}

/* ---- what comes out ---- */

static void put_row(bytes *out, int i) {
  text_of(out, " id=%" PRId64, i);
  text_of(out, " name='row %" PRId64 "'", i);
  if (i % 3 != 0) {
    float x = (float)i / 2;
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    text_of(out, " x=f%" PRIx64 ";", bits);
  } else {
    bytes_add(out, " x=null;", 8);
  }
}

/* Every `step`-th of the rows, in batches. */
static void put_rows(bytes *out, int rows, int step, int batch_size) {
  int total = (rows + step - 1) / step;
  for (int k = 0; k < total; k++) {
    int left = total - k;
    if (k % batch_size == 0) {
      text_of(out, "%" PRId64 " rows:", left < batch_size ? left : batch_size);
    }
    put_row(out, k * step);
    if (k + 1 == total || (k + 1) % batch_size == 0) bytes_add(out, "\n", 1);
  }
}

static void check_pass(cst_source *source, int rows, int step, int batch_size) {
  bytes actual = {0}, expected = {0};
  cst_error error = CST_ERROR_INIT;
  text_of_pass(source, &actual, &error);
  CHECK_STR(error.message, "");
  put_rows(&expected, rows, step, batch_size);
  check_same(&actual, &expected);
  bytes_free(&actual);
  bytes_free(&expected);
}

TEST(flat_batches) {
  for (int32_t threads = 1; threads <= 3; threads++) {
    cst_source *source = open_source(
        &(opening){.path = write_examples("flat", 0, 500), .batch_size = 64, .threads = threads});
    struct ArrowSchema schema;
    CHECK_EQ(cst_source_arrow_schema(source, &schema, NULL), CST_OK);
    CHECK_STR(schema.children[0]->format, "l");
    CHECK_STR(schema.children[1]->format, "U");
    CHECK_STR(schema.children[2]->format, "f");
    CHECK_EQ(schema.children[0]->flags & ARROW_FLAG_NULLABLE, 0);
    CHECK(schema.children[2]->flags & ARROW_FLAG_NULLABLE);
    schema.release(&schema);
    check_pass(source, 500, 1, 64);
    cst_source_release(source);
  }
}

TEST(rows_that_are_filtered_are_joined) {
  for (int32_t threads = 1; threads <= 3; threads++) {
    for (int64_t divisor = 1; divisor < 800; divisor = divisor * 7 / 2 + 1) {
      stage_ctx ctx = {.divisor = divisor, .tells = true};
      cst_source *flat = open_source(&(opening){
          .path = write_examples("filter", 0, 500), .batch_size = 30, .threads = threads});
      cst_source *source = with_filter(flat, &ctx);
      cst_source_release(flat);
      check_pass(source, 500, (int)divisor, 30);
      uint64_t rows = 0;
      CHECK_EQ(cst_source_num_rows(source, &rows, NULL), CST_OK);
      CHECK_EQ((int64_t)rows, (500 + divisor - 1) / divisor);
      CHECK_EQ(ctx.closed, 0);
      cst_source_release(source);
      CHECK_EQ(ctx.closed, 1);
    }
  }
}

/* A tabular format, with the same batches. */
TEST(tables_go_through_stages) {
  bytes text = {0};
  for (int i = 0; i < 300; i++) {
    char line[64];
    int size = snprintf(line, sizeof line, "{\"id\": [%d], \"name\": [\"row %d\"]}\n", i, i);
    bytes_add(&text, line, (size_t)size);
  }
  stage_ctx ctx = {.divisor = 4, .tells = true};
  cst_source *flat = open_source(
      &(opening){.path = write_bytes("table.jsonl", &text), .batch_size = 40, .threads = 2});
  cst_source *source = with_filter(flat, &ctx);
  bytes actual = {0}, expected = {0};
  CHECK_EQ(text_of_pass(source, &actual, NULL), CST_OK);
  for (int i = 0; i < 300; i += 4) {
    if (i % 160 == 0) text_of(&expected, "%" PRId64 " rows:", i < 160 ? 40 : 35);
    text_of(&expected, " id=%" PRId64, i);
    text_of(&expected, " name='row %" PRId64 "';", i);
    if (i == 156 || i == 296) bytes_add(&expected, "\n", 1);
  }
  check_same(&actual, &expected);
  cst_source_release(flat);
  cst_source_release(source);
  bytes_free(&actual);
  bytes_free(&expected);
  bytes_free(&text);
}

/* ---- rows by number, parts ---- */

TEST(rows_that_are_kept_have_numbers) {
  static const uint64_t rows[] = {7, 0, 499};
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  bytes actual = {0}, expected = {0};
  struct ArrowSchema schema;
  cst_source *flat = open_source(&(opening){.path = write_examples("take", 0, 500)});
  cst_source *source = with_columns(flat, keeps_all, 3);
  CHECK_EQ(cst_source_arrow_schema(source, &schema, NULL), CST_OK);
  cst_source_take(source, rows, 3, &batch, &error);
  CHECK_STR(error.message, "");
  text_of_batch(&actual, &schema, &batch);
  text_of(&expected, "%" PRId64 " rows:", 3);
  put_row(&expected, 7);
  put_row(&expected, 0);
  put_row(&expected, 499);
  bytes_add(&expected, "\n", 1);
  check_same(&actual, &expected);
  batch.release(&batch);
  schema.release(&schema);
  cst_source *range = NULL;
  CHECK_EQ(cst_source_range(source, 0, 100, &range, &error), CST_OK);
  check_pass(range, 100, 1, 1024);
  cst_source_release(range);
  cst_source_release(flat);
  cst_source_release(source);
  bytes_free(&actual);
  bytes_free(&expected);
}

TEST(rows_that_are_not_kept_have_none) {
  static const uint64_t rows[] = {0};
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  cst_source *part = NULL;
  stage_ctx ctx = {.divisor = 5, .tells = true};
  cst_source *flat = open_source(&(opening){.path = write_examples("none", 0, 90)});
  cst_source *source = with_filter(flat, &ctx);
  CHECK_EQ(cst_source_take(source, rows, 1, &batch, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.message,
                 "a stage of the source drops or adds rows: they have no row numbers");
  CHECK_EQ(cst_source_range(source, 0, 9, &part, NULL), CST_UNSUPPORTED);
  CHECK_EQ(cst_source_split(source, 0, 1, &part, &error), CST_OK);
  check_pass(part, 90, 5, 1024);
  cst_source_release(part);
  cst_source_release(source);
  cst_source_release(flat);
  CHECK_EQ(ctx.closed, 1);
}

TEST(columns_of_stages) {
  static const char *const two[] = {"name", "id"};
  static const char *const none[] = {"nam"};
  cst_error error = CST_ERROR_INIT;
  bytes actual = {0};
  struct ArrowSchema schema;
  cst_source *flat = open_source(&(opening){.path = write_examples("two", 0, 2)});
  cst_source *source = with_columns(flat, two, 2);
  cst_source *narrow = with_columns(source, two + 1, 1);
  CHECK_EQ(text_of_pass(source, &actual, NULL), CST_OK);
  bytes_add(&actual, "", 1);
  CHECK_STR((char *)actual.data, "2 rows: name='row 0' id=0; name='row 1' id=1;\n");
  actual.size = 0;
  CHECK_EQ(text_of_pass(narrow, &actual, NULL), CST_OK);
  bytes_add(&actual, "", 1);
  CHECK_STR((char *)actual.data, "2 rows: id=0; id=1;\n");
  cst_source *bad = with_columns(narrow, none, 1);
  CHECK_EQ(cst_source_arrow_schema(bad, &schema, &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "nam");
  cst_source_release(bad);
  cst_source_release(narrow);
  cst_source_release(source);
  cst_source_release(flat);
  bytes_free(&actual);
}

/* ---- rows that do not fit ---- */

/* Two ids in the 20th record, and a name that is not text in the 40th. */
static const char *write_misfits(void) {
  bytes file = {0}, record = {0};
  for (int i = 0; i < 60; i++) {
    make_example(&record, i);
    if (i == 20 || i == 40) {
      bytes features = {0};
      put_int(&features, "id", i);
      put_text(&features, "name", i == 40 ? "\xff" : "y");
      record.size = 0;
      if (i == 20) {
        bytes two = {0}, list = {0};
        put_varint(&two, 1);
        put_varint(&two, 2);
        put_field(&list, 1, two.data, two.size);
        features.size = 0;
        put_feature(&features, "id", 3, &list);
        put_text(&features, "name", "y");
        bytes_free(&two);
        bytes_free(&list);
      }
      put_field(&record, 1, features.data, features.size);
      bytes_free(&features);
    }
    bytes_add_record(&file, record.data, record.size);
  }
  const char *path = write_bytes("misfits", &file);
  bytes_free(&file);
  bytes_free(&record);
  return path;
}

static cst_schema *misfit_schema(void) {
  static const char text[] =
      "feature { name: 'id' type: INT value_count { min: 1 max: 1 } presence { min_fraction: 1 } }"
      "feature { name: 'name' type: BYTES value_count { min: 1 max: 1 } string_domain {} }";
  cst_schema *schema = NULL;
  CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, NULL), CST_OK);
  return schema;
}

TEST(misfits_are_errors_with_their_place) {
  cst_schema *schema = misfit_schema();
  for (int32_t threads = 1; threads <= 2; threads++) {
    bytes actual = {0};
    cst_error error = CST_ERROR_INIT;
    cst_source *source = open_source(
        &(opening){.path = write_misfits(), .schema = schema, .batch_size = 8, .threads = threads});
    CHECK_EQ(text_of_pass(source, &actual, &error), CST_SCHEMA);
    CHECK_CONTAINS(error.message, "found 2 values, expected one value");
    CHECK_STR(error.path, "id");
    CHECK_EQ(error.record, 20);
    CHECK(error.offset > 0);
    CHECK_CONTAINS(error.file, "misfits");
    cst_source_release(source);
    bytes_free(&actual);
  }
  cst_schema_release(schema);
}

static bool note_record(void *ctx, const cst_dropped *dropped) {
  bytes *told = ctx;
  text_of(told, "%" PRId64, dropped->record);
  bytes_add(told, " ", 1);
  bytes_add(told, dropped->kind, strlen(dropped->kind));
  bytes_add(told, ";", 1);
  return true;
}

TEST(misfits_are_dropped) {
  cst_schema *schema = misfit_schema();
  for (int32_t threads = 1; threads <= 2; threads++) {
    bytes actual = {0}, told = {0};
    cst_source *source = open_source(&(opening){.path = write_misfits(),
                                                .schema = schema,
                                                .batch_size = 8,
                                                .threads = threads,
                                                .on_error = CST_ON_ERROR_SKIP,
                                                .on_dropped = note_record,
                                                .ctx = &told});
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(text_of_pass(source, &actual, &error), CST_OK);
    bytes_add(&told, "", 1);
    CHECK_STR((char *)told.data, "20 record;40 record;");
    bytes_add(&actual, "", 1);
    CHECK_CONTAINS((char *)actual.data, "8 rows: id=16 name='row 16'; id=17 name='row 17'; id=18 "
                                        "name='row 18'; id=19 name='row 19'; id=21 name='row 21'");
    CHECK_CONTAINS((char *)actual.data, "id=39 name='row 39'; id=41 name='row 41';");
    CHECK_CONTAINS((char *)actual.data, "\n2 rows: id=58 name='row 58'; id=59 name='row 59';\n");
    cst_source_release(source);
    bytes_free(&actual);
    bytes_free(&told);
  }
  cst_schema_release(schema);
}

/* The same lines as JSON, read by the schema. */
TEST(misfits_of_tables) {
  bytes text = {0}, actual = {0}, told = {0};
  cst_schema *schema = misfit_schema();
  cst_error error = CST_ERROR_INIT;
  for (int i = 0; i < 30; i++) {
    char line[64];
    int size = snprintf(line, sizeof line, "{\"id\": [%d%s], \"name\": [\"row %d\"]}\n", i,
                        i % 10 == 7 ? ", 1" : "", i);
    bytes_add(&text, line, (size_t)size);
  }
  opening o = {.path = write_bytes("misfits.jsonl", &text), .schema = schema, .batch_size = 8};
  cst_source *source = open_source(&o);
  CHECK_EQ(text_of_pass(source, &actual, &error), CST_SCHEMA);
  CHECK_EQ(error.record, 7);
  CHECK_CONTAINS(error.file, "misfits.jsonl");
  cst_source_release(source);
  actual.size = 0;
  o.on_error = CST_ON_ERROR_SKIP, o.on_dropped = note_record, o.ctx = &told;
  source = open_source(&o);
  CHECK_EQ(text_of_pass(source, &actual, &error), CST_OK);
  bytes_add(&told, "", 1);
  CHECK_STR((char *)told.data, "7 record;17 record;27 record;");
  bytes_add(&actual, "", 1);
  CHECK_CONTAINS((char *)actual.data, "8 rows: id=0 ");
  CHECK_CONTAINS((char *)actual.data, "id=6 name='row 6'; id=8 name='row 8';\n8 rows: id=9 ");
  cst_source_release(source);
  cst_schema_release(schema);
  bytes_free(&actual);
  bytes_free(&told);
  bytes_free(&text);
}

TEST(what_a_stage_fails_with) {
  for (int32_t threads = 1; threads <= 2; threads++) {
    bytes actual = {0};
    cst_error error = CST_ERROR_INIT;
    stage_ctx ctx = {.divisor = 1, .fails = CST_CALLBACK};
    cst_source *flat = open_source(
        &(opening){.path = write_examples("fails", 0, 50), .batch_size = 8, .threads = threads});
    cst_source *source = with_filter(flat, &ctx);
    CHECK_EQ(text_of_pass(source, &actual, &error), CST_CALLBACK);
    CHECK_CONTAINS(error.message, "stage 'multiples' failed");
    CHECK_EQ(error.record, 0);
    cst_source_release(source);
    cst_source_release(flat);
    bytes_free(&actual);
  }
}

/* ---- tensors, and the places of their errors ---- */

/* x is null in every third row: a dense tensor of it fails there. */
TEST(places_of_filtered_rows) {
  for (int tells = 0; tells < 2; tells++) {
    stage_ctx ctx = {.divisor = 4, .tells = tells};
    const char *const names[] = {"x"};
    cst_tensor_spec spec = {.name = "x", .kind = CST_TENSOR_DENSE, .dtype = CST_DTYPE_FLOAT32};
    struct ArrowSchema schema;
    cst_specs *specs = NULL;
    cst_tensor_adapter *adapter = NULL;
    cst_tensors *tensors = NULL;
    cst_error error = CST_ERROR_INIT;
    cst_pass *pass = NULL;
    cst_source *flat =
        open_source(&(opening){.path = write_examples("places", 1, 200), .batch_size = 7});
    cst_source *filtered = with_filter(flat, &ctx); /* ids 4, 8, 12: no x in the last */
    cst_source *source = with_columns(filtered, names, 1);
    spec.path = names, spec.num_path_steps = 1;
    CHECK_EQ(cst_specs_from(&spec, 1, NULL, &specs, &error), CST_OK);
    CHECK_EQ(cst_source_arrow_schema(source, &schema, &error), CST_OK);
    CHECK_EQ(cst_tensor_adapter_new(&schema, specs, NULL, &adapter, &error), CST_OK);
    CHECK_EQ(cst_pass_new(source, &pass, &error), CST_OK);
    CHECK_EQ(cst_pass_next_tensors(pass, adapter, &tensors, &error), CST_SCHEMA);
    CHECK_EQ(error.record, tells ? 11 : -1);
    CHECK_EQ(strstr(error.file, "places") != NULL, tells);
    cst_pass_free(pass);
    cst_tensor_adapter_free(adapter);
    cst_specs_release(specs);
    schema.release(&schema);
    cst_source_release(source);
    cst_source_release(filtered);
    cst_source_release(flat);
  }
}

TEST(specs_of_flat_columns) {
  cst_specs *specs = NULL;
  cst_source *source = open_source(&(opening){.path = write_examples("specs", 0, 9)});
  CHECK_EQ(cst_source_specs(source, &specs, NULL), CST_OK);
  CHECK_EQ(cst_specs_num_specs(specs), 3);
  CHECK_EQ(cst_specs_get(specs, 0)->kind, CST_TENSOR_DENSE);
  CHECK_EQ(cst_specs_get(specs, 0)->num_dims, 0);
  CHECK_EQ(cst_specs_get(specs, 2)->kind, CST_TENSOR_VARLEN_SPARSE);
  cst_specs_release(specs);
  cst_source_release(source);
}

/* ---- allocations ---- */

static int read_all(void *context) {
  (void)context;
  stage_ctx ctx = {.divisor = 3};
  cst_error error = CST_ERROR_INIT;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  static const char *const two[] = {"name", "id"};
  const char *path = harness_temp_path("memory");
  cst_source *flat = NULL, *source = NULL;
  cst_stage stage = CST_STAGE_INIT;
  options.flat = true;
  options.batch_size = 4;
  stage.columns = two;
  stage.num_columns = 2;
  stage.close = stage_close;
  stage.ctx = &ctx;
  cst_status status = cst_source_open(&path, 1, &options, &flat, &error);
  if (status == CST_OK) {
    status = cst_source_with_stage(flat, &stage, &source, &error);
    bytes actual = {0};
    cst_pass *pass = NULL;
    struct ArrowArray batch = {.release = NULL};
    if (status == CST_OK) status = cst_pass_new(source, &pass, &error);
    while (status == CST_OK) {
      status = cst_pass_next(pass, &batch, &error);
      if (status != CST_OK || batch.release == NULL) break;
      batch.release(&batch);
    }
    bytes_free(&actual);
    cst_pass_free(pass);
  }
  cst_source_release(source);
  cst_source_release(flat);
  return (int)status;
}

TEST(no_memory) {
  write_examples("memory", 0, 10);
  FOR_EACH_ALLOCATION_FAILURE(read_all, NULL, CST_NO_MEMORY);
}
