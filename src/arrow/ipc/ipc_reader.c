/* Messages of Arrow IPC: a prefix, the metadata, a body; the head and the end of a file. */
#include "arrow/ipc/ipc_reader.h"

#include <string.h>

#include "arrow/concat.h"
#include "arrow/dictionary.h"
#include "arrow/ipc/ipc_columns.h"
#include "arrow/ipc/ipc_dictionaries.h"
#include "arrow/ipc/ipc_schema.h"

/* What is taken before the bytes are seen; more as they come. */
enum { FIRST_ROOM = 16 << 20, MAX_METADATA = 256 << 20 };
enum { MAGIC_SIZE = 6, FILE_HEAD = 8, PREFIX = 8 };

static const char magic[] = "ARROW1";
static const uint8_t continuation[] = {0xff, 0xff, 0xff, 0xff};

struct cst__ipc_reader {
  cst_allocator allocator;
  cst__ipc_read_bytes read;
  void *ctx;
  bool is_file;
  bool at_end;
  bool unmarked; /* a stream that has ended without its end marker */
  bool has_next; /* the prefix of the next message has been read */
  uint32_t next_size;
  uint64_t offset; /* of the next byte */
  struct {
    int64_t rows;
    int64_t batches;
    cst__growth growth;
  } given;
  int64_t skip;   /* batches that were given before the file was opened again */
  bool lacks;     /* the dictionaries of the last batch lie after it */
  bool collected; /* all dictionaries of the file are known */

  struct {
    uint64_t begin; /* where it lies */
    cst__buffer metadata;
    cst__flat flat; /* over it */
    bool is_v4;
    cst__flat_table header;
    int header_type;
    cst__ipc_body *body;
  } message; /* that is read */
  cst__ipc_inflater inflater;

  struct {
    struct ArrowSchema encoded;    /* as the message has it */
    struct ArrowSchema expandable; /* dictionaries have plain values */
    struct ArrowSchema plain;      /* of all columns */
    struct ArrowSchema picked;     /* of the wanted ones, in their order */
  } schemas;
  cst__ipc_type type;
  cst__dictionary_ids ids;
  cst__ipc_dictionaries dictionaries;
  struct {
    bool *wanted;    /* of each column; NULL: all */
    int64_t *places; /* of the wanted ones */
    size_t count;    /* of them */
  } columns;
};

bool cst__ipc_sniff(const uint8_t *head, size_t size) {
  uint32_t length;
  if (size >= MAGIC_SIZE && memcmp(head, magic, MAGIC_SIZE) == 0) {
    return size == MAGIC_SIZE || head[MAGIC_SIZE] == 0; /* padding: it is not text */
  }
  if (size < 8 || memcmp(head, continuation, 4) != 0) {
    return false;
  }
  memcpy(&length, head + 4, sizeof length);
  return length > 0 && length <= MAX_METADATA && length % 8 == 0;
}

/* ---- bytes ---- */

/* What is asked for and not there is a file that ends too early. */
static cst_status fail_truncated(const cst__ipc_reader *r, const char *where, cst_error *error) {
  return cst__fail(error, CST_CORRUPT, "the file is incomplete: fetch or write it again",
                   "the Arrow data ends at byte %llu, %s", (unsigned long long)r->offset, where);
}

static cst_status read_some(cst__ipc_reader *r, void *to, size_t size, size_t *got,
                            cst_error *error) {
  CST__TRY(r->read(r->ctx, to, size, got, error));
  r->offset += *got;
  return CST_OK;
}

static cst_status ipc_reader_read_all(cst__ipc_reader *r, void *to, size_t size, const char *where,
                                      cst_error *error) {
  size_t got;
  CST__TRY(read_some(r, to, size, &got, error));
  return got == size ? CST_OK : fail_truncated(r, where, error);
}

/* Grows the buffer as the bytes come: a claim alone takes no memory. */
static cst_status read_claimed(cst__ipc_reader *r, cst__buffer *buffer, uint64_t size,
                               const char *where, cst_error *error) {
  size_t have = 0;
  size_t room = size < FIRST_ROOM ? (size_t)size : FIRST_ROOM;
  do {
    if (!cst__buffer_reserve(&r->allocator, buffer, room, have)) {
      return cst__fail_memory(error, room);
    }
    CST__TRY(ipc_reader_read_all(r, buffer->data + have, room - have, where, error));
    have = room;
    room = size - have < have ? (size_t)size : 2 * have;
  } while (have < size);
  return CST_OK;
}

