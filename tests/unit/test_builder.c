/* The tree of column builders, against nanoarrow's appending: generated types and rows, rows taken
 * back, recycled buffers, dictionaries.
 */
#include "arrow/builder.h"

#include <nanoarrow/nanoarrow.h>
#include <stdio.h>

#include "arrow/dictionary.h"
#include "arrow/view.h"
#include "arrow_equal.h"
#include "harness.h"

/* ---- chance ---- */

typedef struct chance {
  uint64_t state;
} chance;

static uint32_t roll(chance *c, uint32_t sides) {
  c->state = c->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(c->state >> 33) % sides;
}

/* ---- types ---- */

static const char *const leaves[] = {"n", "b", "c", "S",  "i",   "l",   "f",   "g", "tsu:UTC",
                                     "u", "U", "z", "vz", "tdD", "w:3", "w:5", "Z", "vu"};
enum { LEAVES = sizeof leaves / sizeof leaves[0] };

static void make_type(chance *c, cst__type *type, int depth, cst__arena *arena) {
  static const char *const nested[] = {"+s", "+l", "+L", "+w:2", "+m"};
  enum { NESTED = sizeof nested / sizeof nested[0] };
  const char *format = depth > 0 && roll(c, 2) ? nested[roll(c, NESTED)] : leaves[roll(c, LEAVES)];
  CHECK_EQ(cst__type_set(type, format, arena, NULL), CST_OK);
  size_t count = *format != '+' ? 0 : strcmp(format, "+s") == 0 ? roll(c, 4) : 1;
  CHECK_EQ(cst__type_set_children(type, count, arena, NULL), CST_OK);
  for (size_t i = 0; i < count; i++) {
    char name[8];
    make_type(c, &type->children[i], depth - 1, arena);
    int size = snprintf(name, sizeof name, "f%zu", i);
    CHECK_EQ(cst__type_set_name(&type->children[i], name, (size_t)size, arena, NULL), CST_OK);
  }
  if (cst__type_is_map(type)) {
    cst__type *entries = &type->children[0];
    CHECK_EQ(cst__type_set(entries, "+s", arena, NULL), CST_OK);
    CHECK_EQ(cst__type_set_children(entries, 2, arena, NULL), CST_OK);
    CHECK_EQ(cst__type_set(&entries->children[0], leaves[1 + roll(c, LEAVES - 1)], arena, NULL),
             CST_OK);
    entries->flags = entries->children[0].flags = 0;
    make_type(c, &entries->children[1], depth - 1, arena);
  }
}

/* A root of some columns. */
static void make_root(chance *c, cst__type *root, cst__arena *arena) {
  CHECK_EQ(cst__type_set(root, "+s", arena, NULL), CST_OK);
  root->flags = 0;
  CHECK_EQ(cst__type_set_children(root, 1 + roll(c, 4), arena, NULL), CST_OK);
  for (size_t i = 0; i < root->num_children; i++) {
    make_type(c, &root->children[i], 3, arena);
  }
}

/* ---- one row, into the builder or into nanoarrow's arrays ---- */

typedef struct lane {
  chance c;
  cst__builder *to;           /* either */
  struct ArrowArray *expects; /* or */
  int left;                   /* appends before the row breaks off */
  bool failed;
} lane;

static void put_value(lane *l, const cst__type *type, cst__builder *to, struct ArrowArray *expects);

static bool goes_on(lane *l) { return !l->failed && l->left-- > 0; }

static void put_null(lane *l, cst__builder *to, struct ArrowArray *expects) {
  if (expects != NULL) {
    CHECK_EQ(ArrowArrayAppendNull(expects, 1), 0);
  } else if (goes_on(l)) {
    l->failed = !cst__builder_append_null(to);
  }
}

