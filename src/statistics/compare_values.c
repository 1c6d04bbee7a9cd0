/* Two distributions of values that are counted one by one, of which the frequent ones are told.
 *
 * What is not among the frequent ones of a side has at most as much weight there as the last of
 * them, and all of these together have what the others leave. Where only one side tells a value, it
 * is taken to have as nearly the same share on the other one as that allows: so that values at the
 * edge of the lists, which are told here and not there by chance, are no drift.
 */
#include <math.h>
#include <stdlib.h>

#include "statistics/compare.h"

/* ---- what the tables tell ---- */

static double weight_of_values(const cst__feature_row *feature) {
  return feature->weighs ? cst_findings_real(feature->table, "values_weight", feature->row)
                         : (double)cst_findings_number(feature->table, "values", feature->row);
}

/* A frequent value of one side. */
typedef struct told {
  const char *text;
  int side;
  double lower, upper;
} told;

typedef struct told_list {
  told *items;
  size_t count;
  double lower[2]; /* of all, by side */
  double cap[2];   /* the most that a value has which is not told */
  size_t of_side[2];
} told_list;

static void read_side(const cst__feature_row *feature, int side, told_list *out) {
  const char *const lists[] = {"top", "weighted_top"};
  const char *const fields[][3] = {
      {"top.value", "top.lower", "top.upper"},
      {"weighted_top.value", "weighted_top.lower", "weighted_top.upper"}};
  const char *const *field = fields[feature->weighs];
  size_t begin, end;
  (void)cst_findings_items(feature->table, lists[feature->weighs], feature->row, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    const told one = {cst_findings_text(feature->table, field[0], i), side,
                      cst_findings_real(feature->table, field[1], i),
                      cst_findings_real(feature->table, field[2], i)};
    if (one.text != NULL && one.lower >= 0 && one.upper >= one.lower) {
      out->items[out->count++] = one;
      out->of_side[side]++;
      out->lower[side] += one.lower;
      out->cap[side] = fmin(out->cap[side], one.upper);
    }
  }
}

static size_t count_told(const cst__feature_row *feature) {
  size_t begin, end;
  (void)cst_findings_items(feature->table, feature->weighs ? "weighted_top" : "top", feature->row,
                           &begin, &end);
  return end - begin;
}

static int compare_told(const void *a, const void *b) {
  const told *x = a;
  const told *y = b;
  const int order = strcmp(x->text, y->text);
  return order != 0 ? order : x->side - y->side;
}

static bool read_told(const cst__feature_row *const sides[2], cst__arena *arena, told_list *out) {
  const size_t most = count_told(sides[0]) + count_told(sides[1]);
  *out = (told_list){.cap = {INFINITY, INFINITY}};
  out->items = cst__arena_take_items(arena, (int64_t)most + 1, sizeof *out->items);
  if (out->items == NULL) {
    return false;
  }
  read_side(sides[0], 0, out);
  read_side(sides[1], 1, out);
  if (out->count > 1) {
    qsort(out->items, out->count, sizeof *out->items, compare_told);
  }
  return true;
}

/* ---- shares ---- */

/* Values that look the same (not all are told whole, or as they are) are one. */
static void join_told(const told_list *list, cst__compared_values *out) {
  for (size_t i = 0; i < list->count; i++) {
    const told *one = &list->items[i];
    cst__compared_value *last = out->count > 0 ? &out->items[out->count - 1] : NULL;
    if (last == NULL || strcmp(last->text, one->text) != 0) {
      last = &out->items[out->count++];
      *last = (cst__compared_value){.text = one->text};
    }
    const double all = out->weight[one->side];
    last->is_there[one->side] = true;
    last->share[one->side] += (one->lower + one->upper) / 2 / all;
    last->least[one->side] += one->lower / all;
    last->most[one->side] = fmin(last->most[one->side] + one->upper / all, 1);
  }
}

/* Bounds may leave more than there is: then all are a little less. */
static void fit_shares(cst__compared_values *values, int side) {
  double sum = 0;
  for (size_t i = 0; i < values->count; i++) {
    sum += values->items[i].share[side];
  }
  for (size_t i = 0; i < values->count && sum > 1; i++) {
    values->items[i].share[side] /= sum;
  }
  values->rest[side] = fmax(1 - sum, 0);
}

