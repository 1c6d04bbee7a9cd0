/* A record as a message of any type: the loop and the tree of messages have to agree. What the tree
 * takes decodes as its normal form does, wherever the record lies; encoded again it is the same
 * message; an error names its place.
 *
 * The input: two bytes with the size of a descriptor set (low byte first), the set, a byte that
 * chooses the message, one of options, the record.
 */
#include <columnstone/records.h>
#include <string.h>

#include "fuzz.h"
#include "message/decode/decode.h"
#include "proto/descriptor_set.h"
#include "proto/message.h"

enum { RECORD_PADDING = 64, RECORD_COPIES = 3 };

typedef struct message_input {
  cst_descriptors *set;
  cst_message_options options;
  cst_bytes record;
} message_input;

/* ---- the input ---- */

static cst_status read_message_input(const uint8_t *data, size_t size, message_input *in) {
  if (size < 4) {
    return CST_FORMAT;
  }
  size_t set_size = (size_t)data[0] | (size_t)data[1] << 8;
  if (set_size > size - 4) {
    return CST_FORMAT;
  }
  CST__TRY(cst_descriptors_new(data + 2, set_size, NULL, &in->set, NULL));
  const uint8_t *rest = data + 2 + set_size;
  size_t count = cst_descriptors_num_messages(in->set);
  if (count == 0) {
    return CST_NOT_FOUND;
  }
  in->options.descriptors = in->set;
  in->options.message = cst_descriptors_message(in->set, rest[0] % count);
  in->options.flags = rest[1] & (CST_MESSAGE_NULLABLE_LISTS | CST_MESSAGE_NULLABLE_ITEMS |
                                 CST_MESSAGE_PLAIN_TYPES | CST_MESSAGE_BINARY_STRINGS);
  in->options.enums = (cst_message_enums)(rest[1] >> 5 & 1);
  in->options.recursion = (rest[1] >> 6 & 1) != 0 ? -1 : 1;
  in->options.unknown_fields = (rest[1] >> 7) != 0 ? "?" : NULL;
  in->record = (cst_bytes){rest + 2, size - 4 - set_size};
  return CST_OK;
}

/* ---- trees ---- */

/* The message in normal form; false: it is malformed. */
static bool tree_form(const message_input *in, cst_bytes record, bool is_sorted, char **bytes,
                      size_t *size) {
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  const char *name = in->options.message;
  const cst__message_def *def = cst__descriptors_find(in->set, name, strlen(name));
  cst__message *tree = cst__message_new(&arena, def);
  cst_status status = cst__message_merge(&arena, tree, record, CST__DEPTH_LIMIT, NULL);
  if (status == CST_OK) {
    cst__wire_out out = {0};
    FUZZ_ASSERT(is_sorted ? cst__message_sort_maps(&arena, tree)
                          : cst__message_unique_maps(&arena, tree));
    cst__message_put_wire(tree, &out);
    FUZZ_ASSERT(cst__wire_out_finish(&out, bytes, size, NULL) == CST_OK);
  }
  cst__arena_reset(&arena);
  return status == CST_OK;
}

/* ---- columns ---- */

typedef struct decoded {
  cst_status status;
  cst_error error;
  struct ArrowSchema schema;
  struct ArrowArray array;
} decoded;

static decoded decode_message(const message_input *in, cst_bytes record, size_t padding) {
  static const uint8_t nothing[RECORD_PADDING];
  decoded r = {.error = CST_ERROR_INIT};
  cst_decoder *decoder;
  r.status = cst_decoder_new(
      "message", &(cst_decode_options){.size = sizeof(cst_decode_options), .message = &in->options},
      &decoder, &r.error);
  if (r.status != CST_OK) {
    return r;
  }
  const cst_bytes items[RECORD_COPIES] = {record, {nothing, 0}, record};
  const cst__records records = {.items = items, .count = RECORD_COPIES, .padding = padding};
  const cst__records alone = {.items = items, .count = 1, .padding = padding};
  r.status = cst__decoder_decode(decoder, &records, &r.schema, &r.array, &r.error);
  if (r.status == CST_SCHEMA && r.error.record == 1) { /* nothing lacks what is required */
    r.status = cst__decoder_decode(decoder, &alone, &r.schema, &r.array, &r.error);
    FUZZ_ASSERT(r.status == CST_OK);
  }
  if (r.status == CST_CORRUPT || r.status == CST_SCHEMA) {
    FUZZ_ASSERT(r.error.record == 0 && r.error.message[0] != '\0');
  }
  cst_decoder_free(decoder);
  return r;
}

