/* Values of columns in blocks. What lies in the array as a block has it is handed on in its place;
 * all else is read into one that is used again and again.
 */
#include "sketch/values.h"

#include <math.h>

static const char *const family_names[] = {"nulls", "integers", "integers of type uint64", "floats",
                                           "strings or bytes"};

const char *cst__family_name(cst__family family) { return family_names[family]; }

/* ---- families ---- */

static bool is_time(const char *format) { return format[0] == 't' && format[1] != 'i'; }

cst_status cst__family_of(const cst__view *values, cst__family *out, cst_error *error) {
  switch (values->layout) {
    case CST__LAYOUT_NULL:
      *out = CST__FAMILY_NONE;
      return CST_OK;
    case CST__LAYOUT_BOOL:
      *out = CST__FAMILY_INT;
      return CST_OK;
    case CST__LAYOUT_NUMBER:
      *out = values->dtype == CST_DTYPE_FLOAT32 || values->dtype == CST_DTYPE_FLOAT64
                 ? CST__FAMILY_FLOAT
             : values->dtype == CST_DTYPE_UINT64 ? CST__FAMILY_UINT
                                                 : CST__FAMILY_INT;
      return CST_OK;
    case CST__LAYOUT_HALF:
      *out = CST__FAMILY_FLOAT;
      return CST_OK;
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_FIXED_BINARY:
      *out = CST__FAMILY_BYTES;
      return CST_OK;
    case CST__LAYOUT_OPAQUE:
      *out = CST__FAMILY_INT;
      if (is_time(values->format)) {
        return CST_OK;
      }
      break;
    default:
      break;
  }
  char type[64];
  cst__view_type_name(values, type, sizeof type);
  return cst__fail(error, CST_UNSUPPORTED,
                   values->layout == CST__LAYOUT_STRUCT ? "give one of its fields" : NULL,
                   "cannot count values of type %s: expected numbers, times, strings or bytes",
                   type);
}

/* ---- reading ---- */

typedef struct block {
  int64_t slots[CST__VALUES_MOST]; /* that are read, within the buffers */
  union {
    int64_t ints[CST__VALUES_MOST];
    double floats[CST__VALUES_MOST];
    cst_bytes bytes[CST__VALUES_MOST];
  } items;
  double weights[CST__VALUES_MOST];
} block;

static double half_to_double(uint16_t half) {
  int exponent = (half >> 10) & 31;
  int fraction = half & 1023;
  double size = exponent == 31  ? (fraction != 0 ? (double)NAN : (double)INFINITY)
                : exponent == 0 ? ldexp(fraction, -24)
                                : ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000) != 0 ? -size : size;
}

#define READ(from, into)                          \
  for (size_t k = 0; k < count; k++) {            \
    to[k] = (into)((const from *)v->data)[at[k]]; \
  }                                               \
  break

static void read_ints(const cst__view *v, const int64_t *at, size_t count, int64_t *to) {
  if (v->layout == CST__LAYOUT_BOOL) {
    for (size_t k = 0; k < count; k++) {
      to[k] = cst__view_bool(v, at[k] - v->offset);
    }
    return;
  }
  switch (v->layout != CST__LAYOUT_OPAQUE ? v->dtype
          : v->fixed_size == 4            ? CST_DTYPE_INT32
                                          : CST_DTYPE_INT64) {
    case CST_DTYPE_INT8:
      READ(int8_t, int64_t);
    case CST_DTYPE_UINT8:
      READ(uint8_t, int64_t);
    case CST_DTYPE_INT16:
      READ(int16_t, int64_t);
    case CST_DTYPE_UINT16:
      READ(uint16_t, int64_t);
    case CST_DTYPE_INT32:
      READ(int32_t, int64_t);
    case CST_DTYPE_UINT32:
      READ(uint32_t, int64_t);
    default: /* of uint64, whose family is its own, the bits are the same */
      READ(int64_t, int64_t);
  }
}

static void read_floats(const cst__view *v, const int64_t *at, size_t count, double *to) {
  if (v->layout == CST__LAYOUT_HALF) {
    for (size_t k = 0; k < count; k++) {
      to[k] = half_to_double(((const uint16_t *)v->data)[at[k]]);
    }
    return;
  }
  switch (v->dtype) {
    case CST_DTYPE_FLOAT32:
      READ(float, double);
    default:
      READ(double, double);
  }
}

