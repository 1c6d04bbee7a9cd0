/* cst_lineage_openlineage: which executions, and the artifacts that they name. */
#include "lineage/openlineage/openlineage.h"

#include <stdlib.h>

#include "base/arguments.h"
#include "base/interrupt.h"
#include "lineage/store.h"

/* ---- rows ---- */

/* Artifacts are in the order of their ids. */
size_t cst__run_events_find(const cst__run_events *events, int64_t id) {
  size_t low = 0, high = cst_findings_num_rows(events->artifacts);
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int64_t found = cst_findings_number(events->artifacts, "id", middle);
    if (found == id) {
      return middle;
    }
    low = found < id ? middle + 1 : low;
    high = found < id ? high : middle;
  }
  return SIZE_MAX;
}

static int64_t view_id(const cst_findings *artifacts, size_t row) {
  size_t begin, end;
  (void)cst_findings_items(artifacts, "references", row, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    const char *role = cst_findings_text(artifacts, "references.role", i);
    if (role != NULL && strcmp(role, "view") == 0) {
      return cst_findings_number(artifacts, "references.id", i);
    }
  }
  return 0;
}

size_t cst__run_events_view_of(const cst__run_events *events, size_t artifact) {
  const int64_t id = view_id(events->artifacts, artifact);
  return id > 0 ? cst__run_events_find(events, id) : SIZE_MAX;
}

/* ---- artifacts of executions ---- */

typedef struct id_list {
  const cst_allocator *allocator;
  int64_t *ids;
  size_t count, capacity;
} id_list;

static bool add_id(id_list *list, int64_t id) {
  if (!cst__grow(list->allocator, (void **)&list->ids, &list->capacity, list->count + 1,
                 sizeof *list->ids)) {
    return false;
  }
  list->ids[list->count++] = id;
  return true;
}

static int compare_ids(const void *left, const void *right) {
  const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return a < b ? -1 : a > b;
}

static void sort_ids(id_list *list) {
  if (list->count == 0) {
    return;
  }
  qsort(list->ids, list->count, sizeof *list->ids, compare_ids);
  size_t count = 1;
  for (size_t i = 1; i < list->count; i++) {
    if (list->ids[i] != list->ids[count - 1]) {
      list->ids[count++] = list->ids[i];
    }
  }
  list->count = count;
}

static bool add_events(id_list *list, const cst_findings *executions, const char *column,
                       const char *id) {
  size_t begin, end;
  for (size_t row = 0; row < cst_findings_num_rows(executions); row++) {
    (void)cst_findings_items(executions, column, row, &begin, &end);
    for (size_t i = begin; i < end; i++) {
      if (!add_id(list, cst_findings_number(executions, id, i))) {
        return false;
      }
    }
  }
  return true;
}

static bool add_views(id_list *list, const cst_findings *artifacts) {
  for (size_t row = 0; row < cst_findings_num_rows(artifacts); row++) {
    const int64_t view = view_id(artifacts, row);
    if (view > 0 && !add_id(list, view)) {
      return false;
    }
  }
  return true;
}

static cst_status find(cst_lineage *store, cst_lineage_kind kind, const id_list *ids,
                       cst_findings **out, cst_error *error) {
  static const int64_t nobody;
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  query.kind = kind;
  query.every_state = true;
  query.ids = ids == NULL ? NULL : ids->ids != NULL ? ids->ids : &nobody;
  query.num_ids = ids != NULL ? ids->count : 0;
  return cst_lineage_find(store, &query, out, error);
}

