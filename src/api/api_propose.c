/* <columnstone/validate.h>, proposals: argument checks and hand-over. */
#include "validate/proposal.h"

#include "api/arguments.h"

enum { MAX_DOMAIN = 100 };

cst_status cst__read_propose_options(cst_propose_options *own, const cst_propose_options *options,
                                     cst_error *error) {
  CST__TRY(cst__read_options(own, sizeof *own, options, error));
  own->max_domain = own->max_domain > 0 ? own->max_domain : MAX_DOMAIN;
  own->group = own->group != NULL ? own->group : "";
  return CST_OK;
}

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
