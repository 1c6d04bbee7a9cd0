/* What files are: sizes, times, digests. */
#include "lineage/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/os.h"
#include "io/raw.h"
#include "lineage/store_paths.h"

enum { READ_SIZE = 1 << 18, MOST_DEPTH = 200 };

static int64_t ns_of(const struct stat *info) {
  const struct timespec modified = cst__os_modified(info);
  return (int64_t)modified.tv_sec * 1000000000 + modified.tv_nsec;
}

static cst_status fail_file(int code, const char *what, const char *path, cst_error *error) {
  const cst_status status = cst__fail_system(error, code, what);
  cst__error_add_file(error, path);
  return status;
}

/* ---- digests ---- */

static cst_status digest_open_file(int fd, const char *path, uint8_t digest[CST__SHA256_SIZE],
                                   cst_error *error) {
  cst__sha256_state state;
  cst__sha256_begin(&state);
  uint8_t *buffer = cst__new(NULL, READ_SIZE);
  if (buffer == NULL) {
    return cst__fail_memory(error, READ_SIZE);
  }
  cst_status status = CST_OK;
  while (status == CST_OK) {
    const ssize_t got = read(fd, buffer, READ_SIZE);
    if (got == 0) {
      break;
    }
    if (got > 0) {
      cst__sha256_add(&state, buffer, (size_t)got);
    }
    status = got < 0 && errno != EINTR ? fail_file(errno, "cannot read", path, error)
                                       : cst__interrupted(error);
  }
  cst__delete(buffer);
  cst__sha256_finish(&state, digest);
  return status;
}

static cst_status digest_file(const char *path, uint8_t digest[CST__SHA256_SIZE],
                              cst_error *error) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return fail_file(errno, "cannot open", path, error);
  }
  cst_status status = digest_open_file(fd, path, digest, error);
  (void)close(fd);
  return status;
}

/* ---- folders ---- */

typedef struct walk {
  cst__sha256_state digest; /* of names, sizes and digests */
  int64_t size;
  int64_t entries;
  bool reads;
  int depth;
  char path[PATH_MAX];
  size_t root; /* of the path: what the folder is called is no part of its digest */
} walk;

