/* Parts of a source as sources of their own, which share what the source has opened. */
#include "source/index/parts.h"

#include <columnstone/index.h>
#include <string.h>

#include "base/arguments.h"
#include "schema/schema.h"
#include "source/index/access.h"
#include "source/index/boundary.h"
#include "source/input/prepare.h"
#include "source/pass/arrow_schema.h"

/* ---- parts of files ---- */

/* What a part of a source reads, while it is put together. */
typedef struct part_list {
  cst__part *items;
  size_t count;
} part_list;

static cst_status new_parts(const cst_source *source, size_t most, part_list *out,
                            cst_error *error) {
  size_t bytes;
  out->count = 0;
  if (!cst__mul(most > 0 ? most : 1, sizeof *out->items, &bytes)) {
    return cst__fail_memory(error, SIZE_MAX);
  }
  out->items = cst__new_zero(&source->allocator, bytes);
  return out->items != NULL ? CST_OK : cst__fail_memory(error, bytes);
}

/* Adds the bytes [begin, end) of a plain file of the source (end 0: to its end). */
static void add_part(part_list *list, const cst_source *source, size_t i, uint64_t begin,
                     uint64_t end, int64_t first_record) {
  const cst__part *from = &source->parts[i];
  int64_t size = end != 0                ? (int64_t)(end - begin)
                 : from->file->size >= 0 ? from->file->size - (int64_t)begin
                                         : from->size;
  list->items[list->count++] = (cst__part){
      .file = from->file, .begin = begin, .end = end, .size = size, .first_record = first_record};
}

static void split_add_file(part_list *list, const cst_source *source, size_t i) {
  list->items[list->count] = source->parts[i];
  list->items[list->count++].index = NULL;
}

/* The columns are those of the whole source, so that all parts have the same: what a table (of
 * text) infers is given to the parts. */
static cst_status share_found(cst_source *part, cst_source *source, cst_error *error) {
  const cst__format *format = &source->inputs->format;
  const cst__reading_options *options = &source->options;
  bool infers = format->table != NULL && !format->table->any_size &&
                options->values.schema == NULL && options->types == NULL;
  if (options->values.schema == NULL) {
    part->found.schema = cst_schema_retain(cst__source_known_schema(source));
    part->found.sampled = source->found.sampled;
  }
  part->found.chain = cst__chain_retain((cst__chain *)(uintptr_t)cst__source_bound_chain(source));
  if (infers) {
    struct ArrowSchema types;
    CST__TRY(cst__source_decoded_schema(source, &types, error));
    part->found.types = cst__types_new(&types, &source->allocator);
    if (part->found.types == NULL) {
      return cst__fail_memory(error, sizeof *part->found.types);
    }
  }
  return format->payload == NULL && (format->table == NULL || part->num_parts == 0)
             ? cst__source_decoded_schema(source, &part->found.arrow_schema, error)
             : CST_OK;
}

/* The source of these parts, which are freed. */
static cst_status make_source(part_list *list, cst_source *source, cst_source **out,
                              cst_error *error) {
  cst_source *part;
  cst_status status = cst__source_with(source, list->items, list->count, NULL, &part, error);
  cst__delete(list->items);
  CST__TRY(status);
  status = share_found(part, source, error);
  if (status != CST_OK) {
    cst_source_release(part);
    return status;
  }
  *out = part;
  return CST_OK;
}

/* ---- ranges of rows ---- */

static void add_rows(part_list *list, const cst_source *source, const cst__access *access, size_t i,
                     uint64_t begin, uint64_t end) {
  const cst__access_file *file = &access->files[i];
  uint64_t low = begin > file->rows ? begin - file->rows : 0;
  uint64_t high = end < file->rows + file->count ? end - file->rows : file->count;
  const uint64_t *offsets = file->index->offsets + file->first;
  add_part(list, source, i, offsets[low],
           high == file->count ? source->parts[i].end : offsets[high],
           file->record < 0 ? -1 : file->record + (int64_t)low);
}

static cst_status take_range(cst_source *source, const cst__access *access, uint64_t begin,
                             uint64_t end, cst_source **out, cst_error *error) {
  part_list list;
  CST__TRY(cst__source_prepare(source, error));
  CST__TRY(new_parts(source, source->num_parts, &list, error));
  for (size_t i = 0; i < source->num_parts; i++) {
    const cst__access_file *file = &access->files[i];
    if (begin < end && begin < file->rows + file->count && end > file->rows && file->count > 0) {
      add_rows(&list, source, access, i, begin, end);
    }
  }
  return make_source(&list, source, out, error);
}

cst_status cst_source_range(cst_source *source, uint64_t begin, uint64_t end, cst_source **out,
                            cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(source, "source", out, error));
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
  part_list list;
  CST__TRY(cst__source_prepare(source, error));
  CST__TRY(new_parts(source, count, &list, error));
  for (size_t i = 0; i < count; i++) {
    split_add_file(&list, source, files[i]);
  }
  return make_source(&list, source, out, error);
}

static cst_status split_files(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                              cst_error *error) {
  size_t begin = (size_t)multiply_divide(source->num_parts, i, n);
  size_t end = (size_t)multiply_divide(source->num_parts, i + (uint64_t)1, n);
  part_list list;
  CST__TRY(new_parts(source, end - begin, &list, error));
  for (; begin < end; begin++) {
    split_add_file(&list, source, begin);
  }
  return make_source(&list, source, out, error);
}

