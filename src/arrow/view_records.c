/* Serialized records in Arrow data: a binary column, alone or as the only one of a batch. */
#include "arrow/view.h"

static bool records_is_binary(const cst__view *v) {
  return v->layout == CST__LAYOUT_BINARY || v->layout == CST__LAYOUT_BINARY_VIEW ||
         v->layout == CST__LAYOUT_FIXED_BINARY;
}

/* A batch stands for its only column. */
static cst_status take_column(cst__view *v, cst_error *error) {
  if (v->num_children != 1) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "pick one of them, or encode the batch first",
                     "a batch of %lld columns, where records are one binary column",
                     (long long)v->num_children);
  }
  if (v->null_count > 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "drop null rows first",
                     "%lld rows of the batch are null", (long long)v->null_count);
  }
  *v = v->children[0];
  return CST_OK;
}

/* CST_INVALID_ARGUMENT with the record. */
static cst_status refuse_nulls(const cst__view *v, cst_error *error) {
  int64_t i = 0;
  while (!cst__view_is_null(v, i)) {
    i++;
  }
  (void)cst__fail(error, CST_INVALID_ARGUMENT, "drop null records first",
                  "a record is null, expected bytes");
  cst__error_add_record(error, i, -1);
  return CST_INVALID_ARGUMENT;
}

cst_status cst__view_init_records(cst__view *view, const struct ArrowSchema *schema,
                                  const struct ArrowArray *records, cst__arena *arena,
                                  cst_error *error) {
  CST__TRY(cst__view_init(view, schema, records, false, arena, error));
  if (view->layout == CST__LAYOUT_STRUCT) {
    CST__TRY(take_column(view, error));
  }
  if (!records_is_binary(view)) {
    char type[64];
    cst__view_type_name(view, type, sizeof type);
    return cst__fail(error, CST_INVALID_ARGUMENT, "pass an array of binary, one record a slot",
                     "the records are of type %s", type);
  }
  return view->null_count > 0 ? refuse_nulls(view, error) : CST_OK;
}
