/* <columnstone/index.h>: argument checks and hand-over. */
#include "source/open/index_build.h"

#include "base/arguments.h"
#include "source/index/access.h"
#include "source/index/parts.h"
#include "source/scan/count.h"

cst_status cst_index_build(const char *path, cst_progress_callback on_progress, void *ctx,
                           const cst_allocator *allocator, cst_index **out, cst_error *error) {
  CST__CLEAR(out);
  if (path == NULL || out == NULL) {
    return cst__missing(path == NULL ? "path" : "out", error);
  }
  cst_index_options options = CST_INDEX_OPTIONS_INIT;
  options.on_progress = on_progress;
  options.progress_ctx = ctx;
  options.allocator = allocator;
  return cst_index_build_with(path, &options, out, error);
}

cst_status cst_index_build_with(const char *path, const cst_index_options *options, cst_index **out,
                                cst_error *error) {
  cst_index_options own = CST_INDEX_OPTIONS_INIT;
  CST__CLEAR(out);
  if (path == NULL || out == NULL) {
    return cst__missing(path == NULL ? "path" : "out", error);
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_allocator(own.allocator, error));
  return cst__index_build(path, &own, out, error);
}

cst_status cst_index_load(const char *path, const cst_allocator *allocator, cst_index **out,
                          cst_error *error) {
  CST__CLEAR(out);
  if (path == NULL || out == NULL) {
    return cst__missing(path == NULL ? "path" : "out", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  return cst__index_load(path, allocator, out, error);
}

cst_status cst_index_save(const cst_index *index, const char *path, cst_error *error) {
  if (index == NULL || path == NULL) {
    return cst__missing(index == NULL ? "index" : "path", error);
  }
  return cst__index_save(index, path, error);
}

cst_status cst_index_export_text(const cst_index *index, const char *text_path, cst_error *error) {
  if (index == NULL || text_path == NULL) {
    return cst__missing(index == NULL ? "index" : "text_path", error);
  }
  return cst__index_export_text(index, text_path, error);
}

cst_status cst_index_import_text(const char *text_path, const char *path,
                                 const cst_allocator *allocator, cst_index **out,
                                 cst_error *error) {
  CST__CLEAR(out);
  if (text_path == NULL || path == NULL) {
    return cst__missing(text_path == NULL ? "text_path" : "path", error);
  }
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  return cst__index_import_text(text_path, path, allocator, out, error);
}

uint64_t cst_index_num_records(const cst_index *index) { return index != NULL ? index->count : 0; }

void cst_index_record(const cst_index *index, uint64_t i, uint64_t *offset, uint64_t *size) {
  CST__CLEAR(offset);
  CST__CLEAR(size);
  if (index == NULL || i >= index->count || offset == NULL || size == NULL) {
    return;
  }
  const uint64_t *at = &index->offsets[i];
  *offset = at[0];
  *size = index->container->payload_size(at[1] - at[0]);
}

void cst_index_free(cst_index *index) { cst__index_release(index); }

cst_status cst_source_num_rows(cst_source *source, uint64_t *rows, cst_error *error) {
  CST__CLEAR(rows);
  if (source == NULL || rows == NULL) {
    return cst__missing(source == NULL ? "source" : "rows", error);
  }
  return cst__source_num_rows(source, rows, error);
}

cst_status cst_source_take(cst_source *source, const uint64_t *rows, size_t num_rows,
                           struct ArrowArray *out, cst_error *error) {
  CST__CLEAR(out);
  if (source == NULL || out == NULL) {
    return cst__missing(source == NULL ? "source" : "out", error);
  }
  if (rows == NULL && num_rows > 0) {
    return cst__missing("rows", error);
  }
  return cst__source_take(source, rows, num_rows, out, error);
}

cst_status cst_source_range(cst_source *source, uint64_t begin, uint64_t end, cst_source **out,
                            cst_error *error) {
  CST__CLEAR(out);
  if (source == NULL || out == NULL) {
    return cst__missing(source == NULL ? "source" : "out", error);
  }
  return cst__source_range(source, begin, end, out, error);
}

cst_status cst_source_split(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                            cst_error *error) {
  CST__CLEAR(out);
  if (source == NULL || out == NULL) {
    return cst__missing(source == NULL ? "source" : "out", error);
  }
  if (i >= n) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "part %u of %u, it must be 0 to n - 1",
                     (unsigned)i, (unsigned)n);
  }
  return cst__source_split(source, i, n, out, error);
}
