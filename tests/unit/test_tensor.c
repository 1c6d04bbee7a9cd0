/* Record batches to tensors: every kind over every layout, its edges, its errors, and what is not
 * copied.
 */
#include <pthread.h>

#include "tensor_text.h"

typedef struct conversion {
  const char *type;
  const char *rows;
  const char *schema;
  const char *expected;
} conversion;

static void check_conversion(const conversion *c, int64_t from, int64_t count,
                             const char *expected) {
  tensor_fixture f;
  fixture_make(&f, c->type, c->rows, c->schema);
  if (count >= 0) arrow_text_slice(&f.array, from, count);
  cst_status status = fixture_convert(&f);
  if (status != CST_OK) {
    printf("%s %s: %s\n", c->type, c->rows, f.error.message);
  }
  CHECK_EQ(status, CST_OK);
  CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "t")), expected);
  fixture_drop(&f);
}

static const conversion conversions[] = {
    /* dense */
    {"struct{x: large_list<int64>}", "{[1]} {[2]}", INT("x") DENSE(""), "int64[2] 1 2"},
    {"struct{x: large_list<int64>}", "{[1]} {[2]}", INT("x") DENSE(DIM("1")), "int64[2 1] 1 2"},
    {"struct{x: large_list<int64>}", "{[1, 2, 3, 4]} {[5, 6, 7, 8]}",
     INT("x") DENSE(DIM("2") DIM("2")), "int64[2 2 2] 1 2 3 4 5 6 7 8"},
    {"struct{x: large_list<float32>}", "{[1.5]} {[2.5]}", FLOAT("x") DENSE(""),
     "float32[2] 1.5 2.5"},
    {"struct{x: large_list<float64>}", "{[1.5]} {[2.5]}", FLOAT("x") DENSE(""),
     "float64[2] 1.5 2.5"},
    {"struct{x: large_list<int8>}", "{[1]} {[-2]}", INT("x") DENSE(""), "int8[2] 1 -2"},
    {"struct{x: list<uint16>}", "{[1]} {[65535]}", INT("x") DENSE(""), "uint16[2] 1 65535"},
    {"struct{x: large_list<large_binary>}", "{['a']} {['']} {['bcd']}", BYTES("x") DENSE(""),
     "bytes[3] a  bcd"},
    {"struct{x: list<string>}", "{['a', 'b']} {['', 'bcd']}", BYTES("x") DENSE(DIM("2")),
     "bytes[2 2] a b  bcd"},
    {"struct{x: list<string_view>}", "{['a']} {['more than twelve bytes']}", BYTES("x") DENSE(""),
     "bytes[2] a more than twelve bytes"},
    {"struct{x: list<fixed_binary[2]>}", "{['ab']} {['cd']}", BYTES("x") DENSE(""),
     "bytes[2] ab cd"},
    {"struct{x: int64}", "{1} {2}", INT("x") DENSE(""), "int64[2] 1 2"},
    {"struct{x: large_list<int64>}", "{[]} {[]}", INT("x") DENSE(DIM("0")), "int64[2 0]"},
    {"struct{x: large_list<int64>}", "", INT("x") DENSE(DIM("2")), "int64[0 2]"},
    {"struct{x: null}", "", INT("x") DENSE(DIM("2")), "int64[0 2]"},
    {"struct{x: bool}", "{true} {0} {true}", INT("x") DENSE(""), "bool[3] 1 0 1"},
    {"struct{x: bool}", "{true} {null} {0}", INT("x") DENSE_OR("", "int_value: 1"),
     "bool[3] 1 1 0"},
    {"struct{x: list<bool>}", "{[true, 0]} {null}", INT("x") DENSE_OR(DIM("2"), "int_value: 0"),
     "bool[2 2] 1 0 0 0"},
    {"struct{x: fixed_list<bool>[3]}", "{[1, 1, 0]} {[0, 1, 0]} {[1, 0, 0]} {[0, 0, 1]}",
     INT("x") DENSE(DIM("3")), "bool[4 3] 1 1 0 0 1 0 1 0 0 0 0 1"},
    /* dense of lists of a fixed size in each other */
    {"struct{x: fixed_list<fixed_list<int32>[2]>[3]}", "{[[1, 2], [3, 4], [5, 6]]}",
     INT("x") DENSE(DIM("3") DIM("2")), "int32[1 3 2] 1 2 3 4 5 6"},
    {"struct{x: fixed_list<fixed_list<bool>[2]>[1]}", "{[[1, 0]]} {[[1, 1]]} {[[0, 1]]}",
     INT("x") DENSE(DIM("1") DIM("2")), "bool[3 1 2] 1 0 1 1 0 1"},
    {"struct{x: list<fixed_list<string>[2]>}", "{[['a', 'b'], ['c', 'd']]} {null}",
     BYTES("x") DENSE_OR(DIM("2") DIM("2"), "bytes_value: '-'"), "bytes[2 2 2] a b c d - - - -"},
    {"struct{x: fixed_list<fixed_list<int8>[1]>[1]}", "{null} {[[1]]}",
     INT("x") DENSE_OR(DIM("1") DIM("1"), "int_value: 7"), "int8[2 1 1] 7 1"},
    {"struct{x: fixed_list<fixed_list<fixed_list<int64>[2]>[1]>[2]}",
     "{[[[1, 2]], [[3, 4]]]} {[[[5, 6]], [[7, 8]]]}", INT("x") DENSE(DIM("2") DIM("1") DIM("2")),
     "int64[2 2 1 2] 1 2 3 4 5 6 7 8"},
    /* dense with a default */
    {"struct{x: large_list<int64>}", "{[1]} {null} {[2]} {null}",
     INT("x") DENSE_OR("", "int_value: 7"), "int64[4] 1 7 2 7"},
    {"struct{x: large_list<int64>}", "{[1]} {[2]}", INT("x") DENSE_OR("", "int_value: 7"),
     "int64[2] 1 2"},
    {"struct{x: large_list<int64>}", "{null} {null}", INT("x") DENSE_OR("", "int_value: -1"),
     "int64[2] -1 -1"},
    {"struct{x: large_list<int32>}", "{[1, 2]} {null}", INT("x") DENSE_OR(DIM("2"), "int_value: 7"),
     "int32[2 2] 1 2 7 7"},
    {"struct{x: large_list<int16>}", "{[1]} {null}", INT("x") DENSE_OR(DIM("1"), "int_value: 7"),
     "int16[2 1] 1 7"},
    {"struct{x: large_list<uint8>}", "{null} {[200]}", INT("x") DENSE_OR("", "int_value: 255"),
     "uint8[2] 255 200"},
    {"struct{x: large_list<float32>}", "{null} {[1.5]}",
     FLOAT("x") DENSE_OR("", "float_value: 2.5"), "float32[2] 2.5 1.5"},
    {"struct{x: large_list<float64>}", "{null} {[1.5]}",
     FLOAT("x") DENSE_OR("", "float_value: 2.5"), "float64[2] 2.5 1.5"},
    {"struct{x: large_list<large_binary>}", "{null} {['abc']}",
     BYTES("x") DENSE_OR("", "bytes_value: 'none'"), "bytes[2] none abc"},
    {"struct{x: list<string>}", "{null} {['a', 'b']}",
     BYTES("x") DENSE_OR(DIM("2"), "bytes_value: '-'"), "bytes[2 2] - - a b"},
    {"struct{x: null}", "{null} {null}", INT("x") DENSE_OR("", "int_value: 7"), "int64[2] 7 7"},
    {"struct{x: int64}", "{1} {null}", INT("x") DENSE_OR("", "int_value: 7"), "int64[2] 1 7"},
    {"struct{x: list<null>}", "{null}", INT("x") DENSE_OR("", "int_value: 7"), "int64[1] 7"},
    /* varlen */
    {"struct{x: large_list<int64>}", "{[1, 2]} {null} {[]} {[3]}", INT("x") VARLEN,
     "int64[3] 1 2 3 at 0,0 0,1 3,0 of 4 2"},
    {"struct{x: large_list<int64>}", "{null} {[]}", INT("x") VARLEN, "int64[0] at of 2 0"},
    {"struct{x: large_list<int64>}", "", INT("x") VARLEN, "int64[0] at of 0 0"},
    {"struct{x: null}", "{null} {null}", INT("x") VARLEN, "int64[0] at of 2 0"},
    {"struct{x: list<null>}", "{[]} {null}", FLOAT("x") VARLEN, "float32[0] at of 2 0"},
    {"struct{x: list<bool>}", "{[true, 0]} {null} {[true]}", INT("x") VARLEN,
     "bool[3] 1 0 1 at 0,0 0,1 2,0 of 3 2"},
    {"struct{x: list<binary>}", "{['a', 'b']} {['c']}", BYTES("x") VARLEN,
     "bytes[3] a b c at 0,0 0,1 1,0 of 2 2"},
    {"struct{x: float32}", "{1.5} {null} {2.5}", FLOAT("x") VARLEN,
     "float32[2] 1.5 2.5 at 0,0 2,0 of 3 1"},
    /* ragged */
    {"struct{x: list<list<bool>>}", "{[[1], null, [0, 1]]} {null} {[[]]}", INT("x") RAGGED(""),
     "bool[3] 1 0 1 splits 0 3 3 4 | 0 1 1 3 3"},
    {"struct{x: large_list<int64>}", "{[1, 2]} {null} {[]} {[3]}", INT("x") RAGGED(""),
     "int64[3] 1 2 3 splits 0 2 2 2 3"},
    {"struct{x: large_list<int64>}", "{[1, 2]} {[3]}",
     INT("x") RAGGED("row_partition_dtype: INT32"), "int64[3] 1 2 3 splits 0 2 3"},
    {"struct{x: list<large_list<string>>}", "{[['a'], null, ['b', 'c']]} {null} {[[]]}",
     BYTES("x") RAGGED(""), "bytes[3] a b c splits 0 3 3 4 | 0 1 1 3 3"},
    {"struct{x: large_list<int64>}", "", INT("x") RAGGED(""), "int64[0] splits 0"},
    {"struct{x: null}", "{null} {null}", INT("x") RAGGED(""), "int64[0] splits 0 0 0"},
    {"struct{x: int64}", "{1} {null} {2}", INT("x") RAGGED(""), "int64[2] 1 2 splits 0 1 1 2"},
    {"struct{x: large_list<int64>}", "{[1, 2, 3, 4]} {[]} {[5, 6]}", INT("x") RAGGED(UNIFORM("2")),
     "int64[3 2] 1 2 3 4 5 6 splits 0 2 2 3"},
    {"struct{x: large_list<int64>}", "{[1, 2, 3, 4, 5, 6]} {null}",
     INT("x") RAGGED(UNIFORM("3") UNIFORM("1") UNIFORM("2")),
     "int64[1 3 1 2] 1 2 3 4 5 6 splits 0 1 1"},
    {"struct{x: large_list<int64>, n: large_list<int64>}",
     "{[1, 2, 3], [2, 1]} {null, null} {[], [0, 0]} {[4], [1]}",
     INT("x") INT("n") RAGGED(LENGTHS("n")), "int64[4] 1 2 3 4 splits 0 2 2 4 5 | 0 2 3 3 3 4"},
    {"struct{x: large_list<int64>, n: list<int32>, m: list<uint8>}",
     "{[1, 2, 3], [2, 1], [1, 1, 1]} {[4, 5], [1], [2]}",
     INT("x") INT("n") INT("m") RAGGED(LENGTHS("n") LENGTHS("m")),
     "int64[5] 1 2 3 4 5 splits 0 2 3 | 0 2 3 4 | 0 1 2 3 5"},
    {"struct{x: large_list<int64>, n: large_list<int64>}", "{[1, 2, 3, 4], [1, 1]} {[5, 6], [1]}",
     INT("x") INT("n") RAGGED(LENGTHS("n") UNIFORM("2")),
     "int64[3 2] 1 2 3 4 5 6 splits 0 2 3 | 0 1 2 3"},
    {"struct{x: large_list<int64>, n: large_list<int64>}",
     "{[1, 2, 3], [2, 1]} {[], []} {[4, 5], [0, 2]}",
     INT("x") INT("n") RAGGED(UNIFORM("2") LENGTHS("n")),
     "int64[5] 1 2 3 4 5 splits 0 1 1 2 | 0 2 4 | 0 2 3 3 5"},
    {"struct{x: large_list<int64>, n: null}", "{[], null} {null, null}",
     INT("x") INT("n") RAGGED(LENGTHS("n")), "int64[0] splits 0 0 0 | 0"},
    {"struct{s: list<struct{a: list<int64>, n: list<int64>}>}",
     "{[{[1, 2], [2]}, {null, null}]} {null} {[{[3], [1, 0]}]}",
     STRUCT("s", INT("a") INT("n")) TENSOR(
         "ragged_tensor { feature_path { step: 's' step: 'a' } partition { row_length: 'n' } }"),
     "int64[3] 1 2 3 splits 0 2 2 3 | 0 1 1 3 | 0 2 3 3"},
    {"struct{s: list<struct{a: int64, b: int64}>}", "{[{1, 2}, {3, 4}]} {[]} {[{5, 6}]}",
     STRUCT("s", INT("a") INT("b"))
         TENSOR("ragged_tensor { feature_path { step: 's' step: 'b' } }"),
     "int64[3] 2 4 6 splits 0 2 2 3"},
    {"struct{s: struct{a: list<list<int64>>}}", "{{[[1], [2, 3]]}} {null} {{null}}",
     STRUCT("s", INT("a")) TENSOR("ragged_tensor { feature_path { step: 's' step: 'a' } }"),
     "int64[3] 1 2 3 splits 0 2 2 2 | 0 1 3"},
};

