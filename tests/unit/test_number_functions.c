/* Functions of numbers: rounding, roots and logarithms, bounds, buckets, hashes. */
#include "base/fingerprint.h"
#include "function_support.h"

TEST(sizes_and_signs) {
  static const function_case tests[] = {
      {"abs", {"int8: -5 null 127 -127"}, "int8: 5 null 127 127"},
      {"abs", {"int16: -5 5"}, "int16: 5 5"},
      {"abs", {"int32: -5 5"}, "int32: 5 5"},
      {"abs", {"int64: -9223372036854775807"}, "int64: 9223372036854775807"},
      {"abs", {"uint8: 200"}, "uint8: 200"},
      {"abs", {"uint64: 18446744073709551615"}, "uint64: 18446744073709551615"},
      {"abs", {"float32: -1.5 -0.0 nan -inf"}, "float32: 1.5 0.0 nan inf"},
      {"abs", {"float64: -1.5"}, "float64: 1.5"},
      {"abs", {"= int8: -5"}, "int8: 5"},
      {"abs",
       {"int8: 1 -128"},
       "error: abs: the absolute value of the smallest number does not fit"},
      {"abs", {"string: 'a'"}, "error: argument 1 of abs is string, expected a number"},
      {"abs", {"bool: true"}, "error: argument 1 of abs is bool"},
      {"sign", {"int8: -5 0 5 null -128"}, "int8: -1 0 1 null -1"},
      {"sign", {"uint32: 0 5"}, "uint32: 0 1"},
      {"sign", {"float64: -1.5 -0.0 nan inf"}, "float64: -1.0 0.0 nan 1.0"},
      {"sign", {"-3"}, "int64: -1"},
  };
  FUNCTION_CHECK(tests);
}

TEST(rounding) {
  static const function_case tests[] = {
      {"floor", {"float32: 1.5 -1.5 null inf"}, "float32: 1.0 -2.0 null inf"},
      {"ceil", {"float64: 1.5 -1.5 2.0"}, "float64: 2.0 -1.0 2.0"},
      {"round", {"float64: 0.5 1.5 2.5 -0.5 -1.6"}, "float64: 0.0 2.0 2.0 -0.0 -2.0"},
      {"round", {"float32: 0.5 1.5 2.4"}, "float32: 0.0 2.0 2.0"},
      {"floor", {"int16: 5 -5"}, "int16: 5 -5"},
      {"round", {"float16: 1.5"}, "float32: 2.0"},
      {"ceil", {"uint64: 7"}, "uint64: 7"},
      {"floor", {"float32:"}, "float32:"},
  };
  FUNCTION_CHECK(tests);
}

TEST(roots_and_logarithms) {
  static const function_case tests[] = {
      {"sqrt", {"float64: 4.0 null -1.0"}, "float64: 2.0 null nan"},
      {"sqrt", {"int32: 9"}, "float64: 3.0"},
      {"sqrt", {"uint8: 9"}, "float64: 3.0"},
      {"sqrt", {"float16: 4.0"}, "float32: 2.0"},
      {"exp", {"float64: 0.0 -inf inf"}, "float64: 1.0 0.0 inf"},
      {"exp", {"float32: 1.0"}, "float32: 2.7182817"},
      {"expm1", {"float64: 0.0"}, "float64: 0.0"},
      {"expm1", {"float32: 0.0001"}, "float32: 0.000100004996"},
      {"log", {"float64: 1.0 0.0 -1.0"}, "float64: 0.0 -inf nan"},
      {"log", {"float32: 10.0"}, "float32: 2.3025851"},
      {"log1p", {"float64: 0.0"}, "float64: 0.0"},
      {"log1p", {"float32: 0.0001"}, "float32: 0.0000999950018"},
      {"log2", {"float64: 8.0"}, "float64: 3.0"},
      {"log10", {"float64: 1000.0"}, "float64: 3.0"},
      {"sigmoid", {"float64: 0.0 -1000.0 1000.0 nan"}, "float64: 0.5 0.0 1.0 nan"},
      {"sigmoid", {"float32: 2.0 -2.0"}, "float32: 0.8807971 0.119202919"},
      {"tanh", {"float64: 0.0 -inf"}, "float64: 0.0 -1.0"},
      {"tanh", {"= float32: 0.0"}, "float32: 0.0"},
      {"log", {"1"}, "float64: 0.0"},
      {"log", {"bool: true"}, "error: argument 1 of log is bool, expected a number"},
      {"pow", {"float64: 2.0 null 2.0", "float64: 3.0 1.0 -1.0"}, "float64: 8.0 null 0.5"},
      {"pow", {"float32: 1.5", "2"}, "float32: 2.25"},
      {"pow", {"int8: 2 3", "2"}, "float64: 4.0 9.0"},
      {"pow", {"2", "int64: 2 3"}, "float64: 4.0 8.0"},
      {"pow", {"2", "3"}, "float64: 8.0"},
      {"pow", {"string: 'a'", "string: 'a'"}, "error: argument 1 of pow is string"},
  };
  FUNCTION_CHECK(tests);
}

