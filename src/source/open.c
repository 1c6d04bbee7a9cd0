/* Opening a source: names, options, format, and what can be checked before anything is read. */
#include <string.h>
#include <sys/stat.h>

#include "schema/schema.h"
#include "source/feed.h"
#include "source/foreign.h"
#include "source/source.h"

enum { MAX_THREADS = 1024, DEFAULT_BATCH = 1024, HEAD_SIZE = 64 };
static const uint64_t default_record_size = 256 << 20;

/* ---- set-up and tear-down ---- */

static cst_source *new_source(const cst_allocator *allocator, size_t num_files) {
  cst_source *source = cst__new_zero(allocator, sizeof *source);
  size_t bytes;
  if (source == NULL) {
    return NULL;
  }
  source->allocator = cst__allocator_of(allocator);
  cst__refcount_init(&source->owners);
  cst__mutex_init(&source->lock);
  if (cst__mul(num_files, sizeof *source->files, &bytes)) {
    source->files = cst__new_zero(allocator, bytes);
  }
  if (source->files == NULL) {
    cst__source_release(source);
    return NULL;
  }
  return source;
}

static void free_file(cst__source_file *file) {
  cst__delete(file->name);
  if (file->is_reader) {
    cst__mutex_destroy(&file->lock);
    if (file->reader.close != NULL) {
      file->reader.close(file->reader.ctx);
    }
  }
}

static void free_columns(cst_source *source) {
  for (size_t i = 0; source->columns != NULL && i < source->num_columns; i++) {
    cst__delete(source->columns[i]);
  }
  cst__delete(source->columns);
}

cst_source *cst__source_retain(const cst_source *source) {
  cst_source *shared = (cst_source *)source;
  cst__refcount_up(&shared->owners);
  return shared;
}

void cst__source_release(cst_source *source) {
  if (source == NULL || !cst__refcount_down(&source->owners)) {
    return;
  }
  cst__feed_free(source->sample);
  for (size_t i = 0; i < source->num_files; i++) {
    free_file(&source->files[i]);
  }
  cst__delete(source->files);
  free_columns(source);
  cst__delete(source->tensor_group);
  cst__delete(source->sample_error);
  cst__schema_release(source->schema);
  if (source->arrow_schema.release != NULL) {
    source->arrow_schema.release(&source->arrow_schema);
  }
  cst__mutex_destroy(&source->lock);
  cst__delete(source);
}

/* ---- options ---- */

/* A linear search: columns that are wanted are few, and this is done once. */
static cst_status check_new_column(const cst_source *source, size_t count, cst_error *error) {
  const char *name = source->columns[count];
  for (size_t i = 0; i < count; i++) {
    if (strcmp(source->columns[i], name) == 0) {
      cst_status status = cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a column is named twice");
      cst__error_add_path(error, name, strlen(name));
      return status;
    }
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
  for (size_t i = 0; i < count; i++) {
    const char *name = options->columns[i];
    if (name == NULL) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "column %zu of the options is NULL", i);
    }
    source->columns[i] = cst__new_copy(&source->allocator, name, strlen(name));
    if (source->columns[i] == NULL) {
      return cst__fail_memory(error, strlen(name));
    }
    CST__TRY(check_new_column(source, i, error));
  }
  return CST_OK;
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

static cst_status set_options(cst_source *source, const cst_source_options *o, cst_error *error) {
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
  if (o->schema != NULL) {
    source->schema = cst__schema_retain(o->schema);
    source->schema_given = true;
  }
  if (o->tensor_group != NULL) {
    source->tensor_group =
        cst__new_copy(&source->allocator, o->tensor_group, strlen(o->tensor_group));
    if (source->tensor_group == NULL) {
      return cst__fail_memory(error, strlen(o->tensor_group));
    }
  }
  return copy_columns(source, o, error);
}

/* ---- inputs ---- */

/* Calls the caller's reader, one call at a time though several passes may read. */
static cst_status read_locked(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                              cst_error *error) {
  cst__source_file *file = ctx;
  cst__mutex_lock(&file->lock);
  cst_status status = file->reader.read_at(file->reader.ctx, offset, buffer, size, got, error);
  cst__mutex_unlock(&file->lock);
  return status;
}