TEST(every_kind) {
  for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; i++) {
    check_conversion(&conversions[i], 0, -1, conversions[i].expected);
  }
}

static const conversion sparse_conversions[] = {
    {"struct{x: large_list<float32>, i: large_list<int64>}",
     "{[1.5, 2.5], [0, 9]} {null, []} {[3.5], [4]}", FLOAT("x") INT("i") SPARSE_1(DIM("10"), ""),
     "float32[3] 1.5 2.5 3.5 at 0,0 0,9 2,4 of 3 10"},
    {"struct{x: large_list<float32>, i: large_list<int64>}",
     "{[1, 2, 3, 4], [9, 0, 9, 0]} {[5], [1]} {[6, 7], [1, 0]}",
     FLOAT("x") INT("i") SPARSE_1(DIM("10"), ""),
     "float32[7] 2 4 1 3 5 7 6 at 0,0 0,0 0,9 0,9 1,1 2,0 2,1 of 3 10"},
    {"struct{x: list<string>, i: list<uint8>}", "{['b', 'a'], [1, 0]}",
     BYTES("x") INT("i") SPARSE_1(DIM("2"), ""), "bytes[2] a b at 0,0 0,1 of 1 2"},
    {"struct{x: large_list<int64>, i: large_list<int64>}", "{[1], [5000000000]}",
     INT("x") INT("i") SPARSE_1(DIM("-1"), ""), "int64[1] 1 at 0,5000000000 of 1 5000000001"},
    {"struct{x: large_list<int64>, i: large_list<int64>}", "{[1], [9223372036854775807]}",
     INT("x") INT("i") SPARSE_1(DIM("-1"), ""),
     "int64[1] 1 at 0,9223372036854775807 of 1 9223372036854775807"},
    {"struct{x: list<bool>, i: list<int8>, j: list<int8>}", "{[1, 0], [1, 0], [2, 3]} {[], [], []}",
     INT("x") INT("i") INT("j") SPARSE_2(DIM("-1") DIM("-1")),
     "bool[2] 0 1 at 0,0,3 0,1,2 of 2 2 4"},
    {"struct{x: large_list<int64>, i: large_list<int64>}", "{null, null}",
     INT("x") INT("i") SPARSE_1(DIM("-1"), ""), "int64[0] at of 1 0"},
    /* of rank 1 */
    {"struct{x: int32}", "{5} {null} {-7}", INT("x") SPARSE_0(""), "int32[2] 5 -7 at 0 2 of 3"},
    {"struct{x: string}", "{null} {'a'} {''} {null}", BYTES("x") SPARSE_0(""),
     "bytes[2] a  at 1 2 of 4"},
    {"struct{x: bool}", "{1} {null} {0}", INT("x") SPARSE_0("already_sorted: true"),
     "bool[2] 1 0 at 0 2 of 3"},
    {"struct{x: float64}", "{null} {null}", FLOAT("x") SPARSE_0(""), "float64[0] at of 2"},
    {"struct{x: float64}", "", FLOAT("x") SPARSE_0(""), "float64[0] at of 0"},
    {"struct{x: null}", "{null}", FLOAT("x") SPARSE_0(""), "float32[0] at of 1"},
    {"struct{x: large_list<int64>, i: list<int32>, j: list<int16>}",
     "{[1, 2, 3], [1, 0, 0], [0, 2, 1]} {[4], [1], [2]}",
     INT("x") INT("i") INT("j") SPARSE_2(DIM("2") DIM("3")),
     "int64[4] 3 2 1 4 at 0,0,1 0,0,2 0,1,0 1,1,2 of 2 2 3"},
    {"struct{x: large_list<int64>, i: large_list<int64>}", "{[1, 2], [3, 4]}",
     INT("x") INT("i") SPARSE_1(DIM("10"), "already_sorted: true"),
     "int64[2] 1 2 at 0,3 0,4 of 1 10"},
    {"struct{x: large_list<int64>, i: large_list<int64>}", "{[1, 2], [4, 3]}",
     INT("x") INT("i") SPARSE_1(DIM("10"), "already_sorted: true"),
     "int64[2] 2 1 at 0,3 0,4 of 1 10"},
    {"struct{x: large_list<int64>, i: large_list<int64>}", "",
     INT("x") INT("i") SPARSE_1(DIM("10"), ""), "int64[0] at of 0 10"},
    {"struct{x: null, i: null}", "{null, null}", INT("x") INT("i") SPARSE_1(DIM("10"), ""),
     "int64[0] at of 1 10"},
};

