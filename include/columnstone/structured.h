/* Structured tensors: nested data as one tensor, of structs or of plain values.
 *
 * A structured tensor of rank r has r dimensions over its elements. Elements are structs, whose
 * fields are structured tensors again, or plain values (a leaf tensor); an element may be null. A
 * dimension below the outermost has a list per element of the dimensions above, which may be null,
 * too; null and empty are different. Dense and ragged tensors have one type: a dimension is dense
 * if all of its lists have the same length.
 *
 * A structured tensor is an Arrow array (<columnstone/array.h>) and the number of its lists that
 * are dimensions: always the outermost ones. A tensor of rank r is an array with r - 1 levels of
 * lists, whose rows are the outermost dimension; or it is one row of such an array, and all levels
 * are dimensions (a scalar is a row without lists).
 *
 * Sources: RFC "StructuredTensor" (rfcs/20190910-struct-tensor); the Arrow columnar format.
 */
#ifndef COLUMNSTONE_STRUCTURED_H
#define COLUMNSTONE_STRUCTURED_H

#include <columnstone/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Immutable and counted: any number of threads may use one at once. Results share the buffers of
 * what they are made of wherever nothing has to move. */
typedef struct cst_structured cst_structured;

/* ---- making and looking ---- */

/* A tensor of an array, which is shared. `is_row`: the array has one row, which is the tensor
 * (CST_INVALID_ARGUMENT for another number of rows). */
CST_API cst_status cst_structured_new(const cst_array *array, bool is_row, cst_structured **out,
                                      cst_error *error);
/* One more owner; returns its argument. One owner less; the last frees. */
CST_API cst_structured *cst_structured_retain(const cst_structured *tensor);
CST_API void cst_structured_release(cst_structured *tensor); /* NULL is allowed */

/* The array that the tensor is, borrowed, and whether the tensor is its only row. */
CST_API const cst_array *cst_structured_array(const cst_structured *tensor);
CST_API bool cst_structured_is_row(const cst_structured *tensor);
CST_API bool cst_structured_is_struct(const cst_structured *tensor);
CST_API size_t cst_structured_rank(const cst_structured *tensor);

/* dims[0 .. rank - 1]: the length of each dimension, -1 where its lists differ in length, where one
 * is null, or where there is none to tell (a list of fixed size always tells). */
CST_API cst_status cst_structured_shape(const cst_structured *tensor, int64_t *dims,
                                        cst_error *error);

/* Where the lists of a dimension begin: int64 [lists + 1], from 0 on; null lists are empty.
 * Dimension 0 has one list. CST_INVALID_ARGUMENT for a dimension that there is not. */
CST_API cst_status cst_structured_row_splits(const cst_structured *tensor, size_t dimension,
                                             cst_array **out, cst_error *error);

/* All elements one after the other, as a tensor of rank 1; without those that null lists hide. */
CST_API cst_status cst_structured_flat_values(const cst_structured *tensor, cst_structured **out,
                                              cst_error *error);

/* ---- fields ---- */

/* The field at a path, of every element: its dimensions are those of the tensor and, below them,
 * the field's own. Null structs on the way make null values. Shares all buffers, but for bitmaps
 * where structs are null. CST_NOT_FOUND with near names; CST_SCHEMA for a step below something that
 * is not a struct. */
CST_API cst_status cst_structured_field(const cst_structured *tensor, const cst_path *path,
                                        cst_structured **out, cst_error *error);

/* The structs with other fields: names[i] is what lies at paths[i]. Dimensions stay, and so do null
 * structs. Fails as cst_structured_field does; CST_SCHEMA for a leaf tensor. */
CST_API cst_status cst_structured_fields(const cst_structured *tensor, const char *const *names,
                                         const cst_path *paths, size_t count, cst_structured **out,
                                         cst_error *error);

/* ---- paths ---- */

