/* Hashing short names: seeded, so that nobody can choose names that collide. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t cst__load64(const void *ptr) {
  uint64_t word;
  memcpy(&word, ptr, 8);
  return word;
}

/* The two halves of a 64 x 64 bit product, folded. */
static inline uint64_t cst__fold(uint64_t a, uint64_t b) {
  __uint128_t product = (__uint128_t)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Bytes of any number (fewer than 8: the rest zero). */
static inline uint64_t cst__load_tail(const uint8_t *bytes, size_t size) {
  uint64_t word = 0;
  memcpy(&word, bytes, size < 8 ? size : 8);
  return word;
}

static inline uint64_t cst__hash(const void *bytes, size_t size, uint64_t seed) {
  const uint8_t *at = bytes;
  uint64_t h = seed ^ (size * UINT64_C(0x9e3779b97f4a7c15));
  for (; size > 8; size -= 8, at += 8) {
    h = cst__fold(h ^ cst__load64(at), UINT64_C(0xd6e8feb86659fd93));
  }
  return cst__fold(h ^ cst__load_tail(at, size), UINT64_C(0xa0761d6478bd642f) ^ seed);
}

/* A seed that nobody knows, another one each time. */
uint64_t cst__random_seed(void);

/* A map from names to indexes; names are borrowed and must outlive it. Zero-initialised storage. */
typedef struct cst__name_map {
  struct cst__name_slot *slots; /* power of two, or NULL */
  size_t num_slots;
  size_t count;
  uint64_t seed;
} cst__name_map;

typedef struct cst__name_slot {
  const char *name; /* NULL: free */
  const void *owner;
  size_t size;
  size_t value;
} cst__name_slot;

#include "base/alloc.h"

/* The name's index, or SIZE_MAX. */
size_t cst__name_map_find(const cst__name_map *map, const char *name, size_t size);
/* Adds a name that is not there yet; false if out of memory. */
bool cst__name_map_add(cst__name_map *map, const char *name, size_t size, size_t value);
/* The same for names of which every owner (a struct, a node) has its own; those above have none. */
size_t cst__name_map_find_of(const cst__name_map *map, const void *owner, const char *name,
                             size_t size);
bool cst__name_map_add_of(cst__name_map *map, const void *owner, const char *name, size_t size,
                          size_t value);
void cst__name_map_reset(cst__name_map *map);

#endif /* BASE_HASH_H */
