/* Reading what a schema demands of values.
 */
#include "schema/domains.h"

#include <math.h>
#include <stdio.h>

#include "schema/internal.h"
#include "schema/schema.h"

/* ---- environments ---- */

static bool names(const cst__message *message, int32_t number, const char *environment) {
  const cst__field *field = cst__message_find(message, number);
  for (size_t i = 0; field != NULL && i < field->count; i++) {
    if (cst__bytes_equal(cst__nth_bytes(field, i), cst__bytes_of(environment))) {
      return true;
    }
  }
  return false;
}

bool cst__in_environment(const cst_schema *schema, const cst__message *feature,
                         const char *environment) {
  if (environment == NULL) {
    return true;
  }
  return !names(feature, FEATURE_NOT_IN_ENVIRONMENT, environment) &&
         (names(feature, FEATURE_IN_ENVIRONMENT, environment) ||
          names(schema->root, SCHEMA_DEFAULT_ENVIRONMENT, environment));
}

/* True if a feature, at any depth, names the environment. */
static bool is_domain_named(const cst__message *parent, int32_t number, const char *environment) {
  const cst__field *features = cst__message_find(parent, number);
  for (size_t i = 0; features != NULL && i < features->count; i++) {
    const cst__message *feature = cst__nth_message(features, i);
    const cst__message *parts = cst__message_child(feature, FEATURE_STRUCT_DOMAIN);
    if (names(feature, FEATURE_NOT_IN_ENVIRONMENT, environment) ||
        names(feature, FEATURE_IN_ENVIRONMENT, environment) ||
        (parts != NULL && is_domain_named(parts, STRUCT_DOMAIN_FEATURE, environment))) {
      return true;
    }
  }
  return false;
}

cst_status cst__check_environment(const cst_schema *schema, const char *environment,
                                  cst_error *error) {
  char name[64];
  if (environment == NULL || names(schema->root, SCHEMA_DEFAULT_ENVIRONMENT, environment) ||
      is_domain_named(schema->root, SCHEMA_FEATURE, environment)) {
    return CST_OK;
  }
  cst__escape(name, sizeof name, environment, strlen(environment));
  return cst__fail(error, CST_NOT_FOUND,
                   "environments are named by default_environment, in_environment and "
                   "not_in_environment",
                   "the schema has no environment '%s'", name);
}

/* ---- domains ---- */

typedef struct reader {
  const cst_schema *schema;
  const char *environment;
  cst__arena *arena;
  cst_error *error;
} reader;

static cst_status no_domain_memory(const reader *r) { return cst__fail_memory(r->error, 64); }

static void read_domain_int(const cst__message *domain, cst__domain *out) {
  out->kind = CST__DOMAIN_INT;
  out->has_min = cst__message_find(domain, INT_DOMAIN_MIN) != NULL;
  out->has_max = cst__message_find(domain, INT_DOMAIN_MAX) != NULL;
  out->int_min = cst__message_int(domain, INT_DOMAIN_MIN, INT64_MIN);
  out->int_max = cst__message_int(domain, INT_DOMAIN_MAX, INT64_MAX);
}

/* NaN is not a limit: nothing is below it. */
static bool read_limit(const cst__message *domain, int32_t number, double absent, double *out) {
  *out = cst__message_double(domain, number, absent);
  bool is_set = cst__message_find(domain, number) != NULL && !isnan(*out);
  *out = is_set ? *out : absent;
  return is_set;
}

static void read_float(const cst__message *domain, cst__domain *out) {
  out->kind = CST__DOMAIN_FLOAT;
  out->has_min = read_limit(domain, FLOAT_DOMAIN_MIN, -INFINITY, &out->float_min);
  out->has_max = read_limit(domain, FLOAT_DOMAIN_MAX, INFINITY, &out->float_max);
  out->disallow_nan = cst__message_int(domain, FLOAT_DOMAIN_DISALLOW_NAN, 0) != 0;
  out->disallow_inf = cst__message_int(domain, FLOAT_DOMAIN_DISALLOW_INF, 0) != 0;
}

static cst_status take_domain_values(const reader *r, size_t count, cst_bytes **out) {
  size_t size;
  *out = cst__mul(count + 1, sizeof **out, &size) ? cst__arena_take(r->arena, size) : NULL;
  return *out != NULL ? CST_OK : no_domain_memory(r);
}

static cst_status read_string(const reader *r, const cst__message *domain, cst__domain *out) {
  const cst__field *values = cst__message_find(domain, STRING_DOMAIN_VALUE);
  size_t count = values != NULL ? values->count : 0;
  cst_bytes *list;
  out->kind = count > 0 ? CST__DOMAIN_STRING : CST__DOMAIN_UTF8;
  CST__TRY(take_domain_values(r, count, &list));
  for (size_t i = 0; i < count; i++) {
    list[i] = cst__nth_bytes(values, i);
  }
  out->num_values = count;
  out->values = list;
  return CST_OK;
}