/* A path from text, through the lists and structs of a type: a name as a whole; where there is
 * none, the longest name up to a dot, and the rest below it. Where no name fits, a step ends at the
 * next dot, so that whoever takes the path can say what is missing. "" has no steps. The steps are
 * one block with their text, which out->steps points to: cst_free. */
CST_API cst_status cst_path_parse(const struct ArrowSchema *type, const char *text, cst_path *out,
                                  cst_error *error);

/* The type of the field at a path, borrowed. Fails as cst_structured_field does. */
CST_API cst_status cst_type_at(const struct ArrowSchema *type, const cst_path *path,
                               const struct ArrowSchema **out, cst_error *error);

/* ---- changing fields ---- */

/* A field that comes, or goes. */
typedef struct cst_field_update {
  cst_path path;               /* of the field: the last step is its name, at least one */
  const cst_structured *value; /* NULL: the field is removed */
} cst_field_update;

/* The tensor with other fields: those that are there keep their places, also with new values, new
 * ones come after them. The dimensions of a value begin with those of the structs that get it, null
 * lists counting as empty ones; a scalar is the value of all. All that does not change is shared,
 * and so are the values; where lists do not have all items of their array in order (slices, list
 * views, data under nulls), and a value has to be put beside them, they become large lists.
 * CST_NOT_FOUND for structs, and for fields to be removed, that there are not; CST_SCHEMA for
 * a path below something that is not a struct; CST_INVALID_ARGUMENT, with the row, for
 * a value of other dimensions, and for one path that comes twice, or together with one below it. */
CST_API cst_status cst_structured_update(const cst_structured *tensor,
                                         const cst_field_update *updates, size_t count,
                                         cst_structured **out, cst_error *error);

/* The tensor with the fields at these paths alone, in this order; of structs on the way, what lies
 * on no path is left out. CST_NOT_FOUND and CST_SCHEMA as above. */
CST_API cst_status cst_structured_only(const cst_structured *tensor, const cst_path *paths,
                                       size_t count, cst_structured **out, cst_error *error);

/* The dimensions of a tensor over other elements, of which there are as many as
 * cst_structured_flat_values gives. Lists are shared, but for those that do not have all items of
 * their array in order. CST_INVALID_ARGUMENT for another number of elements. */
CST_API cst_status cst_structured_with_elements(const cst_structured *tensor,
                                                const cst_array *elements, cst_structured **out,
                                                cst_error *error);

/* A field that is to be had at other structs as well. */
typedef struct cst_field_copy {
  cst_path from;    /* of the field */
  cst_path to;      /* of the structs that get it; no steps: the elements of the tensor */
  const char *name; /* what they have it as; NULL: by its own name */
  bool replace;     /* a field that has this name already */
} cst_field_copy;

/* Fields for structs above their own: each gets what lies below it, in order. The lists from there
 * to the structs of the field, and the outermost ones that the field itself is of, become one; the
 * field's further lists stay. Without lists in between it is the field as it is. A null outermost
 * list makes null, those below it make nothing, null values stay. One level of lists is shared with
 * all that it holds; of several, offsets are all that is made.
 * CST_NOT_FOUND and CST_SCHEMA as above; CST_INVALID_ARGUMENT, with the path, for structs that are
 * not above, and for a field that is there already. */
CST_API cst_status cst_structured_promote(const cst_structured *tensor,
                                          const cst_field_copy *copies, size_t count,
                                          cst_structured **out, cst_error *error);

/* Fields for structs below their own: each gets the value of the one that it lies in, be it a list
 * or a struct. Values are copied, in time linear in what is made; types stay, with CST_LIMIT if
 * 32-bit offsets do not suffice. CST_INVALID_ARGUMENT for structs that are not below. */
CST_API cst_status cst_structured_broadcast(const cst_structured *tensor,
                                            const cst_field_copy *copies, size_t count,
                                            cst_structured **out, cst_error *error);

/* Fields for structs anywhere: promoted to the last struct that both ways have in common, and
 * broadcast from there; what lies below the structs is promoted, their own fields are copied. */
