/* Parts of times: year(t), hour(t), date(t); and timestamp(x), which reads a time in text.
 *
 * Dates and times without a zone are taken as they are, timestamps with one in that zone: UTC, or
 * an offset from it. Other zones would need the tables of the world's clocks, and are refused.
 */
#include <stdlib.h>

#include "base/civil.h"
#include "query/functions/cast.h"
#include "query/functions/function_list.h"
#include "text/time.h"

/* ---- types ---- */

/* How a type of times counts, by its Arrow format. */
typedef struct time_type {
  bool has_date;
  bool has_time;
  int width;           /* bytes of a value */
  int64_t per_second;  /* units; 0: days */
  int64_t zone_offset; /* seconds that the zone is ahead of UTC */
} time_type;

static int64_t units_per_second(char unit) {
  return unit == 's' ? 1 : unit == 'm' ? 1000 : unit == 'u' ? 1000000 : 1000000000;
}

/* "", "UTC", "+02:00": false for another. */
static bool read_zone(const char *zone, int64_t *offset) {
  static const char *const utc[] = {"", "UTC", "Z", "GMT", "Etc/UTC", "Etc/GMT"};
  *offset = 0;
  for (size_t i = 0; i < sizeof utc / sizeof utc[0]; i++) {
    if (strcmp(zone, utc[i]) == 0) {
      return true;
    }
  }
  return cst__parse_offset(zone, strlen(zone), offset);
}

/* False for what is no time, and for a zone that is not known. */
static bool find_time_type(const char *format, time_type *out) {
  *out = (time_type){.has_date = true, .width = 8};
  if (strncmp(format, "ts", 2) == 0) {
    out->has_time = true;
    out->per_second = units_per_second(format[2]);
    return read_zone(format + 4, &out->zone_offset);
  }
  if (strcmp(format, "tdD") == 0) {
    out->width = 4;
    return true;
  }
  if (strcmp(format, "tdm") == 0) {
    out->per_second = 1000;
    return true;
  }
  out->has_date = false;
  out->has_time = strncmp(format, "tt", 2) == 0;
  out->per_second = units_per_second(out->has_time ? format[2] : 's');
  out->width = out->per_second <= 1000 ? 4 : 8;
  return out->has_time;
}

static bool is_part_of_day(int op) {
  return op == CST__HOUR || op == CST__MINUTE || op == CST__SECOND;
}

cst_status cst__time_part_type(const cst__function *function, const cst__argument_type *args,
                               size_t num_args, cst__signature *out, cst_error *error) {
  (void)num_args;
  time_type type;
  const char *format = args[0].type.format;
  *out = (cst__signature){{function->op == CST__DATE ? "tdD" : "l"}, {{NULL}}};
  bool is_known = format != NULL && find_time_type(format, &type);
  if (!is_known && format != NULL && strncmp(format, "ts", 2) == 0) {
    return cst__fail(error, CST_SCHEMA, "convert the column to UTC",
                     "%s of the time zone '%.40s', expected UTC or an offset such as +02:00",
                     function->name, format + 4);
  }
  bool is_of_day = is_part_of_day(function->op);
  if (!is_known || (is_of_day ? !type.has_time : !type.has_date)) {
    const char *hint = !is_known && cst__value_kind_of(args[0].type) == CST__VALUE_TEXT
                           ? "timestamp(x) reads a time in text"
                           : NULL;
    return cst__argument_fail(function, args, 0,
                              is_of_day ? "a time of day or a timestamp" : "a date or a timestamp",
                              hint, error);
  }
  return CST_OK;
}

/* ---- parts ---- */

static int64_t divide_down(int64_t x, int64_t by, int64_t *rest) {
  int64_t down = x / by - (x % by < 0);
  *rest = x - down * by;
  return down;
}

enum { SECONDS_PER_DAY = 86400 };

/* The day since 1970, and the second of that day, where the zone's clocks are. */
static int64_t day_of(const time_type *type, int64_t value, int64_t *second) {
  int64_t rest = 0;
  if (type->per_second == 0) {
    *second = 0;
    return value;
  }
  int64_t seconds = divide_down(value, type->per_second, &rest);
  int64_t day = divide_down(seconds, SECONDS_PER_DAY, second);
  *second += type->zone_offset;
  return day + divide_down(*second, SECONDS_PER_DAY, second);
}

