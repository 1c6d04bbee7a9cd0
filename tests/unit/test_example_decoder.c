/* The decoder of tf.Example: cell states, every layout that protobuf allows, options, errors. Every
 * case goes through all three loops, with padding behind the records and without. */
#include "decode/example_decoder.h"

#include "decode/example_decoder.h"
#include "example_text.h"
#include "schema/schema.h"

enum { MOST_RECORDS = 16 };

typedef struct run {
  const char *schema; /* text; NULL: none */
  uint32_t flags;
  const char *const *columns;
  size_t num_columns;
  bool reject_unknown;
} run;

static cst_schema *schema_of(const char *text) {
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  if (text != NULL) {
    CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, &error), CST_OK);
  }
  return schema;
}

static cst_status decode_once(const run *r, cst__loop_choice loop, size_t padding,
                              const wire_text *records, size_t count, batch_text *text,
                              cst_error *error) {
  cst_schema *schema = schema_of(r->schema);
  cst__example_decoder_options options = {.flags = r->flags,
                                          .columns = r->columns,
                                          .num_columns = r->num_columns,
                                          .reject_unknown = r->reject_unknown,
                                          .loop = loop};
  cst_decoder *decoder = NULL;
  cst_status status = cst__example_decoder_new(schema, &options, &decoder, error);
  cst_schema_release(schema);
  if (status != CST_OK) {
    return status;
  }
  cst_bytes items[MOST_RECORDS];
  uint8_t *copies[MOST_RECORDS];
  for (size_t i = 0; i < count; i++) {
    /* Exact blocks, so that a sanitizer sees every read beyond what is allowed. */
    copies[i] = malloc(records[i].size + padding + (padding == 0 && records[i].size == 0));
    memcpy(copies[i], records[i].data, records[i].size);
    memset(copies[i] + records[i].size, 0xee, padding);
    items[i] = (cst_bytes){copies[i], records[i].size};
  }
  cst__records all = {.items = items, .count = count, .padding = padding};
  struct ArrowSchema out_schema;
  struct ArrowArray out;
  status = cst__decoder_decode(decoder, &all, &out_schema, &out, error);
  for (size_t i = 0; i < count; i++) {
    free(copies[i]);
  }
  if (status == CST_OK) {
    CHECK_EQ(out.length, (int64_t)count);
    *text = text_of_batch(&out_schema, &out);
    out.release(&out);
    out_schema.release(&out_schema);
  }
  cst_decoder_free(decoder);
  return status;
}

static const size_t paddings[] = {0, 1, 64};

static void check_records(run r, const wire_text *records, size_t count, const char *expected) {
  for (int loop = CST__LOOP_BEST; loop <= CST__LOOP_SLOW; loop++) {
    for (size_t p = 0; p < sizeof paddings / sizeof paddings[0]; p++) {
      cst_error error = CST_ERROR_INIT;
      batch_text text = {.size = 0};
      cst_status status =
          decode_once(&r, (cst__loop_choice)loop, paddings[p], records, count, &text, &error);
      CHECK_STR(error.message, "");
      CHECK_EQ(status, CST_OK);
      CHECK_STR(text.buf, expected);
    }
  }
}

/* Records as text, separated by '/'. */
static size_t records_of(const char *texts, wire_text *records) {
  char copy[4096];
  size_t count = 0;
  CHECK(strlen(texts) < sizeof copy);
  strcpy(copy, texts);
  for (char *at = copy; at != NULL;) {
    char *next = strchr(at, '/');
    if (next != NULL) {
      *next++ = '\0';
    }
    CHECK(count < MOST_RECORDS);
    records[count++] = example_text(at);
    at = next;
  }
  return count;
}

static void check(run r, const char *texts, const char *expected) {
  wire_text records[MOST_RECORDS];
  size_t count = records_of(texts, records);
  check_records(r, records, count, expected);
}

