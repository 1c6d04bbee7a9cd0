/* Finding plug-ins in the plug-in folders: `columnstone-<format>.so`, loaded by dlopen, and
 * programs, `columnstone-format-<format>`.
 */
#ifndef FORMAT_PLUGIN_H
#define FORMAT_PLUGIN_H

#include <columnstone/format.h>

#include "base/error.h"
#include "format/plugin/program.h"

/* Finds and loads the plug-in of a format and checks its table. *out lives as long as the process.
 * CST_OK with *out NULL if no folder has such a file; CST_IO if it cannot be loaded or is made
 * for another version. */
cst_status cst__plugin_load(const char *name, const cst_plugin_format **out, cst_error *error);

/* Loads one plug-in after the other, all that lie in the plug-in folders, until `matches` is true
 * for one; NULL if there is none. Files that cannot be loaded are passed over. */
const cst_plugin_format *cst__plugin_search(bool (*matches)(const cst_plugin_format *format,
                                                            void *ctx),
                                            void *ctx);

/* The program of a format; NULL if no folder has one, or without memory. */
const cst__program *cst__program_find(const char *name);

/* The program that opens URLs, `columnstone-open-url`; NULL as above. */
const cst__program *cst__url_program(void);

#endif /* FORMAT_PLUGIN_H */
