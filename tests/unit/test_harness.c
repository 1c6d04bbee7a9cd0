/* Tests of the harness itself: the wrapped allocation functions and the n-th failure. */
#include "harness.h"

#include <errno.h>
#include <nanoarrow/nanoarrow.h>
#include <stdlib.h>
#include <string.h>

TEST(only_the_chosen_allocation_fails) {
  harness_fail_allocation_after(2);
  void *one = malloc(8), *two = malloc(8), *three = malloc(8);
  CHECK(one != NULL);
  CHECK(two == NULL);
  CHECK(three != NULL);
  CHECK(harness_allocation_failed());
  free(one);
  free(three);
}

TEST(every_allocation_function_can_fail) {
  void *pointer = NULL;
  harness_fail_allocation_after(1);
  CHECK(calloc(2, 8) == NULL);
  harness_fail_allocation_after(1);
  CHECK(realloc(NULL, 8) == NULL);
  harness_fail_allocation_after(1);
  CHECK(aligned_alloc(64, 64) == NULL);
  harness_fail_allocation_after(1);
  CHECK_EQ(posix_memalign(&pointer, 64, 64), ENOMEM);
}

static int runs;

static int two_buffers(void *context) {
  char **source = context;
  runs++;
  char *first = malloc(16);
  if (!first) return -1;
  strcpy(first, *source);
  char *grown = realloc(first, 4096);
  if (!grown) {
    free(first);
    return -1;
  }
  free(grown);
  return 0;
}

TEST(a_scenario_runs_until_no_allocation_is_left_to_fail) {
  char text[] = "columnstone", *source = text;
  runs = 0;
  FOR_EACH_ALLOCATION_FAILURE(two_buffers, &source, -1);
  CHECK_EQ(runs, 4); /* one as it is, two that fail, one that has nothing left to fail */
}

static int build_array(void *context) {
  struct ArrowArray array;
  int code = ArrowArrayInitFromType(&array, NANOARROW_TYPE_INT64);
  if (code) return code;
  code = ArrowArrayStartAppending(&array);
  for (int64_t i = 0; !code && i < *(int64_t *)context; i++) code = ArrowArrayAppendInt(&array, i);
  if (!code) code = ArrowArrayFinishBuildingDefault(&array, NULL);
  ArrowArrayRelease(&array);
  return code;
}

TEST(allocations_of_nanoarrow_are_counted) {
  int64_t length = 1000;
  FOR_EACH_ALLOCATION_FAILURE(build_array, &length, ENOMEM);
}
