/* Parts of descriptor sets: what is picked, and what the files look like that are left. */
#include "proto/descriptor_picks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "proto/descriptor_proto.h"
#include "proto/message.h"

static const char shop_text[] =
    "name: 'shop.proto' package: 'shop' syntax: 'proto3' dependency: 'goods.proto'"
    "dependency: 'google/protobuf/timestamp.proto' dependency: 'google/protobuf/any.proto'"
    "message_type { name: 'Other' field { name: 'x' number: 1 label: 1 type: 5 } }"
    "message_type { name: 'Session'"
    "  field { name: 'id' number: 1 label: 1 type: 9 json_name: 'id' }"
    "  field { name: 'event' number: 2 label: 3 type: 11 type_name: 'Event' json_name: 'ev' }"
    "  field { name: 'at' number: 3 label: 1 type: 11"
    "          type_name: '.google.protobuf.Timestamp' }"
    "  field { name: 'next' number: 4 label: 1 type: 11 type_name: 'Session' }"
    "  field { name: 'good' number: 5 label: 3 type: 11 type_name: 'Session.GoodEntry' }"
    "  field { name: 'any' number: 6 label: 1 type: 11 type_name: '.google.protobuf.Any' }"
    "  nested_type { name: 'GoodEntry' options { map_entry: true }"
    "    field { name: 'key' number: 1 label: 1 type: 9 }"
    "    field { name: 'value' number: 2 label: 1 type: 11 type_name: '.goods.Good' } } }"
    "message_type { name: 'Event'"
    "  field { name: 'query' number: 1 label: 1 type: 9 }"
    "  field { name: 'price' number: 2 label: 1 type: 2 oneof_index: 1 proto3_optional: true }"
    "  field { name: 'text' number: 3 label: 1 type: 9 oneof_index: 0 }"
    "  field { name: 'good' number: 4 label: 1 type: 11 type_name: '.goods.Good' oneof_index: 0 }"
    "  oneof_decl { name: 'what' } oneof_decl { name: '_price' } }";

static const char goods_text[] =
    "name: 'goods.proto' package: 'goods' syntax: 'proto2'"
    "message_type { name: 'Good'"
    "  field { name: 'name' number: 1 label: 2 type: 9 }"
    "  field { name: 'kind' number: 2 label: 1 type: 14 type_name: 'Kind' default_value: 'B' }"
    "}"
    "message_type { name: 'Scope' extension { name: 'weight' number: 101 label: 1 type: 2"
    "  extendee: 'Good' } }"
    "extension { name: 'size' number: 100 label: 1 type: 5 extendee: '.goods.Good' }"
    "enum_type { name: 'Kind' value { name: 'A' number: 1 } value { name: 'B' number: 1 } }";

