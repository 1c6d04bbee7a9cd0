/* Days of the proleptic Gregorian calendar, counted from 1970-01-01. */
#ifndef BASE_CIVIL_H
#define BASE_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cst__date {
  int64_t year; /* 0 is the year before 1 */
  int month;    /* 1 to 12 */
  int day;      /* 1 to 31 */
} cst__date;

/* Rounded down, for a positive divisor: the unit of time that something before 1970 falls into. */
static inline int64_t cst__floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* Of any day that lies less than 10^15 days away. */
cst__date cst__date_of_days(int64_t days);
/* Of a valid date whose year has at most 12 digits. */
int64_t cst__days_of_date(const cst__date *date);
/* The month is one, and has that day in that year. */
bool cst__date_is_valid(const cst__date *date);

#endif /* BASE_CIVIL_H */
