/* The rows of a batch of a mix: pieces of the datasets' epochs, put together. */
#include "dataset/mixing.h"

#include <string.h>

#include "arrow/concat.h"
#include "source/pass/arrow_schema.h"

/* What is read of a dataset that is not direct. */
typedef struct reading {
  cst__stream *stream; /* NULL: not begun */
  uint64_t pass;       /* over the dataset within the epoch of the mix, from 0 */
} reading;

struct cst__mixing {
  const cst__epoch *epoch;
  const cst__mix *mix;
  const cst_allocator *allocator;
  struct ArrowSchema schema;
  reading *readings; /* one for each dataset */
};

/* Rows that follow each other in an epoch of one dataset. */
typedef struct piece {
  struct piece *next; /* of the dataset's */
  uint64_t pass;
  uint64_t begin;
  size_t count;
  cst__share share;       /* of a dataset that is read in order */
  struct ArrowArray rows; /* once they are made */
  cst__view view;
} piece;

typedef struct pieces {
  piece *first;
  piece **end; /* where the next one is put */
  size_t used; /* rows of the first piece that are put into the batch */
} pieces;

struct cst__mixed_rows {
  cst__arena arena; /* has all below */
  size_t num_datasets;
  size_t count;
  uint16_t *datasets; /* of each row */
  uint64_t *given;    /* by each dataset before the rows, */
  uint64_t *after;    /* and with them */
  pieces *of;         /* each dataset */
};

/* ---- life ---- */

cst_status cst__mixing_new(const cst__epoch *epoch, cst__mixing **out, cst_error *error) {
  const cst_dataset *dataset = epoch->dataset;
  cst__mixing *mixing = cst__new_zero(&dataset->allocator, sizeof *mixing);
  size_t bytes = dataset->mix.schedule.count * sizeof *mixing->readings;
  reading *readings = cst__new_zero(&dataset->allocator, bytes);
  cst_status status = mixing != NULL && readings != NULL ? CST_OK : cst__fail_memory(error, bytes);
  if (status == CST_OK) {
    status = cst_source_arrow_schema(dataset->source, &mixing->schema, error);
  }
  if (status != CST_OK) {
    cst__delete(mixing);
    cst__delete(readings);
    return status;
  }
  mixing->epoch = epoch;
  mixing->mix = &dataset->mix;
  mixing->allocator = &dataset->allocator;
  mixing->readings = readings;
  *out = mixing;
  return CST_OK;
}

void cst__mixing_free(cst__mixing *mixing) {
  if (mixing == NULL) {
    return;
  }
  for (size_t i = 0; i < mixing->mix->schedule.count; i++) {
    cst__stream_free(mixing->readings[i].stream);
  }
  mixing->schema.release(&mixing->schema);
  cst__delete(mixing->readings);
  cst__delete(mixing);
}

bool cst__mixing_reads(const cst__mixing *mixing) {
  bool reads = false;
  for (size_t i = 0; i < mixing->mix->schedule.count; i++) {
    reads = reads || !mixing->mix->datasets[i]->direct;
  }
  return reads;
}

/* ---- which rows ---- */

static bool take_room(cst__mixed_rows *rows) {
  size_t bytes = rows->num_datasets * sizeof *rows->given;
  rows->datasets = cst__arena_take(&rows->arena, rows->count * sizeof *rows->datasets);
  rows->given = cst__arena_take(&rows->arena, bytes);
  rows->after = cst__arena_take(&rows->arena, bytes);
  rows->of = cst__arena_take_zero(&rows->arena, rows->num_datasets * sizeof *rows->of);
  return rows->datasets != NULL && rows->given != NULL && rows->after != NULL && rows->of != NULL;
}

