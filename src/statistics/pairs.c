/* Pairs of columns. */
#include "statistics/pairs.h"

#include <math.h>

#include "base/bytes.h"
#include "statistics/stats.h"

/* ---- which there are ---- */

/* Two names as a key, in the arena; no bytes: no memory. */
static cst_bytes key_of(cst_bytes a, cst_bytes b, cst__arena *arena) {
  const bool in_order = cst__bytes_compare(a, b) <= 0;
  const cst_bytes first = in_order ? a : b;
  const cst_bytes second = in_order ? b : a;
  const size_t size = first.size + 1 + second.size;
  uint8_t *key = cst__arena_take(arena, size);
  if (key == NULL) {
    return (cst_bytes){NULL, 0};
  }
  memcpy(key, first.data, first.size);
  key[first.size] = '\0';
  memcpy(key + first.size + 1, second.data, second.size);
  return (cst_bytes){key, size};
}

static size_t first_size(cst_bytes key) { return strlen((const char *)key.data); }

/* The name of a side, which ends in a NUL or with the key. */
static cst_bytes name_in(cst_bytes key, bool is_second) {
  const size_t first = first_size(key);
  return is_second ? (cst_bytes){key.data + first + 1, key.size - first - 1}
                   : (cst_bytes){key.data, first};
}

static bool is_known(const cst__pairs_plan *plan, cst_bytes key) {
  bool known = false;
  for (size_t i = 0; i < plan->count && !known; i++) {
    known = cst__bytes_compare(plan->keys[i], key) == 0;
  }
  return known;
}

cst_status cst__pairs_plan_init(cst__pairs_plan *plan, const char *const *texts, size_t count,
                                cst__arena *arena, cst_error *error) {
  *plan = (cst__pairs_plan){.is_all = count == 1 && strcmp(texts[0], "*") == 0};
  if (plan->is_all) {
    return CST_OK;
  }
  plan->keys = cst__arena_take_items(arena, (int64_t)count, sizeof *plan->keys);
  for (size_t i = 0; i < count && plan->keys != NULL; i++) {
    const char *colon = strchr(texts[i], ':');
    const cst_bytes a = {(const uint8_t *)texts[i], colon != NULL ? (size_t)(colon - texts[i]) : 0};
    const cst_bytes b = cst__bytes_of(colon != NULL ? colon + 1 : "");
    if (a.size == 0 || b.size == 0 || cst__bytes_compare(a, b) == 0) {
      cst_status status = cst__fail(error, CST_INVALID_ARGUMENT,
                                    "name pairs as a:b,c:d, or * for all columns of numbers",
                                    "`pairs` are two columns each, with a colon between them");
      cst__error_add_path(error, texts[i], strlen(texts[i]));
      return status;
    }
    const cst_bytes key = key_of(a, b, arena);
    if (key.data == NULL) {
      return cst__fail_memory(error, a.size + b.size);
    }
    if (!is_known(plan, key)) {
      plan->keys[plan->count++] = key;
    }
  }
  return plan->keys != NULL ? CST_OK : cst__fail_memory(error, count * sizeof *plan->keys);
}

/* ---- those of a batch ---- */

typedef struct finding {
  const cst__view *batch;
  const cst__name_map *only;
  cst__column_values **read; /* by the number of the column; NULL: not yet */
  cst__arena *arena;
  cst_error *error;
} finding;

static cst_status read_side(finding *f, const cst__view *column, const cst__column_values **out) {
  cst__column_values **slot = &f->read[column - f->batch->children];
  *out = *slot;
  if (*slot != NULL) {
    return CST_OK;
  }
  cst__column_values *made = cst__arena_take(f->arena, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(f->error, sizeof *made);
  }
  cst_status status = cst__column_values_read(column, f->arena, made, f->error);
  if (status != CST_OK) {
    cst__error_add_path(f->error, column->name, strlen(column->name));
    return status;
  }
  *out = *slot = made;
  return CST_OK;
}

