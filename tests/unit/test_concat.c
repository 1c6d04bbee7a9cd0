/* Concatenations, slices of shared arrays and picked columns, of every layout. */
#include "arrow/concat.h"

#include "arrow/owned.h"
#include "arrow_equal.h"
#include "arrow_text.h"

typedef struct sample {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__arena arena;
  cst__view view;
} sample;

static void look(sample *s) {
  cst_error error = CST_ERROR_INIT;
  cst__arena_init(&s->arena, NULL);
  CHECK_EQ(cst__view_init(&s->view, &s->schema, &s->array, false, &s->arena, &error), CST_OK);
}

static void make(sample *s, const char *type, const char *rows) {
  arrow_text(type, rows, &s->schema, &s->array);
  look(s);
}

static void drop(sample *s) {
  cst__arena_reset(&s->arena);
  ArrowSchemaRelease(&s->schema);
  if (s->array.release != NULL) ArrowArrayRelease(&s->array);
}

static void check_pieces(const sample *s, const cst__piece *pieces, size_t count) {
  struct ArrowArray out;
  cst__view view;
  cst__arena arena;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__concat(&s->schema, pieces, count, NULL, &out, &error), CST_OK);
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&view, &s->schema, &out, false, &arena, &error), CST_OK);
  int64_t at = 0;
  for (size_t i = 0; i < count; i++) {
    arrow_equal_slots(pieces[i].view, pieces[i].begin, pieces[i].length, &view, at);
    at += pieces[i].length;
  }
  CHECK_EQ(view.length, at);
  cst__arena_reset(&arena);
  out.release(&out);
  CHECK(out.release == NULL);
}

/* Every pair of slices of the rows, and all three of a cut into three. */
static void check_type(const char *item, const char *rows) {
  char type[400];
  snprintf(type, sizeof type, "struct{a: %s}", item);
  sample s;
  make(&s, type, rows);
  int64_t n = s.view.length;
  check_pieces(&s, NULL, 0);
  for (int64_t i = 0; i <= n; i++) {
    for (int64_t j = i; j <= n; j++) {
      cst__piece pieces[] = {{&s.view, i, j - i}, {&s.view, 0, i}, {&s.view, j, n - j}};
      check_pieces(&s, pieces, 1);
      check_pieces(&s, pieces, 3);
    }
  }
  drop(&s);
}

TEST(concatenations_of_every_layout) {
  check_type("null", "{null} {null} {null}");
  check_type("bool",
             "{true} {null} {true} {null} {true} {true} {true} {true} {null} {true} {true}");
  check_type("int8", "{1} {null} {3} {4} {5} {6} {7} {8} {9} {null} {11}");
  check_type("uint16", "{1} {2} {3}");
  check_type("int64", "{1} {null} {3}");
  check_type("float16", "{1.5} {null} {2.5}");
  check_type("float64", "{1.5} {2.5} {3.5}");
  check_type("timestamp", "{1} {null} {3} {4}");
  check_type("binary", "{'a'} {null} {'ccc'} {''} {'e'}");
  check_type("large_string", "{'a'} {'bb'} {null} {''} {'e'}");
  check_type("fixed_binary[3]", "{'abc'} {null} {'ghi'} {'jkl'}");
  check_type("string_view",
             "{'short'} {'a value that is long'} {null} {'another long value'} {''}");
  check_type("list<int32>", "{[1, 2]} {null} {[]} {[3, null]} {[4]}");
  check_type("large_list<string>", "{['a', 'bb']} {null} {[]} {['c', null]} {['d']}");
  check_type("fixed_list<int16>[2]", "{[1, 2]} {null} {[3, 4]} {[5, null]}");
  check_type("large_list<list<int64>>", "{[[1], [2, 3]]} {null} {[[]]} {[null, [4]]} {[]}");
  check_type("struct{x: int32, y: list<string>}", "{{1, ['a']}} {null} {{2, []}} {{null, null}}");
  check_type("list<struct{x: bool, y: string_view}>",
             "{[{true, 'a long value of a struct'}]} {[]} {null} {[{null, 'b'}, {true, null}]}");
}

