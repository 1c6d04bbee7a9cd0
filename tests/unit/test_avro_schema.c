/* Schemas of Avro: names, aliases, defaults, logical types, what is refused and where. */
#include "avro/avro_schema.h"

#include <stdio.h>
#include <string.h>

#include "harness.h"

static cst_status parse(cst__avro_schema *schema, const char *text, cst_error *error) {
  const cst_bytes bytes = {(const uint8_t *)text, strlen(text)};
  return cst__avro_schema_parse(schema, bytes, NULL, error);
}

static const char nested[] =
    "{\"type\": \"record\", \"name\": \"a.Outer\", \"aliases\": [\"Old\", \"b.Older\"], "
    "\"fields\": ["
    "{\"name\": \"one\", \"aliases\": [\"uno\"], \"type\": {\"type\": \"enum\", \"name\": \"Kind\","
    " \"symbols\": [\"X\", \"Y\"], \"default\": \"Y\"}},"
    "{\"name\": \"two\", \"type\": [\"null\", \"Outer\"], \"default\": null},"
    "{\"name\": \"three\", \"type\": {\"type\": \"record\", \"name\": \"In\", \"namespace\": \"c\","
    " \"fields\": [{\"name\": \"k\", \"type\": \"a.Kind\"},"
    " {\"name\": \"f\", \"type\": {\"type\": \"fixed\", \"name\": \"F\", \"size\": 3}}]}},"
    "{\"name\": \"four\", \"type\": {\"type\": {\"type\": \"map\", \"values\": \"c.F\"}}}]}";

TEST(names_and_references) {
  cst__avro_schema schema;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(parse(&schema, nested, &error), CST_OK);
  const cst__avro_type *root = schema.root;
  CHECK_STR(root->name, "a.Outer");
  CHECK_EQ(root->num_fields, 4);
  CHECK_EQ(root->aliases.count, 2);
  CHECK_STR(root->aliases.items[0], "a.Old");
  CHECK_STR(root->aliases.items[1], "b.Older");
  const cst__avro_type *kind = root->fields[0].type;
  CHECK_STR(kind->name, "a.Kind");
  CHECK_EQ(kind->standard, 1);
  CHECK_STR(root->fields[0].aliases.items[0], "uno");
  CHECK(root->fields[0].standard == NULL);
  CHECK(root->fields[1].type->branches[1] == root);
  CHECK_EQ(cst__avro_null_branch(root->fields[1].type), 0);
  CHECK(root->fields[1].standard != NULL);
  const cst__avro_type *in = root->fields[2].type;
  CHECK_STR(in->name, "c.In");
  CHECK(in->fields[0].type == kind);
  CHECK_STR(in->fields[1].type->name, "c.F");
  CHECK_EQ(root->fields[3].type->kind, CST__AVRO_MAP);
  CHECK(root->fields[3].type->items == in->fields[1].type);
  CHECK_STR(cst__avro_short_name(in->name), "In");
  cst__avro_schema_reset(&schema);
}

TEST(logical_types) {
  static const struct {
    const char *text;
    cst__avro_logical logical;
  } rows[] = {
      {"{\"type\": \"int\", \"logicalType\": \"date\"}", CST__AVRO_DATE},
      {"{\"type\": \"long\", \"logicalType\": \"date\"}", CST__AVRO_PLAIN},
      {"{\"type\": \"long\", \"logicalType\": \"timestamp-nanos\"}", CST__AVRO_TIMESTAMP_NANOS},
      {"{\"type\": \"string\", \"logicalType\": \"uuid\"}", CST__AVRO_UUID},
      {"{\"type\": \"bytes\", \"logicalType\": \"decimal\", \"precision\": 4}", CST__AVRO_DECIMAL},
      {"{\"type\": \"bytes\", \"logicalType\": \"decimal\"}", CST__AVRO_PLAIN},
      {"{\"type\": \"bytes\", \"logicalType\": \"decimal\", \"precision\": 4, \"scale\": 5}",
       CST__AVRO_PLAIN},
      {"{\"type\": \"fixed\", \"name\": \"D\", \"size\": 2, \"logicalType\": \"decimal\","
       " \"precision\": 4}",
       CST__AVRO_DECIMAL},
      {"{\"type\": \"fixed\", \"name\": \"D\", \"size\": 2, \"logicalType\": \"decimal\","
       " \"precision\": 5}",
       CST__AVRO_PLAIN},
      {"{\"type\": \"fixed\", \"name\": \"D\", \"size\": 12, \"logicalType\": \"duration\"}",
       CST__AVRO_DURATION},
      {"{\"type\": \"fixed\", \"name\": \"D\", \"size\": 11, \"logicalType\": \"duration\"}",
       CST__AVRO_PLAIN},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cst__avro_schema schema;
    CHECK_EQ(parse(&schema, rows[i].text, NULL), CST_OK);
    CHECK_EQ(schema.root->logical, rows[i].logical);
    cst__avro_schema_reset(&schema);
  }
}

