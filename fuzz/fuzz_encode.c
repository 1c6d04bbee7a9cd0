/* Tensors to record batches and back: what an encoder takes, an adapter of the same specs gives
 * again, to the bit; what is sound is taken; everything else is refused.
 *
 * The language: a byte of flags, the number of rows, the number of tensors; then each tensor: its
 * kind, its type and what its kind needs, one byte a length, and its values as a pattern. With the
 * highest flag set, changes follow that make specs and tensors wrong. Missing bytes are zero.
 */
#include <columnstone/tensor.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"

enum { MOST_TENSORS = 4, MOST_FIELDS = 3, MOST_PARTS = 4, MOST_BLOCKS = 4096, MOST_DEPTH = 2 };

/* ---- the input ---- */

typedef struct feed {
  const uint8_t *at;
  const uint8_t *end;
} feed;

static uint8_t take(feed *f) { return f->at < f->end ? *f->at++ : 0; }

/* Small numbers mostly, of either sign; some are huge. */
static int64_t take_number(feed *f) {
  int8_t small = (int8_t)take(f);
  return small == INT8_MIN ? INT64_MIN : small == INT8_MAX ? INT64_MAX : small;
}

static void *blocks[MOST_BLOCKS];
static size_t num_blocks;

/* Zeroed memory of exactly this size; all of it is freed after the run. */
static void *make_block(size_t size) {
  FUZZ_ASSERT(num_blocks < MOST_BLOCKS);
  void *block = calloc(1, size ? size : 1);
  FUZZ_ASSERT(block != NULL);
  blocks[num_blocks++] = block;
  return block;
}

static void free_blocks(void) {
  while (num_blocks > 0) {
    free(blocks[--num_blocks]);
  }
}

/* ---- making ---- */

static const cst_dtype dtypes[] = {CST_DTYPE_INT64,  CST_DTYPE_FLOAT32, CST_DTYPE_BYTES,
                                   CST_DTYPE_INT8,   CST_DTYPE_INT16,   CST_DTYPE_INT32,
                                   CST_DTYPE_UINT8,  CST_DTYPE_UINT16,  CST_DTYPE_UINT32,
                                   CST_DTYPE_UINT64, CST_DTYPE_FLOAT64};

static cst_dtype family(cst_dtype dtype) {
  switch (dtype) {
    case CST_DTYPE_BYTES:
      return CST_DTYPE_BYTES;
    case CST_DTYPE_FLOAT32:
    case CST_DTYPE_FLOAT64:
      return CST_DTYPE_FLOAT32;
    default:
      return CST_DTYPE_INT64;
  }
}

static const char *make_name(const char *prefix, const char *name, int number) {
  size_t size = strlen(prefix) + strlen(name) + 16;
  char *out = make_block(size);
  snprintf(out, size, "%s%s%d", prefix, name, number);
  return out;
}

/* Bytes from the input, again and again. */
static void fill(feed *f, uint8_t *to, size_t size) {
  uint8_t pattern[16];
  size_t count = (size_t)take(f) % (sizeof pattern + 1);
  for (size_t i = 0; i < count; i++) {
    pattern[i] = take(f);
  }
  for (size_t i = 0; i < size && count > 0; i++) {
    to[i] = pattern[i % count];
  }
}

/* An array of the shape dims[0 .. num_dims). */
static cst_ndarray make_values(feed *f, cst_dtype dtype, const int64_t *dims, size_t num_dims) {
  int64_t size = 1;
  int64_t *shape = make_block(num_dims * sizeof *shape);
  for (size_t i = 0; i < num_dims; i++) {
    shape[i] = dims[i];
    size *= dims[i];
  }
  cst_ndarray out = {.dtype = dtype, .num_dims = num_dims, .shape = shape, .size = size};
  if (dtype == CST_DTYPE_BYTES) {
    cst_bytes *strings = make_block((size_t)size * sizeof *strings);
    uint8_t step = take(f);
    for (int64_t i = 0; i < size; i++) {
      strings[i].size = (size_t)(step * i) % 20;
      uint8_t *bytes = make_block(strings[i].size);
      strings[i].data = strings[i].size > 0 ? bytes : NULL;
      memset(bytes, (int)(step + i), strings[i].size);
    }
    out.strings = strings;
  } else {
    void *data = make_block((size_t)size * cst_dtype_width(dtype));
    fill(f, data, (size_t)size * cst_dtype_width(dtype));
    out.data = data;
  }
  return out;
}

