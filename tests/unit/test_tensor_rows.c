/* What the adapter refuses, and that it names the row: of the batch, of slices, behind nulls.
 */
#include "tensor_text.h"

typedef struct refusal {
  const char *type;
  const char *rows;
  const char *schema;
  cst_status status;
  int64_t row;
  const char *message;
} refusal;

static const refusal refusals[] = {
    {"struct{x: large_list<int64>}", "{[1]} {[2, 3, 4]}", INT("x") DENSE(DIM("2")), CST_SCHEMA, 0,
     "1 value, but its shape needs exactly 2"},
    {"struct{x: large_list<int64>}", "{[1, 2]} {[]}", INT("x") DENSE(DIM("2")), CST_SCHEMA, 1,
     "0 values, but its shape needs exactly 2"},
    {"struct{x: large_list<int64>}", "{[1]} {[]}", INT("x") DENSE_OR("", "int_value: 7"),
     CST_SCHEMA, 1, "0 values, but its shape needs exactly 1"},
    {"struct{x: large_list<int64>}", "{[1]} {null}", INT("x") DENSE(""), CST_SCHEMA, 1, "null"},
    {"struct{x: null}", "{null}", INT("x") DENSE(""), CST_SCHEMA, 0, "null"},
    {"struct{x: fixed_list<int64>[3]}", "{[1, 2, 3]}", INT("x") DENSE(DIM("2")), CST_SCHEMA, 0,
     "3 values"},
    {"struct{x: list<int64>}", "{[1, 2]} {[3, null]}", INT("x") DENSE(DIM("2")), CST_SCHEMA, 1,
     "null element"},
    {"struct{x: list<int64>}", "{[1, 2]} {null} {[3, null]}",
     INT("x") DENSE_OR(DIM("2"), "int_value: 1"), CST_SCHEMA, 2, "null element"},
    {"struct{x: list<null>}", "{[null]}", INT("x") DENSE(""), CST_SCHEMA, 0, "null element"},
    {"struct{x: list<string>}", "{['a']} {[null]}", BYTES("x") VARLEN, CST_SCHEMA, 1,
     "null element"},
    {"struct{x: list<list<float32>>}", "{[[1], []]} {[[], [2, null]]}", FLOAT("x") RAGGED(""),
     CST_SCHEMA, 1, "null element"},
    {"struct{x: list<int64>, i: list<int64>}", "{[1, 2], [1]} {[3], [1, 2]}",
     INT("x") INT("i") SPARSE_1(DIM("10"), ""), CST_SCHEMA, 0,
     "2 values, but 1 indices in column 'i'"},
    {"struct{x: list<int64>, i: list<int64>}", "{[1], [1]} {[3], [10]}",
     INT("x") INT("i") SPARSE_1(DIM("10"), ""), CST_SCHEMA, 1,
     "index 10 in column 'i', expected 0 to 9"},
    {"struct{x: list<int64>, i: list<int64>}", "{[1], [-1]}",
     INT("x") INT("i") SPARSE_1(DIM("-1"), ""), CST_SCHEMA, 0, "index -1"},
    {"struct{x: list<int64>, i: list<int64>}", "{[1], [0]} {[1], [null]}",
     INT("x") INT("i") SPARSE_1(DIM("-1"), ""), CST_SCHEMA, 1, "a null"},
    {"struct{x: list<int64>, i: list<uint64>}", "{[1], [18446744073709551615]}",
     INT("x") INT("i") SPARSE_1(DIM("-1"), ""), CST_SCHEMA, 0, "above 2^63-1"},
    {"struct{x: large_list<int64>}", "{[1, 2]} {[]} {[3, 4, 5]}", INT("x") RAGGED(UNIFORM("2")),
     CST_SCHEMA, 2, "3 items, which uniform rows of 2 do not divide"},
    {"struct{x: large_list<int64>}", "{[1]} {[2, 3, 4]}", INT("x") RAGGED(UNIFORM("2")), CST_SCHEMA,
     0, "1 items"},
    {"struct{x: list<int64>, n: list<int64>}", "{[1, 2], [2]} {[3], [2]} {[4, 5], [1]}",
     INT("x") INT("n") RAGGED(LENGTHS("n")), CST_SCHEMA, 1, "add up to 2, but there are 1 items"},
    {"struct{x: list<fixed_list<int64>[2]>}", "{[[1, 2]]} {[[1, 2], [3, 4]]}",
     INT("x") DENSE(DIM("1") DIM("2")), CST_SCHEMA, 1, "2 values, but its shape needs exactly 1"},
    {"struct{x: fixed_list<fixed_list<int64>[2]>[1]}", "{[[1, 2]]} {[null]}",
     INT("x") DENSE(DIM("1") DIM("2")), CST_SCHEMA, 1, "a null element"},
    {"struct{x: fixed_list<fixed_list<int64>[2]>[1]}", "{[[1, 2]]} {[[1, null]]}",
     INT("x") DENSE(DIM("1") DIM("2")), CST_SCHEMA, 1, "a null element"},
    {"struct{x: fixed_list<fixed_list<int64>[2]>[1]}", "{[[1, 2]]} {null}",
     INT("x") DENSE(DIM("1") DIM("2")), CST_SCHEMA, 1, "no value"},
    {"struct{x: list<int64>, n: list<int64>}", "{[1, 2], [3, -1]}",
     INT("x") INT("n") RAGGED(LENGTHS("n")), CST_SCHEMA, 0, "a row length of -1"},
    {"struct{x: list<int64>, n: list<int64>}", "{[1], [1]} {[1], [null]}",
     INT("x") INT("n") RAGGED(LENGTHS("n")), CST_SCHEMA, 1, "a null"},
    {"struct{x: list<int64>, n: list<int64>}", "{[1, 2, 3], [2, 1]} {[1], [1]}",
     INT("x") INT("n") RAGGED(UNIFORM("2") LENGTHS("n")), CST_SCHEMA, 1, "1 items"},
    {"struct{s: list<struct{a: list<int64>, n: list<int64>}>}",
     "{[{[1], [1]}]} {[{[1], [1]}, {[2, 3], [1]}]}",
     STRUCT("s", INT("a") INT("n")) TENSOR(
         "ragged_tensor { feature_path { step: 's' step: 'a' } partition { row_length: 'n' } }"),
     CST_SCHEMA, 1, "add up to 1, but there are 2 items"},
    {"struct{x: list<int64>, i: list<int64>}", "{[1], [0]} {null, [1]}",
     INT("x") INT("i") SPARSE_1(DIM("10"), ""), CST_SCHEMA, 1,
     "0 values, but 1 indices in column 'i'"},
    {"struct{x: list<int64>, i: list<int64>}", "{[1], [0]} {[1], null}",
     INT("x") INT("i") SPARSE_1(DIM("10"), ""), CST_SCHEMA, 1,
     "1 values, but 0 indices in column 'i'"},
    {"struct{x: list<int64>, i: list<int64>}", "{[1, 2], [0]} {[3], [1, 2]}",
     INT("x") INT("i") SPARSE_1(DIM("10"), ""), CST_SCHEMA, 0, "2 values, but 1 indices"},
    {"struct{x: list<int64>, i: list<int64>, j: list<int64>}",
     "{[1], [0], [0]} {[2, 3], [1, 1], [0]} {[4], [0], [1, 1]}",
     INT("x") INT("i") INT("j") SPARSE_2(DIM("2") DIM("2")), CST_SCHEMA, 1, "in column 'j'"},
    {"struct{x: list<int64>, n: list<int64>}", "{[1, 2, 3], [1]} {[4], [3]}",
     INT("x") INT("n") RAGGED(LENGTHS("n")), CST_SCHEMA, 0, "add up to 1, but there are 3 items"},
    {"struct{x: list<int64>, n: list<int64>}", "{[1], [1]} {null, [1]}",
     INT("x") INT("n") RAGGED(LENGTHS("n")), CST_SCHEMA, 1, "add up to 1, but there are 0 items"},
    {"struct{x: list<int64>, n: list<int64>}", "{[1], [1]} {[1], null}",
     INT("x") INT("n") RAGGED(LENGTHS("n")), CST_SCHEMA, 1, "add up to 0, but there are 1 items"},
    {"struct{x: list<int64>, n: list<int64>, m: list<int64>}",
     "{[1, 2], [2], [1, 1]} {[3], [1], [1]} {[4, 5], [1], [1, 1]}",
     INT("x") INT("n") INT("m") RAGGED(LENGTHS("n") LENGTHS("m")), CST_SCHEMA, 2, "column 'n'"},
    {"struct{x: list<int64>, n: list<int64>}",
     "{[1, 2], [4611686018427387904, 4611686018427387904]}", INT("x") INT("n") RAGGED(LENGTHS("n")),
     CST_SCHEMA, 0, "a row length of"},
    {"struct{x: list<int64>, n: list<int64>}", "{[1], [1]} {[1], [9223372036854775807]}",
     INT("x") INT("n") RAGGED(LENGTHS("n")), CST_SCHEMA, 1,
     "add up to 9223372036854775807, but there are 1 items"},
    /* found by the adapter */
    {"struct{y: list<int64>}", "", INT("x") VARLEN, CST_SCHEMA, -1, "no column 'x'"},
    {"struct{x: list<float32>}", "", INT("x") VARLEN, CST_SCHEMA, -1,
     "column 'x' is float32, expected integers"},
    {"struct{x: list<int64>}", "", FLOAT("x") VARLEN, CST_SCHEMA, -1,
     "expected float32 or float64"},
    {"struct{x: list<int64>}", "", BYTES("x") VARLEN, CST_SCHEMA, -1, "expected strings or binary"},
    {"struct{x: bool}", "", FLOAT("x") DENSE(""), CST_SCHEMA, -1, "is bool, expected float32"},
    {"struct{x: list<bool>}", "", INT("x") DENSE_OR("", "int_value: 2"), CST_SCHEMA, -1,
     "the default 2 does not fit bool"},
    {"struct{x: list<int64>, i: list<bool>}", "", INT("x") INT("i") SPARSE_1(DIM("2"), ""),
     CST_SCHEMA, -1, "column 'i' is bool, expected integers"},
    {"struct{x: list<int64>}", "", INT("x") SPARSE_0(""), CST_SCHEMA, -1,
     "needs a column without lists"},
    {"struct{x: fixed_list<fixed_list<int64>[2]>[3]}", "", INT("x") DENSE(DIM("3") DIM("3")),
     CST_SCHEMA, -1, "2 levels of lists"},
    {"struct{x: list<float16>}", "", FLOAT("x") VARLEN, CST_UNSUPPORTED, -1, "is float16"},
    {"struct{x: list<timestamp>}", "", INT("x") VARLEN, CST_UNSUPPORTED, -1, "is timestamp"},
    {"struct{x: list<list<int64>>}", "", INT("x") VARLEN, CST_SCHEMA, -1, "2 levels of lists"},
    {"struct{x: struct{a: int64}}", "", INT("x") VARLEN, CST_SCHEMA, -1, "is struct<1 fields>"},
    {"struct{x: list<int64>, i: list<float32>}", "", INT("x") INT("i") SPARSE_1(DIM("10"), ""),
     CST_SCHEMA, -1, "column 'i' is float32"},
    {"struct{x: list<int64>, i: list<list<int64>>}", "", INT("x") INT("i") SPARSE_1(DIM("10"), ""),
     CST_SCHEMA, -1, "expected one level of lists"},
    {"struct{x: list<list<int64>>, n: list<int64>}", "", INT("x") INT("n") RAGGED(LENGTHS("n")),
     CST_SCHEMA, -1, "one level of lists"},
    {"struct{x: list<int8>}", "", INT("x") DENSE_OR("", "int_value: 128"), CST_SCHEMA, -1,
     "the default 128 does not fit int8"},
    {"struct{x: list<uint64>}", "", INT("x") DENSE_OR("", "int_value: -1"), CST_SCHEMA, -1,
     "the default -1 does not fit uint64"},
};

