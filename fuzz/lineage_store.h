/* Stores of lineage over a database in memory, for the targets that fill its tables. */
#ifndef FUZZ_LINEAGE_STORE_H
#define FUZZ_LINEAGE_STORE_H

#include <sqlite3.h>

#include "fuzz.h"
#include "lineage/store.h"
#include "lineage/store_forks.h"

static void close_memory(void *ctx) {
  cst_lineage *store = ctx;
  for (size_t i = 0; i < store->num_statements; i++) {
    (void)sqlite3_finalize(store->statements[i].prepared);
  }
  for (size_t i = 0; i < CST__LINEAGE_MADE; i++) {
    (void)sqlite3_finalize(store->made[i].prepared);
    cst__delete((void *)(uintptr_t)store->made[i].text);
  }
  FUZZ_ASSERT(sqlite3_close(store->db) == SQLITE_OK);
}

/* What cst_lineage_open makes, with the tables of a text. */
static cst_lineage *memory_store(const char *tables) {
  static const cst__lineage_file_actions actions = {close_memory, NULL};
  const cst_allocator allocator = cst__allocator_of(NULL);
  cst_lineage *store = cst__new_zero(&allocator, sizeof *store);
  FUZZ_ASSERT(store != NULL && sqlite3_open(":memory:", &store->db) == SQLITE_OK);
  store->allocator = allocator;
  store->path = cst__new_copy(&allocator, "/nowhere/lineage.db", 19);
  store->folder = cst__new_copy(&allocator, "/nowhere", 8);
  store->timeout = 1;
  store->presence = cst__lineage_appear(store, &actions, &allocator);
  FUZZ_ASSERT(store->path != NULL && store->folder != NULL && store->presence != NULL);
  cst__lineage_settle(store->presence);
  FUZZ_ASSERT(sqlite3_exec(store->db, tables, NULL, NULL, NULL) == SQLITE_OK);
  return store;
}

#endif
