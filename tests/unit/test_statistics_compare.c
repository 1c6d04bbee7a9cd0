/* Comparing statistics: measures by hand, what is told and what is not, thresholds. */
#include <columnstone/accumulate.h>
#include <columnstone/statistics.h>
#include <math.h>

#include "arrow_text.h"

/* The table of rows of a type, with the options of the accumulator. */
static cst_findings *features_with(const char *type, const char *rows, const cst_option *options,
                                   size_t num_options) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_accumulator *made;
  cst_findings *found;
  CHECK_EQ(cst_accumulator_new("statistics", options, num_options, NULL, &made, NULL), CST_OK);
  arrow_text(type, rows, &schema, &array);
  CHECK_EQ(cst_accumulator_add(made, &schema, &array, NULL, -1, NULL), CST_OK);
  CHECK_EQ(cst_accumulator_finish(made, &found, NULL), CST_OK);
  array.release(&array);
  schema.release(&schema);
  cst_accumulator_free(made);
  return found;
}

static cst_findings *features(const char *type, const char *rows) {
  const cst_option options[] = {{"quantiles", "100", NULL}};
  return features_with(type, rows, options, 1);
}

/* Frees both tables. */
static cst_findings *compare_with(cst_findings *before, cst_findings *after, const char *schema,
                                  const cst_option *options, size_t num_options) {
  cst_compare_options all = CST_COMPARE_OPTIONS_INIT;
  cst_schema *parsed = NULL;
  cst_findings *found = NULL;
  if (schema != NULL) {
    CHECK_EQ(cst_schema_from_text(schema, strlen(schema), &parsed, NULL), CST_OK);
  }
  all.schema = parsed;
  all.options = options;
  all.num_options = num_options;
  CHECK_EQ(cst_statistics_compare(before, after, &all, &found, NULL), CST_OK);
  cst_schema_release(parsed);
  cst_findings_free(before);
  cst_findings_free(after);
  return found;
}

static cst_findings *compare(const char *before_type, const char *before, const char *after_type,
                             const char *after) {
  return compare_with(features(before_type, before), features(after_type, after), NULL, NULL, 0);
}

static void check_near(const cst_findings *found, const char *column, size_t row, double expected,
                       double error) {
  const double real = cst_findings_real(found, column, row);
  if (!(fabs(real - expected) <= error)) {
    printf("%s: ", column);
    CHECK_DOUBLE(real, expected);
  }
}

static size_t count_items(const cst_findings *found, const char *column, size_t row) {
  size_t begin, end;
  CHECK(cst_findings_items(found, column, row, &begin, &end));
  return end - begin;
}

TEST(strings) {
  cst_findings *found = compare("struct{a: string}", "{'a'} {'a'} {'b'} {'b'}", "struct{a: string}",
                                "{'a'} {'b'} {'b'} {'c'}");
  CHECK_STR(cst_findings_name(found), "drift");
  CHECK_EQ(cst_findings_num_rows(found), 1);
  CHECK_STR(cst_findings_text(found, "state", 0), "both");
  check_near(found, "linf", 0, 0.25, 1e-15);
  check_near(found, "linf_low", 0, 0.25, 1e-15);
  check_near(found, "linf_high", 0, 0.25, 1e-15);
  check_near(found, "normalized_abs_difference", 0, 0.125, 1e-15);
  check_near(found, "jensen_shannon", 0, 0.15563906222956644, 1e-12);
  check_near(found, "psi", 0, 2.1285159, 1e-6); /* -.25 ln .5 + .2499 ln 2500 */
  CHECK(isnan(cst_findings_real(found, "ks", 0)));
  CHECK(isnan(cst_findings_real(found, "resolution", 0)));
  check_near(found, "score", 0, 0.25, 1e-15);
  CHECK_EQ(count_items(found, "new_values", 0), 1);
  CHECK_STR(cst_findings_text(found, "new_values.value", 0), "c");
  check_near(found, "new_values.share", 0, 0.25, 0);
  CHECK_EQ(count_items(found, "lost_values", 0), 0);
  CHECK_STR(cst_findings_text(found, "what", 0),
            "25 % of values are now \"c\", which was not there before");
  CHECK_EQ(cst_findings_total(found, "num_anomalies"), 0);
  CHECK_EQ(cst_findings_total(found, "num_rows_before"), 4);
  cst_findings_free(found);
}