static cst_status read_domain_bool(const reader *r, const cst__message *domain, cst__domain *out) {
  static const int32_t numbers[] = {BOOL_DOMAIN_TRUE, BOOL_DOMAIN_FALSE};
  cst_bytes *list;
  out->kind = CST__DOMAIN_BOOL;
  CST__TRY(take_domain_values(r, 2, &list));
  for (size_t i = 0; i < 2; i++) {
    if (cst__message_find(domain, numbers[i]) != NULL) {
      list[out->num_values++] = cst__message_bytes(domain, numbers[i]);
    }
  }
  out->values = list;
  return CST_OK;
}

/* The domain of the schema with this name, in one of its lists. */
static const cst__message *find_global_domain(const cst_schema *schema, int32_t number,
                                              cst_bytes name) {
  const cst__field *domains = cst__message_find(schema->root, number);
  for (size_t i = 0; domains != NULL && i < domains->count; i++) {
    const cst__message *domain = cst__nth_message(domains, i);
    if (cst__bytes_equal(cst__message_bytes(domain, DOMAIN_NAME), name)) {
      return domain;
    }
  }
  return NULL;
}

/* What stands in the feature itself, or what its `domain:` names. */
typedef struct found {
  const cst__message *ints, *floats, *strings;
} found;

static cst_status find_domain(const reader *r, const cst__message *feature, found *out,
                              cst_bytes *name) {
  *out = (found){cst__message_child(feature, FEATURE_INT_DOMAIN),
                 cst__message_child(feature, FEATURE_FLOAT_DOMAIN),
                 cst__message_child(feature, FEATURE_STRING_DOMAIN)};
  if (cst__message_find(feature, FEATURE_DOMAIN) == NULL) {
    return CST_OK;
  }
  *name = cst__message_bytes(feature, FEATURE_DOMAIN);
  *out = (found){find_global_domain(r->schema, SCHEMA_INT_DOMAIN, *name),
                 find_global_domain(r->schema, SCHEMA_FLOAT_DOMAIN, *name),
                 find_global_domain(r->schema, SCHEMA_STRING_DOMAIN, *name)};
  if (out->ints != NULL || out->floats != NULL || out->strings != NULL) {
    return CST_OK;
  }
  cst_bytes feature_name = cst__message_bytes(feature, FEATURE_NAME);
  cst_status status = cst__schema_fail(feature, r->error, "add a string_domain of that name",
                                       "the schema has no domain '%.*s'", NAME_ARGS(*name));
  cst__error_add_path(r->error, (const char *)feature_name.data, feature_name.size);
  return status;
}

static cst_status read_domain(const reader *r, const cst__message *feature, cst_feature_type type,
                              cst__domain *out) {
  const cst__message *bools = cst__message_child(feature, FEATURE_BOOL_DOMAIN);
  const cst__message *distribution = cst__message_child(feature, FEATURE_DISTRIBUTION_CONSTRAINTS);
  cst_bytes name = {NULL, 0};
  found f;
  *out = (cst__domain){.kind = CST__DOMAIN_NONE, .min_mass = 1};
  CST__TRY(find_domain(r, feature, &f, &name));
  if (distribution != NULL) {
    out->min_mass = cst__message_double(distribution, DISTRIBUTION_MIN_DOMAIN_MASS, 1);
  }
  out->name = name;
  if (bools != NULL && type != CST_FEATURE_STRUCT) {
    return read_domain_bool(r, bools, out);
  }
  if (type == CST_FEATURE_BYTES && f.strings != NULL) {
    return read_string(r, f.strings, out);
  }
  bool is_text = cst__message_find(feature, FEATURE_NATURAL_LANGUAGE_DOMAIN) != NULL ||
                 cst__message_find(feature, FEATURE_URL_DOMAIN) != NULL;
  if (type == CST_FEATURE_BYTES && is_text) {
    out->kind = CST__DOMAIN_UTF8;
  } else if (type == CST_FEATURE_INT && f.ints != NULL) {
    read_domain_int(f.ints, out);
  } else if (type == CST_FEATURE_FLOAT && f.floats != NULL) {
    read_float(f.floats, out);
  }
  return CST_OK;
}

/* ---- the other rules ---- */

static cst__count_range read_range(const cst__message *count) {
  return (cst__count_range){cst__message_int(count, VALUE_COUNT_MIN, 0),
                            cst__message_int(count, VALUE_COUNT_MAX, INT64_MAX)};
}

