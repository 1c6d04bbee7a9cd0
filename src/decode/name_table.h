/* From a feature's name to its column, in a few instructions.
 *
 * A name is known by its first 8 bytes, its last 8 bytes and its length: for names of up to 16 bytes
 * that is all of it, and no byte has to be compared afterwards. Longer names mix their middle into
 * the hash and are compared there. The hash is seeded, so that nobody can choose names that collide.
 */
#ifndef DECODE_NAME_TABLE_H
#define DECODE_NAME_TABLE_H

#include "base/hash.h"

typedef struct cst__name_key {
  uint64_t head; /* first 8 bytes, zeros behind a shorter name */
  uint64_t tail; /* last 8 bytes; the head again for a name of up to 8 */
  uint32_t size;
} cst__name_key;

typedef struct cst__name_entry {
  uint64_t head;
  uint64_t tail;
  uint32_t size;
  uint32_t column; /* CST__NO_COLUMN: free */
} cst__name_entry;

enum { CST__LONG_NAME = 16 };
#define CST__NO_COLUMN UINT32_MAX

typedef struct cst__name_table {
  cst__name_entry *entries; /* a power of two of them, at most half full */
  size_t mask;
  size_t count;
  uint64_t seed;
  const char **names; /* by column; NUL-terminated, in `arena` */
  size_t names_capacity;
  cst_allocator allocator;
  cst__arena arena;
} cst__name_table;

/* False: no memory. */
bool cst__name_table_init(cst__name_table *table, const cst_allocator *allocator);
void cst__name_table_reset(cst__name_table *table);
/* Adds a name that is not there; its column is the number of names before. False: no memory. */
bool cst__name_table_add(cst__name_table *table, const uint8_t *name, size_t size);
/* The column, or CST__NO_COLUMN. Reads only the name's bytes. */
uint32_t cst__name_table_find(const cst__name_table *table, const uint8_t *name, size_t size);

/* The middle of a name of more than 16 bytes: its bytes 8 to size - 8. */
static inline uint64_t cst__name_middle(const uint8_t *name, size_t size, uint64_t seed) {
  uint64_t h = seed;
  for (size_t at = 8; at + 8 < size; at += 8) {
    h = cst__fold(h ^ cst__load64(name + at), UINT64_C(0x9e3779b97f4a7c15));
  }
  return h;
}

static inline uint64_t cst__name_hash(const cst__name_table *table, cst__name_key key) {
  return cst__fold(key.head ^ table->seed, key.tail ^ key.size ^ UINT64_C(0xa0761d6478bd642f));
}

/* The search itself, for a key whose words were loaded already. */
static inline uint32_t cst__name_table_probe(const cst__name_table *table, cst__name_key key,
                                             const uint8_t *name) {
  uint64_t hash = cst__name_hash(table, key);
  if (key.size > CST__LONG_NAME) {
    hash ^= cst__name_middle(name, key.size, table->seed);
  }
  for (size_t at = (size_t)hash & table->mask;; at = (at + 1) & table->mask) {
    const cst__name_entry *e = &table->entries[at];
    if (e->head == key.head && e->tail == key.tail && e->size == key.size) {
      if (key.size <= CST__LONG_NAME ||
          memcmp(table->names[e->column] + 8, name + 8, key.size - 16) == 0) {
        return e->column;
      }
    }
    if (e->column == CST__NO_COLUMN) {
      return CST__NO_COLUMN;
    }
  }
}

#endif /* DECODE_NAME_TABLE_H */
