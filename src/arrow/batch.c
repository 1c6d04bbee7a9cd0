/* Batches: their buffers, and their way out as Arrow arrays. */
#include "arrow/batch.h"

#include <string.h>

enum {
  BUFFER_ALIGN = 64,
  BUFFER_PADDING = 64,
  WARM_BATCH = 8 << 20,   /* more of a batch than this does not stay in the cache */
  WARM_BUFFER = 256 << 10 /* larger ones are filled in long runs, which need no help */
};

/* What a buffer pointer of an empty column points to: consumers dislike NULL. */
static const uint8_t no_bytes[BUFFER_PADDING];

/* What is to be allocated for so much room. */
static bool buffer_total(size_t room, size_t *total) {
  bool ok = cst__add(room, BUFFER_PADDING + BUFFER_ALIGN - 1, total);
  *total &= ~(size_t)(BUFFER_ALIGN - 1);
  return ok;
}

bool cst__buffer_reserve(const cst_allocator *allocator, cst__buffer *buffer, size_t want,
                         size_t keep) {
  if (want <= buffer->capacity && buffer->data != NULL) {
    return true;
  }
  size_t room = buffer->capacity + buffer->capacity / 2;
  size_t total;
  if (!buffer_total(room < want ? want : room, &total)) {
    return false;
  }
  uint8_t *fresh = allocator->allocate(allocator->ctx, total, BUFFER_ALIGN);
  if (fresh == NULL) {
    return false;
  }
  if (buffer->data != NULL) {
    memcpy(fresh, buffer->data, keep);
    cst__buffer_free(allocator, buffer);
  }
  *buffer = (cst__buffer){fresh, total - BUFFER_PADDING, false};
  return true;
}

const uint8_t *cst__buffer_copy(const cst_allocator *allocator, cst__buffer *buffer,
                                cst_bytes bytes, size_t slack) {
  if (!cst__buffer_reserve(allocator, buffer, bytes.size + slack, 0)) {
    return NULL;
  }
  if (bytes.size > 0) {
    memcpy(buffer->data, bytes.data, bytes.size);
  }
  memset(buffer->data + bytes.size, 0, slack);
  return buffer->data;
}

void cst__buffer_free(const cst_allocator *allocator, cst__buffer *buffer) {
  if (buffer->data != NULL && !buffer->is_cut) {
    allocator->release(allocator->ctx, buffer->data, buffer->capacity + BUFFER_PADDING,
                       BUFFER_ALIGN);
  }
  *buffer = (cst__buffer){NULL, 0, false};
}

/* ---- the memory of a batch ---- */

/* Frees what a column owns. */
static void column_free(const cst_allocator *allocator, cst__column *column) {
  cst__buffer_free(allocator, &column->validity);
  cst__buffer_free(allocator, &column->offsets);
  cst__buffer_free(allocator, &column->list_validity);
  cst__buffer_free(allocator, &column->list_offsets);
  cst__buffer_free(allocator, &column->value_offsets);
  cst__buffer_free(allocator, &column->values);
  cst__delete(column->out.view_buffers);
  column->out.view_buffers = NULL;
  column->out.view_capacity = 0;
}

static const cst_allocator *allocator_of(const cst__batch *batch) {
  return cst__batch_pool_allocator(batch->pooled.pool);
}

static void batch_free(cst__pooled *pooled) {
  cst__batch *batch = (cst__batch *)pooled;
  for (size_t i = 0; i < batch->capacity; i++) {
    column_free(allocator_of(batch), &batch->columns[i]);
  }
  cst__buffer_free(allocator_of(batch), &batch->zeros);
  cst__delete(batch->columns);
  cst__delete(batch->children);
  cst__delete(batch->keep);
  cst__delete(batch->keep_sizes);
  cst__delete(batch);
}

static size_t batch_bytes(const cst__pooled *pooled) {
  const cst__batch *batch = (const cst__batch *)pooled;
  size_t bytes = batch->zeros.capacity + batch->capacity * sizeof(cst__column);
  for (size_t i = 0; i < batch->capacity; i++) {
    const cst__column *c = &batch->columns[i];
    bytes += c->validity.capacity + c->offsets.capacity + c->list_validity.capacity +
             c->list_offsets.capacity + c->value_offsets.capacity + c->values.capacity;
  }
  return bytes;
}

cst__batch_pool *cst__batch_pool_new(const cst_allocator *allocator) {
  return cst__batch_pool_new_of(allocator, (cst__pooled_kind){batch_bytes, batch_free});
}

