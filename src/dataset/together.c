/* Passes that give rows in turns, and the slices of their batches. */
#include "dataset/together.h"

#include "arrow/concat.h"
#include "source/index/parts.h"

/* A file, and what is left of the batch that its pass gave last. */
typedef struct reading {
  cst_pass *pass;
  struct ArrowArray batch; /* none of its rows is given; release NULL: it lies in `shared` */
  cst__shared *shared;
  int64_t begin;
  int64_t rows; /* 0: the pass is asked for the next one */
} reading;

struct cst__together {
  cst_allocator allocator;
  cst__turns turns;
  size_t count;
  reading files[];
};

static cst_status open_reading(cst__together *together, cst_source *source, size_t file,
                               const cst__pass_options *options, reading *out, cst_error *error) {
  cst_source *part;
  CST__TRY(cst__source_pick(source, &file, 1, &part, error));
  part->options.values.threads = 1; /* each of which might hold as much as the file does */
  cst_status status = cst__pass_new_with(part, options, &out->pass, error);
  cst_source_release(part);
  cst__turns_tell(&together->turns, (size_t)(out - together->files), source->parts[file].size);
  return status;
}

cst_status cst__together_new(cst_source *source, const size_t *files, size_t count,
                             const cst__pass_options *options, cst__together **out,
                             cst_error *error) {
  size_t size = sizeof(cst__together) + count * sizeof(reading);
  cst__together *together = cst__new_zero(&source->allocator, size);
  if (together == NULL) {
    return cst__fail_memory(error, size);
  }
  together->allocator = source->allocator;
  together->count = count;
  cst_status status = cst__turns_reserve(&together->turns, &source->allocator, count)
                          ? CST_OK
                          : cst__fail_memory(error, count * sizeof(cst__turn_file));
  if (status == CST_OK) {
    cst__turns_init(&together->turns, count, options->at_once.turn);
  }
  for (size_t i = 0; i < count && status == CST_OK; i++) {
    status = open_reading(together, source, files[i], options, &together->files[i], error);
  }
  if (status != CST_OK) {
    cst__together_free(together);
    return status;
  }
  cst__turns_begin(&together->turns);
  *out = together;
  return CST_OK;
}

static void let_batch_go(reading *file) {
  if (file->batch.release != NULL) {
    file->batch.release(&file->batch);
  }
  cst__shared_release(file->shared);
  file->batch.release = NULL;
  file->shared = NULL;
}

void cst__together_free(cst__together *together) {
  if (together == NULL) {
    return;
  }
  for (size_t i = 0; i < together->count; i++) {
    cst_pass_free(together->files[i].pass);
    let_batch_go(&together->files[i]);
  }
  cst__turns_reset(&together->turns);
  cst__delete(together);
}

/* The next `rows` rows of the batch: it goes on as it is where these are all. */
static cst_status give_rows(const cst__together *together, reading *file, int64_t rows,
                            struct ArrowArray *out, cst_error *error) {
  if (file->batch.release != NULL && rows == file->rows) {
    *out = file->batch;
    file->batch.release = NULL;
    file->rows = 0;
    return CST_OK;
  }
  if (file->batch.release != NULL) {
    CST__TRY(cst__shared_new(&file->batch, &together->allocator, &file->shared, error));
  }
  CST__TRY(cst__shared_slice(file->shared, file->begin, rows, out, error));
  file->begin += rows;
  file->rows -= rows;
  if (file->rows == 0) {
    let_batch_go(file);
  }
  return CST_OK;
}

cst_status cst__together_next(cst__together *together, struct ArrowArray *out, cst_error *error) {
  cst__turns *turns = &together->turns;
  out->release = NULL;
  while (turns->left > 0) {
    reading *file = &together->files[turns->current];
    if (file->rows > 0) {
      uint64_t rows = (uint64_t)file->rows < turns->room ? (uint64_t)file->rows : turns->room;
      CST__TRY(give_rows(together, file, (int64_t)rows, out, error));
      cst__turns_take(turns, rows);
      return CST_OK;
    }
    let_batch_go(file);
    CST__TRY(cst_pass_next(file->pass, &file->batch, error));
    file->begin = 0;
    file->rows = file->batch.release != NULL ? file->batch.length : 0;
    if (file->batch.release == NULL) {
      cst_pass_free(file->pass);
      file->pass = NULL;
      (void)cst__turns_end(turns);
    }
  }
  return CST_OK;
}
