/* The tensor room from inside: adapters, plans, and what the makers of each kind share. */
#ifndef TENSOR_TENSOR_H
#define TENSOR_TENSOR_H

#include <columnstone/tensor.h>

#include "base/thread.h"
#include "schema/schema.h"
#include "tensor/scratch.h"
#include "tensor/slots.h"

/* One element of any type. */
typedef union cst__element {
  int8_t i8;
  int16_t i16;
  int32_t i32;
  int64_t i64;
  float f32;
  double f64;
  cst_bytes bytes;
} cst__element;

/* How a tensor of rows of differing lengths becomes dense. */
typedef struct cst__padding {
  cst__element value;
  bool truncate;
  const int64_t *lengths; /* ragged: one per level; sparse: one per index column; -1: the longest */
} cst__padding;

static inline bool cst__dtype_is_integer(cst_dtype dtype) {
  return dtype >= CST_DTYPE_INT8 && dtype <= CST_DTYPE_UINT64;
}

/* True if values of a type can be those of a spec's: any width of the same family. */
static inline bool cst__dtype_fits(cst_dtype given, cst_dtype wanted) {
  if (cst__dtype_is_integer(wanted)) {
    return cst__dtype_is_integer(given);
  }
  if (wanted == CST_DTYPE_FLOAT32 || wanted == CST_DTYPE_FLOAT64) {
    return given == CST_DTYPE_FLOAT32 || given == CST_DTYPE_FLOAT64;
  }
  return given == wanted;
}

/* How one spec reads the adapter's Arrow schema. Lives in the adapter's arena. */
typedef struct cst__plan {
  const cst_tensor_spec *spec;
  size_t num_steps;
  const int64_t *steps;    /* the value column: number of the child at each struct of the path */
  const int64_t *siblings; /* index columns, or row lengths (-1: uniform), within the last struct */
  cst_dtype dtype;         /* of the values: the column's own, the spec's for type null */
  int64_t row_size;        /* dense: values of a row */
  size_t num_inner;        /* ragged: trailing uniform partitions, which become dimensions */
  int64_t inner_size;      /* ragged: values of one such item */
  size_t num_lists;        /* ragged: levels of lists along the path */
  const cst__padding *padding; /* NULL: none */
  size_t num_fields;           /* structured */
  struct cst__plan *fields;
} cst__plan;

struct cst_tensor_adapter {
  cst__arena arena;
  cst__scratch_pool *pool;
  cst_specs *specs;
  struct ArrowSchema schema;
  size_t count;
  cst__plan *plans;
};

struct cst_tensors {
  cst__refcount owners;
  cst__scratch scratch;
  struct ArrowArray batch;
  cst_specs *specs; /* the tensors' names and defaults */
  size_t count;
  cst_tensor *items; /* in the scratch, as all that they point to and the batch does not hold */
};

/* The making of one tensor. */
typedef struct cst__job {
  const cst__plan *plan;
  const cst__view *root;
  cst__scratch *scratch;
  cst_tensor *out;
  cst_error *error;
} cst__job;

cst_status cst__make_dense(const cst__job *job);
cst_status cst__make_varlen(const cst__job *job);
cst_status cst__make_sparse(const cst__job *job);
cst_status cst__make_ragged(const cst__job *job);
cst_status cst__make_structured(const cst__job *job);
/* That of them which the plan's kind takes. */
cst_status cst__make_tensor(const cst__job *job);

/* Lists: splits[count + 1], which begin at 0, and count the lists of the next level or values. */
typedef struct cst__split_level {
  const int64_t *splits;
  int64_t count;
} cst__split_level;

/* The most levels that a column can have: Arrow types are at most 100 deep. */
enum { CST__MAX_LEVELS = 101 };

/* The row of the batch that holds a list of the innermost of the levels, outermost first. */
int64_t cst__split_levels_row(const cst__split_level *levels, size_t num_levels, int64_t list);

