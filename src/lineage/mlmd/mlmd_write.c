/* Writing a store of MLMD: texts, types, and the rows of things. */
#include "lineage/mlmd/mlmd_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "text/json_string.h"

/* ---- small pieces ---- */

void cst__mlmd_put_comma(cst__text *text) {
  if (text->size > 0) {
    cst__text_puts(text, ", ");
  }
}

void cst__mlmd_put_number(cst__text *text, const char *name, int64_t number) {
  cst__mlmd_put_comma(text);
  cst__text_printf(text, "\"%s\": %" PRId64, name, number);
}

void cst__mlmd_put_text(cst__text *text, const char *name, const char *value) {
  cst__mlmd_put_comma(text);
  cst__text_printf(text, "\"%s\": ", name);
  cst__put_json_text(text, value);
}

void cst__mlmd_put_hex(cst__text *text, const char *name, sqlite3_stmt *row, int column) {
  if (sqlite3_column_type(row, column) != SQLITE_BLOB) {
    return;
  }
  const uint8_t *bytes = sqlite3_column_blob(row, column);
  const int size = sqlite3_column_bytes(row, column);
  cst__mlmd_put_comma(text);
  cst__text_printf(text, "\"%s\": \"", name);
  for (int i = 0; i < size; i++) {
    cst__text_printf(text, "%02x", bytes[i]);
  }
  cst__text_puts(text, "\"");
}

void cst__mlmd_bind_text(cst__mlmd_rows *rows, int parameter, const cst__text *text) {
  (void)sqlite3_bind_text(rows->statement, parameter, text->size > 0 ? text->data : "",
                          (int)text->size, SQLITE_STATIC);
}

static void bind_or_null(cst__mlmd_rows *rows, int parameter, const cst__text *text) {
  if (text->size > 0) {
    cst__mlmd_bind_text(rows, parameter, text);
  } else {
    (void)sqlite3_bind_null(rows->statement, parameter);
  }
}

static void clear(cst__text *text) { text->size = 0; }

cst_status cst__mlmd_check_texts(const cst__mlmd_export *at, cst_error *error) {
  const bool failed = at->own.failed || at->properties.failed || at->splits.failed ||
                      at->uri.failed || at->name.failed || at->external_id.failed;
  return failed ? cst__fail_memory(error, at->own.size) : CST_OK;
}

/* ---- types ---- */

static cst_status add_type(cst__mlmd_export *at, cst_lineage_kind kind, const char *theirs,
                           cst_error *error) {
  cst__mlmd_rows *add = &at->write.add_type;
  (void)sqlite3_bind_text(add->statement, 1, theirs, -1, SQLITE_STATIC);
  (void)sqlite3_bind_int(add->statement, 2, cst__mlmd_type_kind(kind));
  return cst__mlmd_step(add, NULL, error);
}

static cst_status find_type(cst__mlmd_export *at, cst_lineage_kind kind, const char *theirs,
                            int64_t *id, bool *is_there, cst_error *error) {
  cst__mlmd_rows *find = &at->write.find_type;
  (void)sqlite3_bind_text(find->statement, 1, theirs, -1, SQLITE_STATIC);
  (void)sqlite3_bind_int(find->statement, 2, cst__mlmd_type_kind(kind));
  CST__TRY(cst__mlmd_step(find, is_there, error));
  if (*is_there) {
    *id = sqlite3_column_int64(find->statement, 0);
    (void)sqlite3_reset(find->statement);
  }
  return CST_OK;
}

