/* Making the results of functions: arrays of values, their nulls, texts; and reading arguments.
 */
#ifndef QUERY_FUNCTIONS_RESULT_H
#define QUERY_FUNCTIONS_RESULT_H

#include "query/functions/function.h"
#include "query/functions/value_type.h"

/* ---- arrays ---- */

/* An array of the type without values and without nulls ("n": of nulls), to be released. */
cst_status cst__result_new(cst__value_type type, int64_t count, const cst_allocator *allocator,
                           struct ArrowArray *out, cst_error *error);

/* The same for a call, null where one of the first `num_args` arguments is null. */
cst_status cst__result_begin(const cst__function_call *call, size_t num_args,
                             struct ArrowArray *out, cst_error *error);

/* Gives the status back; on failure the array is released. */
static inline cst_status cst__result_end(struct ArrowArray *out, cst_status status) {
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

/* Room for `width` bytes per slot; 0: a bit per slot. NULL: no memory, and the error says so. */
void *cst__result_values(struct ArrowArray *out, int width, cst_error *error);

/* The bitmap of an array, all bits set if there was none; NULL: no memory, as above. Who writes to
 * it calls cst__result_count_nulls at the end. */
uint8_t *cst__result_validity(struct ArrowArray *out, cst_error *error);
void cst__result_count_nulls(struct ArrowArray *out);
cst_status cst__result_set_null(struct ArrowArray *out, int64_t i, cst_error *error);

static inline bool cst__result_is_null(const struct ArrowArray *out, int64_t i) {
  const uint8_t *bits = out->buffers[0];
  return bits != NULL && !((bits[i >> 3] >> (i & 7)) & 1);
}

/* Fails about element `i`. */
cst_status cst__result_fail(const cst__function *function, int64_t i, const char *what,
                            const char *hint, cst_error *error);

/* ---- texts ---- */

/* The most bytes of one result. */
#define CST__MAX_TEXT ((size_t)1 << 32)

/* Texts (or bytes) that are written one after the other. */
typedef struct cst__text_result {
  struct ArrowArray *out;
  int64_t *offsets;
  cst__buffer bytes;
  size_t size;
  int64_t at;
  cst_allocator allocator;
} cst__text_result;

/* For `count` texts; what is begun has to be ended. */
cst_status cst__text_result_begin(cst__text_result *texts, struct ArrowArray *out, int64_t count,
                                  const cst_allocator *allocator, cst_error *error);
/* Room for `size` more bytes of the text that is being written. CST_LIMIT above CST__MAX_TEXT: a
 * query that puts texts together again and again would have no end. */
cst_status cst__text_result_grow(cst__text_result *texts, size_t size, cst_error *error);
static inline cst_status cst__text_result_room(cst__text_result *texts, size_t size, uint8_t **to,
                                               cst_error *error) {
  if (__builtin_expect(size > texts->bytes.capacity - texts->size, 0)) {
    CST__TRY(cst__text_result_grow(texts, size, error));
  }
  *to = texts->bytes.data + texts->size;
  return CST_OK;
}
/* The next text ends here. */
static inline void cst__text_result_close(cst__text_result *texts) {
  texts->offsets[++texts->at] = (int64_t)texts->size;
}
static inline cst_status cst__text_result_append(cst__text_result *texts, const uint8_t *data,
                                                 size_t size, cst_error *error) {
  uint8_t *to;
  CST__TRY(cst__text_result_room(texts, size, &to, error));
  if (size > 0) {
    memcpy(to, data, size);
  }
  texts->size += size;
  cst__text_result_close(texts);
  return CST_OK;
}
/* Hands the bytes over; gives the status back. */
cst_status cst__text_result_end(cst__text_result *texts, cst_status status);

/* ---- reading ---- */

/* Slot `i` of an argument that may be one for all. */
static inline int64_t cst__argument_slot(const cst__function_call *call, size_t arg, int64_t i) {
  return call->is_one[arg] ? 0 : i;
}

/* The first value of a slice of fixed width; never NULL, though arrays without values may have no
 * buffer. */
static inline const void *cst__view_values(const cst__view *view, int width) {
  static const uint64_t no_values;
  return view->data == NULL ? &no_values
                            : (const void *)((const uint8_t *)view->data + view->offset * width);
}

/* The bytes of a slot, whatever lies under a null one. */
static inline cst_bytes cst__view_text(const cst__view *view, int64_t i) {
  int64_t at = view->offset + i;
  if (view->layout != CST__LAYOUT_BINARY || cst__view_is_null(view, i)) {
    return cst__view_bytes(view, i);
  }
  int64_t begin = cst__view_entry(view->offsets, view->offset_width, at);
  int64_t end = cst__view_entry(view->offsets, view->offset_width, at + 1);
  const uint8_t *data = cst__view_values(view, 0); /* without the slice's offset */
  return (cst_bytes){data + begin, (size_t)(end - begin)};
}

#endif /* QUERY_FUNCTIONS_RESULT_H */
