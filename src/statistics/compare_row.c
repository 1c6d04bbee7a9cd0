/* One feature, before and after. */
#include <math.h>

#include "statistics/compare.h"

const char *const cst__measure_names[CST__NUM_MEASURES] = {
    "linf", "normalized_abs_difference", "jensen_shannon", "psi", "ks", "presence"};

/* ---- types ---- */

typedef enum family { NOTHING, NUMBERS, BOOLS, TIMES, BYTES } family;

/* What the values of a type can be compared with: with those of the same. */
static family family_of(const char *type) {
  static const struct {
    const char *type;
    family family;
  } known[] = {{"BOOL", BOOLS}, {"INT", NUMBERS},  {"UINT", NUMBERS}, {"FLOAT", NUMBERS},
               {"TIME", TIMES}, {"STRING", BYTES}, {"BYTES", BYTES}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(known[i].type, type) == 0) {
      return known[i].family;
    }
  }
  return NOTHING;
}

static const char *type_of(const cst__feature_row *side) {
  const char *type = cst_findings_text(side->table, "type", side->row);
  return type != NULL ? type : "NULL";
}

const char *cst__compared_text(const cst__compared *c, const char *column) {
  const cst__feature_row *side = &c->sides[c->sides[1].row != SIZE_MAX];
  return cst_findings_text(side->table, column, side->row);
}

/* The family of both; NOTHING: they cannot be compared. Bools are numbers where the others are. */
static family family_of_both(const cst__compared *c) {
  const family before = family_of(type_of(&c->sides[0]));
  const family after = family_of(type_of(&c->sides[1]));
  if (before == after) {
    return before;
  }
  return (before == BOOLS && after == NUMBERS) || (before == NUMBERS && after == BOOLS) ? NUMBERS
                                                                                        : NOTHING;
}

bool cst__compared_has(const cst__compared *c, cst__measure measure) {
  bool has = false;
  for (int side = 0; side < 2; side++) {
    const char *type = type_of(&c->sides[side]);
    const family own = c->has_values[side] ? family_of(type) : NOTHING;
    const bool is_counted = measure == CST__MEASURE_LINF || measure == CST__MEASURE_ABS_DIFFERENCE;
    has = has || (own != NOTHING && (is_counted                   ? strcmp(type, "FLOAT") != 0
                                     : measure == CST__MEASURE_KS ? own == NUMBERS || own == TIMES
                                                                  : true));
  }
  return has;
}

/* ---- presence ---- */

static double presence_of(const cst__compared *c, int side) {
  const cst__feature_row *at = &c->sides[side];
  if (at->row == SIZE_MAX) {
    const bool is_known = c->state == CST__COMPARED_NEW || c->state == CST__COMPARED_LOST;
    return is_known && cst_findings_total(at->table, "num_rows") != 0 ? 0 : (double)NAN;
  }
  const double rows = at->weighs ? cst_findings_real(at->table, "rows_weight", at->row)
                                 : (double)cst_findings_number(at->table, "rows", at->row);
  const double present = at->weighs ? cst_findings_real(at->table, "present_weight", at->row)
                                    : (double)cst_findings_number(at->table, "present", at->row);
  return rows > 0 ? present / rows : (double)NAN;
}

/* ---- values ---- */

static bool compare_counted(cst__compared *c, bool alone, cst__arena *arena) {
  cst__shares shares;
  if (!cst__compared_values_compare(&c->sides[0], &c->sides[1], arena, &c->values)) {
    return false;
  }
  if (c->values.count == 0) {
    return true;
  }
  c->measures[CST__MEASURE_LINF] = c->values.linf;
  c->measures[CST__MEASURE_ABS_DIFFERENCE] = cst__compared_values_abs_difference(&c->values);
  if (alone) {
    if (!cst__compared_values_shares(&c->values, arena, &shares)) {
      return false;
    }
    c->measures[CST__MEASURE_JENSEN_SHANNON] = cst__shares_jensen_shannon(&shares);
    c->measures[CST__MEASURE_PSI] = cst__shares_psi(&shares);
  }
  return true;
}

