/* Tensors as text, and specs from short schema text, for tests. */
#ifndef TESTS_UNIT_TENSOR_TEXT_H
#define TESTS_UNIT_TENSOR_TEXT_H

#include <columnstone/tensor.h>
#include <inttypes.h>

#include "arrow/view.h"
#include "arrow_text.h"

#define FEATURE(name, type) "feature { name: '" name "' type: " type " } "
#define INT(name) FEATURE(name, "INT")
#define FLOAT(name) FEATURE(name, "FLOAT")
#define BYTES(name) FEATURE(name, "BYTES")
#define STRUCT(name, fields) \
  "feature { name: '" name "' type: STRUCT struct_domain { " fields "} } "
/* One tensor called "t". */
#define TENSOR(representation)                                                            \
  "tensor_representation_group { key: '' value { tensor_representation { key: 't' value " \
  "{ " representation " } } } }"
#define DIM(size) "dim { size: " size " } "
#define DENSE(dims) TENSOR("dense_tensor { column_name: 'x' shape { " dims "} }")
#define DENSE_OR(dims, value) \
  TENSOR("dense_tensor { column_name: 'x' shape { " dims "} default_value { " value " } }")
#define VARLEN TENSOR("varlen_sparse_tensor { column_name: 'x' }")
#define RAGGED(parts) TENSOR("ragged_tensor { feature_path { step: 'x' } " parts " }")
#define SPARSE_0(more) TENSOR("sparse_tensor { value_column_name: 'x' dense_shape {} " more " }")
#define SPARSE_1(dims, more)                                                                  \
  TENSOR("sparse_tensor { value_column_name: 'x' index_column_names: 'i' dense_shape { " dims \
         "} " more " }")
#define SPARSE_2(dims)                                                                             \
  TENSOR("sparse_tensor { value_column_name: 'x' index_column_names: 'i' index_column_names: 'j' " \
         "dense_shape { " dims "} }")
#define LENGTHS(column) "partition { row_length: '" column "' } "
#define UNIFORM(size) "partition { uniform_row_length: " size " } "

typedef struct text {
  char buf[2048];
  size_t size;
} text;

static inline void put(text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (t->size < sizeof t->buf) {
    t->size += (size_t)vsnprintf(t->buf + t->size, sizeof t->buf - t->size, format, args);
  }
  va_end(args);
}

static inline int64_t integer_at(const cst_ndarray *a, int64_t i) {
  switch (a->dtype) {
    case CST_DTYPE_INT8:
      return ((const int8_t *)a->data)[i];
    case CST_DTYPE_UINT8:
    case CST_DTYPE_BOOL:
      return ((const uint8_t *)a->data)[i];
    case CST_DTYPE_INT16:
      return ((const int16_t *)a->data)[i];
    case CST_DTYPE_UINT16:
      return ((const uint16_t *)a->data)[i];
    case CST_DTYPE_INT32:
      return ((const int32_t *)a->data)[i];
    case CST_DTYPE_UINT32:
      return ((const uint32_t *)a->data)[i];
    default:
      return ((const int64_t *)a->data)[i];
  }
}

static inline void put_value(text *t, const cst_ndarray *a, int64_t i) {
  if (a->dtype == CST_DTYPE_BYTES) {
    put(t, "%.*s", (int)a->strings[i].size, (const char *)a->strings[i].data);
  } else if (a->dtype == CST_DTYPE_FLOAT32) {
    put(t, "%g", (double)((const float *)a->data)[i]);
  } else if (a->dtype == CST_DTYPE_FLOAT64) {
    put(t, "%g", ((const double *)a->data)[i]);
  } else {
    put(t, "%" PRId64, integer_at(a, i));
  }
}

static inline void put_array(text *t, const cst_ndarray *a) {
  CHECK(a->size == 0 || (a->dtype == CST_DTYPE_BYTES ? a->strings != NULL : a->data != NULL));
  for (int64_t i = 0; i < a->size; i++) {
    put(t, "%s", i ? " " : "");
    put_value(t, a, i);
  }
}

