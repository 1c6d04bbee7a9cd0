/* Writing a plan down, and deleting the files of what goes. */
#include <stdlib.h>
#include <time.h>

#include "base/interrupt.h"
#include "lineage/artifacts.h"
#include "lineage/gc/gc.h"

enum {
  TURN_NS = 50 * 1000 * 1000, /* how long others wait at most, but for one file */
  PAUSE_NS = 2 * 1000 * 1000
};

static void bind_path(sqlite3_stmt *statement, int parameter, const char *path) {
  (void)sqlite3_bind_blob64(statement, parameter, path, strlen(path), SQLITE_STATIC);
}

/* ---- the plan ---- */

static cst_status set_state(cst__gc_plan *plan, cst__gc_artifact *a, cst_lineage_state state,
                            cst_error *error) {
  sqlite3_stmt *update;
  CST__TRY(cst__lineage_prepare(
      plan->store, "UPDATE artifact SET state = ?, updated = ? WHERE id = ? AND state <> 3",
      &update, error));
  (void)sqlite3_bind_int64(update, 1, state);
  (void)sqlite3_bind_int64(update, 2, cst__lineage_now());
  (void)sqlite3_bind_int64(update, 3, a->id);
  CST__TRY(cst__lineage_step(plan->store, update, NULL, error));
  a->state = state;
  return CST_OK;
}

static cst_status add_doomed(cst__gc_plan *plan, const char *path, int64_t artifact,
                             cst_error *error) {
  sqlite3_stmt *insert;
  CST__TRY(cst__lineage_prepare(plan->store, "INSERT OR IGNORE INTO doomed VALUES(?, ?)", &insert,
                                error));
  bind_path(insert, 1, path);
  (void)sqlite3_bind_int64(insert, 2, artifact);
  return cst__lineage_step(plan->store, insert, NULL, error);
}

static cst_status remove_doomed(cst__gc_plan *plan, const char *path, int64_t artifact,
                                cst_error *error) {
  sqlite3_stmt *remove;
  CST__TRY(cst__lineage_prepare(plan->store, "DELETE FROM doomed WHERE path = ? AND artifact = ?",
                                &remove, error));
  bind_path(remove, 1, path);
  (void)sqlite3_bind_int64(remove, 2, artifact);
  return cst__lineage_step(plan->store, remove, NULL, error);
}

static cst_status end_leases(cst__gc_plan *plan, cst_error *error) {
  const cst__gc_lease *leases = plan->held.leases.items;
  for (size_t i = 0; i < plan->held.leases.count; i++) {
    sqlite3_stmt *remove;
    if (leases[i].lasts) {
      continue;
    }
    CST__TRY(
        cst__lineage_prepare(plan->store, "DELETE FROM leased WHERE lease = ?", &remove, error));
    (void)sqlite3_bind_int64(remove, 1, leases[i].id);
    CST__TRY(cst__lineage_step(plan->store, remove, NULL, error));
    CST__TRY(cst__lineage_prepare(plan->store, "DELETE FROM lease WHERE id = ?", &remove, error));
    (void)sqlite3_bind_int64(remove, 1, leases[i].id);
    CST__TRY(cst__lineage_step(plan->store, remove, NULL, error));
  }
  return CST_OK;
}

static cst_status end_executions(cst__gc_plan *plan, cst_error *error) {
  const cst__gc_execution *executions = plan->held.executions.items;
  for (size_t i = 0; i < plan->held.executions.count; i++) {
    if (executions[i].is_lapsed) {
      CST__TRY(cst__lineage_end(plan->store, executions[i].id, CST_LINEAGE_FAILED, error));
    }
  }
  return CST_OK;
}

