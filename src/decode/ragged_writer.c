/* One nested column to the features that a ragged tensor is made of. */
#include "decode/ragged_writer.h"

#include <stdio.h>
#include <string.h>

int64_t cst__uniform_product(const cst_tensor_spec *spec, size_t *at) {
  int64_t product = 1;
  for (; *at < spec->num_partitions && spec->partitions[*at].row_length_column == NULL; (*at)++) {
    if (__builtin_mul_overflow(product, spec->partitions[*at].uniform_length, &product)) {
      product = INT64_MAX;
    }
  }
  return product;
}

static size_t num_lengths(const cst_tensor_spec *spec) {
  size_t count = 0;
  for (size_t i = 0; i < spec->num_partitions; i++) {
    count += spec->partitions[i].row_length_column != NULL;
  }
  return count;
}

static size_t nesting_of(const cst__view *view) {
  size_t depth = 0;
  while (cst__view_is_list(view)) {
    depth++;
    view = &view->children[0];
  }
  return depth;
}

const cst_tensor_spec *cst__ragged_find(const cst_specs *ragged, const cst__view *column) {
  size_t at = cst__specs_find(ragged, column->name);
  if (at == SIZE_MAX) {
    return NULL;
  }
  const cst_tensor_spec *spec = cst_specs_get(ragged, at);
  bool flat = nesting_of(column) <= 1 && strcmp(spec->path[0], column->name) == 0;
  return flat ? NULL : spec;
}

static cst_status check_list_depth(const cst_tensor_spec *spec, const cst__view *view,
                                   cst_error *error) {
  size_t wanted = num_lengths(spec) + 1;
  if (nesting_of(view) == wanted || view->layout == CST__LAYOUT_NULL) {
    return CST_OK;
  }
  char type[64];
  cst__view_type_name(view, type, sizeof type);
  cst_status status = cst__fail(
      error, CST_SCHEMA,
      "give the column a list level for its rows and one per row_length partition",
      "the column is %s, the ragged tensor of its name has %zu list levels", type, wanted);
  cst__error_add_path(error, view->name, strlen(view->name));
  return status;
}

/* The lists that hold the values; the view itself if it is none. */
static const cst__view *innermost(const cst__view *view) {
  while (cst__view_is_list(view) && cst__view_is_list(&view->children[0])) {
    view = &view->children[0];
  }
  return view;
}

static cst_status put_source(const cst__out_column *column, int64_t row, bool lossy,
                             cst__back *back, cst_error *error);

static cst_status add_source_column(cst__arena *arena, cst__out_columns *columns, const char *name,
                                    const cst__view *view, const cst__ragged_source *source,
                                    cst_error *error) {
  cst__out_column *column;
  cst__ragged_source *copy = cst__arena_take(arena, sizeof *copy);
  if (copy == NULL) {
    return cst__fail_memory(error, sizeof *copy);
  }
  *copy = *source;
  CST__TRY(cst__add_out_column(columns, name, view, &column, error));
  if (source->is_values) {
    CST__TRY(cst__set_out_values(column, innermost(view), error));
  } else {
    column->values = view;
    column->tag = CST__TAG_INT;
  }
  column->put_part = put_source;
  column->ragged = copy;
  column->single = CST__SINGLE_NONE;
  return CST_OK;
}

cst_status cst__add_ragged_columns(cst__arena *arena, cst__out_columns *columns,
                                   const cst_tensor_spec *spec, const cst__view *view,
                                   cst_error *error) {
  CST__TRY(check_list_depth(spec, view, error));
  size_t at = 0;
  cst__ragged_source source = {.spec = spec, .num_levels = num_lengths(spec) + 1};
  source.outer_unit = cst__uniform_product(spec, &at);
  while (at < spec->num_partitions) {
    const char *name = spec->partitions[at++].row_length_column;
    source.level++;
    source.unit = cst__uniform_product(spec, &at);
    CST__TRY(add_source_column(arena, columns, name, view, &source, error));
  }
  source.is_values = true;
  return add_source_column(arena, columns, spec->path[0], view, &source, error);
}

/* ---- one row ---- */

typedef struct walk {
  const cst__out_column *column;
  const cst__ragged_source *source;
  bool lossy;
  cst__back *back;
  cst_error *error;
} walk;

static cst_status not_a_multiple(const walk *w, size_t level, int64_t length, int64_t unit) {
  return cst__at_out_column(
      w->column,
      cst__fail(
          w->error, CST_UNSUPPORTED, "make its length a multiple of the uniform row length",
          "a list at level %zu has %lld values, expected a multiple of the uniform row length %lld",
          level, (long long)length, (long long)unit),
      w->error);
}

/* Writes what lies in one list: a length, values, or what lies in its lists, the last one first. */
static cst_status put_nested_list(const walk *w, const cst__view *lists, int64_t slot,
                                  size_t level) {
  const cst__ragged_source *source = w->source;
  int64_t begin;
  int64_t end;
  if (level > 0 && cst__view_is_null(lists, slot)) {
    return cst__at_out_column(
        w->column,
        cst__fail(w->error, CST_UNSUPPORTED, "fill or drop null lists first",
                  "an inner list at level %zu is null, only a whole row may be", level),
        w->error);
  }
  cst__view_list(lists, slot, &begin, &end);
  if (level == 0 && (end - begin) % source->outer_unit != 0) {
    return not_a_multiple(w, 0, end - begin, source->outer_unit);
  }
  if (!source->is_values && level == source->level) {
    int64_t length = end - begin;
    int64_t unit = w->source->unit;
    if (length % unit != 0) {
      return not_a_multiple(w, w->source->level, length, unit);
    }
    size_t bound = w->column->name_size + CST__ENTRY_OVERHEAD + CST__MAX_VARINT;
    if (!cst__back_room(w->back, bound)) {
      return cst__fail_memory(w->error, bound);
    }
    w->back->at = cst__put_varint_back(w->back->at, (uint64_t)(length / unit));
    return CST_OK;
  }
  if (level + 1 == source->num_levels) {
    return cst__put_run(w->column, begin, end, w->lossy, w->back, w->error);
  }
  for (int64_t i = end; i > begin; i--) {
    CST__TRY(put_nested_list(w, &lists->children[0], i - 1, level + 1));
  }
  return CST_OK;
}

static cst_status put_source(const cst__out_column *column, int64_t row, bool lossy,
                             cst__back *back, cst_error *error) {
  const walk w = {column, column->ragged, lossy, back, error};
  size_t before = cst__back_used(back);
  bool is_null = cst__view_is_null(column->view, row);
  if (!is_null) {
    CST__TRY(put_nested_list(&w, column->view, row, 0));
  }
  size_t bound = column->name_size + CST__ENTRY_OVERHEAD;
  if (!cst__back_room(back, bound)) {
    return cst__fail_memory(error, bound);
  }
  if (is_null || column->tag == 0) {
    return CST_OK;
  }
  size_t size = cst__back_used(back) - before;
  if (column->tag != CST__TAG_BYTES && size > 0) {
    cst__put_size(back, size, CST__TAG_FIRST); /* packed */
  }
  cst__put_size(back, cst__back_used(back) - before, column->tag);
  return CST_OK;
}
