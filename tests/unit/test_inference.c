/* Tests of inference: batches in, a schema as text out. */
#include "schema/inference.h"

#include <nanoarrow/nanoarrow.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

typedef struct batch {
  struct ArrowSchema schema;
  struct ArrowArray array;
} batch;

enum { MAX_ROWS = 16, NULL_ROW = -1 };

/* A column: its name, the type of its lists' items (NANOARROW_TYPE_NA: a null column), and how many
 * items each row has. */
typedef struct column {
  const char *name;
  enum ArrowType type;
  int counts[MAX_ROWS];
} column;

static int append_rows(struct ArrowArray *array, const column *c, int rows) {
  int code = 0;
  for (int row = 0; row < rows && code == 0; row++) {
    if (c->type == NANOARROW_TYPE_NA || c->counts[row] == NULL_ROW) {
      code = ArrowArrayAppendNull(array, 1);
      continue;
    }
    for (int i = 0; i < c->counts[row] && code == 0; i++) {
      struct ArrowBufferView bytes = {{.data = "x"}, 1};
      struct ArrowArray *items = array->children[0];
      code = c->type == NANOARROW_TYPE_LARGE_BINARY ? ArrowArrayAppendBytes(items, bytes)
             : c->type == NANOARROW_TYPE_FLOAT      ? ArrowArrayAppendDouble(items, 1)
                                                    : ArrowArrayAppendInt(items, 1);
    }
    code = code == 0 ? ArrowArrayFinishElement(array) : code;
  }
  return code;
}

static int set_type(struct ArrowSchema *schema, const column *c, enum ArrowType list) {
  int code = ArrowSchemaSetName(schema, c->name);
  if (code == 0 && c->type == NANOARROW_TYPE_NA) {
    return ArrowSchemaSetType(schema, NANOARROW_TYPE_NA);
  }
  code = code == 0 ? ArrowSchemaSetType(schema, list) : code;
  return code == 0 ? ArrowSchemaSetType(schema->children[0], c->type) : code;
}

static batch make_batch(const column *columns, int64_t count, int rows, enum ArrowType list) {
  batch b;
  ArrowSchemaInit(&b.schema);
  int code = ArrowSchemaSetTypeStruct(&b.schema, count);
  for (int64_t i = 0; i < count && code == 0; i++) {
    code = set_type(b.schema.children[i], &columns[i], list);
  }
  code = code == 0 ? ArrowArrayInitFromSchema(&b.array, &b.schema, NULL) : code;
  code = code == 0 ? ArrowArrayStartAppending(&b.array) : code;
  for (int64_t i = 0; i < count && code == 0; i++) {
    code = append_rows(b.array.children[i], &columns[i], rows);
  }
  b.array.length = rows;
  code = code == 0 ? ArrowArrayFinishBuildingDefault(&b.array, NULL) : code;
  CHECK_EQ(code, 0);
  return b;
}

static void release(batch *b) {
  b->schema.release(&b->schema);
  b->array.release(&b->array);
}

static cst_status add(void *inferrer, const column *columns, int64_t count, int rows,
                      cst_error *error) {
  batch b = make_batch(columns, count, rows, NANOARROW_TYPE_LARGE_LIST);
  cst_status status =
      cst__accumulator_add(&cst__inference_accumulator, inferrer, &b.schema, &b.array, NULL, error);
  release(&b);
  return status;
}

static void check_schema(const void *inferrer, const char *wanted) {
  cst_schema *schema = NULL;
  char *text = NULL;
  size_t size;
  CHECK_EQ(cst__inference_accumulator.finish_schema(inferrer, &schema, NULL), CST_OK);
  CHECK_EQ(cst_schema_to_text(schema, &text, &size, NULL), CST_OK);
  CHECK_STR(text, wanted);
  cst_free(text);
  cst_schema_release(schema);
}

static void *new_inferrer(void) {
  void *inferrer = NULL;
  CHECK_EQ(cst__inference_accumulator.create(NULL, NULL, &inferrer, NULL), CST_OK);
  return inferrer;
}

#define ALWAYS "  presence {\n    min_fraction: 1.0\n    min_count: 1\n  }\n"
#define SOMETIMES "  presence {\n    min_count: 1\n  }\n"
#define SHAPE(n) "  shape {\n    dim {\n      size: " n "\n    }\n  }\n"
#define COUNTS(min, max) "  value_count {\n    min: " min "\n    max: " max "\n  }\n"
#define FEATURE(name, counts, type, rest) \
  "feature {\n  name: \"" name "\"\n" counts "  type: " type "\n" rest "}\n"