TEST(numbers) {
  cst_findings *found =
      compare("struct{a: float64}", "{1} {2} {3} {4}", "struct{a: float64}", "{3} {4} {5} {6}");
  check_near(found, "ks", 0, 0.5, 1e-12);
  check_near(found, "jensen_shannon", 0, 0.5, 1e-9);
  check_near(found, "resolution", 0, 0.01, 1e-15);
  check_near(found, "mean_before", 0, 2.5, 0);
  check_near(found, "mean_after", 0, 4.5, 0);
  CHECK(isnan(cst_findings_real(found, "linf", 0)));
  CHECK_STR(cst_findings_text(found, "what", 0),
            "0 % of values are at most 2 now, 50 % before (median 4, was 2)");
  cst_findings_free(found);
}

/* Half of them lie between 0 and 1 before, and all of them after. */
TEST(even_numbers) {
  static char before[40000] = "", after[40000] = "";
  for (int i = 0; i < 1000; i++) {
    (void)snprintf(before + strlen(before), 24, "{%g} ", i / 500.0);
    (void)snprintf(after + strlen(after), 24, "{%g} ", i / 1000.0);
  }
  cst_findings *found = compare("struct{a: float64}", before, "struct{a: float64}", after);
  check_near(found, "ks", 0, 0.5, 0.01);
  /* 1/2 (1 log2 (1 / .75)) + 1/2 (.5 log2 (.5 / .75) + .5 log2 2) */
  check_near(found, "jensen_shannon", 0, 0.3112781, 0.01);
  /* Bins of .1 that have .2 (4), .199, .001, and nothing (4): 4 * .1 ln 2 + .099 ln 1.99 +
   * .099 ln 100 + 4 * .0999 ln 1000 */
  check_near(found, "psi", 0, 3.5615, 0.002);
  cst_findings_free(found);
}

static void check_same(const char *type, const char *rows) {
  cst_findings *found = compare(type, rows, type, rows);
  CHECK_EQ(cst_findings_num_rows(found), 1);
  CHECK_STR(cst_findings_text(found, "state", 0), "both");
  CHECK_STR(cst_findings_text(found, "what", 0), "as before");
  CHECK_DOUBLE(cst_findings_real(found, "score", 0), 0);
  cst_findings_free(found);
}

TEST(the_same) {
  check_same("struct{a: int64}", "{1} {2} {2} {null} {-7}");
  check_same("struct{a: int64}", "{5} {5}");
  check_same("struct{a: int64}", "{null} {null}");
  check_same("struct{a: null}", "{null}");
  check_same("struct{a: float64}", "{nan} {nan}");
  check_same("struct{a: float64}", "{nan} {1} {inf} {-inf} {0} {-0}");
  check_same("struct{a: bool}", "{true} {false}");
  check_same("struct{a: list<string>}", "{['x', 'y']} {[]} {null}");
  check_same("struct{a: interval_months}", "{null}");
}

static void check_what(const char *before_type, const char *before, const char *after_type,
                       const char *after, const char *expected) {
  char text[256];
  cst_findings *found = compare(before_type, before, after_type, after);
  (void)snprintf(text, sizeof text, "%s %g: %s", cst_findings_text(found, "state", 0),
                 cst_findings_real(found, "score", 0), cst_findings_text(found, "what", 0));
  CHECK_STR(text, expected);
  cst_findings_free(found);
}

TEST(states) {
  check_what("struct{}", "{}", "struct{a: int64}", "{1} {null}",
             "new 1: new: 50 % of rows have it");
  check_what("struct{a: string}", "{'1'} {'2'}", "struct{}", "{}",
             "lost 1: gone: 100 % of rows had it");
  check_what("struct{a: string}", "{'1'}", "struct{a: int64}", "{1}",
             "changed-type 1: INT now, STRING before");
  check_what("struct{a: null}", "{null}", "struct{a: int64}", "{1}",
             "both 1: there were no values before");
  check_what("struct{a: list<int64>}", "{[1]}", "struct{a: list<int64>}", "{[]}",
             "both 1: there are no values any more");
  check_what("struct{a: int64}", "{1} {1}", "struct{a: int64}", "{1} {null}",
             "both 0.5: 50 % of rows have it now, 100 % before");
  check_what("struct{a: float64}", "{1} {1}", "struct{a: float64}", "{1} {nan}",
             "both 0.5: 50 % of values are NaN now, 0 % before");
  check_what("struct{a: bool}", "{true} {true}", "struct{a: bool}", "{true} {false}",
             "both 0.5: 50 % of values are now \"false\", which was not there before");
}

