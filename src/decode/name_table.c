/* Building the name table; the search is inline in its header. */
#include "decode/name_table.h"

enum {
  FIRST_SLOTS = 64,
  SPARSE = 4,
  SEEDS_TO_TRY = 24,
  MOST_TUNED = 1024 /* of more names as many are out of place for any seed */
};

static cst__name_key key_of(const uint8_t *name, size_t size) {
  cst__name_key key = {.head = cst__load_tail(name, size), .size = (uint32_t)size};
  key.tail = size > 8 ? cst__load64(name + size - 8) : key.head;
  key.next = size > 16 ? cst__load64(name + 8) : key.tail;
  return key;
}

static void set_seed(cst__name_table *table, uint64_t seed) {
  table->seed = seed;
  for (int i = 0; i < 3; i++) {
    table->factors[i] = cst__fold(seed + (uint64_t)i, UINT64_C(0xa0761d6478bd642f)) | 1;
  }
}

/* The number of slots, a power of two. */
static void set_num_slots(cst__name_table *table, size_t count) {
  table->mask = count - 1;
  table->shift = 64 - __builtin_ctzll(count);
}

/* Room for `want` names; the key before the first is like no name. */
static bool reserve_names(cst__name_table *table, size_t want) {
  if (want <= table->capacity) {
    return true;
  }
  size_t room = want < 32 ? 32 : want * 2;
  cst__name_key *keys =
      cst__renew(&table->allocator, table->keys, (room + 1) * sizeof *table->keys);
  if (keys == NULL) {
    return false;
  }
  table->keys = keys;
  table->keys[0] = (cst__name_key){.size = UINT32_MAX};
  void *names = cst__renew(&table->allocator, (void *)table->names, room * sizeof(char *));
  if (names == NULL) {
    return false;
  }
  table->names = names;
  table->capacity = room;
  return true;
}

bool cst__name_table_init(cst__name_table *table, const cst_allocator *allocator) {
  *table = (cst__name_table){.has_few = true, .allocator = cst__allocator_of(allocator)};
  set_seed(table, cst__random_seed());
  set_num_slots(table, FIRST_SLOTS);
  cst__arena_init(&table->arena, allocator);
  table->slots = cst__new_zero(&table->allocator, FIRST_SLOTS * sizeof *table->slots);
  return table->slots != NULL && reserve_names(table, 1);
}

void cst__name_table_reset(cst__name_table *table) {
  cst__delete(table->slots);
  cst__delete(table->keys);
  cst__delete(table->names);
  cst__arena_reset(&table->arena);
  table->slots = NULL;
  table->keys = NULL;
  table->names = NULL;
}

uint32_t cst__name_table_find(const cst__name_table *table, const uint8_t *name, size_t size) {
  return cst__name_table_probe(table, key_of(name, size), name, table->has_long) - 1;
}

/* Returns true if the name found its first slot taken. */
static bool put_name_slot(cst__name_table *table, size_t column) {
  const uint8_t *name = (const uint8_t *)table->names[column];
  size_t at = cst__name_slot_of(table, table->keys[column + 1], name, table->has_long);
  bool taken = table->slots[at] != 0;
  while (table->slots[at] != 0) {
    at = (at + 1) & table->mask;
  }
  table->slots[at] = (uint32_t)column + 1;
  return taken;
}

/* Puts every name in again; returns how many found their first slot taken. */
static size_t fill_name_slots(cst__name_table *table) {
  size_t taken = 0;
  memset(table->slots, 0, (table->mask + 1) * sizeof *table->slots);
  for (size_t i = 0; i < table->count; i++) {
    taken += put_name_slot(table, i);
  }
  return taken;
}

void cst__name_table_tune(cst__name_table *table) {
  if (table->count > MOST_TUNED) {
    return;
  }
  uint64_t best = table->seed;
  size_t least = fill_name_slots(table);
  for (int i = 0; i < SEEDS_TO_TRY && least > 0; i++) {
    set_seed(table, cst__fold(table->seed, UINT64_C(0xd6e8feb86659fd93)) | 1);
    size_t taken = fill_name_slots(table);
    if (taken < least) {
      least = taken;
      best = table->seed;
    }
  }
  set_seed(table, best);
  (void)fill_name_slots(table);
}

static bool grow_name_slots(cst__name_table *table) {
  size_t count = (table->mask + 1) * 2;
  uint32_t *slots = cst__new(&table->allocator, count * sizeof *slots);
  if (slots == NULL) {
    return false;
  }
  cst__delete(table->slots);
  table->slots = slots;
  set_num_slots(table, count);
  (void)fill_name_slots(table);
  return true;
}

bool cst__name_table_add(cst__name_table *table, const uint8_t *name, size_t size) {
  if ((table->count + 1) * SPARSE > table->mask + 1 && !grow_name_slots(table)) {
    return false;
  }
  char *copy = cst__arena_copy(&table->arena, name, size);
  if (copy == NULL || !reserve_names(table, table->count + 1)) {
    return false;
  }
  table->names[table->count] = copy;
  table->keys[table->count + 1] = key_of(name, size);
  table->count++;
  size_t bit = cst__name_end_bit(table->keys[table->count].tail, size);
  table->ends[bit / 64] |= UINT64_C(1) << (bit % 64);
  table->has_few = table->count <= CST__FEW_NAMES;
  if (size > CST__SHORT_NAME && !table->has_long) {
    table->has_long = true; /* the hash looks at more from here on */
    (void)fill_name_slots(table);
  } else {
    (void)put_name_slot(table, table->count - 1);
  }
  return true;
}
