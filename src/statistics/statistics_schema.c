/* A schema of statistics: types, presence and numbers of values as inference writes them, and the
 * domains that values have been in.
 */
#include <columnstone/statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "proto/message.h"
#include "schema/descriptors.h"
#include "statistics/compare.h"

enum {
  MAX_DOMAIN = 100,
  MAX_DEPTH = 64,   /* of structs */
  WHOLE_BYTES = 256 /* of a frequent value that is told whole */
};

typedef struct drafting {
  const cst_findings *table;
  cst__arena *arena;
  size_t row; /* the next one */
  int depth;
} drafting;

/* All functions below return false if they are out of memory. */

static int64_t number_of(const drafting *d, const char *column) {
  const int64_t number = cst_findings_number(d->table, column, d->row);
  return number > 0 ? number : 0;
}

/* ---- types and counts ---- */

static cst_feature_type type_of(const drafting *d) {
  static const struct {
    const char *name;
    cst_feature_type type;
  } known[] = {{"BOOL", CST_FEATURE_INT},     {"INT", CST_FEATURE_INT},
               {"UINT", CST_FEATURE_INT},     {"FLOAT", CST_FEATURE_FLOAT},
               {"STRING", CST_FEATURE_BYTES}, {"BYTES", CST_FEATURE_BYTES},
               {"STRUCT", CST_FEATURE_STRUCT}};
  const char *name = cst_findings_text(d->table, "type", d->row);
  for (size_t i = 0; name != NULL && i < sizeof known / sizeof *known; i++) {
    if (strcmp(known[i].name, name) == 0 &&
        (number_of(d, "values") > 0 || known[i].type == CST_FEATURE_STRUCT)) {
      return known[i].type;
    }
  }
  return CST_FEATURE_UNKNOWN;
}

static bool put_presence(const drafting *d, cst__message *feature, bool is_known) {
  const int64_t present = is_known ? number_of(d, "present") : 0;
  cst__message *presence = cst__message_put_child(d->arena, feature, FEATURE_PRESENCE);
  const bool is_always = present > 0 && present == number_of(d, "rows");
  return presence != NULL &&
         (!is_always || cst__message_put_double(d->arena, presence, PRESENCE_MIN_FRACTION, 1)) &&
         cst__message_put_int(d->arena, presence, PRESENCE_MIN_COUNT, present > 0);
}

static bool put_range(const drafting *d, cst__message *parent, int32_t number, int64_t least,
                      int64_t most) {
  cst__message *counts = cst__message_put_child(d->arena, parent, number);
  return counts != NULL && cst__message_put_int(d->arena, counts, VALUE_COUNT_MIN, least) &&
         cst__message_put_int(d->arena, counts, VALUE_COUNT_MAX, most);
}

/* A single value counts as a list of one, but in a struct, where lists have a range for each level.
 */
static bool put_counts(const drafting *d, cst__message *feature, bool in_struct) {
  size_t begin, end;
  (void)cst_findings_items(d->table, "levels", d->row, &begin, &end);
  const bool has_lists = begin < end;
  const int64_t least = has_lists ? cst_findings_number(d->table, "levels.min", begin) : 1;
  const int64_t most = has_lists ? cst_findings_number(d->table, "levels.max", begin) : 1;
  if (in_struct && !has_lists) {
    return true;
  }
  if (in_struct || end - begin > 1) {
    cst__message *counts = cst__message_put_child(d->arena, feature, FEATURE_VALUE_COUNTS);
    bool ok = counts != NULL;
    for (size_t i = begin; ok && i < end; i++) {
      ok = put_range(d, counts, VALUE_COUNTS_VALUE_COUNT,
                     cst_findings_number(d->table, "levels.min", i),
                     cst_findings_number(d->table, "levels.max", i));
    }
    return ok;
  }
  if (least == most && least > 0 && number_of(d, "present") == number_of(d, "rows")) {
    cst__message *shape = cst__message_put_child(d->arena, feature, FEATURE_SHAPE);
    cst__message *dim = shape != NULL ? cst__message_put_child(d->arena, shape, SHAPE_DIM) : NULL;
    return dim != NULL && cst__message_put_int(d->arena, dim, DIM_SIZE, least);
  }
  return put_range(d, feature, FEATURE_VALUE_COUNT, least, most);
}

/* ---- domains ---- */

static bool put_int_domain(const drafting *d, cst__message *feature) {
  const double least = cst_findings_real(d->table, "min", d->row);
  const double most = cst_findings_real(d->table, "max", d->row);
  const double exact = 9007199254740992.0; /* 2^53 */
  if (!(least >= -exact && most <= exact)) {
    return true;
  }
  cst__message *domain = cst__message_put_child(d->arena, feature, FEATURE_INT_DOMAIN);
  return domain != NULL && cst__message_put_int(d->arena, domain, INT_DOMAIN_MIN, (int64_t)least) &&
         cst__message_put_int(d->arena, domain, INT_DOMAIN_MAX, (int64_t)most);
}

/* Limits are floats: of doubles, those around them. */
static bool put_limit(const drafting *d, cst__message *domain, int32_t number, double limit,
                      float beyond) {
  const cst__field_def *def = cst__field_by_number(domain->def, number);
  float near = (float)limit;
  if (!isfinite(limit) || !isfinite(near)) {
    return true;
  }
  if (beyond < 0 ? (double)near > limit : (double)near < limit) {
    near = nextafterf(near, beyond);
  }
  return cst__message_put(d->arena, domain, def, (cst__value){.f = near});
}

