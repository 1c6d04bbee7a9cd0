/* Timestamps and durations as text. */
#include "message/text/time_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/civil.h"

enum { NANO_DIGITS = 9, NANOS = 1000000000 };

static const int64_t first_second = INT64_C(-62135596800); /* 0001-01-01 */
static const int64_t last_second = INT64_C(253402300799);  /* 9999-12-31 */
static const int64_t most_seconds = INT64_C(315576000000); /* of a duration */

/* What is left of a text. */
typedef struct time_cursor {
  const char *at;
  const char *end;
} time_cursor;

static bool is_digit_next(const time_cursor *c) {
  return c->at < c->end && *c->at >= '0' && *c->at <= '9';
}

static bool take_char(time_cursor *c, char wanted) {
  bool there = c->at < c->end && *c->at == wanted;
  c->at += there;
  return there;
}

/* Exactly `count` digits, from `least` to `most`. */
static bool take_digits(time_cursor *c, int count, int least, int most, int *out) {
  *out = 0;
  for (int i = 0; i < count; i++) {
    if (!is_digit_next(c)) {
      return false;
    }
    *out = *out * 10 + (*c->at++ - '0');
  }
  return *out >= least && *out <= most;
}

/* What follows a point, if there is one: 1 to 9 digits. */
static bool take_fraction(time_cursor *c, int32_t *nanos) {
  int count = 0;
  *nanos = 0;
  if (!take_char(c, '.')) {
    return true;
  }
  for (; is_digit_next(c) && count < NANO_DIGITS; count++) {
    *nanos = *nanos * 10 + (*c->at++ - '0');
  }
  bool sound = count > 0;
  for (; count < NANO_DIGITS; count++) {
    *nanos *= 10;
  }
  return sound;
}

/* ---- timestamps ---- */

static bool take_date(time_cursor *c, int64_t *day) {
  int year;
  cst__date date;
  if (!take_digits(c, 4, 1, 9999, &year) || !take_char(c, '-') ||
      !take_digits(c, 2, 1, 12, &date.month) || !take_char(c, '-') ||
      !take_digits(c, 2, 1, 31, &date.day)) {
    return false;
  }
  date.year = year;
  *day = cst__days_of_date(&date);
  return cst__date_is_valid(&date);
}

static bool take_time(time_cursor *c, int64_t *second) {
  int hour;
  int minute;
  int in_minute;
  if (!take_digits(c, 2, 0, 23, &hour) || !take_char(c, ':') ||
      !take_digits(c, 2, 0, 59, &minute) || !take_char(c, ':') ||
      !take_digits(c, 2, 0, 59, &in_minute)) {
    return false;
  }
  *second = hour * 3600 + minute * 60 + in_minute;
  return true;
}

/* Seconds east of UTC. */
static bool take_offset(time_cursor *c, int64_t *offset) {
  int hours;
  int minutes;
  *offset = 0;
  if (take_char(c, 'Z')) {
    return true;
  }
  bool is_west = take_char(c, '-');
  if ((!is_west && !take_char(c, '+')) || !take_digits(c, 2, 0, 23, &hours) || !take_char(c, ':') ||
      !take_digits(c, 2, 0, 59, &minutes)) {
    return false;
  }
  *offset = (hours * 60 + minutes) * (is_west ? -60 : 60);
  return true;
}

bool cst__timestamp_parse(const char *text, size_t size, cst__moment *out) {
  time_cursor c = {text, text + size};
  int64_t day;
  int64_t second;
  int64_t offset;
  if (!take_date(&c, &day) || !take_char(&c, 'T') || !take_time(&c, &second) ||
      !take_fraction(&c, &out->nanos) || !take_offset(&c, &offset) || c.at != c.end) {
    return false;
  }
  out->seconds = day * 86400 + second - offset;
  return out->seconds >= first_second && out->seconds <= last_second;
}

/* ".5", with as many digits as come in threes; nothing for 0. */
static void print_fraction(char *to, size_t room, int32_t nanos) {
  if (nanos == 0) {
    *to = '\0';
  } else if (nanos % 1000000 == 0) {
    (void)snprintf(to, room, ".%03" PRId32, nanos / 1000000);
  } else if (nanos % 1000 == 0) {
    (void)snprintf(to, room, ".%06" PRId32, nanos / 1000);
  } else {
    (void)snprintf(to, room, ".%09" PRId32, nanos);
  }
}

bool cst__timestamp_print(cst__moment moment, char out[CST__TIME_TEXT]) {
  char fraction[16];
  if (moment.seconds < first_second || moment.seconds > last_second || moment.nanos < 0 ||
      moment.nanos >= NANOS) {
    return false;
  }
  int64_t since = moment.seconds - first_second; /* not negative */
  int second = (int)(since % 86400);
  cst__date date = cst__date_of_days(since / 86400 + first_second / 86400);
  print_fraction(fraction, sizeof fraction, moment.nanos);
  (void)snprintf(out, CST__TIME_TEXT, "%04d-%02d-%02dT%02d:%02d:%02d%sZ", (int)date.year,
                 date.month, date.day, second / 3600, second / 60 % 60, second % 60, fraction);
  return true;
}

/* ---- durations ---- */

bool cst__duration_parse(const char *text, size_t size, cst__moment *out) {
  enum { MAX_DIGITS = 12 };
  time_cursor c = {text, text + size};
  bool is_negative = take_char(&c, '-');
  int count = 0;
  out->seconds = 0;
  for (; is_digit_next(&c); count++) {
    if (count == MAX_DIGITS) {
      return false;
    }
    out->seconds = out->seconds * 10 + (*c.at++ - '0');
  }
  if (count == 0 || !take_fraction(&c, &out->nanos) || !take_char(&c, 's') || c.at != c.end) {
    return false;
  }
  bool in_range = out->seconds <= most_seconds;
  if (is_negative) {
    out->seconds = -out->seconds;
    out->nanos = -out->nanos;
  }
  return in_range;
}

bool cst__duration_print(cst__moment moment, char out[CST__TIME_TEXT]) {
  char fraction[16];
  bool is_negative = moment.seconds < 0 || moment.nanos < 0;
  if (moment.seconds < -most_seconds || moment.seconds > most_seconds || moment.nanos <= -NANOS ||
      moment.nanos >= NANOS || (moment.seconds < 0 && moment.nanos > 0) ||
      (moment.seconds > 0 && moment.nanos < 0)) {
    return false;
  }
  print_fraction(fraction, sizeof fraction, is_negative ? -moment.nanos : moment.nanos);
  (void)snprintf(out, CST__TIME_TEXT, "%s%" PRId64 "%ss", is_negative ? "-" : "",
                 is_negative ? -moment.seconds : moment.seconds, fraction);
  return true;
}
