/* The steps that read what one schema wrote into the columns of another: schema resolution, done
 * once for all values.
 *
 * Source: Apache Avro 1.12 Specification, "Schema Resolution".
 */
#include <stdio.h>
#include <string.h>

#include "avro/avro_program.h"

enum { MAX_STEPS = 1 << 22 };

static cst_status emit_value(cst__avro_maker *m, const cst__avro_type *type,
                             const cst__avro_column *column, cst__builder *to);

cst_status cst__avro_emit(cst__avro_maker *m, const cst__avro_step *step) {
  cst__avro_program *program = m->program;
  void *steps = program->steps;
  if (program->count == MAX_STEPS) {
    return cst__fail(m->error, CST_LIMIT, "name the columns you need",
                     "an Avro schema that takes more than %d steps to read", MAX_STEPS);
  }
  bool ok =
      cst__grow(&program->allocator, &steps, &program->capacity, program->count + 1, sizeof *step);
  program->steps = steps;
  if (!ok) {
    return cst__fail_memory(m->error, (program->count + 1) * sizeof *step);
  }
  program->steps[program->count] = *step;
  program->steps[program->count++].place = m->place;
  return CST_OK;
}

uint32_t cst__avro_label(cst__avro_maker *m) {
  m->barrier = m->program->count;
  return (uint32_t)m->program->count;
}

static cst_status emit_op(cst__avro_maker *m, cst__avro_op op, cst__builder *to) {
  return cst__avro_emit(m, &(cst__avro_step){.op = op, .to = to});
}

/* ---- what can be read as what ---- */

static bool same_name(const char *a, const char *b) {
  return strcmp(cst__avro_short_name(a), cst__avro_short_name(b)) == 0;
}

/* "Both schemas are records with the same (unqualified) name", or the reader's has it as an alias.
 */
static bool names_match(const cst__avro_type *from, const cst__avro_type *to) {
  bool found = same_name(from->name, to->name);
  for (size_t i = 0; i < to->aliases.count && !found; i++) {
    found = same_name(from->name, to->aliases.items[i]);
  }
  return found;
}

static bool is_promoted(cst__avro_kind from, cst__avro_kind to) {
  switch (from) {
    case CST__AVRO_INT:
      return to == CST__AVRO_LONG || to == CST__AVRO_FLOAT || to == CST__AVRO_DOUBLE;
    case CST__AVRO_LONG:
      return to == CST__AVRO_FLOAT || to == CST__AVRO_DOUBLE;
    case CST__AVRO_FLOAT:
      return to == CST__AVRO_DOUBLE;
    case CST__AVRO_STRING:
      return to == CST__AVRO_BYTES;
    case CST__AVRO_BYTES:
      return to == CST__AVRO_STRING;
    default:
      return false;
  }
}

/* Decimals of another scale, and times of another unit, would be other values. */
static bool means_the_same(const cst__avro_type *from, const cst__avro_type *to) {
  if (from->logical == CST__AVRO_PLAIN || to->logical == CST__AVRO_PLAIN) {
    return true;
  }
  return from->logical == to->logical && from->precision == to->precision &&
         from->scale == to->scale;
}

/* Why values of a type cannot be read as one that is no union; NULL: they can, as far as their
 * fields and items can. */
static const char *why_not(const cst__avro_type *from, const cst__avro_type *to) {
  if (from->kind != to->kind) {
    return is_promoted(from->kind, to->kind) && means_the_same(from, to) ? NULL
                                                                         : "is of another type";
  }
  switch (from->kind) {
    case CST__AVRO_RECORD:
    case CST__AVRO_ENUM:
      return names_match(from, to) ? NULL : "has another name, which is no alias";
    case CST__AVRO_FIXED:
      if (!names_match(from, to)) {
        return "has another name, which is no alias";
      }
      if (from->size != to->size) {
        return "is of another size";
      }
      break;
    default:
      break;
  }
  return means_the_same(from, to) ? NULL : "has another unit, precision or scale";
}

/* The branch of the reader's union for values of a type: one of the very type, or else the first
 * that can hold them; SIZE_MAX: there is none. */
