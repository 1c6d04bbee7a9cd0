/* SHA-256, for digests of small files. Source: FIPS 180-4.
 */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { CST__SHA256_SIZE = 32, CST__SHA256_HEX = 2 * CST__SHA256_SIZE + 1 };

/* The digest of bytes that lie one after the other. */
void cst__sha256(const void *bytes, size_t size, uint8_t digest[CST__SHA256_SIZE]);

/* A digest as lower-case hex digits and a NUL. */
void cst__sha256_hex(const uint8_t digest[CST__SHA256_SIZE], char hex[CST__SHA256_HEX]);

#endif /* BASE_SHA256_H */
