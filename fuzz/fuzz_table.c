/* Operations on arrays: whatever an array holds that was let in, every operation either refuses it
 * or gives an array that is valid, and the operations agree with each other.
 *
 * The language: a byte that says which rows are chosen, then two nodes of arrow_feed.h. The second
 * one is what the first is concatenated with.
 */
#include <columnstone/array.h>
#include <string.h>

#include "array_look.h"
#include "arrow_feed.h"

/* ---- rows ---- */

static void check_same(const cst_array *a, const cst_array *b) {
  FUZZ_ASSERT(cst_array_length(a) == cst_array_length(b));
  FUZZ_ASSERT(cst__schema_equal(cst_array_schema(a), cst_array_schema(b)));
  FUZZ_ASSERT(sum_of(a) == sum_of(b));
}

static void check_rows(const cst_array *a, uint8_t seed) {
  int64_t n = cst_array_length(a);
  int64_t back[MOST_SLOTS];
  cst_array *once = NULL;
  cst_array *twice = NULL;
  for (int64_t i = 0; i < n; i++) {
    back[i] = n - 1 - i;
  }
  if (!is_ok(cst_array_take(a, back, (size_t)n, &once, &last_error))) {
    return; /* types that are not known */
  }
  FUZZ_ASSERT(cst_array_take(once, back, (size_t)n, &twice, NULL) == CST_OK);
  check_same(a, twice);
  cst_array_release(once);
  cst_array_release(twice);
  back[seed % MOST_SLOTS] = -1;
  if (is_ok(cst_array_take(a, back, (size_t)n, &once, &last_error))) {
    FUZZ_ASSERT(cst_array_length(once) == n);
    (void)sum_of(once);
    cst_array_release(once);
  }
}

static void check_masks(const cst_array *a, uint8_t seed) {
  uint8_t mask[MOST_SLOTS];
  int64_t rows[MOST_SLOTS];
  size_t count = 0;
  cst_array *filtered = NULL;
  cst_array *taken = NULL;
  for (int64_t i = 0; i < cst_array_length(a); i++) {
    mask[i] = (uint8_t)(seed * (i + 3) >> 2 & 2);
    if (mask[i]) {
      rows[count++] = i;
    }
  }
  bool filter_ok = is_ok(cst_array_filter(a, mask, &filtered, &last_error));
  bool take_ok = is_ok(cst_array_take(a, rows, count, &taken, &last_error));
  FUZZ_ASSERT(filter_ok == take_ok);
  if (take_ok) {
    check_same(filtered, taken);
  }
  cst_array_release(filtered);
  cst_array_release(taken);
}

static void check_parts(const cst_array *a, uint8_t seed) {
  int64_t n = cst_array_length(a);
  int64_t cut = n > 0 ? seed % (n + 1) : 0;
  cst_array *parts[2] = {NULL, NULL};
  cst_array *whole = NULL;
  FUZZ_ASSERT(cst_array_slice(a, 0, cut, &parts[0], NULL) == CST_OK);
  FUZZ_ASSERT(cst_array_slice(a, cut, n, &parts[1], NULL) == CST_OK);
  if (is_ok(cst_array_concat((const cst_array *const *)parts, 2, &whole, &last_error))) {
    check_same(a, whole);
    cst_array_release(whole);
  }
  cst_array_release(parts[0]);
  cst_array_release(parts[1]);
}

/* Rows of two types: the types do not depend on the order, and what has the type stays equal. */
static void check_union(const cst_array *a, const cst_array *b) {
  const cst_array *there[] = {a, b};
  const cst_array *back[] = {b, a};
  cst_array *x = NULL;
  cst_array *y = NULL;
  cst_array *part = NULL;
  cst_status status = cst_array_concat(there, 2, &x, &last_error);
  bool ok = is_ok(status);
  FUZZ_ASSERT(cst_array_concat(back, 2, &y, NULL) == status);
  if (ok) {
    FUZZ_ASSERT(cst_array_length(x) == cst_array_length(a) + cst_array_length(b));
    FUZZ_ASSERT(cst_array_length(x) == cst_array_length(y));
    FUZZ_ASSERT(cst_array_slice(x, 0, cst_array_length(a), &part, NULL) == CST_OK);
    if (cst__schema_equal(cst_array_schema(x), cst_array_schema(a))) {
      check_same(part, a);
    }
    (void)sum_of(x);
    (void)sum_of(y);
  }
  cst_array_release(part);
  cst_array_release(x);
  cst_array_release(y);
}

/* ---- groups ---- */