static void put_leaf(lane *l, const cst__type *type, cst__builder *to, struct ArrowArray *expects) {
  int64_t number = (int64_t)roll(&l->c, 100);
  char text[32];
  int digits = (int)roll(&l->c, 20);
  int size = snprintf(text, sizeof text, "%0*d", digits, (int)number);
  bool is_text = type->dtype == CST_DTYPE_BYTES;
  if (digits == 0) {
    size = 0; /* an empty string */
  }
  if (type->layout == CST__LAYOUT_FIXED_BINARY) {
    size = (int)type->fixed_size;
    memset(text, 'x', sizeof text);
  }
  if (type->layout == CST__LAYOUT_NULL) {
    put_null(l, to, expects);
  } else if (expects != NULL) {
    struct ArrowBufferView view = {.data.as_char = text, .size_bytes = size};
    CHECK_EQ(is_text ? ArrowArrayAppendBytes(expects, view) : 0, 0);
    CHECK_EQ(is_text ? 0
                     : ArrowArrayAppendInt(expects,
                                           number & (type->layout == CST__LAYOUT_BOOL ? 1 : 99)),
             0);
  } else if (goes_on(l)) {
    double wide = (double)(number & 99);
    float narrow = (float)wide;
    number &= 99;
    if (type->layout == CST__LAYOUT_BOOL) {
      l->failed = !cst__builder_append_bool(to, number & 1);
    } else if (type->layout == CST__LAYOUT_BINARY || type->layout == CST__LAYOUT_BINARY_VIEW) {
      l->failed = !cst__builder_append_bytes(to, text, (size_t)size);
    } else {
      const void *value = type->dtype == CST_DTYPE_FLOAT64   ? (const void *)&wide
                          : type->dtype == CST_DTYPE_FLOAT32 ? (const void *)&narrow
                          : is_text                          ? (const void *)text
                                                             : (const void *)&number;
      l->failed = !cst__builder_append(to, value, type->width);
    }
  }
}

/* A field; the key of a map is never null. */
static void put_field(lane *l, const cst__type *type, cst__builder *to, struct ArrowArray *expects,
                      bool is_key) {
  if (is_key) {
    put_leaf(l, type, to, expects);
  } else {
    put_value(l, type, to, expects);
  }
}

static void put_struct(lane *l, const cst__type *type, cst__builder *to, struct ArrowArray *expects,
                       bool is_entry) {
  for (size_t i = 0; i < type->num_children; i++) {
    bool is_absent = !is_entry && roll(&l->c, 4) == 0;
    bool is_key = is_entry && i == 0;
    if (expects != NULL && is_absent) {
      CHECK_EQ(ArrowArrayAppendNull(expects->children[i], 1), 0);
    } else if (expects != NULL) {
      put_field(l, &type->children[i], NULL, expects->children[i], is_key);
    } else if (!is_absent && !l->failed) {
      l->failed = !cst__builder_pad(&to->children[i], to->length);
      if (!l->failed) put_field(l, &type->children[i], &to->children[i], NULL, is_key);
    }
  }
  if (expects != NULL) {
    CHECK_EQ(ArrowArrayFinishElement(expects), 0);
  } else if (goes_on(l)) {
    l->failed = !cst__builder_end_struct(to);
  }
}

static void put_list(lane *l, const cst__type *type, cst__builder *to, struct ArrowArray *expects) {
  bool is_fixed = type->layout == CST__LAYOUT_FIXED_LIST;
  uint32_t count = is_fixed ? (uint32_t)type->fixed_size : roll(&l->c, 4);
  uint32_t given = is_fixed ? roll(&l->c, count + 1) : count; /* the others are absent */
  if (to != NULL && is_fixed && !l->failed) {
    l->failed = !cst__builder_begin_fixed(to);
  }
  for (uint32_t i = 0; i < count && !l->failed; i++) {
    struct ArrowArray *items = expects != NULL ? expects->children[0] : NULL;
    if (i >= given) {
      CHECK_EQ(expects != NULL ? ArrowArrayAppendNull(items, 1) : 0, 0);
    } else if (cst__type_is_map(type)) {
      put_struct(l, &type->children[0], to != NULL ? &to->children[0] : NULL, items, true);
    } else {
      put_value(l, &type->children[0], to != NULL ? &to->children[0] : NULL, items);
    }
  }
  if (expects != NULL) {
    CHECK_EQ(ArrowArrayFinishElement(expects), 0);
  } else if (goes_on(l)) {
    l->failed = !(is_fixed ? cst__builder_end_struct(to) : cst__builder_end_list(to));
  }
}

