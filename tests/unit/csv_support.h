/* What the tests of CSV share: files in memory behind the table's interface, and batches as text.
 */
#ifndef TESTS_UNIT_CSV_SUPPORT_H
#define TESTS_UNIT_CSV_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/view.h"
#include "base/alloc.h"
#include "crew_support.h"
#include "format/csv/csv.h"
#include "format/json/text.h"
#include "harness.h"

enum { CSV_MOST_FILES = 4 };

/* One file: text, read through a reader. */
typedef struct csv_text {
  const char *data;
  size_t size;
  int opened;
} csv_text;

/* A source of CSV files, and what came of it. */
typedef struct csv_case {
  const char *files[CSV_MOST_FILES]; /* up to NULL */
  size_t size;                       /* of the only file, if it has NUL bytes; else 0 */
  const char *name;                  /* of the files; NULL: "a.csv" */
  cst__csv_options csv;
  cst__table_options options; /* batch_size 0: 1024; max_record_size 0: 1 MiB */
  size_t block_size;          /* 0: the usual one */
  int64_t sample_rows;        /* not 0: a pipe, of which so many rows may be looked at */

  csv_text texts[CSV_MOST_FILES];
  cst_reader readers[CSV_MOST_FILES];
  char types[512];   /* "a l, b +L<U>" */
  cst__text rows;    /* JSON lines, "---" behind every batch; NUL-terminated */
  char drops[4096];  /* "kind record offset bytes line:column; " */
  size_t most_drops; /* 0: any number */
  size_t num_drops;
  bool alone; /* several threads gave up */
  cst_error error;
} csv_case;

static inline cst_status csv_read_text(void *ctx, uint64_t offset, void *buffer, size_t size,
                                       size_t *got, cst_error *error) {
  const csv_text *t = ctx;
  (void)error;
  size_t there = offset < t->size ? t->size - (size_t)offset : 0;
  *got = size < there ? size : there;
  if (*got > 0) {
    memcpy(buffer, t->data + offset, *got);
  }
  return CST_OK;
}

static inline cst_status csv_open_text(void *ctx, size_t i, cst__input **out, cst_error *error) {
  csv_case *c = ctx;
  c->texts[i].opened++;
  cst__input_options options = {.allocator = c->options.allocator};
  return cst__input_open_reader(&c->readers[i], &options, out, error);
}

static inline const char *csv_name(void *ctx, size_t i) {
  const csv_case *c = ctx;
  return c->readers[i].name;
}

static inline cst_status csv_drop(void *ctx, const cst__dropped *dropped, cst_error *error) {
  csv_case *c = ctx;
  const cst_dropped *d = &dropped->told;
  size_t used = strlen(c->drops);
  const cst_error *e = d->error;
  snprintf(c->drops + used, sizeof c->drops - used, "%s %lld %lld %llu %lld:%lld; ", d->kind,
           (long long)d->record, (long long)d->offset, (unsigned long long)d->bytes,
           (long long)e->line, (long long)e->column);
  c->num_drops++;
  return c->most_drops != 0 && c->num_drops > c->most_drops
             ? cst__fail(error, CST_LIMIT, NULL, "too many")
             : CST_OK;
}

static inline void csv_note_types(csv_case *c, const struct ArrowSchema *schema) {
  size_t used = 0;
  for (int64_t i = 0; i < schema->n_children && used < sizeof c->types; i++) {
    const struct ArrowSchema *child = schema->children[i];
    int more = snprintf(c->types + used, sizeof c->types - used, "%s%s %s%s%s%s", i > 0 ? ", " : "",
                        child->name, child->format, child->n_children > 0 ? "<" : "",
                        child->n_children > 0 ? child->children[0]->format : "",
                        child->n_children > 0 ? ">" : "");
    used += (size_t)more;
  }
}

static inline void csv_note_rows(csv_case *c, const cst__view *batch) {
  for (int64_t row = 0; row < batch->length; row++) {
    for (int64_t i = 0; i < batch->num_children; i++) {
      if (i > 0) {
        cst__text_append(&c->rows, " ", 1);
      }
      cst__json_value(&c->rows, &batch->children[i], row);
    }
    cst__text_append(&c->rows, "\n", 1);
  }
  cst__text_append(&c->rows, "---\n", 4);
}

/* Validates the batch fully. */
static inline cst_status csv_take_batch(csv_case *c, const struct ArrowSchema *schema,
                                        struct ArrowArray *batch) {
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, c->options.allocator);
  cst_status status = cst__view_init(&view, schema, batch, false, &arena, &c->error);
  if (status == CST_OK) {
    csv_note_rows(c, &view);
    status = c->rows.failed ? CST_NO_MEMORY : CST_OK;
  }
  cst__arena_reset(&arena);
  batch->release(batch);
  return status;
}

static inline cst_status csv_read_all(csv_case *c, const cst__table_files *files, const void *plan,
                                      const struct ArrowSchema *schema) {
  const cst__table_reading reading = {.drop = csv_drop, .drop_ctx = c};
  crew_reader reader = {.format = &cst__csv_table};
  cst_status status = crew_open(&reader, files, plan, c->options.threads, &reading, &c->error);
  if (status != CST_OK) {
    return status;
  }
  struct ArrowArray batch;
  do {
    status = crew_next(&reader, &batch, &c->error);
    if (status != CST_OK || batch.release == NULL) {
      break;
    }
    status = csv_take_batch(c, schema, &batch);
  } while (status == CST_OK);
  c->alone = crew_is_alone(&reader);
  crew_close(&reader);
  return status;
}

