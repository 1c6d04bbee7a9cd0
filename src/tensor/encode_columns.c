/* The columns of an encoder: from specs to a tree, and from the tree to an Arrow schema. */
#include <stdlib.h>

#include "arrow/type.h"
#include "arrow/view.h"
#include "tensor/kind.h"

/* ---- leaves and columns ---- */

typedef struct planner {
  cst_tensor_encoder *encoder;
  cst__name_map *nodes; /* by parent and name; the value is the node */
  cst_error *error;
} planner;

static size_t count_leaves(const cst_tensor_spec *spec) {
  if (cst__kind_of(spec->kind)->encode != NULL) {
    return 1;
  }
  size_t count = 0;
  for (size_t i = 0; i < spec->num_fields; i++) {
    count += count_leaves(&spec->fields[i]);
  }
  return count;
}

static cst_status encode_new_node(const planner *p, const char *name, cst__encode_node *parent,
                                  cst__encode_node **out) {
  cst__encode_node *node = cst__arena_take_zero(&p->encoder->arena, sizeof *node);
  if (node == NULL) {
    return cst__fail_memory(p->error, sizeof *node);
  }
  node->name = name;
  node->parent = parent;
  node->number = p->encoder->num_nodes++;
  if (parent != NULL) {
    if (!cst__name_map_add_of(p->nodes, parent, name, strlen(name), (size_t)(uintptr_t)node)) {
      return cst__fail_memory(p->error, sizeof(cst__name_slot));
    }
    *(parent->last != NULL ? &parent->last->next : &parent->first) = node;
    parent->last = node;
    parent->num_children++;
  }
  *out = node;
  return CST_OK;
}

static cst__encode_node *encode_find_child(const planner *p, const cst__encode_node *parent,
                                           const char *name) {
  size_t found = cst__name_map_find_of(p->nodes, parent, name, strlen(name));
  return found != SIZE_MAX ? (cst__encode_node *)(uintptr_t)found : NULL;
}

static cst_status fail_twice(const planner *p, const cst__encode_leaf *leaf, const char *name) {
  return cst__encode_fail(p->error, leaf, -1, "give one of them a column of its own",
                          "column '%s' belongs to another tensor, or is a struct for one", name);
}

/* Adds a column of the leaf, after `*last`. */
static cst_status encode_add_column(const planner *p, cst__encode_leaf *leaf, const char *name,
                                    cst__encode_node **last) {
  cst__encode_node *node = NULL;
  if (encode_find_child(p, leaf->parent, name) != NULL) {
    return fail_twice(p, leaf, name);
  }
  CST__TRY(encode_new_node(p, name, leaf->parent, &node));
  node->leaf = leaf;
  node->is_values = *last == NULL;
  *(node->is_values ? &leaf->columns : &(*last)->more) = node;
  *last = node;
  return CST_OK;
}

/* The struct that the path leads to. */
static cst_status enter(const planner *p, cst__encode_leaf *leaf) {
  const cst_tensor_spec *spec = leaf->spec;
  leaf->parent = p->encoder->root;
  if (spec->num_path_steps >= CST__ENCODE_MAX_DEPTH) {
    return cst__encode_fail(p->error, leaf, -1, NULL, "a path of %zu steps, more than %d",
                            spec->num_path_steps, CST__ENCODE_MAX_DEPTH - 1);
  }
  for (size_t i = 0; i + 1 < spec->num_path_steps; i++) {
    cst__encode_node *child = encode_find_child(p, leaf->parent, spec->path[i]);
    if (child != NULL && child->leaf != NULL) {
      return fail_twice(p, leaf, spec->path[i]);
    }
    if (child == NULL) {
      CST__TRY(encode_new_node(p, spec->path[i], leaf->parent, &child));
    }
    leaf->parent = child;
  }
  return CST_OK;
}

