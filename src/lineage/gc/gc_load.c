/* What garbage collection has to know of a store, read table by table: no query for each artifact.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/interrupt.h"
#include "lineage/gc/gc.h"
#include "lineage/store_paths.h"

/* ---- what plans are made of ---- */

void *cst__gc_append(cst__gc_plan *plan, cst__gc_array *array, size_t item_size) {
  if (!cst__grow(&plan->store->allocator, &array->items, &array->capacity, array->count + 1,
                 item_size)) {
    return NULL;
  }
  void *item = (char *)array->items + array->count++ * item_size;
  memset(item, 0, item_size);
  return item;
}

cst_status cst__gc_copy(cst__gc_plan *plan, const char *text, const char **out, cst_error *error) {
  *out = cst__arena_copy(&plan->arena, text, strlen(text));
  return *out != NULL ? CST_OK : cst__fail_memory(error, strlen(text));
}

cst_status cst__gc_print(cst__gc_plan *plan, const char **out, cst_error *error, const char *fmt,
                         ...) {
  char text[2 * 300 + 256]; /* two labels and some words */
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return cst__gc_copy(plan, text, out, error);
}

void cst__gc_label(const cst__gc_plan *plan, size_t artifact, char label[], size_t room) {
  const cst__gc_artifact *a = cst__gc_artifact_at(plan, artifact);
  (void)(a->name != NULL ? snprintf(label, room, "%s@%lld", a->name, (long long)a->version)
                         : snprintf(label, room, "%lld", (long long)a->id));
}

static int compare_ids(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a;
  const int64_t y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Items that begin with their id, in its order. */
static size_t find_id(const cst__gc_array *array, size_t item_size, int64_t id) {
  const char *found =
      array->count > 0 ? bsearch(&id, array->items, array->count, item_size, compare_ids) : NULL;
  return found != NULL ? (size_t)(found - (const char *)array->items) / item_size : CST__GC_NONE;
}

size_t cst__gc_find(const cst__gc_plan *plan, int64_t id, size_t near) {
  for (size_t i = near; i < plan->artifacts.count && i <= near + 1; i++) {
    if (cst__gc_artifact_at(plan, i)->id == id) {
      return i;
    }
  }
  return find_id(&plan->artifacts, sizeof(cst__gc_artifact), id);
}

size_t cst__gc_find_execution(const cst__gc_plan *plan, int64_t id) {
  return find_id(&plan->held.executions, sizeof(cst__gc_execution), id);
}

/* ---- tables ---- */

typedef cst_status (*row_reader)(cst__gc_plan *plan, sqlite3_stmt *row, cst_error *error);

static cst_status read_rows(cst__gc_plan *plan, sqlite3_stmt *statement, row_reader read,
                            cst_error *error) {
  for (size_t count = 1;; count++) {
    bool is_row;
    CST__TRY(cst__lineage_step(plan->store, statement, &is_row, error));
    if (!is_row) {
      return CST_OK;
    }
    CST__TRY(read(plan, statement, error));
    if (count % 4096 == 0) {
      CST__TRY(cst__interrupted(error));
    }
  }
}

static cst_status read_table(cst__gc_plan *plan, const char *sql, row_reader read,
                             cst_error *error) {
  sqlite3_stmt *statement;
  CST__TRY(cst__lineage_prepare(plan->store, sql, &statement, error));
  const cst_status status = read_rows(plan, statement, read, error);
  (void)sqlite3_reset(statement);
  return status;
}

/* Names repeat from row to row: one copy for those that follow each other. */
static cst_status copy_repeated(cst__gc_plan *plan, sqlite3_stmt *row, int column,
                                const char *before, const char **out, cst_error *error) {
  if (before != NULL && strcmp(before, cst__lineage_text(row, column)) == 0) {
    *out = before;
    return CST_OK;
  }
  return cst__gc_copy(plan, cst__lineage_text(row, column), out, error);
}

static bool is_listed(const char *const *names, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(names[i], name) == 0) {
      return true;
    }
  }
  return false;
}

static cst_status read_type(cst__gc_plan *plan, sqlite3_stmt *row, cst_error *error) {
  const cst_lineage_gc_options *options = plan->options;
  cst__gc_type *type = cst__gc_append(plan, &plan->types, sizeof *type);
  if (type == NULL) {
    return cst__fail_memory(error, sizeof *type);
  }
  type->id = sqlite3_column_int64(row, 0);
  CST__TRY(cst__gc_copy(plan, cst__lineage_text(row, 1), &type->name, error));
  type->may_go =
      options->types == NULL || is_listed(options->types, options->num_types, type->name);
  type->keeps_ancestors =
      is_listed(options->keep_ancestors_of, options->num_keep_ancestors_of, type->name);
  return CST_OK;
}

