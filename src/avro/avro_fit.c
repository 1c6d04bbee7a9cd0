/* Columns to a schema that is given: names, promotions, defaults, branches of unions. */
#include "avro/avro_fit.h"

#include <stdlib.h>
#include <string.h>

#include "avro/avro_bytes.h"
#include "avro/avro_columns.h"

typedef struct fitter {
  cst__arena *arena;
  cst__avro_symbols **maps;
  cst_error *error;
} fitter;

static cst_status fit_value(fitter *f, const cst__type *from, const cst__avro_type *to,
                            cst__avro_put *node);
static cst_status fit_kind(fitter *f, const cst__type *from, const cst__avro_type *to,
                           cst__avro_put *node);

static cst_status fail_fit(const fitter *f, const cst__type *from, const cst__avro_type *to) {
  return cst__fail(f->error, CST_SCHEMA, "cast the column, or give another schema",
                   "a column of type %s cannot be written as the schema's %s",
                   cst__layout_name(from->format), cst__avro_kind_name(to->kind));
}

static cst_status new_children(const fitter *f, size_t count, cst__avro_put *node) {
  node->children = cst__arena_take_zero(f->arena, (count + 1) * sizeof *node->children);
  node->num_children = count;
  return node->children != NULL ? CST_OK : cst__fail_memory(f->error, count);
}

/* ---- numbers ---- */

static bool is_integer(const cst__type *from) {
  return from->layout == CST__LAYOUT_NUMBER && from->dtype != CST_DTYPE_FLOAT32 &&
         from->dtype != CST_DTYPE_FLOAT64;
}

/* Integers that go up to `most`. */
static cst_status fit_range(int64_t least, int64_t most, cst__avro_put *node) {
  node->kind = CST__AVRO_ADD_INT_WITHIN;
  node->range.least = least;
  node->range.most = most;
  return CST_OK;
}

static cst_status fit_integer(const fitter *f, const cst__type *from, const cst__avro_type *to,
                              cst__avro_put *node) {
  if (!is_integer(from) || to->logical != CST__AVRO_PLAIN) {
    return fail_fit(f, from, to);
  }
  bool is_large = from->dtype == CST_DTYPE_INT64 || from->dtype == CST_DTYPE_UINT64 ||
                  from->dtype == CST_DTYPE_UINT32;
  if (to->kind == CST__AVRO_INT && is_large) {
    return fit_range(INT32_MIN, INT32_MAX, node);
  }
  node->kind = from->dtype == CST_DTYPE_UINT64 ? CST__AVRO_ADD_UINT64 : CST__AVRO_ADD_INT;
  return CST_OK;
}

static cst_status fit_real(const fitter *f, const cst__type *from, const cst__avro_type *to,
                           cst__avro_put *node) {
  if (from->layout != CST__LAYOUT_NUMBER) {
    return fail_fit(f, from, to);
  }
  node->kind = CST__AVRO_ADD_REAL;
  node->width = from->width;
  node->size = to->kind == CST__AVRO_FLOAT ? sizeof(float) : sizeof(double);
  if (!is_integer(from) && from->width == node->size) {
    node->kind = CST__AVRO_ADD_FIXED;
  }
  return CST_OK;
}

/* ---- times ---- */

typedef enum time_class { DAY, OF_DAY, UTC, LOCAL } time_class;

typedef struct time_unit {
  const char *format; /* the begin of it */
  time_class class;
  int64_t nanos;
} time_unit;

static const int64_t nanos_of_day = INT64_C(86400000000000);

static const time_unit column_units[] = {
    {"tdD", DAY, INT64_C(86400000000000)},
    {"tdm", DAY, 1000000},
    {"tts", OF_DAY, 1000000000},
    {"ttm", OF_DAY, 1000000},
    {"ttu", OF_DAY, 1000},
    {"ttn", OF_DAY, 1},
    {"tss:", UTC, 1000000000},
    {"tsm:", UTC, 1000000},
    {"tsu:", UTC, 1000},
    {"tsn:", UTC, 1},
};

static const time_unit *unit_of(const cst__type *from) {
  for (size_t i = 0; i < sizeof column_units / sizeof *column_units; i++) {
    if (strncmp(from->format, column_units[i].format, strlen(column_units[i].format)) == 0) {
      return &column_units[i];
    }
  }
  return NULL;
}

