/* Proposals: the inferred schema, with what the profiles say of values, and a group of tensors that
 * every record fits.
 *
 * Sources: tensorflow_metadata/proto/v0/schema.proto (domains, annotations, sparse features); RFC
 * "TFXIO schema interpretation" (what each representation demands of every record).
 */
#include "validate/proposal.h"

#include <math.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/bytes.h"
#include "proto/message.h"
#include "schema/descriptors.h"
#include "schema/inference.h"
#include "source/scan/fold.h"
#include "validate/profile.h"

typedef struct drafting {
  const cst_propose_options *options;
  const cst__profiler *profiler;
  cst__arena *arena;
  cst__message *root;
  cst__message *group;    /* TensorRepresentationGroup */
  cst__name_map features; /* name -> number of its message */
  cst__name_map taken;    /* columns that are part of another one's tensor, or make one with it */
  cst__name_map tensors;  /* names */
} drafting;

/* All functions below return false if they are out of memory. */

static cst__message *nth_message(const cst__message *parent, int32_t number, size_t i) {
  return cst__message_find(parent, number)->as.many[i].message;
}

static cst_bytes profile_name(const cst__profile *profile) {
  return (cst_bytes){(const uint8_t *)profile->name, profile->name_size};
}

static bool put_name(const drafting *p, cst__message *message, int32_t number, cst_bytes name) {
  return cst__message_put_bytes(p->arena, message, number, name.data, name.size);
}

/* The names in a map are those of profiles, or lie in the arena. */
static const char *name_text(cst_bytes name) {
  return name.size > 0 ? (const char *)name.data : "";
}

static bool note_name(cst__name_map *map, cst_bytes name, size_t value) {
  return cst__name_map_add(map, name_text(name), name.size, value);
}

static bool knows_name(const cst__name_map *map, cst_bytes name) {
  return cst__name_map_find(map, name_text(name), name.size) != SIZE_MAX;
}

/* ---- what is known of a feature ---- */

/* What its values are like: nothing is known, if states that do not belong together were loaded. */
static const cst__profile *profile_of(const cst__profiler *profiler, const cst__message *feature) {
  static const cst__profile none = {.name = "", .first_pair = SIZE_MAX};
  cst_bytes name = cst__message_bytes(feature, FEATURE_NAME);
  const cst__profile *found = profiler != NULL ? cst__profiler_find(profiler, name) : NULL;
  return found != NULL ? found : &none;
}

/* The number of values that every record has; -1 if it varies. */
static int64_t fixed_count(const cst__message *feature) {
  const cst__message *shape = cst__message_child(feature, FEATURE_SHAPE);
  return shape != NULL ? cst__message_int(nth_message(shape, SHAPE_DIM, 0), DIM_SIZE, -1) : -1;
}

/* True if every record that has the feature has one value. */
static bool is_single(const cst__message *feature) {
  const cst__message *counts = cst__message_child(feature, FEATURE_VALUE_COUNT);
  return counts != NULL && cst__message_int(counts, VALUE_COUNT_MIN, 0) == 1 &&
         cst__message_int(counts, VALUE_COUNT_MAX, 0) == 1;
}

static cst_feature_type inferred_type(const cst__message *feature) {
  return (cst_feature_type)cst__message_int(feature, FEATURE_TYPE, CST_FEATURE_UNKNOWN);
}

/* True if a group can name it for a tensor: it has a type, no nulls inside of its lists, and a name
 * that is not empty. */
static bool makes_tensors(const cst__message *feature, const cst__profile *profile) {
  cst_feature_type type = inferred_type(feature);
  return type != CST_FEATURE_UNKNOWN && type != CST_FEATURE_STRUCT && !profile->has_nulls &&
         profile->name_size > 0;
}

/* ---- domains and annotations ---- */

