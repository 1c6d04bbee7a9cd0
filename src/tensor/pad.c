/* Padding: tensors of rows of differing lengths made dense, the places without a value filled.
 */
#include <math.h>

#include "tensor/kind.h"

/* ---- plans ---- */

typedef struct pad_planner {
  const cst_pad *pad;
  cst__arena *arena;
  cst_error *error;
} pad_planner;

static cst_status pad_fail(const pad_planner *p, const char *hint, const char *what) {
  cst__fail(p->error, CST_INVALID_ARGUMENT, hint, "%s", what);
  cst__error_add_path(p->error, p->pad->name, strlen(p->pad->name));
  return CST_INVALID_ARGUMENT;
}

/* The plan of that name; "a.b" is the field b of a, unless a tensor itself has this name. */
static cst__adapter_plan *pad_find_plan(cst__adapter_plan *plans, size_t count, const char *name) {
  size_t low = 0; /* specs are sorted by name */
  size_t high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcmp(plans[middle].spec->name, name) < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low < count && strcmp(plans[low].spec->name, name) == 0) {
    return &plans[low];
  }
  for (size_t i = 0; i < count; i++) {
    size_t size = strlen(plans[i].spec->name);
    if (plans[i].num_fields > 0 && strncmp(plans[i].spec->name, name, size) == 0 &&
        name[size] == '.') {
      cst__adapter_plan *found =
          pad_find_plan(plans[i].fields, plans[i].num_fields, name + size + 1);
      if (found != NULL) {
        return found;
      }
    }
  }
  return NULL;
}

static cst_status pad_set_value(const pad_planner *p, cst_dtype dtype, cst__padding *padding) {
  const cst_pad *pad = p->pad;
  cst_bytes bytes = {cst__no_values, 0};
  switch (dtype) {
    case CST_DTYPE_BYTES:
      if (pad->bytes_value.size > 0) {
        char *copy = cst__arena_copy(p->arena, pad->bytes_value.data, pad->bytes_value.size);
        bytes = (cst_bytes){(const uint8_t *)copy, pad->bytes_value.size};
        if (copy == NULL) {
          return cst__fail_memory(p->error, bytes.size);
        }
      }
      break;
    case CST_DTYPE_FLOAT32:
      if (isfinite(pad->float_value) && !isfinite((float)pad->float_value)) {
        return pad_fail(p, NULL, "the padding does not fit float32");
      }
      break;
    case CST_DTYPE_FLOAT64:
      break;
    default:
      if (!cst__dtype_holds(dtype, pad->int_value)) {
        cst__fail(p->error, CST_INVALID_ARGUMENT, NULL, "the padding %lld does not fit %s",
                  (long long)pad->int_value, cst_dtype_name(dtype));
        cst__error_add_path(p->error, pad->name, strlen(pad->name));
        return CST_INVALID_ARGUMENT;
      }
  }
  padding->value = cst__element_of(dtype, pad->int_value, pad->float_value, bytes);
  return CST_OK;
}

/* A copy of the sizes of a dimension. */
static cst_status pad_set_sizes(const pad_planner *p, const cst_pad_sizes *given,
                                cst_pad_sizes *out) {
  size_t bytes;
  int64_t *items = NULL;
  if (given->count > 0 && given->items == NULL) {
    return pad_fail(p, NULL, "the pad has no sizes");
  }
  for (size_t i = 0; i < given->count; i++) {
    if (given->items[i] <= (i > 0 ? given->items[i - 1] : 0)) {
      return pad_fail(p, "give them from the smallest to the largest, without a 0",
                      "the sizes of the padding do not ascend");
    }
  }
  if (!__builtin_mul_overflow(given->count, sizeof *items, &bytes)) {
    items = cst__arena_take(p->arena, bytes);
  }
  if (items == NULL) {
    return cst__fail_memory(p->error, bytes);
  }
  memcpy(items, given->items, bytes);
  *out = (cst_pad_sizes){given->count, items};
  return CST_OK;
}

