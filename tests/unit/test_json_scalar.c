/* Scalars of JSON text: the kinds of integers, floats that come back, words. */
#include <math.h>

#include "format/json/json.h"
#include "format/json/text.h"
#include "harness.h"
#include "text/number.h"

static void check_integer(const char *text, cst__json_number_kind kind, int64_t i, uint64_t u) {
  cst__json_number number = cst__json_read_number(text, strlen(text));
  CHECK_EQ(number.kind, kind);
  if (kind == CST__JSON_INT) {
    CHECK_EQ(number.i, i);
  }
  if (kind == CST__JSON_INT || kind == CST__JSON_UINT) {
    CHECK(number.u == u);
  }
}

TEST(integers) {
  check_integer("0", CST__JSON_INT, 0, 0);
  check_integer("-0", CST__JSON_INT, 0, 0);
  check_integer("-17", CST__JSON_INT, -17, 17);
  check_integer("9223372036854775807", CST__JSON_INT, INT64_MAX, INT64_MAX);
  check_integer("-9223372036854775808", CST__JSON_INT, INT64_MIN, UINT64_C(1) << 63);
  check_integer("9223372036854775808", CST__JSON_UINT, 0, UINT64_C(1) << 63);
  check_integer("18446744073709551615", CST__JSON_UINT, 0, UINT64_MAX);
  check_integer("18446744073709551616", CST__JSON_HUGE, 0, 0);
  check_integer("-9223372036854775809", CST__JSON_HUGE, 0, 0);
  check_integer("100000000000000000000000", CST__JSON_HUGE, 0, 0);
  check_integer("1.0", CST__JSON_FLOAT, 0, 0);
  check_integer("1e3", CST__JSON_FLOAT, 0, 0);
  check_integer("99999999999999999999.5", CST__JSON_FLOAT, 0, 0);
}

/* What the writer prints comes back, whatever its bits. */
TEST(printed_floats_come_back) {
  uint64_t state = 1;
  for (int i = 0; i < 100000; i++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint32_t bits = (uint32_t)(state >> 32);
    bits = i % 8 == 0 ? bits & 0x807fffff : bits; /* subnormal ones, too */
    float value;
    float back = 0;
    memcpy(&value, &bits, sizeof value);
    if (!isfinite(value)) {
      continue;
    }
    cst__text text = {.allocator = cst__default_allocator};
    cst__json_float32(&text, value);
    cst__text_append(&text, "", 1);
    CHECK(cst__parse_float32(text.data, text.size - 1, &back));
    CHECK_MEM(&back, &value, sizeof value);
    cst__text_free(&text);
  }
}

TEST(specials) {
  double value;
  CHECK(cst__json_read_special("NaN", 3, &value) && isnan(value));
  CHECK(cst__json_read_special("Infinity", 8, &value) && isinf(value) && value > 0);
  CHECK(cst__json_read_special("-Infinity", 9, &value) && isinf(value) && value < 0);
  CHECK(!cst__json_read_special("-NaN", 4, &value));
  CHECK(!cst__json_read_special("nan", 3, &value));
  CHECK(!cst__json_read_special("", 0, &value));
  CHECK(!cst__json_read_special("-", 1, &value));
}
