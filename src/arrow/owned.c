/* Arrays with buffers of their own, and runs of bits. */
#include "arrow/owned.h"

#include <string.h>

/* The private data of one array. */
typedef struct owned {
  cst_allocator allocator;
  cst__buffer *own; /* as many as there are buffers; data NULL: not ours */
  const void **pointers;
  struct ArrowArray *children;
  struct ArrowArray **child_pointers;
  struct ArrowArray dictionary;
  int64_t num_buffers;
  int64_t num_children;
  void *owner;
  void (*release)(void *owner);
} owned;

static void owned_free(owned *o) {
  for (int64_t i = 0; i < o->num_children; i++) {
    cst__array_release(&o->children[i]);
  }
  cst__array_release(&o->dictionary);
  for (int64_t i = 0; i < o->num_buffers; i++) {
    cst__buffer_free(&o->allocator, &o->own[i]);
  }
  if (o->release != NULL) {
    o->release(o->owner);
  }
  cst__delete(o);
}

static void owned_release(struct ArrowArray *array) {
  owned *o = array->private_data;
  array->release = NULL;
  owned_free(o);
}

/* The block of an array: the struct, and what its pointers point to after it. */
static bool block_size(int64_t num_buffers, int64_t num_children, size_t *out) {
  size_t buffers;
  size_t children;
  return cst__mul((size_t)num_buffers, sizeof(cst__buffer) + sizeof(void *), &buffers) &&
         cst__mul((size_t)num_children, sizeof(struct ArrowArray) + sizeof(void *), &children) &&
         cst__add(buffers, children, out) && cst__add(*out, sizeof(owned), out);
}

cst_status cst__owned_new(const cst_allocator *allocator, int64_t num_buffers, int64_t num_children,
                          bool has_dictionary, struct ArrowArray *out, cst_error *error) {
  size_t size = 0;
  *out = (struct ArrowArray){0};
  owned *o = block_size(num_buffers, num_children, &size) ? cst__new_zero(allocator, size) : NULL;
  if (o == NULL) {
    return cst__fail_memory(error, size);
  }
  o->allocator = cst__allocator_of(allocator);
  o->num_buffers = num_buffers;
  o->num_children = num_children;
  o->own = (cst__buffer *)(o + 1);
  o->children = (struct ArrowArray *)(void *)(o->own + num_buffers);
  o->pointers = (const void **)(void *)(o->children + num_children);
  o->child_pointers = (struct ArrowArray **)(void *)(o->pointers + num_buffers);
  for (int64_t i = 0; i < num_children; i++) {
    o->child_pointers[i] = &o->children[i];
  }
  *out = (struct ArrowArray){.n_buffers = num_buffers,
                             .n_children = num_children,
                             .buffers = o->pointers,
                             .children = o->child_pointers,
                             .dictionary = has_dictionary ? &o->dictionary : NULL,
                             .release = owned_release,
                             .private_data = o};
  return CST_OK;
}

void *cst__owned_buffer(struct ArrowArray *array, int64_t index, size_t size) {
  owned *o = array->private_data;
  if (!cst__buffer_reserve(&o->allocator, &o->own[index], size, 0)) {
    return NULL;
  }
  uint8_t *data = o->own[index].data;
  if (size > 0) {
    data[size - 1] = 0;
  }
  array->buffers[index] = data;
  return data;
}

void cst__owned_give(struct ArrowArray *array, int64_t index, cst__buffer *buffer) {
  owned *o = array->private_data;
  cst__buffer_free(&o->allocator, &o->own[index]);
  o->own[index] = *buffer;
  array->buffers[index] = buffer->data;
  *buffer = (cst__buffer){NULL, 0};
}

void cst__owned_keep(struct ArrowArray *array, void *owner, void (*release)(void *owner)) {
  owned *o = array->private_data;
  o->owner = owner;
  o->release = release;
}

void *cst__owned_keeper(const struct ArrowArray *array, void (*release)(void *owner)) {
  const owned *o = array->release == owned_release ? array->private_data : NULL;
  return o != NULL && o->num_buffers == 0 && o->release == release ? o->owner : NULL;
}

/* ---- bits ---- */

static void put_bit(uint8_t *bits, int64_t at, unsigned bit) {
  unsigned mask = 1U << (at & 7);
  bits[at >> 3] = (uint8_t)((bits[at >> 3] & ~mask) | (bit ? mask : 0));
}

enum { FEW_BITS = 56 };

/* At most FEW_BITS bits; touches the bytes that hold them and no others. */
static void copy_few_bits(uint8_t *bits, int64_t to, const uint8_t *from, int64_t begin,
                          int64_t count) {
  int64_t shift = begin & 7;
  uint64_t word = 0;
  from += begin >> 3;
  for (int64_t i = 0; 8 * i < shift + count; i++) {
    word |= (uint64_t)from[i] << (8 * i);
  }
  uint64_t mask = (UINT64_C(1) << count) - 1;
  word = (word >> shift & mask) << (to & 7);
  mask <<= to & 7;
  bits += to >> 3;
  for (; mask != 0; mask >>= 8, word >>= 8, bits++) {
    *bits = (uint8_t)((*bits & ~mask) | word);
  }
}

