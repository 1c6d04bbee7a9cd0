/* Verifying a source: tabular formats by reading them, records by their bytes. */
#include <columnstone/source.h>

#include "base/arguments.h"
#include "source/input/prepare.h"
#include "source/scan/scan_tabular.h"
#include "source/scan/verify_files.h"
#include "source/scan/verify_parts.h"

static cst_status verify_tabular(cst_source *source, cst__scan *scan, uint64_t *num_faults,
                                 cst_error *error) {
  scan->keeps_on = true;
  CST__TRY(cst__scan_tabular(source, scan, error));
  if (num_faults != NULL) {
    *num_faults = scan->faults;
  }
  return CST_OK;
}

cst_status cst_source_verify(cst_source *source, cst_fault_callback on_fault,
                             cst_count_callback on_file, cst_progress_callback on_progress,
                             void *ctx, uint64_t *num_faults, cst_error *error) {
  CST__CLEAR(num_faults);
  if (source == NULL) {
    return cst__missing("source", error);
  }
  const cst__verify_calls calls = {on_fault, on_file, on_progress, ctx};
  uint64_t faults = 0;
  bool sound = false;
  if (source->inputs->format.payload == NULL) {
    cst__scan scan = {.on_fault = calls.on_fault,
                      .on_file = calls.on_file,
                      .on_progress = calls.on_progress,
                      .ctx = calls.ctx};
    return verify_tabular(source, &scan, num_faults, error);
  }
  CST__TRY(cst__source_acquire_all(source, error));
  CST__TRY(cst__verify_in_parts(source, &calls, &sound, error));
  if (!sound) {
    CST__TRY(cst__verify_in_order(source, &calls, &faults, error));
  }
  if (num_faults != NULL) {
    *num_faults = faults;
  }
  return CST_OK;
}
