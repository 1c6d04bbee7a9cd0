/* Padding: every kind of tensor made dense, its lengths, and rows that are too long.
 */
#include "tensor_text.h"

#define NESTED_TENSOR "ragged_tensor { feature_path { step: 's' step: 'a' } }"

enum { LONGEST = -1 };

typedef struct padded {
  const char *type;
  const char *rows;
  const char *schema;
  int64_t lengths[2];
  size_t num_lengths;
  bool truncate;
  const char *expected;
} padded;

static cst_status convert_padded(tensor_fixture *f, const cst_pad *pads, size_t count) {
  const cst_tensor_options options = {.size = sizeof options, .pads = pads, .num_pads = count};
  cst_status status =
      cst_tensor_adapter_new(&f->schema, f->specs, &options, &f->adapter, &f->error);
  if (status != CST_OK) return status;
  struct ArrowArray lent = lend(&f->array, &f->releases);
  return cst_tensor_adapter_convert(f->adapter, &lent, 0, &f->tensors, &f->error);
}

static cst_pad pad_of(const padded *c) {
  return (cst_pad){.name = "t",
                   .int_value = 9,
                   .float_value = 0.5,
                   .bytes_value = {(const uint8_t *)"-", 1},
                   .num_lengths = c->num_lengths,
                   .lengths = c->lengths,
                   .truncate = c->truncate};
}

TEST(bools_are_padded_with_bools) {
  tensor_fixture f;
  cst_pad pad = {.name = "t", .int_value = 1};
  fixture_make(&f, "struct{x: list<bool>}", "{[1]} {[0, 0]} {null}", INT("x") VARLEN);
  CHECK_EQ(convert_padded(&f, &pad, 1), CST_OK);
  CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "t")), "bool[3 2] 1 1 0 0 1 1");
  fixture_drop(&f);
  pad.int_value = 2;
  fixture_make(&f, "struct{x: list<bool>}", "", INT("x") VARLEN);
  CHECK_EQ(convert_padded(&f, &pad, 1), CST_INVALID_ARGUMENT);
  CHECK_STR(f.error.message, "the padding 2 does not fit bool");
  fixture_drop(&f);
}

#define DEEP "struct{x: list<list<int64>>}"
#define DEEP_ROWS "{[[1], [2, 3]]} {null} {[[4, 5, 6]]}"

