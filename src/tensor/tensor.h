/* The tensor room from inside: adapters, plans, and what the makers of each kind share. */
#ifndef TENSOR_TENSOR_H
#define TENSOR_TENSOR_H

#include <columnstone/tensor.h>

#include "base/thread.h"
#include "schema/schema.h"
#include "tensor/scratch.h"
#include "tensor/slots.h"

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

/* What the public functions of these names do, with arguments that have been checked. */
cst_status cst__adapter_new(const struct ArrowSchema *schema, const cst_specs *specs,
                            const cst_allocator *allocator, cst_tensor_adapter **out,
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

/* Checks one spec against the schema (a view without slots) and fills the plan. */
cst_status cst__plan_init(cst__plan *plan, const cst_tensor_spec *spec, const cst__view *root,
                          cst__arena *arena, cst_error *error);

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

/* CST_SCHEMA for a row of the batch (-1: none), with the tensor's name as path. */
cst_status cst__row_fail(const cst__job *job, int64_t row, const char *hint, const char *fmt, ...)
    CST__PRINTF(4, 5);

/* What arrays of no values point to. */
extern const uint8_t cst__no_values[64];

#endif /* TENSOR_TENSOR_H */