/* Room for columns and children; a first time for just as many, because wide batches are many. */
static bool batch_make_room(cst__batch *batch, size_t want) {
  const cst_allocator *allocator = allocator_of(batch);
  size_t old = batch->capacity;
  size_t room = old * 2 > want ? old * 2 : want;
  size_t bytes;
  if (want <= old) {
    return true;
  }
  if (!cst__mul(room, sizeof(cst__column), &bytes)) {
    return false;
  }
  void *children = cst__renew(allocator, batch->children, room * sizeof(struct ArrowArray *));
  if (children == NULL) {
    return false;
  }
  batch->children = children;
  void *columns = cst__renew(allocator, batch->columns, bytes);
  if (columns == NULL) {
    return false;
  }
  batch->columns = columns;
  batch->capacity = room;
  memset(batch->columns + old, 0, (room - old) * sizeof(cst__column));
  return true;
}

bool cst__batch_reserve(cst__batch *batch, size_t num_columns) {
  if (!batch_make_room(batch, num_columns)) {
    return false;
  }
  batch->num_columns = num_columns;
  return true;
}

cst__batch *cst__batch_take(cst__batch_pool *pool, size_t num_columns) {
  cst__batch *batch = (cst__batch *)cst__batch_pool_take(pool);
  if (batch == NULL) {
    batch = cst__new_zero(cst__batch_pool_allocator(pool), sizeof *batch);
    if (batch == NULL) {
      return NULL;
    }
    cst__batch_pool_adopt(pool, &batch->pooled);
  }
  for (size_t i = num_columns; i < batch->num_columns; i++) {
    cst__batch_free_column(batch, i);
  }
  if (!cst__batch_reserve(batch, num_columns)) {
    cst__batch_pool_free(&batch->pooled);
    return NULL;
  }
  batch->warm_up = batch->pooled.is_cold ? WARM_BATCH : 0;
  return batch;
}

/* Memory for a buffer that has too little. */
static bool batch_provide(cst__batch *batch, cst__buffer *buffer, size_t want) {
  size_t total;
  uint8_t *cut;
  if (!batch->pooled.cuts) {
    return cst__buffer_reserve(allocator_of(batch), buffer, want, 0);
  }
  if (!buffer_total(want, &total) || !cst__pooled_cut(&batch->pooled, total, &cut)) {
    return false;
  }
  if (cut == NULL) {
    return cst__buffer_reserve(allocator_of(batch), buffer, want, 0);
  }
  cst__buffer_free(allocator_of(batch), buffer);
  *buffer = (cst__buffer){cut, total - BUFFER_PADDING, true};
  return true;
}

bool cst__batch_room(cst__batch *batch, cst__buffer *buffer, size_t want) {
  if ((want > buffer->capacity || buffer->data == NULL) && !batch_provide(batch, buffer, want)) {
    return false;
  }
  if (want <= batch->warm_up && want <= WARM_BUFFER) {
    batch->warm_up -= want;
    memset(buffer->data, 0, want); /* in one run, which the processor sees coming */
  }
  return true;
}

void cst__batch_drop(cst__batch *batch) {
  if (batch->attached.release != NULL) {
    batch->attached.release(&batch->attached);
  }
  for (size_t i = 0; i < batch->num_keep; i++) {
    batch->keep[i].release(batch->keep[i].owner);
  }
  batch->num_keep = 0;
  cst__batch_pool_put(&batch->pooled);
}

void cst__batch_free_column(cst__batch *batch, size_t column) {
  column_free(allocator_of(batch), &batch->columns[column]);
}

/* Bytes of zeros that stand for a column: the largest of its buffers. */
static bool absent_bytes(const cst__column *column, size_t rows, size_t *bytes) {
  size_t values = 0; /* an absent row of a fixed size has values, too */
  size_t last;
  if (column->fixed_size > 0 && !cst__mul(rows, (size_t)column->fixed_size, &values)) {
    return false;
  }
  size_t most = rows > values ? rows : values;
  return cst__add(most, 1, &last) && cst__mul(last, CST__VIEW_SIZE, bytes);
}

bool cst__batch_set_absent(cst__batch *batch, size_t column, size_t rows) {
  cst__column *c = &batch->columns[column];
  size_t bytes;
  if (!absent_bytes(c, rows, &bytes)) {
    return false;
  }
  if (batch->zeros.data == NULL || batch->zeros.capacity < bytes) {
    if (!cst__buffer_reserve(allocator_of(batch), &batch->zeros, bytes, 0)) {
      return false;
    }
    memset(batch->zeros.data, 0, batch->zeros.capacity);
  }
  cst__batch_free_column(batch, column);
  c->is_absent = true;
  c->null_count = (int64_t)rows;
  c->num_values = c->fixed_size > 0 ? (int64_t)rows * c->fixed_size : 0;
  c->values_begin = 0;
  c->num_lists = 0;
  c->list_null_count = 0;
  return true;
}

