/* The messages and enums of a descriptor set by name; the fields come when all names are known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "proto/descriptor_build.h"
#include "proto/descriptor_proto.h"

cst_status(cst__set_fail)(cst__set_builder *builder, const char *scope, cst_bytes name,
                          const char *hint, const char *fmt, ...) {
  char message[sizeof((cst_error *)0)->message];
  char path[CST__FULL_NAME_LIMIT * 2 + 2];
  int shown = (int)(name.size < CST__FULL_NAME_LIMIT ? name.size : CST__FULL_NAME_LIMIT);
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(message, sizeof message, fmt, args);
  va_end(args);
  int size = snprintf(path, sizeof path, "%.*s%s%.*s", (int)CST__FULL_NAME_LIMIT, scope,
                      *scope != '\0' && shown > 0 ? "." : "", shown,
                      shown > 0 ? (const char *)name.data : "");
  cst_status status = cst__fail(builder->error, CST_SCHEMA, hint, "%s", message);
  cst__error_add_path(builder->error, path, size > 0 ? (size_t)size : 0);
  return status;
}

bool cst__is_identifier(cst_bytes name) {
  for (size_t i = 0; i < name.size; i++) {
    uint8_t c = name.data[i];
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!is_letter && !(i > 0 && c >= '0' && c <= '9')) {
      return false;
    }
  }
  return name.size > 0;
}

cst_status cst__set_full_name(cst__set_builder *builder, const char *scope, cst_bytes name,
                              const char **out) {
  size_t before = strlen(scope);
  if (!cst__is_identifier(name)) {
    return cst__set_fail(builder, scope, name, "names are letters, digits and underscores",
                         "invalid name of a type or field");
  }
  if (before + 1 + name.size > CST__FULL_NAME_LIMIT) {
    return cst__set_fail(builder, scope, name, NULL, "the full name has more than %d bytes",
                         CST__FULL_NAME_LIMIT);
  }
  char *full = cst__arena_take(&builder->set->arena, before + 1 + name.size + 1);
  if (full == NULL) {
    return cst__set_no_memory(builder);
  }
  char *at = full;
  if (before > 0) {
    memcpy(at, scope, before);
    at += before;
    *at++ = '.';
  }
  memcpy(at, name.data, name.size);
  at[name.size] = '\0';
  *out = full;
  return CST_OK;
}

const cst__set_type *cst__set_find_type(const cst_descriptors *set, const char *name, size_t size) {
  size_t found = cst__name_map_find(&set->names, name, size);
  return found != SIZE_MAX ? &set->types[found] : NULL;
}

/* Where something is declared. */
typedef struct scope {
  const cst__set_file *file;
  const char *name; /* full name of the message around it, or the package */
  cst__features features;
  cst__set_message *message; /* NULL: it stands in the file */
} scope;

/* Gives the name to the type, unless another one has it: *is_taken is only set for files that are
 * built in, where what was given counts. */
static cst_status declare_name(cst__set_builder *builder, const scope *in, const char *name,
                               cst__set_type type, bool *is_taken) {
  cst_descriptors *set = builder->set;
  size_t size = strlen(name);
  *is_taken = cst__name_map_find(&set->names, name, size) != SIZE_MAX;
  if (*is_taken) {
    return in->file->is_built_in
               ? CST_OK
               : cst__set_fail(builder, name, (cst_bytes){NULL, 0}, "remove one of them",
                               "two types have this name, one of them in %s", in->file->name);
  }
  if (!cst__grow(&set->arena.allocator, (void **)&set->types, &set->types_capacity,
                 set->num_types + 1, sizeof *set->types) ||
      !cst__name_map_add(&set->names, name, size, set->num_types)) {
    return cst__set_no_memory(builder);
  }
  set->types[set->num_types++] = type;
  return CST_OK;
}

/* ---- enums ---- */

typedef struct ordered_value {
  const cst__enum_value *value;
  uint32_t place;
} ordered_value;

static int compare_value_names(const void *a, const void *b) {
  const ordered_value *va = a;
  const ordered_value *vb = b;
  return strcmp(va->value->name, vb->value->name);
}

/* The first of several with the same number comes first. */
static int compare_value_numbers(const void *a, const void *b) {
  const ordered_value *va = a;
  const ordered_value *vb = b;
  if (va->value->number != vb->value->number) {
    return va->value->number < vb->value->number ? -1 : 1;
  }
  return va->place < vb->place ? -1 : 1;
}

static const uint32_t *order_values(cst__set_builder *builder, ordered_value *values, size_t count,
                                    int (*compare)(const void *, const void *)) {
  uint32_t *order = cst__arena_take(&builder->set->arena, count * sizeof *order);
  if (order != NULL) {
    qsort(values, count, sizeof *values, compare);
    for (size_t i = 0; i < count; i++) {
      order[i] = values[i].place;
    }
  }
  return order;
}

