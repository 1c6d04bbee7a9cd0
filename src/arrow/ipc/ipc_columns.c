/* Record batch messages: nodes and buffers are taken in the order of the fields. */
#include "arrow/ipc/ipc_columns.h"

#include <nanoarrow/nanoarrow.h>
#include <string.h>

enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION, BATCH_VARIADIC };

/* What the pointer of an empty buffer points to: consumers dislike NULL, and read an offset. */
static const uint64_t no_bytes[8];

/* ---- bodies ---- */

cst__ipc_body *cst__ipc_body_new(const cst_allocator *allocator) {
  cst__ipc_body *body = cst__new_zero(allocator, sizeof *body);
  if (body != NULL) {
    body->allocator = cst__allocator_of(allocator);
    cst__refcount_init(&body->owners);
  }
  return body;
}

void cst__ipc_body_release(cst__ipc_body *body) {
  if (body != NULL && cst__refcount_down(&body->owners)) {
    cst__buffer_free(&body->allocator, &body->bytes);
    cst__delete(body);
  }
}

static void release_body(void *owner) { cst__ipc_body_release(owner); }

/* ---- types ---- */

static void strip_dictionaries(struct ArrowSchema *schema) {
  if (schema->dictionary != NULL) {
    ArrowSchemaRelease(schema->dictionary);
    ArrowFree(schema->dictionary);
    schema->dictionary = NULL;
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    strip_dictionaries(schema->children[i]);
  }
}

cst_status cst__ipc_type_init(cst__ipc_type *type, const struct ArrowSchema *encoded,
                              const cst_allocator *allocator, cst_error *error) {
  cst_allocator own = cst__allocator_of(allocator);
  cst__arena_init(&type->arena, &own);
  CST__TRY(cst__schema_copy(encoded, &type->schema, error));
  strip_dictionaries(&type->schema);
  cst_status status = cst__view_init_schema(&type->view, &type->schema, &type->arena, error);
  if (status != CST_OK) {
    cst__ipc_type_reset(type);
  }
  return status;
}

void cst__ipc_type_reset(cst__ipc_type *type) {
  if (type->schema.release != NULL) {
    type->schema.release(&type->schema);
  }
  cst__arena_reset(&type->arena);
}

/* ---- the cursors ---- */

typedef struct reading {
  const cst__ipc_columns *from;
  cst__flat_vector nodes;    /* of {length, null_count} */
  cst__flat_vector buffers;  /* of {offset, length} */
  cst__flat_vector variadic; /* numbers of blocks, one for each column of binary views */
  size_t node;
  size_t buffer;
  size_t block_count;
  cst__ipc_codec codec;
  uint64_t inflated;
  cst_error *error;
} reading;

static cst_status ipc_column_fail(const reading *r, const char *what) {
  return cst__fail(r->error, CST_CORRUPT, NULL, "a record batch message with %s", what);
}

static cst_status next_node(reading *r, int64_t *length, int64_t *null_count) {
  if (r->node >= r->nodes.count) {
    return ipc_column_fail(r, "fewer columns than the schema");
  }
  *length = cst__flat_i64_at(r->nodes, 2 * r->node);
  *null_count = cst__flat_i64_at(r->nodes, 2 * r->node + 1);
  r->node++;
  return *length >= 0 ? CST_OK : ipc_column_fail(r, "a negative length");
}

/* The bytes of the next buffer as they lie in the body. */
static cst_status next_buffer(reading *r, cst_bytes *out) {
  if (r->buffer >= r->buffers.count) {
    return ipc_column_fail(r, "fewer buffers than its columns need");
  }
  int64_t offset = cst__flat_i64_at(r->buffers, 2 * r->buffer);
  int64_t length = cst__flat_i64_at(r->buffers, 2 * r->buffer + 1);
  size_t size = r->from->body->size;
  r->buffer++;
  if (offset < 0 || length < 0 || (uint64_t)offset > size ||
      (uint64_t)length > size - (uint64_t)offset) {
    return cst__fail(r->error, CST_CORRUPT, NULL, "a buffer at %lld + %lld of a body of %zu bytes",
                     (long long)offset, (long long)length, size);
  }
  *out = (cst_bytes){r->from->body->bytes.data + offset, (size_t)length};
  return CST_OK;
}

static cst_status next_block_count(reading *r, int64_t *count) {
  if (r->block_count >= r->variadic.count) {
    return ipc_column_fail(r, "fewer counts of blocks than columns of views");
  }
  *count = cst__flat_i64_at(r->variadic, r->block_count++);
  return *count >= 0 && (uint64_t)*count <= r->buffers.count
             ? CST_OK
             : ipc_column_fail(r, "an invalid number of blocks");
}

/* ---- buffers ---- */

