/* The values with the largest weights, as tfx_bsl counts them. */
#include "sketch/misra_gries/misra_gries.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "sketch/hashes.h"
#include "sketch/tfx_text.h"

typedef cst__misra_table table;

static const double least_weight = 1e-8; /* what is below that is 0 */

void cst__misra_init(cst__misra *misra, const cst__misra_options *options,
                     const cst_allocator *allocator) {
  *misra = (cst__misra){.allocator = cst__allocator_of(allocator), .options = *options};
}

void cst__misra_reset(cst__misra *misra) {
  cst__misra_table_free(&misra->items);
  cst__misra_table_free(&misra->extras);
  cst__misra_init(misra, &misra->options, &misra->allocator);
}

size_t cst__misra_memory(const cst__misra *misra) {
  return sizeof *misra + cst__misra_table_memory(&misra->items) +
         cst__misra_table_memory(&misra->extras);
}

/* Sums stay finite. */
static inline double sum(double a, double b) {
  const double s = a + b;
  return s > DBL_MAX ? DBL_MAX : s < -DBL_MAX ? -DBL_MAX : s;
}

/* ---- adding ---- */

/* Subtracts from all weights, with `items` of more than `buckets` texts. */
static bool subtract(cst__misra *misra, double value) {
  table *t = &misra->items;
  const size_t buckets = misra->options.buckets;
  size_t num_dropped = 0;
  cst__misra_table_clear(&misra->extras);
  for (size_t i = 0; i < t->count; i++) {
    t->weights[i] = sum(t->weights[i], -value);
    num_dropped += t->weights[i] < least_weight;
  }
  const size_t left = t->count - num_dropped;
  size_t free = left < buckets ? buckets - left : 0;
  for (size_t i = 0; i < t->count && free > 0; i++) {
    if (fabs(t->weights[i]) < least_weight) {
      free--;
      if (!cst__misra_insert(&misra->extras, cst__misra_text(t, i), t->counters[i].hash, 0,
                             &misra->allocator)) {
        return false;
      }
    }
  }
  cst__misra_drop(t, least_weight, num_dropped);
  misra->delta = sum(misra->delta, value);
  return true;
}

static double smallest_weight(const table *t) {
  double least = t->weights[0];
  for (size_t i = 1; i < t->count; i++) {
    least = t->weights[i] < least ? t->weights[i] : least;
  }
  return least;
}

static bool add_text(cst__misra *misra, cst_bytes text, uint64_t hash, const double *weight) {
  table *t = &misra->items;
  const size_t i = cst__misra_find(t, text, hash);
  const double added = weight != NULL ? *weight : 1;
  if (i < t->count) {
    t->weights[i] = sum(t->weights[i], added);
    return true;
  }
  return cst__misra_insert(t, text, hash, added, &misra->allocator) &&
         (t->count <= misra->options.buckets ||
          subtract(misra, weight != NULL ? smallest_weight(t) : 1));
}

static cst_bytes bytes_of(const char *text) {
  return (cst_bytes){(const uint8_t *)text, strlen(text)};
}

static cst_bytes replaced(const cst__misra_options *options, cst_bytes text) {
  if (options->invalid_text != NULL && !cst__utf8_valid(text.data, text.size)) {
    return bytes_of(options->invalid_text);
  }
  return options->long_text != NULL && text.size > options->longest ? bytes_of(options->long_text)
                                                                    : text;
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return isnan(value) ? cst__float_bits(value) | (bits & UINT64_C(1) << 63) : bits;
}

/* A value as the text by which it is found. */
static cst_bytes key_of(const cst__misra_options *options, const cst__value_block *values, size_t i,
                        char room[CST__VALUE_TEXT_ROOM]) {
  if (values->family == CST__FAMILY_FLOAT) {
    const uint64_t bits = bits_of(cst__values_floats(values)[i]);
    memcpy(room, &bits, sizeof bits);
    return (cst_bytes){(const uint8_t *)room, sizeof bits};
  }
  const cst_bytes text = cst__value_text(values, i, room);
  return values->family == CST__FAMILY_BYTES && values->weights == NULL ? replaced(options, text)
                                                                        : text;
}

static cst__family merged_family(cst__family family) {
  return family == CST__FAMILY_UINT ? CST__FAMILY_INT : family;
}

