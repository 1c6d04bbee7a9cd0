/* Statistics as a table for people: a line for each feature that fits the width of the terminal.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"

enum {
  NAME_WIDTH = 28, /* at most, of a feature */
  TYPE_WIDTH = 6,
  NUMBER_WIDTH = 8,
  SHARE_WIDTH = 7,
  LAST_WIDTH = 10 /* at least, of the values */
};

/* ---- the columns of findings that are shown: by weight where rows have weights ---- */

typedef struct shown_columns {
  const char *mean, *std_dev;
  const char *quantiles, *quantile;
  const char *histogram, *bucket;
  const char *top, *top_value, *top_upper;
} shown_columns;

static const shown_columns plain_columns = {.mean = "mean",
                                            .std_dev = "std_dev",
                                            .quantiles = "quantiles",
                                            .quantile = "quantiles.",
                                            .histogram = "histogram",
                                            .bucket = "histogram.weight",
                                            .top = "top",
                                            .top_value = "top.value",
                                            .top_upper = "top.upper"};
static const shown_columns weighted_columns = {.mean = "weighted_mean",
                                               .std_dev = "weighted_std_dev",
                                               .quantiles = "weighted_quantiles",
                                               .quantile = "weighted_quantiles.",
                                               .histogram = "weighted_histogram",
                                               .bucket = "weighted_histogram.weight",
                                               .top = "weighted_top",
                                               .top_value = "weighted_top.value",
                                               .top_upper = "weighted_top.upper"};

typedef struct table {
  const cst_findings *found;
  const shown_columns *columns;
  bool weighs;
  int names;      /* cells of a feature's name */
  size_t numbers; /* that there is room for */
} table;

/* ---- numbers ---- */

static void print_right(const char *text, int width) { printf("  %*s", width, text); }

/* Four digits, or so; nothing for NaN. */
static void print_number(double number) {
  char text[32] = "";
  if (!isnan(number)) {
    bool is_whole = number == floor(number) && fabs(number) < 1e7;
    snprintf(text, sizeof text, is_whole ? "%.0f" : "%.4g", number);
    if (strlen(text) > NUMBER_WIDTH) {
      snprintf(text, sizeof text, "%.2g", number);
    }
  }
  print_right(text, NUMBER_WIDTH);
}

/* In percent, of which neither 0 nor 100 is told where it is nearly so. */
static void print_share(double part, double all) {
  char text[32];
  double share = all > 0 ? 100 * part / all : (double)NAN;
  if (isnan(share)) {
    print_right("", SHARE_WIDTH);
    return;
  }
  if (part == 0 || part == all) {
    snprintf(text, sizeof text, "%.0f%%", share);
  } else if (share < 0.1 || share > 99.9) {
    snprintf(text, sizeof text, share < 50 ? "<0.1%%" : ">99.9%%");
  } else {
    snprintf(text, sizeof text, "%.1f%%", share);
  }
  print_right(text, SHARE_WIDTH);
}

/* An estimate has a tilde before it. */
static void print_distinct(const cst_findings *found, size_t row) {
  char text[32] = "";
  double number = cst_findings_real(found, "distinct", row);
  bool is_exact = cst_findings_real(found, "distinct_low", row) ==
                  cst_findings_real(found, "distinct_high", row);
  if (!isnan(number)) {
    snprintf(text, sizeof text, "%s%.0f", is_exact ? "" : "~", number);
  }
  print_right(text, NUMBER_WIDTH);
}

/* ---- the values ---- */