/* ---- messages ---- */

/* The size of the metadata; 0 at the end of the messages. */
static cst_status read_prefix(cst__ipc_reader *r, uint32_t *size, cst_error *error) {
  size_t got;
  if (r->has_next) {
    r->has_next = false;
    r->message.begin = r->offset - PREFIX;
    *size = r->next_size;
    return CST_OK;
  }
  r->message.begin = r->offset;
  CST__TRY(read_some(r, size, sizeof *size, &got, error));
  if (got == 0 && !r->is_file) {
    r->unmarked = true;
    *size = 0;
    return CST_OK;
  }
  if (got < sizeof *size) {
    return fail_truncated(r, got == 0 ? "before the end mark" : "inside a message's size", error);
  }
  if (memcmp(size, continuation, sizeof *size) != 0) {
    return cst__fail(error, CST_CORRUPT, "the file is damaged or is not Arrow data",
                     "no Arrow message at the expected position");
  }
  return ipc_reader_read_all(r, size, sizeof *size, "inside a message's size", error);
}

static cst_status read_metadata(cst__ipc_reader *r, uint32_t size, cst_error *error) {
  if (size > MAX_METADATA) {
    return cst__fail(error, CST_CORRUPT, "the file is damaged or is not Arrow data",
                     "a message whose metadata claims %lu bytes", (unsigned long)size);
  }
  CST__TRY(read_claimed(r, &r->message.metadata, size, "inside a message's metadata", error));
  r->message.flat = (cst__flat){r->message.metadata.data, size, false};
  return CST_OK;
}

static cst_status parse_message(cst__ipc_reader *r, int64_t *body_size, cst_error *error) {
  cst__flat_table message = cst__flat_root(&r->message.flat);
  int version = cst__flat_i16(message, CST__MESSAGE_VERSION, 0);
  r->message.header_type = cst__flat_u8(message, CST__MESSAGE_TYPE, 0);
  r->message.header = cst__flat_child(message, CST__MESSAGE_HEADER);
  *body_size = cst__flat_i64(message, CST__MESSAGE_BODY_LENGTH, 0);
  if (r->message.flat.bad || r->message.header.flat == NULL || *body_size < 0) {
    return cst__fail(error, CST_CORRUPT, "the file is damaged or is not Arrow data",
                     "a message with damaged metadata");
  }
  if (version != CST__VERSION_V4 && version != CST__VERSION_V5) {
    return cst__fail(error, CST_UNSUPPORTED, "write it again with a current Arrow library",
                     "Arrow metadata of version %d, 4 and 5 can be read", version + 1);
  }
  r->message.is_v4 = version == CST__VERSION_V4;
  return CST_OK;
}

/* The next message with its body; *found is false at the end. */
static cst_status ipc_reader_read_message(cst__ipc_reader *r, bool *found, cst_error *error) {
  uint32_t size;
  int64_t body_size;
  CST__TRY(read_prefix(r, &size, error));
  *found = size > 0;
  if (!*found) {
    return CST_OK;
  }
  CST__TRY(read_metadata(r, size, error));
  CST__TRY(parse_message(r, &body_size, error));
  cst__ipc_body_release(r->message.body);
  r->message.body = cst__ipc_body_new(&r->allocator);
  if (r->message.body == NULL) {
    return cst__fail_memory(error, sizeof *r->message.body);
  }
  CST__TRY(read_claimed(r, &r->message.body->bytes, (uint64_t)body_size, "inside a message's body",
                        error));
  r->message.body->size = (size_t)body_size;
  return CST_OK;
}

/* ---- the head ---- */

static cst_status read_magic(cst__ipc_reader *r, uint8_t *head, cst_error *error) {
  size_t got;
  CST__TRY(read_some(r, head, FILE_HEAD, &got, error));
  if (got >= 4 && memcmp(head, "FEA1", 4) == 0) {
    return cst__fail(error, CST_UNSUPPORTED,
                     "write it again with a current library: pyarrow.feather.write_feather",
                     "a Feather file of version 1, which is not Arrow IPC");
  }
  if (got == FILE_HEAD && (memcmp(head, magic, MAGIC_SIZE) == 0 ||
                           memcmp(head, continuation, sizeof continuation) == 0)) {
    return CST_OK;
  }
  return got < FILE_HEAD ? fail_truncated(r, "inside its head", error)
                         : cst__fail(error, CST_CORRUPT, "is it Arrow data?",
                                     "neither an Arrow IPC file nor a stream");
}

