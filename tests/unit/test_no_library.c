/* A machine without libbz2 and liblzma: what needs them says so, and everything else works. This
 * program's own dlopen finds nothing. */
#include <dlfcn.h>
#include <string.h>

#include "avro/avro_codec.h"
#include "harness.h"

void *dlopen(const char *file, int mode) {
  (void)file;
  (void)mode;
  return NULL;
}

static void check_missing(const char *name, const char *library) {
  const cst__avro_codec *codec;
  cst_error error = CST_ERROR_INIT;
  const cst_bytes word = {(const uint8_t *)name, strlen(name)};
  CHECK_EQ(cst__avro_codec_find(word, &codec, &error), CST_OK);

  const cst_allocator *allocator = &cst__default_allocator;
  cst__text room = {.allocator = *allocator};
  cst_bytes block = {(const uint8_t *)"block", 5};
  CHECK_EQ(cst__avro_deflate(codec, &block, &room, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.message, library);
  CHECK_CONTAINS(error.hint, "install");
  cst__text_free(&room);

  cst__avro_inflater inflater;
  cst_bytes out;
  error = (cst_error)CST_ERROR_INIT;
  cst__avro_inflater_init(&inflater, codec, 0, allocator);
  CHECK_EQ(cst__avro_inflate(&inflater, block, &out, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.message, library);
  CHECK_CONTAINS(error.hint, "install");
  cst__avro_inflater_reset(&inflater);
}

TEST(bzip2_names_its_library) { check_missing("bzip2", "libbz2"); }

TEST(xz_names_its_library) { check_missing("xz", "liblzma"); }

TEST(others_need_none) {
  static const char *const names[] = {"deflate", "zstandard", "snappy"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const cst__avro_codec *codec;
    cst_error error = CST_ERROR_INIT;
    const cst_bytes word = {(const uint8_t *)names[i], strlen(names[i])};
    const cst_allocator *allocator = &cst__default_allocator;
    cst__text room = {.allocator = *allocator};
    cst_bytes block = {(const uint8_t *)"block", 5}, out;
    cst__avro_inflater inflater;
    CHECK_EQ(cst__avro_codec_find(word, &codec, &error), CST_OK);
    CHECK_EQ(cst__avro_deflate(codec, &block, &room, &error), CST_OK);
    cst__avro_inflater_init(&inflater, codec, 0, allocator);
    CHECK_EQ(cst__avro_inflate(&inflater, block, &out, &error), CST_OK);
    CHECK_EQ(out.size, 5);
    CHECK_MEM(out.data, "block", 5);
    cst__avro_inflater_reset(&inflater);
    cst__text_free(&room);
  }
}
