/* Units: checking and decoding the records of one batch. */
#include "source/block/unit.h"

#include <string.h>

#include "base/interrupt.h"

static const size_t view_limit = (size_t)INT32_MAX;

bool cst__unit_add(cst__unit *unit, const cst_source *source, cst__block *block, size_t first,
                   size_t count) {
  void *runs = unit->runs;
  if (!cst__grow(&source->allocator, &runs, &unit->capacity, unit->num_runs + 1,
                 sizeof *unit->runs)) {
    return false;
  }
  unit->runs = runs;
  unit->runs[unit->num_runs++] =
      (cst__run){block, first, count, block->file, cst__block_record(block, first)};
  unit->rows += count;
  cst__block_retain(block);
  return true;
}

void cst__unit_let_go(cst__unit *unit) {
  for (size_t i = 0; i < unit->num_runs; i++) {
    if (unit->runs[i].block != NULL) {
      cst__block_release(unit->runs[i].block);
      unit->runs[i].block = NULL;
    }
  }
}

void cst__unit_forget_rows(cst__unit *unit) {
  cst__unit_let_go(unit);
  unit->num_runs = 0;
  unit->rows = 0;
  unit->bytes = 0;
  unit->by_bytes = false;
  unit->is_trial = false;
  unit->map.moved = false;
}

void cst__unit_clear(cst__unit *unit) {
  cst__unit_forget_rows(unit);
  cst__drops_clear(&unit->drops, 0);
}

void cst__unit_reset(cst__unit *unit) {
  cst__unit_clear(unit);
  cst__drops_reset(&unit->drops);
  cst__row_map_reset(&unit->map);
  cst__delete(unit->runs);
  *unit = (cst__unit){0};
}

cst__place cst__unit_rows_place(const void *ctx, int64_t row) {
  const cst__unit_rows *rows = ctx;
  const cst_source *source = rows->source;
  size_t at = rows->first + (size_t)row;
  for (size_t i = 0; i < rows->unit->num_runs; i++) {
    const cst__run *run = &rows->unit->runs[i];
    if (at >= run->count) {
      at -= run->count;
      continue;
    }
    const cst__block *block = run->block;
    return (cst__place){
        cst__source_name(source, run->file),
        cst__source_record(source, run->file, run->record + at),
        block != NULL ? (int64_t)(block->offset + cst__frame_start(&block->frames[run->first + at]))
                      : -1};
  }
  return cst__no_place;
}

void cst__unit_locate(const cst__unit *unit, const cst_source *source, size_t row,
                      cst_error *error) {
  const cst__unit_rows rows = {unit, source, 0};
  if (row < unit->rows && cst__error_wanted(error)) {
    cst__place place = cst__unit_rows_place(&rows, (int64_t)row);
    error->record = -1;
    error->offset = -1;
    cst__error_add_place(error, &place);
  }
}

void cst__decoding_reset(cst__decoding *decoding) {
  if (decoding->decoder != NULL) {
    cst__record_decoder_close(decoding->decoder);
  }
  cst__chain_close(decoding->stages);
  cst__drops_reset(&decoding->bad);
  cst__delete(decoding->items);
  cst__delete(decoding->offsets);
  cst__delete(decoding->blocks);
  *decoding = (cst__decoding){.source = decoding->source,
                              .purpose = decoding->purpose,
                              .checked = decoding->checked,
                              .direct = decoding->direct,
                              .taken = decoding->taken};
}

/* A schema that was inferred from the first records may be too narrow. The record that ended them
 * has failed before, by what they are. */
static void explain_sample(const cst__decoding *decoding, cst_error *error) {
  const cst__found *found = &decoding->source->found;
  if (found->sampled == 0 || decoding->purpose != CST__FOR_COLUMNS || !cst__error_wanted(error) ||
      error->code != CST_SCHEMA) {
    return;
  }
  const cst_error *end = found->sample_error;
  if (end != NULL && end->record == error->record && strcmp(end->file, error->file) == 0) {
    cst__error_copy(error, end);
    return;
  }
  cst__error_set_hint(error,
                      "the schema was inferred from the first records only: run `columnstone "
                      "schema infer` on all of the data, and pass that schema");
}

/* A row is to blame: its place goes into the error. */
static cst_status fail_row(const cst__unit *unit, cst__decoding *decoding, size_t row,
                           cst_status status, cst_error *error) {
  decoding->bad_row = row;
  cst__unit_locate(unit, decoding->source, row, error);
  explain_sample(decoding, error);
  return status;
}

