/* Adding artifacts, and finding them by what they are called. */
#include "lineage/artifacts.h"

#include <columnstone/query.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/utf8.h"
#include "lineage/files.h"
#include "lineage/properties.h"

enum { MOST_NAME = 250, MOST_FILES = 1 << 20, MOST_REFERENCES = 1 << 20 };

const char *cst__lineage_state_name(cst_lineage_state state) {
  static const char *const names[] = {"live", "pending", "marked", "deleted", "abandoned"};
  return (unsigned)state <= CST_LINEAGE_ABANDONED ? names[state] : "unknown";
}

/* ---- types ---- */

static int64_t recall_type(const cst_lineage *store, cst_lineage_kind kind, const char *name) {
  const cst__lineage_types *types = &store->types;
  for (size_t i = 0; i < types->count && i < CST__LINEAGE_KNOWN_TYPES; i++) {
    if (types->known[i].kind == (int)kind && strcmp(types->known[i].name, name) == 0) {
      return types->known[i].id;
    }
  }
  return 0;
}

static void keep_type(cst_lineage *store, cst_lineage_kind kind, const char *name, int64_t id) {
  const size_t place = store->types.count % CST__LINEAGE_KNOWN_TYPES;
  if (strlen(name) < sizeof store->types.known[place].name) {
    store->types.known[place].kind = (int)kind;
    memcpy(store->types.known[place].name, name, strlen(name) + 1);
    store->types.known[place].id = id;
    store->types.count++;
  }
}

static cst_status find_type(cst_lineage *store, cst_lineage_kind kind, const char *name,
                            int64_t *id, cst_error *error) {
  sqlite3_stmt *find, *insert;
  bool is_row;
  CST__TRY(
      cst__lineage_prepare(store, "SELECT id FROM type WHERE kind = ? AND name = ?", &find, error));
  sqlite3_bind_int64(find, 1, kind);
  cst__lineage_bind_text(find, 2, name);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  if (is_row) {
    *id = sqlite3_column_int64(find, 0);
    (void)sqlite3_reset(find);
    return CST_OK;
  }
  CST__TRY(
      cst__lineage_prepare(store, "INSERT INTO type(kind, name) VALUES(?, ?)", &insert, error));
  sqlite3_bind_int64(insert, 1, kind);
  cst__lineage_bind_text(insert, 2, name);
  CST__TRY(cst__lineage_step(store, insert, NULL, error));
  *id = sqlite3_last_insert_rowid(store->db);
  return CST_OK;
}

cst_status cst__lineage_type(cst_lineage *store, cst_lineage_kind kind, const char *name,
                             int64_t *id, cst_error *error) {
  *id = recall_type(store, kind, name);
  if (*id == 0) {
    CST__TRY(find_type(store, kind, name, id, error));
    keep_type(store, kind, name, *id);
  }
  return CST_OK;
}

/* ---- checks ---- */

cst_status cst__lineage_check_type(const char *type, cst_error *error) {
  if (type == NULL || type[0] == '\0') {
    return cst__fail(error, CST_INVALID_ARGUMENT, "use \"Examples\", \"Model\", or your own word",
                     "it has no type");
  }
  return strlen(type) <= MOST_NAME && cst__utf8_valid((const uint8_t *)type, strlen(type))
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a type is UTF-8 of at most %d bytes",
                         MOST_NAME);
}

static bool is_hidden(const char *name) {
  const uint8_t *at = (const uint8_t *)name;
  for (size_t left = strlen(name), size; left > 0; left -= size, at += size) {
    size = cst__utf8_char_size(at, left);
    if (size == 0 || cst__utf8_is_hidden(at, size)) {
      return true;
    }
  }
  return false;
}

