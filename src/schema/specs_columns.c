/* Specs for batches whose columns a stage has made: those of the schema as far as they still fit,
 * and of the other columns what their types say.
 */
#include "schema/schema_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "schema/specs_internal.h"

typedef struct column_specs {
  const cst_schema *schema; /* NULL: none */
  const struct ArrowSchema *columns;
  cst_tensor_spec *items;
  int64_t *dims; /* one for each column, for those of a fixed size */
  size_t count;
  cst_error *error;
} column_specs;

static bool column_is_list(const struct ArrowSchema *column) {
  return column->format[0] == '+' && column->n_children == 1 && column->format[1] != 's';
}

static const struct ArrowSchema *column_leaf(const struct ArrowSchema *column) {
  while (column_is_list(column)) {
    column = column->children[0];
  }
  return column;
}

/* NONE: values that no tensor has. */
static cst_dtype column_dtype(const struct ArrowSchema *column) {
  const char *format = column_leaf(column)->format;
  if (strncmp(format, "w:", 2) == 0 || strcmp(format, "vz") == 0 || strcmp(format, "vu") == 0) {
    return CST_DTYPE_BYTES;
  }
  if (format[0] == '\0' || format[1] != '\0') {
    return CST_DTYPE_NONE;
  }
  return strchr("cCsSiIlLb", format[0]) != NULL ? CST_DTYPE_INT64
         : strchr("efg", format[0]) != NULL     ? CST_DTYPE_FLOAT32
         : strchr("zZuU", format[0]) != NULL    ? CST_DTYPE_BYTES
                                                : CST_DTYPE_NONE;
}

static const struct ArrowSchema *column_find(const struct ArrowSchema *columns, const char *name) {
  for (int64_t i = 0; i < columns->n_children; i++) {
    if (strcmp(columns->children[i]->name, name) == 0) {
      return columns->children[i];
    }
  }
  return NULL;
}

/* ---- the schema's own ---- */

/* Drops inferred tensors whose column is of another type by now, and makes those of one value that
 * have no list any more scalars. */
static void column_specs_fit(column_specs *s) {
  size_t kept = 0;
  for (size_t i = 0; i < s->count; i++) {
    cst_tensor_spec spec = s->items[i];
    bool is_plain = !spec.is_explicit && spec.num_path_steps == 1;
    const struct ArrowSchema *column = is_plain ? column_find(s->columns, spec.path[0]) : NULL;
    if (column != NULL && column_dtype(column) != spec.dtype) {
      continue;
    }
    if (column != NULL && column->format[0] != '+' && spec.kind == CST_TENSOR_DENSE) {
      spec.num_dims = 0;
      spec.dims = NULL;
    }
    s->items[kept++] = spec;
  }
  s->count = kept;
}

/* ---- those of new columns ---- */

static cst_feature_type column_feature_type(cst_dtype dtype) {
  return dtype == CST_DTYPE_INT64     ? CST_FEATURE_INT
         : dtype == CST_DTYPE_FLOAT32 ? CST_FEATURE_FLOAT
         : dtype == CST_DTYPE_BYTES   ? CST_FEATURE_BYTES
                                      : CST_FEATURE_UNKNOWN;
}

/* True if the schema speaks of the column as it is: whether it makes a tensor is its business. */
static bool column_is_known(const column_specs *s, const struct ArrowSchema *column) {
  size_t at = s->schema != NULL
                  ? cst__schema_find_feature(s->schema, column->name, strlen(column->name))
                  : SIZE_MAX;
  if (at == SIZE_MAX) {
    return false;
  }
  cst_feature_type type = cst__schema_feature(s->schema, at)->type;
  return type == CST_FEATURE_UNKNOWN ||
         (type == CST_FEATURE_STRUCT ? column->format[0] == '+' && column->format[1] == 's'
                                     : type == column_feature_type(column_dtype(column)));
}

