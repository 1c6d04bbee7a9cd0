/* Functions of texts, and of bytes. */
#include "query/functions/function_list.h"
#include "query/functions/result.h"

/* ---- one after the other ---- */

static cst_status concat_pair(cst__text_result *texts, cst_bytes x, cst_bytes y, cst_error *error) {
  uint8_t *to = cst__text_result_room(texts, x.size + y.size, error);
  if (to == NULL) {
    return CST_NO_MEMORY;
  }
  if (x.size > 0) {
    memcpy(to, x.data, x.size);
  }
  if (y.size > 0) {
    memcpy(to + x.size, y.data, y.size);
  }
  texts->size += x.size + y.size;
  cst__text_result_close(texts);
  return CST_OK;
}

cst_status cst__concat_texts(const cst__function_call *call, struct ArrowArray *out,
                             cst_error *error) {
  cst__text_result texts;
  CST__TRY(cst__text_result_begin(&texts, out, call->count, call->allocator, error));
  cst_status status = CST_OK;
  for (int64_t i = 0; i < call->count && status == CST_OK; i++) {
    cst_bytes x = cst__view_text(&call->args[0], cst__argument_slot(call, 0, i));
    cst_bytes y = cst__view_text(&call->args[1], cst__argument_slot(call, 1, i));
    bool is_null = cst__result_is_null(out, i);
    status = concat_pair(&texts, is_null ? (cst_bytes){NULL, 0} : x,
                         is_null ? (cst_bytes){NULL, 0} : y, error);
  }
  return cst__text_result_end(&texts, status);
}