/* Integers that one side tells one by one, and the other one by tenths of the values. */
TEST(quantiles_of_two_numbers_of_parts) {
  const cst_option few = {"quantiles", "10", NULL};
  static char rows[20000] = "";
  for (int i = 0; i < 1000; i++) {
    (void)snprintf(rows + strlen(rows), 16, "{%d} ", i % 20);
  }
  for (int way = 0; way < 2; way++) {
    cst_findings *coarse = features_with("struct{a: float64}", rows, &few, 1);
    cst_findings *fine = features("struct{a: float64}", rows);
    cst_findings *found =
        compare_with(way == 0 ? coarse : fine, way == 0 ? fine : coarse, NULL, NULL, 0);
    check_near(found, "resolution", 0, 0.1, 1e-15);
    check_near(found, "ks", 0, 0, 0.1);
    check_near(found, "jensen_shannon", 0, 0, 0.03);
    check_near(found, "psi", 0, 0, 0.1);
    cst_findings_free(found);
  }
}

/* Bools are told in words, and are numbers beside numbers. */
TEST(bools_that_become_numbers) {
  cst_findings *found = compare("struct{a: bool}", "{true} {false} {true} {true}",
                                "struct{a: int64}", "{1} {0} {1} {1}");
  CHECK_STR(cst_findings_text(found, "state", 0), "changed-type");
  CHECK(isnan(cst_findings_real(found, "linf", 0)));
  CHECK_DOUBLE(cst_findings_real(found, "ks", 0), 0);
  CHECK_DOUBLE(cst_findings_real(found, "jensen_shannon", 0), 0);
  cst_findings_free(found);
}

TEST(strings_are_bytes_of_other_formats) {
  cst_findings *found =
      compare("struct{a: string}", "{'p'} {'q'}", "struct{a: binary}", "{'p'} {'q'}");
  CHECK_STR(cst_findings_text(found, "state", 0), "both");
  CHECK_DOUBLE(cst_findings_real(found, "score", 0), 0);
  cst_findings_free(found);
}

TEST(constants_infinities_and_nan) {
  cst_findings *found =
      compare("struct{a: float64, b: float64, c: float64}", "{5, inf, nan} {5, inf, nan}",
              "struct{a: float64, b: float64, c: float64}", "{6, 0, 1} {6, 0, 1}");
  CHECK_EQ(cst_findings_num_rows(found), 3);
  for (size_t i = 0; i < 3; i++) {
    CHECK_DOUBLE(cst_findings_real(found, "ks", i), 1);
    check_near(found, "jensen_shannon", i, 1, 1e-12);
    CHECK(cst_findings_real(found, "psi", i) > 9);
  }
  cst_findings_free(found);
}

TEST(no_rows) {
  cst_findings *found = compare("struct{a: int64}", "", "struct{a: int64}", "{1} {2}");
  CHECK_EQ(cst_findings_total(found, "num_rows_before"), 0);
  CHECK_EQ(cst_findings_total(found, "num_rows_after"), 2);
  CHECK_EQ(cst_findings_num_rows(found), 1);
  CHECK(isnan(cst_findings_real(found, "presence_change", 0)));
  CHECK(isnan(cst_findings_real(found, "ks", 0)));
  cst_findings_free(found);
  found = compare("struct{a: int64}", "", "struct{a: int64}", "");
  CHECK_EQ(cst_findings_total(found, "num_anomalies"), 0);
  cst_findings_free(found);
}

/* Only one value is told of each side: of the others it is known what they may be at most. */
TEST(values_that_are_not_told) {
  const cst_option options[] = {{"top", "1", NULL}};
  const char *type = "struct{a: string}";
  const char *first = "{'a'} {'a'} {'a'} {'a'} {'a'} {'a'} {'b'} {'b'} {'b'} {'c'}";
  const char *second = "{'b'} {'b'} {'b'} {'b'} {'b'} {'b'} {'a'} {'a'} {'a'} {'c'}";
  cst_findings *found = compare_with(features_with(type, first, options, 1),
                                     features_with(type, second, options, 1), NULL, NULL, 0);
  check_near(found, "linf", 0, 0.2, 1e-12);
  check_near(found, "linf_low", 0, 0.2, 1e-12);
  check_near(found, "linf_high", 0, 0.6, 1e-12);
  CHECK_EQ(count_items(found, "new_values", 0), 0);
  CHECK_EQ(count_items(found, "lost_values", 0), 0);
  CHECK_STR(cst_findings_text(found, "what", 0),
            "at most 40 % of values are now \"a\", 60 % before");
  cst_findings_free(found);
  found = compare_with(features_with(type, first, options, 1),
                       features_with(type, first, options, 1), NULL, NULL, 0);
  check_near(found, "linf", 0, 0, 0);
  check_near(found, "linf_high", 0, 0.4, 1e-12);
  check_near(found, "jensen_shannon", 0, 0, 1e-15);
  cst_findings_free(found);
}

