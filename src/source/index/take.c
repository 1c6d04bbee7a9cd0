/* Taking rows: read each record where its index says, and decode them as one batch. */
#include <columnstone/index.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/concat.h"
#include "base/arguments.h"
#include "base/interrupt.h"
#include "base/prefetch.h"
#include "source/block/cursor.h"
#include "source/block/unit.h"
#include "source/index/access.h"
#include "source/index/record_cache.h"
#include "source/index/region.h"
#include "source/input/prepare.h"
#include "source/pass/arrow_schema.h"

enum {
  NEAR_FILE = 4 << 10,    /* bytes between two records that are rather read than passed over */
  NEAR_READER = 64 << 10, /* where each read may be a request over the network */
  LOADED = 2 << 10,       /* bytes of a record that are loaded ahead */
  AHEAD = 16,             /* records between the one that is copied and the one that is loaded */
  LARGEST_SPAN = 1 << 20, /* of records that are read at once, unless one is larger */
  SPAN_WORK = 1 << 10,    /* bytes that one read is worth */
  FEW_ROWS = 1 << 12      /* that are sorted at one go */
};

/* One of the rows that are wanted. */
typedef struct wanted {
  uint64_t row;
  size_t place; /* in the caller's order */
} wanted;

/* What a call has found out about a file of the cache. */
typedef struct cached_look {
  uint64_t call; /* its number */
  bool fits;     /* the cache has the file as it is */
} cached_look;

/* What a call needs; one call after the other. */
struct cst__take_scratch {
  cst__take_scratch *next;
  cst__decoding decoding;
  cst__unit unit;
  wanted *order; /* the rows in the order of the files */
  size_t capacity;
  cst__kept_records kept; /* of this call */
  uint64_t call;          /* its number */
  cached_look *looks;     /* one per file, if there is a cache */
  const cst__access *access;
  const uint64_t *rows; /* that it takes, in the caller's order */
};

/* A run of neighbouring records, read at once: those of order[first, end). */
typedef struct span {
  size_t file;
  size_t first;
  size_t end;
  uint64_t begin; /* in the file */
  size_t size;
  size_t at; /* in the block */
} span;

void cst__take_scratch_free(cst__take_scratch *scratch) {
  while (scratch != NULL) {
    cst__take_scratch *next = scratch->next;
    cst__decoding_reset(&scratch->decoding);
    cst__unit_reset(&scratch->unit);
    cst__delete(scratch->order);
    cst__delete(scratch->looks);
    cst__delete(scratch);
    scratch = next;
  }
}

/* Where a row of the file begins in it; the next entry is its end. */
static const uint64_t *offset_of(const cst__access_file *file, uint64_t row) {
  return &file->index->offsets[file->first + (row - file->rows)];
}

/* The number of the record that a row of the batch is made of. */
static int64_t taken_record(const void *ctx, int64_t row) {
  const cst__take_scratch *scratch = ctx;
  uint64_t taken = scratch->rows[row];
  const cst__access_file *file = &scratch->access->files[cst__access_find(scratch->access, taken)];
  return file->record < 0 ? -1 : file->record + (int64_t)(taken - file->rows);
}

/* Where it begins. */
static int64_t taken_offset(const void *ctx, int64_t row) {
  const cst__take_scratch *scratch = ctx;
  uint64_t taken = scratch->rows[row];
  const cst__access_file *file = &scratch->access->files[cst__access_find(scratch->access, taken)];
  return (int64_t)*offset_of(file, taken);
}

static cst_status taken_ids(const void *ctx, int64_t count, int64_t *files, int64_t *records,
                            cst_error *error) {
  const cst__take_scratch *scratch = ctx;
  (void)error;
  for (int64_t i = 0; i < count; i++) {
    size_t file = cst__access_find(scratch->access, scratch->rows[i]);
    files[i] = cst__source_file_number(scratch->decoding.source, file);
    records[i] = taken_record(ctx, i);
  }
  return CST_OK;
}

