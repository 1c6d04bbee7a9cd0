/* Threads over the text of files. The caller takes the rows of the parts in their order, and works
 * on parts itself while there are none.
 */
#include "format/table/text_crew.h"

#include <string.h>

#include "arrow/batch.h"
#include "arrow/concat.h"
#include "base/crew.h"
#include "base/os.h"

enum {
  PART_BYTES = 1 << 19, /* enough to be worth a thread's while; with its rows it fits the cache */
  MOST_BYTES = 8 << 20, /* of a part that grows, as its first record is longer */
  PADDING = 64          /* readable bytes after the text, zero */
};

static size_t part_bytes = PART_BYTES;

void cst__text_crew_set_part_size(size_t size) { part_bytes = size > 0 ? size : PART_BYTES; }

bool cst__text_crew_fits(const cst__table_format *format, const cst__table_files *files,
                         int32_t threads) {
  bool is_small = files->bytes > 0 && files->bytes <= part_bytes;
  return format->cut != NULL && threads > 1 && files->rereadable && !is_small;
}

size_t cst__text_last_line_end(const uint8_t *data, size_t size) {
  const uint8_t *newline = cst__os_last_byte(data, '\n', size);
  return newline != NULL ? (size_t)(newline - data) + 1 : 0;
}

/* The text of one part, as a file: what each part of the file needs before its records (CSV's line
 * of names), and the records. */
typedef struct part {
  cst__buffer text;
  size_t size;
  bool is_done;
  bool is_faulty;         /* something is wrong with it, whatever it is */
  struct ArrowArray rows; /* release NULL: none */
  void *made;             /* in their place, of a fold */
  uint64_t consumed;      /* bytes of the files, with it */
} part;

typedef struct worker {
  cst__text_crew *crew;
  int32_t number;
  cst__table_files files; /* one more with each part that it works on, */
  part *at;               /* which is this one */
  void *reader;           /* of these files, whose memory is used again; NULL: none yet */
} worker;

/* Of whoever reads: the file that is open, and what goes from one part of it to the next. */
typedef struct text_feed {
  cst__input *input; /* NULL: between files */
  size_t next_file;
  size_t preamble;   /* bytes that come before the records of each part: */
  cst__buffer first; /* these */
  cst__buffer rest;  /* of the part before, after its last record */
  size_t rest_size;
  uint64_t consumed; /* of the files that are closed */
} text_feed;

/* Of the caller: what it has got, and the reader of all files that goes on after a fault. */
typedef struct text_delivery {
  uint64_t consumed;
  uint64_t rows;
  void *alone;     /* NULL: there was no fault */
  uint64_t passed; /* of the rows, by that reader */
} text_delivery;

struct cst__text_crew {
  cst__text_crew_options options;
  const cst__text_fold *fold; /* NULL: rows are made */
  cst__crew threads;          /* whose lock guards all but what belongs to who reads, or works */
  bool reading;               /* somebody takes a part out of the files */
  bool ended;                 /* there is no further part */
  worker *workers;            /* one for each thread */
  part *parts;                /* a ring */
  size_t num_parts;
  uint64_t head; /* the part that the caller takes */
  uint64_t tail; /* after the last one that was begun */
  text_feed from;
  text_delivery to;
};

/* ---- life ---- */

static void drop_made(const cst__text_crew *crew, part *p) {
  if (p->rows.release != NULL) {
    p->rows.release(&p->rows);
    p->rows.release = NULL;
  }
  if (p->made != NULL) {
    crew->fold->drop(p->made);
    p->made = NULL;
  }
}

/* Ready for other text; its memory stays. */
static void clear_part(const cst__text_crew *crew, part *p) {
  drop_made(crew, p);
  *p = (part){.text = p->text};
}

/* What the threads have, which have stopped. */
static void free_parts(cst__text_crew *crew) {
  const cst_allocator *allocator = crew->options.allocator;
  for (size_t i = 0; crew->parts != NULL && i < crew->num_parts; i++) {
    drop_made(crew, &crew->parts[i]);
    cst__buffer_free(allocator, &crew->parts[i].text);
  }
  for (int32_t i = 0; crew->workers != NULL && i < crew->options.threads; i++) {
    if (crew->workers[i].reader != NULL) {
      crew->options.format->close(crew->workers[i].reader);
      crew->workers[i].reader = NULL;
    }
  }
  cst__delete(crew->parts);
  crew->parts = NULL;
  cst__buffer_free(allocator, &crew->from.first);
  cst__buffer_free(allocator, &crew->from.rest);
  if (crew->from.input != NULL) {
    cst__input_close(crew->from.input);
    crew->from.input = NULL;
  }
}

