/* Which files of artifacts that go may be deleted. */
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/os.h"
#include "lineage/gc/gc.h"
#include "lineage/store_paths.h"

/* ---- folders above, and what lies below ---- */

bool cst__gc_parent(const cst_lineage *store, char *path, size_t room) {
  if (strcmp(path, ".") == 0) {
    if (strlen(store->folder) >= room) {
      return false;
    }
    memcpy(path, store->folder, strlen(store->folder) + 1);
  }
  char *slash = strrchr(path, '/');
  if (slash == NULL) {
    memcpy(path, ".", 2); /* a name has a byte at least */
    return true;
  }
  const bool is_top = slash == path;
  if (is_top && slash[1] == '\0') {
    return false;
  }
  slash[is_top ? 1 : 0] = '\0';
  return true;
}

static size_t first_not_below(const cst__gc_array *texts, const char *text) {
  const char *const *items = texts->items;
  size_t begin = 0;
  for (size_t end = texts->count; begin < end;) {
    const size_t middle = begin + (end - begin) / 2;
    if (strcmp(items[middle], text) < 0) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

cst_status cst__gc_find_below(cst__gc_plan *plan, const cst__gc_array *texts, const char *folder,
                              cst__gc_spared *out, cst_error *error) {
  const size_t size = strlen(folder);
  char *bound = cst__new(&plan->store->allocator, size + 2);
  if (bound == NULL) {
    return cst__fail_memory(error, size + 2);
  }
  memcpy(bound, folder, size);
  bound[size] = '/';
  bound[size + 1] = '\0';
  const size_t begin = first_not_below(texts, bound);
  bound[size] = '/' + 1;
  const size_t end = first_not_below(texts, bound);
  cst__delete(bound);
  *out = (cst__gc_spared){(const char *const *)texts->items + begin, end - begin};
  return CST_OK;
}

size_t cst__gc_find_path(const cst__gc_plan *plan, const char *text) {
  return cst__name_map_find(&plan->by_text, text, strlen(text));
}

/* ---- what stays ---- */

static bool is_going(const cst__gc_artifact *a) {
  return a->why == CST__GC_GOES && a->state != CST_LINEAGE_DELETED;
}

static cst_status add_text(cst__gc_plan *plan, cst__gc_array *array, const char *text,
                           cst_error *error) {
  const char **item = cst__gc_append(plan, array, sizeof *item);
  if (item == NULL) {
    return cst__fail_memory(error, sizeof *item);
  }
  *item = text;
  return CST_OK;
}

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What an artifact that stays names, or an external one whatever has become of it. */
static cst_status find_needed(cst__gc_plan *plan, cst_error *error) {
  for (size_t i = 0; i < plan->artifacts.count; i++) {
    const cst__gc_artifact *a = cst__gc_artifact_at(plan, i);
    const bool is_kept = a->why != CST__GC_GOES || a->is_external;
    const size_t end = is_kept ? cst__gc_links_end(plan, i) : a->links;
    for (size_t l = a->links; l < end; l++) {
      cst__gc_path *path = cst__gc_path_at(plan, cst__gc_link_at(plan, l)->path);
      if (path->needed_by == CST__GC_NONE) {
        path->needed_by = i;
      }
    }
  }
  for (size_t i = 0; i < plan->paths.count; i++) {
    const cst__gc_path *path = cst__gc_path_at(plan, i);
    if (path->needed_by != CST__GC_NONE && !path->is_damaged) {
      CST__TRY(add_text(plan, &plan->needed, path->text, error));
      if (!cst__name_map_add(&plan->by_text, path->text, strlen(path->text), i)) {
        return cst__fail_memory(error, sizeof(cst__name_slot));
      }
    }
  }
  if (plan->needed.count > 0) {
    qsort(plan->needed.items, plan->needed.count, sizeof(const char *), compare_texts);
  }
  return CST_OK;
}

/* ---- roots ---- */

static cst_status add_root(cst__gc_plan *plan, cst__gc_array *roots, const char *stored,
                           cst_error *error) {
  char *absolute;
  const char *copy;
  CST__TRY(cst__lineage_path_out(plan->store, stored, &absolute, error));
  cst_status status = cst__gc_copy(plan, absolute, &copy, error);
  cst__delete(absolute);
  CST__TRY(status);
  return add_text(plan, roots, copy, error);
}

static cst_status load_roots(cst__gc_plan *plan, cst_error *error) {
  sqlite3_stmt *row;
  CST__TRY(cst__lineage_prepare(plan->store, "SELECT path FROM root", &row, error));
  for (;;) {
    bool is_row;
    CST__TRY(cst__lineage_step(plan->store, row, &is_row, error));
    if (!is_row) {
      break;
    }
    const cst_status status = add_root(plan, &plan->roots, cst__lineage_text(row, 0), error);
    if (status != CST_OK) {
      (void)sqlite3_reset(row);
      return status;
    }
  }
  return CST_OK;
}

/* The longest one that the path is, or lies in; NULL: there is none. */
static const char *root_of(const cst__gc_array *roots, const char *absolute) {
  const char *const *items = roots->items;
  const char *best = NULL;
  for (size_t i = 0; i < roots->count; i++) {
    if (cst__lineage_path_is_in(absolute, items[i]) &&
        (best == NULL || strlen(items[i]) > strlen(best))) {
      best = items[i];
    }
  }
  return best;
}

static bool is_or_has_root(const cst__gc_array *roots, const char *absolute) {
  const char *const *items = roots->items;
  for (size_t i = 0; i < roots->count; i++) {
    if (cst__lineage_path_is_in(items[i], absolute)) {
      return true;
    }
  }
  return false;
}

/* ---- what may go ---- */

/* Beside the store's file: what SQLite has there, and copies of before an upgrade. */
static bool is_of_store(const cst_lineage *store, const char *absolute) {
  const size_t size = strlen(store->path);
  if (strncmp(absolute, store->path, size) != 0) {
    return false;
  }
  const char *rest = absolute + size;
  return rest[0] == '\0' || strcmp(rest, "-wal") == 0 || strcmp(rest, "-shm") == 0 ||
         strcmp(rest, "-journal") == 0 || strncmp(rest, ".v", 2) == 0;
}

/* Who needs the file itself, or a folder that it lies in; or CST__GC_NONE. */
static cst_status find_need(cst__gc_plan *plan, const cst__gc_path *path, size_t *out,
                            cst_error *error) {
  const size_t room = strlen(path->text) + strlen(plan->store->folder) + 2;
  char *at = cst__new(&plan->store->allocator, room);
  if (at == NULL) {
    return cst__fail_memory(error, room);
  }
  memcpy(at, path->text, strlen(path->text) + 1);
  size_t found;
  do {
    found = cst__gc_find_path(plan, at);
  } while (found == CST__GC_NONE && cst__gc_parent(plan->store, at, room));
  cst__delete(at);
  *out = found;
  return CST_OK;
}

static cst_status say_need(cst__gc_plan *plan, cst__gc_path *path, const cst__gc_path *needed,
                           cst_error *error) {
  char label[300];
  cst__gc_label(plan, needed->needed_by, label, sizeof label);
  const bool stays = cst__gc_artifact_at(plan, needed->needed_by)->why != CST__GC_GOES;
  return cst__gc_print(plan, &path->reason, error, "%s %s%s",
                       path == needed ? "also of" : "in a folder of", label,
                       stays ? "" : ", which is external");
}

/* Sets `reason`, if the path has to stay whatever artifact wants it deleted. */
static cst_status look_at(cst__gc_plan *plan, cst__gc_path *path, cst_error *error) {
  path->is_looked_at = true;
  path->reason = path->is_damaged                       ? "no sound path"
                 : cst__lineage_path_is_url(path->text) ? "a URL"
                                                        : NULL;
  if (path->reason != NULL) {
    return CST_OK;
  }
  char *absolute;
  CST__TRY(cst__lineage_path_out(plan->store, path->text, &absolute, error));
  const cst_status status = cst__gc_copy(plan, absolute, &path->absolute, error);
  cst__delete(absolute);
  CST__TRY(status);
  path->root = root_of(&plan->roots, path->absolute);
  path->reason = is_of_store(plan->store, path->absolute) ? "a file of the store"
                 : cst__lineage_path_is_in(plan->store->path, path->absolute) ? "the store is in it"
                 : path->root == NULL                           ? "outside of the roots"
                 : is_or_has_root(&plan->roots, path->absolute) ? "a root is in it"
                                                                : NULL;
  if (path->reason == NULL) {
    size_t needed = CST__GC_NONE;
    CST__TRY(find_need(plan, path, &needed, error));
    if (needed != CST__GC_NONE) {
      CST__TRY(say_need(plan, path, cst__gc_path_at(plan, needed), error));
    }
  }
  return CST_OK;
}

static int64_t modified_ns(const struct stat *info) {
  const struct timespec modified = cst__os_modified(info);
  return (int64_t)modified.tv_sec * 1000000000 + modified.tv_nsec;
}

/* What lies there is not what the artifact was: somebody has written it again, or the store is a
 * copy in another place. Of folders nobody knows what was in them; and a folder on the way that has
 * become a link is told of when it comes to deleting. */
static bool has_changed(const cst__gc_link *link, const cst__gc_path *path) {
  struct stat info;
  char real[PATH_MAX];
  return link->is_file && link->size >= 0 && lstat(path->absolute, &info) == 0 &&
         S_ISREG(info.st_mode) &&
         ((int64_t)info.st_size != link->size || modified_ns(&info) != link->modified) &&
         realpath(path->absolute, real) != NULL && strcmp(real, path->absolute) == 0;
}

static cst_status choose_links(cst__gc_plan *plan, size_t artifact, cst_error *error) {
  cst__gc_artifact *a = cst__gc_artifact_at(plan, artifact);
  const size_t end = cst__gc_links_end(plan, artifact);
  for (size_t i = a->links; i < end; i++) {
    cst__gc_link *link = cst__gc_link_at(plan, i);
    cst__gc_path *path = cst__gc_path_at(plan, link->path);
    if (a->is_unfinished && !link->was_doomed) {
      continue; /* an earlier run is done with it */
    }
    if (!path->is_looked_at) {
      CST__TRY(look_at(plan, path, error));
    }
    link->reason = a->is_external         ? "external"
                   : link->has_role       ? "not data, but what it takes to read them"
                   : path->reason != NULL ? path->reason
                   : !link->was_doomed && has_changed(link, path) ? "has changed since it was added"
                                                                  : NULL;
    if (link->reason == NULL) {
      link->is_doomed = true;
      path->may_be_folder |= !link->is_file;
      path->is_doomed = true;
      a->left++;
    }
  }
  return CST_OK;
}

static cst_status list_doomed(cst__gc_plan *plan, cst_error *error) {
  for (size_t i = 0; i < plan->paths.count; i++) {
    const cst__gc_path *path = cst__gc_path_at(plan, i);
    if (path->is_doomed) {
      CST__TRY(add_text(plan, &plan->going, path->text, error));
      if (!cst__name_map_add(&plan->by_text, path->text, strlen(path->text), i)) {
        return cst__fail_memory(error, sizeof(cst__name_slot));
      }
    }
  }
  if (plan->going.count > 0) {
    qsort(plan->going.items, plan->going.count, sizeof(const char *), compare_texts);
  }
  for (size_t i = plan->going.count; i-- > 0;) {
    size_t *item = cst__gc_append(plan, &plan->doomed, sizeof *item);
    if (item == NULL) {
      return cst__fail_memory(error, sizeof *item);
    }
    *item = cst__gc_find_path(plan, ((const char *const *)plan->going.items)[i]);
  }
  return CST_OK;
}

cst_status cst__gc_choose_files(cst__gc_plan *plan, cst_error *error) {
  CST__TRY(load_roots(plan, error));
  CST__TRY(find_needed(plan, error));
  for (size_t i = 0; i < plan->artifacts.count; i++) {
    if (is_going(cst__gc_artifact_at(plan, i))) {
      CST__TRY(choose_links(plan, i, error));
    }
  }
  return list_doomed(plan, error);
}