/* The histogram, each bucket as high as its weight beside the largest one. */
static void print_sparkline(const table *t, size_t begin, size_t end, int width) {
  static const char *const bars[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  double most = 0;
  for (size_t i = begin; i < end; i++) {
    most = fmax(most, cst_findings_real(t->found, t->columns->bucket, i));
  }
  for (size_t i = begin; i < end && (int)(i - begin) < width; i++) {
    double weight = cst_findings_real(t->found, t->columns->bucket, i);
    fputs(bars[weight > 0 ? 1 + (int)(7 * weight / most) : 0], stdout);
  }
}

/* "a 12%, b 3%", as many as there is room for. */
static void print_top(const table *t, size_t row, size_t begin, size_t end, int width) {
  const double all = t->weighs ? cst_findings_real(t->found, "values_weight", row)
                               : (double)cst_findings_number(t->found, "values", row);
  char line[1024] = "";
  size_t size = 0;
  for (size_t i = begin; i < end && size + 300 < sizeof line && size < (size_t)width; i++) {
    double share = 100 * cst_findings_real(t->found, t->columns->top_upper, i) / all;
    size += (size_t)snprintf(
        line + size, sizeof line - size, "%s%.200s %.*f%%", i > begin ? ", " : "",
        cst_findings_text(t->found, t->columns->top_value, i), share < 10 ? 1 : 0, share);
  }
  cli_print_cell(line, width, false);
}

static void print_values(const table *t, size_t row, int width) {
  size_t begin, end;
  printf("  ");
  if (cst_findings_items(t->found, t->columns->histogram, row, &begin, &end) && end > begin &&
      strcmp(cst_findings_text(t->found, "type", row), "BOOL") != 0) {
    print_sparkline(t, begin, end, width);
  } else if (cst_findings_items(t->found, t->columns->top, row, &begin, &end)) {
    print_top(t, row, begin, end, width);
  }
}

/* ---- the table ---- */

static const char *const number_names[] = {"mean", "min", "median", "max", "std"};

static int name_width(const cst_findings *found) {
  int width = (int)strlen("feature");
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    int cells;
    (void)cli_cut(cst_findings_text(found, "path", i), NAME_WIDTH, &cells);
    width = cells > width ? cells : width;
  }
  return width;
}

/* How many of the numbers there is room for. */
static size_t numbers_shown(int names) {
  const size_t all = sizeof number_names / sizeof number_names[0];
  int room = cli_width() - names - (TYPE_WIDTH + 2) - 2 * (SHARE_WIDTH + 2) - (NUMBER_WIDTH + 2) -
             (LAST_WIDTH + 2);
  size_t fit = room > 0 ? (size_t)room / (NUMBER_WIDTH + 2) : 0;
  return fit < all ? fit : all;
}

static void print_heading(const table *t) {
  cli_set_style(CLI_BOLD);
  cli_print_cell("feature", t->names, true);
  printf("  %-*s", TYPE_WIDTH, "type");
  print_right("present", SHARE_WIDTH);
  for (size_t i = 0; i < t->numbers; i++) {
    print_right(number_names[i], NUMBER_WIDTH);
  }
  print_right("zeros", SHARE_WIDTH);
  print_right("distinct", NUMBER_WIDTH);
  printf("  values\n");
  cli_set_style(CLI_PLAIN);
}

static double median_of(const table *t, size_t row) {
  size_t begin, end;
  bool any = cst_findings_items(t->found, t->columns->quantiles, row, &begin, &end) && end > begin;
  size_t middle = begin + (end - begin) / 2;
  return any && (end - begin) % 2 == 1 ? cst_findings_real(t->found, t->columns->quantile, middle)
                                       : (double)NAN;
}

static void print_presence(const table *t, size_t row) {
  if (t->weighs) {
    print_share(cst_findings_real(t->found, "present_weight", row),
                cst_findings_real(t->found, "rows_weight", row));
  } else {
    print_share((double)cst_findings_number(t->found, "present", row),
                (double)cst_findings_number(t->found, "rows", row));
  }
}

static void print_feature(const table *t, size_t row) {
  const cst_findings *found = t->found;
  const double values = (double)cst_findings_number(found, "values", row);
  const int64_t zeros = cst_findings_number(found, "zeros", row);
  const double shown[] = {cst_findings_real(found, t->columns->mean, row),
                          cst_findings_real(found, "min", row), median_of(t, row),
                          cst_findings_real(found, "max", row),
                          cst_findings_real(found, t->columns->std_dev, row)};
  cli_print_cell(cst_findings_text(found, "path", row), t->names, true);
  printf("  %-*s", TYPE_WIDTH, cst_findings_text(found, "type", row));
  cli_set_style(cst_findings_number(found, "present", row) < cst_findings_number(found, "rows", row)
                    ? CLI_WARNING
                    : CLI_PLAIN);
  print_presence(t, row);
  cli_set_style(CLI_PLAIN);
  for (size_t i = 0; i < t->numbers; i++) {
    print_number(shown[i]);
  }
  if (zeros < 0) {
    print_right("", SHARE_WIDTH);
  } else {
    print_share((double)zeros, values);
  }
  print_distinct(found, row);
  int left = cli_width() - t->names - (TYPE_WIDTH + 2) - 2 * (SHARE_WIDTH + 2) -
             (int)(t->numbers + 1) * (NUMBER_WIDTH + 2) - 2;
  print_values(t, row, left > LAST_WIDTH ? left : LAST_WIDTH);
  printf("\n");
}

