/* TFDV's proto as a table of features. The list and its data sets are walked twice, for what they
 * are called and for their features; each feature is a tree, and its row is put column by column,
 * by the names that the table has: of what TFDV does not know, null. */
#include <columnstone/statistics.h>
#include <math.h>

#include "base/arguments.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "proto/message.h"
#include "statistics/statistics.h"
#include "statistics/tfdv.h"

typedef struct data_set {
  cst_bytes bytes;
  cst_bytes name;
  uint64_t num_examples;
} data_set;

/* The feature at hand. */
typedef struct row {
  const data_set *of;
  size_t path_size; /* of a slice: so much of the data set's name is its feature's */
  bool is_slice;
  cst__tfdv_type type; /* by which statistics it has */
  const cst__message *feature, *stats, *common;
  const cst__message *weighted;      /* of numbers or strings; NULL: there are none */
  bool has_values;                   /* that are not NaN */
  const cst__finding_column *column; /* the one at hand, */
  int32_t number;                    /* and which field it is, where that is all there is to say */
} row;

/* A column that TFDV has something for. */
typedef struct known_column {
  const char *name;
  void (*put)(cst_findings *found, const row *r);
  int32_t number;
} known_column;

typedef struct reader {
  cst_bytes all;
  cst__arena arena;    /* what is known of data sets */
  cst__arena features; /* of the feature at hand */
  data_set *datasets;
  size_t count, capacity;
  const known_column **columns; /* of the table, in its order */
  cst__name_map paths;          /* of the features of all rows */
  cst_findings *found;
  cst_error *error;
} reader;

/* ---- the list and its data sets ---- */

static cst_status fail_tfdv(reader *r, const uint8_t *at, const char *what) {
  cst_status status =
      cst__fail(r->error, CST_CORRUPT, NULL, "not a valid DatasetFeatureStatisticsList: %s", what);
  cst__error_add_record(r->error, -1, at - r->all.data);
  return status;
}

static cst_status fail_wire(reader *r, const cst__wire *wire) {
  return fail_tfdv(r, wire->fault_at, cst__wire_fault_text(wire->fault));
}

static cst_status fail_no_memory(const reader *r) {
  return cst__fail_memory(r->error, sizeof(data_set));
}

static cst_status read_dataset(reader *r, data_set *set) {
  cst__wire wire = cst__wire_of(set->bytes.data, set->bytes.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.number == TFDV_DATASET_NAME && field.type == CST__WIRE_LEN) {
      if (!cst__utf8_valid(field.bytes.data, field.bytes.size)) {
        return fail_tfdv(r, field.bytes.data, cst__wire_fault_text(CST__WIRE_FAULT_UTF8));
      }
      set->name = field.bytes;
    } else if (field.number == TFDV_DATASET_NUM_EXAMPLES && field.type == CST__WIRE_VARINT) {
      set->num_examples = field.value;
    }
  }
  return wire.fault == CST__WIRE_FAULT_NONE ? CST_OK : fail_wire(r, &wire);
}

static cst_status read_list(reader *r) {
  cst__wire wire = cst__wire_of(r->all.data, r->all.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.number != TFDV_LIST_DATASET || field.type != CST__WIRE_LEN) {
      continue;
    }
    void *items = r->datasets;
    const bool grown =
        cst__grow(&r->arena.allocator, &items, &r->capacity, r->count + 1, sizeof *r->datasets);
    r->datasets = items;
    if (!grown) {
      return fail_no_memory(r);
    }
    r->datasets[r->count] = (data_set){.bytes = field.bytes};
    CST__TRY(read_dataset(r, &r->datasets[r->count++]));
  }
  return wire.fault == CST__WIRE_FAULT_NONE ? CST_OK : fail_wire(r, &wire);
}

/* The data set of a name; SIZE_MAX: there is none. */
static size_t find_dataset(const reader *r, const char *name) {
  for (size_t i = 0; i < r->count; i++) {
    if (cst__bytes_equal(r->datasets[i].name, cst__bytes_of(name))) {
      return i;
    }
  }
  return SIZE_MAX;
}

