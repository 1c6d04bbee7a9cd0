/* SHA-256 as FIPS 180-4 writes it down: blocks of 64 bytes, the last of them padded. */
#include "base/sha256.h"

#include <string.h>

/* 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t sha256_rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static uint32_t sha256_word(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* 6.2.2 for one block. */
static void sha256_block(uint32_t hash[8], const uint8_t block[CST__SHA256_BLOCK]) {
  uint32_t w[64];
  uint32_t v[8]; /* a to h */
  for (int t = 0; t < 16; t++) {
    w[t] = sha256_word(block + 4 * t);
  }
  for (int t = 16; t < 64; t++) {
    uint32_t low = w[t - 15];
    uint32_t high = w[t - 2];
    w[t] = w[t - 16] + (sha256_rotate(low, 7) ^ sha256_rotate(low, 18) ^ low >> 3) + w[t - 7] +
           (sha256_rotate(high, 17) ^ sha256_rotate(high, 19) ^ high >> 10);
  }
  memcpy(v, hash, sizeof v);
  for (int t = 0; t < 64; t++) {
    uint32_t e = v[4];
    uint32_t a = v[0];
    uint32_t t1 = v[7] + (sha256_rotate(e, 6) ^ sha256_rotate(e, 11) ^ sha256_rotate(e, 25)) +
                  ((e & v[5]) ^ (~e & v[6])) + sha256_constants[t] + w[t];
    uint32_t t2 = (sha256_rotate(a, 2) ^ sha256_rotate(a, 13) ^ sha256_rotate(a, 22)) +
                  ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (int i = 0; i < 8; i++) {
    hash[i] += v[i];
  }
}

void cst__sha256_begin(cst__sha256_state *state) {
  *state = (cst__sha256_state){.hash = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                        0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void cst__sha256_add(cst__sha256_state *state, const void *bytes, size_t size) {
  const uint8_t *at = bytes;
  const size_t held = (size_t)(state->size % CST__SHA256_BLOCK);
  if (size == 0) {
    return; /* `bytes` may be NULL */
  }
  state->size += size;
  if (held > 0) {
    const size_t room = CST__SHA256_BLOCK - held;
    if (size < room) {
      memcpy(state->rest + held, at, size);
      return;
    }
    memcpy(state->rest + held, at, room);
    sha256_block(state->hash, state->rest);
    at += room;
    size -= room;
  }
  for (; size >= CST__SHA256_BLOCK; size -= CST__SHA256_BLOCK, at += CST__SHA256_BLOCK) {
    sha256_block(state->hash, at);
  }
  if (size > 0) {
    memcpy(state->rest, at, size);
  }
}

void cst__sha256_finish(cst__sha256_state *state, uint8_t digest[CST__SHA256_SIZE]) {
  const size_t held = (size_t)(state->size % CST__SHA256_BLOCK);
  uint8_t tail[2 * CST__SHA256_BLOCK] = {0};
  memcpy(tail, state->rest, held);
  tail[held] = 0x80;
  const size_t end = held < CST__SHA256_BLOCK - 8 ? CST__SHA256_BLOCK : 2 * CST__SHA256_BLOCK;
  for (size_t i = 0; i < 8; i++) { /* 5.1.1: the length in bits */
    tail[end - 1 - i] = (uint8_t)(state->size << 3 >> (8 * i));
  }
  for (size_t i = 0; i < end; i += CST__SHA256_BLOCK) {
    sha256_block(state->hash, tail + i);
  }
  for (size_t i = 0; i < CST__SHA256_SIZE; i++) {
    digest[i] = (uint8_t)(state->hash[i / 4] >> (24 - 8 * (i % 4)));
  }
}

void cst__sha256(const void *bytes, size_t size, uint8_t digest[CST__SHA256_SIZE]) {
  cst__sha256_state state;
  cst__sha256_begin(&state);
  cst__sha256_add(&state, bytes, size);
  cst__sha256_finish(&state, digest);
}

void cst__sha256_hex(const uint8_t digest[CST__SHA256_SIZE], char hex[CST__SHA256_HEX]) {
  for (size_t i = 0; i < CST__SHA256_SIZE; i++) {
    hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
    hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
  }
  hex[2 * CST__SHA256_SIZE] = '\0';
}