/* Of a column, with those behind it in the alphabet. */
static void print_pairs(const table *t, size_t row) {
  const cst_findings *found = t->found;
  const char *path = cst_findings_text(found, "path", row);
  size_t begin, end;
  cst_findings_items(found, "pairs", row, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    const char *other = cst_findings_text(found, "pairs.other", i);
    const double correlation = cst_findings_real(found, "pairs.correlation", i);
    const double information = cst_findings_real(found, "pairs.mutual_information", i);
    if (strcmp(path, other) < 0) {
      cli_print_text(stdout, path);
      printf(", ");
      cli_print_text(stdout, other);
      printf(":");
      if (!isnan(correlation)) {
        printf(" correlation %.3f,", correlation);
      }
      if (!isnan(information)) {
        printf(" mutual information %.3f,", information);
      }
      printf(" %" PRId64 " rows\n", cst_findings_number(found, "pairs.count", i));
    }
  }
}

static bool same_slice(const cst_findings *found, size_t a, size_t b) {
  size_t a_begin, a_end, b_begin, b_end;
  cst_findings_items(found, "slice", a, &a_begin, &a_end);
  cst_findings_items(found, "slice", b, &b_begin, &b_end);
  bool same = a_end - a_begin == b_end - b_begin;
  for (size_t i = 0; same && i < a_end - a_begin; i++) {
    same = strcmp(cst_findings_text(found, "slice.value", a_begin + i),
                  cst_findings_text(found, "slice.value", b_begin + i)) == 0 &&
           strcmp(cst_findings_text(found, "slice.path", a_begin + i),
                  cst_findings_text(found, "slice.path", b_begin + i)) == 0;
  }
  return same;
}

static void print_slice(const cst_findings *found, size_t row) {
  size_t begin, end;
  cst_findings_items(found, "slice", row, &begin, &end);
  cli_set_style(CLI_BOLD);
  for (size_t i = begin; i < end; i++) {
    printf(i > begin ? ", " : "\n");
    const char *path = cst_findings_text(found, "slice.path", i);
    cli_print_text(stdout, path);
    printf(path[0] != '\0' ? " = " : ""); /* data sets of TFDV have only a name */
    cli_print_text(stdout, cst_findings_text(found, "slice.value", i));
  }
  if (end > begin) {
    printf(": %" PRId64 " rows\n", cst_findings_number(found, "rows", row));
  }
  cli_set_style(CLI_PLAIN);
}

/* Nothing where there was memory enough. */
static void print_scarcity(int64_t memory, int64_t limit) {
  const double mib = 1 << 20;
  if (memory >= 0) {
    printf("\nmemory is scarce: %.1f of %.0f MiB, above which it is an error\n"
           "look at fewer columns (--columns), make fewer slices (-O slices=NUMBER), allow a "
           "greater -O error=NUMBER,\nor fewer -O counters=NUMBER, or raise -O memory=MIB\n",
           (double)memory / mib, (double)limit / mib);
  }
}

void cli_print_stats(const cst_findings *found) {
  const size_t num_rows = cst_findings_num_rows(found);
  const double weight = cst_findings_real(found, "rows_weight", 0);
  table t = {.found = found, .weighs = !isnan(weight), .names = name_width(found)};
  t.columns = t.weighs ? &weighted_columns : &plain_columns;
  t.numbers = numbers_shown(t.names);
  const int64_t left_out = cst_findings_total(found, "num_slices_left_out");
  printf("%" PRId64 " rows", cst_findings_total(found, "num_rows"));
  if (t.weighs) {
    printf(" of the weight %g; present, mean, median, std and values are by weight", weight);
  }
  printf("\n");
  size_t begin_of_slice = 0;
  for (size_t row = 0; row < num_rows; row++) {
    bool begins = row == 0 || !same_slice(found, row - 1, row);
    if (begins) {
      begin_of_slice = row;
      print_slice(found, row);
      print_heading(&t);
    }
    print_feature(&t, row);
    bool ends = row + 1 == num_rows || !same_slice(found, row, row + 1);
    for (size_t i = begin_of_slice; ends && i <= row; i++) {
      print_pairs(&t, i);
    }
  }
  if (left_out > 0) {
    printf("\nleft out: %" PRId64 " slices with %" PRId64 " rows (-O slices=NUMBER keeps more)\n",
           left_out, cst_findings_total(found, "num_rows_left_out"));
  }
  print_scarcity(cst_findings_total(found, "memory"), cst_findings_total(found, "memory_limit"));
}
