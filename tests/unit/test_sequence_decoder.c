/* The decoder of tf.SequenceExample: cell states, every layout that protobuf allows, options,
 * errors. Every case goes through all three loops, with padding behind the records and without. */
#include "decode/sequence_decoder.h"

#include "schema/schema.h"
#include "sequence_text.h"

enum { MOST_RECORDS = 16 };

typedef struct run {
  const char *schema; /* text; NULL: none */
  uint32_t flags;
  const char *const *columns;
  size_t num_columns;
  bool reject_unknown;
  const char *name; /* of the column of lists; NULL: "SEQ" */
} run;

#define SCHEMA_ST                                                                        \
  "feature { name: 'SEQ' type: STRUCT struct_domain { feature { name: 't' type: BYTES }" \
  " feature { name: 's' type: INT } feature { name: 'f' type: FLOAT } } }"               \
  " feature { name: 'a' type: INT }"

static cst_schema *schema_of(const char *text) {
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  if (text != NULL) {
    CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, &error), CST_OK);
    CHECK_STR(error.message, "");
  }
  return schema;
}

static cst_status new_decoder(const run *r, cst__loop_choice loop, cst_decoder **out,
                              cst_error *error) {
  cst_schema *schema = schema_of(r->schema);
  cst__sequence_decoder_options options = {.sequence_column = r->name != NULL ? r->name : "SEQ",
                                           .flags = r->flags,
                                           .columns = r->columns,
                                           .num_columns = r->num_columns,
                                           .reject_unknown = r->reject_unknown,
                                           .loop = loop};
  cst_status status = cst__sequence_decoder_new(schema, &options, out, error);
  cst_schema_release(schema);
  return status;
}

static cst_status decode_once(const run *r, cst__loop_choice loop, size_t padding,
                              const wire_text *records, size_t count, batch_text *text,
                              cst_error *error) {
  cst_decoder *decoder = NULL;
  cst_status status = new_decoder(r, loop, &decoder, error);
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
  /* Twice, so that recycled buffers are filled too. */
  for (int i = 0; i < 2; i++) {
    *error = (cst_error)CST_ERROR_INIT;
    status = cst__decoder_decode(decoder, &all, &out_schema, &out, error);
    if (status != CST_OK) {
      break;
    }
    CHECK_EQ(out.length, (int64_t)count);
    *text = text_of_sequence(&out_schema, &out);
    out.release(&out);
    out_schema.release(&out_schema);
  }
  for (size_t i = 0; i < count; i++) {
    free(copies[i]);
  }
  cst_decoder_free(decoder);
  return status;
}

static const size_t paddings[] = {0, 1, 40, 64};

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
    records[count++] = sequence_text(at);
    at = next;
  }
  return count;
}

static void check(run r, const char *texts, const char *expected) {
  wire_text records[MOST_RECORDS];
  size_t count = records_of(texts, records);
  check_records(r, records, count, expected);
}

