/* TFDV's statistics: any bytes are read or refused with a place; what was read is written, and what
 * is written is read as the same table; tables are compared, and schemas made of them, whatever
 * they say.
 */
#include <columnstone/statistics.h>
#include <string.h>

#include "base/alloc.h"
#include "fuzz.h"

enum { MAX_INPUT = 1 << 14 };

static cst_findings *read_again(const cst_findings *features) {
  const cst_statistics_named table = {NULL, features};
  cst_findings *read;
  char *bytes;
  size_t size;
  FUZZ_ASSERT(cst_statistics_to_tfdv(&table, 1, &bytes, &size, NULL) == CST_OK);
  FUZZ_ASSERT(cst_statistics_from_tfdv(bytes, size, NULL, NULL, &read, NULL) == CST_OK);
  cst_free(bytes);
  return read;
}

static void put_real(cst__text *out, double real) { cst__text_append(out, &real, sizeof real); }

/* What the proto holds without rounding: sums of weights are others after each way. */
static void tell(const cst_findings *features, cst__text *out) {
  static const char *const numbers[] = {"rows", "present", "values", "zeros", "nan", "not_utf8"};
  static const char *const reals[] = {"mean", "min", "max", "distinct", "weighted_mean"};
  static const char *const lists[] = {
      "slice", "levels", "lengths", "quantiles", "histogram", "weighted_quantiles", "top"};
  size_t begin, end;
  cst__text_printf(out, "%lld\n", (long long)cst_findings_total(features, "num_rows"));
  for (size_t row = 0; row < cst_findings_num_rows(features); row++) {
    cst__text_puts(out, cst_findings_text(features, "path", row));
    cst__text_puts(out, cst_findings_text(features, "type", row));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
      cst__text_printf(out, " %lld", (long long)cst_findings_number(features, numbers[i], row));
    }
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
      put_real(out, cst_findings_real(features, reals[i], row));
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
      FUZZ_ASSERT(cst_findings_items(features, lists[i], row, &begin, &end));
      cst__text_printf(out, " %zu", end - begin);
    }
    for (size_t i = begin; i < end; i++) { /* of the last one */
      cst__text_puts(out, cst_findings_text(features, "top.value", i));
    }
  }
}

/* A row for each feature; scores are shares. */
static void check_comparison(const cst_findings *before, const cst_findings *after) {
  const cst_option options[] = {{"linf", "0", NULL}, {"ks", "0", NULL}, {"slices", "true", NULL}};
  cst_compare_options all = CST_COMPARE_OPTIONS_INIT;
  cst_findings *drift;
  all.options = options;
  all.num_options = sizeof options / sizeof options[0];
  FUZZ_ASSERT(cst_statistics_compare(before, after, &all, &drift, NULL) == CST_OK);
  FUZZ_ASSERT(cst_findings_num_rows(drift) >= cst_findings_num_rows(before));
  for (size_t row = 0; row < cst_findings_num_rows(drift); row++) {
    const double score = cst_findings_real(drift, "score", row);
    FUZZ_ASSERT(score >= 0 && score <= 1);
    FUZZ_ASSERT(cst_findings_text(drift, "what", row)[0] != '\0');
  }
  cst_findings_free(drift);
}

static void check_ways(const cst_findings *features) {
  cst__text first = {0}, second = {0};
  cst_findings *once = read_again(features);
  cst_findings *twice = read_again(once);
  check_comparison(features, once);
  check_comparison(features, features);
  tell(once, &first);
  tell(twice, &second);
  FUZZ_ASSERT(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
  cst__text_free(&first);
  cst__text_free(&second);
  cst_findings_free(once);
  cst_findings_free(twice);
}

static void check_schema(const cst_findings *features) {
  cst_schema *schema;
  const cst_status status = cst_statistics_schema(features, &schema, NULL);
  FUZZ_ASSERT(status == CST_OK || status == CST_SCHEMA); /* names that no schema has */
  cst_schema_release(schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  cst_error error = CST_ERROR_INIT;
  cst_findings *features;
  if (size > MAX_INPUT) {
    fuzz_outcome("no use");
    return 0;
  }
  cst_status status = cst_statistics_from_tfdv(data, size, NULL, NULL, &features, &error);
  FUZZ_ASSERT(status == CST_OK || status == CST_CORRUPT);
  if (status == CST_OK) {
    check_ways(features);
    check_schema(features);
  } else {
    FUZZ_ASSERT(error.offset >= 0 && error.offset <= (int64_t)size && error.message[0] != '\0');
  }
  cst_findings_free(features);
  fuzz_outcome(status == CST_OK ? "OK" : cst_status_name(status));
  return 0;
}
