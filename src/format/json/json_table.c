/* The table format of JSON lines: the plan that finds the types, and the reader that makes batches.
 */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "format/json/json.h"
#include "format/table/text_crew.h"

typedef struct plan {
  cst_allocator allocator;
  const cst__table_files *files;
  int64_t batch_size;
  uint64_t max_record_size;
  bool skip;
  cst__json_types types;
} plan;

typedef struct reader {
  const plan *plan;
  const cst__table_files *files;
  int64_t batch_size;
  cst__table_drop drop;
  void *drop_ctx;
  cst__json_lines lines;
  cst__json_document document;
  cst__json_rows rows;
  cst_status failed; /* it comes again with every further call */
  cst_error error;
} reader;

/* ---- sniffing ---- */

static bool is_newline_or_tab(uint8_t c) { return c == '\t' || c == '\r' || c == '\n'; }

static size_t json_table_skip_blanks(const uint8_t *head, size_t size, size_t at) {
  while (at < size && (head[at] == ' ' || is_newline_or_tab(head[at]))) {
    at++;
  }
  return at;
}

/* Text that begins an object, or a list of objects. */
static bool json_table_sniff(const uint8_t *head, size_t size) {
  size_t at = cst__utf8_mark_size(head, size);
  for (size_t i = at; i < size; i++) {
    if (head[i] < 0x20 && !is_newline_or_tab(head[i])) {
      return false;
    }
  }
  at = json_table_skip_blanks(head, size, at);
  if (at < size && head[at] == '[') {
    at = json_table_skip_blanks(head, size, at + 1);
  }
  if (at >= size || head[at] != '{') {
    return false;
  }
  at = json_table_skip_blanks(head, size, at + 1);
  return at < size && head[at] == '"';
}

/* ---- the plan ---- */

static cst_status json_table_add_file(const cst__table_files *files, const cst__json_record *record,
                                      cst_status status, cst_error *error) {
  if (status != CST_OK && status != CST_NO_MEMORY) {
    cst__error_add_file(error, files->name(files->ctx, record->file));
  }
  return status;
}

/* A fault of one record, for which it is dropped. */
static bool is_fault(cst_status status) {
  return status == CST_CORRUPT || status == CST_SCHEMA || status == CST_LIMIT;
}

typedef struct sample {
  cst__json_lines lines;
  cst__json_document document;
  cst__json_infer *infer;
  int64_t rows;
  uint64_t bytes;
} sample;

/* One record into the inference. */
static cst_status json_table_look_at(sample *s, const plan *p, bool *done, cst_error *error) {
  cst__json_record record = {.file = s->lines.file};
  yyjson_val *value;
  cst_status status = cst__json_lines_next(&s->lines, &record, done, error);
  if (status == CST_LIMIT && record.is_cut && p->skip) {
    return cst__json_lines_pass_over(&s->lines, &record, error);
  }
  if (status != CST_OK || *done) {
    return status;
  }
  s->rows++;
  s->bytes += record.size;
  if (cst__json_infer_knows(s->infer, &record)) {
    return CST_OK;
  }
  status = cst__json_record_parse(&s->document, &record, &value, error);
  if (p->skip && is_fault(status)) {
    return CST_OK;
  }
  if (status == CST_OK) {
    status = cst__json_infer_add(s->infer, &s->document, &record, value, error);
  }
  if (p->skip && status == CST_UNSUPPORTED) {
    return CST_OK;
  }
  return json_table_add_file(p->files, &record, status, error);
}

/* ---- inference by several threads ---- */

/* What one thread knows of the parts that it has seen. */
typedef struct json_scout {
  cst__json_infer *infer; /* NULL: it has seen none */
  cst__json_document document;
} json_scout;

/* Each thread looks for the records that are new to it, and the caller adds these, in their order:
 * what a thread knows, it has of records before. */
typedef struct json_scouting {
  const plan *plan;
  const cst__table_options *options;
  json_scout *scouts;
  cst__json_infer *infer; /* of all */
  cst__json_document document;
} json_scouting;