TEST(nan_and_infinity) {
  static const function_case tests[] = {
      {"is_nan", {"float32: 1.0 nan inf null"}, "bool: false true false null"},
      {"is_finite", {"float64: 1.0 nan inf -inf null"}, "bool: true false false false null"},
      {"is_nan", {"int8: 1 null"}, "bool: false null"},
      {"is_finite", {"uint64: 1 null"}, "bool: true null"},
      {"is_nan", {"float16: nan 1.0"}, "bool: true false"},
      {"is_finite", {"0.5"}, "bool: true"},
      {"is_nan", {"bool: true"}, "error: argument 1 of is_nan is bool"},
  };
  FUNCTION_CHECK(tests);
}

TEST(bounds) {
  static const function_case tests[] = {
      {"minimum", {"int8: 1 5 null", "int8: 3 3 3"}, "int8: 1 3 null"},
      {"maximum", {"int16: 1 5", "3"}, "int16: 3 5"},
      {"maximum", {"0", "int64: -1 5"}, "int64: 0 5"},
      {"maximum", {"uint64: 18446744073709551615", "1"}, "uint64: 18446744073709551615"},
      {"minimum", {"float32: 1.0 nan 5.0", "float32: 2.0 2.0 nan"}, "float32: 1.0 nan nan"},
      {"maximum", {"float64: 1.0 nan 5.0", "float64: 2.0 2.0 nan"}, "float64: 2.0 nan nan"},
      {"minimum", {"int32: 1", "0.5"}, "float64: 0.5"},
      {"clip", {"int8: -5 5 50 null", "0", "10"}, "int8: 0 5 10 null"},
      {"clip", {"float32: -5.0 0.5 nan", "0", "1"}, "float32: 0.0 0.5 nan"},
      {"clip", {"int32: 5 5", "int32: 6 1", "int32: 9 2"}, "int32: 6 2"},
      {"clip", {"int32: 5 5", "int32: null 1", "9"}, "int32: null 5"},
      {"clip", {"= int32: 5", "0", "3"}, "int32: 3"},
      {"minimum", {"string: 'a'", "'b'"}, "error: argument 1 of minimum is string"},
  };
  FUNCTION_CHECK(tests);
}

TEST(buckets_by_bounds) {
  static const function_case tests[] = {
      {"bucketize",
       {"float32: -1.0 0.0 0.5 1.0 7.0 nan null", "[0, 1, 5.5]"},
       "int64: 0 1 1 2 3 3 null"},
      {"bucketize", {"int8: 0 1 2 3 4 5", "[1, 3]"}, "int64: 0 1 1 2 2 2"},
      {"bucketize", {"int8: 0 1 2", "[0.5, 300]"}, "int64: 0 1 1"},
      {"bucketize", {"uint64: 0 18446744073709551615", "[1]"}, "int64: 0 1"},
      {"bucketize", {"int64: 1 2 3 4 5 6 7 8 9", "[2, 4, 6, 8]"}, "int64: 0 1 1 2 2 3 3 4 4"},
      {"bucketize", {"int64: 1 2 3", "[2, 2]"}, "int64: 0 2 2"},
      {"bucketize", {"int64: 1", "[]"}, "int64: 0"},
      {"bucketize", {"= int64: 1", "[1]"}, "int64: 1"},
      {"bucketize",
       {"int64: 1", "[2, 1]"},
       "error: argument 2 of bucketize is int64, expected a list of asc"},
      {"bucketize", {"int64: 1", "[1, null]"}, "error: argument 2 of bucketize"},
      {"bucketize", {"int64: 1", "[nan]"}, "error: argument 2 of bucketize"},
      {"bucketize", {"int64: 1", "2"}, "error: argument 2 of bucketize"},
      {"bucketize", {"string: 'a'", "[1]"}, "error: bucketize of string and int64"},
  };
  FUNCTION_CHECK(tests);
}

