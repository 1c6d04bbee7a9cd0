/* JSON lines: the first byte chooses the size of the blocks that are read; below 128 the rest is a
 * file, else each byte of it chooses what comes next in a file that is made. What is read, printed
 * and read again as the types that it had is the same; the size of the blocks does not matter; with
 * skip, a file without faults is read as it is without.
 */
#include <stdbool.h>
#include <string.h>

#include "arrow/view.h"
#include "format/json/json.h"
#include "format/json/text.h"
#include "fuzz.h"
#include "table_feed.h"

enum { MAX_RECORD = 4096, BATCH_SIZE = 3 };

/* ---- reading all of it ---- */

typedef struct result {
  cst_status status;
  cst_error error;
  struct ArrowSchema schema; /* of a plan that was made */
  cst__text text;
  size_t drops;
} result;

static void result_reset(result *r) {
  if (r->schema.release != NULL) {
    r->schema.release(&r->schema);
  }
  cst__text_free(&r->text);
}

static cst_status on_drop(void *ctx, const cst__dropped *lost, cst_error *error) {
  const cst_dropped *dropped = &lost->told;
  result *r = ctx;
  (void)error;
  FUZZ_ASSERT(dropped->record >= 0 && dropped->offset >= 0 && dropped->bytes > 0);
  FUZZ_ASSERT(dropped->error->message[0] != '\0' && dropped->error->file[0] != '\0');
  r->drops++;
  return CST_OK;
}

/* A batch of ours is valid. */
static void print_batch(result *r, const struct ArrowArray *batch) {
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, NULL);
  FUZZ_ASSERT(cst__view_init(&view, &r->schema, batch, false, &arena, NULL) == CST_OK);
  FUZZ_ASSERT(view.length > 0 && view.length <= BATCH_SIZE);
  for (int64_t i = 0; i < view.length; i++) {
    cst__json_value(&r->text, &view, i);
    cst__text_append(&r->text, "\n", 1);
  }
  FUZZ_ASSERT(!r->text.failed);
  cst__arena_reset(&arena);
}

static void read_plan(result *r, const void *plan) {
  const cst__table_reading reading = {.drop = on_drop, .drop_ctx = r};
  void *reader;
  struct ArrowArray batch;
  r->status = cst__json_table.open(plan, &reading, &reader, &r->error);
  FUZZ_ASSERT(r->status == CST_OK);
  for (;;) {
    r->status = cst__json_table.next(reader, &batch, &r->error);
    if (r->status != CST_OK || batch.release == NULL) {
      break;
    }
    print_batch(r, &batch);
    batch.release(&batch);
  }
  cst__json_table.close(reader);
}

static result read_all(const void *data, size_t size, const struct ArrowSchema *types, bool skip,
                       uint64_t max_record) {
  source s = {.bytes = {data, size}, .name = "fuzz.jsonl"};
  cst__table_files files = files_of(&s);
  cst__table_options options = {.types = types,
                                .batch_size = BATCH_SIZE,
                                .threads = 1,
                                .max_record_size = max_record,
                                .skip = skip};
  result r = {.error = CST_ERROR_INIT, .text.allocator = cst__default_allocator};
  void *plan;
  r.status = cst__json_table.plan(&files, &options, &plan, &r.schema, &r.error);
  if (r.status == CST_OK) {
    read_plan(&r, plan);
    cst__json_table.plan_free(plan);
  } else {
    r.schema.release = NULL;
  }
  if (r.status != CST_OK) {
    FUZZ_ASSERT(r.error.message[0] != '\0' && r.error.file[0] != '\0');
  }
  return r;
}

static void check_same_text(const result *a, const result *b) {
  FUZZ_ASSERT(a->text.size == b->text.size);
  FUZZ_ASSERT(a->text.size == 0 || memcmp(a->text.data, b->text.data, a->text.size) == 0);
}

/* ---- what has to hold ---- */

static void check_printed(const result *first) {
  result again =
      read_all(first->text.data, first->text.size, &first->schema, false, UINT64_C(1) << 30);
  FUZZ_ASSERT(again.status == CST_OK);
  FUZZ_ASSERT(cst__schema_equal(&first->schema, &again.schema));
  check_same_text(first, &again);
  result_reset(&again);
}

static void check_skip(const uint8_t *data, size_t size, const result *first) {
  result skipped = read_all(data, size, NULL, true, MAX_RECORD);
  if (first->status == CST_OK) {
    FUZZ_ASSERT(skipped.status == CST_OK && skipped.drops == 0);
    check_same_text(first, &skipped);
  }
  result_reset(&skipped);
}