cst_status cst__source_open_input(const cst_source *source, size_t i, cst__input **out,
                                  cst_error *error) {
  cst__source_file *file = &source->files[i];
  cst__input_options options = {.max_inflation = source->max_inflation,
                                .memory_map = source->flags & CST_SOURCE_MEMORY_MAP,
                                .allocator = &source->allocator};
  if (!file->is_reader) {
    return cst__input_open(file->name, &options, out, error);
  }
  cst_reader reader = {.size = sizeof reader,
                       .name = file->name,
                       .read_at = read_locked,
                       .ctx = file,
                       .can_seek = file->reader.can_seek};
  return cst__input_open_reader(&reader, &options, out, error);
}

static cst_status set_file(cst_source *source, const char *path, cst_error *error) {
  cst__source_file *file = &source->files[source->num_files];
  struct stat info;
  file->name = cst__new_copy(&source->allocator, path, strlen(path));
  if (file->name == NULL) {
    return cst__fail_memory(error, strlen(path));
  }
  source->num_files++;
  file->size = -1;
  if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
    file->size = (int64_t)info.st_size;
    file->regular = true;
    file->rereadable = true;
  }
  source->rereadable = source->rereadable && file->rereadable;
  return CST_OK;
}

int64_t cst__source_total_bytes(const cst_source *source) {
  int64_t total = 0;
  for (size_t i = 0; i < source->num_files; i++) {
    if (source->files[i].size < 0 || total > INT64_MAX - source->files[i].size) {
      return -1;
    }
    total += source->files[i].size;
  }
  return total;
}

/* ---- format ---- */

/* The first bytes of the first file that is not empty; none if it cannot be looked at without
 * losing them, or cannot be read (the pass will say why). */
static cst_status read_head(const cst_source *source, uint8_t head[HEAD_SIZE], size_t *size,
                            const char **path, cst_error *error) {
  *size = 0;
  for (size_t i = 0; i < source->num_files && source->files[i].regular && *size == 0; i++) {
    cst__input *input;
    *path = source->files[i].name;
    cst_status status = cst__source_open_input(source, i, &input, error);
    if (status == CST_OK) {
      status = cst__input_read(input, head, HEAD_SIZE, size, error);
      cst__input_close(input);
    }
    if (status != CST_OK) {
      return status == CST_NO_MEMORY ? status : CST_OK;
    }
  }
  return CST_OK;
}

static cst_status format_by_bytes(cst_source *source, cst__format *out, cst_error *error) {
  uint8_t head[HEAD_SIZE];
  const char *path = NULL;
  size_t size;
  CST__TRY(read_head(source, head, &size, &path, error));
  *out = (cst__format){.name = "example", .payload = &cst__example_payload};
  if (size == 0 || source->container->sniff(head, size)) {
    return CST_OK;
  }
  cst__format found = {0};
  cst_status status = cst__format_find_by_head(path, head, size, &found, error);
  if (status != CST_OK) {
    cst__error_add_file(error, path);
  } else if (found.plugin != NULL) {
    *out = found;
  }
  return status;
}

static cst_status set_format(cst_source *source, const char *name, cst_error *error) {
  cst__format format;
  if (name == NULL) {
    CST__TRY(format_by_bytes(source, &format, error));
  } else {
    CST__TRY(cst__format_find(name, &format, error));
  }
  source->payload = format.payload;
  source->plugin = format.payload == NULL ? format.plugin : NULL;
  if (source->payload == NULL && (source->plugin == NULL || source->plugin->open == NULL)) {
    return cst__fail(error, CST_UNSUPPORTED,
                     "name a format that can be read: example, raw, parquet",
                     "the format %s can only be written", format.name);
  }
  for (size_t i = 0; source->plugin != NULL && i < source->num_files; i++) {
    if (!source->files[i].regular) {
      (void)cst__fail(error, CST_UNSUPPORTED, "give the path of a regular file",
                      "the format %s is read from files only", format.name);
      cst__error_add_file(error, source->files[i].name);
      return CST_UNSUPPORTED;
    }
  }
  return CST_OK;
}