cst_status cst__lineage_check_name(const char *name, cst_error *error) {
  if (name == NULL) {
    return CST_OK;
  }
  const char *fault = name[0] == '\0'                              ? "is empty"
                      : strlen(name) > MOST_NAME                   ? "is longer than 250 bytes"
                      : is_hidden(name)                            ? "has control characters"
                      : strpbrk(name, "@#") != NULL                ? "has an @ or #"
                      : strspn(name, "0123456789") == strlen(name) ? "is a number"
                                                                   : NULL;
  return fault == NULL ? CST_OK
                       : cst__fail(error, CST_INVALID_ARGUMENT,
                                   "names are texts without @, # and control characters",
                                   "the name '%.60s' %s", name, fault);
}

static cst_status check_artifact(const cst_lineage_artifact *artifact, cst_error *error) {
  CST__TRY(cst__lineage_check_type(artifact->type, error));
  CST__TRY(cst__lineage_check_name(artifact->name, error));
  CST__TRY(cst__lineage_check_properties(artifact->properties, artifact->num_properties, error));
  if (artifact->state != CST_LINEAGE_LIVE && artifact->state != CST_LINEAGE_PENDING) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a new artifact is live or pending");
  }
  if (artifact->num_files > MOST_FILES || artifact->num_references > MOST_REFERENCES) {
    return cst__fail(error, CST_LIMIT, "name the folder, or split it",
                     "more than %d files or references", MOST_FILES);
  }
  for (size_t i = 0; i < artifact->num_files; i++) {
    if (artifact->files == NULL || artifact->files[i].path == NULL) {
      return cst__missing("files", error);
    }
  }
  for (size_t i = 0; i < artifact->num_references; i++) {
    if (artifact->references == NULL || artifact->references[i].role == NULL ||
        artifact->references[i].role[0] == '\0') {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a reference without a role");
    }
  }
  return CST_OK;
}

cst_status cst__lineage_state(cst_lineage *store, int64_t artifact, cst_lineage_state *out,
                              cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(store, "SELECT state FROM artifact WHERE id = ?", &find, error));
  sqlite3_bind_int64(find, 1, artifact);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  if (!is_row) {
    return cst__fail(error, CST_NOT_FOUND, NULL, "there is no artifact %" PRId64, artifact);
  }
  *out = (cst_lineage_state)sqlite3_column_int64(find, 0);
  (void)sqlite3_reset(find);
  return CST_OK;
}

cst_status cst__lineage_label(cst_lineage *store, int64_t artifact, char label[CST__LINEAGE_LABEL],
                              cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(
      cst__lineage_prepare(store, "SELECT name, version FROM artifact WHERE id = ?", &find, error));
  sqlite3_bind_int64(find, 1, artifact);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  if (is_row && sqlite3_column_type(find, 0) != SQLITE_NULL) {
    (void)snprintf(label, CST__LINEAGE_LABEL, "%.270s@%lld", cst__lineage_text(find, 0),
                   (long long)sqlite3_column_int64(find, 1));
  } else {
    (void)snprintf(label, CST__LINEAGE_LABEL, "%" PRId64, artifact);
  }
  (void)sqlite3_reset(find);
  return CST_OK;
}

cst_status cst__lineage_name(cst_lineage *store, int64_t artifact, char name[CST__LINEAGE_LABEL],
                             bool *is_named, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(store, "SELECT name FROM artifact WHERE id = ?", &find, error));
  sqlite3_bind_int64(find, 1, artifact);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  *is_named = is_row && sqlite3_column_type(find, 0) != SQLITE_NULL;
  (void)snprintf(name, CST__LINEAGE_LABEL, "%.290s", is_row ? cst__lineage_text(find, 0) : "");
  (void)sqlite3_reset(find);
  return CST_OK;
}

cst_status cst__lineage_check_live(cst_lineage *store, int64_t artifact, cst_error *error) {
  cst_lineage_state state = CST_LINEAGE_DELETED;
  CST__TRY(cst__lineage_state(store, artifact, &state, error));
  if (state == CST_LINEAGE_LIVE) {
    return CST_OK;
  }
  char label[CST__LINEAGE_LABEL];
  CST__TRY(cst__lineage_label(store, artifact, label, error));
  return cst__fail(error, CST_STATE, NULL, "artifact %.80s is %s, not live", label,
                   cst__lineage_state_name(state));
}

