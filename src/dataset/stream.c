/* Reading an epoch in order: files in the order of the epoch, several at once for windows, rows
 * before the place where it is taken up passed over, windows put together, and where each group of
 * files that are read at once began. */
#include "dataset/stream.h"

#include "dataset/epoch_order.h"
#include "dataset/together.h"
#include "source/index/parts.h"
#include "source/input/prepare.h"
#include "source/pass/arrow_schema.h"
#include "source/pass/joiner.h"
#include "source/pass/pass.h"
#include "table/array.h"

enum {
  USUAL_ROWS = 1024, /* of the batches that windows are made of */
  TURNS = 16         /* that a file has in a window, if all have as many */
};

/* Where a group of files of the epoch's order begins, by its first one. */
typedef struct file_start {
  uint64_t file;
  uint64_t row;
} file_start;

typedef struct file_starts {
  file_start *items;
  size_t count;
  size_t capacity;
} file_starts;

/* The records that a pass gave last, as far as they are not used up. */
typedef struct unread_records {
  const cst__unit *unit;
  size_t run;  /* the first of its runs that is not used up, */
  size_t used; /* and how many records of that are */
} unread_records;

/* What is read now: by one pass, or by one for each file. */
typedef struct stream_files {
  cst_pass *pass; /* this and the next are NULL: the next files have to be opened */
  cst__together *together;
  uint64_t first; /* number, in the order of the epoch, of the first file that is open, */
  uint64_t next;  /* and of the next one to be opened */
} stream_files;

struct cst__stream {
  cst_dataset *dataset;
  bool shuffled;
  bool picks;    /* rows of a portion, which has several batches */
  bool permutes; /* files */
  bool singly;   /* each group of files is read by a pass of its own */
  cst__at_once at_once;
  bool undecoded;        /* portions are records: all files are read by one pass */
  unread_records unread; /* undecoded */
  cst__permutation files;
  struct ArrowSchema schema;
  cst__joiner joiner;
  uint64_t portion; /* rows of a portion but the last */
  stream_files open;
  uint64_t row;       /* rows of the epoch that have been read, or passed over with files */
  uint64_t begin;     /* the first row that is wanted */
  file_starts starts; /* after the current portion's begin, and (the first) the last before it */
  bool is_begun;      /* `current` is a portion */
  bool at_end;
  cst__share current;
};

void cst__share_reset(cst__share *share) {
  if (share->batch.release != NULL) {
    share->batch.release(&share->batch);
  }
  cst_array_release(share->columns);
  cst__window_release(share->records);
  *share = (cst__share){.columns = NULL};
}

/* ---- life ---- */

/* The number of the first file of the group that a file is in. */
static uint64_t group_begin(const cst__stream *stream, uint64_t file) {
  size_t num_files = stream->dataset->source->num_parts;
  return file < num_files ? cst__group_of(num_files, stream->at_once.files, (size_t)file).begin
                          : file;
}

static cst_status stream_begin(cst__stream *stream, const cst__stream_start *start,
                               cst_error *error) {
  const cst_dataset *dataset = stream->dataset;
  cst_source *source = dataset->source;
  stream->shuffled = dataset->shuffle != CST_SHUFFLE_NONE;
  uint64_t bucket = cst__dataset_bucket_rows(dataset);
  stream->picks = stream->shuffled || bucket > 0 || start->in_pieces;
  stream->portion = stream->shuffled ? (uint64_t)dataset->options.window
                    : bucket > 0     ? bucket
                                     : (uint64_t)dataset->options.batch_size;
  stream->permutes = stream->shuffled && source->inputs->rereadable && source->num_parts > 1;
  stream->singly =
      source->inputs->rereadable && (source->inputs->format.payload == NULL ||
                                     !cst__reading_options_deliver_all(&source->options));
  stream->undecoded =
      source->inputs->format.payload != NULL &&
      cst__reading_options_deliver_all(&source->options) &&
      !(source->options.values.column_flags & CST_COLUMNS_BINARY_VIEWS); /* of few blocks */
  stream->begin = start->row - start->row % stream->portion;
  stream->row = start->rows_before;
  stream->open.next = start->file;
  cst__order_of_parts(&stream->files, source->num_parts, dataset->options.seed, start->epoch);
  /* Windows mix files, in turns that are short enough for each to have rows of all of them. */
  size_t most = source->num_parts;
  size_t wanted = stream->permutes ? (size_t)stream->dataset->options.interleave : 1;
  size_t files = wanted < most ? wanted : most;
  uint64_t turn = stream->portion / (TURNS * (files > 0 ? files : 1));
  stream->at_once.files = files;
  stream->at_once.turn = turn < 1 ? 1 : turn < USUAL_ROWS ? turn : USUAL_ROWS;
  if (start->rows_before > stream->begin || start->file > source->num_parts ||
      group_begin(stream, start->file) != start->file ||
      (start->file > 0 && !source->inputs->rereadable)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "use the position of a batch",
                     "no batch begins with row %llu after %llu files and %llu rows",
                     (unsigned long long)start->row, (unsigned long long)start->file,
                     (unsigned long long)start->rows_before);
  }
  CST__TRY(cst_source_arrow_schema(source, &stream->schema, error));
  cst__joiner_init(&stream->joiner, &stream->schema, (int64_t)stream->portion, &dataset->allocator);
  return CST_OK;
}

