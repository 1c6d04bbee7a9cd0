/* Arrays in one block: where they lie, strings that are joined and those that are not, limits. */
#include <columnstone/tensor.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static int64_t length_at(const char *block, size_t i) {
  int64_t length;
  memcpy(&length, block + i * sizeof length, sizeof length);
  return length;
}

TEST(numbers_and_strings_lie_at_multiples_of_the_alignment) {
  static const int32_t numbers[] = {1, 2, 3};
  static const int64_t shape[] = {3};
  static const char joined[] = "abbccc";
  const uint8_t *at = (const uint8_t *)joined;
  const cst_bytes together[] = {{at, 1}, {NULL, 0}, {at + 1, 2}};
  const cst_bytes apart[] = {{at + 3, 3}, {at, 1}, {NULL, 0}};
  const cst_ndarray ndarrays[] = {
      {CST_DTYPE_INT32, 1, shape, 3, numbers, NULL},
      {CST_DTYPE_BYTES, 1, shape, 3, NULL, together},
      {CST_DTYPE_BYTES, 1, shape, 3, NULL, apart},
  };
  cst_block_array arrays[4];
  size_t size;
  for (size_t i = 0; i < 3; i++) {
    CHECK_EQ(cst_block_array_init(&arrays[i], &ndarrays[i], NULL), CST_OK);
  }
  const int64_t lengths[] = {2, 1};
  arrays[3] = (cst_block_array){
      .head = lengths, .head_size = sizeof lengths, .data = "xyz", .data_size = 3};
  CHECK_EQ(cst_block_plan(arrays, 4, &size, NULL), CST_OK);
  CHECK_EQ(size, 4 * CST_BLOCK_ALIGNMENT);
  char *block = malloc(size);
  memset(block, '#', size);
  CHECK_EQ(cst_block_fill(arrays, 4, block, size, NULL), CST_OK);
  CHECK_MEM(block, numbers, sizeof numbers);
  CHECK(block[sizeof numbers] == '#'); /* nothing is written between arrays */
  CHECK(arrays[1].joined == joined);
  CHECK_EQ(arrays[1].offset, 64);
  CHECK_EQ(length_at(block + 64, 0), 1);
  CHECK_EQ(length_at(block + 64, 1), 0);
  CHECK_EQ(length_at(block + 64, 2), 2);
  CHECK_MEM(block + 64 + 24, "abb#", 4);
  CHECK(arrays[2].joined == NULL);
  CHECK_EQ(length_at(block + 128, 0), 3);
  CHECK_MEM(block + 128 + 24, "ccca#", 5);
  CHECK_EQ(length_at(block + 192, 0), 2);
  CHECK_MEM(block + 192 + 16, "xyz#", 4);
  free(block);
}

TEST(nothing_needs_no_block) {
  size_t size = 1;
  CHECK_EQ(cst_block_plan(NULL, 0, &size, NULL), CST_OK);
  CHECK_EQ(size, 0);
  CHECK_EQ(cst_block_fill(NULL, 0, NULL, 0, NULL), CST_OK);
  cst_block_array empty = {.head = NULL};
  CHECK_EQ(cst_block_plan(&empty, 1, &size, NULL), CST_OK);
  CHECK_EQ(size, 0);
  CHECK_EQ(cst_block_fill(&empty, 1, NULL, 0, NULL), CST_OK);
}

TEST(what_is_refused) {
  char block[CST_BLOCK_ALIGNMENT];
  size_t size;
  cst_error error = CST_ERROR_INIT;
  cst_block_array arrays[] = {{.head = block, .head_size = 60}, {.head = block, .head_size = 5}};
  CHECK_EQ(cst_block_plan(arrays, 2, &size, NULL), CST_OK);
  CHECK_EQ(size, 128);
  char small[68];
  CHECK_EQ(cst_block_fill(arrays, 2, small, sizeof small, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "the memory of a block is too small: 68 bytes");
  CHECK_EQ(cst_block_fill(arrays, 2, NULL, 128, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_block_plan(NULL, 1, &size, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(size, 0);
  arrays[1].head_size = SIZE_MAX - 32;
  CHECK_EQ(cst_block_plan(arrays, 2, &size, NULL), CST_LIMIT);
  arrays[1].head = NULL;
  CHECK_EQ(cst_block_plan(arrays, 2, &size, NULL), CST_INVALID_ARGUMENT);
  const cst_bytes huge[] = {{(const uint8_t *)block, SIZE_MAX}, {(const uint8_t *)block, 1}};
  const cst_ndarray strings = {CST_DTYPE_BYTES, 1, (int64_t[]){2}, 2, NULL, huge};
  CHECK_EQ(cst_block_array_init(&arrays[0], &strings, NULL), CST_OK);
  CHECK_EQ(cst_block_plan(arrays, 1, &size, NULL), CST_LIMIT);
  const cst_ndarray numbers = {CST_DTYPE_INT64, 1, (int64_t[]){INT64_MAX}, INT64_MAX, block, NULL};
  CHECK_EQ(cst_block_array_init(&arrays[0], &numbers, NULL), CST_INVALID_ARGUMENT);
}
