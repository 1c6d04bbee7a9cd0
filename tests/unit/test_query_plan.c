/* Queries as plans: what is found for names, which steps are taken, what is left out, which fields
 * of the input are needed, and what is refused, with its place in the query. */
#include <stdio.h>

#include "arrow_text.h"
#include "query/plan/steps.h"
#include "query/query.h"

/* A session of a shop. */
static const char session_type[] =
    "struct{id: int64, user: struct{name: string, age: int32}, "
    "event: list<struct{query: string, clicked: bool, price: float32, "
    "action: list<struct{views: int64, tags: list<string>}>}>, "
    "tags: list<string>, emb: fixed_list<float32>[3], a: list<int64>, b: list<int64>}";

typedef struct plan_case {
  const char *query;
  const char *expected; /* the error, or the summary of the plan */
} plan_case;

static cst_status make_plan_of(const char *text, const struct ArrowSchema *type,
                               const cst_allocator *allocator, cst__query_plan **out,
                               cst_error *error) {
  cst_query *query = NULL;
  const cst__source_tree tree = cst__source_tree_of_arrow(type);
  cst_status status = cst_query_from_text(text, strlen(text), allocator, &query, error);
  if (status == CST_OK) {
    const cst__query_plan_options options = {.query = query, .tree = &tree, .allocator = allocator};
    status = cst__query_plan_new(&options, out, error);
  }
  cst_query_free(query);
  return status;
}

static void make_session_type(struct ArrowSchema *out) {
  const char *at = session_type;
  arrow_text_parse_type(&at, out);
}

static cst_status make_test_plan(const char *text, const cst_allocator *allocator,
                                 cst__query_plan **out, cst_error *error) {
  struct ArrowSchema type;
  make_session_type(&type);
  cst_status status = make_plan_of(text, &type, allocator, out, error);
  type.release(&type);
  return status;
}

/* "paths | number of steps | names of outputs: formats" */
static const char *summary(const cst__query_plan *plan) {
  static char text[2048];
  size_t size = 0;
  size_t count;
  const char *const *paths = cst__query_plan_sources(plan, &count);
  text[0] = '\0';
  for (size_t i = 0; i < count; i++) {
    size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", i > 0 ? " " : "", paths[i]);
  }
  size += (size_t)snprintf(text + size, sizeof text - size, " |");
  const struct ArrowSchema *schema = cst__query_plan_schema(plan);
  for (int64_t i = 0; i < schema->n_children; i++) {
    size += (size_t)snprintf(text + size, sizeof text - size, " %s:", schema->children[i]->name);
    for (const struct ArrowSchema *at = schema->children[i]; at != NULL;
         at = at->n_children == 1 ? at->children[0] : NULL) {
      size += (size_t)snprintf(text + size, sizeof text - size, "%s", at->format);
    }
  }
  return text;
}

static void check_plan(const plan_case *c) {
  static char found[1024];
  cst_error error = CST_ERROR_INIT;
  cst__query_plan *plan = NULL;
  cst_status status = make_test_plan(c->query, NULL, &plan, &error);
  if (status == CST_OK) {
    snprintf(found, sizeof found, "%s", summary(plan));
  } else {
    snprintf(found, sizeof found, "%d:%d %s%s%s", (int)error.line, (int)error.column, error.path,
             error.path[0] != '\0' ? ": " : "", error.message);
  }
  if (strcmp(found, c->expected) != 0) {
    fprintf(stderr, "query: %s\n", c->query);
  }
  CHECK_STR(found, c->expected);
  cst__query_plan_release(plan);
}

static const plan_case good[] = {
    {"output x = id", "id | x:l"},
    {"output x = event.query", "event.query | x:+Lu"},
    {"output x = event.action.views", "event.action.views | x:+L+Ll"},
    {"let queries = event.query output x = ragged(queries, default=\"\")", "event.query | x:+LU"},
    {"let views = event.action.views output x = views", "event.action.views | x:+Ll"},
    {"let event.session = id output x = event.session", "event id | x:+Ll"},
    {"let n = size(event) output n = dense(n, default=0)", "event | n:l"},
    {"let clicks = event where clicked and price > 0 let n = size(clicks) output n = n",
     "event.clicked event.price | n:l"},
    {"let event.half = event.price / 2 output x = event.half", "event.price | x:+Lf"},
    {"output x = dense(event.price[:2], shape=[2], default=0.0)", "event.price | x:+w:2f"},
    {"output x = dense(emb, shape=[3])", "emb | x:+w:3f"},
    {"rows event output x = query output n = size(action)", "event.action event.query | x:u n:l"},
    {"keep id, user.name", "id user.name | id:l user:+su"},
    {"drop event, tags, emb, a, b", "id user.age user.name | id:l user:+s"},
    {"drop id, tags, emb, a, b keep *", " |"},
    {"let p = zip(x=a, y=b) output s = p.x + p.y", "a b | s:+Ll"},
    {"output s = sparse(a)", "a | s$values:+Ll s$index0:+Ll"},
    {"output s = sparse(id)", "id | s:l"},
    {"param n: int64 = 2 output q = event.query[:n]", "event.query | q:+Lu"},
    {"output q = event[0].query", "event.query | q:u"},
    {"let first = sort(event, by=price, descending=true)[0] output p = first.price",
     "event.price | p:f"},
    {"output share = event.price / sum(event.price, per=record)", "event.price | share:+Lf"},
    {"output x = has(user)", "user | x:b"},
    {"rename user as u keep u.age", "user.age | u:+si"},
};

