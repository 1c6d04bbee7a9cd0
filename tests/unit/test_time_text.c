/* Timestamps and durations as text. */
#include "message/text/time_text.h"

#include <string.h>

#include "harness.h"

static void check_timestamp(const char *text, int64_t seconds, int32_t nanos, const char *printed) {
  cst__moment moment;
  char out[CST__TIME_TEXT];
  CHECK(cst__timestamp_parse(text, strlen(text), &moment));
  CHECK_EQ(moment.seconds, seconds);
  CHECK_EQ(moment.nanos, nanos);
  CHECK(cst__timestamp_print(moment, out));
  CHECK_STR(out, printed);
}

static void check_no_timestamp(const char *text) {
  cst__moment moment;
  CHECK(!cst__timestamp_parse(text, strlen(text), &moment));
}

TEST(timestamps) {
  check_timestamp("1970-01-01T00:00:00Z", 0, 0, "1970-01-01T00:00:00Z");
  check_timestamp("0001-01-01T00:00:00Z", -62135596800, 0, "0001-01-01T00:00:00Z");
  check_timestamp("9999-12-31T23:59:59.999999999Z", 253402300799, 999999999,
                  "9999-12-31T23:59:59.999999999Z");
  check_timestamp("2024-02-29T12:30:01.5+02:30", 1709200801, 500000000, "2024-02-29T10:00:01.500Z");
  check_timestamp("1969-12-31T19:00:00.000001-05:00", 0, 1000, "1970-01-01T00:00:00.000001Z");
  check_timestamp("1970-01-01T23:59:00+23:59", 0, 0, "1970-01-01T00:00:00Z");
  check_timestamp("2000-12-31T00:00:00Z", 978220800, 0, "2000-12-31T00:00:00Z");
}

TEST(no_timestamps) {
  check_no_timestamp("");
  check_no_timestamp("1970-01-01");
  check_no_timestamp("1970-01-01T00:00:00");
  check_no_timestamp("1970-01-01t00:00:00Z");
  check_no_timestamp("1970-01-01T00:00:00Zx");
  check_no_timestamp("1970-1-1T0:0:0Z");
  check_no_timestamp("1970-13-01T00:00:00Z");
  check_no_timestamp("1900-02-29T00:00:00Z");
  check_no_timestamp("1970-01-01T24:00:00Z");
  check_no_timestamp("1970-01-01T00:00:60Z");
  check_no_timestamp("1970-01-01T00:00:00.Z");
  check_no_timestamp("1970-01-01T00:00:00.1234567890Z");
  check_no_timestamp("0001-01-01T00:00:00+00:01");
  check_no_timestamp("0000-01-01T00:00:00Z");
  check_no_timestamp("1970-01-02T00:00:00+24:00");
  check_no_timestamp("1970-01-02T00:00:00-99:59");
  check_no_timestamp("1970-01-02T00:00:00+23:60");
}

static void check_duration(const char *text, int64_t seconds, int32_t nanos, const char *printed) {
  cst__moment moment;
  char out[CST__TIME_TEXT];
  CHECK(cst__duration_parse(text, strlen(text), &moment));
  CHECK_EQ(moment.seconds, seconds);
  CHECK_EQ(moment.nanos, nanos);
  CHECK(cst__duration_print(moment, out));
  CHECK_STR(out, printed);
}

TEST(durations) {
  static const char *const none[] = {"",
                                     "s",
                                     "1",
                                     "-s",
                                     "1.s",
                                     ".5s",
                                     "1.5",
                                     "1 s",
                                     "1.0000000001s",
                                     "315576000001s",
                                     "9999999999999s",
                                     "+1s"};
  check_duration("0s", 0, 0, "0s");
  check_duration("-0.5s", 0, -500000000, "-0.500s");
  check_duration("1.000000001s", 1, 1, "1.000000001s");
  check_duration("-315576000000s", -315576000000, 0, "-315576000000s");
  check_duration("3.000340s", 3, 340000, "3.000340s");
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    cst__moment moment;
    CHECK(!cst__duration_parse(none[i], strlen(none[i]), &moment));
  }
}

TEST(out_of_range) {
  char out[CST__TIME_TEXT];
  CHECK(!cst__timestamp_print((cst__moment){253402300800, 0}, out));
  CHECK(!cst__timestamp_print((cst__moment){0, -1}, out));
  CHECK(!cst__timestamp_print((cst__moment){0, 1000000000}, out));
  CHECK(!cst__duration_print((cst__moment){1, -1}, out));
  CHECK(!cst__duration_print((cst__moment){-1, 1}, out));
  CHECK(!cst__duration_print((cst__moment){315576000001, 0}, out));
}
