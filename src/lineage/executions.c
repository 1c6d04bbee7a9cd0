/* What was done: executions with their inputs and outputs, and contexts. */
#include <inttypes.h>

#include "base/arguments.h"
#include "base/utf8.h"
#include "lineage/artifacts.h"
#include "lineage/properties.h"

enum { MOST_EVENTS = 1 << 20, MOST_TEXT = 1000 };

const char *cst__lineage_execution_state_name(cst_lineage_execution_state state) {
  static const char *const names[] = {"running", "complete", "failed", "canceled"};
  return (unsigned)state <= CST_LINEAGE_CANCELED ? names[state] : "unknown";
}

static cst_status check_text(const char *text, const char *what, cst_error *error) {
  return text == NULL ||
                 (strlen(text) <= MOST_TEXT && cst__utf8_valid((const uint8_t *)text, strlen(text)))
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT, NULL, "%s is UTF-8 of at most %d bytes", what,
                         MOST_TEXT);
}

static cst_status check_execution(const cst_lineage_execution *execution, cst_error *error) {
  CST__TRY(cst__lineage_check_type(execution->type, error));
  CST__TRY(check_text(execution->name, "a name", error));
  CST__TRY(cst__lineage_check_properties(execution->properties, execution->num_properties, error));
  if (execution->num_inputs > MOST_EVENTS) {
    return cst__fail(error, CST_LIMIT, NULL, "more than %d inputs", MOST_EVENTS);
  }
  if (execution->num_inputs > 0 && execution->inputs == NULL) {
    return cst__missing("inputs", error);
  }
  for (size_t i = 0; i < execution->num_inputs; i++) {
    CST__TRY(check_text(execution->inputs[i].path, "the path of an input", error));
  }
  return CST_OK;
}

static cst_status add_event(cst_lineage *store, int64_t execution, int direction,
                            const cst_lineage_event *event, cst_error *error) {
  sqlite3_stmt *insert;
  CST__TRY(cst__lineage_prepare(store, "INSERT OR IGNORE INTO event VALUES(?, ?, ?, ?, ?)", &insert,
                                error));
  sqlite3_bind_int64(insert, 1, execution);
  sqlite3_bind_int(insert, 2, direction);
  sqlite3_bind_int64(insert, 3, event->artifact);
  cst__lineage_bind_text(insert, 4, event->path != NULL ? event->path : "");
  sqlite3_bind_int64(insert, 5, cst__lineage_now());
  return cst__lineage_step(store, insert, NULL, error);
}

cst_status cst__lineage_start(cst_lineage *store, const cst_lineage_execution *execution,
                              int64_t *id, cst_error *error) {
  sqlite3_stmt *insert;
  int64_t type;
  for (size_t i = 0; i < execution->num_inputs; i++) {
    CST__TRY(cst__lineage_check_live(store, execution->inputs[i].artifact, error));
  }
  CST__TRY(cst__lineage_type(store, CST_LINEAGE_OF_EXECUTIONS, execution->type, &type, error));
  CST__TRY(cst__lineage_prepare(
      store, "INSERT INTO execution(type, name, state, started) VALUES(?, ?, ?, ?)", &insert,
      error));
  sqlite3_bind_int64(insert, 1, type);
  cst__lineage_bind_text(insert, 2, execution->name);
  sqlite3_bind_int64(insert, 3, CST_LINEAGE_RUNNING);
  sqlite3_bind_int64(insert, 4, execution->started != 0 ? execution->started : cst__lineage_now());
  CST__TRY(cst__lineage_step(store, insert, NULL, error));
  *id = sqlite3_last_insert_rowid(store->db);
  for (size_t i = 0; i < execution->num_inputs; i++) {
    CST__TRY(add_event(store, *id, 0, &execution->inputs[i], error));
  }
  return cst__lineage_set(store, CST_LINEAGE_OF_EXECUTIONS, *id, execution->properties,
                          execution->num_properties, error);
}

