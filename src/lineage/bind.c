/* Binding: Examples that are the same but for the view. */
#include <inttypes.h>
#include <stdio.h>

#include "base/arguments.h"
#include "lineage/artifacts.h"
#include "lineage/examples.h"
#include "lineage/properties.h"
#include "lineage/store_paths.h"

/* An artifact that is live and came from the same examples and the same view by a binder. */
static cst_status find_bound(cst_lineage *store, int64_t examples, int64_t view, const char *name,
                             int64_t *id, cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  CST__TRY(cst__lineage_prepare(
      store,
      "SELECT o.artifact FROM event i JOIN execution x ON x.id = i.execution JOIN event v ON "
      "v.execution = x.id AND v.direction = 0 AND v.artifact = ?2 JOIN event o ON o.execution = "
      "x.id AND o.direction = 1 JOIN artifact a ON a.id = o.artifact WHERE i.artifact = ?1 AND "
      "i.direction = 0 AND x.type = (SELECT id FROM type WHERE kind = 1 AND name = "
      "'DataViewBinder') AND a.state = 0 AND a.name IS ?3 ORDER BY 1 DESC LIMIT 1",
      &find, error));
  sqlite3_bind_int64(find, 1, examples);
  sqlite3_bind_int64(find, 2, view);
  cst__lineage_bind_text(find, 3, name);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  *id = is_row ? sqlite3_column_int64(find, 0) : 0;
  (void)sqlite3_reset(find);
  return CST_OK;
}

static cst_status copy_rows(cst_lineage *store, const char *sql, int64_t from, int64_t to,
                            cst_error *error) {
  sqlite3_stmt *copy;
  CST__TRY(cst__lineage_prepare(store, sql, &copy, error));
  sqlite3_bind_int64(copy, 1, to);
  sqlite3_bind_int64(copy, 2, from);
  return cst__lineage_step(store, copy, NULL, error);
}

/* TFX's names for what a binder says. */
static cst_status write_view_properties(cst_lineage *store, int64_t id, int64_t view,
                                        cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  char *uri;
  char time[24];
  CST__TRY(cst__lineage_prepare(
      store,
      "SELECT path, created FROM artifact_file JOIN file ON file.id = file JOIN artifact ON "
      "artifact.id = artifact_file.artifact WHERE artifact_file.artifact = ? ORDER BY position "
      "LIMIT 1",
      &find, error));
  sqlite3_bind_int64(find, 1, view);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  if (!is_row) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "view %" PRId64 " has no file", view);
  }
  (void)snprintf(time, sizeof time, "%lld", (long long)(sqlite3_column_int64(find, 1) / 1000));
  cst_status status = cst__lineage_path_out(store, cst__lineage_text(find, 0), &uri, error);
  (void)sqlite3_reset(find);
  CST__TRY(status);
  const cst_lineage_property facts[] = {
      cst__lineage_text_of("data_view_uri", uri),
      cst__lineage_text_of("data_view_create_time_since_epoch", time),
      {.name = "data_view_id", .kind = CST_LINEAGE_INT, .number = view}};
  status = cst__lineage_set(store, CST_LINEAGE_OF_ARTIFACTS, id, facts, 3, error);
  cst__delete(uri);
  return status;
}

static cst_status copy_examples(cst_lineage *store, int64_t examples, int64_t view,
                                const char *name, int64_t *id, cst_error *error) {
  const cst_lineage_reference reference = {"view", view};
  CST__TRY(cst__lineage_copy(store, examples, name, id, error));
  CST__TRY(copy_rows(store,
                     "INSERT INTO artifact_file SELECT ?1, position, file, split, role, size, "
                     "modified, digest FROM artifact_file WHERE artifact = ?2",
                     examples, *id, error));
  CST__TRY(copy_rows(store,
                     "INSERT INTO property SELECT kind, ?1, name, type, value FROM property WHERE "
                     "kind = 0 AND owner = ?2",
                     examples, *id, error));
  CST__TRY(copy_rows(store,
                     "INSERT INTO reference SELECT ?1, role, target FROM reference WHERE artifact "
                     "= ?2 AND role <> 'view'",
                     examples, *id, error));
  CST__TRY(cst__lineage_refer(store, *id, &reference, 1, error));
  return write_view_properties(store, *id, view, error);
}

static cst_status bind_view(cst_lineage *store, int64_t examples, int64_t view, const char *name,
                            int64_t *id, cst_error *error) {
  char own_name[CST__LINEAGE_LABEL];
  int64_t execution;
  CST__TRY(cst__lineage_check_examples(store, examples, error));
  CST__TRY(cst__lineage_check_view(store, examples, view, error));
  if (name == NULL) {
    bool is_named;
    CST__TRY(cst__lineage_name(store, examples, own_name, &is_named, error));
    name = is_named ? own_name : NULL;
  }
  CST__TRY(find_bound(store, examples, view, name, id, error));
  if (*id != 0) {
    return CST_OK;
  }
  const cst_lineage_event inputs[] = {{examples, "input_examples"}, {view, "data_view"}};
  cst_lineage_execution binder = CST_LINEAGE_EXECUTION_INIT;
  binder.type = "DataViewBinder";
  binder.inputs = inputs;
  binder.num_inputs = 2;
  CST__TRY(cst__lineage_start(store, &binder, &execution, error));
  CST__TRY(copy_examples(store, examples, view, name, id, error));
  CST__TRY(cst__lineage_output(store, execution, *id, "output_examples", error));
  return cst__lineage_end(store, execution, CST_LINEAGE_COMPLETE, error);
}

cst_status cst_lineage_bind(cst_lineage *store, int64_t examples, int64_t view, const char *name,
                            int64_t *id, cst_error *error) {
  CST__CLEAR(id);
  CST__TRY(cst__check_given(store, "store", id, error));
  CST__TRY(cst__lineage_check_name(name, error));
  CST__TRY(cst__lineage_enter(store, CST__LINEAGE_WRITES, error));
  cst_status status =
      cst__lineage_leave(store, bind_view(store, examples, view, name, id, error), error);
  *id = status == CST_OK ? *id : 0;
  return status;
}
