/* Operations on structured tensors: a small program over whatever nested data was let in. Every
 * operation either refuses or gives a tensor that is valid and has the dimensions that it should.
 *
 * The language: a byte that says what the first tensor is, two nodes of arrow_feed.h, and steps: an
 * operation and its arguments, a byte each. A step takes the tensor of the step before, and may
 * take the one of the other node as well.
 */
#include <columnstone/structured.h>

#include "array_look.h"
#include "arrow_feed.h"

enum {
  MOST_OPERATIONS = 8,
  MOST_TENSOR_STEPS = 1 << 12,
  MOST_DIMS = 128,
  MOST_PATH = 3,
  MOST_ITEMS = 3
};

/* ---- what holds for every tensor ---- */

/* A dimension has one list per place of the dimension above, and the innermost hold the elements.
 */
static void check_splits(const cst_structured *t, size_t rank, int64_t num_elements) {
  int64_t places = 1;
  for (size_t d = 0; d < rank; d++) {
    cst_array *splits = NULL;
    look l;
    FUZZ_ASSERT(cst_structured_row_splits(t, d, &splits, NULL) == CST_OK);
    FUZZ_ASSERT(cst_array_length(splits) == places + 1);
    look_at(&l, splits);
    const int64_t *at = (const int64_t *)l.view.data + l.view.offset;
    FUZZ_ASSERT(at[0] == 0);
    for (int64_t i = 0; i < places; i++) {
      FUZZ_ASSERT(at[i] <= at[i + 1]);
    }
    places = at[places];
    look_away(&l);
    cst_array_release(splits);
  }
  FUZZ_ASSERT(places == num_elements);
}

static void check_tensor(const cst_structured *t) {
  int64_t dims[MOST_DIMS];
  cst_structured *flat = NULL;
  size_t rank = cst_structured_rank(t);
  (void)sum_of(cst_structured_array(t));
  FUZZ_ASSERT(cst_structured_shape(t, dims, NULL) == CST_OK);
  cst_status status = cst_structured_flat_values(t, &flat, &last_error);
  if (!is_ok(status)) {
    FUZZ_ASSERT(status == CST_UNSUPPORTED || status == CST_LIMIT); /* cannot be copied */
    return;
  }
  FUZZ_ASSERT(cst_structured_rank(flat) == 1);
  FUZZ_ASSERT(cst_structured_is_struct(flat) == cst_structured_is_struct(t));
  check_splits(t, rank, cst_array_length(cst_structured_array(flat)));
  cst_structured_release(flat);
}

/* A tensor that is a row of an array equals one whose rows an array has. */
static uint64_t sum_of_tensor(const cst_structured *t) {
  cst_structured *flat = NULL;
  uint64_t sum = cst_structured_rank(t);
  for (size_t d = 0; d < cst_structured_rank(t); d++) {
    cst_array *splits = NULL;
    FUZZ_ASSERT(cst_structured_row_splits(t, d, &splits, NULL) == CST_OK);
    sum = mix(sum, sum_of(splits));
    cst_array_release(splits);
  }
  if (is_ok(cst_structured_flat_values(t, &flat, &last_error))) {
    sum = mix(sum, sum_of(cst_structured_array(flat)));
    cst_structured_release(flat);
  }
  return sum;
}

/* ---- the arguments of steps ---- */

typedef struct program {
  feed feed;
  const cst_structured *tensor;
  const cst_structured *other;
} program;

/* Also axes that there are not. */
static int take_axis(program *p) {
  int rank = (int)cst_structured_rank(p->tensor);
  return (int)(take(&p->feed) % (2 * (unsigned)rank + 3)) - rank - 1;
}

static void take_path(program *p, const char **steps_of, cst_path *path) {
  path->steps = steps_of;
  path->count = take(&p->feed) % (MOST_PATH + 1);
  for (size_t i = 0; i < path->count; i++) {
    steps_of[i] = names[take(&p->feed) % 5];
  }
}

/* ---- steps ---- */

