/* Verifying with several threads, each a part of the source, in the hope that nothing is damaged.
 *
 * If every part is sound from start to end, then so is the whole: the records of one part
 * end where those of the next begin. If anything is wrong in any of them, all of it is forgotten,
 * and the files are verified in order, because only that tells each fault as it is.
 */
#include "source/scan/verify_parts.h"
#include "source/index/parts.h"

enum { MOST_PARTS = 64, LEAST_BYTES = 4 << 20 };

typedef struct shared {
  cst_source *source;
  const cst__scan_calls *calls;
  cst__file_count *counts; /* of the source's files; guarded by `lock` */
  cst__mutex lock;
  _Atomic uint64_t bytes;
  _Atomic uint64_t records;
  atomic_bool stop;    /* by the caller, or because something is damaged */
  atomic_bool stopped; /* by the caller */
} shared;

typedef struct part {
  shared *all;
  cst_source *source;
  size_t file;      /* that is reported next */
  size_t counted;   /* where that is in `counts`, or after it */
  uint64_t bytes;   /* told so far */
  uint64_t records; /* the same */
  bool is_callers;  /* of the thread that may call back */
  bool started;
  bool faulty;
  bool sound;
  cst__thread thread;
} part;

/* The part's files are among those of the source, in their order. */
static void count_part_file(void *ctx, const cst__file_count *count) {
  part *p = ctx;
  shared *all = p->all;
  const cst__file *opened = p->source->parts[p->file++].file;
  cst__mutex_lock(&all->lock);
  for (; p->counted < all->source->num_parts; p->counted++) {
    cst__file_count *sum = &all->counts[p->counted];
    if (all->source->parts[p->counted].file == opened) {
      sum->records += count->records;
      sum->record_bytes += count->record_bytes;
      sum->stream_bytes += count->stream_bytes;
      sum->file_bytes += count->file_bytes;
      break;
    }
  }
  cst__mutex_unlock(&all->lock);
}

static void note_part_fault(void *ctx, const char *kind, const cst_error *error) {
  part *p = ctx;
  (void)kind;
  (void)error;
  p->faulty = true;
  atomic_store(&p->all->stop, true);
}

static bool add_part_progress(void *ctx, uint64_t bytes, uint64_t records) {
  part *p = ctx;
  shared *all = p->all;
  const cst__scan_calls *calls = all->calls;
  uint64_t all_bytes = atomic_fetch_add(&all->bytes, bytes - p->bytes) + bytes - p->bytes;
  uint64_t all_records =
      atomic_fetch_add(&all->records, records - p->records) + records - p->records;
  p->bytes = bytes;
  p->records = records;
  if (p->is_callers && calls->on_progress != NULL &&
      !calls->on_progress(calls->progress_ctx, all_bytes, all_records)) {
    atomic_store(&all->stopped, true);
    atomic_store(&all->stop, true);
  }
  return !atomic_load(&all->stop);
}

static void *run_part(void *arg) {
  part *p = arg;
  const cst__scan_calls calls = {note_part_fault, count_part_file, p, add_part_progress, p};
  cst_status status = cst__verify_in_order(p->source, &calls, NULL);
  p->sound = status == CST_OK && !p->faulty;
  if (!p->sound) {
    atomic_store(&p->all->stop, true);
  }
  return NULL;
}

/* Makes the parts; false: not all of them. */
static bool divide_source(shared *all, part *parts, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    parts[i].all = all;
    parts[i].is_callers = i == 0;
    if (cst__source_divide(all->source, i, count, &parts[i].source, NULL) != CST_OK) {
      return false;
    }
  }
  return true;
}

/* Runs the parts, the first one and those that get no thread on this thread. True: all are sound.
 */
static bool run_parts(part *parts, uint32_t count) {
  bool sound = true;
  for (uint32_t i = 1; i < count; i++) {
    parts[i].started = cst__thread_start(&parts[i].thread, run_part, &parts[i]);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!parts[i].started && !atomic_load(&parts[i].all->stop)) {
      (void)run_part(&parts[i]);
    }
  }
  for (uint32_t i = 0; i < count; i++) {
    if (parts[i].started) {
      cst__thread_join(&parts[i].thread);
    }
    sound = sound && parts[i].sound;
  }
  return sound;
}

/* Parts pay for files that can be read from anywhere, and are not small. */
static uint32_t choose_parts(const cst_source *source) {
  bool divisible = source->inputs->rereadable && cst_source_total_bytes(source) >= LEAST_BYTES;
  for (size_t i = 0; i < source->num_parts; i++) {
    divisible = divisible && !source->parts[i].file->is_reader;
  }
  int32_t threads =
      source->options.values.threads < MOST_PARTS ? source->options.values.threads : MOST_PARTS;
  return divisible ? (uint32_t)threads : 1;
}

static cst_status verify_divided(shared *all, part *parts, uint32_t count, bool *sound,
                                 cst_error *error) {
  *sound = divide_source(all, parts, count) && run_parts(parts, count);
  if (atomic_load(&all->stopped)) {
    return cst__scan_stopped(error);
  }
  for (size_t i = 0; *sound && i < all->source->num_parts; i++) {
    all->calls->on_file(all->calls->ctx, &all->counts[i]);
  }
  return CST_OK;
}

cst_status cst__verify_in_parts(cst_source *source, const cst__scan_calls *calls, bool *sound,
                                cst_error *error) {
  uint32_t count = choose_parts(source);
  *sound = false;
  if (count < 2) {
    return CST_OK;
  }
  shared all = {.source = source, .calls = calls};
  part *parts = cst__new_zero(&source->allocator, count * sizeof *parts);
  all.counts = cst__new_zero(&source->allocator, source->num_parts * sizeof *all.counts);
  cst_status status = CST_NO_MEMORY;
  if (parts == NULL || all.counts == NULL) {
    status = cst__fail_memory(error, count * sizeof *parts);
  } else {
    cst__mutex_init(&all.lock);
    for (size_t i = 0; i < source->num_parts; i++) {
      all.counts[i].file = cst__source_name(source, i);
    }
    status = verify_divided(&all, parts, count, sound, error);
    for (uint32_t i = 0; i < count; i++) {
      cst_source_release(parts[i].source);
    }
    cst__mutex_destroy(&all.lock);
  }
  cst__delete(parts);
  cst__delete(all.counts);
  return status;
}
