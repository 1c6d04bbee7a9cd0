/* Packing: rows whole by first fit, or split without gaps; where a batch is full; what is refused.
 */
#include "tensor_text.h"

enum { MOST = 64 };

/* Rows as a ragged, a varlen or a dense tensor. */
typedef struct rows {
  int64_t values[MOST];
  int64_t splits[MOST];
  int64_t indices[2 * MOST];
  int64_t dense_shape[2];
  int64_t shapes[4][2];
  cst_ndarray split_array;
} rows;

/* Row i has lengths[i] values: 10 * i + 1 and so on. */
static cst_tensor tensor_of(rows *r, const char *name, cst_tensor_kind kind, const int *lengths,
                            int count) {
  int64_t size = 0;
  int64_t longest = 0;
  r->splits[0] = 0;
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < lengths[i]; k++, size++) {
      r->values[size] = 10 * i + k + 1;
      r->indices[2 * size] = i;
      r->indices[2 * size + 1] = k;
    }
    longest = lengths[i] > longest ? lengths[i] : longest;
    r->splits[i + 1] = size;
  }
  r->dense_shape[0] = r->shapes[0][0] = count;
  r->dense_shape[1] = r->shapes[0][1] = longest;
  r->shapes[1][0] = size;
  r->shapes[2][0] = size;
  r->shapes[2][1] = 2;
  r->shapes[3][0] = kind == CST_TENSOR_RAGGED ? count + 1 : 2;
  const cst_ndarray values = {CST_DTYPE_INT64, 1, r->shapes[1], size, r->values, NULL};
  cst_tensor made = {.name = name, .kind = kind, .values = values};
  if (kind == CST_TENSOR_DENSE) {
    made.values.num_dims = 2;
    made.values.shape = r->shapes[0];
  } else if (kind == CST_TENSOR_RAGGED) {
    r->split_array = (cst_ndarray){CST_DTYPE_INT64, 1, r->shapes[3], count + 1, r->splits, NULL};
    made.num_splits = 1;
    made.splits = &r->split_array;
  } else {
    made.indices = (cst_ndarray){CST_DTYPE_INT64, 2, r->shapes[2], 2 * size, r->indices, NULL};
    made.dense_shape = (cst_ndarray){CST_DTYPE_INT64, 1, r->shapes[3], 2, r->dense_shape, NULL};
  }
  return made;
}

static cst_packer *packer_of(const char *name, int64_t length, int64_t num_rows, bool split) {
  const cst_pad list = {.name = name, .int_value = -1, .num_lengths = 1, .lengths = &length};
  cst_packer_options options = CST_PACKER_OPTIONS_INIT;
  cst_packer *packer = NULL;
  cst_error error = CST_ERROR_INIT;
  options.lists = &list;
  options.num_lists = 1;
  options.rows = num_rows;
  options.split = split;
  CHECK_EQ(cst_packer_new(&options, &packer, &error), CST_OK);
  CHECK_STR(error.message, "");
  return packer;
}

static void check_taken(cst_packer *packer, const char *values, const char *ids,
                        const char *positions) {
  cst_tensors *tensors = NULL;
  CHECK_EQ(cst_packer_take(packer, &tensors, NULL), CST_OK);
  CHECK_EQ(cst_tensors_num_tensors(tensors), 3);
  CHECK_STR(tensor_text(cst_tensors_find(tensors, "t")), values);
  CHECK_STR(tensor_text(cst_tensors_find(tensors, "t_segment_ids")), ids);
  CHECK_STR(tensor_text(cst_tensors_find(tensors, "t_positions")), positions);
  cst_tensors_release(tensors);
}

static void check_nothing(cst_packer *packer) {
  cst_tensors *tensors = NULL;
  CHECK_EQ(cst_packer_take(packer, &tensors, NULL), CST_OK);
  CHECK(tensors == NULL);
}

static bool add(cst_packer *packer, const cst_tensor *tensor, cst_packer_place *place) {
  bool full = false;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_packer_add(packer, tensor, 1, place, &full, &error), CST_OK);
  CHECK_STR(error.message, "");
  return full;
}

/* ---- whole rows ---- */

