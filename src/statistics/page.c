/* The page of statistics: the tables as JSON within a page that draws them (src/statistics/page).
 *
 * {"columns": [[names], [names]],           of the rows of numbers, and of all others
 *  "data": [{"name": "monday", "totals": {"num_rows": 9, ...},
 *            "slices": [{"slice": [["path", "value"], ...],     none: all rows
 *                        "features": [[0, "fare", "FLOAT", ...], [1, "company", ...], ...]}]}],
 *  "drift": {"columns": [names], "rows": [[...], ...]}}         where they are compared
 *
 * A row begins with the number of its columns, nulls at its end are left out, and so are columns
 * that are null everywhere. Infinity is 1e999. No text of the data can end the script element in
 * which this stands: `<` is always escaped.
 */
#include "statistics/page.h"

#include <columnstone/statistics.h>
#include <math.h>
#include <stdio.h>

#include "base/arguments.h"
#include "text/json_string.h"
#include "text/number.h"

/* ---- how much is told ---- */

/* A page of very many rows tells less of each slice, so that it opens at once. */
enum { MANY_ROWS = 4000 };

typedef struct detail {
  size_t parts; /* of the quantiles, at most, if these can be divided so */
  size_t top;   /* values */
  size_t bytes; /* of a value */
} detail;

static const detail full = {100, 20, 120};
static const detail short_of_slices = {10, 5, 40};

/* ---- values ---- */

static void put_text(cst__text *out, const char *text, size_t size) {
  cst__put_json_in_html(out, text, size);
}

static void put_text_or_null(cst__text *out, const char *text) {
  if (text == NULL) {
    cst__text_puts(out, "null");
  } else {
    put_text(out, text, strlen(text));
  }
}

/* At most so many bytes, and then an ellipsis. */
static void put_start(cst__text *out, const char *text, size_t most) {
  char start[256];
  size_t size = strlen(text);
  if (size <= most) {
    put_text(out, text, size);
    return;
  }
  for (size = most; size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80; size--) {
  }
  const int length = snprintf(start, sizeof start, "%.*s…", (int)size, text);
  put_text(out, start, (size_t)length);
}

static void put_number(cst__text *out, int64_t number) {
  char text[CST__NUMBER_SIZE];
  cst__text_append(out, text, cst__print_int64(text, number));
}

/* -1 is null. */
static void put_number_or_null(cst__text *out, int64_t number) {
  if (number < 0) {
    cst__text_puts(out, "null");
  } else {
    put_number(out, number);
  }
}

/* NaN is null. */
static void put_real(cst__text *out, double number) {
  char text[CST__NUMBER_SIZE];
  if (isnan(number)) {
    cst__text_puts(out, "null");
  } else if (isinf(number)) {
    cst__text_puts(out, number < 0 ? "-1e999" : "1e999");
  } else if (number == floor(number) && fabs(number) < 1e15) {
    put_number(out, (int64_t)number);
  } else {
    cst__text_append(out, text, cst__print_float64(text, number, CST__FLOAT_JAVASCRIPT));
  }
}

/* To six digits, or so many that a 10,000th of the range is told apart. */
static double round_within(double number, double range) {
  enum { MOST_EXACT = 22 }; /* 10^22 is the last power of ten that a double holds */
  if (number == 0 || !isfinite(number) || number == floor(number)) {
    return number;
  }
  double place = floor(log10(fabs(number))) - 5;
  if (range > 0 && isfinite(range)) {
    place = fmin(place, floor(log10(range)) - 4);
  }
  if (place >= 0 || place < -MOST_EXACT) {
    return number;
  }
  const double scale = pow(10, -place);
  return round(number * scale) / scale;
}

/* ---- lists ---- */

typedef struct span {
  const cst_findings *found;
  const char *column;
  size_t begin, end;
} span;

static span span_of(const cst_findings *found, const char *column, size_t row) {
  span s = {.found = found, .column = column};
  (void)cst_findings_items(found, column, row, &s.begin, &s.end);
  return s;
}

enum { FIELD_SIZE = 64 };

/* "column.field" */
static const char *field_of(const span *s, const char *field, char name[FIELD_SIZE]) {
  (void)snprintf(name, FIELD_SIZE, "%s.%s", s->column, field);
  return name;
}