static cst_status read_artifact(cst__gc_plan *plan, sqlite3_stmt *row, cst_error *error) {
  const size_t before = plan->artifacts.count;
  cst__gc_artifact *a = cst__gc_append(plan, &plan->artifacts, sizeof *a);
  if (a == NULL) {
    return cst__fail_memory(error, sizeof *a);
  }
  const char *name_before = before > 0 ? (a - 1)->name : NULL;
  a->id = sqlite3_column_int64(row, 0);
  a->type = find_id(&plan->types, sizeof(cst__gc_type), sqlite3_column_int64(row, 1));
  if (a->type == CST__GC_NONE) {
    return cst__fail(error, CST_CORRUPT, "restore a copy", "artifact %lld has no type",
                     (long long)a->id);
  }
  if (sqlite3_column_type(row, 2) != SQLITE_NULL) {
    CST__TRY(copy_repeated(plan, row, 2, name_before, &a->name, error));
  }
  a->version = sqlite3_column_int64(row, 3);
  const int64_t state = sqlite3_column_int64(row, 4);
  if (state < CST_LINEAGE_LIVE || state > CST_LINEAGE_ABANDONED) {
    return cst__fail(error, CST_CORRUPT, "restore a copy", "artifact %lld has no such state: %lld",
                     (long long)a->id, (long long)state);
  }
  a->state = (cst_lineage_state)state;
  a->is_external = sqlite3_column_int64(row, 5) != 0;
  a->created = sqlite3_column_int64(row, 6);
  a->was_deleted = a->state == CST_LINEAGE_DELETED;
  a->was_abandoned = a->state == CST_LINEAGE_ABANDONED;
  a->was_marked = a->state == CST_LINEAGE_MARKED;
  a->because = CST__GC_NONE;
  a->origin = CST__GC_NONE;
  a->links = CST__GC_NONE;
  return CST_OK;
}

static cst_status read_reference(cst__gc_plan *plan, sqlite3_stmt *row, cst_error *error) {
  const cst__gc_reference *last = plan->references.items;
  last = plan->references.count > 0 ? last + plan->references.count - 1 : NULL;
  const char *role_before = last != NULL ? last->role : NULL;
  const size_t from = cst__gc_find(plan, sqlite3_column_int64(row, 0), last ? last->from : 0);
  const size_t to = cst__gc_find(plan, sqlite3_column_int64(row, 2), last ? last->to : 0);
  if (from == CST__GC_NONE || to == CST__GC_NONE) {
    return CST_OK; /* of what there never was: cst_lineage_check says so */
  }
  cst__gc_reference *reference = cst__gc_append(plan, &plan->references, sizeof *reference);
  if (reference == NULL) {
    return cst__fail_memory(error, sizeof *reference);
  }
  reference->from = from;
  reference->to = to;
  return copy_repeated(plan, row, 1, role_before, &reference->role, error);
}

static cst_status read_execution(cst__gc_plan *plan, sqlite3_stmt *row, cst_error *error) {
  cst__gc_execution *execution = cst__gc_append(plan, &plan->held.executions, sizeof *execution);
  if (execution == NULL) {
    return cst__fail_memory(error, sizeof *execution);
  }
  execution->id = sqlite3_column_int64(row, 0);
  execution->started = sqlite3_column_int64(row, 1);
  return cst__gc_copy(plan, cst__lineage_text(row, 2), &execution->type, error);
}

static cst_status read_lease(cst__gc_plan *plan, sqlite3_stmt *row, cst_error *error) {
  cst__gc_lease *lease = cst__gc_append(plan, &plan->held.leases, sizeof *lease);
  if (lease == NULL) {
    return cst__fail_memory(error, sizeof *lease);
  }
  lease->id = sqlite3_column_int64(row, 0);
  lease->expires = sqlite3_column_int64(row, 2);
  lease->execution = sqlite3_column_int64(row, 3);
  return cst__gc_copy(plan, cst__lineage_text(row, 1), &lease->holder, error);
}

static cst_status add_event(cst__gc_plan *plan, cst__gc_array *array, sqlite3_stmt *row,
                            cst_error *error) {
  const cst__gc_event *last = array->items;
  const size_t near = array->count > 0 ? last[array->count - 1].artifact : 0;
  const size_t artifact = cst__gc_find(plan, sqlite3_column_int64(row, 1), near);
  if (artifact == CST__GC_NONE) {
    return CST_OK;
  }
  cst__gc_event *event = cst__gc_append(plan, array, sizeof *event);
  if (event == NULL) {
    return cst__fail_memory(error, sizeof *event);
  }
  event->execution = sqlite3_column_int64(row, 0);
  event->artifact = artifact;
  event->is_output = sqlite3_column_int64(row, 2) != 0;
  return CST_OK;
}

