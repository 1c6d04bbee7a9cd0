/* Paths in a store: one name for each file. */
#include "lineage/store_paths.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/raw.h"
#include "io/url.h"

bool cst__lineage_path_is_url(const char *stored) { return strstr(stored, "://") != NULL; }

bool cst__lineage_path_is_in(const char *stored, const char *folder) {
  const size_t size = strlen(folder);
  if (strcmp(folder, ".") == 0) { /* the store's own: all that is relative */
    return stored[0] != '/' && !cst__lineage_path_is_url(stored);
  }
  if (strcmp(folder, "/") == 0) {
    return stored[0] == '/';
  }
  return strncmp(stored, folder, size) == 0 && (stored[size] == '\0' || stored[size] == '/');
}

static cst_status copy_out(const cst_lineage *store, const char *bytes, size_t size, char **out,
                           cst_error *error) {
  *out = cst__new_copy(&store->allocator, bytes, size);
  return *out != NULL ? CST_OK : cst__fail_memory(error, size + 1);
}

static cst_status fail_path(const char *path, int code, cst_error *error) {
  const cst_status status =
      code == ENOENT || code == ENOTDIR
          ? cst__fail(error, CST_NOT_FOUND, "check the path", "no such file or folder")
      : code == ENAMETOOLONG ? cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the path is too long")
                             : cst__fail_system(error, code, "cannot look at it");
  cst__error_add_file(error, path);
  return status;
}

/* The real path of what exists of `path`, and the rest behind it as it is. `real` has PATH_MAX. */
static cst_status resolve_missing(const char *path, char *real, cst_error *error) {
  char head[PATH_MAX];
  size_t end = strlen(path);
  if (end >= sizeof head || strstr(path, "/../") != NULL || strncmp(path, "../", 3) == 0) {
    return fail_path(path, end >= sizeof head ? ENAMETOOLONG : ENOENT, error);
  }
  memcpy(head, path, end + 1);
  while (end > 0) {
    while (end > 0 && head[end - 1] != '/') {
      end--;
    }
    while (end > 1 && head[end - 1] == '/') {
      end--;
    }
    head[end] = '\0';
    if (realpath(end > 0 ? head : ".", real) != NULL) {
      const char *rest = path + end + (path[end] == '/' ? strspn(path + end, "/") : 0);
      const size_t size = strcmp(real, "/") == 0 ? 0 : strlen(real);
      if (size + strlen(rest) + 2 > PATH_MAX) {
        return fail_path(path, ENAMETOOLONG, error);
      }
      real[size] = '/';
      memcpy(real + size + 1, rest, strlen(rest) + 1);
      return CST_OK;
    }
  }
  return fail_path(path, ENOENT, error);
}

cst_status cst__lineage_path_in(cst_lineage *store, const char *path, bool allows_missing,
                                char **out, cst_error *error) {
  char real[PATH_MAX];
  char named[PATH_MAX];
  *out = NULL;
  if (path[0] == '\0') {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "an empty path");
  }
  if (cst__path_of_file_url(path, named, sizeof named)) {
    path = named;
  } else if (cst__is_url(path)) {
    size_t size = strlen(path);
    while (size > 0 && path[size - 1] == '/') {
      size--;
    }
    return copy_out(store, path, size, out, error);
  }
  if (realpath(path, real) == NULL) {
    if ((errno != ENOENT && errno != ENOTDIR) || !allows_missing) {
      return fail_path(path, errno, error);
    }
    CST__TRY(resolve_missing(path, real, error));
  }
  size_t size = strlen(real);
  while (size > 1 && real[size - 1] == '/') {
    real[--size] = '\0';
  }
  const size_t folder = strcmp(store->folder, "/") == 0 ? 0 : strlen(store->folder);
  if (strncmp(real, store->folder, folder) != 0) {
    return copy_out(store, real, size, out, error);
  }
  return real[folder] == '\0'  ? copy_out(store, ".", 1, out, error)
         : real[folder] != '/' ? copy_out(store, real, size, out, error)
         : real[folder + 1] == '\0'
             ? copy_out(store, ".", 1, out, error)
             : copy_out(store, real + folder + 1, size - folder - 1, out, error);
}

cst_status cst__lineage_path_out(cst_lineage *store, const char *stored, char **out,
                                 cst_error *error) {
  if (stored[0] == '/' || cst__lineage_path_is_url(stored)) {
    return copy_out(store, stored, strlen(stored), out, error);
  }
  if (strcmp(stored, ".") == 0) {
    return copy_out(store, store->folder, strlen(store->folder), out, error);
  }
  const size_t folder = strcmp(store->folder, "/") == 0 ? 0 : strlen(store->folder);
  const size_t size = strlen(stored);
  char *path = cst__new(&store->allocator, folder + size + 2);
  if (path == NULL) {
    return cst__fail_memory(error, folder + size + 2);
  }
  memcpy(path, store->folder, folder);
  path[folder] = '/';
  memcpy(path + folder + 1, stored, size + 1);
  *out = path;
  return CST_OK;
}
