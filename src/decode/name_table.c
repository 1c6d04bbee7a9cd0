/* Building the name table; the search is inline in its header. */
#include "decode/name_table.h"

static cst__name_key key_of(const uint8_t *name, size_t size) {
  cst__name_key key = {cst__load_tail(name, size), 0, (uint32_t)size};
  key.tail = size > 8 ? cst__load64(name + size - 8) : key.head;
  return key;
}

static cst__name_entry *new_entries(const cst_allocator *allocator, size_t count) {
  cst__name_entry *entries = cst__new_zero(allocator, count * sizeof *entries);
  for (size_t i = 0; entries != NULL && i < count; i++) {
    /* A free entry has a size that no name has, so that a search does not take it for "". */
    entries[i].size = UINT32_MAX;
    entries[i].column = CST__NO_COLUMN;
  }
  return entries;
}

bool cst__name_table_init(cst__name_table *table, const cst_allocator *allocator) {
  *table = (cst__name_table){.seed = cst__random_seed(),
                             .mask = 15,
                             .allocator = cst__allocator_of(allocator)};
  cst__arena_init(&table->arena, allocator);
  table->entries = new_entries(&table->allocator, table->mask + 1);
  return table->entries != NULL;
}

void cst__name_table_reset(cst__name_table *table) {
  cst__delete(table->entries);
  cst__delete(table->names);
  cst__arena_reset(&table->arena);
  table->entries = NULL;
  table->names = NULL;
}

uint32_t cst__name_table_find(const cst__name_table *table, const uint8_t *name, size_t size) {
  return cst__name_table_probe(table, key_of(name, size), name);
}

static void put(cst__name_table *table, const uint8_t *name, size_t size, uint32_t column) {
  cst__name_key key = key_of(name, size);
  uint64_t hash = cst__name_hash(table, key);
  if (size > CST__LONG_NAME) {
    hash ^= cst__name_middle(name, size, table->seed);
  }
  size_t at = (size_t)hash & table->mask;
  while (table->entries[at].column != CST__NO_COLUMN) {
    at = (at + 1) & table->mask;
  }
  table->entries[at] = (cst__name_entry){key.head, key.tail, key.size, column};
}

/* Twice the entries; everything is put in again. */
static bool grow_table(cst__name_table *table) {
  size_t count = (table->mask + 1) * 2;
  cst__name_entry *old = table->entries;
  size_t old_count = table->mask + 1;
  cst__name_entry *entries = new_entries(&table->allocator, count);
  if (entries == NULL) {
    return false;
  }
  table->entries = entries;
  table->mask = count - 1;
  for (size_t i = 0; i < old_count; i++) {
    if (old[i].column != CST__NO_COLUMN) {
      put(table, (const uint8_t *)table->names[old[i].column], old[i].size, old[i].column);
    }
  }
  cst__delete(old);
  return true;
}

bool cst__name_table_add(cst__name_table *table, const uint8_t *name, size_t size) {
  if ((table->count + 1) * 2 > table->mask + 1 && !grow_table(table)) {
    return false;
  }
  void *names = (void *)table->names;
  if (!cst__grow(&table->allocator, &names, &table->names_capacity, table->count + 1,
                 sizeof(char *))) {
    return false;
  }
  table->names = names;
  char *copy = cst__arena_copy(&table->arena, name, size);
  if (copy == NULL) {
    return false;
  }
  table->names[table->count] = copy;
  put(table, (const uint8_t *)copy, size, (uint32_t)table->count);
  table->count++;
  return true;
}
