/* Times as text: protobuf's, and those of every unit. */
#include "text/time.h"

#include <string.h>

#include "harness.h"

static void check_timestamp(const char *text, int64_t seconds, int32_t nanos, const char *printed) {
  cst__moment moment;
  char out[CST__TIME_SIZE];
  CHECK(cst__timestamp_parse(text, strlen(text), &moment));
  CHECK_EQ(moment.seconds, seconds);
  CHECK_EQ(moment.nanos, nanos);
  out[cst__timestamp_print(moment, out)] = '\0';
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
  char out[CST__TIME_SIZE];
  CHECK(cst__duration_parse(text, strlen(text), &moment));
  CHECK_EQ(moment.seconds, seconds);
  CHECK_EQ(moment.nanos, nanos);
  out[cst__duration_print(moment, out)] = '\0';
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
  char out[CST__TIME_SIZE];
  CHECK_EQ(0, cst__timestamp_print((cst__moment){253402300800, 0}, out));
  CHECK_EQ(0, cst__timestamp_print((cst__moment){0, -1}, out));
  CHECK_EQ(0, cst__timestamp_print((cst__moment){0, 1000000000}, out));
  CHECK_EQ(0, cst__duration_print((cst__moment){1, -1}, out));
  CHECK_EQ(0, cst__duration_print((cst__moment){-1, 1}, out));
  CHECK_EQ(0, cst__duration_print((cst__moment){315576000001, 0}, out));
}

/* ---- of every unit ---- */

static const char *printed(size_t size, char *out) {
  out[size] = '\0';
  return out;
}

static void check_date(const char *text, int64_t days) {
  char out[CST__TIME_SIZE];
  int64_t found = -1;
  CHECK_STR(printed(cst__print_date(out, days), out), text);
  CHECK(cst__parse_date(text, strlen(text), &found));
  CHECK_EQ(found, days);
}

TEST(dates) {
  check_date("1970-01-01", 0);
  check_date("1969-12-31", -1);
  check_date("2024-02-29", 19782);
  check_date("0000-01-01", -719528);
  check_date("-0001-12-31", -719529);
  check_date("+10000-01-01", 2932897);
  check_date("+5881580-07-11", INT32_MAX);
  check_date("-5877641-06-23", INT32_MIN);
  static const char *const none[] = {"",
                                     "2024",
                                     "2024-2-29",
                                     "2023-02-29",
                                     "12024-01-01",
                                     "2024-01-01 ",
                                     "2024-01-01T",
                                     "24-01-01",
                                     "2024/01/01",
                                     "2024-00-01",
                                     "+024-01-01",
                                     "--2024-01-01"};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    int64_t days;
    CHECK(!cst__parse_date(none[i], strlen(none[i]), &days));
  }
}

static void check_clock(const char *text, int unit, int64_t value) {
  char out[CST__TIME_SIZE];
  int64_t found = -1;
  CHECK_STR(printed(cst__print_clock(out, value, unit), out), text);
  CHECK(cst__parse_clock(text, strlen(text), unit, &found));
  CHECK_EQ(found, value);
}

TEST(clocks) {
  int64_t value;
  check_clock("00:00:00", 0, 0);
  check_clock("23:59:59.999", 3, 86399999);
  check_clock("01:02:03.000004", 6, 3723000004);
  check_clock("01:02:00.000000000", 9, 3720000000000);
  check_clock("-00:00:00.001", 3, -1);
  check_clock("2562047:47:16.854775807", 9, INT64_MAX);
  check_clock("-2562047:47:16.854775808", 9, INT64_MIN);
  CHECK(cst__parse_clock("01:02", 5, 0, &value) && value == 3720);
  CHECK(cst__parse_clock("01:02:03.5", 10, 3, &value) && value == 3723500);
  CHECK(cst__parse_clock("01:02:03.500000000000", 21, 3, &value) && value == 3723500);
  CHECK(!cst__parse_clock("01:02:03.5", 10, 0, &value));
  CHECK(!cst__parse_clock("01:02:03.0001", 13, 3, &value));
  CHECK(!cst__parse_clock("1:02:03", 7, 0, &value));
  CHECK(!cst__parse_clock("01:60:03", 8, 0, &value));
  CHECK(!cst__parse_clock("01:02:60", 8, 0, &value));
  CHECK(!cst__parse_clock("01", 2, 0, &value));
  CHECK(!cst__parse_clock("01:02:03.", 9, 3, &value));
  CHECK(!cst__parse_clock("2562047:47:16.854775808", 23, 9, &value));
}

