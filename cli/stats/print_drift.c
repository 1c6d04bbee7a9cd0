/* What changed between two statistics, for people: a line for each feature that changed, which fits
 * the width of the terminal, and below it the thresholds that it passes.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "stats/stats.h"

enum {
  NAME_WIDTH = 36, /* at most, of a feature and its slice */
  NAME_ROOM = 512,
  SCORE_WIDTH = 5,
  MEASURE_WIDTH = 6,
  WORDS_WIDTH = 64 /* that measures leave for what changed */
};

typedef struct drift_table {
  const cst_findings *found;
  int names;       /* cells of a feature's name */
  size_t measures; /* that there is room for */
} drift_table;

static const char *const measures[] = {"psi", "ks", "linf", "jensen_shannon"};
static const char *const headings[] = {"psi", "ks", "linf", "js"};
enum { NUM_MEASURES = sizeof measures / sizeof measures[0] };

/* "fare (company = Blue)" */
static void tell_name(const cst_findings *found, size_t row, char name[NAME_ROOM]) {
  size_t begin, end;
  const char *path = cst_findings_text(found, "path", row);
  size_t size = (size_t)snprintf(name, NAME_ROOM, "%.200s", path[0] != '\0' ? path : "(all rows)");
  (void)cst_findings_items(found, "slice", row, &begin, &end);
  for (size_t i = begin; i < end && size + 160 < NAME_ROOM; i++) {
    size += (size_t)snprintf(name + size, NAME_ROOM - size, "%s%.60s = %.60s%s",
                             i == begin ? " (" : ", ", cst_findings_text(found, "slice.path", i),
                             cst_findings_text(found, "slice.value", i), i + 1 == end ? ")" : "");
  }
}

static bool has_changed(const cst_findings *found, size_t row) {
  size_t begin, end;
  (void)cst_findings_items(found, "anomalies", row, &begin, &end);
  return end > begin || cst_findings_real(found, "score", row) > 0;
}

static void measure_table(drift_table *t) {
  char name[NAME_ROOM];
  t->names = (int)strlen("feature");
  for (size_t row = 0; row < cst_findings_num_rows(t->found); row++) {
    int cells;
    tell_name(t->found, row, name);
    (void)cli_cut(name, NAME_WIDTH, &cells);
    t->names = has_changed(t->found, row) && cells > t->names ? cells : t->names;
  }
  const int room = cli_width() - t->names - (SCORE_WIDTH + 2) - (WORDS_WIDTH + 2);
  const size_t fit = room > 0 ? (size_t)room / (MEASURE_WIDTH + 2) : 0;
  t->measures = fit < NUM_MEASURES ? fit : NUM_MEASURES;
}

static void print_heading(const drift_table *t) {
  cli_set_style(CLI_BOLD);
  cli_print_cell("feature", t->names, true);
  printf("  %*s", SCORE_WIDTH, "score");
  for (size_t i = 0; i < t->measures; i++) {
    printf("  %*s", MEASURE_WIDTH, headings[i]);
  }
  printf("  what changed\n");
  cli_set_style(CLI_PLAIN);
}

static void print_real(double number, int width) {
  char text[32] = "";
  if (!isnan(number)) {
    snprintf(text, sizeof text, number > 0 && number < 0.0005 ? "%.0e" : "%.3f", number);
  }
  printf("  %*s", width, text);
}

/* In a line of their own where they do not fit. */
static void print_words(const drift_table *t, const char *words) {
  const int width = cli_width();
  const int left =
      width - t->names - (SCORE_WIDTH + 2) - (int)t->measures * (MEASURE_WIDTH + 2) - 2;
  int cells;
  const bool fits = words[cli_cut(words, left > 0 ? left : 0, &cells)] == '\0';
  printf(fits ? "  " : "\n    ");
  cli_print_cell(words, fits ? left : width - 4, false);
  printf("\n");
}

static void print_feature(const drift_table *t, size_t row) {
  char name[NAME_ROOM];
  size_t begin, end;
  tell_name(t->found, row, name);
  cli_print_cell(name, t->names, true);
  print_real(cst_findings_real(t->found, "score", row), SCORE_WIDTH);
  for (size_t i = 0; i < t->measures; i++) {
    print_real(cst_findings_real(t->found, measures[i], row), MEASURE_WIDTH);
  }
  print_words(t, cst_findings_text(t->found, "what", row));
  (void)cst_findings_items(t->found, "anomalies", row, &begin, &end);
  for (; begin < end; begin++) {
    cli_set_style(CLI_FAULT);
    printf("  ! ");
    cli_print_text(stdout, cst_findings_text(t->found, "anomalies.text", begin));
    cli_set_style(CLI_PLAIN);
    printf("\n");
  }
}

void cli_print_drift(const cst_findings *found) {
  drift_table t = {.found = found};
  const int64_t anomalies = cst_findings_total(found, "num_anomalies");
  size_t same = 0;
  measure_table(&t);
  printf("%" PRId64 " rows, %" PRId64 " before\n", cst_findings_total(found, "num_rows_after"),
         cst_findings_total(found, "num_rows_before"));
  for (size_t row = 0; row < cst_findings_num_rows(found); row++) {
    if (!has_changed(found, row)) {
      same++;
      continue;
    }
    if (row == 0) {
      print_heading(&t);
    }
    print_feature(&t, row);
  }
  if (same > 0) {
    printf("%zu as before\n", same);
  }
  if (anomalies > 0) {
    printf("%" PRId64 " threshold%s passed\n", anomalies, anomalies == 1 ? " is" : "s are");
  }
}