static cst_status add_leaf(const planner *p, const cst_tensor_spec *spec,
                           const cst__encode_structured *structured) {
  cst_tensor_encoder *encoder = p->encoder;
  cst__encode_leaf *leaf = &encoder->leaves[encoder->num_leaves];
  cst__encode_node *last = NULL;
  *leaf = (cst__encode_leaf){.spec = spec,
                             .kind = cst__kind_of(spec->kind),
                             .structured = structured,
                             .number = encoder->num_leaves++,
                             .row_size = 1};
  if (leaf->kind->measure != NULL && !leaf->kind->measure(leaf)) {
    return cst__encode_fail(p->error, leaf, -1, NULL, "rows of more than 2^63 values");
  }
  CST__TRY(enter(p, leaf));
  CST__TRY(encode_add_column(p, leaf, spec->path[spec->num_path_steps - 1], &last));
  for (size_t i = 0; i < spec->num_index_columns; i++) {
    CST__TRY(encode_add_column(p, leaf, spec->index_columns[i], &last));
  }
  for (size_t i = 0; i < spec->num_partitions; i++) {
    const char *name = spec->partitions[i].row_length_column;
    if (name != NULL) {
      CST__TRY(encode_add_column(p, leaf, name, &last));
    }
  }
  return CST_OK;
}

static cst_status add_spec(const planner *p, const cst_tensor_spec *spec,
                           const cst__encode_structured *outer) {
  if (cst__kind_of(spec->kind)->encode != NULL) {
    return add_leaf(p, spec, outer);
  }
  cst__encode_structured *structured = cst__arena_take(&p->encoder->arena, sizeof *structured);
  if (structured == NULL) {
    return cst__fail_memory(p->error, sizeof *structured);
  }
  *structured = (cst__encode_structured){spec, outer};
  for (size_t i = 0; i < spec->num_fields; i++) {
    CST__TRY(add_spec(p, &spec->fields[i], structured));
  }
  return CST_OK;
}

static cst_status make_nodes(const planner *p, const cst_specs *specs) {
  CST__TRY(encode_new_node(p, "", NULL, &p->encoder->root));
  for (size_t i = 0; i < cst_specs_num_specs(specs); i++) {
    CST__TRY(add_spec(p, cst_specs_get(specs, i), NULL));
  }
  return CST_OK;
}

cst_status cst__encode_plan(cst_tensor_encoder *encoder, cst_error *error) {
  cst__name_map nodes = {0};
  const planner p = {encoder, &nodes, error};
  const cst_specs *specs = encoder->specs;
  size_t count = 1;
  for (size_t i = 0; i < cst_specs_num_specs(specs); i++) {
    count += count_leaves(cst_specs_get(specs, i));
  }
  encoder->leaves = cst__arena_take_zero(&encoder->arena, count * sizeof *encoder->leaves);
  encoder->types = cst__arena_take_zero(&encoder->arena, count * sizeof *encoder->types);
  if (encoder->leaves == NULL || encoder->types == NULL) {
    return cst__fail_memory(error, count * sizeof *encoder->leaves);
  }
  cst_status status = make_nodes(&p, specs);
  cst__name_map_reset(&nodes);
  CST__TRY(status);
  for (size_t i = 0; i < encoder->num_leaves; i++) {
    const cst__encode_leaf *leaf = &encoder->leaves[i];
    encoder->types[i] = (cst__encode_type){leaf->spec->dtype, leaf->kind->has_splits};
  }
  return CST_OK;
}

/* ---- lists of structs ---- */

/* A leaf with row lengths: its values are one list per slot, so the levels above that one are
 * lists of its struct. */
static cst_status set_lists(const cst_tensor_encoder *encoder, const cst__encode_leaf *leaf,
                            size_t num_levels, size_t *outer, bool *is_set, cst_error *error) {
  const cst__encode_node *node = leaf->parent;
  size_t above = node->parent != NULL ? outer[node->parent->number] : 0;
  size_t wanted = num_levels - 1;
  if (node == encoder->root && wanted > 0) {
    return cst__encode_fail(
        error, leaf, -1, "give the values and the lengths a path into a struct",
        "%zu levels of lists above row lengths, but columns at the top have one", num_levels);
  }
  if (wanted < above || (*is_set && outer[node->number] != wanted)) {
    return cst__encode_fail(error, leaf, -1, NULL,
                            "%zu levels of lists above row lengths, but the lists around its "
                            "struct '%s' have another depth",
                            num_levels, node->name);
  }
  outer[node->number] = wanted;
  *is_set = true;
  return CST_OK;
}

