/* Executions, contexts, events and memberships of MLMD on their way in. */
#include <inttypes.h>
#include <string.h>

#include "lineage/artifacts.h"
#include "lineage/mlmd/mlmd_read.h"

/* ---- executions ---- */

/* One that ran when it was imported may have ended. */
static cst_status update(cst__mlmd_import *at, const cst__mlmd_thing *thing, int64_t ours,
                         int64_t ended, cst_error *error) {
  sqlite3_stmt *find, *set;
  bool is_row;
  CST__TRY(
      cst__lineage_prepare(at->store, "SELECT started FROM execution WHERE id = ?", &find, error));
  (void)sqlite3_bind_int64(find, 1, ours);
  CST__TRY(cst__lineage_step(at->store, find, &is_row, error));
  if (!is_row) {
    return CST_OK;
  }
  const int64_t started = sqlite3_column_int64(find, 0);
  (void)sqlite3_reset(find);
  CST__TRY(cst__mlmd_check_same(at, thing, started, error));
  if (thing->state == CST_LINEAGE_RUNNING) {
    return CST_OK;
  }
  CST__TRY(cst__lineage_prepare(
      at->store, "UPDATE execution SET state = ?, ended = ? WHERE id = ? AND ended IS NULL", &set,
      error));
  (void)sqlite3_bind_int64(set, 1, thing->state);
  (void)sqlite3_bind_int64(set, 2, ended);
  (void)sqlite3_bind_int64(set, 3, ours);
  CST__TRY(cst__lineage_step(at->store, set, NULL, error));
  at->counts.updated += sqlite3_changes64(at->store->db);
  return CST_OK;
}

static cst_status insert_execution(cst__mlmd_import *at, const cst__mlmd_thing *thing,
                                   int64_t started, int64_t ended, int64_t *ours,
                                   cst_error *error) {
  sqlite3_stmt *add;
  int64_t type;
  CST__TRY(cst__lineage_type(at->store, thing->kind, thing->type, &type, error));
  CST__TRY(cst__lineage_prepare(at->store, "INSERT INTO execution VALUES(?, ?, ?, ?, ?, ?)", &add,
                                error));
  if (at->keeps_ids[CST_LINEAGE_OF_EXECUTIONS]) {
    (void)sqlite3_bind_int64(add, 1, thing->id);
  }
  (void)sqlite3_bind_int64(add, 2, type);
  cst__lineage_bind_text(add, 3, thing->name);
  (void)sqlite3_bind_int64(add, 4, thing->state);
  (void)sqlite3_bind_int64(add, 5, started);
  if (thing->state != CST_LINEAGE_RUNNING) {
    (void)sqlite3_bind_int64(add, 6, ended);
  }
  CST__TRY(cst__lineage_step(at->store, add, NULL, error));
  *ours = sqlite3_last_insert_rowid(at->store->db);
  return CST_OK;
}

typedef struct event {
  int64_t execution; /* our numbers */
  int64_t artifact;
  int direction;
  bool is_only; /* of the artifact and the direction: another one is taken for it */
  const char *path;
  int64_t time;
} event;

static cst_status add_event(cst__mlmd_import *at, const event *e, cst_error *error) {
  sqlite3_stmt *add;
  CST__TRY(cst__lineage_prepare(
      at->store,
      "INSERT OR IGNORE INTO event SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT (?6 AND EXISTS"
      " (SELECT 1 FROM event WHERE execution = ?1 AND direction = ?2 AND artifact = ?3))",
      &add, error));
  (void)sqlite3_bind_int64(add, 1, e->execution);
  (void)sqlite3_bind_int(add, 2, e->direction);
  (void)sqlite3_bind_int64(add, 3, e->artifact);
  cst__lineage_bind_text(add, 4, e->path);
  (void)sqlite3_bind_int64(add, 5, e->time);
  (void)sqlite3_bind_int(add, 6, e->is_only);
  CST__TRY(cst__lineage_step(at->store, add, NULL, error));
  at->counts.events += sqlite3_changes64(at->store->db);
  return CST_OK;
}

