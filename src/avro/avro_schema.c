/* The JSON text of a schema to its types.
 *
 * Source: Apache Avro 1.12 Specification, "Schema Declaration", "Names", "Logical Types".
 */
#include "avro/avro_schema.h"

#include <string.h>

#include "base/hash.h"

static const char *const kind_names[CST__AVRO_KINDS] = {
    "null",   "boolean", "int",  "long",  "float", "double", "bytes",
    "string", "record",  "enum", "fixed", "array", "map",    "union"};

const char *cst__avro_kind_name(cst__avro_kind kind) { return kind_names[kind]; }

const char *cst__avro_short_name(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot != NULL ? dot + 1 : name;
}

size_t cst__avro_null_branch(const cst__avro_type *type) {
  for (size_t i = 0; type->kind == CST__AVRO_UNION && type->num_branches == 2 && i < 2; i++) {
    if (type->branches[i]->kind == CST__AVRO_NULL) {
      return i;
    }
  }
  return SIZE_MAX;
}

enum { MOST_RECORDS = 1000 /* within each other */ };

/* A schema while it is read. */
typedef struct parser {
  cst__avro_schema *schema;
  cst__name_map named; /* full names to pointers of types */
  const cst__avro_type *plain[CST__AVRO_PRIMITIVES];
  int depth;
  cst_error *error;
} parser;

/* A namespace: it lies in a name, and is not NUL-terminated. */
typedef struct space {
  const char *text;
  size_t size;
} space;

static cst_status parse_type(parser *p, yyjson_val *value, space around,
                             const cst__avro_type **out);

static cst_status fail_schema(const parser *p, const char *hint, const char *what) {
  return cst__fail(p->error, CST_SCHEMA, hint, "an Avro schema: %s", what);
}

static cst_status no_room(const parser *p) { return cst__fail_memory(p->error, 64); }

static cst_status add_step(const parser *p, cst_status status, const char *step) {
  if (status != CST_OK) {
    cst__error_add_path(p->error, step, strlen(step));
  }
  return status;
}

static cst_status new_type(parser *p, cst__avro_kind kind, cst__avro_type **out) {
  if (p->schema->num_types++ >= CST__AVRO_MAX_TYPES) {
    return cst__fail(p->error, CST_LIMIT, "divide the schema",
                     "an Avro schema of more than %d types", CST__AVRO_MAX_TYPES);
  }
  cst__avro_type *type = cst__arena_take_zero(&p->schema->arena, sizeof *type);
  if (type == NULL) {
    return no_room(p);
  }
  type->kind = kind;
  type->name = kind_names[kind];
  type->standard = SIZE_MAX;
  *out = type;
  return CST_OK;
}

/* ---- names ---- */