TEST(rows_stay_whole) {
  static const int lengths[] = {3, 2, 0, 2, 4, 1, 4};
  static const cst_tensor_kind kinds[] = {CST_TENSOR_RAGGED, CST_TENSOR_VARLEN_SPARSE,
                                          CST_TENSOR_SPARSE};
  for (size_t i = 0; i < 3; i++) {
    rows r;
    cst_tensor t = tensor_of(&r, "t", kinds[i], lengths, 7);
    cst_packer *packer = packer_of("t", 4, 3, false);
    cst_packer_place place = {0, 0};
    CHECK(add(packer, &t, &place)); /* the last row has no room */
    CHECK_EQ(place.row, 6);
    check_taken(packer, "int64[3 4] 1 2 3 51 11 12 31 32 41 42 43 44",
                "int32[3 4] 1 1 1 2 1 1 2 2 1 1 1 1", "int32[3 4] 0 1 2 0 0 1 0 1 0 1 2 3");
    CHECK(!add(packer, &t, &place));
    CHECK_EQ(place.row, 7);
    check_taken(packer, "int64[1 4] 61 62 63 64", "int32[1 4] 1 1 1 1", "int32[1 4] 0 1 2 3");
    check_nothing(packer);
    cst_packer_free(packer);
  }
}

TEST(rows_of_one_length) {
  static const int lengths[] = {2, 2, 2};
  rows r;
  cst_tensor t = tensor_of(&r, "t", CST_TENSOR_DENSE, lengths, 3);
  cst_packer *packer = packer_of("t", 5, 2, false);
  cst_packer_place place = {1, 0};
  CHECK(!add(packer, &t, &place));
  check_taken(packer, "int64[1 5] 11 12 21 22 -1", "int32[1 5] 1 1 2 2 0", "int32[1 5] 0 1 0 1 0");
  cst_packer_free(packer);
}

TEST(what_nobody_wants_is_left) {
  static const int lengths[] = {2, 2};
  rows r;
  cst_tensor t = tensor_of(&r, "t", CST_TENSOR_RAGGED, lengths, 2);
  cst_packer *packer = packer_of("t", 2, 1, false);
  cst_packer_place place = {0, 0};
  CHECK(add(packer, &t, &place));
  CHECK_EQ(cst_packer_take(packer, NULL, NULL), CST_OK);
  CHECK(!add(packer, &t, &place));
  check_taken(packer, "int64[1 2] 11 12", "int32[1 2] 1 1", "int32[1 2] 0 1");
  cst_packer_free(packer);
}

/* All lists of a row have to fit, and the parts of both have one number. */
TEST(several_lists) {
  static const int of_t[] = {2, 1, 3, 0};
  static const int of_u[] = {1, 2, 0, 1};
  const int64_t lengths[] = {4, 3};
  const cst_pad lists[] = {{.name = "u", .num_lengths = 1, .lengths = &lengths[1]},
                           {.name = "t", .num_lengths = 1, .lengths = &lengths[0]}};
  cst_packer_options options = CST_PACKER_OPTIONS_INIT;
  cst_packer *packer = NULL;
  rows r[2];
  options.lists = lists;
  options.num_lists = 2;
  options.rows = 2;
  CHECK_EQ(cst_packer_new(&options, &packer, NULL), CST_OK);
  const cst_tensor tensors[] = {tensor_of(&r[0], "t", CST_TENSOR_RAGGED, of_t, 4),
                                tensor_of(&r[1], "u", CST_TENSOR_VARLEN_SPARSE, of_u, 4)};
  cst_packer_place place = {0, 0};
  bool full = true;
  CHECK_EQ(cst_packer_add(packer, tensors, 2, &place, &full, NULL), CST_OK);
  CHECK(!full);
  cst_tensors *made = NULL;
  CHECK_EQ(cst_packer_take(packer, &made, NULL), CST_OK);
  CHECK_EQ(cst_tensors_num_tensors(made), 6);
  for (size_t i = 1; i < 6; i++) {
    CHECK(strcmp(cst_tensors_get(made, i - 1)->name, cst_tensors_get(made, i)->name) < 0);
  }
  CHECK_STR(tensor_text(cst_tensors_find(made, "t")), "int64[2 4] 1 2 11 0 21 22 23 0");
  CHECK_STR(tensor_text(cst_tensors_find(made, "t_segment_ids")), "int32[2 4] 1 1 2 0 1 1 1 0");
  CHECK_STR(tensor_text(cst_tensors_find(made, "u")), "int64[2 3] 1 11 12 31 0 0");
  CHECK_STR(tensor_text(cst_tensors_find(made, "u_segment_ids")), "int32[2 3] 1 2 2 2 0 0");
  cst_tensors_release(made);
  cst_packer_free(packer);
}

