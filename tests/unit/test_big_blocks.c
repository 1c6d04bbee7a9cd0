/* Large blocks that are kept for reuse. */
#include <pthread.h>
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
  cst__big_keep(false); /* the leak check of the sanitizers sees whether all are free */
}

TEST(no_memory_for_the_impossible) {
  CHECK(cst__big_take(SIZE_MAX) == NULL);
  CHECK(cst__big_take(SIZE_MAX / 2) == NULL);
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
}
