/* Concatenations of dictionary-encoded columns whose dictionaries differ. */
#include "arrow/concat.h"
#include "arrow/dictionary.h"
#include "arrow_equal.h"
#include "arrow_text.h"

enum { MOST_PARTS = 4 };

typedef struct part {
  const char *indices;
  const char *values;
} part;

typedef struct fixture {
  const char *type; /* of the indices */
  const char *value_type;
  const part *parts;
  size_t count;
  struct ArrowSchema schemas[MOST_PARTS];
  struct ArrowArray arrays[MOST_PARTS];
  cst__view views[MOST_PARTS];
  cst__piece pieces[MOST_PARTS];
  cst__arena arena;
} fixture;

static void make(fixture *f) {
  char type[64];
  snprintf(type, sizeof type, "struct{a: %s}", f->type);
  cst__arena_init(&f->arena, NULL);
  for (size_t i = 0; i < f->count; i++) {
    struct ArrowSchema *schema = &f->schemas[i];
    struct ArrowArray *array = &f->arrays[i];
    arrow_text(type, f->parts[i].indices, schema, array);
    CHECK_EQ(ArrowSchemaAllocateDictionary(schema->children[0]), 0);
    CHECK_EQ(ArrowArrayAllocateDictionary(array->children[0]), 0);
    arrow_text(f->value_type, f->parts[i].values, schema->children[0]->dictionary,
               array->children[0]->dictionary);
    cst_error error = CST_ERROR_INIT;
    (void)cst__view_init(&f->views[i], schema, array, false, &f->arena, &error);
    CHECK_STR(error.message, "");
    f->pieces[i] = (cst__piece){&f->views[i], 0, f->views[i].length};
  }
}

static void drop(fixture *f) {
  cst__arena_reset(&f->arena);
  for (size_t i = 0; i < f->count; i++) {
    ArrowSchemaRelease(&f->schemas[i]);
    ArrowArrayRelease(&f->arrays[i]);
  }
}

static void check_rows(const struct ArrowSchema *schema, const struct ArrowArray *array,
                       const char *type, const char *rows) {
  struct ArrowSchema want_schema;
  struct ArrowArray want;
  cst__arena arena;
  cst__view a;
  cst__view b;
  arrow_text(type, rows, &want_schema, &want);
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&a, schema, array, false, &arena, NULL), CST_OK);
  CHECK_EQ(cst__view_init(&b, &want_schema, &want, false, &arena, NULL), CST_OK);
  CHECK_EQ(a.length, b.length);
  arrow_equal_slots(&a, 0, a.length, &b, 0);
  cst__arena_reset(&arena);
  ArrowSchemaRelease(&want_schema);
  ArrowArrayRelease(&want);
}

/* Joins the parts; the dictionary, and what the slots stand for. */
static void check_join(fixture *f, const char *values, const char *plain) {
  struct ArrowArray out;
  struct ArrowSchema plain_schema;
  cst_error error = CST_ERROR_INIT;
  char type[64];
  snprintf(type, sizeof type, "struct{a: %s}", f->value_type);
  make(f);
  (void)cst__concat(&f->schemas[0], f->pieces, f->count, NULL, &out, &error);
  CHECK_STR(error.message, "");
  check_rows(f->schemas[0].children[0]->dictionary, out.children[0]->dictionary, f->value_type,
             values);
  CHECK_EQ(cst__array_make_plain(&f->schemas[0], NULL, &out, &error), CST_OK);
  CHECK_EQ(cst__schema_copy(&f->schemas[0], &plain_schema, NULL), CST_OK);
  CHECK_EQ(cst__schema_make_plain(&plain_schema, NULL), CST_OK);
  check_rows(&plain_schema, &out, type, plain);
  out.release(&out);
  plain_schema.release(&plain_schema);
  drop(f);
}

#define PARTS(...) \
  .parts = (part[])__VA_ARGS__, .count = sizeof(const part[]) __VA_ARGS__ / sizeof(part)

TEST(dictionaries_become_one) {
  fixture f = {.type = "int32",
               .value_type = "large_string",
               PARTS({{"{0} {null} {2}", "'A' 'B' '7'"},
                      {"{2} {1} {0}", "'A' 'B' '9'"},
                      {"{0} {3}", "'A' 'B' '9' '7'"}})};
  check_join(&f, "'A' 'B' '7' '9'", "{'A'} {null} {'7'} {'9'} {'B'} {'A'} {'A'} {'7'}");
}

TEST(values_that_nobody_uses_stay) {
  fixture f = {.type = "int8", .value_type = "binary", PARTS({{"", "'x'"}, {"{0}", "'' 'y'"}})};
  check_join(&f, "'x' '' 'y'", "{''}");
}

