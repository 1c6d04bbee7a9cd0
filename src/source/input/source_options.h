/* The options of sources that are set by name, in one table: by it they are set, told (to the
 * program, to Python and to Spark), checked, copied, and given their usual values.
 *
 * One more option is a field of cst_source_options, a line of the table, and its use; and in Python
 * a keyword of `open`, which describes it.
 */
#ifndef SOURCE_INPUT_SOURCE_OPTIONS_H
#define SOURCE_INPUT_SOURCE_OPTIONS_H

#include <columnstone/source.h>

#include "base/options.h"

extern const cst__option_table cst__source_option_table;

/* Copies their texts, and fills in those that the caller left to us. */
cst_status cst__source_options_settle(cst_source_options *options, cst__arena *arena,
                                      cst_error *error);

#endif /* SOURCE_INPUT_SOURCE_OPTIONS_H */
