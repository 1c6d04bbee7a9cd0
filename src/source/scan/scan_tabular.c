/* Counting and verifying tabular formats: their files are read, one by one, as a pass reads them.
 */
#include "source/scan/scan_tabular.h"

#include <string.h>

#include "source/block/unit.h"
#include "source/index/parts.h"
#include "source/pass/pass.h"

typedef struct table_scan {
  cst_source *source;
  const cst__scan_calls *calls;
  bool keeps_on;
  cst__scan_place place;
} table_scan;

/* A file of the source as a source of its own. */
static cst_status open_single_file(cst_source *source, size_t i, cst_source **out,
                                   cst_error *error) {
  if (source->num_parts == 1) {
    *out = cst_source_retain(source);
    return CST_OK;
  }
  if (!source->inputs->rereadable) {
    return cst__fail(error, CST_UNSUPPORTED, "save it to a file first",
                     "the input can be read only once, from start to end");
  }
  return cst__source_pick(source, &i, 1, out, error);
}

static cst_status read_pass(cst_pass *pass, cst__file_count *count, table_scan *scan,
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
    CST__TRY(cst__scan_tell(scan->calls, &scan->place, count->file_bytes, count->records, error));
  }
}

/* `warning` may be NULL: then the caller of the source is told. */
static cst_status read_single_file(cst_source *file, cst__file_count *count, table_scan *scan,
                                   cst_error *warning, cst_error *error) {
  cst_pass *pass;
  CST__TRY(cst_pass_new(file, &pass, error));
  pass->options.warning = warning;
  pass->options.unstaged = true;
  cst_status status = read_pass(pass, count, scan, error);
  cst_pass_free(pass);
  return status;
}

/* The i-th file with columns of its own: another one has none that all could have. */
static cst_status read_alone(cst_source *source, size_t i, cst__file_count *count, table_scan *scan,
                             cst_error *warning, cst_error *error) {
  cst_source *alone;
  CST__TRY(cst__source_with(source, &source->parts[i], 1, NULL, &alone, error));
  alone->is_alone = true;
  cst_status status = read_single_file(alone, count, scan, warning, error);
  cst_source_release(alone);
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

static cst_status scan_file(table_scan *scan, size_t i, cst_error *error) {
  cst_source *source = scan->source;
  const cst__scan_calls *calls = scan->calls;
  cst__file_count count = {.file = cst__source_name(source, i)};
  cst_error own = CST_ERROR_INIT;
  cst_error warning = CST_ERROR_INIT;
  cst_source *file = NULL;
  cst_status status = open_single_file(source, i, &file, &own);
  if (status == CST_OK) {
    status = read_single_file(file, &count, scan, scan->keeps_on ? &warning : NULL, &own);
  }
  cst_source_release(file);
  if (scan->keeps_on && cst__is_fault(status) && source->inputs->rereadable &&
      is_of_another(source, i, &own)) {
    own = (cst_error)CST_ERROR_INIT;
    status = read_alone(source, i, &count, scan, &warning, &own);
  }
  if (status != CST_OK && (!scan->keeps_on || !cst__is_fault(status))) {
    cst__error_copy(error, &own);
    return status;
  }
  if (status != CST_OK && !is_of_another(source, i, &own)) {
    calls->on_fault(calls->ctx, status == CST_FORMAT ? "format" : "record", &own);
  } else if (warning.code != CST_OK) {
    calls->on_fault(calls->ctx, "truncated", &warning);
  }
  scan->place.bytes += count.file_bytes;
  scan->place.records += count.records;
  calls->on_file(calls->ctx, &count);
  return CST_OK;
}

cst_status cst__scan_tabular(cst_source *source, const cst__scan_calls *calls, bool keeps_on,
                             cst_error *error) {
  table_scan scan = {.source = source, .calls = calls, .keeps_on = keeps_on};
  for (size_t i = 0; i < source->num_parts; i++) {
    CST__TRY(scan_file(&scan, i, error));
  }
  return CST_OK;
}
