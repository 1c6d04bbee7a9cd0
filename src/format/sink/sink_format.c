/* What several sink formats ask of a schema. */
#include "format/sink/sink_format.h"

#include <string.h>

#include "arrow/view.h"

cst_status cst__sink_check_names(const struct ArrowSchema *schema, cst_error *error) {
  bool is_struct = strcmp(schema->format, "+s") == 0;
  cst_status status = is_struct ? cst__schema_check_names(schema, error) : CST_OK;
  for (int64_t i = 0; i < schema->n_children && status == CST_OK; i++) {
    const char *name = schema->children[i]->name;
    status = cst__sink_check_names(schema->children[i], error);
    if (status != CST_OK && is_struct && name != NULL) {
      cst__error_add_path(error, name, strlen(name));
    }
  }
  return status;
}
