/* The features of a schema as findings. */
#include "arrow/findings.h"
#include "base/arguments.h"
#include "base/names.h"
#include "schema/inference.h"
#include "schema/schema.h"

static const cst__finding_column dim[] = {CST__NUMBER(NULL)};
static const cst__finding_column columns[] = {CST__TEXT("path"), CST__TEXT("type"),
                                              CST__LIST_OR_NULL("shape", dim), CST__BOOL("in_use")};
static const cst__finding_type features_type = {"features", columns, 4};

static void put_shape(cst_findings *found, const cst_feature *feature) {
  if (!feature->has_fixed_shape) {
    cst__put_null(found);
    return;
  }
  cst__open_list(found);
  for (size_t i = 0; i < feature->num_dims; i++) {
    cst__put_signed(found, feature->dims[i]);
  }
  cst__close_list(found);
}

/* The path is that of the struct, with a dot, and is so again afterwards. */
static void put_feature(cst_findings *found, const cst_feature *feature, cst__text *path) {
  static const char *const names[] = {"TYPE_UNKNOWN", "BYTES", "INT", "FLOAT", "STRUCT"};
  size_t parent = path->size;
  cst__text_append(path, feature->name, feature->name_size);
  cst__put_bytes(found, path->data, path->size);
  cst__put_text(found, names[feature->type]);
  put_shape(found, feature);
  cst__put_number(found, feature->in_use);
  cst__text_append(path, ".", 1);
  for (size_t i = 0; i < feature->num_children && !path->failed; i++) {
    put_feature(found, &feature->children[i], path);
  }
  path->size = parent;
}

cst_status cst_schema_features(const cst_schema *schema, cst_findings **out, cst_error *error) {
  cst_findings *found;
  cst__text path = {0};
  CST__CLEAR(out);
  CST__TRY(cst__check_given(schema, "schema", out, error));
  CST__TRY(cst__findings_new(&features_type, NULL, &found, error));
  for (size_t i = 0; i < cst_schema_num_features(schema) && !path.failed; i++) {
    put_feature(found, cst_schema_feature(schema, i), &path);
  }
  bool failed = path.failed;
  cst__text_free(&path);
  if (failed) {
    cst_findings_free(found);
    return cst__fail_memory(error, path.size);
  }
  return cst__findings_finish(found, out, error);
}

cst_status cst__finish_features(cst_status (*finish_schema)(const void *state, cst_schema **out,
                                                            cst_error *error),
                                const void *state, cst_findings **out, cst_error *error) {
  cst_schema *schema;
  CST__TRY(finish_schema(state, &schema, error));
  cst_status status = cst_schema_features(schema, out, error);
  cst_schema_release(schema);
  return status;
}
