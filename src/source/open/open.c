/* Opening a source: names, options, format, and what can be checked before anything is read. */
#include <string.h>
#include <sys/stat.h>

#include "base/interrupt.h"
#include "base/sized.h"
#include "format/plugin/plugin.h"
#include "io/url.h"
#include "schema/schema.h"
#include "source/index/access.h"
#include "source/input/source.h"
#include "source/pass/feed.h"
#include "source/pass/whole.h"

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
  cst__condition_init(&source->found);
  cst__arena_init(&source->strings, allocator);
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
  cst__index_release(file->index);
  cst__delete(file->name);
  cst__delete(file->url);
  cst__mutex_destroy(&file->lock);
  if (file->is_reader && file->reader.close != NULL) {
    file->reader.close(file->reader.ctx);
  }
  if (file->held.release != NULL) {
    file->held.release(&file->held);
  }
  if (file->is_stream && file->opener.close != NULL) {
    file->opener.close(file->opener.ctx);
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
  if (source->parent != NULL) {
    cst__source_free_derived(source);
    return;
  }
  cst__feed_free(source->sample);
  cst__whole_free(source->whole);
  for (size_t i = 0; i < source->num_files; i++) {
    free_file(&source->files[i]);
  }
  cst__delete(source->files);
  cst__access_free(source->access);
  free_columns(source);
  cst__delete(source->tensor_group);
  cst__delete(source->environment);
  cst__delete(source->sequence_column);
  cst__delete(source->raw_column);
  cst__arena_reset(&source->strings);
  if (source->types.release != NULL) {
    source->types.release(&source->types);
  }
  cst__delete(source->sample_error);
  cst__schema_release(source->schema);
  if (source->arrow_schema.release != NULL) {
    source->arrow_schema.release(&source->arrow_schema);
  }
  cst__condition_destroy(&source->found);
  cst__mutex_destroy(&source->lock);
  cst__delete(source);
}

/* ---- inputs ---- */

/* Calls the caller's reader, one call at a time though several passes may read. */
static cst_status read_locked(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                              cst_error *error) {
  cst__source_file *file = ctx;
  cst__input_call call;
  CST__TRY(cst__input_call_enter(&call, file, error));
  cst_status status = file->reader.read_at(file->reader.ctx, offset, buffer, size, got, error);
  cst__input_call_leave(&call, file);
  return status;
}

/* A reader over the caller's for one more use of it. */
static cst_reader lock_reader(cst__source_file *file) {
  return (cst_reader){.size = sizeof(cst_reader),
                      .name = file->name,
                      .read_at = read_locked,
                      .ctx = file,
                      .can_seek = file->reader.can_seek};
}

static bool is_named_zlib(const char *name) {
  size_t size = strlen(name);
  return (size >= 3 && strcmp(name + size - 3, ".zz") == 0) ||
         (size >= 5 && strcmp(name + size - 5, ".zlib") == 0);
}

cst__input_options cst__source_input_options(const cst_source *source, const char *name) {
  return (cst__input_options){.max_inflation = source->max_inflation,
                              .memory_map = source->flags & CST_SOURCE_MEMORY_MAP,
                              .is_text = source->is_text && !is_named_zlib(name),
                              .allocator = &source->allocator};
}

cst_status cst__source_open_input(const cst_source *source, size_t i, cst__input **out,
                                  cst_error *error) {
  cst__source_file *file = cst__source_opened(source, i);
  cst__input_options options = cst__source_input_options(source, file->name);
  if (!file->is_reader) {
    return cst__input_open(file->name, &options, out, error);
  }
  cst_reader reader = lock_reader(file);
  return cst__input_open_reader(&reader, &options, out, error);
}

cst_status cst__source_open_raw(const cst_source *source, size_t i, cst__raw *raw,
                                cst_error *error) {
  cst__source_file *file = cst__source_opened(source, i);
  if (!file->is_reader) {
    return cst__raw_open(raw, file->name, &source->allocator, error);
  }
  cst_reader reader = lock_reader(file);
  return cst__raw_open_reader(raw, &reader, &source->allocator, error);
}