/* ---- parts of messages ---- */

static uint64_t count_of(const cst__message *message, int32_t number) {
  return message != NULL ? (uint64_t)cst__message_int(message, number, 0) : 0;
}

static double real_of(const cst__message *message, int32_t number) {
  return message != NULL ? cst__message_double(message, number, 0) : (double)NAN;
}

static size_t number_of(const cst__message *message, int32_t number) {
  return message != NULL ? cst__message_count(message, number) : 0;
}

static const cst__message *nth(const cst__message *message, int32_t number, size_t i) {
  return i < number_of(message, number)
             ? cst__field_value(cst__message_find(message, number), i)->message
             : NULL;
}

static const cst__message *child_of(const cst__message *message, int32_t number) {
  return message != NULL ? cst__message_child(message, number) : NULL;
}

/* The first histogram of a kind; NULL: there is none. */
static const cst__message *histogram_of(const cst__message *message, int32_t number, int64_t kind) {
  for (size_t i = 0; i < number_of(message, number); i++) {
    const cst__message *histogram = nth(message, number, i);
    if (cst__message_int(histogram, TFDV_HISTOGRAM_TYPE, TFDV_STANDARD) == kind) {
      return histogram;
    }
  }
  return NULL;
}

/* ---- cells ---- */

static void put_real_or_null(cst_findings *found, double number) {
  if (isnan(number)) {
    cst__put_null(found);
  } else {
    cst__put_real(found, number);
  }
}

static void put_bytes(cst_findings *found, cst_bytes text) {
  cst__put_bytes(found, text.data != NULL ? text.data : (const uint8_t *)"", text.size);
}

static void put_slice(cst_findings *found, const row *r) {
  cst__open_list(found);
  if (r->is_slice) {
    const cst_bytes name = r->of->name;
    const size_t path = r->path_size;
    put_bytes(found, (cst_bytes){name.data, path});
    put_bytes(found, path > 0 ? (cst_bytes){name.data + path + 1, name.size - path - 1} : name);
  }
  cst__close_list(found);
}

/* The steps of a path with dots between; false: no memory. */
static bool path_of(const cst__message *feature, cst__text *out) {
  const cst__message *path = cst__message_child(feature, TFDV_FEATURE_PATH);
  if (path == NULL) {
    const cst_bytes name = cst__message_bytes(feature, TFDV_FEATURE_NAME);
    cst__text_append(out, name.data, name.size);
  }
  for (size_t i = 0; i < number_of(path, TFDV_PATH_STEP); i++) {
    const cst_bytes step = cst__field_value(cst__message_find(path, TFDV_PATH_STEP), i)->bytes;
    cst__text_puts(out, i > 0 ? "." : "");
    cst__text_append(out, step.data, step.size);
  }
  return !out->failed;
}

static void put_path(cst_findings *found, const row *r) {
  cst__text path = {0};
  const bool ok = path_of(r->feature, &path);
  cst__put_bytes(found, path.size > 0 ? path.data : "", ok ? path.size : SIZE_MAX);
  cst__text_free(&path);
}

static bool is_number(const row *r) { return r->type == TFDV_INT || r->type == TFDV_FLOAT; }

/* Strings some of which are no text are bytes. */
static void put_type(cst_findings *found, const row *r) {
  static const char *const names[] = {"INT", "FLOAT", "STRING", "BYTES", "STRUCT"};
  const bool has_bytes =
      r->type == TFDV_STRING && count_of(r->stats, TFDV_STRING_INVALID_UTF8_COUNT) > 0;
  cst__put_text(found, names[has_bytes ? TFDV_BYTES : r->type]);
}

static void put_rows(cst_findings *found, const row *r) {
  cst__put_number(found, cst__count_sum(count_of(r->common, TFDV_COMMON_NUM_NON_MISSING),
                                        count_of(r->common, TFDV_COMMON_NUM_MISSING)));
}

