/* Streams that others make, file by file: opened, checked, and brought to the wanted columns. */
#include "source/pass/stream_reader.h"

#include <errno.h>
#include <string.h>

#include "arrow/concat.h"
#include "arrow/dictionary.h"
#include "arrow/ipc/growth.h"
#include "arrow/view.h"
#include "source/input/call.h"

struct cst__stream_reader {
  const cst_source *source;       /* borrowed */
  size_t file;                    /* the one that is read, or to be opened */
  struct ArrowArrayStream stream; /* release NULL: not open */
  struct ArrowSchema schema;      /* of the stream, without dictionaries; release NULL: not open */
  struct ArrowSchema given;       /* of the stream, if it has dictionaries */
  int64_t *places;                /* of the wanted columns in the schema; NULL: all, as they are */
  cst__growth growth;             /* of the file that is read */
  uint64_t consumed;
};

/* The bytes of the file behind a stream; 0: there is none, or its size is not known. */
static uint64_t size_of_stream(const cst__file *file) {
  int64_t size = file->is_stream ? file->opener.file_size : file->size;
  return size > 0 ? (uint64_t)size : 0;
}

/* What the numbers of a stream mean; see <columnstone/format.h>. */
static cst_status stream_status(int code) {
  switch (code) {
    case ENOMEM:
      return CST_NO_MEMORY;
    case EIO:
      return CST_IO;
    case ENOTSUP:
      return CST_UNSUPPORTED;
    case EFBIG:
      return CST_LIMIT;
    case EINTR:
      return CST_INTERRUPTED;
    case ECANCELED: /* the caller's own code, which knows more */
      return CST_CALLBACK;
    default:
      return CST_CORRUPT;
  }
}

static cst_status fail_stream_call(const cst_source *source, size_t file,
                                   struct ArrowArrayStream *stream, int code, cst_error *error) {
  const cst_error *known = cst__program_last_error(stream);
  if (known != NULL) {
    cst__error_copy(error, known);
    cst__error_add_file(error, cst__source_name(source, file));
    return known->code;
  }
  const char *text = stream->get_last_error != NULL ? stream->get_last_error(stream) : NULL;
  cst_status status = stream_status(code);
  const char *hint = status == CST_LIMIT ? "if you trust the file, raise max_inflation" : NULL;
  (void)cst__fail(error, status, hint, "%s: %s", source->inputs->format.name,
                  text != NULL ? text : strerror(code));
  cst__error_add_file(error, cst__source_name(source, file));
  return status;
}

/* The caller's opener, or the stream of one that works once and has been asked for the schema. */
static cst_status open_callers(const cst_source *source, size_t i, struct ArrowArrayStream *out,
                               cst_error *error) {
  cst__file *file = source->parts[i].file;
  cst_stream_request request = {.size = sizeof request,
                                .columns = source->options.values.columns,
                                .num_columns = source->options.values.num_columns,
                                .batch_size = source->options.values.batch_size,
                                .threads = source->options.values.threads};
  cst__input_call call;
  CST__TRY(cst__input_call_enter(&call, file->inputs, &file->lock, error));
  *out = file->held;
  file->held.release = NULL;
  cst_status status = CST_OK;
  if (out->release == NULL) {
    status = file->opener.open(file->opener.ctx, &request, out, error);
  }
  cst__input_call_leave(&call);
  return status;
}

/* A plug-in may hold twice what the file may become: what a page, its values and a batch of them
 * take at a time is not the same. */
static uint64_t most_memory(const cst_source *source, const cst__file *file) {
  uint64_t ratio = cst__growth_ratio(source->options.values.max_inflation);
  uint64_t size = size_of_stream(file);
  if (size > UINT64_MAX / 2 / ratio) {
    return UINT64_MAX;
  }
  return 2 * (size * ratio > CST__FREE_INFLATION ? size * ratio : CST__FREE_INFLATION);
}

static cst_plugin_read_options plugin_options(const cst_source *source, size_t i) {
  static const cst__option_list none;
  const cst__option_list *given = source->inputs->format_options;
  given = given != NULL ? given : &none;
  return (cst_plugin_read_options){
      .size = sizeof(cst_plugin_read_options),
      .columns = source->options.values.columns,
      .num_columns = source->options.values.num_columns,
      .batch_size = source->options.values.batch_size,
      .threads = source->options.values.threads,
      .paths = source->options.paths,
      .num_paths = source->options.num_paths,
      .max_memory = most_memory(source, source->parts[i].file),
      .max_inflation = cst__growth_ratio(source->options.values.max_inflation),
      .options = given->items,
      .num_options = given->count};
}

static cst_status open_plugins(const cst_source *source, size_t i, struct ArrowArrayStream *out,
                               cst_error *error) {
  cst_plugin_read_options options = plugin_options(source, i);
  return source->inputs->format.plugin->open(cst__source_name(source, i), &options, out, error);
}

