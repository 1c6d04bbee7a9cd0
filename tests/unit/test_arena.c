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
