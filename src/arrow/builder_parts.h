/* What the files of the builders share: the buffers of a batch, and dictionaries. */
#ifndef ARROW_BUILDER_PARTS_H
#define ARROW_BUILDER_PARTS_H

#include "arrow/builder.h"
#include "base/hash.h"

/* What one builder writes into, and what its exported array points to. */
typedef struct cst__builder_buffers {
  cst__buffer validity;
  cst__buffer offsets;
  cst__buffer values;
  cst__buffer views; /* BINARY_VIEW, and the sizes of LIST_VIEW: made on the way out */
  struct ArrowArray array;
  struct ArrowArray dictionary;
  const void *pointers[4];
  int64_t block_size; /* BINARY_VIEW: bytes of `values`, the only block */
} cst__builder_buffers;

/* The buffers of all builders of a batch, in their order. */
typedef struct cst__builder_set {
  cst__pooled pooled; /* first */
  size_t num_builders;
  struct ArrowArray **arrays; /* of each */
  cst__builder_buffers buffers[];
} cst__builder_set;

/* A dictionary as exported: every batch since it grew last has a share of it. */
typedef struct cst__dictionary_share {
  cst__refcount users;
  struct ArrowArray array;
} cst__dictionary_share;

typedef struct cst__builder_dictionary {
  const cst__type *type;   /* of the values */
  cst__batch_builder *one; /* makes a value, where they are not plain strings; else NULL */
  cst__name_map map;       /* values to indices */
  cst__arena arena;        /* holds what they are made of */
  cst_bytes *values;
  size_t count;
  size_t capacity;
  cst__dictionary_share *share; /* NULL: none yet */
  size_t shared;                /* values in it */
} cst__builder_dictionary;

/* Lists with offsets, or list views, which are lists until they go out. */
static inline bool cst__builder_is_list(const cst__builder *builder) {
  return builder->type->layout == CST__LAYOUT_LIST ||
         builder->type->layout == CST__LAYOUT_LIST_VIEW;
}

/* Gives the builders of a batch their buffers, which they have not; false: no memory. */
bool cst__builder_attach(cst__batch_builder *batch);
/* Takes the buffers away from the builders, which are empty afterwards. */
void cst__builder_detach(cst__batch_builder *batch);

cst_status cst__builder_dictionary_new(cst__builder *builder, cst_error *error);
void cst__builder_dictionary_free(cst__builder_dictionary *dictionary);
/* Puts a share of the dictionary into the buffers' array. */
cst_status cst__builder_dictionary_export(cst__builder *builder, cst_error *error);

#endif /* ARROW_BUILDER_PARTS_H */