static size_t find_branch(const cst__avro_type *from, const cst__avro_type *to) {
  size_t usable = SIZE_MAX;
  for (size_t i = 0; i < to->num_branches; i++) {
    const cst__avro_type *branch = to->branches[i];
    if (why_not(from, branch) != NULL) {
      continue;
    }
    if (from->kind == branch->kind && strcmp(from->name, branch->name) == 0) {
      return i;
    }
    bool is_better = usable == SIZE_MAX ||
                     (from->kind == branch->kind && to->branches[usable]->kind != from->kind);
    usable = is_better ? i : usable;
  }
  return usable;
}

/* A value that cannot be read: an error at once, or, of one type among several, when it comes. */
static cst_status emit_misfit(cst__avro_maker *m, const cst__avro_type *from, const char *to,
                              const char *why) {
  char text[200];
  snprintf(text, sizeof text, "the file has %s, which cannot be read as %s: it %s",
           cst__avro_kind_name(from->kind), to, why);
  if (m->branches == 0) {
    return cst__fail(m->error, CST_SCHEMA,
                     "give a schema that can read the file's, or read the file by its own", "%s",
                     text);
  }
  const char *kept = cst__arena_copy(&m->program->arena, text, strlen(text));
  if (kept == NULL) {
    return cst__fail_memory(m->error, sizeof text);
  }
  return cst__avro_emit(m, &(cst__avro_step){.op = CST__AVRO_FAIL, .text = kept});
}

/* ---- values ---- */

static cst__avro_op op_of_number(cst__avro_kind from, const cst__avro_type *type) {
  const cst__avro_kind to = type->kind;
  switch (from) {
    case CST__AVRO_INT:
      return type->logical == CST__AVRO_TIME_MILLIS ? CST__AVRO_PUT_TIME_MILLIS
             : to == CST__AVRO_INT                  ? CST__AVRO_PUT_INT
             : to == CST__AVRO_LONG                 ? CST__AVRO_PUT_INT_AS_LONG
             : to == CST__AVRO_FLOAT                ? CST__AVRO_PUT_INT_AS_FLOAT
                                                    : CST__AVRO_PUT_INT_AS_DOUBLE;
    case CST__AVRO_LONG:
      return type->logical == CST__AVRO_TIME_MICROS ? CST__AVRO_PUT_TIME_MICROS
             : to == CST__AVRO_LONG                 ? CST__AVRO_PUT_LONG
             : to == CST__AVRO_FLOAT                ? CST__AVRO_PUT_LONG_AS_FLOAT
                                                    : CST__AVRO_PUT_LONG_AS_DOUBLE;
    case CST__AVRO_FLOAT:
      return to == CST__AVRO_FLOAT ? CST__AVRO_PUT_FLOAT : CST__AVRO_PUT_FLOAT_AS_DOUBLE;
    default:
      return CST__AVRO_PUT_DOUBLE;
  }
}

static bool is_decimal(const cst__builder *to) { return to->type->format[0] == 'd'; }

static cst_status emit_bytes(cst__avro_maker *m, const cst__avro_type *to_type, cst__builder *to) {
  cst__avro_op op = to_type->kind == CST__AVRO_STRING ? CST__AVRO_PUT_STRING
                    : is_decimal(to)                  ? CST__AVRO_PUT_DECIMAL
                                                      : CST__AVRO_PUT_BYTES;
  return cst__avro_emit(m, &(cst__avro_step){.op = op, .to = to, .number = -1});
}

static cst_status emit_fixed(cst__avro_maker *m, const cst__avro_type *type, cst__builder *to) {
  cst__avro_op op = is_decimal(to)                         ? CST__AVRO_PUT_DECIMAL
                    : strcmp(to->type->format, "tin") == 0 ? CST__AVRO_PUT_DURATION
                                                           : CST__AVRO_PUT_FIXED;
  return cst__avro_emit(m, &(cst__avro_step){.op = op, .to = to, .number = (int64_t)type->size});
}

