/* One tensor in the hands of several threads. */
#include <pthread.h>

#include "structured_support.h"

static const cst_path inner = PATH("a", "x");
static const cst_path copied = PATH("id");
static const cst_path below = PATH("a");

/* Each thread makes of the tensor what it likes, and gives it away. */
static void *use(void *shared) {
  const cst_structured *tensor = shared;
  const cst_field_copy up = {inner, {NULL, 0}, "all", false};
  const cst_field_copy down = {copied, below, "of", false};
  const cst_index_item item = {
      .kind = CST_INDEX_SLICE, .begin = CST_INDEX_OPEN, .end = CST_INDEX_OPEN, .step = -1};
  for (int i = 0; i < 50; i++) {
    cst_structured *made[5] = {NULL};
    int64_t dims[1];
    CHECK_EQ(cst_structured_shape(tensor, dims, NULL), CST_OK);
    CHECK_EQ(cst_structured_field(tensor, &inner, &made[0], NULL), CST_OK);
    CHECK_EQ(cst_structured_promote(tensor, &up, 1, &made[1], NULL), CST_OK);
    CHECK_EQ(cst_structured_broadcast(tensor, &down, 1, &made[2], NULL), CST_OK);
    CHECK_EQ(cst_structured_index(tensor, &item, 1, &made[3], NULL), CST_OK);
    made[4] = cst_structured_retain(tensor);
    for (int k = 0; k < 5; k++) cst_structured_release(made[k]);
  }
  cst_structured_release(shared);
  return NULL;
}

TEST(one_tensor_of_several_threads) {
  pthread_t threads[4];
  cst_structured *tensor = structured_sample("struct{id: int64, a: list<struct{x: list<int32>}>}",
                                             "{1, [{[1, 2]}, null]} {2, null} {3, [{[]}]}");
  for (size_t i = 0; i < 4; i++)
    CHECK_EQ(pthread_create(&threads[i], NULL, use, cst_structured_retain(tensor)), 0);
  cst_structured_release(tensor);
  for (size_t i = 0; i < 4; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
}
