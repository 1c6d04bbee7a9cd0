/* Within the room: what a step has made, and what a run knows while it goes through the steps.
 *
 * Flow: query_run.c opens a run and goes through the plan's steps for each batch; run_input.c looks
 * at the batch, run_lists.c, run_sort.c, run_products.c and run_index.c make places and indexes
 * with src/nested, run_values.c values, run_output.c the batch that goes out. run_bits.c has bools
 * as bits, and run_errors.c says of which record an element is; run_rows.c leaves out rows that are
 * refused; run_limits.c bounds what a batch takes.
 */
#ifndef QUERY_RUN_STEPS_RUN_H
#define QUERY_RUN_STEPS_RUN_H

#include "nested/gather.h"
#include "nested/slots.h"
#include "query/plan/steps.h"
#include "query/run/run.h"
#include "table/array.h"

/* What a step has made. Its numbers lie in the arena of the run, until the batch is done. */
typedef struct cst__step_result {
  int64_t count; /* of the elements of a place, of the elements that an index is for, of values */
  cst__lists lists;  /* places: of the elements of the parent; splits NULL: the records, or lists of
                        one size each */
  cst__chosen index; /* for each element of one place the element of another */
  cst_array *values; /* counted */
  cst__view view;    /* of it */
} cst__step_result;

/* How the values of a leaf become those of the plan's type. */
typedef enum cst__leaf_copy {
  CST__LEAF_SAME, /* they have it */
  CST__LEAF_TEXT, /* text or bytes of another layout */
  CST__LEAF_NULL  /* a column of type null: it has nulls */
} cst__leaf_copy;

/* Where a node of the plan lies in the type of the batches. */
typedef struct cst__node_place {
  int64_t child; /* of its parent; 0 for the items of lists */
  bool is_used;  /* a step looks at it, or at what lies below */
  bool is_list;
  bool is_encoded; /* by a dictionary, of whose values `copy` speaks */
  cst__leaf_copy copy;
} cst__node_place;

/* The slots of a node in the batch, and, of lists, those of their items. */
typedef struct cst__node_slots {
  cst__slots slots;
  cst__slots items;
  cst__lists lists;
} cst__node_slots;

/* What the run holds of the batch that it works on. */
typedef struct cst__batch_input {
  cst_array *array; /* of the type of the input, as it came */
  cst__view view;
  const int64_t *numbers; /* of the records of all rows; NULL: 0, 1, ... */
  cst__chosen rows;       /* that are looked at: a run, or numbers and spans */
} cst__batch_input;

static inline int64_t cst__batch_row(const cst__batch_input *batch, int64_t row) {
  return cst__chosen_at(&batch->rows, row);
}

struct cst__query_run {
  cst__query_plan *plan; /* counted */
  cst_allocator allocator;
  cst_array *input; /* an empty array of the input's type */
  cst__node_place *places;
  cst_array **likes; /* by step: an empty array of the type of its values; the literal itself */
  cst__node_slots *nodes;
  cst__step_result *slots;
  cst__batch_input batch;
  cst__arena arena;       /* of one batch: how its arrays are looked at */
  cst__arena numbers;     /* and what the steps make of them: at most max_bytes */
  cst__query_limits most; /* of this batch */
  cst__query_limits used; /* by it so far, but for its bytes */
};

/* A step of the run that is being made. */
typedef struct cst__step_call {
  cst__query_run *run;
  const cst__step *step;
  cst__step_result *out;
  cst_error *error;
} cst__step_call;

/* ---- what steps have made ---- */

static inline const cst__step_result *cst__step_arg(const cst__step_call *c, size_t i) {
  return &c->run->slots[c->step->args[i]];
}

/* The place whose elements have the lists that this place is; CST__NO_STEP: it is the records. */
uint32_t cst__place_parent(const cst__query_plan *plan, uint32_t place);

static inline const cst__step_result *cst__place_parent_slot(const cst__query_run *run,
                                                             uint32_t place) {
  return &run->slots[cst__place_parent(run->plan, place)];
}

/* Numbers in the run's arena, `count` of them; NULL: no memory, the error is filled; or more than
 * max_bytes allows, which the step's caller makes CST_LIMIT. */
int64_t *cst__step_numbers(const cst__step_call *c, int64_t count);
void *cst__step_bytes(const cst__step_call *c, int64_t count);

/* Each element itself, of so many. */
static inline cst__chosen cst__index_all(int64_t count) { return (cst__chosen){.count = count}; }

/* ---- limits ---- */

/* Begins to count what a batch takes; its view has been looked at. */
void cst__limits_begin(cst__query_run *run);
/* CST_LIMIT if a place of so many elements would be more, with all others, than is allowed. */
cst_status cst__step_check_count(const cst__step_call *c, int64_t count);
/* CST_LIMIT if so many bytes, or values of the step's type without their text, would be more memory
 * than is left; nothing is counted yet. */
cst_status cst__step_check_bytes(const cst__step_call *c, int64_t bytes);
cst_status cst__step_check_values(const cst__step_call *c, int64_t count);
/* Counts memory; false: it is too much, which cst__limits_status tells later. */
bool cst__step_take_bytes(const cst__step_call *c, int64_t bytes);
/* Counts an array that a step has made. */
cst_status cst__step_take_values(const cst__step_call *c, const cst__view *made);
/* Counts elements, and bytes of text, that a step goes through. */
cst_status cst__step_take_work(const cst__step_call *c, int64_t elements, int64_t text);
/* The status of a call, or CST_LIMIT if memory was refused in it. */
cst_status cst__limits_status(const cst__step_call *c, cst_status status);
/* The row of the batch that has the largest share in what a step goes through; -1: none. */
int64_t cst__limits_row(const cst__query_run *run, const cst__step *step);

