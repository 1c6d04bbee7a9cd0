/* Artifacts, executions with their events, and contexts, on their way to MLMD. */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "lineage/mlmd/mlmd_write.h"
#include "lineage/store_paths.h"
#include "text/base64.h"
#include "text/json_string.h"

const char cst__mlmd_all_artifacts[] =
    "SELECT a.id, t.name, a.name, a.version, a.state, a.digest, a.is_external, a.created, a.updated"
    " FROM artifact a JOIN type t ON t.id = a.type ORDER BY a.id";
const char cst__mlmd_all_executions[] =
    "SELECT e.id, t.name, e.name, e.state, e.started, e.ended FROM execution e"
    " JOIN type t ON t.id = e.type ORDER BY e.id";
const char cst__mlmd_all_contexts[] =
    "SELECT c.id, t.name, c.name, c.created FROM context c JOIN type t ON t.id = c.type"
    " ORDER BY c.id";
const char cst__mlmd_all_members[] =
    "SELECT context, kind, id FROM member ORDER BY context, kind, id";

/* ---- files ---- */

/* The folder that this path and those before are in, or the path if it is the first. */
static void add_to_uri(cst__text *uri, const char *path, bool is_first) {
  if (is_first) {
    uri->size = 0;
    cst__text_puts(uri, path);
    return;
  }
  size_t same = 0;
  while (same < uri->size && uri->data[same] == path[same]) {
    same++;
  }
  const bool is_whole = same == uri->size && (path[same] == '/' || path[same] == '\0');
  while (!is_whole && same > 0 && uri->data[same - 1] != '/') {
    same--;
  }
  if (!is_whole && same > 1) {
    same--; /* the slash, but for that of the root */
  }
  uri->size = same;
  if (uri->size > 0 && (uri->data[same - 1] == ':' || (uri->data[same - 1] == '/' && same > 1))) {
    uri->size = 0; /* nothing but "gs:/" */
  }
  if (uri->data != NULL) {
    uri->data[uri->size] = '\0';
  }
}

static void put_file(cst__mlmd_export *at, sqlite3_stmt *row, const char *path) {
  cst__text *own = &at->own;
  cst__text_puts(own, "{");
  const size_t size = strlen(path);
  if (cst__utf8_valid((const uint8_t *)path, size)) {
    cst__text_puts(own, "\"path\": ");
    cst__put_json_text(own, path);
  } else {
    cst__text_puts(own, "\"path64\": \"");
    cst__put_base64(own, (cst_bytes){(const uint8_t *)path, size});
    cst__text_puts(own, "\"");
  }
  if (sqlite3_column_type(row, 1) != SQLITE_NULL) {
    cst__mlmd_put_text(own, "split", cst__lineage_text(row, 1));
  }
  if (sqlite3_column_type(row, 2) != SQLITE_NULL) {
    cst__mlmd_put_text(own, "role", cst__lineage_text(row, 2));
  }
  if (sqlite3_column_type(row, 3) != SQLITE_NULL) {
    cst__mlmd_put_number(own, "size", sqlite3_column_int64(row, 3));
  }
  if (sqlite3_column_type(row, 4) != SQLITE_NULL) {
    cst__mlmd_put_number(own, "modified", sqlite3_column_int64(row, 4));
  }
  cst__mlmd_put_hex(own, "digest", row, 5);
  cst__text_puts(own, "}");
}

/* A split that has not been said: files of one stand together. */
static void put_split(cst__text *splits, const char *split) {
  cst__text item = {.allocator = splits->allocator};
  cst__put_json_text(&item, split);
  splits->failed |= item.failed;
  if (!item.failed && (splits->size == 0 || strstr(splits->data, item.data) == NULL)) {
    cst__mlmd_put_comma(splits);
    cst__text_append(splits, item.data, item.size);
  }
  cst__text_free(&item);
}

