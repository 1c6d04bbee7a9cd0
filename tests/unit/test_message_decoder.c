/* Messages to columns: every kind of field, presence, merging, what is wanted, what is refused. */
#include <columnstone/message.h>

#include "message/decode/message_loop.h"
#include "message_batch_support.h"

#define FIELD(name, number, label, type) \
  " field { name: '" name "' number: " number " label: " label " type: " type " }"
#define OPTIONAL "1"
#define REQUIRED "2"
#define REPEATED "3"

/* proto2: presence, defaults, groups, closed enums, extensions. */
static const char types2[] =
    "name: 'two.proto' package: 'two'"
    " enum_type { name: 'Color' value { name: 'RED' number: 3 } value { name: 'BLUE' number: -1 } }"
    " message_type { name: 'Row'"
    "  field { name: 'i' number: 1 label: 1 type: 3 default_value: '7' }"
    "  field { name: 's' number: 2 label: 1 type: 9 default_value: 'none' }"
    "  field { name: 'color' number: 3 label: 1 type: 14 type_name: '.two.Color' }"
    "  field { name: 'colors' number: 4 label: 3 type: 14 type_name: '.two.Color' }"
    "  field { name: 'part' number: 5 label: 1 type: 10 type_name: '.two.Row.Part' }"
    "  field { name: 'row' number: 6 label: 1 type: 11 type_name: '.two.Row' }"
    "  nested_type { name: 'Part' field { name: 'n' number: 1 label: 2 type: 5 } } }"
    " extension { name: 'extra' number: 100 label: 3 type: 17 extendee: '.two.Row' }";

/* proto3: implicit presence, oneofs, maps, well-known types. */
static const char types3[] =
    "name: 'three.proto' package: 'three' syntax: 'proto3'"
    " dependency: 'google/protobuf/timestamp.proto' dependency: 'google/protobuf/any.proto'"
    " dependency: 'google/protobuf/wrappers.proto' dependency: 'google/protobuf/struct.proto'"
    " dependency: 'google/protobuf/duration.proto' dependency: 'google/type/date.proto'"
    " dependency: 'google/type/timeofday.proto'"
    " enum_type { name: 'Kind' value { name: 'NONE' number: 0 } value { name: 'SOME' number: 5 } }"
    " message_type { name: 'Sub'" FIELD("a", "1", REPEATED, "3") FIELD(
        "b", "2", OPTIONAL,
        "9") " }"
             " message_type { name: 'All'" FIELD("i64", "1", OPTIONAL, "3") FIELD(
                 "u32", "2", OPTIONAL, "13") FIELD("z32", "3", OPTIONAL, "17") FIELD("f", "4",
                                                                                     REPEATED, "2")
                 FIELD("flag", "5", REPEATED, "8") FIELD("text", "6", REPEATED, "9") FIELD(
                     "z64", "7", REPEATED,
                     "18") "  field { name: 'kind' number: 8 label: 1 type: 14 type_name: "
                           "'.three.Kind' }"
                           "  field { name: 'sub' number: 9 label: 1 type: 11 type_name: "
                           "'.three.Sub' }"
                           "  field { name: 'subs' number: 10 label: 3 type: 11 type_name: "
                           "'.three.Sub' }"
                           "  field { name: 'one_i' number: 11 label: 1 type: 5 oneof_index: 0 }"
                           "  field { name: 'one_sub' number: 12 label: 1 type: 11 type_name: "
                           "'.three.Sub' oneof_index: 0 }"
                           "  field { name: 'ages' number: 13 label: 3 type: 11 type_name: "
                           "'.three.All.AgesEntry' }"
                           "  field { name: 'at' number: 14 label: 1 type: 11 type_name: "
                           "'.google.protobuf.Timestamp' }"
                           "  field { name: 'any' number: 15 label: 1 type: 11 type_name: "
                           "'.google.protobuf.Any' }"
                           "  field { name: 'w' number: 16 label: 3 type: 11 type_name: "
                           "'.google.protobuf.StringValue' }"
                           "  field { name: 'js' number: 17 label: 1 type: 11 type_name: "
                           "'.google.protobuf.Value' }"
                           "  field { name: 'took' number: 18 label: 1 type: 11 type_name: "
                           "'.google.protobuf.Duration' }"
                           "  field { name: 'day' number: 19 label: 1 type: 11 type_name: "
                           "'.google.type.Date' }"
                           "  field { name: 'time' number: 536870911 label: 1 type: 11"
                           "          type_name: '.google.type.TimeOfDay' }"
                           "  oneof_decl { name: 'one' }"
                           "  nested_type { name: 'AgesEntry' options { map_entry: true }"
                           "    field { name: 'key' number: 1 label: 1 type: 9 }"
                           "    field { name: 'value' number: 2 label: 1 type: 11 type_name: "
                           "'.three.Sub' } } }";

