/* Tensors to record batches: what the encoder keeps, and what the kinds of tensors share.
 *
 * An encoder knows the columns as a tree: structs, and the columns of the leaves, which are the
 * tensors that are not structured. Rows of a struct below lists are called slots.
 */
#ifndef TENSOR_ENCODE_H
#define TENSOR_ENCODE_H

#include <columnstone/tensor.h>

#include "arrow/owned.h"
#include "base/thread.h"
#include "schema/schema.h"

/* A structured tensor around leaves. */
typedef struct cst__encode_structured {
  const cst_tensor_spec *spec;
  const struct cst__encode_structured *outer; /* NULL: at the top */
} cst__encode_structured;

/* A tensor that has columns. */
typedef struct cst__encode_leaf {
  const cst_tensor_spec *spec;
  const struct cst__tensor_kind *kind;
  const cst__encode_structured *structured; /* NULL: at the top */
  struct cst__encode_node *parent;          /* the struct that holds its columns */
  struct cst__encode_node *columns; /* the value column; then index or row-length ones, by `more` */
  size_t number;                    /* among the leaves */
  int64_t row_size;                 /* dense: values of a row; ragged: of an item */
  size_t num_inner; /* ragged: trailing uniform partitions, dimensions of the values */
} cst__encode_leaf;

/* A column, or a struct of columns. */
typedef struct cst__encode_node {
  const char *name;
  struct cst__encode_node *parent;
  struct cst__encode_node *first, *last; /* children */
  struct cst__encode_node *next;         /* of the same parent */
  struct cst__encode_node *more;         /* of the same leaf */
  size_t num_children;
  size_t number;                /* parents have smaller ones than their children */
  const cst__encode_leaf *leaf; /* NULL: a struct */
  bool is_values;               /* else int64: indices, row lengths */
} cst__encode_node;

/* What tensors say about their columns beyond the spec. */
typedef struct cst__encode_type {
  cst_dtype dtype;
  size_t num_levels; /* ragged: list levels that are not partitions */
} cst__encode_type;

struct cst_tensor_encoder {
  cst__arena arena;
  cst_specs *specs;
  cst__encode_leaf *leaves;
  size_t num_leaves;
  cst__encode_node *root;
  size_t num_nodes;
  cst__mutex lock;         /* of the members below */
  bool has_types;          /* a batch has been made */
  cst__encode_type *types; /* by leaf */
};

/* The making of one batch. */
typedef struct cst__encoding {
  const cst_tensor_encoder *encoder;
  const cst_tensor **tensors; /* by leaf */
  cst__encode_type *types;    /* by leaf */
  size_t *outer;              /* by node, structs: list levels between the rows and its slots */
  const int64_t ***levels;    /* by node, structs with outer > 0: their splits */
  struct ArrowArray *arrays;  /* by node: finished columns */
  int64_t num_rows;           /* -1: no tensor has said it yet */
  cst__arena scratch;
  cst_error *error;
} cst__encoding;

/* ---- encode_columns.c ---- */

/* The most steps of a path and levels of lists that a column has: types may be 100 deep. */
enum { CST__ENCODE_MAX_DEPTH = 96 };

/* Makes leaves and columns from the specs. */
cst_status cst__encode_plan(cst_tensor_encoder *encoder, cst_error *error);

/* How many lists stand around each struct, from the leaves' types: outer[node]. */
cst_status cst__encode_nesting(const cst_tensor_encoder *encoder, const cst__encode_type *types,
                               size_t *outer, cst_error *error);

/* The type of the batches for such types. */
cst_status cst__encode_schema(const cst_tensor_encoder *encoder, const cst__encode_type *types,
                              const size_t *outer, struct ArrowSchema *out, cst_error *error);

/* True for a sparse tensor of rank 1: its column has no lists. */
static inline bool cst__encode_is_single(const cst__encode_leaf *leaf) {
  return leaf->spec->kind == CST_TENSOR_SPARSE && leaf->spec->num_index_columns == 0;
}

/* Partitions that are lists of their own, not dimensions of the values. */
static inline size_t cst__encode_num_parts(const cst__encode_leaf *leaf) {
  return leaf->spec->num_partitions - leaf->num_inner;
}

/* ---- encode_values.c ---- */

/* Shape, size and pointers agree with each other. `what`: which array of the tensor. */
cst_status cst__encode_check_array(const char *what, const cst_ndarray *array, cst_error *error);

/* An int64 array of `num_dims` dimensions. */
cst_status cst__encode_check_integers(const char *what, const cst_ndarray *array, size_t num_dims,
                                      cst_error *error);

/* A flat Arrow array with a copy of the values. On failure *out is released. */
cst_status cst__encode_flat(const cst__encoding *e, const cst_ndarray *values,
                            struct ArrowArray *out);

/* The same with a slot per row: its value, of which there is one at most, or null. offsets[rows +
 * 1]: where the values of the rows begin. */
cst_status cst__encode_spread(cst__encoding *e, const cst_ndarray *values, const int64_t *offsets,
                              int64_t rows, struct ArrowArray *out);

/* A flat Arrow array of int64 to be filled: *data. */
cst_status cst__encode_flat_integers(const cst__encoding *e, int64_t count, struct ArrowArray *out,
                                     int64_t **data);

/* Puts `count` lists around an array, with offsets[count + 1] to be filled. On failure the array is
 * as it was. */
cst_status cst__encode_wrap(const cst__encoding *e, int64_t count, struct ArrowArray *array,
                            int64_t **offsets);

/* CST_SCHEMA with the tensor's path, and a row of the batch (-1: none). */
cst_status cst__encode_fail(cst_error *error, const cst__encode_leaf *leaf, int64_t row,
                            const char *hint, const char *fmt, ...) CST__PRINTF(5, 6);
#if defined(__clang_analyzer__)
#define cst__encode_fail(...) ((void)(cst__encode_fail)(__VA_ARGS__), CST_SCHEMA)
#endif

/* Puts the tensor's path before that of a failed call, and returns its status. */
cst_status cst__encode_blame(cst_error *error, const cst__encode_leaf *leaf, cst_status status);

/* The rows of this tensor have to be those of all others. `backed`: how many things the caller's
 * memory holds for them; many more rows than that are CST_LIMIT. */
cst_status cst__encode_rows(cst__encoding *e, const cst__encode_leaf *leaf, int64_t num_rows,
                            int64_t backed);

#endif /* TENSOR_ENCODE_H */
