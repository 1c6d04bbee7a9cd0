/* Opening a source: inputs, options, format, and what can be checked before anything is read. */
#include "source/open/open.h"

#include <columnstone/source.h>
#include <string.h>

#include "base/arguments.h"
#include "base/interrupt.h"
#include "format/format_options.h"
#include "io/url.h"
#include "schema/schema.h"
#include "source/block/decoder.h"
#include "source/index/access.h"
#include "source/index/record_cache.h"
#include "source/input/choose.h"
#include "source/pass/arrow_schema.h"
#include "source/pass/feed.h"
#include "source/pass/tabular.h"
#include "source/scan/infer_source.h"

static const cst__source_calls source_calls = {.infer = cst__source_infer_needed,
                                               .free_sample = cst__feed_free,
                                               .free_tabular = cst__tabular_free,
                                               .free_access = cst__access_free,
                                               .free_record_cache = cst__record_cache_free,
                                               .free_index = cst_index_free};

/* ---- checks ---- */

/* True if the columns of a tabular format are known without reading all of its data. */
static bool knows_columns(const cst_source *source) {
  const cst__table_format *table = source->inputs->format.table;
  bool is_text = table != NULL && table->is_text;
  bool given = source->options.values.schema != NULL ||
               cst__reading_options_types(&source->options, is_text) != NULL;
  return table == NULL || (source->inputs->rereadable && (given || table->any_size));
}

/* True if the types of what is decoded are known without reading. */
static bool knows_types(const cst_source *source) {
  const cst__payload *payload = source->inputs->format.payload;
  return payload == NULL
             ? knows_columns(source)
             : payload->types_from != CST__TYPES_OF_DATA || source->options.values.schema != NULL;
}

/* Finds unknown columns, schemas that cannot be decoded, and groups that do not exist. */
static cst_status check_source(cst_source *source, cst_error *error) {
  const cst__payload *payload = source->inputs->format.payload;
  const cst_source_options *values = &source->options.values;
  const cst_schema *schema = values->schema;
  CST__TRY(cst__source_check_messages(source, error));
  if (payload == NULL) {
    return knows_columns(source) ? cst__tabular_schema(source, &source->found.arrow_schema, error)
                                 : CST_OK;
  }
  if (payload->types_from == CST__TYPES_OF_DATA && schema == NULL) {
    return CST_OK;
  }
  cst__record_plan *plan;
  CST__TRY(cst__source_plan(source, &plan, error));
  cst_specs *specs = NULL;
  bool has_group = values->group != NULL && values->group[0] != '\0';
  if (schema != NULL && (has_group || values->environment != NULL)) {
    CST__TRY(cst_source_specs(source, &specs, error));
    cst_specs_release(specs);
  }
  return CST_OK;
}

/* The same for a view: whether it fits what is decoded. */
static cst_status check_view(cst_source *source, cst_error *error) {
  bool flat = source->options.values.flat;
  bool known = knows_types(source) && (!flat || source->options.values.schema != NULL);
  return source->options.values.view != NULL && known && source->num_parts > 0
             ? cst__source_bind(source, error)
             : CST_OK;
}

/* Makes the source of inputs whose format is known. Takes inputs and options over; status: of what
 * was done before. */
static cst_status finish_opening(cst__inputs *inputs, cst__reading_options *options,
                                 cst_status status, cst_source **out, cst_error *error) {
  cst_source *source;
  if (status != CST_OK) {
    cst__reading_options_release(options);
    cst__inputs_release(inputs);
    return status;
  }
  CST__TRY(cst__source_new(inputs, options, &source, error));
  status = check_source(source, error);
  if (status == CST_OK) {
    status = check_view(source, error);
  }
  if (status != CST_OK) {
    cst_source_release(source);
    return status;
  }
  *out = source;
  return CST_OK;
}

/* ---- paths ---- */

static cst_status open_paths(const cst__paths *paths, const cst_source_options *from,
                             cst_source **out, cst_error *error) {
  cst__reading_options options = {.names = NULL};
  cst__inputs *inputs;
  CST__TRY(cst__inputs_new(paths->count, &source_calls, from->allocator, &inputs, error));
  cst_status status = cst__reading_options_init(&options, from, error);
  if (status == CST_OK) {
    status = cst__inputs_add_paths(inputs, paths, from->max_inflation, error);
  }
  if (status == CST_OK) {
    status = cst__inputs_choose(inputs, &options, from, error);
  }
  return finish_opening(inputs, &options, status, out, error);
}

cst_status cst__source_expand(cst__paths *paths, const char *path, uint64_t max_inflation,
                              cst_error *error) {
  bool is_local = strncmp(path, "file://", 7) == 0 || !cst__is_url(path);
  const char *program;
  if (is_local) {
    return cst__paths_expand(paths, path, error);
  }
  CST__TRY(cst__url_refuse_database(path, error));
  CST__TRY(cst__inputs_find_program(path, &program, error));
  return cst__url_expand(program, path, max_inflation, paths, error);
}