/* What a test decodes with. */
typedef struct setup {
  const char *types;
  cst_message_options options;
  const char *columns[4]; /* none: all */
} setup;

static setup setup_of(const char *types, const char *message) {
  setup out = {.types = types, .options = CST_MESSAGE_OPTIONS_INIT};
  out.options.message = message;
  return out;
}

#define RECORD(text) ((cst_bytes){(const uint8_t *)(text), sizeof(text) - 1})

static cst_decoder *open_setup(const setup *how, cst_error *error) {
  cst_decoder *decoder = NULL;
  cst_message_options options = how->options;
  cst_decode_options wanted = CST_DECODE_OPTIONS_INIT;
  cst_descriptors *descriptors = text_descriptors(how->types, NULL, error);
  options.descriptors = descriptors;
  wanted.columns = how->columns[0] != NULL ? how->columns : NULL;
  while (wanted.num_columns < 4 && how->columns[wanted.num_columns] != NULL) {
    wanted.num_columns++;
  }
  wanted.message = &options;
  (void)cst_decoder_new("message", &wanted, &decoder, error);
  cst_descriptors_release(descriptors); /* the decoder keeps what it needs */
  return decoder;
}

/* The batch as JSON lines, twice: of all records, and after a batch of other ones. */
static const char *decode(const setup *how, const cst_bytes *records, size_t count) {
  static json_text out;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  cst_decoder *decoder = open_setup(how, &error);
  CHECK_STR(error.message, "");
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(cst_decoder_decode(decoder, records, count, &schema, &batch, &error), CST_OK);
    batch_as_json(&schema, &batch, &out);
    schema.release(&schema);
    batch.release(&batch);
  }
  cst_decoder_free(decoder);
  return out.text;
}

/* Fails, and decodes a sound record afterwards. */
static cst_error decode_bad(const setup *how, cst_bytes bad) {
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  cst_decoder *decoder = open_setup(how, &error);
  CHECK_STR(error.message, "");
  const cst_bytes records[] = {{NULL, 0}, bad};
  CHECK(cst_decoder_decode(decoder, records, 2, NULL, &batch, &error) != CST_OK);
  CHECK(batch.release == NULL);
  CHECK_EQ(cst_decoder_decode(decoder, records, 1, NULL, &batch, NULL), CST_OK);
  CHECK_EQ(batch.length, 1);
  batch.release(&batch);
  cst_decoder_free(decoder);
  return error;
}

static const char *decode3(cst_bytes record, const char *column) {
  setup how = setup_of(types3, "three.All");
  how.columns[0] = column;
  return decode(&how, &record, 1);
}

TEST(absent_fields) {
  const setup how = setup_of(types3, "three.All");
  const cst_bytes records[] = {{NULL, 0}, {NULL, 0}};
  const char *row =
      "{\"i64\":0,\"u32\":0,\"z32\":0,\"f\":[],\"flag\":[],\"text\":[],\"z64\":[],\"kind\":"
      "\"NONE\","
      "\"sub\":null,\"subs\":[],\"one_i\":null,\"one_sub\":null,\"ages\":[],\"at\":null,"
      "\"any\":null,\"w\":[],\"js\":null,\"took\":null,\"day\":null,\"time\":null}\n";
  char two[2048];
  snprintf(two, sizeof two, "%s%s", row, row);
  CHECK_STR(decode(&how, records, 2), two);
}

