/* Passes that give tensors. */
#include <columnstone/tensor.h>

#include "base/arguments.h"
#include "source/pass/pass.h"

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
  cst_status status = cst_tensor_adapter_convert(adapter, &batch, CST_ARRAY_TRUSTED, out, error);
  if (status != CST_OK) {
    batch.release(&batch);
    if (cst__error_wanted(error) && error->record >= 0) {
      cst__pass_locate(pass, (size_t)error->record, error);
    }
  }
  return status;
}