/* The symbols of the reader's enum, by name; a dictionary has them all. */
static cst_status note_symbols(cst__avro_maker *m, const cst__avro_type *type, cst__builder *to,
                               cst__name_map *symbols) {
  for (size_t i = 0; i < type->symbols.count; i++) {
    const char *symbol = type->symbols.items[i];
    int64_t ignored;
    if (to->dictionary != NULL) {
      CST__TRY(cst__builder_intern(to, symbol, strlen(symbol), &ignored, m->error));
    }
    if (!cst__name_map_add(symbols, symbol, strlen(symbol), i)) {
      return cst__fail_memory(m->error, 64);
    }
  }
  return CST_OK;
}

/* "If the symbol is not present in the reader's enum and the reader has a default value, then that
 * value is used." SIZE_MAX: there is none. */
static size_t find_symbol(const cst__avro_type *type, const cst__name_map *symbols,
                          const char *symbol) {
  size_t found = cst__name_map_find(symbols, symbol, strlen(symbol));
  return found != SIZE_MAX ? found : type->standard;
}

static cst_status emit_numbers(cst__avro_maker *m, const cst__avro_type *from,
                               const cst__avro_type *type, const cst__name_map *symbols,
                               cst__builder *to) {
  size_t count = from->symbols.count;
  int32_t *indices = cst__arena_take(&m->program->arena, (count + 1) * sizeof *indices);
  if (indices == NULL) {
    return cst__fail_memory(m->error, count);
  }
  for (size_t i = 0; i < count; i++) {
    size_t found = find_symbol(type, symbols, from->symbols.items[i]);
    indices[i] = found != SIZE_MAX ? (int32_t)found : -1;
  }
  return cst__avro_emit(
      m, &(cst__avro_step){
             .op = CST__AVRO_PUT_ENUM, .to = to, .number = (int64_t)count, .indices = indices});
}

static cst_status emit_symbols(cst__avro_maker *m, const cst__avro_type *from,
                               const cst__avro_type *type, const cst__name_map *symbols,
                               cst__builder *to) {
  size_t count = from->symbols.count;
  cst_bytes *texts = cst__arena_take(&m->program->arena, (count + 1) * sizeof *texts);
  if (texts == NULL) {
    return cst__fail_memory(m->error, count);
  }
  for (size_t i = 0; i < count; i++) {
    size_t found = find_symbol(type, symbols, from->symbols.items[i]);
    const char *text = found != SIZE_MAX ? type->symbols.items[found] : NULL;
    texts[i] = (cst_bytes){(const uint8_t *)text, text != NULL ? strlen(text) : 0};
  }
  return cst__avro_emit(
      m, &(cst__avro_step){
             .op = CST__AVRO_PUT_SYMBOL, .to = to, .number = (int64_t)count, .bytes = texts});
}

static cst_status emit_enum(cst__avro_maker *m, const cst__avro_type *from,
                            const cst__avro_type *type, cst__builder *to) {
  bool is_number = to->type->layout == CST__LAYOUT_NUMBER;
  cst__name_map symbols = {0};
  cst_status status = note_symbols(m, type, to, &symbols);
  if (status == CST_OK) {
    status = (is_number ? emit_numbers : emit_symbols)(m, from, type, &symbols, to);
  }
  cst__name_map_reset(&symbols);
  return status;
}

/* ---- lists, maps ---- */

/* A list of items, or of entries: the steps of one stand between LIST and NEXT. */
typedef struct list_steps {
  size_t list;
  uint32_t first;
  int64_t least;
  bool lacked;
} list_steps;

static cst_status begin_list(cst__avro_maker *m, const cst__avro_type *type, cst__builder *to,
                             list_steps *out) {
  out->list = m->program->count;
  out->least = (type->kind == CST__AVRO_MAP) + cst__avro_least_size(m, type->items);
  out->lacked = m->lacks;
  m->lacks = false;
  CST__TRY(
      cst__avro_emit(m, &(cst__avro_step){.op = CST__AVRO_LIST, .to = to, .number = out->least}));
  out->first = cst__avro_label(m);
  return CST_OK;
}

static bool is_read_in_lists(cst__avro_op op) {
  return op == CST__AVRO_PUT_LONG || op == CST__AVRO_PUT_INT || op == CST__AVRO_PUT_FLOAT ||
         op == CST__AVRO_PUT_DOUBLE || op == CST__AVRO_PUT_STRING;
}

