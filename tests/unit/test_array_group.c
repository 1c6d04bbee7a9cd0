/* Groups of rows by the values of key columns. */
#include <stdlib.h>

#include "array_sample.h"

enum { MOST_KEYS = 3 };

/* Paths such as "a" and "s.x", ended by NULL. */
static cst_status group(const cst_array *batch, const char *const *names, cst_groups *out,
                        cst_error *error) {
  char text[MOST_KEYS][32];
  const char *steps[MOST_KEYS][4];
  cst_path paths[MOST_KEYS];
  size_t count = 0;
  for (; names[count] != NULL; count++) {
    snprintf(text[count], sizeof text[count], "%s", names[count]);
    paths[count] = (cst_path){steps[count], 0};
    for (char *at = strtok(text[count], "."); at != NULL; at = strtok(NULL, ".")) {
      steps[count][paths[count].count++] = at;
    }
  }
  return cst_array_group_by(batch, paths, count, out, error);
}

static void check(const char *type, const char *rows, const char *const *names,
                  const char *key_type, const char *keys, const char *groups) {
  cst_array *batch = array_sample(type, rows);
  cst_groups out;
  cst_error error = CST_ERROR_INIT;
  group(batch, names, &out, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(cst_array_length(out.keys), cst_array_length(out.rows));
  array_sample_check(out.rows, "large_list<int64>", groups);
  if (key_type != NULL) array_sample_check(out.keys, key_type, keys);
  cst_array_release(out.keys);
  cst_array_release(out.rows);
  cst_array_release(batch);
}

#define CHECK_GROUPS(type, rows, key_type, keys, groups, ...) \
  do {                                                        \
    static const char *const names[] = {__VA_ARGS__, NULL};   \
    check(type, rows, names, key_type, keys, groups);         \
  } while (0)

TEST(flat_columns) {
  CHECK_GROUPS("struct{a: int64}", "{3} {1} {3} {null} {1} {null}", "struct{a: int64}",
               "{3} {1} {null}", "[0, 2] [1, 4] [3, 5]", "a");
  CHECK_GROUPS("struct{a: string, b: int8}", "{'x', 1} {'y', 1} {'x', 2} {'x', 1} {null, 1}",
               "struct{a: string}", "{'x'} {'y'} {null}", "[0, 2, 3] [1] [4]", "a");
  CHECK_GROUPS("struct{a: bool}", "{true} {null} {true}", "struct{a: bool}", "{true} {null}",
               "[0, 2] [1]", "a");
  CHECK_GROUPS("struct{a: null}", "{null} {null}", "struct{a: null}", "{null}", "[0, 1]", "a");
  CHECK_GROUPS("struct{a: fixed_binary[2]}", "{'xy'} {'ab'} {'xy'}", "struct{a: fixed_binary[2]}",
               "{'xy'} {'ab'}", "[0, 2] [1]", "a");
  CHECK_GROUPS("struct{a: string_view}",
               "{''} {'a value that is long'} {''} {'a value that is long'}",
               "struct{a: string_view}", "{''} {'a value that is long'}", "[0, 2] [1, 3]", "a");
  CHECK_GROUPS("struct{a: int16}", "", "struct{a: int16}", "", "", "a");
}

TEST(null_and_zero_are_different) {
  CHECK_GROUPS("struct{a: int64}", "{null} {0} {null} {0}", "struct{a: int64}", "{null} {0}",
               "[0, 2] [1, 3]", "a");
  CHECK_GROUPS("struct{a: string}", "{null} {''} {null} {''}", "struct{a: string}", "{null} {''}",
               "[0, 2] [1, 3]", "a");
}

TEST(combinations_of_flat_columns) {
  CHECK_GROUPS("struct{a: string, b: int8}", "{'x', 1} {'y', 1} {'x', 2} {'x', 1} {'x', null}",
               "struct{b: int8, a: string}", "{1, 'x'} {1, 'y'} {2, 'x'} {null, 'x'}",
               "[0, 3] [1] [2] [4]", "b", "a");
}

TEST(lists_of_values) {
  /* Twice in one row counts once; null and empty lists have the key null. */
  CHECK_GROUPS("struct{a: list<string>}", "{['x', 'y', 'x']} {['y']} {[]} {null} {['x', null]}",
               "struct{a: string}", "{'x'} {'y'} {null}", "[0, 4] [0, 1] [2, 3, 4]", "a");
  CHECK_GROUPS("struct{a: large_list<list<int8>>}", "{[[1], [2, 1]]} {[null, []]} {[[2]]}",
               "struct{a: int8}", "{1} {2} {null}", "[0] [0, 2] [1]", "a");
  CHECK_GROUPS("struct{a: fixed_list<int8>[2]}", "{[1, 2]} {null} {[2, 2]}", "struct{a: int8}",
               "{1} {2} {null}", "[0] [0, 2] [1]", "a");
  CHECK_GROUPS("struct{a: list_view<int8>}", "{[1, 2]} {null} {[2, 2]}", "struct{a: int8}",
               "{1} {2} {null}", "[0] [0, 2] [1]", "a");
}

TEST(combinations_of_lists) {
  CHECK_GROUPS("struct{a: list<int8>, b: list<string>, c: bool}",
               "{[1, 2], ['x', 'y'], true} {[2], ['x'], true} {[], ['x'], null}",
               "struct{a: int8, b: string, c: bool}",
               "{1, 'x', true} {1, 'y', true} {2, 'x', true} {2, 'y', true} {null, 'x', null}",
               "[0] [0] [0, 1] [0] [2]", "a", "b", "c");
}

TEST(paths_through_structs) {
  CHECK_GROUPS("struct{s: struct{x: int8, y: list<string>}}",
               "{{1, ['a', 'b']}} {null} {{1, null}} {{null, ['b']}}", NULL, NULL,
               "[0] [0] [1] [2] [3]", "s.x", "s.y");
  cst_array *batch = array_sample("struct{s: struct{x: int8}}", "{{1}} {null} {{1}}");
  static const char *const names[] = {"s.x", NULL};
  cst_groups out;
  CHECK_EQ(group(batch, names, &out, NULL), CST_OK);
  CHECK_STR(cst_array_schema(out.keys)->children[0]->name, "s.x");
  array_sample_check(out.rows, "large_list<int64>", "[0, 2] [1]");
  cst_array_release(out.keys);
  cst_array_release(out.rows);
  cst_array_release(batch);
}

TEST(no_columns) {
  static const char *const names[] = {NULL};
  check("struct{a: int8}", "{1} {2} {3}", names, "struct{}", "{}", "[0, 1, 2]");
  check("struct{a: int8}", "", names, "struct{}", "", "");
}

/* Bits that arrow_text cannot write. */
TEST(zeros_and_nans_of_floats) {
  static const uint32_t floats[] = {0,          0x80000000, 0x7fc00000, 0xffc00001,
                                    0x7f800000, 0xff800000, 0x7f800001};
  static const uint64_t doubles[] = {0,
                                     UINT64_C(1) << 63,
                                     UINT64_C(0x7ff8000000000000),
                                     UINT64_C(0xfff8000000000001),
                                     UINT64_C(0x7ff0000000000000),
                                     UINT64_C(0xfff0000000000000),
                                     UINT64_C(0x7ff0000000000001)};
  static const uint16_t halves[] = {0, 0x8000, 0x7e00, 0xfe01, 0x7c00, 0xfc00, 0x7c01};
  static const char *const types[] = {"struct{f: float16}", "struct{f: float32}",
                                      "struct{f: float64}"};
  const void *const bits[] = {halves, floats, doubles};
  for (size_t i = 0; i < 3; i++) {
    struct ArrowSchema schema;
    struct ArrowArray array;
    static const char *const steps[] = {"f"};
    static const cst_path path = {steps, 1};
    cst_array *batch = NULL;
    cst_groups out;
    arrow_text(types[i], "{1.5} {1.5} {1.5} {1.5} {1.5} {1.5} {1.5}", &schema, &array);
    memcpy((void *)(uintptr_t)array.children[0]->buffers[1], bits[i], (size_t)14 << i);
    CHECK_EQ(cst_array_import(&schema, &array, 0, NULL, &batch, NULL), CST_OK);
    ArrowSchemaRelease(&schema);
    CHECK_EQ(cst_array_group_by(batch, &path, 1, &out, NULL), CST_OK);
    array_sample_check(out.rows, "large_list<int64>", "[0, 1] [2, 3, 6] [4] [5]");
    cst_array_release(out.keys);
    cst_array_release(out.rows);
    cst_array_release(batch);
  }
}

TEST(slices) {
  static const char *const names[] = {"a", NULL};
  cst_array *whole = array_sample("struct{a: list<int8>}", "{[9]} {[1, 2]} {[2]} {[9]}");
  cst_array *part = NULL;
  cst_groups out;
  CHECK_EQ(cst_array_slice(whole, 1, 2, &part, NULL), CST_OK);
  CHECK_EQ(group(part, names, &out, NULL), CST_OK);
  array_sample_check(out.keys, "struct{a: int8}", "{1} {2}");
  array_sample_check(out.rows, "large_list<int64>", "[0] [0, 1]");
  cst_array_release(whole);
  cst_array_release(part);
  cst_array_release(out.keys);
  cst_array_release(out.rows);
}

/* More values than the table begins with; some hundred rows of each. */
TEST(many_values) {
  static const char *const types[] = {"struct{a: int32}", "struct{a: string}"};
  for (int t = 0; t < 2; t++) {
    char *rows = malloc(400000);
    char *to = rows;
    static const char *const names[] = {"a", NULL};
    cst_groups out;
    struct ArrowArray lists;
    for (int i = 0; i < 20000; i++) {
      int value = (int)((unsigned)i * 2654435761U % 5003);
      to += sprintf(to, t == 0 ? "{%d} " : "{'value %d'} ", value);
    }
    cst_array *batch = array_sample(types[t], rows);
    CHECK_EQ(group(batch, names, &out, NULL), CST_OK);
    CHECK_EQ(cst_array_length(out.rows), 5003);
    CHECK_EQ(cst_array_export(out.rows, &lists, NULL), CST_OK);
    const int64_t *offsets = lists.buffers[1];
    const int64_t *items = lists.children[0]->buffers[1];
    int64_t last_first = -1;
    for (int64_t g = 0; g < 5003; g++) {
      CHECK(items[offsets[g]] > last_first); /* in the order of first rows */
      last_first = items[offsets[g]];
      for (int64_t k = offsets[g]; k < offsets[g + 1]; k++) {
        unsigned value = (unsigned)items[k] * 2654435761U % 5003;
        CHECK_EQ(value, (unsigned)last_first * 2654435761U % 5003);
        CHECK(k == offsets[g] || items[k] > items[k - 1]);
      }
    }
    CHECK_EQ(offsets[5003], 20000);
    lists.release(&lists);
    cst_array_release(out.keys);
    cst_array_release(out.rows);
    cst_array_release(batch);
    free(rows);
  }
}

TEST(columns_that_are_no_keys) {
  static const char *const types[] = {"struct{a: timestamp}", "struct{a: struct{x: int8}}",
                                      "struct{a: list<struct{x: int8}>}"};
  static const char *const names[] = {"a", NULL};
  static const char *const none[] = {"b", NULL};
  cst_groups out;
  cst_error error = CST_ERROR_INIT;
  for (size_t i = 0; i < 3; i++) {
    cst_array *batch = array_sample(types[i], "");
    CHECK_EQ(group(batch, names, &out, &error), CST_SCHEMA);
    CHECK_STR(error.path, "a");
    CHECK(out.keys == NULL && out.rows == NULL);
    CHECK_EQ(group(batch, none, &out, &error), CST_NOT_FOUND);
    CHECK_STR(error.path, "b");
    cst_array_release(batch);
  }
}

TEST(arguments_that_are_missing) {
  cst_array *batch = array_sample("struct{a: int8}", "{1}");
  cst_groups out;
  static const char *const nothing[] = {NULL};
  const cst_path paths[] = {{NULL, 1}, {nothing, 1}, {nothing, 0}};
  CHECK_EQ(cst_array_group_by(NULL, NULL, 0, &out, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_group_by(batch, NULL, 0, NULL, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_group_by(batch, NULL, 1, &out, NULL), CST_INVALID_ARGUMENT);
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    CHECK_EQ(cst_array_group_by(batch, &paths[i], 1, &out, NULL), CST_INVALID_ARGUMENT);
  }
  cst_array_release(batch);
}

/* One row with 2^11 values in each of three columns. */
TEST(too_many_pairs) {
  char *row = malloc(40000);
  char *to = row + sprintf(row, "{");
  for (int column = 0; column < 3; column++) {
    to += sprintf(to, "[");
    for (int i = 0; i < 2048; i++) to += sprintf(to, "%d ", i);
    to += sprintf(to, "] ");
  }
  sprintf(to, "}");
  static const char *const names[] = {"a", "b", "c", NULL};
  cst_array *batch = array_sample("struct{a: list<int16>, b: list<int16>, c: list<int16>}", row);
  cst_groups out;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(group(batch, names, &out, &error), CST_LIMIT);
  CHECK_STR(error.path, "c");
  CHECK_CONTAINS(error.hint, "fewer columns");
  cst_array_release(batch);
  free(row);
}

static int group_some(void *context) {
  static const char *const names[] = {"a", "s.b", NULL};
  cst_groups out;
  cst_status status = group(context, names, &out, NULL);
  cst_array_release(out.keys);
  cst_array_release(out.rows);
  return status;
}

TEST(allocations_may_fail) {
  cst_array *batch = array_sample(
      "struct{a: list<string>, s: struct{b: int8}}",
      "{['x', 'y', 'a value that is long'], {1}} {null, {2}} {[], null} {['x'], {null}}");
  FOR_EACH_ALLOCATION_FAILURE(group_some, batch, CST_NO_MEMORY);
  cst_array_release(batch);
}
