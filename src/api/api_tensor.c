/* <columnstone/tensor.h>: argument checks, and passes that give tensors. */
#include <columnstone/tensor.h>

#include "base/arguments.h"
#include "source/pass/pass.h"
#include "tensor/encode.h"
#include "tensor/tensor.h"

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
  return cst__adapter_new(schema, specs, &own, out, error);
}

void cst_tensor_adapter_free(cst_tensor_adapter *adapter) { cst__adapter_free(adapter); }

cst_status cst_tensor_adapter_convert(const cst_tensor_adapter *adapter, struct ArrowArray *batch,
                                      uint32_t flags, cst_tensors **out, cst_error *error) {
  CST__CLEAR(out);
  if (adapter == NULL || out == NULL) {
    return cst__missing(adapter == NULL ? "the adapter" : "the output", error);
  }
  if (batch == NULL || batch->release == NULL) {
    return cst__missing("the batch", error);
  }
  CST__TRY(cst__check_flags(flags, CST_ARRAY_TRUSTED, error));
  return cst__adapter_convert(adapter, batch, (flags & CST_ARRAY_TRUSTED) != 0, out, error);
}

cst_tensors *cst_tensors_retain(const cst_tensors *tensors) {
  return tensors != NULL ? cst__tensors_retain(tensors) : NULL;
}

void cst_tensors_release(cst_tensors *tensors) { cst__tensors_release(tensors); }

size_t cst_tensors_count(const cst_tensors *tensors) {
  return tensors != NULL ? tensors->count : 0;
}

const cst_tensor *cst_tensors_get(const cst_tensors *tensors, size_t i) {
  return tensors != NULL && i < tensors->count ? &tensors->items[i] : NULL;
}

const cst_tensor *cst_tensors_find(const cst_tensors *tensors, const char *name) {
  return tensors != NULL && name != NULL ? cst__tensors_find(tensors, name) : NULL;
}

cst_status cst_ndarray_to_dlpack(const cst_ndarray *array, const cst_tensors *owner, bool copy,
                                 void **out, cst_error *error) {
  CST__CLEAR(out);
  if (array == NULL || owner == NULL || out == NULL) {
    return cst__missing("the array, its owner or the output", error);
  }
  return cst__ndarray_to_dlpack(array, owner, copy, true, out, error);
}

cst_status cst_ndarray_to_dlpack_unversioned(const cst_ndarray *array, const cst_tensors *owner,
                                             bool copy, void **out, cst_error *error) {
  CST__CLEAR(out);
  if (array == NULL || owner == NULL || out == NULL) {
    return cst__missing("the array, its owner or the output", error);
  }
  return cst__ndarray_to_dlpack(array, owner, copy, false, out, error);
}

cst_status cst_ndarray_to_arrow(const cst_ndarray *array, const cst_tensors *owner,
                                struct ArrowSchema *out_schema, struct ArrowArray *out,
                                cst_error *error) {
  CST__CLEAR(out_schema);
  CST__CLEAR(out);
  if (array == NULL || owner == NULL || out_schema == NULL || out == NULL) {
    return cst__missing("the array, its owner or the output", error);
  }
  return cst__ndarray_to_arrow(array, owner, out_schema, out, error);
}

cst_status cst_pass_next_tensors(cst_pass *pass, const cst_tensor_adapter *adapter,
                                 cst_tensors **out, cst_error *error) {
  CST__CLEAR(out);
  if (pass == NULL || adapter == NULL || out == NULL) {
    return cst__missing("the pass, the adapter or the output", error);
  }
  struct ArrowArray batch;
  CST__TRY(cst_pass_next(pass, &batch, error));
  if (batch.release == NULL) {
    *out = NULL;
    return CST_OK;
  }
  /* What a pass gives has been made or validated by it. */
  cst_status status = cst__adapter_convert(adapter, &batch, true, out, error);
  if (status != CST_OK) {
    batch.release(&batch);
    if (cst__error_wanted(error) && error->record >= 0) {
      cst__pass_locate(pass, (size_t)error->record, error);
    }
  }
  return status;
}

/* ---- tensors to record batches ---- */

cst_status cst_tensor_encoder_new(const cst_specs *specs, const cst_allocator *allocator,
                                  cst_tensor_encoder **out, cst_error *error) {
  CST__CLEAR(out);
  if (specs == NULL || out == NULL) {
    return cst__missing(specs == NULL ? "the list of specs" : "the output", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  return cst__tensor_encoder_new(specs, allocator, out, error);
}

void cst_tensor_encoder_free(cst_tensor_encoder *encoder) { cst__tensor_encoder_free(encoder); }

cst_status cst_tensor_encoder_arrow_schema(const cst_tensor_encoder *encoder,
                                           struct ArrowSchema *out, cst_error *error) {
  CST__CLEAR(out);
  if (encoder == NULL || out == NULL) {
    return cst__missing(encoder == NULL ? "the encoder" : "the output", error);
  }
  return cst__tensor_encoder_arrow_schema(encoder, out, error);
}

static cst_status check_tensors(const cst_tensor *tensors, size_t count, const void *out,
                                cst_error *error) {
  if ((tensors == NULL && count > 0) || out == NULL) {
    return cst__missing(out == NULL ? "the output" : "the list of tensors", error);
  }
  return CST_OK;
}

cst_status cst_tensor_encoder_encode(const cst_tensor_encoder *encoder, const cst_tensor *tensors,
                                     size_t count, struct ArrowArray *out, cst_error *error) {
  CST__CLEAR(out);
  if (encoder == NULL) {
    return cst__missing("the encoder", error);
  }
  CST__TRY(check_tensors(tensors, count, out, error));
  return cst__tensor_encoder_encode(encoder, tensors, count, out, error);
}

cst_status cst_specs_of_tensors(const cst_tensor *tensors, size_t count,
                                const cst_allocator *allocator, cst_specs **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_tensors(tensors, count, out, error));
  CST__TRY(cst__check_allocator(allocator, error));
  return cst__specs_of_tensors(tensors, count, allocator, out, error);
}
