/* Statistics: features at any depth, slices, weights, and states that are merged and saved. */
#include <columnstone/accumulate.h>
#include <columnstone/statistics.h>
#include <math.h>

#include "arrow_text.h"

static cst_accumulator *new_statistics(const char *by, const char *weight, const char *slices) {
  const cst_option options[] = {{"by", by != NULL ? by : "", NULL},
                                {"slices", slices != NULL ? slices : "5", NULL},
                                {"weight", weight, NULL}};
  cst_accumulator *made;
  CHECK_EQ(cst_accumulator_new("statistics", options, weight != NULL ? 3 : 2, NULL, &made, NULL),
           CST_OK);
  return made;
}

static cst_status add_text(cst_accumulator *statistics, const char *type, const char *rows,
                           cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  arrow_text(type, rows, &schema, &array);
  cst_status status = cst_accumulator_add(statistics, &schema, &array, NULL, -1, error);
  array.release(&array);
  schema.release(&schema);
  return status;
}

/* "[value,]path TYPE present/rows values", and of numbers " mean" */
static void tell_features(const cst_accumulator *statistics, char *text, size_t room) {
  cst_findings *found;
  size_t at = 0;
  text[0] = '\0';
  CHECK_EQ(cst_accumulator_finish(statistics, &found, NULL), CST_OK);
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    size_t begin, end;
    cst_findings_items(found, "slice", i, &begin, &end);
    at += (size_t)snprintf(text + at, room - at, "%s", i > 0 ? "; " : "");
    for (; begin < end; begin++) {
      at += (size_t)snprintf(text + at, room - at, "%s,",
                             cst_findings_text(found, "slice.value", begin));
    }
    at += (size_t)snprintf(
        text + at, room - at, "%s %s %d/%d %d", cst_findings_text(found, "path", i),
        cst_findings_text(found, "type", i), (int)cst_findings_number(found, "present", i),
        (int)cst_findings_number(found, "rows", i), (int)cst_findings_number(found, "values", i));
    double mean = cst_findings_real(found, "mean", i);
    if (!isnan(mean)) {
      at += (size_t)snprintf(text + at, room - at, " %g", mean);
    }
  }
  cst_findings_free(found);
}

static void check_features(const cst_accumulator *statistics, const char *expected) {
  char text[2048];
  tell_features(statistics, text, sizeof text);
  CHECK_STR(text, expected);
}

static void check_rows(const char *type, const char *rows, const char *expected) {
  cst_accumulator *statistics = new_statistics(NULL, NULL, NULL);
  CHECK_EQ(add_text(statistics, type, rows, NULL), CST_OK);
  check_features(statistics, expected);
  cst_accumulator_free(statistics);
}

TEST(types) {
  check_rows("struct{a: int8}", "{1} {null} {4}", "a INT 2/3 2 2.5");
  check_rows("struct{a: uint64}", "{18446744073709551615}", "a UINT 1/1 1 1.84467e+19");
  check_rows("struct{a: bool}", "{true} {null}", "a BOOL 1/2 1 1");
  check_rows("struct{a: float32}", "{1.5}", "a FLOAT 1/1 1 1.5");
  check_rows("struct{a: timestamp}", "{10}", "a TIME 1/1 1 10");
  check_rows("struct{a: string, b: large_binary}", "{'x', null}", "a STRING 1/1 1; b BYTES 0/1 0");
  check_rows("struct{a: null}", "{null}", "a NULL 0/1 0");
  check_rows("struct{a: interval_months}", "{null}", "a OTHER 0/1 0");
}

TEST(lists_and_structs) {
  check_rows("struct{a: list<int64>}", "{[1, null, 3]} {[]} {null}", "a INT 2/3 2 2");
  check_rows("struct{a: list<list<int64>>}", "{[[1], null, [3, 5]]}", "a INT 1/1 3 3");
  check_rows("struct{s: struct{x: int64, y: string}}", "{{1, 'a'}} {null} {{null, 'b'}}",
             "s STRUCT 2/3 2; s.x INT 1/2 1 1; s.y STRING 2/2 2");
  check_rows("struct{s: list<struct{x: list<int64>}>}", "{[{[1, 2]}, {null}, null]} {[]} {null}",
             "s STRUCT 2/3 2; s.x INT 1/2 2 1.5");
}