static void put_present(cst_findings *found, const row *r) {
  cst__put_number(found, count_of(r->common, TFDV_COMMON_NUM_NON_MISSING));
}

static void put_rows_weight(cst_findings *found, const row *r) {
  const cst__message *weights = child_of(r->common, TFDV_COMMON_WEIGHTED);
  put_real_or_null(found, real_of(weights, TFDV_WEIGHTED_NUM_NON_MISSING) +
                              real_of(weights, TFDV_WEIGHTED_NUM_MISSING));
}

static void put_present_weight(cst_findings *found, const row *r) {
  put_real_or_null(
      found, real_of(child_of(r->common, TFDV_COMMON_WEIGHTED), TFDV_WEIGHTED_NUM_NON_MISSING));
}

/* Of lists in lists, what the innermost have. */
static uint64_t num_values(const row *r) {
  const size_t levels = number_of(r->common, TFDV_COMMON_LEVEL);
  return levels > 0
             ? count_of(nth(r->common, TFDV_COMMON_LEVEL, levels - 1), TFDV_LEVEL_TOT_NUM_VALUES)
             : count_of(r->common, TFDV_COMMON_TOT_NUM_VALUES);
}

static void put_values(cst_findings *found, const row *r) { cst__put_number(found, num_values(r)); }

static void put_values_weight(cst_findings *found, const row *r) {
  put_real_or_null(
      found, real_of(child_of(r->common, TFDV_COMMON_WEIGHTED), TFDV_WEIGHTED_TOT_NUM_VALUES));
}

/* ---- lists ---- */

typedef struct level {
  uint64_t nulls, lists, items, min, max;
  const cst__message *weights; /* NULL: there are none */
} level;

/* By the names that the table has for it. */
static void put_level_field(cst_findings *found, const level *l, const cst__finding_column *field) {
  const char *name = field->name;
  if (strcmp(name, "nulls") == 0) {
    cst__put_number(found, l->nulls);
  } else if (strcmp(name, "lists") == 0) {
    cst__put_number(found, l->lists);
  } else if (strcmp(name, "items") == 0) {
    cst__put_number(found, l->items);
  } else if (strcmp(name, "min") == 0 && l->lists > 0) {
    cst__put_number(found, l->min);
  } else if (strcmp(name, "max") == 0 && l->lists > 0) {
    cst__put_number(found, l->max);
  } else if (strcmp(name, "empty") == 0 && (l->min > 0 || l->lists == 0)) {
    cst__put_number(found, 0);
  } else if (strcmp(name, "nulls_weight") == 0) {
    put_real_or_null(found, real_of(l->weights, TFDV_WEIGHTED_NUM_MISSING));
  } else if (strcmp(name, "lists_weight") == 0) {
    put_real_or_null(found, real_of(l->weights, TFDV_WEIGHTED_NUM_NON_MISSING));
  } else if (strcmp(name, "items_weight") == 0) {
    put_real_or_null(found, real_of(l->weights, TFDV_WEIGHTED_TOT_NUM_VALUES));
  } else {
    cst__put_null(found);
  }
}

static void put_level(cst_findings *found, const level *l, const cst__finding_column *column) {
  for (size_t i = 0; i < column->num_items; i++) {
    put_level_field(found, l, &column->items[i]);
  }
}

