/* <columnstone/validate.h>, differences: argument checks and hand-over. */
#include "base/arguments.h"
#include "schema/diff.h"

cst_status cst_schema_diff(const cst_schema *before, const cst_schema *after,
                           cst_change_callback on_change, void *ctx, size_t *num_changes,
                           cst_error *error) {
  CST__CLEAR(num_changes);
  if (before == NULL || after == NULL) {
    return cst__missing(before == NULL ? "before" : "after", error);
  }
  size_t count;
  cst_status status = cst__schema_diff(before, after, on_change, ctx, &count, error);
  if (status == CST_OK && num_changes != NULL) {
    *num_changes = count;
  }
  return status;
}
