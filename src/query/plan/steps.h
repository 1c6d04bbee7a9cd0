/* The steps of a plan: what a run does, in order. Each step makes one slot, of which later steps
 * use the number; equal steps are one (plan_steps.c compares them), and those that no output needs
 * are not there.
 *
 * A slot is one of three:
 *  - a *place*: elements, and the lists that hold them: for every element of the parent place where
 *    its elements begin and end, and which of these lists are null (and then empty);
 *  - an *index*: for every element of one place, the element of another that it is made of, or -1;
 *  - *values*: an Arrow array with a value per element of a place, or with one value for all.
 * Places that choose (filter, slice, ...) are an index too: of the elements that they chose among.
 */
#ifndef QUERY_PLAN_STEPS_H
#define QUERY_PLAN_STEPS_H

#include "base/thread.h"
#include "query/functions/function.h"
#include "query/plan/plan.h"

#define CST__NO_STEP UINT32_MAX

/* A node of the input: the batch, a field of a struct, or the items of a list (of any layout, a
 * map's entries too). Nodes stand after their parents; node 0 is the batch. */
typedef struct cst__input_node {
  uint32_t parent;
  const char *name;   /* of a field; NULL: the items of the lists that the parent is */
  const char *format; /* of a leaf's values, as the plan knows it; NULL: a struct or a list */
  bool never_null;    /* the plan was made for data that has no nulls there */
} cst__input_node;

typedef enum cst__step_kind {
  /* places */
  CST__STEP_RECORDS,      /* the rows of the batch: the first step of every plan */
  CST__STEP_LIST,         /* [parent place], node: the lists that the node is */
  CST__STEP_JOIN,         /* [upper list place, list place whose parent it is]: the lists of both
                             are one; the elements are those of the lower; null where upper is */
  CST__STEP_CHOOSE_LISTS, /* [new parent place, index into the elements of the old parent, list
                             place]: for each element of the new parent its list again; also an
                             index into the list place; where the index is -1 a null list */
  CST__STEP_FILTER,       /* [list place, bools]: elements where true; also an index */
  CST__STEP_SLICE,        /* [list place, begin, end, step]: values of int64 at the parent, or one
                             for all; CST__NO_STEP: left out; null: a null list; also an index */
  CST__STEP_REVERSE,      /* [list place]; also an index */
  CST__STEP_SORT,         /* [list place, values]: stable, then NaN, then nulls; `flag`:
                             descending; also an index */
  CST__STEP_SAME,         /* [list place, list place]: of one parent; that their lists are equally
                             long is checked; the first of them, null where both are */
  CST__STEP_RUNS,         /* [list place, values]: stretches of elements whose values are the same;
                             also an index, of the first element of each */
  CST__STEP_PRODUCT,      /* [list place, list place of the same parent, index]: each element of the
                             first with each of the second, or, `flag`, with each of those after the
                             one that the index has for it (CST__NO_STEP: itself); null where one of
                             them is; also an index into the first */
  CST__STEP_EXPAND,       /* [parent place, values...], function: lists that a function makes; the
                             values are those of the same step */
  /* indexes */
  CST__STEP_PARENTS,  /* [list place]: the element of the parent place of each element */
  CST__STEP_COMPOSE,  /* [index, index]: the second of the first */
  CST__STEP_AT,       /* [list place, int64 values at the parent]: negative from the end; -1 where
                         there is none */
  CST__STEP_KEY,      /* [map place, keys at its elements, one value]: the entry that has the key */
  CST__STEP_KEPT,     /* [place, bools]: each element itself, -1 where not true */
  CST__STEP_PARTNERS, /* [product place, its arguments...], `flag`: the element of its second list
                       */
  CST__STEP_PAD, /* also a place; [place, list places...], dims: for each record the elements of
                    lists of     lists, filled up with -1 to the dims; an error for a longer list,
                    and,     unless `flag`, for a shorter or null one */
  /* values */
  CST__STEP_COLUMN,    /* [place], node: the values of a leaf */
  CST__STEP_VALID,     /* [place], node: bools, false where a struct is null */
  CST__STEP_CHOSEN,    /* [index]: bools, false where it is -1 */
  CST__STEP_NOT_NULL,  /* [list place]: bools at the parent, false where the list is null */
  CST__STEP_TAKE,      /* [values, index] */
  CST__STEP_LITERAL,   /* literal, type: one value for all */
  CST__STEP_CALL,      /* [place, values...], function */
  CST__STEP_CALLER,    /* [place, values...], caller: a function of the caller's */
  CST__STEP_AGGREGATE, /* [list place, values, literals...], function: one value per list */
  CST__STEP_LISTWISE,  /* [list place, values], function, `flag`: one value per element */
  CST__STEP_SIZE,      /* [list place]: int64, null for a null list */
  CST__STEP_RUN_SIZES, /* [runs place, list place]: int64, elements of each run */
  CST__STEP_POSITIONS, /* [list place]: int64 per element; `flag`: minus the size of its list */
  CST__STEP_NUMBERS,   /* [place]: of the input's record that an element lies in */
  CST__STEP_MASK,      /* [values, bools]: null where not true */
  CST__STEP_REPEAT,    /* [place, values that are one for all]: one for each element */
  CST__STEP_REQUIRE    /* [place, values]: as they are; an error for a null */
} cst__step_kind;

