/* split(x, separator): a list of the parts below each value. */
#include "base/interrupt.h"
#include "query/functions/function_list.h"
#include "query/functions/result.h"

cst_status cst__split_type(const cst__function *function, const cst__argument_type *args,
                           size_t num_args, cst__signature *out, cst_error *error) {
  *out = (cst__signature){{NULL}, {{NULL}}};
  CST__TRY(cst__arguments_common(function, args, (cst__argument_range){0, num_args}, out,
                                 &out->result, error));
  cst__value_kind kind = cst__value_kind_of(out->result);
  return kind == CST__VALUE_TEXT || kind == CST__VALUE_BYTES
             ? CST_OK
             : cst__argument_fail(function, args, 0, "text or bytes", NULL, error);
}

typedef struct splitting {
  const cst__function_call *call;
  cst__text_result texts; /* its offsets and its bytes are buffers of its own until the end */
  cst__buffer offsets;
  cst_error *error;
} splitting;

static cst_status split_append(splitting *s, const uint8_t *data, size_t size) {
  size_t want = ((size_t)s->texts.at + 2) * sizeof(int64_t);
  if (want > s->offsets.capacity) {
    if (!cst__buffer_reserve(&s->texts.allocator, &s->offsets, want,
                             ((size_t)s->texts.at + 1) * sizeof(int64_t))) {
      return cst__fail_memory(s->error, want);
    }
    s->texts.offsets = (int64_t *)(void *)s->offsets.data;
  }
  return cst__text_result_append(&s->texts, data, size, s->error);
}

/* As Python's str.split(separator): one part more than separators. */
static cst_status split_one(splitting *s, cst_bytes text, cst_bytes separator) {
  const uint8_t *at = text.data;
  size_t left = text.size;
  for (;;) {
    const uint8_t *end = left >= separator.size && left > 0
                             ? memmem(at, left, separator.data, separator.size)
                             : NULL;
    if (end == NULL) {
      return split_append(s, at, left);
    }
    CST__TRY(split_append(s, at, (size_t)(end - at)));
    left -= (size_t)(end - at) + separator.size;
    at = end + separator.size;
  }
}

static cst_status split_all(splitting *s, int64_t *list_offsets) {
  const cst__function_call *call = s->call;
  size_t work = 0;
  list_offsets[0] = 0;
  for (int64_t i = 0; i < call->count; i++) {
    int64_t x = cst__argument_slot(call, 0, i);
    int64_t y = cst__argument_slot(call, 1, i);
    if (!cst__view_is_null(&call->args[0], x) && !cst__view_is_null(&call->args[1], y)) {
      cst_bytes separator = cst__view_text(&call->args[1], y);
      if (separator.size == 0) {
        cst__fail(s->error, CST_SCHEMA, "name a separator", "split: the separator is empty");
        cst__error_add_record(s->error, i, -1);
        return CST_SCHEMA;
      }
      cst_bytes text = cst__view_text(&call->args[0], x);
      if (cst__stretch_is_over(&work, text.size + 16)) {
        CST__TRY(cst__interrupted(s->error));
      }
      CST__TRY(split_one(s, text, separator));
    }
    list_offsets[i + 1] = s->texts.at;
  }
  return CST_OK;
}

static cst_status split_fill(splitting *s, int64_t *list_offsets, struct ArrowArray *out) {
  s->texts = (cst__text_result){.out = out, .allocator = cst__allocator_of(s->call->allocator)};
  CST__TRY(cst__text_result_grow(&s->texts, 1, s->error));
  if (!cst__buffer_reserve(&s->texts.allocator, &s->offsets, sizeof(int64_t), 0)) {
    return cst__fail_memory(s->error, sizeof(int64_t));
  }
  s->texts.offsets = (int64_t *)(void *)s->offsets.data;
  s->texts.offsets[0] = 0;
  CST__TRY(split_all(s, list_offsets));
  out->length = s->texts.at;
  cst__owned_give(out, 1, &s->offsets);
  return CST_OK;
}

cst_status cst__split_expand(const cst__function_call *call, struct ArrowArray *out,
                             int64_t **out_offsets, cst_error *error) {
  splitting s = {.call = call, .error = error};
  size_t size = ((size_t)call->count + 1) * sizeof(int64_t);
  *out_offsets = NULL;
  *out = (struct ArrowArray){0};
  int64_t *list_offsets = cst__new(call->allocator, size);
  if (list_offsets == NULL) {
    return cst__fail_memory(error, size);
  }
  cst_status status = cst__result_new(call->result, 0, call->allocator, out, error);
  if (status == CST_OK) {
    status = cst__text_result_end(&s.texts, split_fill(&s, list_offsets, out));
    cst__buffer_free(&s.texts.allocator, &s.offsets);
    status = cst__result_end(out, status);
  }
  if (status != CST_OK) {
    cst__delete(list_offsets);
    return status;
  }
  *out_offsets = list_offsets;
  return CST_OK;
}