/* nanoarrow builds no list views: the slots are [3 4] null [1 2] [] [2 3]. */
static void make_list_views(sample *s, int width) {
  static const int64_t offsets[] = {2, 7, 0, 4, 1};
  static const int64_t sizes[] = {2, 9, 2, 0, 2};
  ArrowSchemaInit(&s->schema);
  CHECK_EQ(ArrowSchemaSetTypeStruct(&s->schema, 1), 0);
  CHECK_EQ(ArrowSchemaSetType(s->schema.children[0], width == 8 ? NANOARROW_TYPE_LARGE_LIST_VIEW
                                                                : NANOARROW_TYPE_LIST_VIEW),
           0);
  CHECK_EQ(ArrowSchemaSetName(s->schema.children[0], "a"), 0);
  CHECK_EQ(ArrowSchemaSetType(s->schema.children[0]->children[0], NANOARROW_TYPE_INT32), 0);
  CHECK_EQ(cst__owned_new(NULL, 1, 1, false, &s->array, NULL), CST_OK);
  struct ArrowArray *lists = s->array.children[0];
  CHECK_EQ(cst__owned_new(NULL, 3, 1, false, lists, NULL), CST_OK);
  CHECK_EQ(cst__owned_new(NULL, 2, 0, false, lists->children[0], NULL), CST_OK);
  s->array.length = lists->length = 5;
  lists->null_count = 1;
  lists->children[0]->length = 4;
  int32_t *items = cst__owned_buffer(lists->children[0], 1, 16);
  uint8_t *validity = cst__owned_buffer(lists, 0, 1);
  void *to[2] = {cst__owned_buffer(lists, 1, 40), cst__owned_buffer(lists, 2, 40)};
  validity[0] = 0x1d;
  for (int i = 0; i < 4; i++) items[i] = i + 1;
  for (int i = 0; i < 5; i++) {
    if (width == 8) {
      ((int64_t *)to[0])[i] = offsets[i];
      ((int64_t *)to[1])[i] = sizes[i];
    } else {
      ((int32_t *)to[0])[i] = (int32_t)offsets[i];
      ((int32_t *)to[1])[i] = (int32_t)sizes[i];
    }
  }
  look(s);
}

TEST(list_views) {
  for (int width = 4; width <= 8; width += 4) {
    sample s;
    make_list_views(&s, width);
    for (int64_t i = 0; i <= 5; i++) {
      cst__piece pieces[] = {{&s.view, i, 5 - i}, {&s.view, 0, 5}, {&s.view, 0, i}};
      check_pieces(&s, pieces, 3);
    }
    drop(&s);
  }
}

TEST(views_that_share_bytes_do_not_multiply_them) {
  sample s;
  make(&s, "struct{a: binary_view}", "{'a value of twenty-eight b..'} {'b'} {null} {'c'}");
  /* All four slots now refer to the first one's bytes. */
  uint8_t *views = (uint8_t *)(uintptr_t)s.array.children[0]->buffers[1];
  for (int i = 1; i < 4; i++) memcpy(views + 16 * i, views, 16);
  cst__piece pieces[] = {{&s.view, 0, 4}, {&s.view, 0, 2}};
  struct ArrowArray out;
  check_pieces(&s, pieces, 2);
  CHECK_EQ(cst__concat(&s.schema, pieces, 1, NULL, &out, NULL), CST_OK);
  const struct ArrowArray *column = out.children[0];
  CHECK_EQ(column->n_buffers, 4);
  CHECK_EQ(((const int64_t *)column->buffers[3])[0], cst__view_block_size(&s.view.children[0], 0));
  out.release(&out);
  drop(&s);
}

TEST(without_nulls_there_is_no_bitmap) {
  sample s;
  struct ArrowArray out;
  make(&s, "struct{a: int32}", "{1} {null} {3}");
  cst__piece pieces[] = {{&s.view, 0, 1}, {&s.view, 2, 1}};
  CHECK_EQ(cst__concat(&s.schema, pieces, 2, NULL, &out, NULL), CST_OK);
  CHECK(out.children[0]->buffers[0] == NULL);
  CHECK_EQ(out.children[0]->null_count, 0);
  out.release(&out);
  drop(&s);
}