/* What others saved may say one thing of the values and have another. */
static cst_status take_family(cst__misra *misra, cst__family family, cst_error *error) {
  family = merged_family(family);
  if (misra->family != CST__FAMILY_NONE && misra->family != family) {
    return cst__fail(error, CST_SCHEMA, NULL, "counts of %s cannot take %s as well",
                     cst__family_name(misra->family), cst__family_name(family));
  }
  misra->family = family;
  return CST_OK;
}

enum { PART = 128 };

cst_status cst__misra_add(cst__misra *misra, const cst__value_block *values, cst_error *error) {
  const uint64_t hash_key = cst__hash_key(0);
  cst_bytes keys[PART];
  uint64_t hashes[PART];
  char rooms[PART][CST__VALUE_TEXT_ROOM];
  if (values->count > 0) {
    CST__TRY(take_family(misra, values->family, error));
  }
  for (size_t begin = 0; begin < values->count; begin += PART) {
    const size_t count = values->count - begin < PART ? values->count - begin : PART;
    const cst__value_block block = {.family = CST__FAMILY_BYTES, .count = count, .items = keys};
    for (size_t i = 0; i < count; i++) {
      keys[i] = key_of(&misra->options, values, begin + i, rooms[i]);
    }
    cst__hash_values(&block, hash_key, hashes);
    for (size_t i = 0; i < count; i++) {
      const double *weight = values->weights != NULL ? &values->weights[begin + i] : NULL;
      if (!add_text(misra, keys[i], hashes[i], weight)) {
        return cst__fail_memory(error, sizeof(cst__misra_counter));
      }
    }
  }
  return CST_OK;
}

/* ---- merging ---- */

