/* Nested columns out of the source features of ragged tensors: shapes, nulls, projections, and row
 * lengths that do not add up. Every batch that decodes is encoded again, to the same records.
 */
#include "decode/nested.h"

#include "decode/example_decoder.h"
#include "example_text.h"

#define FEATURES                                                      \
  "feature { name: 'id' type: INT } feature { name: 'v' type: INT } " \
  "feature { name: 'r' type: INT } feature { name: 's' type: INT } "  \
  "feature { name: 'w' type: BYTES } "
#define RAGGED(group, name, partitions)                                                        \
  "tensor_representation_group { key: '" group "' value { tensor_representation { key: '" name \
  "' value { ragged_tensor { feature_path { step: 'v' } " partitions " } } } } } "
#define BY(column) "partition { row_length: '" column "' } "
#define UNIFORM(n) "partition { uniform_row_length: " #n " } "

typedef struct job {
  const char *schema;
  const char *const *columns;
  size_t num_columns;
  uint32_t flags; /* besides NESTED */
  const char *records[4];
} job;

typedef struct decoded {
  struct ArrowSchema schema;
  struct ArrowArray array;
} decoded;

static void release(decoded *d) {
  d->array.release(&d->array);
  d->schema.release(&d->schema);
}

static cst_schema *parse(const char *text) {
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_schema_from_text(text, strlen(text), &schema, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  return schema;
}

static cst_status decode_by(const job *j, const cst_schema *schema, decoded *out,
                            cst_error *error) {
  wire_text texts[4];
  cst_bytes items[4];
  cst__records all = {.items = items};
  for (; all.count < 4 && j->records[all.count] != NULL; all.count++) {
    texts[all.count] = example_text(j->records[all.count]);
    items[all.count] = (cst_bytes){texts[all.count].data, texts[all.count].size};
  }
  cst__example_decoder_options options = {
      .flags = CST_COLUMNS_NESTED | j->flags, .columns = j->columns, .num_columns = j->num_columns};
  cst_decoder *decoder = NULL;
  cst_status status = cst__example_decoder_new(schema, &options, &decoder, error);
  if (status == CST_OK) {
    status = cst__decoder_decode(decoder, &all, &out->schema, &out->array, error);
  }
  cst_decoder_free(decoder);
  return status;
}

static cst_status decode(const job *j, decoded *out, cst_error *error) {
  cst_schema *schema = parse(j->schema);
  cst_status status = decode_by(j, schema, out, error);
  cst_schema_release(schema);
  return status;
}

static void check_encodes(const job *j, const decoded *d) {
  cst_schema *schema = parse(j->schema);
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  cst_encoder *encoder;
  decoded records;
  options.schema = schema;
  CHECK_EQ(cst_encoder_new("example", &options, &encoder, NULL), CST_OK);
  cst_status status =
      cst_encoder_encode(encoder, &d->schema, &d->array, &records.schema, &records.array, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  const int64_t *offsets = records.array.buffers[1];
  for (int64_t i = 0; i < records.array.length; i++) {
    wire_text expected = example_text(j->records[i]);
    CHECK_EQ(offsets[i + 1] - offsets[i], expected.size);
    CHECK_MEM((const uint8_t *)records.array.buffers[2] + offsets[i], expected.data, expected.size);
  }
  release(&records);
  cst_encoder_free(encoder);
  cst_schema_release(schema);
}

/* The records, their keys sorted, decode to this batch, and the batch encodes to them. */
static void check(const job *j, const char *expected) {
  static const uint32_t flags[] = {0, CST_COLUMNS_OFFSETS_32, CST_COLUMNS_BINARY_VIEWS};
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    job variant = *j;
    variant.flags |= flags[i];
    decoded d;
    cst_error error = CST_ERROR_INIT;
    cst_status status = decode(&variant, &d, &error);
    CHECK_STR(error.message, "");
    CHECK_EQ(status, CST_OK);
    CHECK_STR(text_of_batch(&d.schema, &d.array).buf, expected);
    check_encodes(&variant, &d);
    release(&d);
  }
}

static void check_refused(const job *j, cst_status expected, int64_t record, const char *path,
                          const char *message) {
  decoded d;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(decode(j, &d, &error), expected);
  CHECK_CONTAINS(error.message, message);
  CHECK_STR(error.path, path);
  CHECK_EQ(error.record, record);
}

/* ---- shapes ---- */

#define V_BY_R \
  "feature { name: 'v' type: INT } feature { name: 'r' type: INT } " RAGGED("", "t", BY("r"))

TEST(one_partition) {
  check(&(job){V_BY_R, .records = {"r:int[2,0,1] v:int[1,2,3]", "r:int[] v:int[]", "r:none v:none",
                                   "r:int[0] v:int[]"}},
        "t: [[1 2] [] [3]] [] null [[]]");
}

TEST(two_partitions) {
  check(&(job){"feature { name: 'v' type: BYTES } feature { name: 'r' type: INT } "
               "feature { name: 's' type: INT } " RAGGED("any", "t", BY("r") BY("s")),
               .records = {"r:int[2,0,1] s:int[1,2,0] v:bytes[x,a_value_of_some_length,z]",
                           "r:none s:none v:none", "r:int[1] s:int[1] v:bytes[y]"}},
        "t: [[[x] [a_value_of_some_length z]] [] [[]]] null [[[y]]]");
}

TEST(values_of_the_tensors_own_name) {
  check(&(job){"feature { name: 'v' type: INT } feature { name: 'r' type: INT } " RAGGED("", "v",
                                                                                         BY("r")),
               .records = {"r:int[1,1] v:int[5,6]"}},
        "v: [[5] [6]]");
}

TEST(uniform_partitions) {
  static const char *const features =
      "feature { name: 'v' type: INT } feature { name: 'r' type: INT } ";
  char schema[512];
  /* Inside, a length counts blocks. */
  snprintf(schema, sizeof schema, "%s%s", features, RAGGED("", "t", BY("r") UNIFORM(2) UNIFORM(1)));
  check(&(job){schema, .records = {"r:int[1,0,2] v:int[1,2,3,4,5,6]"}}, "t: [[1 2] [] [3 4 5 6]]");
  check_refused(&(job){schema, .records = {"r:int[1] v:int[1,2,3]"}}, CST_SCHEMA, 0, "t",
                "add up to 2 values, found 3");
  /* Outside, the number of lengths is a multiple. */
  snprintf(schema, sizeof schema, "%s%s", features, RAGGED("", "t", UNIFORM(2) BY("r")));
  check(&(job){schema, .records = {"r:int[1,2] v:int[1,2,3]", "r:int[] v:int[]"}},
        "t: [[1] [2 3]] []");
  check_refused(&(job){schema, .records = {"r:int[] v:int[]", "r:int[3] v:int[1,2,3]"}}, CST_SCHEMA,
                1, "t",
                "the row has 1 row lengths, expected a multiple of the uniform row length 2");
}

TEST(uniform_partitions_alone) {
  const char *schema = "feature { name: 'v' type: INT } " RAGGED("", "t", UNIFORM(2));
  check(&(job){schema, .records = {"v:int[1,2]", "v:none", "v:int[]"}}, "t: [1 2] null []");
  check_refused(&(job){schema, .records = {"v:int[1,2,3]"}}, CST_SCHEMA, 0, "t",
                "the row has 3 values, expected a multiple of the uniform row length 2");
}

TEST(no_rows_and_no_ragged_tensors) {
  check(&(job){V_BY_R, .records = {NULL}}, "t:");
  check(&(job){"feature { name: 'v' type: INT }", .records = {"v:int[1]"}}, "v: [1]");
}

TEST(groups_that_agree) {
  check(&(job){V_BY_R RAGGED("b", "t", BY("r")), .records = {"r:int[1] v:int[2]"}}, "t: [[2]]");
}

TEST(fixed_shapes_of_sources_are_passed_over) {
  check(&(job){"feature { name: 'a' type: INT shape { dim { size: 2 } } } "
               "feature { name: 'v' type: INT shape { dim { size: 2 } } } "
               "feature { name: 'r' type: INT shape { } } " RAGGED("", "t", BY("r")),
               .flags = CST_COLUMNS_FIXED_SIZE, .records = {"a:int[7,8] r:int[2] v:int[1,2]"}},
        "a: [7 8] | t: [[1 2]]");
}

/* ---- columns ---- */

TEST(places_and_projections) {
  const char *schema = FEATURES RAGGED("", "t", BY("r"));
  const char *record = "id:int[1] r:int[2] s:int[9] v:int[3,4] w:bytes[x]";
  check(&(job){schema, .records = {record}}, "id: [1] | t: [[3 4]] | s: [9] | w: [x]");
  static const char *const wanted[] = {"w", "t"};
  check(&(job){schema, wanted, 2, .records = {"r:int[2] v:int[3,4] w:bytes[x]"}},
        "w: [x] | t: [[3 4]]");
  static const char *const source[] = {"r"};
  check_refused(&(job){schema, source, 1, .records = {record}}, CST_NOT_FOUND, -1, "r",
                "a part of the nested column 't'");
  static const char *const twice[] = {"t", "t"};
  check_refused(&(job){schema, twice, 2, .records = {record}}, CST_INVALID_ARGUMENT, -1, "t",
                "named twice");
  static const char *const unknown[] = {"x"};
  check_refused(&(job){schema, unknown, 1, .records = {record}}, CST_NOT_FOUND, -1, "x",
                "no such column");
}

TEST(tensors_that_cannot_be_told_apart) {
  const char *shared = FEATURES RAGGED("a", "t", BY("r")) RAGGED("b", "u", BY("s"));
  check_refused(&(job){shared, .records = {NULL}}, CST_SCHEMA, -1, "v",
                "source of two ragged tensors, 't' and 'u'");
  static const char *const one[] = {"u"};
  check(&(job){shared, one, 1, .records = {"s:int[1] v:int[2]"}}, "u: [[2]]");
  check_refused(&(job){FEATURES RAGGED("", "id", BY("r")), .records = {NULL}}, CST_SCHEMA, -1, "id",
                "a ragged tensor has the same name as a feature that is not one of its sources");
  check_refused(
      &(job){FEATURES RAGGED("a", "t", BY("r")) RAGGED("b", "t", BY("s")), .records = {NULL}},
      CST_SCHEMA, -1, "t", "the same name");
  check_refused(&(job){FEATURES RAGGED("", "t", BY("r") BY("r")), .records = {NULL}}, CST_SCHEMA,
                -1, "r", "source of two ragged tensors, 't' and 't'");
}

TEST(without_a_schema) {
  decoded d;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(decode_by(&(job){.records = {NULL}}, NULL, &d, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "nested columns need a schema");
}

/* ---- what does not add up ---- */

TEST(sums_are_checked_row_by_row) {
  /* The sum over all rows would be right. */
  check_refused(&(job){V_BY_R, .records = {"r:int[1] v:int[1,2]", "r:int[2] v:int[3]"}}, CST_SCHEMA,
                0, "t", "row lengths 'r' add up to 1 values, found 2");
  check_refused(&(job){V_BY_R, .records = {"r:int[1] v:int[1]", "r:int[2,1] v:int[2]"}}, CST_SCHEMA,
                1, "t", "add up to 3 values, found 1");
  check_refused(
      &(job){FEATURES RAGGED("", "t", BY("r") BY("s")), .records = {"r:int[2] s:int[1] v:int[1]"}},
      CST_SCHEMA, 0, "t", "row lengths 'r' add up to 2 row lengths, found 1");
}

TEST(lengths_out_of_range) {
  check_refused(&(job){V_BY_R, .records = {"r:int[2,-1] v:int[1]"}}, CST_SCHEMA, 0, "t",
                "row length 1 of 'r' is negative: -1");
  check_refused(
      &(job){V_BY_R, .records = {"r:int[9223372036854775807,9223372036854775807] v:int[1]"}},
      CST_SCHEMA, 0, "t", "found 1");
  check_refused(&(job){"feature { name: 'v' type: INT } feature { name: 'r' type: INT } " RAGGED(
                           "", "t", BY("r") UNIFORM(4611686018427387904) UNIFORM(4)),
                       .records = {"r:int[1] v:int[1]"}},
                CST_SCHEMA, 0, "t", "found 1");
}

TEST(sources_of_which_some_are_null) {
  check_refused(&(job){V_BY_R, .records = {"r:int[1] v:int[1]", "r:int[0]"}}, CST_SCHEMA, 1, "t",
                "the values are missing but their row lengths 'r' are present");
  check_refused(&(job){V_BY_R, .records = {"v:int[]"}}, CST_SCHEMA, 0, "t",
                "the row lengths 'r' are missing but the values are present");
}

TEST(a_decoder_works_on_after_a_failure) {
  cst_schema *schema = parse(V_BY_R);
  cst__example_decoder_options options = {.flags = CST_COLUMNS_NESTED};
  cst_decoder *decoder;
  CHECK_EQ(cst__example_decoder_new(schema, &options, &decoder, NULL), CST_OK);
  wire_text wrong = example_text("r:int[2] v:int[1]");
  wire_text right = example_text("r:int[1] v:int[1]");
  decoded d = {.array = {.release = NULL}};
  for (int i = 0; i < 3; i++) {
    cst_bytes item = {wrong.data, wrong.size};
    cst__records all = {.items = &item, .count = 1};
    CHECK_EQ(cst__decoder_decode(decoder, &all, &d.schema, &d.array, NULL), CST_SCHEMA);
    CHECK(d.array.release == NULL);
    item = (cst_bytes){right.data, right.size};
    CHECK_EQ(cst__decoder_decode(decoder, &all, &d.schema, &d.array, NULL), CST_OK);
    CHECK_STR(text_of_batch(&d.schema, &d.array).buf, "t: [[1]]");
    release(&d);
  }
  cst_decoder_free(decoder);
  cst_schema_release(schema);
}

/* The arrays may be released in any order, and moved out of each other. */
TEST(children_live_on_their_own) {
  decoded d;
  CHECK_EQ(decode(&(job){V_BY_R, .records = {"r:int[2,1] v:int[1,2,3]"}}, &d, NULL), CST_OK);
  struct ArrowArray *list = d.array.children[0]->children[0];
  struct ArrowArray values = *list->children[0];
  list->children[0]->release = NULL;
  release(&d);
  CHECK_EQ(((const int64_t *)values.buffers[1])[2], 3);
  values.release(&values);
}

static int scenario(void *context) {
  const cst_schema *schema = ((void **)context)[0];
  const job *j = ((void **)context)[1];
  decoded d;
  cst_status status = decode_by(j, schema, &d, NULL);
  if (status == CST_OK) {
    release(&d);
  }
  return (int)status;
}

TEST(every_allocation_may_fail) {
  job j = {.records = {"id:int[1] r:int[2,0,1] s:int[1,1,1] v:int[1,2,3]", "id:int[2]"}};
  cst_schema *schema = parse(FEATURES RAGGED("", "t", BY("r") BY("s")));
  void *context[] = {schema, &j};
  FOR_EACH_ALLOCATION_FAILURE(scenario, context, CST_NO_MEMORY);
  cst_schema_release(schema);
}
