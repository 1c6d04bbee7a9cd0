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

/* An Arrow array with its type. A record batch is an array of type struct whose rows are never
 * null. Arrays are immutable and reference-counted; any number of threads may use one at once.
 * Results share buffers with their arguments where no data has to move. */
typedef struct cst_array cst_array;

enum {
  CST_ARRAY_TRUSTED = 1 << 0 /* comes from Columnstone: skip the validation of its buffers */
};

/* Takes over `array` on success (its release becomes NULL) and copies the schema. Data that is not
 * trusted is validated fully: CST_CORRUPT with the path; CST_LIMIT for lengths without memory
 * behind them (only columns of type null, above 2^24 rows); CST_UNSUPPORTED with the path for
 * unions and run-end encoded columns. Trusted data is not checked. Dictionary-encoded columns are
 * decoded, because operations work on plain values only. allocator may be NULL; results of
 * operations use the allocator of their first argument. */
CST_API cst_status cst_array_import(const struct ArrowSchema *schema, struct ArrowArray *array,
                                    uint32_t flags, const cst_allocator *allocator, cst_array **out,
                                    cst_error *error);
/* Adds an owner and returns the argument; releasing removes one, and the last frees the array. */
CST_API cst_array *cst_array_retain(const cst_array *array);
CST_API void cst_array_release(cst_array *array); /* NULL is allowed */
CST_API int64_t cst_array_length(const cst_array *array);
/* Borrowed. */
CST_API const struct ArrowSchema *cst_array_schema(const cst_array *array);
/* Exports an Arrow array that keeps this one alive, without a copy. The offset of a sliced struct
 * is applied to its children. */
CST_API cst_status cst_array_export(const cst_array *array, struct ArrowArray *out,
                                    cst_error *error);

/* ---- rows ---- */

/* Rows [begin, begin + length), limited to the end of the array; no copy. CST_INVALID_ARGUMENT for
 * negative numbers and for a begin after the end. */
CST_API cst_status cst_array_slice(const cst_array *array, int64_t begin, int64_t length,
                                   cst_array **out, cst_error *error);

/* Takes the given rows in the given order. A row may be taken several times; -1 gives a row of
 * nulls (in a record batch, null in every column). A single run of consecutive rows is not copied.
 * Types stay the same: CST_LIMIT, with the path, if 32-bit offsets do not suffice.
 * CST_INVALID_ARGUMENT for a row number out of range. */
CST_API cst_status cst_array_take(const cst_array *array, const int64_t *rows, size_t num_rows,
                                  cst_array **out, cst_error *error);

/* The rows whose byte in `mask` (one per row) is not 0. */
CST_API cst_status cst_array_filter(const cst_array *array, const uint8_t *mask, cst_array **out,
                                    cst_error *error);

/* Concatenates arrays. Record batches are combined by column name: columns keep the order of their
 * first appearance, and a column that a batch lacks is null in the rows of that batch. A batch
 * without columns still contributes its rows.
 *
 * Types are promoted where no value changes: null to anything; integers to the narrowest type that
 * holds both; integers and floats to float64 (integers of up to 16 bits and float32 to float32;
 * 64-bit integers only if float64 holds every value exactly); float32 to float64; all layouts of
 * binary to large_binary, of strings to large_string, of both to large_binary; all list layouts to
 * large_list of the promoted items; structs to the union of their fields. Equal types are kept.
 * Types that cannot be promoted (text and numbers, uint64 and signed integers) are CST_SCHEMA with
 * the path and both types; an integer that float64 cannot hold is CST_SCHEMA with its value and its
 * row. The order of the arrays does not affect the types. CST_INVALID_ARGUMENT for a batch with two
 * columns of the same name. The result for no arrays is a batch without columns and rows. */
CST_API cst_status cst_array_concat(const cst_array *const *arrays, size_t num_arrays,
                                    cst_array **out, cst_error *error);

/* ---- columns ---- */

/* The column at a path: field names, through structs and lists of structs. A null struct on the way
 * makes the values below it null. If the path leads through lists, the result has the elements of
 * all rows in sequence, and *rows (int64; optional) the row of each; without lists, *rows is 0, 1,
 * 2, ... CST_NOT_FOUND with similar names; CST_SCHEMA for a step into something that is not a
 * struct. */