TEST(long_rows_are_cut_if_wanted) {
  static const int lengths[] = {5, 1};
  const int64_t length = 3;
  const cst_pad list = {.name = "t", .num_lengths = 1, .lengths = &length, .truncate = true};
  cst_packer_options options = CST_PACKER_OPTIONS_INIT;
  cst_packer *packer = NULL;
  rows r;
  options.lists = &list;
  options.num_lists = 1;
  options.rows = 2;
  CHECK_EQ(cst_packer_new(&options, &packer, NULL), CST_OK);
  cst_tensor t = tensor_of(&r, "t", CST_TENSOR_RAGGED, lengths, 2);
  cst_packer_place place = {0, 0};
  CHECK(!add(packer, &t, &place));
  check_taken(packer, "int64[2 3] 1 2 3 11 0 0", "int32[2 3] 1 1 1 1 0 0",
              "int32[2 3] 0 1 2 0 0 0");
  cst_packer_free(packer);
}

/* ---- rows that are split ---- */

TEST(rows_go_on_in_the_next) {
  static const int lengths[] = {1, 2, 3, 4, 5, 6, 7, 1, 2};
  rows r;
  cst_tensor t = tensor_of(&r, "t", CST_TENSOR_RAGGED, lengths, 9);
  cst_packer *packer = packer_of("t", 6, 2, true);
  cst_packer_place place = {0, 0};
  CHECK(add(packer, &t, &place)); /* 5 values of row 4 are left */
  CHECK_EQ(place.row, 4);
  CHECK_EQ(place.value, 2);
  check_taken(packer, "int64[2 6] 1 11 12 21 22 23 31 32 33 34 41 42",
              "int32[2 6] 1 2 2 3 3 3 1 1 1 1 2 2", "int32[2 6] 0 0 1 0 1 2 0 1 2 3 0 1");
  CHECK(add(packer, &t, &place));
  check_taken(packer, "int64[2 6] 43 44 45 51 52 53 54 55 56 61 62 63",
              "int32[2 6] 1 1 1 2 2 2 1 1 1 2 2 2", "int32[2 6] 0 1 2 0 1 2 0 1 2 0 1 2");
  CHECK(!add(packer, &t, &place));
  check_taken(packer, "int64[2 6] 64 65 66 67 71 81 82 -1 -1 -1 -1 -1",
              "int32[2 6] 1 1 1 1 2 3 1 0 0 0 0 0", "int32[2 6] 0 1 2 3 0 0 0 0 0 0 0 0");
  cst_packer_free(packer);
}

/* A row that is longer than a batch; taken up in its middle. */
TEST(a_row_of_several_batches) {
  static const int lengths[] = {9};
  rows r;
  cst_tensor t = tensor_of(&r, "t", CST_TENSOR_VARLEN_SPARSE, lengths, 1);
  cst_packer *packer = packer_of("t", 2, 2, true);
  cst_packer_place place = {0, 3};
  CHECK(add(packer, &t, &place));
  CHECK_EQ(place.value, 7);
  check_taken(packer, "int64[2 2] 4 5 6 7", "int32[2 2] 1 1 1 1", "int32[2 2] 0 1 0 1");
  CHECK(!add(packer, &t, &place));
  CHECK_EQ(place.row, 1);
  CHECK_EQ(place.value, 0);
  check_taken(packer, "int64[1 2] 8 9", "int32[1 2] 1 1", "int32[1 2] 0 1");
  cst_packer_free(packer);
}

/* ---- types ---- */