TEST(nothing_is_an_empty_schema) {
  void *inferrer = new_inferrer();
  check_schema(inferrer, "");
  CHECK_EQ(add(inferrer, NULL, 0, 0, NULL), CST_OK);
  CHECK_EQ(add(inferrer, NULL, 0, 5, NULL), CST_OK);
  check_schema(inferrer, "");
  cst__inference_accumulator.free(inferrer);
  cst__inference_accumulator.free(NULL);
}

TEST(types_presence_and_counts) {
  static const column columns[] = {
      {"z", NANOARROW_TYPE_INT64, {1, 1, 1}},
      {"v", NANOARROW_TYPE_FLOAT, {3, 3, 3}},
      {"b", NANOARROW_TYPE_LARGE_BINARY, {1, NULL_ROW, 1}},
      {"c", NANOARROW_TYPE_INT64, {0, 5, 2}},
      {"e", NANOARROW_TYPE_INT64, {0, 0, 0}},
      {"n", NANOARROW_TYPE_NA, {0}},
      {"u", NANOARROW_TYPE_FLOAT, {NULL_ROW, NULL_ROW, NULL_ROW}},
  };
  void *inferrer = new_inferrer();
  CHECK_EQ(add(inferrer, columns, 7, 3, NULL), CST_OK);
  check_schema(
      inferrer,
      "feature {\n  name: \"b\"\n" COUNTS(
          "1", "1") "  type: BYTES\n" SOMETIMES "}\n"
                    "feature {\n  name: \"c\"\n" COUNTS(
                        "0", "5") "  type: INT\n" ALWAYS "}\n"
                                  "feature {\n  name: \"e\"\n" COUNTS(
                                      "0",
                                      "0") "  type: INT\n" ALWAYS "}\n"
                                           "feature {\n  name: \"n\"\n  type: TYPE_UNKNOWN\n"
                                           "  presence {\n    min_count: 0\n  }\n}\n"
                                           "feature {\n  name: \"u\"\n  type: FLOAT\n  presence "
                                           "{\n    min_count: 0\n  }\n}\n"
                                           "feature {\n  name: \"v\"\n  type: FLOAT\n" ALWAYS SHAPE(
                                               "3") "}\n"
                                                    "feature {\n  name: \"z\"\n  type: INT\n" ALWAYS
                                                        SHAPE("1") "}\n");
  cst__inference_accumulator.free(inferrer);
}

TEST(features_come_and_go_between_batches) {
  static const column first[] = {{"a", NANOARROW_TYPE_INT64, {1, 1}},
                                 {"late", NANOARROW_TYPE_NA, {0}}};
  static const column second[] = {{"late", NANOARROW_TYPE_FLOAT, {2, 2}},
                                  {"new", NANOARROW_TYPE_INT64, {1, 1}}};
  static const column third[] = {{"a", NANOARROW_TYPE_NA, {0}}};
  void *inferrer = new_inferrer();
  CHECK_EQ(add(inferrer, first, 2, 2, NULL), CST_OK);
  CHECK_EQ(add(inferrer, second, 2, 2, NULL), CST_OK);
  CHECK_EQ(add(inferrer, third, 1, 1, NULL), CST_OK);
  check_schema(inferrer, FEATURE("a", COUNTS("1", "1"), "INT", SOMETIMES)
                             FEATURE("late", COUNTS("2", "2"), "FLOAT", SOMETIMES)
                                 FEATURE("new", COUNTS("1", "1"), "INT", SOMETIMES));
  cst__inference_accumulator.free(inferrer);
}

TEST(a_type_that_changes_is_refused_and_nothing_of_the_batch_counts) {
  static const column first[] = {{"a", NANOARROW_TYPE_INT64, {1, 1}}};
  static const column second[] = {{"other", NANOARROW_TYPE_INT64, {1, 1}},
                                  {"a", NANOARROW_TYPE_LARGE_BINARY, {1, 1}}};
  void *inferrer = new_inferrer();
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(add(inferrer, first, 1, 2, NULL), CST_OK);
  CHECK_EQ(add(inferrer, second, 2, 2, &error), CST_SCHEMA);
  CHECK_STR(error.path, "a");
  CHECK_CONTAINS(error.message, "found BYTES, expected INT");
  check_schema(inferrer, FEATURE("a", "", "INT", ALWAYS SHAPE("1")));
  cst__inference_accumulator.free(inferrer);
}