static inline void put_shape(text *t, const cst_ndarray *a) {
  int64_t size = 1;
  put(t, "%s[", cst_dtype_name(a->dtype));
  for (size_t i = 0; i < a->num_dims; i++) {
    put(t, "%s%" PRId64, i ? " " : "", a->shape[i]);
    size *= a->shape[i];
  }
  put(t, "]");
  CHECK_EQ(size, a->size);
}

/* "int64[2 1] 5 6", "int64[2] 5 6 at 0,0 0,1 of 3 2", "int64[2] 5 6 splits 0 1 2 | 0 2 2". */
static inline const char *tensor_text(const cst_tensor *tensor) {
  static text t;
  t.size = 0;
  put_shape(&t, &tensor->values);
  put(&t, "%s", tensor->values.size ? " " : "");
  put_array(&t, &tensor->values);
  if (tensor->indices.num_dims == 2) {
    int64_t rank = tensor->indices.shape[1];
    put(&t, " at");
    CHECK_EQ(tensor->indices.shape[0], tensor->values.size);
    for (int64_t i = 0; i < tensor->indices.size; i++) {
      put(&t, "%s", i % rank ? "," : " ");
      put_value(&t, &tensor->indices, i);
    }
    put(&t, " of ");
    put_array(&t, &tensor->dense_shape);
  }
  for (size_t i = 0; i < tensor->num_splits; i++) {
    put(&t, "%s", i ? " | " : " splits ");
    put_array(&t, &tensor->splits[i]);
  }
  return t.buf;
}

/* An array that lends another one's memory and counts its releases. */
static inline void lent_release(struct ArrowArray *array) {
  if (array->private_data != NULL) *(int *)array->private_data += 1;
  array->release = NULL;
}

static inline struct ArrowArray lend(const struct ArrowArray *array, int *releases) {
  struct ArrowArray lent = *array;
  lent.release = lent_release;
  lent.private_data = releases;
  return lent;
}

/* Sets a bit of the bitmap to null behind the builder's back, so that values stay behind it. */
static inline void hide(struct ArrowArray *array, int64_t slot) {
  uint8_t *bits = (uint8_t *)(uintptr_t)array->buffers[0];
  CHECK(bits != NULL);
  bits[slot / 8] &= (uint8_t) ~(1 << slot % 8);
  array->null_count = -1;
}

/* A batch of text, and the specs of a schema. */
typedef struct tensor_fixture {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_specs *specs;
  cst_tensor_adapter *adapter;
  cst_tensors *tensors;
  cst_error error;
  int releases;
} tensor_fixture;

static inline void fixture_make(tensor_fixture *f, const char *type, const char *rows,
                                const char *schema_text) {
  cst_schema *schema = NULL;
  memset(f, 0, sizeof *f);
  f->error = (cst_error)CST_ERROR_INIT;
  arrow_text(type, rows, &f->schema, &f->array);
  cst_status status = cst_schema_from_text(schema_text, strlen(schema_text), &schema, &f->error);
  if (status == CST_OK) status = cst_specs_new(schema, NULL, &f->specs, &f->error);
  if (status != CST_OK) printf("%s\n%s: %s\n", schema_text, f->error.path, f->error.message);
  CHECK_EQ(status, CST_OK);
  cst_schema_release(schema);
}

static inline cst_status fixture_convert(tensor_fixture *f) {
  cst_status status = cst_tensor_adapter_new(&f->schema, f->specs, NULL, &f->adapter, &f->error);
  if (status != CST_OK) return status;
  struct ArrowArray lent = lend(&f->array, &f->releases);
  status = cst_tensor_adapter_convert(f->adapter, &lent, 0, &f->tensors, &f->error);
  CHECK((status == CST_OK) == (lent.release == NULL));
  CHECK_EQ(f->releases, 0);
  return status;
}

static inline void fixture_drop(tensor_fixture *f) {
  bool was_moved = f->tensors != NULL;
  cst_tensor_adapter_free(f->adapter);
  cst_tensors_release(f->tensors);
  CHECK_EQ(f->releases, was_moved);
  cst_specs_release(f->specs);
  if (f->schema.release) ArrowSchemaRelease(&f->schema);
  if (f->array.release) ArrowArrayRelease(&f->array);
}

#endif
