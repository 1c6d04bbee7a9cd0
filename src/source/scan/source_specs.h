/* The tensor specs of a source.
 */
#ifndef SOURCE_SCAN_SOURCE_SPECS_H
#define SOURCE_SCAN_SOURCE_SPECS_H

#include "source/input/source.h"

/* As cst_source_specs; the schema is inferred for them if there is none. */
cst_status cst__source_specs(cst_source *source, cst_specs **out, cst_error *error);

#endif /* SOURCE_SCAN_SOURCE_SPECS_H */