/* The stream that was asked for the schema, or another one. A program takes its time to begin. */
static cst_status open_programs(const cst_source *source, size_t i, struct ArrowArrayStream *out,
                                cst_error *error) {
  cst__file *file = source->parts[i].file;
  cst_plugin_read_options options = plugin_options(source, i);
  cst__mutex_lock(&file->lock);
  *out = file->held;
  file->held.release = NULL;
  cst__mutex_unlock(&file->lock);
  if (out->release != NULL && cst__program_is_ours(out)) {
    return CST_OK;
  }
  if (out->release != NULL) {
    out->release(out);
  }
  const char *path = file->url != NULL ? file->url : file->name;
  return cst__program_open(source->inputs->format.program, path, &options, &source->allocator, out,
                           error);
}

static void hold_stream(cst__file *file, struct ArrowArrayStream *stream) {
  cst__mutex_lock(&file->lock);
  if (file->held.release == NULL) {
    file->held = *stream;
    stream->release = NULL;
  }
  cst__mutex_unlock(&file->lock);
  if (stream->release != NULL) {
    stream->release(stream);
  }
}

/* The stream's schema without dictionaries; with them it is `given` (release NULL: there are none).
 */
static cst_status plain_schema(struct ArrowSchema *from, struct ArrowSchema *given,
                               struct ArrowSchema *plain, cst_error *error) {
  given->release = NULL;
  CST__TRY(cst__schema_copy(from, plain, error));
  if (!cst__schema_has_dictionary(plain)) {
    return CST_OK;
  }
  cst_status status = cst__schema_copy(from, given, error);
  if (status == CST_OK) {
    status = cst__schema_make_plain(plain, error);
  }
  if (status != CST_OK) {
    plain->release(plain);
    if (given->release != NULL) {
      given->release(given);
    }
  }
  return status;
}

/* The stream of a file and its schema, both with all the columns that it gives. */
static cst_status open_stream(const cst_source *source, size_t i, struct ArrowArrayStream *out,
                              struct ArrowSchema *given, struct ArrowSchema *schema,
                              cst_error *error) {
  cst_error own = CST_ERROR_INIT; /* others' code is never given NULL */
  cst_status status = source->inputs->format.plugin != NULL    ? open_plugins(source, i, out, &own)
                      : source->inputs->format.program != NULL ? open_programs(source, i, out, &own)
                                                               : open_callers(source, i, out, &own);
  if (status != CST_OK) {
    (void)cst__error_take(
        error, source->inputs->format.plugin != NULL ? "plug-in's open" : "stream's open", status,
        &own);
    cst__error_add_file(error, cst__source_name(source, i));
    return status;
  }
  struct ArrowSchema own_schema = {.release = NULL};
  int code = out->get_schema(out, &own_schema);
  if (code != 0) {
    status = fail_stream_call(source, i, out, code, error);
  } else {
    status = plain_schema(&own_schema, given, schema, error);
    if (own_schema.release != NULL) {
      own_schema.release(&own_schema);
    }
    if (status != CST_OK) {
      cst__error_add_file(error, cst__source_name(source, i));
    }
  }
  if (status != CST_OK) {
    out->release(out);
  }
  return status;
}

/* True if the columns have to be picked out of what the stream of the file gives. Plug-ins pick
 * themselves; but "none" many of them take for "all". Programs need not pick. */
static bool must_pick(const cst_source *source, size_t file) {
  bool projects = source->inputs->format.plugin != NULL ? source->options.values.num_columns > 0
                                                        : source->parts[file].file->opener.projects;
  return source->options.values.columns != NULL && !projects;
}

cst_status cst__stream_reader_schema(const cst_source *source, struct ArrowSchema *out,
                                     cst_error *error) {
  cst__file *file = source->parts[0].file;
  struct ArrowArrayStream stream;
  struct ArrowSchema given;
  CST__TRY(open_stream(source, 0, &stream, &given, out, error));
  if (given.release != NULL) {
    given.release(&given);
  }
  if (source->inputs->format.program != NULL || (file->is_stream && file->opener.once)) {
    hold_stream(file, &stream);
  } else {
    stream.release(&stream);
  }
  cst_status status = must_pick(source, 0)
                          ? cst__pick_columns(source->options.values.columns,
                                              source->options.values.num_columns, out, NULL, error)
                          : CST_OK;
  if (status == CST_OK) {
    status = cst__schema_check_types(out, error);
    if (status != CST_OK) {
      cst__error_add_file(error, cst__source_name(source, 0));
    }
  }
  if (status != CST_OK && out->release != NULL) {
    out->release(out);
  }
  return status;
}

cst_status cst__stream_reader_new(const cst_source *source, cst__stream_reader **out,
                                  cst_error *error) {
  cst__stream_reader *reader = cst__new_zero(&source->allocator, sizeof *reader);
  if (reader == NULL) {
    return cst__fail_memory(error, sizeof *reader);
  }
  reader->source = source;
  *out = reader;
  return CST_OK;
}

static void close_stream(cst__stream_reader *reader) {
  if (reader->stream.release != NULL) {
    reader->stream.release(&reader->stream);
    reader->stream.release = NULL;
  }
  for (int i = 0; i < 2; i++) {
    struct ArrowSchema *schema = i == 0 ? &reader->schema : &reader->given;
    if (schema->release != NULL) {
      schema->release(schema);
      schema->release = NULL;
    }
  }
  cst__delete(reader->places);
  reader->places = NULL;
}

