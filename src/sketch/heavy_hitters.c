/* The values with the largest weights. */
#include "sketch/heavy_hitters.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "sketch/hashes.h"

typedef cst__heavy_counter counter;
typedef cst__heavy_table table;

enum { CAPACITY_LEAST = 8, BYTES_LEAST = 64, INLINE_MOST = 8 };

void cst__heavy_init(cst__heavy *heavy, const cst__heavy_options *options,
                     const cst_allocator *allocator) {
  *heavy = (cst__heavy){.allocator = cst__allocator_of(allocator), .options = *options};
}

static void free_table(table *t) {
  cst__delete(t->counters);
  cst__delete(t->places);
  cst__delete(t->bytes);
  *t = (table){0};
}

void cst__heavy_reset(cst__heavy *heavy) {
  free_table(&heavy->table);
  cst__heavy_init(heavy, &heavy->options, &heavy->allocator);
}

size_t cst__heavy_memory(const cst__heavy *heavy) {
  const table *t = &heavy->table;
  return sizeof *heavy + t->capacity * sizeof *t->counters + t->num_places * sizeof *t->places +
         t->bytes_capacity;
}

/* Sums stay finite. */
static inline double sum(double a, double b) {
  double s = a + b;
  return s < DBL_MAX ? s : DBL_MAX;
}

static inline double upper_of(const counter *c) { return sum(c->lower, c->error); }

/* ---- the table ---- */

/* A value that is looked up. */
typedef struct key {
  uint64_t hash;
  uint64_t word;       /* the bits of a number */
  uint64_t size;       /* of bytes; 0 of numbers */
  const uint8_t *data; /* NULL: a number */
} key;

static size_t kept_size(const cst__heavy *heavy, uint64_t size) {
  return size < heavy->options.longest ? (size_t)size : heavy->options.longest;
}

/* Values of more than 8 bytes lie outside of their counters. */
static inline bool equals(const cst__heavy *heavy, const counter *c, const key *k) {
  if (c->hash != k->hash || c->size != k->size) {
    return false;
  }
  if (k->size <= INLINE_MOST) { /* the hashes of strings differ where they do */
    return k->data != NULL || c->word == k->word;
  }
  const uint8_t *bytes = heavy->table.bytes + c->word;
  if (k->size <= 16) {
    return cst__load64(bytes) == cst__load64(k->data) &&
           cst__load64(bytes + k->size - 8) == cst__load64(k->data + k->size - 8);
  }
  return memcmp(bytes, k->data, kept_size(heavy, k->size)) == 0;
}

static inline uint64_t place_of(uint64_t hash, size_t number) {
  return (hash & ~(uint64_t)UINT32_MAX) | number;
}

/* The place of the value's counter, or the free one for it. */
static inline uint64_t *find_place(const cst__heavy *heavy, const key *k) {
  const table *t = &heavy->table;
  size_t mask = t->num_places - 1;
  size_t i = (size_t)k->hash & mask;
  for (; t->places[i] != 0; i = (i + 1) & mask) {
    if ((t->places[i] ^ k->hash) >> 32 == 0 &&
        equals(heavy, &t->counters[(uint32_t)t->places[i] - 1], k)) {
      break;
    }
  }
  return &t->places[i];
}

static void place_all(table *t) {
  size_t mask = t->num_places - 1;
  memset(t->places, 0, t->num_places * sizeof *t->places);
  for (size_t c = 0; c < t->count; c++) {
    size_t i = (size_t)t->counters[c].hash & mask;
    while (t->places[i] != 0) {
      i = (i + 1) & mask;
    }
    t->places[i] = place_of(t->counters[c].hash, c + 1);
  }
}

/* Room for so many counters; false, with the table as it was, if out of memory. */
static bool make_room(cst__heavy *heavy, size_t capacity) {
  table *t = &heavy->table;
  size_t num_places = 4 * CAPACITY_LEAST;
  while (num_places < 4 * capacity) {
    num_places *= 2;
  }
  uint64_t *places = cst__new(&heavy->allocator, num_places * sizeof *places);
  counter *counters = cst__new(&heavy->allocator, capacity * sizeof *counters);
  if (places == NULL || counters == NULL) {
    cst__delete(places);
    cst__delete(counters);
    return false;
  }
  if (t->count > 0) {
    memcpy(counters, t->counters, t->count * sizeof *counters);
  }
  cst__delete(t->places);
  cst__delete(t->counters);
  t->places = places;
  t->counters = counters;
  t->num_places = num_places;
  t->capacity = capacity;
  place_all(t);
  return true;
}

