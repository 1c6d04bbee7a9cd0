/* The table format avro: object container files, block by block.
 *
 * The columns are those of the schema that is given, or of that of the first file; what the files
 * hold is read as it, by the rules of schema resolution.
 */
#include <string.h>

#include "arrow/view.h"
#include "avro/avro_file.h"
#include "avro/avro_program.h"
#include "base/bytes.h"
#include "format/avro/avro_options.h"
#include "format/table/table.h"

typedef struct avro_plan {
  cst_allocator allocator;
  const cst__table_files *files;
  int64_t batch_size;
  cst__avro_limits limits;
  bool skip;
  cst__text text; /* of the reader's schema */
  cst__avro_schema schema;
  cst__avro_columns columns;
} avro_plan;

/* The schema that a file was written with, and the steps that read it. */
typedef struct written {
  cst__text text; /* of it; empty: there are no steps yet */
  cst__avro_schema schema;
  cst__avro_program program;
} written;

typedef struct avro_reader {
  const avro_plan *plan;
  cst__table_drop drop;
  void *drop_ctx;
  cst__batch_builder *batch;
  written written;
  size_t next_file;
  cst__input *input;    /* of the open file, */
  cst__avro_file *file; /* NULL: between files */
  cst__avro_block block;
  int64_t left;      /* values of the block that are still to be read */
  int64_t record;    /* number of the next one in the file; -1: not known */
  uint64_t begin;    /* of what is read of the file */
  uint64_t consumed; /* of the files before */
  cst__avro_loop loop;
  cst_error failure; /* it comes again with every further call */
} avro_reader;

/* ---- files ---- */

/* Reads the header of an input, which is closed if that fails. */
static cst_status open_file(const avro_plan *plan, cst__input **input, cst__avro_file **file,
                            cst_error *error) {
  cst_status status = cst__avro_file_open(*input, &plan->limits, &plan->allocator, file, error);
  if (status != CST_OK) {
    cst__input_close(*input);
    *input = NULL;
  }
  return status;
}

static cst_status add_name(const avro_plan *plan, size_t file, cst_status status,
                           cst_error *error) {
  if (status != CST_OK) {
    cst__error_add_file(error, plan->files->name(plan->files->ctx, file));
  }
  return status;
}

/* ---- the plan ---- */

static void avro_plan_free(void *ptr) {
  avro_plan *plan = ptr;
  cst__avro_columns_reset(&plan->columns);
  cst__avro_schema_reset(&plan->schema);
  cst__text_free(&plan->text);
  cst__delete(plan);
}

static cst_status open_first(const avro_plan *plan, cst__input **out, cst_error *error) {
  const cst__table_files *files = plan->files;
  return files->open_first != NULL ? files->open_first(files->ctx, out, error)
                                   : files->open(files->ctx, 0, out, error);
}

static cst_status take_schema_of_file(avro_plan *plan, cst_error *error) {
  cst__input *input;
  cst__avro_file *file;
  CST__TRY(open_first(plan, &input, error));
  CST__TRY(open_file(plan, &input, &file, error));
  cst_bytes text = cst__avro_file_schema(file);
  cst__text_append(&plan->text, text.data, text.size);
  cst_status status = plan->text.failed ? cst__fail_memory(error, text.size) : CST_OK;
  cst__avro_file_close(file);
  cst__input_close(input);
  return status;
}

static cst_status take_schema(avro_plan *plan, const char *given, cst_error *error) {
  return given == NULL ? add_name(plan, 0, take_schema_of_file(plan, error), error)
                       : cst__avro_options_text(given, &plan->text, error);
}

