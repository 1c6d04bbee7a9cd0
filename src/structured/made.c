/* Arrays put together: sharing parts, lists and structs around other parts, and the tensor at the
 * end. */
#include "structured/made.h"

#include <stdio.h>

#include "arrow/owned.h"
#include "table/walk.h"

static cst_status made_fail_memory(const cst__assembly *a, size_t size) {
  return cst__fail_memory(a->error, size);
}

void cst__made_release(cst__made *made) { cst__array_release(&made->array); }

void cst__made_release_all(cst__made *parts, size_t count) {
  for (size_t i = 0; i < count; i++) {
    cst__made_release(&parts[i]);
  }
}

static struct ArrowSchema *made_schema(const cst__assembly *a, const struct ArrowSchema *from) {
  struct ArrowSchema *schema = cst__arena_take(a->arena, sizeof *schema);
  if (schema != NULL) {
    *schema = *from;
  } else {
    made_fail_memory(a, sizeof *schema);
  }
  return schema;
}

/* Nulls of structs on the way may come to a field that says it has none. */
static cst_status made_allow_nulls(const cst__assembly *a, cst__made *made) {
  if (made->array.null_count == 0 || (made->schema->flags & ARROW_FLAG_NULLABLE) != 0) {
    return CST_OK;
  }
  struct ArrowSchema *schema = made_schema(a, made->schema);
  if (schema == NULL) {
    return CST_NO_MEMORY;
  }
  schema->flags |= ARROW_FLAG_NULLABLE;
  made->schema = schema;
  return CST_OK;
}

cst_status cst__made_share(const cst__assembly *a, const cst__slots *slots, cst__made *out) {
  out->schema = slots->view->schema;
  CST__TRY(cst__slots_array(slots, &a->owner, &out->array, a->error));
  cst_status status = made_allow_nulls(a, out);
  if (status != CST_OK) {
    cst__made_release(out);
  }
  return status;
}

cst_status cst__made_array(const cst__assembly *a, const cst_array *array, cst__made *out) {
  out->schema = array->schema;
  return cst_array_export(array, &out->array, a->error);
}

cst_status cst__made_name(const cst__assembly *a, const char *name, cst__made *made) {
  struct ArrowSchema *schema = made_schema(a, made->schema);
  if (schema == NULL) {
    return CST_NO_MEMORY;
  }
  schema->name = name;
  made->schema = schema;
  return CST_OK;
}

/* ---- lists ---- */

/* The lists without items; with a bitmap of their own, if structs above hide some. */
static cst_status made_empty_lists(const cst__assembly *a, const cst__slots *lists,
                                   struct ArrowArray *out) {
  const cst__view *view = lists->view;
  const struct ArrowArray *from = lists->view->array;
  if (lists->mask == NULL) {
    CST__TRY(cst__share_alone(&a->owner, from, 1, out, a->error));
  } else {
    CST__TRY(cst__owned_new(a->owner.allocator, from->n_buffers, 1, false, out, a->error));
    for (int64_t i = 0; i < from->n_buffers; i++) {
      out->buffers[i] = from->buffers[i];
    }
    a->owner.retain(a->owner.object);
    cst__owned_keep(out, a->owner.object, a->owner.release);
  }
  out->length = view->length;
  out->offset = view->offset;
  out->null_count = view->null_count;
  return lists->mask != NULL ? cst__slots_put_validity(lists, out, a->error) : CST_OK;
}

static cst_status made_list_type(const cst__assembly *a, const cst__slots *lists,
                                 const struct ArrowSchema *items, const struct ArrowSchema **out) {
  struct ArrowSchema *schema = made_schema(a, lists->view->schema);
  struct ArrowSchema *item = schema != NULL ? made_schema(a, items) : NULL;
  struct ArrowSchema **child = item != NULL ? cst__arena_take(a->arena, sizeof *child) : NULL;
  if (child == NULL) {
    return made_fail_memory(a, sizeof *schema);
  }
  if (schema->format[1] == 'm') { /* what is not entries of key and value is no map */
    schema->format = "+l";
    schema->flags &= ~(int64_t)ARROW_FLAG_MAP_KEYS_SORTED;
  }
  item->name = lists->view->schema->children[0]->name;
  *child = item;
  schema->children = child;
  *out = schema;
  return CST_OK;
}

