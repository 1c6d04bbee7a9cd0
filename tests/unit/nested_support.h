/* Lists and choices of numbers, as the tests of src/nested say them.
 */
#ifndef TESTS_UNIT_NESTED_SUPPORT_H
#define TESTS_UNIT_NESTED_SUPPORT_H

#include <string.h>

#include "harness.h"
#include "nested/list.h"

/* Lists by where they begin; the last number is where they end. */
#define LISTS(...)                                                          \
  ((cst__lists){sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t) - 1, -1, \
                (const int64_t[]){__VA_ARGS__}, NULL})

/* Numbers, one by one; and some of which -1 is a null. */
#define NUMBERS(...)                                                          \
  ((cst__chosen){.count = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), \
                 .at = (const int64_t[]){__VA_ARGS__}})

#define NUMBERS_OR_NULL(...)                                                  \
  ((cst__chosen){.count = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), \
                 .at = (const int64_t[]){__VA_ARGS__},                        \
                 .has_null = true})

static inline cst__arena nested_arena(void) {
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  return arena;
}

/* What is chosen are these numbers, in whatever form it is known. */
static inline void check_chosen(const cst__chosen *actual, const int64_t *expected, int64_t count) {
  cst__arena arena = nested_arena();
  cst__chosen numbers = *actual;
  CHECK_EQ(actual->count, count);
  CHECK_EQ(cst__chosen_need_numbers(&numbers, &arena, NULL), CST_OK);
  for (int64_t i = 0; i < count; i++) CHECK_EQ(numbers.at[i], expected[i]);
  cst__arena_reset(&arena);
}

#define CHECK_CHOSEN(actual, ...)                      \
  check_chosen(actual, (const int64_t[]){__VA_ARGS__}, \
               sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static inline void check_splits(const cst__lists *actual, const int64_t *expected, int64_t count) {
  CHECK_EQ(actual->count, count);
  for (int64_t i = 0; i <= count; i++) CHECK_EQ(actual->splits[i], expected[i]);
}

#define CHECK_SPLITS(actual, ...)                      \
  check_splits(actual, (const int64_t[]){__VA_ARGS__}, \
               sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t) - 1)

/* A byte per list, or "" where none is null: "010". */
static inline void check_nulls(const cst__lists *actual, const char *expected) {
  CHECK_EQ(actual->nulls == NULL, expected[0] == '\0');
  for (int64_t i = 0; expected[0] != '\0' && i < actual->count; i++) {
    CHECK_EQ(actual->nulls[i], expected[i] - '0');
  }
}

#endif
