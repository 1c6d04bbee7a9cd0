/* Schemas from data, with all that a schema can say about it. */
#ifndef VALIDATE_PROPOSE_H
#define VALIDATE_PROPOSE_H

#include <columnstone/validate.h>

/* What cst_source_propose does; the options are complete. */
cst_status cst__source_propose(cst_source *source, const cst_propose_options *options,
                               cst_schema **out, cst_error *error);

#endif /* VALIDATE_PROPOSE_H */