int64_t cst__limit_times(int64_t a, int64_t b); /* at most INT64_MAX */
/* Bytes of a view's text of layout BINARY; at most, where offsets enclose bytes under nulls. */
int64_t cst__limit_text_bytes(const cst__view *view);
/* Memory of an array: of all that its buffers hold for its slots. */
int64_t cst__limit_array_bytes(const cst__view *view);

/* True for bit i of bools; a null is false. One value stands for all. */
static inline bool cst__bool_is_true(const cst__view *bools, bool is_one, int64_t i) {
  int64_t slot = is_one ? 0 : i;
  int64_t at = bools->offset + slot;
  return !cst__view_is_null(bools, slot) &&
         (((const uint8_t *)bools->data)[at >> 3] >> (at & 7) & 1);
}

/* The bits of cst__bool_is_true, 64 to a word, with unset ones after them and a word of these at
 * the end: [count / 64 + 1]. NULL: no memory, the error is filled. */
uint64_t *cst__bool_words(const cst__step_call *c, const cst__view *bools, bool is_one,
                          int64_t count);
static inline int64_t cst__words_count(const uint64_t *words, int64_t count) {
  return cst__bitmap_count((const uint8_t *)words, 0, count);
}

/* Keeps an array of the step's type, which is taken over also on failure, as its values. */
cst_status cst__step_keep(const cst__step_call *c, struct ArrowArray *made);
/* The same with values that there are. */
cst_status cst__step_share(const cst__step_call *c, const cst_array *values);
/* Values of a step with a slot for each of `count` elements: counted, where one stands for all it
 * is repeated. */
cst_status cst__step_spread(const cst__step_call *c, uint32_t step, int64_t count, cst_array **out);

/* ---- the kinds of steps ---- */

cst_status cst__step_list(const cst__step_call *c);
cst_status cst__step_column(const cst__step_call *c);
cst_status cst__step_valid(const cst__step_call *c);
cst_status cst__step_not_null(const cst__step_call *c);

cst_status cst__step_join(const cst__step_call *c);
cst_status cst__step_choose_lists(const cst__step_call *c);
cst_status cst__step_filter(const cst__step_call *c);
cst_status cst__step_slice(const cst__step_call *c);
cst_status cst__step_reverse(const cst__step_call *c);
cst_status cst__step_sort(const cst__step_call *c);
cst_status cst__step_same(const cst__step_call *c);
cst_status cst__step_runs(const cst__step_call *c);
cst_status cst__step_product(const cst__step_call *c);
cst_status cst__step_partners(const cst__step_call *c);
cst_status cst__step_parents(const cst__step_call *c);
cst_status cst__step_compose(const cst__step_call *c);
cst_status cst__step_at(const cst__step_call *c);
cst_status cst__step_key(const cst__step_call *c);
cst_status cst__step_kept(const cst__step_call *c);
cst_status cst__step_pad(const cst__step_call *c);

cst_status cst__step_expand(const cst__step_call *c);
cst_status cst__step_chosen(const cst__step_call *c);
cst_status cst__step_take(const cst__step_call *c);
cst_status cst__step_literal(const cst__step_call *c);
cst_status cst__step_call_function(const cst__step_call *c);
cst_status cst__step_call_caller(const cst__step_call *c);
cst_status cst__step_aggregate(const cst__step_call *c);
cst_status cst__step_size(const cst__step_call *c);
cst_status cst__step_run_sizes(const cst__step_call *c);
cst_status cst__step_positions(const cst__step_call *c);
cst_status cst__step_record_numbers(const cst__step_call *c);
cst_status cst__step_mask(const cst__step_call *c);
cst_status cst__step_repeat(const cst__step_call *c);
cst_status cst__step_require(const cst__step_call *c);

/* ---- the whole ---- */

/* Makes all steps, for the rows that the run's batch names. */
cst_status cst__run_steps(cst__query_run *run, cst_error *error);

/* True for a failure that is one row's. */
bool cst__row_is_refused(cst_status status, const cst_error *error);
/* After such a failure (`tried`), or where some rows are bad already: tells of all rows that are
 * refused, and makes the batch of the others. */
cst_status cst__output_good_rows(cst__query_run *run, const cst__query_input *input, bool tried,
                                 struct ArrowArray *out, cst__row_map *origin, cst_error *error);

/* ---- input and output ---- */

/* Finds the plan's nodes in the type of the batches. */
cst_status cst__input_bind(cst__query_run *run, const struct ArrowSchema *input, cst_error *error);
/* Walks down to all nodes, from the rows that the run's batch names. */
cst_status cst__input_walk(cst__query_run *run, cst_error *error);

/* The batch of what the steps have made. */
cst_status cst__output_batch(cst__query_run *run, struct ArrowArray *out, cst_error *error);
/* The row of the input's batch of each of its rows. */
cst_status cst__output_origin(cst__query_run *run, cst__row_map *origin, cst_error *error);

/* ---- errors ---- */

/* The row of the batch that a slot of a node lies in, counted among those that are looked at. */
int64_t cst__node_row(const cst__query_run *run, uint32_t node, int64_t at);

/* What a step's failure lacks: the row of the batch instead of the element that it has as its
 * record, where the step stands in the query, and what was being made. */
void cst__step_error_add(const cst__query_run *run, const cst__step *step, cst_error *error);

#endif /* QUERY_RUN_STEPS_RUN_H */
