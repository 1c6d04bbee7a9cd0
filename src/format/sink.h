/* An output of any format: what the other rooms need of it besides <columnstone/sink.h>. */
#ifndef FORMAT_SINK_H
#define FORMAT_SINK_H

#include <columnstone/sink.h>

/* Rows written so far. */
int64_t cst__sink_rows(const cst_sink *sink);

#endif /* FORMAT_SINK_H */
