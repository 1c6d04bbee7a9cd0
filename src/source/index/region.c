/* Reading regions, file by file. */
#include "source/index/region.h"

/* The bytes of a file that rows [first, end) of the source have there. */
static void measure_part(const cst__access_file *file, uint64_t first, uint64_t end,
                         uint64_t *begin, uint64_t *size) {
  uint64_t from = first > file->rows ? first - file->rows : 0;
  uint64_t to = end - file->rows < file->count ? end - file->rows : file->count;
  *begin = file->index->offsets[file->first + from];
  *size = file->index->offsets[file->first + to] - *begin;
}

/* UINT64_MAX for more than `most`. */
static uint64_t measure_region(const cst__access *access, size_t file, size_t num_parts,
                               uint64_t first, uint64_t end, uint64_t most) {
  uint64_t total = 0;
  for (size_t i = 0; i < num_parts; i++) {
    uint64_t begin;
    uint64_t size;
    measure_part(&access->files[file + i], first, end, &begin, &size);
    if (size > most - total) {
      return UINT64_MAX;
    }
    total += size;
  }
  return total;
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

cst_status cst__region_read(cst_source *source, uint64_t first, uint64_t count, uint64_t most,
                            cst__region **out, cst_error *error) {
  cst__access *access;
  CST__TRY(cst__source_access(source, &access, error));
  uint64_t end = first + count;
  size_t file = cst__access_find(access, first);
  size_t num_parts = cst__access_find(access, end - 1) - file + 1;
  uint64_t size = measure_region(access, file, num_parts, first, end, most);
  *out = NULL;
  if (size == UINT64_MAX) {
    return CST_OK;
  }
  cst__region *region =
      cst__new_zero(&access->allocator, sizeof *region + num_parts * sizeof(cst__region_part));
  if (region == NULL) {
    return cst__fail_memory(error, sizeof *region);
  }
  cst__refcount_init(&region->owners);
  region->num_parts = num_parts;
  for (size_t i = 0; i < num_parts; i++) {
    cst__region_part *part = &region->parts[i];
    uint64_t bytes;
    measure_part(&access->files[file + i], first, end, &part->begin, &bytes);
    part->file = file + i;
    part->size = (size_t)bytes;
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

const uint8_t *cst__regions_find(const cst__region *const *regions, size_t num_regions, size_t file,
                                 uint64_t begin, uint64_t size) {
  for (size_t i = 0; i < num_regions; i++) {
    const cst__region_part *parts = regions[i]->parts;
    size_t at = file - parts[0].file; /* the files of a region follow each other */
    if (at < regions[i]->num_parts && begin >= parts[at].begin &&
        begin - parts[at].begin <= parts[at].size &&
        size <= parts[at].size - (begin - parts[at].begin)) {
      return parts[at].data + (begin - parts[at].begin);
    }
  }
  return NULL;
}