/* The records that a thread has found: a text of one after another, each after its size. */
static void drop_finds(void *made) {
  cst__text_free(made);
  cst__delete(made);
}

static cst_status learn(cst__json_infer *infer, cst__json_document *document,
                        const cst__json_record *record, cst_error *error) {
  yyjson_val *value;
  CST__TRY(cst__json_record_parse(document, record, &value, error));
  return cst__json_infer_add(infer, document, record, value, error);
}

static cst_status scout_records(json_scout *scout, cst__json_lines *lines, cst__text *finds) {
  for (;;) {
    cst__json_record record = {.file = 0};
    bool done = false;
    CST__TRY(cst__json_lines_next(lines, &record, &done, NULL));
    if (done) {
      return finds->failed ? CST_NO_MEMORY : CST_OK;
    }
    if (!cst__json_infer_knows(scout->infer, &record)) {
      CST__TRY(learn(scout->infer, &scout->document, &record, NULL));
      cst__text_append(finds, &record.size, sizeof record.size);
      cst__text_append(finds, record.data, record.size);
    }
  }
}

static bool run_scout(void *ctx, int32_t thread, const cst__table_files *part, void **made) {
  const json_scouting *s = ctx;
  const plan *p = s->plan;
  json_scout *scout = &s->scouts[thread];
  cst__json_lines lines;
  cst__text *finds = cst__new_zero(&p->allocator, sizeof *finds);
  if (finds == NULL) {
    return false;
  }
  finds->allocator = p->allocator;
  *made = finds;
  if (scout->infer == NULL) {
    scout->document.allocator = p->allocator;
    if (cst__json_infer_new(s->options, p->files, &scout->infer, NULL) != CST_OK) {
      return false;
    }
  }
  cst__json_lines_init(&lines, part, p->max_record_size, &p->allocator);
  cst_status status = scout_records(scout, &lines, finds);
  cst__json_lines_reset(&lines);
  return status == CST_OK;
}

static bool take_finds(void *ctx, void *made) {
  json_scouting *s = ctx;
  const cst__text *finds = made;
  cst__json_record record = {.file = 0};
  for (size_t at = 0; at < finds->size; at += record.size) {
    memcpy(&record.size, finds->data + at, sizeof record.size);
    at += sizeof record.size;
    record.data = (const uint8_t *)finds->data + at;
    if (learn(s->infer, &s->document, &record, NULL) != CST_OK) {
      return false;
    }
  }
  return true;
}

/* The types of all files; *sound is false if one thread has to find them. */
static cst_status infer_by_many(plan *p, const cst__table_options *options, bool *sound,
                                cst_error *error) {
  size_t threads = (size_t)options->threads;
  json_scouting s = {.plan = p, .options = options, .document.allocator = p->allocator};
  const cst__text_crew_options crew = {.format = &cst__json_table,
                                       .plan = p,
                                       .files = p->files,
                                       .threads = options->threads,
                                       .allocator = &p->allocator};
  const cst__text_fold fold = {run_scout, take_finds, drop_finds, &s};
  s.scouts = cst__new_zero(&p->allocator, threads * sizeof *s.scouts);
  cst_status status = s.scouts != NULL ? CST_OK : cst__fail_memory(error, threads);
  if (status == CST_OK) {
    status = cst__json_infer_new(options, p->files, &s.infer, error);
  }
  if (status == CST_OK) {
    status = cst__text_crew_fold(&crew, &fold, sound, error);
  }
  if (status == CST_OK && *sound) {
    status = cst__json_infer_finish(s.infer, &p->types, error);
  }
  for (size_t i = 0; s.scouts != NULL && i < threads; i++) {
    cst__json_infer_free(s.scouts[i].infer);
    cst__json_document_reset(&s.scouts[i].document);
  }
  cst__json_infer_free(s.infer);
  cst__json_document_reset(&s.document);
  cst__delete(s.scouts);
  return status;
}

