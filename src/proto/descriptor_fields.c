/* The fields of the messages of a descriptor set: their types, flags, defaults, oneofs, and the
 * extensions among them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "proto/descriptor_build.h"
#include "proto/descriptor_proto.h"

enum { FIELD_NUMBER_LIMIT = (1 << 29) - 1 };

/* A field that is being made, and where it is declared. */
typedef struct field_site {
  const cst__set_draft *draft; /* the message that has it */
  const cst__message *proto;
  const cst__set_file *file;
  const char *scope; /* where the names of types are looked up first */
  cst__features features;
} field_site;

static cst_status fail_field(cst__set_builder *builder, const field_site *site, const char *hint,
                             const char *message) {
  return cst__set_fail(builder, site->scope, cst__message_bytes(site->proto, CST__FIELD_NAME), hint,
                       "%s", message);
}

static int64_t field_int(const field_site *site, int32_t number) {
  return cst__message_int(site->proto, number, 0);
}

/* ---- types ---- */

/* What a name means where it stands: with a dot before it the full name, else one within the scope,
 * or the next one around it. */
static const cst__set_type *resolve_type(cst__set_builder *builder, const char *scope,
                                         cst_bytes name) {
  char full[CST__FULL_NAME_LIMIT + 1];
  if (name.size == 0 || name.size > CST__FULL_NAME_LIMIT) {
    return NULL;
  }
  if (name.data[0] == '.') {
    return cst__set_find_type(builder->set, (const char *)name.data + 1, name.size - 1);
  }
  size_t around = strlen(scope);
  if (around > CST__FULL_NAME_LIMIT) {
    return NULL;
  }
  memcpy(full, scope, around + 1);
  for (;;) {
    size_t start = around > 0 ? around + 1 : 0;
    const cst__set_type *type = NULL;
    if (start + name.size <= CST__FULL_NAME_LIMIT) {
      full[around] = '.';
      memcpy(full + start, name.data, name.size);
      type = cst__set_find_type(builder->set, full, start + name.size);
    }
    if (type != NULL || around == 0) {
      return type;
    }
    while (around > 0 && full[--around] != '.') {
    }
  }
}

static cst_status fail_missing_type(cst__set_builder *builder, const field_site *site,
                                    cst_bytes name) {
  int size = (int)(name.size < 100 ? name.size : 100);
  cst_bytes field = cst__message_bytes(site->proto, CST__FIELD_NAME);
  if (site->file->missing_import != NULL) {
    return cst__set_fail(builder, site->scope, field,
                         "`protoc --include_imports -o SET.desc` includes imported files",
                         "its type %.*s is missing, and so is the imported file %.80s", size,
                         (const char *)name.data, site->file->missing_import);
  }
  return cst__set_fail(builder, site->scope, field,
                       "a descriptor set must contain the types of all its fields",
                       "its type %.*s is missing", size, (const char *)name.data);
}

/* Sets the type, and the message or enum where it is one. */
static cst_status set_field_type(cst__set_builder *builder, const field_site *site,
                                 cst__field_def *field) {
  int64_t type = field_int(site, CST__FIELD_TYPE);
  cst_bytes name = cst__message_bytes(site->proto, CST__FIELD_TYPE_NAME);
  bool is_named = type == CST__FIELD_MESSAGE || type == CST__FIELD_GROUP || type == CST__FIELD_ENUM;
  if (type < 0 || type > CST__FIELD_SINT64 || (type == 0 && name.size == 0)) {
    return fail_field(builder, site, NULL, "the field has an unknown type");
  }
  if (type != 0 && !is_named) {
    field->type = (uint8_t)type;
    return CST_OK;
  }
  const cst__set_type *found = resolve_type(builder, site->scope, name);
  if (found == NULL) {
    return fail_missing_type(builder, site, name);
  }
  if (type != 0 && (type == CST__FIELD_ENUM) != (found->values != NULL)) {
    return fail_field(builder, site, NULL,
                      found->values != NULL
                          ? "its type is an enum, but it is declared as a message"
                          : "its type is a message, but it is declared as an enum");
  }
  field->type = (uint8_t)(found->values != NULL      ? CST__FIELD_ENUM
                          : type == CST__FIELD_GROUP ? CST__FIELD_GROUP
                                                     : CST__FIELD_MESSAGE);
  field->values = found->values;
  field->message = found->message != NULL ? &found->message->def : NULL;
  return CST_OK;
}

