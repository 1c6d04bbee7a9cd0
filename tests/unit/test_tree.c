/* Types as trees: lines, shapes, nulls, names, JSON, what is cut, and types that are refused. */
#include <columnstone/structured.h>

#include "arrow_text.h"

static const cst_tree_options whole = CST_TREE_OPTIONS_INIT;

static void check_tree(const struct ArrowSchema *type, const cst_tree_options *options,
                       const char *expected) {
  char *text;
  size_t size;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_type_to_text(type, options, &text, &size, &error), CST_OK);
  CHECK_STR(error.message, "");
  CHECK_STR(text, expected);
  CHECK_EQ(size, strlen(expected));
  cst_free(text);
}

static void check_tree_of(const char *type, const cst_tree_options *options, const char *expected) {
  struct ArrowSchema schema;
  arrow_text_parse_type(&type, &schema);
  check_tree(&schema, options, expected);
  ArrowSchemaRelease(&schema);
}

/* A struct without fields yet, not nullable. */
static void begin_struct(struct ArrowSchema *schema, int64_t num_fields) {
  ArrowSchemaInit(schema);
  CHECK_EQ(ArrowSchemaSetTypeStruct(schema, num_fields), 0);
  schema->flags = 0;
}

static void set_field(struct ArrowSchema *field, const char *name, const char *format) {
  CHECK_EQ(ArrowSchemaSetName(field, name), 0);
  CHECK_EQ(ArrowSchemaSetFormat(field, format), 0);
  field->flags = 0;
}

static const char *const session = "struct{id: int64, event: list<struct{query: string, price: "
                                   "large_list<fixed_list<float32>[2]>}>,"
                                   " embedding: fixed_list<float64>[6]}";

TEST(fields_have_lines_and_lists_have_brackets) {
  check_tree_of(session, &whole,
                "struct?\n"
                "├─ id         int64?\n"
                "├─ event      [*]? struct?\n"
                "│  ├─ query   string?\n"
                "│  └─ price   [*]?[2]? float32?\n"
                "└─ embedding  [6]? float64?\n");
  check_tree_of(session, NULL,
                "struct?\n"
                "├─ id         int64?\n"
                "├─ event      [*]? struct?\n"
                "│  ├─ query   string?\n"
                "│  └─ price   [*]?[2]? float32?\n"
                "└─ embedding  [6]? float64?\n");
}

TEST(lines_may_be_ascii) {
  const cst_tree_options ascii = {sizeof ascii, CST_TREE_ASCII, 0, 2};
  check_tree_of("struct{a: struct{b: int8}, c: struct{d: bool, e: bool, f: bool}, g: bool}", &ascii,
                "struct?\n"
                "|- a     struct?\n"
                "|  `- b  int8?\n"
                "|- c     struct?\n"
                "|  |- d  bool?\n"
                "|  |- e  bool?\n"
                "|  `- ... 1 more field\n"
                "`- ... 1 more field\n");
}

TEST(below_the_last_field_there_is_no_line) {
  check_tree_of("struct{a: bool, b: struct{c: struct{d: bool}}}", &whole,
                "struct?\n"
                "├─ a        bool?\n"
                "└─ b        struct?\n"
                "   └─ c     struct?\n"
                "      └─ d  bool?\n");
}

TEST(a_type_need_not_be_a_struct) {
  check_tree_of("large_string", &whole, "string?\n");
  check_tree_of("list_view<large_list_view<float16>>", &whole, "[*]?[*]? float16?\n");
  check_tree_of("list<struct{}>", &whole, "[*]? struct?, 0 fields\n");
}

TEST(nulls_are_marked_where_they_may_be) {
  struct ArrowSchema schema;
  const char *type = "struct{a: list<fixed_list<int64>[3]>}";
  arrow_text_parse_type(&type, &schema);
  struct ArrowSchema *a = schema.children[0];
  a->flags = 0;
  a->children[0]->children[0]->flags = 0;
  check_tree(&schema, &whole, "struct?\n└─ a  [*][3]? int64\n");
  schema.flags = 0;
  a->children[0]->flags = 0;
  check_tree(&schema, &whole, "struct\n└─ a  [*][3] int64\n");
  ArrowSchemaRelease(&schema);
}

TEST(layouts_of_the_same_values_have_one_name) {
  check_tree_of(
      "struct{a: binary, b: large_binary, c: binary_view, d: string_view, e: string, f: "
      "fixed_binary[16], g: null}",
      &whole,
      "struct?\n├─ a  binary?\n├─ b  binary?\n├─ c  binary?\n├─ d  string?\n├─ e  string?\n├─ f  "
      "binary(16)?\n└─ g  null?\n");
}

