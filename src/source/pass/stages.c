/* The stages of a source: bound when its columns are known; and the sources that have one more. */
#include <columnstone/source.h>
#include <string.h>

#include "arrow/field.h"
#include "arrow/view.h"
#include "base/arguments.h"
#include "base/names.h"
#include "format/payload/payload.h"
#include "schema/flat.h"
#include "schema/schema.h"
#include "source/input/discovery.h"
#include "source/input/prepare.h"
#include "source/pass/arrow_schema.h"
#include "stage/message_column.h"
#include "stage/query_stage.h"

static bool has_list(const struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (cst__field_is_list(schema->children[i])) {
      return true;
    }
  }
  return false;
}

/* Tabular formats need no schema to be read, but to be made flat: lists and bytes are looked at. */
static cst_status prepare_flat(cst_source *source, const struct ArrowSchema *decoded,
                               cst_error *error) {
  cst_schema *schema;
  uint64_t sampled;
  if (source->inputs->format.payload != NULL || cst__source_known_schema(source) != NULL ||
      !cst__flat_wants_schema(decoded, NULL)) {
    return CST_OK;
  }
  if (!source->inputs->rereadable) {
    return has_list(decoded)
               ? cst__fail(error, CST_STATE, "give a schema, or save it to a file first",
                           "flat needs the lengths of the lists, and an input that can be read "
                           "only once has no schema")
               : CST_OK;
  }
  CST__TRY(source->inputs->calls->infer(source, &schema, &sampled, error));
  cst__source_adopt(source, schema, sampled);
  cst_schema_release(schema);
  return CST_OK;
}

static cst__flat_settings flat_settings(const cst_source *source) {
  const cst__reading_options *options = &source->options;
  const char *raw = options->values.raw_column;
  bool is_raw = source->inputs->format.payload == &cst__raw_payload;
  raw = raw == NULL && is_raw ? CST__RAW_COLUMN : raw;
  return (cst__flat_settings){.schema = cst__source_known_schema(source),
                              .environment = options->values.environment,
                              .raw_column = options->values.view == NULL ? raw : NULL};
}

static cst__message_column_settings message_settings(const cst_source *source) {
  const cst__reading_options *options = &source->options;
  return (cst__message_column_settings){.column = options->values.message_column,
                                        .message = options->values.message,
                                        .paths = options->message_paths,
                                        .num_paths = options->num_message_paths,
                                        .column_flags = options->values.column_flags,
                                        .nulls = options->values.on_error == CST_ON_ERROR_NULL};
}

static cst__query_settings query_settings(const cst_source *source) {
  const cst_source_options *values = &source->options.values;
  cst__query_settings settings = {.view = values->view,
                                  .nulls = values->on_error == CST_ON_ERROR_NULL};
  if (values->raw_column != NULL) {
    settings.carried[settings.num_carried++] = values->raw_column;
  }
  if (values->offset_column != NULL) {
    settings.carried[settings.num_carried++] = values->offset_column;
  }
  return settings;
}

cst_status cst__source_check_messages(const cst_source *source, cst_error *error) {
  const cst__message_column_settings settings = message_settings(source);
  return cst__reading_options_decode_column(&source->options)
             ? cst__message_column_check(&settings, &source->allocator, error)
             : CST_OK;
}

static cst_status bind_stages(cst_source *source, const struct ArrowSchema *decoded,
                              cst__chain **out, cst_error *error) {
  const cst__call *last = source->options.calls;
  bool has_flat = source->options.values.flat;
  bool has_messages = cst__reading_options_decode_column(&source->options);
  bool has_view = source->options.values.view != NULL;
  const cst__record_ids *ids = source->options.ids;
  size_t calls = last != NULL ? last->depth : 0;
  size_t count = (size_t)has_flat + has_messages + has_view + calls + (ids != NULL);
  const cst__flat_settings flat = flat_settings(source);
  const cst__message_column_settings messages = message_settings(source);
  const cst__query_settings query = query_settings(source);
  cst__stage_use *uses = cst__new(&source->allocator, count * sizeof *uses);
  if (uses == NULL) {
    return cst__fail_memory(error, count * sizeof *uses);
  }
  if (has_flat) {
    uses[0] = (cst__stage_use){&cst__flat_stage, &flat};
  }
  if (has_messages) { /* of the values that flat has made of lists of one */
    uses[has_flat] = (cst__stage_use){&cst__message_column_stage, &messages};
  }
  if (has_view) {
    uses[(size_t)has_flat + has_messages] = (cst__stage_use){&cst__query_stage, &query};
  }
  size_t at = count;
  if (ids != NULL) {
    uses[--at] = (cst__stage_use){&cst__record_ids_stage, ids};
  }
  for (const cst__call *call = last; call != NULL; call = call->before) {
    uses[--at] = (cst__stage_use){&cst__call_stage, call};
  }
  cst_status status = cst__chain_new(uses, count, decoded, &source->allocator, out, error);
  cst__delete(uses);
  return status;
}

static bool knows_chain(const cst_source *source) { return source->found.chain != NULL; }