/* ---- flags ---- */

static bool is_packable(const cst__field_def *field) {
  return cst__field_is_repeated(field) && !cst__field_is_message(field) &&
         field->type != CST__FIELD_STRING && field->type != CST__FIELD_BYTES;
}

/* What proto2 and proto3 say by `packed`, editions say by features. */
static bool is_packed(const field_site *site) {
  const cst__message *options = cst__message_child(site->proto, CST__FIELD_OPTIONS);
  const cst__field *packed = options != NULL && !site->features.in_edition
                                 ? cst__message_find(options, CST__FIELD_OPTION_PACKED)
                                 : NULL;
  return packed != NULL ? packed->as.one.i != 0
                        : site->features.repeated_field_encoding == CST__REPEATED_PACKED;
}

/* Maps and their entries are never groups. */
static bool is_delimited(const field_site *site, const cst__field_def *field) {
  return site->features.message_encoding == CST__MESSAGE_DELIMITED &&
         !site->draft->message->def.is_map_entry && !field->message->is_map_entry;
}

/* Fields without presence: the zero value is not there. Members of oneofs and extensions always
 * have it; keys and values of maps are written always. */
static bool is_implicit(const field_site *site, const cst__field_def *field) {
  return site->features.field_presence == CST__PRESENCE_IMPLICIT &&
         !site->draft->message->def.is_map_entry && !cst__field_is_repeated(field) &&
         !cst__field_is_message(field) &&
         cst__message_find(site->proto, CST__FIELD_ONEOF_INDEX) == NULL &&
         field_int(site, CST__FIELD_PROTO3_OPTIONAL) == 0 &&
         (field->flags & CST__FIELD_EXTENSION) == 0;
}

static void set_field_flags(const field_site *site, cst__field_def *field) {
  int64_t label = field_int(site, CST__FIELD_LABEL);
  unsigned flags = field->flags;
  flags |= label == CST__LABEL_REPEATED ? CST__FIELD_REPEATED : 0;
  field->flags = (uint8_t)flags;
  bool is_required =
      label == CST__LABEL_REQUIRED ||
      (label != CST__LABEL_REPEATED && site->features.field_presence == CST__PRESENCE_REQUIRED);
  flags |= is_required ? CST__FIELD_REQUIRED : 0;
  flags |= is_packable(field) && is_packed(site) ? CST__FIELD_PACKED : 0;
  flags |= !is_required && is_implicit(site, field) ? CST__FIELD_IMPLICIT : 0;
  bool is_checked = site->features.utf8_validation == CST__UTF8_VERIFY;
  flags |= field->type == CST__FIELD_STRING && is_checked ? CST__FIELD_UTF8 : 0;
  field->flags = (uint8_t)flags;
  if (field->type == CST__FIELD_MESSAGE && is_delimited(site, field)) {
    field->type = CST__FIELD_GROUP;
  }
}

/* ---- names and defaults ---- */