bool cst__batch_keep(cst__batch *batch, const cst__keepalive *keep) {
  void *items = batch->keep;
  if (!cst__grow(allocator_of(batch), &items, &batch->keep_capacity, batch->num_keep + 1,
                 sizeof *keep)) {
    return false;
  }
  batch->keep = items;
  batch->keep[batch->num_keep++] = *keep;
  return true;
}

/* ---- the way out ---- */

static void array_release(struct ArrowArray *array) {
  cst__batch *batch = array->private_data;
  if (cst__pooled_array_release(array, &batch->pooled)) {
    cst__batch_drop(batch);
  }
}

static cst_status narrow_offsets(cst__buffer *buffer, int64_t count, const char *what,
                                 cst_error *error) {
  int64_t *wide = (int64_t *)(void *)buffer->data;
  int32_t *narrow = (int32_t *)(void *)buffer->data;
  if (wide[count - 1] > INT32_MAX) {
    return cst__fail(error, CST_LIMIT, "use smaller batches or 64-bit offsets",
                     "a batch holds %lld %s, 32-bit offsets reach 2147483647",
                     (long long)wide[count - 1], what);
  }
  for (int64_t i = 0; i < count; i++) {
    narrow[i] = (int32_t)wide[i];
  }
  return CST_OK;
}

static cst_status narrow_column(cst__column *column, int64_t rows, cst_error *error) {
  if (!column->offsets_32 || column->is_absent) {
    return CST_OK;
  }
  if (column->kind == CST__VALUES_BINARY) {
    CST__TRY(narrow_offsets(&column->value_offsets, column->num_values + 1, "bytes", error));
  }
  if ((column->kind != CST__VALUES_NULL || column->is_nested) && column->fixed_size < 0 &&
      !column->flat) {
    CST__TRY(narrow_offsets(&column->offsets, rows + 1, "values", error));
  }
  if (column->is_nested) {
    CST__TRY(narrow_offsets(&column->list_offsets, column->num_lists + 1, "values", error));
  }
  return CST_OK;
}

static const uint8_t *bytes_or_empty(const cst__buffer *buffer) {
  return buffer->data != NULL ? buffer->data : no_bytes;
}

/* A buffer of a column, or what an absent column has instead. */
static const uint8_t *batch_bytes_of(const cst__batch *batch, const cst__column *column,
                                     const cst__buffer *buffer) {
  return column->is_absent ? batch->zeros.data : bytes_or_empty(buffer);
}

/* The buffers of a column of views: validity, views, one per block, the blocks' sizes. */
static bool view_buffers(cst__batch *batch, cst__column *column) {
  const cst_allocator *allocator = allocator_of(batch);
  size_t want = batch->num_keep + 3;
  void *items = column->out.view_buffers;
  if (!cst__grow(allocator, &items, &column->out.view_capacity, want, sizeof(void *))) {
    return false;
  }
  column->out.view_buffers = items;
  column->out.view_buffers[0] = NULL;
  column->out.view_buffers[1] = batch_bytes_of(batch, column, &column->values);
  for (size_t i = 0; i < batch->num_keep; i++) {
    column->out.view_buffers[2 + i] = batch->keep[i].data;
  }
  column->out.view_buffers[2 + batch->num_keep] =
      batch->keep_sizes != NULL ? (const void *)batch->keep_sizes : no_bytes;
  return true;
}

static bool keep_sizes(cst__batch *batch) {
  if (batch->num_keep == 0) {
    return true;
  }
  int64_t *sizes =
      cst__renew(allocator_of(batch), batch->keep_sizes, batch->num_keep * sizeof(int64_t));
  if (sizes == NULL) {
    return false;
  }
  for (size_t i = 0; i < batch->num_keep; i++) {
    sizes[i] = (int64_t)batch->keep[i].size;
  }
  batch->keep_sizes = sizes;
  return true;
}

static void export_values(cst__batch *batch, cst__column *column, struct ArrowArray *array) {
  *array = (struct ArrowArray){.length = column->num_values,
                               .n_buffers = 2,
                               .buffers = column->out.child_buffers,
                               .release = array_release,
                               .private_data = batch};
  column->out.child_buffers[0] = NULL;
  column->out.child_buffers[1] = batch_bytes_of(batch, column, &column->values);
  if (column->kind == CST__VALUES_NULL) {
    array->n_buffers = 0;
    array->null_count = column->num_values;
  } else if (column->kind == CST__VALUES_BINARY) {
    array->n_buffers = 3;
    column->out.child_buffers[1] = batch_bytes_of(batch, column, &column->value_offsets);
    column->out.child_buffers[2] =
        batch_bytes_of(batch, column, &column->values) + column->values_begin;
  } else if (column->kind == CST__VALUES_VIEW) {
    array->n_buffers = (int64_t)batch->num_keep + 3;
    array->buffers = column->out.view_buffers;
  }
}

