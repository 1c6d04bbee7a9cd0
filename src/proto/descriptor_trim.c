/* The files of a descriptor set, cut down to what is picked. */
#include <stdlib.h>
#include <string.h>

#include "proto/descriptor_marks.h"
#include "proto/descriptor_picks.h"
#include "proto/descriptor_proto.h"

enum { TRIM_NOWHERE = -1 };

/* A file, and what is left of it. */
typedef struct trim_file {
  const cst__set_file *given;
  cst__message *left; /* NULL: nothing */
  size_t *imports;    /* numbers of files */
  size_t num_imports, imports_capacity;
  bool is_written;
} trim_file;

typedef struct trimmer {
  const struct cst__descriptor_picks *picks;
  cst__set_builder reader; /* of the files */
  cst__arena arena;
  trim_file *files;
  size_t num_files;
  size_t at;         /* the file that is cut down */
  int64_t *homes;    /* of the types: numbers of files */
  bool *place_marks; /* of the types: they stand before the message, or around it */
  size_t *order;     /* numbers of the files that are left, each after its imports */
  size_t num_ordered;
} trimmer;

/* ---- names and numbers ---- */

/* `scope` "." `name`; NULL: no memory. */
static const char *trim_full_name(trimmer *t, const char *scope, cst_bytes name) {
  const cst_bytes above = {(const uint8_t *)scope, strlen(scope)};
  char *full = cst__arena_take(&t->arena, above.size + name.size + 2);
  if (full == NULL) {
    return NULL;
  }
  memcpy(full, above.data, above.size);
  full[above.size] = '.';
  char *end = full + above.size + (above.size > 0);
  memcpy(end, name.data, name.size);
  end[name.size] = '\0';
  return full;
}

/* The type that is declared so here, and not in a file before: its number, or SIZE_MAX. */
static size_t trim_type(const trimmer *t, const char *full_name) {
  size_t number = cst__set_type_number(t->picks->set, full_name);
  return number != SIZE_MAX && t->homes[number] == (int64_t)t->at ? number : SIZE_MAX;
}

static bool trim_find_homes(trimmer *t, const cst__message *proto, const char *scope,
                            const int32_t numbers[2]) {
  static const int32_t inside[2] = {CST__MESSAGE_MESSAGES, CST__MESSAGE_ENUMS};
  for (int kind = 0; kind < 2; kind++) {
    const cst__field *types = cst__message_find(proto, numbers[kind]);
    for (size_t i = 0; types != NULL && i < types->count; i++) {
      const cst__message *type = cst__field_value(types, i)->message;
      const char *name = trim_full_name(t, scope, cst__message_bytes(type, CST__MESSAGE_NAME));
      size_t number = name != NULL ? cst__set_type_number(t->picks->set, name) : SIZE_MAX;
      if (number == SIZE_MAX) {
        return false;
      }
      if (t->homes[number] == TRIM_NOWHERE) {
        t->homes[number] = (int64_t)t->at;
      }
      if (kind == 0 && !trim_find_homes(t, type, name, inside)) {
        return false;
      }
    }
  }
  return true;
}

/* What the message's place is counted by, in its file and in those around it. */
static void trim_mark_places(trimmer *t) {
  const cst_descriptors *set = t->picks->set;
  const cst__set_message *at = (const cst__set_message *)t->picks->message;
  for (; at != NULL; at = at->outer) {
    int64_t home = t->homes[cst__set_type_number(set, at->def.full_name)];
    for (size_t i = 0; i < set->num_types; i++) {
      const cst__set_message *other = set->types[i].message;
      t->place_marks[i] |= other != NULL && other->outer == at->outer && t->homes[i] == home &&
                           other->index <= at->index;
    }
  }
}

/* ---- parts of files ---- */

