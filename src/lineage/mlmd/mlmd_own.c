/* What a store of MLMD that we wrote says of itself, in JSON, and MLMD has no place for. */
#include <inttypes.h>
#include <string.h>

#include "lineage/mlmd/mlmd_read.h"
#include "text/base64.h"

cst_status cst__mlmd_own_fail(const cst__mlmd_member *of, const char *name, const char *expected,
                              cst_error *error) {
  return cst__mlmd_fail_row(of->row, error, "in its property %s, \"%s\" is not %s",
                            cst__mlmd_own(of->thing->kind), name, expected);
}

const char *cst__mlmd_json_text(yyjson_val *value) {
  const char *text = yyjson_get_str(value);
  return text != NULL && strlen(text) == yyjson_get_len(value) ? text : NULL;
}

/* NULL: there is no such member, or it is null. */
static yyjson_val *find(const cst__mlmd_member *of, const char *name) {
  yyjson_val *value = yyjson_obj_get(of->thing->own, name);
  return yyjson_is_null(value) ? NULL : value;
}

static bool is_number(yyjson_val *value, int64_t *out) {
  if (!yyjson_is_int(value) || (yyjson_is_uint(value) && yyjson_get_uint(value) > INT64_MAX)) {
    return false;
  }
  *out = yyjson_get_sint(value);
  return true;
}

cst_status cst__mlmd_own_number(const cst__mlmd_member *of, const char *name, int64_t *out,
                                cst_error *error) {
  yyjson_val *value = find(of, name);
  return value == NULL || is_number(value, out) ? CST_OK
                                                : cst__mlmd_own_fail(of, name, "an integer", error);
}

cst_status cst__mlmd_own_bool(const cst__mlmd_member *of, const char *name, bool *out,
                              cst_error *error) {
  yyjson_val *value = find(of, name);
  if (value != NULL && !yyjson_is_bool(value)) {
    return cst__mlmd_own_fail(of, name, "true or false", error);
  }
  *out = value != NULL ? yyjson_get_bool(value) : *out;
  return CST_OK;
}

cst_status cst__mlmd_own_text(const cst__mlmd_member *of, const char *name, const char **out,
                              cst_error *error) {
  yyjson_val *value = find(of, name);
  const char *text = cst__mlmd_json_text(value);
  if (value != NULL && text == NULL) {
    return cst__mlmd_own_fail(of, name, "a text without NUL", error);
  }
  *out = text != NULL ? text : *out;
  return CST_OK;
}

cst_status cst__mlmd_own_list(const cst__mlmd_member *of, const char *name, yyjson_val **out,
                              cst_error *error) {
  yyjson_val *value = find(of, name);
  if (value != NULL && !yyjson_is_arr(value)) {
    return cst__mlmd_own_fail(of, name, "a list", error);
  }
  *out = value;
  return CST_OK;
}

static int digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool cst__mlmd_hex(const char *text, uint8_t *out, size_t size) {
  if (strlen(text) != 2 * size) {
    return false;
  }
  for (size_t i = 0; i < size; i++) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) {
      return false;
    }
    out[i] = (uint8_t)(high << 4 | low);
  }
  return true;
}

/* ---- properties ---- */

static bool find_kind(const char *name, cst_lineage_value_kind *out) {
  static const char *const names[] = {"int", "real", "text", "bool", "bytes"};
  for (size_t i = 0; name != NULL && i < sizeof names / sizeof *names; i++) {
    if (strcmp(names[i], name) == 0) {
      *out = (cst_lineage_value_kind)i;
      return true;
    }
  }
  return false;
}

/* The bytes of base64, in the arena; false: it is none. */
static cst_status decode(cst__mlmd_import *at, yyjson_val *value, cst_bytes *out, bool *is_right,
                         cst_error *error) {
  const char *text = yyjson_get_str(value);
  size_t size;
  *is_right =
      text != NULL && cst__base64_size(text, yyjson_get_len(value), CST__BASE64_EXACT, &size);
  if (!*is_right) {
    return CST_OK;
  }
  uint8_t *bytes = cst__arena_take(&at->arena, size + 1);
  if (bytes == NULL) {
    return cst__fail_memory(error, size);
  }
  cst__base64_decode(text, yyjson_get_len(value), bytes);
  bytes[size] = '\0';
  *out = (cst_bytes){bytes, size};
  return CST_OK;
}

/* ["name", "kind", value] */
static cst_status read_property(cst__mlmd_import *at, const cst__mlmd_member *of, yyjson_val *item,
                                cst_error *error) {
  cst_lineage_property property = {.name = cst__mlmd_json_text(yyjson_arr_get(item, 0))};
  yyjson_val *value = yyjson_arr_get(item, 2);
  bool is_right = property.name != NULL &&
                  find_kind(cst__mlmd_json_text(yyjson_arr_get(item, 1)), &property.kind);
  if (is_right && (property.kind == CST_LINEAGE_TEXT || property.kind == CST_LINEAGE_BYTES)) {
    CST__TRY(decode(at, value, &property.bytes, &is_right, error));
  } else if (is_right) {
    is_right = is_number(value, &property.number);
    if (property.kind == CST_LINEAGE_REAL) {
      memcpy(&property.real, &property.number, sizeof property.real);
    } else if (property.kind == CST_LINEAGE_BOOL) {
      property.number = property.number != 0;
    }
  }
  return is_right ? cst__mlmd_add_property(at, &property, error)
                  : cst__mlmd_own_fail(of, "properties", "a list of [name, kind, value]", error);
}

static void take_away(cst__mlmd_import *at, const char *name) {
  size_t kept = 0;
  for (size_t i = 0; i < at->num_properties; i++) {
    if (strcmp(at->list[i].name, name) != 0) {
      at->list[kept++] = at->list[i];
    }
  }
  at->num_properties = kept;
}

cst_status cst__mlmd_own_properties(cst__mlmd_import *at, const cst__mlmd_member *of,
                                    cst_error *error) {
  yyjson_val *list = NULL, *item;
  size_t i, count;
  CST__TRY(cst__mlmd_own_list(of, "derived", &list, error));
  yyjson_arr_foreach(list, i, count, item) {
    const char *name = cst__mlmd_json_text(item);
    take_away(at, name != NULL ? name : "");
  }
  CST__TRY(cst__mlmd_own_list(of, "properties", &list, error));
  yyjson_arr_foreach(list, i, count, item) { CST__TRY(read_property(at, of, item, error)); }
  return CST_OK;
}
