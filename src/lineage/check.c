/* What a store is, and whether it and its files are sound. */
#include <inttypes.h>
#include <stdio.h>

#include "arrow/findings.h"
#include "base/arguments.h"
#include "base/interrupt.h"
#include "lineage/artifacts.h"
#include "lineage/files.h"
#include "lineage/store_paths.h"

static const cst__finding_column root_columns[] = {CST__FILE("path")};
static const cst__finding_type root_type = {"roots", root_columns, 1};
static const cst__finding_column fault_columns[] = {
    CST__NUMBER_OR_NULL("artifact"),
    CST__TEXT_OR_NULL("reference"),
    {"path", "z", true, NULL, 0},
    CST__TEXT("fault"),
};
static const cst__finding_type fault_type = {"faults", fault_columns, 4};

/* ---- what it is ---- */

static cst_status put_count(cst_lineage *store, cst_findings *found, const char *name,
                            const char *sql, cst_error *error) {
  int64_t count;
  CST__TRY(cst__lineage_number(store, sql, &count, error));
  cst__put_total(found, name, (uint64_t)count);
  return CST_OK;
}

static cst_status tell(cst_lineage *store, cst_findings *found, cst_error *error) {
  sqlite3_stmt *rows;
  bool is_row = false;
  cst_status status;
  cst__put_total(found, "version", CST__LINEAGE_VERSION);
  CST__TRY(put_count(store, found, "artifacts", "SELECT count(*) FROM artifact", error));
  CST__TRY(put_count(store, found, "executions", "SELECT count(*) FROM execution", error));
  CST__TRY(put_count(store, found, "contexts", "SELECT count(*) FROM context", error));
  CST__TRY(put_count(store, found, "leases", "SELECT count(*) FROM lease", error));
  CST__TRY(cst__lineage_prepare(store, "SELECT path FROM root ORDER BY path", &rows, error));
  while ((status = cst__lineage_step(store, rows, &is_row, error)) == CST_OK && is_row) {
    char *path;
    status = cst__lineage_path_out(store, cst__lineage_text(rows, 0), &path, error);
    if (status != CST_OK) {
      (void)sqlite3_reset(rows);
      return status;
    }
    cst__put_text(found, path);
    cst__delete(path);
  }
  return status;
}

/* Runs a function that puts rows of a type, as one transaction. */
typedef cst_status (*put_all)(cst_lineage *store, cst_findings *found, cst_error *error);

static cst_status collect(cst_lineage *store, const cst__finding_type *type, put_all put,
                          cst_findings **out, cst_error *error) {
  cst_findings *found;
  CST__TRY(cst__findings_new(type, &store->allocator, &found, error));
  cst_status status = cst__lineage_enter(store, CST__LINEAGE_READS, error);
  if (status == CST_OK) {
    status = cst__lineage_leave(store, put(store, found, error), error);
  }
  if (status != CST_OK) {
    cst_findings_free(found);
    return status;
  }
  return cst__findings_finish(found, out, error);
}

cst_status cst_lineage_info(cst_lineage *store, cst_findings **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(store, "store", out, error));
  return collect(store, &root_type, tell, out, error);
}

/* ---- whether it is sound ---- */

static cst_status put_fault(cst_lineage *store, cst_findings *found, int64_t artifact,
                            const char *path, const char *fault, cst_error *error) {
  char label[CST__LINEAGE_LABEL];
  char *absolute = NULL;
  if (artifact == 0) {
    cst__put_null(found);
    cst__put_null(found);
  } else {
    cst__put_signed(found, artifact);
    CST__TRY(cst__lineage_label(store, artifact, label, error));
    cst__put_text(found, label);
  }
  if (path != NULL) {
    CST__TRY(cst__lineage_path_out(store, path, &absolute, error));
  }
  cst__put_text(found, absolute);
  cst__delete(absolute);
  cst__put_text(found, fault);
  return CST_OK;
}

/* SQLite's own check tells of 100 faults at most. */
static cst_status check_database(cst_lineage *store, cst_findings *found, cst_error *error) {
  sqlite3_stmt *rows;
  bool is_row = false;
  cst_status status;
  CST__TRY(cst__lineage_prepare_own(store, "PRAGMA integrity_check", &rows, error));
  while ((status = cst__lineage_step(store, rows, &is_row, error)) == CST_OK && is_row) {
    const char *text = cst__lineage_text(rows, 0);
    if (strcmp(text, "ok") != 0) {
      status = put_fault(store, found, 0, NULL, text, error);
    }
    if (status != CST_OK) {
      break;
    }
  }
  (void)sqlite3_finalize(rows);
  return status;
}