static cst_status fill_plan(avro_plan *plan, const cst__table_options *options,
                            struct ArrowSchema *out, cst_error *error) {
  const cst__avro_column_options wanted = {.columns = options->columns,
                                           .num_columns = options->num_columns,
                                           .column_flags = options->column_flags};
  const cst__avro_options *own = options->format_options;
  const char *given = own != NULL ? own->schema : NULL;
  CST__TRY(cst__avro_options_of_files(own, error));
  CST__TRY(take_schema(plan, given, error));
  CST__TRY(cst__avro_schema_parse(&plan->schema,
                                  (cst_bytes){(const uint8_t *)plan->text.data, plan->text.size},
                                  &plan->allocator, error));
  CST__TRY(cst__avro_columns_init(&plan->columns, &plan->schema, &wanted, &plan->allocator, error));
  CST__TRY(cst__type_export(&plan->columns.arrow, out, error));
  if (options->types != NULL && !cst__schema_equal(options->types, out)) {
    out->release(out);
    return cst__fail(error, CST_SCHEMA, "leave the types out: Avro files have their own",
                     "the columns of the file are not of the given types");
  }
  return CST_OK;
}

static cst_status avro_make_plan(const cst__table_files *files, const cst__table_options *options,
                                 void **out, struct ArrowSchema *schema, cst_error *error) {
  avro_plan *plan = cst__new_zero(options->allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  plan->allocator = cst__allocator_of(options->allocator);
  plan->text.allocator = plan->allocator;
  plan->schema.document.allocator = plan->allocator;
  plan->files = files;
  plan->batch_size = options->batch_size;
  plan->skip = options->skip;
  plan->limits = (cst__avro_limits){options->max_record_size, options->max_inflation};
  cst_status status = fill_plan(plan, options, schema, error);
  if (status != CST_OK) {
    avro_plan_free(plan);
    return status;
  }
  *out = plan;
  return CST_OK;
}

/* ---- opening ---- */

static void forget_written(written *w) {
  cst__avro_program_reset(&w->program);
  cst__avro_schema_reset(&w->schema);
  w->text.size = 0;
}

/* Bytes of what is read of the open file. */
static uint64_t taken_of_file(const avro_reader *r) {
  uint64_t at = cst__input_consumed(r->input);
  return at > r->begin ? at - r->begin : 0;
}

static void avro_close_file(avro_reader *r) {
  cst__avro_file_close(r->file);
  if (r->input != NULL) {
    r->consumed += taken_of_file(r);
    cst__input_close(r->input);
  }
  r->file = NULL;
  r->input = NULL;
  r->left = 0;
}

static void avro_close(void *ptr) {
  avro_reader *r = ptr;
  if (r != NULL) {
    avro_close_file(r);
    forget_written(&r->written);
    cst__text_free(&r->written.text);
    cst__batch_builder_free(r->batch);
    cst__delete(r);
  }
}

static cst_status avro_open(const void *ptr, cst__table_drop drop, void *drop_ctx, void **out,
                            cst_error *error) {
  const avro_plan *plan = ptr;
  avro_reader *r = cst__new_zero(&plan->allocator, sizeof *r);
  if (r == NULL) {
    return cst__fail_memory(error, sizeof *r);
  }
  r->plan = plan;
  r->drop = plan->skip ? drop : NULL;
  r->drop_ctx = drop_ctx;
  r->failure = (cst_error)CST_ERROR_INIT;
  r->written.text.allocator = plan->allocator;
  cst_status status =
      cst__batch_builder_new(&plan->columns.arrow, &plan->allocator, &r->batch, error);
  if (status != CST_OK) {
    avro_close(r);
    return status;
  }
  *out = r;
  return CST_OK;
}

static cst_bytes text_of(const cst__text *text) {
  return (cst_bytes){(const uint8_t *)text->data, text->size};
}

/* The steps for a file; those of the file before, if it has the same schema. */
static cst_status prepare(avro_reader *r, cst_error *error) {
  written *w = &r->written;
  cst_bytes text = cst__avro_file_schema(r->file);
  if (cst__bytes_equal(text, text_of(&w->text))) {
    return CST_OK;
  }
  forget_written(w);
  cst__text_append(&w->text, text.data, text.size);
  cst_status status = w->text.failed ? cst__fail_memory(error, text.size) : CST_OK;
  if (status == CST_OK) {
    status = cst__avro_schema_parse(&w->schema, text, &r->plan->allocator, error);
  }
  if (status == CST_OK) {
    status = cst__avro_program_init(&w->program, &w->schema, &r->plan->columns, r->batch,
                                    &r->plan->allocator, error);
  }
  if (status != CST_OK) {
    forget_written(w);
  }
  return status;
}

/* ---- values ---- */

static void pass_records(avro_reader *r, int64_t count) { r->record += r->record >= 0 ? count : 0; }

/* What lies in a block is damaged from the value at hand on, which begins at `begin`: it and what
 * comes after it in the block is dropped. */
static cst_status avro_drop(avro_reader *r, uint64_t offset, uint64_t bytes, const char *kind,
                            const cst_error *why, cst_error *error) {
  const avro_plan *plan = r->plan;
  const cst__dropped dropped = {
      .told = {.kind = kind,
               .file = plan->files->name(plan->files->ctx, r->next_file - 1),
               .record = r->record,
               .offset = (int64_t)offset,
               .bytes = bytes,
               .error = why}};
  pass_records(r, 1);
  return r->drop(r->drop_ctx, &dropped, error);
}

/* Where the place lies in the stream, as far as that can be told. */
static uint64_t offset_of(const avro_reader *r, const uint8_t *at) {
  const cst__avro_block *block = &r->block;
  return block->is_compressed ? block->offset : block->at + (uint64_t)(at - block->values.data);
}

static cst_status take_fault(avro_reader *r, cst_status status, const uint8_t *at, cst_error *why,
                             cst_error *error) {
  const uint8_t *end = r->block.values.data + r->block.values.size;
  if (r->drop == NULL || !cst__is_fault(status)) {
    if (cst__is_fault(status)) {
      cst__error_add_record(why, r->record, (int64_t)offset_of(r, at));
    }
    cst__error_copy(error, why);
    return status;
  }
  cst__error_add_record(why, r->record, (int64_t)offset_of(r, at));
  cst__batch_builder_rollback(r->batch, cst__batch_builder_mark(r->batch));
  r->left = 0;
  return avro_drop(r, offset_of(r, r->loop.at), (uint64_t)(end - r->loop.at), "record", why, error);
}

static cst_status check_end(const avro_reader *r, cst_error *error) {
  return r->loop.at == r->loop.end
             ? CST_OK
             : cst__fail(error, CST_CORRUPT,
                         "the file is damaged, or its schema is not that of its values",
                         "an Avro block has bytes after its last value");
}

/* Values of the block at hand, up to `most`. */
static cst_status take_values(avro_reader *r, int64_t most, cst_error *error) {
  cst_error why = CST_ERROR_INIT;
  int64_t rows = r->left < most ? r->left : most;
  int64_t before = r->batch->root->length;
  const uint8_t *at = r->loop.at;
  cst_status status = cst__avro_loop_run(&r->loop, rows, &at, &why);
  int64_t done = r->batch->root->length - before;
  pass_records(r, done);
  r->left -= done;
  if (status == CST_OK && r->left == 0) {
    status = check_end(r, &why);
  }
  return status == CST_OK ? CST_OK : take_fault(r, status, at, &why, error);
}

/* A block may not have more values than its bytes can hold. */
static cst_status check_block(const avro_reader *r, cst_error *error) {
  const cst__avro_block *block = &r->block;
  int64_t least = r->written.program.least;
  if (least > 0 && block->count > (int64_t)block->values.size / least) {
    return cst__fail(error, CST_CORRUPT, "the file is damaged: fetch or write it again",
                     "an Avro block of %zu bytes that claims to have %lld values",
                     block->values.size, (long long)block->count);
  }
  if (least == 0 && block->count > CST__AVRO_MAX_EMPTIES) {
    return cst__fail(error, CST_LIMIT, "the file is damaged, or hostile",
                     "an Avro block with more than %d values that take no bytes",
                     CST__AVRO_MAX_EMPTIES);
  }
  return CST_OK;
}

static cst_status take_damaged_block(avro_reader *r, const cst_error *why, cst_error *error) {
  uint64_t passed;
  CST__TRY(cst__avro_file_recover(r->file, &passed, error));
  return avro_drop(r, r->block.offset, passed, "framing", why, error);
}

static cst_status next_block(avro_reader *r, cst_error *error) {
  cst_error why = CST_ERROR_INIT;
  bool ended;
  cst_status status = cst__avro_file_next(r->file, &r->block, &ended, &why);
  if (status != CST_OK) {
    if (r->drop != NULL && cst__is_fault(status) && !cst__avro_file_is_misplaced(r->file)) {
      return take_damaged_block(r, &why, error);
    }
    cst__error_copy(error, &why);
    return status;
  }
  if (ended) {
    avro_close_file(r);
    return CST_OK;
  }
  r->loop.program = &r->written.program;
  r->loop.batch = r->batch;
  r->loop.at = r->block.values.data;
  r->loop.end = r->loop.at + r->block.values.size;
  r->left = r->block.count;
  status = check_block(r, &why);
  if (status == CST_OK && r->left == 0) {
    status = check_end(r, &why);
  }
  return status == CST_OK ? CST_OK : take_fault(r, status, r->loop.at, &why, error);
}

/* ---- batches ---- */

static cst_status open_next(avro_reader *r, cst_error *error) {
  const cst__table_files *files = r->plan->files;
  size_t i = r->next_file++;
  cst__table_range range = {0};
  if (files->range != NULL) {
    range = files->range(files->ctx, i);
  }
  r->record = range.record;
  r->begin = range.begin;
  CST__TRY(files->open(files->ctx, i, &r->input, error));
  CST__TRY(open_file(r->plan, &r->input, &r->file, error));
  CST__TRY(
      cst__avro_file_limit(r->file, range.begin, range.end > 0 ? range.end : UINT64_MAX, error));
  return prepare(r, error);
}

static cst_status take_step(avro_reader *r, cst_error *error) {
  int64_t room = r->plan->batch_size - r->batch->root->length;
  cst_status status = r->file == NULL ? open_next(r, error)
                      : r->left > 0   ? take_values(r, room, error)
                                      : next_block(r, error);
  return add_name(r->plan, r->next_file - 1, status, error);
}

static cst_status avro_next(void *ptr, struct ArrowArray *out, cst_error *error) {
  avro_reader *r = ptr;
  const avro_plan *plan = r->plan;
  out->release = NULL;
  cst_status status = r->failure.code;
  while (status == CST_OK && r->batch->root->length < plan->batch_size &&
         (r->file != NULL || r->next_file < plan->files->count)) {
    status = take_step(r, &r->failure);
  }
  if (status == CST_OK && r->batch->root->length > 0) {
    status = cst__batch_builder_finish(r->batch, out, &r->failure);
  }
  if (status != CST_OK) {
    r->failure.code = status;
    cst__error_copy(error, &r->failure);
  }
  return status;
}

static uint64_t avro_consumed(const void *ptr) {
  const avro_reader *r = ptr;
  return r->consumed + (r->input != NULL ? taken_of_file(r) : 0);
}

static cst_status avro_find_begin(cst__input *input, const cst__table_cut *cut, uint64_t *out,
                                  cst_error *error) {
  const cst__avro_limits limits = {.max_block_size = cut->max_record_size};
  cst__avro_file *file;
  CST__TRY(cst__avro_file_open(input, &limits, cut->allocator, &file, error));
  cst_status status = cst__avro_file_find(file, cut->from, cut->end, out, error);
  cst__avro_file_close(file);
  return status;
}

const cst__table_format cst__avro_table = {
    .name = "avro",
    .sniff = cst__avro_sniff,
    .plan = avro_make_plan,
    .plan_free = avro_plan_free,
    .open = avro_open,
    .next = avro_next,
    .find_begin = avro_find_begin,
    .consumed = avro_consumed,
    .close = avro_close,
};
