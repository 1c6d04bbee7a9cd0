/* Tabular formats behind one way of reading: plans and readers of tables, streams, and batches cut
 * to size. */
#include "source/pass/tabular.h"

#include <string.h>

#include "arrow/dictionary.h"
#include "arrow/owned.h"
#include "arrow/view.h"
#include "format/table/text_crew.h"
#include "io/replay.h"
#include "source/input/notices.h"
#include "source/pass/joiner.h"
#include "source/pass/stream_reader.h"

struct cst__tabular {
  cst__table_files files;
  void *plan;            /* of a table */
  cst__replay **replays; /* of files that can be read once; NULL where none is open */
};

struct cst__tabular_pass {
  cst_source *source;          /* borrowed */
  cst__stream_reader *streams; /* of a format that is not built in */
  void *reader;                /* of a table: one thread, */
  cst__text_crew *crew;        /* or several */
  cst__tabular_options options;
  cst__chain_run *stages; /* NULL: batches are delivered as they are read */
  bool joins;
  bool places; /* the joiner knows where rows come from: some may be missing */
  bool ended;
  struct ArrowSchema schema; /* of what is delivered, for the joiner */
  cst__joiner joiner;
  uint64_t read;         /* rows that went into the stages */
  size_t file;           /* that the batch in the stages is from, if batches are of one file, */
  uint64_t file_first;   /* and the first of its rows */
  uint64_t staged;       /* the first row of those that the stages are at */
  cst_status bad_status; /* why a bad row ended the pass */
  cst_error bad_error;
  uint64_t dropped;
  struct { /* records of the only file that the table has dropped, in their order */
    int64_t *items;
    size_t count;
    size_t capacity;
  } lost;
};

/* ---- files ---- */

static cst_status need_replay(cst_source *source, size_t i, cst_error *error) {
  cst__file *file = source->parts[i].file;
  cst__tabular *tabular = source->found.tabular;
  if (tabular->replays[i] != NULL) {
    cst__replay_forget(
        tabular->replays[i]); /* the plan has read it: the pass is the last reading */
    return CST_OK;
  }
  return cst__replay_open(file->name, file->is_reader ? &file->reader : NULL, &source->allocator,
                          &tabular->replays[i], error);
}

static const char *file_name(void *ctx, size_t i) { return cst__source_name(ctx, i); }

static cst__table_range range_of_file(void *ctx, size_t i) {
  const cst__part *part = &((const cst_source *)ctx)->parts[i];
  return (cst__table_range){part->begin, part->end, part->first_record};
}

static cst_status open_file(void *ctx, size_t i, cst__input **out, cst_error *error) {
  cst_source *source = ctx;
  if (source->parts[i].file->rereadable) {
    return cst__source_open_input(source, i, out, error);
  }
  CST__TRY(need_replay(source, i, error));
  cst_reader reader = cst__replay_reader(source->found.tabular->replays[i]);
  cst__input_options options = cst__source_input_options(source, file_name(source, i));
  return cst__input_open_reader(&reader, &options, out, error);
}

static cst_status open_first(void *ctx, cst__input **out, cst_error *error) {
  cst_source *source = ctx;
  cst__file *file = &source->inputs->files[0];
  if (file == source->parts[0].file) {
    return open_file(source, 0, out, error);
  }
  cst__input_options options = cst__source_input_options(source, file->name);
  return cst__file_open(file, &options, out, error);
}

