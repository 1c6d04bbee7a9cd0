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

extern const cst__option_table cst__sink_option_table;

#endif /* FORMAT_SINK_OPTIONS_H */
