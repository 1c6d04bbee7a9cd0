/* The files of an artifact of MLMD: as we wrote them, or what its URI says. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sha256.h"
#include "io/url.h"
#include "lineage/artifacts.h"
#include "lineage/mlmd/mlmd_read.h"
#include "lineage/store_paths.h"
#include "text/base64.h"

typedef struct file {
  const char *path;
  const char *split;
  const char *role;
  int64_t size;     /* -1: unknown */
  int64_t modified; /* INT64_MIN: unknown */
  bool has_digest;
  uint8_t digest[CST__SHA256_SIZE];
} file;

static const file unknown = {.size = -1, .modified = INT64_MIN};

/* Where nobody may look, the path stands as it is. */
static cst_status stored_path(cst__mlmd_import *at, const cst__mlmd_member *of, const char *path,
                              char **out, cst_error *error) {
  cst_error inner = CST_ERROR_INIT;
  cst_status status = cst__lineage_path_in(at->store, path, true, out, &inner);
  if (status == CST_OK || status == CST_NO_MEMORY) {
    return status == CST_OK ? CST_OK : cst__fail_memory(error, 0);
  }
  return cst__mlmd_fail_row(of->row, error, "its file '%.200s': %s", path, inner.message);
}

static cst_status write_file(cst__mlmd_import *at, int64_t artifact, int64_t position,
                             const char *path, const file *f, cst_error *error) {
  sqlite3_stmt *insert;
  int64_t id;
  CST__TRY(cst__lineage_file_id(at->store, path, &id, error));
  CST__TRY(cst__lineage_prepare(
      at->store, "INSERT INTO artifact_file VALUES(?, ?, ?, ?, ?, ?, ?, ?)", &insert, error));
  (void)sqlite3_bind_int64(insert, 1, artifact);
  (void)sqlite3_bind_int64(insert, 2, position);
  (void)sqlite3_bind_int64(insert, 3, id);
  cst__lineage_bind_text(insert, 4, f->split);
  cst__lineage_bind_text(insert, 5, f->role);
  if (f->size >= 0) {
    (void)sqlite3_bind_int64(insert, 6, f->size);
  }
  if (f->modified != INT64_MIN) {
    (void)sqlite3_bind_int64(insert, 7, f->modified);
  }
  if (f->has_digest) {
    (void)sqlite3_bind_blob(insert, 8, f->digest, sizeof f->digest, SQLITE_STATIC);
  }
  return cst__lineage_step(at->store, insert, NULL, error);
}

static cst_status add_file(cst__mlmd_import *at, const cst__mlmd_member *of, int64_t artifact,
                           int64_t position, const file *f, cst_error *error) {
  char *path;
  CST__TRY(stored_path(at, of, f->path, &path, error));
  const cst_status status = write_file(at, artifact, position, path, f, error);
  cst__delete(path);
  return status;
}

/* ---- as we wrote them ---- */

static cst_status decode_path(cst__mlmd_import *at, const char *base64, const char **out,
                              cst_error *error) {
  size_t size;
  *out = NULL;
  if (!cst__base64_size(base64, strlen(base64), CST__BASE64_EXACT, &size) || size >= PATH_MAX) {
    return CST_OK;
  }
  char *path = cst__arena_take(&at->arena, size + 1);
  if (path == NULL) {
    return cst__fail_memory(error, size);
  }
  cst__base64_decode(base64, strlen(base64), (uint8_t *)path);
  path[size] = '\0';
  *out = strlen(path) == size && size > 0 ? path : NULL;
  return CST_OK;
}

static cst_status read_file(cst__mlmd_import *at, const cst__mlmd_member *of, yyjson_val *item,
                            file *f, cst_error *error) {
  cst__mlmd_thing part = *of->thing; /* the same members, of an object in the list */
  const cst__mlmd_member inner = {of->row, &part};
  const char *encoded = NULL;
  const char *digest = NULL;
  *f = unknown;
  part.own = item;
  CST__TRY(cst__mlmd_own_text(&inner, "path", &f->path, error));
  CST__TRY(cst__mlmd_own_text(&inner, "path64", &encoded, error));
  CST__TRY(cst__mlmd_own_text(&inner, "split", &f->split, error));
  CST__TRY(cst__mlmd_own_text(&inner, "role", &f->role, error));
  CST__TRY(cst__mlmd_own_number(&inner, "size", &f->size, error));
  CST__TRY(cst__mlmd_own_number(&inner, "modified", &f->modified, error));
  CST__TRY(cst__mlmd_own_text(&inner, "digest", &digest, error));
  if (encoded != NULL) {
    CST__TRY(decode_path(at, encoded, &f->path, error));
  }
  f->has_digest = digest != NULL && cst__mlmd_hex(digest, f->digest, sizeof f->digest);
  const bool is_right = f->path != NULL && f->path[0] != '\0' &&
                        f->has_digest == (digest != NULL) &&
                        (cst__is_url(f->path) || f->path[0] == '/');
  return is_right ? CST_OK
                  : cst__mlmd_own_fail(of, "files", "a list of files with absolute paths", error);
}

