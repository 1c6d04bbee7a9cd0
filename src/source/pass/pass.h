/* A pass: the units of a feed on their way through the decoders, delivered in order.
 *
 * Units stand in a ring, numbered from the start of the pass:
 *
 *   head            taken           tail
 *    | done, running | queued        |        the feed cuts the next unit at `tail`
 *
 * Everybody (the caller of cst_pass_next, and threads - 1 workers) does the same: pick a job under
 * the lock, run it without, report under the lock. With one thread, only the caller does.
 */
#ifndef SOURCE_PASS_PASS_H
#define SOURCE_PASS_PASS_H

#include "source/block/unit.h"
#include "source/input/source.h"
#include "source/pass/feed.h"
#include "source/pass/joiner.h"
#include "source/pass/tabular.h"

enum { CST__RING = 256 };

typedef enum cst__slot_state {
  CST__SLOT_QUEUED,
  CST__SLOT_RUNNING,
  CST__SLOT_DONE
} cst__slot_state;

typedef struct cst__slot {
  cst__slot_state state;
  cst__unit unit; /* its blocks are let go when it is decoded, unless offsets are kept */
  uint64_t bytes;
  size_t rows;               /* those that decode, when it is done */
  struct ArrowSchema schema; /* for CST__FOR_TYPES */
  struct ArrowArray batch;
} cst__slot;

typedef struct cst__worker {
  cst_pass *pass;
  cst__decoding decoding;
  cst__thread thread; /* not for the caller's */
} cst__worker;

typedef struct cst__pass_options {
  size_t rows;    /* of a batch */
  uint64_t bytes; /* a batch also ends when its records reach this */
  int32_t threads;
  cst__purpose purpose; /* CST__FOR_TYPES: every batch has a schema of its own */
  bool keep_offsets;    /* cst__pass_locate gives offsets too; the blocks live longer */
  /* For CST__FOR_TYPES, with keep_offsets: next gives every unit, also one without a batch because
     its records do not decode together, or because it has none. What to make of `delivered` and
     its drops is the caller's business. At the end, at_end is set. */
  bool by_unit;
  cst_error *warning; /* see cst__tabular_pass_new */
} cst__pass_options;

struct cst_pass {
  cst_source *source;
  cst__pass_options options;
  cst__tabular_pass
      *tabular;         /* a tabular format: nothing below is used but the failure and the counts */
  cst__feed *feed;      /* NULL before the first next */
  cst__worker *workers; /* [0] is the caller's */
  int32_t num_started;  /* threads that run */
  cst__unit delivered;  /* that of the batch delivered last, for its places */
  uint64_t first_row;   /* a tabular format: number of the first row of the batch delivered last */
  cst_status failure;   /* delivered: comes again and again */
  _Atomic uint64_t consumed;
  _Atomic uint64_t rows;
  _Atomic uint64_t dropped;
  atomic_bool cancelled; /* what the workers do is of no use any more */

  /* Under CST_ON_ERROR_SKIP: units that have lost records are joined. */
  cst__joiner joiner;
  struct ArrowSchema schema; /* release NULL: the joiner has not been needed */
  bool flush;                /* what waits in the joiner is next, full or not */
  bool at_end;               /* no unit is left */

  cst__mutex lock; /* guards all below, and the feed */
  cst__condition work;
  cst__condition ready;
  cst__slot *slots;
  uint64_t head;
  uint64_t taken;
  uint64_t tail;
  uint64_t failed_at; /* the unit that fails; UINT64_MAX: none so far */
  cst_status failed_status;
  cst_error error;        /* of failed_at */
  uint64_t queued_bytes;  /* of the units [taken, tail) */
  uint64_t decoded_bytes; /* of the units [head, taken) */
  bool resting;           /* enough is decoded ahead: wait until half of it is delivered */
  bool cut_all;           /* nothing will follow at the tail */
  bool caller_waits;
  bool stop;
  int32_t idle; /* workers that wait for work */
};

/* A pass of other options than the source's. The input must have been acquired. */
cst_status cst__pass_new_with(cst_source *source, const cst__pass_options *options, cst_pass **out,
                              cst_error *error);

/* As cst_pass_new, cst_pass_next, ... ; out_schema (may be NULL) is filled for CST__FOR_TYPES. */
cst_status cst__pass_new(cst_source *source, cst_pass **out, cst_error *error);
cst_status cst__pass_next(cst_pass *pass, struct ArrowSchema *out_schema, struct ArrowArray *out,
                          cst_error *error);
/* For CST__FOR_RECORDS and a source that raises: the next unit, whose records are not decoded and
 * not checked; borrowed until the next call. Without rows at the end. */
cst_status cst__pass_next_unit(cst_pass *pass, const cst__unit **out, cst_error *error);
void cst__pass_progress(const cst_pass *pass, uint64_t *bytes_read, uint64_t *rows);
uint64_t cst__pass_dropped(const cst_pass *pass);
void cst__pass_free(cst_pass *pass);

/* Adds the place of a row of the batch delivered last: file and record, and the offset if offsets
 * are kept. In a tabular format, whose rows have no file, the record counts from the start of the
 * pass. */
void cst__pass_locate(const cst_pass *pass, size_t row, cst_error *error);

/* ---- jobs.c ---- */

/* Does one job, if there is one; the caller holds the lock (which is let go meanwhile). */
bool cst__pass_work(cst_pass *pass, cst__worker *worker);

/* Cuts units while the ring has room. Holds the lock. */
void cst__pass_cut(cst_pass *pass);

/* The unit at the head has been delivered: makes room and work. Holds the lock. */
void cst__pass_advance(cst_pass *pass);

/* The pass fails with this unit, unless it does with an earlier one. Holds the lock. */
void cst__pass_note_failure(cst_pass *pass, uint64_t unit, cst_status status,
                            const cst_error *error);

/* True if the next call of next has its answer. Holds the lock. */
bool cst__pass_is_ready(const cst_pass *pass);

/* Starts as many of the threads as the system gives, and stops them all. */
void cst__pass_start_threads(cst_pass *pass);
void cst__pass_stop_threads(cst_pass *pass);

#endif /* SOURCE_PASS_PASS_H */
