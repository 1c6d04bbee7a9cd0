/* The tree of builders: making it, room, nulls, absent slots, and taking back. */
#include "arrow/builder.h"

#include "arrow/builder_parts.h"
#include "arrow/owned.h"
#include "arrow/view.h"

/* Above this no number of bytes overflows. */
#define MAX_SLOTS (INT64_MAX / 64)

enum { LEAST_BITS = 512 };

static bool builder_has_offsets(const cst__builder *b) {
  cst__layout layout = b->type->layout;
  return layout == CST__LAYOUT_BINARY || layout == CST__LAYOUT_BINARY_VIEW ||
         layout == CST__LAYOUT_LIST || layout == CST__LAYOUT_LIST_VIEW;
}

/* Slots that need no memory of their own, but for the bitmap of nulls. */
static bool has_children_only(const cst__builder *b) {
  cst__layout layout = b->type->layout;
  return layout == CST__LAYOUT_NULL || layout == CST__LAYOUT_STRUCT ||
         layout == CST__LAYOUT_FIXED_LIST;
}

/* ---- the tree ---- */

static size_t type_count(const cst__type *type) {
  size_t count = 1;
  for (size_t i = 0; i < type->num_children; i++) {
    count += type_count(&type->children[i]);
  }
  return count;
}

static cst_status builder_check_type(const cst__type *type, cst_error *error) {
  if (type->layout == CST__LAYOUT_OTHER) {
    return cst__fail(error, CST_UNSUPPORTED, NULL, "columns of type %s cannot be built",
                     cst__layout_name(type->format));
  }
  return CST_OK;
}

/* Sets up a builder; *next is the first one that is free, for its children. */
static cst_status init_builder(cst__batch_builder *batch, cst__builder *b, const cst__type *type,
                               cst__builder **next, cst_error *error) {
  CST__TRY(builder_check_type(type, error));
  *b = (cst__builder){.type = type,
                      .children = *next,
                      .num_children = type->num_children,
                      .batch = batch,
                      .absent_is_null = cst__type_is_nullable(type)};
  b->capacity = has_children_only(b) ? MAX_SLOTS : 0;
  *next += type->num_children;
  if (type->dictionary != NULL) {
    CST__TRY(cst__builder_dictionary_new(b, error));
  }
  for (size_t i = 0; i < type->num_children; i++) {
    CST__TRY(init_builder(batch, &b->children[i], &type->children[i], next, error));
  }
  return CST_OK;
}

static size_t builder_set_bytes(const cst__pooled *pooled) {
  const cst__builder_set *set = (const cst__builder_set *)pooled;
  size_t bytes = 0;
  for (size_t i = 0; i < set->num_builders; i++) {
    const cst__builder_buffers *own = &set->buffers[i];
    bytes += own->validity.capacity + own->offsets.capacity + own->values.capacity +
             own->views.capacity + sizeof *own;
  }
  return bytes;
}

static void builder_set_free(cst__pooled *pooled) {
  cst__builder_set *set = (cst__builder_set *)pooled;
  const cst_allocator *allocator = cst__batch_pool_allocator(pooled->pool);
  for (size_t i = 0; i < set->num_builders; i++) {
    cst__builder_buffers *own = &set->buffers[i];
    cst__buffer_free(allocator, &own->validity);
    cst__buffer_free(allocator, &own->offsets);
    cst__buffer_free(allocator, &own->values);
    cst__buffer_free(allocator, &own->views);
  }
  cst__delete(set->arrays);
  cst__delete(set);
}

cst_status cst__batch_builder_new(const cst__type *type, const cst_allocator *allocator,
                                  cst__batch_builder **out, cst_error *error) {
  cst__batch_builder *batch = cst__new_zero(allocator, sizeof *batch);
  if (batch == NULL) {
    return cst__fail_memory(error, sizeof *batch);
  }
  batch->allocator = cst__allocator_of(allocator);
  cst__arena_init(&batch->arena, allocator);
  size_t count = type_count(type);
  batch->pool =
      cst__batch_pool_new_of(allocator, (cst__pooled_kind){builder_set_bytes, builder_set_free});
  batch->root = cst__new_zero(allocator, count * sizeof *batch->root);
  cst_status status = CST_OK;
  if (batch->pool == NULL || batch->root == NULL) {
    status = cst__fail_memory(error, count * sizeof *batch->root);
  } else {
    cst__builder *next = batch->root + 1;
    batch->num_builders = count;
    status = init_builder(batch, batch->root, type, &next, error);
  }
  if (status != CST_OK) {
    cst__batch_builder_free(batch);
    return status;
  }
  *out = batch;
  return CST_OK;
}