TEST(sparse) {
  for (size_t i = 0; i < sizeof sparse_conversions / sizeof sparse_conversions[0]; i++) {
    check_conversion(&sparse_conversions[i], 0, -1, sparse_conversions[i].expected);
  }
}

static const char *const list_types[] = {"list", "large_list", "list_view", "large_list_view"};

TEST(every_list_layout_and_slice) {
  for (int layout = 0; layout < 4; layout++) {
    char type[64], nested[96];
    snprintf(type, sizeof type, "struct{x: %s<int32>}", list_types[layout]);
    snprintf(nested, sizeof nested, "struct{x: %s<%s<int32>>}", list_types[layout],
             list_types[3 - layout]);
    const char *rows = "{[1, 2]} {null} {[3, 4]} {[5, 6]} {[]} {[7]}";
    conversion varlen = {type, rows, INT("x") VARLEN, NULL};
    check_conversion(&varlen, 0, -1,
                     "int32[7] 1 2 3 4 5 6 7 at 0,0 0,1 2,0 2,1 3,0 3,1 5,0 of 6 2");
    check_conversion(&varlen, 2, 4, "int32[5] 3 4 5 6 7 at 0,0 0,1 1,0 1,1 3,0 of 4 2");
    check_conversion(&varlen, 1, 1, "int32[0] at of 1 0");
    check_conversion(&varlen, 6, 0, "int32[0] at of 0 0");
    conversion dense = {type, rows, INT("x") DENSE_OR(DIM("2"), "int_value: 9"), NULL};
    check_conversion(&dense, 0, 4, "int32[4 2] 1 2 9 9 3 4 5 6");
    check_conversion(&dense, 1, 2, "int32[2 2] 9 9 3 4");
    check_conversion(&dense, 2, 2, "int32[2 2] 3 4 5 6");
    conversion ragged = {type, rows, INT("x") RAGGED("row_partition_dtype: INT32"), NULL};
    check_conversion(&ragged, 2, 4, "int32[5] 3 4 5 6 7 splits 0 2 4 4 5");
    conversion deep = {nested, "{[[1], [2, 3]]} {null} {[[], [4]]} {[[5]]}", INT("x") RAGGED(""),
                       NULL};
    check_conversion(&deep, 0, -1, "int32[5] 1 2 3 4 5 splits 0 2 2 4 5 | 0 1 3 3 4 5");
    check_conversion(&deep, 1, 3, "int32[2] 4 5 splits 0 0 2 3 | 0 0 1 2");
    check_conversion(&deep, 3, 1, "int32[1] 5 splits 0 1 | 0 1");
  }
}

