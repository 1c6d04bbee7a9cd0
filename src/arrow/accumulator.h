/* Accumulators: what is found out about data by looking at all of it, batch by batch: schemas,
 * anomalies, proposals, counts, sketches.
 *
 * An accumulator is a table of functions over a state. States of consecutive parts of the input are
 * made on any number of threads (or machines), and merged in the order of the input; what comes out
 * is the same for every number of threads and every way to split the input. So a state holds no
 * more than can be merged: counts, extremes, sets up to a limit, the first place of something. What
 * states have in common (a schema to compare with, options) is their plan, which is immutable.
 *
 * It lives here because it knows batches and nothing else: `schema` and `validate` have
 * accumulators, and `source` drives them without knowing which.
 */
#ifndef ARROW_ACCUMULATOR_H
#define ARROW_ACCUMULATOR_H

#include <columnstone/findings.h>
#include <columnstone/schema.h>

#include "arrow/view.h"
#include "base/archive.h"
#include "base/options.h"

/* ---- where rows come from ---- */

/* Of one record. */
typedef struct cst__place {
  const char *file; /* "": unknown */
  int64_t record;   /* -1: unknown */
  int64_t offset;   /* -1: unknown */
} cst__place;

static const cst__place cst__no_place = {"", -1, -1};

/* Where the rows of a batch come from; valid during the call that it is given to. */
typedef struct cst__origin {
  cst__place (*place)(const void *ctx, int64_t row); /* the file is borrowed for the call */
  const void *ctx;
} cst__origin;

/* The place of a row; `origin` may be NULL. */
static inline cst__place cst__origin_place(const cst__origin *origin, int64_t row) {
  return origin != NULL ? origin->place(origin->ctx, row) : cst__no_place;
}

/* Adds a place to a failure. */
void cst__error_add_place(cst_error *error, const cst__place *place);

/* The names of files that the places of a state have, each once. Zero-initialised storage. */
typedef struct cst__file_names {
  cst__name_map map;
  const char *last;
} cst__file_names;

/* Makes a place outlive the origin: its file's name becomes a copy in the arena. False: no memory.
 */
bool cst__file_names_keep(cst__file_names *names, cst__place *place, cst__arena *arena);
void cst__file_names_reset(cst__file_names *names);
void cst__archive_place(cst__archive *a, cst__place *place, cst__file_names *names,
                        cst__arena *arena);

/* ---- what could not be read ---- */

typedef struct cst__lost {
  const char *kind;       /* as that of cst_dropped */
  cst_bytes column;       /* of a table, whose cell does not read as its type; {NULL, 0}: none */
  const cst_error *error; /* what reading failed with, and where */
} cst__lost;

/* ---- the table ---- */

/* A plan that somebody owns. */
typedef struct cst__owned_plan {
  const void *plan;
  void (*free)(const void *plan); /* NULL: the plan is nobody's */
  uint64_t mark;                  /* the same for plans whose states may be merged */
} cst__owned_plan;

