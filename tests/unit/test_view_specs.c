/* The tensors of queries: their specs, and that tensors, the batches that are made of them, and
 * what a schema says of both give the same tensors again.
 */
#include <stdio.h>

#include "arrow/owned.h"
#include "query/query.h"
#include "query/run/run.h"
#include "query/view/view_specs.h"
#include "tensor_text.h"

static const char type_text[] =
    "struct{id: int64, user: struct{name: string, age: int8}, "
    "event: list<struct{q: string, hit: bool, p: float32, act: list<struct{v: int64}>}>, "
    "a: list<int64>, w: timestamp}";
static const char rows_text[] =
    "{1, {'ann', 30}, [{'x', true, 1.5, [{1} {2}]} {'y', false, 2, []} {null, true, null, [{3}]}], "
    "[1 2], 0} "
    "{2, null, null, [], null} "
    "{3, {null, 7}, [{'z', null, 4, null}], [3], 5}";

typedef struct view_case {
  const char *query;
  const char *specs; /* "name kind dtype [dims] path (fields); ..." */
  const char *tensors;
} view_case;

static const view_case cases[] = {
    {"output x = dense(id)", "x dense int64 []", "x: int64[3] 1 2 3"},
    {"output x = dense(cast(id, int32))", "x dense int32 []", "x: int32[3] 1 2 3"},
    {"output x = dense(cast(id, float64))", "x dense float64 []", "x: float64[3] 1 2 3"},
    {"output x = dense(cast(id, float32))", "x dense float32 []", "x: float32[3] 1 2 3"},
    {"output x = dense(id > 1)", "x dense bool []", "x: bool[3] 0 1 1"},
    {"output x = dense(user.name, default=\"-\")", "x dense bytes []", "x: bytes[3] ann - -"},
    {"output x = dense(user.age, default=5)", "x dense int8 []", "x: int8[3] 30 5 7"},
    {"output x = dense(a, shape=[2], default=0)", "x dense int64 [2]", "x: int64[3 2] 1 2 0 0 3 0"},
    {"output x = dense(event.hit, shape=[3], default=false)", "x dense bool [3]",
     "x: bool[3 3] 1 0 1 0 0 0 0 0 0"},
    {"output x = dense(event.act.v, shape=[3, 2], default=0)", "x dense int64 [3 2]",
     "x: int64[3 3 2] 1 2 0 0 3 0 0 0 0 0 0 0 0 0 0 0 0 0"},
    {"output x = sparse(user.name)", "x sparse bytes []", "x: bytes[1] ann at 0 of 3"},
    {"output x = sparse(user.age > 8)", "x sparse bool []", "x: bool[2] 1 0 at 0 2 of 3"},
    {"output x = sparse(a)", "x sparse int64 [-1] x$values",
     "x: int64[3] 1 2 3 at 0,0 0,1 2,0 of 3 2"},
    {"output x = sparse(index(a))", "x varlen int64 []", "x: int64[3] 0 1 0 at 0,0 0,1 2,0 of 3 2"},
    {"output x = sparse(event.hit)", "x sparse bool [-1] x$values",
     "x: bool[3] 1 0 1 at 0,0 0,1 0,2 of 3 3"},
    {"output x = sparse(event.act.v)", "x sparse int64 [-1 -1] x$values",
     "x: int64[3] 1 2 3 at 0,0,0 0,0,1 0,2,0 of 3 3 2"},
    {"output x = ragged(event.q, default=\"\")", "x ragged bytes []",
     "x: bytes[4] x y  z splits 0 3 3 4"},
    {"output x = ragged(event.hit, default=true, row_splits=int32)", "x ragged bool [] int32",
     "x: bool[4] 1 0 1 1 splits 0 3 3 4"},
    {"output x = ragged(event.act.v, default=0)", "x ragged int64 []",
     "x: int64[3] 1 2 3 splits 0 3 3 4 | 0 2 2 3 3"},
    {"output x = struct(user)",
     "x structured none [] (age ragged int8 [] x.age; name ragged bytes [] x.name)",
     "x: (age: int8[2] 30 7 splits 0 1 1 2; name: bytes[1] ann splits 0 1 1 1)"},
    {"output x = struct({n: id, u: user})",
     "x structured none [] (n ragged int64 [] x.n; u structured none [] (age ragged int8 [] "
     "x.u.age; "
     "name ragged bytes [] x.u.name))",
     "x: (n: int64[3] 1 2 3 splits 0 1 2 3; u: (age: int8[2] 30 7 splits 0 1 1 2; "
     "name: bytes[1] ann splits 0 1 1 1))"},
    {"output x = struct(only(event, act.v))",
     "x structured none [] (act structured none [] (v ragged int64 [] x.act.v))",
     "x: (act: (v: int64[3] 1 2 3 splits 0 3 3 4 | 0 2 2 3 3))"},
    {"output x = id output y = a", "x dense int64 []; y varlen int64 []",
     "x: int64[3] 1 2 3; y: int64[3] 1 2 3 at 0,0 0,1 2,0 of 3 2"},
    {"output x = event.act.v", "x ragged int64 []", "x: int64[3] 1 2 3 splits 0 3 3 4 | 0 2 2 3 3"},
    {"rows event.act output v = dense(v) output n = dense(record_index())",
     "n dense int64 []; v dense int64 []", "n: int64[3] 0 0 0; v: int64[3] 1 2 3"},
    {"output w = w output x = dense(id)", "x dense int64 []", "x: int64[3] 1 2 3"},
    {"output x = dense(id == 7) output s = sparse(if(id > 9, id, null))",
     "s sparse int64 []; x dense bool []", "s: int64[0] at of 3; x: bool[3] 0 0 0"},
};

