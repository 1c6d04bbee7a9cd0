/* Arrow data from outside: a view either refuses it, or every slot of it can be read; so can every
 * tensor that a conversion makes of it.
 *
 * The language: the first byte chooses the tensor that is asked for, and whether it is padded, too;
 * then comes one node of arrow_feed.h.
 */
#include <columnstone/tensor.h>
#include <string.h>

#include "arrow/view.h"
#include "arrow_feed.h"
#include "base/utf8.h"
#include "fuzz.h"

enum { MOST_STEPS = 1 << 16 };

/* ---- reading everything ---- */

static size_t steps;
static uint64_t sum;

static void read_bytes(const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    sum = sum * 31 + ((const uint8_t *)bytes)[i];
  }
}

static void read_slot(const cst__view *v, int64_t i) {
  int64_t begin;
  int64_t end;
  FUZZ_ASSERT(i >= 0 && i < v->length);
  if (++steps > MOST_STEPS || cst__view_is_null(v, i)) {
    return;
  }
  if (v->layout == CST__LAYOUT_NUMBER) {
    size_t width = cst_dtype_width(v->dtype);
    read_bytes((const char *)v->data + (size_t)(v->offset + i) * width, width);
  } else if (v->dtype == CST_DTYPE_BYTES) {
    cst_bytes bytes = cst__view_bytes(v, i);
    read_bytes(bytes.data, bytes.size);
    FUZZ_ASSERT(!v->is_string || bytes.size == 0 || cst__utf8_valid(bytes.data, bytes.size));
  } else if (cst__view_is_list(v)) {
    cst__view_list(v, i, &begin, &end);
    FUZZ_ASSERT(begin >= 0 && begin <= end);
    for (int64_t at = begin; at < end && at < begin + MOST_SLOTS; at++) {
      read_slot(&v->children[0], at);
    }
    if (begin < end) {
      read_slot(&v->children[0], end - 1);
    }
  }
  for (int64_t c = 0; v->layout == CST__LAYOUT_STRUCT && c < v->num_children; c++) {
    read_slot(&v->children[c], i);
  }
}

static uint64_t read_view(const cst__view *v) {
  int64_t nulls = 0;
  steps = 0;
  sum = 1;
  for (int64_t i = 0; i < v->length && i < 2 * MOST_SLOTS; i++) {
    read_slot(v, i);
    nulls += cst__view_is_null(v, i);
  }
  FUZZ_ASSERT(v->length > 2 * MOST_SLOTS || v->layout == CST__LAYOUT_OTHER ||
              nulls == v->null_count);
  return sum;
}

static void check_error(const cst_error *error) {
  FUZZ_ASSERT(error->message[0] != '\0');
  FUZZ_ASSERT(cst__utf8_valid((const uint8_t *)error->message, strlen(error->message)));
}

/* ---- tensors ---- */

static const char *const representations[] = {
    "dense_tensor { column_name: 'x' shape { } }",
    "dense_tensor { column_name: 'x' shape { dim { size: 2 } } }",
    "dense_tensor { column_name: 'x' shape { } default_value { %s } }",
    "varlen_sparse_tensor { column_name: 'x' }",
    "sparse_tensor { value_column_name: 'x' index_column_names: 'i' dense_shape { dim { size: 9 } "
    "} }",
    "sparse_tensor { value_column_name: 'x' index_column_names: 'i' index_column_names: 'n' "
    "dense_shape { dim { size: 9 } dim { size: -1 } } }",
    "ragged_tensor { feature_path { step: 'x' } row_partition_dtype: INT32 }",
    "ragged_tensor { feature_path { step: 'x' } partition { uniform_row_length: 2 } }",
    "ragged_tensor { feature_path { step: 'x' } partition { row_length: 'n' } }",
    "ragged_tensor { feature_path { step: 'x' } partition { row_length: 'n' } "
    "partition { uniform_row_length: 1 } partition { row_length: 'm' } }",
};

enum { NUM_KINDS = sizeof representations / sizeof representations[0], NUM_SPECS = 3 * NUM_KINDS };

static cst_specs *specs_of(size_t which) {
  static cst_specs *specs[NUM_SPECS];
  static const char *const types[] = {"INT", "FLOAT", "BYTES"};
  static const char *const defaults[] = {"int_value: 7", "float_value: 7", "bytes_value: '7'"};
  if (specs[which] == NULL) {
    char text[2048];
    char representation[512];
    cst_schema *schema;
    size_t type = which / NUM_KINDS;
    snprintf(representation, sizeof representation, representations[which % NUM_KINDS],
             defaults[type]);
    size_t at = (size_t)snprintf(text, sizeof text, "feature { name: 'x' type: %s } ", types[type]);
    for (const char *name = "inm"; *name != '\0'; name++) {
      const char quoted[] = {'\'', *name, '\'', '\0'};
      if (strstr(representation, quoted) != NULL) { /* other features would be tensors as well */
        at += (size_t)snprintf(text + at, sizeof text - at, "feature { name: %s type: INT } ",
                               quoted);
      }
    }
    snprintf(text + at, sizeof text - at,
             "tensor_representation_group { key: '' value { tensor_representation { key: 't' "
             "value { %s } } } }",
             representation);
    FUZZ_ASSERT(cst_schema_from_text(text, strlen(text), &schema, NULL) == CST_OK);
    FUZZ_ASSERT(cst_specs_new(schema, NULL, &specs[which], NULL) == CST_OK);
    cst_schema_release(schema);
  }
  return specs[which];
}