TEST(slices) {
  cst_accumulator *statistics = new_statistics("g", NULL, NULL);
  CHECK_EQ(add_text(statistics, "struct{g: list<string>, a: int64}",
                    "{['p', 'q'], 1} {['p', 'p'], 3} {null, 5} {[null, 'q'], 7}", NULL),
           CST_OK);
  check_features(
      statistics,
      "a INT 4/4 4 4; g STRING 3/4 5; p,a INT 2/2 2 2; p,g STRING 2/2 4; q,a INT 2/2 2 4; "
      "q,g STRING 2/2 3");
  cst_accumulator_free(statistics);
}

TEST(slices_of_two_features) {
  cst_accumulator *statistics = new_statistics("g,h", NULL, NULL);
  CHECK_EQ(
      add_text(statistics, "struct{g: int64, h: bool}", "{1, true} {1, false} {null, true}", NULL),
      CST_OK);
  check_features(
      statistics,
      "g INT 2/3 2 1; h BOOL 3/3 3 0.666667; 1,false,g INT 1/1 1 1; 1,false,h BOOL 1/1 1 "
      "0; 1,true,g INT 1/1 1 1; 1,true,h BOOL 1/1 1 1");
  cst_accumulator_free(statistics);
}

TEST(weights) {
  cst_accumulator *statistics = new_statistics(NULL, "w", NULL);
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(add_text(statistics, "struct{a: list<int64>, w: list<float32>}",
                    "{[1, 1], [0.5]} {[4], [3]}", NULL),
           CST_OK);
  check_features(statistics, "a INT 2/2 3 2; w FLOAT 2/2 2 1.75");
  CHECK_EQ(add_text(statistics, "struct{w: list<float32>}", "{[1, 2]}", &error), CST_SCHEMA);
  CHECK_STR(error.message, "row 0 has 2 weights, expected one");
  CHECK_STR(error.path, "w");
  CHECK_EQ(add_text(statistics, "struct{w: float64}", "{-1}", &error), CST_SCHEMA);
  CHECK_EQ(add_text(statistics, "struct{a: int64}", "{1}", &error), CST_SCHEMA);
  check_features(statistics, "a INT 2/2 3 2; w FLOAT 2/2 2 1.75");
  cst_accumulator_free(statistics);
}

TEST(types_that_do_not_join_change_nothing) {
  cst_accumulator *a = new_statistics(NULL, NULL, NULL);
  cst_accumulator *b = new_statistics(NULL, NULL, NULL);
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(add_text(a, "struct{s: struct{x: int64}}", "{{1}}", NULL), CST_OK);
  CHECK_EQ(add_text(a, "struct{s: struct{x: bool}}", "{{true}}", NULL), CST_OK);
  CHECK_EQ(add_text(b, "struct{s: struct{x: string}}", "{{'1'}}", NULL), CST_OK);
  CHECK_EQ(add_text(a, "struct{s: struct{x: string}}", "{{'1'}}", &error), CST_SCHEMA);
  CHECK_STR(error.message, "the feature has the types INT and STRING");
  CHECK_STR(error.path, "s.x");
  CHECK_EQ(cst_accumulator_merge(a, b, &error), CST_SCHEMA);
  check_features(a, "s STRUCT 2/2 2; s.x INT 2/2 2 1");
  cst_accumulator_free(a);
  cst_accumulator_free(b);
}

static void save(const cst_accumulator *statistics, char **bytes, size_t *size) {
  CHECK_EQ(cst_accumulator_to_bytes(statistics, bytes, size, NULL), CST_OK);
}

