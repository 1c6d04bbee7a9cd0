/* Rows that do not fit a tensor: an error where a tensor is made, one of many where rows are only
 * checked.
 */
#include <stdarg.h>
#include <stdio.h>

#include "tensor/kind.h"

cst_status cst__row_fail(const cst__making *m, int64_t row, const char *hint, const char *fmt,
                         ...) {
  char text[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  const char *name = m->plan->spec->name;
  cst__fail(m->error, CST_SCHEMA, hint, "%s", text);
  cst__error_add_path(m->error, name, strlen(name));
  cst__error_add_record(m->error, row, -1);
  return CST_SCHEMA;
}

static cst_status row_fault_fail(const cst__making *m, const cst__row_fault *f) {
  long long found = (long long)f->found;
  long long expected = (long long)f->expected;
  switch (f->reason) {
    case CST__ROW_COUNT:
      return cst__row_fail(m, f->row, "a variable number of values needs a varlen or ragged tensor",
                           "%lld value%s, but its shape needs exactly %lld", found,
                           found == 1 ? "" : "s", expected);
    case CST__ROW_NULL:
      return cst__row_fail(m, f->row, "give the tensor a default value, or make it varlen",
                           "no value (null), but its shape needs %lld and it has no default",
                           expected);
    case CST__ROW_NULL_ITEM:
      return cst__row_fail(m, f->row, "remove the nulls inside the lists",
                           "a null element; a %s tensor has no place for it", m->plan->kind->name);
    case CST__ROW_LENGTHS:
      return cst__row_fail(m, f->row, NULL, "%lld values, but %lld indices in column '%s'",
                           expected, found, f->column);
    case CST__ROW_INDEX:
      return cst__row_fail(m, f->row, NULL, "index %lld in column '%s', expected 0 to %lld", found,
                           f->column, expected);
    case CST__ROW_DIVISION:
      return cst__row_fail(m, f->row, NULL, "%lld items, which uniform rows of %lld do not divide",
                           found, expected);
    case CST__ROW_LENGTH:
      return cst__row_fail(m, f->row, NULL, "a row length of %lld in column '%s'", found,
                           f->column);
    case CST__ROW_SUM:
      return cst__row_fail(m, f->row, NULL,
                           "row lengths in column '%s' add up to %lld, but there are %lld items",
                           f->column, found, expected);
    default:
      return cst__row_fail(m, f->row, NULL, "the row does not fit the tensor");
  }
}

cst_status cst__row_refuse(const cst__making *m, const cst__row_fault *fault) {
  if (m->on_fault == NULL) {
    return row_fault_fail(m, fault);
  }
  m->on_fault(m->ctx, fault);
  return CST_OK;
}

cst_status cst__items_check(const cst__making *m, const cst__slots *items, const cst__lists *levels,
                            size_t num_levels) {
  int64_t first = cst__slots_first_null(items);
  for (int64_t k = first; k >= 0 && k < items->chosen.count; k++) {
    if (cst__slot_is_null(items, k)) {
      const cst__row_fault fault = {.row = cst__levels_find(levels, num_levels, k),
                                    .reason = CST__ROW_NULL_ITEM};
      CST__TRY(cst__row_refuse(m, &fault));
    }
  }
  return CST_OK;
}

/* ---- at most one fault for each list ---- */

bool cst__list_faults_have(const cst__list_faults *faults, int64_t list) {
  return faults->items != NULL && faults->items[list].reason != CST__ROW_TYPE;
}

cst_status cst__list_faults_add(cst__list_faults *faults, int64_t list,
                                const cst__row_fault *fault) {
  const cst__making *m = faults->m;
  if (m->on_fault == NULL) {
    return row_fault_fail(m, fault);
  }
  if (faults->items == NULL) {
    faults->items = cst__arena_take_items(m->scratch, faults->count, sizeof *faults->items);
    CST__TRY(CST__TAKEN(faults->items, m->error));
    memset(faults->items, 0, (size_t)faults->count * sizeof *faults->items);
  }
  if (!cst__list_faults_have(faults, list) || fault->reason < faults->items[list].reason) {
    faults->items[list] = *fault;
  }
  return CST_OK;
}

void cst__list_faults_tell(const cst__list_faults *faults) {
  for (int64_t i = 0; faults->items != NULL && i < faults->count; i++) {
    if (cst__list_faults_have(faults, i)) {
      faults->m->on_fault(faults->m->ctx, &faults->items[i]);
    }
  }
}

/* ---- all kinds ---- */

cst_status cst__check_rows(const cst__adapter_plan *plan, const cst__view *root,
                           cst__arena *scratch, cst__row_callback on_fault, void *ctx,
                           cst_error *error) {
  const cst__making m = {.plan = plan,
                         .root = root,
                         .scratch = scratch,
                         .on_fault = on_fault,
                         .ctx = ctx,
                         .error = error};
  return plan->kind->make(&m);
}
