/* Slots that a walk through structs and lists reaches: runs of slots of one node of an array, in
 * the order in which they come.
 *
 * Most walks end with one run, whose slots are shared; where lists hide values under nulls, or are
 * views, the runs are copied one after the other.
 */
#ifndef TABLE_RUNS_H
#define TABLE_RUNS_H

#include "table/array.h"

/* An array below a root, with all that is known of it. */
typedef struct cst__node {
  const struct ArrowSchema *schema;
  const struct ArrowArray *array;
  const cst__view *view;
} cst__node;

static inline cst__node cst__node_child(const cst__node *node, int64_t i) {
  return (cst__node){node->schema->children[i], node->array->children[i], &node->view->children[i]};
}

typedef struct cst__slot_run {
  int64_t begin;
  int64_t length;
} cst__slot_run;

/* A struct whose nulls hide the slots of what lies below it; the slots have the same numbers. */
typedef struct cst__veil {
  const cst__view *view;
  const struct cst__veil *outer;
} cst__veil;

/* True if one of the structs is null there. */
static inline bool cst__veil_hides(const cst__veil *veil, int64_t slot) {
  while (veil != NULL && !cst__view_is_null(veil->view, slot)) {
    veil = veil->outer;
  }
  return veil != NULL;
}

typedef struct cst__runs {
  cst__arena *arena; /* of runs and splits */
  cst__node node;
  const cst__veil *veil; /* NULL: nothing is hidden */
  cst__slot_run *items;
  size_t count;
  size_t capacity;
  int64_t total;      /* slots of all runs */
  int64_t view_items; /* that all list views on the way held, */
  int64_t view_slots; /* and slots of theirs and of what they share */
} cst__runs;

/* All slots of a node. The arena lives as long as the runs. */
cst_status cst__runs_all(const cst__node *node, cst__arena *arena, cst__runs *out,
                         cst_error *error);

/* True if the slots are all of their node's, in order. */
static inline bool cst__runs_are_all(const cst__runs *runs) {
  return runs->count <= 1 && runs->total == runs->node.view->length;
}

/* Goes from structs to their child i; slots of null structs stay, as null ones. */
cst_status cst__runs_enter(cst__runs *runs, int64_t i, cst_error *error);

/* Goes from lists to their items. splits[0 .. total] are where the items of each list begin, the
 * first at 0; NULL if they are not wanted. Null lists, and lists within null structs, are empty,
 * whatever their offsets enclose. CST_LIMIT if lists share their items so often that these are many
 * more than the array has. */
cst_status cst__runs_open(cst__runs *runs, int64_t **splits, cst_error *error);

/* The same, where splits[0 .. count] divide the lists: they come to divide their items in the same
 * way. */
cst_status cst__runs_descend(cst__runs *runs, int64_t *splits, int64_t count, cst_error *error);

/* True if slot i of the node is null, in itself or through a struct above it. */
bool cst__runs_is_null(const cst__runs *runs, int64_t slot);

/* The slots as an array of their own, of the type of the node (as which cst__array_result takes
 * it). One run shares the buffers of `root`, below which the node lies; more runs are copied. Slots
 * that structs above hide are null. CST_UNSUPPORTED if that cannot be with a type (unions, run
 * ends). */
cst_status cst__runs_array(const cst__runs *runs, const cst_array *root, struct ArrowArray *out,
                           cst_error *error);

/* Sets the bits from `to` on, one per slot of all runs: 1 where a slot is not null, in itself or
 * through a struct above. The bitmap is zero before. */
void cst__runs_valid_bits(const cst__runs *runs, uint8_t *bits, int64_t to);

/* Gives `out`, whose slots are those of the runs' node, a bitmap of its own: null are the slots
 * that are null in themselves or through a struct above. */
cst_status cst__runs_hide(const cst__runs *runs, struct ArrowArray *out, cst_error *error);

#endif /* TABLE_RUNS_H */