TEST(offsets_that_do_not_reach) {
  sample s;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  make(&s, "struct{a: binary}", "{'x'} {'y'}");
  /* Two gigabytes that are not there: the sum is found before anything is copied. */
  ((int32_t *)(uintptr_t)s.array.children[0]->buffers[1])[2] = INT32_MAX;
  cst__piece pieces[] = {{&s.view, 0, 2}, {&s.view, 0, 1}};
  CHECK_EQ(cst__concat(&s.schema, pieces, 2, NULL, &out, &error), CST_LIMIT);
  CHECK_STR(error.path, "a");
  drop(&s);
}

TEST(a_layout_that_is_not_known) {
  sample s;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  make(&s, "struct{a: struct{b: int32}}", "{{1}}");
  CHECK_EQ(ArrowSchemaSetFormat(s.schema.children[0]->children[0], "+us:0"), 0);
  cst__arena_reset(&s.arena);
  look(&s);
  cst__piece piece = {&s.view, 0, 1};
  CHECK_EQ(cst__concat(&s.schema, &piece, 1, NULL, &out, &error), CST_UNSUPPORTED);
  CHECK_STR(error.path, "a.b");
  CHECK_CONTAINS(error.message, "sparse_union");
  drop(&s);
}

/* ---- slices ---- */

static const char wide_type[] =
    "struct{a: int64, b: list<string>, c: struct{d: bool}, e: string_view, f: fixed_list<int8>[2]}";
static const char wide_rows[] =
    "{1, ['x', 'yy'], {true}, 'a value of a view', [1, 2]} {null, [], {null}, 'v', [3, 4]} "
    "{3, null, null, null, null} {4, ['z'], {true}, 'w', [7, 8]}";

static void check_slice(const sample *all, cst__shared *shared, int64_t begin, int64_t length) {
  struct ArrowArray slice;
  cst__view view;
  cst__arena arena;
  CHECK_EQ(cst__shared_slice(shared, begin, length, &slice, NULL), CST_OK);
  CHECK_EQ(slice.offset, 0);
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&view, &all->schema, &slice, false, &arena, NULL), CST_OK);
  CHECK_EQ(view.length, length);
  arrow_equal_slots(&view, 0, length, &all->view, begin);
  /* A column that is moved out, and one from below, live on by themselves. */
  struct ArrowArray moved = *slice.children[1]->children[0];
  slice.children[1]->children[0]->release = NULL;
  slice.release(&slice);
  CHECK_EQ(moved.length, 3);
  CHECK_MEM(moved.buffers[2], "xyyz", 4);
  moved.release(&moved);
  cst__arena_reset(&arena);
}

TEST(slices_share_their_array) {
  sample all;
  sample given;
  cst__shared *shared;
  make(&all, wide_type, wide_rows);
  make(&given, wide_type, wide_rows);
  CHECK_EQ(cst__shared_new(&given.array, NULL, &shared, NULL), CST_OK);
  CHECK(given.array.release == NULL);
  for (int64_t i = 0; i <= 4; i++) {
    for (int64_t n = 0; i + n <= 4; n++) {
      check_slice(&all, shared, i, n);
    }
  }
  struct ArrowArray last;
  CHECK_EQ(cst__shared_slice(shared, 1, 3, &last, NULL), CST_OK);
  cst__shared_release(shared);
  cst__shared_release(NULL);
  CHECK_EQ(last.children[0]->offset, 1);
  last.release(&last);
  drop(&all);
  drop(&given);
}

TEST(slices_of_a_slice_with_null_rows) {
  sample all;
  sample given;
  cst__shared *shared;
  struct ArrowArray slice;
  make(&all, "struct{a: int32}", "{0} {1} null {3} {4}");
  make(&given, "struct{a: int32}", "{0} {1} null {3} {4}");
  arrow_text_slice(&given.array, 1, 4);
  CHECK_EQ(cst__shared_new(&given.array, NULL, &shared, NULL), CST_OK);
  CHECK_EQ(cst__shared_slice(shared, 1, 3, &slice, NULL), CST_OK);
  CHECK_EQ(slice.null_count, 1);
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&view, &all.schema, &slice, false, &arena, NULL), CST_OK);
  arrow_equal_slots(&view, 0, 3, &all.view, 2);
  cst__arena_reset(&arena);
  slice.release(&slice);
  cst__shared_release(shared);
  drop(&all);
  drop(&given);
}

