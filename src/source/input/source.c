/* Sources: made of inputs and options, and opened. */
#include "source/input/source.h"

#include <columnstone/source.h>

#include "base/arguments.h"
#include "schema/schema.h"

/* ---- set-up and tear-down ---- */

/* Takes over what the options point to, also on failure. */
static cst_status new_source(cst__inputs *inputs, size_t num_parts,
                             const cst__reading_options *options, cst_source **out,
                             cst_error *error) {
  size_t bytes;
  cst__reading_options own = *options;
  cst_source *source = cst__new_zero(&inputs->allocator, sizeof *source);
  if (source == NULL) {
    cst__reading_options_release(&own);
    return cst__fail_memory(error, sizeof *source);
  }
  source->allocator = inputs->allocator;
  source->options = own;
  source->inputs = cst__inputs_retain(inputs);
  cst__refcount_init(&source->owners);
  cst__mutex_init(&source->lock);
  cst__condition_init(&source->found_signal);
  if (cst__mul(num_parts > 0 ? num_parts : 1, sizeof *source->parts, &bytes)) {
    source->parts = cst__new_zero(&inputs->allocator, bytes);
  }
  if (source->parts == NULL) {
    cst_source_release(source);
    return cst__fail_memory(error, num_parts * sizeof *source->parts);
  }
  source->num_parts = num_parts;
  *out = source;
  return CST_OK;
}

cst_status cst__source_new(cst__inputs *inputs, const cst__reading_options *options,
                           cst_source **out, cst_error *error) {
  cst_status status = new_source(inputs, inputs->num_files, options, out, error);
  for (size_t i = 0; status == CST_OK && i < inputs->num_files; i++) {
    cst__file *file = &inputs->files[i];
    (*out)->parts[i] = (cst__part){.file = file, .size = file->size};
  }
  cst__inputs_release(inputs);
  return status;
}

cst_status cst__source_with(const cst_source *source, const cst__part *parts, size_t num_parts,
                            const cst__reading_options *options, cst_source **out,
                            cst_error *error) {
  options = options != NULL ? options : &source->options;
  num_parts = parts != NULL ? num_parts : source->num_parts;
  parts = parts != NULL ? parts : source->parts;
  cst__reading_options_keep(options);
  CST__TRY(new_source(source->inputs, num_parts, options, out, error));
  for (size_t i = 0; i < num_parts; i++) {
    (*out)->parts[i] = parts[i];
    (*out)->parts[i].index = NULL;
  }
  return CST_OK;
}

cst_source *cst_source_retain(const cst_source *source) {
  cst_source *shared = (cst_source *)source;
  if (shared != NULL) {
    cst__refcount_up(&shared->owners);
  }
  return shared;
}

static void reset_found(cst__found *found, const cst__source_calls *calls) {
  calls->free_sample(found->sample);
  calls->free_tabular(found->tabular);
  calls->free_access(found->access);
  calls->free_record_cache(found->record_cache);
  cst__delete(found->sample_error);
  cst__record_plan_release(found->plan);
  cst_schema_release(found->schema);
  cst__types_release(found->types);
  if (found->arrow_schema.release != NULL) {
    found->arrow_schema.release(&found->arrow_schema);
  }
  cst__chain_release(found->chain);
}

void cst_source_release(cst_source *source) {
  if (source == NULL || !cst__refcount_down(&source->owners)) {
    return;
  }
  const cst__source_calls *calls = source->inputs->calls;
  reset_found(&source->found, calls);
  for (size_t i = 0; i < source->num_parts; i++) {
    calls->free_index(source->parts[i].index);
  }
  cst__delete(source->parts);
  cst__reading_options_release(&source->options);
  cst__condition_destroy(&source->found_signal);
  cst__mutex_destroy(&source->lock);
  cst__inputs_release(source->inputs);
  cst__delete(source);
}

/* ---- inputs ---- */

const char *cst_source_container(const cst_source *source) {
  bool is_records = source != NULL && source->inputs->format.payload != NULL;
  return is_records ? source->inputs->container->info.name : NULL;
}

