/* Paths from text, and the types they lead to. */
#include <columnstone/structured.h>

#include "arrow_text.h"

/* The steps that the text is cut into within the type, joined by slashes. */
static void check_steps(const struct ArrowSchema *type, const char *text, const char *expected) {
  cst_path path;
  cst_error error = CST_ERROR_INIT;
  char steps[200] = "";
  CHECK_EQ(cst_path_parse(type, text, &path, &error), CST_OK);
  for (size_t i = 0; i < path.count; i++) {
    size_t used = strlen(steps);
    snprintf(steps + used, sizeof steps - used, "%s%s", i > 0 ? "/" : "", path.steps[i]);
  }
  CHECK_STR(steps, expected);
  cst_free((void *)(uintptr_t)path.steps);
}

static void check_format(const struct ArrowSchema *type, const char *text, const char *expected) {
  cst_path path;
  const struct ArrowSchema *found;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_path_parse(type, text, &path, &error), CST_OK);
  CHECK_EQ(cst_type_at(type, &path, &found, &error), CST_OK);
  CHECK_STR(found->format, expected);
  cst_free((void *)(uintptr_t)path.steps);
}

static void check_missing(const struct ArrowSchema *type, const char *text, cst_status code,
                          const char *path_of_error, const char *hint) {
  cst_path path;
  const struct ArrowSchema *found;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_path_parse(type, text, &path, &error), CST_OK);
  CHECK_EQ(cst_type_at(type, &path, &found, &error), code);
  CHECK(found == NULL);
  CHECK_STR(error.path, path_of_error);
  CHECK_STR(error.hint, hint);
  cst_free((void *)(uintptr_t)path.steps);
}

/* A struct of a (list of a struct of b.c, d) and "a.b", with dots in two names. */
static void make_type(struct ArrowSchema *type) {
  const char *text = "struct{a: list<struct{bc: struct{d: int32}, b: struct{c: int8}}>, ab: int64}";
  arrow_text_parse_type(&text, type);
  struct ArrowSchema *item = type->children[0]->children[0];
  CHECK_EQ(ArrowSchemaSetName(item->children[0], "b.c"), 0);
  CHECK_EQ(ArrowSchemaSetName(type->children[1], "a.b"), 0);
}

TEST(names_are_found_whole_then_the_longest_first) {
  struct ArrowSchema type;
  make_type(&type);
  check_steps(&type, "", "");
  check_steps(&type, "a", "a");
  check_steps(&type, "a.b", "a.b");
  check_steps(&type, "a.b.c", "a.b/c"); /* which there is not: the longest name decides */
  check_steps(&type, "a.b.c.d", "a.b/c/d");
  check_steps(type.children[0], "b.c", "b.c");
  check_steps(type.children[0], "b.c.d", "b.c/d");
  check_steps(&type, "x.y", "x/y");
  check_steps(&type, ".", "/");
  check_steps(&type, "a.", "a/");
  check_steps(&type, "a.x.b.c", "a/x/b/c");
  ArrowSchemaRelease(&type);
}

TEST(types_are_found_through_lists) {
  struct ArrowSchema type;
  make_type(&type);
  check_format(&type, "", "+s");
  check_format(&type, "a.b", "l");
  check_format(type.children[0], "b.c", "+s");
  check_format(type.children[0], "b.c.d", "i");
  check_missing(&type, "a.bcd", CST_NOT_FOUND, "a.bcd", "did you mean 'b.c'?");
  check_missing(&type, "a.b.c", CST_SCHEMA, "a.b.c", "");
  check_missing(type.children[0], "b.cc", CST_NOT_FOUND, "b.cc", "did you mean 'c'?");
  check_missing(type.children[0], "b.c.dd", CST_NOT_FOUND, "b.c.dd", "did you mean 'd'?");
  ArrowSchemaRelease(&type);
}

TEST(odd_types_have_no_fields) {
  struct ArrowSchema type;
  cst_path path = {NULL, 0};
  const struct ArrowSchema *found;
  const char *step = "a";
  ArrowSchemaInit(&type);
  CHECK_EQ(ArrowSchemaSetFormat(&type, "+l"), 0); /* without its child */
  CHECK_EQ(ArrowSchemaSetName(&type, NULL), 0);
  check_steps(&type, "a.b", "a/b");
  CHECK_EQ(cst_type_at(&type, &path, &found, NULL), CST_OK);
  CHECK(found == &type);
  path = (cst_path){&step, 1};
  CHECK_EQ(cst_type_at(&type, &path, &found, NULL), CST_SCHEMA);
  ArrowSchemaRelease(&type);
  CHECK_EQ(cst_type_at(&type, &path, &found, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_path_parse(&type, "a", &path, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_path_parse(NULL, "a", &path, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_path_parse(&type, NULL, &path, NULL), CST_INVALID_ARGUMENT);
}

static int parse_path(void *context) {
  cst_path path;
  cst_status status = cst_path_parse(context, "a.b.c", &path, NULL);
  cst_free((void *)(uintptr_t)path.steps);
  return (int)status;
}

TEST(a_path_needs_memory) {
  struct ArrowSchema type;
  make_type(&type);
  FOR_EACH_ALLOCATION_FAILURE(parse_path, &type, CST_NO_MEMORY);
  ArrowSchemaRelease(&type);
}
