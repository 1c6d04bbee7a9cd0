/* Thresholds: those of a schema, which hold for all rows of a feature, and those of the caller's,
 * which hold for every feature.
 */
#include <math.h>
#include <stdio.h>

#include "statistics/compare.h"

/* ---- options ---- */

#define NONE_BELOW_ZERO(option, offset_, help_) \
  {                                             \
    .info = {.name = (option),                  \
             .kind = CST_OPTION_REAL,           \
             .least = -1,                       \
             .most = INT64_MAX,                 \
             .usual = "-1",                     \
             .help = (help_)},                  \
    .offset = (offset_)                         \
  }
#define MEASURE(option, number, help_) \
  NONE_BELOW_ZERO(option, offsetof(cst__compare_limits, measures[number]), help_)

static const cst__option options_table[] = {
    {.info = {.name = "kind",
              .kind = CST_OPTION_WORD,
              .words = {"drift", "skew", "version"},
              .usual = "drift",
              .help = "which comparators of the schema apply"},
     .offset = offsetof(cst__compare_limits, kind)},
    {.info = {.name = "environment",
              .kind = CST_OPTION_TEXT,
              .help = "environment of the schema; features outside it are not compared with the "
                      "schema"},
     .offset = offsetof(cst__compare_limits, environment)},
    MEASURE("linf", CST__MEASURE_LINF, "the largest change of a value's share; -1: any"),
    MEASURE("normalized_abs_difference", CST__MEASURE_ABS_DIFFERENCE,
            "the largest change of a value's count, of all; -1: any"),
    MEASURE("jensen_shannon", CST__MEASURE_JENSEN_SHANNON,
            "Jensen-Shannon divergence, from 0 to 1; -1: any"),
    MEASURE("psi", CST__MEASURE_PSI, "population stability index; -1: any"),
    MEASURE("ks", CST__MEASURE_KS, "Kolmogorov-Smirnov distance, from 0 to 1; -1: any"),
    MEASURE("presence", CST__MEASURE_PRESENCE,
            "the change of the share of rows that have a feature; -1: any"),
    NONE_BELOW_ZERO("rows", offsetof(cst__compare_limits, rows),
                    "the change of the number of rows, as a share of those before; -1: any"),
    {.info = {.name = "slices",
              .kind = CST_OPTION_SWITCH,
              .help = "apply the thresholds to slices, too"},
     .offset = offsetof(cst__compare_limits, slices)}};

const cst__option_table cst__compare_option_table = {
    "comparison", options_table, sizeof options_table / sizeof options_table[0],
    sizeof(cst__option), sizeof(cst__compare_limits)};

/* ---- adding ---- */

/* Where the next one goes. */
typedef struct passing {
  cst__arena *arena;
  cst__passed **last;
  bool failed;
} passing;

static const char *const kinds[] = {"drift", "skew", "version"};

static const char *const words[CST__NUM_MEASURES] = {
    "L-infinity distance",        "normalized absolute difference", "Jensen-Shannon divergence",
    "population stability index", "Kolmogorov-Smirnov distance",    "change of presence"};

static void add_passed(passing *p, const cst__passed *one, const char *text) {
  cst__passed *made = cst__arena_take(p->arena, sizeof *made);
  const char *copy = cst__arena_copy(p->arena, text, strlen(text));
  if (made == NULL || copy == NULL) {
    p->failed = true;
    return;
  }
  *made = *one;
  made->text = copy;
  made->next = NULL;
  *p->last = made;
  p->last = &made->next;
}

/* A measure of a feature and its threshold; `owner`: who set it. */
typedef struct demand {
  const char *kind;
  const char *owner;
  cst__measure measure;
  double value, threshold;
} demand;

/* True where there is nothing to be measured because one side has no such values. */
static bool is_beyond_measure(const cst__compared *c) {
  return c->has_values[0] != c->has_values[1] ||
         (c->state == CST__COMPARED_TYPE && isnan(c->measures[CST__MEASURE_LINF]) &&
          isnan(c->measures[CST__MEASURE_JENSEN_SHANNON]));
}

