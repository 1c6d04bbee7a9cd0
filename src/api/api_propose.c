/* <columnstone/validate.h>, proposals: argument checks and hand-over. */
#include "validate/proposal.h"

#include "base/arguments.h"

cst_status cst_source_propose(cst_source *source, const cst_propose_options *options,
                              cst_schema **out, cst_error *error) {
  CST__CLEAR(out);
  if (source == NULL || out == NULL) {
    return cst__missing(source == NULL ? "source" : "out", error);
  }
  cst_propose_options own = CST_PROPOSE_OPTIONS_INIT;
  CST__TRY(cst__read_propose_options(&own, options, error));
  return cst__source_propose(source, &own, out, error);
}