/* False: the type is no time. */
static bool unit_of_logical(const cst__avro_type *to, time_class *class, int64_t *nanos) {
  switch (to->logical) {
    case CST__AVRO_DATE:
      *class = DAY;
      *nanos = nanos_of_day;
      return true;
    case CST__AVRO_TIME_MILLIS:
    case CST__AVRO_TIME_MICROS:
      *class = OF_DAY;
      *nanos = to->logical == CST__AVRO_TIME_MILLIS ? 1000000 : 1000;
      return true;
    case CST__AVRO_TIMESTAMP_MILLIS:
    case CST__AVRO_TIMESTAMP_MICROS:
    case CST__AVRO_TIMESTAMP_NANOS:
      *class = UTC;
      *nanos = to->logical == CST__AVRO_TIMESTAMP_MILLIS   ? 1000000
               : to->logical == CST__AVRO_TIMESTAMP_MICROS ? 1000
                                                           : 1;
      return true;
    case CST__AVRO_LOCAL_MILLIS:
    case CST__AVRO_LOCAL_MICROS:
    case CST__AVRO_LOCAL_NANOS:
      *class = LOCAL;
      *nanos = to->logical == CST__AVRO_LOCAL_MILLIS   ? 1000000
               : to->logical == CST__AVRO_LOCAL_MICROS ? 1000
                                                       : 1;
      return true;
    default:
      return false;
  }
}

static cst_status fit_time(const fitter *f, const cst__type *from, const cst__avro_type *to,
                           cst__avro_put *node) {
  const time_unit *unit = unit_of(from);
  time_class wanted;
  int64_t nanos;
  if (unit == NULL || !unit_of_logical(to, &wanted, &nanos)) {
    return fail_fit(f, from, to);
  }
  bool is_local = unit->class == UTC && from->format[4] == '\0';
  if ((is_local ? LOCAL : unit->class) != wanted) {
    return fail_fit(f, from, to);
  }
  node->kind = CST__AVRO_ADD_TIME;
  node->width = from->width;
  node->time.times = unit->nanos >= nanos ? unit->nanos / nanos : 1;
  node->time.over = unit->nanos >= nanos ? 1 : nanos / unit->nanos;
  return CST_OK;
}

/* ---- bytes ---- */

/* "d:precision,scale" or "d:precision,scale,bits". */
static cst_status fit_decimal(const fitter *f, const cst__type *from, const cst__avro_type *to,
                              cst__avro_put *node) {
  char *end = NULL;
  long precision = strtol(from->format + 2, &end, 10);
  long scale = *end == ',' ? strtol(end + 1, NULL, 10) : -1;
  if (to->logical != CST__AVRO_DECIMAL || precision > to->precision || scale != to->scale) {
    return fail_fit(f, from, to);
  }
  node->kind = to->kind == CST__AVRO_FIXED ? CST__AVRO_ADD_DECIMAL_FIXED : CST__AVRO_ADD_DECIMAL;
  node->width = from->width;
  node->size = to->size;
  return CST_OK;
}

static bool is_bytes(const cst__type *from) {
  return from->layout == CST__LAYOUT_BINARY || from->layout == CST__LAYOUT_BINARY_VIEW ||
         from->layout == CST__LAYOUT_FIXED_BINARY;
}

static cst_status fit_bytes(const fitter *f, const cst__type *from, const cst__avro_type *to,
                            cst__avro_put *node) {
  if (from->format[0] == 'd') {
    return fit_decimal(f, from, to, node);
  }
  if (!is_bytes(from) || to->logical == CST__AVRO_DECIMAL) {
    return fail_fit(f, from, to);
  }
  bool is_checked = to->kind == CST__AVRO_STRING && !from->is_string;
  node->kind = is_checked ? CST__AVRO_ADD_TEXT : CST__AVRO_ADD_BYTES;
  return CST_OK;
}