static cst__take_scratch *borrow_scratch(cst__access *access, const cst_source *source) {
  cst__mutex_lock(&access->lock);
  cst__take_scratch *scratch = access->idle;
  if (scratch != NULL) {
    access->idle = scratch->next;
  }
  cst__mutex_unlock(&access->lock);
  if (scratch == NULL) {
    scratch = cst__new_zero(&access->allocator, sizeof *scratch);
    if (scratch == NULL) {
      return NULL;
    }
    scratch->decoding.source = source;
    scratch->decoding.purpose = CST__FOR_COLUMNS;
    scratch->decoding.direct = true;
    scratch->decoding.taken = (cst__row_places){taken_record, taken_offset, taken_ids, scratch};
  }
  scratch->next = NULL;
  return scratch;
}

static void return_scratch(cst__access *access, cst__take_scratch *scratch) {
  cst__unit_clear(&scratch->unit);
  cst__mutex_lock(&access->lock);
  scratch->next = access->idle;
  access->idle = scratch;
  cst__mutex_unlock(&access->lock);
}

/* ---- which records, in which order ---- */

static int compare_rows(const void *a, const void *b) {
  const wanted *x = a;
  const wanted *y = b;
  return (x->row > y->row) - (x->row < y->row);
}

/* One step of a radix sort: by the byte of the rows that is `shift` bits up. */
static cst_status sort_by_byte(const wanted *from, size_t count, unsigned shift, wanted *to,
                               cst_error *error) {
  size_t ends[256] = {0};
  for (size_t i = 0; i < count; i++) {
    ends[from[i].row >> shift & 255]++;
  }
  size_t sum = 0;
  for (size_t i = 0; i < 256; i++) {
    size_t begin = sum;
    sum += ends[i];
    ends[i] = begin;
  }
  size_t work = 0;
  for (size_t i = 0; i < count; i++) {
    to[ends[from[i].row >> shift & 255]++] = from[i];
    if (cst__stretch_is_over(&work, sizeof(wanted))) {
      CST__TRY(cst__interrupted(error));
    }
  }
  return CST_OK;
}

/* qsort cannot be told to stop: many rows are sorted byte by byte, which is faster too. */
static cst_status sort_rows(cst__take_scratch *scratch, const cst__access *access, size_t count,
                            cst_error *error) {
  if (count <= FEW_ROWS) {
    qsort(scratch->order, count, sizeof(wanted), compare_rows);
    return CST_OK;
  }
  wanted *other = cst__new(&access->allocator, count * sizeof(wanted));
  if (other == NULL) {
    return cst__fail_memory(error, count * sizeof(wanted));
  }
  cst_status status = CST_OK;
  for (unsigned shift = 0; shift < 64 && status == CST_OK && (access->num_rows - 1) >> shift > 0;
       shift += 8) {
    status = sort_by_byte(scratch->order, count, shift, other, error);
    wanted *sorted = other;
    other = scratch->order;
    scratch->order = sorted;
    scratch->capacity = count;
  }
  cst__delete(other);
  return status;
}

static cst_status order_rows(cst__take_scratch *scratch, const cst__access *access,
                             const uint64_t *rows, size_t num_rows, cst_error *error) {
  void *order = scratch->order;
  bool done = cst__grow(&access->allocator, &order, &scratch->capacity, num_rows, sizeof(wanted));
  scratch->order = order;
  if (!done) {
    return cst__fail_memory(error, num_rows * sizeof(wanted));
  }
  bool sorted = true;
  for (size_t i = 0; i < num_rows; i++) {
    if (rows[i] >= access->num_rows) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "row %llu is requested, there are %llu",
                       (unsigned long long)rows[i], (unsigned long long)access->num_rows);
    }
    scratch->order[i] = (wanted){rows[i], i};
    sorted = sorted && (i == 0 || rows[i - 1] <= rows[i]);
  }
  if (!sorted) {
    return sort_rows(scratch, access, num_rows, error);
  }
  return CST_OK;
}

