/* Rows that are taken and filtered, of every layout. */
#include "array_layouts.h"
#include "array_sample.h"

/* A view of an array that is exported. */
typedef struct look {
  struct ArrowArray array;
  cst__arena arena;
  cst__view view;
} look;

static void look_at(look *l, const cst_array *array) {
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_array_export(array, &l->array, &error), CST_OK);
  cst__arena_init(&l->arena, NULL);
  cst__view_init(&l->view, cst_array_schema(array), &l->array, false, &l->arena, &error);
  CHECK_STR(error.message, "");
}

static void look_away(look *l) {
  cst__arena_reset(&l->arena);
  l->array.release(&l->array);
}

static cst_array *batch_of(const array_layout *layout, int64_t begin) {
  char type[200];
  char rows[400] = "";
  char *to = rows;
  int depth = 0;
  snprintf(type, sizeof type, "struct{a: %s}", layout->type);
  bool is_quoted = false;
  bool is_open = false;
  for (const char *at = layout->rows;; at++) { /* "1 [2, 3]" becomes "{1} {[2, 3]}" */
    is_quoted ^= *at == '\'';
    depth += !is_quoted && (*at == '[' || *at == '{');
    bool is_end = *at == '\0' || (*at == ' ' && depth == 0 && !is_quoted);
    if (is_open && is_end) *to++ = '}';
    if (!is_open && !is_end) *to++ = '{';
    is_open = !is_end;
    depth -= !is_quoted && (*at == ']' || *at == '}');
    if (*at == '\0') break;
    *to++ = *at;
  }
  cst_array *whole = array_sample(type, rows);
  cst_array *batch = NULL;
  CHECK_EQ(cst_array_slice(whole, begin, 1000, &batch, NULL), CST_OK);
  cst_array_release(whole);
  return batch;
}

static void check_taken(const cst_array *batch, const int64_t *rows, size_t count) {
  look from;
  look to;
  cst_array *taken = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_array_take(batch, rows, count, &taken, &error);
  CHECK_STR(error.message, "");
  CHECK(cst_array_schema(taken) == cst_array_schema(batch));
  look_at(&from, batch);
  look_at(&to, taken);
  CHECK_EQ(to.view.length, count);
  CHECK_EQ(to.view.null_count, 0);
  for (size_t i = 0; i < count; i++) {
    if (rows[i] < 0) {
      CHECK(cst__view_is_null(&to.view.children[0], (int64_t)i));
    } else {
      arrow_equal_slot(&from.view, rows[i], &to.view, (int64_t)i);
    }
  }
  look_away(&from);
  look_away(&to);
  cst_array_release(taken);
}

static void check_takes(const array_layout *layout, int64_t begin) {
  cst_array *batch = batch_of(layout, begin);
  int64_t n = cst_array_length(batch);
  int64_t rows[100];
  size_t count = 0;
  check_taken(batch, rows, 0);
  for (int64_t i = n - 1; i >= 0; i--) rows[count++] = i;
  check_taken(batch, rows, count); /* backwards */
  for (int64_t i = 0; i < n; i++) rows[count++] = i;
  check_taken(batch, rows, count); /* twice */
  rows[count++] = -1;
  rows[count++] = 0;
  rows[count++] = -1;
  check_taken(batch, rows, count); /* with nulls */
  memset(rows, -1, sizeof rows);
  check_taken(batch, rows, 3); /* nulls alone */
  cst_array_release(batch);
}

TEST(rows_of_every_layout) {
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    check_takes(&array_layouts[i], 0);
    check_takes(&array_layouts[i], 1);
  }
}

TEST(nulls_of_no_rows) {
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    static const int64_t rows[] = {-1, -1};
    array_layout none = {array_layouts[i].type, ""};
    cst_array *batch = batch_of(&none, 0);
    check_taken(batch, rows, 2);
    cst_array_release(batch);
  }
}

static void check_filtered(const cst_array *batch, unsigned chosen) {
  look from;
  look to;
  uint8_t mask[16];
  int64_t n = cst_array_length(batch);
  int64_t at = 0;
  cst_array *out = NULL;
  CHECK(n <= 16);
  for (int i = 0; i < 16; i++) mask[i] = (uint8_t)((chosen >> i & 1) * (unsigned)(i + 1));
  CHECK_EQ(cst_array_filter(batch, mask, &out, NULL), CST_OK);
  look_at(&from, batch);
  look_at(&to, out);
  for (int64_t i = 0; i < n; i++) {
    if (mask[i]) arrow_equal_slot(&from.view, i, &to.view, at++);
  }
  CHECK_EQ(to.view.length, at);
  look_away(&from);
  look_away(&to);
  cst_array_release(out);
}

