/* What counting and verifying tell of files as they go: each fault, each file at its end, and how
 * far they are.
 */
#ifndef SOURCE_SCAN_SCAN_CALLS_H
#define SOURCE_SCAN_SCAN_CALLS_H

#include <columnstone/source.h>

/* One file's totals. */
typedef struct cst__file_count {
  const char *file;
  uint64_t records;
  uint64_t record_bytes; /* payload bytes, without framing */
  uint64_t stream_bytes; /* uncompressed bytes of the container */
  uint64_t file_bytes;   /* bytes on disk, as far as read */
} cst__file_count;

typedef struct cst__scan_calls {
  void (*on_fault)(void *ctx, const char *kind, const cst_error *error);
  void (*on_file)(void *ctx, const cst__file_count *count);
  void *ctx;
  cst_progress_callback on_progress; /* may be NULL */
  void *progress_ctx;
} cst__scan_calls;

/* How much of all files has been read. */
typedef struct cst__scan_place {
  uint64_t bytes; /* of the files that are done */
  uint64_t records;
  uint64_t told; /* bytes at the last call of on_progress */
} cst__scan_place;

/* Calls on_progress about every 16 MiB; CST_CALLBACK if that says so. bytes, records: of the file
 * that is being read. */
cst_status cst__scan_tell(const cst__scan_calls *calls, cst__scan_place *place, uint64_t bytes,
                          uint64_t records, cst_error *error);

/* For those who are told on_progress's answer elsewhere. */
cst_status cst__scan_stopped(cst_error *error);

#endif /* SOURCE_SCAN_SCAN_CALLS_H */
