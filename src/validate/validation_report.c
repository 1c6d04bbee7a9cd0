/* From tallies to anomalies: what was found, what the schema says, and how to make both agree.
 */
#include "validate/validation_report.h"

#include <columnstone/validate.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

const char *cst__report_say(cst__report *report, const char *fmt, ...) {
  char text[1024];
  va_list args;
  va_start(args, fmt);
  int size = vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  size_t length = size < 0 ? 0 : (size_t)size < sizeof text ? (size_t)size : sizeof text - 1;
  const char *copy = cst__arena_copy(&report->words, text, length);
  report->failed = report->failed || copy == NULL;
  return copy != NULL ? copy : "";
}

void cst__report_add(cst__report *report, const cst__finding *finding, cst__anomaly anomaly) {
  cst_findings *out = report->out;
  cst__put_text(out, anomaly.kind);
  cst__put_text(out, anomaly.path);
  cst__put_text(out, anomaly.tensor);
  cst__put_text(out, anomaly.group);
  cst__put_text(out, anomaly.message);
  cst__put_text(out, anomaly.hint);
  cst__put_number(out, finding->count);
  cst__open_list(out);
  for (size_t i = 0; i < finding->num_places; i++) {
    const cst__sighting *place = &finding->places[i];
    cst__put_text(out, place->place.file);
    if (place->place.record >= 0) {
      cst__put_signed(out, place->place.record);
    } else {
      cst__put_null(out);
    }
    cst__put_text(out, place->found);
  }
  cst__close_list(out);
}

/* ---- the words of one feature ---- */

static const char *plural_s(uint64_t count) { return count == 1 ? "" : "s"; }
static const char *have_or_has(uint64_t count) { return count == 1 ? "has" : "have"; }

/* "12 of 1000 records have" */
static const char *records_have(cst__report *r, const cst__finding *finding) {
  uint64_t rows = r->state->num_rows;
  return cst__report_say(r, "%" PRIu64 " of %" PRIu64 " record%s %s", finding->count, rows,
                         plural_s(rows), have_or_has(finding->count));
}

/* "3", or "1 to 3" */
static const char *span_text(cst__report *r, int64_t least, int64_t most) {
  return least == most ? cst__report_say(r, "%" PRId64, least)
                       : cst__report_say(r, "%" PRId64 " to %" PRId64, least, most);
}

static const char *value_word(int64_t least, int64_t most) {
  return least == 1 && most == 1 ? "value" : "values";
}

static const char *range_text(cst__report *r, cst__count_range range) {
  if (range.max == INT64_MAX) {
    return cst__report_say(r, "%" PRId64 " or more", range.min);
  }
  return span_text(r, range.min, range.max);
}

/* The feature's name from the top: a.b */
static const char *feature_path(const cst__tally *tally) { return tally->plan->rules->path; }

static void report_feature(cst__report *r, const cst__tally *tally, cst__fault_kind fault,
                           const char *kind, const char *message, const char *hint) {
  cst__anomaly anomaly = {
      .kind = kind, .path = feature_path(tally), .message = message, .hint = hint};
  cst__report_add(r, &tally->findings[fault], anomaly);
}

static const char *others(const cst__found_types *types) {
  return types->vary ? " and others" : "";
}

static const char *const type_names[] = {"TYPE_UNKNOWN", "BYTES", "INT", "FLOAT", "STRUCT"};

/* Not if it is one of Arrow's alone. */
static bool is_schema_type(const char *name) {
  bool found = false;
  for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++) {
    found = found || strcmp(type_names[i], name) == 0;
  }
  return found;
}

static const char *type_hint(cst__report *r, const cst__tally *tally) {
  const cst__finding *finding = &tally->findings[CST__FAULT_TYPE];
  if (tally->types.vary || (!tally->in_lists && finding->count < tally->present)) {
    return cst__report_say(r, "repair the data: \"%s\" has values of more than one type",
                           feature_path(tally));
  }
  return is_schema_type(tally->types.first)
             ? cst__report_say(r, "change the type of \"%s\" to %s, or repair the data",
                               feature_path(tally), tally->types.first)
             : cst__report_say(r, "make \"%s\" a column of numbers or bytes: schemas have no %s",
                               feature_path(tally), tally->types.first);
}

