/* What came from what: a walk over executions and references, nearest first. */
#include <inttypes.h>

#include "arrow/findings.h"
#include "base/arguments.h"
#include "base/interrupt.h"
#include "lineage/artifacts.h"

static const cst__finding_column source_columns[] = {CST__TEXT("kind"), CST__NUMBER("id"),
                                                     CST__TEXT("how")};
static const cst__finding_column node_columns[] = {
    CST__TEXT("kind"),
    CST__NUMBER("id"),
    CST__TEXT("type"),
    CST__TEXT("label"),
    CST__TEXT("state"),
    CST__NUMBER("depth"),
    CST__LIST_OF("sources", source_columns),
};
static const cst__finding_type node_type = {"nodes", node_columns,
                                            sizeof node_columns / sizeof node_columns[0]};

typedef struct node {
  bool is_execution;
  int64_t id;
  int64_t depth; /* executions between it and what was asked for; negative: up */
} node;

/* Nodes in the order in which they are reached, and where each is: open addressing over them. */
typedef struct walk {
  cst_lineage *store;
  node *nodes;
  size_t count, capacity;
  size_t *slots; /* number of the node + 1; 0: free */
  size_t num_slots;
} walk;

static size_t slot_of(const walk *w, bool is_execution, int64_t id) {
  size_t at = (size_t)(((uint64_t)id * 2 + is_execution) * UINT64_C(0x9e3779b97f4a7c15) >> 20) &
              (w->num_slots - 1);
  while (w->slots[at] != 0) {
    const node *there = &w->nodes[w->slots[at] - 1];
    if (there->id == id && there->is_execution == is_execution) {
      break;
    }
    at = (at + 1) & (w->num_slots - 1);
  }
  return at;
}

static bool has_node(const walk *w, bool is_execution, int64_t id) {
  return w->num_slots > 0 && w->slots[slot_of(w, is_execution, id)] != 0;
}

static bool grow_slots(walk *w) {
  if (w->num_slots > 2 * w->count) {
    return true;
  }
  const size_t size = w->num_slots > 0 ? 2 * w->num_slots : 64;
  size_t *slots = cst__new_zero(&w->store->allocator, size * sizeof *slots);
  if (slots == NULL) {
    return false;
  }
  cst__delete(w->slots);
  w->slots = slots;
  w->num_slots = size;
  for (size_t i = 0; i < w->count; i++) {
    w->slots[slot_of(w, w->nodes[i].is_execution, w->nodes[i].id)] = i + 1;
  }
  return true;
}

static cst_status reach(walk *w, bool is_execution, int64_t id, int64_t depth, cst_error *error) {
  if (!grow_slots(w) || !cst__grow(&w->store->allocator, (void **)&w->nodes, &w->capacity,
                                   w->count + 1, sizeof *w->nodes)) {
    return cst__fail_memory(error, (w->count + 1) * sizeof *w->nodes);
  }
  const size_t slot = slot_of(w, is_execution, id);
  if (w->slots[slot] == 0) {
    w->nodes[w->count++] = (node){is_execution, id, depth};
    w->slots[slot] = w->count;
  }
  return CST_OK;
}

/* ---- steps ---- */

/* Neighbours of a node in one direction; all of these statements have one parameter. */
typedef struct step {
  const char *sql;
  bool of_executions, to_executions;
} step;

static const step steps_up[] = {
    {"SELECT DISTINCT execution FROM event WHERE artifact = ? AND direction = 1", false, true},
    {"SELECT DISTINCT target FROM reference WHERE artifact = ?", false, false},
    {"SELECT DISTINCT artifact FROM event WHERE execution = ? AND direction = 0", true, false},
};
static const step steps_down[] = {
    {"SELECT DISTINCT execution FROM event WHERE artifact = ? AND direction = 0", false, true},
    {"SELECT DISTINCT artifact FROM reference WHERE target = ?", false, false},
    {"SELECT DISTINCT artifact FROM event WHERE execution = ? AND direction = 1", true, false},
};
enum { NUM_STEPS = 3 };

static cst_status take_step(walk *w, const step *s, int64_t id, int64_t depth, cst_error *error) {
  sqlite3_stmt *rows;
  bool is_row = false;
  cst_status status;
  CST__TRY(cst__lineage_prepare(w->store, s->sql, &rows, error));
  sqlite3_bind_int64(rows, 1, id);
  while ((status = cst__lineage_step(w->store, rows, &is_row, error)) == CST_OK && is_row) {
    status = reach(w, s->to_executions, sqlite3_column_int64(rows, 0), depth, error);
    if (status != CST_OK) {
      (void)sqlite3_reset(rows);
      return status;
    }
  }
  return status;
}

/* From the first `roots` nodes on in one direction, and from all that this reaches; what the other
 * direction has reached stands between them, and is left out. */
static cst_status go(walk *w, size_t roots, bool is_up, int64_t most, cst_error *error) {
  const step *steps = is_up ? steps_up : steps_down;
  const size_t reached = w->count;
  for (size_t i = 0; i < w->count; i = i + 1 == roots ? reached : i + 1) {
    const node at = w->nodes[i];
    for (size_t k = 0; k < NUM_STEPS; k++) {
      if (steps[k].of_executions != at.is_execution) {
        continue;
      }
      const int64_t depth = at.depth + (steps[k].to_executions ? (is_up ? -1 : 1) : 0);
      if (most == 0 || (depth <= most && depth >= -most)) {
        CST__TRY(take_step(w, &steps[k], at.id, depth, error));
      }
    }
    CST__TRY(cst__interrupted(error));
  }
  return CST_OK;
}