/* TFDV's features are lists; of lists in lists it tells of each level. */
static void put_levels(cst_findings *found, const row *r) {
  const size_t count = number_of(r->common, TFDV_COMMON_LEVEL);
  cst__open_list(found);
  for (size_t i = 0; i < count; i++) {
    const cst__message *from = nth(r->common, TFDV_COMMON_LEVEL, i);
    const level made = {
        count_of(from, TFDV_LEVEL_NUM_MISSING),    count_of(from, TFDV_LEVEL_NUM_NON_MISSING),
        count_of(from, TFDV_LEVEL_TOT_NUM_VALUES), count_of(from, TFDV_LEVEL_MIN_NUM_VALUES),
        count_of(from, TFDV_LEVEL_MAX_NUM_VALUES), nth(r->common, TFDV_COMMON_WEIGHTED_LEVEL, i)};
    put_level(found, &made, r->column);
  }
  if (count == 0) {
    const level made = {count_of(r->common, TFDV_COMMON_NUM_MISSING),
                        count_of(r->common, TFDV_COMMON_NUM_NON_MISSING),
                        count_of(r->common, TFDV_COMMON_TOT_NUM_VALUES),
                        count_of(r->common, TFDV_COMMON_MIN_NUM_VALUES),
                        count_of(r->common, TFDV_COMMON_MAX_NUM_VALUES),
                        child_of(r->common, TFDV_COMMON_WEIGHTED)};
    put_level(found, &made, r->column);
  }
  cst__close_list(found);
}

/* The bounds of a histogram's buckets. */
static void put_bounds(cst_findings *found, const cst__message *histogram) {
  const size_t count = number_of(histogram, TFDV_HISTOGRAM_BUCKET);
  cst__open_list(found);
  for (size_t i = 0; i < count; i++) {
    const cst__message *bucket = nth(histogram, TFDV_HISTOGRAM_BUCKET, i);
    if (i == 0) {
      cst__put_real(found, real_of(bucket, TFDV_BUCKET_LOW_VALUE));
    }
    cst__put_real(found, real_of(bucket, TFDV_BUCKET_HIGH_VALUE));
  }
  cst__close_list(found);
}

static void put_lengths(cst_findings *found, const row *r) {
  put_bounds(found, child_of(r->common, TFDV_COMMON_NUM_VALUES_HISTOGRAM));
}

/* ---- numbers ---- */

static const cst__message *plain_histogram(const row *r, int64_t kind) {
  return is_number(r) && num_values(r) > 0 ? histogram_of(r->stats, TFDV_NUMERIC_HISTOGRAM, kind)
                                           : NULL;
}

static const cst__message *weighted_histogram(const row *r, int64_t kind) {
  return is_number(r) ? histogram_of(r->weighted, TFDV_WEIGHTED_NUMERIC_HISTOGRAM, kind) : NULL;
}

/* One that is not said where there are no values. */
static void put_numeric(cst_findings *found, const row *r) {
  put_real_or_null(found,
                   is_number(r) && r->has_values ? real_of(r->stats, r->number) : (double)NAN);
}

static void put_count_of_numbers(cst_findings *found, const row *r, uint64_t count) {
  if (is_number(r)) {
    cst__put_number(found, count);
  } else {
    cst__put_null(found);
  }
}

static void put_zeros(cst_findings *found, const row *r) {
  const bool has_zeros = is_number(r) && num_values(r) > 0;
  put_count_of_numbers(found, r, has_zeros ? count_of(r->stats, TFDV_NUMERIC_NUM_ZEROS) : 0);
}

static uint64_t nan_of(const row *r) {
  return count_of(plain_histogram(r, TFDV_STANDARD), TFDV_HISTOGRAM_NUM_NAN);
}

static void put_nan(cst_findings *found, const row *r) {
  put_count_of_numbers(found, r, nan_of(r));
}

/* How many values are infinite, of the sign of the number: TFDV has a bucket for them. */
static void put_infinite(cst_findings *found, const row *r) {
  const double infinity = (double)(r->number < 0 ? -INFINITY : INFINITY);
  const cst__message *histogram = plain_histogram(r, TFDV_STANDARD);
  double count = 0;
  for (size_t i = 0; i < number_of(histogram, TFDV_HISTOGRAM_BUCKET); i++) {
    const cst__message *bucket = nth(histogram, TFDV_HISTOGRAM_BUCKET, i);
    const bool is_it = real_of(bucket, TFDV_BUCKET_LOW_VALUE) == infinity &&
                       real_of(bucket, TFDV_BUCKET_HIGH_VALUE) == infinity;
    count += is_it ? real_of(bucket, TFDV_BUCKET_SAMPLE_COUNT) : 0;
  }
  const uint64_t most = INT64_MAX;
  put_count_of_numbers(found, r, count >= 9.2e18 ? most : count > 0 ? (uint64_t)count : 0);
}

