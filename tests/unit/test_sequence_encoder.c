/* The encoder of tf.SequenceExample: the bytes of every cell state, every list layout, and what is
 * refused.
 */
#include <columnstone/records.h>

#include "arrow_text.h"
#include "example_text.h"
#include "schema/schema.h"

typedef struct encoded {
  struct ArrowSchema schema;
  struct ArrowArray array;
} encoded;

static void release(encoded *e) {
  e->array.release(&e->array);
  e->schema.release(&e->schema);
}

static void name_sequence(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (strcmp(schema->children[i]->name, "lists") == 0) {
      CHECK_EQ(ArrowSchemaSetName(schema->children[i], CST_SEQUENCE_COLUMN), 0);
    }
  }
}

/* The column "lists" of `type` gets the name of the struct column. */
static cst_status encode(const char *type, const char *rows, uint32_t flags, const char *schema,
                         encoded *out, cst_error *error) {
  struct ArrowSchema in_schema;
  struct ArrowArray in;
  cst_schema *checked = NULL;
  cst_encoder *encoder = NULL;
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  options.flags = flags;
  arrow_text(type, rows, &in_schema, &in);
  name_sequence(&in_schema);
  if (schema != NULL) {
    CHECK_EQ(cst_schema_from_text(schema, strlen(schema), &checked, NULL), CST_OK);
  }
  options.schema = checked;
  CHECK_EQ(cst_encoder_new("sequence_example", &options, &encoder, NULL), CST_OK);
  cst_schema_release(checked);
  cst_status status =
      cst_encoder_encode(encoder, &in_schema, &in, &out->schema, &out->array, error);
  cst_encoder_free(encoder);
  in.release(&in);
  in_schema.release(&in_schema);
  return status;
}

static cst_bytes record_at(const encoded *e, int64_t i) {
  const int64_t *offsets = e->array.buffers[1];
  const uint8_t *bytes = e->array.buffers[2];
  return (cst_bytes){bytes + offsets[i], (size_t)(offsets[i + 1] - offsets[i])};
}

/* ---- expected records ---- */

/* One feature list: a name and its features, as example_text writes them, one per blank:
 * "int[1] none int[]". */
static void add_list(wire_text *lists, const char *name, const char *features) {
  wire_text list = {.size = 0};
  wire_text entry = {.size = 0};
  char copy[512];
  snprintf(copy, sizeof copy, "%s", features);
  char *rest = NULL;
  for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
    char *values = strchr(word, '[');
    if (values != NULL) {
      *values++ = '\0';
      *strchr(values, ']') = '\0';
    }
    wire_text feature = wire_feature(word, values != NULL ? values : word);
    wire_message(&list, 1, &feature);
  }
  wire_field(&entry, 1, name, strlen(name));
  wire_message(&entry, 2, &list);
  wire_message(lists, 1, &entry);
}

/* "a: int[1] | b: bytes[x] none", a context before it; NULL: no feature lists. */
static wire_text sequence_text(const char *context, const char *lists) {
  wire_text record = context != NULL ? example_text(context) : (wire_text){.size = 0};
  wire_text all = {.size = 0};
  char copy[512];
  if (lists == NULL) {
    return record;
  }
  snprintf(copy, sizeof copy, "%s", lists);
  char *rest = NULL;
  for (char *part = strtok_r(copy, "|", &rest); part != NULL; part = strtok_r(NULL, "|", &rest)) {
    char *features = strchr(part, ':');
    *features++ = '\0';
    add_list(&all, part + strspn(part, " "), features);
  }
  wire_message(&record, 2, &all);
  return record;
}

static void check_record(const encoded *e, int64_t i, const char *context, const char *lists) {
  wire_text expected = sequence_text(context, lists);
  CHECK_EQ(record_at(e, i).size, expected.size);
  CHECK_MEM(record_at(e, i).data, expected.data, expected.size);
}

