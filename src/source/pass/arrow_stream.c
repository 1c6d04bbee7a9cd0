/* Passes as Arrow C streams. */
#include <columnstone/source.h>

#include "base/arguments.h"
#include "source/pass/arrow_schema.h"
#include "source/pass/pass.h"

typedef struct stream {
  cst_pass *pass;
  cst_source *source;
  bool failed;
  char text[4096 + 512]; /* of the last error */
} stream;

static int finish_stream_call(stream *s, cst_status status, const cst_error *error) {
  s->failed = status != CST_OK;
  if (s->failed) {
    (void)cst_error_format(error, s->text, sizeof s->text);
  }
  return cst__error_number(status);
}

static int stream_schema(struct ArrowArrayStream *out, struct ArrowSchema *schema) {
  stream *s = out->private_data;
  cst_error error = CST_ERROR_INIT;
  return finish_stream_call(s, cst_source_arrow_schema(s->source, schema, &error), &error);
}

static int stream_next(struct ArrowArrayStream *out, struct ArrowArray *batch) {
  stream *s = out->private_data;
  cst_error error = CST_ERROR_INIT;
  return finish_stream_call(s, cst_pass_next(s->pass, batch, &error), &error);
}

static const char *stream_last_error(struct ArrowArrayStream *out) {
  stream *s = out->private_data;
  return s->failed ? s->text : NULL;
}

static void pass_stream_release(struct ArrowArrayStream *out) {
  stream *s = out->private_data;
  cst_pass_free(s->pass);
  cst_source_release(s->source);
  cst__delete(s);
  out->release = NULL;
}

cst_status cst_source_stream(cst_source *source, struct ArrowArrayStream *out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(source, "source", out, error));
  stream *s = cst__new_zero(&source->allocator, sizeof *s);
  if (s == NULL) {
    return cst__fail_memory(error, sizeof *s);
  }
  cst_status status = cst_pass_new(source, &s->pass, error);
  if (status != CST_OK) {
    cst__delete(s);
    return status;
  }
  s->source = cst_source_retain(source);
  *out = (struct ArrowArrayStream){.get_schema = stream_schema,
                                   .get_next = stream_next,
                                   .get_last_error = stream_last_error,
                                   .release = pass_stream_release,
                                   .private_data = s};
  return CST_OK;
}