static const padded cases[] = {
    /* varlen */
    {"struct{x: large_list<int64>}",
     "{[1, 2]} {null} {[]} {[3]}",
     INT("x") VARLEN,
     {3},
     1,
     false,
     "int64[4 3] 1 2 9 9 9 9 9 9 9 3 9 9"},
    {"struct{x: large_list<int64>}",
     "{[1, 2]} {null} {[3]}",
     INT("x") VARLEN,
     {LONGEST},
     1,
     false,
     "int64[3 2] 1 2 9 9 3 9"},
    {"struct{x: large_list<int64>}",
     "{[1, 2]} {null} {[3]}",
     INT("x") VARLEN,
     {0},
     0,
     false,
     "int64[3 2] 1 2 9 9 3 9"},
    {"struct{x: large_list<int64>}",
     "{[1, 2]} {null} {[3]}",
     INT("x") VARLEN,
     {1},
     1,
     true,
     "int64[3 1] 1 9 3"},
    {"struct{x: large_list<int64>}", "{[1, 2]} {[3]}", INT("x") VARLEN, {0}, 1, true, "int64[2 0]"},
    {"struct{x: large_list<int64>}", "", INT("x") VARLEN, {2}, 1, false, "int64[0 2]"},
    {"struct{x: large_list<int64>}",
     "{[]} {null}",
     INT("x") VARLEN,
     {LONGEST},
     1,
     false,
     "int64[2 0]"},
    {"struct{x: list<float32>}",
     "{[1]} {[2, 3]}",
     FLOAT("x") VARLEN,
     {2},
     1,
     false,
     "float32[2 2] 1 0.5 2 3"},
    {"struct{x: list<float64>}",
     "{[1]} {[2, 3]}",
     FLOAT("x") VARLEN,
     {2},
     1,
     false,
     "float64[2 2] 1 0.5 2 3"},
    {"struct{x: list<string>}",
     "{['a']} {['b', 'cd']}",
     BYTES("x") VARLEN,
     {2},
     1,
     false,
     "bytes[2 2] a - b cd"},
    {"struct{x: list<int8>}",
     "{[1]} {[2, 3]}",
     INT("x") VARLEN,
     {2},
     1,
     false,
     "int8[2 2] 1 9 2 3"},
    {"struct{x: list<uint16>}",
     "{[1]} {[2, 3]}",
     INT("x") VARLEN,
     {2},
     1,
     false,
     "uint16[2 2] 1 9 2 3"},
    {"struct{x: list<int32>}",
     "{[1]} {[2, 3]}",
     INT("x") VARLEN,
     {2},
     1,
     false,
     "int32[2 2] 1 9 2 3"},
    /* sparse of rank 1 */
    {"struct{x: int16}",
     "{1} {null} {-2}",
     INT("x") SPARSE_0(""),
     {0},
     0,
     false,
     "int16[3] 1 9 -2"},
    {"struct{x: string}", "{null} {'ab'}", BYTES("x") SPARSE_0(""), {0}, 0, false, "bytes[2] - ab"},
    {"struct{x: string}", "", BYTES("x") SPARSE_0(""), {0}, 0, false, "bytes[0]"},
    {"struct{x: null}", "{null} {null}", INT("x") VARLEN, {2}, 1, false, "int64[2 2] 9 9 9 9"},
    {"struct{x: int64}", "{1} {null}", INT("x") VARLEN, {2}, 1, false, "int64[2 2] 1 9 9 9"},
    /* ragged */
    {"struct{x: list<int64>}",
     "{[1, 2]} {null} {[3]}",
     INT("x") RAGGED(""),
     {3},
     1,
     false,
     "int64[3 3] 1 2 9 9 9 9 3 9 9"},
    {DEEP,
     DEEP_ROWS,
     INT("x") RAGGED(""),
     {2, 3},
     2,
     false,
     "int64[3 2 3] 1 9 9 2 3 9 9 9 9 9 9 9 4 5 6 9 9 9"},
    {DEEP,
     DEEP_ROWS,
     INT("x") RAGGED("row_partition_dtype: INT32"),
     {0},
     0,
     false,
     "int64[3 2 3] 1 9 9 2 3 9 9 9 9 9 9 9 4 5 6 9 9 9"},
    {DEEP, DEEP_ROWS, INT("x") RAGGED(""), {LONGEST, 1}, 2, true, "int64[3 2 1] 1 2 9 9 4 9"},
    {DEEP, DEEP_ROWS, INT("x") RAGGED(""), {1, LONGEST}, 2, true, "int64[3 1 3] 1 9 9 9 9 9 4 5 6"},
    {"struct{x: list<int64>}",
     "{[1, 2, 3, 4]} {[]} {[5, 6]}",
     INT("x") RAGGED(UNIFORM("2")),
     {3},
     1,
     false,
     "int64[3 3 2] 1 2 3 4 9 9 9 9 9 9 9 9 5 6 9 9 9 9"},
    {"struct{x: list<int64>, n: list<int64>}",
     "{[1, 2, 3], [2, 1]} {[4], [1]}",
     INT("x") INT("n") RAGGED(LENGTHS("n")),
     {2, 2},
     2,
     false,
     "int64[2 2 2] 1 2 3 9 4 9 9 9"},
    {"struct{x: list<int64>, n: list<int64>}",
     "{[1, 2, 3], [2, 1]} {[], []} {[4, 5], [0, 2]}",
     INT("x") INT("n") RAGGED(UNIFORM("2") LENGTHS("n")),
     {1, 2},
     2,
     false,
     "int64[3 1 2 2] 1 2 3 9 9 9 9 9 9 9 4 5"},
    {"struct{s: list<struct{a: list<int64>}>}",
     "{[{[1]}, {[2, 3]}]} {null}",
     STRUCT("s", INT("a")) TENSOR(NESTED_TENSOR),
     {2, 2},
     2,
     false,
     "int64[2 2 2] 1 9 2 3 9 9 9 9"},
    {"struct{s: list<struct{a: null}>}",
     "{[{null}]} {null}",
     STRUCT("s", INT("a")) TENSOR(NESTED_TENSOR),
     {1, 2},
     2,
     false,
     "int64[2 1 2] 9 9 9 9"},
    /* sparse */
    {"struct{x: list<int64>, i: list<int64>}",
     "{[1, 2], [3, 0]} {null, null} {[4], [1]}",
     INT("x") INT("i") SPARSE_1(DIM("4"), ""),
     {0},
     0,
     false,
     "int64[3 4] 2 9 9 1 9 9 9 9 9 4 9 9"},
    {"struct{x: list<int64>, i: list<int64>}",
     "{[1, 2], [3, 0]} {[4], [1]}",
     INT("x") INT("i") SPARSE_1(DIM("-1"), ""),
     {LONGEST},
     1,
     false,
     "int64[2 4] 2 9 9 1 9 4 9 9"},
    {"struct{x: list<int64>, i: list<int64>}",
     "{[1, 2], [3, 0]} {[4], [1]}",
     INT("x") INT("i") SPARSE_1(DIM("-1"), ""),
     {2},
     1,
     true,
     "int64[2 2] 2 9 9 4"},
    {"struct{x: list<string>, i: list<int64>, j: list<int64>}",
     "{['a', 'b'], [0, 1], [1, 0]} {['c'], [1], [1]}",
     BYTES("x") INT("i") INT("j") SPARSE_2(DIM("2") DIM("-1")),
     {2},
     1,
     false,
     "bytes[2 2 2] - a b - - - - c"},
};

