/* The way back to whole records after a damaged one.
 *
 * A record is sound if it is whole and both of its checksums are right. What a damaged record takes
 * is told from the bytes alone:
 *
 * 1. Its header says it, if it is right or one byte of it is wrong, and if that extent can be
 *    believed: the stream ends there or another such header follows, and no sound record begins
 *    within it and ends after its payload. (One that ends within the payload may be part of it: a
 *    payload can be a TFRecord file itself. One that ends later cannot.) Where too few bytes follow
 *    for a header, no sound record may lie within it at all.
 * 2. Else it ends where the next record begins: the first place with a sound record, or with a
 *    right header whose extent can be believed.
 * 3. Of a record that the end of the stream cuts, the sound records that begin with its payload and
 *    follow each other are taken for a part of it, unless they end exactly where the stream does:
 *    then its header is what is wrong. (The stream of a part of a divided file ends with a record:
 *    nothing is cut there.)
 *
 * max_record_size bounds what is read, not what is believed: a record that is longer, and no longer
 * than CST__RESYNC_WINDOW, takes the bytes that it says if its payload is right or that extent can
 * be believed, and is told of as one record beyond the limit. A length beyond both says nothing:
 * what it claims could only be proved by reading that far.
 *
 * The slow reference in tests/unit/recovery_reference.h says the same in fewer words.
 */
#include <string.h>

#include "base/crc32c.h"
#include "base/hash.h"
#include "format/container/tfrecord.h"

enum {
  HEADER = CST__TFRECORD_HEADER,
  FRAMING = CST__TFRECORD_HEADER + CST__TFRECORD_FOOTER,
  LENGTH_BYTES = 8,
  MOST_LENGTHS = 4,      /* that one record is tried with */
  SMALL_RECORD = 1 << 16 /* a length that is tried although more than a byte of its CRC is wrong */
};

static bool header_fits(const cst__resync *r, const uint8_t *header) {
  return cst__load64(header) <= r->longest &&
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
    if (lengths[i] <= r->longest) {
      return true;
    }
  }
  return false;
}

/* ---- judging a place and a length ---- */

typedef enum verdict { NO, YES, UNDECIDED } verdict;

static cst__chunk rest_from(const cst__chunk *chunk, size_t at) {
  return (cst__chunk){chunk->data + at, chunk->size - at, chunk->ends};
}

/* Pays for looking at bytes in vain; false: it cannot be paid for. */
static bool pay(cst__resync *r, uint64_t bytes) {
  if (bytes > r->credit) {
    return false;
  }
  r->credit -= bytes;
  return true;
}

/* More bytes are wanted, unless they cannot be paid for. */
static verdict resync_wait_for_bytes(const cst__resync *r, uint64_t bytes, uint64_t *needed) {
  *needed = bytes;
  return bytes <= r->credit ? UNDECIDED : NO;
}

static bool data_fits(const uint8_t *record, uint64_t length) {
  uint32_t computed = cst__crc32c_mask(cst__crc32c(0, record + HEADER, (size_t)length));
  return computed == cst__tfrecord_load32(record + HEADER + length);
}

/* Is there a sound record of this length? Where checksums of payloads are not to be trusted, what
 * follows it has to be right: a header, or the end of the stream, or too few bytes for either. */
static verdict is_sound(cst__resync *r, const cst__chunk *chunk, uint64_t length,
                        uint64_t *needed) {
  if (length > r->longest || (chunk->ends && length + FRAMING > chunk->size)) {
    return NO;
  }
  uint64_t all = length + FRAMING;
  uint64_t wanted = all + (r->ignore_data ? HEADER : 0);
  if (wanted > chunk->size && !chunk->ends) {
    return resync_wait_for_bytes(r, wanted, needed);
  }
  if (r->ignore_data) {
    return wanted > chunk->size || header_fits(r, chunk->data + all) ? YES : NO;
  }
  if (!pay(r, all) || !data_fits(chunk->data, length)) {
    return NO;
  }
  r->credit += all;
  return YES;
}

