/* From the tables of earlier versions to those of now. */
#ifndef LINEAGE_STORE_UPGRADE_H
#define LINEAGE_STORE_UPGRADE_H

#include "lineage/store.h"

/* Statements that make version i + 2 of version i + 1. */
typedef struct cst__lineage_steps {
  const char *const *steps;
  int64_t count;
} cst__lineage_steps;

/* Upgrades a store of an earlier version, after a copy of it has been put beside it
 * ("lineage.db.v1", or with a number behind it if that is taken). CST_UNSUPPORTED if it is open for
 * reading, or of a version that this does not know. */
cst_status cst__lineage_upgrade(cst_lineage *store, int64_t version, cst_error *error);
/* The same by other steps, for tests. */
cst_status cst__lineage_upgrade_by(cst_lineage *store, int64_t version,
                                   const cst__lineage_steps *steps, cst_error *error);

#endif /* LINEAGE_STORE_UPGRADE_H */
