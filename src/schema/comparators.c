/* Reading comparators from the messages of a schema. */
#include "schema/comparators.h"

#include <math.h>

#include "schema/domains.h"
#include "schema/internal.h"

/* True where the message has the field. */
static bool read_threshold(const cst__message *message, int32_t number, int32_t field,
                           double *out) {
  const cst__message *part = message != NULL ? cst__message_child(message, number) : NULL;
  *out = part != NULL ? cst__message_double(part, field, (double)NAN) : (double)NAN;
  return !isnan(*out);
}

static bool read_unique(const cst__message *feature, cst__comparator *out) {
  const cst__message *unique = cst__message_child(feature, FEATURE_UNIQUE_CONSTRAINTS);
  out->min_distinct = unique != NULL ? cst__message_int(unique, UNIQUE_MIN, -1) : -1;
  out->max_distinct = unique != NULL ? cst__message_int(unique, UNIQUE_MAX, -1) : -1;
  return out->min_distinct >= 0 || out->max_distinct >= 0;
}

/* False: nothing is demanded. */
static bool read_comparator(const cst__message *feature, cst__comparison_kind kind,
                            cst__comparator *out) {
  const cst__message *found =
      kind == CST__COMPARES_DRIFT  ? cst__message_child(feature, FEATURE_DRIFT_COMPARATOR)
      : kind == CST__COMPARES_SKEW ? cst__message_child(feature, FEATURE_SKEW_COMPARATOR)
                                   : NULL;
  const cst__message *divergence =
      found != NULL ? cst__message_child(found, COMPARATOR_JENSEN_SHANNON) : NULL;
  const cst__message *source =
      divergence != NULL ? cst__message_child(divergence, JENSEN_SHANNON_SOURCE) : NULL;
  bool any = read_unique(feature, out);
  any |= read_threshold(found, COMPARATOR_INFINITY_NORM, COMPARATOR_THRESHOLD, &out->linf);
  any |=
      read_threshold(found, COMPARATOR_JENSEN_SHANNON, COMPARATOR_THRESHOLD, &out->jensen_shannon);
  any |= read_threshold(found, COMPARATOR_ABS_DIFFERENCE, COMPARATOR_THRESHOLD,
                        &out->normalized_abs_difference);
  out->of_quantiles = source != NULL &&
                      cst__message_int(source, HISTOGRAM_SELECTION_TYPE, 0) == HISTOGRAM_QUANTILES;
  return any;
}

typedef struct reader {
  cst__comparators *out;
  const cst_schema *schema;
  const cst__comparator_choice *choice;
  cst_error *error;
} reader;

static cst_status add_comparator(const reader *r, const cst__comparator *one, const char *path) {
  cst__comparators *out = r->out;
  void *items = out->items;
  bool ok = cst__grow(&out->arena.allocator, &items, &out->capacity, out->count + 1, sizeof *one);
  out->items = items;
  if (!ok || !cst__name_map_add(&out->paths, path, strlen(path), out->count)) {
    return cst__fail_memory(r->error, sizeof *one);
  }
  out->items[out->count++] = *one;
  return CST_OK;
}

/* "above.name", or "name" */
static char *join(cst__arena *arena, const char *above, const cst_feature *feature) {
  size_t size = above != NULL ? strlen(above) + 1 : 0;
  char *path = cst__arena_take(arena, size + feature->name_size + 1);
  if (path != NULL) {
    if (above != NULL) {
      memcpy(path, above, size - 1);
      path[size - 1] = '.';
    }
    memcpy(path + size, feature->name, feature->name_size + 1);
  }
  return path;
}