CST_API cst_status cst_structured_promote_and_broadcast(const cst_structured *tensor,
                                                        const cst_field_copy *copies, size_t count,
                                                        cst_structured **out, cst_error *error);

/* ---- looking at types ---- */

enum {
  CST_TREE_ASCII = 1 << 0, /* the lines of the tree in ASCII */
  CST_TREE_JSON = 1 << 1   /* JSON instead of a tree */
};

typedef struct cst_tree_options {
  size_t size; /* sizeof(cst_tree_options) */
  uint32_t flags;
  size_t max_depth;  /* of the tree; the root alone has depth 1; 0: no limit */
  size_t max_fields; /* of each struct: the first ones, and how many more there are; 0: no limit */
} cst_tree_options;

#define CST_TREE_OPTIONS_INIT \
  { sizeof(cst_tree_options), 0, 0, 0 }

/* Draws an Arrow type for people: a line for the root, which has no name, and one for each field of
 * a struct, at any depth of structs and lists, with its name (control characters and what is not
 * UTF-8 escaped), shape and type:
 *
 *   struct
 *   ├─ id         int64
 *   ├─ event      [*]? struct
 *   │  ├─ query   string?
 *   │  └─ price   [*][2] float32
 *   └─ embedding  [6] float32
 *
 * A shape has a pair of brackets per list level: a number for lists of a fixed size, else '*'. '?'
 * stands after each level, and after the type, where a null may be. All layouts that hold the same
 * values have one name: lists and list views, string, large_string and string_view, values and
 * dictionaries of them. The elements of a map are called "map" and have a key and a value.
 *
 * JSON is one object per field: "name" (not that of the root), "type", "shape" (a number or null
 * per list level), "nullable" (a bool per list level, and one for the values); of structs and maps
 * "fields", and "num_fields" if some of them are left out.
 *
 * *text is NUL-terminated and ends with a newline: cst_free. size and options may be NULL.
 * CST_INVALID_ARGUMENT for a type that is incomplete, CST_LIMIT for one nested deeper than 100;
 * CST_UNSUPPORTED with the path for unions and run-end encoded types. */
CST_API cst_status cst_type_to_text(const struct ArrowSchema *type, const cst_tree_options *options,
                                    char **text, size_t *size, cst_error *error);

/* ---- whole dimensions ---- */

/* An axis is a dimension; negative ones count from the end. One that there is not is
 * CST_INVALID_ARGUMENT. In failures, a row is named by its places: "row [3][0]". */

/* The lists of dimension `axis`, those of all tensors one after the other. The tensors have one
 * rank and the same lists in all dimensions before (CST_INVALID_ARGUMENT with the row). Types are
 * promoted as cst_array_concat does. A null list counts as an empty one; where it is null in all
 * tensors, it is null. At least one tensor. */
CST_API cst_status cst_structured_concat(const cst_structured *const *tensors, size_t count,
                                         int axis, cst_structured **out, cst_error *error);

/* The tensors side by side along a new dimension. axis: from 0 to the rank, or negative. */
CST_API cst_status cst_structured_stack(const cst_structured *const *tensors, size_t count,
                                        int axis, cst_structured **out, cst_error *error);

/* Repeats the lists of each dimension multiples[dimension] times (one number per dimension).
 * CST_LIMIT for more elements than an array may have (2^57). */
CST_API cst_status cst_structured_tile(const cst_structured *tensor, const int64_t *multiples,
                                       cst_structured **out, cst_error *error);

/* A new dimension of length 1. axis: from 0 to the rank, or negative. */
CST_API cst_status cst_structured_expand_dims(const cst_structured *tensor, int axis,
                                              cst_structured **out, cst_error *error);

/* Without the dimensions `axes`, all of whose lists have length 1 (CST_INVALID_ARGUMENT with the
 * row); a null list becomes a null of what it would hold. No axes: all dimensions that have length
 * 1 everywhere. */
