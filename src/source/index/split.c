/* Parts of a source as sources of their own, which share what the source has opened. */
#include "source/index/split.h"

#include <string.h>

#include "arrow/view.h"
#include "schema/schema.h"
#include "source/index/access.h"
#include "source/index/border.h"
#include "source/pass/whole.h"

/* ---- derived sources ---- */

/* What is set once, when a source is opened, lies between these two. */
enum {
  SHARED = offsetof(cst_source, allocator),
  SHARED_END = offsetof(cst_source, lock),
};

static cst_source *new_derived(cst_source *source, size_t max_files) {
  size_t bytes;
  cst_source *part = cst__new_zero(&source->allocator, sizeof *part);
  if (part == NULL) {
    return NULL;
  }
  memcpy((char *)part + SHARED, (const char *)source + SHARED, SHARED_END - SHARED);
  part->parent = cst__source_retain(source->parent != NULL ? source->parent : source);
  part->files = NULL;
  part->num_files = 0;
  part->owns_types = false;
  cst__refcount_init(&part->owners);
  cst__mutex_init(&part->lock);
  cst__condition_init(&part->found);
  if (cst__mul(max_files > 0 ? max_files : 1, sizeof *part->files, &bytes)) {
    part->files = cst__new_zero(&source->allocator, bytes);
  }
  if (part->files == NULL) {
    cst__source_release(part);
    return NULL;
  }
  return part;
}

void cst__source_free_derived(cst_source *source) {
  cst__access_free(source->access);
  for (size_t i = 0; i < source->num_files; i++) {
    cst__index_release(source->files[i].index);
  }
  cst__delete(source->files);
  cst__whole_free(source->whole);
  cst__schema_release(source->schema);
  if (source->arrow_schema.release != NULL) {
    source->arrow_schema.release(&source->arrow_schema);
  }
  if (source->owns_types && source->types.release != NULL) {
    source->types.release(&source->types);
  }
  cst__condition_destroy(&source->found);
  cst__mutex_destroy(&source->lock);
  cst__source_release(source->parent);
  cst__delete(source);
}

/* The columns are those of the whole source, so that all parts have the same: what a table (of
 * text) infers is given to the parts. */
static cst_status share_schema(cst_source *part, cst_source *source, cst_error *error) {
  bool infers = source->table != NULL && !source->table->any_size && !source->schema_given &&
                (source->types.release == NULL || source->owns_types);
  part->schema = cst__schema_retain(cst__source_known_schema(source));
  if (infers) {
    part->types = (struct ArrowSchema){.release = NULL};
    part->owns_types = true;
    CST__TRY(cst__source_arrow_schema(source, &part->types, error));
  }
  return source->payload == NULL && (source->table == NULL || part->num_files == 0)
             ? cst__source_arrow_schema(source, &part->arrow_schema, error)
             : CST_OK;
}

static cst_status finish(cst_source *part, cst_source *source, cst_source **out, cst_error *error) {
  cst_status status = share_schema(part, source, error);
  if (status != CST_OK) {
    cst__source_release(part);
    return status;
  }
  *out = part;
  return CST_OK;
}

/* Adds the bytes [begin, end) of a file of the source (end 0: to its end). */
static void add_part(cst_source *part, const cst_source *source, size_t i, uint64_t begin,
                     uint64_t end, int64_t first_record) {
  cst__source_file *file = &part->files[part->num_files++];
  cst__source_file *opened = cst__source_opened(source, i);
  *file = source->files[i];
  file->held.release = NULL;
  file->origin = opened;
  file->index = NULL;
  file->begin = begin;
  file->end = end;
  file->first_record = first_record;
  if (end != 0) {
    file->size = (int64_t)(end - begin);
  } else if (opened->size >= 0) {
    file->size = opened->size - (int64_t)begin;
  }
}

static void add_files(cst_source *part, const cst_source *source, size_t begin, size_t end) {
  for (; begin < end; begin++) {
    const cst__source_file *file = &source->files[begin];
    add_part(part, source, begin, file->begin, file->end, file->first_record);
  }
}

cst_status cst__source_derive(cst_source *source, cst_source **out, cst_error *error) {
  cst_source *part = new_derived(source, source->num_files);
  if (part == NULL) {
    return cst__fail_memory(error, sizeof *part);
  }
  add_files(part, source, 0, source->num_files);
  *out = part;
  return CST_OK;
}

/* ---- ranges of rows ---- */

static void add_rows(cst_source *part, const cst_source *source, const cst__access *access,
                     size_t i, uint64_t begin, uint64_t end) {
  const cst__access_file *file = &access->files[i];
  const cst__source_file *whole = &source->files[i];
  uint64_t low = begin > file->rows ? begin - file->rows : 0;
  uint64_t high = end < file->rows + file->count ? end - file->rows : file->count;
  const uint64_t *offsets = file->index->offsets + file->first;
  add_part(part, source, i, offsets[low], high == file->count ? whole->end : offsets[high],
           file->record < 0 ? -1 : file->record + (int64_t)low);
}

static cst_status take_range(cst_source *source, const cst__access *access, uint64_t begin,
                             uint64_t end, cst_source **out, cst_error *error) {
  CST__TRY(cst__source_prepare(source, error));
  cst_source *part = new_derived(source, source->num_files);
  if (part == NULL) {
    return cst__fail_memory(error, sizeof *part);
  }
  for (size_t i = 0; i < source->num_files; i++) {
    const cst__access_file *file = &access->files[i];
    if (begin < end && begin < file->rows + file->count && end > file->rows && file->count > 0) {
      add_rows(part, source, access, i, begin, end);
    }
  }
  return finish(part, source, out, error);
}