TEST(every_kind) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tensor_fixture f;
    const cst_pad pad = pad_of(&cases[i]);
    fixture_make(&f, cases[i].type, cases[i].rows, cases[i].schema);
    cst_status status = convert_padded(&f, &pad, 1);
    if (status != CST_OK) printf("case %zu: %s\n", i, f.error.message);
    CHECK_EQ(status, CST_OK);
    const cst_tensor *t = cst_tensors_find(f.tensors, "t");
    CHECK_EQ(t->kind, CST_TENSOR_DENSE);
    CHECK_EQ(t->num_splits, 0);
    CHECK_EQ(t->indices.num_dims, 0);
    CHECK_STR(tensor_text(t), cases[i].expected);
    fixture_drop(&f);
  }
}

/* ---- sizes to choose from ---- */

#define SPARSE_PAIR "struct{x: list<int64>, i: list<int64>}", "{[1, 2], [3, 0]} {[4], [1]}"

static const int64_t ascending[] = {1, 3, 5};

static const struct {
  const char *type;
  const char *rows;
  const char *schema;
  size_t num_sizes[2];
  size_t num_lengths;
  bool truncate;
  const char *expected; /* NULL: CST_SCHEMA */
} choices[] = {
    {DEEP,
     DEEP_ROWS,
     INT("x") RAGGED(""),
     {2, 0},
     2,
     true, /* 2 lists in 3 places, 2 of 3 values */
     "int64[3 3 2] 1 9 2 3 9 9 9 9 9 9 9 9 4 5 9 9 9 9"},
    {DEEP,
     DEEP_ROWS,
     INT("x") RAGGED(""),
     {0, 3},
     2,
     false,
     "int64[3 2 3] 1 9 9 2 3 9 9 9 9 9 9 9 4 5 6 9 9 9"},
    {DEEP, DEEP_ROWS, INT("x") RAGGED(""), {1, 1}, 2, true, "int64[3 1 1] 1 9 4"},
    {DEEP, DEEP_ROWS, INT("x") RAGGED(""), {1, 3}, 2, false, NULL},
    {"struct{x: large_list<int64>}",
     "{[]} {null}",
     INT("x") VARLEN,
     {3},
     1,
     false,
     "int64[2 1] 9 9"},
    {"struct{x: large_list<int64>}",
     "{[7]} {null}",
     INT("x") VARLEN,
     {3},
     1,
     false,
     "int64[2 1] 7 9"},
    {"struct{x: large_list<int64>}",
     "{[7, 8]}",
     INT("x") VARLEN,
     {3},
     1,
     false,
     "int64[1 3] 7 8 9"},
    {"struct{x: large_list<int64>}",
     "{[1, 2, 3, 4]}",
     INT("x") VARLEN,
     {2},
     1,
     true,
     "int64[1 3] 1 2 3"},
    {"struct{x: large_list<int64>}", "{[1, 2, 3, 4]}", INT("x") VARLEN, {2}, 1, false, NULL},
    {SPARSE_PAIR,
     INT("x") INT("i") SPARSE_1(DIM("-1"), ""),
     {3},
     1,
     false,
     "int64[2 5] 2 9 9 1 9 9 4 9 9 9"},
    {SPARSE_PAIR,
     INT("x") INT("i") SPARSE_1(DIM("-1"), ""),
     {2},
     1,
     true,
     "int64[2 3] 2 9 9 9 4 9"},
    {SPARSE_PAIR, INT("x") INT("i") SPARSE_1(DIM("-1"), ""), {2}, 1, false, NULL},
};