/* One batch whose first record is to have these feature lists, without a context. */
static void check_lists(const char *type, const char *rows, const char *lists) {
  encoded e;
  cst_error error = CST_ERROR_INIT;
  cst_status status = encode(type, rows, 0, NULL, &e, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  check_record(&e, 0, NULL, lists);
  release(&e);
}

static void check_refused(const char *type, const char *rows, const char *schema,
                          cst_status expected, int64_t record, const char *path,
                          const char *message) {
  encoded e;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(encode(type, rows, 0, schema, &e, &error), expected);
  CHECK_CONTAINS(error.message, message);
  CHECK_STR(error.path, path);
  CHECK_EQ(error.record, record);
}

/* ---- what is written ---- */

TEST(cells) {
  encoded e;
  CHECK_EQ(encode("struct{n: large_list<int64>, lists: struct{b: large_list<large_list<int64>>, "
                  "a: large_list<large_list<large_binary>>}}",
                  "{[7], {[[1, 300], null, []], [['x', '']]}} {null, {null, []}} {[], {[], null}}",
                  0, NULL, &e, NULL),
           CST_OK);
  check_record(&e, 0, "n:int[7]", "a: bytes[x,] | b: int[1,300] none int[]");
  check_record(&e, 1, "n:none", "a:");
  check_record(&e, 2, "n:int[]", "b:");
  release(&e);
}

TEST(no_struct_column_and_no_children) {
  encoded e;
  CHECK_EQ(encode("struct{n: large_list<int64>}", "{[7]}", 0, NULL, &e, NULL), CST_OK);
  check_record(&e, 0, "n:int[7]", NULL);
  release(&e);
  CHECK_EQ(encode("struct{lists: struct{}}", "{{}} {{}}", 0, NULL, &e, NULL), CST_OK);
  check_record(&e, 1, NULL, "");
  release(&e);
  CHECK_EQ(encode("struct{}", "{} {}", 0, NULL, &e, NULL), CST_OK);
  check_record(&e, 1, NULL, NULL);
  release(&e);
}

TEST(lists_of_every_layout) {
  check_lists("struct{lists: struct{a: list<list<int64>>}}", "{{[[1, 2], null, [3]]}}",
              "a: int[1,2] none int[3]");
  check_lists("struct{lists: struct{a: large_list<fixed_list<int64>[2]>}}", "{{[[1, 2], null]}}",
              "a: int[1,2] none");
  check_lists("struct{lists: struct{a: fixed_list<large_list<float32>>[2]}}", "{{[[1.5], []]}}",
              "a: float[1.5] float[]");
  check_lists("struct{lists: struct{a: list<list<string>>}}", "{{[['x', 'yz'], []]}}",
              "a: bytes[x,yz] bytes[]");
  check_lists("struct{lists: struct{a: large_list<large_list<binary_view>>}}",
              "{{[['a_value_of_more_than_twelve_bytes', 'x']]}}",
              "a: bytes[a_value_of_more_than_twelve_bytes,x]");
}

TEST(values_of_every_width) {
  check_lists("struct{lists: struct{a: list<list<int8>>}}", "{{[[-1], [2]]}}", "a: int[-1] int[2]");
  check_lists("struct{lists: struct{a: list<list<uint64>>}}", "{{[[9223372036854775807]]}}",
              "a: int[9223372036854775807]");
  check_lists("struct{lists: struct{a: list<list<float64>>}}", "{{[[0.5], [-3.25]]}}",
              "a: float[0.5] float[-3.25]");
  check_lists("struct{lists: struct{a: list<list<int64>>}}", "{{[[5000000000]]}}",
              "a: int[5000000000]");
}

TEST(lists_without_a_type) {
  check_lists("struct{lists: struct{a: large_list<large_list<null>>}}", "{{[null, null]}}",
              "a: none none");
  check_lists("struct{lists: struct{a: large_list<null>}}", "{{[null, null]}}", "a: none none");
  check_lists("struct{lists: struct{a: null, b: large_list<null>}}", "{{null, []}}", "b:");
}

TEST(many_rows_grow_the_buffer) {
  char rows[8192] = "";
  for (int i = 0; i < 100; i++) {
    strcat(rows, "{{[[1, 2, 3], null, [4, 5]]}} ");
  }
  encoded e;
  CHECK_EQ(encode("struct{lists: struct{a: list<list<int64>>}}", rows, 0, NULL, &e, NULL), CST_OK);
  CHECK_EQ(e.array.length, 100);
  for (int64_t i = 0; i < 100; i++) {
    check_record(&e, i, NULL, "a: int[1,2,3] none int[4,5]");
  }
  release(&e);
}

/* Both ways of writing a step: few values and many, of the lists that decoding makes. */
TEST(steps_of_any_size) {
  static const char *const row =
      "{{[[1, -2], null, [], [5000000000], [1, 2, 3, 4, 5, 6, 7, 8, 9]], [[1.5], [], null], "
      "[['x', ''], null, ['12345678901234567890123456789012345678901234567890', "
      "'12345678901234567890123456789012345678901234567890'], []]}} ";
  char rows[16384] = "";
  for (int i = 0; i < 40; i++) {
    strcat(rows, row);
  }
  encoded e;
  CHECK_EQ(encode("struct{lists: struct{i: large_list<large_list<int64>>, "
                  "f: large_list<large_list<float32>>, b: large_list<large_list<large_binary>>}}",
                  rows, 0, NULL, &e, NULL),
           CST_OK);
  for (int64_t i = 0; i < 40; i++) {
    check_record(&e, i, NULL,
                 "b: bytes[x,] none bytes[12345678901234567890123456789012345678901234567890,"
                 "12345678901234567890123456789012345678901234567890] bytes[] | "
                 "f: float[1.5] float[] none | "
                 "i: int[1,-2] none int[] int[5000000000] int[1,2,3,4,5,6,7,8,9]");
  }
  release(&e);
}

TEST(a_slice) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_encoder *encoder;
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  encoded e;
  arrow_text("struct{n: int64, lists: struct{a: list<list<int64>>}}",
             "{1, {[[1]]}} {2, {[[2], [3, 4]]}} {3, {null}} {4, {[[5]]}}", &schema, &array);
  name_sequence(&schema);
  struct ArrowArray slice = array;
  slice.offset = 1;
  slice.length = 2;
  CHECK_EQ(cst_encoder_new("sequence_example", &options, &encoder, NULL), CST_OK);
  CHECK_EQ(cst_encoder_encode(encoder, &schema, &slice, &e.schema, &e.array, NULL), CST_OK);
  CHECK_EQ(e.array.length, 2);
  check_record(&e, 0, "n:int[2]", "a: int[2] int[3,4]");
  check_record(&e, 1, "n:int[3]", "");
  release(&e);
  cst_encoder_free(encoder);
  array.release(&array);
  schema.release(&schema);
}

