/* Queries from their text to the batch that goes out: what every construct gives, of sessions with
 * null and empty lists and structs. */
#include <stdio.h>

#include "arrow_text.h"
#include "message_batch_support.h"
#include "query/query.h"
#include "query/run/run.h"

static const char type_text[] =
    "struct{id: int64, user: struct{name: string}, "
    "event: list<struct{q: string, hit: bool, p: float32, act: list<struct{v: int64}>}>, "
    "a: list<int64>, b: list<int64>}";
static const char rows_text[] =
    "{1, {'ann'}, [{'x', true, 1.5, [{1} {2}]} {'y', false, 2, []} {null, true, null, [{3}]}], "
    "[1 2], [10 20]} "
    "{2, null, null, [], []} "
    "{3, {null}, [{'z', null, 4, null}], [3], [30]}";

typedef struct batch_case {
  const char *query;
  const char *rows; /* JSON lines, or the error */
} batch_case;

static const batch_case cases[] = {
    {"output x = id", "{\"x\":1}\n{\"x\":2}\n{\"x\":3}\n"},
    {"output x = event.q", "{\"x\":[\"x\",\"y\",null]}\n{\"x\":null}\n{\"x\":[\"z\"]}\n"},
    {"let v = event.act.v output x = v", "{\"x\":[1,2,3]}\n{\"x\":null}\n{\"x\":[]}\n"},
    {"output x = event.act.v", "{\"x\":[[1,2],[],[3]]}\n{\"x\":null}\n{\"x\":[null]}\n"},
    {"let event.id = id output x = event.id", "{\"x\":[1,1,1]}\n{\"x\":null}\n{\"x\":[3]}\n"},
    {"let event.all = a output x = event.all",
     "{\"x\":[[1,2],[1,2],[1,2]]}\n{\"x\":null}\n{\"x\":[[3]]}\n"},
    {"output x = (event where hit).q", "{\"x\":[\"x\",null]}\n{\"x\":null}\n{\"x\":[]}\n"},
    {"output x = size(event) output h = has(event)",
     "{\"x\":3,\"h\":true}\n{\"x\":null,\"h\":false}\n{\"x\":1,\"h\":true}\n"},
    {"output x = sum(event.p)", "{\"x\":3.5}\n{\"x\":null}\n{\"x\":4.0}\n"},
    {"output x = event[0].q output y = event[-1].act.v",
     "{\"x\":\"x\",\"y\":[3]}\n{\"x\":null,\"y\":null}\n{\"x\":\"z\",\"y\":null}\n"},
    {"output x = event[1:].q", "{\"x\":[\"y\",null]}\n{\"x\":null}\n{\"x\":[]}\n"},
    {"output x = reverse(a) output y = index(a) output z = index_from_end(a)",
     "{\"x\":[2,1],\"y\":[0,1],\"z\":[-2,-1]}\n{\"x\":[],\"y\":[],\"z\":[]}\n"
     "{\"x\":[3],\"y\":[0],\"z\":[-1]}\n"},
    {"output x = sort(event, by=p, descending=true).q",
     "{\"x\":[\"y\",\"x\",null]}\n{\"x\":null}\n{\"x\":[\"z\"]}\n"},
    {"let p = zip(a=a, b=b) output x = p.a + p.b", "{\"x\":[11,22]}\n{\"x\":[]}\n{\"x\":[33]}\n"},
    {"rows event output q = q output n = record_index()",
     "{\"q\":\"x\",\"n\":0}\n{\"q\":\"y\",\"n\":0}\n{\"q\":null,\"n\":0}\n{\"q\":\"z\",\"n\":2}\n"},
    {"keep user, id", "{\"user\":{\"name\":\"ann\"},\"id\":1}\n{\"user\":null,\"id\":2}\n"
                      "{\"user\":{\"name\":null},\"id\":3}\n"},
    {"let user.n = id output x = user.n output u = user",
     "{\"x\":1,\"u\":{\"name\":\"ann\",\"n\":1}}\n{\"x\":null,\"u\":null}\n"
     "{\"x\":3,\"u\":{\"name\":null,\"n\":3}}\n"},
    {"output x = dense(a, shape=[3], default=0)",
     "{\"x\":[1,2,0]}\n{\"x\":[0,0,0]}\n{\"x\":[3,0,0]}\n"},
    {"output x = dense(a, shape=[2])", "x: line 1 of the query"},
    {"output x = sparse(event.p)",
     "{\"x$values\":[1.5,2.0],\"x$index0\":[0,1]}\n{\"x$values\":[],\"x$index0\":[]}\n"
     "{\"x$values\":[4.0],\"x$index0\":[0]}\n"},
    {"output x = ragged(event.q, default=\"\")",
     "{\"x\":[\"x\",\"y\",\"\"]}\n{\"x\":[]}\n{\"x\":[\"z\"]}\n"},
    {"output x = {n: id, u: user.name}", "{\"x\":{\"n\":1,\"u\":\"ann\"}}\n{\"x\":{\"n\":2,\"u\":"
                                         "null}}\n{\"x\":{\"n\":3,\"u\":null}}\n"},
    {"output x = only(event, q, act.*)",
     "{\"x\":[{\"q\":\"x\",\"act\":[{\"v\":1},{\"v\":2}]},{\"q\":\"y\",\"act\":[]},{\"q\":null,"
     "\"act\":[{\"v\":3}]}]}\n{\"x\":null}\n{\"x\":[{\"q\":\"z\",\"act\":null}]}\n"},
    {"output x = without(event, act, p, hit)",
     "{\"x\":[{\"q\":\"x\"},{\"q\":\"y\"},{\"q\":null}]}\n{\"x\":null}\n{\"x\":[{\"q\":\"z\"}]}\n"},
    {"let event.n = size(event.act) output x = event.n",
     "{\"x\":[2,0,1]}\n{\"x\":null}\n{\"x\":[null]}\n"},
    {"output x = drop_null(event.p)", "{\"x\":[1.5,2.0]}\n{\"x\":null}\n{\"x\":[4.0]}\n"},
    {"let user.me = user keep user",
     "{\"user\":{\"name\":\"ann\",\"me\":{\"name\":\"ann\"}}}\n{\"user\":null}\n"
     "{\"user\":{\"name\":null,\"me\":{\"name\":null}}}\n"},
    {"let c = event[:1] rename event.act.v as w output x = c.act.v",
     "{\"x\":[[1,2]]}\n{\"x\":null}\n{\"x\":[null]}\n"},
    {"keep user let user.n = id output i = id",
     "{\"user\":{\"name\":\"ann\"},\"i\":1}\n{\"user\":null,\"i\":2}\n"
     "{\"user\":{\"name\":null},\"i\":3}\n"},
    {"let event.d = drop_null(event) output x = event.d.q",
     "{\"x\":[[\"x\",\"y\",null],[\"x\",\"y\",null],[\"x\",\"y\",null]]}\n{\"x\":null}\n"
     "{\"x\":[[\"z\"]]}\n"},
    {"output x = a where it > id", "{\"x\":[2]}\n{\"x\":[]}\n{\"x\":[]}\n"},
    {"output x = id keep user", "{\"user\":{\"name\":\"ann\"},\"x\":1}\n{\"user\":null,\"x\":2}\n"
                                "{\"user\":{\"name\":null},\"x\":3}\n"},
    {"drop event, a, b let user.n = id keep user, user.name",
     "{\"user\":{\"name\":\"ann\",\"n\":1}}\n{\"user\":null}\n{\"user\":{\"name\":null,\"n\":3}}"
     "\n"},
    {"let user.n = id keep user.name, user.**", "{\"user\":{\"name\":\"ann\",\"n\":1}}\n{\"user\":"
                                                "null}\n{\"user\":{\"name\":null,\"n\":3}}\n"},
    {"let user.s = {v: a, n: 5} output x = user.s",
     "{\"x\":[{\"v\":1,\"n\":5},{\"v\":2,\"n\":5}]}\n{\"x\":null}\n{\"x\":[{\"v\":3,\"n\":5}]}\n"},
};