/* ---- what is there already ---- */

/* Whether a file of an artifact (path, size, modified, digest) is where and what it was. */
static cst_status is_file_intact(cst_lineage *store, sqlite3_stmt *row, bool *out,
                                 cst_error *error) {
  cst__lineage_found now;
  const char *path = cst__lineage_text(row, 0);
  CST__TRY(cst__lineage_look(store, path, false, &now, error));
  *out = now.size == sqlite3_column_int64(row, 1);
  if (!*out || (!now.is_folder && now.modified == sqlite3_column_int64(row, 2))) {
    return CST_OK;
  }
  CST__TRY(cst__lineage_look(store, path, true, &now, error)); /* written again, perhaps the same */
  *out = sqlite3_column_bytes(row, 3) == CST__SHA256_SIZE &&
         memcmp(sqlite3_column_blob(row, 3), now.digest, CST__SHA256_SIZE) == 0;
  return CST_OK;
}

static cst_status is_intact(cst_lineage *store, int64_t artifact, bool *out, cst_error *error) {
  sqlite3_stmt *files;
  bool is_row = true;
  *out = true;
  CST__TRY(cst__lineage_prepare_own(store,
                                    "SELECT path, size, modified, digest FROM artifact_file JOIN "
                                    "file ON file = id WHERE artifact "
                                    "= ? AND size IS NOT NULL",
                                    &files, error));
  sqlite3_bind_int64(files, 1, artifact);
  cst_status status = CST_OK;
  while (*out && (status = cst__lineage_step(store, files, &is_row, error)) == CST_OK && is_row) {
    status = is_file_intact(store, files, out, error);
    if (status != CST_OK) {
      break;
    }
  }
  (void)sqlite3_finalize(files);
  return status;
}

static cst_status has_references(cst_lineage *store, int64_t artifact,
                                 const cst_lineage_reference *references, size_t count, bool *has,
                                 cst_error *error) {
  sqlite3_stmt *find;
  *has = true;
  for (size_t i = 0; i < count && *has; i++) {
    CST__TRY(cst__lineage_prepare(
        store, "SELECT 1 FROM reference WHERE artifact = ? AND role = ? AND target = ?", &find,
        error));
    sqlite3_bind_int64(find, 1, artifact);
    cst__lineage_bind_text(find, 2, references[i].role);
    sqlite3_bind_int64(find, 3, references[i].artifact);
    CST__TRY(cst__lineage_step(store, find, has, error));
    (void)sqlite3_reset(find);
  }
  return CST_OK;
}

static cst_status is_same(cst_lineage *store, int64_t id, const cst_lineage_artifact *artifact,
                          bool *same, cst_error *error) {
  CST__TRY(cst__lineage_has_properties(store, id, artifact->properties, artifact->num_properties,
                                       same, error));
  if (*same) {
    CST__TRY(
        has_references(store, id, artifact->references, artifact->num_references, same, error));
  }
  return *same ? is_intact(store, id, same, error) : CST_OK;
}

/* A live artifact that says the same; *id 0: there is none. */
static cst_status find_same(cst_lineage *store, const cst_lineage_artifact *artifact,
                            const cst__lineage_found_list *files, int64_t *id, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row = true;
  *id = 0;
  CST__TRY(cst__lineage_prepare_own(
      store,
      "SELECT id FROM artifact WHERE digest = ? AND type = (SELECT id FROM type WHERE kind = 0 AND "
      "name = ?) AND state = 0 AND (?3 IS NULL OR name "
      "= ?3) ORDER BY id DESC",
      &find, error));
  sqlite3_bind_blob(find, 1, files->digest, sizeof files->digest, SQLITE_STATIC);
  cst__lineage_bind_text(find, 2, artifact->type);
  cst__lineage_bind_text(find, 3, artifact->name);
  cst_status status = CST_OK;
  while (*id == 0 && (status = cst__lineage_step(store, find, &is_row, error)) == CST_OK &&
         is_row) {
    bool same;
    const int64_t candidate = sqlite3_column_int64(find, 0);
    status = is_same(store, candidate, artifact, &same, error);
    if (status != CST_OK) {
      break;
    }
    *id = same ? candidate : 0;
  }
  (void)sqlite3_finalize(find);
  return status;
}

