/* Levels of a column: which slots of an array a tensor reads, and what opening a list gives.
 *
 * A column is walked from the batch's rows to the values: a struct is entered, a list is opened
 * into row splits and the slots of its items. Null lists, and lists within a null struct, are
 * empty, whatever their offsets enclose.
 */
#ifndef TENSOR_SLOTS_H
#define TENSOR_SLOTS_H

#include "arrow/view.h"
#include "tensor/scratch.h"

/* A struct whose nulls hide the slots of its children. */
typedef struct cst__mask {
  const cst__view *view;
  const struct cst__mask *outer;
} cst__mask;

typedef struct cst__slots {
  const cst__view *view;
  int64_t count;
  int64_t first;         /* of a run, if index is NULL */
  const int64_t *index;  /* or each slot */
  const cst__mask *mask; /* NULL: no struct above hides any */
} cst__slots;

static inline int64_t cst__slot_at(const cst__slots *slots, int64_t k) {
  return slots->index != NULL ? slots->index[k] : slots->first + k;
}

/* False if no slot can be null; true says nothing. */
static inline bool cst__slots_may_be_null(const cst__slots *slots) {
  return slots->view->null_count > 0 || slots->mask != NULL;
}

bool cst__slot_is_null(const cst__slots *slots, int64_t k);
/* The first k that is null, or -1. */
int64_t cst__slots_first_null(const cst__slots *slots);

/* The slots of a struct's child; false if out of memory. */
bool cst__slots_enter(const cst__slots *structs, int64_t child, cst__scratch *scratch,
                      cst__slots *out);

/* The most slots that a tensor takes from an array whose slots need no memory of their own (type
 * null, lists and strings of the fixed size 0): their number is a claim that nothing backs. */
enum { CST__MAX_BARE_SLOTS = 1 << 28 };

/* Opens lists: splits[count + 1] begin at 0, items are the slots of all lists one after the other.
 * Slots that are not lists count as lists of one. Splits may point into the array. */
cst_status cst__slots_open(const cst__slots *lists, cst__scratch *scratch, const int64_t **splits,
                           cst__slots *items, cst_error *error);

/* The list (0..count) that holds the item. */
int64_t cst__splits_find(const int64_t *splits, int64_t count, int64_t item);

/* CST_OK, or CST_NO_MEMORY for a NULL from cst__scratch_take. */
#define CST__TAKEN(ptr, error) \
  ((ptr) != NULL               \
       ? CST_OK                \
       : cst__fail(error, CST_NO_MEMORY, "use smaller batches", "no memory for tensors"))

#endif /* TENSOR_SLOTS_H */
