/* Dates, times of day, timestamps and durations as text, both ways.
 *
 * A unit is the decimal digits of a second that it counts: 0, 3, 6 or 9. What is printed is parsed
 * to the same value; what the unit cannot hold exactly is not parsed.
 */
#ifndef TEXT_TIME_H
#define TEXT_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- to text; each returns the size, without a NUL ---- */

enum { CST__TIME_SIZE = 64 }; /* room for any of them */

/* "2024-02-29", by the days since 1970. A year beyond four digits has a sign, as in ISO 8601. */
size_t cst__print_date(char *to, int64_t days);
/* "01:02:03.000"; a negative one is no time of day, and has its sign. */
size_t cst__print_clock(char *to, int64_t value, int unit);
/* "2024-02-29T01:02:03.000", with a Z if it is an instant. */
size_t cst__print_timestamp(char *to, int64_t value, int unit, bool is_utc);
/* "1.500s", with as many digits as come in threes. */
size_t cst__print_duration(char *to, int64_t value, int unit);

/* ---- from text; false: another text, or not a value of the unit ---- */

bool cst__parse_date(const char *text, size_t size, int64_t *days);
/* hh:mm, hh:mm:ss, and digits after a point. */
bool cst__parse_clock(const char *text, size_t size, int unit, int64_t *value);
/* A date, or a date and such a time after a T or a space. An instant needs its offset from UTC (Z,
 * +02, +0200 or +02:00) and a time; without one there must be none. */
bool cst__parse_timestamp(const char *text, size_t size, int unit, bool is_utc, int64_t *value);
bool cst__parse_duration(const char *text, size_t size, int unit, int64_t *value);

/* Seconds that "+02:00" is east of UTC. */
bool cst__parse_offset(const char *text, size_t size, int64_t *seconds);

/* ---- as protobuf's JSON has them ---- */

/* Seconds and parts of them: since 1970 (nanos are not negative), or a duration (with one sign). */
typedef struct cst__moment {
  int64_t seconds;
  int32_t nanos;
} cst__moment;

/* RFC 3339, from the year 1 to 9999, with up to 9 digits of a second and any offset from UTC. */
bool cst__timestamp_parse(const char *text, size_t size, cst__moment *out);
/* Seconds with up to 9 digits after the point and an "s", up to 10,000 years. */
bool cst__duration_parse(const char *text, size_t size, cst__moment *out);
/* With 0, 3, 6 or 9 digits after the point; 0: a moment out of range. */
size_t cst__timestamp_print(cst__moment moment, char *to);
size_t cst__duration_print(cst__moment moment, char *to);

#endif /* TEXT_TIME_H */
