/* Making indexes, and keeping them in files. */
#include "source/index/index.h"

#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/crc32c.h"
#include "io/output.h"
#include "io/raw.h"
#include "source/block/cursor.h"

_Static_assert(sizeof(cst__index_head) == 32, "the layout of the file");

enum { HEAD = sizeof(cst__index_head), FOOT = 4, STEP = 1 << 20, PROGRESS_BYTES = 16 << 20 };
static const char magic[8] = {'C', 'S', 'T', 'I', 'N', 'D', 'E', 'X'};

/* ---- in memory ---- */

static cst_index *new_index(const cst__container *container, const cst_allocator *allocator) {
  cst_index *index = cst__new_zero(allocator, sizeof *index);
  if (index != NULL) {
    cst__refcount_init(&index->owners);
    index->allocator = cst__allocator_of(allocator);
    index->container = container;
  }
  return index;
}

cst_index *cst__index_retain(cst_index *index) {
  cst__refcount_up(&index->owners);
  return index;
}

uint64_t cst_index_num_records(const cst_index *index) { return index != NULL ? index->count : 0; }

void cst_index_record(const cst_index *index, uint64_t i, uint64_t *offset, uint64_t *size) {
  CST__CLEAR(offset);
  CST__CLEAR(size);
  if (index == NULL || i >= index->count || offset == NULL || size == NULL) {
    return;
  }
  const uint64_t *at = &index->offsets[i];
  *offset = at[0];
  *size = index->container->payload_size(at[1] - at[0]);
}

void cst_index_free(cst_index *index) {
  if (index != NULL && cst__refcount_down(&index->owners)) {
    cst__delete(index->offsets);
    cst__delete(index);
  }
}

/* Makes room for `count` records and the end after them. */
static cst_status reserve_offsets(cst_index *index, uint64_t count, cst_error *error) {
  void *offsets = index->offsets;
  bool fits = count < SIZE_MAX / sizeof(uint64_t) - 1;
  bool done = fits && cst__grow(&index->allocator, &offsets, &index->capacity, (size_t)count + 1,
                                sizeof *index->offsets);
  index->offsets = offsets;
  return done ? CST_OK
              : cst__fail_memory(error, fits ? (size_t)(count + 1) * sizeof(uint64_t) : SIZE_MAX);
}