TEST(values_of_every_width) {
  static const int lengths[] = {2, 1};
  int16_t small[] = {7, 8, 9};
  double wide[] = {0.5, 1.5, 2.5};
  uint8_t bits[] = {1, 0, 1};
  int32_t narrow_splits[] = {0, 2, 3};
  rows r;
  cst_tensor t = tensor_of(&r, "t", CST_TENSOR_RAGGED, lengths, 2);
  const struct {
    cst_dtype dtype;
    const void *data;
    const char *expected;
  } cases[] = {{CST_DTYPE_INT16, small, "int16[1 4] 7 8 9 0"},
               {CST_DTYPE_FLOAT64, wide, "float64[1 4] 0.5 1.5 2.5 0.25"},
               {CST_DTYPE_BOOL, bits, "bool[1 4] 1 0 1 0"}};
  r.split_array.dtype = CST_DTYPE_INT32;
  r.split_array.data = narrow_splits;
  for (size_t i = 0; i < 3; i++) {
    const int64_t length = 4;
    const cst_pad list = {.name = "t", .float_value = 0.25, .num_lengths = 1, .lengths = &length};
    cst_packer_options options = CST_PACKER_OPTIONS_INIT;
    cst_packer *packer = NULL;
    options.lists = &list;
    options.num_lists = 1;
    options.rows = 1;
    CHECK_EQ(cst_packer_new(&options, &packer, NULL), CST_OK);
    cst_packer_place place = {0, 0};
    t.values.dtype = cases[i].dtype;
    t.values.data = cases[i].data;
    CHECK(!add(packer, &t, &place));
    check_taken(packer, cases[i].expected, "int32[1 4] 1 1 2 0", "int32[1 4] 0 1 0 0");
    cst_packer_free(packer);
  }
}

/* ---- what is refused ---- */

static void check_add(cst_packer *packer, const cst_tensor *tensors, size_t count,
                      cst_packer_place place, cst_status expected, const char *message) {
  bool full;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_packer_add(packer, tensors, count, &place, &full, &error), expected);
  CHECK_CONTAINS(error.message, message);
}

TEST(rows_that_do_not_fit_are_named) {
  static const int lengths[] = {1, 5, 1};
  rows r;
  cst_tensor t = tensor_of(&r, "t", CST_TENSOR_RAGGED, lengths, 3);
  cst_packer *packer = packer_of("t", 4, 2, false);
  cst_packer_place place = {0, 0};
  bool full;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_packer_add(packer, &t, 1, &place, &full, &error), CST_SCHEMA);
  CHECK_CONTAINS(error.message, "a list of 5 values, but a packed row has 4");
  CHECK_EQ(error.record, 1);
  CHECK_STR(error.path, "t");
  CHECK_EQ(place.row, 1);
  place.row = 2; /* it can go on behind */
  CHECK(!add(packer, &t, &place));
  check_taken(packer, "int64[1 4] 1 21 -1 -1", "int32[1 4] 1 2 0 0", "int32[1 4] 0 0 0 0");
  cst_packer_free(packer);
}

TEST(wrong_tensors) {
  static const int lengths[] = {1, 2};
  const cst_packer_place begin = {0, 0};
  cst_packer *packer = packer_of("t", 4, 2, false);
  rows r;
  cst_tensor t = tensor_of(&r, "u", CST_TENSOR_RAGGED, lengths, 2);
  check_add(packer, &t, 1, begin, CST_NOT_FOUND, "no tensor of this name");
  t.name = "t";
  check_add(packer, &t, 1, (cst_packer_place){3, 0}, CST_INVALID_ARGUMENT, "the batch has 2 rows");
  check_add(packer, &t, 1, (cst_packer_place){0, 1}, CST_INVALID_ARGUMENT, "value 1 of row 0");
  t.num_splits = 2;
  check_add(packer, &t, 1, begin, CST_SCHEMA, "only lists of single values");
  t = tensor_of(&r, "t", CST_TENSOR_RAGGED, lengths, 2);
  r.splits[1] = 4;
  check_add(packer, &t, 1, begin, CST_INVALID_ARGUMENT, "do not divide the values");
  t = tensor_of(&r, "t", CST_TENSOR_RAGGED, lengths, 2);
  t.values.dtype = CST_DTYPE_BYTES;
  t.values.strings = (const cst_bytes[3]){{NULL, 0}, {NULL, 0}, {NULL, 0}};
  check_add(packer, &t, 1, begin, CST_UNSUPPORTED, "strings cannot be packed");
  t = tensor_of(&r, "t", CST_TENSOR_VARLEN_SPARSE, lengths, 2);
  r.indices[0] = 1;
  r.indices[2] = 0;
  check_add(packer, &t, 1, begin, CST_INVALID_ARGUMENT, "not in order");
  t = tensor_of(&r, "t", CST_TENSOR_VARLEN_SPARSE, lengths, 2);
  r.dense_shape[0] = 1;
  check_add(packer, &t, 1, begin, CST_INVALID_ARGUMENT, "not in order");
  t = tensor_of(&r, "t", CST_TENSOR_RAGGED, lengths, 2);
  check_add(packer, &t, 1, begin, CST_OK, "");
  t.values.dtype = CST_DTYPE_UINT64;
  check_add(packer, &t, 1, begin, CST_SCHEMA,
            "values of uint64, those of batches before are int64");
  cst_packer_free(packer);
  packer = packer_of("t", 4, 2, true); /* -1 for empty places */
  check_add(packer, &t, 1, begin, CST_INVALID_ARGUMENT, "does not fit the type");
  cst_packer_free(packer);
}