static cst_status nest_struct(const cst_tensor_encoder *encoder, const cst__encode_node *node,
                              const cst__encode_type *types, size_t *outer, cst_error *error) {
  bool is_set = false;
  outer[node->number] = node->parent != NULL ? outer[node->parent->number] : 0;
  for (const cst__encode_node *child = node->first; child != NULL; child = child->next) {
    const cst__encode_leaf *leaf = child->leaf;
    if (leaf != NULL && child->is_values && cst__encode_num_parts(leaf) > 0) {
      CST__TRY(set_lists(encoder, leaf, types[leaf->number].num_levels, outer, &is_set, error));
    }
  }
  for (const cst__encode_node *child = node->first; child != NULL; child = child->next) {
    if (child->leaf == NULL) {
      CST__TRY(nest_struct(encoder, child, types, outer, error));
    }
  }
  return CST_OK;
}

/* A leaf in a list of structs has to be ragged by these lists. */
static cst_status check_nesting(const cst__encode_leaf *leaf, size_t num_levels, size_t outer,
                                cst_error *error) {
  if (num_levels + leaf->spec->num_path_steps > CST__ENCODE_MAX_DEPTH) {
    return cst__encode_fail(error, leaf, -1, NULL, "%zu levels of lists, more than %d", num_levels,
                            CST__ENCODE_MAX_DEPTH - 1);
  }
  bool fits = leaf->kind->has_splits
                  ? num_levels > outer || (num_levels == outer && leaf->spec->num_partitions == 0)
                  : outer == 0;
  return fits ? CST_OK
              : cst__encode_fail(error, leaf, -1, "give the tensors paths of different structs",
                                 "its struct '%s' is in %zu levels of lists, by the row lengths of "
                                 "another tensor",
                                 leaf->parent->name, outer);
}

cst_status cst__encode_nesting(const cst_tensor_encoder *encoder, const cst__encode_type *types,
                               size_t *outer, cst_error *error) {
  CST__TRY(nest_struct(encoder, encoder->root, types, outer, error));
  for (size_t i = 0; i < encoder->num_leaves; i++) {
    const cst__encode_leaf *leaf = &encoder->leaves[i];
    CST__TRY(check_nesting(leaf, types[i].num_levels, outer[leaf->parent->number], error));
  }
  return CST_OK;
}

/* ---- the Arrow schema ---- */

typedef struct typer {
  const cst__encode_type *types;
  const size_t *outer;
  cst__arena arena;
  cst_error *error;
} typer;

/* Lists of a column below those of its struct. */
static size_t own_lists(const typer *t, const cst__encode_node *node) {
  const cst__encode_leaf *leaf = node->leaf;
  if (!leaf->kind->has_splits || !node->is_values) {
    return cst__encode_is_single(leaf) ? 0 : 1;
  }
  return t->types[leaf->number].num_levels - t->outer[leaf->parent->number];
}

static cst_status type_children(typer *t, const cst__encode_node *node, cst__type *out) {
  CST__TRY(cst__type_set_children(out, node->num_children, &t->arena, t->error));
  size_t i = 0;
  for (const cst__encode_node *child = node->first; child != NULL; child = child->next) {
    cst__type *type = &out->children[i++];
    const cst__encode_leaf *leaf = child->leaf;
    size_t lists =
        leaf != NULL ? own_lists(t, child) : t->outer[child->number] - t->outer[node->number];
    type->name = child->name;
    type->format = leaf == NULL ? "+s"
                                : cst__dtype_format(child->is_values ? t->types[leaf->number].dtype
                                                                     : CST_DTYPE_INT64);
    if (leaf == NULL) {
      CST__TRY(type_children(t, child, type));
    }
    for (size_t k = 0; k < lists; k++) {
      CST__TRY(cst__type_enlist(type, -1, false, &t->arena, t->error));
    }
  }
  return CST_OK;
}

cst_status cst__encode_schema(const cst_tensor_encoder *encoder, const cst__encode_type *types,
                              const size_t *outer, struct ArrowSchema *out, cst_error *error) {
  typer t = {.types = types, .outer = outer, .error = error};
  cst__type batch = CST__TYPE_INIT;
  cst__arena_init(&t.arena, &encoder->arena.allocator);
  cst_status status = type_children(&t, encoder->root, &batch);
  if (status == CST_OK) {
    status = cst__types_export(batch.children, batch.num_children, out, error);
  }
  cst__arena_reset(&t.arena);
  return status;
}