static bool make_bytes_room(cst__heavy *heavy, size_t more) {
  table *t = &heavy->table;
  if (more <= t->bytes_capacity - t->num_bytes) {
    return true;
  }
  size_t capacity = t->bytes_capacity > 0 ? t->bytes_capacity : BYTES_LEAST;
  while (capacity - t->num_bytes < more) {
    capacity *= 2; /* all bytes are at most 4 * CST__HEAVY_SIZE_MOST * CST__HEAVY_LONGEST_MOST */
  }
  uint8_t *bytes = t->bytes == NULL ? cst__new(&heavy->allocator, capacity)
                                    : cst__renew(&heavy->allocator, t->bytes, capacity);
  if (bytes == NULL) {
    return false;
  }
  t->bytes = bytes;
  t->bytes_capacity = capacity;
  return true;
}

static size_t most_counters(const cst__heavy *heavy) { return 2 * heavy->options.size; }

/* Adds a counter at a free place, for which there is room. False if out of memory. */
static bool add_counter(cst__heavy *heavy, uint64_t *place, const key *k, double lower,
                        double error) {
  table *t = &heavy->table;
  counter c = {k->hash, k->word, k->size, lower, error};
  if (k->data != NULL && k->size > INLINE_MOST) {
    size_t size = kept_size(heavy, k->size);
    if (!make_bytes_room(heavy, size)) {
      return false;
    }
    memcpy(t->bytes + t->num_bytes, k->data, size);
    c.word = t->num_bytes;
    t->num_bytes += size;
  } else if (k->data != NULL) {
    c.word = cst__word_of_few(k->data, k->size);
  }
  t->counters[t->count++] = c;
  *place = place_of(k->hash, t->count);
  return true;
}

/* ---- forgetting ---- */

/* The item at place `nth`, from 0 on, of a falling order. */
static uint64_t select_nth(uint64_t *items, size_t count, size_t nth) {
  size_t begin = 0;
  size_t end = count;
  while (end - begin > 1) {
    uint64_t pivot = items[begin + (end - begin) / 2];
    size_t larger = begin;
    size_t at = begin;
    size_t smaller = end;
    while (at < smaller) { /* [begin, larger) > pivot, [larger, at) equal, [smaller, end) < pivot */
      uint64_t item = items[at];
      if (item > pivot) {
        items[at++] = items[larger];
        items[larger++] = item;
      } else if (item < pivot) {
        items[at] = items[--smaller];
        items[smaller] = item;
      } else {
        at++;
      }
    }
    if (nth < larger) {
      end = larger;
    } else if (nth >= smaller) {
      begin = smaller;
    } else {
      return pivot;
    }
  }
  return items[begin];
}

/* Where there are too many counters: the offset becomes the upper bound of the one at place size +
 * 1, and what has no more than that goes. */
static void forget(cst__heavy *heavy) {
  table *t = &heavy->table;
  if (t->count <= most_counters(heavy)) {
    return;
  }
  for (size_t i = 0; i < t->count; i++) { /* the bits of positive doubles are in their order */
    double upper = upper_of(&t->counters[i]);
    memcpy(&t->places[i], &upper, sizeof upper);
  }
  uint64_t bits = select_nth(t->places, t->count, heavy->options.size);
  memcpy(&heavy->offset, &bits, sizeof bits);
  size_t count = 0;
  size_t num_bytes = 0;
  for (size_t i = 0; i < t->count; i++) {
    counter c = t->counters[i];
    if (upper_of(&c) <= heavy->offset) {
      continue;
    }
    if (c.size > INLINE_MOST) {
      size_t size = kept_size(heavy, c.size);
      memmove(t->bytes + num_bytes, t->bytes + c.word, size);
      c.word = num_bytes;
      num_bytes += size;
    }
    t->counters[count++] = c;
  }
  t->count = count;
  t->num_bytes = num_bytes;
  place_all(t);
}

/* ---- adding ---- */

