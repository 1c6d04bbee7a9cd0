/* A schema and the wanted paths to columns and their Arrow types. */
#include "avro/avro_columns.h"

#include <columnstone/records.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"

enum { MAX_COLUMNS = 100000, MAX_LEVELS = CST__TYPE_MAX_DEPTH - 8, FORMAT_ROOM = 40 };

typedef struct maker {
  cst__avro_columns *columns;
  uint32_t column_flags;
  cst__avro_enums enums;
  size_t recursion;
  size_t count;
  const cst__avro_type *records[MAX_LEVELS + 1]; /* that the column at hand lies in */
  size_t num_records;
  int depth;
  cst_error *error;
} maker;

static cst__wanted all_of_it = {.name = ""};

static cst_status make_column(maker *m, const cst__avro_type *type, cst__wanted *wanted,
                              cst__avro_column *column, cst__type *arrow);

static cst_status make_children(maker *m, size_t count, cst__avro_column *column,
                                cst__type *arrow) {
  m->count += count;
  if (m->count > MAX_COLUMNS) {
    return cst__fail(m->error, CST_LIMIT, "name the columns you need",
                     "the Avro schema has more than %d columns", MAX_COLUMNS);
  }
  column->children =
      cst__arena_take_zero(&m->columns->arena, (count + 1) * sizeof *column->children);
  column->num_children = count;
  return column->children != NULL
             ? cst__type_set_children(arrow, count, &m->columns->arena, m->error)
             : cst__fail_memory(m->error, count);
}

static cst_status set_name(maker *m, cst__type *arrow, const char *name) {
  return cst__type_set_name(arrow, name, strlen(name), &m->columns->arena, m->error);
}

/* ---- values ---- */

static const char *bytes_format(const maker *m, bool is_text) {
  if ((m->column_flags & CST_COLUMNS_BINARY_VIEWS) != 0) {
    return is_text ? "vu" : "vz";
  }
  if ((m->column_flags & CST_COLUMNS_OFFSETS_32) != 0) {
    return is_text ? "u" : "z";
  }
  return is_text ? "U" : "Z";
}

static const char *decimal_format(const cst__avro_type *type, char room[FORMAT_ROOM]) {
  enum { DIGITS_128 = 38, DIGITS_256 = 76 };
  if (type->precision > DIGITS_256) {
    return NULL;
  }
  snprintf(room, FORMAT_ROOM, type->precision > DIGITS_128 ? "d:%d,%d,256" : "d:%d,%d",
           (int)type->precision, (int)type->scale);
  return room;
}

static const char *logical_format(const cst__avro_type *type, char room[FORMAT_ROOM]) {
  switch (type->logical) {
    case CST__AVRO_DECIMAL:
      return decimal_format(type, room);
    case CST__AVRO_DATE:
      return "tdD";
    case CST__AVRO_TIME_MILLIS:
      return "ttm";
    case CST__AVRO_TIME_MICROS:
      return "ttu";
    case CST__AVRO_TIMESTAMP_MILLIS:
      return "tsm:UTC";
    case CST__AVRO_TIMESTAMP_MICROS:
      return "tsu:UTC";
    case CST__AVRO_TIMESTAMP_NANOS:
      return "tsn:UTC";
    case CST__AVRO_LOCAL_MILLIS:
      return "tsm:";
    case CST__AVRO_LOCAL_MICROS:
      return "tsu:";
    case CST__AVRO_LOCAL_NANOS:
      return "tsn:";
    case CST__AVRO_DURATION:
      return "tin";
    case CST__AVRO_PLAIN:
    case CST__AVRO_UUID:
      break;
  }
  return NULL;
}

static const char *plain_format(const maker *m, const cst__avro_type *type,
                                char room[FORMAT_ROOM]) {
  static const char *const formats[] = {
      [CST__AVRO_NULL] = "n", [CST__AVRO_BOOLEAN] = "b", [CST__AVRO_INT] = "i",
      [CST__AVRO_LONG] = "l", [CST__AVRO_FLOAT] = "f",   [CST__AVRO_DOUBLE] = "g",
      [CST__AVRO_ENUM] = "i"};
  bool is_text = type->kind == CST__AVRO_STRING ||
                 (type->kind == CST__AVRO_ENUM && m->enums == CST__AVRO_ENUMS_TEXT);
  bool is_bytes = type->kind == CST__AVRO_BYTES ||
                  (type->kind == CST__AVRO_ENUM && m->enums == CST__AVRO_ENUMS_BINARY);
  if (type->kind == CST__AVRO_FIXED) {
    snprintf(room, FORMAT_ROOM, "w:%zu", type->size);
    return room;
  }
  return is_text || is_bytes ? bytes_format(m, is_text) : formats[type->kind];
}

