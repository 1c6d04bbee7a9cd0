/* A pass over a source as an ArrowArrayStream that keeps the failure for Source.last_error.
 * Consumers call from any thread, with or without the GIL: Python is only entered to tell of
 * dropped records.
 */
#include <errno.h>
#include <stdlib.h>

#include "ext/source/source.h"

typedef struct stream {
  cst_source *source;
  cst_pass *pass;
  cst__py_trace *trace;
  cst__py_gate *gate;
  cst__py_drops *drops; /* may be NULL */
  char *text;           /* of the last failure */
} stream;

/* The errno of a failure, as the stream interface wants it. */
static int stream_fail(stream *s, const cst_error *error) {
  cst__py_trace_set(s->trace, error);
  free(s->text);
  size_t size = cst_error_format(error, NULL, 0);
  s->text = malloc(size + 1);
  if (s->text != NULL) {
    cst_error_format(error, s->text, size + 1);
  }
  switch (error->code) {
    case CST_NO_MEMORY:
      return ENOMEM;
    case CST_IO:
      return EIO;
    case CST_INTERRUPTED: /* whoever reads the stream may make another exception of it */
      cst__py_interrupt_later(s->gate);
      return EINTR;
    default:
      return EINVAL;
  }
}

static int stream_get_schema(struct ArrowArrayStream *self, struct ArrowSchema *out) {
  stream *s = self->private_data;
  cst_error error = CST_ERROR_INIT;
  return cst_source_arrow_schema(s->source, out, &error) == CST_OK ? 0 : stream_fail(s, &error);
}

static int stream_get_next(struct ArrowArrayStream *self, struct ArrowArray *out) {
  stream *s = self->private_data;
  cst_error error = CST_ERROR_INIT;
  out->release = NULL;
  cst__py_drops *before = cst__py_drops_swap(s->drops);
  cst_status status = cst_pass_next(s->pass, out, &error);
  cst__py_drops_swap(before);
  return status == CST_OK ? 0 : stream_fail(s, &error);
}

static const char *get_last_error(struct ArrowArrayStream *self) {
  return ((stream *)self->private_data)->text;
}

static void free_stream(stream *s) {
  cst_pass_free(s->pass);
  cst__py_drops_free(s->drops);
  cst_source_release(s->source);
  cst__py_trace_release(s->trace);
  free(s->text);
  free(s);
}

static void release(struct ArrowArrayStream *self) {
  free_stream(self->private_data);
  self->release = NULL;
}

int cst__py_stream_export(cst_source *source, cst__py_trace *trace, cst__py_gate *gate,
                          cst__py_drops *drops, struct ArrowArrayStream *out, cst_error *error) {
  stream *s = calloc(1, sizeof *s);
  if (s == NULL) {
    cst__py_drops_free(drops);
    error->code = CST_NO_MEMORY;
    return -1;
  }
  s->source = cst_source_retain(source);
  s->trace = cst__py_trace_retain(trace);
  s->gate = gate;
  s->drops = drops;
  if (cst_pass_new(source, &s->pass, error) != CST_OK) {
    free_stream(s);
    return -1;
  }
  *out = (struct ArrowArrayStream){stream_get_schema, stream_get_next, get_last_error, release, s};
  return 0;
}
