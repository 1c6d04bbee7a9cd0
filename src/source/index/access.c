/* Which rows a source has and where they lie: the indexes of its files, loaded or made. */
#include "source/index/access.h"

#include "source/block/cursor.h"
#include "source/pass/pass.h"

/* Indexes belong to the source that was opened and serve all that are derived from it, under one
 * lock. */
static cst_source *root_of(cst_source *source) {
  return source->parent != NULL ? source->parent : source;
}

/* ---- indexes ---- */

/* Looks for the index file, once. One that is damaged, or that of other data, is none. */
static cst_status seek_sidecar(cst_source *source, cst__source_file *file, cst_error *error) {
  cst_source *root = root_of(source);
  cst_index *loaded = NULL;
  cst__mutex_lock(&root->lock);
  bool sought = file->sidecar_sought || !file->regular;
  cst__mutex_unlock(&root->lock);
  if (sought) {
    return CST_OK;
  }
  cst_status status = cst__index_load(file->name, &source->allocator, &loaded, NULL);
  if (status == CST_NO_MEMORY) {
    return cst__fail_memory(error, sizeof *loaded);
  }
  cst__mutex_lock(&root->lock);
  if (!file->sidecar_sought && status == CST_OK) {
    file->index = loaded;
    loaded = NULL;
  }
  file->sidecar_sought = true;
  cst__mutex_unlock(&root->lock);
  cst__index_release(status == CST_OK ? loaded : NULL);
  return CST_OK;
}

/* The index that a file has by now, retained; NULL: none. *own: not that of the whole file for a
 * part of it. */
static cst_index *known_index(cst_source *source, size_t i, bool *own) {
  cst_source *root = root_of(source);
  cst__mutex_lock(&root->lock);
  cst_index *index = cst__source_opened(source, i)->index;
  if (index == NULL) {
    index = source->files[i].index;
  }
  *own = index == source->files[i].index;
  if (index != NULL) {
    cst__index_retain(index);
  }
  cst__mutex_unlock(&root->lock);
  return index;
}

/* Loaded, or made by a walk; the caller's. */
static cst_status find_index(cst_source *source, size_t i, cst_index **out, bool *own,
                             cst_error *error) {
  cst_source *root = root_of(source);
  cst__source_file *file = &source->files[i];
  CST__TRY(seek_sidecar(source, cst__source_opened(source, i), error));
  *out = known_index(source, i, own);
  if (*out != NULL) {
    return CST_OK;
  }
  CST__TRY(cst__index_walk(source, i, NULL, NULL, out, error));
  cst__mutex_lock(&root->lock);
  if (file->index == NULL) {
    file->index = cst__index_retain(*out);
  }
  *own = true;
  cst__mutex_unlock(&root->lock);
  return CST_OK;
}

cst_status cst__source_has_sidecars(cst_source *source, bool *all, cst_error *error) {
  bool own;
  *all = true;
  for (size_t i = 0; i < source->num_files && *all; i++) {
    CST__TRY(seek_sidecar(source, cst__source_opened(source, i), error));
    cst_index *index = known_index(source, i, &own);
    *all = index != NULL && index->loaded;
    cst__index_release(index);
  }
  return CST_OK;
}

/* ---- access ---- */

void cst__access_free(cst__access *access) {
  if (access == NULL) {
    return;
  }
  for (size_t i = 0; access->files != NULL && i < access->num_files; i++) {
    cst__index_release(access->files[i].index);
    if (access->files[i].is_open) {
      cst__raw_close(&access->files[i].raw);
    }
  }
  cst__taker_free(access->idle);
  cst__pool_release(access->pool);
  cst__delete(access->files);
  cst__mutex_destroy(&access->lock);
  cst__delete(access);
}

