/* One shared mapping: the chunks of all files, and after them the state of each. */
#include "source/index/record_cache.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "base/os.h"

enum { CHUNK_BITS = 16, CHUNK = 1 << CHUNK_BITS, PADDING = 64 };

typedef enum chunk_state { CHUNK_ABSENT, CHUNK_IS_READ, CHUNK_PRESENT } chunk_state;

/* What of a file is kept, and which file it was. */
typedef struct cached_file {
  uint64_t begin; /* in the file, of its first chunk */
  uint64_t end;
  size_t first;  /* number of its first chunk */
  size_t chunks; /* with the padding after the end */
  struct stat identity;
} cached_file;

struct cst__record_cache {
  uint64_t bytes; /* of the files */
  size_t num_files;
  uint8_t *data;
  size_t mapped;
  atomic_uchar *states; /* of the chunks, in the mapping */
  cached_file files[];
};

static bool is_unchanged_file(const struct stat *a, const struct stat *b) {
  const struct timespec x = cst__os_modified(a);
  const struct timespec y = cst__os_modified(b);
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
         x.tv_sec == y.tv_sec && x.tv_nsec == y.tv_nsec;
}

const uint8_t *cst__record_cache_data(const cst__record_cache *cache) { return cache->data; }

bool cst__record_cache_fits(const cst__record_cache *cache, size_t file, const cst__raw *raw) {
  struct stat info;
  return raw->fd >= 0 && fstat(raw->fd, &info) == 0 &&
         is_unchanged_file(&info, &cache->files[file].identity);
}

/* ---- making ---- */

/* Notes which file a part is of; false: its records cannot be kept. */
static bool add_cached_file(cst__record_cache *cache, const cst__part *part, size_t *chunks) {
  cached_file *file = &cache->files[cache->num_files];
  if (!part->file->regular || part->packed || stat(part->file->name, &file->identity) != 0 ||
      !S_ISREG(file->identity.st_mode)) {
    return false;
  }
  file->begin = part->begin;
  file->end = part->end > 0 ? part->end : (uint64_t)file->identity.st_size;
  if (file->end < file->begin || file->end - file->begin > SIZE_MAX / 4 - cache->bytes) {
    return false;
  }
  file->first = *chunks;
  cache->bytes += file->end - file->begin;
  file->chunks = (size_t)((file->end - file->begin + PADDING + CHUNK - 1) >> CHUNK_BITS);
  *chunks += file->chunks;
  cache->num_files++;
  return true;
}

/* Memory that is there when it is written to, and that forked processes share. */
static bool map_record_cache(cst__record_cache *cache, size_t chunks) {
  size_t size = chunks << CHUNK_BITS;
  if (chunks > (SIZE_MAX / 2) >> CHUNK_BITS) {
    return false;
  }
  void *data = mmap(NULL, size + chunks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return false;
  }
  cache->data = data;
  cache->mapped = size + chunks;
  cache->states = (atomic_uchar *)(cache->data + size); /* zero: all are absent */
  return true;
}

void cst__record_cache_free(cst__record_cache *cache) {
  if (cache != NULL) {
    if (cache->data != NULL) {
      (void)munmap(cache->data, cache->mapped);
    }
    cst__delete(cache);
  }
}

static cst_status make_record_cache(const cst_source *source, uint64_t budget,
                                    cst__record_cache **out, cst_error *error) {
  size_t chunks = 0;
  size_t size;
  *out = NULL;
  if (!cst__mul(source->num_parts, sizeof(cached_file), &size) ||
      !cst__add(size, sizeof(cst__record_cache), &size)) {
    return cst__fail_memory(error, SIZE_MAX);
  }
  cst__record_cache *cache = cst__new_zero(&source->allocator, size);
  if (cache == NULL) {
    return cst__fail_memory(error, size);
  }
  bool possible = source->num_parts > 0;
  for (size_t i = 0; i < source->num_parts && possible; i++) {
    possible = add_cached_file(cache, &source->parts[i], &chunks) && cache->bytes <= budget;
  }
  if (!possible || !map_record_cache(cache, chunks)) {
    cst__record_cache_free(cache);
    return CST_OK;
  }
  *out = cache;
  return CST_OK;
}

