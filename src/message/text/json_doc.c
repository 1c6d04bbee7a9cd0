/* JSON text, and the stack for walks through it. */
#include "message/text/json_doc.h"

#include <stdlib.h>
#include <string.h>

void cst__json_doc_reset(cst__json_doc *json) {
  cst__json_document_reset(&json->document);
  cst__delete(json->stack);
  json->stack = NULL;
  json->num_stack = json->stack_capacity = 0;
}

cst_status cst__json_doc_parse(cst__json_doc *json, cst_bytes text, yyjson_val **root,
                               cst_error *error) {
  cst__json_fault fault;
  json->num_stack = 0;
  cst_status status =
      cst__json_document_parse(&json->document, text, CST__JSON_VALUES, root, &fault, error);
  if (status == CST_CORRUPT) {
    cst__error_add_record(error, -1, (int64_t)fault.at);
  }
  return status;
}

cst_status cst__json_doc_fail_at(const cst__json_doc *json, const yyjson_val *string,
                                 cst_status status, cst_error *error) {
  /* A string is unescaped where it stands in yyjson's copy of the text, after its quote. */
  int64_t at = string != NULL ? unsafe_yyjson_get_str((void *)(uintptr_t)string) -
                                    json->document.doc->str_pool - 1
                              : 0;
  cst__error_add_record(error, -1, at);
  return status;
}

/* ---- objects ---- */

cst_status cst__json_doc_push(cst__json_doc *json, yyjson_val *value, cst_error *error) {
  if (!cst__grow(&json->document.allocator, (void **)&json->stack, &json->stack_capacity,
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
      (void)cst__fail(error, CST_CORRUPT, "remove one of them", "an object has a duplicate key");
      return cst__json_doc_fail_at(json, json->stack[i], CST_CORRUPT, error);
    }
  }
  return CST_OK;
}
