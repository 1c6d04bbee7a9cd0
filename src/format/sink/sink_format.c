/* What several sink formats ask of a schema. */
#include "format/sink/sink_format.h"

#include <string.h>

#include "base/hash.h"

static cst_status add_names(const struct ArrowSchema *parent, cst__name_map *map,
                            cst_error *error) {
  for (int64_t i = 0; i < parent->n_children; i++) {
    const char *name = parent->children[i]->name != NULL ? parent->children[i]->name : "";
    size_t size = strlen(name);
    if (cst__name_map_find(map, name, size) != SIZE_MAX) {
      (void)cst__fail(error, CST_INVALID_ARGUMENT, "rename one of them",
                      "two columns have the same name");
      cst__error_add_path(error, name, size);
      return CST_INVALID_ARGUMENT;
    }
    if (!cst__name_map_add(map, name, size, (size_t)i)) {
      return cst__fail_memory(error, size);
    }
  }
  return CST_OK;
}

cst_status cst__sink_check_names(const struct ArrowSchema *schema, cst_error *error) {
  cst__name_map map = {0};
  bool is_struct = strcmp(schema->format, "+s") == 0;
  cst_status status = is_struct ? add_names(schema, &map, error) : CST_OK;
  cst__name_map_reset(&map);
  for (int64_t i = 0; i < schema->n_children && status == CST_OK; i++) {
    const char *name = schema->children[i]->name;
    status = cst__sink_check_names(schema->children[i], error);
    if (status != CST_OK && is_struct && name != NULL) {
      cst__error_add_path(error, name, strlen(name));
    }
  }
  return status;
}
