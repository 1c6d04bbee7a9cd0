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

/* The tensors of one batch, sorted by name. Immutable and counted; keeps the batch alive. */
typedef struct cst_tensors cst_tensors;

/* Converts batches of one Arrow schema by a list of specs. Immutable: shared by threads. */
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

/* CST_SCHEMA names the tensor and the column if a spec does not fit the Arrow schema,
 * CST_UNSUPPORTED types that need a cast (float16, times, decimals). A spec of integers takes
 * those of any width and bools, one of floats both: the tensors have the columns' own types.
 * Dictionary-encoded columns are their values. Columns are lists of any layout and depth, or flat
 * (as lists of one value). Everything is copied
 * or counted. options may be NULL. A pad for a tensor that there is not is CST_NOT_FOUND, one that
 * does not fit its tensor CST_INVALID_ARGUMENT. */
CST_API cst_status cst_tensor_adapter_new(const struct ArrowSchema *schema, const cst_specs *specs,
                                          const cst_tensor_options *options,
                                          cst_tensor_adapter **out, cst_error *error);
CST_API void cst_tensor_adapter_free(cst_tensor_adapter *adapter);

/* Converts one batch, which is moved in on success (its release becomes NULL) and untouched on
 * failure. Rows are checked one by one: CST_SCHEMA names row (of the batch) and tensor. Unless it
 * is trusted (CST_ARRAY_TRUSTED), the batch is validated fully first (CST_CORRUPT). Values and
 * large_list offsets are not copied where they lie one after the other; what is computed lies in
 * memory that the adapter uses again for later batches. Any number of threads may convert at once.
 */
CST_API cst_status cst_tensor_adapter_convert(const cst_tensor_adapter *adapter,
                                              struct ArrowArray *batch, uint32_t flags,
                                              cst_tensors **out, cst_error *error);

/* One more owner; returns its argument. One owner less; the last frees. What cst_tensors_get and
 * cst_tensors_find give is borrowed; NULL for an i that is too large. */
CST_API cst_tensors *cst_tensors_retain(const cst_tensors *tensors);
CST_API void cst_tensors_release(cst_tensors *tensors);
CST_API size_t cst_tensors_num_tensors(const cst_tensors *tensors);
CST_API const cst_tensor *cst_tensors_get(const cst_tensors *tensors, size_t i);
/* NULL if there is none of that name. */
CST_API const cst_tensor *cst_tensors_find(const cst_tensors *tensors, const char *name);

/* Hands an array of numbers or bools over as a DLManagedTensorVersioned (DLPack 1.0, CPU, read-only
 * flag set; returned as void* so that no DLPack header is needed), which keeps `owner` alive. copy:
 * a writable copy instead. CST_UNSUPPORTED for strings. */
CST_API cst_status cst_ndarray_to_dlpack(const cst_ndarray *array, const cst_tensors *owner,
                                         bool copy, void **out, cst_error *error);
/* The same as the unversioned DLManagedTensor (DLPack < 1.0), which cannot say "read-only": always
 * a copy unless `copy` is false and the consumer promises not to write. */
CST_API cst_status cst_ndarray_to_dlpack_unversioned(const cst_ndarray *array,
                                                     const cst_tensors *owner, bool copy,
                                                     void **out, cst_error *error);

/* Hands any array over as a flat Arrow array: no copy for numbers; bools are bits there. Strings
 * are a large_binary, whose bytes are not copied either where they lie one after the other (all
 * tensors but those that were sorted or filled, and those of string views). */
CST_API cst_status cst_ndarray_to_arrow(const cst_ndarray *array, const cst_tensors *owner,
                                        struct ArrowSchema *out_schema, struct ArrowArray *out,
                                        cst_error *error);

/* The next batch of a pass as tensors, the caller's; *out is NULL at the end, and after a failure.
 * The adapter must have been made for the source's Arrow schema. A row that does not fit its tensor
 * is named by file and record; the batch is lost, the pass can go on. */
CST_API cst_status cst_pass_next_tensors(cst_pass *pass, const cst_tensor_adapter *adapter,
                                         cst_tensors **out, cst_error *error);

/* ---- tensors to record batches ---- */

/* Makes batches of tensors by a list of specs, such that an adapter of the same specs gives the
 * same tensors again. Immutable: shared by threads. */
typedef struct cst_tensor_encoder cst_tensor_encoder;

/* The columns are those that the specs name: a dense tensor is a large_list of its values
 * (flattened), a varlen one a large_list of a row's values, a sparse one a large_list of values and
 * one of int64 per index column (of rank 1: single values and nulls), a ragged one nested
 * large_lists (trailing uniform partitions lie flat in the innermost), or values beside row lengths
 * where its partitions name them, a structured one those of its fields. Paths of several steps lead
 * into structs; where row lengths divide more than one level of lists, the outer levels are lists
 * of the innermost struct, and all tensors in it have to share them. Values have the tensors' own
 * types, strings are large_binary. A column of two tensors is CST_SCHEMA. allocator may be NULL. */
CST_API cst_status cst_tensor_encoder_new(const cst_specs *specs, const cst_allocator *allocator,
                                          cst_tensor_encoder **out, cst_error *error);