TEST(refusals_name_row_and_tensor) {
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    tensor_fixture f;
    fixture_make(&f, refusals[i].type, refusals[i].rows, refusals[i].schema);
    cst_status status = fixture_convert(&f);
    if (status != refusals[i].status) printf("refusal %zu: %s\n", i, f.error.message);
    CHECK_EQ(status, refusals[i].status);
    CHECK_CONTAINS(f.error.message, refusals[i].message);
    CHECK_EQ(f.error.record, refusals[i].row);
    CHECK_STR(f.error.path, "t");
    fixture_drop(&f);
  }
}

static void check_slice(const char *type, const char *rows, const char *schema, int64_t from,
                        int64_t count, int64_t row) {
  tensor_fixture f;
  fixture_make(&f, type, rows, schema);
  arrow_text_slice(&f.array, from, count);
  CHECK_EQ(fixture_convert(&f), row < 0 ? CST_OK : CST_SCHEMA);
  CHECK_EQ(f.error.record, row);
  fixture_drop(&f);
}

TEST(rows_of_slices_are_counted_from_their_begin) {
  const char *dense = INT("x") DENSE(DIM("2"));
  const char *rows = "{[1]} {[1, 2]} {[3, 4]} {[5]} {null}";
  check_slice("struct{x: large_list<int64>}", rows, dense, 1, 2, -1);
  check_slice("struct{x: large_list<int64>}", rows, dense, 1, 3, 2);
  check_slice("struct{x: list<int64>}", rows, dense, 2, 3, 1);
  check_slice("struct{x: list<int64>}", rows, dense, 4, 1, 0);
  const char *ragged = INT("x") INT("n") RAGGED(LENGTHS("n"));
  rows = "{[1], [2]} {[1, 2], [2]} {[3], [1]} {[4], [2]}";
  check_slice("struct{x: list<int64>, n: list<int64>}", rows, ragged, 1, 2, -1);
  check_slice("struct{x: list<int64>, n: list<int64>}", rows, ragged, 1, 3, 2);
  const char *sparse = INT("x") INT("i") SPARSE_1(DIM("3"), "");
  rows = "{[1], [7]} {[1, 2], [2, 0]} {[3], [1]} {[4], [3]}";
  check_slice("struct{x: list<int64>, i: list<int64>}", rows, sparse, 1, 2, -1);
  check_slice("struct{x: list<int64>, i: list<int64>}", rows, sparse, 2, 2, 1);
  rows = "{[1, null]} {[1, 2]} {[null]}";
  check_slice("struct{x: list<int64>}", rows, INT("x") VARLEN, 1, 1, -1);
  check_slice("struct{x: list<int64>}", rows, INT("x") VARLEN, 1, 2, 1);
  check_slice("struct{x: list<int64>}", rows, INT("x") RAGGED(""), 1, 2, 1);
}