static void check_error(run r, const wire_text *records, size_t count, cst_status expected,
                        int64_t record, const char *path, const char *message) {
  for (int loop = CST__LOOP_BEST; loop <= CST__LOOP_SLOW; loop++) {
    for (size_t p = 0; p < sizeof paddings / sizeof paddings[0]; p++) {
      cst_error error = CST_ERROR_INIT;
      batch_text text = {.size = 0};
      CHECK_EQ(decode_once(&r, (cst__loop_choice)loop, paddings[p], records, count, &text, &error),
               expected);
      CHECK_EQ(error.code, expected);
      CHECK_CONTAINS(error.message, message);
      CHECK_STR(error.path, path);
      CHECK_EQ(error.record, record);
    }
  }
}

#define SCHEMA_ABC                                      \
  "feature { name: 'a' type: INT } feature { name: 'b'" \
  " type: FLOAT } feature { name: 'c' type: BYTES }"

TEST(cell_states_without_a_schema) {
  check((run){0}, "b:float[1.5] a:int[1,-2] c:bytes[xy,,z]/a:int[] d:none/c:none b:float[]/",
        "a: [1 -2] [] null null | b: [1.5] null [] null | c: [xy  z] null null null | "
        "d: null null null null");
}

TEST(cell_states_with_a_schema) {
  check((run){SCHEMA_ABC}, "c:bytes[q] a:int[7]/x:int[1]/b:float[2,3] y:bytes[no] a:none",
        "a: [7] null null | b: null null [2 3] | c: [q] null null");
}

TEST(a_feature_of_the_last_record_appears) {
  check((run){0}, "a:int[1]/a:int[2]/a:int[3] zz:bytes[new]",
        "a: [1] [2] [3] | zz: null null [new]");
}

TEST(no_records_and_no_columns) {
  check_records((run){0}, NULL, 0, "");
  check_records((run){SCHEMA_ABC}, NULL, 0, "a: | b: | c:");
  check((run){""}, "a:int[1]/b:int[2]", "");
  check((run){0}, "/", "");
}

TEST(columns_keep_the_callers_order) {
  static const char *const wanted[] = {"c", "a"};
  run r = {SCHEMA_ABC, .columns = wanted, .num_columns = 2};
  check(r, "a:int[1] b:float[2] c:bytes[x]/b:float[3]", "c: [x] null | a: [1] null");
  r.schema = NULL;
  check(r, "a:int[1] b:float[2] c:bytes[x]/b:float[3]", "c: [x] null | a: [1] null");
  check(r, "b:int[1]", "c: null | a: null");
}

TEST(integers_of_every_length) {
  check((run){0},
        "a:int[0,1,127,128,16383,16384,-1,9223372036854775807,-9223372036854775808,"
        "5000000000,72057594037927935,72057594037927936]",
        "a: [0 1 127 128 16383 16384 -1 9223372036854775807 -9223372036854775808 5000000000 "
        "72057594037927935 72057594037927936]");
}

TEST(names_of_every_length) {
  char text[2048] = "";
  char expected[2048] = "";
  for (int n = 1; n <= 40; n++) {
    char name[41];
    memset(name, 'k', sizeof name);
    name[n] = '\0';
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s:int[%d] ", name, n);
    snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s%s: [%d]",
             n > 1 ? " | " : "", name, n);
  }
  check((run){0}, text, expected);
}

TEST(long_names_that_differ_in_the_middle) {
  check((run){0}, "abcdefghAAAAijklmnop:int[1] abcdefghBBBBijklmnop:int[2]",
        "abcdefghAAAAijklmnop: [1] | abcdefghBBBBijklmnop: [2]");
}

TEST(strings_of_every_length) {
  for (size_t n = 0; n < 300; n += n < 40 ? 1 : 37) {
    char value[301];
    char text[400];
    char expected[400];
    memset(value, 'v', n);
    value[n] = '\0';
    snprintf(text, sizeof text, "a:bytes[%s,x] b:bytes[y]", n > 0 ? value : "");
    snprintf(expected, sizeof expected, "a: [%s x] | b: [y]", value);
    check((run){0}, text, expected);
    check((run){.flags = CST_COLUMNS_BINARY_VIEWS}, text, expected);
    check((run){.flags = CST_COLUMNS_OFFSETS_32}, text, expected);
  }
}

