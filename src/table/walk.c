/* Walks through one array, and what they end with. */
#include "table/walk.h"

#include "arrow/owned.h"

cst_status cst__walk_begin(cst__walk *walk, const cst_array *array, bool with_rows,
                           cst_error *error) {
  *walk = (cst__walk){.root = array, .with_rows = with_rows};
  cst__arena_init(&walk->arena, &array->allocator);
  cst_status status = cst__array_view(array, &walk->view, &walk->arena, error);
  if (status == CST_OK) {
    walk->slots = cst__slots_all(&walk->view);
  } else {
    cst__walk_end(walk);
  }
  return status;
}

void cst__walk_end(cst__walk *walk) { cst__arena_reset(&walk->arena); }

cst_status cst__walk_open(cst__walk *walk, cst_error *error) {
  int64_t rows = walk->view.length;
  if (!walk->with_rows) {
    return cst__slots_open(&walk->slots, &walk->arena, NULL, error);
  }
  if (walk->splits == NULL) {
    walk->splits = cst__numbers_new(&walk->arena, rows + 1, error);
    if (walk->splits == NULL) {
      return CST_NO_MEMORY;
    }
    CST__TRY(cst__numbers_count(walk->splits, rows + 1, error));
  }
  return cst__slots_descend(&walk->slots, walk->splits, rows, &walk->arena, error);
}

/* ---- numbers ---- */

int64_t *cst__new_int64(const cst_allocator *allocator, int64_t length, struct ArrowArray *out,
                        cst_error *error) {
  size_t bytes = SIZE_MAX;
  if (cst__owned_new(allocator, 2, 0, false, out, error) != CST_OK) {
    return NULL;
  }
  int64_t *values =
      cst__mul((size_t)length, sizeof *values, &bytes) ? cst__owned_buffer(out, 1, bytes) : NULL;
  if (values == NULL) {
    cst__fail_memory(error, bytes);
    cst__array_release(out);
    return NULL;
  }
  out->length = length;
  return values;
}

cst_status cst__copy_validity(const cst__view *view, struct ArrowArray *out, cst_error *error) {
  size_t size = cst__bits_size(view->length);
  if (view->validity == NULL || view->null_count == 0) {
    return CST_OK;
  }
  uint8_t *bits = cst__owned_buffer(out, 0, size);
  if (bits == NULL) {
    return cst__fail_memory(error, size);
  }
  memset(bits, 0, size);
  cst__bits_copy(bits, 0, view->validity, view->offset, view->length);
  out->null_count = view->null_count;
  return CST_OK;
}

cst_status cst__int64_result(const cst_allocator *allocator, struct ArrowArray *made,
                             cst_array **out, cst_error *error) {
  struct ArrowSchema schema = cst__array_type_field("l", "", NULL, 0);
  return cst__array_result_as(allocator, &schema, made, out, error);
}

/* ---- ends ---- */

static cst_status walk_make_rows(const cst__walk *walk, cst_array **out, cst_error *error) {
  struct ArrowArray made;
  int64_t *rows = cst__new_int64(&walk->root->allocator, walk->slots.chosen.count, &made, error);
  if (rows == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t row = 0; row < walk->view.length; row++) {
    int64_t begin = walk->splits != NULL ? walk->splits[row] : row;
    int64_t end = walk->splits != NULL ? walk->splits[row + 1] : row + 1;
    for (int64_t i = begin; i < end; i++) {
      rows[i] = row;
    }
  }
  return cst__int64_result(&walk->root->allocator, &made, out, error);
}

/* Nulls of structs on the way may come to a field that says it has none. */
static cst_status make_values(const cst__walk *walk, cst_array **out, cst_error *error) {
  struct ArrowArray made;
  const cst__owner owner = cst__array_owner(walk->root);
  struct ArrowSchema type = *walk->slots.view->schema;
  CST__TRY(cst__slots_array(&walk->slots, &owner, &made, error));
  if (made.null_count != 0 && (type.flags & ARROW_FLAG_NULLABLE) == 0) {
    type.flags |= ARROW_FLAG_NULLABLE;
    return cst__array_result_as(&walk->root->allocator, &type, &made, out, error);
  }
  return cst__array_result(walk->root, walk->slots.view->schema, &made, out, error);
}

cst_status cst__walk_finish(const cst__walk *walk, cst_array **out, cst_array **rows,
                            cst_error *error) {
  cst_array *values;
  CST__TRY(make_values(walk, &values, error));
  cst_status status = rows != NULL ? walk_make_rows(walk, rows, error) : CST_OK;
  if (status != CST_OK) {
    cst_array_release(values);
    return status;
  }
  *out = values;
  return CST_OK;
}

cst_status cst__fail_type(const cst__view *view, const char *wanted, cst_error *error) {
  char type[64];
  cst__view_type_name(view, type, sizeof type);
  return cst__fail(error, CST_SCHEMA, NULL, "the array is of type %s instead of %s", type, wanted);
}
