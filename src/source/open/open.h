/* Opening sources.
 */
#ifndef SOURCE_OPEN_OPEN_H
#define SOURCE_OPEN_OPEN_H

#include "source/input/source.h"

/* What the public functions of the same names do; the options are complete, never NULL. */
cst_status cst__source_open(const char *const *paths, size_t num_paths,
                            const cst_source_options *options, cst_source **out, cst_error *error);
cst_status cst__source_open_readers(const cst_reader *readers, size_t num_readers,
                                    const cst_source_options *options, cst_source **out,
                                    cst_error *error);
cst_status cst__source_open_streams(const cst_stream_opener *openers, size_t num_openers,
                                    const cst_source_options *options, cst_source **out,
                                    cst_error *error);

/* Adds the files that a path, a glob or a URL means. */
cst_status cst__source_expand(cst__paths *paths, const char *path, cst_error *error);

#endif /* SOURCE_OPEN_OPEN_H */