/* Rows with more values of g than there may be slices: part by part, and all at once. */
TEST(slices_that_are_kept_do_not_depend_on_parts) {
  cst_accumulator *whole = new_statistics("g", NULL, "5");
  cst_accumulator *parts[3];
  static char merged[2048];
  for (int p = 0; p < 3; p++) {
    parts[p] = new_statistics("g", NULL, "5");
    for (int i = 0; i < 10; i++) {
      char row[64];
      (void)snprintf(row, sizeof row, "{%d, %d}", (7 * p + i) % 17, i);
      CHECK_EQ(add_text(parts[p], "struct{g: int64, a: int64}", row, NULL), CST_OK);
      CHECK_EQ(add_text(whole, "struct{g: int64, a: int64}", row, NULL), CST_OK);
    }
  }
  CHECK_EQ(cst_accumulator_merge(parts[1], parts[2], NULL), CST_OK);
  CHECK_EQ(cst_accumulator_merge(parts[0], parts[1], NULL), CST_OK);
  tell_features(parts[0], merged, sizeof merged);
  check_features(whole, merged);
  cst_findings *found;
  CHECK_EQ(cst_accumulator_finish(whole, &found, NULL), CST_OK);
  CHECK_EQ(cst_findings_total(found, "num_slices"), 5);
  CHECK_EQ(cst_findings_total(found, "num_slices_left_out"), 12);
  cst_findings_free(found);
  cst_accumulator_free(whole);
  for (int p = 0; p < 3; p++) {
    cst_accumulator_free(parts[p]);
  }
}

TEST(saved_states) {
  cst_accumulator *statistics = new_statistics("g", "w", NULL);
  cst_accumulator *other, *part;
  cst_error error = CST_ERROR_INIT;
  char *bytes, *again;
  size_t size, again_size;
  CHECK_EQ(add_text(statistics, "struct{g: string, w: int64, a: list<list<float64>>}",
                    "{'p', 1, [[1.5], null]} {'q', 2, null}", NULL),
           CST_OK);
  save(statistics, &bytes, &size);
  CHECK_EQ(cst_accumulator_from_bytes(bytes, size, NULL, &other, &error), CST_OK);
  save(other, &again, &again_size);
  CHECK_EQ(size, again_size);
  CHECK_MEM(bytes, again, size);
  for (size_t i = 0; i < size; i++) {
    CHECK_EQ(cst_accumulator_from_bytes(bytes, i, NULL, &part, &error), CST_CORRUPT);
  }
  cst_free(bytes);
  cst_free(again);
  cst_accumulator_free(statistics);
  cst_accumulator_free(other);
}

TEST(columns_that_are_not_there) {
  const cst_option option = {"columns", "a,b", NULL};
  cst_accumulator *statistics;
  cst_findings *found;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_accumulator_new("statistics", &option, 1, NULL, &statistics, NULL), CST_OK);
  CHECK_EQ(add_text(statistics, "struct{a: int64, c: int64}", "{1, 2}", NULL), CST_OK);
  CHECK_EQ(cst_accumulator_finish(statistics, &found, &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "b");
  cst_accumulator_free(statistics);
}

TEST(a_row_in_too_many_slices) {
  cst_accumulator *statistics = new_statistics("g", NULL, NULL);
  cst_error error = CST_ERROR_INIT;
  static char rows[8192] = "{[";
  for (int i = 0; i < 1001; i++) {
    (void)snprintf(rows + strlen(rows), sizeof rows - strlen(rows), "%d ", i);
  }
  strcat(rows, "]}");
  CHECK_EQ(add_text(statistics, "struct{g: list<int64>}", rows, &error), CST_LIMIT);
  CHECK_STR(error.message, "row 0 is in more than 1000 slices");
  CHECK_STR(error.path, "g");
  cst_accumulator_free(statistics);
}

/* ---- the table ---- */

static cst_findings *finish(const cst_accumulator *statistics) {
  cst_findings *found;
  CHECK_EQ(cst_accumulator_finish(statistics, &found, NULL), CST_OK);
  return found;
}

static cst_findings *find(const char *type, const char *rows, const char *weight) {
  cst_accumulator *statistics = new_statistics(NULL, weight, NULL);
  CHECK_EQ(add_text(statistics, type, rows, NULL), CST_OK);
  cst_findings *found = finish(statistics);
  cst_accumulator_free(statistics);
  return found;
}

