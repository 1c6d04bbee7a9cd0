/* The entries of an index as a record batch: the offsets are those that the index has, not copied.
 */
#include <columnstone/index.h>

#include "arrow/owned.h"
#include "arrow/type.h"
#include "base/arguments.h"
#include "source/index/index.h"

static void release_index(void *index) { cst_index_free(index); }

static cst_status fill_batch(const cst_index *index, struct ArrowArray *batch, cst_error *error) {
  CST__TRY(cst__owned_new(&index->allocator, 2, 0, false, batch->children[0], error));
  CST__TRY(cst__owned_new(&index->allocator, 2, 0, false, batch->children[1], error));
  uint64_t *sizes = cst__owned_buffer(batch->children[1], 1, (size_t)index->count * sizeof *sizes);
  if (sizes == NULL) {
    return cst__fail_memory(error, (size_t)index->count * sizeof *sizes);
  }
  for (uint64_t i = 0; i < index->count; i++) {
    sizes[i] = index->container->payload_size(index->offsets[i + 1] - index->offsets[i]);
  }
  batch->children[0]->buffers[1] = index->offsets;
  cst__owned_keep(batch->children[0], cst__index_retain((cst_index *)(uintptr_t)index),
                  release_index);
  batch->length = (int64_t)index->count;
  batch->children[0]->length = batch->length;
  batch->children[1]->length = batch->length;
  return CST_OK;
}

cst_status cst_index_batch(const cst_index *index, struct ArrowSchema *schema,
                           struct ArrowArray *array, cst_error *error) {
  CST__CLEAR(schema);
  CST__CLEAR(array);
  if (index == NULL || schema == NULL || array == NULL) {
    return cst__missing(index == NULL ? "index" : schema == NULL ? "schema" : "array", error);
  }
  cst__type columns[] = {{.name = "offset", .format = "l"}, {.name = "size", .format = "l"}};
  CST__TRY(cst__types_export(columns, 2, schema, error));
  cst_status status = cst__owned_new(&index->allocator, 1, 2, false, array, error);
  if (status == CST_OK) {
    status = fill_batch(index, array, error);
  }
  if (status != CST_OK) {
    schema->release(schema);
    cst__array_release(array);
  }
  return status;
}
