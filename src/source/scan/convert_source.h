/* A source to a sink. */
#ifndef SOURCE_SCAN_CONVERT_SOURCE_H
#define SOURCE_SCAN_CONVERT_SOURCE_H

#include <columnstone/sink.h>

/* Who is told how far it is; `call` may be NULL. */
typedef struct cst__conversion_progress {
  cst_progress_callback call;
  void *ctx;
} cst__conversion_progress;

/* As cst_convert; the options are complete, never NULL. */
cst_status cst__convert(cst_source *source, const char *path, const cst_sink_options *options,
                        cst__conversion_progress progress, uint64_t *rows, cst_error *error);

#endif /* SOURCE_SCAN_CONVERT_SOURCE_H */
