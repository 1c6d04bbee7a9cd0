/* Reading a store of MLMD: what the files of import share. */
#ifndef LINEAGE_MLMD_MLMD_READ_H
#define LINEAGE_MLMD_MLMD_READ_H

#include "lineage/mlmd/mlmd_file.h"
#include "lineage/mlmd/mlmd_map.h"
#include "lineage/store.h"
#include "text/json_document.h"

/* What a reference is made of when all artifacts are there. */
typedef struct cst__mlmd_pending {
  int64_t theirs; /* that refers, for errors */
  int64_t ours;
  const char *role;
  int64_t target;      /* their number of it; 0: the DataView of this URI */
  const char *uri;     /* or NULL */
  const char *created; /* when it was, in ms, or NULL */
} cst__mlmd_pending;

/* What was done. */
typedef struct cst__mlmd_counts {
  int64_t things[3]; /* by cst_lineage_kind */
  int64_t events;
  int64_t members;
  int64_t updated;
} cst__mlmd_counts;

typedef struct cst__mlmd_import {
  cst_lineage *store;
  cst__mlmd_file from;
  const char *source; /* the file's path, absolute and without links */
  bool keeps_ids[3];  /* their numbers can be ours */
  cst__mlmd_rows properties[3];
  cst__mlmd_counts counts;
  /* Of the thing at hand: */
  cst__arena arena;
  cst__json_document json;
  cst_lineage_property *list; /* its properties, in the arena */
  size_t num_properties;
  size_t num_proper; /* of them that are not custom ones: the first, by their names */
  size_t capacity;
  /* Of all: */
  cst__arena kept;
  cst__mlmd_pending *pending;
  size_t num_pending;
  size_t pending_capacity;
} cst__mlmd_import;

/* An artifact, an execution or a context of theirs. */
typedef struct cst__mlmd_thing {
  cst_lineage_kind kind;
  int64_t id;
  const char *type; /* our name of it */
  const char *name; /* NULL: none */
  const char *external_id;
  int64_t created; /* us */
  int64_t updated;
  int64_t state;    /* ours */
  const char *kept; /* the property "mlmd.state", or NULL */
  yyjson_val *own;  /* what it says of itself if we wrote it; NULL: we did not */
} cst__mlmd_thing;

/* ---- our part of it (mlmd_own.c) ---- */

/* A member of `own`, which has the right type or is an error of the row; NULL, and no change of
 * *out: it has none. */
typedef struct cst__mlmd_member {
  const cst__mlmd_rows *row;
  const cst__mlmd_thing *thing;
} cst__mlmd_member;
cst_status cst__mlmd_own_number(const cst__mlmd_member *of, const char *name, int64_t *out,
                                cst_error *error);
cst_status cst__mlmd_own_bool(const cst__mlmd_member *of, const char *name, bool *out,
                              cst_error *error);
cst_status cst__mlmd_own_text(const cst__mlmd_member *of, const char *name, const char **out,
                              cst_error *error);
cst_status cst__mlmd_own_list(const cst__mlmd_member *of, const char *name, yyjson_val **out,
                              cst_error *error);
/* The error that it is not what it should be. */
cst_status cst__mlmd_own_fail(const cst__mlmd_member *of, const char *name, const char *expected,
                              cst_error *error);
/* A text of JSON without NUL, or NULL. */
const char *cst__mlmd_json_text(yyjson_val *value);
/* Bytes of hexadecimal digits; false: they are none, or not as many. */
bool cst__mlmd_hex(const char *text, uint8_t *out, size_t size);
/* Reads "properties", those that MLMD cannot hold, and takes those of "derived" away. */
cst_status cst__mlmd_own_properties(cst__mlmd_import *at, const cst__mlmd_member *of,
                                    cst_error *error);

/* ---- properties (mlmd_read_properties.c) ---- */

/* Reads the properties of a thing, and `own`. */
cst_status cst__mlmd_read_properties(cst__mlmd_import *at, cst__mlmd_thing *thing,
                                     cst_error *error);
/* One more; its name and bytes have to live in the arena. */
cst_status cst__mlmd_add_property(cst__mlmd_import *at, const cst_lineage_property *property,
                                  cst_error *error);
/* A text, in the place of one of the same name. */
cst_status cst__mlmd_add_text(cst__mlmd_import *at, const char *name, const char *text,
                              cst_error *error);
/* That of a name, or NULL. */
const cst_lineage_property *cst__mlmd_property(const cst__mlmd_import *at, const char *name);
const char *cst__mlmd_text_property(const cst__mlmd_import *at, const char *name);
/* Writes them down. */
cst_status cst__mlmd_set_properties(cst__mlmd_import *at, const cst__mlmd_rows *row,
                                    const cst__mlmd_thing *thing, int64_t ours, cst_error *error);

/* ---- things (mlmd_read_artifacts.c, mlmd_read_others.c) ---- */

/* Our number of a thing of theirs; 0: it has not been imported. */
cst_status cst__mlmd_find_ours(cst__mlmd_import *at, cst_lineage_kind kind, int64_t theirs,
                               int64_t *ours, cst_error *error);
cst_status cst__mlmd_remember(cst__mlmd_import *at, cst_lineage_kind kind, int64_t theirs,
                              int64_t ours, cst_error *error);
/* What has the same number, but was made at another time, is of another store: CST_STATE. */
cst_status cst__mlmd_check_same(const cst__mlmd_import *at, const cst__mlmd_thing *thing,
                                int64_t created, cst_error *error);
/* A copy in the arena of what is at hand; NULL is NULL. */
cst_status cst__mlmd_keep(cst__arena *arena, const char *text, const char **out, cst_error *error);

cst_status cst__mlmd_read_artifact(cst__mlmd_import *at, const cst__mlmd_rows *row,
                                   cst__mlmd_thing *thing, cst_error *error);
cst_status cst__mlmd_read_references(cst__mlmd_import *at, cst_error *error);
cst_status cst__mlmd_read_execution(cst__mlmd_import *at, const cst__mlmd_rows *row,
                                    cst__mlmd_thing *thing, cst_error *error);
cst_status cst__mlmd_read_context(cst__mlmd_import *at, const cst__mlmd_rows *row,
                                  cst__mlmd_thing *thing, cst_error *error);
cst_status cst__mlmd_read_events(cst__mlmd_import *at, cst_error *error);
cst_status cst__mlmd_read_members(cst__mlmd_import *at, cst_error *error);

/* The files of an artifact (mlmd_read_files.c): those that we wrote, or of its URI. */
cst_status cst__mlmd_read_files(cst__mlmd_import *at, const cst__mlmd_member *of, const char *uri,
                                int64_t ours, cst_error *error);

#endif /* LINEAGE_MLMD_MLMD_READ_H */
