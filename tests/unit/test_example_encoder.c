/* The encoder of tf.Example: every Arrow type that fits, what does not fit, the bytes themselves.
 */
#include "arrow_text.h"
#include "decode/example_decoder.h"
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

static cst_status encode(const char *type, const char *rows, uint32_t flags, const char *schema,
                         encoded *out, cst_error *error) {
  struct ArrowSchema in_schema;
  struct ArrowArray in;
  cst_schema *checked = NULL;
  cst_encoder *encoder = NULL;
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  options.flags = flags;
  arrow_text(type, rows, &in_schema, &in);
  if (schema != NULL) {
    CHECK_EQ(cst_schema_from_text(schema, strlen(schema), &checked, NULL), CST_OK);
  }
  options.schema = checked;
  CHECK_EQ(cst_encoder_new("example", &options, &encoder, NULL), CST_OK);
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

/* Encodes, decodes again without a schema, and compares. */
static void check(const char *type, const char *rows, const char *expected) {
  encoded e;
  cst_error error = CST_ERROR_INIT;
  cst_status encoded_status = encode(type, rows, 0, NULL, &e, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(encoded_status, CST_OK);
  cst_bytes items[16];
  for (int64_t i = 0; i < e.array.length; i++) {
    items[i] = record_at(&e, i);
  }
  cst__records all = {.items = items, .count = (size_t)e.array.length};
  cst__example_decoder_options options = {.flags = 0};
  cst_decoder *decoder;
  encoded back;
  CHECK_EQ(cst__example_decoder_new(NULL, &options, &decoder, NULL), CST_OK);
  CHECK_EQ(cst__decoder_decode(decoder, &all, &back.schema, &back.array, NULL), CST_OK);
  CHECK_STR(text_of_batch(&back.schema, &back.array).buf, expected);
  release(&back);
  release(&e);
  cst_decoder_free(decoder);
}

static void check_refused(const char *type, const char *rows, uint32_t flags, const char *schema,
                          cst_status expected, int64_t record, const char *path,
                          const char *message) {
  encoded e;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(encode(type, rows, flags, schema, &e, &error), expected);
  CHECK_CONTAINS(error.message, message);
  CHECK_STR(error.path, path);
  CHECK_EQ(error.record, record);
}

TEST(cells) {
  check("struct{b: large_list<float32>, a: large_list<int64>, c: large_list<large_binary>}",
        "{[1.5], [1, -2], ['xy', '', 'z']} {[], null, []} {null, [], null}",
        "a: [1 -2] null [] | b: [1.5] [] null | c: [xy  z] [] null");
}

TEST(lists_of_every_layout) {
  check("struct{a: list<int64>}", "{[1, 2]} {null} {[]}", "a: [1 2] null []");
  check("struct{a: fixed_list<int64>[2]}", "{[1, 2]} {null}", "a: [1 2] null");
  check("struct{a: int64}", "{5} {null}", "a: [5] null");
  check("struct{a: large_binary}", "{'x'} {null} {''}", "a: [x] null []");
}

TEST(integers_of_every_width) {
  check("struct{a: int8, b: int16, c: int32, d: int64}", "{-1, -2, -3, -4}",
        "a: [-1] | b: [-2] | c: [-3] | d: [-4]");
  check("struct{a: uint8, b: uint16, c: uint32, d: uint64}",
        "{255, 65535, 4294967295, 9223372036854775807}",
        "a: [255] | b: [65535] | c: [4294967295] | d: [9223372036854775807]");
  check_refused("struct{d: uint64}", "{1} {9223372036854775808}", 0, NULL, CST_UNSUPPORTED, 1, "d",
                "above 2^63 - 1");
}

TEST(floats) {
  check("struct{a: float64}", "{0.5} {-3.25}", "a: [0.5] [-3.25]");
  check_refused("struct{a: float64}", "{0.5} {0.1}", 0, NULL, CST_UNSUPPORTED, 1, "a", "float32");
  encoded e;
  CHECK_EQ(encode("struct{a: float64}", "{0.1}", CST_ENCODE_LOSSY, NULL, &e, NULL), CST_OK);
  release(&e);
}

TEST(the_bytes) {
  encoded e;
  CHECK_EQ(encode("struct{b: large_list<int64>, a: large_list<large_binary>}",
                  "{[1, 300], ['x']} {null, []}", 0, NULL, &e, NULL),
           CST_OK);
  wire_text expected = example_text("a:bytes[x] b:int[1,300]");
  CHECK_EQ(record_at(&e, 0).size, expected.size);
  CHECK_MEM(record_at(&e, 0).data, expected.data, expected.size);
  expected = example_text("a:bytes[] b:none");
  CHECK_EQ(record_at(&e, 1).size, expected.size);
  CHECK_MEM(record_at(&e, 1).data, expected.data, expected.size);
  release(&e);
}

TEST(no_columns_and_no_rows) {
  encoded e;
  CHECK_EQ(encode("struct{a: int64}", "", 0, NULL, &e, NULL), CST_OK);
  CHECK_EQ(e.array.length, 0);
  release(&e);
  CHECK_EQ(encode("struct{}", "{} {}", 0, NULL, &e, NULL), CST_OK);
  CHECK_EQ(e.array.length, 2);
  CHECK_EQ(record_at(&e, 1).size, 0);
  release(&e);
}

TEST(null_values_in_a_list_are_refused) {
  check_refused("struct{a: large_list<int64>}", "{[1]} {[2, null]}", 0, NULL, CST_UNSUPPORTED, 1,
                "a", "value 1 of the list is null");
}

TEST(rows_that_are_null_are_refused) {
  check_refused("struct{a: int64}", "{1} null {2} null", 0, NULL, CST_UNSUPPORTED, 1, "",
                "null as a whole, as 2 of 4 are");
}

TEST(types_that_do_not_fit) {
  check_refused("struct{a: large_list<large_list<int64>>}", "{[[1]]}", 0, NULL, CST_UNSUPPORTED, -1,
                "a", "not large_list<large_list<int64>>");
}

TEST(a_schema_is_kept) {
  check_refused("struct{a: int64}", "{1}", 0, "feature { name: 'b' type: INT }", CST_SCHEMA, -1,
                "a", "no such feature");
  check_refused("struct{a: int64}", "{1}", 0, "feature { name: 'a' type: BYTES }", CST_SCHEMA, -1,
                "a", "the schema says BYTES");
}

TEST(names_twice) {
  check_refused("struct{a: int64, a: int64}", "{1, 1}", 0, NULL, CST_INVALID_ARGUMENT, -1, "a",
                "the same name");
}

/* ---- nested columns ---- */

#define RAGGED                                                                           \
  "feature { name: 'n' type: INT } feature { name: 'v' type: INT } "                     \
  "feature { name: 'r' type: INT } feature { name: 's' type: INT } "                     \
  "tensor_representation_group { key: '' value { "                                       \
  "tensor_representation { key: 't' value { ragged_tensor { feature_path { step: 'v' } " \
  "partition { row_length: 'r' } } } } "                                                 \
  "tensor_representation { key: 'u' value { ragged_tensor { feature_path { step: 's' } " \
  "partition { uniform_row_length: 2 } partition { row_length: 'r' } "                   \
  "partition { uniform_row_length: 3 } } } } "                                           \
  "tensor_representation { key: 'v' value { ragged_tensor { feature_path { step: 'v' } " \
  "partition { row_length: 'r' } partition { row_length: 's' } } } } } } "

static void check_record(const char *type, const char *rows, const char *expected) {
  encoded e;
  cst_error error = CST_ERROR_INIT;
  cst_status status = encode(type, rows, 0, RAGGED, &e, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  wire_text record = example_text(expected);
  CHECK_EQ(record_at(&e, 0).size, record.size);
  CHECK_MEM(record_at(&e, 0).data, record.data, record.size);
  release(&e);
}

TEST(nested_lists_of_every_layout) {
  check_record("struct{t: large_list<large_list<int64>>, n: int64}", "{[[1, 2], [], [300]], 7}",
               "n:int[7] r:int[2,0,1] v:int[1,2,300]");
  check_record("struct{t: list<list<int32>>}", "{[]}", "r:int[] v:int[]");
  check_record("struct{t: list<list<int32>>}", "{null}", "r:none v:none");
  check_record("struct{t: list<fixed_list<int32>[2]>}", "{[[1, 2], [3, 4]]}",
               "r:int[2,2] v:int[1,2,3,4]");
  check_record("struct{t: fixed_list<list<uint8>>[2]}", "{[[], [9]]}", "r:int[0,1] v:int[9]");
  check_record("struct{t: null}", "{null}", "r:none v:none");
  check_record("struct{v: list<list<list<int64>>>}", "{[[[1], []], [], [[2, 3]]]}",
               "r:int[2,0,1] s:int[1,0,2] v:int[1,2,3]");
  check_record("struct{u: list<list<int64>>}", "{[[1, 2, 3], [1, 2, 3, 4, 5, 6]]}",
               "r:int[1,2] s:int[1,2,3,1,2,3,4,5,6]");
}

TEST(flat_sources_stay_as_they_are) {
  check_record("struct{v: list<int64>, r: list<int64>}", "{[1, 2], [2]}", "r:int[2] v:int[1,2]");
}

#define FLAT                                                                             \
  "feature { name: 'v' type: INT } feature { name: 'r' type: INT } "                     \
  "feature { name: 's' type: INT } tensor_representation_group { key: '' value { "       \
  "tensor_representation { key: 'v' value { ragged_tensor { feature_path { step: 'v' } " \
  "partition { uniform_row_length: 2 } partition { row_length: 'r' } "                   \
  "partition { row_length: 's' } partition { uniform_row_length: 3 } } } } } } "

TEST(flat_sources_make_up_their_tensor) {
  encoded e;
  CHECK_EQ(encode("struct{v: list<int64>, r: list<uint8>, s: list<int64>}",
                  "{[1, 2, 3, 4, 5, 6], [1, 1], [0, 2]} {null, null, null} {[], [], []} "
                  "{[], [2, 0], [0, 0]}",
                  0, FLAT, &e, NULL),
           CST_OK);
  release(&e);
  check_refused("struct{v: list<int64>}", "{null} {[1]}", 0, FLAT, CST_SCHEMA, 1, "r",
                "the feature is missing but 'v' is present; ragged tensor 'v' needs both");
  check_refused("struct{s: list<int64>, r: list<int64>}", "{[], []}", 0, FLAT, CST_SCHEMA, 0, "v",
                "the feature is missing but 'r' is present");
#define ROW(row, path, message)                                                                 \
  check_refused("struct{v: list<int64>, r: list<int64>, s: list<int64>}", "{" row "}", 0, FLAT, \
                CST_SCHEMA, 0, path, message)
  ROW("[], [1], [0]", "r",
      "the row has 1 row lengths, expected a multiple of the uniform row length 2");
  ROW("[1, 2, 3], [1, 1], [1]", "r", "the row lengths add up to 2 row lengths, found 1");
  ROW("[1, 2, 3], [1, 0], [2]", "s", "the row lengths add up to 6 values, found 3");
  ROW("[1, 2, 3], [2, 0], [2, -1]", "s", "a row length is negative");
  ROW("[], [9223372036854775807, 1], []", "r", "greater than the 0 row lengths");
  ROW("[], [1, 0], [9223372036854775807]", "s", "greater than the 0 values");
}

TEST(types_of_the_schema) {
  static const char *const unknown = "feature { name: 'a' type: TYPE_UNKNOWN }";
  encoded e;
  CHECK_EQ(encode("struct{a: list<int64>}", "{null}", 0, unknown, &e, NULL), CST_OK);
  release(&e);
  check_refused("struct{a: list<int64>}", "{null} {[]}", 0, unknown, CST_SCHEMA, 1, "a",
                "a value of a feature without a type (TYPE_UNKNOWN)");
  check_refused("struct{a: null}", "{null}", 0,
                "feature { name: 'a' type: STRUCT struct_domain { } }", CST_SCHEMA, -1, "a",
                "the schema says STRUCT");
  CHECK_EQ(
      encode("struct{a: list<null>}", "{[]}", 0, "feature { name: 'a' type: FLOAT }", &e, NULL),
      CST_OK);
  wire_text record = example_text("a:float[]");
  CHECK_EQ(record_at(&e, 0).size, record.size);
  CHECK_MEM(record_at(&e, 0).data, record.data, record.size);
  release(&e);
}

TEST(nested_lists_that_do_not_fit) {
  check_refused("struct{t: list<list<int64>>}", "{[[1]]} {[[1], null]}", 0, RAGGED, CST_UNSUPPORTED,
                1, "t", "an inner list at level 1 is null");
  check_refused("struct{t: list<list<int64>>}", "{[[1]]} {[[1, null]]}", 0, RAGGED, CST_UNSUPPORTED,
                1, "t", "value 1 of the list is null");
  check_refused("struct{u: list<list<int64>>}", "{[[1, 2, 3], [1, 2, 3, 4]]}", 0, RAGGED,
                CST_UNSUPPORTED, 0, "u", "a list at level 1 has 4 values");
  check_refused("struct{u: list<list<int64>>}", "{[[1, 2, 3]]}", 0, RAGGED, CST_UNSUPPORTED, 0, "u",
                "a list at level 0 has 1 values, expected a multiple of the uniform row length 2");
  check_refused("struct{t: list<int64>}", "{[1]}", 0, RAGGED, CST_SCHEMA, -1, "t",
                "the column is list<int64>, the ragged tensor of its name has 2 list levels");
  check_refused("struct{t: list<list<string>>}", "{[['x']]}", 0, RAGGED, CST_SCHEMA, -1, "t",
                "the schema says INT");
  check_refused("struct{n: list<list<int64>>}", "{[[1]]}", 0, RAGGED, CST_UNSUPPORTED, -1, "n",
                "not list<list<int64>>");
}

TEST(columns_that_become_the_same_feature) {
  check_refused("struct{t: list<list<int64>>, u: list<list<int64>>}", "{null, null}", 0, RAGGED,
                CST_SCHEMA, -1, "r", "both map to this feature");
  check_refused("struct{r: list<int64>, t: list<list<int64>>}", "{null, null}", 0, RAGGED,
                CST_SCHEMA, -1, "r", "both map to this feature");
}

typedef struct allocation {
  const struct ArrowSchema *schema;
  const struct ArrowArray *array;
  const cst_schema *checked;
} allocation;

static int scenario(void *context) {
  const allocation *a = context;
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  cst_encoder *encoder = NULL;
  encoded e;
  options.schema = a->checked;
  cst_status status = cst_encoder_new("example", &options, &encoder, NULL);
  if (status == CST_OK) {
    status = cst_encoder_encode(encoder, a->schema, a->array, &e.schema, &e.array, NULL);
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
  arrow_text("struct{a: large_list<int64>, c: large_list<large_binary>}",
             "{[1, 2], ['a string of some length']} {null, []} {[3], ['z']}", &schema, &array);
  allocation a = {&schema, &array, NULL};
  FOR_EACH_ALLOCATION_FAILURE(scenario, &a, CST_NO_MEMORY);
  array.release(&array);
  schema.release(&schema);
}

TEST(every_allocation_of_flat_sources_may_fail) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_schema *checked;
  CHECK_EQ(cst_schema_from_text(FLAT, strlen(FLAT), &checked, NULL), CST_OK);
  arrow_text("struct{v: list<int64>, r: list<int64>, s: list<int64>}", "{[], [0, 0], []}", &schema,
             &array);
  allocation a = {&schema, &array, checked};
  FOR_EACH_ALLOCATION_FAILURE(scenario, &a, CST_NO_MEMORY);
  array.release(&array);
  schema.release(&schema);
  cst_schema_release(checked);
}

TEST(every_allocation_of_nested_lists_may_fail) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_schema *checked;
  CHECK_EQ(cst_schema_from_text(RAGGED, strlen(RAGGED), &checked, NULL), CST_OK);
  arrow_text("struct{t: list<list<int64>>}", "{[[1, 2], [3]]} {null}", &schema, &array);
  allocation a = {&schema, &array, checked};
  FOR_EACH_ALLOCATION_FAILURE(scenario, &a, CST_NO_MEMORY);
  array.release(&array);
  schema.release(&schema);
  cst_schema_release(checked);
}
