/* Which field of a message is made of which column: names are looked up here, once for a type of
 * columns.
 */
#include <stdlib.h>

#include "base/names.h"
#include "message/encode/encoder_tree.h"
#include "message/text/well_known.h"
#include "proto/message.h"

/* ---- names ---- */

/* The owner of names in parentheses: extensions. */
static const void *extension_owner(const cst__message_def *def) { return (const char *)def + 1; }

static cst_status add_name(const cst__out_plan *plan, const void *owner, const char *name,
                           size_t value) {
  size_t size = strlen(name);
  if (cst__name_map_find_of(plan->names, owner, name, size) == SIZE_MAX &&
      !cst__name_map_add_of(plan->names, owner, name, size, value)) {
    return cst__fail_memory(plan->error, size);
  }
  return CST_OK;
}

/* Makes the names of a message's fields known, once. */
static cst_status name_message_fields(const cst__out_plan *plan, const cst__message_def *def) {
  const cst__field_def *last = def->num_fields > 0 ? &def->fields[def->num_fields - 1] : NULL;
  const void *owner =
      last != NULL && (last->flags & CST__FIELD_EXTENSION) ? extension_owner(def) : def;
  if (last == NULL ||
      cst__name_map_find_of(plan->names, owner, last->name, strlen(last->name)) != SIZE_MAX) {
    return CST_OK;
  }
  for (size_t i = 0; i < def->num_fields; i++) {
    const cst__field_def *field = &def->fields[i];
    bool is_extension = (field->flags & CST__FIELD_EXTENSION) != 0;
    CST__TRY(add_name(plan, is_extension ? extension_owner(def) : def, field->name, i));
  }
  return CST_OK;
}

static cst_status name_enum_values(const cst__out_plan *plan, const cst__enum_def *def) {
  const cst__enum_value *last = def->num_values > 0 ? &def->values[def->num_values - 1] : NULL;
  if (last == NULL ||
      cst__name_map_find_of(plan->names, def, last->name, strlen(last->name)) != SIZE_MAX) {
    return CST_OK;
  }
  for (size_t i = 0; i < def->num_values; i++) {
    CST__TRY(add_name(plan, def, def->values[i].name, i));
  }
  return CST_OK;
}

/* "(full.name)" without its parentheses; false: it has none. */
static bool in_parentheses(const char *name, const char **inner, size_t *size) {
  *size = strlen(name);
  if (*size < 3 || name[0] != '(' || name[*size - 1] != ')') {
    return false;
  }
  *inner = name + 1;
  *size -= 2;
  return true;
}

/* The field of a column's name, or NULL. */
static const cst__field_def *field_of_column(const cst__out_plan *plan, const cst__message_def *def,
                                             const char *name) {
  const char *inner = name;
  size_t size;
  const void *owner = in_parentheses(name, &inner, &size) ? extension_owner(def) : def;
  size_t at = cst__name_map_find_of(plan->names, owner, inner, size);
  return at != SIZE_MAX ? &def->fields[at] : NULL;
}

static const char *nth_encoder_field(const void *fields, size_t i) {
  return ((const cst__field_def *)fields)[i].name;
}

static cst_status fail_no_field(const cst__out_plan *plan, const cst__message_def *def,
                                const char *name) {
  const cst__name_list names = {def->fields, def->num_fields, nth_encoder_field};
  char what[256];
  snprintf(what, sizeof what, "the message %s has no such field", def->full_name);
  return cst__fail_unknown(plan->error, CST_NOT_FOUND, what, name, &names);
}

/* ---- fields ---- */

static void encode_tag(cst__out_field *field, cst__wire_type type) {
  uint8_t bytes[8 + CST__MAX_VARINT];
  uint8_t *end = bytes + sizeof bytes;
  uint8_t *at = cst__put_varint_back(end, (uint64_t)field->def->number << 3 | type);
  field->tag_size = (uint8_t)(end - at);
  memset(bytes, 0, sizeof bytes - field->tag_size);
  memcpy(&field->tag, end - 8, 8);
}

static bool is_map(const cst__field_def *def) {
  return cst__field_is_repeated(def) && def->type == CST__FIELD_MESSAGE &&
         def->message->is_map_entry;
}

static void set_field(cst__out_field *field, const cst__field_def *def, const char *name,
                      int64_t column, bool in_entry) {
  bool is_packed = cst__field_is_repeated(def) && (def->flags & CST__FIELD_PACKED) != 0;
  *field = (cst__out_field){
      .def = def,
      .name = name,
      .column = column,
      .is_required = in_entry || (def->flags & CST__FIELD_REQUIRED) != 0,
      .is_implicit = !in_entry && (def->flags & CST__FIELD_IMPLICIT) != 0,
  };
  encode_tag(field, is_packed ? CST__WIRE_LEN : cst__field_wire_type(def));
}

static void *plan_take(const cst__out_plan *plan, size_t count, size_t size) {
  size_t total;
  void *made = cst__mul(count, size, &total) ? cst__arena_take_zero(plan->arena, total) : NULL;
  if (made == NULL) {
    (void)cst__fail_memory(plan->error, count * size);
  }
  return made;
}

