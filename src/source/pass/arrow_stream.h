/* A pass as an ArrowArrayStream.
 */
#ifndef SOURCE_PASS_ARROW_STREAM_H
#define SOURCE_PASS_ARROW_STREAM_H

#include "source/input/source.h"

/* As cst_source_stream. */
cst_status cst__source_stream(cst_source *source, struct ArrowArrayStream *out, cst_error *error);

#endif /* SOURCE_PASS_ARROW_STREAM_H */