cst_status cst__stream_new(cst_dataset *dataset, const cst__stream_start *start, cst__stream **out,
                           cst_error *error) {
  cst__stream *stream = cst__new_zero(&dataset->allocator, sizeof *stream);
  if (stream == NULL) {
    return cst__fail_memory(error, sizeof *stream);
  }
  stream->dataset = cst_dataset_retain(dataset);
  cst_status status = stream_begin(stream, start, error);
  if (status != CST_OK) {
    cst__stream_free(stream);
    return status;
  }
  *out = stream;
  return CST_OK;
}

void cst__stream_free(cst__stream *stream) {
  if (stream == NULL) {
    return;
  }
  cst_pass_free(stream->open.pass);
  cst__together_free(stream->open.together);
  cst__joiner_reset(&stream->joiner);
  cst__share_reset(&stream->current);
  if (stream->schema.release != NULL) {
    stream->schema.release(&stream->schema);
  }
  cst__delete(stream->starts.items);
  cst_dataset_release(stream->dataset);
  cst__delete(stream);
}

/* ---- files ---- */

static cst_status stream_note_start(cst__stream *stream, uint64_t file, uint64_t row,
                                    cst_error *error) {
  void *starts = stream->starts.items;
  bool done = cst__grow(&stream->dataset->allocator, &starts, &stream->starts.capacity,
                        stream->starts.count + 1, sizeof(file_start));
  stream->starts.items = starts;
  if (!done) {
    return cst__fail_memory(error, sizeof(file_start));
  }
  stream->starts.items[stream->starts.count++] = (file_start){file, row};
  return CST_OK;
}

static cst_status start_reading(cst__stream *stream, const size_t *files, size_t count,
                                cst_error *error) {
  cst_source *source = stream->dataset->source;
  cst_source *part = NULL;
  bool tabular = source->inputs->format.payload == NULL;
  bool all = stream->open.next == 0 && !stream->permutes && count == source->num_parts;
  bool fits = stream->portion <= 8 * USUAL_ROWS;
  cst__pass_options options = {.rows = fits ? (size_t)stream->portion : USUAL_ROWS,
                               .bytes = (uint64_t)source->options.values.batch_bytes,
                               .threads = source->options.values.threads,
                               .purpose = stream->undecoded ? CST__FOR_RECORDS : CST__FOR_COLUMNS,
                               .at_once = stream->at_once};
  options.at_once.begun = stream->singly ? 0 : (size_t)stream->open.next;
  if (tabular && count > 1 && stream->singly) {
    return cst__together_new(source, files, count, &options, &stream->open.together, error);
  }
  CST__TRY(all ? CST_OK : cst__source_pick(source, files, count, &part, error));
  part = all ? cst_source_retain(source) : part;
  cst_status status = cst__source_acquire(part, error);
  if (status == CST_OK) {
    status = cst__pass_new_with(part, &options, &stream->open.pass, error);
  }
  cst_source_release(part);
  return status;
}

/* Goes on to the next group of files, or all that are left. Without one, nothing is open. */
static cst_status open_pass(cst__stream *stream, cst_error *error) {
  size_t num_files = stream->dataset->source->num_parts;
  size_t first = (size_t)stream->open.next;
  if (stream->open.next >= num_files) {
    stream->at_end = true;
    return CST_OK;
  }
  size_t end =
      stream->singly ? cst__group_of(num_files, stream->at_once.files, first).end : num_files;
  size_t *files = cst__new(&stream->dataset->allocator, (end - first) * sizeof *files);
  if (files == NULL) {
    return cst__fail_memory(error, (end - first) * sizeof *files);
  }
  for (size_t i = first; i < end; i++) {
    files[i - first] = (size_t)(stream->permutes ? cst__permutation_at(&stream->files, i) : i);
  }
  cst_status status = stream_note_start(stream, stream->open.next, stream->row, error);
  if (status == CST_OK) {
    status = start_reading(stream, files, end - first, error);
  }
  cst__delete(files);
  stream->open.first = stream->open.next;
  stream->open.next = end;
  return status;
}

/* True for the first file, in the order, of a group that has not begun yet. */
static bool begins_group(const cst__stream *stream, uint64_t first) {
  return stream->starts.count == 0 || first > stream->starts.items[stream->starts.count - 1].file;
}