/* Rows of 0 to 3 values, absent ones between them in every pattern: against a plain walk. */
TEST(gaps_in_many_rows) {
  enum { ROWS = 997 };
  static wire_text records[ROWS];
  static cst_bytes items[ROWS];
  for (int density = 0; density <= 8; density++) {
    uint32_t state = 12345u + (uint32_t)density;
    for (int i = 0; i < ROWS; i++) {
      char text[64];
      state = state * 1664525u + 1013904223u;
      bool present = (int)((state >> 20) % 8) < density;
      snprintf(text, sizeof text, present ? "a:int[%s]" : "z:none",
               (state >> 8) % 4 == 0   ? ""
               : (state >> 8) % 4 == 1 ? "7"
                                       : "8,9");
      records[i] = example_text(text);
      items[i] = (cst_bytes){records[i].data, records[i].size};
    }
    for (int loop = CST__LOOP_BEST; loop <= CST__LOOP_SLOW; loop++) {
      static const char *const wanted[] = {"a"};
      cst__example_decoder_options options = {
          .columns = wanted, .num_columns = 1, .loop = (cst__loop_choice)loop};
      cst_schema *schema = schema_of(SCHEMA_ABC);
      cst_decoder *decoder;
      struct ArrowArray out;
      CHECK_EQ(cst__example_decoder_new(schema, &options, &decoder, NULL), CST_OK);
      cst_schema_release(schema);
      cst__records all = {.items = items, .count = ROWS};
      CHECK_EQ(cst__decoder_decode(decoder, &all, NULL, &out, NULL), CST_OK);
      const uint8_t *bits = out.children[0]->buffers[0];
      const int64_t *offsets = out.children[0]->buffers[1];
      const int64_t *values = out.children[0]->children[0]->buffers[1];
      int64_t at = 0;
      int64_t nulls = 0;
      for (int i = 0; i < ROWS; i++) {
        bool is_a = records[i].data[6] == 'a';
        nulls += !is_a;
        CHECK_EQ(bits == NULL || ((bits[i >> 3] >> (i & 7)) & 1), is_a);
        CHECK_EQ(offsets[i], at);
        size_t count = !is_a ? 0 : records[i].size < 14 ? 0 : records[i].size - 13;
        if (count > 0) {
          CHECK_EQ(values[at], count == 1 ? 7 : 8);
        }
        at += (int64_t)count;
      }
      CHECK_EQ(offsets[ROWS], at);
      CHECK_EQ(out.children[0]->null_count, nulls);
      out.release(&out);
      cst_decoder_free(decoder);
    }
  }
}

/* ---- layouts that protobuf allows and writers do not produce ---- */

static wire_text record_of_entry(const wire_text *entry) {
  wire_text features = {.size = 0};
  wire_message(&features, 1, entry);
  return wire_example(&features);
}

static wire_text raw(const char *bytes, size_t size) {
  wire_text w = {.size = 0};
  wire_bytes(&w, bytes, size);
  return w;
}
#define RAW(literal) raw(literal, sizeof(literal) - 1)

static void check_feature(wire_text feature, const char *expected) {
  wire_text entry = wire_entry("a", &feature);
  wire_text record = record_of_entry(&entry);
  check_records((run){0}, &record, 1, expected);
}

TEST(numbers_one_by_one) {
  check_feature(RAW("\x1a\x04\x08\x01\x08\x02"), "a: [1 2]");
  check_feature(RAW("\x12\x0a\x0d\x00\x00\x80\x3f\x0d\x00\x00\x00\x40"), "a: [1 2]");
}

TEST(packed_and_single_numbers_mixed) {
  check_feature(RAW("\x1a\x08\x0a\x02\x01\x02\x08\x03\x0a\x00"), "a: [1 2 3]");
}

TEST(lists_of_one_kind_are_merged_and_the_last_kind_wins) {
  check_feature(RAW("\x1a\x03\x0a\x01\x01\x1a\x03\x0a\x01\x02"), "a: [1 2]");
  check_feature(RAW("\x0a\x03\x0a\x01x\x1a\x03\x0a\x01\x02"), "a: [2]");
  check_feature(RAW("\x1a\x03\x0a\x01\x01\x0a\x03\x0a\x01x\x1a\x03\x0a\x01\x02"), "a: [2]");
}