static size_t num_items(const cst_findings *found, const char *column, size_t row) {
  size_t begin, end;
  return cst_findings_items(found, column, row, &begin, &end) ? end - begin : 0;
}

TEST(figures_stand_beside_those_by_weight) {
  cst_findings *found =
      find("struct{a: int64, s: string, w: int64}", "{1, 'p', 1} {1, 'qq', 0} {4, 'p', 3}", "w");
  CHECK_DOUBLE(cst_findings_real(found, "mean", 0), 2);
  CHECK_DOUBLE(cst_findings_real(found, "weighted_mean", 0), 3.25);
  CHECK_DOUBLE(cst_findings_real(found, "weighted_std_dev", 0), sqrt(1.6875));
  CHECK_DOUBLE(cst_findings_real(found, "values_weight", 0), 4);
  CHECK_DOUBLE(cst_findings_real(found, "quantiles.", 50), 1);
  CHECK_DOUBLE(cst_findings_real(found, "weighted_quantiles.", 50), 4);
  CHECK_DOUBLE(cst_findings_real(found, "histogram.weight", 0), 2);
  CHECK_DOUBLE(cst_findings_real(found, "weighted_histogram.weight", 0), 1);
  CHECK_DOUBLE(cst_findings_real(found, "mean_length", 1), 4 / 3.0);
  CHECK_DOUBLE(cst_findings_real(found, "weighted_mean_length", 1), 1);
  CHECK_EQ(num_items(found, "top", 1), 2);
  CHECK_EQ(num_items(found, "weighted_top", 1), 1); /* the other weighs nothing */
  cst_findings_free(found);
  found = find("struct{a: int64, s: string}", "{1, 'p'}", NULL);
  CHECK(isnan(cst_findings_real(found, "weighted_mean", 0)));
  CHECK(isnan(cst_findings_real(found, "values_weight", 0)));
  CHECK(isnan(cst_findings_real(found, "weighted_mean_length", 1)));
  CHECK_EQ(num_items(found, "quantiles", 0), 101);
  CHECK_EQ(num_items(found, "weighted_quantiles", 0), 0);
  CHECK_EQ(num_items(found, "weighted_histogram", 0), 0);
  CHECK_EQ(num_items(found, "weighted_top", 1), 0);
  cst_findings_free(found);
}

TEST(weights_of_lists) {
  cst_findings *found = find("struct{a: list<list<int8>>, w: float64}",
                             "{[[1, 2], null], 0.5} {null, 2} {[], 4} {[[3]], 8}", "w");
  const double expected[2][3] = {{2, 12.5, 9}, {0.5, 8.5, 9}};
  for (size_t level = 0; level < 2; level++) {
    CHECK_DOUBLE(cst_findings_real(found, "levels.nulls_weight", level), expected[level][0]);
    CHECK_DOUBLE(cst_findings_real(found, "levels.lists_weight", level), expected[level][1]);
    CHECK_DOUBLE(cst_findings_real(found, "levels.items_weight", level), expected[level][2]);
  }
  cst_findings_free(found);
  found = find("struct{a: list<int8>}", "{[1]}", NULL);
  CHECK(isnan(cst_findings_real(found, "levels.items_weight", 0)));
  cst_findings_free(found);
}

TEST(lengths) {
  cst_findings *found = find("struct{a: list<int8>, b: list<int8>, c: int8, d: list<int8>}",
                             "{[1], [1, 2], 0, null} {[], [3, 4], 0, null}", NULL);
  CHECK_EQ(num_items(found, "lengths", 0), 11);
  CHECK_DOUBLE(cst_findings_real(found, "lengths.", 0), 0);
  CHECK_DOUBLE(cst_findings_real(found, "lengths.", 5), 0);
  CHECK_DOUBLE(cst_findings_real(found, "lengths.", 10), 1);
  CHECK_DOUBLE(cst_findings_real(found, "lengths.", 11), 2); /* of b */
  CHECK_DOUBLE(cst_findings_real(found, "lengths.", 21), 2);
  CHECK_EQ(num_items(found, "lengths", 2), 0);
  CHECK_EQ(num_items(found, "lengths", 3), 0);
  cst_findings_free(found);
}

