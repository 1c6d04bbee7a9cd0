/* Tables of features as TFDV's proto. Bytes are written from the last to the first, and one feature
 * is a tree at a time, so that memory is that of the bytes.
 */
#include <columnstone/statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "proto/message.h"
#include "statistics/tfdv.h"

/* As TFDV has by default: buckets of a histogram of equal weights, and frequent values; in the
 * histogram of ranks are all. */
enum { BUCKETS = 10, TOP_VALUES = 20 };

/* The rows of one data set, one after the other in the table. */
typedef struct dataset {
  size_t begin, end;
  uint64_t num_examples;
  double weight;   /* of the examples; 0 without weights */
  size_t *parents; /* of each row: that of the struct around it, or SIZE_MAX */
} dataset;

typedef struct writer {
  const cst_findings *found;
  const char *name; /* of the table; NULL: none is given */
  cst__wire_out out;
  cst__arena arena; /* of the feature at hand */
  bool failed;      /* no memory */
  dataset at;
} writer;

/* ---- cells ---- */

/* Null is 0. */
static uint64_t count_at(const writer *w, const char *column, size_t at) {
  int64_t number = cst_findings_number(w->found, column, at);
  return number > 0 ? (uint64_t)number : 0;
}

static double real_at(const writer *w, const char *column, size_t at) {
  return cst_findings_real(w->found, column, at);
}

static double positive(double number) { return number > 0 ? number : 0; }

/* All values of a row: what its innermost lists hold, or those that are there. */
static uint64_t total_values(const writer *w, size_t row) {
  size_t begin, end;
  (void)cst_findings_items(w->found, "levels", row, &begin, &end);
  return begin < end ? count_at(w, "levels.items", end - 1) : count_at(w, "present", row);
}

static double total_weight(const writer *w, size_t row) {
  size_t begin, end;
  (void)cst_findings_items(w->found, "levels", row, &begin, &end);
  return positive(begin < end ? real_at(w, "levels.items_weight", end - 1)
                              : real_at(w, "present_weight", row));
}

/* ---- fields ---- */

static cst__message *put_child(writer *w, cst__message *message, int32_t number) {
  cst__message *child = message != NULL ? cst__message_put_child(&w->arena, message, number) : NULL;
  w->failed = w->failed || child == NULL;
  return child;
}

static void put_count(writer *w, cst__message *message, int32_t number, uint64_t count) {
  const int64_t bits = count < INT64_MAX ? (int64_t)count : INT64_MAX;
  w->failed = w->failed || !cst__message_put_int(&w->arena, message, number, bits);
}

/* NaN is not put. */
static void put_real(writer *w, cst__message *message, int32_t number, double real) {
  w->failed =
      w->failed || (!isnan(real) && !cst__message_put_double(&w->arena, message, number, real));
}

static void put_text(writer *w, cst__message *message, int32_t number, const char *text,
                     size_t size) {
  w->failed = w->failed || !cst__message_put_bytes(&w->arena, message, number, text, size);
}

/* ---- histograms ---- */

static void put_bucket(writer *w, cst__message *histogram, double low, double high, double count) {
  cst__message *bucket = put_child(w, histogram, TFDV_HISTOGRAM_BUCKET);
  if (bucket != NULL) {
    put_real(w, bucket, TFDV_BUCKET_LOW_VALUE, low);
    put_real(w, bucket, TFDV_BUCKET_HIGH_VALUE, high);
    put_real(w, bucket, TFDV_BUCKET_SAMPLE_COUNT, count);
  }
}

/* Parts of the same weight from a list of bounds: as many as TFDV has, if that divides them. */
static void put_quantiles(writer *w, cst__message *histogram, size_t row, const char *column,
                          double total) {
  char item[40];
  size_t begin, end;
  (void)snprintf(item, sizeof item, "%s.", column);
  if (histogram == NULL || !cst_findings_items(w->found, column, row, &begin, &end) ||
      end - begin < 2) {
    return;
  }
  const size_t parts = end - begin - 1;
  const size_t step = parts % BUCKETS == 0 ? parts / BUCKETS : 1;
  const size_t count = parts / step;
  put_count(w, histogram, TFDV_HISTOGRAM_TYPE, TFDV_QUANTILES);
  for (size_t i = 0; i < parts; i += step) {
    put_bucket(w, histogram, real_at(w, item, begin + i), real_at(w, item, begin + i + step),
               total / (double)count);
  }
}

