/* A set of strings that is asked for every value of a column: of short strings, the hash looks at
 * the length and at the first and the last eight bytes, which are all that is compared, too.
 */
#ifndef VALIDATE_STRINGS_H
#define VALIDATE_STRINGS_H

#include <columnstone/status.h>

#include "base/alloc.h"
#include "base/archive.h"
#include "base/hash.h"

/* The ends of a string, which overlap if it is short: with the size, they are all of a string of at
 * most sixteen bytes. */
typedef struct cst__string_ends {
  uint64_t first, last;
} cst__string_ends;

enum { CST__ENDS = 16 };

typedef struct cst__string_slot {
  cst__string_ends ends;
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

static inline cst__string_ends cst__string_ends_of(const uint8_t *at, size_t size) {
  if (size >= 8) {
    return (cst__string_ends){cst__load64(at), cst__load64(at + size - 8)};
  }
  if (size >= 4) {
    return (cst__string_ends){cst__load32(at), cst__load32(at + size - 4)};
  }
  if (size > 0) {
    return (cst__string_ends){at[0], (uint64_t)at[size / 2] << 8 | at[size - 1]};
  }
  return (cst__string_ends){0, 0};
}

static inline size_t cst__string_place(const cst__string_set *set, cst__string_ends ends,
                                       const uint8_t *data, size_t size) {
  uint64_t salt = size * UINT64_C(0x9e3779b97f4a7c15) ^ ~set->seed;
  uint64_t hash = size <= CST__ENDS ? cst__fold(ends.first ^ set->seed, ends.last ^ salt)
                                    : cst__hash(data, size, set->seed);
  /* Once more: the product of values chosen against it ends in zeros for many a seed. */
  return (size_t)cst__fold(hash, UINT64_C(0xa0761d6478bd642f)) & set->mask;
}

/* Looks for a string whose ends and place are known. */
static inline bool cst__string_set_probe(const cst__string_set *set, cst__string_ends ends,
                                         size_t place, const uint8_t *data, size_t size) {
  for (size_t i = place; set->slots[i].data != NULL; i = (i + 1) & set->mask) {
    const cst__string_slot *slot = &set->slots[i];
    if (slot->ends.first == ends.first && slot->ends.last == ends.last && slot->size == size &&
        (size <= CST__ENDS || memcmp(slot->data, data, size) == 0)) {
      return true;
    }
  }
  return false;
}

static inline bool cst__string_set_has(const cst__string_set *set, const uint8_t *data,
                                       size_t size) {
  cst__string_ends ends = cst__string_ends_of(data, size);
  return cst__string_set_probe(set, ends, cst__string_place(set, ends, data, size), data, size);
}

/* How many different strings there were, up to a limit: by hashes of all of their bytes, which are
 * the same everywhere, so that sets can be saved and merged. */
enum { CST__MAX_DISTINCT = 1024 };

typedef struct cst__distinct {
  uint64_t *hashes; /* as they came, so that what is saved does not depend on the seed */
  uint16_t *places; /* by hash and seed: the number of one of them, from 1 on; 0: free */
  size_t count;     /* CST__MAX_DISTINCT: so many or more */
  uint64_t seed;    /* so that nobody can choose strings that meet at one place */
} cst__distinct;

/* Both are false if out of memory. */
bool cst__distinct_add(cst__distinct *distinct, cst_bytes value, cst__arena *arena);
bool cst__distinct_merge(cst__distinct *into, const cst__distinct *from, cst__arena *arena);
void cst__distinct_archive(cst__distinct *distinct, cst__archive *a, cst__arena *arena);

#endif /* VALIDATE_STRINGS_H */