/* Every n-th bound, so that there are as many parts as wanted. */
static void put_quantiles(cst__text *out, const span *s, size_t most_parts) {
  char name[FIELD_SIZE];
  field_of(s, "", name);
  const size_t parts = s->end - s->begin - 1;
  const size_t step = parts > most_parts && parts % most_parts == 0 ? parts / most_parts : 1;
  const double range =
      cst_findings_real(s->found, name, s->end - 1) - cst_findings_real(s->found, name, s->begin);
  for (size_t i = s->begin; i < s->end; i += step) {
    cst__text_puts(out, i > s->begin ? "," : "");
    put_real(out, round_within(cst_findings_real(s->found, name, i), range));
  }
}

/* Whether all buckets are as wide as the first one, so that two bounds say all. */
static bool are_equal_wide(const span *s, const char *low, const char *high) {
  const double first = cst_findings_real(s->found, low, s->begin);
  const double range = cst_findings_real(s->found, high, s->end - 1) - first;
  const double width = range / (double)(s->end - s->begin);
  bool equal = true;
  for (size_t i = s->begin; i < s->end; i++) {
    const double wanted = first + width * (double)(i - s->begin);
    equal = equal && fabs(cst_findings_real(s->found, low, i) - wanted) <= 1e-6 * range;
  }
  return equal;
}

/* [bounds], weights: bounds of all buckets, or of all together where they are as wide as each
 * other. */
static void put_histogram(cst__text *out, const span *s) {
  char low[FIELD_SIZE], high[FIELD_SIZE], weight[FIELD_SIZE];
  field_of(s, "low", low);
  field_of(s, "high", high);
  field_of(s, "weight", weight);
  const bool equal = are_equal_wide(s, low, high);
  cst__text_puts(out, "[");
  for (size_t i = s->begin; i < (equal ? s->begin + 1 : s->end); i++) {
    put_real(out, cst_findings_real(s->found, low, i));
    cst__text_puts(out, ",");
  }
  put_real(out, cst_findings_real(s->found, high, s->end - 1));
  cst__text_puts(out, "]");
  for (size_t i = s->begin; i < s->end; i++) {
    cst__text_puts(out, ",");
    put_real(out, round_within(cst_findings_real(s->found, weight, i), 0));
  }
}

/* [value, lower, upper], without the upper bound where it is the lower one. */
static void put_top(cst__text *out, const span *s, const detail *told) {
  char value[FIELD_SIZE], lower[FIELD_SIZE], upper[FIELD_SIZE];
  field_of(s, "value", value);
  field_of(s, "lower", lower);
  field_of(s, "upper", upper);
  for (size_t i = s->begin; i < s->end && i - s->begin < told->top; i++) {
    const char *text = cst_findings_text(s->found, value, i);
    const double least = cst_findings_real(s->found, lower, i);
    const double most = cst_findings_real(s->found, upper, i);
    cst__text_puts(out, i > s->begin ? ",[" : "[");
    put_start(out, text != NULL ? text : "", told->bytes);
    cst__text_puts(out, ",");
    put_real(out, round_within(least, 0));
    if (most != least) {
      cst__text_puts(out, ",");
      put_real(out, round_within(most, 0));
    }
    cst__text_puts(out, "]");
  }
}

/* [nulls, lists, empty, items, min, max] of each. */
static void put_levels(cst__text *out, const span *s) {
  static const char *const fields[] = {"nulls", "lists", "empty", "items", "min", "max"};
  char name[FIELD_SIZE];
  for (size_t i = s->begin; i < s->end; i++) {
    cst__text_puts(out, i > s->begin ? ",[" : "[");
    for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
      cst__text_puts(out, k > 0 ? "," : "");
      put_number_or_null(out, cst_findings_number(s->found, field_of(s, fields[k], name), i));
    }
    cst__text_puts(out, "]");
  }
}

/* ---- columns ---- */

typedef enum column_kind { TEXT, NUMBER, REAL, QUANTILES, HISTOGRAM, TOP, LEVELS } column_kind;

typedef struct page_column {
  const char *name;
  column_kind kind;
} page_column;

#define COMMON_COLUMNS                                                                       \
  {"path", TEXT}, {"type", TEXT}, {"rows", NUMBER}, {"present", NUMBER}, {"values", NUMBER}, \
      {"distinct", REAL}, {"distinct_low", REAL}, {"distinct_high", REAL}, {                 \
    "top", TOP                                                                               \
  }
#define LATER_COLUMNS                                                                          \
  {"levels", LEVELS}, {"lengths", QUANTILES}, {"rows_weight", REAL}, {"present_weight", REAL}, \
      {"values_weight", REAL}, {                                                               \
    "weighted_top", TOP                                                                        \
  }

