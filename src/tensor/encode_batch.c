/* Tensor encoders: making them, and one batch after another. */
#include <columnstone/tensor.h>

#include "base/arguments.h"
#include "base/interrupt.h"
#include "tensor/kind.h"

/* ---- encoders ---- */

cst_status cst_tensor_encoder_new(const cst_specs *specs, const cst_allocator *allocator,
                                  cst_tensor_encoder **out, cst_error *error) {
  CST__CLEAR(out);
  if (specs == NULL || out == NULL) {
    return cst__missing(specs == NULL ? "the list of specs" : "the output", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  cst_tensor_encoder *encoder = cst__new_zero(allocator, sizeof *encoder);
  if (encoder == NULL) {
    return cst__fail_memory(error, sizeof *encoder);
  }
  cst__arena_init(&encoder->arena, allocator);
  cst__mutex_init(&encoder->lock);
  encoder->specs = cst_specs_retain(specs);
  cst_status status = cst__encode_plan(encoder, error);
  if (status != CST_OK) {
    cst_tensor_encoder_free(encoder);
    return status;
  }
  *out = encoder;
  return CST_OK;
}

void cst_tensor_encoder_free(cst_tensor_encoder *encoder) {
  if (encoder != NULL) {
    cst_specs_release(encoder->specs);
    cst__mutex_destroy(&encoder->lock);
    cst__arena_reset(&encoder->arena);
    cst__delete(encoder);
  }
}

/* The lock is the one thing of an encoder that changes while others use it. */
static cst_tensor_encoder *lock(const cst_tensor_encoder *encoder) {
  cst_tensor_encoder *shared = (cst_tensor_encoder *)(uintptr_t)encoder;
  cst__mutex_lock(&shared->lock);
  return shared;
}

cst_status cst_tensor_encoder_arrow_schema(const cst_tensor_encoder *encoder,
                                           struct ArrowSchema *out, cst_error *error) {
  CST__CLEAR(out);
  if (encoder == NULL || out == NULL) {
    return cst__missing(encoder == NULL ? "the encoder" : "the output", error);
  }
  size_t size = (encoder->num_leaves + 1) * sizeof(cst__encode_type);
  size_t *outer = cst__new_zero(&encoder->arena.allocator, encoder->num_nodes * sizeof *outer);
  cst__encode_type *types = cst__new(&encoder->arena.allocator, size);
  cst_status status = CST_OK;
  if (outer == NULL || types == NULL) {
    status = cst__fail_memory(error, size);
  } else {
    cst_tensor_encoder *shared = lock(encoder);
    memcpy(types, shared->types, encoder->num_leaves * sizeof *types);
    cst__mutex_unlock(&shared->lock);
    status = cst__encode_nesting(encoder, types, outer, error);
  }
  if (status == CST_OK) {
    status = cst__encode_schema(encoder, types, outer, out, error);
  }
  cst__delete(outer);
  cst__delete(types);
  return status;
}

/* ---- types ---- */

static cst_status encode_fail_type(const cst__encoding *e, const cst__encode_leaf *leaf,
                                   const cst__encode_type *before) {
  const cst__encode_type *now = &e->types[leaf->number];
  if (now->dtype != before->dtype) {
    return cst__encode_fail(e->error, leaf, -1, "use another encoder, or cast the values",
                            "values of type %s, but those of the batches before are %s",
                            cst_dtype_name(now->dtype), cst_dtype_name(before->dtype));
  }
  return cst__encode_fail(e->error, leaf, -1, "use another encoder",
                          "%zu levels of lists, but those of the batches before have %zu",
                          now->num_levels, before->num_levels);
}

/* The first batch says the types; later ones have to agree. */
static cst_status adopt_types(const cst__encoding *e) {
  cst_tensor_encoder *shared = lock(e->encoder);
  cst_status status = CST_OK;
  for (size_t i = 0; shared->has_types && i < shared->num_leaves && status == CST_OK; i++) {
    const cst__encode_type *before = &shared->types[i];
    if (e->types[i].dtype != before->dtype || e->types[i].num_levels != before->num_levels) {
      status = encode_fail_type(e, &shared->leaves[i], before);
    }
  }
  if (!shared->has_types) {
    memcpy(shared->types, e->types, shared->num_leaves * sizeof *e->types);
    shared->has_types = true;
  }
  cst__mutex_unlock(&shared->lock);
  return status;
}

static cst_status encode_read_type(const cst__encoding *e, const cst__encode_leaf *leaf) {
  const cst_tensor *tensor = e->tensors[leaf->number];
  cst__encode_type *type = &e->types[leaf->number];
  size_t num_parts = cst__encode_num_parts(leaf);
  bool has_splits = leaf->kind->has_splits;
  cst_status status = cst__encode_check_array("values", &tensor->values, e->error);
  if (status != CST_OK) {
    return cst__encode_blame(e->error, leaf, status);
  }
  if (!cst__dtype_fits(tensor->values.dtype, leaf->spec->dtype)) {
    return cst__encode_fail(e->error, leaf, -1, "cast the values", "values of type %s, expected %s",
                            cst_dtype_name(tensor->values.dtype),
                            cst_dtype_name(leaf->spec->dtype));
  }
  if (has_splits && (tensor->num_splits <= num_parts || tensor->splits == NULL)) {
    return cst__encode_fail(e->error, leaf, -1, NULL,
                            "%zu row splits, expected one for the rows and %zu for partitions",
                            tensor->splits != NULL ? tensor->num_splits : 0, num_parts);
  }
  *type = (cst__encode_type){tensor->values.dtype, has_splits ? tensor->num_splits - num_parts : 0};
  return CST_OK;
}

/* ---- tensors by leaf ---- */

static cst_status fail_tensor(cst_error *error, const char *name, const char *what) {
  cst__fail(error, CST_SCHEMA, "give one tensor for each representation", "%s", what);
  cst__error_add_path(error, name, strlen(name));
  return CST_SCHEMA;
}

/* The number of the spec with this name (they are sorted), or `count`. */
static size_t find_spec(const cst_tensor_spec *specs, size_t count, const char *name) {
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(specs[middle].name, name);
    if (order == 0) {
      return middle;
    }
    *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
  }
  return count;
}

/* Puts each tensor into the place of its spec. */
static cst_status place(const cst__encoding *e, const cst_tensor_spec *specs, size_t num_specs,
                        const cst_tensor *tensors, size_t count, const cst_tensor **places) {
  for (size_t i = 0; i < count; i++) {
    const char *name = tensors[i].name;
    if (name == NULL) {
      return cst__fail(e->error, CST_INVALID_ARGUMENT, NULL, "a tensor has no name");
    }
    size_t at = find_spec(specs, num_specs, name);
    if (at == num_specs) {
      return fail_tensor(e->error, name, "no representation is of this tensor");
    }
    if (places[at] != NULL) {
      return fail_tensor(e->error, name, "two tensors have this name");
    }
    places[at] = &tensors[i];
  }
  for (size_t i = 0; i < num_specs; i++) {
    if (places[i] == NULL) {
      return fail_tensor(e->error, specs[i].name, "no tensor of this name was given");
    }
  }
  return CST_OK;
}

static cst_status check_kind(const cst__encoding *e, const cst_tensor_spec *spec,
                             const cst_tensor *tensor) {
  const cst__tensor_kind *given = cst__kind_of(tensor->kind);
  const cst__tensor_kind *wanted = cst__kind_of(spec->kind);
  if (given != NULL && strcmp(given->name, wanted->name) == 0) {
    return CST_OK;
  }
  cst__fail(e->error, CST_SCHEMA, NULL, "the tensor is %s, its representation %s",
            given != NULL ? given->name : "none", wanted->name);
  cst__error_add_path(e->error, spec->name, strlen(spec->name));
  return CST_SCHEMA;
}

/* The tensor of each leaf, from number *leaf on; leaves are in the order of the specs. */
static cst_status match(cst__encoding *e, const cst_tensor_spec *specs, size_t num_specs,
                        const cst_tensor *tensors, size_t count, size_t *leaf) {
  const cst_tensor **places = cst__arena_take_zero(&e->scratch, (num_specs + 1) * sizeof *places);
  if (places == NULL) {
    return cst__fail_memory(e->error, num_specs);
  }
  CST__TRY(place(e, specs, num_specs, tensors, count, places));
  for (size_t i = 0; i < num_specs; i++) {
    const cst_tensor_spec *spec = &specs[i];
    CST__TRY(check_kind(e, spec, places[i]));
    if (cst__kind_of(spec->kind)->encode != NULL) {
      e->tensors[(*leaf)++] = places[i];
      continue;
    }
    size_t num_fields = places[i]->fields != NULL ? places[i]->num_fields : 0;
    cst_status status =
        match(e, spec->fields, spec->num_fields, places[i]->fields, num_fields, leaf);
    if (status != CST_OK) {
      cst__error_add_path(e->error, spec->name, strlen(spec->name));
      return status;
    }
  }
  return CST_OK;
}

/* ---- one batch ---- */

/* Slots of a struct: the rows, or the items of the lists around it. */
static int64_t encode_count_slots(const cst__encoding *e, const cst__encode_node *node,
                                  size_t outer) {
  int64_t count = e->num_rows;
  for (size_t i = 0; i < outer; i++) {
    count = e->levels[node->number][i][count];
  }
  return count;
}

/* Makes a struct of its children, which are finished, and the lists around it. */
static cst_status close_struct(cst__encoding *e, const cst__encode_node *node) {
  struct ArrowArray *array = &e->arrays[node->number];
  size_t outer = e->outer[node->number];
  size_t above = node->parent != NULL ? e->outer[node->parent->number] : 0;
  CST__TRY(cst__owned_new(&e->encoder->arena.allocator, 1, (int64_t)node->num_children, false,
                          array, e->error));
  array->length = encode_count_slots(e, node, outer);
  size_t i = 0;
  for (const cst__encode_node *child = node->first; child != NULL; child = child->next) {
    *array->children[i++] = e->arrays[child->number];
    e->arrays[child->number].release = NULL;
  }
  for (size_t level = outer; level > above; level--) {
    int64_t count = encode_count_slots(e, node, level - 1);
    int64_t *offsets = NULL;
    CST__TRY(cst__encode_wrap(e, count, array, &offsets));
    memcpy(offsets, e->levels[node->number][level - 1], ((size_t)count + 1) * sizeof *offsets);
  }
  return CST_OK;
}

static cst_status close_structs(cst__encoding *e, const cst__encode_node *node) {
  for (const cst__encode_node *child = node->first; child != NULL; child = child->next) {
    if (child->leaf == NULL) {
      CST__TRY(close_structs(e, child));
    }
  }
  return close_struct(e, node);
}

static cst_status encode_start(cst__encoding *e) {
  const cst_tensor_encoder *encoder = e->encoder;
  size_t leaves = encoder->num_leaves + 1;
  size_t nodes = encoder->num_nodes;
  e->tensors = cst__arena_take_zero(&e->scratch, leaves * sizeof *e->tensors);
  e->types = cst__arena_take_zero(&e->scratch, leaves * sizeof *e->types);
  e->outer = cst__arena_take_zero(&e->scratch, nodes * sizeof *e->outer);
  e->levels = cst__arena_take_zero(&e->scratch, nodes * sizeof *e->levels);
  e->arrays = cst__arena_take_zero(&e->scratch, nodes * sizeof *e->arrays);
  bool ok = e->tensors != NULL && e->types != NULL && e->outer != NULL && e->levels != NULL &&
            e->arrays != NULL;
  return ok ? CST_OK : cst__fail_memory(e->error, nodes * sizeof *e->arrays);
}

static cst_status encode_all(cst__encoding *e, const cst_tensor *tensors, size_t count) {
  const cst_tensor_encoder *encoder = e->encoder;
  const cst_specs *specs = encoder->specs;
  size_t leaf = 0;
  CST__TRY(match(e, cst_specs_get(specs, 0), cst_specs_num_specs(specs), tensors, count, &leaf));
  for (size_t i = 0; i < encoder->num_leaves; i++) {
    CST__TRY(encode_read_type(e, &encoder->leaves[i]));
  }
  CST__TRY(cst__encode_nesting(encoder, e->types, e->outer, e->error));
  for (size_t i = 0; i < encoder->num_leaves; i++) {
    CST__TRY(cst__interrupted(e->error));
    CST__TRY(encoder->leaves[i].kind->encode(e, &encoder->leaves[i]));
  }
  e->num_rows = e->num_rows < 0 ? 0 : e->num_rows;
  CST__TRY(close_structs(e, encoder->root));
  return adopt_types(e);
}

cst_status cst_tensor_encoder_encode(const cst_tensor_encoder *encoder, const cst_tensor *tensors,
                                     size_t count, struct ArrowArray *out, cst_error *error) {
  CST__CLEAR(out);
  if (encoder == NULL) {
    return cst__missing("the encoder", error);
  }
  if ((tensors == NULL && count > 0) || out == NULL) {
    return cst__missing(out == NULL ? "the output" : "the list of tensors", error);
  }
  cst__encoding e = {.encoder = encoder, .num_rows = -1, .error = error};
  cst__arena_init(&e.scratch, &encoder->arena.allocator);
  cst_status status = encode_start(&e);
  if (status == CST_OK) {
    status = encode_all(&e, tensors, count);
  }
  if (status == CST_OK) {
    *out = e.arrays[encoder->root->number];
    e.arrays[encoder->root->number].release = NULL;
  }
  for (size_t i = 0; e.arrays != NULL && i < encoder->num_nodes; i++) {
    cst__array_release(&e.arrays[i]);
  }
  cst__arena_reset(&e.scratch);
  return status;
}
