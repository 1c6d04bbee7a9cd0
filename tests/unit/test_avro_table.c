/* Container files to batches: the steps of a program, promotions, what a failed allocation leaves.
 */
#include <stdio.h>
#include <string.h>

#include "avro/avro_bytes.h"
#include "format/avro/avro_options.h"
#include "format/json/text.h"
#include "format/table/table.h"
#include "harness.h"
#include "io_support.h"

static const char sync[] = "0123456789abcdef";

static const char schema_text[] =
    "{\"type\": \"record\", \"name\": \"R\", \"fields\": ["
    "{\"name\": \"i\", \"type\": \"long\"},"
    "{\"name\": \"s\", \"type\": [\"null\", \"string\"]},"
    "{\"name\": \"l\", \"type\": {\"type\": \"array\", \"items\": {\"type\": \"record\", \"name\": "
    "\"E\", \"fields\": [{\"name\": \"k\", \"type\": \"boolean\"}, {\"name\": \"d\", \"type\": "
    "\"double\"}]}}},"
    "{\"name\": \"m\", \"type\": {\"type\": \"map\", \"values\": \"int\"}},"
    "{\"name\": \"u\", \"type\": [\"null\", \"int\", \"string\"]}]}";

static void put_long(bytes *b, int64_t value) {
  cst__text text = {.allocator = cst__default_allocator};
  cst__avro_put_long(&text, value);
  bytes_add(b, text.data, text.size);
  cst__text_free(&text);
}

static void put_string(bytes *b, const char *text) {
  put_long(b, (int64_t)strlen(text));
  bytes_add(b, text, strlen(text));
}

static void put_header(bytes *b, const char *schema) {
  bytes_add(b, "Obj\1", 4);
  put_long(b, 1);
  put_string(b, "avro.schema");
  put_string(b, schema);
  put_long(b, 0);
  bytes_add(b, sync, 16);
}

static void put_row(bytes *b, int64_t i) {
  const double d = 0.5;
  put_long(b, i);
  put_long(b, i % 2);
  if (i % 2 == 1) {
    put_string(b, "tea");
  }
  put_long(b, i % 2);
  if (i % 2 == 1) {
    bytes_add(b, "\1", 1);
    bytes_add(b, &d, sizeof d);
    put_long(b, 0);
  }
  put_long(b, -1); /* a block with its size */
  put_long(b, 3);
  put_string(b, "k");
  put_long(b, i);
  put_long(b, 0);
  put_long(b, i % 3);
  if (i % 3 == 1) {
    put_long(b, i);
  } else if (i % 3 == 2) {
    put_string(b, "u");
  }
}

static bytes make_file(int rows) {
  bytes file = {0};
  bytes values = {0};
  put_header(&file, schema_text);
  for (int i = 0; i < rows; i++) {
    put_row(&values, i);
  }
  put_long(&file, rows);
  put_long(&file, (int64_t)values.size);
  bytes_add(&file, values.data, values.size);
  bytes_add(&file, sync, 16);
  bytes_free(&values);
  return file;
}

typedef struct input {
  memory memory;
  cst_reader reader;
} input;

static cst_status open_input(void *ctx, size_t i, cst__input **out, cst_error *error) {
  input *in = ctx;
  (void)i;
  in->reader = memory_reader(&in->memory, true);
  return cst__input_open_reader(&in->reader, NULL, out, error);
}

static const char *name_input(void *ctx, size_t i) {
  (void)ctx;
  (void)i;
  return "a.avro";
}

typedef struct outcome {
  cst__text text;
  cst_status status;
  cst_error error;
} outcome;

static cst_status print_batch(outcome *o, const struct ArrowSchema *schema,
                              const struct ArrowArray *batch) {
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, NULL);
  cst_status status = cst__view_init(&view, schema, batch, false, &arena, &o->error);
  for (int64_t i = 0; status == CST_OK && i < view.length; i++) {
    cst__json_value(&o->text, &view, i);
    cst__text_puts(&o->text, "\n");
  }
  cst__arena_reset(&arena);
  return status == CST_OK && o->text.failed ? CST_NO_MEMORY : status;
}