/* A value without a counter. `place`: NULL, if there are none yet. */
static bool add_new(cst__heavy *heavy, uint64_t *place, key k, double weight) {
  table *t = &heavy->table;
  if (place == NULL || t->count == t->capacity) {
    size_t most = most_counters(heavy) + 1;
    size_t capacity = t->capacity > 0 ? 2 * t->capacity : CAPACITY_LEAST;
    if (!make_room(heavy, capacity < most ? capacity : most)) {
      return false;
    }
    place = find_place(heavy, &k);
  }
  if (!add_counter(heavy, place, &k, weight, heavy->offset)) {
    return false;
  }
  forget(heavy);
  return true;
}

static inline bool add_key(cst__heavy *heavy, key k, double weight) {
  table *t = &heavy->table;
  uint64_t *place = t->num_places > 0 ? find_place(heavy, &k) : NULL;
  if (place == NULL || *place == 0) {
    return add_new(heavy, place, k, weight);
  }
  counter *c = &t->counters[(uint32_t)*place - 1];
  c->lower = sum(c->lower, weight);
  return true;
}

static inline key key_of(const cst__value_block *values, size_t i, uint64_t hash) {
  static const uint8_t no_bytes[1] = {0};
  if (values->family == CST__FAMILY_BYTES) {
    const cst_bytes *bytes = values->items;
    return (key){hash, 0, bytes[i].size, bytes[i].size > 0 ? bytes[i].data : no_bytes};
  }
  if (values->family == CST__FAMILY_FLOAT) {
    const double *floats = values->items;
    return (key){hash, cst__float_bits(floats[i]), 0, NULL};
  }
  uint64_t word;
  memcpy(&word, (const uint8_t *)values->items + i * sizeof word, sizeof word);
  return (key){hash, word, 0, NULL};
}

/* What others saved may say one thing of the values and have another. */
static cst_status check_family(const cst__heavy *heavy, cst__family family, cst_error *error) {
  return heavy->family == CST__FAMILY_NONE || heavy->family == family
             ? CST_OK
             : cst__fail(error, CST_SCHEMA, NULL, "heavy hitters of %s cannot take %s as well",
                         cst__family_name(heavy->family), cst__family_name(family));
}

cst_status cst__heavy_add_hashed(cst__heavy *heavy, const cst__value_block *values,
                                 const uint64_t *hashes, cst_error *error) {
  if (values->count > 0) {
    CST__TRY(check_family(heavy, values->family, error));
    heavy->family = values->family;
  }
  for (size_t i = 0; i < values->count; i++) {
    double weight = values->weights != NULL ? values->weights[i] : 1;
    if (weight > 0 && !add_key(heavy, key_of(values, i, hashes[i]), weight)) {
      return cst__fail_memory(error, sizeof(counter));
    }
  }
  return CST_OK;
}

cst_status cst__heavy_add(cst__heavy *heavy, const cst__value_block *values, cst_error *error) {
  uint64_t hashes[CST__VALUES_MOST];
  cst__hash_values(values, cst__hash_key(heavy->options.seed), hashes);
  return cst__heavy_add_hashed(heavy, values, hashes, error);
}

cst_status cst__heavy_put(cst__heavy *heavy, const cst__value_block *one, double lower,
                          cst_error *error) {
  uint64_t hash;
  cst__hash_values(one, cst__hash_key(heavy->options.seed), &hash);
  key k = key_of(one, 0, hash);
  heavy->family = one->family;
  uint64_t *place = heavy->table.num_places > 0 ? find_place(heavy, &k) : NULL;
  if (place != NULL && *place != 0) {
    return cst__fail(error, CST_CORRUPT, NULL, "a value is counted twice");
  }
  return add_new(heavy, place, k, lower) ? CST_OK : cst__fail_memory(error, sizeof(counter));
}

/* ---- merging ---- */

static key key_of_counter(const cst__heavy *heavy, const counter *c) {
  const uint8_t *data = heavy->family != CST__FAMILY_BYTES ? NULL
                        : c->size > INLINE_MOST            ? heavy->table.bytes + c->word
                                                           : (const uint8_t *)&c->word;
  return (key){c->hash, c->word, c->size, data};
}

static const counter *find_counter(const cst__heavy *heavy, const key *k) {
  const table *t = &heavy->table;
  uint64_t place = t->count > 0 ? *find_place(heavy, k) : 0;
  return place != 0 ? &t->counters[(uint32_t)place - 1] : NULL;
}

/* Adds the counters of `a`, those that `b` has, too, with what it has seen, or not at all, if they
 * are there already; what only one has seen had at most the other's offset there. */
