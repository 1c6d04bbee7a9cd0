/* Converts record batches to tensors and back: dense, sparse, ragged and structured, without a
 * copy if the layouts agree.
 *
 * Sources: RFC "Standardized TFX inputs" (TensorAdapter, TensorRepresentation); DLPack 1.x.
 */
#ifndef COLUMNSTONE_TENSOR_H
#define COLUMNSTONE_TENSOR_H

#include <columnstone/array.h>
#include <columnstone/arrow_abi.h>
#include <columnstone/schema.h>
#include <columnstone/source.h>
#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A dense block of values in row-major order. Read-only; borrowed from its cst_tensors. */
typedef struct cst_ndarray {
  cst_dtype dtype;
  size_t num_dims;
  const int64_t *shape;
  int64_t size;             /* number of elements */
  const void *data;         /* numbers, and bools as bytes of 0 or 1; NULL for strings */
  const cst_bytes *strings; /* dtype BYTES: one per element; NULL for numbers */
} cst_ndarray;

/* One named tensor. Members that its kind does not have are zero. */
typedef struct cst_tensor {
  const char *name;
  cst_tensor_kind kind;
  cst_ndarray values;  /* dense: [rows] + shape; sparse: [n]; ragged: [n] + uniform inner dims */
  cst_ndarray indices; /* sparse kinds: int64 [n, rank], sorted row-major */
  cst_ndarray dense_shape; /* sparse kinds: int64 [rank]; unknown dims as large as need be */
  size_t num_splits;       /* ragged: row splits, outermost first */
  const cst_ndarray *splits;
  size_t num_fields; /* structured: sorted by name */
  const struct cst_tensor *fields;
} cst_tensor;

/* The tensors of one batch, sorted by name. Immutable and reference-counted; keeps the batch alive.
 */
typedef struct cst_tensors cst_tensors;

/* Converts batches of one Arrow schema to the tensors of a list of specs. Immutable: threads may
 * share it. */
typedef struct cst_tensor_adapter cst_tensor_adapter;

/* Sizes of a padded dimension: positive, ascending. */
typedef struct cst_pad_sizes {
  size_t count; /* 0: the dimension has a length */
  const int64_t *items;
} cst_pad_sizes;

/* A ragged, varlen or sparse tensor that is wanted dense. */
typedef struct cst_pad {
  const char *name;  /* of the tensor; fields of structured ones as a.b */
  int64_t int_value; /* fills the places without a value; the one of the tensor's type counts */
  double float_value;
  cst_bytes bytes_value;
  size_t num_lengths;     /* one per dimension that is not fixed, outermost first; 0: all are -1 */
  const int64_t *lengths; /* -1: the longest of the batch */
  bool truncate;          /* cut longer rows off; else they are CST_SCHEMA with their row */
  /* NULL, or one per length: that dimension gets the smallest of its sizes that holds the longest
   * of the batch, so that few shapes occur; what is longer than the largest is longer than a length
   * of this size. The length is of no account then. */
  const cst_pad_sizes *sizes;
} cst_pad;

/* Options of cst_tensor_adapter_new. */
typedef struct cst_tensor_options {
  size_t size; /* sizeof(cst_tensor_options) */
  const cst_allocator *allocator;
  const cst_pad *pads;
  size_t num_pads;
} cst_tensor_options;

#define CST_TENSOR_OPTIONS_INIT \
  { sizeof(cst_tensor_options), NULL, NULL, 0 }

/* Makes an adapter. Columns may be lists of any layout and depth, or flat (lists of one value);
 * dictionary-encoded columns count as their values. A spec of integers accepts integers of any
 * width and bools, one of floats both float types: tensors have the types of the columns.
 * Everything is copied or reference-counted. options may be NULL.
 *
 * CST_SCHEMA with tensor and column if a spec does not fit the Arrow schema; CST_UNSUPPORTED for
 * types that need a cast (float16, times, decimals); CST_NOT_FOUND for padding of an unknown
 * tensor; CST_INVALID_ARGUMENT for padding that does not fit its tensor. */
CST_API cst_status cst_tensor_adapter_new(const struct ArrowSchema *schema, const cst_specs *specs,
                                          const cst_tensor_options *options,
                                          cst_tensor_adapter **out, cst_error *error);
CST_API void cst_tensor_adapter_free(cst_tensor_adapter *adapter);

/* Converts one batch. The adapter takes it over on success (its release becomes NULL) and leaves it
 * unchanged on failure. Rows are checked one by one: CST_SCHEMA names the row (of the batch) and
 * the tensor. A batch that is not trusted (CST_ARRAY_TRUSTED) is fully validated first
 * (CST_CORRUPT). Values and large_list offsets are not copied if they are contiguous; computed
 * arrays are in memory that the adapter reuses for later batches. Any number of threads may convert
 * at once. */
CST_API cst_status cst_tensor_adapter_convert(const cst_tensor_adapter *adapter,
                                              struct ArrowArray *batch, uint32_t flags,
                                              cst_tensors **out, cst_error *error);

