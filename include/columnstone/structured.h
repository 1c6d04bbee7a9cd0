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

/* Immutable and reference-counted; any number of threads may use one at once. Results share buffers
 * with their arguments where no data has to move. */
typedef struct cst_structured cst_structured;

/* ---- making and looking ---- */

/* Makes a tensor from an array, which is shared. `is_row`: the tensor is the only row of the array
 * (CST_INVALID_ARGUMENT if it has another number of rows). */
CST_API cst_status cst_structured_new(const cst_array *array, bool is_row, cst_structured **out,
                                      cst_error *error);
/* Adds an owner and returns the argument; releasing removes one, and the last frees the tensor. */
CST_API cst_structured *cst_structured_retain(const cst_structured *tensor);
CST_API void cst_structured_release(cst_structured *tensor); /* NULL is allowed */

/* The array of the tensor, borrowed, and whether the tensor is its only row. */
CST_API const cst_array *cst_structured_array(const cst_structured *tensor);
CST_API bool cst_structured_is_row(const cst_structured *tensor);
CST_API bool cst_structured_is_struct(const cst_structured *tensor);
CST_API size_t cst_structured_rank(const cst_structured *tensor);

/* dims[0 .. rank - 1]: the length of each dimension; -1 if its lists differ in length, if a list is
 * null, or if there are no lists (a list of fixed size always has its length). */
CST_API cst_status cst_structured_shape(const cst_structured *tensor, int64_t *dims,
                                        cst_error *error);

/* The offsets of the lists of a dimension: int64 [lists + 1], starting with 0; null lists are
 * empty. Dimension 0 has one list. CST_INVALID_ARGUMENT for a dimension out of range. */
CST_API cst_status cst_structured_row_splits(const cst_structured *tensor, size_t dimension,
                                             cst_array **out, cst_error *error);

/* All elements in sequence, as a tensor of rank 1, without elements hidden behind null lists. */
CST_API cst_status cst_structured_flat_values(const cst_structured *tensor, cst_structured **out,
                                              cst_error *error);

/* ---- fields ---- */

/* The field at a path, for every element: the dimensions of the tensor, followed by those of the
 * field. Null structs on the way give null values. All buffers are shared, except bitmaps where
 * structs are null. CST_NOT_FOUND with similar names; CST_SCHEMA for a step into something that is
 * not a struct. */
CST_API cst_status cst_structured_field(const cst_structured *tensor, const cst_path *path,
                                        cst_structured **out, cst_error *error);

/* Replaces the fields of the structs: names[i] is the value at paths[i]. Dimensions and null
 * structs are kept. Fails as cst_structured_field does; CST_SCHEMA for a leaf tensor. */
CST_API cst_status cst_structured_fields(const cst_structured *tensor, const char *const *names,
                                         const cst_path *paths, size_t count, cst_structured **out,
                                         cst_error *error);

/* ---- paths ---- */

/* Parses a path, through the lists and structs of a type: a name as a whole; otherwise the longest
 * name up to a dot, and the rest below it. If no name fits, a step ends at the next dot, so that
 * the user of the path can report what is missing. "" has no steps. The steps and their text are
 * one block, at out->steps: cst_free. */
CST_API cst_status cst_path_parse(const struct ArrowSchema *type, const char *text, cst_path *out,
                                  cst_error *error);

/* The type of the field at a path, borrowed. Fails as cst_structured_field does. */
CST_API cst_status cst_type_at(const struct ArrowSchema *type, const cst_path *path,
                               const struct ArrowSchema **out, cst_error *error);

/* ---- changing fields ---- */

/* A field to set or to remove. */
typedef struct cst_field_update {
  cst_path path;               /* of the field: the last step is its name, at least one */
  const cst_structured *value; /* NULL: the field is removed */
} cst_field_update;

/* Sets and removes fields. Existing fields keep their places, also with new values; new fields come
 * last. The dimensions of a value start with those of the structs that get it, where null lists
 * count as empty; a scalar is the value of all. Values and unchanged parts are shared; lists whose
 * items are not contiguous and in order (slices, list views, data under nulls) become large lists
 * where a value is put beside them.
 *
 * CST_NOT_FOUND for unknown structs, and for unknown fields to remove; CST_SCHEMA for a step into
 * something that is not a struct; CST_INVALID_ARGUMENT, with the row, for a value of other
 * dimensions, and for a path that occurs twice or together with one below it. */
