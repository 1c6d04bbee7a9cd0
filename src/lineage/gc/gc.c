/* cst_lineage_gc, and what it finds in words. */
#include "lineage/gc/gc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arrow/findings.h"
#include "base/arguments.h"
#include "lineage/artifacts.h"
#include "lineage/store_paths.h"
#include "text/time.h"

/* ---- words ---- */

enum { REASON = 700 };

/* "30 d", in the largest unit that is whole. */
static void put_age(char *to, size_t room, int64_t seconds) {
  static const struct {
    int64_t seconds;
    const char *name;
  } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
  size_t i = 0;
  while (seconds % units[i].seconds != 0) {
    i++;
  }
  (void)snprintf(to, room, "%" PRId64 " %s", seconds / units[i].seconds, units[i].name);
}

static void put_lease(const cst__gc_plan *plan, const cst__gc_artifact *a, char *to, size_t room) {
  const cst__gc_lease *lease = (const cst__gc_lease *)plan->held.leases.items + a->because;
  char until[CST__TIME_SIZE];
  const size_t size = cst__print_timestamp(until, lease->expires / CST__GC_US, 0, true);
  (void)snprintf(to, room, "held by lease of %s until %.*s", lease->holder, (int)size, until);
}

static void put_execution(const cst__gc_plan *plan, const cst__gc_artifact *a, const char *as,
                          char *to, size_t room) {
  const cst__gc_execution *e = (const cst__gc_execution *)plan->held.executions.items + a->because;
  (void)snprintf(to, room, "%s of %s (execution %" PRId64 "), which runs", as, e->type, e->id);
}

static void put_newest(const cst__gc_plan *plan, const cst__gc_artifact *a, char *to, size_t room) {
  if (plan->options->keep == 1) {
    (void)snprintf(to, room, "newest of %s", a->role);
  } else {
    (void)snprintf(to, room, "newest %" PRId64 " of %s", plan->options->keep, a->role);
  }
}

static void put_keeping(const cst__gc_plan *plan, const cst__gc_artifact *a, char *to,
                        size_t room) {
  char text[CST__LINEAGE_LABEL];
  switch (a->why) {
    case CST__GC_NO_POLICY:
      (void)snprintf(to, room, "no policy given");
      break;
    case CST__GC_TYPE:
      (void)snprintf(to, room, "not of a type that may go");
      break;
    case CST__GC_NEWEST:
      put_newest(plan, a, to, room);
      break;
    case CST__GC_YOUNG:
      put_age(text, sizeof text, plan->options->max_age);
      (void)snprintf(to, room, "younger than %s", text);
      break;
    case CST__GC_LEASE:
      put_lease(plan, a, to, room);
      break;
    case CST__GC_INPUT:
      put_execution(plan, a, "input", to, room);
      break;
    case CST__GC_OUTPUT:
      put_execution(plan, a, "output", to, room);
      break;
    case CST__GC_REFERENCE:
      cst__gc_label(plan, a->because, text, sizeof text);
      (void)snprintf(to, room, "%s of %s", a->role, text);
      break;
    case CST__GC_ANCESTOR:
      cst__gc_label(plan, a->because, text, sizeof text);
      (void)snprintf(to, room, "%s came from it", text);
      break;
    default:
      (void)snprintf(to, room, "pending, and no execution makes it yet");
  }
}

/* A file of it stays though it should not. */
static bool is_stuck(const cst__gc_plan *plan, size_t artifact) {
  const size_t end = cst__gc_links_end(plan, artifact);
  for (size_t i = cst__gc_artifact_at(plan, artifact)->links; i < end; i++) {
    const cst__gc_link *link = cst__gc_link_at(plan, i);
    if (link->is_doomed && cst__gc_path_at(plan, link->path)->is_stuck) {
      return true;
    }
  }
  return false;
}

static void put_going(const cst__gc_artifact *a, bool has_failed, char *to, size_t room) {
  (void)snprintf(to, room, "%s%s",
                 a->was_marked  ? "marked by an earlier run"
                 : a->is_lapsed ? "its execution stopped without an end"
                 : a->state == CST_LINEAGE_ABANDONED || a->was_abandoned ? "its execution failed"
                                                                         : "no policy keeps it",
                 has_failed ? "; not all files could be deleted" : "");
}

/* ---- findings ---- */

static const cst__finding_column file_columns[] = {CST__FILE("path"), CST__TEXT("action"),
                                                   CST__TEXT_OR_NULL("reason")};
static const cst__finding_column columns[] = {CST__NUMBER("id"),
                                              CST__TEXT("type"),
                                              CST__TEXT("reference"),
                                              CST__TEXT("state"),
                                              CST__TEXT("action"),
                                              CST__TEXT("reason"),
                                              CST__LIST_OF("files", file_columns)};
