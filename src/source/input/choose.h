/* What inputs are: their format, by its name or by the first bytes of the first file.
 */
#ifndef SOURCE_INPUT_CHOOSE_H
#define SOURCE_INPUT_CHOOSE_H

#include "source/input/source.h"

/* Finds the format of files and readers, and the container of records: by their names in `from`, or
 * (NULL) by the bytes; and reads the format's own options. Those that mean nothing for the format
 * are mistakes. */
cst_status cst__inputs_choose(cst__inputs *inputs, const cst__reading_options *options,
                              const cst_source_options *from, cst_error *error);
/* The name alone, for streams; NULL: the usual one. */
cst_status cst__inputs_name_format(cst__inputs *inputs, const cst__reading_options *options,
                                   const cst_source_options *from, cst_error *error);
/* The payload of a pipe whose format was not named, by its first record. */
void cst__inputs_choose_by_record(cst__inputs *inputs, const uint8_t *record, size_t size);

#endif /* SOURCE_INPUT_CHOOSE_H */