/* Lists that are alike are not sketched, until others come. */
TEST(lengths_of_parts_that_are_alike) {
  static const char *const parts[] = {"{[1, 2]} {[3, 4]}", "{[5, 6]}", "{null}", "{[]}",
                                      "{[7]} {[]}"};
  enum { PARTS = sizeof parts / sizeof parts[0] };
  cst_accumulator *all[PARTS];
  cst_accumulator *whole = new_statistics(NULL, NULL, NULL);
  for (int i = 0; i < PARTS; i++) {
    all[i] = new_statistics(NULL, NULL, NULL);
    CHECK_EQ(add_text(all[i], "struct{a: list<int8>}", parts[i], NULL), CST_OK);
    CHECK_EQ(add_text(whole, "struct{a: list<int8>}", parts[i], NULL), CST_OK);
  }
  CHECK_EQ(cst_accumulator_merge(all[2], all[3], NULL), CST_OK);
  CHECK_EQ(cst_accumulator_merge(all[0], all[1], NULL), CST_OK);
  CHECK_EQ(cst_accumulator_merge(all[0], all[2], NULL), CST_OK);
  CHECK_EQ(cst_accumulator_merge(all[0], all[4], NULL), CST_OK);
  cst_findings *one = finish(whole);
  cst_findings *other = finish(all[0]);
  const double expected[] = {0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2}; /* of 0, 0, 1, 2, 2, 2 */
  for (size_t i = 0; i < 11; i++) {
    CHECK_DOUBLE(cst_findings_real(one, "lengths.", i), expected[i]);
    CHECK_DOUBLE(cst_findings_real(other, "lengths.", i), expected[i]);
  }
  cst_findings_free(one);
  cst_findings_free(other);
  cst_accumulator_free(whole);
  for (int i = 0; i < PARTS; i++) {
    cst_accumulator_free(all[i]);
  }
}

static void check_tokens(const char *value, double expected) {
  char row[128];
  (void)snprintf(row, sizeof row, "{'%s'}", value);
  cst_findings *found = find("struct{a: string}", row, NULL);
  CHECK_DOUBLE(cst_findings_real(found, "mean_tokens", 0), expected);
  cst_findings_free(found);
}

TEST(tokens) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
  char text[64];
  for (int size = 0; size <= 20; size++) { /* one token, at any place in its words */
    (void)snprintf(text, sizeof text, "%.*s", size, letters);
    check_tokens(text, size > 0);
    for (int at = 0; at < size; at++) {
      (void)snprintf(text, sizeof text, "%.*s", size, letters);
      text[at] = ' ';
      check_tokens(text, (at > 0) + (at < size - 1));
    }
  }
  check_tokens("  a \t\tb\n\xc3\xa4 c\r\v\fd  e f g ", 8);
  check_tokens("        ", 0);
  check_tokens("\x01\x08\x0e\x1f!\x7f", 1); /* control characters are no white space */
}

TEST(tokens_are_of_strings_alone) {
  cst_accumulator *texts = new_statistics(NULL, NULL, NULL);
  cst_accumulator *bytes = new_statistics(NULL, NULL, NULL);
  CHECK_EQ(add_text(texts, "struct{a: string}", "{'x y'} {null} {'z'}", NULL), CST_OK);
  CHECK_EQ(add_text(bytes, "struct{a: binary}", "{'x y'}", NULL), CST_OK);
  cst_findings *found = finish(texts);
  CHECK_DOUBLE(cst_findings_real(found, "mean_tokens", 0), 1.5);
  cst_findings_free(found);
  CHECK_EQ(cst_accumulator_merge(texts, bytes, NULL), CST_OK);
  found = finish(texts);
  CHECK(isnan(cst_findings_real(found, "mean_tokens", 0)));
  cst_findings_free(found);
  cst_accumulator_free(texts);
  cst_accumulator_free(bytes);
}