TEST(fixed_size_lists_and_slices) {
  conversion dense = {"struct{x: fixed_list<float32>[2]}", "{[1, 2]} {[3, 4]} {[5, 6]}",
                      FLOAT("x") DENSE(DIM("2")), NULL};
  check_conversion(&dense, 0, -1, "float32[3 2] 1 2 3 4 5 6");
  check_conversion(&dense, 1, 2, "float32[2 2] 3 4 5 6");
  conversion filled = {"struct{x: fixed_list<float32>[2]}", "{[1, 2]} {null} {[5, 6]}",
                       FLOAT("x") DENSE_OR(DIM("2"), "float_value: 9"), NULL};
  check_conversion(&filled, 0, -1, "float32[3 2] 1 2 9 9 5 6");
  check_conversion(&filled, 1, 2, "float32[2 2] 9 9 5 6");
  conversion varlen = {"struct{x: fixed_list<int64>[2]}", "{[1, 2]} {null} {[5, 6]}",
                       INT("x") VARLEN, NULL};
  check_conversion(&varlen, 1, 2, "int64[2] 5 6 at 1,0 1,1 of 2 2");
  conversion ragged = {"struct{x: fixed_list<fixed_list<int64>[1]>[2]}",
                       "{[[1], [2]]} {null} {[[5], [6]]}", INT("x") RAGGED(""), NULL};
  check_conversion(&ragged, 1, 2, "int64[2] 5 6 splits 0 0 2 | 0 1 2");
}