/* What the tables know of a message, but for options that are empty then. NULL: no memory. */
static cst__message *trim_copy(trimmer *t, const cst__message *from) {
  cst__message *to = cst__message_new(&t->arena, from->def);
  for (const cst__field *field = from->first; to != NULL && field != NULL; field = field->next) {
    for (size_t i = 0; i < field->count; i++) {
      cst__value value = *cst__field_value(field, i);
      if (cst__field_is_message(field->def)) {
        value.message = trim_copy(t, value.message);
        if (value.message == NULL) {
          return NULL;
        }
        if (value.message->first == NULL && !cst__field_is_repeated(field->def)) {
          continue;
        }
      }
      if (!cst__message_put(&t->arena, to, field->def, value)) {
        return NULL;
      }
    }
  }
  return to;
}

/* Puts the fields of these numbers, as they are but for what nobody knows in them. */
static bool trim_put_fields(trimmer *t, const cst__message *from, const int32_t *numbers,
                            size_t count, cst__message *to) {
  for (size_t i = 0; i < count; i++) {
    const cst__field *field = cst__message_find(from, numbers[i]);
    if (field == NULL) {
      continue;
    }
    cst__value value = field->as.one;
    if (cst__field_is_message(field->def)) {
      value.message = trim_copy(t, value.message);
      if (value.message == NULL) {
        return false;
      }
      if (value.message->first == NULL) {
        continue;
      }
    }
    if (!cst__message_put(&t->arena, to, field->def, value)) {
      return false;
    }
  }
  return true;
}

static bool trim_put_type_name(trimmer *t, cst__message *to, int32_t number,
                               const char *full_name) {
  size_t size = strlen(full_name);
  char *name = cst__arena_take(&t->arena, size + 2);
  if (name == NULL) {
    return false;
  }
  name[0] = '.';
  memcpy(name + 1, full_name, size + 1);
  return cst__message_put(&t->arena, to, cst__field_by_number(to->def, number),
                          (cst__value){.bytes = {(const uint8_t *)name, size + 1}});
}

/* The file imports the one that declares the type. */
static bool trim_import(trimmer *t, const char *full_name) {
  trim_file *file = &t->files[t->at];
  int64_t home = t->homes[cst__set_type_number(t->picks->set, full_name)];
  if (home == (int64_t)t->at) {
    return true;
  }
  for (size_t i = 0; i < file->num_imports; i++) {
    if (file->imports[i] == (size_t)home) {
      return true;
    }
  }
  if (!cst__grow(&t->arena.allocator, (void **)&file->imports, &file->imports_capacity,
                 file->num_imports + 1, sizeof *file->imports)) {
    return false;
  }
  file->imports[file->num_imports++] = (size_t)home;
  return true;
}

/* ---- fields and extensions ---- */

static bool trim_put_json_name(trimmer *t, const cst__message *from, cst__message *to) {
  cst_bytes name = cst__message_bytes(from, CST__FIELD_NAME);
  cst_bytes given = cst__message_bytes(from, CST__FIELD_JSON_NAME);
  char *usual = cst__arena_take(&t->arena, name.size + 1);
  if (usual == NULL) {
    return false;
  }
  cst__put_json_name(usual, name);
  bool is_usual = given.size == 0 ||
                  (strlen(usual) == given.size && memcmp(usual, given.data, given.size) == 0);
  return is_usual ||
         cst__message_put(&t->arena, to, cst__field_by_number(to->def, CST__FIELD_JSON_NAME),
                          (cst__value){.bytes = given});
}

/* Appends a field to those of `to`. NULL: no memory. */
static cst__message *trim_add_field(trimmer *t, const cst__message *from,
                                    const cst__field_def *field, cst__message *to, int32_t number) {
  static const int32_t kept[] = {CST__FIELD_NAME,           CST__FIELD_NUMBER,  CST__FIELD_LABEL,
                                 CST__FIELD_TYPE,           CST__FIELD_DEFAULT, CST__FIELD_OPTIONS,
                                 CST__FIELD_PROTO3_OPTIONAL};
  const char *type = field->message != NULL  ? field->message->full_name
                     : field->values != NULL ? field->values->full_name
                                             : NULL;
  cst__message *out = cst__message_put_child(&t->arena, to, number);
  if (out == NULL || !trim_put_fields(t, from, kept, sizeof kept / sizeof *kept, out) ||
      !trim_put_json_name(t, from, out)) {
    return NULL;
  }
  if (type != NULL &&
      (!trim_import(t, type) || !trim_put_type_name(t, out, CST__FIELD_TYPE_NAME, type) ||
       (cst__message_find(from, CST__FIELD_TYPE) == NULL &&
        !cst__message_put_int(&t->arena, out, CST__FIELD_TYPE, field->type)))) {
    return NULL;
  }
  return out;
}