/* The two ways of finding a value. */
static cst_status index_values(cst__set_builder *builder, cst__enum_def *def) {
  size_t count = def->num_values;
  ordered_value *values = cst__arena_take(&builder->scratch, count * sizeof *values);
  if (values == NULL) {
    return cst__set_no_memory(builder);
  }
  for (size_t i = 0; i < count; i++) {
    values[i] = (ordered_value){&def->values[i], (uint32_t)i};
  }
  def->by_number = order_values(builder, values, count, compare_value_numbers);
  def->by_name = order_values(builder, values, count, compare_value_names);
  if (def->by_number == NULL || def->by_name == NULL) {
    return cst__set_no_memory(builder);
  }
  for (size_t i = 1; i < count; i++) {
    if (strcmp(values[i - 1].value->name, values[i].value->name) == 0) {
      const char *name = values[i].value->name;
      return cst__set_fail(builder, def->full_name, cst__bytes_of(name), NULL,
                           "the enum has two values of this name");
    }
  }
  return CST_OK;
}

static cst_status read_values(cst__set_builder *builder, const cst__message *proto,
                              cst__enum_def *def) {
  const cst__field *values = cst__message_find(proto, CST__ENUM_VALUES);
  size_t count = values != NULL ? values->count : 0;
  if (count == 0) {
    return cst__set_fail(builder, def->full_name, (cst_bytes){NULL, 0}, NULL,
                         "the enum has no values");
  }
  cst__enum_value *items = cst__arena_take(&builder->set->arena, count * sizeof *items);
  if (items == NULL) {
    return cst__set_no_memory(builder);
  }
  for (size_t i = 0; i < count; i++) {
    const cst__message *value = cst__field_value(values, i)->message;
    cst_bytes name = cst__message_bytes(value, CST__ENUM_VALUE_NAME);
    if (!cst__is_identifier(name)) {
      return cst__set_fail(builder, def->full_name, name,
                           "names are letters, digits and underscores",
                           "invalid name of an enum value");
    }
    items[i].name = cst__arena_copy(&builder->set->arena, name.data, name.size);
    items[i].number = (int32_t)cst__message_int(value, CST__ENUM_VALUE_NUMBER, 0);
    if (items[i].name == NULL) {
      return cst__set_no_memory(builder);
    }
  }
  def->values = items;
  def->num_values = count;
  return index_values(builder, def);
}

static cst_status declare_enum(cst__set_builder *builder, const scope *in,
                               const cst__message *proto) {
  cst__enum_def *def = cst__arena_take_zero(&builder->set->arena, sizeof *def);
  if (def == NULL) {
    return cst__set_no_memory(builder);
  }
  CST__TRY(cst__set_full_name(builder, in->name, cst__message_bytes(proto, CST__ENUM_NAME),
                              &def->full_name));
  cst__features features = cst__features_within(
      in->features, cst__message_child(proto, CST__ENUM_OPTIONS), CST__ENUM_OPTION_FEATURES);
  def->is_open = features.enum_type == CST__ENUM_OPEN;
  bool is_taken;
  CST__TRY(declare_name(builder, in, def->full_name, (cst__set_type){.values = def}, &is_taken));
  return is_taken ? CST_OK : read_values(builder, proto, def);
}

/* ---- messages ---- */

static cst_status declare_inside(cst__set_builder *builder, const scope *in,
                                 const cst__message *proto, const int32_t numbers[3]);

static cst_status draft_message(cst__set_builder *builder, const scope *in,
                                const cst__message *proto, cst__set_message *message) {
  const cst__message *options = cst__message_child(proto, CST__MESSAGE_OPTIONS);
  cst__set_draft *draft = cst__arena_take_zero(&builder->scratch, sizeof *draft);
  if (draft == NULL) {
    return cst__set_no_memory(builder);
  }
  draft->message = message;
  draft->proto = proto;
  draft->file = in->file;
  draft->features = cst__features_within(in->features, options, CST__MESSAGE_OPTION_FEATURES);
  if (options != NULL) {
    message->def.is_map_entry = cst__message_int(options, CST__MESSAGE_OPTION_MAP_ENTRY, 0) != 0;
    message->def.is_message_set =
        cst__message_int(options, CST__MESSAGE_OPTION_MESSAGE_SET, 0) != 0;
  }
  draft->last_extension = &draft->extensions;
  message->draft = draft;
  *builder->last_draft = draft;
  builder->last_draft = &draft->next;
  return CST_OK;
}

static cst_status list_message(cst__set_builder *builder, const scope *in,
                               const cst__set_message *message) {
  cst_descriptors *set = builder->set;
  bool is_wanted = !in->file->is_built_in && (!in->file->is_known || builder->has_known_files_only);
  if (!is_wanted || message->def.is_map_entry) {
    return CST_OK;
  }
  if (!cst__grow(&set->arena.allocator, (void **)&set->listed, &set->listed_capacity,
                 set->num_listed + 1, sizeof(void *))) {
    return cst__set_no_memory(builder);
  }
  set->listed[set->num_listed++] = message;
  return CST_OK;
}

