/* Quantiles of weighted numbers whose bound always holds: summaries, which are merged and made
 * shorter.
 *
 * Papers: Greenwald and Khanna, "Power-conserving computation of order-statistics over sensor
 * networks" (2004), for merging and pruning; Zhang and Wang, "A fast algorithm for approximate
 * quantiles in high speed data streams" (2007), for the levels; Chen and Guestrin, "XGBoost: A
 * Scalable Tree Boosting System" (2016), for weights. The rules are those of TensorFlow's boosted
 * trees, which tfx_bsl's QuantilesSketch has, so that both find the same values: see there for how
 * values are chosen (tests/compat/test_quantiles_sketch.py compares).
 *
 * An entry is a value with the weight of all that equals it, and two ranks: at least `low` lies
 * below it, and at most `high` up to it, itself included. In a summary values rise strictly. A
 * merged one knows for a value of one side between which two of the other it lies: both bounds add
 * up. A shorter one leaves entries out as long as the ranks of those around differ by no more than
 * a share of the weight.
 *
 * The sketch gathers values in a buffer; a full one becomes a summary of about `block` entries,
 * which is merged with that of level 0, if there is one; what grows too long is made shorter and
 * goes up a level. So level i stands for 2^i buffers. `block` is chosen so that up to `most` values
 * stay within eps on all levels together; more of them cost more levels, and eps each.
 *
 * Nothing depends on chance: the same adds and merges give the same bytes.
 */
#ifndef SKETCH_QUANTILE_SUMMARY_SUMMARY_H
#define SKETCH_QUANTILE_SUMMARY_SUMMARY_H

#include "sketch/sketch.h"

typedef struct cst__summary_entry {
  double value, weight, low, high;
} cst__summary_entry;

/* Zeros: empty. */
typedef struct cst__summary {
  cst__summary_entry *entries; /* cst__delete */
  size_t count;
} cst__summary;

static inline double cst__summary_weight(const cst__summary *s) {
  return s->count > 0 ? s->entries[s->count - 1].high : 0;
}
void cst__summary_reset(cst__summary *s);

typedef struct cst__weighted {
  double value, weight;
} cst__weighted;

enum { CST__SUMMARY_LEVELS = 64 };

typedef struct cst__summary_sketch {
  cst_allocator allocator;
  double eps;      /* of one step: adding and merging, compacting, asking */
  uint64_t most;   /* values that it is made for */
  size_t block;    /* entries of a summary, about */
  size_t room;     /* of the buffer: it never has as many */
  bool is_compact; /* it was compacted, or merged with one that was */
  double weight;   /* of all values */
  cst__weighted *buffer;
  size_t num_buffered;
  size_t capacity; /* of the buffer, by now */
  cst__summary levels[CST__SUMMARY_LEVELS];
  size_t num_levels;
} cst__summary_sketch;

/* An empty one; eps > 0, most >= 1. */
void cst__summary_sketch_init(cst__summary_sketch *s, double eps, uint64_t most,
                              const cst_allocator *allocator);
/* Empties it. */
void cst__summary_sketch_reset(cst__summary_sketch *s);

/* A value that is not NaN, with a weight > 0. After a failure of this and the next three the sketch
 * may only be reset. CST_NO_MEMORY, CST_LIMIT: the sum of all weights is not finite. */
cst_status cst__summary_push(cst__summary_sketch *s, double value, double weight, cst_error *error);
/* What a summary has; it is copied. */
cst_status cst__summary_push_summary(cst__summary_sketch *s, const cst__summary *from,
                                     cst_error *error);
/* They are not the same. */
cst_status cst__summary_sketch_merge(cst__summary_sketch *into, const cst__summary_sketch *from,
                                     cst_error *error);
/* Makes one summary of all, once: nothing is done for one that was compacted before. */
cst_status cst__summary_sketch_compact(cst__summary_sketch *s, cst_error *error);

/* All that it has as one summary; *out: cst__summary_reset. The sketch stays as it is. */
cst_status cst__summary_sketch_all(const cst__summary_sketch *s, cst__summary *out,
                                   cst_error *error);
/* Where the weight is cut in `parts` equal ones: parts + 1 values from the least to the greatest,
 * and the most that all up to each weighs. The summary is not empty. */
void cst__summary_cuts(const cst__summary *s, size_t parts, double *values, double *upto);

/* True for a summary as it may be loaded: no NaN, nothing infinite but values, values rise. */
bool cst__summary_fits(const cst__summary *s);
/* After its members were set by somebody else: false if it is none. */
bool cst__summary_sketch_settle(cst__summary_sketch *s);

extern const cst__sketch_kind cst__summary_kind;

/* The state of a sketch of this kind. */
cst_status cst__summary_of(const cst_sketch *sketch, const cst__summary_sketch **out,
                           cst_error *error);

/* ---- tfx_summary.c: a stream of tfx_bsl's message ---- */

struct cst__wire_out;

/* The eps and most of a stream; CST_CORRUPT for bytes that are none. */
cst_status cst__tfx_summary_head(cst_bytes stream, double *eps, uint64_t *most, cst_error *error);
/* Adds it. With `is_new` the sketch is empty, of the stream's eps and most, and becomes what the
 * stream was. */
cst_status cst__tfx_summary_read(cst__summary_sketch *s, cst_bytes stream, bool is_new,
                                 cst_error *error);
void cst__tfx_summary_put(struct cst__wire_out *out, const cst__summary_sketch *s);

#endif /* SKETCH_QUANTILE_SUMMARY_SUMMARY_H */