static bool put_float_domain(const drafting *d, cst__message *feature) {
  const double least = cst_findings_real(d->table, "min", d->row);
  const double most = cst_findings_real(d->table, "max", d->row);
  if (!isfinite(least) && !isfinite(most)) {
    return true;
  }
  cst__message *domain = cst__message_put_child(d->arena, feature, FEATURE_FLOAT_DOMAIN);
  return domain != NULL && put_limit(d, domain, FLOAT_DOMAIN_MIN, least, -INFINITY) &&
         put_limit(d, domain, FLOAT_DOMAIN_MAX, most, INFINITY);
}

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Of text: its values, if all are told and they repeat themselves; else that it is text. */
static bool put_string_domain(const drafting *d, cst__message *feature) {
  const int64_t values = number_of(d, "values");
  size_t begin, end;
  double told = 0;
  (void)cst_findings_items(d->table, "top", d->row, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    told += cst_findings_real(d->table, "top.lower", i);
  }
  if (number_of(d, "not_utf8") > 0) {
    return true;
  }
  const size_t count = end - begin;
  const bool is_choice = told == (double)values && count <= MAX_DOMAIN &&
                         (int64_t)count <= values / 2 && number_of(d, "max_length") <= WHOLE_BYTES;
  if (!is_choice) {
    return true;
  }
  cst__message *domain = cst__message_put_child(d->arena, feature, FEATURE_STRING_DOMAIN);
  const char **sorted = cst__arena_take_items(d->arena, (int64_t)count, sizeof *sorted);
  bool ok = domain != NULL && sorted != NULL;
  for (size_t i = 0; ok && i < count; i++) {
    sorted[i] = cst_findings_text(d->table, "top.value", begin + i);
    sorted[i] = sorted[i] != NULL ? sorted[i] : "";
  }
  if (ok && count > 1) {
    qsort(sorted, count, sizeof *sorted, compare_texts);
  }
  for (size_t i = 0; ok && i < count; i++) {
    ok =
        cst__message_put_bytes(d->arena, domain, STRING_DOMAIN_VALUE, sorted[i], strlen(sorted[i]));
  }
  return ok;
}

static bool put_domain(const drafting *d, cst__message *feature, cst_feature_type type) {
  return type == CST_FEATURE_INT     ? put_int_domain(d, feature)
         : type == CST_FEATURE_FLOAT ? put_float_domain(d, feature)
         : type == CST_FEATURE_BYTES ? put_string_domain(d, feature)
                                     : true;
}

/* ---- features ---- */

/* True if the next row is a feature of all rows of the data, whose path begins so. */
static bool is_below(const drafting *d, const char *prefix, size_t size) {
  size_t begin, end;
  const char *path = cst_findings_text(d->table, "path", d->row);
  (void)cst_findings_items(d->table, "slice", d->row, &begin, &end);
  return path != NULL && begin == end && strncmp(path, prefix, size) == 0;
}

/* What lies in a struct comes after it, with its path and a dot before the names. */
static bool put_features(drafting *d, cst__message *parent, int32_t number, const char *prefix);

static bool put_struct(drafting *d, cst__message *feature, const char *path) {
  cst__message *domain = cst__message_put_child(d->arena, feature, FEATURE_STRUCT_DOMAIN);
  const size_t size = strlen(path);
  char *prefix = cst__arena_take(d->arena, size + 2);
  if (domain == NULL || prefix == NULL) {
    return false;
  }
  (void)snprintf(prefix, size + 2, "%s.", path);
  d->row++;
  d->depth++;
  const bool ok = put_features(d, domain, STRUCT_DOMAIN_FEATURE, prefix);
  d->depth--;
  return ok;
}

static bool put_features(drafting *d, cst__message *parent, int32_t number, const char *prefix) {
  const size_t size = strlen(prefix);
  bool ok = true;
  while (ok && d->row < cst_findings_num_rows(d->table) && is_below(d, prefix, size)) {
    const char *path = cst_findings_text(d->table, "path", d->row);
    const char *name = path + size;
    const cst_feature_type type = type_of(d);
    cst__message *feature = cst__message_put_child(d->arena, parent, number);
    const bool is_known = type != CST_FEATURE_UNKNOWN;
    ok = feature != NULL &&
         cst__message_put_bytes(d->arena, feature, FEATURE_NAME, name, strlen(name)) &&
         cst__message_put_int(d->arena, feature, FEATURE_TYPE, type) &&
         put_presence(d, feature, is_known);
    if (ok && type == CST_FEATURE_STRUCT && d->depth < MAX_DEPTH) {
      ok = put_struct(d, feature, path);
    } else if (ok) {
      ok = (!is_known || put_counts(d, feature, size > 0)) && put_domain(d, feature, type);
      d->row++;
    }
  }
  return ok;
}

cst_status cst_statistics_schema(const cst_findings *features, cst_schema **out, cst_error *error) {
  cst__arena arena;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(features, "features", out, error));
  CST__TRY(cst__check_features_table(features, error));
  cst__arena_init(&arena, NULL);
  drafting d = {features, &arena, 0, 0};
  cst__message *root = cst__message_new(&arena, cst__schema_def);
  cst__wire_out wire = {0};
  char *bytes;
  size_t size;
  cst_status status = root != NULL && put_features(&d, root, SCHEMA_FEATURE, "")
                          ? CST_OK
                          : cst__fail_memory(error, sizeof *root);
  if (status == CST_OK) {
    cst__message_put_wire(root, &wire);
    status = cst__wire_out_finish(&wire, &bytes, &size, error);
  }
  if (status == CST_OK) {
    status = cst_schema_from_bytes(bytes, size, out, error);
    cst_free(bytes);
  }
  cst__arena_reset(&arena);
  return status;
}
