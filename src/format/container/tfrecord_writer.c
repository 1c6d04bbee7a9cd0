/* Records that the caller makes, into a file of them. */
#include <columnstone/sink.h>
#include <string.h>

#include "base/arguments.h"
#include "format/container/container.h"
#include "io/output.h"

struct cst_tfrecord_writer {
  cst_allocator allocator;
  const cst__container *container;
  cst__output *output;
  uint64_t written; /* records */
};

/* Takes the output over, also on failure. */
static cst_status new_writer(cst__output *output, const cst__container *container,
                             const cst_allocator *allocator, cst_tfrecord_writer **out,
                             cst_error *error) {
  cst_tfrecord_writer *writer = cst__new(allocator, sizeof *writer);
  if (writer == NULL) {
    cst__output_free(output);
    return cst__fail_memory(error, sizeof *writer);
  }
  *writer = (cst_tfrecord_writer){cst__allocator_of(allocator), container, output, 0};
  *out = writer;
  return CST_OK;
}

static cst_status read_writer_options(const cst_sink_options *options, cst_sink_options *own,
                                      const cst__container **container, cst_error *error) {
  CST__TRY(cst__read_options(own, sizeof *own, options, error));
  CST__TRY(cst__check_allocator(own->allocator, error));
  *container = cst__container_get(0);
  return own->container != NULL ? cst__container_find(own->container, container, error) : CST_OK;
}

cst_status cst_tfrecord_writer_open(const char *path, const cst_sink_options *options,
                                    cst_tfrecord_writer **out, cst_error *error) {
  CST__CLEAR(out);
  if (path == NULL || out == NULL) {
    return cst__missing(path == NULL ? "path" : "out", error);
  }
  cst_sink_options own = CST_SINK_OPTIONS_INIT;
  const cst__container *container;
  CST__TRY(read_writer_options(options, &own, &container, error));
  cst__output *output;
  CST__TRY(cst__output_open(path, own.compression, own.level, own.allocator, &output, error));
  return new_writer(output, container, own.allocator, out, error);
}

cst_status cst_tfrecord_writer_open_writer(const cst_writer *writer,
                                           const cst_sink_options *options,
                                           cst_tfrecord_writer **out, cst_error *error) {
  CST__CLEAR(out);
  if (writer == NULL) {
    return cst__missing("writer", error);
  }
  cst_sink_options own = CST_SINK_OPTIONS_INIT;
  cst_writer taken = {0};
  const cst__container *container = NULL;
  cst_status status = cst__read_sized(&taken, sizeof taken, writer, "writer", error);
  if (status == CST_OK) {
    status = out == NULL ? cst__missing("out", error)
                         : read_writer_options(options, &own, &container, error);
  }
  if (status != CST_OK) {
    cst__writer_refuse(&taken);
    return status;
  }
  cst__output *output;
  CST__TRY(
      cst__output_open_writer(&taken, own.compression, own.level, own.allocator, &output, error));
  return new_writer(output, container, own.allocator, out, error);
}

cst_status cst_tfrecord_writer_write(cst_tfrecord_writer *writer, const void *record, size_t size,
                                     cst_error *error) {
  if (writer == NULL || (record == NULL && size > 0)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "writer and record must not be NULL");
  }
  writer->written++;
  CST__TRY(cst__container_check_count(writer->container, writer->written, false, error));
  return writer->container->write(writer->output, record, size, error);
}

cst_status cst_tfrecord_writer_write_arrow(cst_tfrecord_writer *writer,
                                           const struct ArrowSchema *schema,
                                           const struct ArrowArray *records, cst_error *error) {
  if (writer == NULL || schema == NULL || records == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "writer, schema and records must not be NULL");
  }
  writer->written += records->length > 0 ? (uint64_t)records->length : 0;
  CST__TRY(cst__container_check_count(writer->container, writer->written, false, error));
  return cst__container_write_arrow(writer->container, writer->output, schema, records,
                                    &writer->allocator, error);
}

cst_status cst_tfrecord_writer_finish(cst_tfrecord_writer *writer, cst_error *error) {
  if (writer == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "writer must not be NULL");
  }
  CST__TRY(cst__container_check_count(writer->container, writer->written, true, error));
  return cst__output_finish(writer->output, error);
}

void cst_tfrecord_writer_free(cst_tfrecord_writer *writer) {
  if (writer != NULL) {
    cst__output_free(writer->output);
    cst__delete(writer);
  }
}
