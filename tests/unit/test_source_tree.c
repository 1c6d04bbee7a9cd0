/* What a query may name, step by step: fields of Arrow types, and those of messages as a decoder
 * gives them. */
#include <stdio.h>

#include <columnstone/records.h>
#include "arrow_text.h"
#include "message_sample.h"
#include "query/plan/source_tree.h"

/* ---- looking up ---- */

/* A field in short: "ids: 2 lists? of l?", "m: map of +s"; the question marks: may be null. */
static const char *show(const cst__source_field *field) {
  static char text[160];
  bool may_be_null = false;
  for (size_t i = 0; i < field->num_lists; i++) {
    may_be_null = may_be_null || field->nullable_lists[i];
  }
  snprintf(text, sizeof text, "%s: %d%s %s%s%s", field->name, (int)field->num_lists,
           may_be_null ? "?" : "", field->is_map ? "map " : "", field->format,
           field->is_nullable ? "?" : "");
  CHECK_EQ(field->is_struct, field->below != NULL);
  return text;
}

/* The field of a path, whose steps are divided by blanks, or what the error says, or "none". */
static const char *look(const cst__source_tree *tree, const char *path) {
  static char text[1200];
  char copy[200];
  cst__arena arena;
  cst_error error = CST_ERROR_INIT;
  cst__source_field field = {0};
  cst__source_lookup lookup = {.tree = tree, .arena = &arena, .error = &error};
  const void *below = tree->top;
  cst_status status = CST_OK;
  cst__arena_init(&arena, NULL);
  snprintf(copy, sizeof copy, "%s", path);
  for (char *step = strtok(copy, " "); step != NULL && status == CST_OK; step = strtok(NULL, " ")) {
    CHECK(below != NULL);
    status = tree->find(&lookup, below, step, &field);
    below = field.below;
  }
  if (status == CST_OK) {
    snprintf(text, sizeof text, "%s", field.name != NULL ? show(&field) : "none");
  } else {
    CHECK_EQ(status, error.code);
    snprintf(text, sizeof text, "%s: %s (%s)", error.path, error.message, error.hint);
  }
  cst__field_names_reset(&lookup.names);
  cst__arena_reset(&arena);
  return text;
}

/* The fields below the top, in order. */
static const char *list(const cst__source_tree *tree) {
  static char text[4096];
  cst__arena arena;
  cst__source_field field;
  bool found = true;
  size_t size = 0;
  cst__source_lookup lookup = {.tree = tree, .arena = &arena};
  cst__arena_init(&arena, NULL);
  for (size_t i = 0; found; i++) {
    CHECK_EQ(tree->nth(&lookup, tree->top, i, &field), CST_OK);
    found = field.name != NULL;
    size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", found && i > 0 ? ", " : "",
                             found ? show(&field) : "");
  }
  cst__arena_reset(&arena);
  return text;
}

/* ---- Arrow ---- */

/* A struct type, released by the caller. Names need not be unique. */
static struct ArrowSchema type_of(const char *fields) {
  struct ArrowSchema type;
  arrow_text_parse_type(&fields, &type);
  return type;
}

static void set_format(struct ArrowSchema *field, const char *format) {
  CHECK_EQ(ArrowSchemaSetFormat(field, format), 0);
}

TEST(fields_of_arrow_types_are_found_by_name) {
  struct ArrowSchema type =
      type_of("struct{id: int64, tags: list<string_view>, deep: large_list<fixed_list<struct{x: "
              "float32}>[2]>, at: timestamp[us, UTC], pos: struct{lat: float64, names: "
              "large_list_view<binary>}}");
  type.children[0]->flags = 0;
  type.children[1]->flags = 0;
  type.children[2]->children[0]->children[0]->flags = 0;
  cst__source_tree tree = cst__source_tree_of_arrow(&type);
  CHECK_STR(list(&tree), "id: 0 l, tags: 1 vu?, deep: 2? +s, at: 0 tsu:UTC?, pos: 0 +s?");
  CHECK_STR(look(&tree, "deep x"), "x: 0 f?");
  CHECK_STR(look(&tree, "pos names"), "names: 1? z?");
  CHECK_STR(look(&tree, "pos lad"), "none");
  type.release(&type);
}