/* Most lists are of one kind of values, whose steps become one, or of structs, which nobody looks
 * at before the block ends: their own steps go. */
static cst_status end_list(cst__avro_maker *m, const cst__avro_column *items, cst__builder *to,
                           const list_steps *list) {
  cst__avro_program *program = m->program;
  cst__avro_op op = CST__AVRO_NEXT;
  const cst__avro_step *last = &program->steps[program->count - 1];
  bool is_struct = items->type == NULL || items->type->kind == CST__AVRO_RECORD;
  if (is_struct && program->count > m->barrier && last->op == CST__AVRO_END_STRUCT &&
      last->to == &to->children[0]) {
    program->count--;
    op = CST__AVRO_NEXT_STRUCT;
  } else if (program->count == list->first + 1 && is_read_in_lists(last->op)) {
    program->steps[list->list].op = CST__AVRO_LIST_OF;
  }
  m->lacks = list->lacked;
  CST__TRY(cst__avro_emit(
      m, &(cst__avro_step){.op = op, .to = to, .number = list->least, .jump = list->first}));
  program->steps[list->list].jump = cst__avro_label(m);
  return CST_OK;
}

static cst_status emit_list(cst__avro_maker *m, const cst__avro_type *type,
                            const cst__avro_column *column, cst__builder *to) {
  list_steps steps;
  CST__TRY(begin_list(m, type, to, &steps));
  CST__TRY(emit_value(m, type->items, &column->children[0], &to->children[0]));
  return end_list(m, &column->children[0], to, &steps);
}

static cst_status emit_map(cst__avro_maker *m, const cst__avro_type *type,
                           const cst__avro_column *column, cst__builder *to) {
  static const cst__avro_type key = {.kind = CST__AVRO_STRING, .name = "string"};
  const cst__avro_column *entries = &column->children[0];
  list_steps steps;
  CST__TRY(begin_list(m, type, to, &steps));
  for (size_t member = 0; member < 2; member++) {
    const cst__avro_type *inner = member == 0 ? &key : type->items;
    bool is_wanted = false;
    for (size_t i = 0; i < entries->num_children; i++) {
      if (entries->children[i].member == member) {
        CST__TRY(emit_value(m, inner, &entries->children[i], &to->children[0].children[i]));
        is_wanted = true;
      }
    }
    CST__TRY(is_wanted ? CST_OK : cst__avro_emit_skip(m, inner));
  }
  CST__TRY(emit_op(m, CST__AVRO_END_STRUCT, &to->children[0]));
  return end_list(m, entries, to, &steps);
}

/* ---- records ---- */

enum { UNWANTED = SIZE_MAX - 1 };

/* Which child each field of the writer goes to, SIZE_MAX: none; and which children get none. */
typedef struct field_map {
  size_t *children;
  bool *is_written;
} field_map;

static cst_status add_name(cst__avro_maker *m, cst__name_map *map, const char *name, size_t value) {
  size_t size = strlen(name);
  bool is_new = cst__name_map_find(map, name, size) == SIZE_MAX;
  return !is_new || cst__name_map_add(map, name, size, value) ? CST_OK
                                                              : cst__fail_memory(m->error, size);
}

/* The names that the reader's fields have in the writer's schema: their own, and where it has no
 * such field, their aliases. */
static cst_status name_fields(cst__avro_maker *m, const cst__avro_type *from,
                              const cst__avro_column *column, cst__name_map *map) {
  const cst__avro_type *type = column->type;
  cst__name_map written = {0};
  cst_status status = CST_OK;
  for (size_t i = 0; i < column->num_children && status == CST_OK; i++) {
    status = add_name(m, map, type->fields[column->children[i].member].name, i);
  }
  for (size_t i = 0; i < type->num_fields && status == CST_OK; i++) {
    status = add_name(m, map, type->fields[i].name, UNWANTED);
  }
  for (size_t i = 0; i < from->num_fields && status == CST_OK; i++) {
    status = add_name(m, &written, from->fields[i].name, i);
  }
  for (size_t i = 0; i < column->num_children && status == CST_OK; i++) {
    const cst__avro_field *field = &type->fields[column->children[i].member];
    bool has_own = cst__name_map_find(&written, field->name, strlen(field->name)) != SIZE_MAX;
    for (size_t k = 0; !has_own && k < field->aliases.count && status == CST_OK; k++) {
      status = add_name(m, map, field->aliases.items[k], i);
    }
  }
  cst__name_map_reset(&written);
  return status;
}