static cst_status run_field(program *p, cst_structured **out) {
  int64_t before[MOST_DIMS];
  int64_t after[MOST_DIMS];
  const char *steps_of[MOST_PATH];
  cst_path path;
  take_path(p, steps_of, &path);
  cst_status status = cst_structured_field(p->tensor, &path, out, &last_error);
  if (status == CST_OK) {
    size_t rank = cst_structured_rank(p->tensor);
    FUZZ_ASSERT(cst_structured_rank(*out) >= rank);
    FUZZ_ASSERT(cst_structured_shape(p->tensor, before, NULL) == CST_OK);
    FUZZ_ASSERT(cst_structured_shape(*out, after, NULL) == CST_OK);
    for (size_t d = 0; d < rank; d++) {
      FUZZ_ASSERT(before[d] == after[d]);
    }
  }
  return status;
}

static cst_status run_flat(program *p, cst_structured **out) {
  return cst_structured_flat_values(p->tensor, out, &last_error);
}

static cst_status run_concat(program *p, cst_structured **out) {
  const cst_structured *all[3] = {p->tensor, p->tensor, p->other};
  size_t count = 1 + take(&p->feed) % 3;
  return cst_structured_concat(all, count, take_axis(p), out, &last_error);
}

static cst_status run_stack(program *p, cst_structured **out) {
  const cst_structured *all[3] = {p->tensor, p->tensor, p->other};
  size_t count = 1 + take(&p->feed) % 3;
  cst_status status = cst_structured_stack(all, count, take_axis(p), out, &last_error);
  FUZZ_ASSERT(status != CST_OK || cst_structured_rank(*out) == cst_structured_rank(p->tensor) + 1);
  return status;
}

static cst_status run_tile(program *p, cst_structured **out) {
  int64_t multiples[MOST_DIMS];
  size_t rank = cst_structured_rank(p->tensor);
  for (size_t d = 0; d < rank; d++) {
    multiples[d] = 3 - take(&p->feed) % 5;
  }
  return cst_structured_tile(p->tensor, multiples, out, &last_error);
}

/* What is added can be taken away. */
static cst_status run_expand(program *p, cst_structured **out) {
  int axis = take_axis(p);
  cst_structured *back = NULL;
  cst_status status = cst_structured_expand_dims(p->tensor, axis, out, &last_error);
  if (status == CST_OK && is_ok(cst_structured_squeeze(*out, &axis, 1, &back, &last_error))) {
    FUZZ_ASSERT(sum_of_tensor(p->tensor) == sum_of_tensor(back));
  }
  cst_structured_release(back);
  return status;
}

static cst_status run_squeeze(program *p, cst_structured **out) {
  int axis = take_axis(p);
  return cst_structured_squeeze(p->tensor, &axis, take(&p->feed) % 2, out, &last_error);
}

static cst_status run_merge(program *p, cst_structured **out) {
  int outer = take_axis(p);
  return cst_structured_merge_dims(p->tensor, outer, take_axis(p), out, &last_error);
}

static cst_status run_partition(program *p, cst_structured **out) {
  int64_t splits[4];
  size_t count = take(&p->feed) % 4;
  for (size_t i = 0; i < count; i++) {
    splits[i] = (int8_t)take(&p->feed);
  }
  return cst_structured_partition(p->tensor, count > 0 ? splits : NULL, count, take(&p->feed) % 4,
                                  out, &last_error);
}

static cst_status run_like(program *p, cst_structured **out) {
  return cst_structured_like(p->tensor, take(&p->feed) % 2, out, &last_error);
}

static cst_status run_test_null(program *p, cst_structured **out) {
  const char *steps_of[MOST_PATH];
  cst_path path;
  take_path(p, steps_of, &path);
  cst_null_test test = take(&p->feed) % 2 ? CST_HAS : CST_IS_NULL;
  cst_status status = cst_structured_test_null(p->tensor, &path, test, out, &last_error);
  FUZZ_ASSERT(status != CST_OK || !cst_structured_is_struct(*out));
  return status;
}