static const page_column number_columns[] = {COMMON_COLUMNS,
                                             {"mean", REAL},
                                             {"std_dev", REAL},
                                             {"min", REAL},
                                             {"max", REAL},
                                             {"zeros", NUMBER},
                                             {"quantiles", QUANTILES},
                                             {"histogram", HISTOGRAM},
                                             {"negatives", NUMBER},
                                             {"nan", NUMBER},
                                             {"plus_infinity", NUMBER},
                                             {"minus_infinity", NUMBER},
                                             {"exact_min", TEXT},
                                             {"exact_max", TEXT},
                                             {"weighted_mean", REAL},
                                             {"weighted_std_dev", REAL},
                                             {"weighted_quantiles", QUANTILES},
                                             {"weighted_histogram", HISTOGRAM},
                                             LATER_COLUMNS};
static const page_column other_columns[] = {COMMON_COLUMNS,
                                            {"mean_length", REAL},
                                            {"min_length", NUMBER},
                                            {"max_length", NUMBER},
                                            {"mean_tokens", REAL},
                                            {"not_utf8", NUMBER},
                                            {"weighted_mean_length", REAL},
                                            LATER_COLUMNS};

enum {
  NUM_NUMBER_COLUMNS = sizeof number_columns / sizeof *number_columns,
  NUM_OTHER_COLUMNS = sizeof other_columns / sizeof *other_columns
};

/* The columns of a kind of rows, of which those are told that have a value anywhere. */
typedef struct layout {
  const page_column *columns;
  size_t count;
  bool told[NUM_NUMBER_COLUMNS];
} layout;

typedef struct page {
  cst__text *out;
  layout layouts[2];
} page;

static size_t layout_of(const cst_findings *found, size_t row) {
  return cst_findings_number(found, "zeros", row) >= 0 ? 0 : 1;
}

static bool has_value(const cst_findings *found, const page_column *c, size_t row) {
  if (c->kind == TEXT) {
    return cst_findings_text(found, c->name, row) != NULL;
  }
  if (c->kind == NUMBER) {
    return cst_findings_number(found, c->name, row) >= 0;
  }
  if (c->kind == REAL) {
    return !isnan(cst_findings_real(found, c->name, row));
  }
  const span s = span_of(found, c->name, row);
  return s.end > s.begin;
}

static void choose_columns(page *p, const cst_findings *found) {
  for (size_t row = 0; row < cst_findings_num_rows(found); row++) {
    layout *l = &p->layouts[layout_of(found, row)];
    for (size_t i = 0; i < l->count; i++) {
      l->told[i] = l->told[i] || has_value(found, &l->columns[i], row);
    }
  }
}

static void put_columns(const page *p) {
  for (size_t k = 0; k < 2; k++) {
    const layout *l = &p->layouts[k];
    const char *before = k > 0 ? ",[" : "[";
    for (size_t i = 0; i < l->count; i++) {
      if (l->told[i] || i == 0) {
        cst__text_puts(p->out, before);
        cst__put_json_text(p->out, l->columns[i].name);
        before = ",";
      }
    }
    cst__text_puts(p->out, "]");
  }
}

static void put_list(cst__text *out, const span *s, column_kind kind, const detail *told) {
  cst__text_puts(out, "[");
  const bool any = s->end > s->begin;
  if (any && kind == QUANTILES) {
    put_quantiles(out, s, told->parts);
  } else if (any && kind == HISTOGRAM) {
    put_histogram(out, s);
  } else if (kind == TOP) {
    put_top(out, s, told);
  } else if (kind == LEVELS) {
    put_levels(out, s);
  }
  cst__text_puts(out, "]");
}

static void put_cell(cst__text *out, const cst_findings *found, const page_column *c, size_t row,
                     const detail *told) {
  if (c->kind == TEXT) {
    put_text_or_null(out, cst_findings_text(found, c->name, row));
  } else if (c->kind == NUMBER) {
    put_number_or_null(out, cst_findings_number(found, c->name, row));
  } else if (c->kind == REAL) {
    put_real(out, cst_findings_real(found, c->name, row));
  } else {
    const span s = span_of(found, c->name, row);
    put_list(out, &s, c->kind, told);
  }
}