typedef struct cst__accumulator {
  const char *name;    /* that callers make it by; in saved states, which no other one loads */
  uint64_t version;    /* of the form of saved states: a state of another one is not loaded */
  const char *purpose; /* "infer a schema from": what it does with data, for errors */
  const char *summary; /* one line for lists: what its findings are */

  /* The options of callers, and the plan that they make; NULL: there are none, and the plan is
   * NULL. One that is called "schema" is a TFMD schema as protobuf text. The options are settled,
   * and nothing is borrowed from them afterwards; out->mark is one of what they say. */
  const cst__option_table *options;
  cst_status (*plan)(const void *options, const cst_allocator *allocator, cst__owned_plan *out,
                     cst_error *error);
  /* How all of a source is read for it: past what cannot be read, which is added as lost, or not;
   * and the schema that CSV and JSON are read by, or NULL. */
  bool is_lenient;
  const cst_schema *(*text_schema)(const void *plan);

  /* An empty state. The plan outlives it. */
  cst_status (*create)(const void *plan, const cst_allocator *allocator, void **state,
                       cst_error *error);
  void (*free)(void *state); /* NULL is allowed */

  /* Adds the rows of a batch, which come after all that have been added. The batch is trusted. A
   * failure of the data (CST_SCHEMA, CST_UNSUPPORTED) has the place of the row; the state is of no
   * use then. */
  cst_status (*add)(void *state, const cst__view *batch, const cst__origin *origin,
                    cst_error *error);
  /* Adds a record that could not be read. NULL: the accumulator does not care. */
  cst_status (*add_lost)(void *state, const cst__lost *lost, cst_error *error);
  /* Adds what another state of the same plan, or of one that is equal, has: its rows come after
   * those of `into`. Fails as add does. `from` is not changed, and nothing of it is borrowed. */
  cst_status (*merge)(void *into, const void *from, cst_error *error);
  /* Empties a state that was merged into another one, for rows that will be merged into the same
   * one. What that one knows for good (a feature has too many strings to keep) need not be found
   * again. False: it may only be freed. NULL: an empty state is as good. */
  bool (*restart)(void *state);
  /* Saves the state, or fills an empty one; on a bad archive, the state may only be freed. */
  void (*archive)(void *state, cst__archive *archive);
  /* What has been found out. The state may go on. */
  cst_status (*finish)(const void *state, cst_findings **out, cst_error *error);
  /* The same of one that finds a schema: *out is the caller's, cst_schema_release. NULL: none. */
  cst_status (*finish_schema)(const void *state, cst_schema **out, cst_error *error);
} cst__accumulator;

/* What looks at a batch that is not viewed yet. */
typedef struct cst__batch_look {
  bool trusted;                   /* else the batch is validated */
  bool any_type;                  /* it may be one column, too */
  const cst_allocator *allocator; /* NULL: the default one */
  cst_status (*use)(void *ctx, const cst__view *batch, cst_error *error);
  void *ctx;
} cst__batch_look;

/* Calls `use` with a view of a batch, a struct array, which is borrowed; columns that are
 * dictionary-encoded are their values in it. The schema is whole. Returns what `use` does. */
cst_status cst__batch_view(const cst__batch_look *look, const struct ArrowSchema *schema,
                           const struct ArrowArray *array, cst_error *error);

/* Adds a batch that is not viewed yet: a struct array, borrowed and trusted. `origin` may be NULL.
 */
cst_status cst__accumulator_add(const cst__accumulator *accumulator, void *state,
                                const struct ArrowSchema *schema, const struct ArrowArray *array,
                                const cst__origin *origin, cst_error *error);

/* The state as bytes (cst_free), with a name, a version, the options of callers that made its plan
 * (NULL: there were none) and a checksum. */
cst_status cst__accumulator_save(const cst__accumulator *accumulator, const void *options,
                                 const void *state, char **bytes, size_t *size, cst_error *error);
/* A state of the plan from bytes: CST_CORRUPT if they are damaged or none that save gave,
 * CST_INVALID_ARGUMENT if they are of another accumulator, version or plan. Safe on any bytes. */
cst_status cst__accumulator_load(const cst__accumulator *accumulator, const void *plan,
                                 cst_bytes bytes, const cst_allocator *allocator, void **state,
                                 cst_error *error);
/* The options that were saved with a state of this accumulator, in the arena. Fails as load does.
 */
cst_status cst__accumulator_load_options(const cst__accumulator *accumulator, cst_bytes bytes,
                                         cst__arena *arena, cst__option_list *out,
                                         cst_error *error);

/* The sum of two counts; the largest count if it overflows, which only a forged saved state can
 * bring about: of two counts, the smaller one never becomes the larger one by it. */
static inline uint64_t cst__count_sum(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif /* ARROW_ACCUMULATOR_H */