static void put_value(lane *l, const cst__type *type, cst__builder *to,
                      struct ArrowArray *expects) {
  if (roll(&l->c, 5) == 0) {
    put_null(l, to, expects);
  } else if (type->layout == CST__LAYOUT_STRUCT) {
    put_struct(l, type, to, expects, false);
  } else if (type->num_children > 0) {
    put_list(l, type, to, expects);
  } else {
    put_leaf(l, type, to, expects);
  }
}

/* ---- batches ---- */

/* Some rows; one in eight breaks off somewhere and is taken back. */
static cst_status put_rows(chance *c, cst__batch_builder *batch, struct ArrowArray *expects,
                           int rows) {
  for (int i = 0; i < rows; i++) {
    bool breaks = roll(c, 8) == 0;
    lane l = {.c = {c->state}, .left = breaks ? (int)roll(c, 20) : INT32_MAX};
    cst__builder_mark mark = cst__batch_builder_mark(batch);
    put_struct(&l, batch->root->type, batch->root, NULL, false);
    if (l.failed) {
      return cst__batch_builder_fail(batch, NULL);
    }
    if (breaks) {
      cst__batch_builder_rollback(batch, mark);
      CHECK_EQ(batch->root->length, mark.rows);
    } else if (expects != NULL) {
      lane reference = {.c = {c->state}};
      put_struct(&reference, batch->root->type, NULL, expects, false);
    }
    c->state += 1 + (uint64_t)i;
  }
  return CST_OK;
}

