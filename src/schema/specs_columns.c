/* Specs for batches whose columns a stage has made: those of the schema as far as they still fit,
 * and of the other columns what their types say.
 */
#include "schema/schema_columns.h"

#include <stdlib.h>
#include <string.h>

#include "arrow/layout.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "schema/specs_internal.h"

typedef struct column_specs {
  const cst_schema *schema; /* NULL: none */
  const struct ArrowSchema *columns;
  cst_tensor_spec *items;
  size_t count;
  cst__arena arena; /* dims, paths and fields of new specs */
  cst_error *error;
} column_specs;

static bool column_is_list(const struct ArrowSchema *column) {
  return column->format[0] == '+' && column->n_children == 1 && column->format[1] != 's';
}

/* The items of lists, and the values of dictionaries. */
static const struct ArrowSchema *column_leaf(const struct ArrowSchema *column) {
  while (column_is_list(column) || column->dictionary != NULL) {
    column = column->dictionary != NULL ? column->dictionary : column->children[0];
  }
  return column;
}

/* The values' own type; NONE: values that no tensor has. */
static cst_dtype column_dtype(const struct ArrowSchema *column) {
  static const char letters[] = "cCsSiIlLfgbezZuU";
  static const cst_dtype types[] = {
      CST_DTYPE_INT8,    CST_DTYPE_UINT8,   CST_DTYPE_INT16, CST_DTYPE_UINT16,
      CST_DTYPE_INT32,   CST_DTYPE_UINT32,  CST_DTYPE_INT64, CST_DTYPE_UINT64,
      CST_DTYPE_FLOAT32, CST_DTYPE_FLOAT64, CST_DTYPE_BOOL,  CST_DTYPE_FLOAT32,
      CST_DTYPE_BYTES,   CST_DTYPE_BYTES,   CST_DTYPE_BYTES, CST_DTYPE_BYTES};
  const char *format = column_leaf(column)->format;
  if (strncmp(format, "w:", 2) == 0 || strcmp(format, "vz") == 0 || strcmp(format, "vu") == 0) {
    return CST_DTYPE_BYTES;
  }
  const char *letter = format[0] != '\0' && format[1] == '\0' ? strchr(letters, format[0]) : NULL;
  return letter != NULL ? types[letter - letters] : CST_DTYPE_NONE;
}

