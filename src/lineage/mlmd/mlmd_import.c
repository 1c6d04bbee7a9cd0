/* All of an MLMD store into a lineage store: what is new since the last time. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/findings.h"
#include "base/arguments.h"
#include "base/interrupt.h"
#include "lineage/mlmd/mlmd_read.h"

enum { TYPE_NAME = 1, NAME, EXTERNAL_ID, CREATED, UPDATED, STATE };

static cst_status prepare_properties(cst__mlmd_import *at, cst_lineage_kind kind,
                                     cst_error *error) {
  char sql[512];
  char table[32];
  bool has_bytes, has_proto, has_bool;
  const char *name = cst__mlmd_kind(kind);
  (void)snprintf(table, sizeof table, "%sProperty", cst__mlmd_table(kind));
  CST__TRY(cst__mlmd_has(&at->from, table, "byte_value", &has_bytes, error));
  CST__TRY(cst__mlmd_has(&at->from, table, "proto_value", &has_proto, error));
  CST__TRY(cst__mlmd_has(&at->from, table, "bool_value", &has_bool, error));
  (void)snprintf(
      sql, sizeof sql,
      "SELECT %s_id, name, is_custom_property, int_value, double_value, string_value, %s,"
      " %s, %s FROM %s WHERE %s_id = ? ORDER BY is_custom_property, name",
      name, has_bytes ? "byte_value" : "NULL", has_proto ? "proto_value" : "NULL",
      has_bool ? "bool_value" : "NULL", table, name);
  return cst__mlmd_prepare(&at->from, name, sql, &at->properties[kind], error);
}

/* The statement of all things of a kind. */
static cst_status prepare_things(cst__mlmd_import *at, cst_lineage_kind kind, cst__mlmd_rows *rows,
                                 cst_error *error) {
  static const char *const more[] = {", a.state, a.uri", ", a.last_known_state", ", NULL"};
  char sql[512];
  bool has_external;
  const char *table = cst__mlmd_table(kind);
  CST__TRY(cst__mlmd_has(&at->from, table, "external_id", &has_external, error));
  (void)snprintf(sql, sizeof sql,
                 "SELECT a.id, t.name, a.name, %s, a.create_time_since_epoch,"
                 " a.last_update_time_since_epoch%s FROM %s a LEFT JOIN Type t ON t.id = a.type_id"
                 " AND t.type_kind = %d ORDER BY a.id",
                 has_external ? "a.external_id" : "NULL", more[kind], table,
                 cst__mlmd_type_kind(kind));
  return cst__mlmd_prepare(&at->from, cst__mlmd_kind(kind), sql, rows, error);
}

static cst_status read_thing(cst__mlmd_import *at, const cst__mlmd_rows *row, cst_lineage_kind kind,
                             cst_error *error) {
  cst__mlmd_thing thing = {.kind = kind};
  const char *type;
  int64_t state, created, updated;
  cst__arena_rewind(&at->arena);
  CST__TRY(cst__mlmd_number(row, 0, &thing.id, error));
  CST__TRY(cst__mlmd_text(row, TYPE_NAME, &type, error));
  CST__TRY(cst__mlmd_text(row, NAME, &thing.name, error));
  CST__TRY(cst__mlmd_text(row, EXTERNAL_ID, &thing.external_id, error));
  CST__TRY(cst__mlmd_number(row, CREATED, &created, error));
  CST__TRY(cst__mlmd_number(row, UPDATED, &updated, error));
  CST__TRY(cst__mlmd_number_or(row, STATE, 0, &state, error));
  if (thing.id <= 0) {
    return cst__mlmd_fail_row(row, error, "its number is not positive");
  }
  if (type == NULL) {
    return cst__mlmd_fail_row(row, error, "its type is not there");
  }
  thing.type = cst__mlmd_type_in(kind, type);
  thing.created = cst__mlmd_us(created);
  thing.updated = cst__mlmd_us(updated);
  if (kind == CST_LINEAGE_OF_CONTEXTS) {
    return cst__mlmd_read_context(at, row, &thing, error);
  }
  if (!cst__mlmd_state_in(kind, state, &thing.state, &thing.kept)) {
    return cst__mlmd_fail_row(row, error, "there is no state %lld", (long long)state);
  }
  return kind == CST_LINEAGE_OF_ARTIFACTS ? cst__mlmd_read_artifact(at, row, &thing, error)
                                          : cst__mlmd_read_execution(at, row, &thing, error);
}

static cst_status read_all(cst__mlmd_import *at, cst_lineage_kind kind, cst_error *error) {
  cst__mlmd_rows rows;
  bool is_row = true;
  CST__TRY(prepare_properties(at, kind, error));
  CST__TRY(prepare_things(at, kind, &rows, error));
  cst_status status;
  while ((status = cst__mlmd_step(&rows, &is_row, error)) == CST_OK && is_row &&
         (status = cst__interrupted(error)) == CST_OK &&
         (status = read_thing(at, &rows, kind, error)) == CST_OK) {
  }
  cst__mlmd_end(&rows);
  return status;
}

