/* The options of formats as sources and sinks get them, by name, and as formats take them: a struct
 * of the format's own, which its table sets.
 */
#ifndef FORMAT_FORMAT_OPTIONS_H
#define FORMAT_FORMAT_OPTIONS_H

#include "base/alloc.h"
#include "format/registry.h"

typedef enum cst__format_use { CST__FOR_READING, CST__FOR_WRITING } cst__format_use;

/* The options of the format, with the usual values of those that are not given: *out is its struct,
 * in the arena, of a plug-in a cst__option_list, or NULL if it has no options. CST_INVALID_ARGUMENT
 * for one that it does not have, with the format that has it, and for one that does not matter to
 * this use. */
cst_status cst__format_options_read(const cst__format *format, cst__format_use use,
                                    cst__option_list given, cst__arena *arena, const void **out,
                                    cst_error *error);

#endif /* FORMAT_FORMAT_OPTIONS_H */
