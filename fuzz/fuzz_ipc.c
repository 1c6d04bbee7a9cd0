/* The bytes of an Arrow IPC file or stream: whatever is read has passed validation, reading it in
 * other steps gives the same, and what our writer can write of it comes back equal. */
#include <string.h>

#include "arrow/ipc/ipc.h"
#include "arrow/ipc/ipc_reader.h"
#include "arrow/view.h"
#include "base/crc32c.h"
#include "fuzz.h"

enum {
  MOST_WRITTEN = 1 << 22,
  MOST_SLOTS = 1 << 16 /* of all batches together that are looked at */
};

typedef struct source {
  const uint8_t *data;
  size_t size;
  size_t at;
} source;

/* What a reading has found. */
typedef struct reading {
  cst_status status;
  cst_error error;
  uint64_t rows;
  uint32_t checksum;
  int slots;     /* looked at */
  bool is_whole; /* all were */
} reading;

typedef struct written {
  uint8_t *data;
  size_t size;
} written;

static uint8_t written_bytes[MOST_WRITTEN];

static cst_status read_bytes(void *ctx, void *buffer, size_t size, size_t *got, cst_error *error) {
  source *s = ctx;
  size_t left = s->size - s->at;
  (void)error;
  *got = size < left ? size : left;
  if (*got > 0) memcpy(buffer, s->data + s->at, *got);
  s->at += *got;
  return CST_OK;
}

static cst_status write_bytes(void *ctx, const void *data, size_t size, cst_error *error) {
  written *w = ctx;
  if (size > MOST_WRITTEN - w->size) {
    return cst__fail(error, CST_LIMIT, NULL, "more than the target looks at");
  }
  memcpy(w->data + w->size, data, size);
  w->size += size;
  return CST_OK;
}

/* ---- the sum over all slots ---- */

static void add_bytes(reading *r, const void *bytes, size_t size) {
  r->checksum = cst__crc32c(r->checksum, &size, sizeof size);
  if (size > 0) r->checksum = cst__crc32c(r->checksum, bytes, size);
}

static void add_slot(reading *r, const cst__view *v, int64_t i);

static void add_fixed(reading *r, const cst__view *v, int64_t i, size_t width) {
  add_bytes(r, (const uint8_t *)v->data + (size_t)(v->offset + i) * width, width);
}

static void add_items(reading *r, const cst__view *v, int64_t i) {
  int64_t begin, end;
  cst__view_list(v, i, &begin, &end);
  int64_t size = end - begin;
  add_bytes(r, &size, sizeof size);
  for (; begin < end && r->is_whole; begin++) add_slot(r, &v->children[0], begin);
}

static void add_value(reading *r, const cst__view *v, int64_t i) {
  switch (v->layout) {
    case CST__LAYOUT_BOOL: {
      int64_t at = v->offset + i;
      uint8_t bit = ((const uint8_t *)v->data)[at >> 3] >> (at & 7) & 1;
      add_bytes(r, &bit, 1);
      break;
    }
    case CST__LAYOUT_NUMBER:
      add_fixed(r, v, i, cst_dtype_width(v->dtype));
      break;
    case CST__LAYOUT_HALF:
      add_fixed(r, v, i, 2);
      break;
    case CST__LAYOUT_OPAQUE:
      add_fixed(r, v, i, (size_t)v->fixed_size);
      break;
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_FIXED_BINARY: {
      cst_bytes bytes = cst__view_bytes(v, i);
      add_bytes(r, bytes.data, bytes.size);
      break;
    }
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_FIXED_LIST:
    case CST__LAYOUT_LIST_VIEW:
      add_items(r, v, i);
      break;
    case CST__LAYOUT_STRUCT:
      for (int64_t c = 0; c < v->num_children; c++) add_slot(r, &v->children[c], i);
      break;
    case CST__LAYOUT_NULL:
    case CST__LAYOUT_OTHER:
      break;
  }
}

static void add_slot(reading *r, const cst__view *v, int64_t i) {
  r->is_whole = r->is_whole && ++r->slots < MOST_SLOTS;
  if (!r->is_whole) return;
  if (cst__view_is_null(v, i)) {
    add_bytes(r, NULL, 0);
  } else {
    add_value(r, v, i);
  }
}

static void add_batch(reading *r, const struct ArrowSchema *schema, struct ArrowArray *batch) {
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, NULL);
  FUZZ_ASSERT(cst__view_init(&view, schema, batch, false, &arena, NULL) == CST_OK);
  FUZZ_ASSERT(view.null_count == 0);
  for (int64_t i = 0; i < view.length && r->is_whole; i++) add_slot(r, &view, i);
  r->rows += (uint64_t)view.length;
  cst__arena_reset(&arena);
}

/* ---- reading and writing ---- */

/* Writes what is read into *out, unless it is NULL; *can_write says whether that went well. */
static reading read_all(const uint8_t *data, size_t size, written *out, bool *can_write) {
  source s = {data, size, 0};
  reading r = {.error = CST_ERROR_INIT, .is_whole = true};
  cst__ipc_reader *reader;
  cst__ipc_writer *writer = NULL;
  struct ArrowArray batch;
  r.status = cst__ipc_reader_new(read_bytes, &s, NULL, &reader, &r.error);
  if (r.status != CST_OK) return r;
  const struct ArrowSchema *schema = cst__ipc_reader_schema(reader);
  bool writes = out != NULL && cst__ipc_writer_new(schema, size % 2 == 0, write_bytes, out, NULL,
                                                   &writer, NULL) == CST_OK;
  do {
    r.status = cst__ipc_reader_next(reader, &batch, &r.error);
    if (batch.release != NULL) {
      add_batch(&r, schema, &batch);
      writes = writes && r.is_whole && cst__ipc_write_batch(writer, &batch, NULL) == CST_OK;
      batch.release(&batch);
    } else if (r.status == CST_OK) {
      break;
    }
  } while (r.status == CST_OK);
  if (can_write != NULL) {
    *can_write = writes && r.status == CST_OK && cst__ipc_finish(writer, NULL) == CST_OK;
  }
  cst__ipc_writer_free(writer);
  cst__ipc_reader_free(reader);
  return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  written out = {written_bytes, 0};
  bool can_write = false;
  reading first = read_all(data, size, &out, &can_write);
  if (first.status != CST_OK) {
    FUZZ_ASSERT(first.error.message[0] != '\0');
    FUZZ_ASSERT(first.error.code == first.status);
    FUZZ_ASSERT(first.error.offset >= 0);
  }
  if (can_write) {
    reading again = read_all(out.data, out.size, NULL, NULL);
    FUZZ_ASSERT(again.status == CST_OK);
    FUZZ_ASSERT(again.rows == first.rows);
    FUZZ_ASSERT(again.checksum == first.checksum || !first.is_whole);
  }
  fuzz_outcome(cst_status_name(first.status));
  return 0;
}
