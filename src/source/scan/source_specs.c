/* The tensor specs of a source. */
#include <columnstone/source.h>

#include "base/arguments.h"
#include "query/view/query_view.h"
#include "schema/schema.h"
#include "schema/schema_columns.h"
#include "source/input/prepare.h"
#include "source/pass/arrow_schema.h"
#include "source/scan/infer_source.h"

static cst_status find_nested(cst_source *source, bool *is_nested, cst_error *error) {
  struct ArrowSchema columns;
  CST__TRY(cst_source_arrow_schema(source, &columns, error));
  *is_nested = cst__columns_are_nested(&columns);
  columns.release(&columns);
  return CST_OK;
}

/* True if the types of the columns are those of a message or of an Avro schema, which say what
 * tensors they are. */
static bool has_types(const cst_source *source) {
  const cst__payload *payload = source->inputs->format.payload;
  return (payload != NULL && payload->types_from == CST__TYPES_FIXED) ||
         cst__reading_options_decode_column(&source->options);
}

/* Tabular formats need no schema to be read, but for tensors. *is_nested: they have nested columns,
 * which no schema can be inferred of, or types of their own. */
static cst_status prepare_specs(cst_source *source, bool *is_nested, cst_error *error) {
  *is_nested = false;
  CST__TRY(cst__source_prepare(source, error));
  if (cst__source_known_schema(source) != NULL) {
    return CST_OK;
  }
  *is_nested = has_types(source);
  if (*is_nested) {
    return CST_OK;
  }
  if (source->inputs->format.payload != NULL) {
    return cst__fail(error, CST_UNSUPPORTED, "open it as tf.Examples, with a schema or without",
                     "the format %s has no schema, and so no tensors", source->inputs->format.name);
  }
  if (!source->inputs->rereadable) {
    return cst__fail(error, CST_STATE, "give a schema",
                     "tensors need a schema, and an input that can be read only once has none");
  }
  if (!cst__reading_options_change_columns(&source->options)) {
    CST__TRY(find_nested(source, is_nested, error));
  }
  if (!*is_nested) {
    CST__TRY(cst__source_infer_decoded(source, error));
  }
  return CST_OK;
}

/* Those of the columns that are delivered; all: of the schema or the view, or NULL. */
static cst_status fit_output(cst_source *source, const cst_specs *all, cst_specs **out,
                             cst_error *error) {
  struct ArrowSchema columns;
  const cst_schema *schema =
      source->options.values.view == NULL ? cst__source_known_schema(source) : NULL;
  CST__TRY(cst_source_arrow_schema(source, &columns, error));
  cst_status status = cst__source_leave_beside_out(source, &columns, NULL, error);
  if (status == CST_OK) {
    status = cst__specs_for_columns(schema, all, &columns, out, error);
  }
  columns.release(&columns);
  return status;
}

/* A view knows its tensors; stages after it may change columns. */
static cst_status specs_of_view(cst_source *source, cst_specs **out, cst_error *error) {
  const cst_specs *specs = cst_view_specs(source->options.values.view);
  if (source->options.calls != NULL) {
    return fit_output(source, specs, out, error);
  }
  *out = cst_specs_retain(specs);
  return CST_OK;
}

static cst_status specs_of_data(cst_source *source, cst_specs **out, cst_error *error) {
  bool is_nested;
  if (source->options.values.view != NULL) {
    return specs_of_view(source, out, error);
  }
  if (source->options.values.column_flags & CST_COLUMNS_NESTED) {
    return cst__fail(error, CST_UNSUPPORTED, "open the source without nested columns",
                     "tensors need flat columns, but the source has nested ones");
  }
  CST__TRY(prepare_specs(source, &is_nested, error));
  if (is_nested) {
    return fit_output(source, NULL, out, error);
  }
  const cst_source_options *values = &source->options.values;
  cst_specs_options options = {.size = sizeof options,
                               .group = values->group,
                               .legacy = values->legacy_specs,
                               .environment = values->environment};
  cst_specs *all;
  CST__TRY(cst_specs_new(cst__source_known_schema(source), &options, &all, error));
  if (values->columns == NULL && !cst__reading_options_change_columns(&source->options)) {
    *out = all;
    return CST_OK;
  }
  cst_status status =
      cst__reading_options_change_columns(&source->options)
          ? fit_output(source, all, out, error)
          : cst__specs_project(all, values->columns, values->num_columns, out, error);
  cst_specs_release(all);
  return status;
}

/* The specs with those of the columns of ids. */
static cst_status add_ids(const cst__record_ids *ids, const cst_specs *specs, cst_specs **out,
                          cst_error *error) {
  size_t count = cst_specs_num_specs(specs);
  struct ArrowSchema columns;
  cst_specs *own;
  CST__TRY(cst__record_ids_schema(ids, &columns, error));
  cst_status status = cst__specs_for_columns(NULL, NULL, &columns, &own, error);
  columns.release(&columns);
  CST__TRY(status);
  size_t num_own = cst_specs_num_specs(own);
  cst_tensor_spec *items = cst__new(NULL, (count + num_own) * sizeof *items);
  for (size_t i = 0; items != NULL && i < count + num_own; i++) {
    items[i] = i < count ? *cst_specs_get(specs, i) : *cst_specs_get(own, i - count);
  }
  status = items != NULL ? cst_specs_from(items, count + num_own, NULL, out, error)
                         : cst__fail_memory(error, (count + num_own) * sizeof *items);
  cst__delete(items);
  cst_specs_release(own);
  return status;
}

cst_status cst_source_specs(cst_source *source, cst_specs **out, cst_error *error) {
  CST__CLEAR(out);
  cst_specs *specs;
  CST__TRY(cst__check_given(source, "source", out, error));
  if (source->options.ids == NULL) {
    return specs_of_data(source, out, error);
  }
  CST__TRY(specs_of_data(source, &specs, error));
  cst_status status = add_ids(source->options.ids, specs, out, error);
  cst_specs_release(specs);
  return status;
}