static void put_quantiles(cst_findings *found, const row *r) {
  put_bounds(found, plain_histogram(r, TFDV_QUANTILES));
}

static void put_weighted_quantiles(cst_findings *found, const row *r) {
  put_bounds(found, weighted_histogram(r, TFDV_QUANTILES));
}

/* The finite buckets. */
static void put_buckets(cst_findings *found, const cst__message *histogram) {
  cst__open_list(found);
  for (size_t i = 0; i < number_of(histogram, TFDV_HISTOGRAM_BUCKET); i++) {
    const cst__message *bucket = nth(histogram, TFDV_HISTOGRAM_BUCKET, i);
    const double low = real_of(bucket, TFDV_BUCKET_LOW_VALUE);
    const double high = real_of(bucket, TFDV_BUCKET_HIGH_VALUE);
    if (isfinite(low) && isfinite(high)) {
      cst__put_real(found, low);
      cst__put_real(found, high);
      cst__put_real(found, real_of(bucket, TFDV_BUCKET_SAMPLE_COUNT));
    }
  }
  cst__close_list(found);
}

static void put_histogram(cst_findings *found, const row *r) {
  put_buckets(found, plain_histogram(r, TFDV_STANDARD));
}

static void put_weighted_histogram(cst_findings *found, const row *r) {
  put_buckets(found, weighted_histogram(r, TFDV_STANDARD));
}

static void put_weighted_numeric(cst_findings *found, const row *r) {
  put_real_or_null(found, is_number(r) ? real_of(r->weighted, r->number) : (double)NAN);
}

/* ---- strings and bytes ---- */

static void put_mean_length(cst_findings *found, const row *r) {
  const int32_t number = r->type == TFDV_STRING ? TFDV_STRING_AVG_LENGTH : TFDV_BYTES_AVG_NUM_BYTES;
  const bool has_lengths = r->has_values && (r->type == TFDV_STRING || r->type == TFDV_BYTES);
  put_real_or_null(found, has_lengths ? real_of(r->stats, number) : (double)NAN);
}

static void put_length(cst_findings *found, const row *r, double length) {
  if (r->type == TFDV_BYTES && r->has_values && length >= 0) {
    cst__put_number(found, length < 9.2e18 ? (uint64_t)length : INT64_MAX);
  } else {
    cst__put_null(found);
  }
}

static void put_min_length(cst_findings *found, const row *r) {
  put_length(found, r, r->type == TFDV_BYTES ? real_of(r->stats, TFDV_BYTES_MIN_NUM_BYTES) : -1);
}

static void put_max_length(cst_findings *found, const row *r) {
  const bool is_exact =
      r->type == TFDV_BYTES && count_of(r->stats, TFDV_BYTES_MAX_NUM_BYTES_INT) > 0;
  if (is_exact && r->has_values) {
    cst__put_number(found, count_of(r->stats, TFDV_BYTES_MAX_NUM_BYTES_INT));
  } else {
    put_length(found, r, r->type == TFDV_BYTES ? real_of(r->stats, TFDV_BYTES_MAX_NUM_BYTES) : -1);
  }
}

/* Bytes that are all BYTES for TFDV are none that it has looked at. */
static void put_not_utf8(cst_findings *found, const row *r) {
  if (r->type == TFDV_STRING) {
    cst__put_number(found, count_of(r->stats, TFDV_STRING_INVALID_UTF8_COUNT));
  } else {
    cst__put_null(found);
  }
}

