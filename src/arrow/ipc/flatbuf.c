/* FlatBuffers: tables, strings and vectors, little-endian as this machine is. */
#include "arrow/ipc/flatbuf.h"

#include <string.h>

/* `size` bytes from `at` on are there, or the buffer is bad. */
static bool reach(cst__flat *flat, size_t at, size_t size) {
  if (at > flat->size || size > flat->size - at) {
    flat->bad = true;
    return false;
  }
  return true;
}

static uint32_t load32(const cst__flat *flat, size_t at) {
  uint32_t value;
  memcpy(&value, flat->data + at, sizeof value);
  return value;
}

static uint16_t load16(const cst__flat *flat, size_t at) {
  uint16_t value;
  memcpy(&value, flat->data + at, sizeof value);
  return value;
}

/* The table at a place: it begins with the signed distance back to its vtable, which begins with
 * its own size and the table's. */
static cst__flat_table table_at(cst__flat *flat, size_t at) {
  cst__flat_table none = {0};
  if (!reach(flat, at, 4)) {
    return none;
  }
  int32_t back = (int32_t)load32(flat, at);
  int64_t vtable = (int64_t)at - back;
  if (vtable < 0 || !reach(flat, (size_t)vtable, 4)) {
    flat->bad = true;
    return none;
  }
  size_t size = load16(flat, (size_t)vtable);
  if (size < 4 || !reach(flat, (size_t)vtable, size)) {
    flat->bad = true;
    return none;
  }
  return (cst__flat_table){flat, at, (size_t)vtable, size};
}

/* Where a field's `size` bytes lie; 0 if it is absent. */
static size_t field_at(cst__flat_table table, int field, size_t size) {
  size_t entry = 4 + 2 * (size_t)field;
  if (table.flat == NULL || entry + 2 > table.vtable_size) {
    return 0;
  }
  size_t offset = load16(table.flat, table.vtable + entry);
  if (offset == 0 || !reach(table.flat, table.at + offset, size)) {
    return 0;
  }
  return table.at + offset;
}

/* What the offset at a place, relative to itself, leads to; 0 if it is damaged. */
static size_t flatbuf_follow(cst__flat *flat, size_t at) {
  size_t to = at + load32(flat, at);
  if (to == at || !reach(flat, to, 4)) {
    flat->bad = true;
    return 0;
  }
  return to;
}

cst__flat_table cst__flat_root(cst__flat *flat) {
  size_t at = reach(flat, 0, 4) ? flatbuf_follow(flat, 0) : 0;
  return at != 0 ? table_at(flat, at) : (cst__flat_table){0};
}

bool cst__flat_has(cst__flat_table table, int field) { return field_at(table, field, 1) != 0; }

#define DEFINE_SCALAR(name, type)                            \
  type name(cst__flat_table table, int field, type absent) { \
    size_t at = field_at(table, field, sizeof absent);       \
    if (at != 0) {                                           \
      memcpy(&absent, table.flat->data + at, sizeof absent); \
    }                                                        \
    return absent;                                           \
  }
DEFINE_SCALAR(cst__flat_u8, uint8_t)
DEFINE_SCALAR(cst__flat_i16, int16_t)
DEFINE_SCALAR(cst__flat_i32, int32_t)
DEFINE_SCALAR(cst__flat_i64, int64_t)

cst__flat_table cst__flat_child(cst__flat_table table, int field) {
  size_t at = field_at(table, field, 4);
  size_t to = at != 0 ? flatbuf_follow(table.flat, at) : 0;
  return to != 0 ? table_at(table.flat, to) : (cst__flat_table){0};
}

cst__flat_vector cst__flat_items(cst__flat_table table, int field, size_t item_size) {
  cst__flat_vector none = {0};
  size_t at = field_at(table, field, 4);
  size_t to = at != 0 ? flatbuf_follow(table.flat, at) : 0;
  if (to == 0) {
    return none;
  }
  size_t count = load32(table.flat, to); /* 32 bits times at most 16: no overflow */
  if (!reach(table.flat, to + 4, count * item_size)) {
    return none;
  }
  return (cst__flat_vector){table.flat, to + 4, count};
}

cst_bytes cst__flat_string(cst__flat_table table, int field) {
  cst__flat_vector bytes = cst__flat_items(table, field, 1);
  return bytes.flat != NULL ? (cst_bytes){bytes.flat->data + bytes.at, bytes.count}
                            : (cst_bytes){NULL, 0};
}

cst__flat_table cst__flat_table_at(cst__flat_vector vector, size_t i) {
  size_t to = flatbuf_follow(vector.flat, vector.at + 4 * i);
  return to != 0 ? table_at(vector.flat, to) : (cst__flat_table){0};
}

int32_t cst__flat_i32_at(cst__flat_vector vector, size_t i) {
  return (int32_t)load32(vector.flat, vector.at + 4 * i);
}

int64_t cst__flat_i64_at(cst__flat_vector vector, size_t i) {
  int64_t value;
  memcpy(&value, vector.flat->data + vector.at + 8 * i, sizeof value);
  return value;
}
