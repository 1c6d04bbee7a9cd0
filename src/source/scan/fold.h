/* Folds: one pass over all of a source that adds every record to accumulators, as batches of the
 * types that the data have, whatever its schema says; of a source with a view or with stages of the
 * caller, what these give. Inference, proposals and validation are made of it.
 *
 * The threads that decode add, each unit to a state of its own; the caller's merges these in the
 * order of the records. With one thread, all is added to one state.
 */
#ifndef SOURCE_SCAN_FOLD_H
#define SOURCE_SCAN_FOLD_H

#include "arrow/accumulator.h"
#include "source/input/source.h"

/* A state of an accumulator. */
typedef struct cst__accumulation {
  const cst__accumulator *accumulator;
  const void *plan;
  void *state;
} cst__accumulation;

typedef struct cst__fold_options {
  /* Goes on after what cannot be read: damaged records and those that do not parse are added as
   * lost, whatever the source's on_error says, and records of a batch that have a feature in
   * different types come in smaller batches. Without it, any of these is an error, or what the
   * source's on_error says. */
  bool lenient;
  bool tells; /* without `lenient`: what is dropped is told of, as a pass does; else it is not,
                 because a pass will */
  /* Of a lenient fold of CSV or JSON, whose text says little about types: the schema to read them
   * by; rows that cannot be read so are lost. NULL: the source's. */
  const cst_schema *text_schema;
  bool whole;        /* of a tabular format: all columns, whatever the source's `columns` say */
  int64_t max_rows;  /* of a tabular format: no more than these are read; 0: all of them */
  bool before_views; /* what is read, and not what views and stages make of it */
  cst_progress_callback on_progress;
  void *progress_ctx;
  const char *work; /* "the inference": what on_progress stops */
} cst__fold_options;

/* To be called before a fold, unless something else has acquired the source: CST_UNSUPPORTED for
 * payloads whose types are fixed (raw); CST_STATE if the source can be read only once, and has
 * been. */
cst_status cst__source_acquire_for_fold(cst_source *source, const cst__accumulator *accumulator,
                                        cst_error *error);

/* Adds all records to all states. Places have a file and (of a container) an offset. In a tabular
 * format of several files the record counts from the start of the source, and there is no file;
 * where rows of a table were dropped and their number is lost, the record is -1. */
cst_status cst__source_fold(cst_source *source, const cst__fold_options *options,
                            const cst__accumulation *accumulations, size_t count, cst_error *error);

/* The same for one accumulator: *state is the caller's to finish and free. */
cst_status cst__source_fold_one(cst_source *source, const cst__fold_options *options,
                                const cst__accumulator *accumulator, const void *plan, void **state,
                                cst_error *error);

#endif /* SOURCE_SCAN_FOLD_H */
