/* Artifacts and executions, within a transaction: what the public functions do, for the other
 * files and rooms of lineage. */
#ifndef LINEAGE_ARTIFACTS_H
#define LINEAGE_ARTIFACTS_H

#include "lineage/store.h"

/* The id of a type, which is made if there is none. */
cst_status cst__lineage_type(cst_lineage *store, cst_lineage_kind kind, const char *name,
                             int64_t *id, cst_error *error);

cst_status cst__lineage_start(cst_lineage *store, const cst_lineage_execution *execution,
                              int64_t *id, cst_error *error);
cst_status cst__lineage_output(cst_lineage *store, int64_t execution, int64_t artifact,
                               const char *path, cst_error *error);
cst_status cst__lineage_end(cst_lineage *store, int64_t execution,
                            cst_lineage_execution_state state, cst_error *error);

/* "sessions@4", or "17" for an artifact without a name, in `room` bytes; what is longer is cut. */
enum { CST__LINEAGE_LABEL = 300 };
cst_status cst__lineage_label(cst_lineage *store, int64_t artifact, char label[CST__LINEAGE_LABEL],
                              cst_error *error);
/* The id of a file, by its path in the stored form; it is made if there is none. */
cst_status cst__lineage_file_id(cst_lineage *store, const char *path, int64_t *id,
                                cst_error *error);
/* A name that an artifact may have; NULL: none. */
cst_status cst__lineage_check_name(const char *name, cst_error *error);
/* Live Examples of the same digest and of this name (NULL: none), but without files, properties and
 * references. */
cst_status cst__lineage_copy(cst_lineage *store, int64_t examples, const char *name, int64_t *id,
                             cst_error *error);
cst_status cst__lineage_refer(cst_lineage *store, int64_t id,
                              const cst_lineage_reference *references, size_t count,
                              cst_error *error);
/* Its name without the version. */
cst_status cst__lineage_name(cst_lineage *store, int64_t artifact, char name[CST__LINEAGE_LABEL],
                             bool *is_named, cst_error *error);
cst_status cst__lineage_check_type(const char *type, cst_error *error);
/* CST_STATE, with its label and state, if an artifact is not live. */
cst_status cst__lineage_check_live(cst_lineage *store, int64_t artifact, cst_error *error);
/* The state, or CST_NOT_FOUND. */
cst_status cst__lineage_state(cst_lineage *store, int64_t artifact, cst_lineage_state *out,
                              cst_error *error);
const char *cst__lineage_state_name(cst_lineage_state state); /* "live" */
const char *cst__lineage_execution_state_name(cst_lineage_execution_state state);

#endif /* LINEAGE_ARTIFACTS_H */
