/* Filling sets of strings, and counting different ones. */
#include "validate/strings.h"

static const uint8_t no_bytes[1] = {0};

static void put_string(cst__string_set *set, cst_bytes value) {
  const uint8_t *data = value.size > 0 ? value.data : no_bytes;
  cst__string_ends ends = cst__string_ends_of(data, value.size);
  size_t i = cst__string_place(set, ends, data, value.size);
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
    put_string(set, values[i]);
  }
  return set->slots != NULL;
}

enum { DISTINCT_ROOM = 2 * CST__MAX_DISTINCT };

static bool distinct_begin(cst__distinct *distinct, cst__arena *arena) {
  distinct->hashes = cst__arena_take(arena, CST__MAX_DISTINCT * sizeof *distinct->hashes);
  distinct->places = cst__arena_take_zero(arena, DISTINCT_ROOM * sizeof *distinct->places);
  distinct->seed = cst__random_seed();
  return distinct->hashes != NULL && distinct->places != NULL;
}

static bool add_hash(cst__distinct *distinct, uint64_t hash, cst__arena *arena) {
  if (distinct->count == 0 && !distinct_begin(distinct, arena)) {
    return false;
  }
  if (distinct->count == CST__MAX_DISTINCT) {
    return true;
  }
  uint64_t word = cst__fold(hash ^ distinct->seed, UINT64_C(0xd6e8feb86659fd93));
  size_t i = (size_t)word % DISTINCT_ROOM;
  while (distinct->places[i] != 0 && distinct->hashes[distinct->places[i] - 1] != hash) {
    i = (i + 1) % DISTINCT_ROOM;
  }
  if (distinct->places[i] == 0) {
    distinct->hashes[distinct->count++] = hash;
    distinct->places[i] = (uint16_t)distinct->count;
  }
  return true;
}

bool cst__distinct_add(cst__distinct *distinct, cst_bytes value, cst__arena *arena) {
  return add_hash(distinct, cst__hash(value.size > 0 ? value.data : no_bytes, value.size, 0) | 1,
                  arena);
}

bool cst__distinct_merge(cst__distinct *into, const cst__distinct *from, cst__arena *arena) {
  bool ok = true;
  for (size_t i = 0; i < from->count && ok; i++) {
    ok = add_hash(into, from->hashes[i], arena);
  }
  return ok;
}

void cst__distinct_archive(cst__distinct *distinct, cst__archive *a, cst__arena *arena) {
  size_t count = distinct->count;
  cst__archive_count(a, &count);
  cst__archive_check(a, count <= CST__MAX_DISTINCT);
  for (size_t i = 0; i < count && !a->bad; i++) {
    uint64_t hash = cst__archive_loads(a) ? 0 : distinct->hashes[i];
    cst__archive_u64(a, &hash);
    cst__archive_check(a, hash != 0);
    if (cst__archive_loads(a) && !a->bad && !add_hash(distinct, hash, arena)) {
      cst__archive_fail_memory(a);
    }
  }
}