TEST(times_and_decimals_have_parameters) {
  static const char *const formats[][2] = {
      {"tss:", "timestamp[s]"},
      {"tsm:", "timestamp[ms]"},
      {"tsu:Europe/Berlin", "timestamp[us, Europe/Berlin]"},
      {"tsn:a\x1b]", "timestamp[ns, a\\x1b]]"},
      {"tdD", "date32"},
      {"tdm", "date64"},
      {"tts", "time32[s]"},
      {"ttm", "time32[ms]"},
      {"ttu", "time64[us]"},
      {"ttn", "time64[ns]"},
      {"tDu", "duration[us]"},
      {"tiM", "interval[month]"},
      {"tiD", "interval[day_time]"},
      {"tin", "interval[month_day_nano]"},
      {"d:10,2", "decimal128(10, 2)"},
      {"d:76,-3,256", "decimal256(76, -3)"},
  };
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    struct ArrowSchema schema;
    char expected[80];
    ArrowSchemaInit(&schema);
    set_field(&schema, "", formats[i][0]);
    snprintf(expected, sizeof expected, "%s\n", formats[i][1]);
    check_tree(&schema, &whole, expected);
    ArrowSchemaRelease(&schema);
  }
}

TEST(maps_have_keys_and_values) {
  struct ArrowSchema schema;
  ArrowSchemaInit(&schema);
  CHECK_EQ(ArrowSchemaSetType(&schema, NANOARROW_TYPE_MAP), 0);
  set_field(schema.children[0]->children[0], "key", "u");
  set_field(schema.children[0]->children[1], "value", "l");
  check_tree(&schema, &whole, "[*]? map\n├─ key    string\n└─ value  int64\n");
  ArrowSchemaRelease(&schema);
}

TEST(dictionaries_stand_for_their_values) {
  struct ArrowSchema schema;
  begin_struct(&schema, 1);
  set_field(schema.children[0], "a", "i");
  CHECK_EQ(ArrowSchemaAllocateDictionary(schema.children[0]), 0);
  ArrowSchemaInit(schema.children[0]->dictionary);
  set_field(schema.children[0]->dictionary, "", "U");
  schema.children[0]->flags = ARROW_FLAG_NULLABLE;
  check_tree(&schema, &whole, "struct\n└─ a  string?\n");
  ArrowSchemaRelease(&schema);
}

TEST(names_are_escaped_and_measured_in_characters) {
  struct ArrowSchema schema;
  begin_struct(&schema, 5);
  set_field(schema.children[0], "\xc3\xa4\xc3\xb6", "i");
  set_field(schema.children[1], "\x1b[2J\n", "i");
  set_field(schema.children[2], "\xff", "i");
  set_field(schema.children[3], "", "i");
  set_field(schema.children[4], "a.b", "i");
  check_tree(&schema, &whole,
             "struct\n"
             "├─ äö           int32\n"
             "├─ \\x1b[2J\\x0a  int32\n"
             "├─ \\xff         int32\n"
             "├─ \"\"           int32\n"
             "└─ a.b          int32\n");
  CHECK_EQ(ArrowSchemaSetName(schema.children[3], NULL), 0);
  CHECK_EQ(ArrowSchemaSetName(schema.children[4], "\"\\\t\x7f"), 0);
  const cst_tree_options json = {sizeof json, CST_TREE_JSON, 0, 0};
  check_tree(
      &schema, &json,
      "{\"type\": \"struct\", \"shape\": [], \"nullable\": [false], \"fields\": [\n"
      " {\"name\": \"äö\", \"type\": \"int32\", \"shape\": [], \"nullable\": [false]},\n"
      " {\"name\": \"\\u001b[2J\\u000a\", \"type\": \"int32\", \"shape\": [], \"nullable\": "
      "[false]},\n"
      " {\"name\": \"\\ufffd\", \"type\": \"int32\", \"shape\": [], \"nullable\": [false]},\n"
      " {\"name\": \"\", \"type\": \"int32\", \"shape\": [], \"nullable\": [false]},\n"
      " {\"name\": \"\\u0022\\u005c\\u0009\\u007f\", \"type\": \"int32\", \"shape\": [], "
      "\"nullable\": [false]}]}\n");
  ArrowSchemaRelease(&schema);
}

TEST(a_long_name_does_not_push_the_types_aside) {
  struct ArrowSchema schema;
  char name[200];
  char expected[300];
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  begin_struct(&schema, 2);
  set_field(schema.children[0], name, "i");
  set_field(schema.children[1], "id", "i");
  snprintf(expected, sizeof expected, "struct\n├─ %s  int32\n└─ id  int32\n", name);
  check_tree(&schema, &whole, expected);
  ArrowSchemaRelease(&schema);
}

