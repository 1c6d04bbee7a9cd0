/* Which message type records may be of: what each type explains of their bytes. */
#include "message/message_guess.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "harness.h"
#include "proto/descriptor_proto.h"
#include "proto/message.h"

/* Sub has what Main has but for one field; Blob takes any message; Strict has a required field. */
static const char types_text[] =
    "name: 'guess.proto' syntax: 'proto2'"
    "enum_type { name: 'Color' value { name: 'RED' number: 0 } value { name: 'BLUE' number: 3 } }"
    "message_type { name: 'Empty' }"
    "message_type { name: 'Blob'"
    "  field { name: 'id' number: 1 label: 1 type: 3 }"
    "  field { name: 'data' number: 2 label: 3 type: 12 } }"
    "message_type { name: 'Main'"
    "  field { name: 'id' number: 1 label: 1 type: 3 }"
    "  field { name: 'item' number: 2 label: 3 type: 11"
    "          type_name: '.Item' }"
    "  field { name: 'color' number: 3 label: 1 type: 14"
    "          type_name: '.Color' } }"
    "message_type { name: 'Sub'"
    "  field { name: 'id' number: 1 label: 1 type: 3 }"
    "  field { name: 'item' number: 2 label: 3 type: 11"
    "          type_name: '.Item' } }"
    "message_type { name: 'Item'"
    "  field { name: 'name' number: 1 label: 1 type: 9 }"
    "  field { name: 'on' number: 2 label: 1 type: 8 }"
    "  field { name: 'ranks' number: 3 label: 3 type: 5 } }"
    "message_type { name: 'Strict'"
    "  field { name: 'id' number: 1 label: 1 type: 3 }"
    "  field { name: 'item' number: 2 label: 3 type: 11"
    "          type_name: '.Item' }"
    "  field { name: 'color' number: 3 label: 1 type: 14"
    "          type_name: '.Color' }"
    "  field { name: 'must' number: 4 label: 2 type: 7 } }";

/* The set of these types; NULL after a failed allocation. */
static cst_descriptors *guess_types(cst_error *error) {
  cst_descriptors *descriptors = NULL;
  cst__arena arena;
  cst__wire_out out = {0};
  cst__arena_init(&arena, NULL);
  cst__message *file = cst__message_new(&arena, cst__file_descriptor_def);
  cst_bytes text = {(const uint8_t *)types_text, sizeof types_text - 1};
  if (file != NULL &&
      cst__message_merge_text(&arena, file, text, CST__DEPTH_LIMIT, error) == CST_OK) {
    cst__message_put_wire(file, &out);
    if (!out.failed) {
      (void)cst_descriptors_new(out.data + out.free, cst__wire_out_size(&out), NULL, &descriptors,
                                error);
    }
  }
  cst__wire_out_free(&out);
  cst__arena_reset(&arena);
  return descriptors;
}

enum { ALL = 6 };

/* The guesses for records that are given as string literals. */
static size_t guess(const cst_bytes *records, size_t count, cst_message_guess out[ALL]) {
  static char names[ALL][16];
  size_t num_out = ALL;
  cst_error error = CST_ERROR_INIT;
  cst_descriptors *descriptors = guess_types(&error);
  CHECK_STR(error.message, "");
  CHECK_EQ(cst_descriptors_guess(descriptors, records, count, out, &num_out, &error), CST_OK);
  for (size_t i = 0; i < num_out; i++) { /* which end with the set */
    out[i].message = strcpy(names[i], out[i].message);
  }
  cst_descriptors_release(descriptors);
  return num_out;
}

static cst_message_guess guess_of(const cst_message_guess *guesses, size_t count,
                                  const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(guesses[i].message, name) == 0) {
      return guesses[i];
    }
  }
  CHECK(false);
  return guesses[0];
}

#define RECORD(text) ((cst_bytes){(const uint8_t *)(text), sizeof(text) - 1})

TEST(best_explains_all) {
  const cst_bytes records[] = {RECORD("\x08\x07\x12\x04\x0a\x02no\x18\x03"),
                               RECORD("\x12\x02\x10\x01"), RECORD("")};
  cst_message_guess out[ALL];
  CHECK_EQ(guess(records, 3, out), ALL);
  CHECK_STR(out[0].message, "Main");
  CHECK_EQ(out[0].records, 3);
  CHECK_EQ(out[0].bytes, 14);
  CHECK_EQ(out[0].opaque_bytes, 0);
  CHECK_EQ(out[0].values, 6);
  CHECK_STR(out[1].message, "Sub"); /* which does not have field 3 */
  CHECK_EQ(out[1].bytes, 12);
  CHECK_EQ(out[1].records, 3);
  CHECK_STR(out[2].message, "Blob");
  CHECK_EQ(out[2].bytes, 12);
  CHECK_EQ(out[2].opaque_bytes, 6);
  CHECK_EQ(guess_of(out, ALL, "Strict").records, 0); /* its required field is missing */
  CHECK_EQ(guess_of(out, ALL, "Empty").records, 3);  /* it takes everything and explains nothing */
  CHECK_EQ(guess_of(out, ALL, "Empty").bytes, 0);
}

TEST(equal_ones) {
  const cst_bytes records[] = {RECORD("\x08\x07\x12\x04\x0a\x02no")};
  cst_message_guess out[ALL];
  CHECK_EQ(guess(records, 1, out), ALL);
  CHECK_STR(out[0].message, "Main");
  CHECK_STR(out[1].message, "Sub");
  CHECK_EQ(cst__message_fit_compare(&out[0], &out[1]), 0);
  CHECK_STR(out[2].message, "Blob");
  CHECK(cst__message_fit_compare(&out[1], &out[2]) < 0);
}

