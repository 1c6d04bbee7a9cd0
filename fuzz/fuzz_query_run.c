/* Small queries over hostile batches: a view either refuses, with what and where, or gives a batch
 * that is valid, the same each time, and the same in two parts as in one.
 *
 * The input is the text of a query without its from, a zero, a flags byte, and a struct node of
 * arrow_feed.h.
 */
#include <columnstone/query.h>

#include "array_look.h"
#include "arrow_feed.h"

enum { MOST_TEXT = 1 << 10, MOST_ELEMENTS = 1 << 14 };
enum { INPUT_DAMAGED = 1 << 0 };

/* Rows [begin, begin + length) through the view. */
static cst_status apply_view(const cst_view *view, const cst_array *rows, int64_t begin,
                             int64_t length, cst_array **out) {
  cst_error *error = &last_error;
  cst_array *part = NULL;
  struct ArrowArray batch;
  struct ArrowArray made;
  struct ArrowSchema schema;
  cst_status status = cst_array_slice(rows, begin, length, &part, error);
  FUZZ_ASSERT(status == CST_OK);
  FUZZ_ASSERT(cst_array_export(part, &batch, error) == CST_OK);
  status = cst_view_apply(view, cst_array_schema(part), &batch, NULL, &schema, &made, error);
  FUZZ_ASSERT(batch.release == NULL);
  cst_array_release(part);
  if (!is_ok(status)) {
    FUZZ_ASSERT(made.release == NULL && schema.release == NULL);
    return status;
  }
  status = cst_array_import(&schema, &made, 0, NULL, out, error);
  if (status != CST_OK) {
    fprintf(stderr, "%s: %s\n", error->path, error->message);
  }
  FUZZ_ASSERT(status == CST_OK); /* what goes out is valid */
  schema.release(&schema);
  return CST_OK;
}

static void check_same_sums(const cst_array *a, const cst_array *b) {
  steps = 0; /* of which only so many are made */
  uint64_t sum = sum_of(a);
  steps = 0;
  FUZZ_ASSERT(sum == sum_of(b));
}

/* Each record is for itself. */
static void check_parts(const cst_view *view, const cst_array *rows, const cst_array *whole) {
  int64_t length = cst_array_length(rows);
  cst_array *parts[2] = {NULL, NULL};
  cst_array *both = NULL;
  FUZZ_ASSERT(apply_view(view, rows, 0, length / 2, &parts[0]) == CST_OK);
  FUZZ_ASSERT(apply_view(view, rows, length / 2, length - length / 2, &parts[1]) == CST_OK);
  cst_status status = cst_array_concat((const cst_array *const *)parts, 2, &both, &last_error);
  if (is_ok(status)) {
    FUZZ_ASSERT(cst_array_length(both) == cst_array_length(whole));
    check_same_sums(both, whole);
  }
  cst_array_release(both);
  cst_array_release(parts[0]);
  cst_array_release(parts[1]);
}

static cst_status run_query(const cst_view *view, const cst_array *rows, bool counts_records) {
  cst_array *whole = NULL;
  cst_array *again = NULL;
  int64_t length = cst_array_length(rows);
  cst_status status = apply_view(view, rows, 0, length, &whole);
  if (status == CST_OK) {
    FUZZ_ASSERT(apply_view(view, rows, 0, length, &again) == CST_OK);
    check_same_sums(whole, again);
    if (!counts_records) {
      check_parts(view, rows, whole);
    }
  } else {
    FUZZ_ASSERT(last_error.record < length);
  }
  cst_array_release(whole);
  cst_array_release(again);
  return status;
}

static cst_status run_text(const char *text, size_t size, const struct ArrowSchema *schema,
                           struct ArrowArray *array) {
  cst_error *error = &last_error;
  cst_query *query = NULL;
  cst_view *view = NULL;
  cst_array *rows = NULL;
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  options.max_elements = MOST_ELEMENTS;
  cst_status status = cst_query_from_text(text, size, NULL, &query, error);
  if (status == CST_OK) {
    status = cst_array_import(schema, array, 0, NULL, &rows, error);
  }
  if (status == CST_OK) {
    options.type = cst_array_schema(rows);
    status = cst_view_new(query, &options, &view, error);
  }
  if (is_ok(status)) {
    status =
        !is_small(rows) ? CST_LIMIT : run_query(view, rows, strstr(text, "record_index") != NULL);
  }
  cst_view_release(view);
  cst_array_release(rows);
  cst_query_free(query);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const uint8_t *end = memchr(data, 0, size);
  char text[MOST_TEXT + 16] = "from table\n";
  size_t length = strlen(text);
  if (end == NULL || (size_t)(end - data) > MOST_TEXT) {
    fuzz_outcome("NO_TEXT");
    return 0;
  }
  memcpy(text + length, data, (size_t)(end - data));
  length += (size_t)(end - data);
  text[length] = '\0';
  feed f = {end + 1, data + size, false};
  f.is_damaged = (take(&f) & INPUT_DAMAGED) != 0;
  struct ArrowSchema schema;
  struct ArrowArray array;
  last_error = (cst_error)CST_ERROR_INIT;
  steps = 0;
  make_node(&f, &schema, &array, 0);
  cst_status status = run_text(text, length, &schema, &array);
  free_blocks();
  fuzz_outcome(cst_status_name(status));
  return 0;
}
