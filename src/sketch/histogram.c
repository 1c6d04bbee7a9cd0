/* Histograms of buckets of equal width. */
#include "sketch/histogram.h"

#include <math.h>

#include "arrow/findings.h"
#include "base/arguments.h"
#include "sketch/exact_ratio.h"

static uint64_t count_sum(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* ---- buckets ---- */

double cst__histogram_edge(const cst__histogram *histogram, size_t i) {
  double offset = (double)i * histogram->step; /* rounded before it is added, on every machine */
  return i < histogram->num_buckets ? histogram->low + offset : histogram->high;
}

bool cst__histogram_init(cst__histogram *histogram, double low, double high, size_t num_buckets,
                         const cst_allocator *allocator) {
  cst__histogram *h = histogram;
  *h = (cst__histogram){
      .low = low, .high = high, .num_buckets = num_buckets, .allocator = allocator};
  double width = high - low;
  if (!isfinite(low) || !isfinite(high) || !isfinite(width) || num_buckets < 1 ||
      num_buckets > CST__HISTOGRAM_MOST) {
    return false;
  }
  h->step = width / (double)num_buckets;
  h->scale = (double)num_buckets / width;
  bool rises = isfinite(h->scale);
  for (size_t i = 0; i < num_buckets && rises; i++) {
    rises = cst__histogram_edge(h, i) < cst__histogram_edge(h, i + 1);
  }
  return rises;
}

static inline size_t place_of(const cst__histogram *h, double value) {
  if (!(value >= h->low && value <= h->high)) {
    return value < h->low ? 0 : h->num_buckets + (value > h->high ? 1 : 2);
  }
  size_t last = h->num_buckets - 1;
  size_t i = (size_t)((value - h->low) * h->scale); /* beside the right one, if not it */
  i = i < last ? i : last;
  while (value < cst__histogram_edge(h, i)) {
    i--;
  }
  while (i < last && value >= cst__histogram_edge(h, i + 1)) {
    i++;
  }
  return i + 1;
}

/* ---- adding ---- */

static bool begin_counts(cst__histogram *h) {
  if (h->counts == NULL) {
    h->counts = cst__new_zero(h->allocator, cst__histogram_num_places(h) * sizeof *h->counts);
  }
  return h->counts != NULL;
}

static bool add_ones(cst__exact_sum *sum, const cst_allocator *allocator, uint64_t count) {
  const cst__exact_term term = {{count, 0, 0}, 0, false};
  return cst__exact_sum_add(sum, allocator, &term);
}

/* From now on there are weights; until now all were 1. */
static bool begin_weights(cst__histogram *h) {
  if (h->weights != NULL) {
    return true;
  }
  size_t count = cst__histogram_num_places(h);
  h->weights = cst__new_zero(h->allocator, count * sizeof *h->weights);
  bool ok = h->weights != NULL;
  for (size_t i = 0; ok && i < count; i++) {
    ok = add_ones(&h->weights[i], h->allocator, h->counts[i]);
  }
  return ok;
}

static void read_doubles(const cst__value_block *values, double *to) {
  for (size_t i = 0; i < values->count; i++) {
    to[i] = values->family == CST__FAMILY_INT ? (double)cst__values_ints(values)[i]
                                              : (double)cst__values_uints(values)[i];
  }
}

static bool add_weight(cst__histogram *h, size_t place, double weight) {
  const cst__exact_factor factor = cst__exact_of_double(weight);
  const cst__exact_term term = {{factor.size, 0, 0}, factor.exponent, false};
  return cst__exact_sum_add(&h->weights[place], h->allocator, &term);
}

bool cst__histogram_add(cst__histogram *histogram, const cst__value_block *values) {
  cst__histogram *h = histogram;
  double converted[CST__VALUES_MOST];
  const double *items = converted;
  if (values->count == 0) {
    return true;
  }
  if (!begin_counts(h) || (values->weights != NULL && !begin_weights(h))) {
    return false;
  }
  if (values->family == CST__FAMILY_FLOAT) {
    items = cst__values_floats(values);
  } else {
    read_doubles(values, converted);
  }
  bool ok = true;
  for (size_t i = 0; ok && i < values->count; i++) {
    size_t place = place_of(h, items[i]);
    h->counts[place] = count_sum(h->counts[place], 1);
    ok = h->weights == NULL ||
         add_weight(h, place, values->weights != NULL ? values->weights[i] : 1);
  }
  return ok;
}

bool cst__histogram_merge(cst__histogram *into, const cst__histogram *from) {
  if (from->counts == NULL) {
    return true;
  }
  bool ok = begin_counts(into) && (from->weights == NULL || begin_weights(into));
  for (size_t i = 0; ok && i < cst__histogram_num_places(into); i++) {
    ok = into->weights == NULL ||
         (from->weights != NULL
              ? cst__exact_sum_merge(&into->weights[i], into->allocator, &from->weights[i])
              : add_ones(&into->weights[i], into->allocator, from->counts[i]));
    into->counts[i] = count_sum(into->counts[i], from->counts[i]);
  }
  return ok;
}

/* ---- results ---- */

uint64_t cst__histogram_count(const cst__histogram *histogram, size_t place) {
  return histogram->counts != NULL ? histogram->counts[place] : 0;
}

double cst__histogram_weight(const cst__histogram *histogram, size_t place) {
  return histogram->weights != NULL ? cst__exact_sum_value(&histogram->weights[place])
                                    : (double)cst__histogram_count(histogram, place);
}

/* ---- the state ---- */

void cst__histogram_reset(cst__histogram *histogram) {
  cst__histogram *h = histogram;
  for (size_t i = 0; h->weights != NULL && i < cst__histogram_num_places(h); i++) {
    cst__exact_sum_reset(&h->weights[i]);
  }
  cst__delete(h->weights);
  cst__delete(h->counts);
  h->weights = NULL;
  h->counts = NULL;
}

size_t cst__histogram_memory(const cst__histogram *histogram) {
  const cst__histogram *h = histogram;
  size_t count = cst__histogram_num_places(h);
  size_t size = sizeof *h + (h->counts != NULL ? count * sizeof *h->counts : 0);
  for (size_t i = 0; h->weights != NULL && i < count; i++) {
    size += sizeof *h->weights + cst__exact_sum_memory(&h->weights[i]);
  }
  return size;
}

void cst__histogram_archive(cst__histogram *histogram, cst__archive *a) {
  cst__histogram *h = histogram;
  bool has_counts = h->counts != NULL;
  bool has_weights = h->weights != NULL;
  bool any = false;
  cst__archive_bool(a, &has_counts);
  cst__archive_bool(a, &has_weights);
  cst__archive_check(a, has_counts || !has_weights);
  if (a->bad || !has_counts) {
    return;
  }
  if (!begin_counts(h) || (has_weights && !begin_weights(h))) {
    cst__archive_fail_memory(a);
    return;
  }
  for (size_t i = 0; i < cst__histogram_num_places(h) && !a->bad; i++) {
    cst__archive_u64(a, &h->counts[i]);
    any = any || h->counts[i] > 0;
    if (has_weights) {
      cst__exact_sum_archive(&h->weights[i], h->allocator, 1, a);
      int sign = cst__exact_sum_sign(&h->weights[i]);
      cst__archive_check(a, sign == 0 || (sign > 0 && h->counts[i] > 0));
    }
  }
  cst__archive_check(a, any);
}

/* ---- the kind ---- */

typedef struct histogram_options {
  double low, high;
  int64_t buckets;
} histogram_options;

static const cst__option option_table[] = {{.info = {.name = "low",
                                                     .kind = CST_OPTION_REAL,
                                                     .least = INT64_MIN,
                                                     .most = INT64_MAX,
                                                     .help = "start of the first bucket"},
                                            .offset = offsetof(histogram_options, low)},
                                           {.info = {.name = "high",
                                                     .kind = CST_OPTION_REAL,
                                                     .least = INT64_MIN,
                                                     .most = INT64_MAX,
                                                     .usual = "1",
                                                     .help = "end of the last bucket"},
                                            .offset = offsetof(histogram_options, high)},
                                           {.info = {.name = "buckets",
                                                     .kind = CST_OPTION_NUMBER,
                                                     .least = 1,
                                                     .most = CST__HISTOGRAM_MOST,
                                                     .usual = "10",
                                                     .help = "number of buckets, all with the same "
                                                             "width"},
                                            .offset = offsetof(histogram_options, buckets),
                                            .is_wide = true}};
static const cst__option_table options_type = {"histogram", option_table, 3, sizeof(cst__option),
                                               sizeof(histogram_options)};

static void free_histogram(void *state) {
  if (state != NULL) {
    cst__histogram_reset(state);
    cst__delete(state);
  }
}

static cst_status create(const void *options, const cst_allocator *allocator, void **state,
                         cst_error *error) {
  const histogram_options *o = options;
  cst__histogram *made = cst__new(allocator, sizeof *made);
  *state = made;
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  return cst__histogram_init(made, o->low, o->high, (size_t)o->buckets, allocator)
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT,
                         "give ends that are finite, low below high, and fewer buckets",
                         "there are no %lld buckets between the ends of a histogram",
                         (long long)o->buckets);
}