static void report_type(cst__report *r, const cst__tally *tally) {
  const cst__finding *finding = &tally->findings[CST__FAULT_TYPE];
  const char *expected = type_names[tally->plan->rules->feature->type];
  if (finding->count == 0) {
    return;
  }
  if (tally->types.first[0] == '\0') { /* a text that does not read as one */
    report_feature(
        r, tally, CST__FAULT_TYPE, "type",
        cst__report_say(r, "%s text that is not of type %s", records_have(r, finding), expected),
        cst__report_say(r, "change the type of \"%s\" to BYTES, or repair the data",
                        feature_path(tally)));
    return;
  }
  report_feature(
      r, tally, CST__FAULT_TYPE, "type",
      cst__report_say(r, "%s values of type %s%s, the schema says %s", records_have(r, finding),
                      tally->types.first, others(&tally->types), expected),
      type_hint(r, tally));
}

static void report_missing(cst__report *r, const cst__tally *tally, const char *wanted) {
  report_feature(
      r, tally, CST__FAULT_PRESENCE, "missing-feature",
      cst__report_say(r, "no record has it, the schema wants it in %s", wanted),
      cst__report_say(r,
                      "lower the presence of \"%s\" or set deprecated: true, or write the feature",
                      feature_path(tally)));
}

/* How often a feature has to be there, in words; NULL: it is there often enough. */
static const char *wanted_presence(cst__report *r, const cst__tally *tally) {
  const cst__rules *rules = tally->plan->rules;
  double share = tally->parents > 0 ? (double)tally->present / (double)tally->parents : 0;
  if (rules->has_presence && tally->parents > 0 && share < rules->min_fraction) {
    return rules->min_fraction >= 1
               ? "every record"
               : cst__report_say(r, "%.6g %% of the records", 100 * rules->min_fraction);
  }
  if (rules->has_presence && (int64_t)tally->present < rules->min_count) {
    return cst__report_say(r, "%" PRId64 " record%s at least", rules->min_count,
                           plural_s((uint64_t)rules->min_count));
  }
  return rules->shape_size >= 0 && tally->present < tally->parents
             ? "every record, because it has a fixed shape"
             : NULL;
}

/* What presence would be met, or, for what is only its shape's demand, what to write instead. */
static const char *possible_presence(cst__report *r, const cst__tally *tally) {
  const cst__rules *rules = tally->plan->rules;
  double share = (double)tally->present / (double)tally->parents;
  const char *shape = rules->shape_size >= 0 ? " and a value_count instead of the shape" : "";
  if (share < rules->min_fraction) { /* rounded down */
    return cst__report_say(r, "set presence { min_fraction: %.6g } of \"%s\"%s",
                           (double)(int64_t)(1e6 * share) / 1e6, feature_path(tally), shape);
  }
  if ((int64_t)tally->present < rules->min_count) {
    return cst__report_say(r, "set presence { min_count: %" PRIu64 " } of \"%s\"", tally->present,
                           feature_path(tally));
  }
  return cst__report_say(r, "give \"%s\" a value_count instead of the shape", feature_path(tally));
}

static void report_presence(cst__report *r, const cst__tally *tally) {
  const cst__finding *finding = &tally->findings[CST__FAULT_PRESENCE];
  bool applies = tally->plan->rules->feature->in_use && tally->plan->rules->in_environment &&
                 (tally->parents > 0 || tally->plan->rules->min_count > 0);
  const char *wanted = applies ? wanted_presence(r, tally) : NULL;
  if (wanted == NULL) {
    return;
  }
  if (tally->present == 0) {
    report_missing(r, tally, wanted);
    return;
  }
  const char *owner = tally->in_lists ? "struct" : "record";
  uint64_t absent = tally->parents - tally->present;
  const char *found =
      finding->count == 0 /* all have it, and they are too few */
          ? cst__report_say(r, "%" PRIu64 " %s%s %s it", tally->present, owner,
                            plural_s(tally->present), have_or_has(tally->present))
          : cst__report_say(r, "%" PRIu64 " of %" PRIu64 " %s%s lack%s it", absent, tally->parents,
                            owner, plural_s(tally->parents), absent == 1 ? "s" : "");
  report_feature(r, tally, CST__FAULT_PRESENCE, "presence",
                 cst__report_say(r, "%s, the schema wants it in %s", found, wanted),
                 cst__report_say(r, "%s, or repair the data", possible_presence(r, tally)));
}