static void put_distinct(cst_findings *found, const row *r) {
  const uint64_t unique = r->type == TFDV_STRING  ? count_of(r->stats, TFDV_STRING_UNIQUE)
                          : r->type == TFDV_BYTES ? count_of(r->stats, TFDV_BYTES_UNIQUE)
                                                  : 0;
  put_real_or_null(found, unique > 0 ? (double)unique : (double)NAN);
}

/* Frequent values: of the histogram of ranks, which has more of them, if it has each by itself. */
static void put_frequent(cst_findings *found, const cst__message *stats, int32_t number,
                         int32_t ranks_number) {
  const cst__message *ranks = child_of(stats, ranks_number);
  bool is_by_ranks = number_of(ranks, TFDV_RANKS_BUCKET) > number_of(stats, number);
  for (size_t i = 0; is_by_ranks && i < number_of(ranks, TFDV_RANKS_BUCKET); i++) {
    const cst__message *bucket = nth(ranks, TFDV_RANKS_BUCKET, i);
    is_by_ranks = count_of(bucket, TFDV_RANK_LOW) == count_of(bucket, TFDV_RANK_HIGH);
  }
  const cst__message *from = is_by_ranks ? ranks : stats;
  const int32_t items = is_by_ranks ? TFDV_RANKS_BUCKET : number;
  cst__open_list(found);
  for (size_t i = 0; i < number_of(from, items); i++) {
    const cst__message *item = nth(from, items, i);
    const double count = real_of(item, is_by_ranks ? TFDV_RANK_SAMPLE_COUNT : TFDV_TOP_FREQUENCY);
    put_bytes(found, cst__message_bytes(item, is_by_ranks ? TFDV_RANK_LABEL : TFDV_TOP_VALUE));
    cst__put_real(found, count);
    cst__put_real(found, count);
  }
  cst__close_list(found);
}

static void put_top(cst_findings *found, const row *r) {
  put_frequent(found, r->type == TFDV_STRING ? r->stats : NULL, TFDV_STRING_TOP_VALUE,
               TFDV_STRING_RANK_HISTOGRAM);
}

static void put_weighted_top(cst_findings *found, const row *r) {
  put_frequent(found, r->type == TFDV_STRING ? r->weighted : NULL, TFDV_WEIGHTED_STRING_TOP_VALUE,
               TFDV_WEIGHTED_STRING_RANK_HISTOGRAM);
}

/* ---- rows ---- */

static void put_unknown(cst_findings *found, const row *r) {
  if (r->column->num_items > 0 && !r->column->is_nullable) {
    cst__open_list(found);
    cst__close_list(found);
  } else {
    cst__put_null(found);
  }
}

static const known_column no_column = {NULL, put_unknown, 0};
static const known_column known_columns[] = {
    {"slice", put_slice, 0},
    {"path", put_path, 0},
    {"type", put_type, 0},
    {"rows", put_rows, 0},
    {"present", put_present, 0},
    {"rows_weight", put_rows_weight, 0},
    {"present_weight", put_present_weight, 0},
    {"levels", put_levels, 0},
    {"lengths", put_lengths, 0},
    {"values", put_values, 0},
    {"values_weight", put_values_weight, 0},
    {"mean", put_numeric, TFDV_NUMERIC_MEAN},
    {"std_dev", put_numeric, TFDV_NUMERIC_STD_DEV},
    {"min", put_numeric, TFDV_NUMERIC_MIN},
    {"max", put_numeric, TFDV_NUMERIC_MAX},
    {"zeros", put_zeros, 0},
    {"nan", put_nan, 0},
    {"plus_infinity", put_infinite, 1},
    {"minus_infinity", put_infinite, -1},
    {"quantiles", put_quantiles, 0},
    {"histogram", put_histogram, 0},
    {"weighted_mean", put_weighted_numeric, TFDV_WEIGHTED_NUMERIC_MEAN},
    {"weighted_std_dev", put_weighted_numeric, TFDV_WEIGHTED_NUMERIC_STD_DEV},
    {"weighted_quantiles", put_weighted_quantiles, 0},
    {"weighted_histogram", put_weighted_histogram, 0},
    {"mean_length", put_mean_length, 0},
    {"min_length", put_min_length, 0},
    {"max_length", put_max_length, 0},
    {"not_utf8", put_not_utf8, 0},
    {"distinct", put_distinct, 0},
    {"top", put_top, 0},
    {"weighted_top", put_weighted_top, 0}};