/* Elements that are there, or those that are not, stay: the others become null. */
static cst_status run_mask(program *p, cst_structured **out) {
  const cst_path path = {NULL, 0};
  cst_structured *condition = NULL;
  cst_null_test test = take(&p->feed) % 2 ? CST_HAS : CST_IS_NULL;
  const cst_structured *of = take(&p->feed) % 4 == 0 ? p->other : p->tensor;
  cst_status status = cst_structured_test_null(of, &path, test, &condition, &last_error);
  if (status == CST_OK) {
    status = cst_structured_mask(p->tensor, condition, out, &last_error);
  }
  FUZZ_ASSERT(status != CST_OK || cst_structured_rank(*out) == cst_structured_rank(p->tensor));
  cst_structured_release(condition);
  return status;
}

static cst_status run_fill(program *p, cst_structured **out) {
  return cst_structured_fill_null(p->tensor, cst_structured_array(p->other), out, &last_error);
}

static cst_status run_fill_lists(program *p, cst_structured **out) {
  return cst_structured_fill_null_lists(p->tensor, out, &last_error);
}

/* Afterwards none of the elements is null. */
static cst_status run_drop(program *p, cst_structured **out) {
  const char *steps_of[MOST_PATH];
  cst_path path;
  take_path(p, steps_of, &path);
  return cst_structured_drop_null(p->tensor, &path, out, &last_error);
}

/* Rows that are chosen: a small part of the language of keys, with any place. */
static cst_status run_index(program *p, cst_structured **out) {
  cst_index_item items[MOST_ITEMS];
  const char *steps_of[MOST_ITEMS][MOST_PATH];
  cst_path paths[MOST_ITEMS];
  size_t count = 1 + take(&p->feed) % MOST_ITEMS;
  for (size_t i = 0; i < count; i++) {
    uint8_t kind = take(&p->feed) % (CST_INDEX_BY_ROW + 1);
    take_path(p, steps_of[i], &paths[i]);
    items[i] = (cst_index_item){.kind = (cst_index_kind)kind, .paths = &paths[i], .num_paths = 1};
    items[i].begin = (int8_t)take(&p->feed) / 16;
    items[i].end = (int8_t)take(&p->feed) / 8;
    items[i].step = (int8_t)take(&p->feed) / 32;
    items[i].step += items[i].step == 0;
    items[i].end = items[i].end == 0 ? CST_INDEX_OPEN : items[i].end;
    items[i].tensor = p->other;
  }
  return cst_structured_index(p->tensor, items, count, out, &last_error);
}

static cst_status run_lengths(program *p, cst_structured **out) {
  return cst_structured_row_lengths(p->tensor, take_axis(p), out, &last_error);
}

/* ---- steps by paths ---- */

static cst_status run_update(program *p, cst_structured **out) {
  const char *steps_of[2][MOST_PATH];
  cst_field_update updates[2];
  size_t count = 1 + take(&p->feed) % 2;
  for (size_t i = 0; i < count; i++) {
    take_path(p, steps_of[i], &updates[i].path);
    uint8_t which = take(&p->feed) % 3;
    updates[i].value = which == 0 ? NULL : which == 1 ? p->tensor : p->other;
  }
  cst_status status = cst_structured_update(p->tensor, updates, count, out, &last_error);
  FUZZ_ASSERT(status != CST_OK || cst_structured_rank(*out) == cst_structured_rank(p->tensor));
  return status;
}

static cst_status run_only(program *p, cst_structured **out) {
  const char *steps_of[2][MOST_PATH];
  cst_path paths[2];
  size_t count = take(&p->feed) % 3;
  for (size_t i = 0; i < count; i++) {
    take_path(p, steps_of[i], &paths[i]);
  }
  cst_status status = cst_structured_only(p->tensor, paths, count, out, &last_error);
  FUZZ_ASSERT(status != CST_OK || cst_structured_rank(*out) == cst_structured_rank(p->tensor));
  return status;
}