static void report_counts(cst__report *r, const cst__tally *tally) {
  const cst__finding *finding = &tally->findings[CST__FAULT_COUNT];
  const cst__rules *rules = tally->plan->rules;
  if (finding->count == 0) {
    return;
  }
  const char *wanted = range_text(r, rules->counts[0]);
  for (size_t i = 1; i < rules->num_counts; i++) {
    wanted = cst__report_say(r, "%s, and %s in each list below", wanted,
                             range_text(r, rules->counts[i]));
  }
  int64_t min = rules->counts[0].min;
  int64_t max = rules->counts[0].max;
  min = tally->counts.least < min ? tally->counts.least : min;
  max = tally->counts.most > max ? tally->counts.most : max;
  const char *hint =
      rules->num_counts > 1
          ? cst__report_say(r, "widen the value_counts of \"%s\", or repair the data",
                            feature_path(tally))
      : max == INT64_MAX
          ? cst__report_say(
                r, "widen the value_count of \"%s\" to { min: %" PRId64 " }, or repair the data",
                feature_path(tally), min)
          : cst__report_say(r,
                            "widen the value_count of \"%s\" to { min: %" PRId64 " max: %" PRId64
                            " }, or repair the data",
                            feature_path(tally), min, max);
  report_feature(r, tally, CST__FAULT_COUNT, "value-count",
                 cst__report_say(r, "%s %s %s, the schema wants %s", records_have(r, finding),
                                 span_text(r, tally->counts.least, tally->counts.most),
                                 value_word(tally->counts.least, tally->counts.most), wanted),
                 hint);
}

static const char *shape_text(cst__report *r, const cst_feature *feature) {
  const char *text = "[";
  for (size_t i = 0; i < feature->num_dims; i++) {
    text = cst__report_say(r, "%s%s%" PRId64, text, i > 0 ? ", " : "", feature->dims[i]);
  }
  return cst__report_say(r, "%s]", text);
}

static void report_shape(cst__report *r, const cst__tally *tally) {
  const cst__finding *finding = &tally->findings[CST__FAULT_SHAPE];
  if (finding->count == 0) {
    return;
  }
  int64_t size = tally->plan->rules->shape_size;
  int64_t min = tally->counts.least < size ? tally->counts.least : size;
  int64_t max = tally->counts.most > size ? tally->counts.most : size;
  report_feature(
      r, tally, CST__FAULT_SHAPE, "shape",
      cst__report_say(r, "%s %s %s, the shape %s needs %" PRId64, records_have(r, finding),
                      span_text(r, tally->counts.least, tally->counts.most),
                      value_word(tally->counts.least, tally->counts.most),
                      shape_text(r, tally->plan->rules->feature), size),
      cst__report_say(r,
                      "give \"%s\" value_count { min: %" PRId64 " max: %" PRId64
                      " } instead of the shape, or repair the data",
                      feature_path(tally), min, max));
}

/* ---- domains ---- */

/* "[0, 23]", or "[0, inf)" */
static const char *int_interval(cst__report *r, const cst__domain *d, int64_t min, int64_t max) {
  const char *from = d->has_min ? cst__report_say(r, "[%" PRId64, min) : "(-inf";
  return d->has_max ? cst__report_say(r, "%s, %" PRId64 "]", from, max)
                    : cst__report_say(r, "%s, inf)", from);
}

static const char *float_interval(cst__report *r, const cst__domain *d, double min, double max) {
  const char *from = d->has_min ? cst__report_say(r, "[%.9g", min) : "(-inf";
  return d->has_max ? cst__report_say(r, "%s, %.9g]", from, max)
                    : cst__report_say(r, "%s, inf)", from);
}

