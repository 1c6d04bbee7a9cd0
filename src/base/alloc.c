/* Allocation: the default allocator, sized objects, arenas and growing text. */
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/big_blocks.h"

static bool is_big(size_t size, size_t align) { return size >= CST__BIG_BLOCK && align <= 64; }

static void *allocate_small(size_t size, size_t align) {
  void *ptr = NULL;
  if (align <= _Alignof(max_align_t)) {
    return malloc(size ? size : 1);
  }
  return posix_memalign(&ptr, align, size ? size : 1) == 0 ? ptr : NULL;
}

static void *default_allocate(void *ctx, size_t size, size_t align) {
  (void)ctx;
  if (is_big(size, align)) {
    return cst__big_take(size);
  }
  void *ptr = allocate_small(size, align);
  return ptr == NULL && cst__big_drop() > 0 ? allocate_small(size, align) : ptr;
}

static void default_release(void *ctx, void *ptr, size_t size, size_t align) {
  (void)ctx;
  if (ptr != NULL && is_big(size, align)) {
    cst__big_give(ptr, size);
  } else {
    free(ptr);
  }
}

const cst_allocator cst__default_allocator = {sizeof(cst_allocator), default_allocate,
                                              default_release, NULL};

void cst_free(void *ptr) { free(ptr); }

size_t cst_memory_trim(void) { return cst__big_drop(); }

/* Stands before every object. */
typedef struct object_header {
  cst_allocator allocator;
  size_t size; /* of the object, without the header */
} object_header;

enum { HEADER_SIZE = (sizeof(object_header) + 15) / 16 * 16, OBJECT_ALIGN = 16 };

void *cst__new(const cst_allocator *allocator, size_t size) {
  cst_allocator a = cst__allocator_of(allocator);
  size_t total;
  if (!cst__add(size, HEADER_SIZE, &total)) {
    return NULL;
  }
  char *block = a.allocate(a.ctx, total, OBJECT_ALIGN);
  if (block == NULL) {
    return NULL;
  }
  object_header header = {a, size};
  memcpy(block, &header, sizeof header);
  return block + HEADER_SIZE;
}

void *cst__new_zero(const cst_allocator *allocator, size_t size) {
  void *ptr = cst__new(allocator, size);
  if (ptr != NULL) {
    memset(ptr, 0, size);
  }
  return ptr;
}

void cst__delete(void *ptr) {
  if (ptr == NULL) {
    return;
  }
  char *block = (char *)ptr - HEADER_SIZE;
  object_header header;
  memcpy(&header, block, sizeof header);
  header.allocator.release(header.allocator.ctx, block, header.size + HEADER_SIZE, OBJECT_ALIGN);
}

void *cst__renew(const cst_allocator *allocator, void *ptr, size_t size) {
  if (ptr == NULL) {
    return cst__new(allocator, size);
  }
  object_header header;
  memcpy(&header, (char *)ptr - HEADER_SIZE, sizeof header);
  void *fresh = cst__new(&header.allocator, size);
  if (fresh != NULL) {
    memcpy(fresh, ptr, header.size < size ? header.size : size);
    cst__delete(ptr);
  }
  return fresh;
}

char *cst__new_copy(const cst_allocator *allocator, const void *bytes, size_t size) {
  if (size == SIZE_MAX) {
    return NULL;
  }
  char *copy = cst__new(allocator, size + 1);
  if (copy != NULL) {
    if (size > 0) {
      memcpy(copy, bytes, size);
    }
    copy[size] = '\0';
  }
  return copy;
}

bool cst__grow(const cst_allocator *allocator, void **items, size_t *capacity, size_t want,
               size_t item_size) {
  if (want <= *capacity) {
    return true;
  }
  size_t room = *capacity < 8 ? 8 : *capacity;
  while (room < want) {
    if (!cst__mul(room, 2, &room)) {
      return false;
    }
  }
  size_t bytes;
  if (!cst__mul(room, item_size, &bytes)) {
    return false;
  }
  void *fresh = cst__renew(allocator, *items, bytes);
  if (fresh == NULL) {
    return false;
  }
  *items = fresh;
  *capacity = room;
  return true;
}

struct cst__arena_block {
  cst__arena_block *next;
  size_t size; /* of the whole block */
};

enum { ARENA_BLOCK = 1024 };

void cst__arena_init(cst__arena *arena, const cst_allocator *allocator) {
  *arena = (cst__arena){.allocator = cst__allocator_of(allocator)};
}

/* Also the bytes of a block before what is taken from it. */
static size_t arena_align(const cst__arena *arena) {
  return arena->align > 0 ? arena->align : OBJECT_ALIGN;
}

static void arena_enter_block(cst__arena *arena) {
  arena->at = (char *)arena->head + arena_align(arena);
  arena->end = (char *)arena->head + arena->head->size;
}

