/* What counting and verifying have in common.
 */
#ifndef SOURCE_SCAN_SCAN_H
#define SOURCE_SCAN_SCAN_H

#include "source/block/cursor.h"

/* The reading of whole formats, for both. */
typedef struct cst__scan {
  bool keeps_on; /* a fault ends its file only; else it is the failure of all */
  cst_fault_callback on_fault;
  cst_count_callback on_file;
  cst_progress_callback on_progress;
  void *ctx;
  uint64_t faults;
  uint64_t bytes; /* of the files that are done */
  uint64_t records;
} cst__scan;

/* Reads every file of a whole format for itself. Their records have no bytes of their own:
 * record_bytes and stream_bytes are 0. */
cst_status cst__scan_whole(cst_source *source, cst__scan *scan, cst_error *error);

/* What is told of a verification. */
typedef struct cst__verify_calls {
  cst_fault_callback on_fault;
  cst_count_callback on_file;
  cst_progress_callback on_progress;
  void *ctx;
} cst__verify_calls;

/* Verifies the files of a source one behind the other on this thread. */
cst_status cst__verify_in_order(const cst_source *source, const cst__verify_calls *calls,
                                uint64_t *num_faults, cst_error *error);

/* Verifies parts of the source on as many threads as it may have (verify_parts.c). *sound: all of
 * it is, and its files have been told of. False: something is damaged, and nothing has been told
 * but progress. CST_CALLBACK if that has stopped it. */
cst_status cst__verify_in_parts(cst_source *source, const cst__verify_calls *calls, bool *sound,
                                cst_error *error);

/* Adds a block that the cursor has filled. */
void cst__count_block(cst_file_count *count, const cst_source *source, const cst__cursor *cursor,
                      const cst__block *block);

#endif /* SOURCE_SCAN_SCAN_H */