/* ---- as text ---- */

static void put_spec(text *t, const cst_tensor_spec *spec) {
  static const char *const kinds[] = {"?", "dense", "varlen", "sparse", "ragged", "structured"};
  put(t, "%s %s %s [", spec->name, kinds[spec->kind], cst_dtype_name(spec->dtype));
  for (size_t i = 0; i < spec->num_dims; i++) {
    put(t, "%s%lld", i > 0 ? " " : "", (long long)spec->dims[i]);
  }
  put(t, "]%s", spec->row_splits_dtype == CST_DTYPE_INT32 ? " int32" : "");
  for (size_t i = 0; i < spec->num_path_steps && strcmp(spec->name, spec->path[0]) != 0; i++) {
    put(t, "%s%s", i > 0 ? "." : " ", spec->path[i]);
  }
  for (size_t i = 0; i < spec->num_fields; i++) {
    put(t, "%s", i > 0 ? "; " : " (");
    put_spec(t, &spec->fields[i]);
  }
  put(t, "%s", spec->num_fields > 0 ? ")" : "");
}

static void put_specs(text *t, const cst_specs *specs) {
  t->size = 0;
  t->buf[0] = '\0';
  for (size_t i = 0; i < cst_specs_num_specs(specs); i++) {
    put(t, "%s", i > 0 ? "; " : "");
    put_spec(t, cst_specs_get(specs, i));
  }
}

static void put_tensor(text *t, const cst_tensor *tensor) {
  put(t, "%s: ", tensor->name);
  if (tensor->kind != CST_TENSOR_STRUCTURED) {
    put(t, "%s", tensor_text(tensor));
    return;
  }
  for (size_t i = 0; i < tensor->num_fields; i++) {
    put(t, "%s", i > 0 ? "; " : "(");
    put_tensor(t, &tensor->fields[i]);
  }
  put(t, ")");
}

static void put_tensors(text *t, const cst_tensors *tensors) {
  t->size = 0;
  t->buf[0] = '\0';
  for (size_t i = 0; i < cst_tensors_num_tensors(tensors); i++) {
    put(t, "%s", i > 0 ? "; " : "");
    put_tensor(t, cst_tensors_get(tensors, i));
  }
}

/* ---- queries ---- */

/* What a query gives of some rows. */
typedef struct result {
  cst__query_plan *plan;
  struct ArrowArray batch;
  cst_specs *specs;
  const char *without;
} result;

static cst_status result_plan(const char *query_text, const struct ArrowSchema *type, result *r,
                              cst_error *error) {
  cst_query *query = NULL;
  const cst__source_tree tree = cst__source_tree_of_arrow(type);
  CST__TRY(cst_query_from_text(query_text, strlen(query_text), NULL, &query, error));
  const cst__query_plan_options options = {.query = query, .tree = &tree};
  cst_status status = cst__query_plan_new(&options, &r->plan, error);
  cst_query_free(query);
  return status;
}

static void result_drop(result *r) {
  cst_specs_release(r->specs);
  cst__array_release(&r->batch);
  cst__query_plan_release(r->plan);
}

/* The rows [from, from + count) of the batch. */
static void result_make(const char *query, int64_t from, int64_t count, result *r) {
  struct ArrowSchema type;
  struct ArrowArray batch;
  cst__query_run *run = NULL;
  cst__row_map origin = {0};
  cst_error error = CST_ERROR_INIT;
  *r = (result){.plan = NULL};
  arrow_text(type_text, rows_text, &type, &batch);
  arrow_text_slice(&batch, from, count);
  const cst__query_input input = {.batch = &batch};
  cst_status status = result_plan(query, &type, r, &error);
  if (status == CST_OK) status = cst__query_run_open(r->plan, &type, &run, &error);
  if (status == CST_OK) status = cst__query_run_batch(run, &input, &r->batch, &origin, &error);
  if (status == CST_OK) {
    status = cst__query_view_specs_new(r->plan, NULL, &r->specs, &r->without, &error);
  }
  if (status != CST_OK) printf("%s\n%s: %s\n", query, error.path, error.message);
  CHECK_EQ(status, CST_OK);
  if (batch.release != NULL) batch.release(&batch);
  cst__row_map_reset(&origin);
  cst__query_run_close(run);
  type.release(&type);
}