/* "files" in `own`, and from them the URI (of data; if there is none, of all) and the splits. */
static cst_status read_files(cst__mlmd_export *at, int64_t artifact, cst_error *error) {
  sqlite3_stmt *read;
  bool is_row;
  bool has_data = false;
  CST__TRY(cst__lineage_prepare(
      at->store,
      "SELECT f.path, a.split, a.role, a.size, a.modified, a.digest FROM artifact_file a"
      " JOIN file f ON f.id = a.file WHERE a.artifact = ? ORDER BY a.position",
      &read, error));
  (void)sqlite3_bind_int64(read, 1, artifact);
  for (int64_t i = 0;; i++) {
    char *path;
    CST__TRY(cst__lineage_step(at->store, read, &is_row, error));
    if (!is_row) {
      cst__text_puts(&at->own, i > 0 ? "]" : "");
      return CST_OK;
    }
    CST__TRY(cst__lineage_path_out(at->store, cst__lineage_text(read, 0), &path, error));
    if (i == 0) {
      cst__mlmd_put_comma(&at->own);
    }
    cst__text_puts(&at->own, i == 0 ? "\"files\": [" : ", ");
    put_file(at, read, path);
    const bool is_data = sqlite3_column_type(read, 2) == SQLITE_NULL;
    if (is_data || !has_data) {
      add_to_uri(&at->uri, path, i == 0 || (is_data && !has_data));
    }
    has_data |= is_data;
    if (sqlite3_column_type(read, 1) != SQLITE_NULL) {
      put_split(&at->splits, cst__lineage_text(read, 1));
    }
    cst__delete(path);
  }
}

/* [[text, number or text], ...] as a member of `own`, where there is any. */
static cst_status read_pairs(cst__mlmd_export *at, const char *member, const char *sql, int64_t id,
                             cst_error *error) {
  sqlite3_stmt *read;
  bool is_row;
  CST__TRY(cst__lineage_prepare(at->store, sql, &read, error));
  (void)sqlite3_bind_int64(read, 1, id);
  for (int64_t i = 0;; i++) {
    CST__TRY(cst__lineage_step(at->store, read, &is_row, error));
    if (!is_row) {
      cst__text_puts(&at->own, i > 0 ? "]" : "");
      return CST_OK;
    }
    if (i == 0) {
      cst__mlmd_put_comma(&at->own);
      cst__text_printf(&at->own, "\"%s\": [", member);
    }
    cst__text_puts(&at->own, i > 0 ? ", [" : "[");
    cst__put_json_text(&at->own, cst__lineage_text(read, 0));
    cst__text_puts(&at->own, ", ");
    if (sqlite3_column_type(read, 1) == SQLITE_INTEGER) {
      cst__text_printf(&at->own, "%" PRId64, (int64_t)sqlite3_column_int64(read, 1));
    } else {
      cst__put_json_text(&at->own, cst__lineage_text(read, 1));
    }
    cst__text_puts(&at->own, "]");
  }
}

/* The property "split_names" of Examples and statistics, made of the files where there is none. */
static cst_status write_splits(cst__mlmd_export *at, const cst__mlmd_node *of, cst_error *error) {
  int64_t kind;
  if (at->splits.size == 0 || cst__mlmd_find_declared(of->type, "split_names") == NULL) {
    return CST_OK;
  }
  CST__TRY(cst__mlmd_find_property(at, of, "split_names", &kind, NULL, error));
  if (kind >= 0) {
    return CST_OK;
  }
  cst__text list = {.allocator = at->store->allocator};
  cst__text_puts(&list, "[");
  cst__text_append(&list, at->splits.data, at->splits.size);
  cst__text_puts(&list, "]");
  cst_status status = list.failed
                          ? cst__fail_memory(error, list.size)
                          : cst__mlmd_write_text(at, of, "split_names", false, &list, error);
  cst__text_free(&list);
  cst__mlmd_put_comma(&at->own);
  cst__text_puts(&at->own, "\"derived\": [\"split_names\"]");
  return status;
}

