/* Upper and lower case of letters whose other case has as many bytes in UTF-8: ASCII, and those of
 * Latin-1, Latin Extended-A, Greek, Cyrillic and Armenian that have exactly one other case. All
 * else stays as it is: "ß" has no upper case here.
 */
#ifndef QUERY_FUNCTIONS_LETTER_CASE_H
#define QUERY_FUNCTIONS_LETTER_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes as many bytes of UTF-8 as it reads. */
void cst__letters_to_case(const uint8_t *from, size_t size, bool is_upper, uint8_t *to);
/* Of ASCII alone: bytes, which may be anything. */
void cst__bytes_to_case(const uint8_t *from, size_t size, bool is_upper, uint8_t *to);

#endif /* QUERY_FUNCTIONS_LETTER_CASE_H */