/* ---- writing one down ---- */

/* The next version of a name, which belongs to this type alone. */
static cst_status next_version(cst_lineage *store, const char *type, const char *name,
                               int64_t *version, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(
      store,
      "SELECT version, y.name = ?2 FROM artifact a JOIN type y ON y.id = a.type WHERE a.name = ?1 "
      "ORDER BY version DESC LIMIT 1",
      &find, error));
  cst__lineage_bind_text(find, 1, name);
  cst__lineage_bind_text(find, 2, type);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  *version = is_row ? sqlite3_column_int64(find, 0) + 1 : 1;
  const bool is_of_type = !is_row || sqlite3_column_int(find, 1) == 1;
  (void)sqlite3_reset(find);
  return is_of_type ? CST_OK
                    : cst__fail(error, CST_INVALID_ARGUMENT, "use another name",
                                "'%.80s' is the name of artifacts of another type", name);
}

static cst_status write_artifact(cst_lineage *store, const cst_lineage_artifact *artifact,
                                 const cst__lineage_found_list *files, int64_t *id,
                                 cst_error *error) {
  sqlite3_stmt *insert;
  int64_t type;
  const int64_t now = cst__lineage_now();
  int64_t version = 0;
  if (artifact->name != NULL) {
    CST__TRY(next_version(store, artifact->type, artifact->name, &version, error));
  }
  CST__TRY(cst__lineage_type(store, CST_LINEAGE_OF_ARTIFACTS, artifact->type, &type, error));
  CST__TRY(cst__lineage_prepare(
      store,
      "INSERT INTO artifact(type, name, version, state, digest, is_external, created, updated) "
      "VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
      &insert, error));
  sqlite3_bind_int64(insert, 1, type);
  cst__lineage_bind_text(insert, 2, artifact->name);
  if (artifact->name != NULL) {
    sqlite3_bind_int64(insert, 3, version);
  }
  sqlite3_bind_int64(insert, 4, artifact->state);
  if (files->has_digest) {
    sqlite3_bind_blob(insert, 5, files->digest, sizeof files->digest, SQLITE_STATIC);
  }
  sqlite3_bind_int64(insert, 6, artifact->is_external);
  sqlite3_bind_int64(insert, 7, artifact->created != 0 ? artifact->created : now);
  sqlite3_bind_int64(insert, 8, now);
  CST__TRY(cst__lineage_step(store, insert, NULL, error));
  *id = sqlite3_last_insert_rowid(store->db);
  return CST_OK;
}

cst_status cst__lineage_copy(cst_lineage *store, int64_t examples, const char *name, int64_t *id,
                             cst_error *error) {
  sqlite3_stmt *insert;
  int64_t version = 0;
  if (name != NULL) {
    CST__TRY(next_version(store, "Examples", name, &version, error));
  }
  CST__TRY(cst__lineage_prepare(
      store,
      "INSERT INTO artifact(type, name, version, state, digest, is_external, created, updated) "
      "SELECT type, ?2, ?3, 0, digest, is_external, ?4, ?4 FROM artifact WHERE id = ?1",
      &insert, error));
  sqlite3_bind_int64(insert, 1, examples);
  cst__lineage_bind_text(insert, 2, name);
  if (name != NULL) {
    sqlite3_bind_int64(insert, 3, version);
  }
  sqlite3_bind_int64(insert, 4, cst__lineage_now());
  CST__TRY(cst__lineage_step(store, insert, NULL, error));
  *id = sqlite3_last_insert_rowid(store->db);
  return CST_OK;
}