static cst_status read_all(outcome *o, const void *plan, const struct ArrowSchema *schema) {
  void *reader;
  struct ArrowArray batch;
  CST__TRY(cst__avro_table.open(plan, &(const cst__table_reading){0}, &reader, &o->error));
  cst_status status;
  do {
    status = cst__avro_table.next(reader, &batch, &o->error);
    if (status != CST_OK || batch.release == NULL) {
      break;
    }
    status = print_batch(o, schema, &batch);
    batch.release(&batch);
  } while (status == CST_OK);
  cst__avro_table.close(reader);
  return status;
}

static void read_file(outcome *o, const bytes *file, size_t most, const cst__table_options *given) {
  input in = {.memory = {.data = file->data, .size = file->size, .most = most}};
  cst__table_files files = {.count = 1,
                            .open = open_input,
                            .name = name_input,
                            .ctx = &in,
                            .rereadable = true,
                            .sample_rows = INT64_MAX,
                            .sample_bytes = UINT64_MAX};
  struct ArrowSchema schema;
  void *plan;
  *o = (outcome){.text.allocator = cst__default_allocator, .error = CST_ERROR_INIT};
  o->status = cst__avro_table.plan(&files, given, &plan, &schema, &o->error);
  if (o->status == CST_OK) {
    o->status = read_all(o, plan, &schema);
    schema.release(&schema);
    cst__avro_table.plan_free(plan);
  }
  cst__text_append(&o->text, "", 1);
}

/* One block of one row. */
static bytes make_block(const char *schema, const bytes *values, size_t size) {
  bytes file = {0};
  put_header(&file, schema);
  put_long(&file, 1);
  put_long(&file, (int64_t)size);
  bytes_add(&file, values->data, size);
  bytes_add(&file, sync, 16);
  return file;
}

/* Items of a list of records: texts and numbers of many sizes, nulls, lists with a size and
 * without. */
static void put_items(bytes *b, int first, int count) {
  for (int i = first; i < first + count; i++) {
    char text[200];
    const double d = i;
    const int sizes[] = {i % 70, i % 7, 100 + i % 30};
    (void)snprintf(text, sizeof text, "%0*d", sizes[i % 3] + 1, 0);
    put_string(b, text);
    put_long(b, i % 2);
    bytes_add(b, &d, i % 2 == 0 ? 0 : sizeof d);
    for (int k = 0; k < i % 4; k++) {
      put_long(b, 1 + k);
      for (int m = 0; m <= k; m++) {
        put_long(b, (i % 2 == 0 ? 1 : -1) * (INT64_C(1) << (i * 5 + m) % 63));
      }
    }
    put_long(b, 0);
    bytes_add(b, "\1", 1);
  }
}

static const char list_schema[] =
    "{\"type\": \"record\", \"name\": \"R\", \"fields\": [{\"name\": \"l\", \"type\": {\"type\": "
    "\"array\", \"items\": {\"type\": \"record\", \"name\": \"E\", \"fields\": [{\"name\": \"s\", "
    "\"type\": \"string\"}, {\"name\": \"d\", \"type\": [\"null\", \"double\"]}, {\"name\": \"n\", "
    "\"type\": {\"type\": \"array\", \"items\": \"long\"}}, {\"name\": \"b\", \"type\": "
    "\"boolean\"}]}}}, {\"name\": \"z\", \"type\": \"long\"}]}";

TEST(lists_that_nobody_wants) {
  bytes values = {0};
  bytes sized = {0};
  const char *const columns[] = {"z"};
  const cst__table_options options = {.columns = columns, .num_columns = 1, .batch_size = 10};
  put_items(&sized, 0, 5);
  put_long(&values, 40);
  put_items(&values, 0, 40);
  put_long(&values, -5);
  put_long(&values, (int64_t)sized.size);
  bytes_add(&values, sized.data, sized.size);
  put_long(&values, 90);
  put_items(&values, 40, 90);
  put_long(&values, 0);
  put_long(&values, 77);
  for (size_t size = 0; size <= values.size; size++) {
    bytes file = make_block(list_schema, &values, size);
    outcome o;
    read_file(&o, &file, 0, &options);
    CHECK_EQ(o.status, size < values.size ? CST_CORRUPT : CST_OK);
    CHECK_STR(o.text.data, size < values.size ? "" : "{\"z\": 77}\n");
    cst__text_free(&o.text);
    bytes_free(&file);
  }
  bytes_free(&sized);
  bytes_free(&values);
}

