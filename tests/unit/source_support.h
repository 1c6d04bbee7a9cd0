/* What the tests of the source room share: TFRecord files of small tf.Examples, and batches as
 * text.
 */
#ifndef TESTS_UNIT_SOURCE_SUPPORT_H
#define TESTS_UNIT_SOURCE_SUPPORT_H

#include <columnstone/source.h>
#include <inttypes.h>
#include <stdio.h>

#include "arrow/view.h"
#include "harness.h"
#include "io_support.h"

/* ---- protobuf by hand ---- */

static inline void put_varint(bytes *b, uint64_t value) {
  do {
    uint8_t byte = (uint8_t)(value & 127);
    value >>= 7;
    byte |= value != 0 ? 128 : 0;
    bytes_add(b, &byte, 1);
  } while (value != 0);
}

static inline void put_field(bytes *b, unsigned number, const void *data, size_t size) {
  put_varint(b, number << 3 | 2);
  put_varint(b, size);
  bytes_add(b, data, size);
}

/* A feature of the Example: `list` is the serialized list, `kind` its field number (1 bytes, 2
 * float, 3 int64; 0: none). */
static inline void put_feature(bytes *features, const char *name, unsigned kind,
                               const bytes *list) {
  bytes feature = {0};
  bytes entry = {0};
  if (kind != 0) {
    put_field(&feature, kind, list->data, list->size);
  }
  put_field(&entry, 1, name, strlen(name));
  put_field(&entry, 2, feature.data, feature.size);
  put_field(features, 1, entry.data, entry.size);
  bytes_free(&feature);
  bytes_free(&entry);
}

static inline void put_int(bytes *features, const char *name, int64_t value) {
  bytes packed = {0};
  bytes list = {0};
  put_varint(&packed, (uint64_t)value);
  put_field(&list, 1, packed.data, packed.size);
  put_feature(features, name, 3, &list);
  bytes_free(&packed);
  bytes_free(&list);
}

static inline void put_text(bytes *features, const char *name, const char *value) {
  bytes list = {0};
  put_field(&list, 1, value, strlen(value));
  put_feature(features, name, 1, &list);
  bytes_free(&list);
}

static inline void put_float(bytes *features, const char *name, float value) {
  bytes list = {0};
  put_field(&list, 1, &value, sizeof value);
  put_feature(features, name, 2, &list);
  bytes_free(&list);
}

/* The i-th record of the test data: `id` always, `name` always, `x` in two of three. */
static inline void make_example(bytes *out, int i) {
  char name[32];
  bytes features = {0};
  (void)snprintf(name, sizeof name, "row %d", i);
  put_int(&features, "id", i);
  put_text(&features, "name", name);
  if (i % 3 != 0) {
    put_float(&features, "x", (float)i / 2);
  }
  out->size = 0;
  put_field(out, 1, features.data, features.size);
  bytes_free(&features);
}

/* Records [first, end) of the test data. */
static inline void add_examples(bytes *file, int first, int end) {
  bytes record = {0};
  for (int i = first; i < end; i++) {
    make_example(&record, i);
    bytes_add_record(file, record.data, record.size);
  }
  bytes_free(&record);
}

/* Where the n-th record of a file begins. */
static inline size_t record_offset(const bytes *file, int n) {
  size_t at = 0;
  for (int i = 0; i < n; i++) {
    uint64_t length;
    memcpy(&length, file->data + at, sizeof length);
    at += (size_t)length + 16;
  }
  return at;
}

static inline const char *write_bytes(const char *name, const bytes *b) {
  const char *path = harness_temp_path(name);
  harness_write_file(path, b->data != NULL ? (const void *)b->data : "", b->size);
  return path;
}

/* A file with records [first, end); gives its path. */
static inline const char *write_examples(const char *name, int first, int end) {
  bytes b = {0};
  add_examples(&b, first, end);
  const char *path = write_bytes(name, &b);
  bytes_free(&b);
  return path;
}

/* ---- batches as text ---- */

static inline void text_of(bytes *out, const char *format, int64_t value) {
  char text[64];
  int size = snprintf(text, sizeof text, format, value);
  bytes_add(out, text, (size_t)size);
}