/* What a copied field is called is often there already. */
static cst_status run_copy(program *p, cst_structured **out) {
  static cst_status (*const ways[])(const cst_structured *, const cst_field_copy *, size_t,
                                    cst_structured **, cst_error *) = {
      cst_structured_promote, cst_structured_broadcast, cst_structured_promote_and_broadcast};
  const char *from[MOST_PATH];
  const char *to[MOST_PATH];
  cst_field_copy copy = {.name = "new"};
  take_path(p, from, &copy.from);
  take_path(p, to, &copy.to);
  uint8_t flags = take(&p->feed);
  copy.replace = (flags & 1) != 0;
  copy.name = (flags & 2) != 0 ? copy.name : (flags & 4) != 0 ? names[flags % 5] : NULL;
  cst_status status = ways[take(&p->feed) % 3](p->tensor, &copy, 1, out, &last_error);
  FUZZ_ASSERT(status != CST_OK || cst_structured_rank(*out) == cst_structured_rank(p->tensor));
  return status;
}

static cst_status (*const operations[])(program *p, cst_structured **out) = {
    run_field, run_flat,      run_concat, run_stack,     run_tile, run_expand,     run_squeeze,
    run_merge, run_partition, run_like,   run_test_null, run_fill, run_fill_lists, run_drop,
    run_index, run_lengths,   run_update, run_only,      run_copy, run_mask,
};

/* ---- the program ---- */

static cst_structured *read_tensor(feed *f, bool is_row, cst_status *status) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_array *whole = NULL;
  cst_array *row = NULL;
  cst_structured *out = NULL;
  make_node(f, &schema, &array, 0);
  *status = cst_array_import(&schema, &array, 0, NULL, &whole, &last_error);
  if (!is_ok(*status)) {
    return NULL;
  }
  if (is_row && cst_array_length(whole) > 0) {
    FUZZ_ASSERT(cst_array_slice(whole, 0, 1, &row, NULL) == CST_OK);
  }
  if (cst_array_length(whole) < MOST_SLOTS && is_small(whole)) {
    *status = cst_structured_new(row != NULL ? row : whole, row != NULL, &out, &last_error);
    FUZZ_ASSERT(is_ok(*status) == (out != NULL));
  }
  cst_array_release(whole);
  cst_array_release(row);
  return out;
}

static bool tensor_is_small(const cst_structured *t) {
  return cst_array_length(cst_structured_array(t)) < MOST_TENSOR_STEPS &&
         is_small(cst_structured_array(t)) && cst_structured_rank(t) < 16;
}

static cst_structured *run_program(feed *f, cst_structured *tensor, const cst_structured *other) {
  program p = {*f, tensor, other};
  for (int i = 0; i < MOST_OPERATIONS && p.feed.at < p.feed.end; i++) {
    cst_structured *made = NULL;
    size_t which = take(&p.feed) % (sizeof operations / sizeof operations[0]);
    cst_status status = operations[which](&p, &made);
    FUZZ_ASSERT(is_ok(status) == (made != NULL));
    if (made != NULL) {
      check_tensor(made);
    }
    if (made != NULL && tensor_is_small(made)) {
      cst_structured_release(tensor);
      tensor = made;
      p.tensor = made;
    } else {
      cst_structured_release(made);
    }
  }
  return tensor;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  feed f = {data, data + size, false};
  cst_status status;
  cst_status of_second;
  last_error = (cst_error)CST_ERROR_INIT;
  uint8_t seed = take(&f);
  f.is_damaged = seed >= 128;
  cst_structured *tensor = read_tensor(&f, (seed & 1) != 0, &status);
  cst_structured *other = read_tensor(&f, (seed & 2) != 0, &of_second);
  if (tensor != NULL && other != NULL) {
    check_tensor(tensor);
    tensor = run_program(&f, tensor, other);
  }
  cst_structured_release(tensor);
  cst_structured_release(other);
  free_blocks();
  fuzz_outcome(cst_status_name(status));
  return 0;
}