static void check_sketch(const cst_accumulator *statistics, size_t row, const char *kind,
                         cst_status expected) {
  cst_sketch *sketch;
  CHECK_EQ(cst_statistics_sketch(statistics, row, kind, false, &sketch, NULL), expected);
  CHECK(expected == CST_OK ? strcmp(cst_sketch_kind(sketch), kind) == 0 : sketch == NULL);
  cst_sketch_free(sketch);
}

/* A copy of a feature's sketch answers as one to which the values were added. */
TEST(sketches_of_features) {
  cst_accumulator *statistics = new_statistics("g", "w", NULL);
  cst_sketch *weighted;
  double low, high, estimate;
  CHECK_EQ(
      add_text(statistics,
               "struct{a: int64, f: float64, g: string, s: struct{b: bool}, "
               "w: int64}",
               "{1, 1.5, 'p', {true}, 3} {2, 2.5, 'q', {null}, 1} {null, 0, 'p', null, 1}", NULL),
      CST_OK);
  check_sketch(statistics, 0, "quantiles", CST_OK); /* a, of all rows */
  check_sketch(statistics, 0, "heavy_hitters", CST_OK);
  check_sketch(statistics, 1, "heavy_hitters", CST_UNSUPPORTED); /* f */
  check_sketch(statistics, 2, "quantiles", CST_UNSUPPORTED);     /* g */
  check_sketch(statistics, 3, "distinct", CST_UNSUPPORTED);      /* s */
  check_sketch(statistics, 4, "quantiles", CST_OK);              /* s.b */
  check_sketch(statistics, 17, "distinct", CST_OK);              /* w of the second slice */
  check_sketch(statistics, 18, "distinct", CST_INVALID_ARGUMENT);
  check_sketch(statistics, 0, "kmv", CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_statistics_sketch(statistics, 0, "distinct", true, &weighted, NULL),
           CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_statistics_sketch(statistics, 0, "quantiles", true, &weighted, NULL), CST_OK);
  CHECK_EQ(cst_sketch_num_values(weighted), 2);
  cst_sketch_free(weighted);
  CHECK_EQ(cst_statistics_sketch(statistics, 2, "distinct", false, &weighted, NULL), CST_OK);
  CHECK_EQ(cst_sketch_distinct(weighted, 2, &estimate, &low, &high, NULL), CST_OK);
  CHECK_DOUBLE(estimate, 2);
  cst_sketch_free(weighted);
  cst_accumulator_free(statistics);
}

/* Slices and their keys fill it: before it is an error, the totals tell. */
TEST(memory_that_gets_scarce) {
  const cst_option options[] = {
      {"by", "g", NULL}, {"slices", "100000", NULL}, {"memory", "1", NULL}};
  cst_accumulator *statistics;
  cst_error error = CST_ERROR_INIT;
  cst_status status = CST_OK;
  int64_t before = -1;
  int told = 0;
  CHECK_EQ(cst_accumulator_new("statistics", options, 3, NULL, &statistics, NULL), CST_OK);
  for (int i = 0; i < 10000 && status == CST_OK; i++) {
    char row[1100];
    (void)snprintf(row, sizeof row, "{'%01000d'}", i);
    status = add_text(statistics, "struct{g: string}", row, &error);
    if (status == CST_OK) {
      cst_findings *found = finish(statistics);
      const int64_t memory = cst_findings_total(found, "memory");
      CHECK(memory == -1 ? told == 0 : memory > before && memory <= 1 << 20);
      CHECK_EQ(cst_findings_total(found, "memory_limit"), memory == -1 ? -1 : 1 << 20);
      CHECK(memory == -1 || memory > (1 << 20) * 4 / 5);
      CHECK(memory == -1 || told > 0 || memory < (1 << 20) * 5 / 6); /* not too late */
      told += memory != -1;
      before = memory;
      cst_findings_free(found);
    }
  }
  CHECK_EQ(status, CST_LIMIT);
  CHECK(told > 10);
  CHECK_CONTAINS(error.message, "statistics of 1 features in ");
  CHECK_CONTAINS(error.message, " slices take more than 1 MiB");
  cst_accumulator_free(statistics);
}