/* What the pad says of one dimension that is not fixed. */
static cst_status pad_set_length(const pad_planner *p, size_t dim, int64_t *length,
                                 cst_pad_sizes *sizes) {
  const cst_pad *pad = p->pad;
  if (dim >= pad->num_lengths) {
    return CST_OK;
  }
  if (pad->sizes != NULL && pad->sizes[dim].count > 0) {
    return pad_set_sizes(p, &pad->sizes[dim], sizes);
  }
  *length = pad->lengths[dim];
  return *length >= -1 ? CST_OK
                       : pad_fail(p, "a length is 0 or more, or -1 for the longest row",
                                  "a length of the padding is negative");
}

static cst_status pad_set_lengths(const pad_planner *p, const cst__adapter_plan *plan,
                                  cst__padding *padding) {
  const cst_pad *pad = p->pad;
  size_t count = plan->kind->count_padded(plan);
  size_t num_variable = 0;
  int64_t *lengths = cst__arena_take(p->arena, (count + 1) * sizeof *lengths);
  cst_pad_sizes *sizes = cst__arena_take_zero(p->arena, (count + 1) * sizeof *sizes);
  if (lengths == NULL || sizes == NULL) {
    return cst__fail_memory(p->error, (count + 1) * sizeof *sizes);
  }
  for (size_t i = 0; i < count; i++) {
    lengths[i] = plan->kind->extent(plan, i);
    if (lengths[i] < 0) {
      CST__TRY(pad_set_length(p, num_variable++, &lengths[i], &sizes[i]));
    }
  }
  if (pad->num_lengths != 0 && pad->num_lengths != num_variable) {
    cst__fail(p->error, CST_INVALID_ARGUMENT,
              "give one length for each dimension that is not fixed, outermost first",
              "%zu lengths for the padding, but %zu dimensions that are not fixed",
              pad->num_lengths, num_variable);
    cst__error_add_path(p->error, pad->name, strlen(pad->name));
    return CST_INVALID_ARGUMENT;
  }
  padding->lengths = lengths;
  padding->sizes = sizes;
  return CST_OK;
}

cst_status cst__pad_plan(cst__adapter_plan *plans, size_t count, const cst_pad *pad,
                         cst__arena *arena, cst_error *error) {
  const pad_planner p = {pad, arena, error};
  if (pad->name == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a pad has no name");
  }
  if (pad->num_lengths > 0 && pad->lengths == NULL) {
    return pad_fail(&p, NULL, "the pad has no lengths");
  }
  cst__adapter_plan *plan = pad_find_plan(plans, count, pad->name);
  if (plan == NULL) {
    cst__fail(error, CST_NOT_FOUND, "a field of a structured tensor is named tensor.field",
              "there is no tensor of this name to pad");
    cst__error_add_path(error, pad->name, strlen(pad->name));
    return CST_NOT_FOUND;
  }
  if (plan->kind->count_padded == NULL) {
    return pad_fail(&p, "name a ragged, varlen or sparse tensor", plan->kind->no_padding);
  }
  if (plan->padding != NULL) {
    return pad_fail(&p, "name each tensor once", "the tensor is padded twice");
  }
  cst__padding *padding = cst__arena_take_zero(arena, sizeof *padding);
  if (padding == NULL) {
    return cst__fail_memory(error, sizeof *padding);
  }
  padding->truncate = pad->truncate;
  CST__TRY(pad_set_value(&p, plan->dtype, padding));
  CST__TRY(pad_set_lengths(&p, plan, padding));
  plan->padding = padding;
  return CST_OK;
}

/* ---- the dense block ---- */

/* The most bytes of a padded tensor: one long row makes all others as long. */
static const int64_t max_padded = INT64_C(1) << 32;

typedef struct pad_block {
  const cst__making *m;
  size_t num_dims; /* padded ones, without the rows */
  int64_t *lengths;
  int64_t *strides; /* elements of one item of each of them */
  int64_t item_size;
  int64_t row_size; /* elements of a row */
  size_t width;
  const char *from;
  char *to;
} pad_block;