static cst_status reserve_lists(cst__decoding *decoding, const cst__unit *unit, cst_error *error) {
  const cst_allocator *allocator = &decoding->source->allocator;
  void *items = decoding->items;
  bool done =
      cst__grow(allocator, &items, &decoding->items_capacity, unit->rows, sizeof *decoding->items);
  decoding->items = items;
  if (!done) {
    return cst__fail_memory(error, unit->rows * sizeof *decoding->items);
  }
  void *blocks = decoding->blocks;
  done = cst__grow(allocator, &blocks, &decoding->blocks_capacity, unit->num_runs,
                   sizeof *decoding->blocks);
  decoding->blocks = blocks;
  return done ? CST_OK : cst__fail_memory(error, unit->num_runs * sizeof *decoding->blocks);
}

/* Lists the records and their blocks; checks the payloads right before they are decoded, while
 * their bytes are near. */
static cst_status list_unit(const cst__unit *unit, cst__decoding *decoding, cst_error *error) {
  const cst_source *source = decoding->source;
  const cst__container *container = source->inputs->container;
  bool views = source->options.values.column_flags & CST_COLUMNS_BINARY_VIEWS;
  bool check =
      container->check != NULL && !decoding->checked &&
      !(source->options.values.flags & CST_SOURCE_SKIP_CRC) &&
      (decoding->direct || !cst__reading_options_skip(&source->options)); /* or the cursor does */
  size_t row = 0;
  CST__TRY(reserve_lists(decoding, unit, error));
  for (size_t i = 0; i < unit->num_runs; i++) {
    const cst__run *run = &unit->runs[i];
    const cst__frame *frames = run->block->frames + run->first;
    cst__block *block = run->block;
    CST__TRY(check ? cst__interrupted(error) : CST_OK);
    for (size_t k = 0; k < run->count; k++, row++) {
      cst_status status = check ? container->check(block->data, &frames[k], error) : CST_OK;
      if (status != CST_OK) {
        return fail_row(unit, decoding, row, status, error);
      }
      decoding->items[row] = (cst_bytes){block->data + frames[k].begin, frames[k].size};
    }
    if (views && block->size > view_limit) {
      (void)cst__fail(error, CST_LIMIT, "read it without views",
                      "views reach 2 GiB of a block, a record takes %zu bytes", block->size);
      return fail_row(unit, decoding, row - run->count, CST_LIMIT, error);
    }
    decoding->blocks[i] =
        (cst__block_ref){block->data, block->size, block, cst__block_retain, cst__block_release};
  }
  return CST_OK;
}

static void note_bad_row(void *ctx, const cst_error *error) {
  cst__decoding *decoding = ctx;
  const cst_allocator *allocator = &decoding->source->allocator;
  cst__drop drop = {.kind = CST__DROP_RECORD,
                    .error = cst__error_keep(allocator, error),
                    .before = (size_t)error->record};
  if (drop.error == NULL || !cst__drops_add(&decoding->bad, allocator, &drop)) {
    decoding->bad_lost = true;
  }
}

static int64_t unit_row_record(const void *ctx, int64_t row) {
  const cst__decoding *decoding = ctx;
  const cst__unit_rows rows = {decoding->unit, decoding->source, 0};
  return decoding->taken.record != NULL ? decoding->taken.record(decoding->taken.ctx, row)
                                        : cst__unit_rows_place(&rows, row).record;
}

static cst_status unit_row_ids(const void *ctx, int64_t count, int64_t *files, int64_t *records,
                               cst_error *error) {
  const cst__decoding *decoding = ctx;
  const cst_source *source = decoding->source;
  if (decoding->taken.ids != NULL) {
    return decoding->taken.ids(decoding->taken.ctx, count, files, records, error);
  }
  int64_t row = 0;
  for (size_t i = 0; i < decoding->unit->num_runs; i++) {
    const cst__run *run = &decoding->unit->runs[i];
    for (size_t k = 0; k < run->count && row < count; k++, row++) {
      files[row] = cst__source_file_number(source, run->file);
      records[row] = cst__source_record(source, run->file, run->record + k);
    }
  }
  return CST_OK;
}

