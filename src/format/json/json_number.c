/* Numbers as JSON text. */
#include <math.h>
#include <string.h>

#include "format/json/text.h"
#include "text/number.h"

void cst__json_uint64(cst__text *text, uint64_t value) {
  char *to = cst__text_reserve(text, CST__NUMBER_SIZE);
  text->size += to != NULL ? cst__print_uint64(to, value) : 0;
}

void cst__json_int64(cst__text *text, int64_t value) {
  char *to = cst__text_reserve(text, CST__NUMBER_SIZE);
  text->size += to != NULL ? cst__print_int64(to, value) : 0;
}

/* NaN and the infinities, which are strings; false for other values. */
static bool append_special(cst__text *text, double value) {
  if (isfinite(value)) {
    return false;
  }
  const char *special = isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  cst__text_append(text, special, strlen(special));
  return true;
}

void cst__json_float32(cst__text *text, float value) {
  char *to = append_special(text, (double)value) ? NULL : cst__text_reserve(text, CST__NUMBER_SIZE);
  text->size += to != NULL ? cst__print_float32(to, value, CST__FLOAT_PYTHON) : 0;
}

void cst__json_float64(cst__text *text, double value) {
  char *to = append_special(text, value) ? NULL : cst__text_reserve(text, CST__NUMBER_SIZE);
  text->size += to != NULL ? cst__print_float64(to, value, CST__FLOAT_PYTHON) : 0;
}
