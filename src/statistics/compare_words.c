/* What changed of a feature, in words: the one thing that changed most.
 */
#include <math.h>
#include <stdio.h>

#include "base/utf8.h"
#include "statistics/compare.h"
#include "text/number.h"

enum { VALUE_BYTES = 40, ROOM = 512 };

void cst__number_words(char room[CST__WORD_ROOM], double number) {
  const bool is_whole = number == floor(number) && fabs(number) < 1e7;
  (void)snprintf(room, CST__WORD_ROOM, is_whole ? "%.0f" : "%.4g", number);
}

void cst__share_words(char room[CST__WORD_ROOM], double share) {
  const double percent = 100 * share;
  if (percent > 0 && percent < 0.1) {
    (void)snprintf(room, CST__WORD_ROOM, "<0.1 %%");
  } else if (percent < 100 && percent > 99.9) {
    (void)snprintf(room, CST__WORD_ROOM, ">99.9 %%");
  } else {
    const bool is_whole = percent == floor(percent);
    (void)snprintf(room, CST__WORD_ROOM, is_whole ? "%.0f %%" : "%.1f %%", percent);
  }
}

/* A value in quotes, its begin if it is long. */
static void quote_value(char room[VALUE_BYTES + 8], const char *text) {
  size_t size = strlen(text);
  const bool is_long = size > VALUE_BYTES;
  if (is_long) {
    size = cst__utf8_valid_prefix((const uint8_t *)text, VALUE_BYTES);
  }
  (void)snprintf(room, VALUE_BYTES + 8, "\"%.*s%s\"", (int)size, text, is_long ? "..." : "");
}

static const char *slice_words(const cst__compared *c) {
  return c->state == CST__COMPARED_NEW_SLICE ? "in a slice that was not there before"
                                             : "in a slice that is not there any more";
}

static void put_state(const cst__compared *c, char *out) {
  char share[CST__WORD_ROOM];
  const bool is_new = c->state == CST__COMPARED_NEW;
  if (isnan(c->presence[is_new])) { /* a field of structs that there were none of */
    (void)snprintf(out, ROOM, is_new ? "new" : "gone");
    return;
  }
  cst__share_words(share, c->presence[is_new]);
  (void)snprintf(out, ROOM, is_new ? "new: %s of rows have it" : "gone: %s of rows had it", share);
}

static void put_type(const cst__compared *c, char *out) {
  (void)snprintf(out, ROOM, "%s now, %s before",
                 cst_findings_text(c->sides[1].table, "type", c->sides[1].row),
                 cst_findings_text(c->sides[0].table, "type", c->sides[0].row));
}

static void put_presence(const cst__compared *c, char *out) {
  char before[CST__WORD_ROOM], after[CST__WORD_ROOM];
  cst__share_words(before, c->presence[0]);
  cst__share_words(after, c->presence[1]);
  (void)snprintf(out, ROOM, "%s of rows have it now, %s before", after, before);
}

/* The value whose share changed most; rather one that is new or lost, if it is nearly so. */
static size_t telling_value(const cst__compared_values *values) {
  size_t best = SIZE_MAX;
  double most = values->linf / 2;
  for (size_t i = 0; i < values->count; i++) {
    const cst__compared_value *value = &values->items[i];
    const double share = fmax(value->share[0], value->share[1]);
    if (share >= most && (cst__compared_values_has_only(values, i, 0) ||
                          cst__compared_values_has_only(values, i, 1))) {
      best = i;
      most = share;
    }
  }
  return best != SIZE_MAX ? best : values->worst;
}