/* Polars writes the schema of a file without its prefix: it begins with the offset of its root,
 * which is less than the size of any schema message, and ends where the prefix of the next message
 * begins. `first` are its first eight bytes. */
static cst_status read_bare_schema(cst__ipc_reader *r, const uint8_t *first, uint32_t *size,
                                   cst_error *error) {
  uint8_t bytes[PREFIX];
  size_t have = 0;
  memcpy(bytes, first, PREFIX);
  do {
    if (have > MAX_METADATA) {
      return cst__fail(error, CST_CORRUPT, NULL, "a schema message that does not end");
    }
    if (!cst__buffer_reserve(&r->allocator, &r->message.metadata, have + PREFIX, have)) {
      return cst__fail_memory(error, have + PREFIX);
    }
    memcpy(r->message.metadata.data + have, bytes, PREFIX);
    have += PREFIX;
    CST__TRY(ipc_reader_read_all(r, bytes, PREFIX, "inside the schema message", error));
    memcpy(&r->next_size, bytes + 4, sizeof r->next_size);
  } while (memcmp(bytes, continuation, sizeof continuation) != 0 || r->next_size % 8 != 0);
  r->has_next = true;
  *size = (uint32_t)have;
  return CST_OK;
}

/* The first message of a file. */
static cst_status read_first(cst__ipc_reader *r, uint32_t *size, cst_error *error) {
  enum { MOST_ROOT = 64 };
  uint8_t bytes[PREFIX];
  uint32_t root;
  r->message.begin = r->offset;
  CST__TRY(ipc_reader_read_all(r, bytes, PREFIX, "before the schema message", error));
  memcpy(&root, bytes, sizeof root);
  if (memcmp(bytes, continuation, sizeof continuation) == 0) {
    memcpy(size, bytes + 4, sizeof *size);
    return read_metadata(r, *size, error);
  }
  if (root == 0 || root > MOST_ROOT) {
    return cst__fail(error, CST_CORRUPT, "the file is damaged or is not Arrow data",
                     "an Arrow file that does not begin with a message");
  }
  return read_bare_schema(r, bytes, size, error);
}

/* The first eight bytes of a stream are the prefix of its first message. */
static cst_status read_schema_message(cst__ipc_reader *r, const uint8_t *head, cst_error *error) {
  uint32_t size = 0;
  int64_t body_size;
  if (r->is_file) {
    CST__TRY(read_first(r, &size, error));
  } else {
    memcpy(&size, head + 4, sizeof size);
    CST__TRY(read_metadata(r, size, error));
  }
  if (size == 0) {
    return cst__fail(error, CST_CORRUPT, NULL, "Arrow data without a schema");
  }
  r->message.flat = (cst__flat){r->message.metadata.data, size, false};
  CST__TRY(parse_message(r, &body_size, error));
  if (r->message.header_type != CST__HEADER_SCHEMA || body_size != 0) {
    return cst__fail(error, CST_CORRUPT, NULL, "Arrow data that does not begin with a schema");
  }
  return cst__ipc_schema(r->message.header, &r->schemas.encoded, &r->ids, error);
}

/* Gives every dictionary plain values, as cst__ipc_dictionaries_find will. */
static cst_status plain_values(struct ArrowSchema *schema, cst_error *error) {
  if (schema->dictionary != NULL) {
    CST__TRY(cst__schema_make_plain(schema->dictionary, error));
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    CST__TRY(plain_values(schema->children[i], error));
  }
  return CST_OK;
}

static cst_status make_schemas(cst__ipc_reader *r, cst_error *error) {
  CST__TRY(cst__schema_copy(&r->schemas.encoded, &r->schemas.expandable, error));
  CST__TRY(plain_values(&r->schemas.expandable, error));
  CST__TRY(cst__schema_copy(&r->schemas.encoded, &r->schemas.plain, error));
  CST__TRY(cst__schema_make_plain(&r->schemas.plain, error));
  CST__TRY(cst__schema_copy(&r->schemas.plain, &r->schemas.picked, error));
  CST__TRY(cst__ipc_type_init(&r->type, &r->schemas.encoded, &r->allocator, error));
  return cst__ipc_dictionaries_init(&r->dictionaries, &r->schemas.encoded, &r->ids, &r->allocator,
                                    error);
}

