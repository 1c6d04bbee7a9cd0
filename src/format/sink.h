/* An output of any format, as the other rooms use it: the twins of the public cst_sink_* functions,
 * whose contracts they have; the options are complete, never NULL.
 */
#ifndef FORMAT_SINK_H
#define FORMAT_SINK_H

#include <columnstone/sink.h>

cst_status cst__sink_open(const char *path, const struct ArrowSchema *schema,
                          const cst_sink_options *options, cst_sink **out, cst_error *error);
cst_status cst__sink_open_writer(const cst_writer *writer, const struct ArrowSchema *schema,
                                 const cst_sink_options *options, cst_sink **out, cst_error *error);
cst_status cst__sink_check(const char *path, const cst_sink_options *options, cst_error *error);
cst_status cst__sink_write(cst_sink *sink, const struct ArrowArray *batch, cst_error *error);
cst_status cst__sink_finish(cst_sink *sink, cst_error *error);
void cst__sink_free(cst_sink *sink);

/* Rows written so far. */
int64_t cst__sink_rows(const cst_sink *sink);

#endif /* FORMAT_SINK_H */
