/* Making the index of a file by its path.
 */
#ifndef SOURCE_OPEN_INDEX_BUILD_H
#define SOURCE_OPEN_INDEX_BUILD_H

#include "source/index/index.h"

/* What the public functions of the same names do. */
cst_status cst__index_build(const char *path, const cst_index_options *options, cst_index **out,
                            cst_error *error);
cst_status cst__index_import_text(const char *text_path, const char *path,
                                  const cst_allocator *allocator, cst_index **out,
                                  cst_error *error);

#endif /* SOURCE_OPEN_INDEX_BUILD_H */