void cst__put_json_name(char *out, cst_bytes name) {
  bool is_upper = false;
  for (size_t i = 0; i < name.size; i++) {
    char c = (char)name.data[i];
    if (c != '_') {
      *out++ = (char)(is_upper && c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
    is_upper = c == '_';
  }
  *out = '\0';
}

static cst_status set_json_name(cst__set_builder *builder, const field_site *site,
                                cst__field_def *field) {
  cst_bytes given = cst__message_bytes(site->proto, CST__FIELD_JSON_NAME);
  cst_bytes own = cst__message_bytes(site->proto, CST__FIELD_NAME);
  char *name = cst__arena_take(&builder->set->arena, (given.size > 0 ? given.size : own.size) + 1);
  if (name == NULL) {
    return cst__set_no_memory(builder);
  }
  field->json_name = name;
  if (given.size == 0) {
    cst__put_json_name(name, own);
    return CST_OK;
  }
  memcpy(name, given.data, given.size);
  name[given.size] = '\0';
  return strlen(name) == given.size
             ? CST_OK
             : fail_field(builder, site, NULL, "its json_name contains a NUL byte");
}

static cst_status set_field_default(cst__set_builder *builder, const field_site *site,
                                    cst__field_def *field) {
  const cst__field *text = cst__message_find(site->proto, CST__FIELD_DEFAULT);
  cst__arena *arena = &builder->set->arena;
  if (text != NULL) {
    if (cst__field_is_repeated(field)) {
      return fail_field(builder, site, NULL, "a repeated field has a default value");
    }
    cst_status status = cst__field_parse_default(arena, field, text->as.one.bytes, builder->error);
    return status != CST_SCHEMA
               ? status
               : fail_field(builder, site, NULL, "the default value does not fit the field's type");
  }
  if (field->type == CST__FIELD_ENUM && field->values->values[0].number != 0 &&
      !cst__field_is_repeated(field)) {
    cst__field_default *first = cst__arena_take_zero(arena, sizeof *first);
    if (first == NULL) {
      return cst__set_no_memory(builder);
    }
    first->bits = (uint64_t)(int64_t)field->values->values[0].number;
    field->default_value = first;
  }
  return CST_OK;
}

/* ---- one field ---- */

static cst_status set_number(cst__set_builder *builder, const field_site *site,
                             cst__field_def *field) {
  int64_t number = field_int(site, CST__FIELD_NUMBER);
  int64_t most = site->draft->message->def.is_message_set ? INT32_MAX : FIELD_NUMBER_LIMIT;
  if (number < 1 || number > most) {
    return fail_field(builder, site, "field numbers are 1 to 536870911", "invalid field number");
  }
  field->number = (int32_t)number;
  return CST_OK;
}

static cst_status set_name(cst__set_builder *builder, const field_site *site,
                           cst__field_def *field) {
  cst_bytes name = cst__message_bytes(site->proto, CST__FIELD_NAME);
  if ((field->flags & CST__FIELD_EXTENSION) != 0) {
    return cst__set_full_name(builder, site->scope, name, &field->name);
  }
  if (!cst__is_identifier(name)) {
    return fail_field(builder, site, "names are letters, digits and underscores",
                      "invalid field name");
  }
  field->name = cst__arena_copy(&builder->set->arena, name.data, name.size);
  return field->name != NULL ? CST_OK : cst__set_no_memory(builder);
}

static cst_status make_set_field(cst__set_builder *builder, const field_site *outer,
                                 cst__field_def *field) {
  field_site site = *outer;
  site.features =
      cst__features_within(outer->features, cst__message_child(outer->proto, CST__FIELD_OPTIONS),
                           CST__FIELD_OPTION_FEATURES);
  CST__TRY(set_name(builder, &site, field));
  CST__TRY(set_number(builder, &site, field));
  CST__TRY(set_field_type(builder, &site, field));
  set_field_flags(&site, field);
  CST__TRY(set_json_name(builder, &site, field));
  return set_field_default(builder, &site, field);
}

/* ---- oneofs ---- */

typedef struct oneof_table {
  const cst__field *protos; /* as declared; NULL: none */
  size_t count;
  uint16_t *numbers; /* 1-based place among the real ones; 0: none of them */
} oneof_table;

/* Which of the message's oneofs the field is in, as declared; `count`: in none. */
static cst_status find_oneof(cst__set_builder *builder, const field_site *site,
                             const oneof_table *oneofs, size_t *index) {
  const cst__field *said = cst__message_find(site->proto, CST__FIELD_ONEOF_INDEX);
  *index = oneofs->count;
  if (said == NULL) {
    return CST_OK;
  }
  if (said->as.one.i < 0 || (uint64_t)said->as.one.i >= oneofs->count) {
    return fail_field(builder, site, NULL,
                      "the field is in a oneof that the message does not have");
  }
  if (field_int(site, CST__FIELD_LABEL) == CST__LABEL_REPEATED) {
    return fail_field(builder, site, NULL, "a repeated field is in a oneof");
  }
  *index = (size_t)said->as.one.i;
  return CST_OK;
}

/* The oneofs with a field that is not proto3's `optional`. */
static cst_status make_oneofs(cst__set_builder *builder, const cst__set_draft *draft,
                              const cst__field *fields, oneof_table *oneofs) {
  cst__message_def *def = &draft->message->def;
  oneofs->protos = cst__message_find(draft->proto, CST__MESSAGE_ONEOFS);
  oneofs->count = oneofs->protos != NULL ? oneofs->protos->count : 0;
  if (oneofs->count > UINT16_MAX) {
    return cst__set_fail(builder, def->full_name, (cst_bytes){NULL, 0}, NULL,
                         "the message has more than %d oneofs", UINT16_MAX);
  }
  const char **names = cst__arena_take(&builder->set->arena, oneofs->count * sizeof *names);
  oneofs->numbers =
      cst__arena_take_zero(&builder->scratch, oneofs->count * sizeof *oneofs->numbers);
  if (names == NULL || oneofs->numbers == NULL) {
    return cst__set_no_memory(builder);
  }
  for (size_t i = 0; fields != NULL && i < fields->count; i++) {
    field_site site = {draft, cst__field_value(fields, i)->message, draft->file, def->full_name,
                       draft->features};
    size_t index;
    CST__TRY(find_oneof(builder, &site, oneofs, &index));
    if (index < oneofs->count && field_int(&site, CST__FIELD_PROTO3_OPTIONAL) == 0) {
      oneofs->numbers[index] = 1;
    }
  }
  for (size_t i = 0; i < oneofs->count; i++) {
    if (oneofs->numbers[i] == 0) {
      continue;
    }
    cst_bytes name =
        cst__message_bytes(cst__field_value(oneofs->protos, i)->message, CST__ONEOF_NAME);
    if (!cst__is_identifier(name)) {
      return cst__set_fail(builder, def->full_name, name,
                           "names are letters, digits and underscores", "invalid oneof name");
    }
    names[def->num_oneofs] = cst__arena_copy(&builder->set->arena, name.data, name.size);
    if (names[def->num_oneofs] == NULL) {
      return cst__set_no_memory(builder);
    }
    oneofs->numbers[i] = (uint16_t)++def->num_oneofs;
  }
  def->oneofs = names;
  return CST_OK;
}

/* ---- the fields of a message ---- */

static cst_status make_declared_field(cst__set_builder *builder, const cst__set_draft *draft,
                                      const cst__message *proto, const oneof_table *oneofs,
                                      cst__field_def *field) {
  field_site site = {draft, proto, draft->file, draft->message->def.full_name, draft->features};
  size_t index;
  CST__TRY(find_oneof(builder, &site, oneofs, &index));
  if (index < oneofs->count) {
    const cst__message *oneof = cst__field_value(oneofs->protos, index)->message;
    field->oneof = oneofs->numbers[index];
    site.features = cst__features_within(
        site.features, cst__message_child(oneof, CST__ONEOF_OPTIONS), CST__ONEOF_OPTION_FEATURES);
  }
  return make_set_field(builder, &site, field);
}

static cst_status make_extension(cst__set_builder *builder, const cst__set_draft *draft,
                                 const cst__set_extension *extension, cst__field_def *field) {
  field_site site = {draft, extension->proto, extension->file, extension->scope,
                     extension->features};
  field->flags = CST__FIELD_EXTENSION;
  return make_set_field(builder, &site, field);
}

static int compare_numbers(const void *a, const void *b) {
  const cst__field_def *fa = a;
  const cst__field_def *fb = b;
  if (fa->number != fb->number) {
    return fa->number < fb->number ? -1 : 1;
  }
  return fa->place < fb->place ? -1 : 1;
}

/* A field that cannot be beside another one. Extensions have full names. */
static cst_status fail_beside(cst__set_builder *builder, const cst__message_def *def,
                              const cst__field_def *field, const char *message) {
  bool is_extension = (field->flags & CST__FIELD_EXTENSION) != 0;
  cst_bytes name = {(const uint8_t *)field->name, strlen(field->name)};
  return cst__set_fail(builder, is_extension ? "" : def->full_name, name, NULL, "%s", message);
}

/* By number; extensions come after the fields in their order. */
static cst_status sort_by_number(cst__set_builder *builder, const cst__message_def *def,
                                 cst__field_def *fields, size_t count, size_t declared) {
  qsort(fields, count, sizeof *fields, compare_numbers);
  uint32_t place = (uint32_t)declared;
  for (size_t i = 0; i < count; i++) {
    if (i > 0 && fields[i - 1].number == fields[i].number) {
      char message[160];
      (void)snprintf(message, sizeof message, "two fields have the number %d, this and %.80s",
                     (int)fields[i].number, fields[i - 1].name);
      return fail_beside(builder, def, &fields[i], message);
    }
    if ((fields[i].flags & CST__FIELD_EXTENSION) != 0) {
      fields[i].place = place++;
    }
  }
  return CST_OK;
}

typedef struct ordered_field {
  const cst__field_def *field;
  uint32_t index;
} ordered_field;

static int compare_field_names(const void *a, const void *b) {
  const cst__field_def *fa = ((const ordered_field *)a)->field;
  const cst__field_def *fb = ((const ordered_field *)b)->field;
  int kind = (fa->flags & CST__FIELD_EXTENSION) - (fb->flags & CST__FIELD_EXTENSION);
  return kind != 0 ? kind : strcmp(fa->name, fb->name);
}

static cst_status index_fields(cst__set_builder *builder, cst__message_def *def) {
  size_t count = def->num_fields;
  ordered_field *order = cst__arena_take(&builder->scratch, count * sizeof *order);
  uint32_t *indexes = cst__arena_take(&builder->set->arena, count * sizeof *indexes);
  if (order == NULL || indexes == NULL) {
    return cst__set_no_memory(builder);
  }
  for (size_t i = 0; i < count; i++) {
    order[i] = (ordered_field){&def->fields[i], (uint32_t)i};
  }
  qsort(order, count, sizeof *order, compare_field_names);
  for (size_t i = 0; i < count; i++) {
    indexes[i] = order[i].index;
    if (i > 0 && compare_field_names(&order[i - 1], &order[i]) == 0) {
      return fail_beside(builder, def, order[i].field, "the message has two fields of this name");
    }
  }
  def->by_name = indexes;
  return CST_OK;
}

static cst_status make_message_fields(cst__set_builder *builder, const cst__set_draft *draft) {
  const cst__field *protos = cst__message_find(draft->proto, CST__MESSAGE_FIELDS);
  cst__message_def *def = &draft->message->def;
  size_t declared = protos != NULL ? protos->count : 0;
  size_t count = declared + draft->num_extensions;
  cst__field_def *fields = cst__arena_take_zero(&builder->set->arena, count * sizeof *fields);
  if (fields == NULL) {
    return cst__set_no_memory(builder);
  }
  oneof_table oneofs = {0};
  CST__TRY(make_oneofs(builder, draft, protos, &oneofs));
  for (size_t i = 0; i < declared; i++) {
    fields[i].place = (uint32_t)i;
    CST__TRY(make_declared_field(builder, draft, cst__field_value(protos, i)->message, &oneofs,
                                 &fields[i]));
  }
  size_t i = declared;
  for (const cst__set_extension *e = draft->extensions; e != NULL; e = e->next) {
    fields[i].place = (uint32_t)i;
    CST__TRY(make_extension(builder, draft, e, &fields[i++]));
  }
  CST__TRY(sort_by_number(builder, def, fields, count, declared));
  def->fields = fields;
  def->num_fields = count;
  def->num_extensions = draft->num_extensions;
  return index_fields(builder, def);
}

/* ---- maps ---- */

static bool is_map_key(const cst__field_def *key) {
  return !cst__field_is_message(key) && key->type != CST__FIELD_ENUM &&
         key->type != CST__FIELD_BYTES && key->type != CST__FIELD_DOUBLE &&
         key->type != CST__FIELD_FLOAT;
}

static bool is_entry_shaped(const cst__message_def *def) {
  if (def->num_fields != 2 || def->num_extensions != 0 || def->num_oneofs != 0) {
    return false;
  }
  const cst__field_def *key = &def->fields[0];
  const cst__field_def *value = &def->fields[1];
  return key->number == 1 && value->number == 2 && strcmp(key->name, "key") == 0 &&
         strcmp(value->name, "value") == 0 && !cst__field_is_repeated(key) &&
         !cst__field_is_repeated(value) && is_map_key(key) && value->type != CST__FIELD_GROUP &&
         (value->message == NULL || !value->message->is_map_entry);
}

/* Entries have a key and a value, and fields of such a type are repeated. */
static cst_status check_maps(cst__set_builder *builder, const cst__message_def *def) {
  cst_bytes nothing = {NULL, 0};
  if (def->is_map_entry && !is_entry_shaped(def)) {
    return cst__set_fail(builder, def->full_name, nothing, NULL,
                         "the entry of a map is not made of a key and a value");
  }
  for (size_t i = 0; i < def->num_fields; i++) {
    const cst__field_def *field = &def->fields[i];
    if (field->message != NULL && field->message->is_map_entry &&
        (!cst__field_is_repeated(field) || field->type != CST__FIELD_MESSAGE)) {
      return cst__set_fail(builder, def->full_name, cst__bytes_of(field->name), NULL,
                           "the field is a map and not repeated");
    }
  }
  return CST_OK;
}

/* ---- the set ---- */

static const cst__set_message *outermost(const cst__set_message *message) {
  while (message->outer != NULL) {
    message = message->outer;
  }
  return message;
}

/* Notes which messages stand in others. */
static void note_held(const cst__message_def *def) {
  const cst__set_message *holder = outermost((const cst__set_message *)def);
  for (size_t i = 0; i < def->num_fields; i++) {
    cst__set_message *held = (cst__set_message *)(uintptr_t)def->fields[i].message;
    if (held != NULL && outermost(held) != holder) {
      held->is_held = true;
    }
  }
}

/* Gives the extension to the message that it extends. */
static cst_status attach_extension(cst__set_builder *builder, cst__set_extension *extension) {
  cst_bytes extendee = cst__message_bytes(extension->proto, CST__FIELD_EXTENDEE);
  const cst__set_type *type = resolve_type(builder, extension->scope, extendee);
  if (type == NULL && extension->file->missing_import != NULL) {
    return CST_OK; /* nothing here can hold it */
  }
  cst_bytes name = cst__message_bytes(extension->proto, CST__FIELD_NAME);
  if (type == NULL || type->message == NULL) {
    return cst__set_fail(builder, extension->scope, name, NULL,
                         "the message that it extends is missing");
  }
  cst__set_draft *draft = type->message->draft;
  extension->next = NULL;
  *draft->last_extension = extension;
  draft->last_extension = &extension->next;
  draft->num_extensions++;
  return CST_OK;
}

cst_status cst__set_make_fields(cst__set_builder *builder) {
  for (cst__set_extension *e = builder->extensions; e != NULL;) {
    cst__set_extension *next = e->next;
    CST__TRY(attach_extension(builder, e));
    e = next;
  }
  for (const cst__set_draft *d = builder->drafts; d != NULL; d = d->next) {
    CST__TRY(make_message_fields(builder, d));
  }
  for (const cst__set_draft *d = builder->drafts; d != NULL; d = d->next) {
    CST__TRY(check_maps(builder, &d->message->def));
    note_held(&d->message->def);
    d->message->draft = NULL;
  }
  return CST_OK;
}
