/* Texts with a weight each, found by their hashes. They are as they came, until some of them go.
 *
 * A counter takes 24 bytes and its weight 8, two to four times as many places 8 bytes each, and
 * texts of more than 8 bytes lie in a block of at most twice as many bytes as they have, or of what
 * they had when there were more.
 */
#ifndef SKETCH_MISRA_GRIES_MISRA_TABLE_H
#define SKETCH_MISRA_GRIES_MISRA_TABLE_H

#include "base/alloc.h"

typedef struct cst__misra_counter {
  uint64_t hash;
  uint64_t size;
  uint64_t word; /* at most 8 bytes; or where more bytes begin */
} cst__misra_counter;

typedef struct cst__misra_table {
  cst__misra_counter *counters;
  double *weights;
  uint64_t *places; /* upper half of the hash, and the counter's number from 1 on */
  uint8_t *bytes;
  size_t count;
  size_t capacity;
  size_t num_places; /* a power of two, more than the capacity twice */
  size_t num_bytes;  /* also of those that went */
  size_t bytes_capacity;
} cst__misra_table;

void cst__misra_table_free(cst__misra_table *t);
/* None are left; the memory stays. */
void cst__misra_table_clear(cst__misra_table *t);
size_t cst__misra_table_memory(const cst__misra_table *t);

/* The number of a text, from 0 on; `count`: it is not there. */
size_t cst__misra_find(const cst__misra_table *t, cst_bytes text, uint64_t hash);
/* Adds one that is not there. False if out of memory, with the table as it was. */
bool cst__misra_insert(cst__misra_table *t, cst_bytes text, uint64_t hash, double weight,
                       const cst_allocator *allocator);
/* Takes away those that weigh less; how many is known. */
void cst__misra_drop(cst__misra_table *t, double least, size_t num_dropped);

/* Valid until the table changes. */
static inline cst_bytes cst__misra_text(const cst__misra_table *t, size_t i) {
  const cst__misra_counter *c = &t->counters[i];
  return (cst_bytes){c->size > 8 ? t->bytes + c->word : (const uint8_t *)&c->word, c->size};
}

#endif /* SKETCH_MISRA_GRIES_MISRA_TABLE_H */
