/* The table format avro: object container files, block by block.
 *
 * The columns are those of the schema that is given, or of that of the first file; what the files
 * hold is read as it, by the rules of schema resolution.
 */
#include "arrow/view.h"
#include "format/avro/avro_crew.h"
#include "format/avro/avro_decode.h"
#include "format/avro/avro_options.h"
#include "format/table/table.h"

typedef struct avro_reader {
  const cst__avro_plan *plan;
  cst__avro_crew *crew;      /* of several threads; NULL: this one reads, by */
  cst__avro_walk walk;       /* the files, */
  cst__avro_decoder decoder; /* and what makes rows of their blocks */
  cst_error failure;         /* it comes again with every further call */
} avro_reader;

/* ---- files ---- */

/* Reads the header of an input, which is closed if that fails. */
static cst_status open_file(const cst__avro_plan *plan, cst__input **input, cst__avro_file **file,
                            cst_error *error) {
  cst_status status = cst__avro_file_open(*input, &plan->limits, &plan->allocator, file, error);
  if (status != CST_OK) {
    cst__input_close(*input);
    *input = NULL;
  }
  return status;
}

static cst_status add_name(const cst__avro_plan *plan, size_t file, cst_status status,
                           cst_error *error) {
  if (status != CST_OK) {
    cst__error_add_file(error, plan->files->name(plan->files->ctx, file));
  }
  return status;
}

/* ---- the plan ---- */

static void avro_plan_free(void *ptr) {
  cst__avro_plan *plan = ptr;
  cst__avro_columns_reset(&plan->columns);
  cst__avro_schema_reset(&plan->schema);
  cst__text_free(&plan->text);
  cst__delete(plan);
}

static cst_status open_first(const cst__avro_plan *plan, cst__input **out, cst_error *error) {
  const cst__table_files *files = plan->files;
  return files->open_first != NULL ? files->open_first(files->ctx, out, error)
                                   : files->open(files->ctx, 0, out, error);
}

