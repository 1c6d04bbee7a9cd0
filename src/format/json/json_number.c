/* Numbers as JSON text. */
#include <math.h>
#include <string.h>

#include "format/json/text.h"
#include "text/number.h"

void cst__json_uint64(cst__json_text *text, uint64_t value) {
  char buf[CST__NUMBER_SIZE];
  cst__json_append(text, buf, cst__print_uint64(buf, value));
}

void cst__json_int64(cst__json_text *text, int64_t value) {
  char buf[CST__NUMBER_SIZE];
  cst__json_append(text, buf, cst__print_int64(buf, value));
}

/* NaN and the infinities, which are strings; false for other values. */
static bool append_special(cst__json_text *text, double value) {
  if (isfinite(value)) {
    return false;
  }
  const char *special = isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  cst__json_append(text, special, strlen(special));
  return true;
}

void cst__json_float32(cst__json_text *text, float value) {
  char buf[CST__NUMBER_SIZE];
  if (!append_special(text, (double)value)) {
    cst__json_append(text, buf, cst__print_float32(buf, value, CST__FLOAT_PYTHON));
  }
}

void cst__json_float64(cst__json_text *text, double value) {
  char buf[CST__NUMBER_SIZE];
  if (!append_special(text, value)) {
    cst__json_append(text, buf, cst__print_float64(buf, value, CST__FLOAT_PYTHON));
  }
}
