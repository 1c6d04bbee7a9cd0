/* Artifacts of MLMD on their way in. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "lineage/artifacts.h"
#include "lineage/mlmd/mlmd_read.h"
#include "lineage/mlmd/mlmd_tables.h"

enum { EXTERNAL_ID = 3, CREATED, UPDATED, STATE, URI };

/* An artifact as it will stand in our table. */
typedef struct artifact {
  int64_t type;
  const char *name;
  int64_t version;
  bool has_digest;
  uint8_t digest[CST__SHA256_SIZE];
  bool is_external;
  int64_t created;
  int64_t updated;
} artifact;

/* ---- what was imported before ---- */

cst_status cst__mlmd_find_ours(cst__mlmd_import *at, cst_lineage_kind kind, int64_t theirs,
                               int64_t *ours, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  *ours = 0;
  CST__TRY(cst__lineage_prepare(
      at->store, "SELECT ours FROM origin WHERE source = ? AND kind = ? AND theirs = ?", &find,
      error));
  cst__lineage_bind_text(find, 1, at->source);
  (void)sqlite3_bind_int(find, 2, (int)kind);
  (void)sqlite3_bind_int64(find, 3, theirs);
  CST__TRY(cst__lineage_step(at->store, find, &is_row, error));
  if (is_row) {
    *ours = sqlite3_column_int64(find, 0);
    (void)sqlite3_reset(find);
  }
  return CST_OK;
}

cst_status cst__mlmd_remember(cst__mlmd_import *at, cst_lineage_kind kind, int64_t theirs,
                              int64_t ours, cst_error *error) {
  sqlite3_stmt *insert;
  CST__TRY(
      cst__lineage_prepare(at->store, "INSERT INTO origin VALUES(?, ?, ?, ?)", &insert, error));
  cst__lineage_bind_text(insert, 1, at->source);
  (void)sqlite3_bind_int(insert, 2, (int)kind);
  (void)sqlite3_bind_int64(insert, 3, theirs);
  (void)sqlite3_bind_int64(insert, 4, ours);
  at->counts.things[kind]++;
  return cst__lineage_step(at->store, insert, NULL, error);
}

cst_status cst__mlmd_check_same(const cst__mlmd_import *at, const cst__mlmd_thing *thing,
                                int64_t created, cst_error *error) {
  if (cst__mlmd_ms(created) == cst__mlmd_ms(thing->created)) {
    return CST_OK;
  }
  cst_status status =
      cst__fail(error, CST_STATE, "give the new store another path",
                "%s %" PRId64 " is not the one that was imported from this path before: this is"
                " another store",
                cst__mlmd_kind(thing->kind), thing->id);
  cst__error_add_file(error, at->source);
  return status;
}

/* An artifact of before: what became of it there. Files that are ours are not theirs to judge. */
static cst_status update(cst__mlmd_import *at, const cst__mlmd_thing *thing, int64_t ours,
                         cst_error *error) {
  sqlite3_stmt *find, *set;
  bool is_row;
  CST__TRY(cst__lineage_prepare(
      at->store, "SELECT created, state, is_external FROM artifact WHERE id = ?", &find, error));
  (void)sqlite3_bind_int64(find, 1, ours);
  CST__TRY(cst__lineage_step(at->store, find, &is_row, error));
  if (!is_row) {
    return CST_OK;
  }
  const int64_t created = sqlite3_column_int64(find, 0);
  const int64_t state = sqlite3_column_int64(find, 1);
  const bool is_external = sqlite3_column_int(find, 2) != 0;
  (void)sqlite3_reset(find);
  CST__TRY(cst__mlmd_check_same(at, thing, created, error));
  const bool is_open = state == CST_LINEAGE_LIVE || state == CST_LINEAGE_PENDING;
  if (!is_external || !is_open || thing->state == state || thing->state == CST_LINEAGE_PENDING) {
    return CST_OK;
  }
  CST__TRY(cst__lineage_prepare(
      at->store, "UPDATE artifact SET state = ?, updated = ? WHERE id = ?", &set, error));
  (void)sqlite3_bind_int64(set, 1, thing->state);
  (void)sqlite3_bind_int64(set, 2, thing->updated);
  (void)sqlite3_bind_int64(set, 3, ours);
  at->counts.updated++;
  return cst__lineage_step(at->store, set, NULL, error);
}

/* ---- names ---- */