/* Begins to load where a later row of the file lies: in a large index, each is a line of its own.
 */
static void load_offset(const cst__access_file *file, const wanted *order, size_t count,
                        size_t at) {
  if (count - at > AHEAD && order[at + AHEAD].row - file->rows < file->count) {
    __builtin_prefetch(offset_of(file, order[at + AHEAD].row));
  }
}

/* The next span, from order[*first] on. */
static span next_span(const cst__access *access, const cst_source *source, const wanted *order,
                      size_t count, size_t first) {
  span s = {.file = cst__access_find(access, order[first].row), .first = first, .end = first};
  const cst__access_file *file = &access->files[s.file];
  uint64_t near = source->parts[s.file].file->is_reader ? NEAR_READER : NEAR_FILE;
  uint64_t end = *offset_of(file, order[first].row);
  s.begin = end;
  for (; s.end < count && order[s.end].row - file->rows < file->count; s.end++) {
    const uint64_t *at = offset_of(file, order[s.end].row);
    load_offset(file, order, count, s.end);
    if (s.end > first && at[1] > end && (at[0] - end > near || at[1] - s.begin > LARGEST_SPAN)) {
      break;
    }
    end = at[1];
  }
  s.size = (size_t)(end - s.begin);
  return s;
}

/* ---- reading ---- */

/* The file for this call: open already, opened to stay, or (*own) for this call only. */
static cst_status open_taken_file(cst__access *access, const cst_source *source, size_t i,
                                  const cst__raw **raw, cst__raw *own, cst_error *error) {
  cst__access_file *file = &access->files[i];
  cst_status status = CST_OK;
  *raw = &file->raw;
  if (atomic_load_explicit(&file->is_open, memory_order_acquire)) {
    return CST_OK;
  }
  cst__mutex_lock(&access->lock);
  if (!file->is_open && access->num_open >= access->most_open) {
    *raw = own;
    status = cst__source_open_raw(source, i, own, error);
  } else if (!file->is_open) {
    status = cst__source_open_raw(source, i, &file->raw, error);
    if (status == CST_OK && (source->options.values.flags & CST_SOURCE_MEMORY_MAP)) {
      cst__raw_map(&file->raw);
    }
    access->num_open += status == CST_OK;
    atomic_store_explicit(&file->is_open, status == CST_OK, memory_order_release);
  }
  cst__mutex_unlock(&access->lock);
  return status;
}

/* Bytes of a file, from its map if it has one. */
static cst_status read_taken_bytes(const cst__raw *raw, uint64_t begin, uint8_t *buffer,
                                   size_t size, size_t *got, cst_error *error) {
  if (raw->map == NULL) {
    return cst__raw_read_at(raw, begin, buffer, size, got, error);
  }
  uint64_t rest = begin < raw->map_size ? raw->map_size - begin : 0;
  *got = size < rest ? size : (size_t)rest;
  memcpy(buffer, (const char *)raw->map + begin, *got);
  return CST_OK;
}

cst_status cst__access_read(cst__access *access, const cst_source *source, size_t file,
                            uint64_t begin, uint8_t *buffer, size_t size, cst_error *error) {
  const cst__raw *raw;
  cst__raw own;
  size_t got = 0;
  CST__TRY(open_taken_file(access, source, file, &raw, &own, error));
  cst_status status = read_taken_bytes(raw, begin, buffer, size, &got, error);
  if (raw == &own) {
    cst__raw_close(&own);
  }
  if (status == CST_OK && got < size) {
    status = cst__fail(error, CST_IO, "open it again and rebuild its index: columnstone index",
                       "the file is shorter than it was when it was indexed");
  }
  if (status != CST_OK) {
    cst__error_add_file(error, cst__source_name(source, file));
  }
  return status;
}

