/* Dictionary-encoded columns become plain ones where others' data comes in, and where the values of
 * our own are looked at: only batches on their way know dictionaries.
 */
#ifndef ARROW_DICTIONARY_H
#define ARROW_DICTIONARY_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

#include "base/alloc.h"

/* True if the type, or one below it, is dictionary-encoded. The schema is whole (a copy of
 * cst__schema_copy, for one). */
bool cst__schema_has_dictionary(const struct ArrowSchema *schema);

/* Replaces dictionary-encoded types, at any depth, by those of their values; names, nullability and
 * metadata of the fields stay. The schema is one that nanoarrow made (cst__schema_copy does). On
 * failure it is to be released and nothing else. */
cst_status cst__schema_make_plain(struct ArrowSchema *schema, cst_error *error);

/* The same for an array of the schema as it was, which is whole: dictionary-encoded columns are
 * replaced by copies, all others stay the buffers that they are. A null index and an index of a
 * null value give a null. Indices and values are validated (CST_CORRUPT with the column's path),
 * other columns are not looked at. CST_LIMIT if the values, once for each index, are out of all
 * proportion (a gigabyte, and 200 times what came). On failure *array is to be released and nothing
 * else. */
cst_status cst__array_make_plain(const struct ArrowSchema *schema, const cst_allocator *allocator,
                                 struct ArrowArray *array, cst_error *error);

/* trusted: the values have been validated before. */
cst_status cst__array_make_plain_as(const struct ArrowSchema *schema,
                                    const cst_allocator *allocator, bool trusted,
                                    struct ArrowArray *array, cst_error *error);

#endif /* ARROW_DICTIONARY_H */
