/* Large blocks, kept for reuse.
 *
 * A slot holds a block or NULL. Whoever exchanges a block out of its slot owns it, and may look at
 * the capacity that stands at its beginning. There is no lock, and so nothing that a fork could
 * leave locked; a block that another thread has in its hands meanwhile is lost to the child.
 */
#include "base/big_blocks.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"

enum { NUM_SLOTS = 32, MOST_KEPT = 64 << 20, ALIGNMENT = 64 };

/* Sanitizers look for uses of freed blocks: they are to see each block freed. */
#if defined(__SANITIZE_ADDRESS__)
enum { KEEP_AT_FIRST = 0 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
enum { KEEP_AT_FIRST = 0 };
#else
enum { KEEP_AT_FIRST = 1 };
#endif
#else
enum { KEEP_AT_FIRST = 1 };
#endif

static _Atomic(void *) slots[NUM_SLOTS];
static atomic_size_t kept; /* bytes in all slots, and of blocks on their way in or out */
static atomic_uint next_victim;
static atomic_bool keeps = KEEP_AT_FIRST;

/* Sizes come in steps of an eighth, so that blocks of about the same size serve each other. */
static size_t big_capacity(size_t size) {
  size_t step = (size_t)1 << (8 * sizeof(size_t) - 4 - (size_t)__builtin_clzl(size));
  return (size + step - 1) & ~(step - 1);
}

static size_t big_capacity_of(const void *block) {
  size_t capacity;
  memcpy(&capacity, block, sizeof capacity);
  return capacity;
}

/* Empties a slot: the block is the caller's, but counts as kept. */
static void *big_take_out(size_t i) {
  void *block = atomic_load_explicit(&slots[i], memory_order_relaxed);
  return block != NULL ? atomic_exchange(&slots[i], NULL) : NULL;
}

/* False if the slot is taken. */
static bool big_put_in(size_t i, void *block) {
  void *empty = NULL;
  return atomic_load_explicit(&slots[i], memory_order_relaxed) == NULL &&
         atomic_compare_exchange_strong(&slots[i], &empty, block);
}

/* A block that counts as kept, no longer; may be NULL. */
static void big_free(void *block) {
  if (block != NULL) {
    atomic_fetch_sub(&kept, big_capacity_of(block));
    free(block);
  }
}

/* Puts a block that counts as kept in an empty slot, or in that of another one, which is freed. */
static void big_place(void *block) {
  for (size_t i = 0; i < NUM_SLOTS; i++) {
    if (big_put_in(i, block)) {
      return;
    }
  }
  size_t victim = atomic_fetch_add(&next_victim, 1) % NUM_SLOTS;
  big_free(big_take_out(victim));
  if (!big_put_in(victim, block)) {
    big_free(block);
  }
}

static void *big_allocate(size_t capacity) {
  void *block = NULL;
  size_t alignment = capacity >= CST__OS_LARGE_PAGE ? CST__OS_LARGE_PAGE : ALIGNMENT;
  if (posix_memalign(&block, alignment, capacity) != 0) {
    return NULL;
  }
  if (capacity >= CST__OS_LARGE_PAGE) {
    cst__os_large_pages(block, capacity);
  }
  return block;
}

size_t cst__big_drop(void) {
  size_t dropped = 0;
  for (size_t i = 0; i < NUM_SLOTS; i++) {
    void *block = big_take_out(i);
    dropped += block != NULL ? big_capacity_of(block) : 0;
    big_free(block);
  }
  return dropped;
}

/* When the library is unloaded, nobody could free them any more. */
__attribute__((destructor)) static void big_unload(void) { (void)cst__big_drop(); }

void *cst__big_take(size_t size) {
  if (size > SIZE_MAX / 2) {
    return NULL;
  }
  size_t capacity = big_capacity(size);
  for (size_t i = 0; i < NUM_SLOTS && atomic_load_explicit(&kept, memory_order_relaxed) > 0; i++) {
    void *block = big_take_out(i);
    if (block != NULL && big_capacity_of(block) == capacity) {
      atomic_fetch_sub(&kept, capacity);
      return block;
    }
    if (block != NULL && !big_put_in(i, block)) {
      big_place(block);
    }
  }
  void *block = big_allocate(capacity);
  return block == NULL && cst__big_drop() > 0 ? big_allocate(capacity) : block;
}

/* Counts a block as kept, and frees others until all that are kept are few enough. False if they
 * are not: other threads are about to place as many. Whoever counts last sees all the others, so
 * that the bound holds. */
static bool big_count(size_t capacity) {
  size_t total = atomic_fetch_add(&kept, capacity) + capacity;
  for (size_t i = 0; i < NUM_SLOTS && total > MOST_KEPT; i++) {
    big_free(big_take_out(atomic_fetch_add(&next_victim, 1) % NUM_SLOTS));
    total = atomic_load(&kept);
  }
  if (total > MOST_KEPT) {
    atomic_fetch_sub(&kept, capacity);
    return false;
  }
  return true;
}

void cst__big_give(void *block, size_t size) {
  size_t capacity = big_capacity(size);
  if (!atomic_load(&keeps) || capacity > MOST_KEPT / 2 || !big_count(capacity)) {
    free(block);
    return;
  }
  memcpy(block, &capacity, sizeof capacity);
  big_place(block);
}

void cst__big_keep(bool keep) {
  atomic_store(&keeps, keep);
  if (!keep) {
    (void)cst__big_drop();
  }
}

size_t cst__big_kept(void) { return atomic_load(&kept); }