uint64_t cst__index_find(const cst_index *index, uint64_t offset) {
  uint64_t low = 0;
  uint64_t high = index->count;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    if (index->offsets[middle] < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* ---- walking over frames ---- */

static cst_status fail_compressed(const char *file, cst_error *error) {
  (void)cst__fail(error, CST_UNSUPPORTED,
                  "write it again without compression: columnstone merge A.gz B",
                  "the file is compressed: its records have no random access");
  cst__error_add_file(error, file);
  return CST_UNSUPPORTED;
}

static cst_status add_block_offsets(cst_index *index, const cst__block *block, cst_error *error) {
  CST__TRY(reserve_offsets(index, index->count + block->num_frames, error));
  uint64_t *out = index->offsets + index->count;
  for (size_t i = 0; i < block->num_frames; i++) {
    out[i] = block->offset + cst__frame_start(&block->frames[i]);
  }
  index->count += block->num_frames;
  return CST_OK;
}

typedef struct walk {
  cst_index *index;
  cst__cursor *cursor;
  cst_progress_callback on_progress;
  void *ctx;
  uint64_t told; /* bytes at the last call of on_progress */
} walk;

static cst_status report_walk(walk *w, cst_error *error) {
  if (w->on_progress == NULL || w->cursor->consumed - w->told < PROGRESS_BYTES) {
    return CST_OK;
  }
  w->told = w->cursor->consumed;
  return w->on_progress(w->ctx, w->told, w->index->count)
             ? CST_OK
             : cst__fail(error, CST_CALLBACK, NULL, "the progress callback stopped the indexing");
}

static cst_status walk_file(walk *w, cst_error *error) {
  const cst_source *source = w->cursor->framing.source;
  for (;;) {
    cst__block *block;
    CST__TRY(cst__cursor_fill(w->cursor, &block, error));
    if (block == NULL) {
      break;
    }
    cst_status status =
        w->cursor->compressed
            ? fail_compressed(cst__source_name(source, w->cursor->framing.file), error)
            : add_block_offsets(w->index, block, error);
    cst__block_release(block);
    CST__TRY(status);
    CST__TRY(report_walk(w, error));
  }
  if (w->cursor->compressed) { /* and empty */
    return fail_compressed(cst__source_name(source, w->cursor->framing.file), error);
  }
  CST__TRY(reserve_offsets(w->index, w->index->count, error));
  w->index->offsets[w->index->count] = w->cursor->framing.offset;
  return CST_OK;
}

static cst_status walk_with(walk *w, const cst_source *source, cst__pool *pool, size_t file,
                            cst_error *error) {
  w->index = new_index(source->inputs->container, &source->allocator);
  w->cursor = cst__cursor_new(source, pool, file);
  if (w->index == NULL || w->cursor == NULL) {
    return cst__fail_memory(error, sizeof *w->cursor);
  }
  w->cursor->framing.recover = false; /* the records of an index follow each other without gaps */
  if (!(source->options.values.flags & CST_SOURCE_MEMORY_MAP)) {
    cst__cursor_skim(w->cursor);
  }
  return walk_file(w, error);
}

cst_status cst__index_walk(const cst_source *source, size_t file, cst_progress_callback on_progress,
                           void *ctx, cst_index **out, cst_error *error) {
  walk w = {.on_progress = on_progress, .ctx = ctx};
  cst__pool *pool = cst__pool_new(&source->allocator);
  if (pool == NULL) {
    return cst__fail_memory(error, sizeof(void *));
  }
  cst_status status = walk_with(&w, source, pool, file, error);
  cst__cursor_free(w.cursor);
  cst__pool_release(pool);
  if (status != CST_OK) {
    cst_index_free(w.index);
    return status;
  }
  *out = w.index;
  return CST_OK;
}

/* ---- the data ---- */

/* Reads all of [offset, offset + size). */
static cst_status read_exact(const cst__raw *raw, uint64_t offset, void *buffer, size_t size,
                             cst_error *error) {
  size_t got;
  cst_status status = cst__raw_read_at(raw, offset, buffer, size, &got, error);
  if (status == CST_OK && got < size) {
    status = cst__fail(error, CST_IO, "retry when no process is writing the file",
                       "the file became shorter while it was read");
  }
  return status;
}

static cst_status hash_ends(const cst__raw *raw, uint8_t *buffer, cst__identity *out,
                            cst_error *error) {
  uint64_t size = (uint64_t)raw->size;
  size_t end = size < CST__INDEX_IDENTITY ? (size_t)size : CST__INDEX_IDENTITY;
  CST__TRY(read_exact(raw, 0, buffer, end, error));
  uint32_t crc = cst__crc32c(0, buffer, end);
  CST__TRY(read_exact(raw, size - end, buffer, end, error));
  *out = (cst__identity){size, cst__crc32c(crc, buffer, end)};
  return CST_OK;
}

static cst_status identify_open(const cst__raw *raw, const cst_allocator *allocator,
                                cst__identity *out, cst_error *error) {
  if (raw->size < 0 || !raw->at_any_offset) {
    return cst__fail(error, CST_UNSUPPORTED, "save it to a file first",
                     "only regular files are indexed");
  }
  uint8_t *buffer = cst__new(allocator, CST__INDEX_IDENTITY);
  if (buffer == NULL) {
    return cst__fail_memory(error, CST__INDEX_IDENTITY);
  }
  cst_status status = hash_ends(raw, buffer, out, error);
  cst__delete(buffer);
  return status;
}

cst_status cst__index_identify(const char *path, const cst_allocator *allocator, cst__identity *out,
                               cst_error *error) {
  cst__raw raw;
  CST__TRY(cst__raw_open(&raw, path, allocator, error));
  cst_status status = identify_open(&raw, allocator, out, error);
  if (status != CST_OK) {
    cst__error_add_file(error, raw.name);
  }
  cst__raw_close(&raw);
  return status;
}

/* ---- the file ---- */

/* The version, and in its upper half the number of the container. */
static uint32_t version_of(const cst__container *container) {
  uint32_t number = 0;
  while (cst__container_get(number) != container) {
    number++;
  }
  return number << 16 | CST__INDEX_VERSION;
}

/* The path of the index of `path`: cst__delete. */
static cst_status name_index_file(const char *path, const cst_allocator *allocator, char **out,
                                  cst_error *error) {
  static const char ending[] = ".cstidx";
  size_t size = strlen(path);
  *out = cst__new(allocator, size + sizeof ending);
  if (*out == NULL) {
    return cst__fail_memory(error, size + sizeof ending);
  }
  memcpy(*out, path, size);
  memcpy(*out + size, ending, sizeof ending);
  return CST_OK;
}

static cst_status write_index_file(const cst_index *index, cst__output *output, cst_error *error) {
  cst__index_head head = {.version = version_of(index->container),
                          .data_crc = index->identity.crc,
                          .data_size = index->identity.size,
                          .num_records = index->count};
  memcpy(head.magic, magic, sizeof magic);
  size_t bytes = (size_t)index->count * sizeof *index->offsets;
  uint32_t crc = cst__crc32c(cst__crc32c(0, &head, HEAD), index->offsets, bytes);
  CST__TRY(cst__output_write(output, &head, HEAD, error));
  CST__TRY(cst__output_write(output, index->offsets, bytes, error));
  CST__TRY(cst__output_write(output, &crc, FOOT, error));
  return cst__output_finish(output, error);
}

cst_status cst_index_save(const cst_index *index, const char *path, cst_error *error) {
  if (index == NULL || path == NULL) {
    return cst__missing(index == NULL ? "index" : "path", error);
  }
  char *name;
  cst__output *output;
  CST__TRY(name_index_file(path, &index->allocator, &name, error));
  cst_status status = cst__output_open_beside(name, &index->allocator, &output, error);
  cst__delete(name);
  CST__TRY(status);
  status = write_index_file(index, output, error);
  cst__output_free(output);
  return status;
}

static cst_status fail_damaged(cst_error *error, const char *what) {
  return cst__fail(error, CST_CORRUPT, "rebuild it: columnstone index", "%s", what);
}

/* Reads the offsets step by step: what a damaged head claims is not allocated. */
static cst_status read_offsets(const cst__raw *raw, const cst__index_head *head, cst_index *index,
                               uint32_t *crc, cst_error *error) {
  while (index->count < head->num_records) {
    uint64_t rest = head->num_records - index->count;
    size_t step = rest < STEP ? (size_t)rest : STEP;
    size_t bytes = step * sizeof *index->offsets;
    CST__TRY(reserve_offsets(index, index->count + step, error));
    uint64_t *out = index->offsets + index->count;
    CST__TRY(read_exact(raw, HEAD + index->count * sizeof *out, out, bytes, error));
    *crc = cst__crc32c(*crc, out, bytes);
    index->count += step;
  }
  CST__TRY(reserve_offsets(index, index->count, error));
  index->offsets[index->count] = head->data_size;
  return CST_OK;
}

static cst_status read_index_head(const cst__raw *raw, cst__index_head *head, cst_error *error) {
  if (raw->size < HEAD + FOOT) {
    return fail_damaged(error, "the index is truncated");
  }
  CST__TRY(read_exact(raw, 0, head, HEAD, error));
  if (memcmp(head->magic, magic, sizeof magic) != 0) {
    return fail_damaged(error, "the file is not an index");
  }
  if ((head->version & 0xffff) > CST__INDEX_VERSION ||
      cst__container_get(head->version >> 16) == NULL) { /* nothing else of it is known */
    return cst__fail(error, CST_UNSUPPORTED, "rebuild it: columnstone index",
                     "index of version %u, this library reads version %d", (unsigned)head->version,
                     (int)CST__INDEX_VERSION);
  }
  if ((head->version & 0xffff) != CST__INDEX_VERSION) {
    return fail_damaged(error, "the index has an invalid version");
  }
  uint64_t room = (uint64_t)raw->size - HEAD - FOOT;
  if (head->num_records != room / sizeof(uint64_t) || room % sizeof(uint64_t) != 0) {
    return fail_damaged(error, "the size of the index does not match its number of records");
  }
  return CST_OK;
}

static cst_status read_index_file(const cst__raw *raw, cst_index *index, cst_error *error) {
  cst__index_head head;
  uint32_t stored;
  CST__TRY(read_index_head(raw, &head, error));
  uint32_t crc = cst__crc32c(0, &head, HEAD);
  CST__TRY(read_offsets(raw, &head, index, &crc, error));
  CST__TRY(read_exact(raw, (uint64_t)raw->size - FOOT, &stored, FOOT, error));
  if (stored != crc) {
    return fail_damaged(error, "the checksum of the index is wrong");
  }
  index->identity = (cst__identity){head.data_size, head.data_crc};
  index->container = cst__container_get(head.version >> 16);
  index->loaded = true;
  /* What a file with the right checksum may still say only if nobody meant well. */
  const uint64_t framing = index->container->least_framing;
  const uint64_t least = index->container->is_whole ? 0 : framing > 0 ? framing : 1;
  const uint64_t *offsets = index->offsets;
  bool sound = offsets[0] == 0;
  for (uint64_t i = 0; i < index->count; i++) {
    sound &= offsets[i + 1] >= offsets[i] && offsets[i + 1] - offsets[i] >= least;
  }
  sound &= !index->container->is_whole || index->count == 1;
  return sound ? CST_OK : fail_damaged(error, "the offsets of the index are out of order");
}

static cst_status check_identity(const cst_index *index, const char *path, cst_error *error) {
  cst__identity found;
  CST__TRY(cst__index_identify(path, &index->allocator, &found, error));
  if (found.size == index->identity.size && found.crc == index->identity.crc) {
    return CST_OK;
  }
  (void)cst__fail(error, CST_STATE, "rebuild it: columnstone index",
                  "the index belongs to other data: %llu bytes, the file has %llu%s",
                  (unsigned long long)index->identity.size, (unsigned long long)found.size,
                  found.size == index->identity.size ? ", which differ" : "");
  cst__error_add_file(error, path);
  return CST_STATE;
}

static cst_status load_index_file(const char *name, cst_index *index, cst_error *error) {
  cst__raw raw;
  CST__TRY(cst__raw_open(&raw, name, &index->allocator, error));
  cst_status status = raw.size >= 0 && raw.at_any_offset
                          ? read_index_file(&raw, index, error)
                          : fail_damaged(error, "the index is not a regular file");
  if (status != CST_OK) {
    cst__error_add_file(error, name);
  }
  cst__raw_close(&raw);
  return status;
}

cst_status cst_index_open(const char *path, const cst_allocator *allocator, cst_index **out,
                          cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(path, "path", out, error));
  CST__TRY(cst__check_allocator(allocator, error));
  char *name;
  cst_index *index = new_index(NULL, allocator); /* its head tells the container */
  if (index == NULL) {
    return cst__fail_memory(error, sizeof *index);
  }
  cst_status status = name_index_file(path, allocator, &name, error);
  if (status == CST_OK) {
    status = load_index_file(name, index, error);
    cst__delete(name);
  }
  if (status == CST_OK) {
    status = check_identity(index, path, error);
  }
  if (status != CST_OK) {
    cst_index_free(index);
    return status;
  }
  *out = index;
  return CST_OK;
}