TEST(slices_of_sparse_and_partitions) {
  conversion sparse = {"struct{x: large_list<int64>, i: list<int64>}",
                       "{[1], [1]} {[2, 3], [2, 1]} {null, null} {[4], [0]}",
                       INT("x") INT("i") SPARSE_1(DIM("10"), ""), NULL};
  check_conversion(&sparse, 1, 3, "int64[3] 3 2 4 at 0,1 0,2 2,0 of 3 10");
  conversion ragged = {"struct{x: large_list<int64>, n: list<int64>}",
                       "{[1], [1]} {[2, 3], [2, 0]} {null, null} {[4], [1]}",
                       INT("x") INT("n") RAGGED(LENGTHS("n")), NULL};
  check_conversion(&ragged, 1, 3, "int64[3] 2 3 4 splits 0 2 2 3 | 0 2 2 3");
  conversion nested = {
      "struct{s: list<struct{a: list<int64>}>}", "{[{[1]}]} {[{[2, 3]}, {[]}]} {null} {[{[4]}]}",
      STRUCT("s", INT("a")) TENSOR("ragged_tensor { feature_path { step: 's' step: 'a' } }"), NULL};
  check_conversion(&nested, 1, 3, "int64[3] 2 3 4 splits 0 2 2 3 | 0 2 2 3");
}

TEST(values_behind_nulls_stay_hidden) {
  const char *reps[] = {INT("x") VARLEN, INT("x") RAGGED(""),
                        INT("x") DENSE_OR(DIM("2"), "int_value: 9")};
  const char *expected[] = {"int64[4] 1 2 5 6 at 0,0 0,1 2,0 2,1 of 4 2",
                            "int64[4] 1 2 5 6 splits 0 2 2 4 4", "int64[4 2] 1 2 9 9 5 6 9 9"};
  for (int layout = 0; layout < 4; layout++) {
    for (int kind = 0; kind < 3; kind++) {
      tensor_fixture f;
      char type[64];
      snprintf(type, sizeof type, "struct{x: %s<int64>}", list_types[layout]);
      fixture_make(&f, type, "{[1, 2]} {[3, 4]} {[5, 6]} {null}", reps[kind]);
      hide(f.array.children[0], 1);
      CHECK_EQ(fixture_convert(&f), CST_OK);
      CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "t")), expected[kind]);
      fixture_drop(&f);
    }
  }
}

TEST(a_null_struct_hides_its_lists) {
  tensor_fixture f;
  fixture_make(&f, "struct{s: list<struct{a: list<int64>}>}", "{[{[1]}, {[2, 3]}]} {[{[4]}, null]}",
               STRUCT("s", INT("a"))
                   TENSOR("ragged_tensor { feature_path { step: 's' step: 'a' } }"));
  hide(f.array.children[0]->children[0], 1);
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "t")), "int64[2] 1 4 splits 0 2 4 | 0 1 1 2 2");
  fixture_drop(&f);
}

TEST(a_null_row_of_the_batch_has_no_values) {
  tensor_fixture f;
  fixture_make(&f, "struct{x: list<int64>}", "{[1]} {[2]} {null} null", INT("x") VARLEN);
  hide(&f.array, 1);
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "t")), "int64[1] 1 at 0,0 of 4 1");
  fixture_drop(&f);
}

TEST(list_views_in_any_order) {
  tensor_fixture f;
  fixture_make(&f, "struct{x: list_view<int64>}", "{[1, 2]} {[3, 4]} {[5, 6]}",
               INT("x") RAGGED(""));
  int32_t *offsets = (int32_t *)(uintptr_t)f.array.children[0]->buffers[1];
  offsets[0] = 4, offsets[2] = 1;
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "t")), "int64[6] 5 6 3 4 2 3 splits 0 2 4 6");
  fixture_drop(&f);
}

TEST(list_views_cannot_multiply_without_end) {
  enum { ROWS = 3000, ITEMS = 3000 };
  tensor_fixture f;
  fixture_make(&f, "struct{x: list_view<int64>}", "{[1, 2]} {[3, 4]}", INT("x") RAGGED(""));
  static int32_t offsets[ROWS], sizes[ROWS];
  static int64_t items[ITEMS];
  struct ArrowArray child = *f.array.children[0], item = *child.children[0];
  struct ArrowArray *children[] = {&child}, *grandchildren[] = {&item};
  const void *buffers[] = {NULL, offsets, sizes}, *item_buffers[] = {NULL, items};
  for (int i = 0; i < ROWS; i++) sizes[i] = ITEMS;
  item.length = ITEMS, item.buffers = item_buffers, item.null_count = 0;
  child.length = ROWS, child.buffers = buffers, child.children = grandchildren;
  child.null_count = 0;
  struct ArrowArray batch = lend(&f.array, NULL);
  batch.length = ROWS, batch.children = children;
  CHECK_EQ(cst_tensor_adapter_new(&f.schema, f.specs, NULL, &f.adapter, &f.error), CST_OK);
  CHECK_EQ(cst_tensor_adapter_convert(f.adapter, &batch, 0, &f.tensors, &f.error), CST_LIMIT);
  CHECK(batch.release != NULL);
  fixture_drop(&f);
}

/* ---- many rows, chosen by a generator ---- */

enum { MANY = 3000 };

typedef struct many {
  char *rows;              /* text */
  int8_t sizes[MANY];      /* -1: null */
  int64_t first[MANY + 1]; /* values before each row; the i-th value is i % 100 */
} many;

static void make_many(many *m, int least, int most, unsigned seed) {
  char *at = m->rows = malloc(MANY * 64);
  CHECK(at != NULL);
  m->first[0] = 0;
  for (int i = 0; i < MANY; i++) {
    seed = seed * 1103515245 + 12345;
    m->sizes[i] =
        (int8_t)(seed >> 16 & 3 ? least + (int)((seed >> 20) % (unsigned)(most - least + 1)) : -1);
    at += sprintf(at, m->sizes[i] < 0 ? "{null " : "{[");
    for (int k = 0; k < m->sizes[i]; k++) at += sprintf(at, "%d ", (int)((m->first[i] + k) % 100));
    at += sprintf(at, m->sizes[i] < 0 ? "} " : "]} ");
    m->first[i + 1] = m->first[i] + (m->sizes[i] > 0 ? m->sizes[i] : 0);
  }
}

