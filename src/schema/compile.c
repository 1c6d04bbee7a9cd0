/* From the message tree to the features, with the checks that need nothing but the feature itself:
 * names, types and shapes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "schema/internal.h"
#include "schema/schema.h"

cst_status(cst__schema_fail)(const cst__message *message, cst_error *error, const char *hint,
                             const char *fmt, ...) {
  char text[256];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  cst_status status = cst__fail(error, CST_SCHEMA, hint, "%s", text);
  cst__error_add_position(error, message->line, message->column);
  return status;
}

const char *cst__feature_type_name(cst_feature_type type) {
  switch (type) {
    case CST_FEATURE_BYTES:
      return "BYTES";
    case CST_FEATURE_INT:
      return "INT";
    case CST_FEATURE_FLOAT:
      return "FLOAT";
    case CST_FEATURE_STRUCT:
      return "STRUCT";
    case CST_FEATURE_UNKNOWN:
      break;
  }
  return "TYPE_UNKNOWN";
}

bool cst__is_in_use(const cst__message *message, int32_t deprecated, int32_t stage) {
  if (cst__message_int(message, deprecated, 0) != 0) {
    return false;
  }
  switch (cst__message_int(message, stage, STAGE_UNKNOWN)) {
    case STAGE_UNKNOWN:
    case STAGE_BETA:
    case STAGE_PRODUCTION:
      return true;
    default:
      return false;
  }
}

/* ---- features by name ---- */

/* After every array of features lie as many pointers to them, sorted by name. */
static const cst_feature *const *sorted_features(const cst_feature *features, size_t count) {
  return (const cst_feature *const *)(const void *)(features + count);
}

static cst_bytes name_of_field(const cst_feature *feature) {
  return (cst_bytes){(const uint8_t *)feature->name, feature->name_size};
}

/* By name; features of one name by place. */
static int compare_by_name(const void *a, const void *b) {
  const cst_feature *fa = *(const cst_feature *const *)a;
  const cst_feature *fb = *(const cst_feature *const *)b;
  int order = cst__bytes_compare(name_of_field(fa), name_of_field(fb));
  return order != 0 ? order : (fa > fb) - (fa < fb);
}

const cst_feature *cst__feature_by_name(const cst_feature *features, size_t count, cst_bytes name) {
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const cst_feature *feature = sorted_features(features, count)[middle];
    int order = cst__bytes_compare(name_of_field(feature), name);
    if (order == 0) {
      return feature;
    }
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}

const cst_feature *cst__schema_feature_at(const cst_schema *schema, const cst__message *path) {
  const cst__field *steps = path != NULL ? cst__message_find(path, PATH_STEP) : NULL;
  const cst_feature *found = NULL;
  for (size_t i = 0; steps != NULL && i < steps->count; i++) {
    cst_bytes step = cst__nth_bytes(steps, i);
    if (i == 0) {
      size_t at = cst__schema_find_feature(schema, (const char *)step.data, step.size);
      found = at != SIZE_MAX ? &schema->features[at] : NULL;
    } else {
      found = cst__feature_by_name(found->children, found->num_children, step);
    }
    if (found == NULL) {
      break;
    }
  }
  return found;
}

/* ---- one feature ---- */

typedef struct compiler {
  cst__arena *arena;
  cst_error *error;
} compiler;

static cst_status no_compile_memory(const compiler *c) { return cst__fail_memory(c->error, 64); }

static cst_status compile_name(const compiler *c, const cst__message *message, int32_t number,
                               const char **name, size_t *size) {
  cst_bytes bytes = cst__message_bytes(message, number);
  /* The key of a feature in an Example may be empty: such a name has to be stated. */
  if (cst__message_find(message, number) == NULL) {
    return cst__schema_fail(message, c->error, "give every feature a name",
                            "a feature has no name");
  }
  if (!cst__utf8_valid(bytes.data, bytes.size)) {
    return cst__schema_fail(message, c->error, NULL, "the name of a feature is not valid UTF-8");
  }
  *name = cst__arena_copy(c->arena, bytes.data, bytes.size);
  *size = bytes.size;
  return *name != NULL ? CST_OK : no_compile_memory(c);
}

static cst_status compile_type(const compiler *c, const cst__message *message,
                               cst_feature_type *type) {
  const cst__field *field = cst__message_find(message, FEATURE_TYPE);
  if (field == NULL) {
    return cst__schema_fail(message, c->error, "add type: BYTES, INT, FLOAT or STRUCT",
                            "the feature has no type");
  }
  *type = (cst_feature_type)field->as.one.i;
  return CST_OK;
}

