/* Tensors and the rows that do not fit them, in words.
 */
#include <inttypes.h>
#include <string.h>

#include "validate/validation_report.h"

typedef struct words {
  cst__report *r;
  const cst_tensor_spec *spec;
  const cst__tensor_tally *tally;
  const cst__finding *finding;
  const cst__row_fault *first;
} words;

static const char *tensor_name(const words *w) {
  char name[128];
  cst__escape(name, sizeof name, w->spec->name, strlen(w->spec->name));
  return cst__report_say(w->r, "%s", name);
}

static const char *fault_column(const words *w) {
  char name[128] = "";
  const char *column = w->first->column;
  if (column != NULL) {
    cst__escape(name, sizeof name, column, strlen(column));
  }
  return cst__report_say(w->r, "%s", name);
}

/* What is wrong with the rows, after "N of M records have ". */
static const char *fault_text(const words *w, cst__row_reason reason) {
  long long found = w->first->found;
  long long expected = w->first->expected;
  switch (reason) {
    case CST__ROW_TYPE:
      return cst__report_say(w->r, "a column that cannot make it: %s", w->tally->problem);
    case CST__ROW_COUNT:
      return cst__report_say(w->r, "another number of values than the %lld of its shape (%lld)",
                             expected, found);
    case CST__ROW_NULL:
      return "no value, and it has no default";
    case CST__ROW_NULL_ITEM:
      return "a null among the values";
    case CST__ROW_LENGTHS:
      return cst__report_say(w->r, "not as many indices in '%s' as values (%lld for %lld)",
                             fault_column(w), found, expected);
    case CST__ROW_INDEX:
      return expected == INT64_MAX
                 ? cst__report_say(w->r, "an index in '%s' below 0", fault_column(w))
                 : cst__report_say(w->r, "an index in '%s' outside [0, %lld]", fault_column(w),
                                   expected);
    case CST__ROW_ORDER:
      return "indices that are not sorted, though already_sorted is set";
    case CST__ROW_DOUBLE:
      return "two values at one place, though already_sorted is set";
    case CST__ROW_DIVISION:
      return cst__report_say(w->r, "a number of values (%lld) that rows of %lld do not divide",
                             found, expected);
    case CST__ROW_LENGTH:
      return cst__report_say(w->r, "an invalid row length in '%s'", fault_column(w));
    case CST__ROW_SUM:
      return cst__report_say(w->r, "row lengths in '%s' that do not add up (to %lld of %lld)",
                             fault_column(w), found, expected);
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
  return w->spec->is_explicit
             ? "enlarge its dense_shape, or repair the data"
             : cst__report_say(w->r, "raise int_domain.max of \"%s\", or repair the data",
                               fault_column(w));
}

static const char *fault_hint(const words *w, cst__row_reason reason) {
  switch (reason) {
    case CST__ROW_COUNT:
      return "make it a varlen or ragged tensor, or repair the data";
    case CST__ROW_NULL:
      return "give it a default value, make it a varlen tensor, or repair the data";
    case CST__ROW_ORDER:
    case CST__ROW_DOUBLE:
      return "remove its already_sorted, or repair the data";
    case CST__ROW_INDEX:
      return index_hint(w);
    case CST__ROW_TYPE:
      return "correct its columns in the schema, or repair the data";
    default:
      return cst__report_say(w->r, "change tensor '%s' of the schema, or repair the data",
                             tensor_name(w));
  }
}

/* What an inferred tensor lacks because of the feature that it is made of, which says so itself. */
static bool is_told(const cst__report *r, const cst_tensor_spec *spec, cst__row_reason reason) {
  cst__fault_kind fault = reason == CST__ROW_TYPE    ? CST__FAULT_TYPE
                          : reason == CST__ROW_NULL  ? CST__FAULT_PRESENCE
                          : reason == CST__ROW_COUNT ? CST__FAULT_SHAPE
                                                     : CST__NUM_FAULTS;
  bool is_of_feature = spec->num_path_steps == 1 ||
                       (spec->num_path_steps > 1 && reason == CST__ROW_TYPE); /* of its struct */
  const cst__tally *root = &r->state->tallies[0];
  size_t at = spec->is_explicit || !is_of_feature
                  ? SIZE_MAX
                  : cst__name_map_find(&root->plan->names, spec->path[0], strlen(spec->path[0]));
  return at != SIZE_MAX && fault != CST__NUM_FAULTS &&
         cst__tally_children(r->state, root)[at].findings[fault].count > 0;
}

static void report_reason(cst__report *r, const cst__tensor_plan *plan,
                          const cst__tensor_tally *tally, cst__row_reason reason) {
  const cst__finding *finding = &tally->findings[reason];
  const cst_tensor_spec *spec = plan->spec;
  words w = {r, spec, tally, finding, &tally->first[reason]};
  const char *path = "";
  if (finding->count == 0 || is_told(r, spec, reason)) {
    return;
  }
  for (size_t i = 0; i < spec->num_path_steps; i++) {
    char step[128];
    cst__escape(step, sizeof step, spec->path[i], strlen(spec->path[i]));
    path = cst__report_say(r, "%s%s%s", path, i > 0 ? "." : "", step);
  }
  cst__anomaly anomaly = {
      .kind = "representation",
      .path = path,
      .tensor = tensor_name(&w),
      .group = plan->group,
      .message = cst__report_say(r, "tensor '%s': %" PRIu64 " of %" PRIu64 " record%s %s %s",
                                 tensor_name(&w), finding->count, r->state->num_rows,
                                 r->state->num_rows == 1 ? "" : "s",
                                 finding->count == 1 ? "has" : "have", fault_text(&w, reason)),
      .hint = fault_hint(&w, reason)};
  cst__report_add(r, finding, anomaly);
}

void cst__report_tensors(cst__report *r) {
  for (size_t i = 0; i < r->state->plan->num_tensors; i++) {
    for (int reason = 0; reason < CST__NUM_ROW_REASONS; reason++) {
      report_reason(r, &r->state->plan->tensors[i], &r->state->tensors[i], (cst__row_reason)reason);
    }
  }
}
