/* A validation: what data has in it that its schema does not allow, feature by feature and tensor
 * by tensor, as an accumulator.
 *
 * The plan has what is the same for all parts of the data: the rules of the schema, the tensors of
 * its groups, the options. The state counts. A check is one batch on its way through a state.
 */
#ifndef VALIDATE_VALIDATION_H
#define VALIDATE_VALIDATION_H

#include <columnstone/validate.h>

#include "arrow/accumulator.h"
#include "schema/domains.h"
#include "tensor/tensor.h"
#include "validate/strings.h"

enum { CST__FOUND_SIZE = 96, CST__TYPE_NAME_SIZE = 64, CST__MAX_UNEXPECTED = 1000 };

/* ---- the plan ---- */

/* A feature of the schema. */
typedef struct cst__feature_plan {
  const cst__rules *rules; /* NULL: the root, whose children are the features at the top */
  cst__string_set strings; /* of a string or bool domain */
  size_t first_child;      /* the number of its tally; those of its siblings follow */
  size_t num_children;
  struct cst__feature_plan *children; /* those of the schema, in its order */
  cst__name_map names;                /* of children */
} cst__feature_plan;

/* A tensor that every row has to fit. */
typedef struct cst__tensor_plan {
  const cst_tensor_spec *spec;
  const char *group;
} cst__tensor_plan;

typedef struct cst__validation_plan {
  const cst_validate_options *options; /* borrowed */
  size_t max_places;
  cst__arena arena;
  cst__rulebook *book;
  cst__feature_plan root;
  size_t num_tallies; /* of all features, the root included */
  cst_specs **groups;
  size_t num_groups;
  cst__tensor_plan *tensors;
  size_t num_tensors;
  cst__arena_pool *pool;
  uint64_t mark; /* differs if any of the above does: a saved state has it */
} cst__validation_plan;

/* What is not in the options. */
typedef struct cst__validation_source {
  bool legacy_specs;
  const char *group; /* whose tensors are checked if the options name none; NULL: the default */
} cst__validation_source;

/* Options that were read: the groups have names. */
cst_status cst__check_validate_options(const cst_validate_options *options, cst_error *error);
/* The options outlive the plan. */
cst_status cst__validation_plan_init(cst__validation_plan *plan, const cst_schema *schema,
                                     const cst_validate_options *options,
                                     const cst__validation_source *source,
                                     const cst_allocator *allocator, cst_error *error);
/* Also after a failure of init. */
void cst__validation_plan_reset(cst__validation_plan *plan);

/* ---- the state ---- */

/* One record that has a disagreement. */
typedef struct cst__sighting {
  uint64_t row; /* counted from the first one of the state */
  cst__place place;
  char found[CST__FOUND_SIZE];
} cst__sighting;

/* One kind of disagreement. */
typedef struct cst__finding {
  uint64_t count;        /* records */
  cst__sighting *places; /* the first ones, by their rows; NULL: none */
  size_t num_places, capacity;
  int64_t last_row; /* of the batch at hand: a record counts once; -1: none */
} cst__finding;

/* What can be wrong with one feature. */
typedef enum cst__fault_kind {
  CST__FAULT_TYPE,
  CST__FAULT_PRESENCE,
  CST__FAULT_COUNT,
  CST__FAULT_SHAPE,
  CST__FAULT_INT,
  CST__FAULT_FLOAT,
  CST__FAULT_STRING,
  CST__FAULT_BOOL,
  CST__FAULT_UTF8,
  CST__NUM_FAULTS
} cst__fault_kind;

typedef struct cst__int_range {
  bool any;
  int64_t least, most;
} cst__int_range;

typedef struct cst__float_range {
  bool any;
  double least, most;
} cst__float_range;

/* Types that were found in place of the right one. */
typedef struct cst__found_types {
  char first[CST__TYPE_NAME_SIZE]; /* "": none */
  bool vary;                       /* there were others after it */
} cst__found_types;

/* What has been seen of one feature of the schema. */
typedef struct cst__tally {
  const cst__feature_plan *plan;
  bool in_lists;       /* a child of structs in lists: parents and present count structs */
  uint64_t parents;    /* of a child: structs that might have it */
  uint64_t present;    /* slots that have it */
  uint64_t values;     /* that were compared with the domain, */
  uint64_t bad_values; /* and those that are not in it, */
  bool has_nan;        /* of which one is NaN, */
  cst__int_range ints; /* the range of the others, */
  cst__float_range floats;
  cst__distinct unknown; /* and strings */
  cst__int_range counts; /* of the bad numbers of values */
  cst__found_types types;
  cst__finding findings[CST__NUM_FAULTS];
} cst__tally;