static cst_status write_links(cst__gc_plan *plan, size_t artifact, cst_error *error) {
  const cst__gc_artifact *a = cst__gc_artifact_at(plan, artifact);
  const size_t end = cst__gc_links_end(plan, artifact);
  for (size_t i = a->links; i < end; i++) {
    const cst__gc_link *link = cst__gc_link_at(plan, i);
    const char *path = cst__gc_path_at(plan, link->path)->text;
    if (link->is_doomed && !link->was_doomed) {
      CST__TRY(add_doomed(plan, path, a->id, error));
    } else if (link->was_doomed && !link->is_doomed) {
      CST__TRY(remove_doomed(plan, path, a->id, error));
    }
  }
  return CST_OK;
}

static cst_status write_artifact(cst__gc_plan *plan, size_t artifact, cst_error *error) {
  cst__gc_artifact *a = cst__gc_artifact_at(plan, artifact);
  if (a->state == CST_LINEAGE_DELETED || (a->why != CST__GC_GOES && !a->was_marked)) {
    return CST_OK;
  }
  CST__TRY(write_links(plan, artifact, error));
  if (a->why != CST__GC_GOES) {
    return set_state(plan, a, CST_LINEAGE_LIVE, error); /* somebody else had marked it */
  }
  if (a->left == 0) {
    return set_state(plan, a, CST_LINEAGE_DELETED, error);
  }
  return a->was_marked ? CST_OK : set_state(plan, a, CST_LINEAGE_MARKED, error);
}

cst_status cst__gc_write(cst__gc_plan *plan, cst_error *error) {
  const cst__gc_doomed *left_over = plan->left_over.items;
  CST__TRY(end_executions(plan, error));
  CST__TRY(end_leases(plan, error));
  for (size_t i = 0; i < plan->left_over.count; i++) {
    if (left_over[i].is_stray) {
      CST__TRY(remove_doomed(plan, left_over[i].text, left_over[i].id, error));
    }
  }
  for (size_t i = 0; i < plan->artifacts.count; i++) {
    CST__TRY(write_artifact(plan, i, error));
    if (i % 4096 == 0) {
      CST__TRY(cst__interrupted(error));
    }
  }
  return CST_OK;
}

/* ---- one file ---- */

/* Artifacts by the paths that they doom. */
typedef struct want {
  size_t path, artifact;
} want;

typedef struct deletion {
  cst__gc_plan *plan;
  want *wants; /* in the order of paths */
  size_t num_wants;
  int64_t deadline; /* of this turn */
} deletion;

/* Who needs the path, or a folder that it lies in: *needed is what is named, NULL if nobody. */
static cst_status find_need(cst__gc_plan *plan, const char *path, char label[CST__LINEAGE_LABEL],
                            bool *is_needed, bool *is_same, cst_error *error) {
  sqlite3_stmt *find;
  const size_t room = strlen(path) + strlen(plan->store->folder) + 2;
  char *at = cst__new(&plan->store->allocator, room);
  if (at == NULL) {
    return cst__fail_memory(error, room);
  }
  memcpy(at, path, strlen(path) + 1);
  cst_status status;
  int64_t artifact = 0;
  *is_needed = false;
  do {
    status = cst__lineage_prepare(
        plan->store,
        "SELECT a.id FROM file f JOIN artifact_file l ON l.file = f.id JOIN artifact a"
        " ON a.id = l.artifact WHERE f.path = ? AND (a.is_external OR a.state NOT IN (2, 3))"
        " LIMIT 1",
        &find, error);
    if (status != CST_OK) {
      break;
    }
    bind_path(find, 1, at);
    status = cst__lineage_step(plan->store, find, is_needed, error);
    if (*is_needed) {
      artifact = sqlite3_column_int64(find, 0);
      *is_same = strcmp(at, path) == 0;
    }
    (void)sqlite3_reset(find);
  } while (status == CST_OK && !*is_needed && cst__gc_parent(plan->store, at, room));
  cst__delete(at);
  CST__TRY(status);
  return *is_needed ? cst__lineage_label(plan->store, artifact, label, error) : CST_OK;
}

