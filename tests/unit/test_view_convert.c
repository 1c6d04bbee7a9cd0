/* Conversion of views: offsets of the target's width, whatever is converted. */
#include "arrow_text.h"
#include "table/convert.h"

typedef struct sample {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__view view;
} sample;

static void make(sample *s, const char *type, const char *rows, cst__arena *arena) {
  arrow_text(type, rows, &s->schema, &s->array);
  CHECK_EQ(cst__view_init(&s->view, &s->schema, &s->array, true, arena, NULL), CST_OK);
}

static void drop(sample *s) {
  ArrowSchemaRelease(&s->schema);
  ArrowArrayRelease(&s->array);
}

/* Values of one type under another one's layout: the offsets are 0, 2, 2, 3. */
static void check_offsets(const char *type, const char *rows, const char *target_type) {
  cst_error error = CST_ERROR_INIT;
  cst__conversion conversion;
  sample from;
  sample target;
  cst__view out;
  cst__conversion_init(&conversion, NULL, &error);
  make(&from, type, rows, &conversion.arena);
  make(&target, target_type, "", &conversion.arena);
  CHECK_EQ(cst__view_convert(&conversion, &from.schema, &from.view, &target.view, &out), CST_OK);
  static const int64_t expected[] = {0, 2, 2, 3};
  for (int i = 0; i < 4; i++) {
    CHECK_EQ(cst__view_entry(out.offsets, target.view.offset_width, out.offset + i), expected[i]);
  }
  cst__conversion_reset(&conversion);
  drop(&from);
  drop(&target);
}

TEST(offsets_have_the_width_of_the_target) {
  static const char *const lists[] = {"list<int8>", "large_list<int8>", "list_view<int8>",
                                      "large_list_view<int8>"};
  static const char *const strings[] = {"binary", "large_binary", "binary_view"};
  for (int to = 0; to < 2; to++) {
    for (size_t i = 0; i < 4; i++) {
      check_offsets(lists[i], "[1, 2] null [3]", lists[to]);
    }
    for (size_t i = 0; i < 3; i++) {
      check_offsets(strings[i], "'ab' null 'c'", strings[to]);
    }
  }
}
