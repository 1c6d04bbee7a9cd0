/* Changes to one field of a schema, in place.
 */
#ifndef ARROW_FIELD_H
#define ARROW_FIELD_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

/* True for (large, fixed-size) lists, not for list views. */
bool cst__field_is_list(const struct ArrowSchema *field);

/* A field of lists becomes one of their items; name and metadata stay. */
cst_status cst__field_unwrap(struct ArrowSchema *field, bool nullable, cst_error *error);

/* True for binary, large_binary and binary_view. */
bool cst__field_is_binary(const struct ArrowSchema *field);

/* A binary field becomes one of strings of the same layout. */
cst_status cst__field_set_text(struct ArrowSchema *field, cst_error *error);

#endif /* ARROW_FIELD_H */
