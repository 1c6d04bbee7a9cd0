/* Batches to tensors: adapters, plans, and the tensors of a batch. */
#ifndef TENSOR_TENSOR_H
#define TENSOR_TENSOR_H

#include <columnstone/tensor.h>

#include "base/thread.h"
#include "nested/slots.h"
#include "schema/schema.h"
#include "tensor/arena_pool.h"
#include "tensor/row_fault.h"

/* CST_OK, or CST_NO_MEMORY for a NULL from an arena. */
#define CST__TAKEN(ptr, error) \
  ((ptr) != NULL               \
       ? CST_OK                \
       : cst__fail(error, CST_NO_MEMORY, "use smaller batches", "no memory for tensors"))

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
  const cst_pad_sizes *sizes; /* the same; count 0: none */
} cst__padding;

static inline bool cst__dtype_is_integer(cst_dtype dtype) {
  return dtype >= CST_DTYPE_INT8 && dtype <= CST_DTYPE_UINT64;
}

/* True if values of a type can be those of a spec's: any width of the same family; bools are
 * integers where these are wanted. */
static inline bool cst__dtype_fits(cst_dtype given, cst_dtype wanted) {
  if (cst__dtype_is_integer(wanted)) {
    return cst__dtype_is_integer(given) || given == CST_DTYPE_BOOL;
  }
  if (wanted == CST_DTYPE_FLOAT32 || wanted == CST_DTYPE_FLOAT64) {
    return given == CST_DTYPE_FLOAT32 || given == CST_DTYPE_FLOAT64;
  }
  return given == wanted;
}

/* What a kind of tensor does: tensor/kind.h. */
typedef struct cst__tensor_kind cst__tensor_kind;

/* How one spec reads the adapter's Arrow schema. Lives in the adapter's arena. */
typedef struct cst__adapter_plan {
  const cst_tensor_spec *spec;
  const cst__tensor_kind *kind;
  size_t num_steps;
  const int64_t *steps;    /* the value column: number of the child at each struct of the path */
  const int64_t *siblings; /* index columns, or row lengths (-1: uniform), within the last struct */
  cst_dtype dtype;         /* of the values: the column's own, the spec's for type null */
  int64_t row_size;        /* dense: values of a row */
  size_t num_inner;        /* ragged: trailing uniform partitions, which become dimensions */
  int64_t inner_size;      /* ragged: values of one such item */
  size_t num_lists;        /* ragged: levels of lists along the path; dense: of the column */
  const cst__padding *padding; /* NULL: none */
  size_t num_fields;           /* structured */
  struct cst__adapter_plan *fields;
} cst__adapter_plan;

struct cst_tensor_adapter {
  cst__arena arena;
  cst__arena_pool *pool;
  cst_specs *specs;
  struct ArrowSchema schema;
  struct ArrowSchema given; /* of the batches, where `schema` differs from it; else released */
  size_t count;
  cst__adapter_plan *plans;
};

struct cst_tensors {
  cst__refcount owners;
  cst__arena_pool *pool; /* of the scratch */
  cst__arena scratch;
  struct ArrowArray batch;
  struct ArrowArray made; /* of the batch, where the adapter's schema differs; else released */
  cst__arena arena;       /* what it needs */
  cst_specs *specs;       /* the tensors' names and defaults */
  size_t count;
  cst_tensor *items; /* in the scratch, as all that they point to and the batch does not hold */
};

/* The making of one tensor, or the check of the rows that it would be made of. */
typedef struct cst__making {
  const cst__adapter_plan *plan;
  const cst__view *root;
  cst__arena *scratch;
  cst_tensor *out;            /* NULL: rows are only checked */
  cst__row_callback on_fault; /* then told of the rows that do not fit; else NULL */
  void *ctx;
  cst_error *error;
} cst__making;

/* Makes the tensor of a plan. */
cst_status cst__make_tensor(const cst__making *m);

/* Tells of every row that does not fit the tensor; a row may come again with another reason. The
 * adapter fails at the first of them, except for indices that are not sorted, which it sorts. */
cst_status cst__check_rows(const cst__adapter_plan *plan, const cst__view *root,
                           cst__arena *scratch, cst__row_callback on_fault, void *ctx,
                           cst_error *error);

/* Finds the tensor that the pad is for among the plans and notes it there. */
cst_status cst__pad_plan(cst__adapter_plan *plans, size_t count, const cst_pad *pad,
                         cst__arena *arena, cst_error *error);

/* Checks one spec against the schema (a view without slots) and fills the plan. `names`: the
 * columns of the view by cst__view_index; NULL: they are few. */
cst_status cst__plan_init(cst__adapter_plan *plan, const cst_tensor_spec *spec,
                          const cst__view *root, const cst__name_map *names, cst__arena *arena,
                          cst_error *error);

/* True if an integer type, or bool, holds the value. */
bool cst__dtype_holds(cst_dtype dtype, int64_t value);

/* What arrays of no values point to. */
extern const uint8_t cst__no_values[64];

#endif /* TENSOR_TENSOR_H */
