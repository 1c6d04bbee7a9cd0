/* A pass: all batches of a source, in order. Records come out of a pipeline (pipeline.h, which has
 * a picture of it), rows of tabular formats out of their readers.
 */
#ifndef SOURCE_PASS_PASS_H
#define SOURCE_PASS_PASS_H

#include <sys/types.h>

#include "source/pass/joiner.h"
#include "source/pass/pipeline.h"
#include "source/pass/tabular.h"

/* Where rows may be missing, units that have lost some are joined. */
typedef struct cst__pass_joining {
  cst__joiner joiner;
  struct ArrowSchema schema; /* release NULL: the joiner has not been needed */
  bool flush;                /* what waits in the joiner is next, full or not */
  bool delivers;             /* the batch delivered last comes out of it */
  uint64_t bytes;            /* of the records that the waiting rows come from, about */
} cst__pass_joining;

struct cst_pass {
  cst_source *source;
  cst__pass_options options;
  cst__pass_counts counts;
  cst__tabular_pass *tabular; /* a tabular format: the pipeline is not used */
  cst__pipeline pipeline;
  cst__pass_joining joining;
  cst__unit delivered; /* that of the batch delivered last, for its places */
  uint64_t first_row;  /* a tabular format: number of the first row of the batch delivered last */
  bool at_end;         /* no unit is left */
  pid_t process;       /* that made the first next; 0: none yet */
  cst_status failure;  /* delivered: comes again and again */
  cst_error error;     /* of the failure */
};

/* A pass of other options than the source's. The input must have been acquired. */
cst_status cst__pass_new_with(cst_source *source, const cst__pass_options *options, cst_pass **out,
                              cst_error *error);

/* What the work of the options has made of the next unit; the caller's. At the end, at_end is set.
 */
cst_status cst__pass_next_made(cst_pass *pass, void **made, cst_error *error);
/* For CST__FOR_RECORDS and a source that raises: the next unit, whose records are not decoded and
 * not checked; borrowed until the next call. Without rows at the end. */
cst_status cst__pass_next_unit(cst_pass *pass, const cst__unit **out, cst_error *error);

/* Adds the place of a row of the batch delivered last: file and record. In a tabular format, whose
 * rows have no file, the record counts from the start of the pass. */
void cst__pass_locate(const cst_pass *pass, size_t row, cst_error *error);

#endif /* SOURCE_PASS_PASS_H */
