/* Arenas that are rewound. */
#include <string.h>

#include "base/alloc.h"
#include "harness.h"

typedef struct counted {
  size_t taken;
  size_t blocks;
} counted;

static void *counted_allocate(void *ctx, size_t size, size_t align) {
  counted *c = ctx;
  c->taken += size;
  c->blocks++;
  return cst__default_allocator.allocate(NULL, size, align);
}

static void counted_release(void *ctx, void *ptr, size_t size, size_t align) {
  counted *c = ctx;
  c->taken -= size;
  cst__default_allocator.release(NULL, ptr, size, align);
}

static void fill_arena(cst__arena *arena, size_t blocks, size_t size) {
  for (size_t i = 0; i < blocks; i++) {
    void *block = cst__arena_take(arena, size);
    CHECK(block != NULL);
    memset(block, 1, size);
  }
}

TEST(rewound_arenas_come_to_one_block) {
  counted c = {0};
  const cst_allocator allocator = {sizeof allocator, counted_allocate, counted_release, &c};
  cst__arena arena;
  cst__arena_init(&arena, &allocator);
  cst__arena_rewind(&arena);
  CHECK_EQ(c.blocks, 0);
  fill_arena(&arena, 1000, 100);
  CHECK(c.blocks > 1);
  cst__arena_rewind(&arena);
  CHECK_EQ(c.taken, 0);
  c.blocks = 0;
  for (int i = 0; i < 3; i++) {
    fill_arena(&arena, 1000, 100);
    CHECK_EQ(c.blocks, 1);
    cst__arena_rewind(&arena);
  }
  fill_arena(&arena, 1, 1 << 20);
  CHECK_EQ(c.blocks, 2);
  cst__arena_rewind(&arena);
  fill_arena(&arena, 1, 1 << 20);
  CHECK_EQ(c.blocks, 3);
  cst__arena_reset(&arena);
  CHECK_EQ(c.taken, 0);
}

TEST(what_is_taken_is_aligned_as_the_arena_says) {
  static const size_t aligns[] = {0, 64, 4096};
  for (size_t i = 0; i < sizeof aligns / sizeof aligns[0]; i++) {
    cst__arena arena;
    cst__arena_init(&arena, NULL);
    arena.align = aligns[i];
    for (size_t size = 0; size < 200; size += 7) {
      char *block = cst__arena_take(&arena, size);
      CHECK_EQ((uintptr_t)block % (aligns[i] > 0 ? aligns[i] : 16), 0);
      memset(block, 1, size);
    }
    cst__arena_rewind(&arena);
    CHECK_EQ((uintptr_t)cst__arena_take(&arena, 1) % (aligns[i] > 0 ? aligns[i] : 16), 0);
    cst__arena_reset(&arena);
  }
}

TEST(items_that_cannot_be_are_refused) {
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  CHECK(cst__arena_take_items(&arena, -1, 8) == NULL);
  CHECK(cst__arena_take_items(&arena, INT64_MAX, 8) == NULL);
  CHECK(cst__arena_take_items(&arena, 0, 8) != NULL);
  CHECK(cst__arena_take_items(&arena, 100, 8) != NULL);
  cst__arena_reset(&arena);
}

TEST(an_arena_gives_no_more_than_it_may) {
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  arena.most = 100;
  CHECK(cst__arena_take(&arena, 60) != NULL);
  CHECK(cst__arena_charge(&arena, 40));
  CHECK(!arena.is_over);
  CHECK(cst__arena_take(&arena, 1) == NULL);
  CHECK(arena.is_over);
  CHECK_EQ(arena.taken, 100);
  CHECK(!cst__arena_charge(&arena, SIZE_MAX));
  cst__arena_reset(&arena);
}
