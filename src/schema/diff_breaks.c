/* Which changes of a schema break: what fits the first one may not fit the second, or makes other
 * tensors.
 *
 * Source: the comments of tensorflow_metadata/proto/v0/schema.proto (what absent limits mean).
 */
#include <math.h>

#include "schema/diff_breaks.h"
#include "schema/internal.h"

bool cst__breaks_always(const cst__message *before, const cst__message *after) {
  (void)before;
  (void)after;
  return true;
}

bool cst__breaks_use(const cst__message *before, const cst__message *after) {
  return cst__is_in_use(before, FEATURE_DEPRECATED, FEATURE_LIFECYCLE_STAGE) !=
         cst__is_in_use(after, FEATURE_DEPRECATED, FEATURE_LIFECYCLE_STAGE);
}

bool cst__breaks_sparse_use(const cst__message *before, const cst__message *after) {
  return cst__is_in_use(before, SPARSE_DEPRECATED, SPARSE_LIFECYCLE_STAGE) !=
         cst__is_in_use(after, SPARSE_DEPRECATED, SPARSE_LIFECYCLE_STAGE);
}

/* ---- limits that may be absent ---- */

static int64_t int_of(const cst__message *message, int32_t number, int64_t absent) {
  return message != NULL ? cst__message_int(message, number, absent) : absent;
}

/* NaN limits nothing. */
static double double_of(const cst__message *message, int32_t number, double absent) {
  double value = message != NULL ? cst__message_double(message, number, absent) : absent;
  return isnan(value) ? absent : value;
}

/* True if the limits leave less room. */
static bool is_tighter(const cst__message *before, const cst__message *after, int32_t min,
                       int32_t max, int64_t lowest) {
  return int_of(after, min, lowest) > int_of(before, min, lowest) ||
         int_of(after, max, INT64_MAX) < int_of(before, max, INT64_MAX);
}

bool cst__breaks_value_count(const cst__message *before, const cst__message *after) {
  return is_tighter(cst__message_child(before, FEATURE_VALUE_COUNT),
                    cst__message_child(after, FEATURE_VALUE_COUNT), VALUE_COUNT_MIN,
                    VALUE_COUNT_MAX, 0);
}

bool cst__breaks_value_counts(const cst__message *before, const cst__message *after) {
  const cst__message *old = cst__message_child(before, FEATURE_VALUE_COUNTS);
  const cst__message *now = cst__message_child(after, FEATURE_VALUE_COUNTS);
  const cst__field *levels = now != NULL ? cst__message_find(now, VALUE_COUNTS_VALUE_COUNT) : NULL;
  const cst__field *olds = old != NULL ? cst__message_find(old, VALUE_COUNTS_VALUE_COUNT) : NULL;
  bool breaks = olds != NULL && levels != NULL && olds->count != levels->count;
  for (size_t i = 0; levels != NULL && i < levels->count && !breaks; i++) {
    breaks = is_tighter(olds != NULL ? cst__nth_message(olds, i) : NULL,
                        cst__nth_message(levels, i), VALUE_COUNT_MIN, VALUE_COUNT_MAX, 0);
  }
  return breaks;
}

bool cst__breaks_unique(const cst__message *before, const cst__message *after) {
  return is_tighter(cst__message_child(before, FEATURE_UNIQUE_CONSTRAINTS),
                    cst__message_child(after, FEATURE_UNIQUE_CONSTRAINTS), UNIQUE_MIN, UNIQUE_MAX,
                    0);
}

/* ---- shapes ---- */

/* Sizes alone: the names of the dims make no difference. */
bool cst__breaks_shape(const cst__message *before, const cst__message *after) {
  const cst__message *old = cst__message_child(before, FEATURE_SHAPE);
  const cst__message *now = cst__message_child(after, FEATURE_SHAPE);
  if (old == NULL || now == NULL) {
    return old != now;
  }
  const cst__field *old_dims = cst__message_find(old, SHAPE_DIM);
  const cst__field *dims = cst__message_find(now, SHAPE_DIM);
  size_t count = dims != NULL ? dims->count : 0;
  bool breaks = (old_dims != NULL ? old_dims->count : 0) != count;
  for (size_t i = 0; i < count && !breaks; i++) {
    breaks = cst__message_int(cst__nth_message(old_dims, i), DIM_SIZE, -1) !=
             cst__message_int(cst__nth_message(dims, i), DIM_SIZE, -1);
  }
  return breaks;
}

/* ---- presence ---- */

static double fraction_of(const cst__message *presence) {
  return double_of(presence, PRESENCE_MIN_FRACTION, 0);
}

/* A fraction above 0 is a count of 1 in whatever data there is. */
static bool is_raised(const cst__message *before, const cst__message *after) {
  int64_t had = int_of(before, PRESENCE_MIN_COUNT, 0);
  int64_t has = int_of(after, PRESENCE_MIN_COUNT, 0);
  had = had < 1 && fraction_of(before) > 0 ? 1 : had;
  return fraction_of(after) > fraction_of(before) || has > had;
}

/* A feature of a fixed shape makes a tensor only if all records have it. */
bool cst__breaks_presence(const cst__message *before, const cst__message *after) {
  const cst__message *old = cst__message_child(before, FEATURE_PRESENCE);
  const cst__message *now = cst__message_child(after, FEATURE_PRESENCE);
  bool loses_tensor = cst__message_child(after, FEATURE_SHAPE) != NULL && fraction_of(old) >= 1 &&
                      fraction_of(now) < 1;
  return loses_tensor || is_raised(old, now);
}

