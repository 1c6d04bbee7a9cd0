/* How a source is read: the options of <columnstone/source.h> as a plain value. It is copied by
 * assignment and changed field by field; what it points to belongs to somebody else, until
 * cst__reading_options_keep makes a copy that holds on to it.
 *
 * One more option is a field of cst_source_options, a field here, its line in reading_options.c,
 * and its use.
 */
#ifndef SOURCE_INPUT_READING_OPTIONS_H
#define SOURCE_INPUT_READING_OPTIONS_H

#include <columnstone/source.h>

#include "base/alloc.h"
#include "base/thread.h"
#include "io/input.h"
#include "stage/caller.h"

/* A counted Arrow schema. */
typedef struct cst__types {
  cst__refcount owners;
  struct ArrowSchema schema;
} cst__types;

/* Moves the schema in, also on failure (NULL: no memory). */
cst__types *cst__types_new(struct ArrowSchema *schema, const cst_allocator *allocator);
void cst__types_release(cst__types *types); /* NULL is allowed */

/* Which columns the records become. */
typedef struct cst__column_options {
  const char *const *names; /* wanted ones in the wanted order; NULL: all */
  size_t count;
  uint32_t flags;     /* CST_COLUMNS_... */
  cst_schema *schema; /* that is given; NULL: none. Counted, see cst__reading_options_keep */
  cst__types *types;  /* the same */
} cst__column_options;

typedef struct cst__batch_options {
  int64_t rows;  /* > 0 */
  int64_t bytes; /* INT64_MAX: no limit */
  int32_t threads;
} cst__batch_options;

/* What happens to damage, and to whom it is reported. */
typedef struct cst__damage_options {
  cst_on_error on_error;
  uint64_t max_errors; /* UINT64_MAX: no limit */
  cst_dropped_callback on_dropped;
  void *dropped_ctx;
  cst_warning_callback on_warning;
  void *warning_ctx;
} cst__damage_options;

typedef struct cst__tensor_options {
  const char *group;
  const char *environment;
  bool legacy;
} cst__tensor_options;

/* What single formats and payloads want to know. */
typedef struct cst__format_settings {
  const char *sequence_column; /* NULL: the usual one */
  const char *raw_column;      /* NULL: none */
  const cst_csv_options *csv;  /* complete; never NULL */
} cst__format_settings;

/* What stands between decoding and delivery: `flat` first, then those of the caller. */
typedef struct cst__stage_options {
  bool flat;
  cst__call *calls; /* the last of them; NULL: none. Counted, see cst__reading_options_keep */
} cst__stage_options;

typedef struct cst__option_names cst__option_names;

typedef struct cst__reading_options {
  uint32_t flags; /* CST_SOURCE_... */
  uint64_t max_record_size;
  uint64_t max_inflation;
  cst__batch_options batch;
  cst__column_options columns;
  cst__damage_options damage;
  cst__tensor_options tensors;
  cst__format_settings format;
  cst__stage_options stages;
  cst__option_names *names; /* counted: the memory of all names and of the CSV options */
} cst__reading_options;

/* Checks the caller's options, which are complete, and makes a value of them that owns copies of
 * what they point to; on failure there is nothing to release. */
cst_status cst__reading_options_init(cst__reading_options *options, const cst_source_options *from,
                                     cst_error *error);

/* One owner more, and one less, of what a value points to. */
void cst__reading_options_keep(const cst__reading_options *options);
void cst__reading_options_release(cst__reading_options *options);

static inline bool cst__reading_options_skip(const cst__reading_options *options) {
  return options->damage.on_error == CST_ON_ERROR_SKIP;
}

/* True if batches go through stages. */
static inline bool cst__reading_options_staged(const cst__reading_options *options) {
  return options->stages.flat || options->stages.calls != NULL;
}

/* True if every row of the source is a row of the input, in the same order. */
bool cst__reading_options_keep_rows(const cst__reading_options *options);

/* False if rows of the input may be missing in a pass: which, and how many, only a pass tells. */
static inline bool cst__reading_options_deliver_all(const cst__reading_options *options) {
  return !cst__reading_options_skip(options) && cst__reading_options_keep_rows(options);
}

#endif /* SOURCE_INPUT_READING_OPTIONS_H */
