/* A program that is started to read or to write for us: bytes over a pipe, what it says on standard
 * error as the text of a failure, and no process left behind.
 *
 * No other file of the library starts programs. A program is a file of an absolute path, out of a
 * plug-in folder or an absolute folder of PATH, never out of the current folder. Names of files
 * among its arguments cannot be taken for options (cst__process_path). It has the environment and
 * the current folder of its caller; with raised privileges (AT_SECURE), where both are of a user
 * who is not trusted, a fixed environment.
 *
 * A failing program may write lines of its own among what it says: "columnstone-code: CORRUPT" (the
 * name of a status), "columnstone-hint: TEXT", "columnstone-record: N", "columnstone-path: COLUMN".
 */
#ifndef IO_PROCESS_H
#define IO_PROCESS_H

#include <columnstone/status.h>

#include "base/alloc.h"

typedef struct cst__process cst__process;

typedef enum cst__process_use {
  CST__PROCESS_READS, /* its standard output comes to us; its standard input is empty */
  CST__PROCESS_WRITES /* its standard input is ours; its standard output is thrown away */
} cst__process_use;

/* The program of this name in a folder of PATH, in buf; false if there is none. Folders whose names
 * are relative are passed over. */
bool cst__process_find(const char *name, char *buf, size_t n);

/* A path as an argument that begins with '/', '.', '_', a letter or a digit: neither an option nor
 * a file of arguments ("-x", "@x"). Others get "./" in front. NULL without memory. */
const char *cst__process_path(const char *path, cst__arena *arena);

/* Starts the file `program` (no search in PATH) with these arguments, NULL at the end, argv[0]
 * among them. CST_IO if the system cannot run it. */
cst_status cst__process_start(const char *program, const char *const *argv, cst__process_use use,
                              const cst_allocator *allocator, cst__process **out, cst_error *error);

/* True in the process that started it, false in one that was forked since. */
bool cst__process_is_ours(const cst__process *process);

/* Fills the buffer; *got is smaller only at the end of what the program writes, which says nothing
 * about its success: cst__process_finish does. */
cst_status cst__process_read(cst__process *process, void *buffer, size_t size, size_t *got,
                             cst_error *error);

/* A program that does not take the bytes any more has failed: the failure is its own. */
cst_status cst__process_write(cst__process *process, const void *data, size_t size,
                              cst_error *error);

/* Ends the pipe and waits for the program. A status other than 0 and a death by a signal are
 * failures, CST_IO unless the program says a code. Only free comes after it. */
cst_status cst__process_finish(cst__process *process, cst_error *error);

/* Kills the program, and what it has started in its process group, if it has not been waited for.
 * NULL is allowed. */
void cst__process_free(cst__process *process);

#endif /* IO_PROCESS_H */
