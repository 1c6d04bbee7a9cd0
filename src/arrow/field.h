/* Fields of schemas: found by name, and changed in place.
 */
#ifndef ARROW_FIELD_H
#define ARROW_FIELD_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

#include "base/hash.h"

/* The fields of types by their names. Zeroed at first; the types outlive it. */
typedef struct cst__field_names {
  cst__name_map first; /* of each type that was looked into: the first field of a name */
  cst__name_map again; /* names that come once more, and the next field that has it */
} cst__field_names;

/* The number of a struct's first field of this name (-1: none), and whether it has another one. */
cst_status cst__field_names_find(cst__field_names *names, const struct ArrowSchema *type,
                                 const char *name, int64_t *out, bool *is_twice, cst_error *error);
void cst__field_names_reset(cst__field_names *names);

/* True for (large, fixed-size) lists, not for list views. */
bool cst__field_is_list(const struct ArrowSchema *field);

/* A field of lists becomes one of their items; name and metadata stay. */
cst_status cst__field_unwrap(struct ArrowSchema *field, bool nullable, cst_error *error);

/* True for binary, large_binary and binary_view. */
bool cst__field_is_binary(const struct ArrowSchema *field);

/* A binary field becomes one of strings of the same layout. */
cst_status cst__field_set_text(struct ArrowSchema *field, cst_error *error);

#endif /* ARROW_FIELD_H */
