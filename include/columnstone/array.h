/* Operations on Arrow data: rows (slice, take, filter, concatenate, group), lists (lengths,
 * flatten and its inverse, coordinates), nulls, sizes, and columns by their path.
 *
 * Sources: RFC "Standardized TFX inputs" (slicing and merging of RecordBatches); Apache Arrow
 * columnar format. All types that Columnstone reads are supported: lists with 32 and 64-bit
 * offsets, of fixed size and views, at any depth; binary and string in all their layouts; structs.
 */
#ifndef COLUMNSTONE_ARRAY_H
#define COLUMNSTONE_ARRAY_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An Arrow array with its type; a record batch is one of type struct, whose rows are never null.
 * Immutable and counted: any number of threads may use it at once. Results share the buffers of
 * what they are made of wherever nothing has to move. */
typedef struct cst_array cst_array;

enum {
  CST_ARRAY_TRUSTED = 1 << 0 /* comes from Columnstone: skip the validation of its buffers */
};

/* Moves `array` in on success (its release becomes NULL); the schema is copied. Unless it is
 * trusted, the data is validated fully: CST_CORRUPT with the path, CST_LIMIT for lengths that no
 * memory stands behind (more than 2^24 nulls of type null alone), CST_UNSUPPORTED with the path for
 * unions and run-end encoded columns. Trusted data is not looked at.
 * Dictionary-encoded columns become plain ones: no operation knows dictionaries.
 * allocator may be NULL; results of operations use the allocator of their (first) argument. */
CST_API cst_status cst_array_import(const struct ArrowSchema *schema, struct ArrowArray *array,
                                    uint32_t flags, const cst_allocator *allocator, cst_array **out,
                                    cst_error *error);
/* One more owner; returns its argument. One owner less; the last frees. */
CST_API cst_array *cst_array_retain(const cst_array *array);
CST_API void cst_array_release(cst_array *array); /* NULL is allowed */
CST_API int64_t cst_array_length(const cst_array *array);
/* Borrowed. */
CST_API const struct ArrowSchema *cst_array_schema(const cst_array *array);
/* An Arrow array of its own that keeps this one alive; no copy. The offset of a struct's slice
 * stands in its children. */
CST_API cst_status cst_array_export(const cst_array *array, struct ArrowArray *out,
                                    cst_error *error);

/* ---- rows ---- */

/* Rows [begin, begin + length), cut at the array's end; no copy. CST_INVALID_ARGUMENT for a begin
 * after the end, or for negative numbers. */
CST_API cst_status cst_array_slice(const cst_array *array, int64_t begin, int64_t length,
                                   cst_array **out, cst_error *error);

/* The given rows in the given order; one may come several times, -1 is a row of nulls (of a record
 * batch, as of any struct: null in every column). One run of rows is not copied. Types stay:
 * CST_LIMIT, with the path, if 32-bit offsets do not suffice; CST_INVALID_ARGUMENT for a
 * row that there is not. */
CST_API cst_status cst_array_take(const cst_array *array, const int64_t *rows, size_t num_rows,
                                  cst_array **out, cst_error *error);

/* The rows whose byte in `mask` (one per row) is not 0. */
CST_API cst_status cst_array_filter(const cst_array *array, const uint8_t *mask, cst_array **out,
                                    cst_error *error);

/* The arrays one after the other. Record batches are combined by column names: columns stand in the
 * order of their first appearance, one that a batch lacks is null in its rows; a batch without
 * columns counts with its rows. Types are promoted where no value changes: null to anything,
 * integers to the narrowest type that holds both, integers with floats to float64 (up to 16 bits
 * with float32 to float32; of 64 bits if float64 holds every value exactly), float32 to float64,
 * all layouts of binary to large_binary or large_string (a mix of both: large_binary), all list
 * layouts to large_list of the promoted items, structs by the union of their fields; equal types
 * stay as they are. What cannot be promoted (text and numbers, uint64 and signed) is CST_SCHEMA
 * with the path and both types, or the integer that is no float, and its row in its array. The
 * order of the arrays does not change the types. CST_INVALID_ARGUMENT for a batch with two columns
 * of one name. Of no arrays comes a batch without columns and rows. */
CST_API cst_status cst_array_concat(const cst_array *const *arrays, size_t num_arrays,
                                    cst_array **out, cst_error *error);

/* ---- columns ---- */

