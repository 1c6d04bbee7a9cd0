/* A survey: one pass over all of a source that delivers batches of the types that the data have,
 * whatever its schema says, each row with its place. Inference, proposals and validation are made
 * of it.
 */
#ifndef SOURCE_SCAN_SURVEY_H
#define SOURCE_SCAN_SURVEY_H

#include "arrow/accumulator.h"
#include "source/input/source.h"

/* Where the rows of a batch are; valid during the visit. */
typedef struct cst__survey cst__survey;

/* A batch: a struct array with a schema of its own, both borrowed for the call. A status that is
 * not CST_OK ends the survey with it. */
typedef cst_status (*cst__survey_visit)(void *ctx, const cst__survey *survey,
                                        const struct ArrowSchema *schema,
                                        const struct ArrowArray *batch, cst_error *error);

typedef struct cst__survey_options {
  /* Goes on behind what cannot be read: damaged records and those that do not parse are told to
   * on_dropped and passed over, whatever the source's on_error says, and records of a batch that
   * have a feature in different types come in smaller batches. Else that is an error (and under
   * on_error skip, damaged records are passed over in silence). */
  bool lenient;
  /* Of a lenient survey of CSV or JSON, whose text says little about types: the schema to read them
   * by; rows that cannot be read so are dropped. NULL: the source's. */
  const cst_schema *text_schema;
  cst__survey_visit on_batch;
  cst_dropped_callback on_dropped; /* lenient; false ends the survey with CST_CALLBACK */
  void *ctx;                       /* of both */
  cst_progress_callback on_progress;
  void *progress_ctx;
  const char *work; /* "the inference": what on_progress stops */
} cst__survey_options;

/* Reads all of the source (CST_STATE: it can be read only once, and has been), with its threads;
 * calls come from the caller's thread, in the order of the records. */
cst_status cst__source_survey(cst_source *source, const cst__survey_options *options,
                              cst_error *error);

/* Adds the place of a row of the visited batch: file, record and (of a container) offset. In a
 * tabular format of several files the record counts from the start of the source, and there is no
 * file; where rows of a table were dropped and their number is lost, the record stays -1. */
void cst__survey_locate(const cst__survey *survey, size_t row, cst_error *error);

/* The origin of the visited batch's rows. Valid during the visit. */
typedef struct cst__survey_origin {
  cst__origin origin;
  const cst__survey *survey;
  cst_error place;
} cst__survey_origin;
const cst__origin *cst__survey_origin_init(cst__survey_origin *origin, const cst__survey *survey);

/* CST_UNSUPPORTED for formats without columns of their own (raw). */
cst_status cst__source_check_survey(const cst_source *source, const char *purpose,
                                    cst_error *error);

/* Of a pipe whose records decide what it is: reads the first ones, and looks. *feed is NULL or to
 * be freed also after a failure. */
cst_status cst__source_begin_sample(cst_source *source, cst__feed **feed, cst_error *error);

#endif /* SOURCE_SCAN_SURVEY_H */