/* The middle one of the bounds, or of the two in the middle; NaN without any. */
static double median_of(const writer *w, size_t row, const char *column) {
  char item[40];
  size_t begin, end;
  (void)snprintf(item, sizeof item, "%s.", column);
  if (!cst_findings_items(w->found, column, row, &begin, &end) || begin == end) {
    return (double)NAN;
  }
  const double low = real_at(w, item, begin + (end - begin - 1) / 2);
  const double high = real_at(w, item, begin + (end - begin) / 2);
  return low == high ? low : low / 2 + high / 2;
}

/* Parts of the same width, one where all values are the same. What is infinite has parts of its
 * own. Returns the weight of all. */
static double put_standard(writer *w, cst__message *histogram, size_t row, const char *column,
                           uint64_t infinite[2]) {
  static const char *const fields[] = {"low", "high", "weight"};
  char names[3][40];
  size_t begin, end;
  double total = 0;
  for (int i = 0; i < 3; i++) {
    (void)snprintf(names[i], sizeof names[i], "%s.%s", column, fields[i]);
  }
  if (histogram == NULL) {
    return 0;
  }
  if (infinite[0] > 0) {
    put_bucket(w, histogram, (double)-INFINITY, (double)-INFINITY, (double)infinite[0]);
  }
  (void)cst_findings_items(w->found, column, row, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    total += real_at(w, names[2], i);
  }
  const bool is_one = begin < end && real_at(w, names[0], begin) == real_at(w, names[1], end - 1);
  if (is_one) {
    put_bucket(w, histogram, real_at(w, names[0], begin), real_at(w, names[0], begin), total);
  }
  for (size_t i = begin; i < end && !is_one; i++) {
    put_bucket(w, histogram, real_at(w, names[0], i), real_at(w, names[1], i),
               real_at(w, names[2], i));
  }
  if (infinite[1] > 0) {
    put_bucket(w, histogram, (double)INFINITY, (double)INFINITY, (double)infinite[1]);
  }
  return total;
}

/* ---- what every feature has ---- */

static void put_level(writer *w, cst__message *common, size_t level) {
  cst__message *to = put_child(w, common, TFDV_COMMON_LEVEL);
  const uint64_t lists = count_at(w, "levels.lists", level);
  if (to == NULL) {
    return;
  }
  put_count(w, to, TFDV_LEVEL_NUM_NON_MISSING, lists);
  put_count(w, to, TFDV_LEVEL_NUM_MISSING, count_at(w, "levels.nulls", level));
  if (lists > 0) {
    put_count(w, to, TFDV_LEVEL_MIN_NUM_VALUES, count_at(w, "levels.min", level));
    put_count(w, to, TFDV_LEVEL_MAX_NUM_VALUES, count_at(w, "levels.max", level));
    put_count(w, to, TFDV_LEVEL_TOT_NUM_VALUES, count_at(w, "levels.items", level));
  }
}

static void put_weights(writer *w, cst__message *to, double present, double missing, double total) {
  if (to != NULL) {
    put_real(w, to, TFDV_WEIGHTED_NUM_NON_MISSING, present);
    put_real(w, to, TFDV_WEIGHTED_NUM_MISSING, missing);
    put_real(w, to, TFDV_WEIGHTED_TOT_NUM_VALUES, total);
    put_real(w, to, TFDV_WEIGHTED_AVG_NUM_VALUES, present > 0 ? total / present : 0);
  }
}

static void put_weighted_common(writer *w, cst__message *common, size_t row) {
  const size_t parent = w->at.parents[row - w->at.begin];
  const double present = real_at(w, "present_weight", row);
  const double rows = parent == SIZE_MAX ? w->at.weight : total_weight(w, parent);
  size_t begin, end;
  if (isnan(present)) {
    return;
  }
  put_weights(w, put_child(w, common, TFDV_COMMON_WEIGHTED), present, positive(rows - present),
              total_weight(w, row));
  (void)cst_findings_items(w->found, "levels", row, &begin, &end);
  for (size_t i = begin; i < end && end - begin > 1; i++) {
    put_weights(w, put_child(w, common, TFDV_COMMON_WEIGHTED_LEVEL),
                real_at(w, "levels.lists_weight", i), real_at(w, "levels.nulls_weight", i),
                real_at(w, "levels.items_weight", i));
  }
}

