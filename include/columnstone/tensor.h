/* Record batches to tensors: dense, sparse and ragged, without a copy where the layouts agree.
 *
 * Sources: RFC "Standardized TFX inputs" (TensorAdapter, TensorRepresentation); DLPack 1.x.
 */
#ifndef COLUMNSTONE_TENSOR_H
#define COLUMNSTONE_TENSOR_H

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
  const void *data;         /* numbers; NULL for strings */
  const cst_bytes *strings; /* dtype BYTES: one per element; NULL for numbers */
} cst_ndarray;

/* One named tensor. Members that its kind does not have are zero. */
typedef struct cst_tensor {
  const char *name;
  cst_tensor_kind kind;
  cst_ndarray values;  /* dense: [rows] + shape; sparse: [n]; ragged: [n] + uniform inner dims */
  cst_ndarray indices; /* sparse kinds: int64 [n, rank], sorted row-major */
  cst_ndarray dense_shape; /* sparse kinds: int64 [rank] */
  size_t num_splits;       /* ragged: row splits, outermost first */
  const cst_ndarray *splits;
} cst_tensor;

/* The tensors of one batch, sorted by name. Immutable and counted; keeps the batch alive. */
typedef struct cst_tensors cst_tensors;

/* Converts batches of one Arrow schema by a list of specs. Immutable: shared by threads. */
typedef struct cst_tensor_adapter cst_tensor_adapter;

/* CST_SCHEMA names the tensor and the column if a spec does not fit the Arrow schema,
 * CST_UNSUPPORTED types that need a cast (bool, float16, dates, dictionaries). A spec of INT64
 * takes integers of any width, FLOAT32 also float64: the tensors have the columns' own types.
 * Columns are lists of any layout and depth, or flat (as lists of one value). Everything is copied
 * or counted. */
CST_API cst_status cst_tensor_adapter_new(const struct ArrowSchema *schema, const cst_specs *specs,
                                          const cst_allocator *allocator, cst_tensor_adapter **out,
                                          cst_error *error);
CST_API void cst_tensor_adapter_free(cst_tensor_adapter *adapter);

enum {
  CST_BATCH_TRUSTED =
      1 << 0 /* the batch comes from Columnstone: skip the validation of its buffers */
};

/* Converts one batch, which is moved in on success (its release becomes NULL) and untouched on
 * failure. Rows are checked one by one: CST_SCHEMA names row (of the batch) and tensor. Unless it
 * is trusted, the batch is validated fully first (CST_CORRUPT). Values and large_list offsets are
 * not copied where they lie one behind the other; what is computed lies in memory that the adapter
 * uses again for later batches. Any number of threads may convert at once. */
CST_API cst_status cst_tensor_adapter_convert(const cst_tensor_adapter *adapter,
                                              struct ArrowArray *batch, uint32_t flags,
                                              cst_tensors **out, cst_error *error);

CST_API cst_tensors *cst_tensors_retain(const cst_tensors *tensors);
CST_API void cst_tensors_release(cst_tensors *tensors);
CST_API size_t cst_tensors_count(const cst_tensors *tensors);
CST_API const cst_tensor *cst_tensors_get(const cst_tensors *tensors, size_t i);
/* NULL if there is none of that name. */
CST_API const cst_tensor *cst_tensors_find(const cst_tensors *tensors, const char *name);

/* Hands an array of numbers over as a DLManagedTensorVersioned (DLPack 1.0, CPU, read-only flag
 * set; returned as void* so that no DLPack header is needed), which keeps `owner` alive. copy: a
 * writable copy instead. CST_UNSUPPORTED for strings. */
CST_API cst_status cst_ndarray_to_dlpack(const cst_ndarray *array, const cst_tensors *owner,
                                         bool copy, void **out, cst_error *error);
/* The same as the unversioned DLManagedTensor (DLPack < 1.0), which cannot say "read-only": always
 * a copy unless `copy` is false and the consumer promises not to write. */
CST_API cst_status cst_ndarray_to_dlpack_unversioned(const cst_ndarray *array,
                                                     const cst_tensors *owner, bool copy,
                                                     void **out, cst_error *error);

/* Hands any array over as a flat Arrow array (strings as large_binary): no copy for numbers. */
CST_API cst_status cst_ndarray_to_arrow(const cst_ndarray *array, const cst_tensors *owner,
                                        struct ArrowSchema *out_schema, struct ArrowArray *out,
                                        cst_error *error);

/* The next batch of a pass as tensors; *out is NULL at the end. The adapter must have been made for
 * the source's Arrow schema. A row that does not fit its tensor is named by file and record; the
 * batch is lost, the pass can go on. */
CST_API cst_status cst_pass_next_tensors(cst_pass *pass, const cst_tensor_adapter *adapter,
                                         cst_tensors **out, cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_TENSOR_H */
