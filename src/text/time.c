/* Times as text: parts of them, and what they are put together to. */
#include "text/time.h"

#include <string.h>

#include "base/civil.h"
#include "text/digits.h"
#include "text/number.h"

enum { NANO_DIGITS = 9, NANOS = 1000000000, SECONDS_PER_DAY = 86400 };

static const int64_t first_second = INT64_C(-62135596800); /* 0001-01-01 */
static const int64_t last_second = INT64_C(253402300799);  /* 9999-12-31 */
static const int64_t most_seconds = INT64_C(315576000000); /* of protobuf's durations */

static int64_t power_of_ten(int digits) {
  static const int64_t powers[] = {1,      10,      100,      1000,      10000,
                                   100000, 1000000, 10000000, 100000000, 1000000000};
  return powers[digits];
}

/* What lies before a value, in whole numbers of `per`; *rest is not negative. */
static int64_t divide_down(int64_t value, int64_t per, int64_t *rest) {
  *rest = value % per;
  *rest += *rest < 0 ? per : 0;
  return value / per - (value % per < 0);
}

/* ---- printing ---- */

static char *put_digits(char *to, uint64_t value, int count) {
  for (int i = count; i-- > 0; value /= 10) {
    to[i] = (char)('0' + value % 10);
  }
  return to + count;
}

/* At least `count` digits. */
static char *put_padded(char *to, uint64_t value, int count) {
  return value < (uint64_t)power_of_ten(count) ? put_digits(to, value, count)
                                               : to + cst__print_uint64(to, value);
}

static char *put_date(char *to, int64_t days) {
  cst__date date = cst__date_of_days(days);
  if (date.year < 0 || date.year > 9999) {
    *to++ = date.year < 0 ? '-' : '+';
  }
  to = put_padded(to, (uint64_t)(date.year < 0 ? -date.year : date.year), 4);
  *to++ = '-';
  to = put_digits(to, (uint64_t)date.month, 2);
  *to++ = '-';
  return put_digits(to, (uint64_t)date.day, 2);
}

static char *put_fraction(char *to, uint64_t fraction, int digits) {
  if (digits > 0) {
    *to++ = '.';
  }
  return put_digits(to, fraction, digits);
}

/* Only as many digits as come in threes. */
static char *put_short_fraction(char *to, uint64_t fraction, int digits) {
  while (digits > 0 && fraction % 1000 == 0) {
    fraction /= 1000;
    digits -= 3;
  }
  return put_fraction(to, fraction, digits);
}

static char *put_clock(char *to, uint64_t seconds) {
  to = put_padded(to, seconds / 3600, 2);
  *to++ = ':';
  to = put_digits(to, seconds / 60 % 60, 2);
  *to++ = ':';
  return put_digits(to, seconds % 60, 2);
}

static char *put_date_and_clock(char *to, int64_t seconds) {
  int64_t in_day;
  to = put_date(to, divide_down(seconds, SECONDS_PER_DAY, &in_day));
  *to++ = 'T';
  return put_clock(to, (uint64_t)in_day);
}

size_t cst__print_date(char *to, int64_t days) { return (size_t)(put_date(to, days) - to); }

/* The value without its sign, which is put. */
static char *put_sign(char *to, int64_t value, uint64_t *size) {
  *size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  *to = '-';
  return to + (value < 0);
}

size_t cst__print_clock(char *to, int64_t value, int unit) {
  uint64_t size;
  uint64_t per = (uint64_t)power_of_ten(unit);
  char *at = put_sign(to, value, &size);
  at = put_clock(at, size / per);
  return (size_t)(put_fraction(at, size % per, unit) - to);
}

size_t cst__print_timestamp(char *to, int64_t value, int unit, bool is_utc) {
  int64_t fraction;
  char *at = put_date_and_clock(to, divide_down(value, power_of_ten(unit), &fraction));
  at = put_fraction(at, (uint64_t)fraction, unit);
  *at = 'Z';
  return (size_t)(at + is_utc - to);
}

size_t cst__print_duration(char *to, int64_t value, int unit) {
  uint64_t size;
  uint64_t per = (uint64_t)power_of_ten(unit);
  char *at = put_sign(to, value, &size);
  at += cst__print_uint64(at, size / per);
  at = put_short_fraction(at, size % per, unit);
  *at = 's';
  return (size_t)(at + 1 - to);
}

size_t cst__timestamp_print(cst__moment moment, char *to) {
  if (moment.seconds < first_second || moment.seconds > last_second || moment.nanos < 0 ||
      moment.nanos >= NANOS) {
    return 0;
  }
  char *at = put_date_and_clock(to, moment.seconds);
  at = put_short_fraction(at, (uint64_t)moment.nanos, NANO_DIGITS);
  *at = 'Z';
  return (size_t)(at + 1 - to);
}

