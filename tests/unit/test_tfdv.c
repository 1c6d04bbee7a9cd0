/* Statistics as TFDV's proto, and back: what is read is what was written, as far as the proto can
 * say it; damage is found where it is.
 */
#include <columnstone/accumulate.h>
#include <columnstone/statistics.h>
#include <math.h>

#include "arrow_text.h"
#include "findings_text.h"

static const char type[] =
    "struct{c: string, f: list<float64>, i: int64, n: list<list<int64>>, s: list<struct{x: int64, "
    "y: list<string>}>, w: float64}";
static const char rows[] =
    "{'Blue', [1.5, 2], 7, [[1], null, [2, 3]], [{1, ['a']}, {null, ['b', 'b']}], 1} "
    "{'Red', null, null, null, [], 2} "
    "{'Blue', [0], 9, [[]], null, 0.5}";

static cst_findings *statistics_of(const char *of_type, const char *text, const char *by,
                                   const char *weight) {
  const cst_option options[] = {{"by", by, NULL}, {"weight", weight, NULL}};
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_accumulator *made;
  cst_findings *found;
  CHECK_EQ(cst_accumulator_new("statistics", options, weight != NULL ? 2 : 1, NULL, &made, NULL),
           CST_OK);
  arrow_text(of_type, text, &schema, &array);
  CHECK_EQ(cst_accumulator_add(made, &schema, &array, NULL, -1, NULL), CST_OK);
  CHECK_EQ(cst_accumulator_finish(made, &found, NULL), CST_OK);
  array.release(&array);
  schema.release(&schema);
  cst_accumulator_free(made);
  return found;
}

static void write_tfdv(const char *name, const cst_findings *found, char **bytes, size_t *size) {
  const cst_statistics_named table = {name, found};
  CHECK_EQ(cst_statistics_to_tfdv(&table, 1, bytes, size, NULL), CST_OK);
}

static cst_findings *read_tfdv(const char *bytes, size_t size, const char *dataset) {
  cst_findings *found;
  CHECK_EQ(cst_statistics_from_tfdv(bytes, size, dataset, NULL, &found, NULL), CST_OK);
  return found;
}

/* Through the proto. */
static cst_findings *exchanged(cst_findings *found) {
  char *bytes;
  size_t size;
  write_tfdv(NULL, found, &bytes, &size);
  cst_findings *read = read_tfdv(bytes, size, NULL);
  cst_free(bytes);
  cst_findings_free(found);
  return read;
}

static size_t row_of(const cst_findings *found, const char *path) {
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    if (strcmp(cst_findings_text(found, "path", i), path) == 0) {
      return i;
    }
  }
  CHECK(false);
  return 0;
}

TEST(numbers) {
  cst_findings *read = exchanged(statistics_of(type, rows, "", NULL));
  size_t f = row_of(read, "f");
  CHECK_STR(cst_findings_text(read, "type", f), "FLOAT");
  CHECK_EQ(cst_findings_total(read, "num_rows"), 3);
  CHECK_EQ(cst_findings_number(read, "rows", f), 3);
  CHECK_EQ(cst_findings_number(read, "present", f), 2);
  CHECK_EQ(cst_findings_number(read, "values", f), 3);
  CHECK_EQ(cst_findings_number(read, "zeros", f), 1);
  CHECK(fabs(cst_findings_real(read, "mean", f) - 3.5 / 3) < 1e-12);
  CHECK(cst_findings_real(read, "min", f) == 0);
  CHECK(cst_findings_real(read, "max", f) == 2);
  CHECK(isnan(cst_findings_real(read, "rows_weight", f)));
  CHECK_STR(cst_findings_text(read, "type", row_of(read, "i")), "INT");
  CHECK_EQ(cst_findings_number(read, "negatives", f), -1);
  cst_findings_free(read);
}

