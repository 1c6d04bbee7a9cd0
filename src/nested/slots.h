/* A walk through an array: from slots of structs to those of a field, from slots of lists to those
 * of their items. Most walks stand at one run of slots, which an array shares; where lists hide
 * items under nulls, or are views, at spans of slots, which are copied.
 */
#ifndef NESTED_SLOTS_H
#define NESTED_SLOTS_H

#include "arrow/concat.h"
#include "nested/list.h"

/* A struct whose nulls hide the slots of what lies below it; the slots have the same numbers. */
typedef struct cst__mask {
  const cst__view *view;
  const struct cst__mask *outer;
} cst__mask;

typedef struct cst__slots {
  const cst__view *view;
  const cst__mask *mask; /* NULL: nothing is hidden */
  cst__chosen chosen;    /* slots of the view: a run, spans with a step of 1, or numbers, where
                            somebody has asked for them; none is -1 */
  int64_t view_items;    /* that all list views on the way held, */
  int64_t view_slots;    /* and slots of theirs and of what they share */
} cst__slots;

/* The most slots that a walk goes through in an array whose slots need no memory of their own (type
 * null, lists of the fixed size 0): their number is a claim that nothing backs. */
enum { CST__MAX_BARE_SLOTS = 1 << 28 };

static inline cst__slots cst__slots_all(const cst__view *view) {
  return (cst__slots){.view = view, .chosen = {.count = view->length}};
}

/* True if the slots are all of their view's, in order. */
static inline bool cst__slots_are_all(const cst__slots *slots) {
  return cst__chosen_is_run(&slots->chosen) && slots->chosen.count == slots->view->length;
}

/* Goes from structs to their child i; slots of null structs stay, as null ones. */
cst_status cst__slots_enter(cst__slots *slots, int64_t i, cst__arena *arena, cst_error *error);

/* Goes from lists to their items. The lists are filled but for their nulls; NULL if they are not
 * wanted; splits may lie in the array. Null lists, and lists within null structs, are empty,
 * whatever their offsets enclose. Slots of other types are lists of one, of nothing if they are
 * null. CST_LIMIT if lists share their items so often that these are many more than the array
 * has, or if there is no memory behind very many. */
cst_status cst__slots_open(cst__slots *slots, cst__arena *arena, cst__lists *lists,
                           cst_error *error);

/* The same, where splits[0 .. count] divide the lists: they come to divide the items. */
cst_status cst__slots_descend(cst__slots *slots, int64_t *splits, int64_t count, cst__arena *arena,
                              cst_error *error);

/* The items of lists, as numbers where they are not one run. */
cst_status cst__slots_items(const cst__slots *slots, cst__arena *arena, cst__lists *lists,
                            cst__slots *items, cst_error *error);

/* ---- nulls ---- */

/* False if none of the slots can be null; true says nothing. */
static inline bool cst__slots_may_be_null(const cst__slots *slots) {
  return slots->view->null_count > 0 || slots->mask != NULL;
}

/* True if one of the structs above is null there. */
static inline bool cst__mask_hides(const cst__mask *mask, int64_t slot) {
  while (mask != NULL && !cst__view_is_null(mask->view, slot)) {
    mask = mask->outer;
  }
  return mask != NULL;
}

/* True if a slot of the view is null, in itself or through a struct above it. */
static inline bool cst__slots_hide(const cst__slots *slots, int64_t slot) {
  return cst__view_is_null(slots->view, slot) || cst__mask_hides(slots->mask, slot);
}

/* True if slot k of a run, or of numbers, is null. */
static inline bool cst__slot_is_null(const cst__slots *slots, int64_t k) {
  return cst__slots_hide(slots, cst__chosen_at(&slots->chosen, k));
}

/* The first k that is null, or -1. */
int64_t cst__slots_first_null(const cst__slots *slots);

/* How many are not null. */
int64_t cst__slots_count_valid(const cst__slots *slots);

/* Sets the bits from `to` on, one per slot: 1 where it is not null, in itself or through a struct
 * above. The bitmap is zero before. */
void cst__slots_valid_bits(const cst__slots *slots, uint8_t *bits, int64_t to);

/* A byte per slot, 1 for a null; NULL in *out if none is null. */
cst_status cst__slots_nulls(const cst__slots *slots, cst__arena *arena, const uint8_t **out,
                            cst_error *error);

/* ---- arrays ---- */

/* Gives `out`, whose slots are these, a bitmap of its own with their nulls. */
cst_status cst__slots_put_validity(const cst__slots *slots, struct ArrowArray *out,
                                   cst_error *error);

/* The slots as an array of their own, of the type of the view, which is one of an array of the
 * owner's. A run shares the buffers; else they are copied. Slots that structs above hide are null.
 * CST_UNSUPPORTED if that cannot be with a type (unions, run ends). */
cst_status cst__slots_array(const cst__slots *slots, const cst__owner *owner,
                            struct ArrowArray *out, cst_error *error);

#endif /* NESTED_SLOTS_H */
