/* Moments: so far, that there are values. */
#include "sketch/moments.h"

typedef struct moments {
  uint64_t count;
} moments;

static cst_status create(const void *options, const cst_allocator *allocator, void **state,
                         cst_error *error) {
  (void)options;
  *state = cst__new_zero(allocator, sizeof(moments));
  return *state != NULL ? CST_OK : cst__fail_memory(error, sizeof(moments));
}

static cst_status add(void *state, const cst__value_block *values, cst_error *error) {
  (void)error;
  ((moments *)state)->count += values->count;
  return CST_OK;
}

static cst_status merge(void *into, const void *from, cst_error *error) {
  (void)error;
  ((moments *)into)->count += ((const moments *)from)->count;
  return CST_OK;
}

static void archive(void *state, cst__archive *a) {
  cst__archive_u64(a, &((moments *)state)->count);
}

static size_t memory(const void *state) {
  (void)state;
  return sizeof(moments);
}

const cst__sketch_kind cst__moments_kind = {
    .name = "moments",
    .version = 1,
    .summary = "count, mean, deviation and extremes of numbers",
    .families = 1u << CST__FAMILY_INT | 1u << CST__FAMILY_UINT | 1u << CST__FAMILY_FLOAT,
    .create = create,
    .free = cst__delete,
    .add = add,
    .merge = merge,
    .archive = archive,
    .memory = memory,
};
