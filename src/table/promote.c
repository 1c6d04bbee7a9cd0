/* Merging types: a tree that every type is added to, and the type that comes out.
 *
 * Numbers are kept as a set (the widest of each kind), not as the type so far, so that the result
 * does not depend on the order: uint32, int8 and float32 are float64 without a look at the values,
 * though uint32 and int8 alone are int64.
 *
 * Readers without a schema keep such sets too, but of values. What has no common type is an error
 * here, in JSON and in schemas (where only UNKNOWN goes with another type), and a string in CSV.
 */
#include "table/promote.h"

#include <string.h>

#include "base/hash.h"
#include "table/array_type.h"

typedef enum kind {
  KIND_NOTHING, /* nulls alone */
  KIND_NUMBER,
  KIND_BINARY,
  KIND_LIST,
  KIND_STRUCT,
  KIND_SINGLE /* put together with itself only */
} kind;

/* Bytes of the widest number of each kind; 0: none. */
typedef struct numbers {
  size_t of_signed;
  size_t of_unsigned;
  size_t of_float;
} numbers;

struct cst__merged {
  kind kind;
  const char *name;
  const struct ArrowSchema *first; /* that is not null alone, if there is one */
  cst__view first_view;            /* for its name */
  bool is_one_format;              /* all have the format of the first */
  bool is_mixed;                   /* some are nulls alone, or have the fields in another order */
  bool is_nullable;
  bool is_text; /* BINARY: all are strings */
  size_t times; /* how many types were added */
  size_t last;  /* which of the structs above was the last to have this field; from 1 on */
  numbers numbers;
  cst__merged *item;    /* LIST */
  cst__merged **fields; /* STRUCT */
  size_t num_fields;
  size_t capacity; /* in the arena */
  size_t structs;  /* how many of the types were structs */
  cst__name_map places;
};

/* ---- kinds and numbers ---- */

static kind merged_kind_of(const cst__view *view) {
  switch (view->layout) {
    case CST__LAYOUT_NULL:
      return KIND_NOTHING;
    case CST__LAYOUT_NUMBER:
      return KIND_NUMBER;
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_FIXED_BINARY:
      return KIND_BINARY;
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_FIXED_LIST:
    case CST__LAYOUT_LIST_VIEW:
      return KIND_LIST;
    case CST__LAYOUT_STRUCT:
      return KIND_STRUCT;
    default:
      return KIND_SINGLE;
  }
}

static size_t merged_larger(size_t a, size_t b) { return a > b ? a : b; }

/* Of integers of 64 bits float64 holds many, but not all: the values decide, when they are
 * converted (convert.c). */
static cst_dtype float_of(const numbers *n) {
  size_t integer = merged_larger(n->of_signed, n->of_unsigned);
  if (n->of_unsigned == 8 && n->of_signed > 0) {
    return CST_DTYPE_NONE; /* as without the floats: no order of the types makes a difference */
  }
  return n->of_float == 8 || integer >= 4 ? CST_DTYPE_FLOAT64 : CST_DTYPE_FLOAT32;
}

static cst_dtype integer_of(size_t width, bool is_unsigned) {
  switch (width) {
    case 1:
      return is_unsigned ? CST_DTYPE_UINT8 : CST_DTYPE_INT8;
    case 2:
      return is_unsigned ? CST_DTYPE_UINT16 : CST_DTYPE_INT16;
    case 4:
      return is_unsigned ? CST_DTYPE_UINT32 : CST_DTYPE_INT32;
    case 8:
      return is_unsigned ? CST_DTYPE_UINT64 : CST_DTYPE_INT64;
    default:
      return CST_DTYPE_NONE; /* an unsigned one of 64 bits, and a sign */
  }
}

/* The type that holds all of them; CST_DTYPE_NONE: there is none. */
static cst_dtype number_of(const numbers *n) {
  if (n->of_float > 0) {
    return float_of(n);
  }
  return n->of_signed == 0 ? integer_of(n->of_unsigned, true)
                           : integer_of(merged_larger(n->of_signed, 2 * n->of_unsigned), false);
}

/* ---- adding ---- */

typedef struct merging {
  cst__arena *arena;
  cst_error *error;
} merging;

static cst_status merged_add_type(const merging *m, cst__merged *node,
                                  const struct ArrowSchema *schema, const cst__view *view);