static cst_status json_table_infer(plan *p, const cst__table_options *options, cst_error *error) {
  const cst__table_files *files = p->files;
  sample s = {.document.allocator = p->allocator};
  bool done = false;
  cst__json_lines_init(&s.lines, files, p->max_record_size, &p->allocator);
  cst_status status = cst__json_infer_new(options, files, &s.infer, error);
  while (status == CST_OK && !done && s.rows < files->sample_rows &&
         s.bytes < files->sample_bytes) {
    status = json_table_look_at(&s, p, &done, error);
  }
  if (status == CST_OK) {
    status = cst__json_infer_finish(s.infer, &p->types, error);
  }
  cst__json_infer_free(s.infer);
  cst__json_document_reset(&s.document);
  cst__json_lines_reset(&s.lines);
  return status;
}

static void json_plan_free(void *ptr) {
  plan *p = ptr;
  if (p != NULL) {
    cst__json_types_reset(&p->types);
    cst__delete(p);
  }
}

static cst_status find_types(plan *p, const cst__table_options *options, cst_error *error) {
  if (options->types != NULL) {
    return cst__json_types_of_arrow(&p->types, options, error);
  }
  if (options->schema != NULL) {
    return cst__json_types_of_schema(&p->types, options, error);
  }
  bool sampled = p->files->sample_rows < INT64_MAX || p->files->sample_bytes < UINT64_MAX;
  bool sound = false;
  if (!p->skip && !sampled && cst__text_crew_fits(&cst__json_table, p->files, options->threads)) {
    CST__TRY(infer_by_many(p, options, &sound, error));
  }
  return sound ? CST_OK : json_table_infer(p, options, error);
}

static cst_status json_plan(const cst__table_files *files, const cst__table_options *options,
                            void **out, struct ArrowSchema *schema, cst_error *error) {
  plan *p = cst__new_zero(options->allocator, sizeof *p);
  if (p == NULL) {
    return cst__fail_memory(error, sizeof *p);
  }
  p->allocator = cst__allocator_of(options->allocator);
  p->files = files;
  p->batch_size = options->batch_size;
  p->max_record_size = options->max_record_size;
  p->skip = options->skip;
  cst_status status = cst__json_types_init(&p->types, options->allocator, error);
  if (status == CST_OK) {
    status = find_types(p, options, error);
  }
  if (status == CST_OK) {
    status = cst__type_export(&p->types.arrow, schema, error);
  }
  if (status != CST_OK) {
    json_plan_free(p);
    return status;
  }
  *out = p;
  return CST_OK;
}

/* ---- the reader ---- */

static void json_close(void *ptr) {
  reader *r = ptr;
  if (r != NULL) {
    cst__json_lines_reset(&r->lines);
    cst__json_document_reset(&r->document);
    cst__batch_builder_free(r->rows.batch);
    cst__arena_reset(&r->rows.arena);
    cst__delete(r);
  }
}

static cst_status json_table_open(const void *ptr, const cst__table_reading *reading, void **out,
                                  cst_error *error) {
  const plan *p = ptr;
  reader *r = cst__new_zero(&p->allocator, sizeof *r);
  if (r == NULL) {
    return cst__fail_memory(error, sizeof *r);
  }
  r->plan = p;
  r->files = reading->files != NULL ? reading->files : p->files;
  r->batch_size = reading->batch_size > 0 ? reading->batch_size : p->batch_size;
  r->drop = reading->drop;
  r->drop_ctx = reading->drop_ctx;
  r->error = (cst_error)CST_ERROR_INIT;
  r->document.allocator = p->allocator;
  cst__json_lines_init(&r->lines, r->files, p->max_record_size, &p->allocator);
  cst_status status = cst__json_rows_init(&r->rows, &p->types, &p->allocator, error);
  if (status != CST_OK) {
    json_close(r);
    return status;
  }
  *out = r;
  return CST_OK;
}

/* Tells of a record that is dropped, for a value of the column if there is one; r->error says why.
 */