static void check_demand(passing *p, const cst__compared *c, const demand *d) {
  char text[256], value[CST__WORD_ROOM], threshold[CST__WORD_ROOM];
  const cst__passed one = {d->kind, cst__measure_names[d->measure], d->threshold, d->value, NULL,
                           NULL};
  cst__number_words(value, d->value);
  cst__number_words(threshold, d->threshold);
  if (d->value > d->threshold) {
    (void)snprintf(text, sizeof text, "the %s is %s, more than the %s of %s", words[d->measure],
                   value, threshold, d->owner);
    add_passed(p, &one, text);
  } else if (isnan(d->value) && d->measure != CST__MEASURE_PRESENCE && is_beyond_measure(c) &&
             cst__compared_has(c, d->measure)) {
    (void)snprintf(text, sizeof text, "there is no %s for the %s of %s: %s", words[d->measure],
                   threshold, d->owner,
                   c->has_values[0] && c->has_values[1] ? "the types have nothing in common"
                   : c->has_values[1]                   ? "there were no values before"
                                                        : "there are no values any more");
    add_passed(p, &one, text);
  }
}

/* ---- features ---- */

/* As TensorFlow Data Validation measures it: numbers by their histogram, or the deciles. */
static bool find_divergence(const cst__compared *c, bool of_quantiles, cst__arena *arena,
                            double *out) {
  cst__ranks ranks[2];
  cst__shares shares;
  *out = c->measures[CST__MEASURE_JENSEN_SHANNON];
  if (isnan(c->measures[CST__MEASURE_KS])) { /* no numbers */
    return true;
  }
  for (int side = 0; side < 2; side++) {
    if (!(of_quantiles ? cst__ranks_of_deciles(&c->sides[side], arena, &ranks[side])
                       : cst__ranks_of_histogram(&c->sides[side], arena, &ranks[side]))) {
      return false;
    }
    if (ranks[side].count == 0 && ranks[side].nan < 1) {
      return true;
    }
  }
  if (!cst__ranks_all_bins(&ranks[0], &ranks[1], arena, &shares)) {
    return false;
  }
  *out = cst__shares_jensen_shannon(&shares);
  return true;
}

static bool check_comparator(passing *p, const cst__limits *limits, const cst__comparator *wanted,
                             const cst__compared *c) {
  const bool is_skew = limits->options->kind == CST__COMPARES_SKEW;
  demand d = {.kind = kinds[limits->options->kind],
              .owner = is_skew ? "skew_comparator" : "drift_comparator"};
  const struct {
    cst__measure measure;
    double threshold;
  } all[] = {{CST__MEASURE_LINF, wanted->linf},
             {CST__MEASURE_ABS_DIFFERENCE, wanted->normalized_abs_difference},
             {CST__MEASURE_JENSEN_SHANNON, wanted->jensen_shannon}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    d.measure = all[i].measure;
    d.threshold = all[i].threshold;
    d.value = c->measures[d.measure];
    if (!isnan(d.threshold) && d.measure == CST__MEASURE_JENSEN_SHANNON &&
        !find_divergence(c, wanted->of_quantiles, p->arena, &d.value)) {
      return false;
    }
    if (!isnan(d.threshold)) {
      check_demand(p, c, &d);
    }
  }
  return true;
}

static void check_distinct(passing *p, const cst__comparator *wanted,
                           const cst__feature_row *feature) {
  char text[256], found[CST__WORD_ROOM];
  const double distinct = cst_findings_real(feature->table, "distinct", feature->row);
  const double low = cst_findings_real(feature->table, "distinct_low", feature->row);
  const double high = cst_findings_real(feature->table, "distinct_high", feature->row);
  const bool is_few = wanted->min_distinct >= 0 && high < (double)wanted->min_distinct;
  const bool is_many = wanted->max_distinct >= 0 && low > (double)wanted->max_distinct;
  if (!is_few && !is_many) {
    return;
  }
  const int64_t limit = is_few ? wanted->min_distinct : wanted->max_distinct;
  const cst__passed one = {"unique", "distinct", (double)limit, distinct, NULL, NULL};
  cst__number_words(found, floor(distinct + 0.5));
  (void)snprintf(text, sizeof text,
                 "there are %s%s different values, unique_constraints ask for at %s %lld",
                 low < high ? "about " : "", found, is_few ? "least" : "most", (long long)limit);
  add_passed(p, &one, text);
}

