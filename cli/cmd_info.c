/* columnstone info: what a file is, from a look at its beginning.
 *
 * The first records tell the features. How many there are is counted if the file is small or has an
 * index, else estimated from the bytes that the first ones take.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

enum {
  SAMPLE = 1000,          /* records that are decoded */
  LOOK_BYTES = 32 << 20,  /* of a file, at most, for the estimate */
  SAMPLE_BYTES = 4 << 20, /* of records in one batch */
  FRAMING = 16,           /* of a record in a TFRecord file */
  SHOWN = 50,             /* features on a terminal or page; --json has all */
  MOST_WIDTH = 32,        /* of a column of names or types */
  USUAL_WIDTH = 100       /* where there is no terminal */
};

typedef struct look {
  const cli_settings *settings;
  const char *path;
  char format[32];         /* "example", ... */
  const char *compression; /* "gzip", ...; NULL: none */
  uint8_t head[8];         /* of the file, with zeros behind its end */
  int64_t file_bytes;
  uint64_t seen; /* records */
  uint64_t total;
  bool exact;                /* else total is an estimate; 0: none */
  struct ArrowSchema schema; /* of the first records */
  struct ArrowArray batch;
  cst_error error; /* code CST_OK: none */
} look;

/* ---- bytes ---- */

static uint64_t little_endian(const uint8_t *data) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; i--) {
    value = value << 8 | data[i];
  }
  return value;
}

/* By the first bytes. zlib's header is text as well, or the size of a first record: the caller
 * knows better. */
static const char *compression_of(const uint8_t head[8]) {
  static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
  if (head[0] == 0x1f && head[1] == 0x8b) {
    return "gzip";
  }
  if (memcmp(head, zstd, sizeof zstd) == 0) {
    return "zstd";
  }
  bool zlib = (head[0] & 0x0f) == 8 && (head[0] << 8 | head[1]) % 31 == 0;
  return zlib && (head[1] < 0x20 || head[1] > 0x7e) ? "zlib" : NULL;
}

static void look_at_bytes(look *l) {
  struct stat info;
  l->file_bytes = stat(l->path, &info) == 0 ? (int64_t)info.st_size : -1;
  FILE *file = fopen(l->path, "rb");
  if (file != NULL) {
    size_t got = fread(l->head, 1, sizeof l->head, file);
    l->compression = got > 0 ? compression_of(l->head) : NULL;
    fclose(file);
  }
}

/* ---- records ---- */

static bool is_records(const char *format) {
  return strcmp(format, "example") == 0 || strcmp(format, "sequence_example") == 0 ||
         strcmp(format, "raw") == 0;
}

