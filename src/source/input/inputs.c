/* Files, readers and streams: taking them over, opening them, closing them. */
#include "source/input/inputs.h"

#include <string.h>
#include <sys/stat.h>

#include "base/interrupt.h"
#include "base/sized.h"
#include "format/plugin/plugin.h"
#include "io/url.h"
#include "source/input/call.h"

/* ---- set-up and tear-down ---- */

cst_status cst__inputs_new(size_t count, const cst__source_calls *calls,
                           const cst_allocator *allocator, cst__inputs **out, cst_error *error) {
  size_t bytes;
  cst__inputs *inputs = cst__new_zero(allocator, sizeof *inputs);
  if (inputs == NULL) {
    return cst__fail_memory(error, sizeof *inputs);
  }
  inputs->allocator = cst__allocator_of(allocator);
  inputs->calls = calls;
  inputs->rereadable = true;
  cst__arena_init(&inputs->arena, allocator);
  cst__refcount_init(&inputs->owners);
  cst__mutex_init(&inputs->lock);
  atomic_init(&inputs->acquired, false);
  atomic_init(&inputs->acquired_all, false);
  if (cst__mul(count, sizeof *inputs->files, &bytes)) {
    inputs->files = cst__new_zero(allocator, bytes);
  }
  if (inputs->files == NULL) {
    cst__inputs_release(inputs);
    return cst__fail_memory(error, count * sizeof *inputs->files);
  }
  *out = inputs;
  return CST_OK;
}

cst__inputs *cst__inputs_retain(cst__inputs *inputs) {
  cst__refcount_up(&inputs->owners);
  return inputs;
}

static void reset_input_file(cst__file *file) {
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

enum { MAX_SPARES = 16 };
static atomic_int spares; /* that wait, in the whole process */

static void close_spare(cst__input *input) {
  cst__input_close(input);
  atomic_fetch_sub(&spares, 1);
}

void cst__inputs_release(cst__inputs *inputs) {
  if (inputs == NULL || !cst__refcount_down(&inputs->owners)) {
    return;
  }
  for (size_t i = 0; i < inputs->num_files; i++) {
    if (inputs->files[i].index != NULL) {
      inputs->calls->free_index(inputs->files[i].index);
    }
    reset_input_file(&inputs->files[i]);
  }
  if (inputs->spare != NULL) {
    close_spare(inputs->spare);
  }
  cst__delete(inputs->files);
  cst__delete(inputs->stream_name);
  cst__arena_reset(&inputs->arena);
  cst__mutex_destroy(&inputs->lock);
  cst__delete(inputs);
}

/* ---- paths ---- */

cst_status cst__inputs_find_program(const char *url, const char **path, cst_error *error) {
  const cst__program *program = cst__url_program();
  if (program != NULL) {
    *path = program->path;
    return CST_OK;
  }
  (void)cst__fail(error, CST_UNSUPPORTED, "pip install columnstone fsspec",
                  "cannot open URLs: plug-in program columnstone-open-url not found");
  cst__error_add_file(error, url);
  return CST_UNSUPPORTED;
}

/* The file is a reader that we make. */
static cst_status set_file_url(cst__file *file, const char *url, uint64_t max_inflation,
                               cst_error *error) {
  const cst_allocator *allocator = &file->inputs->allocator;
  const char *program;
  cst_url_make_printable(file->name);
  CST__TRY(cst__inputs_find_program(file->name, &program, error));
  file->url = cst__new_copy(allocator, url, strlen(url));
  if (file->url == NULL) {
    return cst__fail_memory(error, strlen(url));
  }
  CST__TRY(cst__url_reader(program, url, max_inflation, allocator, &file->reader, error));
  file->is_reader = true;
  file->rereadable = true;
  return CST_OK;
}

/* A file that is neither a reader nor a stream yet. */
static cst__file *add_input_file(cst__inputs *inputs) {
  cst__file *file = &inputs->files[inputs->num_files++];
  file->inputs = inputs;
  file->size = -1;
  cst__mutex_init(&file->lock);
  atomic_init(&file->warned, false);
  return file;
}

static cst_status add_input_path(cst__inputs *inputs, const char *path, uint64_t max_inflation,
                                 cst_error *error) {
  struct stat info;
  CST__TRY(cst__interrupted(error));
  cst__file *file = add_input_file(inputs);
  file->name = cst__new_copy(&inputs->allocator, path, strlen(path));
  if (file->name == NULL) {
    return cst__fail_memory(error, strlen(path));
  }
  if (cst__is_url(path)) {
    return set_file_url(file, path, max_inflation, error);
  }
  if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
    file->size = (int64_t)info.st_size;
    file->regular = true;
    file->rereadable = true;
  }
  inputs->rereadable = inputs->rereadable && file->rereadable;
  return CST_OK;
}

cst_status cst__inputs_add_paths(cst__inputs *inputs, const cst__paths *paths,
                                 uint64_t max_inflation, cst_error *error) {
  size_t pipes = 0;
  for (size_t i = 0; i < paths->count; i++) {
    CST__TRY(add_input_path(inputs, paths->items[i], max_inflation, error));
    pipes += strcmp(paths->items[i], "-") == 0;
  }
  return pipes < 2 ? CST_OK
                   : cst__fail(error, CST_INVALID_ARGUMENT, "name it once",
                               "standard input is named %zu times, it can be read once", pipes);
}

/* ---- readers and streams ---- */

void cst__close_readers(const cst_reader *readers, size_t count) {
  for (size_t i = 0; i < count; i++) {
    cst_reader reader = {0};
    cst__sized_copy(&reader, sizeof reader, cst__sized_nth(readers, i));
    if (reader.close != NULL) {
      reader.close(reader.ctx);
    }
  }
}

