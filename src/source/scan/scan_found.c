/* Findings of counting and verifying: a row per file, and a row per fault up to a bound, beyond
 * which faults are counted only.
 */
#include "source/scan/scan_found.h"

#include "arrow/findings.h"

enum { PROGRESS_BYTES = 16 << 20 };

cst_status cst__scan_stopped(cst_error *error) {
  return cst__fail(error, CST_CALLBACK, NULL, "the progress callback stopped the reading");
}

cst_status cst__scan_tell(const cst__scan_calls *calls, cst__scan_place *place, uint64_t bytes,
                          uint64_t records, cst_error *error) {
  bytes += place->bytes;
  if (calls->on_progress == NULL || bytes - place->told < PROGRESS_BYTES) {
    return CST_OK;
  }
  place->told = bytes;
  return calls->on_progress(calls->progress_ctx, bytes, place->records + records)
             ? CST_OK
             : cst__scan_stopped(error);
}

/* ---- findings ---- */

cst_status cst__scan_found_begin(cst__scan_found *found, const cst_allocator *allocator,
                                 bool with_faults, cst_error *error) {
  static const cst__finding_column file_columns[] = {
      CST__FILE("file"), CST__NUMBER("records"), CST__NUMBER("record_bytes"),
      CST__NUMBER("stream_bytes"), CST__NUMBER("file_bytes")};
  static const cst__finding_type files = {"files", file_columns, 5};
  static const cst__finding_column fault_columns[] = {CST__TEXT("kind"),
                                                      CST__TEXT("code"),
                                                      CST__TEXT_OR_NULL("file"),
                                                      CST__NUMBER_OR_NULL("record"),
                                                      CST__NUMBER_OR_NULL("offset"),
                                                      CST__NUMBER_OR_NULL("line"),
                                                      CST__NUMBER_OR_NULL("column"),
                                                      CST__TEXT_OR_NULL("path"),
                                                      CST__TEXT("message"),
                                                      CST__TEXT_OR_NULL("hint")};
  static const cst__finding_type faults = {"faults", fault_columns, 10};
  CST__TRY(cst__findings_new(&files, allocator, &found->files, error));
  return with_faults ? cst__findings_new(&faults, allocator, &found->faults, error) : CST_OK;
}

static void put_file(void *ctx, const cst__file_count *count) {
  cst__scan_found *found = ctx;
  cst__put_text(found->files, count->file);
  cst__put_number(found->files, count->records);
  cst__put_number(found->files, count->record_bytes);
  cst__put_number(found->files, count->stream_bytes);
  cst__put_number(found->files, count->file_bytes);
  found->num_files++;
  found->sums.records += count->records;
  found->sums.record_bytes += count->record_bytes;
  found->sums.stream_bytes += count->stream_bytes;
  found->sums.file_bytes += count->file_bytes;
}

static void put_known_text(cst_findings *faults, const char *text) {
  cst__put_text(faults, text[0] != '\0' ? text : NULL);
}

static void put_known_number(cst_findings *faults, int64_t number, int64_t first) {
  if (number < first) {
    cst__put_null(faults);
  } else {
    cst__put_signed(faults, number);
  }
}

static void put_fault(void *ctx, const char *kind, const cst_error *error) {
  cst__scan_found *found = ctx;
  found->num_faults++;
  if (found->faults == NULL || found->num_faults > found->max_faults) {
    return;
  }
  cst__put_text(found->faults, kind);
  cst__put_text(found->faults, cst_status_name(error->code));
  put_known_text(found->faults, error->file);
  put_known_number(found->faults, error->record, 0);
  put_known_number(found->faults, error->offset, 0);
  put_known_number(found->faults, error->line, 1);
  put_known_number(found->faults, error->column, 1);
  put_known_text(found->faults, error->path);
  cst__put_text(found->faults, error->message);
  put_known_text(found->faults, error->hint);
}

cst__scan_calls cst__scan_found_calls(cst__scan_found *found, cst_progress_callback on_progress,
                                      void *progress_ctx) {
  return (cst__scan_calls){put_fault, put_file, found, on_progress, progress_ctx};
}

/* Hands findings over, or frees them. */
static cst_status hand_over(cst_findings *made, cst_status status, cst_findings **out,
                            cst_error *error) {
  if (out == NULL || made == NULL) {
    cst_findings_free(made);
    return status;
  }
  cst_status finished = cst__findings_finish(made, out, status == CST_OK ? error : NULL);
  return status == CST_OK ? finished : status;
}

cst_status cst__scan_found_finish(cst__scan_found *found, cst_status status, cst_findings **files,
                                  cst_findings **faults, cst_error *error) {
  const cst__file_count *sums = &found->sums;
  if (found->files != NULL) {
    cst__put_total(found->files, "records", sums->records);
    cst__put_total(found->files, "record_bytes", sums->record_bytes);
    cst__put_total(found->files, "stream_bytes", sums->stream_bytes);
    cst__put_total(found->files, "file_bytes", sums->file_bytes);
  }
  if (found->faults != NULL) {
    uint64_t told = cst_findings_num_rows(found->faults);
    cst__put_total(found->faults, "num_faults", found->num_faults);
    cst__put_total(found->faults, "left_out", found->num_faults - told);
    cst__put_total(found->faults, "files", found->num_files);
    cst__put_total(found->faults, "records", sums->records);
    cst__put_total(found->faults, "stream_bytes", sums->stream_bytes);
  }
  status = hand_over(found->files, status, files, error);
  status = hand_over(found->faults, status, faults, error);
  return status;
}
