/* Record batches to a format of a plug-in: the plug-in writes the temporary file, and the rename at
 * the end is ours.
 */
#include <string.h>

#include "arrow/owned.h"
#include "arrow/view.h"
#include "base/alloc.h"
#include "base/options.h"
#include "format/sink/sink_format.h"

typedef struct plugin_sink {
  cst_allocator allocator;
  const cst_plugin_format *plugin;
  const struct ArrowSchema *schema; /* borrowed */
  void *writer;                     /* the plug-in's */
  cst__arena arena;                 /* of one batch */
} plugin_sink;

static void plugin_free(void *ptr) {
  plugin_sink *sink = ptr;
  if (sink->writer != NULL) {
    sink->plugin->free(sink->writer);
  }
  cst__arena_reset(&sink->arena);
  cst__delete(sink);
}

static cst_status create(plugin_sink *sink, const cst__sink_target *open, cst_error *error) {
  const cst_sink_options *options = open->options;
  const cst__option_list *given = open->format_options;
  cst_plugin_write_options wanted = {.size = sizeof wanted,
                                     .level = options->level,
                                     .lossy = options->lossy,
                                     .threads = options->threads > 1 ? options->threads : 1,
                                     .options = given != NULL ? given->items : NULL,
                                     .num_options = given != NULL ? given->count : 0};
  cst_error own = CST_ERROR_INIT; /* a plug-in's last argument is never NULL */
  cst_status status = sink->plugin->create(cst__output_temporary_path(open->output), sink->schema,
                                           &wanted, &sink->writer, &own);
  return cst__error_take(error, "plug-in's create", status, &own);
}

static cst_status plugin_open(const cst__sink_target *open, void **out, cst_error *error) {
  if (cst__output_temporary_path(open->output) == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "write arrows, json, example or raw, or a file",
                     "the format %s is written to regular files only", open->plugin->name);
  }
  CST__TRY(cst__sink_check_names(open->schema, error)); /* columns are found by their names */
  cst_allocator allocator = cst__allocator_of(open->options->allocator);
  plugin_sink *sink = cst__new_zero(&allocator, sizeof *sink);
  if (sink == NULL) {
    return cst__fail_memory(error, sizeof *sink);
  }
  sink->allocator = allocator;
  sink->plugin = open->plugin;
  sink->schema = open->schema;
  cst__arena_init(&sink->arena, &sink->allocator);
  cst_status status = create(sink, open, error);
  if (status != CST_OK) {
    plugin_free(sink);
    return status;
  }
  *out = sink;
  return CST_OK;
}

static cst_status write_lent(plugin_sink *sink, const struct ArrowArray *batch, cst_error *error) {
  cst__view view; /* a plug-in gets nothing but valid data */
  CST__TRY(cst__view_init(&view, sink->schema, batch, false, &sink->arena, error));
  CST__TRY(cst__view_refuse_nulls(&view, "the row", error));
  struct ArrowArray lent;
  CST__TRY(cst__array_lend(sink->schema, batch, &sink->arena, &lent, error));
  cst_error own = CST_ERROR_INIT;
  cst_status status = sink->plugin->write(sink->writer, &lent, &own);
  return cst__error_take(error, "plug-in's write", status, &own);
}

static cst_status plugin_write(void *ptr, const struct ArrowArray *batch, cst_error *error) {
  plugin_sink *sink = ptr;
  cst_status status = write_lent(sink, batch, error);
  cst__arena_reset(&sink->arena);
  return status;
}

static cst_status plugin_finish(void *ptr, cst_error *error) {
  plugin_sink *sink = ptr;
  cst_error own = CST_ERROR_INIT;
  cst_status status = sink->plugin->finish(sink->writer, &own);
  return cst__error_take(error, "plug-in's finish", status, &own);
}

const cst__sink_format cst__sink_plugin = {
    .open = plugin_open,
    .write = plugin_write,
    .finish = plugin_finish,
    .free = plugin_free,
    .own_compression = true,
    .takes_dictionaries = true,
};