/* The records of the index that lie in the source's part of the file. */
static cst_status add_file(cst__access *access, cst_source *source, size_t i, cst_error *error) {
  const cst__source_file *part = &source->files[i];
  cst__access_file *file = &access->files[i];
  bool own;
  CST__TRY(find_index(source, i, &file->index, &own, error));
  const cst_index *index = file->index;
  uint64_t first = cst__index_find(index, part->begin);
  uint64_t end = part->end == 0 ? index->count : cst__index_find(index, part->end);
  if (index->offsets[first] != part->begin ||
      (part->end != 0 && index->offsets[end] != part->end)) {
    (void)cst__fail(error, CST_STATE, "open it again",
                    "the file was divided where its index has no record");
    cst__error_add_file(error, part->name);
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
  access->num_files = source->num_files;
  access->most_open = cst__raw_most_open();
  access->pool = cst__pool_new(&source->allocator);
  if (cst__mul(source->num_files, sizeof *access->files, &bytes)) {
    access->files = cst__new_zero(&source->allocator, bytes);
  }
  if (access->pool == NULL || access->files == NULL) {
    return cst__fail_memory(error, sizeof *access->files);
  }
  for (size_t i = 0; i < source->num_files; i++) {
    CST__TRY(add_file(access, source, i, error));
  }
  return CST_OK;
}

static bool knows_access(const cst_source *source) { return source->access != NULL; }

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
  source->access = access;
  cst__mutex_unlock(&source->lock);
  return CST_OK;
}

cst_status cst__source_access(cst_source *source, cst__access **out, cst_error *error) {
  if (source->payload == NULL) {
    return cst__fail(error, CST_UNSUPPORTED, "convert it to a TFRecord file first",
                     "records of TFRecord files have numbers, rows of %s do not", source->format);
  }
  if (!source->rereadable) {
    return cst__fail(error, CST_UNSUPPORTED, "save it to a file first",
                     "the input can be read only once, from its begin to its end");
  }
  CST__TRY(
      cst__source_discover(source, &source->access_discovery, knows_access, make_access, error));
  *out = source->access; /* which does not change any more */
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
  cst__error_add_file(error, source->files[i].name);
  cst__error_add_record(error, file->record < 0 ? -1 : file->record + (int64_t)within,
                        (int64_t)file->index->offsets[file->first + within]);
}

/* ---- counting ---- */

static void add_count(void *ctx, const cst_file_count *count) {
  *(uint64_t *)ctx += count->records;
}

cst_status cst__source_count_by_pass(cst_source *source, uint64_t *rows, cst_error *error) {
  cst_pass *pass;
  struct ArrowArray batch;
  cst_status status;
  CST__TRY(cst__pass_new(source, &pass, error));
  for (;;) {
    status = cst__pass_next(pass, NULL, &batch, error);
    if (status != CST_OK || batch.release == NULL) {
      break;
    }
    *rows += (uint64_t)batch.length;
    batch.release(&batch);
  }
  cst__pass_free(pass);
  return status;
}

/* From the indexes, or by reading what has none. */
static cst_status find_num_rows(cst_source *source, uint64_t *rows, cst_error *error) {
  cst_error own = CST_ERROR_INIT;
  cst__access *access = NULL;
  *rows = 0;
  if (source->payload == NULL) {
    return cst__source_count_by_pass(source, rows, error);
  }
  cst_status status = cst__source_access(source, &access, &own);
  if (status == CST_UNSUPPORTED && source->rereadable) {
    return cst__source_count(source, add_count, rows, error);
  }
  if (status != CST_OK) {
    cst__error_copy(error, &own);
    return status;
  }
  *rows = access->num_rows;
  return CST_OK;
}

cst_status cst__source_num_rows(cst_source *source, uint64_t *rows, cst_error *error) {
  cst_source *root = root_of(source);
  cst__mutex_lock(&root->lock);
  bool known = source->counted;
  *rows = source->num_rows;
  cst__mutex_unlock(&root->lock);
  if (known) {
    return CST_OK;
  }
  CST__TRY(find_num_rows(source, rows, error));
  cst__mutex_lock(&root->lock);
  source->counted = true;
  source->num_rows = *rows;
  cst__mutex_unlock(&root->lock);
  return CST_OK;
}
