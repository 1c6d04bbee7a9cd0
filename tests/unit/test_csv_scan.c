/* Rows and cells: masks, line counts, quotes within cells. */
#include <stdlib.h>

#include "format/csv/csv.h"
#include "harness.h"

TEST(masks_are_the_same_on_every_machine) {
  uint8_t data[64];
  const char alphabet[] = ",\"\n\rx\t|;";
  srand(7);
  for (int round = 0; round < 2000; round++) {
    for (size_t i = 0; i < sizeof data; i++) {
      data[i] = round % 2 ? (uint8_t)rand() : (uint8_t)alphabet[rand() % 8];
    }
    cst__csv_masks a = cst__csv_find_masks(data, ',');
    cst__csv_masks b = cst__csv_find_masks_plain(data, ',');
    CHECK_EQ(a.ends, b.ends);
    CHECK_EQ(a.quotes, b.quotes);
  }
}

static size_t count_plainly(const uint8_t *data, size_t size) {
  size_t lines = 0;
  for (size_t i = 0; i < size; i++) {
    lines += data[i] == '\r' || (data[i] == '\n' && (i == 0 || data[i - 1] != '\r'));
  }
  return lines;
}

TEST(lines_are_counted_across_pieces) {
  uint8_t data[300];
  const char alphabet[] = "\n\rx";
  srand(11);
  for (int round = 0; round < 500; round++) {
    for (size_t i = 0; i < sizeof data; i++) {
      data[i] = (uint8_t)alphabet[rand() % 3];
    }
    bool cr = false;
    size_t cut = (size_t)rand() % sizeof data;
    size_t lines = cst__csv_count_lines(data, cut, &cr);
    lines += cst__csv_count_lines(data + cut, sizeof data - cut, &cr);
    CHECK_EQ(lines, count_plainly(data, sizeof data));
  }
}

TEST(doubled_quotes_are_singled) {
  uint8_t out[32];
  const char text[] = "a\"\"b\"\"\"\"";
  size_t size = cst__csv_undouble(out, (const uint8_t *)text, sizeof text - 1);
  CHECK_EQ(size, 5);
  CHECK_MEM(out, "a\"b\"\"", 5);
}

static void check_values(const char *text, const char *expected) {
  char out[128] = "";
  size_t size = strlen(text);
  for (size_t at = 0; at <= size;) {
    cst__csv_cell value;
    if (!cst__csv_next_value((const uint8_t *)text, size, '|', &at, &value)) {
      strcat(out, "!");
      break;
    }
    uint8_t plain[64];
    const uint8_t *bytes = (const uint8_t *)text + value.begin;
    size_t used = value.size & CST__CSV_SIZE;
    memcpy(plain, bytes, used);
    if (value.size & CST__CSV_DOUBLED) {
      used = cst__csv_undouble(plain, bytes, used);
    }
    strcat(out, value.size & CST__CSV_QUOTED ? "'" : "[");
    strncat(out, (const char *)plain, used);
    strcat(out, value.size & CST__CSV_QUOTED ? "'" : "]");
  }
  CHECK_STR(out, expected);
}

TEST(values_of_a_cell) {
  check_values("a|b", "[a][b]");
  check_values("", "[]");
  check_values("|", "[][]");
  check_values("\"a|b\"|c", "'a|b'[c]");
  check_values("\"\"\"\"|\"\"", "'\"'''");
  check_values("a\"b|c", "[a\"b][c]");
  check_values("\"a", "!");
  check_values("a|\"b\"c", "[a]!");
}
