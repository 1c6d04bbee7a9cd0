/* Counted schemas, each in one arena. */
#include "table/array_type.h"

#include <string.h>

#include "arrow/view.h"

/* The bytes of encoded metadata; 0 for NULL. */
static size_t metadata_size(const char *metadata) {
  int32_t count;
  size_t size = sizeof count;
  if (metadata == NULL) {
    return 0;
  }
  memcpy(&count, metadata, sizeof count);
  for (int64_t i = 0; i < 2 * (int64_t)count; i++) { /* keys and values */
    int32_t length;
    memcpy(&length, metadata + size, sizeof length);
    size += sizeof length + (length > 0 ? (size_t)length : 0);
  }
  return size;
}

/* What is borrowed is released by nobody; the pointer marks a schema that is there. */
static void type_release_nothing(struct ArrowSchema *schema) { schema->release = NULL; }

struct ArrowSchema cst__array_type_field(const char *format, const char *name,
                                         const struct ArrowSchema *const *children,
                                         int64_t num_children) {
  return (struct ArrowSchema){.format = format,
                              .name = name,
                              .flags = ARROW_FLAG_NULLABLE,
                              .n_children = num_children,
                              .children = (struct ArrowSchema **)(uintptr_t)children,
                              .release = type_release_nothing};
}

/* ---- copying ---- */

typedef struct copying {
  cst__array_type *type;
  cst_error *error;
} copying;

static cst_status type_copy_bytes(const copying *c, const char *from, size_t size,
                                  const char **to) {
  *to = NULL;
  if (from != NULL) {
    *to = cst__arena_copy(&c->type->arena, from, size);
    return *to != NULL ? CST_OK : cst__fail_memory(c->error, size);
  }
  return CST_OK;
}

static cst_status copy_string(const copying *c, const char *from, const char **to) {
  return type_copy_bytes(c, from, from != NULL ? strlen(from) : 0, to);
}

static cst_status type_copy_schema(const copying *c, const struct ArrowSchema *from,
                                   struct ArrowSchema *to);

static cst_status copy_dictionary(const copying *c, const struct ArrowSchema *from,
                                  struct ArrowSchema *to) {
  c->type->has_dictionary = true;
  to->dictionary = cst__arena_take_zero(&c->type->arena, sizeof *to->dictionary);
  if (to->dictionary == NULL) {
    return cst__fail_memory(c->error, sizeof *to->dictionary);
  }
  return type_copy_schema(c, from->dictionary, to->dictionary);
}

static cst_status type_copy_schema(const copying *c, const struct ArrowSchema *from,
                                   struct ArrowSchema *to) {
  *to = (struct ArrowSchema){.flags = from->flags, .release = type_release_nothing};
  CST__TRY(copy_string(c, from->format, &to->format));
  CST__TRY(copy_string(c, from->name, &to->name));
  CST__TRY(type_copy_bytes(c, from->metadata, metadata_size(from->metadata), &to->metadata));
  if (from->n_children > 0) {
    size_t count = (size_t)from->n_children;
    size_t size = count * (sizeof(struct ArrowSchema) + sizeof(struct ArrowSchema *));
    struct ArrowSchema *nodes = cst__arena_take_zero(&c->type->arena, size);
    if (nodes == NULL) {
      return cst__fail_memory(c->error, size);
    }
    to->n_children = from->n_children;
    to->children = (struct ArrowSchema **)(void *)(nodes + count);
    for (size_t i = 0; i < count; i++) {
      to->children[i] = &nodes[i];
      CST__TRY(type_copy_schema(c, from->children[i], &nodes[i]));
    }
  }
  return from->dictionary != NULL ? copy_dictionary(c, from, to) : CST_OK;
}

cst_status cst__array_type_new(const struct ArrowSchema *schema, const cst_allocator *allocator,
                               cst__array_type **out, cst_error *error) {
  cst__arena arena;
  CST__TRY(cst__schema_check_whole(schema, error));
  cst__arena_init(&arena, allocator);
  cst__array_type *type = cst__arena_take_zero(&arena, sizeof *type);
  if (type == NULL) {
    return cst__fail_memory(error, sizeof *type);
  }
  type->arena = arena;
  cst__refcount_init(&type->owners);
  copying c = {type, error};
  cst_status status = type_copy_schema(&c, schema, &type->schema);
  if (status != CST_OK) {
    cst__array_type_release(type);
    return status;
  }
  *out = type;
  return CST_OK;
}

cst__array_type *cst__array_type_retain(cst__array_type *type) {
  cst__refcount_up(&type->owners);
  return type;
}

void cst__array_type_release(cst__array_type *type) {
  if (type != NULL && cst__refcount_down(&type->owners)) {
    cst__arena arena = type->arena; /* the type itself lies in it */
    cst__arena_reset(&arena);
  }
}
