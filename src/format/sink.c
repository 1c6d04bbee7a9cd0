/* An output of any format: finds the format, and keeps the state, the rows and the places of
 * errors. */
#include "format/sink.h"

#include <string.h>

#include "arrow/view.h"
#include "base/alloc.h"
#include "format/registry.h"

typedef enum sink_state { SINK_OPEN, SINK_FAILED, SINK_FINISHED } sink_state;

struct cst_sink {
  cst_allocator allocator;
  char *path;
  struct ArrowSchema schema;
  const cst__sink_format *format;
  void *sink; /* the format's */
  int64_t rows;
  sink_state state;
};

/* The name of the output for errors. */
static const char *name_of(const char *path) {
  return strcmp(path, "-") == 0 ? "standard output" : path;
}

/* ---- the format ---- */

static cst_status find_format(const char *path, const char *name, cst__format *out,
                              cst_error *error) {
  if (name != NULL) {
    CST__TRY(cst__format_find(name, out, error));
  } else if (strcmp(path, "-") == 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "name one, such as json or arrows",
                     "standard output has no name that tells the format");
  } else {
    CST__TRY(cst__format_find_by_path(path, out, error));
  }
  if (out->sink == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "choose another one",
                     "the format %s can only be read", out->name);
  }
  return CST_OK;
}

/* True for the batches of a source of the format raw: one plain binary column of the name `record`.
 */
static bool is_raw(const struct ArrowSchema *schema) {
  if (schema->n_children != 1 || schema->children[0]->name == NULL ||
      strcmp(schema->children[0]->name, "record") != 0) {
    return false;
  }
  const char *format = schema->children[0]->format;
  return strcmp(format, "z") == 0 || strcmp(format, "Z") == 0 || strcmp(format, "vz") == 0;
}

/* ---- opening ---- */

static cst_status open_format(cst_sink *sink, const cst_sink_options *options, cst_error *error) {
  cst__format format;
  CST__TRY(find_format(sink->path, options->format, &format, error));
  if (options->format == NULL && format.sink == &cst__sink_example && is_raw(&sink->schema)) {
    CST__TRY(cst__format_find("raw", &format, error));
  }
  cst__sink_target open = {
      .path = sink->path, .schema = &sink->schema, .options = options, .plugin = format.plugin};
  sink->format = format.sink;
  cst_status status = format.sink->open(&open, &sink->sink, error);
  if (status != CST_OK) {
    sink->sink = NULL;
    cst__error_add_file(error, name_of(sink->path));
  }
  return status;
}

cst_status cst__sink_open(const char *path, const struct ArrowSchema *schema,
                          const cst_sink_options *options, cst_sink **out, cst_error *error) {
  cst_allocator allocator = cst__allocator_of(options->allocator);
  cst_sink *sink = cst__new_zero(&allocator, sizeof *sink);
  if (sink == NULL) {
    return cst__fail_memory(error, sizeof *sink);
  }
  sink->allocator = allocator;
  sink->path = cst__new_copy(&allocator, path, strlen(path));
  cst_status status = sink->path == NULL ? cst__fail_memory(error, strlen(path))
                                         : cst__schema_copy(schema, &sink->schema, error);
  if (status == CST_OK) {
    status = open_format(sink, options, error);
  }
  if (status != CST_OK) {
    cst__sink_free(sink);
    return status;
  }
  *out = sink;
  return CST_OK;
}

cst_status cst__sink_check(const char *path, const cst_sink_options *options, cst_error *error) {
  cst__format format;
  return find_format(path, options->format, &format, error);
}

/* ---- writing ---- */

static cst_status check_open(const cst_sink *sink, cst_error *error) {
  if (sink->state == SINK_OPEN) {
    return CST_OK;
  }
  return cst__fail(error, CST_STATE, NULL, "the output %s",
                   sink->state == SINK_FINISHED ? "is finished" : "has failed before");
}

/* A row counts from the start of the output, whose name the error gets where it has none. */
static cst_status failed(cst_sink *sink, cst_status status, cst_error *error) {
  sink->state = SINK_FAILED;
  if (error != NULL && error->record >= 0) {
    error->record += sink->rows;
  }
  cst__error_add_file(error, name_of(sink->path));
  return status;
}

cst_status cst__sink_write(cst_sink *sink, const struct ArrowArray *batch, cst_error *error) {
  CST__TRY(check_open(sink, error));
  cst_status status = sink->format->write(sink->sink, batch, error);
  if (status != CST_OK) {
    return failed(sink, status, error);
  }
  sink->rows += batch->length;
  return CST_OK;
}

cst_status cst__sink_finish(cst_sink *sink, cst_error *error) {
  CST__TRY(check_open(sink, error));
  cst_status status = sink->format->finish(sink->sink, error);
  if (status != CST_OK) {
    return failed(sink, status, error);
  }
  sink->state = SINK_FINISHED;
  return CST_OK;
}

int64_t cst__sink_rows(const cst_sink *sink) { return sink->rows; }

void cst__sink_free(cst_sink *sink) {
  if (sink == NULL) {
    return;
  }
  if (sink->sink != NULL) {
    sink->format->free(sink->sink);
  }
  if (sink->schema.release != NULL) {
    sink->schema.release(&sink->schema);
  }
  cst__delete(sink->path);
  cst__delete(sink);
}
