/* Upgrades: a copy first, then all steps in one transaction. */
#include "lineage/store_upgrade.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* There is one version so far. */
static const cst__lineage_steps own_steps = {NULL, CST__LINEAGE_VERSION - 1};

enum { MOST_COPIES = 1000 };

/* A name beside the store that is free, in the store's allocator. */
static cst_status name_copy(const cst_lineage *store, int64_t version, char **out,
                            cst_error *error) {
  const size_t room = strlen(store->path) + 48;
  char *name = cst__new(&store->allocator, room);
  if (name == NULL) {
    return cst__fail_memory(error, room);
  }
  (void)snprintf(name, room, "%s.v%" PRId64, store->path, version);
  for (int i = 2; access(name, F_OK) == 0 && i < MOST_COPIES; i++) {
    (void)snprintf(name, room, "%s.v%" PRId64 ".%d", store->path, version, i);
  }
  *out = name;
  return CST_OK;
}

static cst_status copy_store(cst_lineage *store, int64_t version, cst_error *error) {
  char *name = NULL;
  sqlite3_stmt *copy;
  CST__TRY(name_copy(store, version, &name, error));
  cst_status status = cst__lineage_prepare_own(store, "VACUUM INTO ?", &copy, error);
  if (status == CST_OK) {
    cst__lineage_bind_text(copy, 1, name);
    status = cst__lineage_step(store, copy, NULL, error);
    (void)sqlite3_finalize(copy);
  }
  cst__delete(name);
  return status;
}

static cst_status check_version(int64_t version, const cst__lineage_steps *steps,
                                cst_error *error) {
  const int64_t newest = steps->count + 1;
  return version >= 1 && version <= newest
             ? CST_OK
             : cst__fail(error, CST_UNSUPPORTED, "install a newer version of columnstone",
                         "a lineage store of version %" PRId64 "; this reads up to %" PRId64,
                         version, newest);
}

/* Others may have done it since the version was read, or more than this can. */
static cst_status take_steps(cst_lineage *store, const cst__lineage_steps *steps,
                             cst_error *error) {
  int64_t version;
  char text[64];
  CST__TRY(cst__lineage_number(store, "PRAGMA user_version", &version, error));
  CST__TRY(check_version(version, steps, error));
  for (int64_t i = version - 1; i < steps->count; i++) {
    CST__TRY(cst__lineage_run(store, steps->steps[i], error));
  }
  (void)snprintf(text, sizeof text, "PRAGMA user_version = %" PRId64, steps->count + 1);
  return cst__lineage_run(store, text, error);
}

cst_status cst__lineage_upgrade_by(cst_lineage *store, int64_t version,
                                   const cst__lineage_steps *steps, cst_error *error) {
  CST__TRY(check_version(version, steps, error));
  if (version == steps->count + 1) {
    return CST_OK;
  }
  if (store->is_read_only) {
    return cst__fail(error, CST_UNSUPPORTED, "open it for writing once, which upgrades it",
                     "a lineage store of version %" PRId64 "; this reads %" PRId64, version,
                     steps->count + 1);
  }
  CST__TRY(copy_store(store, version, error));
  CST__TRY(cst__lineage_enter(store, CST__LINEAGE_WRITES, error));
  return cst__lineage_leave(store, take_steps(store, steps, error), error);
}

cst_status cst__lineage_upgrade(cst_lineage *store, int64_t version, cst_error *error) {
  return cst__lineage_upgrade_by(store, version, &own_steps, error);
}
