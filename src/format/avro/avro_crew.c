/* Threads over the blocks of files. Whoever is free takes the next run of blocks out of the files,
 * one thread at a time, and decodes it by itself, piece by piece; the caller takes the pieces in
 * the order of the runs, and works on runs of its own while there are none. */
#include "format/avro/avro_crew.h"

#include "base/crew.h"
#include "format/avro/avro_decode.h"

enum {
  PLAIN_BYTES = 512 << 10,  /* of a run: enough to be worth a thread's while */
  PACKED_BYTES = 128 << 10, /* of compressed blocks */
  PIECE_BATCHES = 8,        /* of a piece at most: a run may become much larger than it is */
  WAITING = 2               /* pieces of a run that wait for the caller */
};

/* Rows, and what comes after them. */
typedef struct piece {
  struct ArrowArray rows; /* release NULL: none */
  cst_status status;      /* why nothing comes after them, if it is not CST_OK */
  bool has_lost;          /* a record that is dropped, */
  cst_dropped lost;
  cst_error why; /* and why, in both cases */
} piece;

typedef struct run_block {
  cst__avro_block block;
  size_t at; /* of its values in the bytes */
} run_block;

/* Blocks of one file. */
typedef struct run {
  cst__avro_opened opened; /* whose `written` it owns */
  bool begins_file;
  cst__buffer bytes;
  size_t size;
  run_block *blocks;
  size_t num_blocks;
  size_t capacity;
  bool has_lost; /* a stretch after the blocks is damaged, */
  cst__avro_block lost;
  cst_status status; /* or it cannot be read on */
  cst_error why;
  uint64_t consumed; /* bytes of the files, with it */
  size_t next_block; /* to be decoded */
  bool begun;
  bool done;       /* no piece comes any more */
  int64_t records; /* that it has, when it is done */
  piece pieces[WAITING];
  size_t first;
  size_t waiting; /* pieces, from the first on */
} run;

typedef struct worker {
  cst__avro_crew *crew;
  run *own; /* that it decodes; NULL: none */
  cst__avro_decoder decoder;
  piece *piece; /* that is made */
} worker;

struct cst__avro_crew {
  const cst__avro_plan *plan;
  cst__table_drop drop;
  void *drop_ctx;
  cst__crew threads; /* whose lock guards all but what belongs to who reads, or decodes a run */
  worker *workers;   /* one for each thread */
  run *runs;         /* a ring */
  size_t num_runs;
  uint64_t head; /* the run that the caller takes */
  uint64_t tail; /* after the last one that was begun */
  bool reading;  /* somebody takes a run out of the files */
  bool ended;    /* there is no further run */
  cst__avro_walk walk;
  piece now;      /* what comes after the rows that were delivered last */
  int64_t record; /* number of the head's first record in its file; -1: not known */
  uint64_t consumed;
};

/* ---- life ---- */

static void drop_rows(piece *made) {
  if (made->rows.release != NULL) {
    made->rows.release(&made->rows);
    made->rows.release = NULL;
  }
}

/* Ready for other blocks; its memory stays. */
static void clear_run(run *r) {
  for (size_t i = 0; i < WAITING; i++) {
    drop_rows(&r->pieces[i]);
  }
  cst__avro_written_release(r->opened.written);
  *r = (run){.bytes = r->bytes, .blocks = r->blocks, .capacity = r->capacity};
}

void cst__avro_crew_free(cst__avro_crew *crew) {
  if (crew == NULL) {
    return;
  }
  cst__crew_reset(&crew->threads);
  for (int32_t i = 0; crew->workers != NULL && i < crew->plan->threads; i++) {
    cst__avro_decoder_reset(&crew->workers[i].decoder);
  }
  for (size_t i = 0; crew->runs != NULL && i < crew->num_runs; i++) {
    clear_run(&crew->runs[i]);
    cst__buffer_free(&crew->plan->allocator, &crew->runs[i].bytes);
    cst__delete(crew->runs[i].blocks);
  }
  cst__avro_walk_reset(&crew->walk);
  cst__delete(crew->workers);
  cst__delete(crew->runs);
  cst__delete(crew);
}