static cst_status map_fields(cst__avro_maker *m, const cst__avro_type *from,
                             const cst__avro_column *column, field_map *out) {
  cst__arena *arena = &m->program->arena;
  out->children = cst__arena_take(arena, (from->num_fields + 1) * sizeof *out->children);
  out->is_written = cst__arena_take_zero(arena, column->num_children + 1);
  if (out->children == NULL || out->is_written == NULL) {
    return cst__fail_memory(m->error, from->num_fields);
  }
  cst__name_map map = {0};
  cst_status status = name_fields(m, from, column, &map);
  for (size_t i = 0; i < from->num_fields && status == CST_OK; i++) {
    const char *name = from->fields[i].name;
    size_t child = cst__name_map_find(&map, name, strlen(name));
    bool is_read = child < column->num_children && !out->is_written[child];
    out->children[i] = is_read ? child : SIZE_MAX;
    if (is_read) {
      out->is_written[child] = true;
    }
  }
  cst__name_map_reset(&map);
  return status;
}

static cst_status enter_field(cst__avro_maker *m, const char *name) {
  cst__avro_place *place = cst__arena_take(&m->program->arena, sizeof *place);
  if (place == NULL) {
    return cst__fail_memory(m->error, sizeof *place);
  }
  *place = (cst__avro_place){name, m->place};
  m->place = place;
  return CST_OK;
}

/* The default of a field, read by the steps that read the field. */
static cst_status emit_default(cst__avro_maker *m, const cst__avro_field *field,
                               const cst__avro_column *column, cst__builder *to) {
  if (field->standard == NULL) {
    return cst__fail(m->error, CST_SCHEMA, "give the field a default, or leave it out",
                     "the field is missing from the file and has no default in the schema");
  }
  cst__text bytes = {.allocator = m->program->allocator};
  cst_bytes *kept = cst__arena_take(&m->program->arena, sizeof *kept);
  cst_status status = kept != NULL
                          ? cst__avro_default_bytes(field->type, field->standard, &bytes, m->error)
                          : cst__fail_memory(m->error, sizeof *kept);
  uint8_t *copy = status == CST_OK
                      ? cst__arena_take_zero(&m->program->arena, bytes.size + CST__AVRO_SLACK)
                      : NULL;
  if (copy != NULL && bytes.size > 0) {
    memcpy(copy, bytes.data, bytes.size);
  }
  if (status == CST_OK && copy == NULL) {
    status = cst__fail_memory(m->error, bytes.size);
  }
  size_t size = bytes.size;
  cst__text_free(&bytes);
  CST__TRY(status);
  *kept = (cst_bytes){copy, size};
  CST__TRY(cst__avro_emit(m, &(cst__avro_step){.op = CST__AVRO_DEFAULT, .bytes = kept}));
  CST__TRY(emit_value(m, field->type, column, to));
  return emit_op(m, CST__AVRO_RESTORE, NULL);
}

static cst_status emit_fields(cst__avro_maker *m, const cst__avro_type *from,
                              const cst__avro_column *column, cst__builder *to) {
  const cst__avro_place *above = m->place;
  field_map map;
  CST__TRY(map_fields(m, from, column, &map));
  for (size_t i = 0; i < from->num_fields; i++) {
    const cst__avro_field *field = &from->fields[i];
    size_t child = map.children[i];
    CST__TRY(enter_field(m, field->name));
    cst_status status = child == SIZE_MAX ? cst__avro_emit_skip(m, field->type)
                                          : emit_value(m, field->type, &column->children[child],
                                                       &to->children[child]);
    m->place = above;
    if (status != CST_OK) {
      cst__error_add_path(m->error, field->name, strlen(field->name));
      return status;
    }
  }
  for (size_t i = 0; i < column->num_children; i++) {
    const cst__avro_field *field = &column->type->fields[column->children[i].member];
    if (map.is_written[i]) {
      continue;
    }
    CST__TRY(enter_field(m, field->name));
    cst_status status = emit_default(m, field, &column->children[i], &to->children[i]);
    m->place = above;
    if (status != CST_OK) {
      cst__error_add_path(m->error, field->name, strlen(field->name));
      return status;
    }
  }
  return CST_OK;
}