static bool column_is_struct(const struct ArrowSchema *column) {
  return strcmp(column->format, "+s") == 0;
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

/* Drops inferred tensors whose column is of another type by now, makes those of one value that have
 * no list any more scalars, and says of bools that they are. */
static void column_specs_fit(column_specs *s) {
  size_t kept = 0;
  for (size_t i = 0; i < s->count; i++) {
    cst_tensor_spec spec = s->items[i];
    bool is_plain = !spec.is_explicit && spec.num_path_steps == 1;
    const struct ArrowSchema *column = is_plain ? column_find(s->columns, spec.path[0]) : NULL;
    cst_dtype dtype = column != NULL ? column_dtype(column) : spec.dtype;
    if (dtype != spec.dtype && cst__dtype_family(dtype) != spec.dtype) {
      continue;
    }
    if (column != NULL && column->format[0] != '+' && spec.kind == CST_TENSOR_DENSE) {
      spec.num_dims = 0;
      spec.dims = NULL;
    }
    if (column != NULL && column_dtype(column) == CST_DTYPE_BOOL) {
      spec.dtype = CST_DTYPE_BOOL;
    }
    s->items[kept++] = spec;
  }
  s->count = kept;
}

/* ---- those of new columns ---- */

static cst_feature_type column_feature_type(const struct ArrowSchema *column) {
  switch (cst__dtype_family(column_dtype(column))) {
    case CST_DTYPE_INT64:
      return CST_FEATURE_INT;
    case CST_DTYPE_FLOAT32:
      return CST_FEATURE_FLOAT;
    case CST_DTYPE_BYTES:
      return CST_FEATURE_BYTES;
    default:
      return CST_FEATURE_UNKNOWN;
  }
}

/* True if one of the specs is made of the column. */
static bool column_is_used(const column_specs *s, const char *name) {
  bool found = false;
  for (size_t i = 0; i < s->count && !found; i++) {
    const cst_tensor_spec *spec = &s->items[i];
    found = spec->num_path_steps > 0 && strcmp(spec->path[0], name) == 0;
    for (size_t k = 0; k < spec->num_index_columns && !found; k++) {
      found = strcmp(spec->index_columns[k], name) == 0;
    }
  }
  return found;
}

/* True if the schema speaks of the column as it is: whether it makes a tensor is its business.
 * Without a schema, specs do. */
static bool column_is_known(const column_specs *s, const struct ArrowSchema *column) {
  if (s->schema == NULL) {
    return column_is_used(s, column->name);
  }
  size_t at = cst__schema_find_feature(s->schema, column->name, strlen(column->name));
  if (at == SIZE_MAX) {
    return false;
  }
  cst_feature_type type = cst_schema_feature(s->schema, at)->type;
  return type == CST_FEATURE_UNKNOWN ||
         (type == CST_FEATURE_STRUCT ? column->format[0] == '+' && column->format[1] == 's'
                                     : type == column_feature_type(column));
}

static cst_status column_fail_type(const column_specs *s, const struct ArrowSchema *column) {
  return cst__fail(s->error, CST_UNSUPPORTED, "leave the column out, or cast it in a stage",
                   "found a column of type %s, expected numbers or bytes, or lists of them, or "
                   "structs",
                   cst__layout_name(column_leaf(column)->format));
}

/* Where a column stands: in structs, and in how many lists. */
typedef struct column_place {
  const struct column_place *outer; /* NULL: a column of the batch */
  const char *name;
  size_t depth; /* structs above */
  size_t lists; /* above and of the column itself */
} column_place;

static cst_status column_fail_memory(const column_specs *s) {
  return cst__fail_memory(s->error, sizeof(cst_tensor_spec));
}

/* The steps to a child of structs; the name alone is the path of a column of the batch. */
static cst_status column_derive_path(column_specs *s, const column_place *at,
                                     cst_tensor_spec *spec) {
  size_t count = at->depth + 1;
  const char **path = cst__arena_take(&s->arena, count * sizeof *path);
  if (path == NULL) {
    return column_fail_memory(s);
  }
  for (size_t i = count; i > 0; i--, at = at->outer) {
    path[i - 1] = at->name;
  }
  spec->path = path;
  spec->num_path_steps = count;
  return CST_OK;
}

static cst_status column_derive_fixed(column_specs *s, const struct ArrowSchema *column,
                                      cst_tensor_spec *spec) {
  int64_t *dims = cst__arena_take(&s->arena, sizeof *dims);
  if (dims == NULL) {
    return column_fail_memory(s);
  }
  *dims = strtoll(column->format + 3, NULL, 10);
  spec->dims = dims;
  spec->num_dims = 1;
  spec->reason = "The column has lists of a fixed size.";
  return CST_OK;
}

/* Values are a dense scalar, lists of a fixed size a dense vector; other lists are sparse, or
 * ragged if they are nested or lie in structs. */
static cst_status column_derive_values(column_specs *s, const struct ArrowSchema *column,
                                       const column_place *at, cst_tensor_spec *spec) {
  bool is_inner = at->depth > 0;
  spec->kind = CST_TENSOR_DENSE;
  CST__TRY(column_derive_path(s, at, spec));
  if (at->lists == 0) {
    spec->reason = "The column has one value per row.";
  } else if (!is_inner && at->lists == 1 && strncmp(column->format, "+w:", 3) == 0) {
    return column_derive_fixed(s, column, spec);
  } else if (is_inner || at->lists > 1) {
    spec->kind = CST_TENSOR_RAGGED;
    spec->row_splits_dtype = CST_DTYPE_INT64;
    spec->reason =
        is_inner ? "The column lies in structs, and in lists." : "The column has nested lists.";
  } else {
    spec->kind = CST_TENSOR_VARLEN_SPARSE;
    spec->reason = "The column has lists of any length.";
  }
  return CST_OK;
}

static cst_status column_derive(column_specs *s, const struct ArrowSchema *column,
                                const column_place *outer, cst_tensor_spec *specs, size_t *count);

/* A tensor of the fields' tensors. */
static cst_status column_derive_struct(column_specs *s, const struct ArrowSchema *structs,
                                       const column_place *at, cst_tensor_spec *spec) {
  size_t most = (size_t)structs->n_children + 1;
  cst_tensor_spec *fields = cst__arena_take_zero(&s->arena, most * sizeof *fields);
  if (fields == NULL) {
    return column_fail_memory(s);
  }
  spec->kind = CST_TENSOR_STRUCTURED;
  spec->dtype = CST_DTYPE_NONE;
  spec->fields = fields;
  spec->reason = "The column has structs.";
  for (int64_t i = 0; i < structs->n_children; i++) {
    CST__TRY(column_derive(s, structs->children[i], at, fields, &spec->num_fields));
  }
  return CST_OK;
}

/* Adds the tensor of a column, if it makes one: nulls alone do not, nor structs without fields. */
static cst_status column_derive(column_specs *s, const struct ArrowSchema *column,
                                const column_place *outer, cst_tensor_spec *specs, size_t *count) {
  const struct ArrowSchema *leaf = column_leaf(column);
  cst_dtype dtype = column_dtype(column);
  column_place at = {.outer = outer, .name = column->name};
  cst_tensor_spec spec = {.name = column->name, .dtype = dtype};
  at.depth = outer != NULL ? outer->depth + 1 : 0;
  at.lists = outer != NULL ? outer->lists : 0;
  for (const struct ArrowSchema *list = column; column_is_list(list); list = list->children[0]) {
    at.lists++;
  }
  if (strcmp(leaf->format, "n") == 0) {
    return CST_OK;
  }
  cst_status status = column_is_struct(leaf)    ? column_derive_struct(s, leaf, &at, &spec)
                      : dtype == CST_DTYPE_NONE ? column_fail_type(s, column)
                                                : column_derive_values(s, column, &at, &spec);
  if (status == CST_UNSUPPORTED) {
    cst__error_add_path(s->error, column->name, strlen(column->name));
  }
  if (status == CST_OK && (spec.kind != CST_TENSOR_STRUCTURED || spec.num_fields > 0)) {
    specs[(*count)++] = spec;
  }
  return status;
}

static cst_status column_specs_derive(column_specs *s) {
  for (int64_t i = 0; i < s->columns->n_children; i++) {
    if (!column_is_known(s, s->columns->children[i])) {
      CST__TRY(column_derive(s, s->columns->children[i], NULL, s->items, &s->count));
    }
  }
  return CST_OK;
}

/* ---- types that inference has no feature for ---- */

static bool column_is_nested(const struct ArrowSchema *column) {
  return column_is_struct(column_leaf(column)) ||
         (column_is_list(column) && column_is_list(column->children[0]));
}

/* True for structs of lists of lists of values, as SequenceExamples have them. */
static bool column_is_feature_lists(const struct ArrowSchema *column) {
  bool is = column_is_struct(column) && column->n_children > 0;
  for (int64_t i = 0; is && i < column->n_children; i++) {
    const struct ArrowSchema *child = column->children[i];
    is = column_is_list(child) && column_is_list(child->children[0]) &&
         !column_is_nested(child->children[0]) &&
         !column_is_struct(child->children[0]->children[0]);
  }
  return is;
}

bool cst__columns_are_nested(const struct ArrowSchema *columns) {
  for (int64_t i = 0; i < columns->n_children; i++) {
    const struct ArrowSchema *column = columns->children[i];
    if (column_is_nested(column) && !column_is_feature_lists(column)) {
      return true;
    }
  }
  return false;
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
  size_t count = specs != NULL ? cst_specs_num_specs(specs) : 0;
  size_t most = count + (size_t)s->columns->n_children + 1;
  s->items = cst__new_zero(NULL, most * sizeof *s->items);
  if (s->items == NULL) {
    return cst__fail_memory(s->error, most * sizeof *s->items);
  }
  for (size_t i = 0; i < count; i++) {
    s->items[s->count++] = *cst_specs_get(specs, i);
  }
  column_specs_fit(s);
  CST__TRY(column_specs_derive(s));
  return cst_specs_from(s->items, s->count, NULL, out, s->error);
}

cst_status cst__specs_for_columns(const cst_schema *schema, const cst_specs *specs,
                                  const struct ArrowSchema *columns, cst_specs **out,
                                  cst_error *error) {
  column_specs s = {.schema = schema, .columns = columns, .error = error};
  cst__arena_init(&s.arena, NULL);
  cst_specs *left = NULL;
  cst_status status = specs != NULL ? column_specs_project(specs, columns, &left, error) : CST_OK;
  if (status == CST_OK) {
    status = column_specs_make(&s, left, out);
  }
  cst_specs_release(left);
  cst__delete(s.items);
  cst__arena_reset(&s.arena);
  return status;
}
