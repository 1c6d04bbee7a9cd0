/* Inference from tf.SequenceExamples: the schema of a schemaless decode decodes all of the records,
 * whatever the batches were, and its feature lists become ragged tensors. */
#include "decode/sequence_decoder.h"
#include "schema/inference.h"
#include "schema/schema.h"
#include "sequence_text.h"

enum { MOST_RECORDS = 16 };

static cst_status decode(const cst_schema *schema, const char *text, struct ArrowSchema *out_schema,
                         struct ArrowArray *out, cst_error *error) {
  cst__sequence_decoder_options options = {.sequence_column = "SEQ", .reject_unknown = true};
  cst_decoder *decoder = NULL;
  wire_text records[MOST_RECORDS];
  cst_bytes items[MOST_RECORDS];
  char copy[2048];
  size_t count = 0;
  strcpy(copy, text);
  for (char *at = copy; at != NULL;) {
    char *next = strchr(at, '/');
    if (next != NULL) {
      *next++ = '\0';
    }
    records[count] = sequence_text(at);
    items[count] = (cst_bytes){records[count].data, records[count].size};
    count++;
    at = next;
  }
  cst__records all = {.items = items, .count = count};
  cst_status status = cst__sequence_decoder_new(schema, &options, &decoder, error);
  if (status == CST_OK) {
    status = cst__decoder_decode(decoder, &all, out_schema, out, error);
  }
  cst_decoder_free(decoder);
  return status;
}

/* Adds the records as one batch. */
static cst_status add(void *inferrer, const char *text, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_status status = decode(NULL, text, &schema, &array, error);
  if (status != CST_OK) {
    return status;
  }
  status =
      cst__accumulator_add(&cst__inference_accumulator, inferrer, &schema, &array, NULL, error);
  array.release(&array);
  schema.release(&schema);
  return status;
}

static void *new_inferrer(void) {
  void *inferrer = NULL;
  CHECK_EQ(cst__inference_accumulator.create(NULL, NULL, &inferrer, NULL), CST_OK);
  return inferrer;
}

static void check_schema(const void *inferrer, const char *expected) {
  cst_schema *schema;
  char *text;
  size_t size;
  CHECK_EQ(cst__inference_accumulator.finish_schema(inferrer, &schema, NULL), CST_OK);
  CHECK_EQ(cst_schema_to_text(schema, &text, &size, NULL), CST_OK);
  CHECK_STR(text, expected);
  cst_free(text);
  cst_schema_release(schema);
}

static void check_decode(const void *inferrer, const char *records, const char *expected) {
  cst_schema *schema;
  struct ArrowSchema out_schema;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__inference_accumulator.finish_schema(inferrer, &schema, NULL), CST_OK);
  cst_status status = decode(schema, records, &out_schema, &out, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  cst_schema_release(schema);
  CHECK_STR(text_of_sequence(&out_schema, &out).buf, expected);
  out.release(&out);
  out_schema.release(&out_schema);
}

#define RECORDS "a:int[1] | s=int[1,2];int[] n=none / | s=int[3];none;int[4] / a:int[2] | n= s="

static const char inferred[] =
    "feature {\n"
    "  name: \"SEQ\"\n"
    "  type: STRUCT\n"
    "  presence {\n    min_fraction: 1.0\n    min_count: 1\n  }\n"
    "  struct_domain {\n"
    "    feature {\n"
    "      name: \"n\"\n"
    "      type: TYPE_UNKNOWN\n"
    "      presence {\n        min_count: 1\n      }\n"
    "      value_counts {\n"
    "        value_count {\n          min: 0\n          max: 1\n        }\n"
    "      }\n"
    "    }\n"
    "    feature {\n"
    "      name: \"s\"\n"
    "      type: INT\n"
    "      presence {\n        min_fraction: 1.0\n        min_count: 1\n      }\n"
    "      value_counts {\n"
    "        value_count {\n          min: 0\n          max: 3\n        }\n"
    "        value_count {\n          min: 0\n          max: 2\n        }\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n"
    "feature {\n"
    "  name: \"a\"\n"
    "  value_count {\n    min: 1\n    max: 1\n  }\n"
    "  type: INT\n"
    "  presence {\n    min_count: 1\n  }\n"
    "}\n";

TEST(a_schema_of_feature_lists) {
  void *inferrer = new_inferrer();
  CHECK_EQ(add(inferrer, RECORDS, NULL), CST_OK);
  check_schema(inferrer, inferred);
  check_decode(inferrer, RECORDS,
               "a: [1] null [2] | SEQ.n: [null] null [] | SEQ.s: [[1 2] []] [[3] null [4]] []");
  cst__inference_accumulator.free(inferrer);
}