/* How many values each example has. */
static void put_valency(writer *w, cst__message *common, size_t row, uint64_t present) {
  size_t begin, end;
  (void)cst_findings_items(w->found, "levels", row, &begin, &end);
  if (end - begin > 1) {
    return; /* of lists in lists, TFDV counts in the innermost */
  }
  const uint64_t least = begin < end ? count_at(w, "levels.min", begin) : 1;
  const uint64_t most = begin < end ? count_at(w, "levels.max", begin) : 1;
  put_count(w, common, TFDV_COMMON_MIN_NUM_VALUES, least);
  put_count(w, common, TFDV_COMMON_MAX_NUM_VALUES, most);
  cst__message *histogram = put_child(w, common, TFDV_COMMON_NUM_VALUES_HISTOGRAM);
  if (least != most) {
    put_quantiles(w, histogram, row, "lengths", (double)present);
    return;
  }
  for (int i = 0; i < BUCKETS && histogram != NULL; i++) {
    put_count(w, histogram, TFDV_HISTOGRAM_TYPE, TFDV_QUANTILES);
    put_bucket(w, histogram, (double)least, (double)least, (double)present / BUCKETS);
  }
}

static void put_common(writer *w, cst__message *stats, size_t row) {
  cst__message *common = put_child(w, stats, TFDV_COMMON_STATS);
  const size_t parent = w->at.parents[row - w->at.begin];
  const uint64_t rows = parent == SIZE_MAX ? w->at.num_examples : total_values(w, parent);
  const uint64_t present = count_at(w, "present", row);
  const uint64_t total = total_values(w, row);
  size_t begin, end;
  if (common == NULL) {
    return;
  }
  put_count(w, common, TFDV_COMMON_NUM_NON_MISSING, present);
  put_count(w, common, TFDV_COMMON_NUM_MISSING, rows > present ? rows - present : 0);
  put_count(w, common, TFDV_COMMON_TOT_NUM_VALUES, total);
  if (present > 0) {
    put_real(w, common, TFDV_COMMON_AVG_NUM_VALUES, (double)total / (double)present);
    put_valency(w, common, row, present);
  }
  (void)cst_findings_items(w->found, "levels", row, &begin, &end);
  for (size_t i = begin; i < end && end - begin > 1; i++) {
    put_level(w, common, i);
  }
  put_weighted_common(w, common, row);
}

/* ---- numbers ---- */

static void put_weighted_numbers(writer *w, cst__message *stats, size_t row, uint64_t nan) {
  uint64_t none[2] = {0, 0}; /* what the infinite ones weigh is not known */
  cst__message *to =
      isnan(real_at(w, "weighted_mean", row)) ? NULL : put_child(w, stats, TFDV_NUMERIC_WEIGHTED);
  if (to == NULL) {
    return;
  }
  put_real(w, to, TFDV_WEIGHTED_NUMERIC_MEAN, real_at(w, "weighted_mean", row));
  put_real(w, to, TFDV_WEIGHTED_NUMERIC_STD_DEV, real_at(w, "weighted_std_dev", row));
  put_real(w, to, TFDV_WEIGHTED_NUMERIC_MEDIAN, median_of(w, row, "weighted_quantiles"));
  cst__message *standard = put_child(w, to, TFDV_WEIGHTED_NUMERIC_HISTOGRAM);
  const double total = put_standard(w, standard, row, "weighted_histogram", none);
  cst__message *quantiles = put_child(w, to, TFDV_WEIGHTED_NUMERIC_HISTOGRAM);
  put_quantiles(w, quantiles, row, "weighted_quantiles", total);
  if (standard != NULL && quantiles != NULL) {
    put_count(w, standard, TFDV_HISTOGRAM_NUM_NAN, nan);
    put_count(w, quantiles, TFDV_HISTOGRAM_NUM_NAN, nan);
    put_count(w, quantiles, TFDV_HISTOGRAM_TYPE, TFDV_QUANTILES);
  }
}