static void check_equal(const struct ArrowSchema *schema, const struct ArrowArray *got,
                        const struct ArrowArray *expected) {
  cst__arena arena;
  cst__view a, b;
  cst_error error = CST_ERROR_INIT;
  cst__arena_init(&arena, NULL);
  (void)cst__view_init(&a, schema, got, false, &arena, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(cst__view_init(&b, schema, expected, false, &arena, NULL), CST_OK);
  CHECK_EQ(a.length, b.length);
  arrow_equal_slots(&a, 0, a.length, &b, 0);
  cst__arena_reset(&arena);
}

static void check_batch(chance *c, cst__batch_builder *batch, const struct ArrowSchema *schema) {
  struct ArrowArray expected, got;
  struct ArrowError why = {""};
  (void)ArrowArrayInitFromSchema(&expected, schema, &why);
  CHECK_STR(why.message, "");
  CHECK_EQ(ArrowArrayStartAppending(&expected), 0);
  CHECK_EQ(put_rows(c, batch, &expected, (int)roll(c, 60)), CST_OK);
  CHECK_EQ(ArrowArrayFinishBuildingDefault(&expected, NULL), 0);
  CHECK_EQ(cst__batch_builder_finish(batch, &got, NULL), CST_OK);
  CHECK_EQ(batch->root->length, 0);
  check_equal(schema, &got, &expected);
  got.release(&got);
  ArrowArrayRelease(&expected);
}

TEST(generated_trees_are_what_nanoarrow_builds) {
  for (uint64_t seed = 0; seed < 300; seed++) {
    chance c = {seed};
    cst__arena arena;
    cst__type made = CST__TYPE_INIT;
    cst__type root;
    struct ArrowSchema schema, again;
    cst__batch_builder *batch = NULL;
    cst__arena_init(&arena, NULL);
    make_root(&c, &made, &arena);
    CHECK_EQ(cst__type_export(&made, &schema, NULL), CST_OK);
    CHECK_EQ(cst__type_import(&schema, &arena, &root, NULL), CST_OK);
    CHECK_EQ(cst__type_export(&root, &again, NULL), CST_OK);
    CHECK(cst__schema_equal(&schema, &again));
    CHECK_EQ(cst__batch_builder_new(&root, NULL, &batch, NULL), CST_OK);
    for (int i = 0; i < 4; i++) {
      check_batch(&c, batch, &schema);
    }
    cst__batch_builder_free(batch);
    schema.release(&schema);
    again.release(&again);
    cst__arena_reset(&arena);
  }
}

typedef struct scenario {
  uint64_t seed;
} scenario;

static cst_status run_tree(const cst__type *root, chance c) {
  cst__batch_builder *batch;
  struct ArrowArray got;
  CST__TRY(cst__batch_builder_new(root, NULL, &batch, NULL));
  cst_status status = CST_OK;
  for (int i = 0; i < 2 && status == CST_OK; i++) {
    status = put_rows(&c, batch, NULL, 30);
    if (status == CST_OK) {
      status = cst__batch_builder_finish(batch, &got, NULL);
    }
    if (status == CST_OK) {
      got.release(&got);
    }
  }
  cst__batch_builder_free(batch);
  return status;
}

static int run_scenario(void *context) {
  chance c = {((scenario *)context)->seed};
  cst__arena arena;
  cst__type root = CST__TYPE_INIT;
  struct ArrowSchema schema = {0};
  cst_error error = CST_ERROR_INIT;
  cst__arena_init(&arena, NULL);
  cst_status status = cst__type_set(&root, "+s", &arena, &error);
  status = status == CST_OK ? cst__type_set_children(&root, 3, &arena, NULL) : status;
  static const char *const formats[] = {"+L", "vu", "b"};
  for (size_t i = 0; i < 3 && status == CST_OK; i++) {
    status = cst__type_set(&root.children[i], formats[i], &arena, NULL);
  }
  status = status == CST_OK ? cst__type_set_children(&root.children[0], 1, &arena, NULL) : status;
  status = status == CST_OK ? cst__type_set(root.children[0].children, "u", &arena, NULL) : status;
  status = status == CST_OK ? cst__type_export(&root, &schema, NULL) : status;
  status = status == CST_OK ? cst__type_import(&schema, &arena, &root, NULL) : status;
  status = status == CST_OK ? run_tree(&root, c) : status;
  if (schema.release != NULL) {
    schema.release(&schema);
  }
  cst__arena_reset(&arena);
  return (int)status;
}

TEST(every_failed_allocation_is_no_memory) {
  for (uint64_t seed = 0; seed < 4; seed++) {
    scenario s = {seed};
    FOR_EACH_ALLOCATION_FAILURE(run_scenario, &s, CST_NO_MEMORY);
  }
}

/* ---- buffers ---- */

/* A batch builder for one column of a format, and its schema. */
typedef struct column {
  cst__arena arena;
  cst__type root;
  struct ArrowSchema schema;
  cst__batch_builder *batch;
  cst__builder *to;
} column;

static void column_open(column *c, const char *format, const char *item) {
  cst__arena_init(&c->arena, NULL);
  c->root = (cst__type)CST__TYPE_INIT;
  CHECK_EQ(cst__type_set(&c->root, "+s", &c->arena, NULL), CST_OK);
  CHECK_EQ(cst__type_set_children(&c->root, 1, &c->arena, NULL), CST_OK);
  CHECK_EQ(cst__type_set(c->root.children, format, &c->arena, NULL), CST_OK);
  CHECK_EQ(cst__type_set_name(c->root.children, "x", 1, &c->arena, NULL), CST_OK);
  if (item != NULL && *format == '+') {
    CHECK_EQ(cst__type_set_children(c->root.children, 1, &c->arena, NULL), CST_OK);
    CHECK_EQ(cst__type_set(c->root.children->children, item, &c->arena, NULL), CST_OK);
  } else if (item != NULL) {
    c->root.children->dictionary = cst__arena_take_zero(&c->arena, sizeof(cst__type));
    *c->root.children->dictionary = (cst__type)CST__TYPE_INIT;
    CHECK_EQ(cst__type_set(c->root.children->dictionary, item, &c->arena, NULL), CST_OK);
  }
  CHECK_EQ(cst__type_export(&c->root, &c->schema, NULL), CST_OK);
  CHECK_EQ(cst__batch_builder_new(&c->root, NULL, &c->batch, NULL), CST_OK);
  c->to = c->batch->root->children;
}

static void column_close(column *c) {
  cst__batch_builder_free(c->batch);
  c->schema.release(&c->schema);
  cst__arena_reset(&c->arena);
}

static struct ArrowArray column_finish(column *c) {
  struct ArrowArray got;
  c->batch->root->length = c->to->length;
  CHECK_EQ(cst__batch_builder_finish(c->batch, &got, NULL), CST_OK);
  return got;
}

TEST(a_batch_builds_in_the_buffers_of_one_that_was_released_as_a_whole) {
  column c;
  int64_t value = 7;
  column_open(&c, "l", NULL);
  CHECK(cst__builder_append(c.to, &value, 8));
  struct ArrowArray first = column_finish(&c);
  const void *buffer = first.children[0]->buffers[1];
  struct ArrowArray moved = *first.children[0];
  first.children[0]->release = NULL;
  first.release(&first);
  CHECK(cst__builder_append(c.to, &value, 8));
  CHECK(c.to->values != buffer); /* the column is still in use */
  struct ArrowArray second = column_finish(&c);
  CHECK_EQ(*(const int64_t *)moved.buffers[1], 7);
  moved.release(&moved);
  CHECK(cst__builder_append(c.to, &value, 8));
  CHECK(c.to->values == buffer);
  second.release(&second);
  column_close(&c);
}

TEST(a_bitmap_is_made_with_the_first_null_only) {
  column c;
  int64_t value = 7;
  column_open(&c, "l", NULL);
  for (int i = 0; i < 1000; i++) {
    CHECK(cst__builder_append(c.to, &value, 8));
  }
  CHECK(c.to->validity == NULL);
  cst__builder_mark mark = {500, 0};
  c.batch->root->length = 1000;
  CHECK(cst__builder_append_null(c.to));
  CHECK_EQ(c.to->null_count, 1);
  cst__batch_builder_rollback(c.batch, mark);
  CHECK_EQ(c.to->null_count, 0);
  struct ArrowArray got = column_finish(&c);
  CHECK_EQ(got.length, 500);
  CHECK(got.children[0]->buffers[0] == NULL);
  got.release(&got);
  column_close(&c);
}

TEST(bits_after_the_last_slot_are_zero) {
  for (int64_t length = 1; length <= 17; length++) {
    column c;
    int64_t value = 7;
    column_open(&c, "l", NULL);
    for (c.batch->root->length = 0; c.batch->root->length < length - 1; c.batch->root->length++) {
      CHECK(cst__builder_append(c.to, &value, 8));
    }
    CHECK(cst__builder_append_null(c.to));
    c.batch->root->length = length;
    struct ArrowArray got = column_finish(&c);
    const uint8_t *bits = got.children[0]->buffers[0];
    CHECK_EQ(bits[(length - 1) / 8], (1 << (length - 1) % 8) - 1);
    got.release(&got);
    column_close(&c);
  }
}

TEST(what_is_absent_is_null_or_zero_and_has_a_limit) {
  column c;
  column_open(&c, "+L", "l");
  c.to->absent_is_null = false;
  CHECK(cst__builder_pad(c.to, 3));
  CHECK_EQ(c.to->null_count, 0);
  CHECK_EQ(c.to->offsets[3], 0);
  c.to->absent_is_null = true;
  CHECK(cst__builder_pad(c.to, 5));
  CHECK_EQ(c.to->null_count, 2);
  CHECK(!cst__builder_pad(c.to, CST__BUILDER_MAX_ABSENT + 1));
  CHECK_EQ(cst__batch_builder_fail(c.batch, NULL), CST_LIMIT);
  struct ArrowArray got = column_finish(&c);
  CHECK_EQ(got.children[0]->null_count, 2);
  got.release(&got);
  column_close(&c);
}

TEST(offsets_of_32_bits_and_views_have_a_limit) {
  static const char *const formats[] = {"z", "vz"};
  for (size_t i = 0; i < 2; i++) {
    column c;
    struct ArrowArray got;
    cst_error error = CST_ERROR_INIT;
    column_open(&c, formats[i], NULL);
    CHECK(cst__builder_append_bytes(c.to, "abc", 3));
    c.to->offsets[1] = INT64_C(1) << 31; /* as if so many bytes were there */
    c.batch->root->length = 1;
    CHECK_EQ(cst__batch_builder_finish(c.batch, &got, &error), CST_LIMIT);
    CHECK_STR(error.path, "x");
    CHECK_CONTAINS(error.message, "a batch holds 2147483648 bytes");
    CHECK_EQ(c.batch->root->length, 0);
    column_close(&c);
  }
}

TEST(types_that_cannot_be_built) {
  cst__arena arena;
  cst__type type = CST__TYPE_INIT;
  cst__batch_builder *batch = NULL;
  struct ArrowSchema schema;
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__type_set(&type, "+us:0,1", &arena, NULL), CST_UNSUPPORTED);
  cst__type values = CST__TYPE_INIT;
  CHECK_EQ(cst__type_set(&type, "i", &arena, NULL), CST_OK);
  CHECK_EQ(cst__type_set(&values, "+s", &arena, NULL), CST_OK);
  type.dictionary = &values;
  CHECK_EQ(cst__batch_builder_new(&type, NULL, &batch, NULL), CST_UNSUPPORTED);
  ArrowSchemaInit(&schema);
  CHECK_EQ(ArrowSchemaSetTypeStruct(&schema, 2), 0);
  CHECK_EQ(ArrowSchemaSetFormat(&schema, "+m"), 0); /* a map has one child */
  CHECK_EQ(cst__type_import(&schema, &arena, &type, NULL), CST_INVALID_ARGUMENT);
  schema.release(&schema);
  CHECK_EQ(cst__type_import(&schema, &arena, &type, NULL), CST_INVALID_ARGUMENT);
  cst__arena_reset(&arena);
}