/* Finds unknown columns, schemas that cannot be decoded, and groups that do not exist. */
static cst_status check_opened(cst_source *source, cst_error *error) {
  if (source->plugin != NULL) {
    source->schema_given = false;
    cst__schema_release(source->schema);
    source->schema = NULL;
    return cst__foreign_schema(source, &source->arrow_schema, error);
  }
  if (source->payload->wants_schema && source->schema == NULL) {
    return CST_OK;
  }
  void *decoder;
  CST__TRY(cst__source_open_decoder(source, CST__WANT_COLUMNS, &decoder, error));
  source->payload->close(decoder);
  cst_specs *specs = NULL;
  if (source->schema != NULL && source->tensor_group != NULL && source->tensor_group[0] != '\0') {
    CST__TRY(cst__source_specs(source, &specs, error));
    cst__specs_release(specs);
  }
  return CST_OK;
}

static cst_status finish_open(cst_source *source, const char *format, cst_source **out,
                              cst_error *error) {
  cst_status status = set_format(source, format, error);
  if (status == CST_OK) {
    status = check_opened(source, error);
  }
  if (status != CST_OK) {
    cst__source_release(source);
    return status;
  }
  *out = source;
  return CST_OK;
}

/* ---- the two ways to open ---- */

static cst_status open_paths(const cst__paths *paths, const cst_source_options *options,
                             cst_source **out, cst_error *error) {
  cst_source *source = new_source(options->allocator, paths->count);
  if (source == NULL) {
    return cst__fail_memory(error, sizeof *source);
  }
  source->rereadable = true;
  cst_status status = set_options(source, options, error);
  size_t pipes = 0;
  for (size_t i = 0; i < paths->count && status == CST_OK; i++) {
    status = set_file(source, paths->items[i], error);
    pipes += strcmp(paths->items[i], "-") == 0;
  }
  if (status == CST_OK && pipes > 1) {
    status = cst__fail(error, CST_INVALID_ARGUMENT, "name it once",
                       "standard input is named %zu times, it can be read once", pipes);
  }
  if (status != CST_OK) {
    cst__source_release(source);
    return status;
  }
  return finish_open(source, options->format, out, error);
}

cst_status cst__source_open(const char *const *paths, size_t num_paths,
                            const cst_source_options *options, cst_source **out, cst_error *error) {
  cst__paths expanded = {0};
  cst_status status = CST_OK;
  for (size_t i = 0; i < num_paths && status == CST_OK; i++) {
    status = cst__paths_expand(&expanded, paths[i], error);
  }
  if (status == CST_OK) {
    status = open_paths(&expanded, options, out, error);
  }
  cst__paths_reset(&expanded);
  return status;
}

/* Takes the readers over: from here on the source closes them. */
static cst_status take_readers(cst_source *source, const cst_reader *readers, size_t count,
                               cst_error *error) {
  cst_status status = CST_OK;
  for (size_t i = 0; i < count; i++) {
    cst__source_file *file = &source->files[i];
    const cst_reader *reader = &readers[i];
    memcpy(&file->reader, reader, reader->size < sizeof *reader ? reader->size : sizeof *reader);
    file->is_reader = true;
    file->rereadable = file->reader.can_seek;
    file->size = -1;
    cst__mutex_init(&file->lock);
    source->rereadable = source->rereadable && file->rereadable;
    source->num_files++;
  }
  for (size_t i = 0; i < count && status == CST_OK; i++) {
    const char *name = readers[i].name != NULL ? readers[i].name : "<reader>";
    source->files[i].name = cst__new_copy(&source->allocator, name, strlen(name));
    if (source->files[i].name == NULL) {
      status = cst__fail_memory(error, strlen(name));
    } else if (readers[i].read_at == NULL) {
      status = cst__fail(error, CST_INVALID_ARGUMENT, NULL, "reader %zu has no read_at", i);
    }
  }
  return status;
}

cst_status cst__source_open_readers(const cst_reader *readers, size_t num_readers,
                                    const cst_source_options *options, cst_source **out,
                                    cst_error *error) {
  cst_source *source = new_source(options->allocator, num_readers);
  if (source == NULL) {
    for (size_t i = 0; i < num_readers; i++) {
      if (readers[i].close != NULL) {
        readers[i].close(readers[i].ctx);
      }
    }
    return cst__fail_memory(error, sizeof *source);
  }
  source->rereadable = true;
  cst_status status = take_readers(source, readers, num_readers, error);
  if (status == CST_OK) {
    status = set_options(source, options, error);
  }
  if (status != CST_OK) {
    cst__source_release(source);
    return status;
  }
  return finish_open(source, options->format, out, error);
}