/* The newest version of a name, and its type. */
static cst_status newest(cst_lineage *store, const char *name, int64_t *version, int64_t *type,
                         bool *is_there, cst_error *error) {
  sqlite3_stmt *find;
  CST__TRY(cst__lineage_prepare(
      store, "SELECT version, type FROM artifact WHERE name = ? ORDER BY version DESC LIMIT 1",
      &find, error));
  cst__lineage_bind_text(find, 1, name);
  CST__TRY(cst__lineage_step(store, find, is_there, error));
  *version = *is_there ? sqlite3_column_int64(find, 0) : 0;
  *type = *is_there ? sqlite3_column_int64(find, 1) : 0;
  (void)sqlite3_reset(find);
  return CST_OK;
}

static cst_status is_taken(cst_lineage *store, const char *name, int64_t version, bool *out,
                           cst_error *error) {
  sqlite3_stmt *find;
  CST__TRY(cst__lineage_prepare(store, "SELECT 1 FROM artifact WHERE name = ? AND version = ?",
                                &find, error));
  cst__lineage_bind_text(find, 1, name);
  (void)sqlite3_bind_int64(find, 2, version);
  CST__TRY(cst__lineage_step(store, find, out, error));
  (void)sqlite3_reset(find);
  return CST_OK;
}

/* The name, if it can be one of ours and is not that of another type, with the version that it had
 * or the next one. Else it is a property. */
static cst_status choose_name(cst__mlmd_import *at, const cst__mlmd_thing *thing, int64_t version,
                              artifact *out, cst_error *error) {
  enum { MOST_VERSION = 1 << 30 };
  int64_t last, type;
  bool is_there, is_old;
  if (thing->name == NULL || thing->name[0] == '\0') {
    return CST_OK;
  }
  if (cst__lineage_check_name(thing->name, NULL) == CST_OK) {
    CST__TRY(newest(at->store, thing->name, &last, &type, &is_there, error));
    CST__TRY(is_taken(at->store, thing->name, version, &is_old, error));
    if ((!is_there || type == out->type) && last < MOST_VERSION) {
      out->name = thing->name;
      out->version = version >= 1 && version < MOST_VERSION && !is_old ? version : last + 1;
      return CST_OK;
    }
  }
  return cst__mlmd_add_text(at, CST__MLMD_NAME, thing->name, error);
}

/* ---- rows ---- */

static cst_status read_own(cst__mlmd_import *at, const cst__mlmd_member *of, cst__mlmd_thing *thing,
                           artifact *out, int64_t *version, cst_error *error) {
  const char *digest = NULL;
  int64_t created = thing->created;
  int64_t updated = thing->updated;
  if (thing->own == NULL) {
    return CST_OK;
  }
  const char *there = thing->name;
  thing->name = NULL;
  out->is_external = false;
  CST__TRY(cst__mlmd_own_text(of, "type", &thing->type, error));
  CST__TRY(cst__mlmd_own_text(of, "name", &thing->name, error));
  CST__TRY(cst__mlmd_own_number(of, "version", version, error));
  CST__TRY(cst__mlmd_own_text(of, "digest", &digest, error));
  CST__TRY(cst__mlmd_own_bool(of, "is_external", &out->is_external, error));
  CST__TRY(cst__mlmd_own_number(of, "created", &created, error));
  CST__TRY(cst__mlmd_own_number(of, "updated", &updated, error));
  if (digest != NULL && !cst__mlmd_hex(digest, out->digest, sizeof out->digest)) {
    return cst__mlmd_own_fail(of, "digest", "a SHA-256", error);
  }
  out->has_digest = digest != NULL;
  /* To the microsecond, as long as nobody has changed it there. */
  out->created = cst__mlmd_ms(created) == cst__mlmd_ms(thing->created) ? created : thing->created;
  out->updated = cst__mlmd_ms(updated) == cst__mlmd_ms(thing->updated) ? updated : thing->updated;
  CST__TRY(cst__mlmd_own_properties(at, of, error));
  return thing->name == NULL && there != NULL ? cst__mlmd_add_text(at, CST__MLMD_NAME, there, error)
                                              : CST_OK;
}