static int is_named(const struct dirent *entry) {
  return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

static cst_status walk_folder(walk *w, cst_error *error);

static void add_entry(walk *w, char kind, int64_t size, const uint8_t *digest, size_t digest_size) {
  const char *name = w->path + w->root;
  cst__sha256_add(&w->digest, &kind, 1);
  cst__sha256_add(&w->digest, name, strlen(name) + 1);
  cst__sha256_add(&w->digest, &size, sizeof size);
  cst__sha256_add(&w->digest, digest, digest_size);
}

/* Links are what they say, and are not followed. */
static cst_status walk_entry(walk *w, cst_error *error) {
  struct stat info;
  w->entries++;
  if (lstat(w->path, &info) != 0) {
    return fail_file(errno, "cannot look at", w->path, error);
  }
  if (S_ISDIR(info.st_mode)) {
    add_entry(w, 'd', 0, NULL, 0);
    return walk_folder(w, error);
  }
  if (S_ISLNK(info.st_mode)) {
    char target[PATH_MAX];
    const ssize_t size = readlink(w->path, target, sizeof target);
    add_entry(w, 'l', 0, (const uint8_t *)target, size > 0 ? (size_t)size : 0);
    return CST_OK;
  }
  if (!S_ISREG(info.st_mode)) {
    add_entry(w, 's', 0, NULL, 0);
    return CST_OK;
  }
  uint8_t digest[CST__SHA256_SIZE] = {0};
  w->size += (int64_t)info.st_size;
  if (w->reads) {
    CST__TRY(digest_file(w->path, digest, error));
    add_entry(w, 'f', (int64_t)info.st_size, digest, sizeof digest);
  }
  return cst__interrupted(error);
}

static cst_status walk_names(walk *w, struct dirent **names, int count, cst_error *error) {
  const size_t end = strlen(w->path);
  cst_status status = CST_OK;
  for (int i = 0; i < count && status == CST_OK; i++) {
    const size_t size = strlen(names[i]->d_name);
    if (end + size + 2 > sizeof w->path) {
      status = cst__fail(error, CST_LIMIT, NULL, "a path in this folder is too long");
      cst__error_add_file(error, w->path);
      break;
    }
    w->path[end] = '/';
    memcpy(w->path + end + 1, names[i]->d_name, size + 1);
    status = walk_entry(w, error);
    w->path[end] = '\0';
  }
  return status;
}

static cst_status walk_folder(walk *w, cst_error *error) {
  struct dirent **names = NULL;
  if (++w->depth > MOST_DEPTH) {
    return cst__fail(error, CST_LIMIT, NULL, "folders in folders, more than %d levels", MOST_DEPTH);
  }
  const int count = scandir(w->path, &names, is_named, compare_names);
  if (count < 0) {
    return fail_file(errno, "cannot list", w->path, error);
  }
  cst_status status = walk_names(w, names, count, error);
  for (int i = 0; i < count; i++) {
    free(names[i]);
  }
  free(names);
  w->depth--;
  return status;
}

/* ---- one file ---- */

static cst_status look_at_folder(cst_lineage *store, const char *path, bool reads,
                                 cst__lineage_found *out, cst_error *error) {
  walk *w = cst__new_zero(&store->allocator, sizeof *w);
  if (w == NULL) {
    return cst__fail_memory(error, sizeof *w);
  }
  cst__sha256_begin(&w->digest);
  w->reads = reads;
  w->root = strlen(path) + 1;
  cst_status status = CST_OK;
  if (w->root < sizeof w->path) {
    memcpy(w->path, path, w->root);
    status = walk_folder(w, error);
  } else {
    status = cst__fail(error, CST_LIMIT, NULL, "the path is too long");
  }
  out->size = w->size;
  out->entries = w->entries;
  out->is_folder = true;
  out->has_digest = reads;
  cst__sha256_finish(&w->digest, out->digest);
  cst__delete(w);
  return status;
}

static cst_status look_at(cst_lineage *store, const char *path, bool reads, cst__lineage_found *out,
                          cst_error *error) {
  struct stat info;
  if (stat(path, &info) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? CST_OK
                                               : fail_file(errno, "cannot look at", path, error);
  }
  if (S_ISDIR(info.st_mode)) {
    return look_at_folder(store, path, reads, out, error);
  }
  if (!S_ISREG(info.st_mode)) {
    (void)cst__fail(error, CST_INVALID_ARGUMENT, NULL, "neither a regular file nor a folder");
    cst__error_add_file(error, path);
    return CST_INVALID_ARGUMENT;
  }
  out->size = (int64_t)info.st_size;
  out->modified = ns_of(&info);
  out->has_digest = reads;
  return reads ? digest_file(path, out->digest, error) : CST_OK;
}

cst_status cst__lineage_look(cst_lineage *store, const char *stored, bool reads,
                             cst__lineage_found *out, cst_error *error) {
  char *path;
  out->size = -1;
  out->has_digest = out->is_folder = false;
  if (cst__lineage_path_is_url(stored)) {
    return CST_OK;
  }
  CST__TRY(cst__lineage_path_out(store, stored, &path, error));
  cst_status status = look_at(store, path, reads, out, error);
  cst__delete(path);
  return status;
}

/* ---- all of an artifact ---- */

/* What somebody has read of the same file, if it is as it was. */
static cst_status recall(cst_lineage *store, cst__lineage_found *file, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(
      store,
      "SELECT digest FROM artifact_file WHERE file = (SELECT id FROM file WHERE path = CAST(? AS "
      "BLOB)) AND size = ? AND modified = ? AND digest IS NOT NULL LIMIT 1",
      &find, error));
  cst__lineage_bind_text(find, 1, file->path);
  sqlite3_bind_int64(find, 2, file->size);
  sqlite3_bind_int64(find, 3, file->modified);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  if (is_row && sqlite3_column_bytes(find, 0) == CST__SHA256_SIZE) {
    memcpy(file->digest, sqlite3_column_blob(find, 0), CST__SHA256_SIZE);
    file->has_digest = true;
  }
  (void)sqlite3_reset(find);
  return CST_OK;
}

static cst_status find_file(cst_lineage *store, const cst_lineage_artifact *artifact,
                            const char *path, cst__lineage_found *out, cst_error *error) {
  CST__TRY(cst__lineage_path_in(store, path, artifact->allows_missing, &out->path, error));
  CST__TRY(cst__lineage_look(store, out->path, false, out, error));
  if (out->size < 0 && !artifact->allows_missing && !cst__lineage_path_is_url(out->path)) {
    return cst__fail(error, CST_NOT_FOUND, "check the path", "no such file or folder");
  }
  if (out->size < 0 || artifact->skips_digest) {
    return CST_OK;
  }
  if (!out->is_folder) {
    CST__TRY(recall(store, out, error));
  }
  return out->has_digest ? CST_OK : cst__lineage_look(store, out->path, true, out, error);
}

