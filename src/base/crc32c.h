/* CRC-32C (Castagnoli; RFC 3720, appendix B.4): the checksum of TFRecord files. */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The way of computing; all give the same. */
typedef enum cst__crc32c_way {
  CST__CRC32C_TABLES, /* any machine */
  CST__CRC32C_SSE42,  /* x86-64: three interleaved crc32 chains, joined by carry-less products */
  CST__CRC32C_AVX512, /* x86-64: folding of 512 bits at a time for long data */
  CST__CRC32C_ARM,    /* aarch64: one crc32c chain */
  CST__CRC32C_PMULL,  /* aarch64: three interleaved chains, joined as those of SSE 4.2 */
  CST__NUM_CRC32C_WAYS
} cst__crc32c_way;

/* The CRC of `size` bytes; `crc` is that of the bytes before, or 0. Picks the fastest way of this
 * machine with the first call; any thread. */
uint32_t cst__crc32c(uint32_t crc, const void *data, size_t size);

/* The same by one way, for tests and benchmarks. */
uint32_t cst__crc32c_by(cst__crc32c_way way, uint32_t crc, const void *data, size_t size);
bool cst__crc32c_has(cst__crc32c_way way);

/* TFRecord stores CRCs rotated by 15 bits plus a constant, so that the CRC of data that holds CRCs
 * stays a good one. Source: tensorflow/core/lib/hash/crc32c.h. */
static inline uint32_t cst__crc32c_mask(uint32_t crc) {
  return ((crc >> 15) | (crc << 17)) + UINT32_C(0xa282ead8);
}

#endif /* BASE_CRC32C_H */
