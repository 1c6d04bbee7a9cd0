/* Projection: the field at a path, or several under new names. The lists above stay as they are,
 * with the field in place of the struct. */
#include <columnstone/structured.h>

#include "base/arguments.h"
#include "structured/branches.h"
#include "structured/made.h"

static cst_status field_make(const cst__assembly *a, cst__slots *at, const void *how,
                             cst__made *out);

static cst_status field_of_structs(const cst__assembly *a, cst__slots *structs,
                                   const cst_path *path, cst__made *out) {
  const char *step = path->steps[0];
  const cst_path below = {path->steps + 1, path->count - 1};
  int64_t place;
  CST__TRY(cst__field_find(structs->view, step, &place, a->error));
  CST__TRY(cst__slots_enter(structs, place, a->arena, a->error));
  cst_status status = field_make(a, structs, &below, out);
  if (status != CST_OK && below.count > 0) {
    cst__error_add_path(a->error, step, strlen(step));
  }
  return status;
}

/* how: a cst_path. */
static cst_status field_make(const cst__assembly *a, cst__slots *at, const void *how,
                             cst__made *out) {
  const cst_path *path = how;
  if (path->count == 0) {
    return cst__made_share(a, at, out);
  }
  return cst__view_is_list(at->view) ? cst__made_lists(a, at, field_make, path, out)
                                     : field_of_structs(a, at, path, out);
}

/* ---- several fields ---- */

typedef struct field_list {
  const char *const *names;
  const cst_path *paths;
  size_t count;
} field_list;

static cst_status fields_of_structs(const cst__assembly *a, const cst__slots *structs,
                                    const field_list *wanted, cst__made *out) {
  cst__made *fields = cst__arena_take(a->arena, wanted->count * sizeof *fields);
  cst_status status =
      fields != NULL ? CST_OK : cst__fail_memory(a->error, wanted->count * sizeof *fields);
  size_t count = 0;
  while (count < wanted->count && status == CST_OK) {
    cst__slots runs = *structs;
    status = field_make(a, &runs, &wanted->paths[count], &fields[count]);
    if (status == CST_OK) {
      status = cst__made_name(a, wanted->names[count], &fields[count]);
      count++;
    }
  }
  if (status == CST_OK) {
    return cst__made_struct(a, structs, fields, count, out);
  }
  while (count > 0) {
    cst__made_release(&fields[--count]);
  }
  return status;
}

/* how: a field_list. */
static cst_status fields_make(const cst__assembly *a, cst__slots *at, const void *how,
                              cst__made *out) {
  return cst__view_is_list(at->view) ? cst__made_lists(a, at, fields_make, how, out)
                                     : fields_of_structs(a, at, how, out);
}

/* ---- tensors ---- */

cst_status cst_structured_field(const cst_structured *tensor, const cst_path *path,
                                cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  CST__TRY(cst__check_path(path, error));
  if (path->count == 0) {
    *out = cst_structured_retain(tensor);
    return CST_OK;
  }
  return cst__made_of(tensor, field_make, path, out, error);
}

cst_status cst_structured_fields(const cst_structured *tensor, const char *const *names,
                                 const cst_path *paths, size_t count, cst_structured **out,
                                 cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(tensor, "tensor", out, error));
  if (count > 0 && (names == NULL || paths == NULL)) {
    return cst__missing(names == NULL ? "names" : "paths", error);
  }
  for (size_t i = 0; i < count; i++) {
    if (names[i] == NULL) {
      return cst__missing("names[i]", error);
    }
    CST__TRY(cst__check_path(&paths[i], error));
  }
  const field_list list = {names, paths, count};
  if (!tensor->is_struct) {
    char type[64];
    cst__view_type_name(cst__structured_elements(tensor), type, sizeof type);
    return cst__fail(error, CST_SCHEMA, NULL, "there are no fields below values of type %s", type);
  }
  return cst__made_of(tensor, fields_make, &list, out, error);
}
