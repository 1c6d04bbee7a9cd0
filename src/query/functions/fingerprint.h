/* A hash that is the same for ever and everywhere.
 */
#ifndef QUERY_FUNCTIONS_FINGERPRINT_H
#define QUERY_FUNCTIONS_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

/* FarmHash's Fingerprint64 of the bytes: what TensorFlow's string_to_hash_bucket_fast uses. */
uint64_t cst__fingerprint64(const uint8_t *bytes, size_t size);

#endif /* QUERY_FUNCTIONS_FINGERPRINT_H */
