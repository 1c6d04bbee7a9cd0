/* Tabular formats behind one way of reading: plans and readers of tables, streams, and batches cut
 * to size. */
#include "source/pass/tabular.h"

#include <string.h>

#include "arrow/view.h"
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
  void *reader;                /* of a table */
  bool quiet;                  /* nothing is told of */
  cst_error *warning;          /* where warnings go instead; NULL: the caller is told */
  bool joins;
  bool ended;
  struct ArrowSchema schema; /* for the joiner */
  cst__joiner joiner;
  uint64_t dropped;
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

static cst_status new_tabular(cst_source *source, cst_error *error) {
  size_t bytes;
  cst__tabular *tabular = cst__new_zero(&source->allocator, sizeof *tabular);
  if (tabular == NULL || !cst__mul(source->num_parts, sizeof *tabular->replays, &bytes)) {
    return cst__fail_memory(error, sizeof *tabular);
  }
  source->found.tabular = tabular;
  tabular->replays = cst__new_zero(&source->allocator, bytes);
  tabular->files = (cst__table_files){.count = source->num_parts,
                                      .open = open_file,
                                      .name = file_name,
                                      .ctx = source,
                                      .rereadable = source->inputs->rereadable,
                                      .sample_rows = CST__SAMPLE_RECORDS,
                                      .sample_bytes = CST__SAMPLE_BYTES};
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

static cst_status plan_table(cst_source *source, struct ArrowSchema *out, cst_error *error) {
  const cst__reading_options *from = &source->options;
  const cst__types *types = from->columns.types != NULL ? from->columns.types : source->found.types;
  cst__table_options options = {
      .schema = from->columns.schema,
      .types = types != NULL ? &types->schema : NULL,
      .columns = from->columns.names,
      .num_columns = from->columns.count,
      .batch_size = from->batch.rows,
      .threads = from->batch.threads,
      .column_flags = from->columns.flags,
      .csv = from->format.csv,
      .max_record_size = from->max_record_size,
      .skip = cst__reading_options_skip(from),
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

static cst_status drop_row(void *ctx, const cst_dropped *dropped, cst_error *error) {
  cst__tabular_pass *pass = ctx;
  if (pass->quiet) {
    return CST_OK;
  }
  return cst__source_drop(pass->source, &pass->dropped, dropped, error);
}

static cst_status open_reader(cst__tabular_pass *pass, cst_error *error) {
  const cst__table_format *table = pass->source->inputs->format.table;
  pass->joins = table == NULL || table->any_size;
  pass->ended = pass->source->num_parts == 0;
  if (pass->ended) { /* a part of a source that has fewer files than parts */
    pass->joins = true;
    return CST_OK;
  }
  if (table == NULL) {
    return cst__stream_reader_new(pass->source, &pass->streams, error);
  }
  bool skip = cst__reading_options_skip(&pass->source->options);
  return table->open(pass->source->found.tabular->plan, skip ? drop_row : NULL, pass, &pass->reader,
                     error);
}

cst_status cst__tabular_pass_new(cst_source *source, struct ArrowSchema *schema, bool quiet,
                                 cst_error *warning, cst__tabular_pass **out, cst_error *error) {
  cst__tabular_pass *pass = cst__new_zero(&source->allocator, sizeof *pass);
  if (pass == NULL) {
    schema->release(schema);
    return cst__fail_memory(error, sizeof *pass);
  }
  pass->source = source;
  pass->quiet = quiet;
  pass->warning = warning;
  pass->schema = *schema;
  cst__joiner_init(&pass->joiner, &pass->schema, source->options.batch.rows, &source->allocator);
  cst_status status = open_reader(pass, error);
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
  if (pass->reader != NULL) {
    pass->source->inputs->format.table->close(pass->reader);
  }
  if (pass->schema.release != NULL) {
    pass->schema.release(&pass->schema);
  }
  cst__delete(pass);
}

static cst_status tell_warnings(cst__tabular_pass *pass, cst_error *error) {
  const cst__table_format *table = pass->source->inputs->format.table;
  cst_error own = CST_ERROR_INIT;
  cst_error *warning = pass->warning != NULL ? pass->warning : &own;
  size_t file;
  while (!pass->quiet && table->warning != NULL && table->warning(pass->reader, &file, warning)) {
    if (pass->warning == NULL) {
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
  CST__TRY(pass->source->inputs->format.table->next(pass->reader, out, error));
  cst_status status = tell_warnings(pass, error);
  if (status != CST_OK && out->release != NULL) {
    out->release(out);
    out->release = NULL;
  }
  return status;
}

cst_status cst__tabular_pass_next(cst__tabular_pass *pass, struct ArrowArray *out,
                                  cst_error *error) {
  out->release = NULL;
  if (!pass->joins) {
    return next_of_any_size(pass, out, error);
  }
  while (!cst__joiner_is_full(&pass->joiner) && !pass->ended) {
    struct ArrowArray batch = {.release = NULL};
    CST__TRY(next_of_any_size(pass, &batch, error));
    pass->ended = batch.release == NULL;
    if (!pass->ended) {
      CST__TRY(cst__joiner_put(&pass->joiner, &batch, error));
    }
  }
  return cst__joiner_take(&pass->joiner, pass->ended, out, error);
}

uint64_t cst__tabular_pass_consumed(const cst__tabular_pass *pass) {
  if (pass->streams != NULL) {
    return cst__stream_reader_consumed(pass->streams);
  }
  return pass->reader != NULL ? pass->source->inputs->format.table->consumed(pass->reader) : 0;
}

uint64_t cst__tabular_pass_dropped(const cst__tabular_pass *pass) { return pass->dropped; }