/* What a decoder drops ends its piece, so that it is told between the rows. */
static cst_status note_lost(void *ctx, const cst__dropped *dropped, cst_error *error) {
  piece *made = ((worker *)ctx)->piece;
  (void)error;
  made->has_lost = true;
  made->lost = dropped->told;
  cst__error_copy(&made->why, dropped->told.error);
  return CST_OK;
}

/* ---- taking runs out of the files: one thread at a time ---- */

static cst_status add_block(const cst__avro_crew *crew, run *r, const cst__avro_block *block,
                            cst_error *error) {
  const cst_allocator *allocator = &crew->plan->allocator;
  void *blocks = r->blocks;
  size_t end = r->size + block->values.size + CST__AVRO_SLACK;
  bool grown = cst__grow(allocator, &blocks, &r->capacity, r->num_blocks + 1, sizeof *r->blocks);
  r->blocks = blocks;
  if (!grown || !cst__buffer_reserve(allocator, &r->bytes, end, r->size)) {
    return cst__fail_memory(error, end);
  }
  r->blocks[r->num_blocks++] = (run_block){*block, r->size};
  memcpy(r->bytes.data + r->size, block->values.data, block->values.size);
  memset(r->bytes.data + r->size + block->values.size, 0, CST__AVRO_SLACK);
  r->size = end;
  return CST_OK;
}

/* The run has something of the file that is open. */
static void enter_file(const cst__avro_crew *crew, run *r) {
  if (r->opened.written == NULL) {
    r->opened = crew->walk.opened;
    r->opened.written = cst__avro_written_retain(r->opened.written);
  }
}

/* Blocks up to a size, to the end of the file, or to damage. */
static void fill_run(cst__avro_crew *crew, run *r) {
  cst__avro_found found = CST__AVRO_OPENED;
  bool is_full = cst__avro_walk_has_ended(&crew->walk);
  r->why = (cst_error)CST_ERROR_INIT;
  while (!is_full && r->status == CST_OK) {
    cst__avro_block block;
    r->status = cst__avro_walk_next(&crew->walk, &found, &block, &r->why);
    if (r->status != CST_OK || found == CST__AVRO_CLOSED) {
      break;
    }
    enter_file(crew, r);
    if (found == CST__AVRO_OPENED) {
      r->begins_file = true;
    } else if (found == CST__AVRO_LOST) {
      r->has_lost = true;
      r->lost = block;
      break;
    } else {
      size_t most = block.is_compressed ? PACKED_BYTES : PLAIN_BYTES;
      r->status = add_block(crew, r, &block, &r->why);
      is_full = r->size >= most;
    }
  }
  r->consumed = cst__avro_walk_consumed(&crew->walk);
}

/* ---- decoding: what is not guarded belongs to the run's thread ---- */

static cst_status begin_run(worker *w, run *r, cst_error *error) {
  r->begun = true;
  if (w->decoder.plan == NULL) {
    cst__table_drop note = w->crew->drop != NULL ? note_lost : NULL;
    CST__TRY(cst__avro_decoder_init(&w->decoder, w->crew->plan, note, w, error));
  }
  return r->opened.written != NULL ? cst__avro_decoder_enter(&w->decoder, &r->opened, 0, error)
                                   : CST_OK;
}

/* Goes on with the run's next block; *more is false after what it has. */
static cst_status take_step(worker *w, run *r, int64_t most, bool *more, cst_error *error) {
  cst__avro_decoder *decoder = &w->decoder;
  if (decoder->left > 0) {
    return cst__avro_decoder_take(decoder, most - cst__avro_decoder_rows(decoder), error);
  }
  if (r->next_block < r->num_blocks) {
    const run_block *next = &r->blocks[r->next_block++];
    cst__avro_block block = next->block;
    block.values.data = r->bytes.data + next->at;
    CST__TRY(cst__interrupted(error));
    return cst__avro_decoder_begin(decoder, &block, error);
  }
  if (r->has_lost) {
    r->has_lost = false;
    return cst__avro_decoder_lose(decoder, &r->lost, &r->why, error);
  }
  *more = false;
  cst__error_copy(error, &r->why);
  return r->status;
}

