/* Arrow IPC in: what pyarrow has written (fuzz/corpus/ipc), damaged in every way too. */
#include "arrow/ipc/ipc_reader.h"

#include <dirent.h>

#include "arrow/ipc/ipc.h"
#include "arrow_equal.h"
#include "arrow_text.h"

enum { MOST = 1 << 16, MOST_BATCHES = 16 };

typedef struct bytes {
  uint8_t data[MOST];
  size_t size;
  size_t at;
  size_t step; /* bytes that one read gives at most; 0: all */
} bytes;

static cst_status read_bytes(void *ctx, void *buffer, size_t size, size_t *got, cst_error *error) {
  bytes *from = ctx;
  size_t left = from->size - from->at;
  (void)error;
  *got = size < left ? size : left;
  memcpy(buffer, from->data + from->at, *got);
  from->at += *got;
  return CST_OK;
}

static void load(const char *name, bytes *out) {
  char path[300];
  snprintf(path, sizeof path, "fuzz/corpus/ipc/%s", name);
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  memset(out, 0, sizeof *out);
  out->size = fread(out->data, 1, sizeof out->data, file);
  fclose(file);
}

/* All that is in a file. */
typedef struct content {
  struct ArrowSchema schema;
  struct ArrowArray batches[MOST_BATCHES];
  cst__view views[MOST_BATCHES];
  size_t count;
  cst__arena arena;
} content;

static void drop(content *c) {
  if (c->schema.release != NULL) c->schema.release(&c->schema);
  for (size_t i = 0; i < c->count; i++) c->batches[i].release(&c->batches[i]);
  cst__arena_reset(&c->arena);
  memset(c, 0, sizeof *c);
}

static cst_status take_batches(cst__ipc_reader *reader, content *c, cst_error *error) {
  for (;;) {
    struct ArrowArray batch;
    CST__TRY(cst__ipc_reader_next(reader, &batch, error));
    if (batch.release == NULL) {
      return CST_OK;
    }
    CHECK(c->count < MOST_BATCHES);
    c->batches[c->count++] = batch;
    CST__TRY(cst__view_init(&c->views[c->count - 1], &c->schema, &c->batches[c->count - 1], false,
                            &c->arena, error));
  }
}

static cst_status read_content(bytes *from, content *c, cst_error *error) {
  cst__ipc_reader *reader;
  memset(c, 0, sizeof *c);
  cst__arena_init(&c->arena, NULL);
  from->at = 0;
  CST__TRY(cst__ipc_reader_new(read_bytes, from, NULL, &reader, error));
  cst_status status = cst__schema_copy(cst__ipc_reader_schema(reader), &c->schema, error);
  if (status == CST_OK) {
    status = take_batches(reader, c, error);
  }
  cst__ipc_reader_free(reader);
  return status;
}

static void check_equal(const content *a, const content *b) {
  CHECK(cst__schema_equal(&a->schema, &b->schema));
  CHECK_EQ(a->count, b->count);
  for (size_t i = 0; i < a->count; i++) {
    CHECK_EQ(a->views[i].length, b->views[i].length);
    arrow_equal_slots(&a->views[i], 0, a->views[i].length, &b->views[i], 0);
  }
}

static void read_good(const char *name, content *c) {
  static bytes from;
  cst_error error = CST_ERROR_INIT;
  load(name, &from);
  CHECK(cst__ipc_sniff(from.data, from.size));
  cst_status status = read_content(&from, c, &error);
  if (status != CST_OK) fprintf(stderr, "%s: %s\n", name, error.message);
  CHECK_EQ(status, CST_OK);
}

TEST(streams_and_files_of_every_compression) {
  static const char *const tables[] = {"simple", "times", "nested", "views", "dictionaries"};
  static const char *const codecs[] = {"plain", "lz4", "zstd"};
  for (size_t t = 0; t < 5; t++) {
    content plain;
    char name[64];
    snprintf(name, sizeof name, "good_%s_stream_plain", tables[t]);
    read_good(name, &plain);
    CHECK_EQ(plain.count, 2);
    CHECK(plain.views[0].length == plain.views[1].length + 1);
    arrow_equal_slots(&plain.views[0], 1, plain.views[1].length, &plain.views[1], 0);
    for (size_t i = 0; i < 6 && t < 4; i++) {
      content other;
      snprintf(name, sizeof name, "good_%s_%s_%s", tables[t], i < 3 ? "stream" : "file",
               codecs[i % 3]);
      read_good(name, &other);
      check_equal(&plain, &other);
      drop(&other);
    }
    drop(&plain);
  }
}