static void put_numbers(writer *w, cst__message *stats, size_t row) {
  const uint64_t nan = count_at(w, "nan", row);
  const uint64_t values = count_at(w, "values", row);
  uint64_t infinite[] = {count_at(w, "minus_infinity", row), count_at(w, "plus_infinity", row)};
  if (values == 0) {
    return;
  }
  put_real(w, stats, TFDV_NUMERIC_MEAN, real_at(w, "mean", row));
  put_real(w, stats, TFDV_NUMERIC_STD_DEV, real_at(w, "std_dev", row));
  put_count(w, stats, TFDV_NUMERIC_NUM_ZEROS, count_at(w, "zeros", row));
  put_real(w, stats, TFDV_NUMERIC_MIN, real_at(w, "min", row));
  put_real(w, stats, TFDV_NUMERIC_MEDIAN, median_of(w, row, "quantiles"));
  put_real(w, stats, TFDV_NUMERIC_MAX, real_at(w, "max", row));
  cst__message *standard = put_child(w, stats, TFDV_NUMERIC_HISTOGRAM);
  (void)put_standard(w, standard, row, "histogram", infinite);
  cst__message *quantiles = put_child(w, stats, TFDV_NUMERIC_HISTOGRAM);
  put_quantiles(w, quantiles, row, "quantiles", values > nan ? (double)(values - nan) : 0);
  if (standard != NULL && quantiles != NULL) {
    put_count(w, standard, TFDV_HISTOGRAM_NUM_NAN, nan);
    put_count(w, quantiles, TFDV_HISTOGRAM_NUM_NAN, nan);
    put_count(w, quantiles, TFDV_HISTOGRAM_TYPE, TFDV_QUANTILES);
  }
  put_weighted_numbers(w, stats, row, nan);
}

/* ---- strings and bytes ---- */

typedef struct frequent {
  cst_bytes value;
  double frequency;
} frequent;

/* As TFDV has them: the most frequent first, of the same frequency the greatest. */
static int compare_frequent(const void *a, const void *b) {
  const frequent *x = a;
  const frequent *y = b;
  return x->frequency != y->frequency ? (x->frequency < y->frequency ? 1 : -1)
                                      : cst__bytes_compare(y->value, x->value);
}

static void put_rank(writer *w, cst__message *ranks, uint64_t rank, const frequent *item) {
  cst__message *bucket = put_child(w, ranks, TFDV_RANKS_BUCKET);
  if (bucket != NULL) {
    put_count(w, bucket, TFDV_RANK_LOW, rank);
    put_count(w, bucket, TFDV_RANK_HIGH, rank);
    put_text(w, bucket, TFDV_RANK_LABEL, (const char *)item->value.data, item->value.size);
    put_real(w, bucket, TFDV_RANK_SAMPLE_COUNT, item->frequency);
  }
}

/* The values of a list, and their ranks. */
static void put_top(writer *w, cst__message *stats, size_t row, const char *column,
                    const int32_t numbers[2]) {
  char value[40], upper[40];
  size_t begin, end;
  (void)snprintf(value, sizeof value, "%s.value", column);
  (void)snprintf(upper, sizeof upper, "%s.upper", column);
  if (!cst_findings_items(w->found, column, row, &begin, &end) || begin == end) {
    return;
  }
  frequent *items = cst__arena_take_items(&w->arena, (int64_t)(end - begin), sizeof *items);
  cst__message *ranks = items != NULL ? put_child(w, stats, numbers[1]) : NULL;
  if (ranks == NULL) {
    w->failed = true;
    return;
  }
  for (size_t i = begin; i < end; i++) {
    const char *text = cst_findings_text(w->found, value, i);
    items[i - begin] =
        (frequent){cst__bytes_of(text != NULL ? text : ""), positive(real_at(w, upper, i))};
  }
  qsort(items, end - begin, sizeof *items, compare_frequent);
  for (size_t i = 0; i < end - begin; i++) {
    cst__message *top = i < TOP_VALUES ? put_child(w, stats, numbers[0]) : NULL;
    if (top != NULL) {
      put_text(w, top, TFDV_TOP_VALUE, (const char *)items[i].value.data, items[i].value.size);
      put_real(w, top, TFDV_TOP_FREQUENCY, items[i].frequency);
    }
    put_rank(w, ranks, i, &items[i]);
  }
}

/* An estimate as a count. */
static uint64_t rounded(double number) {
  return number >= 9.2e18 ? INT64_MAX : number > 0 ? (uint64_t)llround(number) : 0;
}