static void check_many_dense(const many *m, const cst_tensor *t, int64_t from, int64_t size) {
  for (int64_t i = 0; i < t->values.size; i++) {
    int64_t row = from + i / size;
    int64_t expected = m->sizes[row] < 0 ? 111 : (m->first[row] + i % size) % 100;
    CHECK_EQ(integer_at(&t->values, i), expected);
  }
}

static void check_many_varlen(const many *m, const cst_tensor *t, int64_t from, int64_t count) {
  int64_t at = 0;
  for (int64_t i = 0; i < count; i++) {
    for (int64_t k = 0; k < m->sizes[from + i]; k++, at++) {
      CHECK_EQ(integer_at(&t->indices, 2 * at), i);
      CHECK_EQ(integer_at(&t->indices, 2 * at + 1), k);
      CHECK_EQ(integer_at(&t->values, at), (m->first[from] + at) % 100);
    }
  }
  CHECK_EQ(t->values.size, at);
}

static void check_many_ragged(const many *m, const cst_tensor *t, int64_t from, int64_t count) {
  for (int64_t i = 0; i <= count; i++) {
    CHECK_EQ(integer_at(&t->splits[0], i), m->first[from + i] - m->first[from]);
  }
  for (int64_t i = 0; i < t->values.size; i++) {
    CHECK_EQ(integer_at(&t->values, i), (m->first[from] + i) % 100);
  }
}

TEST(many_rows_of_every_layout_and_width) {
  const char *items[] = {"int8", "uint16", "int32", "uint64"};
  const struct {
    const char *schema;
    int least, most;
  } kinds[] = {{INT("x") DENSE_OR("", "int_value: 111"), 1, 1},
               {INT("x") DENSE_OR(DIM("3"), "int_value: 111"), 3, 3},
               {INT("x") VARLEN, 0, 1},
               {INT("x") VARLEN, 0, 4},
               {INT("x") RAGGED(""), 0, 4}};
  static many m;
  for (unsigned i = 0; i < 5 * 4 * 4; i++) {
    tensor_fixture f;
    char type[64];
    int kind = (int)(i / 16);
    int64_t from = i % 3 * 5, count = MANY - from - i % 7;
    make_many(&m, kinds[kind].least, kinds[kind].most, i + 1);
    snprintf(type, sizeof type, "struct{x: %s<%s>}", list_types[i % 4], items[i / 4 % 4]);
    fixture_make(&f, type, m.rows, kinds[kind].schema);
    arrow_text_slice(&f.array, from, count);
    CHECK_EQ(fixture_convert(&f), CST_OK);
    const cst_tensor *t = cst_tensors_find(f.tensors, "t");
    if (kind < 2) {
      CHECK_EQ(t->values.shape[0], count);
      check_many_dense(&m, t, from, kinds[kind].most);
    } else if (kind < 4) {
      check_many_varlen(&m, t, from, count);
    } else {
      check_many_ragged(&m, t, from, count);
    }
    fixture_drop(&f);
    free(m.rows);
  }
}

TEST(gathered_values_of_every_width) {
  const char *types[] = {"int8",  "uint8",  "int16",   "uint16",  "int32",  "uint32",
                         "int64", "uint64", "float32", "float64", "string", "binary_view"};
  for (int i = 0; i < 12; i++) {
    tensor_fixture f;
    char type[64];
    const char *features = i < 8 ? INT("x") : i < 10 ? FLOAT("x") : BYTES("x");
    char schema[512];
    snprintf(type, sizeof type, "struct{x: large_list_view<%s>}", types[i]);
    snprintf(schema, sizeof schema, "%s%s", features, RAGGED(""));
    fixture_make(&f, type, i < 10 ? "{[1, 2]} {[3, 4]}" : "{['1', '2']} {['3', '4']}", schema);
    int64_t *offsets = (int64_t *)(uintptr_t)f.array.children[0]->buffers[1];
    offsets[0] = 2, offsets[1] = 0;
    CHECK_EQ(fixture_convert(&f), CST_OK);
    CHECK_CONTAINS(tensor_text(cst_tensors_find(f.tensors, "t")), " 3 4 1 2 splits 0 2 4");
    fixture_drop(&f);
  }
}

