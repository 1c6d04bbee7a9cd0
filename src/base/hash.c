/* The name map and the search for near names. */
#include "base/hash.h"

#include <time.h>

#include "base/os.h"

uint64_t cst__random_seed(void) {
  struct timespec now = {0, 0};
  uint64_t mix = 0;
  if (!cst__os_random(&mix, sizeof mix)) {
    (void)clock_gettime(CLOCK_REALTIME, &now);
    mix ^= (uint64_t)now.tv_nsec ^ ((uint64_t)now.tv_sec << 30);
    mix ^= (uint64_t)(uintptr_t)&now; /* the stack's place is random on every system of today */
  }
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