static cst_status make_value(maker *m, const cst__avro_type *type, cst__type *arrow) {
  char room[FORMAT_ROOM];
  const char *format = logical_format(type, room);
  CST__TRY(cst__type_set(arrow, format != NULL ? format : plain_format(m, type, room),
                         &m->columns->arena, m->error));
  if (type->kind != CST__AVRO_ENUM || m->enums != CST__AVRO_ENUMS_DICTIONARY) {
    return CST_OK;
  }
  arrow->dictionary = cst__arena_take_zero(&m->columns->arena, sizeof *arrow->dictionary);
  if (arrow->dictionary == NULL) {
    return cst__fail_memory(m->error, sizeof *arrow->dictionary);
  }
  *arrow->dictionary = (cst__type)CST__TYPE_INIT;
  bool is_narrow = (m->column_flags & CST_COLUMNS_OFFSETS_32) != 0;
  return cst__type_set(arrow->dictionary, is_narrow ? "u" : "U", &m->columns->arena, m->error);
}

/* ---- what is wanted ---- */

static const char *nth_name(const void *names, size_t i) { return ((const char *const *)names)[i]; }

/* Which of the members named so are wanted, in the wanted order: chosen[i] is the number of the
 * i-th, steps[i] what is wanted of it. */
typedef struct choice {
  size_t member;
  cst__wanted *wanted;
} choice;

static cst_status fail_wanted(const maker *m, const char *step, const char *const *names,
                              size_t count) {
  const cst__name_list list = {(const void *)names, count, nth_name};
  return cst__fail_unknown(m->error, CST_NOT_FOUND, "the Avro schema has no field of this name",
                           step, &list);
}

static cst_status choose(maker *m, const char *const *names, size_t count, cst__wanted *wanted,
                         choice **out, size_t *num_out) {
  bool is_whole = wanted->num_below == 0 && !wanted->is_nothing;
  size_t num = is_whole ? count : wanted->num_below;
  choice *choices = cst__arena_take_zero(&m->columns->arena, (num + 1) * sizeof *choices);
  cst__name_map map = {0};
  if (choices == NULL) {
    return cst__fail_memory(m->error, num);
  }
  *out = choices;
  *num_out = num;
  cst_status status = CST_OK;
  for (size_t i = 0; i < count && is_whole; i++) {
    choices[i] = (choice){i, &all_of_it};
  }
  for (size_t i = 0; i < count && !is_whole && status == CST_OK; i++) {
    status = cst__name_map_add(&map, names[i], strlen(names[i]), i) ? CST_OK
                                                                    : cst__fail_memory(m->error, 1);
  }
  for (cst__wanted *step = wanted->first; step != NULL && status == CST_OK; step = step->next) {
    size_t found = cst__name_map_find(&map, step->name, strlen(step->name));
    if (found == SIZE_MAX) {
      status = fail_wanted(m, step->name, names, count);
      break;
    }
    *choices++ = (choice){found, step};
  }
  cst__name_map_reset(&map);
  return status;
}

/* ---- records, unions ---- */

/* A struct of those members that are wanted; `all_null`: each may be null. */
static cst_status make_struct(maker *m, const cst__avro_type *type, const char *const *names,
                              cst__wanted *wanted, cst__avro_column *column, cst__type *arrow) {
  bool is_union = type->kind == CST__AVRO_UNION;
  size_t num_members = is_union ? type->num_branches : type->num_fields;
  choice *choices;
  size_t count;
  CST__TRY(choose(m, names, num_members, wanted, &choices, &count));
  if (is_union && wanted->num_below == 0) { /* null is none of the children */
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
      if (type->branches[choices[i].member]->kind != CST__AVRO_NULL) {
        choices[kept++] = choices[i];
      }
    }
    count = kept;
  }
  CST__TRY(cst__type_set(arrow, "+s", &m->columns->arena, m->error));
  CST__TRY(make_children(m, count, column, arrow));
  for (size_t i = 0; i < count; i++) {
    size_t member = choices[i].member;
    const cst__avro_type *inner = is_union ? type->branches[member] : type->fields[member].type;
    CST__TRY(set_name(m, &arrow->children[i], names[member]));
    cst_status status =
        make_column(m, inner, choices[i].wanted, &column->children[i], &arrow->children[i]);
    column->children[i].member = member;
    if (is_union) {
      arrow->children[i].flags = ARROW_FLAG_NULLABLE;
    }
    if (status != CST_OK) {
      cst__error_add_path(m->error, names[member], strlen(names[member]));
      return status;
    }
  }
  return CST_OK;
}