static cst_status add_standard(cst__mlmd_export *at, const cst__mlmd_standard *standard,
                               cst_error *error) {
  int64_t id = 0;
  bool is_there;
  CST__TRY(add_type(at, CST_LINEAGE_OF_ARTIFACTS, standard->theirs, error));
  CST__TRY(find_type(at, CST_LINEAGE_OF_ARTIFACTS, standard->theirs, &id, &is_there, error));
  if (standard->base != 0) {
    cst__mlmd_rows *parent = &at->write.add_parent;
    (void)sqlite3_bind_int64(parent->statement, 1, id);
    (void)sqlite3_bind_int(parent->statement, 2, standard->base);
    CST__TRY(cst__mlmd_step(parent, NULL, error));
  }
  for (size_t i = 0; i < standard->num_declared; i++) {
    cst__mlmd_rows *declare = &at->write.declare;
    (void)sqlite3_bind_int64(declare->statement, 1, id);
    (void)sqlite3_bind_text(declare->statement, 2, standard->declared[i].name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int(declare->statement, 3, standard->declared[i].data_type);
    CST__TRY(cst__mlmd_step(declare, NULL, error));
  }
  return CST_OK;
}

cst_status cst__mlmd_write_types(cst__mlmd_export *at, cst_error *error) {
  sqlite3_stmt *read;
  bool is_row;
  for (size_t i = 0; i < cst__mlmd_num_standards; i++) {
    CST__TRY(add_standard(at, &cst__mlmd_standards[i], error));
  }
  CST__TRY(
      cst__lineage_prepare(at->store, "SELECT kind, name FROM type ORDER BY id", &read, error));
  for (;;) {
    int64_t id;
    bool is_there;
    CST__TRY(cst__lineage_step(at->store, read, &is_row, error));
    if (!is_row) {
      return CST_OK;
    }
    const int64_t number = sqlite3_column_int64(read, 0);
    if (number < CST_LINEAGE_OF_ARTIFACTS || number > CST_LINEAGE_OF_CONTEXTS) {
      return cst__fail(error, CST_CORRUPT, NULL, "a type of the kind %" PRId64, number);
    }
    const cst_lineage_kind kind = (cst_lineage_kind)number;
    const char *theirs = cst__mlmd_type_out(kind, cst__lineage_text(read, 1));
    CST__TRY(find_type(at, kind, theirs, &id, &is_there, error));
    if (!is_there) {
      CST__TRY(add_type(at, kind, theirs, error));
    }
  }
}

/* The type's name there; one that would be another one when it is read is said in `own`. */
const char *cst__mlmd_write_type(cst__mlmd_export *at, cst_lineage_kind kind, const char *ours) {
  const char *theirs = cst__mlmd_type_out(kind, ours);
  if (strcmp(cst__mlmd_type_in(kind, theirs), ours) != 0) {
    cst__mlmd_put_text(&at->own, "type", ours);
  }
  return theirs;
}

/* ---- artifacts, executions, contexts ---- */

/* Forgets what was of the one before. */
void cst__mlmd_begin_node(cst__mlmd_export *at) {
  clear(&at->own);
  clear(&at->properties);
  clear(&at->splits);
  clear(&at->uri);
  clear(&at->name);
  clear(&at->external_id);
}

/* Its row; a name or an external_id that another one has already is left away, and then written as
 * the property that it is with us. */
static cst_status write_row(cst__mlmd_export *at, const cst__mlmd_node *of, cst_error *error) {
  cst__mlmd_rows *add = &at->write.add_node[of->kind];
  int64_t type = 0;
  bool is_there, is_kept;
  CST__TRY(find_type(at, of->kind, of->type, &type, &is_there, error));
  const int state = of->kind == CST_LINEAGE_OF_CONTEXTS
                        ? 0
                        : cst__mlmd_state_out(of->kind, of->state, of->kept, &is_kept);
  for (int tries = 0;; tries++) {
    (void)sqlite3_bind_int64(add->statement, 1, of->id);
    (void)sqlite3_bind_int64(add->statement, 2, type);
    bind_or_null(add, 3, &at->name);
    bind_or_null(add, 4, &at->external_id);
    (void)sqlite3_bind_int64(add->statement, 5, cst__mlmd_ms(of->created));
    (void)sqlite3_bind_int64(add->statement, 6, cst__mlmd_ms(of->updated));
    if (of->kind != CST_LINEAGE_OF_CONTEXTS) {
      (void)sqlite3_bind_int(add->statement, 7, state);
    }
    if (of->kind == CST_LINEAGE_OF_ARTIFACTS) {
      cst__mlmd_bind_text(add, 8, &at->uri);
    }
    const int code = sqlite3_step(add->statement);
    (void)sqlite3_reset(add->statement);
    if (code == SQLITE_DONE) {
      return CST_OK;
    }
    const bool is_taken = code == SQLITE_CONSTRAINT_UNIQUE;
    if (!is_taken || tries == 2 ||
        (tries == 0 && at->external_id.size == 0 && at->name.size == 0)) {
      return cst__mlmd_fail(&at->to, code, error);
    }
    clear(tries == 0 && at->external_id.size > 0 ? &at->external_id : &at->name);
  }
}

/* What of its properties is a column there. */
static cst_status read_columns(cst__mlmd_export *at, cst__mlmd_node *of, cst_error *error) {
  int64_t kind;
  cst__text kept = {.allocator = at->store->allocator};
  CST__TRY(cst__mlmd_find_property(at, of, CST__MLMD_EXTERNAL_ID, &kind, &at->external_id, error));
  if (of->kind == CST_LINEAGE_OF_ARTIFACTS && !of->has_name) {
    CST__TRY(cst__mlmd_find_property(at, of, CST__MLMD_NAME, &kind, &at->name, error));
  }
  cst_status status = of->kind == CST_LINEAGE_OF_CONTEXTS
                          ? CST_OK
                          : cst__mlmd_find_property(at, of, CST__MLMD_STATE, &kind, &kept, error);
  bool is_kept = false;
  if (status == CST_OK && kept.size > 0 && kept.size < sizeof of->kept) {
    (void)cst__mlmd_state_out(of->kind, of->state, kept.data, &is_kept);
    memcpy(of->kept, kept.data, is_kept ? kept.size + 1 : 0);
  }
  if (kept.failed) {
    status = cst__fail_memory(error, kept.size);
  }
  cst__text_free(&kept);
  return status;
}

cst_status cst__mlmd_write_node(cst__mlmd_export *at, cst__mlmd_node *of, cst_error *error) {
  CST__TRY(read_columns(at, of, error));
  CST__TRY(cst__mlmd_check_texts(at, error));
  CST__TRY(write_row(at, of, error));
  return cst__mlmd_write_properties(at, of, error);
}

/* ---- statements ---- */

cst_status cst__mlmd_write_prepare(cst__mlmd_export *at, cst_error *error) {
  static const char *const nodes[] = {
      "INSERT INTO Artifact(id, type_id, name, external_id, create_time_since_epoch,"
      " last_update_time_since_epoch, state, uri) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
      "INSERT INTO Execution(id, type_id, name, external_id, create_time_since_epoch,"
      " last_update_time_since_epoch, last_known_state) VALUES(?, ?, ?, ?, ?, ?, ?)",
      "INSERT INTO Context(id, type_id, name, external_id, create_time_since_epoch,"
      " last_update_time_since_epoch) VALUES(?, ?, coalesce(?, ''), ?, ?, ?)",
  };
  static const char *const members[] = {
      "INSERT INTO Attribution(context_id, artifact_id) VALUES(?, ?)",
      "INSERT INTO Association(context_id, execution_id) VALUES(?, ?)",
      "INSERT INTO ParentContext(parent_context_id, context_id) VALUES(?, ?)",
  };
  cst__mlmd_writing *write = &at->write;
  CST__TRY(cst__mlmd_prepare(
      &at->to, "type", "SELECT id FROM Type WHERE name = ? AND type_kind = ? AND version IS NULL",
      &write->find_type, error));
  CST__TRY(cst__mlmd_prepare(&at->to, "type", "INSERT INTO Type(name, type_kind) VALUES(?, ?)",
                             &write->add_type, error));
  CST__TRY(cst__mlmd_prepare(&at->to, "type", "INSERT INTO ParentType VALUES(?, ?)",
                             &write->add_parent, error));
  CST__TRY(cst__mlmd_prepare(&at->to, "type", "INSERT INTO TypeProperty VALUES(?, ?, ?)",
                             &write->declare, error));
  CST__TRY(cst__mlmd_prepare(&at->to, "event",
                             "INSERT OR IGNORE INTO Event(artifact_id, execution_id, type,"
                             " milliseconds_since_epoch) VALUES(?, ?, ?, ?)",
                             &write->add_event, error));
  CST__TRY(cst__mlmd_prepare(&at->to, "event", "INSERT INTO EventPath VALUES(?, ?, ?, ?)",
                             &write->add_step, error));
  for (int kind = 0; kind < 3; kind++) {
    char sql[256];
    const char *name = cst__mlmd_kind((cst_lineage_kind)kind);
    (void)snprintf(sql, sizeof sql,
                   "INSERT INTO %sProperty(%s_id, name, is_custom_property, int_value,"
                   " double_value, string_value, proto_value, bool_value)"
                   " VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                   cst__mlmd_table((cst_lineage_kind)kind), name);
    CST__TRY(cst__mlmd_prepare(&at->to, name, sql, &write->add_property[kind], error));
    CST__TRY(cst__mlmd_prepare(&at->to, name, nodes[kind], &write->add_node[kind], error));
    CST__TRY(cst__mlmd_prepare(&at->to, name, members[kind], &write->add_member[kind], error));
  }
  return CST_OK;
}

void cst__mlmd_write_end(cst__mlmd_export *at) {
  cst__mlmd_writing *write = &at->write;
  cst__mlmd_end(&write->find_type);
  cst__mlmd_end(&write->add_type);
  cst__mlmd_end(&write->add_parent);
  cst__mlmd_end(&write->declare);
  cst__mlmd_end(&write->add_event);
  cst__mlmd_end(&write->add_step);
  for (int kind = 0; kind < 3; kind++) {
    cst__mlmd_end(&write->add_node[kind]);
    cst__mlmd_end(&write->add_property[kind]);
    cst__mlmd_end(&write->add_member[kind]);
  }
}
