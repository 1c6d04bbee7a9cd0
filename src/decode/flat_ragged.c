/* Rows of flat features against the ragged tensors that they are to make up. */
#include "decode/flat_ragged.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "decode/ragged_writer.h"

/* ---- the plan of one batch ---- */

static int compare_name(const void *name, const void *column) {
  return strcmp(name, ((const cst__out_column *)column)->name);
}

typedef struct found {
  bool any;
  bool nested; /* one is written from a nested column, which is checked there */
} found;

static const cst__out_column *find_source(const cst__out_columns *columns, const char *name,
                                          found *f) {
  const cst__out_column *column =
      columns->count == 0
          ? NULL
          : bsearch(name, columns->items, columns->count, sizeof *columns->items, compare_name);
  f->any = f->any || column != NULL;
  f->nested = f->nested || (column != NULL && column->ragged != NULL);
  return column;
}

static cst_status add_flat_tensor(const cst_tensor_spec *spec, const cst__out_columns *columns,
                                  cst__arena *arena, const cst__flat_ragged **list,
                                  cst_error *error) {
  size_t room = spec->num_partitions + 1;
  cst__flat_ragged *tensor = cst__arena_take(arena, sizeof *tensor);
  const cst__out_column **lengths = cst__arena_take(arena, room * sizeof *lengths);
  int64_t *units = cst__arena_take(arena, room * sizeof *units);
  if (tensor == NULL || lengths == NULL || units == NULL) {
    return cst__fail_memory(error, room * sizeof *units);
  }
  found f = {false, false};
  size_t at = 0;
  *tensor = (cst__flat_ragged){.next = *list, .spec = spec, .lengths = lengths, .units = units};
  tensor->values = find_source(columns, spec->path[0], &f);
  tensor->outer_unit = cst__uniform_product(spec, &at);
  while (at < spec->num_partitions) {
    size_t i = tensor->num_lengths++;
    lengths[i] = find_source(columns, spec->partitions[at++].row_length_column, &f);
    units[i] = cst__uniform_product(spec, &at);
  }
  if (f.any && !f.nested && (tensor->num_lengths > 0 || tensor->outer_unit > 1)) {
    *list = tensor;
  }
  return CST_OK;
}

/* Marks tensors that have this source in common. */
static cst_status mark_source(cst__name_map *users, const char *name, size_t tensor, bool *shared,
                              cst_error *error) {
  size_t other = cst__name_map_find(users, name, strlen(name));
  if (other == SIZE_MAX) {
    return cst__name_map_add(users, name, strlen(name), tensor)
               ? CST_OK
               : cst__fail_memory(error, sizeof(cst__name_slot));
  }
  shared[other] = shared[other] || other != tensor;
  shared[tensor] = shared[tensor] || other != tensor;
  return CST_OK;
}

static cst_status mark_shared(const cst_specs *ragged, cst__name_map *users, bool *shared,
                              cst_error *error) {
  for (size_t i = 0; i < cst_specs_num_specs(ragged); i++) {
    const cst_tensor_spec *spec = cst_specs_get(ragged, i);
    CST__TRY(mark_source(users, spec->path[0], i, shared, error));
    for (size_t k = 0; k < spec->num_partitions; k++) {
      const char *name = spec->partitions[k].row_length_column;
      if (name != NULL) {
        CST__TRY(mark_source(users, name, i, shared, error));
      }
    }
  }
  return CST_OK;
}

cst_status cst__flat_ragged_plan(const cst_specs *ragged, const cst__out_columns *columns,
                                 cst__arena *arena, const cst__flat_ragged **out,
                                 cst_error *error) {
  size_t count = cst_specs_num_specs(ragged);
  bool *shared = cst__arena_take_zero(arena, count + 1);
  cst__name_map users = {0};
  *out = NULL;
  if (shared == NULL) {
    return cst__fail_memory(error, count);
  }
  cst_status status = mark_shared(ragged, &users, shared, error);
  cst__name_map_reset(&users);
  for (size_t i = 0; status == CST_OK && i < count; i++) {
    if (!shared[i]) {
      status = add_flat_tensor(cst_specs_get(ragged, i), columns, arena, out, error);
    }
  }
  return status;
}

/* ---- one row ---- */

/* The values of one slot of a feature. */
typedef struct slot {
  const cst__view *values;
  int64_t begin;
  int64_t end;
} slot;

static slot slot_of_row(const cst__out_column *column, int64_t row) {
  slot s = {column->values, 0, 0};
  (void)cst__out_values(column, row, &s.begin, &s.end);
  return s;
}