/* Most files are new ones: so it is tried first to insert them. */
cst_status cst__lineage_file_id(cst_lineage *store, const char *path, int64_t *id,
                                cst_error *error) {
  sqlite3_stmt *find, *insert;
  bool is_row;
  CST__TRY(
      cst__lineage_prepare(store, "INSERT OR IGNORE INTO file(path) VALUES(?)", &insert, error));
  (void)sqlite3_bind_blob(insert, 1, path, (int)strlen(path), SQLITE_STATIC);
  CST__TRY(cst__lineage_step(store, insert, NULL, error));
  *id = sqlite3_last_insert_rowid(store->db);
  if (sqlite3_changes(store->db) > 0) {
    return CST_OK;
  }
  CST__TRY(cst__lineage_prepare(store, "SELECT id FROM file WHERE path = ?", &find, error));
  (void)sqlite3_bind_blob(find, 1, path, (int)strlen(path), SQLITE_STATIC);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  *id = is_row ? sqlite3_column_int64(find, 0) : 0;
  (void)sqlite3_reset(find);
  return CST_OK;
}

static cst_status write_file(cst_lineage *store, int64_t artifact, size_t position,
                             const cst_lineage_file *file, const cst__lineage_found *found,
                             cst_error *error) {
  sqlite3_stmt *insert;
  int64_t id;
  CST__TRY(cst__lineage_file_id(store, found->path, &id, error));
  CST__TRY(cst__lineage_prepare(store, "INSERT INTO artifact_file VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                                &insert, error));
  sqlite3_bind_int64(insert, 1, artifact);
  sqlite3_bind_int64(insert, 2, (int64_t)position);
  sqlite3_bind_int64(insert, 3, id);
  cst__lineage_bind_text(insert, 4, file->split);
  cst__lineage_bind_text(insert, 5, file->role);
  if (found->size >= 0) {
    sqlite3_bind_int64(insert, 6, found->size);
    if (!found->is_folder) {
      sqlite3_bind_int64(insert, 7, found->modified);
    }
  }
  if (found->has_digest) {
    sqlite3_bind_blob(insert, 8, found->digest, sizeof found->digest, SQLITE_STATIC);
  }
  return cst__lineage_step(store, insert, NULL, error);
}

cst_status cst__lineage_refer(cst_lineage *store, int64_t id,
                              const cst_lineage_reference *references, size_t count,
                              cst_error *error) {
  sqlite3_stmt *insert;
  for (size_t i = 0; i < count; i++) {
    CST__TRY(cst__lineage_prepare(store, "INSERT OR IGNORE INTO reference VALUES(?, ?, ?)", &insert,
                                  error));
    sqlite3_bind_int64(insert, 1, id);
    cst__lineage_bind_text(insert, 2, references[i].role);
    sqlite3_bind_int64(insert, 3, references[i].artifact);
    CST__TRY(cst__lineage_step(store, insert, NULL, error));
  }
  return CST_OK;
}

/* ---- views ---- */

static cst_status write_fields(cst_lineage *store, int64_t id, const cst_view *view,
                               cst_error *error) {
  sqlite3_stmt *insert;
  for (size_t i = 0; i < cst_view_num_outputs(view); i++) {
    const char *const *paths;
    size_t count;
    const char *output = cst_view_output(view, i);
    CST__TRY(cst_view_source_paths(view, output, &paths, &count, error));
    for (size_t k = 0; k < count; k++) {
      CST__TRY(cst__lineage_prepare(store, "INSERT OR IGNORE INTO field VALUES(?, ?, ?)", &insert,
                                    error));
      sqlite3_bind_int64(insert, 1, id);
      cst__lineage_bind_text(insert, 2, output);
      cst__lineage_bind_text(insert, 3, paths[k]);
      CST__TRY(cst__lineage_step(store, insert, NULL, error));
    }
  }
  return CST_OK;
}

/* What a view says of itself, beside the caller's properties. */
static cst_status write_view(cst_lineage *store, int64_t id, const cst_view *view,
                             cst_error *error) {
  const char *message = cst_view_message(view);
  const cst_lineage_property facts[] = {
      cst__lineage_text_of("input", cst_view_input(view)),
      cst__lineage_text_of("message", message != NULL ? message : "")};
  CST__TRY(
      cst__lineage_set(store, CST_LINEAGE_OF_ARTIFACTS, id, facts, message != NULL ? 2 : 1, error));
  return write_fields(store, id, view, error);
}

static uint8_t hex_value(char c) { return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10); }

/* Opens the view of a DataView, whose digest it is known by. */
static cst_status open_view(const cst_lineage_artifact *artifact, cst__lineage_found_list *files,
                            cst_error *error) {
  if (strcmp(artifact->type, "DataView") != 0 || files->count == 0 || files->items[0].size < 0) {
    return CST_OK;
  }
  if (files->count != 1 || files->items[0].is_folder) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "`columnstone view build` makes it",
                     "a DataView is one file, a saved view (.cstv)");
  }
  CST__TRY(cst_view_open(artifact->files[0].path, NULL, &files->view, error));
  const char *hex = cst_view_digest(files->view);
  if (hex == NULL) {
    return cst__fail_memory(error, CST__SHA256_HEX);
  }
  for (size_t i = 0; i < CST__SHA256_SIZE; i++) {
    files->digest[i] = (uint8_t)(hex_value(hex[2 * i]) << 4 | hex_value(hex[2 * i + 1]));
  }
  files->has_digest = true;
  return CST_OK;
}

