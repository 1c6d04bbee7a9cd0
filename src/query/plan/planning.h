/* Making a plan: what the names of a query mean while its statements are gone through.
 *
 * A *place* is where values stand: the records, or the elements of a list. An *item* is what an
 * expression means: values, or structs, at a place. Structs have *fields*, which are found in the
 * input when they are asked for, or are those of other structs that have been moved to another
 * place, or have been added by `let`. Nothing is computed for a field before it is asked for, and
 * no step stays in the plan that no output needs.
 *
 * Flow: plan_statements.c goes through the statements, plan_expression.c and plan_calls.c find
 * items for expressions, by plan_fields.c (names) and plan_places.c (moving items); plan_steps.c
 * makes steps, each once; plan_outputs.c and plan_parts.c make columns of items, and plan_needs.c
 * leaves out what is not needed.
 */
#ifndef QUERY_PLAN_PLANNING_H
#define QUERY_PLAN_PLANNING_H

#include "base/error.h"
#include "base/hash.h"
#include "query/plan/steps.h"

typedef struct cst__item_place cst__item_place;
struct cst__item_place {
  const cst__item_place *parent; /* NULL: records */
  uint32_t lists;    /* the step whose elements they are; also the lists, but for records */
  uint32_t elements; /* places with the same elements have the same number */
};

typedef struct cst__fields cst__fields;

typedef struct cst__item {
  const cst__item_place *place; /* NULL: one value for all, `literal` */
  cst__value_type type;         /* of values */
  const cst__literal *literal;
  cst__fields *fields; /* of structs */
  uint32_t values;     /* CST__NO_STEP: structs, or a literal that has no step yet */
  bool is_param;       /* a literal that has the type of its parameter, whatever it meets */
  bool is_nullable;
  bool is_map; /* structs that are the entries of a map, as the input has them */
} cst__item;

/* A field that has been asked for, or added. */
typedef struct cst__known_field cst__known_field;
struct cst__known_field {
  const char *name;
  cst__item item;
  uint32_t since; /* the statement that has added it; 0: none */
  uint32_t until; /* the statement that has dropped it */
  bool is_added;  /* it is none of the input's, or it was added to what this was made of */
  cst__known_field *next;
  cst__known_field *same; /* one of the same name that came later */
};

/* Structs at a place. */
struct cst__fields {
  const cst__item_place *place;
  uint32_t valid; /* bools: which are there; CST__NO_STEP: all */
  /* Those of the input. */
  const void *below; /* NULL: they are not */
  uint32_t node;
  /* Those of others: the elements that an index chooses, as they were when this was made. */
  const cst__fields *base; /* NULL: they are not */
  const cst__item_place *base_place;
  uint32_t index; /* CST__NO_STEP: the same elements */
  uint32_t as_of; /* the last statement that counts */
  cst__known_field *first, *last;
};

/* A parameter, with its value. */
typedef struct cst__parameter {
  const char *name;
  const cst__literal *literal;
  cst__value_type type; /* of it, or of the items of a list */
} cst__parameter;

/* Where names are looked up, and where an aggregate's value is wanted. */
typedef struct cst__scope {
  const cst__item *it; /* the element of a where; NULL: none */
  const struct cst__scope *outer;
  const cst__item_place *wanted;
} cst__scope;

typedef struct cst__planning {
  cst__query_plan *plan;
  const cst__query_plan_options *options;
  cst_error *error;
  cst__source_lookup source; /* looks up what the input has */
  size_t step_capacity;
  size_t node_capacity;
  uint32_t *slots; /* a hash table of steps: number + 1; 0: free */
  size_t num_slots;
  cst__name_map entries; /* of fields by their names: pointers to the first cst__known_field; of
                            &columns, which are known by name, too */
  cst__fields *record;   /* what a record is */
  const cst__item_place *records;
  cst__parameter *params;
  size_t num_params;
  struct cst__planned_output *columns; /* that go out, as far as they are known */
  size_t num_columns;
  size_t column_capacity;
  const void **belows; /* of nodes: what lies below them in the tree */
  uint32_t now;        /* the statement at hand, from 1 on */
  cst__text_at at;
  const char *label;
} cst__planning;

/* Limits, so that a hostile query is refused before it costs much. */
enum {
  CST__MOST_STEPS = 1 << 16,
  CST__MOST_FIELDS = 1 << 14,
  CST__MOST_DEPTH = 60,
  CST__MOST_ENTRIES = 1 << 20
};

/* CST_SCHEMA, or another code, at a place of the query. */
cst_status cst__plan_refuse(const cst__planning *p, cst__text_at at, cst_status code,
                            const char *hint, const char *fmt, ...) CST__PRINTF(5, 6);
#if defined(__clang_analyzer__)
/* A failure is never CST_OK; see base/error.h. */
#define cst__plan_refuse(p, at, code, ...) \
  ((void)(cst__plan_refuse)(p, at, code, __VA_ARGS__), (code))
