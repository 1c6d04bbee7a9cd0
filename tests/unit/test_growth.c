/* What a file becomes, against its size: values of every layout are counted, however they are
 * stored. */
#include "arrow/ipc/growth.h"

#include "harness.h"

enum { ROWS = 100, TEXT = 1 << 20 };

static uint8_t text[TEXT];

/* A column of views of one text, all of it each. */
typedef struct shared_views {
  uint8_t slots[ROWS][16];
  int64_t sizes[1];
  const void *buffers[4];
  struct ArrowSchema schema;
  struct ArrowArray array;
} shared_views;

static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; }

static void release_array(struct ArrowArray *array) { array->release = NULL; }

static void make_views(shared_views *v) {
  memset(v, 0, sizeof *v);
  const int32_t size = TEXT;
  memset(text, 'x', sizeof text);
  for (int i = 0; i < ROWS; i++) {
    memcpy(v->slots[i], &size, sizeof size);
    memset(v->slots[i] + 4, 'x', 4);
  }
  v->sizes[0] = TEXT;
  v->buffers[1] = v->slots;
  v->buffers[2] = text;
  v->buffers[3] = v->sizes;
  v->schema = (struct ArrowSchema){.format = "vu", .name = "", .release = release_schema};
  v->array = (struct ArrowArray){
      .length = ROWS, .n_buffers = 4, .buffers = v->buffers, .release = release_array};
}

TEST(views_of_one_text_count_each) {
  static shared_views v;
  cst_error error = CST_ERROR_INIT;
  cst__arena arena;
  cst__view view;
  make_views(&v);
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&view, &v.schema, &v.array, false, &arena, &error), CST_OK);
  CHECK_EQ(cst__view_value_bytes(&view, 0, 1), TEXT);
  CHECK_EQ(cst__view_value_bytes(&view, 10, 80), 80 * (uint64_t)TEXT + 10);

  cst__growth growth = {.taken = TEXT - 1};
  CHECK_EQ(cst__growth_add(&growth, &view, &error), CST_OK);
  CHECK_EQ(cst__growth_add(&growth, &view, &error), CST_LIMIT);
  CHECK_CONTAINS(error.message, "more than 200 times as much");
  CHECK_CONTAINS(error.hint, "max_inflation");
  growth = (cst__growth){.taken = TEXT, .max_inflation = 99};
  CHECK_EQ(cst__growth_add(&growth, &view, &error), CST_LIMIT);
  cst__arena_reset(&arena);
}

TEST(a_row_that_is_too_large_is_named) {
  static const int32_t offsets[] = {0, 10, 20, 520, 530};
  static const uint8_t validity = 0x0e;
  static const int64_t numbers[] = {1, 2, 3, 4};
  const void *text_buffers[] = {NULL, offsets, text};
  const void *number_buffers[] = {&validity, numbers};
  const void *no_buffers[] = {NULL};
  struct ArrowSchema fields[] = {
      {.format = "z", .name = "t", .flags = 2, .release = release_schema},
      {.format = "l", .name = "n", .flags = 2, .release = release_schema}};
  struct ArrowSchema *schemas[] = {&fields[0], &fields[1]};
  struct ArrowArray columns[] = {
      {.length = 4, .n_buffers = 3, .buffers = text_buffers, .release = release_array},
      {.length = 4,
       .null_count = 1,
       .n_buffers = 2,
       .buffers = number_buffers,
       .release = release_array}};
  struct ArrowArray *arrays[] = {&columns[0], &columns[1]};
  const struct ArrowSchema schema = {
      .format = "+s", .name = "", .n_children = 2, .children = schemas, .release = release_schema};
  const struct ArrowArray array = {.length = 4,
                                   .n_buffers = 1,
                                   .buffers = no_buffers,
                                   .n_children = 2,
                                   .children = arrays,
                                   .release = release_array};
  cst_error error = CST_ERROR_INIT;
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&view, &schema, &array, false, &arena, &error), CST_OK);
  CHECK_EQ(cst__view_value_bytes(&view, 0, 4), 530 + 3 * 8); /* a null takes no number */

  cst__growth growth = {.max_record_size = 508};
  CHECK_EQ(cst__growth_add(&growth, &view, &error), CST_OK);
  growth.max_record_size = 507;
  CHECK_EQ(cst__growth_add(&growth, &view, &error), CST_LIMIT);
  CHECK_EQ(error.record, 2);
  CHECK_CONTAINS(error.hint, "max_record_size");
  cst__arena_reset(&arena);
}
