/* The units of a feed on their way through the decoders, in as many threads as there are, and out
 * in order.
 *
 * Who holds what, and when:
 *
 *   file            feed                    slot of the ring                        caller
 *
 *   cursor -------> blocks ---------------> unit ------------> unit and batch ----> unit and batch
 *   fills a block   of a file, in order,    queued, then       done: they wait      the unit stays
 *   without the     until all of their      decoded without    for their turn       until the next
 *   lock, one       records are cut         the lock, one                           delivery, for
 *   thread a file   into units              thread a unit                           places of rows
 *
 * A block has an owner in the feed until all of it is cut; in every unit with a run of its records,
 * until they are decoded; and in every batch whose views point into it, until the consumer releases
 * that. The last owner gives it back to the feed's pool, from whatever thread. The storage of a
 * unit belongs to its slot: a delivery swaps it with that of the unit delivered before.
 *
 * Units are numbered from the start, and each stands in the ring at its number:
 *
 *   head            taken           tail
 *    | done, running | queued        |        the feed cuts the next unit at `tail`
 *
 * Everybody in the crew (the caller, and threads - 1 others) does the same: pick a job under the
 * lock, run it without the lock, report under the lock. With one thread, only the caller does.
 */
#ifndef SOURCE_PASS_PIPELINE_H
#define SOURCE_PASS_PIPELINE_H

#include "base/crew.h"
#include "source/pass/feed.h"

enum { CST__RING = 256 };

/* What the threads make of units in place of batches. */
typedef struct cst__unit_work {
  /* Decodes the unit, or does what it likes with it; its records are let go afterwards. *made comes
   * in as NULL. */
  cst_status (*run)(void *ctx, cst__unit *unit, cst__decoding *decoding, void **made,
                    cst_error *error);
  void (*drop)(void *ctx, void *made); /* that nobody has taken */
  void *ctx;
} cst__unit_work;

typedef struct cst__pass_options {
  size_t rows;    /* of a batch */
  uint64_t bytes; /* a batch also ends when its records reach this */
  int32_t threads;
  cst__purpose purpose;
  bool quiet;                 /* nobody is told of what is dropped */
  const cst__unit_work *work; /* of a container: for cst__pass_next_made; outlives the pass */
  cst_error *warning;         /* see cst__tabular_options */
  bool unstaged;              /* of a tabular format: the batches do not go through the stages */
  cst__at_once at_once;       /* of a container */
} cst__pass_options;

/* How far a pass is, for whoever asks, from any thread. */
typedef struct cst__pass_counts {
  _Atomic uint64_t consumed; /* bytes */
  _Atomic uint64_t rows;
  _Atomic uint64_t dropped;
} cst__pass_counts;

typedef enum cst__unit_state {
  CST__UNIT_QUEUED,
  CST__UNIT_RUNNING,
  CST__UNIT_DONE
} cst__unit_state;

typedef struct cst__ring_unit {
  cst__unit_state state;
  cst__unit unit; /* its blocks are let go when it is decoded */
  uint64_t bytes;
  size_t rows; /* those of the batch, when it is done */
  struct ArrowArray batch;
  void *made; /* in place of a batch, by a cst__unit_work */
} cst__ring_unit;

/* The units that are cut and not delivered. */
typedef struct cst__ring {
  cst__ring_unit *slots;  /* CST__RING */
  uint64_t head;          /* the unit that is delivered next, */
  uint64_t taken;         /* the first that nobody decodes yet, */
  uint64_t tail;          /* and the first that is not cut */
  uint64_t queued_bytes;  /* of the units [taken, tail) */
  uint64_t decoded_bytes; /* of the units [head, taken) */
  bool resting;           /* enough is decoded ahead: wait until half of it is delivered */
  bool cut_all;           /* nothing will follow at the tail */
} cst__ring;

typedef struct cst__pipeline {
  const cst_source *source;         /* borrowed */
  const cst__pass_options *options; /* borrowed */
  cst__pass_counts *counts;         /* borrowed */
  cst__decoding *decodings;         /* one for each thread, which alone uses it */
  cst__crew crew;                   /* whose lock guards all below */
  cst__feed *feed;                  /* NULL before the start */
  cst__ring ring;
  cst__first_failure failed; /* of the units that have been tried */
} cst__pipeline;

/* Borrows all of them. */
void cst__pipeline_init(cst__pipeline *pipeline, const cst_source *source,
                        const cst__pass_options *options, cst__pass_counts *counts);

/* Makes what is needed, takes the feed over (also on failure), and starts the threads. */
cst_status cst__pipeline_start(cst__pipeline *pipeline, cst__feed *feed, cst_error *error);

/* Moves the next unit out, with its batch: works, and waits for the workers, until it is done. What
 * *unit holds is cleared; its storage is used again. batch->release is NULL for a unit without a
 * batch, and at the end: then *at_end is set. *made is what a cst__unit_work has made of it;
 * without one it may be NULL. */
cst_status cst__pipeline_next(cst__pipeline *pipeline, cst__unit *unit, struct ArrowArray *batch,
                              void **made, bool *at_end, cst_error *error);

/* Ends the threads; what is left undone is of no use. */
void cst__pipeline_stop(cst__pipeline *pipeline);
void cst__pipeline_reset(cst__pipeline *pipeline);

#endif /* SOURCE_PASS_PIPELINE_H */