/* What others need in a folder; *out: cst__delete, and their texts are in the arena. */
static cst_status find_inside(cst__gc_plan *plan, const char *path, cst__arena *arena,
                              cst__gc_array *out, int64_t *artifact, cst_error *error) {
  sqlite3_stmt *find;
  const size_t size = strlen(path);
  char *from = cst__arena_take(arena, size + 1);
  char *to = cst__arena_take(arena, size + 1);
  if (from == NULL || to == NULL) {
    return cst__fail_memory(error, size + 1);
  }
  memcpy(from, path, size + 1);
  memcpy(to, path, size + 1);
  from[size] = '/';
  to[size] = '/' + 1;
  CST__TRY(cst__lineage_prepare(
      plan->store,
      "SELECT f.path, min(a.id) FROM file f JOIN artifact_file l ON l.file = f.id JOIN artifact a"
      " ON a.id = l.artifact WHERE f.path > ? AND f.path < ?"
      " AND (a.is_external OR a.state NOT IN (2, 3)) GROUP BY f.path ORDER BY f.path",
      &find, error));
  (void)sqlite3_bind_blob64(find, 1, from, size + 1, SQLITE_STATIC);
  (void)sqlite3_bind_blob64(find, 2, to, size + 1, SQLITE_STATIC);
  for (;;) {
    bool is_row;
    CST__TRY(cst__lineage_step(plan->store, find, &is_row, error));
    if (!is_row) {
      return CST_OK;
    }
    const char **item = cst__gc_append(plan, out, sizeof *item);
    const char *text = cst__lineage_text(find, 0);
    if (item == NULL || (*item = cst__arena_copy(arena, text, strlen(text))) == NULL) {
      (void)sqlite3_reset(find);
      return cst__fail_memory(error, sizeof *item);
    }
    *artifact = sqlite3_column_int64(find, 1);
  }
}

static cst__gc_task task_of(const cst__gc_path *path) {
  const size_t size = strcmp(path->root, "/") == 0 ? 0 : strlen(path->root);
  return (cst__gc_task){.root = path->root,
                        .rest = path->absolute + size + 1,
                        .path = path->text,
                        .is_file = !path->may_be_folder};
}

/* What came of a walk, for people. `label` is of whoever needs something inside; NULL: nobody. */
static cst_status take_outcome(cst__gc_plan *plan, cst__gc_path *path,
                               const cst__gc_outcome *outcome, const char *label,
                               cst_error *error) {
  path->files = outcome->files;
  path->bytes = outcome->bytes;
  path->reason = NULL;
  path->is_stuck = outcome->end == CST__GC_UNABLE;
  switch (outcome->end) {
    case CST__GC_DONE:
      path->action = CST__GC_DELETE;
      return label == NULL
                 ? CST_OK
                 : cst__gc_print(plan, &path->reason, error, "but for what %s needs", label);
    case CST__GC_MISSING:
      path->action = CST__GC_GONE;
      return CST_OK;
    default:
      path->action = CST__GC_KEEP;
      return cst__gc_copy(plan, outcome->reason, &path->reason, error);
  }
}

static cst_status delete_inside(deletion *d, cst__gc_path *path, cst__gc_array *needed,
                                cst__arena *arena, cst__gc_outcome *outcome, cst_error *error) {
  char label[CST__LINEAGE_LABEL];
  int64_t artifact = 0;
  CST__TRY(find_inside(d->plan, path->text, arena, needed, &artifact, error));
  if (needed->count > 0) {
    CST__TRY(cst__lineage_label(d->plan->store, artifact, label, error));
  }
  cst__gc_task task = task_of(path);
  task.needed = (cst__gc_spared){needed->items, needed->count};
  task.deadline = d->deadline;
  CST__TRY(cst__gc_walk(&task, outcome, error));
  return take_outcome(d->plan, path, outcome, needed->count > 0 ? label : NULL, error);
}

