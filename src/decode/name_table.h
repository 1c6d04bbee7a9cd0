/* From a feature's name to its column, in a few instructions.
 *
 * A name is known by its first 16 bytes, its last 8 bytes and its length: for names of up to 24
 * bytes that is all of it, and no byte has to be compared afterwards. Longer names mix their middle
 * into the hash and are compared there. The hash is seeded, so that nobody can choose names that
 * collide.
 */
#ifndef DECODE_NAME_TABLE_H
#define DECODE_NAME_TABLE_H

#include "base/hash.h"

typedef struct cst__name_key {
  uint64_t head; /* bytes 0 to 8, zeros after a shorter name */
  uint64_t next; /* bytes 8 to 16; the tail again for a name of up to 16 */
  uint64_t tail; /* last 8 bytes; the head again for a name of up to 8 */
  uint32_t size;
} cst__name_key;

enum { CST__SHORT_NAME = 16, CST__LONG_NAME = 24, CST__FEW_NAMES = 64, CST__END_WORDS = 16 };
#define CST__NO_COLUMN UINT32_MAX

typedef struct cst__name_table {
  uint32_t *slots; /* a power of two of them, at most a quarter full: 1 + column; 0 is free */
  size_t mask;
  int shift;           /* that leaves as many bits of a hash as slots have */
  uint64_t factors[3]; /* of head, tail and next: odd, made of the seed */
  cst__name_key *keys; /* by 1 + column; the first is like no name */
  const char **names;  /* by column; NUL-terminated, in `arena` */
  size_t count;
  size_t capacity; /* of keys (one more) and names */
  uint64_t seed;
  uint64_t
      ends[CST__END_WORDS]; /* a bit for the end of every name: most others have none of these */
  bool has_few;             /* names, so that `ends` tells something */
  bool has_long;            /* a name has more than 16 bytes: only then `next` is looked at */
  cst_allocator allocator;
  cst__arena arena;
} cst__name_table;

/* False: no memory. */
bool cst__name_table_init(cst__name_table *table, const cst_allocator *allocator);
/* Tries some seeds and takes the one with the fewest names out of their first slot. */
void cst__name_table_tune(cst__name_table *table);
void cst__name_table_reset(cst__name_table *table);
/* Adds a name that is not there; its column is the number of names before. False: no memory. */
bool cst__name_table_add(cst__name_table *table, const uint8_t *name, size_t size);
/* The column, or CST__NO_COLUMN. Reads only the name's bytes. */
uint32_t cst__name_table_find(const cst__name_table *table, const uint8_t *name, size_t size);

/* The middle of a name of more than 24 bytes: its bytes 16 to size - 8. */
static inline uint64_t cst__name_middle(const uint8_t *name, size_t size, uint64_t seed) {
  uint64_t h = seed;
  for (size_t at = 16; at + 8 < size; at += 8) {
    h = cst__fold(h ^ cst__load64(name + at), UINT64_C(0x9e3779b97f4a7c15));
  }
  return h;
}

/* The place of a name's end in `ends`. */
static inline size_t cst__name_end_bit(uint64_t tail, size_t size) {
  return (size_t)(((tail + size) * UINT64_C(0x9e3779b97f4a7c15)) >> 54);
}

/* False: no name in the table ends like that. The quick way past the features that nobody wants. */
static inline bool cst__name_may_be_known(const cst__name_table *table, uint64_t tail,
                                          size_t size) {
  size_t bit = cst__name_end_bit(tail, size);
  return (table->ends[bit / 64] >> (bit % 64) & 1) != 0;
}

/* The highest bits of a sum of products, whose factors nobody knows. `has_long` is the table's; a
 * loop that knows it beforehand does not ask for each name. */
static inline size_t cst__name_slot_of(const cst__name_table *table, cst__name_key key,
                                       const uint8_t *name, bool has_long) {
  uint64_t hash = key.head * table->factors[0] + (key.tail + key.size) * table->factors[1];
  if (has_long) {
    hash += key.next * table->factors[2];
    if (key.size > CST__LONG_NAME) {
      hash += cst__name_middle(name, key.size, table->seed);
    }
  }
  return (size_t)(hash >> table->shift);
}

/* The search itself, for a key whose words were loaded already (`next` only if the table has long
 * names): 1 + the column, or 0. */
static inline uint32_t cst__name_table_probe(const cst__name_table *table, cst__name_key key,
                                             const uint8_t *name, bool has_long) {
  for (size_t at = cst__name_slot_of(table, key, name, has_long);; at = (at + 1) & table->mask) {
    uint32_t slot = table->slots[at];
    const cst__name_key *k = &table->keys[slot];
    if (((k->head ^ key.head) | (k->tail ^ key.tail) | (k->size ^ key.size)) == 0) {
      if (slot == 0) {
        __builtin_unreachable(); /* the key before the first is like no name */
      }
      if (!has_long) {
        return slot;
      }
      if (k->next == key.next &&
          (key.size <= CST__LONG_NAME ||
           memcmp(table->names[slot - 1] + 16, name + 16, key.size - 24) == 0)) {
        return slot;
      }
    }
    if (slot == 0) {
      return 0;
    }
  }
}

#endif /* DECODE_NAME_TABLE_H */
