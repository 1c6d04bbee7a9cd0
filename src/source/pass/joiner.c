/* Cutting and joining batches. */
#include "source/pass/joiner.h"

#include <string.h>

void cst__joiner_init(cst__joiner *joiner, const struct ArrowSchema *schema, int64_t rows,
                      const cst_allocator *allocator) {
  *joiner =
      (cst__joiner){.schema = schema, .rows = rows, .allocator = cst__allocator_of(allocator)};
}

static void drop(cst__joined *part) {
  if (part->array.release != NULL) {
    part->array.release(&part->array);
  }
  cst__shared_release(part->shared);
}

void cst__joiner_reset(cst__joiner *joiner) {
  for (size_t i = 0; i < joiner->count; i++) {
    drop(&joiner->waiting[i]);
  }
  cst__delete(joiner->waiting);
  joiner->waiting = NULL;
  joiner->count = 0;
  joiner->capacity = 0;
  joiner->waiting_rows = 0;
  cst__delete(joiner->origins);
  joiner->origins = NULL;
  joiner->num_origins = joiner->origins_capacity = joiner->first_origin = joiner->num_taken = 0;
}

cst__place *cst__joiner_add_origins(cst__joiner *joiner, int64_t rows) {
  /* Origins of rows that are gone are forgotten here, and only where they are the most: each take
   * would otherwise move all that wait. */
  if (joiner->first_origin > joiner->num_origins / 2) {
    joiner->num_origins -= joiner->first_origin;
    memmove(joiner->origins, joiner->origins + joiner->first_origin,
            joiner->num_origins * sizeof *joiner->origins);
    joiner->first_origin = 0;
  }
  void *items = joiner->origins;
  size_t count = joiner->num_origins + (size_t)rows;
  bool ok = cst__grow(&joiner->allocator, &items, &joiner->origins_capacity, count + 1,
                      sizeof *joiner->origins);
  joiner->origins = items;
  if (!ok) {
    return NULL;
  }
  cst__place *added = joiner->origins + joiner->num_origins;
  joiner->num_origins = count;
  return added;
}

/* The next `rows` origins become those of the batch that is taken. */
static void take_origins(cst__joiner *joiner, size_t rows) {
  if (joiner->num_origins > 0) {
    joiner->first_origin += joiner->num_taken;
    joiner->num_taken = rows;
  }
}

cst_status cst__joiner_put(cst__joiner *joiner, struct ArrowArray *batch, cst_error *error) {
  void *items = joiner->waiting;
  bool ok = cst__grow(&joiner->allocator, &items, &joiner->capacity, joiner->count + 1,
                      sizeof *joiner->waiting);
  joiner->waiting = items;
  if (!ok || batch->length == 0) {
    batch->release(batch);
    return ok ? CST_OK : cst__fail_memory(error, sizeof *joiner->waiting);
  }
  joiner->waiting[joiner->count++] = (cst__joined){.array = *batch, .length = batch->length};
  joiner->waiting_rows += batch->length;
  batch->release = NULL;
  return CST_OK;
}

/* Forgets the first parts and `rows` rows of the one after them. */
static void advance(cst__joiner *joiner, size_t parts, int64_t rows) {
  for (size_t i = 0; i < parts; i++) {
    joiner->waiting_rows -= joiner->waiting[i].length;
    drop(&joiner->waiting[i]);
  }
  joiner->count -= parts;
  memmove(joiner->waiting, joiner->waiting + parts, joiner->count * sizeof *joiner->waiting);
  if (rows > 0) {
    joiner->waiting[0].begin += rows;
    joiner->waiting[0].length -= rows;
    joiner->waiting_rows -= rows;
  }
}

/* `rows` rows of a part, as a batch of their own that shares its memory. */
static cst_status slice(cst__joiner *joiner, cst__joined *part, int64_t rows,
                        struct ArrowArray *out, cst_error *error) {
  if (part->shared == NULL) {
    CST__TRY(cst__shared_new(&part->array, &joiner->allocator, &part->shared, error));
  }
  return cst__shared_slice(part->shared, part->begin, rows, out, error);
}

static cst_status take_from_first(cst__joiner *joiner, int64_t rows, struct ArrowArray *out,
                                  cst_error *error) {
  cst__joined *first = &joiner->waiting[0];
  if (first->shared == NULL && first->array.length == rows) {
    *out = first->array;
    first->array.release = NULL;
  } else {
    CST__TRY(slice(joiner, first, rows, out, error));
  }
  bool all = first->length == rows;
  advance(joiner, all ? 1 : 0, all ? 0 : rows);
  return CST_OK;
}

/* The views of the parts that make the batch; slices are released by the caller. */
static cst_status look_at_parts(cst__joiner *joiner, int64_t rows, cst__arena *arena,
                                cst__piece *pieces, struct ArrowArray *slices, size_t count,
                                cst_error *error) {
  for (size_t i = 0; i < count; i++) {
    cst__joined *part = &joiner->waiting[i];
    cst__view *view = cst__arena_take(arena, sizeof *view);
    if (view == NULL) {
      return cst__fail_memory(error, sizeof *view);
    }
    pieces[i] = (cst__piece){.view = view,
                             .begin = part->shared == NULL ? part->begin : 0,
                             .length = part->length < rows ? part->length : rows};
    rows -= pieces[i].length;
    const struct ArrowArray *array = &part->array;
    if (part->shared != NULL) {
      CST__TRY(cst__shared_slice(part->shared, part->begin, part->length, &slices[i], error));
      array = &slices[i];
    }
    CST__TRY(cst__view_init(view, joiner->schema, array, true, arena, error));
  }
  return CST_OK;
}

static cst_status join(cst__joiner *joiner, int64_t rows, size_t count, struct ArrowArray *out,
                       cst_error *error) {
  cst__arena arena;
  cst__arena_init(&arena, &joiner->allocator);
  cst__piece *pieces = cst__arena_take_zero(&arena, count * sizeof *pieces);
  struct ArrowArray *slices = cst__arena_take_zero(&arena, count * sizeof *slices);
  cst_status status = pieces != NULL && slices != NULL
                          ? look_at_parts(joiner, rows, &arena, pieces, slices, count, error)
                          : cst__fail_memory(error, count * sizeof *slices);
  if (status == CST_OK) {
    status = cst__concat(joiner->schema, pieces, count, &joiner->allocator, out, error);
  }
  for (size_t i = 0; slices != NULL && i < count; i++) {
    if (slices[i].release != NULL) {
      slices[i].release(&slices[i]);
    }
  }
  cst__arena_reset(&arena);
  return status;
}

cst_status cst__joiner_take(cst__joiner *joiner, bool at_end, struct ArrowArray *out,
                            cst_error *error) {
  int64_t rows = joiner->waiting_rows < joiner->rows ? joiner->waiting_rows : joiner->rows;
  out->release = NULL;
  if (rows == 0 || (rows < joiner->rows && !at_end)) {
    return CST_OK;
  }
  take_origins(joiner, (size_t)rows);
  if (joiner->waiting[0].length >= rows) {
    return take_from_first(joiner, rows, out, error);
  }
  size_t count = 0;
  int64_t found = 0;
  while (found < rows) {
    found += joiner->waiting[count++].length;
  }
  CST__TRY(join(joiner, rows, count, out, error));
  bool all = found == rows;
  int64_t rest = joiner->waiting[count - 1].length - (found - rows);
  advance(joiner, all ? count : count - 1, all ? 0 : rest);
  return CST_OK;
}
