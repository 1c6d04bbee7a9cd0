/* Builders of nested columns: a tree of them, for a tree of types, is filled value by value and
 * handed out as one Arrow batch.
 *
 *   cst__batch_builder_new(type, allocator, &batch, error)
 *   for every row:
 *     append to the children of batch->root, then cst__builder_end_struct(batch->root)
 *   cst__batch_builder_finish(batch, &array, error)
 *
 * The rules of a tree:
 *  - An append puts one slot at the end of a builder. The items of a list are appended to its child
 *    first, and then cst__builder_end_list makes a slot of all that came since the one before.
 *  - The children of a struct and of a fixed-size list may be shorter than it is: the slots that
 *    they lack at the end are absent. Whoever appends to such a child later calls cst__builder_pad
 *    first. So a field that is rarely there costs nothing in the rows without it.
 *  - An absent slot is null, or zero, false or empty if the builder's `absent_is_null` is false.
 *  - cst__batch_builder_rollback takes rows back, with whatever else was appended after them.
 *
 * Nothing is allocated for a single value: buffers grow by half, come from a pool of batches that
 * were released, and begin as large as the batch before needed them. The bitmap of nulls is made
 * with the first null. Offsets are of 64 bits while they are built; types with 32 bits, and views,
 * get theirs on the way out.
 */
#ifndef ARROW_BUILDER_H
#define ARROW_BUILDER_H

#include <string.h>

#include "arrow/batch.h"
#include "arrow/type.h"

typedef struct cst__batch_builder cst__batch_builder;

typedef struct cst__builder {
  /* What every append touches. */
  int64_t length;
  int64_t capacity;  /* slots that fit into the buffers */
  uint8_t *values;   /* fixed width: `width` bytes a slot; BOOL: bits; BINARY: bytes */
  int64_t *offsets;  /* BINARY, LIST: [length + 1] */
  uint8_t *validity; /* NULL: no null so far; else beyond `length` all bits are set */
  int64_t null_count;
  size_t num_bytes; /* BINARY: in `values` */
  size_t max_bytes; /* BINARY: that fit */

  const cst__type *type;
  struct cst__builder *children;
  size_t num_children;
  cst__batch_builder *batch;
  struct cst__builder_buffers *buffers;       /* that the pointers above lie in */
  struct cst__builder_dictionary *dictionary; /* NULL: not dictionary-encoded */
  bool absent_is_null; /* as the type is nullable, unless somebody sets it otherwise */
  size_t usual_length; /* of the batch before */
  size_t usual_bytes;
} cst__builder;

struct cst__batch_builder {
  cst_allocator allocator;
  cst__batch_pool *pool;
  cst__arena arena;
  cst__builder *root; /* all builders; the children of each lie side by side */
  size_t num_builders;
  struct cst__builder_set *set; /* the buffers of all; NULL between batches */
  int64_t absent;               /* slots of the batch that nobody appended */
  cst_status failure; /* of the last append that failed: CST_NO_MEMORY, or CST_LIMIT for too many */
};

/* What a batch held at some time. */
typedef struct cst__builder_mark {
  int64_t rows;
  int64_t absent;
} cst__builder_mark;

/* The most slots of a batch that nobody appended: few bytes of input may ask for many. */
enum { CST__BUILDER_MAX_ABSENT = 1 << 26 };

/* The type is borrowed, and of layouts other than OTHER (CST_UNSUPPORTED); the root is not
 * dictionary-encoded. List views are built as lists are. */
cst_status cst__batch_builder_new(const cst__type *type, const cst_allocator *allocator,
                                  cst__batch_builder **out, cst_error *error);
void cst__batch_builder_free(cst__batch_builder *batch);
/* Why the last append returned false. */
cst_status cst__batch_builder_fail(const cst__batch_builder *batch, cst_error *error);
static inline cst__builder_mark cst__batch_builder_mark(const cst__batch_builder *batch) {
  return (cst__builder_mark){batch->root->length, batch->absent};
}
/* Takes back what was appended after the mark, in whatever state it is. */
void cst__batch_builder_rollback(cst__batch_builder *batch, cst__builder_mark mark);
/* Hands out all slots of the root, absent ones included. Afterwards there are none, also on
 * failure: CST_NO_MEMORY, or CST_LIMIT with the path of a column that is too large for the offsets
 * or views of its type. */
cst_status cst__batch_builder_finish(cst__batch_builder *batch, struct ArrowArray *out,
                                     cst_error *error);
/* The same with the type, for the caller of a decoder. Without `out` the batch is let go. After a
 * failure nothing is handed out. */
cst_status cst__batch_builder_deliver(cst__batch_builder *batch, struct ArrowSchema *out_schema,
                                      struct ArrowArray *out, cst_error *error);

/* ---- room ---- */

/* Makes room for `more` slots (of strings: without their bytes), and for `more` bytes. False: no
 * memory. */
bool cst__builder_reserve(cst__builder *builder, size_t more);
bool cst__builder_reserve_bytes(cst__builder *builder, size_t more);

static inline bool cst__builder_has_room(cst__builder *builder) {
  return __builtin_expect(builder->length < builder->capacity, 1) ||
         cst__builder_reserve(builder, 1);
}

/* ---- appending; false: no memory, or too many absent slots ---- */