TEST(lists_and_structs) {
  cst_findings *read = exchanged(statistics_of(type, rows, "", NULL));
  size_t begin, end;
  size_t n = row_of(read, "n");
  CHECK(cst_findings_items(read, "levels", n, &begin, &end));
  CHECK_EQ(end - begin, (size_t)2);
  CHECK_EQ(cst_findings_number(read, "levels.nulls", begin), 1);
  CHECK_EQ(cst_findings_number(read, "levels.items", begin), 4);
  CHECK_EQ(cst_findings_number(read, "levels.nulls", end - 1), 1);
  CHECK_EQ(cst_findings_number(read, "levels.lists", end - 1), 3);
  CHECK_EQ(cst_findings_number(read, "levels.min", end - 1), 0);
  CHECK_EQ(cst_findings_number(read, "levels.empty", end - 1), -1); /* the proto has no such */
  CHECK_STR(cst_findings_text(read, "type", row_of(read, "s")), "STRUCT");
  CHECK_EQ(cst_findings_number(read, "rows", row_of(read, "s.x")), 2); /* those of its structs */
  CHECK_EQ(cst_findings_number(read, "present", row_of(read, "s.x")), 1);
  size_t y = row_of(read, "s.y");
  CHECK_EQ(cst_findings_number(read, "values", y), 3);
  CHECK(cst_findings_items(read, "top", y, &begin, &end));
  CHECK_STR(cst_findings_text(read, "top.value", begin), "b");
  CHECK(cst_findings_real(read, "top.upper", begin) == 2);
  CHECK(cst_findings_real(read, "distinct", y) == 2);
  cst_findings_free(read);
}

TEST(weights) {
  cst_findings *read = exchanged(statistics_of(type, rows, "", "w"));
  CHECK(cst_findings_real(read, "rows_weight", row_of(read, "f")) == 3.5);
  CHECK(cst_findings_real(read, "present_weight", row_of(read, "f")) == 1.5);
  CHECK(cst_findings_real(read, "rows_weight", row_of(read, "c")) == 3.5);
  cst_findings_free(read);
}

TEST(slices) {
  cst_findings *found = statistics_of(type, rows, "c", NULL);
  char *bytes;
  size_t size;
  size_t begin, end;
  write_tfdv(NULL, found, &bytes, &size);
  cst_findings *read = read_tfdv(bytes, size, NULL);
  CHECK_EQ(cst_findings_total(read, "num_slices"), 2);
  CHECK_EQ(cst_findings_num_rows(read), cst_findings_num_rows(found));
  size_t last = cst_findings_num_rows(read) - 1;
  CHECK(cst_findings_items(read, "slice", last, &begin, &end));
  CHECK_EQ(end - begin, (size_t)1);
  CHECK_STR(cst_findings_text(read, "slice.path", begin), "c");
  CHECK_STR(cst_findings_text(read, "slice.value", begin), "Red");
  cst_findings_free(read);
  read = read_tfdv(bytes, size, "c_Blue");
  CHECK_EQ(cst_findings_total(read, "num_rows"), 2);
  cst_findings_free(read);
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_statistics_from_tfdv(bytes, size, "c_Green", NULL, &read, &error), CST_NOT_FOUND);
  cst_free(bytes);
  cst_findings_free(found);
}

TEST(data_sets_by_names) {
  cst_findings *found = statistics_of("struct{a: int64}", "{1}", "a", NULL);
  const cst_statistics_named tables[] = {{"train", found}, {"eval", found}};
  static const char *const names[] = {"train", "train/a_1", "eval", "eval/a_1"};
  char *bytes;
  size_t size;
  CHECK_EQ(cst_statistics_to_tfdv(tables, 2, &bytes, &size, NULL), CST_OK);
  for (size_t i = 0; i < 4; i++) {
    cst_findings *read = read_tfdv(bytes, size, names[i]);
    CHECK_EQ(cst_findings_total(read, "num_rows"), 1);
    CHECK_EQ(cst_findings_num_rows(read), (size_t)1);
    cst_findings_free(read);
  }
  cst_free(bytes);
  cst_findings_free(found);
}

