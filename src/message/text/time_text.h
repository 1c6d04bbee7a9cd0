/* Timestamps and durations as protobuf's JSON has them: "1972-01-01T10:00:20.021Z", "-1.5s". */
#ifndef MESSAGE_TIME_TEXT_H
#define MESSAGE_TIME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CST__TIME_TEXT = 64 }; /* room for either, and its NUL */

/* Seconds and parts of them, with one sign. */
typedef struct cst__moment {
  int64_t seconds;
  int32_t nanos;
} cst__moment;

/* RFC 3339, from the year 1 to 9999, with up to 9 digits of a second and any offset from UTC. */
bool cst__timestamp_parse(const char *text, size_t size, cst__moment *out);
/* Seconds with up to 9 digits after the point and an "s", up to 10,000 years. */
bool cst__duration_parse(const char *text, size_t size, cst__moment *out);

/* With 0, 3, 6 or 9 digits after the point. False for a moment out of range. */
bool cst__timestamp_print(cst__moment moment, char out[CST__TIME_TEXT]);
bool cst__duration_print(cst__moment moment, char out[CST__TIME_TEXT]);

#endif /* MESSAGE_TIME_TEXT_H */