static int64_t time_part(int op, int64_t day, int64_t second) {
  cst__date date;
  int64_t rest;
  switch (op) {
    case CST__DATE:
      return day;
    case CST__HOUR:
      return second / 3600;
    case CST__MINUTE:
      return second / 60 % 60;
    case CST__SECOND:
      return second % 60;
    case CST__WEEKDAY: /* 1970 began with a Thursday */
      divide_down(day + 3, 7, &rest);
      return rest;
    default:
      break;
  }
  date = cst__date_of_days(day);
  if (op == CST__DAY_OF_YEAR) {
    const cst__date first = {date.year, 1, 1};
    return day - cst__days_of_date(&first) + 1;
  }
  return op == CST__YEAR ? date.year : op == CST__MONTH ? date.month : date.day;
}

static int64_t time_value(const cst__view *view, int width, int64_t i) {
  const uint8_t *slot = (const uint8_t *)cst__view_values(view, width) + i * width;
  int32_t narrow;
  int64_t wide;
  if (width == 4) {
    memcpy(&narrow, slot, sizeof narrow);
    return narrow;
  }
  memcpy(&wide, slot, sizeof wide);
  return wide;
}

/* The first element whose day is none that a date can have; -1: none. */
static int64_t put_time_parts(const cst__function *function, const cst__function_call *call,
                              const time_type *type, const struct ArrowArray *out, void *data) {
  for (int64_t i = 0; i < call->count; i++) {
    int64_t second = 0;
    int64_t day = 0;
    if (!cst__result_is_null(out, i)) {
      day = day_of(type, time_value(&call->args[0], type->width, call->is_one[0] ? 0 : i), &second);
    }
    if (function->op != CST__DATE) {
      ((int64_t *)data)[i] = time_part(function->op, day, second);
    } else if (day == (int32_t)day) {
      ((int32_t *)data)[i] = (int32_t)day;
    } else {
      return i;
    }
  }
  return -1;
}

cst_status cst__time_part_eval(const cst__function *function, const cst__function_call *call,
                               struct ArrowArray *out, cst_error *error) {
  time_type type;
  find_time_type(call->args[0].format, &type);
  CST__TRY(cst__result_begin(call, 1, out, error));
  void *data = cst__result_values(out, function->op == CST__DATE ? 4 : 8, error);
  if (data == NULL) {
    return cst__result_end(out, CST_NO_MEMORY);
  }
  int64_t bad = put_time_parts(function, call, &type, out, data);
  return bad < 0
             ? CST_OK
             : cst__result_end(out, cst__result_fail(function, bad, "the day does not fit 32 bits",
                                                     NULL, error));
}

/* ---- times in text ---- */

cst_status cst__timestamp_type(const cst__function *function, const cst__argument_type *args,
                               size_t num_args, cst__signature *out, cst_error *error) {
  (void)num_args;
  *out = (cst__signature){{"tsn:UTC"}, {{NULL}}};
  if (cst__value_kind_of(args[0].type) != CST__VALUE_TEXT) {
    return cst__argument_fail(function, args, 0, "text", NULL, error);
  }
  if (args[0].is_literal) {
    out->casts[0].format = "U";
  }
  return CST_OK;
}

static bool read_nanoseconds(cst_bytes text, int64_t *out) {
  cst__moment moment;
  *out = 0;
  return cst__timestamp_parse((const char *)text.data, text.size, &moment) &&
         !__builtin_mul_overflow(moment.seconds + (moment.seconds < 0), INT64_C(1000000000), out) &&
         !__builtin_add_overflow(*out, moment.nanos - (moment.seconds < 0 ? 1000000000 : 0), out);
}

static int64_t put_timestamps(const cst__function_call *call, const struct ArrowArray *out,
                              int64_t *to) {
  for (int64_t i = 0; i < call->count; i++) {
    cst_bytes text = cst__view_text(&call->args[0], cst__argument_slot(call, 0, i));
    to[i] = 0;
    if (!cst__result_is_null(out, i) && !read_nanoseconds(text, &to[i])) {
      return i;
    }
  }
  return -1;
}

cst_status cst__timestamp_eval(const cst__function *function, const cst__function_call *call,
                               struct ArrowArray *out, cst_error *error) {
  CST__TRY(cst__result_begin(call, 1, out, error));
  int64_t *to = cst__result_values(out, 8, error);
  if (to == NULL) {
    return cst__result_end(out, CST_NO_MEMORY);
  }
  int64_t bad = put_timestamps(call, out, to);
  return bad < 0 ? CST_OK
                 : cst__result_end(
                       out, cst__result_fail(function, bad,
                                             "found another text, expected a time such as "
                                             "2024-05-01T12:30:00Z, of the years 1678 to 2261",
                                             NULL, error));
}