static cst_status own_bytes(const reading *r, struct ArrowArray *out, int64_t index,
                            cst_bytes bytes) {
  void *copy = cst__owned_buffer(out, index, bytes.size);
  if (copy == NULL) {
    return cst__fail_memory(r->error, bytes.size);
  }
  memcpy(copy, bytes.data, bytes.size);
  return CST_OK;
}

static cst_status ipc_column_check_inflation(reading *r, int64_t size) {
  r->inflated += (uint64_t)size;
  if (cst__growth_exceeds(r->inflated, r->from->body->size, r->from->max_inflation)) {
    return cst__fail(r->error, CST_LIMIT, "if you trust the file, raise max_inflation",
                     "a message of %zu bytes expands to %llu bytes, more than %llu times as many",
                     r->from->body->size, (unsigned long long)r->inflated,
                     (unsigned long long)cst__growth_ratio(r->from->max_inflation));
  }
  return CST_OK;
}

/* A compressed buffer begins with its size; -1: it is not compressed. */
static cst_status inflate_buffer(reading *r, struct ArrowArray *out, int64_t index, cst_bytes bytes,
                                 size_t *size) {
  int64_t inflated;
  if (bytes.size < sizeof inflated) {
    return ipc_column_fail(r, "a compressed buffer without a size");
  }
  memcpy(&inflated, bytes.data, sizeof inflated);
  bytes.data += sizeof inflated;
  bytes.size -= sizeof inflated;
  if (inflated == -1) {
    *size = bytes.size;
    return own_bytes(r, out, index, bytes);
  }
  if (inflated < 0) {
    return ipc_column_fail(r, "a compressed buffer of a negative size");
  }
  CST__TRY(ipc_column_check_inflation(r, inflated));
  uint8_t *to = cst__owned_buffer(out, index, (size_t)inflated);
  if (to == NULL) {
    return cst__fail_memory(r->error, (size_t)inflated);
  }
  *size = (size_t)inflated;
  return cst__ipc_inflate(r->from->inflater, r->codec, bytes, to, *size, r->error);
}

/* Takes the next buffer, which has to have `needed` bytes; *size may be NULL. */
static cst_status take_buffer(reading *r, struct ArrowArray *out, int64_t index, size_t needed,
                              size_t *size) {
  cst_bytes bytes;
  size_t found = 0;
  CST__TRY(next_buffer(r, &bytes));
  if (bytes.size == 0) {
    out->buffers[index] = no_bytes;
  } else if (r->codec != CST__IPC_PLAIN) {
    CST__TRY(inflate_buffer(r, out, index, bytes, &found));
  } else {
    found = bytes.size;
    out->buffers[index] = bytes.data;
    if ((uintptr_t)bytes.data % 8 != 0) {
      CST__TRY(own_bytes(r, out, index, bytes));
    }
  }
  if (found < needed) {
    return cst__fail(r->error, CST_CORRUPT, NULL,
                     "buffer %lld of an array of length %lld has %zu bytes, it needs %zu",
                     (long long)index, (long long)out->length, found, needed);
  }
  if (size != NULL) {
    *size = found;
  }
  return CST_OK;
}

static cst_status bytes_needed(const reading *r, int64_t count, size_t width, size_t *out) {
  return cst__mul((size_t)count, width, out)
             ? CST_OK
             : ipc_column_fail(r, "a length larger than all memory");
}

static cst_status ipc_column_take_validity(reading *r, struct ArrowArray *out) {
  size_t size;
  CST__TRY(take_buffer(r, out, 0, 0, &size));
  if (size == 0) {
    out->buffers[0] = NULL;
  } else if (size < cst__bits_size(out->length)) {
    return ipc_column_fail(r, "a validity bitmap that is too short");
  }
  return CST_OK;
}

static cst_status take_fixed(reading *r, struct ArrowArray *out, int64_t index, int64_t count,
                             size_t width) {
  size_t needed;
  CST__TRY(bytes_needed(r, count, width, &needed));
  return take_buffer(r, out, index, needed, NULL);
}

/* Of an array of no slots the one offset may be missing. */
static cst_status ipc_column_take_offsets(reading *r, struct ArrowArray *out, size_t width) {
  return take_fixed(r, out, 1, out->length > 0 ? out->length + 1 : 0, width);
}

/* That offsets never decrease is checked later: then the last one bounds them all. */
static cst_status take_binary(reading *r, int width, struct ArrowArray *out) {
  size_t size;
  CST__TRY(ipc_column_take_offsets(r, out, (size_t)width));
  CST__TRY(take_buffer(r, out, 2, 0, &size));
  int64_t last = out->length > 0 ? cst__view_entry(out->buffers[1], width, out->length) : 0;
  if (last < 0 || (uint64_t)last > size) {
    return cst__fail(r->error, CST_CORRUPT, NULL,
                     "slot %lld: the last offset is %lld, but there are %zu bytes",
                     (long long)out->length - 1, (long long)last, size);
  }
  return CST_OK;
}