/* The strings of the first column. */
static void check_strings(const char *name, const char *const *want) {
  content c;
  size_t at = 0;
  read_good(name, &c);
  for (size_t i = 0; i < c.count; i++) {
    for (int64_t j = 0; j < c.views[i].length; j++, at++) {
      cst_bytes value = cst__view_bytes(&c.views[i].children[0], j);
      CHECK(want[at] != NULL);
      CHECK_EQ(value.size, strlen(want[at]));
      if (value.size > 0) CHECK_MEM(value.data, want[at], value.size);
    }
  }
  CHECK(want[at] == NULL);
  drop(&c);
}

TEST(dictionaries_that_grow_and_change) {
  static const char *const grown[] = {"a", "b", "a", "b", "c", "a", "b", "c", "d", NULL};
  static const char *const words[] = {"x", "y", "", "x", "y", "", "x", NULL};
  check_strings("good_deltas", grown);
  check_strings("good_replacements", grown);
  check_strings("good_dictionaries_stream_zstd", words);
  check_strings("good_dictionaries_file", words);
}

TEST(no_rows_and_no_columns) {
  content c;
  read_good("good_no_columns", &c);
  CHECK_EQ(c.schema.n_children, 0);
  drop(&c);
  read_good("good_no_rows", &c);
  CHECK_EQ(c.schema.n_children, 9);
  drop(&c);
  read_good("good_v4", &c);
  CHECK_EQ(c.count, 2);
  drop(&c);
}

TEST(metadata_and_nullability_stay) {
  content c;
  struct ArrowStringView value;
  read_good("good_metadata", &c);
  CHECK_EQ(ArrowMetadataGetValue(c.schema.metadata, ArrowCharView("of"), &value), 0);
  CHECK_EQ(value.size_bytes, 10);
  CHECK_EQ(ArrowMetadataGetValue(c.schema.children[0]->metadata, ArrowCharView("key"), &value), 0);
  CHECK_EQ(c.schema.children[0]->flags & ARROW_FLAG_NULLABLE, 0);
  drop(&c);
}

/* ---- some of the columns ---- */

TEST(picked_columns_pass_the_others_over) {
  static bytes from;
  static const int64_t places[] = {3, 0};
  cst__ipc_reader *reader;
  cst_error error = CST_ERROR_INIT;
  struct ArrowArray batch;
  load("unions", &from);
  CHECK_EQ(cst__ipc_reader_new(read_bytes, &from, NULL, &reader, &error), CST_OK);
  CHECK_EQ(cst__ipc_reader_schema(reader)->n_children, 4);
  CHECK_EQ(cst__ipc_reader_pick(reader, places, 2, &error), CST_OK);
  CHECK_STR(cst__ipc_reader_schema(reader)->children[0]->name, "after");
  CHECK_EQ(cst__ipc_reader_next(reader, &batch, &error), CST_OK);
  CHECK_EQ(batch.n_children, 2);
  CHECK_MEM(batch.children[0]->buffers[2], "xyz", 3);
  CHECK_EQ(((const int64_t *)batch.children[1]->buffers[1])[2], 3);
  batch.release(&batch);
  cst__ipc_reader_free(reader);
}

TEST(columns_that_cannot_be_read) {
  static bytes from;
  content c;
  cst_error error = CST_ERROR_INIT;
  load("unions", &from);
  CHECK_EQ(read_content(&from, &c, &error), CST_UNSUPPORTED);
  CHECK_STR(error.path, "union");
  CHECK_CONTAINS(error.message, "sparse_union");
  CHECK(error.offset > 0);
  CHECK_EQ(error.record, 0);
  drop(&c);
}

/* ---- files of Polars ---- */

TEST(a_schema_without_its_prefix) {
  content c;
  read_good("good_polars_file", &c);
  CHECK_EQ(c.schema.n_children, 2);
  CHECK_EQ(c.views[0].length, 3);
  CHECK_EQ(cst__view_bytes(&c.views[0].children[0], 1).size, 34);
  drop(&c);
}