/* The rows that a query gives, or what the error says. */
static void run_query(const char *text, json_text *out) {
  struct ArrowSchema type;
  struct ArrowArray batch;
  struct ArrowArray made;
  cst_error error = CST_ERROR_INIT;
  cst_query *query = NULL;
  cst__query_plan *plan = NULL;
  cst__query_run *run = NULL;
  cst__row_map origin = {0};
  arrow_text(type_text, rows_text, &type, &batch);
  const cst__source_tree tree = cst__source_tree_of_arrow(&type);
  CHECK_EQ(cst_query_from_text(text, strlen(text), NULL, &query, &error), CST_OK);
  const cst__query_plan_options options = {.query = query, .tree = &tree};
  cst_status status = cst__query_plan_new(&options, &plan, &error);
  if (status == CST_OK) {
    status = cst__query_run_open(plan, &type, &run, &error);
  }
  if (status == CST_OK) {
    const cst__query_input input = {.batch = &batch};
    status = cst__query_run_batch(run, &input, &made, &origin, &error);
  }
  if (status == CST_OK) {
    batch_as_json(cst__query_plan_schema(plan), &made, out);
    made.release(&made);
  } else {
    snprintf(out->text, sizeof out->text, "%s: %s", error.path, error.message);
  }
  if (batch.release != NULL) {
    batch.release(&batch);
  }
  cst__row_map_reset(&origin);
  cst__query_run_close(run);
  cst__query_plan_release(plan);
  cst_query_free(query);
  type.release(&type);
}

TEST(constructs) {
  json_text out;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    run_query(cases[i].query, &out);
    if (cases[i].rows[0] != '{') { /* the beginning of an error */
      out.text[strlen(cases[i].rows)] = '\0';
    }
    if (strcmp(out.text, cases[i].rows) != 0) {
      fprintf(stderr, "query: %s\n", cases[i].query);
    }
    CHECK_STR(out.text, cases[i].rows);
  }
}