TEST(a_list_of_a_wrong_wire_type_is_an_unknown_field) {
  check_feature(RAW("\x08\x05\x1a\x03\x0a\x01\x02"), "a: [2]");
  check_feature(RAW("\x1a\x05\x0d\x00\x00\x00\x00"), "a: []");
}

TEST(unknown_fields_are_stepped_over) {
  check_feature(RAW("\x22\x02zz\x1a\x05\x0a\x01\x02\x10\x07\x2b\x2c"), "a: [2]");
  wire_text record = example_text("a:int[1] b:bytes[x]");
  wire_text more = record;
  wire_bytes(&more, "\x12\x01x\x18\x01\x23\x08\x01\x24", 9);
  check_records((run){0}, &more, 1, "a: [1] | b: [x]");
}

TEST(the_last_entry_of_a_name_wins) {
  check((run){0}, "a:int[1,2] b:int[5] a:int[3]", "a: [3] | b: [5]");
  check((run){0}, "a:int[1] a:none/a:int[2]", "a: null [2]");
  check((run){0}, "c:bytes[abc,d] c:bytes[] c:bytes[e]/c:bytes[f]", "c: [e] [f]");
  check((run){SCHEMA_ABC}, "a:int[1]/a:int[2,3] a:int[4]",
        "a: [1] [4] | b: null null | c: null null");
}

TEST(entries_in_parts_and_in_another_order) {
  wire_text one = RAW("\x1a\x03\x0a\x01\x01");
  wire_text two = RAW("\x1a\x03\x0a\x01\x02");
  wire_text entry = {.size = 0};
  wire_message(&entry, 2, &one);
  wire_field(&entry, 1, "b", 1);
  wire_message(&entry, 2, &two);
  wire_field(&entry, 1, "a", 1);
  wire_text record = record_of_entry(&entry);
  check_records((run){0}, &record, 1, "a: [1 2]");
}

TEST(an_entry_without_a_name_or_a_value) {
  wire_text feature = RAW("\x1a\x03\x0a\x01\x01");
  wire_text entry = {.size = 0};
  wire_message(&entry, 2, &feature);
  wire_text record = record_of_entry(&entry);
  check_records((run){0}, &record, 1, ": [1]");
  wire_text bare = {.size = 0};
  wire_field(&bare, 1, "a", 1);
  record = record_of_entry(&bare);
  check_records((run){0}, &record, 1, "a: null");
}

TEST(features_in_several_parts) {
  wire_text record = example_text("a:int[1] b:int[2]");
  wire_text more = example_text("b:int[3] c:int[4]");
  wire_bytes(&record, more.data, more.size);
  check_records((run){0}, &record, 1, "a: [1] | b: [3] | c: [4]");
}

TEST(lengths_written_longer_than_needed) {
  wire_text record = RAW("\x0a\x90\x00\x0a\x8d\x00\x0a\x81\x00"
                         "a\x12\x85\x80\x00\x1a\x03\x0a\x01\x01");
  check_records((run){0}, &record, 1, "a: [1]");
}

/* An Example with one value, the length at one of its levels in `width` bytes. */
static wire_text with_wide_length(int level, unsigned width) {
  static const unsigned numbers[] = {1, 3, 2, 1, 1}; /* packed values, list, value, entry, all */
  wire_text w = RAW("\x05");
  for (int i = 0; i < 5; i++) {
    wire_text key = RAW("a");
    w = wire_padded(numbers[i], &w, i == level ? width : 1);
    if (i == 2) {
      key = wire_padded(1, &key, level == 5 ? width : 1);
      wire_bytes(&key, w.data, w.size);
      w = key;
    }
  }
  wire_text unknown = wire_padded(9, &w, level == 6 ? width : 1);
  wire_bytes(&w, unknown.data, unknown.size);
  return w;
}

/* As protobuf's C++ parser has it. */
TEST(lengths_of_up_to_five_bytes) {
  for (int level = 0; level < 7; level++) {
    for (unsigned width = 1; width < 12; width++) {
      wire_text record = with_wide_length(level, width);
      if (width <= 5) {
        check_records((run){0}, &record, 1, "a: [5]");
      } else {
        check_error((run){0}, &record, 1, CST_CORRUPT, 0, level < 2 ? "a" : "",
                    "malformed protobuf");
      }
    }
  }
}