bool cst__limits_of_feature(const cst__limits *limits, const cst__compared *c, cst__arena *arena,
                            cst__passed **out) {
  const cst__compare_limits *options = limits->options;
  passing p = {arena, out, false};
  size_t begin = 0, end = 0;
  *out = NULL;
  const cst__feature_row *there = &c->sides[c->sides[1].row != SIZE_MAX];
  const bool is_slice =
      cst_findings_items(there->table, "slice", there->row, &begin, &end) && begin < end;
  if (c->state == CST__COMPARED_NEW_SLICE || c->state == CST__COMPARED_LOST_SLICE) {
    return true;
  }
  for (int i = 0; i < CST__NUM_MEASURES && (!is_slice || options->slices); i++) {
    if (options->measures[i] >= 0) {
      const demand d = {kinds[options->kind], "the options", (cst__measure)i, c->measures[i],
                        options->measures[i]};
      check_demand(&p, c, &d);
    }
  }
  const char *path = cst__compared_text(c, "path");
  const cst__comparator *wanted = limits->comparators != NULL && !is_slice && path != NULL
                                      ? cst__comparators_find(limits->comparators, path)
                                      : NULL;
  if (wanted != NULL) {
    if (!check_comparator(&p, limits, wanted, c)) {
      return false;
    }
    if (c->sides[1].row != SIZE_MAX) {
      check_distinct(&p, wanted, &c->sides[1]);
    }
  }
  return !p.failed;
}

/* ---- rows ---- */

static void check_rows(passing *p, const char *name, double found, double limit, bool is_least) {
  char text[256], rows[CST__WORD_ROOM], wanted[CST__WORD_ROOM];
  if (!(is_least ? found < limit : found > limit)) { /* also without one */
    return;
  }
  const cst__passed one = {"rows", name, limit, found, NULL, NULL};
  cst__number_words(rows, found);
  cst__number_words(wanted, limit);
  (void)snprintf(text, sizeof text, "there are %s rows, %s asks for at %s %s", rows, name,
                 is_least ? "least" : "most", wanted);
  add_passed(p, &one, text);
}

static void check_ratio(passing *p, const char *name, double ratio, double limit, bool is_least) {
  char text[256], found[CST__WORD_ROOM], wanted[CST__WORD_ROOM];
  if (isnan(limit) || (is_least ? ratio >= limit : ratio <= limit)) {
    return;
  }
  const cst__passed one = {"rows", name, limit, ratio, NULL, NULL};
  cst__number_words(found, ratio);
  cst__number_words(wanted, limit);
  if (isnan(ratio)) {
    (void)snprintf(text, sizeof text, "%s asks for rows to compare with, and there were none",
                   name);
  } else {
    (void)snprintf(text, sizeof text,
                   "there are %s times as many rows as before, %s asks for at %s %s", found, name,
                   is_least ? "least" : "most", wanted);
  }
  add_passed(p, &one, text);
}

static void check_change(passing *p, const cst__compare_limits *options, double ratio) {
  char text[256], found[CST__WORD_ROOM], wanted[CST__WORD_ROOM];
  const double change = fabs(ratio - 1);
  if (options->rows < 0 || change <= options->rows) {
    return;
  }
  const cst__passed one = {kinds[options->kind], "rows", options->rows, change, NULL, NULL};
  cst__number_words(found, ratio);
  cst__number_words(wanted, options->rows);
  if (isnan(ratio)) {
    (void)snprintf(text, sizeof text, "there were no rows before to compare with");
  } else {
    (void)snprintf(text, sizeof text,
                   "there are %s times as many rows as before, a change of more than %s", found,
                   wanted);
  }
  add_passed(p, &one, text);
}

bool cst__limits_of_rows(const cst__limits *limits, double before, double after, cst__arena *arena,
                         cst__passed **out) {
  const cst__comparators *wanted = limits->comparators;
  passing p = {arena, out, false};
  const double ratio = before > 0 ? after / before : (double)NAN;
  *out = NULL;
  if (wanted != NULL) {
    check_rows(&p, "min_examples_count", after, wanted->min_rows, true);
    check_rows(&p, "max_examples_count", after, wanted->max_rows, false);
  }
  if (wanted != NULL) {
    const char *name = limits->options->kind == CST__COMPARES_VERSION
                           ? "num_examples_version_comparator"
                           : "num_examples_drift_comparator";
    check_ratio(&p, name, ratio, wanted->min_ratio, true);
    check_ratio(&p, name, ratio, wanted->max_ratio, false);
  }
  if (before > 0 || after > 0) {
    check_change(&p, limits->options, ratio);
  }
  return !p.failed;
}