/* An array of int64 that is filled by the caller. */
static cst_ndarray make_integers(int64_t rows, int64_t columns, int64_t **data) {
  size_t num_dims = columns < 0 ? 1 : 2;
  int64_t size = columns < 0 ? rows : rows * columns;
  int64_t *shape = make_block(num_dims * sizeof *shape);
  shape[0] = rows;
  if (columns >= 0) {
    shape[1] = columns;
  }
  *data = make_block((size_t)size * sizeof **data);
  return (cst_ndarray){CST_DTYPE_INT64, num_dims, shape, size, *data, NULL};
}

static void make_dense(feed *f, cst_tensor_spec *spec, cst_tensor *t, cst_dtype dtype,
                       int64_t rows) {
  int64_t shape[MOST_PARTS + 1] = {rows};
  spec->num_dims = take(f) % MOST_PARTS;
  int64_t *dims = make_block(spec->num_dims * sizeof *dims);
  for (size_t i = 0; i < spec->num_dims; i++) {
    shape[i + 1] = dims[i] = take(f) % 4;
  }
  spec->dims = dims;
  t->values = make_values(f, dtype, shape, spec->num_dims + 1);
}

static void make_varlen(feed *f, cst_tensor *t, cst_dtype dtype, int64_t rows) {
  int64_t lengths[8] = {0};
  int64_t count = 0;
  int64_t *at;
  int64_t *shape;
  t->dense_shape = make_integers(2, -1, &shape);
  shape[0] = rows;
  for (int64_t row = 0; row < rows; row++) {
    lengths[row] = take(f) % 4;
    count += lengths[row];
    shape[1] = lengths[row] > shape[1] ? lengths[row] : shape[1];
  }
  t->indices = make_integers(count, 2, &at);
  for (int64_t row = 0; row < rows; row++) {
    for (int64_t i = 0; i < lengths[row]; i++) {
      *at++ = row;
      *at++ = i;
    }
  }
  t->values = make_values(f, dtype, &count, 1);
}

/* Indices in order: each goes on from the one before by the row and the last dimension. */
static void make_sparse(feed *f, cst_tensor_spec *spec, cst_tensor *t, cst_dtype dtype,
                        int64_t rows) {
  size_t k = 1 + take(f) % 3;
  int64_t count = rows > 0 ? take(f) % 12 : 0;
  int64_t *dims = make_block(k * sizeof *dims);
  const char **columns = make_block(k * sizeof *columns);
  int64_t *shape;
  int64_t *at;
  t->dense_shape = make_integers((int64_t)k + 1, -1, &shape);
  shape[0] = rows;
  for (size_t i = 0; i < k; i++) {
    uint8_t dim = take(f);
    shape[i + 1] = 1 + dim % 5;
    dims[i] = dim < 128 ? shape[i + 1] : -1;
    columns[i] = make_name(spec->name, "i", (int)i);
  }
  spec->num_dims = spec->num_index_columns = k;
  spec->dims = dims;
  spec->index_columns = columns;
  spec->already_sorted = take(f) % 2;
  t->indices = make_integers(count, (int64_t)k + 1, &at);
  int64_t row = 0;
  int64_t last = 0;
  for (int64_t i = 0; i < count; i++, at += k + 1) {
    uint8_t step = take(f);
    int64_t next = row + step % 3;
    if (next < rows && next > row) {
      row = next;
      last = 0;
    } else if (last + step / 64 < shape[k]) {
      last += step / 64;
    }
    at[0] = row;
    at[k] = last;
  }
  t->values = make_values(f, dtype, &count, 1);
}

