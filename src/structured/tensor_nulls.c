/* Nulls: looking for them, filling them, dropping what is null. */

#include <columnstone/structured.h>
#include <string.h>

#include "arrow/owned.h"
#include "base/arguments.h"
#include "base/interrupt.h"
#include "structured/levels.h"
#include "structured/made.h"
#include "table/array.h"

/* ---- testing ---- */

typedef struct null_test {
  cst_null_test test;
  cst_path path; /* from where it is asked on */
} null_test;

/* Clears the bits of empty lists. */
static cst_status null_test_drop_empty(const cst__view *lists, uint8_t *bits, cst_error *error) {
  size_t work = 0;
  for (int64_t i = 0; i < lists->length; i++) {
    int64_t begin;
    int64_t end;
    cst__view_list(lists, i, &begin, &end);
    bits[i >> 3] &= (uint8_t) ~((unsigned)(end <= begin) << (i & 7));
    if (cst__stretch_is_over(&work, 4)) {
      CST__TRY(cst__interrupted(error));
    }
  }
  return CST_OK;
}

/* A bit per slot: those of the struct's field, or of the elements themselves. */
static cst_status null_test_bits(const null_test *t, const cst__slots *field, uint8_t *bits,
                                 cst_error *error) {
  int64_t length = field->view->length;
  memset(bits, 0, cst__bits_size(length));
  cst__slots_valid_bits(field, bits, 0);
  if (t->test == CST_IS_NULL) {
    for (size_t i = 0; i < cst__bits_size(length); i++) {
      bits[i] = (uint8_t)~bits[i];
    }
    if ((length & 7) != 0) {
      bits[length >> 3] &= (uint8_t)((1U << (length & 7)) - 1);
    }
    return CST_OK;
  }
  return cst__view_is_list(field->view) ? null_test_drop_empty(field->view, bits, error) : CST_OK;
}

static cst_status null_test_slots(const cst__assembly *a, const cst__slots *field,
                                  const null_test *t, cst__made *out) {
  struct ArrowSchema *bools = cst__arena_take(a->arena, sizeof *bools);
  if (bools == NULL) {
    return cst__fail_memory(a->error, sizeof *bools);
  }
  *bools = cst__array_type_field("b", "item", NULL, 0);
  int64_t length = field->view->length;
  size_t size = cst__bits_size(length);
  CST__TRY(cst__owned_new(a->owner.allocator, 2, 0, false, &out->array, a->error));
  uint8_t *bits = cst__owned_buffer(&out->array, 1, size);
  if (bits == NULL) {
    cst__made_release(out);
    return cst__fail_memory(a->error, size);
  }
  cst_status status = null_test_bits(t, field, bits, a->error);
  if (status != CST_OK) {
    cst__made_release(out);
    return status;
  }
  out->array.length = length;
  out->schema = bools;
  return CST_OK;
}

static cst_status null_test_node(const cst__assembly *a, cst__slots *at, const void *how,
                                 cst__made *out);

static cst_status null_test_structs(const cst__assembly *a, cst__slots *structs, const null_test *t,
                                    cst__made *out) {
  const char *step = t->path.steps[0];
  const null_test below = {t->test, {t->path.steps + 1, t->path.count - 1}};
  int64_t place;
  CST__TRY(cst__field_find(structs->view, step, &place, a->error));
  CST__TRY(cst__slots_enter(structs, place, a->arena, a->error));
  cst_status status = below.path.count == 0 ? null_test_slots(a, structs, &below, out)
                                            : null_test_node(a, structs, &below, out);
  if (status != CST_OK && below.path.count > 0) {
    cst__error_add_path(a->error, step, strlen(step));
  }
  return status;
}

/* how: a null_test. */
static cst_status null_test_node(const cst__assembly *a, cst__slots *at, const void *how,
                                 cst__made *out) {
  const null_test *t = how;
  if (cst__view_is_list(at->view)) {
    return cst__made_lists(a, at, null_test_node, t, out);
  }
  return t->path.count == 0 ? null_test_slots(a, at, t, out) : null_test_structs(a, at, t, out);
}

cst_status cst_structured_test_null(const cst_structured *tensor, const cst_path *path,
                                    cst_null_test test, cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  CST__TRY(cst__check_path(path, error));
  if (test != CST_IS_NULL && test != CST_HAS) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "test %d", (int)test);
  }
  const null_test t = {test, *path};
  return cst__made_of(tensor, null_test_node, &t, out, error);
}

/* ---- filling ---- */

/* Other elements, which are as many as all slots of the elements' node; how: a cst_array. */
static cst_status fill_node(const cst__assembly *a, cst__slots *at, const void *how,
                            cst__made *out) {
  return cst__view_is_list(at->view) ? cst__made_lists(a, at, fill_node, how, out)
                                     : cst__made_array(a, how, out);
}