/* [[direction, artifact, "path", us], ...] */
static cst_status read_own_events(cst__mlmd_import *at, const cst__mlmd_member *of, int64_t ours,
                                  cst_error *error) {
  yyjson_val *list, *item;
  size_t i, count;
  CST__TRY(cst__mlmd_own_list(of, "events", &list, error));
  yyjson_arr_foreach(list, i, count, item) {
    yyjson_val *direction = yyjson_arr_get(item, 0);
    yyjson_val *artifact = yyjson_arr_get(item, 1);
    yyjson_val *time = yyjson_arr_get(item, 3);
    event e = {.execution = ours, .path = cst__mlmd_json_text(yyjson_arr_get(item, 2))};
    if (!yyjson_is_int(direction) || !yyjson_is_int(artifact) || !yyjson_is_int(time) ||
        e.path == NULL || yyjson_get_uint(direction) > 1) {
      return cst__mlmd_own_fail(of, "events", "a list of [direction, artifact, path, time]", error);
    }
    e.direction = (int)yyjson_get_int(direction);
    e.time = yyjson_get_sint(time);
    CST__TRY(cst__mlmd_find_ours(at, CST_LINEAGE_OF_ARTIFACTS, yyjson_get_sint(artifact),
                                 &e.artifact, error));
    if (e.artifact == 0) {
      return cst__mlmd_own_fail(of, "events", "of artifacts that are there", error);
    }
    CST__TRY(add_event(at, &e, error));
  }
  return CST_OK;
}

cst_status cst__mlmd_read_execution(cst__mlmd_import *at, const cst__mlmd_rows *row,
                                    cst__mlmd_thing *thing, cst_error *error) {
  const cst__mlmd_member of = {row, thing};
  int64_t ours, known;
  int64_t started = thing->created;
  int64_t ended = thing->updated;
  CST__TRY(cst__mlmd_find_ours(at, thing->kind, thing->id, &known, error));
  CST__TRY(cst__mlmd_read_properties(at, thing, error));
  if (thing->own != NULL) {
    thing->name = NULL;
    CST__TRY(cst__mlmd_own_text(&of, "type", &thing->type, error));
    CST__TRY(cst__mlmd_own_text(&of, "name", &thing->name, error));
    CST__TRY(cst__mlmd_own_number(&of, "started", &started, error));
    CST__TRY(cst__mlmd_own_number(&of, "ended", &ended, error));
    CST__TRY(cst__mlmd_own_properties(at, &of, error));
  }
  started = cst__mlmd_ms(started) == cst__mlmd_ms(thing->created) ? started : thing->created;
  ended = cst__mlmd_ms(ended) == cst__mlmd_ms(thing->updated) ? ended : thing->updated;
  if (cst__lineage_check_type(thing->type, NULL) != CST_OK) {
    return cst__mlmd_fail_row(row, error, "its type has a name that is empty or too long");
  }
  ours = known;
  if (known != 0) {
    CST__TRY(update(at, thing, ours, ended, error));
  } else {
    CST__TRY(insert_execution(at, thing, started, ended, &ours, error));
    CST__TRY(cst__mlmd_remember(at, thing->kind, thing->id, ours, error));
    CST__TRY(cst__mlmd_set_properties(at, row, thing, ours, error));
  }
  return thing->own != NULL ? read_own_events(at, &of, ours, error) : CST_OK;
}

/* ---- events ---- */

enum { ARTIFACT = 1, EXECUTION, TYPE, TIME, IS_OURS, IS_INDEX, STEP_INDEX, STEP_KEY };

/* A path in the making: of one event, a row for each step. */
typedef struct path {
  cst__text text;
  int64_t num_steps;
  bool is_keyed;   /* the first step is a key */
  bool ends_index; /* the last one is the index 0 */
} path;

static cst_status add_step(const cst__mlmd_rows *row, path *p, cst_error *error) {
  int64_t is_index, index = 0;
  const char *key = NULL;
  if (sqlite3_column_type(row->statement, IS_INDEX) == SQLITE_NULL) {
    return CST_OK;
  }
  CST__TRY(cst__mlmd_number(row, IS_INDEX, &is_index, error));
  if (is_index != 0) {
    CST__TRY(cst__mlmd_number(row, STEP_INDEX, &index, error));
  } else {
    CST__TRY(cst__mlmd_text(row, STEP_KEY, &key, error));
  }
  p->is_keyed = p->num_steps == 0 ? is_index == 0 : p->is_keyed;
  p->ends_index = is_index != 0 && index == 0;
  if (p->num_steps++ > 0) {
    cst__text_puts(&p->text, "/");
  }
  if (is_index != 0) {
    cst__text_printf(&p->text, "%" PRId64, index);
  } else {
    cst__text_puts(&p->text, key != NULL ? key : "");
  }
  return CST_OK;
}

