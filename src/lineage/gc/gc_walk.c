/* Deleting a file or a folder below a root, by descriptors: each step goes from an open folder to a
 * name in it, and none follows a link. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "io/raw.h"
#include "lineage/gc/gc.h"

enum { DEEPEST = 500, MOST_PASSES = 100 };

typedef struct walk {
  const cst__gc_task *task;
  cst__gc_outcome *outcome;
  cst__text path; /* as it is stored, of what is looked at */
  size_t num_entries;
  int depth;
} walk;

int64_t cst__gc_clock(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void end(walk *w, cst__gc_end how, const char *reason) {
  w->outcome->end = how;
  (void)snprintf(w->outcome->reason, CST__GC_REASON, "%s", reason);
}

/* What the system says about `name`; the first failure is the one that is told. */
static void fail(walk *w, const char *name) {
  cst_error own = CST_ERROR_INIT;
  char what[128];
  if (w->outcome->end != CST__GC_UNABLE) {
    (void)snprintf(what, sizeof what, "cannot delete %.100s", name);
    (void)cst__fail_system(&own, errno, what);
    end(w, CST__GC_UNABLE, own.message);
  }
}

static int open_folder(int in, const char *name) {
  return openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Why a folder could not be opened. */
static void end_at(walk *w, int in, const char *name) {
  const int code = errno;
  struct stat info;
  if (code == ENOENT) {
    end(w, CST__GC_MISSING, "");
  } else if (code != ELOOP && code != ENOTDIR) {
    fail(w, name);
  } else if (fstatat(in, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode)) {
    end(w, CST__GC_SPARED, "leads out of the root by a link");
  } else {
    end(w, CST__GC_MISSING, ""); /* a file is where its folder was */
  }
}

/* ---- folders ---- */

static int compare_to(const char *text, const cst__gc_spared *list, size_t *at) {
  size_t begin = 0;
  for (size_t last = list->count; begin < last;) {
    const size_t middle = begin + (last - begin) / 2;
    if (strcmp(list->paths[middle], text) < 0) {
      begin = middle + 1;
    } else {
      last = middle;
    }
  }
  *at = begin;
  return begin < list->count ? strcmp(list->paths[begin], text) : 1;
}

static bool is_spared(const cst__gc_spared *list, const char *path) {
  size_t at;
  return compare_to(path, list, &at) == 0;
}

static cst_status has_spared(walk *w, bool *out) {
  size_t at;
  const size_t size = w->path.size;
  cst__text_puts(&w->path, "/");
  if (w->path.failed) {
    return CST_NO_MEMORY;
  }
  (void)compare_to(w->path.data, &w->task->needed, &at);
  *out = at < w->task->needed.count &&
         strncmp(w->task->needed.paths[at], w->path.data, w->path.size) == 0;
  w->path.size = size;
  w->path.data[size] = '\0';
  return CST_OK;
}

static bool is_out_of_time(walk *w) {
  if (w->task->deadline != 0 && cst__gc_clock() > w->task->deadline) {
    w->outcome->end = CST__GC_OUT_OF_TIME;
  }
  return w->outcome->end == CST__GC_OUT_OF_TIME;
}

static cst_status delete_folder(walk *w, int in, const char *name, bool *is_gone, cst_error *error);

static void delete_file(walk *w, int in, const char *name, const struct stat *info, bool *is_gone) {
  if (w->task->is_dry || unlinkat(in, name, 0) == 0) {
    w->outcome->files++;
    w->outcome->bytes += S_ISREG(info->st_mode) ? info->st_size : 0;
    *is_gone = true;
  } else if (errno == ENOENT) {
    *is_gone = true;
  } else {
    fail(w, name);
  }
}

/* `is_gone`: the entry is not there any more, or will not be. */
static cst_status delete_entry(walk *w, int in, const char *name, bool *is_gone, cst_error *error) {
  struct stat info;
  *is_gone = false;
  if (++w->num_entries % 1024 == 0) {
    CST__TRY(cst__interrupted(error));
  }
  if (is_spared(&w->task->needed, w->path.data)) {
    return CST_OK;
  }
  if (is_spared(&w->task->counted, w->path.data)) {
    *is_gone = true;
    return CST_OK;
  }
  if (fstatat(in, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    *is_gone = errno == ENOENT;
    if (!*is_gone) {
      fail(w, name);
    }
    return CST_OK;
  }
  if (S_ISDIR(info.st_mode)) {
    return delete_folder(w, in, name, is_gone, error);
  }
  delete_file(w, in, name, &info, is_gone);
  return CST_OK;
}

/* All that is in an open folder, once. is_empty: nothing stays. */
static cst_status delete_entries(walk *w, DIR *folder, bool *is_empty, bool *has_changed,
                                 cst_error *error) {
  const size_t size = w->path.size;
  *is_empty = true;
  *has_changed = false;
  for (const struct dirent *entry; !is_out_of_time(w) && (entry = readdir(folder)) != NULL;) {
    bool is_gone;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
      continue;
    }
    w->path.size = size;
    cst__text_puts(&w->path, "/");
    cst__text_puts(&w->path, entry->d_name);
    if (w->path.failed) {
      return cst__fail_memory(error, size);
    }
    CST__TRY(delete_entry(w, dirfd(folder), entry->d_name, &is_gone, error));
    *is_empty &= is_gone;
    *has_changed |= is_gone;
  }
  w->path.size = size;
  w->path.data[size] = '\0';
  return CST_OK;
}

/* Again while that changes something: others may be writing, and some file systems pass over
 * entries when some before them are deleted. */
static cst_status empty_folder(walk *w, DIR *folder, bool *is_empty, cst_error *error) {
  bool has_changed = true;
  *is_empty = false;
  for (int i = 0; i < MOST_PASSES && has_changed && w->outcome->end == CST__GC_DONE; i++) {
    CST__TRY(delete_entries(w, folder, is_empty, &has_changed, error));
    if (w->task->is_dry || w->outcome->end == CST__GC_OUT_OF_TIME) {
      break;
    }
    rewinddir(folder);
  }
  return CST_OK;
}

static cst_status delete_folder(walk *w, int in, const char *name, bool *is_gone,
                                cst_error *error) {
  bool is_empty;
  bool is_needed;
  *is_gone = false;
  const int fd = open_folder(in, name);
  DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
  if (folder == NULL || w->depth >= DEEPEST) {
    errno = folder != NULL ? EMFILE : errno;
    fail(w, name);
    if (folder != NULL) {
      (void)closedir(folder);
    } else if (fd >= 0) {
      (void)close(fd);
    }
    return CST_OK;
  }
  w->depth++;
  cst_status status = empty_folder(w, folder, &is_empty, error);
  w->depth--;
  (void)closedir(folder);
  CST__TRY(status);
  if (has_spared(w, &is_needed) != CST_OK) {
    return cst__fail_memory(error, w->path.size);
  }
  if (!is_empty || is_needed || w->outcome->end != CST__GC_DONE) {
    return CST_OK;
  }
  *is_gone = w->task->is_dry || unlinkat(in, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
  if (!*is_gone) {
    fail(w, name);
  }
  return CST_OK;
}

/* ---- from the root ---- */

static cst_status delete_named(walk *w, int in, const char *name, cst_error *error) {
  struct stat info;
  bool is_gone = false;
  if (fstatat(in, name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
    end_at(w, in, name);
  } else if (S_ISLNK(info.st_mode)) {
    end(w, CST__GC_SPARED, "a link has taken its place");
  } else if (!S_ISDIR(info.st_mode)) {
    delete_file(w, in, name, &info, &is_gone);
  } else if (w->task->is_file) {
    end(w, CST__GC_SPARED, "a folder has taken its place");
  } else {
    cst__text_puts(&w->path, w->task->path);
    return w->path.failed ? cst__fail_memory(error, strlen(w->task->path))
                          : delete_folder(w, in, name, &is_gone, error);
  }
  return CST_OK;
}

/* Opens the folders on the way, and closes each behind it. */
static cst_status descend(walk *w, int root, char *rest, cst_error *error) {
  int in = root;
  char *name = rest;
  for (char *slash; (slash = strchr(name, '/')) != NULL; name = slash + 1) {
    *slash = '\0';
    const int next = open_folder(in, name);
    if (next < 0) {
      end_at(w, in, name);
    }
    (void)close(in);
    if (next < 0) {
      return CST_OK;
    }
    in = next;
  }
  const cst_status status = delete_named(w, in, name, error);
  (void)close(in);
  return status;
}

cst_status cst__gc_walk(const cst__gc_task *task, cst__gc_outcome *outcome, cst_error *error) {
  walk w = {.task = task, .outcome = outcome};
  outcome->end = CST__GC_DONE;
  outcome->reason[0] = '\0';
  const int root = open(task->root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (root < 0 && (errno == ELOOP || errno == ENOTDIR)) {
    end(&w, CST__GC_SPARED, "leads out of the root by a link");
    return CST_OK;
  }
  if (root < 0) {
    end(&w, CST__GC_UNABLE, "its root is not there, or cannot be opened");
    return CST_OK; /* a disk that is not mounted has not lost its files */
  }
  char *rest = cst__new_copy(NULL, task->rest, strlen(task->rest));
  if (rest == NULL) {
    (void)close(root);
    return cst__fail_memory(error, strlen(task->rest));
  }
  const cst_status status = descend(&w, root, rest, error);
  cst__delete(rest);
  cst__text_free(&w.path);
  return status;
}