TEST(what_a_null_row_hides_does_not_count) {
  tensor_fixture f;
  fixture_make(&f, "struct{x: list<int64>, n: list<int64>}",
               "{[1], [1]} {[2], [1]} {[3], [1]} {null, null}",
               INT("x") INT("n") RAGGED(LENGTHS("n")));
  hide(f.array.children[0], 1);
  CHECK_EQ(fixture_convert(&f), CST_SCHEMA);
  CHECK_CONTAINS(f.error.message, "add up to 1, but there are 0 items");
  CHECK_EQ(f.error.record, 1);
  fixture_drop(&f);
  fixture_make(&f, "struct{x: list<int64>, i: list<int64>}",
               "{[1], [1]} {[2], [99]} {[3], [1]} {null, null}",
               INT("x") INT("i") SPARSE_1(DIM("10"), ""));
  hide(f.array.children[0], 1);
  hide(f.array.children[1], 1);
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "t")), "int64[2] 1 3 at 0,1 2,1 of 4 10");
  fixture_drop(&f);
}

TEST(row_splits_of_int32_are_checked) {
  tensor_fixture f;
  fixture_make(&f, "struct{x: large_list<int8>}", "{[1]}",
               INT("x") RAGGED("row_partition_dtype: INT32"));
  /* Nobody looks at the values, so they need not be there. */
  ((int64_t *)(uintptr_t)f.array.children[0]->buffers[1])[1] = INT64_C(3000000000);
  f.array.children[0]->children[0]->length = INT64_C(3000000000);
  CHECK_EQ(fixture_convert(&f), CST_SCHEMA);
  CHECK_CONTAINS(f.error.message, "3000000000 items");
  fixture_drop(&f);
}