static cst_status ipc_reader_read_head(cst__ipc_reader *r, cst_error *error) {
  uint8_t head[FILE_HEAD];
  CST__TRY(read_magic(r, head, error));
  r->is_file = memcmp(head, magic, MAGIC_SIZE) == 0;
  CST__TRY(read_schema_message(r, head, error));
  return make_schemas(r, error);
}

/* What another library could have passed wrongly, a file can only have damaged. */
static cst_status at_message(const cst__ipc_reader *r, cst_status status, int64_t record,
                             cst_error *error) {
  if (status == CST_INVALID_ARGUMENT) {
    status = CST_CORRUPT;
    if (cst__error_wanted(error)) {
      error->code = CST_CORRUPT;
    }
  }
  if (status != CST_OK) {
    cst__error_add_record(error, record, (int64_t)r->message.begin);
  }
  return status;
}

cst_status cst__ipc_reader_new(cst__ipc_read_bytes read, void *ctx, const cst_allocator *allocator,
                               cst__ipc_reader **out, cst_error *error) {
  cst_allocator own = cst__allocator_of(allocator);
  cst__ipc_reader *r = cst__new_zero(&own, sizeof *r);
  if (r == NULL) {
    return cst__fail_memory(error, sizeof *r);
  }
  r->allocator = own;
  r->read = read;
  r->ctx = ctx;
  cst_status status = at_message(r, ipc_reader_read_head(r, error), -1, error);
  if (status != CST_OK) {
    cst__ipc_reader_free(r);
    return status;
  }
  *out = r;
  return CST_OK;
}

void cst__ipc_reader_limit(cst__ipc_reader *reader, uint64_t max_inflation,
                           uint64_t max_record_size) {
  reader->given.growth.max_inflation = max_inflation;
  reader->given.growth.max_record_size = max_record_size;
}

const struct ArrowSchema *cst__ipc_reader_schema(const cst__ipc_reader *reader) {
  return &reader->schemas.picked;
}

cst_status cst__ipc_reader_pick(cst__ipc_reader *r, const int64_t *places, size_t count,
                                cst_error *error) {
  size_t num_columns = (size_t)r->schemas.plain.n_children;
  struct ArrowSchema picked;
  bool *wanted = cst__new_zero(&r->allocator, num_columns + 1);
  int64_t *copy = cst__new(&r->allocator, (count + 1) * sizeof *copy);
  cst_status status = wanted != NULL && copy != NULL
                          ? cst__schema_copy(&r->schemas.plain, &picked, error)
                          : cst__fail_memory(error, num_columns + (count + 1) * sizeof *copy);
  if (status == CST_OK) {
    status = cst__pick_fields(places, count, &picked, error);
    if (status != CST_OK) {
      picked.release(&picked);
    }
  }
  if (status != CST_OK) {
    cst__delete(wanted);
    cst__delete(copy);
    return status;
  }
  for (size_t i = 0; i < count; i++) {
    copy[i] = places[i];
    wanted[places[i]] = true;
  }
  cst__delete(r->columns.wanted);
  cst__delete(r->columns.places);
  r->schemas.picked.release(&r->schemas.picked);
  r->columns.wanted = wanted;
  r->columns.places = copy;
  r->columns.count = count;
  r->schemas.picked = picked;
  return CST_OK;
}

/* ---- batches ---- */

static cst__ipc_columns ipc_reader_columns_of(cst__ipc_reader *r) {
  return (cst__ipc_columns){.allocator = r->allocator,
                            .encoded = &r->schemas.encoded,
                            .type = &r->type,
                            .wanted = r->columns.wanted,
                            .is_v4 = r->message.is_v4,
                            .message = r->message.header,
                            .max_inflation = r->given.growth.max_inflation,
                            .body = r->message.body,
                            .inflater = &r->inflater,
                            .find_dictionary = cst__ipc_dictionaries_find,
                            .ctx = &r->dictionaries};
}

