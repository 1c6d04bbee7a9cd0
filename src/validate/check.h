/* A validation at work: what has been found so far, feature by feature and tensor by tensor.
 */
#ifndef VALIDATE_CHECK_H
#define VALIDATE_CHECK_H

#include <columnstone/validate.h>

#include "schema/domains.h"
#include "source/scan/survey.h"
#include "tensor/tensor.h"
#include "validate/strings.h"

enum { CST__FOUND_SIZE = 96, CST__MAX_UNEXPECTED = 1000 };

typedef struct cst__sighting {
  const char *file;
  int64_t record;
  char found[CST__FOUND_SIZE];
} cst__sighting;

/* One kind of disagreement. */
typedef struct cst__finding {
  uint64_t count;        /* records */
  cst__sighting *places; /* NULL before the first one */
  size_t num_places, capacity;
  int64_t last_row; /* of the batch at hand: a record counts once; -1: none */
} cst__finding;

/* What can be wrong with one feature. */
typedef enum cst__fault_kind {
  CST__FAULT_UNEXPECTED,
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

/* What has been seen of one feature. */
typedef struct cst__tally cst__tally;
struct cst__tally {
  const cst__rules *rules; /* NULL: the schema does not have it */
  const char *path;        /* in the arena: anomalies have it */
  bool in_lists;           /* a child of structs in lists: parents and present count structs */
  bool checked;            /* false: in use by nobody; it may be there, and look as it likes */
  uint64_t parents;        /* of a child: structs that might have it */
  uint64_t present;        /* slots that have it */
  uint64_t values;         /* that were compared with the domain, */
  uint64_t bad_values;     /* and those that are not in it */
  bool has_nan;            /* is one of the bad ones */
  bool has_extremes;       /* of the bad ones */
  int64_t int_least, int_most;
  double float_least, float_most;
  bool has_counts; /* of the bad numbers of values */
  int64_t least_count, most_count;
  char type[64];           /* found in place of the right one, first */
  bool types_vary;         /* and others behind it */
  cst__string_set strings; /* of a string or bool domain */
  cst__distinct unknown;   /* strings that are not in it */
  cst__finding findings[CST__NUM_FAULTS];
  cst__tally *children; /* those of the schema, in its order */
  size_t num_children;
  cst__name_map names; /* of children */
};

/* A tensor of a group, and what rows do not fit it, by reason. */
typedef struct cst__tensor_tally {
  const cst_tensor_spec *spec;
  const char *group;
  char problem[192]; /* of CST__ROW_TYPE, the first */
  cst__finding findings[CST__NUM_ROW_REASONS];
  bool is_seen[CST__NUM_ROW_REASONS];
  cst__row_fault first[CST__NUM_ROW_REASONS]; /* of each reason that is seen */
} cst__tensor_tally;

typedef struct cst__drop_tally {
  const char *kind; /* as cst_dropped has it */
  cst__finding finding;
} cst__drop_tally;

typedef struct cst__check {
  const cst_validate_options *options;
  size_t max_places;
  cst__arena arena; /* all that is kept */
  cst__rulebook *book;
  cst__tally root; /* its children are the features at the top */
  cst__tally **unexpected;
  size_t num_unexpected, unexpected_capacity;
  cst__name_map unexpected_names;
  cst__finding more_unexpected; /* above CST__MAX_UNEXPECTED */
  cst_specs **groups;
  size_t num_groups;
  cst__tensor_tally *tensors;
  size_t num_tensors;
  cst__drop_tally drops[8];
  size_t num_drops;
  bool is_table; /* CSV, JSON: a cell that does not fit its type is told as a dropped row */
  uint64_t num_rows;
  const char *file; /* of the last place */

  /* of the batch at hand */
  const cst__survey *at;
  int64_t rows;
  cst__scratch_pool *pool;
  cst__scratch scratch;
  cst_error *error;
  bool out_of_memory;
} cst__check;

cst_status cst__check_init(cst__check *check, const cst_schema *schema,
                           const cst_validate_options *options, const cst_allocator *allocator,
                           cst_error *error);
void cst__check_reset(cst__check *check);

/* Counts a row of the batch at hand, once. The place to say what was found, if the row is one of
 * the first; else NULL. */
char *cst__mark(cst__check *check, cst__finding *finding, int64_t row);
/* The same for a record that is no row. */
char *cst__mark_place(cst__check *check, cst__finding *finding, const char *file, int64_t record);

/* columns.c: all features of a batch. */
cst_status cst__check_features(cst__check *check, const cst__view *batch);
/* tensors.c: the tensors of the groups, and all of them against a batch; a struct of it may get
 * children that it lacks, from the arena. */
cst_status cst__check_add_groups(cst__check *check, const char *const *groups, size_t num_groups,
                                 bool legacy);
cst_status cst__check_tensors(cst__check *check, const cst__view *batch, cst__arena *arena);

/* report.c: the anomalies, in the validation's own memory. */
cst_status cst__check_report(cst__check *check, cst_validation **out, cst_error *error);

/* The tally of a feature that the schema does not have; NULL: there are too many, or no memory. */
cst__tally *cst__check_unexpected(cst__check *check, const char *parent, const char *name);

#endif /* VALIDATE_CHECK_H */