static cst_status fit_fixed(const fitter *f, const cst__type *from, const cst__avro_type *to,
                            cst__avro_put *node) {
  if (from->format[0] == 'd') {
    return fit_decimal(f, from, to, node);
  }
  if (to->logical == CST__AVRO_DURATION && strcmp(from->format, "tin") == 0) {
    node->kind = CST__AVRO_ADD_DURATION;
    return CST_OK;
  }
  bool is_plain = to->logical == CST__AVRO_PLAIN || to->logical == CST__AVRO_UUID;
  if (!is_plain || !is_bytes(from) || from->is_string) {
    return fail_fit(f, from, to);
  }
  node->kind = CST__AVRO_ADD_SIZED;
  node->width = to->size;
  return CST_OK;
}

static cst_status fit_enum(const fitter *f, const cst__type *from, const cst__avro_type *to,
                           cst__avro_put *node) {
  if (is_integer(from)) {
    return fit_range(0, (int64_t)to->symbols.count - 1, node);
  }
  if (from->layout != CST__LAYOUT_BINARY && from->layout != CST__LAYOUT_BINARY_VIEW) {
    return fail_fit(f, from, to);
  }
  cst__avro_symbols *symbols = *f->maps;
  while (symbols != NULL && symbols->type != to) {
    symbols = symbols->before;
  }
  if (symbols == NULL) {
    symbols = cst__arena_take_zero(f->arena, sizeof *symbols);
    if (symbols == NULL) {
      return cst__fail_memory(f->error, sizeof *symbols);
    }
    symbols->type = to;
    symbols->before = *f->maps;
    *f->maps = symbols;
    for (size_t i = 0; i < to->symbols.count; i++) {
      const char *symbol = to->symbols.items[i];
      if (!cst__name_map_add(&symbols->map, symbol, strlen(symbol), i)) {
        return cst__fail_memory(f->error, 64);
      }
    }
  }
  node->kind = CST__AVRO_ADD_ENUM;
  node->symbols = &symbols->map;
  return CST_OK;
}

void cst__avro_symbols_reset(cst__avro_symbols *maps) {
  for (; maps != NULL; maps = maps->before) {
    cst__name_map_reset(&maps->map);
  }
}

/* ---- lists, maps ---- */

static cst_status fit_array(fitter *f, const cst__type *from, const cst__avro_type *to,
                            cst__avro_put *node) {
  if (!cst__layout_is_list(from->layout)) {
    return fail_fit(f, from, to);
  }
  node->kind = CST__AVRO_ADD_LIST;
  CST__TRY(new_children(f, 1, node));
  return fit_value(f, &from->children[0], to->items, &node->children[0]);
}

static cst_status fit_map(fitter *f, const cst__type *from, const cst__avro_type *to,
                          cst__avro_put *node) {
  if (!cst__type_is_map(from) || !from->children[0].children[0].is_string) {
    return fail_fit(f, from, to);
  }
  const cst__type *value = &from->children[0].children[1];
  node->kind = CST__AVRO_ADD_LIST;
  CST__TRY(new_children(f, 1, node));
  cst__avro_put *entry = &node->children[0];
  entry->kind = CST__AVRO_ADD_STRUCT;
  CST__TRY(new_children(f, 2, entry));
  entry->children[0] = (cst__avro_put){.kind = CST__AVRO_ADD_BYTES, .name = "key"};
  entry->children[1] = (cst__avro_put){.column = 1, .name = "value"};
  cst_status status = fit_value(f, value, to->items, &entry->children[1]);
  if (status != CST_OK) {
    cst__error_add_path(f->error, "value", strlen("value"));
  }
  return status;
}

/* ---- records ---- */

/* A field without a column: its default, or null where that is possible. */
static cst_status fit_absent(const fitter *f, const cst__avro_field *field, cst__avro_put *node) {
  cst__text bytes = {.allocator = f->arena->allocator};
  cst_status status = CST_OK;
  bool takes_null = field->type->kind == CST__AVRO_NULL;
  size_t branch = 0;
  for (size_t i = 0; field->type->kind == CST__AVRO_UNION && i < field->type->num_branches; i++) {
    bool is_null = field->type->branches[i]->kind == CST__AVRO_NULL;
    branch = is_null ? i : branch;
    takes_null |= is_null;
  }
  if (field->standard != NULL) {
    status = cst__avro_default_bytes(field->type, field->standard, &bytes, f->error);
  } else if (!takes_null) {
    return cst__fail(f->error, CST_SCHEMA, "add the column, or give the field a default",
                     "a field of the schema has neither a column nor a default");
  } else if (field->type->kind == CST__AVRO_UNION) {
    cst__avro_put_long(&bytes, (int64_t)branch);
  }
  const char *copy = NULL;
  if (status == CST_OK) {
    copy = bytes.failed ? NULL
                        : cst__arena_copy(f->arena, bytes.size > 0 ? bytes.data : "", bytes.size);
    status = copy != NULL ? CST_OK : cst__fail_memory(f->error, bytes.size);
  }
  node->kind = CST__AVRO_ADD_DEFAULT;
  node->bytes = (cst_bytes){(const uint8_t *)copy, bytes.size};
  cst__text_free(&bytes);
  return status;
}

