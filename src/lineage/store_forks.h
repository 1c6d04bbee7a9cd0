/* Forks beside open stores.
 *
 * SQLite's connections must not live in a process that forks, not even unused: a child that opens
 * the same file takes the locks of its parent's connection for its own. Once the parent has closed
 * it, others believe that nobody has the file open, delete the write-ahead log, and what the child
 * writes is lost. So stores that are at rest are closed before a fork, and opened again when they
 * are used next. One that is in use then, or in a transaction, stays open, and the child cannot
 * open its file.
 */
#ifndef LINEAGE_STORE_FORKS_H
#define LINEAGE_STORE_FORKS_H

#include <stdatomic.h>
#include <sys/types.h>

#include "base/alloc.h"

typedef enum cst__lineage_use {
  CST__LINEAGE_RESTS,
  CST__LINEAGE_WORKS,
  CST__LINEAGE_FORKS, /* somebody is about to close it */
  CST__LINEAGE_OPENS  /* and nobody may close it meanwhile */
} cst__lineage_use;

/* How a store's file is closed, and opened again. */
typedef struct cst__lineage_file_actions {
  void (*disconnect)(void *store);
  cst_status (*reconnect)(void *store, cst_error *error);
} cst__lineage_file_actions;

/* What forks know of a store. */
typedef struct cst__lineage_presence {
  void *store;
  const cst__lineage_file_actions *actions;
  struct cst__lineage_presence *next;
  pid_t owner;
  atomic_int use; /* cst__lineage_use */
  bool is_open;
  dev_t device; /* of the file, once it is known */
  ino_t inode;
} cst__lineage_presence;

/* A store that opens; NULL: no memory. */
cst__lineage_presence *cst__lineage_appear(void *store, const cst__lineage_file_actions *actions,
                                           const cst_allocator *allocator);
/* Its file is known: CST_STATE in a child of a process that had it in use when it forked. */
cst_status cst__lineage_check_parent(cst__lineage_presence *presence, const char *path,
                                     cst_error *error);
/* It is open, and rests. */
void cst__lineage_settle(cst__lineage_presence *presence);
/* It is about to be freed, and is closed. */
void cst__lineage_vanish(cst__lineage_presence *presence);

/* From the first call to the last of what is one piece, a call or a transaction. */
cst_status cst__lineage_begin_use(cst__lineage_presence *presence, cst_error *error);
void cst__lineage_end_use(cst__lineage_presence *presence);

#endif /* LINEAGE_STORE_FORKS_H */