static bool find_columns(reader *r) {
  const size_t known = sizeof known_columns / sizeof known_columns[0];
  const size_t count = cst__features_type.num_columns;
  r->columns = cst__arena_take_items(&r->arena, (int64_t)count, sizeof *r->columns);
  for (size_t i = 0; r->columns != NULL && i < count; i++) {
    const char *name = cst__features_type.columns[i].name;
    r->columns[i] = &no_column;
    for (size_t k = 0; k < known; k++) {
      r->columns[i] = strcmp(known_columns[k].name, name) == 0 ? &known_columns[k] : r->columns[i];
    }
  }
  return r->columns != NULL;
}

/* Statistics of a kind, or else what the feature says it is. */
static void look_into(row *r) {
  static const struct {
    int32_t member, weighted;
    cst__tfdv_type type;
  } kinds[] = {{TFDV_FEATURE_NUM_STATS, TFDV_NUMERIC_WEIGHTED, TFDV_FLOAT},
               {TFDV_FEATURE_STRING_STATS, TFDV_STRING_WEIGHTED, TFDV_STRING},
               {TFDV_FEATURE_BYTES_STATS, 0, TFDV_BYTES},
               {TFDV_FEATURE_STRUCT_STATS, 0, TFDV_STRUCT}};
  const int64_t said = cst__message_int(r->feature, TFDV_FEATURE_TYPE, TFDV_INT);
  r->type = said >= TFDV_INT && said <= TFDV_STRUCT ? (cst__tfdv_type)said : TFDV_STRING;
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && r->stats == NULL; i++) {
    r->stats = cst__message_child(r->feature, kinds[i].member);
    if (r->stats != NULL) {
      r->type = kinds[i].type == TFDV_FLOAT && said != TFDV_FLOAT ? TFDV_INT : kinds[i].type;
      r->weighted = kinds[i].weighted != 0 ? cst__message_child(r->stats, kinds[i].weighted) : NULL;
    }
  }
  r->common = child_of(r->stats, TFDV_COMMON_STATS);
  r->weighted = is_number(r) && num_values(r) == 0 ? NULL : r->weighted;
  r->has_values = num_values(r) > nan_of(r);
}

static cst_status read_feature(reader *r, row *of, cst_bytes bytes) {
  cst__arena_rewind(&r->features);
  cst__message *feature = cst__message_new(&r->features, cst__tfdv_feature_def);
  if (feature == NULL) {
    return fail_no_memory(r);
  }
  cst_error inner = CST_ERROR_INIT;
  cst_status status =
      cst__message_merge(&r->features, feature, bytes, CST__DEPTH_LIMIT - 2, &inner);
  if (status != CST_OK) {
    const int64_t offset = inner.offset + (bytes.data - r->all.data);
    cst__error_forget_record(&inner);
    cst__error_add_record(&inner, -1, offset);
    cst__error_set_hint(&inner, NULL);
    cst__error_copy(r->error, &inner);
    return status;
  }
  of->feature = feature;
  of->stats = of->weighted = NULL;
  look_into(of);
  return CST_OK;
}

static bool need_path(reader *r, const row *of) {
  cst__text path = {.allocator = r->arena.allocator};
  bool ok = path_of(of->feature, &path);
  if (ok && path.size > 0 && cst__name_map_find(&r->paths, path.data, path.size) == SIZE_MAX) {
    const char *copy = cst__arena_copy(&r->arena, path.data, path.size);
    ok = copy != NULL && cst__name_map_add(&r->paths, copy, path.size, 0);
  }
  cst__text_free(&path);
  return ok;
}

