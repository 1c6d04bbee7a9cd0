/* The memory of batches: chunks for those that are kept, and what comes back. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/batch.h"
#include "harness.h"

enum { COLUMNS = 4, MANY = 24, SMALL = 4 << 10, USUAL = 96 << 10, LARGE = 160 << 10 };

/* An allocator that says what it has given. */
typedef struct ledger {
  size_t live;    /* bytes */
  size_t largest; /* of all that was asked for */
  size_t buffers; /* requests of a buffer's size */
} ledger;

static void *ledger_allocate(void *ctx, size_t size, size_t align) {
  ledger *l = ctx;
  void *block = NULL;
  if (posix_memalign(&block, align < 64 ? 64 : align, size + (size == 0)) != 0) {
    return NULL;
  }
  l->live += size;
  l->largest = size > l->largest ? size : l->largest;
  l->buffers += size >= SMALL && size < 1 << 20;
  return block;
}

static void ledger_release(void *ctx, void *block, size_t size, size_t align) {
  (void)align;
  ((ledger *)ctx)->live -= block != NULL ? size : 0;
  free(block);
}

static cst_allocator allocator_of_ledger(ledger *l) {
  return (cst_allocator){sizeof(cst_allocator), ledger_allocate, ledger_release, l};
}

/* A batch of columns of `size` bytes, each byte of which is `mark`. */
static bool fill(cst__batch_pool *pool, size_t size, int mark, struct ArrowArray *out) {
  static const size_t order[COLUMNS] = {0, 1, 2, 3};
  static const char *const names[COLUMNS] = {"a", "b", "c", "d"};
  cst_error error = CST_ERROR_INIT;
  cst__batch *batch = cst__batch_take(pool, COLUMNS);
  bool ok = batch != NULL;
  for (size_t i = 0; ok && i < COLUMNS; i++) {
    cst__column *c = &batch->columns[i];
    ok = cst__batch_room(batch, &c->values, size);
    if (ok) {
      CHECK_EQ((uintptr_t)c->values.data % 64, 0);
      memset(c->values.data, mark, c->values.capacity);
      c->kind = CST__VALUES_FLOAT32;
      c->flat = true;
      c->fixed_size = -1;
      c->num_values = (int64_t)(size / 4);
    }
  }
  ok = ok &&
       cst__batch_export(batch, (int64_t)(size / 4), order, names, COLUMNS, out, &error) == CST_OK;
  if (!ok && batch != NULL) {
    cst__batch_drop(batch);
  }
  return ok;
}

static void check_marks(const struct ArrowArray *array, size_t size, int mark) {
  for (int64_t i = 0; i < array->n_children; i++) {
    const uint8_t *bytes = array->children[i]->buffers[1];
    CHECK_EQ(bytes[0], mark);
    CHECK_EQ(bytes[size - 1], mark);
    CHECK(memcmp(bytes, bytes + 1, size - 1) == 0);
  }
}

TEST(kept_batches_share_chunks) {
  ledger l = {0};
  const cst_allocator allocator = allocator_of_ledger(&l);
  cst__batch_pool *pool = cst__batch_pool_new(&allocator);
  struct ArrowArray batches[MANY];
  for (int i = 0; i < MANY; i++) {
    CHECK(fill(pool, USUAL, i + 1, &batches[i]));
  }
  CHECK_EQ(l.buffers, 4 * COLUMNS); /* the others' lie in chunks, which are larger */
  CHECK_EQ(l.largest, 2 << 20);
  for (int i = 0; i < MANY; i++) {
    check_marks(&batches[i], USUAL, i + 1);
  }
  /* One batch keeps the chunks that it lies in, two at most. */
  cst__batch_pool_release(pool);
  for (int i = 0; i < MANY; i++) {
    if (i != MANY / 2) {
      batches[i].release(&batches[i]);
    }
  }
  CHECK(l.live < (4 << 20) + (64 << 10));
  check_marks(&batches[MANY / 2], USUAL, MANY / 2 + 1);
  batches[MANY / 2].release(&batches[MANY / 2]);
  CHECK_EQ(l.live, 0);
}

TEST(batches_that_come_back_take_no_chunks) {
  ledger l = {0};
  const cst_allocator allocator = allocator_of_ledger(&l);
  cst__batch_pool *pool = cst__batch_pool_new(&allocator);
  enum { WINDOW = 4 };
  struct ArrowArray batches[WINDOW];
  for (int i = 0; i < MANY; i++) {
    struct ArrowArray *batch = &batches[i % WINDOW];
    if (i >= WINDOW) {
      check_marks(batch, USUAL, i - WINDOW + 1);
      batch->release(batch);
    }
    CHECK(fill(pool, USUAL, i + 1, batch));
  }
  CHECK(l.largest < 1 << 20);
  CHECK_EQ(l.buffers, WINDOW * COLUMNS);
  for (int i = 0; i < WINDOW; i++) {
    batches[i].release(&batches[i]);
  }
  cst__batch_pool_release(pool);
  CHECK_EQ(l.live, 0);
}

