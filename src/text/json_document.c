/* JSON texts, parsed by yyjson. */
#include "text/json_document.h"

#include <string.h>

#include "text/number.h"

enum { KEEP_BYTES = 64 << 20 /* of a slot, from text to text */ };

/* ---- yyjson's memory: a few blocks that stay ---- */

static void *slot_malloc(void *ctx, size_t size) {
  cst__json_document *document = ctx;
  size_t i = 0;
  while (i < CST__JSON_SLOTS && document->slots[i].is_used) {
    i++;
  }
  if (i == CST__JSON_SLOTS) {
    return NULL;
  }
  if (document->slots[i].capacity < size) { /* what lies in it need not be kept */
    cst__delete(document->slots[i].data);
    document->slots[i].data = NULL;
    document->slots[i].capacity = 0;
  }
  document->slots[i].is_used = cst__grow(&document->allocator, &document->slots[i].data,
                                         &document->slots[i].capacity, size, 1);
  return document->slots[i].is_used ? document->slots[i].data : NULL;
}

static size_t slot_of(const cst__json_document *document, const void *data) {
  size_t i = 0;
  while (i + 1 < CST__JSON_SLOTS && document->slots[i].data != data) {
    i++;
  }
  return i;
}

static void *slot_realloc(void *ctx, void *data, size_t old_size, size_t size) {
  cst__json_document *document = ctx;
  size_t i = slot_of(document, data);
  (void)old_size;
  return cst__grow(&document->allocator, &document->slots[i].data, &document->slots[i].capacity,
                   size, 1)
             ? document->slots[i].data
             : NULL;
}

static void slot_free(void *ctx, void *data) {
  cst__json_document *document = ctx;
  size_t i = slot_of(document, data);
  document->slots[i].is_used = false;
  if (document->slots[i].capacity > KEEP_BYTES) {
    cst__delete(document->slots[i].data);
    document->slots[i].data = NULL;
    document->slots[i].capacity = 0;
  }
}

static void drop_values(cst__json_document *document) {
  yyjson_doc_free(document->doc);
  document->doc = NULL;
}

void cst__json_document_reset(cst__json_document *document) {
  drop_values(document);
  for (size_t i = 0; i < CST__JSON_SLOTS; i++) {
    cst__delete(document->slots[i].data);
  }
  *document = (cst__json_document){.allocator = document->allocator};
}

/* ---- parsing ---- */

/* True if the text begins as a literal that Python's json writes and JSON does not have. */
static bool is_nan_literal(const uint8_t *at, size_t size) {
  static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (size >= strlen(words[i]) && memcmp(at, words[i], strlen(words[i])) == 0) {
      return true;
    }
  }
  return false;
}

static cst_status fail_parse(cst_bytes text, const yyjson_read_err *why, cst__json_fault *fault,
                             cst_error *error) {
  if (why->code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) {
    return cst__fail_memory(error, text.size);
  }
  size_t at = why->pos < text.size ? why->pos : text.size;
  *fault = (cst__json_fault){
      .at = at,
      .is_cut = why->code == YYJSON_READ_ERROR_UNEXPECTED_END,
      .is_followed = why->code == YYJSON_READ_ERROR_UNEXPECTED_CONTENT,
      .is_nan = text.size > 0 && is_nan_literal(text.data + at, text.size - at),
  };
  const char *hint =
      fault->is_nan ? "JSON has no NaN and no infinity: write them as strings, \"NaN\"" : NULL;
  return cst__fail(error, CST_CORRUPT, hint, "invalid JSON: %s",
                   text.size > 0 ? why->msg : "the text is empty");
}

cst_status cst__json_document_parse(cst__json_document *document, cst_bytes text,
                                    cst__json_numbers numbers, yyjson_val **root,
                                    cst__json_fault *fault, cst_error *error) {
  yyjson_alc memory = {slot_malloc, slot_realloc, slot_free, document};
  yyjson_read_flag flag =
      numbers == CST__JSON_TEXTS ? YYJSON_READ_NUMBER_AS_RAW : YYJSON_READ_BIGNUM_AS_RAW;
  yyjson_read_err why;
  drop_values(document);
  document->doc = yyjson_read_opts((char *)(uintptr_t)text.data, text.size, flag, &memory, &why);
  if (document->doc == NULL) {
    return fail_parse(text, &why, fault, error);
  }
  *root = yyjson_doc_get_root(document->doc);
  return CST_OK;
}

/* ---- values ---- */

const char *cst__json_kind(const yyjson_val *value) {
  switch (yyjson_get_type((void *)(uintptr_t)value)) {
    case YYJSON_TYPE_NULL:
      return "null";
    case YYJSON_TYPE_BOOL:
      return "true or false";
    case YYJSON_TYPE_RAW:
    case YYJSON_TYPE_NUM:
      return "a number";
    case YYJSON_TYPE_STR:
      return "a string";
    case YYJSON_TYPE_ARR:
      return "a list";
    default:
      return "an object";
  }
}

bool cst__json_double(yyjson_val *number, double *out) {
  if (yyjson_is_raw(number)) {
    return cst__parse_float64(unsafe_yyjson_get_raw(number), unsafe_yyjson_get_len(number), out);
  }
  *out = yyjson_get_num(number);
  return true;
}

bool cst__json_number_of(yyjson_val *string, yyjson_val *number) {
  const char *text = unsafe_yyjson_get_str(string);
  size_t size = unsafe_yyjson_get_len(string);
  return size > 0 && yyjson_read_number(text, number, 0, NULL, NULL) == text + size;
}