/* Appends absent slots up to `length`. */
bool cst__builder_pad_slots(cst__builder *builder, int64_t length);
static inline bool cst__builder_pad(cst__builder *builder, int64_t length) {
  return __builtin_expect(builder->length >= length, 1) || cst__builder_pad_slots(builder, length);
}

/* Appends a null, whatever the type says of nulls. */
bool cst__builder_append_null(cst__builder *builder);

/* Appends one absent slot: null, or what counts as absent. */
static inline bool cst__builder_append_absent(cst__builder *builder) {
  return builder->absent_is_null ? cst__builder_append_null(builder)
                                 : cst__builder_pad(builder, builder->length + 1);
}

/* Takes back the slots from `length` on, with all that they hold. */
void cst__builder_truncate(cst__builder *builder, int64_t length);

/* Appends a value of the type's width, which is a constant where speed counts. */
static inline bool cst__builder_append(cst__builder *builder, const void *value, size_t width) {
  if (!cst__builder_has_room(builder)) {
    return false;
  }
  memcpy(builder->values + (size_t)builder->length++ * width, value, width);
  return true;
}

/* Where the next value of `width` bytes goes, for writers of their own; it counts once
 * builder->length is raised. There has to be room. */
static inline uint8_t *cst__builder_next(const cst__builder *builder, size_t width) {
  return builder->values + (size_t)builder->length * width;
}

/* Without a look at the room. */
static inline void cst__builder_put_bool(cst__builder *builder, bool value) {
  uint8_t *byte = &builder->values[builder->length >> 3];
  unsigned bit = (unsigned)value << (builder->length & 7);
  *byte = (uint8_t)((builder->length & 7) == 0 ? bit : *byte | bit);
  builder->length++;
}

static inline bool cst__builder_append_bool(cst__builder *builder, bool value) {
  if (!cst__builder_has_room(builder)) {
    return false;
  }
  cst__builder_put_bool(builder, value);
  return true;
}

/* Ends a string whose bytes were written to builder->values from builder->num_bytes on; for writers
 * that have reserved both slots and bytes. */
static inline void cst__builder_put_string(cst__builder *builder, size_t size) {
  builder->num_bytes += size;
  builder->offsets[++builder->length] = (int64_t)builder->num_bytes;
}

/* Afterwards builder->values is there, also for no bytes. */
static inline bool cst__builder_has_bytes(cst__builder *builder, size_t size) {
  return __builtin_expect(size < builder->max_bytes - builder->num_bytes, 1) ||
         cst__builder_reserve_bytes(builder, size);
}

/* Appends a string of `size` bytes that the caller writes; NULL: no memory. */
static inline uint8_t *cst__builder_append_string(cst__builder *builder, size_t size) {
  if (!cst__builder_has_room(builder) || !cst__builder_has_bytes(builder, size)) {
    return NULL;
  }
  cst__builder_put_string(builder, size);
  return builder->values + builder->num_bytes - size;
}

/* Appends a string; NULL with size 0 is an empty one. */
static inline bool cst__builder_append_bytes(cst__builder *builder, const void *bytes,
                                             size_t size) {
  uint8_t *to = cst__builder_append_string(builder, size);
  if (to != NULL && size > 0) {
    memcpy(to, bytes, size);
  }
  return to != NULL;
}

/* Appends a list (or map) of all items that its child has beyond the lists before. */
static inline bool cst__builder_end_list(cst__builder *builder) {
  if (!cst__builder_has_room(builder)) {
    return false;
  }
  builder->offsets[++builder->length] = builder->children[0].length;
  return true;
}

/* Makes the child of a fixed-size list ready for the items of the next slot; cst__builder_end_list
 * is not for these. */
static inline bool cst__builder_begin_fixed(cst__builder *builder) {
  return cst__builder_pad(&builder->children[0], builder->length * builder->type->fixed_size);
}

/* Appends a struct, or a fixed-size list: its children's slots are there, or absent. */
static inline bool cst__builder_end_struct(cst__builder *builder) {
  if (!cst__builder_has_room(builder)) {
    return false;
  }
  builder->length++;
  return true;
}

/* The same for several. */
static inline bool cst__builder_end_structs(cst__builder *builder, size_t count) {
  if (!cst__builder_reserve(builder, count)) {
    return false;
  }
  builder->length += (int64_t)count;
  return true;
}

/* ---- dictionaries ---- */

/* The index of a string in the dictionary of a builder, added if it is new; dictionaries grow from
 * batch to batch, so that an index means the same in all. CST_LIMIT for more values than the type
 * of the indices counts. The values are of any type without children but null. */
cst_status cst__builder_intern(cst__builder *builder, const void *bytes, size_t size,
                               int64_t *index, cst_error *error);
/* For values that are no strings with offsets: makes one, in an empty builder of their type (NULL
 * for strings with offsets), and appends the index that it has. */
cst__builder *cst__builder_dictionary_value(const cst__builder *builder);
cst_status cst__builder_append_value(cst__builder *builder, cst_error *error);
/* The values of the dictionary, and between batches, forgetting all of them. */
size_t cst__builder_dictionary_size(const cst__builder *builder);
void cst__builder_clear_dictionary(cst__builder *builder);
/* Appends an index, in the width of the type. */
static inline bool cst__builder_append_index(cst__builder *builder, int64_t index) {
  return cst__builder_append(builder, &index, builder->type->width); /* little-endian */
}

#endif /* ARROW_BUILDER_H */
