/* Formats taken apart in public, sizes of buffers, and where the values of slots lie. */
#include <columnstone/arrow.h>
#include <string.h>

#include "harness.h"

static void release_none(struct ArrowSchema *schema) { schema->release = NULL; }

static struct ArrowSchema schema_of(const char *format) {
  return (struct ArrowSchema){
      .format = format, .name = "", .flags = ARROW_FLAG_NULLABLE, .release = release_none};
}

static cst_arrow_type type_of(const char *format) {
  struct ArrowSchema schema = schema_of(format);
  cst_arrow_type type;
  CHECK_EQ(cst_arrow_type_read(&schema, &type, NULL), CST_OK);
  CHECK(type.is_nullable);
  return type;
}

typedef struct expected {
  const char *format;
  cst_arrow_kind kind;
  int32_t width;
  int32_t offset_width;
  int32_t num_buffers;
  char unit;
} expected;

TEST(every_format) {
  static const expected all[] = {
      {"n", CST_ARROW_NULL, 0, 0, 0, 0},
      {"b", CST_ARROW_BOOL, 0, 0, 2, 0},
      {"c", CST_ARROW_INT, 1, 0, 2, 0},
      {"l", CST_ARROW_INT, 8, 0, 2, 0},
      {"C", CST_ARROW_UINT, 1, 0, 2, 0},
      {"L", CST_ARROW_UINT, 8, 0, 2, 0},
      {"e", CST_ARROW_FLOAT, 2, 0, 2, 0},
      {"f", CST_ARROW_FLOAT, 4, 0, 2, 0},
      {"g", CST_ARROW_FLOAT, 8, 0, 2, 0},
      {"z", CST_ARROW_BINARY, 0, 4, 3, 0},
      {"U", CST_ARROW_STRING, 0, 8, 3, 0},
      {"vu", CST_ARROW_STRING, 0, 0, 3, 0},
      {"w:5", CST_ARROW_FIXED_BINARY, 5, 0, 2, 0},
      {"+l", CST_ARROW_LIST, 0, 4, 2, 0},
      {"+vL", CST_ARROW_LIST, 0, 8, 3, 0},
      {"+m", CST_ARROW_MAP, 0, 4, 2, 0},
      {"+s", CST_ARROW_STRUCT, 0, 0, 1, 0},
      {"tdD", CST_ARROW_DATE, 4, 0, 2, 'D'},
      {"tdm", CST_ARROW_DATE, 8, 0, 2, 'm'},
      {"ttm", CST_ARROW_TIME, 4, 0, 2, 'm'},
      {"ttn", CST_ARROW_TIME, 8, 0, 2, 'n'},
      {"tsu:", CST_ARROW_TIMESTAMP, 8, 0, 2, 'u'},
      {"tDs", CST_ARROW_DURATION, 8, 0, 2, 's'},
      {"tiM", CST_ARROW_INTERVAL, 4, 0, 2, 'M'},
      {"tin", CST_ARROW_INTERVAL, 16, 0, 2, 'n'},
      {"d:9,2", CST_ARROW_DECIMAL, 16, 0, 2, 0},
      {"+us:0,1", CST_ARROW_OTHER, 0, 0, 0, 0},
      {"+r", CST_ARROW_OTHER, 0, 0, 0, 0},
      {"?", CST_ARROW_OTHER, 0, 0, 0, 0},
      {"", CST_ARROW_OTHER, 0, 0, 0, 0},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    cst_arrow_type type = type_of(all[i].format);
    CHECK_EQ(type.kind, all[i].kind);
    CHECK_EQ(type.width, all[i].width);
    CHECK_EQ(type.offset_width, all[i].offset_width);
    CHECK_EQ(type.num_buffers, all[i].num_buffers);
    CHECK_EQ(type.unit, all[i].unit);
  }
}

TEST(parameters) {
  CHECK_STR(type_of("tsn:Europe/Berlin").time_zone, "Europe/Berlin");
  CHECK_STR(type_of("tss:").time_zone, "");
  CHECK(type_of("l").time_zone == NULL);
  cst_arrow_type decimal = type_of("d:38,-3,256");
  CHECK_EQ(decimal.precision, 38);
  CHECK_EQ(decimal.scale, -3);
  CHECK_EQ(decimal.width, 32);
  CHECK_EQ(type_of("+w:7").kind, CST_ARROW_FIXED_LIST);
  CHECK_EQ(type_of("+w:7").num_items, 7);
  CHECK(type_of("+vl").is_view && type_of("vz").is_view && !type_of("+l").is_view);
}