static void read_bytes(const cst__view *v, const int64_t *at, size_t count, cst_bytes *to) {
  for (size_t k = 0; k < count; k++) {
    to[k] = cst__view_bytes(v, at[k] - v->offset);
  }
}

#define READ_STRINGS(type)                                                           \
  for (size_t k = 0; k < count; k++) {                                               \
    const type *offset = (const type *)v->offsets + begin + (int64_t)k;              \
    size_t size = (size_t)(offset[1] - offset[0]);                                   \
    to[k] = (cst_bytes){size > 0 ? (const uint8_t *)v->data + *offset : NULL, size}; \
  }                                                                                  \
  break

/* Strings with offsets, without nulls, from a slot of the buffers on. */
static void read_strings(const cst__view *v, int64_t begin, size_t count, cst_bytes *to) {
  switch (v->offset_width) {
    case 4:
      READ_STRINGS(int32_t);
    default:
      READ_STRINGS(int64_t);
  }
}

/* Values of 64 bits lie in the array as a block has them. */
static const void *items_in_place(const cst__view *v, cst__family family, int64_t at) {
  bool is_wide = family == CST__FAMILY_FLOAT ? v->dtype == CST_DTYPE_FLOAT64
                 : family == CST__FAMILY_INT ? v->dtype == CST_DTYPE_INT64
                                             : family == CST__FAMILY_UINT;
  return is_wide && v->layout == CST__LAYOUT_NUMBER ? (const char *)v->data + at * 8 : NULL;
}

static const void *read_items(const cst__view *v, cst__family family, block *b, size_t count) {
  if (family == CST__FAMILY_BYTES) {
    read_bytes(v, b->slots, count, b->items.bytes);
    return b->items.bytes;
  }
  if (family == CST__FAMILY_FLOAT) {
    read_floats(v, b->slots, count, b->items.floats);
    return b->items.floats;
  }
  read_ints(v, b->slots, count, b->items.ints);
  return b->items.ints;
}

/* ---- blocks ---- */

/* Where a walk along one run stands. */
typedef struct run_walk {
  int64_t slot, end;     /* of the view */
  const double *weights; /* of the run; NULL: 1 each */
} run_walk;

/* The next block without nulls, read or in place. */
static void next_block(const cst__slots *slots, cst__family family, run_walk *walk, block *b,
                       cst__value_block *out) {
  const cst__view *v = slots->view;
  const bool may_be_null = cst__slots_may_be_null(slots);
  const int64_t left = walk->end - walk->slot;
  *out = (cst__value_block){.family = family};
  if (!may_be_null) {
    out->count = left < CST__VALUES_MOST ? (size_t)left : CST__VALUES_MOST;
    out->items = items_in_place(v, family, v->offset + walk->slot);
    if (v->layout == CST__LAYOUT_BINARY) {
      read_strings(v, v->offset + walk->slot, out->count, b->items.bytes);
      out->items = b->items.bytes;
    }
    for (size_t k = 0; out->items == NULL && k < out->count; k++) {
      b->slots[k] = v->offset + walk->slot + (int64_t)k;
    }
    out->weights = walk->weights;
    walk->weights += walk->weights != NULL ? out->count : 0;
    walk->slot += (int64_t)out->count;
  } else {
    out->weights = walk->weights != NULL ? b->weights : NULL;
    for (; walk->slot < walk->end && out->count < CST__VALUES_MOST; walk->slot++) {
      b->slots[out->count] = v->offset + walk->slot;
      if (walk->weights != NULL) {
        b->weights[out->count] = *walk->weights++;
      }
      out->count += !cst__slots_hide(slots, walk->slot);
    }
  }
  if (out->items == NULL) {
    out->items = read_items(v, family, b, out->count);
  }
}

