/* Reading through a program: its standard output as an Arrow stream. */
#include "format/plugin/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arrow/ipc/ipc_reader.h"
#include "arrow/view.h"
#include "io/process.h"

enum { END_SIZE = 8, FIXED_ARGUMENTS = 7 };

/* What an IPC stream ends with: the mark of a message, and the length zero. */
static const uint8_t end_mark[END_SIZE] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};

typedef struct program_stream {
  cst__process *process;
  cst__ipc_reader *ipc;
  uint8_t last[END_SIZE]; /* bytes that were read */
  bool at_end;            /* of what the program writes */
  bool ended;             /* well: nothing comes any more */
  cst_error error;
} program_stream;

/* ---- the arguments ---- */

static const char *option(const char *name, const char *value, cst__arena *arena) {
  size_t size = strlen(name) + strlen(value) + 1;
  char *text = cst__arena_take(arena, size);
  if (text != NULL) {
    (void)snprintf(text, size, "%s%s", name, value);
  }
  return text;
}

static const char *number_option(const char *name, int64_t value, cst__arena *arena) {
  char text[24];
  (void)snprintf(text, sizeof text, "%" PRId64, value);
  return option(name, text, arena);
}

static int64_t limit(uint64_t value) { return value < INT64_MAX ? (int64_t)value : INT64_MAX; }

cst_status cst__program_arguments(const cst__option_list *given, cst__arena *arena,
                                  const char **argv, size_t *count, cst_error *error) {
  for (size_t i = 0; i < given->count; i++) {
    const cst_option *o = &given->items[i];
    size_t size = strlen(o->name) + strlen(o->value) + sizeof "--option==";
    char *text = cst__arena_take(arena, size);
    if (text == NULL) {
      return cst__fail_memory(error, size);
    }
    (void)snprintf(text, size, "--option=%s=%s", o->name, o->value);
    argv[(*count)++] = text;
  }
  return CST_OK;
}

/* ---- which options there are ---- */

enum { MOST_SAID = 1 << 14, MOST_OPTIONS = 64 };

/* A line each: the name, and behind a tab what it is for. */
static cst_status read_names(char *text, cst__arena *arena, const cst_option_info **out,
                             size_t *count, cst_error *error) {
  cst_option_info *infos = cst__arena_take_zero(arena, MOST_OPTIONS * sizeof *infos);
  if (infos == NULL) {
    return cst__fail_memory(error, MOST_OPTIONS * sizeof *infos);
  }
  size_t n = 0;
  for (char *line = text; *line != '\0' && n < MOST_OPTIONS;) {
    size_t size = strcspn(line, "\n");
    char *next = line + size + (line[size] == '\n');
    line[size] = '\0';
    size_t name = strcspn(line, "\t");
    if (name > 0) {
      infos[n++] = (cst_option_info){.name = line,
                                     .kind = CST_OPTION_TEXT,
                                     .help = line + name + (line[name] == '\t'),
                                     .reads = true,
                                     .writes = true};
      line[name] = '\0';
    }
    line = next;
  }
  *out = infos;
  *count = n;
  return CST_OK;
}

cst_status cst__program_options(const cst__program *program, cst__arena *arena,
                                const cst_option_info **out, size_t *count, cst_error *error) {
  const char *argv[] = {program->path, "options", NULL};
  cst__process *process;
  size_t size = 0;
  char *text = cst__arena_take_zero(arena, MOST_SAID + 1);
  *out = NULL;
  *count = 0;
  if (text == NULL) {
    return cst__fail_memory(error, MOST_SAID + 1);
  }
  CST__TRY(cst__process_start(program->path, argv, CST__PROCESS_READS, NULL, &process, error));
  cst_status status = cst__process_read(process, text, MOST_SAID, &size, error);
  if (status == CST_OK) {
    bool is_said = size < MOST_SAID && cst__process_finish(process, NULL) == CST_OK;
    text[is_said ? size : 0] = '\0'; /* else it knows no such call, and has none */
    status = read_names(text, arena, out, count, error);
  }
  cst__process_free(process);
  return status;
}

/* NULL without memory. */
static const char **read_arguments(const cst__program *program, const char *path,
                                   const cst_plugin_read_options *options, cst__arena *arena) {
  size_t count = options->columns != NULL ? options->num_columns : 0;
  const cst__option_list given = {options->options, options->num_options};
  size_t bytes;
  const char **argv = cst__mul(count + given.count + FIXED_ARGUMENTS, sizeof *argv, &bytes)
                          ? cst__arena_take(arena, bytes)
                          : NULL;
  if (argv == NULL) {
    return NULL;
  }
  size_t n = 0;
  argv[n++] = program->path;
  argv[n++] = "read";
  if (cst__program_arguments(&given, arena, argv, &n, NULL) != CST_OK) {
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    argv[n++] = option("--column=", options->columns[i], arena);
  }
  argv[n++] = number_option("--batch-size=", options->batch_size, arena);
  argv[n++] = number_option("--threads=", options->threads, arena);
  argv[n++] = number_option("--max-inflation=", limit(options->max_inflation), arena);
  argv[n++] = cst__process_path(path, arena);
  argv[n] = NULL;
  for (size_t i = 0; i < n; i++) {
    if (argv[i] == NULL) {
      return NULL;
    }
  }
  return argv;
}

/* ---- reading ---- */