static cst_status column_fail_type(const column_specs *s, const struct ArrowSchema *column) {
  cst_status status =
      cst__fail(s->error, CST_UNSUPPORTED, "leave the column out, or cast it in a stage",
                "found a column of the type '%.40s', expected numbers or bytes, or lists of them",
                column_leaf(column)->format);
  cst__error_add_path(s->error, column->name, strlen(column->name));
  return status;
}

/* A column of values is a dense scalar, one of lists of a fixed size a dense vector; of any other
 * lists it is sparse, or ragged if they are nested. */
static cst_status column_derive(column_specs *s, size_t at) {
  const struct ArrowSchema *column = s->columns->children[at];
  cst_dtype dtype = column_dtype(column);
  bool is_fixed = strncmp(column->format, "+w:", 3) == 0 && !column_is_list(column->children[0]);
  bool is_nested = column_is_list(column) && column_is_list(column->children[0]);
  if (dtype == CST_DTYPE_NONE) {
    return strcmp(column_leaf(column)->format, "n") == 0 ? CST_OK : column_fail_type(s, column);
  }
  cst_tensor_spec *spec = &s->items[s->count++];
  *spec = (cst_tensor_spec){.name = column->name, .kind = CST_TENSOR_DENSE, .dtype = dtype};
  if (is_fixed) {
    s->dims[at] = strtoll(column->format + 3, NULL, 10);
    spec->dims = &s->dims[at];
    spec->num_dims = 1;
    spec->reason = "The column has lists of a fixed size.";
  } else if (is_nested) {
    spec->kind = CST_TENSOR_RAGGED;
    spec->row_splits_dtype = CST_DTYPE_INT64;
    spec->reason = "The column has nested lists.";
  } else if (column_is_list(column)) {
    spec->kind = CST_TENSOR_VARLEN_SPARSE;
    spec->reason = "The column has lists of any length.";
  } else {
    spec->reason = "The column has one value per row.";
  }
  return CST_OK;
}

static cst_status column_specs_derive(column_specs *s) {
  for (int64_t i = 0; i < s->columns->n_children; i++) {
    if (!column_is_known(s, s->columns->children[i])) {
      CST__TRY(column_derive(s, (size_t)i));
    }
  }
  return CST_OK;
}

/* ---- all of them ---- */

static cst_status column_specs_project(const cst_specs *specs, const struct ArrowSchema *columns,
                                       cst_specs **out, cst_error *error) {
  size_t count = (size_t)columns->n_children;
  const char **names = cst__new(NULL, (count + 1) * sizeof *names);
  if (names == NULL) {
    return cst__fail_memory(error, count * sizeof *names);
  }
  for (size_t i = 0; i < count; i++) {
    names[i] = columns->children[i]->name;
  }
  cst_status status = cst__specs_project(specs, names, count, out, error);
  cst__delete(names);
  return status;
}

static cst_status column_specs_make(column_specs *s, const cst_specs *specs, cst_specs **out) {
  size_t count = specs != NULL ? cst__specs_count(specs) : 0;
  size_t most = count + (size_t)s->columns->n_children + 1;
  s->items = cst__new_zero(NULL, most * sizeof *s->items);
  s->dims = cst__new(NULL, most * sizeof *s->dims);
  if (s->items == NULL || s->dims == NULL) {
    return cst__fail_memory(s->error, most * sizeof *s->items);
  }
  for (size_t i = 0; i < count; i++) {
    s->items[s->count++] = *cst__specs_get(specs, i);
  }
  column_specs_fit(s);
  CST__TRY(column_specs_derive(s));
  return cst__specs_from(s->items, s->count, NULL, out, s->error);
}

cst_status cst__specs_for_columns(const cst_schema *schema, const cst_specs *specs,
                                  const struct ArrowSchema *columns, cst_specs **out,
                                  cst_error *error) {
  column_specs s = {.schema = schema, .columns = columns, .error = error};
  cst_specs *left = NULL;
  cst_status status = specs != NULL ? column_specs_project(specs, columns, &left, error) : CST_OK;
  if (status == CST_OK) {
    status = column_specs_make(&s, left, out);
  }
  cst__specs_release(left);
  cst__delete(s.items);
  cst__delete(s.dims);
  return status;
}