static int64_t make_splits(feed *f, cst_ndarray *out, int64_t count, int64_t uniform) {
  int64_t *at;
  *out = make_integers(count + 1, -1, &at);
  for (int64_t i = 0; i < count; i++) {
    at[i + 1] = at[i] + (uniform > 0 ? uniform : take(f) % 4);
  }
  return at[count];
}

/* Levels of lists, then partitions by row lengths and uniform ones, then inner dimensions. Row
 * lengths below several levels lie in lists of structs. */
static void make_ragged(feed *f, cst_tensor_spec *spec, cst_tensor *t, cst_dtype dtype,
                        int64_t rows) {
  size_t num_levels = 1 + take(f) % 3;
  size_t num_partitions = take(f) % MOST_PARTS;
  cst_partition *partitions = make_block(num_partitions * sizeof *partitions);
  cst_ndarray *splits = make_block((num_levels + num_partitions) * sizeof *splits);
  size_t num_ragged = 0; /* partitions up to the last one by row lengths */
  for (size_t i = 0; i < num_partitions; i++) {
    uint8_t choice = take(f);
    if (choice < 128) {
      partitions[i].uniform_length = 1 + choice % 3;
    } else {
      partitions[i].row_length_column = make_name(spec->name, "n", (int)i);
      num_ragged = i + 1;
    }
  }
  int64_t count = rows;
  for (size_t i = 0; i < num_levels + num_ragged; i++) {
    int64_t uniform = i < num_levels ? 0 : partitions[i - num_levels].uniform_length;
    count = make_splits(f, &splits[i], count, uniform);
    if (count > 1000) {
      num_ragged = 0; /* enough; the tensor then is a wrong one */
      break;
    }
  }
  int64_t shape[MOST_PARTS + 1] = {count};
  size_t num_dims = 1;
  for (size_t i = num_ragged; i < num_partitions; i++) {
    shape[num_dims++] = partitions[i].uniform_length > 0 ? partitions[i].uniform_length : 1;
  }
  spec->partitions = partitions;
  spec->num_partitions = num_partitions;
  spec->row_splits_dtype = take(f) % 2 ? CST_DTYPE_INT32 : CST_DTYPE_INT64;
  if ((num_ragged > 0 && num_levels > 1) || take(f) % 2) {
    const char **path = make_block(2 * sizeof *path);
    path[0] = make_name(spec->name, "s", 0);
    path[1] = spec->name;
    spec->path = path;
    spec->num_path_steps = 2;
  }
  t->splits = splits;
  t->num_splits = num_levels + num_ragged;
  t->values = make_values(f, dtype, shape, num_dims);
}

static void make_tensor(feed *f, cst_tensor_spec *spec, cst_tensor *t, const char *prefix, int i,
                        int64_t rows, int depth);

static void make_structured(feed *f, cst_tensor_spec *spec, cst_tensor *t, int64_t rows,
                            int depth) {
  size_t count = 1 + take(f) % MOST_FIELDS;
  cst_tensor_spec *specs = make_block(count * sizeof *specs);
  cst_tensor *tensors = make_block(count * sizeof *tensors);
  for (size_t i = 0; i < count; i++) {
    make_tensor(f, &specs[i], &tensors[i], spec->name, (int)i, rows, depth + 1);
  }
  spec->fields = specs;
  t->fields = tensors;
  spec->num_fields = t->num_fields = count;
}

static void make_tensor(feed *f, cst_tensor_spec *spec, cst_tensor *t, const char *prefix, int i,
                        int64_t rows, int depth) {
  int kind = take(f) % (depth < MOST_DEPTH ? 5 : 4);
  cst_dtype dtype = dtypes[take(f) % (sizeof dtypes / sizeof dtypes[0])];
  const char *name = make_name(prefix, "t", i);
  const char **path = make_block(sizeof *path);
  path[0] = name;
  *spec = (cst_tensor_spec){.name = name,
                            .kind = (cst_tensor_kind)(kind + 1),
                            .dtype = family(dtype),
                            .path = path,
                            .num_path_steps = 1,
                            .row_splits_dtype = CST_DTYPE_INT64};
  *t = (cst_tensor){.name = name, .kind = spec->kind};
  switch (spec->kind) {
    case CST_TENSOR_DENSE:
      make_dense(f, spec, t, dtype, rows);
      break;
    case CST_TENSOR_VARLEN_SPARSE:
      make_varlen(f, t, dtype, rows);
      break;
    case CST_TENSOR_SPARSE:
      make_sparse(f, spec, t, dtype, rows);
      break;
    case CST_TENSOR_RAGGED:
      make_ragged(f, spec, t, dtype, rows);
      break;
    case CST_TENSOR_STRUCTURED:
      make_structured(f, spec, t, rows, depth);
      break;
  }
}