static cst_status read_counts(const reader *r, const cst__message *message, cst__rules *out) {
  const cst__message *one = cst__message_child(message, FEATURE_VALUE_COUNT);
  const cst__message *list = cst__message_child(message, FEATURE_VALUE_COUNTS);
  const cst__field *many = list != NULL ? cst__message_find(list, VALUE_COUNTS_VALUE_COUNT) : NULL;
  size_t count = one != NULL ? 1 : many != NULL ? many->count : 0;
  size_t size;
  cst__count_range *ranges =
      cst__mul(count + 1, sizeof *ranges, &size) ? cst__arena_take(r->arena, size) : NULL;
  if (ranges == NULL) {
    return no_domain_memory(r);
  }
  for (size_t i = 0; i < count; i++) {
    ranges[i] = read_range(one != NULL ? one : cst__nth_message(many, i));
  }
  out->num_counts = count;
  out->counts = ranges;
  return CST_OK;
}

static void read_presence(const cst__message *message, cst__rules *out) {
  const cst__message *presence = cst__message_child(message, FEATURE_PRESENCE);
  if (presence != NULL) {
    out->min_fraction = cst__message_double(presence, PRESENCE_MIN_FRACTION, 0);
    out->min_count = cst__message_int(presence, PRESENCE_MIN_COUNT, 0);
    out->has_presence = out->min_fraction > 0 || out->min_count > 0;
  }
}

static cst_status read_path(const reader *r, const char *parent, cst__rules *out) {
  cst_error path = CST_ERROR_INIT; /* escapes and joins as errors do */
  cst__error_add_path(&path, out->feature->name, out->feature->name_size);
  size_t size = strlen(path.path);
  size_t above = parent != NULL ? strlen(parent) + 1 : 0;
  char *text = cst__arena_take(r->arena, above + size + 1);
  if (text == NULL) {
    return no_domain_memory(r);
  }
  if (parent != NULL) {
    memcpy(text, parent, above - 1);
    text[above - 1] = '.';
  }
  memcpy(text + above, path.path, size + 1);
  out->path = text;
  return CST_OK;
}

static cst_status read_domains(const reader *r, const cst__field *messages,
                               const cst_feature *features, size_t count, const char *path,
                               const cst__rules **out);

static cst_status read_one(const reader *r, const cst__message *message, const cst_feature *feature,
                           const char *path, cst__rules *out) {
  *out = (cst__rules){
      .feature = feature, .message = message, .shape_size = cst__feature_fixed_size(feature)};
  out->in_environment = cst__in_environment(r->schema, message, r->environment);
  CST__TRY(read_path(r, path, out));
  read_presence(message, out);
  CST__TRY(read_counts(r, message, out));
  CST__TRY(read_domain(r, message, feature->type, &out->domain));
  const cst__message *parts = cst__message_child(message, FEATURE_STRUCT_DOMAIN);
  out->num_children = parts != NULL ? feature->num_children : 0;
  return out->num_children == 0
             ? CST_OK
             : read_domains(r, cst__message_find(parts, STRUCT_DOMAIN_FEATURE), feature->children,
                            feature->num_children, out->path, &out->children);
}

/* Features and their messages, which are as many. */
static cst_status read_domains(const reader *r, const cst__field *messages,
                               const cst_feature *features, size_t count, const char *path,
                               const cst__rules **out) {
  size_t size;
  cst__rules *rules =
      cst__mul(count + 1, sizeof *rules, &size) ? cst__arena_take(r->arena, size) : NULL;
  if (rules == NULL) {
    return no_domain_memory(r);
  }
  for (size_t i = 0; i < count; i++) {
    CST__TRY(read_one(r, cst__nth_message(messages, i), &features[i], path, &rules[i]));
  }
  *out = rules;
  return CST_OK;
}

cst_status cst__rulebook_new(const cst_schema *schema, const char *environment,
                             const cst_allocator *allocator, cst__rulebook **out,
                             cst_error *error) {
  CST__TRY(cst__check_environment(schema, environment, error));
  cst__rulebook *book = cst__new_zero(allocator, sizeof *book);
  if (book == NULL) {
    return cst__fail_memory(error, sizeof *book);
  }
  cst__arena_init(&book->arena, allocator);
  book->schema = cst_schema_retain(schema);
  book->count = schema->num_features;
  reader r = {schema, environment, &book->arena, error};
  cst_status status = read_domains(&r, cst__message_find(schema->root, SCHEMA_FEATURE),
                                   schema->features, book->count, NULL, &book->rules);
  if (status != CST_OK) {
    cst__rulebook_free(book);
    return status;
  }
  *out = book;
  return CST_OK;
}

void cst__rulebook_free(cst__rulebook *book) {
  if (book != NULL) {
    cst_schema_release(book->schema);
    cst__arena_reset(&book->arena);
    cst__delete(book);
  }
}