static cst_status declare_message(cst__set_builder *builder, const scope *in,
                                  const cst__message *proto, size_t index) {
  static const int32_t inside[3] = {CST__MESSAGE_MESSAGES, CST__MESSAGE_ENUMS,
                                    CST__MESSAGE_EXTENSIONS};
  cst__set_message *message = cst__arena_take_zero(&builder->set->arena, sizeof *message);
  if (message == NULL) {
    return cst__set_no_memory(builder);
  }
  message->outer = in->message;
  message->index = (int32_t)index;
  CST__TRY(cst__set_full_name(builder, in->name, cst__message_bytes(proto, CST__MESSAGE_NAME),
                              &message->def.full_name));
  bool is_taken;
  CST__TRY(declare_name(builder, in, message->def.full_name, (cst__set_type){.message = message},
                        &is_taken));
  if (is_taken) {
    return CST_OK;
  }
  CST__TRY(draft_message(builder, in, proto, message));
  CST__TRY(list_message(builder, in, message));
  scope within = {in->file, message->def.full_name, message->draft->features, message};
  return declare_inside(builder, &within, proto, inside);
}

static cst_status declare_extension(cst__set_builder *builder, const scope *in,
                                    const cst__message *proto) {
  cst__set_extension *extension = cst__arena_take(&builder->scratch, sizeof *extension);
  if (extension == NULL) {
    return cst__set_no_memory(builder);
  }
  *extension = (cst__set_extension){proto, in->file, in->name, in->features, NULL};
  *builder->last_extension = extension;
  builder->last_extension = &extension->next;
  return CST_OK;
}

/* What stands in a file or message: messages, enums and extensions, in the fields `numbers`. The
 * nesting is as deep as trees can be. */
static cst_status declare_inside(cst__set_builder *builder, const scope *in,
                                 const cst__message *proto, const int32_t numbers[3]) {
  const cst__field *messages = cst__message_find(proto, numbers[0]);
  for (size_t i = 0; messages != NULL && i < messages->count; i++) {
    CST__TRY(declare_message(builder, in, cst__field_value(messages, i)->message, i));
  }
  const cst__field *enums = cst__message_find(proto, numbers[1]);
  for (size_t i = 0; enums != NULL && i < enums->count; i++) {
    CST__TRY(declare_enum(builder, in, cst__field_value(enums, i)->message));
  }
  const cst__field *extensions = cst__message_find(proto, numbers[2]);
  for (size_t i = 0; extensions != NULL && i < extensions->count; i++) {
    CST__TRY(declare_extension(builder, in, cst__field_value(extensions, i)->message));
  }
  return CST_OK;
}

/* ---- files ---- */

enum { PACKAGE_DEPTH_LIMIT = 100 }; /* as the protobuf library has it */

/* Identifiers with dots between them, or nothing. */
static cst_status check_package(cst__set_builder *builder, const cst__set_file *file,
                                cst_bytes package) {
  size_t start = 0;
  int parts = 0;
  for (size_t i = 0; i <= package.size && package.size > 0; i++) {
    if (i < package.size && package.data[i] != '.') {
      continue;
    }
    if (++parts > PACKAGE_DEPTH_LIMIT) {
      return cst__set_fail(builder, "", package, NULL, "the package, in %s, has more than %d parts",
                           file->name, PACKAGE_DEPTH_LIMIT);
    }
    if (!cst__is_identifier((cst_bytes){package.data + start, i - start})) {
      return cst__set_fail(builder, "", package, "a package is names separated by dots",
                           "invalid package name, in %s", file->name);
    }
    start = i + 1;
  }
  return CST_OK;
}

cst_status cst__set_declare_types(cst__set_builder *builder) {
  static const int32_t inside[3] = {CST__FILE_MESSAGES, CST__FILE_ENUMS, CST__FILE_EXTENSIONS};
  builder->has_known_files_only = true;
  for (size_t i = 0; i < builder->num_files; i++) {
    builder->has_known_files_only &= builder->files[i]->is_known;
  }
  for (size_t i = 0; i < builder->num_files; i++) {
    const cst__set_file *file = builder->files[i];
    cst_bytes package = cst__message_bytes(file->proto, CST__FILE_PACKAGE);
    CST__TRY(check_package(builder, file, package));
    const char *name = cst__arena_copy(&builder->set->arena, package.data, package.size);
    if (name == NULL) {
      return cst__set_no_memory(builder);
    }
    scope in = {file, name, file->features, NULL};
    CST__TRY(declare_inside(builder, &in, file->proto, inside));
  }
  return CST_OK;
}