size_t cst__duration_print(cst__moment moment, char *to) {
  bool is_negative = moment.seconds < 0 || moment.nanos < 0;
  if (moment.seconds < -most_seconds || moment.seconds > most_seconds || moment.nanos <= -NANOS ||
      moment.nanos >= NANOS || (moment.seconds < 0 && moment.nanos > 0) ||
      (moment.seconds > 0 && moment.nanos < 0)) {
    return 0;
  }
  *to = '-';
  char *at = to + is_negative;
  at += cst__print_uint64(at, (uint64_t)(is_negative ? -moment.seconds : moment.seconds));
  at = put_short_fraction(at, (uint64_t)(is_negative ? -moment.nanos : moment.nanos), NANO_DIGITS);
  *at = 's';
  return (size_t)(at + 1 - to);
}

/* ---- parsing: parts ---- */

/* What is left of a text. */
typedef struct cursor {
  const char *at;
  const char *end;
} cursor;

static bool sees_digit(const cursor *c) { return c->at < c->end && cst__is_digit((uint8_t)*c->at); }

static bool take_char(cursor *c, char wanted) {
  bool there = c->at < c->end && *c->at == wanted;
  c->at += there;
  return there;
}

/* Exactly `count` digits, from `least` to `most`. */
static bool take_part(cursor *c, int count, int least, int most, int *out) {
  *out = 0;
  for (int i = 0; i < count; i++) {
    if (!sees_digit(c)) {
      return false;
    }
    *out = *out * 10 + (*c->at++ - '0');
  }
  return *out >= least && *out <= most;
}

/* From `least` to `most` digits, of which there are no more. */
static bool take_whole(cursor *c, int least, int most, int64_t *out) {
  int count = 0;
  *out = 0;
  for (; sees_digit(c) && count < most; count++) {
    *out = *out * 10 + (*c->at++ - '0');
  }
  return count >= least && !sees_digit(c);
}

/* What follows a point, if there is one: digits, of which those beyond nanoseconds are 0, or
 * (`is_strict`) none. */
static bool take_fraction(cursor *c, bool is_strict, int32_t *nanos) {
  int count = 0;
  *nanos = 0;
  if (!take_char(c, '.')) {
    return true;
  }
  for (; sees_digit(c) && (count < NANO_DIGITS || (!is_strict && *c->at == '0'));
       count++, c->at++) {
    *nanos = count < NANO_DIGITS ? *nanos * 10 + (*c->at - '0') : *nanos;
  }
  *nanos *= count < NANO_DIGITS ? (int32_t)power_of_ten(NANO_DIGITS - count) : 1;
  return count > 0;
}

/* A year of four digits, or of more with a sign. */
static bool take_date(cursor *c, int64_t *days) {
  enum { MAX_YEAR_DIGITS = 12 };
  cst__date date;
  bool is_before = take_char(c, '-');
  bool is_signed = is_before || take_char(c, '+');
  if (!take_whole(c, 4, is_signed ? MAX_YEAR_DIGITS : 4, &date.year) || !take_char(c, '-') ||
      !take_part(c, 2, 1, 12, &date.month) || !take_char(c, '-') ||
      !take_part(c, 2, 1, 31, &date.day)) {
    return false;
  }
  date.year = is_before ? -date.year : date.year;
  *days = cst__days_of_date(&date);
  return cst__date_is_valid(&date);
}

static bool take_minute_and_second(cursor *c, bool needs_second, int64_t hours, int64_t *seconds) {
  int minute;
  int second = 0;
  if (!take_char(c, ':') || !take_part(c, 2, 0, 59, &minute)) {
    return false;
  }
  bool has_second = take_char(c, ':');
  *seconds = hours * 3600 + minute * 60;
  if (has_second && !take_part(c, 2, 0, 59, &second)) {
    return false;
  }
  *seconds += second;
  return has_second || !needs_second;
}

/* Seconds east of UTC; `is_strict`: in RFC 3339's form. */
static bool take_offset(cursor *c, bool is_strict, int64_t *offset) {
  int hours;
  int minutes = 0;
  *offset = 0;
  if (take_char(c, 'Z') || (!is_strict && take_char(c, 'z'))) {
    return true;
  }
  bool is_west = take_char(c, '-');
  if ((!is_west && !take_char(c, '+')) || !take_part(c, 2, 0, 23, &hours)) {
    return false;
  }
  bool has_colon = take_char(c, ':');
  if ((is_strict && !has_colon) ||
      ((has_colon || sees_digit(c)) && !take_part(c, 2, 0, 59, &minutes))) {
    return false;
  }
  *offset = (hours * 60 + minutes) * (is_west ? -60 : 60);
  return true;
}