/* Gives lists, which are in *out, their items (taken over) and the type; what is made is released
 * on failure. Format NULL: that of the runs' node. */
static cst_status made_fill_lists(const cst__assembly *a, const cst__slots *lists, cst__made *items,
                                  const char *format, cst__made *out) {
  *out->array.children[0] = items->array;
  items->array.release = NULL;
  cst_status status = made_list_type(a, lists, items->schema, &out->schema);
  if (status == CST_OK && format != NULL) {
    ((struct ArrowSchema *)(uintptr_t)out->schema)->format = format; /* the copy in the arena */
  }
  if (status == CST_OK) {
    status = made_allow_nulls(a, out);
  }
  if (status != CST_OK) {
    cst__made_release(out);
  }
  return status;
}

cst_status cst__made_list(const cst__assembly *a, const cst__slots *lists, cst__made *items,
                          cst__made *out) {
  out->array.release = NULL;
  cst_status status = made_empty_lists(a, lists, &out->array);
  if (status != CST_OK) {
    cst__made_release(items);
    cst__made_release(out);
    return status;
  }
  return made_fill_lists(a, lists, items, NULL, out);
}

cst_status cst__made_offsets(const cst__assembly *a, int64_t count, int64_t **offsets,
                             struct ArrowArray *lists) {
  size_t size = SIZE_MAX;
  CST__TRY(cst__owned_new(a->owner.allocator, 2, 1, false, lists, a->error));
  *offsets = cst__mul((size_t)count + 1, sizeof **offsets, &size)
                 ? cst__owned_buffer(lists, 1, size)
                 : NULL;
  if (*offsets == NULL) {
    cst__array_release(lists);
    return made_fail_memory(a, size);
  }
  lists->length = count;
  return CST_OK;
}

/* Large lists with these splits; or, without any, of a fixed size. */
static cst_status made_bare_lists(const cst__assembly *a, int64_t count, const int64_t *splits,
                                  struct ArrowArray *out) {
  int64_t *offsets;
  if (splits == NULL) {
    CST__TRY(cst__owned_new(a->owner.allocator, 1, 1, false, out, a->error));
    out->length = count;
    return CST_OK;
  }
  CST__TRY(cst__made_offsets(a, count, &offsets, out));
  memcpy(offsets, splits, ((size_t)count + 1) * sizeof *splits);
  return CST_OK;
}

cst_status cst__made_new_list(const cst__assembly *a, const cst__slots *lists,
                              const int64_t *splits, cst__made *items, cst__made *out) {
  const cst__view *view = lists->view;
  bool is_fixed = view->layout == CST__LAYOUT_FIXED_LIST &&
                  splits[lists->chosen.count] == view->fixed_size * lists->chosen.count;
  out->array.release = NULL;
  cst_status status =
      made_bare_lists(a, lists->chosen.count, is_fixed ? NULL : splits, &out->array);
  if (status == CST_OK && cst__slots_may_be_null(lists)) {
    status = cst__slots_put_validity(lists, &out->array, a->error);
  }
  if (status != CST_OK) {
    cst__made_release(items);
    cst__made_release(out);
    return status;
  }
  return made_fill_lists(a, lists, items, is_fixed ? NULL : "+L", out);
}

/* The format of lists of fixed size lies in the arena. */
static cst_status made_wrap_type(const cst__assembly *a, int64_t size, cst__made *made) {
  struct ArrowSchema *item = made_schema(a, made->schema);
  struct ArrowSchema *list = item != NULL ? cst__arena_take(a->arena, sizeof *list) : NULL;
  const struct ArrowSchema **child = list != NULL ? cst__arena_take(a->arena, sizeof *child) : NULL;
  char *format = child != NULL ? cst__arena_take(a->arena, 32) : NULL;
  if (format == NULL) {
    return made_fail_memory(a, sizeof *list);
  }
  (void)snprintf(format, 32, size >= 0 ? "+w:%lld" : "+L", (long long)size);
  item->name = "item";
  item->flags |= ARROW_FLAG_NULLABLE;
  *child = item;
  *list = cst__array_type_field(format, "", child, 1);
  made->schema = list;
  return CST_OK;
}

cst_status cst__made_wrap(const cst__assembly *a, struct ArrowArray *lists, int64_t size,
                          cst__made *made) {
  *lists->children[0] = made->array;
  made->array = *lists;
  cst_status status = made_wrap_type(a, size, made);
  if (status != CST_OK) {
    cst__made_release(made);
  }
  return status;
}