TEST(lists_with_32_bit_offsets_and_slices) {
  static const column columns[] = {{"a", NANOARROW_TYPE_INT64, {9, 1, NULL_ROW, 2, 9}}};
  batch b = make_batch(columns, 1, 5, NANOARROW_TYPE_LIST);
  b.array.offset = 1;
  b.array.length = 3;
  void *inferrer = new_inferrer();
  CHECK_EQ(
      cst__accumulator_add(&cst__inference_accumulator, inferrer, &b.schema, &b.array, NULL, NULL),
      CST_OK);
  check_schema(inferrer, FEATURE("a", COUNTS("1", "2"), "INT", SOMETIMES));
  cst__inference_accumulator.free(inferrer);
  release(&b);
}

TEST(merging_is_the_same_as_adding) {
  static const column first[] = {{"a", NANOARROW_TYPE_INT64, {1, 2}},
                                 {"n", NANOARROW_TYPE_NA, {0}}};
  static const column second[] = {{"b", NANOARROW_TYPE_FLOAT, {1, 1}},
                                  {"n", NANOARROW_TYPE_LARGE_BINARY, {1, NULL_ROW}}};
  const char *wanted = FEATURE("a", COUNTS("1", "2"), "INT", SOMETIMES) FEATURE(
      "b", COUNTS("1", "1"), "FLOAT", SOMETIMES) FEATURE("n", COUNTS("1", "1"), "BYTES", SOMETIMES);
  for (int swap = 0; swap < 2; swap++) {
    void *left = new_inferrer();
    void *right = new_inferrer();
    CHECK_EQ(add(left, swap ? second : first, 2, 2, NULL), CST_OK);
    CHECK_EQ(add(right, swap ? first : second, 2, 2, NULL), CST_OK);
    CHECK_EQ(cst__inference_accumulator.merge(left, right, NULL), CST_OK);
    check_schema(left, wanted);
    cst__inference_accumulator.free(left);
    cst__inference_accumulator.free(right);
  }
}

TEST(merging_other_types_is_refused) {
  static const column first[] = {{"a", NANOARROW_TYPE_INT64, {1}}};
  static const column second[] = {{"a", NANOARROW_TYPE_FLOAT, {1}}};
  void *left = new_inferrer();
  void *right = new_inferrer();
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(add(left, first, 1, 1, NULL), CST_OK);
  CHECK_EQ(add(right, second, 1, 1, NULL), CST_OK);
  CHECK_EQ(cst__inference_accumulator.merge(left, right, &error), CST_SCHEMA);
  CHECK_STR(error.path, "a");
  cst__inference_accumulator.free(left);
  cst__inference_accumulator.free(right);
}

TEST(a_feature_without_a_name_is_counted_too) {
  static const column columns[] = {{"", NANOARROW_TYPE_INT64, {1}}};
  void *inferrer = new_inferrer();
  CHECK_EQ(add(inferrer, columns, 1, 1, NULL), CST_OK);
  CHECK_EQ(add(inferrer, columns, 1, 1, NULL), CST_OK);
  check_schema(inferrer, FEATURE("", "", "INT", ALWAYS SHAPE("1")));
  cst__inference_accumulator.free(inferrer);
}