TEST(slices_and_order) {
  const cst_option options[] = {{"by", "g", NULL}, {"quantiles", "100", NULL}};
  const char *type = "struct{g: string, a: int64, b: int64}";
  cst_findings *found = compare_with(
      features_with(type, "{'p', 1, 1} {'p', 1, 1} {'q', 1, 1} {'q', 1, 1}", options, 2),
      features_with(type, "{'p', 1, 2} {'p', 1, 1} {'r', 1, 1} {'p', 1, 1}", options, 2), NULL,
      NULL, 0);
  char text[512] = "";
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    size_t begin, end;
    cst_findings_items(found, "slice", i, &begin, &end);
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s%s %s %.2g",
                   i > 0 ? "; " : "",
                   begin < end ? cst_findings_text(found, "slice.value", begin) : "",
                   cst_findings_text(found, "path", i), cst_findings_text(found, "state", i),
                   cst_findings_real(found, "score", i));
  }
  CHECK_STR(text,
            "g both 0.5; qa lost-slice 0.5; qb lost-slice 0.5; qg lost-slice 0.5; pb both 0.34; "
            "b both 0.25; ra new-slice 0.25; rb new-slice 0.25; rg new-slice 0.25; a both 0; "
            "pa both 0; pg both 0");
  cst_findings_free(found);
}

/* "path kind measure threshold value" of all anomalies */
static void check_anomalies(cst_findings *found, const char *expected) {
  char text[1024] = "";
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    size_t begin, end;
    cst_findings_items(found, "anomalies", i, &begin, &end);
    for (; begin < end; begin++) {
      (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %s %s %g %g",
                     text[0] != '\0' ? "; " : "", cst_findings_text(found, "path", i),
                     cst_findings_text(found, "anomalies.kind", begin),
                     cst_findings_text(found, "anomalies.measure", begin),
                     cst_findings_real(found, "anomalies.threshold", begin),
                     cst_findings_real(found, "anomalies.value", begin));
    }
  }
  CHECK_STR(text, expected);
  cst_findings_free(found);
}

static const char schema_text[] =
    "feature { name: 'a' type: BYTES drift_comparator { infinity_norm { threshold: 0.2 }"
    "   jensen_shannon_divergence { threshold: 0.2 } }"
    "   skew_comparator { normalized_abs_difference { threshold: 0.1 } }"
    "   unique_constraints { min: 1 max: 2 } }"
    "feature { name: 's' type: STRUCT struct_domain {"
    "   feature { name: 'x' type: FLOAT drift_comparator {"
    "     jensen_shannon_divergence { threshold: 0.5 source { type: QUANTILES } } } } } }"
    "dataset_constraints { min_examples_count: 5"
    "   num_examples_drift_comparator { min_fraction_threshold: 0.9 max_fraction_threshold: 1.5 }"
    "   num_examples_version_comparator { min_fraction_threshold: 1 } }";

static cst_findings *compare_by_schema(const char *kind) {
  const cst_option options[] = {{"kind", kind, NULL}};
  const char *type = "struct{a: string, s: struct{x: float64}}";
  return compare_with(features(type, "{'a', {1}} {'a', {1}} {'b', {2}} {'b', {2}}"),
                      features(type, "{'a', {3}} {'b', {4}} {'c', null}"), schema_text, options, 1);
}

TEST(thresholds_of_the_schema) {
  check_anomalies(compare_by_schema("drift"),
                  " rows min_examples_count 5 3;  rows num_examples_drift_comparator 0.9 0.75; "
                  "s.x drift jensen_shannon 0.5 1; "
                  "a drift linf 0.2 0.333333; a unique distinct 2 3");
  check_anomalies(compare_by_schema("skew"),
                  " rows min_examples_count 5 3; a skew normalized_abs_difference 0.1 0.142857; "
                  "a unique distinct 2 3");
  check_anomalies(compare_by_schema("version"),
                  " rows min_examples_count 5 3;  rows num_examples_version_comparator 1 0.75; "
                  "a unique distinct 2 3");
}