/* The tensors of a batch, which is moved in. */
static cst_tensors *tensors_of(const struct ArrowSchema *type, struct ArrowArray *batch,
                               const cst_specs *specs) {
  cst_tensor_adapter *adapter = NULL;
  cst_tensors *tensors = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_tensor_adapter_new(type, specs, NULL, &adapter, &error);
  if (status == CST_OK) {
    status = cst_tensor_adapter_convert(adapter, batch, 0, &tensors, &error);
  }
  if (status != CST_OK) printf("%s: %s\n", error.path, error.message);
  CHECK_EQ(status, CST_OK);
  cst_tensor_adapter_free(adapter);
  return tensors;
}

/* Tensors to a batch, and back by the specs and by what a schema says of them, if it can. */
static void check_there_and_back(const cst_specs *specs, const cst_tensors *tensors,
                                 const char *expected) {
  text t;
  cst_tensor_encoder *encoder = NULL;
  struct ArrowSchema type;
  struct ArrowArray batch;
  cst_schema *schema = NULL;
  cst_specs *read = NULL;
  cst_error error = CST_ERROR_INIT;
  bool is_structured = cst_specs_get(specs, 0)->kind == CST_TENSOR_STRUCTURED;
  CHECK_EQ(cst_schema_with_specs(NULL, specs, NULL, &schema, &error),
           is_structured ? CST_UNSUPPORTED : CST_OK);
  if (!is_structured) CHECK_EQ(cst_specs_new(schema, NULL, &read, &error), CST_OK);
  const cst_specs *both[] = {specs, read};
  for (int i = 0; i < (is_structured ? 1 : 2); i++) {
    CHECK_EQ(cst_tensor_encoder_new(both[i], NULL, &encoder, &error), CST_OK);
    CHECK_EQ(cst_tensor_encoder_encode(encoder, cst_tensors_get(tensors, 0),
                                       cst_tensors_num_tensors(tensors), &batch, &error),
             CST_OK);
    CHECK_EQ(cst_tensor_encoder_arrow_schema(encoder, &type, &error), CST_OK);
    cst_tensors *again = tensors_of(&type, &batch, both[i]);
    put_tensors(&t, again);
    CHECK_STR(t.buf, expected);
    cst_tensors_release(again);
    type.release(&type);
    cst_tensor_encoder_free(encoder);
  }
  cst_specs_release(read);
  cst_schema_release(schema);
}

static void check_rows(const view_case *c, int64_t from, int64_t count) {
  static text t;
  char before[sizeof t.buf];
  result r;
  result_make(c->query, from, count, &r);
  put_specs(&t, r.specs);
  if (strcmp(t.buf, c->specs) != 0) printf("%s\n", c->query);
  CHECK_STR(t.buf, c->specs);
  cst_tensors *tensors = tensors_of(cst__query_plan_schema(r.plan), &r.batch, r.specs);
  put_tensors(&t, tensors);
  if (count == 3) CHECK_STR(t.buf, c->tensors);
  memcpy(before, t.buf, sizeof before);
  check_there_and_back(r.specs, tensors, before);
  cst_tensors_release(tensors);
  result_drop(&r);
}

TEST(outputs_are_tensors_and_batches_and_tensors) {
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_rows(&cases[i], 0, 3);
    check_rows(&cases[i], 1, 1); /* nulls and empty lists alone */
    check_rows(&cases[i], 0, 0);
  }
}

/* ---- without tensors ---- */

TEST(outputs_that_no_tensor_has_are_named) {
  result r;
  result_make("output x = id output t = w output u = w", 0, 3, &r);
  CHECK_STR(r.without, "t");
  CHECK_EQ(cst_specs_num_specs(r.specs), 1);
  result_drop(&r);
  result_make("output x = id", 0, 3, &r);
  CHECK(r.without == NULL);
  result_drop(&r);
}

TEST(kinds_that_no_tensor_can_have_are_refused) {
  struct ArrowSchema type;
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  result r = {.plan = NULL};
  arrow_text(type_text, "", &type, &batch);
  CHECK_EQ(result_plan("output x = dense(w)", &type, &r, &error), CST_OK);
  CHECK_EQ(cst__query_view_specs_new(r.plan, NULL, &r.specs, &r.without, &error), CST_UNSUPPORTED);
  CHECK_STR(error.path, "x");
  result_drop(&r);
  type.release(&type);
  batch.release(&batch);
}

/* ---- memory ---- */

static int specs_once(void *context) {
  cst_error error = CST_ERROR_INIT;
  cst_specs *specs = NULL;
  const char *without;
  cst_status status = cst__query_view_specs_new(context, NULL, &specs, &without, &error);
  cst_specs_release(specs);
  return (int)status;
}

TEST(allocation_failures) {
  result r;
  result_make("output a = struct({n: id, u: user}) output b = sparse(event.act.v) output c = a "
              "output d = dense(event.act.v, shape=[3, 2], default=0) output e = w",
              0, 0, &r);
  FOR_EACH_ALLOCATION_FAILURE(specs_once, r.plan, CST_NO_MEMORY);
  result_drop(&r);
}