/* ---- dictionaries ---- */

/* The batch's column without its dictionary, as one text. */
static void check_words(column *c, struct ArrowArray *batch, const char *expected) {
  char text[128] = "";
  cst__arena arena;
  cst__view view;
  struct ArrowSchema plain;
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__array_make_plain(&c->schema, NULL, batch, NULL), CST_OK);
  CHECK_EQ(cst__schema_copy(&c->schema, &plain, NULL), CST_OK);
  CHECK_EQ(cst__schema_make_plain(&plain, NULL), CST_OK);
  CHECK_EQ(cst__view_init(&view, &plain, batch, false, &arena, NULL), CST_OK);
  for (int64_t i = 0; i < view.length; i++) {
    cst_bytes word = cst__view_bytes(&view.children[0], i);
    size_t used = strlen(text);
    bool is_null = cst__view_is_null(&view.children[0], i);
    snprintf(text + used, sizeof text - used, "%.*s ", (int)(is_null ? 1 : word.size),
             is_null ? "-" : (const char *)word.data);
  }
  CHECK_STR(text, expected);
  plain.release(&plain);
  batch->release(batch);
  cst__arena_reset(&arena);
}

static cst_status put_word(column *c, const char *word) {
  int64_t index;
  CST__TRY(cst__builder_intern(c->to, word, strlen(word), &index, NULL));
  return cst__builder_append_index(c->to, index) ? CST_OK : cst__batch_builder_fail(c->batch, NULL);
}