void cst__batch_builder_free(cst__batch_builder *batch) {
  if (batch == NULL) {
    return;
  }
  if (batch->set != NULL) {
    cst__batch_pool_put(&batch->set->pooled);
  }
  for (size_t i = 0; batch->root != NULL && i < batch->num_builders; i++) {
    cst__builder_dictionary_free(batch->root[i].dictionary);
  }
  cst__batch_pool_release(batch->pool);
  cst__arena_reset(&batch->arena);
  cst__delete(batch->root);
  cst__delete(batch);
}

cst_status cst__batch_builder_fail(const cst__batch_builder *batch, cst_error *error) {
  return batch->failure != CST_LIMIT
             ? cst__fail_memory(error, 64)
             : cst__fail(error, CST_LIMIT, "use smaller batches, or give types with fewer fields",
                         "a batch holds more than %d absent values", CST__BUILDER_MAX_ABSENT);
}

/* ---- sets of buffers ---- */

static cst__builder_set *builder_set_new(const cst__batch_builder *batch) {
  size_t count = batch->num_builders;
  cst__builder_set *set =
      cst__new_zero(&batch->allocator, sizeof *set + count * sizeof *set->buffers);
  void *arrays = cst__new(&batch->allocator, count * sizeof(struct ArrowArray *));
  if (set == NULL || arrays == NULL) {
    cst__delete(set);
    cst__delete(arrays);
    return NULL;
  }
  set->num_builders = count;
  set->arrays = arrays;
  for (size_t i = 0; i < count; i++) {
    set->arrays[i] = &set->buffers[i].array;
  }
  cst__batch_pool_adopt(batch->pool, &set->pooled);
  return set;
}

/* Bytes that a slot takes of the buffer. Values of no bytes take one, so that they are bounded,
 * too.
 */
static size_t slot_width(const cst__builder *b) { return b->type->width > 0 ? b->type->width : 1; }

/* Slots that the buffers hold, without the bitmap of nulls. */
static int64_t room_of(const cst__builder *b) {
  const cst__builder_buffers *own = b->buffers;
  if (has_children_only(b)) {
    return MAX_SLOTS;
  }
  if (builder_has_offsets(b)) {
    return own->offsets.data != NULL ? (int64_t)(own->offsets.capacity / 8) - 1 : 0;
  }
  if (own->values.data == NULL) {
    return 0;
  }
  if (b->type->layout == CST__LAYOUT_BOOL) {
    return (int64_t)own->values.capacity * 8;
  }
  return (int64_t)(own->values.capacity / slot_width(b));
}

/* Reads the buffers' places anew; the bitmap of nulls is not among them. */
static void builder_refresh(cst__builder *b) {
  const cst__builder_buffers *own = b->buffers;
  b->values = own->values.data;
  b->offsets = (int64_t *)(void *)own->offsets.data;
  b->max_bytes = builder_has_offsets(b) ? own->values.capacity : 0;
}

bool cst__builder_attach(cst__batch_builder *batch) {
  cst__builder_set *set = (cst__builder_set *)cst__batch_pool_take(batch->pool);
  if (set == NULL) {
    set = builder_set_new(batch);
  }
  if (set == NULL) {
    return false;
  }
  batch->set = set;
  for (size_t i = 0; i < batch->num_builders; i++) {
    cst__builder *b = &batch->root[i];
    b->buffers = &set->buffers[i];
    builder_refresh(b);
    b->capacity = room_of(b);
    if (b->offsets != NULL) {
      b->offsets[0] = 0;
    }
  }
  return true;
}