/* Decodes so much of the run; true in *more if that was not all. */
static void make_piece(worker *w, run *r, piece *made, bool *more) {
  const int64_t rows = w->crew->plan->batch_size;
  const int64_t most = rows < INT64_MAX / PIECE_BATCHES ? PIECE_BATCHES * rows : rows;
  *made = (piece){.why = CST_ERROR_INIT};
  w->piece = made;
  *more = true;
  if (!r->begun) {
    made->status = begin_run(w, r, &made->why);
  }
  while (*more && made->status == CST_OK && !made->has_lost &&
         cst__avro_decoder_rows(&w->decoder) < most) {
    made->status = take_step(w, r, most, more, &made->why);
  }
  bool whole = made->status == CST_OK || cst__is_fault(made->status);
  if (whole && w->decoder.plan != NULL && cst__avro_decoder_rows(&w->decoder) > 0) {
    cst_status status = cst__batch_builder_finish(w->decoder.batch, &made->rows, &made->why);
    made->status = status != CST_OK ? status : made->status;
  }
  *more = *more && made->status == CST_OK;
}

/* ---- jobs: with the lock, which is let go meanwhile ---- */

static run *run_at(const cst__avro_crew *crew, uint64_t number) {
  return &crew->runs[number % crew->num_runs];
}

static bool may_fill(const cst__avro_crew *crew) {
  return !crew->reading && !crew->ended && crew->tail - crew->head < crew->num_runs;
}

/* The next run is the worker's own. The first one is the caller's: the others start when it was not
 * all. */
static void do_fill(worker *w) {
  cst__avro_crew *crew = w->crew;
  run *r = run_at(crew, crew->tail++);
  crew->reading = true;
  w->own = r;
  cst__mutex_unlock(&crew->threads.lock);
  fill_run(crew, r);
  cst__mutex_lock(&crew->threads.lock);
  crew->reading = false;
  crew->ended = crew->ended || r->status != CST_OK || cst__avro_walk_has_ended(&crew->walk);
  if (crew->tail == 1 && !crew->ended) {
    cst__crew_start(&crew->threads);
  }
  cst__crew_call_all(&crew->threads);
}

/* Once it is done, the run is no longer the worker's: the caller may clear it. */
static void do_piece(worker *w) {
  cst__avro_crew *crew = w->crew;
  run *r = w->own;
  piece made;
  bool more;
  cst__mutex_unlock(&crew->threads.lock);
  make_piece(w, r, &made, &more);
  cst__mutex_lock(&crew->threads.lock);
  r->pieces[(r->first + r->waiting) % WAITING] = made;
  r->waiting++;
  r->done = !more;
  r->records = r->opened.written != NULL ? w->decoder.record : 0;
  w->own = more ? r : NULL;
  crew->ended = crew->ended || made.status != CST_OK;
  cst__crew_call_caller(&crew->threads);
}

static bool do_job(void *owner, int32_t thread) {
  cst__avro_crew *crew = owner;
  worker *w = &crew->workers[thread];
  if (w->own != NULL && w->own->waiting < WAITING) {
    do_piece(w);
    return true;
  }
  if (w->own == NULL && may_fill(crew)) {
    do_fill(w);
    return true;
  }
  return false;
}

/* ---- delivering: the caller's thread ---- */

/* The run at the head is done, and all of its pieces were taken. */
static void pass_head(cst__avro_crew *crew) {
  run *r = run_at(crew, crew->head);
  crew->record += crew->record >= 0 ? r->records : 0;
  crew->consumed = r->consumed;
  clear_run(r);
  crew->head++;
  cst__crew_call_all(&crew->threads);
}

static void take_piece(cst__avro_crew *crew) {
  run *r = run_at(crew, crew->head);
  piece *made = &r->pieces[r->first];
  if (r->begins_file) {
    crew->record = r->opened.record;
    r->begins_file = false;
  }
  crew->now = *made;
  made->rows.release = NULL;
  r->first = (r->first + 1) % WAITING;
  r->waiting--;
  cst__crew_call_all(&crew->threads);
}

