/* Plans made by hand, run over batches from text (arrow_text.h).
 */
#ifndef TESTS_UNIT_QUERY_RUN_SUPPORT_H
#define TESTS_UNIT_QUERY_RUN_SUPPORT_H

#include "lists_support.h"
#include "query/plan/steps.h"
#include "query/run/run.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Most tests have these batches: */
#define SESSIONS \
  "struct{id: int64, event: list<struct{query: string, price: int32, tag: list<string>}>}"

/* their nodes, */
enum { NODE_ID = 1, NODE_EVENT, NODE_EVENTS, NODE_QUERY, NODE_PRICE, NODE_TAG, NODE_TAGS };
static const cst__input_node session_nodes[] = {
    {.name = NULL},
    {.parent = 0, .name = "id", .format = "l"},
    {.parent = 0, .name = "event"},
    {.parent = NODE_EVENT},
    {.parent = NODE_EVENTS, .name = "query", .format = "u"},
    {.parent = NODE_EVENTS, .name = "price", .format = "i"},
    {.parent = NODE_EVENTS, .name = "tag"},
    {.parent = NODE_TAG, .format = "u"},
};

/* and the steps that look at all of it, which come first. */
enum { RECORDS, ID, EVENTS, QUERY, PRICE, TAGS, TAG, OWN };
#define NO CST__NO_STEP
#define STEP(k, n, ...) \
  { .kind = CST__STEP_##k, .num_args = n, .args = {__VA_ARGS__}, .parent = NO, .node = NO }
#define PLACE(k, above, n, ...) \
  { .kind = CST__STEP_##k, .num_args = n, .args = {__VA_ARGS__}, .parent = above, .node = NO }
#define LIST(above, at) \
  { .kind = CST__STEP_LIST, .num_args = 1, .args = {above}, .parent = above, .node = at }
#define COLUMN(place, at, format)                                                            \
  {                                                                                          \
    .kind = CST__STEP_COLUMN, .num_args = 1, .args = {place}, .node = at, .type = { format } \
  }
#define TAKE(values, index, format)                                                    \
  {                                                                                    \
    .kind = CST__STEP_TAKE, .num_args = 2, .args = {values, index}, .type = { format } \
  }
#define LITERAL(value, format)                                                      \
  {                                                                                 \
    .kind = CST__STEP_LITERAL, .is_one = true, .literal = value, .type = { format } \
  }
#define SESSION_STEPS                                                                           \
  STEP(RECORDS, 0, 0), COLUMN(RECORDS, NODE_ID, "l"), LIST(RECORDS, NODE_EVENT),                \
      COLUMN(EVENTS, NODE_QUERY, "u"), COLUMN(EVENTS, NODE_PRICE, "i"), LIST(EVENTS, NODE_TAG), \
      COLUMN(TAGS, NODE_TAGS, "u")

/* A column of values in lists; of structs. */
#define VALUES(as, at, what, ...)                                                       \
  {                                                                                     \
    .name = as, .lists = (const uint32_t[]){__VA_ARGS__, NO},                           \
    .num_lists = COUNT(((const uint32_t[]){__VA_ARGS__})), .place = at, .values = what, \
    .valid = NO, .null_lists = true                                                     \
  }
#define FLAT(as, at, what) \
  { .name = as, .place = at, .values = what, .valid = NO, .null_lists = true }

typedef struct query_case {
  const char *type; /* of the batch */
  const char *rows;
  const cst__input_node *nodes;
  size_t num_nodes;
  const cst__step *steps;
  size_t num_steps;
  cst__output_part *parts;
  size_t num_parts;
  const char *output_type;
  uint32_t records;
  bool moves_rows; /* `origin` is a step */
  uint32_t origin;
  int64_t max_elements; /* 0: many */
  int64_t max_bytes;
  int64_t max_work;
  const cst_allocator *allocator;
} query_case;

static inline void query_set_types(cst__output_part *parts, size_t count,
                                   struct ArrowSchema *const *types) {
  for (size_t i = 0; i < count; i++) {
    const struct ArrowSchema *type = types[i];
    parts[i].type = type;
    for (size_t k = 0; k < parts[i].num_lists + parts[i].num_dims; k++) type = type->children[0];
    query_set_types(parts[i].children, parts[i].num_children, type->children);
  }
}

/* The plan borrows all of the case; its schema is to be released. */
static inline void query_plan_of(const query_case *c, cst__query_plan *plan) {
  const char *type = c->output_type;
  *plan = (cst__query_plan){
      .allocator = cst__allocator_of(c->allocator),
      .nodes = (cst__input_node *)(uintptr_t)c->nodes,
      .num_nodes = c->num_nodes,
      .steps = (cst__step *)(uintptr_t)c->steps,
      .num_steps = c->num_steps,
      .parts = c->parts,
      .num_parts = c->num_parts,
      .records = c->records,
      .origin = c->moves_rows ? c->origin : NO,
      .limits = {c->max_elements > 0 ? c->max_elements : 1 << 20, c->max_bytes, c->max_work}};
  cst__refcount_init(&plan->owners);
  arrow_text_parse_type(&type, &plan->schema);
  query_set_types(plan->parts, plan->num_parts, plan->schema.children);
}

/* Runs the case over a batch, which is taken over; out_status and error tell how it went. */
static inline cst_status query_run_batch(const query_case *c, const struct ArrowSchema *schema,
                                         const cst__query_input *input, struct ArrowArray *out,
                                         cst__row_map *origin, cst_error *error) {
  cst__query_plan plan;
  cst__query_run *run;
  query_plan_of(c, &plan);
  cst_status status = cst__query_run_open(&plan, schema, &run, error);
  if (status != CST_OK) {
    cst__array_release(input->batch);
  } else {
    status = cst__query_run_batch(run, input, out, origin, error);
  }
  CHECK(input->batch->release == NULL);
  cst__query_run_close(run);
  ArrowSchemaRelease(&plan.schema);
  return status;
}

static inline void query_check_output(const query_case *c, struct ArrowArray *out,
                                      const char *expected) {
  const char *type = c->output_type;
  struct ArrowSchema schema;
  cst_error error = CST_ERROR_INIT;
  cst_array *made = NULL;
  arrow_text_parse_type(&type, &schema);
  (void)cst_array_import(&schema, out, 0, NULL, &made, &error);
  CHECK_STR(error.message, "");
  array_sample_check(made, c->output_type, expected);
  cst_array_release(made);
  ArrowSchemaRelease(&schema);
}

/* The rows [from, from + count) of the case's batch give what is expected. */
static inline void query_check_slice(const query_case *c, int64_t from, int64_t count,
                                     const char *expected) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  const cst__query_input input = {.batch = &batch};
  arrow_text(c->type, c->rows, &schema, &batch);
  if (count >= 0) arrow_text_slice(&batch, from, count);
  cst_status status = query_run_batch(c, &schema, &input, &out, NULL, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  query_check_output(c, &out, expected);
  ArrowSchemaRelease(&schema);
}

static inline void query_check(const query_case *c, const char *expected) {
  query_check_slice(c, 0, -1, expected);
}

/* The case fails; *error says how. */
static inline void query_check_fails(const query_case *c, cst_status expected, cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray out;
  const cst__query_input input = {.batch = &batch};
  arrow_text(c->type, c->rows, &schema, &batch);
  *error = (cst_error)CST_ERROR_INIT;
  CHECK_EQ(query_run_batch(c, &schema, &input, &out, NULL, error), expected);
  ArrowSchemaRelease(&schema);
}

/* A case over sessions, with steps after those of SESSION_STEPS. */
#define SESSION_CASE(text, own_steps, own_parts, result)                                       \
  {                                                                                            \
    .type = SESSIONS, .rows = text, .nodes = session_nodes, .num_nodes = COUNT(session_nodes), \
    .steps = own_steps, .num_steps = COUNT(own_steps), .parts = own_parts,                     \
    .num_parts = COUNT(own_parts), .output_type = result                                       \
  }

/* What a run with failing allocations works on, made before. */
typedef struct query_failing {
  cst__query_plan plan;
  cst_array *batch;
} query_failing;

static inline int query_scenario(void *context) {
  query_failing *f = context;
  struct ArrowArray batch;
  struct ArrowArray out;
  cst__query_run *run = NULL;
  cst__row_map origin = {0};
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst__query_run_open(&f->plan, cst_array_schema(f->batch), &run, &error);
  if (status == CST_OK) status = cst_array_export(f->batch, &batch, &error);
  if (status == CST_OK) {
    const cst__query_input input = {.batch = &batch};
    status = cst__query_run_batch(run, &input, &out, &origin, &error);
    if (status == CST_OK) out.release(&out);
    CHECK(batch.release == NULL);
  }
  cst__query_run_close(run);
  cst__row_map_reset(&origin);
  return status;
}

/* Every allocation of the case's run fails once. */
static inline void query_check_memory(const query_case *c) {
  query_failing f;
  query_plan_of(c, &f.plan);
  f.batch = array_sample(c->type, c->rows);
  FOR_EACH_ALLOCATION_FAILURE(query_scenario, &f, CST_NO_MEMORY);
  cst_array_release(f.batch);
  ArrowSchemaRelease(&f.plan.schema);
}

#endif