static cst_status insert(cst__mlmd_import *at, const cst__mlmd_thing *thing, const artifact *a,
                         int64_t *ours, cst_error *error) {
  sqlite3_stmt *add;
  CST__TRY(cst__lineage_prepare(at->store, "INSERT INTO artifact VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                &add, error));
  if (at->keeps_ids[CST_LINEAGE_OF_ARTIFACTS]) {
    (void)sqlite3_bind_int64(add, 1, thing->id);
  }
  (void)sqlite3_bind_int64(add, 2, a->type);
  cst__lineage_bind_text(add, 3, a->name);
  if (a->name != NULL) {
    (void)sqlite3_bind_int64(add, 4, a->version);
  }
  (void)sqlite3_bind_int64(add, 5, thing->state);
  if (a->has_digest) {
    (void)sqlite3_bind_blob(add, 6, a->digest, sizeof a->digest, SQLITE_STATIC);
  }
  (void)sqlite3_bind_int(add, 7, a->is_external);
  (void)sqlite3_bind_int64(add, 8, a->created);
  (void)sqlite3_bind_int64(add, 9, a->updated);
  CST__TRY(cst__lineage_step(at->store, add, NULL, error));
  *ours = sqlite3_last_insert_rowid(at->store->db);
  return CST_OK;
}

/* ---- references and fields ---- */

static cst_status pend(cst__mlmd_import *at, const cst__mlmd_pending *pending, cst_error *error) {
  if (!cst__grow(&at->store->allocator, (void **)&at->pending, &at->pending_capacity,
                 at->num_pending + 1, sizeof *at->pending)) {
    return cst__fail_memory(error, (at->num_pending + 1) * sizeof *at->pending);
  }
  cst__mlmd_pending *own = &at->pending[at->num_pending];
  *own = *pending;
  CST__TRY(cst__mlmd_keep(&at->kept, pending->role, &own->role, error));
  CST__TRY(cst__mlmd_keep(&at->kept, pending->uri, &own->uri, error));
  CST__TRY(cst__mlmd_keep(&at->kept, pending->created, &own->created, error));
  at->num_pending++;
  return CST_OK;
}

/* [["role", number], ...] */
static cst_status pend_own(cst__mlmd_import *at, const cst__mlmd_member *of, int64_t ours,
                           cst_error *error) {
  yyjson_val *list, *item;
  size_t i, count;
  CST__TRY(cst__mlmd_own_list(of, "references", &list, error));
  yyjson_arr_foreach(list, i, count, item) {
    const char *role = cst__mlmd_json_text(yyjson_arr_get(item, 0));
    yyjson_val *target = yyjson_arr_get(item, 1);
    if (role == NULL || role[0] == '\0' || !yyjson_is_int(target) || yyjson_get_sint(target) <= 0) {
      return cst__mlmd_own_fail(of, "references", "a list of [role, artifact]", error);
    }
    const cst__mlmd_pending pending = {of->thing->id,           ours, role,
                                       yyjson_get_sint(target), NULL, NULL};
    CST__TRY(pend(at, &pending, error));
  }
  return CST_OK;
}

/* What TFX's binder says: the view's URI, and when it was made, or which it is. */
static cst_status pend_view(cst__mlmd_import *at, const cst__mlmd_thing *thing, int64_t ours,
                            cst_error *error) {
  const char *uri = cst__mlmd_text_property(at, "data_view_uri");
  const char *created = cst__mlmd_text_property(at, "data_view_create_time_since_epoch");
  const cst_lineage_property *id = cst__mlmd_property(at, "data_view_id");
  if (uri == NULL || strcmp(thing->type, "Examples") != 0) {
    return CST_OK;
  }
  const cst__mlmd_pending pending = {
      thing->id, ours,   "view", id != NULL && id->kind == CST_LINEAGE_INT ? id->number : 0,
      uri,       created};
  return pend(at, &pending, error);
}

static cst_status read_fields(cst__mlmd_import *at, const cst__mlmd_member *of, int64_t ours,
                              cst_error *error) {
  sqlite3_stmt *add;
  yyjson_val *list, *item;
  size_t i, count;
  CST__TRY(cst__mlmd_own_list(of, "fields", &list, error));
  yyjson_arr_foreach(list, i, count, item) {
    const char *output = cst__mlmd_json_text(yyjson_arr_get(item, 0));
    const char *path = cst__mlmd_json_text(yyjson_arr_get(item, 1));
    if (output == NULL || path == NULL) {
      return cst__mlmd_own_fail(of, "fields", "a list of [output, path]", error);
    }
    CST__TRY(cst__lineage_prepare(at->store, "INSERT OR IGNORE INTO field VALUES(?, ?, ?)", &add,
                                  error));
    (void)sqlite3_bind_int64(add, 1, ours);
    cst__lineage_bind_text(add, 2, output);
    cst__lineage_bind_text(add, 3, path);
    CST__TRY(cst__lineage_step(at->store, add, NULL, error));
  }
  return CST_OK;
}

/* The DataView of theirs that is meant; 0: none, or several are. */
static cst_status find_view(cst__mlmd_import *at, const cst__mlmd_pending *pending, int64_t *out,
                            cst_error *error) {
  cst__mlmd_rows rows;
  bool is_row = true;
  int64_t found[3] = {0}; /* by number, or by URI and time */
  *out = 0;
  CST__TRY(cst__mlmd_prepare(
      &at->from, "artifact",
      "SELECT a.id FROM Artifact a JOIN Type t ON t.id = a.type_id AND t.type_kind = 1"
      " WHERE t.name = 'DataView' AND a.uri = ?1"
      " AND (?2 IS NULL OR a.create_time_since_epoch = CAST(?2 AS INTEGER))"
      " ORDER BY a.id = ?3 DESC LIMIT 2",
      &rows, error));
  (void)sqlite3_bind_text(rows.statement, 1, pending->uri, -1, SQLITE_STATIC);
  (void)sqlite3_bind_text(rows.statement, 2, pending->created, -1, SQLITE_STATIC);
  (void)sqlite3_bind_int64(rows.statement, 3, pending->target);
  cst_status status = CST_OK;
  for (int i = 0; i < 2 && (status = cst__mlmd_step(&rows, &is_row, error)) == CST_OK && is_row;
       i++) {
    status = cst__mlmd_number(&rows, 0, &found[i], error);
    if (status != CST_OK) {
      break;
    }
  }
  cst__mlmd_end(&rows);
  *out = found[0] == pending->target || found[1] == 0 ? found[0] : 0;
  return status;
}

static cst_status refer(cst__mlmd_import *at, const cst__mlmd_pending *pending, cst_error *error) {
  int64_t theirs = pending->target;
  int64_t target = 0;
  if (pending->uri != NULL) {
    CST__TRY(find_view(at, pending, &theirs, error));
  }
  if (theirs != 0) {
    CST__TRY(cst__mlmd_find_ours(at, CST_LINEAGE_OF_ARTIFACTS, theirs, &target, error));
  }
  if (target == 0) {
    if (pending->uri != NULL) {
      return CST_OK;
    }
    cst_status status = cst__fail(error, CST_CORRUPT, "restore a copy of it",
                                  "artifact %" PRId64 " refers to the artifact %" PRId64
                                  " (%.60s), which is not there",
                                  pending->theirs, theirs, pending->role);
    cst__error_add_file(error, at->from.name);
    return status;
  }
  const cst_lineage_reference reference = {pending->role, target};
  return cst__lineage_refer(at->store, pending->ours, &reference, 1, error);
}

cst_status cst__mlmd_read_references(cst__mlmd_import *at, cst_error *error) {
  for (size_t i = 0; i < at->num_pending; i++) {
    CST__TRY(refer(at, &at->pending[i], error));
  }
  return CST_OK;
}

/* ---- an artifact ---- */

cst_status cst__mlmd_read_artifact(cst__mlmd_import *at, const cst__mlmd_rows *row,
                                   cst__mlmd_thing *thing, cst_error *error) {
  const cst__mlmd_member of = {row, thing};
  artifact a = {.is_external = true, .created = thing->created, .updated = thing->updated};
  int64_t ours, version = 0;
  const char *uri;
  CST__TRY(cst__mlmd_find_ours(at, thing->kind, thing->id, &ours, error));
  if (ours != 0) {
    return update(at, thing, ours, error);
  }
  CST__TRY(cst__mlmd_text(row, URI, &uri, error));
  CST__TRY(cst__mlmd_read_properties(at, thing, error));
  CST__TRY(read_own(at, &of, thing, &a, &version, error));
  if (cst__lineage_check_type(thing->type, NULL) != CST_OK) {
    return cst__mlmd_fail_row(row, error, "its type has a name that is empty or too long");
  }
  CST__TRY(cst__lineage_type(at->store, thing->kind, thing->type, &a.type, error));
  CST__TRY(choose_name(at, thing, version, &a, error));
  CST__TRY(insert(at, thing, &a, &ours, error));
  CST__TRY(cst__mlmd_remember(at, thing->kind, thing->id, ours, error));
  if (thing->own != NULL) { /* as long as its JSON is the one that was parsed last */
    CST__TRY(pend_own(at, &of, ours, error));
    CST__TRY(read_fields(at, &of, ours, error));
  } else {
    CST__TRY(pend_view(at, thing, ours, error));
  }
  CST__TRY(cst__mlmd_set_properties(at, row, thing, ours, error));
  return cst__mlmd_read_files(at, &of, uri, ours, error);
}