TEST(a_dictionary_grows_and_is_shared_by_batches) {
  column c;
  column_open(&c, "c", "u");
  CHECK_EQ(put_word(&c, "one"), CST_OK);
  CHECK_EQ(put_word(&c, "two"), CST_OK);
  CHECK_EQ(put_word(&c, "one"), CST_OK);
  CHECK(cst__builder_append_null(c.to));
  struct ArrowArray first = column_finish(&c);
  CHECK_EQ(put_word(&c, "two"), CST_OK);
  struct ArrowArray second = column_finish(&c);
  CHECK(first.children[0]->dictionary->buffers[2] == second.children[0]->dictionary->buffers[2]);
  CHECK_EQ(put_word(&c, "three"), CST_OK);
  CHECK_EQ(put_word(&c, "two"), CST_OK);
  struct ArrowArray third = column_finish(&c);
  CHECK_EQ(third.children[0]->dictionary->length, 3);
  check_words(&c, &first, "one two one - ");
  check_words(&c, &second, "two ");
  cst__batch_builder_free(c.batch); /* the dictionary outlives it */
  c.batch = NULL;
  check_words(&c, &third, "three two ");
  column_close(&c);
}

TEST(a_dictionary_has_no_more_values_than_its_indices_count) {
  column c;
  int64_t index = -1;
  column_open(&c, "c", "Z");
  for (int i = 0; i < 128; i++) {
    CHECK_EQ(cst__builder_intern(c.to, &i, 1, &index, NULL), CST_OK);
    CHECK_EQ(index, i);
  }
  CHECK_EQ(cst__builder_intern(c.to, "more", 4, &index, NULL), CST_LIMIT);
  CHECK_EQ(cst__builder_intern(c.to, "", 1, &index, NULL), CST_OK);
  CHECK_EQ(index, 0);
  column_close(&c);
}

