/* columnstone head: the first records as JSON lines.
 *
 * Records of TFRecord files need no schema: the raw records are read one by one, no further than
 * asked for, and decoded together, so that every line has the same keys. Other formats give batches
 * of their own. What is good before a fault is printed before the fault is reported.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* A record and where it came from, for errors. */
typedef struct origin {
  const char *file;
  int64_t record, offset;
} origin;

typedef struct records {
  cst_bytes *items; /* copies */
  origin *origins;
  size_t count, room;
} records;

typedef struct head {
  const cli_settings *settings;
  cst_source *files; /* all of the inputs, for their names */
  records taken;
  int64_t left;            /* lines to show */
  bool sequences;          /* the records are tf.SequenceExamples */
  cli_shortener shortener; /* of what goes to a terminal */
} head;

/* TFRecord: length and its CRC before the data, their CRC after them. */
enum { FRAMING = 16 };

static cst_status fail_head_memory(cst_error *error) {
  *error = (cst_error)CST_ERROR_INIT;
  error->code = CST_NO_MEMORY;
  snprintf(error->message, sizeof error->message, "out of memory");
  return CST_NO_MEMORY;
}

/* ---- collecting ---- */

static bool make_record_room(records *taken) {
  if (taken->count < taken->room) {
    return true;
  }
  size_t room = taken->room * 2 + 16;
  cst_bytes *items = realloc(taken->items, room * sizeof *items);
  taken->items = items != NULL ? items : taken->items;
  origin *origins = realloc(taken->origins, room * sizeof *origins);
  taken->origins = origins != NULL ? origins : taken->origins;
  if (items == NULL || origins == NULL) {
    return false;
  }
  taken->room = room;
  return true;
}

static bool take_record(records *taken, cst_bytes record, origin from) {
  uint8_t *copy = make_record_room(taken) ? malloc(record.size + 1) : NULL;
  if (copy == NULL) {
    return false;
  }
  if (record.size > 0) {
    memcpy(copy, record.data, record.size);
  }
  taken->items[taken->count] = (cst_bytes){copy, record.size};
  taken->origins[taken->count++] = from;
  return true;
}

static void records_reset(records *taken) {
  for (size_t i = 0; i < taken->count; i++) {
    free((void *)(uintptr_t)taken->items[i].data);
  }
  free(taken->items);
  free(taken->origins);
}

/* The one record of a batch of the format raw, whose column is large_binary. */
static cst_bytes only_record(const struct ArrowArray *batch) {
  const struct ArrowArray *column = batch->children[0];
  const int64_t *offsets = column->buffers[1];
  const uint8_t *data = column->buffers[2];
  int64_t at = batch->offset + column->offset;
  return (cst_bytes){data + offsets[at], (size_t)(offsets[at + 1] - offsets[at])};
}

/* Takes records of one file until there are enough or the file ends. */
static cst_status take_from_pass(head *work, cst_pass *pass, const char *file, bool is_tfrecord,
                                 cst_error *error) {
  origin from = {file, 0, is_tfrecord ? 0 : -1}; /* the offset is not known in other containers */
  while (work->left > 0) {
    struct ArrowArray batch = {.release = NULL};
    cst_status status = cst_pass_next(pass, &batch, error);
    if (status != CST_OK || batch.release == NULL) {
      return status;
    }
    cst_bytes record = only_record(&batch);
    bool fine = take_record(&work->taken, record, from);
    from.record++;
    from.offset += is_tfrecord ? (int64_t)record.size + FRAMING : 0;
    batch.release(&batch);
    if (!fine) {
      return fail_head_memory(error);
    }
    work->left--;
  }
  return CST_OK;
}

/* ---- decoding ---- */

/* tf.Examples or tf.SequenceExamples: one of the two is not NULL. */
typedef struct decoder {
  cst_example_decoder *example;
  cst_sequence_decoder *sequence;
} decoder;

