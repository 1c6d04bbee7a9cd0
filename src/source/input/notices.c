/* What is reported to the caller: a record is dropped (counted, and too many of them stop the
 * pass), or a file may have lost something. */
#include "source/input/notices.h"

static cst_status fail_at(const cst_dropped *dropped, cst_status status, cst_error *error) {
  cst__error_add_file(error, dropped->file);
  if (dropped->record >= 0) {
    cst__error_add_record(error, dropped->record, dropped->offset);
  }
  return status;
}

cst_status cst__source_drop(const cst_source *source, uint64_t *count, const cst__dropped *dropped,
                            cst_error *error) {
  const cst_source_options *options = &source->options.values;
  if (*count >= options->max_errors) {
    (void)cst__fail(error, CST_LIMIT, "raise max_errors, or look at the files with verify",
                    "more than %llu records are damaged, the last of them by %s",
                    (unsigned long long)options->max_errors, dropped->told.kind);
    return fail_at(&dropped->told, CST_LIMIT, error);
  }
  ++*count;
  if (options->on_dropped == NULL || options->on_dropped(options->dropped_ctx, &dropped->told)) {
    return CST_OK;
  }
  (void)cst__fail(error, CST_CALLBACK, NULL, "stopped by the caller at a damaged record");
  return fail_at(&dropped->told, CST_CALLBACK, error);
}

cst_status cst__source_warn(const cst_source *source, size_t file, const cst_error *warning,
                            cst_error *error) {
  const cst_source_options *options = &source->options.values;
  if (options->on_warning == NULL || atomic_exchange(&source->parts[file].file->warned, true) ||
      options->on_warning(options->warning_ctx, warning)) {
    return CST_OK;
  }
  (void)cst__fail(error, CST_CALLBACK, NULL, "stopped by the caller at a warning");
  cst__error_add_file(error, warning->file);
  return CST_CALLBACK;
}
