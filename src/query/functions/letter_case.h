/* Upper and lower case of letters whose other case is one letter with as many bytes in UTF-8, at
 * most two: those of Latin, Greek, Cyrillic and Armenian script, but for a few. All else stays as
 * it is: "ß" has no upper case here.
 */
#ifndef QUERY_FUNCTIONS_LETTER_CASE_H
#define QUERY_FUNCTIONS_LETTER_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CST__LETTERS_BEGIN = 0x80, CST__LETTERS_END = 0x800 }; /* of two bytes */

/* What every letter of two bytes becomes. */
typedef struct cst__letter_case {
  bool is_upper;
  uint16_t letters[CST__LETTERS_END - CST__LETTERS_BEGIN];
} cst__letter_case;

void cst__letter_case_init(cst__letter_case *table, bool is_upper);

/* Writes as many bytes of UTF-8 as it reads. */
void cst__letters_to_case(const cst__letter_case *table, const uint8_t *from, size_t size,
                          uint8_t *to);
/* Of ASCII alone: bytes, which may be anything. */
void cst__bytes_to_case(const uint8_t *from, size_t size, bool is_upper, uint8_t *to);

#endif /* QUERY_FUNCTIONS_LETTER_CASE_H */