/* ---- rows ---- */

/* The sources of a node, of those that were reached. */
typedef struct source {
  const char *sql; /* id, how */
  bool of_executions, from_executions;
} source;

static const source sources[] = {
    {"SELECT DISTINCT execution, 'output' FROM event WHERE artifact = ? AND direction = 1", false,
     true},
    {"SELECT target, role FROM reference WHERE artifact = ? ORDER BY role, target", false, false},
    {"SELECT DISTINCT artifact, 'input' FROM event WHERE execution = ? AND direction = 0", true,
     false},
};

static cst_status put_sources(walk *w, const node *at, cst_findings *found, cst_error *error) {
  cst__open_list(found);
  for (size_t k = 0; k < sizeof sources / sizeof sources[0]; k++) {
    sqlite3_stmt *rows;
    bool is_row = false;
    cst_status status;
    if (sources[k].of_executions != at->is_execution) {
      continue;
    }
    CST__TRY(cst__lineage_prepare(w->store, sources[k].sql, &rows, error));
    sqlite3_bind_int64(rows, 1, at->id);
    while ((status = cst__lineage_step(w->store, rows, &is_row, error)) == CST_OK && is_row) {
      const int64_t id = sqlite3_column_int64(rows, 0);
      if (has_node(w, sources[k].from_executions, id)) {
        cst__put_text(found, sources[k].from_executions ? "execution" : "artifact");
        cst__put_signed(found, id);
        cst__put_text(found, cst__lineage_text(rows, 1));
      }
    }
    CST__TRY(status);
  }
  cst__close_list(found);
  return CST_OK;
}

static cst_status put_node(walk *w, const node *at, cst_findings *found, cst_error *error) {
  sqlite3_stmt *row;
  bool is_row;
  char label[CST__LINEAGE_LABEL] = "";
  CST__TRY(cst__lineage_prepare(
      w->store,
      at->is_execution
          ? "SELECT y.name, t.state, t.name FROM execution t JOIN type y ON y.id = t.type WHERE "
            "t.id = ?"
          : "SELECT y.name, t.state FROM artifact t JOIN type y ON y.id = t.type WHERE t.id = ?",
      &row, error));
  sqlite3_bind_int64(row, 1, at->id);
  CST__TRY(cst__lineage_step(w->store, row, &is_row, error));
  const int64_t state = is_row ? sqlite3_column_int64(row, 1) : -1;
  cst__put_text(found, at->is_execution ? "execution" : "artifact");
  cst__put_signed(found, at->id);
  cst__put_text(found, is_row ? cst__lineage_text(row, 0) : "");
  if (at->is_execution) {
    const bool is_named = is_row && sqlite3_column_type(row, 2) != SQLITE_NULL;
    cst__put_text(found, is_named ? cst__lineage_text(row, 2)
                         : is_row ? cst__lineage_text(row, 0)
                                  : "");
  }
  (void)sqlite3_reset(row);
  if (!at->is_execution) {
    CST__TRY(cst__lineage_label(w->store, at->id, label, error));
    cst__put_text(found, label);
  }
  cst__put_text(found, at->is_execution
                           ? cst__lineage_execution_state_name((cst_lineage_execution_state)state)
                           : cst__lineage_state_name((cst_lineage_state)state));
  cst__put_signed(found, at->depth);
  return put_sources(w, at, found, error);
}

static cst_status walk_all(walk *w, const cst_lineage_trace_options *options, cst_error *error) {
  const uint32_t directions =
      options->directions != 0 ? options->directions : CST_LINEAGE_UP | CST_LINEAGE_DOWN;
  for (size_t i = 0; i < options->num_artifacts; i++) {
    cst_lineage_state state;
    CST__TRY(cst__lineage_state(w->store, options->artifacts[i], &state, error));
    CST__TRY(reach(w, false, options->artifacts[i], 0, error));
  }
  const size_t roots = w->count;
  if ((directions & CST_LINEAGE_UP) != 0) {
    CST__TRY(go(w, roots, true, options->depth, error));
  }
  if ((directions & CST_LINEAGE_DOWN) != 0) {
    CST__TRY(go(w, roots, false, options->depth, error));
  }
  return CST_OK;
}

static cst_status trace(walk *w, const cst_lineage_trace_options *options, cst_findings **out,
                        cst_error *error) {
  cst_findings *found;
  CST__TRY(walk_all(w, options, error));
  CST__TRY(cst__findings_new(&node_type, &w->store->allocator, &found, error));
  for (size_t i = 0; i < w->count; i++) {
    cst_status status = put_node(w, &w->nodes[i], found, error);
    if (status != CST_OK) {
      cst_findings_free(found);
      return status;
    }
  }
  return cst__findings_finish(found, out, error);
}

cst_status cst_lineage_trace(cst_lineage *store, const cst_lineage_trace_options *options,
                             cst_findings **out, cst_error *error) {
  cst_lineage_trace_options own = CST_LINEAGE_TRACE_OPTIONS_INIT;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(store, "store", out, error));
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  if (own.num_artifacts > 0) {
    CST__TRY(cst__check_given(own.artifacts, "artifacts", out, error));
  }
  CST__TRY(cst__check_flags(own.directions, CST_LINEAGE_UP | CST_LINEAGE_DOWN, error));
  if (own.depth < 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a negative depth");
  }
  walk w = {.store = store};
  CST__TRY(cst__lineage_enter(store, CST__LINEAGE_READS, error));
  cst_status status = cst__lineage_leave(store, trace(&w, &own, out, error), error);
  cst__delete(w.nodes);
  cst__delete(w.slots);
  return status;
}