static void put_feature(const page *p, const cst_findings *found, size_t row, const detail *told) {
  const size_t kind = layout_of(found, row);
  const layout *l = &p->layouts[kind];
  size_t last = l->count;
  while (last > 0 && !(l->told[last - 1] && has_value(found, &l->columns[last - 1], row))) {
    last--;
  }
  cst__text_puts(p->out, "[");
  put_number(p->out, (int64_t)kind);
  for (size_t i = 0; i < last; i++) {
    if (l->told[i]) {
      cst__text_puts(p->out, ",");
      put_cell(p->out, found, &l->columns[i], row, told);
    }
  }
  cst__text_puts(p->out, "]");
}

/* ---- tables ---- */

static void put_slice(cst__text *out, const cst_findings *found, size_t row) {
  const span s = span_of(found, "slice", row);
  cst__text_puts(out, "[");
  for (size_t i = s.begin; i < s.end; i++) {
    cst__text_puts(out, i > s.begin ? ",[" : "[");
    put_text_or_null(out, cst_findings_text(found, "slice.path", i));
    cst__text_puts(out, ",");
    put_text_or_null(out, cst_findings_text(found, "slice.value", i));
    cst__text_puts(out, "]");
  }
  cst__text_puts(out, "]");
}

static bool same_text(const cst_findings *found, const char *column, size_t a, size_t b) {
  const char *left = cst_findings_text(found, column, a);
  const char *right = cst_findings_text(found, column, b);
  return left != NULL && right != NULL ? strcmp(left, right) == 0 : left == right;
}

static bool same_slice(const cst_findings *found, size_t a, size_t b) {
  const span left = span_of(found, "slice", a);
  const span right = span_of(found, "slice", b);
  bool same = left.end - left.begin == right.end - right.begin;
  for (size_t i = 0; same && i < left.end - left.begin; i++) {
    same = same_text(found, "slice.path", left.begin + i, right.begin + i) &&
           same_text(found, "slice.value", left.begin + i, right.begin + i);
  }
  return same;
}

static void put_totals(cst__text *out, const cst_findings *found) {
  const char *total;
  for (size_t i = 0; (total = cst_findings_total_name(found, i)) != NULL; i++) {
    cst__text_puts(out, i > 0 ? "," : "");
    cst__put_json_text(out, total);
    cst__text_puts(out, ":");
    put_number(out, cst_findings_total(found, total));
  }
}

static void put_table(const page *p, const cst_findings *found, const char *name) {
  const size_t count = cst_findings_num_rows(found);
  cst__text_puts(p->out, "{\"name\":");
  put_text(p->out, name, strlen(name));
  cst__text_puts(p->out, ",\"totals\":{");
  put_totals(p->out, found);
  cst__text_puts(p->out, "},\"slices\":[");
  for (size_t row = 0; row < count; row++) {
    const bool begins = row == 0 || !same_slice(found, row - 1, row);
    const span slice = span_of(found, "slice", row);
    const bool is_short = count > MANY_ROWS && slice.end > slice.begin;
    if (begins) {
      cst__text_puts(p->out, row > 0 ? "]},\n{\"slice\":" : "{\"slice\":");
      put_slice(p->out, found, row);
      cst__text_puts(p->out, ",\"features\":[\n");
    } else {
      cst__text_puts(p->out, ",\n");
    }
    put_feature(p, found, row, is_short ? &short_of_slices : &full);
  }
  cst__text_puts(p->out, count > 0 ? "]}]}" : "]}");
}

/* ---- how they differ ---- */

/* Columns of texts and numbers, and lists of what has a text. */
static bool is_told(const struct ArrowSchema *column) {
  return strchr("ulgb", column->format[0]) != NULL ||
         (column->format[0] == '+' && strcmp(column->name, "slice") != 0);
}

/* The texts of anomalies, and values. */
static void put_texts(cst__text *out, const cst_findings *found, const char *column, size_t row) {
  static const char *const fields[] = {"text", "value"};
  char name[FIELD_SIZE];
  const span s = span_of(found, column, row);
  cst__text_puts(out, "[");
  for (size_t i = s.begin; i < s.end; i++) {
    const char *text = cst_findings_text(found, field_of(&s, fields[0], name), i);
    text = text != NULL ? text : cst_findings_text(found, field_of(&s, fields[1], name), i);
    cst__text_puts(out, i > s.begin ? "," : "");
    put_start(out, text != NULL ? text : "", full.bytes);
  }
  cst__text_puts(out, "]");
}

