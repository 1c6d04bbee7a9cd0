/* SHA-256, for digests of files. Source: FIPS 180-4.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { CST__SHA256_SIZE = 32, CST__SHA256_HEX = 2 * CST__SHA256_SIZE + 1, CST__SHA256_BLOCK = 64 };

/* The digest of bytes that come in pieces: begin, add as often as there are some, finish. */
typedef struct cst__sha256_state {
  uint32_t hash[8];
  uint64_t size;                   /* of all that was added */
  uint8_t rest[CST__SHA256_BLOCK]; /* of it, what is not a whole block yet */
} cst__sha256_state;

void cst__sha256_begin(cst__sha256_state *state);
void cst__sha256_add(cst__sha256_state *state, const void *bytes, size_t size);
void cst__sha256_finish(cst__sha256_state *state, uint8_t digest[CST__SHA256_SIZE]);

/* The digest of bytes that lie one after the other. */
void cst__sha256(const void *bytes, size_t size, uint8_t digest[CST__SHA256_SIZE]);

/* A digest as lower-case hex digits and a NUL. */
void cst__sha256_hex(const uint8_t digest[CST__SHA256_SIZE], char hex[CST__SHA256_HEX]);

#endif /* BASE_SHA256_H */