TEST(depth_and_fields_may_be_limited) {
  cst_tree_options options = CST_TREE_OPTIONS_INIT;
  options.max_depth = 1;
  check_tree_of(session, &options, "struct?, 3 fields\n");
  check_tree_of("list<struct{a: bool}>", &options, "[*]? struct?, 1 field\n");
  options.max_depth = 2;
  options.max_fields = 2;
  check_tree_of(session, &options,
                "struct?\n├─ id     int64?\n├─ event  [*]? struct?, 2 fields\n└─ … 1 more field\n");
  options.flags = CST_TREE_JSON;
  check_tree_of(
      session, &options,
      "{\"type\": \"struct\", \"shape\": [], \"nullable\": [true], \"num_fields\": 3, \"fields\": "
      "[\n"
      " {\"name\": \"id\", \"type\": \"int64\", \"shape\": [], \"nullable\": [true]},\n"
      " {\"name\": \"event\", \"type\": \"struct\", \"shape\": [null], \"nullable\": [true, true], "
      "\"num_fields\": 2, \"fields\": []}]}\n");
}

TEST(json_nests_and_gives_a_null_flag_per_level) {
  const cst_tree_options json = {sizeof json, CST_TREE_JSON, 0, 0};
  check_tree_of("list<struct{a: fixed_list<list<bool>>[2], b: struct{}}>", &json,
                "{\"type\": \"struct\", \"shape\": [null], \"nullable\": [true, true], \"fields\": "
                "[\n"
                " {\"name\": \"a\", \"type\": \"bool\", \"shape\": [2, null], \"nullable\": [true, "
                "true, true]},\n"
                " {\"name\": \"b\", \"type\": \"struct\", \"shape\": [], \"nullable\": [true], "
                "\"fields\": []}]}\n");
  struct ArrowSchema zone;
  ArrowSchemaInit(&zone);
  set_field(&zone, "", "tsn:\"\x1b");
  check_tree(&zone, &json,
             "{\"type\": \"timestamp[ns, \\u0022\\u005cx1b]\", \"shape\": [], \"nullable\": "
             "[false]}\n");
  ArrowSchemaRelease(&zone);
}

TEST(depth_is_that_of_types) {
  struct ArrowSchema schema;
  struct ArrowSchema *at = &schema;
  char *text;
  cst_error error = CST_ERROR_INIT;
  begin_struct(&schema, 1);
  for (int i = 0; i < 100; i++) {
    at = at->children[0];
    CHECK_EQ(ArrowSchemaSetName(at, "a"), 0);
    if (i < 99) {
      CHECK_EQ(ArrowSchemaSetTypeStruct(at, 1), 0);
    } else {
      CHECK_EQ(ArrowSchemaSetFormat(at, "i"), 0);
    }
  }
  CHECK_EQ(cst_type_to_text(&schema, NULL, &text, NULL, &error), CST_OK);
  cst_free(text);
  CHECK_EQ(ArrowSchemaSetTypeStruct(at, 1), 0);
  set_field(at->children[0], "a", "i");
  CHECK_EQ(cst_type_to_text(&schema, NULL, &text, NULL, &error), CST_LIMIT);
  CHECK(text == NULL);
  CHECK_CONTAINS(error.message, "deeper than 100");
  ArrowSchemaRelease(&schema);
}

TEST(wrong_arguments_are_refused) {
  struct ArrowSchema schema;
  char *text = "";
  size_t size = 1;
  cst_error error = CST_ERROR_INIT;
  begin_struct(&schema, 1);
  set_field(schema.children[0], "a", "+us:0");
  CHECK_EQ(cst_type_to_text(&schema, NULL, &text, &size, &error), CST_UNSUPPORTED);
  CHECK(text == NULL);
  CHECK_EQ(size, 0);
  CHECK_STR(error.path, "a");
  set_field(schema.children[0], "a", "+l"); /* without its child */
  CHECK_EQ(cst_type_to_text(&schema, NULL, &text, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_type_to_text(NULL, NULL, &text, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_type_to_text(&schema, NULL, NULL, NULL, &error), CST_INVALID_ARGUMENT);
  const cst_tree_options unknown = {sizeof unknown, 1u << 9, 0, 0};
  CHECK_EQ(cst_type_to_text(&schema, &unknown, &text, NULL, &error), CST_INVALID_ARGUMENT);
  ArrowSchemaRelease(&schema);
}

typedef struct tree_scenario {
  const struct ArrowSchema *type;
  uint32_t flags;
} tree_scenario;

static int draw(void *context) {
  const tree_scenario *s = context;
  const cst_tree_options options = {sizeof options, s->flags, 0, 0};
  char *text;
  cst_status status = cst_type_to_text(s->type, &options, &text, NULL, NULL);
  cst_free(text);
  return (int)status;
}

TEST(no_memory_is_an_error) {
  struct ArrowSchema schema;
  const char *type = session;
  arrow_text_parse_type(&type, &schema);
  tree_scenario s = {&schema, 0};
  FOR_EACH_ALLOCATION_FAILURE(draw, &s, CST_NO_MEMORY);
  s.flags = CST_TREE_JSON;
  FOR_EACH_ALLOCATION_FAILURE(draw, &s, CST_NO_MEMORY);
  ArrowSchemaRelease(&schema);
}