/* ---- adding ---- */

static cst_status insert_artifact(cst_lineage *store, const cst_lineage_artifact *artifact,
                                  const cst__lineage_found_list *files, int64_t *id, bool *is_new,
                                  cst_error *error) {
  for (size_t i = 0; i < artifact->num_references; i++) {
    CST__TRY(cst__lineage_check_live(store, artifact->references[i].artifact, error));
  }
  for (size_t i = 0; i < files->count; i++) {
    CST__TRY(cst__lineage_check_file(store, &files->items[i], error));
  }
  *is_new = true;
  if (files->has_digest &&
      (artifact->reuses || files->view != NULL || strcmp(artifact->type, "Schema") == 0)) {
    CST__TRY(find_same(store, artifact, files, id, error));
    *is_new = *id == 0;
  }
  if (!*is_new) {
    return CST_OK;
  }
  CST__TRY(write_artifact(store, artifact, files, id, error));
  for (size_t i = 0; i < files->count; i++) {
    CST__TRY(write_file(store, *id, i, &artifact->files[i], &files->items[i], error));
  }
  CST__TRY(cst__lineage_set(store, CST_LINEAGE_OF_ARTIFACTS, *id, artifact->properties,
                            artifact->num_properties, error));
  CST__TRY(cst__lineage_refer(store, *id, artifact->references, artifact->num_references, error));
  return files->view != NULL ? write_view(store, *id, files->view, error) : CST_OK;
}

cst_status cst_lineage_add(cst_lineage *store, const cst_lineage_artifact *artifact, int64_t *id,
                           bool *is_new, cst_error *error) {
  cst_lineage_artifact own = CST_LINEAGE_ARTIFACT_INIT;
  cst__lineage_found_list files;
  bool ignored;
  CST__CLEAR(id);
  CST__TRY(cst__check_given(store, "store", id, error));
  CST__TRY(cst__check_given(artifact, "artifact", id, error));
  CST__TRY(cst__read_options(&own, sizeof own, artifact, error));
  CST__TRY(check_artifact(&own, error));
  CST__TRY(cst__lineage_check_usable(store, error));
  CST__TRY(cst__lineage_find_files(store, &own, &files, error));
  cst_status status = open_view(&own, &files, error);
  if (status == CST_OK) {
    status = cst__lineage_enter(store, CST__LINEAGE_WRITES, error);
  }
  if (status == CST_OK) {
    status = insert_artifact(store, &own, &files, id, is_new != NULL ? is_new : &ignored, error);
    status = cst__lineage_leave(store, status, error);
  }
  if (status != CST_OK) {
    *id = 0;
  }
  cst__lineage_found_reset(&files);
  return status;
}