void cst__builder_detach(cst__batch_builder *batch) {
  for (size_t i = 0; i < batch->num_builders; i++) {
    cst__builder *b = &batch->root[i];
    b->length = b->null_count = 0;
    b->capacity = has_children_only(b) ? MAX_SLOTS : 0;
    b->values = b->validity = NULL;
    b->offsets = NULL;
    b->num_bytes = b->max_bytes = 0;
    b->buffers = NULL;
  }
  batch->set = NULL;
  batch->absent = 0;
}

/* ---- room ---- */

static bool builder_fail_room(cst__builder *b) {
  b->batch->failure = CST_NO_MEMORY;
  return false;
}

static bool is_attached(cst__builder *b) {
  return b->batch->set != NULL || cst__builder_attach(b->batch);
}

/* Makes the bitmap of nulls as long as `slots`, with all bits set from the end of the builder on.
 */
static bool builder_grow_validity(cst__builder *b, int64_t slots) {
  cst__buffer *to = &b->buffers->validity;
  bool is_new = b->validity == NULL;
  size_t keep = is_new ? 0 : cst__bits_size(b->length);
  if (!cst__buffer_reserve(&b->batch->allocator, to, cst__bits_size(slots), keep)) {
    return false;
  }
  b->validity = to->data;
  int64_t from = is_new ? 0 : b->length;
  cst__bits_set(b->validity, from, slots - from);
  return true;
}

/* Bits for so many slots that the bitmap need not grow with each of them. */
static int64_t builder_bits_for(const cst__builder *b, int64_t want) {
  int64_t least = b->length + b->length / 2 + LEAST_BITS;
  int64_t usual = (int64_t)b->usual_length;
  int64_t most = least > usual ? least : usual;
  return most > want ? most : want;
}

static bool builder_grow_slots(cst__builder *b, size_t want) {
  const cst_allocator *a = &b->batch->allocator;
  cst__builder_buffers *own = b->buffers;
  size_t have = (size_t)b->length;
  if (has_children_only(b)) {
    return true;
  }
  if (builder_has_offsets(b)) {
    return cst__buffer_reserve(a, &own->offsets, (want + 1) * 8, (have + 1) * 8);
  }
  size_t size = cst__bits_size((int64_t)want);
  size_t keep = cst__bits_size(b->length);
  if (b->type->layout != CST__LAYOUT_BOOL) {
    keep = have * slot_width(b);
    if (!cst__mul(want, slot_width(b), &size)) {
      return false;
    }
  }
  return cst__buffer_reserve(a, &own->values, size, keep);
}

bool cst__builder_reserve(cst__builder *b, size_t more) {
  size_t want;
  if (!cst__add((size_t)b->length, more, &want) || want > MAX_SLOTS || !is_attached(b)) {
    return builder_fail_room(b);
  }
  if ((int64_t)want <= b->capacity) {
    return true;
  }
  if (b->length == 0 && want < b->usual_length) {
    want = b->usual_length;
  }
  bool is_new = b->offsets == NULL;
  bool ok = builder_grow_slots(b, want);
  builder_refresh(b);
  if (is_new && b->offsets != NULL) {
    b->offsets[0] = 0;
  }
  int64_t room = has_children_only(b) ? builder_bits_for(b, (int64_t)want) : room_of(b);
  if (!ok || (b->validity != NULL && !builder_grow_validity(b, room))) {
    return builder_fail_room(b);
  }
  b->capacity = room;
  return true;
}

bool cst__builder_reserve_bytes(cst__builder *b, size_t more) {
  size_t want;
  if (!cst__add(b->num_bytes, more, &want) || want > INT64_MAX || !is_attached(b)) {
    return builder_fail_room(b);
  }
  if (b->num_bytes == 0 && want < b->usual_bytes) {
    want = b->usual_bytes;
  }
  bool ok = cst__buffer_reserve(&b->batch->allocator, &b->buffers->values, want, b->num_bytes);
  builder_refresh(b);
  return ok || builder_fail_room(b);
}

/* ---- nulls and absent slots ---- */

