/* Copies of the CSV options, for whoever outlives the caller's.
 */
#ifndef FORMAT_CSV_CSV_OPTIONS_H
#define FORMAT_CSV_CSV_OPTIONS_H

#include <columnstone/source.h>

#include "base/alloc.h"

/* A complete copy in the arena; from NULL: the usual options. */
cst_status cst__csv_options_copy(const cst_csv_options *from, cst__arena *arena,
                                 const cst_csv_options **out, cst_error *error);

#endif /* FORMAT_CSV_CSV_OPTIONS_H */