TEST(what_is_refused) {
  struct ArrowSchema schema = schema_of("l");
  cst_arrow_type type;
  CHECK_EQ(cst_arrow_type_read(NULL, &type, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_arrow_type_read(&schema, NULL, NULL), CST_INVALID_ARGUMENT);
  schema.release = NULL;
  CHECK_EQ(cst_arrow_type_read(&schema, &type, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(type.kind, CST_ARROW_OTHER);
}

static int64_t size_of(const char *format, struct ArrowArray *array, int64_t buffer) {
  struct ArrowSchema schema = schema_of(format);
  return cst_arrow_buffer_size(&schema, array, buffer);
}

TEST(sizes_of_buffers) {
  static const int32_t offsets[] = {0, 2, 2, 9, 11, 20};
  static const int64_t blocks[] = {100, 7};
  const void *buffers[] = {NULL, offsets, "", NULL, blocks};
  struct ArrowArray array = {.length = 3, .offset = 1, .n_buffers = 2, .buffers = buffers};
  CHECK_EQ(size_of("b", &array, 0), 1);
  CHECK_EQ(size_of("b", &array, 1), 1);
  CHECK_EQ(size_of("tin", &array, 1), 64);
  CHECK_EQ(size_of("w:3", &array, 1), 12);
  CHECK_EQ(size_of("+l", &array, 1), 20);
  CHECK_EQ(size_of("+L", &array, 1), 40);
  CHECK_EQ(size_of("l", &array, 2), -1);
  CHECK_EQ(size_of("l", &array, -1), -1);
  CHECK_EQ(size_of("+r", &array, 0), -1);
  array.n_buffers = 3;
  CHECK_EQ(size_of("z", &array, 2), 11);
  CHECK_EQ(size_of("+vl", &array, 2), 16);
  array.n_buffers = 5;
  CHECK_EQ(size_of("vu", &array, 1), 64);
  CHECK_EQ(size_of("vu", &array, 2), 100);
  CHECK_EQ(size_of("vu", &array, 3), 7);
  CHECK_EQ(size_of("vu", &array, 4), 16);
}

TEST(slots) {
  static const uint8_t bits[] = {0x0d};
  static const int32_t offsets[] = {0, 1, 3, 3, 6};
  static const int32_t sizes[] = {1, 1, 2, 0};
  static const char bytes[] = "abcdef";
  const void *buffers[] = {bits, offsets, bytes};
  struct ArrowArray array = {
      .length = 3, .offset = 1, .null_count = -1, .n_buffers = 3, .buffers = buffers};
  struct ArrowSchema schema = schema_of("u");
  cst_bytes found = cst_arrow_bytes_at(&schema, &array, 2);
  CHECK_EQ(found.size, 3);
  CHECK_MEM(found.data, "def", 3);
  CHECK(cst_arrow_is_null(&schema, &array, 0));
  CHECK(!cst_arrow_is_null(&schema, &array, 1));
  schema = schema_of("n");
  CHECK(cst_arrow_is_null(&schema, &array, 1));
  int64_t begin;
  int64_t end;
  schema = schema_of("+l");
  CHECK(cst_arrow_list_at(&schema, &array, 2, &begin, &end));
  CHECK_EQ(begin, 3);
  CHECK_EQ(end, 6);
  CHECK(cst_arrow_bytes_at(&schema, &array, 0).data == NULL);
  schema = schema_of("+w:5");
  CHECK(cst_arrow_list_at(&schema, &array, 1, &begin, &end));
  CHECK_EQ(begin, 10);
  CHECK_EQ(end, 15);
  buffers[2] = sizes;
  schema = schema_of("+vl");
  CHECK(cst_arrow_list_at(&schema, &array, 1, &begin, &end));
  CHECK_EQ(begin, 3);
  CHECK_EQ(end, 5);
  schema = schema_of("+s");
  CHECK(!cst_arrow_list_at(&schema, &array, 1, &begin, &end));
  buffers[1] = "aabbccdd";
  schema = schema_of("w:2");
  CHECK_MEM(cst_arrow_bytes_at(&schema, &array, 1).data, "cc", 2);
}

TEST(views) {
  struct {
    int32_t size;
    char bytes[12];
  } views[2] = {{3, "abc"}, {14, ""}};
  static const char block[] = "--fourteen bytes--";
  const int32_t place[2] = {0, 2};
  memcpy(views[1].bytes + 4, place, sizeof place);
  const void *buffers[] = {NULL, views, block, NULL};
  struct ArrowArray array = {.length = 2, .n_buffers = 4, .buffers = buffers};
  struct ArrowSchema schema = schema_of("vu");
  cst_bytes found = cst_arrow_bytes_at(&schema, &array, 0);
  CHECK_EQ(found.size, 3);
  CHECK_MEM(found.data, "abc", 3);
  found = cst_arrow_bytes_at(&schema, &array, 1);
  CHECK_EQ(found.size, 14);
  CHECK_MEM(found.data, "fourteen bytes", 14);
}
