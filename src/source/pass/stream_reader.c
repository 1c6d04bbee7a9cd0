/* Streams that others make, file by file: opened, checked, and brought to the wanted columns. */
#include "source/pass/stream_reader.h"

#include <errno.h>
#include <string.h>

#include "arrow/concat.h"
#include "arrow/dictionary.h"
#include "arrow/view.h"
#include "source/input/call.h"

struct cst__stream_reader {
  const cst_source *source;       /* borrowed */
  size_t file;                    /* the one that is read, or to be opened */
  struct ArrowArrayStream stream; /* release NULL: not open */
  struct ArrowSchema schema;      /* of the first file, without dictionaries */
  struct ArrowSchema given;       /* of the stream, if it has dictionaries */
  int64_t *places;                /* of the wanted columns in the schema; NULL: not looked for */
  uint64_t consumed;
};

/* What the numbers of a stream mean; see <columnstone/format.h>. */
static cst_status stream_status(int code) {
  switch (code) {
    case ENOMEM:
      return CST_NO_MEMORY;
    case EIO:
      return CST_IO;
    case ENOTSUP:
      return CST_UNSUPPORTED;
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
  (void)cst__fail(error, status, NULL, "%s: %s", source->inputs->format.name,
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

static cst_plugin_read_options plugin_options(const cst_source *source) {
  return (cst_plugin_read_options){.size = sizeof(cst_plugin_read_options),
                                   .columns = source->options.values.columns,
                                   .num_columns = source->options.values.num_columns,
                                   .batch_size = source->options.values.batch_size,
                                   .threads = source->options.values.threads,
                                   .paths = source->options.paths,
                                   .num_paths = source->options.num_paths};
}

static cst_status open_plugins(const cst_source *source, size_t i, struct ArrowArrayStream *out,
                               cst_error *error) {
  cst_plugin_read_options options = plugin_options(source);
  return source->inputs->format.plugin->open(cst__source_name(source, i), &options, out, error);
}

/* The stream that was asked for the schema, or another one. A program takes its time to begin. */
static cst_status open_programs(const cst_source *source, size_t i, struct ArrowArrayStream *out,
                                cst_error *error) {
  cst__file *file = source->parts[i].file;
  cst_plugin_read_options options = plugin_options(source);
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

void cst__stream_reader_free(cst__stream_reader *reader) {
  if (reader == NULL) {
    return;
  }
  if (reader->stream.release != NULL) {
    reader->stream.release(&reader->stream);
  }
  if (reader->schema.release != NULL) {
    reader->schema.release(&reader->schema);
  }
  if (reader->given.release != NULL) {
    reader->given.release(&reader->given);
  }
  cst__delete(reader->places);
  cst__delete(reader);
}

static cst_status open_next_stream(cst__stream_reader *reader, cst_error *error) {
  const cst_source *source = reader->source;
  struct ArrowSchema schema;
  CST__TRY(open_stream(source, reader->file, &reader->stream, &reader->given, &schema, error));
  if (reader->file == 0) {
    reader->schema = schema;
    return CST_OK;
  }
  bool same = cst__schema_equal(&reader->schema, &schema);
  schema.release(&schema);
  if (same) {
    return CST_OK;
  }
  (void)cst__fail(error, CST_SCHEMA, "read files of different columns one by one",
                  "the columns differ from those of the first file");
  cst__error_add_file(error, cst__source_name(source, reader->file));
  return CST_SCHEMA;
}

static void close_stream(cst__stream_reader *reader) {
  int64_t size = reader->source->parts[reader->file].size;
  reader->stream.release(&reader->stream);
  reader->stream.release = NULL;
  if (reader->given.release != NULL) {
    reader->given.release(&reader->given);
    reader->given.release = NULL;
  }
  reader->consumed += size > 0 ? (uint64_t)size : 0;
  reader->file++;
}

/* All files have the schema of the first: the columns are looked for once. */
static cst_status pick_stream_columns(cst__stream_reader *reader, struct ArrowArray *batch,
                                      cst_error *error) {
  const cst_source *source = reader->source;
  if (reader->places == NULL) {
    size_t bytes;
    if (cst__mul(source->options.values.num_columns + 1, sizeof *reader->places, &bytes)) {
      reader->places = cst__new(&source->allocator, bytes);
    }
    if (reader->places == NULL) {
      return cst__fail_memory(error, source->options.values.num_columns * sizeof *reader->places);
    }
    CST__TRY(cst__find_columns(source->options.values.columns, source->options.values.num_columns,
                               &reader->schema, reader->places, error));
  }
  return cst__pick_arrays(reader->places, source->options.values.num_columns, &source->allocator,
                          batch, error);
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
  cst__arena_reset(&arena);
  if (status == CST_OK && must_pick(reader->source, reader->file)) {
    status = pick_stream_columns(reader, batch, error);
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
    close_stream(reader);
  }
  return CST_OK;
}

size_t cst__stream_reader_file(const cst__stream_reader *reader) { return reader->file; }

uint64_t cst__stream_reader_consumed(const cst__stream_reader *reader) { return reader->consumed; }
