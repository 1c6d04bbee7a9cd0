/* Bytes out: a file that appears under its name only when complete, with or without compression.
 */
#ifndef IO_OUTPUT_H
#define IO_OUTPUT_H

#include <columnstone/sink.h>

#include "base/alloc.h"

typedef struct cst__output cst__output;

/* The compression that the ending of a name means; *stem: the size of the name without it. */
cst_compression cst__compression_of(const char *name, size_t *stem);

/* Opens "<path>.<random>.tmp" beside `path` ("-": standard output), for nobody who may not read the
 * file that it replaces. compression BY_NAME looks at
 * the path's ending. level 0 is the codec's usual one. */
cst_status cst__output_open(const char *path, cst_compression compression, int level,
                            const cst_allocator *allocator, cst__output **out, cst_error *error);
/* The same for a file beside another one, whose name nobody has chosen, such as an index: a link
 * that has this name is not followed but replaced. */
cst_status cst__output_open_beside(const char *path, const cst_allocator *allocator,
                                   cst__output **out, cst_error *error);
/* Takes the writer over: closes it exactly once, also on failure. */
cst_status cst__output_open_writer(const cst_writer *writer, cst_compression compression, int level,
                                   const cst_allocator *allocator, cst__output **out,
                                   cst_error *error);
/* Closes a writer that nobody has taken, for which nothing was written. */
void cst__writer_refuse(const cst_writer *writer);
/* The temporary path, for a plug-in that writes by itself; NULL for other outputs. */
const char *cst__output_temporary_path(const cst__output *output);
/* From here on compression and writing run on a thread of their own, beside the caller; without one
 * (the system gives none) everything stays as it is. Before the first write. */
cst_status cst__output_beside(cst__output *output, cst_error *error);
cst_status cst__output_write(cst__output *output, const void *data, size_t size, cst_error *error);
/* Bytes of the file so far, but for what a codec has not written yet. Does not depend on a thread
 * beside, which is waited for. */
uint64_t cst__output_written(cst__output *output);
/* Ends the compression, flushes and closes: the file is complete, under its temporary name. */
cst_status cst__output_close(cst__output *output, cst_error *error);
/* Gives a closed file its name: `path` (in the same folder), or NULL for that of open. With `keep`,
 * CST_IO if there is something of this name already, even a link that leads nowhere. */
cst_status cst__output_publish(cst__output *output, const char *path, bool keep, cst_error *error);
/* Both. After it only free is allowed. */
cst_status cst__output_finish(cst__output *output, cst_error *error);
/* Without a successful finish: removes the temporary file. NULL is allowed. In a child of fork all
 * is left as it is; what would reach the file is CST_STATE there. */
void cst__output_free(cst__output *output);

/* Writes a file of these bytes, compressed as its name says. */
cst_status cst__output_write_file(const char *path, const void *bytes, size_t size,
                                  cst_error *error);

#endif /* IO_OUTPUT_H */