TEST(bytes_after_the_last_value_have_one_place) {
  static const char schema[] = "\"long\"";
  bytes file = {0};
  put_header(&file, schema);
  put_long(&file, 5);
  put_long(&file, 6);
  const int64_t begin = (int64_t)file.size;
  bytes_add(&file, "\2\4\6\10\12\14", 6);
  bytes_add(&file, sync, 16);
  for (int64_t batch_size = 1; batch_size < 8; batch_size++) {
    const cst__table_options options = {.batch_size = batch_size};
    outcome o;
    read_file(&o, &file, 0, &options);
    CHECK_EQ(o.status, CST_CORRUPT);
    CHECK_EQ(o.error.offset, begin + 5);
    cst__text_free(&o.text);
  }
  bytes_free(&file);
}

static const char three_rows[] =
    "{\"i\": 0, \"s\": null, \"l\": [], \"m\": [{\"key\": \"k\", \"value\": 0}], \"u\": null}\n"
    "{\"i\": 1, \"s\": \"tea\", \"l\": [{\"k\": true, \"d\": 0.5}], \"m\": [{\"key\": \"k\", "
    "\"value\": 1}], \"u\": {\"int\": 1, \"string\": null}}\n"
    "{\"i\": 2, \"s\": null, \"l\": [], \"m\": [{\"key\": \"k\", \"value\": 2}], "
    "\"u\": {\"int\": null, \"string\": \"u\"}}\n";

TEST(rows_are_what_was_written) {
  bytes file = make_file(3);
  outcome o;
  for (size_t most = 0; most < 40; most++) { /* bytes that come at a time */
    for (int64_t batch_size = 1; batch_size < 5; batch_size++) {
      const cst__table_options options = {.batch_size = batch_size};
      read_file(&o, &file, most, &options);
      CHECK_EQ(o.status, CST_OK);
      CHECK_STR(o.text.data, three_rows);
      cst__text_free(&o.text);
    }
  }
  bytes_free(&file);
}

TEST(every_prefix_is_refused) {
  bytes file = make_file(3);
  bytes header = {0};
  const cst__table_options options = {.batch_size = 2};
  put_header(&header, schema_text);
  for (size_t size = 0; size < file.size; size++) {
    bytes cut = {.data = file.data, .size = size};
    outcome o;
    read_file(&o, &cut, 0, &options);
    bool is_header = size == header.size; /* a file without blocks */
    CHECK_EQ(o.status, is_header ? CST_OK : CST_CORRUPT);
    CHECK(is_header || strcmp(o.error.file, "a.avro") == 0);
    cst__text_free(&o.text);
  }
  bytes_free(&header);
  bytes_free(&file);
}

TEST(a_schema_that_is_given) {
  static const char reader[] =
      "{\"type\": \"record\", \"name\": \"R\", \"fields\": ["
      "{\"name\": \"l\", \"type\": {\"type\": \"array\", \"items\": {\"type\": \"record\", "
      "\"name\": \"E\", \"fields\": [{\"name\": \"n\", \"type\": [\"null\", \"int\"], \"default\": "
      "null}]}}},"
      "{\"name\": \"i\", \"type\": \"float\"},"
      "{\"name\": \"t\", \"type\": \"string\", \"default\": \"x\"}]}";
  const cst__avro_options own = {reader};
  const cst__table_options options = {.batch_size = 10, .format_options = &own};
  bytes file = make_file(2);
  outcome o;
  read_file(&o, &file, 0, &options);
  CHECK_EQ(o.status, CST_OK);
  CHECK_STR(o.text.data, "{\"l\": [], \"i\": 0.0, \"t\": \"x\"}\n"
                         "{\"l\": [{\"n\": null}], \"i\": 1.0, \"t\": \"x\"}\n");
  cst__text_free(&o.text);
  bytes_free(&file);
}

static int read_once(void *context) {
  const cst__table_options options = {.batch_size = 2};
  outcome o;
  read_file(&o, context, 0, &options);
  cst__text_free(&o.text);
  return (int)o.status;
}

TEST(no_memory) {
  bytes file = make_file(5);
  FOR_EACH_ALLOCATION_FAILURE(read_once, &file, CST_NO_MEMORY);
  bytes_free(&file);
}

/* ---- places ---- */