/* The figures are TensorFlow's, of string_to_hash_bucket_fast and fingerprint. */
TEST(buckets_by_hash) {
  static const function_case tests[] = {
      {"hash", {"string: 'a' 'hello' '' null", "1000"}, "int64: 939 296 263 null"},
      {"hash", {"binary_view: 'a' 'hello'", "1000"}, "int64: 939 296"},
      {"hash", {"int8: -5", "1000"}, "int64: 816"},
      {"hash", {"int64: -5", "1000"}, "int64: 816"},
      {"hash", {"uint64: 18446744073709551615", "1000"}, "int64: 233"},
      {"hash", {"'hello'", "1000"}, "int64: 296"},
      {"hash", {"string: 'a'", "1"}, "int64: 0"},
      {"hash", {"string: 'a'", "0"}, "error: argument 2 of hash is int64, expected a literal of 1"},
      {"hash", {"string: 'a'", "int64: 5"}, "error: argument 2 of hash"},
      {"hash", {"float32: 0.5", "5"}, "error: argument 1 of hash is float32, expected text"},
  };
  FUNCTION_CHECK(tests);
}

TEST(fingerprints_of_every_size) {
  static const struct {
    size_t size;
    uint64_t expected;
  } tests[] = {
      {0, UINT64_C(0x9ae16a3b2f90404f)},   {1, UINT64_C(0xeabf3252cc3bf414)},
      {2, UINT64_C(0x7a8bffc69b4b44cf)},   {3, UINT64_C(0x2e32b118f0d8335a)},
      {4, UINT64_C(0x091c0ca62dc594a9)},   {7, UINT64_C(0x7d0812219823e837)},
      {8, UINT64_C(0xf1a5de34c525b53c)},   {9, UINT64_C(0x8b21d9bf8f568a92)},
      {15, UINT64_C(0x2fc4988ee19f7a4e)},  {16, UINT64_C(0x64d26b2e7b9279ec)},
      {17, UINT64_C(0x7ab7201a47a3f619)},  {24, UINT64_C(0xc3b0d0462df9aa92)},
      {31, UINT64_C(0x2342597ca5d3202c)},  {32, UINT64_C(0xd3bea1c6e9819f16)},
      {33, UINT64_C(0x5733385183752e67)},  {48, UINT64_C(0xddf7d81f1098e783)},
      {63, UINT64_C(0x4b2fddbfdca68b0e)},  {64, UINT64_C(0x6acb9d12ca78660c)},
      {65, UINT64_C(0x204c405504fca440)},  {100, UINT64_C(0x28658e6c5aa02040)},
      {127, UINT64_C(0xd1cf35dc91e3a779)}, {128, UINT64_C(0x0bd3bf18dbcef71c)},
      {129, UINT64_C(0x3b2dae06daf972d1)}, {192, UINT64_C(0x00b1996cbb9ddc02)},
      {193, UINT64_C(0xdeb3c9897c21cee6)}, {255, UINT64_C(0x26020a0416fb3a8e)},
      {256, UINT64_C(0x50c18244761be15d)}, {400, UINT64_C(0xd9abb4768e676fae)},
  };
  uint8_t bytes[400];
  for (size_t i = 0; i < sizeof bytes; i++) {
    bytes[i] = (uint8_t)((i * 7 + i / 13 * 31 + 65) % 251);
  }
  for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    CHECK_EQ(cst__fingerprint64(bytes, tests[i].size), tests[i].expected);
  }
}
