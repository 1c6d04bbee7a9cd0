/* What is called so here and otherwise there: types, states, properties, paths of events.
 *
 * What MLMD has no place for stands in one custom property, a JSON object that is called
 * "columnstone.artifact", ".execution" or ".context"; docs/mlmd.md has the table of its members.
 * What we have no place for stands in properties whose names begin with "mlmd.".
 */
#ifndef LINEAGE_MLMD_MLMD_MAP_H
#define LINEAGE_MLMD_MLMD_MAP_H

#include <columnstone/lineage.h>

#include "base/alloc.h"

#define CST__MLMD_OWN "columnstone."
#define CST__MLMD_NAME "mlmd.name"               /* an artifact's, which cannot be one of ours */
#define CST__MLMD_EXTERNAL_ID "mlmd.external_id" /* of all */
#define CST__MLMD_STATE "mlmd.state"             /* one that we do not have: "CACHED" */
/* A custom property whose type declares one of the same name. */
#define CST__MLMD_CUSTOM "mlmd.custom."
/* Before the base64 of a message: of google.protobuf.Struct, as MLMD has it, and of Any. */
#define CST__MLMD_STRUCT "mlmd-struct::"
#define CST__MLMD_PROTO "mlmd-proto::"

/* "artifact", "execution", "context"; and the names of their tables: "Artifact", ... */
const char *cst__mlmd_kind(cst_lineage_kind kind);
const char *cst__mlmd_table(cst_lineage_kind kind);
/* The name of the property with what MLMD has no place for. */
const char *cst__mlmd_own(cst_lineage_kind kind);
/* CST__MLMD_ARTIFACTS, ... */
int cst__mlmd_type_kind(cst_lineage_kind kind);

/* The name of a type there, and here. */
const char *cst__mlmd_type_out(cst_lineage_kind kind, const char *ours);
const char *cst__mlmd_type_in(cst_lineage_kind kind, const char *theirs);

/* What TFX's types are there. */
typedef struct cst__mlmd_declared {
  const char *name;
  cst_lineage_value_kind kind;
  int data_type; /* MLMD's number of it */
} cst__mlmd_declared;
typedef struct cst__mlmd_standard {
  const char *theirs;
  int base; /* a system type, or 0 */
  const cst__mlmd_declared *declared;
  size_t num_declared;
} cst__mlmd_standard;
extern const cst__mlmd_standard cst__mlmd_standards[];
extern const size_t cst__mlmd_num_standards;
/* The property that a type (by its name there) declares, or NULL. */
const cst__mlmd_declared *cst__mlmd_find_declared(const char *theirs, const char *property);

/* States of artifacts and of executions. `kept`, which may be NULL, is the property "mlmd.state";
 * *is_kept says that it was right, and is in the number. */
int cst__mlmd_state_out(cst_lineage_kind kind, int64_t ours, const char *kept, bool *is_kept);
/* And back: false for a number that means nothing. *kept: what the property says, or NULL. */
bool cst__mlmd_state_in(cst_lineage_kind kind, int64_t theirs, int64_t *ours, const char **kept);

/* The direction of an event: 0 input, 1 output; -1: none. */
int cst__mlmd_direction(int64_t event_type);

/* Whether ml-metadata can read a text as what its prefix says; false without the prefix, too. */
cst_status cst__mlmd_is_struct(const cst_allocator *allocator, cst_bytes text, bool *out,
                               cst_error *error);
cst_status cst__mlmd_is_proto(const cst_allocator *allocator, cst_bytes text, bool *out,
                              cst_error *error);

/* The steps of an event's path: one key and the index 0, as TFX has them, are the key alone, all
 * others stand with slashes between them. */
typedef struct cst__mlmd_path_step {
  bool is_index;
  int64_t index;
  const char *key; /* in the path: not ended by a NUL */
  size_t size;
} cst__mlmd_path_step;
/* The next step of a path: *at goes on, and is NULL after the last. */
void cst__mlmd_next_step(const char **at, cst__mlmd_path_step *step);

/* Milliseconds as microseconds; what is out of range is the nearest that there is. */
int64_t cst__mlmd_us(int64_t ms);
int64_t cst__mlmd_ms(int64_t us);

#endif /* LINEAGE_MLMD_MLMD_MAP_H */