/* The oneofs whose fields are kept, in their order, and which of them the fields are in. */
static bool trim_put_oneofs(trimmer *t, const cst__message *proto, const bool *marks,
                            cst__message *const *fields, cst__message *to) {
  const cst__field *oneofs = cst__message_find(proto, CST__MESSAGE_ONEOFS);
  const cst__field *given = cst__message_find(proto, CST__MESSAGE_FIELDS);
  int64_t kept = 0;
  for (size_t i = 0; oneofs != NULL && i < oneofs->count; i++) {
    bool is_used = false;
    for (size_t k = 0; given != NULL && k < given->count; k++) {
      const cst__message *field = cst__field_value(given, k)->message;
      if (!marks[k] || cst__message_int(field, CST__FIELD_ONEOF_INDEX, -1) != (int64_t)i) {
        continue;
      }
      is_used = true;
      if (!cst__message_put_int(&t->arena, fields[k], CST__FIELD_ONEOF_INDEX, kept)) {
        return false;
      }
    }
    cst__message *copy = is_used ? trim_copy(t, cst__field_value(oneofs, i)->message) : NULL;
    if (is_used && (copy == NULL ||
                    !cst__message_put(&t->arena, to, oneofs->def, (cst__value){.message = copy}))) {
      return false;
    }
    kept += is_used;
  }
  return true;
}

static bool trim_put_message_fields(trimmer *t, const cst__message *proto,
                                    const cst__message_def *def, const bool *marks,
                                    cst__message *to) {
  const cst__field *fields = cst__message_find(proto, CST__MESSAGE_FIELDS);
  size_t count = fields != NULL ? fields->count : 0;
  bool *kept = cst__arena_take_zero(&t->arena, count + 1);
  cst__message **copies = cst__arena_take(&t->arena, (count + 1) * sizeof(cst__message *));
  if (kept == NULL || copies == NULL) {
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    const cst__message *from = cst__field_value(fields, i)->message;
    const cst__field_def *field =
        cst__field_by_number(def, cst__message_int(from, CST__FIELD_NUMBER, 0));
    kept[i] = marks[field - def->fields];
    copies[i] = NULL;
    if (kept[i]) {
      copies[i] = trim_add_field(t, from, field, to, CST__MESSAGE_FIELDS);
      if (copies[i] == NULL) {
        return false;
      }
    }
  }
  return trim_put_oneofs(t, proto, kept, copies, to);
}

/* DescriptorProto.extension_range, one for each extension that is kept: { start, end }. */
static bool trim_put_ranges(trimmer *t, const cst__message_def *def, const bool *marks,
                            cst__message *to) {
  for (size_t i = 0; i < def->num_fields; i++) {
    if ((def->fields[i].flags & CST__FIELD_EXTENSION) == 0 || !marks[i]) {
      continue;
    }
    cst__wire_out wire = {0};
    uint64_t number = (uint64_t)def->fields[i].number;
    cst__wire_put_varint(&wire, number + 1);
    cst__wire_put_tag(&wire, 2, CST__WIRE_VARINT);
    cst__wire_put_varint(&wire, number);
    cst__wire_put_tag(&wire, 1, CST__WIRE_VARINT);
    cst__wire_put_varint(&wire, cst__wire_out_size(&wire));
    cst__wire_put_tag(&wire, 5, CST__WIRE_LEN);
    size_t size = cst__wire_out_size(&wire);
    const char *copy =
        !wire.failed ? cst__arena_copy(&t->arena, wire.data + wire.free, size) : NULL;
    cst__wire_out_free(&wire);
    if (copy == NULL ||
        !cst__message_put_unknown(&t->arena, to, (cst_bytes){(const uint8_t *)copy, size})) {
      return false;
    }
  }
  return true;
}