static cst_status take_blocks(reading *r, struct ArrowArray *out) {
  int64_t count = out->n_buffers - 3;
  CST__TRY(take_fixed(r, out, 1, out->length, CST__VIEW_SIZE));
  int64_t *sizes = cst__owned_buffer(out, out->n_buffers - 1, (size_t)count * sizeof *sizes);
  if (sizes == NULL) {
    return cst__fail_memory(r->error, (size_t)count * sizeof *sizes);
  }
  for (int64_t i = 0; i < count; i++) {
    size_t size;
    CST__TRY(take_buffer(r, out, 2 + i, 0, &size));
    sizes[i] = (int64_t)size;
  }
  return CST_OK;
}

/* ---- arrays ---- */

static cst_status count_buffers(reading *r, const cst__view *type, int64_t *out) {
  switch (type->layout) {
    case CST__LAYOUT_NULL:
      *out = 0;
      return CST_OK;
    case CST__LAYOUT_STRUCT:
    case CST__LAYOUT_FIXED_LIST:
      *out = 1;
      return CST_OK;
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_LIST_VIEW:
      *out = 3;
      return CST_OK;
    case CST__LAYOUT_BINARY_VIEW:
      CST__TRY(next_block_count(r, out));
      *out += 3;
      return CST_OK;
    default:
      *out = 2;
      return CST_OK;
  }
}

static cst_status ipc_column_take_values(reading *r, const cst__view *type,
                                         struct ArrowArray *out) {
  switch (type->layout) {
    case CST__LAYOUT_BOOL:
      return take_fixed(r, out, 1, (int64_t)cst__bits_size(out->length), 1);
    case CST__LAYOUT_NUMBER:
      return take_fixed(r, out, 1, out->length, cst_dtype_width(type->dtype));
    case CST__LAYOUT_HALF:
      return take_fixed(r, out, 1, out->length, 2);
    case CST__LAYOUT_FIXED_BINARY:
    case CST__LAYOUT_OPAQUE:
      return take_fixed(r, out, 1, out->length, (size_t)type->fixed_size);
    case CST__LAYOUT_BINARY:
      return take_binary(r, type->offset_width, out);
    case CST__LAYOUT_BINARY_VIEW:
      return take_blocks(r, out);
    case CST__LAYOUT_LIST:
      return ipc_column_take_offsets(r, out, (size_t)type->offset_width);
    case CST__LAYOUT_LIST_VIEW:
      CST__TRY(take_fixed(r, out, 1, out->length, (size_t)type->offset_width));
      return take_fixed(r, out, 2, out->length, (size_t)type->offset_width);
    case CST__LAYOUT_NULL:
      out->null_count = out->length;
      break;
    case CST__LAYOUT_FIXED_LIST:
    case CST__LAYOUT_STRUCT:
    case CST__LAYOUT_OTHER:
      break;
  }
  return CST_OK;
}

static cst_status read_array(reading *r, const struct ArrowSchema *encoded, const cst__view *type,
                             struct ArrowArray *out);

static cst_status fill_array(reading *r, const struct ArrowSchema *encoded, const cst__view *type,
                             struct ArrowArray *out) {
  if (r->codec == CST__IPC_PLAIN) {
    cst__refcount_up(&r->from->body->owners);
    cst__owned_keep(out, r->from->body, release_body);
  }
  if (type->layout != CST__LAYOUT_NULL) {
    CST__TRY(ipc_column_take_validity(r, out));
  }
  CST__TRY(ipc_column_take_values(r, type, out));
  for (int64_t i = 0; i < type->num_children; i++) {
    cst_status status = read_array(r, encoded->children[i], &type->children[i], out->children[i]);
    if (status != CST_OK) {
      const char *name = type->children[i].name;
      if (type->layout == CST__LAYOUT_STRUCT) {
        cst__error_add_path(r->error, name, strlen(name));
      }
      return status;
    }
  }
  return encoded->dictionary != NULL
             ? r->from->find_dictionary(r->from->ctx, encoded, out->dictionary, r->error)
             : CST_OK;
}

