/* Running the steps over blocks, and what happens with values that are damaged. */
#include "format/avro/avro_decode.h"

static const char hint_damaged[] = "the file is damaged: fetch or write it again";

/* ---- life ---- */

cst_status cst__avro_decoder_init(cst__avro_decoder *decoder, const cst__avro_plan *plan,
                                  cst__table_drop drop, void *drop_ctx, cst_error *error) {
  decoder->plan = plan;
  decoder->drop = drop;
  decoder->drop_ctx = drop_ctx;
  return cst__batch_builder_new(&plan->columns.arrow, &plan->allocator, &decoder->batch, error);
}

static void forget_program(cst__avro_decoder *decoder) {
  cst__avro_program_reset(&decoder->program);
  cst__avro_written_release(decoder->written);
  decoder->written = NULL;
}

void cst__avro_decoder_reset(cst__avro_decoder *decoder) {
  if (decoder->plan == NULL) {
    return;
  }
  forget_program(decoder);
  if (decoder->inflater.codec != NULL) {
    cst__avro_inflater_reset(&decoder->inflater);
  }
  cst__batch_builder_free(decoder->batch);
  decoder->plan = NULL;
}

static cst_status make_program(cst__avro_decoder *decoder, cst__avro_written *written,
                               cst_error *error) {
  const cst__avro_plan *plan = decoder->plan;
  forget_program(decoder);
  cst_status status = cst__avro_program_init(&decoder->program, &written->schema, &plan->columns,
                                             decoder->batch, &plan->allocator, error);
  if (status != CST_OK) {
    forget_program(decoder);
    return status;
  }
  decoder->written = cst__avro_written_retain(written);
  return CST_OK;
}

cst_status cst__avro_decoder_enter(cst__avro_decoder *decoder, const cst__avro_opened *opened,
                                   int64_t record, cst_error *error) {
  const cst__avro_plan *plan = decoder->plan;
  decoder->name = plan->files->name(plan->files->ctx, opened->number);
  decoder->record = record;
  decoder->left = 0;
  if (decoder->inflater.codec != opened->codec) {
    if (decoder->inflater.codec != NULL) {
      cst__avro_inflater_reset(&decoder->inflater);
    }
    cst__avro_inflater_init(&decoder->inflater, opened->codec, plan->limits.max_inflation,
                            &plan->allocator);
  }
  cst_status status =
      decoder->written != opened->written ? make_program(decoder, opened->written, error) : CST_OK;
  if (status != CST_OK) {
    cst__error_add_file(error, decoder->name);
  }
  return status;
}

/* ---- damage ---- */

static void pass_records(cst__avro_decoder *decoder, int64_t count) {
  decoder->record += decoder->record >= 0 ? count : 0;
}

/* What begins at `offset` is damaged, with all that the block has from there on. */
static cst_status drop(cst__avro_decoder *decoder, uint64_t offset, uint64_t bytes,
                       const char *kind, const cst_error *why, cst_error *error) {
  const cst__dropped dropped = {.told = {.kind = kind,
                                         .file = decoder->name,
                                         .record = decoder->record,
                                         .offset = (int64_t)offset,
                                         .bytes = bytes,
                                         .error = why}};
  pass_records(decoder, 1);
  cst_status status = decoder->drop(decoder->drop_ctx, &dropped, error);
  if (status != CST_OK) {
    cst__error_add_file(error, decoder->name);
  }
  return status;
}

cst_status cst__avro_decoder_lose(cst__avro_decoder *decoder, const cst__avro_block *lost,
                                  const cst_error *why, cst_error *error) {
  return drop(decoder, lost->offset, lost->size, "framing", why, error);
}

static cst_status fail(const cst__avro_decoder *decoder, cst_status status, cst_error *why,
                       cst_error *error) {
  cst__error_add_file(why, decoder->name);
  cst__error_copy(error, why);
  return status;
}

/* Where the place lies in the stream, as far as that can be told. */
static uint64_t offset_of(const cst__avro_decoder *decoder, const uint8_t *at) {
  const cst__avro_block *block = &decoder->block;
  return block->is_compressed ? block->offset : block->at + (uint64_t)(at - block->values.data);
}