/* The extension if it is picked; *kept says so. */
static bool trim_put_extension(trimmer *t, const cst__message *from, const char *scope,
                               cst__message *to, int32_t number, bool *kept) {
  const cst_descriptors *set = t->picks->set;
  const char *name = trim_full_name(t, scope, cst__message_bytes(from, CST__FIELD_NAME));
  if (name == NULL) {
    return false;
  }
  /* Of those with its number, the one with its name is it: what it extends may be said in many
   * ways. */
  for (size_t i = 0; i < set->num_types; i++) {
    const cst__set_message *extended = set->types[i].message;
    if (extended == NULL || extended->def.num_extensions == 0 || !t->picks->types[i].is_kept) {
      continue;
    }
    const cst__field_def *field =
        cst__field_by_number(&extended->def, cst__message_int(from, CST__FIELD_NUMBER, 0));
    if (field == NULL || (field->flags & CST__FIELD_EXTENSION) == 0 ||
        strcmp(field->name, name) != 0 ||
        !t->picks->types[i].fields[field - extended->def.fields]) {
      continue;
    }
    cst__message *out = trim_add_field(t, from, field, to, number);
    *kept = true;
    return out != NULL && trim_import(t, extended->def.full_name) &&
           trim_put_type_name(t, out, CST__FIELD_EXTENDEE, extended->def.full_name);
  }
  return true;
}

/* ---- types ---- */

/* Two names of one number need an option, which the tables do not have: EnumOptions.allow_alias. */
static bool trim_allow_alias(trimmer *t, const cst__enum_def *def, cst__message *to) {
  static const uint8_t allow_alias[] = {0x10, 0x01};
  bool has_alias = false;
  for (size_t i = 1; i < def->num_values; i++) {
    has_alias |= def->values[def->by_number[i]].number == def->values[def->by_number[i - 1]].number;
  }
  if (!has_alias) {
    return true;
  }
  const cst__field *options = cst__message_find(to, CST__ENUM_OPTIONS);
  cst__message *child = options != NULL ? options->as.one.message
                                        : cst__message_put_child(&t->arena, to, CST__ENUM_OPTIONS);
  return child != NULL && cst__message_put_unknown(&t->arena, child, (cst_bytes){allow_alias, 2});
}

/* What is declared in a file or message: the numbers of messages, enums and extensions in it. */
static bool trim_put_inside(trimmer *t, const cst__message *proto, const char *scope,
                            const int32_t numbers[3], cst__message *to, bool *kept);

/* A message, or its name alone where only its place counts. */
static bool trim_put_message(trimmer *t, const cst__message *from, const char *scope,
                             cst__message *to, int32_t number, bool *kept) {
  static const int32_t inside[3] = {CST__MESSAGE_MESSAGES, CST__MESSAGE_ENUMS,
                                    CST__MESSAGE_EXTENSIONS};
  static const int32_t name_only[] = {CST__MESSAGE_NAME};
  static const int32_t options_only[] = {CST__MESSAGE_OPTIONS};
  const char *name = trim_full_name(t, scope, cst__message_bytes(from, CST__MESSAGE_NAME));
  cst__message *out = cst__message_new(&t->arena, from->def);
  if (name == NULL || out == NULL || !trim_put_fields(t, from, name_only, 1, out)) {
    return false;
  }
  size_t type = trim_type(t, name);
  bool is_kept = type != SIZE_MAX && (t->picks->types[type].is_kept || t->place_marks[type]);
  if (type != SIZE_MAX && t->picks->types[type].is_kept) {
    const cst__message_def *def = &t->picks->set->types[type].message->def;
    const bool *marks = t->picks->types[type].fields;
    if (!trim_put_message_fields(t, from, def, marks, out) ||
        !trim_put_ranges(t, def, marks, out) || !trim_put_fields(t, from, options_only, 1, out)) {
      return false;
    }
  }
  if (!trim_put_inside(t, from, name, inside, out, &is_kept)) {
    return false;
  }
  *kept |= is_kept;
  return !is_kept || cst__message_put(&t->arena, to, cst__field_by_number(to->def, number),
                                      (cst__value){.message = out});
}