/* Of no numbers all is known. */
static double parts_of(const cst__ranks *ranks) {
  return ranks->count > 1 ? (double)(ranks->count - 1) : INFINITY;
}

static bool compare_ranked(cst__compared *c, cst__arena *arena) {
  cst__shares even, deciles;
  for (int side = 0; side < 2; side++) {
    cst__ranks *ranks = &c->ranks[side];
    if (!cst__ranks_of_quantiles(&c->sides[side], arena, ranks)) {
      return false;
    }
    if (ranks->count == 0 && ranks->nan < 1) { /* a table that does not tell them */
      return true;
    }
  }
  if (!cst__ranks_even_bins(&c->ranks[0], &c->ranks[1], arena, &even) ||
      !cst__ranks_deciles(&c->ranks[0], &c->ranks[1], arena, &deciles)) {
    return false;
  }
  c->measures[CST__MEASURE_JENSEN_SHANNON] = cst__shares_jensen_shannon(&even);
  c->measures[CST__MEASURE_PSI] = cst__shares_psi(&deciles);
  c->measures[CST__MEASURE_KS] = cst__ranks_distance(&c->ranks[0], &c->ranks[1], &c->place);
  c->resolution = 1 / fmin(parts_of(&c->ranks[0]), parts_of(&c->ranks[1]));
  return true;
}

/* ---- all ---- */

static double score_of(const cst__compared *c) {
  double score = 0;
  if (c->state != CST__COMPARED_BOTH || c->has_values[0] != c->has_values[1]) {
    return 1;
  }
  for (int i = 0; i < CST__NUM_MEASURES; i++) {
    bool counts = i != CST__MEASURE_PSI && i != CST__MEASURE_ABS_DIFFERENCE;
    score = counts ? fmax(score, c->measures[i]) : score; /* fmax passes NaN over */
  }
  return score;
}

/* Strings are bytes where a format cannot tell them apart, and NULL has no values yet. */
static bool has_other_type(const cst__compared *c) {
  const char *before = type_of(&c->sides[0]);
  const char *after = type_of(&c->sides[1]);
  return strcmp(before, "NULL") != 0 && strcmp(after, "NULL") != 0 && strcmp(before, after) != 0 &&
         !(family_of(before) == BYTES && family_of(after) == BYTES);
}

bool cst__compared_fill(cst__compared *c, cst__arena *arena) {
  const bool is_there[] = {c->sides[0].row != SIZE_MAX, c->sides[1].row != SIZE_MAX};
  bool weighs = is_there[0] && is_there[1];
  c->resolution = c->place = (double)NAN;
  c->values = (cst__compared_values){.worst = SIZE_MAX};
  c->state = is_there[0] && is_there[1] && has_other_type(c) ? CST__COMPARED_TYPE : c->state;
  for (int side = 0; side < 2; side++) {
    const cst__feature_row *at = &c->sides[side];
    c->ranks[side] = (cst__ranks){.count = 0};
    c->has_values[side] = is_there[side] && cst_findings_number(at->table, "values", at->row) > 0;
    weighs = weighs && cst_findings_real(at->table, "rows_weight", at->row) > 0;
  }
  for (int side = 0; side < 2; side++) {
    c->sides[side].weighs = weighs;
    c->presence[side] = presence_of(c, side);
  }
  for (int i = 0; i < CST__NUM_MEASURES; i++) {
    c->measures[i] = (double)NAN;
  }
  c->measures[CST__MEASURE_PRESENCE] = fabs(c->presence[1] - c->presence[0]);
  bool ok = true;
  if (c->has_values[0] && c->has_values[1]) {
    const family both = family_of_both(c);
    const bool is_ranked = both == NUMBERS || both == TIMES;
    const bool is_counted =
        both != NOTHING && family_of(type_of(&c->sides[0])) == family_of(type_of(&c->sides[1]));
    ok = !is_counted || compare_counted(c, !is_ranked, arena);
    ok = ok && (!is_ranked || compare_ranked(c, arena));
  }
  c->score = score_of(c);
  return ok;
}
