/* Ragged tensors: nested lists, or, where the partitions name columns of row lengths, one list of
 * values and a list of lengths for each.
 *
 * The splits are, from the outside: one per level of lists, of which the outermost may be lists of
 * the struct that holds the columns; then one per partition that is no dimension of the values.
 */
#include "tensor/encode.h"
#include "tensor/slots.h"

typedef struct ragged {
  cst__encoding *e;
  const cst__encode_leaf *leaf;
  const cst_tensor *tensor;
  const int64_t **splits; /* as int64 */
  size_t num_levels;      /* of lists; the partitions' splits are behind them */
  size_t num_parts;
} ragged;

static int64_t count_of(const ragged *r, size_t level) { return r->tensor->splits[level].size - 1; }

/* The row of the batch that holds list `i` of a level whose splits above are sound. */
static int64_t row_of(const ragged *r, size_t level, int64_t i) {
  for (; level > 0; level--) {
    i = cst__splits_find(r->splits[level - 1], count_of(r, level - 1), i);
  }
  return i;
}

/* ---- the caller's splits ---- */

static cst_status widen(const ragged *r, const cst_ndarray *splits, const int64_t **out) {
  const int32_t *from = splits->data;
  if (splits->dtype == CST_DTYPE_INT64) {
    *out = splits->data;
    return CST_OK;
  }
  size_t size = 0;
  int64_t *to = cst__mul((size_t)splits->size, sizeof *to, &size)
                    ? cst__arena_take(&r->e->scratch, size)
                    : NULL;
  if (to == NULL) {
    return cst__fail_memory(r->e->error, size);
  }
  for (int64_t i = 0; i < splits->size; i++) {
    to[i] = from[i];
  }
  *out = to;
  return CST_OK;
}

static cst_status check_array(const ragged *r, const cst_ndarray *splits) {
  cst_error *error = r->e->error;
  cst_status status = cst__encode_check_array("row splits", splits, error);
  if (status != CST_OK) {
    return cst__encode_blame(error, r->leaf, status);
  }
  if ((splits->dtype != CST_DTYPE_INT64 && splits->dtype != CST_DTYPE_INT32) ||
      splits->num_dims != 1 || splits->size == 0) {
    return cst__encode_fail(error, r->leaf, -1, NULL,
                            "row splits of type %s, %zu dimensions and %lld numbers, expected "
                            "int64 or int32, one dimension, and one number more than lists",
                            cst_dtype_name(splits->dtype), splits->num_dims,
                            (long long)splits->size);
  }
  return CST_OK;
}

/* Splits begin at 0, do not decrease, and end at the number of what they divide. */
static cst_status check_splits(const ragged *r, size_t level) {
  const int64_t *splits = r->splits[level];
  int64_t count = count_of(r, level);
  bool is_last = level + 1 == r->tensor->num_splits;
  int64_t end = is_last ? r->tensor->values.shape[0] : count_of(r, level + 1);
  if (splits[0] != 0) {
    return cst__encode_fail(r->e->error, r->leaf, -1, NULL,
                            "row splits of level %zu begin at %lld, expected 0", level,
                            (long long)splits[0]);
  }
  for (int64_t i = 0; i < count; i++) {
    if (splits[i + 1] < splits[i]) {
      return cst__encode_fail(r->e->error, r->leaf, row_of(r, level, i), NULL,
                              "row splits of level %zu decrease from %lld to %lld", level,
                              (long long)splits[i], (long long)splits[i + 1]);
    }
  }
  if (splits[count] != end) {
    return cst__encode_fail(r->e->error, r->leaf, -1, NULL,
                            "row splits of level %zu end at %lld, but there are %lld %s", level,
                            (long long)splits[count], (long long)end,
                            is_last ? "values" : "lists in the next level");
  }
  return CST_OK;
}

static cst_status read_splits(ragged *r) {
  size_t count = r->tensor->num_splits;
  r->splits = cst__arena_take(&r->e->scratch, count * sizeof *r->splits);
  if (r->splits == NULL) {
    return cst__fail_memory(r->e->error, count);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(check_array(r, &r->tensor->splits[i]));
    CST__TRY(widen(r, &r->tensor->splits[i], &r->splits[i]));
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(check_splits(r, i));
  }
  return CST_OK;
}

/* The values' dimensions are the trailing uniform partitions. */
static cst_status check_values(const ragged *r) {
  const cst_ndarray *values = &r->tensor->values;
  const cst_tensor_spec *spec = r->leaf->spec;
  size_t num_inner = r->leaf->num_inner;
  if (values->num_dims != num_inner + 1) {
    return cst__encode_fail(
        r->e->error, r->leaf, -1, "inner dimensions are the uniform partitions at the end",
        "values of %zu dimensions, expected %zu", values->num_dims, num_inner + 1);
  }
  for (size_t i = 0; i < num_inner; i++) {
    int64_t expected = spec->partitions[r->num_parts + i].uniform_length;
    if (values->shape[i + 1] != expected) {
      return cst__encode_fail(r->e->error, r->leaf, -1, NULL,
                              "dim %zu of the values has the size %lld, expected %lld", i + 1,
                              (long long)values->shape[i + 1], (long long)expected);
    }
  }
  return CST_OK;
}