static inline void csv_reset(csv_case *c) { cst__text_free(&c->rows); }

/* Plans and reads; the case holds what came. */
static inline cst_status csv_run_once(csv_case *c) {
  static const cst_allocator *const usual = &cst__default_allocator;
  cst__table_files files = {.open = csv_open_text,
                            .name = csv_name,
                            .ctx = c,
                            .rereadable = c->sample_rows == 0,
                            .sample_rows = c->sample_rows > 0 ? c->sample_rows : INT64_MAX,
                            .sample_bytes = UINT64_MAX};
  for (; files.count < CSV_MOST_FILES && c->files[files.count] != NULL; files.count++) {
    size_t i = files.count;
    c->texts[i] =
        (csv_text){.data = c->files[i], .size = c->size > 0 ? c->size : strlen(c->files[i])};
    c->readers[i] = (cst_reader){.size = sizeof(cst_reader),
                                 .name = c->name != NULL ? c->name : "a.csv",
                                 .read_at = csv_read_text,
                                 .ctx = &c->texts[i],
                                 .can_seek = true};
  }
  if (c->options.allocator == NULL) {
    c->options.allocator = usual;
  }
  c->options.format_options = &c->csv;
  c->options.threads = c->options.threads > 0 ? c->options.threads : 1;
  c->options.batch_size = c->options.batch_size > 0 ? c->options.batch_size : 1024;
  c->options.max_record_size =
      c->options.max_record_size > 0 ? c->options.max_record_size : 1 << 20;
  c->error = (cst_error)CST_ERROR_INIT;
  c->drops[0] = c->types[0] = '\0';
  c->num_drops = 0;
  c->rows = (cst__text){.allocator = *usual};
  cst__csv_set_block_size(c->block_size);
  void *plan;
  struct ArrowSchema schema;
  cst_status status = cst__csv_table.plan(&files, &c->options, &plan, &schema, &c->error);
  if (status == CST_OK) {
    csv_note_types(c, &schema);
    status = csv_read_all(c, &files, plan, &schema);
    cst__csv_table.plan_free(plan);
    schema.release(&schema);
  }
  cst__text_append(&c->rows, "", 1);
  cst__csv_set_block_size(0);
  return status == CST_OK && c->rows.failed ? CST_NO_MEMORY : status;
}

/* Several threads give the same. */
static inline void csv_check_crew(const csv_case *one, cst_status expected) {
  for (size_t i = 0; i < CREW_SIZES; i++) {
    csv_case many = *one;
    many.options.threads = CREW_THREADS;
    cst__text_crew_set_part_size(crew_part_sizes[i]);
    CHECK_EQ(csv_run_once(&many), expected);
    cst__text_crew_set_part_size(0);
    CHECK_STR(many.error.message, one->error.message);
    CHECK_EQ(many.error.record, one->error.record);
    CHECK_EQ(many.error.offset, one->error.offset);
    CHECK_EQ(many.error.line, one->error.line);
    CHECK_EQ(many.error.column, one->error.column);
    CHECK_STR(many.types, one->types);
    CHECK_STR(many.drops, one->drops);
    CHECK(crew_begins_with(many.rows.data, one->rows.data, "---\n"));
    CHECK(expected != CST_OK || crew_begins_with(one->rows.data, many.rows.data, "---\n"));
    csv_reset(&many);
  }
}

static inline cst_status csv_run(csv_case *c) {
  cst_status status = csv_run_once(c);
  bool is_usual = c->options.allocator == &cst__default_allocator && c->rows.data != NULL;
  if (is_usual && c->sample_rows == 0 && c->options.threads == 1) {
    csv_check_crew(c, status);
  }
  return status;
}

/* The text gives these types and rows (without "---" lines), whatever the size of blocks is. */
static inline void csv_check(csv_case *c, const char *types, const char *rows) {
  static const size_t sizes[] = {0, 1, 2, 3, 5, 7, 16, 63, 64, 65, 100};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    c->block_size = sizes[i];
    cst_status status = csv_run(c);
    CHECK_STR(c->error.message, "");
    CHECK_EQ(status, CST_OK);
    CHECK_STR(c->types, types);
    CHECK_STR(c->rows.data, rows);
    csv_reset(c);
  }
}

/* The text fails, so, whatever the size of blocks is. */
static inline void csv_check_fails(csv_case *c, cst_status expected, const char *message,
                                   int64_t record, int64_t offset, int64_t line, int64_t column) {
  static const size_t sizes[] = {0, 1, 3, 16, 64};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    c->block_size = sizes[i];
    CHECK_EQ(csv_run(c), expected);
    CHECK_CONTAINS(c->error.message, message);
    CHECK_EQ(c->error.record, record);
    CHECK_EQ(c->error.offset, offset);
    CHECK_EQ(c->error.line, line);
    CHECK_EQ(c->error.column, column);
    csv_reset(c);
  }
}

#endif