/* Notes the groups of files that begin within the batch that the pass gave last. */
static cst_status stream_note_starts(cst__stream *stream, cst_error *error) {
  if (stream->singly || stream->open.pass == NULL || stream->open.pass->tabular != NULL) {
    return CST_OK;
  }
  const cst__unit *unit = &stream->open.pass->delivered;
  uint64_t row = stream->row;
  for (size_t i = 0; i < unit->num_runs; i++) {
    uint64_t file = group_begin(stream, stream->open.first + unit->runs[i].file);
    if (begins_group(stream, file)) {
      CST__TRY(stream_note_start(stream, file, row, error));
    }
    row += unit->runs[i].count;
  }
  return CST_OK;
}

/* ---- rows as columns ---- */

/* Puts a batch into the joiner, without the rows before what is wanted. */
static cst_status stream_put(cst__stream *stream, struct ArrowArray *batch, cst_error *error) {
  uint64_t end = stream->row + (uint64_t)batch->length;
  struct ArrowArray rest;
  cst__shared *shared;
  if (stream->row >= stream->begin) {
    stream->row = end;
    return cst__joiner_put(&stream->joiner, batch, error);
  }
  uint64_t skipped = stream->begin - stream->row;
  stream->row = end;
  if (end <= stream->begin) {
    batch->release(batch);
    return CST_OK;
  }
  cst_status status = cst__shared_new(batch, &stream->dataset->allocator, &shared, error);
  if (status != CST_OK) {
    batch->release(batch);
    return status;
  }
  status =
      cst__shared_slice(shared, (int64_t)skipped, (int64_t)(end - stream->begin), &rest, error);
  cst__shared_release(shared);
  return status == CST_OK ? cst__joiner_put(&stream->joiner, &rest, error) : status;
}

/* Reads until the joiner has a portion, or to the end. */
static cst_status stream_fill(cst__stream *stream, cst_error *error) {
  while (!cst__joiner_is_full(&stream->joiner) && !stream->at_end) {
    struct ArrowArray batch = {.release = NULL};
    if (stream->open.pass == NULL && stream->open.together == NULL) {
      CST__TRY(open_pass(stream, error));
      continue;
    }
    CST__TRY(stream->open.pass != NULL ? cst_pass_next(stream->open.pass, &batch, error)
                                       : cst__together_next(stream->open.together, &batch, error));
    if (batch.release == NULL) {
      cst_pass_free(stream->open.pass);
      cst__together_free(stream->open.together);
      stream->open.pass = NULL;
      stream->open.together = NULL;
      continue;
    }
    cst_status status = stream_note_starts(stream, error);
    if (status != CST_OK) {
      batch.release(&batch);
      return status;
    }
    CST__TRY(stream_put(stream, &batch, error));
  }
  return CST_OK;
}

/* ---- rows as records ---- */