static cst_status emit_record(cst__avro_maker *m, const cst__avro_type *from,
                              const cst__avro_column *column, cst__builder *to) {
  bool lacked = m->lacks;
  m->lacks |= column->is_nullable;
  if (m->lacks) {
    CST__TRY(emit_op(m, CST__AVRO_ALIGN, to));
  }
  CST__TRY(emit_fields(m, from, column, to));
  m->lacks = lacked;
  return emit_op(m, CST__AVRO_END_STRUCT, to);
}

/* ---- unions ---- */

/* A value into one child of a struct of branches. */
static cst_status emit_into_branch(cst__avro_maker *m, const cst__avro_type *from,
                                   const cst__avro_column *column, cst__builder *to) {
  size_t branch = find_branch(from, column->type);
  if (branch == SIZE_MAX) {
    return emit_misfit(m, from, "union", "is none of its types");
  }
  bool lacked = m->lacks;
  size_t child = 0;
  while (child < column->num_children && column->children[child].member != branch) {
    child++;
  }
  if (child == column->num_children) {
    CST__TRY(cst__avro_emit_skip(m, from));
  } else {
    cst__builder *value = &to->children[child];
    m->lacks = true;
    CST__TRY(cst__avro_emit(m, &(cst__avro_step){.op = CST__AVRO_PAD, .to = value, .parent = to}));
    CST__TRY(emit_value(m, from, &column->children[child], value));
    m->lacks = lacked;
  }
  return emit_op(m, CST__AVRO_END_STRUCT, to);
}

static cst__avro_op nullable_with(cst__avro_op op) {
  return op == CST__AVRO_PUT_LONG     ? CST__AVRO_NULLABLE_LONG
         : op == CST__AVRO_PUT_DOUBLE ? CST__AVRO_NULLABLE_DOUBLE
         : op == CST__AVRO_PUT_STRING ? CST__AVRO_NULLABLE_STRING
                                      : CST__AVRO_NULLABLE;
}

/* A union of the writer's. */
static cst_status emit_union(cst__avro_maker *m, const cst__avro_type *from,
                             const cst__avro_column *column, cst__builder *to) {
  size_t null_branch = cst__avro_null_branch(from);
  size_t at = m->program->count;
  if (null_branch != SIZE_MAX && column->is_nullable) {
    CST__TRY(cst__avro_emit(
        m, &(cst__avro_step){.op = CST__AVRO_NULLABLE, .to = to, .number = (int64_t)null_branch}));
    (void)cst__avro_label(m);
    m->branches++;
    CST__TRY(emit_value(m, from->branches[1 - null_branch], column, to));
    m->branches--;
    m->program->steps[at].op = nullable_with(m->program->steps[at + 1].op);
    m->program->steps[at].jump = cst__avro_label(m);
    return CST_OK;
  }
  uint32_t *jumps = cst__arena_take(&m->program->arena, from->num_branches * sizeof *jumps);
  size_t *ends = cst__arena_take(&m->program->arena, from->num_branches * sizeof *ends);
  if (jumps == NULL || ends == NULL) {
    return cst__fail_memory(m->error, from->num_branches * sizeof *ends);
  }
  CST__TRY(cst__avro_emit(
      m, &(cst__avro_step){
             .op = CST__AVRO_BRANCH, .number = (int64_t)from->num_branches, .jumps = jumps}));
  m->branches++;
  for (size_t i = 0; i < from->num_branches; i++) {
    jumps[i] = cst__avro_label(m);
    CST__TRY(emit_value(m, from->branches[i], column, to));
    ends[i] = m->program->count;
    CST__TRY(cst__avro_emit(m, &(cst__avro_step){.op = CST__AVRO_JUMP}));
  }
  m->branches--;
  for (size_t i = 0; i < from->num_branches; i++) {
    m->program->steps[ends[i]].jump = cst__avro_label(m);
  }
  return CST_OK;
}

/* ---- all ---- */