static cst_status open_source(const look *l, const char *format, int64_t rows, cst_source **out,
                              cst_error *error) {
  cst_source_options options = cli_source_options(l->settings, NULL);
  options.format = format;
  options.batch_size = rows;
  options.batch_bytes = SAMPLE_BYTES;
  options.threads = 1;
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

static cst_status decode_sequences(const struct ArrowSchema *type, struct ArrowArray *records,
                                   look *l, cst_error *error) {
  cst_sequence_decoder *decoder;
  cst_status status = cst_sequence_decoder_new(NULL, NULL, &decoder, error);
  if (status == CST_OK) {
    status =
        cst_sequence_decoder_decode_arrow(decoder, type, records, &l->schema, &l->batch, error);
    cst_sequence_decoder_free(decoder);
  }
  return status;
}

static cst_status decode_examples(const struct ArrowSchema *type, struct ArrowArray *records,
                                  look *l, cst_error *error) {
  cst_example_decoder *decoder;
  cst_status status = cst_example_decoder_new(NULL, NULL, &decoder, error);
  if (status == CST_OK) {
    status = cst_example_decoder_decode_arrow(decoder, type, records, &l->schema, &l->batch, error);
    cst_example_decoder_free(decoder);
  }
  return status;
}

static void release_batch(look *l) {
  if (l->batch.release != NULL) {
    l->batch.release(&l->batch);
  }
  if (l->schema.release != NULL) {
    l->schema.release(&l->schema);
  }
}

/* Records that are neither are left undecoded. */
static void decode(look *l, const struct ArrowSchema *type, struct ArrowArray *records) {
  cst_error error = CST_ERROR_INIT;
  cst_status status = decode_sequences(type, records, l, &error);
  snprintf(l->format, sizeof l->format, "sequence_example");
  if (status == CST_OK && !has_lists(&l->schema)) {
    release_batch(l);
    status = decode_examples(type, records, l, &error);
    snprintf(l->format, sizeof l->format, "example");
  }
  if (status != CST_OK) {
    snprintf(l->format, sizeof l->format, "raw");
  }
}

/* Of the first `count` records of a batch of the format raw, whose column is large_binary. */
static uint64_t bytes_of(const struct ArrowArray *records, int64_t count) {
  const struct ArrowArray *column = records->children[0];
  const int64_t *offsets = column->buffers[1];
  int64_t first = records->offset + column->offset;
  return (uint64_t)(offsets[first + count] - offsets[first]);
}

/* ---- the pass over the beginning ---- */

static void estimate(look *l, uint64_t bytes) {
  if (bytes > 0 && l->file_bytes > 0 && l->seen > 0) {
    l->total = (uint64_t)((double)l->seen * (double)l->file_bytes / (double)bytes);
    l->total = l->total > l->seen ? l->total : l->seen;
  }
}

/* Keeps the first batch; decoded, if it is one of records. */
static void take_first(look *l, const struct ArrowSchema *type, struct ArrowArray *batch,
                       bool raw) {
  if (!raw) {
    l->batch = *batch;
    batch->release = NULL;
    return;
  }
  if (batch->length > 0 && little_endian(l->head) == bytes_of(batch, 1)) {
    l->compression = NULL; /* a TFRecord file begins with the size of its first record */
  }
  decode(l, type, batch);
}

/* *stream_bytes: of the records with their framing. */
static cst_status read_on(look *l, cst_pass *pass, const struct ArrowSchema *type, bool raw,
                          uint64_t *stream_bytes, cst_error *error) {
  uint64_t bytes = 0;
  while (bytes < LOOK_BYTES) {
    struct ArrowArray batch;
    cst_status status = cst_pass_next(pass, &batch, error);
    if (status != CST_OK || batch.release == NULL) {
      l->exact = status == CST_OK;
      return status;
    }
    bool first = l->seen == 0;
    l->seen += (uint64_t)batch.length;
    if (raw) {
      bytes += bytes_of(&batch, batch.length) + FRAMING * (uint64_t)batch.length;
      *stream_bytes = bytes;
    } else {
      cst_pass_progress(pass, &bytes, NULL);
    }
    if (first) {
      take_first(l, type, &batch, raw);
    }
    if (batch.release != NULL) {
      batch.release(&batch);
    }
  }
  return CST_OK;
}

static uint64_t indexed(const look *l) {
  cst_index *index;
  cst_error ignored = CST_ERROR_INIT;
  if (cst_index_load(l->path, NULL, &index, &ignored) != CST_OK) {
    return 0;
  }
  uint64_t records = cst_index_num_records(index);
  cst_index_free(index);
  return records;
}

static void count(look *l, bool raw, uint64_t stream_bytes, uint64_t file_bytes) {
  bool plain = raw && l->compression == NULL;
  l->total = l->exact ? l->seen : plain ? indexed(l) : 0;
  if (l->total > 0 || l->exact) {
    l->exact = true;
    return;
  }
  estimate(l, plain ? stream_bytes : file_bytes);
}

static cst_status look_into(look *l, cst_source *source, bool raw, cst_error *error) {
  struct ArrowSchema type = {.release = NULL};
  cst_pass *pass = NULL;
  uint64_t stream_bytes = 0, file_bytes = 0;
  cst_status status = cst_source_arrow_schema(source, &type, error);
  if (status == CST_OK) {
    status = cst_pass_new(source, &pass, error);
  }
  if (status == CST_OK) {
    status = read_on(l, pass, &type, raw, &stream_bytes, error);
    cst_pass_progress(pass, &file_bytes, NULL);
    cst_pass_free(pass);
  }
  if (!raw) {
    l->schema = type;
  } else if (type.release != NULL) {
    type.release(&type);
  }
  if (status == CST_OK || status == CST_SCHEMA) {
    count(l, raw, stream_bytes, file_bytes);
  }
  return status;
}

/* The types of CSV and JSON come from their beginning: they are read as a pipe is. */
static cst_status read_at(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                          cst_error *error) {
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

static void close_file(void *ctx) { fclose(ctx); }

static cst_status open_as_pipe(const look *l, cst_source **out, cst_error *error) {
  cst_source_options options = cli_source_options(l->settings, NULL);
  options.format = l->format;
  options.batch_size = SAMPLE;
  options.threads = 1;
  FILE *file = fopen(l->path, "rb");
  if (file == NULL) {
    return open_source(l, l->format, SAMPLE, out, error); /* which says why */
  }
  cst_reader reader = {
      .size = sizeof reader, .name = l->path, .read_at = read_at, .close = close_file, .ctx = file};
  return cst_source_open_readers(&reader, 1, &options, out, error);
}

/* The records in front of a fault, which fill no batch. */
static void look_in_front(look *l, int64_t count) {
  cst_source *source;
  cst_error ignored = CST_ERROR_INIT;
  if (open_source(l, "raw", count < SAMPLE ? count : SAMPLE, &source, &ignored) == CST_OK) {
    (void)look_into(l, source, true, &ignored);
    cst_source_release(source);
    l->exact = false;
  }
}

static cst_status look_at(look *l, cst_error *error) {
  cst_source *source;
  look_at_bytes(l);
  cst_status status = open_source(l, l->settings->format, SAMPLE, &source, error);
  if (status != CST_OK) {
    return status;
  }
  snprintf(l->format, sizeof l->format, "%s", cst_source_format(source));
  bool raw = is_records(l->format);
  bool text = strcmp(l->format, "csv") == 0 || strcmp(l->format, "json") == 0;
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

/* ---- a feature ---- */

typedef struct feature {
  const struct ArrowSchema *type;
  const struct ArrowArray *values;
  int64_t present, fewest, most; /* of the rows of the sample; values, -1: it is no list */
  int64_t example;               /* a row; -1: none has a value */
} feature;

static bool is_present(const feature *f, int64_t slot) {
  const uint8_t *bits = f->values->n_buffers > 0 ? f->values->buffers[0] : NULL;
  if (strcmp(f->type->format, "n") == 0) {
    return false;
  }
  if (f->type->format[0] == '+' && (f->type->format[1] == 'u' || f->type->format[1] == 'r')) {
    return true; /* unions and runs have no such bits */
  }
  return bits == NULL || (bits[slot / 8] >> (slot % 8) & 1);
}

/* -1: no list. */
static int64_t items_of(const feature *f, int64_t slot) {
  const void *offsets = f->values->n_buffers > 1 ? f->values->buffers[1] : NULL;
  if (strcmp(f->type->format, "+L") == 0 && offsets != NULL) {
    return ((const int64_t *)offsets)[slot + 1] - ((const int64_t *)offsets)[slot];
  }
  if (strcmp(f->type->format, "+l") == 0 && offsets != NULL) {
    return ((const int32_t *)offsets)[slot + 1] - ((const int32_t *)offsets)[slot];
  }
  return -1;
}

static feature feature_of(const look *l, int64_t i) {
  feature f = {.type = l->schema.children[i],
               .values = l->batch.release != NULL ? l->batch.children[i] : NULL,
               .fewest = -1,
               .most = -1,
               .example = -1};
  int64_t rows = f.values != NULL ? l->batch.length : 0;
  for (int64_t row = 0; row < rows; row++) {
    int64_t slot = l->batch.offset + f.values->offset + row;
    if (!is_present(&f, slot)) {
      continue;
    }
    int64_t items = items_of(&f, slot);
    f.fewest = f.present == 0 || items < f.fewest ? items : f.fewest;
    f.most = items > f.most ? items : f.most;
    f.example = f.example < 0 && items != 0 ? row : f.example;
    f.present++;
  }
  return f;
}

/* "int64", "list of text"; lists of tf.Examples are told by the number of their values. */
static void name_type(const struct ArrowSchema *type, bool of_example, char *out, size_t room) {
  static const struct {
    const char *format, *name;
  } names[] = {{"n", "null"},    {"b", "bool"},    {"c", "int8"},    {"C", "uint8"},
               {"s", "int16"},   {"S", "uint16"},  {"i", "int32"},   {"I", "uint32"},
               {"l", "int64"},   {"L", "uint64"},  {"e", "float16"}, {"f", "float32"},
               {"g", "float64"}, {"z", "bytes"},   {"Z", "bytes"},   {"vz", "bytes"},
               {"u", "text"},    {"U", "text"},    {"vu", "text"},   {"tdD", "date"},
               {"tdm", "date"},  {"+s", "struct"}, {"+m", "map"},    {"+r", "runs"}};
  const char *format = type->format;
  if (type->dictionary != NULL) {
    name_type(type->dictionary, false, out, room);
    return;
  }
  if (format[0] == '+' && strchr("lLvw", format[1]) != NULL) {
    size_t used = of_example ? 0 : (size_t)snprintf(out, room, "list of ");
    if (used < room) {
      name_type(type->children[0], false, out + used, room - used);
    }
    return;
  }
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(names[i].format, format) == 0) {
      snprintf(out, room, "%s", names[i].name);
      return;
    }
  }
  const char *kind = strncmp(format, "ts", 2) == 0   ? "timestamp"
                     : strncmp(format, "tt", 2) == 0 ? "time"
                     : strncmp(format, "tD", 2) == 0 ? "duration"
                     : strncmp(format, "d:", 2) == 0 ? "decimal"
                     : strncmp(format, "w:", 2) == 0 ? "bytes"
                     : strncmp(format, "+u", 2) == 0 ? "union"
                                                     : format;
  snprintf(out, room, "%s", kind);
}

/* ---- an example value, as JSON ---- */

typedef struct text {
  char *data;
  size_t size, room;
  bool failed;
} text;

static void text_put(void *ctx, const char *data, size_t size) {
  text *t = ctx;
  if (t->size + size + 1 > t->room) {
    size_t room = (t->room + size + 1) * 2;
    char *grown = realloc(t->data, room);
    t->failed |= grown == NULL;
    t->data = grown != NULL ? grown : t->data;
    t->room = grown != NULL ? room : t->room;
  }
  if (!t->failed && size > 0) {
    memcpy(t->data + t->size, data, size);
    t->size += size;
    t->data[t->size] = '\0';
  }
}

static cst_status text_write(void *ctx, const void *data, size_t size, cst_error *error) {
  (void)error;
  text_put(ctx, data, size);
  return CST_OK;
}

/* The line {"name": VALUE} of one row and column. */
static bool write_row(const look *l, int64_t i, int64_t row, text *out) {
  struct ArrowSchema *child = l->schema.children[i];
  struct ArrowSchema type = l->schema;
  struct ArrowArray *column = l->batch.children[i];
  struct ArrowArray batch = l->batch;
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  cst_writer writer = {.size = sizeof writer, .name = "text", .write = text_write, .ctx = out};
  cst_error ignored = CST_ERROR_INIT;
  cst_sink *sink;
  options.format = "json";
  type.n_children = batch.n_children = 1;
  type.children = &child;
  batch.children = &column;
  batch.offset += row;
  batch.length = 1;
  batch.null_count = -1;
  if (cst_sink_open_writer(&writer, &type, &options, &sink, &ignored) != CST_OK) {
    return false;
  }
  bool fine =
      cst_sink_write(sink, &batch, &ignored) == CST_OK && cst_sink_finish(sink, &ignored) == CST_OK;
  cst_sink_free(sink);
  return fine && !out->failed && out->size > 0;
}

/* Where the value begins behind the name, which is a JSON string. */
static const char *behind_name(const char *line) {
  const char *at = line + 2;
  while (*at != '"') {
    at += *at == '\\' ? 2 : 1;
  }
  return at + 3;
}

/* The value as JSON in *out; NULL: there is none. Free out->data. */
static const char *example_of(const look *l, int64_t i, const feature *f, text *out) {
  *out = (text){NULL, 0, 0, false};
  if (f->example < 0 || !write_row(l, i, f->example, out)) {
    return NULL;
  }
  while (out->size > 0 && strchr("}\n", out->data[out->size - 1]) != NULL) {
    bool brace = out->data[out->size - 1] == '}';
    out->data[--out->size] = '\0';
    if (brace) {
      break;
    }
  }
  return behind_name(out->data);
}

/* ---- printing ---- */

static int width_of_output(void) {
  struct winsize size;
  bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : USUAL_WIDTH;
}

/* Bytes of the first `most` characters; *count of them. */
static size_t cut(const char *text, int most, int *count) {
  size_t size = 0;
  *count = 0;
  while (text[size] != '\0' && *count < most) {
    do {
      size++;
    } while (((unsigned char)text[size] & 0xc0) == 0x80);
    ++*count;
  }
  return size;
}

/* Left-aligned and as wide as `width`, cut to it; width is counted in characters. */
static void print_cell(const char *value, int width, bool pad) {
  int count;
  size_t whole = strlen(value);
  size_t size = cut(value, width, &count);
  if (size < whole) {
    size = cut(value, width - 1, &count);
  }
  char *shown = malloc(size + 4);
  if (shown == NULL) {
    return;
  }
  snprintf(shown, size + 4, "%.*s%s", (int)size, value, size < whole ? "…" : "");
  cli_print_text(stdout, shown);
  free(shown);
  printf("%*s", pad ? width - count - (size < whole) : 0, "");
}

static const char *format_name(const char *format) {
  static const struct {
    const char *format, *name;
  } names[] = {{"example", "TFRecord of tf.Example"},
               {"sequence_example", "TFRecord of tf.SequenceExample"},
               {"raw", "TFRecord"},
               {"csv", "CSV"},
               {"json", "JSON lines"},
               {"arrow", "Arrow"},
               {"parquet", "Parquet"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(names[i].format, format) == 0) {
      return names[i].name;
    }
  }
  return format;
}

static void print_records(const look *l) {
  const char *unit = is_records(l->format) ? "record" : "row";
  if (l->error.code != CST_OK) {
    printf("%" PRIu64 " sound %s%s in front of a fault", l->seen, unit, l->seen == 1 ? "" : "s");
  } else if (l->exact) {
    printf("%" PRIu64 " %s%s", l->total, unit, l->total == 1 ? "" : "s");
  } else if (l->total > 0) {
    uint64_t step = 1;
    while (l->total / step >= 1000) {
      step *= 10;
    }
    printf("about %" PRIu64 " %ss (estimated by the first %" PRIu64 ")",
           (l->total + step / 2) / step * step, unit, l->seen);
  } else {
    printf("%" PRIu64 " %ss or more", l->seen, unit);
  }
}

static void print_values(const feature *f, char out[32]) {
  if (f->most < 0) {
    snprintf(out, 32, "%s", "");
  } else if (f->fewest == f->most) {
    snprintf(out, 32, "%" PRId64, f->most);
  } else {
    snprintf(out, 32, "%" PRId64 " to %" PRId64, f->fewest, f->most);
  }
}

static int columns_of(const char *text) {
  int count;
  cut(text, MOST_WIDTH, &count);
  return count;
}

static int larger(int a, int b) { return a > b ? a : b; }

static void print_feature(const look *l, int64_t i, int name_width, int type_width, int width) {
  char type[128], values[32], share[16] = "-";
  bool of_example = is_records(l->format);
  feature f = feature_of(l, i);
  name_type(f.type, of_example, type, sizeof type);
  print_values(&f, values);
  if (l->batch.length > 0) {
    double percent = 100.0 * (double)f.present / (double)l->batch.length;
    bool odd = f.present > 0 && f.present < l->batch.length;
    percent = odd && percent > 99 ? 99 : odd && percent < 1 ? 1 : percent;
    snprintf(share, sizeof share, "%.0f %%", percent);
  }
  text whole, shown = {NULL, 0, 0, false};
  const char *example = example_of(l, i, &f, &whole);
  if (example != NULL) {
    cli_shortener shortener = {.put = text_put, .ctx = &shown};
    cli_shorten(&shortener, example, strlen(example));
  }
  printf("  ");
  print_cell(f.type->name, name_width, true);
  printf("  ");
  print_cell(type, type_width, true);
  printf("  %7s  ", share);
  if (shown.data == NULL || shown.failed) {
    fputs(values, stdout);
  } else {
    printf("%-9s  ", values);
    print_cell(shown.data, larger(width - name_width - type_width - 26, 16), false);
  }
  printf("\n");
  free(whole.data);
  free(shown.data);
}

static void print_features(const look *l) {
  int names = (int)strlen("feature"), types = (int)strlen("type"), width = width_of_output();
  int64_t count = l->schema.n_children < SHOWN ? l->schema.n_children : SHOWN;
  for (int64_t i = 0; i < count; i++) {
    char type[128];
    name_type(l->schema.children[i], is_records(l->format), type, sizeof type);
    names = larger(names, columns_of(l->schema.children[i]->name));
    types = larger(types, columns_of(type));
  }
  if ((uint64_t)l->batch.length < (l->exact ? l->total : UINT64_MAX)) {
    printf("  Of the first %" PRId64 ":\n", l->batch.length);
  }
  printf("  %-*s  %-*s  %7s  %-9s  %s\n", names, "feature", types, "type", "present", "values",
         "example");
  for (int64_t i = 0; i < count; i++) {
    print_feature(l, i, names, types, width);
  }
  if (count < l->schema.n_children) {
    printf("  and %" PRId64 " more (--json prints all)\n", l->schema.n_children - count);
  }
}

/* The name of a file as a shell takes it. */
static void print_quoted(const char *path) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
  if (path[0] != '-' && path[strspn(path, plain)] == '\0') {
    fputs(path, stdout);
    return;
  }
  fputs(path[0] == '-' ? "./'" : "'", stdout);
  for (; *path != '\0'; path++) {
    if (*path == '\'') {
      fputs("'\\''", stdout);
    } else {
      char one[2] = {*path, '\0'};
      (unsigned char)*path < 0x80 ? cli_print_text(stdout, one) : (void)putchar(*path);
    }
  }
  putchar('\'');
}

