/* The way back to whole records behind a damaged one.
 *
 * Where the damaged record ends is told as exactly as it can be: a header of which one byte is
 * wrong still says it, and so does a sound length whose payload is wrong. Only where nothing says
 * it, the next header is looked for byte by byte; records that lie within a payload are not
 * mistaken for the file's own as long as the extent of what holds them is known.
 */
#include <string.h>

#include "base/crc32c.h"
#include "base/hash.h"
#include "format/tfrecord.h"

enum {
  HEADER = CST__TFRECORD_HEADER,
  FRAMING = CST__TFRECORD_HEADER + CST__TFRECORD_FOOTER,
  LENGTH_BYTES = 8,
  MOST_LENGTHS = 4,      /* that one record is tried with */
  SMALL_RECORD = 1 << 16 /* a length that is tried although more than a byte of its CRC is wrong */
};

static bool header_fits(const cst__resync *r, const uint8_t *header) {
  return cst__load64(header) <= r->max_record_size &&
         cst__tfrecord_load32(header + 8) == cst__tfrecord_length_crc(header);
}

static bool one_byte_set(uint32_t bits) {
  int bytes = 0;
  for (int i = 0; i < 4; i++) {
    bytes += (bits >> (8 * i) & 255) != 0;
  }
  return bytes == 1;
}

/* ---- one damaged byte ---- */

/* How the CRC of a length changes with each bit of its byte `at`: a CRC is linear, so that the
 * change does not depend on the length. */
static void changes_of_byte(int at, uint32_t by_bit[8]) {
  uint8_t bytes[LENGTH_BYTES] = {0};
  uint32_t zero = cst__crc32c(0, bytes, sizeof bytes);
  for (int bit = 0; bit < 8; bit++) {
    bytes[at] = (uint8_t)(1u << bit);
    by_bit[bit] = cst__crc32c(0, bytes, sizeof bytes) ^ zero;
  }
}

static uint32_t unmask(uint32_t masked) {
  uint32_t crc = masked - UINT32_C(0xa282ead8);
  return (crc << 15) | (crc >> 17);
}

/* The lengths that differ from the header's in one byte and have the stored CRC. */
static size_t lengths_by_one_byte(const uint8_t *header, uint64_t lengths[MOST_LENGTHS]) {
  uint32_t wanted =
      cst__crc32c(0, header, LENGTH_BYTES) ^ unmask(cst__tfrecord_load32(header + LENGTH_BYTES));
  uint64_t length = cst__load64(header);
  size_t count = 0;
  for (int at = 0; at < LENGTH_BYTES; at++) {
    uint32_t by_bit[8];
    uint32_t changes[256] = {0};
    changes_of_byte(at, by_bit);
    for (unsigned value = 1; value < 256; value++) {
      changes[value] = changes[value & (value - 1)] ^ by_bit[__builtin_ctz(value)];
      if (changes[value] == wanted && count < MOST_LENGTHS) {
        lengths[count++] = length ^ (uint64_t)value << (8 * at);
      }
    }
  }
  return count;
}

/* The lengths that a header means if one byte of it is wrong. */
static size_t likely_lengths(const uint8_t *header, uint64_t lengths[MOST_LENGTHS + 1]) {
  uint32_t difference = cst__tfrecord_load32(header + 8) ^ cst__tfrecord_length_crc(header);
  size_t count = lengths_by_one_byte(header, lengths);
  if (one_byte_set(difference)) {
    lengths[count++] = cst__load64(header);
  }
  return count;
}

/* True for a header that is sound, or of which one byte is wrong. */
static bool header_is_likely(const cst__resync *r, const uint8_t *header) {
  uint64_t lengths[MOST_LENGTHS + 1];
  if (header_fits(r, header)) {
    return true;
  }
  size_t count = likely_lengths(header, lengths);
  for (size_t i = 0; i < count; i++) {
    if (lengths[i] <= r->max_record_size) {
      return true;
    }
  }
  return false;
}

/* ---- judging a place and a length ---- */

typedef enum verdict { REJECTED, ACCEPTED, UNDECIDED } verdict;

static bool data_fits(const uint8_t *record, uint64_t length) {
  uint32_t computed = cst__crc32c_mask(cst__crc32c(0, record + HEADER, (size_t)length));
  return computed == cst__tfrecord_load32(record + HEADER + length);
}

/* Pays for looking at bytes in vain; false: it cannot be paid for. */
static bool pay(cst__resync *r, uint64_t bytes) {
  if (bytes > r->credit) {
    return false;
  }
  r->credit -= bytes;
  return true;
}

/* What may stand behind a record, as proof that it ends there. */
typedef bool is_header(const cst__resync *r, const uint8_t *header);

/* Does data[0..size) begin with a record of this length? Its payload's CRC says so, or (unless
 * `proof` is NULL) the header behind it, or the end of the stream. */
static verdict judge(cst__resync *r, const uint8_t *data, size_t size, bool ends, uint64_t length,
                     is_header *proof, uint64_t *needed) {
  if (length > r->max_record_size || (ends && length + FRAMING > size)) {
    return REJECTED;
  }
  uint64_t all = length + FRAMING;
  if (!ends && all + HEADER > size) {
    *needed = all + HEADER;
    return all <= r->credit ? UNDECIDED : REJECTED;
  }
  if (proof != NULL && (all == size || (size - all >= HEADER && proof(r, data + all)))) {
    return ACCEPTED;
  }
  if (r->ignore_data || !pay(r, all)) {
    return REJECTED;
  }
  if (data_fits(data, length)) {
    r->credit += all;
    return ACCEPTED;
  }
  return REJECTED;
}

