/* The calendar repeats after 400 years. Years are taken to begin with March, so that a leap day is
 * the last of its year, and the days before a month are (153 month + 2) / 5 for all of them.
 */
#include "base/civil.h"

enum {
  DAYS_PER_400_YEARS = 146097,
  DAYS_PER_100_YEARS = 36524,
  DAYS_PER_4_YEARS = 1461,
  DAYS_BEFORE_1970 = 719468 /* from March 1 of the year 0 */
};

cst__date cst__date_of_days(int64_t days) {
  int64_t since = days + DAYS_BEFORE_1970;
  int64_t era = cst__floor_div(since, DAYS_PER_400_YEARS);
  int64_t in_era = since - era * DAYS_PER_400_YEARS;
  int64_t leap_days = in_era / DAYS_PER_100_YEARS - in_era / (DAYS_PER_4_YEARS - 1) -
                      in_era / (DAYS_PER_400_YEARS - 1);
  int64_t year = (in_era + leap_days) / 365;
  int64_t day = in_era - (365 * year + year / 4 - year / 100);
  int64_t month = (5 * day + 2) / 153; /* 0: March */
  return (cst__date){.year = era * 400 + year + (month >= 10),
                     .month = (int)(month < 10 ? month + 3 : month - 9),
                     .day = (int)(day - (153 * month + 2) / 5 + 1)};
}

int64_t cst__days_of_date(const cst__date *date) {
  int64_t year = date->year - (date->month <= 2);
  int64_t month = date->month > 2 ? date->month - 3 : date->month + 9;
  int64_t era = cst__floor_div(year, 400);
  int64_t in_era = year - era * 400;
  return era * DAYS_PER_400_YEARS + in_era * 365 + in_era / 4 - in_era / 100 +
         (153 * month + 2) / 5 + date->day - 1 - DAYS_BEFORE_1970;
}

bool cst__date_is_valid(const cst__date *date) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool is_leap = date->year % 4 == 0 && (date->year % 100 != 0 || date->year % 400 == 0);
  return date->month >= 1 && date->month <= 12 && date->day >= 1 &&
         date->day <= days[date->month - 1] + (date->month == 2 && is_leap);
}