TEST(masks_of_every_layout) {
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    for (int64_t begin = 0; begin < 2; begin++) {
      cst_array *batch = batch_of(&array_layouts[i], begin);
      for (unsigned chosen = 0; chosen < 1U << cst_array_length(batch) && chosen < 64; chosen++) {
        check_filtered(batch, chosen);
      }
      check_filtered(batch, 0xffff);
      cst_array_release(batch);
    }
  }
}

/* Numbers 0 to 999 in lists of three. */
static cst_array *many_rows(void) {
  char *text = malloc(20000);
  char *to = text;
  for (int i = 0; i < 1000; i++) to += sprintf(to, i % 7 ? "[%d, 1, 2] " : "null ", i);
  cst_array *array = array_sample("list<int32>", text);
  free(text);
  return array;
}

TEST(long_runs) {
  cst_array *array = many_rows();
  cst_array *out = NULL;
  look from;
  look to;
  uint8_t mask[1000];
  int64_t rows[1000];
  int64_t count = 0;
  for (int i = 0; i < 1000; i++) {
    mask[i] = i / 50 % 2 == 0;
    if (mask[i]) rows[count++] = i;
  }
  look_at(&from, array);
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(i == 0 ? cst_array_filter(array, mask, &out, NULL)
                    : cst_array_take(array, rows, (size_t)count, &out, NULL),
             CST_OK);
    look_at(&to, out);
    CHECK_EQ(to.view.length, count);
    for (int64_t k = 0; k < count; k++) arrow_equal_slot(&from.view, rows[k], &to.view, k);
    look_away(&to);
    cst_array_release(out);
  }
  look_away(&from);
  cst_array_release(array);
}

TEST(one_run_is_not_copied) {
  cst_array *array = many_rows();
  cst_array *taken = NULL;
  cst_array *filtered = NULL;
  uint8_t mask[1000] = {0};
  static const int64_t rows[] = {500, 501, 502};
  look a, b, c;
  mask[500] = mask[501] = mask[502] = 1;
  CHECK_EQ(cst_array_take(array, rows, 3, &taken, NULL), CST_OK);
  CHECK_EQ(cst_array_filter(array, mask, &filtered, NULL), CST_OK);
  look_at(&a, array);
  look_at(&b, taken);
  look_at(&c, filtered);
  CHECK(a.view.offsets == b.view.offsets && b.view.offset == 500);
  CHECK(a.view.children[0].data == c.view.children[0].data);
  look_away(&a);
  look_away(&b);
  look_away(&c);
  cst_array_release(array);
  cst_array_release(taken);
  cst_array_release(filtered);
}

TEST(blocks_of_views_are_shared) {
  cst_array *array = array_sample("string_view", "'a value that is long' 'b' 'another long value'");
  static const int64_t rows[] = {2, 0};
  cst_array *taken = NULL;
  look a, b;
  CHECK_EQ(cst_array_take(array, rows, 2, &taken, NULL), CST_OK);
  look_at(&a, array);
  look_at(&b, taken);
  CHECK_EQ(a.view.num_variadic, b.view.num_variadic);
  CHECK(cst__view_block(&a.view, 0) == cst__view_block(&b.view, 0));
  look_away(&a);
  cst_array_release(array);
  CHECK_EQ(cst__view_bytes(&b.view, 0).size, 18);
  look_away(&b);
  array_sample_check(taken, "string_view", "'another long value' 'a value that is long'");
  cst_array_release(taken);
}

TEST(rows_of_arrays_that_are_no_batch) {
  static const int64_t rows[] = {2, -1, 0};
  cst_array *array = array_sample("list<int8>", "[1] [2] [3, 4]");
  cst_array *taken = NULL;
  CHECK_EQ(cst_array_take(array, rows, 3, &taken, NULL), CST_OK);
  array_sample_check(taken, "list<int8>", "[3, 4] null [1]");
  cst_array_release(taken);
  cst_array_release(array);
}

TEST(null_structs_stay_null) {
  static const int64_t rows[] = {2, 1, -1, 0};
  cst_array *array = array_sample("struct{a: int8}", "{1} null {3}");
  cst_array *taken = NULL;
  CHECK_EQ(cst_array_take(array, rows, 4, &taken, NULL), CST_OK);
  array_sample_check(taken, "struct{a: int8}", "{3} null {null} {1}");
  cst_array_release(taken);
  cst_array_release(array);
}