static void report_int(cst__report *r, const cst__tally *tally) {
  const cst__finding *finding = &tally->findings[CST__FAULT_INT];
  const cst__domain *d = &tally->plan->rules->domain;
  int64_t min = tally->ints.least < d->int_min ? tally->ints.least : d->int_min;
  int64_t max = tally->ints.most > d->int_max ? tally->ints.most : d->int_max;
  const char *found = tally->ints.least == tally->ints.most
                          ? cst__report_say(r, "%" PRId64, tally->ints.least)
                          : cst__report_say(r, "the smallest %" PRId64 ", the largest %" PRId64,
                                            tally->ints.least, tally->ints.most);
  report_feature(r, tally, CST__FAULT_INT, "int-domain",
                 cst__report_say(r, "%s values outside %s: %s", records_have(r, finding),
                                 int_interval(r, d, d->int_min, d->int_max), found),
                 cst__report_say(r, "widen int_domain of \"%s\" to %s, or repair the data",
                                 feature_path(tally), int_interval(r, d, min, max)));
}

static const char *float_wish(cst__report *r, const cst__domain *d) {
  return cst__report_say(r, "%s%s%s", float_interval(r, d, d->float_min, d->float_max),
                         d->disallow_nan ? ", no NaN" : "", d->disallow_inf ? ", no infinity" : "");
}

/* The limits are float32: the next ones that the values are within. */
static double float_around(double value, double towards) {
  float near = (float)value;
  bool is_in = towards < 0 ? (double)near <= value : (double)near >= value;
  return is_in ? (double)near : (double)nextafterf(near, (float)towards);
}

/* All that keeps values out: limits, and what is not allowed. */
static const char *float_hint(cst__report *r, const cst__tally *tally, double min, double max) {
  const cst__domain *d = &tally->plan->rules->domain;
  bool widens = tally->floats.any && (min < d->float_min || max > d->float_max);
  bool has_inf = tally->floats.any && (isinf(tally->floats.least) || isinf(tally->floats.most));
  bool nan = d->disallow_nan && tally->has_nan;
  bool inf = d->disallow_inf && has_inf;
  const char *off = nan && inf ? "disallow_nan and disallow_inf"
                    : nan      ? "disallow_nan"
                    : inf      ? "disallow_inf"
                               : NULL;
  const char *taken = off != NULL ? cst__report_say(r, "take %s off", off) : NULL;
  const char *limits =
      widens ? float_interval(r, d, float_around(min, -INFINITY), float_around(max, INFINITY)) : "";
  return taken != NULL && widens
             ? cst__report_say(r,
                               "%s float_domain of \"%s\" and widen it to %s, or repair the data",
                               taken, feature_path(tally), limits)
         : widens ? cst__report_say(r, "widen float_domain of \"%s\" to %s, or repair the data",
                                    feature_path(tally), limits)
                  : cst__report_say(r, "%s float_domain of \"%s\", or repair the data",
                                    taken != NULL ? taken : "widen", feature_path(tally));
}

static void report_float(cst__report *r, const cst__tally *tally) {
  const cst__finding *finding = &tally->findings[CST__FAULT_FLOAT];
  const cst__domain *d = &tally->plan->rules->domain;
  const char *found = "NaN";
  double min = d->float_min;
  double max = d->float_max;
  if (tally->floats.any) {
    found = tally->floats.least == tally->floats.most
                ? cst__report_say(r, "%.9g", tally->floats.least)
                : cst__report_say(r, "the smallest %.9g, the largest %.9g", tally->floats.least,
                                  tally->floats.most);
    found = cst__report_say(r, "%s%s", tally->has_nan ? "NaN, and " : "", found);
    min = tally->floats.least < min ? tally->floats.least : min;
    max = tally->floats.most > max ? tally->floats.most : max;
  }
  report_feature(r, tally, CST__FAULT_FLOAT, "float-domain",
                 cst__report_say(r, "%s values outside %s: %s", records_have(r, finding),
                                 float_wish(r, d), found),
                 float_hint(r, tally, min, max));
}

static const char *distinct_text(cst__report *r, const cst__tally *tally) {
  size_t count = tally->unknown.count;
  return count < CST__MAX_DISTINCT
             ? cst__report_say(r, "%zu different one%s", count, plural_s(count))
             : cst__report_say(r, "%d or more different ones", CST__MAX_DISTINCT);
}

/* What share of the values would have to be in the domain; "" if none is. */
static const char *allowed_share(cst__report *r, const cst__tally *tally) {
  double share = (double)(tally->values - tally->bad_values) / (double)tally->values;
  double rounded = (double)(int64_t)(1e6 * share) / 1e6; /* down */
  return rounded > 0 ? cst__report_say(
                           r, "set distribution_constraints { min_domain_mass: %.6g } of \"%s\", ",
                           rounded, feature_path(tally))
                     : "";
}

