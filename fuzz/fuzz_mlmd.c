/* Stores of MLMD with whatever rows: an import takes them or says what is wrong and where, a second
 * one finds nothing new, and an export of what was imported can be imported again.
 *
 * The input is rows: a byte that picks a table, then its columns, each a byte that says what it is
 * (null, a small number, any number, a double, a text, bytes) and that.
 */
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "lineage/mlmd/mlmd_tables.h"
#include "lineage_store.h"

enum { MOST_BYTES = 1 << 14, MOST_ROWS = 200 };

static const struct {
  const char *insert;
  int columns;
} tables[] = {
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

typedef struct input {
  const uint8_t *at, *end;
} input;

static uint8_t take(input *in) { return in->at < in->end ? *in->at++ : 0; }

static uint64_t take_word(input *in) {
  uint64_t word = 0;
  const size_t size = (size_t)(in->end - in->at) < 8 ? (size_t)(in->end - in->at) : 8;
  memcpy(&word, in->at, size);
  in->at += size;
  return word;
}

static void bind_value(input *in, sqlite3_stmt *insert, int column) {
  const uint8_t kind = take(in) % 6;
  if (kind == 1) {
    (void)sqlite3_bind_int64(insert, column, take(in));
  } else if (kind == 2) {
    (void)sqlite3_bind_int64(insert, column, (int64_t)take_word(in));
  } else if (kind == 3) {
    const uint64_t word = take_word(in);
    double real;
    memcpy(&real, &word, sizeof real);
    (void)sqlite3_bind_double(insert, column, real);
  } else if (kind > 3) {
    const int wanted = take(in);
    const int size = wanted < in->end - in->at ? wanted : (int)(in->end - in->at);
    if (kind == 4) {
      (void)sqlite3_bind_text(insert, column, (const char *)in->at, size, SQLITE_TRANSIENT);
    } else {
      (void)sqlite3_bind_blob(insert, column, in->at, size, SQLITE_TRANSIENT);
    }
    in->at += size;
  }
}

/* A file of these rows. */
static void make_file(const char *path, const uint8_t *data, size_t size) {
  input in = {data, data + size};
  sqlite3 *db;
  (void)unlink(path);
  FUZZ_ASSERT(sqlite3_open(path, &db) == SQLITE_OK);
  FUZZ_ASSERT(sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL,
                           NULL, NULL) == SQLITE_OK);
  FUZZ_ASSERT(sqlite3_exec(db, cst__mlmd_tables, NULL, NULL, NULL) == SQLITE_OK);
  for (int i = 0; i < MOST_ROWS && in.at < in.end; i++) {
    const uint8_t table = take(&in) % NUM_TABLES;
    sqlite3_stmt *insert;
    FUZZ_ASSERT(sqlite3_prepare_v2(db, tables[table].insert, -1, &insert, NULL) == SQLITE_OK);
    for (int k = 1; k <= tables[table].columns; k++) {
      bind_value(&in, insert, k);
    }
    (void)sqlite3_step(insert);
    (void)sqlite3_finalize(insert);
  }
  FUZZ_ASSERT(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
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