cst_status cst__values_each(const cst__slots *slots, const double *weights, cst__values_use use,
                            void *ctx, int64_t *num_nulls, cst_error *error) {
  cst__family family;
  block b;
  CST__TRY(cst__family_of(slots->view, &family, error));
  if (family == CST__FAMILY_NONE) {
    *num_nulls += slots->chosen.count;
    return CST_OK;
  }
  int64_t num_values = 0;
  size_t work = 0;
  for (int64_t i = 0; i < cst__chosen_num_runs(&slots->chosen); i++) {
    const cst__range run = cst__chosen_run(&slots->chosen, i);
    run_walk walk = {run.begin, run.begin + run.count, weights};
    while (walk.slot < walk.end) {
      cst__value_block values;
      next_block(slots, family, &walk, &b, &values);
      num_values += (int64_t)values.count;
      if (values.count > 0) {
        CST__TRY(use(ctx, &values, error));
      }
      if (cst__stretch_is_over(&work, CST__VALUES_MOST * 16)) {
        CST__TRY(cst__interrupted(error));
      }
    }
    weights += weights != NULL ? run.count : 0;
  }
  *num_nulls += slots->chosen.count - num_values;
  return CST_OK;
}

/* ---- lists ---- */

cst_status cst__values_open(cst__slots *slots, const double **weights, cst__arena *arena,
                            cst__lists *lists, cst_error *error) {
  CST__TRY(cst__slots_open(slots, arena, lists, error));
  if (*weights == NULL) {
    return CST_OK;
  }
  double *spread = cst__arena_take_items(arena, cst__lists_total(lists), sizeof *spread);
  if (spread == NULL) {
    return cst__fail_memory(error, (size_t)cst__lists_total(lists));
  }
  for (int64_t i = 0; i < lists->count; i++) {
    for (int64_t k = lists->splits[i]; k < lists->splits[i + 1]; k++) {
      spread[k] = (*weights)[i];
    }
  }
  *weights = spread;
  return CST_OK;
}

cst_status cst__values_descend(cst__slots *slots, const double **weights, cst__arena *arena,
                               int64_t *num_nulls, cst_error *error) {
  while (cst__view_is_list(slots->view)) {
    cst__lists lists;
    *num_nulls += slots->chosen.count - cst__slots_count_valid(slots);
    CST__TRY(cst__values_open(slots, weights, arena, &lists, error));
  }
  return CST_OK;
}

/* ---- weights ---- */

static bool read_weight(const cst__view *column, cst__family family, int64_t i, double *out) {
  const int64_t at = column->offset + i;
  if (family == CST__FAMILY_FLOAT) {
    read_floats(column, &at, 1, out);
  } else {
    int64_t number;
    read_ints(column, &at, 1, &number);
    *out = family == CST__FAMILY_UINT ? (double)(uint64_t)number : (double)number;
  }
  return isfinite(*out) && *out >= 0;
}

cst_status cst__weights_of(const cst__slots *slots, cst__arena *arena, const double **out,
                           cst_error *error) {
  const cst__view *column = slots->view;
  cst__family family;
  CST__TRY(cst__family_of(column, &family, error));
  if (family == CST__FAMILY_BYTES || column->layout == CST__LAYOUT_OPAQUE) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "weights are numbers, found %s",
                     family == CST__FAMILY_BYTES ? cst__family_name(family) : "times");
  }
  double *weights = cst__arena_take_items(arena, slots->chosen.count, sizeof *weights);
  if (weights == NULL) {
    return cst__fail_memory(error, (size_t)slots->chosen.count);
  }
  int64_t n = 0;
  for (int64_t i = 0; i < cst__chosen_num_runs(&slots->chosen); i++) {
    const cst__range run = cst__chosen_run(&slots->chosen, i);
    for (int64_t k = run.begin; k < run.begin + run.count; k++, n++) {
      if (family == CST__FAMILY_NONE || cst__view_is_null(column, k) ||
          !read_weight(column, family, k, &weights[n])) {
        return cst__fail(error, CST_INVALID_ARGUMENT,
                         "leave rows out that have no weight, or give them the weight 0",
                         "the weight of row %lld is null, negative or not finite", (long long)n);
      }
    }
  }
  *out = weights;
  return CST_OK;
}

/* ---- two columns together: runs of rows without nulls ---- */

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
  cst_status status = cst__values_each(&walk->y, NULL, take_y, walk, &none, error);
  walk->x = NULL;
  return status;
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
