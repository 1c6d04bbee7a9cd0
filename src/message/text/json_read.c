/* Messages of protobuf's JSON: objects, their fields, lists and maps. */
#include "message/text/json_read.h"

#include <stdio.h>
#include <string.h>

#include "base/names.h"

void cst__json_reader_init(cst__json_reader *reader, const cst_message_options *options,
                           const cst_allocator *allocator) {
  *reader = (cst__json_reader){
      .descriptors = options->descriptors,
      .ignores_unknown = (options->flags & CST_MESSAGE_IGNORE_UNKNOWN) != 0,
  };
  reader->json.document.allocator = cst__allocator_of(allocator);
}

void cst__json_reader_reset(cst__json_reader *reader) {
  cst__json_doc_reset(&reader->json);
  cst__name_map_reset(&reader->names);
}

/* ---- errors ---- */

cst_status cst__json_reading_fail(const cst__json_reading *r, const char *hint, const char *fmt,
                                  ...) {
  char text[192];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  (void)cst__fail(r->error, CST_CORRUPT, hint, "%s", text);
  return cst__json_doc_fail_at(&r->reader->json, r->place, CST_CORRUPT, r->error);
}

cst_status cst__json_reading_no_memory(const cst__json_reading *r) {
  return cst__fail_memory(r->error, 64);
}

static cst_status add_json_step(const cst__json_reading *r, cst_status status, const char *step) {
  if (status == CST_CORRUPT) {
    cst__error_add_path(r->error, step, strlen(step));
  }
  return status;
}

static const char *nth_json_name(const void *items, size_t i) {
  return cst__field_json_name(&((const cst__field_def *)items)[i]);
}

static __attribute__((noinline)) cst_status fail_json_name(const cst__json_reading *r,
                                                           const cst__message_def *def,
                                                           yyjson_val *key) {
  char name[64];
  char hint[CST__NEAR_HINT];
  cst__escape(name, sizeof name, unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key));
  cst__name_list names = {def->fields, def->num_fields, nth_json_name};
  return cst__json_reading_fail(r, cst__near_hint(hint, name, &names), "%s has no field '%s'",
                                def->full_name, name);
}

/* ---- names ---- */

/* Extensions have names of their own beside those of the fields. */
static const void *extensions_of(const cst__message_def *def) { return (const char *)def + 1; }

static bool add_json_name(cst__json_reader *reader, const void *owner, const char *name, size_t i) {
  size_t size = strlen(name);
  return size == 0 || cst__name_map_find_of(&reader->names, owner, name, size) != SIZE_MAX ||
         cst__name_map_add_of(&reader->names, owner, name, size, i);
}

/* The names of JSON come before those of the declaration. */
static bool add_message_names(cst__json_reader *reader, const cst__message_def *def) {
  bool done = true;
  for (size_t i = 0; done && i < def->num_fields; i++) {
    const cst__field_def *field = &def->fields[i];
    done = (field->flags & CST__FIELD_EXTENSION) != 0
               ? add_json_name(reader, extensions_of(def), field->name, i)
               : add_json_name(reader, def, cst__field_json_name(field), i);
  }
  for (size_t i = 0; done && i < def->num_fields; i++) {
    done = (def->fields[i].flags & CST__FIELD_EXTENSION) != 0 ||
           add_json_name(reader, def, def->fields[i].name, i);
  }
  return done;
}

/* Its names are in the map from now on, and under the empty name which of the well-known it is.
 * False if out of memory. */
static bool learn_message(cst__json_reader *reader, const cst__message_def *def, size_t *known) {
  *known = cst__name_map_find_of(&reader->names, def, "", 0);
  if (*known != SIZE_MAX) {
    return true;
  }
  *known = (size_t)cst__well_known_of(def);
  return add_message_names(reader, def) && cst__name_map_add_of(&reader->names, def, "", 0, *known);
}

static const cst__field_def *find_json_field(const cst__json_reader *reader,
                                             const cst__message_def *def, yyjson_val *key) {
  const char *name = unsafe_yyjson_get_str(key);
  size_t size = unsafe_yyjson_get_len(key);
  if (size == 0) {
    return NULL;
  }
  size_t at = cst__name_map_find_of(&reader->names, def, name, size);
  if (at == SIZE_MAX && size > 2 && name[0] == '[' && name[size - 1] == ']') {
    at = cst__name_map_find_of(&reader->names, extensions_of(def), name + 1, size - 2);
  }
  return at != SIZE_MAX ? &def->fields[at] : NULL;
}

/* ---- values ---- */