CST_API cst_status cst_structured_update(const cst_structured *tensor,
                                         const cst_field_update *updates, size_t count,
                                         cst_structured **out, cst_error *error);

/* Keeps only the fields at these paths, in this order. Structs on the way keep only the fields on a
 * path. CST_NOT_FOUND and CST_SCHEMA as above. */
CST_API cst_status cst_structured_only(const cst_structured *tensor, const cst_path *paths,
                                       size_t count, cst_structured **out, cst_error *error);

/* Replaces the elements of a tensor and keeps its dimensions. There must be as many elements as
 * cst_structured_flat_values gives (CST_INVALID_ARGUMENT). Lists are shared, unless their items are
 * not contiguous and in order. */
CST_API cst_status cst_structured_with_elements(const cst_structured *tensor,
                                                const cst_array *elements, cst_structured **out,
                                                cst_error *error);

/* A field to copy to other structs. */
typedef struct cst_field_copy {
  cst_path from;    /* of the field */
  cst_path to;      /* of the structs that get it; no steps: the elements of the tensor */
  const char *name; /* what they have it as; NULL: by its own name */
  bool replace;     /* a field that has this name already */
} cst_field_copy;

/* Promotes fields to structs above their own: each of these gets, in order, the values below it.
 * The lists from there to the structs of the field, and the outermost list of the field itself,
 * become one list; further lists of the field are kept. Without lists in between, the field is
 * unchanged. A null outermost list gives null, null lists below it give nothing, and null values
 * are kept. One level of lists is shared with its contents; for several levels, only offsets are
 * computed. CST_NOT_FOUND and CST_SCHEMA as above; CST_INVALID_ARGUMENT, with the path, for structs
 * that are not above, and for a field that exists already. */
CST_API cst_status cst_structured_promote(const cst_structured *tensor,
                                          const cst_field_copy *copies, size_t count,
                                          cst_structured **out, cst_error *error);

/* Broadcasts fields to structs below their own: each of these gets the value of the struct that
 * contains it, be it a list or a struct. Values are copied, in time linear in the result; types are
 * kept: CST_LIMIT if 32-bit offsets do not suffice. CST_INVALID_ARGUMENT for structs that are not
 * below. */
CST_API cst_status cst_structured_broadcast(const cst_structured *tensor,
                                            const cst_field_copy *copies, size_t count,
                                            cst_structured **out, cst_error *error);

/* Copies fields to structs anywhere: promotes them to the last struct that both paths have in
 * common, and broadcasts them from there. Fields below the target structs are promoted; fields of
 * the target structs themselves are copied. */
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

/* Prints an Arrow type: a line for the root, which has no name, and a line for each field of a
 * struct, at any depth, with its name (control characters and invalid UTF-8 are escaped), shape and
 * type:
 *
 *   struct
 *   ├─ id         int64
 *   ├─ event      [*]? struct
 *   │  ├─ query   string?
 *   │  └─ price   [*][2] float32
 *   └─ embedding  [6] float32
 *
 * A shape has a pair of brackets per list level: a number for lists of a fixed size, otherwise
 * '*'. '?' follows each level, and the type, where nulls may occur. Layouts that hold the same
 * values have one name: lists and list views; string, large_string and string_view; values and
 * dictionaries of them. The elements of a map are called "map" and have a key and a value.
 *
 * JSON has one object per field: "name" (except for the root), "type", "shape" (a number or null
 * per list level), "nullable" (a bool per list level, and one for the values); for structs and maps
 * also "fields", and "num_fields" if some of them are omitted.
 *
 * *text is NUL-terminated and ends with a newline: cst_free. size and options may be NULL.
 * CST_INVALID_ARGUMENT for an incomplete type, CST_LIMIT for one nested deeper than 100;
 * CST_UNSUPPORTED with the path for unions and run-end encoded types. */