enum { ALL_SOURCE_FLAGS = CST_SOURCE_SKIP_CRC | CST_SOURCE_MEMORY_MAP | CST_SOURCE_KEEP_RETURNS };

static cst_status read_source_options(const cst_source_options *options, cst_source_options *own,
                                      cst_error *error) {
  CST__TRY(cst__read_options(own, sizeof *own, options, error));
  CST__TRY(cst__check_flags(own->flags, ALL_SOURCE_FLAGS, error));
  CST__TRY(cst__check_flags(own->column_flags, CST__ALL_COLUMN_FLAGS, error));
  CST__TRY(cst__check_part(own->message, sizeof *own->message, "message options", error));
  CST__TRY(cst__options_check_given(own->format_options, own->num_format_options, error));
  return cst__check_allocator(own->allocator, error);
}

cst_status cst_source_open(const char *const *paths, size_t num_paths,
                           const cst_source_options *options, cst_source **out, cst_error *error) {
  CST__CLEAR(out);
  if (out == NULL || (paths == NULL && num_paths > 0)) {
    return cst__missing(out == NULL ? "out" : "paths", error);
  }
  for (size_t i = 0; i < num_paths; i++) {
    if (paths[i] == NULL) {
      return cst__missing("paths[i]", error);
    }
  }
  cst_source_options own = CST_SOURCE_OPTIONS_INIT;
  CST__TRY(read_source_options(options, &own, error));
  cst__paths expanded = {0};
  cst_status status = CST_OK;
  for (size_t i = 0; i < num_paths && status == CST_OK; i++) {
    status = cst__interrupted(error);
    if (status == CST_OK) {
      status = cst__source_expand(&expanded, paths[i], own.max_inflation, error);
    }
  }
  if (status == CST_OK) {
    status = open_paths(&expanded, &own, out, error);
  }
  cst__paths_reset(&expanded);
  return status;
}

/* ---- readers and streams ---- */

cst_status cst_source_open_readers(const cst_reader *readers, size_t num_readers,
                                   const cst_source_options *options, cst_source **out,
                                   cst_error *error) {
  CST__CLEAR(out);
  cst_source_options own = CST_SOURCE_OPTIONS_INIT;
  if (readers == NULL && num_readers > 0) {
    return cst__missing("readers", error);
  }
  cst_status status = cst__check_sizes(readers, num_readers, sizeof *readers, "reader", error);
  if (status != CST_OK && status != CST_UNSUPPORTED) {
    return status; /* nobody knows where the next one begins */
  }
  if (status == CST_OK) {
    status = out == NULL ? cst__missing("out", error) : read_source_options(options, &own, error);
  }
  cst__inputs *inputs;
  if (status == CST_OK) {
    status = cst__inputs_new(num_readers, &source_calls, own.allocator, &inputs, error);
  }
  if (status != CST_OK) {
    cst__close_readers(readers, num_readers);
    return status;
  }
  cst__reading_options reading = {.names = NULL};
  status = cst__inputs_add_readers(inputs, readers, num_readers, error);
  if (status == CST_OK) {
    status = cst__reading_options_init(&reading, &own, error);
  }
  if (status == CST_OK) {
    status = cst__inputs_choose(inputs, &reading, &own, error);
  }
  return finish_opening(inputs, &reading, status, out, error);
}

cst_status cst_source_open_streams(const cst_stream_opener *openers, size_t num_openers,
                                   const cst_source_options *options, cst_source **out,
                                   cst_error *error) {
  CST__CLEAR(out);
  cst_source_options own = CST_SOURCE_OPTIONS_INIT;
  if (openers == NULL && num_openers > 0) {
    return cst__missing("openers", error);
  }
  cst_status status = cst__check_sizes(openers, num_openers, sizeof *openers, "opener", error);
  if (status != CST_OK && status != CST_UNSUPPORTED) {
    return status; /* nobody knows where the next one begins */
  }
  if (status == CST_OK) {
    status = out == NULL ? cst__missing("out", error) : read_source_options(options, &own, error);
  }
  cst__inputs *inputs;
  if (status == CST_OK) {
    status = cst__inputs_new(num_openers, &source_calls, own.allocator, &inputs, error);
  }
  if (status != CST_OK) {
    cst__close_openers(openers, num_openers);
    return status;
  }
  cst__reading_options reading = {.names = NULL};
  status = cst__inputs_add_openers(inputs, openers, num_openers, error);
  if (status == CST_OK) {
    status = cst__reading_options_init(&reading, &own, error);
  }
  if (status == CST_OK) {
    status = cst__inputs_name_format(inputs, &reading, &own, error);
  }
  return finish_opening(inputs, &reading, status, out, error);
}
