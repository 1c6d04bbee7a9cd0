/* The options of a source: checked, and copied. */
#include "source/input/reading_options.h"

#include <string.h>

#include "arrow/view.h"
#include "base/names.h"
#include "format/csv/csv_options.h"
#include "schema/schema.h"

enum { MAX_THREADS = 1024, DEFAULT_BATCH = 1024 };
static const uint64_t default_record_size = 256 << 20;

struct cst__option_names {
  cst__refcount owners;
  cst__arena arena;
};

/* ---- what is counted ---- */

cst__types *cst__types_new(struct ArrowSchema *schema, const cst_allocator *allocator) {
  cst__types *types = cst__new(allocator, sizeof *types);
  if (types == NULL) {
    schema->release(schema);
    return NULL;
  }
  cst__refcount_init(&types->owners);
  types->schema = *schema;
  schema->release = NULL;
  return types;
}

void cst__types_release(cst__types *types) {
  if (types != NULL && cst__refcount_down(&types->owners)) {
    types->schema.release(&types->schema);
    cst__delete(types);
  }
}

void cst__reading_options_keep(const cst__reading_options *options) {
  cst__refcount_up(&options->names->owners);
  (void)cst__schema_retain(options->columns.schema);
  (void)cst__call_retain(options->stages.calls);
  if (options->columns.types != NULL) {
    cst__refcount_up(&options->columns.types->owners);
  }
}

void cst__reading_options_release(cst__reading_options *options) {
  if (options->names != NULL && cst__refcount_down(&options->names->owners)) {
    cst__arena_reset(&options->names->arena);
    cst__delete(options->names);
  }
  cst__schema_release(options->columns.schema);
  cst__types_release(options->columns.types);
  cst__call_release(options->stages.calls);
  *options = (cst__reading_options){.names = NULL};
}

bool cst__reading_options_keep_rows(const cst__reading_options *options) {
  const cst__call *call = options->stages.calls;
  while (call != NULL && cst__call_keeps_rows(call)) {
    call = call->before;
  }
  return call == NULL;
}

/* ---- checks ---- */

static cst_status check_source_options(const cst_source_options *o, cst_error *error) {
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

static cst_status check_column_names(const cst__column_options *columns, cst_error *error) {
  cst__name_map seen = {0};
  size_t count = columns->names != NULL ? columns->count : 0;
  cst_status status = cst__map_columns(columns->names, count, &seen, error);
  cst__name_map_reset(&seen);
  return status;
}

/* ---- copies ---- */

static cst_status copy_option_name(cst__arena *arena, const char *from, const char **to,
                                   cst_error *error) {
  *to = from != NULL ? cst__arena_copy(arena, from, strlen(from)) : NULL;
  return from == NULL || *to != NULL ? CST_OK : cst__fail_memory(error, strlen(from));
}

static cst_status copy_columns(cst__arena *arena, const cst_source_options *from,
                               cst__column_options *to, cst_error *error) {
  size_t bytes;
  if (from->columns == NULL) {
    return CST_OK;
  }
  if (!cst__mul(from->num_columns + 1, sizeof *to->names, &bytes)) {
    return cst__fail_memory(error, SIZE_MAX);
  }
  const char **names = cst__arena_take_zero(arena, bytes);
  if (names == NULL) {
    return cst__fail_memory(error, bytes);
  }
  for (size_t i = 0; i < from->num_columns; i++) {
    if (from->columns[i] == NULL) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "column %zu of the options is NULL", i);
    }
    CST__TRY(copy_option_name(arena, from->columns[i], &names[i], error));
  }
  to->names = names;
  to->count = from->num_columns;
  return check_column_names(to, error);
}

static cst_status copy_option_types(const cst_source_options *from, cst__column_options *to,
                                    cst_error *error) {
  struct ArrowSchema copy;
  if (from->types == NULL) {
    return CST_OK;
  }
  CST__TRY(cst__schema_copy(from->types, &copy, error));
  to->types = cst__types_new(&copy, from->allocator);
  return to->types != NULL ? CST_OK : cst__fail_memory(error, sizeof *to->types);
}

/* All that is pointed to; the rest is there. */
static cst_status copy_all(cst__reading_options *o, const cst_source_options *from,
                           cst_error *error) {
  cst__arena *arena = &o->names->arena;
  CST__TRY(copy_option_name(arena, from->tensor_group, &o->tensors.group, error));
  CST__TRY(copy_option_name(arena, from->environment, &o->tensors.environment, error));
  CST__TRY(copy_option_name(arena, from->sequence_column, &o->format.sequence_column, error));
  CST__TRY(copy_option_name(arena, from->raw_column, &o->format.raw_column, error));
  CST__TRY(cst__csv_options_copy(from->csv, arena, &o->format.csv, error));
  CST__TRY(copy_option_types(from, &o->columns, error));
  return copy_columns(arena, from, &o->columns, error);
}

cst_status cst__reading_options_init(cst__reading_options *options, const cst_source_options *from,
                                     cst_error *error) {
  CST__TRY(check_source_options(from, error));
  *options = (cst__reading_options){
      .flags = from->flags,
      .max_record_size = from->max_record_size > 0 ? from->max_record_size : default_record_size,
      .max_inflation = from->max_inflation,
      .batch = {.rows = from->batch_size > 0 ? from->batch_size : DEFAULT_BATCH,
                .bytes = from->batch_bytes > 0 ? from->batch_bytes : INT64_MAX,
                .threads = from->threads > 0 ? from->threads : 1},
      .columns = {.flags = from->column_flags, .schema = cst__schema_retain(from->schema)},
      .damage = {.on_error = from->on_error,
                 .max_errors = from->max_errors > 0 ? from->max_errors : UINT64_MAX,
                 .on_dropped = from->on_dropped,
                 .dropped_ctx = from->dropped_ctx,
                 .on_warning = from->on_warning,
                 .warning_ctx = from->warning_ctx},
      .tensors = {.legacy = from->legacy_specs},
      .stages = {.flat = from->flat},
      .names = cst__new(from->allocator, sizeof(cst__option_names)),
  };
  if (options->names == NULL) {
    cst__reading_options_release(options);
    return cst__fail_memory(error, sizeof *options->names);
  }
  cst__refcount_init(&options->names->owners);
  cst__arena_init(&options->names->arena, from->allocator);
  cst_status status = copy_all(options, from, error);
  if (status != CST_OK) {
    cst__reading_options_release(options);
  }
  return status;
}
