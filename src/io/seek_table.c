/* The seek table of the "zstd seekable format":
 *
 *   0x184D2A5E | size of what follows | entries | number of frames | descriptor | 0x8F92EAB1
 *
 * all numbers little-endian of 4 bytes, the descriptor of one. An entry is the size of a frame, the
 * size of its content and, if the descriptor's bit 7 is set, a checksum of that. */
#include "io/seek_table.h"

#include <string.h>

enum {
  TABLE_HEAD = 8,
  TABLE_FOOT = 9,
  TABLE_PIECE = 12 << 10, /* bytes of entries that are read at once: whole ones of either kind */
  MOST_FRAMES = 4 << 20   /* of a table that is used: 64 MiB of restart points */
};

static const uint32_t table_magic = 0x184d2a5e;
static const uint32_t foot_magic = 0x8f92eab1;

static uint32_t get_u32(const uint8_t *from) {
  uint32_t value;
  memcpy(&value, from, sizeof value);
  return value;
}

static void put_u32(uint8_t *to, uint32_t value) { memcpy(to, &value, sizeof value); }

/* ---- reading ---- */

/* What the ends of a table say. */
typedef struct table_frame {
  uint64_t begin;     /* of the entries in the file */
  size_t frames;      /* 0: there is no table */
  size_t entry;       /* bytes of each */
  uint64_t data_size; /* bytes of the file before the table */
} table_frame;

static cst_status read_table_bytes(const cst__raw *raw, uint64_t offset, uint8_t *out, size_t size,
                                   bool *there, cst_error *error) {
  size_t got;
  CST__TRY(cst__raw_read_at(raw, offset, out, size, &got, error));
  *there = got == size;
  return CST_OK;
}

static cst_status read_table_ends(const cst__raw *raw, table_frame *out, cst_error *error) {
  uint8_t foot[TABLE_FOOT];
  uint8_t head[TABLE_HEAD];
  bool there;
  const uint64_t file_size = raw->size > 0 ? (uint64_t)raw->size : 0;
  *out = (table_frame){0};
  if (!raw->at_any_offset || file_size < TABLE_HEAD + TABLE_FOOT) {
    return CST_OK;
  }
  CST__TRY(read_table_bytes(raw, file_size - TABLE_FOOT, foot, sizeof foot, &there, error));
  if (!there || get_u32(foot + 5) != foot_magic || (foot[4] & 0x7c) != 0) {
    return CST_OK;
  }
  size_t entry = foot[4] & 0x80 ? 12 : 8;
  uint32_t frames = get_u32(foot);
  uint64_t content = (uint64_t)frames * entry + TABLE_FOOT;
  if (frames > MOST_FRAMES || content + TABLE_HEAD > file_size) {
    return CST_OK;
  }
  uint64_t begin = file_size - content - TABLE_HEAD;
  CST__TRY(read_table_bytes(raw, begin, head, sizeof head, &there, error));
  if (there && get_u32(head) == table_magic && get_u32(head + 4) == content) {
    *out = (table_frame){begin + TABLE_HEAD, frames, entry, begin};
  }
  return CST_OK;
}

/* Adds the sizes of some entries up. False: they do not fit the file. */
static bool add_entries(const table_frame *table, const uint8_t *entries, size_t count,
                        cst__restarts *out) {
  for (size_t i = 0; i < count; i++) {
    const cst__restart *at = &out->items[out->count];
    uint32_t size = get_u32(entries + i * table->entry);
    uint32_t content = get_u32(entries + i * table->entry + 4);
    if (size == 0 || size > table->data_size - at->disk) {
      return false;
    }
    out->items[++out->count] = (cst__restart){at->disk + size, at->stream + content};
  }
  return true;
}

static cst_status read_entries(const cst__raw *raw, const table_frame *table, cst__restarts *out,
                               bool *fits, cst_error *error) {
  uint8_t piece[TABLE_PIECE];
  *fits = true;
  out->items[0] = (cst__restart){0, 0};
  while (*fits && out->count < table->frames) {
    size_t left = table->frames - out->count;
    size_t count = left < TABLE_PIECE / table->entry ? left : TABLE_PIECE / table->entry;
    CST__TRY(read_table_bytes(raw, table->begin + (uint64_t)out->count * table->entry, piece,
                              count * table->entry, fits, error));
    *fits = *fits && add_entries(table, piece, count, out);
  }
  *fits = *fits && out->items[out->count].disk == table->data_size;
  return CST_OK;
}

cst_status cst__seek_table_read(const cst__raw *raw, const cst_allocator *allocator,
                                cst__restarts *out, cst_error *error) {
  table_frame table;
  bool fits = false;
  *out = (cst__restarts){0};
  CST__TRY(read_table_ends(raw, &table, error));
  if (table.frames == 0) {
    return CST_OK;
  }
  size_t size = (table.frames + 1) * sizeof *out->items; /* no more than four times the table */
  out->items = cst__new(allocator, size);
  if (out->items == NULL) {
    return cst__fail_memory(error, size);
  }
  cst_status status = read_entries(raw, &table, out, &fits, error);
  if (status != CST_OK || !fits) {
    cst__delete(out->items);
    *out = (cst__restarts){0};
  }
  return status;
}

/* ---- places ---- */

/* The number of the first of `count` frames that begins at `place` or after it. */
static size_t first_frame(const cst__restarts *restarts, uint64_t place, bool by_disk) {
  size_t begin = 0;
  size_t end = restarts->count;
  while (begin < end) {
    size_t middle = begin + (end - begin) / 2;
    const cst__restart *at = &restarts->items[middle];
    if ((by_disk ? at->disk : at->stream) < place) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

size_t cst__restarts_find(const cst__restarts *restarts, uint64_t offset) {
  size_t i = first_frame(restarts, offset, false);
  return i < restarts->count && restarts->items[i].stream == offset ? i : i - (i > 0);
}

uint64_t cst__restarts_after(const cst__restarts *restarts, uint64_t disk) {
  return restarts->items[first_frame(restarts, disk, true)].stream;
}

/* ---- writing ---- */

cst_status cst__seek_table_write(const cst__frame_sizes *frames, size_t count,
                                 const cst__byte_sink *sink, cst_error *error) {
  enum { ENTRY = 8 };
  uint8_t bytes[TABLE_FOOT > TABLE_HEAD ? TABLE_FOOT : TABLE_HEAD] = {0};
  put_u32(bytes, table_magic);
  put_u32(bytes + 4, (uint32_t)(count * ENTRY + TABLE_FOOT));
  CST__TRY(sink->put(sink->ctx, bytes, TABLE_HEAD, error));
  for (size_t i = 0; i < count; i++) {
    put_u32(bytes, frames[i].compressed);
    put_u32(bytes + 4, frames[i].content);
    CST__TRY(sink->put(sink->ctx, bytes, ENTRY, error));
  }
  put_u32(bytes, (uint32_t)count);
  bytes[4] = 0;
  put_u32(bytes + 5, foot_magic);
  return sink->put(sink->ctx, bytes, TABLE_FOOT, error);
}