CST_API cst_status cst_array_column(const cst_array *array, const cst_path *path, cst_array **out,
                                    cst_array **rows, cst_error *error);

/* Column i of a record batch, or field i of a struct: for names that occur twice. A null struct
 * makes the field null. CST_SCHEMA for an array of another type. */
CST_API cst_status cst_array_child(const cst_array *array, int64_t i, cst_array **out,
                                   cst_error *error);

/* ---- lists ---- */

/* Lengths of lists (items) or of strings and binary (bytes): int64, null where the slot is null.
 * CST_SCHEMA for other types. */
CST_API cst_status cst_array_element_lengths(const cst_array *array, cst_array **out,
                                             cst_error *error);

/* Flattens `levels` levels of lists (-1: all): *values has the items of all lists in sequence,
 * without items hidden behind null lists; *parents (optional) is int64 with the row of each item,
 * counted from the first row of the array. An array without lists is returned as its own values.
 * CST_LIMIT if list views share items so often that far more values result than the array holds;
 * this limit applies wherever lists are flattened. */
CST_API cst_status cst_array_flatten(const cst_array *array, int levels, cst_array **values,
                                     cst_array **parents, cst_error *error);

/* The inverse of flatten: a large_list of num_rows rows, where row i has the values whose parent is
 * i. There is one parent per value: integers of any width, without nulls, not negative, not
 * decreasing and below num_rows; CST_INVALID_ARGUMENT names the first that is not. Rows without
 * values are empty lists, or null if empty_as_null. The values are shared. */
CST_API cst_status cst_array_from_parents(const cst_array *values, const cst_array *parents,
                                          int64_t num_rows, bool empty_as_null, cst_array **out,
                                          cst_error *error);

/* The coordinates of all values of nested lists: a fixed_size_list of (levels + 1) int64 per value,
 * row first, in order; and the bounding box in shape[0 .. levels], which has room for max_dims
 * (CST_LIMIT if that is too few). *num_dims is levels + 1. Null lists count as empty. */
CST_API cst_status cst_array_coordinates(const cst_array *array, cst_array **out, int64_t *shape,
                                         size_t max_dims, size_t *num_dims, cst_error *error);

/* ---- nulls and sizes ---- */

/* One byte per slot: 1 for null (uint8); a column of type null is all 1. */
CST_API cst_status cst_array_null_mask(const cst_array *array, cst_array **out, cst_error *error);

/* Fills the nulls: of lists, with all values of `fill` as one list; otherwise with the only value
 * of `fill`. CST_SCHEMA if the types differ. An array without nulls is shared. */
CST_API cst_status cst_array_fill_null(const cst_array *array, const cst_array *fill,
                                       cst_array **out, cst_error *error);

/* The bytes that this slice needs: values, offsets, validity bitmaps (if there are nulls), and
 * views with the bytes they point to. Other data in shared buffers does not count. */
CST_API cst_status cst_array_byte_size(const cst_array *array, int64_t *size, cst_error *error);

/* The number of non-null strings that are not valid UTF-8. CST_SCHEMA for other types. */
CST_API cst_status cst_array_count_invalid_utf8(const cst_array *array, int64_t *count,
                                                cst_error *error);

/* ---- groups ---- */

/* The rows of a record batch by the values of key columns. */
typedef struct cst_groups {
  cst_array *keys; /* a batch of one row per group: the key columns, flat; null is a key; named
                      by their paths: "a", "s.b" */
  cst_array *rows; /* large_list<int64>: the rows of each group, ascending */
} cst_groups;

/* Groups rows by the values of key columns; groups are in the order of their first row. A key
 * column may be flat or contain lists. With lists, a row belongs to the group of each of its
 * distinct values (as slices of metrics need it); with several such columns, to the groups of all
 * combinations. A row without a value (null or an empty list) has the key null. Floats are equal if
 * their bits are equal, except that -0.0 equals 0.0 and all NaNs are equal. Paths lead through
 * structs. Without key columns, all rows are one group (no group if there are no rows). CST_SCHEMA
 * for columns other than numbers, bools, strings, and lists of them at any depth; CST_LIMIT if all
 * groups together have 2^32 rows. */
CST_API cst_status cst_array_group_by(const cst_array *batch, const cst_path *paths,
                                      size_t num_paths, cst_groups *out, cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_ARRAY_H */
