/* Batches of any size in, batches of one size out: cut and joined, copied only where two of them
 * make one.
 */
#ifndef SOURCE_PASS_JOINER_H
#define SOURCE_PASS_JOINER_H

#include "arrow/accumulator.h"
#include "arrow/concat.h"

/* Rows [begin, begin + length) of a batch that is owned, alone or shared with slices. */
typedef struct cst__joined {
  struct ArrowArray array; /* release NULL: it lies in `shared` */
  cst__shared *shared;
  int64_t begin;
  int64_t length;
} cst__joined;

typedef struct cst__joiner {
  const struct ArrowSchema *schema; /* borrowed; of all batches */
  int64_t rows;                     /* of a batch that comes out */
  cst_allocator allocator;
  cst__joined *waiting; /* the first `count` */
  size_t count;
  size_t capacity;
  int64_t waiting_rows;
  cst__place *origins; /* from `first_origin` on of the rows taken last, and of those that wait */
  size_t num_origins;  /* with those before */
  size_t origins_capacity;
  size_t first_origin;
  size_t num_taken; /* from there on */
} cst__joiner;

void cst__joiner_init(cst__joiner *joiner, const struct ArrowSchema *schema, int64_t rows,
                      const cst_allocator *allocator);
void cst__joiner_reset(cst__joiner *joiner);

/* True if take has a full batch. */
static inline bool cst__joiner_is_full(const cst__joiner *joiner) {
  return joiner->waiting_rows >= joiner->rows;
}

/* Moves a batch in, also on failure. */
cst_status cst__joiner_put(cst__joiner *joiner, struct ArrowArray *batch, cst_error *error);

/* Room for the places of a batch of `rows` rows that is put next, which the caller fills, with
 * names of files that outlive the joiner; of all batches, or of none. NULL: no memory. */
cst__place *cst__joiner_add_origins(cst__joiner *joiner, int64_t rows);
/* The origin of a row of the batch taken last. */
static inline cst__place cst__joiner_origin(const cst__joiner *joiner, size_t row) {
  return row < joiner->num_taken ? joiner->origins[joiner->first_origin + row] : cst__no_place;
}

/* The next full batch, or at the end (no more is put) what is left; out->release is NULL if there
 * is none. */
cst_status cst__joiner_take(cst__joiner *joiner, bool at_end, struct ArrowArray *out,
                            cst_error *error);

#endif /* SOURCE_PASS_JOINER_H */
