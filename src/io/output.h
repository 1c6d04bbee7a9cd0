/* Bytes out: a file that appears under its name only when complete, with or without compression.
 */
#ifndef IO_OUTPUT_H
#define IO_OUTPUT_H

#include <columnstone/sink.h>

#include "base/alloc.h"

typedef struct cst__output cst__output;

/* Opens "<path>.<random>.tmp" beside `path` ("-": standard output). compression BY_NAME looks at
 * the path's ending. level 0 is the codec's usual one. */
cst_status cst__output_open(const char *path, cst_compression compression, int level,
                            const cst_allocator *allocator, cst__output **out, cst_error *error);
/* Takes the writer over: closes it exactly once, also on failure. */
cst_status cst__output_open_writer(const cst_writer *writer, cst_compression compression, int level,
                                   const cst_allocator *allocator, cst__output **out,
                                   cst_error *error);
/* The temporary path, for a plug-in that writes by itself; NULL for other outputs. */
const char *cst__output_temporary_path(const cst__output *output);
cst_status cst__output_write(cst__output *output, const void *data, size_t size, cst_error *error);
/* Ends the compression, flushes, closes and renames. After it only free is allowed. */
cst_status cst__output_finish(cst__output *output, cst_error *error);
/* Without a successful finish: removes the temporary file. NULL is allowed. */
void cst__output_free(cst__output *output);

#endif /* IO_OUTPUT_H */
