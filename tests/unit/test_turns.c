/* Turns: groups of files, and the shares that the files of a group give. */
#include "source/pass/turns.h"

#include <stdlib.h>

#include "harness.h"

TEST(groups_are_nearly_equal) {
  for (size_t files = 1; files < 60; files++) {
    for (size_t most = 0; most < 20; most++) {
      size_t end = 0;
      size_t groups = 0;
      size_t least = files;
      size_t largest = 0;
      for (size_t file = 0; file < files; file++) {
        cst__group group = cst__group_of(files, most, file);
        CHECK(group.begin <= file && file < group.end);
        if (group.begin == file) {
          size_t size = group.end - group.begin;
          CHECK_EQ(group.begin, end);
          end = group.end;
          groups++;
          least = size < least ? size : least;
          largest = size > largest ? size : largest;
        }
      }
      size_t at_once = most > 0 ? most : 1;
      CHECK_EQ(end, files);
      CHECK_EQ(groups, (files + at_once - 1) / at_once);
      CHECK(largest <= at_once && largest - least <= 1);
    }
  }
}

/* Reads files of these sizes and rows to their end. owner[i]: the file of the i-th row. */
static size_t read_all(const int64_t *sizes, const uint64_t *rows, size_t count, uint64_t turn,
                       size_t *owner) {
  cst__turns turns = {.files = NULL};
  uint64_t left[8];
  size_t done = 0;
  CHECK(cst__turns_reserve(&turns, &cst__default_allocator, count));
  cst__turns_init(&turns, count, turn);
  for (size_t i = 0; i < count; i++) {
    left[i] = rows[i];
    cst__turns_tell(&turns, i, sizes[i]);
  }
  cst__turns_begin(&turns);
  for (bool more = true; more;) {
    size_t file = turns.current;
    uint64_t taken = left[file] < turns.room ? left[file] : turns.room;
    if (taken == 0) {
      more = cst__turns_end(&turns);
      continue;
    }
    taken = taken > 3 ? 3 : taken; /* batches end within turns */
    for (uint64_t i = 0; i < taken; i++) {
      owner[done++] = file;
    }
    left[file] -= taken;
    cst__turns_take(&turns, taken);
  }
  cst__turns_reset(&turns);
  return done;
}

/* At every row, each file has given its share, but for about a turn. */
static void check_shares(const int64_t *sizes, const uint64_t *rows, size_t count, uint64_t turn) {
  uint64_t total = 0;
  double given[8] = {0};
  for (size_t i = 0; i < count; i++) {
    total += rows[i];
  }
  size_t *owner = calloc(total, sizeof *owner);
  CHECK_EQ(read_all(sizes, rows, count, turn, owner), total);
  for (size_t at = 0; at < total; at++) {
    given[owner[at]]++;
    for (size_t i = 0; i < count; i++) {
      double share = (double)rows[i] / (double)total * (double)(at + 1);
      CHECK(given[i] - share < (double)(count * turn) && share - given[i] < (double)(count * turn));
    }
  }
  free(owner);
}

TEST(files_give_their_shares) {
  static const int64_t even[] = {700, 700, 700};
  static const int64_t uneven[] = {10, 20, 1000, 970};
  static const int64_t unknown[] = {-1, 5, 1000};
  check_shares(even, (uint64_t[]){70, 70, 70}, 3, 1);
  check_shares(even, (uint64_t[]){70, 70, 70}, 3, 4);
  check_shares(uneven, (uint64_t[]){10, 20, 1000, 970}, 4, 1);
  check_shares(uneven, (uint64_t[]){10, 20, 1000, 970}, 4, 7);
  check_shares(unknown, (uint64_t[]){50, 50, 50}, 3, 2);
}

TEST(turns_of_files_of_one_size) {
  size_t owner[16];
  CHECK_EQ(read_all((int64_t[]){9, 9, 9}, (uint64_t[]){4, 0, 7}, 3, 2, owner), 11);
  static const size_t expected[] = {0, 0, 2, 2, 0, 0, 2, 2, 2, 2, 2};
  for (size_t i = 0; i < 11; i++) {
    CHECK_EQ(owner[i], expected[i]);
  }
}

TEST(sizes_that_overflow) {
  size_t owner[20];
  CHECK_EQ(read_all((int64_t[]){INT64_MAX, 1, 0}, (uint64_t[]){18, 1, 1}, 3, 1, owner), 20);
  CHECK_EQ(owner[0], 0);
  CHECK(owner[18] != 0 && owner[19] != 0);
}
