/* Real numbers of options as text. strtod and printf write the point as the locale does, so texts
 * that they see have none.
 */
#include "base/real.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* "e-12" and no more. */
static bool read_exponent(const char *text, long *exponent) {
  char *end;
  bool has_sign = text[1] == '-' || text[1] == '+';
  if ((*text != 'e' && *text != 'E') || !is_digit(text[1 + has_sign])) {
    return false;
  }
  *exponent = strtol(text + 1, &end, 10);
  return *end == '\0' && *exponent >= -100000 && *exponent <= 100000;
}

bool cst__real_parse(const char *text, double *out) {
  enum { MOST_DIGITS = 100 };
  char plain[MOST_DIGITS + 32]; /* the digits as a whole number, and an exponent */
  size_t digits = 0;
  long fraction = 0;
  long exponent = 0;
  bool has_point = false;
  bool negative = *text == '-';
  text += negative || *text == '+';
  for (; is_digit(*text) || (*text == '.' && !has_point); text++) {
    if (*text == '.') {
      has_point = true;
    } else if (digits < MOST_DIGITS) {
      plain[digits++] = *text;
      fraction += has_point;
    } else {
      return false;
    }
  }
  if (digits == 0 || (*text != '\0' && !read_exponent(text, &exponent))) {
    return false;
  }
  snprintf(plain + digits, sizeof plain - digits, "e%ld", exponent - fraction);
  double size = strtod(plain, NULL);
  *out = negative ? -size : size;
  return isfinite(size);
}

/* Whatever stands for the point becomes one. */
static void write_point(char *text) {
  char *to = text;
  for (const char *c = text; *c != '\0'; c++) {
    if (is_digit(*c) || strchr("+-e", *c) != NULL) {
      *to++ = *c;
    } else if (to > text && to[-1] != '.') {
      *to++ = '.';
    }
  }
  *to = '\0';
}

void cst__real_print(char room[CST__REAL_ROOM], double value) {
  double back = 0;
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(room, CST__REAL_ROOM, "%.*g", digits, value);
    write_point(room);
    if (cst__real_parse(room, &back) && memcmp(&back, &value, sizeof back) == 0) {
      break;
    }
  }
}
