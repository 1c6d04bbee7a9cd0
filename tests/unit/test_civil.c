/* Days and dates. */
#include "base/civil.h"

#include "harness.h"

static void check_date(int64_t days, int64_t year, int month, int day) {
  cst__date date = cst__date_of_days(days);
  CHECK_EQ(date.year, year);
  CHECK_EQ(date.month, month);
  CHECK_EQ(date.day, day);
  CHECK_EQ(cst__days_of_date(&date), days);
}

TEST(known_days) {
  check_date(0, 1970, 1, 1);
  check_date(-1, 1969, 12, 31);
  check_date(11016, 2000, 2, 29);
  check_date(11017, 2000, 3, 1);
  check_date(-25510, 1900, 2, 27);
  check_date(-25509, 1900, 2, 28);
  check_date(-25508, 1900, 3, 1);
  check_date(-719162, 1, 1, 1);
  check_date(-719163, 0, 12, 31);
  check_date(2932896, 9999, 12, 31);
  check_date(INT64_C(106751991167300), INT64_C(292277026596), 12, 4);
}

TEST(every_day_of_four_centuries_follows_the_one_before) {
  cst__date date = {1799, 12, 31};
  for (int64_t day = -62091; day < 84006; day++) {
    cst__date next = cst__date_of_days(day);
    CHECK_EQ(cst__days_of_date(&next), day);
    CHECK(cst__date_is_valid(&next));
    cst__date tomorrow = {date.year, date.month, date.day + 1};
    if (!cst__date_is_valid(&tomorrow)) {
      tomorrow = (cst__date){date.year + (date.month == 12), date.month % 12 + 1, 1};
    }
    CHECK(next.year == tomorrow.year && next.month == tomorrow.month && next.day == tomorrow.day);
    date = next;
  }
  CHECK_EQ(date.year, 2199);
}

TEST(dates_that_are_none) {
  static const cst__date dates[] = {{2024, 0, 1},  {2024, 13, 1}, {2024, 1, 0}, {2024, 4, 31},
                                    {2023, 2, 29}, {1900, 2, 29}, {2000, 2, 30}};
  for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++) {
    CHECK(!cst__date_is_valid(&dates[i]));
  }
}