TEST(the_next_of_several_sizes) {
  for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
    tensor_fixture f;
    const int64_t lengths[] = {2, 2};
    const cst_pad_sizes sizes[] = {{choices[i].num_sizes[0], ascending},
                                   {choices[i].num_sizes[1], ascending}};
    const cst_pad pad = {.name = "t",
                         .int_value = 9,
                         .num_lengths = choices[i].num_lengths,
                         .lengths = lengths,
                         .sizes = sizes,
                         .truncate = choices[i].truncate};
    fixture_make(&f, choices[i].type, choices[i].rows, choices[i].schema);
    bool fits = choices[i].expected != NULL;
    CHECK_EQ(convert_padded(&f, &pad, 1), fits ? CST_OK : CST_SCHEMA);
    if (fits) {
      CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "t")), choices[i].expected);
    }
    fixture_drop(&f);
  }
}

TEST(slices) {
  tensor_fixture f;
  const int64_t lengths[] = {2};
  const cst_pad pad = {.name = "t", .int_value = 9, .num_lengths = 1, .lengths = lengths};
  fixture_make(&f, "struct{x: large_list<int64>}", "{[1, 2, 3]} {null} {[4]} {[5, 6]} {[7, 8, 9]}",
               INT("x") VARLEN);
  arrow_text_slice(&f.array, 1, 3);
  CHECK_EQ(convert_padded(&f, &pad, 1), CST_OK);
  CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "t")), "int64[3 2] 9 9 4 9 5 6");
  fixture_drop(&f);
}

TEST(fields_of_structured_tensors) {
  tensor_fixture f;
  const int64_t lengths[] = {2, 2};
  const cst_pad pads[] = {
      {.name = "t.x", .int_value = 9, .num_lengths = 1, .lengths = lengths},
      {.name = "t.s.a", .int_value = 8, .num_lengths = 2, .lengths = lengths},
  };
  fixture_make(&f, "struct{x: list<int64>, s: list<struct{a: list<int64>}>}",
               "{[1], [{[2]}]} {null, null}",
               INT("x") STRUCT("s", INT("a"))
                   TENSOR("structured_tensor { column_names: 's' column_names: 'x' }"));
  CHECK_EQ(convert_padded(&f, pads, 2), CST_OK);
  const cst_tensor *t = cst_tensors_find(f.tensors, "t");
  CHECK_STR(tensor_text(&t->fields[1]), "int64[2 2] 1 9 9 9");
  CHECK_STR(tensor_text(&t->fields[0].fields[0]), "int64[2 2 2] 2 8 8 8 8 8 8 8");
  fixture_drop(&f);
}