TEST(dictionaries_behind_the_batches) {
  static bytes from;
  static bytes again;
  cst__ipc_reader *reader;
  cst_error error = CST_ERROR_INIT;
  struct ArrowArray batch;
  load("polars_categories", &from);
  again = from;
  CHECK_EQ(cst__ipc_reader_new(read_bytes, &from, NULL, &reader, &error), CST_OK);
  CHECK_EQ(cst__ipc_reader_next(reader, &batch, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.hint, "by its path");
  CHECK(cst__ipc_reader_lacks_dictionaries(reader));
  CHECK_EQ(cst__ipc_reader_collect(reader, &error), CST_OK);
  CHECK_EQ(cst__ipc_reader_restart(reader, &again, &error), CST_OK);
  CHECK_EQ(cst__ipc_reader_next(reader, &batch, &error), CST_OK);
  CHECK_EQ(batch.length, 3);
  batch.release(&batch);
  CHECK_EQ(cst__ipc_reader_next(reader, &batch, &error), CST_OK);
  CHECK(batch.release == NULL);
  cst__ipc_reader_free(reader);
}

/* ---- damage ---- */

static void check_refused(const char *name, cst_status code, const char *message) {
  static bytes from;
  content c;
  cst_error error = CST_ERROR_INIT;
  load(name, &from);
  CHECK_EQ(read_content(&from, &c, &error), code);
  CHECK_CONTAINS(error.message, message);
  CHECK(error.offset >= 0);
  drop(&c);
}

TEST(what_is_refused) {
  check_refused("damaged_joined", CST_CORRUPT, "after the end mark");
  check_refused("damaged_huge_metadata", CST_CORRUPT, "claims 2147483647 bytes");
  check_refused("damaged_no_end", CST_CORRUPT, "inside its footer");
  check_refused("damaged_no_footer", CST_CORRUPT, "ends at byte");
  check_refused("damaged_feather_1", CST_UNSUPPORTED, "Feather file of version 1");
  check_refused("damaged_empty", CST_CORRUPT, "inside its head");
  check_refused("damaged_magic", CST_CORRUPT, "before the schema message");
  check_refused("damaged_text", CST_CORRUPT, "neither an Arrow IPC file nor a stream");
}

/* A stream may end between two messages; a file never. */
static void check_truncated(const char *name, size_t most_ends) {
  static bytes whole;
  static bytes cut;
  size_t ends = 0;
  load(name, &whole);
  for (size_t size = 0; size < whole.size; size++) {
    content c;
    cst_error error = CST_ERROR_INIT;
    cut = whole;
    cut.size = size;
    cst_status status = read_content(&cut, &c, &error);
    CHECK(status == CST_OK || status == CST_CORRUPT);
    ends += status == CST_OK;
    drop(&c);
  }
  CHECK_EQ(ends, most_ends);
}

TEST(truncated_at_every_byte) {
  check_truncated("good_nested_file_zstd", 0);
  check_truncated("good_views_file_plain", 0);
  check_truncated("good_polars_file", 0);
  check_truncated("good_simple_stream_lz4", 3); /* behind the schema and behind each batch */
  check_truncated("good_deltas", 7);
}

/* Whatever comes out of a damaged file has passed validation: reading it must not fault. */
static void check_flipped(const char *name, unsigned mask) {
  static bytes from;
  load(name, &from);
  for (size_t i = 0; i < from.size; i += EVERY) {
    content c;
    cst_error error = CST_ERROR_INIT;
    from.data[i] ^= (uint8_t)mask;
    cst_status status = read_content(&from, &c, &error);
    CHECK(status == CST_OK || (status != CST_NO_MEMORY && error.message[0] != '\0'));
    for (size_t b = 0; status == CST_OK && b < c.count; b++) {
      int64_t rows = c.views[b].length;
      arrow_equal_slots(&c.views[b], 0, rows < 100 ? rows : 100, &c.views[b], 0);
    }
    from.data[i] ^= (uint8_t)mask;
    drop(&c);
  }
}

TEST(flipped_at_every_byte) {
  static const char *const names[] = {"good_simple_stream_plain",       "good_nested_file_plain",
                                      "good_nested_stream_lz4",         "good_times_stream_zstd",
                                      "good_views_file_plain",          "good_deltas",
                                      "good_dictionaries_stream_plain", "good_v4"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    check_flipped(names[i], 0x01);
    check_flipped(names[i], 0x80);
    check_flipped(names[i], 0xff);
  }
}

/* ---- out of memory ---- */

static int read_once(void *context) {
  content c;
  cst_status status = read_content(context, &c, NULL);
  drop(&c);
  return status;
}

TEST(out_of_memory) {
  static bytes from;
  load("good_dictionaries_stream_lz4", &from);
  FOR_EACH_ALLOCATION_FAILURE(read_once, &from, CST_NO_MEMORY);
  load("good_views_file_plain", &from);
  FOR_EACH_ALLOCATION_FAILURE(read_once, &from, CST_NO_MEMORY);
  load("good_deltas", &from);
  FOR_EACH_ALLOCATION_FAILURE(read_once, &from, CST_NO_MEMORY);
}