/* True if the cache has a file, which is open, as it is: asked once in a call. */
static bool is_cached(const cst__access *access, cst__take_scratch *scratch, size_t file) {
  const cst__access_file *opened = &access->files[file];
  cached_look *look = scratch->kept.cache != NULL ? &scratch->looks[file] : NULL;
  if (look == NULL || !atomic_load_explicit(&opened->is_open, memory_order_acquire)) {
    return false;
  }
  if (look->call != scratch->call) {
    look->fits = cst__record_cache_fits(scratch->kept.cache, file, &opened->raw);
    look->call = scratch->call;
  }
  return look->fits;
}

/* Bytes of a span by way of the cache, which reads them if it has to; NULL: it has none of them. */
static cst_status read_cached_span(cst__access *access, cst__take_scratch *scratch, const span *s,
                                   const uint8_t **out, cst_error *error) {
  const cst__raw *raw;
  cst__raw own;
  *out = NULL;
  if (scratch->kept.cache == NULL) {
    return CST_OK;
  }
  CST__TRY(open_taken_file(access, scratch->decoding.source, s->file, &raw, &own, error));
  if (raw == &own) {
    cst__raw_close(&own);
  }
  cst_status status = CST_OK;
  if (is_cached(access, scratch, s->file)) {
    status = cst__record_cache_get(scratch->kept.cache, s->file, &access->files[s->file].raw,
                                   s->begin, s->size, out, error);
  }
  if (status != CST_OK) {
    cst__error_add_file(error, cst__source_name(scratch->decoding.source, s->file));
  }
  return status;
}

static cst_status read_span(cst__access *access, cst__take_scratch *scratch, const span *s,
                            uint8_t *buffer, cst_error *error) {
  const uint8_t *kept = cst__regions_find(scratch->kept.regions, scratch->kept.num_regions, s->file,
                                          s->begin, s->size);
  if (kept == NULL) {
    CST__TRY(read_cached_span(access, scratch, s, &kept, error));
  }
  if (kept == NULL) {
    return cst__access_read(access, scratch->decoding.source, s->file, s->begin, buffer, s->size,
                            error);
  }
  memcpy(buffer, kept, s->size);
  return CST_OK;
}

/* The record has to be there as the index has it. */
static cst_status check_header(const cst_source *source, const cst__chunk *record,
                               cst__frame *frame, cst_error *error) {
  cst__framed framed = {.frames = frame, .max = 1};
  const size_t size = record->size;
  cst_status status = cst__framing_scan_chunk(source, record, &framed, error);
  if (status == CST_CORRUPT) {
    return cst__fail(error, CST_CORRUPT,
                     "it is damaged, or the file has changed: columnstone verify, or index it anew",
                     "no record begins where the index has one of %zu bytes", size);
  }
  if (status == CST_OK && (framed.count != 1 || framed.consumed != size)) {
    return cst__fail(error, CST_STATE, "rebuild the index: columnstone index",
                     "the index has a record of %zu bytes, the file has one of %llu", size,
                     (unsigned long long)(framed.count == 1 ? framed.consumed : framed.needed));
  }
  return status;
}

/* True for the last record of the file. */
static bool is_last(const cst__access_file *file, uint64_t row) {
  return file->first + (row - file->rows) + 1 == file->index->count;
}

/* Notes where the span's records lie in the block, each at its place in the caller's order. */
static cst_status frame_span(const cst__access *access, const cst_source *source, const span *s,
                             const wanted *order, cst__block *block, cst_error *error) {
  const cst__access_file *file = &access->files[s->file];
  for (size_t i = s->first; i < s->end; i++) {
    const uint64_t *at = offset_of(file, order[i].row);
    size_t begin = s->at + (size_t)(at[0] - s->begin);
    cst__frame *frame = &block->frames[order[i].place];
    const cst__chunk record = {block->data + begin, (size_t)(at[1] - at[0]),
                               is_last(file, order[i].row)};
    cst_status status = check_header(source, &record, frame, error);
    if (status != CST_OK) {
      cst__access_locate(access, source, order[i].row, error);
      return status;
    }
    frame->begin += begin;
  }
  return CST_OK;
}

