/* What a view is in words, and what changes for readers from one to another. */
#include "query/view/query_view.h"

#include <pthread.h>

#include "findings_text.h"
#include "view_support.h"

static void check_diff(const view_case *before, const view_case *after, size_t expected,
                       const char *lines) {
  cst_view *a = new_view(before);
  cst_view *b = new_view(after);
  char *text;
  size_t num_breaking;
  size_t num_rows;
  CHECK_EQ(cst_view_diff(a, b, &text, &num_breaking, &num_rows, NULL), CST_OK);
  CHECK_STR(text, lines);
  CHECK_EQ(num_breaking, expected);
  size_t num_found = 0; /* lines that begin with the word */
  for (const char *at = strstr(lines, "rows:  "); at != NULL; at = strstr(at + 1, "rows:  ")) {
    num_found++;
  }
  CHECK_EQ(num_rows, num_found);
  cst_free(text);
  cst_view_release(a);
  cst_view_release(b);
}
#define CHECK_DIFF(before, after, expected, lines) \
  check_diff(&(view_case){before}, &(view_case){after}, expected, lines)
#define SESSION "from message shop.Session "

TEST(outputs) {
  CHECK_DIFF(SESSION "output x = id", SESSION "output x = id", 0, "");
  CHECK_DIFF(SESSION "output x = id", SESSION "output x = id output y = id", 0,
             "fine:     output 'y' is new\n");
  CHECK_DIFF(SESSION "output x = id output y = id", SESSION "output x = id", 1,
             "breaking: output 'y' is gone\n");
  CHECK_DIFF(SESSION "output x = dense(id)", SESSION "output x = dense(id, default=1)", 0,
             "fine:     output 'x': made of dense(id), now dense(id, default=1)\n");
  CHECK_DIFF(SESSION "output x = ragged(event.query)",
             SESSION "output x = ragged(event.query, row_splits=int32)", 1,
             "breaking: output 'x': tensor ragged bytes, row splits int64, now ragged bytes, row "
             "splits int32\n"
             "fine:     output 'x': made of ragged(event.query), now ragged(event.query, "
             "row_splits=int32)\n");
  CHECK_DIFF(SESSION "output x = dense(event.query[:2], shape=[2], default=\"\")",
             SESSION "output x = dense(event.query[:3], shape=[3], default=\"\")", 2,
             "breaking: output 'x': tensor dense bytes[2], now dense bytes[3]\n"
             "breaking: output 'x': type fixed_size_list[2]<large_string>, now "
             "fixed_size_list[3]<large_string>\n"
             "fine:     output 'x': made of dense(event.query[:2], shape=[2], default=\"\"), now "
             "dense(event.query[:3], shape=[3], default=\"\")\n");
  CHECK_DIFF(SESSION "let c = event where clicked output x = size(c)",
             SESSION "let c = event where price > 0 output x = size(c)", 0,
             "fine:     output 'x': reads event.price, too\n"
             "fine:     output 'x': reads event.clicked no more\n"
             "fine:     query: other lets, drops or renames\n");
}

TEST(rows) {
#define ROWS "rows:     query: other rows, or other lets that they are made of\n"
#define KEPT(let, rest) SESSION "param p: float32 = 1 let kept = event " let " " rest
  CHECK_DIFF(SESSION "output x = id", SESSION "rows event output x = record_index()", 0,
             ROWS "fine:     output 'x': made of id, now record_index()\n"
                  "fine:     output 'x': reads event, too\n"
                  "fine:     output 'x': reads id no more\n");
  CHECK_DIFF(KEPT("where clicked", "rows kept output x = query"),
             KEPT("where not clicked", "rows kept output x = query"), 0, ROWS);
  CHECK_DIFF(KEPT("where clicked", "output x = kept.query"),
             KEPT("where not clicked", "output x = kept.query"), 0,
             "fine:     query: other lets, drops or renames\n");
  CHECK_DIFF(KEPT("where price > p", "let far = kept[:2] rows far output x = query"),
             KEPT("where price >= p", "let far = kept[:2] rows far output x = query"), 0, ROWS);
  CHECK_DIFF(SESSION "rename event as e rows e output x = query",
             SESSION "let e = event where clicked rows e output x = query", 0,
             ROWS "fine:     output 'x': reads event.clicked, too\n");
  CHECK_DIFF(SESSION "param p: int64 = 1 let e = event[:p] rows e output x = query",
             SESSION "param p: int64 = 2 let e = event[:p] rows e output x = query", 0,
             "rows:     param 'p': value 1, now 2\n");
  CHECK_DIFF(SESSION "rows event let a = query output x = a",
             SESSION "rows event let a = query where clicked output x = a", 0,
             "fine:     output 'x': reads event.clicked, too\n"
             "fine:     query: other lets, drops or renames\n");
}

TEST(inputs) {
  CHECK_DIFF(SESSION "output x = 1", "from message shop.Event output x = 1", 1,
             "breaking: input: message shop.Session, now shop.Event\n");
  CHECK_DIFF(SESSION "output x = 1", SESSION "with form = json output x = 1", 1,
             "breaking: input: message option 'form': binary, now json\n");
}

