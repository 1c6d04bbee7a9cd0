/* The hash table of ids: open addressing, at most half full. */
#include "table/ids.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"

enum { FIRST_SLOTS = 64 };

void cst__ids_init(cst__ids *ids, const cst__view *strings, const cst_allocator *allocator) {
  *ids = (cst__ids){.allocator = allocator, .strings = strings, .seed = cst__random_seed()};
}

void cst__ids_reset(cst__ids *ids) {
  cst__delete(ids->slots);
  cst__delete(ids->words);
  cst__delete(ids->firsts);
  *ids = (cst__ids){0};
}

static size_t ids_place_of(const cst__ids *ids, uint64_t word) {
  return (size_t)cst__fold(word ^ ids->seed, UINT64_C(0xd6e8feb86659fd93)) & (ids->num_slots - 1);
}

static cst_status ids_grow_slots(cst__ids *ids, cst_error *error) {
  size_t num_slots = ids->num_slots > 0 ? 2 * ids->num_slots : FIRST_SLOTS;
  size_t size = SIZE_MAX;
  uint32_t *slots =
      cst__mul(num_slots, sizeof *slots, &size) ? cst__new_zero(ids->allocator, size) : NULL;
  if (slots == NULL) {
    return cst__fail_memory(error, size);
  }
  cst__delete(ids->slots);
  ids->slots = slots;
  ids->num_slots = num_slots;
  for (size_t id = 0; id < ids->count; id++) {
    if (ids->firsts[id] >= 0) {
      size_t at = ids_place_of(ids, ids->words[id]);
      while (slots[at] != 0) {
        at = (at + 1) & (num_slots - 1);
      }
      slots[at] = (uint32_t)id + 1;
    }
  }
  return CST_OK;
}

static cst_status ids_add(cst__ids *ids, uint64_t word, int64_t at, uint32_t *out,
                          cst_error *error) {
  void *words = ids->words;
  void *firsts = ids->firsts;
  size_t want = ids->count + 1;
  if (want >= UINT32_MAX) {
    return cst__fail(error, CST_LIMIT, "group smaller batches", "more than 2^32 groups");
  }
  if (!cst__grow(ids->allocator, &words, &ids->word_capacity, want, sizeof *ids->words)) {
    return cst__fail_memory(error, want * sizeof *ids->words);
  }
  ids->words = words;
  if (!cst__grow(ids->allocator, &firsts, &ids->first_capacity, want, sizeof *ids->firsts)) {
    return cst__fail_memory(error, want * sizeof *ids->firsts);
  }
  ids->firsts = firsts;
  *out = (uint32_t)ids->count;
  ids->words[ids->count] = word;
  ids->firsts[ids->count++] = at;
  return CST_OK;
}

static bool is_same_string(const cst__view *view, int64_t a, int64_t b) {
  return cst__bytes_equal(cst__view_bytes(view, a), cst__view_bytes(view, b));
}

static bool is_same(const cst__ids *ids, uint32_t id, uint64_t word, int64_t at) {
  return ids->words[id] == word &&
         (ids->strings == NULL || is_same_string(ids->strings, ids->firsts[id], at));
}

cst_status cst__ids_of_word(cst__ids *ids, uint64_t word, int64_t at, uint32_t *out,
                            cst_error *error) {
  if (ids->count >= ids->num_slots / 2) {
    CST__TRY(ids_grow_slots(ids, error));
  }
  size_t place = ids_place_of(ids, word);
  for (; ids->slots[place] != 0; place = (place + 1) & (ids->num_slots - 1)) {
    uint32_t id = ids->slots[place] - 1;
    if (is_same(ids, id, word, at)) {
      *out = id;
      return CST_OK;
    }
  }
  CST__TRY(ids_add(ids, word, at, out, error));
  ids->slots[place] = *out + 1;
  return CST_OK;
}

cst_status cst__ids_of_string(cst__ids *ids, int64_t at, uint32_t *out, cst_error *error) {
  cst_bytes bytes = cst__view_bytes(ids->strings, at);
  uint64_t word = bytes.size > 0 ? cst__hash(bytes.data, bytes.size, ids->seed) : 0;
  return cst__ids_of_word(ids, word, at, out, error);
}

cst_status cst__ids_of_null(cst__ids *ids, uint32_t *out, cst_error *error) {
  return ids_add(ids, 0, -1, out, error);
}
