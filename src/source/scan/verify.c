/* Verifying a source: tabular formats by reading them, records by their bytes. */
#include <columnstone/source.h>

#include "base/arguments.h"
#include "source/input/prepare.h"
#include "source/scan/scan_found.h"
#include "source/scan/scan_tabular.h"
#include "source/scan/verify_files.h"
#include "source/scan/verify_parts.h"

enum { USUAL_FAULTS = 1000 };

static cst_status verify_all(cst_source *source, const cst__scan_calls *calls, cst_error *error) {
  bool sound = false;
  if (source->inputs->format.payload == NULL) {
    return cst__scan_tabular(source, calls, true, error);
  }
  CST__TRY(cst__source_acquire_all(source, error));
  CST__TRY(cst__verify_in_parts(source, calls, &sound, error));
  return sound ? CST_OK : cst__verify_in_order(source, calls, error);
}

cst_status cst_source_verify(cst_source *source, const cst_verify_options *options,
                             cst_findings **faults, cst_findings **files, cst_error *error) {
  cst_verify_options own = CST_VERIFY_OPTIONS_INIT;
  cst__scan_found found = {0};
  CST__CLEAR(faults);
  CST__CLEAR(files);
  if (source == NULL || faults == NULL) {
    return cst__missing(source == NULL ? "source" : "faults", error);
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  found.max_faults = own.max_faults > 0 ? own.max_faults : USUAL_FAULTS;
  cst_status status = cst__scan_found_begin(&found, &source->allocator, true, error);
  if (status == CST_OK) {
    const cst__scan_calls calls = cst__scan_found_calls(&found, own.on_progress, own.progress_ctx);
    status = verify_all(source, &calls, error);
  }
  return cst__scan_found_finish(&found, status, files, faults, error);
}