TEST(entries_of_maps_have_names_of_their_own) {
  struct ArrowSchema type = type_of("struct{m: list<struct{k: string, v: list<int32>}>}");
  struct ArrowSchema *map = type.children[0];
  set_format(map, "+m");
  map->children[0]->flags = 0;
  map->children[0]->children[0]->flags = 0;
  cst__source_tree tree = cst__source_tree_of_arrow(&type);
  CHECK_STR(list(&tree), "m: 1? map +s");
  CHECK_STR(look(&tree, "m key"), "key: 0 u");
  CHECK_STR(look(&tree, "m value"), "value: 1? i?");
  CHECK_STR(look(&tree, "m k"), "none");
  type.release(&type);
}

TEST(dictionaries_are_their_values) {
  struct ArrowSchema type = type_of("struct{d: list<int32>}");
  struct ArrowSchema *item = type.children[0]->children[0];
  item->flags = 0;
  CHECK_EQ(ArrowSchemaAllocateDictionary(item), 0);
  ArrowSchemaInit(item->dictionary);
  CHECK_EQ(ArrowSchemaSetType(item->dictionary, NANOARROW_TYPE_STRING), 0);
  item->dictionary->flags = 0;
  cst__source_tree tree = cst__source_tree_of_arrow(&type);
  CHECK_STR(look(&tree, "d"), "d: 1? u");
  item->dictionary->flags = ARROW_FLAG_NULLABLE;
  CHECK_STR(look(&tree, "d"), "d: 1? u?");
  type.release(&type);
}

TEST(arrow_fields_that_cannot_be_read_are_refused) {
  struct ArrowSchema type =
      type_of("struct{u: struct{a: int8}, twice: int8, twice: int8, b: bool}");
  set_format(type.children[0], "+us:0");
  cst__source_tree tree = cst__source_tree_of_arrow(&type);
  CHECK_CONTAINS(look(&tree, "u"), "u: a query cannot look into");
  CHECK_CONTAINS(look(&tree, "u"), "'+us:0'");
  CHECK_CONTAINS(look(&tree, "twice"), "twice: a column is named twice");
  CHECK_STR(look(&tree, "b"), "b: 0 b?");
  set_format(type.children[0], "+m");
  CHECK_CONTAINS(look(&tree, "u"), "u: a query cannot look into");
  type.release(&type);
}

/* ---- messages ---- */

/* With descriptors, which the caller releases. */
static cst__source_tree sample_tree(cst_descriptors *set, cst_message_enums enums, uint32_t flags) {
  cst__source_tree tree;
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  options.descriptors = set;
  options.enums = enums;
  options.flags = flags;
  CHECK_EQ(cst__source_tree_of_message(&options, &tree, &error), CST_OK);
  return tree;
}

TEST(fields_of_messages_are_found_to_any_depth) {
  cst_descriptors *set = sample_descriptors();
  cst__source_tree tree = sample_tree(set, CST_ENUMS_DICTIONARY, 0);
  CHECK_STR(look(&tree, "kid kids kid kids kid kids kid kids kid an_int"), "an_int: 0 i?");
  CHECK_STR(look(&tree, "kid color"), "color: 0 U?");
  CHECK_STR(look(&tree, "ints"), "ints: 1 i");
  CHECK_STR(look(&tree, "point x"), "x: 0 i?");
  CHECK_STR(look(&tree, "counts"), "counts: 1 map +s");
  CHECK_STR(look(&tree, "counts key"), "key: 0 U");
  CHECK_STR(look(&tree, "flags value kid two"), "two: 0 U?");
  CHECK_STR(look(&tree, "flags value"), "value: 0 +s");
  CHECK_STR(look(&tree, "kid (t.extra)"), "(t.extra): 0 i?");
  CHECK_STR(look(&tree, "(t.more)"), "(t.more): 1 U");
  CHECK_STR(look(&tree, "at"), "at: 0 tsn:UTC?");
  CHECK_STR(look(&tree, "wrapped"), "wrapped: 0 l?");
  CHECK_STR(look(&tree, "values"), "values: 1 U");
  CHECK_STR(look(&tree, "mask paths"), "paths: 1 U");
  CHECK_STR(look(&tree, "any type_url"), "type_url: 0 U");
  CHECK_STR(look(&tree, "any (t.M) kids u"), "u: 0 I?");
  CHECK_STR(look(&tree, "any (type.googleapis.com/t.M)"), "(type.googleapis.com/t.M): 0 +s?");
  cst_descriptors_release(set);
}

