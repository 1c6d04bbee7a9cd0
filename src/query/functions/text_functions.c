/* Functions of texts, and of bytes. A character is a code point; what a function says of characters
 * holds for the bytes of bytes.
 */
#include "query/functions/function_list.h"
#include "query/functions/letter_case.h"
#include "query/functions/result.h"
#include "query/functions/words.h"

/* ---- types ---- */

static bool is_text_type(cst__value_type type) {
  cst__value_kind kind = cst__value_kind_of(type);
  return kind == CST__VALUE_TEXT || kind == CST__VALUE_BYTES;
}

static cst_status type_of_texts(const cst__function *function, const cst__argument_type *args,
                                cst__argument_range range, cst__signature *out,
                                cst__value_type *type, cst_error *error) {
  for (size_t i = range.first; i < range.end; i++) {
    if (!is_text_type(args[i].type) && cst__value_kind_of(args[i].type) != CST__VALUE_NULL) {
      return cst__argument_fail(function, args, i, "text or bytes", NULL, error);
    }
  }
  CST__TRY(cst__arguments_common(function, args, range, out, type, error));
  return is_text_type(*type) ? CST_OK
                             : cst__argument_fail(function, args, range.first, "text or bytes",
                                                  "cast(null, string) has a type", error);
}

cst_status cst__text_type(const cst__function *function, const cst__argument_type *args,
                          size_t num_args, cst__signature *out, cst_error *error) {
  (void)num_args;
  *out = (cst__signature){{NULL}, {{NULL}}};
  CST__TRY(type_of_texts(function, args, (cst__argument_range){0, 1}, out, &out->result, error));
  return CST_OK;
}

cst_status cst__text_length_type(const cst__function *function, const cst__argument_type *args,
                                 size_t num_args, cst__signature *out, cst_error *error) {
  CST__TRY(cst__text_type(function, args, num_args, out, error));
  out->result.format = "l";
  return CST_OK;
}

cst_status cst__text_search_type(const cst__function *function, const cst__argument_type *args,
                                 size_t num_args, cst__signature *out, cst_error *error) {
  cst__value_type type;
  *out = (cst__signature){{"b"}, {{NULL}}};
  return type_of_texts(function, args, (cst__argument_range){0, num_args}, out, &type, error);
}

cst_status cst__substr_type(const cst__function *function, const cst__argument_type *args,
                            size_t num_args, cst__signature *out, cst_error *error) {
  CST__TRY(cst__text_type(function, args, 1, out, error));
  for (size_t i = 1; i < num_args; i++) {
    cst__value_info info = cst__value_info_of(args[i].type);
    bool is_int = info.kind == CST__VALUE_INT && (info.is_signed || info.width < 8);
    if (!is_int && info.kind != CST__VALUE_NULL) {
      return cst__argument_fail(function, args, i, "an integer", NULL, error);
    }
    out->casts[i].format = "l";
  }
  return CST_OK;
}

/* ---- characters ---- */

static inline bool begins_character(uint8_t byte) { return (byte & 0xc0) != 0x80; }

/* Eight bytes at a time: those that are 10xxxxxx go on with a character. */
static int64_t count_characters(cst_bytes text) {
  size_t i = 0;
  int64_t count = (int64_t)text.size;
  for (; i + 8 <= text.size; i += 8) {
    uint64_t word = cst__load64(text.data + i);
    count -= __builtin_popcountll(word & ~(word << 1) & UINT64_C(0x8080808080808080));
  }
  for (; i < text.size; i++) {
    count -= !begins_character(text.data[i]);
  }
  return count;
}

/* The same of a short text of which eight bytes can be read. */
static inline int64_t count_few_characters(cst_bytes text) {
  uint64_t word = cst__load64(text.data);
  uint64_t inside = text.size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * text.size) - 1;
  uint64_t later = word & ~(word << 1) & UINT64_C(0x8080808080808080) & inside;
  return (int64_t)text.size - __builtin_popcountll(later);
}

/* What lies behind the texts of a view may not be read, but what lies before it may. */
static const uint8_t *end_of_texts(const cst__view *view) {
  if (view->layout != CST__LAYOUT_BINARY || view->length == 0) {
    return NULL;
  }
  int64_t end = cst__view_entry(view->offsets, view->offset_width, view->offset + view->length);
  return end < 8 ? NULL : (const uint8_t *)view->data + end - 8;
}