/* What a column is reached by: names of fields, below each other, through structs and lists of
 * structs. Nulls of structs on the way count as nulls of what lies below. If lists are on the way,
 * the elements of all rows lie one after the other, and *rows (int64; may be asked for with
 * rows != NULL) has the row of each; without lists on the way *rows counts 0, 1, 2...
 * CST_NOT_FOUND with near names; CST_SCHEMA for a step below something that is not a struct. */
CST_API cst_status cst_array_column(const cst_array *array, const cst_path *path, cst_array **out,
                                    cst_array **rows, cst_error *error);

/* The i-th column of a record batch, or field of a struct, by its place: for names that come twice.
 * Nulls of the struct count as nulls of the field. CST_SCHEMA for an array of another type. */
CST_API cst_status cst_array_child(const cst_array *array, int64_t i, cst_array **out,
                                   cst_error *error);

/* ---- lists ---- */

/* Lengths of lists (items) or of strings and binary (bytes): int64, null where the slot is null.
 * CST_SCHEMA for other types. */
CST_API cst_status cst_array_element_lengths(const cst_array *array, cst_array **out,
                                             cst_error *error);

/* Opens `levels` list levels (-1: all): *values has the items of all lists one after the other,
 * without those that a null list hides; *parents (may be NULL) is int64 with the row of each,
 * counted from the array's first. An array without lists is its own values. CST_LIMIT if list views
 * share their items so often that many more come out than the array holds; so it is wherever lists
 * are opened. */
CST_API cst_status cst_array_flatten(const cst_array *array, int levels, cst_array **values,
                                     cst_array **parents, cst_error *error);

/* The inverse: a large_list of num_rows rows, row i with the values whose parent is i. Parents
 * (integers of any width, no nulls) must not be negative, not decrease, stay below num_rows and be
 * as many as the values: CST_INVALID_ARGUMENT names the first that does not. Rows without a value
 * are empty, or null if empty_as_null. The values are shared. */
CST_API cst_status cst_array_from_parents(const cst_array *values, const cst_array *parents,
                                          int64_t num_rows, bool empty_as_null, cst_array **out,
                                          cst_error *error);

/* Coordinates of all values of nested lists: a fixed_size_list of (levels + 1) int64 per value,
 * rows first, in order; and the bounding box in shape[0 .. levels], which has room for max_dims
 * (CST_LIMIT if that is too few). *num_dims = levels + 1. Null lists are as empty ones. */
CST_API cst_status cst_array_coordinates(const cst_array *array, cst_array **out, int64_t *shape,
                                         size_t max_dims, size_t *num_dims, cst_error *error);

/* ---- nulls and sizes ---- */

/* One byte per slot: 1 for null (uint8); a column of type null is all 1. */
CST_API cst_status cst_array_null_mask(const cst_array *array, cst_array **out, cst_error *error);

/* Fills the null slots: with all of `fill` as one list if the array holds lists, else with the only
 * value of `fill`. The types have to agree (CST_SCHEMA). An array without nulls is shared. */
CST_API cst_status cst_array_fill_null(const cst_array *array, const cst_array *fill,
                                       cst_array **out, cst_error *error);

/* The bytes that the slots of this slice need: values, offsets, bitmaps (if there are nulls), views
 * with the bytes that they point to; not what else lies in shared buffers. */
CST_API cst_status cst_array_byte_size(const cst_array *array, int64_t *size, cst_error *error);

/* How many strings that are not null are not valid UTF-8. CST_SCHEMA for other types. */
CST_API cst_status cst_array_count_invalid_utf8(const cst_array *array, int64_t *count,
                                                cst_error *error);

/* ---- groups ---- */

/* The rows of a record batch by the values of key columns. */
typedef struct cst_groups {
  cst_array *keys; /* a batch of one row per group: the key columns, flat; null is a key; named
                      by their paths: "a", "s.b" */
  cst_array *rows; /* large_list<int64>: the rows of each group, ascending */
} cst_groups;

/* Groups stand in the order of their first row. A key column may be flat or hold lists: a row is
 * then in the group of each of its distinct values (as slices of metrics need it), with several
 * such columns in those of all combinations; no value at all (null or an empty list) is the key
 * null. Floats are equal if their bits are, but for -0.0 and 0.0, which are one key, as are all
 * NaNs. Paths lead through structs. No key columns: one group of all rows (none of no rows).
 * CST_SCHEMA for columns that are not numbers, bools, strings or lists of them, at any depth;
 * CST_LIMIT if all groups together have 2^32 rows. */
CST_API cst_status cst_array_group_by(const cst_array *batch, const cst_path *paths,
                                      size_t num_paths, cst_groups *out, cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_ARRAY_H */