TEST(options_decide_what_fields_of_messages_are) {
  cst_descriptors *set = sample_descriptors();
  cst__source_tree tree = sample_tree(set, CST_ENUMS_NUMBER,
                                      CST_MESSAGE_DEFAULTS | CST_MESSAGE_PLAIN_TYPES |
                                          CST_MESSAGE_BINARY_STRINGS | CST_MESSAGE_NULLABLE_LISTS);
  CHECK_STR(look(&tree, "color"), "color: 0 i");
  CHECK_STR(look(&tree, "s"), "s: 0 Z");
  CHECK_STR(look(&tree, "ints"), "ints: 1? i");
  CHECK_STR(look(&tree, "at seconds"), "seconds: 0 l");
  CHECK_STR(look(&tree, "kid"), "kid: 0 +s?");
  cst_descriptors_release(set);
}

TEST(names_that_messages_do_not_have_are_not_found) {
  cst_descriptors *set = sample_descriptors();
  cst__source_tree tree = sample_tree(set, CST_ENUMS_TEXT, 0);
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  CHECK_STR(look(&tree, "kid colour"), "none");
  CHECK_STR(look(&tree, "(t.extr)"), "none");
  CHECK_STR(look(&tree, "kid (t.M)"), "none");
  CHECK_STR(look(&tree, "any (t.N)"), "none");
  CHECK_EQ(cst__source_tree_of_message(&options, &tree, &error), CST_INVALID_ARGUMENT);
  options.descriptors = set;
  options.message = "t.N";
  CHECK_EQ(cst__source_tree_of_message(&options, &tree, &error), CST_NOT_FOUND);
  cst_descriptors_release(set);
}

/* ---- both ---- */

/* Two trees have the same fields below, as far as both have any. */
static void check_equal_below(const cst__source_tree *a, const void *below_a,
                              const cst__source_tree *b, const void *below_b, cst__arena *arena) {
  cst__source_field field_a;
  cst__source_field field_b;
  cst__source_lookup lookup_a = {.tree = a, .arena = arena};
  cst__source_lookup lookup_b = {.tree = b, .arena = arena};
  bool found_a = true;
  for (size_t i = 0; found_a; i++) {
    CHECK_EQ(a->nth(&lookup_a, below_a, i, &field_a), CST_OK);
    CHECK_EQ(b->nth(&lookup_b, below_b, i, &field_b), CST_OK);
    found_a = field_a.name != NULL;
    CHECK_EQ(found_a, field_b.name != NULL);
    if (found_a && (!field_a.is_struct || field_b.is_struct)) {
      char text[160];
      snprintf(text, sizeof text, "%s", show(&field_a));
      CHECK_STR(show(&field_b), text);
    }
    if (found_a && field_a.is_struct && field_b.is_struct) {
      check_equal_below(a, field_a.below, b, field_b.below, arena);
    }
  }
}

