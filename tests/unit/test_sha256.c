/* SHA-256: the examples of FIPS 180 and of NIST's test vectors. */
#include "base/sha256.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

static void check_digest(const void *bytes, size_t size, const char *expected) {
  uint8_t digest[CST__SHA256_SIZE];
  char hex[CST__SHA256_HEX];
  cst__sha256(bytes, size, digest);
  cst__sha256_hex(digest, hex);
  CHECK_STR(hex, expected);
}

TEST(published_digests) {
  check_digest("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  check_digest("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  check_digest(two, strlen(two),
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  char *many = malloc(1000000);
  CHECK(many != NULL);
  memset(many, 'a', 1000000);
  check_digest(many, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  free(many);
}

/* The lengths at which the padding takes one block more: zeros, as NIST has them. */
TEST(lengths_around_a_block) {
  const uint8_t zeros[1000] = {0};
  check_digest(zeros, 55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
  check_digest(zeros, 56, "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
  check_digest(zeros, 57, "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785");
  check_digest(zeros, 64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
  check_digest(zeros, 1000, "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53");
}

/* In pieces of any size it is the same. */
TEST(pieces) {
  uint8_t bytes[300], whole[CST__SHA256_SIZE], pieces[CST__SHA256_SIZE];
  for (size_t i = 0; i < sizeof bytes; i++) {
    bytes[i] = (uint8_t)(i * 7);
  }
  cst__sha256(bytes, sizeof bytes, whole);
  for (size_t piece = 1; piece < 150; piece++) {
    cst__sha256_state state;
    cst__sha256_begin(&state);
    for (size_t at = 0; at < sizeof bytes; at += piece) {
      const size_t size = sizeof bytes - at < piece ? sizeof bytes - at : piece;
      cst__sha256_add(&state, NULL, 0);
      cst__sha256_add(&state, bytes + at, size);
    }
    cst__sha256_finish(&state, pieces);
    CHECK_MEM(pieces, whole, sizeof whole);
  }
}