void cst__text_crew_free(cst__text_crew *crew) {
  if (crew == NULL) {
    return;
  }
  cst__crew_stop(&crew->threads);
  free_parts(crew);
  if (crew->to.alone != NULL) {
    crew->options.format->close(crew->to.alone);
  }
  cst__delete(crew->workers);
  cst__crew_reset(&crew->threads);
  cst__delete(crew);
}

/* ---- a part as a file ---- */

static cst__table_text text_of(void *ctx, size_t i) {
  const part *p = ctx;
  (void)i;
  return (cst__table_text){.data = p->text.data, .size = p->size, .begins = true, .ends = true};
}

static cst__table_text text_at(void *ctx, size_t i) {
  return text_of(((const worker *)ctx)->at, i);
}

static const char *name_text(void *ctx, size_t i) {
  (void)ctx;
  (void)i;
  return "";
}

/* A file that is this text. */
static cst__table_files files_of(cst__table_text (*text)(void *, size_t), void *ctx) {
  return (cst__table_files){.count = 1,
                            .text = text,
                            .name = name_text,
                            .ctx = ctx,
                            .rereadable = true,
                            .sample_rows = INT64_MAX,
                            .sample_bytes = UINT64_MAX};
}

/* ---- taking parts out of the files: one thread at a time ---- */

static bool append_text(const cst__text_crew *crew, cst__buffer *to, size_t *size,
                        const uint8_t *data, size_t count) {
  if (!cst__buffer_reserve(crew->options.allocator, to, *size + count + PADDING, *size)) {
    return false;
  }
  if (count > 0) {
    memcpy(to->data + *size, data, count);
  }
  *size += count;
  memset(to->data + *size, 0, PADDING);
  return true;
}

static bool open_next_file(cst__text_crew *crew) {
  const cst__table_files *files = crew->options.files;
  crew->from.rest_size = 0;
  return files->open(files->ctx, crew->from.next_file, &crew->from.input, NULL) == CST_OK;
}

static void close_file(cst__text_crew *crew) {
  crew->from.consumed += cst__input_consumed(crew->from.input);
  cst__input_close(crew->from.input);
  crew->from.input = NULL;
  crew->from.next_file++;
}

/* Reads so many bytes; *ends at the end of the file. */
static bool read_on(const cst__text_crew *crew, part *p, size_t size, bool *ends) {
  size_t begin = p->size;
  size_t got = 0;
  if (!cst__buffer_reserve(crew->options.allocator, &p->text, begin + size + PADDING, begin) ||
      cst__input_fill(crew->from.input, p->text.data + begin, size, &got, NULL) != CST_OK) {
    return false;
  }
  p->size += got;
  *ends = got < size;
  memset(p->text.data + p->size, 0, PADDING);
  return true;
}

/* What every further part of the file begins with. */
static bool keep_preamble(cst__text_crew *crew, part *p) {
  const cst__table_files text = files_of(text_of, p);
  uint64_t size = 0;
  size_t kept = 0;
  if (crew->options.format->preamble != NULL &&
      crew->options.format->preamble(crew->options.plan, &text, &size, NULL) != CST_OK) {
    return false;
  }
  crew->from.preamble = (size_t)size;
  return append_text(crew, &crew->from.first, &kept, p->text.data, (size_t)size);
}

/* Where the last record of the part ends, which grows until it has one. SIZE_MAX: it is left to the
 * reader alone. */
static size_t find_cut(const cst__text_crew *crew, part *p, bool begins, bool *ends) {
  const size_t before = crew->from.preamble;
  for (;;) {
    const cst__table_text text = {.data = p->text.data + before,
                                  .size = p->size - before,
                                  .begins = begins && before == 0,
                                  .ends = *ends};
    const size_t end = crew->options.format->cut(crew->options.plan, &text);
    if (end > 0 || *ends) {
      return end;
    }
    const size_t more = text.size > part_bytes ? text.size : part_bytes;
    if (text.size + more > MOST_BYTES || !read_on(crew, p, more, ends)) {
      return SIZE_MAX;
    }
  }
}

/* False: it is left to the reader alone. */
static bool fill_part(cst__text_crew *crew, part *p) {
  bool ends;
  bool begins = crew->from.input == NULL;
  if (begins) {
    if (!open_next_file(crew) || !read_on(crew, p, part_bytes, &ends) || !keep_preamble(crew, p) ||
        (crew->from.preamble == p->size && !ends)) { /* what comes first may go on */
      return false;
    }
  } else if (!append_text(crew, &p->text, &p->size, crew->from.first.data, crew->from.preamble) ||
             !append_text(crew, &p->text, &p->size, crew->from.rest.data, crew->from.rest_size) ||
             !read_on(crew, p, part_bytes, &ends)) {
    return false;
  }
  size_t end = find_cut(crew, p, begins, &ends);
  if (end == SIZE_MAX) {
    return false;
  }
  end += crew->from.preamble;
  crew->from.rest_size = 0;
  bool kept =
      append_text(crew, &crew->from.rest, &crew->from.rest_size, p->text.data + end, p->size - end);
  p->size = end;
  memset(p->text.data + p->size, 0, PADDING);
  p->consumed = crew->from.consumed + cst__input_consumed(crew->from.input);
  if (ends) {
    close_file(crew);
  }
  return kept;
}

