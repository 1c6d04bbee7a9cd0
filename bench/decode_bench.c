/* Times the decoder (or the encoder) alone, in C: for tuning, and to run under perf or callgrind.
 *
 *   decode_bench FILE [SCHEMA] [--columns a,b] [--batch 1000] [--repeat 10] [--keep] [--arrow]
 *                [--views] [--encode] [--sequence] [--message NAME]
 *                [--recursion N]
 *
 * FILE is a plain TFRecord file; it is read into memory before the clock starts. SCHEMA is one of
 * TFMD, or with --message a FileDescriptorSet that has this message. Prints one line
 * per repetition and the best of them, in MB/s of serialized records and CPU time. --keep holds all
 * batches of a repetition, --arrow hands the records over as Arrow large_binary arrays, --views
 * asks for zero-copy views as well, --encode times the way back (with --keep of batches that lie in
 * memory), --sequence says that the records are tf.SequenceExamples.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include <columnstone/message.h>
#include <columnstone/records.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct bench {
  const char *file;
  const char *schema_path;
  const char *message;
  int32_t recursion;
  const char *columns[512];
  size_t num_columns;
  size_t batch_size;
  int repeat;
  bool keep, arrow, views, encode, sequence;
  cst_decoder *decoder;
  cst_encoder *encoder;
  uint8_t *bytes;     /* the whole file */
  cst_bytes *records; /* the payloads in it */
  int64_t *offsets;   /* per record: where it starts in `bytes`, for Arrow arrays */
  size_t num_records;
  size_t record_bytes;
} bench;

static void die(const char *what, const cst_error *error) {
  char text[4608] = "";
  if (error != NULL) cst_error_format(error, text, sizeof text);
  fprintf(stderr, "decode_bench: %s: %s\n", what, text);
  exit(1);
}

static void *checked(void *ptr) {
  if (ptr == NULL) die("out of memory", NULL);
  return ptr;
}

static void split_columns(bench *b, char *list) {
  for (char *name = strtok(list, ","); name != NULL; name = strtok(NULL, ",")) {
    if (b->num_columns == sizeof b->columns / sizeof b->columns[0]) die("too many columns", NULL);
    b->columns[b->num_columns++] = name;
  }
}

static void parse_arguments(bench *b, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *arg = argv[i];
    bool has_value = i + 1 < argc;
    if (strcmp(arg, "--columns") == 0 && has_value) {
      split_columns(b, argv[++i]);
    } else if (strcmp(arg, "--batch") == 0 && has_value) {
      b->batch_size = strtoul(argv[++i], NULL, 10);
    } else if (strcmp(arg, "--repeat") == 0 && has_value) {
      b->repeat = atoi(argv[++i]);
    } else if (strcmp(arg, "--message") == 0 && has_value) {
      b->message = argv[++i];
    } else if (strcmp(arg, "--recursion") == 0 && has_value) {
      b->recursion = (int32_t)atoi(argv[++i]);
    } else if (strcmp(arg, "--keep") == 0) {
      b->keep = true;
    } else if (strcmp(arg, "--arrow") == 0) {
      b->arrow = true;
    } else if (strcmp(arg, "--views") == 0) {
      b->arrow = b->views = true;
    } else if (strcmp(arg, "--encode") == 0) {
      b->encode = true;
    } else if (strcmp(arg, "--sequence") == 0) {
      b->sequence = true;
    } else if (b->file == NULL) {
      b->file = arg;
    } else {
      b->schema_path = arg;
    }
  }
  if (b->file == NULL || b->batch_size == 0) die("usage: decode_bench FILE [SCHEMA] ...", NULL);
  if (b->encode && b->sequence) die("--encode is for tf.Examples and messages", NULL);
  if (b->message != NULL && b->schema_path == NULL) die("--message needs descriptors", NULL);
}

/* The bytes are to be freed. */
static uint8_t *read_whole(const char *path, size_t *size) {
  FILE *in = fopen(path, "rb");
  if (in == NULL || fseek(in, 0, SEEK_END) != 0) die(path, NULL);
  *size = (size_t)ftell(in);
  rewind(in);
  uint8_t *bytes = checked(malloc(*size + 64));
  if (fread(bytes, 1, *size, in) != *size) die("short read", NULL);
  fclose(in);
  return bytes;
}

static void read_records(bench *b) {
  size_t size;
  b->bytes = read_whole(b->file, &size);
  size_t room = 0;
  for (size_t at = 0; at + 16 <= size;) {
    uint64_t length;
    memcpy(&length, b->bytes + at, sizeof length);
    if (length > size - at - 16) die("not a TFRecord file", NULL);
    if (b->num_records == room) {
      room = room == 0 ? 1024 : 2 * room;
      b->records = checked(realloc(b->records, room * sizeof *b->records));
    }
    b->records[b->num_records++] = (cst_bytes){b->bytes + at + 12, (size_t)length};
    b->record_bytes += (size_t)length;
    at += (size_t)length + 16;
  }
}

/* Arrow wants the records side by side: closes the gaps that the framing left. */
static void pack_records(bench *b) {
  b->offsets = checked(malloc((b->num_records + 1) * sizeof *b->offsets));
  size_t at = 0;
  for (size_t i = 0; i < b->num_records; i++) {
    memmove(b->bytes + at, b->records[i].data, b->records[i].size);
    b->records[i].data = b->bytes + at;
    b->offsets[i] = (int64_t)at;
    at += b->records[i].size;
  }
  b->offsets[b->num_records] = (int64_t)at;
}

static void release_nothing(struct ArrowArray *array) { array->release = NULL; }

static void release_schema_nothing(struct ArrowSchema *schema) { schema->release = NULL; }