static cst_status read_leased(cst__gc_plan *plan, sqlite3_stmt *row, cst_error *error) {
  return add_event(plan, &plan->held.leased, row, error);
}
static cst_status read_running(cst__gc_plan *plan, sqlite3_stmt *row, cst_error *error) {
  return add_event(plan, &plan->held.running, row, error);
}
static cst_status read_event(cst__gc_plan *plan, sqlite3_stmt *row, cst_error *error) {
  return add_event(plan, &plan->held.events, row, error);
}

/* ---- files ---- */

/* A link's `path` is the id of its file until load_paths. */
static cst_status read_link(cst__gc_plan *plan, sqlite3_stmt *row, cst_error *error) {
  const size_t at = cst__gc_find(plan, sqlite3_column_int64(row, 0), plan->near);
  if (at == CST__GC_NONE) {
    return CST_OK;
  }
  plan->near = at;
  cst__gc_artifact *a = cst__gc_artifact_at(plan, at);
  if (a->state == CST_LINEAGE_DELETED && !a->is_external) {
    return CST_OK;
  }
  if (a->links == CST__GC_NONE) {
    a->links = plan->links.count;
  }
  cst__gc_link *link = cst__gc_append(plan, &plan->links, sizeof *link);
  if (link == NULL) {
    return cst__fail_memory(error, sizeof *link);
  }
  link->path = (size_t)sqlite3_column_int64(row, 1);
  link->is_file = sqlite3_column_type(row, 2) != SQLITE_NULL;
  link->has_role = sqlite3_column_type(row, 3) != SQLITE_NULL;
  link->size = sqlite3_column_type(row, 4) != SQLITE_NULL ? sqlite3_column_int64(row, 4) : -1;
  link->modified = sqlite3_column_int64(row, 2);
  return CST_OK;
}

static cst_status load_links(cst__gc_plan *plan, cst_error *error) {
  CST__TRY(read_table(
      plan,
      "SELECT artifact, file, modified, role, size FROM artifact_file ORDER BY artifact, position",
      read_link, error));
  for (size_t i = plan->artifacts.count, next = plan->links.count; i-- > 0;) {
    cst__gc_artifact *a = cst__gc_artifact_at(plan, i);
    next = a->links != CST__GC_NONE ? a->links : next;
    a->links = next;
  }
  return CST_OK;
}

/* The paths without texts, each once. */
static cst_status list_paths(cst__gc_plan *plan, cst_error *error) {
  const size_t count = plan->links.count;
  int64_t *ids = cst__new(&plan->store->allocator, (count + 1) * sizeof *ids);
  if (ids == NULL) {
    return cst__fail_memory(error, count * sizeof *ids);
  }
  for (size_t i = 0; i < count; i++) {
    ids[i] = (int64_t)cst__gc_link_at(plan, i)->path;
  }
  qsort(ids, count, sizeof *ids, compare_ids);
  cst_status status = CST_OK;
  for (size_t i = 0; i < count && status == CST_OK; i++) {
    if (i > 0 && ids[i] == ids[i - 1]) {
      continue;
    }
    cst__gc_path *path = cst__gc_append(plan, &plan->paths, sizeof *path);
    if (path == NULL) {
      status = cst__fail_memory(error, sizeof *path);
      break;
    }
    *path = (cst__gc_path){.file = ids[i], .needed_by = CST__GC_NONE};
  }
  cst__delete(ids);
  return status;
}

/* Every part of a path has a name, and is no way up. */
static bool is_sound_path(const char *text, size_t size) {
  if (size == 0 || strlen(text) != size) {
    return false;
  }
  if (cst__lineage_path_is_url(text) || strcmp(text, ".") == 0 || strcmp(text, "/") == 0) {
    return true;
  }
  for (const char *part = text + (text[0] == '/'); part != NULL;) {
    const char *slash = strchr(part, '/');
    const size_t length = slash != NULL ? (size_t)(slash - part) : strlen(part);
    if (length == 0 || (length <= 2 && strncmp(part, "..", length) == 0)) {
      return false;
    }
    part = slash != NULL ? slash + 1 : NULL;
  }
  return true;
}

static cst_status read_path(cst__gc_plan *plan, sqlite3_stmt *row, cst_error *error) {
  const size_t at = find_id(&plan->paths, sizeof(cst__gc_path), sqlite3_column_int64(row, 0));
  if (at == CST__GC_NONE) {
    return CST_OK;
  }
  cst__gc_path *path = cst__gc_path_at(plan, at);
  const char *text = cst__lineage_text(row, 1);
  path->is_damaged = !is_sound_path(text, (size_t)sqlite3_column_bytes(row, 1));
  return cst__gc_copy(plan, text, &path->text, error);
}

