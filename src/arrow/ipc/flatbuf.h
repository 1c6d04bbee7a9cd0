/* Reading FlatBuffers from anywhere: every access is checked against the bytes that are there, so
 * that nothing has to be verified first. What is damaged reads as absent, and sets `bad`.
 *
 * Source: FlatBuffers internals ("FlatBuffer Internals", flatbuffers.dev).
 */
#ifndef ARROW_IPC_FLATBUF_H
#define ARROW_IPC_FLATBUF_H

#include <columnstone/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cst__flat {
  const uint8_t *data;
  size_t size;
  bool bad;
} cst__flat;

/* A table: its vtable says where each field lies. flat NULL: there is none, and every field of it
 * has its default. */
typedef struct cst__flat_table {
  cst__flat *flat;
  size_t at;
  size_t vtable;
  size_t vtable_size;
} cst__flat_table;

/* A vector of `count` items of a known size, the first at `at`. */
typedef struct cst__flat_vector {
  cst__flat *flat;
  size_t at;
  size_t count;
} cst__flat_vector;

cst__flat_table cst__flat_root(cst__flat *flat);

bool cst__flat_has(cst__flat_table table, int field);
uint8_t cst__flat_u8(cst__flat_table table, int field, uint8_t absent);
int16_t cst__flat_i16(cst__flat_table table, int field, int16_t absent);
int32_t cst__flat_i32(cst__flat_table table, int field, int32_t absent);
int64_t cst__flat_i64(cst__flat_table table, int field, int64_t absent);
cst__flat_table cst__flat_child(cst__flat_table table, int field);
/* Bytes without their NUL; {NULL, 0} if absent. */
cst_bytes cst__flat_string(cst__flat_table table, int field);

cst__flat_vector cst__flat_items(cst__flat_table table, int field, size_t item_size);
/* Item i < count of a vector of tables, of int32, or of int64 (or of structs of them). */
cst__flat_table cst__flat_table_at(cst__flat_vector vector, size_t i);
int32_t cst__flat_i32_at(cst__flat_vector vector, size_t i);
int64_t cst__flat_i64_at(cst__flat_vector vector, size_t i);

#endif /* ARROW_IPC_FLATBUF_H */