TEST(required_fields) {
  const cst_bytes records[] = {RECORD("\x08\x07\x25\x01\x02\x03\x04")};
  cst_message_guess out[ALL];
  CHECK_EQ(guess(records, 1, out), ALL);
  CHECK_STR(out[0].message, "Strict");
  CHECK_EQ(out[0].bytes, 7);
}

/* What a writer of the type would not write does not count for it. */
TEST(values_out_of_range) {
  const struct {
    cst_bytes record;
    const char *type;
    uint64_t records, bytes;
  } rows[] = {
      {RECORD("\x10\x02"), "Item", 1, 0},                     /* a bool of 2 */
      {RECORD("\x10\x01"), "Item", 1, 2},                     /* a bool */
      {RECORD("\x1a\x02\x05\x06"), "Item", 1, 4},             /* int32s, packed */
      {RECORD("\x18\x05\x18\x06"), "Item", 1, 4},             /* and not */
      {RECORD("\x18\xff\xff\xff\xff\x0f"), "Item", 1, 0},     /* 2^32 - 1 in int32 */
      {RECORD("\x1a\x05\xff\xff\xff\xff\x0f"), "Item", 1, 0}, /* packed */
      {RECORD("\x1a\x01\x80"), "Item", 0, 0},                 /* cut off */
      {RECORD("\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "Item", 1, 11}, /* -1 */
      {RECORD("\x18\x03"), "Main", 1, 2},                                      /* an enum's name */
      {RECORD("\x18\x02"), "Main", 1, 0},                                      /* none */
      {RECORD("\x0a\x01\xff"), "Item", 1, 0},         /* not UTF-8, in proto2 */
      {RECORD("\x0d\x01\x02\x03\x04"), "Item", 1, 0}, /* another wire type */
      {RECORD("\x12\x03\x0a\x01"), "Main", 0, 0},     /* a length past the end */
      {RECORD("\x12\x03\x0a\x02z"), "Main", 0, 0},    /* in the message within */
      {RECORD("\x12\x03\x0a\x02z"), "Blob", 1, 5},
      {RECORD("\x08"), "Main", 0, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    cst_message_guess out[ALL];
    CHECK_EQ(guess(&rows[i].record, 1, out), ALL);
    cst_message_guess found = guess_of(out, ALL, rows[i].type);
    CHECK_EQ(found.records, rows[i].records);
    CHECK_EQ(found.bytes, rows[i].bytes);
  }
}

/* Messages within messages, as deep as protobuf takes them and deeper. */
TEST(depth) {
  static cst__message_def node;
  static const cst__field_def fields[] = {{"node", 1, CST__FIELD_MESSAGE, 0, 0, &node, NULL}};
  uint8_t bytes[512];
  node = (cst__message_def){"Node", fields, 1, NULL, 0, false};
  for (int levels = CST__DEPTH_LIMIT; levels <= CST__DEPTH_LIMIT + 1; levels++) {
    size_t start = sizeof bytes;
    for (int i = 0; i < levels; i++) {
      size_t size = sizeof bytes - start;
      if (size > 127) {
        bytes[--start] = (uint8_t)(size >> 7);
      }
      bytes[--start] = (uint8_t)(size > 127 ? size | 128 : size);
      bytes[--start] = 0x0a;
    }
    cst_bytes record = {bytes + start, sizeof bytes - start};
    cst_message_guess out;
    cst__message_fit(&node, &record, 1, &out);
    CHECK_EQ(out.records, levels == CST__DEPTH_LIMIT);
    CHECK_EQ(out.values, levels == CST__DEPTH_LIMIT ? levels : 0);
  }
}

TEST(room_and_arguments) {
  const cst_bytes record = RECORD("\x18\x03");
  cst_message_guess out[ALL];
  size_t num_out = 1;
  cst_error error = CST_ERROR_INIT;
  cst_descriptors *descriptors = guess_types(&error);
  CHECK_EQ(cst_descriptors_guess(descriptors, &record, 1, out, &num_out, &error), CST_OK);
  CHECK_EQ(num_out, 1);
  CHECK_STR(out[0].message, "Main");
  num_out = 0;
  CHECK_EQ(cst_descriptors_guess(descriptors, NULL, 0, NULL, &num_out, &error), CST_OK);
  CHECK_EQ(num_out, 0);
  num_out = ALL;
  CHECK_EQ(cst_descriptors_guess(descriptors, NULL, 1, out, &num_out, &error),
           CST_INVALID_ARGUMENT);
  CHECK_EQ(num_out, 0);
  num_out = ALL;
  CHECK_EQ(cst_descriptors_guess(descriptors, &record, 1, NULL, &num_out, &error),
           CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_descriptors_guess(descriptors, &record, 1, out, NULL, &error), CST_INVALID_ARGUMENT);
  num_out = ALL;
  CHECK_EQ(cst_descriptors_guess(NULL, &record, 1, out, &num_out, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(num_out, 0);
  cst_descriptors_release(descriptors);
}

/* Guessing itself allocates nothing. */
static int guess_scenario(void *context) {
  cst_error error = CST_ERROR_INIT;
  const cst_bytes record = RECORD("\x18\x03");
  cst_message_guess out[ALL];
  size_t num_out = ALL;
  cst_descriptors *descriptors = context;
  return (int)cst_descriptors_guess(descriptors, &record, 1, out, &num_out, &error);
}

TEST(no_memory) {
  cst_error error = CST_ERROR_INIT;
  cst_descriptors *descriptors = guess_types(&error);
  FOR_EACH_ALLOCATION_FAILURE(guess_scenario, descriptors, CST_NO_MEMORY);
  cst_descriptors_release(descriptors);
}