static cst_status decode_as_arrow(bench *b, size_t first, size_t count, struct ArrowArray *out,
                                  struct ArrowSchema *out_schema, cst_error *error) {
  const void *buffers[3] = {NULL, b->offsets + first, b->bytes};
  struct ArrowArray array = {
      .length = (int64_t)count, .n_buffers = 3, .buffers = buffers, .release = release_nothing};
  struct ArrowSchema schema = {.format = "Z", .name = "", .release = release_schema_nothing};
  return cst_decoder_decode_arrow(b->decoder, &schema, &array, out_schema, out, error);
}

static void decode(bench *b, size_t first, struct ArrowArray *out, struct ArrowSchema *schema) {
  cst_error error = CST_ERROR_INIT;
  size_t count = b->num_records - first;
  if (count > b->batch_size) count = b->batch_size;
  cst_status status =
      b->arrow ? decode_as_arrow(b, first, count, out, schema, &error)
               : cst_decoder_decode(b->decoder, b->records + first, count, schema, out, &error);
  if (status != CST_OK) die("decode", &error);
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double time_decode(bench *b, struct ArrowArray *batches) {
  size_t num_batches = 0;
  double start = cpu_seconds();
  for (size_t first = 0; first < b->num_records; first += b->batch_size) {
    struct ArrowArray *batch = &batches[b->keep ? num_batches++ : 0];
    decode(b, first, batch, NULL);
    if (!b->keep) batch->release(batch);
  }
  double seconds = cpu_seconds() - start;
  for (size_t i = 0; i < num_batches; i++) batches[i].release(&batches[i]);
  return seconds;
}

static double time_one_encode(bench *b, struct ArrowArray *batch,
                              const struct ArrowSchema *schema) {
  struct ArrowSchema out_schema;
  struct ArrowArray out;
  cst_error error = CST_ERROR_INIT;
  double start = cpu_seconds();
  cst_status status = cst_encoder_encode(b->encoder, schema, batch, &out_schema, &out, &error);
  double seconds = cpu_seconds() - start;
  if (status != CST_OK) die("encode", &error);
  out.release(&out);
  out_schema.release(&out_schema);
  batch->release(batch);
  return seconds;
}

/* Without --keep a batch is encoded while it is still in the cache. */
static double time_encode(bench *b, struct ArrowArray *batches) {
  struct ArrowSchema schema = {.release = NULL};
  double seconds = 0;
  size_t num_batches = 0;
  for (size_t first = 0; first < b->num_records; first += b->batch_size) {
    if (schema.release != NULL) schema.release(&schema);
    decode(b, first, &batches[num_batches++], &schema);
    if (!b->keep) seconds += time_one_encode(b, &batches[--num_batches], &schema);
  }
  for (size_t i = 0; i < num_batches; i++) {
    seconds += time_one_encode(b, &batches[i], &schema);
  }
  if (schema.release != NULL) schema.release(&schema);
  return seconds;
}

/* The options get the message type, whose descriptors the caller releases. */
static cst_status read_message(const bench *b, cst_message_options *message,
                               cst_descriptors **descriptors, cst_error *error) {
  size_t size;
  uint8_t *bytes = read_whole(b->schema_path, &size);
  cst_status status = cst_descriptors_new(bytes, size, NULL, descriptors, error);
  free(bytes);
  message->descriptors = *descriptors;
  message->message = b->message;
  message->recursion = b->recursion;
  return status;
}

static void open_decoder(bench *b) {
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema = NULL;
  cst_descriptors *descriptors = NULL;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  cst_decode_options options = CST_DECODE_OPTIONS_INIT;
  cst_encode_options encoding = CST_ENCODE_OPTIONS_INIT;
  const char *payload = b->message != NULL ? "message"
                        : b->sequence      ? "sequence_example"
                                           : "example";
  cst_status status = CST_OK;
  options.flags = b->views ? CST_COLUMNS_BINARY_VIEWS : 0;
  options.columns = b->num_columns > 0 ? b->columns : NULL;
  options.num_columns = b->num_columns;
  if (b->message != NULL) {
    status = read_message(b, &message, &descriptors, &error);
    options.message = encoding.message = &message;
  } else if (b->schema_path != NULL) {
    status = cst_schema_open(b->schema_path, &schema, &error);
    options.schema = schema;
  }
  if (status == CST_OK) status = cst_decoder_new(payload, &options, &b->decoder, &error);
  if (status == CST_OK && b->encode) {
    status = cst_encoder_new(payload, &encoding, &b->encoder, &error);
  }
  if (status != CST_OK) die("new", &error);
  cst_descriptors_release(descriptors);
  cst_schema_release(schema);
}

int main(int argc, char **argv) {
  bench b = {.batch_size = 1000, .repeat = 10};
  parse_arguments(&b, argc, argv);
  read_records(&b);
  if (b.arrow) pack_records(&b);
  open_decoder(&b);
  struct ArrowArray *batches =
      checked(calloc(b.num_records / b.batch_size + 1, sizeof(struct ArrowArray)));
  double best = 1e9;
  for (int i = 0; i < b.repeat; i++) {
    double s = b.encode ? time_encode(&b, batches) : time_decode(&b, batches);
    printf("%8.1f MB/s\n", (double)b.record_bytes / 1e6 / s);
    if (s < best) best = s;
  }
  printf("%s: %zu records, %.1f MB, best %.1f MB/s\n", b.file, b.num_records,
         (double)b.record_bytes / 1e6, (double)b.record_bytes / 1e6 / best);
  cst_encoder_free(b.encoder);
  cst_decoder_free(b.decoder);
  free(batches);
  free(b.offsets);
  free(b.records);
  free(b.bytes);
  return 0;
}
