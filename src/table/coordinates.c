/* Coordinates (COO) of the values of nested lists. */
#include <stdio.h>

#include "arrow/owned.h"
#include "table/lists.h"
#include "table/walk.h"

/* More list levels than a type can have. */
enum { MAX_LEVELS = 128 };

/* The list levels of an array, outermost first. */
typedef struct levels {
  size_t count;
  int64_t lists[MAX_LEVELS];   /* how many there are on each level */
  int64_t *splits[MAX_LEVELS]; /* where the items of each list begin */
  int64_t num_values;
} levels;

static cst_status open_levels(cst__walk *walk, levels *l, cst_error *error) {
  l->count = 0;
  for (; cst__view_is_list(walk->runs.node.view) && l->count < MAX_LEVELS; l->count++) {
    l->lists[l->count] = walk->runs.total;
    CST__TRY(cst__runs_open(&walk->runs, &l->splits[l->count], error));
  }
  l->num_values = walk->runs.total;
  return CST_OK;
}

/* The bounding box: the number of rows, and the longest list of each level. */
static void coordinates_measure(const levels *l, int64_t num_rows, int64_t *shape) {
  shape[0] = num_rows;
  for (size_t level = 0; level < l->count; level++) {
    const int64_t *splits = l->splits[level];
    int64_t longest = 0;
    for (int64_t i = 0; i < l->lists[level]; i++) {
      int64_t length = splits[i + 1] - splits[i];
      longest = length > longest ? length : longest;
    }
    shape[level + 1] = longest;
  }
}

/* Writes one dimension: `position` to the values [begin, end). */
static void coordinates_put(int64_t *coordinates, size_t stride, size_t dim, int64_t begin,
                            int64_t end, int64_t position) {
  for (int64_t i = begin; i < end; i++) {
    coordinates[(size_t)i * stride + dim] = position;
  }
}

/* From the innermost level outwards. `first` has where the values of each item of a level begin,
 * and in the end where those of each of its lists do, which are the items of the level above. */
static void coordinates_fill(const levels *l, int64_t num_rows, int64_t *first,
                             int64_t *coordinates) {
  size_t stride = l->count + 1;
  for (int64_t i = 0; i <= l->num_values; i++) {
    first[i] = i;
  }
  for (size_t level = l->count; level-- > 0;) {
    const int64_t *splits = l->splits[level];
    for (int64_t list = 0; list < l->lists[level]; list++) {
      for (int64_t i = splits[list]; i < splits[list + 1]; i++) {
        coordinates_put(coordinates, stride, level + 1, first[i], first[i + 1], i - splits[list]);
      }
    }
    int64_t *above = l->splits[level]; /* is not read again */
    for (int64_t list = 0; list <= l->lists[level]; list++) {
      above[list] = first[splits[list]];
    }
    first = above;
  }
  for (int64_t row = 0; row < num_rows; row++) {
    coordinates_put(coordinates, stride, 0, first[row], first[row + 1], row);
  }
}

static cst_status make_coordinates(cst__walk *walk, const levels *l, struct ArrowArray *out,
                                   cst_error *error) {
  const cst_allocator *allocator = &walk->root->allocator;
  size_t bytes = SIZE_MAX;
  int64_t num_numbers;
  if (__builtin_mul_overflow(l->num_values, (int64_t)l->count + 1, &num_numbers)) {
    return cst__fail_memory(error, bytes);
  }
  int64_t *first = cst__mul((size_t)l->num_values + 1, sizeof *first, &bytes)
                       ? cst__arena_take(&walk->arena, bytes)
                       : NULL;
  if (first == NULL) {
    return cst__fail_memory(error, bytes);
  }
  int64_t *coordinates = cst__new_int64(allocator, num_numbers, out->children[0], error);
  if (coordinates == NULL) {
    return CST_NO_MEMORY;
  }
  out->length = l->num_values;
  coordinates_fill(l, walk->view.length, first, coordinates);
  return CST_OK;
}

static cst_status coordinates_make_result(const cst_array *array, size_t num_dims,
                                          struct ArrowArray *made, cst_array **out,
                                          cst_error *error) {
  char format[16];
  struct ArrowSchema item = cst__array_type_field("l", "item", NULL, 0);
  const struct ArrowSchema *items[] = {&item};
  (void)snprintf(format, sizeof format, "+w:%d", (int)num_dims);
  struct ArrowSchema schema = cst__array_type_field(format, "", items, 1);
  return cst__array_result_as(&array->allocator, &schema, made, out, error);
}

static cst_status walk_levels(cst__walk *walk, int64_t *shape, size_t max_dims, size_t *num_dims,
                              struct ArrowArray *made, cst_error *error) {
  levels l;
  CST__TRY(open_levels(walk, &l, error));
  if (l.count + 1 > max_dims) {
    return cst__fail(error, CST_LIMIT, NULL, "%zu dimensions, but there is room for %zu",
                     l.count + 1, max_dims);
  }
  coordinates_measure(&l, walk->view.length, shape);
  *num_dims = l.count + 1;
  CST__TRY(cst__owned_new(&walk->root->allocator, 1, 1, false, made, error));
  cst_status status = make_coordinates(walk, &l, made, error);
  if (status != CST_OK) {
    cst__array_release(made);
  }
  return status;
}

cst_status cst__array_coordinates(const cst_array *array, cst_array **out, int64_t *shape,
                                  size_t max_dims, size_t *num_dims, cst_error *error) {
  cst__walk walk;
  struct ArrowArray made;
  size_t dims = 0;
  CST__TRY(cst__walk_begin(&walk, array, false, error));
  cst_status status = walk_levels(&walk, shape, max_dims, &dims, &made, error);
  cst__walk_end(&walk);
  if (status != CST_OK) {
    return status;
  }
  *num_dims = dims;
  return coordinates_make_result(array, dims, &made, out, error);
}