TEST(params) {
#define PARAM(type) SESSION "param p: " type " output x = id + p"
  CHECK_DIFF(PARAM("int64 = 1"), PARAM("int64 = 2"), 0, "fine:     param 'p': value 1, now 2\n");
  CHECK_DIFF(PARAM("int64 = 1"), PARAM("int32 = 1"), 1,
             "breaking: param 'p': type int64, now int32\n");
  CHECK_DIFF(PARAM("int64 = 1"), SESSION "output x = id + 1", 1,
             "breaking: param 'p' is gone\n"
             "fine:     output 'x': made of id + p, now id + 1\n");
  CHECK_DIFF(SESSION "output x = id + 1", PARAM("int64 = 1"), 0,
             "fine:     param 'p' is new\n"
             "fine:     output 'x': made of id + 1, now id + p\n");
}

/* Frees the findings. */
static void check_findings(cst_findings *found, const char *expected) {
  char *text = findings_text(found);
  CHECK_STR(text, expected);
  cst_free(text);
  cst_findings_free(found);
}

TEST(what_a_view_is) {
  cst_view *view = NEW_VIEW(SESSION "param p: int64 = 3 output `a \"b\"` = event.query[:p] "
                                    "output r = ragged(event.query[:p]) output d = dense(id)");
  cst_findings *found;
  CHECK_EQ(cst_view_params(view, &found, NULL), CST_OK);
  check_findings(found, "{\"name\": \"p\", \"type\": \"int64\", \"value\": \"3\"}\n");
  CHECK_EQ(cst_view_outputs(view, &found, NULL), CST_OK);
  check_findings(found,
                 "{\"name\": \"a \\\"b\\\"\", \"kind\": \"sparse\", \"dtype\": \"bytes\", "
                 "\"shape\": [], \"row_splits\": null"
                 ", \"columns\": [{\"name\": \"a \\\"b\\\"\", \"type\": "
                 "\"large_list<large_string>\"}], \"paths\": [\"event.query\"]}\n"
                 "{\"name\": \"r\", \"kind\": \"ragged\", \"dtype\": \"bytes\", \"shape\": [], "
                 "\"row_splits\": \"int64\""
                 ", \"columns\": [{\"name\": \"r\", \"type\": \"large_list<large_string>\"}], "
                 "\"paths\": [\"event.query\"]}\n"
                 "{\"name\": \"d\", \"kind\": \"dense\", \"dtype\": \"int64\", \"shape\": [], "
                 "\"row_splits\": null"
                 ", \"columns\": [{\"name\": \"d\", \"type\": \"int64\"}], \"paths\": [\"id\"]}\n");
  cst_view_release(view);
}

/* ---- several threads on one view ---- */

static void *run_in_thread(void *shared) {
  const cst_view *view = shared;
  for (int i = 0; i < 50; i++) {
    struct ArrowArray batch;
    cst_tensors *tensors;
    CHECK_EQ(cst_view_run_arrow(view, session_records, NUM_SESSIONS, NULL, NULL, &batch, NULL),
             CST_OK);
    CHECK_EQ(batch.length, NUM_SESSIONS);
    batch.release(&batch);
    CHECK_EQ(cst_view_run(view, session_records, NUM_SESSIONS, NULL, &tensors, NULL), CST_OK);
    cst_tensors_release(tensors);
    CHECK_EQ(strlen(cst_view_digest(view)), 64);
  }
  cst_view_release((cst_view *)shared);
  return NULL;
}

TEST(threads_on_one_view) {
  pthread_t threads[4];
  cst_view *view = NEW_VIEW(ranking_text);
  for (int i = 0; i < 4; i++) {
    CHECK_EQ(pthread_create(&threads[i], NULL, run_in_thread, cst_view_retain(view)), 0);
  }
  cst_view_release(view);
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
  }
}

typedef struct two_views {
  cst_view *before, *after;
} two_views;

static int diff_scenario(void *context) {
  const two_views *views = context;
  char *text = NULL;
  size_t num_breaking;
  size_t num_rows;
  cst_status status =
      cst_view_diff(views->before, views->after, &text, &num_breaking, &num_rows, NULL);
  cst_free(text);
  if (status == CST_OK) {
    cst_findings *found;
    status = cst_view_params(views->before, &found, NULL);
    cst_findings_free(found);
  }
  if (status == CST_OK) {
    cst_findings *found;
    status = cst_view_outputs(views->before, &found, NULL);
    cst_findings_free(found);
  }
  return (int)status;
}

TEST(allocation_failures) {
  two_views views = {
      NEW_VIEW(ranking_text),
      NEW_VIEW(SESSION "param p: int64 = 1 let a = id output label = dense(a) output n = id")};
  (void)cst_view_digest(views.before); /* made once */
  FOR_EACH_ALLOCATION_FAILURE(diff_scenario, &views, CST_NO_MEMORY);
  cst_view_release(views.before);
  cst_view_release(views.after);
}
