/* Dates, times, timestamps and durations as text. */
#include <inttypes.h>
#include <stdio.h>

#include "base/civil.h"
#include "format/json/text.h"

enum { SECONDS_PER_DAY = 86400 };

/* "tdD" and so on: the third letter is the unit, but for days. */
bool cst__json_is_time(const cst__view *view) {
  return view->layout == CST__LAYOUT_OPAQUE && view->format[0] == 't' && view->format[1] != 'i';
}

static int64_t time_value(const cst__view *view, int64_t i) {
  int64_t at = view->offset + i;
  return view->fixed_size == 4 ? ((const int32_t *)view->data)[at]
                               : ((const int64_t *)view->data)[at];
}

/* Digits of a second's fraction. */
static int unit_digits(char unit) {
  return unit == 's' ? 0 : unit == 'm' ? 3 : unit == 'u' ? 6 : 9;
}

static int64_t unit_per_second(char unit) {
  return unit == 's' ? 1 : unit == 'm' ? 1000 : unit == 'u' ? 1000000 : 1000000000;
}

/* What lies before a value, in whole numbers of `per`; *rest is not negative. */
static int64_t divide_time(int64_t value, int64_t per, int64_t *rest) {
  *rest = value % per;
  *rest += *rest < 0 ? per : 0;
  return value / per - (value % per < 0);
}

/* ---- parts; each returns what it has written ---- */

/* A year beyond four digits has a sign, as ISO 8601 has it. */
static int json_put_date(char *out, size_t n, int64_t days) {
  cst__date date = cst__date_of_days(days);
  bool is_usual = date.year >= 0 && date.year <= 9999;
  return snprintf(out, n, is_usual ? "%04" PRId64 "-%02d-%02d" : "%+05" PRId64 "-%02d-%02d",
                  date.year, date.month, date.day);
}

static int put_fraction(char *out, size_t n, int64_t fraction, int digits) {
  return digits > 0 ? snprintf(out, n, ".%0*" PRId64, digits, fraction) : 0;
}

static int json_put_clock(char *out, size_t n, int64_t seconds, int64_t fraction, int digits) {
  int size = snprintf(out, n, "%02" PRId64 ":%02d:%02d", seconds / 3600, (int)(seconds / 60 % 60),
                      (int)(seconds % 60));
  return size + put_fraction(out + size, n - (size_t)size, fraction, digits);
}

/* A negative one is no time of day, and is written with its sign. */
static int json_put_time(char *out, size_t n, int64_t value, char unit) {
  int64_t per = unit_per_second(unit);
  int sign = value < 0 ? snprintf(out, n, "-") : 0;
  int64_t seconds = value / per;
  int64_t fraction = value % per;
  return sign + json_put_clock(out + sign, n - (size_t)sign, seconds < 0 ? -seconds : seconds,
                               fraction < 0 ? -fraction : fraction, unit_digits(unit));
}

static int json_put_timestamp(char *out, size_t n, int64_t value, char unit, bool has_zone) {
  int64_t fraction;
  int64_t in_day;
  int64_t seconds = divide_time(value, unit_per_second(unit), &fraction);
  int size = json_put_date(out, n, divide_time(seconds, SECONDS_PER_DAY, &in_day));
  out[size++] = 'T';
  size += json_put_clock(out + size, n - (size_t)size, in_day, fraction, unit_digits(unit));
  return size + snprintf(out + size, n - (size_t)size, "%s", has_zone ? "Z" : "");
}

/* As many digits as are needed of 0, 3, 6 and 9. */
static int json_put_duration(char *out, size_t n, int64_t value, char unit) {
  int64_t per = unit_per_second(unit);
  int digits = unit_digits(unit);
  int64_t fraction = value % per < 0 ? -(value % per) : value % per;
  while (digits > 0 && fraction % 1000 == 0) {
    fraction /= 1000;
    digits -= 3;
  }
  int64_t seconds = value / per;
  int size = snprintf(out, n, "%s%" PRId64, value < 0 && seconds == 0 ? "-" : "", seconds);
  size += put_fraction(out + size, n - (size_t)size, fraction, digits);
  return size + snprintf(out + size, n - (size_t)size, "s");
}

size_t cst__json_time(const cst__view *view, int64_t i, char out[CST__JSON_TIME_SIZE]) {
  const size_t n = CST__JSON_TIME_SIZE;
  int64_t value = time_value(view, i);
  int64_t ignored;
  char unit = view->format[2];
  int size;
  switch (view->format[1]) {
    case 'd':
      value = unit == 'D' ? value : divide_time(value, INT64_C(1000) * SECONDS_PER_DAY, &ignored);
      size = json_put_date(out, n, value);
      break;
    case 't':
      size = json_put_time(out, n, value, unit);
      break;
    case 's': /* "tsn:zone" */
      size = json_put_timestamp(out, n, value, unit, view->format[4] != '\0');
      break;
    default:
      size = json_put_duration(out, n, value, unit);
      break;
  }
  return (size_t)size;
}
