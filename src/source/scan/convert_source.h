/* A source to a sink. */
#ifndef SOURCE_SCAN_CONVERT_SOURCE_H
#define SOURCE_SCAN_CONVERT_SOURCE_H

#include <columnstone/sink.h>

/* As cst_convert; the options are complete, never NULL. */
cst_status cst__convert(cst_source *source, const char *path, const cst_sink_options *options,
                        cst_progress_callback on_progress, void *ctx, uint64_t *rows,
                        cst_error *error);

#endif /* SOURCE_SCAN_CONVERT_SOURCE_H */
