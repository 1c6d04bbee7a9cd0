/* Proposals: the inferred schema, with what the profiles say of values, and a group of tensors that
 * every record fits.
 *
 * Sources: tensorflow_metadata/proto/v0/schema.proto (domains, annotations, sparse features); RFC
 * "TFXIO schema interpretation" (what each representation demands of every record).
 */
#include "validate/propose.h"

#include <math.h>
#include <stdlib.h>

#include "proto/message.h"
#include "schema/descriptors.h"
#include "schema/inference.h"
#include "source/input/prepare.h"
#include "source/scan/survey.h"
#include "validate/profile.h"

typedef struct proposal {
  const cst_propose_options *options;
  const cst__profiler *profiler;
  cst__arena *arena;
  cst__message *root;
  cst__message *group;    /* TensorRepresentationGroup */
  cst__name_map features; /* name -> number of its message */
  cst__name_map taken;    /* columns that are part of another one's tensor, or make one with it */
  cst__name_map tensors;  /* names */
} proposal;

/* All functions below return false if they are out of memory. */

static cst__message *nth(const cst__message *parent, int32_t number, size_t i) {
  return cst__message_find(parent, number)->as.many[i].message;
}

static cst_bytes name_of(const cst__profile *profile) {
  return (cst_bytes){(const uint8_t *)profile->name, profile->name_size};
}

static bool put_name(const proposal *p, cst__message *message, int32_t number, cst_bytes name) {
  return cst__message_put_bytes(p->arena, message, number, name.data, name.size);
}

/* The names in a map are those of profiles, or lie in the arena. */
static const char *text_of(cst_bytes name) { return name.size > 0 ? (const char *)name.data : ""; }

static bool add_name(cst__name_map *map, cst_bytes name, size_t value) {
  return cst__name_map_add(map, text_of(name), name.size, value);
}

static bool has_name(const cst__name_map *map, cst_bytes name) {
  return cst__name_map_find(map, text_of(name), name.size) != SIZE_MAX;
}

/* ---- what is known of a feature ---- */

/* The number of values that every record has; -1 if it varies. */
static int64_t fixed_count(const cst__message *feature) {
  const cst__message *shape = cst__message_child(feature, FEATURE_SHAPE);
  return shape != NULL ? cst__message_int(nth(shape, SHAPE_DIM, 0), DIM_SIZE, -1) : -1;
}

/* True if every record that has the feature has one value. */
static bool is_single(const cst__message *feature) {
  const cst__message *counts = cst__message_child(feature, FEATURE_VALUE_COUNT);
  return counts != NULL && cst__message_int(counts, VALUE_COUNT_MIN, 0) == 1 &&
         cst__message_int(counts, VALUE_COUNT_MAX, 0) == 1;
}

static cst_feature_type type_of(const cst__message *feature) {
  return (cst_feature_type)cst__message_int(feature, FEATURE_TYPE, CST_FEATURE_UNKNOWN);
}

/* True if a group can name it for a tensor: it has a type, no nulls inside of its lists, and a name
 * that is not empty. */
static bool makes_tensors(const cst__message *feature, const cst__profile *profile) {
  cst_feature_type type = type_of(feature);
  return type != CST_FEATURE_UNKNOWN && type != CST_FEATURE_STRUCT && !profile->has_nulls &&
         profile->name_size > 0;
}

/* ---- domains and annotations ---- */

static bool put_float(const proposal *p, cst__message *message, int32_t number, float value) {
  const cst__field_def *def = cst__field_by_number(message->def, number);
  return !isfinite(value) || cst__message_put(p->arena, message, def, (cst__value){.f = value});
}

/* Limits are floats: of doubles, those around them. */
static float float_below(double value) {
  float near = (float)value;
  return (double)near > value ? nextafterf(near, -INFINITY) : near;
}

static float float_above(double value) {
  float near = (float)value;
  return (double)near < value ? nextafterf(near, INFINITY) : near;
}

