/* An output of any format, in one file or in shards: finds the format, opens and names the files,
 * and keeps the state, the rows and the places of errors. */
#include "format/sink.h"

#include <columnstone/records.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arrow/dictionary.h"
#include "arrow/owned.h"
#include "arrow/view.h"
#include "base/alloc.h"
#include "base/arguments.h"
#include "base/forked.h"
#include "format/format_options.h"
#include "format/registry.h"
#include "format/sink_name.h"
#include "format/sink_options.h"
#include "message/message_options.h"
#include "schema/schema.h"

typedef enum sink_state { SINK_OPEN, SINK_FAILED, SINK_FINISHED } sink_state;

/* One file. */
typedef struct shard {
  cst__output *output;
  void *sink;  /* the format's; NULL when it is finished */
  bool closed; /* complete, but for its name */
} shard;

struct cst_sink {
  cst_allocator allocator;
  pid_t process; /* that opened it */
  char *path;
  struct ArrowSchema schema;
  struct ArrowSchema encoded; /* with dictionaries, where `schema` has none; else released */
  cst__format format;
  const cst__container *container; /* of formats of records */
  const void *format_options;      /* as its table sets them, in the arena; NULL: it has none */
  cst_sink_options options;        /* for shards that begin later; its strings are in the arena */
  cst__arena arena;
  shard *shards;
  size_t num_shards;
  size_t capacity;
  uint64_t num_batches;
  int64_t rows;
  sink_state state;
};

/* The name of the output for errors. */
static const char *sink_name(const char *path) {
  return strcmp(path, "-") == 0 ? "standard output" : path;
}

/* ---- the format ---- */

/* The container that the options name, or the path; else the usual one. *named: one of the two. */
static cst_status find_container(const char *path, const cst_sink_options *options,
                                 const cst__container **out, bool *named, cst_error *error) {
  if (options->container != NULL) {
    *named = true;
    return cst__container_find(options->container, out, error);
  }
  *out = cst__container_find_by_path(path);
  *named = *out != NULL;
  *out = *named ? *out : cst__container_get(0);
  return CST_OK;
}

/* What the records of a container are to hold, the columns tell (NULL: not known yet). */
static cst_status find_records(const cst__container *container, const struct ArrowSchema *schema,
                               const cst_sink_options *options, cst__format *out,
                               cst_error *error) {
  if (options->message != NULL) {
    return cst__format_find(cst__message_payload.name, out, error);
  }
  if (schema != NULL && cst__format_find_by_schema(schema, options, out)) {
    return CST_OK;
  }
  return cst__format_find(container->info.format, out, error);
}

static cst_status find_format(const char *path, const struct ArrowSchema *schema,
                              const cst_sink_options *options, cst__format *out,
                              const cst__container **container, cst_error *error) {
  bool in_container;
  CST__TRY(find_container(path, options, container, &in_container, error));
  if (options->format != NULL) {
    CST__TRY(cst__format_find(options->format, out, error));
    (void)(in_container && cst__format_in_container(out));
  } else if (in_container) {
    CST__TRY(find_records(*container, schema, options, out, error));
  } else if (strcmp(path, "-") == 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "name one, such as json or arrows",
                     "standard output needs a format");
  } else {
    CST__TRY(cst__format_find_by_path(path, out, error));
  }
  if (out->sink == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "choose another one",
                     "the format %s can only be read", out->name);
  }
  if (options->message != NULL && (out->payload == NULL || !out->payload->is_described)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "name the format message, and the container",
                     "the format %s does not contain protobuf messages", out->name);
  }
  if (options->container != NULL && out->payload == NULL) {
    return cst__fail(error, CST_UNSUPPORTED, "leave the container out",
                     "the format %s has no container", out->name);
  }
  return CST_OK;
}

/* ---- opening ---- */

static bool is_sharded(const cst_sink *sink) {
  return sink->options.num_shards > 0 || sink->options.shard_bytes > 0;
}

static cst_status open_output(const cst_sink *sink, const cst_writer *writer, cst__output **out,
                              cst_error *error) {
  const cst_sink_options *options = &sink->options;
  cst_compression compression =
      sink->format.sink->own_compression ? CST_COMPRESSION_NONE : options->compression;
  int32_t level = sink->format.sink->own_compression ? 0 : options->level;
  CST__TRY(writer != NULL
               ? cst__output_open_writer(writer, compression, level, &sink->allocator, out, error)
               : cst__output_open(sink->path, compression, level, &sink->allocator, out, error));
  cst_status status = options->threads > 1 ? cst__output_beside(*out, error) : CST_OK;
  if (status != CST_OK) {
    cst__output_free(*out);
  }
  return status;
}