/* Their artifacts, and then once more with the views that these are read through. */
static cst_status find_artifacts(cst_lineage *store, cst__run_events *events, id_list *ids,
                                 cst_error *error) {
  if (!add_events(ids, events->executions, "inputs", "inputs.id") ||
      !add_events(ids, events->executions, "outputs", "outputs.id")) {
    return cst__fail_memory(error, ids->count * sizeof *ids->ids);
  }
  sort_ids(ids);
  CST__TRY(find(store, CST_LINEAGE_OF_ARTIFACTS, ids, &events->artifacts, error));
  const size_t count = ids->count;
  if (!add_views(ids, events->artifacts)) {
    return cst__fail_memory(error, ids->count * sizeof *ids->ids);
  }
  sort_ids(ids);
  if (ids->count > count) {
    cst_findings_free(events->artifacts);
    return find(store, CST_LINEAGE_OF_ARTIFACTS, ids, &events->artifacts, error);
  }
  return CST_OK;
}

static cst_status check_executions(const cst_findings *found, const id_list *asked,
                                   cst_error *error) {
  for (size_t i = 0; asked != NULL && i < asked->count; i++) {
    if (i >= cst_findings_num_rows(found) || cst_findings_number(found, "id", i) != asked->ids[i]) {
      return cst__fail(error, CST_NOT_FOUND, NULL, "there is no execution %lld",
                       (long long)asked->ids[i]);
    }
  }
  return CST_OK;
}

static cst_status put_all(cst_lineage *store, const id_list *asked, cst__run_events *events,
                          cst__text *out, cst_error *error) {
  id_list ids = {.allocator = &store->allocator};
  CST__TRY(find(store, CST_LINEAGE_OF_EXECUTIONS, asked, &events->executions, error));
  CST__TRY(check_executions(events->executions, asked, error));
  const cst_status status = find_artifacts(store, events, &ids, error);
  cst__delete(ids.ids);
  CST__TRY(status);
  for (size_t row = 0; row < cst_findings_num_rows(events->executions); row++) {
    cst__put_run_events(out, events, row);
    CST__TRY(cst__interrupted(error));
  }
  return CST_OK;
}

/* The executions that were asked for, each once, in the order of ids. */
static cst_status put_asked(cst_lineage *store, const cst_lineage_openlineage_options *options,
                            cst__run_events *events, cst__text *out, cst_error *error) {
  id_list asked = {.allocator = &store->allocator};
  for (size_t i = 0; i < options->num_executions; i++) {
    if (!add_id(&asked, options->executions[i])) {
      cst__delete(asked.ids);
      return cst__fail_memory(error, options->num_executions * sizeof *options->executions);
    }
  }
  sort_ids(&asked);
  const cst_status status =
      put_all(store, options->executions != NULL ? &asked : NULL, events, out, error);
  cst__delete(asked.ids);
  return status;
}

static cst_status check_options(const cst_lineage_openlineage_options *options, cst_error *error) {
  if (options->executions == NULL && options->num_executions > 0) {
    return cst__missing("executions", error);
  }
  if (options->job_namespace != NULL && options->job_namespace[0] == '\0') {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the namespace of jobs is empty");
  }
  return CST_OK;
}

cst_status cst_lineage_openlineage(cst_lineage *store,
                                   const cst_lineage_openlineage_options *options, char **text,
                                   size_t *size, cst_error *error) {
  cst_lineage_openlineage_options own = CST_LINEAGE_OPENLINEAGE_OPTIONS_INIT;
  cst__text out = {.data = NULL};
  CST__CLEAR(text);
  CST__CLEAR(size);
  if (store == NULL || text == NULL || size == NULL) {
    return cst__missing(store == NULL ? "store" : text == NULL ? "text" : "size", error);
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(check_options(&own, error));
  cst__run_events events = {.jobs = own.job_namespace != NULL ? own.job_namespace : "columnstone"};
  CST__TRY(cst__lineage_enter(store, CST__LINEAGE_READS, error));
  const cst_status status =
      cst__lineage_leave(store, put_asked(store, &own, &events, &out, error), error);
  cst_findings_free(events.executions);
  cst_findings_free(events.artifacts);
  if (status != CST_OK) {
    cst__text_free(&out);
    return status;
  }
  return cst__text_finish(&out, text, size, error);
}