static cst_status fail_without_program(const char *url, cst_error *error) {
  (void)cst__fail(
      error, CST_UNSUPPORTED, "pip install columnstone fsspec, whose program opens URLs",
      "URLs are opened by the plug-in program columnstone-open-url, which is not there");
  cst__error_add_file(error, url);
  return CST_UNSUPPORTED;
}

/* The file is a reader that we make. */
static cst_status set_url(cst_source *source, const char *url, cst_error *error) {
  cst__source_file *file = &source->files[source->num_files - 1];
  const cst__program *program = cst__url_program();
  file->name[cst__url_name_size(url)] = '\0';
  if (program == NULL) {
    return fail_without_program(file->name, error);
  }
  file->url = cst__new_copy(&source->allocator, url, strlen(url));
  if (file->url == NULL) {
    return cst__fail_memory(error, strlen(url));
  }
  CST__TRY(cst__url_reader(program->path, url, &source->allocator, &file->reader, error));
  file->is_reader = true;
  file->rereadable = true;
  file->owner = source;
  return CST_OK;
}

static cst_status set_file(cst_source *source, const char *path, cst_error *error) {
  cst__source_file *file = &source->files[source->num_files];
  struct stat info;
  CST__TRY(cst__interrupted(error));
  file->name = cst__new_copy(&source->allocator, path, strlen(path));
  if (file->name == NULL) {
    return cst__fail_memory(error, strlen(path));
  }
  cst__mutex_init(&file->lock);
  source->num_files++;
  file->size = -1;
  if (cst__is_url(path)) {
    return set_url(source, path, error);
  }
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

/* ---- checks ---- */

/* True if the columns of a whole format are known without reading all of its data. */
static bool knows_columns(const cst_source *source) {
  bool given = source->schema_given || source->types.release != NULL;
  return source->table == NULL || (source->rereadable && (given || source->table->any_size));
}

/* Finds unknown columns, schemas that cannot be decoded, and groups that do not exist. */
static cst_status check_opened(cst_source *source, cst_error *error) {
  if (source->payload == NULL) {
    return knows_columns(source) ? cst__whole_schema(source, &source->arrow_schema, error) : CST_OK;
  }
  if (source->payload->wants_schema && source->schema == NULL) {
    return CST_OK;
  }
  cst__record_decoder *decoder;
  CST__TRY(cst__source_open_decoder(source, CST__WANT_COLUMNS, &decoder, error));
  cst__record_decoder_close(decoder);
  cst_specs *specs = NULL;
  bool has_group = source->tensor_group != NULL && source->tensor_group[0] != '\0';
  if (source->schema != NULL && (has_group || source->environment != NULL)) {
    CST__TRY(cst__source_specs(source, &specs, error));
    cst__specs_release(specs);
  }
  return CST_OK;
}

/* status: of what was done before. */
static cst_status finish_open(cst_source *source, cst_status status, cst_source **out,
                              cst_error *error) {
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
  cst_status status = cst__source_set_options(source, options, error);
  size_t pipes = 0;
  for (size_t i = 0; i < paths->count && status == CST_OK; i++) {
    status = set_file(source, paths->items[i], error);
    pipes += strcmp(paths->items[i], "-") == 0;
  }
  if (status == CST_OK && pipes > 1) {
    status = cst__fail(error, CST_INVALID_ARGUMENT, "name it once",
                       "standard input is named %zu times, it can be read once", pipes);
  }
  if (status == CST_OK) {
    status = cst__source_choose(source, options->format, error);
  }
  return finish_open(source, status, out, error);
}

static cst_status expand(cst__paths *paths, const char *path, cst_error *error) {
  bool is_local = strncmp(path, "file://", 7) == 0 || !cst__is_url(path);
  if (is_local) {
    return cst__paths_expand(paths, path, error);
  }
  const cst__program *program = cst__url_program();
  return program != NULL ? cst__url_expand(program->path, path, paths, error)
                         : fail_without_program(path, error);
}

cst_status cst__source_open(const char *const *paths, size_t num_paths,
                            const cst_source_options *options, cst_source **out, cst_error *error) {
  cst__paths expanded = {0};
  cst_status status = CST_OK;
  for (size_t i = 0; i < num_paths && status == CST_OK; i++) {
    status = cst__interrupted(error);
    if (status == CST_OK) {
      status = expand(&expanded, paths[i], error);
    }
  }
  if (status == CST_OK) {
    status = open_paths(&expanded, options, out, error);
  }
  cst__paths_reset(&expanded);
  return status;
}

void cst__close_readers(const cst_reader *readers, size_t count) {
  for (size_t i = 0; i < count; i++) {
    cst_reader reader = {0};
    cst__sized_copy(&reader, sizeof reader, cst__sized_nth(readers, i));
    if (reader.close != NULL) {
      reader.close(reader.ctx);
    }
  }
}

/* Takes the readers over: from here on the source closes them. */
static cst_status take_readers(cst_source *source, const cst_reader *readers, size_t count,
                               cst_error *error) {
  cst_status status = CST_OK;
  for (size_t i = 0; i < count; i++) {
    cst__source_file *file = &source->files[i];
    cst__sized_copy(&file->reader, sizeof file->reader, cst__sized_nth(readers, i));
    file->is_reader = true;
    file->owner = source;
    file->rereadable = file->reader.can_seek;
    file->size = -1;
    cst__mutex_init(&file->lock);
    source->rereadable = source->rereadable && file->rereadable;
    source->num_files++;
  }
  for (size_t i = 0; i < count && status == CST_OK; i++) {
    const cst_reader *reader = &source->files[i].reader;
    const char *name = reader->name != NULL ? reader->name : "<reader>";
    source->files[i].name = cst__new_copy(&source->allocator, name, strlen(name));
    if (source->files[i].name == NULL) {
      status = cst__fail_memory(error, strlen(name));
    } else if (reader->read_at == NULL) {
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
    cst__close_readers(readers, num_readers);
    return cst__fail_memory(error, sizeof *source);
  }
  source->rereadable = true;
  cst_status status = take_readers(source, readers, num_readers, error);
  if (status == CST_OK) {
    status = cst__source_set_options(source, options, error);
  }
  if (status == CST_OK) {
    status = cst__source_choose(source, options->format, error);
  }
  return finish_open(source, status, out, error);
}

/* ---- streams ---- */

void cst__close_openers(const cst_stream_opener *openers, size_t count) {
  for (size_t i = 0; i < count; i++) {
    cst_stream_opener opener = {0};
    cst__sized_copy(&opener, sizeof opener, cst__sized_nth(openers, i));
    if (opener.close != NULL) {
      opener.close(opener.ctx);
    }
  }
}

static cst_status take_openers(cst_source *source, const cst_stream_opener *openers, size_t count,
                               cst_error *error) {
  cst_status status = CST_OK;
  for (size_t i = 0; i < count; i++) {
    cst__source_file *file = &source->files[i];
    cst__sized_copy(&file->opener, sizeof file->opener, cst__sized_nth(openers, i));
    file->is_stream = true;
    file->owner = source;
    file->rereadable = !file->opener.once;
    file->size = -1;
    cst__mutex_init(&file->lock);
    source->rereadable = source->rereadable && file->rereadable;
    source->num_files++;
  }
  for (size_t i = 0; i < count && status == CST_OK; i++) {
    const cst_stream_opener *opener = &source->files[i].opener;
    const char *name = opener->name != NULL ? opener->name : "<stream>";
    source->files[i].name = cst__new_copy(&source->allocator, name, strlen(name));
    if (source->files[i].name == NULL) {
      status = cst__fail_memory(error, strlen(name));
    } else if (opener->open == NULL) {
      status = cst__fail(error, CST_INVALID_ARGUMENT, NULL, "stream %zu has no open", i);
    }
  }
  return status;
}

cst_status cst__source_open_streams(const cst_stream_opener *openers, size_t num_openers,
                                    const cst_source_options *options, cst_source **out,
                                    cst_error *error) {
  cst_source *source = new_source(options->allocator, num_openers);
  if (source == NULL) {
    cst__close_openers(openers, num_openers);
    return cst__fail_memory(error, sizeof *source);
  }
  source->rereadable = true;
  cst_status status = take_openers(source, openers, num_openers, error);
  if (status == CST_OK) {
    status = cst__source_set_options(source, options, error);
  }
  if (status == CST_OK) {
    status = cst__source_name_format(source, options->format, error);
  }
  return finish_open(source, status, out, error);
}