static void release_decoded(decoded *r) {
  if (r->status == CST_OK) {
    r->array.release(&r->array);
    r->schema.release(&r->schema);
  }
}

/* The first row as a message again, in one form for the same columns; false: there is none, because
 * there are bytes into which the decoder did not look. */
static bool row_form(const message_input *in, const decoded *rows, char **form, size_t *size) {
  cst_encoder *encoder;
  struct ArrowSchema schema;
  struct ArrowArray array;
  FUZZ_ASSERT(cst_encoder_new("message",
                              &(cst_encode_options){.size = sizeof(cst_encode_options),
                                                    .message = &in->options},
                              &encoder, NULL) == CST_OK);
  cst_status status =
      cst_encoder_encode(encoder, &rows->schema, &rows->array, &schema, &array, NULL);
  cst_encoder_free(encoder);
  if (status != CST_OK) {
    FUZZ_ASSERT(status == CST_UNSUPPORTED);
    return false;
  }
  const int64_t *offsets = array.buffers[1];
  cst_bytes row = {array.buffers[2], (size_t)offsets[1]};
  bool is_sound = tree_form(in, row, true, form, size);
  array.release(&array);
  schema.release(&schema);
  return is_sound;
}

static void check_same_row(const message_input *in, const decoded *a, const decoded *b) {
  char *forms[2] = {NULL, NULL};
  size_t sizes[2];
  bool has_form = row_form(in, a, &forms[0], &sizes[0]);
  FUZZ_ASSERT(row_form(in, b, &forms[1], &sizes[1]) == has_form);
  FUZZ_ASSERT(!has_form || (sizes[0] == sizes[1] && memcmp(forms[0], forms[1], sizes[0]) == 0));
  cst_free(forms[0]);
  cst_free(forms[1]);
}

static void check_same_message(const message_input *in, const decoded *a, const decoded *b) {
  FUZZ_ASSERT(a->status == b->status);
  if (a->status == CST_OK) {
    FUZZ_ASSERT(a->array.length == b->array.length);
    check_same_row(in, a, b);
  }
}

/* ---- the target ---- */

static void check_padded(const message_input *in, const decoded *plain) {
  uint8_t *padded = malloc(in->record.size + RECORD_PADDING);
  FUZZ_ASSERT(padded != NULL);
  if (in->record.size > 0) {
    memcpy(padded, in->record.data, in->record.size);
  }
  memset(padded + in->record.size, 0x0a, RECORD_PADDING);
  decoded other = decode_message(in, (cst_bytes){padded, in->record.size}, RECORD_PADDING);
  check_same_message(in, plain, &other);
  release_decoded(&other);
  free(padded);
}

static void check_normal(const message_input *in, const decoded *plain) {
  char *bytes;
  size_t size;
  if (!tree_form(in, in->record, false, &bytes, &size)) {
    return; /* where nobody looks, the loop may take it */
  }
  decoded normal = decode_message(in, (cst_bytes){(const uint8_t *)bytes, size}, 0);
  FUZZ_ASSERT(plain->status != CST_CORRUPT);
  check_same_message(in, plain, &normal);
  release_decoded(&normal);
  cst_free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  message_input in = {.options = CST_MESSAGE_OPTIONS_INIT};
  cst_status status = read_message_input(data, size, &in);
  if (status == CST_OK) {
    decoded plain = decode_message(&in, in.record, 0);
    status = plain.status;
    if (status == CST_OK || status == CST_CORRUPT || status == CST_SCHEMA) {
      check_padded(&in, &plain);
      check_normal(&in, &plain);
    }
    release_decoded(&plain);
  }
  cst_descriptors_release(in.set);
  fuzz_outcome(status == CST_OK ? "OK" : cst_status_name(status));
  return 0;
}