static cst_status new_tabular(cst_source *source, cst_error *error) {
  size_t bytes;
  cst__tabular *tabular = cst__new_zero(&source->allocator, sizeof *tabular);
  if (tabular == NULL || !cst__mul(source->num_parts, sizeof *tabular->replays, &bytes)) {
    return cst__fail_memory(error, sizeof *tabular);
  }
  int64_t total = cst_source_total_bytes(source);
  source->found.tabular = tabular;
  tabular->replays = cst__new_zero(&source->allocator, bytes);
  tabular->files = (cst__table_files){.count = source->num_parts,
                                      .open = open_file,
                                      .name = file_name,
                                      .open_first = source->is_alone ? NULL : open_first,
                                      .range = range_of_file,
                                      .ctx = source,
                                      .bytes = total > 0 ? (uint64_t)total : 0,
                                      .rereadable = source->inputs->rereadable,
                                      .sample_rows = INT64_MAX,
                                      .sample_bytes = UINT64_MAX};
  if (!tabular->files.rereadable || source->options.values.sample_records > 0) {
    tabular->files.sample_rows = (int64_t)cst__source_sample_records(source);
    tabular->files.sample_bytes = cst__source_sample_bytes(source);
  }
  return tabular->replays != NULL ? CST_OK : cst__fail_memory(error, bytes);
}

void cst__tabular_free(cst__tabular *tabular) {
  if (tabular == NULL) {
    return;
  }
  for (size_t i = 0; tabular->replays != NULL && i < tabular->files.count; i++) {
    cst__replay_free(tabular->replays[i]);
  }
  cst__delete(tabular->replays);
  if (tabular->plan != NULL) {
    ((cst_source *)tabular->files.ctx)->inputs->format.table->plan_free(tabular->plan);
  }
  cst__delete(tabular);
}

/* ---- the schema ---- */

/* The types that are known before the data; NULL: none. */
static const struct ArrowSchema *known_types(const cst_source *source) {
  const struct ArrowSchema *types =
      cst__reading_options_types(&source->options, source->inputs->format.table->is_text);
  return types == NULL && source->found.types != NULL ? &source->found.types->schema : types;
}

static cst_status plan_table(cst_source *source, struct ArrowSchema *out, cst_error *error) {
  const cst__reading_options *from = &source->options;
  cst__table_options options = {
      .schema = from->values.schema,
      .types = known_types(source),
      .columns = from->values.columns,
      .num_columns = from->values.num_columns,
      .batch_size = from->values.batch_size,
      .threads = from->values.threads,
      .column_flags = from->values.column_flags,
      .format_options = source->inputs->format_options,
      .max_record_size = from->values.max_record_size,
      .max_inflation = from->values.max_inflation,
      .skip = cst__reading_options_skip(from),
      .raw_column = from->values.raw_column,
      .allocator = &source->allocator,
  };
  cst__tabular *tabular = source->found.tabular;
  return source->inputs->format.table->plan(&tabular->files, &options, &tabular->plan, out, error);
}

cst_status cst__tabular_schema(cst_source *source, struct ArrowSchema *out, cst_error *error) {
  if (source->num_parts == 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "give at least one file", "there are no files");
  }
  if (source->inputs->format.table == NULL) {
    return cst__stream_reader_schema(source, out, error);
  }
  if (source->found.tabular == NULL) {
    CST__TRY(new_tabular(source, error));
  }
  return plan_table(source, out, error);
}

/* ---- a pass ---- */

static cst_status drop_row(void *ctx, const cst__dropped *dropped, cst_error *error) {
  cst__tabular_pass *pass = ctx;
  if (pass->options.quiet) {
    return CST_OK;
  }
  return cst__source_drop(pass->source, &pass->dropped, dropped, error);
}

/* What the table itself drops makes the numbers of the rows after it differ from their records'. */
static cst_status drop_of_table(void *ctx, const cst__dropped *dropped, cst_error *error) {
  cst__tabular_pass *pass = ctx;
  void *lost = pass->lost.items;
  bool ok = cst__grow(&pass->source->allocator, &lost, &pass->lost.capacity, pass->lost.count + 1,
                      sizeof *pass->lost.items);
  pass->lost.items = lost;
  if (!ok) {
    return cst__fail_memory(error, (pass->lost.count + 1) * sizeof *pass->lost.items);
  }
  pass->lost.items[pass->lost.count++] = dropped->told.record - pass->source->parts[0].first_record;
  return drop_row(ctx, dropped, error);
}