static int run_dictionary(void *context) {
  column c;
  (void)context;
  cst__arena_init(&c.arena, NULL);
  cst__type root = {.layout = CST__LAYOUT_NUMBER,
                    .dtype = CST_DTYPE_INT32,
                    .width = 4,
                    .format = "i",
                    .name = "",
                    .flags = ARROW_FLAG_NULLABLE};
  cst__type words = {.layout = CST__LAYOUT_BINARY,
                     .offset_width = 4,
                     .is_string = true,
                     .format = "u",
                     .name = ""};
  struct ArrowArray got;
  root.dictionary = &words;
  CST__TRY(cst__batch_builder_new(&root, NULL, &c.batch, NULL));
  c.to = c.batch->root;
  cst_status status = put_word(&c, "one");
  status = status == CST_OK ? put_word(&c, "two") : status;
  status = status == CST_OK ? cst__batch_builder_finish(c.batch, &got, NULL) : status;
  if (status == CST_OK) {
    got.release(&got);
  }
  cst__batch_builder_free(c.batch);
  return (int)status;
}

static int run_value_dictionary(void *context) {
  cst__type root = {.layout = CST__LAYOUT_NUMBER,
                    .dtype = CST_DTYPE_INT32,
                    .width = 4,
                    .format = "i",
                    .name = "",
                    .flags = ARROW_FLAG_NULLABLE};
  cst__type numbers = {.layout = CST__LAYOUT_NUMBER,
                       .dtype = CST_DTYPE_INT32,
                       .width = 4,
                       .format = "i",
                       .name = ""};
  struct ArrowArray got;
  cst__batch_builder *batch;
  (void)context;
  root.dictionary = &numbers;
  CST__TRY(cst__batch_builder_new(&root, NULL, &batch, NULL));
  bool ok = cst__builder_append(cst__builder_dictionary_value(batch->root), &numbers.width, 4);
  cst_status status = ok ? cst__builder_append_value(batch->root, NULL) : CST_NO_MEMORY;
  status = status == CST_OK ? cst__batch_builder_finish(batch, &got, NULL) : status;
  if (status == CST_OK) {
    got.release(&got);
  }
  cst__batch_builder_free(batch);
  return (int)status;
}