/* Room for rows of the lengths, filled with the padding. */
static cst_status pad_block_fill(pad_block *b, int64_t rows) {
  const cst__making *m = b->m;
  int64_t total = b->item_size;
  int64_t bytes;
  bool fits = true;
  for (size_t i = b->num_dims; i > 0; i--) {
    b->strides[i - 1] = total;
    fits = fits && !__builtin_mul_overflow(total, b->lengths[i - 1], &total);
  }
  b->row_size = total;
  fits = fits && !__builtin_mul_overflow(total, rows, &total) &&
         !__builtin_mul_overflow(total, (int64_t)b->width, &bytes) && bytes <= max_padded;
  if (!fits) {
    cst__fail(m->error, CST_LIMIT, "give smaller lengths, truncate, or use smaller batches",
              "the padded tensor has more than %lld bytes", (long long)max_padded);
    cst__error_add_path(m->error, m->plan->spec->name, strlen(m->plan->spec->name));
    return CST_LIMIT;
  }
  cst__element value = m->plan->padding->value;
  if (m->out->values.dtype == CST_DTYPE_BYTES && value.bytes.size > 0) {
    /* Copied, because tensors outlive their adapter. */
    char *copy = cst__arena_take_items(m->scratch, (int64_t)value.bytes.size, 1);
    CST__TRY(CST__TAKEN(copy, m->error));
    memcpy(copy, value.bytes.data, value.bytes.size);
    value.bytes.data = (const uint8_t *)copy;
  }
  b->to = cst__arena_take_items(m->scratch, total, b->width);
  CST__TRY(CST__TAKEN(b->to, m->error));
  cst__fill(b->to, &value, b->width, total);
  return CST_OK;
}

static cst_status pad_block_init(pad_block *b, const cst__making *m, size_t num_dims,
                                 int64_t item_size) {
  *b = (pad_block){.m = m,
                   .num_dims = num_dims,
                   .item_size = item_size,
                   .width = cst__element_width(m->out->values.dtype),
                   .from = cst__elements(&m->out->values)};
  b->lengths = cst__arena_take_items(m->scratch, (int64_t)num_dims, sizeof *b->lengths);
  b->strides = cst__arena_take_items(m->scratch, (int64_t)num_dims, sizeof *b->strides);
  CST__TRY(CST__TAKEN(b->lengths, m->error));
  CST__TRY(CST__TAKEN(b->strides, m->error));
  memcpy(b->lengths, m->plan->padding->lengths, num_dims * sizeof *b->lengths);
  return CST_OK;
}

/* The tensor becomes [rows] + lengths + the values' own inner dimensions. */
static cst_status pad_block_finish(const pad_block *b, int64_t rows) {
  cst_tensor *t = b->m->out;
  size_t num_inner = t->values.num_dims - 1;
  size_t num_rest = b->num_dims + num_inner;
  int64_t *rest = cst__arena_take_items(b->m->scratch, (int64_t)num_rest, sizeof *rest);
  CST__TRY(CST__TAKEN(rest, b->m->error));
  memcpy(rest, b->lengths, b->num_dims * sizeof *rest);
  memcpy(rest + b->num_dims, t->values.shape + 1, num_inner * sizeof *rest);
  t->kind = CST_TENSOR_DENSE;
  t->indices = t->dense_shape = (cst_ndarray){.dtype = CST_DTYPE_NONE};
  cst__set_elements(&t->values, b->to);
  return cst__ndarray_shape(b->m, &t->values, rows, num_rest, rest);
}

/* The length of a dimension whose longest list is that long: it may be longer than the length,
 * which is -1 or that of a pad. */
static void pad_choose(const pad_block *b, size_t k, int64_t longest) {
  const cst_pad_sizes *sizes = &b->m->plan->padding->sizes[k];
  if (b->lengths[k] < 0 && sizes->count == 0) {
    b->lengths[k] = longest;
  }
  for (size_t i = 0; i < sizes->count; i++) {
    b->lengths[k] = sizes->items[i];
    if (sizes->items[i] >= longest) {
      break;
    }
  }
}

/* ---- ragged and varlen ---- */

static cst_status pad_fail_long(const pad_block *b, const cst__lists *levels, size_t k) {
  const cst__lists *level = &levels[k];
  int64_t list = 0;
  while (level->splits[list + 1] - level->splits[list] <= b->lengths[k]) {
    list++;
  }
  int64_t found = level->splits[list + 1] - level->splits[list];
  return cst__row_fail(b->m, cst__levels_find(levels, k, list), "give a larger length, or truncate",
                       "a list of %lld items, but its padding is for %lld", (long long)found,
                       (long long)b->lengths[k]);
}