static int compare_strings(const void *a, const void *b) {
  const cst_bytes *x = a;
  const cst_bytes *y = b;
  size_t size = x->size < y->size ? x->size : y->size;
  int order = size > 0 ? memcmp(x->data, y->data, size) : 0;
  return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

static bool put_strings(const proposal *p, cst__message *domain, const cst__few_strings *strings) {
  size_t size = strings->count * sizeof *strings->items;
  cst_bytes *sorted = cst__new(&p->arena->allocator, size);
  bool ok = sorted != NULL;
  if (ok) {
    memcpy(sorted, strings->items, size);
    qsort(sorted, strings->count, sizeof *sorted, compare_strings);
  }
  for (size_t i = 0; i < strings->count && ok; i++) {
    ok = put_name(p, domain, STRING_DOMAIN_VALUE, sorted[i]);
  }
  cst__delete(sorted);
  return ok;
}

/* Values that come once or twice are names of things, not a choice of few. */
static bool is_choice(const cst__profile *profile) {
  const cst__few_strings *strings = &profile->strings;
  return strings->count > 0 && strings->count <= profile->count / 2;
}

static bool put_domain(const proposal *p, cst__message *feature, const cst__profile *profile) {
  cst__message *domain;
  if (profile->has_ints && !profile->is_beyond) {
    domain = cst__message_put_child(p->arena, feature, FEATURE_INT_DOMAIN);
    return domain != NULL &&
           cst__message_put_int(p->arena, domain, INT_DOMAIN_MIN, profile->int_min) &&
           cst__message_put_int(p->arena, domain, INT_DOMAIN_MAX, profile->int_max);
  }
  if (profile->has_floats && (isfinite(profile->float_min) || isfinite(profile->float_max))) {
    domain = cst__message_put_child(p->arena, feature, FEATURE_FLOAT_DOMAIN);
    return domain != NULL &&
           put_float(p, domain, FLOAT_DOMAIN_MIN, float_below(profile->float_min)) &&
           put_float(p, domain, FLOAT_DOMAIN_MAX, float_above(profile->float_max));
  }
  if (is_choice(profile)) {
    domain = cst__message_put_child(p->arena, feature, FEATURE_STRING_DOMAIN);
    return domain != NULL && put_strings(p, domain, &profile->strings);
  }
  return true;
}

/* How the only value of each record goes on from record to record; NULL: in no way. */
static const char *course_of(const cst__message *feature, const cst__profile *profile) {
  bool has_numbers =
      (profile->has_ints || profile->has_floats) && !profile->has_nan && !profile->is_beyond;
  if (fixed_count(feature) != 1 || profile->count < 2 || profile->has_nulls) {
    return NULL;
  }
  if (has_numbers && profile->rises != profile->falls) {
    return profile->rises ? "increasing" : "decreasing";
  }
  bool is_constant = has_numbers ? !profile->rises && !profile->falls : profile->strings.count == 1;
  return is_constant ? "constant" : NULL;
}

static bool put_course(const proposal *p, cst__message *feature, const cst__profile *profile) {
  const char *course = course_of(feature, profile);
  if (course == NULL) {
    return true;
  }
  cst__message *annotation = cst__message_put_child(p->arena, feature, FEATURE_ANNOTATION);
  return annotation != NULL &&
         cst__message_put_bytes(p->arena, annotation, ANNOTATION_TAG, course, strlen(course));
}

/* No tensor has a place for the nulls inside of lists, and the rules would make one. */
static bool put_stage(const proposal *p, cst__message *feature, const cst__profile *profile) {
  return !profile->has_nulls ||
         cst__message_put_int(p->arena, feature, FEATURE_LIFECYCLE_STAGE, STAGE_DISABLED);
}

static bool describe(const proposal *p, cst__message *parent, int32_t number,
                     const cst__profiler *profiler) {
  bool ok = true;
  for (size_t i = 0; i < cst__message_count(parent, number) && ok; i++) {
    cst__message *feature = nth(parent, number, i);
    const cst__profile *profile =
        cst__profiler_find(profiler, cst__message_bytes(feature, FEATURE_NAME));
    const cst__message *domain = cst__message_child(feature, FEATURE_STRUCT_DOMAIN);
    if (domain != NULL) {
      ok = describe(p, (cst__message *)(uintptr_t)domain, STRUCT_DOMAIN_FEATURE, profile->parts);
    } else {
      ok = put_domain(p, feature, profile) && put_course(p, feature, profile) &&
           put_stage(p, feature, profile);
    }
  }
  return ok;
}

/* ---- tensors ---- */

/* A representation of this name; NULL if out of memory. */
static cst__message *put_tensor(proposal *p, cst_bytes name, int32_t kind) {
  cst__message *entry = cst__message_put_child(p->arena, p->group, GROUP_REPRESENTATION);
  if (entry == NULL || !put_name(p, entry, ENTRY_KEY, name) || !add_name(&p->tensors, name, 0)) {
    return NULL;
  }
  cst__message *tensor = cst__message_put_child(p->arena, entry, ENTRY_VALUE);
  return tensor != NULL ? cst__message_put_child(p->arena, tensor, kind) : NULL;
}

/* A shape of one dim, or of none for size -1. */
static bool put_shape(const proposal *p, cst__message *tensor, int32_t number, int64_t size) {
  cst__message *shape = cst__message_put_child(p->arena, tensor, number);
  if (shape == NULL || size < 0) {
    return shape != NULL;
  }
  cst__message *dim = cst__message_put_child(p->arena, shape, SHAPE_DIM);
  return dim != NULL && cst__message_put_int(p->arena, dim, DIM_SIZE, size);
}

static bool put_default(const proposal *p, cst__message *dense, cst_feature_type type,
                        bool is_unsigned) {
  cst__message *value = cst__message_put_child(p->arena, dense, DENSE_DEFAULT);
  if (value == NULL) {
    return false;
  }
  return type == CST_FEATURE_INT
             ? cst__message_put_int(p->arena, value, DEFAULT_INT, is_unsigned ? 0 : -1)
         : type == CST_FEATURE_FLOAT
             ? cst__message_put_double(p->arena, value, DEFAULT_FLOAT, -1)
             : cst__message_put_bytes(p->arena, value, DEFAULT_BYTES, "", 0);
}

/* One value is a scalar. */
static bool put_dense(proposal *p, const cst__profile *profile, cst_feature_type type,
                      int64_t count, bool has_default) {
  cst_bytes name = name_of(profile);
  cst__message *dense = put_tensor(p, name, REPRESENTATION_DENSE);
  return dense != NULL && put_name(p, dense, DENSE_COLUMN, name) &&
         put_shape(p, dense, DENSE_SHAPE, count == 1 ? -1 : count) &&
         (!has_default || put_default(p, dense, type, profile->is_unsigned));
}

/* The values at a path; parent and lengths may be NULL. */
static bool put_ragged(proposal *p, cst_bytes tensor, const cst_bytes *parent, cst_bytes column,
                       const cst_bytes *lengths) {
  cst__message *ragged = put_tensor(p, tensor, REPRESENTATION_RAGGED);
  cst__message *path =
      ragged != NULL ? cst__message_put_child(p->arena, ragged, RAGGED_PATH) : NULL;
  if (path == NULL || (parent != NULL && !put_name(p, path, PATH_STEP, *parent)) ||
      !put_name(p, path, PATH_STEP, column) ||
      !cst__message_put_int(p->arena, ragged, RAGGED_DTYPE, ROW_PARTITION_INT64)) {
    return false;
  }
  if (lengths == NULL) {
    return true;
  }
  cst__message *partition = cst__message_put_child(p->arena, ragged, RAGGED_PARTITION);
  return partition != NULL && put_name(p, partition, PARTITION_ROW_LENGTH, *lengths);
}

static bool put_varlen(proposal *p, cst_bytes name) {
  if (p->options->ragged) {
    return put_ragged(p, name, NULL, name, NULL);
  }
  cst__message *varlen = put_tensor(p, name, REPRESENTATION_VARLEN);
  return varlen != NULL && put_name(p, varlen, VARLEN_COLUMN, name);
}

/* ---- tensors of two columns ---- */

/* What the names of index and values begin with, if nothing else is called so; else the name of the
 * values, whose own tensor this one replaces. */
static cst_bytes sparse_name(const proposal *p, cst_bytes index, cst_bytes values) {
  cst_bytes stem = {values.data, 0};
  while (stem.size < index.size && stem.size < values.size &&
         index.data[stem.size] == values.data[stem.size]) {
    stem.size++;
  }
  while (stem.size > 0 && strchr("_/.-", stem.data[stem.size - 1]) != NULL) {
    stem.size--;
  }
  bool is_free = stem.size > 0 && !has_name(&p->features, stem) && !has_name(&p->tensors, stem);
  return is_free ? stem : values;
}

static bool put_part(const proposal *p, cst__message *sparse, int32_t number, cst_bytes column) {
  cst__message *part = cst__message_put_child(p->arena, sparse, number);
  return part != NULL && put_name(p, part, SPARSE_PART_NAME, column);
}

/* An index begins at 0, as its sparse feature wants it. */
static bool begin_index(const proposal *p, cst_bytes index) {
  size_t at = cst__name_map_find(&p->features, text_of(index), index.size);
  const cst__message *domain =
      cst__message_child(nth(p->root, SCHEMA_FEATURE, at), FEATURE_INT_DOMAIN);
  return cst__message_put_int(p->arena, (cst__message *)(uintptr_t)domain, INT_DOMAIN_MIN, 0);
}

static bool put_sparse(proposal *p, const cst__profile *index, cst_bytes values) {
  cst_bytes column = name_of(index);
  cst_bytes name = sparse_name(p, column, values);
  cst__message *sparse = cst__message_put_child(p->arena, p->root, SCHEMA_SPARSE_FEATURE);
  if (sparse == NULL || !put_name(p, sparse, SPARSE_NAME, name) ||
      !put_part(p, sparse, SPARSE_INDEX, column) ||
      !cst__message_put_int(p->arena, sparse, SPARSE_IS_SORTED, 1) ||
      !put_part(p, sparse, SPARSE_VALUE, values) || !begin_index(p, column)) {
    return false;
  }
  cst__message *tensor = put_tensor(p, name, REPRESENTATION_SPARSE);
  return tensor != NULL && put_shape(p, tensor, SPARSE_TENSOR_SHAPE, index->int_max + 1) &&
         put_name(p, tensor, SPARSE_TENSOR_INDEX_COLUMNS, column) &&
         put_name(p, tensor, SPARSE_TENSOR_VALUE_COLUMN, values) &&
         cst__message_put_int(p->arena, tensor, SPARSE_TENSOR_SORTED, 1);
}

/* The pair that goes best with the values: indexes before lengths, and more usual names first. */
static const cst__pair *find_pair(const proposal *p, const cst__profile *values) {
  const cst__pair *best = NULL;
  for (size_t i = values->first_pair; i != SIZE_MAX; i = cst__profiler_pair(p->profiler, i)->next) {
    const cst__pair *pair = cst__profiler_pair(p->profiler, i);
    const cst__profile *column = cst__profiler_get(p->profiler, pair->column);
    bool fits = pair->holds && pair->proven && !has_name(&p->taken, name_of(column)) &&
                column->has_ints && !column->has_nulls;
    if (fits && (best == NULL || pair->kind < best->kind ||
                 (pair->kind == best->kind && pair->rank < best->rank))) {
      best = pair;
    }
  }
  return best;
}

static bool put_pair(proposal *p, const cst__pair *pair, const cst__profile *values) {
  const cst__profile *column = cst__profiler_get(p->profiler, pair->column);
  cst_bytes lengths = name_of(column);
  cst_bytes name = name_of(values);
  return add_name(&p->taken, lengths, 0) && add_name(&p->taken, name, 0) &&
         (pair->kind == CST__PAIR_INDEXES ? put_sparse(p, column, name)
                                          : put_ragged(p, name, NULL, name, &lengths));
}

static bool put_pairs(proposal *p) {
  bool ok = true;
  for (size_t i = 0; i < cst__message_count(p->root, SCHEMA_FEATURE) && ok; i++) {
    const cst__message *feature = nth(p->root, SCHEMA_FEATURE, i);
    const cst__profile *profile =
        cst__profiler_find(p->profiler, cst__message_bytes(feature, FEATURE_NAME));
    bool is_free = makes_tensors(feature, profile) && !has_name(&p->taken, name_of(profile));
    const cst__pair *pair = is_free ? find_pair(p, profile) : NULL;
    ok = pair == NULL || put_pair(p, pair, profile);
  }
  return ok;
}

/* ---- tensors of one column ---- */

/* Leaves of a struct are ragged, as they are without a group. */
static bool put_leaves(proposal *p, const cst__message *feature, const cst__profile *profile) {
  const cst__message *domain = cst__message_child(feature, FEATURE_STRUCT_DOMAIN);
  cst_bytes parent = name_of(profile);
  bool ok = true;
  for (size_t i = 0; i < cst__message_count(domain, STRUCT_DOMAIN_FEATURE) && ok; i++) {
    const cst__message *leaf = nth(domain, STRUCT_DOMAIN_FEATURE, i);
    cst_bytes column = cst__message_bytes(leaf, FEATURE_NAME);
    if (!makes_tensors(leaf, cst__profiler_find(profile->parts, column))) {
      continue;
    }
    size_t size = parent.size + 1 + column.size;
    char *name = cst__arena_take(p->arena, size);
    if (name == NULL) {
      return false;
    }
    memcpy(name, parent.data, parent.size);
    name[parent.size] = '.';
    memcpy(name + parent.size + 1, column.data, column.size);
    cst_bytes tensor = {(const uint8_t *)name, size};
    ok = has_name(&p->features, tensor) || has_name(&p->tensors, tensor) ||
         put_ragged(p, tensor, &parent, column, NULL);
  }
  return ok;
}

static bool put_tensors(proposal *p, const cst__message *feature) {
  const cst__profile *profile =
      cst__profiler_find(p->profiler, cst__message_bytes(feature, FEATURE_NAME));
  cst_bytes name = name_of(profile);
  int64_t count = fixed_count(feature);
  if (type_of(feature) == CST_FEATURE_STRUCT) {
    return put_leaves(p, feature, profile);
  }
  if (!makes_tensors(feature, profile) || has_name(&p->taken, name)) {
    return true;
  }
  if (count > 0 || is_single(feature)) {
    return put_dense(p, profile, type_of(feature), count > 0 ? count : 1, count <= 0);
  }
  return put_varlen(p, name);
}

static bool put_group(proposal *p) {
  const char *name = p->options->group;
  cst__message *entry = cst__message_put_child(p->arena, p->root, SCHEMA_GROUP);
  if (entry == NULL || !cst__message_put_bytes(p->arena, entry, ENTRY_KEY, name, strlen(name))) {
    return false;
  }
  p->group = cst__message_put_child(p->arena, entry, ENTRY_VALUE);
  bool ok = p->group != NULL && put_pairs(p);
  for (size_t i = 0; i < cst__message_count(p->root, SCHEMA_FEATURE) && ok; i++) {
    ok = put_tensors(p, nth(p->root, SCHEMA_FEATURE, i));
  }
  return ok;
}

/* ---- the whole ---- */

static bool extend(proposal *p) {
  bool ok = true;
  for (size_t i = 0; i < cst__message_count(p->root, SCHEMA_FEATURE) && ok; i++) {
    ok = add_name(&p->features, cst__message_bytes(nth(p->root, SCHEMA_FEATURE, i), FEATURE_NAME),
                  i);
  }
  ok = ok && describe(p, p->root, SCHEMA_FEATURE, p->profiler) && put_group(p);
  cst__name_map_reset(&p->features);
  cst__name_map_reset(&p->taken);
  cst__name_map_reset(&p->tensors);
  return ok;
}

/* From the bytes of the inferred schema to those of the proposed one. */
static cst_status extend_bytes(proposal *p, cst_bytes inferred, char **bytes, size_t *size,
                               cst_error *error) {
  cst__wire_out wire = {0};
  p->root = cst__message_new(p->arena, cst__schema_def);
  if (p->root == NULL) {
    return cst__fail_memory(error, sizeof *p->root);
  }
  CST__TRY(cst__message_merge(p->arena, p->root, inferred, CST__DEPTH_LIMIT, error));
  if (!extend(p)) {
    return cst__fail_memory(error, inferred.size);
  }
  cst__message_put_wire(p->root, &wire);
  return cst__wire_out_finish(&wire, bytes, size, error);
}

static cst_status propose(const void *inference, const cst__profiler *profiler,
                          const cst_propose_options *options, cst_schema **out, cst_error *error) {
  cst_schema *inferred;
  char *bytes = NULL;
  char *proposed = NULL;
  size_t size;
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  proposal p = {.options = options, .profiler = profiler, .arena = &arena};
  CST__TRY(cst__inference.finish(inference, &inferred, error));
  cst_status status = cst__schema_write_binary(inferred, &bytes, &size, error);
  cst__schema_release(inferred);
  if (status == CST_OK) {
    cst_bytes whole = {(const uint8_t *)bytes, size};
    status = extend_bytes(&p, whole, &proposed, &size, error);
  }
  if (status == CST_OK) {
    status = cst__schema_parse_binary(proposed, size, out, error);
  }
  cst_free(bytes);
  cst_free(proposed);
  cst__arena_reset(&arena);
  return status;
}

/* What is counted during the survey. */
typedef struct counts {
  void *inference;
  cst__profiler *profiler;
} counts;

static cst_status add_batch(void *ctx, const cst__survey *at, const struct ArrowSchema *schema,
                            const struct ArrowArray *batch, cst_error *error) {
  counts *c = ctx;
  cst__survey_origin origin;
  CST__TRY(cst__accumulator_add(&cst__inference, c->inference, schema, batch,
                                cst__survey_origin_init(&origin, at), error));
  return cst__profiler_add(c->profiler, schema, batch, error);
}

static cst_status survey(cst_source *source, counts *c, const cst_propose_options *options,
                         cst_error *error) {
  cst__survey_options own = {.on_batch = add_batch,
                             .ctx = c,
                             .on_progress = options->on_progress,
                             .progress_ctx = options->progress_ctx,
                             .work = "the proposal"};
  CST__TRY(cst__inference.create(NULL, &source->allocator, &c->inference, error));
  CST__TRY(cst__profiler_new(&source->allocator, options->max_domain, &c->profiler, error));
  return cst__source_survey(source, &own, error);
}

cst_status cst__source_propose(cst_source *source, const cst_propose_options *options,
                               cst_schema **out, cst_error *error) {
  counts c = {NULL, NULL};
  CST__TRY(cst__source_check_survey(source, "propose a schema from", error));
  CST__TRY(cst__source_acquire_all(source, error));
  cst_status status = survey(source, &c, options, error);
  if (status == CST_OK) {
    status = propose(c.inference, c.profiler, options, out, error);
  }
  cst__inference.free(c.inference);
  cst__profiler_free(c.profiler);
  return status;
}