/* Begins to load the first lines of a record that is soon to be copied out of a map or a region:
 * most of the time is spent waiting for them. */
static void load_ahead(const cst__access *access, const cst__take_scratch *scratch,
                       size_t file_number, size_t at, size_t count) {
  const cst__access_file *file = &access->files[file_number];
  bool is_open = atomic_load_explicit(&file->is_open, memory_order_acquire);
  const uint8_t *map = is_open ? file->raw.map : NULL;
  if (count - at <= AHEAD || (map == NULL && scratch->kept.num_regions == 0) ||
      scratch->order[at + AHEAD].row - file->rows >= file->count) {
    return;
  }
  const uint64_t *offset = offset_of(file, scratch->order[at + AHEAD].row);
  const uint8_t *record = cst__regions_find(scratch->kept.regions, scratch->kept.num_regions,
                                            file_number, offset[0], offset[1] - offset[0]);
  if (record == NULL && map != NULL && offset[1] <= file->raw.map_size) {
    record = map + offset[0];
  }
  for (size_t i = 0; i < 4 && record != NULL; i++) {
    __builtin_prefetch(record + i * 64);
  }
}

static cst_status fill_taken_block(cst__access *access, cst__take_scratch *scratch, size_t count,
                                   cst__block *block, cst_error *error) {
  const cst_source *source = scratch->decoding.source;
  const wanted *order = scratch->order;
  size_t done = 0;
  for (size_t first = 0; first < count;) {
    span s = next_span(access, source, order, count, first);
    s.at = block->size;
    if (cst__stretch_is_over(&done, s.size + SPAN_WORK)) {
      CST__TRY(cst__interrupted(error));
    }
    CST__TRY(read_span(access, scratch, &s, block->buffer + s.at, error));
    load_ahead(access, scratch, s.file, first, count);
    block->size += s.size;
    CST__TRY(frame_span(access, source, &s, order, block, error));
    first = s.end;
  }
  memset(block->buffer + block->size, 0, CST__BLOCK_PADDING);
  block->num_frames = count;
  return CST_OK;
}

/* With its framing. Spans of several records are no larger than LARGEST_SPAN. */
static uint64_t largest_record(const cst_source *source) {
  const uint64_t framing = source->inputs->container->most_framing;
  return source->options.values.max_record_size < UINT64_MAX - framing
             ? source->options.values.max_record_size + framing
             : UINT64_MAX;
}

static cst_status measure_rows(const cst__access *access, const cst_source *source,
                               const wanted *order, size_t count, size_t *size, cst_error *error) {
  size_t done = 0;
  *size = 0;
  for (size_t first = 0; first < count;) {
    if (cst__stretch_is_over(&done, SPAN_WORK)) {
      CST__TRY(cst__interrupted(error));
    }
    span s = next_span(access, source, order, count, first);
    if (s.size > LARGEST_SPAN && s.size > largest_record(source)) {
      (void)cst__fail(error, CST_LIMIT, "raise max_record_size, or rebuild the index",
                      "the index has a record of more than %llu bytes",
                      (unsigned long long)source->options.values.max_record_size);
      cst__access_locate(access, source, order[first].row, error);
      return CST_LIMIT;
    }
    if (!cst__add(*size, s.size, size)) {
      return cst__fail_memory(error, SIZE_MAX);
    }
    first = s.end;
  }
  return CST_OK;
}

static cst_status read_rows(cst__access *access, cst__take_scratch *scratch, size_t count,
                            cst__block **out, cst_error *error) {
  size_t size;
  CST__TRY(measure_rows(access, scratch->decoding.source, scratch->order, count, &size, error));
  cst__block *block = cst__block_take(access->pool, size > 0 ? size : 1);
  if (block == NULL || !cst__block_reserve_frames(block, count)) {
    if (block != NULL) {
      cst__block_release(block);
    }
    return cst__fail_memory(error, size);
  }
  block->data = block->buffer;
  cst_status status = fill_taken_block(access, scratch, count, block, error);
  if (status != CST_OK) {
    cst__block_release(block);
    return status;
  }
  *out = block;
  return CST_OK;
}

