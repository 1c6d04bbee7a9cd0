/* The values of a column, as sketches take them: blocks of one family of types, without nulls.
 * Whoever has a column goes through its lists, and hands on what lies in them.
 */
#ifndef SKETCH_VALUES_H
#define SKETCH_VALUES_H

#include "nested/slots.h"

/* Types whose values are compared with each other. A sketch takes values of one family. */
typedef enum cst__family {
  CST__FAMILY_NONE,  /* type null: there are no values, */
  CST__FAMILY_INT,   /* int64_t: integers but uint64, bools as 0 and 1, dates, times, durations */
  CST__FAMILY_UINT,  /* uint64_t: uint64 */
  CST__FAMILY_FLOAT, /* double: floats of all widths */
  CST__FAMILY_BYTES, /* cst_bytes: strings and binary of all layouts */
  CST__NUM_FAMILIES
} cst__family;

/* "integers", ...: for messages. */
const char *cst__family_name(cst__family family);

/* That of a column without lists: CST_UNSUPPORTED for structs, decimals, intervals, unions. */
cst_status cst__family_of(const cst__view *values, cst__family *out, cst_error *error);

enum { CST__VALUES_MOST = 1024 };

typedef struct cst__value_block {
  cst__family family;
  size_t count;          /* at most CST__VALUES_MOST */
  const void *items;     /* [count], as the family says */
  const double *weights; /* [count], finite and not negative; NULL: 1 each */
} cst__value_block;

static inline const int64_t *cst__values_ints(const cst__value_block *v) { return v->items; }
static inline const uint64_t *cst__values_uints(const cst__value_block *v) { return v->items; }
static inline const double *cst__values_floats(const cst__value_block *v) { return v->items; }
static inline const cst_bytes *cst__values_bytes(const cst__value_block *v) { return v->items; }

/* Takes a block; what it points to is valid during the call. */
typedef cst_status (*cst__values_use)(void *ctx, const cst__value_block *values, cst_error *error);

/* Hands on the values of slots, which are a run or spans of a column without lists. `weights`: one
 * for each slot that is chosen; NULL: 1 each. Nulls are left out, and *num_nulls is raised by their
 * number. */
cst_status cst__values_each(const cst__slots *slots, const double *weights, cst__values_use use,
                            void *ctx, int64_t *num_nulls, cst_error *error);

/* Goes from lists to their items, as cst__slots_open. `weights`: one for each list, which all its
 * items get; they lie in the arena then. */
cst_status cst__values_open(cst__slots *slots, const double **weights, cst__arena *arena,
                            cst__lists *lists, cst_error *error);
/* The same from the rows of a column through all its lists. Null lists are nulls, too. */
cst_status cst__values_descend(cst__slots *slots, const double **weights, cst__arena *arena,
                               int64_t *num_nulls, cst_error *error);

/* Numbers as weights, one for each of the slots; in the arena. CST_INVALID_ARGUMENT, with the row,
 * for one that is null, negative, infinite or NaN. */
cst_status cst__weights_of(const cst__slots *slots, cst__arena *arena, const double **out,
                           cst_error *error);

/* ---- two columns together: what two fields of a struct have in the same rows ---- */

/* Takes blocks of equally many values, of which the first has the weights; what they point to is
 * valid during the call. */
typedef cst_status (*cst__pairs_use)(void *ctx, const cst__value_block *x,
                                     const cst__value_block *y, cst_error *error);

/* The families of the two fields. CST_INVALID_ARGUMENT for a column that is no struct of two
 * fields; CST_UNSUPPORTED, as cst__family_of, for types of fields: lists among them. */
cst_status cst__pairs_families(const cst__view *column, cst__family out[2], cst_error *error);

/* Hands on the pairs of such a column. Rows in which one of the two is null, or the struct, are
 * left out, and *num_nulls is raised by their number. `weights`: one for each row; NULL: 1 each. */
cst_status cst__pairs_each(const cst__view *column, const double *weights, cst__pairs_use use,
                           void *ctx, int64_t *num_nulls, cst_error *error);

#endif /* SKETCH_VALUES_H */