static bool put_float_limit(const drafting *p, cst__message *message, int32_t number, float value) {
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

static int compare_domain_values(const void *a, const void *b) {
  return cst__bytes_compare(*(const cst_bytes *)a, *(const cst_bytes *)b);
}

static bool put_domain_values(const drafting *p, cst__message *domain,
                              const cst__few_strings *strings) {
  size_t size = strings->count * sizeof *strings->items;
  cst_bytes *sorted = cst__new(&p->arena->allocator, size);
  bool ok = sorted != NULL;
  if (ok) {
    memcpy(sorted, strings->items, size);
    qsort(sorted, strings->count, sizeof *sorted, compare_domain_values);
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

static bool put_domain(const drafting *p, cst__message *feature, const cst__profile *profile) {
  cst__message *domain;
  if (profile->ints.any && !profile->is_beyond) {
    domain = cst__message_put_child(p->arena, feature, FEATURE_INT_DOMAIN);
    return domain != NULL &&
           cst__message_put_int(p->arena, domain, INT_DOMAIN_MIN, profile->ints.min) &&
           cst__message_put_int(p->arena, domain, INT_DOMAIN_MAX, profile->ints.max);
  }
  if (profile->floats.any && (isfinite(profile->floats.min) || isfinite(profile->floats.max))) {
    domain = cst__message_put_child(p->arena, feature, FEATURE_FLOAT_DOMAIN);
    return domain != NULL &&
           put_float_limit(p, domain, FLOAT_DOMAIN_MIN, float_below(profile->floats.min)) &&
           put_float_limit(p, domain, FLOAT_DOMAIN_MAX, float_above(profile->floats.max));
  }
  if (is_choice(profile)) {
    domain = cst__message_put_child(p->arena, feature, FEATURE_STRING_DOMAIN);
    return domain != NULL && put_domain_values(p, domain, &profile->strings);
  }
  return true;
}

/* How the only value of each record goes on from record to record; NULL: in no way. */
static const char *course_of(const cst__message *feature, const cst__profile *profile) {
  bool has_numbers =
      (profile->ints.any || profile->floats.any) && !profile->has_nan && !profile->is_beyond;
  if (fixed_count(feature) != 1 || profile->count < 2 || profile->has_nulls) {
    return NULL;
  }
  if (has_numbers && profile->rises != profile->falls) {
    return profile->rises ? "increasing" : "decreasing";
  }
  bool is_constant = has_numbers ? !profile->rises && !profile->falls : profile->strings.count == 1;
  return is_constant ? "constant" : NULL;
}

static bool put_course(const drafting *p, cst__message *feature, const cst__profile *profile) {
  const char *course = course_of(feature, profile);
  if (course == NULL) {
    return true;
  }
  cst__message *annotation = cst__message_put_child(p->arena, feature, FEATURE_ANNOTATION);
  return annotation != NULL &&
         cst__message_put_bytes(p->arena, annotation, ANNOTATION_TAG, course, strlen(course));
}

/* No tensor has a place for the nulls inside of lists, and the rules would make one. */
static bool put_stage(const drafting *p, cst__message *feature, const cst__profile *profile) {
  return !profile->has_nulls ||
         cst__message_put_int(p->arena, feature, FEATURE_LIFECYCLE_STAGE, STAGE_DISABLED);
}

static bool describe_features(const drafting *p, cst__message *parent, int32_t number,
                              const cst__profiler *profiler) {
  bool ok = true;
  for (size_t i = 0; i < cst__message_count(parent, number) && ok; i++) {
    cst__message *feature = nth_message(parent, number, i);
    const cst__profile *profile = profile_of(profiler, feature);
    const cst__message *domain = cst__message_child(feature, FEATURE_STRUCT_DOMAIN);
    if (domain != NULL) {
      ok = describe_features(p, (cst__message *)(uintptr_t)domain, STRUCT_DOMAIN_FEATURE,
                             profile->parts);
    } else {
      ok = put_domain(p, feature, profile) && put_course(p, feature, profile) &&
           put_stage(p, feature, profile);
    }
  }
  return ok;
}

/* ---- tensors ---- */

/* A representation of this name; NULL if out of memory. */
static cst__message *put_tensor(drafting *p, cst_bytes name, int32_t kind) {
  cst__message *entry = cst__message_put_child(p->arena, p->group, GROUP_REPRESENTATION);
  if (entry == NULL || !put_name(p, entry, ENTRY_KEY, name) || !note_name(&p->tensors, name, 0)) {
    return NULL;
  }
  cst__message *tensor = cst__message_put_child(p->arena, entry, ENTRY_VALUE);
  return tensor != NULL ? cst__message_put_child(p->arena, tensor, kind) : NULL;
}

/* A shape of one dim, or of none for size -1. */
static bool propose_shape(const drafting *p, cst__message *tensor, int32_t number, int64_t size) {
  cst__message *shape = cst__message_put_child(p->arena, tensor, number);
  if (shape == NULL || size < 0) {
    return shape != NULL;
  }
  cst__message *dim = cst__message_put_child(p->arena, shape, SHAPE_DIM);
  return dim != NULL && cst__message_put_int(p->arena, dim, DIM_SIZE, size);
}

static bool put_default_value(const drafting *p, cst__message *dense, cst_feature_type type,
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
static bool put_dense(drafting *p, const cst__profile *profile, cst_feature_type type,
                      int64_t count, bool has_default) {
  cst_bytes name = profile_name(profile);
  cst__message *dense = put_tensor(p, name, REPRESENTATION_DENSE);
  return dense != NULL && put_name(p, dense, DENSE_COLUMN, name) &&
         propose_shape(p, dense, DENSE_SHAPE, count == 1 ? -1 : count) &&
         (!has_default || put_default_value(p, dense, type, profile->is_unsigned));
}

/* The values at a path; parent and lengths may be NULL. */
static bool put_ragged(drafting *p, cst_bytes tensor, const cst_bytes *parent, cst_bytes column,
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

static bool put_varlen(drafting *p, cst_bytes name) {
  if (p->options->ragged) {
    return put_ragged(p, name, NULL, name, NULL);
  }
  cst__message *varlen = put_tensor(p, name, REPRESENTATION_VARLEN);
  return varlen != NULL && put_name(p, varlen, VARLEN_COLUMN, name);
}

/* ---- tensors of two columns ---- */

/* What the names of index and values begin with, if nothing else is called so; else the name of the
 * values, whose own tensor this one replaces. */
static cst_bytes sparse_name(const drafting *p, cst_bytes index, cst_bytes values) {
  cst_bytes stem = {values.data, 0};
  while (stem.size < index.size && stem.size < values.size &&
         index.data[stem.size] == values.data[stem.size]) {
    stem.size++;
  }
  while (stem.size > 0 && strchr("_/.-", stem.data[stem.size - 1]) != NULL) {
    stem.size--;
  }
  bool is_free = stem.size > 0 && !knows_name(&p->features, stem) && !knows_name(&p->tensors, stem);
  return is_free ? stem : values;
}

static bool put_part(const drafting *p, cst__message *sparse, int32_t number, cst_bytes column) {
  cst__message *part = cst__message_put_child(p->arena, sparse, number);
  return part != NULL && put_name(p, part, SPARSE_PART_NAME, column);
}

/* The int_domain of a feature at the top; NULL: it has none. */
static cst__message *find_int_domain(const drafting *p, cst_bytes name) {
  size_t at = cst__name_map_find(&p->features, name_text(name), name.size);
  const cst__message *domain =
      at != SIZE_MAX
          ? cst__message_child(nth_message(p->root, SCHEMA_FEATURE, at), FEATURE_INT_DOMAIN)
          : NULL;
  return (cst__message *)(uintptr_t)domain;
}

static bool put_sparse(drafting *p, const cst__profile *index, cst_bytes values) {
  cst_bytes column = profile_name(index);
  cst_bytes name = sparse_name(p, column, values);
  cst__message *sparse = cst__message_put_child(p->arena, p->root, SCHEMA_SPARSE_FEATURE);
  if (sparse == NULL || !put_name(p, sparse, SPARSE_NAME, name) ||
      !put_part(p, sparse, SPARSE_INDEX, column) ||
      !cst__message_put_int(p->arena, sparse, SPARSE_IS_SORTED, 1) ||
      !put_part(p, sparse, SPARSE_VALUE,
                values) || /* An index begins at 0, as its sparse feature wants it. */
      !cst__message_put_int(p->arena, find_int_domain(p, column), INT_DOMAIN_MIN, 0)) {
    return false;
  }
  cst__message *tensor = put_tensor(p, name, REPRESENTATION_SPARSE);
  return tensor != NULL && propose_shape(p, tensor, SPARSE_TENSOR_SHAPE, index->ints.max + 1) &&
         put_name(p, tensor, SPARSE_TENSOR_INDEX_COLUMNS, column) &&
         put_name(p, tensor, SPARSE_TENSOR_VALUE_COLUMN, values) &&
         cst__message_put_int(p->arena, tensor, SPARSE_TENSOR_SORTED, 1);
}

/* The pair that goes best with the values: indexes before lengths, and more usual names first. */
static const cst__pair *find_pair(const drafting *p, const cst__profile *values) {
  const cst__pair *best = NULL;
  for (size_t i = values->first_pair; i != SIZE_MAX; i = cst__profiler_pair(p->profiler, i)->next) {
    const cst__pair *pair = cst__profiler_pair(p->profiler, i);
    const cst__profile *column = cst__profiler_get(p->profiler, pair->column);
    bool fits = pair->holds && pair->proven && !knows_name(&p->taken, profile_name(column)) &&
                column->ints.max < INT64_MAX && find_int_domain(p, profile_name(column)) != NULL &&
                !column->has_nulls;
    if (fits && (best == NULL || pair->kind < best->kind ||
                 (pair->kind == best->kind && pair->rank < best->rank))) {
      best = pair;
    }
  }
  return best;
}

static bool put_pair(drafting *p, const cst__pair *pair, const cst__profile *values) {
  const cst__profile *column = cst__profiler_get(p->profiler, pair->column);
  cst_bytes lengths = profile_name(column);
  cst_bytes name = profile_name(values);
  return note_name(&p->taken, lengths, 0) && note_name(&p->taken, name, 0) &&
         (pair->kind == CST__PAIR_INDEXES ? put_sparse(p, column, name)
                                          : put_ragged(p, name, NULL, name, &lengths));
}

static bool put_pairs(drafting *p) {
  bool ok = true;
  for (size_t i = 0; i < cst__message_count(p->root, SCHEMA_FEATURE) && ok; i++) {
    const cst__message *feature = nth_message(p->root, SCHEMA_FEATURE, i);
    const cst__profile *profile = profile_of(p->profiler, feature);
    bool is_free = makes_tensors(feature, profile) && !knows_name(&p->taken, profile_name(profile));
    const cst__pair *pair = is_free ? find_pair(p, profile) : NULL;
    ok = pair == NULL || put_pair(p, pair, profile);
  }
  return ok;
}

/* ---- tensors of one column ---- */

/* Leaves of a struct are ragged, as they are without a group. */
static bool put_leaves(drafting *p, const cst__message *feature, const cst__profile *profile) {
  const cst__message *domain = cst__message_child(feature, FEATURE_STRUCT_DOMAIN);
  cst_bytes parent = profile_name(profile);
  bool ok = true;
  for (size_t i = 0; i < cst__message_count(domain, STRUCT_DOMAIN_FEATURE) && ok; i++) {
    const cst__message *leaf = nth_message(domain, STRUCT_DOMAIN_FEATURE, i);
    cst_bytes column = cst__message_bytes(leaf, FEATURE_NAME);
    if (!makes_tensors(leaf, profile_of(profile->parts, leaf))) {
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
    ok = knows_name(&p->features, tensor) || knows_name(&p->tensors, tensor) ||
         put_ragged(p, tensor, &parent, column, NULL);
  }
  return ok;
}

static bool put_tensors(drafting *p, const cst__message *feature) {
  const cst__profile *profile = profile_of(p->profiler, feature);
  cst_bytes name = profile_name(profile);
  int64_t count = fixed_count(feature);
  if (inferred_type(feature) == CST_FEATURE_STRUCT) {
    return put_leaves(p, feature, profile);
  }
  if (!makes_tensors(feature, profile) || knows_name(&p->taken, name)) {
    return true;
  }
  if (count > 0 || is_single(feature)) {
    return put_dense(p, profile, inferred_type(feature), count > 0 ? count : 1, count <= 0);
  }
  return put_varlen(p, name);
}

static bool put_group(drafting *p) {
  const char *name = p->options->group;
  cst__message *entry = cst__message_put_child(p->arena, p->root, SCHEMA_GROUP);
  if (entry == NULL || !cst__message_put_bytes(p->arena, entry, ENTRY_KEY, name, strlen(name))) {
    return false;
  }
  p->group = cst__message_put_child(p->arena, entry, ENTRY_VALUE);
  bool ok = p->group != NULL && put_pairs(p);
  for (size_t i = 0; i < cst__message_count(p->root, SCHEMA_FEATURE) && ok; i++) {
    ok = put_tensors(p, nth_message(p->root, SCHEMA_FEATURE, i));
  }
  return ok;
}

/* ---- the whole ---- */

static bool extend_schema(drafting *p) {
  bool ok = true;
  for (size_t i = 0; i < cst__message_count(p->root, SCHEMA_FEATURE) && ok; i++) {
    ok = note_name(&p->features,
                   cst__message_bytes(nth_message(p->root, SCHEMA_FEATURE, i), FEATURE_NAME), i);
  }
  ok = ok && describe_features(p, p->root, SCHEMA_FEATURE, p->profiler) && put_group(p);
  cst__name_map_reset(&p->features);
  cst__name_map_reset(&p->taken);
  cst__name_map_reset(&p->tensors);
  return ok;
}

/* From the bytes of the inferred schema to those of the proposed one. */
static cst_status extend_schema_bytes(drafting *p, cst_bytes inferred, char **bytes, size_t *size,
                                      cst_error *error) {
  cst__wire_out wire = {0};
  p->root = cst__message_new(p->arena, cst__schema_def);
  if (p->root == NULL) {
    return cst__fail_memory(error, sizeof *p->root);
  }
  CST__TRY(cst__message_merge(p->arena, p->root, inferred, CST__DEPTH_LIMIT, error));
  if (!extend_schema(p)) {
    return cst__fail_memory(error, inferred.size);
  }
  cst__message_put_wire(p->root, &wire);
  return cst__wire_out_finish(&wire, bytes, size, error);
}

static cst_status propose_schema(const void *inference, const cst__profiler *profiler,
                                 const cst_propose_options *options, cst_schema **out,
                                 cst_error *error) {
  cst_schema *inferred;
  char *bytes = NULL;
  char *proposed = NULL;
  size_t size;
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  drafting p = {.options = options, .profiler = profiler, .arena = &arena};
  CST__TRY(cst__inference_accumulator.finish_schema(inference, &inferred, error));
  cst_status status = cst_schema_to_bytes(inferred, &bytes, &size, error);
  cst_schema_release(inferred);
  if (status == CST_OK) {
    cst_bytes whole = {(const uint8_t *)bytes, size};
    status = extend_schema_bytes(&p, whole, &proposed, &size, error);
  }
  if (status == CST_OK) {
    status = cst_schema_from_bytes(proposed, size, out, error);
  }
  cst_free(bytes);
  cst_free(proposed);
  cst__arena_reset(&arena);
  return status;
}

/* ---- the accumulator ---- */

typedef struct proposal_state {
  const cst_propose_options *options;
  cst_allocator allocator;
  void *inference;
  cst__profiler *profiler;
} proposal_state;

static void proposal_free(void *ctx) {
  proposal_state *state = ctx;
  if (state != NULL) {
    cst__inference_accumulator.free(state->inference);
    cst__profiler_free(state->profiler);
    cst__delete(state);
  }
}

static cst_status proposal_create(const void *plan, const cst_allocator *allocator, void **out,
                                  cst_error *error) {
  proposal_state *state = cst__new_zero(allocator, sizeof *state);
  if (state == NULL) {
    return cst__fail_memory(error, sizeof *state);
  }
  state->options = plan;
  state->allocator = cst__allocator_of(allocator);
  cst_status status = cst__inference_accumulator.create(NULL, allocator, &state->inference, error);
  if (status == CST_OK) {
    status = cst__profiler_new(allocator, state->options->max_domain, &state->profiler, error);
  }
  if (status != CST_OK) {
    proposal_free(state);
    return status;
  }
  *out = state;
  return CST_OK;
}

static cst_status proposal_add(void *ctx, const cst__view *batch, const cst__origin *origin,
                               cst_error *error) {
  proposal_state *state = ctx;
  CST__TRY(cst__inference_accumulator.add(state->inference, batch, origin, error));
  return cst__profiler_add(state->profiler, batch, error);
}

static cst_status proposal_merge(void *ctx, const void *other, cst_error *error) {
  proposal_state *into = ctx;
  const proposal_state *from = other;
  CST__TRY(cst__inference_accumulator.merge(into->inference, from->inference, error));
  return cst__profiler_merge(into->profiler, from->profiler, error);
}

static bool proposal_restart(void *ctx) {
  proposal_state *state = ctx;
  void *inference;
  cst_status status = cst__inference_accumulator.create(NULL, &state->allocator, &inference, NULL);
  if (status == CST_OK) {
    cst__inference_accumulator.free(state->inference);
    state->inference = inference;
    cst__profiler_restart(state->profiler);
  }
  return status == CST_OK;
}

static void proposal_archive(void *ctx, cst__archive *a) {
  proposal_state *state = ctx;
  uint64_t max_domain = state->options->max_domain;
  cst__archive_u64(a, &max_domain);
  cst__archive_check(a, max_domain == state->options->max_domain);
  cst__inference_accumulator.archive(state->inference, a);
  cst__profiler_archive(state->profiler, a);
}

static cst_status proposal_schema(const void *ctx, cst_schema **out, cst_error *error) {
  const proposal_state *state = ctx;
  return propose_schema(state->inference, state->profiler, state->options, out, error);
}

static cst_status proposal_finish(const void *state, cst_findings **out, cst_error *error) {
  return cst__finish_features(proposal_schema, state, out, error);
}

/* ---- for callers ---- */

static const cst__option proposal_table[] = {
    {.info = {.name = "group",
              .kind = CST_OPTION_TEXT,
              .help = "name of the proposed tensor_representation_group"},
     .offset = offsetof(cst_propose_options, group)},
    {.info = {.name = "max_domain",
              .kind = CST_OPTION_NUMBER,
              .least = 1,
              .most = INT64_MAX,
              .usual = "100",
              .help = "largest string domain, in values"},
     .offset = offsetof(cst_propose_options, max_domain),
     .is_wide = true},
    {.info = {.name = "ragged",
              .kind = CST_OPTION_SWITCH,
              .help = "variable lengths become ragged, not sparse, tensors"},
     .offset = offsetof(cst_propose_options, ragged)}};
static const cst__option_table proposal_type = {"proposal", proposal_table, 3, sizeof(cst__option),
                                                sizeof(cst_propose_options)};

static void free_owned_proposal(const void *plan) {
  const cst_propose_options *options = plan;
  cst__delete((void *)(uintptr_t)options->group);
  cst__delete((void *)(uintptr_t)options);
}

static cst_status plan_proposal(const void *given, const cst_allocator *allocator,
                                cst__owned_plan *out, cst_error *error) {
  const cst_propose_options *options = given;
  const char *name = options->group != NULL ? options->group : "";
  cst_propose_options *owned = cst__new(allocator, sizeof *owned);
  char *group = cst__new_copy(allocator, name, strlen(name));
  if (owned == NULL || group == NULL) {
    cst__delete(owned);
    cst__delete(group);
    return cst__fail_memory(error, sizeof *owned);
  }
  *owned = *options;
  owned->group = group;
  out->plan = owned;
  out->free = free_owned_proposal;
  return CST_OK;
}

const cst__accumulator cst__proposal_accumulator = {
    .name = "proposal",
    .version = 2,
    .purpose = "propose a schema from",
    .summary = "the schema of the data, with domains and a group of tensors that fit every row",
    .options = &proposal_type,
    .plan = plan_proposal,
    .create = proposal_create,
    .free = proposal_free,
    .add = proposal_add,
    .merge = proposal_merge,
    .restart = proposal_restart,
    .archive = proposal_archive,
    .finish = proposal_finish,
    .finish_schema = proposal_schema};

enum { MAX_DOMAIN = 100 };

cst_status cst_source_propose(cst_source *source, const cst_propose_options *options,
                              cst_schema **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(source, "source", out, error));
  cst_propose_options own = CST_PROPOSE_OPTIONS_INIT;
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  own.max_domain = own.max_domain > 0 ? own.max_domain : MAX_DOMAIN;
  own.group = own.group != NULL ? own.group : "";
  const cst__accumulator *accumulator = &cst__proposal_accumulator;
  cst__fold_options fold = {
      .on_progress = own.on_progress, .progress_ctx = own.progress_ctx, .work = "the proposal"};
  void *state;
  CST__TRY(cst__source_acquire_for_fold(source, accumulator, error));
  CST__TRY(cst__source_fold_one(source, &fold, accumulator, &own, &state, error));
  cst_status status = accumulator->finish_schema(state, out, error);
  accumulator->free(state);
  return status;
}