static cst_status find(const bytes *file, size_t most, const cst__table_cut *cut, uint64_t *out) {
  memory held = {.data = file->data, .size = file->size, .most = most};
  cst_reader reader = memory_reader(&held, true);
  cst__input *opened;
  cst_status status = cst__input_open_reader(&reader, NULL, &opened, NULL);
  if (status == CST_OK) {
    status = cst__avro_table.find_begin(opened, cut, out, NULL);
    cst__input_close(opened);
  }
  return status;
}

TEST(the_block_at_a_byte_or_after_it) {
  enum { BLOCKS = 4 };
  bytes file = {0};
  uint64_t begins[BLOCKS + 1];
  put_header(&file, "\"long\"");
  for (size_t i = 0; i < BLOCKS; i++) {
    begins[i] = file.size;
    put_long(&file, 1);
    put_long(&file, 1);
    bytes_add(&file, "\2", 1);
    bytes_add(&file, sync, 16);
  }
  begins[BLOCKS] = file.size;
  for (size_t block = 0, from = 0; from <= file.size; from++) {
    block += from > begins[block];
    for (size_t knows_end = 0; knows_end < 2; knows_end++) {
      const cst__table_cut cut = {.from = from, .end = knows_end ? file.size : UINT64_MAX};
      uint64_t found = 0;
      CHECK_EQ(find(&file, from % 5, &cut, &found), CST_OK);
      CHECK_EQ(found, begins[block]);
    }
  }
  const cst__table_cut beyond = {.from = file.size + 1, .end = UINT64_MAX};
  uint64_t found;
  CHECK_EQ(find(&file, 0, &beyond, &found), CST_STATE);
  bytes_free(&file);
}

static int find_once(void *context) {
  const bytes *file = context;
  const cst__table_cut cut = {.from = file->size / 2, .end = file->size};
  uint64_t found;
  return (int)find(file, 0, &cut, &found);
}

TEST(no_memory_for_places) {
  bytes file = make_file(5);
  FOR_EACH_ALLOCATION_FAILURE(find_once, &file, CST_NO_MEMORY);
  bytes_free(&file);
}

/* ---- threads ---- */

/* Many small blocks, of which one has a value that is damaged. */
static bytes make_blocks(int blocks, int damaged) {
  bytes file = {0};
  put_header(&file, "{\"type\": \"record\", \"name\": \"R\", \"fields\": [{\"name\": \"s\", "
                    "\"type\": \"string\"}]}");
  for (int i = 0; i < blocks; i++) {
    char text[32];
    bytes values = {0};
    for (int k = 0; k < i % 4; k++) {
      snprintf(text, sizeof text, "%d.%d", i, k);
      put_string(&values, text);
    }
    if (i == damaged) {
      values.data[values.size - 1] = 0xff;
    }
    put_long(&file, i % 4);
    put_long(&file, (int64_t)values.size);
    bytes_add(&file, values.data, values.size);
    bytes_add(&file, sync, 16);
    bytes_free(&values);
  }
  return file;
}

TEST(threads_change_nothing) {
  for (int damaged = -1; damaged < 8; damaged += 4) {
    bytes file = make_blocks(40000, damaged < 0 ? -1 : 20000 + damaged);
    outcome alone;
    const cst__table_options options = {.batch_size = 100};
    read_file(&alone, &file, 0, &options);
    for (int32_t threads = 2; threads < 5; threads++) {
      const cst__table_options several = {.batch_size = 100, .threads = threads};
      outcome o;
      read_file(&o, &file, 0, &several);
      CHECK_EQ(o.status, alone.status);
      CHECK_STR(o.error.message, alone.error.message);
      CHECK_EQ(o.error.record, alone.error.record);
      CHECK_EQ(o.error.offset, alone.error.offset);
      CHECK(strncmp(o.text.data, alone.text.data, strlen(alone.text.data)) == 0);
      CHECK(alone.status != CST_OK || strcmp(o.text.data, alone.text.data) == 0);
      cst__text_free(&o.text);
    }
    cst__text_free(&alone.text);
    bytes_free(&file);
  }
}

static int read_by_two(void *context) {
  const cst__table_options options = {.batch_size = 2, .threads = 2};
  outcome o;
  read_file(&o, context, 0, &options);
  cst__text_free(&o.text);
  return (int)o.status;
}

TEST(no_memory_for_threads) {
  bytes file = make_file(5);
  FOR_EACH_ALLOCATION_FAILURE(read_by_two, &file, CST_NO_MEMORY);
  bytes_free(&file);
}
