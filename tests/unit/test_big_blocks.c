/* Large blocks that are kept for reuse. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/big_blocks.h"
#include "harness.h"

TEST(blocks_are_used_again) {
  cst__big_keep(true);
  void *first = cst__big_take(300000);
  CHECK_EQ((uintptr_t)first % 64, 0);
  memset(first, 1, 300000);
  cst__big_give(first, 300000);
  void *other = cst__big_take(900000);
  CHECK(other != first);
  void *again = cst__big_take(299000); /* of the same capacity */
#if !defined(__SANITIZE_ADDRESS__)
  CHECK(again == first);
#endif
  cst__big_give(again, 299000);
  cst__big_give(other, 900000);
  cst__big_keep(false);
}

TEST(nothing_is_kept_without_end) {
  enum { COUNT = 200 };
  static void *blocks[COUNT];
  cst__big_keep(true);
  for (size_t i = 0; i < COUNT; i++) blocks[i] = cst__big_take(CST__BIG_BLOCK + (i << 17));
  for (size_t i = 0; i < COUNT; i++) {
    CHECK(blocks[i] != NULL);
    cst__big_give(blocks[i], CST__BIG_BLOCK + (i << 17));
  }
  CHECK(cst__big_kept() <= 64 << 20);
  cst__big_keep(false); /* the leak check of the sanitizers sees whether all are free */
  CHECK_EQ(cst__big_kept(), 0);
}

TEST(a_call_empties_the_cache) {
  cst__big_keep(true);
  cst__big_give(cst__big_take(300000), 300000);
  size_t kept = cst__big_kept();
  CHECK(kept >= 300000);
  CHECK_EQ(cst_memory_trim(), kept);
  CHECK_EQ(cst__big_kept(), 0);
  CHECK_EQ(cst_memory_trim(), 0);
  cst__big_keep(false);
}

TEST(what_is_kept_goes_where_memory_is_short) {
  cst__big_keep(true);
  cst__big_give(cst__big_take(300000), 300000);
  CHECK(cst__big_kept() >= 300000);
  harness_fail_allocation_after(1);
  void *block = cst__big_take(900000);
  harness_fail_allocation_after(0);
  CHECK(block != NULL);
  CHECK_EQ(cst__big_kept(), 0);
  cst__big_give(block, 900000);
  harness_fail_allocation_after(1);
  block = cst__new(NULL, 100);
  harness_fail_allocation_after(0);
  CHECK(block != NULL);
  CHECK_EQ(cst__big_kept(), 0);
  cst__delete(block);
  cst__big_keep(false);
}

/* What could be there in theory is not asked for: sanitizers end the program. */
TEST(no_memory) {
  CHECK(cst__big_take(SIZE_MAX) == NULL);
  CHECK(cst__big_take(SIZE_MAX / 2 + 1) == NULL);
  cst__big_keep(false);
  harness_fail_allocation_after(1);
  CHECK(cst__big_take(CST__BIG_BLOCK) == NULL);
  harness_fail_allocation_after(0);
}

static void *take_and_give(void *unused) {
  (void)unused;
  for (size_t i = 0; i < 20000; i++) {
    size_t size = CST__BIG_BLOCK + (i % 7 << 16);
    unsigned char *block = cst__big_take(size);
    block[0] = 1;
    block[size - 1] = 1;
    cst__big_give(block, size);
  }
  return NULL;
}

TEST(threads_share_them) {
  pthread_t threads[4];
  cst__big_keep(true);
  for (size_t i = 0; i < 4; i++)
    CHECK_EQ(pthread_create(&threads[i], NULL, take_and_give, NULL), 0);
  for (size_t i = 0; i < 4; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  cst__big_keep(false);
  CHECK_EQ(cst__big_kept(), 0);
}

/* All threads come at once with more than is kept. */
static void *give_large(void *blocks) {
  enum { SIZE = 20 << 20 };
  for (size_t i = 0; i < 10; i++) {
    void *some[4];
    for (size_t k = 0; k < 4; k++) some[k] = cst__big_take(SIZE);
    for (size_t k = 0; k < 4; k++) {
      cst__big_give(some[k], SIZE);
      atomic_fetch_add((atomic_size_t *)blocks, cst__big_kept() <= 160 << 20);
    }
  }
  return NULL;
}

TEST(threads_keep_no_more_together) {
  pthread_t threads[4];
  atomic_size_t within = 0;
  cst__big_keep(true);
  for (size_t i = 0; i < 4; i++)
    CHECK_EQ(pthread_create(&threads[i], NULL, give_large, &within), 0);
  for (size_t i = 0; i < 4; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  CHECK(cst__big_kept() <= 64 << 20); /* on the way in, each may have one more */
  CHECK_EQ(within, 160);
  cst__big_keep(false);
  CHECK_EQ(cst__big_kept(), 0);
}
