/* What statistics tell of the data, as anomalies: thresholds of a comparison that are passed. */
#include <string.h>

#include "validate/validation_report.h"

static const char *hint_of(const char *kind) {
  static const struct {
    const char *kind, *hint;
  } hints[] = {
      {"drift",
       "look at what changed with `columnstone stats diff`; if it is meant, change the threshold "
       "of drift_comparator"},
      {"skew",
       "look at what differs with `columnstone stats diff`; if it is meant, change the threshold "
       "of skew_comparator"},
      {"unique", "change unique_constraints, or repair the data"},
      {"rows", "change dataset_constraints, or look for what is missing"}};
  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
    if (strcmp(hints[i].kind, kind) == 0) {
      return hints[i].hint;
    }
  }
  return "";
}

/* What thresholds are passed by a row of a comparison: not what changed, which has values. */
static void report_row(cst__report *r, const cst_findings *found, size_t row, const char *only) {
  const cst__finding all_rows = {.count = r->state->num_rows};
  size_t begin, end;
  (void)cst_findings_items(found, "anomalies", row, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    const char *kind = cst_findings_text(found, "anomalies.kind", i);
    const cst__anomaly anomaly = {.kind = kind,
                                  .path = cst_findings_text(found, "path", row),
                                  .message = cst_findings_text(found, "anomalies.text", i),
                                  .hint = hint_of(kind)};
    if (only == NULL || strcmp(only, kind) == 0) {
      cst__report_add(r, &all_rows, anomaly);
    }
  }
}

void cst__report_statistics(cst__report *report, const cst__validation_statistics *statistics) {
  const cst_error *failure = statistics->failure;
  for (size_t i = 0; i < statistics->count; i++) {
    const cst_findings *found = statistics->comparisons[i];
    for (size_t row = 0; row < cst_findings_num_rows(found); row++) {
      report_row(report, found, row, statistics->kinds[i]);
    }
  }
  if (failure != NULL) {
    const cst__finding all_rows = {.count = report->state->num_rows};
    const cst__anomaly anomaly = {
        .kind = "statistics",
        .path = failure->path,
        .message = cst__report_say(
            report, "there are no statistics to check against the schema: %s", failure->message),
        .hint = failure->hint};
    cst__report_add(report, &all_rows, anomaly);
  }
}