/* schema may be NULL. */
static cst_status decoder_new(const head *work, const cst_schema *schema,
                              const char *const *columns, size_t num_columns, decoder *out,
                              cst_error *error) {
  *out = (decoder){NULL, NULL};
  if (work->sequences) {
    cst_sequence_options options = CST_SEQUENCE_OPTIONS_INIT;
    options.sequence_column = work->settings->source.sequence_column;
    options.columns = columns;
    options.num_columns = num_columns;
    return cst_sequence_decoder_new(schema, &options, &out->sequence, error);
  }
  cst_decode_options options = CST_DECODE_OPTIONS_INIT;
  options.columns = columns;
  options.num_columns = num_columns;
  return cst_example_decoder_new(schema, &options, &out->example, error);
}

static cst_status decoder_decode(const decoder *d, const records *taken, size_t count,
                                 struct ArrowSchema *schema, struct ArrowArray *batch,
                                 cst_error *error) {
  return d->sequence != NULL
             ? cst_sequence_decoder_decode(d->sequence, taken->items, count, schema, batch, error)
             : cst_example_decoder_decode(d->example, taken->items, count, schema, batch, error);
}

static void decoder_free(const decoder *d) {
  cst_sequence_decoder_free(d->sequence);
  cst_example_decoder_free(d->example);
}

/* ---- printing ---- */

static void put_on_terminal(void *ctx, const char *data, size_t size) {
  (void)ctx;
  fwrite(data, 1, size, stdout); /* which cli_flush checks */
}

static cst_status shorten(void *ctx, const void *data, size_t size, cst_error *error) {
  (void)error;
  cli_shorten(ctx, data, size);
  return CST_OK;
}

/* Prints one batch, or a stream's next ones: whole, but for a person. */
static cst_status open_lines(head *work, const struct ArrowSchema *schema, cst_sink **out,
                             cst_error *error) {
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  options.format = "json";
  if (work->settings->full || !isatty(STDOUT_FILENO)) {
    return cst_sink_open("-", schema, &options, out, error);
  }
  work->shortener = (cli_shortener){.put = put_on_terminal};
  cst_writer writer = {
      .size = sizeof writer, .name = "terminal", .write = shorten, .ctx = &work->shortener};
  return cst_sink_open_writer(&writer, schema, &options, out, error);
}

static cst_status print_batch(head *work, const struct ArrowSchema *schema,
                              const struct ArrowArray *batch, cst_error *error) {
  cst_sink *sink;
  cst_status status = open_lines(work, schema, &sink, error);
  if (status != CST_OK) {
    return status;
  }
  status = cst_sink_write(sink, batch, error);
  if (status == CST_OK) {
    status = cst_sink_finish(sink, error);
  }
  cst_sink_free(sink);
  return status;
}

static cst_status decode_and_print(head *work, const decoder *d, const records *taken, size_t count,
                                   cst_error *error) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_status status = decoder_decode(d, taken, count, &schema, &batch, error);
  if (status != CST_OK) {
    return status;
  }
  status = print_batch(work, &schema, &batch, error);
  batch.release(&batch);
  schema.release(&schema);
  return status;
}

/* Names the file of a record that does not parse; what lies before it is printed. */
static cst_status print_good_ones(head *work, const decoder *d, cst_error *fault) {
  if (fault->record < 0 || (size_t)fault->record >= work->taken.count) {
    return fault->code;
  }
  size_t good = (size_t)fault->record;
  const origin *from = &work->taken.origins[good];
  if (fault->file[0] == '\0') {
    snprintf(fault->file, sizeof fault->file, "%s", from->file);
  }
  fault->record = from->record;
  fault->offset = from->offset;
  cst_error ignored = CST_ERROR_INIT;
  if (good > 0) {
    decode_and_print(work, d, &work->taken, good, &ignored);
  }
  return fault->code;
}

