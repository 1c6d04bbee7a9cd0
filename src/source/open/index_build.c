/* Indexes of files that are opened for it. */
#include "source/open/index_build.h"

#include <string.h>

#include "source/open/open.h"

static const uint64_t any_record_size = UINT64_C(1) << 62;

static cst_status build_index(cst_source *source, cst_progress_callback on_progress, void *ctx,
                              cst_index **out, cst_error *error) {
  cst__identity identity;
  const char *path = cst__source_name(source, 0);
  CST__TRY(cst__index_identify(path, &source->allocator, &identity, error));
  CST__TRY(cst__index_walk(source, 0, on_progress, ctx, out, error));
  cst_index *index = *out;
  if (index->offsets[index->count] == identity.size) {
    index->identity = identity;
    return CST_OK;
  }
  cst__index_release(index);
  (void)cst__fail(error, CST_IO, "read it again when nothing writes to it",
                  "the file changed while it was read");
  cst__error_add_file(error, path);
  return CST_IO;
}

cst_status cst__index_build(const char *path, const cst_index_options *wanted, cst_index **out,
                            cst_error *error) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "raw";
  options.container = wanted->container;
  options.max_record_size = any_record_size;
  options.allocator = wanted->allocator;
  cst_source *source;
  CST__TRY(cst__source_open(&path, 1, &options, &source, error));
  cst_status status;
  if (source->num_parts == 1 && strcmp(cst__source_name(source, 0), path) == 0) {
    status = build_index(source, wanted->on_progress, wanted->progress_ctx, out, error);
  } else {
    status = cst__fail(error, CST_NOT_FOUND, "name one file", "the path is a pattern of files");
    cst__error_add_file(error, path);
  }
  cst__source_release(source);
  return status;
}

/* The frames say where the records are, and the lines have to say the same. */
cst_status cst__index_import_text(const char *text_path, const char *path,
                                  const cst_allocator *allocator, cst_index **out,
                                  cst_error *error) {
  cst_index *index;
  cst_index_options options = CST_INDEX_OPTIONS_INIT;
  options.allocator = allocator;
  CST__TRY(cst__index_build(path, &options, &index, error));
  cst_status status = cst__index_compare_text(index, text_path, error);
  if (status != CST_OK) {
    cst__index_release(index);
    return status;
  }
  *out = index;
  return CST_OK;
}