static cst_status read_bytes(void *ctx, void *buffer, size_t size, size_t *got, cst_error *error) {
  program_stream *stream = ctx;
  CST__TRY(cst__process_read(stream->process, buffer, size, got, error));
  stream->at_end = *got < size;
  if (*got >= END_SIZE) {
    memcpy(stream->last, (const uint8_t *)buffer + *got - END_SIZE, END_SIZE);
  } else if (*got > 0) {
    memmove(stream->last, stream->last + *got, END_SIZE - *got);
    memcpy(stream->last + END_SIZE - *got, buffer, *got);
  }
  return CST_OK;
}

/* The stream cannot be read: if because the program has failed, it knows more. */
static cst_status fail_stream(program_stream *stream, cst_status status, cst_error *error) {
  if (status != CST_CORRUPT && status != CST_FORMAT && status != CST_LIMIT) {
    return status;
  }
  if (stream->at_end) {
    CST__TRY(cst__process_finish(stream->process, error));
    return cst__fail(error, CST_IO, "the program must write one complete Arrow IPC stream",
                     "the plug-in program ended in the middle of its stream");
  }
  cst_error found = CST_ERROR_INIT;
  cst__error_copy(&found, error);
  return cst__fail(error, CST_IO, "the program must write one complete Arrow IPC stream",
                   "output of the plug-in program: %s", found.message);
}

/* At the end of the batches: the mark, nothing after it, and a program that is content. */
static cst_status end_stream(program_stream *stream, cst_error *error) {
  bool marked = memcmp(stream->last, end_mark, END_SIZE) == 0;
  uint8_t more;
  size_t got = 0;
  CST__TRY(cst__process_read(stream->process, &more, 1, &got, error));
  if (got > 0) {
    return cst__fail(error, CST_IO, "the program must write one complete Arrow IPC stream",
                     "the plug-in program writes after the end of its stream");
  }
  CST__TRY(cst__process_finish(stream->process, error));
  stream->ended = true;
  return marked ? CST_OK
                : cst__fail(error, CST_IO, "the program must write one complete Arrow IPC stream",
                            "the plug-in program ended without the end mark of its stream");
}

static cst_status program_next_batch(program_stream *stream, struct ArrowArray *out,
                                     cst_error *error) {
  out->release = NULL;
  if (stream->ended) {
    return CST_OK;
  }
  cst_status status = cst__ipc_reader_next(stream->ipc, out, error);
  if (status != CST_OK) {
    return fail_stream(stream, status, error);
  }
  return out->release != NULL ? CST_OK : end_stream(stream, error);
}

/* ---- as an Arrow stream ---- */

static int get_schema(struct ArrowArrayStream *ptr, struct ArrowSchema *out) {
  program_stream *stream = ptr->private_data;
  return cst__error_number(
      cst__schema_copy(cst__ipc_reader_schema(stream->ipc), out, &stream->error));
}

static int get_next(struct ArrowArrayStream *ptr, struct ArrowArray *out) {
  program_stream *stream = ptr->private_data;
  return cst__error_number(program_next_batch(stream, out, &stream->error));
}

static const char *get_last_error(struct ArrowArrayStream *ptr) {
  program_stream *stream = ptr->private_data;
  return stream->error.message;
}

static void free_stream(program_stream *stream) {
  cst__ipc_reader_free(stream->ipc);
  cst__process_free(stream->process);
  cst__delete(stream);
}

static void release(struct ArrowArrayStream *ptr) {
  free_stream(ptr->private_data);
  ptr->release = NULL;
}

const cst_error *cst__program_last_error(struct ArrowArrayStream *stream) {
  return stream->release == release ? &((program_stream *)stream->private_data)->error : NULL;
}

bool cst__program_is_ours(struct ArrowArrayStream *stream) {
  return stream->release != release ||
         cst__process_is_ours(((program_stream *)stream->private_data)->process);
}

static cst_status start_program(program_stream *stream, const cst__program *program,
                                const char *path, const cst_plugin_read_options *options,
                                const cst_allocator *allocator, cst_error *error) {
  cst__arena arena;
  cst__arena_init(&arena, allocator);
  const char **argv = read_arguments(program, path, options, &arena);
  cst_status status = argv == NULL ? cst__fail_memory(error, 0)
                                   : cst__process_start(program->path, argv, CST__PROCESS_READS,
                                                        allocator, &stream->process, error);
  cst__arena_reset(&arena);
  CST__TRY(status);
  status = cst__ipc_reader_new(read_bytes, stream, allocator, &stream->ipc, error);
  return status == CST_OK ? CST_OK : fail_stream(stream, status, error);
}

cst_status cst__program_open(const cst__program *program, const char *path,
                             const cst_plugin_read_options *options, const cst_allocator *allocator,
                             struct ArrowArrayStream *out, cst_error *error) {
  program_stream *stream = cst__new_zero(allocator, sizeof *stream);
  if (stream == NULL) {
    return cst__fail_memory(error, sizeof *stream);
  }
  stream->error = (cst_error)CST_ERROR_INIT;
  cst_status status = start_program(stream, program, path, options, allocator, error);
  if (status != CST_OK) {
    free_stream(stream);
    return status;
  }
  *out = (struct ArrowArrayStream){.get_schema = get_schema,
                                   .get_next = get_next,
                                   .get_last_error = get_last_error,
                                   .release = release,
                                   .private_data = stream};
  return CST_OK;
}