TEST(faults_have_their_place) {
  cst__avro_schema schema;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(parse(&schema,
                 "{\"type\": \"record\", \"name\": \"R\", \"fields\": [{\"name\": \"a\", \"type\": "
                 "{\"type\": \"array\", \"items\": {\"type\": \"fixed\", \"name\": \"F\"}}}]}",
                 &error),
           CST_SCHEMA);
  CHECK_STR(error.path, "a.items");
  CHECK_CONTAINS(error.message, "a fixed type without a size");
  cst__avro_schema_reset(&schema);
  CHECK_EQ(parse(&schema, "{\"type\": ", &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "at byte 9");
  cst__avro_schema_reset(&schema);
  CHECK_EQ(parse(&schema, "\"int\" 7", &error), CST_SCHEMA);
  cst__avro_schema_reset(&schema);
  CHECK_EQ(parse(&schema, "7", &error), CST_SCHEMA);
  cst__avro_schema_reset(&schema);
}

static cst_status default_of(const char *type, const char *value, cst__text *out) {
  char text[512];
  cst__avro_schema schema;
  snprintf(text, sizeof text,
           "{\"type\": \"record\", \"name\": \"R\", \"fields\": [{\"name\": \"a\", \"type\": %s,"
           " \"default\": %s}]}",
           type, value);
  cst_status status = parse(&schema, text, NULL);
  if (status == CST_OK) {
    const cst__avro_field *field = &schema.root->fields[0];
    out->size = 0;
    status = cst__avro_default_bytes(field->type, field->standard, out, NULL);
  }
  cst__avro_schema_reset(&schema);
  return status;
}

TEST(defaults_as_bytes) {
  static const struct {
    const char *type;
    const char *value;
    const char *bytes; /* NULL: refused */
    size_t size;
  } rows[] = {
      {"\"int\"", "-65", "\x81\x01", 2},
      {"\"int\"", "2147483648", NULL, 0},
      {"\"long\"", "9223372036854775807", "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10},
      {"\"long\"", "9223372036854775808", NULL, 0},
      {"\"long\"", "1.5", NULL, 0},
      {"\"double\"", "1", "\0\0\0\0\0\0\xf0\x3f", 8},
      {"\"float\"", "\"-Infinity\"", "\0\0\x80\xff", 4},
      {"\"boolean\"", "true", "\1", 1},
      {"\"null\"", "0", NULL, 0},
      {"\"bytes\"", "\"\\u00ff\\u0000\"", "\x04\xff\0", 3},
      {"\"bytes\"", "\"\\u0100\"", NULL, 0},
      {"\"string\"", "\"\\u00e9\"", "\x04\xc3\xa9", 3},
      {"{\"type\": \"fixed\", \"name\": \"F\", \"size\": 2}", "\"ab\"", "ab", 2},
      {"{\"type\": \"fixed\", \"name\": \"F\", \"size\": 2}", "\"abc\"", NULL, 0},
      {"{\"type\": \"array\", \"items\": \"int\"}", "[]", "\0", 1},
      {"{\"type\": \"array\", \"items\": \"int\"}", "[1, 2]", "\x04\x02\x04\0", 4},
      {"{\"type\": \"map\", \"values\": \"int\"}", "{\"a\": 1}", "\x02\x02\x61\x02\0", 5},
      {"[\"null\", \"int\"]", "null", "\0", 1},
      {"[\"int\", \"string\"]", "\"a\"", "\x02\x02\x61", 3},
      {"[\"int\", \"string\"]", "[]", NULL, 0},
      {"{\"type\": \"enum\", \"name\": \"E\", \"symbols\": [\"A\", \"B\"]}", "\"B\"", "\x02", 1},
      {"{\"type\": \"enum\", \"name\": \"E\", \"symbols\": [\"A\", \"B\"]}", "\"C\"", NULL, 0},
  };
  cst__text out = {.allocator = cst__default_allocator};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cst_status status = default_of(rows[i].type, rows[i].value, &out);
    CHECK_EQ(status, rows[i].bytes != NULL ? CST_OK : CST_SCHEMA);
    if (rows[i].bytes != NULL) {
      CHECK_EQ(out.size, rows[i].size);
      CHECK_MEM(out.data, rows[i].bytes, rows[i].size);
    }
  }
  cst__text_free(&out);
}

/* Few types that make many values. */
TEST(defaults_are_bounded) {
  cst__text text = {.allocator = cst__default_allocator};
  cst__text out = {.allocator = cst__default_allocator};
  enum { LEVELS = 40 };
  for (int i = 1; i < LEVELS; i++) {
    cst__text_printf(&text,
                     "{\"type\": \"record\", \"name\": \"R%d\", \"fields\": [{\"name\": \"a\", "
                     "\"default\": {}, \"type\": ",
                     i);
  }
  cst__text_puts(&text, "{\"type\": \"record\", \"name\": \"R40\", \"fields\": []}");
  for (int i = LEVELS; i > 1; i--) {
    cst__text_printf(&text, "}, {\"name\": \"b\", \"default\": {}, \"type\": \"R%d\"}]}", i);
  }
  cst__avro_schema schema;
  CHECK_EQ(parse(&schema, text.data, NULL), CST_OK);
  const cst__avro_field *field = &schema.root->fields[1];
  CHECK_EQ(cst__avro_default_bytes(field->type, field->standard, &out, NULL), CST_LIMIT);
  cst__avro_schema_reset(&schema);
  cst__text_free(&text);
  cst__text_free(&out);
}

static int parse_and_free(void *context) {
  cst__avro_schema schema;
  (void)context;
  cst_status status = parse(&schema, nested, NULL);
  cst__avro_schema_reset(&schema);
  return (int)status;
}

TEST(no_memory) { FOR_EACH_ALLOCATION_FAILURE(parse_and_free, NULL, CST_NO_MEMORY); }