cst_status cst__mixed_rows_new(const cst__mixing *mixing, uint64_t begin, size_t count,
                               cst__mixed_rows **out, cst_error *error) {
  const cst__schedule *schedule = &mixing->mix->schedule;
  cst__mixed_rows *rows = cst__new_zero(mixing->allocator, sizeof *rows);
  if (rows == NULL) {
    return cst__fail_memory(error, sizeof *rows);
  }
  cst__arena_init(&rows->arena, mixing->allocator);
  rows->num_datasets = schedule->count;
  rows->count = count;
  if (!take_room(rows)) {
    cst__arena_reset(&rows->arena);
    cst__delete(rows);
    return cst__fail_memory(error, count * sizeof *rows->datasets);
  }
  cst__schedule_at(schedule, begin, rows->given);
  memcpy(rows->after, rows->given, rows->num_datasets * sizeof *rows->given);
  cst__schedule_deal(schedule, rows->after, count, rows->datasets);
  for (size_t i = 0; i < rows->num_datasets; i++) {
    rows->of[i].end = &rows->of[i].first;
  }
  *out = rows;
  return CST_OK;
}

void cst__mixed_rows_free(cst__mixed_rows *rows) {
  if (rows == NULL) {
    return;
  }
  for (size_t i = 0; i < rows->num_datasets; i++) {
    for (piece *one = rows->of[i].first; one != NULL; one = one->next) {
      cst__share_reset(&one->share);
      if (one->rows.release != NULL) {
        one->rows.release(&one->rows);
      }
    }
  }
  cst__arena_reset(&rows->arena);
  cst__delete(rows);
}

/* ---- pieces ---- */

/* An epoch of a dataset: of a further pass over it a number that no epoch of the mix has. */
static uint64_t epoch_of(const cst__mixing *mixing, uint64_t pass) {
  return mixing->epoch->number + (pass << 32);
}

/* Reads what a portion of the dataset has of a piece, which gets shorter by what is left. */
static cst_status read_piece(cst__mixing *mixing, size_t number, piece *one, cst_error *error) {
  reading *from = &mixing->readings[number];
  if (from->stream == NULL || from->pass != one->pass) {
    const cst__stream_start start = {
        .epoch = epoch_of(mixing, one->pass), .row = one->begin, .in_pieces = true};
    cst__stream_free(from->stream);
    from->stream = NULL;
    from->pass = one->pass;
    CST__TRY(cst__stream_new(mixing->mix->datasets[number], &start, &from->stream, error));
  }
  CST__TRY(cst__stream_next(from->stream, one->begin, one->count, &one->share, error));
  one->count = (size_t)one->share.count;
  return one->count > 0 ? CST_OK
                        : cst__fail(error, CST_STATE, "create the dataset again",
                                    "dataset %zu of the mix has fewer rows than it had when they "
                                    "were counted",
                                    number);
}

/* Notes the pieces of a dataset; `reads`: it is read in order. */
static cst_status add_pieces(cst__mixing *reads, const cst__mixing *mixing, cst__mixed_rows *rows,
                             size_t number, cst_error *error) {
  pieces *of = &rows->of[number];
  uint64_t all = mixing->mix->schedule.parts[number].rows;
  for (uint64_t row = rows->given[number]; row < rows->after[number];) {
    uint64_t left = rows->after[number] - row;
    uint64_t rest = all - row % all;
    piece *one = cst__arena_take_zero(&rows->arena, sizeof *one);
    if (one == NULL) {
      return cst__fail_memory(error, sizeof *one);
    }
    one->pass = row / all;
    one->begin = row % all;
    one->count = (size_t)(left < rest ? left : rest);
    *of->end = one;
    of->end = &one->next;
    CST__TRY(reads != NULL ? read_piece(reads, number, one, error) : CST_OK);
    row += one->count;
  }
  return CST_OK;
}

cst_status cst__mixing_read(cst__mixing *mixing, cst__mixed_rows *rows, cst_error *error) {
  for (size_t i = 0; i < rows->num_datasets; i++) {
    if (!mixing->mix->datasets[i]->direct) {
      CST__TRY(add_pieces(mixing, mixing, rows, i, error));
    }
  }
  return CST_OK;
}