/* How often the record stands around the column at hand. */
static size_t times_within(const maker *m, const cst__avro_type *type) {
  size_t count = 0;
  for (size_t i = 0; i < m->num_records; i++) {
    count += m->records[i] == type;
  }
  return count;
}

static cst_status make_record(maker *m, const cst__avro_type *type, cst__wanted *wanted,
                              cst__avro_column *column, cst__type *arrow) {
  if (wanted->num_below == 0 && times_within(m, type) > m->recursion) {
    column->is_bytes = true;
    return cst__type_set(arrow, bytes_format(m, false), &m->columns->arena, m->error);
  }
  const char **names =
      cst__arena_take_zero(&m->columns->arena, (type->num_fields + 1) * sizeof *names);
  if (names == NULL) {
    return cst__fail_memory(m->error, type->num_fields);
  }
  for (size_t i = 0; i < type->num_fields; i++) {
    names[i] = type->fields[i].name;
  }
  m->records[m->num_records++] = type;
  CST__TRY(make_struct(m, type, names, wanted, column, arrow));
  m->num_records--;
  return CST_OK;
}

cst_status cst__avro_branch_name(const cst__avro_type *type, size_t branch, cst__arena *arena,
                                 const char **out, cst_error *error) {
  const char *name = type->branches[branch]->name;
  const char *own = cst__avro_short_name(name);
  bool is_alone = true;
  for (size_t i = 0; i < type->num_branches; i++) {
    is_alone &= i == branch || strcmp(cst__avro_short_name(type->branches[i]->name), own) != 0;
  }
  *out = own;
  if (is_alone) {
    return CST_OK;
  }
  char *to = cst__arena_take(arena, strlen(name) + 3);
  if (to == NULL) {
    return cst__fail_memory(error, strlen(name));
  }
  snprintf(to, strlen(name) + 3, "(%s)", name);
  *out = to;
  return CST_OK;
}

static cst_status make_union(maker *m, const cst__avro_type *type, cst__wanted *wanted,
                             cst__avro_column *column, cst__type *arrow) {
  enum { MOST = 1000 };
  if (type->num_branches > MOST) {
    return cst__fail(m->error, CST_LIMIT, "leave the column out", "a union of more than %d types",
                     MOST);
  }
  const char **names = cst__arena_take_zero(&m->columns->arena, type->num_branches * sizeof *names);
  if (names == NULL) {
    return cst__fail_memory(m->error, type->num_branches);
  }
  for (size_t i = 0; i < type->num_branches; i++) {
    CST__TRY(cst__avro_branch_name(type, i, &m->columns->arena, &names[i], m->error));
  }
  return make_struct(m, type, names, wanted, column, arrow);
}

/* ---- lists, maps ---- */

static cst_status make_list(maker *m, const cst__avro_type *type, cst__wanted *wanted,
                            cst__avro_column *column, cst__type *arrow) {
  bool is_narrow = (m->column_flags & CST_COLUMNS_OFFSETS_32) != 0;
  CST__TRY(cst__type_set(arrow, is_narrow ? "+l" : "+L", &m->columns->arena, m->error));
  CST__TRY(make_children(m, 1, column, arrow));
  CST__TRY(set_name(m, &arrow->children[0], "item"));
  return make_column(m, type->items, wanted, &column->children[0], &arrow->children[0]);
}

/* A map without its keys or values is a list of structs. */
static cst_status make_map(maker *m, const cst__avro_type *type, cst__wanted *wanted,
                           cst__avro_column *column, cst__type *arrow) {
  static const char *const names[] = {"key", "value"};
  static const cst__avro_type key = {.kind = CST__AVRO_STRING, .name = "string"};
  bool is_narrow = (m->column_flags & CST_COLUMNS_OFFSETS_32) != 0;
  choice *choices;
  size_t count;
  CST__TRY(choose(m, names, 2, wanted, &choices, &count));
  bool is_map = count == 2 && choices[0].member == 0;
  CST__TRY(cst__type_set(arrow,
                         is_map      ? "+m"
                         : is_narrow ? "+l"
                                     : "+L",
                         &m->columns->arena, m->error));
  CST__TRY(make_children(m, 1, column, arrow));
  cst__avro_column *entries = &column->children[0];
  cst__type *entries_type = &arrow->children[0];
  CST__TRY(set_name(m, entries_type, is_map ? "entries" : "item"));
  CST__TRY(cst__type_set(entries_type, "+s", &m->columns->arena, m->error));
  entries_type->flags = 0;
  CST__TRY(make_children(m, count, entries, entries_type));
  for (size_t i = 0; i < count; i++) {
    size_t member = choices[i].member;
    CST__TRY(set_name(m, &entries_type->children[i], names[member]));
    CST__TRY(make_column(m, member == 0 ? &key : type->items, choices[i].wanted,
                         &entries->children[i], &entries_type->children[i]));
    entries->children[i].member = member;
  }
  return CST_OK;
}