static inline void text_of_slot(bytes *out, const cst__view *view, int64_t i) {
  if (cst__view_is_null(view, i)) {
    bytes_add(out, "null", 4);
    return;
  }
  if (cst__view_is_list(view)) {
    int64_t begin;
    int64_t end;
    cst__view_list(view, i, &begin, &end);
    bytes_add(out, "[", 1);
    for (int64_t at = begin; at < end; at++) {
      bytes_add(out, ",", at > begin ? 1 : 0);
      text_of_slot(out, &view->children[0], at);
    }
    bytes_add(out, "]", 1);
  } else if (view->layout == CST__LAYOUT_STRUCT) {
    bytes_add(out, "{", 1);
    for (int64_t c = 0; c < view->num_children; c++) {
      bytes_add(out, ",", c > 0 ? 1 : 0);
      text_of_slot(out, &view->children[c], i);
    }
    bytes_add(out, "}", 1);
  } else if (view->layout == CST__LAYOUT_NUMBER && view->dtype == CST_DTYPE_INT64) {
    text_of(out, "%" PRId64, ((const int64_t *)view->data)[view->offset + i]);
  } else if (view->layout == CST__LAYOUT_NUMBER) {
    int32_t bits; /* exact: floats as their bits */
    memcpy(&bits, (const char *)view->data + (size_t)(view->offset + i) * 4, 4);
    text_of(out, "f%" PRIx64, bits);
  } else {
    cst_bytes value = cst__view_bytes(view, i);
    bytes_add(out, "'", 1);
    bytes_add(out, value.data, value.size);
    bytes_add(out, "'", 1);
  }
}

/* "3 rows: id=[1] name=['a']; ..." */
static inline void text_of_batch(bytes *out, const struct ArrowSchema *schema,
                                 const struct ArrowArray *batch) {
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, NULL);
  CHECK_EQ(cst__view_init(&view, schema, batch, false, &arena, NULL), CST_OK);
  text_of(out, "%" PRId64 " rows:", batch->length);
  for (int64_t i = 0; i < batch->length; i++) {
    for (int64_t c = 0; c < view.num_children; c++) {
      bytes_add(out, " ", 1);
      bytes_add(out, view.children[c].name, strlen(view.children[c].name));
      bytes_add(out, "=", 1);
      text_of_slot(out, &view.children[c], i);
    }
    bytes_add(out, ";", 1);
  }
  bytes_add(out, "\n", 1);
  cst__arena_reset(&arena);
}

/* All batches of a new pass, in front of a failure if there is one. */
static inline cst_status text_of_pass(cst_source *source, bytes *out, cst_error *error) {
  struct ArrowSchema schema;
  cst_pass *pass;
  CST__TRY(cst_source_arrow_schema(source, &schema, error));
  cst_status status = cst_pass_new(source, &pass, error);
  if (status != CST_OK) {
    schema.release(&schema);
    return status;
  }
  for (;;) {
    struct ArrowArray batch;
    status = cst_pass_next(pass, &batch, error);
    if (status != CST_OK || batch.release == NULL) {
      break;
    }
    text_of_batch(out, &schema, &batch);
    batch.release(&batch);
  }
  cst_pass_free(pass);
  schema.release(&schema);
  return status;
}

/* What a source's batches must be: `rows` records from 0 on in batches of `batch_size`, all columns
 * in the order of their names. */
static inline void expected_text(bytes *out, int rows, int batch_size) {
  for (int i = 0; i < rows; i++) {
    if (i % batch_size == 0) {
      text_of(out, "%" PRId64 " rows:", rows - i < batch_size ? rows - i : batch_size);
    }
    text_of(out, " id=[%" PRId64 "]", i);
    text_of(out, " name=['row %" PRId64 "']", i);
    if (i % 3 != 0) {
      float x = (float)i / 2;
      int32_t bits;
      memcpy(&bits, &x, sizeof bits);
      text_of(out, " x=[f%" PRIx64 "];", bits);
    } else {
      bytes_add(out, " x=null;", 8);
    }
    if (i + 1 == rows || (i + 1) % batch_size == 0) {
      bytes_add(out, "\n", 1);
    }
  }
}

static inline void check_same(const bytes *actual, const bytes *expected) {
  CHECK_EQ(actual->size, expected->size);
  CHECK_MEM(actual->data, expected->data, expected->size);
}

#endif /* TESTS_UNIT_SOURCE_SUPPORT_H */
