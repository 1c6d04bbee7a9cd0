/* Lists: where the items of each begin, and which are null. A column's lists are levels, the
 * outermost first, each dividing the items of the one before.
 *
 * An operation gives lists again, and which items they have. Null lists are empty, and stay null;
 * what else becomes of nulls is said where it is done.
 */
#ifndef NESTED_LIST_H
#define NESTED_LIST_H

#include <columnstone/arrow_abi.h>

#include "nested/chosen.h"

typedef struct cst__lists {
  int64_t count;
  int64_t size;          /* of each list, by the type; -1: they may differ */
  const int64_t *splits; /* [count + 1], from 0 on: list i has the items from splits[i] to before
                            splits[i + 1] */
  const uint8_t *nulls;  /* [count]: 1 for a null list, else 0; NULL: none is null */
} cst__lists;

/* The most levels that a column can have: Arrow types are at most 100 deep. */
enum { CST__MAX_LEVELS = 101 };

static inline int64_t cst__lists_total(const cst__lists *lists) {
  return lists->splits[lists->count];
}

static inline int64_t cst__list_size(const cst__lists *lists, int64_t i) {
  return lists->splits[i + 1] - lists->splits[i];
}

/* True for a null list, and for -1. */
static inline bool cst__list_is_null(const cst__lists *lists, int64_t i) {
  return i < 0 || (lists->nulls != NULL && lists->nulls[i] != 0);
}

/* ---- looking ---- */

/* The list (0..count) that holds the item; lists without items hold none. */
int64_t cst__splits_find(const int64_t *splits, int64_t count, int64_t item);

/* The list of the outermost of the levels that holds an item of the innermost; without levels, the
 * item itself. */
int64_t cst__levels_find(const cst__lists *levels, size_t num_levels, int64_t item);

/* How many items the longest list has; 0 without any. */
int64_t cst__lists_longest(const cst__lists *lists);

/* The first of as many lists that is longer in one than in the other; -1: they are the same. */
int64_t cst__lists_differ(const cst__lists *a, const cst__lists *b);

/* The item at a place of a list, as Python counts: negative ones from the end. */
enum { CST__ITEM_NULL = -1 /* of a null list */, CST__ITEM_OUTSIDE = -2 };
static inline int64_t cst__list_item(const cst__lists *lists, int64_t list, int64_t place) {
  if (cst__list_is_null(lists, list)) {
    return CST__ITEM_NULL;
  }
  int64_t size = cst__list_size(lists, list);
  int64_t at = place < 0 ? place + size : place;
  return at >= 0 && at < size ? lists->splits[list] + at : CST__ITEM_OUTSIDE;
}

/* ---- making ---- */

/* All of `count` items as one list. */
cst_status cst__lists_one(int64_t count, cst__arena *arena, cst__lists *out, cst_error *error);

/* `count` lists of one size each. */
cst_status cst__lists_fixed(int64_t count, int64_t size, cst__arena *arena, cst__lists *out,
                            cst_error *error);

/* Lists of lists as lists of what the inner ones hold; those that are null within hold nothing. */
cst_status cst__lists_join(const cst__lists *outer, const cst__lists *inner, cst__arena *arena,
                           cst__lists *out, cst_error *error);

/* Gives an array of as many slots a bitmap of its own, if some bytes say null. */
cst_status cst__nulls_put(const uint8_t *nulls, struct ArrowArray *out, cst_error *error);

/* ---- choosing ---- */

/* Lists that were made of others, and which of their items they have. */
typedef struct cst__picked {
  cst__lists lists;
  cst__chosen items;
} cst__picked;

/* The lists that are chosen; -1 among numbers is a null one. */
cst_status cst__lists_choose(const cst__lists *lists, const cst__chosen *chosen, cst__arena *arena,
                             cst__picked *out, cst_error *error);

/* The items whose bits are set in words[0 .. total / 64]; none are set after the last. */
cst_status cst__lists_filter(const cst__lists *lists, const uint64_t *words, cst__arena *arena,
                             cst__picked *out, cst_error *error);

/* Such words of bytes, 0 or 1; NULL: no memory, and *error is filled. */
uint64_t *cst__words_of_bytes(const uint8_t *bytes, int64_t count, cst__arena *arena,
                              cst_error *error);

/* A slice as Python has it: negative places count from the end, what is out of reach is as far as
 * there is. */
#define CST__OPEN INT64_MIN /* from the first, or to the last */
typedef struct cst__slice {
  int64_t begin;
  int64_t end;
  int64_t step; /* not 0 */
} cst__slice;

/* Of `size` items, the first, and how many. */
cst__range cst__slice_of(const cst__slice *slice, int64_t size);

typedef struct cst__slices {
  const cst__slice *items;
  bool is_one; /* for all; else there is one for each */
} cst__slices;

/* A slice of each list that is chosen. */
cst_status cst__lists_slice(const cst__lists *lists, const cst__chosen *chosen, cst__slices slices,
                            cst__arena *arena, cst__picked *out, cst_error *error);

#endif /* NESTED_LIST_H */