static const cst__finding_type gc_type = {"artifacts", columns, 7};

static cst_status put_file(cst_findings *found, const cst__gc_plan *plan, const cst__gc_link *link,
                           cst_error *error) {
  static const char *const actions[] = {"keep", "delete", "gone"};
  const cst__gc_path *path = cst__gc_path_at(plan, link->path);
  const char *text = path->absolute;
  char *made = NULL;
  if (text == NULL) {
    CST__TRY(cst__lineage_path_out(plan->store, path->text, &made, error));
    text = made;
  }
  cst__put_text(found, text);
  cst__delete(made);
  cst__put_text(found, link->is_doomed ? actions[path->action] : "keep");
  cst__put_text(found, link->is_doomed ? path->reason : link->reason);
  return CST_OK;
}

static cst_status put_files(cst_findings *found, const cst__gc_plan *plan, size_t artifact,
                            cst_error *error) {
  const cst__gc_artifact *a = cst__gc_artifact_at(plan, artifact);
  const size_t end = a->why == CST__GC_GOES ? cst__gc_links_end(plan, artifact) : a->links;
  cst_status status = CST_OK;
  cst__open_list(found);
  for (size_t i = a->links; i < end && status == CST_OK; i++) {
    const cst__gc_link *link = cst__gc_link_at(plan, i);
    if (link->is_doomed || link->reason != NULL) {
      status = put_file(found, plan, link, error);
    }
  }
  cst__close_list(found);
  return status;
}

static cst_status put_artifact(cst_findings *found, const cst__gc_plan *plan, size_t artifact,
                               cst_error *error) {
  const cst__gc_artifact *a = cst__gc_artifact_at(plan, artifact);
  char text[REASON];
  cst__put_signed(found, a->id);
  cst__put_text(found, ((const cst__gc_type *)plan->types.items)[a->type].name);
  cst__gc_label(plan, artifact, text, CST__LINEAGE_LABEL);
  cst__put_text(found, text);
  cst__put_text(
      found, cst__lineage_state_name(a->is_lapsed && plan->options->is_dry_run ? CST_LINEAGE_PENDING
                                                                               : a->state));
  cst__put_text(found, a->why == CST__GC_GOES ? "delete" : "keep");
  if (a->why == CST__GC_GOES) {
    put_going(a, is_stuck(plan, artifact), text, sizeof text);
  } else {
    put_keeping(plan, a, text, sizeof text);
  }
  cst__put_text(found, text);
  return put_files(found, plan, artifact, error);
}

static cst_status put_all(cst_findings *found, const cst__gc_plan *plan, cst_error *error) {
  uint64_t kept = 0, deleted = 0, files = 0, bytes = 0;
  for (size_t i = 0; i < plan->artifacts.count; i++) {
    const cst__gc_artifact *a = cst__gc_artifact_at(plan, i);
    if (a->was_deleted) {
      continue;
    }
    CST__TRY(put_artifact(found, plan, i, error));
    kept += a->why != CST__GC_GOES;
    deleted += a->why == CST__GC_GOES && !is_stuck(plan, i);
  }
  for (size_t i = 0; i < plan->paths.count; i++) {
    files += (uint64_t)cst__gc_path_at(plan, i)->files;
    bytes += (uint64_t)cst__gc_path_at(plan, i)->bytes;
  }
  cst__put_total(found, "kept", kept);
  cst__put_total(found, "deleted", deleted);
  cst__put_total(found, "files", files);
  cst__put_total(found, "bytes", bytes);
  return CST_OK;
}

static cst_status find_artifacts(const cst__gc_plan *plan, cst_findings **out, cst_error *error) {
  cst_findings *found;
  CST__TRY(cst__findings_new(&gc_type, &plan->store->allocator, &found, error));
  const cst_status status = put_all(found, plan, error);
  if (status != CST_OK) {
    cst_findings_free(found);
    return status;
  }
  return cst__findings_finish(found, out, error);
}

/* ---- the run ---- */

