/* What the tests of the JSON reader share: texts as files of a source, read to the end, and the
 * schema and the rows as one text. */
#ifndef TESTS_UNIT_JSON_SUPPORT_H
#define TESTS_UNIT_JSON_SUPPORT_H

#include <stdio.h>

#include "arrow/view.h"
#include "crew_support.h"
#include "format/json/text.h"
#include "format/table/table.h"
#include "harness.h"
#include "io_support.h"

enum { MAX_TEXTS = 4, MAX_DROPS = 16 };

typedef struct texts {
  const char *text[MAX_TEXTS];
  size_t size[MAX_TEXTS];
  size_t count;
  size_t most; /* bytes that a read gives; 0: all */
  memory memory[MAX_TEXTS];
  cst_reader readers[MAX_TEXTS];
  cst_allocator allocator; /* of the inputs */
} texts;

static inline cst_status texts_open(void *ctx, size_t i, cst__input **out, cst_error *error) {
  texts *t = ctx;
  t->memory[i] = (memory){.data = (const uint8_t *)t->text[i], .size = t->size[i], .most = t->most};
  t->readers[i] = memory_reader(&t->memory[i], true);
  return cst__input_open_reader(&t->readers[i], NULL, out, error);
}

static inline const char *texts_name(void *ctx, size_t i) {
  static const char *const names[] = {"a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"};
  (void)ctx;
  return names[i];
}

static inline cst__table_files texts_files(texts *t) {
  return (cst__table_files){.count = t->count,
                            .open = texts_open,
                            .name = texts_name,
                            .ctx = t,
                            .rereadable = true,
                            .sample_rows = INT64_MAX,
                            .sample_bytes = UINT64_MAX};
}

static inline texts one_text(const char *text) {
  return (texts){.text = {text}, .size = {strlen(text)}, .count = 1};
}

static inline void add_text(texts *t, const char *text) {
  t->text[t->count] = text;
  t->size[t->count++] = strlen(text);
}

static inline cst__table_options table_options(void) {
  return (cst__table_options){.batch_size = 1024, .threads = 1, .max_record_size = 1 << 20};
}

/* ---- what came out ---- */

typedef struct outcome {
  bytes text; /* "SCHEMA\nROW\nROW\n" with "--\n" between batches */
  cst_status status;
  cst_error error;
  char drops[MAX_DROPS][64]; /* "KIND record@offset+bytes" */
  size_t num_drops;
  uint64_t consumed;
  bool alone; /* several threads gave up */
} outcome;

static inline void outcome_free(outcome *o) { bytes_free(&o->text); }

static inline void put_text(bytes *b, const char *text) { bytes_add(b, text, strlen(text)); }

static inline void put_schema(bytes *b, const struct ArrowSchema *schema) {
  put_text(b, schema->format);
  if (schema->n_children > 0 || strcmp(schema->format, "+s") == 0) {
    put_text(b, "{");
    for (int64_t i = 0; i < schema->n_children; i++) {
      put_text(b, i > 0 ? ", " : "");
      put_text(b, schema->children[i]->name);
      put_text(b, schema->children[i]->flags & ARROW_FLAG_NULLABLE ? ": " : "!: ");
      put_schema(b, schema->children[i]);
    }
    put_text(b, "}");
  }
}

/* The rows as our writer prints them; the batch has to be valid. */
static inline cst_status put_rows(bytes *b, const struct ArrowSchema *schema,
                                  const struct ArrowArray *batch) {
  cst__arena arena;
  cst__view view;
  cst__text text = {.allocator = cst__default_allocator};
  cst__arena_init(&arena, NULL);
  cst_status status = cst__view_init(&view, schema, batch, false, &arena, NULL);
  for (int64_t i = 0; status == CST_OK && i < view.length; i++) {
    cst__json_value(&text, &view, i);
    cst__text_append(&text, "\n", 1);
  }
  if (text.size > 0) {
    bytes_add(b, text.data, text.size);
  }
  status = status == CST_OK && text.failed ? CST_NO_MEMORY : status;
  cst__text_free(&text);
  cst__arena_reset(&arena);
  return status;
}

