/* What the files that derive tensor specs share.
 */
#ifndef SCHEMA_SPECS_INTERNAL_H
#define SCHEMA_SPECS_INTERNAL_H

#include "schema/internal.h"
#include "schema/schema.h"

struct cst_specs {
  cst__refcount owners;
  cst__arena arena; /* holds the items and all that they point to */
  cst_tensor_spec *items;
  size_t count;
  size_t capacity; /* of `items`, a block of its own */
  cst_specs *base; /* of a projection: the specs that hold what the items point to */
};

typedef struct cst__specs_builder {
  const cst_schema *schema;
  cst_specs *specs;
  cst__name_map tensors;  /* names of the specs so far */
  cst__name_map sources;  /* dotted paths of the columns that explicit tensors are made of */
  cst__name_map consumed; /* features that are parts of sparse features */
  cst__name_map below;    /* children of structs below which explicit tensors have something */
  bool legacy;
  bool only_ragged; /* of groups: the ragged tensors of one path step, each of them once */
  cst_error *error;
} cst__specs_builder;

/* Adds a spec, with room for what the rules fill in. The name is copied. A name that is taken is
 * CST_SCHEMA. `place`: the message that the tensor comes from. */
cst_status cst__specs_add(cst__specs_builder *b, const cst__message *place, cst_bytes name,
                          cst_tensor_kind kind, const char *reason, cst_tensor_spec **out);

/* A NUL-terminated copy of a name in the specs' arena. */
cst_status cst__specs_copy_name(cst__specs_builder *b, const cst__message *place, cst_bytes name,
                                const char **out);

/* The steps of a path to one column: `parent` may be NULL. */
cst_status cst__specs_set_path(cst__specs_builder *b, const cst__message *place,
                               cst_tensor_spec *spec, const char *parent, const char *name);

/* Zeroed memory in the specs' arena; NULL if there is none (b->error says so then). */
void *cst__specs_take(cst__specs_builder *b, size_t count, size_t item_size);

/* The element type for BYTES, INT and FLOAT; CST_DTYPE_NONE for others. */
cst_dtype cst__specs_dtype(cst_feature_type type);

/* The tensors of a tensor_representation_group. */
cst_status cst__specs_add_group(cst__specs_builder *b, const cst__message *group,
                                cst_bytes group_name);

/* A structured tensor of the columns that the message names, each of them as its feature makes it
 * by itself. */
cst_status cst__specs_add_structured(cst__specs_builder *b, const cst__message *structured,
                                     cst_bytes name, const char *reason, cst_tensor_spec **out);

/* Adds what one feature of type BYTES, INT or FLOAT makes by itself. */
cst_status cst__specs_infer_leaf(cst__specs_builder *b, const cst_feature *feature,
                                 const cst__message *message);

/* The tensors that the features and sparse features make by themselves, without those whose name is
 * taken by an explicit tensor or its sources. */
cst_status cst__specs_infer(cst__specs_builder *b);

/* Leaves out the tensors, and fields of structured ones, that need a feature which is not in the
 * environment (NULL: none, all stay). */
cst_status cst__specs_keep_environment(cst__specs_builder *b, const char *environment);

#endif /* SCHEMA_SPECS_INTERNAL_H */