static void check_no_chunks(size_t size) {
  ledger l = {0};
  const cst_allocator allocator = allocator_of_ledger(&l);
  cst__batch_pool *pool = cst__batch_pool_new(&allocator);
  struct ArrowArray batches[MANY];
  for (int i = 0; i < MANY; i++) {
    CHECK(fill(pool, size, i + 1, &batches[i]));
  }
  CHECK(l.largest < 1 << 20);
  for (int i = 0; i < MANY; i++) {
    check_marks(&batches[i], size, i + 1);
    batches[i].release(&batches[i]);
  }
  cst__batch_pool_release(pool);
  CHECK_EQ(l.live, 0);
}

TEST(small_batches_take_no_chunks) { check_no_chunks(SMALL); }

TEST(large_buffers_are_blocks_of_their_own) { check_no_chunks(300 << 10); }

/* Batches that suddenly are larger: what a chunk has no room for is allocated. */
TEST(batches_may_grow) {
  ledger l = {0};
  const cst_allocator allocator = allocator_of_ledger(&l);
  cst__batch_pool *pool = cst__batch_pool_new(&allocator);
  struct ArrowArray batches[MANY];
  for (int i = 0; i < MANY; i++) {
    CHECK(fill(pool, i < 6 ? USUAL : LARGE, i + 1, &batches[i]));
  }
  for (int i = 0; i < MANY; i++) {
    check_marks(&batches[i], i < 6 ? USUAL : LARGE, i + 1);
  }
  /* What comes back is used again and grows out of its chunk. */
  batches[5].release(&batches[5]);
  CHECK(fill(pool, LARGE, 77, &batches[5]));
  check_marks(&batches[5], LARGE, 77);
  for (int i = 0; i < MANY; i++) {
    batches[i].release(&batches[i]);
  }
  cst__batch_pool_release(pool);
  CHECK_EQ(l.live, 0);
}

TEST(a_buffer_leaves_its_chunk_with_its_bytes) {
  ledger l = {0};
  const cst_allocator allocator = allocator_of_ledger(&l);
  cst__batch_pool *pool = cst__batch_pool_new(&allocator);
  struct ArrowArray batches[6];
  for (int i = 0; i < 6; i++) {
    CHECK(fill(pool, USUAL, i + 1, &batches[i]));
  }
  cst__batch *batch = cst__batch_take(pool, 1);
  cst__buffer *values = &batch->columns[0].values;
  CHECK(cst__batch_room(batch, values, 1000));
  CHECK(values->is_cut);
  memset(values->data, 9, 1000);
  CHECK(cst__buffer_reserve(&allocator, values, 5000, 1000));
  CHECK(!values->is_cut);
  CHECK_EQ(values->data[0], 9);
  CHECK_EQ(values->data[999], 9);
  cst__batch_drop(batch);
  for (int i = 0; i < 6; i++) {
    batches[i].release(&batches[i]);
  }
  cst__batch_pool_release(pool);
  CHECK_EQ(l.live, 0);
}

static int keep_some(void *context) {
  (void)context;
  enum { SOME = 12 };
  struct ArrowArray batches[SOME];
  cst__batch_pool *pool = cst__batch_pool_new(NULL);
  int made = 0;
  while (pool != NULL && made < SOME && fill(pool, USUAL, made + 1, &batches[made])) {
    made++;
  }
  cst__batch_pool_release(pool);
  for (int i = 0; i < made; i++) {
    batches[i].release(&batches[i]);
  }
  return made == SOME ? CST_OK : CST_NO_MEMORY;
}

TEST(no_memory) { FOR_EACH_ALLOCATION_FAILURE(keep_some, NULL, CST_NO_MEMORY); }

static void *release_all(void *context) {
  struct ArrowArray *batches = context;
  for (int i = 0; i < MANY; i++) {
    batches[i].release(&batches[i]);
  }
  return NULL;
}

TEST(batches_are_released_on_any_thread) {
  cst__batch_pool *pool = cst__batch_pool_new(NULL);
  struct ArrowArray first[MANY];
  struct ArrowArray second[MANY];
  for (int i = 0; i < MANY; i++) {
    CHECK(fill(pool, USUAL, i + 1, &first[i]));
  }
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, release_all, first), 0);
  for (int i = 0; i < MANY; i++) {
    CHECK(fill(pool, USUAL, i + 1, &second[i]));
  }
  cst__batch_pool_release(pool);
  for (int i = 0; i < MANY; i++) {
    check_marks(&second[i], USUAL, i + 1);
  }
  (void)release_all(second);
  pthread_join(thread, NULL);
}