static const struct ArrowSchema *without_dictionary(const struct ArrowSchema *schema) {
  return schema->dictionary != NULL ? schema->dictionary : schema;
}

static bool is_struct_type(const struct ArrowSchema *schema) {
  return strcmp(schema->format, "+s") == 0;
}

/* A wrapper whose column is that of its value. */
static cst_status plan_wrapper(const cst__out_plan *plan, const cst__message_def *def,
                               cst__out_message **out) {
  cst__out_message *message = plan_take(plan, 1, sizeof *message);
  cst__out_field *field = plan_take(plan, 1, sizeof *field);
  if (message == NULL || field == NULL) {
    return CST_NO_MEMORY;
  }
  *message = (cst__out_message){
      .def = def, .fields = field, .num_fields = 1, .unknown_column = -1, .is_column = true};
  set_field(field, &def->fields[0], def->fields[0].name, 0, false);
  *out = message;
  return CST_OK;
}

static cst_status plan_map_entry(const cst__out_plan *plan, const cst__message_def *def,
                                 const struct ArrowSchema *schema, cst__out_message **out);

/* What lies below a field of messages: a tree, or nothing where the column is no struct. */
static cst_status plan_below(const cst__out_plan *plan, cst__out_field *field,
                             const struct ArrowSchema *schema) {
  const cst__message_def *def = field->def->message;
  schema = without_dictionary(schema);
  if (cst__field_is_repeated(field->def) && cst__format_is_list(schema->format)) {
    schema = without_dictionary(schema->children[0]);
  }
  if (is_map(field->def)) {
    return is_struct_type(schema) ? plan_map_entry(plan, def, schema, &field->message) : CST_OK;
  }
  if (is_struct_type(schema)) {
    return cst__out_plan_message(plan, def, schema, &field->message);
  }
  return cst__well_known_of(def) == CST__WELL_KNOWN_WRAPPER
             ? plan_wrapper(plan, def, &field->message)
             : CST_OK;
}

static cst_status plan_field(const cst__out_plan *plan, cst__out_field *field,
                             const struct ArrowSchema *schema) {
  cst_status status = CST_OK;
  if (field->def->type == CST__FIELD_ENUM) {
    field->names = plan->names;
    status = name_enum_values(plan, field->def->values);
  } else if (cst__field_is_message(field->def)) {
    status = plan_below(plan, field, schema);
  }
  if (status != CST_OK) {
    cst__error_add_path(plan->error, field->name, strlen(field->name));
  }
  return status;
}

/* The key is the first field of an entry and the value the second, unless names say otherwise. */
static cst_status plan_map_entry(const cst__out_plan *plan, const cst__message_def *def,
                                 const struct ArrowSchema *schema, cst__out_message **out) {
  if (schema->n_children != 2) {
    return cst__fail(plan->error, CST_UNSUPPORTED, NULL,
                     "an entry of a map has a key and a value, not %lld fields",
                     (long long)schema->n_children);
  }
  const char *first = schema->children[0]->name;
  const char *second = schema->children[1]->name;
  bool is_turned =
      first != NULL && second != NULL && strcmp(first, "value") == 0 && strcmp(second, "key") == 0;
  cst__out_message *message = plan_take(plan, 1, sizeof *message);
  cst__out_field *fields = plan_take(plan, 2, sizeof *fields);
  if (message == NULL || fields == NULL) {
    return CST_NO_MEMORY;
  }
  *message =
      (cst__out_message){.def = def, .fields = fields, .num_fields = 2, .unknown_column = -1};
  for (int i = 0; i < 2; i++) { /* the value first */
    const cst__field_def *field = cst__field_by_number(def, 2 - i);
    int64_t column = (i == 0) != is_turned;
    set_field(&fields[i], field, field->name, column, true);
    CST__TRY(plan_field(plan, &fields[i], schema->children[column]));
  }
  *out = message;
  return CST_OK;
}

/* ---- casts of an Any ---- */

static bool holds_any(const cst__message_def *def) {
  return cst__well_known_of(def) == CST__WELL_KNOWN_ANY;
}

static cst_status plan_cast(const cst__out_plan *plan, cst__out_message *any,
                            const struct ArrowSchema *schema, int64_t column) {
  const char *inner;
  size_t size;
  const cst__message_def *def =
      in_parentheses(schema->name, &inner, &size) && plan->descriptors != NULL
          ? cst__descriptors_find(plan->descriptors, inner, size)
          : NULL;
  if (def == NULL || !is_struct_type(without_dictionary(schema))) {
    cst_status status = def == NULL
                            ? cst__fail(plan->error, CST_NOT_FOUND, NULL,
                                        "an Any has no such field, and there is no such message")
                            : cst__fail(plan->error, CST_UNSUPPORTED, NULL,
                                        "the message %s is wanted as a struct", def->full_name);
    cst__error_add_path(plan->error, schema->name, strlen(schema->name));
    return status;
  }
  cst__out_field *cast = &any->casts[any->num_casts++];
  set_field(cast, cst__field_by_number(any->def, 2), schema->name, column, false);
  cst_status status = cst__out_plan_message(plan, def, without_dictionary(schema), &cast->message);
  if (status != CST_OK) {
    cst__error_add_path(plan->error, schema->name, strlen(schema->name));
  }
  return status;
}

