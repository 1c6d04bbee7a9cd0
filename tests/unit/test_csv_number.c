/* Numbers of CSV: what is one, exactly. The values are test_number_parse.c's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/csv/csv.h"
#include "harness.h"

/* A copy of the text that may be read beyond its end, where digits stand. */
static const uint8_t *padded(const char *text) {
  static uint8_t copy[2048];
  size_t size = strlen(text);
  memset(copy, '9', sizeof copy);
  memcpy(copy, text, size);
  return copy;
}

static unsigned classify(const char *text) { return cst__csv_classify(padded(text), strlen(text)); }

TEST(classes) {
  CHECK_EQ(classify("0"), CST__CSV_HAS_INT);
  CHECK_EQ(classify("-17"), CST__CSV_HAS_INT);
  CHECK_EQ(classify(" 5\t"), CST__CSV_HAS_INT);
  CHECK_EQ(classify("9007199254740992"), CST__CSV_HAS_INT);
  CHECK_EQ(classify("9007199254740993"), CST__CSV_HAS_INT | CST__CSV_HAS_WIDE_INT);
  CHECK_EQ(classify("9223372036854775807"), CST__CSV_HAS_INT | CST__CSV_HAS_WIDE_INT);
  CHECK_EQ(classify("-9223372036854775808"), CST__CSV_HAS_INT);
  CHECK_EQ(classify("9223372036854775808"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("18446744073709551616"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("007"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("+7"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("00.5"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("1_000"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("0x10"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("1.5"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify(".5"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("5."), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("1e3"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("-1E-3"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("1e308"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("1e309"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("1e99999999999999999999"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("NaN"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("-inf"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("+Infinity"), CST__CSV_HAS_FLOAT);
  CHECK_EQ(classify("."), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("-"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("e5"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("1e"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("1 2"), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify(" "), CST__CSV_HAS_TEXT);
  CHECK_EQ(classify("nano"), CST__CSV_HAS_TEXT);
}

static bool int64(const char *text, int64_t *out) {
  return cst__csv_int64(padded(text), strlen(text), out);
}

TEST(integers) {
  int64_t i;
  CHECK(int64("9223372036854775807", &i) && i == INT64_MAX);
  CHECK(int64("-9223372036854775808", &i) && i == INT64_MIN);
  CHECK(int64(" +00000000000000000000000012345678 ", &i) && i == 12345678);
  CHECK(int64("-0", &i) && i == 0);
  CHECK(int64("1234567890123456", &i) && i == 1234567890123456);
  CHECK(!int64("9223372036854775808", &i));
  CHECK(!int64("-9223372036854775809", &i));
  CHECK(!int64("99999999999999999999", &i));
  CHECK(!int64("1234567x", &i));
  CHECK(!int64("1234567:1", &i));
  CHECK(!int64("1.0", &i));
  CHECK(!int64("", &i));
  CHECK(!int64("-", &i));
  CHECK(!int64("--1", &i));
}

TEST(integers_at_random) {
  char text[64];
  srand(9);
  for (int i = 0; i < 100000; i++) {
    size_t size = (size_t)rand() % 21;
    for (size_t k = 0; k < size; k++) {
      text[k] = (char)(rand() % 40 == 0 ? "-+ x:/\xb5"[rand() % 7] : '0' + rand() % 10);
    }
    text[size] = '\0';
    char *end;
    errno = 0;
    long long expected = strtoll(text, &end, 10);
    bool is_int = size > 0 && *end == '\0' && errno == 0;
    if (memchr(text, ' ', size) == NULL) {
      int64_t actual = 0;
      CHECK_EQ(int64(text, &actual), is_int);
      CHECK_EQ(actual, is_int ? expected : actual);
    }
  }
}

TEST(long_texts) {
  char text[3000];
  memset(text, '1', sizeof text);
  CHECK_EQ(cst__csv_classify((const uint8_t *)text, sizeof text), CST__CSV_HAS_TEXT);
  text[1] = '.';
  CHECK_EQ(cst__csv_classify((const uint8_t *)text, sizeof text), CST__CSV_HAS_FLOAT);
}

/* Texts as numbers have them, and nearly. */
static size_t make_number(char *text) {
  size_t size = 0;
  size_t whole = (size_t)rand() % 24;
  size_t fraction = (size_t)rand() % 24;
  text[size++] = "-+ 1"[rand() % 4];
  size -= rand() % 4 > 0;
  for (size_t k = 0; k < whole; k++) {
    text[size++] = (char)('0' + (rand() % 4 ? rand() % 10 : 0));
  }
  if (rand() % 4) {
    text[size++] = '.';
    for (size_t k = 0; k < fraction; k++) {
      text[size++] = (char)('0' + rand() % 10);
    }
  }
  if (rand() % 8 == 0) {
    size += (size_t)sprintf(text + size, "e%d", rand() % 40 - 20);
  }
  if (size > 0 && rand() % 16 == 0) {
    text[(size_t)rand() % size] = ".-+ eE:/\xb5"[rand() % 9];
  }
  text[size] = '\0';
  return size;
}

/* What the general grammar says of a text. */
static unsigned classify_plainly(cst_bytes t) {
  cst__number d;
  int64_t whole;
  if (t.size == 0 || !cst__parse_number(t.data, t.size, &d) || (!d.is_word && !d.is_plain)) {
    return CST__CSV_HAS_TEXT;
  }
  double real;
  if (!d.is_int || d.is_word) {
    bool fits = cst__parse_float64(t.data, t.size, &real);
    return fits ? CST__CSV_HAS_FLOAT : CST__CSV_HAS_TEXT;
  }
  return cst__parse_int64(t.data, t.size, &whole) ? CST__CSV_HAS_INT : CST__CSV_HAS_TEXT;
}

/* Eight digits at a time, or as text/number.h reads them. */
TEST(floats_are_as_read_plainly) {
  srand(10);
  int read = 0;
  for (int i = 0; i < 300000; i++) {
    char text[128];
    const size_t size = make_number(text);
    const uint8_t *cell = padded(text);
    const cst_bytes t = cst__csv_trim(cell, size);
    CHECK_EQ(cst__csv_classify(cell, size) & ~(unsigned)CST__CSV_HAS_WIDE_INT, classify_plainly(t));
    double wide = 0;
    double expected_wide = 0;
    float narrow = 0;
    float expected_narrow = 0;
    const bool is_wide = cst__parse_float64(t.data, t.size, &expected_wide);
    const bool is_narrow = cst__parse_float32(t.data, t.size, &expected_narrow);
    CHECK_EQ(cst__csv_float64(cell, size, &wide), is_wide);
    CHECK_EQ(cst__csv_float32(cell, size, &narrow), is_narrow);
    if (is_wide) {
      CHECK_MEM(&wide, &expected_wide, sizeof wide);
    }
    if (is_narrow) {
      CHECK_MEM(&narrow, &expected_narrow, sizeof narrow);
    }
    read += is_wide;
  }
  CHECK(read > 100000);
}
