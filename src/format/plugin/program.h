/* Plug-ins that are programs: `columnstone-format-<name>`, which speaks Arrow IPC over pipes. How
 * it is called stands in docs/plugins.md.
 */
#ifndef FORMAT_PROGRAM_H
#define FORMAT_PROGRAM_H

#include <columnstone/format.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"

/* Lives as long as the process. */
typedef struct cst__program {
  const char *name; /* of the format */
  const char *path;
  const struct cst__program *next; /* of those that have been found so far */
} cst__program;

/* Starts the program to read a file. *out gives the columns that the program gives, wanted or not;
 * it is read by one thread at a time. */
cst_status cst__program_open(const cst__program *program, const char *path,
                             const cst_plugin_read_options *options, const cst_allocator *allocator,
                             struct ArrowArrayStream *out, cst_error *error);

/* The options that the program says it has, all of them texts, in the arena: none, if it cannot be
 * asked. Starts it. */
cst_status cst__program_options(const cst__program *program, cst__arena *arena,
                                const cst_option_info **out, size_t *count, cst_error *error);
/* Appends `--option=NAME=VALUE` for each to the arguments, which have room for them. */
cst_status cst__program_arguments(const cst__option_list *given, cst__arena *arena,
                                  const char **argv, size_t *count, cst_error *error);

/* The last failure of a stream, if it is one of a program; NULL for others'. */
const cst_error *cst__program_last_error(struct ArrowArrayStream *stream);

/* False for a program's stream in a process that was forked since it was started. */
bool cst__program_is_ours(struct ArrowArrayStream *stream);

#endif /* FORMAT_PROGRAM_H */