/* Opens one more file. */
static cst_status add_shard(cst_sink *sink, const cst_writer *writer, cst_error *error) {
  void *shards = sink->shards;
  bool ok = cst__grow(&sink->allocator, &shards, &sink->capacity, sink->num_shards + 1,
                      sizeof *sink->shards);
  sink->shards = shards;
  if (!ok) {
    if (writer != NULL) {
      cst__writer_refuse(writer);
    }
    return cst__fail_memory(error, sizeof *sink->shards);
  }
  shard *made = &sink->shards[sink->num_shards];
  *made = (shard){.output = NULL};
  CST__TRY(open_output(sink, writer, &made->output, error));
  sink->num_shards++;
  cst__sink_target open = {.output = made->output,
                           .path = sink->path,
                           .schema = &sink->schema,
                           .options = &sink->options,
                           .format_options = sink->format_options,
                           .container = sink->container,
                           .payload = sink->format.payload,
                           .plugin = sink->format.plugin,
                           .program = sink->format.program};
  cst_status status = sink->format.sink->open(&open, &made->sink, error);
  if (status != CST_OK) {
    made->sink = NULL;
    cst__error_add_file(error, sink_name(sink->path));
  }
  return status;
}

static cst_status check_shards(const cst_sink *sink, cst_error *error) {
  const cst_sink_options *options = &sink->options;
  if (options->num_shards > 0 && options->shard_bytes > 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "give one of them",
                     "both the number of shards and their size are given");
  }
  if (is_sharded(sink) && strcmp(sink->path, "-") == 0) {
    return cst__fail(error, CST_UNSUPPORTED, "name a file",
                     "standard output cannot be split into shards");
  }
  return CST_OK;
}

/* What later shards need of the options. */
static cst_status copy_options(cst_sink *sink, const cst_sink_options *options, cst_error *error) {
  sink->options = *options;
  sink->options.message = NULL; /* until it is copied */
  sink->options.allocator = &sink->allocator;
  sink->options.format = NULL; /* found already */
  sink->options.container = NULL;
  sink->options.schema = options->schema != NULL ? cst_schema_retain(options->schema) : NULL;
  sink->options.format_options = NULL; /* read already */
  sink->options.num_format_options = 0;
  return cst__message_options_copy(options->message, &sink->arena, &sink->options.message, error);
}

static cst_status choose_format(cst_sink *sink, const cst_sink_options *options, cst_error *error) {
  CST__TRY(find_format(sink->path, &sink->schema, options, &sink->format, &sink->container, error));
  if (options->keep_returns && sink->container == &cst__lines_container) {
    sink->container = &cst__lines_with_returns;
  }
  return cst__format_options_read(
      &sink->format, CST__FOR_WRITING,
      (cst__option_list){options->format_options, options->num_format_options}, &sink->arena,
      &sink->format_options, error);
}

/* The format gets dictionary-encoded columns as their values, unless it takes them. */
static cst_status plan_dictionaries(cst_sink *sink, cst_error *error) {
  if (sink->format.sink->takes_dictionaries || !cst__schema_has_dictionary(&sink->schema)) {
    return CST_OK;
  }
  CST__TRY(cst__schema_copy(&sink->schema, &sink->encoded, error));
  return cst__schema_make_plain(&sink->schema, error);
}

static cst_status open_shards(cst_sink *sink, const cst_sink_options *options, cst_error *error) {
  CST__TRY(choose_format(sink, options, error));
  CST__TRY(plan_dictionaries(sink, error));
  CST__TRY(copy_options(sink, options, error));
  CST__TRY(check_shards(sink, error));
  size_t count = sink->options.num_shards > 0 ? sink->options.num_shards : 1;
  for (size_t i = 0; i < count; i++) {
    CST__TRY(add_shard(sink, NULL, error));
  }
  return CST_OK;
}

static cst_status prepare_for_writer(cst_sink *sink, const cst_sink_options *options,
                                     cst_error *error) {
  CST__TRY(choose_format(sink, options, error));
  CST__TRY(plan_dictionaries(sink, error));
  CST__TRY(copy_options(sink, options, error));
  return is_sharded(sink) ? cst__fail(error, CST_UNSUPPORTED, "name a file",
                                      "a writer cannot be split into shards")
                          : CST_OK;
}