cst_status cst__source_range(cst_source *source, uint64_t begin, uint64_t end, cst_source **out,
                             cst_error *error) {
  cst__access *access;
  if (begin > end) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the range from row %llu to row %llu",
                     (unsigned long long)begin, (unsigned long long)end);
  }
  CST__TRY(cst__source_access(source, &access, error));
  end = end < access->num_rows ? end : access->num_rows;
  return take_range(source, access, begin, end, out, error);
}

/* ---- parts ---- */

static uint64_t multiply_divide(uint64_t a, uint64_t b, uint64_t c) {
  return (uint64_t)((__uint128_t)a * b / c);
}

cst_status cst__source_pick(cst_source *source, const size_t *files, size_t count, cst_source **out,
                            cst_error *error) {
  CST__TRY(cst__source_prepare(source, error));
  cst_source *part = new_derived(source, count);
  if (part == NULL) {
    return cst__fail_memory(error, sizeof *part);
  }
  for (size_t i = 0; i < count; i++) {
    const cst__source_file *file = &source->files[files[i]];
    add_part(part, source, files[i], file->begin, file->end, file->first_record);
  }
  return finish(part, source, out, error);
}

static cst_status split_files(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                              cst_error *error) {
  size_t begin = (size_t)multiply_divide(source->num_files, i, n);
  size_t end = (size_t)multiply_divide(source->num_files, i + (uint64_t)1, n);
  cst_source *part = new_derived(source, end - begin);
  if (part == NULL) {
    return cst__fail_memory(error, sizeof *part);
  }
  add_files(part, source, begin, end);
  return finish(part, source, out, error);
}

static cst_status split_rows(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                             cst_error *error) {
  cst__access *access;
  CST__TRY(cst__source_access(source, &access, error));
  return take_range(source, access, multiply_divide(access->num_rows, i, n),
                    multiply_divide(access->num_rows, i + (uint64_t)1, n), out, error);
}

/* Where a part begins: at a byte of a file; behind all parts, file is num_files. */
typedef struct place {
  size_t file;
  uint64_t offset;
} place;

/* The begin of part i of n: the record at the i-th n-th of all bytes, or behind it. */
static cst_status find_place(const cst_source *source, uint64_t total, uint32_t i, uint32_t n,
                             place *out, cst_error *error) {
  uint64_t rest = multiply_divide(total, i, n);
  size_t file = 0;
  *out = (place){source->num_files, 0};
  if (i == n || source->num_files == 0) {
    return CST_OK;
  }
  if (i == 0) {
    *out = (place){0, source->files[0].begin};
    return CST_OK;
  }
  while (file + 1 < source->num_files && rest >= (uint64_t)source->files[file].size) {
    rest -= (uint64_t)source->files[file++].size;
  }
  const cst__source_file *part = &source->files[file];
  uint64_t end = part->begin + (uint64_t)part->size;
  *out = (place){file, part->begin};
  if (rest == 0) {
    return CST_OK;
  }
  CST__TRY(cst__border_find(source, file, part->begin + rest, end, &out->offset, error));
  if (out->offset == end) {
    *out = (place){file + 1, file + 1 < source->num_files ? part[1].begin : 0};
  }
  return CST_OK;
}

static void add_between(cst_source *part, const cst_source *source, place from, place to) {
  for (size_t i = from.file; i < source->num_files && i <= to.file; i++) {
    const cst__source_file *file = &source->files[i];
    uint64_t begin = i == from.file ? from.offset : file->begin;
    uint64_t end = i == to.file ? to.offset : file->end;
    if (i < to.file || begin < end) {
      add_part(part, source, i, begin, end, begin == file->begin ? file->first_record : -1);
    }
  }
}

static cst_status split_bytes(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                              cst_error *error) {
  uint64_t total = (uint64_t)cst__source_total_bytes(source);
  place from;
  place to;
  CST__TRY(find_place(source, total, i, n, &from, error));
  CST__TRY(find_place(source, total, i + 1, n, &to, error));
  cst_source *part = new_derived(source, source->num_files);
  if (part == NULL) {
    return cst__fail_memory(error, sizeof *part);
  }
  add_between(part, source, from, to);
  return finish(part, source, out, error);
}

/* True if no file is compressed. */
static cst_status are_plain(const cst_source *source, bool *plain, cst_error *error) {
  *plain = true;
  for (size_t i = 0; i < source->num_files && *plain; i++) {
    cst__input *input;
    cst_error own = CST_ERROR_INIT;
    CST__TRY(cst__source_open_input(source, i, &input, error));
    *plain = cst__input_compression(input, &own) == CST__PLAIN;
    cst__input_close(input);
    if (own.code != CST_OK) {
      cst__error_copy(error, &own);
      return own.code;
    }
  }
  return CST_OK;
}

cst_status cst__source_divide(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                              cst_error *error) {
  bool plain = false;
  if (source->payload != NULL && cst__source_total_bytes(source) >= 0) {
    CST__TRY(are_plain(source, &plain, error));
  }
  return plain ? split_bytes(source, i, n, out, error) : split_files(source, i, n, out, error);
}

cst_status cst__source_split(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                             cst_error *error) {
  bool indexed = false;
  if (!source->rereadable) {
    return cst__fail(error, CST_UNSUPPORTED, "save it to a file first",
                     "the input can be read only once, from its begin to its end");
  }
  if (source->payload != NULL) {
    CST__TRY(cst__source_has_sidecars(source, &indexed, error));
  }
  if (indexed) {
    return split_rows(source, i, n, out, error);
  }
  CST__TRY(cst__source_prepare(source, error));
  return cst__source_divide(source, i, n, out, error);
}