/* What is told on the other side only. */
static void guess_shares(cst__compared_values *values, int side, double cap) {
  double sum = 0;
  for (size_t i = 0; i < values->count; i++) {
    cst__compared_value *value = &values->items[i];
    if (!value->is_there[side]) {
      value->most[side] = cap;
      value->share[side] = fmin(value->share[1 - side], cap);
      sum += value->share[side];
    }
  }
  const double rest = values->rest[side];
  for (size_t i = 0; i < values->count && sum > rest; i++) {
    cst__compared_value *value = &values->items[i];
    value->share[side] *= value->is_there[side] ? 1 : rest / sum;
  }
  values->rest[side] = fmax(rest - sum, 0);
}

/* The largest difference, and what it may be. `cap`: of values that neither side tells. */
static void find_linf(cst__compared_values *values, double cap) {
  values->worst = SIZE_MAX;
  values->most_linf = cap;
  for (size_t i = 0; i < values->count; i++) {
    const cst__compared_value *v = &values->items[i];
    const double difference = fabs(v->share[0] - v->share[1]);
    const double least = fmax(v->least[0] - v->most[1], v->least[1] - v->most[0]);
    const double most = fmax(v->most[0] - v->least[1], v->most[1] - v->least[0]);
    values->least_linf = fmax(values->least_linf, least);
    values->most_linf = fmax(values->most_linf, most);
    if (difference > values->linf) {
      values->linf = difference;
      values->worst = i;
    }
  }
  values->linf = fmin(fmax(values->linf, values->least_linf), 1);
  values->most_linf = fmin(fmax(values->most_linf, values->linf), 1);
}

bool cst__compared_values_compare(const cst__feature_row *before, const cst__feature_row *after,
                                  cst__arena *arena, cst__compared_values *out) {
  const cst__feature_row *const sides[] = {before, after};
  double caps[2];
  told_list list;
  *out = (cst__compared_values){.weight = {weight_of_values(before), weight_of_values(after)}};
  if (!read_told(sides, arena, &list)) {
    return false;
  }
  out->items = cst__arena_take_items(arena, (int64_t)list.count + 1, sizeof *out->items);
  if (out->items == NULL) {
    return false;
  }
  if (list.of_side[0] == 0 || list.of_side[1] == 0 || !(out->weight[0] > 0) ||
      !(out->weight[1] > 0)) {
    return true;
  }
  join_told(&list, out);
  for (int side = 0; side < 2; side++) {
    const double told_share = list.lower[side] / out->weight[side];
    out->is_all[side] = told_share >= 1 - 1e-12;
    caps[side] =
        out->is_all[side] ? 0 : fmax(fmin(list.cap[side] / out->weight[side], 1 - told_share), 0);
    fit_shares(out, side);
  }
  for (int side = 0; side < 2; side++) {
    guess_shares(out, side, caps[side]);
  }
  find_linf(out, fmax(caps[0], caps[1]));
  return true;
}

bool cst__compared_values_shares(const cst__compared_values *values, cst__arena *arena,
                                 cst__shares *out) {
  out->count = values->count + 1;
  out->before = cst__arena_take_items(arena, (int64_t)out->count, sizeof *out->before);
  out->after = cst__arena_take_items(arena, (int64_t)out->count, sizeof *out->after);
  if (out->before == NULL || out->after == NULL) {
    return false;
  }
  for (size_t i = 0; i < values->count; i++) {
    out->before[i] = values->items[i].share[0];
    out->after[i] = values->items[i].share[1];
  }
  out->before[values->count] = values->rest[0];
  out->after[values->count] = values->rest[1];
  return true;
}

double cst__compared_values_abs_difference(const cst__compared_values *values) {
  const double all = values->weight[0] + values->weight[1];
  double most = 0;
  for (size_t i = 0; i < values->count; i++) {
    const cst__compared_value *v = &values->items[i];
    most = fmax(most, fabs(v->share[0] * values->weight[0] - v->share[1] * values->weight[1]));
  }
  return most / all;
}

bool cst__compared_values_has_only(const cst__compared_values *values, size_t i, int side) {
  const cst__compared_value *value = &values->items[i];
  return value->is_there[side] && value->least[side] > 0 && !value->is_there[1 - side] &&
         values->is_all[1 - side];
}