/* Rows that take no bytes could be as many as there are numbers. */
static cst_status check_rows(const cst__ipc_reader *r, const struct ArrowArray *batch,
                             cst_error *error) {
  if (batch->length > INT32_MAX && (uint64_t)batch->length / 8 > r->message.body->size) {
    return cst__fail(error, CST_LIMIT, NULL, "a batch of %lld rows in %zu bytes",
                     (long long)batch->length, r->message.body->size);
  }
  return CST_OK;
}

/* Validates the batch, and counts what it holds. */
static cst_status ipc_reader_validate(cst__ipc_reader *r, const struct ArrowArray *batch,
                                      cst_error *error) {
  cst__arena arena;
  cst__view view;
  cst__arena_init(&arena, &r->allocator);
  cst_status status = cst__view_init(&view, &r->schemas.picked, batch, false, &arena, error);
  if (status == CST_OK) {
    r->given.growth.taken = r->offset;
    status = cst__growth_add(&r->given.growth, &view, error);
  }
  cst__arena_reset(&arena);
  return status;
}

/* Decodes the dictionaries of the wanted columns; the others are not arrays. */
static cst_status decode_dictionaries(cst__ipc_reader *r, struct ArrowArray *batch,
                                      cst_error *error) {
  for (int64_t i = 0; i < batch->n_children; i++) {
    const struct ArrowSchema *field = r->schemas.expandable.children[i];
    if (batch->children[i]->release == NULL) {
      continue;
    }
    cst_status status =
        cst__array_make_plain_as(field, &r->allocator, true, batch->children[i], error);
    if (status != CST_OK) {
      cst__error_add_path(error, field->name, strlen(field->name));
      return status;
    }
  }
  return CST_OK;
}

/* In a file the dictionaries may lie anywhere. */
static cst_status ipc_reader_check_dictionaries(cst__ipc_reader *r, cst_status status,
                                                cst_error *error) {
  r->lacks = status == CST_CORRUPT && r->is_file && !r->collected && r->dictionaries.was_missing;
  return r->lacks ? cst__fail(error, CST_UNSUPPORTED,
                              "open the file by its path, so that it can be read twice",
                              "the dictionaries of a batch lie after it in the file")
                  : status;
}

static cst_status make_batch(cst__ipc_reader *r, struct ArrowArray *out, cst_error *error) {
  cst__ipc_columns columns = ipc_reader_columns_of(r);
  r->dictionaries.was_missing = false;
  CST__TRY(cst__ipc_columns_read(&columns, out, error));
  cst_status status = check_rows(r, out, error);
  if (status == CST_OK) {
    status = ipc_reader_check_dictionaries(r, decode_dictionaries(r, out, error), error);
  }
  if (status == CST_OK && r->columns.places != NULL) {
    status = cst__pick_arrays(r->columns.places, r->columns.count, &r->allocator, out, error);
  }
  if (status == CST_OK) {
    status = ipc_reader_validate(r, out, error);
  }
  if (status != CST_OK) {
    cst__array_release(out);
  }
  return status;
}

static cst_status take_message(cst__ipc_reader *r, struct ArrowArray *out, cst_error *error) {
  switch (r->message.header_type) {
    case CST__HEADER_BATCH:
      if (r->skip > 0) {
        r->skip--;
        return CST_OK;
      }
      return make_batch(r, out, error);
    case CST__HEADER_DICTIONARY:
      return r->collected ? CST_OK
                          : cst__ipc_dictionaries_read(&r->dictionaries, r->message.header,
                                                       ipc_reader_columns_of(r), error);
    default:
      return cst__fail(
          error, r->message.header_type == CST__HEADER_SCHEMA ? CST_CORRUPT : CST_UNSUPPORTED, NULL,
          "a message of type %d where a batch was expected", r->message.header_type);
  }
}

/* ---- the end ---- */

/* Behind the end mark of a file: the footer, its size in 32 bits, the magic. */
static cst_status check_tail(cst__ipc_reader *r, const uint8_t *tail, uint64_t size,
                             cst_error *error) {
  int32_t footer = 0;
  bool is_whole = size >= 4 + MAGIC_SIZE && memcmp(tail + 4, magic, MAGIC_SIZE) == 0;
  if (is_whole) {
    memcpy(&footer, tail, sizeof footer);
  }
  return is_whole && footer > 0 && (uint64_t)footer <= size - 4 - MAGIC_SIZE
             ? CST_OK
             : fail_truncated(r, "inside its footer", error);
}