/* ---- rows: what is not guarded belongs to the part's thread ---- */

/* Nothing is dropped of a part: the reader alone does it. */
static cst_status refuse_drop(void *ctx, const cst__dropped *dropped, cst_error *error) {
  (void)ctx;
  (void)dropped;
  (void)error;
  return CST_CORRUPT;
}

/* The worker's reader takes the part for the next of its files. */
static bool make_rows(worker *w, part *p) {
  const cst__table_format *format = w->crew->options.format;
  const cst__table_reading reading = {
      .files = &w->files, .batch_size = INT64_MAX, .drop = refuse_drop};
  struct ArrowArray more = {.release = NULL};
  w->files.count++;
  w->at = p;
  if (w->reader == NULL &&
      format->open(w->crew->options.plan, &reading, &w->reader, NULL) != CST_OK) {
    return false;
  }
  bool ok = format->next(w->reader, &p->rows, NULL) == CST_OK;
  ok = ok && (p->rows.release == NULL || format->next(w->reader, &more, NULL) == CST_OK);
  return ok && more.release == NULL;
}

static bool work_on(worker *w, part *p) {
  const cst__text_fold *fold = w->crew->fold;
  const cst__table_files files = files_of(text_of, p);
  return fold != NULL ? fold->run(fold->ctx, w->number, &files, &p->made) : make_rows(w, p);
}

/* ---- jobs: with the lock, which is let go meanwhile ---- */

static part *part_at(const cst__text_crew *crew, uint64_t number) {
  return &crew->parts[number % crew->num_parts];
}

/* Takes the next part out of the files and works on it. The first one is the caller's: the others
 * start when it was not all. */
static bool do_part(void *owner, int32_t thread) {
  cst__text_crew *crew = owner;
  if (crew->reading || crew->ended || crew->tail - crew->head == crew->num_parts) {
    return false;
  }
  if (crew->tail == 1) {
    cst__crew_start(&crew->threads);
  }
  part *p = part_at(crew, crew->tail++);
  crew->reading = true;
  cst__mutex_unlock(&crew->threads.lock);
  bool ok = fill_part(crew, p);
  cst__mutex_lock(&crew->threads.lock);
  crew->reading = false;
  crew->ended = crew->ended || !ok || crew->from.next_file == crew->options.files->count;
  cst__crew_call_thread(&crew->threads);
  cst__crew_call_caller(&crew->threads);
  cst__mutex_unlock(&crew->threads.lock);
  ok = ok && work_on(&crew->workers[thread], p);
  cst__mutex_lock(&crew->threads.lock);
  p->is_faulty = !ok;
  p->is_done = true;
  crew->ended = crew->ended || !ok;
  cst__crew_call_caller(&crew->threads);
  return true;
}

/* ---- delivering: the caller's thread ---- */

/* Takes what was made of the head, which is done and sound. */
static void take_head(cst__text_crew *crew, struct ArrowArray *out, void **made) {
  part *p = part_at(crew, crew->head);
  *out = p->rows;
  *made = p->made;
  p->rows.release = NULL;
  p->made = NULL;
  crew->to.consumed = p->consumed;
  crew->to.rows += out->release != NULL ? (uint64_t)out->length : 0;
  clear_part(crew, p);
  crew->head++;
  cst__crew_call_thread(&crew->threads);
}

/* The part at the head is done, or there is none. */
static bool is_head_known(const void *owner) {
  const cst__text_crew *crew = owner;
  return crew->head < crew->tail ? part_at(crew, crew->head)->is_done : crew->ended;
}

static const cst__crew_calls crew_calls = {do_part, is_head_known};

/* What was made of the next part; neither that nor a fault: the end. */
static cst_status next_part(cst__text_crew *crew, struct ArrowArray *out, void **made, bool *faulty,
                            cst_error *error) {
  cst_status status = cst__interrupted(error);
  *made = NULL;
  cst__mutex_lock(&crew->threads.lock);
  while (status == CST_OK && out->release == NULL && *made == NULL && !*faulty) {
    status = cst__crew_wait(&crew->threads, error);
    if (status != CST_OK || crew->head == crew->tail) {
      break;
    }
    *faulty = part_at(crew, crew->head)->is_faulty;
    if (!*faulty) {
      take_head(crew, out, made);
    }
  }
  cst__mutex_unlock(&crew->threads.lock);
  return status;
}

