/* Adapters and the tensors of a batch: making, owning, finding. */
#include <columnstone/tensor.h>

#include "arrow/dictionary.h"
#include "arrow/owned.h"
#include "base/arguments.h"
#include "base/interrupt.h"
#include "tensor/kind.h"

/* ---- adapters ---- */

static cst_status adapter_plan(cst_tensor_adapter *adapter, cst_error *error) {
  cst__arena views;
  cst__view root;
  cst__name_map names = {0};
  cst__arena_init(&views, &adapter->arena.allocator);
  cst_status status = cst__view_init_schema(&root, &adapter->schema, &views, error);
  if (status == CST_OK && root.layout != CST__LAYOUT_STRUCT) {
    status = cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                       "the schema of record batches has to be that of a struct");
  }
  if (status == CST_OK && !cst__view_index(&root, &names)) {
    status = cst__fail_memory(error, sizeof(cst__name_slot));
  }
  for (size_t i = 0; status == CST_OK && i < adapter->count; i++) {
    status = cst__plan_init(&adapter->plans[i], cst_specs_get(adapter->specs, i), &root, &names,
                            &adapter->arena, error);
  }
  cst__name_map_reset(&names);
  cst__arena_reset(&views);
  return status;
}

static cst_status adapter_fill(cst_tensor_adapter *adapter, const struct ArrowSchema *schema,
                               const cst_tensor_options *options, cst_error *error) {
  const cst_allocator *allocator = &adapter->arena.allocator;
  size_t size = (adapter->count + 1) * sizeof *adapter->plans;
  adapter->pool = cst__arena_pool_new(allocator);
  adapter->plans = cst__arena_take_zero(&adapter->arena, size);
  if (adapter->pool == NULL || adapter->plans == NULL) {
    return cst__fail_memory(error, size);
  }
  CST__TRY(cst__schema_copy(schema, &adapter->schema, error));
  if (cst__schema_has_dictionary(&adapter->schema)) {
    CST__TRY(cst__schema_copy(schema, &adapter->given, error));
    CST__TRY(cst__schema_make_plain(&adapter->schema, error));
  }
  CST__TRY(adapter_plan(adapter, error));
  for (size_t i = 0; i < options->num_pads; i++) {
    CST__TRY(
        cst__pad_plan(adapter->plans, adapter->count, &options->pads[i], &adapter->arena, error));
  }
  return CST_OK;
}

cst_status cst_tensor_adapter_new(const struct ArrowSchema *schema, const cst_specs *specs,
                                  const cst_tensor_options *options, cst_tensor_adapter **out,
                                  cst_error *error) {
  CST__CLEAR(out);
  cst_tensor_options own = CST_TENSOR_OPTIONS_INIT;
  if (schema == NULL || schema->release == NULL) {
    return cst__missing("the Arrow schema", error);
  }
  if (specs == NULL || out == NULL) {
    return cst__missing(specs == NULL ? "the list of specs" : "the output", error);
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_allocator(own.allocator, error));
  if (own.num_pads > 0 && own.pads == NULL) {
    return cst__missing("the list of pads", error);
  }
  const cst_allocator *allocator = own.allocator;
  cst_tensor_adapter *adapter = cst__new_zero(allocator, sizeof *adapter);
  if (adapter == NULL) {
    return cst__fail_memory(error, sizeof *adapter);
  }
  cst__arena_init(&adapter->arena, allocator);
  adapter->specs = cst_specs_retain(specs);
  adapter->count = cst_specs_num_specs(specs);
  cst_status status = adapter_fill(adapter, schema, &own, error);
  if (status != CST_OK) {
    cst_tensor_adapter_free(adapter);
    return status;
  }
  *out = adapter;
  return CST_OK;
}

void cst_tensor_adapter_free(cst_tensor_adapter *adapter) {
  if (adapter == NULL) {
    return;
  }
  if (adapter->schema.release != NULL) {
    adapter->schema.release(&adapter->schema);
  }
  if (adapter->given.release != NULL) {
    adapter->given.release(&adapter->given);
  }
  cst_specs_release(adapter->specs);
  cst__arena_pool_release(adapter->pool);
  cst__arena_reset(&adapter->arena);
  cst__delete(adapter);
}

/* ---- tensors ---- */

cst_status cst__make_tensor(const cst__making *m) {
  CST__TRY(cst__interrupted(m->error));
  m->out->name = m->plan->spec->name;
  m->out->kind = m->plan->spec->kind;
  return m->plan->kind->make(m);
}