CST_API cst_status cst_structured_squeeze(const cst_structured *tensor, const int *axes,
                                          size_t count, cst_structured **out, cst_error *error);

/* Dimensions outer to inner as one, in which the lists lie one after the other; null lists below
 * `outer` hold nothing. */
CST_API cst_status cst_structured_merge_dims(const cst_structured *tensor, int outer, int inner,
                                             cst_structured **out, cst_error *error);

/* The outermost dimension as two: splits[0 .. count - 1] is where each new list begins and the last
 * ends, from 0 to the number of rows; NULL: lists of `size` rows. CST_INVALID_ARGUMENT names what
 * does not fit. */
CST_API cst_status cst_structured_partition(const cst_structured *tensor, const int64_t *splits,
                                            size_t count, int64_t size, cst_structured **out,
                                            cst_error *error);

/* How long the lists of dimension `axis` are: int64, null for a null list, in the dimensions before
 * it. */
CST_API cst_status cst_structured_row_lengths(const cst_structured *tensor, int axis,
                                              cst_structured **out, cst_error *error);

/* ---- values and nulls ---- */

/* The tensor with `value` (0 or 1) in place of every value: numbers, bools; of strings and binary
 * only 0, which is empty. Nulls stay. CST_SCHEMA with the path for other types. */
CST_API cst_status cst_structured_like(const cst_structured *tensor, int value,
                                       cst_structured **out, cst_error *error);

typedef enum cst_null_test {
  CST_IS_NULL, /* true for null */
  CST_HAS      /* true for what is there: not null, and, of a list, not empty */
} cst_null_test;

/* A leaf tensor of bools without nulls among its elements: for every struct that has the field at
 * the path, whether the field is so; for a path without steps every element. Its dimensions are
 * those of the structs. */
CST_API cst_status cst_structured_test_null(const cst_structured *tensor, const cst_path *path,
                                            cst_null_test test, cst_structured **out,
                                            cst_error *error);

/* Of a leaf tensor, the elements that are null replaced by the only one of `fill`
 * (cst_array_fill_null). */
CST_API cst_status cst_structured_fill_null(const cst_structured *tensor, const cst_array *fill,
                                            cst_structured **out, cst_error *error);

/* Null lists replaced by empty ones, in all dimensions. */
CST_API cst_status cst_structured_fill_null_lists(const cst_structured *tensor,
                                                  cst_structured **out, cst_error *error);

/* Without the elements that are null, or whose field at the path is: the lists of the innermost
 * dimension become shorter. CST_INVALID_ARGUMENT for a tensor of rank 0. */
CST_API cst_status cst_structured_drop_null(const cst_structured *tensor, const cst_path *path,
                                            cst_structured **out, cst_error *error);

/* ---- indexing ---- */

typedef enum cst_index_kind {
  CST_INDEX_NAME,     /* the field at paths[0], whose dimensions come after those that there are */
  CST_INDEX_NAMES,    /* structs with the fields at the paths alone */
  CST_INDEX_AT,       /* the place `begin` of a dimension, which goes; negative: from the end */
  CST_INDEX_SLICE,    /* places from `begin` to before `end`, every `step`th, as Python has it */
  CST_INDEX_ELLIPSIS, /* all dimensions that the other items leave; at most one */
  CST_INDEX_NEW_AXIS, /* a dimension of size 1 */
  CST_INDEX_ARRAY,    /* the places in `tensor`, as numpy has it: see below */
  CST_INDEX_BY_ROW    /* `tensor` goes through dimensions beside this one: see below */
} cst_index_kind;

#define CST_INDEX_OPEN INT64_MIN /* a slice without begin, or without end */

typedef struct cst_index_item {
  cst_index_kind kind;
  const cst_path *paths;
  size_t num_paths;
  int64_t begin;
  int64_t end;
  int64_t step; /* of slices; not 0 */
  const cst_structured *tensor;
} cst_index_item;