TEST(plain_values) {
  setup how = setup_of(types3, "three.All");
  how.columns[0] = "i64", how.columns[1] = "u32", how.columns[2] = "z32";
  const cst_bytes records[] = {
      RECORD("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x85\x80\x80\x80\x10\x18\x03"),
      RECORD("\x08\x01\x08\x02"),                    /* the last one counts */
      RECORD("\x88\x80\x00\x07\x0d\x01\x02\x03\x04") /* a long tag; another wire type */
  };
  CHECK_STR(decode(&how, records, 3),
            "{\"i64\":-1,\"u32\":5,\"z32\":-2}\n{\"i64\":2,\"u32\":0,\"z32\":0}\n"
            "{\"i64\":7,\"u32\":0,\"z32\":0}\n");
}

TEST(repeated_values) {
  CHECK_STR(decode3(RECORD("\x22\x08\0\0\x80\x3f\0\0\0\x40\x25\0\0\x40\x40\x22\0"), "f"),
            "{\"f\":[1.0,2.0,3.0]}\n");
  CHECK_STR(decode3(RECORD("\x28\x02\x2a\x03\0\x80\x01\x28\0"), "flag"),
            "{\"flag\":[true,false,true,false]}\n");
  CHECK_STR(decode3(RECORD("\x32\x01x\x32\0\x32\x02\xc3\xbc"), "text"),
            "{\"text\":[\"x\",\"\",\"\xc3\xbc\"]}\n");
  CHECK_STR(decode3(RECORD("\x3a\x03\x01\x02\x03\x38\x04"), "z64"), "{\"z64\":[-1,1,-2,2]}\n");
}

TEST(enums) {
  setup how = setup_of(types3, "three.All");
  const cst_bytes records[] = {RECORD("\x40\x05"), RECORD("\x40\x09"), RECORD("")};
  how.columns[0] = "kind";
  CHECK_STR(decode(&how, records, 3),
            "{\"kind\":\"SOME\"}\n{\"kind\":\"9\"}\n{\"kind\":\"NONE\"}\n");
  how.options.enums = CST_ENUMS_TEXT;
  CHECK_STR(decode(&how, records, 3),
            "{\"kind\":\"SOME\"}\n{\"kind\":\"9\"}\n{\"kind\":\"NONE\"}\n");
  how.options.enums = CST_ENUMS_NUMBER;
  CHECK_STR(decode(&how, records, 3), "{\"kind\":5}\n{\"kind\":9}\n{\"kind\":0}\n");
}

TEST(closed_enums) {
  setup how = setup_of(types2, "two.Row");
  how.columns[0] = "color", how.columns[1] = "colors";
  how.options.unknown_fields = "unknown";
  const cst_bytes records[] = {
      RECORD("\x18\x03\x18\x04"), /* 4 is unknown: the value before counts */
      RECORD("\x22\x03\x03\x04\x03\x20\x04"),
      RECORD("\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")};
  CHECK_STR(decode(&how, records, 3),
            "{\"color\":\"RED\",\"colors\":[],\"unknown\":\"\\u0018\\u0004\"}\n"
            "{\"color\":null,\"colors\":[\"RED\",\"RED\"],\"unknown\":\" \\u0004 \\u0004\"}\n"
            "{\"color\":\"BLUE\",\"colors\":[],\"unknown\":\"\"}\n");
}

TEST(messages_merge) {
  CHECK_STR(decode3(RECORD("\x4a\x02\x08\x01\x4a\x05\x08\x02\x12\x01x"), "sub"),
            "{\"sub\":{\"a\":[1,2],\"b\":\"x\"}}\n");
  CHECK_STR(decode3(RECORD("\x52\x02\x08\x01\x52\0\x52\x03\x0a\x01\x02"), "subs"),
            "{\"subs\":[{\"a\":[1],\"b\":\"\"},{\"a\":[],\"b\":\"\"},{\"a\":[2],\"b\":\"\"}]}\n");
}

TEST(oneofs) {
  setup how = setup_of(types3, "three.All");
  how.columns[0] = "one_i", how.columns[1] = "one_sub";
  const cst_bytes records[] = {RECORD("\x58\x01\x62\x02\x08\x01"), RECORD("\x62\x02\x08\x01\x58\0"),
                               RECORD("\x58\x01\x58\x02")};
  CHECK_STR(decode(&how, records, 3),
            "{\"one_i\":null,\"one_sub\":{\"a\":[1],\"b\":\"\"}}\n"
            "{\"one_i\":0,\"one_sub\":null}\n{\"one_i\":2,\"one_sub\":null}\n");
  how.columns[1] = NULL; /* that another member came counts all the same */
  CHECK_STR(decode(&how, records, 3), "{\"one_i\":null}\n{\"one_i\":0}\n{\"one_i\":2}\n");
}