static cst_status fail_pair(const merging *m, const cst__merged *node, const cst__view *view) {
  char before[64];
  char type[64];
  cst__view_type_name(&node->first_view, before, sizeof before);
  cst__view_type_name(view, type, sizeof type);
  if (node->kind == KIND_NUMBER) {
    (void)strncpy(before, cst_dtype_name(number_of(&node->numbers)), sizeof before - 1);
  }
  return cst__fail(m->error, CST_SCHEMA, "cast one of them, or leave the column out",
                   "no type holds both %s and %s without a loss", before, type);
}

static cst_status merged_new_node(const merging *m, cst__merged **out) {
  *out = cst__arena_take_zero(m->arena, sizeof **out);
  return *out != NULL ? CST_OK : cst__fail_memory(m->error, sizeof **out);
}

static cst_status merged_add_field(const merging *m, cst__merged *node, const char *name,
                                   size_t *place) {
  if (node->num_fields == node->capacity) {
    size_t capacity = node->capacity < 8 ? 8 : 2 * node->capacity;
    cst__merged **grown = cst__arena_take_zero(m->arena, capacity * sizeof(cst__merged *));
    if (grown == NULL) {
      return cst__fail_memory(m->error, capacity * sizeof(cst__merged *));
    }
    if (node->num_fields > 0) {
      memcpy(grown, node->fields, node->num_fields * sizeof(cst__merged *));
    }
    node->fields = grown;
    node->capacity = capacity;
  }
  *place = node->num_fields;
  CST__TRY(merged_new_node(m, &node->fields[*place]));
  if (!cst__name_map_add(&node->places, name, strlen(name), *place)) {
    return cst__fail_memory(m->error, strlen(name));
  }
  node->num_fields++;
  return CST_OK;
}

/* Most structs have their fields in the same order. */
static size_t find_field(const cst__merged *node, const char *name, size_t guess) {
  if (guess < node->num_fields && strcmp(node->fields[guess]->name, name) == 0) {
    return guess;
  }
  return cst__name_map_find(&node->places, name, strlen(name));
}

static cst_status add_one_field(const merging *m, cst__merged *node,
                                const struct ArrowSchema *schema, const cst__view *view,
                                size_t guess) {
  size_t place = find_field(node, view->name, guess);
  if (place == SIZE_MAX) {
    CST__TRY(merged_add_field(m, node, view->name, &place));
  }
  cst__merged *field = node->fields[place];
  node->is_mixed |= place != guess;
  if (field->last == node->structs) {
    return cst__fail(m->error, CST_INVALID_ARGUMENT, "rename one of them",
                     "two columns have the same name");
  }
  field->last = node->structs;
  return merged_add_type(m, field, schema, view);
}

static cst_status merged_add_value(const merging *m, cst__merged *node,
                                   const struct ArrowSchema *schema, const cst__view *view) {
  switch (node->kind) {
    case KIND_NUMBER: {
      numbers sum = node->numbers;
      size_t width = cst_dtype_width(view->dtype);
      bool is_float = view->dtype == CST_DTYPE_FLOAT32 || view->dtype == CST_DTYPE_FLOAT64;
      bool is_unsigned = view->dtype >= CST_DTYPE_UINT8 && view->dtype <= CST_DTYPE_UINT64;
      size_t *to = is_float ? &sum.of_float : is_unsigned ? &sum.of_unsigned : &sum.of_signed;
      *to = merged_larger(*to, width);
      if (number_of(&sum) == CST_DTYPE_NONE) {
        return fail_pair(m, node, view);
      }
      node->numbers = sum;
      return CST_OK;
    }
    case KIND_BINARY:
      node->is_text &= view->is_string;
      return CST_OK;
    case KIND_LIST:
      if (node->item == NULL) {
        CST__TRY(merged_new_node(m, &node->item));
      }
      return merged_add_type(m, node->item, schema->children[0], &view->children[0]);
    case KIND_STRUCT:
      node->structs++;
      for (int64_t i = 0; i < view->num_children; i++) {
        const cst__view *child = &view->children[i];
        cst_status status = add_one_field(m, node, schema->children[i], child, (size_t)i);
        if (status != CST_OK) {
          cst__error_add_path(m->error, child->name, strlen(child->name));
          return status;
        }
      }
      return CST_OK;
    case KIND_SINGLE:
      if (node->is_one_format && cst__schema_equal(node->first, schema)) {
        return CST_OK;
      }
      return fail_pair(m, node, view);
    case KIND_NOTHING:
      break;
  }
  return CST_OK;
}