/* The weight at place `nth`, from 0 on, of a falling order. */
static double nth_largest(double *weights, size_t count, size_t nth) {
  size_t begin = 0;
  size_t end = count;
  while (end - begin > 1) {
    const double pivot = weights[begin + (end - begin) / 2];
    size_t larger = begin;
    size_t at = begin;
    size_t smaller = end;
    while (at < smaller) { /* [begin, larger) > pivot, [larger, at) equal, [smaller, end) < pivot */
      const double weight = weights[at];
      if (weight > pivot) {
        weights[at++] = weights[larger];
        weights[larger++] = weight;
      } else if (weight < pivot) {
        weights[at] = weights[--smaller];
        weights[smaller] = weight;
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
  return weights[begin];
}

static bool shrink(cst__misra *misra) {
  table *t = &misra->items;
  if (t->count <= misra->options.buckets) {
    return true;
  }
  double *weights = cst__new(&misra->allocator, t->count * sizeof *weights);
  if (weights == NULL) {
    return false;
  }
  memcpy(weights, t->weights, t->count * sizeof *weights);
  const double value = nth_largest(weights, t->count, misra->options.buckets);
  cst__delete(weights);
  return subtract(misra, value);
}

/* Adds the weights. */
static bool merge_table(table *into, const table *from, const cst_allocator *allocator) {
  for (size_t i = 0; i < from->count; i++) {
    const cst_bytes text = cst__misra_text(from, i);
    const uint64_t hash = from->counters[i].hash;
    const size_t at = cst__misra_find(into, text, hash);
    if (at < into->count) {
      into->weights[at] = sum(into->weights[at], from->weights[i]);
    } else if (!cst__misra_insert(into, text, hash, from->weights[i], allocator)) {
      return false;
    }
  }
  return true;
}

cst_status cst__misra_merge(cst__misra *into, const cst__misra *from, cst_error *error) {
  if (from->family == CST__FAMILY_NONE) {
    return CST_OK;
  }
  CST__TRY(take_family(into, from->family, error));
  into->delta = sum(into->delta, from->delta);
  return merge_table(&into->items, &from->items, &into->allocator) &&
                 merge_table(&into->extras, &from->extras, &into->allocator) && shrink(into)
             ? CST_OK
             : cst__fail_memory(error, from->items.count * sizeof(cst__misra_counter));
}

/* ---- what others have kept ---- */

/* The key of a text. False: no value has it. */
static bool key_of_text(cst__family family, cst_bytes text, char room[CST__VALUE_TEXT_ROOM],
                        cst_bytes *key) {
  uint64_t bits;
  *key = text;
  if (family == CST__FAMILY_FLOAT) {
    double value;
    if (!cst__value_of_text(family, text, &bits)) {
      return false;
    }
    memcpy(&value, &bits, sizeof value);
    bits = bits_of(value);
    memcpy(room, &bits, sizeof bits);
    *key = (cst_bytes){(const uint8_t *)room, sizeof bits};
    return true;
  }
  if (family == CST__FAMILY_INT) {
    family = cst__value_of_text(CST__FAMILY_INT, text, &bits) ? CST__FAMILY_INT : CST__FAMILY_UINT;
    const cst__value_block one = {.family = family, .count = 1, .items = &bits};
    if (family == CST__FAMILY_UINT && !cst__value_of_text(family, text, &bits)) {
      return false;
    }
    const cst_bytes again = cst__value_text(&one, 0, room);
    return again.size == text.size && memcmp(again.data, text.data, text.size) == 0;
  }
  return family == CST__FAMILY_BYTES;
}

/* *found: it is there already. */
static bool put_key(cst__misra *misra, cst_bytes key, const double *weight, bool *found) {
  table *t = weight != NULL ? &misra->items : &misra->extras;
  const uint64_t hash = cst__hash_bytes(key, cst__hash_key(0));
  *found = cst__misra_find(t, key, hash) < t->count;
  return *found || cst__misra_insert(t, key, hash, weight != NULL ? *weight : 0, &misra->allocator);
}

cst_status cst__misra_put(cst__misra *misra, cst__family family, cst_bytes text,
                          const double *weight, cst_error *error) {
  static const uint8_t no_bytes[1] = {0};
  char room[CST__VALUE_TEXT_ROOM];
  cst_bytes key;
  bool found;
  text.data = text.size > 0 ? text.data : no_bytes;
  CST__TRY(take_family(misra, family, error));
  if (!key_of_text(misra->family, text, room, &key)) {
    return cst__fail(error, CST_CORRUPT, NULL, "an item is not a number as tfx_bsl writes them");
  }
  return put_key(misra, key, weight, &found) ? CST_OK
                                             : cst__fail_memory(error, sizeof(cst__misra_counter));
}

/* ---- saving ---- */

/* As the key is. */
static bool is_key(cst__family family, cst_bytes key) {
  char room[CST__VALUE_TEXT_ROOM];
  cst_bytes same;
  double value;
  if (family == CST__FAMILY_FLOAT && key.size == sizeof value) {
    memcpy(&value, key.data, sizeof value);
    const uint64_t bits = bits_of(value);
    return memcmp(&bits, key.data, sizeof bits) == 0;
  }
  return family != CST__FAMILY_FLOAT && key_of_text(family, key, room, &same);
}

static void archive_table(cst__misra *misra, bool is_items, cst__archive *a) {
  table *t = is_items ? &misra->items : &misra->extras;
  size_t count = t->count;
  cst__archive_count(a, &count);
  cst__archive_check(a, !is_items || count <= misra->options.buckets);
  cst__archive_check(a, count == 0 || misra->family != CST__FAMILY_NONE);
  for (size_t i = 0; i < count && !a->bad; i++) {
    const bool loads = cst__archive_loads(a);
    cst_bytes key = loads ? (cst_bytes){0} : cst__misra_text(t, i);
    double weight = loads ? 0 : t->weights[i];
    bool found = false;
    cst__archive_bytes(a, &key);
    if (is_items) {
      cst__archive_double(a, &weight);
    }
    cst__archive_check(a, isfinite(weight) && is_key(misra->family, key));
    if (loads && !a->bad && !put_key(misra, key, is_items ? &weight : NULL, &found)) {
      cst__archive_fail_memory(a);
    }
    cst__archive_check(a, !found);
  }
}

void cst__misra_archive(cst__misra *misra, cst__archive *a) {
  int family = (int)misra->family;
  cst__archive_enum(a, &family, CST__FAMILY_BYTES + 1);
  cst__archive_check(a, family != CST__FAMILY_UINT);
  cst__archive_double(a, &misra->delta);
  cst__archive_check(a, isfinite(misra->delta));
  misra->family = a->bad ? CST__FAMILY_NONE : (cst__family)family;
  archive_table(misra, true, a);
  archive_table(misra, false, a);
}