/* What has been seen of one feature that the schema does not have. */
typedef struct cst__unexpected {
  const char
      *key; /* the path of its struct, a NUL and its name: whole, where the path may be cut */
  size_t key_size;
  const char *path;
  cst__found_types types;
  cst__finding finding;
} cst__unexpected;

/* What rows do not fit a tensor, by reason. */
typedef struct cst__tensor_tally {
  char problem[192]; /* of CST__ROW_TYPE, the first */
  cst__finding findings[CST__NUM_ROW_REASONS];
  bool is_seen[CST__NUM_ROW_REASONS];
  cst__row_fault first[CST__NUM_ROW_REASONS]; /* of each reason that is seen */
} cst__tensor_tally;

/* Records that could not be read. */
typedef struct cst__lost_tally {
  char kind[32]; /* as cst_dropped has it */
  cst__finding finding;
} cst__lost_tally;

enum { CST__MAX_LOST_KINDS = 8 };

typedef struct cst__validation_state {
  const cst__validation_plan *plan;
  cst__arena arena;
  cst__file_names files;
  uint64_t num_rows;
  cst__tally *tallies;          /* [0] is the root's, and of no use */
  cst__tensor_tally *tensors;   /* as the plan has them */
  cst__unexpected **unexpected; /* those with the least keys, sorted by them */
  size_t num_unexpected, unexpected_capacity;
  cst__finding more_unexpected; /* values of all others */
  cst__lost_tally lost[CST__MAX_LOST_KINDS];
  size_t num_lost;
  bool out_of_memory;
} cst__validation_state;

/* Its plan is a cst__validation_plan; it finds anomalies. */
extern const cst__accumulator cst__validation_accumulator;

static inline cst__tally *cst__tally_children(const cst__validation_state *state,
                                              const cst__tally *tally) {
  return &state->tallies[tally->plan->first_child];
}

void cst__found_types_add(cst__found_types *types, const char *name);
void cst__int_range_add(cst__int_range *range, int64_t value);

/* The rows of a feature that the schema does not have, and the type that it has there. */
typedef struct cst__unexpected_rows {
  const char *parent; /* path of the struct that it is in; NULL: none */
  const char *name;
  const char *type;
} cst__unexpected_rows;
/* Makes room for one; NULL: there are too many, or no memory. */
cst__unexpected *cst__unexpected_need(cst__validation_state *state,
                                      const cst__unexpected_rows *rows);
/* ---- a batch ---- */

typedef struct cst__check {
  cst__validation_state *state;
  const cst__validation_plan *plan;
  const cst__origin *origin;
  int64_t rows;
  cst__lists levels[CST__MAX_LEVELS]; /* from the rows down to what is being looked at */
  cst__arena scratch; /* of the views, too; a struct may get children that it lacks */
  cst_error *error;
} cst__check;

/* Counts a row, once. The place to say what was found, if the row is one of the first; else NULL.
 */
char *cst__check_mark(cst__check *check, cst__finding *finding, int64_t row);

/* Counts a row of a feature that the schema does not have; NULL: one that there is no room for. */
void cst__unexpected_count(cst__check *check, cst__unexpected *unexpected, int64_t row,
                           const char *type);

/* validation_features.c: all features; validation_tensors.c: the tensors of the groups. */
cst_status cst__check_features(cst__check *check, const cst__view *batch);
cst_status cst__check_tensors(cst__check *check, const cst__view *batch);

/* A column on its way through a check. */
typedef struct cst__checked_column {
  cst__check *check;
  cst__tally *tally;
  size_t num_above; /* levels of lists that lead from the rows to its slots */
} cst__checked_column;

/* Counts the row of a slot below so many levels; where to say what was found, or NULL. */
static inline char *cst__checked_mark(const cst__checked_column *c, cst__fault_kind kind,
                                      size_t num_above, int64_t slot) {
  return cst__check_mark(c->check, &c->tally->findings[kind],
                         cst__levels_find(c->check->levels, num_above, slot));
}

/* Says what was found, if there is a place for it. */
#define CST__SAY(place, ...)                                \
  do {                                                      \
    char *say_at = (place);                                 \
    if (say_at != NULL) {                                   \
      (void)snprintf(say_at, CST__FOUND_SIZE, __VA_ARGS__); \
    }                                                       \
  } while (0)

static inline const char *cst__plural_of(int64_t count) { return count == 1 ? "" : "s"; }

/* validation_values.c: compares values, which are of the right type, with the feature's domain. */
void cst__check_values(const cst__checked_column *c, const cst__slots *items, size_t num_above);

/* ---- the end ---- */

struct cst__validation_statistics;
/* validation_report.c: the anomalies, those of statistics among them; NULL: there are none. */
cst_status cst__validation_report(const cst__validation_state *state,
                                  const struct cst__validation_statistics *statistics,
                                  cst_findings **out, cst_error *error);

#endif /* VALIDATE_VALIDATION_H */