enum { CST__STEP_ARGS = 6 };

typedef struct cst__step {
  cst__step_kind kind;
  uint8_t num_args;
  bool flag;
  bool is_one;                   /* values: one for all */
  uint32_t args[CST__STEP_ARGS]; /* numbers of steps */
  uint32_t parent;               /* places: the parent place; CST__NO_STEP: records */
  uint32_t node;                 /* LIST, COLUMN, VALID */
  const cst__function *function;
  const cst__literal *literal;
  const cst_query_function *caller;
  const int64_t *dims;
  size_t num_dims;
  cst__value_type type; /* of values */
  cst__text_at at;      /* in the query */
  const char *label;    /* what is let, or comes out: the path of errors */
} cst__step;

/* A column that goes out, or a part of one. */
typedef struct cst__output_part cst__output_part;
struct cst__output_part {
  const char *name;
  const uint32_t *lists; /* list places, outermost first: a level of lists each */
  size_t num_lists;
  const int64_t *dims; /* fixed-size lists instead, outermost first (`lists` is empty) */
  size_t num_dims;
  bool is_map;     /* its only list is a map's: struct of two */
  bool null_lists; /* null lists stay null; else they are empty */
  uint32_t place;  /* of the elements */
  uint32_t valid;  /* structs: bools, which are there; CST__NO_STEP: all */
  uint32_t values; /* CST__NO_STEP: a struct */
  cst__output_part *children;
  size_t num_children;
  const struct ArrowSchema *type; /* of the part, lists included, in the plan's schema */
};

/* Paths of the input, sorted, none beginning with another. */
typedef struct cst__planned_paths {
  const char **items;
  size_t count;
} cst__planned_paths;

struct cst__query_plan {
  cst__refcount owners;
  cst_allocator allocator;
  cst__arena arena; /* holds all below */
  cst__input_node *nodes;
  size_t num_nodes;
  cst__step *steps;
  size_t num_steps;
  cst__output_part *parts; /* the columns of the schema */
  size_t num_parts;
  struct ArrowSchema schema;
  uint32_t records; /* the place that the rows of the result are */
  uint32_t origin;  /* index: the row of the batch of each; CST__NO_STEP: the same row */
  cst__query_output *outputs;
  size_t num_outputs;
  cst__planned_paths paths;   /* what a decoder is to be asked for */
  cst__planned_paths sources; /* what is needed: structs of which only their number matters, too */
  cst__planned_paths of_rows; /* what the filters read of which the rows are made */
  cst__query_limits limits;
  cst_query *query; /* a copy: names and values of steps lie in it */
};

/* The names on the way to a node, and below it `more`, unless it is NULL: a path of the input.
 * False: no memory. */
bool cst__query_plan_steps(const cst__query_plan *plan, uint32_t node, const char *more,
                           cst__arena *arena, cst_path *out);

#endif /* QUERY_PLAN_STEPS_H */
