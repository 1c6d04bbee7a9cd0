/* Upper and lower case.
 *
 * Source: the Unicode Character Database (simple case mappings).
 */
#include "query/functions/letter_case.h"

/* Capital letters `first` to `last`, every `step`-th; the small one is `distance` further. */
typedef struct case_range {
  uint16_t first;
  uint16_t last;
  int16_t step;
  int16_t distance;
} case_range;

/* All that have a small letter, of two bytes as well, whose capital letter they are. */
static const case_range case_ranges[] = {
    {0x00c0, 0x00d6, 1, 32},   {0x00d8, 0x00de, 1, 32},  {0x0100, 0x012e, 2, 1},
    {0x0132, 0x0136, 2, 1},    {0x0139, 0x0147, 2, 1},   {0x014a, 0x0176, 2, 1},
    {0x0178, 0x0178, 1, -121}, {0x0179, 0x017d, 2, 1},   {0x0181, 0x0181, 1, 210},
    {0x0182, 0x0184, 2, 1},    {0x0186, 0x0186, 1, 206}, {0x0187, 0x0187, 1, 1},
    {0x0189, 0x018a, 1, 205},  {0x018b, 0x018b, 1, 1},   {0x018e, 0x018e, 1, 79},
    {0x018f, 0x018f, 1, 202},  {0x0190, 0x0190, 1, 203}, {0x0191, 0x0191, 1, 1},
    {0x0193, 0x0193, 1, 205},  {0x0194, 0x0194, 1, 207}, {0x0196, 0x0196, 1, 211},
    {0x0197, 0x0197, 1, 209},  {0x0198, 0x0198, 1, 1},   {0x019c, 0x019c, 1, 211},
    {0x019d, 0x019d, 1, 213},  {0x019f, 0x019f, 1, 214}, {0x01a0, 0x01a4, 2, 1},
    {0x01a6, 0x01a6, 1, 218},  {0x01a7, 0x01a7, 1, 1},   {0x01a9, 0x01a9, 1, 218},
    {0x01ac, 0x01ac, 1, 1},    {0x01ae, 0x01ae, 1, 218}, {0x01af, 0x01af, 1, 1},
    {0x01b1, 0x01b2, 1, 217},  {0x01b3, 0x01b5, 2, 1},   {0x01b7, 0x01b7, 1, 219},
    {0x01b8, 0x01b8, 1, 1},    {0x01bc, 0x01bc, 1, 1},   {0x01c4, 0x01c4, 1, 2},
    {0x01c7, 0x01c7, 1, 2},    {0x01ca, 0x01ca, 1, 2},   {0x01cd, 0x01db, 2, 1},
    {0x01de, 0x01ee, 2, 1},    {0x01f1, 0x01f1, 1, 2},   {0x01f4, 0x01f4, 1, 1},
    {0x01f6, 0x01f6, 1, -97},  {0x01f7, 0x01f7, 1, -56}, {0x01f8, 0x021e, 2, 1},
    {0x0220, 0x0220, 1, -130}, {0x0222, 0x0232, 2, 1},   {0x023b, 0x023b, 1, 1},
    {0x023d, 0x023d, 1, -163}, {0x0241, 0x0241, 1, 1},   {0x0243, 0x0243, 1, -195},
    {0x0244, 0x0244, 1, 69},   {0x0245, 0x0245, 1, 71},  {0x0246, 0x024e, 2, 1},
    {0x0370, 0x0372, 2, 1},    {0x0376, 0x0376, 1, 1},   {0x037f, 0x037f, 1, 116},
    {0x0386, 0x0386, 1, 38},   {0x0388, 0x038a, 1, 37},  {0x038c, 0x038c, 1, 64},
    {0x038e, 0x038f, 1, 63},   {0x0391, 0x03a1, 1, 32},  {0x03a3, 0x03ab, 1, 32},
    {0x03cf, 0x03cf, 1, 8},    {0x03d8, 0x03ee, 2, 1},   {0x03f7, 0x03f7, 1, 1},
    {0x03f9, 0x03f9, 1, -7},   {0x03fa, 0x03fa, 1, 1},   {0x03fd, 0x03ff, 1, -130},
    {0x0400, 0x040f, 1, 80},   {0x0410, 0x042f, 1, 32},  {0x0460, 0x0480, 2, 1},
    {0x048a, 0x04be, 2, 1},    {0x04c0, 0x04c0, 1, 15},  {0x04c1, 0x04cd, 2, 1},
    {0x04d0, 0x052e, 2, 1},    {0x0531, 0x0556, 1, 48},
};

enum { NUM_CASE_RANGES = sizeof case_ranges / sizeof case_ranges[0] };

static void add_case_range(cst__letter_case *table, const case_range *range) {
  for (int letter = range->first; letter <= range->last; letter += range->step) {
    int small = letter + range->distance;
    int from = (table->is_upper ? small : letter) - CST__LETTERS_BEGIN;
    table->letters[from] = (uint16_t)(table->is_upper ? letter : small);
  }
}

void cst__letter_case_init(cst__letter_case *table, bool is_upper) {
  table->is_upper = is_upper;
  for (int i = 0; i < CST__LETTERS_END - CST__LETTERS_BEGIN; i++) {
    table->letters[i] = (uint16_t)(CST__LETTERS_BEGIN + i);
  }
  for (size_t i = 0; i < NUM_CASE_RANGES; i++) {
    add_case_range(table, &case_ranges[i]);
  }
  if (is_upper) { /* the sigma at the end of a word */
    table->letters[0x03c2 - CST__LETTERS_BEGIN] = 0x03a3;
  }
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

void cst__letters_to_case(const cst__letter_case *table, const uint8_t *from, size_t size,
                          uint8_t *to) {
  bool is_upper = table->is_upper;
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
    letter = letter < CST__LETTERS_BEGIN ? letter : table->letters[letter - CST__LETTERS_BEGIN];
    to[i++] = (uint8_t)(0xc0 | letter >> 6);
    to[i] = (uint8_t)(0x80 | (letter & 0x3f));
  }
}
