/* The words of both sides. */
#include "lineage/mlmd/mlmd_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/civil.h"
#include "base/utf8.h"
#include "lineage/mlmd/mlmd_tables.h"
#include "proto/wire.h"
#include "text/base64.h"

const char *cst__mlmd_kind(cst_lineage_kind kind) {
  static const char *const names[] = {"artifact", "execution", "context"};
  return names[kind];
}

const char *cst__mlmd_table(cst_lineage_kind kind) {
  static const char *const names[] = {"Artifact", "Execution", "Context"};
  return names[kind];
}

const char *cst__mlmd_own(cst_lineage_kind kind) {
  static const char *const names[] = {CST__MLMD_OWN "artifact", CST__MLMD_OWN "execution",
                                      CST__MLMD_OWN "context"};
  return names[kind];
}

int cst__mlmd_type_kind(cst_lineage_kind kind) {
  static const int kinds[] = {CST__MLMD_ARTIFACTS, CST__MLMD_EXECUTIONS, CST__MLMD_CONTEXTS};
  return kinds[kind];
}

/* ---- types ---- */

const char *cst__mlmd_type_out(cst_lineage_kind kind, const char *ours) {
  return kind == CST_LINEAGE_OF_ARTIFACTS && strcmp(ours, "Statistics") == 0 ? "ExampleStatistics"
                                                                             : ours;
}

const char *cst__mlmd_type_in(cst_lineage_kind kind, const char *theirs) {
  return kind == CST_LINEAGE_OF_ARTIFACTS && strcmp(theirs, "ExampleStatistics") == 0 ? "Statistics"
                                                                                      : theirs;
}

enum { DATA_INT = 1, DATA_STRING = 3 };
static const cst__mlmd_declared of_examples[] = {{"span", CST_LINEAGE_INT, DATA_INT},
                                                 {"version", CST_LINEAGE_INT, DATA_INT},
                                                 {"split_names", CST_LINEAGE_TEXT, DATA_STRING}};
static const cst__mlmd_declared of_statistics[] = {{"span", CST_LINEAGE_INT, DATA_INT},
                                                   {"split_names", CST_LINEAGE_TEXT, DATA_STRING}};
const cst__mlmd_standard cst__mlmd_standards[] = {
    {"Examples", CST__MLMD_DATASET, of_examples, 3},
    {"DataView", 0, NULL, 0},
    {"Schema", 0, NULL, 0},
    {"ExampleStatistics", CST__MLMD_STATISTICS, of_statistics, 2},
    {"Model", CST__MLMD_MODEL, NULL, 0},
};
const size_t cst__mlmd_num_standards = sizeof cst__mlmd_standards / sizeof *cst__mlmd_standards;

const cst__mlmd_declared *cst__mlmd_find_declared(const char *theirs, const char *property) {
  for (size_t i = 0; i < cst__mlmd_num_standards; i++) {
    const cst__mlmd_standard *standard = &cst__mlmd_standards[i];
    for (size_t k = 0; strcmp(standard->theirs, theirs) == 0 && k < standard->num_declared; k++) {
      if (strcmp(standard->declared[k].name, property) == 0) {
        return &standard->declared[k];
      }
    }
  }
  return NULL;
}

/* ---- states ---- */

typedef struct state {
  int theirs;
  int ours;
  const char *kept; /* NULL: the one that stands for ours there */
} state;

static const state of_artifacts[] = {
    {2, CST_LINEAGE_LIVE, NULL},      {1, CST_LINEAGE_PENDING, NULL},
    {3, CST_LINEAGE_MARKED, NULL},    {4, CST_LINEAGE_DELETED, NULL},
    {5, CST_LINEAGE_ABANDONED, NULL}, {6, CST_LINEAGE_LIVE, "REFERENCE"},
    {0, CST_LINEAGE_LIVE, "UNKNOWN"},
};
static const state of_executions[] = {
    {2, CST_LINEAGE_RUNNING, NULL},       {3, CST_LINEAGE_COMPLETE, NULL},
    {4, CST_LINEAGE_FAILED, NULL},        {6, CST_LINEAGE_CANCELED, NULL},
    {1, CST_LINEAGE_RUNNING, "NEW"},      {5, CST_LINEAGE_COMPLETE, "CACHED"},
    {0, CST_LINEAGE_COMPLETE, "UNKNOWN"},
};

static const state *states_of(cst_lineage_kind kind, size_t *count) {
  *count = kind == CST_LINEAGE_OF_ARTIFACTS ? sizeof of_artifacts / sizeof *of_artifacts
                                            : sizeof of_executions / sizeof *of_executions;
  return kind == CST_LINEAGE_OF_ARTIFACTS ? of_artifacts : of_executions;
}

int cst__mlmd_state_out(cst_lineage_kind kind, int64_t ours, const char *kept, bool *is_kept) {
  size_t count;
  const state *states = states_of(kind, &count);
  int found = 0;
  *is_kept = false;
  for (size_t i = 0; i < count; i++) {
    if (states[i].ours != ours) {
      continue;
    }
    if (states[i].kept == NULL) {
      found = states[i].theirs;
    } else if (kept != NULL && strcmp(states[i].kept, kept) == 0) {
      *is_kept = true;
      return states[i].theirs;
    }
  }
  return found;
}