/* The records that blocks of two sizes give. */
static void check_blocks(const uint8_t *data, size_t size, size_t block) {
  source s = {.bytes = {data, size}, .name = "fuzz.jsonl"};
  source t = {.bytes = {data, size}, .name = "fuzz.jsonl"};
  cst__table_files files[] = {files_of(&s), files_of(&t)};
  cst__json_lines lines[2];
  cst__json_record records[2];
  bool done[2] = {false, false};
  for (int i = 0; i < 2; i++) {
    cst__json_lines_init(&lines[i], &files[i], MAX_RECORD, NULL);
  }
  lines[1].block = block;
  cst_status status[2] = {CST_OK, CST_OK};
  while (status[0] == CST_OK && !done[0]) {
    for (int i = 0; i < 2; i++) {
      records[i] = (cst__json_record){0};
      status[i] = cst__json_lines_next(&lines[i], &records[i], &done[i], NULL);
      if (records[i].is_cut) {
        status[i] = cst__json_lines_pass_over(&lines[i], &records[i], NULL);
        records[i].data = NULL;
      }
    }
    FUZZ_ASSERT(status[0] == status[1] && done[0] == done[1]);
    FUZZ_ASSERT(records[0].size == records[1].size && records[0].offset == records[1].offset &&
                records[0].record == records[1].record && records[0].line == records[1].line &&
                records[0].column == records[1].column);
    FUZZ_ASSERT((records[0].data == NULL) == (records[1].data == NULL));
    FUZZ_ASSERT(records[0].data == NULL ||
                memcmp(records[0].data, data + records[0].offset, records[0].size) == 0);
  }
  for (int i = 0; i < 2; i++) {
    cst__json_lines_reset(&lines[i]);
  }
}

/* ---- files that are made ---- */

typedef struct feed {
  const uint8_t *at;
  const uint8_t *end;
  cst__text out;
} feed;

static uint8_t take(feed *f) { return f->at < f->end ? *f->at++ : 0; }

static void put(feed *f, const char *text) { cst__text_append(&f->out, text, strlen(text)); }

static void put_scalar(feed *f, uint8_t choice) {
  static const char *const scalars[] = {"null",
                                        "0",
                                        "1",
                                        "-1",
                                        "2",
                                        "true",
                                        "false",
                                        "\"x\"",
                                        "\"\"",
                                        "0.5",
                                        "1e3",
                                        "-0",
                                        "9007199254740993",
                                        "9223372036854775808",
                                        "18446744073709551616",
                                        "\"NaN\"",
                                        "\"-Infinity\"",
                                        "{\"base64\": \"/w==\"}",
                                        "{\"base64\": \"/w\"}",
                                        "1e999",
                                        "\"\\ud83d\\ude00\\u0000\"",
                                        "-9223372036854775808",
                                        "3.4028235e38",
                                        "NaN"};
  put(f, scalars[choice % (sizeof scalars / sizeof scalars[0])]);
}

static void put_value(feed *f, int depth);

static void put_object(feed *f, int depth) {
  static const char *const keys[] = {
      "\"a\": ", "\"b\": ", "\"c\" :", "\"\\u0061\": ", "\"\": ", "\"base64\":", "\"\\n.\": "};
  int count = take(f) % 4;
  put(f, "{");
  for (int i = 0; i < count; i++) {
    put(f, i > 0 ? ", " : "");
    put(f, keys[take(f) % (sizeof keys / sizeof keys[0])]);
    put_value(f, depth + 1);
  }
  put(f, "}");
}

static void put_list(feed *f, int depth) {
  int count = take(f) % 4;
  put(f, "[");
  for (int i = 0; i < count; i++) {
    put(f, i > 0 ? "," : "");
    put_value(f, depth + 1);
  }
  put(f, "]");
}

static void put_value(feed *f, int depth) {
  uint8_t choice = take(f);
  if (choice < 128 || depth > 6) {
    put_scalar(f, choice);
  } else if (choice < 192) {
    put_list(f, depth);
  } else {
    put_object(f, depth);
  }
}

static cst__text make_file(const uint8_t *data, size_t size) {
  feed f = {data, data + size, {.allocator = cst__default_allocator}};
  bool is_list = take(&f) % 4 == 0;
  put(&f, is_list ? "[" : "");
  for (int i = 0; f.at < f.end && i < 64; i++) {
    put(&f, i > 0 ? (is_list ? ",\n" : "\n") : "");
    put_object(&f, 0);
  }
  put(&f, is_list ? "]" : "\n");
  return f.out;
}

static void check(const uint8_t *data, size_t size, size_t block) {
  check_blocks(data, size, block);
  result first = read_all(data, size, NULL, false, MAX_RECORD);
  if (first.status == CST_OK) {
    check_printed(&first);
  }
  check_skip(data, size, &first);
  fuzz_outcome(cst_status_name(first.status));
  result_reset(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t first = size > 0 ? data[0] : 0;
  data += size > 0;
  size -= size > 0;
  if (first >= 128) {
    cst__text text = make_file(data, size);
    check((const uint8_t *)text.data, text.size, first - 127);
    cst__text_free(&text);
    return 0;
  }
  /* Compressed bytes would be inflated: the input room has its own tests. */
  if (size > 0 && data[0] != '{' && data[0] != '[' && data[0] != ' ' && data[0] != 0xef) {
    fuzz_outcome("FORMAT");
    return 0;
  }
  check(data, size, first + 1);
  return 0;
}
