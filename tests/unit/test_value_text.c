/* Times, decimals and float16 of CSV and JSON lines: what is printed is parsed to the same bytes.
 */
#include "format/table/value_text.h"

#include <string.h>

#include "harness.h"

static void check_both_ways(const char *format, const void *value, size_t width, const char *text) {
  char out[CST__VALUE_TEXT_SIZE];
  uint8_t back[32];
  CHECK(cst__has_value_text(format));
  out[cst__print_value_text(out, format, value)] = '\0';
  CHECK_STR(out, text);
  CHECK(cst__parse_value_text(format, text, strlen(text), back));
  CHECK_MEM(back, value, width);
}

static void check_int32(const char *format, int32_t value, const char *text) {
  check_both_ways(format, &value, sizeof value, text);
}

static void check_int64(const char *format, int64_t value, const char *text) {
  check_both_ways(format, &value, sizeof value, text);
}

TEST(times) {
  check_int32("tdD", 19782, "2024-02-29");
  check_int64("tdm", 86400000, "1970-01-02");
  check_int32("tts", 3723, "01:02:03");
  check_int32("ttm", 1, "00:00:00.001");
  check_int64("ttu", 1, "00:00:00.000001");
  check_int64("tss:", -1, "1969-12-31T23:59:59");
  check_int64("tsn:UTC", 1, "1970-01-01T00:00:00.000000001Z");
  check_int64("tDm", -1500, "-1.500s");
}

TEST(decimals) {
  check_int32("d:9,2,32", -1250, "-12.50");
  check_int64("d:18,0,64", -999999999999999999, "-999999999999999999");
  check_int64("d:18,10,64", 5, "0.0000000005");
  check_int64("d:18,-3,64", 17, "17000");
  check_int64("d:18,-3,64", 0, "0");
  uint64_t words[4] = {UINT64_C(0x098a223fffffffff), UINT64_C(0x4b3b4ca85a86c47a), 0, 0};
  check_both_ways("d:38,38", words, 16, "0.99999999999999999999999999999999999999");
  check_both_ways("d:76,1,256", words, 32, "9999999999999999999999999999999999999.9");
}

static bool parses(const char *format, const char *text) {
  uint8_t out[32];
  return cst__parse_value_text(format, text, strlen(text), out);
}

TEST(other_texts) {
  CHECK(parses("d:5,2", "1.500"));
  CHECK(parses("d:5,2", "+00001"));
  CHECK(parses("d:5,2", ".5"));
  CHECK(parses("d:5,-2", "-1200"));
  CHECK(!parses("d:5,2", "1.505"));
  CHECK(!parses("d:5,2", "1000"));
  CHECK(!parses("d:5,2", ""));
  CHECK(!parses("d:5,2", "-"));
  CHECK(!parses("d:5,2", "."));
  CHECK(!parses("d:5,2", "1e2"));
  CHECK(!parses("d:5,2", "1.2.3"));
  CHECK(!parses("d:5,-2", "1201"));
  CHECK(!parses("tts", "596523:14:08"));
  CHECK(!parses("tdD", "+5881580-07-12"));
  CHECK(!parses("tss:", "1970-01-01T00:00:00Z"));
  CHECK(!parses("tss:UTC", "1970-01-01T00:00:00"));
  CHECK(!cst__has_value_text("tiM"));
  CHECK(!cst__has_value_text("d:5,200"));
}

static void check_half(const char *text, uint16_t expected) {
  uint16_t half;
  CHECK(cst__parse_half(text, strlen(text), &half));
  CHECK_EQ(half, expected);
}

TEST(halves) {
  uint16_t half;
  check_half("0.5", 0x3800);
  check_half("-0.0", 0x8000);
  check_half("65504", 0x7bff);
  check_half("65519.99", 0x7bff);
  check_half("5.9604645e-08", 0x0001);
  check_half("6.097555e-05", 0x03ff);
  check_half("6.1035156e-05", 0x0400);
  check_half("1.00048828125", 0x3c00); /* in the middle: to the even one */
  check_half("inf", 0x7c00);
  check_half("nan", 0x7e00);
  CHECK(!cst__parse_half("65520", 5, &half));
  CHECK(!cst__parse_half("x", 1, &half));
}