static void put_file(const char *text, cst__wire_out *out) {
  cst__arena arena;
  cst_error error = CST_ERROR_INIT;
  cst__arena_init(&arena, NULL);
  cst__message *file = cst__message_new(&arena, cst__file_descriptor_def);
  cst_bytes all = {(const uint8_t *)text, strlen(text)};
  cst_status status = cst__message_merge_text(&arena, file, all, CST__DEPTH_LIMIT, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  size_t before = cst__wire_out_size(out);
  cst__wire_put_bytes(out, "\x52\x01z", 3); /* public_dependency, unknown to the tables */
  cst__message_put_wire(file, out);
  cst__wire_put_varint(out, cst__wire_out_size(out) - before);
  cst__wire_put_tag(out, 1, CST__WIRE_LEN);
  cst__arena_reset(&arena);
}

static cst_descriptors *shop_types(bool turned) {
  cst__wire_out out = {0};
  cst_descriptors *types = NULL;
  cst_error error = CST_ERROR_INIT;
  put_file(turned ? goods_text : shop_text, &out);
  put_file(turned ? shop_text : goods_text, &out);
  cst_status status =
      cst_descriptors_new(out.data + out.free, cst__wire_out_size(&out), NULL, &types, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  cst__wire_out_free(&out);
  return types;
}

typedef struct picks_input {
  const cst_descriptors *types;
  const char *const *paths; /* "+event": whole; NULL ends them */
  bool all;
} picks_input;

static cst_status write_picks(const picks_input *input, char **bytes, size_t *size,
                              cst_error *error) {
  cst__descriptor_picks *picks;
  const cst__message_def *session = cst__descriptors_find(input->types, "shop.Session", 12);
  CST__TRY(
      cst__descriptor_picks_new(input->types, session, &cst__default_allocator, &picks, error));
  for (const char *const *path = input->paths; *path != NULL; path++) {
    bool whole = **path == '+';
    (void)cst__descriptor_picks_path(picks, *path + whole, whole);
  }
  if (input->all) {
    cst__descriptor_picks_all(picks);
  }
  cst_status status = cst__descriptor_picks_write(picks, bytes, size, error);
  cst__descriptor_picks_free(picks);
  return status;
}

/* The files of a set as text, each ended by a line. */
static char *text_of_set(const char *bytes, size_t size) {
  cst__text text = {0};
  cst__wire wire = cst__wire_of(bytes, size);
  cst__wire_field field;
  char *out = NULL;
  size_t out_size;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    cst__arena arena;
    cst__arena_init(&arena, NULL);
    cst__message *file = cst__message_new(&arena, cst__file_descriptor_def);
    CHECK_EQ(cst__message_merge(&arena, file, field.bytes, CST__DEPTH_LIMIT, NULL), CST_OK);
    cst__message_put_text(file, &text);
    cst__text_puts(&text, "--\n");
    cst__arena_reset(&arena);
  }
  CHECK_EQ(cst__text_finish(&text, &out, &out_size, NULL), CST_OK);
  return out;
}

static char *picked(const char *const *paths, bool all) {
  cst_descriptors *types = shop_types(false);
  cst_descriptors *turned = shop_types(true);
  char *bytes;
  char *other;
  size_t size;
  size_t other_size;
  CHECK_EQ(write_picks(&(picks_input){types, paths, all}, &bytes, &size, NULL), CST_OK);
  CHECK_EQ(write_picks(&(picks_input){turned, paths, all}, &other, &other_size, NULL), CST_OK);
  CHECK_EQ(size, other_size); /* in whatever order the files came */
  CHECK_MEM(bytes, other, size);
  cst_descriptors *again = NULL;
  CHECK_EQ(cst_descriptors_new(bytes, size, NULL, &again, NULL), CST_OK);
  cst_descriptors_release(again);
  cst_descriptors_release(types);
  cst_descriptors_release(turned);
  char *text = text_of_set(bytes, size);
  cst_free(bytes);
  cst_free(other);
  return text;
}
#define CHECK_PICKED(expected, ...)                                       \
  do {                                                                    \
    char *text = picked((const char *const[]){__VA_ARGS__, NULL}, false); \
    CHECK_STR(text, expected);                                            \
    cst_free(text);                                                       \
  } while (0)

/* The messages before it stay by name, because records may count them; other fields go, and the
 * imports and options with them. */
TEST(a_field) {
  CHECK_PICKED("name: \"shop.proto\"\npackage: \"shop\"\n"
               "message_type {\n  name: \"Other\"\n}\n"
               "message_type {\n  name: \"Session\"\n"
               "  field {\n    name: \"id\"\n    number: 1\n    label: 1\n    type: 9\n  }\n}\n"
               "syntax: \"proto3\"\n--\n",
               "id");
}

TEST(a_field_of_a_message_with_its_json_name) {
  CHECK_PICKED("name: \"shop.proto\"\npackage: \"shop\"\n"
               "message_type {\n  name: \"Other\"\n}\n"
               "message_type {\n  name: \"Session\"\n"
               "  field {\n    name: \"event\"\n    number: 2\n    label: 3\n    type: 11\n"
               "    type_name: \".shop.Event\"\n    json_name: \"ev\"\n  }\n}\n"
               "message_type {\n  name: \"Event\"\n"
               "  field {\n    name: \"price\"\n    number: 2\n    label: 1\n    type: 2\n"
               "    oneof_index: 0\n    proto3_optional: true\n  }\n"
               "  oneof_decl {\n    name: \"_price\"\n  }\n}\n"
               "syntax: \"proto3\"\n--\n",
               "event.price");
}

/* All members of a oneof decide which of them is set; the message of one is kept without fields. */
TEST(a_oneof_stays_whole) {
  CHECK_PICKED("name: \"goods.proto\"\npackage: \"goods\"\n"
               "message_type {\n  name: \"Good\"\n}\nsyntax: \"proto2\"\n--\n"
               "name: \"shop.proto\"\npackage: \"shop\"\ndependency: \"goods.proto\"\n"
               "message_type {\n  name: \"Other\"\n}\n"
               "message_type {\n  name: \"Session\"\n"
               "  field {\n    name: \"event\"\n    number: 2\n    label: 3\n    type: 11\n"
               "    type_name: \".shop.Event\"\n    json_name: \"ev\"\n  }\n}\n"
               "message_type {\n  name: \"Event\"\n"
               "  field {\n    name: \"text\"\n    number: 3\n    label: 1\n    type: 9\n"
               "    oneof_index: 0\n  }\n"
               "  field {\n    name: \"good\"\n    number: 4\n    label: 1\n    type: 11\n"
               "    type_name: \".goods.Good\"\n    oneof_index: 0\n  }\n"
               "  oneof_decl {\n    name: \"what\"\n  }\n}\n"
               "syntax: \"proto3\"\n--\n",
               "event.text");
}

/* A map has its entry; the alias of an enum is allowed; extensions have their ranges. */
TEST(maps_enums_and_extensions) {
  CHECK_PICKED(
      "name: \"goods.proto\"\npackage: \"goods\"\n"
      "message_type {\n  name: \"Good\"\n"
      "  field {\n    name: \"kind\"\n    number: 2\n    label: 1\n    type: 14\n"
      "    type_name: \".goods.Kind\"\n    default_value: \"B\"\n  }\n"
      "  5 {\n    1: 101\n    2: 102\n  }\n}\n"
      "message_type {\n  name: \"Scope\"\n"
      "  extension {\n    name: \"weight\"\n    extendee: \".goods.Good\"\n    number: 101\n"
      "    label: 1\n    type: 2\n  }\n}\n"
      "enum_type {\n  name: \"Kind\"\n  value {\n    name: \"A\"\n    number: 1\n  }\n"
      "  value {\n    name: \"B\"\n    number: 1\n  }\n  options {\n    2: 1\n  }\n}\n"
      "syntax: \"proto2\"\n--\n"
      "name: \"shop.proto\"\npackage: \"shop\"\ndependency: \"goods.proto\"\n"
      "message_type {\n  name: \"Other\"\n}\n"
      "message_type {\n  name: \"Session\"\n"
      "  field {\n    name: \"good\"\n    number: 5\n    label: 3\n    type: 11\n"
      "    type_name: \".shop.Session.GoodEntry\"\n  }\n"
      "  nested_type {\n    name: \"GoodEntry\"\n"
      "    field {\n      name: \"key\"\n      number: 1\n      label: 1\n      type: 9\n    }\n"
      "    field {\n      name: \"value\"\n      number: 2\n      label: 1\n      type: 11\n"
      "      type_name: \".goods.Good\"\n    }\n"
      "    options {\n      map_entry: true\n    }\n  }\n}\n"
      "syntax: \"proto3\"\n--\n",
      "good.value.kind", "good.value.(goods.Scope.weight)");
}

/* What is built in comes with the files, in front of those that import it, and whole. */
TEST(known_types) {
  const char *const paths[] = {"at", "any.(type.googleapis.com/goods.Good).name", NULL};
  char *text = picked(paths, false);
  CHECK_EQ(strncmp(text, "name: \"goods.proto\"", 19), 0);
  CHECK_CONTAINS(text, "name: \"name\"\n    number: 1\n    label: 2\n");
  CHECK_CONTAINS(text, "name: \"google/protobuf/any.proto\"");
  CHECK_CONTAINS(text, "name: \"nanos\"");
  CHECK_CONTAINS(text, "dependency: \"google/protobuf/any.proto\"\n"
                       "dependency: \"google/protobuf/timestamp.proto\"\n");
  CHECK(strstr(text, "goods.proto\"\ndependency") == NULL);
  cst_free(text);
}

/* A message that holds itself, with all that is below it. */
TEST(whole_messages) {
  const char *const paths[] = {"+next", NULL};
  char *some = picked(paths, false);
  char *all = picked(paths, true);
  CHECK_CONTAINS(some, "name: \"kind\"");
  CHECK_CONTAINS(some, "name: \"size\"");
  CHECK(strstr(some, "name: \"x\"") == NULL); /* of Other */
  CHECK_CONTAINS(all, "name: \"x\"");
  cst_free(some);
  cst_free(all);
}

TEST(paths_that_lead_nowhere) {
  cst_descriptors *types = shop_types(false);
  cst__descriptor_picks *picks;
  const cst__message_def *session = cst__descriptors_find(types, "shop.Session", 12);
  CHECK_EQ(cst__descriptor_picks_new(types, session, &cst__default_allocator, &picks, NULL),
           CST_OK);
  const char *const paths[] = {
      "nothing", "id.x", "event.nothing", "(shop.ext)", "good.k", "any.(no.T)",
      "(",       ".",    "event..",       "event.()"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    CHECK(!cst__descriptor_picks_path(picks, paths[i], true));
  }
  CHECK(cst__descriptor_picks_path(picks, "", false));
  CHECK(cst__descriptor_picks_field(picks, session, "event"));
  CHECK(!cst__descriptor_picks_field(picks, session, "events"));
  CHECK(cst__descriptor_picks_message(picks)); /* it holds an Any */
  cst__descriptor_picks_free(picks);
  cst_descriptors_release(types);
}

static int write_scenario(void *context) {
  char *bytes = NULL;
  size_t size;
  cst_status status = write_picks(context, &bytes, &size, NULL);
  cst_free(bytes);
  return (int)status;
}

TEST(allocation_failures) {
  cst_descriptors *types = shop_types(false);
  const char *const paths[] = {"+good", "event.price", "any.(goods.Good)", NULL};
  picks_input input = {types, paths, false};
  FOR_EACH_ALLOCATION_FAILURE(write_scenario, &input, CST_NO_MEMORY);
  cst_descriptors_release(types);
}