static void check_failure(run r, const wire_text *records, size_t count, cst_status expected,
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

static void check_error(run r, const char *texts, cst_status expected, int64_t record,
                        const char *path, const char *message) {
  wire_text records[MOST_RECORDS];
  size_t count = records_of(texts, records);
  check_failure(r, records, count, expected, record, path, message);
}

/* ---- cell states ---- */

TEST(context_and_lists_without_a_schema) {
  check((run){0}, "b:bytes[x] a:int[1,2] | t=bytes[x,y];bytes[z] s=int[5000000000];int[-1,2]",
        "a: [1 2] | b: [x] | SEQ.s: [[5000000000] [-1 2]] | SEQ.t: [[x y] [z]]");
}

TEST(every_state_of_a_cell) {
  const char *records = "| s=int[1];none;int[] / | s= / | / a:int[1] | s=none / | s=int[2]";
  check((run){0}, records,
        "a: null null null [1] null | SEQ.s: [[1] null []] [] null [null] [[2]]");
  check((run){SCHEMA_ST}, records,
        "a: null null null [1] null | SEQ.t: null null null null null | "
        "SEQ.s: [[1] null []] [] null [null] [[2]] | SEQ.f: null null null null null");
}

TEST(a_list_without_a_typed_value_keeps_its_lengths) {
  check((run){0}, "| s=none;none / | s= / | t=int[1]",
        "SEQ.s: [null null] [] null | SEQ.t: null null [[1]]");
  check((run){0}, "| s=none;none / | s=none;float[];none / | s=float[1]",
        "SEQ.s: [null null] [null [] null] [[1]]");
}

TEST(lists_that_are_there_but_empty) {
  check((run){0}, "a:int[1] | / a:int[2]", "a: [1] [2] | SEQ{}");
  check((run){0}, "a:int[1] / a:int[2]", "a: [1] [2]");
  check((run){0}, " / ", "");
  check((run){0}, "|", "SEQ{}");
}

TEST(types_come_from_each_call) {
  cst_decoder *decoder = NULL;
  run r = {0};
  CHECK_EQ(new_decoder(&r, CST__LOOP_BEST, &decoder, NULL), CST_OK);
  static const char *const texts[] = {"| s=int[1];int[2]", "| s=bytes[x] t=", "| t=float[1]", "",
                                      "| s=none"};
  static const char *const expected[] = {"SEQ.s: [[1] [2]]", "SEQ.s: [[x]] | SEQ.t: []",
                                         "SEQ.t: [[1]]", "", "SEQ.s: [null]"};
  for (int i = 0; i < 5; i++) {
    wire_text record = sequence_text(texts[i]);
    cst_bytes item = {record.data, record.size};
    cst__records all = {.items = &item, .count = 1};
    struct ArrowSchema schema;
    struct ArrowArray out;
    CHECK_EQ(cst__decoder_decode(decoder, &all, &schema, &out, NULL), CST_OK);
    CHECK_STR(text_of_sequence(&schema, &out).buf, expected[i]);
    out.release(&out);
    schema.release(&schema);
  }
  cst_decoder_free(decoder);
}

TEST(no_records) {
  cst_decoder *decoder = NULL;
  run r = {SCHEMA_ST};
  CHECK_EQ(new_decoder(&r, CST__LOOP_BEST, &decoder, NULL), CST_OK);
  cst__records none = {.count = 0};
  struct ArrowSchema schema;
  struct ArrowArray out;
  CHECK_EQ(cst__decoder_decode(decoder, &none, &schema, &out, NULL), CST_OK);
  CHECK_STR(text_of_sequence(&schema, &out).buf, "a: | SEQ.t: | SEQ.s: | SEQ.f:");
  out.release(&out);
  schema.release(&schema);
  CHECK_EQ(cst__decoder_decode(decoder, &none, NULL, NULL, NULL), CST_OK);
  cst_decoder_free(decoder);
}

TEST(numbers_of_every_length) {
  check((run){0},
        "| s=int[0,1,127,128,16383,16384,-1];int[9223372036854775807];int[-9223372036854775808,"
        "72057594037927935,72057594037927936] f=float[1.5,2,3,4,5,6,7,8,9];float[10]",
        "SEQ.f: [[1.5 2 3 4 5 6 7 8 9] [10]] | SEQ.s: [[0 1 127 128 16383 16384 -1] "
        "[9223372036854775807] [-9223372036854775808 72057594037927935 72057594037927936]]");
}

/* Features on both sides of every length that is read in another way, near the record's end. */
TEST(features_of_every_length) {
  for (size_t n = 0; n < 300; n += n < 140 ? 1 : 37) {
    char value[301];
    char text[1024];
    char expected[1024];
    memset(value, 'v', n);
    value[n] = '\0';
    snprintf(text, sizeof text, "| t=bytes[%s,x];bytes[y];bytes[%s,]", value, value);
    snprintf(expected, sizeof expected, "SEQ.t: [[%s x] [y] [%s ]]", value, value);
    check((run){0}, text, expected);
    check((run){.flags = CST_COLUMNS_BINARY_VIEWS}, text, expected);
    check((run){.flags = CST_COLUMNS_OFFSETS_32}, text, expected);
  }
}

TEST(numbers_in_long_features) {
  char text[2000] = "| s=int[";
  char expected[2000] = "SEQ.s: [[";
  for (int i = 0; i < 200; i++) {
    snprintf(text + strlen(text), 12, "%s%d", i ? "," : "", i * 3);
    snprintf(expected + strlen(expected), 12, "%s%d", i ? " " : "", i * 3);
  }
  strcat(text, "];int[7]");
  strcat(expected, "] [7]]");
  check((run){0}, text, expected);
}

/* More steps than the buffers begin with, so that they grow while a list is appended. */
TEST(many_steps) {
  wire_text record = {.size = 0};
  wire_text list = {.size = 0};
  for (int i = 0; i < 500; i++) {
    char values[16];
    snprintf(values, sizeof values, "%d", i);
    wire_text feature = i % 7 == 3 ? (wire_text){.size = 0} : wire_feature("int", values);
    wire_message(&list, 1, &feature);
  }
  wire_text entry = wire_entry("s", &list);
  wire_text lists = {.size = 0};
  wire_message(&lists, 1, &entry);
  wire_message(&record, 2, &lists);
  char expected[8192] = "SEQ.s: [";
  for (int i = 0; i < 500; i++) {
    snprintf(expected + strlen(expected), 16, i % 7 == 3 ? "%snull" : "%s[%d]", i ? " " : "", i);
  }
  strcat(expected, "]");
  check_records((run){0}, &record, 1, expected);
}

/* ---- layouts that protobuf allows and writers do not produce ---- */

static wire_text raw(const char *bytes, size_t size) {
  wire_text w = {.size = 0};
  wire_bytes(&w, bytes, size);
  return w;
}
#define RAW(literal) raw(literal, sizeof(literal) - 1)

static wire_text record_of_entry(const wire_text *entry) {
  wire_text lists = {.size = 0};
  wire_text record = {.size = 0};
  wire_message(&lists, 1, entry);
  wire_message(&record, 2, &lists);
  return record;
}

/* A list "s" of int[7], the given Feature, int[8]. */
static void check_feature(wire_text feature, const char *expected) {
  wire_text seven = RAW("\x1a\x03\x0a\x01\x07");
  wire_text list = {.size = 0};
  char text[256];
  wire_message(&list, 1, &seven);
  wire_message(&list, 1, &feature);
  wire_message(&list, 1, &seven);
  wire_text entry = wire_entry("s", &list);
  wire_text record = record_of_entry(&entry);
  snprintf(text, sizeof text, "SEQ.s: [[7] %s [7]]", expected);
  check_records((run){0}, &record, 1, text);
}

TEST(features_in_odd_layouts) {
  check_feature(RAW("\x1a\x04\x08\x01\x08\x02"), "[1 2]");
  check_feature(RAW("\x1a\x08\x0a\x02\x01\x02\x08\x03\x0a\x00"), "[1 2 3]");
  check_feature(RAW("\x1a\x03\x0a\x01\x01\x1a\x03\x0a\x01\x02"), "[1 2]");
  check_feature(RAW("\x0a\x03\x0a\x01x\x1a\x03\x0a\x01\x02"), "[2]");
  check_feature(RAW("\x1a\x00"), "[]");
  check_feature(RAW("\x1a\x02\x0a\x00"), "[]");
  check_feature(RAW(""), "null");
  check_feature(RAW("\x08\x05"), "null");
  check_feature(RAW("\x22\x02zz\x1a\x05\x0a\x01\x02\x10\x07\x2b\x2c"), "[2]");
  check_feature(RAW("\x1a\x86\x00\x0a\x83\x00\x01\x02\x03"), "[1 2 3]");
}

/* As protobuf's C++ parser has it. */
TEST(lengths_of_more_than_five_bytes_are_refused) {
  for (unsigned width = 1; width < 12; width++) {
    wire_text key = RAW("s");
    wire_text feature = RAW("\x1a\x03\x0a\x01\x07");
    wire_text list = wire_padded(1, &feature, width);
    wire_text entry = wire_padded(1, &key, 1);
    wire_message(&entry, 2, &list);
    wire_text record = record_of_entry(&entry);
    if (width <= 5) {
      check_records((run){0}, &record, 1, "SEQ.s: [[7]]");
    } else {
      check_failure((run){0}, &record, 1, CST_CORRUPT, 0, "SEQ.s", "malformed protobuf");
    }
  }
}

TEST(the_last_entry_of_a_name_wins) {
  check((run){0}, "| s=int[1];int[2] t=int[5] s=int[3]", "SEQ.s: [[3]] | SEQ.t: [[5]]");
  check((run){0}, "| s=int[1];none s= / | s=int[2]", "SEQ.s: [] [[2]]");
  check((run){0}, "| t=bytes[abc];none;bytes[] t=none;bytes[e]/ | t=bytes[f]",
        "SEQ.t: [null [e]] [[f]]");
  /* The type of an entry that does not count does not count. */
  check((run){0}, "| s=int[1] s=bytes[x]", "SEQ.s: [[x]]");
  check((run){0}, "| s=int[1] s=none", "SEQ.s: [null]");
  check((run){SCHEMA_ST}, "| s=bytes[x] s=int[4]",
        "a: null | SEQ.t: null | SEQ.s: [[4]] | SEQ.f: null");
}

TEST(records_in_several_parts) {
  wire_text record = sequence_text("a:int[1] b:int[2] | s=int[1] t=int[2]");
  wire_text more = sequence_text("b:int[3] | t=int[4];int[5] u=");
  wire_bytes(&record, more.data, more.size);
  check_records((run){0}, &record, 1,
                "a: [1] | b: [3] | SEQ.s: [[1]] | SEQ.t: [[4] [5]] | SEQ.u: []");
}

TEST(lists_before_the_context) {
  wire_text record = sequence_text("| s=int[1]");
  wire_text context = sequence_text("a:int[2]");
  wire_bytes(&record, context.data, context.size);
  check_records((run){0}, &record, 1, "a: [2] | SEQ.s: [[1]]");
}

TEST(entries_in_parts_and_in_another_order) {
  wire_text one = RAW("\x0a\x05\x1a\x03\x0a\x01\x01\x0a\x00");
  wire_text two = RAW("\x0a\x05\x1a\x03\x0a\x01\x02");
  wire_text entry = {.size = 0};
  wire_message(&entry, 2, &one);
  wire_field(&entry, 1, "b", 1);
  wire_message(&entry, 2, &two);
  wire_field(&entry, 1, "s", 1);
  wire_text record = record_of_entry(&entry);
  /* A FeatureList in parts is one list. */
  check_records((run){0}, &record, 1, "SEQ.s: [[1] null [2]]");
}

TEST(an_entry_without_a_name_or_a_value) {
  wire_text list = RAW("\x0a\x05\x1a\x03\x0a\x01\x01");
  wire_text entry = {.size = 0};
  wire_message(&entry, 2, &list);
  wire_text record = record_of_entry(&entry);
  check_records((run){0}, &record, 1, "SEQ.: [[1]]");
  wire_text bare = {.size = 0};
  wire_field(&bare, 1, "s", 1);
  record = record_of_entry(&bare);
  check_records((run){0}, &record, 1, "SEQ.s: []");
}

TEST(unknown_fields_are_stepped_over) {
  wire_text record = sequence_text("a:int[1] | s=int[2]");
  wire_bytes(&record, "\x1a\x01x\x20\x01\x23\x08\x01\x24", 9);
  check_records((run){0}, &record, 1, "a: [1] | SEQ.s: [[2]]");
  wire_text list = RAW("\x10\x05\x0a\x05\x1a\x03\x0a\x01\x01\x1b\x1c");
  wire_text entry = wire_entry("s", &list);
  wire_bytes(&entry, "\x18\x01", 2);
  record = record_of_entry(&entry);
  check_records((run){0}, &record, 1, "SEQ.s: [[1]]");
}

/* A record in another layout between others: what was put of it already is taken back. */
TEST(a_record_taken_back) {
  wire_text records[3];
  records[0] = sequence_text("| s=int[1];none t=bytes[x]");
  records[1] = sequence_text("a:int[9] | s=int[2];none;int[3] t=bytes[abc]");
  wire_bytes(&records[1], "\x20\x01", 2);
  records[2] = sequence_text("| s=none t=bytes[z]");
  check_records((run){0}, records, 3,
                "a: null [9] null | SEQ.s: [[1] null] [[2] null [3]] [null] | "
                "SEQ.t: [[x]] [[abc]] [[z]]");
}

/* ---- options ---- */

TEST(wanted_columns) {
  static const char *const wanted[] = {"SEQ.s", "a", "SEQ.t"};
  run r = {SCHEMA_ST, .columns = wanted, .num_columns = 3};
  const char *records = "a:int[1] b:int[2] | t=bytes[x] s=int[3] u=int[4]";
  check(r, records, "SEQ.s: [[3]] | SEQ.t: [[x]] | a: [1]");
  r.schema = NULL;
  check(r, records, "SEQ.s: [[3]] | SEQ.t: [[x]] | a: [1]");
  check(r, "b:int[1] | u=int[1]", "SEQ.s: null | SEQ.t: null | a: null");
  r.num_columns = 0;
  check(r, records, "");
  static const char *const whole[] = {"a", "SEQ"};
  r = (run){.columns = whole, .num_columns = 2};
  check(r, records, "a: [1] | SEQ.s: [[3]] | SEQ.t: [[x]] | SEQ.u: [[4]]");
  check(r, "a:int[1]", "a: [1] | SEQ{}");
  r.num_columns = 1;
  check(r, records, "a: [1]");
}

TEST(columns_that_cannot_be_wanted) {
  static const char *const missing[] = {"SEQ.ss"};
  static const char *const twice[] = {"SEQ.s", "SEQ"};
  static const char *const same[] = {"SEQ.s", "SEQ.s"};
  static const char *const none[] = {"SEQ.s"};
  run r = {SCHEMA_ST, .columns = missing, .num_columns = 1};
  check_error(r, "", CST_NOT_FOUND, -1, "SEQ.ss", "no such column");
  r = (run){SCHEMA_ST, .columns = twice, .num_columns = 2};
  check_error(r, "", CST_INVALID_ARGUMENT, -1, "SEQ", "named twice");
  r = (run){.columns = same, .num_columns = 2};
  check_error(r, "", CST_INVALID_ARGUMENT, -1, "SEQ.s", "named twice");
  r = (run){"feature { name: 'a' type: INT }", .columns = none, .num_columns = 1};
  check_error(r, "", CST_NOT_FOUND, -1, "SEQ.s", "no such column");
}

TEST(schemas_without_lists) {
  run r = {"feature { name: 'a' type: INT }"};
  check(r, "a:int[1] | s=int[1]", "a: [1]");
  r.schema = "feature { name: 'SEQ' type: STRUCT } feature { name: 'a' type: INT }";
  check(r, "a:int[1] | s=int[1]", "a: [1]");
  r.schema = "feature { name: 'SEQ' type: INT }";
  check_error(r, "", CST_SCHEMA, -1, "SEQ",
              "the schema feature of the sequence column must have type STRUCT");
  r.schema = "feature { name: 'other' type: STRUCT } feature { name: 'SEQ' type: STRUCT }";
  check_error(r, "", CST_SCHEMA, -1, "other", "of type STRUCT");
  r.schema =
      "feature { name: 'SEQ' type: STRUCT struct_domain { feature { name: 'x' type: STRUCT } } }";
  check_error(r, "", CST_SCHEMA, -1, "SEQ.x", "of type STRUCT");
}

TEST(lists_of_unknown_type) {
  run r = {"feature { name: 'SEQ' type: STRUCT struct_domain {"
           " feature { name: 's' type: TYPE_UNKNOWN } } }"};
  check(r, "| s=none;none / | s= / |", "SEQ.s: [null null] [] null");
  check_error(r, "| s=none / | s=none;int[1]", CST_SCHEMA, 1, "SEQ.s",
              "but the schema has no type for the feature");
}

TEST(unknown_names_can_be_rejected) {
  run r = {SCHEMA_ST, .reject_unknown = true};
  check(r, "a:int[1] | s=int[1]", "a: [1] | SEQ.t: null | SEQ.s: [[1]] | SEQ.f: null");
  check_error(r, "a:int[1] | s=int[1] / | new=", CST_SCHEMA, 1, "SEQ.new", "does not have");
  check_error(r, "new:int[1] | s=int[1]", CST_SCHEMA, 0, "new", "does not have");
  static const char *const wanted[] = {"a", "SEQ.s"};
  r.columns = wanted;
  r.num_columns = 2;
  check(r, "a:int[1] | s=int[1] t=bytes[x]", "a: [1] | SEQ.s: [[1]]");
  check_error(r, "| new=", CST_SCHEMA, 0, "SEQ.new", "does not have");
}

TEST(the_schema_of_the_batches) {
  cst_decoder *decoder = NULL;
  run r = {SCHEMA_ST, .flags = CST_COLUMNS_OFFSETS_32};
  struct ArrowSchema schema;
  CHECK_EQ(new_decoder(&r, CST__LOOP_BEST, &decoder, NULL), CST_OK);
  CHECK_EQ(cst_decoder_arrow_schema(decoder, &schema, NULL), CST_OK);
  CHECK_EQ(schema.n_children, 2);
  CHECK_STR(schema.children[0]->name, "a");
  CHECK_STR(schema.children[1]->name, "SEQ");
  CHECK_STR(schema.children[1]->format, "+s");
  const struct ArrowSchema *list = schema.children[1]->children[0];
  CHECK_STR(list->name, "t");
  CHECK_STR(list->format, "+l");
  CHECK_STR(list->children[0]->name, "item");
  CHECK_STR(list->children[0]->format, "+l");
  CHECK_STR(list->children[0]->children[0]->format, "z");
  schema.release(&schema);
  cst_decoder_free(decoder);
  r = (run){0};
  CHECK_EQ(new_decoder(&r, CST__LOOP_BEST, &decoder, NULL), CST_OK);
  CHECK_EQ(cst_decoder_arrow_schema(decoder, &schema, NULL), CST_STATE);
  cst_decoder_free(decoder);
}

TEST(the_usual_name_of_the_column) {
  cst__sequence_decoder_options options = {.flags = 0};
  cst_decoder *decoder;
  CHECK_EQ(cst__sequence_decoder_new(NULL, &options, &decoder, NULL), CST_OK);
  wire_text record = sequence_text("| s=int[1]");
  cst_bytes item = {record.data, record.size};
  cst__records all = {.items = &item, .count = 1};
  struct ArrowSchema schema;
  struct ArrowArray out;
  CHECK_EQ(cst__decoder_decode(decoder, &all, &schema, &out, NULL), CST_OK);
  CHECK_STR(text_of_sequence(&schema, &out).buf, "##SEQUENCE##.s: [[1]]");
  out.release(&out);
  schema.release(&schema);
  cst_decoder_free(decoder);
}

/* ---- bad input ---- */

TEST(types_that_disagree) {
  check_error((run){0}, "| s=int[1] / | s=none;float[1]", CST_SCHEMA, 1, "SEQ.s",
              "found a list of float, earlier records have int64");
  check_error((run){0}, "| s=int[1];bytes[]", CST_SCHEMA, 0, "SEQ.s", "found a list of bytes");
  check_error((run){SCHEMA_ST}, "| s=int[1] / | s=float[1]", CST_SCHEMA, 1, "SEQ.s",
              "found a list of float, the schema says int64");
  check_error((run){SCHEMA_ST}, "a:float[1] | s=int[1]", CST_SCHEMA, 0, "a", "found a list of");
}

TEST(truncation_at_every_byte) {
  wire_text whole =
      sequence_text("a:int[1,300] | s=int[1,300];none;int[7] f=float[1,2] t=bytes[xyz,];bytes[y]");
  for (size_t n = 1; n < whole.size; n++) {
    wire_text records[] = {whole, whole};
    records[1].size = n;
    if (n == example_text("a:int[1,300]").size) {
      continue; /* a record without feature lists */
    }
    for (int loop = CST__LOOP_BEST; loop <= CST__LOOP_SLOW; loop++) {
      run r = {0};
      cst_error error = CST_ERROR_INIT;
      batch_text text;
      CHECK_EQ(decode_once(&r, (cst__loop_choice)loop, 0, records, 2, &text, &error), CST_CORRUPT);
      CHECK_EQ(error.record, 1);
      CHECK_CONTAINS(error.message, "malformed protobuf");
      CHECK_CONTAINS(error.hint, "the record is damaged or is not a tf.SequenceExample");
    }
  }
}

TEST(malformed_values_name_the_list) {
  static const char *const features[] = {
      "\x1a\x04\x0a\x02\x01\x80",                                     /* varint cut */
      "\x12\x05\x0a\x03\x01\x02\x03",                                 /* three bytes of a float */
      "\x1a\x0d\x0a\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", /* 11-byte varint */
      "\x0a\x04\x0a\x05xy",                                           /* length past the end */
  };
  static const size_t sizes[] = {6, 7, 15, 6};
  for (size_t i = 0; i < 4; i++) {
    wire_text feature = raw(features[i], sizes[i]);
    wire_text list = {.size = 0};
    wire_message(&list, 1, &feature);
    wire_text entry = wire_entry("s", &list);
    wire_text record = record_of_entry(&entry);
    check_failure((run){0}, &record, 1, CST_CORRUPT, 0, "SEQ.s", "malformed protobuf");
    static const char *const names[] = {"t", "s", "f"};
    for (size_t k = 0; k < 3; k++) {
      entry = wire_entry(names[k], &list);
      record = record_of_entry(&entry);
      char path[8];
      snprintf(path, sizeof path, "SEQ.%s", names[k]);
      check_failure((run){SCHEMA_ST}, &record, 1, CST_CORRUPT, 0, path, "malformed protobuf");
    }
  }
}

TEST(names_that_are_no_utf8_or_hold_a_nul) {
  wire_text list = RAW("\x0a\x05\x1a\x03\x0a\x01\x01");
  wire_text entry = wire_entry("caf\xe9", &list);
  wire_text record = record_of_entry(&entry);
  check_failure((run){0}, &record, 1, CST_CORRUPT, 0, "SEQ", "not UTF-8");
  wire_text nul = {.size = 0};
  wire_field(&nul, 1, "a\0b", 3);
  record = record_of_entry(&nul);
  check_failure((run){0}, &record, 1, CST_UNSUPPORTED, 0, "SEQ.a\\x00b", "NUL");
}

TEST(a_context_feature_of_the_columns_name) {
  check_error((run){0}, "SEQ:int[1] | s=int[1]", CST_UNSUPPORTED, -1, "SEQ",
              "a context feature has the same name as the column of feature lists");
  check((run){0}, "SEQ:int[1]", "SEQ: [1]");
}

TEST(a_decoder_is_usable_after_an_error) {
  run r = {0};
  cst_decoder *decoder = NULL;
  CHECK_EQ(new_decoder(&r, CST__LOOP_BEST, &decoder, NULL), CST_OK);
  for (int i = 0; i < 3; i++) {
    wire_text bad[] = {sequence_text("a:int[1] | s=int[1];none t=bytes[x]"),
                       sequence_text("| s=none;bytes[1]")};
    wire_text good = sequence_text("| s=bytes[y];none");
    cst_bytes items[] = {{bad[0].data, bad[0].size}, {bad[1].data, bad[1].size}};
    cst__records all = {.items = items, .count = 2};
    struct ArrowSchema schema;
    struct ArrowArray out;
    CHECK_EQ(cst__decoder_decode(decoder, &all, &schema, &out, NULL), CST_SCHEMA);
    items[0] = (cst_bytes){good.data, good.size};
    all.count = 1;
    CHECK_EQ(cst__decoder_decode(decoder, &all, &schema, &out, NULL), CST_OK);
    CHECK_STR(text_of_sequence(&schema, &out).buf, "SEQ.s: [[y] null]");
    out.release(&out);
    schema.release(&schema);
  }
  cst_decoder_free(decoder);
}

TEST(parts_of_a_batch_live_longer_than_the_rest) {
  run r = {0};
  cst_decoder *decoder = NULL;
  CHECK_EQ(new_decoder(&r, CST__LOOP_BEST, &decoder, NULL), CST_OK);
  wire_text record = sequence_text("a:int[1] | s=int[1,2] t=bytes[x]");
  cst_bytes item = {record.data, record.size};
  cst__records all = {.items = &item, .count = 1};
  struct ArrowArray out;
  CHECK_EQ(cst__decoder_decode(decoder, &all, NULL, &out, NULL), CST_OK);
  struct ArrowArray lists = *out.children[1];
  out.children[1]->release = NULL;
  out.release(&out);
  /* The next batch takes the context's buffers, not those of the lists that are still held. */
  struct ArrowArray next;
  CHECK_EQ(cst__decoder_decode(decoder, &all, NULL, &next, NULL), CST_OK);
  cst_decoder_free(decoder);
  struct ArrowArray child = *lists.children[0];
  lists.children[0]->release = NULL;
  lists.release(&lists);
  next.release(&next);
  const struct ArrowArray *values = child.children[0]->children[0];
  CHECK_EQ(((const int64_t *)values->buffers[1])[1], 2);
  child.release(&child);
}

static void release_array(struct ArrowArray *a) { a->release = NULL; }
static void release_schema(struct ArrowSchema *s) { s->release = NULL; }

TEST(records_in_an_arrow_array) {
  wire_text one = sequence_text("c:bytes[another_long_string_in_the_context] | "
                                "t=bytes[a_string_that_is_longer_than_a_view];bytes[q]");
  wire_text two = sequence_text("| t=bytes[short]");
  uint8_t bytes[1024];
  memcpy(bytes, one.data, one.size);
  memcpy(bytes + one.size, two.data, two.size);
  int64_t offsets[] = {0, (int64_t)one.size, (int64_t)(one.size + two.size)};
  for (uint32_t flags = 0; flags <= CST_COLUMNS_BINARY_VIEWS; flags += CST_COLUMNS_BINARY_VIEWS) {
    run r = {.flags = flags};
    cst_decoder *decoder = NULL;
    CHECK_EQ(new_decoder(&r, CST__LOOP_BEST, &decoder, NULL), CST_OK);
    const void *buffers[] = {NULL, offsets, bytes};
    struct ArrowArray array = {.length = 2, .n_buffers = 3, .buffers = buffers};
    struct ArrowSchema type = {.format = "Z", .name = ""};
    array.release = release_array;
    type.release = release_schema;
    struct ArrowSchema schema;
    struct ArrowArray out;
    CHECK_EQ(cst_decoder_decode_arrow(decoder, &type, &array, &schema, &out, NULL), CST_OK);
    CHECK_EQ(array.release == NULL, flags != 0);
    CHECK_STR(text_of_sequence(&schema, &out).buf,
              "c: [another_long_string_in_the_context] null | "
              "SEQ.t: [[a_string_that_is_longer_than_a_view] [q]] [[short]]");
    if (flags != 0) {
      /* Zero copies: the view's data buffer is the caller's. */
      CHECK(out.children[1]->children[0]->children[0]->children[0]->buffers[2] ==
            (const void *)bytes);
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
  size_t count = records_of(
      "a:int[1] | s=int[1,2,3];none t=bytes[a_string_of_some_length,y]/| f=float[1] s=int[2] "
      "s=int[3]/ a:none | t=none /| s=int[1];int[2];int[3];int[4];int[5];int[6];int[7];int[8]"
      ";int[9];int[10];int[11];int[12];int[13];int[14];int[15];int[16];int[17];int[18] "
      "t=bytes[z];none;none;none;none;none;none;none;none;none;none;none",
      records);
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema = NULL;
  if (r->schema != NULL) {
    cst_status parsed = cst_schema_from_text(r->schema, strlen(r->schema), &schema, &error);
    if (parsed != CST_OK) {
      return (int)parsed;
    }
  }
  cst__sequence_decoder_options options = {.sequence_column = "SEQ",
                                           .flags = r->flags,
                                           .columns = r->columns,
                                           .num_columns = r->num_columns,
                                           .reject_unknown = r->reject_unknown};
  cst_decoder *decoder = NULL;
  cst_bytes items[MOST_RECORDS];
  for (size_t i = 0; i < count; i++) {
    items[i] = (cst_bytes){records[i].data, records[i].size};
  }
  cst__records all = {.items = items, .count = count};
  struct ArrowSchema out_schema;
  struct ArrowArray out;
  cst_status status = cst__sequence_decoder_new(schema, &options, &decoder, &error);
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
  static const char *const wanted[] = {"a", "SEQ.s"};
  run without = {0};
  run with = {SCHEMA_ST, .flags = CST_COLUMNS_OFFSETS_32, .reject_unknown = true};
  run views = {.flags = CST_COLUMNS_BINARY_VIEWS};
  run some = {SCHEMA_ST, .columns = wanted, .num_columns = 2};
  FOR_EACH_ALLOCATION_FAILURE(decode_scenario, &without, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(decode_scenario, &with, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(decode_scenario, &views, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(decode_scenario, &some, CST_NO_MEMORY);
}

/* 50,000 names in one record take time in proportion (the harness stops a test that hangs). */
TEST(many_names) {
  size_t count = 50000;
  uint8_t *lists = malloc(count * 24);
  size_t size = 0;
  for (size_t i = 0; i < count; i++) {
    char name[16];
    wire_text list = RAW("\x0a\x05\x1a\x03\x0a\x01\x01");
    snprintf(name, sizeof name, "n%zu", i);
    wire_text entry = wire_entry(name, &list);
    wire_text field = {.size = 0};
    wire_message(&field, 1, &entry);
    memcpy(lists + size, field.data, field.size);
    size += field.size;
  }
  wire_text head = {.size = 0};
  wire_byte(&head, 0x12);
  wire_varint(&head, size);
  uint8_t *record = malloc(head.size + size);
  memcpy(record, head.data, head.size);
  memcpy(record + head.size, lists, size);
  wire_text few = sequence_text("| a=int[1]");
  cst_bytes items[] = {{record, head.size + size}, {few.data, few.size}};
  run r = {0};
  cst_decoder *decoder = NULL;
  struct ArrowArray out;
  CHECK_EQ(new_decoder(&r, CST__LOOP_BEST, &decoder, NULL), CST_OK);
  for (size_t i = 0; i < 6; i++) {
    cst__records all = {.items = &items[i % 3 == 0 ? 0 : 1], .count = 1};
    CHECK_EQ(cst__decoder_decode(decoder, &all, NULL, &out, NULL), CST_OK);
    CHECK_EQ(out.children[0]->n_children, i % 3 == 0 ? (int64_t)count : 1);
    out.release(&out);
  }
  cst_decoder_free(decoder);
  free(record);
  free(lists);
}
