/* Which rows a source has and where they lie: the indexes of its files, loaded or made. */
#include "source/index/access.h"

#include "source/input/discovery.h"

/* ---- indexes ---- */

/* Looks for the index file, once. One that is damaged, or that of other data or of another
 * container, is none. */
static cst_status seek_sidecar(cst__file *file, cst_error *error) {
  cst__inputs *inputs = file->inputs;
  cst_index *loaded = NULL;
  cst__mutex_lock(&inputs->lock);
  bool sought = file->sidecar_sought || !file->regular;
  cst__mutex_unlock(&inputs->lock);
  if (sought) {
    return CST_OK;
  }
  cst_status status = cst_index_open(file->name, &inputs->allocator, &loaded, NULL);
  if (status == CST_NO_MEMORY) {
    return cst__fail_memory(error, sizeof *loaded);
  }
  cst__mutex_lock(&inputs->lock);
  bool fits = status == CST_OK && loaded->container == inputs->container;
  if (!file->sidecar_sought && fits) {
    file->index = loaded;
    loaded = NULL;
  }
  file->sidecar_sought = true;
  cst__mutex_unlock(&inputs->lock);
  cst_index_free(status == CST_OK ? loaded : NULL);
  return CST_OK;
}

/* The index that a file has by now, retained; NULL: none. *own: not that of the whole file for a
 * part of it. */
static cst_index *known_index(cst_source *source, size_t i, bool *own) {
  cst__inputs *inputs = source->inputs;
  cst__mutex_lock(&inputs->lock);
  cst_index *index = source->parts[i].file->index;
  if (index == NULL) {
    index = source->parts[i].index;
  }
  *own = index == source->parts[i].index;
  if (index != NULL) {
    cst__index_retain(index);
  }
  cst__mutex_unlock(&inputs->lock);
  return index;
}

/* Loaded, or made by a walk; the caller's. */
static cst_status find_index(cst_source *source, size_t i, cst_index **out, bool *own,
                             cst_error *error) {
  cst__inputs *inputs = source->inputs;
  cst__part *part = &source->parts[i];
  CST__TRY(seek_sidecar(source->parts[i].file, error));
  *out = known_index(source, i, own);
  if (*out != NULL) {
    return CST_OK;
  }
  CST__TRY(cst__index_walk(source, i, NULL, NULL, out, error));
  cst__mutex_lock(&inputs->lock);
  if (part->index == NULL) {
    part->index = cst__index_retain(*out);
  }
  *own = true;
  cst__mutex_unlock(&inputs->lock);
  return CST_OK;
}

void cst__source_share_indexes(const cst_source *source, cst_source *other) {
  cst__mutex_lock(&source->inputs->lock);
  for (size_t i = 0; i < source->num_parts; i++) {
    if (other->parts[i].index == NULL && source->parts[i].index != NULL) {
      other->parts[i].index = cst__index_retain(source->parts[i].index);
    }
  }
  cst__mutex_unlock(&source->inputs->lock);
}

cst_status cst__source_has_sidecars(cst_source *source, bool *all, cst_error *error) {
  bool own;
  *all = true;
  for (size_t i = 0; i < source->num_parts && *all; i++) {
    CST__TRY(seek_sidecar(source->parts[i].file, error));
    cst_index *index = known_index(source, i, &own);
    *all = index != NULL && index->loaded;
    cst_index_free(index);
  }
  return CST_OK;
}

/* ---- access ---- */

void cst__access_free(cst__access *access) {
  if (access == NULL) {
    return;
  }
  for (size_t i = 0; access->files != NULL && i < access->num_files; i++) {
    cst_index_free(access->files[i].index);
    if (access->files[i].is_open) {
      cst__raw_close(&access->files[i].raw);
    }
  }
  cst__take_scratch_free(access->idle);
  cst__pool_release(access->pool);
  cst__delete(access->files);
  cst__mutex_destroy(&access->lock);
  cst__delete(access);
}

