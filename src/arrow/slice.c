/* Slices that share buffers: every array of a slice is a struct of its own that points into the
 * buffers of an owner and counts on it.
 */
#include <string.h>

#include "arrow/concat.h"
#include "arrow/owned.h"

struct cst__shared {
  cst_allocator allocator;
  cst__refcount owners;
  struct ArrowArray batch;
};

cst_status cst__shared_new(struct ArrowArray *batch, const cst_allocator *allocator,
                           cst__shared **out, cst_error *error) {
  cst__shared *shared = cst__new_zero(allocator, sizeof *shared);
  if (shared == NULL) {
    return cst__fail_memory(error, sizeof *shared);
  }
  shared->allocator = cst__allocator_of(allocator);
  cst__refcount_init(&shared->owners);
  shared->batch = *batch;
  batch->release = NULL;
  *out = shared;
  return CST_OK;
}

void cst__shared_release(cst__shared *shared) {
  if (shared != NULL && cst__refcount_down(&shared->owners)) {
    cst__array_release(&shared->batch);
    cst__delete(shared);
  }
}

/* ---- slices ---- */

typedef struct sharing {
  const cst__owner *owner;
  cst_error *error;
} sharing;

/* Without what lies below. What shares somebody else's buffers already leads on to that owner: so
 * however often arrays are made of parts of each other, no chain of them is kept alive. */
static cst_status share_alone(const sharing *s, const struct ArrowArray *from, int64_t num_children,
                              struct ArrowArray *out) {
  void *keeper = cst__owned_keeper(from, s->owner->release);
  void *object = keeper != NULL ? keeper : s->owner->object;
  CST__TRY(cst__owned_new(s->owner->allocator, 0, num_children, from->dictionary != NULL, out,
                          s->error));
  s->owner->retain(object);
  cst__owned_keep(out, object, s->owner->release);
  out->length = from->length;
  out->null_count = from->null_count;
  out->offset = from->offset;
  out->n_buffers = from->n_buffers;
  out->buffers = from->buffers;
  return CST_OK;
}

/* A struct of its own for `from`, and for all below it. */
static cst_status share(const sharing *s, const struct ArrowArray *from, struct ArrowArray *out) {
  CST__TRY(share_alone(s, from, from->n_children, out));
  cst_status status = CST_OK;
  for (int64_t i = 0; i < from->n_children && status == CST_OK; i++) {
    status = share(s, from->children[i], out->children[i]);
  }
  if (status == CST_OK && from->dictionary != NULL) {
    status = share(s, from->dictionary, out->dictionary);
  }
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

static void narrow(struct ArrowArray *array, int64_t first, int64_t length) {
  bool is_whole = first == 0 && array->length == length;
  array->offset += first;
  array->length = length;
  if (array->null_count > 0 && !is_whole) {
    array->null_count = -1;
  }
}

/* Where rows are null the bitmap is copied, because the slice's own offset has to be 0. */
static cst_status slice_validity(const struct ArrowArray *batch, int64_t first,
                                 struct ArrowArray *out, cst_error *error) {
  const uint8_t *bitmap = batch->n_buffers > 0 ? batch->buffers[0] : NULL;
  if (bitmap == NULL || batch->null_count == 0) {
    return CST_OK;
  }
  out->null_count = out->length - cst__bitmap_count(bitmap, first, out->length);
  if (out->null_count > 0) {
    uint8_t *copy = cst__owned_buffer(out, 0, cst__bits_size(out->length));
    if (copy == NULL) {
      return cst__fail_memory(error, cst__bits_size(out->length));
    }
    cst__bits_copy(copy, 0, bitmap, first, out->length);
  }
  return CST_OK;
}

static cst_status slice_struct(const sharing *s, const struct ArrowArray *batch, int64_t begin,
                               int64_t length, struct ArrowArray *out) {
  int64_t first = batch->offset + begin;
  CST__TRY(cst__owned_new(s->owner->allocator, 1, batch->n_children, false, out, s->error));
  out->length = length;
  cst_status status = slice_validity(batch, first, out, s->error);
  for (int64_t i = 0; i < batch->n_children && status == CST_OK; i++) {
    status = share(s, batch->children[i], out->children[i]);
    if (status == CST_OK) {
      narrow(out->children[i], first, length);
    }
  }
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

cst_status cst__share_struct(const cst__owner *owner, const struct ArrowArray *array, int64_t begin,
                             int64_t length, struct ArrowArray *out, cst_error *error) {
  sharing s = {owner, error};
  return slice_struct(&s, array, begin, length, out);
}

cst_status cst__share_alone(const cst__owner *owner, const struct ArrowArray *array,
                            int64_t num_children, struct ArrowArray *out, cst_error *error) {
  sharing s = {owner, error};
  return share_alone(&s, array, num_children, out);
}

cst_status cst__share_slots(const cst__owner *owner, const struct ArrowArray *array, int64_t begin,
                            int64_t length, struct ArrowArray *out, cst_error *error) {
  sharing s = {owner, error};
  CST__TRY(share(&s, array, out));
  narrow(out, begin, length);
  return CST_OK;
}

cst_status cst__share_view(const cst__owner *owner, const cst__view *view, int64_t begin,
                           int64_t count, struct ArrowArray *out, cst_error *error) {
  begin += view->offset - view->array->offset;
  return view->layout == CST__LAYOUT_STRUCT
             ? cst__share_struct(owner, view->array, begin, count, out, error)
             : cst__share_slots(owner, view->array, begin, count, out, error);
}

/* ---- shared arrays ---- */

static void retain_shared(void *object) { cst__refcount_up(&((cst__shared *)object)->owners); }
static void release_shared(void *object) { cst__shared_release(object); }

cst__owner cst__shared_owner(cst__shared *shared) {
  return (cst__owner){shared, retain_shared, release_shared, &shared->allocator};
}

cst_status cst__shared_slice(cst__shared *shared, int64_t begin, int64_t length,
                             struct ArrowArray *out, cst_error *error) {
  cst__owner owner = cst__shared_owner(shared);
  return cst__share_struct(&owner, &shared->batch, begin, length, out, error);
}
