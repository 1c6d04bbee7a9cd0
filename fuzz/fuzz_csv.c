/* CSV text through the table: the first bytes choose options, the rest is the file. Reading it in
 * blocks of any size gives the same batches, the same drops and the same end; and what was read,
 * written and read again with the same types, is the same. */
#include <string.h>

#include "arrow/view.h"
#include "base/alloc.h"
#include "format/csv/csv.h"
#include "format/json/text.h"
#include "format/sink.h"
#include "fuzz.h"

enum { MOST_INPUT = 1 << 16, MOST_ROW = 1 << 12, NUM_FLAGS = 2 };

typedef struct text {
  const uint8_t *data;
  size_t size;
} text;

/* What a reading gives, as text: rows, drops, the end. */
typedef struct reading {
  cst_status status;
  cst__text rows;
  uint64_t drops;
  cst_error error;
  struct ArrowSchema schema; /* release is NULL if there is none */
} reading;

typedef struct choices {
  cst__csv_options csv;
  bool skip;
  size_t block_size;
  int64_t batch_size;
  const struct ArrowSchema *types;
  cst_sink *sink; /* takes the batches too; or NULL */
  cst_status sunk;
} choices;

static cst_status read_at(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                          cst_error *error) {
  const text *t = ctx;
  (void)error;
  size_t there = offset < t->size ? t->size - (size_t)offset : 0;
  *got = size < there ? size : there;
  if (*got > 0) {
    memcpy(buffer, t->data + offset, *got);
  }
  return CST_OK;
}

/* CSV may begin like a compressed file, which is not what is tested here. */
static bool looks_compressed(const text *t) {
  const cst_reader reader = {.size = sizeof reader,
                             .name = "fuzz",
                             .read_at = read_at,
                             .ctx = (void *)t,
                             .can_seek = true};
  cst__input *input;
  FUZZ_ASSERT(cst__input_open_reader(&reader, NULL, &input, NULL) == CST_OK);
  cst__compression compression = cst__input_compression(input, NULL);
  cst__input_close(input);
  return compression != CST__PLAIN;
}

static cst_status open_text(void *ctx, size_t i, cst__input **out, cst_error *error) {
  static cst_reader readers[2];
  readers[i] = (cst_reader){.size = sizeof(cst_reader),
                            .name = "fuzz",
                            .read_at = read_at,
                            .ctx = (text *)ctx + i,
                            .can_seek = true};
  return cst__input_open_reader(&readers[i], NULL, out, error);
}

static const char *name_of(void *ctx, size_t i) {
  (void)ctx;
  (void)i;
  return "fuzz";
}

static cst_status note_drop(void *ctx, const cst__dropped *dropped, cst_error *error) {
  const cst_dropped *d = &dropped->told;
  reading *r = ctx;
  (void)error;
  FUZZ_ASSERT(d->error->code != CST_OK && d->error->line > 0 && d->record >= 0);
  const uint64_t what[] = {(uint64_t)d->record, (uint64_t)d->offset, d->bytes,
                           (uint64_t)d->error->line, (uint64_t)d->error->column};
  for (size_t i = 0; i < 5; i++) {
    r->drops = r->drops * 1000003 + what[i];
  }
  return CST_OK;
}

static void note_batch(reading *r, struct ArrowArray *batch, choices *c) {
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, NULL);
  FUZZ_ASSERT(cst__view_init(&view, &r->schema, batch, false, &arena, NULL) == CST_OK);
  for (int64_t row = 0; row < view.length; row++) {
    cst__json_value(&r->rows, &view, row);
    cst__text_append(&r->rows, "\n", 1);
  }
  cst__text_append(&r->rows, "---\n", 4);
  if (c->sink != NULL && c->sunk == CST_OK) {
    c->sunk = cst_sink_write(c->sink, batch, NULL);
  }
  batch->release(batch);
  cst__arena_reset(&arena);
}

