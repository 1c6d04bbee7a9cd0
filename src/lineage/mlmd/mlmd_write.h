/* Writing a store of MLMD: what the files of export share. */
#ifndef LINEAGE_MLMD_MLMD_WRITE_H
#define LINEAGE_MLMD_MLMD_WRITE_H

#include "lineage/mlmd/mlmd_file.h"
#include "lineage/mlmd/mlmd_map.h"
#include "lineage/store.h"

/* What is read: statements of ours, each used by one function. What is written: of theirs. */
typedef struct cst__mlmd_writing {
  cst__mlmd_rows find_type;
  cst__mlmd_rows add_type;
  cst__mlmd_rows add_parent;
  cst__mlmd_rows declare;
  cst__mlmd_rows add_node[3];
  cst__mlmd_rows add_property[3];
  cst__mlmd_rows add_event;
  cst__mlmd_rows add_step;
  cst__mlmd_rows add_member[3];
} cst__mlmd_writing;

typedef struct cst__mlmd_export {
  cst_lineage *store;
  cst__mlmd_file to;
  cst__mlmd_writing write;
  cst__text own;        /* of the thing at hand: members of its JSON object */
  cst__text properties; /* that MLMD cannot hold: items of a JSON list */
  cst__text splits;     /* items of a JSON list */
  cst__text uri;
  cst__text name; /* that it gets there, or empty */
  cst__text external_id;
  int64_t num_members;
  int64_t num_events;
} cst__mlmd_export;

/* Something that is written: an artifact, an execution, a context. */
typedef struct cst__mlmd_node {
  cst_lineage_kind kind;
  int64_t id;
  const char *type; /* its name there */
  int64_t state;    /* ours */
  int64_t created;
  int64_t updated;
  char kept[16]; /* the property "mlmd.state", or empty */
  bool has_name;
} cst__mlmd_node;

/* Prepares the statements that write. */
cst_status cst__mlmd_write_prepare(cst__mlmd_export *at, cst_error *error);
void cst__mlmd_write_end(cst__mlmd_export *at);

/* ---- pieces (mlmd_write.c) ---- */

/* Members of a JSON object whose text is not ended yet, after a comma where there are some already.
 */
void cst__mlmd_put_comma(cst__text *text);
void cst__mlmd_put_number(cst__text *text, const char *name, int64_t number);
void cst__mlmd_put_text(cst__text *text, const char *name, const char *value);
/* Bytes as hexadecimal digits; nothing for null. */
void cst__mlmd_put_hex(cst__text *text, const char *name, sqlite3_stmt *row, int column);
void cst__mlmd_bind_text(cst__mlmd_rows *rows, int parameter, const cst__text *text);
/* CST_NO_MEMORY if a text has failed. */
cst_status cst__mlmd_check_texts(const cst__mlmd_export *at, cst_error *error);

/* All types of the store, and TFX's. */
cst_status cst__mlmd_write_types(cst__mlmd_export *at, cst_error *error);
/* The type's name there; one that would be another one when it is read is said in `own`. */
const char *cst__mlmd_write_type(cst__mlmd_export *at, cst_lineage_kind kind, const char *ours);
/* Forgets what was of the thing before. */
void cst__mlmd_begin_node(cst__mlmd_export *at);
/* Its row and properties. */
cst_status cst__mlmd_write_node(cst__mlmd_export *at, cst__mlmd_node *of, cst_error *error);

/* ---- properties (mlmd_write_properties.c) ---- */

/* The kind of a property of ours, or -1; a text without NUL is appended to `value`, which may be
 * NULL. */
cst_status cst__mlmd_find_property(cst__mlmd_export *at, const cst__mlmd_node *of, const char *name,
                                   int64_t *kind, cst__text *value, cst_error *error);
cst_status cst__mlmd_write_properties(cst__mlmd_export *at, const cst__mlmd_node *of,
                                      cst_error *error);
/* A text of ours. */
cst_status cst__mlmd_write_text(cst__mlmd_export *at, const cst__mlmd_node *of, const char *name,
                                bool is_custom, const cst__text *value, cst_error *error);
/* All that MLMD has no place for: the last that is written of a thing. */
cst_status cst__mlmd_write_own(cst__mlmd_export *at, const cst__mlmd_node *of, cst_error *error);

/* ---- things (mlmd_write_things.c) ---- */

/* Each writes a row of these statements, in this order. */
extern const char cst__mlmd_all_artifacts[];
extern const char cst__mlmd_all_executions[];
extern const char cst__mlmd_all_contexts[];
extern const char cst__mlmd_all_members[];
cst_status cst__mlmd_write_artifact(cst__mlmd_export *at, sqlite3_stmt *row, cst_error *error);
cst_status cst__mlmd_write_execution(cst__mlmd_export *at, sqlite3_stmt *row, cst_error *error);
cst_status cst__mlmd_write_context(cst__mlmd_export *at, sqlite3_stmt *row, cst_error *error);
cst_status cst__mlmd_write_member(cst__mlmd_export *at, sqlite3_stmt *row, cst_error *error);

#endif /* LINEAGE_MLMD_MLMD_WRITE_H */
