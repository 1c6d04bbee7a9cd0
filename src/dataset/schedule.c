/* Divisor methods: rows dealt out by shares, from any row on. */
#include "dataset/schedule.h"

#include <math.h>

static const double share_sum = (double)(INT64_C(1) << 40);

/* True for whole numbers that are shares already. */
static bool are_shares(const double *weights, size_t count) {
  double sum = 0;
  bool are_whole = true;
  for (size_t i = 0; i < count; i++) {
    are_whole = are_whole && weights[i] >= 1 && floor(weights[i]) == weights[i];
    sum += weights[i];
  }
  return are_whole && sum <= share_sum;
}

void cst__shares_of(const double *weights, size_t count, cst__mixed_part *parts) {
  bool are_done = are_shares(weights, count);
  double largest = 0;
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    largest = weights[i] > largest ? weights[i] : largest;
  }
  for (size_t i = 0; i < count; i++) {
    sum += weights[i] / largest;
  }
  for (size_t i = 0; i < count; i++) {
    double share = weights[i] / largest / sum * share_sum + 0.5;
    share = are_done ? weights[i] : share;
    parts[i].share = share < 1 ? 1 : (uint64_t)share;
  }
}

/* How many rows of dataset d are dealt out before row t of dataset c is: those rows u for which
 * (2 u + 1) / share of d is less than (2 t + 1) / share of c, or as much, if d comes first. */
static uint64_t rows_before(const cst__schedule *s, size_t d, size_t c, uint64_t t) {
  __uint128_t most = ((__uint128_t)2 * t + 1) * s->parts[d].share - (d > c);
  __uint128_t rows = (most / s->parts[c].share + 1) / 2;
  return rows < UINT64_MAX ? (uint64_t)rows : UINT64_MAX;
}

/* The row at which it is the turn of dataset c for the t-th time, from 0; UINT64_MAX: beyond all
 * numbers. */
static uint64_t turn_of(const cst__schedule *s, size_t c, uint64_t t) {
  uint64_t row = t;
  for (size_t d = 0; d < s->count; d++) {
    if (d != c && __builtin_add_overflow(row, rows_before(s, d, c, t), &row)) {
      return UINT64_MAX;
    }
  }
  return row;
}

/* The first row for which a dataset has none left. */
static uint64_t first_end(const cst__schedule *s) {
  uint64_t first = UINT64_MAX;
  for (size_t c = 0; c < s->count; c++) {
    uint64_t end = turn_of(s, c, s->parts[c].rows);
    first = end < first ? end : first;
  }
  return first;
}

/* The row after the one by which all datasets have given all of theirs. */
static uint64_t last_end(const cst__schedule *s) {
  uint64_t last = 0;
  for (size_t c = 0; c < s->count; c++) {
    uint64_t end = turn_of(s, c, s->parts[c].rows - 1);
    last = end > last ? end : last;
  }
  return last < UINT64_MAX ? last + 1 : last;
}

uint64_t cst__schedule_rows(const cst__schedule *schedule) {
  switch (schedule->stop) {
    case CST_MIX_FIRST:
      return first_end(schedule);
    case CST_MIX_ALL:
      return last_end(schedule);
    default:
      return UINT64_MAX;
  }
}

/* True if dataset a, which has given x rows, is the next one rather than dataset b with y. */
static bool is_next(const cst__schedule *s, size_t a, uint64_t x, size_t b, uint64_t y) {
  __uint128_t left = ((__uint128_t)2 * x + 1) * s->parts[b].share;
  __uint128_t right = ((__uint128_t)2 * y + 1) * s->parts[a].share;
  return left < right || (left == right && a < b);
}

static size_t find_next(const cst__schedule *s, const uint64_t *given) {
  size_t next = 0;
  for (size_t i = 1; i < s->count; i++) {
    if (is_next(s, i, given[i], next, given[next])) {
      next = i;
    }
  }
  return next;
}

/* The one whose turn came last; some have given rows. */
static size_t find_last(const cst__schedule *s, const uint64_t *given) {
  size_t last = s->count;
  for (size_t i = 0; i < s->count; i++) {
    if (given[i] > 0 && (last == s->count || is_next(s, last, given[last] - 1, i, given[i] - 1))) {
      last = i;
    }
  }
  return last;
}

/* All turns below a quotient are counted at once; the few that this has too many or too few are
 * dealt out one by one. */
void cst__schedule_at(const cst__schedule *schedule, uint64_t row, uint64_t *given) {
  uint64_t sum = 0;
  uint64_t total = 0;
  for (size_t i = 0; i < schedule->count; i++) {
    sum += schedule->parts[i].share;
  }
  for (size_t i = 0; i < schedule->count; i++) {
    given[i] = (uint64_t)(((__uint128_t)2 * row * schedule->parts[i].share / sum + 1) / 2);
    total += given[i];
  }
  for (; total < row; total++) {
    given[find_next(schedule, given)]++;
  }
  for (; total > row; total--) {
    given[find_last(schedule, given)]--;
  }
}

void cst__schedule_deal(const cst__schedule *schedule, uint64_t *given, size_t count,
                        uint16_t *datasets) {
  for (size_t i = 0; i < count; i++) {
    size_t next = find_next(schedule, given);
    given[next]++;
    datasets[i] = (uint16_t)next;
  }
}