/* The records of the index that lie in the source's part of the file. */
static cst_status access_add_file(cst__access *access, cst_source *source, size_t i,
                                  cst_error *error) {
  const cst__part *part = &source->parts[i];
  cst__access_file *file = &access->files[i];
  bool own;
  CST__TRY(find_index(source, i, &file->index, &own, error));
  const cst_index *index = file->index;
  uint64_t first = cst__index_find(index, part->begin);
  uint64_t end = part->end == 0 ? index->count : cst__index_find(index, part->end);
  if (index->offsets[first] != part->begin ||
      (part->end != 0 && index->offsets[end] != part->end)) {
    (void)cst__fail(error, CST_STATE, "open it again",
                    "the file was split where its index has no record");
    cst__error_add_file(error, part->file->name);
    return CST_STATE;
  }
  file->first = first;
  file->count = end - first;
  file->rows = access->num_rows;
  file->record = own ? part->first_record : (int64_t)first;
  access->num_rows += file->count;
  return CST_OK;
}

static cst_status fill_access(cst__access *access, cst_source *source, cst_error *error) {
  size_t bytes;
  access->allocator = source->allocator;
  access->num_files = source->num_parts;
  access->most_open = cst__raw_most_open();
  access->pool = cst__pool_new(&source->allocator);
  if (cst__mul(source->num_parts, sizeof *access->files, &bytes)) {
    access->files = cst__new_zero(&source->allocator, bytes);
  }
  if (access->pool == NULL || access->files == NULL) {
    return cst__fail_memory(error, sizeof *access->files);
  }
  for (size_t i = 0; i < source->num_parts; i++) {
    CST__TRY(access_add_file(access, source, i, error));
  }
  return CST_OK;
}

static bool knows_access(const cst_source *source) { return source->found.access != NULL; }

static cst_status make_access(cst_source *source, cst_error *error) {
  cst__access *access = cst__new_zero(&source->allocator, sizeof *access);
  if (access == NULL) {
    return cst__fail_memory(error, sizeof *access);
  }
  cst__mutex_init(&access->lock);
  cst_status status = fill_access(access, source, error);
  if (status != CST_OK) {
    cst__access_free(access);
    return status;
  }
  cst__mutex_lock(&source->lock);
  source->found.access = access;
  cst__mutex_unlock(&source->lock);
  return CST_OK;
}

cst_status cst__source_access(cst_source *source, cst__access **out, cst_error *error) {
  if (!cst__reading_options_keep_rows(&source->options)) {
    return cst__fail(error, CST_UNSUPPORTED, "take rows from the source before that stage",
                     "a stage of the source drops or adds rows: they have no row numbers");
  }
  return cst__source_access_records(source, out, error);
}

cst_status cst__source_access_records(cst_source *source, cst__access **out, cst_error *error) {
  if (source->inputs->format.payload == NULL) {
    return cst__fail(error, CST_UNSUPPORTED, "convert it to a TFRecord file first",
                     "records of TFRecord files have row numbers, rows of %s do not",
                     source->inputs->format.name);
  }
  if (!source->inputs->rereadable) {
    return cst__fail(error, CST_UNSUPPORTED, "save it to a file first",
                     "the input can be read only once, from start to end");
  }
  CST__TRY(cst__source_discover(source, &source->found.access_discovery, knows_access, make_access,
                                error));
  *out = source->found.access; /* which does not change any more */
  return CST_OK;
}

size_t cst__access_find(const cst__access *access, uint64_t row) {
  size_t low = 0;
  size_t high = access->num_files;
  while (low + 1 < high) {
    size_t middle = low + (high - low) / 2;
    if (access->files[middle].rows <= row) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

void cst__access_locate(const cst__access *access, const cst_source *source, uint64_t row,
                        cst_error *error) {
  size_t i = cst__access_find(access, row);
  const cst__access_file *file = &access->files[i];
  uint64_t within = row - file->rows;
  cst__error_forget_record(error);
  cst__error_add_file(error, cst__source_name(source, i));
  cst__error_add_record(error, file->record < 0 ? -1 : file->record + (int64_t)within,
                        (int64_t)file->index->offsets[file->first + within]);
}