TEST(index_columns_of_every_width) {
  const char *types[] = {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"};
  for (int i = 0; i < 8; i++) {
    for (int gathered = 0; gathered < 2; gathered++) {
      tensor_fixture f;
      char type[96];
      snprintf(type, sizeof type, "struct{x: list<int64>, i: list_view<%s>}", types[i]);
      fixture_make(&f, type, "{[1], [5]} {[2], [6]}", INT("x") INT("i") SPARSE_1(DIM("9"), ""));
      int32_t *offsets = (int32_t *)(uintptr_t)f.array.children[1]->buffers[1];
      if (gathered) offsets[0] = 1, offsets[1] = 0;
      CHECK_EQ(fixture_convert(&f), CST_OK);
      CHECK_STR(tensor_text(cst_tensors_find(f.tensors, "t")),
                gathered ? "int64[2] 1 2 at 0,6 1,5 of 2 9" : "int64[2] 1 2 at 0,5 1,6 of 2 9");
      fixture_drop(&f);
    }
  }
}

/* ---- what is not copied ---- */

TEST(numbers_are_not_copied) {
  const char *types[] = {"struct{x: large_list<int64>}", "struct{x: list<float32>}",
                         "struct{x: fixed_list<int64>[2]}", "struct{x: list_view<int64>}",
                         "struct{x: large_list<uint8>}"};
  for (int i = 0; i < 5; i++) {
    const char *features = i == 1 ? FLOAT("x") : INT("x");
    const char *reps[] = {DENSE(DIM("2")), VARLEN, RAGGED(""), DENSE_OR(DIM("2"), "")};
    for (int k = 0; k < 3; k++) {
      for (int64_t from = 0; from < 2; from++) {
        tensor_fixture f;
        char schema[512];
        snprintf(schema, sizeof schema, "%s%s", features, reps[k]);
        fixture_make(&f, types[i], "{[1, 2]} {[3, 4]} {[5, 6]}", schema);
        arrow_text_slice(&f.array, from, 2);
        CHECK_EQ(fixture_convert(&f), CST_OK);
        const cst_tensor *t = cst_tensors_find(f.tensors, "t");
        const char *values = f.array.children[0]->children[0]->buffers[1];
        CHECK(t->values.data == values + (size_t)(2 * from) * cst_dtype_width(t->values.dtype));
        fixture_drop(&f);
      }
    }
  }
}

TEST(row_splits_of_large_lists_are_not_copied) {
  tensor_fixture f;
  fixture_make(&f, "struct{x: large_list<large_list<int64>>}",
               "{[[1], [2, 3]]} {null} {[]} {[[4]]}", INT("x") RAGGED(""));
  CHECK_EQ(fixture_convert(&f), CST_OK);
  const cst_tensor *t = cst_tensors_find(f.tensors, "t");
  CHECK(t->splits[0].data == f.array.children[0]->buffers[1]);
  CHECK(t->splits[1].data == f.array.children[0]->children[0]->buffers[1]);
  fixture_drop(&f);
}

TEST(strings_point_into_the_batch) {
  tensor_fixture f;
  fixture_make(&f, "struct{x: large_list<large_binary>}", "{['ab']} {['cd']}",
               BYTES("x") DENSE(""));
  CHECK_EQ(fixture_convert(&f), CST_OK);
  const cst_tensor *t = cst_tensors_find(f.tensors, "t");
  CHECK(t->values.strings[1].data ==
        (const uint8_t *)f.array.children[0]->children[0]->buffers[2] + 2);
  fixture_drop(&f);
}

/* An allocator that adds up what it hands out. */
typedef struct counter {
  size_t bytes;
} counter;

static void *count_allocate(void *ctx, size_t size, size_t align) {
  void *memory = NULL;
  ((counter *)ctx)->bytes += size;
  return posix_memalign(&memory, align < sizeof(void *) ? sizeof(void *) : align, size) == 0
             ? memory
             : NULL;
}

static void count_release(void *ctx, void *ptr, size_t size, size_t align) {
  (void)ctx, (void)size, (void)align;
  free(ptr);
}

/* Bytes that the conversion of so many rows of four values takes. */
static size_t bytes_for(int64_t rows, const char *type, const char *schema) {
  tensor_fixture f;
  counter c = {0};
  const cst_allocator allocator = {
      .size = sizeof allocator, .ctx = &c, .allocate = count_allocate, .release = count_release};
  const cst_tensor_options options = {.size = sizeof options, .allocator = &allocator};
  char *lines = malloc((size_t)rows * 16 + 1);
  CHECK(lines != NULL);
  lines[0] = '\0';
  for (int64_t i = 0; i < rows; i++) memcpy(lines + i * 15, "{[1, 2, 3, 4]} ", 16);
  fixture_make(&f, type, lines, schema);
  free(lines);
  CHECK_EQ(cst_tensor_adapter_new(&f.schema, f.specs, &options, &f.adapter, &f.error), CST_OK);
  struct ArrowArray lent = lend(&f.array, &f.releases);
  size_t before = c.bytes;
  CHECK_EQ(cst_tensor_adapter_convert(f.adapter, &lent, 0, &f.tensors, &f.error), CST_OK);
  size_t taken = c.bytes - before;
  CHECK_EQ(cst_tensors_find(f.tensors, "t")->values.size, 4 * rows);
  fixture_drop(&f);
  return taken;
}

TEST(dense_numbers_take_no_memory) {
  static const char *const types[] = {"struct{x: large_list<int64>}",
                                      "struct{x: fixed_list<int32>[4]}",
                                      "struct{x: large_list<int8>}"};
  for (int i = 0; i < 3; i++) {
    size_t few = bytes_for(1, types[i], INT("x") DENSE(DIM("4")));
    CHECK_EQ(bytes_for(20000, types[i], INT("x") DENSE(DIM("4"))), few);
  }
  size_t ragged = bytes_for(1, types[0], INT("x") RAGGED(""));
  CHECK_EQ(bytes_for(20000, types[0], INT("x") RAGGED("")), ragged);
}

/* ---- owners ---- */

TEST(tensors_outlive_adapter_and_specs) {
  tensor_fixture f;
  fixture_make(&f, "struct{x: large_list<large_binary>, y: list<int64>}", "{null, [1]} {['b'], []}",
               BYTES("x") INT("y") DENSE_OR("", "bytes_value: 'none'"));
  CHECK_EQ(fixture_convert(&f), CST_OK);
  cst_tensor_adapter_free(f.adapter);
  cst_specs_release(f.specs);
  f.adapter = NULL;
  f.specs = NULL;
  cst_tensors *second = cst_tensors_retain(f.tensors);
  cst_tensors_release(f.tensors);
  CHECK_EQ(f.releases, 0);
  CHECK_EQ(cst_tensors_num_tensors(second), 2);
  CHECK_STR(cst_tensors_get(second, 0)->name, "t");
  CHECK_STR(cst_tensors_get(second, 1)->name, "y");
  CHECK(cst_tensors_get(second, 2) == NULL);
  CHECK(cst_tensors_find(second, "x") == NULL);
  CHECK_STR(tensor_text(cst_tensors_find(second, "t")), "bytes[2] none b");
  CHECK_STR(tensor_text(cst_tensors_find(second, "y")), "int64[1] 1 at 0,0 of 2 1");
  f.tensors = second;
  fixture_drop(&f);
}

TEST(no_tensors_at_all) {
  tensor_fixture f;
  fixture_make(&f, "struct{x: list<int64>}", "{[1]} {[2]}", "");
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_EQ(cst_tensors_num_tensors(f.tensors), 0);
  CHECK(cst_tensors_find(f.tensors, "x") == NULL);
  fixture_drop(&f);
  fixture_make(&f, "struct{}", "{} {}", "");
  CHECK_EQ(fixture_convert(&f), CST_OK);
  fixture_drop(&f);
}

TEST(batches_follow_each_other_in_warm_memory) {
  tensor_fixture f;
  fixture_make(&f, "struct{x: list<int64>}", "{[1]} {[2, 3]}", INT("x") VARLEN);
  CHECK_EQ(fixture_convert(&f), CST_OK);
  const void *first = cst_tensors_find(f.tensors, "t")->indices.data;
  for (int i = 0; i < 3; i++) {
    cst_tensors_release(f.tensors);
    CHECK_EQ(f.releases, 1);
    f.releases = 0;
    struct ArrowArray lent = lend(&f.array, &f.releases);
    CHECK_EQ(cst_tensor_adapter_convert(f.adapter, &lent, 0, &f.tensors, &f.error), CST_OK);
    CHECK(cst_tensors_find(f.tensors, "t")->indices.data == first);
  }
  fixture_drop(&f);
}

typedef struct sharing {
  const cst_tensor_adapter *adapter;
  const struct ArrowArray *array;
  int failures;
} sharing;

static void *convert_again_and_again(void *arg) {
  sharing *s = arg;
  cst_tensors *kept[3] = {NULL};
  for (int i = 0; i < 300; i++) {
    struct ArrowArray lent = lend(s->array, NULL);
    cst_tensors_release(kept[i % 3]);
    kept[i % 3] = NULL;
    s->failures += cst_tensor_adapter_convert(s->adapter, &lent, 0, &kept[i % 3], NULL) != CST_OK;
  }
  for (int i = 0; i < 3; i++) cst_tensors_release(kept[i]);
  return NULL;
}

TEST(threads_share_an_adapter) {
  tensor_fixture f;
  fixture_make(&f, "struct{x: list<int64>}", "{[1]} {[2, 3]} {null}", INT("x") VARLEN);
  CHECK_EQ(cst_tensor_adapter_new(&f.schema, f.specs, NULL, &f.adapter, NULL), CST_OK);
  sharing shares[3];
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) {
    shares[i] = (sharing){f.adapter, &f.array, 0};
    CHECK_EQ(pthread_create(&threads[i], NULL, convert_again_and_again, &shares[i]), 0);
  }
  for (int i = 0; i < 3; i++) {
    pthread_join(threads[i], NULL);
    CHECK_EQ(shares[i].failures, 0);
  }
  fixture_drop(&f);
}