static cst_status new_sink(const char *path, const struct ArrowSchema *schema,
                           const cst_allocator *allocator, cst_sink **out, cst_error *error) {
  cst_sink *sink = cst__new_zero(allocator, sizeof *sink);
  *out = sink;
  if (sink == NULL) {
    return cst__fail_memory(error, sizeof *sink);
  }
  sink->allocator = cst__allocator_of(allocator);
  sink->process = getpid();
  cst__arena_init(&sink->arena, allocator);
  sink->path = cst__new_copy(allocator, path, strlen(path));
  if (sink->path == NULL) {
    return cst__fail_memory(error, strlen(path));
  }
  CST__TRY(cst__schema_copy(schema, &sink->schema, error));
  return cst__schema_check_types(&sink->schema, error);
}

static cst_status end_sink_open(cst_sink *sink, cst_status status, cst_sink **out) {
  if (status != CST_OK) {
    cst_sink_free(sink);
    return status;
  }
  *out = sink;
  return CST_OK;
}

static cst_status check_path(const char *path, cst_error *error) {
  if (path == NULL || path[0] == '\0') {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the output has no path");
  }
  return CST_OK;
}

static cst_status check_sink_schema(const struct ArrowSchema *schema, cst_error *error) {
  if (schema == NULL || schema->release == NULL || schema->format == NULL ||
      strcmp(schema->format, "+s") != 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "pass the schema of a record batch",
                     "the schema is not a struct of columns, or released");
  }
  return CST_OK;
}

static cst_status read_sink_options(const cst_sink_options *options, cst_sink_options *own,
                                    cst_error *error) {
  CST__TRY(cst__read_options(own, sizeof *own, options, error));
  CST__TRY(cst__options_check(&cst__sink_option_table, own, error));
  CST__TRY(cst__check_part(own->message, sizeof *own->message, "message options", error));
  CST__TRY(cst__options_check_given(own->format_options, own->num_format_options, error));
  return cst__check_allocator(own->allocator, error);
}

cst_status cst_sink_open(const char *path, const struct ArrowSchema *schema,
                         const cst_sink_options *options, cst_sink **out, cst_error *error) {
  cst_sink_options own = CST_SINK_OPTIONS_INIT;
  CST__CLEAR(out);
  CST__TRY(check_path(path, error));
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(check_sink_schema(schema, error));
  CST__TRY(read_sink_options(options, &own, error));
  cst_sink *sink;
  cst_status status = new_sink(path, schema, own.allocator, &sink, error);
  if (status == CST_OK) {
    status = open_shards(sink, &own, error);
  }
  return end_sink_open(sink, status, out);
}

static cst_status check_writer_call(const cst_writer *writer, const struct ArrowSchema *schema,
                                    const cst_sink_options *options, cst_sink_options *own,
                                    cst_sink **out, cst_error *error) {
  if (out == NULL || writer->write == NULL) {
    return cst__missing(out == NULL ? "out" : "writer->write", error);
  }
  CST__TRY(check_sink_schema(schema, error));
  CST__TRY(read_sink_options(options, own, error));
  return own->format != NULL ? CST_OK
                             : cst__fail(error, CST_INVALID_ARGUMENT, "name one in the options",
                                         "a writer needs a format");
}

cst_status cst_sink_open_writer(const cst_writer *writer, const struct ArrowSchema *schema,
                                const cst_sink_options *options, cst_sink **out, cst_error *error) {
  cst_sink_options own = CST_SINK_OPTIONS_INIT;
  cst_writer taken = {0};
  cst_sink *sink = NULL;
  CST__CLEAR(out);
  if (writer == NULL) {
    return cst__missing("writer", error);
  }
  cst_status status = cst__read_sized(&taken, sizeof taken, writer, "writer", error);
  if (status == CST_OK) {
    status = check_writer_call(&taken, schema, options, &own, out, error);
  }
  if (status == CST_OK) {
    const char *name = taken.name != NULL ? taken.name : "<writer>";
    status = new_sink(name, schema, own.allocator, &sink, error);
  }
  if (status == CST_OK) {
    status = prepare_for_writer(sink, &own, error);
  }
  if (status != CST_OK) {
    cst__writer_refuse(&taken);
  } else {
    status = add_shard(sink, &taken, error); /* which takes the writer over */
  }
  return end_sink_open(sink, status, out);
}