static void read_array(const cst_ndarray *a) {
  int64_t size = 1;
  for (size_t i = 0; i < a->num_dims; i++) {
    FUZZ_ASSERT(a->shape[i] >= 0);
    size *= a->shape[i];
  }
  FUZZ_ASSERT(size == a->size);
  for (int64_t i = 0; i < a->size && i < MOST_STEPS; i++) {
    if (a->dtype == CST_DTYPE_BYTES) {
      read_bytes(a->strings[i].data, a->strings[i].size);
    } else {
      read_bytes((const char *)a->data + (size_t)i * cst_dtype_width(a->dtype),
                 cst_dtype_width(a->dtype));
    }
  }
}

static int64_t split_at(const cst_ndarray *splits, int64_t i) {
  return cst__view_entry(splits->data, splits->dtype == CST_DTYPE_INT32 ? 4 : 8, i);
}

static void check_tensor(const cst_tensor *t, int64_t rows) {
  int64_t expected = rows;
  read_array(&t->values);
  for (size_t s = 0; s < t->num_splits; s++) {
    const cst_ndarray *splits = &t->splits[s];
    read_array(splits);
    FUZZ_ASSERT(splits->size == expected + 1 && split_at(splits, 0) == 0);
    for (int64_t i = 1; i < splits->size; i++) {
      FUZZ_ASSERT(split_at(splits, i - 1) <= split_at(splits, i));
    }
    expected = split_at(splits, expected);
  }
  FUZZ_ASSERT(t->kind != CST_TENSOR_RAGGED || t->values.shape[0] == expected);
  FUZZ_ASSERT(t->kind != CST_TENSOR_DENSE || t->values.shape[0] == rows);
  if (t->indices.data == NULL) {
    return;
  }
  int64_t rank = t->indices.shape[1];
  const int64_t *at = t->indices.data;
  read_array(&t->indices);
  FUZZ_ASSERT(t->indices.shape[0] == t->values.size);
  for (int64_t i = 1; i < t->values.size; i++) {
    int64_t k = 0;
    while (k < rank && at[(i - 1) * rank + k] == at[i * rank + k]) {
      k++;
    }
    FUZZ_ASSERT(k == rank || at[(i - 1) * rank + k] < at[i * rank + k]);
  }
}

static cst_status convert(size_t which, struct ArrowSchema *schema, struct ArrowArray *array) {
  cst_tensor_adapter *adapter;
  cst_tensors *tensors;
  cst_error error = CST_ERROR_INIT;
  int64_t rows = array->length;
  cst_status status = cst_tensor_adapter_new(schema, specs_of(which), NULL, &adapter, &error);
  if (status == CST_OK) {
    status = cst_tensor_adapter_convert(adapter, array, 0, &tensors, &error);
    FUZZ_ASSERT((status == CST_OK) == (array->release == NULL));
    if (status == CST_OK) {
      check_tensor(cst_tensors_find(tensors, "t"), rows);
      cst_tensors_release(tensors);
    }
    cst_tensor_adapter_free(adapter);
  }
  if (status != CST_OK) {
    check_error(&error);
  }
  return status;
}

static void keep(struct ArrowArray *array) { array->release = NULL; }

/* The same batch with its tensor made dense, by so many lengths; rows that are longer are cut off.
 */
static void convert_padded(size_t which, size_t num_lengths, const struct ArrowSchema *schema,
                           const struct ArrowArray *array) {
  static const int64_t lengths[] = {3, 2, 2};
  const cst_pad pad = {.name = "t",
                       .int_value = 1,
                       .num_lengths = num_lengths,
                       .lengths = lengths,
                       .truncate = true};
  const cst_tensor_options options = {.size = sizeof options, .pads = &pad, .num_pads = 1};
  cst_tensor_adapter *adapter;
  cst_tensors *tensors;
  cst_error error = CST_ERROR_INIT;
  struct ArrowArray lent = *array;
  lent.release = keep;
  cst_status status = cst_tensor_adapter_new(schema, specs_of(which), &options, &adapter, &error);
  if (status == CST_OK) {
    status = cst_tensor_adapter_convert(adapter, &lent, 0, &tensors, &error);
    cst_tensor_adapter_free(adapter);
    if (status == CST_OK) {
      const cst_tensor *t = cst_tensors_find(tensors, "t");
      FUZZ_ASSERT(t->kind == CST_TENSOR_DENSE);
      check_tensor(t, array->length);
      cst_tensors_release(tensors);
    }
  }
  if (status != CST_OK) {
    check_error(&error);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  feed f = {data, data + size, false};
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__arena arena;
  cst__view view;
  cst__view trusted;
  cst_error error = CST_ERROR_INIT;
  uint8_t which = take(&f);
  f.is_damaged = which >= 128;
  make_node(&f, &schema, &array, 0);
  cst__arena_init(&arena, NULL);
  cst_status status = cst__view_init(&view, &schema, &array, false, &arena, &error);
  if (status == CST_OK) {
    uint64_t read = read_view(&view);
    FUZZ_ASSERT(cst__view_init(&trusted, &schema, &array, true, &arena, NULL) == CST_OK);
    FUZZ_ASSERT(read_view(&trusted) == read);
    if (view.layout == CST__LAYOUT_STRUCT && which % 32 < NUM_SPECS) {
      if (which / 32 % 4 > 0) {
        convert_padded(which % 32, which / 32 % 4, &schema, &array);
      }
      status = convert(which % 32, &schema, &array);
    }
  } else {
    check_error(&error);
  }
  cst__arena_reset(&arena);
  free_blocks();
  fuzz_outcome(cst_status_name(status));
  return 0;
}