static cst_status split_rows(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                             cst_error *error) {
  cst__access *access;
  CST__TRY(cst__source_access_records(source, &access, error));
  return take_range(source, access, multiply_divide(access->num_rows, i, n),
                    multiply_divide(access->num_rows, i + (uint64_t)1, n), out, error);
}

/* Where a part begins: at a byte of a file; after all parts, file is num_parts. */
typedef struct place {
  size_t file;
  uint64_t offset; /* in the stream */
  uint64_t disk;   /* about where that is in the file */
  bool packed;     /* it was reached by restart points */
} place;

/* The place of the first record at a byte of a part or after it. */
static cst_status find_place_after(const cst_source *source, size_t file, uint64_t disk, place *out,
                                   cst_error *error) {
  const cst__part *part = &source->parts[file];
  cst__entry_point entry;
  CST__TRY(cst__source_entry(source, file, disk, &entry, error));
  uint64_t end = entry.packed ? entry.size : part->begin + (uint64_t)part->size;
  *out = (place){file, end, disk, entry.packed};
  if (entry.point < end) {
    CST__TRY(cst__boundary_find(source, file, entry.point, end, &out->offset, error));
  }
  if (out->offset == end) {
    *out = (place){file + 1, file + 1 < source->num_parts ? part[1].begin : 0, 0, false};
  }
  return CST_OK;
}

/* The begin of part i of n: the record at the i-th n-th of all bytes, or after it. */
static cst_status find_place(const cst_source *source, uint64_t total, uint32_t i, uint32_t n,
                             place *out, cst_error *error) {
  uint64_t rest = multiply_divide(total, i, n);
  size_t file = 0;
  *out = (place){source->num_parts, 0, 0, false};
  if (i == n || source->num_parts == 0) {
    return CST_OK;
  }
  if (i == 0) {
    *out = (place){0, source->parts[0].begin, 0, false};
    return CST_OK;
  }
  while (file + 1 < source->num_parts && rest >= (uint64_t)source->parts[file].size) {
    rest -= (uint64_t)source->parts[file++].size;
  }
  *out = (place){file, source->parts[file].begin, 0, false};
  return rest > 0 ? find_place_after(source, file, source->parts[file].begin + rest, out, error)
                  : CST_OK;
}

static cst_status split_bytes(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                              cst_error *error) {
  uint64_t total = (uint64_t)cst_source_total_bytes(source);
  place from;
  place to;
  part_list list;
  CST__TRY(find_place(source, total, i, n, &from, error));
  CST__TRY(find_place(source, total, i + 1, n, &to, error));
  CST__TRY(new_parts(source, source->num_parts, &list, error));
  for (size_t at = from.file; at < source->num_parts && at <= to.file; at++) {
    const cst__part *part = &source->parts[at];
    uint64_t begin = at == from.file ? from.offset : part->begin;
    uint64_t end = at == to.file ? to.offset : part->end;
    if (at == to.file && begin >= end) {
      continue;
    }
    bool packed = (at == from.file && from.packed) || (at == to.file && to.packed);
    add_part(&list, source, at, begin, end, begin == part->begin ? part->first_record : -1);
    if (packed) {
      uint64_t disk = at == from.file ? from.disk : 0;
      cst__part *added = &list.items[list.count - 1];
      added->packed = true;
      added->size = (int64_t)((at == to.file ? to.disk : (uint64_t)part->file->size) - disk);
    }
  }
  return make_source(&list, source, out, error);
}

/* True if all files can be entered in their middle; one with restart points only as a whole, and
 * only if it has records. */
static cst_status are_divisible(const cst_source *source, bool *divisible, cst_error *error) {
  *divisible = true;
  for (size_t i = 0; i < source->num_parts && *divisible; i++) {
    const cst__part *part = &source->parts[i];
    cst__entry_point entry;
    CST__TRY(cst__source_entry(source, i, 0, &entry, error));
    *divisible = entry.possible && (!entry.packed || (source->inputs->format.payload != NULL &&
                                                      part->begin == 0 && part->end == 0));
  }
  return CST_OK;
}

cst_status cst__source_divide(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                              cst_error *error) {
  bool divisible = false;
  if (cst__inputs_divide(source->inputs) && cst_source_total_bytes(source) >= 0) {
    CST__TRY(are_divisible(source, &divisible, error));
  }
  return divisible ? split_bytes(source, i, n, out, error) : split_files(source, i, n, out, error);
}

cst_status cst_source_split(cst_source *source, uint32_t i, uint32_t n, cst_source **out,
                            cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(source, "source", out, error));
  if (i >= n) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "part %u of %u, it must be 0 to n - 1",
                     (unsigned)i, (unsigned)n);
  }
  bool indexed = false;
  if (!source->inputs->rereadable) {
    return cst__fail(error, CST_UNSUPPORTED, "save it to a file first",
                     "the input can be read only once, from start to end");
  }
  if (source->inputs->format.payload != NULL) {
    CST__TRY(cst__source_has_sidecars(source, &indexed, error));
  }
  if (indexed) {
    return split_rows(source, i, n, out, error);
  }
  CST__TRY(cst__source_prepare(source, error));
  return cst__source_divide(source, i, n, out, error);
}
