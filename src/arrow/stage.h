/* A batch stage: what stands between decoding and delivery and makes batches of batches. One table
 * of functions per kind of stage, one file each in src/stage; several stand one after another in a
 * chain (stage/chain.h), which runs in the threads that decode.
 */
#ifndef ARROW_STAGE_H
#define ARROW_STAGE_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

#include "base/alloc.h"

/* Where the rows of a batch come from: row i of what a stage gives is row rows[i] of what it was
 * given. */
typedef struct cst__row_map {
  bool moved;    /* false: row i comes from row i, and `rows` means nothing */
  int64_t *rows; /* as many as the batch that was given out has; owned, used again */
  size_t capacity;
} cst__row_map;

/* A row that a stage keeps, with a null in the place of what does not fit: the error has its number
 * in the batch that came. */
typedef void (*cst__bad_row_callback)(void *ctx, const cst_error *error);

enum { CST__NUMBER_UNKNOWN = -1, CST__NUMBER_OF_PASS = -2 };

/* What is known of the rows of the batch that comes, for stages that ask. */
typedef struct cst__row_facts {
  /* The number of a row's record in its file. CST__NUMBER_UNKNOWN: what is read begins in the
   * middle of the file; CST__NUMBER_OF_PASS: records of several files are counted together, and not
   * told apart. NULL: as unknown. */
  int64_t (*record)(const void *ctx, int64_t row);
  /* True for a row of nulls in the place of a record that does not decode, which has been told of.
   * NULL: there are none. */
  bool (*is_bad)(const void *ctx, int64_t row);
  /* The numbers of the files that the first `count` rows come from, among those that were opened,
   * and of their records in these; -1: unknown. NULL: all are. */
  cst_status (*ids)(const void *ctx, int64_t count, int64_t *files, int64_t *records,
                    cst_error *error);
  const void *ctx;
} cst__row_facts;

/* What a stage gives, told when it is bound. */
typedef struct cst__stage_output {
  struct ArrowSchema schema;
  bool keeps_rows; /* every batch has the rows that came in, in their order: rows can be reached by
                      their numbers */
} cst__stage_output;

typedef struct cst__stage {
  const char *name;
  /* True if `run` fails with CST_SCHEMA or CST_CORRUPT for a row that does not fit, whatever rows
   * stand beside it: under CST_ON_ERROR_SKIP that row alone is dropped. Such stages come before all
   * others. */
  bool refuses_rows;

  /* The columns that the stage wants to be given, in this order: what is decoded, if it is the
   * first. NULL: all that there are. The names belong to the settings. */
  const char *const *(*needs)(const void *settings, size_t *count);
  /* Looks at the schema (a struct) of the batches that come; *plan is immutable and shared by all
   * threads. It keeps nothing of `input`; the settings outlive it. */
  cst_status (*bind)(const void *settings, const struct ArrowSchema *input,
                     const cst_allocator *allocator, void **plan, cst__stage_output *output,
                     cst_error *error);
  void (*plan_free)(void *plan);

  /* What one thread needs. */
  cst_status (*open)(const void *plan, void **state, cst_error *error);
  /* Makes a batch of the output's schema, with any number of rows, and takes over the one that
   * comes, on failure too. `origin` is to be filled unless the rows are kept. An error about a row
   * has its number in the batch that came as its record, and the column as its path. */
  cst_status (*run)(void *state, struct ArrowArray *batch, struct ArrowArray *out,
                    cst__row_map *origin, cst_error *error);
  /* Who is told of bad rows, before `run` returns. NULL: there never are any. */
  void (*on_bad)(void *state, cst__bad_row_callback on_bad, void *ctx);
  /* Whom it may ask while it runs (it copies that), about the rows of its batch; about ids alone,
   * if a stage before it does not keep the rows. NULL: it asks nobody. */
  void (*ask)(void *state, const cst__row_facts *facts);
  void (*close)(void *state);
} cst__stage;

/* Room for the origins of `count` rows. False: no memory. */
static inline bool cst__row_map_reserve(cst__row_map *origin, const cst_allocator *allocator,
                                        int64_t count) {
  void *rows = origin->rows;
  bool ok = cst__grow(allocator, &rows, &origin->capacity, (size_t)count + 1, sizeof *origin->rows);
  origin->rows = rows;
  return ok;
}

static inline void cst__row_map_reset(cst__row_map *origin) {
  cst__delete(origin->rows);
  *origin = (cst__row_map){0};
}

#endif /* ARROW_STAGE_H */