TEST(a_name_of_the_callers_for_the_column) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_encoder *encoder;
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  encoded e;
  const cst_option named = {.name = "sequence_column", .value = "steps"};
  options.options = &named;
  options.num_options = 1;
  arrow_text("struct{steps: struct{a: list<list<int64>>}}", "{{[[1]]}}", &schema, &array);
  CHECK_EQ(cst_encoder_new("sequence_example", &options, &encoder, NULL), CST_OK);
  CHECK_EQ(cst_encoder_encode(encoder, &schema, &array, &e.schema, &e.array, NULL), CST_OK);
  check_record(&e, 0, NULL, "a: int[1]");
  release(&e);
  cst_encoder_free(encoder);
  array.release(&array);
  schema.release(&schema);
}

/* ---- what is refused ---- */

#define LISTS "##SEQUENCE##"

TEST(values_that_do_not_fit) {
  check_refused("struct{lists: struct{a: list<list<int64>>}}", "{{[[1]]}} {{[[2], [3, null]]}}",
                NULL, CST_UNSUPPORTED, 1, LISTS ".a", "value 1 of the list is null");
  check_refused("struct{lists: struct{a: list<list<uint64>>}}", "{{[[9223372036854775808]]}}", NULL,
                CST_UNSUPPORTED, 0, LISTS ".a", "above 2^63 - 1");
  check_refused("struct{lists: struct{a: list<list<float64>>}}", "{{[]}} {{[[0.1]]}}", NULL,
                CST_UNSUPPORTED, 1, LISTS ".a", "float32");
  check_refused("struct{lists: struct{a: list<list<null>>}}", "{{[[null]]}}", NULL, CST_UNSUPPORTED,
                0, LISTS ".a", "value 0 of the list is null");
  check_refused("struct{n: list<int64>}", "{[1]} {[null]}", NULL, CST_UNSUPPORTED, 1, "n",
                "value 0 of the list is null");
}

TEST(lossy_rounds) {
  encoded e;
  CHECK_EQ(encode("struct{lists: struct{a: list<list<float64>>}}", "{{[[0.1]]}}", CST_ENCODE_LOSSY,
                  NULL, &e, NULL),
           CST_OK);
  check_record(&e, 0, NULL, "a: float[0.1]");
  release(&e);
}

