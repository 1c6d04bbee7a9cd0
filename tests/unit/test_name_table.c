/* Names to columns: every length, and names that differ in one byte only, at each place. */
#include <string.h>

#include "decode/name_table.h"
#include "harness.h"

enum { LONGEST = 40 };

/* The name of `size` letters whose byte `place` is another one; none is if that lies after the end.
 */
static void write_name(uint8_t *name, size_t size, size_t place) {
  memset(name, 'f', size);
  if (place < size) {
    name[place] = 'g';
  }
}

static void check_sizes(size_t first, size_t last, bool is_tuned) {
  cst__name_table table;
  uint8_t name[LONGEST];
  uint32_t count = 0;
  CHECK(cst__name_table_init(&table, NULL));
  for (size_t size = first; size <= last; size++) {
    for (size_t place = 0; place <= size; place++) {
      write_name(name, size, place);
      CHECK_EQ(cst__name_table_find(&table, name, size), CST__NO_COLUMN);
      CHECK(cst__name_table_add(&table, name, size));
      CHECK_EQ(cst__name_table_find(&table, name, size), count);
      count++;
    }
  }
  if (is_tuned) {
    cst__name_table_tune(&table);
  }
  count = 0;
  for (size_t size = first; size <= last; size++) {
    for (size_t place = 0; place <= size; place++) {
      write_name(name, size, place);
      CHECK_EQ(cst__name_table_find(&table, name, size), count++);
      if (size > 0) {
        name[size / 2] = 'h';
        CHECK_EQ(cst__name_table_find(&table, name, size), CST__NO_COLUMN);
      }
    }
  }
  cst__name_table_reset(&table);
}

TEST(names_of_all_sizes) { check_sizes(0, LONGEST, false); }

TEST(short_names) {
  check_sizes(0, CST__SHORT_NAME, false);
  check_sizes(0, CST__SHORT_NAME, true);
}

TEST(long_names) {
  check_sizes(CST__SHORT_NAME, CST__LONG_NAME + 1, true);
  check_sizes(CST__LONG_NAME + 1, LONGEST, true);
}