/* One key and the index 0 are the key alone. */
static const char *path_of(path *p) {
  if (p->num_steps == 2 && p->is_keyed && p->ends_index) {
    p->text.data[p->text.size - 2] = '\0';
  }
  return p->text.size > 0 ? p->text.data : "";
}

static cst_status find_end(cst__mlmd_import *at, const cst__mlmd_rows *row, int column,
                           cst_lineage_kind kind, int64_t *ours, cst_error *error) {
  int64_t theirs;
  CST__TRY(cst__mlmd_number(row, column, &theirs, error));
  CST__TRY(cst__mlmd_find_ours(at, kind, theirs, ours, error));
  return *ours != 0 ? CST_OK
                    : cst__mlmd_fail_row(row, error, "the %s %" PRId64 " is not there",
                                         cst__mlmd_kind(kind), theirs);
}

static cst_status begin_event(cst__mlmd_import *at, const cst__mlmd_rows *row, event *e,
                              cst_error *error) {
  int64_t type, ms, is_ours;
  CST__TRY(find_end(at, row, ARTIFACT, CST_LINEAGE_OF_ARTIFACTS, &e->artifact, error));
  CST__TRY(find_end(at, row, EXECUTION, CST_LINEAGE_OF_EXECUTIONS, &e->execution, error));
  CST__TRY(cst__mlmd_number(row, TYPE, &type, error));
  CST__TRY(cst__mlmd_number_or(row, TIME, 0, &ms, error));
  CST__TRY(cst__mlmd_number(row, IS_OURS, &is_ours, error));
  e->time = cst__mlmd_us(ms);
  e->is_only = is_ours != 0;
  e->direction = cst__mlmd_direction(type);
  return e->direction >= 0
             ? CST_OK
             : cst__mlmd_fail_row(row, error, "its type is %" PRId64 ", which is no direction",
                                  type);
}

static cst_status end_event(cst__mlmd_import *at, event *e, path *p, cst_error *error) {
  if (p->text.failed) {
    return cst__fail_memory(error, p->text.size);
  }
  e->path = path_of(p);
  return add_event(at, e, error);
}

/* Rows of one event stand together. */
static cst_status read_steps(cst__mlmd_import *at, cst__mlmd_rows *rows, path *p,
                             cst_error *error) {
  event e = {0};
  int64_t id = 0;
  for (bool is_first = true;; is_first = false) {
    bool is_row;
    int64_t next = 0;
    CST__TRY(cst__mlmd_step(rows, &is_row, error));
    if (is_row) {
      CST__TRY(cst__mlmd_number(rows, 0, &next, error));
    }
    if (!is_first && (!is_row || next != id)) {
      CST__TRY(end_event(at, &e, p, error));
    }
    if (!is_row) {
      return CST_OK;
    }
    if (is_first || next != id) {
      id = next;
      *p = (path){.text = p->text};
      p->text.size = 0;
      CST__TRY(begin_event(at, rows, &e, error));
    }
    CST__TRY(add_step(rows, p, error));
  }
}

cst_status cst__mlmd_read_events(cst__mlmd_import *at, cst_error *error) {
  cst__mlmd_rows rows;
  path p = {.text = {.allocator = at->store->allocator}};
  CST__TRY(cst__mlmd_prepare(
      &at->from, "event",
      "SELECT e.id, e.artifact_id, e.execution_id, e.type, e.milliseconds_since_epoch,"
      " EXISTS(SELECT 1 FROM ExecutionProperty p WHERE p.execution_id = e.execution_id AND"
      " p.name = '" CST__MLMD_OWN "execution' AND p.is_custom_property = 1),"
      " s.is_index_step, s.step_index, s.step_key FROM Event e"
      " LEFT JOIN EventPath s ON s.event_id = e.id ORDER BY e.id, s.rowid",
      &rows, error));
  const cst_status status = read_steps(at, &rows, &p, error);
  cst__mlmd_end(&rows);
  cst__text_free(&p.text);
  return status;
}

/* ---- contexts ---- */