TEST(batches_and_their_order_do_not_matter) {
  static const char *const parts[] = {"a:int[1] | s=int[1,2];int[] n=none",
                                      "| s=int[3];none;int[4]", "a:int[2] | n= s="};
  static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
  for (int i = 0; i < 3; i++) {
    void *inferrer = new_inferrer();
    void *other = new_inferrer();
    CHECK_EQ(add(inferrer, parts[orders[i][0]], NULL), CST_OK);
    CHECK_EQ(add(other, parts[orders[i][1]], NULL), CST_OK);
    CHECK_EQ(add(other, parts[orders[i][2]], NULL), CST_OK);
    CHECK_EQ(cst__inference_accumulator.merge(inferrer, other, NULL), CST_OK);
    cst__inference_accumulator.free(other);
    check_schema(inferrer, inferred);
    cst__inference_accumulator.free(inferrer);
  }
}

/* A batch without feature lists has no struct column. */
TEST(batches_without_feature_lists) {
  void *inferrer = new_inferrer();
  CHECK_EQ(add(inferrer, "a:int[1] / a:int[2]", NULL), CST_OK);
  CHECK_EQ(add(inferrer, "a:int[3] |", NULL), CST_OK);
  check_decode(inferrer, "a:int[1] / a:int[3] |", "a: [1] [3]");
  CHECK_EQ(add(inferrer, "| s=none", NULL), CST_OK);
  check_decode(inferrer, "a:int[1] / | s=none", "a: [1] null | SEQ.s: null [null]");
  CHECK_EQ(add(inferrer, "| s=bytes[x]", NULL), CST_OK);
  check_decode(inferrer, "a:int[1] / | s=none;bytes[]", "a: [1] null | SEQ.s: null [null []]");
  cst__inference_accumulator.free(inferrer);
}

TEST(types_that_disagree_name_the_list) {
  void *inferrer = new_inferrer();
  void *other = new_inferrer();
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(add(inferrer, "| s=int[1]", NULL), CST_OK);
  CHECK_EQ(add(inferrer, "b:int[1] | s=float[1]", &error), CST_SCHEMA);
  CHECK_STR(error.path, "SEQ.s");
  CHECK_CONTAINS(error.message, "found FLOAT, expected INT");
  CHECK_EQ(add(other, "c:int[1] | s=bytes[x]", NULL), CST_OK);
  error = (cst_error)CST_ERROR_INIT;
  CHECK_EQ(cst__inference_accumulator.merge(inferrer, other, &error), CST_SCHEMA);
  CHECK_STR(error.path, "SEQ.s");
  /* Nothing of them was counted. */
  check_decode(inferrer, "| s=int[1]", "SEQ.s: [[1]]");
  cst__inference_accumulator.free(inferrer);
  cst__inference_accumulator.free(other);
}

TEST(feature_lists_are_ragged_tensors) {
  void *inferrer = new_inferrer();
  cst_specs_options options = CST_SPECS_OPTIONS_INIT;
  cst_schema *schema;
  cst_specs *specs;
  CHECK_EQ(add(inferrer, RECORDS, NULL), CST_OK);
  CHECK_EQ(cst__inference_accumulator.finish_schema(inferrer, &schema, NULL), CST_OK);
  CHECK_EQ(cst_specs_new(schema, &options, &specs, NULL), CST_OK);
  CHECK_EQ(cst_specs_num_specs(specs), 2);
  const cst_tensor_spec *spec = cst_specs_get(specs, 0);
  CHECK_EQ(spec->kind, CST_TENSOR_RAGGED);
  CHECK_EQ(spec->num_path_steps, 2);
  CHECK_STR(spec->path[0], "SEQ");
  CHECK_STR(spec->path[1], "s");
  /* A single feature list can be wanted; one without a tensor is part of none. */
  static const char *const wanted[] = {"SEQ.s", "SEQ.n"};
  for (size_t count = 0; count <= 2; count++) {
    cst_specs *part;
    CHECK_EQ(cst__specs_project(specs, wanted, count, &part, NULL), CST_OK);
    CHECK_EQ(cst_specs_num_specs(part), count > 0 ? 1 : 0);
    cst_specs_release(part);
  }
  cst_specs_release(specs);
  cst_schema_release(schema);
  cst__inference_accumulator.free(inferrer);
}

static int infer(void *context) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  void *inferrer = NULL;
  void *other = NULL;
  cst_schema *found = NULL;
  cst_status status = decode(NULL, context, &schema, &array, NULL);
  if (status != CST_OK) {
    return (int)status;
  }
  status = cst__inference_accumulator.create(NULL, NULL, &inferrer, NULL);
  if (status == CST_OK) {
    status = cst__inference_accumulator.create(NULL, NULL, &other, NULL);
  }
  if (status == CST_OK) {
    status =
        cst__accumulator_add(&cst__inference_accumulator, inferrer, &schema, &array, NULL, NULL);
  }
  if (status == CST_OK) {
    status = cst__inference_accumulator.merge(other, inferrer, NULL);
  }
  if (status == CST_OK) {
    status = cst__inference_accumulator.finish_schema(other, &found, NULL);
  }
  cst_schema_release(found);
  cst__inference_accumulator.free(inferrer);
  cst__inference_accumulator.free(other);
  array.release(&array);
  schema.release(&schema);
  return (int)status;
}

TEST(every_allocation_may_fail) {
  FOR_EACH_ALLOCATION_FAILURE(infer, (void *)(uintptr_t)RECORDS, CST_NO_MEMORY);
}