/* A list between the column's own and the values; returns what goes between them. */
static struct ArrowArray **export_inner(cst__batch *batch, cst__column *column) {
  column->out.inner_buffers[0] = column->list_null_count > 0 ? column->list_validity.data : NULL;
  column->out.inner_buffers[1] = batch_bytes_of(batch, column, &column->list_offsets);
  column->out.inner = (struct ArrowArray){.length = column->num_lists,
                                          .null_count = column->list_null_count,
                                          .n_buffers = 2,
                                          .n_children = 1,
                                          .buffers = column->out.inner_buffers,
                                          .children = &column->out.child_pointer,
                                          .release = array_release,
                                          .private_data = batch};
  column->out.inner_pointer = &column->out.inner;
  return &column->out.inner_pointer;
}

/* Returns the number of arrays that now count on the batch. */
static int export_column(cst__batch *batch, cst__column *column, int64_t rows) {
  struct ArrowArray *list = &column->out.list;
  if (column->flat) {
    export_values(batch, column, list);
    if (column->null_count > 0) {
      list->null_count = column->null_count;
      column->out.child_buffers[0] = column->validity.data;
    }
    return 1;
  }
  *list = (struct ArrowArray){
      .length = rows, .release = array_release, .private_data = batch, .null_count = rows};
  if (column->kind == CST__VALUES_NULL && !column->is_nested) {
    return 1;
  }
  export_values(batch, column, &column->out.child);
  column->out.child_pointer = &column->out.child;
  column->out.list_buffers[0] =
      column->null_count > 0 ? batch_bytes_of(batch, column, &column->validity) : NULL;
  column->out.list_buffers[1] = batch_bytes_of(batch, column, &column->offsets);
  list->null_count = column->null_count;
  list->n_buffers = column->fixed_size >= 0 ? 1 : 2;
  list->buffers = column->out.list_buffers;
  list->n_children = 1;
  list->children = column->is_nested ? export_inner(batch, column) : &column->out.child_pointer;
  return column->is_nested ? 3 : 2;
}

void cst__batch_attach(cst__batch *batch, struct ArrowArray *array, size_t at) {
  batch->attached = *array;
  batch->attached_at = at;
  array->release = NULL;
}

/* Puts the attached child between the others; returns their number. */
static size_t place_attached(cst__batch *batch, size_t count) {
  if (batch->attached.release == NULL) {
    return count;
  }
  size_t at = batch->attached_at;
  memmove(batch->children + at + 1, batch->children + at,
          (count - at) * sizeof(struct ArrowArray *));
  batch->children[at] = &batch->attached;
  return count + 1;
}

cst_status cst__batch_export(cst__batch *batch, int64_t rows, const size_t *order,
                             const char *const *names, size_t count, struct ArrowArray *out,
                             cst_error *error) {
  if (!keep_sizes(batch)) {
    return cst__fail_memory(error, batch->num_keep * sizeof(int64_t));
  }
  for (size_t i = 0; i < count; i++) {
    cst__column *column = &batch->columns[order[i]];
    cst_status status = narrow_column(column, rows, error);
    if (status != CST_OK) {
      cst__error_add_path(error, names[i], strlen(names[i]));
      return status;
    }
    if (column->kind == CST__VALUES_VIEW && !view_buffers(batch, column)) {
      return cst__fail_memory(error, (batch->num_keep + 3) * sizeof(void *));
    }
  }
  cst__pooled_measure(&batch->pooled);
  int arrays = 1;
  for (size_t i = 0; i < count; i++) {
    cst__column *column = &batch->columns[order[i]];
    arrays += export_column(batch, column, rows);
    batch->children[i] = &column->out.list;
  }
  size_t num_children = place_attached(batch, count);
  atomic_init(&batch->pooled.arrays, arrays);
  batch->root_buffers[0] = NULL;
  *out = (struct ArrowArray){.length = rows,
                             .n_buffers = 1,
                             .n_children = (int64_t)num_children,
                             .buffers = batch->root_buffers,
                             .children = batch->children,
                             .release = array_release,
                             .private_data = batch};
  return CST_OK;
}

void cst__batch_export_column(cst__batch *batch, struct ArrowArray *out) {
  atomic_init(&batch->pooled.arrays, 1);
  export_values(batch, &batch->columns[0], out);
}