static inline cst_status note_drop(void *ctx, const cst__dropped *dropped, cst_error *error) {
  outcome *o = ctx;
  const cst_dropped *told = &dropped->told;
  if (o->num_drops == MAX_DROPS) {
    return cst__fail(error, CST_LIMIT, NULL, "too many drops");
  }
  snprintf(o->drops[o->num_drops++], sizeof o->drops[0], "%s %lld@%lld+%llu", told->kind,
           (long long)told->record, (long long)told->offset, (unsigned long long)told->bytes);
  return CST_OK;
}

static inline cst_status read_batches(const cst__table_files *files, const void *plan,
                                      int32_t threads, const struct ArrowSchema *schema,
                                      outcome *o) {
  const cst__table_reading reading = {.drop = note_drop, .drop_ctx = o};
  crew_reader reader = {.format = &cst__json_table};
  CST__TRY(crew_open(&reader, files, plan, threads, &reading, &o->error));
  cst_status status;
  struct ArrowArray batch;
  for (int n = 0;; n++) {
    status = crew_next(&reader, &batch, &o->error);
    if (status != CST_OK || batch.release == NULL) {
      break;
    }
    put_text(&o->text, n > 0 ? "--\n" : "");
    status = put_rows(&o->text, schema, &batch);
    batch.release(&batch);
    if (status != CST_OK) {
      break;
    }
  }
  o->consumed = crew_consumed(&reader);
  o->alone = crew_is_alone(&reader);
  crew_close(&reader);
  return status;
}

/* Plans and reads all of it. */
static inline outcome read_json_once(texts *t, const cst__table_options *options,
                                     const cst__table_files *files) {
  outcome o = {.error = CST_ERROR_INIT};
  struct ArrowSchema schema;
  void *plan;
  cst__table_files usual = texts_files(t);
  /* Room for the short texts, so that no allocation of the test's own fails unseen. */
  o.text.data = malloc(o.text.capacity = 4096);
  if (o.text.data == NULL) {
    o.text.capacity = 0;
    o.status = CST_NO_MEMORY;
    return o;
  }
  o.status =
      cst__json_table.plan(files != NULL ? files : &usual, options, &plan, &schema, &o.error);
  if (o.status != CST_OK) {
    return o;
  }
  put_schema(&o.text, &schema);
  put_text(&o.text, "\n");
  o.status = read_batches(files != NULL ? files : &usual, plan, options->threads, &schema, &o);
  schema.release(&schema);
  cst__json_table.plan_free(plan);
  return o;
}

/* The text of the outcome, NUL-terminated. */
static inline const char *outcome_text(outcome *o) {
  bytes_add(&o->text, "", 1);
  o->text.size--;
  return (const char *)o->text.data;
}

/* Several threads give the same. */
static inline void json_check_crew(texts *t, const cst__table_options *options,
                                   const cst__table_files *files, outcome *one) {
  cst__table_options several = *options;
  several.threads = CREW_THREADS;
  for (size_t i = 0; i < CREW_SIZES; i++) {
    cst__text_crew_set_part_size(crew_part_sizes[i]);
    outcome many = read_json_once(t, &several, files);
    cst__text_crew_set_part_size(0);
    CHECK_EQ(many.status, one->status);
    CHECK_STR(many.error.message, one->error.message);
    CHECK_EQ(many.error.record, one->error.record);
    CHECK_EQ(many.error.offset, one->error.offset);
    CHECK_EQ(many.num_drops, one->num_drops);
    for (size_t k = 0; k < one->num_drops && k < many.num_drops; k++) {
      CHECK_STR(many.drops[k], one->drops[k]);
    }
    CHECK(crew_begins_with(outcome_text(&many), outcome_text(one), "--\n"));
    if (one->status == CST_OK) {
      CHECK(crew_begins_with(outcome_text(one), outcome_text(&many), "--\n"));
      CHECK_EQ(many.consumed, one->consumed);
    }
    outcome_free(&many);
  }
}

/* `files`: NULL for those of the texts. */
static inline outcome read_json(texts *t, const cst__table_options *options,
                                const cst__table_files *files) {
  outcome o = read_json_once(t, options, files);
  bool is_whole = files == NULL || (files->rereadable && files->sample_rows == INT64_MAX);
  if (options->allocator == NULL && options->threads == 1 && is_whole && o.text.data != NULL) {
    json_check_crew(t, options, files, &o);
  }
  return o;
}

#endif /* TESTS_UNIT_JSON_SUPPORT_H */
