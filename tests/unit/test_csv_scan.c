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

/* The cells of a block, byte by byte: what the walk over masks has to give for rows without quotes.
 */
static size_t split_plainly(const uint8_t *data, size_t size, size_t width, cst__csv_cell *cells,
                            size_t *rows) {
  size_t begin = 0;
  size_t at = 0;
  size_t n = 0;
  *rows = 0;
  for (size_t i = 0; i < size; i++) {
    if (data[i] != ',' && data[i] != '\n') {
      continue;
    }
    if (n < width) {
      cells[*rows * width + n] = (cst__csv_cell){(uint32_t)at, (uint32_t)(i - at)};
    }
    n++;
    at = i + 1;
    if (data[i] == '\n') {
      if (at - begin > 1 && n != width) {
        return begin; /* the row that is none */
      }
      *rows += at - begin > 1; /* a blank line is passed over */
      begin = at;
      n = 0;
    }
  }
  return begin;
}

TEST(cells_are_those_found_byte_by_byte) {
  enum { SIZE = 1000, MOST = 500 };
  static uint8_t data[SIZE + CST__CSV_PADDING];
  static cst__csv_cell cells[MOST * 4];
  static cst__csv_cell expected[MOST * 4];
  static uint32_t begins[MOST];
  const cst__csv_dialect dialect = {.delimiter = ',', .secondary = '|', .comment = -1};
  srand(12);
  for (int round = 0; round < 3000; round++) {
    const size_t width = 1 + (size_t)rand() % 4;
    const int length = 1 + rand() % 40;
    size_t size = 0;
    for (size_t cell = 0; size < SIZE - 64; cell++) {
      for (int k = rand() % length; k > 0; k--) {
        data[size++] = (uint8_t) "abcdef\"z"[k == 1 ? 0 : rand() % 8]; /* no quote in front */
        if (data[size - 1] == '"' &&
            (size == 1 || data[size - 2] == ',' || data[size - 2] == '\n')) {
          data[size - 1] = 'q';
        }
      }
      data[size++] = cell % width == width - 1 || rand() % 200 == 0 ? '\n' : ',';
    }
    memset(data + size, 0, CST__CSV_PADDING);
    size_t rows;
    const size_t end = split_plainly(data, size, width, expected, &rows);
    cst__csv_scan scan = {.dialect = &dialect,
                          .data = data,
                          .size = size,
                          .width = width,
                          .max_rows = MOST,
                          .max_row_size = SIZE,
                          .cells = cells,
                          .begins = begins};
    cst__csv_scan_rows(&scan);
    CHECK_EQ(scan.rows, rows);
    CHECK_MEM(cells, expected, rows * width * sizeof *cells);
    CHECK_EQ(scan.fault.kind == CST__CSV_FINE ? scan.at : scan.fault.begin, end);
  }
}

/* A text in quotes that begins anywhere and has any length, perhaps with a doubled quote; the block
 * may end before its row does. */
TEST(long_texts_in_quotes) {
  enum { LONGEST = 300, SIZE = 2 * 64 + LONGEST + 16 };
  uint8_t data[SIZE + CST__CSV_PADDING];
  cst__csv_cell cells[2];
  uint32_t begins[1];
  const cst__csv_dialect dialect = {.delimiter = ',', .secondary = '|', .comment = -1};
  srand(14);
  for (size_t begin = 1; begin < 2 * 64; begin++) {
    for (size_t length = 0; length < LONGEST; length += 1 + (size_t)rand() % 9) {
      memset(data, 0, sizeof data);
      memset(data, 'a', begin);
      for (size_t i = 0; i < length; i++) {
        data[begin + 2 + i] = (uint8_t) "word, \n\r"[rand() % 8];
      }
      const bool is_doubled = length >= 2 && rand() % 2;
      if (is_doubled) {
        memset(data + begin + 2 + (size_t)rand() % (length - 1), '"', 2);
      }
      memcpy(data + begin, ",\"", 2);
      memcpy(data + begin + 2 + length, "\"\n", 2);
      const size_t size = begin + length + 4;
      const size_t seen = rand() % 2 ? size : size - 1 - (size_t)rand() % (length + 2);
      cst__csv_scan scan = {.dialect = &dialect,
                            .data = data,
                            .size = seen,
                            .width = 2,
                            .max_rows = 1,
                            .max_row_size = SIZE,
                            .cells = cells,
                            .begins = begins};
      cst__csv_scan_rows(&scan);
      CHECK_EQ(scan.fault.kind, CST__CSV_FINE);
      CHECK_EQ(scan.rows, seen == size);
      CHECK_EQ(scan.at, seen == size ? size : 0);
      if (seen == size) {
        CHECK_EQ(cells[1].begin, begin + 2);
        CHECK_EQ(cells[1].size, length | CST__CSV_QUOTED | (is_doubled ? CST__CSV_DOUBLED : 0));
      }
    }
  }
}