CST_API cst_status cst_type_to_text(const struct ArrowSchema *type, const cst_tree_options *options,
                                    char **text, size_t *size, cst_error *error);

/* ---- whole dimensions ---- */

/* An axis is a dimension; negative numbers count from the end, and an axis out of range is
 * CST_INVALID_ARGUMENT. Errors name a row by its indices: "row [3][0]". */

/* Concatenates the lists of dimension `axis` of all tensors. The tensors have the same rank, and
 * the same lists in all dimensions before (CST_INVALID_ARGUMENT with the row). Types are promoted
 * as in cst_array_concat. A null list counts as empty; a list that is null in all tensors is null.
 * At least one tensor. */
CST_API cst_status cst_structured_concat(const cst_structured *const *tensors, size_t count,
                                         int axis, cst_structured **out, cst_error *error);

/* Stacks the tensors along a new dimension. axis: from 0 to the rank, or negative. */
CST_API cst_status cst_structured_stack(const cst_structured *const *tensors, size_t count,
                                        int axis, cst_structured **out, cst_error *error);

/* Repeats the lists of each dimension multiples[dimension] times (one number per dimension).
 * CST_LIMIT for more elements than an array may have (2^57). */
CST_API cst_status cst_structured_tile(const cst_structured *tensor, const int64_t *multiples,
                                       cst_structured **out, cst_error *error);

/* Adds a dimension of length 1. axis: from 0 to the rank, or negative. */
CST_API cst_status cst_structured_expand_dims(const cst_structured *tensor, int axis,
                                              cst_structured **out, cst_error *error);

/* Removes the dimensions `axes`; all of their lists must have length 1 (CST_INVALID_ARGUMENT with
 * the row). A null list becomes a null element. No axes: all dimensions of length 1. */
CST_API cst_status cst_structured_squeeze(const cst_structured *tensor, const int *axes,
                                          size_t count, cst_structured **out, cst_error *error);

/* Merges the dimensions outer to inner into one; null lists below `outer` count as empty. */
CST_API cst_status cst_structured_merge_dims(const cst_structured *tensor, int outer, int inner,
                                             cst_structured **out, cst_error *error);

/* Splits the outermost dimension into two: splits[0 .. count - 1] are the offsets of the new lists,
 * from 0 to the number of rows; NULL: lists of `size` rows. CST_INVALID_ARGUMENT names what does
 * not fit. */
CST_API cst_status cst_structured_partition(const cst_structured *tensor, const int64_t *splits,
                                            size_t count, int64_t size, cst_structured **out,
                                            cst_error *error);

/* The lengths of the lists of dimension `axis`: int64, null for a null list, in the dimensions
 * before it. */
CST_API cst_status cst_structured_row_lengths(const cst_structured *tensor, int axis,
                                              cst_structured **out, cst_error *error);

/* ---- values and nulls ---- */

/* Replaces every value by `value` (0 or 1): numbers and bools; strings and binary only by 0, which
 * is the empty string. Nulls are kept. CST_SCHEMA with the path for other types. */
CST_API cst_status cst_structured_like(const cst_structured *tensor, int value,
                                       cst_structured **out, cst_error *error);

typedef enum cst_null_test {
  CST_IS_NULL, /* true for null */
  CST_HAS      /* true for what is there: not null, and, of a list, not empty */
} cst_null_test;

/* Tests fields for null: a leaf tensor of bools without nulls, with the dimensions of the structs
 * that have the field at the path. Without steps, the elements themselves are tested. */
CST_API cst_status cst_structured_test_null(const cst_structured *tensor, const cst_path *path,
                                            cst_null_test test, cst_structured **out,
                                            cst_error *error);

/* Replaces the nulls of a leaf tensor by the only element of `fill` (cst_array_fill_null). */
CST_API cst_status cst_structured_fill_null(const cst_structured *tensor, const cst_array *fill,
                                            cst_structured **out, cst_error *error);

/* Replaces null lists by empty ones, in all dimensions. */
CST_API cst_status cst_structured_fill_null_lists(const cst_structured *tensor,
                                                  cst_structured **out, cst_error *error);