static cst_status put_features(reader *r, row *of) {
  cst__wire wire = cst__wire_of(of->of->bytes.data, of->of->bytes.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.number != TFDV_DATASET_FEATURE || field.type != CST__WIRE_LEN) {
      continue;
    }
    CST__TRY(read_feature(r, of, field.bytes));
    for (size_t i = 0; i < cst__features_type.num_columns; i++) {
      of->column = &cst__features_type.columns[i];
      of->number = r->columns[i]->number;
      r->columns[i]->put(r->found, of);
    }
    if (!of->is_slice && !need_path(r, of)) {
      return fail_no_memory(r);
    }
  }
  return CST_OK;
}

/* How much of a slice's name is a feature: the longest that has an underscore behind it. */
static size_t find_slice_path(const reader *r, cst_bytes name) {
  size_t found = 0;
  int tries = 0;
  for (size_t i = 1; i < name.size && tries < CST__DEPTH_LIMIT; i++) {
    if (name.data[i] == '_') {
      tries++;
      found = cst__name_map_find(&r->paths, (const char *)name.data, i) != SIZE_MAX ? i : found;
    }
  }
  return found;
}

/* The data set of all rows first: `which`, or SIZE_MAX, and then its slices, if they are wanted. */
static cst_status put_datasets(reader *r, size_t which, bool with_slices) {
  const size_t num_slices = with_slices && r->count > 0 ? r->count - 1 : 0;
  const uint64_t num_rows = which < r->count ? r->datasets[which].num_examples : 0;
  cst__put_total(r->found, "num_rows", num_rows);
  cst__put_total(r->found, "num_slices", num_slices);
  cst__put_total(r->found, "num_slices_left_out", 0);
  cst__put_total(r->found, "num_rows_left_out", 0);
  if (which < r->count) {
    row of = {.of = &r->datasets[which]};
    CST__TRY(put_features(r, &of));
  }
  for (size_t i = 0; with_slices && i < r->count; i++) {
    if (i != which) {
      row of = {.of = &r->datasets[i], .is_slice = true};
      of.path_size = find_slice_path(r, of.of->name);
      CST__TRY(put_features(r, &of));
    }
  }
  return CST_OK;
}

static cst_status read_tfdv(reader *r, const char *dataset, const cst_allocator *allocator) {
  CST__TRY(read_list(r));
  size_t which = find_dataset(r, dataset != NULL ? dataset : TFDV_ALL_EXAMPLES);
  if (which == SIZE_MAX && dataset != NULL) {
    return cst__fail(r->error, CST_NOT_FOUND, NULL, "there is no such data set in the %zu of it",
                     r->count);
  }
  which = which == SIZE_MAX ? 0 : which;
  if (!find_columns(r)) {
    return fail_no_memory(r);
  }
  CST__TRY(cst__findings_new(&cst__features_type, allocator, &r->found, r->error));
  return put_datasets(r, which, dataset == NULL);
}

cst_status cst_statistics_from_tfdv(const void *bytes, size_t size, const char *dataset,
                                    const cst_allocator *allocator, cst_findings **out,
                                    cst_error *error) {
  CST__CLEAR(out);
  if (out == NULL || (bytes == NULL && size > 0)) {
    return cst__missing(out == NULL ? "out" : "bytes", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  reader r = {.all = {bytes, size}, .error = error};
  cst__arena_init(&r.arena, allocator);
  cst__arena_init(&r.features, allocator);
  cst_status status = read_tfdv(&r, dataset, allocator);
  cst__name_map_reset(&r.paths);
  cst__delete(r.datasets);
  cst__arena_reset(&r.features);
  cst__arena_reset(&r.arena);
  if (status != CST_OK) {
    cst_findings_free(r.found);
    return status;
  }
  return cst__findings_finish(r.found, out, error);
}
