/* Coordinates (COO) of the values of nested lists. */
#include <columnstone/array.h>
#include <stdio.h>

#include "arrow/owned.h"
#include "base/arguments.h"
#include "table/array.h"
#include "table/walk.h"

/* The list levels of an array, outermost first. */
typedef struct levels {
  size_t count;
  cst__lists lists[CST__MAX_LEVELS];
  int64_t num_values;
} levels;

/* Writes one dimension: `position` to the values [begin, end). */
static void coordinates_put(int64_t *coordinates, size_t stride, size_t dim, int64_t begin,
                            int64_t end, int64_t position) {
  for (int64_t i = begin; i < end; i++) {
    coordinates[(size_t)i * stride + dim] = position;
  }
}

/* From the innermost level outwards. `values` has those of each item of a level, and in the end
 * those of each of its lists, which are the items of the level above. */
static cst_status make_coordinates(cst__walk *walk, const levels *l, struct ArrowArray *out,
                                   cst_error *error) {
  size_t stride = l->count + 1;
  int64_t num_numbers;
  cst__lists values;
  if (__builtin_mul_overflow(l->num_values, (int64_t)stride, &num_numbers)) {
    return cst__fail_memory(error, SIZE_MAX);
  }
  CST__TRY(cst__lists_fixed(l->num_values, 1, &walk->arena, &values, error));
  int64_t *coordinates =
      cst__new_int64(&walk->root->allocator, num_numbers, out->children[0], error);
  if (coordinates == NULL) {
    return CST_NO_MEMORY;
  }
  out->length = l->num_values;
  for (size_t level = l->count; level-- > 0;) {
    const cst__lists *lists = &l->lists[level];
    for (int64_t list = 0; list < lists->count; list++) {
      int64_t begin = lists->splits[list];
      for (int64_t i = begin; i < lists->splits[list + 1]; i++) {
        coordinates_put(coordinates, stride, level + 1, values.splits[i], values.splits[i + 1],
                        i - begin);
      }
    }
    CST__TRY(cst__lists_join(lists, &values, &walk->arena, &values, error));
  }
  for (int64_t row = 0; row < walk->view.length; row++) {
    coordinates_put(coordinates, stride, 0, values.splits[row], values.splits[row + 1], row);
  }
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
  for (l.count = 0; cst__view_is_list(walk->slots.view) && l.count < CST__MAX_LEVELS; l.count++) {
    CST__TRY(cst__slots_open(&walk->slots, &walk->arena, &l.lists[l.count], error));
  }
  l.num_values = walk->slots.chosen.count;
  if (l.count + 1 > max_dims) {
    return cst__fail(error, CST_LIMIT, NULL, "%zu dimensions, but there is room for %zu",
                     l.count + 1, max_dims);
  }
  shape[0] = walk->view.length; /* the bounding box */
  for (size_t level = 0; level < l.count; level++) {
    shape[level + 1] = cst__lists_longest(&l.lists[level]);
  }
  *num_dims = l.count + 1;
  CST__TRY(cst__owned_new(&walk->root->allocator, 1, 1, false, made, error));
  cst_status status = make_coordinates(walk, &l, made, error);
  if (status != CST_OK) {
    cst__array_release(made);
  }
  return status;
}

cst_status cst_array_coordinates(const cst_array *array, cst_array **out, int64_t *shape,
                                 size_t max_dims, size_t *num_dims, cst_error *error) {
  CST__CLEAR(out);
  CST__CLEAR(num_dims);
  CST__TRY(cst__check_given(array, "array", out, error));
  if (shape == NULL || num_dims == NULL) {
    return cst__missing(shape == NULL ? "shape" : "num_dims", error);
  }
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
