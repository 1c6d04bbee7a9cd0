/* Counting and verifying tabular formats: their files are read, one by one, as a pass reads them.
 */
#include "source/scan/scan_tabular.h"

#include <string.h>

#include "source/block/unit.h"
#include "source/index/parts.h"
#include "source/pass/pass.h"

/* A file of the source as a source of its own. */
static cst_status open_single_file(cst_source *source, size_t i, cst_source **out,
                                   cst_error *error) {
  if (source->num_parts == 1) {
    *out = cst_source_retain(source);
    return CST_OK;
  }
  return cst_source_split(source, (uint32_t)i, (uint32_t)source->num_parts, out, error);
}

static cst_status read_pass(cst_pass *pass, cst_file_count *count, const cst__scan *scan,
                            cst_error *error) {
  for (;;) {
    struct ArrowArray batch;
    cst_status status = cst_pass_next(pass, &batch, error);
    cst_pass_progress(pass, &count->file_bytes, NULL);
    if (status != CST_OK || batch.release == NULL) {
      return status;
    }
    count->records += (uint64_t)batch.length;
    batch.release(&batch);
    if (scan->on_progress != NULL && !scan->on_progress(scan->ctx, scan->bytes + count->file_bytes,
                                                        scan->records + count->records)) {
      return cst__fail(error, CST_CALLBACK, NULL, "stopped by the caller");
    }
  }
}

/* `warning` may be NULL: then the caller of the source is told. */
static cst_status read_single_file(cst_source *file, cst_file_count *count, const cst__scan *scan,
                                   cst_error *warning, cst_error *error) {
  cst_pass *pass;
  CST__TRY(cst_pass_new(file, &pass, error));
  pass->options.warning = warning;
  pass->options.unstaged = true;
  cst_status status = read_pass(pass, count, scan, error);
  cst_pass_free(pass);
  return status;
}

/* A fault of the i-th file that is reported when another file's turn comes: columns are found over
 * all files, so that one that cannot be read fails each of them. */
static bool is_of_another(const cst_source *source, size_t i, const cst_error *error) {
  bool another = false;
  for (size_t k = 0; k < source->num_parts; k++) {
    another = another || strcmp(error->file, cst__source_name(source, k)) == 0;
  }
  return another && strcmp(error->file, cst__source_name(source, i)) != 0;
}

static void report_file_fault(cst__scan *scan, const char *kind, const cst_error *error) {
  cst_fault fault = {.kind = kind, .error = error};
  scan->faults++;
  if (scan->on_fault != NULL) {
    scan->on_fault(scan->ctx, &fault);
  }
}

/* With on_fault, a fault of a file is reported and the next file is read; else it is the end. */
static cst_status scan_file(cst_source *source, size_t i, cst__scan *scan, cst_error *error) {
  cst_file_count count = {.file = cst__source_name(source, i)};
  cst_error own = CST_ERROR_INIT;
  cst_error warning = CST_ERROR_INIT;
  cst_source *file = NULL;
  cst_status status = open_single_file(source, i, &file, &own);
  if (status == CST_OK) {
    status = read_single_file(file, &count, scan, scan->keeps_on ? &warning : NULL, &own);
  }
  cst_source_release(file);
  if (status != CST_OK && (!scan->keeps_on || !cst__is_fault(status))) {
    cst__error_copy(error, &own);
    return status;
  }
  if (status != CST_OK && !is_of_another(source, i, &own)) {
    report_file_fault(scan, status == CST_FORMAT ? "format" : "record", &own);
  } else if (warning.code != CST_OK) {
    report_file_fault(scan, "truncated", &warning);
  }
  scan->bytes += count.file_bytes;
  scan->records += count.records;
  if (scan->on_file != NULL) {
    scan->on_file(scan->ctx, &count);
  }
  return CST_OK;
}

cst_status cst__scan_tabular(cst_source *source, cst__scan *scan, cst_error *error) {
  for (size_t i = 0; i < source->num_parts; i++) {
    CST__TRY(scan_file(source, i, scan, error));
  }
  return CST_OK;
}