static void put_difference(cst__text *out, const cst_findings *found,
                           const struct ArrowSchema *column, size_t row) {
  const int64_t number = cst_findings_number(found, column->name, row);
  if (column->format[0] == '+') {
    put_texts(out, found, column->name, row);
  } else if (column->format[0] == 'u') {
    put_text_or_null(out, cst_findings_text(found, column->name, row));
  } else if (column->format[0] == 'g') {
    put_real(out, cst_findings_real(found, column->name, row));
  } else if (column->format[0] == 'b' && number >= 0) {
    cst__text_puts(out, number > 0 ? "true" : "false");
  } else {
    put_number_or_null(out, number);
  }
}

/* Their slice, and all columns of texts and numbers, whatever these are called. */
static void put_differences(cst__text *out, const cst_findings *found,
                            const struct ArrowSchema *schema) {
  cst__text_puts(out, ",\n\"drift\":{\"columns\":[\"slice\"");
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (is_told(schema->children[i])) {
      cst__text_puts(out, ",");
      cst__put_json_text(out, schema->children[i]->name);
    }
  }
  cst__text_puts(out, "],\"rows\":[");
  for (size_t row = 0; row < cst_findings_num_rows(found); row++) {
    cst__text_puts(out, row > 0 ? ",\n[" : "\n[");
    put_slice(out, found, row);
    for (int64_t i = 0; i < schema->n_children; i++) {
      if (is_told(schema->children[i])) {
        cst__text_puts(out, ",");
        put_difference(out, found, schema->children[i], row);
      }
    }
    cst__text_puts(out, "]");
  }
  cst__text_puts(out, "]}");
}

static cst_status put_comparison(cst__text *out, const cst_findings *found, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  if (found == NULL) {
    return CST_OK;
  }
  CST__TRY(cst_findings_batch(found, &schema, &array, error));
  put_differences(out, found, &schema);
  array.release(&array);
  schema.release(&schema);
  return CST_OK;
}

/* ---- the page ---- */

static cst_status check_tables(const cst_statistics_named *tables, size_t count,
                               const cst_findings *comparison, cst_error *error) {
  if (count < 1 || count > 2) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "a page is of one table of features or of two, not of %zu", count);
  }
  for (size_t i = 0; i < count; i++) {
    const char *name = cst_findings_name(tables[i].features);
    if (name == NULL) {
      return cst__missing("features", error);
    }
    if (strcmp(name, "features") != 0) {
      return cst__fail(error, CST_INVALID_ARGUMENT, "the accumulator \"statistics\" makes it",
                       "a page is of a table of features");
    }
  }
  return comparison == NULL || count == 2
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                         "a comparison goes with the two tables that are compared");
}

static void put_piece(cst__text *out, size_t i) {
  cst__text_append(out, cst__statistics_page[i].data, cst__statistics_page[i].size);
}

cst_status cst_statistics_page(const cst_statistics_named *tables, size_t num_tables,
                               const cst_findings *comparison, char **html, size_t *size,
                               cst_error *error) {
  cst__text out = {.data = NULL};
  page p = {.out = &out,
            .layouts = {{.columns = number_columns, .count = NUM_NUMBER_COLUMNS},
                        {.columns = other_columns, .count = NUM_OTHER_COLUMNS}}};
  CST__CLEAR(html);
  CST__CLEAR(size);
  if (tables == NULL || html == NULL || size == NULL) {
    return cst__missing(tables == NULL ? "tables" : html == NULL ? "html" : "size", error);
  }
  CST__TRY(check_tables(tables, num_tables, comparison, error));
  for (size_t i = 0; i < num_tables; i++) {
    choose_columns(&p, tables[i].features);
  }
  put_piece(&out, 0);
  cst__text_puts(&out, "{\"columns\":[");
  put_columns(&p);
  cst__text_puts(&out, "],\n\"data\":[");
  for (size_t i = 0; i < num_tables; i++) {
    cst__text_puts(&out, i > 0 ? ",\n" : "");
    const char *name = tables[i].name != NULL ? tables[i].name : i == 0 ? "data" : "other data";
    put_table(&p, tables[i].features, name);
  }
  cst__text_puts(&out, "]");
  const cst_status status = put_comparison(&out, comparison, error);
  if (status != CST_OK) {
    cst__text_free(&out);
    return status;
  }
  cst__text_puts(&out, "}");
  put_piece(&out, 1);
  return cst__text_finish(&out, html, size, error);
}