/* The part of a tensor that a key of several items means. Names are looked up first, in their
 * order; then the other items stand for dimensions from left to right, and what is left over is
 * taken whole. An item that stands before a name addresses a dimension that is there without the
 * name.
 *
 * Rows that lists hold are looked into one by one: places count from the end of each, slices are
 * cut at it. Null lists stay null, and give null where one place is asked for. Outside of a row:
 * CST_INVALID_ARGUMENT with the coordinates of the row, its length, and the place.
 *
 * ARRAY: a dense tensor of integers (which may be null, and then give null) stands for one
 * dimension, a tensor of k dimensions of booleans (null is false) for k of them, as the coordinates
 * of what is true. Several of them, and AT beside them, are broadcast together; their dimensions
 * stand where the first of them stands, or at the front if other items stand between them.
 * BY_ROW: a tensor of k >= 1 dimensions, dense or ragged, whose first k - 1 are the next of this
 * tensor. Integers choose within each row of the k-th, booleans keep what is true of it; null rows
 * give null. Not together with ARRAY.
 *
 * An integer, or a slice with a step of 1, that comes first shares all buffers. */
CST_API cst_status cst_structured_index(const cst_structured *tensor, const cst_index_item *items,
                                        size_t count, cst_structured **out, cst_error *error);

/* ---- choosing elements ---- */

/* Of dimension `axis`, the places that `indices` (integers, of any rank) name; its dimensions stand
 * in place of that one. The first `batch_dims` dimensions of both are the same and gone through
 * together (at most `axis`; negative: counted from the rank of the indices). Negative places count
 * from the end of a row, a null one gives null, null rows stay null. CST_INVALID_ARGUMENT with the
 * row for places that there are not, and for rows that differ. */
CST_API cst_status cst_structured_gather(const cst_structured *tensor,
                                         const cst_structured *indices, int axis, int batch_dims,
                                         cst_structured **out, cst_error *error);

/* The same for coordinates: the innermost dimension of `indices`, which has one length everywhere,
 * names a place in each of as many dimensions after the first `batch_dims`. */
CST_API cst_status cst_structured_gather_nd(const cst_structured *tensor,
                                            const cst_structured *indices, int batch_dims,
                                            cst_structured **out, cst_error *error);

/* What a tensor of booleans, of k dimensions, is true of, in as many dimensions from `axis` on,
 * which become one. They have the same rows (CST_INVALID_ARGUMENT with the one that differs); null
 * is false, a null row empty; null rows of the first of these dimensions stay null. */
CST_API cst_status cst_structured_boolean_mask(const cst_structured *tensor,
                                               const cst_structured *mask, int axis,
                                               cst_structured **out, cst_error *error);

/* The tensor in its shape, null where the condition (booleans) is not true, null included. The
 * dimensions of the condition are the first of the tensor, and what becomes null is what lies
 * below: a value, a struct or a list. CST_INVALID_ARGUMENT with the row where dimensions differ;
 * what is null in either stays null. */
CST_API cst_status cst_structured_mask(const cst_structured *tensor,
                                       const cst_structured *condition, cst_structured **out,
                                       cst_error *error);

/* The rows of these dimensions backwards. */
CST_API cst_status cst_structured_reverse(const cst_structured *tensor, const int *axes,
                                          size_t count, cst_structured **out, cst_error *error);

/* What stands in x where the condition (booleans) is true, and in y where it is false; null where
 * it is null. The dimensions of the condition are the first of both, or all that a scalar is
 * repeated in, and what is chosen is what lies below. Types are promoted as cst_array_concat does.
 * CST_INVALID_ARGUMENT with the row where dimensions differ; a null row counts as an empty one. */
CST_API cst_status cst_structured_where(const cst_structured *condition, const cst_structured *x,
                                        const cst_structured *y, cst_structured **out,
                                        cst_error *error);

/* The coordinates of what is true, in order: int64 [values, rank]. */
CST_API cst_status cst_structured_true_places(const cst_structured *condition, cst_structured **out,
                                              cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_STRUCTURED_H */
