/* Whole formats: the streams of a plug-in, file by file. */
#include "source/foreign.h"

#include <errno.h>
#include <string.h>

#include "arrow/view.h"

struct cst__foreign {
  const cst_source *source;       /* borrowed */
  size_t file;                    /* the one that is read, or to be opened */
  struct ArrowArrayStream stream; /* release NULL: not open */
  struct ArrowSchema schema;      /* of the first file */
  uint64_t consumed;
};

/* What the numbers of a plug-in's stream mean; see <columnstone/format.h>. */
static cst_status stream_status(int code) {
  switch (code) {
    case ENOMEM:
      return CST_NO_MEMORY;
    case EIO:
      return CST_IO;
    case ENOTSUP:
      return CST_UNSUPPORTED;
    default:
      return CST_CORRUPT;
  }
}

static cst_status fail_stream(const cst_source *source, size_t file,
                              struct ArrowArrayStream *stream, int code, cst_error *error) {
  const char *text = stream->get_last_error(stream);
  cst_status status = stream_status(code);
  (void)cst__fail(error, status, NULL, "%s: %s", source->plugin->name,
                  text != NULL ? text : strerror(code));
  cst__error_add_file(error, source->files[file].name);
  return status;
}

static cst_status open_stream(const cst_source *source, size_t file, struct ArrowArrayStream *out,
                              struct ArrowSchema *schema, cst_error *error) {
  cst_plugin_read_options options = {.size = sizeof options,
                                     .columns = (const char *const *)source->columns,
                                     .num_columns = source->num_columns,
                                     .batch_size = source->batch_size,
                                     .threads = source->threads};
  cst_error own = CST_ERROR_INIT; /* a plug-in is never given NULL */
  cst_status status = source->plugin->open(source->files[file].name, &options, out, &own);
  if (status != CST_OK) {
    cst__error_add_file(&own, source->files[file].name);
    cst__error_copy(error, &own);
    return status;
  }
  int code = out->get_schema(out, schema);
  if (code != 0) {
    status = fail_stream(source, file, out, code, error);
    out->release(out);
  }
  return status;
}

cst_status cst__foreign_schema(const cst_source *source, struct ArrowSchema *out,
                               cst_error *error) {
  struct ArrowArrayStream stream;
  if (source->num_files == 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "give at least one file", "there are no files");
  }
  CST__TRY(open_stream(source, 0, &stream, out, error));
  stream.release(&stream);
  return CST_OK;
}

cst_status cst__foreign_new(const cst_source *source, cst__foreign **out, cst_error *error) {
  cst__foreign *foreign = cst__new_zero(&source->allocator, sizeof *foreign);
  if (foreign == NULL) {
    return cst__fail_memory(error, sizeof *foreign);
  }
  foreign->source = source;
  *out = foreign;
  return CST_OK;
}

void cst__foreign_free(cst__foreign *foreign) {
  if (foreign == NULL) {
    return;
  }
  if (foreign->stream.release != NULL) {
    foreign->stream.release(&foreign->stream);
  }
  if (foreign->schema.release != NULL) {
    foreign->schema.release(&foreign->schema);
  }
  cst__delete(foreign);
}

static cst_status open_next(cst__foreign *foreign, cst_error *error) {
  const cst_source *source = foreign->source;
  struct ArrowSchema schema;
  CST__TRY(open_stream(source, foreign->file, &foreign->stream, &schema, error));
  if (foreign->file == 0) {
    foreign->schema = schema;
    return CST_OK;
  }
  bool same = cst__schema_equal(&foreign->schema, &schema);
  schema.release(&schema);
  if (same) {
    return CST_OK;
  }
  (void)cst__fail(error, CST_SCHEMA, "read files of different columns one by one",
                  "the columns differ from those of the first file");
  cst__error_add_file(error, source->files[foreign->file].name);
  return CST_SCHEMA;
}

static void close_file(cst__foreign *foreign) {
  int64_t size = foreign->source->files[foreign->file].size;
  foreign->stream.release(&foreign->stream);
  foreign->stream.release = NULL;
  foreign->consumed += size > 0 ? (uint64_t)size : 0;
  foreign->file++;
}

/* A plug-in's data is as good as the file that it was made from: nobody behind here checks it. */
static cst_status check_batch(const cst__foreign *foreign, struct ArrowArray *batch,
                              cst_error *error) {
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, &foreign->source->allocator);
  cst_status status = cst__view_init(&view, &foreign->schema, batch, false, &arena, error);
  cst__arena_reset(&arena);
  if (status != CST_OK) {
    batch->release(batch);
    batch->release = NULL;
    cst__error_add_file(error, foreign->source->files[foreign->file].name);
  }
  return status;
}

cst_status cst__foreign_next(cst__foreign *foreign, struct ArrowArray *out, cst_error *error) {
  out->release = NULL;
  while (foreign->file < foreign->source->num_files) {
    if (foreign->stream.release == NULL) {
      CST__TRY(open_next(foreign, error));
    }
    int code = foreign->stream.get_next(&foreign->stream, out);
    if (code != 0) {
      out->release = NULL;
      return fail_stream(foreign->source, foreign->file, &foreign->stream, code, error);
    }
    if (out->release != NULL) {
      return check_batch(foreign, out, error);
    }
    close_file(foreign);
  }
  return CST_OK;
}

uint64_t cst__foreign_consumed(const cst__foreign *foreign) { return foreign->consumed; }