static void print_next(const char *verb, const char *path, const char *rest) {
  printf("next: columnstone %s ", verb);
  print_quoted(path);
  printf("%s\n", rest);
}

static void print_look(const look *l) {
  char size[32];
  bool known = l->format[0] != '\0';
  bool fine = l->error.code == CST_OK;
  cli_print_text(stdout, l->path);
  if (l->file_bytes == 0) {
    printf(": empty\n");
    return;
  }
  printf(": %s%s%s, %s", known ? format_name(l->format) : "unknown",
         l->compression != NULL ? ", " : "", l->compression != NULL ? l->compression : "",
         l->file_bytes >= 0 ? cli_bytes((double)l->file_bytes, size) : "?");
  if (fine || l->seen > 0) {
    printf(", ");
    print_records(l);
  }
  printf("\n");
  if (l->schema.release != NULL && l->schema.n_children > 0) {
    print_features(l);
  }
  if (!fine && l->error.code == CST_CORRUPT) {
    print_next("verify", l->path, "");
  } else if (fine && l->schema.n_children > 0) {
    print_next("head", l->path, "");
    print_next("schema infer", l->path, " -o schema.pbtxt");
  } else if (fine && l->seen > 0) {
    print_next("head", l->path, " --format raw");
  }
}

static void print_json_feature(const look *l, int64_t i) {
  char type[128];
  feature f = feature_of(l, i);
  text whole;
  const char *example = example_of(l, i, &f, &whole);
  name_type(f.type, is_records(l->format), type, sizeof type);
  printf("%s\n    {\"name\": ", i > 0 ? "," : "");
  cli_json_string(stdout, f.type->name);
  printf(", \"type\": \"%s\", \"present\": %" PRId64, type, f.present);
  if (f.most >= 0) {
    printf(", \"min_values\": %" PRId64 ", \"max_values\": %" PRId64, f.fewest, f.most);
  }
  printf(", \"example\": %s}", example != NULL ? example : "null");
  free(whole.data);
}