/* ---- options ---- */

TEST(fixed_shapes) {
  run r = {"feature { name: 'a' type: INT shape { dim { size: 2 } } }"
           "feature { name: 'c' type: BYTES shape {} }",
           .flags = CST_COLUMNS_FIXED_SIZE};
  check(r, "a:int[1,2] c:bytes[x]/c:bytes[y]/a:int[3,4]", "a: [1 2] null [3 4] | c: [x] [y] null");
  wire_text records[] = {example_text("a:int[1,2] c:bytes[x]"), example_text("a:int[1,2,3]")};
  check_error(r, records, 2, CST_SCHEMA, 1, "a", "found 3 values, the schema's shape has 2");
  r.flags |= CST_COLUMNS_OFFSETS_32 | CST_COLUMNS_BINARY_VIEWS;
  check(r, "a:int[1,2] c:bytes[a_long_string_of_more_than_twelve_bytes]/",
        "a: [1 2] null | c: [a_long_string_of_more_than_twelve_bytes] null");
}

TEST(shapes_without_values_stay_lists) {
  run r = {"feature { name: 'a' type: INT shape { dim { size: 0 } } }",
           .flags = CST_COLUMNS_FIXED_SIZE};
  check(r, "a:int[]/", "a: [] null");
}

TEST(unknown_names_can_be_rejected) {
  static const char *const wanted[] = {"a"};
  run r = {SCHEMA_ABC, .columns = wanted, .num_columns = 1, .reject_unknown = true};
  check(r, "a:int[1] b:float[2]", "a: [1]");
  wire_text records[] = {example_text("a:int[1]"), example_text("b:float[2] new:int[3]")};
  check_error(r, records, 2, CST_SCHEMA, 1, "new", "a feature that the schema does not have");
}

TEST(features_of_unknown_type) {
  run r = {"feature { name: 'a' type: TYPE_UNKNOWN } feature { name: 'b' type: INT }"};
  check(r, "a:none b:int[1]/", "a: null null | b: [1] null");
  wire_text record = example_text("b:int[1] a:int[2]");
  check_error(r, &record, 1, CST_SCHEMA, 0, "a", "but the schema has no type for the feature");
}

TEST(structs_are_refused) {
  run r = {"feature { name: 's' type: STRUCT struct_domain { feature { name: 'a' type: INT } } }"};
  wire_text record = example_text("a:int[1]");
  check_error(r, &record, 1, CST_SCHEMA, -1, "s", "of type STRUCT");
}

TEST(columns_that_do_not_exist) {
  static const char *const wanted[] = {"aa"};
  run r = {"feature { name: 'aaa' type: INT }", .columns = wanted, .num_columns = 1};
  cst_error error = CST_ERROR_INIT;
  batch_text text;
  CHECK_EQ(decode_once(&r, CST__LOOP_BEST, 0, NULL, 0, &text, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.hint, "did you mean 'aaa'?");
}

/* ---- what nobody wants ---- */

/* Entries of names of 0 to 100 bytes and of values of 0 to 300, between those of "want"
 * and "a name that is wanted, too". */
static wire_text record_of_many(void) {
  static const size_t sizes[] = {0, 1, 3, 40, 117, 118, 119, 120, 125, 126, 127, 128, 300};
  static const uint8_t zeros[512];
  wire_text features = {.size = 0};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    char name[128];
    memset(name, 'n', sizeof name);
    name[i * 8] = '\0'; /* none, too */
    wire_text bytes = {.size = 0};
    wire_text list = {.size = 0};
    wire_text entry = {.size = 0};
    wire_field(&bytes, 1, zeros, sizes[i]);
    wire_message(&list, 1, &bytes);
    entry = wire_entry(name, &list);
    wire_message(&features, 1, &entry);
    if (i % 4 == 2) {
      wire_text number = RAW("\x1a\x03\x0a\x01\x07");
      wire_text wanted = wire_entry(i % 8 == 2 ? "want" : "a name that is wanted, too", &number);
      wire_message(&features, 1, &wanted);
    }
  }
  return wire_example(&features);
}