/* The first place from `at` on with a right header, or where too few bytes are left for one. */
static size_t next_header(const cst__resync *r, const uint8_t *data, size_t at, size_t size) {
  static const uint8_t empty[LENGTH_BYTES] = {0};
  uint32_t crc_of_empty = cst__tfrecord_length_crc(empty);
  for (; size - at >= HEADER; at++) {
    uint64_t length = cst__load64(data + at);
    bool cannot_be =
        length > r->longest || (length == 0 && cst__tfrecord_load32(data + at + 8) != crc_of_empty);
    if (!cannot_be && header_fits(r, data + at)) {
      break;
    }
  }
  return at;
}

/* Does a sound record begin in data[1 .. end) that goes on after `reach`? */
static verdict is_crossed(cst__resync *r, const cst__chunk *chunk, size_t end, size_t reach,
                          uint64_t *needed) {
  size_t last = chunk->size < end + HEADER - 1 ? chunk->size : end + HEADER - 1;
  for (size_t at = 1;; at++) {
    at = next_header(r, chunk->data, at, last);
    if (last - at < HEADER) {
      return NO;
    }
    uint64_t length = cst__load64(chunk->data + at);
    if (at + length + FRAMING > reach) {
      const cst__chunk rest = rest_from(chunk, at);
      verdict v = is_sound(r, &rest, length, needed);
      if (v != NO) {
        *needed += at;
        return v;
      }
    }
  }
}

/* Does the damaged record at the front of the data, if it has this length, end where that says? */
static verdict is_extent(cst__resync *r, const cst__chunk *chunk, uint64_t length,
                         uint64_t *needed) {
  if (length > r->longest || (chunk->ends && length + FRAMING > chunk->size)) {
    return NO;
  }
  uint64_t all = length + FRAMING;
  if (all + HEADER > chunk->size && !chunk->ends) {
    return resync_wait_for_bytes(r, all + HEADER, needed);
  }
  bool header_follows = chunk->size - all >= HEADER;
  if (header_follows ? !header_is_likely(r, chunk->data + all)
                     : r->divided && all < chunk->size) { /* the next record begins after that */
    return NO;
  }
  if (!pay(r, all)) {
    return YES;
  }
  bool proved = header_follows || all == chunk->size;
  size_t reach = proved ? (size_t)all - CST__TFRECORD_FOOTER : 0;
  verdict crossed = is_crossed(r, chunk, (size_t)all, reach, needed);
  r->credit += crossed != YES ? all : 0;
  return crossed == NO ? YES : crossed == YES ? NO : UNDECIDED;
}

/* A length that a damaged header may mean. `likely`: by one wrong byte; else only the payload can
 * prove it. */
static verdict judge_length(cst__resync *r, const cst__chunk *chunk, uint64_t length, bool likely,
                            uint64_t *needed) {
  verdict v = r->ignore_data ? NO : is_sound(r, chunk, length, needed);
  return v == NO && likely ? is_extent(r, chunk, length, needed) : v;
}

/* A damaged header: the record's extent by the lengths that it may mean. More than one wrong byte
 * in the CRC of a small length is taken if the payload fits. */
static verdict find_by_header(cst__resync *r, const cst__chunk *chunk, size_t *passed,
                              uint64_t *needed) {
  uint64_t lengths[MOST_LENGTHS + 2];
  if (chunk->size < HEADER) {
    *needed = HEADER;
    return chunk->ends ? NO : UNDECIDED;
  }
  size_t likely = likely_lengths(chunk->data, lengths);
  size_t count = likely;
  verdict all = NO;
  if (likely == 0 && cst__load64(chunk->data) <= SMALL_RECORD) {
    lengths[count++] = cst__load64(chunk->data);
  }
  for (size_t i = 0; i < count; i++) {
    uint64_t wanted = 0;
    verdict one = judge_length(r, chunk, lengths[i], i < likely, &wanted);
    if (one == YES) {
      *passed = (size_t)lengths[i] + FRAMING;
      return YES;
    }
    if (one == UNDECIDED) {
      *needed = all == UNDECIDED && *needed < wanted ? *needed : wanted;
      all = UNDECIDED;
    }
  }
  return all;
}

