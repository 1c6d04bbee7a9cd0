/* Record batches as Arrow IPC, by nanoarrow's writer. */
#include "arrow/ipc/ipc.h"

#include <errno.h>
#include <nanoarrow/nanoarrow.h>
#include <nanoarrow/nanoarrow_ipc.h>
#include <string.h>

#include "arrow/concat.h"
#include "arrow/ipc/unview.h"
#include "arrow/owned.h"
#include "arrow/view.h"

struct cst__ipc_writer {
  cst_allocator allocator;
  const struct ArrowSchema *schema; /* borrowed */
  struct ArrowSchema written;       /* without views */
  bool has_views;
  bool is_file;
  cst__ipc_write_bytes write;
  void *ctx;
  struct ArrowIpcWriter ipc; /* private_data NULL: not there yet */
  struct ArrowArrayView view;
  cst__arena arena;
  cst_status write_status; /* of the callback's first failure */
  cst_error write_error;
};

/* ---- nanoarrow's output stream over the callback ---- */

static int stream_write(struct ArrowIpcOutputStream *stream, const void *data, int64_t size,
                        int64_t *written, struct ArrowError *error) {
  cst__ipc_writer *writer = stream->private_data;
  (void)error;
  writer->write_status = writer->write(writer->ctx, data, (size_t)size, &writer->write_error);
  *written = size;
  return writer->write_status == CST_OK ? NANOARROW_OK : EIO;
}

static void ipc_stream_release(struct ArrowIpcOutputStream *stream) { stream->release = NULL; }

/* ---- failures ---- */

static cst_status ipc_writer_fail(cst__ipc_writer *writer, int code, const struct ArrowError *why,
                                  cst_error *error) {
  if (writer->write_status != CST_OK) {
    cst__error_copy(error, &writer->write_error);
    return writer->write_status;
  }
  if (code == ENOMEM) {
    return cst__fail_memory(error, 0);
  }
  return cst__fail(error, CST_UNSUPPORTED, "leave the column out, or write Parquet",
                   "cannot write as Arrow IPC: %s", why->message);
}

/* Dictionaries, that nanoarrow's writer does not know, are found before it is asked. (It does not
 * know views either, which are written out.) */
static cst_status ipc_writer_check_dictionaries(const struct ArrowSchema *schema,
                                                cst_error *error) {
  cst_status status = CST_OK;
  if (schema->dictionary != NULL) {
    status = cst__fail(error, CST_UNSUPPORTED, "leave the column out, or write Parquet",
                       "cannot write a dictionary as Arrow IPC");
  }
  for (int64_t i = 0; i < schema->n_children && status == CST_OK; i++) {
    status = ipc_writer_check_dictionaries(schema->children[i], error);
  }
  if (status != CST_OK && schema->name != NULL && schema->name[0] != '\0') {
    cst__error_add_path(error, schema->name, strlen(schema->name));
  }
  return status;
}

/* ---- the writer ---- */

static int ipc_writer_start(cst__ipc_writer *writer, struct ArrowError *why) {
  struct ArrowIpcOutputStream stream = {
      .write = stream_write, .release = ipc_stream_release, .private_data = writer};
  NANOARROW_RETURN_NOT_OK(ArrowArrayViewInitFromSchema(&writer->view, &writer->written, why));
  NANOARROW_RETURN_NOT_OK(ArrowIpcWriterInit(&writer->ipc, &stream));
  if (writer->is_file) {
    NANOARROW_RETURN_NOT_OK(ArrowIpcWriterStartFile(&writer->ipc, why));
  }
  return ArrowIpcWriterWriteSchema(&writer->ipc, &writer->written, why);
}

static cst_status ipc_writer_take_schema(cst__ipc_writer *writer, cst_error *error) {
  writer->has_views = cst__schema_has_views(writer->schema);
  CST__TRY(cst__schema_copy(writer->schema, &writer->written, error));
  return cst__schema_drop_views(&writer->written, error);
}