static cst_status read_own(cst__mlmd_import *at, const cst__mlmd_member *of, int64_t artifact,
                           cst_error *error) {
  yyjson_val *list, *item;
  size_t i, count;
  file f;
  CST__TRY(cst__mlmd_own_list(of, "files", &list, error));
  yyjson_arr_foreach(list, i, count, item) {
    CST__TRY(read_file(at, of, item, &f, error));
    CST__TRY(add_file(at, of, artifact, (int64_t)i, &f, error));
  }
  return CST_OK;
}

/* ---- of a URI ---- */

/* A path in the folder of their store, where the URI is a relative one. */
static cst_status absolute(cst__mlmd_import *at, const char *uri, const char **out,
                           cst_error *error) {
  *out = uri;
  if (uri[0] == '/' || strstr(uri, "://") != NULL) {
    return CST_OK;
  }
  const size_t folder = (size_t)(strrchr(at->source, '/') + 1 - at->source);
  char *path = cst__arena_take(&at->arena, folder + strlen(uri) + 1);
  if (path == NULL) {
    return cst__fail_memory(error, folder + strlen(uri));
  }
  memcpy(path, at->source, folder);
  memcpy(path + folder, uri, strlen(uri) + 1);
  *out = path;
  return CST_OK;
}

/* The folder of a split, as TFX calls it now ("Split-train") or once did ("train"). */
static cst_status split_folder(cst__mlmd_import *at, const char *uri, const char *split,
                               const char **out, cst_error *error) {
  const size_t size = strlen(uri) + strlen(split) + sizeof "/Split-";
  char *now = cst__arena_take(&at->arena, size);
  char *once = cst__arena_take(&at->arena, size);
  if (now == NULL || once == NULL) {
    return cst__fail_memory(error, size);
  }
  (void)snprintf(now, size, "%s/Split-%s", uri, split);
  (void)snprintf(once, size, "%s/%s", uri, split);
  *out = access(now, F_OK) != 0 && access(once, F_OK) == 0 ? once : now;
  return CST_OK;
}

/* A name that is one folder. */
static bool is_split(const char *split) {
  return split != NULL && split[0] != '\0' && strchr(split, '/') == NULL && split[0] != '.' &&
         strlen(split) < NAME_MAX;
}

/* The list of the property "split_names"; NULL: it is none. */
static cst_status read_splits(cst__mlmd_import *at, yyjson_val **out, cst_error *error) {
  const char *text = cst__mlmd_text_property(at, "split_names");
  cst__json_fault fault;
  cst_error inner = CST_ERROR_INIT;
  *out = NULL;
  if (text == NULL || text[0] != '[') {
    return CST_OK;
  }
  cst_status status =
      cst__json_document_parse(&at->json, (cst_bytes){(const uint8_t *)text, strlen(text)},
                               CST__JSON_VALUES, out, &fault, &inner);
  if (status == CST_NO_MEMORY) {
    return cst__fail_memory(error, strlen(text));
  }
  yyjson_val *item;
  size_t i, count;
  bool are_splits = status == CST_OK && yyjson_is_arr(*out);
  yyjson_arr_foreach(are_splits ? *out : NULL, i, count, item) {
    are_splits &= is_split(cst__mlmd_json_text(item));
  }
  *out = are_splits ? *out : NULL;
  return CST_OK;
}

static cst_status read_uri(cst__mlmd_import *at, const cst__mlmd_member *of, const char *uri,
                           int64_t artifact, cst_error *error) {
  yyjson_val *splits = NULL;
  yyjson_val *item;
  size_t i, count;
  file f = unknown;
  CST__TRY(absolute(at, uri, &f.path, error));
  if (strcmp(of->thing->type, "Examples") == 0) {
    CST__TRY(read_splits(at, &splits, error));
  }
  if (yyjson_arr_size(splits) == 0) {
    return add_file(at, of, artifact, 0, &f, error);
  }
  const char *folder = f.path;
  yyjson_arr_foreach(splits, i, count, item) {
    f.split = cst__mlmd_json_text(item);
    CST__TRY(split_folder(at, folder, f.split, &f.path, error));
    CST__TRY(add_file(at, of, artifact, (int64_t)i, &f, error));
  }
  return CST_OK;
}

cst_status cst__mlmd_read_files(cst__mlmd_import *at, const cst__mlmd_member *of, const char *uri,
                                int64_t ours, cst_error *error) {
  if (of->thing->own != NULL) {
    return read_own(at, of, ours, error);
  }
  return uri != NULL && uri[0] != '\0' ? read_uri(at, of, uri, ours, error) : CST_OK;
}
