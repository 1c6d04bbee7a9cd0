/* <columnstone/structured.h>: argument checks. */
#include <columnstone/structured.h>

#include "api/arguments.h"
#include "structured/structured.h"
#include "structured/tree.h"

/* ---- making and looking ---- */

static cst_status structured_check(const void *given, const char *name, const void *out,
                                   cst_error *error) {
  return given != NULL && out != NULL ? CST_OK : cst__missing(given == NULL ? name : "out", error);
}

cst_status cst_structured_new(const cst_array *array, bool is_row, cst_structured **out,
                              cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(array, "array", out, error));
  return cst__structured_new(array, is_row, out, error);
}

cst_structured *cst_structured_retain(const cst_structured *tensor) {
  return tensor != NULL ? cst__structured_retain(tensor) : NULL;
}

void cst_structured_release(cst_structured *tensor) { cst__structured_release(tensor); }

const cst_array *cst_structured_array(const cst_structured *tensor) {
  return tensor != NULL ? tensor->array : NULL;
}

bool cst_structured_is_row(const cst_structured *tensor) {
  return tensor != NULL && tensor->is_row;
}

bool cst_structured_is_struct(const cst_structured *tensor) {
  return tensor != NULL && tensor->is_struct;
}

size_t cst_structured_rank(const cst_structured *tensor) {
  return tensor != NULL ? cst__structured_rank(tensor) : 0;
}

cst_status cst_structured_shape(const cst_structured *tensor, int64_t *dims, cst_error *error) {
  CST__TRY(structured_check(tensor, "tensor", dims, error));
  return cst__structured_shape(tensor, dims, error);
}

cst_status cst_structured_row_splits(const cst_structured *tensor, size_t dimension,
                                     cst_array **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  return cst__structured_row_splits(tensor, dimension, out, error);
}

cst_status cst_structured_flat_values(const cst_structured *tensor, cst_structured **out,
                                      cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  return cst__structured_flat_values(tensor, out, error);
}

/* ---- fields ---- */

static cst_status structured_check_path(const cst_path *path, cst_error *error) {
  if (path == NULL || (path->steps == NULL && path->count > 0)) {
    return cst__missing("path", error);
  }
  for (size_t i = 0; i < path->count; i++) {
    if (path->steps[i] == NULL) {
      return cst__missing("path->steps[i]", error);
    }
  }
  return CST_OK;
}

cst_status cst_structured_field(const cst_structured *tensor, const cst_path *path,
                                cst_structured **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(structured_check(tensor, "tensor", out, error));
  CST__TRY(structured_check_path(path, error));
  return cst__structured_field(tensor, path, out, error);
}

/* ---- looking at types ---- */

cst_status cst_type_write_tree(const struct ArrowSchema *type, const cst_tree_options *options,
                               char **text, size_t *size, cst_error *error) {
  CST__CLEAR(text);
  CST__CLEAR(size);
  if (type == NULL || text == NULL) {
    return cst__missing(type == NULL ? "type" : "text", error);
  }
  cst_tree_options own = CST_TREE_OPTIONS_INIT;
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_flags(own.flags, CST_TREE_ASCII | CST_TREE_JSON, error));
  return cst__type_write_tree(type, &own, text, size, error);
}
