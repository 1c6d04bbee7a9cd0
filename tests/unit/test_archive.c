/* Archives: what is saved is loaded again, and bytes that saving never writes are bad. */
#include "base/archive.h"

#include <math.h>
#include <string.h>

#include "harness.h"

typedef struct sample {
  uint64_t number;
  int64_t signed_number;
  double real;
  bool flag;
  int kind;
  size_t count;
  char text[8];
  const char *name;
} sample;

static void archive_sample(cst__archive *a, sample *s, cst__arena *arena) {
  cst__archive_u64(a, &s->number);
  cst__archive_i64(a, &s->signed_number);
  cst__archive_double(a, &s->real);
  cst__archive_bool(a, &s->flag);
  cst__archive_enum(a, &s->kind, 3);
  cst__archive_count(a, &s->count);
  cst__archive_text(a, s->text, sizeof s->text);
  cst__archive_name(a, &s->name, arena);
}

TEST(what_is_saved_is_loaded) {
  static const int64_t numbers[] = {0, 1, -1, 63, -64, 64, 127, 128, INT64_MAX, INT64_MIN};
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    cst__text out = {0};
    sample from = {(uint64_t)numbers[i], numbers[i], -INFINITY, i % 2 == 0, 2, 4,
                   "\xc3\xa9t",          "a name"};
    sample to = {0};
    cst__archive save = cst__archive_to(&out);
    archive_sample(&save, &from, &arena);
    cst__archive load = cst__archive_from((const uint8_t *)out.data, out.size);
    archive_sample(&load, &to, &arena);
    CHECK(!load.bad);
    CHECK(load.at == load.end);
    CHECK(to.number == from.number);
    CHECK_EQ(to.signed_number, from.signed_number);
    CHECK_DOUBLE(to.real, from.real);
    CHECK_EQ(to.flag, from.flag);
    CHECK_EQ(to.kind, 2);
    CHECK_EQ(to.count, 4);
    CHECK_STR(to.text, from.text);
    CHECK_STR(to.name, from.name);
    for (size_t size = 0; size < out.size; size++) { /* cut off anywhere: bad, and zeros */
      cst__archive part = cst__archive_from((const uint8_t *)out.data, size);
      archive_sample(&part, &to, &arena);
      CHECK(part.bad);
      CHECK_STR(to.name, "");
    }
    cst__text_free(&out);
  }
  cst__arena_reset(&arena);
}

static bool is_bad(const char *bytes, size_t size, void (*load)(cst__archive *a)) {
  cst__archive a = cst__archive_from((const uint8_t *)bytes, size);
  load(&a);
  return a.bad;
}

static void load_number(cst__archive *a) {
  uint64_t number = 0;
  cst__archive_u64(a, &number);
}
static void load_flag(cst__archive *a) {
  bool flag = false;
  cst__archive_bool(a, &flag);
}
static void load_count(cst__archive *a) {
  size_t count = 0;
  cst__archive_count(a, &count);
}
static void load_text(cst__archive *a) {
  char text[4];
  cst__archive_text(a, text, sizeof text);
}
static void load_name(cst__archive *a) {
  cst__arena arena;
  const char *name;
  cst__arena_init(&arena, NULL);
  cst__archive_name(a, &name, &arena);
  cst__arena_reset(&arena);
}

TEST(other_bytes_are_bad) {
  CHECK(!is_bad("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, load_number));
  CHECK(is_bad("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, load_number));
  CHECK(is_bad("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, load_number));
  CHECK(is_bad("\x02", 1, load_flag));
  CHECK(is_bad("\x02x", 2, load_count)); /* two items cannot lie in one byte */
  CHECK(!is_bad("\x03xyz", 4, load_text));
  CHECK(is_bad("\x04wxyz", 5, load_text)); /* no room */
  CHECK(is_bad("\x01\xff", 2, load_text)); /* no UTF-8 */
  CHECK(is_bad("\x02x\0", 3, load_text));
  CHECK(!is_bad("\x01\xff", 2, load_name));
  CHECK(is_bad("\x02x\0", 3, load_name));
}