/* Behind a stream there may be zeros, and nothing else: a second stream would be lost. */
static cst_status check_padding(const uint8_t *bytes, size_t size, cst_error *error) {
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != 0) {
      return cst__fail(error, CST_CORRUPT, "were streams joined? read them one by one",
                       "more bytes after the end mark of the Arrow stream");
    }
  }
  return CST_OK;
}

static cst_status read_tail(cst__ipc_reader *r, cst_error *error) {
  enum { TAIL = 4 + MAGIC_SIZE, CHUNK = 4096 };
  uint8_t bytes[TAIL + CHUNK] = {0}; /* the last ones seen, and new ones after them */
  uint64_t size = 0;
  size_t got;
  do {
    CST__TRY(read_some(r, bytes + TAIL, CHUNK, &got, error));
    if (!r->is_file) {
      CST__TRY(check_padding(bytes + TAIL, got, error));
    }
    memmove(bytes, bytes + got, TAIL);
    size += got;
  } while (got == CHUNK);
  return r->is_file ? check_tail(r, bytes, size, error) : CST_OK;
}

static cst_status next(cst__ipc_reader *r, struct ArrowArray *out, cst_error *error) {
  while (!r->at_end && out->release == NULL) {
    bool found;
    CST__TRY(ipc_reader_read_message(r, &found, error));
    if (found) {
      CST__TRY(take_message(r, out, error));
    } else {
      CST__TRY(read_tail(r, error));
      r->at_end = true;
    }
  }
  return CST_OK;
}

cst_status cst__ipc_reader_next(cst__ipc_reader *r, struct ArrowArray *out, cst_error *error) {
  *out = (struct ArrowArray){0};
  CST__TRY(at_message(r, next(r, out, error), r->given.rows, error));
  if (out->release != NULL) {
    r->given.rows += out->length;
    r->given.batches++;
  }
  return CST_OK;
}

bool cst__ipc_reader_is_unmarked(const cst__ipc_reader *reader) { return reader->unmarked; }

/* ---- a second look at a file ---- */

bool cst__ipc_reader_lacks_dictionaries(const cst__ipc_reader *reader) { return reader->lacks; }

static cst_status ipc_reader_collect(cst__ipc_reader *r, cst_error *error) {
  bool found;
  CST__TRY(ipc_reader_read_message(r, &found, error));
  while (found) {
    if (r->message.header_type == CST__HEADER_DICTIONARY) {
      CST__TRY(cst__ipc_dictionaries_read(&r->dictionaries, r->message.header,
                                          ipc_reader_columns_of(r), error));
    }
    CST__TRY(ipc_reader_read_message(r, &found, error));
  }
  r->collected = true;
  return CST_OK;
}

cst_status cst__ipc_reader_collect(cst__ipc_reader *r, cst_error *error) {
  return at_message(r, ipc_reader_collect(r, error), -1, error);
}

static cst_status restart(cst__ipc_reader *r, cst_error *error) {
  uint8_t head[FILE_HEAD];
  uint32_t size;
  CST__TRY(read_magic(r, head, error));
  return read_first(r, &size, error);
}

cst_status cst__ipc_reader_restart(cst__ipc_reader *r, void *ctx, cst_error *error) {
  r->ctx = ctx;
  r->offset = 0;
  r->has_next = false;
  r->lacks = false;
  r->skip = r->given.batches;
  return at_message(r, restart(r, error), -1, error);
}

static void release_schema(struct ArrowSchema *schema) {
  if (schema->release != NULL) {
    schema->release(schema);
  }
}

void cst__ipc_reader_free(cst__ipc_reader *r) {
  if (r == NULL) {
    return;
  }
  cst__ipc_dictionaries_reset(&r->dictionaries);
  cst__ipc_type_reset(&r->type);
  release_schema(&r->schemas.encoded);
  release_schema(&r->schemas.expandable);
  release_schema(&r->schemas.plain);
  release_schema(&r->schemas.picked);
  cst__delete(r->ids.items);
  cst__delete(r->columns.wanted);
  cst__delete(r->columns.places);
  cst__ipc_body_release(r->message.body);
  cst__buffer_free(&r->allocator, &r->message.metadata);
  cst__ipc_inflater_reset(&r->inflater);
  cst__delete(r);
}