cst_status cst__made_around(const cst__assembly *a, const cst__lists *lists, cst__made *made) {
  /* Arrow's sizes have 32 bits; what is larger has no lists, or no memory. */
  bool is_fixed = lists->size >= 0 && lists->size <= INT32_MAX && lists->nulls == NULL;
  struct ArrowArray around;
  cst_status status = made_bare_lists(a, lists->count, is_fixed ? NULL : lists->splits, &around);
  if (status == CST_OK) {
    status = cst__nulls_put(lists->nulls, &around, a->error);
    if (status == CST_OK) {
      return cst__made_wrap(a, &around, is_fixed ? lists->size : -1, made);
    }
    cst__array_release(&around);
  }
  cst__made_release(made);
  return status;
}

cst_status cst__made_lists(const cst__assembly *a, const cst__slots *lists, cst__made_function make,
                           const void *how, cst__made *out) {
  cst__slots items = cst__slots_all(&lists->view->children[0]);
  cst__made made;
  CST__TRY(make(a, &items, how, &made));
  return cst__made_list(a, lists, &made, out);
}

/* ---- structs ---- */

static cst_status made_empty_struct(const cst__assembly *a, const cst__slots *structs, size_t count,
                                    struct ArrowArray *out) {
  const cst__view *view = structs->view;
  CST__TRY(cst__owned_new(a->owner.allocator, 1, (int64_t)count, false, out, a->error));
  out->length = structs->chosen.count;
  if (structs->mask != NULL || (view->null_count > 0 && !cst__slots_are_all(structs))) {
    return cst__slots_put_validity(structs, out, a->error);
  }
  return cst__copy_validity(view, out, a->error);
}

static cst_status made_struct_type(const cst__assembly *a, const cst__slots *structs,
                                   const cst__made *fields, size_t count,
                                   const struct ArrowSchema **out) {
  struct ArrowSchema *schema = made_schema(a, structs->view->schema);
  size_t size = (count + 1) * sizeof(struct ArrowSchema *);
  struct ArrowSchema **children = schema != NULL ? cst__arena_take(a->arena, size) : NULL;
  if (children == NULL) {
    return made_fail_memory(a, size);
  }
  for (size_t i = 0; i < count; i++) {
    children[i] = (struct ArrowSchema *)(uintptr_t)fields[i].schema;
  }
  schema->children = children;
  schema->n_children = (int64_t)count;
  *out = schema;
  return CST_OK;
}

cst_status cst__made_struct(const cst__assembly *a, const cst__slots *structs, cst__made *fields,
                            size_t count, cst__made *out) {
  out->array.release = NULL;
  cst_status status = made_empty_struct(a, structs, count, &out->array);
  for (size_t i = 0; i < count; i++) {
    if (status == CST_OK) {
      *out->array.children[i] = fields[i].array;
      fields[i].array.release = NULL;
    } else {
      cst__made_release(&fields[i]);
    }
  }
  if (status == CST_OK) {
    status = made_struct_type(a, structs, fields, count, &out->schema);
  }
  if (status == CST_OK) {
    status = made_allow_nulls(a, out);
  }
  if (status != CST_OK) {
    cst__made_release(out);
  }
  return status;
}

/* ---- the end ---- */

cst_status cst__made_tensor(const cst__assembly *a, cst__made *made, bool is_row,
                            cst_structured **out) {
  cst_array *array;
  CST__TRY(cst__array_result_as(a->owner.allocator, made->schema, &made->array, &array, a->error));
  return cst__structured_result(array, is_row, out, a->error);
}

cst_status cst__made_of(const cst_structured *tensor, cst__made_function make, const void *how,
                        cst_structured **out, cst_error *error) {
  cst__slots all = cst__slots_all(&tensor->view);
  cst__arena arena;
  cst__made made;
  cst__arena_init(&arena, &tensor->array->allocator);
  const cst__assembly a = {cst__array_owner(tensor->array), &arena, error};
  cst_status status = make(&a, &all, how, &made);
  if (status == CST_OK) {
    status = cst__made_tensor(&a, &made, tensor->is_row, out);
  }
  cst__arena_reset(&arena);
  return status;
}
