/* Padding: tensors of rows of differing lengths made dense, the places without a value filled.
 */
#include <math.h>

#include "tensor/tensor.h"

/* ---- plans ---- */

typedef struct pad_planner {
  const cst_pad *pad;
  cst__arena *arena;
  cst_error *error;
} pad_planner;

static cst_status fail_pad(const pad_planner *p, const char *hint, const char *what) {
  cst__fail(p->error, CST_INVALID_ARGUMENT, hint, "%s", what);
  cst__error_add_path(p->error, p->pad->name, strlen(p->pad->name));
  return CST_INVALID_ARGUMENT;
}

/* The plan of that name; "a.b" is the field b of a, unless a tensor itself has this name. */
static cst__plan *find_plan(cst__plan *plans, size_t count, const char *name) {
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
      cst__plan *found = find_plan(plans[i].fields, plans[i].num_fields, name + size + 1);
      if (found != NULL) {
        return found;
      }
    }
  }
  return NULL;
}

static cst_status set_value(const pad_planner *p, cst_dtype dtype, cst__padding *padding) {
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
        return fail_pad(p, NULL, "the padding does not fit float32");
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

/* Dimensions between the rows and the values' own, and their extents: -1 for variable ones. */
static size_t count_dims(const cst__plan *plan) {
  switch (plan->spec->kind) {
    case CST_TENSOR_VARLEN_SPARSE:
      return 1;
    case CST_TENSOR_SPARSE:
      return plan->spec->num_dims;
    default:
      return plan->num_lists + plan->spec->num_partitions - plan->num_inner;
  }
}

static int64_t extent_of(const cst__plan *plan, size_t dim) {
  const cst_tensor_spec *spec = plan->spec;
  if (spec->kind == CST_TENSOR_SPARSE) {
    return spec->dims[dim];
  }
  if (spec->kind == CST_TENSOR_RAGGED && dim >= plan->num_lists) {
    const cst_partition *partition = &spec->partitions[dim - plan->num_lists];
    return partition->row_length_column == NULL ? partition->uniform_length : -1;
  }
  return -1;
}

static cst_status set_lengths(const pad_planner *p, const cst__plan *plan, cst__padding *padding) {
  const cst_pad *pad = p->pad;
  size_t count = count_dims(plan);
  size_t num_variable = 0;
  int64_t *lengths = cst__arena_take(p->arena, (count + 1) * sizeof *lengths);
  if (lengths == NULL) {
    return cst__fail_memory(p->error, (count + 1) * sizeof *lengths);
  }
  for (size_t i = 0; i < count; i++) {
    lengths[i] = extent_of(plan, i);
    if (lengths[i] < 0) {
      if (num_variable < pad->num_lengths) {
        lengths[i] = pad->lengths[num_variable];
      }
      num_variable++;
      if (lengths[i] < -1) {
        return fail_pad(p, "a length is 0 or more, or -1 for the longest row",
                        "a length of the padding is negative");
      }
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
  return CST_OK;
}

cst_status cst__pad_plan(cst__plan *plans, size_t count, const cst_pad *pad, cst__arena *arena,
                         cst_error *error) {
  const pad_planner p = {pad, arena, error};
  if (pad->name == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a pad has no name");
  }
  if (pad->num_lengths > 0 && pad->lengths == NULL) {
    return fail_pad(&p, NULL, "the pad has no lengths");
  }
  cst__plan *plan = find_plan(plans, count, pad->name);
  if (plan == NULL) {
    cst__fail(error, CST_NOT_FOUND, "a field of a structured tensor is named tensor.field",
              "there is no tensor of this name to pad");
    cst__error_add_path(error, pad->name, strlen(pad->name));
    return CST_NOT_FOUND;
  }
  if (plan->spec->kind == CST_TENSOR_DENSE || plan->spec->kind == CST_TENSOR_STRUCTURED) {
    return fail_pad(&p, "name a ragged, varlen or sparse tensor",
                    plan->spec->kind == CST_TENSOR_DENSE
                        ? "the tensor is dense, there is nothing to pad"
                        : "the tensor is structured; its fields are padded one by one");
  }
  if (plan->padding != NULL) {
    return fail_pad(&p, "name each tensor once", "the tensor is padded twice");
  }
  cst__padding *padding = cst__arena_take_zero(arena, sizeof *padding);
  if (padding == NULL) {
    return cst__fail_memory(error, sizeof *padding);
  }
  padding->truncate = pad->truncate;
  CST__TRY(set_value(&p, plan->dtype, padding));
  CST__TRY(set_lengths(&p, plan, padding));
  plan->padding = padding;
  return CST_OK;
}

/* ---- the dense block ---- */

/* The most bytes of a padded tensor: one long row makes all others as long. */
static const int64_t max_padded = INT64_C(1) << 32;

typedef struct block {
  const cst__job *job;
  size_t num_dims; /* padded ones, without the rows */
  int64_t *lengths;
  int64_t *strides; /* elements of one item of each of them */
  int64_t item_size;
  size_t width;
  const char *from;
  char *to;
} block;

/* The padding; strings are copied, because tensors outlive their adapter. */
static cst_status find_value(const cst__job *job, cst__element *out) {
  *out = job->plan->padding->value;
  if (job->out->values.dtype == CST_DTYPE_BYTES && out->bytes.size > 0) {
    char *copy = cst__scratch_take(job->scratch, (int64_t)out->bytes.size, 1);
    CST__TRY(CST__TAKEN(copy, job->error));
    memcpy(copy, out->bytes.data, out->bytes.size);
    out->bytes.data = (const uint8_t *)copy;
  }
  return CST_OK;
}

/* Room for rows of the lengths, filled with the padding. */
static cst_status block_fill(block *b, int64_t rows) {
  const cst__job *job = b->job;
  int64_t total = b->item_size;
  int64_t bytes;
  bool fits = true;
  for (size_t i = b->num_dims; i > 0; i--) {
    b->strides[i - 1] = total;
    fits = fits && !__builtin_mul_overflow(total, b->lengths[i - 1], &total);
  }
  fits = fits && !__builtin_mul_overflow(total, rows, &total) &&
         !__builtin_mul_overflow(total, (int64_t)b->width, &bytes) && bytes <= max_padded;
  if (!fits) {
    cst__fail(job->error, CST_LIMIT, "give smaller lengths, truncate, or use smaller batches",
              "the padded tensor has more than %lld bytes", (long long)max_padded);
    cst__error_add_path(job->error, job->plan->spec->name, strlen(job->plan->spec->name));
    return CST_LIMIT;
  }
  cst__element value;
  CST__TRY(find_value(job, &value));
  b->to = cst__scratch_take(job->scratch, total, b->width);
  CST__TRY(CST__TAKEN(b->to, job->error));
  cst__fill(b->to, &value, b->width, total);
  return CST_OK;
}

static cst_status block_init(block *b, const cst__job *job, size_t num_dims, int64_t item_size) {
  *b = (block){.job = job,
               .num_dims = num_dims,
               .item_size = item_size,
               .width = cst__element_width(job->out->values.dtype),
               .from = cst__elements(&job->out->values)};
  b->lengths = cst__scratch_take(job->scratch, (int64_t)num_dims, sizeof *b->lengths);
  b->strides = cst__scratch_take(job->scratch, (int64_t)num_dims, sizeof *b->strides);
  CST__TRY(CST__TAKEN(b->lengths, job->error));
  CST__TRY(CST__TAKEN(b->strides, job->error));
  memcpy(b->lengths, job->plan->padding->lengths, num_dims * sizeof *b->lengths);
  return CST_OK;
}

/* The tensor becomes [rows] + lengths + the values' own inner dimensions. */
static cst_status block_finish(const block *b, int64_t rows) {
  cst_tensor *t = b->job->out;
  size_t num_inner = t->values.num_dims - 1;
  size_t num_rest = b->num_dims + num_inner;
  int64_t *rest = cst__scratch_take(b->job->scratch, (int64_t)num_rest, sizeof *rest);
  CST__TRY(CST__TAKEN(rest, b->job->error));
  memcpy(rest, b->lengths, b->num_dims * sizeof *rest);
  memcpy(rest + b->num_dims, t->values.shape + 1, num_inner * sizeof *rest);
  t->kind = CST_TENSOR_DENSE;
  t->indices = t->dense_shape = (cst_ndarray){.dtype = CST_DTYPE_NONE};
  cst__set_elements(&t->values, b->to);
  return cst__ndarray_shape(b->job, &t->values, rows, num_rest, rest);
}

/* ---- ragged and varlen ---- */

static int64_t find_longest(const cst__split_level *level) {
  int64_t longest = 0;
  for (int64_t i = 0; i < level->count; i++) {
    int64_t size = level->splits[i + 1] - level->splits[i];
    longest = size > longest ? size : longest;
  }
  return longest;
}

static cst_status fail_long(const block *b, const cst__split_level *levels, size_t k) {
  const cst__split_level *level = &levels[k];
  int64_t list = 0;
  while (level->splits[list + 1] - level->splits[list] <= b->lengths[k]) {
    list++;
  }
  int64_t found = level->splits[list + 1] - level->splits[list];
  for (; k > 0; k--) {
    list = cst__splits_find(levels[k - 1].splits, levels[k - 1].count, list);
  }
  return cst__row_fail(b->job, list, "give a larger length, or truncate",
                       "a list of %lld items, but its padding is for %lld", (long long)found,
                       (long long)b->lengths[level - levels]);
}

static cst_status find_lengths(const block *b, const cst__split_level *levels) {
  for (size_t k = 0; k < b->num_dims; k++) {
    int64_t longest = find_longest(&levels[k]);
    if (b->lengths[k] < 0) {
      b->lengths[k] = longest;
    } else if (longest > b->lengths[k] && !b->job->plan->padding->truncate) {
      return fail_long(b, levels, k);
    }
  }
  return CST_OK;
}

/* Copies the items of one list of level k to where they stand in the block. */
static void copy_list(const block *b, const cst__split_level *levels, size_t k, int64_t list,
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
    copy_list(b, levels, k + 1, begin + i, to + (size_t)(i * b->strides[k]) * b->width);
  }
}

cst_status cst__pad_levels(const cst__job *job, const cst__split_level *levels, size_t num_levels,
                           int64_t item_size) {
  block b;
  int64_t rows = levels[0].count;
  CST__TRY(block_init(&b, job, num_levels, item_size));
  CST__TRY(find_lengths(&b, levels));
  CST__TRY(block_fill(&b, rows));
  size_t row_bytes = (size_t)(b.lengths[0] * b.strides[0]) * b.width;
  for (int64_t row = 0; row < rows; row++) {
    copy_list(&b, levels, 0, row, b.to + (size_t)row * row_bytes);
  }
  return block_finish(&b, rows);
}

/* ---- sparse ---- */

static void find_extents(const block *b, const int64_t *indices, int64_t count) {
  size_t rank = b->num_dims + 1;
  for (size_t k = 0; k < b->num_dims; k++) {
    int64_t last = -1;
    for (int64_t i = 0; b->lengths[k] < 0 && i < count; i++) {
      int64_t index = indices[(size_t)i * rank + k + 1];
      last = index > last ? index : last;
    }
    if (b->lengths[k] < 0) {
      b->lengths[k] = last == INT64_MAX ? last : last + 1;
    }
  }
}

/* Where the place lies in the block; -1 if it is cut off. */
static cst_status find_place(const block *b, const int64_t *place, int64_t *at) {
  *at = place[0] * b->lengths[0] * b->strides[0];
  for (size_t k = 0; k < b->num_dims; k++) {
    if (place[k + 1] < b->lengths[k]) {
      *at += place[k + 1] * b->strides[k];
    } else if (b->job->plan->padding->truncate) {
      *at = -1;
      return CST_OK;
    } else {
      return cst__row_fail(b->job, place[0], "give a larger length, or truncate",
                           "index %lld in column '%s', but its padding is for %lld",
                           (long long)place[k + 1], b->job->plan->spec->index_columns[k],
                           (long long)b->lengths[k]);
    }
  }
  return CST_OK;
}

cst_status cst__pad_sparse(const cst__job *job, int64_t rows) {
  const int64_t *indices = job->out->indices.data;
  int64_t count = job->out->values.size;
  size_t rank = job->plan->spec->num_dims + 1;
  block b;
  CST__TRY(block_init(&b, job, rank - 1, 1));
  find_extents(&b, indices, count);
  CST__TRY(block_fill(&b, rows));
  for (int64_t i = 0; i < count; i++) {
    const int64_t *place = indices + (size_t)i * rank;
    int64_t at;
    if (i > 0 && memcmp(place - rank, place, rank * sizeof *place) == 0) {
      return cst__row_fail(job, place[0], NULL, "two values for one place of the tensor");
    }
    CST__TRY(find_place(&b, place, &at));
    if (at >= 0) {
      memcpy(b.to + (size_t)at * b.width, b.from + (size_t)i * b.width, b.width);
    }
  }
  return block_finish(&b, rows);
}