cst_status cst__source_record_cache(cst_source *source, uint64_t budget, cst__record_cache **out,
                                    cst_error *error) {
  cst_status status = CST_OK;
  *out = NULL;
  if (budget == 0 || source->inputs->format.payload == NULL || !source->inputs->rereadable ||
      (source->options.values.flags & CST_SOURCE_MEMORY_MAP)) {
    return CST_OK;
  }
  cst__mutex_lock(&source->lock);
  if (source->found.record_cache == NULL) {
    status = make_record_cache(source, budget, &source->found.record_cache, error);
  }
  cst__record_cache *cache = source->found.record_cache;
  *out = cache != NULL && cache->bytes <= budget ? cache : NULL;
  cst__mutex_unlock(&source->lock);
  return status;
}

/* ---- reading ---- */

/* Reads a chunk that nobody else reads. One that is not whole stays absent. */
static cst_status read_chunk(cst__record_cache *cache, const cached_file *file, const cst__raw *raw,
                             size_t number, cst_error *error) {
  uint64_t begin = file->begin + ((uint64_t)number << CHUNK_BITS);
  uint64_t rest = begin < file->end ? file->end - begin : 0;
  size_t size = rest < CHUNK ? (size_t)rest : CHUNK;
  size_t got = 0;
  size_t chunk = file->first + number;
  cst_status status =
      cst__raw_read_at(raw, begin, cache->data + (chunk << CHUNK_BITS), size, &got, error);
  bool present = status == CST_OK && got == size;
  atomic_store_explicit(&cache->states[chunk], present ? CHUNK_PRESENT : CHUNK_ABSENT,
                        memory_order_release);
  return status;
}

/* The chunks of bytes of a file and of the padding after them: [*first, *end). False: some of the
 * bytes are not the source's. */
static bool find_chunks(const cached_file *file, uint64_t begin, size_t size, size_t *first,
                        size_t *end) {
  if (begin < file->begin || begin > file->end || size > file->end - begin) {
    return false;
  }
  size_t offset = (size_t)(begin - file->begin);
  *first = offset >> CHUNK_BITS;
  *end = ((offset + size + PADDING - 1) >> CHUNK_BITS) + 1;
  return true;
}

const uint8_t *cst__record_cache_find(const cst__record_cache *cache, size_t file, uint64_t begin,
                                      size_t size) {
  const cached_file *cached = &cache->files[file];
  size_t first;
  size_t end;
  if (!find_chunks(cached, begin, size, &first, &end)) {
    return NULL;
  }
  for (size_t i = first; i < end; i++) {
    if (atomic_load_explicit(&cache->states[cached->first + i], memory_order_acquire) !=
        CHUNK_PRESENT) {
      return NULL;
    }
  }
  return cache->data + (cached->first << CHUNK_BITS) + (begin - cached->begin);
}

cst_status cst__record_cache_get(cst__record_cache *cache, size_t file, const cst__raw *raw,
                                 uint64_t begin, size_t size, const uint8_t **out,
                                 cst_error *error) {
  const cached_file *cached = &cache->files[file];
  size_t first;
  size_t end;
  *out = NULL;
  if (!find_chunks(cached, begin, size, &first, &end)) {
    return CST_OK;
  }
  for (size_t i = first; i < end; i++) {
    unsigned char absent = CHUNK_ABSENT;
    if (atomic_compare_exchange_strong(&cache->states[cached->first + i], &absent, CHUNK_IS_READ)) {
      CST__TRY(read_chunk(cache, cached, raw, i, error));
    }
  }
  *out = cst__record_cache_find(cache, file, begin, size);
  return CST_OK;
}