/* A damaged header: the record's extent by the lengths that it may mean. More than one wrong byte
 * in the CRC of a small length is taken if the payload fits. */
static verdict find_by_header(cst__resync *r, const uint8_t *data, size_t size, bool ends,
                              size_t *passed, uint64_t *needed) {
  uint64_t lengths[MOST_LENGTHS + 2];
  if (size < HEADER && !ends) {
    *needed = HEADER;
    return UNDECIDED;
  }
  size_t likely = size >= HEADER ? likely_lengths(data, lengths) : 0;
  size_t count = likely;
  verdict all = REJECTED;
  if (size >= HEADER && likely == 0 && cst__load64(data) <= SMALL_RECORD) {
    lengths[count++] = cst__load64(data);
  }
  for (size_t i = 0; i < count; i++) {
    uint64_t wanted = 0;
    verdict one =
        judge(r, data, size, ends, lengths[i], i < likely ? header_is_likely : NULL, &wanted);
    if (one == ACCEPTED) {
      *passed = (size_t)lengths[i] + FRAMING;
      return ACCEPTED;
    }
    if (one == UNDECIDED) {
      *needed = all == UNDECIDED && *needed < wanted ? *needed : wanted;
      all = UNDECIDED;
    }
  }
  return all;
}

/* A wrong payload: its extent is what its header says, if another header is behind it. */
static verdict find_by_length(const cst__resync *r, const uint8_t *data, size_t size, bool ends,
                              size_t *passed, uint64_t *needed) {
  size_t all = (size_t)r->length + FRAMING;
  if (size < all + HEADER && !ends) {
    *needed = all + HEADER;
    return UNDECIDED;
  }
  if (size >= all + HEADER && !header_is_likely(r, data + all)) {
    return REJECTED;
  }
  *passed = all;
  return ACCEPTED;
}

/* ---- searching ---- */

/* The first place from `at` on with a sound header, or where too few bytes are left for one. */
static size_t next_header(const cst__resync *r, const uint8_t *data, size_t at, size_t size) {
  static const uint8_t empty[LENGTH_BYTES] = {0};
  uint32_t crc_of_empty = cst__tfrecord_length_crc(empty);
  for (; size - at >= HEADER; at++) {
    uint64_t length = cst__load64(data + at);
    bool cannot_be = length > r->max_record_size ||
                     (length == 0 && cst__tfrecord_load32(data + at + 8) != crc_of_empty);
    if (!cannot_be && header_fits(r, data + at)) {
      break;
    }
  }
  return at;
}

static bool search(cst__resync *r, const uint8_t *data, size_t size, bool ends, size_t *passed,
                   uint64_t *needed) {
  size_t at = r->first < size ? r->first : size;
  *needed = HEADER;
  for (;;) {
    at = next_header(r, data, at, size);
    if (size - at < HEADER) {
      break;
    }
    verdict v = judge(r, data + at, size - at, ends, cst__load64(data + at), header_fits, needed);
    if (v != REJECTED) {
      r->first = 0;
      *passed = at;
      return v == ACCEPTED;
    }
    at++;
  }
  *passed = ends ? size : at;
  r->first -= r->first < *passed ? r->first : *passed;
  return ends;
}

/* Where the chain of sound headers that begins at `at` breaks off. */
static size_t follow(const cst__resync *r, const uint8_t *data, size_t at, size_t size) {
  while (size - at >= HEADER && header_fits(r, data + at)) {
    uint64_t all = cst__load64(data + at) + FRAMING;
    if (all > size - at) {
      break;
    }
    at += (size_t)all;
  }
  return at;
}

/* The stream ends within the record. If bytes have been lost in it, whole records may lie in what
 * looks like its payload: they are those that end where the stream does. (A payload that is a
 * TFRecord file itself is not what follows a loss.) */
static size_t search_tail(cst__resync *r, const uint8_t *data, size_t size) {
  size_t at = 1;
  while (at < size) {
    at = next_header(r, data, at, size);
    if (size - at < HEADER) {
      break;
    }
    size_t end = follow(r, data, at, size);
    uint64_t length = cst__load64(data + at);
    if (end == size && (r->ignore_data || (pay(r, length) && data_fits(data + at, length)))) {
      return at == HEADER ? size : at;
    }
    at = end > at && end < size ? end : at + 1;
  }
  return size;
}

static bool pass_over(cst__resync *r, size_t size, bool ends, size_t *passed, uint64_t *needed) {
  *passed = r->to_pass < size ? (size_t)r->to_pass : size;
  *needed = 1;
  r->to_pass -= *passed;
  return r->to_pass == 0 || ends;
}

static verdict find_extent(cst__resync *r, const uint8_t *data, size_t size, bool ends,
                           size_t *passed, uint64_t *needed) {
  return r->kind == CST__DAMAGE_LENGTH ? find_by_header(r, data, size, ends, passed, needed)
                                       : find_by_length(r, data, size, ends, passed, needed);
}

bool cst__tfrecord_find_end(cst__resync *r, const uint8_t *data, size_t size, bool ends,
                            size_t *passed, uint64_t *needed) {
  *passed = 0;
  *needed = 0;
  if (r->kind == CST__DAMAGE_TRUNCATED) {
    *passed = search_tail(r, data, size);
    return true;
  }
  if (r->kind == CST__DAMAGE_LIMIT) {
    return pass_over(r, size, ends, passed, needed);
  }
  if (!r->searching) {
    verdict v = find_extent(r, data, size, ends, passed, needed);
    if (v != REJECTED) {
      return v == ACCEPTED;
    }
    r->searching = true;
  }
  return search(r, data, size, ends, passed, needed);
}