TEST(maps) {
  CHECK_STR(decode3(RECORD("\x6a\x07\x0a\x01x\x12\x02\x08\x01\x6a\x03\x0a\x01y"), "ages"),
            "{\"ages\":[{\"key\":\"x\",\"value\":{\"a\":[1],\"b\":\"\"}},{\"key\":\"y\",\"value\":{"
            "\"a\":[],\"b\":\"\"}}]}\n");
  /* The last value of a key counts, where the key came first; a key may be missing. */
  CHECK_STR(decode3(RECORD("\x6a\x07\x0a\x01x\x12\x02\x08\x01\x6a\x02\x12\0\x6a\x07\x12\x02\x08\x03"
                           "\x0a\x01x"),
                    "ages"),
            "{\"ages\":[{\"key\":\"x\",\"value\":{\"a\":[3],\"b\":\"\"}},{\"key\":\"\",\"value\":{"
            "\"a\":[],\"b\":\"\"}}]}\n");
  setup how = setup_of(types3, "three.All");
  const cst_bytes record = RECORD("\x6a\x07\x0a\x01x\x12\x02\x08\x01");
  how.columns[0] = "ages.value.a";
  how.options.flags = CST_MESSAGE_MAPS_AS_LISTS;
  CHECK_STR(decode(&how, &record, 1), "{\"ages\":[{\"key\":\"x\",\"value\":{\"a\":[1]}}]}\n");
}