static cst_status json_table_drop_record(reader *r, cst__json_record *record, cst_bytes column) {
  cst_error why = r->error;
  if (record->is_cut) {
    CST__TRY(cst__json_lines_pass_over(&r->lines, record, &r->error));
  }
  cst__dropped dropped = {.told = {.kind = record->is_cut ? "limit" : "record",
                                   .file = r->files->name(r->files->ctx, record->file),
                                   .record = record->record,
                                   .offset = record->offset,
                                   .bytes = record->size,
                                   .error = &why},
                          .column = column};
  return r->drop(r->drop_ctx, &dropped, &r->error);
}

/* The column that a path ends at, not inside of it; {NULL, 0}: none. */
static cst_bytes column_of(const cst__json_path *path) {
  bool is_column = path->depth == 1 && path->steps[0].name != NULL;
  return is_column ? (cst_bytes){(const uint8_t *)path->steps[0].name, path->steps[0].size}
                   : (cst_bytes){NULL, 0};
}

/* Appends a record; where its value for a column does not fit, *column is that one. */
static cst_status append_record(reader *r, const cst__json_record *record, cst_bytes *column) {
  yyjson_val *value;
  bool taken;
  cst_status status = cst__json_rows_add_text(&r->rows, record, &taken, &r->error);
  if (status != CST_OK || taken) {
    return status;
  }
  status = cst__json_record_parse(&r->document, record, &value, &r->error);
  if (status == CST_OK) {
    status = cst__json_rows_add(&r->rows, &r->document, record, value, &r->error);
    *column = status == CST_SCHEMA ? column_of(&r->rows.path) : *column;
  }
  return json_table_add_file(r->files, record, status, &r->error);
}

/* Appends the next record, or drops it. */
static cst_status next_row(reader *r, bool *done) {
  cst__json_record record = {.file = r->lines.file};
  cst_bytes column = {NULL, 0};
  cst_status status = cst__json_lines_next(&r->lines, &record, done, &r->error);
  if (status != CST_OK && !record.is_cut) {
    return status;
  }
  if (status == CST_OK && !*done) {
    status = append_record(r, &record, &column);
  }
  return is_fault(status) && r->plan->skip ? json_table_drop_record(r, &record, column) : status;
}

static cst_status json_table_next_batch(reader *r, struct ArrowArray *out) {
  bool done = false;
  const cst__builder *rows = r->rows.batch->root;
  while (!done && rows->length < r->batch_size) {
    CST__TRY(next_row(r, &done));
  }
  return rows->length > 0 ? cst__batch_builder_finish(r->rows.batch, out, &r->error) : CST_OK;
}

static cst_status json_next(void *ptr, struct ArrowArray *out, cst_error *error) {
  reader *r = ptr;
  *out = (struct ArrowArray){0};
  if (r->failed == CST_OK) {
    r->failed = json_table_next_batch(r, out);
  }
  if (r->failed != CST_OK) {
    cst__error_copy(error, &r->error);
  }
  return r->failed;
}

static uint64_t json_consumed(const void *ptr) {
  const cst__json_lines *lines = &((const reader *)ptr)->lines;
  return lines->taken + (lines->input != NULL ? cst__input_consumed(lines->input) : 0);
}

/* Every part begins with an object: another one could be taken for a list, or for a mark. */
static size_t json_table_cut(const void *ptr, const cst__table_text *text) {
  size_t mark = text->begins ? cst__utf8_mark_size(text->data, text->size) : 0;
  size_t at = json_table_skip_blanks(text->data, text->size, mark);
  (void)ptr;
  if (at < text->size && text->data[at] != '{') {
    return SIZE_MAX;
  }
  if (text->ends) {
    return text->size;
  }
  return cst__text_last_line_end(text->data, text->size);
}

const cst__table_format cst__json_table = {
    .name = "json",
    .is_text = true,
    .sniff = json_table_sniff,
    .plan = json_plan,
    .plan_free = json_plan_free,
    .open = json_table_open,
    .next = json_next,
    .cut = json_table_cut,
    .consumed = json_consumed,
    .close = json_close,
};