/* Sizes of -1 and dims without a size are unknown: the shape is not a fixed one. */
static cst_status compile_shape(const compiler *c, const cst__message *message,
                                cst_feature *feature) {
  const cst__message *shape = cst__message_child(message, FEATURE_SHAPE);
  if (shape == NULL) {
    return CST_OK;
  }
  const cst__field *dims = cst__message_find(shape, SHAPE_DIM);
  size_t count = dims != NULL ? dims->count : 0;
  int64_t *sizes = cst__arena_take(c->arena, (count + 1) * sizeof *sizes);
  int64_t total = 1;
  if (sizes == NULL) {
    return no_compile_memory(c);
  }
  feature->has_fixed_shape = true;
  for (size_t i = 0; i < count; i++) {
    const cst__message *dim = cst__nth_message(dims, i);
    sizes[i] = cst__message_int(dim, DIM_SIZE, -1);
    if (sizes[i] < -1) {
      return cst__schema_fail(dim, c->error, "a size is 0 or more, or -1 if it is not known",
                              "dim %zu of the shape has the size %lld", i, (long long)sizes[i]);
    }
    if (sizes[i] < 0) {
      feature->has_fixed_shape = false;
    } else if (__builtin_mul_overflow(total, sizes[i], &total)) {
      return cst__schema_fail(dim, c->error, NULL,
                              "the product of the shape's dims has more than 63 bits");
    }
  }
  feature->num_dims = feature->has_fixed_shape ? count : 0;
  feature->dims = sizes;
  return CST_OK;
}

static cst_status compile_features(const compiler *c, const cst__field *messages,
                                   const cst_feature **out, size_t *count);

static cst_status compile_feature(const compiler *c, const cst__message *message,
                                  cst_feature *feature) {
  CST__TRY(compile_name(c, message, FEATURE_NAME, &feature->name, &feature->name_size));
  cst_status status = compile_type(c, message, &feature->type);
  if (status == CST_OK) {
    status = compile_shape(c, message, feature);
  }
  feature->in_use = cst__is_in_use(message, FEATURE_DEPRECATED, FEATURE_LIFECYCLE_STAGE);
  const cst__message *domain = cst__message_child(message, FEATURE_STRUCT_DOMAIN);
  if (status == CST_OK && domain != NULL && feature->type == CST_FEATURE_STRUCT) {
    status = compile_features(c, cst__message_find(domain, STRUCT_DOMAIN_FEATURE),
                              &feature->children, &feature->num_children);
  }
  if (status != CST_OK) {
    cst__error_add_path(c->error, feature->name, feature->name_size);
  }
  return status;
}

/* Sorts the pointers after the features; the second feature of a name is refused. */
static cst_status sort_features(const compiler *c, const cst__field *messages,
                                const cst_feature *features, size_t count) {
  const cst_feature **sorted = (const cst_feature **)(uintptr_t)sorted_features(features, count);
  for (size_t i = 0; i < count; i++) {
    sorted[i] = &features[i];
  }
  if (count > 1) {
    qsort(sorted, count, sizeof *sorted, compare_by_name);
  }
  for (size_t i = 1; i < count; i++) {
    if (cst__bytes_compare(name_of_field(sorted[i - 1]), name_of_field(sorted[i])) == 0) {
      size_t at = (size_t)(sorted[i] - features);
      cst_status status =
          cst__schema_fail(cst__nth_message(messages, at), c->error, "remove or rename one of them",
                           "two features have the same name");
      cst__error_add_path(c->error, sorted[i]->name, sorted[i]->name_size);
      return status;
    }
  }
  return CST_OK;
}

static cst_status compile_features(const compiler *c, const cst__field *messages,
                                   const cst_feature **out, size_t *count) {
  size_t total = messages != NULL ? messages->count : 0;
  size_t size;
  if (!cst__mul(total, sizeof(cst_feature) + sizeof(cst_feature *), &size)) {
    return no_compile_memory(c);
  }
  cst_feature *features = cst__arena_take_zero(c->arena, size);
  if (features == NULL) {
    return no_compile_memory(c);
  }
  for (size_t i = 0; i < total; i++) {
    CST__TRY(compile_feature(c, cst__nth_message(messages, i), &features[i]));
  }
  *out = features;
  *count = total;
  return sort_features(c, messages, features, total);
}

cst_status cst__schema_compile(cst_schema *schema, cst_error *error) {
  compiler c = {&schema->arena, error};
  if (!cst__message_sort_maps(&schema->arena, schema->root)) {
    return no_compile_memory(&c);
  }
  CST__TRY(compile_features(&c, cst__message_find(schema->root, SCHEMA_FEATURE), &schema->features,
                            &schema->num_features));
  return cst__schema_check_references(schema, error);
}