static cst_status make_pieces(const cst__mixing *mixing, cst__mixed_rows *rows, cst__maker *makers,
                              cst_error *error) {
  for (size_t i = 0; i < rows->num_datasets; i++) {
    cst_dataset *dataset = mixing->mix->datasets[i];
    CST__TRY(dataset->direct ? add_pieces(NULL, mixing, rows, i, error) : CST_OK);
    for (piece *one = rows->of[i].first; one != NULL; one = one->next) {
      cst__epoch epoch = {.dataset = dataset, .number = epoch_of(mixing, one->pass)};
      if (dataset->direct) {
        cst__dataset_order_of(dataset, epoch.number, &epoch.order);
        CST__TRY(
            cst__maker_take_rows(&makers[i], &epoch, one->begin, one->count, &one->rows, error));
      } else {
        CST__TRY(cst__maker_use_share(&makers[i], &epoch, &one->share, &one->rows, error));
      }
      CST__TRY(cst__view_init(&one->view, &mixing->schema, &one->rows, true, &rows->arena, error));
    }
  }
  return CST_OK;
}

/* ---- batches ---- */

/* The next row of a dataset, as one more row of a run, or as a run of its own. */
static void add_row(pieces *of, cst__piece *runs, size_t *num_runs) {
  if (of->used == of->first->count) {
    of->first = of->first->next;
    of->used = 0;
  }
  int64_t row = (int64_t)of->used++;
  cst__piece *last = *num_runs > 0 ? &runs[*num_runs - 1] : NULL;
  if (last != NULL && last->view == &of->first->view && last->begin + last->length == row) {
    last->length++;
  } else {
    runs[(*num_runs)++] = (cst__piece){&of->first->view, row, 1};
  }
}

/* Puts the rows together in the order in which they were dealt out. */
static cst_status put_together(const cst__mixing *mixing, cst__mixed_rows *rows,
                               struct ArrowArray *out, cst_error *error) {
  size_t num_runs = 0;
  size_t bytes = rows->num_datasets * sizeof(pieces);
  pieces *of = cst__arena_take(&rows->arena, bytes);
  cst__piece *runs = cst__arena_take(&rows->arena, rows->count * sizeof *runs);
  if (of == NULL || runs == NULL) {
    return cst__fail_memory(error, rows->count * sizeof *runs);
  }
  memcpy(of, rows->of, bytes); /* rows->of stays, to be freed */
  for (size_t i = 0; i < rows->count; i++) {
    add_row(&of[rows->datasets[i]], runs, &num_runs);
  }
  return cst__concat(&mixing->schema, runs, num_runs, mixing->allocator, out, error);
}

/* A row that does not fit its tensor is named by its number in the batch: says file and record. */
static void locate_mixed(const cst__mixing *mixing, const cst__mixed_rows *rows, cst__maker *makers,
                         cst_error *error) {
  if (!cst__error_wanted(error) || error->record < 0 || (uint64_t)error->record >= rows->count) {
    return;
  }
  size_t number = rows->datasets[error->record];
  uint64_t place = 0;
  for (int64_t i = 0; i < error->record; i++) {
    place += rows->datasets[i] == number;
  }
  const piece *one = rows->of[number].first;
  for (; place >= one->count; one = one->next) {
    place -= one->count;
  }
  cst__epoch epoch = {.dataset = mixing->mix->datasets[number],
                      .number = epoch_of(mixing, one->pass)};
  if (epoch.dataset->direct) {
    uint64_t row;
    cst__dataset_order_of(epoch.dataset, epoch.number, &epoch.order);
    cst__epoch_order_rows(&epoch.order, one->begin + place, 1, &row);
    error->record = 0;
    cst__maker_locate(epoch.dataset, &row, 1, error);
  } else {
    cst__maker_locate_in(&makers[number], &epoch, &one->share, place, error);
  }
}

cst_status cst__mixing_make(const cst__mixing *mixing, cst__mixed_rows *rows, cst__maker *makers,
                            cst__made_batch *out, cst_error *error) {
  CST__TRY(make_pieces(mixing, rows, makers, error));
  CST__TRY(put_together(mixing, rows, &out->batch, error));
  cst_status status = cst__made_tensors(mixing->epoch, true, out, error);
  if (status != CST_OK) {
    locate_mixed(mixing, rows, makers, error);
  }
  return status;
}