/* Removes elements that are null, or whose field at the path is null: the lists of the innermost
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

/* Selects a part of a tensor by a key of several items. Names are looked up first, in their order;
 * then the other items stand for dimensions from left to right, and remaining dimensions are taken
 * whole. An item before a name addresses a dimension that exists without the name.
 *
 * Rows in lists are indexed one by one: negative places count from the end of each row, and slices
 * stop there. Null lists stay null, and give null where one place is selected. A place outside a
 * row is CST_INVALID_ARGUMENT with the indices of the row, its length, and the place.
 *
 * ARRAY: a dense tensor of integers (a null gives null) stands for one dimension; a tensor of
 * booleans with k dimensions (null is false) stands for k of them, as the indices of its true
 * elements. Several of them, together with AT, are broadcast; their dimensions replace the first of
 * them, or come first if other items are between them. BY_ROW: a tensor of k >= 1 dimensions, dense
 * or ragged, whose first k - 1 dimensions are the next ones of this tensor. Integers select within
 * each row of the k-th dimension, booleans keep the elements where they are true; null rows give
 * null. Not together with ARRAY.
 *
 * A leading integer, or a leading slice with step 1, shares all buffers. */
CST_API cst_status cst_structured_index(const cst_structured *tensor, const cst_index_item *items,
                                        size_t count, cst_structured **out, cst_error *error);

/* ---- choosing elements ---- */

/* Selects places along dimension `axis` by `indices` (integers, of any rank), whose dimensions
 * replace that dimension. The first `batch_dims` dimensions of both are the same and are matched
 * row by row (at most `axis`; a negative number counts from the rank of the indices). Negative
 * places count from the end of a row, a null place gives null, and null rows stay null.
 * CST_INVALID_ARGUMENT with the row for places out of range, and for rows that differ. */
CST_API cst_status cst_structured_gather(const cst_structured *tensor,
                                         const cst_structured *indices, int axis, int batch_dims,
                                         cst_structured **out, cst_error *error);

/* The same for coordinates: the innermost dimension of `indices`, which has the same length
 * everywhere, has one place for each dimension after the first `batch_dims`. */
CST_API cst_status cst_structured_gather_nd(const cst_structured *tensor,
                                            const cst_structured *indices, int batch_dims,
                                            cst_structured **out, cst_error *error);

/* Keeps the elements where the mask (booleans, k dimensions) is true, in the k dimensions from
 * `axis` on, which become one. Both have the same rows there (CST_INVALID_ARGUMENT with the row
 * that differs). Null counts as false, a null row as empty; null rows of the first of these
 * dimensions stay null. */
CST_API cst_status cst_structured_boolean_mask(const cst_structured *tensor,
                                               const cst_structured *mask, int axis,
                                               cst_structured **out, cst_error *error);

/* Sets elements to null where the condition (booleans) is false or null; the shape is kept. The
 * dimensions of the condition are the first dimensions of the tensor; the element below, a value,
 * struct or list, becomes null. CST_INVALID_ARGUMENT with the row where dimensions differ; rows
 * that are null in either stay null. */
CST_API cst_status cst_structured_mask(const cst_structured *tensor,
                                       const cst_structured *condition, cst_structured **out,
                                       cst_error *error);

/* Reverses the rows of these dimensions. */
CST_API cst_status cst_structured_reverse(const cst_structured *tensor, const int *axes,
                                          size_t count, cst_structured **out, cst_error *error);

/* Takes elements from x where the condition (booleans) is true, and from y where it is false; null
 * where it is null. The dimensions of the condition are the first dimensions of both, or those that
 * a scalar is repeated in; whole elements below are taken. Types are promoted as in
 * cst_array_concat. CST_INVALID_ARGUMENT with the row where dimensions differ; a null row counts as
 * empty. */
CST_API cst_status cst_structured_where(const cst_structured *condition, const cst_structured *x,
                                        const cst_structured *y, cst_structured **out,
                                        cst_error *error);

/* The coordinates of the true elements, in order: int64 [elements, rank]. */
CST_API cst_status cst_structured_true_places(const cst_structured *condition, cst_structured **out,
                                              cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_STRUCTURED_H */
