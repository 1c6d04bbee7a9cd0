/* From what a user names to files: patterns, and hints for names that are not there. */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/interrupt.h"
#include "base/names.h"
#include "io/raw.h"
#include "io/url.h"

enum { MOST_NAMES = 10000 /* of a folder that are compared for a hint */ };

cst_status cst__paths_add(cst__paths *paths, const char *path, cst_error *error) {
  size_t size = strlen(path);
  if (!cst__grow(NULL, (void **)&paths->items, &paths->capacity, paths->count + 1,
                 sizeof *paths->items)) {
    return cst__fail_memory(error, (paths->count + 1) * sizeof *paths->items);
  }
  char *copy = cst__new_copy(NULL, path, size);
  if (copy == NULL) {
    return cst__fail_memory(error, size + 1);
  }
  paths->items[paths->count++] = copy;
  return CST_OK;
}

void cst__paths_reset(cst__paths *paths) {
  for (size_t i = 0; i < paths->count; i++) {
    cst__delete(paths->items[i]);
  }
  cst__delete(paths->items);
  *paths = (cst__paths){0};
}

/* ---- a hint for a name that is not there ---- */

typedef struct names {
  cst__arena arena;
  const char **items;
  size_t count;
  size_t capacity;
} names;

static void read_folder(names *all, const char *folder) {
  DIR *dir = opendir(folder);
  if (dir == NULL) {
    return;
  }
  for (struct dirent *entry; all->count < MOST_NAMES && (entry = readdir(dir)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
      continue;
    }
    char *copy = cst__arena_copy(&all->arena, entry->d_name, strlen(entry->d_name));
    if (copy == NULL || !cst__grow(NULL, (void **)&all->items, &all->capacity, all->count + 1,
                                   sizeof *all->items)) {
      break;
    }
    all->items[all->count++] = copy;
  }
  (void)closedir(dir);
}

/* Looks for a near name in `folder`; false without one. A hint is not worth an error of its own. */
static bool find_near(const char *folder, const char *base, char *hint, size_t n) {
  names all = {0};
  cst__arena_init(&all.arena, NULL);
  if (base[0] != '\0') { /* every short name is near to nothing */
    read_folder(&all, folder);
  }
  cst__name_list list = cst__name_list_of(all.items, all.count);
  size_t near = cst__nearest_name(base, &list);
  if (near != SIZE_MAX) {
    (void)snprintf(hint, n, "did you mean %s?", all.items[near]);
  }
  cst__delete(all.items);
  cst__arena_reset(&all.arena);
  return near != SIZE_MAX;
}

static void make_hint(const char *path, char *hint, size_t n) {
  struct stat info;
  const char *slash = strrchr(path, '/');
  const char *base = slash != NULL ? slash + 1 : path;
  char folder[4096] = ".";
  (void)snprintf(hint, n, "check the path");
  if (path[0] == '~') {
    (void)snprintf(hint, n, "only shells expand ~: write the path of the home folder");
    return;
  }
  if (strstr(path, "://") != NULL) {
    (void)snprintf(hint, n, "only local files can be read: fetch it first, or pass a reader");
    return;
  }
  if (slash != NULL) {
    size_t size = slash == path ? 1 : (size_t)(slash - path);
    if (size >= sizeof folder) {
      return;
    }
    memcpy(folder, path, size);
    folder[size] = '\0';
  }
  if (stat(folder, &info) != 0) {
    (void)snprintf(hint, n, "its folder does not exist either");
  } else if (lstat(path, &info) == 0) {
    (void)snprintf(hint, n, "this link refers to a file that does not exist");
  } else {
    (void)find_near(folder, base, hint, n);
  }
}

static cst_status fail_missing_path(const char *path, int code, cst_error *error) {
  char hint[192];
  if (code != ENOENT && code != ENOTDIR) {
    (void)cst__fail_system(error, code, "cannot open");
    cst__error_add_file(error, path);
    return code == ENOMEM ? CST_NO_MEMORY : CST_IO;
  }
  make_hint(path, hint, sizeof hint);
  (void)cst__fail(error, CST_NOT_FOUND, hint, "no such file");
  cst__error_add_file(error, path);
  return CST_NOT_FOUND;
}

/* ---- patterns ---- */

static int compare_paths(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A folder that may not be read stops the walk, so that no file is left out in silence. */
static int stop_at(const char *path, int code) {
  (void)path;
  return code != ENOENT && code != ENOTDIR;
}

static cst_status fail_glob(const char *pattern, int code, cst_error *error) {
  cst_status status;
  if (code == GLOB_NOSPACE) {
    status = cst__fail_memory(error, 0);
  } else if (code == GLOB_NOMATCH) {
    status = cst__fail(error, CST_NOT_FOUND, "check the folder and the pattern (*, ? and [...])",
                       "no file matches this pattern");
  } else {
    status = cst__fail_system(error, errno, "cannot read a folder of this pattern");
  }
  cst__error_add_file(error, pattern);
  return status;
}

static cst_status check_no_folder(const char *path, const struct stat *info, cst_error *error) {
  if (!S_ISDIR(info->st_mode)) {
    return CST_OK; /* what else is wrong with it shows when it is opened */
  }
  cst_status status = cst__fail_system(error, EISDIR, "cannot read");
  cst__error_add_file(error, path);
  return status;
}

static cst_status add_matches(cst__paths *paths, const char *pattern, cst_error *error) {
  glob_t found = {0};
  int code = glob(pattern, GLOB_NOSORT, stop_at, &found);
  if (code != 0) {
    cst_status failed = fail_glob(pattern, code, error);
    globfree(&found);
    return failed;
  }
  qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, compare_paths);
  cst_status status = CST_OK;
  for (size_t i = 0; i < found.gl_pathc && status == CST_OK; i++) {
    struct stat info;
    status = cst__interrupted(error);
    if (status == CST_OK && stat(found.gl_pathv[i], &info) == 0) {
      status = check_no_folder(found.gl_pathv[i], &info, error);
    }
    if (status == CST_OK) {
      status = cst__paths_add(paths, found.gl_pathv[i], error);
    }
  }
  globfree(&found);
  return status;
}

cst_status cst__paths_expand(cst__paths *paths, const char *pattern, cst_error *error) {
  struct stat info;
  char local[PATH_MAX];
  if (strcmp(pattern, "-") == 0) {
    return cst__paths_add(paths, pattern, error);
  }
  if (cst__path_of_file_url(pattern, local, sizeof local)) {
    pattern = local;
  }
  if (stat(pattern, &info) == 0) {
    CST__TRY(check_no_folder(pattern, &info, error));
    return cst__paths_add(paths, pattern, error);
  }
  int code = errno;
  if (code == ENOENT && strpbrk(pattern, "*?[") != NULL) {
    return add_matches(paths, pattern, error);
  }
  return fail_missing_path(pattern, code, error);
}