static const char *const few_wanted[] = {"want", "a name that is wanted, too"};

TEST(what_nobody_wants_is_stepped_over) {
  wire_text record = record_of_many();
  wire_text records[] = {record, record, record};
  check_records((run){.columns = few_wanted, .num_columns = 2}, records, 3,
                "want: [7] [7] [7] | a name that is wanted, too: [7] [7] [7]");
  static const char *const short_wanted[] = {"want"};
  check_records((run){.columns = short_wanted, .num_columns = 1}, records, 3, "want: [7] [7] [7]");
}

/* Each byte is another, or the record ends before it: all loops say the same of it. */
TEST(damage_among_what_nobody_wants) {
  const wire_text whole = record_of_many();
  const run r = {.columns = few_wanted, .num_columns = 2};
  static const uint8_t others[] = {0x00, 0x01, 0x0a, 0x12, 0x7f, 0x80, 0xff};
  for (size_t at = 0; at < whole.size; at++) {
    for (size_t i = 0; i <= sizeof others; i++) {
      wire_text damaged = whole;
      damaged.size = i < sizeof others ? whole.size : at;
      damaged.data[at] = i < sizeof others ? others[i] : 0;
      cst_error expected = CST_ERROR_INIT;
      batch_text text = {.size = 0};
      cst_status status = decode_once(&r, CST__LOOP_SLOW, 0, &damaged, 1, &text, &expected);
      for (int loop = CST__LOOP_BEST; loop < CST__LOOP_SLOW; loop++) {
        for (size_t p = 0; p < sizeof paddings / sizeof paddings[0]; p++) {
          cst_error error = CST_ERROR_INIT;
          batch_text found = {.size = 0};
          CHECK_EQ(
              decode_once(&r, (cst__loop_choice)loop, paddings[p], &damaged, 1, &found, &error),
              status);
          CHECK_STR(found.buf, text.buf);
          CHECK_STR(error.message, expected.message);
          CHECK_STR(error.path, expected.path);
          CHECK_EQ(error.record, expected.record);
        }
      }
    }
  }
}

/* ---- bad input ---- */

TEST(types_that_disagree) {
  wire_text records[] = {example_text("a:int[1]"), example_text("a:float[1]")};
  check_error((run){0}, records, 2, CST_SCHEMA, 1, "a",
              "found a list of float, earlier records have int64");
  check_error((run){SCHEMA_ABC}, records, 2, CST_SCHEMA, 1, "a",
              "found a list of float, the schema says int64");
  records[1] = example_text("a:bytes[]");
  check_error((run){0}, records, 2, CST_SCHEMA, 1, "a", "found a list of bytes");
}

TEST(truncation_at_every_byte) {
  wire_text whole = example_text("a:int[1,300] b:float[1,2] c:bytes[xyz,] d:none");
  for (size_t n = 1; n < whole.size; n++) {
    wire_text records[] = {whole, whole};
    records[1].size = n;
    check_error((run){0}, records, 2, CST_CORRUPT, 1, "", "malformed protobuf");
  }
}

TEST(malformed_values_name_the_feature) {
  static const char *const lists[] = {
      "\x1a\x04\x0a\x02\x01\x80",                                     /* varint cut */
      "\x12\x05\x0a\x03\x01\x02\x03",                                 /* three bytes of a float */
      "\x1a\x0d\x0a\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", /* 11-byte varint */
      "\x0a\x04\x0a\x05xy",                                           /* length past the end */
  };
  static const size_t sizes[] = {6, 7, 15, 6};
  for (size_t i = 0; i < 4; i++) {
    wire_text feature = raw(lists[i], sizes[i]);
    wire_text entry = wire_entry("a", &feature);
    wire_text record = record_of_entry(&entry);
    check_error((run){0}, &record, 1, CST_CORRUPT, 0, "a", "malformed protobuf");
    /* Of a feature that nobody wants, the value is not looked at. */
    static const char *const wanted[] = {"b"};
    check_records((run){.columns = wanted, .num_columns = 1}, &record, 1, "b: null");
  }
}