static cst_status put_json_value(const cst__json_reading *r, cst__message *message,
                                 const cst__field_def *def, cst__value value) {
  return cst__message_put(r->arena, message, def, value) ? CST_OK : cst__json_reading_no_memory(r);
}

/* A value of the field's type; *out is new. */
static cst_status read_json_value(cst__json_reading *r, const cst__field_def *def,
                                  yyjson_val *value, int depth, cst__value *out) {
  if (!cst__field_is_message(def)) {
    return cst__json_read_scalar(r, def, value, out);
  }
  out->message = cst__message_new(r->arena, def->message);
  return out->message != NULL ? cst__json_read_message(r, value, out->message, depth)
                              : cst__json_reading_no_memory(r);
}

/* Reads a value of the field and puts it into the message, but for a name that its enum does not
 * have, if these are ignored. */
static cst_status read_and_put(cst__json_reading *r, cst__message *message,
                               const cst__field_def *def, yyjson_val *value, int depth) {
  cst__value one = {.u = 0};
  CST__TRY(read_json_value(r, def, value, depth, &one));
  bool is_left_out = def->type == CST__FIELD_ENUM && r->is_unknown;
  return is_left_out ? CST_OK : put_json_value(r, message, def, one);
}

/* Whether null is a value of the field, and not its absence. */
static bool null_is_value(const cst__field_def *def) {
  return cst__field_is_message(def)
             ? cst__well_known_of(def->message) == CST__WELL_KNOWN_VALUE
             : def->type == CST__FIELD_ENUM &&
                   strcmp(def->values->full_name, "google.protobuf.NullValue") == 0;
}

static cst_status check_item(const cst__json_reading *r, const cst__field_def *def,
                             yyjson_val *item) {
  if (yyjson_is_null(item) && !(cst__field_is_message(def) && null_is_value(def))) {
    return cst__json_reading_fail(r, "leave it out", "null among the values of '%s'", def->name);
  }
  return CST_OK;
}

static cst_status read_json_list(cst__json_reading *r, cst__message *message,
                                 const cst__field_def *def, yyjson_val *list, int depth) {
  yyjson_val *place = r->place;
  size_t i;
  size_t count;
  yyjson_val *item;
  if (!yyjson_is_arr(list)) {
    return cst__json_reading_fail(r, NULL, "%s, expected a list of %s", cst__json_kind(list),
                                  cst__field_type_name(def));
  }
  yyjson_arr_foreach(list, i, count, item) {
    r->place = place;
    CST__TRY(check_item(r, def, item));
    CST__TRY(read_and_put(r, message, def, item, depth));
  }
  return CST_OK;
}

static cst_status read_json_entry(cst__json_reading *r, const cst__field_def *def, yyjson_val *key,
                                  int depth, cst__message *entry) {
  const cst__field_def *key_def = cst__field_by_number(entry->def, 1);
  const cst__field_def *value_def = cst__field_by_number(entry->def, 2);
  cst__value value = {.u = 0};
  r->place = key;
  CST__TRY(add_json_step(r, cst__json_read_map_key(r, key_def, key, &value), "key"));
  CST__TRY(put_json_value(r, entry, key_def, value));
  cst_status status = CST_OK;
  if (yyjson_is_null(key + 1) && !(cst__field_is_message(value_def) && null_is_value(value_def))) {
    status = cst__json_reading_fail(r, "leave it out", "null among the values of '%s'", def->name);
  }
  status = status == CST_OK ? read_and_put(r, entry, value_def, key + 1, depth) : status;
  return add_json_step(r, status, "value");
}

/* No key may be there twice. */
static cst_status check_keys(cst__json_reading *r, yyjson_val *object) {
  cst__json_doc *json = &r->reader->json;
  size_t first = json->num_stack;
  CST__TRY(cst__json_doc_push_keys(json, object, r->error));
  json->num_stack = first;
  return CST_OK;
}

static cst_status read_json_map(cst__json_reading *r, cst__message *message,
                                const cst__field_def *def, yyjson_val *object, int depth) {
  size_t i;
  size_t count;
  yyjson_val *key;
  yyjson_val *value;
  if (!yyjson_is_obj(object)) {
    return cst__json_reading_fail(r, NULL, "%s, expected an object: '%s' is a map",
                                  cst__json_kind(object), def->name);
  }
  CST__TRY(check_keys(r, object));
  yyjson_obj_foreach(object, i, count, key, value) {
    cst__message *entry = cst__message_new(r->arena, def->message);
    if (entry == NULL) {
      return cst__json_reading_no_memory(r);
    }
    CST__TRY(read_json_entry(r, def, key, depth, entry));
    if (cst__message_find(entry, 2) != NULL) { /* else its value is left out, and so is it */
      CST__TRY(put_json_value(r, message, def, (cst__value){.message = entry}));
    }
  }
  return CST_OK;
}

