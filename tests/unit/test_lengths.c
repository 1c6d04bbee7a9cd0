/* Lengths: null, empty and other lists, for every layout, and what is saved of them. */
#include <columnstone/accumulate.h>

#include "arrow_text.h"
#include "findings_text.h"

static cst_accumulator *new_lengths(const char *column) {
  const cst_option option = {"columns", column, NULL};
  cst_accumulator *made;
  CHECK_EQ(cst_accumulator_new("lengths", &option, column != NULL, NULL, &made, NULL), CST_OK);
  return made;
}

static cst_status add_text(cst_accumulator *lengths, const char *type, const char *rows,
                           cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  arrow_text(type, rows, &schema, &array);
  cst_status status = cst_accumulator_add(lengths, &schema, &array, NULL, -1, error);
  array.release(&array);
  schema.release(&schema);
  return status;
}

/* "path level: nulls lists empty min max sum; ..." */
static void check_lengths(const cst_accumulator *lengths, const char *expected) {
  static const char *const numbers[] = {"level", "nulls", "lists", "empty", "min", "max", "sum"};
  cst_findings *found;
  char text[512] = "";
  size_t at = 0;
  CHECK_EQ(cst_accumulator_finish(lengths, &found, NULL), CST_OK);
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i > 0 ? "; " : "",
                           cst_findings_text(found, "path", i));
    for (size_t k = 0; k < 7; k++) {
      at += (size_t)snprintf(text + at, sizeof text - at, " %d",
                             (int)cst_findings_number(found, numbers[k], i));
    }
  }
  CHECK_STR(text, expected);
  cst_findings_free(found);
}

static void check_rows(const char *type, const char *rows, const char *expected) {
  cst_accumulator *lengths = new_lengths(NULL);
  CHECK_EQ(add_text(lengths, type, rows, NULL), CST_OK);
  check_lengths(lengths, expected);
  cst_accumulator_free(lengths);
}

TEST(lists_of_every_kind) {
  check_rows("struct{a: list<int64>}", "{[1, null]} {null} {[]} {[2, 3, 4]}", "a 1 1 3 1 0 3 5");
  check_rows("struct{a: large_list<string>, b: int64}", "{['x'], 1} {null, 2}", "a 1 1 1 0 1 1 1");
  check_rows("struct{a: fixed_list<int64>[2]}", "{[1, 2]} {null}", "a 1 1 1 0 2 2 2");
  check_rows("struct{a: fixed_list<int64>[2]}", "{[1, 2]} {[1, 2]}", "a 1 0 2 0 2 2 4");
  check_rows("struct{a: int64}", "{1}", "");
  check_rows("struct{a: list<int64>}", "{null} {null}", "a 1 2 0 0 -1 -1 0");
}

TEST(lists_in_lists) {
  check_rows("struct{a: list<list<int64>>}", "{[[1, 2], null, []]} {[]} {null} {[[4]]}",
             "a 1 1 3 1 0 3 4; a 2 1 3 1 0 2 3");
  check_rows("struct{a: fixed_list<list<int64>>[2]}", "{[[1], null]} {[[], [1, 2]]}",
             "a 1 0 2 0 2 2 4; a 2 1 3 1 0 2 3");
}

TEST(structs_have_lists) {
  check_rows("struct{s: struct{x: list<int64>}, a: list<int64>}",
             "{{[1]}, [1]} {null, []} {{null}, [2]}", "a 1 0 3 1 0 1 2; s.x 1 2 1 0 1 1 1");
  check_rows("struct{s: list<struct{x: list<int64>}>}", "{[{[1]}, {[2]}]}", "s 1 0 1 0 2 2 2");
}

TEST(some_columns) {
  cst_accumulator *lengths = new_lengths("s");
  CHECK_EQ(
      add_text(lengths, "struct{s: struct{x: list<int64>}, a: list<int64>}", "{{[1]}, [1]}", NULL),
      CST_OK);
  check_lengths(lengths, "s.x 1 0 1 0 1 1 1");
  cst_accumulator_free(lengths);
}

/* A batch that lacks a column has nulls there. */
TEST(batches_of_different_columns) {
  cst_accumulator *lengths = new_lengths(NULL);
  CHECK_EQ(add_text(lengths, "struct{a: list<int64>}", "{[1]}", NULL), CST_OK);
  CHECK_EQ(add_text(lengths, "struct{b: list<int64>}", "{[]} {[]}", NULL), CST_OK);
  check_lengths(lengths, "a 1 2 1 0 1 1 1; b 1 1 2 2 0 0 0");
  cst_accumulator_free(lengths);
}

TEST(any_order_gives_the_same) {
  static const char type[] = "struct{a: list<list<int64>>}";
  static const char *const rows[] = {"{[[1, 2], null]}", "{null}", "{[]}", "{[[], [3]]}"};
  cst_accumulator *forth = new_lengths(NULL);
  cst_accumulator *back = new_lengths(NULL);
  char *bytes;
  size_t size;
  for (size_t i = 0; i < 4; i++) {
    cst_accumulator *part = new_lengths(NULL);
    cst_accumulator *other;
    CHECK_EQ(add_text(forth, type, rows[i], NULL), CST_OK);
    CHECK_EQ(add_text(part, type, rows[3 - i], NULL), CST_OK);
    CHECK_EQ(cst_accumulator_to_bytes(part, &bytes, &size, NULL), CST_OK);
    CHECK_EQ(cst_accumulator_from_bytes(bytes, size, NULL, &other, NULL), CST_OK);
    CHECK_EQ(cst_accumulator_merge(back, other, NULL), CST_OK);
    cst_free(bytes);
    cst_accumulator_free(part);
    cst_accumulator_free(other);
  }
  check_lengths(forth, "a 1 1 3 1 0 2 4; a 2 1 3 1 0 2 3");
  check_lengths(back, "a 1 1 3 1 0 2 4; a 2 1 3 1 0 2 3");
  cst_accumulator_free(forth);
  cst_accumulator_free(back);
}

/* Damage that no checksum tells is found by what the numbers say of each other. */
TEST(saved_bytes_that_are_damaged) {
  cst_error error = CST_ERROR_INIT;
  cst_accumulator *lengths = new_lengths(NULL);
  cst_accumulator *loaded;
  char *bytes;
  size_t size;
  CHECK_EQ(add_text(lengths, "struct{a: list<int64>}", "{[1]} {[]}", NULL), CST_OK);
  CHECK_EQ(cst_accumulator_to_bytes(lengths, &bytes, &size, NULL), CST_OK);
  for (size_t i = 0; i < size; i++) {
    bytes[i] ^= 1;
    CHECK(cst_accumulator_from_bytes(bytes, size, NULL, &loaded, &error) != CST_OK);
    CHECK(cst_accumulator_from_bytes(bytes, i, NULL, &loaded, &error) != CST_OK);
    bytes[i] ^= 1;
  }
  cst_free(bytes);
  cst_accumulator_free(lengths);
}