/* Nobody needs the path itself: deletes it. */
static cst_status delete_path(deletion *d, cst__gc_path *path, cst__gc_end *how, cst_error *error) {
  cst__gc_array needed = {0};
  cst__arena arena;
  cst__gc_outcome outcome = {.files = path->files, .bytes = path->bytes};
  cst__arena_init(&arena, &d->plan->store->allocator);
  const cst_status status = delete_inside(d, path, &needed, &arena, &outcome, error);
  cst__delete(needed.items);
  cst__arena_reset(&arena);
  *how = outcome.end;
  return status;
}

static cst_status has_doomed(cst__gc_plan *plan, const char *path, bool *out, cst_error *error) {
  sqlite3_stmt *find;
  CST__TRY(cst__lineage_prepare(plan->store, "SELECT 1 FROM doomed WHERE path = ? LIMIT 1", &find,
                                error));
  bind_path(find, 1, path);
  CST__TRY(cst__lineage_step(plan->store, find, out, error));
  (void)sqlite3_reset(find);
  return CST_OK;
}

/* Its rows go, and artifacts that have no others are deleted. */
static cst_status finish_path(deletion *d, size_t at, cst_error *error) {
  sqlite3_stmt *remove;
  CST__TRY(
      cst__lineage_prepare(d->plan->store, "DELETE FROM doomed WHERE path = ?", &remove, error));
  bind_path(remove, 1, cst__gc_path_at(d->plan, at)->text);
  CST__TRY(cst__lineage_step(d->plan->store, remove, NULL, error));
  size_t begin = 0;
  for (size_t end = d->num_wants; begin < end;) {
    const size_t middle = begin + (end - begin) / 2;
    if (d->wants[middle].path < at) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  for (; begin < d->num_wants && d->wants[begin].path == at; begin++) {
    cst__gc_artifact *a = cst__gc_artifact_at(d->plan, d->wants[begin].artifact);
    if (--a->left == 0) {
      CST__TRY(set_state(d->plan, a, CST_LINEAGE_DELETED, error));
    }
  }
  return CST_OK;
}

static cst_status process(deletion *d, size_t at, bool *is_over, cst_error *error) {
  cst__gc_path *path = cst__gc_path_at(d->plan, at);
  char label[CST__LINEAGE_LABEL];
  bool is_doomed = false, is_needed = false, is_same = false;
  cst__gc_end how = CST__GC_DONE;
  *is_over = true;
  CST__TRY(has_doomed(d->plan, path->text, &is_doomed, error));
  CST__TRY(find_need(d->plan, path->text, label, &is_needed, &is_same, error));
  if (is_needed) {
    path->action = CST__GC_KEEP;
    CST__TRY(cst__gc_print(d->plan, &path->reason, error, "%s %s",
                           is_same ? "also of" : "in a folder of", label));
  } else if (!is_doomed) {
    path->action = CST__GC_GONE;
    path->reason = "deleted by another process";
  } else {
    CST__TRY(delete_path(d, path, &how, error));
  }
  if (how == CST__GC_OUT_OF_TIME) {
    *is_over = false;
    return CST_OK;
  }
  return how == CST__GC_UNABLE ? CST_OK : finish_path(d, at, error);
}

/* ---- all of them ---- */

static cst_status take_turn(deletion *d, size_t *next, cst_error *error) {
  const size_t *doomed = d->plan->doomed.items;
  d->deadline = cst__gc_clock() + TURN_NS;
  do {
    bool is_over;
    CST__TRY(process(d, doomed[*next], &is_over, error));
    *next += is_over;
  } while (*next < d->plan->doomed.count && cst__gc_clock() < d->deadline);
  return CST_OK;
}

static int compare_wants(const void *a, const void *b) {
  const want *x = a;
  const want *y = b;
  return (x->path > y->path) - (x->path < y->path);
}

static cst_status list_wants(deletion *d, cst_error *error) {
  const cst__gc_plan *plan = d->plan;
  d->wants = cst__new(&plan->store->allocator, (plan->links.count + 1) * sizeof *d->wants);
  if (d->wants == NULL) {
    return cst__fail_memory(error, plan->links.count * sizeof *d->wants);
  }
  for (size_t i = 0; i < plan->artifacts.count; i++) {
    const size_t end = cst__gc_links_end(plan, i);
    for (size_t l = cst__gc_artifact_at(plan, i)->links; l < end; l++) {
      if (cst__gc_link_at(plan, l)->is_doomed) {
        d->wants[d->num_wants++] = (want){cst__gc_link_at(plan, l)->path, i};
      }
    }
  }
  qsort(d->wants, d->num_wants, sizeof *d->wants, compare_wants);
  return CST_OK;
}

static cst_status delete_all(deletion *d, cst_error *error) {
  CST__TRY(list_wants(d, error));
  for (size_t next = 0; next < d->plan->doomed.count;) {
    CST__TRY(cst__lineage_enter(d->plan->store, CST__LINEAGE_WRITES, error));
    CST__TRY(cst__lineage_leave(d->plan->store, take_turn(d, &next, error), error));
    CST__TRY(cst__interrupted_now(error));
    if (next < d->plan->doomed.count) {
      const struct timespec pause = {0, PAUSE_NS}; /* so that others come in between */
      (void)nanosleep(&pause, NULL);
    }
  }
  return CST_OK;
}

cst_status cst__gc_delete(cst__gc_plan *plan, cst_error *error) {
  deletion d = {.plan = plan};
  const cst_status status = delete_all(&d, error);
  cst__delete(d.wants);
  return status;
}

/* What is deleted below a folder before the folder's own turn comes; *out: cst__delete. */
static cst_status find_counted(cst__gc_plan *plan, const char *folder, cst__gc_array *out,
                               cst_error *error) {
  cst__gc_spared below;
  CST__TRY(cst__gc_find_below(plan, &plan->going, folder, &below, error));
  for (size_t i = 0; i < below.count; i++) {
    const cst__gc_path *path = cst__gc_path_at(plan, cst__gc_find_path(plan, below.paths[i]));
    if (path->action != CST__GC_DELETE) {
      continue;
    }
    const char **item = cst__gc_append(plan, out, sizeof *item);
    if (item == NULL) {
      return cst__fail_memory(error, sizeof *item);
    }
    *item = path->text;
  }
  return CST_OK;
}

static cst_status rehearse(cst__gc_plan *plan, cst__gc_path *path, cst__gc_array *counted,
                           cst_error *error) {
  cst__gc_outcome outcome = {0};
  cst__gc_task task = task_of(path);
  char label[CST__LINEAGE_LABEL];
  CST__TRY(cst__gc_find_below(plan, &plan->needed, path->text, &task.needed, error));
  CST__TRY(find_counted(plan, path->text, counted, error));
  task.is_dry = true;
  task.counted = (cst__gc_spared){counted->items, counted->count};
  CST__TRY(cst__gc_walk(&task, &outcome, error));
  const bool is_needed = task.needed.count > 0;
  if (is_needed) {
    const size_t last = cst__gc_find_path(plan, task.needed.paths[task.needed.count - 1]);
    cst__gc_label(plan, cst__gc_path_at(plan, last)->needed_by, label, sizeof label);
  }
  return take_outcome(plan, path, &outcome, is_needed ? label : NULL, error);
}

cst_status cst__gc_rehearse(cst__gc_plan *plan, cst_error *error) {
  const size_t *doomed = plan->doomed.items;
  cst_status status = CST_OK;
  for (size_t i = 0; i < plan->doomed.count && status == CST_OK; i++) {
    cst__gc_array counted = {0};
    status = rehearse(plan, cst__gc_path_at(plan, doomed[i]), &counted, error);
    cst__delete(counted.items);
  }
  return status;
}
