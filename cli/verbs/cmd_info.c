/* columnstone info: what a file is, from a look at its beginning.
 *
 * The first records tell the features. How many there are is counted if the file is small or has an
 * index, else estimated from the bytes that the first ones take.
 */
#include <string.h>
#include <sys/stat.h>

#include "info.h"

enum {
  SAMPLE = 1000,         /* records that are decoded */
  LOOK_BYTES = 32 << 20, /* of a file, at most, for the estimate */
  SAMPLE_BYTES = 4 << 20 /* of records in one batch */
};

/* Of what is guessed, the bytes are wanted. */
static cst_source_options look_options(const info_look *l, const char *format) {
  cst_source_options options = cli_source_options(l->settings, NULL);
  options.format = format;
  options.threads = 1;
  if (l->is_guess) {
    options.message = NULL;
    options.message_column = NULL;
    options.num_columns = l->settings->source.message_column != NULL;
    options.columns = options.num_columns > 0 ? &l->settings->source.message_column : NULL;
  }
  return options;
}

static cst_status open_source(const info_look *l, const char *format, int64_t rows,
                              cst_source **out, cst_error *error) {
  cst_source_options options = look_options(l, format);
  options.batch_size = rows;
  options.batch_bytes = SAMPLE_BYTES;
  if (format != NULL &&
      strcmp(format, "raw") == 0) { /* the options are for what the records hold */
    options.num_format_options = 0;
  }
  return cst_source_open(&l->path, 1, &options, out, error);
}

/* Only a tf.SequenceExample has feature lists, and so a struct column at the end. */
static bool has_lists(const struct ArrowSchema *schema) {
  if (schema->n_children == 0) {
    return false;
  }
  const struct ArrowSchema *last = schema->children[schema->n_children - 1];
  return strcmp(last->name, CST_SEQUENCE_COLUMN) == 0 && strcmp(last->format, "+s") == 0;
}

static cst_status decode_sample_as(const char *payload, const struct ArrowSchema *type,
                                   struct ArrowArray *records, info_look *l, cst_error *error) {
  cst_decoder *decoder;
  cst_status status = cst_decoder_new(payload, NULL, &decoder, error);
  if (status == CST_OK) {
    status = cst_decoder_decode_arrow(decoder, type, records, &l->schema, &l->batch, error);
    cst_decoder_free(decoder);
  }
  snprintf(l->format, sizeof l->format, "%s", payload);
  return status;
}

static void release_sample(info_look *l) {
  if (l->batch.release != NULL) {
    l->batch.release(&l->batch);
  }
  if (l->schema.release != NULL) {
    l->schema.release(&l->schema);
  }
}

/* Records that are neither are left undecoded. */
static void decode_sample(info_look *l, const struct ArrowSchema *type,
                          struct ArrowArray *records) {
  cst_error error = CST_ERROR_INIT;
  cst_status status = decode_sample_as("sequence_example", type, records, l, &error);
  if (status == CST_OK && !has_lists(&l->schema)) {
    release_sample(l);
    status = decode_sample_as("example", type, records, l, &error);
  }
  if (status != CST_OK) {
    snprintf(l->format, sizeof l->format, "raw");
  }
}

/* ---- the pass over the beginning ---- */

/* Keeps the first batch; decoded, if it is one of records. */
static cst_status take_first(info_look *l, const struct ArrowSchema *type, struct ArrowArray *batch,
                             bool raw, cst_error *error) {
  bool undecoded = l->settings->source.format == NULL && strcmp(l->format, "raw") == 0;
  if (l->is_guess) {
    cst_status status = info_guess(l, type->children[0], batch->children[0], batch->length, error);
    if (status != CST_OK) {
      return status;
    }
  }
  if (raw && !l->is_guess && !undecoded) { /* else they are known to be neither Examples nor
                                              sequences of them */
    decode_sample(l, type, batch);
  } else if (!raw) {
    l->batch = *batch;
    batch->release = NULL;
  }
  return CST_OK;
}

/* *bytes: what it has read of the file. */
static cst_status read_beginning(info_look *l, cst_pass *pass, const struct ArrowSchema *type,
                                 bool raw, uint64_t *bytes, cst_error *error) {
  while (*bytes < LOOK_BYTES) {
    struct ArrowArray batch;
    cst_status status = cst_pass_next(pass, &batch, error);
    cst_pass_progress(pass, bytes, NULL);
    if (status != CST_OK || batch.release == NULL) {
      l->exact = status == CST_OK;
      return status;
    }
    bool first = l->seen == 0;
    l->seen += (uint64_t)batch.length;
    status = first ? take_first(l, type, &batch, raw, error) : CST_OK;
    if (batch.release != NULL) {
      batch.release(&batch);
    }
    if (status != CST_OK) {
      return status;
    }
  }
  return CST_OK;
}

static uint64_t indexed(const info_look *l) {
  cst_index *index;
  cst_error ignored = CST_ERROR_INIT;
  if (cst_index_open(l->path, NULL, &index, &ignored) != CST_OK) {
    return 0;
  }
  uint64_t records = cst_index_num_records(index);
  cst_index_free(index);
  return records;
}

