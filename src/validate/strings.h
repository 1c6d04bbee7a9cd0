/* A set of strings that is asked for every value of a column: the hash looks at the length and at
 * the first and the last eight bytes, one comparison decides.
 */
#ifndef VALIDATE_STRINGS_H
#define VALIDATE_STRINGS_H

#include <columnstone/status.h>

#include "base/alloc.h"
#include "base/hash.h"

typedef struct cst__string_slot {
  uint64_t hash;
  const uint8_t *data; /* NULL: free */
  size_t size;
} cst__string_slot;

typedef struct cst__string_set {
  cst__string_slot *slots; /* a power of two, at most half of them taken */
  size_t mask;
  uint64_t seed;
} cst__string_set;

/* Strings are borrowed; slots come from the arena. False if out of memory. */
bool cst__string_set_init(cst__string_set *set, const cst_bytes *values, size_t count,
                          cst__arena *arena);

static inline uint32_t cst__load32(const void *ptr) {
  uint32_t word;
  memcpy(&word, ptr, 4);
  return word;
}

static inline uint64_t cst__string_hash(const uint8_t *at, size_t size, uint64_t seed) {
  uint64_t first = 0;
  uint64_t last = 0;
  if (size >= 8) {
    first = cst__load64(at);
    last = cst__load64(at + size - 8);
  } else if (size >= 4) {
    first = cst__load32(at);
    last = cst__load32(at + size - 4);
  } else if (size > 0) {
    first = at[0];
    last = (uint64_t)at[size / 2] << 8 | at[size - 1];
  }
  return cst__fold(first ^ seed,
                   last ^ (size * UINT64_C(0x9e3779b97f4a7c15)) ^ UINT64_C(0xd6e8feb86659fd93));
}

static inline bool cst__string_set_has(const cst__string_set *set, const uint8_t *data,
                                       size_t size) {
  uint64_t hash = cst__string_hash(data, size, set->seed);
  for (size_t i = (size_t)hash & set->mask; set->slots[i].data != NULL; i = (i + 1) & set->mask) {
    const cst__string_slot *slot = &set->slots[i];
    if (slot->hash == hash && slot->size == size && memcmp(slot->data, data, size) == 0) {
      return true;
    }
  }
  return false;
}

/* How many different strings there were, up to a limit: by hashes of all of their bytes. */
enum { CST__MAX_DISTINCT = 1024 };

typedef struct cst__distinct {
  uint64_t *hashes; /* 0: free */
  size_t count;     /* CST__MAX_DISTINCT: so many or more */
  uint64_t seed;
} cst__distinct;

/* False if out of memory. */
bool cst__distinct_add(cst__distinct *distinct, cst_bytes value, cst__arena *arena);

#endif /* VALIDATE_STRINGS_H */