/* ---- looking one up ---- */

static cst_status fail_unknown_name(cst_lineage *store, const char *name, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(store, "SELECT 1 FROM artifact WHERE name = ?", &find, error));
  cst__lineage_bind_text(find, 1, name);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  (void)sqlite3_reset(find);
  return is_row
             ? cst__fail(error, CST_NOT_FOUND, "`columnstone lineage ls --all` lists its versions",
                         "no version of '%.80s' is live", name)
             : cst__fail(error, CST_NOT_FOUND, "`columnstone lineage ls` lists all artifacts",
                         "there is no artifact '%.80s'", name);
}

static cst_status find_version(cst_lineage *store, const char *name, int64_t version, int64_t *id,
                               cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(store, "SELECT id FROM artifact WHERE name = ? AND version = ?",
                                &find, error));
  cst__lineage_bind_text(find, 1, name);
  sqlite3_bind_int64(find, 2, version);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  *id = is_row ? sqlite3_column_int64(find, 0) : 0;
  (void)sqlite3_reset(find);
  return is_row ? CST_OK
                : cst__fail(error, CST_NOT_FOUND, "`columnstone lineage ls` lists all artifacts",
                            "there is no artifact '%.80s@%" PRId64 "'", name, version);
}

static cst_status find_newest(cst_lineage *store, const char *name, int64_t *id, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(
      store, "SELECT id FROM artifact WHERE name = ? AND state = 0 ORDER BY version DESC LIMIT 1",
      &find, error));
  cst__lineage_bind_text(find, 1, name);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  *id = is_row ? sqlite3_column_int64(find, 0) : 0;
  (void)sqlite3_reset(find);
  return is_row ? CST_OK : fail_unknown_name(store, name, error);
}

static bool parse_number(const char *text, int64_t *out) {
  char *end;
  if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text)) {
    return false;
  }
  errno = 0;
  *out = strtoll(text, &end, 10);
  return errno == 0;
}

static cst_status look_up(cst_lineage *store, const char *reference, int64_t *id,
                          cst_error *error) {
  char name[MOST_NAME + 1];
  int64_t number;
  cst_lineage_state state = CST_LINEAGE_DELETED;
  if (parse_number(reference, &number)) {
    CST__TRY(cst__lineage_state(store, number, &state, error));
    *id = number;
    return CST_OK;
  }
  const char *at = strrchr(reference, '@');
  const size_t size = at != NULL ? (size_t)(at - reference) : strlen(reference);
  if (size > MOST_NAME || size == 0 || (at != NULL && !parse_number(at + 1, &number))) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "as in sessions@4, sessions, or 17",
                     "'%.80s' does not refer to an artifact", reference);
  }
  memcpy(name, reference, size);
  name[size] = '\0';
  return at != NULL ? find_version(store, name, number, id, error)
                    : find_newest(store, name, id, error);
}

cst_status cst_lineage_lookup(cst_lineage *store, const char *reference, int64_t *id,
                              cst_error *error) {
  CST__CLEAR(id);
  CST__TRY(cst__check_given(store, "store", id, error));
  CST__TRY(cst__check_given(reference, "reference", id, error));
  CST__TRY(cst__lineage_enter(store, CST__LINEAGE_READS, error));
  cst_status status = cst__lineage_leave(store, look_up(store, reference, id, error), error);
  *id = status == CST_OK ? *id : 0;
  return status;
}