static cst_status read_features(const reader *r, const cst__field *messages,
                                const cst_feature *features, size_t count, const char *above) {
  for (size_t i = 0; i < count; i++) {
    const cst__message *message = cst__nth_message(messages, i);
    const cst__message *parts = cst__message_child(message, FEATURE_STRUCT_DOMAIN);
    cst__comparator one;
    const char *path = join(&r->out->arena, above, &features[i]);
    if (path == NULL) {
      return cst__fail_memory(r->error, features[i].name_size);
    }
    if (features[i].in_use && cst__in_environment(r->schema, message, r->choice->environment) &&
        cst__comparators_find(r->out, path) == NULL &&
        read_comparator(message, r->choice->kind, &one)) {
      CST__TRY(add_comparator(r, &one, path));
    }
    if (parts != NULL && features[i].num_children > 0) {
      CST__TRY(read_features(r, cst__message_find(parts, STRUCT_DOMAIN_FEATURE),
                             features[i].children, features[i].num_children, path));
    }
  }
  return CST_OK;
}

static void read_rows(const cst_schema *schema, cst__comparison_kind kind, cst__comparators *out) {
  const cst__message *constraints = cst__message_child(schema->root, SCHEMA_DATASET_CONSTRAINTS);
  out->min_rows = out->max_rows = out->min_ratio = out->max_ratio = (double)NAN;
  if (constraints == NULL) {
    return;
  }
  int64_t least = cst__message_int(constraints, DATASET_MIN_EXAMPLES, 0);
  int64_t most = cst__message_int(constraints, DATASET_MAX_EXAMPLES, -1);
  out->min_rows = least > 0 ? (double)least : (double)NAN;
  out->max_rows = most >= 0 ? (double)most : (double)NAN;
  if (kind != CST__COMPARES_SKEW) {
    int32_t number =
        kind == CST__COMPARES_DRIFT ? DATASET_EXAMPLES_DRIFT : DATASET_EXAMPLES_VERSION;
    (void)read_threshold(constraints, number, NUMERIC_COMPARATOR_MIN, &out->min_ratio);
    (void)read_threshold(constraints, number, NUMERIC_COMPARATOR_MAX, &out->max_ratio);
  }
}

cst_status cst__comparators_init(cst__comparators *comparators, const cst_schema *schema,
                                 const cst__comparator_choice *choice,
                                 const cst_allocator *allocator, cst_error *error) {
  const reader r = {comparators, schema, choice, error};
  *comparators = (cst__comparators){.count = 0};
  cst__arena_init(&comparators->arena, allocator);
  CST__TRY(cst__check_environment(schema, choice->environment, error));
  read_rows(schema, choice->kind, comparators);
  return schema->num_features == 0
             ? CST_OK
             : read_features(&r, cst__message_find(schema->root, SCHEMA_FEATURE), schema->features,
                             schema->num_features, NULL);
}

void cst__comparators_reset(cst__comparators *comparators) {
  cst__name_map_reset(&comparators->paths);
  cst__delete(comparators->items);
  cst__arena_reset(&comparators->arena);
}

const cst__comparator *cst__comparators_find(const cst__comparators *comparators,
                                             const char *path) {
  size_t at = cst__name_map_find(&comparators->paths, path, strlen(path));
  return at != SIZE_MAX ? &comparators->items[at] : NULL;
}

static bool counts_distinct(const cst__message *parent, int32_t number) {
  const cst__field *features = cst__message_find(parent, number);
  bool found = false;
  for (size_t i = 0; features != NULL && i < features->count && !found; i++) {
    const cst__message *feature = cst__nth_message(features, i);
    const cst__message *parts = cst__message_child(feature, FEATURE_STRUCT_DOMAIN);
    found = cst__message_find(feature, FEATURE_UNIQUE_CONSTRAINTS) != NULL ||
            (parts != NULL && counts_distinct(parts, STRUCT_DOMAIN_FEATURE));
  }
  return found;
}

bool cst__schema_counts_distinct(const cst_schema *schema) {
  return counts_distinct(schema->root, SCHEMA_FEATURE);
}

bool cst__schema_counts_rows(const cst_schema *schema) {
  const cst__message *constraints = cst__message_child(schema->root, SCHEMA_DATASET_CONSTRAINTS);
  return constraints != NULL && (cst__message_find(constraints, DATASET_MIN_EXAMPLES) != NULL ||
                                 cst__message_find(constraints, DATASET_MAX_EXAMPLES) != NULL);
}