TEST(well_known_types) {
  CHECK_STR(decode3(RECORD("\x72\x04\x08\x01\x10\x05"), "at"),
            "{\"at\":\"1970-01-01T00:00:01.000000005Z\"}\n");
  CHECK_STR(decode3(RECORD("\x72\x02\x08\x01\x72\x02\x10\x05"), "at"), /* in two parts */
            "{\"at\":\"1970-01-01T00:00:01.000000005Z\"}\n");
  CHECK_STR(decode3(RECORD("\x82\x01\x03\x0a\x01x\x82\x01\0"), "w"), "{\"w\":[\"x\",\"\"]}\n");
  CHECK_STR(decode3(RECORD("\x8a\x01\x02\x20\x01"), "js"), "{\"js\":\"true\"}\n");
  CHECK_STR(decode3(RECORD("\x9a\x01\x07\x08\xe8\x0f\x10\x02\x18\x1d"), "day"),
            "{\"day\":\"2024-02-29\"}\n");
  CHECK_STR(decode3(RECORD("\xfa\xff\xff\xff\x0f\x04\x08\x01\x10\x02"), "time"),
            "{\"time\":\"01:02:00.000000000\"}\n");
  setup how = setup_of(types3, "three.All");
  const cst_bytes record = RECORD("\x72\x0b\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  how.columns[0] = "at";
  how.options.timestamp_unit = CST_TIME_SECOND; /* rounded down */
  CHECK_STR(decode(&how, &record, 1), "{\"at\":\"1969-12-31T23:59:59Z\"}\n");
}

TEST(anys) {
  static const char any[] = "\x7a\x17\x0a\x0bx/three.Sub\x12\x08\x12\x01x\x08\x01\x12\x01y";
  CHECK_STR(decode3(RECORD(any), "any.(three.Sub)"),
            "{\"any\":{\"(three.Sub)\":{\"a\":[1],\"b\":\"y\"}}}\n");
  CHECK_STR(decode3(RECORD(any), "any.(three.All)"), "{\"any\":{\"(three.All)\":null}}\n");
  CHECK_STR(decode3(RECORD("\x7a\x0f\x0a\x09three.Sub\x12\x02\x08\x01"), "any.(three.Sub).a"),
            "{\"any\":{\"(three.Sub)\":{\"a\":[1]}}}\n"); /* a URL without a slash */
  CHECK_STR(decode3(RECORD("\x7a\x10\x0a\x0axthree.Sub\x12\x02\x08\x01"), "any.(three.Sub).a"),
            "{\"any\":{\"(three.Sub)\":null}}\n");
  setup how = setup_of(types3, "three.All");
  how.columns[0] = "any.(three.Sub).b", how.columns[1] = "any.type_url";
  const cst_bytes records[] = {RECORD(""), RECORD(any), RECORD("\x7a\0")};
  CHECK_STR(
      decode(&how, records, 3),
      "{\"any\":null}\n{\"any\":{\"(three.Sub)\":{\"b\":\"y\"},\"type_url\":\"x/three.Sub\"}}\n"
      "{\"any\":{\"(three.Sub)\":null,\"type_url\":\"\"}}\n");
}

TEST(groups_extensions_defaults) {
  setup how = setup_of(types2, "two.Row");
  const cst_bytes records[] = {RECORD("\x2b\x08\x05\x2c\xa2\x06\x02\x01\x02"), RECORD("\x08\x01")};
  how.columns[0] = "part", how.columns[1] = "(two.extra)";
  CHECK_STR(decode(&how, records, 2), "{\"part\":{\"n\":5},\"(two.extra)\":[-1,1]}\n"
                                      "{\"part\":null,\"(two.extra)\":[]}\n");
  how.columns[0] = "i", how.columns[1] = "s", how.columns[2] = "color";
  CHECK_STR(decode(&how, records, 2), "{\"i\":null,\"s\":null,\"color\":null}\n"
                                      "{\"i\":1,\"s\":null,\"color\":null}\n");
  how.options.flags = CST_MESSAGE_DEFAULTS;
  CHECK_STR(decode(&how, records, 2), "{\"i\":7,\"s\":\"none\",\"color\":\"RED\"}\n"
                                      "{\"i\":1,\"s\":\"none\",\"color\":\"RED\"}\n");
}

/* The content of a group that is an Any ends where the group does, not with a tag of its own. Tags
 * of one byte that are not known are, from the second time on, found like those of fields. */
TEST(anys_in_groups) {
  setup how = setup_of("name: 'groups.proto' package: 'groups' syntax: 'proto2'"
                       " dependency: 'google/protobuf/any.proto'"
                       " message_type { name: 'Row'"
                       "  field { name: 'any' number: 1 label: 3 type: 10"
                       "          type_name: '.google.protobuf.Any' }"
                       "  field { name: 'n' number: 2 label: 1 type: 3 } }",
                       "groups.Row");
  const cst_bytes records[] = {RECORD("\x0b\x0a\x01x\x0c\x18\x01\x10\x05"),
                               RECORD("\x0b\x0c\x18\x02\x10\x06\x18\x03")};
  how.columns[0] = "any.type_url", how.columns[1] = "n";
  CHECK_STR(decode(&how, records, 2), "{\"any\":[{\"type_url\":\"x\"}],\"n\":5}\n"
                                      "{\"any\":[{\"type_url\":\"\"}],\"n\":6}\n");
}

TEST(recursion_ends_in_bytes) {
  setup how = setup_of(types2, "two.Row");
  how.columns[0] = "row.i", how.columns[1] = "row.row.row";
  how.options.recursion = -1;
  const cst_bytes record = RECORD("\x32\x0c\x08\x01\x32\x08\x32\x06\x08\x02\x32\x02\x08\x03");
  CHECK_STR(decode(&how, &record, 1),
            "{\"row\":{\"i\":1,\"row\":{\"row\":{\"i\":2,\"s\":null,\"color\":null,\"colors\":[],"
            "\"part\":null,\"row\":\"\\b\\u0003\",\"(two.extra)\":[]}}}}\n");
}

TEST(unknown_fields_are_kept) {
  setup how = setup_of(types3, "three.Sub");
  how.options.unknown_fields = "rest";
  const cst_bytes records[] = {RECORD("\x18\x07\x08\x01\x22\x01x\x09\0\0\0\0\0\0\0\0"), RECORD("")};
  CHECK_STR(
      decode(&how, records, 2),
      "{\"a\":[1],\"b\":\"\",\"rest\":"
      "\"\\u0018\\u0007\\\"\\u0001x\\t\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\"}\n"
      "{\"a\":[],\"b\":\"\",\"rest\":\"\"}\n");
  how.options.unknown_fields = "a";
  cst_error error = CST_ERROR_INIT;
  CHECK(open_setup(&how, &error) == NULL);
  CHECK_EQ(error.code, CST_INVALID_ARGUMENT);
}

/* Forty unknown fields of all wire types, and then a = 1; returns its size. */
static size_t put_strangers(uint8_t *to) {
  uint8_t *at = to;
  for (unsigned number = 3; number < 43; number++) {
    static const unsigned types[] = {0, 1, 2, 5};
    static const unsigned sizes[] = {1, 8, 4, 4};
    unsigned tag = number << 3 | types[number % 4];
    *at++ = (uint8_t)(tag > 127 ? tag | 128 : tag);
    if (tag > 127) *at++ = (uint8_t)(tag >> 7);
    memset(at, 0, sizes[number % 4]);
    *at = number % 4 == 2 ? 3 : 0; /* the size of a string */
    at += sizes[number % 4];
  }
  *at++ = 8;
  *at++ = 1;
  return (size_t)(at - to);
}

TEST(unknown_fields_that_come_again) {
  setup how = setup_of(types3, "three.Sub");
  uint8_t bytes[400];
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  size_t size = put_strangers(bytes);
  const cst_bytes records[] = {{bytes, size}, {bytes, size}, {bytes, size}};
  CHECK_STR(decode(&how, records, 3),
            "{\"a\":[1],\"b\":\"\"}\n{\"a\":[1],\"b\":\"\"}\n{\"a\":[1],\"b\":\"\"}\n");
  cst_decoder *decoder = open_setup(&how, &error);
  for (size_t cut = 0; cut < size; cut++) { /* fails where it does for a decoder that is new */
    const cst_bytes part[] = {{bytes, size}, {bytes, cut}};
    error = (cst_error)CST_ERROR_INIT;
    cst_decoder *fresh = open_setup(&how, &error);
    cst_status status = cst_decoder_decode(fresh, &part[1], 1, NULL, &batch, NULL);
    if (status == CST_OK) batch.release(&batch);
    cst_decoder_free(fresh);
    CHECK_EQ(cst_decoder_decode(decoder, part, 2, NULL, &batch, &error), status);
    if (status == CST_OK) batch.release(&batch);
  }
  cst_decoder_free(decoder);
}

TEST(bad_records) {
  const setup how = setup_of(types3, "three.All");
  setup two = setup_of(types2, "two.Row");
  cst_error error = decode_bad(&how, RECORD("\x08\x01\x4a\x05\x08"));
  CHECK_EQ(error.code, CST_CORRUPT);
  CHECK_EQ(error.record, 1);
  CHECK_CONTAINS(error.message, "three.All");
  CHECK_CONTAINS(error.message, "at byte 4");
  error = decode_bad(&how, RECORD("\x52\x03\x12\x01\xff")); /* not UTF-8 */
  CHECK_EQ(error.code, CST_CORRUPT);
  error = decode_bad(&how, RECORD("\x72\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f"));
  CHECK_EQ(error.code, CST_SCHEMA);
  CHECK_STR(error.path, "at");
  CHECK_CONTAINS(error.hint, "timestamp_unit");
  error = decode_bad(&how, RECORD("\x9a\x01\x02\x10\x02"));
  CHECK_STR(error.path, "day");
  error = decode_bad(&two, RECORD("\x2b\x2c")); /* without the required field */
  CHECK_EQ(error.code, CST_SCHEMA);
  CHECK_STR(error.path, "part.n");
  error = decode_bad(&two, RECORD("\x12\x01\xff")); /* proto2 does not check */
  CHECK_EQ(error.code, CST_SCHEMA);
  CHECK_STR(error.path, "s");
  two.options.flags = CST_MESSAGE_BINARY_STRINGS;
  two.columns[0] = "s";
  const cst_bytes record = RECORD("\x12\x01\xff");
  CHECK_CONTAINS(decode(&two, &record, 1), "{\"s\":");
}

TEST(wrong_paths) {
  static const struct {
    const char *path, *message;
    cst_status status;
  } cases[] = {{"subz", "has no field", CST_NOT_FOUND},
               {"sub.c", "has no field", CST_NOT_FOUND},
               {"at.seconds", "single value", CST_NOT_FOUND},
               {"sub..a", "empty step", CST_INVALID_ARGUMENT},
               {"any.(no.Such)", "unknown message", CST_NOT_FOUND},
               {"any.(three.Sub", "has no field", CST_NOT_FOUND}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cst_error error = CST_ERROR_INIT;
    setup how = setup_of(types3, "three.All");
    how.columns[0] = cases[i].path;
    CHECK(open_setup(&how, &error) == NULL);
    CHECK_EQ(error.code, cases[i].status);
    CHECK_CONTAINS(error.message, cases[i].message);
  }
  cst_error error = CST_ERROR_INIT;
  setup twice = setup_of(types3, "three.All");
  twice.columns[0] = "sub.a", twice.columns[1] = "sub";
  CHECK(open_setup(&twice, &error) == NULL);
  CHECK_EQ(error.code, CST_INVALID_ARGUMENT);
}

TEST(columns_of_which_there_are_none) {
  static const char *const none[] = {NULL};
  cst_error error = CST_ERROR_INIT;
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  cst_decode_options wanted = CST_DECODE_OPTIONS_INIT;
  cst_descriptors *descriptors = text_descriptors(types3, NULL, &error);
  cst_decoder *decoder;
  struct ArrowArray batch;
  options.descriptors = descriptors;
  options.message = "three.All";
  wanted.columns = none;
  wanted.message = &options;
  CHECK_EQ(cst_decoder_new("message", &wanted, &decoder, &error), CST_OK);
  const cst_bytes records[] = {RECORD("\x08\x01"), RECORD("")};
  CHECK_EQ(cst_decoder_decode(decoder, records, 2, NULL, &batch, &error), CST_OK);
  CHECK_EQ(batch.n_children, 0);
  CHECK_EQ(batch.length, 2);
  batch.release(&batch);
  cst_decoder_free(decoder);
  cst_descriptors_release(descriptors);
}

TEST(names_in_options) {
  setup not_text = setup_of(types3, "three.All");
  setup same = not_text;
  not_text.options.list_item = "\xff";
  same.options.map_key = "value";
  const setup *cases[] = {&not_text, &same};
  for (size_t i = 0; i < 2; i++) {
    cst_error error = CST_ERROR_INIT;
    CHECK(open_setup(cases[i], &error) == NULL);
    CHECK_EQ(error.code, CST_INVALID_ARGUMENT);
  }
}

TEST(message_sets_are_bytes) {
  static const char types[] =
      "name: 'set.proto' message_type { name: 'Set' options { message_set_wire_format: true } }"
      "message_type { name: 'Row'" FIELD(
          "id", "1", OPTIONAL,
          "5") " field { name: 'set' number: 2 label: 1 type: 11 type_name: 'Set' }"
               " field { name: 'sets' number: 3 label: 3 type: 11 type_name: 'Set' } }"
               " extension { name: 'of_set' number: 5 extendee: 'Set' label: 1 type: 11"
               "   type_name: 'Row' }";
  cst_error error = CST_ERROR_INIT;
  setup how = setup_of(types, "Row");
  const cst_bytes records[] = {
      RECORD("\x08\x05\x12\x08\x0b\x10\x05\x1a\x02\x08\x01\x0c\x1a\0\x1a\x02\x0b\x0c"),
      RECORD("\x12\x02\x0b\x0c\x12\x02\x0b\x0c"), RECORD("")};
  how.options.flags = CST_MESSAGE_PLAIN_TYPES;
  CHECK_STR(decode(&how, records, 3),
            "{\"id\":5,\"set\":\"\\u000b\\u0010\\u0005\\u001a\\u0002\\b\\u0001\\f\","
            "\"sets\":[\"\",\"\\u000b\\f\"]}\n"
            "{\"id\":null,\"set\":\"\\u000b\\f\\u000b\\f\",\"sets\":[]}\n"
            "{\"id\":null,\"set\":null,\"sets\":[]}\n");
  how.columns[0] = "set.x";
  CHECK(open_setup(&how, &error) == NULL);
  CHECK_EQ(error.code, CST_NOT_FOUND);
  error = (cst_error)CST_ERROR_INIT;
  how = setup_of(types, "Set");
  CHECK(open_setup(&how, &error) == NULL);
  CHECK_EQ(error.code, CST_UNSUPPORTED);
}

/* ---- bad records as rows of nulls ---- */

static void count_bad(void *ctx, const cst_error *error) {
  CHECK_EQ(error->record, 1);
  ++*(int *)ctx;
}

TEST(bad_records_as_nulls) {
  cst_error error = CST_ERROR_INIT;
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  cst_descriptors *descriptors = text_descriptors(types3, NULL, &error);
  const char *columns[] = {"i64", "sub", "text"};
  options.descriptors = descriptors;
  options.message = "three.All";
  const cst__message_plan_options wanted = {
      .message = &options, .columns = columns, .num_columns = 3, .nullable_columns = true};
  cst__message_plan *plan;
  cst_decoder *decoder;
  CHECK_EQ(cst__message_plan_new(&wanted, &plan, &error), CST_OK);
  CHECK_EQ(cst__message_decoder_open(plan, &decoder, &error), CST_OK);
  cst__message_plan_release(plan);
  cst_descriptors_release(descriptors);
  int bad = 0;
  decoder->type->on_bad(decoder, count_bad, &bad);
  const cst_bytes items[] = {RECORD(""), RECORD("\x08\x05\x32\x01x\x4a\x05\x08"),
                             RECORD("\x08\x06")};
  const cst__records records = {.items = items, .count = 3};
  struct ArrowSchema schema;
  struct ArrowArray batch;
  static json_text out;
  CHECK_EQ(cst__decoder_decode(decoder, &records, &schema, &batch, &error), CST_OK);
  CHECK_EQ(bad, 1);
  batch_as_json(&schema, &batch, &out);
  CHECK_STR(out.text, "{\"i64\":0,\"sub\":null,\"text\":[]}\n"
                      "{\"i64\":null,\"sub\":null,\"text\":null}\n"
                      "{\"i64\":6,\"sub\":null,\"text\":[]}\n");
  schema.release(&schema);
  batch.release(&batch);
  cst_decoder_free(decoder);
}

/* ---- memory ---- */

typedef struct scenario {
  cst_descriptors *descriptors;
  const char *message;
  cst_bytes record;
} scenario;

/* Records that take the loop, and records that take the slow way. */
static int decode_with(void *ctx) {
  const scenario *s = ctx;
  cst_error error = CST_ERROR_INIT;
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  cst_decode_options wanted = CST_DECODE_OPTIONS_INIT;
  cst_decoder *decoder = NULL;
  struct ArrowSchema schema = {.release = NULL};
  struct ArrowArray batch = {.release = NULL};
  const cst_bytes records[] = {{NULL, 0}, s->record, s->record};
  options.descriptors = s->descriptors;
  options.message = s->message;
  options.unknown_fields = "unknown";
  wanted.message = &options;
  cst_status status = cst_decoder_new("message", &wanted, &decoder, &error);
  if (status == CST_OK) {
    status = cst_decoder_decode(decoder, records, 3, &schema, &batch, &error);
  }
  if (status == CST_OK) {
    CHECK_EQ(batch.length, 3);
    schema.release(&schema);
    batch.release(&batch);
  }
  cst_decoder_free(decoder);
  return (int)status;
}

TEST(allocation_failures) {
  cst_error error = CST_ERROR_INIT;
  scenario three = {
      text_descriptors(types3, NULL, &error), "three.All",
      RECORD("\x08\x01\x4a\x02\x08\x01\x4a\x02\x08\x02\x6a\x03\x0a\x01y\x40\x09\x8a\x01"
             "\x02\x20\x01\x82\x01\x03\x0a\x01x\xa8\x01\x05")};
  scenario two = {text_descriptors(types2, NULL, &error), "two.Row",
                  RECORD("\x2b\x08\x05\x2c\x18\x04\x32\x02\x08\x01\xa2\x06\x01\x01")};
  FOR_EACH_ALLOCATION_FAILURE(decode_with, &three, CST_NO_MEMORY);
  FOR_EACH_ALLOCATION_FAILURE(decode_with, &two, CST_NO_MEMORY);
  cst_descriptors_release(three.descriptors);
  cst_descriptors_release(two.descriptors);
}