static cst_status fail_column(const fitter *f, const char *name) {
  (void)cst__fail(f->error, CST_SCHEMA, "leave the column out, or add the field",
                  "the schema has no field of this name");
  cst__error_add_path(f->error, name, strlen(name));
  return CST_SCHEMA;
}

/* Fields take the columns of their names, `columns`. */
static cst_status fit_fields(fitter *f, const cst__type *from, const cst__avro_type *to,
                             const cst__name_map *columns, cst__avro_put *node) {
  size_t used = 0;
  for (size_t i = 0; i < to->num_fields; i++) {
    const cst__avro_field *field = &to->fields[i];
    cst__avro_put *child = &node->children[i];
    size_t column = cst__name_map_find(columns, field->name, strlen(field->name));
    child->name = field->name;
    child->column = column;
    used += column != SIZE_MAX;
    cst_status status = column != SIZE_MAX
                            ? fit_value(f, &from->children[column], field->type, child)
                            : fit_absent(f, field, child);
    if (status != CST_OK) {
      cst__error_add_path(f->error, field->name, strlen(field->name));
      return status;
    }
  }
  for (size_t i = 0; used < from->num_children && i < from->num_children; i++) {
    bool is_used = false;
    for (size_t k = 0; k < to->num_fields && !is_used; k++) {
      is_used = node->children[k].column == i && node->children[k].kind != CST__AVRO_ADD_DEFAULT;
    }
    if (!is_used) {
      return fail_column(f, from->children[i].name);
    }
  }
  return CST_OK;
}

static cst_status fit_record(fitter *f, const cst__type *from, const cst__avro_type *to,
                             cst__avro_put *node) {
  if (is_bytes(from) && !from->is_string) {
    node->kind = CST__AVRO_ADD_VALUE;
    node->type = to;
    return CST_OK;
  }
  if (from->layout != CST__LAYOUT_STRUCT) {
    return fail_fit(f, from, to);
  }
  cst__name_map columns = {0};
  cst_status status = CST_OK;
  for (size_t i = 0; i < from->num_children && status == CST_OK; i++) {
    const char *name = from->children[i].name;
    bool is_new = cst__name_map_find(&columns, name, strlen(name)) == SIZE_MAX;
    status = is_new && !cst__name_map_add(&columns, name, strlen(name), i)
                 ? cst__fail_memory(f->error, 64)
                 : CST_OK;
  }
  node->kind = CST__AVRO_ADD_STRUCT;
  if (status == CST_OK) {
    status = new_children(f, to->num_fields, node);
  }
  if (status == CST_OK) {
    status = fit_fields(f, from, to, &columns, node);
  }
  cst__name_map_reset(&columns);
  return status;
}

/* ---- unions ---- */

/* The type that columns of it have when they are read: what a union's branch is best. UNION: none
 * in particular. */
static cst__avro_kind natural_kind(const cst__type *from) {
  from = from->dictionary != NULL ? from->dictionary : from;
  switch (from->layout) {
    case CST__LAYOUT_NULL:
      return CST__AVRO_NULL;
    case CST__LAYOUT_BOOL:
      return CST__AVRO_BOOLEAN;
    case CST__LAYOUT_NUMBER:
      return from->dtype == CST_DTYPE_FLOAT32   ? CST__AVRO_FLOAT
             : from->dtype == CST_DTYPE_FLOAT64 ? CST__AVRO_DOUBLE
             : from->dtype == CST_DTYPE_INT64 || from->dtype == CST_DTYPE_UINT64 ||
                     from->dtype == CST_DTYPE_UINT32
                 ? CST__AVRO_LONG
                 : CST__AVRO_INT;
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
      return from->is_string ? CST__AVRO_STRING : CST__AVRO_BYTES;
    case CST__LAYOUT_FIXED_BINARY:
      return CST__AVRO_FIXED;
    case CST__LAYOUT_STRUCT:
      return CST__AVRO_RECORD;
    case CST__LAYOUT_LIST:
      return cst__type_is_map(from) ? CST__AVRO_MAP : CST__AVRO_ARRAY;
    default:
      return CST__AVRO_UNION;
  }
}

