/* The options of sinks that are set by name, in one table: by it they are set, told (to the
 * program, to Python and to Spark) and checked.
 *
 * One more option is a field of cst_sink_options, a line of the table, and its use; in Python a
 * keyword of `Writer`, which describes it.
 */
#ifndef FORMAT_SINK_OPTIONS_H
#define FORMAT_SINK_OPTIONS_H

#include <columnstone/sink.h>

#include "base/options.h"

enum { CST__MOST_SHARDS = 99999 };

/* That all that were set in the struct itself are in their ranges. */
cst_status cst__sink_options_check(const cst_sink_options *options, cst_error *error);

#endif /* FORMAT_SINK_OPTIONS_H */