/* ---- making it wrong ---- */

static void damage_entry(feed *f, const cst_ndarray *integers) {
  int64_t number = take_number(f);
  if (integers->data != NULL && integers->dtype == CST_DTYPE_INT64 && integers->size > 0) {
    ((int64_t *)(uintptr_t)integers->data)[take(f) % integers->size] = number;
  }
}

/* Sizes and shapes that contradict each other; never more than there is. */
static void damage_array(feed *f, cst_ndarray *array) {
  switch (take(f) % 5) {
    case 0:
      array->size = array->size > 0 ? take(f) % array->size : -1;
      break;
    case 1:
      array->num_dims = array->num_dims > 0 ? take(f) % array->num_dims : 0;
      break;
    case 2:
      array->data = array->strings = NULL;
      break;
    case 3:
      array->shape = NULL;
      break;
    default:
      if (array->num_dims > 0 && array->shape != NULL) {
        ((int64_t *)(uintptr_t)array->shape)[take(f) % array->num_dims] = take_number(f);
      }
  }
}

static void damage_spec(feed *f, cst_tensor_spec *spec) {
  static const char *const few[] = {"x", "i", "s"};
  const char **path;
  switch (take(f) % 8) {
    case 0:
      spec->dtype = (cst_dtype)(take(f) % 16);
      break;
    case 1:
      if (spec->num_dims > 0) {
        ((int64_t *)(uintptr_t)spec->dims)[take(f) % spec->num_dims] = take_number(f);
      }
      break;
    case 2:
      if (spec->num_partitions > 0) {
        cst_partition *p = (cst_partition *)(uintptr_t)&spec->partitions[0];
        p += take(f) % spec->num_partitions;
        p->uniform_length = take_number(f);
        p->row_length_column = take(f) % 2 ? few[take(f) % 3] : NULL;
      }
      break;
    case 3:
      spec->num_path_steps = 1 + take(f) % 3;
      path = make_block(spec->num_path_steps * sizeof *path);
      for (size_t i = 0; i < spec->num_path_steps; i++) {
        path[i] = few[take(f) % 3];
      }
      spec->path = path;
      break;
    case 4:
      if (spec->num_index_columns > 0) {
        ((const char **)(uintptr_t)spec->index_columns)[0] = few[take(f) % 3];
      }
      break;
    case 5:
      spec->row_splits_dtype = (cst_dtype)(take(f) % 16);
      break;
    case 6:
      spec->path = NULL;
      spec->num_path_steps = 0;
      break;
    default:
      spec->num_partitions = spec->num_partitions > 0 ? take(f) % spec->num_partitions : 0;
  }
}

static void damage_tensor(feed *f, cst_tensor_spec *spec, cst_tensor *t) {
  if (t->num_fields > 0 && take(f) % 4 > 0) {
    size_t i = take(f) % t->num_fields;
    damage_tensor(f, (cst_tensor_spec *)(uintptr_t)&spec->fields[i],
                  (cst_tensor *)(uintptr_t)&t->fields[i]);
    return;
  }
  cst_ndarray *splits =
      t->num_splits > 0 ? (cst_ndarray *)(uintptr_t)&t->splits[take(f) % t->num_splits] : NULL;
  switch (take(f) % 9) {
    case 0:
      damage_array(f, &t->values);
      break;
    case 1:
      damage_array(f, splits != NULL ? splits : &t->indices);
      break;
    case 2:
      damage_array(f, &t->dense_shape);
      break;
    case 3:
      damage_entry(f, splits != NULL ? splits : &t->indices);
      break;
    case 4:
      damage_entry(f, &t->dense_shape);
      break;
    case 5:
      t->num_splits = t->num_splits > 0 ? take(f) % t->num_splits : 0;
      break;
    case 6:
      t->kind = (cst_tensor_kind)(take(f) % 8);
      break;
    case 7:
      t->name = "other";
      break;
    default:
      damage_spec(f, spec);
  }
}