/* bytes: of the file, that the records seen so far take. */
static void estimate(info_look *l, uint64_t bytes, bool raw) {
  l->total = l->exact ? l->seen : raw && l->compression == NULL ? indexed(l) : 0;
  l->exact = l->exact || l->total > 0;
  if (!l->exact && bytes > 0 && l->file_bytes > 0 && l->seen > 0) {
    l->total = (uint64_t)((double)l->seen * (double)l->file_bytes / (double)bytes);
    l->total = l->total > l->seen ? l->total : l->seen;
  }
}

static cst_status look_into(info_look *l, cst_source *source, bool raw, cst_error *error) {
  struct ArrowSchema type = {.release = NULL};
  cst_pass *pass = NULL;
  uint64_t bytes = 0;
  cst_status status = cst_source_arrow_schema(source, &type, error);
  if (status == CST_OK) {
    status = cst_pass_new(source, &pass, error);
  }
  if (status == CST_OK) {
    status = read_beginning(l, pass, &type, raw, &bytes, error);
    cst_pass_free(pass);
  }
  if (!raw) {
    l->schema = type;
  } else if (type.release != NULL) {
    type.release(&type);
  }
  if (status == CST_OK || status == CST_SCHEMA) {
    estimate(l, bytes, raw);
  }
  return status;
}

/* The types of CSV and JSON come from their beginning: they are read as a pipe is. */
static cst_status read_piped_file(void *ctx, uint64_t offset, void *buffer, size_t size,
                                  size_t *got, cst_error *error) {
  FILE *file = ctx;
  (void)offset;
  *got = fread(buffer, 1, size, file);
  if (*got == 0 && ferror(file)) {
    error->code = CST_IO;
    snprintf(error->message, sizeof error->message, "cannot be read");
    return CST_IO;
  }
  return CST_OK;
}

static void close_piped_file(void *ctx) { fclose(ctx); }

static cst_status open_as_pipe(const info_look *l, cst_source **out, cst_error *error) {
  cst_source_options options = look_options(l, l->format);
  options.batch_size = SAMPLE;
  FILE *file = fopen(l->path, "rb");
  if (file == NULL) {
    return open_source(l, l->format, SAMPLE, out, error); /* which says why */
  }
  cst_reader reader = {.size = sizeof reader,
                       .name = l->path,
                       .read_at = read_piped_file,
                       .close = close_piped_file,
                       .ctx = file};
  return cst_source_open_readers(&reader, 1, &options, out, error);
}

/* The records before a fault, which fill no batch. */
static void look_in_front(info_look *l, int64_t count) {
  cst_source *source;
  cst_error ignored = CST_ERROR_INIT;
  if (open_source(l, "raw", count < SAMPLE ? count : SAMPLE, &source, &ignored) == CST_OK) {
    (void)look_into(l, source, true, &ignored);
    cst_source_release(source);
    l->exact = false;
  }
}

static cst_status fail_no_records(const char *format, cst_error *error) {
  return cli_fail_argument(error, "name the one that holds the messages by --message-column",
                           "%s has columns, not records", format);
}

static cst_status look_at_file(info_look *l, cst_error *error) {
  cst_source *source;
  struct stat info;
  l->file_bytes = stat(l->path, &info) == 0 ? (int64_t)info.st_size : -1;
  cst_status status = open_source(l, l->settings->source.format, SAMPLE, &source, error);
  if (status != CST_OK) {
    return status;
  }
  snprintf(l->format, sizeof l->format, "%s", cst_source_format(source));
  const cst_format_info *format = cli_format(l->format);
  bool is_message = !l->is_guess && cli_message_of_input(l->settings) != NULL;
  bool raw = format != NULL && format->is_records && !is_message;
  bool text = format != NULL && format->is_text;
  cst_error ignored = CST_ERROR_INIT;
  l->container = cst_source_container(source);
  if (l->is_guess && raw) {
    snprintf(l->format, sizeof l->format, "raw");
  } else if (l->is_guess && l->settings->source.message_column == NULL) {
    cst_source_release(source);
    return fail_no_records(l->format, error);
  }
  (void)cst_source_compression(source, 0, &l->compression, &ignored);
  if (raw || text) {
    cst_source_release(source);
    status = raw ? open_source(l, "raw", SAMPLE, &source, error) : open_as_pipe(l, &source, error);
  }
  if (status != CST_OK) {
    return status;
  }
  status = look_into(l, source, raw, error);
  cst_source_release(source);
  if (text && status == CST_SCHEMA && l->seen > 0) {
    *error = (cst_error)CST_ERROR_INIT; /* the beginning did not tell all types */
    status = CST_OK;
  }
  if (raw && status != CST_OK && l->seen == 0 && error->record > 0) {
    look_in_front(l, error->record);
  }
  return status;
}
/* ---- the files ---- */

