/* Raw Snappy in and out: literals, and copies of what was written before. */
#include "io/snappy.h"

#include <isa-l/crc.h>
#include <string.h>

/* The length before all elements, as a varint of 32 bits. */
static const uint8_t *read_length(cst_bytes block, size_t *out) {
  uint64_t value = 0;
  for (size_t i = 0; i < 5 && i < block.size; i++) {
    uint8_t byte = block.data[i];
    value |= (uint64_t)(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *out = (size_t)value;
      return value <= UINT32_MAX ? block.data + i + 1 : NULL;
    }
  }
  return NULL;
}

bool cst__snappy_size(cst_bytes block, size_t *out) { return read_length(block, out) != NULL; }

/* One element: its kind, and what follows its tag. */
typedef struct element {
  size_t size;
  size_t distance; /* back; 0: a literal, whose bytes follow */
} element;

static const uint8_t *read_element(const uint8_t *at, const uint8_t *end, element *out) {
  static const uint8_t more_of_copies[] = {0, 1, 2, 4};
  uint8_t tag = *at++;
  size_t kind = tag & 3;
  size_t size = (size_t)(tag >> 2) + 1;
  size_t more = kind == 0 ? (size > 60 ? size - 60 : 0) : more_of_copies[kind];
  uint32_t number = 0;
  if ((size_t)(end - at) < more) {
    return NULL;
  }
  memcpy(&number, at, more);
  *out = (element){size, number};
  if (kind == 0) {
    *out = (element){more > 0 ? (size_t)number + 1 : size, 0};
  } else if (kind == 1) {
    *out = (element){(size_t)(tag >> 2 & 7) + 4, number | (uint32_t)(tag >> 5) << 8};
  }
  return kind > 0 && out->distance == 0 ? NULL : at + more;
}

/* A copy may overlap what it writes: then it repeats it. */
static void copy_back(uint8_t *to, size_t distance, size_t size) {
  const uint8_t *from = to - distance;
  if (distance >= size) {
    memcpy(to, from, size);
    return;
  }
  for (size_t i = 0; i < size; i++) {
    to[i] = from[i];
  }
}

bool cst__snappy_decode(cst_bytes block, uint8_t *out, size_t size) {
  size_t length;
  const uint8_t *at = read_length(block, &length);
  const uint8_t *end = block.data + block.size;
  uint8_t *to = out;
  const uint8_t *to_end = out + size;
  if (at == NULL || length != size) {
    return false;
  }
  while (at < end) {
    element e;
    at = read_element(at, end, &e);
    if (at == NULL || e.size > (size_t)(to_end - to) || e.distance > (size_t)(to - out)) {
      return false;
    }
    if (e.distance > 0) {
      copy_back(to, e.distance, e.size);
    } else if (e.size <= (size_t)(end - at)) {
      memcpy(to, at, e.size);
      at += e.size;
    } else {
      return false;
    }
    to += e.size;
  }
  return to == to_end;
}

/* ---- out ---- */

enum { FRAGMENT = 1 << 16 /* copies do not reach beyond it */, HASH_BITS = 12 };

static uint32_t load(const uint8_t *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static uint8_t *put_literal(uint8_t *to, const uint8_t *from, size_t size) {
  if (size == 0) {
    return to;
  }
  size_t number = size - 1;
  if (number < 60) {
    *to++ = (uint8_t)(number << 2);
  } else {
    *to++ = number < 256 ? 60 << 2 : 61 << 2;
    *to++ = (uint8_t)number;
    if (number >= 256) {
      *to++ = (uint8_t)(number >> 8);
    }
  }
  memcpy(to, from, size);
  return to + size;
}

static uint8_t *put_copy(uint8_t *to, size_t distance, size_t size) {
  for (size_t part; size > 0; size -= part) {
    part = size < 64 ? size : 64;
    *to++ = (uint8_t)((part - 1) << 2 | 2);
    *to++ = (uint8_t)distance;
    *to++ = (uint8_t)(distance >> 8);
  }
  return to;
}

static uint8_t *encode_fragment(uint8_t *to, const uint8_t *begin, size_t size) {
  uint16_t seen[1 << HASH_BITS] = {0}; /* where four bytes came last */
  const uint8_t *end = begin + size;
  const uint8_t *plain = begin; /* what is not written yet */
  for (const uint8_t *at = begin; end - at >= 4;) {
    uint16_t *place = &seen[load(at) * 0x1e35a7bdU >> (32 - HASH_BITS)];
    const uint8_t *before = begin + *place;
    *place = (uint16_t)(at - begin);
    if (before == at || load(before) != load(at)) {
      at += 1 + ((at - plain) >> 5); /* faster where there is nothing to be found */
      continue;
    }
    size_t same = 4;
    while (at + same < end && before[same] == at[same]) {
      same++;
    }
    to = put_literal(to, plain, (size_t)(at - plain));
    to = put_copy(to, (size_t)(at - before), same);
    plain = at += same;
  }
  return put_literal(to, plain, (size_t)(end - plain));
}

size_t cst__snappy_encode(cst_bytes block, uint8_t *out) {
  uint8_t *to = out;
  size_t rest = block.size;
  for (; rest >= 0x80; rest >>= 7) {
    *to++ = (uint8_t)(rest | 0x80);
  }
  *to++ = (uint8_t)rest;
  for (size_t at = 0; at < block.size; at += FRAGMENT) {
    size_t left = block.size - at;
    to = encode_fragment(to, block.data + at, left < FRAGMENT ? left : FRAGMENT);
  }
  return (size_t)(to - out);
}

uint32_t cst__crc32(const void *bytes, size_t size) { return crc32_gzip_refl(0, bytes, size); }