/* Where character `number` begins, which is not after the end. */
static size_t find_character(cst_bytes text, int64_t number) {
  size_t at = 0;
  for (; at < text.size && (number > 0 || !begins_character(text.data[at])); at++) {
    number -= begins_character(text.data[at]);
  }
  return at;
}

cst_status cst__text_length_eval(const cst__function *function, const cst__function_call *call,
                                 struct ArrowArray *out, cst_error *error) {
  (void)function;
  CST__TRY(cst__result_begin(call, 1, out, error));
  bool is_text = call->args[0].is_string;
  int64_t *to = cst__result_values(out, 8, error);
  if (to == NULL) {
    return cst__result_end(out, CST_NO_MEMORY);
  }
  const uint8_t *last = end_of_texts(&call->args[0]);
  for (int64_t i = 0; i < call->count; i++) {
    cst_bytes text = cst__view_text(&call->args[0], cst__argument_slot(call, 0, i));
    if (!is_text) {
      to[i] = (int64_t)text.size;
    } else if (text.size <= 8 && last != NULL && text.data != NULL && text.data <= last) {
      to[i] = count_few_characters(text);
    } else {
      to[i] = count_characters(text);
    }
  }
  return CST_OK;
}

/* ---- case, white space ---- */

static inline bool is_ascii_space(uint8_t byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static cst_bytes strip_spaces(cst_bytes text) {
  while (text.size > 0 && is_ascii_space(text.data[text.size - 1])) {
    text.size--;
  }
  while (text.size > 0 && is_ascii_space(text.data[0])) {
    text.data++;
    text.size--;
  }
  return text;
}

static cst_status append_case(cst__text_result *texts, cst_bytes text, bool is_text,
                              const cst__letter_case *table, cst_error *error) {
  uint8_t *to;
  CST__TRY(cst__text_result_room(texts, text.size, &to, error));
  if (is_text) {
    cst__letters_to_case(table, text.data, text.size, to);
  } else {
    cst__bytes_to_case(text.data, text.size, table->is_upper, to);
  }
  texts->size += text.size;
  cst__text_result_close(texts);
  return CST_OK;
}

static cst_status fill_stripped(const cst__function_call *call, cst__text_result *texts,
                                cst_error *error) {
  for (int64_t i = 0; i < call->count; i++) {
    cst_bytes text = strip_spaces(cst__view_text(&call->args[0], cst__argument_slot(call, 0, i)));
    CST__TRY(cst__text_result_append(texts, text.data, text.size, error));
  }
  return CST_OK;
}

/* Case keeps the number of bytes: texts that lie side by side are changed as one. Without nulls,
 * because what lies under these may be anything. */
static bool is_one_run(const cst__function_call *call) {
  const cst__view *view = &call->args[0];
  return !call->is_one[0] && view->layout == CST__LAYOUT_BINARY && view->validity == NULL &&
         call->count > 0;
}

static cst_status fill_run(const cst__function_call *call, const cst__letter_case *table,
                           cst__text_result *texts, cst_error *error) {
  const cst__view *view = &call->args[0];
  int64_t begin = cst__view_entry(view->offsets, view->offset_width, view->offset);
  int64_t end = cst__view_entry(view->offsets, view->offset_width, view->offset + call->count);
  cst_bytes run = {end > begin ? (const uint8_t *)view->data + begin : NULL, (size_t)(end - begin)};
  CST__TRY(append_case(texts, run, view->is_string, table, error));
  for (int64_t i = 1; i <= call->count; i++) {
    texts->offsets[i] =
        cst__view_entry(view->offsets, view->offset_width, view->offset + i) - begin;
  }
  return CST_OK;
}

static cst_status fill_case(const cst__function_call *call, bool is_upper, cst__text_result *texts,
                            cst_error *error) {
  cst__letter_case table;
  const cst__view *view = &call->args[0];
  cst__letter_case_init(&table, is_upper);
  if (is_one_run(call)) {
    return fill_run(call, &table, texts, error);
  }
  for (int64_t i = 0; i < call->count; i++) {
    cst_bytes text = cst__view_text(view, cst__argument_slot(call, 0, i));
    CST__TRY(append_case(texts, text, view->is_string, &table, error));
  }
  return CST_OK;
}

cst_status cst__text_eval(const cst__function *function, const cst__function_call *call,
                          struct ArrowArray *out, cst_error *error) {
  cst__text_result texts;
  CST__TRY(cst__result_begin(call, 1, out, error));
  cst_status status = cst__text_result_begin(&texts, out, call->count, call->allocator, error);
  if (status == CST_OK) {
    status = function->op == CST__STRIP
                 ? fill_stripped(call, &texts, error)
                 : fill_case(call, function->op == CST__UPPER, &texts, error);
    status = cst__text_result_end(&texts, status);
  }
  return cst__result_end(out, status);
}

/* ---- substr ---- */

/* As Python slices: numbers below 0 count from the end, and what is outside is cut. */
static int64_t slice_bound(const cst__function_call *call, size_t arg, int64_t i, int64_t length) {
  int64_t bound = cst__view_int(&call->args[arg], cst__argument_slot(call, arg, i));
  bound += bound < 0 ? length : 0;
  return bound < 0 ? 0 : bound > length ? length : bound;
}

static cst_bytes substr_at(const cst__function_call *call, int64_t i) {
  bool is_text = call->args[0].is_string;
  cst_bytes text = cst__view_text(&call->args[0], cst__argument_slot(call, 0, i));
  int64_t length = is_text ? count_characters(text) : (int64_t)text.size;
  int64_t begin = slice_bound(call, 1, i, length);
  int64_t end = call->num_args > 2 ? slice_bound(call, 2, i, length) : length;
  if (begin >= end) {
    return (cst_bytes){NULL, 0};
  }
  bool is_ascii = length == (int64_t)text.size;
  size_t from = is_ascii ? (size_t)begin : find_character(text, begin);
  size_t to = is_ascii ? (size_t)end : find_character(text, end);
  return (cst_bytes){text.data + from, to - from};
}

cst_status cst__substr_eval(const cst__function *function, const cst__function_call *call,
                            struct ArrowArray *out, cst_error *error) {
  (void)function;
  cst__text_result texts;
  CST__TRY(cst__result_begin(call, call->num_args, out, error));
  cst_status status = cst__text_result_begin(&texts, out, call->count, call->allocator, error);
  if (status != CST_OK) {
    return cst__result_end(out, status);
  }
  for (int64_t i = 0; i < call->count && status == CST_OK; i++) {
    cst_bytes part = cst__result_is_null(out, i) ? (cst_bytes){NULL, 0} : substr_at(call, i);
    status = cst__text_result_append(&texts, part.data, part.size, error);
  }
  return cst__result_end(out, cst__text_result_end(&texts, status));
}

/* ---- searching ---- */

static bool is_found(const cst__function *function, cst_bytes text, cst_bytes part) {
  if (part.size == 0 || part.size > text.size) {
    return part.size == 0;
  }
  switch (function->op) {
    case CST__STARTS_WITH:
      return memcmp(text.data, part.data, part.size) == 0;
    case CST__ENDS_WITH:
      return memcmp(text.data + text.size - part.size, part.data, part.size) == 0;
    default:
      return memmem(text.data, text.size, part.data, part.size) != NULL;
  }
}

cst_status cst__text_search_eval(const cst__function *function, const cst__function_call *call,
                                 struct ArrowArray *out, cst_error *error) {
  CST__TRY(cst__result_begin(call, 2, out, error));
  uint8_t *bits = cst__result_values(out, 0, error);
  if (bits == NULL) {
    return cst__result_end(out, CST_NO_MEMORY);
  }
  for (int64_t i = 0; i < call->count; i += 64) {
    uint8_t truth[64] = {0};
    cst__stretch s = cst__stretch_of(i, call->count);
    for (int64_t k = 0; k < s.count; k++) {
      cst_bytes text = cst__view_text(&call->args[0], cst__argument_slot(call, 0, i + k));
      cst_bytes part = cst__view_text(&call->args[1], cst__argument_slot(call, 1, i + k));
      truth[k] = is_found(function, text, part);
    }
    cst__bits_put(bits, i, cst__bits_of_bytes(truth), s.count);
  }
  return CST_OK;
}

/* ---- one after the other ---- */

static cst_status concat_pair(cst__text_result *texts, cst_bytes x, cst_bytes y, cst_error *error) {
  uint8_t *to;
  CST__TRY(cst__text_result_room(texts, x.size + y.size, &to, error));
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