/* A uniform partition that is no dimension has lists of its length alone. */
static cst_status check_uniform(const ragged *r, size_t part) {
  size_t level = r->num_levels + part;
  const int64_t *splits = r->splits[level];
  int64_t expected = r->leaf->spec->partitions[part].uniform_length;
  for (int64_t i = 0; i < count_of(r, level); i++) {
    if (splits[i + 1] - splits[i] != expected) {
      return cst__encode_fail(r->e->error, r->leaf, row_of(r, level, i), NULL,
                              "a list of %lld in a uniform partition of %lld",
                              (long long)(splits[i + 1] - splits[i]), (long long)expected);
    }
  }
  return CST_OK;
}

/* ---- lists of structs ---- */

static bool are_same(const ragged *r, const int64_t *const *levels, size_t num_levels) {
  int64_t count = r->e->num_rows;
  for (size_t i = 0; i < num_levels; i++) {
    if (count_of(r, i) != count ||
        memcmp(levels[i], r->splits[i], ((size_t)count + 1) * sizeof **levels) != 0) {
      return false;
    }
    count = levels[i][count];
  }
  return true;
}

/* The lists around the structs on the path are those of all tensors in them. */
static cst_status share_levels(const ragged *r) {
  for (const cst__encode_node *n = r->leaf->parent; n != NULL; n = n->parent) {
    const int64_t **levels = r->e->levels[n->number];
    if (levels == NULL) {
      r->e->levels[n->number] = r->splits;
    } else if (!are_same(r, levels, r->e->outer[n->number])) {
      return cst__encode_fail(r->e->error, r->leaf, -1,
                              "give the tensors paths of different structs",
                              "its outer row splits differ from those of another tensor in the "
                              "lists of struct '%s'",
                              n->name);
    }
  }
  return CST_OK;
}

/* ---- columns ---- */

/* Puts lists around the column, from the innermost to those of its struct: `last` are the offsets
 * of the innermost ones, times `scale`. */
static cst_status wrap_levels(const ragged *r, struct ArrowArray *column, const int64_t *last,
                              int64_t scale) {
  size_t outer = r->e->outer[r->leaf->parent->number];
  for (size_t level = r->num_levels; level > outer; level--) {
    bool is_last = level == r->num_levels;
    const int64_t *from = is_last ? last : r->splits[level - 1];
    int64_t count = count_of(r, level - 1);
    int64_t *offsets = NULL;
    CST__TRY(cst__encode_wrap(r->e, count, column, &offsets));
    for (int64_t i = 0; i <= count; i++) {
      offsets[i] = is_last ? from[i] * scale : from[i];
    }
  }
  return CST_OK;
}

/* Makes the column of a partition's row lengths, which are lists by `last`. */
static cst_status put_lengths(const ragged *r, const cst__encode_node *node, size_t part,
                              const int64_t *last) {
  size_t level = r->num_levels + part;
  int64_t count = count_of(r, level);
  struct ArrowArray *column = &r->e->arrays[node->number];
  int64_t *lengths = NULL;
  CST__TRY(cst__encode_flat_integers(r->e, count, column, &lengths));
  for (int64_t i = 0; i < count; i++) {
    lengths[i] = r->splits[level][i + 1] - r->splits[level][i];
  }
  return wrap_levels(r, column, last, 1);
}

/* Makes the columns of the partitions, and moves `*last`, the innermost lists, down to what the
 * last partition divides. */
static cst_status put_parts(const ragged *r, const int64_t **last) {
  const cst__encode_node *node = r->leaf->columns->more;
  int64_t count = count_of(r, r->num_levels - 1);
  for (size_t part = 0; part < r->num_parts; part++) {
    const int64_t *splits = r->splits[r->num_levels + part];
    if (r->leaf->spec->partitions[part].row_length_column == NULL) {
      CST__TRY(check_uniform(r, part));
    } else {
      CST__TRY(put_lengths(r, node, part, *last));
      node = node->more;
    }
    int64_t *below = cst__arena_take(&r->e->scratch, ((size_t)count + 1) * sizeof *below);
    if (below == NULL) {
      return cst__fail_memory(r->e->error, (size_t)count);
    }
    for (int64_t i = 0; i <= count; i++) {
      below[i] = splits[(*last)[i]];
    }
    *last = below;
  }
  return CST_OK;
}

cst_status cst__encode_ragged(cst__encoding *e, const cst__encode_leaf *leaf) {
  ragged r = {.e = e,
              .leaf = leaf,
              .tensor = e->tensors[leaf->number],
              .num_levels = e->types[leaf->number].num_levels,
              .num_parts = cst__encode_num_parts(leaf)};
  struct ArrowArray *column = &e->arrays[leaf->columns->number];
  CST__TRY(check_values(&r));
  CST__TRY(read_splits(&r));
  CST__TRY(cst__encode_rows(e, leaf, count_of(&r, 0), count_of(&r, 0)));
  CST__TRY(share_levels(&r));
  const int64_t *last = r.splits[r.num_levels - 1];
  CST__TRY(put_parts(&r, &last));
  CST__TRY(cst__encode_flat(e, &r.tensor->values, column));
  return wrap_levels(&r, column, last, leaf->row_size);
}