void cst__stream_reader_free(cst__stream_reader *reader) {
  if (reader == NULL) {
    return;
  }
  close_stream(reader);
  cst__delete(reader);
}

/* The places of the wanted columns, and their types. */
static cst_status find_stream_columns(cst__stream_reader *reader, struct ArrowSchema *picked,
                                      cst_error *error) {
  const cst_source_options *values = &reader->source->options.values;
  size_t bytes;
  if (cst__mul(values->num_columns + 1, sizeof *reader->places, &bytes)) {
    reader->places = cst__new(&reader->source->allocator, bytes);
  }
  if (reader->places == NULL) {
    return cst__fail_memory(error, values->num_columns * sizeof *reader->places);
  }
  cst_status status = cst__find_columns(values->columns, values->num_columns, &reader->schema,
                                        reader->places, error);
  if (status == CST_NOT_FOUND) { /* the source had it when it was opened */
    status = CST_SCHEMA;
    if (cst__error_wanted(error)) {
      error->code = status;
    }
  }
  CST__TRY(status);
  return cst__pick_fields(reader->places, values->num_columns, picked, error);
}

/* A stream may be another one each time, of a table that somebody writes to meanwhile: what it
 * gives now is compared with what the source has promised, before a value is looked at. */
static cst_status check_stream_columns(cst__stream_reader *reader, cst_error *error) {
  static const char hint[] = "the data changed since the source was opened, or the inputs have "
                             "different columns: open it again, or read them one by one";
  const cst_source *source = reader->source;
  const struct ArrowSchema *expected = &source->found.arrow_schema;
  struct ArrowSchema picked;
  if (!must_pick(source, reader->file)) {
    return cst__schema_check_equal(&reader->schema, expected, hint, error);
  }
  CST__TRY(cst__schema_copy(&reader->schema, &picked, error));
  cst_status status = find_stream_columns(reader, &picked, error);
  if (status == CST_OK) {
    status = cst__schema_check_equal(&picked, expected, hint, error);
  }
  picked.release(&picked);
  return status;
}

static cst_status open_next_stream(cst__stream_reader *reader, cst_error *error) {
  CST__TRY(open_stream(reader->source, reader->file, &reader->stream, &reader->given,
                       &reader->schema, error));
  cst_status status = check_stream_columns(reader, error);
  if (status != CST_OK) {
    cst__error_add_file(error, cst__source_name(reader->source, reader->file));
    close_stream(reader);
  }
  reader->growth = (cst__growth){.max_inflation = reader->source->options.values.max_inflation,
                                 .max_record_size = reader->source->options.values.max_record_size,
                                 .taken = size_of_stream(reader->source->parts[reader->file].file)};
  return status;
}

static void end_stream(cst__stream_reader *reader) {
  int64_t size = reader->source->parts[reader->file].size;
  close_stream(reader);
  reader->consumed += size > 0 ? (uint64_t)size : 0;
  reader->file++;
}

/* Others' data is as good as what it was made from: nothing later checks it. */
static cst_status check_stream_batch(cst__stream_reader *reader, struct ArrowArray *batch,
                                     cst_error *error) {
  cst__arena arena;
  cst__view view;
  cst_status status = CST_OK;
  if (reader->given.release != NULL) {
    status = cst__array_make_plain(&reader->given, &reader->source->allocator, batch, error);
  }
  cst__arena_init(&arena, &reader->source->allocator);
  if (status == CST_OK) {
    status = cst__view_init(&view, &reader->schema, batch, false, &arena, error);
  }
  if (status == CST_OK) {
    status = cst__view_refuse_nulls(&view, "the row", error);
  }
  if (status == CST_OK && reader->growth.taken > 0) {
    status = cst__growth_add(&reader->growth, &view, error);
  }
  cst__arena_reset(&arena);
  if (status == CST_OK && reader->places != NULL) {
    status = cst__pick_arrays(reader->places, reader->source->options.values.num_columns,
                              &reader->source->allocator, batch, error);
  }
  if (status != CST_OK) {
    if (batch->release != NULL) {
      batch->release(batch);
    }
    batch->release = NULL;
    cst__error_add_file(error, cst__source_name(reader->source, reader->file));
  }
  return status;
}

cst_status cst__stream_reader_next(cst__stream_reader *reader, struct ArrowArray *out,
                                   cst_error *error) {
  out->release = NULL;
  while (reader->file < reader->source->num_parts) {
    if (reader->stream.release == NULL) {
      CST__TRY(open_next_stream(reader, error));
    }
    int code = reader->stream.get_next(&reader->stream, out);
    if (code != 0) {
      out->release = NULL;
      return fail_stream_call(reader->source, reader->file, &reader->stream, code, error);
    }
    if (out->release != NULL) {
      return check_stream_batch(reader, out, error);
    }
    end_stream(reader);
  }
  return CST_OK;
}

size_t cst__stream_reader_file(const cst__stream_reader *reader) { return reader->file; }

uint64_t cst__stream_reader_consumed(const cst__stream_reader *reader) { return reader->consumed; }