/* Makes the bitmap, for at least `slots` slots, if there is none. */
static bool need_validity(cst__builder *b, int64_t slots) {
  if (b->validity != NULL) {
    return true;
  }
  if (!is_attached(b)) {
    return builder_fail_room(b);
  }
  int64_t room = has_children_only(b) ? builder_bits_for(b, slots) : b->capacity;
  if (!builder_grow_validity(b, room)) {
    return builder_fail_room(b);
  }
  b->capacity = room;
  return true;
}

/* Slots up to `length`: zero, false, empty, or without children; there is room for them. */
static void builder_put_zeros(cst__builder *b, int64_t length) {
  int64_t have = b->length;
  if (builder_has_offsets(b)) {
    for (int64_t i = have; i < length; i++) {
      b->offsets[i + 1] = b->offsets[have];
    }
  } else if (b->type->layout == CST__LAYOUT_BOOL) { /* the rest of the last byte is zero */
    size_t from = cst__bits_size(have);
    memset(b->values + from, 0, cst__bits_size(length) - from);
  } else if (b->type->width > 0) {
    memset(cst__builder_next(b, b->type->width), 0, (size_t)(length - have) * b->type->width);
  }
  b->length = length;
}

static void builder_clear_bits(uint8_t *bits, int64_t from, int64_t to) {
  for (; from < to && (from & 7) != 0; from++) {
    bits[from >> 3] &= (uint8_t) ~(1U << (from & 7));
  }
  if (from < to) {
    memset(bits + (from >> 3), 0, (size_t)(to - from) / 8);
    for (from = to & ~(int64_t)7; from < to; from++) {
      bits[from >> 3] &= (uint8_t) ~(1U << (from & 7));
    }
  }
}

static bool append_absent(cst__builder *b, int64_t length, bool is_null) {
  int64_t from = b->length;
  if (b->type->layout == CST__LAYOUT_NULL) {
    b->length = length;
    return true;
  }
  if ((length > b->capacity && !cst__builder_reserve(b, (size_t)(length - from))) ||
      (is_null && !need_validity(b, length))) {
    return false;
  }
  builder_put_zeros(b, length);
  if (is_null) {
    builder_clear_bits(b->validity, from, length);
    b->null_count += length - from;
  }
  return true;
}

bool cst__builder_append_null(cst__builder *b) { return append_absent(b, b->length + 1, true); }

bool cst__builder_pad_slots(cst__builder *b, int64_t length) {
  if (b->type->layout != CST__LAYOUT_NULL) {
    b->batch->absent += length - b->length;
    if (b->batch->absent > CST__BUILDER_MAX_ABSENT) {
      b->batch->failure = CST_LIMIT;
      return false;
    }
  }
  return append_absent(b, length, b->absent_is_null);
}

/* ---- taking back ---- */

void cst__builder_truncate(cst__builder *b, int64_t length) {
  int64_t n = length < b->length ? length : b->length;
  for (size_t i = 0; i < b->num_children; i++) {
    int64_t items = b->type->layout == CST__LAYOUT_FIXED_LIST ? n * b->type->fixed_size : n;
    if (cst__builder_is_list(b)) {
      items = b->offsets != NULL ? b->offsets[n] : 0;
    }
    cst__builder_truncate(&b->children[i], items);
  }
  if (b->offsets != NULL && !cst__builder_is_list(b)) {
    b->num_bytes = (size_t)b->offsets[n];
  }
  if (b->validity != NULL && n < b->length) {
    int64_t valid = cst__bitmap_count(b->validity, n, b->length - n);
    b->null_count -= b->length - n - valid;
    cst__bits_set(b->validity, n, b->length - n);
  }
  if (b->type->layout == CST__LAYOUT_BOOL && n < b->length && (n & 7) != 0) {
    b->values[n >> 3] &= (uint8_t)((1U << (n & 7)) - 1);
  }
  b->length = n;
}

void cst__batch_builder_rollback(cst__batch_builder *batch, cst__builder_mark mark) {
  cst__builder_truncate(batch->root, mark.rows);
  batch->absent = mark.absent;
}