static void read_batches(reading *r, const void *plan, choices *c) {
  const cst__table_reading how = {.drop = note_drop, .drop_ctx = r};
  void *reader;
  struct ArrowArray batch;
  r->status = cst__csv_table.open(plan, &how, &reader, &r->error);
  FUZZ_ASSERT(r->status == CST_OK);
  for (;;) {
    r->status = cst__csv_table.next(reader, &batch, &r->error);
    if (r->status != CST_OK || batch.release == NULL) {
      break;
    }
    note_batch(r, &batch, c);
  }
  cst__csv_table.close(reader);
}

static bool start_sink(choices *c, const struct ArrowSchema *schema, const cst_writer *writer) {
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  options.format = "csv";
  options.compression = CST_COMPRESSION_NONE;
  cst_option given[4];
  char characters[2][2] = {{c->csv.delimiter}, {c->csv.comment}};
  options.format_options = given;
  for (size_t i = 0; i < 2; i++) {
    if (characters[i][0] != '\0') {
      given[options.num_format_options++] =
          (cst_option){i == 0 ? "delimiter" : "comment", characters[i], NULL};
    }
  }
  if (c->csv.num_multivalent > 0) {
    given[options.num_format_options++] = (cst_option){"multivalent", "b", "csv"};
  }
  if (c->csv.keep_blank_lines) {
    given[options.num_format_options++] = (cst_option){"keep_blank_lines", "true", NULL};
  }
  return cst_sink_open_writer(writer, schema, &options, &c->sink, NULL) == CST_OK;
}

static reading read_text(text *texts, size_t count, choices *c, const cst_writer *writer) {
  reading r = {.error = CST_ERROR_INIT, .rows = {.allocator = cst__default_allocator}};
  cst__table_files files = {.count = count,
                            .open = open_text,
                            .name = name_of,
                            .ctx = texts,
                            .rereadable = true,
                            .sample_rows = INT64_MAX,
                            .sample_bytes = UINT64_MAX};
  cst__table_options options = {.types = c->types,
                                .batch_size = c->batch_size,
                                .threads = 1,
                                .format_options = &c->csv,
                                .max_record_size = MOST_ROW,
                                .skip = c->skip};
  void *plan;
  cst__csv_set_block_size(c->block_size);
  r.status = cst__csv_table.plan(&files, &options, &plan, &r.schema, &r.error);
  if (r.status != CST_OK) {
    r.schema.release = NULL;
    return r;
  }
  if (writer != NULL && !start_sink(c, &r.schema, writer)) {
    c->sink = NULL;
    c->sunk = CST_UNSUPPORTED;
  }
  read_batches(&r, plan, c);
  cst__csv_table.plan_free(plan);
  return r;
}

static void drop_reading(reading *r) {
  cst__text_free(&r->rows);
  if (r->schema.release != NULL) {
    r->schema.release(&r->schema);
  }
}

static void check_same(const reading *a, const reading *b) {
  FUZZ_ASSERT(a->status == b->status);
  FUZZ_ASSERT((a->schema.release == NULL) == (b->schema.release == NULL));
  FUZZ_ASSERT(a->schema.release == NULL || cst__schema_equal(&a->schema, &b->schema));
  FUZZ_ASSERT(a->rows.size == b->rows.size);
  FUZZ_ASSERT(a->rows.size == 0 || memcmp(a->rows.data, b->rows.data, a->rows.size) == 0);
  FUZZ_ASSERT(a->drops == b->drops);
  if (a->status != CST_OK) {
    FUZZ_ASSERT(strcmp(a->error.message, b->error.message) == 0);
    FUZZ_ASSERT(a->error.record == b->error.record && a->error.offset == b->error.offset);
    FUZZ_ASSERT(a->error.line == b->error.line && a->error.column == b->error.column);
  }
}

/* ---- writing and reading again ---- */

typedef struct output {
  uint8_t data[1 << 20];
  size_t size;
  bool full;
} output;

static output written;