const char *cst_source_format(const cst_source *source) {
  return source != NULL ? source->inputs->format.name : NULL;
}

size_t cst_source_num_files(const cst_source *source) {
  return source != NULL ? source->num_parts : 0;
}

const char *cst_source_file(const cst_source *source, size_t i) {
  return source != NULL && i < source->num_parts ? cst__source_name(source, i) : NULL;
}

size_t cst_source_num_opened(const cst_source *source) {
  return source != NULL ? source->inputs->num_files : 0;
}

const char *cst_source_opened(const cst_source *source, size_t i) {
  return i < cst_source_num_opened(source) ? source->inputs->files[i].name : NULL;
}

int64_t cst_source_total_bytes(const cst_source *source) {
  if (source == NULL) {
    return -1;
  }
  int64_t total = 0;
  for (size_t i = 0; i < source->num_parts; i++) {
    if (source->parts[i].size < 0 || total > INT64_MAX - source->parts[i].size) {
      return -1;
    }
    total += source->parts[i].size;
  }
  return total;
}

cst__input_options cst__source_input_options(const cst_source *source, const char *name) {
  return cst__inputs_read_options(source->inputs, &source->options, name);
}

cst_status cst__source_open_input(const cst_source *source, size_t i, cst__input **out,
                                  cst_error *error) {
  cst__file *file = source->parts[i].file;
  cst__input_options options = cst__source_input_options(source, file->name);
  return cst__file_open(file, &options, out, error);
}

cst_status cst__source_open_raw(const cst_source *source, size_t i, cst__raw *raw,
                                cst_error *error) {
  return cst__file_open_raw(source->parts[i].file, raw, error);
}

cst_status cst_source_compression(cst_source *source, size_t i, const char **out,
                                  cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(source, "source", out, error));
  if (i >= source->num_parts) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "file %zu of %zu", i, source->num_parts);
  }
  cst__file *file = source->parts[i].file;
  cst__input *input;
  cst_error own = CST_ERROR_INIT;
  if (file->is_stream) {
    return CST_OK;
  }
  if (!file->rereadable) {
    return cst__fail(error, CST_STATE, NULL, "%s can be read once only", file->name);
  }
  CST__TRY(cst__source_open_input(source, i, &input, error));
  *out = cst__compression_name(cst__input_compression(input, &own));
  cst__file_give_back(file, input);
  cst__error_copy(error, &own);
  return own.code;
}

cst_status cst__source_entry(const cst_source *source, size_t i, uint64_t place,
                             cst__entry_point *out, cst_error *error) {
  cst__file *file = source->parts[i].file;
  cst__input *input;
  cst_error own = CST_ERROR_INIT;
  *out = (cst__entry_point){false, false, place, UINT64_MAX};
  if (file->is_stream || !file->rereadable) {
    return CST_OK;
  }
  CST__TRY(cst__source_open_input(source, i, &input, error));
  bool plain = cst__input_compression(input, &own) == CST__PLAIN;
  out->packed = !plain && cst__input_restart(input, place, &out->point, &out->size);
  (void)cst__input_compression(input, &own); /* it may have failed to look for them */
  cst__file_give_back(file, input);
  cst__error_copy(error, &own);
  out->possible = plain || out->packed;
  if (plain && file->size >= 0) {
    out->size = (uint64_t)file->size;
  }
  return own.code;
}

const cst_schema *cst__source_known_schema(const cst_source *source) {
  cst_source *shared = (cst_source *)(uintptr_t)source; /* only the lock changes */
  if (source->options.values.schema != NULL) {
    return source->options.values.schema;
  }
  cst__mutex_lock(&shared->lock);
  const cst_schema *schema = source->found.schema;
  cst__mutex_unlock(&shared->lock);
  return schema;
}

const cst__chain *cst__source_bound_chain(const cst_source *source) {
  cst_source *shared = (cst_source *)(uintptr_t)source; /* only the lock changes */
  cst__mutex_lock(&shared->lock);
  const cst__chain *chain = source->found.chain;
  cst__mutex_unlock(&shared->lock);
  return chain;
}
