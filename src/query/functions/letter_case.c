/* Upper and lower case.
 *
 * Source: the Unicode Character Database (simple case mappings).
 */
#include "query/functions/letter_case.h"

/* Capital letters `first` to `last`, every `step`-th; the small one is `distance` further. */
typedef struct case_range {
  uint16_t first;
  uint16_t last;
  uint8_t step;
  uint8_t distance;
} case_range;

/* All of two bytes in UTF-8, and so are their small letters. */
static const case_range case_ranges[] = {
    {0x00c0, 0x00d6, 1, 32}, {0x00d8, 0x00de, 1, 32}, /* Latin-1; the sign between them has none */
    {0x0100, 0x012e, 2, 1},  {0x0132, 0x0136, 2, 1},  {0x0139, 0x0147, 2, 1},
    {0x014a, 0x0176, 2, 1},  {0x0179, 0x017d, 2, 1},                           /* Extended-A */
    {0x0386, 0x0386, 1, 38}, {0x0388, 0x038a, 1, 37}, {0x038c, 0x038c, 1, 64}, /* Greek */
    {0x038e, 0x038f, 1, 63}, {0x0391, 0x03a1, 1, 32}, {0x03a3, 0x03ab, 1, 32},
    {0x0400, 0x040f, 1, 80}, {0x0410, 0x042f, 1, 32}, {0x0460, 0x0480, 2, 1}, /* Cyrillic */
    {0x048a, 0x04be, 2, 1},  {0x04c0, 0x04c0, 1, 15}, {0x04c1, 0x04cd, 2, 1},
    {0x04d0, 0x052e, 2, 1},  {0x0531, 0x0556, 1, 48}, /* Armenian */
};

enum { NUM_CASE_RANGES = sizeof case_ranges / sizeof case_ranges[0] };

static unsigned letter_to_case(unsigned letter, bool is_upper) {
  if (letter == 0x0178 || letter == 0x00ff) { /* the only pair of two ranges */
    return is_upper ? 0x0178 : 0x00ff;
  }
  if (letter == 0x03c2 && is_upper) { /* the sigma at the end of a word */
    return 0x03a3;
  }
  for (size_t i = 0; i < NUM_CASE_RANGES; i++) {
    const case_range *range = &case_ranges[i];
    unsigned first = range->first + (is_upper ? range->distance : 0U);
    unsigned last = range->last + (is_upper ? range->distance : 0U);
    if (letter >= first && letter <= last && (letter - first) % range->step == 0) {
      return is_upper ? letter - range->distance : letter + range->distance;
    }
  }
  return letter;
}

static inline uint8_t byte_to_case(uint8_t byte, bool is_upper) {
  uint8_t first = is_upper ? 'a' : 'A';
  return (uint8_t)(byte ^ ((uint8_t)(byte - first) < 26 ? 0x20 : 0));
}

void cst__bytes_to_case(const uint8_t *from, size_t size, bool is_upper, uint8_t *to) {
  for (size_t i = 0; i < size; i++) {
    to[i] = byte_to_case(from[i], is_upper);
  }
}

/* ASCII, as usual: 32 bytes at once. */
static inline bool is_ascii_run(const uint8_t *bytes) {
  uint8_t all = 0;
  for (size_t i = 0; i < 32; i++) {
    all |= bytes[i];
  }
  return all < 0x80;
}

void cst__letters_to_case(const uint8_t *from, size_t size, bool is_upper, uint8_t *to) {
  for (size_t i = 0; i < size; i++) {
    while (i + 32 <= size && is_ascii_run(from + i)) {
      cst__bytes_to_case(from + i, 32, is_upper, to + i);
      i += 32;
    }
    if (i == size) {
      return;
    }
    bool is_pair = (from[i] & 0xe0) == 0xc0 && i + 1 < size; /* a character of two bytes */
    if (!is_pair) {
      to[i] = byte_to_case(from[i], is_upper);
      continue;
    }
    unsigned letter = (from[i] & 0x1fU) << 6 | (from[i + 1] & 0x3fU);
    letter = letter_to_case(letter, is_upper);
    to[i++] = (uint8_t)(0xc0 | letter >> 6);
    to[i] = (uint8_t)(0x80 | (letter & 0x3f));
  }
}