cst_status cst_lineage_start(cst_lineage *store, const cst_lineage_execution *execution,
                             int64_t *id, cst_error *error) {
  cst_lineage_execution own = CST_LINEAGE_EXECUTION_INIT;
  CST__CLEAR(id);
  CST__TRY(cst__check_given(store, "store", id, error));
  CST__TRY(cst__check_given(execution, "execution", id, error));
  CST__TRY(cst__read_options(&own, sizeof own, execution, error));
  CST__TRY(check_execution(&own, error));
  CST__TRY(cst__lineage_enter(store, CST__LINEAGE_WRITES, error));
  cst_status status = cst__lineage_leave(store, cst__lineage_start(store, &own, id, error), error);
  *id = status == CST_OK ? *id : 0;
  return status;
}

static cst_status check_running(cst_lineage *store, int64_t execution, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(store, "SELECT state FROM execution WHERE id = ?", &find, error));
  sqlite3_bind_int64(find, 1, execution);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  if (!is_row) {
    return cst__fail(error, CST_NOT_FOUND, NULL, "there is no execution %" PRId64, execution);
  }
  const int64_t state = sqlite3_column_int64(find, 0);
  (void)sqlite3_reset(find);
  return state == CST_LINEAGE_RUNNING
             ? CST_OK
             : cst__fail(error, CST_STATE, "start another one", "execution %" PRId64 " is %s",
                         execution,
                         cst__lineage_execution_state_name((cst_lineage_execution_state)state));
}

cst_status cst__lineage_output(cst_lineage *store, int64_t execution, int64_t artifact,
                               const char *path, cst_error *error) {
  cst_lineage_state state;
  CST__TRY(check_running(store, execution, error));
  CST__TRY(cst__lineage_state(store, artifact, &state, error));
  if (state != CST_LINEAGE_PENDING) {
    CST__TRY(cst__lineage_check_live(store, artifact, error));
  }
  return add_event(store, execution, 1, &(cst_lineage_event){artifact, path}, error);
}

cst_status cst_lineage_output(cst_lineage *store, int64_t execution, int64_t artifact,
                              const char *path, cst_error *error) {
  CST__TRY(cst__check_given(store, "store", store, error));
  CST__TRY(check_text(path, "the path of an output", error));
  CST__TRY(cst__lineage_enter(store, CST__LINEAGE_WRITES, error));
  return cst__lineage_leave(store, cst__lineage_output(store, execution, artifact, path, error),
                            error);
}

/* Statements about one execution. */
static cst_status run_of(cst_lineage *store, const char *sql, int64_t first, int64_t second,
                         cst_error *error) {
  sqlite3_stmt *statement;
  CST__TRY(cst__lineage_prepare(store, sql, &statement, error));
  sqlite3_bind_int64(statement, 1, first);
  if (sqlite3_bind_parameter_count(statement) > 1) {
    sqlite3_bind_int64(statement, 2, second);
  }
  if (sqlite3_bind_parameter_count(statement) > 2) {
    sqlite3_bind_int64(statement, 3, cst__lineage_now());
  }
  return cst__lineage_step(store, statement, NULL, error);
}

cst_status cst__lineage_end(cst_lineage *store, int64_t execution,
                            cst_lineage_execution_state state, cst_error *error) {
  CST__TRY(check_running(store, execution, error));
  CST__TRY(run_of(store, "UPDATE execution SET state = ?2, ended = ?3 WHERE id = ?1", execution,
                  state, error));
  CST__TRY(run_of(store,
                  "UPDATE artifact SET state = ?2, updated = ?3 WHERE state = 1 AND id IN (SELECT "
                  "artifact FROM event WHERE execution = ?1 AND direction = 1)",
                  execution,
                  state == CST_LINEAGE_COMPLETE ? CST_LINEAGE_LIVE : CST_LINEAGE_ABANDONED, error));
  CST__TRY(run_of(store,
                  "DELETE FROM leased WHERE lease IN (SELECT id FROM lease WHERE execution = ?1)",
                  execution, 0, error));
  return run_of(store, "DELETE FROM lease WHERE execution = ?1", execution, 0, error);
}