/* One branch, where only that is tried: a failure is none of the caller's, but for lack of memory.
 */
static cst_status try_branch(fitter *f, const cst__type *from, const cst__avro_type *to,
                             cst__avro_put *node) {
  cst_error own = CST_ERROR_INIT;
  fitter inner = {f->arena, f->maps, &own};
  cst__avro_put made = {.name = node->name,
                        .column = node->column,
                        .is_nullable = node->is_nullable,
                        .null_branch = node->null_branch,
                        .has_branch = true};
  cst_status status = fit_kind(&inner, from, to, &made);
  if (status == CST_OK) {
    *node = made;
  } else if (status == CST_NO_MEMORY) {
    cst__error_copy(f->error, &own);
  }
  return status;
}

/* The branch that columns become: that of their natural kind, or else the first that fits. */
static cst_status fit_branch(fitter *f, const cst__type *from, const cst__avro_type *to,
                             cst__avro_put *node) {
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < to->num_branches; i++) {
      const cst__avro_type *branch = to->branches[i];
      bool is_natural = branch->kind == natural_kind(from);
      if (branch->kind == CST__AVRO_NULL || is_natural != (pass == 0)) {
        continue;
      }
      cst_status status = try_branch(f, from, branch, node);
      node->branch = (uint32_t)i;
      if (status == CST_OK || status == CST_NO_MEMORY) {
        return status;
      }
    }
  }
  return fail_fit(f, from, to);
}

/* Whether a struct is a union that was read: each of its fields is called as a branch. */
static cst_status find_branches(const fitter *f, const cst__type *from, const cst__avro_type *to,
                                size_t *branches, bool *found) {
  *found = from->num_children > 0;
  for (size_t i = 0; i < from->num_children && *found; i++) {
    branches[i] = SIZE_MAX;
    for (size_t k = 0; k < to->num_branches && branches[i] == SIZE_MAX; k++) {
      const char *name;
      CST__TRY(cst__avro_branch_name(to, k, f->arena, &name, f->error));
      bool is_it =
          to->branches[k]->kind != CST__AVRO_NULL && strcmp(name, from->children[i].name) == 0;
      branches[i] = is_it ? k : SIZE_MAX;
    }
    *found = branches[i] != SIZE_MAX;
  }
  return CST_OK;
}

static cst_status fit_struct_of_branches(fitter *f, const cst__type *from, const cst__avro_type *to,
                                         const size_t *branches, cst__avro_put *node) {
  node->kind = CST__AVRO_ADD_UNION;
  CST__TRY(new_children(f, from->num_children, node));
  for (size_t i = 0; i < from->num_children; i++) {
    const char *name = from->children[i].name;
    cst__avro_put *child = &node->children[i];
    *child = (cst__avro_put){
        .name = name, .column = i, .has_branch = true, .branch = (uint32_t)branches[i]};
    child->kind = CST__AVRO_ADD_NULL; /* never set */
    cst_status status = from->children[i].layout != CST__LAYOUT_NULL
                            ? fit_kind(f, &from->children[i], to->branches[branches[i]], child)
                            : CST_OK;
    if (status != CST_OK) {
      cst__error_add_path(f->error, name, strlen(name));
      return status;
    }
  }
  return CST_OK;
}