#endif
/* The same for a failure that is filled already. */
cst_status cst__plan_refused(const cst__planning *p, cst__text_at at, cst_status status);

/* An output, before its columns are made. */
typedef struct cst__planned_output {
  const char *name;
  cst__item item;
  cst_tensor_kind kind; /* 0: what its type says */
  cst_dtype row_splits;
  const int64_t *dims; /* dense */
  size_t num_dims;
  bool is_kept; /* by `keep`, not an output; those come first */
  cst__text_at at;
} cst__planned_output;

/* ---- steps (plan_steps.c) ---- */

/* The number of the step, a new one if there is none that is equal. */
cst_status cst__plan_add_step(cst__planning *p, const cst__step *step, uint32_t *out);
/* The usual ones: of up to three arguments, CST__NO_STEP for none. */
typedef struct cst__step_args {
  uint32_t a, b, c;
} cst__step_args;
cst_status cst__plan_step(cst__planning *p, cst__step_kind kind, cst__step_args args,
                          uint32_t *out);
/* A place step, with its parent. */
cst_status cst__plan_place_step(cst__planning *p, const cst__step *step,
                                const cst__item_place *parent, const cst__item_place **out);
cst_status cst__plan_add_node(cst__planning *p, const cst__input_node *node, const void *below,
                              uint32_t *out);
void *cst__plan_take(cst__planning *p, size_t size); /* zeroed; NULL: no memory */

/* ---- places (plan_places.c) ---- */

static inline bool cst__plan_place_same(const cst__item_place *a, const cst__item_place *b) {
  return a->elements == b->elements;
}
/* True if `upper` is `lower` or one that it lies in. */
bool cst__plan_place_holds(const cst__item_place *upper, const cst__item_place *lower);
/* The innermost place that holds both. */
const cst__item_place *cst__plan_place_common(const cst__item_place *a, const cst__item_place *b);
/* The elements of `lower` as one list for each element of `upper`, which holds it. */
cst_status cst__plan_place_join(cst__planning *p, const cst__item_place *upper,
                                const cst__item_place *lower, const cst__item_place **out);

/* ---- items (plan_places.c) ---- */

/* True for an index that may have -1. */
bool cst__index_misses(const cst__planning *p, uint32_t index);

/* The item for the elements of `to`, each of which is one of `from` by the index: what stands at
 * `from`, or below it, as lists again. CST__NO_STEP: the elements are the same. */
typedef struct cst__item_way {
  const cst__item_place *from;
  const cst__item_place *to;
  uint32_t index;
} cst__item_way;
cst_status cst__item_move(cst__planning *p, const cst__item *item, const cst__item_way *way,
                          cst__item *out);
/* As `let` does: promoted, broadcast, or both. */
cst_status cst__item_stand_at(cst__planning *p, const cst__item *item, const cst__item_place *place,
                              cst__item *out);
/* The same to a place that the item's place holds. */
cst_status cst__item_spread(cst__planning *p, const cst__item *item, const cst__item_place *place,
                            cst__item *out);
/* The elements that a place step chooses among those of the item's list, in the step's order. */
cst_status cst__item_choose(cst__planning *p, const cst__item *item, const cst__step *step,
                            cst__item *out);
/* Values cast to int64. */
cst_status cst__item_to_int64(cst__planning *p, cst__text_at at, cst__item *item);
/* A literal becomes a value for each element of a place; all else stays. */
cst_status cst__item_settle(cst__planning *p, const cst__item_place *place, cst__item *item);
/* Which elements are there: bools; CST__NO_STEP: all of them. */
cst_status cst__item_valid(cst__planning *p, const cst__item *item, uint32_t *out);
/* A step for a literal, of a type. */
cst_status cst__item_literal(cst__planning *p, const cst__literal *literal, cst__value_type type,
                             uint32_t *out);
/* Values of a function of a place's values. */
typedef struct cst__planned_call {
  const char *name;
  const cst__item_place *place;
  cst__item *args;
  size_t num_args;
  cst__text_at at;
} cst__planned_call;
cst_status cst__plan_call_function(cst__planning *p, const cst__planned_call *call, cst__item *out);

/* ---- fields (plan_fields.c) ---- */

cst_status cst__fields_new(cst__planning *p, const cst__item_place *place, cst__fields **out);
/* Structs that are those of others. */
cst_status cst__fields_move(cst__planning *p, const cst__fields *base, const cst__item_way *way,
                            cst__fields **out);
/* The field of a name as of a statement; NULL: there is none. */
cst_status cst__fields_find(cst__planning *p, const cst__fields *fields, const char *name,
                            uint32_t as_of, const cst__known_field **out);
/* One that is there from the beginning, of structs that are made; and one that comes with the
 * statement at hand. */
cst_status cst__fields_put(cst__planning *p, cst__fields *fields, const char *name,
                           const cst__item *item);
