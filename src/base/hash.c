/* The name map and the search for near names. */
#include "base/hash.h"

#include <time.h>

uint64_t cst__random_seed(void) {
  struct timespec now = {0, 0};
  (void)timespec_get(&now, TIME_UTC);
  uint64_t mix = (uint64_t)now.tv_nsec ^ ((uint64_t)now.tv_sec << 30);
  mix ^= (uint64_t)(uintptr_t)&now; /* the stack's place is random on every system of today */
  return cst__fold(mix ^ UINT64_C(0x2d358dccaa6c78a5), UINT64_C(0x8bb84b93962eacc9)) | 1;
}

static cst__name_slot *find_slot(const cst__name_map *map, const void *owner, const char *name,
                                 size_t size) {
  size_t mask = map->num_slots - 1;
  uint64_t seed = cst__fold(map->seed ^ (uint64_t)(uintptr_t)owner, map->seed);
  size_t at = (size_t)cst__hash(name, size, seed) & mask;
  while (map->slots[at].name != NULL &&
         !(map->slots[at].size == size && map->slots[at].owner == owner &&
           memcmp(map->slots[at].name, name, size) == 0)) {
    at = (at + 1) & mask;
  }
  return &map->slots[at];
}

size_t cst__name_map_find_of(const cst__name_map *map, const void *owner, const char *name,
                             size_t size) {
  if (map->slots == NULL) {
    return SIZE_MAX;
  }
  const cst__name_slot *slot = find_slot(map, owner, name, size);
  return slot->name != NULL ? slot->value : SIZE_MAX;
}

size_t cst__name_map_find(const cst__name_map *map, const char *name, size_t size) {
  return cst__name_map_find_of(map, NULL, name, size);
}

static bool grow_map(cst__name_map *map) {
  cst__name_map bigger = {NULL, map->num_slots ? map->num_slots * 2 : 16, map->count,
                          map->seed ? map->seed : cst__random_seed()};
  bigger.slots = cst__new_zero(NULL, bigger.num_slots * sizeof(cst__name_slot));
  if (bigger.slots == NULL) {
    return false;
  }
  for (size_t i = 0; i < map->num_slots; i++) {
    if (map->slots[i].name != NULL) {
      *find_slot(&bigger, map->slots[i].owner, map->slots[i].name, map->slots[i].size) =
          map->slots[i];
    }
  }
  cst__delete(map->slots);
  *map = bigger;
  return true;
}

bool cst__name_map_add_of(cst__name_map *map, const void *owner, const char *name, size_t size,
                          size_t value) {
  if ((map->count + 1) * 2 > map->num_slots && !grow_map(map)) {
    return false;
  }
  *find_slot(map, owner, name, size) = (cst__name_slot){name, owner, size, value};
  map->count++;
  return true;
}

bool cst__name_map_add(cst__name_map *map, const char *name, size_t size, size_t value) {
  return cst__name_map_add_of(map, NULL, name, size, value);
}

void cst__name_map_reset(cst__name_map *map) {
  cst__delete(map->slots);
  *map = (cst__name_map){0};
}

enum { NEAR_MAX = 64 }; /* longer names are compared by their first bytes */

static size_t edit_distance(const char *a, const char *b) {
  size_t row[NEAR_MAX + 1];
  size_t na = strnlen(a, NEAR_MAX);
  size_t nb = strnlen(b, NEAR_MAX);
  for (size_t j = 0; j <= nb; j++) {
    row[j] = j;
  }
  for (size_t i = 1; i <= na; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      size_t above = row[j];
      size_t best = diagonal + (a[i - 1] != b[j - 1]);
      best = best < above + 1 ? best : above + 1;
      best = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
      row[j] = best;
      diagonal = above;
    }
  }
  return row[nb];
}

size_t cst__nearest_name(const char *name, const char *const *names, size_t count) {
  size_t best = SIZE_MAX;
  size_t limit = strnlen(name, NEAR_MAX) / 3 + 1;
  for (size_t i = 0; i < count; i++) {
    size_t distance = edit_distance(name, names[i]);
    if (distance <= limit && (best == SIZE_MAX || distance < limit)) {
      best = i;
      limit = distance;
    }
  }
  return best;
}