TEST(no_values) {
  fixture f = {.type = "uint16", .value_type = "string", PARTS({{"{null}", ""}, {"{null}", ""}})};
  check_join(&f, "", "{null} {null}");
}

TEST(a_value_that_comes_twice_in_one) {
  fixture f = {
      .type = "int64", .value_type = "string_view", PARTS({{"{0} {1} {2}", "'a' 'a' 'b'"}})};
  check_join(&f, "'a' 'b'", "{'a'} {'a'} {'b'}");
}

TEST(other_values_are_appended) {
  fixture f = {.type = "int32",
               .value_type = "int64",
               PARTS({{"{0} {1}", "5 6"}, {"{1} {0}", "6 null"}, {"{null}", ""}})};
  check_join(&f, "5 6 6 null", "{5} {6} {null} {6} {null}");
}

TEST(one_dictionary_of_several_pieces) {
  fixture f = {.type = "int32", .value_type = "string", PARTS({{"{0} {1} {0} {1}", "'a' 'b'"}})};
  struct ArrowArray out;
  make(&f);
  const cst__piece pieces[] = {{&f.views[0], 3, 1}, {&f.views[0], 1, 2}};
  CHECK_EQ(cst__concat(&f.schemas[0], pieces, 2, NULL, &out, NULL), CST_OK);
  const int32_t *indices = out.children[0]->buffers[1];
  CHECK(indices[0] == 1 && indices[1] == 1 && indices[2] == 0);
  CHECK_EQ(out.children[0]->dictionary->length, 2);
  out.release(&out);
  drop(&f);
}

TEST(nothing_to_join) {
  fixture f = {.type = "int32", .value_type = "string", PARTS({{"{0}", "'a'"}})};
  struct ArrowArray out;
  make(&f);
  CHECK_EQ(cst__concat(&f.schemas[0], NULL, 0, NULL, &out, NULL), CST_OK);
  CHECK_EQ(out.length, 0);
  CHECK_EQ(out.children[0]->dictionary->length, 0);
  out.release(&out);
  drop(&f);
}

TEST(more_values_than_an_index_counts) {
  char values[2000];
  char more[2000];
  size_t size = 0;
  for (int i = 0; i < 100; i++) {
    snprintf(values + size, sizeof values - size, "'%03d' ", i);
    snprintf(more + size, sizeof more - size, "'%03d' ", i + 50);
    size += 6;
  }
  fixture f = {.type = "int8", .value_type = "string", PARTS({{"{0}", values}, {"{99}", more}})};
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  make(&f);
  CHECK_EQ(cst__concat(&f.schemas[0], f.pieces, 2, NULL, &out, &error), CST_LIMIT);
  CHECK_STR(error.path, "a");
  CHECK_CONTAINS(error.message, "more than 128 values");
  drop(&f);
}

TEST(views_check_dictionaries) {
  fixture f = {.type = "int32", .value_type = "string", PARTS({{"{0} {1}", "'a' 'b'"}})};
  cst__view view;
  cst_error error = CST_ERROR_INIT;
  make(&f);
  struct ArrowArray *column = f.arrays[0].children[0];
  ((int32_t *)(uintptr_t)column->buffers[1])[1] = 2;
  CHECK_EQ(cst__view_init(&view, &f.schemas[0], &f.arrays[0], false, &f.arena, &error),
           CST_CORRUPT);
  CHECK_CONTAINS(error.message, "index 2 of a dictionary of 2 values");
  ((int32_t *)(uintptr_t)column->buffers[1])[1] = -1;
  CHECK_EQ(cst__view_init(&view, &f.schemas[0], &f.arrays[0], false, &f.arena, &error),
           CST_CORRUPT);
  struct ArrowArray *dictionary = column->dictionary;
  column->dictionary = NULL;
  CHECK_EQ(cst__view_init(&view, &f.schemas[0], &f.arrays[0], true, &f.arena, &error),
           CST_INVALID_ARGUMENT);
  column->dictionary = dictionary;
  drop(&f);
}

static int join_once(void *ctx) {
  fixture *f = ctx;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst__concat(&f->schemas[0], f->pieces, f->count, NULL, &out, &error);
  if (status == CST_OK) {
    out.release(&out);
  }
  return (int)status;
}

TEST(allocation_failures) {
  fixture f = {.type = "int32",
               .value_type = "large_string",
               PARTS({{"{0} {null}", "'A' 'B'"}, {"{1}", "'C' 'A'"}})};
  make(&f);
  FOR_EACH_ALLOCATION_FAILURE(join_once, &f, CST_NO_MEMORY);
  drop(&f);
}
