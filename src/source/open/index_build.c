/* Indexes of files that are opened for it. */
#include <columnstone/index.h>
#include <string.h>

#include "base/arguments.h"
#include "source/index/index.h"

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
  cst_index_free(index);
  (void)cst__fail(error, CST_IO, "retry when no process is writing the file",
                  "the file changed while it was read");
  cst__error_add_file(error, path);
  return CST_IO;
}

cst_status cst_index_build(const char *path, const cst_index_options *options, cst_index **out,
                           cst_error *error) {
  cst_index_options own = CST_INDEX_OPTIONS_INIT;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(path, "path", out, error));
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_allocator(own.allocator, error));
  cst_source_options records = CST_SOURCE_OPTIONS_INIT;
  records.format = "raw";
  records.container = own.container;
  records.max_record_size = any_record_size;
  records.allocator = own.allocator;
  cst_source *source;
  CST__TRY(cst_source_open(&path, 1, &records, &source, error));
  cst_status status;
  if (source->num_parts == 1 && strcmp(cst__source_name(source, 0), path) == 0) {
    status = build_index(source, own.on_progress, own.progress_ctx, out, error);
  } else {
    status = cst__fail(error, CST_NOT_FOUND, "name one file", "the path is a pattern of files");
    cst__error_add_file(error, path);
  }
  cst_source_release(source);
  return status;
}

/* The frames say where the records are, and the lines have to say the same. */
cst_status cst_index_open_text(const char *text_path, const char *path,
                               const cst_allocator *allocator, cst_index **out, cst_error *error) {
  CST__CLEAR(out);
  if (text_path == NULL || path == NULL) {
    return cst__missing(text_path == NULL ? "text_path" : "path", error);
  }
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  cst_index *index;
  cst_index_options options = CST_INDEX_OPTIONS_INIT;
  options.allocator = allocator;
  CST__TRY(cst_index_build(path, &options, &index, error));
  cst_status status = cst__index_compare_text(index, text_path, error);
  if (status != CST_OK) {
    cst_index_free(index);
    return status;
  }
  *out = index;
  return CST_OK;
}