cst_status cst__mlmd_write_artifact(cst__mlmd_export *at, sqlite3_stmt *row, cst_error *error) {
  cst__mlmd_begin_node(at);
  cst__mlmd_node of = {.kind = CST_LINEAGE_OF_ARTIFACTS,
                       .id = sqlite3_column_int64(row, 0),
                       .state = sqlite3_column_int64(row, 4),
                       .created = sqlite3_column_int64(row, 7),
                       .updated = sqlite3_column_int64(row, 8),
                       .has_name = sqlite3_column_type(row, 2) != SQLITE_NULL};
  of.type = cst__mlmd_write_type(at, of.kind, cst__lineage_text(row, 1));
  if (of.has_name) {
    const char *name = cst__lineage_text(row, 2);
    const int64_t version = sqlite3_column_int64(row, 3);
    cst__mlmd_put_text(&at->own, "name", name);
    cst__mlmd_put_number(&at->own, "version", version);
    cst__text_printf(&at->name, "%s@%" PRId64, name, version);
  }
  cst__mlmd_put_hex(&at->own, "digest", row, 5);
  cst__mlmd_put_comma(&at->own);
  cst__text_printf(&at->own, "\"is_external\": %s",
                   sqlite3_column_int(row, 6) != 0 ? "true" : "false");
  cst__mlmd_put_number(&at->own, "created", of.created);
  cst__mlmd_put_number(&at->own, "updated", of.updated);
  CST__TRY(read_files(at, of.id, error));
  if (at->uri.size > 0 && !cst__utf8_valid((const uint8_t *)at->uri.data, at->uri.size)) {
    at->uri.size = 0;
  }
  CST__TRY(read_pairs(at, "references",
                      "SELECT role, target FROM reference WHERE artifact = ? ORDER BY role, target",
                      of.id, error));
  CST__TRY(read_pairs(at, "fields",
                      "SELECT output, path FROM field WHERE artifact = ? ORDER BY output, path",
                      of.id, error));
  CST__TRY(cst__mlmd_write_node(at, &of, error));
  CST__TRY(write_splits(at, &of, error));
  return cst__mlmd_write_own(at, &of, error);
}

/* ---- executions and their events ---- */

static cst_status write_steps(cst__mlmd_export *at, int64_t event, const char *path,
                              cst_error *error) {
  cst__mlmd_rows *add = &at->write.add_step;
  int64_t count = 0;
  bool has_index = false;
  const char *next = path[0] != '\0' ? path : NULL;
  while (next != NULL || (count == 1 && !has_index)) {
    cst__mlmd_path_step step = {true, 0, "", 0}; /* "examples" is "examples", 0 */
    if (next != NULL) {
      cst__mlmd_next_step(&next, &step);
    }
    (void)sqlite3_clear_bindings(add->statement);
    (void)sqlite3_bind_int64(add->statement, 1, event);
    (void)sqlite3_bind_int(add->statement, 2, step.is_index);
    if (step.is_index) {
      (void)sqlite3_bind_int64(add->statement, 3, step.index);
    } else {
      (void)sqlite3_bind_text(add->statement, 4, step.key, (int)step.size, SQLITE_STATIC);
    }
    CST__TRY(cst__mlmd_step(add, NULL, error));
    has_index |= step.is_index;
    count++;
  }
  return CST_OK;
}

static cst_status write_event(cst__mlmd_export *at, int64_t execution, sqlite3_stmt *row,
                              cst_error *error) {
  enum { INPUT = 3, OUTPUT = 4 };
  cst__mlmd_rows *add = &at->write.add_event;
  (void)sqlite3_bind_int64(add->statement, 1, sqlite3_column_int64(row, 1));
  (void)sqlite3_bind_int64(add->statement, 2, execution);
  (void)sqlite3_bind_int(add->statement, 3, sqlite3_column_int64(row, 0) == 0 ? INPUT : OUTPUT);
  (void)sqlite3_bind_int64(add->statement, 4, cst__mlmd_ms(sqlite3_column_int64(row, 3)));
  CST__TRY(cst__mlmd_step(add, NULL, error));
  if (sqlite3_changes64(at->to.db) == 0) {
    return CST_OK; /* the same artifact by another path: it is in "events" */
  }
  at->num_events++;
  return write_steps(at, sqlite3_last_insert_rowid(at->to.db), cst__lineage_text(row, 2), error);
}

