/* Memory: objects from the caller's allocator, checked arithmetic, arenas. */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <columnstone/status.h>
#include <string.h>

#include "base/error.h"

/* The C library's allocator, with huge pages advised for large blocks where the system has them. */
extern const cst_allocator cst__default_allocator;

/* The caller's allocator, or the default one for NULL. */
static inline cst_allocator cst__allocator_of(const cst_allocator *allocator) {
  return allocator != NULL ? *allocator : cst__default_allocator;
}

/* Objects: blocks that remember their size and allocator, aligned for any type. NULL if out of
 * memory. cst__renew keeps the old block when it fails. cst__delete(NULL) is allowed. */
void *cst__new(const cst_allocator *allocator, size_t size);
void *cst__new_zero(const cst_allocator *allocator, size_t size);
void *cst__renew(const cst_allocator *allocator, void *ptr, size_t size);
void cst__delete(void *ptr);
/* A copy of bytes with a NUL after it. */
char *cst__new_copy(const cst_allocator *allocator, const void *bytes, size_t size);

/* False on overflow. */
static inline bool cst__add(size_t a, size_t b, size_t *out) {
  return !__builtin_add_overflow(a, b, out);
}
static inline bool cst__mul(size_t a, size_t b, size_t *out) {
  return !__builtin_mul_overflow(a, b, out);
}

/* Makes room for `want` items in an array that grows by doubling; false if out of memory. */
bool cst__grow(const cst_allocator *allocator, void **items, size_t *capacity, size_t want,
               size_t item_size);

/* An arena: many small blocks, freed together. Zero-initialised storage with `allocator` set. */
typedef struct cst__arena_block cst__arena_block;
typedef struct cst__arena {
  cst_allocator allocator;
  cst__arena_block *head; /* newest block; owns the list */
  char *at;               /* free bytes of the newest block */
  char *end;
  size_t next;  /* bytes that the next block has at least */
  size_t align; /* of what is taken: a power of two from 16 on; 0: 16 */
  size_t most;  /* bytes that may be taken; 0: as many as there are */
  size_t taken; /* of them */
  bool is_over; /* more was asked for, and refused */
} cst__arena;

void cst__arena_init(cst__arena *arena, const cst_allocator *allocator);
/* Aligned as the arena says; NULL if out of memory. */
void *cst__arena_take(cst__arena *arena, size_t size);
void *cst__arena_take_zero(cst__arena *arena, size_t size);
/* Counts bytes among those that may be taken; false: they are too many. */
static inline bool cst__arena_charge(cst__arena *arena, size_t size) {
  if (arena->most == 0) {
    return true;
  }
  bool fits = size <= arena->most - arena->taken;
  arena->taken += fits ? size : 0;
  arena->is_over |= !fits;
  return fits;
}
/* Room for `count` items; NULL if out of memory, or if there can be no such number of them. */
void *cst__arena_take_items(cst__arena *arena, int64_t count, size_t item_size);
/* NUL-terminated copy. */
char *cst__arena_copy(cst__arena *arena, const void *bytes, size_t size);
/* Bytes of all blocks. */
size_t cst__arena_memory(const cst__arena *arena);
/* Frees every block; the arena can be used again. */
void cst__arena_reset(cst__arena *arena);
/* Takes everything back for what is taken next, which gets the same memory, or one block of as many
 * bytes as there were in several. */
void cst__arena_rewind(cst__arena *arena);

/* A growing byte string. Once out of memory it stays `failed` and ignores appends, so that a writer
 * checks once, at the end. Zero-initialised storage, with the allocator set or without: then its
 * bytes lie on the C library's heap (what cst_free frees). */
typedef struct cst__text {
  char *data;
  size_t size;
  size_t capacity;
  bool failed;
  cst_allocator allocator;
} cst__text;

/* For cst__text_reserve. */
char *cst__text_grow(cst__text *text, size_t more);
/* Room for `more` bytes and a NUL behind `size`, which whoever writes them raises; NULL if there is
 * none. */
static inline char *cst__text_reserve(cst__text *text, size_t more) {
  return __builtin_expect(more < text->capacity - text->size && !text->failed, 1)
             ? text->data + text->size
             : cst__text_grow(text, more);
}
void cst__text_append(cst__text *text, const void *bytes, size_t size);
/* The same for a few bytes whose number the compiler knows, in hot loops. */
static inline void cst__text_append_few(cst__text *text, const void *bytes, size_t size) {
  char *to = cst__text_reserve(text, size);
  if (to != NULL) {
    memcpy(to, bytes, size);
    to[size] = '\0';
    text->size += size;
  }
}
void cst__text_puts(cst__text *text, const char *string);
void cst__text_printf(cst__text *text, const char *fmt, ...) CST__PRINTF(2, 3);
/* Frees the bytes; the text can be used again. */
void cst__text_free(cst__text *text);
/* Hands the NUL-terminated bytes of a text without an allocator over (caller: cst_free), or fails
 * with CST_NO_MEMORY. */
cst_status cst__text_finish(cst__text *text, char **out, size_t *size, cst_error *error);

#endif /* BASE_ALLOC_H */