TEST(zeros_for_tags_where_a_column_has_no_kind_yet) {
  wire_text entry = RAW("\x0a\x01"
                        "a"
                        "\x00\x05\x00\x03\x0a\x01\x07");
  wire_text record = record_of_entry(&entry);
  check_error((run){SCHEMA_ABC}, &record, 1, CST_CORRUPT, 0, "", "malformed protobuf");
}

TEST(names_that_are_no_utf8) {
  wire_text feature = RAW("\x1a\x03\x0a\x01\x01");
  wire_text entry = wire_entry("caf\xe9", &feature);
  wire_text record = record_of_entry(&entry);
  check_error((run){0}, &record, 1, CST_CORRUPT, 0, "", "not UTF-8");
  /* With a schema, what is not wanted is stepped over, the name too. */
  check_records((run){SCHEMA_ABC}, &record, 1, "a: null | b: null | c: null");
}

TEST(a_decoder_is_usable_after_an_error) {
  cst__example_decoder_options options = {.flags = 0};
  cst_decoder *decoder;
  CHECK_EQ(cst__example_decoder_new(NULL, &options, &decoder, NULL), CST_OK);
  for (int i = 0; i < 3; i++) {
    wire_text bad[] = {example_text("a:int[1] b:bytes[x]"), example_text("a:bytes[1]")};
    wire_text good = example_text("a:bytes[y]");
    cst_bytes items[] = {{bad[0].data, bad[0].size}, {bad[1].data, bad[1].size}};
    cst__records all = {.items = items, .count = 2};
    struct ArrowSchema schema;
    struct ArrowArray out;
    CHECK_EQ(cst__decoder_decode(decoder, &all, &schema, &out, NULL), CST_SCHEMA);
    items[0] = (cst_bytes){good.data, good.size};
    all.count = 1;
    CHECK_EQ(cst__decoder_decode(decoder, &all, &schema, &out, NULL), CST_OK);
    CHECK_STR(text_of_batch(&schema, &out).buf, "a: [y]");
    out.release(&out);
    schema.release(&schema);
  }
  cst_decoder_free(decoder);
}

TEST(batches_live_longer_than_the_decoder_and_children_can_be_moved) {
  cst__example_decoder_options options = {.flags = 0};
  cst_decoder *decoder;
  CHECK_EQ(cst__example_decoder_new(NULL, &options, &decoder, NULL), CST_OK);
  wire_text record = example_text("a:int[1,2] b:bytes[x]");
  cst_bytes item = {record.data, record.size};
  cst__records all = {.items = &item, .count = 1};
  struct ArrowSchema schema;
  struct ArrowArray out;
  CHECK_EQ(cst__decoder_decode(decoder, &all, &schema, &out, NULL), CST_OK);
  cst_decoder_free(decoder);
  CHECK_STR(text_of_batch(&schema, &out).buf, "a: [1 2] | b: [x]");
  struct ArrowArray child = *out.children[0];
  out.children[0]->release = NULL;
  out.release(&out);
  CHECK_EQ(((const int64_t *)child.children[0]->buffers[1])[1], 2);
  child.release(&child);
  schema.release(&schema);
}

static void release_array(struct ArrowArray *a) { a->release = NULL; }
static void release_schema(struct ArrowSchema *s) { s->release = NULL; }