TEST(padding_outlives_its_adapter) {
  tensor_fixture f;
  const cst_pad pad = {.name = "t", .bytes_value = {(const uint8_t *)"padding", 7}};
  fixture_make(&f, "struct{x: list<string>}", "{['a']} {null} {['b', 'c']}", BYTES("x") VARLEN);
  CHECK_EQ(convert_padded(&f, &pad, 1), CST_OK);
  cst_tensor_adapter_free(f.adapter);
  f.adapter = NULL;
  CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "t")),
            "bytes[3 2] a padding padding padding b c");
  fixture_drop(&f);
}

/* ---- failures ---- */

typedef struct refusal {
  padded pad;
  int64_t row;
  const char *message;
} refusal;

static const refusal refusals[] = {
    {{"struct{x: list<int64>}", "{[1]} {[1, 2, 3]}", INT("x") VARLEN, {2}, 1, false, NULL},
     1,
     "a list of 3 items, but its padding is for 2"},
    {{"struct{x: list<list<int64>>}",
      "{[[1]]} {[]} {[[], [1, 2, 3]]}",
      INT("x") RAGGED(""),
      {2, 2},
      2,
      false,
      NULL},
     2,
     "a list of 3 items, but its padding is for 2"},
    {{"struct{x: list<list<int64>>}",
      "{[[1]]} {[[], [1], []]}",
      INT("x") RAGGED(""),
      {2, LONGEST},
      2,
      false,
      NULL},
     1,
     "a list of 3 items, but its padding is for 2"},
    {{"struct{x: list<int64>, i: list<int64>}",
      "{[1], [0]} {[1, 2], [0, 5]}",
      INT("x") INT("i") SPARSE_1(DIM("-1"), ""),
      {2},
      1,
      false,
      NULL},
     1,
     "index 5 in column 'i', but its padding is for 2"},
    {{"struct{x: list<int64>, i: list<int64>}",
      "{[1], [0]} {[1, 2], [1, 1]}",
      INT("x") INT("i") SPARSE_1(DIM("-1"), ""),
      {2},
      1,
      false,
      NULL},
     1,
     "two values for one place"},
};

TEST(rows_that_are_too_long_are_named) {
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    tensor_fixture f;
    const cst_pad pad = pad_of(&refusals[i].pad);
    fixture_make(&f, refusals[i].pad.type, refusals[i].pad.rows, refusals[i].pad.schema);
    CHECK_EQ(convert_padded(&f, &pad, 1), CST_SCHEMA);
    CHECK_CONTAINS(f.error.message, refusals[i].message);
    CHECK_EQ(f.error.record, refusals[i].row);
    CHECK_STR(f.error.path, "t");
    fixture_drop(&f);
  }
}

static void check_refused(const char *type, const char *schema, const cst_pad *pads, size_t count,
                          cst_status expected, const char *message) {
  tensor_fixture f;
  fixture_make(&f, type, "", schema);
  CHECK_EQ(convert_padded(&f, pads, count), expected);
  CHECK_CONTAINS(f.error.message, message);
  CHECK(pads[0].name == NULL || strcmp(f.error.path, pads[0].name) == 0);
  fixture_drop(&f);
}