static bool merge_counters(cst__heavy *both, const cst__heavy *a, const cst__heavy *b,
                           bool has_shared) {
  for (size_t i = 0; i < a->table.count; i++) {
    const counter *c = &a->table.counters[i];
    key k = key_of_counter(a, c);
    const counter *other = find_counter(b, &k);
    if (other != NULL && has_shared) {
      continue;
    }
    uint64_t *place = find_place(both, &k);
    double lower = other != NULL ? sum(c->lower, other->lower) : c->lower;
    double error = sum(c->error, other != NULL ? other->error : b->offset);
    if (*place == 0 && !add_counter(both, place, &k, lower, error)) {
      return false;
    }
  }
  return true;
}

cst_status cst__heavy_merge(cst__heavy *into, const cst__heavy *from, cst_error *error) {
  cst__heavy both;
  size_t capacity = into->table.count + from->table.count + 1;
  size_t most = most_counters(into) + 1;
  if (from->family == CST__FAMILY_NONE) {
    return CST_OK;
  }
  CST__TRY(check_family(into, from->family, error));
  cst__heavy_init(&both, &into->options, &into->allocator);
  both.family = from->family;
  both.offset = sum(into->offset, from->offset);
  bool merged = make_room(&both, capacity) && merge_counters(&both, into, from, false) &&
                merge_counters(&both, from, into, true);
  if (merged) {
    forget(&both);
    merged = capacity <= most || make_room(&both, most);
  }
  if (!merged) {
    cst__heavy_reset(&both);
    return cst__fail_memory(error, capacity * sizeof(counter));
  }
  free_table(&into->table);
  *into = both;
  return CST_OK;
}

/* ---- what it holds, in order ---- */

/* Numbers by their values, with NaN behind all others. */
static uint64_t order_of(cst__family family, uint64_t bits) {
  uint64_t sign = UINT64_C(1) << 63;
  switch (family) {
    case CST__FAMILY_INT:
      return bits ^ sign;
    case CST__FAMILY_FLOAT:
      return bits & sign ? ~bits : bits | sign;
    default:
      return bits;
  }
}

typedef struct ranked {
  cst__heavy_item item;
  uint64_t order; /* of numbers; or the size of all bytes */
  uint64_t hash;
  double error;
} ranked;

static ranked rank_counter(const cst__heavy *heavy, const counter *c) {
  ranked r = {{.lower = c->lower, .upper = upper_of(c)}, c->size, c->hash, c->error};
  if (heavy->family == CST__FAMILY_BYTES) {
    r.item.bytes = (cst_bytes){key_of_counter(heavy, c).data, kept_size(heavy, c->size)};
  } else {
    r.item.bits = c->word;
    r.order = order_of(heavy->family, c->word);
  }
  return r;
}

static int compare_values(const ranked *x, const ranked *y) {
  int order = cst__bytes_compare(x->item.bytes, y->item.bytes);
  order = order != 0 ? order : (x->order > y->order) - (x->order < y->order);
  return order != 0 ? order : (x->hash > y->hash) - (x->hash < y->hash);
}

static int by_value(const void *a, const void *b) {
  return compare_values((const ranked *)a, (const ranked *)b);
}

static int by_upper(const void *a, const void *b) {
  const ranked *x = a;
  const ranked *y = b;
  int order = (x->item.upper < y->item.upper) - (x->item.upper > y->item.upper);
  return order != 0 ? order : compare_values(x, y);
}

/* NULL if out of memory. */
static ranked *rank_all(const cst__heavy *heavy, int (*compare)(const void *, const void *)) {
  size_t count = heavy->table.count;
  ranked *all = cst__new(&heavy->allocator, (count + 1) * sizeof *all);
  if (all != NULL) {
    for (size_t i = 0; i < count; i++) {
      all[i] = rank_counter(heavy, &heavy->table.counters[i]);
    }
    qsort(all, count, sizeof *all, compare);
  }
  return all;
}

cst_status cst__heavy_items(const cst__heavy *heavy, cst__heavy_item **items, size_t *count,
                            cst_error *error) {
  *count = heavy->table.count;
  *items = *count > 0 ? cst__new(&heavy->allocator, *count * sizeof **items) : NULL;
  ranked *all = rank_all(heavy, by_upper);
  if (all == NULL || (*items == NULL && *count > 0)) {
    cst__delete(all);
    cst__delete(*items);
    *items = NULL;
    *count = 0;
    return cst__fail_memory(error, heavy->table.count * sizeof(ranked));
  }
  for (size_t i = 0; i < *count; i++) {
    (*items)[i] = all[i].item;
  }
  cst__delete(all);
  return CST_OK;
}