static void put_strings(writer *w, cst__message *stats, size_t row) {
  static const int32_t plain[] = {TFDV_STRING_TOP_VALUE, TFDV_STRING_RANK_HISTOGRAM};
  static const int32_t weighted[] = {TFDV_WEIGHTED_STRING_TOP_VALUE,
                                     TFDV_WEIGHTED_STRING_RANK_HISTOGRAM};
  size_t begin, end;
  put_count(w, stats, TFDV_STRING_UNIQUE, rounded(real_at(w, "distinct", row)));
  put_real(w, stats, TFDV_STRING_AVG_LENGTH, real_at(w, "mean_length", row));
  put_count(w, stats, TFDV_STRING_INVALID_UTF8_COUNT, count_at(w, "not_utf8", row));
  put_top(w, stats, row, "top", plain);
  if (cst_findings_items(w->found, "weighted_top", row, &begin, &end) && begin < end) {
    cst__message *to = put_child(w, stats, TFDV_STRING_WEIGHTED);
    if (to != NULL) {
      put_top(w, to, row, "weighted_top", weighted);
    }
  }
}

static void put_sizes(writer *w, cst__message *stats, size_t row) {
  const uint64_t most = count_at(w, "max_length", row);
  put_count(w, stats, TFDV_BYTES_UNIQUE, rounded(real_at(w, "distinct", row)));
  put_real(w, stats, TFDV_BYTES_AVG_NUM_BYTES, real_at(w, "mean_length", row));
  put_real(w, stats, TFDV_BYTES_MIN_NUM_BYTES, (double)count_at(w, "min_length", row));
  put_real(w, stats, TFDV_BYTES_MAX_NUM_BYTES, (double)most);
  put_count(w, stats, TFDV_BYTES_MAX_NUM_BYTES_INT, most);
}

/* ---- a feature ---- */

/* Bytes none of which are text are BYTES; those of a record that may be text are STRING for TFDV,
 * and so is what it knows no type of. */
static cst__tfdv_type type_of(const writer *w, size_t row) {
  const char *text = cst_findings_text(w->found, "type", row);
  const char *type = text != NULL ? text : "";
  const uint64_t values = count_at(w, "values", row);
  if (strcmp(type, "INT") == 0 || strcmp(type, "UINT") == 0 || strcmp(type, "BOOL") == 0 ||
      strcmp(type, "TIME") == 0) {
    return TFDV_INT;
  }
  if (strcmp(type, "BYTES") == 0 && values > 0 && count_at(w, "not_utf8", row) == values) {
    return TFDV_BYTES;
  }
  return strcmp(type, "FLOAT") == 0    ? TFDV_FLOAT
         : strcmp(type, "STRUCT") == 0 ? TFDV_STRUCT
                                       : TFDV_STRING;
}

static const char *path_of(const writer *w, size_t row) {
  const char *path = cst_findings_text(w->found, "path", row);
  return path != NULL ? path : "";
}

/* A step for each struct around the feature, and one for itself. */
static void put_path(writer *w, cst__message *feature, size_t row) {
  cst__message *path = put_child(w, feature, TFDV_FEATURE_PATH);
  size_t rows[CST__DEPTH_LIMIT];
  size_t depth = 0;
  for (size_t at = row; at != SIZE_MAX && depth < CST__DEPTH_LIMIT;
       at = w->at.parents[at - w->at.begin]) {
    rows[depth++] = at;
  }
  size_t known = 0; /* bytes of the steps before, and a dot */
  while (path != NULL && depth-- > 0) {
    const char *text = path_of(w, rows[depth]);
    const size_t size = strlen(text);
    put_text(w, path, TFDV_PATH_STEP, text + known, size - known);
    known = size + 1;
  }
}

static void put_feature(writer *w, size_t row) {
  static const int32_t members[] = {TFDV_FEATURE_NUM_STATS, TFDV_FEATURE_NUM_STATS,
                                    TFDV_FEATURE_STRING_STATS, TFDV_FEATURE_BYTES_STATS,
                                    TFDV_FEATURE_STRUCT_STATS};
  const cst__tfdv_type type = type_of(w, row);
  cst__arena_rewind(&w->arena);
  cst__message *feature = cst__message_new(&w->arena, cst__tfdv_feature_def);
  cst__message *stats = put_child(w, feature, members[type]);
  if (feature == NULL || stats == NULL) {
    return;
  }
  put_path(w, feature, row);
  put_count(w, feature, TFDV_FEATURE_TYPE, (uint64_t)type);
  put_common(w, stats, row);
  if (type == TFDV_INT || type == TFDV_FLOAT) {
    put_numbers(w, stats, row);
  } else if (type == TFDV_STRING) {
    put_strings(w, stats, row);
  } else if (type == TFDV_BYTES) {
    put_sizes(w, stats, row);
  }
  if (!w->failed) {
    const size_t before = cst__wire_out_size(&w->out);
    cst__message_put_wire(feature, &w->out);
    cst__wire_put_varint(&w->out, cst__wire_out_size(&w->out) - before);
    cst__wire_put_tag(&w->out, TFDV_DATASET_FEATURE, CST__WIRE_LEN);
  }
}