/* ---- messages ---- */

/* Extensions are written first, in the order of their numbers, then the fields downwards. */
static int by_place_on_the_wire(const void *a, const void *b) {
  const cst__field_def *x = ((const cst__out_field *)a)->def;
  const cst__field_def *y = ((const cst__out_field *)b)->def;
  bool is_extension = (x->flags & CST__FIELD_EXTENSION) != 0;
  if (is_extension != ((y->flags & CST__FIELD_EXTENSION) != 0)) {
    return is_extension ? -1 : 1;
  }
  return ((x->number > y->number) - (x->number < y->number)) * (is_extension ? 1 : -1);
}

static int by_oneof(const void *a, const void *b) {
  const cst__field_def *x = (*(cst__out_field *const *)a)->def;
  const cst__field_def *y = (*(cst__out_field *const *)b)->def;
  return x->oneof != y->oneof ? (x->oneof > y->oneof ? 1 : -1)
                              : (x->number > y->number) - (x->number < y->number);
}

/* The fields of which only one may have a value: those of a oneof, next to each other. */
static cst_status plan_oneofs(const cst__out_plan *plan, cst__out_message *message) {
  size_t count = 0;
  for (size_t i = 0; i < message->num_fields; i++) {
    count += message->fields[i].def->oneof != 0;
  }
  if (count < 2) {
    return CST_OK;
  }
  message->members = plan_take(plan, count, sizeof *message->members);
  if (message->members == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < message->num_fields; i++) {
    if (message->fields[i].def->oneof != 0) {
      message->members[message->num_members++] = &message->fields[i];
    }
  }
  qsort(message->members, count, sizeof *message->members, by_oneof);
  return CST_OK;
}

/* Required fields without a column, whose absence is told when there is such a message. */
static void add_missing(cst__out_message *message) {
  size_t given = message->num_fields;
  for (size_t i = 0; i < message->def->num_fields; i++) {
    const cst__field_def *def = &message->def->fields[i];
    bool is_there = (def->flags & CST__FIELD_REQUIRED) == 0;
    for (size_t k = 0; k < given && !is_there; k++) {
      is_there = message->fields[k].def == def;
    }
    if (!is_there) {
      cst__out_field *field = &message->fields[message->num_fields++];
      set_field(field, def, def->name, -1, false);
      field->put = cst__out_put_missing;
    }
  }
}

static size_t num_required(const cst__message_def *def) {
  size_t count = 0;
  for (size_t i = 0; i < def->num_fields; i++) {
    count += (def->fields[i].flags & CST__FIELD_REQUIRED) != 0;
  }
  return count;
}

static cst_status plan_column(const cst__out_plan *plan, cst__out_message *message,
                              const struct ArrowSchema *schema, int64_t column) {
  const char *name = schema->name != NULL ? schema->name : "";
  const cst__field_def *def = field_of_column(plan, message->def, name);
  if (def == NULL && plan->unknown_fields != NULL && strcmp(name, plan->unknown_fields) == 0) {
    message->unknown_column = column;
    message->unknown_name = name;
    return CST_OK;
  }
  if (def == NULL) {
    return name[0] == '(' && holds_any(message->def) ? plan_cast(plan, message, schema, column)
                                                     : fail_no_field(plan, message->def, name);
  }
  cst__out_field *field = &message->fields[message->num_fields++];
  set_field(field, def, name, column, false);
  return plan_field(plan, field, schema);
}

cst_status cst__out_plan_message(const cst__out_plan *plan, const cst__message_def *def,
                                 const struct ArrowSchema *schema, cst__out_message **out) {
  size_t columns = (size_t)schema->n_children;
  if (def->is_message_set) {
    return cst__fail(plan->error, CST_UNSUPPORTED, "give its bytes, as a binary column",
                     "%.80s has the wire format of message sets, which is not made of columns",
                     def->full_name);
  }
  cst__out_message *message = plan_take(plan, 1, sizeof *message);
  if (message == NULL) {
    return CST_NO_MEMORY;
  }
  *message = (cst__out_message){.def = def, .unknown_column = -1};
  message->fields = plan_take(plan, columns + num_required(def), sizeof *message->fields);
  message->casts = plan_take(plan, holds_any(def) ? columns : 0, sizeof *message->casts);
  if (message->fields == NULL || message->casts == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(cst__schema_check_names(schema, plan->error));
  CST__TRY(name_message_fields(plan, def));
  for (size_t i = 0; i < columns; i++) {
    CST__TRY(plan_column(plan, message, schema->children[i], (int64_t)i));
  }
  add_missing(message);
  if (message->num_fields > 1) {
    qsort(message->fields, message->num_fields, sizeof *message->fields, by_place_on_the_wire);
  }
  CST__TRY(plan_oneofs(plan, message));
  *out = message;
  return CST_OK;
}