CST_API void cst_tensor_encoder_free(cst_tensor_encoder *encoder);

/* The type of the batches. What the specs leave open, the width of numbers and the levels of lists
 * of ragged tensors, is as in the first batch; before it int64, float32 and one level. */
CST_API cst_status cst_tensor_encoder_arrow_schema(const cst_tensor_encoder *encoder,
                                                   struct ArrowSchema *out, cst_error *error);

/* Tensors that the caller describes (all pointers are borrowed for the call), one for each spec, in
 * any order; both sparse kinds count as one. Checked: shapes against the specs, rows of all tensors
 * alike, types and levels against the first batch, splits (int64 or int32) that begin at 0, do not
 * decrease and end at the number of values, sparse indices in order (row-major; several values of
 * one index stay in theirs) and within the dense shape; what cannot be given back (a varlen tensor
 * whose positions have gaps, or whose dense shape is wider than the longest row) is CST_SCHEMA with
 * tensor and row. Of a dense shape what the spec says is unknown (-1) is not kept. Arrays that
 * contradict themselves are CST_INVALID_ARGUMENT, rows that are claimed without memory behind them
 * CST_LIMIT. Values are copied. `default` values of the specs play no part: every row of a dense
 * tensor is written. */
CST_API cst_status cst_tensor_encoder_encode(const cst_tensor_encoder *encoder,
                                             const cst_tensor *tensors, size_t count,
                                             struct ArrowArray *out, cst_error *error);

/* The specs that tensors by themselves ask for: dense, varlen if the positions of every row count
 * 0, 1, 2... and the dense shape is not wider than the longest row, else sparse with the columns
 * "NAME$values" and "NAME$index0", ... (of rank 1: a column of its name); ragged with the inner
 * dimensions as uniform partitions; structured with its fields in a struct column of its name. */
CST_API cst_status cst_specs_of_tensors(const cst_tensor *tensors, size_t count,
                                        const cst_allocator *allocator, cst_specs **out,
                                        cst_error *error);

/* ---- arrays as one block of memory ---- */

/* Arrays cross to another process, or to a device, as one block: each begins at a multiple of
 * CST_BLOCK_ALIGNMENT bytes from the start of the block, in the order in which they are given. An
 * array of numbers (or bools, a byte each) is its values. One of strings is the length of each, an
 * int64, and after these the bytes of all, one after the other. What lies between the arrays is not
 * written. */
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

/* The array of a tensor (cst_tensor has them all). */
CST_API cst_status cst_block_array_init(cst_block_array *out, const cst_ndarray *array,
                                        cst_error *error);

/* Says where each array will lie, and how many bytes the block needs: a multiple of the alignment.
 * The block is the caller's: aligned memory, pinned or shared, as he likes. CST_LIMIT if no memory
 * can be so large. */
CST_API cst_status cst_block_plan(cst_block_array *arrays, size_t count, size_t *size,
                                  cst_error *error);

/* Copies planned arrays into a block of `size` bytes. Nothing is read back, so the memory may be
 * write-combined. CST_INVALID_ARGUMENT if the block is too small; what has been copied by then
 * stays. */
CST_API cst_status cst_block_fill(const cst_block_array *arrays, size_t count, void *block,
                                  size_t size, cst_error *error);

/* ---- packing ---- */

/* Puts the lists of many rows after each other into rows of a fixed length, for models of sequences
 * (tokens): few places are padded then. Used by one thread at a time. */
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

/* The place in a batch of rows up to which it is packed: the rows before `row`, and `value` values
 * of that row (0 without split). */
typedef struct cst_packer_place {
  int64_t row;
  int64_t value;
} cst_packer_place;

/* Everything is copied. CST_INVALID_ARGUMENT for wrong options. */
CST_API cst_status cst_packer_new(const cst_packer_options *options, cst_packer **out,
                                  cst_error *error);
CST_API void cst_packer_free(cst_packer *packer);

/* Packs rows of a batch from a place on, as far as there is room, and moves the place on. *full:
 * the batch has no room for the row at the place; else the place is the end of the rows. `tensors`
 * has one for each list, by name and in any order: ragged with one level of splits, varlen sparse,
 * or dense of two dimensions, of numbers or bools, which keep their type from the first batch on.
 * Rows of no values leave no trace. CST_SCHEMA names tensor and row: of a list that is longer than
 * its length and not cut off, of lists that differ in length with split; then nothing of this row
 * is packed, and the place is this row's. CST_UNSUPPORTED for strings. */
CST_API cst_status cst_packer_add(cst_packer *packer, const cst_tensor *tensors, size_t count,
                                  cst_packer_place *place, bool *full, cst_error *error);

/* The packed batch, the caller's, which is empty again then; *out is NULL if nothing is packed. For
 * each list three dense tensors of [packed rows that have anything, length]: NAME; the int32
 * NAME_segment_ids, which counts the rows in a packed row from 1 on, 0 where it is empty; and the
 * int32 NAME_positions, the place of a value within its row, or within that part of it. out NULL:
 * nobody wants it. */
CST_API cst_status cst_packer_take(cst_packer *packer, cst_tensors **out, cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_TENSOR_H */