/* ---- a data set ---- */

static bool same_slice(const cst_findings *found, size_t a, size_t b) {
  size_t begin[2], end[2];
  (void)cst_findings_items(found, "slice", a, &begin[0], &end[0]);
  (void)cst_findings_items(found, "slice", b, &begin[1], &end[1]);
  bool same = end[0] - begin[0] == end[1] - begin[1];
  for (size_t i = 0; same && i < end[0] - begin[0]; i++) {
    for (int field = 0; same && field < 2; field++) {
      const char *name = field == 0 ? "slice.path" : "slice.value";
      const char *x = cst_findings_text(found, name, begin[0] + i);
      const char *y = cst_findings_text(found, name, begin[1] + i);
      same = x != NULL && y != NULL && strcmp(x, y) == 0;
    }
  }
  return same;
}

/* The struct around a path: that of the longest beginning. A name may have dots of its own. */
static size_t find_parent(const cst__name_map *structs, const char *path) {
  size_t size = strlen(path);
  for (int tries = 0; tries < CST__DEPTH_LIMIT && size > 0; tries++) {
    while (size > 0 && path[size - 1] != '.') {
      size--;
    }
    size_t found = size > 0 ? cst__name_map_find(structs, path, size - 1) : SIZE_MAX;
    if (found != SIZE_MAX) {
      return found;
    }
    size -= size > 0;
  }
  return SIZE_MAX;
}

/* What all features of the data set are measured by. `lists` holds it. */
static bool survey(writer *w, cst__arena *lists) {
  dataset *at = &w->at;
  cst__name_map structs = {0};
  bool ok = true;
  at->parents = cst__arena_take_items(lists, (int64_t)(at->end - at->begin), sizeof *at->parents);
  for (size_t row = at->begin; ok && row < at->end; row++) {
    const char *path = path_of(w, row);
    const size_t size = strlen(path);
    ok = type_of(w, row) != TFDV_STRUCT || cst__name_map_find(&structs, path, size) != SIZE_MAX ||
         cst__name_map_add(&structs, path, size, row);
  }
  ok = ok && at->parents != NULL;
  for (size_t row = at->begin; ok && row < at->end; row++) {
    const size_t parent = find_parent(&structs, path_of(w, row));
    at->parents[row - at->begin] = parent;
    if (parent == SIZE_MAX) {
      const uint64_t rows = count_at(w, "rows", row);
      const double weight = real_at(w, "rows_weight", row);
      at->num_examples = rows > at->num_examples ? rows : at->num_examples;
      at->weight = weight > at->weight ? weight : at->weight;
    }
  }
  cst__name_map_reset(&structs);
  return ok;
}

/* "company_Blue", as TFDV has it, of a table with a name behind that and a slash. */
static void put_dataset_name(writer *w, bool has_slices) {
  size_t begin, end;
  cst__text name = {0};
  (void)cst_findings_items(w->found, "slice", w->at.begin, &begin, &end);
  if (w->name != NULL) {
    cst__text_puts(&name, w->name);
    cst__text_puts(&name, begin < end ? "/" : "");
  } else if (begin == end && has_slices) {
    cst__text_puts(&name, TFDV_ALL_EXAMPLES);
  }
  for (size_t i = begin; i < end; i++) {
    const char *path = cst_findings_text(w->found, "slice.path", i);
    const char *value = cst_findings_text(w->found, "slice.value", i);
    const bool has_path = path != NULL && path[0] != '\0';
    cst__text_puts(&name, i > begin ? "_" : "");
    cst__text_puts(&name, has_path ? path : "");
    cst__text_puts(&name, has_path ? "_" : "");
    cst__text_puts(&name, value != NULL ? value : "");
  }
  w->failed = w->failed || name.failed;
  if (name.size > 0) {
    cst__wire_put_bytes(&w->out, name.data, name.size);
    cst__wire_put_varint(&w->out, name.size);
    cst__wire_put_tag(&w->out, TFDV_DATASET_NAME, CST__WIRE_LEN);
  }
  cst__text_free(&name);
}