static verdict find_by_length(cst__resync *r, const cst__chunk *chunk, size_t *passed,
                              uint64_t *needed) {
  verdict v = is_extent(r, chunk, r->length, needed);
  *passed = v == YES ? (size_t)r->length + FRAMING : 0;
  return v;
}

/* ---- searching ---- */

/* Does a record begin with this right header? */
static verdict is_begin(cst__resync *r, const cst__chunk *chunk, uint64_t *needed) {
  uint64_t length = cst__load64(chunk->data);
  verdict v = is_sound(r, chunk, length, needed);
  return v == NO ? is_extent(r, chunk, length, needed) : v;
}

static bool search(cst__resync *r, const cst__chunk *chunk, size_t *passed, uint64_t *needed) {
  size_t at = r->first < chunk->size ? r->first : chunk->size;
  *needed = HEADER;
  for (;;) {
    at = next_header(r, chunk->data, at, chunk->size);
    if (chunk->size - at < HEADER) {
      break;
    }
    const cst__chunk rest = rest_from(chunk, at);
    verdict v = is_begin(r, &rest, needed);
    if (v != NO) {
      r->first = 0;
      *passed = at;
      return v == YES;
    }
    at++;
  }
  *passed = chunk->ends ? chunk->size : at;
  r->first -= r->first < *passed ? r->first : *passed;
  return chunk->ends;
}

/* Where the sound records end that begin with the payload of a record that is cut. */
static size_t pass_inner(cst__resync *r, const cst__chunk *chunk) {
  size_t at = HEADER;
  uint64_t needed;
  while (at <= chunk->size && chunk->size - at >= HEADER && header_fits(r, chunk->data + at)) {
    uint64_t length = cst__load64(chunk->data + at);
    const cst__chunk rest = {chunk->data + at, chunk->size - at, true};
    if (is_sound(r, &rest, length, &needed) != YES) {
      break;
    }
    at += (size_t)length + FRAMING;
  }
  return at == chunk->size ? HEADER : at;
}

/* A record with a right header whose length is beyond the limit. */
static verdict find_beyond_limit(cst__resync *r, const cst__chunk *chunk, size_t *passed,
                                 uint64_t *needed) {
  verdict v = judge_length(r, chunk, r->length, true, needed);
  *passed = v == YES ? (size_t)r->length + FRAMING : 0;
  if (v == NO && r->length <= r->longest && chunk->ends && r->length + FRAMING > chunk->size &&
      !r->divided) {
    r->first = pass_inner(r, chunk);
  }
  return v;
}

static verdict find_extent(cst__resync *r, const cst__chunk *chunk, size_t *passed,
                           uint64_t *needed) {
  switch (r->kind) {
    case CST__DAMAGE_FRAMING:
      return find_by_header(r, chunk, passed, needed);
    case CST__DAMAGE_DATA:
      return find_by_length(r, chunk, passed, needed);
    case CST__DAMAGE_TRUNCATED:
      r->first = r->cut || !r->divided ? pass_inner(r, chunk) : r->first;
      break;
    case CST__DAMAGE_LIMIT:
      return find_beyond_limit(r, chunk, passed, needed);
  }
  return NO;
}

bool cst__tfrecord_find_end(cst__resync *r, const cst__chunk *chunk, size_t *passed,
                            uint64_t *needed) {
  *passed = 0;
  *needed = 0;
  if (!r->searching) {
    verdict v = find_extent(r, chunk, passed, needed);
    if (v != NO) {
      return v == YES;
    }
    r->searching = true;
  }
  return search(r, chunk, passed, needed);
}
