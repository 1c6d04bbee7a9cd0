/* The kinds of tensors, each a table of functions in a file of its own; kind.c lists them. What the
 * kinds share to plan a tensor, to make it from a batch, and to make columns from it again is here,
 * in tensor.h and in encode.h.
 */
#ifndef TENSOR_KIND_H
#define TENSOR_KIND_H

#include "tensor/encode.h"
#include "tensor/tensor.h"

/* What a spec is planned with. */
typedef struct cst__adapter_planner {
  const cst_tensor_spec *spec;
  const cst__view *root;      /* the columns, a view without slots */
  const cst__name_map *names; /* of the columns; NULL: they are few */
  cst__arena *arena;
  cst_error *error;
} cst__adapter_planner;

/* A column, and the lists that lead to its values. */
typedef struct cst__adapter_column {
  const cst__view *parent; /* the struct that holds the column */
  const cst__view *leaf;
  const cst__view *lists; /* the column itself, above its own lists */
  size_t outer_lists;     /* along the path, above the column */
  size_t own_lists;
} cst__adapter_column;

/* Where the columns of a tensor lie, if only tensors are known: in structs, one for each structured
 * tensor around it. */
typedef struct cst__describe_place {
  const char *const *steps;
  size_t num_steps;
  int depth; /* how many structured tensors may still lie in this one */
} cst__describe_place;

typedef struct cst__describer {
  cst__arena arena;
  cst_error *error;
} cst__describer;

struct cst__tensor_kind {
  /* As messages call it. Tensors of one kind are encoded by another one of the same name. */
  const char *name;

  /* -- batches to tensors -- */

  /* Checks the spec against the columns, and fills the plan, whose spec and kind are set. */
  cst_status (*plan)(const cst__adapter_planner *p, cst__adapter_plan *plan);
  /* Makes m->out, of which name and kind are set. With m->on_fault it makes nothing: it tells of
   * all rows that do not fit, through cst__row_refuse. */
  cst_status (*make)(const cst__making *m);
  /* Padding, if the tensor can have any: the dimensions between the rows and the values' own, and
   * the extent of each, -1 for one that varies. NULL: none, because of `no_padding`. */
  size_t (*count_padded)(const cst__adapter_plan *plan);
  int64_t (*extent)(const cst__adapter_plan *plan, size_t dim);
  const char *no_padding;

  /* -- and back -- */

  /* Fills the spec that the tensor by itself asks for; name and kind are set. */
  cst_status (*describe)(cst__describer *d, const cst__describe_place *at, const cst_tensor *tensor,
                         cst_tensor_spec *spec);
  /* Sets row_size and num_inner of a leaf, which come in as 1 and 0. False if they overflow. NULL:
   * they stay so. */
  bool (*measure)(cst__encode_leaf *leaf);
  bool has_splits; /* its tensors have row splits, one for each level of lists at least */
  /* Checks the leaf's tensor, and makes its columns. NULL: it has none, but fields that may. */
  cst_status (*encode)(cst__encoding *e, const cst__encode_leaf *leaf);
};

extern const cst__tensor_kind cst__kind_dense;
extern const cst__tensor_kind cst__kind_varlen;
extern const cst__tensor_kind cst__kind_sparse;
extern const cst__tensor_kind cst__kind_ragged;
extern const cst__tensor_kind cst__kind_structured;

/* NULL if there is no such kind. */
const cst__tensor_kind *cst__kind_of(cst_tensor_kind kind);

/* ---- plans (plan.c) ---- */

/* CST_SCHEMA with the tensor's name as path. */
cst_status cst__plan_fail(const cst__adapter_planner *p, const char *what);

/* Follows the spec's path: fills the plan's steps and dtype. */
cst_status cst__plan_column(const cst__adapter_planner *p, cst__adapter_plan *plan,
                            cst__adapter_column *out);

/* CST_SCHEMA for a column of more lists than one for each row. */
cst_status cst__plan_check_single(const cst__adapter_planner *p, const cst__adapter_column *column);

/* Both: a column of no lists but one for each row. */
cst_status cst__plan_single_column(const cst__adapter_planner *p, cst__adapter_plan *plan,
                                   cst__adapter_column *out);

