/* JSON text, parsed by yyjson. */
#include "message/text/json_doc.h"

#include <stdlib.h>
#include <string.h>

/* ---- parsing ---- */

static void *doc_malloc(void *ctx, size_t size) { return cst__new(ctx, size); }

static void *doc_realloc(void *ctx, void *data, size_t old_size, size_t size) {
  (void)old_size;
  return cst__renew(ctx, data, size);
}

static void doc_free(void *ctx, void *data) {
  (void)ctx;
  cst__delete(data);
}

static void drop_doc(cst__json_doc *json) {
  yyjson_doc_free(json->doc);
  json->doc = NULL;
}

void cst__json_doc_reset(cst__json_doc *json) {
  drop_doc(json);
  cst__delete(json->stack);
  *json = (cst__json_doc){.allocator = json->allocator};
}

static bool doc_begins_with(const char *at, size_t size, const char *word) {
  return size >= strlen(word) && memcmp(at, word, strlen(word)) == 0;
}

static const char *doc_parse_hint(cst_bytes text, size_t at) {
  const char *from = (const char *)text.data + at;
  size_t size = text.size - at;
  if (doc_begins_with(from, size, "NaN") || doc_begins_with(from, size, "Infinity") ||
      doc_begins_with(from, size, "-Infinity")) {
    return "JSON has no NaN and no infinity: write them as strings, \"NaN\"";
  }
  return NULL;
}

cst_status cst__json_doc_parse(cst__json_doc *json, cst_bytes text, yyjson_val **root,
                               cst_error *error) {
  yyjson_alc memory = {doc_malloc, doc_realloc, doc_free, &json->allocator};
  yyjson_read_err why;
  drop_doc(json);
  json->num_stack = 0;
  if (text.size == 0) {
    (void)cst__fail(error, CST_CORRUPT, NULL, "not valid JSON: the text is empty");
    return cst__json_doc_fail_at(json, NULL, CST_CORRUPT, error);
  }
  json->doc = yyjson_read_opts((char *)(uintptr_t)text.data, text.size, YYJSON_READ_BIGNUM_AS_RAW,
                               &memory, &why);
  if (json->doc == NULL && why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) {
    return cst__fail_memory(error, text.size);
  }
  if (json->doc == NULL) {
    size_t at = why.pos < text.size ? why.pos : text.size;
    (void)cst__fail(error, CST_CORRUPT, doc_parse_hint(text, at), "not valid JSON: %s", why.msg);
    cst__error_add_record(error, -1, (int64_t)at);
    return CST_CORRUPT;
  }
  *root = yyjson_doc_get_root(json->doc);
  return CST_OK;
}

cst_status cst__json_doc_fail_at(const cst__json_doc *json, const yyjson_val *string,
                                 cst_status status, cst_error *error) {
  /* A string is unescaped where it stands in yyjson's copy of the text, after its quote. */
  int64_t at = string != NULL
                   ? unsafe_yyjson_get_str((void *)(uintptr_t)string) - json->doc->str_pool - 1
                   : 0;
  cst__error_add_record(error, -1, at);
  return status;
}

/* ---- objects ---- */

cst_status cst__json_doc_push(cst__json_doc *json, yyjson_val *value, cst_error *error) {
  if (!cst__grow(&json->allocator, (void **)&json->stack, &json->stack_capacity,
                 json->num_stack + 1, sizeof value)) {
    return cst__fail_memory(error, json->num_stack * sizeof value);
  }
  json->stack[json->num_stack++] = value;
  return CST_OK;
}

static int compare_doc_keys(const void *a, const void *b) {
  yyjson_val *ka = *(yyjson_val *const *)a;
  yyjson_val *kb = *(yyjson_val *const *)b;
  size_t size_a = unsafe_yyjson_get_len(ka);
  size_t size_b = unsafe_yyjson_get_len(kb);
  int order = memcmp(unsafe_yyjson_get_str(ka), unsafe_yyjson_get_str(kb),
                     size_a < size_b ? size_a : size_b);
  return order != 0 ? order : (size_a < size_b) - (size_a > size_b); /* upb's order */
}

static void sort_doc_keys(yyjson_val **keys, size_t count) {
  enum { FEW = 16 };
  if (count > FEW) {
    qsort(keys, count, sizeof *keys, compare_doc_keys);
    return;
  }
  for (size_t i = 1; i < count; i++) {
    yyjson_val *key = keys[i];
    size_t j = i;
    for (; j > 0 && compare_doc_keys(&keys[j - 1], &key) > 0; j--) {
      keys[j] = keys[j - 1];
    }
    keys[j] = key;
  }
}

cst_status cst__json_doc_push_keys(cst__json_doc *json, yyjson_val *object, cst_error *error) {
  size_t first = json->num_stack;
  size_t i;
  size_t count;
  yyjson_val *key;
  yyjson_val *value;
  yyjson_obj_foreach(object, i, count, key, value) {
    CST__TRY(cst__json_doc_push(json, key, error));
  }
  count = json->num_stack - first;
  if (count > 1) {
    sort_doc_keys(json->stack + first, count);
  }
  for (i = first + 1; i < first + count; i++) {
    if (compare_doc_keys(&json->stack[i - 1], &json->stack[i]) == 0) {
      (void)cst__fail(error, CST_CORRUPT, "remove one of them", "an object has a key twice");
      return cst__json_doc_fail_at(json, json->stack[i], CST_CORRUPT, error);
    }
  }
  return CST_OK;
}

/* ---- values ---- */

const char *cst__json_doc_kind(const yyjson_val *value) {
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

bool cst__json_doc_double(yyjson_val *number, double *out) {
  yyjson_val big;
  if (yyjson_is_raw(number)) {
    if (yyjson_read_number(unsafe_yyjson_get_raw(number), &big, 0, NULL, NULL) == NULL) {
      return false;
    }
    number = &big;
  }
  *out = yyjson_get_num(number);
  return true;
}

bool cst__json_doc_number_of(yyjson_val *string, yyjson_val *number) {
  const char *text = unsafe_yyjson_get_str(string);
  size_t size = unsafe_yyjson_get_len(string);
  return size > 0 && yyjson_read_number(text, number, 0, NULL, NULL) == text + size;
}