static cst_status find_chain(cst_source *source, cst_error *error) {
  struct ArrowSchema decoded;
  cst__chain *chain = NULL;
  CST__TRY(cst__source_decoded_schema(source, &decoded, error));
  cst_status status = source->options.values.flat ? prepare_flat(source, &decoded, error) : CST_OK;
  if (status == CST_OK) {
    status = bind_stages(source, &decoded, &chain, error);
  }
  decoded.release(&decoded);
  CST__TRY(status);
  cst__mutex_lock(&source->lock);
  source->found.chain = chain;
  cst__mutex_unlock(&source->lock);
  return CST_OK;
}

cst_status cst__source_bind(cst_source *source, cst_error *error) {
  return cst__reading_options_staged(&source->options)
             ? cst__source_discover(source, &source->found.stage_discovery, knows_chain, find_chain,
                                    error)
             : CST_OK;
}

cst_status cst_source_arrow_schema(cst_source *source, struct ArrowSchema *out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(source, "source", out, error));
  CST__TRY(cst__source_bind(source, error));
  const cst__chain *chain = cst__source_bound_chain(source);
  return chain != NULL ? cst__schema_copy(cst__chain_schema(chain), out, error)
                       : cst__source_decoded_schema(source, out, error);
}

/* The names of the first stage's columns, if they can be decoded in the place of all. */
static cst_status project_stage(const cst__call *call, cst_source_options *values,
                                cst_error *error) {
  size_t count;
  const char *const *needs = cst__call_stage.needs(call, &count);
  if (call->before != NULL || values->view != NULL || needs == NULL) {
    return CST_OK;
  }
  for (size_t i = 0; values->columns != NULL && i < count; i++) {
    size_t at = 0;
    while (at < values->num_columns && strcmp(values->columns[at], needs[i]) != 0) {
      at++;
    }
    if (at == values->num_columns) {
      cst__name_list names = cst__name_list_of(values->columns, values->num_columns);
      return cst__fail_unknown(error, CST_NOT_FOUND, "no such column", needs[i], &names);
    }
  }
  values->columns = needs;
  values->num_columns = count;
  return CST_OK;
}

/* What has been found out about the decoded columns stays true, if they are the same. */
static void share_decoded(cst_source *source, cst_source *to, bool same_columns) {
  cst__mutex_lock(&source->lock);
  if (source->found.schema != NULL) {
    to->found.schema = cst_schema_retain(source->found.schema);
    to->found.sampled = source->found.sampled;
  }
  if (same_columns && source->found.types != NULL) {
    to->found.types = source->found.types;
    cst__refcount_up(&to->found.types->owners);
  }
  cst__mutex_unlock(&source->lock);
}

/* What has been read of a pipe for its schema belongs to the source that has read it. */
static cst_status check_untouched(cst_source *source, cst_error *error) {
  cst__mutex_lock(&source->lock);
  bool touched = !source->inputs->rereadable &&
                 (source->found.sample != NULL || source->found.sample_status != CST_OK ||
                  source->found.tabular != NULL);
  cst__mutex_unlock(&source->lock);
  return touched ? cst__fail(error, CST_STATE, "add stages before asking for the schema",
                             "the input can be read only once, and its beginning has been read "
                             "without the stage")
                 : CST_OK;
}

/* Shares what is known with a source that has one more stage. */
static cst_status make_staged(cst_source *source, const cst__reading_options *options,
                              cst_source **out, cst_error *error) {
  CST__TRY(cst__source_with(source, NULL, 0, options, out, error));
  share_decoded(source, *out, options->values.columns == source->options.values.columns);
  return CST_OK;
}

cst_status cst_source_with_ids(cst_source *source, const cst_id_columns *columns, cst_source **out,
                               cst_error *error) {
  CST__CLEAR(out);
  cst_id_columns own = CST_ID_COLUMNS_INIT;
  cst__record_ids *ids;
  CST__TRY(cst__check_given(source, "source", out, error));
  CST__TRY(cst__read_options(&own, sizeof own, columns, error));
  own.file = own.file != NULL ? own.file : "__file__";
  own.record = own.record != NULL ? own.record : "__record__";
  if (strcmp(own.file, own.record) == 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "both columns of ids have one name");
  }
  CST__TRY(check_untouched(source, error));
  CST__TRY(cst__record_ids_new(&own, &source->allocator, &ids, error));
  cst__reading_options options = source->options;
  options.ids = ids;
  cst_status status = make_staged(source, &options, out, error);
  cst__record_ids_release(ids);
  return status;
}

cst_status cst_source_with_stage(cst_source *source, const cst_stage *stage, cst_source **out,
                                 cst_error *error) {
  CST__CLEAR(out);
  cst_stage own = CST_STAGE_INIT;
  if (stage == NULL) {
    return cst__missing("stage", error);
  }
  cst_status status = cst__read_sized(&own, sizeof own, stage, "stage", error);
  if (status == CST_OK) {
    status = cst__check_given(source, "source", out, error);
  }
  if (status != CST_OK) {
    if (own.close != NULL) {
      own.close(own.ctx);
    }
    return status;
  }
  cst__call *call;
  CST__TRY(cst__call_new(&own, source->options.calls, &source->allocator, &call, error));
  cst__reading_options options = source->options;
  options.calls = call;
  status = check_untouched(source, error);
  if (status == CST_OK) {
    status = project_stage(call, &options.values, error);
  }
  if (status == CST_OK) {
    status = make_staged(source, &options, out, error);
  }
  cst__call_release(call);
  return status;
}
