/* The values with the largest weights, as tfx_bsl's MisraGriesSketch counts them: to the last
 * figure, so that what it has saved can be gone on with, and the other way round. Heavy hitters
 * (heavy_hitters.h) have a lower bound for each value that is closer to the upper one.
 *
 * There are at most `buckets` texts with a weight each. A new one beyond that is put in, and then
 * all weights fall by 1, or, where it came with a weight, by the smallest one; those below 1e-8 go,
 * and `delta`, the sum of all that was subtracted, grows. So the true weight of a text is between
 * its own and that + delta, and of any other at most delta. Of those whose weight fell to 0 the
 * last time, as many are kept without a weight, the `extras`, as there are free buckets: the ones
 * that came first (tfx_bsl takes any). Merged tables fall by the weight at place buckets + 1.
 *
 * Values are texts: bytes as they are, integers in digits, and doubles as their 8 bytes, as which
 * they are found, with one NaN of each sign; they come out as text. Values without weights may be
 * replaced: bytes that are no UTF-8 by `invalid_text`, then those of more than `longest` bytes by
 * `long_text`.
 */
#ifndef SKETCH_MISRA_GRIES_MISRA_GRIES_H
#define SKETCH_MISRA_GRIES_MISRA_GRIES_H

#include "base/archive.h"
#include "sketch/heavy_hitters.h"
#include "sketch/misra_gries/misra_table.h"
#include "sketch/sketch.h"

typedef struct cst__misra_options {
  size_t buckets;           /* 0 to INT32_MAX */
  const char *invalid_text; /* NULL: bytes are taken as they are */
  const char *long_text;    /* NULL: however long they are */
  size_t longest;           /* bytes; 0 to INT32_MAX */
  bool largest_first;       /* of texts of equal weight */
} cst__misra_options;

/* The options' texts are borrowed. */
typedef struct cst__misra {
  cst_allocator allocator;
  cst__misra_options options;
  cst__family family; /* NONE: nothing has been added; uint64 are INT */
  double delta;
  cst__misra_table items;
  cst__misra_table extras;
} cst__misra;

void cst__misra_init(cst__misra *misra, const cst__misra_options *options,
                     const cst_allocator *allocator);
void cst__misra_reset(cst__misra *misra);
size_t cst__misra_memory(const cst__misra *misra);

/* Values of the family of those before. CST_NO_MEMORY: some of them may have been added. */
cst_status cst__misra_add(cst__misra *misra, const cst__value_block *values, cst_error *error);
/* Of the same options, and of one family or one of them empty. After a failure, `into` has a part
 * of the other one. */
cst_status cst__misra_merge(cst__misra *into, const cst__misra *from, cst_error *error);
void cst__misra_archive(cst__misra *misra, cst__archive *a);

/* What another has kept of a value, as text: a weight, or that it is an extra one; the second time
 * the value comes it is left out. CST_CORRUPT for a text that no value of the family has. */
cst_status cst__misra_put(cst__misra *misra, cst__family family, cst_bytes text,
                          const double *weight, cst_error *error);

/* The text of an item: its own, or in `room`. */
cst_bytes cst__misra_item_text(const cst__misra *misra, const cst__misra_table *table, size_t i,
                               char *room);

/* At most `buckets` values: first those with weights, the largest first, then extras, with weight
 * 0; each with delta as well. Equal ones by their texts, extras always the smallest first. As in
 * tfx_bsl, doubles that have weights
 * are in six digits ("0.1", "1e-05"), extras in "%a". cst__delete; NULL where there are none. */
cst_status cst__misra_items(const cst__misra *misra, cst__heavy_item **items, size_t *count,
                            cst_error *error);

extern const cst__sketch_kind cst__misra_kind;

#endif /* SKETCH_MISRA_GRIES_MISRA_GRIES_H */
