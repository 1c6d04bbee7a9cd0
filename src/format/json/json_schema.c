/* The Arrow schema of a tree of types. */
#include <stdio.h>
#include <string.h>

#include "format/json/json.h"

/* One node: its strings and its children's structs lie in blocks of the C library's heap. */
typedef struct node {
  struct ArrowSchema **pointers;
  struct ArrowSchema *children;
  char *name;
  char format[16];
} node;

static void node_release(struct ArrowSchema *schema) {
  node *n = schema->private_data;
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (n->children[i].release != NULL) {
      n->children[i].release(&n->children[i]);
    }
  }
  cst__delete(n->pointers);
  cst__delete(n->children);
  cst__delete(n->name);
  cst__delete(n);
  schema->release = NULL;
}

static void write_format(const cst__json_type *type, char *out, size_t n) {
  static const char numbers[] = {
      [CST_DTYPE_INT8] = 'c',   [CST_DTYPE_INT16] = 's',  [CST_DTYPE_INT32] = 'i',
      [CST_DTYPE_INT64] = 'l',  [CST_DTYPE_UINT8] = 'C',  [CST_DTYPE_UINT16] = 'S',
      [CST_DTYPE_UINT32] = 'I', [CST_DTYPE_UINT64] = 'L', [CST_DTYPE_FLOAT32] = 'f',
      [CST_DTYPE_FLOAT64] = 'g'};
  bool is_view = (type->flags & CST__JSON_VIEWS) != 0;
  bool is_narrow = (type->flags & CST__JSON_OFFSETS_32) != 0;
  const char *format = "n";
  switch (type->kind) {
    case CST__JSON_KIND_NULL:
      break;
    case CST__JSON_KIND_BOOL:
      format = "b";
      break;
    case CST__JSON_KIND_NUMBER:
      (void)snprintf(out, n, "%c", numbers[type->dtype]);
      return;
    case CST__JSON_KIND_STRING:
      format = is_view ? "vu" : is_narrow ? "u" : "U";
      break;
    case CST__JSON_KIND_BINARY:
      format = is_view ? "vz" : is_narrow ? "z" : "Z";
      break;
    case CST__JSON_KIND_LIST:
      format = is_narrow ? "+l" : "+L";
      break;
    case CST__JSON_KIND_FIXED_LIST:
      (void)snprintf(out, n, "+w:%d", (int)type->fixed_size);
      return;
    case CST__JSON_KIND_STRUCT:
      format = "+s";
      break;
  }
  (void)snprintf(out, n, "%s", format);
}

/* All but the children's content. */
static bool make_node(const cst__json_type *type, const char *name, struct ArrowSchema *out) {
  size_t count = type->num_children;
  node *n = cst__new_zero(NULL, sizeof *n);
  *out = (struct ArrowSchema){0};
  if (n == NULL) {
    return false;
  }
  write_format(type, n->format, sizeof n->format);
  *out = (struct ArrowSchema){.format = n->format,
                              .flags = ARROW_FLAG_NULLABLE,
                              .release = node_release,
                              .private_data = n};
  n->name = cst__new_copy(NULL, name, strlen(name));
  n->children = cst__new_zero(NULL, (count + 1) * sizeof *n->children);
  n->pointers = cst__new_zero(NULL, (count + 1) * sizeof(struct ArrowSchema *));
  if (n->name == NULL || n->children == NULL || n->pointers == NULL) {
    node_release(out);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    n->pointers[i] = &n->children[i];
  }
  out->name = n->name;
  out->n_children = (int64_t)count;
  out->children = n->pointers;
  return true;
}

static bool make_tree(const cst__json_type *type, const char *name, struct ArrowSchema *out) {
  if (!make_node(type, name, out)) {
    return false;
  }
  for (size_t i = 0; i < type->num_children; i++) {
    const cst__json_type *child = &type->children[i];
    if (!make_tree(child, child->name != NULL ? child->name : "item", out->children[i])) {
      node_release(out);
      return false;
    }
  }
  return true;
}

/* Fields that an Arrow struct said are never null. */
static void set_required(const cst__json_type *type, struct ArrowSchema *schema) {
  for (size_t i = 0; i < type->num_children; i++) {
    const cst__json_type *child = &type->children[i];
    if ((child->flags & CST__JSON_REQUIRED) != 0 && (child->flags & CST__JSON_DECLARED) != 0) {
      schema->children[i]->flags = 0;
    }
    set_required(child, schema->children[i]);
  }
}

cst_status cst__json_arrow_schema(const cst__json_type *type, struct ArrowSchema *out,
                                  cst_error *error) {
  struct ArrowSchema schema;
  if (!make_tree(type, type->name != NULL ? type->name : "", &schema)) {
    return cst__fail_memory(error, sizeof schema);
  }
  set_required(type, &schema);
  schema.flags = 0; /* a batch itself is never null */
  *out = schema;
  return CST_OK;
}
