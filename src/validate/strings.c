/* Filling sets of strings, and counting different ones. */
#include "validate/strings.h"

static const uint8_t no_bytes[1] = {0};

static void put(cst__string_set *set, cst_bytes value) {
  const uint8_t *data = value.size > 0 ? value.data : no_bytes;
  cst__string_ends ends = cst__string_ends_of(data, value.size);
  size_t i = cst__string_place(set, ends, value.size);
  while (set->slots[i].data != NULL) {
    i = (i + 1) & set->mask;
  }
  set->slots[i] = (cst__string_slot){ends, data, value.size};
}

bool cst__string_set_init(cst__string_set *set, const cst_bytes *values, size_t count,
                          cst__arena *arena) {
  size_t room = 16;
  size_t size;
  while (room / 2 < count) {
    room *= 2;
  }
  set->slots = cst__mul(room, sizeof *set->slots, &size) ? cst__arena_take_zero(arena, size) : NULL;
  set->mask = room - 1;
  set->seed = cst__random_seed();
  for (size_t i = 0; set->slots != NULL && i < count; i++) {
    put(set, values[i]);
  }
  return set->slots != NULL;
}

bool cst__distinct_add(cst__distinct *distinct, cst_bytes value, cst__arena *arena) {
  enum { ROOM = 2 * CST__MAX_DISTINCT };
  if (distinct->hashes == NULL) {
    distinct->hashes = cst__arena_take_zero(arena, ROOM * sizeof *distinct->hashes);
    distinct->seed = cst__random_seed();
  }
  if (distinct->hashes == NULL) {
    return false;
  }
  uint64_t hash = cst__hash(value.size > 0 ? value.data : no_bytes, value.size, distinct->seed) | 1;
  size_t i = (size_t)(hash >> 1) % ROOM;
  while (distinct->hashes[i] != 0 && distinct->hashes[i] != hash) {
    i = (i + 1) % ROOM;
  }
  if (distinct->hashes[i] == 0 && distinct->count < CST__MAX_DISTINCT) {
    distinct->hashes[i] = hash;
    distinct->count++;
  }
  return true;
}
