/* The text format where types come from a set: extensions, groups, expanded Anys. */
#include "harness.h"
#include "message_sample.h"

static cst_error last_error;

/* Read and printed again. */
static cst_status through_text(const char *text, char *out, size_t room) {
  cst_descriptors *set = sample_descriptors();
  cst__arena arena;
  cst__text printed = {0};
  cst__arena_init(&arena, NULL);
  last_error = (cst_error)CST_ERROR_INIT;
  cst__message *message = cst__message_new(&arena, sample_message(set));
  cst_status status = cst__message_merge_text_of(set, &arena, message,
                                                 (cst_bytes){(const uint8_t *)text, strlen(text)},
                                                 CST__DEPTH_LIMIT, &last_error);
  if (status == CST_OK) {
    cst__message_put_text(message, &printed);
    CHECK(printed.size < room);
    memcpy(out, printed.size > 0 ? printed.data : "", printed.size);
    out[printed.size] = '\0';
  }
  cst__text_free(&printed);
  cst__arena_reset(&arena);
  cst_descriptors_release(set);
  return status;
}

static void check_printed(const char *text, const char *wanted) {
  char have[512] = "";
  CHECK_EQ(through_text(text, have, sizeof have), CST_OK);
  CHECK_STR(have, wanted);
}

static void check_refused(const char *text, const char *path, int64_t column, const char *part) {
  char have[512];
  CHECK_EQ(through_text(text, have, sizeof have), CST_CORRUPT);
  CHECK_STR(last_error.path, path);
  CHECK_EQ(last_error.column, column);
  CHECK_CONTAINS(last_error.message, part);
}

TEST(extensions) {
  check_printed("[t.extra]: 5 [t . more]: ['a', 'b']",
                "[t.extra]: 5\n[t.more]: \"a\"\n[t.more]: \"b\"\n");
  check_refused("[t.extra] 5", "", 11, "expected ':'");
  check_refused("[t.extra]: 'x'", "(t.extra)", 12, "an integer");
  check_refused("[t.nothing]: 5", "", 1, "no extension 't.nothing'");
  check_refused("extra: 5", "", 1, "no field 'extra'");
  check_refused("[t.extra: 5", "", 9, "']'");
  check_refused("[t.extra]: 1 [t.extra]: 2", "", 14, "twice");
  check_refused("[", "", 2, "']'");
  check_refused("[]: 1", "", 1, "no extension");
}

TEST(groups) {
  check_printed("Point { x: 1 }", "Point {\n  x: 1\n}\n");
  check_printed("point { x: 1 }", "Point {\n  x: 1\n}\n");
  check_refused("POINT { x: 1 }", "", 1, "no field 'POINT'");
  check_refused("Point { y: 1 }", "point", 9, "no field 'y'");
}

TEST(expanded_any) {
  check_printed("any { [x.org/t.M] { an_int: 1 } }",
                "any {\n  type_url: \"x.org/t.M\"\n  value: \"\\010\\001\"\n}\n");
  check_printed("any: < [x/y/t.M]: < > >", "any {\n  type_url: \"x/y/t.M\"\n}\n");
  check_printed("any { [x.org / # comment\n t.M] { counts { key: 'b' } counts { key: 'a' } } }",
                "any {\n  type_url: \"x.org/t.M\"\n"
                "  value: \"z\\005\\n\\001a\\020\\000z\\005\\n\\001b\\020\\000\"\n}\n");
  check_refused("any { [x.org/t.N] { } }", "any", 7, "do not have");
  check_refused("any { [t.M] { } }", "any", 7, "not valid");
  check_refused("any { [/t.M] { } }", "any", 7, "not valid");
  check_refused("any { [/x.org/t.M] { } }", "any", 7, "not valid");
  check_refused("any { [//t.M] { } }", "any", 7, "not valid");
  check_refused("any { [x%2/t.M] { } }", "any", 7, "not valid");
  check_refused("any { [x%2g/t.M] { } }", "any", 7, "not valid");
  check_refused("any { [%%20/t.M] { } }", "any", 7, "not valid");
  check_printed("any { [1-%2F%a9/t.M] { } }", "any {\n  type_url: \"1-%2F%a9/t.M\"\n}\n");
  check_refused("any { [x.org/.t.M] { } }", "any", 7, "do not have");
  check_refused("any { [x.org/t.M] { s: 1 } }", "any.s", 24, "a string");
  check_refused("any { [x.org/t.M] { } [x.org/t.M] { } }", "any", 23, "more than one value");
  check_refused("any { [x:y/t.M] { } }", "any", 9, "']'");
  check_refused("any { [x\xff/t.M] { } }", "any", 9, "']'");
  check_refused("any { [x.org/t.M] }", "any", 19, "'{'");
}

typedef struct memory_case {
  const cst_descriptors *set;
  const char *text;
} memory_case;

static int read_without_memory(void *context) {
  const memory_case *c = context;
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  cst__message *message = cst__message_new(&arena, sample_message(c->set));
  cst_bytes text = {(const uint8_t *)c->text, strlen(c->text)};
  cst_status status = message == NULL ? CST_NO_MEMORY
                                      : cst__message_merge_text_of(c->set, &arena, message, text,
                                                                   CST__DEPTH_LIMIT, NULL);
  cst__arena_reset(&arena);
  return (int)status;
}

TEST(memory) {
  cst_descriptors *set = sample_descriptors();
  memory_case c = {
      set, "[t.extra]: 5 Point { x: 1 } any { [x.org/t.M] { counts { key: 'a' } s: 'x' } }"};
  FOR_EACH_ALLOCATION_FAILURE(read_without_memory, &c, CST_NO_MEMORY);
  cst_descriptors_release(set);
}