cst_status cst__ipc_writer_new(const struct ArrowSchema *schema, bool is_file,
                               cst__ipc_write_bytes write, void *ctx,
                               const cst_allocator *allocator, cst__ipc_writer **out,
                               cst_error *error) {
  CST__TRY(cst__schema_check_types(schema, error));
  CST__TRY(ipc_writer_check_dictionaries(schema, error));
  cst_allocator own = cst__allocator_of(allocator);
  cst__ipc_writer *writer = cst__new_zero(&own, sizeof *writer);
  if (writer == NULL) {
    return cst__fail_memory(error, sizeof *writer);
  }
  writer->allocator = own;
  writer->schema = schema;
  writer->is_file = is_file;
  writer->write = write;
  writer->ctx = ctx;
  writer->write_error = (cst_error)CST_ERROR_INIT;
  cst__arena_init(&writer->arena, &writer->allocator);
  ArrowArrayViewInitFromType(&writer->view, NANOARROW_TYPE_UNINITIALIZED);

  cst_status copied = ipc_writer_take_schema(writer, error);
  if (copied != CST_OK) {
    cst__ipc_writer_free(writer);
    return copied;
  }
  struct ArrowError why = {""};
  int code = ipc_writer_start(writer, &why);
  if (code != NANOARROW_OK) {
    cst_status status = ipc_writer_fail(writer, code, &why, error);
    cst__ipc_writer_free(writer);
    return status;
  }
  *out = writer;
  return CST_OK;
}

static cst_status write_compact(cst__ipc_writer *writer, const struct ArrowArray *batch,
                                cst_error *error) {
  struct ArrowError why = {""};
  int code = ArrowArrayViewSetArray(&writer->view, batch, &why);
  if (code == NANOARROW_OK) {
    code = ArrowIpcWriterWriteArrayView(&writer->ipc, &writer->view, &why);
  }
  return code == NANOARROW_OK ? CST_OK : ipc_writer_fail(writer, code, &why, error);
}

/* nanoarrow writes the buffers of a slice as if it began at slot 0. */
static cst_status write_slice(cst__ipc_writer *writer, const cst__view *view, cst_error *error) {
  struct ArrowArray copy;
  cst__piece piece = {view, 0, view->length};
  CST__TRY(cst__concat(writer->schema, &piece, 1, &writer->allocator, &copy, error));
  cst_status status = cst__array_drop_views(writer->schema, &writer->allocator, &copy, error);
  if (status == CST_OK) {
    status = write_compact(writer, &copy, error);
  }
  copy.release(&copy);
  return status;
}

/* How many slots the children of an array need, of which the first slot is used; -1: any number. */
static int64_t slots_below(const cst__view *view, const struct ArrowArray *array) {
  switch (view->layout) {
    case CST__LAYOUT_STRUCT:
      return array->length;
    case CST__LAYOUT_FIXED_LIST:
      return array->length * view->fixed_size;
    case CST__LAYOUT_LIST:
      return array->length == 0 ? 0
                                : cst__view_entry(view->offsets, view->offset_width, array->length);
    default:
      return -1;
  }
}

/* True if nothing, at any depth, begins after its first slot or goes on after the last one that
 * is needed: nanoarrow would write it all, and readers may refuse it. Nulls are counted, too: for
 * those of a slice, which are not, nanoarrow would write -1. */
static bool is_compact(const cst__view *view, const struct ArrowArray *array) {
  int64_t slots = slots_below(view, array);
  bool compact = array->offset == 0 && array->null_count >= 0;
  for (int64_t i = 0; i < view->num_children && compact; i++) {
    const struct ArrowArray *child = array->children[i];
    compact = (slots < 0 || child->length == slots) && is_compact(&view->children[i], child);
  }
  return compact;
}

cst_status cst__ipc_write_batch(cst__ipc_writer *writer, const struct ArrowArray *batch,
                                cst_error *error) {
  cst__view view;
  cst_status status = cst__view_init(&view, writer->schema, batch, false, &writer->arena, error);
  if (status == CST_OK && view.null_count > 0) {
    status = cst__fail(error, CST_UNSUPPORTED, NULL, "a record batch with null rows");
  }
  if (status == CST_OK) {
    status = !writer->has_views && is_compact(&view, batch) ? write_compact(writer, batch, error)
                                                            : write_slice(writer, &view, error);
  }
  cst__arena_reset(&writer->arena);
  return status;
}

cst_status cst__ipc_finish(cst__ipc_writer *writer, cst_error *error) {
  struct ArrowError why = {""};
  int code = ArrowIpcWriterWriteArrayView(&writer->ipc, NULL, &why);
  if (code == NANOARROW_OK && writer->is_file) {
    code = ArrowIpcWriterFinalizeFile(&writer->ipc, &why);
  }
  return code == NANOARROW_OK ? CST_OK : ipc_writer_fail(writer, code, &why, error);
}

void cst__ipc_writer_free(cst__ipc_writer *writer) {
  if (writer == NULL) {
    return;
  }
  if (writer->ipc.private_data != NULL) {
    ArrowIpcWriterReset(&writer->ipc);
  }
  ArrowArrayViewReset(&writer->view);
  if (writer->written.release != NULL) {
    writer->written.release(&writer->written);
  }
  cst__arena_reset(&writer->arena);
  cst__delete(writer);
}