static void report_string(cst__report *r, const cst__tally *tally) {
  const cst__domain *d = &tally->plan->rules->domain;
  char name[64] = "";
  cst__escape(name, sizeof name, (const char *)d->name.data, d->name.size);
  const char *domain = d->name.size > 0
                           ? cst__report_say(r, "string_domain \"%s\"", name)
                           : cst__report_say(r, "string_domain of \"%s\"", feature_path(tally));
  report_feature(r, tally, CST__FAULT_STRING, "string-domain",
                 cst__report_say(r, "%s values that are not in the domain of %zu value%s: %s",
                                 records_have(r, &tally->findings[CST__FAULT_STRING]),
                                 d->num_values, plural_s(d->num_values), distinct_text(r, tally)),
                 cst__report_say(r, "add the values to the %s, %sor repair the data", domain,
                                 allowed_share(r, tally)));
}

static void report_bool(cst__report *r, const cst__tally *tally) {
  bool is_text = tally->plan->rules->feature->type == CST_FEATURE_BYTES;
  report_feature(r, tally, CST__FAULT_BOOL, "bool-domain",
                 cst__report_say(r, "%s values that are neither %s",
                                 records_have(r, &tally->findings[CST__FAULT_BOOL]),
                                 is_text ? "the true_value nor the false_value of the bool_domain"
                                         : "0 nor 1, the schema says bool_domain"),
                 cst__report_say(r, "remove the bool_domain of \"%s\", or repair the data",
                                 feature_path(tally)));
}

static void report_utf8(cst__report *r, const cst__tally *tally) {
  report_feature(
      r, tally, CST__FAULT_UTF8, "utf8",
      cst__report_say(r, "%s values that are not UTF-8, the schema says that they are text",
                      records_have(r, &tally->findings[CST__FAULT_UTF8])),
      cst__report_say(r, "remove the text domain of \"%s\", or repair the data",
                      feature_path(tally)));
}

static void report_domain(cst__report *r, const cst__tally *tally) {
  static const struct {
    cst__fault_kind kind;
    void (*report)(cst__report *r, const cst__tally *tally);
  } reports[] = {{CST__FAULT_INT, report_int},
                 {CST__FAULT_FLOAT, report_float},
                 {CST__FAULT_STRING, report_string},
                 {CST__FAULT_BOOL, report_bool},
                 {CST__FAULT_UTF8, report_utf8}};
  double good = (double)(tally->values - tally->bad_values);
  if (tally->plan->rules->domain.min_mass < 1 && tally->values > 0 &&
      good / (double)tally->values >= tally->plan->rules->domain.min_mass) {
    return;
  }
  for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
    if (tally->findings[reports[i].kind].count > 0) {
      reports[i].report(r, tally);
    }
  }
}

/* ---- all features ---- */

static void report_features(cst__report *r, const cst__tally *parent) {
  for (size_t i = 0; i < parent->plan->num_children; i++) {
    const cst__tally *tally = cst__tally_children(r->state, parent) + i;
    report_presence(r, tally);
    report_type(r, tally);
    report_counts(r, tally);
    report_shape(r, tally);
    report_domain(r, tally);
    report_features(r, tally);
  }
}

static int compare_unexpected_paths(const void *a, const void *b) {
  return strcmp((*(cst__unexpected *const *)a)->path, (*(cst__unexpected *const *)b)->path);
}

/* A name of the schema that the unexpected one may be a slip of. */
static const char *near_name(cst__report *r, const char *path) {
  const cst__tally *root = &r->state->tallies[0];
  const cst__tally *features = cst__tally_children(r->state, root);
  size_t most = root->plan->num_children;
  const char **names = cst__arena_take(&r->words, (most + 1) * sizeof *names);
  if (names == NULL) {
    r->failed = true;
    return NULL;
  }
  size_t count = 0;
  for (size_t i = 0; i < most; i++) {
    if (features[i].present == 0) {
      names[count++] = feature_path(&features[i]);
    }
  }
  cst__name_list list = cst__name_list_of(names, count);
  size_t at = strlen(path) < 3 ? SIZE_MAX : cst__nearest_name(path, &list);
  return at != SIZE_MAX ? names[at] : NULL;
}