static void check_instant(const char *text, int unit, bool is_utc, int64_t value) {
  char out[CST__TIME_SIZE];
  int64_t found = -1;
  CHECK_STR(printed(cst__print_timestamp(out, value, unit, is_utc), out), text);
  CHECK(cst__parse_timestamp(text, strlen(text), unit, is_utc, &found));
  CHECK_EQ(found, value);
  CHECK(!cst__parse_timestamp(text, strlen(text), unit, !is_utc, &found));
}

TEST(timestamps_of_every_unit) {
  check_instant("1970-01-01T00:00:00Z", 0, true, 0);
  check_instant("1969-12-31T23:59:59.999999999Z", 9, true, -1);
  check_instant("1970-01-01T00:00:00.000001", 6, false, 1);
  check_instant("9999-12-31T23:59:59.999", 3, false, 253402300799999);
  check_instant("+10000-01-01T00:00:00", 0, false, 253402300800);
  check_instant("+292277026596-12-04T15:30:07", 0, false, INT64_MAX);
  check_instant("-292277022657-01-27T08:29:52", 0, false, INT64_MIN);
  check_instant("1677-09-21T00:12:43.145224192Z", 9, true, INT64_MIN);
  check_instant("2262-04-11T23:47:16.854775807Z", 9, true, INT64_MAX);
}

static bool instant(const char *text, int unit, bool is_utc, int64_t value) {
  int64_t found;
  return cst__parse_timestamp(text, strlen(text), unit, is_utc, &found) && found == value;
}

TEST(other_spellings_of_timestamps) {
  CHECK(instant("1970-01-02", 0, false, 86400));
  CHECK(instant("1970-01-02 01:00", 3, false, 90000000));
  CHECK(instant("1970-01-02 01:00:00.5", 3, false, 90000500));
  CHECK(instant("1970-01-01T02:00:00+02:00", 0, true, 0));
  CHECK(instant("1970-01-01T02:00+0200", 0, true, 0));
  CHECK(instant("1969-12-31 22:00:00-02", 0, true, 0));
  CHECK(instant("1970-01-01t00:00:00z", 0, true, 0));
  int64_t value;
  static const char *const none[] = {"1970-01-02",
                                     "1970-01-02Z",
                                     "1970-01-02T",
                                     "1970-01-02T01Z",
                                     "1970-01-02T24:00:00Z",
                                     "1970-01-02T01:00:00+24:00",
                                     "1970-01-02T01:00:00+2:00",
                                     "1970-01-02T01:00:00ZZ",
                                     "+999999999999-01-01T00:00:00Z",
                                     "1970-01-02T01:00:00.1Z"};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    CHECK(!cst__parse_timestamp(none[i], strlen(none[i]), 0, true, &value));
  }
  CHECK(!cst__parse_timestamp("2262-04-11T23:47:16.854775808", 29, 9, false, &value));
}

static void check_span(const char *text, int unit, int64_t value) {
  char out[CST__TIME_SIZE];
  int64_t found = -1;
  CHECK_STR(printed(cst__print_duration(out, value, unit), out), text);
  CHECK(cst__parse_duration(text, strlen(text), unit, &found));
  CHECK_EQ(found, value);
}

TEST(durations_of_every_unit) {
  int64_t value;
  check_span("0s", 9, 0);
  check_span("1.500s", 9, 1500000000);
  check_span("-0.001500s", 9, -1500000);
  check_span("0.000010s", 6, 10);
  check_span("-0.001s", 3, -1);
  check_span("9223372036854775807s", 0, INT64_MAX);
  check_span("-9223372036854775808s", 0, INT64_MIN);
  check_span("-9223372036.854775808s", 9, INT64_MIN);
  CHECK(cst__parse_duration("1.5s", 4, 3, &value) && value == 1500);
  CHECK(!cst__parse_duration("1.5s", 4, 0, &value));
  CHECK(!cst__parse_duration("1.5", 3, 3, &value));
  CHECK(!cst__parse_duration("s", 1, 3, &value));
  CHECK(!cst__parse_duration("-s", 2, 3, &value));
  CHECK(!cst__parse_duration("+1s", 3, 3, &value));
  CHECK(!cst__parse_duration(".5s", 3, 3, &value));
  CHECK(!cst__parse_duration("9223372036854775808s", 20, 0, &value));
}

TEST(offsets) {
  int64_t seconds;
  CHECK(cst__parse_offset("+02:30", 6, &seconds) && seconds == 9000);
  CHECK(cst__parse_offset("-01:00", 6, &seconds) && seconds == -3600);
  CHECK(!cst__parse_offset("Z", 1, &seconds));
  CHECK(!cst__parse_offset("+0230", 5, &seconds));
  CHECK(!cst__parse_offset("+24:00", 6, &seconds));
  CHECK(!cst__parse_offset("", 0, &seconds));
}