cst_status cst__fields_add(cst__planning *p, cst__fields *fields, const char *name,
                           const cst__item *item);
/* All fields as of a statement, in order. */
cst_status cst__fields_list(cst__planning *p, const cst__fields *fields, uint32_t as_of,
                            const cst__known_field *const **out, size_t *count);
/* CST_NOT_FOUND, with the nearest of all names that count. */
cst_status cst__fields_fail(cst__planning *p, const cst__fields *fields, const char *name,
                            cst__text_at at);
/* The same of a name that is looked up in the fields first, and then in the record. */
cst_status cst__names_fail(cst__planning *p, const cst__fields *fields, const char *name,
                           cst__text_at at);
#if defined(__clang_analyzer__)
#define cst__names_fail(...) ((void)(cst__names_fail)(__VA_ARGS__), CST_NOT_FOUND)
#define cst__fields_fail(...) ((void)(cst__fields_fail)(__VA_ARGS__), CST_NOT_FOUND)
#endif

/* ---- patterns (plan_patterns.c) ---- */

/* Structs with the fields of patterns alone, or (without) with all others. */
typedef struct cst__pattern_list {
  const cst__expr *const *items;
  size_t count;
  int depth; /* of `**`; 0: not said */
  bool without;
} cst__pattern_list;
cst_status cst__fields_choose(cst__planning *p, const cst__fields *fields,
                              const cst__pattern_list *patterns, cst__fields **out);

/* ---- expressions ---- */

cst_status cst__plan_expression(cst__planning *p, const cst__expr *expr, const cst__scope *scope,
                                cst__item *out);
/* Calls of what is no function of values (plan_calls.c): sort, zip, only, ... False in *is_one_of
 * for another name. */
cst_status cst__plan_structural(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                bool *is_one_of, cst__item *out);
const char *cst__plan_structural_name(size_t i); /* NULL: no more */
/* The one argument of a call that has to be a list (or the first of several), the value for each of
 * its elements that `by` names, or it is, and a bool that is given by its name. */
cst_status cst__plan_list(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                          cst__item *out);
cst_status cst__plan_list_of(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                             cst__item *out);
cst_status cst__plan_by(cst__planning *p, const cst__expr *call, const cst__item *list,
                        const cst__scope *scope, cst__item *out);
cst_status cst__plan_flag(cst__planning *p, const cst__expr *call, const char *key, bool *out);
/* The arguments of a call, each of which has a name, and is a list of the same structs. */
cst_status cst__plan_side_by_side(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                  cst__item **out);
/* Lists of structs that are made of elements of lists (plan_products.c). */
cst_status cst__plan_cartesian(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                               cst__item *out);
cst_status cst__plan_combinations(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                  cst__item *out);
cst_status cst__plan_run_lengths(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                                 cst__item *out);
/* `E where C`, for an E that is found (plan_calls.c). */
cst_status cst__plan_where(cst__planning *p, const cst__item *item, const cst__expr *condition,
                           const cst__scope *scope, cst__item *out);
/* The elements of which a mask of the same place is true. */
cst_status cst__plan_keep(cst__planning *p, const cst__item *item, uint32_t mask, cst__item *out);
/* Functions of values (plan_functions.c). */
cst_status cst__plan_function(cst__planning *p, const cst__expr *call, const cst__scope *scope,
                              cst__item *out);
/* Literals of the tree. */
cst_status cst__plan_literal(cst__planning *p, const cst__expr *expr, const cst__literal **out);
/* The place that a path names: of its structs or elements; `record` and "" are the records. */
cst_status cst__plan_path_place(cst__planning *p, const cst__expr *path, const cst__scope *scope,
                                const cst__item_place **out);
/* The argument of a keyword; NULL: it is not there. */
const cst__expr *cst__plan_keyword(const cst__expr *call, const char *key);
/* How many arguments have no keyword; these come first. */
size_t cst__plan_positional(const cst__expr *call);
/* What an item is, for messages: "int64", "structs". */
const char *cst__item_type_name(const cst__item *item);

/* ---- statements and outputs ---- */

cst_status cst__plan_statements(cst__planning *p);
cst_status cst__plan_output(cst__planning *p, const cst__statement *output);
/* All fields as columns. */
cst_status cst__plan_keep_fields(cst__planning *p, const cst__fields *fields);
/* Of the outputs that are wanted, the steps of their tensors (plan_outputs.c), and the parts and
 * the schema of their columns (plan_parts.c). */
cst_status cst__plan_outputs_finish(cst__planning *p);
cst_status cst__plan_parts(cst__planning *p, const cst__planned_output *columns, size_t count);
/* Leaves out steps and nodes that nothing needs, and notes the paths of the input (plan_needs.c).
 */
cst_status cst__plan_prune(cst__planning *p);

#endif /* QUERY_PLAN_PLANNING_H */