/* There is a piece of the run at the head, or nothing more of it, or of all. */
static bool is_head_known(const void *owner) {
  const cst__avro_crew *crew = owner;
  const run *head = run_at(crew, crew->head);
  return crew->head < crew->tail ? head->waiting > 0 || head->done : crew->ended;
}

static const cst__crew_calls crew_calls = {do_job, is_head_known};

/* The next piece into crew->now; *there is false at the end. */
static cst_status next_piece(cst__avro_crew *crew, bool *there, cst_error *error) {
  cst_status status = cst__interrupted(error);
  *there = false;
  cst__mutex_lock(&crew->threads.lock);
  while (status == CST_OK && !*there) {
    status = cst__crew_wait(&crew->threads, error);
    if (status != CST_OK || crew->head == crew->tail) {
      break;
    }
    if (run_at(crew, crew->head)->waiting > 0) {
      take_piece(crew);
      *there = true;
    } else {
      pass_head(crew);
    }
  }
  cst__mutex_unlock(&crew->threads.lock);
  return status;
}

/* Workers count records from the begin of their run. */
static int64_t number_of(const cst__avro_crew *crew, int64_t record) {
  return crew->record < 0 ? -1 : crew->record + record;
}

/* What comes after the rows of the piece. */
static cst_status tell(cst__avro_crew *crew, cst_error *error) {
  piece *now = &crew->now;
  now->why.record = now->why.record >= 0 ? number_of(crew, now->why.record) : -1;
  if (now->status != CST_OK) {
    cst__error_copy(error, &now->why);
    return now->status;
  }
  if (!now->has_lost) {
    return CST_OK;
  }
  now->has_lost = false;
  cst__dropped dropped = {.told = now->lost};
  dropped.told.record = number_of(crew, now->lost.record);
  dropped.told.error = &now->why;
  cst_status status = crew->drop(crew->drop_ctx, &dropped, error);
  if (status != CST_OK) {
    cst__error_add_file(error, now->lost.file);
  }
  return status;
}

cst_status cst__avro_crew_new(const cst__avro_plan *plan, cst__table_drop drop, void *drop_ctx,
                              cst__avro_crew **out, cst_error *error) {
  const size_t threads = (size_t)plan->threads;
  cst__avro_crew *crew = cst__new_zero(&plan->allocator, sizeof *crew);
  if (crew == NULL) {
    return cst__fail_memory(error, sizeof *crew);
  }
  crew->plan = plan;
  crew->drop = drop;
  crew->drop_ctx = drop_ctx;
  crew->walk = (cst__avro_walk){.plan = plan, .skips = drop != NULL};
  crew->num_runs = 2 * threads + 1;
  cst__crew_init(&crew->threads, &crew_calls, crew);
  crew->workers = cst__new_zero(&plan->allocator, threads * sizeof *crew->workers);
  crew->runs = cst__new_zero(&plan->allocator, crew->num_runs * sizeof *crew->runs);
  cst_status status = cst__crew_reserve(&crew->threads, plan->threads - 1, &plan->allocator, error);
  if (status == CST_OK && (crew->workers == NULL || crew->runs == NULL)) {
    status = cst__fail_memory(error, threads * sizeof *crew->workers);
  }
  if (status != CST_OK) {
    cst__avro_crew_free(crew);
    return status;
  }
  for (size_t i = 0; i < threads; i++) {
    crew->workers[i].crew = crew;
  }
  *out = crew;
  return CST_OK;
}

cst_status cst__avro_crew_next(cst__avro_crew *crew, struct ArrowArray *out, cst_error *error) {
  for (bool there = true; there;) {
    CST__TRY(tell(crew, error));
    CST__TRY(next_piece(crew, &there, error));
    if (there && crew->now.rows.release != NULL) {
      *out = crew->now.rows;
      crew->now.rows.release = NULL;
      return CST_OK;
    }
  }
  out->release = NULL;
  return CST_OK;
}

uint64_t cst__avro_crew_consumed(const cst__avro_crew *crew) { return crew->consumed; }