/* ---- where rows come from ---- */

/* How many records the table has dropped before this row: lost[i] - i rows come before the i-th. */
static size_t lost_before(const cst__tabular_pass *pass, uint64_t row) {
  size_t begin = 0;
  size_t end = pass->lost.count;
  while (begin < end) {
    size_t middle = begin + (end - begin) / 2;
    if (pass->lost.items[middle] - (int64_t)middle <= (int64_t)row) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/* True if batches that go into stages are of one file each. */
static bool tells_file(const cst__tabular_pass *pass) {
  const cst__table_format *table = pass->source->inputs->format.table;
  return pass->stages != NULL && (table == NULL || table->file != NULL);
}

/* Notes the file of a batch that is about to go into the stages. */
static void note_file(cst__tabular_pass *pass) {
  const cst__table_format *table = pass->source->inputs->format.table;
  size_t file = table == NULL ? cst__stream_reader_file(pass->streams) : table->file(pass->reader);
  if (file != pass->file) {
    pass->file = file;
    pass->file_first = pass->read;
  }
}

/* That of a record of what is read of a file; -1: not known. */
static int64_t number_in_file(const cst__tabular_pass *pass, size_t file, uint64_t record) {
  int64_t first = pass->source->parts[file].first_record;
  return first < 0 ? -1 : first + (int64_t)record;
}

/* Of the row with this number among those that are read: a record of the only file, or of that
 * which is in the stages. Else in several files it is one of the pass, unknown where the table has
 * dropped others, of any file. */
static cst__place place_of(const cst__tabular_pass *pass, uint64_t row) {
  if (pass->source->num_parts != 1 && tells_file(pass) && row >= pass->file_first) {
    return (cst__place){cst__source_name(pass->source, pass->file),
                        number_in_file(pass, pass->file, row - pass->file_first), -1};
  }
  if (pass->source->num_parts != 1) {
    return (cst__place){"", pass->lost.count == 0 ? (int64_t)row : -1, -1};
  }
  return (cst__place){cst__source_name(pass->source, 0),
                      number_in_file(pass, 0, row + lost_before(pass, row)), -1};
}

static void locate_row(const cst__tabular_pass *pass, uint64_t first, cst_error *error) {
  if (cst__error_wanted(error)) {
    cst__place place = place_of(pass, first + (uint64_t)(error->record > 0 ? error->record : 0));
    error->record = -1;
    cst__error_add_place(error, &place);
  }
}

static cst_status drop_refused(cst__tabular_pass *pass, const cst_error *refusal,
                               cst_error *error) {
  cst__dropped dropped = {.told = {.kind = "record",
                                   .file = refusal->file,
                                   .record = refusal->record,
                                   .offset = -1,
                                   .error = refusal}};
  return drop_row(pass, &dropped, error);
}

/* A row of the batch that is in the stages; told at once, because none of them is staged twice. */
static void tell_bad_row(void *ctx, const cst_error *error) {
  cst__tabular_pass *pass = ctx;
  cst_error own = *error;
  if (pass->bad_status == CST_OK) {
    locate_row(pass, pass->staged, &own);
    pass->bad_status = drop_refused(pass, &own, &pass->bad_error);
  }
}

/* The number of the record that a row of the batch in the stages is. */
static int64_t staged_record(const void *ctx, int64_t row) {
  const cst__tabular_pass *pass = ctx;
  if (pass->source->num_parts > 1 && !tells_file(pass)) {
    return CST__NUMBER_OF_PASS;
  }
  return place_of(pass, pass->staged + (uint64_t)row).record;
}

static cst_status staged_ids(const void *ctx, int64_t count, int64_t *files, int64_t *records,
                             cst_error *error) {
  const cst__tabular_pass *pass = ctx;
  const cst_source *source = pass->source;
  bool known = source->num_parts == 1 || tells_file(pass);
  size_t file = source->num_parts == 1 ? 0 : pass->file;
  (void)error;
  for (int64_t i = 0; i < count; i++) {
    files[i] = known ? cst__source_file_number(source, file) : -1;
    records[i] = known ? place_of(pass, pass->staged + (uint64_t)i).record : -1;
  }
  return CST_OK;
}

/* ---- life ---- */

/* A dictionary grows from batch to batch, by the values in their order: one thread makes it. */
static bool has_dictionary(const cst_source *source) {
  const struct ArrowSchema *types = known_types(source);
  return types != NULL && cst__schema_has_dictionary(types);
}

/* Several threads, each of which reads a part of the text. */
static cst_status open_crew(cst__tabular_pass *pass, const cst__table_reading *reading,
                            cst_error *error) {
  const cst_source *source = pass->source;
  const cst__text_crew_options options = {.format = source->inputs->format.table,
                                          .plan = source->found.tabular->plan,
                                          .files = &source->found.tabular->files,
                                          .threads = source->options.values.threads,
                                          .drop = reading->drop,
                                          .drop_ctx = reading->drop_ctx,
                                          .allocator = &source->allocator};
  pass->joins = true;
  return cst__text_crew_new(&options, &pass->crew, error);
}

static cst_status open_reader(cst__tabular_pass *pass, cst_error *error) {
  const cst_source *source = pass->source;
  const cst__table_format *table = source->inputs->format.table;
  const cst__tabular *tabular = source->found.tabular;
  int32_t threads = source->options.values.threads;
  pass->ended = source->num_parts == 0;
  if (pass->ended) { /* a part of a source that has fewer files than parts */
    pass->joins = true;
    return CST_OK;
  }
  pass->joins =
      table == NULL || table->any_size || (table->threads_any_size && threads > 1) || pass->places;
  if (table == NULL) {
    return cst__stream_reader_new(pass->source, &pass->streams, error);
  }
  bool skip = cst__reading_options_skip(&source->options);
  const cst__table_reading reading = {.drop = skip ? drop_of_table : NULL, .drop_ctx = pass};
  return cst__text_crew_fits(table, &tabular->files, threads) && !has_dictionary(source)
             ? open_crew(pass, &reading, error)
             : table->open(tabular->plan, &reading, &pass->reader, error);
}

cst_status cst__tabular_pass_new(cst_source *source, struct ArrowSchema *schema,
                                 const cst__tabular_options *options, cst__tabular_pass **out,
                                 cst_error *error) {
  cst__tabular_pass *pass = cst__new_zero(&source->allocator, sizeof *pass);
  if (pass == NULL) {
    schema->release(schema);
    return cst__fail_memory(error, sizeof *pass);
  }
  pass->source = source;
  pass->options = *options;
  pass->schema = *schema;
  pass->bad_error = (cst_error)CST_ERROR_INIT;
  pass->places = options->stages != NULL && !cst__reading_options_deliver_all(&source->options);
  cst__joiner_init(&pass->joiner, &pass->schema, source->options.values.batch_size,
                   &source->allocator);
  cst_status status =
      options->stages != NULL ? cst__chain_open(options->stages, &pass->stages, error) : CST_OK;
  if (pass->stages != NULL) {
    const cst__row_facts facts = {.record = staged_record, .ids = staged_ids, .ctx = pass};
    cst__chain_ask(pass->stages, &facts);
  }
  if (pass->stages != NULL && source->options.values.on_error == CST_ON_ERROR_NULL) {
    cst__chain_on_bad(pass->stages, tell_bad_row, pass);
  }
  if (status == CST_OK) {
    status = open_reader(pass, error);
  }
  if (status != CST_OK) {
    cst__tabular_pass_free(pass);
    return status;
  }
  *out = pass;
  return CST_OK;
}

void cst__tabular_pass_free(cst__tabular_pass *pass) {
  if (pass == NULL) {
    return;
  }
  cst__joiner_reset(&pass->joiner);
  cst__stream_reader_free(pass->streams);
  cst__text_crew_free(pass->crew);
  if (pass->reader != NULL) {
    pass->source->inputs->format.table->close(pass->reader);
  }
  cst__chain_close(pass->stages);
  cst__delete(pass->lost.items);
  if (pass->schema.release != NULL) {
    pass->schema.release(&pass->schema);
  }
  cst__delete(pass);
}

static cst_status tell_warnings(cst__tabular_pass *pass, cst_error *error) {
  const cst__table_format *table = pass->source->inputs->format.table;
  cst_error own = CST_ERROR_INIT;
  cst_error *warning = pass->options.warning != NULL ? pass->options.warning : &own;
  size_t file;
  while (table->warning != NULL && table->warning(pass->reader, &file, warning)) {
    if (pass->options.warning == NULL) {
      CST__TRY(cst__source_warn(pass->source, file, warning, error));
    }
  }
  return CST_OK;
}

static cst_status next_of_any_size(cst__tabular_pass *pass, struct ArrowArray *out,
                                   cst_error *error) {
  if (pass->streams != NULL) {
    return cst__stream_reader_next(pass->streams, out, error);
  }
  if (pass->crew != NULL) {
    return cst__text_crew_next(pass->crew, out, error);
  }
  CST__TRY(pass->source->inputs->format.table->next(pass->reader, out, error));
  cst_status status = tell_warnings(pass, error);
  if (status != CST_OK && out->release != NULL) {
    out->release(out);
    out->release = NULL;
  }
  return status;
}

/* ---- stages ---- */

static cst_status put_staged(cst__tabular_pass *pass, uint64_t first, const cst__row_map *map,
                             struct ArrowArray *batch, cst_error *error) {
  cst__place *origins = pass->places ? cst__joiner_add_origins(&pass->joiner, batch->length) : NULL;
  if (pass->places && origins == NULL) {
    batch->release(batch);
    return cst__fail_memory(error, (size_t)batch->length * sizeof *origins);
  }
  for (int64_t i = 0; pass->places && i < batch->length; i++) {
    int64_t row = map->moved ? map->rows[i] : i;
    origins[i] = row >= 0 ? place_of(pass, first + (uint64_t)row) : cst__no_place;
  }
  return cst__joiner_put(&pass->joiner, batch, error);
}

/* Row `first` is the batch's first one. */
static cst_status apply_stages(cst__tabular_pass *pass, uint64_t first, struct ArrowArray *batch,
                               const cst__row_map **map, cst_error *error) {
  pass->staged = first;
  cst_status status = cst__chain_apply(pass->stages, batch, map, error);
  if (pass->bad_status == CST_OK) {
    return status;
  }
  cst__array_release(batch);
  cst__error_copy(error, &pass->bad_error);
  return pass->bad_status;
}

/* Takes rows of a batch through the stages; where they do not go through together, half of them,
 * and so on, down to those that are dropped. */
static cst_status stage_rows(cst__tabular_pass *pass, cst__shared *batch, int64_t begin,
                             int64_t count, cst_error *error) {
  uint64_t first = pass->read + (uint64_t)begin;
  cst_error own = CST_ERROR_INIT;
  const cst__row_map *map;
  struct ArrowArray rows;
  CST__TRY(cst__shared_slice(batch, begin, count, &rows, error));
  cst_status status = apply_stages(pass, first, &rows, &map, &own);
  if (status == CST_OK) {
    return put_staged(pass, first, map, &rows, error);
  }
  bool refused = pass->bad_status == CST_OK && cst__chain_refused(pass->stages) &&
                 cst__reading_options_skip(&pass->source->options);
  if (pass->bad_status != CST_OK) {
    cst__error_copy(error, &own);
    return status;
  }
  if (!refused || count == 1) {
    locate_row(pass, first, &own);
    if (refused) {
      return drop_refused(pass, &own, error);
    }
    cst__error_copy(error, &own);
    return status;
  }
  CST__TRY(stage_rows(pass, batch, begin, count / 2, error));
  return stage_rows(pass, batch, begin + count / 2, count - count / 2, error);
}

/* Rows of a batch go through the stages so many at a time that the joiner need not copy them. */
static cst_status stage_pieces(cst__tabular_pass *pass, struct ArrowArray *batch,
                               cst_error *error) {
  cst__shared *shared;
  int64_t count = batch->length;
  int64_t size = pass->source->options.values.batch_size;
  cst_status status = cst__shared_new(batch, &pass->source->allocator, &shared, error);
  if (status != CST_OK) {
    batch->release(batch);
    return status;
  }
  for (int64_t begin = 0; begin < count && status == CST_OK;) {
    int64_t room = size - pass->joiner.waiting_rows % size;
    int64_t rows = count - begin < room ? count - begin : room;
    status = stage_rows(pass, shared, begin, rows, error);
    begin += rows;
  }
  cst__shared_release(shared);
  return status;
}

/* Takes a batch that was read through the stages: into the joiner if rows may be missing then, or
 * if it may be much larger than the batches that are delivered; else it comes out in its own place.
 */
static cst_status stage_batch(cst__tabular_pass *pass, struct ArrowArray *batch, cst_error *error) {
  uint64_t rows = (uint64_t)batch->length;
  const cst__row_map *map;
  cst_status status;
  const cst__reading_options *options = &pass->source->options;
  if (tells_file(pass)) {
    note_file(pass);
  }
  if (cst__reading_options_skip(options) ||
      (pass->joins && cst__reading_options_makes_more(options))) {
    status = stage_pieces(pass, batch, error);
  } else {
    status = apply_stages(pass, pass->read, batch, &map, error);
    if (status != CST_OK) {
      locate_row(pass, pass->read, error);
    } else if (pass->places) {
      status = put_staged(pass, pass->read, map, batch, error);
    }
  }
  pass->read += rows;
  return status;
}

cst_status cst__tabular_pass_next(cst__tabular_pass *pass, struct ArrowArray *out,
                                  cst_error *error) {
  out->release = NULL;
  if (!pass->joins) {
    CST__TRY(next_of_any_size(pass, out, error));
    return pass->stages != NULL && out->release != NULL ? stage_batch(pass, out, error) : CST_OK;
  }
  while (!cst__joiner_is_full(&pass->joiner) && !pass->ended) {
    struct ArrowArray batch = {.release = NULL};
    CST__TRY(next_of_any_size(pass, &batch, error));
    pass->ended = batch.release == NULL;
    if (!pass->ended && pass->stages != NULL) {
      CST__TRY(stage_batch(pass, &batch, error));
    }
    if (batch.release != NULL) {
      CST__TRY(cst__joiner_put(&pass->joiner, &batch, error));
    }
  }
  return cst__joiner_take(&pass->joiner, pass->ended, out, error);
}

cst__place cst__tabular_pass_place(const cst__tabular_pass *pass, uint64_t first_row, size_t row) {
  return pass->places ? cst__joiner_origin(&pass->joiner, row) : place_of(pass, first_row + row);
}

uint64_t cst__tabular_pass_consumed(const cst__tabular_pass *pass) {
  if (pass->streams != NULL) {
    return cst__stream_reader_consumed(pass->streams);
  }
  if (pass->crew != NULL) {
    return cst__text_crew_consumed(pass->crew);
  }
  return pass->reader != NULL ? pass->source->inputs->format.table->consumed(pass->reader) : 0;
}

uint64_t cst__tabular_pass_dropped(const cst__tabular_pass *pass) { return pass->dropped; }
