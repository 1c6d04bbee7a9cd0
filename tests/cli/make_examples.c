/* Makes TFRecord files of tf.Examples for the CLI tests.
 *
 *   make_examples PATH [RECORDS [KIND]]
 *
 * KIND `cells` (the default) has every state of a cell: values, empty, absent, without a type;
 * bytes that are not UTF-8; numbers at their limits. `clicks` is a click log of about 800 bytes a
 * record: a label, 13 integers, 26 strings of 8 bytes. `mixed` is `cells` but for the type of `id`
 * in the last record; `junk` has one record in the middle that is not a tf.Example. The path's
 * ending tells the compression. The Examples are encoded here, not by the library that is under
 * test.
 */
#include <columnstone/sink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- protobuf, as little as it takes ---- */

typedef struct message {
  uint8_t data[8192];
  size_t size;
} message;

static void put_byte(message *m, unsigned byte) {
  if (m->size < sizeof m->data) {
    m->data[m->size++] = (uint8_t)byte;
  }
}

static void put_varint(message *m, uint64_t value) {
  for (; value >= 0x80; value >>= 7) {
    put_byte(m, (unsigned)(value & 0x7f) | 0x80);
  }
  put_byte(m, (unsigned)value);
}

/* A length-delimited field. */
static void put_field(message *m, unsigned number, const void *bytes, size_t size) {
  const uint8_t *from = bytes;
  put_varint(m, number << 3 | 2);
  put_varint(m, size);
  for (size_t i = 0; i < size; i++) {
    put_byte(m, from[i]);
  }
}

/* One entry of Features.feature: the name, and a Feature with one list (number 0: without). */
static void put_feature(message *features, const char *name, unsigned list, const message *values) {
  message feature = {.size = 0};
  message entry = {.size = 0};
  if (list != 0) {
    put_field(&feature, list, values->data, values->size);
  }
  put_field(&entry, 1, name, strlen(name));
  put_field(&entry, 2, feature.data, feature.size);
  put_field(features, 1, entry.data, entry.size);
}

enum { BYTES_LIST = 1, FLOAT_LIST = 2, INT64_LIST = 3 };

static void put_ints(message *features, const char *name, const int64_t *values, size_t count) {
  message packed = {.size = 0};
  message list = {.size = 0};
  for (size_t i = 0; i < count; i++) {
    put_varint(&packed, (uint64_t)values[i]);
  }
  if (count > 0) {
    put_field(&list, 1, packed.data, packed.size);
  }
  put_feature(features, name, INT64_LIST, &list);
}

static void put_floats(message *features, const char *name, const float *values, size_t count) {
  message list = {.size = 0};
  if (count > 0) {
    put_field(&list, 1, values, count * sizeof *values); /* little-endian, as the machine */
  }
  put_feature(features, name, FLOAT_LIST, &list);
}

static void put_string(message *features, const char *name, const void *bytes, size_t size) {
  message list = {.size = 0};
  put_field(&list, 1, bytes, size);
  put_feature(features, name, BYTES_LIST, &list);
}

static void put_strings(message *features, const char *name, const char *const *strings,
                        size_t count) {
  message list = {.size = 0};
  for (size_t i = 0; i < count; i++) {
    put_field(&list, 1, strings[i], strlen(strings[i]));
  }
  put_feature(features, name, BYTES_LIST, &list);
}

/* ---- the kinds ---- */

static void make_cells(message *features, int64_t i) {
  static const char *const tags[] = {"red", "gr\xc3\xbcn \"x\"\n"};
  static const float fares[] = {0.1f, -2.5f, 16777216.0f, 3.4028235e38f, 1.4e-45f, 0.5f};
  static const int64_t limits[] = {INT64_MIN, INT64_MAX, 0};
  const uint8_t blob[] = {0xff, 0x00, (uint8_t)i};
  put_ints(features, "id", &i, 1);
  if (i % 4 != 3) {
    put_floats(features, "fare", &fares[i % 5], (size_t)(i % 3));
  }
  put_strings(features, "tags", tags, (size_t)(i % 3));
  put_string(features, "blob", blob, sizeof blob);
  put_ints(features, "limits", limits, 3);
  put_feature(features, "none", 0, NULL);
}

/* A number that looks random and is the same everywhere. */
static uint64_t scramble(uint64_t x) {
  x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
  x = (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
  return x ^ x >> 33;
}

static void make_clicks(message *features, int64_t i) {
  char name[16];
  char text[17];
  int64_t label = i & 1;
  put_ints(features, "label", &label, 1);
  for (int k = 0; k < 13; k++) {
    int64_t value = (int64_t)(scramble((uint64_t)i * 64 + (uint64_t)k) % 100000);
    snprintf(name, sizeof name, "int%d", k);
    put_ints(features, name, &value, 1);
  }
  for (int k = 0; k < 26; k++) {
    uint64_t value = scramble((uint64_t)i * 64 + 20 + (uint64_t)k);
    snprintf(name, sizeof name, "cat%d", k);
    snprintf(text, sizeof text, "%08x", (unsigned)(value & 0xffffffff));
    put_string(features, name, text, 8);
  }
}

static void make_features(message *features, int64_t i, int64_t count, const char *kind) {
  float last = 0.5f;
  if (strcmp(kind, "clicks") == 0) {
    make_clicks(features, i);
  } else if (strcmp(kind, "mixed") == 0 && i + 1 == count) {
    put_floats(features, "id", &last, 1);
  } else {
    make_cells(features, i);
  }
}

static cst_status write_records(cst_tfrecord_writer *writer, int64_t count, const char *kind,
                                cst_error *error) {
  for (int64_t i = 0; i < count; i++) {
    message features = {.size = 0};
    message example = {.size = 0};
    make_features(&features, i, count, kind);
    put_field(&example, 1, features.data, features.size);
    if (strcmp(kind, "junk") == 0 && i == count / 2) {
      memcpy(example.data, "\x0a\x7f no Example", 13);
      example.size = 13;
    }
    cst_status status = cst_tfrecord_writer_write(writer, example.data, example.size, error);
    if (status != CST_OK) {
      return status;
    }
  }
  return cst_tfrecord_writer_finish(writer, error);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "make_examples PATH [RECORDS [KIND]]\n");
    return 2;
  }
  cst_tfrecord_writer *writer;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_tfrecord_writer_open(argv[1], NULL, &writer, &error);
  if (status == CST_OK) {
    status =
        write_records(writer, argc > 2 ? atoll(argv[2]) : 3, argc > 3 ? argv[3] : "cells", &error);
    cst_tfrecord_writer_free(writer);
  }
  if (status != CST_OK) {
    char text[512];
    cst_error_format(&error, text, sizeof text);
    fprintf(stderr, "make_examples: %s\n", text);
    return 2;
  }
  return 0;
}