cst_status cst_lineage_end(cst_lineage *store, int64_t execution, cst_lineage_execution_state state,
                           cst_error *error) {
  CST__TRY(cst__check_given(store, "store", store, error));
  if (state <= CST_LINEAGE_RUNNING || state > CST_LINEAGE_CANCELED) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "an execution ends complete, failed or canceled");
  }
  CST__TRY(cst__lineage_enter(store, CST__LINEAGE_WRITES, error));
  return cst__lineage_leave(store, cst__lineage_end(store, execution, state, error), error);
}

/* ---- contexts ---- */

static cst_status find_context(cst_lineage *store, const char *type, const char *name, int64_t *id,
                               cst_error *error) {
  sqlite3_stmt *find, *insert;
  int64_t type_id;
  bool is_row;
  CST__TRY(cst__lineage_type(store, CST_LINEAGE_OF_CONTEXTS, type, &type_id, error));
  CST__TRY(cst__lineage_prepare(store, "SELECT id FROM context WHERE type = ? AND name = ?", &find,
                                error));
  sqlite3_bind_int64(find, 1, type_id);
  cst__lineage_bind_text(find, 2, name);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  if (is_row) {
    *id = sqlite3_column_int64(find, 0);
    (void)sqlite3_reset(find);
    return CST_OK;
  }
  CST__TRY(cst__lineage_prepare(store, "INSERT INTO context(type, name, created) VALUES(?, ?, ?)",
                                &insert, error));
  sqlite3_bind_int64(insert, 1, type_id);
  cst__lineage_bind_text(insert, 2, name);
  sqlite3_bind_int64(insert, 3, cst__lineage_now());
  CST__TRY(cst__lineage_step(store, insert, NULL, error));
  *id = sqlite3_last_insert_rowid(store->db);
  return CST_OK;
}

cst_status cst_lineage_context(cst_lineage *store, const char *type, const char *name, int64_t *id,
                               cst_error *error) {
  CST__CLEAR(id);
  CST__TRY(cst__check_given(store, "store", id, error));
  CST__TRY(cst__check_given(name, "name", id, error));
  CST__TRY(cst__lineage_check_type(type, error));
  CST__TRY(check_text(name, "a name", error));
  CST__TRY(cst__lineage_enter(store, CST__LINEAGE_WRITES, error));
  cst_status status = cst__lineage_leave(store, find_context(store, type, name, id, error), error);
  *id = status == CST_OK ? *id : 0;
  return status;
}

static cst_status join(cst_lineage *store, int64_t context, cst_lineage_kind kind, int64_t member,
                       cst_error *error) {
  sqlite3_stmt *insert;
  CST__TRY(cst__lineage_check_owner(store, CST_LINEAGE_OF_CONTEXTS, context, error));
  CST__TRY(cst__lineage_check_owner(store, kind, member, error));
  CST__TRY(
      cst__lineage_prepare(store, "INSERT OR IGNORE INTO member VALUES(?, ?, ?)", &insert, error));
  sqlite3_bind_int64(insert, 1, context);
  sqlite3_bind_int64(insert, 2, kind);
  sqlite3_bind_int64(insert, 3, member);
  return cst__lineage_step(store, insert, NULL, error);
}

cst_status cst_lineage_join(cst_lineage *store, int64_t context, cst_lineage_kind kind,
                            int64_t member, cst_error *error) {
  CST__TRY(cst__check_given(store, "store", store, error));
  if ((unsigned)kind > CST_LINEAGE_OF_CONTEXTS) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "no such kind");
  }
  if (kind == CST_LINEAGE_OF_CONTEXTS && member == context) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a context cannot be in itself");
  }
  CST__TRY(cst__lineage_enter(store, CST__LINEAGE_WRITES, error));
  return cst__lineage_leave(store, join(store, context, kind, member, error), error);
}