TEST(every_failed_allocation_of_a_dictionary_is_no_memory) {
  FOR_EACH_ALLOCATION_FAILURE(run_dictionary, NULL, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(run_value_dictionary, NULL, CST_NO_MEMORY);
}

/* Appends values to a dictionary of them: the first, the second, and the first again. */
static void put_values(column *c, const void *first, const void *second, size_t size) {
  const void *values[] = {first, second, first};
  for (int i = 0; i < 3; i++) {
    cst__builder *value = cst__builder_dictionary_value(c->to);
    CHECK(value != NULL && value->length == 0);
    if (value->type->layout == CST__LAYOUT_BOOL) {
      CHECK(cst__builder_append_bool(value, *(const bool *)values[i]));
    } else if (value->type->layout == CST__LAYOUT_BINARY_VIEW) {
      CHECK(cst__builder_append_bytes(value, values[i], strlen(values[i])));
    } else {
      CHECK(cst__builder_append(value, values[i], size));
    }
    CHECK_EQ(cst__builder_append_value(c->to, NULL), CST_OK);
  }
}

static struct ArrowArray put_and_finish(column *c, const void *first, const void *second,
                                        size_t size) {
  put_values(c, first, second, size);
  struct ArrowArray got = column_finish(c);
  const int16_t *indices = got.children[0]->buffers[1];
  CHECK_EQ(indices[0], 0);
  CHECK_EQ(indices[1], 1);
  CHECK_EQ(indices[2], 0);
  CHECK_EQ(got.children[0]->dictionary->length, 2);
  return got;
}

TEST(dictionaries_of_values_that_are_no_strings) {
  column c;
  const double doubles[] = {-0.0, 0.5};
  column_open(&c, "s", "g");
  struct ArrowArray got = put_and_finish(&c, &doubles[0], &doubles[1], sizeof *doubles);
  CHECK_MEM(got.children[0]->dictionary->buffers[1], doubles, sizeof doubles);
  got.release(&got);
  column_close(&c);

  const bool bools[] = {true, false};
  column_open(&c, "s", "b");
  got = put_and_finish(&c, &bools[0], &bools[1], 1);
  CHECK_EQ(*(const uint8_t *)got.children[0]->dictionary->buffers[1], 1);
  got.release(&got);
  column_close(&c);

  column_open(&c, "s", "vu");
  got = put_and_finish(&c, "short", "longer than twelve bytes", 0);
  const struct ArrowArray *views = got.children[0]->dictionary;
  CHECK_EQ(views->n_buffers, 4);
  CHECK_EQ(*(const int64_t *)views->buffers[3], 29);
  CHECK_MEM(views->buffers[2], "shortlonger than twelve bytes", 29);
  got.release(&got);
  column_close(&c);

  column_open(&c, "s", "u");
  CHECK(cst__builder_dictionary_value(c.to) == NULL);
  column_close(&c);
}

TEST(absent_slots_of_a_dictionary_that_are_not_null) {
  column c;
  column_open(&c, "s", "i");
  c.to->absent_is_null = false;
  CHECK(cst__builder_pad(c.to, 2));
  struct ArrowArray got = column_finish(&c);
  CHECK_EQ(got.children[0]->null_count, 0);
  CHECK_EQ(got.children[0]->dictionary->length, 1);
  CHECK_EQ(*(const int32_t *)got.children[0]->dictionary->buffers[1], 0);
  got.release(&got);
  column_close(&c);
}

TEST(list_views_are_lists_with_sizes) {
  static const char *const formats[] = {"+vl", "+vL"};
  static const int32_t items[] = {1, 2, 3};
  for (size_t i = 0; i < 2; i++) {
    column c;
    column_open(&c, formats[i], "i");
    CHECK(cst__builder_append(c.to->children, &items[0], sizeof *items));
    CHECK(cst__builder_append(c.to->children, &items[1], sizeof *items));
    CHECK(cst__builder_end_list(c.to));
    CHECK(cst__builder_append_null(c.to));
    CHECK(cst__builder_append(c.to->children, &items[2], sizeof *items));
    CHECK(cst__builder_end_list(c.to));
    struct ArrowArray got = column_finish(&c);
    const struct ArrowArray *lists = got.children[0];
    CHECK_EQ(lists->n_buffers, 3);
    if (i == 0) {
      CHECK_MEM(lists->buffers[1], ((int32_t[]){0, 2, 2}), 12);
      CHECK_MEM(lists->buffers[2], ((int32_t[]){2, 0, 1}), 12);
    } else {
      CHECK_MEM(lists->buffers[1], ((int64_t[]){0, 2, 2}), 24);
      CHECK_MEM(lists->buffers[2], ((int64_t[]){2, 0, 1}), 24);
    }
    CHECK_MEM(lists->children[0]->buffers[1], items, sizeof items);
    got.release(&got);
    column_close(&c);
  }
}