/* From here on one thread reads the files, again from their start. */
static cst_status go_on_alone(cst__text_crew *crew, cst_error *error) {
  const cst__table_reading reading = {.drop = crew->options.drop,
                                      .drop_ctx = crew->options.drop_ctx};
  cst__crew_stop(&crew->threads);
  free_parts(crew);
  return crew->options.format->open(crew->options.plan, &reading, &crew->to.alone, error);
}

/* The rows of a batch after the first `count`; takes it over. */
static cst_status pass_rows(const cst__text_crew *crew, struct ArrowArray *batch, int64_t count,
                            struct ArrowArray *out, cst_error *error) {
  cst__shared *shared;
  int64_t length = batch->length;
  cst_status status = cst__shared_new(batch, crew->options.allocator, &shared, error);
  if (status != CST_OK) {
    batch->release(batch);
    return status;
  }
  status = cst__shared_slice(shared, count, length - count, out, error);
  cst__shared_release(shared);
  return status;
}

/* The first rows are those that have been delivered. */
static cst_status next_alone(cst__text_crew *crew, struct ArrowArray *out, cst_error *error) {
  struct ArrowArray batch = {.release = NULL};
  for (;;) {
    CST__TRY(crew->options.format->next(crew->to.alone, &batch, error));
    uint64_t left = crew->to.rows - crew->to.passed;
    if (batch.release == NULL || left == 0) {
      *out = batch;
      return CST_OK;
    }
    if ((uint64_t)batch.length > left) {
      crew->to.passed = crew->to.rows;
      return pass_rows(crew, &batch, (int64_t)left, out, error);
    }
    crew->to.passed += (uint64_t)batch.length;
    batch.release(&batch);
    batch.release = NULL;
  }
}

cst_status cst__text_crew_new(const cst__text_crew_options *options, cst__text_crew **out,
                              cst_error *error) {
  const size_t threads = (size_t)options->threads;
  cst__text_crew *crew = cst__new_zero(options->allocator, sizeof *crew);
  if (crew == NULL) {
    return cst__fail_memory(error, sizeof *crew);
  }
  crew->options = *options;
  crew->num_parts = 2 * threads + 1;
  cst__crew_init(&crew->threads, &crew_calls, crew);
  crew->workers = cst__new_zero(options->allocator, threads * sizeof *crew->workers);
  crew->parts = cst__new_zero(options->allocator, crew->num_parts * sizeof *crew->parts);
  cst_status status =
      cst__crew_reserve(&crew->threads, options->threads - 1, options->allocator, error);
  if (status == CST_OK && (crew->workers == NULL || crew->parts == NULL)) {
    status = cst__fail_memory(error, threads * sizeof *crew->workers);
  }
  if (status != CST_OK) {
    cst__text_crew_free(crew);
    return status;
  }
  for (size_t i = 0; i < threads; i++) {
    worker *w = &crew->workers[i];
    *w = (worker){.crew = crew, .number = (int32_t)i, .files = files_of(text_at, w)};
    w->files.count = 0; /* none yet */
  }
  *out = crew;
  return CST_OK;
}

cst_status cst__text_crew_next(cst__text_crew *crew, struct ArrowArray *out, cst_error *error) {
  bool faulty = false;
  void *made;
  out->release = NULL;
  if (crew->to.alone == NULL) {
    CST__TRY(next_part(crew, out, &made, &faulty, error));
    if (!faulty) {
      return CST_OK;
    }
    CST__TRY(go_on_alone(crew, error));
  }
  return next_alone(crew, out, error);
}

cst_status cst__text_crew_fold(const cst__text_crew_options *options, const cst__text_fold *fold,
                               bool *sound, cst_error *error) {
  struct ArrowArray none = {.release = NULL};
  bool faulty = false;
  void *made;
  cst__text_crew *crew;
  CST__TRY(cst__text_crew_new(options, &crew, error));
  crew->fold = fold;
  cst_status status;
  do {
    status = next_part(crew, &none, &made, &faulty, error);
    if (made != NULL) {
      faulty = !fold->take(fold->ctx, made);
      fold->drop(made);
    }
  } while (status == CST_OK && made != NULL && !faulty);
  cst__text_crew_free(crew);
  *sound = !faulty;
  return status;
}

bool cst__text_crew_is_alone(const cst__text_crew *crew) { return crew->to.alone != NULL; }

uint64_t cst__text_crew_consumed(const cst__text_crew *crew) {
  uint64_t alone = crew->to.alone != NULL ? crew->options.format->consumed(crew->to.alone) : 0;
  return alone > crew->to.consumed ? alone : crew->to.consumed;
}