/* Their numbers can be ours where we have none yet, and none is so large that ours would end. */
static cst_status look_at_ids(cst__mlmd_import *at, cst_lineage_kind kind, cst_error *error) {
  char sql[128];
  sqlite3_stmt *read;
  cst__mlmd_rows rows;
  bool is_row;
  int64_t least, most;
  (void)snprintf(sql, sizeof sql, "SELECT 1 FROM %s LIMIT 1", cst__mlmd_kind(kind));
  CST__TRY(cst__lineage_prepare_own(at->store, sql, &read, error));
  cst_status status = cst__lineage_step(at->store, read, &is_row, error);
  (void)sqlite3_finalize(read);
  CST__TRY(status);
  (void)snprintf(sql, sizeof sql, "SELECT coalesce(min(id), 1), coalesce(max(id), 1) FROM %s",
                 cst__mlmd_table(kind));
  CST__TRY(cst__mlmd_prepare(&at->from, cst__mlmd_kind(kind), sql, &rows, error));
  bool has_row;
  status = cst__mlmd_step(&rows, &has_row, error);
  if (status == CST_OK) {
    status = cst__mlmd_number(&rows, 0, &least, error);
  }
  if (status == CST_OK) {
    status = cst__mlmd_number(&rows, 1, &most, error);
  }
  cst__mlmd_end(&rows);
  CST__TRY(status);
  at->keeps_ids[kind] = !is_row && least > 0 && most < INT64_C(1) << 40;
  return CST_OK;
}

static cst_status import(cst__mlmd_import *at, cst_error *error) {
  for (int kind = 0; kind < 3; kind++) {
    CST__TRY(look_at_ids(at, (cst_lineage_kind)kind, error));
  }
  CST__TRY(read_all(at, CST_LINEAGE_OF_ARTIFACTS, error));
  CST__TRY(cst__mlmd_read_references(at, error));
  CST__TRY(read_all(at, CST_LINEAGE_OF_EXECUTIONS, error));
  CST__TRY(read_all(at, CST_LINEAGE_OF_CONTEXTS, error));
  CST__TRY(cst__mlmd_read_events(at, error));
  return cst__mlmd_read_members(at, error);
}

static const cst__finding_column columns[] = {CST__TEXT("kind"), CST__NUMBER("count")};
static const cst__finding_type imported = {"imported", columns, 2};

static cst_status tell(const cst__mlmd_import *at, cst_findings **out, cst_error *error) {
  static const char *const names[] = {"artifacts", "executions", "contexts",
                                      "events",    "members",    "updated"};
  const cst__mlmd_counts *counts = &at->counts;
  const int64_t all[] = {counts->things[0], counts->things[1], counts->things[2],
                         counts->events,    counts->members,   counts->updated};
  cst_findings *found;
  CST__TRY(cst__findings_new(&imported, &at->store->allocator, &found, error));
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    cst__put_text(found, names[i]);
    cst__put_signed(found, all[i]);
  }
  return cst__findings_finish(found, out, error);
}

static void end(cst__mlmd_import *at) {
  for (int kind = 0; kind < 3; kind++) {
    cst__mlmd_end(&at->properties[kind]);
  }
  cst__mlmd_close(&at->from);
  cst__json_document_reset(&at->json);
  cst__arena_reset(&at->arena);
  cst__arena_reset(&at->kept);
  cst__delete(at->list);
  cst__delete(at->pending);
}

cst_status cst_lineage_import_mlmd(cst_lineage *store, const char *path, cst_findings **out,
                                   cst_error *error) {
  char source[PATH_MAX];
  CST__CLEAR(out);
  CST__TRY(cst__check_given(store, "store", out, error));
  CST__TRY(cst__check_given(path, "path", out, error));
  CST__TRY(cst__lineage_check_usable(store, error));
  cst__mlmd_import at = {.store = store,
                         .from = {.allocator = store->allocator},
                         .arena = {.allocator = store->allocator},
                         .kept = {.allocator = store->allocator},
                         .json = {.allocator = store->allocator}};
  CST__TRY(cst__mlmd_open(&at.from, path, store->timeout, error));
  at.source = realpath(path, source);
  cst_status status = at.source != NULL ? CST_OK
                                        : cst__fail(error, CST_NOT_FOUND, NULL,
                                                    "the file has gone while it was read");
  if (status == CST_OK) {
    status = cst__lineage_enter(store, CST__LINEAGE_WRITES, error);
    if (status == CST_OK) {
      status = import(&at, error);
      if (status == CST_OK) {
        status = tell(&at, out, error);
      }
      status = cst__lineage_leave(store, status, error);
    }
  }
  if (status != CST_OK) {
    cst_findings_free(*out);
    *out = NULL;
  }
  end(&at);
  return status;
}