static cst_status find_pair(finding *f, const cst__view *a, const cst__view *b,
                            cst__pairs_found *out) {
  const bool in_order = strcmp(a->name, b->name) <= 0;
  cst__pair_found *pair = &out->items[out->count++];
  pair->key = key_of(cst__bytes_of(a->name), cst__bytes_of(b->name), f->arena);
  if (pair->key.data == NULL) {
    return cst__fail_memory(f->error, sizeof *pair);
  }
  CST__TRY(read_side(f, in_order ? a : b, &pair->x));
  return read_side(f, in_order ? b : a, &pair->y);
}

static const cst__view *column_of(const finding *f, cst_bytes name) {
  for (int64_t i = 0; i < f->batch->num_children; i++) {
    const cst__view *column = &f->batch->children[i];
    if (cst__bytes_compare(cst__bytes_of(column->name), name) == 0) {
      return cst__column_is_left_out(f->only, column) ? NULL : column;
    }
  }
  return NULL;
}

static cst_status find_named(finding *f, const cst__pairs_plan *plan, cst__pairs_found *out) {
  out->items = cst__arena_take_items(f->arena, (int64_t)plan->count, sizeof *out->items);
  if (out->items == NULL) {
    return cst__fail_memory(f->error, plan->count * sizeof *out->items);
  }
  for (size_t i = 0; i < plan->count; i++) {
    const cst__view *a = column_of(f, name_in(plan->keys[i], false));
    const cst__view *b = column_of(f, name_in(plan->keys[i], true));
    if (a != NULL && b != NULL) {
      CST__TRY(find_pair(f, a, b, out));
    }
  }
  return CST_OK;
}

static bool has_numbers(const cst__view *column) {
  while (cst__view_is_list(column)) {
    column = &column->children[0];
  }
  const cst__stats_type type = cst__stats_type_of(column);
  return type >= CST__STATS_BOOL && type <= CST__STATS_FLOAT;
}

static cst_status find_all(finding *f, cst__pairs_found *out) {
  const cst__view *columns[CST__PAIR_COLUMNS];
  size_t count = 0;
  for (int64_t i = 0; i < f->batch->num_children; i++) {
    const cst__view *column = &f->batch->children[i];
    if (cst__column_is_left_out(f->only, column) || !has_numbers(column)) {
      continue;
    }
    if (count == CST__PAIR_COLUMNS) {
      return cst__fail(f->error, CST_LIMIT, "name the pairs, or the columns that are looked at",
                       "there are more than %d columns of numbers, of which pairs are to be made",
                       CST__PAIR_COLUMNS);
    }
    columns[count++] = column;
  }
  out->items = cst__arena_take_items(f->arena, (int64_t)(count * count), sizeof *out->items);
  if (out->items == NULL) {
    return cst__fail_memory(f->error, count * count * sizeof *out->items);
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t k = i + 1; k < count; k++) {
      CST__TRY(find_pair(f, columns[i], columns[k], out));
    }
  }
  return CST_OK;
}

cst_status cst__pairs_find(const cst__pairs_plan *plan, const cst__name_map *only,
                           const cst__view *batch, cst__arena *arena, cst__pairs_found *out,
                           cst_error *error) {
  *out = (cst__pairs_found){NULL, 0};
  if (plan->count == 0 && !plan->is_all) {
    return CST_OK;
  }
  const size_t size = (size_t)batch->num_children * sizeof(cst__column_values *);
  finding f = {batch, only, cst__arena_take_zero(arena, size), arena, error};
  if (f.read == NULL) {
    return cst__fail_memory(error, size);
  }
  return plan->is_all ? find_all(&f, out) : find_named(&f, plan, out);
}

cst_status cst__pairs_check(const cst__pairs_plan *plan, const cst__by_path *pairs,
                            cst_error *error) {
  for (size_t i = 0; i < plan->count; i++) {
    if (cst__by_path_find(pairs, plan->keys[i]) == NULL) {
      cst_status status = cst__fail(error, CST_NOT_FOUND, "`pairs` names columns at the top",
                                    "there is a pair of columns that no batch has both of");
      const cst_bytes second = name_in(plan->keys[i], true);
      cst__error_add_path(error, (const char *)second.data, second.size);
      return status;
    }
  }
  return CST_OK;
}

/* ---- adding ---- */

static void prepare(cst__pair_stats *pair, const cst_allocator *allocator) {
  if (!pair->is_ready) {
    cst__correlation_init(&pair->correlation, allocator);
    cst__mutual_init(&pair->mutual, CST__PAIR_VALUES, 0, allocator);
    pair->is_ready = true;
  }
}