static cst_status merged_add_type(const merging *m, cst__merged *node,
                                  const struct ArrowSchema *schema, const cst__view *view) {
  kind added = merged_kind_of(view);
  node->is_mixed |= node->first != NULL && (added == KIND_NOTHING) != (node->kind == KIND_NOTHING);
  if (node->first == NULL || (node->kind == KIND_NOTHING && added != KIND_NOTHING)) {
    node->kind = added;
    node->first = schema;
    node->first_view = *view;
    node->is_one_format = true;
    node->is_text = true;
  }
  node->name = node->name != NULL ? node->name : view->name;
  node->times++;
  node->is_nullable |= (schema->flags & ARROW_FLAG_NULLABLE) != 0 || added == KIND_NOTHING;
  if (added == KIND_NOTHING) {
    return CST_OK;
  }
  if (added != node->kind) {
    return fail_pair(m, node, view);
  }
  node->is_one_format &= strcmp(node->first->format, schema->format) == 0;
  return merged_add_value(m, node, schema, view);
}

cst_status cst__merge_type(cst__merged **tree, const struct ArrowSchema *schema,
                           const cst__view *view, cst__arena *arena, cst_error *error) {
  merging m = {arena, error};
  if (*tree == NULL) {
    CST__TRY(merged_new_node(&m, tree));
  }
  return merged_add_type(&m, *tree, schema, view);
}

void cst__merge_free(cst__merged *tree) {
  if (tree == NULL) {
    return;
  }
  cst__merge_free(tree->item);
  for (size_t i = 0; i < tree->num_fields; i++) {
    cst__merge_free(tree->fields[i]);
  }
  cst__name_map_reset(&tree->places);
}

/* ---- the result ---- */

/* True if every type that was added is the very same. */
static bool are_identical(const cst__merged *node) {
  bool same =
      node->is_one_format && !node->is_mixed && (node->item == NULL || are_identical(node->item));
  for (size_t i = 0; i < node->num_fields && same; i++) {
    same = node->fields[i]->times == node->structs && are_identical(node->fields[i]);
  }
  return same;
}

static cst_status merged_finish_one(const cst__merged *node, cst__arena *arena, bool is_missing,
                                    struct ArrowSchema *out, cst_error *error);

/* Room for the children of a type. */
static cst_status new_children(size_t count, cst__arena *arena, struct ArrowSchema *out,
                               cst_error *error) {
  size_t size = count * (sizeof(struct ArrowSchema) + sizeof(struct ArrowSchema *));
  struct ArrowSchema *nodes = cst__arena_take_zero(arena, size);
  if (nodes == NULL) {
    return cst__fail_memory(error, size);
  }
  out->n_children = (int64_t)count;
  out->children = (struct ArrowSchema **)(void *)(nodes + count);
  for (size_t i = 0; i < count; i++) {
    out->children[i] = &nodes[i];
  }
  return CST_OK;
}

static cst_status merged_finish_one(const cst__merged *node, cst__arena *arena, bool is_missing,
                                    struct ArrowSchema *out, cst_error *error) {
  *out = cst__array_type_field(node->first->format, node->name, NULL, 0);
  out->flags = node->is_nullable || is_missing ? ARROW_FLAG_NULLABLE : 0;
  switch (node->kind) {
    case KIND_NUMBER:
      out->format = cst__dtype_format(number_of(&node->numbers));
      break;
    case KIND_BINARY:
      out->format = node->is_one_format ? out->format : node->is_text ? "U" : "Z";
      break;
    case KIND_LIST:
      if (!node->is_one_format || !are_identical(node->item)) {
        out->format = "+L";
      }
      CST__TRY(new_children(1, arena, out, error));
      CST__TRY(merged_finish_one(node->item, arena, false, out->children[0], error));
      break;
    case KIND_STRUCT:
      CST__TRY(new_children(node->num_fields, arena, out, error));
      for (size_t i = 0; i < node->num_fields; i++) {
        const cst__merged *field = node->fields[i];
        CST__TRY(
            merged_finish_one(field, arena, field->times < node->structs, out->children[i], error));
      }
      break;
    case KIND_SINGLE:
      out->n_children = node->first->n_children;
      out->children = node->first->children;
      break;
    case KIND_NOTHING:
      break;
  }
  out->metadata = strcmp(out->format, node->first->format) == 0 ? node->first->metadata : NULL;
  return CST_OK;
}

cst_status cst__merge_finish(const cst__merged *tree, cst__arena *arena, struct ArrowSchema *out,
                             cst_error *error) {
  return merged_finish_one(tree, arena, false, out, error);
}