bool cst__breaks_sparse_presence(const cst__message *before, const cst__message *after) {
  return is_raised(cst__message_child(before, SPARSE_PRESENCE),
                   cst__message_child(after, SPARSE_PRESENCE));
}

bool cst__breaks_group_presence(const cst__message *before, const cst__message *after) {
  const cst__message *old = cst__message_child(before, FEATURE_GROUP_PRESENCE);
  const cst__message *now = cst__message_child(after, FEATURE_GROUP_PRESENCE);
  return int_of(now, GROUP_PRESENCE_REQUIRED, 0) > int_of(old, GROUP_PRESENCE_REQUIRED, 0);
}

/* All dims are known. */
static bool is_fixed(const cst__message *shape) {
  const cst__field *dims = shape != NULL ? cst__message_find(shape, SHAPE_DIM) : NULL;
  bool fixed = shape != NULL;
  for (size_t i = 0; dims != NULL && i < dims->count && fixed; i++) {
    fixed = cst__message_int(cst__nth_message(dims, i), DIM_SIZE, -1) >= 0;
  }
  return fixed;
}

bool cst__is_required(const cst__message *feature) {
  const cst__message *presence = cst__message_child(feature, FEATURE_PRESENCE);
  const cst__message *group = cst__message_child(feature, FEATURE_GROUP_PRESENCE);
  return cst__is_in_use(feature, FEATURE_DEPRECATED, FEATURE_LIFECYCLE_STAGE) &&
         (is_raised(NULL, presence) || int_of(group, GROUP_PRESENCE_REQUIRED, 0) != 0 ||
          is_fixed(cst__message_child(feature, FEATURE_SHAPE)));
}

bool cst__breaks_sorted(const cst__message *before, const cst__message *after) {
  return int_of(after, SPARSE_IS_SORTED, 0) > int_of(before, SPARSE_IS_SORTED, 0);
}

/* ---- domains ---- */

/* min_domain_mass is 1 unless it is given. */
bool cst__breaks_domain_mass(const cst__message *before, const cst__message *after) {
  const cst__message *old = cst__message_child(before, FEATURE_DISTRIBUTION_CONSTRAINTS);
  const cst__message *now = cst__message_child(after, FEATURE_DISTRIBUTION_CONSTRAINTS);
  return double_of(now, DISTRIBUTION_MIN_DOMAIN_MASS, 1) >
         double_of(old, DISTRIBUTION_MIN_DOMAIN_MASS, 1);
}

static bool is_narrower_float(const cst__message *before, const cst__message *after) {
  return double_of(after, FLOAT_DOMAIN_MIN, -INFINITY) >
             double_of(before, FLOAT_DOMAIN_MIN, -INFINITY) ||
         double_of(after, FLOAT_DOMAIN_MAX, INFINITY) <
             double_of(before, FLOAT_DOMAIN_MAX, INFINITY) ||
         int_of(after, FLOAT_DOMAIN_DISALLOW_NAN, 0) >
             int_of(before, FLOAT_DOMAIN_DISALLOW_NAN, 0) ||
         int_of(after, FLOAT_DOMAIN_DISALLOW_INF, 0) > int_of(before, FLOAT_DOMAIN_DISALLOW_INF, 0);
}

bool cst__strings_add(cst__name_map *set, const cst__field *strings) {
  bool ok = true;
  for (size_t i = 0; strings != NULL && i < strings->count && ok; i++) {
    cst_bytes string = cst__nth_bytes(strings, i);
    const char *data = string.size > 0 ? (const char *)string.data : "";
    ok = cst__name_map_find(set, data, string.size) != SIZE_MAX ||
         cst__name_map_add(set, data, string.size, i);
  }
  return ok;
}

bool cst__strings_has(const cst__name_map *set, cst_bytes string) {
  const char *data = string.size > 0 ? (const char *)string.data : "";
  return cst__name_map_find(set, data, string.size) != SIZE_MAX;
}

/* A domain without values allows all of them. */
static bool is_narrower_string(const cst__message *before, const cst__message *after, bool *ok) {
  const cst__field *values = cst__message_find(before, STRING_DOMAIN_VALUE);
  bool has_values = values != NULL && values->count > 0;
  if (!has_values || cst__message_count(after, STRING_DOMAIN_VALUE) == 0) {
    *ok = true;
    return !has_values && cst__message_count(after, STRING_DOMAIN_VALUE) > 0;
  }
  cst__name_map allowed = {0};
  bool lacks = false;
  *ok = cst__strings_add(&allowed, cst__message_find(after, STRING_DOMAIN_VALUE));
  for (size_t i = 0; *ok && values != NULL && i < values->count && !lacks; i++) {
    lacks = !cst__strings_has(&allowed, cst__nth_bytes(values, i));
  }
  cst__name_map_reset(&allowed);
  return lacks;
}

bool cst__is_narrower(int32_t number, const cst__message *before, const cst__message *after,
                      bool *ok) {
  *ok = true;
  switch (number) {
    case FEATURE_INT_DOMAIN:
      return is_tighter(before, after, INT_DOMAIN_MIN, INT_DOMAIN_MAX, INT64_MIN);
    case FEATURE_FLOAT_DOMAIN:
      return is_narrower_float(before, after);
    case FEATURE_STRING_DOMAIN:
      return is_narrower_string(before, after, ok);
    default:
      return true; /* what the others allow is not known here */
  }
}
