/* Tensors and the rows that do not fit them, in words.
 */
#include <inttypes.h>
#include <string.h>

#include "validate/report.h"

typedef struct words {
  cst__report *r;
  const cst__tensor_tally *tally;
  const cst__finding *finding;
  const cst__row_fault *first;
} words;

static const char *name_of(const words *w) {
  char name[128];
  cst__escape(name, sizeof name, w->tally->spec->name, strlen(w->tally->spec->name));
  return cst__report_say(w->r, "%s", name);
}

static const char *column_of(const words *w) {
  char name[128] = "";
  const char *column = w->first->column;
  if (column != NULL) {
    cst__escape(name, sizeof name, column, strlen(column));
  }
  return cst__report_say(w->r, "%s", name);
}

/* What is wrong with the rows, after "N of M records have ". */
static const char *what(const words *w, cst__row_reason reason) {
  long long found = w->first->found;
  long long expected = w->first->expected;
  switch (reason) {
    case CST__ROW_TYPE:
      return cst__report_say(w->r, "a column that it cannot be made of: %s", w->tally->problem);
    case CST__ROW_COUNT:
      return cst__report_say(w->r, "another number of values than the %lld of its shape (%lld)",
                             expected, found);
    case CST__ROW_NULL:
      return "no value, and it has no default";
    case CST__ROW_NULL_ITEM:
      return "a null among the values";
    case CST__ROW_LENGTHS:
      return cst__report_say(w->r, "not as many indices in '%s' as values (%lld for %lld)",
                             column_of(w), found, expected);
    case CST__ROW_INDEX:
      return expected == INT64_MAX ? cst__report_say(w->r, "an index in '%s' below 0", column_of(w))
                                   : cst__report_say(w->r, "an index in '%s' outside [0, %lld]",
                                                     column_of(w), expected);
    case CST__ROW_ORDER:
      return "indices that are not sorted, though already_sorted is set";
    case CST__ROW_DOUBLE:
      return "two values at one place, though already_sorted is set";
    case CST__ROW_DIVISION:
      return cst__report_say(w->r, "a number of values (%lld) that rows of %lld do not divide",
                             found, expected);
    case CST__ROW_LENGTH:
      return cst__report_say(w->r, "a row length in '%s' that is none", column_of(w));
    case CST__ROW_SUM:
      return cst__report_say(w->r, "row lengths in '%s' that do not add up (to %lld of %lld)",
                             column_of(w), found, expected);
    case CST__NUM_ROW_REASONS:
      break;
  }
  return "";
}

/* The size along an index is the tensor's own, or that of the index feature's domain. */
static const char *index_hint(const words *w) {
  if (w->first->found < 0) {
    return "repair the data: indices begin at 0";
  }
  return w->tally->spec->is_explicit
             ? "enlarge its dense_shape, or repair the data"
             : cst__report_say(w->r, "raise int_domain.max of \"%s\", or repair the data",
                               column_of(w));
}

static const char *hint(const words *w, cst__row_reason reason) {
  switch (reason) {
    case CST__ROW_COUNT:
      return "make it a varlen or ragged tensor, or repair the data";
    case CST__ROW_NULL:
      return "give it a default value, make it a varlen tensor, or repair the data";
    case CST__ROW_ORDER:
    case CST__ROW_DOUBLE:
      return "take already_sorted off it, or repair the data";
    case CST__ROW_INDEX:
      return index_hint(w);
    case CST__ROW_TYPE:
      return "correct its columns in the schema, or repair the data";
    default:
      return cst__report_say(w->r, "change tensor '%s' of the schema, or repair the data",
                             name_of(w));
  }
}

/* What an inferred tensor lacks because of the feature that it is made of, which says so itself. */
static bool is_told(const cst__report *r, const cst_tensor_spec *spec, cst__row_reason reason) {
  cst__fault_kind fault = reason == CST__ROW_TYPE    ? CST__FAULT_TYPE
                          : reason == CST__ROW_NULL  ? CST__FAULT_PRESENCE
                          : reason == CST__ROW_COUNT ? CST__FAULT_SHAPE
                                                     : CST__FAULT_UNEXPECTED;
  bool is_of_feature = spec->num_path_steps == 1 ||
                       (spec->num_path_steps > 1 && reason == CST__ROW_TYPE); /* of its struct */
  size_t at = spec->is_explicit || !is_of_feature
                  ? SIZE_MAX
                  : cst__name_map_find(&r->check->root.names, spec->path[0], strlen(spec->path[0]));
  return at != SIZE_MAX && r->check->root.children[at].findings[fault].count > 0;
}

static void report_reason(cst__report *r, const cst__tensor_tally *tally, cst__row_reason reason) {
  const cst__finding *finding = &tally->findings[reason];
  words w = {r, tally, finding, &tally->first[reason]};
  const char *path = "";
  if (finding->count == 0 || is_told(r, tally->spec, reason)) {
    return;
  }
  for (size_t i = 0; i < tally->spec->num_path_steps; i++) {
    char step[128];
    cst__escape(step, sizeof step, tally->spec->path[i], strlen(tally->spec->path[i]));
    path = cst__report_say(r, "%s%s%s", path, i > 0 ? "." : "", step);
  }
  cst_anomaly anomaly = {
      .kind = "representation",
      .path = path,
      .tensor = name_of(&w),
      .group = tally->group,
      .message =
          cst__report_say(r, "tensor '%s': %" PRIu64 " of %" PRIu64 " record%s %s %s", name_of(&w),
                          finding->count, r->check->num_rows, r->check->num_rows == 1 ? "" : "s",
                          finding->count == 1 ? "has" : "have", what(&w, reason)),
      .hint = hint(&w, reason)};
  cst__report_add(r, finding, anomaly);
}

void cst__report_tensors(cst__report *r) {
  for (size_t i = 0; i < r->check->num_tensors; i++) {
    for (int reason = 0; reason < CST__NUM_ROW_REASONS; reason++) {
      report_reason(r, &r->check->tensors[i], (cst__row_reason)reason);
    }
  }
}