/* ---- saving ---- */

/* Numbers by their bits; bytes with the size and the hash of what is not kept. */
static void archive_value(const cst__heavy *heavy, cst__archive *a, ranked *r) {
  size_t longest = heavy->options.longest;
  if (heavy->family != CST__FAMILY_BYTES) {
    cst__archive_u64(a, &r->item.bits);
    return;
  }
  uint64_t more = r->order - r->item.bytes.size;
  cst__archive_bytes(a, &r->item.bytes);
  cst__archive_check(a, r->item.bytes.size <= longest);
  if (r->item.bytes.size == longest) {
    cst__archive_u64(a, &more);
    cst__archive_check(a, more <= UINT64_MAX - longest);
    if (more > 0) {
      cst__archive_u64(a, &r->hash);
    }
  }
  r->order = r->item.bytes.size + more;
}

static void save_counters(const cst__heavy *heavy, cst__archive *a) {
  ranked *all = rank_all(heavy, by_value);
  if (all == NULL) {
    a->out->failed = true;
    return;
  }
  for (size_t i = 0; i < heavy->table.count; i++) {
    archive_value(heavy, a, &all[i]);
    cst__archive_double(a, &all[i].item.lower);
    cst__archive_double(a, &all[i].error);
  }
  cst__delete(all);
}

static bool is_positive(double value) { return value > 0 && value <= DBL_MAX; }

/* Its key, by what the archive says of it. */
static key key_of_loaded(const cst__heavy *heavy, ranked *r, uint64_t hash_key) {
  cst__value_block one = {heavy->family, 1, &r->item.bits, NULL};
  if (heavy->family == CST__FAMILY_BYTES) {
    one.items = &r->item.bytes;
  } else {
    r->order = order_of(heavy->family, r->item.bits);
  }
  if (r->order == r->item.bytes.size || heavy->family != CST__FAMILY_BYTES) {
    cst__hash_values(&one, hash_key, &r->hash);
  }
  key k = key_of(&one, 0, r->hash);
  k.size = heavy->family == CST__FAMILY_BYTES ? r->order : 0;
  return k;
}

static void load_counters(cst__heavy *heavy, cst__archive *a, size_t count) {
  uint64_t hash_key = cst__hash_key(heavy->options.seed);
  ranked last = {0};
  if (count > 0 && !make_room(heavy, count)) {
    cst__archive_fail_memory(a);
  }
  for (size_t i = 0; i < count && !a->bad; i++) {
    ranked r = {0};
    archive_value(heavy, a, &r);
    cst__archive_double(a, &r.item.lower);
    cst__archive_double(a, &r.error);
    key k = key_of_loaded(heavy, &r, hash_key);
    cst__archive_check(a, is_positive(r.item.lower) && r.error >= 0 && r.error <= heavy->offset &&
                              sum(r.item.lower, r.error) >= heavy->offset); /* a tiny one */
    cst__archive_check(
        a, heavy->family == CST__FAMILY_BYTES || k.word == r.item.bits); /* a usual NaN or zero */
    cst__archive_check(a, i == 0 || compare_values(&last, &r) < 0);
    if (!a->bad && !add_counter(heavy, find_place(heavy, &k), &k, r.item.lower, r.error)) {
      cst__archive_fail_memory(a);
    }
    last = r;
  }
}

void cst__heavy_archive(cst__heavy *heavy, cst__archive *a) {
  int family = (int)heavy->family;
  size_t count = heavy->table.count;
  cst__archive_enum(a, &family, CST__FAMILY_BYTES + 1);
  cst__archive_double(a, &heavy->offset);
  cst__archive_count(a, &count);
  cst__archive_check(a, heavy->offset == 0 || is_positive(heavy->offset));
  cst__archive_check(a,
                     count <= most_counters(heavy) && (family != CST__FAMILY_NONE || count == 0));
  if (cst__archive_loads(a)) {
    heavy->family = (cst__family)family;
    heavy->offset = a->bad ? 0 : heavy->offset;
    load_counters(heavy, a, a->bad ? 0 : count);
  } else {
    save_counters(heavy, a);
  }
}