static cst_status pad_find_lengths(const pad_block *b, const cst__lists *levels) {
  for (size_t k = 0; k < b->num_dims; k++) {
    int64_t longest = cst__lists_longest(&levels[k]);
    pad_choose(b, k, longest);
    if (longest > b->lengths[k] && !b->m->plan->padding->truncate) {
      return pad_fail_long(b, levels, k);
    }
  }
  return CST_OK;
}

/* Copies the items of one list of level k to where they stand in the block. */
static void pad_copy_list(const pad_block *b, const cst__lists *levels, size_t k, int64_t list,
                          char *to) {
  int64_t begin = levels[k].splits[list];
  int64_t count = levels[k].splits[list + 1] - begin;
  count = count < b->lengths[k] ? count : b->lengths[k];
  if (k + 1 == b->num_dims) {
    size_t item = (size_t)b->item_size * b->width;
    memcpy(to, b->from + (size_t)begin * item, (size_t)count * item);
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    pad_copy_list(b, levels, k + 1, begin + i, to + (size_t)(i * b->strides[k]) * b->width);
  }
}

cst_status cst__pad_levels(const cst__making *m, const cst__lists *levels, size_t num_levels,
                           int64_t item_size) {
  pad_block b;
  int64_t rows = levels[0].count;
  CST__TRY(pad_block_init(&b, m, num_levels, item_size));
  CST__TRY(pad_find_lengths(&b, levels));
  CST__TRY(pad_block_fill(&b, rows));
  size_t row_bytes = (size_t)b.row_size * b.width;
  for (int64_t row = 0; row < rows; row++) {
    pad_copy_list(&b, levels, 0, row, b.to + (size_t)row * row_bytes);
  }
  return pad_block_finish(&b, rows);
}

/* ---- sparse ---- */

static void pad_find_extents(const pad_block *b, const int64_t *indices, int64_t count) {
  size_t rank = b->num_dims + 1;
  for (size_t k = 0; k < b->num_dims; k++) {
    int64_t last = -1;
    for (int64_t i = 0; b->lengths[k] < 0 && i < count; i++) {
      int64_t index = indices[(size_t)i * rank + k + 1];
      last = index > last ? index : last;
    }
    pad_choose(b, k, last == INT64_MAX ? last : last + 1);
  }
}

/* Where the place lies in the block; -1 if it is cut off. */
static cst_status pad_find_place(const pad_block *b, const int64_t *place, int64_t *at) {
  *at = place[0] * b->row_size;
  for (size_t k = 0; k < b->num_dims; k++) {
    if (place[k + 1] < b->lengths[k]) {
      *at += place[k + 1] * b->strides[k];
    } else if (b->m->plan->padding->truncate) {
      *at = -1;
      return CST_OK;
    } else {
      return cst__row_fail(b->m, place[0], "give a larger length, or truncate",
                           "index %lld in column '%s', but its padding is for %lld",
                           (long long)place[k + 1], b->m->plan->spec->index_columns[k],
                           (long long)b->lengths[k]);
    }
  }
  return CST_OK;
}

cst_status cst__pad_sparse(const cst__making *m, int64_t rows) {
  const int64_t *indices = m->out->indices.data;
  int64_t count = m->out->values.size;
  size_t rank = m->plan->spec->num_dims + 1;
  pad_block b;
  CST__TRY(pad_block_init(&b, m, rank - 1, 1));
  pad_find_extents(&b, indices, count);
  CST__TRY(pad_block_fill(&b, rows));
  for (int64_t i = 0; i < count; i++) {
    const int64_t *place = indices + (size_t)i * rank;
    int64_t at;
    if (i > 0 && memcmp(place - rank, place, rank * sizeof *place) == 0) {
      return cst__row_fail(m, place[0], NULL, "two values for one place of the tensor");
    }
    CST__TRY(pad_find_place(&b, place, &at));
    if (at >= 0) {
      memcpy(b.to + (size_t)at * b.width, b.from + (size_t)i * b.width, b.width);
    }
  }
  return pad_block_finish(&b, rows);
}
