/* Raw Snappy in: literals, and copies of what was written before. */
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

uint32_t cst__crc32(const void *bytes, size_t size) { return crc32_gzip_refl(0, bytes, size); }