static void put_dataset(writer *w, bool has_slices) {
  const size_t before = cst__wire_out_size(&w->out);
  cst__arena lists;
  cst__arena_init(&lists, NULL);
  w->failed = w->failed || !survey(w, &lists);
  uint64_t bits;
  memcpy(&bits, &w->at.weight, sizeof bits);
  if (w->at.weight > 0) {
    cst__wire_put_fixed64(&w->out, bits);
    cst__wire_put_tag(&w->out, TFDV_DATASET_WEIGHTED_NUM_EXAMPLES, CST__WIRE_FIXED64);
  }
  for (size_t row = w->at.end; !w->failed && row-- > w->at.begin;) {
    put_feature(w, row);
  }
  if (w->at.num_examples > 0) {
    cst__wire_put_varint(&w->out, w->at.num_examples);
    cst__wire_put_tag(&w->out, TFDV_DATASET_NUM_EXAMPLES, CST__WIRE_VARINT);
  }
  put_dataset_name(w, has_slices);
  cst__wire_put_varint(&w->out, cst__wire_out_size(&w->out) - before);
  cst__wire_put_tag(&w->out, TFDV_LIST_DATASET, CST__WIRE_LEN);
  cst__arena_reset(&lists);
}

/* A data set for all rows, if nothing else, and one for each slice. */
static void put_table(writer *w) {
  const size_t num_rows = cst_findings_num_rows(w->found);
  const int64_t total = cst_findings_total(w->found, "num_rows");
  size_t begin, end;
  size_t at = num_rows;
  bool has_slices = num_rows > 0 &&
                    cst_findings_items(w->found, "slice", num_rows - 1, &begin, &end) &&
                    begin < end;
  do {
    w->at = (dataset){.begin = at, .end = at};
    while (w->at.begin > 0 &&
           (at == w->at.begin || same_slice(w->found, w->at.begin - 1, at - 1))) {
      w->at.begin--;
    }
    at = w->at.begin;
    const bool is_all = w->at.begin == w->at.end ||
                        (cst_findings_items(w->found, "slice", at, &begin, &end) && begin == end);
    w->at.num_examples = is_all && total > 0 ? (uint64_t)total : 0;
    put_dataset(w, has_slices);
  } while (at > 0 && !w->failed);
}

static cst_status check_tables(const cst_statistics_named *tables, size_t num_tables,
                               cst_error *error) {
  for (size_t i = 0; i < num_tables; i++) {
    const char *kind = cst_findings_name(tables[i].features);
    if (kind == NULL) {
      return cst__missing("features", error);
    }
    if (strcmp(kind, "features") != 0) {
      return cst__fail(error, CST_INVALID_ARGUMENT,
                       "pass the findings of the accumulator `statistics`",
                       "the findings are %s, expected features", kind);
    }
  }
  return CST_OK;
}

cst_status cst_statistics_to_tfdv(const cst_statistics_named *tables, size_t num_tables,
                                  char **bytes, size_t *size, cst_error *error) {
  CST__CLEAR(bytes);
  CST__CLEAR(size);
  if (tables == NULL || bytes == NULL || size == NULL) {
    return cst__missing(tables == NULL ? "tables" : bytes == NULL ? "bytes" : "size", error);
  }
  CST__TRY(check_tables(tables, num_tables, error));
  writer w = {0};
  cst__arena_init(&w.arena, NULL);
  for (size_t i = num_tables; i-- > 0 && !w.failed;) {
    w.found = tables[i].features;
    w.name = tables[i].name;
    put_table(&w);
  }
  cst__arena_reset(&w.arena);
  const size_t written = cst__wire_out_size(&w.out);
  if (written > INT32_MAX) {
    cst__wire_out_free(&w.out);
    return cst__fail(error, CST_LIMIT, "write fewer slices or features",
                     "the message has %zu bytes, more than protobuf's 2 GiB", written);
  }
  w.out.failed = w.out.failed || w.failed;
  return cst__wire_out_finish(&w.out, bytes, size, error);
}