void cst__close_openers(const cst_stream_opener *openers, size_t count) {
  for (size_t i = 0; i < count; i++) {
    cst_stream_opener opener = {0};
    cst__sized_copy(&opener, sizeof opener, cst__sized_nth(openers, i));
    if (opener.close != NULL) {
      opener.close(opener.ctx);
    }
  }
}

/* `name` may be NULL: then it is `usual`. */
static cst_status name_input_file(cst__file *file, const char *name, const char *usual,
                                  cst_error *error) {
  name = name != NULL ? name : usual;
  file->name = cst__new_copy(&file->inputs->allocator, name, strlen(name));
  return file->name != NULL ? CST_OK : cst__fail_memory(error, strlen(name));
}

cst_status cst__inputs_add_readers(cst__inputs *inputs, const cst_reader *readers, size_t count,
                                   cst_error *error) {
  for (size_t i = 0; i < count; i++) {
    cst__file *file = add_input_file(inputs);
    cst__sized_copy(&file->reader, sizeof file->reader, cst__sized_nth(readers, i));
    file->is_reader = true;
    file->rereadable = file->reader.can_seek;
    inputs->rereadable = inputs->rereadable && file->rereadable;
  }
  for (size_t i = 0; i < count; i++) {
    cst__file *file = &inputs->files[i];
    CST__TRY(name_input_file(file, file->reader.name, "<reader>", error));
    if (file->reader.read_at == NULL) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "reader %zu has no read_at", i);
    }
  }
  return CST_OK;
}

cst_status cst__inputs_add_openers(cst__inputs *inputs, const cst_stream_opener *openers,
                                   size_t count, cst_error *error) {
  for (size_t i = 0; i < count; i++) {
    cst__file *file = add_input_file(inputs);
    cst__sized_copy(&file->opener, sizeof file->opener, cst__sized_nth(openers, i));
    file->is_stream = true;
    file->rereadable = !file->opener.once;
    inputs->rereadable = inputs->rereadable && file->rereadable;
  }
  for (size_t i = 0; i < count; i++) {
    cst__file *file = &inputs->files[i];
    CST__TRY(name_input_file(file, file->opener.name, "<stream>", error));
    if (file->opener.open == NULL) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "stream %zu has no open", i);
    }
  }
  return CST_OK;
}

/* ---- reading ---- */

/* Calls the caller's reader, one call at a time though several passes may read. */
static cst_status read_locked(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                              cst_error *error) {
  cst__file *file = ctx;
  cst__input_call call;
  CST__TRY(cst__input_call_enter(&call, file->inputs, &file->lock, error));
  cst_status status = file->reader.read_at(file->reader.ctx, offset, buffer, size, got, error);
  cst__input_call_leave(&call);
  return status;
}

/* A reader over the caller's for one more use of it. */
static cst_reader lock_reader(cst__file *file) {
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

cst__input_options cst__inputs_read_options(const cst__inputs *inputs,
                                            const cst__reading_options *options, const char *name) {
  return (cst__input_options){.max_inflation = options->values.max_inflation,
                              .memory_map = options->values.flags & CST_SOURCE_MEMORY_MAP,
                              .is_plain = cst__container_is_proven,
                              .is_text = inputs->is_text && !is_named_zlib(name),
                              .allocator = &inputs->allocator};
}

bool cst__inputs_divide(const cst__inputs *inputs) {
  const cst__format *format = &inputs->format;
  return format->payload != NULL ? inputs->container->find_begin != NULL
                                 : format->table != NULL && format->table->find_begin != NULL;
}

/* What is spare of the file, or NULL. */
static cst__input *take_spare(cst__file *file) {
  cst__inputs *inputs = file->inputs;
  cst__mutex_lock(&inputs->lock);
  cst__input *input = inputs->spare_of == file ? inputs->spare : NULL;
  if (input != NULL) {
    inputs->spare = NULL;
    inputs->spare_of = NULL;
    atomic_fetch_sub(&spares, 1);
  }
  cst__mutex_unlock(&inputs->lock);
  return input;
}

/* True if the input can be read from its start as if it were just opened. */
static bool can_be_spare(const cst__file *file, cst__input *input) {
  size_t mapped;
  return file->regular && cst__input_compression(input, NULL) == CST__PLAIN &&
         cst__input_map(input, &mapped) == NULL && cst__input_seek(input, 0);
}

void cst__file_give_back(cst__file *file, cst__input *input) {
  cst__inputs *inputs = file->inputs;
  if (!can_be_spare(file, input)) {
    cst__input_close(input);
    return;
  }
  if (atomic_fetch_add(&spares, 1) >= MAX_SPARES) {
    close_spare(input);
    return;
  }
  cst__mutex_lock(&inputs->lock);
  cst__input *old = inputs->spare;
  inputs->spare = input;
  inputs->spare_of = file;
  cst__mutex_unlock(&inputs->lock);
  if (old != NULL) {
    close_spare(old);
  }
}

cst_status cst__file_open(cst__file *file, const cst__input_options *options, cst__input **out,
                          cst_error *error) {
  cst__input *spare = options->memory_map ? NULL : take_spare(file);
  if (spare != NULL) {
    *out = spare;
    return CST_OK;
  }
  if (!file->is_reader) {
    return cst__input_open(file->name, options, out, error);
  }
  cst_reader reader = lock_reader(file);
  return cst__input_open_reader(&reader, options, out, error);
}

cst_status cst__file_open_raw(cst__file *file, cst__raw *raw, cst_error *error) {
  const cst_allocator *allocator = &file->inputs->allocator;
  if (!file->is_reader) {
    return cst__raw_open(raw, file->name, allocator, error);
  }
  cst_reader reader = lock_reader(file);
  return cst__raw_open_reader(raw, &reader, allocator, error);
}
