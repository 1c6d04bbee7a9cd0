/* A column on its way through a check: which rows its slots and values are in.
 */
#ifndef VALIDATE_COLUMN_H
#define VALIDATE_COLUMN_H

#include <stdio.h>

#include "validate/check.h"

/* Lists on the way from the rows to slots; NULL: the slots are rows. */
typedef struct cst__levels {
  const int64_t *splits;
  int64_t count;
  const struct cst__levels *outer;
} cst__levels;

typedef struct cst__checked_column {
  cst__check *check;
  cst__tally *tally;
  const cst__levels *above; /* the column's slots */
} cst__checked_column;

static inline int64_t cst__levels_row(const cst__levels *above, int64_t slot) {
  for (; above != NULL; above = above->outer) {
    slot = cst__splits_find(above->splits, above->count, slot);
  }
  return slot;
}

/* Counts the row of a slot; where to say what was found, or NULL. */
static inline char *cst__checked_mark(const cst__checked_column *c, cst__fault_kind kind,
                                      const cst__levels *above, int64_t slot) {
  return cst__mark(c->check, &c->tally->findings[kind], cst__levels_row(above, slot));
}

#define CST__SAY(place, ...)                                \
  do {                                                      \
    char *say_at = (place);                                 \
    if (say_at != NULL) {                                   \
      (void)snprintf(say_at, CST__FOUND_SIZE, __VA_ARGS__); \
    }                                                       \
  } while (0)

static inline const char *cst__plural_of(int64_t count) { return count == 1 ? "" : "s"; }

/* values.c: compares values, which are of the right type, with the feature's domain. */
void cst__check_values(const cst__checked_column *c, const cst__slots *items,
                       const cst__levels *above);

#endif /* VALIDATE_COLUMN_H */