/* The events, and a member of `own` with their exact times and paths. */
static cst_status write_events(cst__mlmd_export *at, int64_t execution, cst_error *error) {
  sqlite3_stmt *read;
  bool is_row;
  CST__TRY(cst__lineage_prepare(at->store,
                                "SELECT direction, artifact, path, time FROM event WHERE"
                                " execution = ? ORDER BY direction, time, artifact, path",
                                &read, error));
  (void)sqlite3_bind_int64(read, 1, execution);
  for (int64_t i = 0;; i++) {
    CST__TRY(cst__lineage_step(at->store, read, &is_row, error));
    if (!is_row) {
      cst__text_puts(&at->own, i > 0 ? "]" : "");
      return CST_OK;
    }
    if (i == 0) {
      cst__mlmd_put_comma(&at->own);
    }
    cst__text_printf(&at->own, "%s[%d, %" PRId64 ", ", i == 0 ? "\"events\": [" : ", ",
                     sqlite3_column_int(read, 0), (int64_t)sqlite3_column_int64(read, 1));
    cst__put_json_text(&at->own, cst__lineage_text(read, 2));
    cst__text_printf(&at->own, ", %" PRId64 "]", (int64_t)sqlite3_column_int64(read, 3));
    CST__TRY(write_event(at, execution, read, error));
  }
}

cst_status cst__mlmd_write_execution(cst__mlmd_export *at, sqlite3_stmt *row, cst_error *error) {
  cst__mlmd_begin_node(at);
  const bool is_ended = sqlite3_column_type(row, 5) != SQLITE_NULL;
  cst__mlmd_node of = {.kind = CST_LINEAGE_OF_EXECUTIONS,
                       .id = sqlite3_column_int64(row, 0),
                       .state = sqlite3_column_int64(row, 3),
                       .created = sqlite3_column_int64(row, 4),
                       .has_name = sqlite3_column_type(row, 2) != SQLITE_NULL};
  of.updated = is_ended ? sqlite3_column_int64(row, 5) : of.created;
  of.type = cst__mlmd_write_type(at, of.kind, cst__lineage_text(row, 1));
  if (of.has_name) { /* with us it may be that of several, and empty */
    cst__mlmd_put_text(&at->own, "name", cst__lineage_text(row, 2));
    cst__text_puts(&at->name, cst__lineage_text(row, 2));
  }
  cst__mlmd_put_number(&at->own, "started", of.created);
  if (is_ended) {
    cst__mlmd_put_number(&at->own, "ended", of.updated);
  }
  CST__TRY(cst__mlmd_write_node(at, &of, error));
  CST__TRY(write_events(at, of.id, error));
  return cst__mlmd_write_own(at, &of, error);
}

cst_status cst__mlmd_write_context(cst__mlmd_export *at, sqlite3_stmt *row, cst_error *error) {
  cst__mlmd_begin_node(at);
  cst__mlmd_node of = {.kind = CST_LINEAGE_OF_CONTEXTS,
                       .id = sqlite3_column_int64(row, 0),
                       .created = sqlite3_column_int64(row, 3),
                       .has_name = true};
  of.updated = of.created;
  of.type = cst__mlmd_write_type(at, of.kind, cst__lineage_text(row, 1));
  cst__text_puts(&at->name, cst__lineage_text(row, 2));
  cst__mlmd_put_number(&at->own, "created", of.created);
  CST__TRY(cst__mlmd_write_node(at, &of, error));
  return cst__mlmd_write_own(at, &of, error);
}

cst_status cst__mlmd_write_member(cst__mlmd_export *at, sqlite3_stmt *row, cst_error *error) {
  const int64_t kind = sqlite3_column_int64(row, 1);
  if (kind < CST_LINEAGE_OF_ARTIFACTS || kind > CST_LINEAGE_OF_CONTEXTS) {
    return cst__fail(error, CST_CORRUPT, NULL,
                     "context %" PRId64 " has a member of the kind %" PRId64,
                     (int64_t)sqlite3_column_int64(row, 0), kind);
  }
  cst__mlmd_rows *add = &at->write.add_member[kind];
  (void)sqlite3_bind_int64(add->statement, 1, sqlite3_column_int64(row, 0));
  (void)sqlite3_bind_int64(add->statement, 2, sqlite3_column_int64(row, 2));
  at->num_members++;
  return cst__mlmd_step(add, NULL, error);
}