TEST(slots_without_memory_do_not_take_any) {
  const char *types[] = {"struct{x: null}", "struct{x: fixed_list<int64>[1]}",
                         "struct{x: list<fixed_binary[1]>}"};
  for (int i = 0; i < 3; i++) {
    tensor_fixture f;
    fixture_make(&f, types[i], "", i == 2 ? BYTES("x") VARLEN : INT("x") VARLEN);
    struct ArrowSchema *x = f.schema.children[0];
    if (i == 1) CHECK_EQ(ArrowSchemaSetFormat(x, "+w:0"), 0);
    if (i == 2) CHECK_EQ(ArrowSchemaSetFormat(x->children[0], "w:0"), 0);
    f.array.length = f.array.children[0]->length = i == 2 ? 1 : INT64_C(1) << 40;
    int32_t offsets[] = {0, INT32_MAX};
    const void *buffers[] = {NULL, offsets};
    const void **old = f.array.children[0]->buffers;
    if (i == 2) {
      f.array.children[0]->buffers = buffers;
      f.array.children[0]->children[0]->length = INT32_MAX;
    } else {
      f.array.children[0]->null_count = i == 0 ? f.array.length : 0;
    }
    CHECK_EQ(fixture_convert(&f), CST_LIMIT);
    f.array.children[0]->buffers = old;
    fixture_drop(&f);
  }
}

TEST(damaged_batches_are_refused_unless_trusted) {
  tensor_fixture f;
  fixture_make(&f, "struct{x: large_list<int64>}", "{[1]} {[2]}", INT("x") VARLEN);
  ((int64_t *)(uintptr_t)f.array.children[0]->buffers[1])[2] = 100;
  CHECK_EQ(fixture_convert(&f), CST_CORRUPT);
  CHECK_STR(f.error.path, "x");
  fixture_drop(&f);
}