/* ---- from the cache ---- */

/* Where the cache has a row's record, of a size that is right; NULL: nowhere. */
static const uint8_t *cached_record(const cst__access *access, cst__take_scratch *scratch,
                                    uint64_t row, size_t *size, bool *last) {
  size_t number = cst__access_find(access, row);
  const cst__access_file *file = &access->files[number];
  const uint64_t *at = offset_of(file, row);
  uint64_t most = largest_record(scratch->decoding.source);
  if (!is_cached(access, scratch, number) || at[1] - at[0] > most) {
    return NULL;
  }
  *size = (size_t)(at[1] - at[0]);
  *last = is_last(file, row);
  return cst__record_cache_find(scratch->kept.cache, number, at[0], *size);
}

/* Begins to load a record that is soon to be looked at. */
static void load_cached_row(const cst__access *access, const cst__take_scratch *scratch,
                            uint64_t row) {
  if (row < access->num_rows) {
    size_t number = cst__access_find(access, row);
    const uint64_t *at = offset_of(&access->files[number], row);
    size_t size = at[1] - at[0] < LOADED ? (size_t)(at[1] - at[0]) : LOADED;
    const uint8_t *record = cst__record_cache_find(scratch->kept.cache, number, at[0], size);
    if (record != NULL) {
      cst__prefetch(record, size, LOADED);
    }
  }
}

/* Frames that point at the records in the cache, if all of them are there. A row that is not, or
 * that something is wrong with, is left to reading in the usual way. */
static cst_status frame_cached_rows(const cst__access *access, cst__take_scratch *scratch,
                                    const uint64_t *rows, size_t count, cst__block *block,
                                    cst_error *error) {
  const cst_source *source = scratch->decoding.source;
  size_t done = 0;
  block->data = cst__record_cache_data(scratch->kept.cache);
  for (size_t i = 0; i < count; i++) {
    cst__chunk record = {.size = 0};
    if (cst__stretch_is_over(&done, SPAN_WORK)) {
      CST__TRY(cst__interrupted(error));
    }
    if (count - i > 2 * AHEAD) {
      /* Where it lies, which load_cached_row asks for. */
      uint64_t row = rows[i + 2 * AHEAD];
      if (row < access->num_rows) {
        __builtin_prefetch(offset_of(&access->files[cst__access_find(access, row)], row));
      }
    }
    if (count - i > AHEAD) {
      load_cached_row(access, scratch, rows[i + AHEAD]);
    }
    record.data = rows[i] < access->num_rows
                      ? cached_record(access, scratch, rows[i], &record.size, &record.ends)
                      : NULL;
    if (record.data == NULL || check_header(source, &record, &block->frames[i], NULL) != CST_OK) {
      return CST_OK;
    }
    block->frames[i].begin += (size_t)(record.data - block->data);
  }
  block->num_frames = count;
  return CST_OK;
}

/* A block of frames into the cache; NULL in *out if the rows have to be read. Batches with views
 * outlive the cache. */
static cst_status find_cached_rows(cst__access *access, cst__take_scratch *scratch,
                                   const uint64_t *rows, size_t count, cst__block **out,
                                   cst_error *error) {
  const cst_source *source = scratch->decoding.source;
  *out = NULL;
  if (scratch->kept.cache == NULL ||
      (source->options.values.column_flags & CST_COLUMNS_BINARY_VIEWS)) {
    return CST_OK;
  }
  cst__block *block = cst__block_take(access->pool, 0);
  if (block == NULL) {
    return cst__fail_memory(error, sizeof *block);
  }
  cst_status status = cst__block_reserve_frames(block, count)
                          ? frame_cached_rows(access, scratch, rows, count, block, error)
                          : cst__fail_memory(error, count * sizeof(cst__frame));
  if (status == CST_OK && block->num_frames == count) {
    *out = block;
    return CST_OK;
  }
  cst__block_release(block);
  return status;
}

