/* Schemas from data, with all that a schema can say about it. */
#ifndef VALIDATE_PROPOSAL_H
#define VALIDATE_PROPOSAL_H

#include <columnstone/validate.h>

#include "arrow/accumulator.h"

/* Its plan are complete cst_propose_options; it finds a schema. */
extern const cst__accumulator cst__proposal_accumulator;

#endif /* VALIDATE_PROPOSAL_H */
