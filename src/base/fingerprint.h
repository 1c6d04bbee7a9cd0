/* A hash that is the same for ever and everywhere.
 */
#ifndef BASE_FINGERPRINT_H
#define BASE_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

/* FarmHash's Fingerprint64 of the bytes: what TensorFlow's string_to_hash_bucket_fast and
 * tfx_bsl's sketches use. `bytes` may be NULL if there are none. */
uint64_t cst__fingerprint64(const uint8_t *bytes, size_t size);

#endif /* BASE_FINGERPRINT_H */
