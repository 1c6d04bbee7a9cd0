/* Reading regions, file by file. */
#include "source/index/region.h"

/* The bytes of a file that the rows of a stretch have there. */
static void measure_part(const cst__access_file *file, const cst__row_range *stretch,
                         cst__region_part *out) {
  uint64_t first = stretch->first;
  uint64_t end = first + stretch->count;
  uint64_t from = first > file->rows ? first - file->rows : 0;
  uint64_t to = end - file->rows < file->count ? end - file->rows : file->count;
  out->begin = file->index->offsets[file->first + from];
  out->size = (size_t)(file->index->offsets[file->first + to] - out->begin);
}

/* The files [*file, end) that have rows of a stretch. */
static size_t files_of(const cst__access *access, const cst__row_range *stretch, size_t *file) {
  *file = cst__access_find(access, stretch->first);
  return cst__access_find(access, stretch->first + stretch->count - 1) + 1;
}

static size_t count_parts(const cst__access *access, const cst__row_range *stretches,
                          size_t count) {
  size_t parts = 0;
  for (size_t i = 0; i < count; i++) {
    size_t file;
    size_t end = files_of(access, &stretches[i], &file);
    parts += end - file;
  }
  return parts;
}

/* Says where the parts are. False if they have more than `most` bytes. */
static bool place_parts(const cst__access *access, const cst__row_range *stretches, size_t count,
                        uint64_t most, cst__region *region, uint64_t *size) {
  *size = 0;
  for (size_t i = 0; i < count; i++) {
    size_t file;
    size_t end = files_of(access, &stretches[i], &file);
    for (; file < end; file++) {
      cst__region_part *part = &region->parts[region->num_parts++];
      part->file = file;
      measure_part(&access->files[file], &stretches[i], part);
      if (part->size > most - *size) {
        return false;
      }
      *size += part->size;
    }
  }
  return true;
}

/* Reads the parts, whose places are known, one after the other. */
static cst_status read_parts(cst__access *access, const cst_source *source, cst__region *region,
                             cst_error *error) {
  uint8_t *to = region->data;
  for (size_t i = 0; i < region->num_parts; i++) {
    cst__region_part *part = &region->parts[i];
    part->data = to;
    CST__TRY(cst__access_read(access, source, part->file, part->begin, to, part->size, error));
    to += part->size;
  }
  return CST_OK;
}

cst_status cst__region_read(cst_source *source, const cst__row_range *stretches, size_t count,
                            uint64_t most, cst__region **out, cst_error *error) {
  cst__access *access;
  uint64_t size;
  *out = NULL;
  CST__TRY(cst__source_access(source, &access, error));
  size_t parts = count_parts(access, stretches, count);
  cst__region *region =
      cst__new_zero(&access->allocator, sizeof *region + parts * sizeof(cst__region_part));
  if (region == NULL) {
    return cst__fail_memory(error, sizeof *region);
  }
  cst__refcount_init(&region->owners);
  if (!place_parts(access, stretches, count, most, region, &size)) {
    cst__region_release(region);
    return CST_OK;
  }
  region->data = cst__new(&access->allocator, (size_t)size + 1);
  cst_status status = region->data != NULL ? read_parts(access, source, region, error)
                                           : cst__fail_memory(error, (size_t)size);
  if (status != CST_OK) {
    cst__region_release(region);
    return status;
  }
  *out = region;
  return CST_OK;
}

cst__region *cst__region_retain(cst__region *region) {
  cst__refcount_up(&region->owners);
  return region;
}

void cst__region_release(cst__region *region) {
  if (region != NULL && cst__refcount_down(&region->owners)) {
    cst__delete(region->data);
    cst__delete(region);
  }
}

/* The last part that begins at a byte of a file, or before it; NULL: there is none. */
static const cst__region_part *part_before(const cst__region *region, size_t file, uint64_t byte) {
  size_t low = 0;
  size_t high = region->num_parts;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const cst__region_part *part = &region->parts[middle];
    if (part->file < file || (part->file == file && part->begin <= byte)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > 0 ? &region->parts[low - 1] : NULL;
}

const uint8_t *cst__regions_find(const cst__region *const *regions, size_t num_regions, size_t file,
                                 uint64_t begin, uint64_t size) {
  for (size_t i = 0; i < num_regions; i++) {
    const cst__region_part *part = part_before(regions[i], file, begin);
    if (part != NULL && part->file == file && begin - part->begin <= part->size &&
        size <= part->size - (begin - part->begin)) {
      return part->data + (begin - part->begin);
    }
  }
  return NULL;
}