TEST(wrong_pads) {
  const int64_t lengths[] = {2, -2};
  const char *type = "struct{x: list<int8>}";
  const char *schema = INT("x") VARLEN;
  cst_pad pad = {.name = "u"};
  check_refused(type, schema, &pad, 1, CST_NOT_FOUND, "no tensor of this name");
  pad = (cst_pad){.name = "t.x"};
  check_refused(type, schema, &pad, 1, CST_NOT_FOUND, "no tensor of this name");
  pad = (cst_pad){.name = NULL};
  check_refused(type, schema, &pad, 1, CST_INVALID_ARGUMENT, "has no name");
  pad = (cst_pad){.name = "t", .num_lengths = 1};
  check_refused(type, schema, &pad, 1, CST_INVALID_ARGUMENT, "no lengths");
  pad = (cst_pad){.name = "t", .num_lengths = 2, .lengths = lengths};
  check_refused(type, schema, &pad, 1, CST_INVALID_ARGUMENT,
                "2 lengths for the padding, but 1 dimensions");
  pad = (cst_pad){.name = "t", .num_lengths = 1, .lengths = lengths + 1};
  check_refused(type, schema, &pad, 1, CST_INVALID_ARGUMENT, "negative");
  const int64_t falling[] = {2, 4, 4};
  const cst_pad_sizes wrong[] = {{3, falling}, {1, &lengths[1]}, {1, NULL}};
  for (size_t i = 0; i < 3; i++) {
    pad = (cst_pad){.name = "t", .num_lengths = 1, .lengths = lengths, .sizes = &wrong[i]};
    check_refused(type, schema, &pad, 1, CST_INVALID_ARGUMENT, i < 2 ? "ascend" : "no sizes");
  }
  pad = (cst_pad){.name = "t", .int_value = 128};
  check_refused(type, schema, &pad, 1, CST_INVALID_ARGUMENT, "128 does not fit int8");
  const cst_pad two[] = {{.name = "t"}, {.name = "t"}};
  check_refused(type, schema, two, 2, CST_INVALID_ARGUMENT, "padded twice");
  check_refused(type, INT("x") DENSE(""), two, 1, CST_INVALID_ARGUMENT, "is dense");
  check_refused(type, INT("x") TENSOR("structured_tensor { column_names: 'x' }"), two, 1,
                CST_INVALID_ARGUMENT, "is structured");
  pad = (cst_pad){.name = "t", .float_value = 1e300};
  check_refused("struct{x: list<float32>}", FLOAT("x") VARLEN, &pad, 1, CST_INVALID_ARGUMENT,
                "does not fit float32");
}

TEST(huge_blocks_are_refused) {
  tensor_fixture f;
  const int64_t lengths[] = {INT64_MAX, INT64_MAX};
  const cst_pad pad = {.name = "t", .num_lengths = 2, .lengths = lengths};
  fixture_make(&f, "struct{x: list<list<int64>>}", "{[[1]]} {null}", INT("x") RAGGED(""));
  CHECK_EQ(convert_padded(&f, &pad, 1), CST_LIMIT);
  CHECK_STR(f.error.path, "t");
  fixture_drop(&f);
  const cst_pad sparse = {.name = "t"};
  fixture_make(&f, "struct{x: list<int64>, i: list<int64>}", "{[1], [9223372036854775807]}",
               INT("x") INT("i") SPARSE_1(DIM("-1"), ""));
  CHECK_EQ(convert_padded(&f, &sparse, 1), CST_LIMIT);
  fixture_drop(&f);
}

/* ---- out of memory ---- */

typedef struct conversion {
  const tensor_fixture *fixture;
  size_t num_lengths;
} conversion;

static int convert_case(void *context) {
  const conversion *own = context;
  tensor_fixture f = *own->fixture;
  const cst_pad pad = pad_of(&cases[0]);
  const cst_pad_sizes sizes[] = {{3, ascending}, {3, ascending}};
  const cst_pad all = {.name = "t",
                       .bytes_value = pad.bytes_value,
                       .num_lengths = own->num_lengths,
                       .lengths = pad.lengths,
                       .truncate = true,
                       .sizes = sizes};
  const cst_tensor_options options = {.size = sizeof options, .pads = &all, .num_pads = 1};
  struct ArrowArray lent = lend(&f.array, NULL);
  cst_tensors *tensors = NULL;
  cst_status status = cst_tensor_adapter_new(&f.schema, f.specs, &options, &f.adapter, NULL);
  if (status == CST_OK) {
    status = cst_tensor_adapter_convert(f.adapter, &lent, 0, &tensors, NULL);
  }
  cst_tensors_release(tensors);
  cst_tensor_adapter_free(f.adapter);
  return (int)status;
}

TEST(out_of_memory) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tensor_fixture f;
    fixture_make(&f, cases[i].type, cases[i].rows, cases[i].schema);
    conversion own = {&f, cases[i].num_lengths};
    FOR_EACH_ALLOCATION_FAILURE(convert_case, &own, CST_NO_MEMORY);
    fixture_drop(&f);
  }
}