/* ---- fields ---- */

/* A field may be given once, under one of its names, and one member of a oneof. */
static cst_status check_is_unset(const cst__json_reading *r, const cst__message *message,
                                 const cst__field_def *def) {
  if (cst__message_find(message, def->number) != NULL) {
    return cst__json_reading_fail(r, "remove one of them", "%s has '%s' twice",
                                  message->def->full_name, def->name);
  }
  for (const cst__field *field = message->first; def->oneof != 0 && field != NULL;
       field = field->next) {
    if (field->def->oneof == def->oneof) {
      return cst__json_reading_fail(r, "only one field of a oneof can be set",
                                    "'%s' and '%s' are both members of the oneof '%s'",
                                    field->def->name, def->name,
                                    message->def->oneofs[def->oneof - 1]);
    }
  }
  return CST_OK;
}

static cst_status read_json_field(cst__json_reading *r, cst__message *message,
                                  const cst__field_def *def, yyjson_val *value, int depth) {
  bool is_list = cst__field_is_repeated(def);
  if (yyjson_is_null(value) && (is_list || !null_is_value(def))) {
    return CST_OK; /* absent */
  }
  CST__TRY(check_is_unset(r, message, def));
  if (is_list) {
    return cst__field_is_message(def) && def->message->is_map_entry
               ? read_json_map(r, message, def, value, depth)
               : read_json_list(r, message, def, value, depth);
  }
  return yyjson_is_null(value) && !cst__field_is_message(def)
             ? put_json_value(r, message, def, (cst__value){.u = 0})
             : read_and_put(r, message, def, value, depth);
}

static cst_status read_json_fields(cst__json_reading *r, yyjson_val *object, cst__message *message,
                                   const char *skipped, int depth) {
  size_t i;
  size_t count;
  yyjson_val *key;
  yyjson_val *value;
  if (!yyjson_is_obj(object)) {
    return cst__json_reading_fail(r, NULL, "%s, expected an object: %s", cst__json_kind(object),
                                  message->def->full_name);
  }
  CST__TRY(check_keys(r, object));
  yyjson_obj_foreach(object, i, count, key, value) {
    if (skipped != NULL && unsafe_yyjson_equals_str(key, skipped)) {
      continue;
    }
    r->place = key;
    const cst__field_def *def = find_json_field(r->reader, message->def, key);
    if (def == NULL && r->reader->ignores_unknown) {
      continue;
    }
    if (def == NULL) {
      return fail_json_name(r, message->def, key);
    }
    if (message->def->is_message_set) {
      return cst__json_reading_fail(r, "read the wire format",
                                    "a message set, whose extensions are not read from JSON");
    }
    cst_status status = read_json_field(r, message, def, value, depth);
    if (status == CST_CORRUPT) {
      cst__error_add_field(r->error, def);
    }
    CST__TRY(status);
  }
  return CST_OK;
}

cst_status cst__json_read_message(cst__json_reading *r, yyjson_val *value, cst__message *message,
                                  int depth) {
  size_t known;
  if (!learn_message(r->reader, message->def, &known)) {
    return cst__json_reading_no_memory(r);
  }
  if (depth == 0) {
    return cst__json_reading_fail(r, NULL, "messages are nested deeper than %d levels",
                                  (int)CST__DEPTH_LIMIT);
  }
  return known != CST__WELL_KNOWN_NONE
             ? cst__json_read_known(r, (cst__well_known)known, value, message, depth - 1)
             : read_json_fields(r, value, message, NULL, depth - 1);
}

cst_status cst__json_read_fields(cst__json_reading *r, yyjson_val *object, cst__message *message,
                                 const char *skipped, int depth) {
  size_t known;
  return learn_message(r->reader, message->def, &known)
             ? read_json_fields(r, object, message, skipped, depth)
             : cst__json_reading_no_memory(r);
}

cst_status cst__message_read_json(cst__json_reader *reader, cst__arena *arena,
                                  cst__message *message, cst_bytes text, cst_error *error) {
  cst__json_reading r = {.reader = reader, .arena = arena, .error = error};
  yyjson_val *root;
  CST__TRY(cst__json_doc_parse(&reader->json, text, &root, error));
  return cst__json_read_message(&r, root, message, CST__DEPTH_LIMIT);
}