static void digest_all(const cst_lineage_artifact *artifact, cst__lineage_found_list *list) {
  cst__sha256_state state;
  list->has_digest = list->count > 0;
  for (size_t i = 0; i < list->count; i++) {
    list->has_digest = list->has_digest && list->items[i].has_digest;
  }
  if (!list->has_digest) {
    return;
  }
  if (list->count == 1 && artifact->files[0].split == NULL && artifact->files[0].role == NULL) {
    memcpy(list->digest, list->items[0].digest, sizeof list->digest);
    return;
  }
  cst__sha256_begin(&state);
  for (size_t i = 0; i < list->count; i++) {
    const char *split = artifact->files[i].split != NULL ? artifact->files[i].split : "";
    const char *role = artifact->files[i].role != NULL ? artifact->files[i].role : "";
    cst__sha256_add(&state, split, strlen(split) + 1);
    cst__sha256_add(&state, role, strlen(role) + 1);
    cst__sha256_add(&state, list->items[i].digest, CST__SHA256_SIZE);
  }
  cst__sha256_finish(&state, list->digest);
}

cst_status cst__lineage_find_files(cst_lineage *store, const cst_lineage_artifact *artifact,
                                   cst__lineage_found_list *out, cst_error *error) {
  *out = (cst__lineage_found_list){NULL, 0, false, {0}, NULL};
  if (artifact->num_files == 0) {
    return CST_OK;
  }
  size_t size;
  if (!cst__mul(artifact->num_files, sizeof *out->items, &size) ||
      (out->items = cst__new_zero(&store->allocator, size)) == NULL) {
    return cst__fail_memory(error, artifact->num_files);
  }
  for (size_t i = 0; i < artifact->num_files; i++) {
    out->count = i + 1;
    cst_status status = find_file(store, artifact, artifact->files[i].path, &out->items[i], error);
    if (status != CST_OK) {
      cst__error_add_file(error, artifact->files[i].path);
      cst__lineage_found_reset(out);
      return status;
    }
  }
  digest_all(artifact, out);
  return CST_OK;
}

/* A folder that garbage collection has begun to delete is not whole, though it may have been
 * stopped there. */
static cst_status check_not_doomed(cst_lineage *store, const char *stored, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(
      store,
      "SELECT 1 FROM doomed WHERE path = CAST(?1 AS BLOB) OR (path > CAST(?1 || '/' AS BLOB) AND "
      "path < CAST(?1 || '0' AS BLOB)) OR CAST(?1 AS BLOB) > path AND substr(CAST(?1 AS BLOB), 1, "
      "length(path) + 1) = CAST(CAST(path AS TEXT) || '/' AS BLOB) LIMIT 1",
      &find, error));
  cst__lineage_bind_text(find, 1, stored);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  (void)sqlite3_reset(find);
  return is_row ? cst__fail(error, CST_STATE, "finish garbage collection, then write it again",
                            "garbage collection is deleting the folder, or files in it")
                : CST_OK;
}

/* Whether a file is still as it was found. A folder, of which garbage collection deletes one file
 * after the other, has as many entries and bytes. */
static cst_status check_same(cst_lineage *store, const cst__lineage_found *file, const char *path,
                             cst_error *error) {
  struct stat info;
  if (stat(path, &info) != 0) {
    return cst__fail(error, CST_NOT_FOUND, "it was deleted a moment ago", "no such file or folder");
  }
  bool is_same =
      S_ISREG(info.st_mode) && info.st_size == file->size && ns_of(&info) == file->modified;
  if (file->is_folder) {
    cst__lineage_found now = {0};
    CST__TRY(check_not_doomed(store, file->path, error));
    CST__TRY(look_at(store, path, false, &now, error));
    is_same = now.is_folder && now.size == file->size && now.entries == file->entries;
  }
  return is_same
             ? CST_OK
             : cst__fail(error, CST_STATE, "add it once it is complete",
                         "the %s changed while it was read", file->is_folder ? "folder" : "file");
}

cst_status cst__lineage_check_file(cst_lineage *store, const cst__lineage_found *file,
                                   cst_error *error) {
  char *path;
  if (file->size < 0) {
    return CST_OK;
  }
  CST__TRY(cst__lineage_path_out(store, file->path, &path, error));
  const cst_status status = check_same(store, file, path, error);
  if (status != CST_OK) {
    cst__error_add_file(error, path);
  }
  cst__delete(path);
  return status;
}

void cst__lineage_found_reset(cst__lineage_found_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    cst__delete(list->items[i].path);
  }
  cst__delete(list->items);
  cst_view_release(list->view);
  *list = (cst__lineage_found_list){NULL, 0, false, {0}, NULL};
}
