/* Sorting the elements of lists. */
#include "query_run_support.h"

/* Sorts lists of structs by their `k`, and gives their `v`. */
static void check_sorted(const char *type, const char *format, bool descending, const char *rows,
                         const char *expected) {
  char batch_type[160];
  const cst__input_node nodes[] = {{.name = NULL},
                                   {.parent = 0, .name = "a"},
                                   {.parent = 1},
                                   {.parent = 2, .name = "k", .format = format},
                                   {.parent = 2, .name = "v", .format = "i"}};
  const cst__step steps[] = {
      STEP(RECORDS, 0, 0),
      LIST(0, 1),
      COLUMN(1, 3, format),
      COLUMN(1, 4, "i"),
      {.kind = CST__STEP_SORT, .num_args = 2, .args = {1, 2}, .parent = 0, .flag = descending},
      TAKE(3, 4, "i")};
  cst__output_part parts[] = {VALUES("v", 4, 5, 4)};
  const query_case c = {.type = batch_type,
                        .rows = rows,
                        .nodes = nodes,
                        .num_nodes = COUNT(nodes),
                        .steps = steps,
                        .num_steps = COUNT(steps),
                        .parts = parts,
                        .num_parts = 1,
                        .output_type = "struct{v: large_list<int32>}"};
  snprintf(batch_type, sizeof batch_type, "struct{a: list<struct{k: %s, v: int32}>}", type);
  query_check(&c, expected);
}

TEST(numbers_are_sorted_stably_with_nulls_last) {
  const char *rows = "{[{3, 1} {null, 2} {-1, 3} {3, 4} {null, 5} {2, 6}]} {null} {[]} {[{5, 7}]}";
  const char *up = "{[3 6 1 4 2 5]} {null} {[]} {[7]}";
  const char *down = "{[1 4 6 3 2 5]} {null} {[]} {[7]}";
  static const struct {
    const char *type;
    const char *format;
  } types[] = {{"int8", "c"},    {"int16", "s"},   {"int32", "i"},        {"int64", "l"},
               {"float32", "f"}, {"float64", "g"}, {"timestamp", "tss:"}, {"date32", "tdD"}};
  for (size_t i = 0; i < COUNT(types); i++) {
    check_sorted(types[i].type, types[i].format, false, rows, up);
    check_sorted(types[i].type, types[i].format, true, rows, down);
  }
}

TEST(large_numbers_zeros_and_nan) {
  check_sorted("uint64", "L", false,
               "{[{18446744073709551615, 1} {0, 2} {9223372036854775808, 3}]}", "{[2 3 1]}");
  check_sorted("int64", "l", true, "{[{-9223372036854775808, 1} {9223372036854775807, 2} {0, 3}]}",
               "{[2 3 1]}");
  check_sorted("float64", "g", false,
               "{[{null, 5} {nan, 1} {0.0, 2} {-0.0, 3} {-1.5, 4} {1.5, 6} {nan, 7}]}",
               "{[4 2 3 6 1 7 5]}");
  check_sorted("float32", "f", true, "{[{nan, 1} {0.0, 2} {-0.0, 3} {-1.5, 4} {null, 5} {1.5, 6}]}",
               "{[6 2 3 4 1 5]}");
}

TEST(bools_and_texts) {
  check_sorted("bool", "b", false, "{[{true, 1} {0, 2} {null, 3} {true, 4} {0, 5}]}",
               "{[2 5 1 4 3]}");
  const char *rows =
      "{[{'banana split', 1} {'banana', 2} {'', 3} {null, 4} {'banana spl', 5} {'apple', 6} "
      "{'banana split', 7}]}";
  check_sorted("string", "u", false, rows, "{[3 6 2 5 1 7 4]}");
  check_sorted("large_string", "U", true, rows, "{[1 7 5 2 6 3 4]}");
  check_sorted("string_view", "vu", false, rows, "{[3 6 2 5 1 7 4]}");
  check_sorted("fixed_binary[2]", "w:2", false, "{[{'bb', 1} {'ab', 2} {'ba', 3}]}", "{[2 3 1]}");
}

/* Longer than what is inserted one by one: runs are merged, and stay stable. */
TEST(long_lists_are_sorted) {
  static char rows[20000];
  static char expected[20000];
  for (int count = 15; count < 300; count += 41) {
    size_t at = (size_t)snprintf(rows, sizeof rows, "{[");
    size_t to = (size_t)snprintf(expected, sizeof expected, "{[");
    for (int i = 0; i < count; i++) {
      at += (size_t)snprintf(rows + at, sizeof rows - at, "{%d, %d} ", (i * 7) % 10, i);
    }
    for (int key = 0; key < 10; key++) {
      for (int i = 0; i < count; i++) {
        if ((i * 7) % 10 == key) {
          to += (size_t)snprintf(expected + to, sizeof expected - to, "%d ", i);
        }
      }
    }
    snprintf(rows + at, sizeof rows - at, "]}");
    snprintf(expected + to, sizeof expected - to, "]}");
    check_sorted("int64", "l", false, rows, expected);
  }
}

TEST(values_without_an_order_are_refused) {
  static const cst__input_node nodes[] = {
      {.name = NULL}, {.parent = 0, .name = "a"}, {.parent = 1, .format = "e"}};
  static const cst__step steps[] = {STEP(RECORDS, 0, 0), LIST(0, 1), COLUMN(1, 2, "e"),
                                    PLACE(SORT, 0, 2, 1, 2)};
  cst__output_part parts[] = {VALUES("a", 1, 2, 1)};
  const query_case c = {.type = "struct{a: list<float16>}",
                        .rows = "{[]}",
                        .nodes = nodes,
                        .num_nodes = COUNT(nodes),
                        .steps = steps,
                        .num_steps = COUNT(steps),
                        .parts = parts,
                        .num_parts = 1,
                        .output_type = "struct{a: large_list<float16>}"};
  cst_error error;
  query_check_fails(&c, CST_UNSUPPORTED, &error);
  CHECK_STR(error.message, "values of type float16 have no order");
}

TEST(sorting_without_memory) {
  static const cst__step steps[] = {SESSION_STEPS, PLACE(SORT, RECORDS, 2, EVENTS, QUERY),
                                    TAKE(PRICE, OWN, "i")};
  cst__output_part parts[] = {VALUES("p", OWN, OWN + 1, OWN)};
  const query_case c = SESSION_CASE("{1, [{'b', 1, []} {'a', 2, []}]}", steps, parts,
                                    "struct{p: large_list<int32>}");
  query_check(&c, "{[2 1]}");
  query_check_memory(&c);
}