cst_status cst_sink_format(const char *path, const cst_sink_options *options, const char **out,
                           cst_error *error) {
  cst_sink_options own = CST_SINK_OPTIONS_INIT;
  CST__CLEAR(out);
  CST__TRY(check_path(path, error));
  CST__TRY(read_sink_options(options, &own, error));
  cst__format format;
  const cst__container *container;
  const void *read;
  cst__arena arena;
  CST__TRY(find_format(path, NULL, &own, &format, &container, error));
  cst__arena_init(&arena, own.allocator);
  /* what records are is known with the columns, unless it is named */
  bool is_known = own.format != NULL || format.payload == NULL;
  cst_status status = is_known ? cst__format_options_read(
                                     &format, CST__FOR_WRITING,
                                     (cst__option_list){own.format_options, own.num_format_options},
                                     &arena, &read, error)
                               : CST_OK;
  cst__arena_reset(&arena);
  if (status == CST_OK && out != NULL) {
    *out = is_known ? format.name : NULL;
  }
  return status;
}

/* ---- writing ---- */

static cst_status check_open(const cst_sink *sink, cst_error *error) {
  CST__TRY(cst__check_forked(sink->process, "output", error));
  if (sink->state == SINK_OPEN) {
    return CST_OK;
  }
  return cst__fail(error, CST_STATE, NULL, "the output %s",
                   sink->state == SINK_FINISHED ? "is finished" : "has failed before");
}

/* A row counts from the start of the output, whose name the error gets where it has none. */
static cst_status failed(cst_sink *sink, cst_status status, cst_error *error) {
  sink->state = SINK_FAILED;
  if (cst__error_wanted(error) && error->record >= 0) {
    error->record += sink->rows;
  }
  cst__error_add_file(error, sink_name(sink->path));
  return status;
}

/* Writes the end of a file and closes it; it has its temporary name still. */
static cst_status close_shard(cst_sink *sink, shard *done, cst_error *error) {
  CST__TRY(sink->format.sink->finish(done->sink, error));
  sink->format.sink->free(done->sink);
  done->sink = NULL;
  CST__TRY(cst__output_close(done->output, error));
  done->closed = true;
  return CST_OK;
}

/* A file of the limited size follows when the last one has reached it. */
static cst_status follow(cst_sink *sink, cst_error *error) {
  shard *last = &sink->shards[sink->num_shards - 1];
  uint64_t limit = sink->options.shard_bytes;
  if (limit == 0 || cst__output_written(last->output) < limit) {
    return CST_OK;
  }
  if (sink->num_shards == CST__MOST_SHARDS) {
    return cst__fail(error, CST_LIMIT, "choose a larger size", "there are %d shards already",
                     CST__MOST_SHARDS);
  }
  CST__TRY(close_shard(sink, last, error));
  return add_shard(sink, NULL, error);
}

/* Rows [begin, return value) of the output go to the shard of the row `begin`: all files have as
 * many rows, but that the first ones have one more where they do not divide evenly. */
static int64_t end_of_share(const cst_sink *sink, int64_t begin, size_t *index) {
  uint64_t rows = sink->options.expected_rows;
  uint64_t count = sink->options.num_shards;
  uint64_t end = 0;
  *index = 0;
  for (uint64_t i = 0; i < count && end <= (uint64_t)begin; i++) {
    end += rows / count + (i < rows % count ? 1 : 0);
    *index = (size_t)i;
  }
  return end > (uint64_t)begin ? (int64_t)end : INT64_MAX; /* more than were expected */
}

static cst_status write_shares(cst_sink *sink, const struct ArrowArray *batch, cst_error *error) {
  for (int64_t done = 0; done < batch->length;) {
    size_t index;
    int64_t room = end_of_share(sink, sink->rows + done, &index) - (sink->rows + done);
    struct ArrowArray part = *batch; /* a look; never released */
    part.offset += done;
    part.length = batch->length - done < room ? batch->length - done : room;
    part.null_count = batch->null_count == 0 ? 0 : -1;
    cst_status status = sink->format.sink->write(sink->shards[index].sink, &part, error);
    if (status != CST_OK && cst__error_wanted(error) && error->record >= 0) {
      error->record += done;
    }
    CST__TRY(status);
    done += part.length;
  }
  return CST_OK;
}

/* Batches go to shards by their rows, in turn, or to the last one until it is large enough. */
static cst_status write_batch(cst_sink *sink, const struct ArrowArray *batch, cst_error *error) {
  size_t index = sink->options.num_shards > 0 ? sink->num_batches % sink->num_shards : 0;
  if (sink->options.num_shards > 1 && sink->options.expected_rows > 0) {
    return write_shares(sink, batch, error);
  }
  if (sink->options.num_shards == 0) {
    CST__TRY(follow(sink, error));
    index = sink->num_shards - 1;
  }
  return sink->format.sink->write(sink->shards[index].sink, batch, error);
}

