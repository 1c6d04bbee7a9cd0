/* Record batches to a format of a program: an Arrow IPC stream to its standard input. It writes the
 * temporary file, and the rename at the end is ours.
 */
#include <inttypes.h>
#include <stdio.h>

#include "arrow/ipc/ipc.h"
#include "base/alloc.h"
#include "format/plugin/program.h"
#include "format/sink/sink_format.h"
#include "io/process.h"

typedef struct program_sink {
  cst__process *process;
  cst__ipc_writer *ipc;
} program_sink;

static void program_free(void *ptr) {
  program_sink *sink = ptr;
  cst__ipc_writer_free(sink->ipc);
  cst__process_free(sink->process);
  cst__delete(sink);
}

static cst_status write_program_bytes(void *ctx, const void *data, size_t size, cst_error *error) {
  return cst__process_write(((program_sink *)ctx)->process, data, size, error);
}

enum { FIXED_ARGUMENTS = 6 };

static cst_status start_process(program_sink *sink, const cst__sink_target *open, cst__arena *arena,
                                cst_error *error) {
  static const cst__option_list none;
  const cst_sink_options *options = open->options;
  const cst__option_list *given = open->format_options;
  given = given != NULL ? given : &none;
  char level[24];
  const char **argv = cst__arena_take(arena, (given->count + FIXED_ARGUMENTS) * sizeof *argv);
  if (argv == NULL) {
    return cst__fail_memory(error, (given->count + FIXED_ARGUMENTS) * sizeof *argv);
  }
  size_t n = 0;
  argv[n++] = open->program->path;
  argv[n++] = "write";
  CST__TRY(cst__program_arguments(given, arena, argv, &n, error));
  if (options->level != 0) {
    (void)snprintf(level, sizeof level, "--level=%" PRId32, options->level);
    argv[n++] = level;
  }
  if (options->lossy) {
    argv[n++] = "--lossy";
  }
  argv[n++] = cst__output_temporary_path(open->output);
  argv[n] = NULL;
  return cst__process_start(open->program->path, argv, CST__PROCESS_WRITES, options->allocator,
                            &sink->process, error);
}

static cst_status start_program_sink(program_sink *sink, const cst__sink_target *open,
                                     cst_error *error) {
  const cst_sink_options *options = open->options;
  cst__arena arena;
  cst__arena_init(&arena, options->allocator);
  cst_status status = start_process(sink, open, &arena, error);
  cst__arena_reset(&arena);
  CST__TRY(status);
  return cst__ipc_writer_new(open->schema, false, write_program_bytes, sink, options->allocator,
                             &sink->ipc, error);
}

static cst_status program_open(const cst__sink_target *open, void **out, cst_error *error) {
  if (cst__output_temporary_path(open->output) == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "write arrows, json, example or raw, or a file",
                     "the format %s is written to regular files only", open->program->name);
  }
  program_sink *sink = cst__new_zero(open->options->allocator, sizeof *sink);
  if (sink == NULL) {
    return cst__fail_memory(error, sizeof *sink);
  }
  cst_status status = start_program_sink(sink, open, error);
  if (status != CST_OK) {
    program_free(sink);
    return status;
  }
  *out = sink;
  return CST_OK;
}

static cst_status program_write(void *ptr, const struct ArrowArray *batch, cst_error *error) {
  return cst__ipc_write_batch(((program_sink *)ptr)->ipc, batch, error);
}

static cst_status program_finish(void *ptr, cst_error *error) {
  program_sink *sink = ptr;
  CST__TRY(cst__ipc_finish(sink->ipc, error));
  return cst__process_finish(sink->process, error);
}

const cst__sink_format cst__sink_program = {
    .open = program_open,
    .write = program_write,
    .finish = program_finish,
    .free = program_free,
    .own_compression = true,
};