static void print_json_look(const look *l, bool first) {
  printf("%s\n  {\"file\": ", first ? "" : ",");
  cli_json_string(stdout, l->path);
  printf(", \"format\": ");
  cli_json_string(stdout, l->format[0] != '\0' ? l->format : NULL);
  printf(", \"compression\": ");
  cli_json_string(stdout, l->compression);
  printf(", \"file_bytes\": %" PRId64 ",\n   \"records\": %" PRIu64 ", \"exact\": %s",
         l->file_bytes, l->error.code == CST_OK ? l->total : l->seen,
         l->exact && l->error.code == CST_OK ? "true" : "false");
  printf(", \"sampled\": %" PRId64 ",\n   \"features\": [", l->batch.length);
  for (int64_t i = 0; l->schema.release != NULL && i < l->schema.n_children; i++) {
    print_json_feature(l, i);
  }
  printf("],\n   \"error\": ");
  if (l->error.code == CST_OK) {
    printf("null}");
  } else {
    cli_json_error(stdout, &l->error);
    printf("}");
  }
}

/* ---- the files ---- */

/* True if the file is a schema, which has been told. */
static bool show_schema(const look *l) {
  cst_schema *schema;
  cst_error ignored = CST_ERROR_INIT;
  if (cst_schema_read_file(l->path, &schema, &ignored) != CST_OK) {
    return false;
  }
  size_t count = cst_schema_num_features(schema);
  cst_schema_release(schema);
  if (count > 0 && !l->settings->json) {
    cli_print_text(stdout, l->path);
    printf(": a schema of %zu feature%s\n", count, count == 1 ? "" : "s");
    print_next("schema spec", l->path, "");
  }
  return count > 0 && !l->settings->json;
}