/* Every row is in a group; rows of flat columns are in one. */
static void check_partition(const cst_groups *groups, int64_t rows, bool is_flat) {
  uint8_t seen[MOST_SLOTS] = {0};
  look l;
  look_at(&l, groups->rows);
  const int64_t *items = (const int64_t *)l.view.children[0].data + l.view.children[0].offset;
  for (int64_t g = 0; g < l.view.length; g++) {
    int64_t begin;
    int64_t end;
    cst__view_list(&l.view, g, &begin, &end);
    FUZZ_ASSERT(begin < end);
    for (int64_t i = begin; i < end; i++) {
      FUZZ_ASSERT(items[i] >= 0 && items[i] < rows);
      FUZZ_ASSERT(i == begin || items[i] > items[i - 1]);
      FUZZ_ASSERT(!is_flat || !seen[items[i]]);
      seen[items[i]] = 1;
    }
  }
  for (int64_t i = 0; i < rows; i++) {
    FUZZ_ASSERT(seen[i]);
  }
  FUZZ_ASSERT(cst_array_length(groups->keys) == l.view.length);
  look_away(&l);
  (void)sum_of(groups->keys);
}

static void check_groups(const cst_array *a, const struct ArrowSchema *schema) {
  const char *step[2];
  const cst_path paths[] = {{&step[0], 1}, {&step[1], 1}};
  cst_groups groups;
  for (int64_t i = 0; i < schema->n_children; i++) {
    int64_t next = (i + 1) % schema->n_children;
    bool is_flat = schema->children[i]->format[0] != '+';
    step[0] = schema->children[i]->name;
    step[1] = schema->children[next]->name;
    for (size_t count = 1; count <= 2; count++) {
      is_flat &= count == 1 || schema->children[next]->format[0] != '+';
      if (is_ok(cst_array_group_by(a, paths, count, &groups, &last_error))) {
        check_partition(&groups, cst_array_length(a), is_flat);
        cst_array_release(groups.keys);
        cst_array_release(groups.rows);
      }
    }
  }
}

/* ---- lists ---- */

/* Values and their rows make lists, and these make them again. */
static void check_flatten(const cst_array *a, int levels) {
  cst_array *values = NULL;
  cst_array *parents = NULL;
  cst_array *lists = NULL;
  cst_array *again[2] = {NULL, NULL};
  if (!is_ok(cst_array_flatten(a, levels, &values, &parents, &last_error))) {
    return;
  }
  FUZZ_ASSERT(cst_array_length(values) == cst_array_length(parents));
  FUZZ_ASSERT(cst_array_from_parents(values, parents, cst_array_length(a), false, &lists, NULL) ==
              CST_OK);
  FUZZ_ASSERT(cst_array_length(lists) == cst_array_length(a));
  FUZZ_ASSERT(cst_array_flatten(lists, 1, &again[0], &again[1], NULL) == CST_OK);
  check_same(values, again[0]);
  check_same(parents, again[1]);
  cst_array_release(values);
  cst_array_release(parents);
  cst_array_release(lists);
  cst_array_release(again[0]);
  cst_array_release(again[1]);
}

static void check_coordinates(const cst_array *a) {
  int64_t shape[MOST_DEPTH + 2];
  size_t num_dims = 0;
  cst_array *coordinates = NULL;
  cst_array *values = NULL;
  if (!is_ok(
          cst_array_coordinates(a, &coordinates, shape, MOST_DEPTH + 2, &num_dims, &last_error))) {
    return;
  }
  cst_status status = cst_array_flatten(a, -1, &values, NULL, &last_error);
  FUZZ_ASSERT(is_ok(status) || status == CST_UNSUPPORTED); /* values that cannot be copied */
  FUZZ_ASSERT(values == NULL || cst_array_length(values) == cst_array_length(coordinates));
  look l;
  look_at(&l, coordinates);
  const int64_t *at = (const int64_t *)l.view.children[0].data + l.view.children[0].offset;
  for (int64_t i = 0; i < l.view.length * (int64_t)num_dims; i++) {
    FUZZ_ASSERT(at[i] >= 0 && at[i] < shape[i % (int64_t)num_dims]);
  }
  look_away(&l);
  cst_array_release(values);
  cst_array_release(coordinates);
}

/* ---- nulls and sizes ---- */

