/* Closing and opening the file of a store that exists. */
#ifndef LINEAGE_STORE_OPEN_H
#define LINEAGE_STORE_OPEN_H

#include "lineage/store.h"

/* Its statements go, too. */
void cst__lineage_disconnect(cst_lineage *store);
cst_status cst__lineage_reconnect(cst_lineage *store, cst_error *error);

#endif /* LINEAGE_STORE_OPEN_H */
