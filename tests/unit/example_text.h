/* tf.Examples from text and batches as text, for tests.
 *
 * A record is written as "a:int[1,-2] b:float[1.5] c:bytes[xy,,z] d:none e:int[]"; a batch reads as
 * "a: [1 -2] null | b: [1.5] []", the columns in their order, each with its rows.
 */
#ifndef TESTS_UNIT_EXAMPLE_TEXT_H
#define TESTS_UNIT_EXAMPLE_TEXT_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/view.h"
#include "harness.h"

/* ---- wire bytes ---- */

typedef struct wire_text {
  uint8_t data[4096];
  size_t size;
} wire_text;

static inline void wire_byte(wire_text *w, unsigned byte) {
  CHECK(w->size < sizeof w->data);
  w->data[w->size++] = (uint8_t)byte;
}

static inline void wire_varint(wire_text *w, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    wire_byte(w, (unsigned)(value & 0x7f) | 0x80);
  }
  wire_byte(w, (unsigned)value);
}

static inline void wire_bytes(wire_text *w, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    wire_byte(w, ((const uint8_t *)bytes)[i]);
  }
}

/* A length-delimited field. */
static inline void wire_field(wire_text *w, unsigned number, const void *bytes, size_t size) {
  wire_varint(w, number << 3 | 2);
  wire_varint(w, size);
  wire_bytes(w, bytes, size);
}

/* The same with the length in `width` bytes. */
static inline wire_text wire_padded(unsigned number, const wire_text *inner, unsigned width) {
  wire_text w = {.size = 0};
  wire_varint(&w, number << 3 | 2);
  for (unsigned i = 0; i < width; i++) {
    uint64_t rest = i < 9 ? (uint64_t)inner->size >> (7 * i) : 0;
    wire_byte(&w, (unsigned)(rest & 0x7f) | (i + 1 < width ? 0x80 : 0));
  }
  wire_bytes(&w, inner->data, inner->size);
  return w;
}

static inline void wire_message(wire_text *w, unsigned number, const wire_text *message) {
  wire_field(w, number, message->data, message->size);
}

/* The Feature of "int[1,2]", "float[]", "bytes[a,b]" or "none". */
static inline wire_text wire_feature(const char *type, char *values) {
  wire_text list = {.size = 0};
  wire_text packed = {.size = 0};
  wire_text feature = {.size = 0};
  unsigned number = type[0] == 'b' ? 1 : type[0] == 'f' ? 2 : 3;
  if (type[0] == 'n') {
    return feature;
  }
  for (char *at = values; *values != '\0' && at != NULL;) {
    char *next = strchr(at, ',');
    size_t size = next != NULL ? (size_t)(next - at) : strlen(at);
    float value = strtof(at, NULL);
    if (number == 1) {
      wire_field(&list, 1, at, size);
    } else if (number == 2) {
      wire_bytes(&packed, &value, 4);
    } else {
      wire_varint(&packed, (uint64_t)strtoll(at, NULL, 10));
    }
    at = next != NULL ? next + 1 : NULL;
  }
  if (packed.size > 0) {
    wire_message(&list, 1, &packed);
  }
  wire_message(&feature, number, &list);
  return feature;
}

/* The content of a map entry. */
static inline wire_text wire_entry(const char *name, const wire_text *feature) {
  wire_text entry = {.size = 0};
  wire_field(&entry, 1, name, strlen(name));
  wire_message(&entry, 2, feature);
  return entry;
}

/* An Example of the given Features. */
static inline wire_text wire_example(const wire_text *features) {
  wire_text example = {.size = 0};
  wire_message(&example, 1, features);
  return example;
}

/* A record from text (see the head of this file). */
static inline wire_text example_text(const char *text) {
  wire_text features = {.size = 0};
  char copy[2048];
  CHECK(strlen(text) < sizeof copy);
  strcpy(copy, text);
  for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
    char *type = strchr(word, ':');
    CHECK(type != NULL);
    *type++ = '\0';
    char *values = strchr(type, '[');
    if (values != NULL) {
      *values++ = '\0';
      values[strlen(values) - 1] = '\0';
    }
    wire_text feature = wire_feature(type, values);
    wire_text entry = wire_entry(word, &feature);
    wire_message(&features, 1, &entry);
  }
  return wire_example(&features);
}

/* ---- batches as text ---- */

typedef struct batch_text {
  char buf[8192];
  size_t size;
} batch_text;

static inline void put_text(batch_text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(t->buf + t->size, sizeof t->buf - t->size, format, args);
  va_end(args);
  t->size += (size_t)n;
  CHECK(t->size < sizeof t->buf);
}

static inline void put_slot(batch_text *t, const cst__view *v, int64_t i) {
  if (cst__view_is_null(v, i)) {
    put_text(t, "null");
  } else if (cst__view_is_list(v)) {
    int64_t begin;
    int64_t end;
    cst__view_list(v, i, &begin, &end);
    put_text(t, "[");
    for (int64_t k = begin; k < end; k++) {
      put_text(t, k > begin ? " " : "");
      put_slot(t, &v->children[0], k);
    }
    put_text(t, "]");
  } else if (v->dtype == CST_DTYPE_BYTES) {
    cst_bytes b = cst__view_bytes(v, i);
    put_text(t, "%.*s", (int)b.size, (const char *)b.data);
  } else if (v->dtype == CST_DTYPE_FLOAT32) {
    put_text(t, "%g", (double)((const float *)v->data)[v->offset + i]);
  } else {
    CHECK_EQ(v->dtype, CST_DTYPE_INT64);
    put_text(t, "%" PRId64, ((const int64_t *)v->data)[v->offset + i]);
  }
}

/* Validates the batch fully and prints it. The struct is only read. */
static inline batch_text text_of_batch(const struct ArrowSchema *schema,
                                       const struct ArrowArray *array) {
  batch_text t = {.size = 0};
  cst__arena arena;
  cst__view view;
  cst_error error = CST_ERROR_INIT;
  t.buf[0] = '\0';
  cst__arena_init(&arena, NULL);
  cst_status status = cst__view_init(&view, schema, array, false, &arena, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  for (int64_t c = 0; c < view.num_children; c++) {
    put_text(&t, "%s%s:", c ? " | " : "", view.children[c].name);
    for (int64_t i = 0; i < view.length; i++) {
      put_text(&t, " ");
      put_slot(&t, &view.children[c], i);
    }
  }
  cst__arena_reset(&arena);
  return t;
}

#endif