static const plan_case bad[] = {
    {"output x = idd", "1:12 idd: there is no field of this name"},
    {"let n = 1\noutput x = event.qery", "2:18 qery: there is no field of this name"},
    {"output x = id.y", "1:15 cannot read field 'y' of int64: only structs have fields"},
    {"output x = sum(id)", "1:12 sum needs a list, found one value at this level"},
    {"let id = 1", "1:5 a field is already named 'id'"},
    {"output x = a + b", "1:16 the arguments of add are in different lists"},
    {"output x = id output x = id", "1:15 duplicate output 'x'"},
    {"output x = ragged(id)", "1:12 a ragged output of one value for each record, expected lists"},
    {"output x = dense(a)", "1:12 a shape of 0 dimensions, expected 1"},
    {"rows user", "1:6 found one for each record: structs, expected a list of structs"},
    {"param n: int64 output x = id", "1:1 the parameter 'n' has no value"},
    {"param n: int64 = \"a\" output x = id", "1:1 n: a literal of type string does not fit int64"},
    {"output x = it", "1:12 `it` is the element of a where or a sort, and there is none here"},
    {"output x = nosuch(id)", "1:12 nosuch: unknown function"},
    {"output x = event where price", "1:24 the condition is float32, expected bool"},
};

TEST(plans) {
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    check_plan(&good[i]);
  }
}

TEST(refusals) {
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    check_plan(&bad[i]);
  }
}

/* Equal parts of a query are made once, in whatever order they stand. */
TEST(equal_parts_are_shared) {
  cst_error error = CST_ERROR_INIT;
  cst__query_plan *one = NULL;
  cst__query_plan *two = NULL;
  CHECK_EQ(make_test_plan("output x = (event where clicked).price", NULL, &one, &error), CST_OK);
  CHECK_EQ(make_test_plan("let c = event where clicked let d = event where clicked "
                          "output x = c.price output y = d.price",
                          NULL, &two, &error),
           CST_OK);
  CHECK_EQ(one->num_steps, two->num_steps);
  cst__query_plan_release(one);
  cst__query_plan_release(two);
}

TEST(explained) {
  cst_error error = CST_ERROR_INIT;
  cst__query_plan *plan = NULL;
  const cst__explain_options as_text = {0};
  const cst__explain_options as_json = {.flags = CST_EXPLAIN_JSON};
  char *text = NULL;
  size_t size;
  CHECK_EQ(make_test_plan("let n = size(event where clicked)\noutput label = dense(n, default=0)",
                          NULL, &plan, &error),
           CST_OK);
  CHECK_EQ(cst__query_plan_explain(plan, &as_text, &text, &size, &error), CST_OK);
  CHECK(strstr(text, "reads (1)\n  event.clicked\n") != NULL);
  CHECK(strstr(text, "filter") != NULL);
  CHECK(strstr(text, "  label  dense  from event.clicked\n") != NULL);
  cst_free(text);
  CHECK_EQ(cst__query_plan_explain(plan, &as_json, &text, &size, &error), CST_OK);
  CHECK(strstr(text, "{\"reads\": [\"event.clicked\"]") == text);
  cst_free(text);
  cst__query_plan_release(plan);
}

static int plan_once(void *context) {
  cst_error error = CST_ERROR_INIT;
  cst__query_plan *plan = NULL;
  cst_status status =
      make_plan_of("param n: int64 = 3 let clicks = event where clicked and price > 0 "
                   "let event.session = id output x = ragged(clicks.query[:n], default=\"\") "
                   "output y = dense(size(clicks), default=0) keep user.*",
                   context, NULL, &plan, &error);
  cst__query_plan_release(plan);
  return (int)status;
}

TEST(failed_allocations) {
  struct ArrowSchema type;
  make_session_type(&type);
  FOR_EACH_ALLOCATION_FAILURE(plan_once, &type, CST_NO_MEMORY);
  type.release(&type);
}