/* ---- decoding ---- */

static cst_status decode_rows(cst__access *access, cst__take_scratch *scratch, cst__block *block,
                              const uint64_t *rows, struct ArrowArray *out, cst_error *error) {
  const cst_source *source = scratch->decoding.source;
  cst_error own = CST_ERROR_INIT;
  if (block->num_frames > 0 &&
      !cst__unit_add(&scratch->unit, source, block, 0, block->num_frames)) {
    return cst__fail_memory(error, sizeof(cst__run));
  }
  cst_status status = cst__unit_decode(&scratch->unit, &scratch->decoding, NULL, out, &own);
  if (status != CST_OK) {
    if (scratch->decoding.bad_row < block->num_frames) {
      cst__access_locate(access, source, rows[scratch->decoding.bad_row], &own);
    }
    cst__error_copy(error, &own);
    cst__decoding_reset(&scratch->decoding);
  }
  return status;
}

static cst_status take_with(cst__access *access, cst__take_scratch *scratch, const uint64_t *rows,
                            size_t num_rows, struct ArrowArray *out, cst_error *error) {
  cst__block *block = NULL;
  scratch->access = access;
  scratch->rows = rows;
  CST__TRY(find_cached_rows(access, scratch, rows, num_rows, &block, error));
  if (block == NULL) {
    CST__TRY(order_rows(scratch, access, rows, num_rows, error));
    CST__TRY(read_rows(access, scratch, num_rows, &block, error));
  }
  cst_status status = decode_rows(access, scratch, block, rows, out, error);
  cst__block_release(block);
  return status;
}

/* A batch without rows needs no records. */
static cst_status take_nothing(cst_source *source, struct ArrowArray *out, cst_error *error) {
  struct ArrowSchema schema;
  CST__TRY(cst_source_arrow_schema(source, &schema, error));
  cst_status status = cst__concat(&schema, NULL, 0, &source->allocator, out, error);
  schema.release(&schema);
  return status;
}

/* Room for what a call finds out about the files of the cache. */
static cst_status reserve_looks(const cst__access *access, cst__take_scratch *scratch,
                                cst_error *error) {
  if (scratch->kept.cache != NULL && scratch->looks == NULL) {
    size_t size = access->num_files * sizeof(cached_look); /* less than that of the files */
    scratch->looks = cst__new_zero(&access->allocator, size);
    return scratch->looks != NULL ? CST_OK : cst__fail_memory(error, size);
  }
  return CST_OK;
}

cst_status cst__source_take_from(cst_source *source, const cst__kept_records *kept,
                                 const uint64_t *rows, size_t num_rows, struct ArrowArray *out,
                                 cst_error *error) {
  cst__access *access;
  if (num_rows == 0) {
    return take_nothing(source, out, error);
  }
  CST__TRY(cst__source_access(source, &access, error));
  CST__TRY(cst__source_prepare(source, error));
  CST__TRY(cst__source_bind(source, error));
  cst__take_scratch *scratch = borrow_scratch(access, source);
  if (scratch == NULL) {
    return cst__fail_memory(error, sizeof *scratch);
  }
  scratch->kept = *kept;
  scratch->call++;
  cst_status status = reserve_looks(access, scratch, error);
  if (status == CST_OK) {
    status = take_with(access, scratch, rows, num_rows, out, error);
  }
  return_scratch(access, scratch);
  return status;
}

cst_status cst_source_take(cst_source *source, const uint64_t *rows, size_t num_rows,
                           struct ArrowArray *out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(source, "source", out, error));
  if (rows == NULL && num_rows > 0) {
    return cst__missing("rows", error);
  }
  const cst__kept_records none = {.cache = NULL};
  return cst__source_take_from(source, &none, rows, num_rows, out, error);
}
