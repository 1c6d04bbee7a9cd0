/* An SQLite file of MLMD: opened for reading, which trusts nothing in it, or made anew; its
 * statements, and the values of their rows.
 */
#ifndef LINEAGE_MLMD_MLMD_FILE_H
#define LINEAGE_MLMD_MLMD_FILE_H

#include <columnstone/status.h>
#include <sqlite3.h>

#include "base/alloc.h"

/* Of the tables: those of ml-metadata 1.15 to 1.17 write LATEST. */
enum { CST__MLMD_OLDEST = 6, CST__MLMD_LATEST = 10 };

typedef struct cst__mlmd_file {
  cst_allocator allocator;
  sqlite3 *db;
  char *name;      /* as it was given, for errors */
  int64_t version; /* of its tables */
} cst__mlmd_file;

/* Opens a store for reading, looks for its tables, and begins a transaction, so that all that is
 * read is of one moment. `timeout` in seconds. What a failure leaves is closed, too. */
cst_status cst__mlmd_open(cst__mlmd_file *file, const char *path, int64_t timeout,
                          cst_error *error);
/* Makes the tables and system types in an empty file, which has the name `name` in errors, and
 * begins what cst__mlmd_finish ends. */
cst_status cst__mlmd_create(cst__mlmd_file *file, const char *path, const char *name,
                            cst_error *error);
cst_status cst__mlmd_finish(cst__mlmd_file *file, cst_error *error);
void cst__mlmd_close(cst__mlmd_file *file);

/* Whether a table that is there has a column. */
cst_status cst__mlmd_has(cst__mlmd_file *file, const char *table, const char *column, bool *out,
                         cst_error *error);

/* A statement that is at work; `what` says what a row of it is of, for messages: "artifact". Its
 * first column is the number of that. Zero-initialised storage. */
typedef struct cst__mlmd_rows {
  cst__mlmd_file *file;
  sqlite3_stmt *statement;
  const char *what;
} cst__mlmd_rows;

cst_status cst__mlmd_prepare(cst__mlmd_file *file, const char *what, const char *sql,
                             cst__mlmd_rows *rows, cst_error *error);
/* The next row; without one, the statement is reset. is_row may be NULL: no row is expected. */
cst_status cst__mlmd_step(cst__mlmd_rows *rows, bool *is_row, cst_error *error);
void cst__mlmd_end(cst__mlmd_rows *rows);

/* Values of the row: what is of another type than it has to be is CST_CORRUPT, with the place. */
cst_status cst__mlmd_number(const cst__mlmd_rows *rows, int column, int64_t *out, cst_error *error);
/* One that may be null: `missing` then. */
cst_status cst__mlmd_number_or(const cst__mlmd_rows *rows, int column, int64_t missing,
                               int64_t *out, cst_error *error);
/* A text of UTF-8 without NUL, until the next step; NULL for null. */
cst_status cst__mlmd_text(const cst__mlmd_rows *rows, int column, const char **out,
                          cst_error *error);
/* CST_CORRUPT, with what the row is of: "artifact 7: ...". */
cst_status cst__mlmd_fail_row(const cst__mlmd_rows *rows, cst_error *error, const char *fmt, ...)
    CST__PRINTF(3, 4);
/* What SQLite said last. */
cst_status cst__mlmd_fail(cst__mlmd_file *file, int code, cst_error *error);

#endif /* LINEAGE_MLMD_MLMD_FILE_H */