/* A value of a type that can be read as the column's. */
static cst_status emit_kind(cst__avro_maker *m, const cst__avro_type *from,
                            const cst__avro_column *column, cst__builder *to) {
  const cst__avro_type *type = column->type;
  switch (type->kind) {
    case CST__AVRO_BOOLEAN:
      return emit_op(m, CST__AVRO_PUT_BOOLEAN, to);
    case CST__AVRO_INT:
    case CST__AVRO_LONG:
    case CST__AVRO_FLOAT:
    case CST__AVRO_DOUBLE:
      return emit_op(m, op_of_number(from->kind, type), to);
    case CST__AVRO_BYTES:
    case CST__AVRO_STRING:
      return emit_bytes(m, type, to);
    case CST__AVRO_FIXED:
      return emit_fixed(m, type, to);
    case CST__AVRO_ENUM:
      return emit_enum(m, from, type, to);
    case CST__AVRO_ARRAY:
      return emit_list(m, from, column, to);
    case CST__AVRO_MAP:
      return emit_map(m, from, column, to);
    case CST__AVRO_RECORD:
      return emit_record(m, from, column, to);
    case CST__AVRO_NULL:
    case CST__AVRO_UNION:
      break;
  }
  return emit_op(m, CST__AVRO_PUT_NULL, to);
}

static cst_status emit_value(cst__avro_maker *m, const cst__avro_type *type,
                             const cst__avro_column *column, cst__builder *to) {
  if (type->kind == CST__AVRO_UNION) {
    return emit_union(m, type, column, to);
  }
  if (type->kind == CST__AVRO_NULL) {
    return column->is_nullable ? emit_op(m, CST__AVRO_PUT_NULL, to)
                               : emit_misfit(m, type, cst__avro_kind_name(column->type->kind),
                                             "is null, but the schema does not allow null");
  }
  if (column->type->kind == CST__AVRO_UNION) {
    return emit_into_branch(m, type, column, to);
  }
  const char *why = why_not(type, column->type);
  if (why != NULL) {
    return emit_misfit(m, type, cst__avro_kind_name(column->type->kind), why);
  }
  if (column->is_bytes) {
    CST__TRY(emit_op(m, CST__AVRO_CAPTURE, NULL));
    CST__TRY(cst__avro_emit_skip(m, type));
    return emit_op(m, CST__AVRO_CAPTURED, to);
  }
  return emit_kind(m, type, column, to);
}

static cst_status emit_top(cst__avro_maker *m, const cst__avro_type *type,
                           const cst__avro_columns *columns, cst__builder *root) {
  if (columns->top.type != NULL) {
    CST__TRY(emit_value(m, type, &columns->top, root));
    return emit_op(m, CST__AVRO_STOP, root);
  }
  bool is_wanted = columns->top.num_children > 0;
  CST__TRY(is_wanted ? emit_value(m, type, &columns->top.children[0], &root->children[0])
                     : cst__avro_emit_skip(m, type));
  CST__TRY(emit_op(m, CST__AVRO_END_STRUCT, root));
  return emit_op(m, CST__AVRO_STOP, root);
}

cst_status cst__avro_program_init(cst__avro_program *program, const cst__avro_schema *writer,
                                  const cst__avro_columns *columns, cst__batch_builder *batch,
                                  const cst_allocator *allocator, cst_error *error) {
  *program = (cst__avro_program){.allocator = cst__allocator_of(allocator)};
  cst__arena_init(&program->arena, allocator);
  cst__avro_maker m = {.program = program, .error = error};
  program->least = cst__avro_least_size(&m, writer->root);
  cst_status status = emit_top(&m, writer->root, columns, batch->root);
  if (status == CST_OK) {
    status = cst__avro_emit_calls(&m);
  }
  if (status == CST_OK && m.no_memory) {
    status = cst__fail_memory(error, 64);
  }
  cst__name_map_reset(&m.sizes);
  cst__name_map_reset(&m.skips);
  cst__delete(m.calls);
  return status;
}

void cst__avro_program_reset(cst__avro_program *program) {
  cst__arena_reset(&program->arena);
  cst__delete(program->steps);
  *program = (cst__avro_program){0};
}