static cst_status fail_state(const cst__histogram *h, cst_error *error) {
  return cst__fail_memory(error, cst__histogram_num_places(h) * sizeof *h->weights);
}

static cst_status add(void *state, const cst__value_block *values, cst_error *error) {
  return cst__histogram_add(state, values) ? CST_OK : fail_state(state, error);
}

static cst_status merge(void *into, const void *from, cst_error *error) {
  return cst__histogram_merge(into, from) ? CST_OK : fail_state(into, error);
}

static void archive(void *state, cst__archive *a) { cst__histogram_archive(state, a); }

static size_t memory(const void *state) { return cst__histogram_memory(state); }

const cst__sketch_kind cst__histogram_kind = {
    .name = "histogram",
    .version = 1,
    .summary = "counts of numbers in buckets of equal width",
    .options = &options_type,
    .families = 1u << CST__FAMILY_INT | 1u << CST__FAMILY_UINT | 1u << CST__FAMILY_FLOAT,
    .create = create,
    .free = free_histogram,
    .add = add,
    .merge = merge,
    .archive = archive,
    .memory = memory,
};

/* ---- for callers ---- */

cst_status cst_sketch_histogram(const cst_sketch *sketch, cst_findings **out, cst_error *error) {
  static const cst__finding_column columns[] = {CST__REAL("low"), CST__REAL("high"),
                                                CST__NUMBER("count"), CST__REAL("weight")};
  static const cst__finding_type type = {"buckets", columns, 4};
  const void *state;
  cst_findings *found;
  CST__CLEAR(out);
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(cst__sketch_state(sketch, &cst__histogram_kind, &state, error));
  CST__TRY(cst__findings_new(&type, NULL, &found, error));
  const cst__histogram *h = state;
  for (size_t i = 0; i < h->num_buckets + 2; i++) {
    bool is_above = i > h->num_buckets;
    cst__put_real(found, i == 0 ? -(double)INFINITY : cst__histogram_edge(h, i - 1));
    cst__put_real(found, is_above ? (double)INFINITY : cst__histogram_edge(h, i));
    cst__put_number(found, cst__histogram_count(h, i));
    cst__put_real(found, cst__histogram_weight(h, i));
  }
  cst__put_total(found, "num_nan", cst__histogram_count(h, h->num_buckets + 2));
  return cst__findings_finish(found, out, error);
}