/* Statements whose rows are artifacts with a fault, and the fault. */
static const char *const fault_queries[] = {
    "SELECT r.artifact, 'refers to an artifact that is not there (' || r.role || ')' FROM "
    "reference "
    "r WHERE r.target NOT IN (SELECT id FROM artifact)",
    "SELECT r.artifact, 'refers to ' || coalesce(t.name || '@' || t.version, t.id) || ' (' || "
    "r.role || '), which is deleted' FROM reference r JOIN artifact a ON a.id = r.artifact JOIN "
    "artifact t ON t.id = r.target WHERE a.state = 0 AND t.state = 3",
    "SELECT e.artifact, 'is not there, but execution ' || e.execution || ' names it' FROM event e "
    "WHERE e.artifact NOT IN (SELECT id FROM artifact)",
    "SELECT a.id, 'is pending, and no execution that runs makes it' FROM artifact a WHERE a.state "
    "= "
    "1 AND NOT EXISTS (SELECT 1 FROM event e JOIN execution x ON x.id = e.execution WHERE "
    "e.artifact = a.id AND e.direction = 1 AND x.ended IS NULL)",
    "SELECT id, 'is of a type that is not there' FROM artifact WHERE type NOT IN (SELECT id FROM "
    "type WHERE kind = 0)",
    "SELECT id, 'is in an unknown state, ' || state FROM artifact WHERE state NOT BETWEEN 0 AND 4",
    "SELECT owner, 'has a property of an unknown kind, ' || type || ': ' || name FROM property "
    "WHERE kind = 0 AND type NOT BETWEEN 0 AND 4 AND owner IN (SELECT id FROM artifact)",
    "SELECT artifact, 'is bound to several views' FROM reference WHERE role = 'view' GROUP BY "
    "artifact HAVING count(*) > 1",
    "SELECT f.artifact, 'has a file that is not there' FROM artifact_file f WHERE f.file NOT IN "
    "(SELECT id FROM file)",
};

static cst_status check_rows(cst_lineage *store, cst_findings *found, cst_error *error) {
  for (size_t i = 0; i < sizeof fault_queries / sizeof fault_queries[0]; i++) {
    sqlite3_stmt *rows;
    bool is_row = false;
    cst_status status;
    CST__TRY(cst__lineage_prepare(store, fault_queries[i], &rows, error));
    while ((status = cst__lineage_step(store, rows, &is_row, error)) == CST_OK && is_row) {
      status = put_fault(store, found, sqlite3_column_int64(rows, 0), NULL,
                         cst__lineage_text(rows, 1), error);
      if (status != CST_OK) {
        (void)sqlite3_reset(rows);
        return status;
      }
    }
    CST__TRY(status);
  }
  return CST_OK;
}

static const char *compare_file(const cst__lineage_found *now, sqlite3_stmt *row, bool reads) {
  if (now->size < 0) {
    return "is missing";
  }
  if (now->size != sqlite3_column_int64(row, 2)) {
    return "has another size";
  }
  if (reads && sqlite3_column_bytes(row, 4) == CST__SHA256_SIZE && now->has_digest) {
    return memcmp(now->digest, sqlite3_column_blob(row, 4), CST__SHA256_SIZE) != 0
               ? "has another content"
               : NULL;
  }
  return NULL;
}

static cst_status check_files(cst_lineage *store, bool reads, cst_findings *found,
                              cst_error *error) {
  sqlite3_stmt *rows;
  bool is_row = false;
  cst_status status;
  CST__TRY(cst__lineage_prepare_own(
      store,
      "SELECT a.id, path, size, modified, f.digest FROM artifact_file f JOIN file ON file.id = "
      "f.file JOIN artifact a ON a.id = f.artifact WHERE a.state = 0 AND size IS NOT NULL",
      &rows, error));
  while ((status = cst__lineage_step(store, rows, &is_row, error)) == CST_OK && is_row) {
    cst__lineage_found now;
    const char *path = cst__lineage_text(rows, 1);
    const bool has_digest = sqlite3_column_type(rows, 4) != SQLITE_NULL;
    status = cst__lineage_look(store, path, reads && has_digest, &now, error);
    const char *fault = status == CST_OK ? compare_file(&now, rows, reads) : "cannot be read";
    if (status == CST_OK || status == CST_IO) {
      status = fault != NULL
                   ? put_fault(store, found, sqlite3_column_int64(rows, 0), path, fault, error)
                   : cst__interrupted(error);
    }
    if (status != CST_OK) {
      break;
    }
  }
  (void)sqlite3_finalize(rows);
  return status;
}

static cst_status check_quickly(cst_lineage *store, cst_findings *found, cst_error *error) {
  CST__TRY(check_database(store, found, error));
  CST__TRY(check_rows(store, found, error));
  return check_files(store, false, found, error);
}

static cst_status check_all(cst_lineage *store, cst_findings *found, cst_error *error) {
  CST__TRY(check_database(store, found, error));
  CST__TRY(check_rows(store, found, error));
  return check_files(store, true, found, error);
}

cst_status cst_lineage_check(cst_lineage *store, bool with_digests, cst_findings **out,
                             cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(store, "store", out, error));
  return collect(store, &fault_type, with_digests ? check_all : check_quickly, out, error);
}
