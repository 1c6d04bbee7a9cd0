/* The options of a source: checked, and copied. */
#include <string.h>

#include "arrow/view.h"
#include "base/names.h"
#include "format/csv/csv_options.h"
#include "schema/schema.h"
#include "source/input/source.h"

enum { MAX_THREADS = 1024, DEFAULT_BATCH = 1024 };
static const uint64_t default_record_size = 256 << 20;

static cst_status check_new_column(cst__name_map *columns, const char *name, cst_error *error) {
  size_t size = strlen(name);
  if (cst__name_map_find(columns, name, size) != SIZE_MAX) {
    return cst__fail_twice(error, name, size);
  }
  return cst__name_map_add(columns, name, size, 0) ? CST_OK : cst__fail_memory(error, size);
}

static cst_status copy_names(cst_source *source, const cst_source_options *options,
                             cst__name_map *columns, cst_error *error) {
  for (size_t i = 0; i < options->num_columns; i++) {
    const char *name = options->columns[i];
    if (name == NULL) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "column %zu of the options is NULL", i);
    }
    source->columns[i] = cst__new_copy(&source->allocator, name, strlen(name));
    if (source->columns[i] == NULL) {
      return cst__fail_memory(error, strlen(name));
    }
    CST__TRY(check_new_column(columns, source->columns[i], error));
  }
  return CST_OK;
}

static cst_status copy_columns(cst_source *source, const cst_source_options *options,
                               cst_error *error) {
  if (options->columns == NULL) {
    return CST_OK;
  }
  size_t count = options->num_columns;
  size_t bytes;
  if (!cst__mul(count + 1, sizeof *source->columns, &bytes)) {
    return cst__fail_memory(error, SIZE_MAX);
  }
  source->columns = cst__new_zero(&source->allocator, bytes);
  if (source->columns == NULL) {
    return cst__fail_memory(error, bytes);
  }
  source->num_columns = count;
  cst__name_map columns = {0};
  cst_status status = copy_names(source, options, &columns, error);
  cst__name_map_reset(&columns);
  return status;
}

static cst_status check_options(const cst_source_options *o, cst_error *error) {
  if (o->batch_size < 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "batch_size is %lld, it must be positive",
                     (long long)o->batch_size);
  }
  if (o->batch_bytes < 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "batch_bytes is %lld, it must be positive",
                     (long long)o->batch_bytes);
  }
  if (o->threads < 0 || o->threads > MAX_THREADS) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "threads is %d, it must be 1 to %d",
                     (int)o->threads, MAX_THREADS);
  }
  if (o->on_error != CST_ON_ERROR_RAISE && o->on_error != CST_ON_ERROR_SKIP) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "on_error is %d, it must be 0 or 1",
                     (int)o->on_error);
  }
  return CST_OK;
}

static cst_status copy_name(cst_source *source, const char *from, char **to, cst_error *error) {
  if (from == NULL) {
    return CST_OK;
  }
  *to = cst__new_copy(&source->allocator, from, strlen(from));
  return *to != NULL ? CST_OK : cst__fail_memory(error, strlen(from));
}

cst_status cst__source_set_options(cst_source *source, const cst_source_options *o,
                                   cst_error *error) {
  CST__TRY(check_options(o, error));
  source->container = &cst__tfrecord_container;
  source->batch_size = o->batch_size > 0 ? o->batch_size : DEFAULT_BATCH;
  source->batch_bytes = o->batch_bytes > 0 ? o->batch_bytes : INT64_MAX;
  source->threads = o->threads > 0 ? o->threads : 1;
  source->flags = o->flags;
  source->column_flags = o->column_flags;
  source->max_record_size = o->max_record_size > 0 ? o->max_record_size : default_record_size;
  source->max_inflation = o->max_inflation;
  source->legacy_specs = o->legacy_specs;
  source->on_error = o->on_error;
  source->max_errors = o->max_errors > 0 ? o->max_errors : UINT64_MAX;
  source->on_dropped = o->on_dropped;
  source->dropped_ctx = o->dropped_ctx;
  source->on_warning = o->on_warning;
  source->warning_ctx = o->warning_ctx;
  if (o->schema != NULL) {
    source->schema = cst__schema_retain(o->schema);
    source->schema_given = true;
  }
  CST__TRY(copy_name(source, o->tensor_group, &source->tensor_group, error));
  CST__TRY(copy_name(source, o->environment, &source->environment, error));
  CST__TRY(copy_name(source, o->sequence_column, &source->sequence_column, error));
  CST__TRY(copy_name(source, o->raw_column, &source->raw_column, error));
  CST__TRY(cst__csv_options_copy(o->csv, &source->strings, &source->csv, error));
  if (o->types != NULL) {
    CST__TRY(cst__schema_copy(o->types, &source->types, error));
  }
  return copy_columns(source, o, error);
}