static cst_status load_paths(cst__gc_plan *plan, cst_error *error) {
  CST__TRY(list_paths(plan, error));
  CST__TRY(read_table(plan, "SELECT id, path FROM file", read_path, error));
  for (size_t i = 0; i < plan->links.count; i++) {
    cst__gc_link *link = cst__gc_link_at(plan, i);
    link->path = find_id(&plan->paths, sizeof(cst__gc_path), (int64_t)link->path);
  }
  for (size_t i = 0; i < plan->paths.count; i++) {
    cst__gc_path *path = cst__gc_path_at(plan, i);
    if (path->text == NULL) {
      path->text = "";
      path->is_damaged = true;
    }
  }
  return CST_OK;
}

/* ---- what an earlier run has begun ---- */

static cst_status read_doomed(cst__gc_plan *plan, sqlite3_stmt *row, cst_error *error) {
  cst__gc_doomed *doomed = cst__gc_append(plan, &plan->left_over, sizeof *doomed);
  if (doomed == NULL) {
    return cst__fail_memory(error, sizeof *doomed);
  }
  doomed->id = sqlite3_column_int64(row, 1);
  doomed->artifact = cst__gc_find(plan, doomed->id, 0);
  doomed->path = sqlite3_column_type(row, 2) == SQLITE_NULL
                     ? CST__GC_NONE
                     : find_id(&plan->paths, sizeof(cst__gc_path), sqlite3_column_int64(row, 2));
  doomed->is_stray = true;
  return cst__gc_copy(plan, cst__lineage_text(row, 0), &doomed->text, error);
}

static int compare_doomed(const void *a, const void *b) {
  const cst__gc_doomed *x = a;
  const cst__gc_doomed *y = b;
  return x->artifact != y->artifact ? (x->artifact > y->artifact) - (x->artifact < y->artifact)
                                    : (x->path > y->path) - (x->path < y->path);
}

/* Finds the links that have a row of an earlier run. A row without a link is a stray. */
static cst_status load_doomed(cst__gc_plan *plan, cst_error *error) {
  CST__TRY(read_table(plan,
                      "SELECT d.path, d.artifact, f.id FROM doomed d LEFT JOIN file f"
                      " ON f.path = d.path",
                      read_doomed, error));
  const size_t count = plan->left_over.count;
  if (count == 0) {
    return CST_OK;
  }
  qsort(plan->left_over.items, count, sizeof(cst__gc_doomed), compare_doomed);
  for (size_t i = 0; i < plan->artifacts.count; i++) {
    cst__gc_artifact *a = cst__gc_artifact_at(plan, i);
    const size_t end = a->was_marked ? cst__gc_links_end(plan, i) : a->links;
    for (size_t l = a->links; l < end; l++) {
      cst__gc_link *link = cst__gc_link_at(plan, l);
      const cst__gc_doomed key = {.artifact = i, .path = link->path};
      cst__gc_doomed *found =
          bsearch(&key, plan->left_over.items, count, sizeof key, compare_doomed);
      if (found != NULL) {
        found->is_stray = false;
        link->was_doomed = true;
        a->is_unfinished = true;
      }
    }
  }
  return CST_OK;
}

cst_status cst__gc_load(cst__gc_plan *plan, cst_error *error) {
  CST__TRY(
      read_table(plan, "SELECT id, name FROM type WHERE kind = 0 ORDER BY id", read_type, error));
  CST__TRY(read_table(plan,
                      "SELECT id, type, name, version, state, is_external, created FROM artifact"
                      " ORDER BY id",
                      read_artifact, error));
  CST__TRY(read_table(plan, "SELECT artifact, role, target FROM reference ORDER BY artifact",
                      read_reference, error));
  CST__TRY(read_table(plan,
                      "SELECT e.id, e.started, t.name FROM execution e LEFT JOIN type t"
                      " ON t.id = e.type WHERE e.ended IS NULL AND e.state = 0 ORDER BY e.id",
                      read_execution, error));
  CST__TRY(read_table(plan, "SELECT id, holder, expires, execution FROM lease ORDER BY id",
                      read_lease, error));
  CST__TRY(
      read_table(plan, "SELECT lease, artifact, 0 FROM leased ORDER BY lease", read_leased, error));
  CST__TRY(
      read_table(plan,
                 "SELECT execution, artifact, direction FROM event WHERE execution IN"
                 " (SELECT id FROM execution WHERE ended IS NULL AND state = 0) ORDER BY execution",
                 read_running, error));
  if (plan->options->num_keep_ancestors_of > 0) {
    CST__TRY(read_table(plan, "SELECT execution, artifact, direction FROM event ORDER BY execution",
                        read_event, error));
  }
  CST__TRY(load_links(plan, error));
  CST__TRY(load_paths(plan, error));
  return load_doomed(plan, error);
}
