/* Dates, times, timestamps and durations as text. */
#include "format/json/text.h"
#include "text/time.h"

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

size_t cst__json_time(const cst__view *view, int64_t i, char out[CST__TIME_SIZE]) {
  enum { MS_PER_DAY = 86400000 };
  int64_t value = time_value(view, i);
  char unit = view->format[2];
  switch (view->format[1]) {
    case 'd':
      return cst__print_date(out,
                             unit == 'D' ? value : value / MS_PER_DAY - (value % MS_PER_DAY < 0));
    case 't':
      return cst__print_clock(out, value, unit_digits(unit));
    case 's': /* "tsn:zone" */
      return cst__print_timestamp(out, value, unit_digits(unit), view->format[4] != '\0');
    default:
      return cst__print_duration(out, value, unit_digits(unit));
  }
}