static int show_file(const cli_settings *settings, const char *path, bool first) {
  look l = {.settings = settings, .path = path, .error = CST_ERROR_INIT};
  int status = CLI_FINE;
  if (look_at(&l, &l.error) != CST_OK) {
    bool later = l.error.record > (int64_t)l.seen;
    l.seen = l.seen > 0 && later ? (uint64_t)l.error.record : l.seen;
    if (l.seen == 0 && show_schema(&l)) {
      release_batch(&l);
      return CLI_FINE;
    }
    if (l.seen == 0) {
      l.format[0] = '\0';
    }
  }
  if (settings->json) {
    print_json_look(&l, first);
    status = l.error.code == CST_OK ? CLI_FINE : CLI_FAULTS;
  } else {
    printf(first ? "" : "\n");
    print_look(&l);
    status = l.error.code == CST_OK ? CLI_FINE : cli_fail(&l.error);
  }
  release_batch(&l);
  return status;
}

static int info(const cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  cst_source *files;
  cst_source_options options = cli_source_options(settings, NULL);
  options.format = settings->format != NULL ? settings->format : "raw"; /* for the names only */
  if (cst_source_open(settings->paths, settings->num_paths, &options, &files, &error) != CST_OK) {
    return cli_fail(&error);
  }
  int status = CLI_FINE;
  printf(settings->json ? "{\"files\": [" : "");
  for (size_t i = 0; i < cst_source_num_files(files); i++) {
    int here = show_file(settings, cst_source_file(files, i), i == 0);
    status = here > status ? here : status;
  }
  printf(settings->json ? "]}\n" : "");
  cst_source_release(files);
  return cli_flush(status);
}

static int run(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_info, argc, argv, &settings);
  for (size_t i = 0; status < 0 && i < settings.num_paths; i++) {
    if (strcmp(settings.paths[i], "-") == 0) {
      status = cli_usage(&cli_info, "columnstone head - reads it", "standard input has no size");
    }
  }
  if (status < 0) {
    status = info(&settings);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_info = {
    .name = "info",
    .usage = "FILE... [--json]",
    .summary = "Tells what a file is: format, records, features and an example of each",
    .details =
        "Looks at the first 1000 records, and no further than 32 MiB: of larger files the number "
        "of\n"
        "records is an estimate, unless an index tells it.\n",
    .options = OPTION_JSON | OPTION_FORMAT | OPTIONS_CSV | OPTIONS_LIMITS,
    .min_paths = 1,
    .run = run,
};