static bool is_name_start(uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

/* Letters of other alphabets are let in, as Java's implementation does; `dots`: divide names. */
static bool is_name(const char *text, size_t size, bool dots) {
  bool starts = true;
  for (size_t i = 0; i < size; i++) {
    uint8_t c = (uint8_t)text[i];
    if (dots && c == '.' && !starts) {
      starts = true;
      continue;
    }
    if (!is_name_start(c) && (starts || c < '0' || c > '9')) {
      return false;
    }
    starts = false;
  }
  return !starts;
}

static cst_status text_member(const parser *p, yyjson_val *object, const char *key,
                              yyjson_val **out) {
  *out = yyjson_obj_get(object, key);
  if (*out != NULL && !yyjson_is_str(*out)) {
    return add_step(p, fail_schema(p, NULL, "a string is expected"), key);
  }
  return CST_OK;
}

/* The full name of a simple or full one, in the arena. */
static cst_status full_name(const parser *p, yyjson_val *name, space around, const char **out) {
  const char *text = yyjson_get_str(name);
  size_t size = yyjson_get_len(name);
  if (text == NULL || !is_name(text, size, true)) {
    return fail_schema(p, "names are letters, digits and _, and begin with no digit",
                       "an invalid name");
  }
  bool is_full = memchr(text, '.', size) != NULL || around.size == 0;
  char *to = cst__arena_take(&p->schema->arena, size + around.size + 2);
  if (to == NULL) {
    return no_room(p);
  }
  *out = to;
  if (!is_full) {
    memcpy(to, around.text, around.size);
    to[around.size] = '.';
    to += around.size + 1;
  }
  memcpy(to, text, size);
  to[size] = '\0';
  return CST_OK;
}

static space space_of(const char *name) {
  const char *dot = strrchr(name, '.');
  return (space){name, dot != NULL ? (size_t)(dot - name) : 0};
}

static cst_status parse_aliases(const parser *p, yyjson_val *object, space around, bool are_full,
                                cst__avro_names *out) {
  yyjson_val *list = yyjson_obj_get(object, "aliases");
  size_t count = yyjson_arr_size(list);
  if (list == NULL || yyjson_is_null(list) || (count == 0 && yyjson_is_arr(list))) {
    return CST_OK;
  }
  if (!yyjson_is_arr(list)) {
    return add_step(p, fail_schema(p, NULL, "a list of names is expected"), "aliases");
  }
  out->items = cst__arena_take_zero(&p->schema->arena, count * sizeof *out->items);
  if (out->items == NULL) {
    return no_room(p);
  }
  yyjson_val *item;
  size_t i;
  size_t max;
  yyjson_arr_foreach(list, i, max, item) {
    CST__TRY(add_step(p, full_name(p, item, are_full ? around : (space){"", 0}, &out->items[i]),
                      "aliases"));
  }
  out->count = count;
  return CST_OK;
}

/* Sets the name of a type, by which the rest of the schema refers to it. */
static cst_status declare(parser *p, yyjson_val *object, space around, cst__avro_type *type) {
  yyjson_val *name;
  yyjson_val *within;
  CST__TRY(text_member(p, object, "name", &name));
  CST__TRY(text_member(p, object, "namespace", &within));
  if (name == NULL) {
    return fail_schema(p, "give it a \"name\"", "a type without a name");
  }
  if (within != NULL) {
    around = (space){yyjson_get_str(within), yyjson_get_len(within)};
    if (around.size > 0 && !is_name(around.text, around.size, true)) {
      return add_step(
          p, fail_schema(p, "a namespace is names separated by dots", "an invalid namespace"),
          "namespace");
    }
  }
  CST__TRY(add_step(p, full_name(p, name, around, &type->name), "name"));
  CST__TRY(parse_aliases(p, object, space_of(type->name), true, &type->aliases));
  size_t size = strlen(type->name);
  if (cst__name_map_find(&p->named, type->name, size) != SIZE_MAX) {
    return fail_schema(p, "define a type once, then refer to it by name",
                       "two types with the same name");
  }
  for (int kind = 0; kind < CST__AVRO_PRIMITIVES; kind++) {
    if (strcmp(type->name, kind_names[kind]) == 0) {
      return fail_schema(p, "give it another name", "a type named like a primitive type");
    }
  }
  return cst__name_map_add(&p->named, type->name, size, (size_t)(uintptr_t)type) ? CST_OK
                                                                                 : no_room(p);
}

/* ---- logical types ---- */

typedef struct logical_name {
  const char *name;
  cst__avro_logical logical;
  uint32_t kinds; /* bits of those that it annotates */
  size_t size;    /* of FIXED */
} logical_name;

enum {
  OF_INT = 1 << CST__AVRO_INT,
  OF_LONG = 1 << CST__AVRO_LONG,
  OF_BYTES = 1 << CST__AVRO_BYTES,
  OF_STRING = 1 << CST__AVRO_STRING,
  OF_FIXED = 1 << CST__AVRO_FIXED
};

static const logical_name logical_names[] = {
    {"decimal", CST__AVRO_DECIMAL, OF_BYTES | OF_FIXED, 0},
    {"date", CST__AVRO_DATE, OF_INT, 0},
    {"time-millis", CST__AVRO_TIME_MILLIS, OF_INT, 0},
    {"time-micros", CST__AVRO_TIME_MICROS, OF_LONG, 0},
    {"timestamp-millis", CST__AVRO_TIMESTAMP_MILLIS, OF_LONG, 0},
    {"timestamp-micros", CST__AVRO_TIMESTAMP_MICROS, OF_LONG, 0},
    {"timestamp-nanos", CST__AVRO_TIMESTAMP_NANOS, OF_LONG, 0},
    {"local-timestamp-millis", CST__AVRO_LOCAL_MILLIS, OF_LONG, 0},
    {"local-timestamp-micros", CST__AVRO_LOCAL_MICROS, OF_LONG, 0},
    {"local-timestamp-nanos", CST__AVRO_LOCAL_NANOS, OF_LONG, 0},
    {"duration", CST__AVRO_DURATION, OF_FIXED, 12},
    {"uuid", CST__AVRO_UUID, OF_STRING | OF_FIXED, 16},
};

/* Decimal digits that so many bytes hold with a sign. */
static int64_t digits_of(size_t bytes) {
  return bytes == 0 ? 0
                    : (int64_t)((double)(8 * (bytes < 1000 ? bytes : 1000) - 1) * 0.30102999566);
}

static bool set_decimal(cst__avro_type *type, yyjson_val *object) {
  yyjson_val *precision = yyjson_obj_get(object, "precision");
  yyjson_val *scale = yyjson_obj_get(object, "scale");
  int64_t digits = yyjson_get_sint(precision);
  int64_t behind = yyjson_get_sint(scale);
  if (!yyjson_is_int(precision) || (scale != NULL && !yyjson_is_int(scale)) || digits < 1 ||
      digits > INT32_MAX || behind < 0 || behind > digits ||
      (type->kind == CST__AVRO_FIXED && digits > digits_of(type->size))) {
    return false;
  }
  type->precision = (int32_t)digits;
  type->scale = (int32_t)behind;
  return true;
}

/* "must ignore unknown logical types", and those that are invalid. */
static void set_logical(cst__avro_type *type, yyjson_val *object) {
  yyjson_val *name = yyjson_obj_get(object, "logicalType");
  for (size_t i = 0; i < sizeof logical_names / sizeof *logical_names; i++) {
    const logical_name *known = &logical_names[i];
    if (yyjson_equals_str(name, known->name) && (known->kinds >> type->kind & 1) != 0 &&
        (type->kind != CST__AVRO_FIXED || known->size == 0 || known->size == type->size) &&
        (known->logical != CST__AVRO_DECIMAL || set_decimal(type, object))) {
      type->logical = known->logical;
    }
  }
}

/* ---- types ---- */

static cst_status parse_field(parser *p, yyjson_val *value, space around, cst__avro_field *field) {
  yyjson_val *name = yyjson_obj_get(value, "name");
  yyjson_val *type = yyjson_obj_get(value, "type");
  if (!yyjson_is_str(name) || !is_name(yyjson_get_str(name), yyjson_get_len(name), false)) {
    return fail_schema(p, "fields are objects with a \"name\" of letters, digits and _",
                       "a field without a name");
  }
  field->name = yyjson_get_str(name);
  field->standard = yyjson_obj_get(value, "default");
  if (type == NULL) {
    return add_step(p, fail_schema(p, "give it a \"type\"", "a field without a type"), field->name);
  }
  CST__TRY(add_step(p, parse_aliases(p, value, around, false, &field->aliases), field->name));
  return add_step(p, parse_type(p, type, around, &field->type), field->name);
}

static cst_status parse_record(parser *p, yyjson_val *object, space around, cst__avro_type *type) {
  CST__TRY(declare(p, object, around, type));
  yyjson_val *fields = yyjson_obj_get(object, "fields");
  if (!yyjson_is_arr(fields)) {
    return fail_schema(p, "give it a list of \"fields\"", "a record without fields");
  }
  size_t count = yyjson_arr_size(fields);
  type->fields = cst__arena_take_zero(&p->schema->arena, (count + 1) * sizeof *type->fields);
  if (type->fields == NULL) {
    return no_room(p);
  }
  type->num_fields = count;
  cst__name_map names = {0};
  cst_status status = CST_OK;
  yyjson_val *item = yyjson_arr_get_first(fields);
  for (size_t i = 0; i < count && status == CST_OK; i++, item = unsafe_yyjson_get_next(item)) {
    cst__avro_field *field = &type->fields[i];
    status = parse_field(p, item, space_of(type->name), field);
    if (status == CST_OK &&
        cst__name_map_find(&names, field->name, strlen(field->name)) != SIZE_MAX) {
      status = add_step(p, fail_schema(p, "rename one of them", "two fields with the same name"),
                        field->name);
    } else if (status == CST_OK &&
               !cst__name_map_add(&names, field->name, strlen(field->name), i)) {
      status = no_room(p);
    }
  }
  cst__name_map_reset(&names);
  return status;
}

static cst_status parse_enum(parser *p, yyjson_val *object, space around, cst__avro_type *type) {
  CST__TRY(declare(p, object, around, type));
  yyjson_val *symbols = yyjson_obj_get(object, "symbols");
  yyjson_val *standard = yyjson_obj_get(object, "default");
  if (!yyjson_is_arr(symbols)) {
    return fail_schema(p, "give it a list of \"symbols\"", "an enum without symbols");
  }
  size_t count = yyjson_arr_size(symbols);
  type->symbols.items = cst__arena_take_zero(&p->schema->arena, (count + 1) * sizeof(char *));
  if (type->symbols.items == NULL) {
    return no_room(p);
  }
  type->symbols.count = count;
  cst__name_map names = {0};
  cst_status status = CST_OK;
  yyjson_val *item = yyjson_arr_get_first(symbols);
  for (size_t i = 0; i < count && status == CST_OK; i++, item = unsafe_yyjson_get_next(item)) {
    const char *text = yyjson_get_str(item);
    size_t size = yyjson_get_len(item);
    type->symbols.items[i] = text;
    if (text == NULL || !is_name(text, size, false)) {
      status = fail_schema(p, "symbols are letters, digits and _, and begin with no digit",
                           "an invalid symbol");
    } else if (cst__name_map_find(&names, text, size) != SIZE_MAX) {
      status = fail_schema(p, "leave one of them out", "a duplicate symbol");
    } else if (!cst__name_map_add(&names, text, size, i)) {
      status = no_room(p);
    }
  }
  if (status == CST_OK && standard != NULL) {
    const char *text = yyjson_get_str(standard);
    type->standard =
        text != NULL ? cst__name_map_find(&names, text, yyjson_get_len(standard)) : SIZE_MAX;
    if (type->standard == SIZE_MAX) {
      status =
          add_step(p, fail_schema(p, NULL, "a default that is not among the symbols"), "default");
    }
  }
  cst__name_map_reset(&names);
  return status;
}

static cst_status parse_fixed(parser *p, yyjson_val *object, space around, cst__avro_type *type) {
  CST__TRY(declare(p, object, around, type));
  yyjson_val *size = yyjson_obj_get(object, "size");
  if (!yyjson_is_int(size) || yyjson_is_sint(size) || yyjson_get_uint(size) > INT32_MAX) {
    return fail_schema(p, "give it a \"size\" in bytes", "a fixed type without a size");
  }
  type->size = (size_t)yyjson_get_uint(size);
  return CST_OK;
}

static cst_status parse_inner(parser *p, yyjson_val *object, const char *key, space around,
                              const cst__avro_type **out) {
  yyjson_val *inner = yyjson_obj_get(object, key);
  if (inner == NULL) {
    return add_step(p,
                    fail_schema(p, "give an array \"items\", a map \"values\"",
                                "an array without items, or a map without values"),
                    key);
  }
  return add_step(p, parse_type(p, inner, around, out), key);
}

/* "Unions may not contain more than one schema with the same type, except for the named types
 * record, fixed and enum", nor other unions. */
static cst_status check_branch(const parser *p, const cst__avro_type *type, size_t i,
                               uint32_t *seen) {
  const cst__avro_type *branch = type->branches[i];
  if (branch->kind == CST__AVRO_UNION) {
    return fail_schema(p, "make it one union", "a union nested in a union");
  }
  bool is_named = branch->kind >= CST__AVRO_RECORD && branch->kind <= CST__AVRO_FIXED;
  if (!is_named && (*seen >> branch->kind & 1) != 0) {
    return fail_schema(p, "leave one of them out", "a union with a duplicate type");
  }
  *seen |= UINT32_C(1) << branch->kind;
  return CST_OK;
}

static cst_status check_named_branches(const parser *p, const cst__avro_type *type) {
  cst__name_map names = {0};
  cst_status status = CST_OK;
  for (size_t i = 0; i < type->num_branches && status == CST_OK; i++) {
    const char *name = type->branches[i]->name;
    if (cst__name_map_find(&names, name, strlen(name)) != SIZE_MAX) {
      status = fail_schema(p, "leave one of them out", "a union with a duplicate type");
    } else if (!cst__name_map_add(&names, name, strlen(name), i)) {
      status = no_room(p);
    }
  }
  cst__name_map_reset(&names);
  return status;
}

static cst_status parse_union(parser *p, yyjson_val *list, space around,
                              const cst__avro_type **out) {
  size_t count = yyjson_arr_size(list);
  cst__avro_type *type = NULL;
  uint32_t seen = 0;
  CST__TRY(new_type(p, CST__AVRO_UNION, &type));
  if (count == 0) {
    return fail_schema(p, "name at least one type", "an empty union");
  }
  type->branches = cst__arena_take_zero(&p->schema->arena, count * sizeof(cst__avro_type *));
  if (type->branches == NULL) {
    return no_room(p);
  }
  type->num_branches = count;
  yyjson_val *item = yyjson_arr_get_first(list);
  for (size_t i = 0; i < count; i++, item = unsafe_yyjson_get_next(item)) {
    CST__TRY(parse_type(p, item, around, &type->branches[i]));
    CST__TRY(check_branch(p, type, i, &seen));
  }
  *out = type;
  return count < 2 ? CST_OK : check_named_branches(p, type);
}

/* A primitive type without anything else is there once. */
static cst_status plain_type(parser *p, cst__avro_kind kind, const cst__avro_type **out) {
  if (p->plain[kind] == NULL) {
    cst__avro_type *type = NULL;
    CST__TRY(new_type(p, kind, &type));
    p->plain[kind] = type;
  }
  *out = p->plain[kind];
  return CST_OK;
}

/* What a string means: a primitive type, or one that was declared before. */
static cst_status find_type(parser *p, yyjson_val *name, space around, const cst__avro_type **out) {
  const char *text = yyjson_get_str(name);
  const char *full;
  for (int kind = 0; kind < CST__AVRO_PRIMITIVES; kind++) {
    if (yyjson_equals_str(name, kind_names[kind])) {
      return plain_type(p, (cst__avro_kind)kind, out);
    }
  }
  CST__TRY(full_name(p, name, around, &full));
  size_t found = cst__name_map_find(&p->named, full, strlen(full));
  if (found == SIZE_MAX) {
    found = cst__name_map_find(&p->named, text, yyjson_get_len(name));
  }
  if (found == SIZE_MAX) {
    return cst__fail(p->error, CST_SCHEMA, "define it where it is used first",
                     "Avro schema: unknown type '%.80s'", full);
  }
  *out = (const cst__avro_type *)(uintptr_t)found;
  return CST_OK;
}

/* The complex kind of a name, or a primitive one; CST__AVRO_UNION: none. */
static cst__avro_kind kind_of(yyjson_val *name) {
  for (int kind = 0; kind < CST__AVRO_UNION; kind++) {
    if (yyjson_equals_str(name, kind_names[kind])) {
      return (cst__avro_kind)kind;
    }
  }
  return yyjson_equals_str(name, "error") ? CST__AVRO_RECORD : CST__AVRO_UNION;
}

static cst_status parse_object(parser *p, yyjson_val *object, space around,
                               const cst__avro_type **out) {
  yyjson_val *what = yyjson_obj_get(object, "type");
  if (what == NULL) {
    return fail_schema(p, "give it a \"type\"", "an object without a type");
  }
  cst__avro_kind kind = kind_of(what);
  if (kind == CST__AVRO_UNION) { /* another type in its place */
    return parse_type(p, what, around, out);
  }
  if (kind <= CST__AVRO_STRING && yyjson_obj_get(object, "logicalType") == NULL) {
    return plain_type(p, kind, out);
  }
  cst__avro_type *type = NULL;
  CST__TRY(new_type(p, kind, &type));
  *out = type;
  switch (kind) {
    case CST__AVRO_RECORD:
      return parse_record(p, object, around, type);
    case CST__AVRO_ENUM:
      return parse_enum(p, object, around, type);
    case CST__AVRO_FIXED:
      CST__TRY(parse_fixed(p, object, around, type));
      break;
    case CST__AVRO_ARRAY:
      return parse_inner(p, object, "items", around, &type->items);
    case CST__AVRO_MAP:
      return parse_inner(p, object, "values", around, &type->items);
    default:
      break;
  }
  set_logical(type, object);
  return CST_OK;
}

static cst_status parse_type(parser *p, yyjson_val *value, space around,
                             const cst__avro_type **out) {
  if (++p->depth > CST__AVRO_MAX_DEPTH) {
    return cst__fail(p->error, CST_LIMIT, "make it flatter, or define types before they are used",
                     "an Avro schema nested deeper than %d types", CST__AVRO_MAX_DEPTH);
  }
  cst_status status;
  if (yyjson_is_str(value)) {
    status = find_type(p, value, around, out);
  } else if (yyjson_is_arr(value)) {
    status = parse_union(p, value, around, out);
  } else if (yyjson_is_obj(value)) {
    status = parse_object(p, value, around, out);
  } else {
    status = fail_schema(p, "types are names, objects and lists", "an invalid type");
  }
  p->depth--;
  return status;
}

/* ---- records without an end ---- */

enum { VISIT_OPEN = 1, VISIT_DONE };

/* A record that holds itself, and not in a union, a list or a map, has no values. Depth is that of
 * records within records, which by names may be larger than that of the text. */
static cst_status check_ends(const parser *p, cst__avro_type *type, int depth) {
  if (type->kind != CST__AVRO_RECORD || type->visit == VISIT_DONE) {
    return CST_OK;
  }
  if (type->visit == VISIT_OPEN) {
    return fail_schema(p, "put the inner record into a union with null, or into an array",
                       "a record that contains itself without end");
  }
  if (depth > MOST_RECORDS) {
    return cst__fail(p->error, CST_LIMIT, "make it flatter",
                     "an Avro schema nested deeper than %d records", MOST_RECORDS);
  }
  type->visit = VISIT_OPEN;
  for (size_t i = 0; i < type->num_fields; i++) {
    cst_status status = check_ends(p, (cst__avro_type *)(uintptr_t)type->fields[i].type, depth + 1);
    CST__TRY(add_step(p, status, type->fields[i].name));
  }
  type->visit = VISIT_DONE;
  return CST_OK;
}

/* Each record is looked at once, whoever holds it. */
static cst_status check_all_ends(const parser *p) {
  for (size_t i = 0; i < p->named.num_slots; i++) {
    const cst__name_slot *slot = &p->named.slots[i];
    if (slot->name != NULL) {
      CST__TRY(check_ends(p, (cst__avro_type *)(uintptr_t)slot->value, 0));
    }
  }
  return CST_OK;
}

/* The types of a schema whose JSON is parsed. */
static cst_status parse_root(cst__avro_schema *schema, yyjson_val *root, cst_error *error) {
  parser p = {.schema = schema, .error = error};
  cst_status status = parse_type(&p, root, (space){"", 0}, &schema->root);
  if (status == CST_OK) {
    status = check_all_ends(&p);
  }
  cst__name_map_reset(&p.named);
  return status;
}

static void init_schema(cst__avro_schema *schema, const cst_allocator *allocator) {
  *schema = (cst__avro_schema){.document = {.allocator = cst__allocator_of(allocator)}};
  cst__arena_init(&schema->arena, allocator);
}

cst_status cst__avro_schema_of_json(cst__avro_schema *schema, yyjson_val *root,
                                    const cst_allocator *allocator, cst_error *error) {
  init_schema(schema, allocator);
  return parse_root(schema, root, error);
}

cst_status cst__avro_schema_parse(cst__avro_schema *schema, cst_bytes text,
                                  const cst_allocator *allocator, cst_error *error) {
  yyjson_val *root;
  init_schema(schema, allocator);
  cst__json_fault fault = {0};
  if (text.size > CST__AVRO_MAX_SCHEMA) {
    return cst__fail(error, CST_LIMIT, "divide the schema",
                     "an Avro schema of %zu bytes: more than %d", text.size, CST__AVRO_MAX_SCHEMA);
  }
  cst_status status =
      cst__json_document_parse(&schema->document, text, CST__JSON_VALUES, &root, &fault, error);
  if (status == CST_CORRUPT) {
    return cst__fail(error, CST_SCHEMA, "a schema is JSON: {\"type\": \"record\", ...}",
                     "the Avro schema is not valid JSON, at byte %zu", fault.at);
  }
  return status == CST_OK ? parse_root(schema, root, error) : status;
}

void cst__avro_schema_reset(cst__avro_schema *schema) {
  cst__json_document_reset(&schema->document);
  cst__arena_reset(&schema->arena);
  schema->root = NULL;
}
