/* A store of lineage: an SQLite file, its tables, and how the other files of this room and of the
 * rooms in it talk to it.
 *
 * A public function looks like this:
 *
 *   CST__TRY(cst__lineage_enter(store, CST__LINEAGE_WRITES, error));
 *   return cst__lineage_leave(store, do_it(store, ..., error), error);
 *
 * What stands between enter and leave is one transaction, or part of the caller's; do_it calls
 * functions that have no enter of their own (cst__...), and, if it reads, public ones that read.
 * Statements are prepared once for each store, and found by the address of their text, which is
 * static:
 *
 *   sqlite3_stmt *find;
 *   CST__TRY(cst__lineage_prepare(store, "SELECT state FROM artifact WHERE id = ?", &find, error));
 *   sqlite3_bind_int64(find, 1, id);
 *   bool is_row;
 *   CST__TRY(cst__lineage_step(store, find, &is_row, error));   at the end it is reset by itself
 *   ...
 *   sqlite3_reset(find);                                        when left before its end
 *
 * A statement is used by one caller at a time: whoever steps through rows and calls others
 * meanwhile uses cst__lineage_prepare_own, and finalizes it.
 */
#ifndef LINEAGE_STORE_H
#define LINEAGE_STORE_H

#include <columnstone/lineage.h>
#include <sqlite3.h>
#include <sys/types.h>

#include "base/alloc.h"

/* The version of the file's format, its user_version, and its application_id ("CSTL"). */
enum { CST__LINEAGE_VERSION = 1, CST__LINEAGE_APPLICATION = 0x4353544c };

typedef struct cst__lineage_statement {
  const char *text;
  sqlite3_stmt *prepared;
} cst__lineage_statement;

enum { CST__LINEAGE_MADE = 8 };

/* Ids of types that were looked up, which stay what they are unless a transaction is undone. */
enum { CST__LINEAGE_KNOWN_TYPES = 8 };
typedef struct cst__lineage_types {
  struct {
    int kind;
    char name[48];
    int64_t id;
  } known[CST__LINEAGE_KNOWN_TYPES];
  size_t count; /* of all that were put there; the last ones are kept */
} cst__lineage_types;

struct cst_lineage {
  cst_allocator allocator;
  sqlite3 *db;
  char *path;   /* absolute, without links */
  char *folder; /* that it lies in, without a slash at its end */
  bool is_read_only;
  bool in_transaction;                    /* of the caller's */
  int depth;                              /* of enter */
  bool is_broken;                         /* which failed in the middle of writing */
  int64_t changes;                        /* of rows, before the call that is going on */
  struct cst__lineage_presence *presence; /* see store_forks.h */
  int64_t timeout;                        /* in seconds */
  int64_t waiting_from;                   /* monotonic ns of the wait that is going on; 0: none */
  uint64_t random;                        /* of the pauses between tries */
  cst__lineage_types types;
  cst__lineage_statement *statements;
  size_t num_statements;
  size_t capacity;
  cst__lineage_statement made[CST__LINEAGE_MADE]; /* their texts are the store's */
  size_t num_made;                                /* of all that were made */
};

typedef enum cst__lineage_access { CST__LINEAGE_READS, CST__LINEAGE_WRITES } cst__lineage_access;

/* CST_STATE in a forked child, and in a transaction that failed in the middle of writing. */
cst_status cst__lineage_check_usable(cst_lineage *store, cst_error *error);
/* Begins what is one transaction; CST_STATE for writing to a store that is opened for reading, and
 * in a forked child. A write waits for its turn, and sees all that was written before. */
cst_status cst__lineage_enter(cst_lineage *store, cst__lineage_access access, cst_error *error);
/* Ends it: on disk if `status` is CST_OK, and undone if not; within the caller's transaction, what
 * fails after it has changed a row breaks all of that. Gives `status`, or what ending it said. */
cst_status cst__lineage_leave(cst_lineage *store, cst_status status, cst_error *error);

/* The statement of a static text, reset and without parameters. */
cst_status cst__lineage_prepare(cst_lineage *store, const char *sql, sqlite3_stmt **out,
                                cst_error *error);
/* The same for a text that is made, and copied; the last ones are kept. */
cst_status cst__lineage_prepare_text(cst_lineage *store, const char *sql, sqlite3_stmt **out,
                                     cst_error *error);
/* One of the caller's own, of any text (sqlite3_finalize). */
cst_status cst__lineage_prepare_own(cst_lineage *store, const char *sql, sqlite3_stmt **out,
                                    cst_error *error);
/* The next row; without one, the statement is reset. is_row may be NULL: no row is expected. */
cst_status cst__lineage_step(cst_lineage *store, sqlite3_stmt *statement, bool *is_row,
                             cst_error *error);
/* Runs a text of statements without parameters and results. */
cst_status cst__lineage_run(cst_lineage *store, const char *sql, cst_error *error);
/* The number in the first row of a text, 0 without one: for what is asked once. */
cst_status cst__lineage_number(cst_lineage *store, const char *sql, int64_t *out, cst_error *error);
/* What SQLite said last, as an error. `code` is what it returned. */
cst_status cst__lineage_fail(cst_lineage *store, int code, cst_error *error);

/* SQLite's busy handler of a store. */
int cst__lineage_wait(void *ctx, int tries);

/* For statements. Text of NULL is SQL's NULL; bytes are borrowed until the statement is reset. */
void cst__lineage_bind_text(sqlite3_stmt *statement, int parameter, const char *text);
/* A text of a column, which need not be UTF-8 in a store of strangers; "" for NULL. */
const char *cst__lineage_text(sqlite3_stmt *statement, int column);

int64_t cst__lineage_now(void); /* microseconds since 1970 */

/* clang-format off */
/* ---- tables (store_tables.c), which are the agreement of all files here ----
 *
 * kind: a cst_lineage_kind. state: of cst_lineage_state, cst_lineage_execution_state. Times: us.
 *
 *   type(id, kind, name)                 UNIQUE(kind, name)
 *   artifact(id, type, name, version, state, digest, is_external, created, updated)
 *                                        UNIQUE(name, version); also by type, digest, state <> 0
 *   file(id, path UNIQUE)                path: as store_paths.h says
 *   artifact_file(artifact, position, file, split, role, size, modified, digest)
 *                                        also by file; what the artifact's file was when it was
 *                                        added. size: of a folder, all files in it; NULL: a URL, or
 *                                        missing. modified: ns of the file system; NULL: a folder.
 *                                        digest: NULL: not read
 *   property(kind, owner, name, type, value)   type: a cst_lineage_value_kind; also by name, value
 *   reference(artifact, role, target)    also by target
 *   field(artifact, output, path)        of a DataView; also by path
 *   execution(id, type, name, state, started, ended)   also by type; ended NULL: it runs
 *   event(execution, direction, artifact, path, time)  direction 0: input, 1: output; path "": none;
 *                                        also by artifact
 *   context(id, type, name, created)     UNIQUE(type, name)
 *   member(context, kind, id)            what is in a context; also by kind, id
 *   lease(id, holder, expires, execution)      execution: the one that it is of, or NULL
 *   leased(lease, artifact)              also by artifact
 *   doomed(path, artifact)               files that are being deleted
 *   root(path)                           in which files may be deleted
 *   origin(source, kind, theirs, ours)   what was imported: from which store, its id there
 */
/* clang-format on */
extern const char cst__lineage_tables[];

#endif /* LINEAGE_STORE_H */
