/* Arrow data as an input describes it: an ArrowSchema and an ArrowArray, made as a producer would
 * make them, in buffers of exactly the size that they need.
 *
 * The language: a node is a kind, flags, a length and an offset (one byte each), what the flags ask
 * for, its buffers, and its children. Bytes that are missing are zero.
 */
#ifndef FUZZ_ARROW_FEED_H
#define FUZZ_ARROW_FEED_H

#include <columnstone/arrow_abi.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"

enum { MOST_SLOTS = 64, MOST_DEPTH = 8, MOST_CHILDREN = 4, MOST_BLOCKS = 512 };

enum {
  FLAG_VALIDITY = 1 << 0,
  FLAG_COUNTS = 1 << 1,     /* other numbers of buffers and children than there should be */
  FLAG_LENGTHS = 1 << 2,    /* 64-bit length and offset */
  FLAG_NO_BUFFER = 1 << 3,  /* one buffer is NULL */
  FLAG_NULL_COUNT = 1 << 4, /* a null count is given */
  FLAG_MISALIGNED = 1 << 5,
  FLAG_DICTIONARY = 1 << 6,
  FLAG_RELEASED = 1 << 7
};

/* ---- the input ---- */

typedef struct feed {
  const uint8_t *at;
  const uint8_t *end;
  bool is_damaged; /* may hold what no sound producer makes */
} feed;

static uint8_t take(feed *f) { return f->at < f->end ? *f->at++ : 0; }

static int64_t take_64(feed *f) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) {
    value |= (uint64_t)take(f) << (8 * i);
  }
  return (int64_t)value;
}

/* ---- making ---- */

static void *blocks[MOST_BLOCKS];
static size_t num_blocks;

/* Zeroed memory of exactly this size; all of it is freed after the run. */
static void *make_block(size_t size) {
  if (num_blocks == MOST_BLOCKS) {
    return NULL;
  }
  void *block = calloc(1, size ? size : 1);
  FUZZ_ASSERT(block != NULL);
  blocks[num_blocks++] = block;
  return block;
}

static void free_blocks(void) {
  while (num_blocks > 0) {
    free(blocks[--num_blocks]);
  }
}

static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_array(struct ArrowArray *array) { array->release = NULL; }

static const struct kind {
  const char *format;
  int width;   /* bytes of a value; 0: see the kind */
  char layout; /* n: null, b: bits, f: fixed, z: binary, v: views, l: list, w: list view, s: struct
                */
} kinds[] = {
    {"n", 0, 'n'},   {"b", 0, 'b'},    {"c", 1, 'f'},    {"C", 1, 'f'},  {"s", 2, 'f'},
    {"S", 2, 'f'},   {"i", 4, 'f'},    {"I", 4, 'f'},    {"l", 8, 'f'},  {"L", 8, 'f'},
    {"f", 4, 'f'},   {"g", 8, 'f'},    {"e", 2, 'f'},    {"z", 4, 'z'},  {"Z", 8, 'z'},
    {"u", 4, 'z'},   {"U", 8, 'z'},    {"vz", 0, 'v'},   {"vu", 0, 'v'}, {"w:3", 3, 'f'},
    {"w:0", 0, 'f'}, {"+l", 4, 'l'},   {"+L", 8, 'l'},   {"+m", 4, 'l'}, {"+vl", 4, 'w'},
    {"+vL", 8, 'w'}, {"+w:2", 0, 'x'}, {"+w:0", 0, 'x'}, {"+s", 0, 's'}, {"tsu:", 8, 'f'},
    {"?", 0, 'n'},   {"+w:", 0, 'x'},  {"w:9x", 0, 'n'}, {"", 0, 'n'},
};

static const char *const names[] = {"x", "i", "n", "m", "a"};

/* Bytes from the input: how many, and these again and again; none is zero. */
static void fill(feed *f, uint8_t *to, size_t size) {
  uint8_t pattern[16];
  size_t count = take(f) % (sizeof pattern + 1);
  for (size_t i = 0; i < count; i++) {
    pattern[i] = take(f);
  }
  for (size_t i = 0; i < size && count > 0; i++) {
    to[i] = pattern[i % count];
  }
}

static void put_entry(void *entries, int width, int64_t i, int64_t value) {
  if (width == 8) {
    ((int64_t *)entries)[i] = value;
  } else {
    ((int32_t *)entries)[i] = (int32_t)value;
  }
}

/* Offsets: steps of the same size, or 16-bit numbers from the input. Gives the largest. */
static int64_t fill_entries(feed *f, void *entries, int width, int64_t count, int64_t first) {
  uint8_t mode = take(f);
  int64_t largest = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t value = mode % 8 * i + first;
    if (mode >= 128) {
      uint8_t low = take(f);
      value = (int16_t)(low | take(f) << 8);
    }
    put_entry(entries, width, i, value);
    largest = value > largest ? value : largest;
  }
  return largest;
}

static void make_views(feed *f, const void **buffers, int64_t slots, int64_t *num_buffers) {
  int64_t count = take(f) % 3;
  int64_t *sizes = make_block((size_t)count * 8);
  uint8_t *views = make_block((size_t)slots * 16);
  if (sizes == NULL || views == NULL) {
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    sizes[i] = take(f);
    uint8_t *bytes = make_block((size_t)sizes[i]);
    buffers[2 + i] = bytes;
    if (bytes == NULL) {
      return;
    }
    fill(f, bytes, (size_t)sizes[i]);
  }
  for (int64_t i = 0; i < slots; i++) {
    int32_t entry[4] = {(int8_t)take(f), 0, 0, 0};
    if (entry[0] > 12) {
      entry[2] = (int8_t)take(f);
      entry[3] = (int8_t)take(f);
      if (entry[2] >= 0 && entry[2] < count && entry[3] >= 0 && entry[3] + 4 <= sizes[entry[2]]) {
        memcpy(&entry[1], (const char *)buffers[2 + entry[2]] + entry[3], 4);
      }
    } else {
      fill(f, (uint8_t *)&entry[1], 12);
    }
    memcpy(views + i * 16, entry, 16);
  }
  buffers[1] = views;
  buffers[2 + count] = sizes;
  *num_buffers = 3 + count;
}