TEST(columns_without_lists_hold_one_value_a_record) {
  static const int64_t numbers[] = {1, 2, 3, 4, 5, 6};
  struct ArrowSchema schema;
  struct ArrowArray array;
  ArrowSchemaInit(&schema);
  CHECK_EQ(ArrowSchemaSetTypeStruct(&schema, 2), 0);
  CHECK_EQ(ArrowSchemaSetTypeFixedSize(schema.children[0], NANOARROW_TYPE_FIXED_SIZE_LIST, 2), 0);
  CHECK_EQ(ArrowSchemaSetType(schema.children[0]->children[0], NANOARROW_TYPE_INT32), 0);
  CHECK_EQ(ArrowSchemaSetName(schema.children[0], "pair"), 0);
  CHECK_EQ(ArrowSchemaSetType(schema.children[1], NANOARROW_TYPE_STRING), 0);
  CHECK_EQ(ArrowSchemaSetName(schema.children[1], "word"), 0);
  CHECK_EQ(ArrowArrayInitFromSchema(&array, &schema, NULL), 0);
  CHECK_EQ(ArrowArrayStartAppending(&array), 0);
  for (int row = 0; row < 3; row++) {
    struct ArrowArray *pair = array.children[0];
    CHECK_EQ(ArrowArrayAppendInt(pair->children[0], numbers[2 * row]), 0);
    CHECK_EQ(ArrowArrayAppendInt(pair->children[0], numbers[2 * row + 1]), 0);
    CHECK_EQ(ArrowArrayFinishElement(pair), 0);
    CHECK_EQ(row == 1 ? ArrowArrayAppendNull(array.children[1], 1)
                      : ArrowArrayAppendString(array.children[1], ArrowCharView("x")),
             0);
    CHECK_EQ(ArrowArrayFinishElement(&array), 0);
  }
  CHECK_EQ(ArrowArrayFinishBuildingDefault(&array, NULL), 0);
  void *inferrer = new_inferrer();
  CHECK_EQ(cst__accumulator_add(&cst__inference_accumulator, inferrer, &schema, &array, NULL, NULL),
           CST_OK);
  check_schema(inferrer, FEATURE("pair", "", "INT", ALWAYS SHAPE("2"))
                             FEATURE("word", COUNTS("1", "1"), "BYTES", SOMETIMES));
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__accumulator_add(&cst__inference_accumulator, inferrer, schema.children[1],
                                array.children[1], NULL, &error),
           CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "a record batch is a struct");
  cst__inference_accumulator.free(inferrer);
  array.release(&array);
  schema.release(&schema);
}

TEST(columns_that_are_no_features_are_refused) {
  void *inferrer = new_inferrer();
  cst_error error = CST_ERROR_INIT;
  struct ArrowSchema schema;
  struct ArrowArray array;
  ArrowSchemaInit(&schema);
  CHECK_EQ(ArrowSchemaSetTypeStruct(&schema, 1), 0);
  CHECK_EQ(ArrowSchemaSetTypeStruct(schema.children[0], 1), 0);
  CHECK_EQ(ArrowSchemaSetName(schema.children[0], "s"), 0);
  CHECK_EQ(ArrowSchemaSetType(schema.children[0]->children[0], NANOARROW_TYPE_INT64), 0);
  CHECK_EQ(ArrowSchemaSetName(schema.children[0]->children[0], "x"), 0);
  CHECK_EQ(ArrowArrayInitFromSchema(&array, &schema, NULL), 0);
  CHECK_EQ(
      cst__accumulator_add(&cst__inference_accumulator, inferrer, &schema, &array, NULL, &error),
      CST_UNSUPPORTED);
  CHECK_STR(error.path, "s.x");
  CHECK_CONTAINS(error.message, "expected lists, or lists of lists, of numbers or bytes");
  array.release(&array);
  schema.release(&schema);
  cst__inference_accumulator.free(inferrer);
}

static int infer(void *context) {
  batch *b = context;
  void *inferrer = NULL;
  void *other = NULL;
  cst_schema *schema = NULL;
  cst_status status = cst__inference_accumulator.create(NULL, NULL, &inferrer, NULL);
  if (status == CST_OK) {
    status = cst__inference_accumulator.create(NULL, NULL, &other, NULL);
  }
  if (status == CST_OK) {
    status = cst__accumulator_add(&cst__inference_accumulator, inferrer, &b->schema, &b->array,
                                  NULL, NULL);
  }
  if (status == CST_OK) {
    status = cst__inference_accumulator.merge(other, inferrer, NULL);
  }
  if (status == CST_OK) {
    status = cst__inference_accumulator.finish_schema(other, &schema, NULL);
  }
  cst_schema_release(schema);
  cst__inference_accumulator.free(inferrer);
  cst__inference_accumulator.free(other);
  return (int)status;
}

TEST(out_of_memory) {
  static const column columns[] = {{"a", NANOARROW_TYPE_INT64, {1, 2}},
                                   {"b", NANOARROW_TYPE_FLOAT, {1, 1}},
                                   {"c", NANOARROW_TYPE_NA, {0}}};
  batch b = make_batch(columns, 3, 2, NANOARROW_TYPE_LARGE_LIST);
  FOR_EACH_ALLOCATION_FAILURE(infer, &b, CST_NO_MEMORY);
  release(&b);
}
