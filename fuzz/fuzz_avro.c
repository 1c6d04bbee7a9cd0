/* Container files of Avro: as they are, or made of a schema and the values of one block (two bytes
 * with the size of the schema, one with the number of values), so that mutations reach both. What
 * is read does not depend on the size of the batches; batches are valid; with skip, a file without
 * faults is read as it is without; a column that is read alone is the same as among all; and so is
 * a file that is read by its own schema, given as the reader's; several threads read what one does;
 * and two parts of a file, cut anywhere, have what all of it has.
 */
#include <stdbool.h>
#include <string.h>

#include "arrow/view.h"
#include "format/avro/avro_options.h"
#include "format/json/text.h"
#include "format/table/table.h"
#include "fuzz.h"
#include "table_feed.h"

enum { MAX_BLOCK = 1 << 16, MAX_ROWS = 200 };

/* ---- reading all of it ---- */

typedef struct result {
  cst_status status;
  cst_error error;
  struct ArrowSchema schema; /* of a plan that was made */
  cst__text text;
  int64_t rows;
  size_t drops;
  bool is_cut; /* there are more rows */
} result;

static void result_reset(result *r) {
  if (r->schema.release != NULL) {
    r->schema.release(&r->schema);
  }
  cst__text_free(&r->text);
}

static cst_status on_drop(void *ctx, const cst__dropped *lost, cst_error *error) {
  result *r = ctx;
  (void)error;
  FUZZ_ASSERT(lost->told.record >= 0 && lost->told.offset >= 0);
  FUZZ_ASSERT(lost->told.error->message[0] != '\0');
  r->drops++;
  return CST_OK;
}

/* Rows as texts; a row of one column as that of the column alone. */
static void print_batch(result *r, const struct ArrowArray *batch, int64_t column) {
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, NULL);
  FUZZ_ASSERT(cst__view_init(&view, &r->schema, batch, false, &arena, NULL) == CST_OK);
  FUZZ_ASSERT(view.length > 0);
  const cst__view *shown = column >= 0 ? &view.children[column] : &view;
  for (int64_t i = 0; i < view.length; i++) {
    cst__json_value(&r->text, shown, i);
    cst__text_append(&r->text, "\n", 1);
  }
  r->rows += view.length;
  cst__arena_reset(&arena);
}

static void read_plan(result *r, const void *plan, int64_t column) {
  const cst__table_reading reading = {.drop = on_drop, .drop_ctx = r};
  void *reader;
  struct ArrowArray batch;
  r->status = cst__avro_table.open(plan, &reading, &reader, &r->error);
  FUZZ_ASSERT(r->status == CST_OK);
  while (!r->is_cut) {
    r->status = cst__avro_table.next(reader, &batch, &r->error);
    if (r->status != CST_OK || batch.release == NULL) {
      break;
    }
    print_batch(r, &batch, column);
    batch.release(&batch);
    r->is_cut = r->rows >= MAX_ROWS;
  }
  cst__avro_table.close(reader);
}

/* What is read of the file. */
static cst__table_range part;
static cst__table_range range_of_part(void *ctx, size_t i) {
  (void)ctx;
  (void)i;
  return part;
}

static result read_all(cst_bytes file, cst__table_options options, int64_t column) {
  source s = {.bytes = file, .name = "fuzz.avro"};
  cst__table_files files = files_of(&s);
  files.range = range_of_part;
  result r = {.error = CST_ERROR_INIT, .text.allocator = cst__default_allocator};
  void *plan;
  options.max_record_size = MAX_BLOCK;
  options.max_inflation = 1;
  r.status = cst__avro_table.plan(&files, &options, &plan, &r.schema, &r.error);
  if (r.status == CST_OK) {
    read_plan(&r, plan, column);
    cst__avro_table.plan_free(plan);
  } else {
    r.schema.release = NULL;
  }
  FUZZ_ASSERT(r.status == CST_OK || r.error.message[0] != '\0');
  return r;
}

static void check_same(const result *a, const result *b) {
  FUZZ_ASSERT(a->is_cut || b->is_cut || a->rows == b->rows);
  size_t size = a->text.size < b->text.size ? a->text.size : b->text.size;
  FUZZ_ASSERT(a->is_cut || b->is_cut || a->text.size == b->text.size);
  FUZZ_ASSERT(size == 0 || memcmp(a->text.data, b->text.data, size) == 0);
}

/* ---- what has to hold ---- */

static void check_skip(cst_bytes file, const result *first) {
  result skipped = read_all(file, (cst__table_options){.batch_size = 7, .skip = true}, -1);
  if (first->status == CST_OK) {
    FUZZ_ASSERT(skipped.status == CST_OK && (skipped.drops == 0 || first->is_cut));
    check_same(first, &skipped);
  }
  result_reset(&skipped);
}

static void check_columns(cst_bytes file, const result *first) {
  int64_t count = first->schema.n_children;
  for (int64_t i = 0; i < count && i < 3; i++) {
    const char *name = first->schema.children[i]->name;
    result among = read_all(file, (cst__table_options){.batch_size = 5}, i);
    result alone = read_all(
        file, (cst__table_options){.batch_size = 9, .columns = &name, .num_columns = 1}, 0);
    FUZZ_ASSERT(alone.status == CST_OK || first->is_cut);
    check_same(&among, &alone);
    result_reset(&among);
    result_reset(&alone);
  }
}

