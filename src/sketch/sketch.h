/* Sketches: what is kept of very many values in little memory, to be merged with what was kept of
 * others. A kind is a table of functions over a state, as an accumulator is (arrow/accumulator.h),
 * but of the values of one column instead of batches.
 *
 * States of kinds are used by themselves, too: statistics hold one or several for each feature.
 */
#ifndef SKETCH_SKETCH_H
#define SKETCH_SKETCH_H

#include <columnstone/sketch.h>

#include "base/archive.h"
#include "base/options.h"
#include "sketch/values.h"

typedef struct cst__sketch_kind {
  const char *name;
  uint64_t version; /* of the form of saved states: one of another version is not loaded */
  const char *summary;
  /* Its options; an empty state is made by them, which copies what it needs. NULL: none. */
  const cst__option_table *options;
  unsigned families;   /* bits 1 << cst__family that it takes */
  bool mixes_integers; /* of INT and UINT, both may be added to one */

  cst_status (*create)(const void *options, const cst_allocator *allocator, void **state,
                       cst_error *error);
  void (*free)(void *state); /* NULL is allowed */
  /* A block of values, of a family that may follow those before. After a failure the state may only
   * be freed. */
  cst_status (*add)(void *state, const cst__value_block *values, cst_error *error);
  /* Of two columns: blocks of equally many values, which lie in the same rows; the first one has
   * the weights. Then `add` is NULL, and columns are structs of two fields. NULL: of one column. */
  cst_status (*add_pairs)(void *state, const cst__value_block *x, const cst__value_block *y,
                          cst_error *error);
  /* Adds what another state of equal options has, of the same family, or without values. `from` is
   * not changed. After a failure `into` may only be freed. */
  cst_status (*merge)(void *into, const void *from, cst_error *error);
  /* Saves the state, or fills an empty one of the same options; loading trusts nothing, and checks
   * what the other functions rely on. On a bad archive the state may only be freed. */
  void (*archive)(void *state, cst__archive *archive);
  /* Bytes that it holds. */
  size_t (*memory)(const void *state);
} cst__sketch_kind;

/* A handle's state, of a function that only sketches of one kind have. CST_INVALID_ARGUMENT for
 * another kind, and for NULL. */
cst_status cst__sketch_state(const cst_sketch *sketch, const cst__sketch_kind *kind,
                             const void **state, cst_error *error);
/* The family of the values that were added, of pairs that of the first ones; CST__FAMILY_NONE: none
 * so far. */
cst__family cst__sketch_family(const cst_sketch *sketch);
/* The state of a new sketch, to be filled with what others have kept of values of a family; how
 * many these were is not known, and they count as none. */
void *cst__sketch_fill(cst_sketch *sketch, cst__family family);
/* What a state of a sketch's kind and options was saved as, and what it is of. */
typedef struct cst__sketch_filling {
  cst__family family;
  bool is_binary; /* bytes, that are not only text */
  int64_t num_values;
  cst_bytes state; /* as the kind's `archive` wrote it */
} cst__sketch_filling;

/* Fills a new sketch with it. CST_NO_MEMORY, CST_CORRUPT. */
cst_status cst__sketch_load(cst_sketch *sketch, const cst__sketch_filling *filling,
                            cst_error *error);
/* Whether all of them came from columns of strings. */
bool cst__sketch_is_text(const cst_sketch *sketch);

#endif /* SKETCH_SKETCH_H */
