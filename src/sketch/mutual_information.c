/* Mutual information of two columns. */
#include "sketch/mutual_information.h"

#include <math.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/hash.h"
#include "sketch/hashes.h"

#define KEPT (UINT64_C(1) << 63)

enum { FIRST_PLACES = 16 };

static uint64_t count_sum(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

void cst__mutual_init(cst__mutual *mutual, size_t most, uint64_t seed,
                      const cst_allocator *allocator) {
  *mutual = (cst__mutual){.allocator = allocator, .most = most, .key = cst__hash_key(seed)};
  mutual->sides[0].limit = mutual->sides[1].limit = UINT64_MAX;
}

void cst__mutual_reset(cst__mutual *mutual) {
  for (int i = 0; i < 2; i++) {
    cst__delete(mutual->sides[i].kept);
    mutual->sides[i] = (cst__mutual_side){NULL, 0, 0, UINT64_MAX};
  }
  cst__delete(mutual->cells);
  mutual->cells = NULL;
  mutual->num_cells = mutual->num_places = 0;
  mutual->count = 0;
}

size_t cst__mutual_memory(const cst__mutual *mutual) {
  return sizeof *mutual + mutual->num_places * sizeof *mutual->cells +
         (mutual->sides[0].capacity + mutual->sides[1].capacity) * sizeof *mutual->sides[0].kept;
}

/* ---- ids ---- */

/* What a value counts as now, of which this is the id, or was before. */
static uint64_t id_now(const cst__mutual *m, int side, uint64_t id) {
  return id > m->sides[side].limit ? (id & ~KEPT) % m->most : id;
}

/* Where an id is, or belongs. */
static size_t place_in(const cst__mutual_side *side, uint64_t id) {
  size_t low = 0;
  size_t high = side->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (side->kept[middle] < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static bool is_kept(const cst__mutual_side *side, uint64_t id) {
  size_t place = place_in(side, id);
  return place < side->count && side->kept[place] == id;
}

/* Keeps an id, if it is one of a value that is kept. */
static bool keep(cst__mutual *m, int i, uint64_t id) {
  cst__mutual_side *side = &m->sides[i];
  if ((id & KEPT) == 0 || is_kept(side, id)) {
    return true;
  }
  void *kept = side->kept;
  if (!cst__grow(m->allocator, &kept, &side->capacity, side->count + 1, sizeof *side->kept)) {
    return false;
  }
  side->kept = kept;
  size_t place = place_in(side, id);
  memmove(side->kept + place + 1, side->kept + place, (side->count - place) * sizeof *side->kept);
  side->kept[place] = id;
  side->count++;
  return true;
}

/* ---- cells ---- */

/* The cell of two ids, or the free place where it belongs. */
static cst__mutual_cell *cell_of(const cst__mutual *m, uint64_t x, uint64_t y) {
  size_t at = (size_t)cst__fold(x ^ UINT64_C(0x9e3779b97f4a7c15), y ^ UINT64_C(0xd6e8feb86659fd93));
  for (;; at++) {
    cst__mutual_cell *cell = &m->cells[at & (m->num_places - 1)];
    if (cell->count == 0 || (cell->ids[0] == x && cell->ids[1] == y)) {
      return cell;
    }
  }
}

static void put_cell(cst__mutual *m, const uint64_t ids[2], uint64_t count) {
  cst__mutual_cell *cell = cell_of(m, ids[0], ids[1]);
  m->num_cells += cell->count == 0;
  cell->ids[0] = ids[0];
  cell->ids[1] = ids[1];
  cell->count = count_sum(cell->count, count);
}

/* A new table, of the cells as their ids are now. */
static bool rebuild(cst__mutual *m, size_t num_places) {
  cst__mutual_cell *old = m->cells;
  size_t num_old = m->num_places;
  cst__mutual_cell *fresh = cst__new_zero(m->allocator, num_places * sizeof *fresh);
  if (fresh == NULL) {
    return false;
  }
  m->cells = fresh;
  m->num_places = num_places;
  m->num_cells = 0;
  for (size_t i = 0; i < num_old; i++) {
    if (old[i].count > 0) {
      const uint64_t ids[2] = {id_now(m, 0, old[i].ids[0]), id_now(m, 1, old[i].ids[1])};
      put_cell(m, ids, old[i].count);
    }
  }
  cst__delete(old);
  return true;
}

static bool need_room(cst__mutual *m) {
  return (m->num_cells + 1) * 2 <= m->num_places ||
         rebuild(m, m->num_places > 0 ? m->num_places * 2 : FIRST_PLACES);
}

static bool add_ids(cst__mutual *m, const uint64_t ids[2], uint64_t count) {
  const uint64_t now[2] = {id_now(m, 0, ids[0]), id_now(m, 1, ids[1])};
  if (m->num_places > 0) {
    cst__mutual_cell *cell = cell_of(m, now[0], now[1]);
    if (cell->count > 0) { /* then its ids are kept */
      cell->count = count_sum(cell->count, count);
      return true;
    }
  }
  if (!keep(m, 0, now[0]) || !keep(m, 1, now[1]) || !need_room(m)) {
    return false;
  }
  put_cell(m, now, count);
  return true;
}

/* Keeps no more values than there may be. */
static bool settle(cst__mutual *m) {
  bool changes = false;
  for (int i = 0; i < 2; i++) {
    cst__mutual_side *side = &m->sides[i];
    if (side->count > m->most) {
      side->count = m->most;
      side->limit = side->kept[m->most - 1];
      changes = true;
    }
  }
  return !changes || rebuild(m, m->num_places);
}

/* ---- adding ---- */

bool cst__mutual_add(cst__mutual *mutual, const cst__value_block *x, const cst__value_block *y) {
  uint64_t hashes[2][CST__VALUES_MOST];
  bool ok = true;
  cst__hash_values(x, mutual->key, hashes[0]);
  cst__hash_values(y, mutual->key, hashes[1]);
  for (size_t i = 0; ok && i < x->count; i++) {
    const uint64_t ids[2] = {hashes[0][i] | KEPT, hashes[1][i] | KEPT};
    ok = add_ids(mutual, ids, 1);
  }
  mutual->count = count_sum(mutual->count, x->count);
  return ok && settle(mutual);
}

bool cst__mutual_merge(cst__mutual *into, const cst__mutual *from) {
  bool changes = false;
  bool ok = true;
  for (int i = 0; i < 2; i++) {
    cst__mutual_side *side = &into->sides[i];
    if (from->sides[i].limit < side->limit) {
      side->limit = from->sides[i].limit;
      while (side->count > 0 && side->kept[side->count - 1] > side->limit) {
        side->count--;
      }
      changes = true;
    }
  }
  if (changes && into->num_places > 0) {
    ok = rebuild(into, into->num_places);
  }
  for (size_t i = 0; ok && i < from->num_places; i++) {
    if (from->cells[i].count > 0) {
      ok = add_ids(into, from->cells[i].ids, from->cells[i].count);
    }
  }
  into->count = count_sum(into->count, from->count);
  return ok && settle(into);
}

/* ---- cells in order ---- */

static int compare_cells(const void *left, const void *right) {
  const cst__mutual_cell *a = left;
  const cst__mutual_cell *b = right;
  int i = a->ids[0] == b->ids[0];
  return a->ids[i] < b->ids[i] ? -1 : a->ids[i] > b->ids[i];
}

/* A copy, which is sorted by the ids; NULL: out of memory. */
static cst__mutual_cell *sorted_cells(const cst__mutual *m) {
  size_t count = 0;
  cst__mutual_cell *cells = cst__new(m->allocator, (m->num_cells + 1) * sizeof *cells);
  for (size_t i = 0; cells != NULL && i < m->num_places; i++) {
    if (m->cells[i].count > 0) {
      cells[count++] = m->cells[i];
    }
  }
  if (count > 1) {
    qsort(cells, count, sizeof *cells, compare_cells);
  }
  return cells;
}

/* Ids as numbers below 2 * most: the cells of others come first. */
static size_t number_of(const cst__mutual *m, int side, uint64_t id) {
  return (id & KEPT) == 0 ? (size_t)id : m->most + place_in(&m->sides[side], id);
}

/* ---- results ---- */

/* Adds up the counts of each id of a column; returns the entropy. */
static double entropy_of(const uint64_t *counts, size_t size, double total, int64_t *num_values) {
  double entropy = 0;
  *num_values = 0;
  for (size_t i = 0; i < size; i++) {
    if (counts[i] > 0) {
      double share = (double)counts[i] / total;
      entropy -= share * log(share);
      ++*num_values;
    }
  }
  return entropy > 0 ? entropy : 0;
}

bool cst__mutual_tell(const cst__mutual *mutual, cst_mutual_information *out) {
  const cst__mutual *m = mutual;
  const size_t size = 2 * m->most;
  const double total = (double)m->count;
  cst__mutual_cell *cells = sorted_cells(m);
  uint64_t *counts = cst__new_zero(m->allocator, 2 * size * sizeof *counts);
  bool ok = cells != NULL && counts != NULL;
  *out = (cst_mutual_information){
      .num_pairs = m->count < INT64_MAX ? (int64_t)m->count : INT64_MAX,
      .num_cells = (int64_t)m->num_cells,
      .is_exact = m->sides[0].limit == UINT64_MAX && m->sides[1].limit == UINT64_MAX};
  for (size_t i = 0; ok && i < m->num_cells; i++) {
    for (int side = 0; side < 2; side++) {
      uint64_t *count = &counts[(size_t)side * size + number_of(m, side, cells[i].ids[side])];
      *count = count_sum(*count, cells[i].count);
    }
  }
  if (ok) {
    double sum = 0;
    out->entropy_x = entropy_of(counts, size, total, &out->num_x);
    out->entropy_y = entropy_of(counts + size, size, total, &out->num_y);
    for (size_t i = 0; i < m->num_cells; i++) {
      double count = (double)cells[i].count;
      double of_x = (double)counts[number_of(m, 0, cells[i].ids[0])];
      double of_y = (double)counts[size + number_of(m, 1, cells[i].ids[1])];
      sum += count / total * log(count / of_x * (total / of_y));
    }
    int64_t freedom = out->num_cells - out->num_x - out->num_y + 1;
    out->information = m->count == 0 ? (double)NAN : sum > 0 ? sum : 0;
    out->corrected = out->information - (double)freedom / (2 * total);
  }
  cst__delete(cells);
  cst__delete(counts);
  return ok;
}

/* ---- the state ---- */

static void archive_side(cst__mutual *m, int i, cst__archive *a) {
  cst__mutual_side *side = &m->sides[i];
  bool folds = side->limit != UINT64_MAX;
  size_t count = side->count;
  cst__archive_bool(a, &folds);
  cst__archive_count(a, &count);
  cst__archive_check(a, folds ? count == m->most : count <= m->most);
  uint64_t before = 0;
  for (size_t k = 0; k < count && !a->bad; k++) {
    uint64_t id = cst__archive_loads(a) ? 0 : side->kept[k];
    cst__archive_u64(a, &id);
    cst__archive_check(a, (id & KEPT) != 0 && id > before);
    before = id;
    if (cst__archive_loads(a) && !a->bad && !keep(m, i, id)) {
      cst__archive_fail_memory(a);
    }
  }
  if (cst__archive_loads(a) && !a->bad && folds) {
    side->limit = side->kept[count - 1];
  }
}

/* A cell, whose ids are saved as numbers. */
static void archive_cell(cst__mutual *m, cst__mutual_cell *cell, cst__archive *a) {
  for (int i = 0; i < 2; i++) {
    const cst__mutual_side *side = &m->sides[i];
    uint64_t number = cst__archive_loads(a) ? 0 : number_of(m, i, cell->ids[i]);
    cst__archive_u64(a, &number);
    bool is_other = number < m->most;
    cst__archive_check(a, is_other ? side->limit != UINT64_MAX : number - m->most < side->count);
    if (cst__archive_loads(a) && !a->bad) {
      cell->ids[i] = is_other ? number : side->kept[number - m->most];
    }
  }
  cst__archive_u64(a, &cell->count);
  cst__archive_check(a, cell->count > 0);
}

static void load_cells(cst__mutual *m, size_t count, cst__archive *a) {
  cst__mutual_cell before = {{0, 0}, 0};
  uint64_t total = 0;
  for (size_t i = 0; i < count && !a->bad; i++) {
    cst__mutual_cell cell = {{0, 0}, 0};
    archive_cell(m, &cell, a);
    cst__archive_check(a, i == 0 || compare_cells(&before, &cell) < 0);
    if (!a->bad && !need_room(m)) {
      cst__archive_fail_memory(a);
    }
    if (!a->bad) {
      put_cell(m, cell.ids, cell.count);
    }
    total = count_sum(total, cell.count);
    before = cell;
  }
  cst__archive_check(a, total == m->count);
}

void cst__mutual_archive(cst__mutual *mutual, cst__archive *a) {
  cst__mutual *m = mutual;
  size_t count = m->num_cells;
  cst__archive_u64(a, &m->count);
  archive_side(m, 0, a);
  archive_side(m, 1, a);
  cst__archive_count(a, &count);
  if (cst__archive_loads(a)) {
    load_cells(m, count, a);
    return;
  }
  cst__mutual_cell *cells = sorted_cells(m);
  a->out->failed = a->out->failed || cells == NULL;
  for (size_t i = 0; cells != NULL && i < count; i++) {
    archive_cell(m, &cells[i], a);
  }
  cst__delete(cells);
}

/* ---- the kind ---- */

typedef struct mutual_options {
  int64_t values, seed;
} mutual_options;

static const cst__option option_table[] = {
    {.info = {.name = "values",
              .kind = CST_OPTION_NUMBER,
              .least = 2,
              .most = CST__MUTUAL_MOST,
              .usual = "100",
              .help = "number of values of each column to count individually"},
     .offset = offsetof(mutual_options, values),
     .is_wide = true},
    {.info = {.name = "seed",
              .kind = CST_OPTION_NUMBER,
              .least = 0,
              .most = INT64_MAX,
              .usual = "0",
              .help = "seed of the hashes"},
     .offset = offsetof(mutual_options, seed),
     .is_wide = true}};
static const cst__option_table options_type = {"mutual_information", option_table, 2,
                                               sizeof(cst__option), sizeof(mutual_options)};

static cst_status create(const void *options, const cst_allocator *allocator, void **state,
                         cst_error *error) {
  const mutual_options *o = options;
  cst__mutual *made = cst__new(allocator, sizeof *made);
  *state = made;
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  cst__mutual_init(made, (size_t)o->values, o->seed > 0 ? (uint64_t)o->seed : 0, allocator);
  return CST_OK;
}

static void free_mutual(void *state) {
  if (state != NULL) {
    cst__mutual_reset(state);
    cst__delete(state);
  }
}

static cst_status done(bool ok, const cst__mutual *m, cst_error *error) {
  return ok ? CST_OK : cst__fail_memory(error, m->num_places * 2 * sizeof *m->cells);
}

static cst_status add_pairs(void *state, const cst__value_block *x, const cst__value_block *y,
                            cst_error *error) {
  return done(cst__mutual_add(state, x, y), state, error);
}

static cst_status merge(void *into, const void *from, cst_error *error) {
  return done(cst__mutual_merge(into, from), into, error);
}

static void archive(void *state, cst__archive *a) { cst__mutual_archive(state, a); }

static size_t memory(const void *state) { return cst__mutual_memory(state); }

const cst__sketch_kind cst__mutual_kind = {
    .name = "mutual_information",
    .version = 1,
    .summary = "the mutual information of two columns",
    .options = &options_type,
    .families = 1u << CST__FAMILY_INT | 1u << CST__FAMILY_UINT | 1u << CST__FAMILY_FLOAT |
                1u << CST__FAMILY_BYTES,
    .create = create,
    .free = free_mutual,
    .add_pairs = add_pairs,
    .merge = merge,
    .archive = archive,
    .memory = memory,
};

cst_status cst_sketch_mutual_information(const cst_sketch *sketch, cst_mutual_information *out,
                                         cst_error *error) {
  const void *state;
  if (out == NULL) {
    return cst__missing("out", error);
  }
  *out = (cst_mutual_information){0};
  CST__TRY(cst__sketch_state(sketch, &cst__mutual_kind, &state, error));
  return done(cst__mutual_tell(state, out), state, error);
}