/* Gives mutual information up where one of the columns has too many values. */
static void give_up(cst__pair_stats *pair) {
  const cst__mutual_side *sides = pair->mutual.sides;
  pair->has_many = pair->has_many || sides[0].limit != UINT64_MAX || sides[1].limit != UINT64_MAX;
  if (pair->has_many) {
    cst__mutual_reset(&pair->mutual);
  }
}

static bool are_numbers(cst__family family) {
  return family != CST__FAMILY_NONE && family != CST__FAMILY_BYTES;
}

static cst_status add_block(cst__pair_stats *pair, const cst__value_block *x,
                            const cst__value_block *y, cst_error *error) {
  if (x->count == 0) {
    return CST_OK;
  }
  pair->count = cst__count_sum(pair->count, x->count);
  if ((are_numbers(x->family) && are_numbers(y->family) &&
       !cst__correlation_add(&pair->correlation, x, y)) ||
      (!pair->has_many && !cst__mutual_add(&pair->mutual, x, y))) {
    return cst__fail_memory(error, x->count);
  }
  give_up(pair);
  return CST_OK;
}

/* Values of rows that have one. */
typedef struct side_block {
  const cst__column_values *from;
  union {
    uint64_t numbers[CST__VALUES_MOST];
    cst_bytes bytes[CST__VALUES_MOST];
  } items;
} side_block;

static bool has_one(const cst__column_values *values, int64_t row) {
  return values->splits[row + 1] - values->splits[row] == 1;
}

static void take_one(side_block *side, size_t i, int64_t row) {
  const int64_t at = side->from->splits[row];
  if (side->from->family == CST__FAMILY_BYTES) {
    side->items.bytes[i] = ((const cst_bytes *)side->from->items)[at];
  } else {
    side->items.numbers[i] = ((const uint64_t *)side->from->items)[at];
  }
}

static cst_status add_rows(cst__pair_stats *pair, const cst__pair_found *found,
                           const cst__chosen *rows, cst_error *error) {
  side_block x, y;
  x.from = found->x;
  y.from = found->y;
  cst__value_block of_x = {found->x->family, 0, &x.items, NULL};
  cst__value_block of_y = {found->y->family, 0, &y.items, NULL};
  size_t work = 0;
  for (int64_t i = 0; i < cst__chosen_num_runs(rows); i++) {
    const cst__range run = cst__chosen_run(rows, i);
    for (int64_t row = run.begin; row < run.begin + run.count; row++) {
      if (has_one(found->x, row) && has_one(found->y, row)) {
        take_one(&x, of_x.count, row);
        take_one(&y, of_x.count++, row);
      }
      if (of_x.count == CST__VALUES_MOST) {
        of_y.count = of_x.count;
        CST__TRY(add_block(pair, &of_x, &of_y, error));
        of_x.count = 0;
        if (cst__stretch_is_over(&work, CST__VALUES_MOST * 16)) {
          CST__TRY(cst__interrupted(error));
        }
      }
    }
  }
  of_y.count = of_x.count;
  return add_block(pair, &of_x, &of_y, error);
}

cst_status cst__pairs_add(cst__by_path *pairs, const cst__pairs_found *found,
                          const cst__chosen *rows, cst_error *error) {
  for (size_t i = 0; i < found->count; i++) {
    cst__pair_stats *pair = cst__by_path_need(pairs, found->items[i].key);
    if (pair == NULL) {
      return cst__fail_memory(error, sizeof *pair);
    }
    prepare(pair, &pairs->allocator);
    CST__TRY(add_rows(pair, &found->items[i], rows, error));
  }
  return CST_OK;
}

/* ---- the state ---- */

cst_status cst__pairs_merge(cst__by_path *into, const cst__by_path *from, cst_error *error) {
  for (size_t i = 0; i < from->count; i++) {
    const cst__pair_stats *theirs = cst__by_path_at(from, i);
    cst__pair_stats *mine = cst__by_path_need(into, theirs->key);
    if (mine == NULL) {
      return cst__fail_memory(error, theirs->key.size);
    }
    prepare(mine, &into->allocator);
    mine->count = cst__count_sum(mine->count, theirs->count);
    mine->has_many = mine->has_many || theirs->has_many;
    if (!cst__correlation_merge(&mine->correlation, &theirs->correlation) ||
        (!mine->has_many && !cst__mutual_merge(&mine->mutual, &theirs->mutual))) {
      return cst__fail_memory(error, sizeof *mine);
    }
    give_up(mine);
  }
  return CST_OK;
}

