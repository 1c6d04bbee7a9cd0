/* Tests of message trees, and of their binary form. */
#include "proto/message.h"

#include <pthread.h>

#include "proto_support.h"

/* What the bytes are in the text form, checked; and they come back as `again` (NULL: as they are).
 */
static void check_binary(const void *data, size_t size, const char *text, const void *again,
                         size_t again_size) {
  char *out;
  size_t out_size;
  CHECK_EQ(convert_message(false, data, size, true, &out, &out_size, NULL), CST_OK);
  CHECK_STR(out, text);
  cst_free(out);
  CHECK_EQ(convert_message(false, data, size, false, &out, &out_size, NULL), CST_OK);
  CHECK_EQ(out_size, again != NULL ? again_size : size);
  CHECK_MEM(out, again != NULL ? again : data, out_size);
  cst_free(out);
}
#define CHECK_BINARY(bytes, text) check_binary(bytes, sizeof(bytes) - 1, text, NULL, 0)
#define CHECK_BINARY_AGAIN(bytes, text, again) \
  check_binary(bytes, sizeof(bytes) - 1, text, again, sizeof(again) - 1)

TEST(every_scalar_type) {
  CHECK_BINARY("\x09\0\0\0\0\0\0\xf8\x3f", "d: 1.5\n");
  CHECK_BINARY("\x15\0\0\xc0\x3f", "f: 1.5\n");
  CHECK_BINARY("\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "i64: -1\n");
  CHECK_BINARY("\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "u64: 18446744073709551615\n");
  CHECK_BINARY("\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "i32: -1\n");
  CHECK_BINARY("\x31\1\0\0\0\0\0\0\x80", "x64: 9223372036854775809\n");
  CHECK_BINARY("\x3d\xff\xff\xff\xff", "x32: 4294967295\n");
  CHECK_BINARY("\x40\x01", "b: true\n");
  CHECK_BINARY("\x4a\x02hi", "s: \"hi\"\n");
  CHECK_BINARY("\x62\x01\xff", "y: \"\\377\"\n");
  CHECK_BINARY("\x68\x05", "u32: 5\n");
  CHECK_BINARY("\x70\x01", "e: GREEN\n");
  CHECK_BINARY("\x7d\xff\xff\xff\xff", "sx32: -1\n");
  CHECK_BINARY("\x81\x01\xff\xff\xff\xff\xff\xff\xff\xff", "sx64: -1\n");
  CHECK_BINARY("\x88\x01\x03", "z32: -2\n");
  CHECK_BINARY("\x90\x01\x03", "z64: -2\n");
}

TEST(numbers_of_32_bits_are_cut) {
  CHECK_BINARY_AGAIN("\x28\x81\x80\x80\x80\x10", "i32: 1\n", "\x28\x01");
  CHECK_BINARY_AGAIN("\x68\x81\x80\x80\x80\x10", "u32: 1\n", "\x68\x01");
  CHECK_BINARY_AGAIN("\x88\x01\x83\x80\x80\x80\x10", "z32: -2\n", "\x88\x01\x03");
  CHECK_BINARY_AGAIN("\x40\x80\x01", "b: true\n", "\x40\x01");
}

TEST(nested_messages_and_groups) {
  CHECK_BINARY("\x5a\x04\x5a\x02\x18\x05", "m {\n  m {\n    i64: 5\n  }\n}\n");
  CHECK_BINARY("\x53\x18\x05\x54", "g {\n  i64: 5\n}\n");
  CHECK_BINARY("\x5a\x00", "m {\n}\n");
}

TEST(the_last_value_wins_and_messages_are_merged) {
  CHECK_BINARY_AGAIN("\x18\x01\x18\x02", "i64: 2\n", "\x18\x02");
  CHECK_BINARY_AGAIN("\x5a\x02\x18\x01\x5a\x02\x28\x02", "m {\n  i64: 1\n  i32: 2\n}\n",
                     "\x5a\x04\x18\x01\x28\x02");
}

TEST(fields_are_written_by_number) {
  CHECK_BINARY_AGAIN("\x28\x02\x18\x01\x40\x01", "i64: 1\ni32: 2\nb: true\n",
                     "\x18\x01\x28\x02\x40\x01");
}

TEST(repeated_fields_are_read_packed_and_unpacked) {
  CHECK_BINARY_AGAIN("\xa2\x01\x03\x01\x02\x03", "many: 1\nmany: 2\nmany: 3\n",
                     "\xa0\x01\x01\xa0\x01\x02\xa0\x01\x03");
  CHECK_BINARY_AGAIN("\xa8\x01\x02\xaa\x01\x02\x04\x06", "packed: 1\npacked: 2\npacked: 3\n",
                     "\xaa\x01\x03\x02\x04\x06");
  CHECK_BINARY("\xb2\x01\x08\0\0\x80\x3f\0\0\0\x40", "floats: 1.0\nfloats: 2.0\n");
  CHECK_BINARY("\x92\x02\x08\0\0\0\0\0\0\xf0\x3f", "doubles: 1.0\n");
  CHECK_BINARY("\xba\x01\x01"
               "a"
               "\xba\x01\x00",
               "texts: \"a\"\ntexts: \"\"\n");
  CHECK_BINARY_AGAIN("\xaa\x01\x00", "", "");
}

TEST(a_oneof_keeps_its_last_member) {
  CHECK_BINARY_AGAIN("\xd8\x01\x05\xe2\x01\x01"
                     "a",
                     "one_text: \"a\"\n",
                     "\xe2\x01\x01"
                     "a");
  CHECK_BINARY_AGAIN("\xea\x01\x02\x18\x01\xd8\x01\x05", "one_int: 5\n", "\xd8\x01\x05");
}

TEST(maps_are_sorted_and_the_last_entry_of_a_key_counts) {
  CHECK_BINARY_AGAIN("\xca\x01\x05\x0a\x01"
                     "b\x10\x01\xca\x01\x05\x0a\x01"
                     "a\x10\x02"
                     "\xca\x01\x05\x0a\x01"
                     "b\x10\x03",
                     "map {\n  key: \"a\"\n  value: 2\n}\nmap {\n  key: \"b\"\n  value: 3\n}\n",
                     "\xca\x01\x05\x0a\x01"
                     "a\x10\x02\xca\x01\x05\x0a\x01"
                     "b\x10\x03");
  CHECK_BINARY_AGAIN("\xca\x01\x00", "map {\n  key: \"\"\n  value: 0\n}\n",
                     "\xca\x01\x04\x0a\x00\x10\x00");
  CHECK_BINARY_AGAIN("\xd2\x01\x02\x08\x07\xd2\x01\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                     "numbers {\n  key: -1\n  value {\n  }\n}\n"
                     "numbers {\n  key: 7\n  value {\n  }\n}\n",
                     "\xd2\x01\x0d\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x12\x00"
                     "\xd2\x01\x04\x08\x07\x12\x00");
}

TEST(entries_with_something_unknown_are_unknown_fields) {
  CHECK_BINARY("\xca\x01\x05\x0a\x01"
               "b\x18\x01",
               "25 {\n  1: \"b\"\n  3: 1\n}\n");
  CHECK_BINARY("\xca\x01\x02\x08\x01", "25 {\n  1: 1\n}\n"); /* a key of a wrong wire type */
}

TEST(unknown_fields_are_kept_at_any_depth) {
  CHECK_BINARY("\x5a\x05\x18\x01\xc0\x3e\x07\xc0\x3e\x08\xc2\x3e\x00",
               "m {\n  i64: 1\n  1000: 7\n}\n1000: 8\n1000: \"\"\n");
}

TEST(unknown_enum_numbers_are_unknown_fields) {
  CHECK_BINARY("\x70\x63", "14: 99\n");
  CHECK_BINARY("\x70\xe3\x80\x80\x00", "14: 99\n"); /* the bytes stay */
  CHECK_BINARY("\x70\xfb\xff\xff\xff\xff\xff\xff\xff\xff\x01", "e: NEGATIVE\n");
  CHECK_BINARY_AGAIN("\xfa\x01\x03\x01\x63\x00", "colors: GREEN\ncolors: RED\n31: 99\n",
                     "\xfa\x01\x02\x01\x00\xf8\x01\x63");
  CHECK_BINARY("\x80\x02\x63", "open: 99\n");
}

TEST(values_of_another_wire_type_are_unknown_fields) {
  CHECK_BINARY("\x1d\1\2\3\4", "3: 0x04030201\n");
  CHECK_BINARY("\x48\x05", "9: 5\n");
  CHECK_BINARY("\x58\x05", "11: 5\n");
}

TEST(zeros_without_presence_are_left_out) {
  CHECK_BINARY_AGAIN("\xf2\x01\x04\x0a\x00\x12\x00", "any {\n}\n", "\xf2\x01\x00");
  CHECK_BINARY_AGAIN("\x80\x02\x00", "", "");
  CHECK_BINARY_AGAIN("\x8d\x02\0\0\0\0", "", "");
  CHECK_BINARY("\x8d\x02\0\0\0\x80", "implicit_float: -0.0\n");
}

static void check_refused(const void *data, size_t size, int64_t offset, const char *message) {
  char *out;
  size_t out_size;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(convert_message(false, data, size, true, &out, &out_size, &error), CST_CORRUPT);
  CHECK_CONTAINS(error.message, message);
  CHECK_EQ(error.offset, offset);
}
#define CHECK_REFUSED(bytes, offset, message) \
  check_refused(bytes, sizeof(bytes) - 1, offset, message)

TEST(faults_name_their_place) {
  CHECK_REFUSED("\x18\x01\x18", 3, "the bytes end inside a value");
  CHECK_REFUSED("\x5a\x04\x5a\x02\x18\x80", 5, "the bytes end inside a value");
  CHECK_REFUSED("\x5a\x02\x18\x01\x5a\x05\x18", 6, "a length points past the end");
  CHECK_REFUSED("\xaa\x01\x02\x02\x80", 4, "a packed field ends inside a value");
  CHECK_REFUSED("\xb2\x01\x03\0\0\0", 3, "a packed field ends inside a value");
  CHECK_REFUSED("\xf2\x01\x03\x0a\x01\xff", 5, "not valid UTF-8");
}

/* `levels` messages inside each other. */
static size_t nest(uint8_t *bytes, size_t levels) {
  cst__wire_out out = {0};
  for (size_t i = 0; i < levels; i++) {
    cst__wire_put_varint(&out, cst__wire_out_size(&out));
    cst__wire_put_tag(&out, 11, CST__WIRE_LEN);
  }
  size_t size = cst__wire_out_size(&out);
  memcpy(bytes, out.data + out.free, size);
  cst__wire_out_free(&out);
  return size;
}

TEST(depth_is_limited) {
  uint8_t bytes[1024];
  char *out;
  size_t out_size;
  cst_error error = CST_ERROR_INIT;
  size_t size = nest(bytes, 100);
  CHECK_EQ(convert_message(false, bytes, size, false, &out, &out_size, NULL), CST_OK);
  CHECK_EQ(out_size, size);
  cst_free(out);
  size = nest(bytes, 101);
  CHECK_EQ(convert_message(false, bytes, size, false, &out, &out_size, &error), CST_CORRUPT);
  CHECK_CONTAINS(error.message, "nested deeper");
}

static void *there_and_back(void *context) {
  uint8_t bytes[1024];
  char *text = NULL;
  char *again = NULL;
  size_t text_size;
  size_t again_size;
  size_t size = nest(bytes, 100);
  bool *ok = context;
  *ok = convert_message(false, bytes, size, true, &text, &text_size, NULL) == CST_OK &&
        convert_message(true, text, text_size, false, &again, &again_size, NULL) == CST_OK &&
        again_size == size && memcmp(again, bytes, size) == 0;
  cst_free(text);
  cst_free(again);
  /* Unknown fields are looked into as deeply, and groups. */
  bytes[0] = 0xc3;
  bytes[1] = 0x3e;
  *ok = *ok && convert_message(false, bytes, size, true, &text, &text_size, NULL) == CST_CORRUPT;
  memset(bytes, 0x0b, 100);
  memset(bytes + 100, 0x0c, 100);
  *ok = *ok && convert_message(false, bytes, 200, true, &text, &text_size, NULL) == CST_OK &&
        convert_message(true, text, text_size, false, &again, &again_size, NULL) == CST_OK &&
        again_size == 200 && memcmp(again, bytes, 200) == 0;
  cst_free(text);
  cst_free(again);
  return NULL;
}

/* Promise P7: 64 KiB of stack are enough for the deepest message. Sanitizers need more. */
TEST(a_small_stack_is_enough) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
  size_t stack = 8 << 20;
#else
  size_t stack = 64 << 10;
#endif
  pthread_attr_t attributes;
  pthread_t thread;
  bool ok = false;
  pthread_attr_init(&attributes);
  CHECK_EQ(pthread_attr_setstacksize(&attributes, harness_stack_size(stack)), 0);
  CHECK_EQ(pthread_create(&thread, &attributes, there_and_back, &ok), 0);
  pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  CHECK(ok);
}

TEST(building_and_asking) {
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  cst__message *message = cst__message_new(&arena, &all_def);
  cst__message *child = cst__message_put_child(&arena, message, 11);
  CHECK(cst__message_put_int(&arena, child, 3, 7));
  CHECK(cst__message_put_double(&arena, message, 2, 0.5));
  CHECK(cst__message_put_double(&arena, message, 1, 2.5));
  CHECK(cst__message_put_bytes(&arena, message, 9, "hi", 2));
  CHECK_EQ(cst__message_int(cst__message_child(message, 11), 3, 0), 7);
  CHECK_EQ(cst__message_int(message, 3, -9), -9);
  CHECK_DOUBLE(cst__message_double(message, 1, 0), 2.5);
  CHECK_DOUBLE(cst__message_double(message, 2, 0), 0.5);
  CHECK_DOUBLE(cst__message_double(message, 22, 4), 4.0);
  CHECK_EQ(cst__message_bytes(message, 9).size, 2);
  CHECK_EQ(cst__message_bytes(message, 12).size, 0);
  CHECK(cst__message_child(message, 10) == NULL);
  CHECK_EQ(cst__message_count(message, 9), 1);
  CHECK_EQ(cst__message_count(message, 20), 0);
  cst__arena_reset(&arena);
}

TEST(field_types_have_names) {
  CHECK_STR(cst__field_type_name(cst__field_by_number(&all_def, 1)), "double");
  CHECK_STR(cst__field_type_name(cst__field_by_number(&all_def, 18)), "sint64");
  CHECK_STR(cst__field_type_name(cst__field_by_number(&all_def, 11)), "All");
  CHECK_STR(cst__field_type_name(cst__field_by_number(&all_def, 14)), "Color");
  CHECK(cst__field_by_number(&all_def, 19) == NULL);
  CHECK(cst__field_by_number(&all_def, 100) == NULL);
}

static int convert_both_ways(void *context) {
  const char *text = context;
  char *binary;
  size_t size;
  cst_status status = convert_message(true, text, strlen(text), false, &binary, &size, NULL);
  if (status == CST_OK) {
    char *again = NULL;
    size_t again_size;
    status = convert_message(false, binary, size, true, &again, &again_size, NULL);
    cst_free(again);
  }
  cst_free(binary);
  return (int)status;
}

TEST(out_of_memory) {
  char text[] =
      "many: [1, 2, 3, 4, 5] map { key: 'b' value: 1 } map { key: 'a' } s: 'a\\n' 'b' 77: 5 "
      "78 { 1: 'x' } numbers { key: 1 } m { m { 14: 99 } } any { type_url: 'x' } d: 0.1";
  FOR_EACH_ALLOCATION_FAILURE(convert_both_ways, text, CST_NO_MEMORY);
}

/* Strings of many lengths move the places where the arena needs a new block. */
TEST(out_of_memory_wherever_an_arena_needs_more) {
  static const char rest[] =
      " many: [1, 2, 3] map { key: 'b' } map { } numbers { } m { m { 14: 99 } } 77: 5 78 { 1: 'x' }"
      " any { [a/b] { } } d: 0.1 packed: [1, 2] children { } children { } g { } one_text: 'x'";
  char text[2 * 4096];
  for (size_t padding = 0; padding < 4096; padding += 16) {
    size_t size = (size_t)snprintf(text, sizeof text, "s: 'a' '");
    memset(text + size, 'x', padding);
    size += padding;
    snprintf(text + size, sizeof text - size, "'%s", rest);
    FOR_EACH_ALLOCATION_FAILURE(convert_both_ways, text, CST_NO_MEMORY);
  }
}

static int build_tree(void *context) {
  const size_t *padding = context;
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  cst__message *message = cst__message_new(&arena, &all_def);
  cst__message *child = NULL;
  bool ok = message != NULL && cst__arena_take(&arena, *padding + 1) != NULL &&
            cst__message_put_bytes(&arena, message, 9, "text", 4) &&
            cst__message_put_int(&arena, message, 20, 1) &&
            cst__message_put_double(&arena, message, 1, 1) &&
            (child = cst__message_put_child(&arena, message, 24)) != NULL &&
            cst__message_put_int(&arena, child, 3, 1) &&
            cst__message_put_child(&arena, child, 25) != NULL &&
            cst__message_sort_maps(&arena, message);
  cst__arena_reset(&arena);
  return ok ? CST_OK : CST_NO_MEMORY;
}

TEST(out_of_memory_while_building) {
  for (size_t padding = 0; padding < 4096; padding += 16) {
    FOR_EACH_ALLOCATION_FAILURE(build_tree, &padding, CST_NO_MEMORY);
  }
}

TEST(maps_of_unsigned_keys_are_sorted_by_them) {
  static const cst__field_def entry[] = {{"key", 1, CST__FIELD_UINT64, 0, 0, NULL, NULL},
                                         {"value", 2, CST__FIELD_INT32, 0, 0, NULL, NULL}};
  static const cst__message_def entry_type = {"test.Map.MEntry", entry, 2, NULL, 0, true};
  static const cst__field_def fields[] = {
      {"m", 1, CST__FIELD_MESSAGE, CST__FIELD_REPEATED, 0, &entry_type, NULL}};
  static const cst__message_def type = {"test.Map", fields, 1, NULL, 0, false};
  static const char large_first[] = "\x0a\x0d\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01"
                                    "\x0a\x04\x08\x01\x10\x02";
  cst_bytes bytes = {(const uint8_t *)large_first, sizeof large_first - 1};
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  cst__message *map = cst__message_new(&arena, &type);
  CHECK_EQ(cst__message_merge(&arena, map, bytes, CST__DEPTH_LIMIT, NULL), CST_OK);
  CHECK(cst__message_sort_maps(&arena, map));
  CHECK_EQ(cst__message_int(map->first->as.many[0].message, 1, 0), 1);
  CHECK_EQ(cst__message_int(map->first->as.many[1].message, 1, 0), -1);
  cst__arena_reset(&arena);
}

enum { MANY_FIELDS = 300 };

/* A type of many fields, the last three of them one oneof. */
static const cst__message_def *many_def(void) {
  static cst__field_def fields[MANY_FIELDS];
  static const char *const oneofs[] = {"choice"};
  static cst__message_def def = {"test.Many", fields, MANY_FIELDS, oneofs, 1, false};
  for (int i = 0; i < MANY_FIELDS; i++) {
    fields[i] = (cst__field_def){"f", i * 2 + 1, CST__FIELD_INT32, 0, i >= MANY_FIELDS - 3, NULL};
  }
  return &def;
}

/* All but the last two, in an order of its own. */
static int fill_many(void *context) {
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  cst__message *many = cst__message_new(&arena, many_def());
  bool ok = many != NULL;
  for (int i = 0; ok && i < MANY_FIELDS - 2; i++) {
    int at = i * 7 % (MANY_FIELDS - 2);
    ok = cst__message_put_int(&arena, many, at * 2 + 1, at);
  }
  if (ok && context != NULL) {
    int32_t last = 0;
    for (int i = 0; i < MANY_FIELDS - 2; i++) {
      CHECK_EQ(cst__message_int(many, i * 2 + 1, -1), i);
      CHECK(cst__message_find(many, i * 2) == NULL);
    }
    for (const cst__field *field = many->first; field != NULL; field = field->next) {
      CHECK(field->def->number > last);
      last = field->def->number;
    }
    CHECK(cst__message_put_int(&arena, many, MANY_FIELDS * 2 - 1, 5));
    CHECK(cst__message_find(many, MANY_FIELDS * 2 - 5) == NULL);
    CHECK(cst__message_put_int(&arena, many, MANY_FIELDS * 2 - 3, 6));
    CHECK(cst__message_find(many, MANY_FIELDS * 2 - 1) == NULL);
    CHECK_EQ(cst__message_int(many, 301, -1), 150);
  }
  cst__arena_reset(&arena);
  return ok ? CST_OK : CST_NO_MEMORY;
}

TEST(many_fields_in_any_order) {
  int check = 1;
  CHECK_EQ(fill_many(&check), CST_OK);
  FOR_EACH_ALLOCATION_FAILURE(fill_many, NULL, CST_NO_MEMORY);
}