static void check_threads(cst_bytes file, const result *first) {
  result several = read_all(file, (cst__table_options){.batch_size = 3, .threads = 3}, -1);
  if (!first->is_cut && !several.is_cut) {
    FUZZ_ASSERT(several.status == first->status);
    FUZZ_ASSERT(several.error.record == first->error.record &&
                several.error.offset == first->error.offset &&
                strcmp(several.error.message, first->error.message) == 0);
  }
  if (first->status == CST_OK) {
    check_same(first, &several);
  }
  result_reset(&several);
}

static uint64_t find(cst_bytes file, uint64_t from) {
  source s = {.bytes = file, .name = "fuzz.avro"};
  const cst__table_cut cut = {.from = from, .end = file.size, .max_record_size = MAX_BLOCK};
  cst__input *input;
  uint64_t found = UINT64_MAX;
  FUZZ_ASSERT(open_source(&s, 0, &input, NULL) == CST_OK);
  FUZZ_ASSERT(cst__avro_table.find_begin(input, &cut, &found, NULL) == CST_OK);
  FUZZ_ASSERT(found >= from && found <= file.size);
  cst__input_close(input);
  return found;
}

/* A part may also refuse, if a marker among values was taken for one between blocks. */
static void check_parts(cst_bytes file, const result *first, uint8_t place) {
  const cst__table_options options = {.batch_size = 11};
  uint64_t at = find(file, file.size * place / 256);
  if (at == 0 || at == file.size || first->is_cut) {
    return;
  }
  part.end = at;
  result before = read_all(file, options, -1);
  part = (cst__table_range){.begin = at, .record = -1};
  result after = read_all(file, options, -1);
  part = (cst__table_range){0};
  FUZZ_ASSERT(before.status == CST_OK || before.status == CST_CORRUPT);
  if (before.status == CST_OK) {
    FUZZ_ASSERT(after.status == CST_OK && before.rows + after.rows == first->rows);
    FUZZ_ASSERT(before.text.size + after.text.size == first->text.size);
    FUZZ_ASSERT(before.text.size == 0 ||
                memcmp(first->text.data, before.text.data, before.text.size) == 0);
    FUZZ_ASSERT(after.text.size == 0 ||
                memcmp(first->text.data + before.text.size, after.text.data, after.text.size) == 0);
  }
  result_reset(&before);
  result_reset(&after);
}

static void check(cst_bytes file, const char *schema) {
  const cst__avro_options own = {schema};
  result first = read_all(file, (cst__table_options){.batch_size = 100}, -1);
  check_skip(file, &first);
  if (first.status == CST_OK) {
    result again = read_all(file, (cst__table_options){.batch_size = 1}, -1);
    FUZZ_ASSERT(again.status == CST_OK || first.is_cut);
    check_same(&first, &again);
    result_reset(&again);
    check_columns(file, &first);
    check_parts(file, &first, file.data[file.size - 1]);
    check_parts(file, &first, file.data[file.size / 2]);
  }
  check_threads(file, &first);
  if (first.status == CST_OK && schema != NULL && schema[0] == '{') {
    result by_own =
        read_all(file, (cst__table_options){.batch_size = 3, .format_options = &own}, -1);
    FUZZ_ASSERT(by_own.status == CST_OK || first.is_cut);
    check_same(&first, &by_own);
    result_reset(&by_own);
  }
  fuzz_outcome(cst_status_name(first.status));
  result_reset(&first);
}

/* ---- files that are made ---- */

static void put_long(cst__text *out, size_t value) {
  for (value *= 2; value >= 0x80; value >>= 7) {
    cst__text_append(out, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
  }
  cst__text_append(out, &(uint8_t){(uint8_t)value}, 1);
}

static void put_sized(cst__text *out, const void *bytes, size_t size) {
  put_long(out, size);
  cst__text_append(out, bytes, size);
}

/* One block of values of a schema, of as many as the number says. */
static void check_made(cst_bytes schema, uint8_t count, cst_bytes values) {
  static const char sync[] = "0123456789abcdef";
  cst__text file = {.allocator = cst__default_allocator};
  cst__text text = {.allocator = cst__default_allocator};
  cst__text_append(&text, schema.data, schema.size);
  cst__text_append(&text, "", 1);
  cst__text_append(&file, "Obj\1\2", 5);
  put_sized(&file, "avro.schema", 11);
  put_sized(&file, schema.data, schema.size);
  put_long(&file, 0);
  cst__text_append(&file, sync, 16);
  put_long(&file, count);
  put_sized(&file, values.data, values.size);
  cst__text_append(&file, sync, 16);
  check((cst_bytes){(const uint8_t *)file.data, file.size}, text.data);
  cst__text_free(&file);
  cst__text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4) {
    fuzz_outcome("FORMAT");
    return 0;
  }
  if (memcmp(data, "Obj", 3) == 0) {
    check((cst_bytes){data, size}, NULL);
    return 0;
  }
  size_t most = size - 3;
  size_t schema = (data[0] | (size_t)data[1] << 8) % (most + 1);
  check_made((cst_bytes){data + 3, schema}, data[2], (cst_bytes){data + 3 + schema, most - schema});
  return 0;
}