static void report_unexpected(cst__report *r, const cst__unexpected *u) {
  const char *near = near_name(r, u->path);
  const char *type = is_schema_type(u->types.first) ? u->types.first : "TYPE_UNKNOWN";
  cst__anomaly anomaly = {
      .kind = "unexpected-feature",
      .path = u->path,
      .message = cst__report_say(r, "%s this feature (%s%s), which the schema does not have",
                                 records_have(r, &u->finding), u->types.first, others(&u->types)),
      .hint =
          near != NULL
              ? cst__report_say(r, "is it \"%s\" of the schema, which no record has? rename one",
                                near)
              : cst__report_say(
                    r, "add it to the schema with type: %s, or ignore unexpected features", type)};
  cst__report_add(r, &u->finding, anomaly);
}

static void report_all_unexpected(cst__report *r) {
  const cst__validation_state *state = r->state;
  size_t count = state->num_unexpected;
  const cst__unexpected **sorted = cst__arena_take(&r->words, (count + 1) * sizeof *sorted);
  if (sorted == NULL) {
    r->failed = true;
    return;
  }
  for (size_t i = 0; i < count; i++) {
    sorted[i] = state->unexpected[i];
  }
  if (count > 1) {
    qsort(sorted, count, sizeof *sorted, compare_unexpected_paths);
  }
  for (size_t i = 0; i < count; i++) {
    report_unexpected(r, sorted[i]);
  }
  if (state->more_unexpected.count > 0) {
    cst__anomaly more = {
        .kind = "unexpected-feature",
        .path = "",
        .message = cst__report_say(r,
                                   "more than %d features that the schema does "
                                   "not have, %" PRIu64 " values of further ones",
                                   CST__MAX_UNEXPECTED, state->more_unexpected.count),
        .hint = "are the names of the features data? or ignore unexpected features"};
    cst__report_add(r, &state->more_unexpected, more);
  }
}

static void report_lost(cst__report *r, const cst__lost_tally *lost) {
  bool parses = strcmp(lost->kind, "record") == 0;
  uint64_t count = lost->finding.count;
  cst__anomaly anomaly = {
      .kind = "record",
      .path = "",
      .message = cst__report_say(r, "%" PRIu64 " record%s %s (%s), and %s been passed over", count,
                                 plural_s(count),
                                 parses       ? "cannot be read"
                                 : count == 1 ? "is damaged"
                                              : "are damaged",
                                 lost->kind, have_or_has(count)),
      .hint = parses ? "inspect one with `columnstone head`; `columnstone verify` lists all"
                     : "`columnstone repair` writes a file without them"};
  cst__report_add(r, &lost->finding, anomaly);
}

static const cst__finding_column place_columns[] = {
    CST__TEXT("file"), CST__NUMBER_OR_NULL("record"), CST__TEXT("found")};
static const cst__finding_column anomaly_columns[] = {
    CST__TEXT("kind"),           CST__TEXT("path"),
    CST__TEXT_OR_NULL("tensor"), CST__TEXT_OR_NULL("group"),
    CST__TEXT("message"),        CST__TEXT("hint"),
    CST__NUMBER("count"),        CST__LIST_OF("places", place_columns)};
static const cst__finding_type anomalies_type = {"anomalies", anomaly_columns, 8};

cst_status cst__validation_report(const cst__validation_state *state,
                                  const cst__validation_statistics *statistics, cst_findings **out,
                                  cst_error *error) {
  const cst_allocator *allocator = &state->arena.allocator;
  cst__report r = {.state = state};
  CST__TRY(cst__findings_new(&anomalies_type, allocator, &r.out, error));
  cst__arena_init(&r.words, allocator);
  cst__put_total(r.out, "num_rows", state->num_rows);
  report_features(&r, &state->tallies[0]);
  report_all_unexpected(&r);
  cst__report_tensors(&r);
  if (statistics != NULL) {
    cst__report_statistics(&r, statistics);
  }
  for (size_t i = 0; i < state->num_lost; i++) {
    report_lost(&r, &state->lost[i]);
  }
  cst__arena_reset(&r.words);
  if (r.failed) {
    cst_findings_free(r.out);
    return cst__fail_memory(error, 64);
  }
  return cst__findings_finish(r.out, out, error);
}