static cst_status keep_bytes(void *ctx, const void *data, size_t size, cst_error *error) {
  output *o = ctx;
  (void)error;
  if (size > sizeof o->data - o->size) {
    o->full = true;
    return CST_LIMIT;
  }
  memcpy(o->data + o->size, data, size);
  o->size += size;
  return CST_OK;
}

static void check_written(const reading *first, const choices *before) {
  if (written.full || before->sunk != CST_OK) {
    return;
  }
  text again = {written.data, written.size};
  if (looks_compressed(&again)) {
    return;
  }
  choices c = *before;
  c.csv.names = NULL;
  c.csv.num_names = 0;
  c.csv.skip_lines = 0;
  c.sink = NULL;
  c.skip = false;
  c.types = &first->schema;
  reading r = read_text(&again, 1, &c, NULL);
  /* Quotes may make a row longer than the limit. */
  if (r.status != CST_LIMIT) {
    FUZZ_ASSERT(r.status == CST_OK);
    FUZZ_ASSERT(cst__schema_equal(&r.schema, &first->schema));
    FUZZ_ASSERT(r.rows.size == first->rows.size);
    FUZZ_ASSERT(r.rows.size == 0 || memcmp(r.rows.data, first->rows.data, r.rows.size) == 0);
  }
  drop_reading(&r);
}

static void read_and_write(text *texts, size_t count, choices *c, const reading *first) {
  const cst_writer writer = {
      .size = sizeof writer, .name = "fuzz", .write = keep_bytes, .ctx = &written};
  written.size = 0;
  written.full = false;
  c->sunk = CST_OK;
  reading r = read_text(texts, count, c, &writer);
  check_same(&r, first);
  if (c->sink != NULL) {
    if (c->sunk == CST_OK) {
      c->sunk = cst_sink_finish(c->sink, NULL);
    }
    cst_sink_free(c->sink);
    c->sink = NULL;
  }
  if (r.status == CST_OK) {
    check_written(&r, c);
  }
  drop_reading(&r);
}

/* ---- the target ---- */

/* Options by the bits of two bytes. */
static choices choose(const uint8_t *flags) {
  static const char *const names[] = {"a", "b"};
  static const char *const several[] = {"b"};
  choices c = {.csv = {.header = true}, .block_size = 1 << 16, .batch_size = 1000};
  if (flags[0] & 1) {
    c.csv.names = names;
    c.csv.num_names = 2;
  }
  if ((flags[0] & 3) == 3) {
    c.csv.multivalent = several;
    c.csv.num_multivalent = 1;
  }
  c.csv.delimiter = (char)("\0;\t5"[flags[0] >> 2 & 3]);
  c.csv.comment = (char)("\0#\0-"[flags[0] >> 4 & 3]);
  c.csv.keep_blank_lines = flags[0] >> 6 & 1;
  c.skip = flags[0] >> 7;
  c.csv.skip_lines = flags[1] & 1;
  c.batch_size = (flags[1] & 2) != 0 ? 2 : 1000;
  return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < NUM_FLAGS || size > MOST_INPUT) {
    fuzz_outcome("OK");
    return 0;
  }
  choices c = choose(data);
  text texts[2] = {{data + NUM_FLAGS, size - NUM_FLAGS}, {data + NUM_FLAGS, size - NUM_FLAGS}};
  size_t count = data[1] >> 2 & 1 ? 2 : 1;
  if (looks_compressed(&texts[0])) {
    fuzz_outcome("FORMAT");
    return 0;
  }
  reading whole = read_text(texts, count, &c, NULL);
  FUZZ_ASSERT(whole.status == CST_OK || whole.error.message[0] != '\0');
  const size_t sizes[] = {1, 1 + size % 67, 64};
  for (size_t i = 0; i < 3; i++) {
    c.block_size = sizes[i];
    reading r = read_text(texts, count, &c, NULL);
    check_same(&whole, &r);
    drop_reading(&r);
  }
  c.block_size = 1 << 16;
  read_and_write(texts, count, &c, &whole);
  fuzz_outcome(cst_status_name(whole.status));
  drop_reading(&whole);
  return 0;
}