static cst_status adapter_make_all(const cst_tensor_adapter *adapter, const cst__view *root,
                                   cst_tensors *tensors, cst_error *error) {
  int64_t count = (int64_t)adapter->count;
  tensors->items = cst__arena_take_items(&tensors->scratch, count, sizeof *tensors->items);
  CST__TRY(CST__TAKEN(tensors->items, error));
  memset(tensors->items, 0, adapter->count * sizeof *tensors->items);
  tensors->count = adapter->count;
  for (size_t i = 0; i < adapter->count; i++) {
    const cst__making m = {.plan = &adapter->plans[i],
                           .root = root,
                           .scratch = &tensors->scratch,
                           .out = &tensors->items[i],
                           .error = error};
    CST__TRY(cst__make_tensor(&m));
  }
  return CST_OK;
}

/* Frees all but the batch, which is the caller's as long as the conversion may fail. */
static void tensors_drop(cst_tensors *tensors) {
  cst__array_release(&tensors->made);
  cst__arena_reset(&tensors->arena);
  cst_specs_release(tensors->specs);
  cst__arena_pool_take_back(tensors->pool, &tensors->scratch);
  cst__delete(tensors);
}

/* The batch; or, of dictionary-encoded columns, one with their values. */
static cst_status adapter_take(const cst_tensor_adapter *adapter, const struct ArrowArray *batch,
                               cst_tensors *tensors, const struct ArrowArray **out,
                               cst_error *error) {
  *out = batch;
  if (adapter->given.release == NULL) {
    return CST_OK;
  }
  struct ArrowArray *made = &tensors->made;
  *out = made;
  CST__TRY(cst__array_lend(&adapter->given, batch, &tensors->arena, made, error));
  return cst__array_make_plain(&adapter->given, &tensors->arena.allocator, made, error);
}

cst_status cst_tensor_adapter_convert(const cst_tensor_adapter *adapter, struct ArrowArray *batch,
                                      uint32_t flags, cst_tensors **out, cst_error *error) {
  bool is_trusted = (flags & CST_ARRAY_TRUSTED) != 0;
  CST__CLEAR(out);
  if (adapter == NULL || out == NULL) {
    return cst__missing(adapter == NULL ? "the adapter" : "the output", error);
  }
  if (batch == NULL || batch->release == NULL) {
    return cst__missing("the batch", error);
  }
  CST__TRY(cst__check_flags(flags, CST_ARRAY_TRUSTED, error));
  const cst_allocator *allocator = cst__arena_pool_allocator(adapter->pool);
  cst_tensors *tensors = cst__new_zero(allocator, sizeof *tensors);
  if (tensors == NULL) {
    return cst__fail_memory(error, sizeof *tensors);
  }
  cst__refcount_init(&tensors->owners);
  tensors->pool = adapter->pool;
  cst__arena_pool_lend(tensors->pool, &tensors->scratch);
  tensors->specs = cst_specs_retain(adapter->specs);
  cst__arena_init(&tensors->arena, allocator);
  cst__view root;
  cst__arena views;
  const struct ArrowArray *columns;
  cst__arena_init(&views, allocator);
  cst_status status = adapter_take(adapter, batch, tensors, &columns, error);
  if (status == CST_OK) {
    status = cst__view_init(&root, &adapter->schema, columns, is_trusted, &views, error);
  }
  if (status == CST_OK) {
    status = adapter_make_all(adapter, &root, tensors, error);
  }
  cst__arena_reset(&views);
  if (status != CST_OK) {
    tensors_drop(tensors);
    return status;
  }
  tensors->batch = *batch;
  batch->release = NULL;
  *out = tensors;
  return CST_OK;
}

cst_tensors *cst_tensors_retain(const cst_tensors *tensors) {
  cst_tensors *owned = (cst_tensors *)(uintptr_t)tensors;
  if (owned != NULL) {
    cst__refcount_up(&owned->owners);
  }
  return owned;
}

void cst_tensors_release(cst_tensors *tensors) {
  if (tensors != NULL && cst__refcount_down(&tensors->owners)) {
    struct ArrowArray batch = tensors->batch;
    tensors_drop(tensors);
    batch.release(&batch);
  }
}

size_t cst_tensors_num_tensors(const cst_tensors *tensors) {
  return tensors != NULL ? tensors->count : 0;
}

const cst_tensor *cst_tensors_get(const cst_tensors *tensors, size_t i) {
  return tensors != NULL && i < tensors->count ? &tensors->items[i] : NULL;
}

const cst_tensor *cst_tensors_find(const cst_tensors *tensors, const char *name) {
  if (tensors == NULL || name == NULL) {
    return NULL;
  }
  size_t low = 0;
  size_t high = tensors->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(tensors->items[middle].name, name);
    if (order == 0) {
      return &tensors->items[middle];
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}
