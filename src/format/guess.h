/* What bytes seem to be that are not what was asked for: the hint of "not a TFRecord". */
#ifndef FORMAT_GUESS_H
#define FORMAT_GUESS_H

#include <stddef.h>
#include <stdint.h>

/* From the first bytes (64 are enough) of a stream: a hint that says what it seems to be and what
 * to do, or NULL. Static. */
const char *cst__guess_format(const uint8_t *head, size_t size);

#endif /* FORMAT_GUESS_H */