static cst_status write_values(cst_sink *sink, const struct ArrowArray *batch, cst_error *error) {
  if (sink->encoded.release == NULL) {
    return write_batch(sink, batch, error);
  }
  cst__arena arena;
  struct ArrowArray plain;
  cst__arena_init(&arena, &sink->allocator);
  cst_status status = cst__array_lend(&sink->encoded, batch, &arena, &plain, error);
  if (status == CST_OK) {
    status = cst__array_make_plain(&sink->encoded, &sink->allocator, &plain, error);
    if (status == CST_OK) {
      status = write_batch(sink, &plain, error);
    }
    cst__array_release(&plain);
  }
  cst__arena_reset(&arena);
  return status;
}

cst_status cst_sink_write(cst_sink *sink, const struct ArrowArray *batch, cst_error *error) {
  if (sink == NULL || batch == NULL) {
    return cst__missing(sink == NULL ? "sink" : "batch", error);
  }
  if (batch->release == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the batch is released");
  }
  if (batch->length < 0) {
    return cst__fail(error, CST_CORRUPT, NULL, "a batch of %lld rows", (long long)batch->length);
  }
  CST__TRY(check_open(sink, error));
  cst_status status = write_values(sink, batch, error);
  if (status != CST_OK) {
    return failed(sink, status, error);
  }
  sink->num_batches++;
  sink->rows += batch->length;
  return CST_OK;
}

/* ---- finishing ---- */

static void name_shard(const cst_sink *sink, size_t i, char *name, size_t room) {
  size_t at = cst__shard_number_at(sink->path);
  (void)snprintf(name, room, "%.*s-%05u-of-%05u%s", (int)at, sink->path, (unsigned)i % 100000U,
                 (unsigned)sink->num_shards % 100000U, sink->path + at);
}

/* Those that have got their names before another one was not allowed to; they took nobody's. */
static void remove_shards(const cst_sink *sink, size_t count, char *name, size_t room) {
  for (size_t i = 0; i < count; i++) {
    name_shard(sink, i, name, room);
    (void)unlink(name);
  }
}

/* The temporary files get their names when all are complete: until the first rename no file of the
 * output can be seen, and none is ever half. */
static cst_status publish_shards(cst_sink *sink, cst_error *error) {
  enum { NUMBER = sizeof "-00000-of-00000" };
  size_t room = strlen(sink->path) + NUMBER;
  char *name = cst__arena_take(&sink->arena, room);
  if (name == NULL) {
    return cst__fail_memory(error, room);
  }
  for (size_t i = 0; i < sink->num_shards; i++) {
    name_shard(sink, i, name, room);
    bool keep = sink->options.keep_existing;
    cst_status status = cst__output_publish(sink->shards[i].output, name, keep, error);
    if (status != CST_OK && keep) {
      remove_shards(sink, i, name, room);
    }
    CST__TRY(status);
  }
  return CST_OK;
}

static cst_status finish_shards(cst_sink *sink, cst_error *error) {
  for (size_t i = 0; i < sink->num_shards; i++) {
    if (!sink->shards[i].closed) {
      CST__TRY(close_shard(sink, &sink->shards[i], error));
    }
  }
  return is_sharded(sink) ? publish_shards(sink, error)
                          : cst__output_publish(sink->shards[0].output, NULL,
                                                sink->options.keep_existing, error);
}

cst_status cst_sink_finish(cst_sink *sink, cst_error *error) {
  if (sink == NULL) {
    return cst__missing("sink", error);
  }
  CST__TRY(check_open(sink, error));
  cst_status status = finish_shards(sink, error);
  if (status != CST_OK) {
    return failed(sink, status, error);
  }
  sink->state = SINK_FINISHED;
  return CST_OK;
}

int64_t cst__sink_rows(const cst_sink *sink) { return sink->rows; }

void cst_sink_free(cst_sink *sink) {
  if (sink == NULL || cst__is_forked(sink->process)) {
    return;
  }
  for (size_t i = 0; i < sink->num_shards; i++) {
    if (sink->shards[i].sink != NULL) {
      sink->format.sink->free(sink->shards[i].sink);
    }
    cst__output_free(sink->shards[i].output);
  }
  cst__delete(sink->shards);
  if (sink->schema.release != NULL) {
    sink->schema.release(&sink->schema);
  }
  if (sink->encoded.release != NULL) {
    sink->encoded.release(&sink->encoded);
  }
  cst_schema_release((cst_schema *)sink->options.schema);
  cst__message_options_release(sink->options.message);
  cst__arena_reset(&sink->arena);
  cst__delete(sink->path);
  cst__delete(sink);
}
