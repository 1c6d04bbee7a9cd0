/* The set of descriptors as users and other rooms see it: counted, and asked for messages. */
#include "proto/descriptor_set.h"

#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/names.h"
#include "io/protoc.h"
#include "proto/descriptor_build.h"

/* ---- making ---- */

static cst_descriptors *new_set(const cst_allocator *allocator) {
  cst_allocator own = cst__allocator_of(allocator);
  cst_descriptors *set = cst__new_zero(&own, sizeof *set);
  if (set != NULL) {
    cst__refcount_init(&set->owners);
    cst__arena_init(&set->arena, &own);
  }
  return set;
}

static cst_status build_set(cst__set_builder *builder, cst_bytes bytes) {
  const char *copy = cst__arena_copy(&builder->set->arena, bytes.data, bytes.size);
  if (copy == NULL) {
    return cst__set_no_memory(builder);
  }
  builder->set->given = (cst_bytes){(const uint8_t *)copy, bytes.size};
  CST__TRY(cst__set_read_files(builder, bytes));
  CST__TRY(cst__set_declare_types(builder));
  return cst__set_make_fields(builder);
}

cst_status cst_descriptors_new(const void *bytes, size_t size, const cst_allocator *allocator,
                               cst_descriptors **out, cst_error *error) {
  CST__CLEAR(out);
  if (out == NULL || (bytes == NULL && size > 0)) {
    return cst__missing(out == NULL ? "out" : "bytes", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  cst_descriptors *set = new_set(allocator);
  if (set == NULL) {
    return cst__fail_memory(error, sizeof *set);
  }
  cst__set_builder builder = {.set = set, .error = error};
  builder.last_draft = &builder.drafts;
  builder.last_extension = &builder.extensions;
  cst__arena_init(&builder.scratch, &set->arena.allocator);
  cst_status status = build_set(&builder, (cst_bytes){bytes, size});
  cst__name_map_reset(&builder.file_names);
  cst__delete(builder.files);
  cst__arena_reset(&builder.scratch);
  if (status != CST_OK) {
    cst_descriptors_release(set);
    return status;
  }
  *out = set;
  return CST_OK;
}

cst_status cst_descriptors_compile(const char *path, const cst_allocator *allocator,
                                   cst_descriptors **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(path, "path", out, error));
  CST__TRY(cst__check_allocator(allocator, error));
  uint8_t *bytes;
  size_t size;
  CST__TRY(cst__protoc_compile(path, allocator, &bytes, &size, error));
  cst_status status = cst_descriptors_new(bytes, size, allocator, out, error);
  cst__delete(bytes);
  return status;
}

cst_descriptors *cst_descriptors_retain(const cst_descriptors *descriptors) {
  cst_descriptors *shared = (cst_descriptors *)(uintptr_t)descriptors; /* only the count changes */
  if (shared != NULL) {
    cst__refcount_up(&shared->owners);
  }
  return shared;
}

void cst_descriptors_release(cst_descriptors *descriptors) {
  if (descriptors != NULL && cst__refcount_down(&descriptors->owners)) {
    cst__name_map_reset(&descriptors->names);
    cst__delete(descriptors->types);
    cst__delete(descriptors->listed);
    cst__arena_reset(&descriptors->arena);
    cst__delete(descriptors);
  }
}

/* ---- asking ---- */

size_t cst_descriptors_num_messages(const cst_descriptors *descriptors) {
  return descriptors != NULL ? descriptors->num_listed : 0;
}

const cst__message_def *cst__descriptors_message_def(const cst_descriptors *descriptors, size_t i) {
  return i < descriptors->num_listed ? &descriptors->listed[i]->def : NULL;
}

const char *cst_descriptors_message(const cst_descriptors *descriptors, size_t i) {
  const cst__message_def *message =
      descriptors != NULL ? cst__descriptors_message_def(descriptors, i) : NULL;
  return message != NULL ? message->full_name : NULL;
}

const cst__message_def *cst__descriptors_find(const cst_descriptors *descriptors, const char *name,
                                              size_t size) {
  if (size > 0 && *name == '.') {
    name++;
    size--;
  }
  const cst__set_type *type = cst__set_find_type(descriptors, name, size);
  return type != NULL && type->message != NULL ? &type->message->def : NULL;
}

static const char *nth_set_message(const void *items, size_t i) {
  const cst_descriptors *set = items;
  return set->listed[i]->def.full_name;
}

/* What comes after the last dot. */
static const char *nth_set_last_name(const void *items, size_t i) {
  const char *name = nth_set_message(items, i);
  const char *dot = strrchr(name, '.');
  return dot != NULL ? dot + 1 : name;
}

/* A name without dots is compared with names without their packages. */
static cst_status fail_no_message(const cst_descriptors *set, const char *name, cst_error *error) {
  char hint[CST__NEAR_HINT];
  bool is_full = strchr(name, '.') != NULL;
  cst__name_list names = {set, set->num_listed, is_full ? nth_set_message : nth_set_last_name};
  size_t near = cst__nearest_name(name, &names);
  if (near != SIZE_MAX) {
    (void)snprintf(hint, sizeof hint, "did you mean '%.120s'?", nth_set_message(set, near));
  }
  cst_status status = cst__fail(error, CST_NOT_FOUND, near != SIZE_MAX ? hint : NULL,
                                "the descriptors have no message of this name");
  cst__error_add_path(error, name, strlen(name));
  return status;
}

/* Of the messages that no other one holds: how many there are, the first, and some names. */
static size_t find_roots(const cst_descriptors *set, const cst__message_def **first, char *names,
                         size_t room) {
  size_t count = 0;
  size_t used = 0;
  names[0] = '\0';
  for (size_t i = 0; i < set->num_listed; i++) {
    const cst__set_message *message = set->listed[i];
    if (message->outer != NULL || message->is_held) {
      continue;
    }
    if (count++ == 0) {
      *first = &message->def;
    }
    size_t size = strlen(message->def.full_name);
    if (count <= 3 && used + size + 3 < room) {
      used += (size_t)snprintf(names + used, room - used, "%s%s", used > 0 ? ", " : "",
                               message->def.full_name);
    }
  }
  return count;
}

static cst_status need_only_message(const cst_descriptors *set, const cst__message_def **out,
                                    cst_error *error) {
  char names[100];
  size_t roots = find_roots(set, out, names, sizeof names);
  if (roots == 1) {
    return CST_OK;
  }
  if (set->num_listed == 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the descriptors have no messages");
  }
  if (roots == 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "name the message type of the records",
                     "every message of the descriptors is contained in another one");
  }
  return cst__fail(error, CST_INVALID_ARGUMENT, "name the message type of the records",
                   "the descriptors have %zu messages that no other message contains%s%s", roots,
                   names[0] != '\0' ? ", such as " : "", names);
}

cst_status cst__descriptors_need(const cst_descriptors *descriptors, const char *name,
                                 const cst__message_def **out, cst_error *error) {
  if (name == NULL) {
    return need_only_message(descriptors, out, error);
  }
  const cst__message_def *found = cst__descriptors_find(descriptors, name, strlen(name));
  if (found == NULL) {
    return fail_no_message(descriptors, name, error);
  }
  *out = found;
  return CST_OK;
}

cst_status cst_descriptors_find(const cst_descriptors *descriptors, const char *message,
                                const char **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(descriptors, "descriptors", out, error));
  const cst__message_def *found;
  CST__TRY(cst__descriptors_need(descriptors, message, &found, error));
  *out = found->full_name;
  return CST_OK;
}

size_t cst__descriptors_place(const cst_descriptors *descriptors, const cst__message_def *message,
                              int32_t *path) {
  (void)descriptors; /* each of its messages knows its place */
  const cst__set_message *at = (const cst__set_message *)message;
  size_t depth = 0;
  for (const cst__set_message *m = at; m != NULL; m = m->outer) {
    depth++;
  }
  for (size_t i = depth; i-- > 0; at = at->outer) {
    path[i] = at->index;
  }
  return depth;
}