/* ---- what is the same ---- */

static bool same_bytes(const cst_bytes *a, const cst_bytes *b) {
  return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static void check_values(const cst_ndarray *a, const cst_ndarray *b) {
  FUZZ_ASSERT(a->dtype == b->dtype && a->num_dims == b->num_dims && a->size == b->size);
  for (size_t i = 0; i < a->num_dims; i++) {
    FUZZ_ASSERT(a->shape[i] == b->shape[i]);
  }
  if (a->dtype == CST_DTYPE_BYTES) {
    for (int64_t i = 0; i < a->size; i++) {
      FUZZ_ASSERT(same_bytes(&a->strings[i], &b->strings[i]));
    }
  } else if (a->size > 0) {
    FUZZ_ASSERT(memcmp(a->data, b->data, (size_t)a->size * cst_dtype_width(a->dtype)) == 0);
  }
}

static int64_t integer_at(const cst_ndarray *array, int64_t i) {
  return array->dtype == CST_DTYPE_INT32 ? ((const int32_t *)array->data)[i]
                                         : ((const int64_t *)array->data)[i];
}

/* The numbers are the same; int32 or int64 is what the spec says. */
static void check_splits(const cst_ndarray *given, const cst_ndarray *made, cst_dtype dtype) {
  FUZZ_ASSERT(given->size == made->size && made->dtype == dtype);
  for (int64_t i = 0; i < given->size; i++) {
    FUZZ_ASSERT(integer_at(given, i) == integer_at(made, i));
  }
}

/* One more than the largest index in a dimension; 0 if there is none. */
static int64_t extent_of(const cst_tensor *tensor, int64_t dim) {
  int64_t rank = tensor->dense_shape.size;
  int64_t extent = 0;
  for (int64_t at = dim; at < tensor->indices.size; at += rank) {
    int64_t end = integer_at(&tensor->indices, at) + 1;
    extent = end > extent ? end : extent;
  }
  return extent;
}

/* Sizes that the spec leaves open are as small as they can be. */
static void check_shape(const cst_tensor_spec *spec, const cst_tensor *given,
                        const cst_tensor *made) {
  FUZZ_ASSERT(given->dense_shape.size == made->dense_shape.size);
  for (int64_t i = 0; i < given->dense_shape.size; i++) {
    bool is_open = spec->kind == CST_TENSOR_SPARSE && i > 0 && spec->dims[i - 1] < 0;
    FUZZ_ASSERT(integer_at(&made->dense_shape, i) ==
                (is_open ? extent_of(made, i) : integer_at(&given->dense_shape, i)));
  }
}

static void check_tensor(const cst_tensor_spec *spec, const cst_tensor *given,
                         const cst_tensor *made) {
  FUZZ_ASSERT(strcmp(given->name, made->name) == 0 && made->kind == spec->kind);
  FUZZ_ASSERT(given->num_fields == made->num_fields || spec->kind != CST_TENSOR_STRUCTURED);
  switch (spec->kind) {
    case CST_TENSOR_STRUCTURED:
      for (size_t i = 0; i < given->num_fields; i++) {
        size_t at = 0;
        while (strcmp(made->fields[at].name, given->fields[i].name) != 0) {
          FUZZ_ASSERT(++at < made->num_fields);
        }
        check_tensor(&spec->fields[at], &given->fields[i], &made->fields[at]);
      }
      return;
    case CST_TENSOR_VARLEN_SPARSE:
    case CST_TENSOR_SPARSE:
      check_values(&given->indices, &made->indices);
      check_shape(spec, given, made);
      break;
    case CST_TENSOR_RAGGED:
      FUZZ_ASSERT(given->num_splits == made->num_splits);
      for (size_t i = 0; i < given->num_splits; i++) {
        check_splits(&given->splits[i], &made->splits[i], spec->row_splits_dtype);
      }
      break;
    case CST_TENSOR_DENSE:
      break;
  }
  check_values(&given->values, &made->values);
}

/* ---- there and back ---- */

static cst_error last_error;

static bool is_ok(cst_status status) {
  if (status != CST_OK) {
    FUZZ_ASSERT(status == last_error.code && last_error.message[0] != '\0');
  }
  return status == CST_OK;
}

static void check_back(const cst_specs *specs, const struct ArrowSchema *schema,
                       struct ArrowArray *batch, const cst_tensor *tensors, size_t count) {
  cst_tensor_adapter *adapter = NULL;
  cst_tensors *made = NULL;
  if (!is_ok(cst_tensor_adapter_new(schema, specs, NULL, &adapter, &last_error)) ||
      !is_ok(cst_tensor_adapter_convert(adapter, batch, 0, &made, &last_error))) {
    fprintf(stderr, "%s: %s\n", last_error.path, last_error.message);
    abort();
  }
  for (size_t i = 0; i < cst_specs_num_specs(specs); i++) {
    const cst_tensor_spec *spec = cst_specs_get(specs, i);
    size_t at = 0;
    while (strcmp(tensors[at].name, spec->name) != 0) {
      FUZZ_ASSERT(++at < count);
    }
    check_tensor(spec, &tensors[at], cst_tensors_find(made, spec->name));
  }
  cst_tensors_release(made);
  cst_tensor_adapter_free(adapter);
}

static cst_status there_and_back(const cst_specs *specs, const cst_tensor *tensors, size_t count) {
  cst_tensor_encoder *encoder = NULL;
  struct ArrowSchema schema = {.release = NULL};
  struct ArrowArray batch = {.release = NULL};
  cst_status status = cst_tensor_encoder_new(specs, NULL, &encoder, &last_error);
  if (is_ok(status)) {
    status = cst_tensor_encoder_encode(encoder, tensors, count, &batch, &last_error);
  }
  if (is_ok(status)) {
    FUZZ_ASSERT(cst_tensor_encoder_arrow_schema(encoder, &schema, NULL) == CST_OK);
    check_back(specs, &schema, &batch, tensors, count);
    schema.release(&schema);
  }
  FUZZ_ASSERT(batch.release == NULL); /* moved, or never made */
  cst_tensor_encoder_free(encoder);
  return status;
}

/* By the specs that the tensors ask for. */
static cst_status by_themselves(const cst_tensor *tensors, size_t count) {
  cst_specs *specs = NULL;
  cst_status status = cst_specs_of_tensors(tensors, count, NULL, &specs, &last_error);
  if (is_ok(status)) {
    status = there_and_back(specs, tensors, count);
    cst_specs_release(specs);
  }
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  feed f = {data, data + size};
  cst_tensor_spec items[MOST_TENSORS];
  cst_tensor tensors[MOST_TENSORS];
  cst_specs *specs = NULL;
  last_error = (cst_error)CST_ERROR_INIT;
  uint8_t flags = take(&f);
  int64_t rows = take(&f) % 6;
  size_t count = 1 + take(&f) % MOST_TENSORS;
  for (size_t i = 0; i < count; i++) {
    make_tensor(&f, &items[i], &tensors[i], "", (int)i, rows, 0);
  }
  for (int i = 0; flags >= 128 && i <= flags % 4; i++) {
    size_t at = take(&f) % count;
    damage_tensor(&f, &items[at], &tensors[at]);
  }
  (void)by_themselves(tensors, count);
  cst_status status = cst_specs_from(items, count, NULL, &specs, &last_error);
  if (is_ok(status)) {
    status = there_and_back(specs, tensors, count);
  }
  if (flags < 128 && status != CST_OK) {
    fprintf(stderr, "%s: %s\n", last_error.path, last_error.message);
    abort();
  }
  cst_specs_release(specs);
  free_blocks();
  fuzz_outcome(cst_status_name(status));
  return 0;
}
