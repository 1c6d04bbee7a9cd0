/* Texts with a weight each. */
#include "sketch/misra_gries/misra_table.h"

#include <string.h>

#include "sketch/hashes.h"

typedef cst__misra_table table;
typedef cst__misra_counter counter;

enum { CAPACITY_LEAST = 8, BYTES_LEAST = 64, INLINE_MOST = 8 };

void cst__misra_table_free(table *t) {
  cst__delete(t->counters);
  cst__delete(t->weights);
  cst__delete(t->places);
  cst__delete(t->bytes);
  *t = (table){0};
}

void cst__misra_table_clear(table *t) {
  if (t->count > 0) {
    memset(t->places, 0, t->num_places * sizeof *t->places);
  }
  t->count = 0;
  t->num_bytes = 0;
}

size_t cst__misra_table_memory(const table *t) {
  return t->capacity * (sizeof *t->counters + sizeof *t->weights) +
         t->num_places * sizeof *t->places + t->bytes_capacity;
}

/* ---- places ---- */

static inline uint64_t place_of(uint64_t hash, size_t number) {
  return (hash & ~(uint64_t)UINT32_MAX) | (number + 1);
}

static inline size_t number_at(uint64_t place) { return (uint32_t)place - 1; }

/* Hashes of texts of at most 8 bytes differ where they do. */
static inline bool equals(const table *t, const counter *c, cst_bytes text, uint64_t hash) {
  return c->hash == hash && c->size == text.size &&
         (c->size <= INLINE_MOST || memcmp(t->bytes + c->word, text.data, text.size) == 0);
}

/* Where it is, or the free place for it. */
static inline size_t find_place(const table *t, cst_bytes text, uint64_t hash) {
  const size_t mask = t->num_places - 1;
  size_t i = (size_t)hash & mask;
  for (; t->places[i] != 0; i = (i + 1) & mask) {
    if ((t->places[i] ^ hash) >> 32 == 0 &&
        equals(t, &t->counters[number_at(t->places[i])], text, hash)) {
      break;
    }
  }
  return i;
}

/* Where the i-th counter is. */
static size_t place_of_counter(const table *t, size_t i) {
  const size_t mask = t->num_places - 1;
  size_t at = (size_t)t->counters[i].hash & mask;
  while (number_at(t->places[at]) != i) {
    at = (at + 1) & mask;
  }
  return at;
}

static void place_all(table *t) {
  const size_t mask = t->num_places - 1;
  memset(t->places, 0, t->num_places * sizeof *t->places);
  for (size_t c = 0; c < t->count; c++) {
    size_t i = (size_t)t->counters[c].hash & mask;
    while (t->places[i] != 0) {
      i = (i + 1) & mask;
    }
    t->places[i] = place_of(t->counters[c].hash, c);
  }
}

size_t cst__misra_find(const table *t, cst_bytes text, uint64_t hash) {
  const uint64_t place = t->num_places > 0 ? t->places[find_place(t, text, hash)] : 0;
  return place != 0 ? number_at(place) : t->count;
}

/* ---- room ---- */

static bool make_room(table *t, const cst_allocator *allocator) {
  size_t capacity = t->capacity > 0 ? 2 * t->capacity : CAPACITY_LEAST;
  size_t num_places = 4 * capacity;
  counter *counters = cst__new(allocator, capacity * sizeof *counters);
  double *weights = cst__new(allocator, capacity * sizeof *weights);
  uint64_t *places = cst__new(allocator, num_places * sizeof *places);
  if (counters == NULL || weights == NULL || places == NULL) {
    cst__delete(counters);
    cst__delete(weights);
    cst__delete(places);
    return false;
  }
  if (t->count > 0) {
    memcpy(counters, t->counters, t->count * sizeof *counters);
    memcpy(weights, t->weights, t->count * sizeof *weights);
  }
  cst__delete(t->counters);
  cst__delete(t->weights);
  cst__delete(t->places);
  t->counters = counters;
  t->weights = weights;
  t->places = places;
  t->num_places = num_places;
  t->capacity = capacity;
  place_all(t);
  return true;
}

/* Room for more bytes: a new block, of those that are still there. */
static bool make_bytes_room(table *t, size_t more, const cst_allocator *allocator) {
  size_t num_bytes = 0;
  size_t capacity = BYTES_LEAST;
  for (size_t i = 0; i < t->count; i++) {
    num_bytes += t->counters[i].size > INLINE_MOST ? t->counters[i].size : 0;
  }
  while (capacity < 2 * (num_bytes + more)) {
    capacity *= 2;
  }
  uint8_t *bytes = cst__new(allocator, capacity);
  if (bytes == NULL) {
    return false;
  }
  num_bytes = 0;
  for (size_t i = 0; i < t->count; i++) {
    counter *c = &t->counters[i];
    if (c->size > INLINE_MOST) {
      memcpy(bytes + num_bytes, t->bytes + c->word, c->size);
      c->word = num_bytes;
      num_bytes += c->size;
    }
  }
  cst__delete(t->bytes);
  t->bytes = bytes;
  t->bytes_capacity = capacity;
  t->num_bytes = num_bytes;
  return true;
}

bool cst__misra_insert(table *t, cst_bytes text, uint64_t hash, double weight,
                       const cst_allocator *allocator) {
  counter c = {hash, text.size, 0};
  if ((t->count == t->capacity && !make_room(t, allocator)) ||
      (text.size > INLINE_MOST && text.size > t->bytes_capacity - t->num_bytes &&
       !make_bytes_room(t, text.size, allocator))) {
    return false;
  }
  if (text.size > INLINE_MOST) {
    memcpy(t->bytes + t->num_bytes, text.data, text.size);
    c.word = t->num_bytes;
    t->num_bytes += text.size;
  } else {
    c.word = cst__word_of_few(text.data, text.size);
  }
  t->places[find_place(t, text, hash)] = place_of(hash, t->count);
  t->counters[t->count] = c;
  t->weights[t->count++] = weight;
  return true;
}

/* ---- going ---- */

/* Closes the gap that a place leaves. */
static void free_place(table *t, size_t gap) {
  const size_t mask = t->num_places - 1;
  for (size_t i = (gap + 1) & mask; t->places[i] != 0; i = (i + 1) & mask) {
    const size_t home = (size_t)t->counters[number_at(t->places[i])].hash & mask;
    if (((i - home) & mask) >= ((i - gap) & mask)) {
      t->places[gap] = t->places[i];
      gap = i;
    }
  }
  t->places[gap] = 0;
}

/* The last one takes its number. */
static void drop_one(table *t, size_t i) {
  const size_t last = t->count - 1;
  free_place(t, place_of_counter(t, i));
  if (i != last) {
    t->places[place_of_counter(t, last)] = place_of(t->counters[last].hash, i);
    t->counters[i] = t->counters[last];
    t->weights[i] = t->weights[last];
  }
  t->count--;
}

void cst__misra_drop(table *t, double least, size_t num_dropped) {
  if (num_dropped == t->count) {
    cst__misra_table_clear(t);
    return;
  }
  if (num_dropped < t->count / 16) {
    for (size_t i = t->count; i > 0 && num_dropped > 0; i--) {
      if (t->weights[i - 1] < least) {
        drop_one(t, i - 1);
        num_dropped--;
      }
    }
    return;
  }
  size_t count = 0;
  for (size_t i = 0; i < t->count; i++) {
    if (t->weights[i] >= least) {
      t->counters[count] = t->counters[i];
      t->weights[count++] = t->weights[i];
    }
  }
  t->count = count;
  place_all(t);
}
