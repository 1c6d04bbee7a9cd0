/* The tf.Example encoder: which feature is written from which column. */
#include <columnstone/records.h>
#include <string.h>

#include "arrow/records/encoder.h"
#include "base/error.h"
#include "decode/encoders.h"
#include "decode/entry_writer.h"
#include "decode/flat_ragged.h"
#include "decode/ragged_writer.h"

typedef struct example_encoder {
  cst_encoder base;   /* first */
  cst_schema *schema; /* NULL: types are not checked */
  cst_specs *ragged;  /* the schema's ragged tensors, once they are needed */
  bool ragged_failed; /* they cannot be nested columns, whatever the records hold */
  cst__out_columns columns;
  const cst__flat_ragged *flat; /* tensors to check the rows of a batch against */
} example_encoder;

static const cst_feature *find_example_feature(const cst_schema *schema, const char *name) {
  size_t at = cst__schema_find_feature(schema, name, strlen(name));
  return at != SIZE_MAX ? cst_schema_feature(schema, at) : NULL;
}

static cst_status need_ragged(example_encoder *e, cst_error *error) {
  return e->ragged != NULL ? CST_OK : cst__specs_new_ragged(e->schema, &e->ragged, error);
}

/* The ragged tensor that a column is nested for; *out is NULL for an ordinary column. A list of
 * values that the schema has as a feature, which is the usual case, needs no look at the tensors.
 */
static cst_status find_ragged(example_encoder *e, const cst__view *view,
                              const cst_tensor_spec **out, cst_error *error) {
  *out = NULL;
  bool nested = cst__view_is_list(view) && cst__view_is_list(&view->children[0]);
  if (e->schema == NULL || (!nested && find_example_feature(e->schema, view->name) != NULL)) {
    return CST_OK;
  }
  CST__TRY(need_ragged(e, error));
  *out = cst__ragged_find(e->ragged, view);
  return CST_OK;
}

static cst_status add_example_column(example_encoder *e, const cst__view *view, cst_error *error) {
  const cst_tensor_spec *ragged;
  CST__TRY(find_ragged(e, view, &ragged, error));
  if (ragged != NULL) {
    return cst__add_ragged_columns(&e->base.arena, &e->columns, ragged, view, error);
  }
  cst__out_column *column;
  CST__TRY(cst__add_out_column(&e->columns, view->name, view, &column, error));
  return cst__set_out_values(column, view, error);
}

static cst_status plan_example(cst_encoder *encoder, const cst__viewed *viewed, cst_error *error) {
  const cst__view *batch = viewed->view;
  example_encoder *e = (example_encoder *)encoder;
  e->columns.count = 0;
  for (int64_t i = 0; i < batch->num_children; i++) {
    CST__TRY(add_example_column(e, &batch->children[i], error));
  }
  for (size_t i = 0; e->schema != NULL && i < e->columns.count; i++) {
    cst__out_column *column = &e->columns.items[i];
    CST__TRY(cst__check_out_column(column, find_example_feature(e->schema, column->name), error));
  }
  CST__TRY(cst__sort_out_columns(&e->columns, error));
  /* What the rows of flat features have to fit. Where the schema's ragged tensors cannot be nested
   * columns (two of one name, in two groups), no decoder asks for it. */
  e->flat = NULL;
  if (e->schema == NULL || e->ragged_failed) {
    return CST_OK;
  }
  cst_error ignored = CST_ERROR_INIT;
  cst_status status = need_ragged(e, &ignored);
  if (status == CST_NO_MEMORY) {
    return cst__fail_memory(error, sizeof *e);
  }
  e->ragged_failed = status != CST_OK;
  if (e->ragged_failed) {
    return CST_OK;
  }
  return cst__flat_ragged_plan(e->ragged, &e->columns, &e->base.arena, &e->flat, error);
}

static cst_status put_example(cst_encoder *encoder, int64_t row, cst__back *back,
                              cst_error *error) {
  const example_encoder *e = (const example_encoder *)encoder;
  CST__TRY(cst__put_features(&e->columns, row, e->base.lossy, back, error));
  for (const cst__flat_ragged *tensor = e->flat; tensor != NULL; tensor = tensor->next) {
    CST__TRY(cst__flat_ragged_check(tensor, row, error));
  }
  return CST_OK;
}

static void free_examples(cst_encoder *encoder) {
  example_encoder *e = (example_encoder *)encoder;
  cst__encoder_reset(&e->base);
  cst_schema_release(e->schema);
  cst_specs_release(e->ragged);
  cst__delete(e->columns.items);
  cst__delete(e);
}

static const cst__encoder_type example_type = {
    .plan = plan_example, .put_record = put_example, .free = free_examples};

cst_status cst__example_encoder_new(const cst_encode_options *options, cst_encoder **out,
                                    cst_error *error) {
  example_encoder *e = cst__new_zero(options->allocator, sizeof *e);
  if (e == NULL) {
    return cst__fail_memory(error, sizeof *e);
  }
  e->columns.allocator = &e->base.allocator;
  cst_status status =
      cst__encoder_init(&e->base, &example_type, options->flags, options->allocator, error);
  if (status != CST_OK) {
    cst__delete(e);
    return status;
  }
  e->schema = options->schema != NULL ? cst_schema_retain(options->schema) : NULL;
  *out = &e->base;
  return CST_OK;
}