TEST(features_outside_of_the_environment) {
  const cst_option options[] = {{"environment", "SERVING", NULL}};
  const char *text = "default_environment: 'TRAINING' default_environment: 'SERVING'"
                     "feature { name: 'y' type: INT not_in_environment: 'SERVING'"
                     "  drift_comparator { infinity_norm { threshold: 0.1 } } }";
  for (size_t i = 0; i <= 1; i++) {
    check_anomalies(compare_with(features("struct{y: int64}", "{1}"),
                                 features("struct{x: int64}", "{1}"), text, options, i),
                    i == 0 ? "y drift linf 0.1 nan" : "");
  }
}

TEST(thresholds_of_options) {
  const cst_option options[] = {{"linf", "0.3", NULL},
                                {"ks", "0", NULL},
                                {"presence", "0.2", NULL},
                                {"rows", "0.2", NULL},
                                {"psi", "-1", NULL}};
  const char *type = "struct{a: string, x: float64, y: float64}";
  check_anomalies(
      compare_with(features(type, "{'a', 1, null} {'a', 1, null} {'b', 2, null} {'b', 2, null}"),
                   features(type, "{'a', 1, 1} {'b', 2, null} {'c', null, null}"), NULL, options,
                   5),
      " drift rows 0.2 0.25; y drift ks 0 nan; y drift presence 0.2 0.333333; "
      "x drift presence 0.2 0.333333; a drift linf 0.3 0.333333");
  check_anomalies(compare_with(features(type, "{'a', 1, null}"), features(type, "{'a', 1, null}"),
                               NULL, options, 5),
                  "");
}

TEST(slices_have_thresholds_if_asked) {
  const cst_option by[] = {{"by", "g", NULL}};
  const cst_option limits[] = {{"linf", "0.1", NULL}, {"slices", "true", NULL}};
  const char *type = "struct{g: string, a: bool}";
  for (size_t i = 1; i <= 2; i++) {
    check_anomalies(compare_with(features_with(type, "{'p', true}", by, 1),
                                 features_with(type, "{'p', false}", by, 1), NULL, limits, i),
                    i == 1 ? "a drift linf 0.1 1" : "a drift linf 0.1 1; a drift linf 0.1 1");
  }
}

TEST(what_is_no_comparison) {
  const cst_option unknown = {"psy", "1", NULL};
  const cst_option bad = {"psi", "much", NULL};
  cst_compare_options options = CST_COMPARE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  cst_findings *table = features("struct{a: int64}", "{1}");
  cst_findings *others, *out;
  CHECK_EQ(cst_accumulators(&others, NULL), CST_OK);
  CHECK_EQ(cst_statistics_compare(table, others, NULL, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "these are accumulators, not statistics");
  CHECK_EQ(cst_statistics_compare(NULL, table, NULL, &out, &error), CST_INVALID_ARGUMENT);
  options.num_options = 1;
  CHECK_EQ(cst_statistics_compare(table, table, &options, &out, &error), CST_INVALID_ARGUMENT);
  options.options = &unknown;
  CHECK_EQ(cst_statistics_compare(table, table, &options, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.hint, "psi");
  options.options = &bad;
  CHECK_EQ(cst_statistics_compare(table, table, &options, &out, &error), CST_INVALID_ARGUMENT);
  cst_findings_free(table);
  cst_findings_free(others);
}

static int compare_tables(void *context) {
  cst_findings *const *tables = context;
  const cst_option limit = {"linf", "0.1", NULL};
  cst_compare_options options = CST_COMPARE_OPTIONS_INIT;
  cst_schema *schema;
  cst_findings *out;
  options.options = &limit;
  options.num_options = 1;
  int status = (int)cst_schema_from_text(schema_text, strlen(schema_text), &schema, NULL);
  if (status == CST_OK) {
    options.schema = schema;
    status = (int)cst_statistics_compare(tables[0], tables[1], &options, &out, NULL);
    cst_schema_release(schema);
    cst_findings_free(out);
  }
  return status;
}

TEST(no_memory) {
  const cst_option by[] = {{"by", "a", NULL}};
  const char *type = "struct{a: string, s: struct{x: float64}}";
  cst_findings *tables[] = {features_with(type, "{'a', {1}} {'b', {2}}", by, 1),
                            features_with(type, "{'a', {3}} {'c', null}", by, 1)};
  FOR_EACH_ALLOCATION_FAILURE(compare_tables, tables, CST_NO_MEMORY);
  cst_findings_free(tables[0]);
  cst_findings_free(tables[1]);
}