static void check_nulls(const cst_array *a) {
  look l;
  cst_array *out = NULL;
  look_at(&l, a);
  if (is_ok(cst_array_null_mask(a, &out, &last_error))) {
    look mask;
    look_at(&mask, out);
    for (int64_t i = 0; i < l.view.length; i++) {
      FUZZ_ASSERT(((const uint8_t *)mask.view.data)[mask.view.offset + i] ==
                  cst__view_is_null(&l.view, i));
    }
    look_away(&mask);
    cst_array_release(out);
  }
  if (is_ok(cst_array_element_lengths(a, &out, &last_error))) {
    FUZZ_ASSERT(cst_array_length(out) == l.view.length);
    (void)sum_of(out);
    cst_array_release(out);
  }
  look_away(&l);
}

/* Fills with the first value, or the items of the first list. */
static void check_fill(const cst_array *a) {
  cst_array *fill = NULL;
  cst_array *out = NULL;
  FUZZ_ASSERT(cst_array_slice(a, 0, 1, &fill, NULL) == CST_OK);
  const char *format = cst_array_schema(a)->format;
  if (format[0] == '+' && format[1] != 's') {
    cst_array *items = NULL;
    if (is_ok(cst_array_flatten(fill, 1, &items, NULL, &last_error))) {
      cst_array_release(fill);
      fill = items;
    }
  }
  if (is_ok(cst_array_fill_null(a, fill, &out, &last_error))) {
    FUZZ_ASSERT(cst_array_length(out) == cst_array_length(a));
    (void)sum_of(out);
  }
  cst_array_release(fill);
  cst_array_release(out);
}

static void check_sizes(const cst_array *a) {
  int64_t count = -1;
  if (is_ok(cst_array_byte_size(a, &count, &last_error))) {
    FUZZ_ASSERT(count >= 0);
  }
  if (is_ok(cst_array_count_invalid_utf8(a, &count, &last_error))) {
    FUZZ_ASSERT(count >= 0 && count <= cst_array_length(a));
    FUZZ_ASSERT(count == 0 || strchr("zZ", cst_array_schema(a)->format[0]) != NULL ||
                cst_array_schema(a)->format[1] == 'z' || cst_array_schema(a)->format[0] == 'w');
  }
}

/* ---- all of it ---- */

static void check_column(const cst_array *a) {
  check_nulls(a);
  check_fill(a);
  check_sizes(a);
  check_flatten(a, 1);
  check_flatten(a, -1);
  check_coordinates(a);
}

static void check_columns(const cst_array *a) {
  const struct ArrowSchema *schema = cst_array_schema(a);
  for (int64_t i = 0; i < schema->n_children; i++) {
    const char *path[] = {schema->children[i]->name, "x"};
    cst_array *column = NULL;
    cst_array *rows = NULL;
    if (is_ok(cst_array_column(a, &(cst_path){path, 1}, &column, NULL, &last_error))) {
      FUZZ_ASSERT(cst_array_length(column) == cst_array_length(a));
      check_column(column);
      cst_array_release(column);
    }
    if (is_ok(cst_array_column(a, &(cst_path){path, 2}, &column, &rows, &last_error))) {
      FUZZ_ASSERT(cst_array_length(column) == cst_array_length(rows));
      (void)sum_of(column);
      cst_array_release(column);
      cst_array_release(rows);
    }
  }
}

static void check_all(const cst_array *a, const cst_array *b, uint8_t seed) {
  bool is_struct = strcmp(cst_array_schema(a)->format, "+s") == 0;
  check_rows(a, seed);
  check_masks(a, seed);
  check_parts(a, seed);
  check_column(a);
  if (is_struct) {
    check_groups(a, cst_array_schema(a));
    check_columns(a);
  }
  if (b != NULL) {
    check_union(a, b);
  }
}

static cst_array *import(feed *f, cst_status *status) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_array *out = NULL;
  make_node(f, &schema, &array, 0);
  *status = cst_array_import(&schema, &array, 0, NULL, &out, &last_error);
  FUZZ_ASSERT(is_ok(*status) == (out != NULL));
  if (out != NULL && (cst_array_length(out) >= MOST_SLOTS || !is_small(out))) {
    cst_array_release(out);
    out = NULL;
  }
  return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  feed f = {data, data + size, false};
  cst_status status;
  cst_status of_second;
  last_error = (cst_error)CST_ERROR_INIT;
  uint8_t seed = take(&f);
  f.is_damaged = seed >= 128;
  cst_array *a = import(&f, &status);
  cst_array *b = import(&f, &of_second);
  if (a != NULL) {
    check_all(a, b, seed);
  }
  cst_array_release(a);
  cst_array_release(b);
  free_blocks();
  fuzz_outcome(cst_status_name(status));
  return 0;
}