/* True if the file is a schema, which has been told. */
static bool show_schema(const info_look *l) {
  cst_schema *schema;
  cst_error ignored = CST_ERROR_INIT;
  if (cst_schema_open(l->path, &schema, &ignored) != CST_OK) {
    return false;
  }
  size_t count = cst_schema_num_features(schema);
  cst_schema_release(schema);
  if (count > 0 && !l->settings->json) {
    cli_print_text(stdout, l->path);
    printf(": a schema of %zu feature%s\n", count, count == 1 ? "" : "s");
    info_print_next("schema spec", l->path, "");
  }
  return count > 0 && !l->settings->json;
}

/* True if the file is a saved view, which has been told. */
static bool show_view(const info_look *l) {
  cst_view *view;
  cst_error ignored = CST_ERROR_INIT;
  if (l->settings->json || cst_view_open(l->path, NULL, &view, &ignored) != CST_OK) {
    return false;
  }
  size_t count = cst_view_num_outputs(view);
  cst_view_release(view);
  cli_print_text(stdout, l->path);
  printf(": a saved view of %zu output%s\n", count, count == 1 ? "" : "s");
  info_print_next("view show", l->path, "");
  return true;
}

static int show_info(const info_look *told, const char *path, bool first) {
  const cli_settings *settings = told->settings;
  info_look l = *told;
  l.path = path;
  l.is_guess = settings->message.descriptors != NULL && settings->message.options.message == NULL;
  int status = CLI_FINE;
  if (look_at_file(&l, &l.error) != CST_OK) {
    bool later = l.error.record > (int64_t)l.seen;
    l.seen = l.seen > 0 && later ? (uint64_t)l.error.record : l.seen;
    if (l.seen == 0 && (show_schema(&l) || show_view(&l))) {
      release_sample(&l);
      return CLI_FINE;
    }
    if (l.seen == 0) {
      l.format[0] = '\0';
    }
  }
  if (settings->json) {
    info_print_json(&l, first);
    status = l.error.code == CST_OK ? CLI_FINE : CLI_FAULTS;
  } else {
    printf(first ? "" : "\n");
    info_print(&l);
    status = l.error.code == CST_OK ? CLI_FINE : cli_fail(&l.error);
  }
  release_sample(&l);
  return status;
}

/* A pipe can be read only once, and what is read of it is lost to others: files alone are opened
 * again and again. */
static int refuse_pipes(cst_source *files) {
  for (size_t i = 0; i < cst_source_num_files(files); i++) {
    struct stat info;
    if (stat(cst_source_file(files, i), &info) == 0 && S_ISFIFO(info.st_mode)) {
      return cli_usage(&cli_info, "columnstone head reads it", "%s is a pipe and has no size",
                       cst_source_file(files, i));
    }
  }
  return CLI_FINE;
}

/* told: the settings and options, and nothing else. */
static int info(const info_look *told) {
  const cli_settings *settings = told->settings;
  cst_error error = CST_ERROR_INIT;
  cst_source *files;
  cst_source_options options = cli_source_options(settings, NULL);
  options.message = NULL;
  options.message_column = NULL;
  const bool is_message = options.format != NULL && strcmp(options.format, "message") == 0;
  if (options.format == NULL || is_message) { /* for the names only */
    options.format = "raw";
    options.num_format_options = 0;
  }
  if (cst_source_open(settings->paths, settings->num_paths, &options, &files, &error) != CST_OK) {
    return cli_fail(&error);
  }
  int status = refuse_pipes(files);
  if (status != CLI_FINE) {
    cst_source_release(files);
    return status;
  }
  printf(settings->json ? "{\"files\": [" : "");
  for (size_t i = 0; i < cst_source_num_files(files); i++) {
    int here = show_info(told, cst_source_file(files, i), i == 0);
    status = here > status ? here : status;
  }
  printf(settings->json ? "]}\n" : "");
  cst_source_release(files);
  return cli_flush(status);
}

static int run_info(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_info, argc, argv, &settings);
  for (size_t i = 0; status < 0 && i < settings.num_paths; i++) {
    if (strcmp(settings.paths[i], "-") == 0) {
      status = cli_usage(&cli_info, "columnstone head - reads it", "standard input has no size");
    }
  }
  if (status < 0) {
    status = info(&(info_look){
        .settings = &settings, .options = argv, .num_options = argc, .error = CST_ERROR_INIT});
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_info = {
    .name = "info",
    .usage = "FILE... [--proto-set FILE] [--json]",
    .summary = "Shows what a file contains: format, number of records, features",
    .details = "Reads the first 1000 records, up to 32 MiB. For larger files the number of records "
               "is an estimate, unless the file has an index.\n\nWith --proto-set but without "
               "--message, it reports which message types fit the records, and how well.",
    .examples =
        CLI_EXAMPLES({"columnstone info trips.tfrecord", "format, size and features of a file"},
                     {"columnstone info sessions.tfrecord --proto-set shop.desc",
                      "find the message type of the records"},
                     {"columnstone info trips.csv --json", "the same for programs"}),
    .see = "head, schema infer, count",
    .exits = "1 the file is damaged or in an unknown format",
    .options = CLI_OPTIONS(OPTION_JSON, OPTION_FORMAT, OPTIONS_FORMATS, OPTIONS_MESSAGE,
                           OPTION_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_info,
};
