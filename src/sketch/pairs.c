/* Two columns together: runs of rows without nulls, each read from one field and then the other.
 */
#include "sketch/pairs.h"

#include "base/interrupt.h"

cst_status cst__pairs_families(const cst__view *column, cst__family out[2], cst_error *error) {
  if (column->layout != CST__LAYOUT_STRUCT || column->num_children != 2) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "give a struct of two columns",
                     "pairs of values are a struct of two fields, found another type");
  }
  CST__TRY(cst__family_of(&column->children[0], &out[0], error));
  return cst__family_of(&column->children[1], &out[1], error);
}

typedef struct pair_walk {
  cst__pairs_use use;
  void *ctx;
  cst__slots y; /* the run */
  const cst__value_block *x;
} pair_walk;

static cst_status take_y(void *ctx, const cst__value_block *values, cst_error *error) {
  const pair_walk *walk = ctx;
  return walk->use(walk->ctx, walk->x, values, error);
}

static cst_status take_x(void *ctx, const cst__value_block *values, cst_error *error) {
  pair_walk *walk = ctx;
  int64_t none = 0;
  walk->x = values;
  return cst__values_each(&walk->y, NULL, take_y, walk, &none, error);
}

/* `count` slots, of which none is null, from slot k of a run on. */
static cst__slots part_of(const cst__slots *slots, int64_t k, int64_t count) {
  cst__slots part = *slots;
  part.chosen = (cst__chosen){.count = count, .begin = slots->chosen.begin + k};
  return part;
}

cst_status cst__pairs_each(const cst__view *column, const double *weights, cst__pairs_use use,
                           void *ctx, int64_t *num_nulls, cst_error *error) {
  cst__slots x = cst__slots_all(column);
  cst__slots y = x;
  cst__arena arena; /* for slots that are no run: none here */
  pair_walk walk = {use, ctx, x, NULL};
  size_t work = 0;
  cst_status status = CST_OK;
  const int64_t count = column->length;
  cst__arena_init(&arena, NULL);
  status = cst__slots_enter(&x, 0, &arena, error);
  status = status == CST_OK ? cst__slots_enter(&y, 1, &arena, error) : status;
  for (int64_t k = 0; k < count && status == CST_OK;) {
    int64_t end = k;
    while (end < count && end - k < CST__VALUES_MOST && !cst__slot_is_null(&x, end) &&
           !cst__slot_is_null(&y, end)) {
      end++;
    }
    if (end == k) {
      ++*num_nulls;
      k++;
      continue;
    }
    int64_t none = 0;
    const cst__slots part = part_of(&x, k, end - k);
    walk.y = part_of(&y, k, end - k);
    status =
        cst__values_each(&part, weights != NULL ? weights + k : NULL, take_x, &walk, &none, error);
    if (status == CST_OK && cst__stretch_is_over(&work, (size_t)(end - k))) {
      status = cst__interrupted(error);
    }
    k = end;
  }
  cst__arena_reset(&arena);
  return status;
}
