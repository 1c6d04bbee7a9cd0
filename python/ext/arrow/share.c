/* Arrow data with counted owners: one tree of arrays (or schemas) of which any node can be exported
 * any number of times, without a copy and without the GIL.
 *
 * Source: "The Arrow C data interface": a consumer may move children out of an exported structure,
 * so every exported node has a release callback and a share of its own.
 */
#include <stdlib.h>

#include "ext/arrow/arrow.h"

struct cst__py_shared {
  atomic_size_t refs;
  struct ArrowSchema schema;
  struct ArrowArray array;
};

cst__py_shared *cst__py_shared_new(struct ArrowSchema *schema, struct ArrowArray *array) {
  cst__py_shared *shared = calloc(1, sizeof *shared);
  if (shared == NULL) {
    return NULL;
  }
  atomic_init(&shared->refs, 1);
  if (schema != NULL) {
    shared->schema = *schema;
    schema->release = NULL;
  }
  if (array != NULL) {
    shared->array = *array;
    array->release = NULL;
  }
  return shared;
}

cst__py_shared *cst__py_shared_retain(cst__py_shared *shared) {
  atomic_fetch_add_explicit(&shared->refs, 1, memory_order_relaxed);
  return shared;
}

void cst__py_shared_release(cst__py_shared *shared) {
  if (shared == NULL || atomic_fetch_sub_explicit(&shared->refs, 1, memory_order_acq_rel) != 1) {
    return;
  }
  if (shared->schema.release != NULL) {
    shared->schema.release(&shared->schema);
  }
  if (shared->array.release != NULL) {
    shared->array.release(&shared->array);
  }
  free(shared);
}

const struct ArrowSchema *cst__py_shared_schema(const cst__py_shared *shared) {
  return &shared->schema;
}

const struct ArrowArray *cst__py_shared_array(const cst__py_shared *shared) {
  return &shared->array;
}

/* What an exported node owns: its share, and room for the structures below it. */
typedef struct exported {
  cst__py_shared *shared;
  void *nodes; /* n_children structures, then the dictionary's */
} exported;

static exported *exported_new(cst__py_shared *shared, int64_t children, size_t node_size) {
  exported *e = malloc(sizeof *e);
  if (e == NULL) {
    return NULL;
  }
  size_t count = (size_t)children + 1; /* the children exist in memory: no overflow */
  e->nodes = calloc(count, node_size + sizeof(void *));
  if (e->nodes == NULL) {
    free(e);
    return NULL;
  }
  e->shared = cst__py_shared_retain(shared);
  return e;
}

static void exported_free(exported *e) {
  cst__py_shared_release(e->shared);
  free(e->nodes);
  free(e);
}

static void share_release_array(struct ArrowArray *array) {
  exported *e = array->private_data;
  for (int64_t i = 0; i < array->n_children; i++) {
    if (array->children[i]->release != NULL) {
      array->children[i]->release(array->children[i]);
    }
  }
  if (array->dictionary != NULL && array->dictionary->release != NULL) {
    array->dictionary->release(array->dictionary);
  }
  array->release = NULL;
  exported_free(e);
}

int cst__py_shared_export_array(cst__py_shared *shared, const struct ArrowArray *node,
                                struct ArrowArray *out) {
  exported *e = exported_new(shared, node->n_children, sizeof *node);
  if (e == NULL) {
    return -1;
  }
  struct ArrowArray *nodes = e->nodes;
  struct ArrowArray copy = *node;
  copy.private_data = e;
  copy.release = share_release_array;
  copy.children = (struct ArrowArray **)(nodes + node->n_children + 1);
  copy.dictionary = NULL;
  int result = 0;
  for (int64_t i = 0; i < node->n_children; i++) {
    copy.children[i] = &nodes[i]; /* zeroed: released already, until it is written */
    if (result == 0) {
      result = cst__py_shared_export_array(shared, node->children[i], &nodes[i]);
    }
  }
  if (node->dictionary != NULL && result == 0) {
    copy.dictionary = &nodes[node->n_children];
    result = cst__py_shared_export_array(shared, node->dictionary, copy.dictionary);
  }
  if (result < 0) {
    share_release_array(&copy);
    return -1;
  }
  *out = copy;
  return 0;
}

static void share_release_schema(struct ArrowSchema *schema) {
  exported *e = schema->private_data;
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (schema->children[i]->release != NULL) {
      schema->children[i]->release(schema->children[i]);
    }
  }
  if (schema->dictionary != NULL && schema->dictionary->release != NULL) {
    schema->dictionary->release(schema->dictionary);
  }
  schema->release = NULL;
  exported_free(e);
}

int cst__py_shared_export_schema(cst__py_shared *shared, const struct ArrowSchema *node,
                                 struct ArrowSchema *out) {
  exported *e = exported_new(shared, node->n_children, sizeof *node);
  if (e == NULL) {
    return -1;
  }
  struct ArrowSchema *nodes = e->nodes;
  struct ArrowSchema copy = *node;
  copy.private_data = e;
  copy.release = share_release_schema;
  copy.children = (struct ArrowSchema **)(nodes + node->n_children + 1);
  copy.dictionary = NULL;
  int result = 0;
  for (int64_t i = 0; i < node->n_children; i++) {
    copy.children[i] = &nodes[i];
    if (result == 0) {
      result = cst__py_shared_export_schema(shared, node->children[i], &nodes[i]);
    }
  }
  if (node->dictionary != NULL && result == 0) {
    copy.dictionary = &nodes[node->n_children];
    result = cst__py_shared_export_schema(shared, node->dictionary, copy.dictionary);
  }
  if (result < 0) {
    share_release_schema(&copy);
    return -1;
  }
  *out = copy;
  return 0;
}