TEST(structs_that_are_null) {
  check_refused("struct{lists: struct{a: list<list<int64>>}}", "{{[[1]]} } {null} {{null}}", NULL,
                CST_UNSUPPORTED, 1, LISTS, "null as a whole, as 1 of 3 are");
  check_refused("struct{n: int64}", "{1} null", NULL, CST_UNSUPPORTED, 1, "",
                "the row is null as a whole");
}

TEST(types_that_do_not_fit) {
  check_refused("struct{lists: int64}", "{1}", NULL, CST_UNSUPPORTED, -1, LISTS,
                "is a struct, not int64");
  check_refused("struct{lists: struct{a: list<int64>}}", "{{[1]}}", NULL, CST_UNSUPPORTED, -1,
                LISTS ".a", "not list<int64>");
  check_refused("struct{lists: struct{a: list<list<list<int64>>>}}", "{{[[[1]]]}}", NULL,
                CST_UNSUPPORTED, -1, LISTS ".a", "not list<list<list<int64>>>");
  check_refused("struct{n: list<list<int64>>}", "{[[1]]}", NULL, CST_UNSUPPORTED, -1, "n",
                "not list<list<int64>>");
}

TEST(names_twice) {
  check_refused("struct{a: int64, a: int64}", "{1, 1}", NULL, CST_INVALID_ARGUMENT, -1, "a",
                "the same name");
  check_refused("struct{lists: struct{a: list<list<int64>>, a: list<list<int64>>}}",
                "{{null, null}}", NULL, CST_INVALID_ARGUMENT, -1, LISTS ".a", "the same name");
  check_refused("struct{lists: struct{}, lists: struct{}}", "{{}, {}}", NULL, CST_INVALID_ARGUMENT,
                -1, LISTS, "the same name");
}

TEST(a_schema_is_kept) {
  static const char *const schema =
      "feature { name: 'n' type: INT } feature { name: '##SEQUENCE##' type: STRUCT struct_domain { "
      "feature { name: 'a' type: INT } feature { name: 'u' type: TYPE_UNKNOWN } } }";
  encoded e;
  CHECK_EQ(encode("struct{n: int64, lists: struct{a: list<list<int64>>, u: list<list<null>>}}",
                  "{1, {[[2]], [null]}}", 0, schema, &e, NULL),
           CST_OK);
  check_record(&e, 0, "n:int[1]", "a: int[2] | u: none");
  release(&e);
  check_refused("struct{m: int64}", "{1}", schema, CST_SCHEMA, -1, "m", "no such feature");
  check_refused("struct{lists: struct{b: list<list<int64>>}}", "{{null}}", schema, CST_SCHEMA, -1,
                LISTS ".b", "no such feature");
  check_refused("struct{lists: struct{a: list<list<string>>}}", "{{null}}", schema, CST_SCHEMA, -1,
                LISTS ".a", "the schema says INT");
  check_refused("struct{lists: struct{}}", "{{}}", "feature { name: 'n' type: INT }", CST_SCHEMA,
                -1, LISTS, "the schema has no feature for the sequence column");
  check_refused("struct{lists: struct{}}", "{{}}", "feature { name: '##SEQUENCE##' type: INT }",
                CST_SCHEMA, -1, LISTS,
                "the schema feature of the sequence column must have type STRUCT");
}

static int scenario(void *context) {
  const struct ArrowSchema *schema = ((struct ArrowSchema **)context)[0];
  const struct ArrowArray *array = ((struct ArrowArray **)context)[1];
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  cst_encoder *encoder = NULL;
  encoded e;
  cst_status status = cst_encoder_new("sequence_example", &options, &encoder, NULL);
  if (status == CST_OK) {
    status = cst_encoder_encode(encoder, schema, array, &e.schema, &e.array, NULL);
    if (status == CST_OK) {
      release(&e);
    }
  }
  cst_encoder_free(encoder);
  return (int)status;
}

TEST(every_allocation_may_fail) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  arrow_text("struct{n: int64, lists: struct{a: list<list<int64>>, c: list<list<binary>>}}",
             "{1, {[[1, 2]], [['a string of some length']]}} {2, {null, []}}", &schema, &array);
  name_sequence(&schema);
  void *context[] = {&schema, &array};
  FOR_EACH_ALLOCATION_FAILURE(scenario, context, CST_NO_MEMORY);
  array.release(&array);
  schema.release(&schema);
}