/* Adds an owner and returns the argument; releasing removes one, and the last frees the tensors.
 * The results of cst_tensors_get and cst_tensors_find are borrowed; NULL for an i that is too
 * large. */
CST_API cst_tensors *cst_tensors_retain(const cst_tensors *tensors);
CST_API void cst_tensors_release(cst_tensors *tensors);
CST_API size_t cst_tensors_num_tensors(const cst_tensors *tensors);
CST_API const cst_tensor *cst_tensors_get(const cst_tensors *tensors, size_t i);
/* NULL for an unknown name. */
CST_API const cst_tensor *cst_tensors_find(const cst_tensors *tensors, const char *name);

/* Exports an array of numbers or bools as a DLManagedTensorVersioned (DLPack 1.0, CPU, with the
 * read-only flag) that keeps `owner` alive. It is returned as void*, so that no DLPack header is
 * needed. With `copy`, it is a writable copy instead. CST_UNSUPPORTED for strings. */
CST_API cst_status cst_ndarray_to_dlpack(const cst_ndarray *array, const cst_tensors *owner,
                                         bool copy, void **out, cst_error *error);
/* The same as an unversioned DLManagedTensor (DLPack < 1.0), which has no read-only flag: pass copy
 * = false only if the consumer promises not to write. */
CST_API cst_status cst_ndarray_to_dlpack_unversioned(const cst_ndarray *array,
                                                     const cst_tensors *owner, bool copy,
                                                     void **out, cst_error *error);

/* Exports any array as a flat Arrow array. Numbers are not copied; bools become bits. Strings
 * become a large_binary, whose bytes are not copied either if they are contiguous (true for all
 * tensors except those that were sorted or filled, and those of string views). */
CST_API cst_status cst_ndarray_to_arrow(const cst_ndarray *array, const cst_tensors *owner,
                                        struct ArrowSchema *out_schema, struct ArrowArray *out,
                                        cst_error *error);

/* Reads the next batch of a pass as tensors, owned by the caller; *out is NULL at the end, and
 * after a failure. The adapter must have been made for the Arrow schema of the source. An error
 * about a row names its file and record; this batch is lost, but the pass can go on. */
CST_API cst_status cst_pass_next_tensors(cst_pass *pass, const cst_tensor_adapter *adapter,
                                         cst_tensors **out, cst_error *error);

/* ---- tensors to record batches ---- */

/* Makes batches from the tensors of a list of specs, such that an adapter for the same specs gives
 * the same tensors again. Immutable: threads may share it. */
typedef struct cst_tensor_encoder cst_tensor_encoder;

/* Makes an encoder. Its columns are those that the specs name:
 *
 * - dense: a large_list of the values, flattened
 * - varlen: a large_list of the values of each row
 * - sparse: a large_list of values, and one of int64 per index column (of rank 1: single values and
 * nulls)
 * - ragged: nested large_lists, with trailing uniform partitions flat in the innermost; or values
 * and row lengths, where the partitions name columns of row lengths
 * - structured: the columns of its fields
 *
 * Paths of several steps lead into structs. Where row lengths divide more than one level of lists,
 * the outer levels are lists of the innermost struct, and all tensors in it must share them. Values
 * have the types of the tensors; strings are large_binary. A column that two tensors use is
 * CST_SCHEMA. allocator may be NULL. */
CST_API cst_status cst_tensor_encoder_new(const cst_specs *specs, const cst_allocator *allocator,
                                          cst_tensor_encoder **out, cst_error *error);
CST_API void cst_tensor_encoder_free(cst_tensor_encoder *encoder);

/* The type of the batches. What the specs leave open (the width of numbers, the list levels of
 * ragged tensors) is taken from the first batch; before it: int64, float32 and one level. */
CST_API cst_status cst_tensor_encoder_arrow_schema(const cst_tensor_encoder *encoder,
                                                   struct ArrowSchema *out, cst_error *error);

/* Encodes tensors, one for each spec, in any order; both sparse kinds count as one. All pointers
 * are borrowed for the call, and values are copied.
 *
 * The tensors are checked: shapes against the specs; equal numbers of rows; types and levels
 * against the first batch; splits (int64 or int32) that start at 0, do not decrease and end at the
 * number of values; sparse indices in order (row-major; several values of one index keep their
 * order) and within the dense shape. A tensor that could not be restored is CST_SCHEMA with tensor
 * and row: a varlen tensor whose positions have gaps, or whose dense shape is wider than the
 * longest row. Dimensions of a dense shape that are unknown in the spec (-1) are not kept.
 * Inconsistent arrays are CST_INVALID_ARGUMENT; a number of rows without memory behind it is
 * CST_LIMIT. `default` values of the specs have no effect: every row of a dense tensor is written.
 */
CST_API cst_status cst_tensor_encoder_encode(const cst_tensor_encoder *encoder,
                                             const cst_tensor *tensors, size_t count,
                                             struct ArrowArray *out, cst_error *error);

/* Derives specs from tensors: dense; varlen if the positions of every row are 0, 1, 2, ... and the
 * dense shape is not wider than the longest row, otherwise sparse with the columns "NAME$values",
 * "NAME$index0", ... (of rank 1: a column of its name); ragged with the inner dimensions as uniform
 * partitions; structured with its fields in a struct column of its name. */