/* A name with a dot is no path, but below a struct of that name. */
TEST(steps) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_accumulator *made;
  cst_findings *found;
  char *bytes;
  size_t size;
  arrow_text("struct{s: struct{x: int64}, a: int64}", "{{1}, 2}", &schema, &array);
  CHECK_EQ(ArrowSchemaSetName(schema.children[0]->children[0], "x.y"), 0);
  CHECK_EQ(ArrowSchemaSetName(schema.children[1], "a.b"), 0);
  CHECK_EQ(cst_accumulator_new("statistics", NULL, 0, NULL, &made, NULL), CST_OK);
  CHECK_EQ(cst_accumulator_add(made, &schema, &array, NULL, -1, NULL), CST_OK);
  CHECK_EQ(cst_accumulator_finish(made, &found, NULL), CST_OK);
  write_tfdv(NULL, found, &bytes, &size);
  CHECK(memmem(bytes, size,
               "\x42\x05\x0a\x03"
               "a.b",
               7) != NULL);                                               /* {a.b} */
  CHECK(memmem(bytes, size, "\x42\x08\x0a\x01s\x0a\x03x.y", 10) != NULL); /* {s, x.y} */
  cst_free(bytes);
  cst_findings_free(found);
  cst_accumulator_free(made);
  array.release(&array);
  schema.release(&schema);
}

TEST(bytes_that_are_no_text) {
  cst_findings *read =
      exchanged(statistics_of("struct{b: binary}", "{'\xff-\xff'} {'\xfe'}", "", NULL));
  CHECK_STR(cst_findings_text(read, "type", 0), "BYTES");
  CHECK_EQ(cst_findings_number(read, "min_length", 0), 1);
  CHECK_EQ(cst_findings_number(read, "max_length", 0), 3);
  CHECK(cst_findings_real(read, "mean_length", 0) == 2);
  cst_findings_free(read);
}

TEST(nothing) {
  char *bytes;
  size_t size;
  cst_findings *read = read_tfdv("", 0, NULL);
  CHECK_EQ(cst_findings_num_rows(read), (size_t)0);
  CHECK_EQ(cst_findings_total(read, "num_rows"), 0);
  write_tfdv(NULL, read, &bytes, &size);
  CHECK_EQ(size, (size_t)2); /* a data set of nothing */
  cst_free(bytes);
  cst_findings_free(read);
  CHECK_EQ(cst_statistics_to_tfdv(NULL, 0, &bytes, &size, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_accumulators(&read, NULL), CST_OK);
  const cst_statistics_named table = {NULL, read};
  CHECK_EQ(cst_statistics_to_tfdv(&table, 1, &bytes, &size, NULL), CST_INVALID_ARGUMENT);
  cst_findings_free(read);
}

/* Cut anywhere: never a crash, and where a message is cut, an error with a place. */
TEST(damage) {
  cst_findings *found = statistics_of(type, rows, "c", "w");
  cst_findings *read;
  cst_error error = CST_ERROR_INIT;
  char *bytes;
  size_t size;
  write_tfdv(NULL, found, &bytes, &size);
  for (size_t i = 1; i < size; i++) {
    cst_status status = cst_statistics_from_tfdv(bytes, i, NULL, NULL, &read, &error);
    CHECK(status == CST_OK || (status == CST_CORRUPT && error.offset >= 0));
    cst_findings_free(read);
  }
  /* In a feature, the place is that in all bytes. */
  CHECK_EQ(cst_statistics_from_tfdv("\x0a\x04\x1a\x02\x1a\x07", 6, NULL, NULL, &read, &error),
           CST_CORRUPT);
  CHECK_EQ(error.offset, 6);
  CHECK_EQ(cst_statistics_from_tfdv("\x0a\x03\x0a\x01\xff", 5, NULL, NULL, &read, &error),
           CST_CORRUPT);
  CHECK_EQ(error.offset, 4);
  cst_free(bytes);
  cst_findings_free(found);
}

static int exchange_within(void *context) {
  const cst_statistics_named table = {NULL, context};
  cst_findings *read = NULL;
  char *bytes = NULL;
  size_t size = 0;
  cst_status status = cst_statistics_to_tfdv(&table, 1, &bytes, &size, NULL);
  if (status == CST_OK) {
    status = cst_statistics_from_tfdv(bytes, size, NULL, NULL, &read, NULL);
  }
  cst_findings_free(read);
  cst_free(bytes);
  return (int)status;
}

TEST(no_memory) {
  cst_findings *found = statistics_of(type, rows, "c", "w");
  FOR_EACH_ALLOCATION_FAILURE(exchange_within, found, CST_NO_MEMORY);
  cst_findings_free(found);
}