static cst_status fit_union(fitter *f, const cst__type *from, const cst__avro_type *to,
                            cst__avro_put *node) {
  size_t others = 0;
  for (size_t i = 0; i < to->num_branches; i++) {
    bool is_null = to->branches[i]->kind == CST__AVRO_NULL;
    node->is_nullable |= is_null;
    node->null_branch = is_null ? (uint32_t)i : node->null_branch;
    others += !is_null;
  }
  if (from->layout == CST__LAYOUT_NULL) {
    node->kind = CST__AVRO_ADD_NULL;
    return node->is_nullable ? CST_OK : fail_fit(f, from, to);
  }
  if (others > 1 && from->dictionary == NULL && from->layout == CST__LAYOUT_STRUCT) {
    bool found;
    size_t *branches = cst__arena_take(f->arena, (from->num_children + 1) * sizeof *branches);
    if (branches == NULL) {
      return cst__fail_memory(f->error, from->num_children);
    }
    CST__TRY(find_branches(f, from, to, branches, &found));
    if (found) {
      return fit_struct_of_branches(f, from, to, branches, node);
    }
  }
  return fit_branch(f, from, to, node);
}

/* ---- all ---- */

static cst_status fit_plain(fitter *f, const cst__type *from, const cst__avro_type *to,
                            cst__avro_put *node) {
  switch (to->kind) {
    case CST__AVRO_NULL:
      node->kind = CST__AVRO_ADD_NULL;
      return from->layout == CST__LAYOUT_NULL ? CST_OK : fail_fit(f, from, to);
    case CST__AVRO_BOOLEAN:
      node->kind = CST__AVRO_ADD_BOOL;
      return from->layout == CST__LAYOUT_BOOL ? CST_OK : fail_fit(f, from, to);
    case CST__AVRO_INT:
    case CST__AVRO_LONG:
      return unit_of(from) != NULL ? fit_time(f, from, to, node) : fit_integer(f, from, to, node);
    case CST__AVRO_FLOAT:
    case CST__AVRO_DOUBLE:
      return fit_real(f, from, to, node);
    case CST__AVRO_BYTES:
    case CST__AVRO_STRING:
      return fit_bytes(f, from, to, node);
    case CST__AVRO_FIXED:
      return fit_fixed(f, from, to, node);
    case CST__AVRO_ENUM:
      return fit_enum(f, from, to, node);
    case CST__AVRO_ARRAY:
      return fit_array(f, from, to, node);
    case CST__AVRO_MAP:
      return fit_map(f, from, to, node);
    case CST__AVRO_RECORD:
      return fit_record(f, from, to, node);
    case CST__AVRO_UNION:
      break;
  }
  return fail_fit(f, from, to);
}

/* A type that is no union; dictionaries are their values. */
static cst_status fit_kind(fitter *f, const cst__type *from, const cst__avro_type *to,
                           cst__avro_put *node) {
  if (from->dictionary == NULL) {
    return fit_plain(f, from, to, node);
  }
  CST__TRY(new_children(f, 1, node));
  node->kind = CST__AVRO_ADD_DICTIONARY;
  return fit_value(f, from->dictionary, to, &node->children[0]);
}

static cst_status fit_value(fitter *f, const cst__type *from, const cst__avro_type *to,
                            cst__avro_put *node) {
  return to->kind == CST__AVRO_UNION ? fit_union(f, from, to, node) : fit_kind(f, from, to, node);
}

/* A schema whose top is no record is that of the only column. */
static cst_status fit_only(fitter *f, const cst__type *columns, const cst__avro_type *to,
                           cst__avro_put *root) {
  if (columns->num_children != 1 ||
      strcmp(columns->children[0].name, CST__AVRO_VALUE_COLUMN) != 0) {
    return cst__fail(
        f->error, CST_SCHEMA, "give the schema of a record",
        "the schema is of single values, which are one column named " CST__AVRO_VALUE_COLUMN);
  }
  root->kind = CST__AVRO_ADD_STRUCT;
  CST__TRY(new_children(f, 1, root));
  root->children[0].name = CST__AVRO_VALUE_COLUMN;
  return fit_value(f, &columns->children[0], to, &root->children[0]);
}

cst_status cst__avro_fit(const cst__type *columns, const cst__avro_schema *schema,
                         cst__arena *arena, cst__avro_symbols **maps, cst__avro_put *root,
                         cst_error *error) {
  fitter f = {arena, maps, error};
  return schema->root->kind == CST__AVRO_RECORD ? fit_record(&f, columns, schema->root, root)
                                                : fit_only(&f, columns, schema->root, root);
}