/* Buffers of `slots` slots. */
static void make_buffers(feed *f, const struct kind *k, struct ArrowArray *array, int64_t slots,
                         const void **buffers) {
  void *entries;
  switch (k->layout) {
    case 'b':
      array->n_buffers = 2;
      buffers[1] = make_block((size_t)(slots + 7) / 8);
      break;
    case 'f':
      array->n_buffers = 2;
      buffers[1] = entries = make_block((size_t)(slots * k->width));
      if (entries != NULL) {
        fill(f, entries, (size_t)(slots * k->width));
      }
      break;
    case 'z':
    case 'l':
      array->n_buffers = k->layout == 'z' ? 3 : 2;
      buffers[1] = entries = make_block((size_t)((slots + 1) * k->width));
      if (entries != NULL) {
        int64_t bytes = fill_entries(f, entries, k->width, slots + 1, 0);
        buffers[2] = k->layout == 'z' ? make_block((size_t)bytes) : NULL;
        if (buffers[2] != NULL) {
          fill(f, (uint8_t *)(uintptr_t)buffers[2], (size_t)bytes);
        }
      }
      break;
    case 'w':
      array->n_buffers = 3;
      for (int i = 1; i < 3; i++) {
        buffers[i] = entries = make_block((size_t)(slots * k->width));
        if (entries != NULL) {
          fill_entries(f, entries, k->width, slots, i == 2 ? take(f) % 4 : 0);
        }
      }
      break;
    case 'v':
      make_views(f, buffers, slots, &array->n_buffers);
      break;
    case 's':
    case 'x':
      array->n_buffers = 1;
      break;
    default:
      array->n_buffers = 0;
  }
}

/* Lengths that no buffer could have, and what needs no buffer. Others would be a lie. */
static bool is_absurd(int64_t length, int64_t offset) {
  return length < 0 || offset < 0 || length > INT64_MAX / 64 - offset;
}

static void make_node(feed *f, struct ArrowSchema *schema, struct ArrowArray *array, int depth) {
  const struct kind *k = &kinds[take(f) % (sizeof kinds / sizeof kinds[0])];
  uint8_t flags = f->is_damaged ? take(f) : take(f) & (FLAG_VALIDITY);
  const void **buffers = make_block(8 * sizeof *buffers);
  *schema = (struct ArrowSchema){.format = k->format, .name = "a", .release = release_schema};
  *array = (struct ArrowArray){.null_count = -1, .buffers = buffers, .release = release_array};
  array->length = take(f) % MOST_SLOTS;
  array->offset = take(f) % 8;
  if (buffers == NULL) {
    return;
  }
  int64_t slots = array->length + array->offset;
  make_buffers(f, k, array, slots, buffers);
  if ((flags & FLAG_VALIDITY) != 0 && array->n_buffers > 0) {
    uint8_t *bits = make_block((size_t)(slots + 7) / 8);
    buffers[0] = bits;
    if (bits != NULL) {
      fill(f, bits, (size_t)(slots + 7) / 8);
    }
  }
  int64_t children = k->layout == 's' ? take(f) % (MOST_CHILDREN + 1)
                     : k->layout == 'l' || k->layout == 'w' || k->layout == 'x' ? 1
                                                                                : 0;
  if (depth < MOST_DEPTH && children > 0) {
    schema->children = make_block((size_t)children * sizeof(void *));
    array->children = make_block((size_t)children * sizeof(void *));
    for (int64_t i = 0; i < children && schema->children != NULL && array->children != NULL; i++) {
      schema->children[i] = make_block(sizeof(struct ArrowSchema));
      array->children[i] = make_block(sizeof(struct ArrowArray));
      if (schema->children[i] == NULL || array->children[i] == NULL) {
        break;
      }
      make_node(f, schema->children[i], array->children[i], depth + 1);
      schema->children[i]->name = names[i % 5];
      schema->n_children = array->n_children = i + 1;
    }
  }
  if ((flags & FLAG_COUNTS) != 0) {
    array->n_buffers -= k->layout == 'v' ? 0 : take(f) % 3; /* the last of views holds sizes */
    array->n_children -= array->n_children > 0 ? take(f) % 2 : 0;
    schema->n_children -= schema->n_children > 0 ? take(f) % 2 : 0;
  }
  if ((flags & FLAG_LENGTHS) != 0) {
    int64_t length = take_64(f);
    int64_t offset = take_64(f);
    if (is_absurd(length, offset)) {
      array->length = length;
      array->offset = offset;
    }
  }
  if ((flags & FLAG_NO_BUFFER) != 0) {
    buffers[take(f) % 3] = NULL;
  }
  if ((flags & FLAG_NULL_COUNT) != 0) {
    array->null_count = (int8_t)take(f);
  }
  bool is_aligned = k->width == 2 || k->width == 4 || k->width == 8;
  if ((flags & FLAG_MISALIGNED) != 0 && buffers[1] != NULL && is_aligned) {
    buffers[1] = (const char *)buffers[1] + 1;
  }
  if ((flags & FLAG_DICTIONARY) != 0) {
    static struct ArrowSchema strings = {.format = "u", .release = release_schema};
    schema->dictionary = &strings;
  }
  if ((flags & FLAG_RELEASED) != 0 && take(f) % 4 == 0) {
    array->release = NULL;
  }
}

#endif