/* ---- all ---- */

static cst_status make_kind(maker *m, const cst__avro_type *type, cst__wanted *wanted,
                            cst__avro_column *column, cst__type *arrow) {
  switch (type->kind) {
    case CST__AVRO_RECORD:
      return make_record(m, type, wanted, column, arrow);
    case CST__AVRO_UNION:
      return make_union(m, type, wanted, column, arrow);
    case CST__AVRO_ARRAY:
      return make_list(m, type, wanted, column, arrow);
    case CST__AVRO_MAP:
      return make_map(m, type, wanted, column, arrow);
    default:
      return wanted->num_below > 0 ? fail_wanted(m, wanted->first->name, NULL, 0)
                                   : make_value(m, type, arrow);
  }
}

/* Takes the null out of a union, and the union itself where one type is left. */
static const cst__avro_type *without_null(const cst__avro_type *type, bool *is_nullable) {
  const cst__avro_type *only = NULL;
  size_t others = 0;
  for (size_t i = 0; type->kind == CST__AVRO_UNION && i < type->num_branches; i++) {
    bool is_null = type->branches[i]->kind == CST__AVRO_NULL;
    *is_nullable |= is_null;
    only = is_null && only != NULL ? only : type->branches[i];
    others += !is_null;
  }
  return type->kind == CST__AVRO_UNION && others <= 1 ? only : type;
}

static cst_status make_column(maker *m, const cst__avro_type *type, cst__wanted *wanted,
                              cst__avro_column *column, cst__type *arrow) {
  int levels = type->kind == CST__AVRO_MAP ? 2 : 1;
  if (m->depth + levels > MAX_LEVELS) {
    return cst__fail(m->error, CST_LIMIT,
                     "ask for a column above it, or for a smaller avro_recursion",
                     "a path leads through more than %d levels", MAX_LEVELS);
  }
  m->depth += levels;
  column->type = without_null(type, &column->is_nullable);
  column->is_nullable |= column->type->kind == CST__AVRO_NULL;
  arrow->flags = column->is_nullable ? ARROW_FLAG_NULLABLE : 0;
  CST__TRY(make_kind(m, column->type, wanted, column, arrow));
  m->depth -= levels;
  return CST_OK;
}

/* A top that is no record: one column of it. */
static cst_status make_only(maker *m, const cst__avro_type *type, cst__wanted *wanted,
                            cst__avro_column *column, cst__type *arrow) {
  static const char *const names[] = {CST__AVRO_VALUE_COLUMN};
  choice *choices;
  size_t count;
  CST__TRY(choose(m, names, 1, wanted, &choices, &count));
  CST__TRY(cst__type_set(arrow, "+s", &m->columns->arena, m->error));
  CST__TRY(make_children(m, count, column, arrow));
  if (count == 0) {
    return CST_OK;
  }
  CST__TRY(set_name(m, &arrow->children[0], names[0]));
  return make_column(m, type, choices[0].wanted, &column->children[0], &arrow->children[0]);
}

cst_status cst__avro_columns_init(cst__avro_columns *columns, const cst__avro_schema *schema,
                                  const cst__avro_column_options *options,
                                  const cst_allocator *allocator, cst_error *error) {
  *columns = (cst__avro_columns){.arrow = CST__TYPE_INIT};
  cst__arena_init(&columns->arena, allocator);
  columns->arrow.flags = 0;
  int32_t recursion = options->recursion == 0 ? CST__AVRO_RECURSION : options->recursion;
  maker m = {.columns = columns,
             .column_flags = options->column_flags,
             .enums = options->enums,
             .recursion = recursion > 0 ? (size_t)recursion : 0,
             .error = error};
  cst__wanted wanted;
  CST__TRY(
      cst__wanted_parse(options->columns, options->num_columns, &columns->arena, &wanted, error));
  if (schema->root->kind != CST__AVRO_RECORD) {
    return make_only(&m, schema->root, &wanted, &columns->top, &columns->arrow);
  }
  return make_column(&m, schema->root, &wanted, &columns->top, &columns->arrow);
}

void cst__avro_columns_reset(cst__avro_columns *columns) {
  cst__arena_reset(&columns->arena);
  *columns = (cst__avro_columns){0};
}