/* Of a value, from which on nothing of the block is read. */
static cst_status take_fault(cst__avro_decoder *decoder, cst_status status, const uint8_t *at,
                             cst_error *why, cst_error *error) {
  const cst__avro_loop *loop = &decoder->loop;
  cst__batch_builder *batch = decoder->batch;
  decoder->left = 0;
  if (!cst__is_fault(status)) {
    return fail(decoder, status, why, error);
  }
  cst__batch_builder_rollback(batch, cst__batch_builder_mark(batch));
  cst__error_add_record(why, decoder->record, (int64_t)offset_of(decoder, at));
  if (decoder->drop == NULL) {
    return fail(decoder, status, why, error);
  }
  cst__error_add_file(why, decoder->name);
  return drop(decoder, offset_of(decoder, loop->at), (uint64_t)(loop->end - loop->at), "record",
              why, error);
}

/* ---- blocks ---- */

/* A block may not have more values than its bytes can hold. */
static cst_status check_block(const cst__avro_decoder *decoder, cst_error *error) {
  const cst__avro_block *block = &decoder->block;
  int64_t least = decoder->program.least;
  if (least > 0 && block->count > (int64_t)block->values.size / least) {
    return cst__fail(error, CST_CORRUPT, hint_damaged,
                     "an Avro block of %zu bytes with a count of %lld values", block->values.size,
                     (long long)block->count);
  }
  if (least == 0 && block->count > CST__AVRO_MAX_EMPTIES) {
    return cst__fail(error, CST_LIMIT, "the file is damaged, or hostile",
                     "an Avro block with more than %d values that take no bytes",
                     CST__AVRO_MAX_EMPTIES);
  }
  return CST_OK;
}

static cst_status check_end(const cst__avro_decoder *decoder, cst_error *error) {
  return decoder->loop.at == decoder->loop.end
             ? CST_OK
             : cst__fail(error, CST_CORRUPT,
                         "the file is damaged, or its schema is not that of its values",
                         "an Avro block has bytes after its last value");
}

/* The bytes of its values. False in *there: they are damaged, and the block was dropped. */
static cst_status inflate(cst__avro_decoder *decoder, bool *there, cst_error *error) {
  cst__avro_block *block = &decoder->block;
  cst_error why = CST_ERROR_INIT;
  *there = true;
  if (!block->is_compressed) {
    return CST_OK;
  }
  cst_status status = cst__avro_inflate(&decoder->inflater, block->values, &block->values, &why);
  if (status == CST_OK) {
    return CST_OK;
  }
  *there = false;
  cst__error_add_record(&why, -1, (int64_t)block->offset);
  return decoder->drop != NULL && cst__is_fault(status)
             ? cst__avro_decoder_lose(decoder, block, &why, error)
             : fail(decoder, status, &why, error);
}

cst_status cst__avro_decoder_begin(cst__avro_decoder *decoder, const cst__avro_block *block,
                                   cst_error *error) {
  cst__avro_loop *loop = &decoder->loop;
  cst_error why = CST_ERROR_INIT;
  bool there;
  decoder->block = *block;
  decoder->left = 0;
  CST__TRY(inflate(decoder, &there, error));
  if (!there) {
    return CST_OK;
  }
  loop->program = &decoder->program;
  loop->batch = decoder->batch;
  loop->at = decoder->block.values.data;
  loop->end = loop->at + decoder->block.values.size;
  decoder->left = block->count;
  cst_status status = check_block(decoder, &why);
  if (status == CST_OK && decoder->left == 0) {
    status = check_end(decoder, &why);
  }
  return status == CST_OK ? CST_OK : take_fault(decoder, status, loop->at, &why, error);
}

cst_status cst__avro_decoder_take(cst__avro_decoder *decoder, int64_t most, cst_error *error) {
  cst_error why = CST_ERROR_INIT;
  int64_t rows = decoder->left < most ? decoder->left : most;
  int64_t before = cst__avro_decoder_rows(decoder);
  const uint8_t *at = decoder->loop.at;
  cst_status status = cst__avro_loop_run(&decoder->loop, rows, &at, &why);
  int64_t done = cst__avro_decoder_rows(decoder) - before;
  pass_records(decoder, done);
  decoder->left -= done;
  if (status == CST_OK && decoder->left == 0) {
    at = decoder->loop.at;
    status = check_end(decoder, &why);
  }
  return status == CST_OK ? CST_OK : take_fault(decoder, status, at, &why, error);
}
