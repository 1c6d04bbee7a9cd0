/* The results of functions: arrays that are filled, and which of their slots are null. */
#include "query/functions/result.h"

#include "query/functions/words.h"

/* ---- arrays ---- */

cst_status cst__result_new(cst__value_type type, int64_t count, const cst_allocator *allocator,
                           struct ArrowArray *out, cst_error *error) {
  cst__value_kind kind = cst__value_kind_of(type);
  int64_t num_buffers = kind == CST__VALUE_NULL                               ? 0
                        : kind == CST__VALUE_TEXT || kind == CST__VALUE_BYTES ? 3
                                                                              : 2;
  CST__TRY(cst__owned_new(allocator, num_buffers, 0, false, out, error));
  out->length = count;
  out->null_count = kind == CST__VALUE_NULL ? count : 0;
  return CST_OK;
}

void *cst__result_values(struct ArrowArray *out, int width, cst_error *error) {
  size_t size = cst__bits_size(out->length);
  bool fits = width == 0 || cst__mul((size_t)out->length, (size_t)width, &size);
  void *values = fits ? cst__owned_buffer(out, 1, size) : NULL;
  if (values == NULL) {
    cst__fail_memory(error, size);
  }
  return values;
}

uint8_t *cst__result_validity(struct ArrowArray *out, cst_error *error) {
  if (out->buffers[0] == NULL) {
    size_t size = cst__bits_size(out->length);
    uint8_t *bits = cst__owned_buffer(out, 0, size);
    if (bits == NULL) {
      cst__fail_memory(error, size);
      return NULL;
    }
    memset(bits, 0xff, size);
  }
  return (uint8_t *)(uintptr_t)out->buffers[0];
}

void cst__result_count_nulls(struct ArrowArray *out) {
  const uint8_t *bits = out->n_buffers > 0 ? out->buffers[0] : NULL;
  if (bits != NULL) {
    out->null_count = out->length - cst__bitmap_count(bits, 0, out->length);
    if (out->null_count == 0) {
      out->buffers[0] = NULL;
    }
  }
}

cst_status cst__result_set_null(struct ArrowArray *out, int64_t i, cst_error *error) {
  uint8_t *bits = cst__result_validity(out, error);
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  out->null_count += (bits[i >> 3] >> (i & 7)) & 1;
  bits[i >> 3] = (uint8_t)(bits[i >> 3] & ~(1U << (i & 7)));
  return CST_OK;
}

cst_status cst__result_fail(const cst__function *function, int64_t i, const char *what,
                            const char *hint, cst_error *error) {
  cst__fail(error, CST_SCHEMA, hint, "%s: %s", function->name, what);
  cst__error_add_record(error, i, -1);
  return CST_SCHEMA;
}

/* ---- nulls of arguments ---- */

static bool argument_is_null(const cst__view *view, bool is_one) {
  return is_one && view->length > 0 && cst__view_is_null(view, 0);
}

static void bits_and(uint8_t *bits, const cst__view *view, int64_t count) {
  for (int64_t i = 0; i < count; i += 64) {
    int64_t n = count - i < 64 ? count - i : 64;
    uint64_t word = cst__bits_word(view->validity, view->offset + i, n);
    cst__bits_put(bits, i, word & cst__bits_word(bits, i, n), n);
  }
}

static cst_status clear_nulls(const cst__view *view, bool is_one, struct ArrowArray *out,
                              cst_error *error) {
  bool is_all = view->layout == CST__LAYOUT_NULL || argument_is_null(view, is_one);
  if (!is_all && (view->validity == NULL || is_one)) {
    return CST_OK;
  }
  uint8_t *bits = cst__result_validity(out, error);
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  if (is_all) {
    memset(bits, 0, cst__bits_size(out->length));
  } else {
    bits_and(bits, view, out->length);
  }
  return CST_OK;
}

cst_status cst__result_begin(const cst__function_call *call, size_t num_args,
                             struct ArrowArray *out, cst_error *error) {
  CST__TRY(cst__result_new(call->result, call->count, call->allocator, out, error));
  cst_status status = CST_OK;
  for (size_t i = 0; i < num_args && out->n_buffers > 0 && status == CST_OK; i++) {
    status = clear_nulls(&call->args[i], call->is_one[i], out, error);
  }
  if (status == CST_OK) {
    cst__result_count_nulls(out);
  }
  return cst__result_end(out, status);
}

/* ---- texts ---- */

cst_status cst__text_result_begin(cst__text_result *texts, struct ArrowArray *out, int64_t count,
                                  const cst_allocator *allocator, cst_error *error) {
  *texts = (cst__text_result){.out = out, .allocator = cst__allocator_of(allocator)};
  size_t size = 0;
  bool fits = cst__mul((size_t)count + 1, sizeof(int64_t), &size);
  texts->offsets = fits ? cst__owned_buffer(out, 1, size) : NULL;
  if (texts->offsets == NULL) {
    return cst__fail_memory(error, size);
  }
  texts->offsets[0] = 0;
  return cst__text_result_grow(texts, 1, error); /* never NULL */
}

cst_status cst__text_result_grow(cst__text_result *texts, size_t size, cst_error *error) {
  if (size > CST__MAX_TEXT - texts->size) {
    return cst__fail(error, CST_LIMIT, "use smaller batches",
                     "a result of a query with more than %zu bytes of text", CST__MAX_TEXT);
  }
  return cst__buffer_reserve(&texts->allocator, &texts->bytes, texts->size + size, texts->size)
             ? CST_OK
             : cst__fail_memory(error, size);
}

cst_status cst__text_result_end(cst__text_result *texts, cst_status status) {
  if (status == CST_OK) {
    cst__owned_give(texts->out, 2, &texts->bytes);
  } else {
    cst__buffer_free(&texts->allocator, &texts->bytes);
  }
  return status;
}
