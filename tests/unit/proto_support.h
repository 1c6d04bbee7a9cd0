/* A message type with a field of every kind, and short ways to read and print it. */
#ifndef TESTS_UNIT_PROTO_SUPPORT_H
#define TESTS_UNIT_PROTO_SUPPORT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "proto/message.h"

static const cst__enum_value color_values[] = {{"RED", 0}, {"GREEN", 1}, {"NEGATIVE", -5}};
static const cst__enum_def color_enum = {"test.Color", color_values, 3, false};
static const cst__enum_def open_enum = {"test.Open", color_values, 3, true};

static const cst__message_def all_def;

static const cst__field_def entry_fields[] = {
    {"key", 1, CST__FIELD_STRING, 0, 0, NULL, NULL},
    {"value", 2, CST__FIELD_INT64, 0, 0, NULL, NULL},
};
static const cst__message_def entry_def = {"test.All.MapEntry", entry_fields, 2, NULL, 0, true};
static const cst__field_def number_entry_fields[] = {
    {"key", 1, CST__FIELD_INT32, 0, 0, NULL, NULL},
    {"value", 2, CST__FIELD_MESSAGE, 0, 0, &all_def, NULL},
};
static const cst__message_def number_entry_def = {
    "test.All.NumbersEntry", number_entry_fields, 2, NULL, 0, true};
static const cst__field_def any_fields[] = {
    {"type_url", 1, CST__FIELD_STRING, CST__FIELD_IMPLICIT | CST__FIELD_UTF8, 0, NULL, NULL},
    {"value", 2, CST__FIELD_BYTES, CST__FIELD_IMPLICIT, 0, NULL, NULL},
};
static const cst__message_def any_def = {"google.protobuf.Any", any_fields, 2, NULL, 0, false};

static const char *const all_oneofs[] = {"choice"};
static const cst__field_def all_fields[] = {
    {"d", 1, CST__FIELD_DOUBLE, 0, 0, NULL, NULL},
    {"f", 2, CST__FIELD_FLOAT, 0, 0, NULL, NULL},
    {"i64", 3, CST__FIELD_INT64, 0, 0, NULL, NULL},
    {"u64", 4, CST__FIELD_UINT64, 0, 0, NULL, NULL},
    {"i32", 5, CST__FIELD_INT32, 0, 0, NULL, NULL},
    {"x64", 6, CST__FIELD_FIXED64, 0, 0, NULL, NULL},
    {"x32", 7, CST__FIELD_FIXED32, 0, 0, NULL, NULL},
    {"b", 8, CST__FIELD_BOOL, 0, 0, NULL, NULL},
    {"s", 9, CST__FIELD_STRING, 0, 0, NULL, NULL},
    {"g", 10, CST__FIELD_GROUP, 0, 0, &all_def, NULL},
    {"m", 11, CST__FIELD_MESSAGE, 0, 0, &all_def, NULL},
    {"y", 12, CST__FIELD_BYTES, 0, 0, NULL, NULL},
    {"u32", 13, CST__FIELD_UINT32, 0, 0, NULL, NULL},
    {"e", 14, CST__FIELD_ENUM, 0, 0, NULL, &color_enum},
    {"sx32", 15, CST__FIELD_SFIXED32, 0, 0, NULL, NULL},
    {"sx64", 16, CST__FIELD_SFIXED64, 0, 0, NULL, NULL},
    {"z32", 17, CST__FIELD_SINT32, 0, 0, NULL, NULL},
    {"z64", 18, CST__FIELD_SINT64, 0, 0, NULL, NULL},
    {"many", 20, CST__FIELD_INT64, CST__FIELD_REPEATED, 0, NULL, NULL},
    {"packed", 21, CST__FIELD_SINT32, CST__FIELD_REPEATED | CST__FIELD_PACKED, 0, NULL, NULL},
    {"floats", 22, CST__FIELD_FLOAT, CST__FIELD_REPEATED | CST__FIELD_PACKED, 0, NULL, NULL},
    {"texts", 23, CST__FIELD_STRING, CST__FIELD_REPEATED, 0, NULL, NULL},
    {"children", 24, CST__FIELD_MESSAGE, CST__FIELD_REPEATED, 0, &all_def, NULL},
    {"map", 25, CST__FIELD_MESSAGE, CST__FIELD_REPEATED, 0, &entry_def, NULL},
    {"numbers", 26, CST__FIELD_MESSAGE, CST__FIELD_REPEATED, 0, &number_entry_def, NULL},
    {"one_int", 27, CST__FIELD_INT64, 0, 1, NULL, NULL},
    {"one_text", 28, CST__FIELD_STRING, 0, 1, NULL, NULL},
    {"one_child", 29, CST__FIELD_MESSAGE, 0, 1, &all_def, NULL},
    {"any", 30, CST__FIELD_MESSAGE, 0, 0, &any_def, NULL},
    {"colors", 31, CST__FIELD_ENUM, CST__FIELD_REPEATED | CST__FIELD_PACKED, 0, NULL, &color_enum},
    {"open", 32, CST__FIELD_ENUM, CST__FIELD_IMPLICIT, 0, NULL, &open_enum},
    {"implicit_float", 33, CST__FIELD_FLOAT, CST__FIELD_IMPLICIT, 0, NULL, NULL},
    {"doubles", 34, CST__FIELD_DOUBLE, CST__FIELD_REPEATED | CST__FIELD_PACKED, 0, NULL, NULL},
};
static const cst__message_def all_def = {
    "test.All", all_fields, sizeof all_fields / sizeof all_fields[0], all_oneofs, 1, false};

/* Reads text or binary into a new message; the arena belongs to the caller. */
static inline cst_status read_message(cst__arena *arena, bool is_text, const void *data,
                                      size_t size, cst__message **out, cst_error *error) {
  cst_bytes bytes = {data, size};
  *out = cst__message_new(arena, &all_def);
  if (*out == NULL) {
    return CST_NO_MEMORY;
  }
  cst_status status = is_text ? cst__message_merge_text(arena, *out, bytes, CST__DEPTH_LIMIT, error)
                              : cst__message_merge(arena, *out, bytes, CST__DEPTH_LIMIT, error);
  if (status == CST_OK && !cst__message_sort_maps(arena, *out)) {
    status = cst__fail_memory(error, 1);
  }
  return status;
}

/* The message as text or binary, in memory for cst_free; NULL if out of memory. */
static inline char *print_message(const cst__message *message, bool as_text, size_t *size) {
  char *bytes = NULL;
  cst_status status;
  if (as_text) {
    cst__text text = {0};
    cst__message_put_text(message, &text);
    status = cst__text_finish(&text, &bytes, size, NULL);
  } else {
    cst__wire_out out = {0};
    cst__message_put_wire(message, &out);
    status = cst__wire_out_finish(&out, &bytes, size, NULL);
  }
  return status == CST_OK ? bytes : NULL;
}

/* Text or binary to text or binary: CST_OK, or the status with *error filled. */
static inline cst_status convert_message(bool from_text, const void *data, size_t size,
                                         bool to_text, char **out, size_t *out_size,
                                         cst_error *error) {
  cst__arena arena;
  cst__message *message;
  cst__arena_init(&arena, NULL);
  *out = NULL;
  cst_status status = read_message(&arena, from_text, data, size, &message, error);
  if (status == CST_OK) {
    *out = print_message(message, to_text, out_size);
    status = *out != NULL ? CST_OK : CST_NO_MEMORY;
  }
  cst__arena_reset(&arena);
  return status;
}

#endif