bool cst__mlmd_state_in(cst_lineage_kind kind, int64_t theirs, int64_t *ours, const char **kept) {
  size_t count;
  const state *states = states_of(kind, &count);
  for (size_t i = 0; i < count; i++) {
    if (states[i].theirs == theirs) {
      *ours = states[i].ours;
      *kept = states[i].kept;
      return true;
    }
  }
  return false;
}

int cst__mlmd_direction(int64_t event_type) {
  /* UNKNOWN, DECLARED_OUTPUT, DECLARED_INPUT, INPUT, OUTPUT, INTERNAL_INPUT, INTERNAL_OUTPUT,
   * PENDING_OUTPUT */
  static const int directions[] = {-1, 1, 0, 0, 1, 0, 1, 1};
  return event_type >= 0 && event_type < (int64_t)(sizeof directions / sizeof *directions)
             ? directions[event_type]
             : -1;
}

/* ---- messages in base64 ---- */

/* Which messages are in which fields, as far as it takes to know that a parser takes the bytes. */
typedef enum message { STRUCT, ENTRY, VALUE, LIST } message;
enum { NUMBER_STRING = 3, NUMBER_STRUCT = 5, NUMBER_LIST = 6 };

static bool is_text(cst_bytes bytes) { return cst__utf8_valid(bytes.data, bytes.size); }

static bool is_message(message type, cst_bytes bytes, int depth);

static bool is_field(message type, const cst__wire_field *field, int depth) {
  if (field->type != CST__WIRE_LEN) {
    return true;
  }
  switch (type) {
    case STRUCT:
      return field->number != 1 || is_message(ENTRY, field->bytes, depth - 1);
    case ENTRY:
      return field->number == 1   ? is_text(field->bytes)
             : field->number == 2 ? is_message(VALUE, field->bytes, depth - 1)
                                  : true;
    case VALUE:
      return field->number == NUMBER_STRING   ? is_text(field->bytes)
             : field->number == NUMBER_STRUCT ? is_message(STRUCT, field->bytes, depth - 1)
             : field->number == NUMBER_LIST   ? is_message(LIST, field->bytes, depth - 1)
                                              : true;
    default:
      return field->number != 1 || is_message(VALUE, field->bytes, depth - 1);
  }
}

static bool is_message(message type, cst_bytes bytes, int depth) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  if (depth <= 0) {
    return false;
  }
  while (cst__wire_next(&wire, depth, &field)) {
    if (!is_field(type, &field, depth)) {
      return false;
    }
  }
  return wire.fault == CST__WIRE_FAULT_NONE;
}

/* Any, with a name of its type. */
static bool is_any(cst_bytes bytes) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  bool has_type = false;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.number == 1 && field.type == CST__WIRE_LEN) {
      if (!is_text(field.bytes)) {
        return false;
      }
      has_type = field.bytes.size > 0;
    }
  }
  return has_type && wire.fault == CST__WIRE_FAULT_NONE;
}

static bool is_struct(cst_bytes bytes) { return is_message(STRUCT, bytes, CST__DEPTH_LIMIT); }

/* The bytes behind a prefix. */
static cst_status look_at(const cst_allocator *allocator, const char *prefix, cst_bytes text,
                          bool (*is_sound)(cst_bytes), bool *out, cst_error *error) {
  const size_t skipped = strlen(prefix);
  const char *digits = (const char *)text.data + skipped;
  size_t size;
  *out = false;
  if (text.size < skipped || memcmp(text.data, prefix, skipped) != 0 ||
      !cst__base64_size(digits, text.size - skipped, CST__BASE64_EXACT, &size)) {
    return CST_OK;
  }
  uint8_t *bytes = cst__new(allocator, size + 1);
  if (bytes == NULL) {
    return cst__fail_memory(error, size + 1);
  }
  cst__base64_decode(digits, text.size - skipped, bytes);
  *out = is_sound((cst_bytes){bytes, size});
  cst__delete(bytes);
  return CST_OK;
}

cst_status cst__mlmd_is_struct(const cst_allocator *allocator, cst_bytes text, bool *out,
                               cst_error *error) {
  return look_at(allocator, CST__MLMD_STRUCT, text, is_struct, out, error);
}

cst_status cst__mlmd_is_proto(const cst_allocator *allocator, cst_bytes text, bool *out,
                              cst_error *error) {
  return look_at(allocator, CST__MLMD_PROTO, text, is_any, out, error);
}

/* ---- paths of events, times ---- */

void cst__mlmd_next_step(const char **at, cst__mlmd_path_step *step) {
  enum { MOST_DIGITS = 18 };
  const char *slash = strchr(*at, '/');
  const size_t size = slash != NULL ? (size_t)(slash - *at) : strlen(*at);
  *step = (cst__mlmd_path_step){false, 0, *at, size};
  const bool is_number = size > 0 && size <= MOST_DIGITS && strspn(*at, "0123456789") >= size &&
                         (size == 1 || **at != '0');
  if (is_number) {
    step->is_index = true;
    step->index = strtoll(*at, NULL, 10);
  }
  *at = slash != NULL ? slash + 1 : NULL;
}

int64_t cst__mlmd_us(int64_t ms) {
  int64_t us;
  return !__builtin_mul_overflow(ms, (int64_t)1000, &us) ? us : ms < 0 ? INT64_MIN : INT64_MAX;
}

int64_t cst__mlmd_ms(int64_t us) { return cst__floor_div(us, 1000); }
