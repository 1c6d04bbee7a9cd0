/* Batches of any size to batches of one size. */
#include "source/pass/joiner.h"

#include "arrow_text.h"
#include "harness.h"

static struct ArrowSchema schema;

/* A batch of the numbers [first, first + count), odd ones null. */
static void numbers(int first, int count, struct ArrowArray *out) {
  char text[4096] = "";
  size_t at = 0;
  for (int i = first; i < first + count; i++) {
    at += (size_t)snprintf(text + at, sizeof text - at, i % 2 == 0 ? "{%d} " : "{null} ", i);
  }
  struct ArrowSchema ignored;
  arrow_text("struct{n: int64}", text, &ignored, out);
  ArrowSchemaRelease(&ignored);
}

/* Puts batches of the given sizes (0 ends), takes all; the batches that come out have `rows` rows.
 */
static cst_status join(const int *sizes, int rows) {
  cst__joiner joiner;
  int total = 0;
  int seen = 0;
  cst_status status = CST_OK;
  cst__joiner_init(&joiner, &schema, rows, NULL);
  for (bool end = false; !end && status == CST_OK;) {
    struct ArrowArray batch;
    end = *sizes == 0;
    if (!end) {
      numbers(total, *sizes, &batch);
      cst__place *origins = cst__joiner_add_origins(&joiner, *sizes);
      for (int i = 0; origins != NULL && i < *sizes; i++) {
        origins[i] = (cst__place){"", total + i, -1};
      }
      total += *sizes++;
      status = cst__joiner_put(&joiner, &batch, NULL);
      status = origins == NULL ? CST_NO_MEMORY : status;
    }
    while (status == CST_OK && (end || cst__joiner_is_full(&joiner))) {
      cst__arena arena;
      cst__view view;
      status = cst__joiner_take(&joiner, end, &batch, NULL);
      if (status != CST_OK || batch.release == NULL) {
        break;
      }
      cst__arena_init(&arena, NULL);
      status = cst__view_init(&view, &schema, &batch, false, &arena, NULL);
      if (status == CST_OK) {
        CHECK_EQ(view.length, end && total - seen < rows ? total - seen : rows);
        const cst__view *n = &view.children[0];
        for (int64_t i = 0; i < view.length; i++, seen++) {
          CHECK_EQ(cst__view_is_null(n, i), seen % 2);
          CHECK_EQ(cst__joiner_origin(&joiner, (size_t)i).record, seen);
          CHECK_EQ(seen % 2 == 0 ? ((const int64_t *)n->data)[n->offset + i] : seen, seen);
        }
      }
      cst__arena_reset(&arena);
      batch.release(&batch);
    }
  }
  cst__joiner_reset(&joiner);
  if (status == CST_OK) {
    CHECK_EQ(seen, total);
  }
  return status;
}

static void make_schema(void) {
  struct ArrowArray array;
  arrow_text("struct{n: int64}", "{1}", &schema, &array);
  ArrowArrayRelease(&array);
}

/* Of rows that are gone nothing stays, however many come. */
TEST(origins_are_forgotten) {
  cst__joiner joiner;
  make_schema();
  cst__joiner_init(&joiner, &schema, 4, NULL);
  for (int put = 0; put < 200; put++) {
    struct ArrowArray batch;
    numbers(0, 6, &batch);
    CHECK(cst__joiner_add_origins(&joiner, 6) != NULL);
    CHECK_EQ(cst__joiner_put(&joiner, &batch, NULL), CST_OK);
    while (cst__joiner_is_full(&joiner)) {
      CHECK_EQ(cst__joiner_take(&joiner, false, &batch, NULL), CST_OK);
      batch.release(&batch);
    }
  }
  CHECK(joiner.origins_capacity < 64);
  cst__joiner_reset(&joiner);
  ArrowSchemaRelease(&schema);
}

TEST(all_sizes) {
  static const int cases[][6] = {
      {4, 4, 4, 0}, {12, 1, 0}, {1, 1, 1, 1, 1, 0}, {3, 5, 2, 7, 0}, {100, 0}, {9, 2, 30, 0}, {0}};
  make_schema();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (int rows = 1; rows < 12; rows++) {
      CHECK_EQ(join(cases[i], rows), CST_OK);
    }
  }
  ArrowSchemaRelease(&schema);
}

TEST(a_batch_of_the_right_size_is_passed_on) {
  cst__joiner joiner;
  struct ArrowArray batch;
  struct ArrowArray out;
  make_schema();
  cst__joiner_init(&joiner, &schema, 4, NULL);
  numbers(0, 4, &batch);
  const void *values = batch.children[0]->buffers[1];
  CHECK_EQ(cst__joiner_put(&joiner, &batch, NULL), CST_OK);
  CHECK_EQ(cst__joiner_take(&joiner, false, &out, NULL), CST_OK);
  CHECK(out.children[0]->buffers[1] == values);
  out.release(&out);
  cst__joiner_reset(&joiner);
  ArrowSchemaRelease(&schema);
}