cst_status cst__mlmd_read_context(cst__mlmd_import *at, const cst__mlmd_rows *row,
                                  cst__mlmd_thing *thing, cst_error *error) {
  const cst__mlmd_member of = {row, thing};
  sqlite3_stmt *add;
  int64_t ours, type, created = thing->created;
  bool is_row;
  CST__TRY(cst__mlmd_find_ours(at, thing->kind, thing->id, &ours, error));
  if (ours != 0) {
    return CST_OK;
  }
  CST__TRY(cst__mlmd_read_properties(at, thing, error));
  if (thing->own != NULL) {
    CST__TRY(cst__mlmd_own_text(&of, "type", &thing->type, error));
    CST__TRY(cst__mlmd_own_number(&of, "created", &created, error));
    CST__TRY(cst__mlmd_own_properties(at, &of, error));
  }
  if (cst__lineage_check_type(thing->type, NULL) != CST_OK) {
    return cst__mlmd_fail_row(row, error, "its type has a name that is empty or too long");
  }
  CST__TRY(cst__lineage_type(at->store, thing->kind, thing->type, &type, error));
  CST__TRY(cst__lineage_prepare(at->store, "SELECT id FROM context WHERE type = ? AND name = ?",
                                &add, error));
  (void)sqlite3_bind_int64(add, 1, type);
  cst__lineage_bind_text(add, 2, thing->name != NULL ? thing->name : "");
  CST__TRY(cst__lineage_step(at->store, add, &is_row, error));
  if (is_row) { /* ours and theirs are one from now on */
    ours = sqlite3_column_int64(add, 0);
    (void)sqlite3_reset(add);
    return cst__mlmd_remember(at, thing->kind, thing->id, ours, error);
  }
  CST__TRY(cst__lineage_prepare(at->store, "INSERT INTO context VALUES(?, ?, ?, ?)", &add, error));
  if (at->keeps_ids[CST_LINEAGE_OF_CONTEXTS]) {
    (void)sqlite3_bind_int64(add, 1, thing->id);
  }
  (void)sqlite3_bind_int64(add, 2, type);
  cst__lineage_bind_text(add, 3, thing->name != NULL ? thing->name : "");
  (void)sqlite3_bind_int64(
      add, 4, cst__mlmd_ms(created) == cst__mlmd_ms(thing->created) ? created : thing->created);
  CST__TRY(cst__lineage_step(at->store, add, NULL, error));
  ours = sqlite3_last_insert_rowid(at->store->db);
  CST__TRY(cst__mlmd_remember(at, thing->kind, thing->id, ours, error));
  return cst__mlmd_set_properties(at, row, thing, ours, error);
}

static cst_status read_member(cst__mlmd_import *at, const cst__mlmd_rows *row,
                              cst_lineage_kind kind, cst_error *error) {
  sqlite3_stmt *add;
  int64_t context, member;
  CST__TRY(find_end(at, row, 1, CST_LINEAGE_OF_CONTEXTS, &context, error));
  CST__TRY(find_end(at, row, 2, kind, &member, error));
  CST__TRY(
      cst__lineage_prepare(at->store, "INSERT OR IGNORE INTO member VALUES(?, ?, ?)", &add, error));
  (void)sqlite3_bind_int64(add, 1, context);
  (void)sqlite3_bind_int(add, 2, (int)kind);
  (void)sqlite3_bind_int64(add, 3, member);
  CST__TRY(cst__lineage_step(at->store, add, NULL, error));
  at->counts.members += sqlite3_changes64(at->store->db);
  return CST_OK;
}

cst_status cst__mlmd_read_members(cst__mlmd_import *at, cst_error *error) {
  static const struct {
    const char *what;
    const char *sql;
  } tables[] = {
      {"attribution", "SELECT id, context_id, artifact_id FROM Attribution ORDER BY id"},
      {"association", "SELECT id, context_id, execution_id FROM Association ORDER BY id"},
      {"parent of the context",
       "SELECT context_id, parent_context_id, context_id FROM ParentContext ORDER BY 1, 2"},
  };
  for (int kind = 0; kind < 3; kind++) {
    cst__mlmd_rows rows;
    bool is_row = true;
    CST__TRY(cst__mlmd_prepare(&at->from, tables[kind].what, tables[kind].sql, &rows, error));
    cst_status status;
    while ((status = cst__mlmd_step(&rows, &is_row, error)) == CST_OK && is_row &&
           (status = read_member(at, &rows, (cst_lineage_kind)kind, error)) == CST_OK) {
    }
    cst__mlmd_end(&rows);
    CST__TRY(status);
  }
  return CST_OK;
}