TEST(the_tree_of_a_message_is_that_of_the_decoders_batches) {
  static const uint32_t flags[] = {0, CST_MESSAGE_DEFAULTS, CST_MESSAGE_NULLABLE_LISTS,
                                   CST_MESSAGE_PLAIN_TYPES, CST_MESSAGE_BINARY_STRINGS};
  cst_descriptors *set = sample_descriptors();
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    for (cst_message_enums enums = CST_ENUMS_TEXT; enums <= CST_ENUMS_BINARY; enums++) {
      cst_decoder *decoder = NULL;
      cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
      struct ArrowSchema type;
      cst__arena arena;
      cst__arena_init(&arena, NULL);
      options.descriptors = set;
      options.enums = enums;
      options.flags = flags[i];
      CHECK_EQ(cst_decoder_new(
                   "message",
                   &(cst_decode_options){.size = sizeof(cst_decode_options), .message = &options},
                   &decoder, NULL),
               CST_OK);
      CHECK_EQ(cst_decoder_arrow_schema(decoder, &type, NULL), CST_OK);
      cst__source_tree of_message = sample_tree(set, enums, flags[i]);
      cst__source_tree of_arrow = cst__source_tree_of_arrow(&type);
      check_equal_below(&of_message, of_message.top, &of_arrow, of_arrow.top, &arena);
      cst__arena_reset(&arena);
      type.release(&type);
      cst_decoder_free(decoder);
    }
  }
  cst_descriptors_release(set);
}

/* What a path names is decoded, however often a message stands within its own type. */
TEST(paths_of_recursive_messages_are_decoded_to_any_depth) {
  static const char *const path = "kid.kids.kid.kids.kid.kids.kid.kids.an_int";
  cst_descriptors *set = sample_descriptors();
  cst_decoder *decoder = NULL;
  struct ArrowSchema type;
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  cst_decode_options wanted = CST_DECODE_OPTIONS_INIT;
  options.descriptors = set;
  options.recursion = -1;
  wanted.columns = &path;
  wanted.num_columns = 1;
  wanted.message = &options;
  CHECK_EQ(cst_decoder_new("message", &wanted, &decoder, NULL), CST_OK);
  CHECK_EQ(cst_decoder_arrow_schema(decoder, &type, NULL), CST_OK);
  cst__source_tree tree = cst__source_tree_of_arrow(&type);
  CHECK_STR(look(&tree, "kid kids kid kids kid kids kid kids an_int"), "an_int: 0 i?");
  type.release(&type);
  cst_decoder_free(decoder);
  cst_descriptors_release(set);
}

/* ---- allocation failures ---- */

static int look_at_all(void *ctx) {
  const cst__source_tree *tree = ctx;
  static const char *const names[] = {"any", "at", "(t.extra)", "wrapped", "m", "none_such"};
  cst__arena arena;
  cst__source_field field;
  cst__source_lookup lookup = {.tree = tree, .arena = &arena};
  cst_status status = CST_OK;
  cst__arena_init(&arena, NULL);
  for (size_t i = 0; i < sizeof names / sizeof *names && status != CST_NO_MEMORY; i++) {
    status = tree->find(&lookup, tree->top, names[i], &field);
    if (status == CST_OK && strcmp(names[i], "any") == 0) {
      status = tree->find(&lookup, field.below, "(t.M)", &field);
    }
  }
  cst__field_names_reset(&lookup.names);
  cst__arena_reset(&arena);
  return status == CST_NO_MEMORY ? CST_NO_MEMORY : 0;
}

TEST(failed_allocations_are_told) {
  cst_descriptors *set = sample_descriptors();
  struct ArrowSchema type = type_of("struct{any: struct{a: int8}, at: list<int8>, m: int8}");
  cst__source_tree of_message = sample_tree(set, CST_ENUMS_TEXT, 0);
  cst__source_tree of_arrow = cst__source_tree_of_arrow(&type);
  FOR_EACH_ALLOCATION_FAILURE(look_at_all, &of_message, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(look_at_all, &of_arrow, CST_NO_MEMORY);
  type.release(&type);
  cst_descriptors_release(set);
}