static cst_status note_run(cst__stream *stream, const cst__run *run, cst_error *error) {
  uint64_t file = group_begin(stream, stream->open.first + run->file);
  bool is_new = stream->unread.used == 0 && begins_group(stream, file);
  return is_new ? stream_note_start(stream, file, stream->row, error) : CST_OK;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Puts what is left of the unit into the window, as far as it has room, without the rows that are
 * before what is wanted. */
static cst_status use_unit(cst__stream *stream, cst__window *window, cst_error *error) {
  while (stream->unread.unit != NULL && stream->unread.run < stream->unread.unit->num_runs &&
         window->unit.rows < stream->portion) {
    const cst__run *run = &stream->unread.unit->runs[stream->unread.run];
    uint64_t rest = run->count - stream->unread.used;
    CST__TRY(note_run(stream, run, error));
    if (stream->row < stream->begin) {
      rest = least(rest, stream->begin - stream->row);
    } else {
      rest = least(rest, stream->portion - window->unit.rows);
      if (!cst__window_add(window, run, stream->unread.used, (size_t)rest)) {
        return cst__fail_memory(error, sizeof *run);
      }
    }
    stream->row += rest;
    stream->unread.used += (size_t)rest;
    if (stream->unread.used == run->count) {
      stream->unread.run++;
      stream->unread.used = 0;
    }
  }
  return CST_OK;
}

static cst_status read_records(cst__stream *stream, cst_error *error) {
  if (stream->open.pass == NULL && !stream->at_end) {
    CST__TRY(open_pass(stream, error));
  }
  if (stream->open.pass == NULL) {
    return CST_OK;
  }
  cst__window *window = cst__window_new(stream->open.pass->source, &stream->dataset->allocator);
  if (window == NULL) {
    return cst__fail_memory(error, sizeof *window);
  }
  cst_status status = use_unit(stream, window, error);
  while (status == CST_OK && window->unit.rows < stream->portion && !stream->at_end) {
    stream->unread.run = 0;
    stream->unread.used = 0;
    status = cst__pass_next_unit(stream->open.pass, &stream->unread.unit, error);
    if (status == CST_OK) {
      stream->at_end = stream->unread.unit->rows == 0;
      status = use_unit(stream, window, error);
    }
  }
  if (status != CST_OK) {
    cst__window_release(window);
    return status;
  }
  stream->current.records = window;
  stream->current.rows = window->unit.rows;
  return CST_OK;
}

/* ---- portions ---- */

/* Moves columns of a portion in, also on failure. Dictionaries stay: batches have the types of the
 * source's schema. */
static cst_status set_columns(cst__stream *stream, struct ArrowArray *rows, cst_error *error) {
  cst__share *current = &stream->current;
  current->rows = (uint64_t)rows->length;
  if (!stream->picks) {
    current->batch = *rows;
    return CST_OK;
  }
  return cst__array_result_as(&stream->dataset->allocator, &stream->schema, rows, &current->columns,
                              error);
}

static cst_status read_columns(cst__stream *stream, cst_error *error) {
  struct ArrowArray rows;
  CST__TRY(stream_fill(stream, error));
  CST__TRY(cst__joiner_take(&stream->joiner, stream->at_end, &rows, error));
  return rows.release != NULL ? set_columns(stream, &rows, error) : CST_OK;
}

/* Makes the next portion the current one; without rows at the end. */
static cst_status stream_advance(cst__stream *stream, cst_error *error) {
  cst__share *current = &stream->current;
  uint64_t position = stream->is_begun ? current->position + current->rows : stream->begin;
  cst__share_reset(current);
  CST__TRY(stream->undecoded ? read_records(stream, error) : read_columns(stream, error));
  stream->is_begun = true;
  current->position = position;
  current->number = position / stream->portion;
  if (current->rows > 0) {
    /* Forgets the starts that no further portion needs; the first one that is left is where reading
     * may begin for a portion that begins at `position`. */
    size_t done = 0;
    while (done + 1 < stream->starts.count && stream->starts.items[done + 1].row <= position) {
      done++;
    }
    stream->starts.count -= done;
    for (size_t i = 0; done > 0 && i < stream->starts.count; i++) {
      stream->starts.items[i] = stream->starts.items[i + done];
    }
    current->file = stream->starts.items[0].file;
    current->rows_before = stream->starts.items[0].row;
  }
  if (current->rows < stream->portion) {
    /* The end is where the rows are known: other loaders need not count them. */
    cst_dataset *dataset = stream->dataset;
    cst__mutex_lock(&dataset->lock);
    if (!dataset->counted) {
      dataset->num_rows = stream->row;
      dataset->counted = true;
    }
    cst__mutex_unlock(&dataset->lock);
  }
  return CST_OK;
}

/* True if the position lies in the current portion, or the epoch ends with that. */
static bool is_reached(const cst__stream *stream, uint64_t position) {
  const cst__share *current = &stream->current;
  return stream->is_begun &&
         (position < current->position + current->rows || current->rows < stream->portion);
}

/* Rows of the current portion as a batch: the portion itself, or a slice of what is kept of it. */
static cst_status take_batch(cst__stream *stream, cst__share *out, cst_error *error) {
  struct ArrowArray *batch = &stream->current.batch;
  cst__shared *shared;
  if (out->count == out->rows) {
    out->batch = *batch;
    batch->release = NULL;
    return CST_OK;
  }
  CST__TRY(cst__shared_new(batch, &stream->dataset->allocator, &shared, error));
  cst_status status =
      cst__shared_slice(shared, (int64_t)out->begin, (int64_t)out->count, &out->batch, error);
  cst__shared_release(shared);
  return status;
}

cst_status cst__stream_next(cst__stream *stream, uint64_t row, uint64_t most, cst__share *out,
                            cst_error *error) {
  const cst__share *current = &stream->current;
  *out = (cst__share){.columns = NULL};
  while (!is_reached(stream, row)) {
    CST__TRY(stream_advance(stream, error));
  }
  if (row >= current->position + current->rows || most == 0) {
    return CST_OK;
  }
  cst__share found = *current;
  found.columns = NULL;
  found.records = NULL;
  found.batch.release = NULL;
  found.begin = row - current->position;
  found.count = least(most, current->rows - found.begin);
  if (current->batch.release != NULL) {
    CST__TRY(take_batch(stream, &found, error));
  }
  if (current->columns != NULL) {
    found.columns = cst_array_retain(current->columns);
  }
  if (current->records != NULL) {
    found.records = cst__window_retain(current->records);
  }
  *out = found;
  return CST_OK;
}