static cst_status take_schema_of_file(cst__avro_plan *plan, cst_error *error) {
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

static cst_status take_schema(cst__avro_plan *plan, const char *given, cst_error *error) {
  return given == NULL ? add_name(plan, 0, take_schema_of_file(plan, error), error)
                       : cst__avro_options_text(given, &plan->text, error);
}

static cst_status fill_plan(cst__avro_plan *plan, const cst__table_options *options,
                            struct ArrowSchema *out, cst_error *error) {
  const cst__avro_options *own = options->format_options;
  const cst__avro_column_options wanted = {
      .columns = options->columns,
      .num_columns = options->num_columns,
      .column_flags = options->column_flags,
      .enums = own != NULL ? own->enums : CST__AVRO_ENUMS_DICTIONARY,
      .recursion = own != NULL ? own->recursion : 0};
  const char *given = own != NULL ? own->schema : NULL;
  CST__TRY(cst__avro_options_of_files(own, error));
  CST__TRY(take_schema(plan, given, error));
  const cst_bytes text = {(const uint8_t *)plan->text.data, plan->text.size};
  cst_status status = cst__avro_schema_parse(&plan->schema, text, &plan->allocator, error);
  if (status != CST_OK) {
    return given == NULL ? add_name(plan, 0, status, error) : status;
  }
  CST__TRY(cst__avro_columns_init(&plan->columns, &plan->schema, &wanted, &plan->allocator, error));
  CST__TRY(cst__type_export(&plan->columns.arrow, out, error));
  if (options->types != NULL && !cst__schema_equal(options->types, out)) {
    out->release(out);
    return cst__fail(error, CST_SCHEMA, "remove the types: Avro files have their own",
                     "the columns of the file are not of the given types");
  }
  return CST_OK;
}

static cst_status avro_make_plan(const cst__table_files *files, const cst__table_options *options,
                                 void **out, struct ArrowSchema *schema, cst_error *error) {
  cst__avro_plan *plan = cst__new_zero(options->allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  plan->allocator = cst__allocator_of(options->allocator);
  plan->text.allocator = plan->allocator;
  plan->schema.document.allocator = plan->allocator;
  plan->files = files;
  plan->batch_size = options->batch_size;
  plan->threads = options->threads;
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

/* ---- readers ---- */

static void avro_close(void *ptr) {
  avro_reader *r = ptr;
  if (r != NULL) {
    cst__avro_crew_free(r->crew);
    cst__avro_walk_reset(&r->walk);
    cst__avro_decoder_reset(&r->decoder);
    cst__delete(r);
  }
}

static cst_status avro_open(const void *ptr, const cst__table_reading *reading, void **out,
                            cst_error *error) {
  const cst__avro_plan *plan = ptr;
  avro_reader *r = cst__new_zero(&plan->allocator, sizeof *r);
  if (r == NULL) {
    return cst__fail_memory(error, sizeof *r);
  }
  cst__table_drop drop = plan->skip ? reading->drop : NULL;
  r->plan = plan;
  r->failure = (cst_error)CST_ERROR_INIT;
  r->walk = (cst__avro_walk){.plan = plan, .skips = drop != NULL};
  cst_status status =
      plan->threads > 1 ? cst__avro_crew_new(plan, drop, reading->drop_ctx, &r->crew, error)
                        : cst__avro_decoder_init(&r->decoder, plan, drop, reading->drop_ctx, error);
  if (status != CST_OK) {
    avro_close(r);
    return status;
  }
  *out = r;
  return CST_OK;
}

/* Values of the block at hand, or what comes after it. */
static cst_status take_step(avro_reader *r, cst_error *error) {
  cst__avro_decoder *decoder = &r->decoder;
  cst__avro_found found;
  cst__avro_block block;
  cst_error why = CST_ERROR_INIT;
  if (decoder->left > 0) {
    return cst__avro_decoder_take(decoder, r->plan->batch_size - cst__avro_decoder_rows(decoder),
                                  error);
  }
  cst_status status = cst__avro_walk_next(&r->walk, &found, &block, &why);
  if (status != CST_OK) {
    cst__error_copy(error, &why);
    return status;
  }
  switch (found) {
    case CST__AVRO_OPENED:
      return cst__avro_decoder_enter(decoder, &r->walk.opened, r->walk.opened.record, error);
    case CST__AVRO_BLOCK:
      return cst__avro_decoder_begin(decoder, &block, error);
    case CST__AVRO_LOST:
      return cst__avro_decoder_lose(decoder, &block, &why, error);
    default:
      return CST_OK;
  }
}

static cst_status next_of_one(avro_reader *r, struct ArrowArray *out, cst_error *error) {
  const cst__avro_decoder *decoder = &r->decoder;
  while (cst__avro_decoder_rows(decoder) < r->plan->batch_size &&
         (decoder->left > 0 || !cst__avro_walk_has_ended(&r->walk))) {
    CST__TRY(take_step(r, error));
  }
  return cst__avro_decoder_rows(decoder) > 0 ? cst__batch_builder_finish(decoder->batch, out, error)
                                             : CST_OK;
}

static cst_status avro_next(void *ptr, struct ArrowArray *out, cst_error *error) {
  avro_reader *r = ptr;
  out->release = NULL;
  cst_status status = r->failure.code;
  if (status == CST_OK) {
    status = r->crew != NULL ? cst__avro_crew_next(r->crew, out, &r->failure)
                             : next_of_one(r, out, &r->failure);
  }
  if (status != CST_OK) {
    r->failure.code = status;
    cst__error_copy(error, &r->failure);
  }
  return status;
}

static uint64_t avro_consumed(const void *ptr) {
  const avro_reader *r = ptr;
  return r->crew != NULL ? cst__avro_crew_consumed(r->crew) : cst__avro_walk_consumed(&r->walk);
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
    .threads_any_size = true,
    .sniff = cst__avro_sniff,
    .plan = avro_make_plan,
    .plan_free = avro_plan_free,
    .open = avro_open,
    .next = avro_next,
    .find_begin = avro_find_begin,
    .consumed = avro_consumed,
    .close = avro_close,
};