TEST(rows_that_there_are_not) {
  cst_array *array = array_sample("int64", "1 2 3");
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  static const int64_t behind[] = {0, 2, 3, 1};
  static const int64_t below[] = {-1, -2};
  CHECK_EQ(cst_array_take(array, behind, 4, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "row 3 (number 3 of the request), the array has 3 rows");
  CHECK_EQ(cst_array_take(array, below, 2, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "row -2");
  CHECK_EQ(cst_array_take(array, NULL, 1, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_take(NULL, below, 1, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_take(array, below, 1, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_filter(array, NULL, &out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_array_filter(NULL, (const uint8_t *)"", &out, &error), CST_INVALID_ARGUMENT);
  cst_array_release(array);
}

TEST(layouts_that_are_not_known) {
  static const int64_t rows[] = {1, 0};
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_array *batch = NULL;
  cst_array *out = NULL;
  cst_error error = CST_ERROR_INIT;
  arrow_text("struct{a: int32, s: struct{u: struct{x: int8}}}", "{1, {{2}}} {3, {{4}}}", &schema,
             &array);
  CHECK_EQ(ArrowSchemaSetFormat(schema.children[1]->children[0], "+us:5"), 0);
  CHECK_EQ(cst_array_import(&schema, &array, 0, NULL, &batch, &error), CST_UNSUPPORTED);
  CHECK_STR(error.path, "s.u");
  CHECK_CONTAINS(error.message, "sparse_union");
  error = (cst_error)CST_ERROR_INIT;
  CHECK_EQ(cst_array_import(&schema, &array, CST_ARRAY_TRUSTED, NULL, &batch, &error), CST_OK);
  ArrowSchemaRelease(&schema);
  CHECK_EQ(cst_array_take(batch, rows, 2, &out, &error), CST_UNSUPPORTED);
  CHECK_STR(error.path, "s.u");
  CHECK_CONTAINS(error.message, "sparse_union");
  cst_array_release(batch);
}

/* An array whose only value has 2^30 bytes, as many as its offsets say. */
TEST(offsets_of_32_bits_may_not_suffice) {
  static const int64_t rows[] = {0, 0};
  static const char *const types[] = {"struct{a: binary}", "struct{a: list<null>}"};
  for (int i = 0; i < 2; i++) {
    struct ArrowSchema schema;
    struct ArrowArray array;
    cst_array *batch = NULL;
    cst_array *out = NULL;
    cst_error error = CST_ERROR_INIT;
    arrow_text(types[i], i == 0 ? "{'a'}" : "{[null]}", &schema, &array);
    int32_t *offsets = (int32_t *)(uintptr_t)array.children[0]->buffers[1];
    offsets[1] = 1 << 30;
    if (i == 1) array.children[0]->children[0]->length = 1 << 30;
    CHECK_EQ(cst_array_import(&schema, &array, CST_ARRAY_TRUSTED, NULL, &batch, &error), CST_OK);
    ArrowSchemaRelease(&schema);
    CHECK_EQ(cst_array_take(batch, rows, 2, &out, &error), CST_LIMIT);
    CHECK_STR(error.path, "a");
    CHECK_CONTAINS(error.hint, "64-bit offsets");
    cst_array_release(batch);
  }
}

static int take_some(void *context) {
  static const int64_t rows[] = {2, -1, 0, 1};
  static const uint8_t mask[] = {1, 0, 1, 1};
  cst_array *taken = NULL;
  cst_array *filtered = NULL;
  cst_status status = cst_array_take(context, rows, 4, &taken, NULL);
  if (status == CST_OK) status = cst_array_filter(context, mask, &filtered, NULL);
  cst_array_release(taken);
  cst_array_release(filtered);
  return status;
}

TEST(allocations_may_fail) {
  for (size_t i = 0; i < NUM_LAYOUTS; i++) {
    cst_array *batch = batch_of(&array_layouts[i], 0);
    if (cst_array_length(batch) == 4) FOR_EACH_ALLOCATION_FAILURE(take_some, batch, CST_NO_MEMORY);
    cst_array_release(batch);
  }
}

static int take_runs(void *context) {
  int64_t rows[64];
  cst_array *taken = NULL;
  for (int i = 0; i < 64; i++) rows[i] = i < 32 ? i + 100 : i;
  cst_status status = cst_array_take(context, rows, 64, &taken, NULL);
  cst_array_release(taken);
  return status;
}

TEST(allocations_of_runs_may_fail) {
  cst_array *array = many_rows();
  FOR_EACH_ALLOCATION_FAILURE(take_runs, array, CST_NO_MEMORY);
  cst_array_release(array);
}