/* A block of at least `size` bytes, doubled from the last so that the number stays small. */
static bool arena_add_block(cst__arena *arena, size_t size) {
  size_t align = arena_align(arena);
  size_t want = arena->head != NULL ? arena->head->size : ARENA_BLOCK / 2;
  want = want < (size_t)(1 << 20) ? want * 2 : want;
  size_t least;
  if (!cst__add(size, align, &least)) {
    return false;
  }
  want = want < arena->next ? arena->next : want;
  if (want < least) {
    want = least;
  }
  cst__arena_block *block = arena->allocator.allocate(arena->allocator.ctx, want, align);
  if (block == NULL) {
    return false;
  }
  block->next = arena->head;
  block->size = want;
  arena->next = 0;
  arena->head = block;
  arena_enter_block(arena);
  return true;
}

void *cst__arena_take(cst__arena *arena, size_t size) {
  size_t align = arena_align(arena);
  if (size > SIZE_MAX - align || !cst__arena_charge(arena, size)) {
    return NULL;
  }
  size = size > 0 ? (size + align - 1) & ~(align - 1) : align; /* NULL: there is no memory */
  if ((size_t)(arena->end - arena->at) < size && !arena_add_block(arena, size)) {
    return NULL;
  }
  void *ptr = arena->at;
  arena->at += size;
  return ptr;
}

void *cst__arena_take_items(cst__arena *arena, int64_t count, size_t item_size) {
  size_t size;
  return count >= 0 && cst__mul((size_t)count, item_size, &size) ? cst__arena_take(arena, size)
                                                                 : NULL;
}

void *cst__arena_take_zero(cst__arena *arena, size_t size) {
  void *ptr = cst__arena_take(arena, size);
  if (ptr != NULL) {
    memset(ptr, 0, size);
  }
  return ptr;
}

char *cst__arena_copy(cst__arena *arena, const void *bytes, size_t size) {
  if (size == SIZE_MAX) {
    return NULL;
  }
  char *copy = cst__arena_take(arena, size + 1);
  if (copy != NULL) {
    if (size > 0) {
      memcpy(copy, bytes, size);
    }
    copy[size] = '\0';
  }
  return copy;
}

size_t cst__arena_memory(const cst__arena *arena) {
  size_t size = 0;
  for (const cst__arena_block *block = arena->head; block != NULL; block = block->next) {
    size += block->size;
  }
  return size;
}

void cst__arena_reset(cst__arena *arena) {
  while (arena->head != NULL) {
    cst__arena_block *next = arena->head->next;
    arena->allocator.release(arena->allocator.ctx, arena->head, arena->head->size,
                             arena_align(arena));
    arena->head = next;
  }
  arena->at = NULL;
  arena->end = NULL;
  arena->next = 0;
}

void cst__arena_rewind(cst__arena *arena) {
  size_t all = 0;
  for (const cst__arena_block *block = arena->head; block != NULL; block = block->next) {
    all += block->size;
  }
  if (arena->head != NULL && arena->head->next != NULL) {
    cst__arena_reset(arena);
    arena->next = all;
  } else if (arena->head != NULL) {
    arena_enter_block(arena);
  }
}

static bool grow_on_heap(cst__text *text, size_t want) {
  size_t room = text->capacity < 64 ? 64 : text->capacity;
  while (room < want) {
    room = room > SIZE_MAX / 2 ? want : room * 2;
  }
  char *fresh = realloc(text->data, room);
  if (fresh == NULL) {
    return false;
  }
  text->data = fresh;
  text->capacity = room;
  return true;
}

char *cst__text_grow(cst__text *text, size_t more) {
  size_t want;
  void *data = text->data;
  bool ok = !text->failed && cst__add(text->size, more, &want) && cst__add(want, 1, &want);
  if (ok && text->allocator.allocate == NULL) {
    ok = want <= text->capacity || grow_on_heap(text, want);
  } else if (ok) {
    ok = cst__grow(&text->allocator, &data, &text->capacity, want, 1);
    text->data = data;
  }
  text->failed = !ok;
  return ok ? text->data + text->size : NULL;
}

void cst__text_append(cst__text *text, const void *bytes, size_t size) {
  char *to = cst__text_reserve(text, size);
  if (to != NULL) {
    if (size > 0) {
      memcpy(to, bytes, size);
    }
    to[size] = '\0';
    text->size += size;
  }
}

void cst__text_puts(cst__text *text, const char *string) {
  cst__text_append(text, string, strlen(string));
}

void cst__text_printf(cst__text *text, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  int length = vsnprintf(NULL, 0, fmt, args);
  va_end(args);
  char *to = length >= 0 ? cst__text_reserve(text, (size_t)length) : NULL;
  if (to == NULL) {
    text->failed = true;
    return;
  }
  va_start(args, fmt);
  (void)vsnprintf(to, (size_t)length + 1, fmt, args);
  va_end(args);
  text->size += (size_t)length;
}

void cst__text_free(cst__text *text) {
  if (text->allocator.allocate == NULL) {
    free(text->data);
  } else {
    cst__delete(text->data);
  }
  *text = (cst__text){.allocator = text->allocator};
}

cst_status cst__text_finish(cst__text *text, char **out, size_t *size, cst_error *error) {
  cst__text_append(text, "", 0);
  if (text->failed) {
    size_t wanted = text->size;
    cst__text_free(text);
    return cst__fail_memory(error, wanted);
  }
  *out = text->data;
  if (size != NULL) {
    *size = text->size;
  }
  *text = (cst__text){0};
  return CST_OK;
}