static bool is_absent(const cst__out_column *column, int64_t row) {
  return column == NULL || cst__view_is_null(column->view, row);
}

static const char *length_name(const cst__flat_ragged *t, size_t i) {
  for (size_t at = 0;; at++) {
    const char *name = t->spec->partitions[at].row_length_column;
    if (name != NULL && i-- == 0) {
      return name;
    }
  }
}

static cst_status at_feature(const char *name, cst_status status, cst_error *error) {
  cst__error_add_path(error, name, strlen(name));
  return status;
}

/* `name` is absent, `other` is not. */
static cst_status fail_absent(const cst__flat_ragged *t, const char *name, const char *other,
                              cst_error *error) {
  char tensor[64];
  char shown[64];
  cst__escape(tensor, sizeof tensor, t->spec->name, strlen(t->spec->name));
  cst__escape(shown, sizeof shown, other, strlen(other));
  return at_feature(
      name,
      cst__fail(error, CST_SCHEMA, "write both, or remove the tensor from the schema",
                "the feature is missing but '%s' is present; ragged tensor '%s' needs both", shown,
                tensor),
      error);
}

/* All features are there, or none. */
static cst_status check_absent(const cst__flat_ragged *t, int64_t row, bool *absent,
                               cst_error *error) {
  const char *values = t->spec->path[0];
  *absent = is_absent(t->values, row);
  for (size_t i = 0; i < t->num_lengths; i++) {
    if (is_absent(t->lengths[i], row) != *absent) {
      const char *name = length_name(t, i);
      return *absent ? fail_absent(t, values, name, error) : fail_absent(t, name, values, error);
    }
  }
  return CST_OK;
}

static int64_t length_at(const cst__view *v, int64_t i) {
  if (v->layout == CST__LAYOUT_BOOL) {
    const uint8_t *bits = v->data;
    int64_t at = v->offset + i;
    return (bits[at >> 3] >> (at & 7)) & 1;
  }
  return cst__view_int(v, i);
}

/* The slots that lengths make up. False: one is negative, or they are more than 2^63 - 1. */
static bool add_lengths(const slot *lengths, int64_t unit, int64_t *sum) {
  *sum = 0;
  for (int64_t i = lengths->begin; i < lengths->end; i++) {
    int64_t slots;
    int64_t length = length_at(lengths->values, i);
    if (length < 0 || __builtin_mul_overflow(length, unit, &slots) ||
        __builtin_add_overflow(*sum, slots, sum)) {
      return false;
    }
  }
  return true;
}

static cst_status check_sum(const cst__flat_ragged *t, size_t i, const slot *lengths,
                            const slot *next, cst_error *error) {
  static const char hint[] = "correct the data, or the partitions of the tensor";
  const char *what = i + 1 == t->num_lengths ? "values" : "row lengths";
  long long wanted = (long long)(next->end - next->begin);
  int64_t sum;
  cst_status status = CST_OK;
  if (!add_lengths(lengths, t->units[i], &sum)) {
    status = cst__fail(error, CST_SCHEMA, hint,
                       "a row length is negative, or greater than the %lld %s", wanted, what);
  } else if (sum != wanted) {
    status = cst__fail(error, CST_SCHEMA, hint, "the row lengths add up to %lld %s, found %lld",
                       (long long)sum, what, wanted);
  }
  return status != CST_OK ? at_feature(length_name(t, i), status, error) : CST_OK;
}

cst_status cst__flat_ragged_check(const cst__flat_ragged *t, int64_t row, cst_error *error) {
  bool absent;
  CST__TRY(check_absent(t, row, &absent, error));
  if (absent) {
    return CST_OK;
  }
  const slot values = slot_of_row(t->values, row);
  slot lengths = t->num_lengths > 0 ? slot_of_row(t->lengths[0], row) : values;
  if ((lengths.end - lengths.begin) % t->outer_unit != 0) {
    const char *name = t->num_lengths > 0 ? length_name(t, 0) : t->spec->path[0];
    return at_feature(
        name,
        cst__fail(error, CST_SCHEMA, "correct the data or the uniform_row_length",
                  "the row has %lld %s, expected a multiple of the uniform row length %lld",
                  (long long)(lengths.end - lengths.begin),
                  t->num_lengths > 0 ? "row lengths" : "values", (long long)t->outer_unit),
        error);
  }
  for (size_t i = 0; i < t->num_lengths; i++) {
    slot next = i + 1 < t->num_lengths ? slot_of_row(t->lengths[i + 1], row) : values;
    CST__TRY(check_sum(t, i, &lengths, &next, error));
    lengths = next;
  }
  return CST_OK;
}