static cst_status fail_column(const char *name, const struct ArrowSchema *found, size_t count,
                              cst_error *error) {
  const char **names = calloc((size_t)found->n_children + 1, sizeof *names);
  for (int64_t i = 0; names != NULL && i < found->n_children; i++) {
    names[i] = found->children[i]->name;
  }
  const char *near = names != NULL ? cli_nearest(name, names, (size_t)found->n_children) : NULL;
  *error = (cst_error)CST_ERROR_INIT;
  error->code = CST_NOT_FOUND;
  snprintf(error->path, sizeof error->path, "%s", name);
  snprintf(error->message, sizeof error->message, "no feature of that name in the first %zu %s",
           count, count == 1 ? "record" : "records");
  if (near != NULL) {
    snprintf(error->hint, sizeof error->hint, "did you mean '%.80s'?", near);
  } else {
    snprintf(error->hint, sizeof error->hint, "show more records by -n, or give --schema");
  }
  free(names);
  return CST_NOT_FOUND;
}

static bool schema_has_column(const struct ArrowSchema *schema, const char *name) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (strcmp(schema->children[i]->name, name) == 0) {
      return true;
    }
  }
  return false;
}

static int compare_strings_at(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The first wanted column that the schema does not have; NULL: none, or no memory to tell. */
static const char *find_unknown(const cli_settings *settings, const struct ArrowSchema *schema) {
  size_t count = (size_t)schema->n_children;
  const char **names = calloc(count + 1, sizeof *names);
  const char *unknown = NULL;
  for (size_t i = 0; names != NULL && i < count; i++) {
    names[i] = schema->children[i]->name;
  }
  if (names != NULL && count > 1) {
    qsort(names, count, sizeof *names, compare_strings_at);
  }
  for (size_t i = 0; names != NULL && i < settings->source.num_columns && unknown == NULL; i++) {
    const char *name = settings->source.columns[i];
    unknown = bsearch(&name, names, count, sizeof *names, compare_strings_at) == NULL ? name : NULL;
  }
  free(names);
  return unknown;
}

/* A decoder without a schema takes every name, and gives nulls for one that is nowhere. Records
 * that do not decode are left to the decoder of what is shown. */
static cst_status check_wanted_columns(const head *work, cst_error *error) {
  const cli_settings *settings = work->settings;
  const records *taken = &work->taken;
  cst_error ignored = CST_ERROR_INIT;
  decoder any;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_status status = decoder_new(work, NULL, NULL, 0, &any, error);
  if (status != CST_OK) {
    return status;
  }
  if (decoder_decode(&any, taken, taken->count, &schema, &batch, &ignored) == CST_OK) {
    const char *unknown = find_unknown(settings, &schema);
    if (unknown != NULL) {
      status = fail_column(unknown, &schema, taken->count, error);
    }
    batch.release(&batch);
    schema.release(&schema);
  }
  decoder_free(&any);
  return status;
}

/* Where no format is named: only tf.SequenceExamples have feature lists, and so a struct column. */
static bool have_lists(head *work) {
  const char *name = work->settings->source.sequence_column;
  cst_error ignored = CST_ERROR_INIT;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  decoder any;
  work->sequences = true;
  if (decoder_new(work, NULL, NULL, 0, &any, &ignored) != CST_OK) {
    return false;
  }
  bool found = false;
  if (decoder_decode(&any, &work->taken, work->taken.count, &schema, &batch, &ignored) == CST_OK) {
    found = schema_has_column(&schema, name != NULL ? name : CST_SEQUENCE_COLUMN) &&
            strcmp(schema.children[schema.n_children - 1]->format, "+s") == 0;
    batch.release(&batch);
    schema.release(&schema);
  }
  decoder_free(&any);
  return found;
}

static cst_status print_taken(head *work, cst_error *error) {
  cst_schema *schema;
  decoder d;
  if (work->taken.count == 0) {
    return CST_OK;
  }
  if (work->settings->source.format == NULL) {
    work->sequences = have_lists(work);
  }
  cst_status status = cli_read_schema(work->settings, &schema, error);
  if (status == CST_OK && schema == NULL && work->settings->source.num_columns > 0) {
    status = check_wanted_columns(work, error);
  }
  if (status != CST_OK) {
    return status;
  }
  status = decoder_new(work, schema, work->settings->source.columns,
                       work->settings->source.num_columns, &d, error);
  cst_schema_release(schema);
  if (status != CST_OK) {
    return status;
  }
  status = decode_and_print(work, &d, &work->taken, work->taken.count, error);
  if (status != CST_OK) {
    status = print_good_ones(work, &d, error);
  }
  decoder_free(&d);
  return status;
}

/* ---- formats that give batches ---- */

static cst_status print_pass(head *work, cst_pass *pass, cst_sink *sink, cst_error *error) {
  while (work->left > 0) {
    struct ArrowArray batch = {.release = NULL};
    cst_status status = cst_pass_next(pass, &batch, error);
    if (status != CST_OK || batch.release == NULL) {
      return status;
    }
    struct ArrowArray shown = batch; /* a look at its first rows */
    shown.length = batch.length < work->left ? batch.length : work->left;
    status = cst_sink_write(sink, &shown, error);
    work->left -= shown.length;
    batch.release(&batch);
    if (status != CST_OK) {
      return status;
    }
  }
  return CST_OK;
}

/* What the sink has of the good rows is printed in any case. */
static cst_status print_source(head *work, cst_source *source, cst_error *error) {
  struct ArrowSchema schema;
  cst_sink *sink;
  cst_pass *pass = NULL;
  cst_status status = cst_source_arrow_schema(source, &schema, error);
  if (status != CST_OK) {
    return status;
  }
  status = open_lines(work, &schema, &sink, error);
  schema.release(&schema);
  if (status != CST_OK) {
    return status;
  }
  status = cst_pass_new(source, &pass, error);
  if (status == CST_OK) {
    status = print_pass(work, pass, sink, error);
  }
  cst_error of_finish = CST_ERROR_INIT;
  cst_status finished = cst_sink_finish(sink, &of_finish);
  if (status == CST_OK && finished != CST_OK) {
    *error = of_finish;
    status = finished;
  }
  cst_pass_free(pass);
  cst_sink_free(sink);
  return status;
}

/* ---- the files ---- */

static cst_status open_one(const head *work, const char *file, const char *format,
                           int64_t batch_size, cst_source **out, cst_error *error) {
  const char *named = work->settings->source.format;
  cst_schema *schema;
  cst_status status = cli_read_schema(work->settings, &schema, error);
  if (status != CST_OK) {
    return status;
  }
  cst_source_options options = cli_source_options(work->settings, schema);
  options.format = format;
  options.batch_size = batch_size;
  options.threads = 1;
  if (format != NULL && strcmp(format, "raw") == 0 &&
      (named == NULL || strcmp(named, "raw") != 0)) {
    options.columns = NULL; /* they are the Examples' columns */
    options.num_columns = 0;
  }
  status = cst_source_open(&file, 1, &options, out, error);
  cst_schema_release(schema);
  return status;
}

/* The batches of a file in a format that is not tf.Example; NULL: by its bytes. */
static cst_status show_batches(head *work, const char *file, const char *format, cst_error *error) {
  cst_source *source;
  bool is_raw = format != NULL && strcmp(format, "raw") == 0;
  cst_status status = open_one(work, file, format, is_raw ? 1 : work->left, &source, error);
  if (status == CST_OK) {
    status = print_source(work, source, error);
    cst_source_release(source);
  }
  return status;
}

static cst_status take_examples(head *work, const char *file, cst_error *error) {
  cst_source *source;
  cst_pass *pass;
  cst_status status = open_one(work, file, "raw", 1, &source, error);
  if (status != CST_OK) {
    return status;
  }
  status = cst_pass_new(source, &pass, error);
  if (status == CST_OK) {
    bool is_tfrecord = strcmp(cst_source_container(source), "tfrecord") == 0;
    status = take_from_pass(work, pass, file, is_tfrecord, error);
    cst_pass_free(pass);
  }
  cst_source_release(source);
  return status;
}

/* True for a file of records that are not Examples, as its bytes tell. */
static bool holds_raw_records(const head *work, const char *file) {
  cst_source *source;
  cst_error ignored = CST_ERROR_INIT;
  if (strcmp(file, "-") == 0 || open_one(work, file, NULL, 1, &source, &ignored) != CST_OK) {
    return false;
  }
  bool raw = strcmp(cst_source_format(source), "raw") == 0;
  cst_source_release(source);
  return raw;
}

static cst_status show_head(head *work, const char *file, cst_error *error) {
  const char *format = work->settings->source.format;
  bool is_tfrecord =
      format == NULL || strcmp(format, "example") == 0 || strcmp(format, "sequence_example") == 0;
  if (!is_tfrecord || work->settings->source.flat) {
    return show_batches(work, file, format, error);
  }
  if (format == NULL && work->settings->schema == NULL && holds_raw_records(work, file)) {
    return show_batches(work, file, "raw", error);
  }
  int64_t before = work->left;
  cst_status status = take_examples(work, file, error);
  bool is_other = status == CST_FORMAT || status == CST_CORRUPT;
  if (is_other && format == NULL && work->left == before && strcmp(file, "-") != 0) {
    cst_error other = CST_ERROR_INIT; /* no TFRecord: perhaps a format of a plug-in */
    cst_status shown = show_batches(work, file, NULL, &other);
    if (shown != CST_FORMAT) {
      *error = other;
      return shown;
    }
  }
  return status;
}

static int show(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  head work = {.settings = settings, .left = settings->rows};
  cst_source_options options = cli_source_options(settings, NULL);
  options.format = settings->source.format == NULL ? "raw" : settings->source.format;
  options.columns = NULL;
  options.num_columns = 0;
  cst_status status =
      cst_source_open(settings->paths, settings->num_paths, &options, &work.files, &error);
  if (status != CST_OK) {
    return cli_fail(&error);
  }
  work.sequences =
      settings->source.format != NULL && strcmp(settings->source.format, "sequence_example") == 0;
  for (size_t i = 0; i < cst_source_num_files(work.files) && work.left > 0 && status == CST_OK;
       i++) {
    status = show_head(&work, cst_source_file(work.files, i), &error);
  }
  cst_error of_print = CST_ERROR_INIT;
  cst_status printed = print_taken(&work, &of_print);
  records_reset(&work.taken);
  cst_source_release(work.files);
  if (printed != CST_OK) { /* it comes before the other one */
    return cli_fail(&of_print);
  }
  return status == CST_OK ? cli_flush(CLI_FINE) : cli_fail(&error);
}

/* A container that was named may hold something else than Examples. */
static void name_format(cli_settings *settings) {
  const cst_container_info *container;
  for (size_t i = 0; settings->source.container != NULL && settings->source.format == NULL &&
                     (container = cst_container_get(i)) != NULL;
       i++) {
    if (strcmp(container->name, settings->source.container) == 0 &&
        strcmp(container->format, "example") != 0) {
      settings->source.format = container->format;
    }
  }
}

static int run_head(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_head, argc, argv, &settings);
  if (status < 0) {
    name_format(&settings);
    status = show(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_head = {
    .name = "head",
    .usage = "FILE... [-n N] [--columns A,B] [--schema FILE] [--full]",
    .summary = "Prints the first records as JSON lines; needs no schema",
    .details =
        "Values are lists, but for --flat; null is a feature that is not there, [] one without "
        "values. Bytes\n"
        "are a string if they are UTF-8, else {\"base64\": ...}. `--format raw` shows the records\n"
        "themselves. Reads no further than it has to. On a terminal long strings and lists are "
        "cut.\n",
    .options = CLI_OPTIONS(OPTION_ROWS, OPTION_FULL, OPTION_SCHEMA, OPTION_COLUMNS, OPTION_FLAT,
                           OPTION_FORMAT, OPTION_NO_CRC, OPTION_SEQUENCE_COLUMN, OPTIONS_CSV,
                           OPTION_CONTAINER, OPTIONS_LIMITS),
    .min_paths = 1,
    .run = run_head,
};