cst_status cst_structured_fill_null(const cst_structured *tensor, const cst_array *fill,
                                    cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  if (fill == NULL) {
    return cst__missing("fill", error);
  }
  cst_array *elements;
  cst_array *filled = NULL;
  /* All slots of the elements' node, those that lists do not reach as well. */
  const cst__view *view = cst__structured_elements(tensor);
  const cst__owner owner = cst__array_owner(tensor->array);
  struct ArrowArray made;
  CST__TRY(cst__share_view(&owner, view, 0, view->length, &made, error));
  CST__TRY(cst__array_result(tensor->array, view->schema, &made, &elements, error));
  cst_status status = cst_array_fill_null(elements, fill, &filled, error);
  if (status == CST_OK) {
    status = cst__made_of(tensor, fill_node, filled, out, error);
  }
  cst_array_release(filled);
  cst_array_release(elements);
  return status;
}

cst_status cst_structured_fill_null_lists(const cst_structured *tensor, cst_structured **out,
                                          cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  cst__levels levels;
  cst_array *rest;
  CST__TRY(cst__levels_open(tensor, cst__structured_rank(tensor), &levels, error));
  for (size_t i = 0; i < levels.count; i++) {
    levels.items[i].nulls = NULL;
  }
  cst_status status = cst__levels_rest(&levels, tensor, &rest, error);
  if (status == CST_OK) {
    status = cst__levels_tensor(levels.items, levels.count, rest, out, error);
    cst_array_release(rest);
  }
  cst__levels_close(&levels);
  return status;
}

/* ---- dropping ---- */

/* Bits of the elements that are not null: a null test gives bools of all of them, as many as the
 * tensor has. */
static cst_status find_present(const cst_structured *tests, cst__levels *levels,
                               const uint64_t **out, cst_error *error) {
  cst__slots all = cst__slots_all(&tests->view);
  int64_t count = levels->rest.chosen.count;
  uint8_t *is_present = cst__arena_take(&levels->arena, (size_t)count);
  int64_t at = 0;
  if (is_present == NULL) {
    return cst__fail_memory(error, (size_t)count);
  }
  for (size_t i = 0; i < tests->num_lists; i++) {
    CST__TRY(cst__slots_open(&all, &levels->arena, NULL, error));
  }
  for (int64_t i = 0; i < cst__chosen_num_runs(&all.chosen); i++) {
    cst__range run = cst__chosen_run(&all.chosen, i);
    cst__bits_to_bytes(all.view->data, all.view->offset + run.begin, run.count, is_present + at);
    at += run.count;
  }
  for (int64_t i = 0; i < count; i++) {
    is_present[i] ^= 1;
  }
  *out = cst__words_of_bytes(is_present, count, &levels->arena, error);
  return *out != NULL ? CST_OK : CST_NO_MEMORY;
}

/* The elements that stay, and the lists of the innermost dimension without the others. */
static cst_status drop_null_places(const cst_structured *tensor, const cst_structured *tests,
                                   cst__levels *levels, cst_structured **out, cst_error *error) {
  cst__lists *innermost = &levels->items[levels->count - 1];
  const uint64_t *words = NULL;
  cst__picked kept;
  cst_array *rest;
  CST__TRY(find_present(tests, levels, &words, error));
  CST__TRY(cst__lists_filter(innermost, words, &levels->arena, &kept, error));
  *innermost = kept.lists;
  innermost->size = -1;
  CST__TRY(cst__levels_choose(levels, tensor, &kept.items, &rest, error));
  cst_status status = cst__levels_tensor(levels->items, levels->count, rest, out, error);
  cst_array_release(rest);
  return status;
}

cst_status cst_structured_drop_null(const cst_structured *tensor, const cst_path *path,
                                    cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  CST__TRY(cst__check_path(path, error));
  size_t rank = cst__structured_rank(tensor);
  cst_structured *tests;
  cst__levels levels;
  if (rank == 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "a scalar has no dimension that nulls can be dropped from");
  }
  CST__TRY(cst_structured_test_null(tensor, path, CST_IS_NULL, &tests, error));
  cst_status status =
      cst__structured_rank(tests) == rank
          ? cst__levels_open(tensor, rank, &levels, error)
          : cst__fail(error, CST_INVALID_ARGUMENT, "drop the nulls of the field itself",
                      "the path leads through lists");
  if (status == CST_OK) {
    status = drop_null_places(tensor, tests, &levels, out, error);
    cst__levels_close(&levels);
  }
  cst_structured_release(tests);
  return status;
}
