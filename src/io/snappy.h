/* Snappy both ways, as files hold it in blocks: the raw format, without frames.
 *
 * Source: google/snappy, format_description.txt.
 */
#ifndef IO_SNAPPY_H
#define IO_SNAPPY_H

#include <columnstone/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes a block becomes, as it says itself; false: it does not begin as one. */
bool cst__snappy_size(cst_bytes block, size_t *out);

/* Writes them; false: the block is damaged. */
bool cst__snappy_decode(cst_bytes block, uint8_t *out, size_t size);

/* Compresses a block of less than 4 GiB into `out`, which has room for cst__snappy_most of its
 * size. Returns the bytes. */
size_t cst__snappy_encode(cst_bytes block, uint8_t *out);
static inline size_t cst__snappy_most(size_t size) { return size + size / 6 + 32; }

/* The checksum of gzip and zlib (CRC-32). */
uint32_t cst__crc32(const void *bytes, size_t size);

#endif /* IO_SNAPPY_H */