static void put_value_words(const cst__compared *c, char *out) {
  const cst__compared_values *values = &c->values;
  const size_t told = telling_value(values);
  const cst__compared_value *value = &values->items[told];
  char before[CST__WORD_ROOM], after[CST__WORD_ROOM], text[VALUE_BYTES + 8];
  quote_value(text, value->text);
  cst__share_words(before, value->is_there[0] ? value->share[0] : value->most[0]);
  cst__share_words(after, value->is_there[1] ? value->share[1] : value->most[1]);
  if (cst__compared_values_has_only(values, told, 1)) {
    (void)snprintf(out, ROOM, "%s of values are now %s, which was not there before", after, text);
  } else if (cst__compared_values_has_only(values, told, 0)) {
    (void)snprintf(out, ROOM, "%s of values were %s, which is not there any more", before, text);
  } else {
    (void)snprintf(out, ROOM, "%s%s of values are now %s, %s%s before",
                   value->is_there[1] ? "" : "at most ", after, text,
                   value->is_there[0] ? "" : "at most ", before);
  }
}

static double median_of(const cst__ranks *ranks) {
  return ranks->count % 2 == 1 ? ranks->bounds[ranks->count / 2] : (double)NAN;
}

/* Where both ranks differ most. */
static void put_ranks(const cst__compared *c, char *out) {
  char before[CST__WORD_ROOM], after[CST__WORD_ROOM], place[CST__WORD_ROOM];
  const double medians[] = {median_of(&c->ranks[0]), median_of(&c->ranks[1])};
  const double x = c->place;
  const double upto[] = {cst__ranks_upto(&c->ranks[0], x), cst__ranks_upto(&c->ranks[1], x)};
  const double below[] = {cst__ranks_below(&c->ranks[0], x), cst__ranks_below(&c->ranks[1], x)};
  const bool is_below = fabs(below[1] - below[0]) > fabs(upto[1] - upto[0]);
  cst__share_words(before, is_below ? below[0] : upto[0]);
  cst__share_words(after, is_below ? below[1] : upto[1]);
  cst__number_words(place, x);
  size_t size = (size_t)snprintf(out, ROOM, "%s of values are %s %s now, %s before", after,
                                 is_below ? "below" : "at most", place, before);
  if (medians[0] != medians[1] && !isnan(medians[0]) && !isnan(medians[1])) {
    cst__number_words(before, medians[0]);
    cst__number_words(after, medians[1]);
    (void)snprintf(out + size, ROOM - size, " (median %s, was %s)", after, before);
  }
}

static void put_nan(const cst__compared *c, char *out) {
  char before[CST__WORD_ROOM], after[CST__WORD_ROOM];
  cst__share_words(before, c->ranks[0].nan);
  cst__share_words(after, c->ranks[1].nan);
  (void)snprintf(out, ROOM, "%s of values are NaN now, %s before", after, before);
}

static void put_measures(const cst__compared *c, char *out) {
  const double presence = fmax(c->measures[CST__MEASURE_PRESENCE], 0);
  const double ks = fmax(c->measures[CST__MEASURE_KS], 0);
  const double linf = fmax(c->measures[CST__MEASURE_LINF], 0);
  if (c->has_values[0] != c->has_values[1]) {
    (void)snprintf(
        out, ROOM,
        c->has_values[1] ? "there were no values before" : "there are no values any more");
  } else if (presence > 0 && presence >= fmax(ks, linf)) {
    put_presence(c, out);
  } else if (linf > 0 && linf >= ks && c->values.worst != SIZE_MAX) {
    put_value_words(c, out);
  } else if (ks > 0 && isnan(c->place)) {
    put_nan(c, out);
  } else if (ks > 0) {
    put_ranks(c, out);
  } else {
    (void)snprintf(out, ROOM, c->score > 0 ? "other values are more frequent" : "as before");
  }
}

const char *cst__compared_words(const cst__compared *c, cst__arena *arena) {
  char out[ROOM] = "";
  switch (c->state) {
    case CST__COMPARED_NEW:
    case CST__COMPARED_LOST:
      put_state(c, out);
      break;
    case CST__COMPARED_NEW_SLICE:
    case CST__COMPARED_LOST_SLICE:
      return slice_words(c);
    case CST__COMPARED_TYPE:
      put_type(c, out);
      break;
    case CST__COMPARED_BOTH:
      put_measures(c, out);
      break;
  }
  return cst__arena_copy(arena, out, strlen(out));
}