/* Weights whose sum no double holds: of rows, and of items of lists. */
TEST(weights_that_are_too_large) {
  static const char *const types[] = {"struct{w: float64}", "struct{a: list<string>, w: float64}"};
  static const char *const rows[][2] = {{"{1.0e308}", "{1.0e308}"},
                                        {"{['x'], 1.0e308}", "{['x', 'x'], 5.0e307}"}};
  for (int k = 0; k < 2; k++) {
    cst_accumulator *a = new_statistics(NULL, "w", NULL);
    cst_accumulator *b = new_statistics(NULL, "w", NULL);
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(add_text(a, types[k], rows[k][0], NULL), CST_OK);
    CHECK_EQ(add_text(b, types[k], rows[k][1], NULL), CST_OK);
    CHECK_EQ(cst_accumulator_merge(b, a, &error), CST_LIMIT);
    CHECK_STR(error.path, "w");
    CHECK_EQ(add_text(a, types[k], rows[k][1], &error), CST_LIMIT);
    CHECK_STR(error.message, "the sum of the weights is beyond what a double holds");
    CHECK_STR(error.path, "w");
    cst_accumulator_free(a);
    cst_accumulator_free(b);
  }
}

/* ---- pairs ---- */

static cst_accumulator *new_pairs(const char *pairs) {
  const cst_option options[] = {{"pairs", pairs, NULL}, {"by", "g", NULL}};
  cst_accumulator *made;
  CHECK_EQ(cst_accumulator_new("statistics", options, 2, NULL, &made, NULL), CST_OK);
  return made;
}

/* "a b count correlation covariance information", of the features of all rows and then of slices */
static void check_pairs(const cst_accumulator *statistics, const char *expected) {
  char text[1024] = "";
  size_t at = 0;
  cst_findings *found = finish(statistics);
  for (size_t row = 0; row < cst_findings_num_rows(found); row++) {
    size_t begin, end;
    CHECK(cst_findings_items(found, "pairs", row, &begin, &end));
    for (size_t i = begin; i < end; i++) {
      at += (size_t)snprintf(text + at, sizeof text - at, "%s%s %s %d %.3g %.3g %.3g",
                             at > 0 ? "; " : "", cst_findings_text(found, "path", row),
                             cst_findings_text(found, "pairs.other", i),
                             (int)cst_findings_number(found, "pairs.count", i),
                             cst_findings_real(found, "pairs.correlation", i),
                             cst_findings_real(found, "pairs.covariance", i),
                             cst_findings_real(found, "pairs.mutual_information", i));
    }
  }
  cst_findings_free(found);
  CHECK_STR(text, expected);
}

TEST(pairs) {
  cst_accumulator *statistics = new_pairs("b:a,a:b,s:a");
  CHECK_EQ(add_text(statistics, "struct{g: string, a: list<int64>, b: float64, s: string}",
                    "{null, [1], 2, 'x'} {null, [2], 4, 'y'} {'p', [3, 4], 5, 'x'} "
                    "{'p', [5], null, 'x'} {'p', null, 7, 'z'} {'p', [1], 2, null}",
                    NULL),
           CST_OK);
  check_pairs(statistics,
              "a b 3 1 0.444 0.637; a s 3 nan nan 0.637; b a 3 1 0.444 0.637; s a 3 nan nan 0.637; "
              "a b 1 nan 0 0; a s 1 nan nan 0; b a 1 nan 0 0; s a 1 nan nan 0");
  cst_accumulator_free(statistics);
}

TEST(pairs_of_all_numbers) {
  cst_accumulator *statistics = new_pairs("*");
  CHECK_EQ(add_text(statistics, "struct{g: string, c: bool, a: int8}", "{'p', true, 1}", NULL),
           CST_OK);
  CHECK_EQ(add_text(statistics, "struct{g: string, a: int64, d: float64}", "{null, 2, 5}", NULL),
           CST_OK);
  check_pairs(statistics, "a c 1 nan 0 0; a d 1 nan 0 0; c a 1 nan 0 0; d a 1 nan 0 0; "
                          "a c 1 nan 0 0; c a 1 nan 0 0");
  cst_accumulator_free(statistics);
}

