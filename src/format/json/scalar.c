/* Scalars of JSON text: integers of the kinds that columns tell apart, and the marks of our writer.
 */
#include <math.h>
#include <string.h>

#include "format/json/json.h"
#include "text/number.h"

/* ---- numbers ---- */

cst__json_number cst__json_read_number(const char *text, size_t size) {
  bool is_negative;
  uint64_t u = 0;
  cst__whole_kind whole = cst__parse_whole(text, size, &is_negative, &u);
  if (whole == CST__WHOLE_64 && u <= (uint64_t)INT64_MAX + is_negative) {
    return (cst__json_number){CST__JSON_INT, (int64_t)(is_negative ? 0 - u : u), u};
  }
  return (cst__json_number){whole == CST__WHOLE_NONE                  ? CST__JSON_FLOAT
                            : whole == CST__WHOLE_HUGE || is_negative ? CST__JSON_HUGE
                                                                      : CST__JSON_UINT,
                            0, u};
}

bool cst__json_read_special(const char *text, size_t size, double *out) {
  if (size == 3 && memcmp(text, "NaN", 3) == 0) {
    *out = (double)NAN;
    return true;
  }
  bool is_negative = size > 0 && text[0] == '-';
  if (size - is_negative == 8 && memcmp(text + is_negative, "Infinity", 8) == 0) {
    *out = is_negative ? -(double)INFINITY : (double)INFINITY;
    return true;
  }
  return false;
}

/* ---- bytes ---- */

yyjson_val *cst__json_base64_mark(yyjson_val *value) {
  if (!yyjson_is_obj(value) || unsafe_yyjson_get_len(value) != 1) {
    return NULL;
  }
  yyjson_val *key = unsafe_yyjson_get_first(value);
  yyjson_val *inner = key + 1;
  bool is_mark = unsafe_yyjson_get_len(key) == 6 &&
                 memcmp(unsafe_yyjson_get_str(key), "base64", 6) == 0 && yyjson_is_str(inner);
  return is_mark ? inner : NULL;
}