CST_API cst_status cst_specs_of_tensors(const cst_tensor *tensors, size_t count,
                                        const cst_allocator *allocator, cst_specs **out,
                                        cst_error *error);

/* ---- arrays as one block of memory ---- */

/* Arrays are passed to another process, or to a device, as one block. In the given order, each
 * array starts at a multiple of CST_BLOCK_ALIGNMENT bytes from the start of the block. An array of
 * numbers (or bools, one byte each) consists of its values. An array of strings consists of the
 * length of each, an int64, followed by the bytes of all. Gaps between arrays are not written. */
enum { CST_BLOCK_ALIGNMENT = 64 };

/* An array that is copied into a block; all that it points to is borrowed until it is copied. */
typedef struct cst_block_array {
  const void *head; /* numbers; or the lengths of strings that are already contiguous */
  size_t head_size; /* bytes */
  const void *data; /* their bytes; NULL: numbers */
  size_t data_size;
  const cst_bytes *strings; /* instead of the above: strings at any addresses */
  size_t num_strings;
  /* Set by cst_block_plan, which for strings also sets the sizes above. */
  size_t offset;      /* of the head in the block; the data follow it */
  const void *joined; /* the start of contiguous strings; otherwise NULL */
} cst_block_array;

/* Describes an array of a cst_tensor. */
CST_API cst_status cst_block_array_init(cst_block_array *out, const cst_ndarray *array,
                                        cst_error *error);

/* Computes the place of each array, and the size of the block in bytes: a multiple of the
 * alignment. The caller allocates the block: aligned, pinned or shared memory. CST_LIMIT if no
 * memory can be so large. */
CST_API cst_status cst_block_plan(cst_block_array *arrays, size_t count, size_t *size,
                                  cst_error *error);

/* Copies planned arrays into a block of `size` bytes. The block is never read, so it may be
 * write-combined memory. CST_INVALID_ARGUMENT if the block is too small; what has been copied by
 * then remains. */
CST_API cst_status cst_block_fill(const cst_block_array *arrays, size_t count, void *block,
                                  size_t size, cst_error *error);

/* ---- packing ---- */

/* Packs the lists of many rows into rows of a fixed length, for sequence models (tokens), so that
 * few positions are padding. One thread at a time may use it. */
typedef struct cst_packer cst_packer;

/* Options of cst_packer_new. */
typedef struct cst_packer_options {
  size_t size; /* sizeof(cst_packer_options) */
  const cst_allocator *allocator;
  const cst_pad *lists; /* the tensors to pack: each has one length above 0, the value for
                           empty positions, and whether longer lists are truncated */
  size_t num_lists;
  int64_t rows; /* rows of a packed batch */
  /* False: the lists of a row stay whole. They go into the first packed row that has room for all
   * of them (first fit); a batch is full when the next lists fit into none. True: rows follow each
   * other without gaps, and a row that does not fit continues in the next packed row; all lists of
   * a row must have the same length then, and so must the packed rows. */
  bool split;
} cst_packer_options;

#define CST_PACKER_OPTIONS_INIT \
  { sizeof(cst_packer_options), NULL, NULL, 0, 0, false }

/* How far a batch of rows is packed: all rows before `row`, and the first `value` values of that
 * row (0 without split). */
typedef struct cst_packer_place {
  int64_t row;
  int64_t value;
} cst_packer_place;

/* Everything is copied. CST_INVALID_ARGUMENT for wrong options. */
CST_API cst_status cst_packer_new(const cst_packer_options *options, cst_packer **out,
                                  cst_error *error);
CST_API void cst_packer_free(cst_packer *packer);

/* Packs rows of a batch from `place` on, as many as fit, and advances `place`. *full: the packed
 * batch has no room for the row at `place`; otherwise `place` is at the end of the rows. `tensors`
 * has one tensor for each list, by name and in any order: ragged with one level of splits, varlen
 * sparse, or dense with two dimensions; of numbers or bools, which keep the type of the first
 * batch. Rows without values leave no trace. CST_SCHEMA names tensor and row: for a list longer
 * than its length that may not be truncated, and with split for lists of different lengths; then
 * nothing of this row is packed, and `place` is at this row. CST_UNSUPPORTED for strings. */
CST_API cst_status cst_packer_add(cst_packer *packer, const cst_tensor *tensors, size_t count,
                                  cst_packer_place *place, bool *full, cst_error *error);

/* Takes the packed batch, which the caller owns; the packer is then empty. *out is NULL if nothing
 * is packed. For each list there are three dense tensors of shape [packed rows with values,
 * length]: NAME; the int32 NAME_segment_ids, which numbers the rows within a packed row from 1,
 * with 0 for padding; and the int32 NAME_positions, the position of a value within its row, or
 * within the part of it in this packed row. With out NULL, the batch is discarded. */
CST_API cst_status cst_packer_take(cst_packer *packer, cst_tensors **out, cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_TENSOR_H */
