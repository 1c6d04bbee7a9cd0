/* Sessions of a shop and a query over them, for tests of views.
 */
#ifndef TESTS_UNIT_VIEW_SUPPORT_H
#define TESTS_UNIT_VIEW_SUPPORT_H

#include <columnstone/query.h>

#include "message_batch_support.h"

static const char session_types[] =
    "name: 'shop.proto' package: 'shop' syntax: 'proto3'"
    "message_type { name: 'Session'"
    "  field { name: 'id' number: 1 label: 1 type: 3 }"
    "  field { name: 'event' number: 2 label: 3 type: 11 type_name: '.shop.Event' }"
    "  field { name: 'unwanted' number: 3 label: 1 type: 11 type_name: '.shop.Unwanted' } }"
    "message_type { name: 'Event'"
    "  field { name: 'query' number: 1 label: 1 type: 9 }"
    "  field { name: 'clicked' number: 2 label: 1 type: 8 }"
    "  field { name: 'price' number: 3 label: 1 type: 2 oneof_index: 0 proto3_optional: true }"
    "  oneof_decl { name: '_price' } }"
    "message_type { name: 'Unwanted' field { name: 'x' number: 1 label: 1 type: 5 } }";

static const char ranking_text[] = "from message shop.Session\n"
                                   "param longest: int64 = 512\n"
                                   "let queries = event.query\n"
                                   "let clicks = event where clicked\n"
                                   "output label = dense(size(clicks), default=0)\n"
                                   "output tokens = ragged(queries[:longest])\n"
                                   "output prices = sparse(event.price)\n";

/* {7, [{'shoes', true, 2.5} {'hat', false, null}]} {8, []} */
static const cst_bytes session_records[] = {
    {(const uint8_t
          *)"\x08\x07\x12\x0e\x0a\x05shoes\x10\x01\x1d\x00\x00\x20\x40\x12\x05\x0a\x03hat",
     25},
    {(const uint8_t *)"\x08\x08", 2}};
enum { NUM_SESSIONS = 2 };

static const char ranking_rows[] =
    "{\"label\":1,\"tokens\":[\"shoes\",\"hat\"],\"prices$values\":[2.5],\"prices$index0\":[0]}\n"
    "{\"label\":0,\"tokens\":[],\"prices$values\":[],\"prices$index0\":[]}\n";

typedef struct view_case {
  const char *text;
  const char *types;                  /* descriptors; NULL: session_types */
  const struct ArrowSchema *type;     /* of tables */
  const char *schema;                 /* of examples, as text */
  const char *params[4];              /* name, value, ... */
  const char *outputs[4];             /* NULL: all */
  const cst_message_options *options; /* but for the descriptors */
  int64_t max_elements;
  int64_t max_bytes;
  int64_t max_work;
} view_case;

static inline cst_status view_of_case(const view_case *c, cst_view **out, cst_error *error) {
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  cst_query_value params[2];
  cst_query *query = NULL;
  cst_schema *schema = NULL;
  message = c->options != NULL ? *c->options : message;
  cst_descriptors *types =
      text_descriptors(c->types != NULL ? c->types : session_types, NULL, error);
  cst_status status = types != NULL ? CST_OK : CST_NO_MEMORY;
  message.descriptors = types;
  if (status == CST_OK && c->schema != NULL) {
    status = cst_schema_from_text(c->schema, strlen(c->schema), &schema, error);
  }
  options.message = c->type == NULL && c->schema == NULL ? &message : NULL;
  options.type = c->type;
  options.schema = schema;
  for (; options.num_params < 2 && c->params[2 * options.num_params] != NULL;
       options.num_params++) {
    params[options.num_params] =
        (cst_query_value){c->params[2 * options.num_params], c->params[2 * options.num_params + 1]};
  }
  options.params = params;
  options.max_elements = c->max_elements;
  options.max_bytes = c->max_bytes;
  options.max_work = c->max_work;
  options.outputs = c->outputs[0] != NULL ? c->outputs : NULL;
  while (options.num_outputs < 4 && c->outputs[options.num_outputs] != NULL) {
    options.num_outputs++;
  }
  if (status == CST_OK) {
    status = cst_query_from_text(c->text, strlen(c->text), NULL, &query, error);
  }
  *out = NULL;
  if (status == CST_OK) {
    status = cst_view_new(query, &options, out, error);
  }
  cst_query_free(query);
  cst_schema_release(schema);
  cst_descriptors_release(types);
  return status;
}

static inline cst_view *new_view(const view_case *c) {
  cst_error error = CST_ERROR_INIT;
  cst_view *view;
  cst_status status = view_of_case(c, &view, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  return view;
}
#define NEW_VIEW(...) new_view(&(view_case){__VA_ARGS__})

/* The view's saved form opened again. */
static inline cst_view *reopened_view(const cst_view *view, const cst_view_options *options) {
  cst_error error = CST_ERROR_INIT;
  cst_view *again = NULL;
  void *bytes;
  size_t size;
  (void)cst_view_to_bytes(view, &bytes, &size, &error);
  CHECK_STR(error.message, "");
  (void)cst_view_from_bytes(bytes, size, options, &again, &error);
  CHECK_STR(error.message, "");
  cst_free(bytes);
  return again;
}

/* What a view makes of records, as JSON lines. */
static inline void check_view_rows(const cst_view *view, const cst_bytes *records, size_t count,
                                   const char *expected) {
  cst_error error = CST_ERROR_INIT;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  json_text json;
  (void)cst_view_run_arrow(view, records, count, NULL, &schema, &batch, &error);
  CHECK_STR(error.message, "");
  batch_as_json(&schema, &batch, &json);
  CHECK_STR(json.text, expected);
  schema.release(&schema);
  batch.release(&batch);
}

#endif /* TESTS_UNIT_VIEW_SUPPORT_H */