static cst_status read_array(reading *r, const struct ArrowSchema *encoded, const cst__view *type,
                             struct ArrowArray *out) {
  int64_t length = 0;
  int64_t null_count = 0;
  int64_t num_buffers = 0;
  if (type->layout == CST__LAYOUT_OTHER) {
    char name[64];
    cst__view_type_name(type, name, sizeof name);
    return cst__fail(r->error, CST_UNSUPPORTED, "name the columns to read, without this one",
                     "a column of type %s cannot be read", name);
  }
  CST__TRY(next_node(r, &length, &null_count));
  CST__TRY(count_buffers(r, type, &num_buffers));
  CST__TRY(cst__owned_new(&r->from->allocator, num_buffers, type->num_children,
                          encoded->dictionary != NULL, out, r->error));
  out->length = length;
  out->null_count = null_count;
  cst_status status = fill_array(r, encoded, type, out);
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

/* ---- columns that nobody wants ---- */

static cst_status count_skipped(reading *r, const char *format, size_t *out) {
  static const struct {
    const char *prefix;
    size_t count;
  } counts[] = {{"+us", 1}, {"+ud", 2}, {"+r", 0}, {"+s", 1}, {"+w", 1}, {"+v", 3}, {"+", 2},
                {"n", 0},   {"z", 3},   {"u", 3},  {"Z", 3},  {"U", 3},  {"v", 2},  {"", 2}};
  size_t i = 0;
  while (strncmp(format, counts[i].prefix, strlen(counts[i].prefix)) != 0) {
    i++;
  }
  *out = counts[i].count;
  if (format[0] == 'v') {
    int64_t blocks = 0;
    CST__TRY(next_block_count(r, &blocks));
    *out += (size_t)blocks;
  }
  /* Before version 5 unions had a bitmap. */
  *out += r->from->is_v4 && strncmp(format, "+u", 2) == 0;
  return CST_OK;
}

static cst_status skip_array(reading *r, const struct ArrowSchema *schema) {
  size_t count;
  CST__TRY(count_skipped(r, schema->format, &count));
  r->node++;
  r->buffer += count;
  for (int64_t i = 0; i < schema->n_children; i++) {
    CST__TRY(skip_array(r, schema->children[i]));
  }
  return CST_OK;
}

/* ---- the message ---- */

static cst_status read_column(reading *r, int64_t i, struct ArrowArray *out) {
  const cst__ipc_columns *from = r->from;
  const cst__view *type = &from->type->view.children[i];
  if (from->wanted != NULL && !from->wanted[i]) {
    return skip_array(r, from->type->schema.children[i]);
  }
  cst_status status = read_array(r, from->encoded->children[i], type, out);
  if (status == CST_OK) {
    return CST_OK;
  }
  cst__error_add_path(r->error, type->name, strlen(type->name));
  return status;
}

static cst_status find_codec(reading *r) {
  cst__flat_table compression = cst__flat_child(r->from->message, BATCH_COMPRESSION);
  int codec = cst__flat_u8(compression, 0, CST__IPC_LZ4);
  r->codec = CST__IPC_PLAIN;
  if (compression.flat == NULL) {
    return CST_OK;
  }
  if ((codec != CST__IPC_LZ4 && codec != CST__IPC_ZSTD) || cst__flat_u8(compression, 1, 0) != 0) {
    return cst__fail(r->error, CST_UNSUPPORTED, "write the file with zstd, lz4 or none",
                     "a record batch with the unknown compression %d", codec);
  }
  r->codec = codec == CST__IPC_LZ4 ? CST__IPC_LZ4 : CST__IPC_ZSTD;
  return CST_OK;
}

static cst_status ipc_column_begin(reading *r) {
  cst__flat_table message = r->from->message;
  r->nodes = cst__flat_items(message, BATCH_NODES, 16);
  r->buffers = cst__flat_items(message, BATCH_BUFFERS, 16);
  r->variadic = cst__flat_items(message, BATCH_VARIADIC, 8);
  CST__TRY(find_codec(r));
  return message.flat == NULL || message.flat->bad ? ipc_column_fail(r, "damaged metadata")
                                                   : CST_OK;
}

cst_status cst__ipc_columns_read(const cst__ipc_columns *columns, struct ArrowArray *out,
                                 cst_error *error) {
  reading r = {.from = columns, .error = error};
  int64_t length = cst__flat_i64(columns->message, BATCH_LENGTH, 0);
  CST__TRY(ipc_column_begin(&r));
  if (length < 0) {
    return ipc_column_fail(&r, "a negative length");
  }
  CST__TRY(cst__owned_new(&columns->allocator, 1, columns->encoded->n_children, false, out, error));
  out->length = length;
  cst_status status = CST_OK;
  for (int64_t i = 0; i < out->n_children && status == CST_OK; i++) {
    status = read_column(&r, i, out->children[i]);
    if (status == CST_OK && out->children[i]->release != NULL &&
        out->children[i]->length != length) {
      status = ipc_column_fail(&r, "columns of different lengths");
    }
  }
  if (status == CST_OK && (r.node != r.nodes.count || r.buffer != r.buffers.count)) {
    status = ipc_column_fail(&r, "more columns than the schema");
  }
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}