/* Makes the tensor whose values have been read dense: each list of each level gets the padding's
 * length, an item of the last level being `item_size` values. */
cst_status cst__pad_levels(const cst__job *job, const cst__split_level *levels, size_t num_levels,
                           int64_t item_size);
/* The same for a sparse tensor, whose indices are made. */
cst_status cst__pad_sparse(const cst__job *job, int64_t rows);

/* Finds the tensor that the pad is for among the plans and notes it there. */
cst_status cst__pad_plan(cst__plan *plans, size_t count, const cst_pad *pad, cst__arena *arena,
                         cst_error *error);

/* What the public functions of these names do, with arguments that have been checked. */
cst_status cst__adapter_new(const struct ArrowSchema *schema, const cst_specs *specs,
                            const cst_tensor_options *options, cst_tensor_adapter **out,
                            cst_error *error);
void cst__adapter_free(cst_tensor_adapter *adapter);
cst_status cst__adapter_convert(const cst_tensor_adapter *adapter, struct ArrowArray *batch,
                                bool trusted, cst_tensors **out, cst_error *error);
cst_tensors *cst__tensors_retain(const cst_tensors *tensors);
void cst__tensors_release(cst_tensors *tensors);
const cst_tensor *cst__tensors_find(const cst_tensors *tensors, const char *name);
cst_status cst__ndarray_to_dlpack(const cst_ndarray *array, const cst_tensors *owner, bool copy,
                                  bool versioned, void **out, cst_error *error);
cst_status cst__ndarray_to_arrow(const cst_ndarray *array, const cst_tensors *owner,
                                 struct ArrowSchema *out_schema, struct ArrowArray *out,
                                 cst_error *error);

/* Checks one spec against the schema (a view without slots) and fills the plan. `names`: the
 * columns of the view by cst__view_index; NULL: they are few. */
cst_status cst__plan_init(cst__plan *plan, const cst_tensor_spec *spec, const cst__view *root,
                          const cst__name_map *names, cst__arena *arena, cst_error *error);

/* ---- shared by the makers ---- */

/* A column of the batch, down to but without its last list: the path leads through structs alone.
 * sibling < 0: the value column. */
cst_status cst__job_column(const cst__job *job, int64_t sibling, cst__slots *out);

/* The values of the slots: a run of numbers is not copied. A null among them is CST_SCHEMA, with
 * the position in *null_at (else -1), so that the caller can name the row. */
cst_status cst__values_read(const cst__job *job, const cst__slots *slots, cst_ndarray *out,
                            int64_t *null_at);
/* Integers of any width as int64; one that does not fit is CST_SCHEMA with its position. */
cst_status cst__integers_read(const cst__job *job, const cst__slots *slots, const int64_t **out,
                              int64_t *bad_at);

/* Fills an array's shape ([first] + rest) and size. data and strings stay as they are. */
cst_status cst__ndarray_shape(const cst__job *job, cst_ndarray *array, int64_t first,
                              size_t num_rest, const int64_t *rest);

/* True if an integer type holds the value. */
bool cst__dtype_holds(cst_dtype dtype, int64_t value);
/* The one of three that the type takes. */
cst__element cst__element_of(cst_dtype dtype, int64_t integer, double number, cst_bytes bytes);
size_t cst__element_width(cst_dtype dtype);
void cst__fill(void *to, const cst__element *value, size_t width, int64_t count);
/* Where the elements of an array begin, whatever their type, and the other way round. */
const void *cst__elements(const cst_ndarray *array);
void cst__set_elements(cst_ndarray *array, const void *elements);

/* CST_SCHEMA for a row of the batch (-1: none), with the tensor's name as path. */
cst_status cst__row_fail(const cst__job *job, int64_t row, const char *hint, const char *fmt, ...)
    CST__PRINTF(4, 5);

/* What arrays of no values point to. */
extern const uint8_t cst__no_values[64];

#endif /* TENSOR_TENSOR_H */
