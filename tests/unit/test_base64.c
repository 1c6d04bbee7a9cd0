/* Base64: one text for any bytes, and what protobuf's JSON takes besides. */
#include "text/base64.h"

#include <string.h>

#include "harness.h"

static void check_both_ways(const char *text, const char *bytes, size_t size) {
  cst__text out = {0};
  cst__put_base64(&out, (cst_bytes){(const uint8_t *)bytes, size});
  CHECK_EQ(out.size, strlen(text));
  CHECK_MEM(out.data, text, out.size);
  cst__text_free(&out);
  for (int form = CST__BASE64_EXACT; form <= CST__BASE64_ANY; form++) {
    uint8_t back[64];
    size_t found = 0;
    CHECK(cst__base64_size(text, strlen(text), (cst__base64_form)form, &found));
    CHECK_EQ(found, size);
    cst__base64_decode(text, strlen(text), back);
    CHECK_MEM(back, bytes, size);
  }
}

TEST(both_ways) {
  check_both_ways("", "", 0);
  check_both_ways("/w==", "\xff", 1);
  check_both_ways("/wA=", "\xff\0", 2);
  check_both_ways("/wAB", "\xff\0\x01", 3);
  check_both_ways("AZaz09+/", "\x01\x96\xb3\xd3\xdf\xbf", 6);
}

static bool is_base64(const char *text, cst__base64_form form) {
  size_t size;
  return cst__base64_size(text, strlen(text), form, &size);
}

TEST(what_is_exact) {
  static const char *const texts[] = {"/w",   "/w=",   "/x==",  "/wB=",    "/wA",
                                      "a-_b", "/w==A", "/wAB=", "/wAB===="};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    CHECK(!is_base64(texts[i], CST__BASE64_EXACT));
  }
}

TEST(what_protobuf_takes) {
  uint8_t out[8];
  size_t size;
  CHECK(cst__base64_size("a-_b", 4, CST__BASE64_ANY, &size) && size == 3);
  cst__base64_decode("a-_b", 4, out);
  CHECK_MEM(out, "\x6b\xef\xdb", 3);
  CHECK(cst__base64_size("/x", 2, CST__BASE64_ANY, &size) && size == 1);
  cst__base64_decode("/x", 2, out);
  CHECK_EQ(out[0], 0xff);
  CHECK(cst__base64_size("/wB=", 4, CST__BASE64_ANY, &size) && size == 2);
}

TEST(what_is_none) {
  static const char *const texts[] = {"/", "/w=A", "====", "/===", "/w==\n", "a b=", "\xff\xff=="};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    CHECK(!is_base64(texts[i], CST__BASE64_EXACT));
    CHECK(!is_base64(texts[i], CST__BASE64_ANY));
  }
}

static int without_memory(void *context) {
  cst__text out = {.allocator = cst__default_allocator};
  (void)context;
  cst__put_base64(&out, (cst_bytes){(const uint8_t *)"abcd", 4});
  bool failed = out.failed;
  cst__text_free(&out);
  return failed ? CST_NO_MEMORY : CST_OK;
}

TEST(no_memory) { FOR_EACH_ALLOCATION_FAILURE(without_memory, NULL, CST_NO_MEMORY); }