/* A key of two names. */
static bool key_fits(cst_bytes key) {
  const uint8_t *nul = key.size > 0 ? memchr(key.data, '\0', key.size) : NULL;
  return nul != NULL && memchr(nul + 1, '\0', key.size - (size_t)(nul + 1 - key.data)) == NULL;
}

void cst__pairs_archive(cst__by_path *pairs, cst__archive *a) {
  size_t count;
  cst__by_path_archive_count(pairs, a, &count);
  for (size_t i = 0; i < count && !a->bad; i++) {
    cst__pair_stats *pair = cst__by_path_archive_key(pairs, a, i);
    if (pair == NULL) {
      return;
    }
    prepare(pair, &pairs->allocator);
    cst__archive_check(a, key_fits(pair->key));
    cst__archive_u64(a, &pair->count);
    cst__archive_bool(a, &pair->has_many);
    if (!a->bad) {
      cst__correlation_archive(&pair->correlation, a);
    }
    if (!a->bad && !pair->has_many) {
      cst__mutual_archive(&pair->mutual, a);
      const bool had_many = pair->has_many;
      give_up(pair);
      cst__archive_check(a, pair->has_many == had_many);
    }
  }
}

void cst__pairs_reset(cst__by_path *pairs) {
  for (size_t i = 0; i < pairs->count; i++) {
    cst__pair_stats *pair = cst__by_path_at(pairs, i);
    if (pair->is_ready) {
      cst__correlation_reset(&pair->correlation);
      cst__mutual_reset(&pair->mutual);
    }
  }
  cst__by_path_reset(pairs);
}

size_t cst__pairs_memory(const cst__by_path *pairs) {
  size_t size = cst__by_path_memory(pairs);
  for (size_t i = 0; i < pairs->count; i++) {
    const cst__pair_stats *pair = cst__by_path_at(pairs, i);
    size += cst__correlation_memory(&pair->correlation) - sizeof pair->correlation +
            cst__mutual_memory(&pair->mutual) - sizeof pair->mutual;
  }
  return size;
}

/* ---- the table ---- */

const cst__finding_column cst__pair_columns[5] = {
    CST__TEXT("other"), CST__NUMBER("count"), CST__REAL_OR_NULL("correlation"),
    CST__REAL_OR_NULL("covariance"), CST__REAL_OR_NULL("mutual_information")};

static void put_real_or_null(cst_findings *found, double number) {
  if (isfinite(number)) {
    cst__put_real(found, number);
  } else {
    cst__put_null(found);
  }
}

static cst_status put_pair(cst_findings *found, const cst__pair_stats *pair, bool is_second,
                           cst_error *error) {
  const cst_bytes other = name_in(pair->key, !is_second);
  cst_correlation correlation;
  cst_mutual_information mutual = {.information = (double)NAN};
  cst__correlation_tell(&pair->correlation, &correlation);
  if (!pair->has_many && !cst__mutual_tell(&pair->mutual, &mutual)) {
    return cst__fail_memory(error, sizeof mutual);
  }
  cst__put_bytes(found, other.data, other.size);
  cst__put_number(found, pair->count);
  put_real_or_null(found, correlation.correlation);
  put_real_or_null(found, correlation.covariance);
  put_real_or_null(found, mutual.information);
  return CST_OK;
}

cst_status cst__put_pairs(cst_findings *found, const cst__by_path *pairs, void *const *sorted,
                          cst_bytes column, cst_error *error) {
  cst__open_list(found);
  for (size_t i = 0; i < pairs->count; i++) {
    const cst__pair_stats *pair = sorted[i];
    for (int side = 0; side < 2; side++) {
      if (cst__bytes_compare(name_in(pair->key, side == 1), column) == 0) {
        CST__TRY(put_pair(found, pair, side == 1, error));
      }
    }
  }
  cst__close_list(found);
  return CST_OK;
}