/* Bad rows are noted in their order. */
static bool unit_row_is_bad(const void *ctx, int64_t row) {
  const cst__drops *bad = &((const cst__decoding *)ctx)->bad;
  size_t begin = 0;
  size_t end = bad->count;
  while (begin < end) {
    size_t middle = begin + (end - begin) / 2;
    if (bad->items[middle].before < (size_t)row) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin < bad->count && bad->items[begin].before == (size_t)row;
}

static cst_status open_decoding(cst__decoding *decoding, cst_error *error) {
  const cst_source *source = decoding->source;
  bool for_columns = decoding->purpose == CST__FOR_COLUMNS;
  bool nulls = cst__source_has_null_rows(source, decoding->purpose);
  if (decoding->decoder == NULL) {
    CST__TRY(cst__source_open_decoder(source, decoding->purpose, &decoding->decoder, error));
    if (nulls) {
      cst__record_decoder_on_bad(decoding->decoder, note_bad_row, decoding);
    }
  }
  if (!for_columns || !cst__reading_options_staged(&source->options) || decoding->stages != NULL) {
    return CST_OK;
  }
  CST__TRY(cst__chain_open(cst__source_bound_chain(source), &decoding->stages, error));
  const cst__row_facts facts = {unit_row_record, unit_row_is_bad, unit_row_ids, decoding};
  cst__chain_ask(decoding->stages, &facts);
  if (nulls) {
    cst__chain_on_bad(decoding->stages, note_bad_row, decoding);
  }
  return CST_OK;
}

/* What names no row is about the batch, which begins with the first. */
static cst_status run_stages(const cst__unit *unit, cst__decoding *decoding, bool tries,
                             struct ArrowArray *batch, cst_error *error) {
  const cst__row_map *map = NULL;
  decoding->unit = unit;
  cst_status status = tries ? cst__chain_try(decoding->stages, batch, error)
                            : cst__chain_apply(decoding->stages, batch, &map, error);
  decoding->map = status == CST_OK && map != NULL && map->moved ? map : NULL;
  if (status != CST_OK && cst__error_wanted(error)) {
    size_t row = error->record > 0 ? (size_t)error->record : 0;
    return fail_row(unit, decoding, row, status, error);
  }
  return status;
}

/* Where the records begin in their streams. */
static cst_status list_record_offsets(const cst__unit *unit, cst__decoding *decoding,
                                      cst_error *error) {
  void *offsets = decoding->offsets;
  bool done = cst__grow(&decoding->source->allocator, &offsets, &decoding->offsets_capacity,
                        unit->rows, sizeof *decoding->offsets);
  size_t row = 0;
  decoding->offsets = offsets;
  if (!done) {
    return cst__fail_memory(error, unit->rows * sizeof *decoding->offsets);
  }
  for (size_t i = 0; i < unit->num_runs; i++) {
    const cst__run *run = &unit->runs[i];
    const cst__frame *frames = run->block->frames + run->first;
    for (size_t k = 0; k < run->count; k++, row++) {
      decoding->offsets[row] = decoding->taken.offset != NULL
                                   ? decoding->taken.offset(decoding->taken.ctx, (int64_t)row)
                                   : (int64_t)(run->block->offset + cst__frame_start(&frames[k]));
    }
  }
  return CST_OK;
}

static cst_status decode_unit(const cst__unit *unit, cst__decoding *decoding, bool tries,
                              struct ArrowSchema *out_schema, struct ArrowArray *out,
                              cst_error *error) {
  decoding->map = NULL;
  decoding->bad_row = SIZE_MAX;
  decoding->bad_lost = false;
  cst__drops_clear(&decoding->bad, 0);
  CST__TRY(open_decoding(decoding, error));
  CST__TRY(list_unit(unit, decoding, error));
  if (decoding->purpose == CST__FOR_COLUMNS &&
      decoding->source->options.values.offset_column != NULL) {
    CST__TRY(list_record_offsets(unit, decoding, error));
  }
  cst__records records = {.items = decoding->items,
                          .count = unit->rows,
                          .padding = CST__BLOCK_PADDING,
                          .blocks = decoding->blocks,
                          .num_blocks = unit->num_runs,
                          .offsets = decoding->offsets};
  cst_status status =
      cst__record_decoder_decode(decoding->decoder, &records, out_schema, out, error);
  if (status == CST_OK && decoding->stages != NULL && out != NULL) {
    return run_stages(unit, decoding, tries, out, error);
  }
  if (status != CST_OK && cst__error_wanted(error)) {
    if (error->record >= 0) { /* the payload's way to name a record */
      return fail_row(unit, decoding, (size_t)error->record, status, error);
    }
    explain_sample(decoding, error);
  }
  return status;
}

cst_status cst__unit_decode(const cst__unit *unit, cst__decoding *decoding,
                            struct ArrowSchema *out_schema, struct ArrowArray *out,
                            cst_error *error) {
  return decode_unit(unit, decoding, false, out_schema, out, error);
}

cst_status cst__unit_try(const cst__unit *unit, cst__decoding *decoding,
                         struct ArrowSchema *out_schema, struct ArrowArray *out, cst_error *error) {
  return decode_unit(unit, decoding, true, out_schema, out, error);
}