TEST(records_in_an_arrow_array) {
  wire_text one = example_text("c:bytes[a_string_that_is_longer_than_a_view]");
  wire_text two = example_text("c:bytes[short]");
  uint8_t bytes[1024];
  memcpy(bytes, one.data, one.size);
  memcpy(bytes + one.size, two.data, two.size);
  int64_t offsets[] = {0, (int64_t)one.size, (int64_t)(one.size + two.size)};
  for (uint32_t flags = 0; flags <= CST_COLUMNS_BINARY_VIEWS; flags += CST_COLUMNS_BINARY_VIEWS) {
    cst__example_decoder_options options = {.flags = flags};
    cst_decoder *decoder;
    CHECK_EQ(cst__example_decoder_new(NULL, &options, &decoder, NULL), CST_OK);
    const void *buffers[] = {NULL, offsets, bytes};
    struct ArrowArray array = {.length = 2, .n_buffers = 3, .buffers = buffers};
    struct ArrowSchema type = {.format = "Z", .name = ""};
    array.release = release_array;
    type.release = release_schema;
    struct ArrowSchema schema;
    struct ArrowArray out;
    CHECK_EQ(cst_decoder_decode_arrow(decoder, &type, &array, &schema, &out, NULL), CST_OK);
    CHECK_EQ(array.release == NULL, flags != 0);
    CHECK_STR(text_of_batch(&schema, &out).buf, "c: [a_string_that_is_longer_than_a_view] [short]");
    if (flags != 0) {
      /* Zero copies: the view's data buffer is the caller's. */
      CHECK(out.children[0]->children[0]->buffers[2] == (const void *)bytes);
    }
    out.release(&out);
    schema.release(&schema);
    cst_decoder_free(decoder);
  }
}

/* ---- memory ---- */

static int decode_scenario(void *context) {
  const run *r = context;
  wire_text records[MOST_RECORDS];
  size_t count =
      records_of("a:int[1,2,3] c:bytes[a_string_of_some_length,y]/b:float[1]/a:none d:int[4]/"
                 "a:int[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] c:bytes[z]",
                 records);
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema = NULL;
  cst__example_decoder_options options = {.flags = r->flags};
  cst_decoder *decoder = NULL;
  if (r->schema != NULL) {
    cst_status parsed = cst_schema_from_text(r->schema, strlen(r->schema), &schema, &error);
    if (parsed != CST_OK) {
      return (int)parsed;
    }
  }
  cst_bytes items[MOST_RECORDS];
  for (size_t i = 0; i < count; i++) {
    items[i] = (cst_bytes){records[i].data, records[i].size};
  }
  cst__records all = {.items = items, .count = count};
  struct ArrowSchema out_schema;
  struct ArrowArray out;
  cst_status status = cst__example_decoder_new(schema, &options, &decoder, &error);
  cst_schema_release(schema);
  if (status == CST_OK) {
    status = cst__decoder_decode(decoder, &all, &out_schema, &out, &error);
    if (status == CST_OK) {
      out.release(&out);
      out_schema.release(&out_schema);
    }
  }
  cst_decoder_free(decoder);
  return (int)status;
}

TEST(every_allocation_may_fail) {
  run without = {0};
  run with = {SCHEMA_ABC, .flags = CST_COLUMNS_OFFSETS_32};
  run views = {.flags = CST_COLUMNS_BINARY_VIEWS};
  FOR_EACH_ALLOCATION_FAILURE(decode_scenario, &without, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(decode_scenario, &with, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(decode_scenario, &views, CST_NO_MEMORY);
}

/* 100,000 names in one record take time in proportion (the harness stops a test that hangs). */
TEST(many_names) {
  size_t count = 100000;
  uint8_t *features = malloc(count * 20);
  size_t size = 0;
  for (size_t i = 0; i < count; i++) {
    char name[16];
    wire_text feature = RAW("\x1a\x03\x0a\x01\x01");
    snprintf(name, sizeof name, "n%zu", i);
    wire_text entry = wire_entry(name, &feature);
    wire_text field = {.size = 0};
    wire_message(&field, 1, &entry);
    memcpy(features + size, field.data, field.size);
    size += field.size;
  }
  wire_text head = {.size = 0};
  wire_byte(&head, 0x0a);
  wire_varint(&head, size);
  uint8_t *record = malloc(head.size + size);
  memcpy(record, head.data, head.size);
  memcpy(record + head.size, features, size);
  cst_bytes item = {record, head.size + size};
  cst__records all = {.items = &item, .count = 1};
  cst__example_decoder_options options = {.flags = 0};
  cst_decoder *decoder;
  struct ArrowArray out;
  CHECK_EQ(cst__example_decoder_new(NULL, &options, &decoder, NULL), CST_OK);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(cst__decoder_decode(decoder, &all, NULL, &out, NULL), CST_OK);
    CHECK_EQ(out.n_children, (int64_t)count);
    out.release(&out);
  }
  cst_decoder_free(decoder);
  free(record);
  free(features);
}