TEST(lists_of_split_rows_have_one_length) {
  static const int of_t[] = {2, 1};
  static const int of_u[] = {2, 2};
  const int64_t length = 4;
  const cst_pad lists[] = {{.name = "t", .num_lengths = 1, .lengths = &length},
                           {.name = "u", .num_lengths = 1, .lengths = &length}};
  cst_packer_options options = CST_PACKER_OPTIONS_INIT;
  cst_packer *packer = NULL;
  rows r[2];
  options.lists = lists;
  options.num_lists = 2;
  options.rows = 2;
  options.split = true;
  CHECK_EQ(cst_packer_new(&options, &packer, NULL), CST_OK);
  const cst_tensor tensors[] = {tensor_of(&r[0], "t", CST_TENSOR_RAGGED, of_t, 2),
                                tensor_of(&r[1], "u", CST_TENSOR_RAGGED, of_u, 2)};
  check_add(packer, tensors, 2, (cst_packer_place){0, 0}, CST_SCHEMA,
            "a list of 2 values, and 't' has one of 1");
  cst_packer_free(packer);
}

static void check_refused(cst_packer_options options, const char *message) {
  cst_packer *packer = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_packer_new(&options, &packer, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, message);
  CHECK(packer == NULL);
}

TEST(wrong_options) {
  const int64_t lengths[] = {4, 0, INT64_MAX, 5};
  const cst_pad good = {.name = "t", .num_lengths = 1, .lengths = lengths};
  cst_packer_options options = CST_PACKER_OPTIONS_INIT;
  options.rows = 2;
  check_refused(options, "nothing to pack");
  cst_pad lists[] = {good, good};
  options.lists = lists;
  options.num_lists = 1;
  options.rows = 0;
  check_refused(options, "has 0 rows");
  options.rows = 2;
  lists[0].name = NULL;
  check_refused(options, "has no name");
  lists[0] = good;
  lists[0].lengths = &lengths[1];
  check_refused(options, "has one length");
  lists[0].lengths = &lengths[2];
  check_refused(options, "more than 4 GiB");
  lists[0] = good;
  options.num_lists = 2;
  check_refused(options, "packed twice");
  lists[1].name = "u";
  lists[1].lengths = &lengths[3];
  options.split = true;
  check_refused(options, "have one length");
  options.size = 1;
  check_refused(options, "the size of the options");
}

/* ---- out of memory ---- */

static int pack_and_take(void *context) {
  const int64_t length = 3;
  const cst_pad list = {.name = "t", .num_lengths = 1, .lengths = &length};
  cst_packer_options options = CST_PACKER_OPTIONS_INIT;
  cst_packer *packer = NULL;
  cst_tensors *tensors = NULL;
  cst_packer_place place = {0, 0};
  bool full;
  options.lists = &list;
  options.num_lists = 1;
  options.rows = 2;
  cst_status status = cst_packer_new(&options, &packer, NULL);
  if (status == CST_OK) {
    status = cst_packer_add(packer, context, 1, &place, &full, NULL);
  }
  if (status == CST_OK) {
    status = cst_packer_take(packer, &tensors, NULL);
  }
  cst_tensors_release(tensors);
  cst_packer_free(packer);
  return (int)status;
}

TEST(out_of_memory) {
  static const int lengths[] = {2, 3};
  rows r;
  cst_tensor t = tensor_of(&r, "t", CST_TENSOR_VARLEN_SPARSE, lengths, 2);
  FOR_EACH_ALLOCATION_FAILURE(pack_and_take, &t, CST_NO_MEMORY);
  t = tensor_of(&r, "t", CST_TENSOR_RAGGED, lengths, 2);
  FOR_EACH_ALLOCATION_FAILURE(pack_and_take, &t, CST_NO_MEMORY);
}
