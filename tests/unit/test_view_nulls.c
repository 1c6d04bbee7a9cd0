/* Data that breaks the type that a view was built for: nulls where it said that there are none. */
#include "arrow_text.h"
#include "view_support.h"

static const char nulls_type[] =
    "struct{id: int64, event: list<struct{q: string, p: list<int32>}>, s: struct{x: int64}}";

/* Says that a field has no nulls: by names, '*' for the items of a list. */
static void forbid_null(struct ArrowSchema *at, const char *path) {
  for (; *path != '\0'; path += *path == '.') {
    size_t size = strcspn(path, ".");
    int64_t i = 0;
    while (*path != '*' && (strncmp(at->children[i]->name, path, size) != 0 ||
                            at->children[i]->name[size] != '\0')) {
      i++;
      CHECK(i < at->n_children);
    }
    at = at->children[i];
    path += size;
  }
  at->flags &= ~ARROW_FLAG_NULLABLE;
}

typedef struct nulls_case {
  const char *forbidden;
  const char *rows;
  int64_t record; /* -1: they fit */
  const char *path;
} nulls_case;

static const char *const all_queries[] = {
    "output a = dense(id, default=7) output b = ragged(event.p, default=0) output c = "
    "ragged(event.q, default=\"\") "
    "output d = s.x",
    "output a = sparse(id) output b = sparse(event.p) output c = sparse(event.q) "
    "output d = s.x is null",
    "output a = id is null output b = event.p is null output c = event.q is null "
    "output d = s.x > 1",
    "let e = event where true output a = id + 1 output b = e.p output c = size(e) output f = e.q "
    "output d = s"};

/* Over a type whose fields may all be null: what counts is what the view was built for. */
static void check_case(const nulls_case *c, const char *query) {
  struct ArrowSchema bound;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray out = {0};
  cst_error error = CST_ERROR_INIT;
  char text[400];
  const char *type = nulls_type;
  arrow_text_parse_type(&type, &bound);
  forbid_null(&bound, c->forbidden);
  snprintf(text, sizeof text, "from table %s", query);
  cst_view *view = NEW_VIEW(text, .type = &bound);
  arrow_text(nulls_type, c->rows, &schema, &batch);
  cst_status status = cst_view_apply(view, &schema, &batch, NULL, NULL, &out, &error);
  CHECK_EQ(status, c->record < 0 ? CST_OK : CST_SCHEMA);
  CHECK_EQ(error.record, c->record);
  CHECK_STR(error.path, c->path);
  CHECK(c->record < 0 ||
        strstr(error.message, "a null, but the view was built for data without nulls") != NULL);
  if (out.release != NULL) out.release(&out);
  schema.release(&schema);
  bound.release(&bound);
  cst_view_release(view);
}

TEST(a_null_that_the_type_forbids_is_an_error) {
  static const nulls_case cases[] = {
      {"id", "{1, [], {1}} {2, null, null}", -1, ""},
      {"id", "{1, [], {1}} {2, null, null} {null, [], {1}}", 2, "id"},
      {"event", "{null, [], {null}}", -1, ""},
      {"event", "{1, [], null} {1, null, {1}}", 1, "event"},
      {"event.*", "{1, null, {1}} {1, [{null, null}], {1}}", -1, ""},
      {"event.*", "{1, null, {1}} {1, [{'a', []}], {1}} {1, [{'a', []} null], {1}}", 2, "event"},
      {"event.*.q", "{1, null, {1}} {1, [null {'b', null}], {1}}", -1, ""},
      {"event.*.q", "{1, [{'a', []}], {1}} {1, null, {1}} {1, [null {null, []}], {1}}", 2,
       "event.q"},
      {"event.*.p", "{1, [null], {1}} {1, [{'a', []} {'a', null}], {1}}", 1, "event.p"},
      {"event.*.p.*", "{1, [{'a', null}], {1}}", -1, ""},
      {"event.*.p.*", "{1, [{'a', [1]}], {1}} {1, [{'a', null} {'b', [3 4 null]}], {1}}", 1,
       "event.p"},
      {"s", "{1, [], {null}}", -1, ""},
      {"s", "{1, [], {1}} {1, [], null}", 1, "s"},
      {"s.x", "{1, [], {1}} {1, [], null}", -1, ""},
      {"s.x", "{1, [], null} {1, [], {null}}", 1, "s.x"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (size_t k = 0; k < sizeof all_queries / sizeof *all_queries; k++) {
      check_case(&cases[i], all_queries[k]);
    }
  }
}

TEST(a_column_of_type_null_has_nulls_as_soon_as_it_has_rows) {
  struct ArrowSchema bound;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  const char *type = "struct{id: string}";
  arrow_text_parse_type(&type, &bound);
  forbid_null(&bound, "id");
  cst_view *view = NEW_VIEW("from table output id = dense(id)", .type = &bound);
  arrow_text("struct{id: null}", "{null}", &schema, &batch);
  CHECK_EQ(cst_view_apply(view, &schema, &batch, NULL, NULL, &out, &error), CST_SCHEMA);
  CHECK_EQ(error.record, 0);
  schema.release(&schema);
  arrow_text("struct{id: null}", "", &schema, &batch);
  CHECK_EQ(cst_view_apply(view, &schema, &batch, NULL, NULL, &out, &error), CST_OK);
  out.release(&out);
  schema.release(&schema);
  bound.release(&bound);
  cst_view_release(view);
}