/* Of more than 100 values there is no mutual information, wherever the data was divided. */
TEST(pairs_of_many_values) {
  cst_accumulator *parts[2] = {new_pairs("a:b"), new_pairs("a:b")};
  for (int i = 0; i < 101; i++) {
    char row[64];
    (void)snprintf(row, sizeof row, "{null, %d, 1}", i);
    CHECK_EQ(add_text(parts[i % 2], "struct{g: string, a: int8, b: int8}", row, NULL), CST_OK);
  }
  check_pairs(parts[0], "a b 51 nan 0 0; b a 51 nan 0 0");
  CHECK_EQ(cst_accumulator_merge(parts[0], parts[1], NULL), CST_OK);
  check_pairs(parts[0], "a b 101 nan 0 nan; b a 101 nan 0 nan");
  CHECK_EQ(cst_accumulator_merge(parts[1], parts[0], NULL), CST_OK);
  check_pairs(parts[1], "a b 151 nan 0 nan; b a 151 nan 0 nan");
  cst_accumulator_free(parts[0]);
  cst_accumulator_free(parts[1]);
}

TEST(what_are_no_pairs) {
  static const char *const wrong[] = {"a", "a:", ":a", "a:a", "*,a:b"};
  cst_accumulator *statistics;
  cst_findings *found;
  cst_error error = CST_ERROR_INIT;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const cst_option option = {"pairs", wrong[i], NULL};
    CHECK_EQ(cst_accumulator_new("statistics", &option, 1, NULL, &statistics, &error),
             CST_INVALID_ARGUMENT);
    CHECK_STR(error.message, "`pairs` are two columns each, with a colon between them");
  }
  statistics = new_pairs("a:s");
  CHECK_EQ(add_text(statistics, "struct{a: int64, s: struct{x: int64}}", "{1, {1}}", &error),
           CST_UNSUPPORTED);
  CHECK_STR(error.path, "s");
  cst_accumulator_free(statistics);
  statistics = new_pairs("a:b");
  CHECK_EQ(add_text(statistics, "struct{g: string, a: int64}", "{null, 1}", NULL), CST_OK);
  CHECK_EQ(cst_accumulator_finish(statistics, &found, &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "b");
  cst_accumulator_free(statistics);
}

typedef struct memory_case {
  struct ArrowSchema schema;
  struct ArrowArray array;
} memory_case;

static int run_all(void *context) {
  static const cst_option options[] = {
      {"by", "g", NULL}, {"weight", "w", NULL}, {"pairs", "g:w", NULL}};
  const memory_case *m = context;
  cst_accumulator *all[3] = {NULL, NULL, NULL};
  cst_findings *found = NULL;
  char *bytes = NULL;
  size_t size = 0;
  cst_status status = CST_OK;
  for (int i = 0; i < 2 && status == CST_OK; i++) {
    status = cst_accumulator_new("statistics", options, 3, NULL, &all[i], NULL);
    status = status == CST_OK ? cst_accumulator_add(all[i], &m->schema, &m->array, NULL, -1, NULL)
                              : status;
  }
  status = status == CST_OK ? cst_accumulator_merge(all[0], all[1], NULL) : status;
  status = status == CST_OK ? cst_accumulator_to_bytes(all[0], &bytes, &size, NULL) : status;
  status = status == CST_OK ? cst_accumulator_from_bytes(bytes, size, NULL, &all[2], NULL) : status;
  status = status == CST_OK ? cst_accumulator_finish(all[2], &found, NULL) : status;
  cst_findings_free(found);
  cst_free(bytes);
  for (int i = 0; i < 3; i++) {
    cst_accumulator_free(all[i]);
  }
  return (int)status;
}

TEST(without_memory) {
  memory_case m;
  arrow_text("struct{g: string, w: int64, a: list<list<float64>>}",
             "{'p', 1, [[1.5], null]} {'q', 2, null} {'p', 3, []}", &m.schema, &m.array);
  FOR_EACH_ALLOCATION_FAILURE(run_all, &m, CST_NO_MEMORY);
  m.array.release(&m.array);
  m.schema.release(&m.schema);
}