TEST(wrong_arguments) {
  tensor_fixture f;
  struct ArrowArray none = {.release = NULL};
  cst_tensors *tensors = NULL;
  fixture_make(&f, "struct{x: list<int64>}", "{[1]}", INT("x") VARLEN);
  CHECK_EQ(cst_tensor_adapter_new(NULL, f.specs, NULL, &f.adapter, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_tensor_adapter_new(&f.schema, NULL, NULL, &f.adapter, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_tensor_adapter_new(f.schema.children[0], f.specs, NULL, &f.adapter, NULL),
           CST_INVALID_ARGUMENT);
  CHECK_EQ(fixture_convert(&f), CST_OK);
  CHECK_EQ(cst_tensor_adapter_convert(f.adapter, &none, 0, &tensors, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_tensor_adapter_convert(f.adapter, &f.array, 8, &tensors, NULL),
           CST_INVALID_ARGUMENT);
  fixture_drop(&f);
}

/* ---- out of memory ---- */

static int convert_all(void *context) {
  tensor_fixture *f = context;
  f->adapter = NULL;
  cst_status status = cst_tensor_adapter_new(&f->schema, f->specs, NULL, &f->adapter, &f->error);
  struct ArrowArray lent = lend(&f->array, NULL);
  cst_tensors *tensors = NULL;
  if (status == CST_OK) {
    status = cst_tensor_adapter_convert(f->adapter, &lent, 0, &tensors, &f->error);
  }
  cst_tensors_release(tensors);
  cst_tensor_adapter_free(f->adapter);
  f->adapter = NULL;
  return (int)status;
}

TEST(out_of_memory) {
  const conversion *tables[] = {conversions, sparse_conversions};
  size_t counts[] = {sizeof conversions / sizeof conversions[0],
                     sizeof sparse_conversions / sizeof sparse_conversions[0]};
  for (int t = 0; t < 2; t++) {
    for (size_t i = 0; i < counts[t]; i++) {
      tensor_fixture f;
      fixture_make(&f, tables[t][i].type, tables[t][i].rows, tables[t][i].schema);
      FOR_EACH_ALLOCATION_FAILURE(convert_all, &f, CST_NO_MEMORY);
      fixture_drop(&f);
    }
  }
}