void cst__bits_copy(uint8_t *bits, int64_t to, const uint8_t *from, int64_t begin, int64_t count) {
  if (count <= FEW_BITS) {
    if (count > 0) {
      copy_few_bits(bits, to, from, begin, count);
    }
    return;
  }
  int64_t head = -to & 7;
  copy_few_bits(bits, to, from, begin, head);
  to += head;
  begin += head;
  count -= head;
  const uint8_t *source = from + (begin >> 3);
  uint8_t *target = bits + (to >> 3);
  int64_t bytes = count / 8;
  int shift = (int)(begin & 7);
  if (shift == 0) {
    memcpy(target, source, (size_t)bytes);
  } else {
    for (int64_t i = 0; i < bytes; i++) {
      target[i] = (uint8_t)(source[i] >> shift | source[i + 1] << (8 - shift));
    }
  }
  copy_few_bits(bits, to + bytes * 8, from, begin + bytes * 8, count - bytes * 8);
}

void cst__bits_set(uint8_t *bits, int64_t to, int64_t count) {
  for (; count > 0 && (to & 7) != 0; to++, count--) {
    put_bit(bits, to, 1);
  }
  if (count >= 8) {
    memset(bits + (to >> 3), 0xff, (size_t)(count / 8));
  }
  for (int64_t i = count & ~(int64_t)7; i < count; i++) {
    put_bit(bits, to + i, 1);
  }
}

/* The eight bits of a byte as eight bytes, the lowest first. */
static uint64_t spread_bits(uint8_t bits) {
  uint64_t low = (uint64_t)(bits & 0x7f) * UINT64_C(0x0002040810204081);
  return (low & UINT64_C(0x0101010101010101)) | (uint64_t)(bits >> 7) << 56;
}

static uint8_t get_bit(const uint8_t *bits, int64_t at) { return bits[at >> 3] >> (at & 7) & 1; }

void cst__bits_to_bytes(const uint8_t *bits, int64_t from, int64_t count, uint8_t *to) {
  int64_t i = 0;
  for (; i < count && ((from + i) & 7) != 0; i++) {
    to[i] = get_bit(bits, from + i);
  }
  for (; i + 8 <= count; i += 8) {
    uint64_t eight = spread_bits(bits[(from + i) >> 3]);
    memcpy(to + i, &eight, 8);
  }
  for (; i < count; i++) {
    to[i] = get_bit(bits, from + i);
  }
}

void cst__bytes_to_bits(const uint8_t *bytes, int64_t count, unsigned invert, uint8_t *bits) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  const uint64_t turn = invert * ones;
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight;
    memcpy(&eight, bytes + i, sizeof eight);
    eight = (((eight & 0x7f * ones) + 0x7f * ones) | eight) >> 7 & ones;
    bits[i >> 3] = (uint8_t)((eight ^ turn) * UINT64_C(0x0102040810204080) >> 56);
  }
  if (i < count) {
    unsigned byte = 0;
    for (int64_t k = i; k < count; k++) {
      byte |= ((bytes[k] != 0) ^ invert) << (k - i);
    }
    bits[i >> 3] = (uint8_t)byte;
  }
}

/* ---- lending ---- */

static void release_nothing(struct ArrowArray *array) { array->release = NULL; }

static bool is_whole_array(const struct ArrowSchema *schema, const struct ArrowArray *array) {
  return array != NULL && array->release != NULL && array->n_children == schema->n_children &&
         (array->n_children == 0 || array->children != NULL) &&
         (array->dictionary != NULL) == (schema->dictionary != NULL);
}

static cst_status lend_children(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                cst__arena *arena, struct ArrowArray *out, cst_error *error) {
  size_t count = (size_t)schema->n_children;
  struct ArrowArray *children = cst__arena_take(arena, count * sizeof *children);
  out->children = cst__arena_take(arena, count * sizeof(struct ArrowArray *));
  if (children == NULL || out->children == NULL) {
    return cst__fail_memory(error, count * sizeof *children);
  }
  for (size_t i = 0; i < count; i++) {
    out->children[i] = &children[i];
    CST__TRY(cst__array_lend(schema->children[i], array->children[i], arena, &children[i], error));
  }
  return CST_OK;
}

cst_status cst__array_lend(const struct ArrowSchema *schema, const struct ArrowArray *array,
                           cst__arena *arena, struct ArrowArray *out, cst_error *error) {
  if (!is_whole_array(schema, array)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "the Arrow array lacks the children or the dictionary of its type");
  }
  *out = *array;
  out->release = release_nothing;
  out->private_data = NULL;
  if (schema->n_children > 0) {
    CST__TRY(lend_children(schema, array, arena, out, error));
  }
  if (schema->dictionary == NULL) {
    return CST_OK;
  }
  out->dictionary = cst__arena_take(arena, sizeof *out->dictionary);
  return out->dictionary != NULL
             ? cst__array_lend(schema->dictionary, array->dictionary, arena, out->dictionary, error)
             : cst__fail_memory(error, sizeof *out->dictionary);
}