static bool trim_put_enum(trimmer *t, const cst__message *from, const char *scope, cst__message *to,
                          int32_t number, bool *kept) {
  const char *name = trim_full_name(t, scope, cst__message_bytes(from, CST__ENUM_NAME));
  size_t type = name != NULL ? trim_type(t, name) : SIZE_MAX;
  if (type == SIZE_MAX || !t->picks->types[type].is_kept) {
    return name != NULL;
  }
  *kept = true;
  cst__message *copy = trim_copy(t, from);
  return copy != NULL && trim_allow_alias(t, t->picks->set->types[type].values, copy) &&
         cst__message_put(&t->arena, to, cst__field_by_number(to->def, number),
                          (cst__value){.message = copy});
}

static bool trim_put_inside(trimmer *t, const cst__message *proto, const char *scope,
                            const int32_t numbers[3], cst__message *to, bool *kept) {
  bool (*const put[3])(trimmer *, const cst__message *, const char *, cst__message *, int32_t,
                       bool *) = {trim_put_message, trim_put_enum, trim_put_extension};
  for (int kind = 0; kind < 3; kind++) {
    const cst__field *items = cst__message_find(proto, numbers[kind]);
    for (size_t i = 0; items != NULL && i < items->count; i++) {
      const cst__message *item = cst__field_value(items, i)->message;
      if (!put[kind](t, item, scope, to, numbers[kind], kept)) {
        return false;
      }
    }
  }
  return true;
}

/* ---- files ---- */

static int trim_compare_files(const void *a, const void *b) {
  const trim_file *fa = a;
  const trim_file *fb = b;
  return strcmp(fa->given->name, fb->given->name);
}

static int trim_compare_numbers(const void *a, const void *b) {
  size_t na = *(const size_t *)a;
  size_t nb = *(const size_t *)b;
  return (na > nb) - (na < nb);
}

static bool trim_one_file(trimmer *t) {
  static const int32_t inside[3] = {CST__FILE_MESSAGES, CST__FILE_ENUMS, CST__FILE_EXTENSIONS};
  static const int32_t around[] = {CST__FILE_NAME, CST__FILE_PACKAGE, CST__FILE_OPTIONS,
                                   CST__FILE_SYNTAX, CST__FILE_EDITION};
  trim_file *file = &t->files[t->at];
  const cst__message *proto = file->given->proto;
  cst_bytes package = cst__message_bytes(proto, CST__FILE_PACKAGE);
  const char *scope = cst__arena_copy(&t->arena, package.data, package.size);
  cst__message *out = cst__message_new(&t->arena, proto->def);
  bool kept = false;
  if (scope == NULL || out == NULL ||
      !trim_put_fields(t, proto, around, sizeof around / sizeof *around, out) ||
      !trim_put_inside(t, proto, scope, inside, out, &kept)) {
    return false;
  }
  if (file->num_imports > 0) {
    qsort(file->imports, file->num_imports, sizeof *file->imports, trim_compare_numbers);
  }
  for (size_t i = 0; i < file->num_imports; i++) { /* sorted by name, as the files are */
    const char *name = t->files[file->imports[i]].given->name;
    if (!cst__message_put_bytes(&t->arena, out, CST__FILE_DEPENDENCY, name, strlen(name))) {
      return false;
    }
  }
  file->left = kept ? out : NULL;
  return true;
}

/* Appends the file to the order after all that it imports, without recursion: `stack` has room for
 * all files, and `next` says which import of each comes next. */
static void trim_order_file(trimmer *t, size_t first, size_t *stack, size_t *next) {
  size_t depth = 0;
  stack[depth++] = first;
  t->files[first].is_written = true;
  while (depth > 0) {
    size_t at = stack[depth - 1];
    if (next[at] == t->files[at].num_imports) {
      t->order[t->num_ordered++] = at;
      depth--;
      continue;
    }
    size_t import = t->files[at].imports[next[at]++];
    if (!t->files[import].is_written) {
      t->files[import].is_written = true;
      stack[depth++] = import;
    }
  }
}