static bool is_type(const cst__gc_plan *plan, const char *name) {
  static const char *const usual[] = {"Examples", "DataView", "Schema", "Statistics", "Model"};
  for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
    if (strcmp(usual[i], name) == 0) {
      return true;
    }
  }
  for (size_t i = 0; i < plan->types.count; i++) {
    if (strcmp(((const cst__gc_type *)plan->types.items)[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

/* A word that is misspelt must not keep less than was meant. */
static cst_status check_types(const cst__gc_plan *plan, const char *option,
                              const char *const *names, size_t count, cst_error *error) {
  for (size_t i = 0; i < count; i++) {
    if (!is_type(plan, names[i])) {
      return cst__fail(error, CST_INVALID_ARGUMENT,
                       "Examples, DataView, Schema, Statistics, Model, or one of your own",
                       "`%s`: no artifact has the type '%.100s'", option, names[i]);
    }
  }
  return CST_OK;
}

/* The same of properties: of one that nothing has, all would be one group. */
static cst_status check_groups(const cst__gc_plan *plan, cst_error *error) {
  const cst_lineage_gc_options *options = plan->options;
  for (size_t i = 0; i < options->num_group_by && plan->artifacts.count > 0; i++) {
    const char *name = options->group_by[i];
    sqlite3_stmt *find;
    bool is_row = true;
    if (strcmp(name, "name") != 0 && strcmp(name, "type") != 0) {
      CST__TRY(cst__lineage_prepare(
          plan->store, "SELECT 1 FROM property WHERE name = ? AND kind = 0 LIMIT 1", &find, error));
      cst__lineage_bind_text(find, 1, name);
      CST__TRY(cst__lineage_step(plan->store, find, &is_row, error));
      (void)sqlite3_reset(find);
    }
    if (!is_row) {
      return cst__fail(error, CST_INVALID_ARGUMENT, "name, type, or a property such as span",
                       "`group_by`: no artifact has the property '%.100s'", name);
    }
  }
  return CST_OK;
}

static cst_status make_plan(cst__gc_plan *plan, cst_error *error) {
  const cst_lineage_gc_options *options = plan->options;
  CST__TRY(cst__gc_load(plan, error));
  CST__TRY(check_types(plan, "types", options->types, options->num_types, error));
  CST__TRY(check_types(plan, "keep_ancestors_of", options->keep_ancestors_of,
                       options->num_keep_ancestors_of, error));
  CST__TRY(check_groups(plan, error));
  CST__TRY(cst__gc_choose(plan, error));
  CST__TRY(cst__gc_choose_files(plan, error));
  return options->is_dry_run ? CST_OK : cst__gc_write(plan, error);
}

static cst_status collect(cst__gc_plan *plan, cst_findings **out, cst_error *error) {
  const bool is_dry = plan->options->is_dry_run;
  CST__TRY(
      cst__lineage_enter(plan->store, is_dry ? CST__LINEAGE_READS : CST__LINEAGE_WRITES, error));
  CST__TRY(cst__lineage_leave(plan->store, make_plan(plan, error), error));
  CST__TRY(is_dry ? cst__gc_rehearse(plan, error) : cst__gc_delete(plan, error));
  return find_artifacts(plan, out, error);
}

static void free_plan(cst__gc_plan *plan) {
  cst__gc_array *const arrays[] = {&plan->types,       &plan->artifacts,   &plan->links,
                                   &plan->paths,       &plan->references,  &plan->held.executions,
                                   &plan->held.leases, &plan->held.leased, &plan->held.running,
                                   &plan->held.events, &plan->left_over,   &plan->roots,
                                   &plan->needed,      &plan->going,       &plan->doomed};
  for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
    cst__delete(arrays[i]->items);
  }
  cst__name_map_reset(&plan->by_text);
  cst__arena_reset(&plan->arena);
}

static cst_status check_names(const char *const *names, size_t count, const char *option,
                              cst_error *error) {
  for (size_t i = 0; i < count; i++) {
    if (names == NULL || names[i] == NULL) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "`%s` has a NULL among its %zu", option,
                       count);
    }
  }
  return CST_OK;
}

static cst_status check_options(const cst_lineage *store, const cst_lineage_gc_options *options,
                                cst_error *error) {
  if (options->keep < 0 || options->max_age < 0 || options->now < 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "`keep`, `max_age` and `now` are not negative");
  }
  CST__TRY(check_names(options->group_by, options->num_group_by, "group_by", error));
  CST__TRY(check_names(options->types, options->num_types, "types", error));
  CST__TRY(check_names(options->keep_ancestors_of, options->num_keep_ancestors_of,
                       "keep_ancestors_of", error));
  return store->in_transaction && !options->is_dry_run
             ? cst__fail(error, CST_STATE, "commit it first",
                         "files cannot be deleted within a transaction: they would not come back")
             : CST_OK;
}

cst_status cst_lineage_gc(cst_lineage *store, const cst_lineage_gc_options *options,
                          cst_findings **out, cst_error *error) {
  cst_lineage_gc_options own = CST_LINEAGE_GC_OPTIONS_INIT;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(store, "store", out, error));
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(check_options(store, &own, error));
  cst__gc_plan plan = {
      .store = store, .options = &own, .now = own.now != 0 ? own.now : cst__lineage_now()};
  cst__arena_init(&plan.arena, &store->allocator);
  const cst_status status = collect(&plan, out, error);
  free_plan(&plan);
  return status;
}