/* ---- parsing ---- */

/* Seconds and parts of them, in a unit; false: more than 64 bits, or digits that it has not. */
static bool to_unit(int64_t seconds, int32_t nanos, int unit, int64_t *value) {
  int32_t size = (int32_t)power_of_ten(NANO_DIGITS - unit);
  __int128 whole = (__int128)seconds * power_of_ten(unit) + nanos / size;
  *value = (int64_t)whole;
  return nanos % size == 0 && whole == *value;
}

bool cst__parse_date(const char *text, size_t size, int64_t *days) {
  cursor c = {text, text + size};
  return take_date(&c, days) && c.at == c.end;
}

bool cst__parse_clock(const char *text, size_t size, int unit, int64_t *value) {
  enum { MAX_HOUR_DIGITS = 15 };
  cursor c = {text, text + size};
  bool is_negative = take_char(&c, '-');
  int64_t hours;
  int64_t seconds;
  int32_t nanos = 0;
  if (!take_whole(&c, 2, MAX_HOUR_DIGITS, &hours) ||
      !take_minute_and_second(&c, false, hours, &seconds) || !take_fraction(&c, false, &nanos) ||
      c.at != c.end) {
    return false;
  }
  return to_unit(is_negative ? -seconds : seconds, is_negative ? -nanos : nanos, unit, value);
}

/* What RFC 3339 wants, or more: a space for the T, no seconds, other offsets, no time at all. */
static bool parse_instant(cursor *c, bool is_strict, bool is_utc, cst__moment *out) {
  int64_t days;
  int hours;
  int64_t in_day = 0;
  int64_t offset = 0;
  out->nanos = 0;
  if (!take_date(c, &days)) {
    return false;
  }
  if (is_strict || is_utc || c->at < c->end) {
    bool has_time = take_char(c, 'T') || (!is_strict && (take_char(c, ' ') || take_char(c, 't')));
    if (!has_time || !take_part(c, 2, 0, 23, &hours) ||
        !take_minute_and_second(c, is_strict, hours, &in_day) ||
        !take_fraction(c, is_strict, &out->nanos) ||
        (is_utc && !take_offset(c, is_strict, &offset))) {
      return false;
    }
  }
  __int128 seconds = (__int128)days * SECONDS_PER_DAY + in_day - offset;
  out->seconds = (int64_t)seconds;
  return c->at == c->end && seconds == out->seconds;
}

bool cst__parse_timestamp(const char *text, size_t size, int unit, bool is_utc, int64_t *value) {
  cursor c = {text, text + size};
  cst__moment moment;
  return parse_instant(&c, false, is_utc, &moment) &&
         to_unit(moment.seconds, moment.nanos, unit, value);
}

bool cst__parse_duration(const char *text, size_t size, int unit, int64_t *value) {
  cursor c = {text, text + size};
  bool is_negative = take_char(&c, '-');
  const char *begin = c.at;
  int64_t seconds;
  int32_t nanos;
  while (sees_digit(&c)) {
    c.at++;
  }
  if (!cst__parse_int64(text, (size_t)(c.at - text), &seconds) || c.at == begin ||
      !take_fraction(&c, false, &nanos) || !take_char(&c, 's')) {
    return false;
  }
  return to_unit(seconds, is_negative ? -nanos : nanos, unit, value) && c.at == c.end;
}

bool cst__parse_offset(const char *text, size_t size, int64_t *seconds) {
  cursor c = {text, text + size};
  return size > 0 && *text != 'Z' && take_offset(&c, true, seconds) && c.at == c.end;
}

bool cst__timestamp_parse(const char *text, size_t size, cst__moment *out) {
  cursor c = {text, text + size};
  return size > 0 && cst__is_digit((uint8_t)*text) && parse_instant(&c, true, true, out) &&
         out->seconds >= first_second && out->seconds <= last_second;
}

bool cst__duration_parse(const char *text, size_t size, cst__moment *out) {
  enum { MAX_DIGITS = 12 };
  cursor c = {text, text + size};
  bool is_negative = take_char(&c, '-');
  if (!take_whole(&c, 1, MAX_DIGITS, &out->seconds) || !take_fraction(&c, true, &out->nanos) ||
      !take_char(&c, 's') || c.at != c.end) {
    return false;
  }
  bool in_range = out->seconds <= most_seconds;
  if (is_negative) {
    out->seconds = -out->seconds;
    out->nanos = -out->nanos;
  }
  return in_range;
}