/* ---- picking ---- */

TEST(picked_columns) {
  static const char *const columns[] = {"e", "a"};
  sample s;
  cst_error error = CST_ERROR_INIT;
  make(&s, wide_type, wide_rows);
  CHECK_EQ(ArrowSchemaSetMetadata(&s.schema, "\0\0\0\0"), 0);
  CHECK_EQ(cst__pick_columns(columns, 2, &s.schema, &s.array, &error), CST_OK);
  CHECK_EQ(s.array.n_children, 2);
  CHECK_EQ(s.array.length, 4);
  CHECK_STR(s.schema.children[0]->name, "e");
  CHECK_STR(s.schema.children[1]->format, "l");
  CHECK(s.schema.metadata != NULL);
  CHECK_EQ(((const int64_t *)s.array.children[1]->buffers[1])[3], 4);
  CHECK_EQ(cst__pick_columns(columns, 0, &s.schema, NULL, &error), CST_OK);
  CHECK_EQ(s.schema.n_children, 0);
  drop(&s);
}

TEST(columns_that_cannot_be_picked) {
  static const char *const missing[] = {"label", "weigt"};
  static const char *const twice[] = {"label", "label"};
  sample s;
  cst_error error = CST_ERROR_INIT;
  make(&s, "struct{label: int64, weight: int64, x: int8, x: int8}", "{1, 2, 3, 4}");
  CHECK_EQ(cst__pick_columns(missing, 2, &s.schema, &s.array, &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "weigt");
  CHECK_CONTAINS(error.hint, "'weight'");
  CHECK_EQ(cst__pick_columns(twice, 2, &s.schema, &s.array, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.path, "label");
  static const char *const doubled[] = {"x"};
  CHECK_EQ(cst__pick_columns(doubled, 1, &s.schema, &s.array, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.path, "x");
  CHECK_EQ(s.array.n_children, 4);
  drop(&s);
}

/* ---- out of memory ---- */

static int concat_once(void *context) {
  const sample *s = context;
  struct ArrowArray out;
  cst__piece pieces[] = {{&s->view, 1, 3}, {&s->view, 0, 2}};
  cst_status status = cst__concat(&s->schema, pieces, 2, NULL, &out, NULL);
  if (status == CST_OK) out.release(&out);
  return status;
}

static int slice_once(void *context) {
  cst__shared *shared = context;
  struct ArrowArray out;
  cst_status status = cst__shared_slice(shared, 1, 2, &out, NULL);
  if (status == CST_OK) out.release(&out);
  return status;
}

typedef struct picking {
  const struct ArrowSchema *schema;
  cst__shared *shared;
} picking;

static int pick_once(void *context) {
  static const char *const columns[] = {"c", "b"};
  const picking *p = context;
  struct ArrowArray slice = {0};
  struct ArrowSchema schema = {0};
  cst_status status = cst__shared_slice(p->shared, 0, 1, &slice, NULL);
  if (status == CST_OK) status = cst__schema_copy(p->schema, &schema, NULL);
  if (status == CST_OK) status = cst__pick_columns(columns, 2, &schema, &slice, NULL);
  cst__array_release(&slice);
  if (schema.release != NULL) schema.release(&schema);
  return status;
}

TEST(out_of_memory) {
  sample s;
  picking p = {&s.schema, NULL};
  make(&s, wide_type, wide_rows);
  FOR_EACH_ALLOCATION_FAILURE(concat_once, &s, CST_NO_MEMORY);
  CHECK_EQ(cst__shared_new(&s.array, NULL, &p.shared, NULL), CST_OK);
  FOR_EACH_ALLOCATION_FAILURE(slice_once, p.shared, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(pick_once, &p, CST_NO_MEMORY);
  cst__shared_release(p.shared);
  drop(&s);
}