static bool trim_order_files(trimmer *t) {
  size_t *stack = cst__arena_take(&t->arena, (t->num_files + 1) * sizeof *stack);
  size_t *next = cst__arena_take_zero(&t->arena, (t->num_files + 1) * sizeof *next);
  t->order = cst__arena_take(&t->arena, (t->num_files + 1) * sizeof *t->order);
  if (stack == NULL || next == NULL || t->order == NULL) {
    return false;
  }
  for (size_t i = 0; i < t->num_files; i++) {
    if (t->files[i].left != NULL && !t->files[i].is_written) {
      trim_order_file(t, i, stack, next);
    }
  }
  return true;
}

static bool trim_set(trimmer *t) {
  static const int32_t inside[2] = {CST__FILE_MESSAGES, CST__FILE_ENUMS};
  size_t num_types = t->picks->set->num_types;
  t->files = cst__arena_take_zero(&t->arena, (t->num_files + 1) * sizeof *t->files);
  t->homes = cst__arena_take(&t->arena, (num_types + 1) * sizeof *t->homes);
  t->place_marks = cst__arena_take_zero(&t->arena, num_types + 1);
  if (t->files == NULL || t->homes == NULL || t->place_marks == NULL) {
    return false;
  }
  memset(t->homes, 0xff, num_types * sizeof *t->homes);
  for (size_t i = 0; i < t->num_files; i++) {
    t->files[i].given = t->reader.files[i];
  }
  /* Given files come before those that are built in, which fill gaps: so they declare first. */
  for (size_t built_in = 0; built_in < 2; built_in++) {
    qsort(t->files, t->num_files, sizeof *t->files, trim_compare_files);
    for (t->at = 0; t->at < t->num_files; t->at++) {
      const cst__set_file *file = t->files[t->at].given;
      cst_bytes package = cst__message_bytes(file->proto, CST__FILE_PACKAGE);
      const char *scope = cst__arena_copy(&t->arena, package.data, package.size);
      if (file->is_built_in == (built_in == 1) &&
          (scope == NULL || !trim_find_homes(t, file->proto, scope, inside))) {
        return false;
      }
    }
  }
  trim_mark_places(t);
  for (t->at = 0; t->at < t->num_files; t->at++) {
    if (!trim_one_file(t)) {
      return false;
    }
  }
  return trim_order_files(t);
}

static cst_status trim_write(trimmer *t, char **bytes, size_t *size, cst_error *error) {
  cst__wire_out out = {0};
  for (size_t i = t->num_ordered; i-- > 0;) {
    size_t after = cst__wire_out_size(&out);
    cst__message_put_wire(t->files[t->order[i]].left, &out);
    cst__wire_put_varint(&out, cst__wire_out_size(&out) - after);
    cst__wire_put_tag(&out, CST__FILE_SET_FILE, CST__WIRE_LEN);
  }
  return cst__wire_out_finish(&out, bytes, size, error);
}

cst_status cst__descriptor_picks_write(const cst__descriptor_picks *picks, char **bytes,
                                       size_t *size, cst_error *error) {
  trimmer t = {.picks = picks};
  const cst_allocator *allocator = &picks->arena.allocator;
  cst__arena_init(&t.arena, allocator);
  t.reader.set = (cst_descriptors *)(uintptr_t)picks->set; /* only its allocator is used */
  t.reader.error = error;
  cst__arena_init(&t.reader.scratch, allocator);
  cst_status status = cst__set_read_files(&t.reader, picks->set->given);
  t.num_files = t.reader.num_files;
  if (status == CST_OK && !trim_set(&t)) {
    status = cst__fail_memory(error, picks->set->given.size);
  }
  if (status == CST_OK) {
    status = trim_write(&t, bytes, size, error);
  }
  for (size_t i = 0; t.files != NULL && i < t.num_files; i++) {
    cst__delete(t.files[i].imports);
  }
  cst__name_map_reset(&t.reader.file_names);
  cst__delete(t.reader.files);
  cst__arena_reset(&t.reader.scratch);
  cst__arena_reset(&t.arena);
  return status;
}