/* The number of a column that stands beside the value column and holds lists of integers. */
cst_status cst__plan_sibling(const cst__adapter_planner *p, const cst__view *parent,
                             const char *name, int64_t *out);

/* ---- making (making.c) ---- */

/* A column of the batch, down to but without its last list: the path leads through structs alone.
 * sibling < 0: the value column. */
cst_status cst__making_column(const cst__making *m, int64_t sibling, cst__slots *out);

/* The values of the slots, none of which is null: a run of numbers is not copied. */
cst_status cst__values_read(const cst__making *m, const cst__slots *slots, cst_ndarray *out);

/* Integers of any width as int64. One that is null, or does not fit, is CST_SCHEMA with its
 * position in *bad_at (else -1), or, where rows are only checked, CST__NO_INTEGER. */
cst_status cst__integers_read(const cst__making *m, const cst__slots *slots, const int64_t **out,
                              int64_t *bad_at);

/* Fills an array's shape ([first] + rest) and size. data and strings stay as they are. */
cst_status cst__ndarray_shape(const cst__making *m, cst_ndarray *array, int64_t first,
                              size_t num_rest, const int64_t *rest);

/* The one of three that the type takes. */
cst__element cst__element_of(cst_dtype dtype, int64_t integer, double number, cst_bytes bytes);
size_t cst__element_width(cst_dtype dtype);
void cst__fill(void *to, const cst__element *value, size_t width, int64_t count);
/* Where the elements of an array begin, whatever their type, and the other way round. */
const void *cst__elements(const cst_ndarray *array);
void cst__set_elements(cst_ndarray *array, const void *elements);

/* ---- rows that do not fit (check_rows.c) ---- */

/* CST_SCHEMA for a row of the batch (-1: none), with the tensor's name as path. */
cst_status cst__row_fail(const cst__making *m, int64_t row, const char *hint, const char *fmt, ...)
    CST__PRINTF(4, 5);

/* An error that says what is wrong with the row; or CST_OK, if rows are only checked. */
cst_status cst__row_refuse(const cst__making *m, const cst__row_fault *fault);

/* Refuses the rows that have a null among the items of the levels' lists. */
cst_status cst__items_check(const cst__making *m, const cst__slots *items, const cst__lists *levels,
                            size_t num_levels);

/* Faults that are told later, in the order of the lists: of two faults of a list, the one whose
 * reason comes first counts. */
typedef struct cst__list_faults {
  const cst__making *m;
  int64_t count;         /* of the lists */
  cst__row_fault *items; /* NULL: no list has any; CST__ROW_TYPE: this one has none */
} cst__list_faults;

/* As cst__row_refuse, but tells later. */
cst_status cst__list_faults_add(cst__list_faults *faults, int64_t list,
                                const cst__row_fault *fault);
bool cst__list_faults_have(const cst__list_faults *faults, int64_t list);
void cst__list_faults_tell(const cst__list_faults *faults);

/* ---- padding (pad.c) ---- */

/* Makes the tensor whose values have been read dense: each list of each level gets the padding's
 * length, an item of the last level being `item_size` values. */
cst_status cst__pad_levels(const cst__making *m, const cst__lists *levels, size_t num_levels,
                           int64_t item_size);
/* The same for a sparse tensor, whose indices are made. */
cst_status cst__pad_sparse(const cst__making *m, int64_t rows);

/* ---- tensors by themselves (encode_specs.c) ---- */

/* Room for count items and one more, zeroed; NULL is CST_NO_MEMORY. */
void *cst__describe_take(cst__describer *d, size_t count, size_t item_size);
/* The path of a column there. `column`: NULL if there was no memory for it. */
cst_status cst__describe_path(cst__describer *d, const cst__describe_place *at, const char *column,
                              cst_tensor_spec *spec);
/* The type that tf.Examples have for the tensor's values, which are checked. */
cst_status cst__describe_dtype(cst__describer *d, const cst_tensor *tensor, cst_tensor_spec *spec);
cst_status cst__describe_all(cst__describer *d, const cst__describe_place *at,
                             const cst_tensor *tensors, size_t count, cst_tensor_spec **out);

#endif /* TENSOR_KIND_H */
