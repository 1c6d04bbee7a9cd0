/* Stores of MLMD with whatever rows: an import takes them or says what is wrong and where, a second
 * one finds nothing new, and an export of what was imported can be imported again.
 *
 * The input is rows (sql_rows.h) of the tables of MLMD.
 */
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "lineage/mlmd/mlmd_tables.h"
#include "lineage_store.h"
#include "sql_rows.h"

enum { MOST_BYTES = 1 << 14 };

static const sql_table tables[] = {
    {"INSERT OR IGNORE INTO Type(id, name, type_kind) VALUES(?, ?, ?)", 3},
    {"INSERT OR IGNORE INTO Artifact VALUES(?, ?, ?, ?, ?, ?, ?, ?)", 8},
    {"INSERT OR IGNORE INTO ArtifactProperty VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", 9},
    {"INSERT OR IGNORE INTO Execution VALUES(?, ?, ?, ?, ?, ?, ?)", 7},
    {"INSERT OR IGNORE INTO ExecutionProperty VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", 9},
    {"INSERT OR IGNORE INTO Context VALUES(?, ?, ?, ?, ?, ?)", 6},
    {"INSERT OR IGNORE INTO ContextProperty VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", 9},
    {"INSERT OR IGNORE INTO Event VALUES(?, ?, ?, ?, ?)", 5},
    {"INSERT OR IGNORE INTO EventPath VALUES(?, ?, ?, ?)", 4},
    {"INSERT OR IGNORE INTO Association VALUES(?, ?, ?)", 3},
    {"INSERT OR IGNORE INTO Attribution VALUES(?, ?, ?)", 3},
    {"INSERT OR IGNORE INTO ParentContext VALUES(?, ?)", 2},
};
enum { NUM_TABLES = sizeof tables / sizeof tables[0] };

/* A file of these rows. */
static void make_file(const char *path, const uint8_t *data, size_t size) {
  sqlite3 *db;
  (void)unlink(path);
  FUZZ_ASSERT(sqlite3_open(path, &db) == SQLITE_OK);
  FUZZ_ASSERT(sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL,
                           NULL) == SQLITE_OK);
  FUZZ_ASSERT(sqlite3_exec(db, cst__mlmd_tables, NULL, NULL, NULL) == SQLITE_OK);
  insert_rows(db, tables, NUM_TABLES, (sql_input){data, data + size});
  (void)sqlite3_close(db);
}

/* What an import found, kind by kind; those that are new all in all. */
static int64_t import(cst_lineage *store, const char *path, cst_status *status) {
  cst_error error = CST_ERROR_INIT;
  cst_findings *found = NULL;
  int64_t sum = 0;
  *status = cst_lineage_import_mlmd(store, path, &found, &error);
  FUZZ_ASSERT((*status == CST_OK) == (found != NULL));
  FUZZ_ASSERT(*status == CST_OK || (error.message[0] != '\0' && error.file[0] != '\0'));
  for (size_t i = 0; found != NULL && i < cst_findings_num_rows(found); i++) {
    sum += cst_findings_number(found, "count", i);
  }
  cst_findings_free(found);
  return sum;
}

static const char *path_of(const char *name) {
  static char folder[256];
  static char paths[2][512];
  if (folder[0] == '\0') {
    const char *top = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%.200s/fuzz_mlmd.XXXXXX", top != NULL ? top : "/tmp");
    if (mkdtemp(folder) == NULL) {
      (void)snprintf(folder, sizeof folder, ".");
    }
  }
  char *path = paths[name[0] == 'b'];
  (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static void clean_up(void) {
  char folder[512];
  const char *path = path_of("a");
  (void)unlink(path);
  (void)unlink(path_of("b"));
  (void)snprintf(folder, sizeof folder, "%.*s", (int)strlen(path) - 2, path);
  (void)rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int is_begun;
  cst_status status, second;
  if (size > MOST_BYTES) {
    return 0;
  }
  if (!is_begun) {
    is_begun = 1;
    (void)atexit(clean_up);
  }
  make_file(path_of("a"), data, size);
  cst_lineage *store = memory_store(cst__lineage_tables);
  const int64_t count = import(store, path_of("a"), &status);
  if (status == CST_OK) {
    FUZZ_ASSERT(import(store, path_of("a"), &second) == 0 && second == CST_OK);
    cst_findings *found = NULL;
    cst_error error = CST_ERROR_INIT;
    second = cst_lineage_export_mlmd(store, path_of("b"), true, &found, &error);
    FUZZ_ASSERT(second == CST_OK);
    cst_findings_free(found);
    cst_lineage *again = memory_store(cst__lineage_tables);
    FUZZ_ASSERT(import(again, path_of("b"), &second) == count && second == CST_OK);
    cst_lineage_free(again);
  }
  cst_lineage_free(store);
  fuzz_outcome(cst_status_name(status));
  return 0;
}
