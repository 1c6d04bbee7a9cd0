/* Numbers for values: the first of its kind gets 0, the next 1, and so on.
 */
#ifndef TABLE_IDS_H
#define TABLE_IDS_H

#include "arrow/view.h"

/* A hash table. Values are 64-bit words, or strings of bytes, which have their hash as word. */
typedef struct cst__ids {
  const cst_allocator *allocator;
  const cst__view *strings; /* NULL: words alone */
  uint64_t seed;
  uint32_t *slots; /* id + 1; 0: free */
  size_t num_slots;
  uint64_t *words; /* [count] */
  int64_t *firsts; /* [count]: which value was the first of the id; -1: null */
  size_t word_capacity;
  size_t first_capacity;
  size_t count;
} cst__ids;

void cst__ids_init(cst__ids *ids, const cst__view *strings, const cst_allocator *allocator);
void cst__ids_reset(cst__ids *ids);

/* The id of a word, which value number `at` has; a new one if it is the first. */
cst_status cst__ids_of_word(cst__ids *ids, uint64_t word, int64_t at, uint32_t *out,
                            cst_error *error);

/* The id of a string, a slot of the view. */
cst_status cst__ids_of_string(cst__ids *ids, int64_t at, uint32_t *out, cst_error *error);

/* A new id, for null: it is not found again. */
cst_status cst__ids_of_null(cst__ids *ids, uint32_t *out, cst_error *error);

#endif /* TABLE_IDS_H */
