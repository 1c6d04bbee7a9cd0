/* Arrow data from outside as messages: the encoder either refuses it, or gives records that are
 * messages. What the decoder makes of these is encoded to messages again, and from then on to the
 * same bytes.
 *
 * The language: a byte that chooses the message type, one of flags, a node of arrow_feed.h, and
 * what integers become. All types have the fields x, i, n, m and a, which are the names that the
 * feed gives to fields of structs.
 */
#include <columnstone/records.h>
#include <string.h>

#include "arrow_feed.h"
#include "fuzz.h"
#include "proto/descriptor_proto.h"
#include "proto/descriptor_set.h"
#include "proto/message.h"

#define NAMED(name, number, label, type) \
  " field { name: '" name "' number: " number " label: " label " type: " type " } "
#define TYPED(name, number, label, type, of)                                                     \
  " field { name: '" name "' number: " number " label: " label " type: " type " type_name: '" of \
  "' } "
#define MESSAGE_OF(name, fields) " message_type { name: '" name "' " fields " } "
#define ENTRY_OF(name, key, value)                                                                 \
  " nested_type { name: '" name "' options { map_entry: true } " NAMED("key", "1", "1", key) value \
      " } "

static const char proto3[] =
    "name: 'three.proto' package: 't' syntax: 'proto3'"
    "dependency: 'google/protobuf/timestamp.proto' dependency: 'google/protobuf/duration.proto'"
    "dependency: 'google/protobuf/wrappers.proto' dependency: 'google/protobuf/struct.proto'"
    "dependency: 'google/protobuf/any.proto' dependency: 'google/type/date.proto'"
    "dependency: 'google/type/timeofday.proto'"
    "enum_type { name: 'E' value { name: 'Z' number: 0 } value { name: 'x' number: 1 } "
    "}" MESSAGE_OF("Ints",
                   NAMED("x", "1", "1", "5") NAMED("i", "2", "1", "4") NAMED("n", "3", "1", "17")
                       NAMED("m", "4", "1", "8") NAMED("a", "5", "1", "16"))
        MESSAGE_OF("Floats",
                   NAMED("x", "1", "1", "2") NAMED("i", "16", "1", "1") NAMED("n", "3", "3", "2")
                       NAMED("m", "4", "3", "1") NAMED("a", "5", "1", "2"))
            MESSAGE_OF("Texts", NAMED("x", "1", "1", "9") NAMED("i", "2", "1", "12")
                                    NAMED("n", "3", "3", "9") NAMED("m", "4", "3", "12")
                                        NAMED("a", "5", "1", "9"))
                MESSAGE_OF("Lists", NAMED("x", "1", "3", "3") NAMED("i", "2", "3", "13") NAMED(
                                        "n", "3", "3", "18") TYPED("m", "4", "3", "14", ".t.E")
                                        NAMED("a", "5", "3", "8"))
                    MESSAGE_OF("Tree", TYPED("x", "1", "1", "11", ".t.Tree")
                                           TYPED("i", "2", "3", "11", ".t.Ints")
                                               TYPED("n", "300", "1", "14", ".t.E")
                                                   TYPED("m", "4", "3", "11", ".t.Tree")
                                                       NAMED("a", "536870911", "1", "3"))
                        MESSAGE_OF("Maps",
                                   TYPED("x", "1", "3", "11", ".t.Maps.XEntry") TYPED(
                                       "i", "2", "3", "11", ".t.Maps.IEntry")
                                       TYPED("n", "3", "3", "11", ".t.Maps.NEntry") TYPED(
                                           "m", "4", "1", "11", ".t.Maps") NAMED("a", "5", "1", "5")
                                           ENTRY_OF("XEntry", "5", NAMED("value", "2", "1", "3"))
                                               ENTRY_OF("IEntry", "9",
                                                        TYPED("value", "2", "1", "11", ".t.Ints"))
                                                   ENTRY_OF("NEntry", "8",
                                                            TYPED("value", "2", "1", "14", ".t.E")))
                            MESSAGE_OF(
                                "Known",
                                TYPED("x", "1", "1", "11", ".google.protobuf.Timestamp")
                                    TYPED("i", "2", "1", "11", ".google.protobuf.Int64Value")
                                        TYPED("n", "3", "3", "11", ".google.protobuf.StringValue")
                                            TYPED("m", "4", "1", "11", ".google.protobuf.Struct")
                                                TYPED("a", "5", "1", "11", ".google.protobuf.Any"))
                                MESSAGE_OF(
                                    "Times",
                                    TYPED("x", "1", "1", "11", ".google.protobuf.Duration") TYPED(
                                        "i", "2", "3", "11", ".google.protobuf.Timestamp")
                                        TYPED("n", "3", "1", "11", ".google.type.Date") TYPED(
                                            "m", "4", "1", "11", ".google.type.TimeOfDay")
                                            TYPED("a", "5", "3", "11", ".google.protobuf.Value"));

static const char proto2[] =
    "name: 'two.proto' package: 't' syntax: 'proto2'"
    "enum_type { name: 'C' value { name: 'x' number: 1 } value { name: 'y' number: -1 } "
    "}" MESSAGE_OF(
        "Two", NAMED("x", "1", "2", "5") TYPED("i", "2", "1", "10", ".t.Two.I")
                   TYPED("n", "3", "3", "14", ".t.C") NAMED("m", "4", "1", "9") NAMED(
                       "a", "5", "3", "5") " nested_type { name: 'I' " NAMED("x", "1", "1", "3")
                       NAMED("i", "2", "3",
                             "9") "  field { name: 'n' number: 3 label: 1 type: 15 oneof_index: 0 }"
                                  "  field { name: 'm' number: 4 label: 1 type: 9 oneof_index: 0 }"
                                  "  oneof_decl { name: 'either' } } ");

static const char *const types[] = {"t.Ints", "t.Floats", "t.Texts", "t.Lists", "t.Tree",
                                    "t.Maps", "t.Known",  "t.Times", "t.Two"};

/* ---- the types ---- */

static void put_proto_file(cst__wire_out *set, const char *text) {
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  cst__message *file = cst__message_new(&arena, cst__file_descriptor_def);
  cst_bytes all = {(const uint8_t *)text, strlen(text)};
  FUZZ_ASSERT(cst__message_merge_text(&arena, file, all, CST__DEPTH_LIMIT, NULL) == CST_OK);
  size_t before = cst__wire_out_size(set);
  cst__message_put_wire(file, set);
  cst__wire_put_varint(set, cst__wire_out_size(set) - before);
  cst__wire_put_tag(set, 1, CST__WIRE_LEN);
  cst__arena_reset(&arena);
}

static const cst_descriptors *the_types(void) {
  static cst_descriptors *set;
  if (set == NULL) {
    cst__wire_out out = {0};
    cst_error error = CST_ERROR_INIT;
    char *bytes;
    size_t size;
    put_proto_file(&out, proto3);
    put_proto_file(&out, proto2);
    FUZZ_ASSERT(cst__wire_out_finish(&out, &bytes, &size, NULL) == CST_OK);
    if (cst_descriptors_new(bytes, size, NULL, &set, &error) != CST_OK) {
      fprintf(stderr, "%s: %s\n", error.path, error.message);
      abort();
    }
    cst_free(bytes);
  }
  return set;
}

/* ---- dictionaries and times ---- */

static struct ArrowSchema words_schema = {.format = "u", .release = release_schema};
static const int32_t word_offsets[] = {0, 1, 2, 2, 4};
static const void *word_buffers[] = {NULL, word_offsets, "xZ-1"};
static struct ArrowArray words = {
    .length = 4, .n_buffers = 3, .buffers = word_buffers, .release = release_array};

/* What integers may become: times, by their width. */
static const char *time_format(feed *f, char integer) {
  static const char *const wide[] = {"tsn:UTC", "tDm", "ttn", "tdm"};
  static const char *const narrow[] = {"tdD", "tts"};
  return strchr("lL", integer) != NULL   ? wide[take(f) % 4]
         : strchr("iI", integer) != NULL ? narrow[take(f) % 2]
                                         : NULL;
}

/* Some columns of integers become indices of words, or times. */
static void change_integers(feed *f, struct ArrowSchema *schema, struct ArrowArray *array) {
  bool is_integer = schema->format[0] != '\0' && strchr("cCsSiIlL", schema->format[0]) != NULL &&
                    schema->format[1] == '\0' && schema->dictionary == NULL;
  uint8_t change = is_integer ? take(f) % 4 : 0;
  if (change == 1) {
    schema->dictionary = &words_schema;
    array->dictionary = &words;
  } else if (change == 2) {
    const char *format = time_format(f, schema->format[0]);
    schema->format = format != NULL ? format : schema->format;
  }
  for (int64_t i = 0; i < schema->n_children && i < array->n_children; i++) {
    change_integers(f, schema->children[i], array->children[i]);
  }
}

/* ---- there and back ---- */

typedef struct encoded_records {
  cst_status status;
  cst_error error;
  struct ArrowSchema schema;
  struct ArrowArray array;
} encoded_records;

static encoded_records encode_as(const cst_message_options *message, uint32_t flags,
                                 const struct ArrowSchema *schema, const struct ArrowArray *array) {
  encoded_records e = {.error = CST_ERROR_INIT};
  cst_encoder *encoder;
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  options.flags = flags;
  options.message = message;
  FUZZ_ASSERT(cst_encoder_new("message", &options, &encoder, NULL) == CST_OK);
  e.status = cst_encoder_encode(encoder, schema, array, &e.schema, &e.array, &e.error);
  cst_encoder_free(encoder);
  FUZZ_ASSERT((e.status == CST_OK) == (e.array.release != NULL));
  FUZZ_ASSERT(e.status == CST_OK || (e.error.code == e.status && e.error.message[0] != '\0'));
  return e;
}

static void release_records(encoded_records *e) {
  if (e->array.release != NULL) {
    e->array.release(&e->array);
    e->schema.release(&e->schema);
  }
}

/* Encodes what the decoder makes of records; false: they are none that it reads. */
static bool encode_decoded(const cst_message_options *message, encoded_records *from,
                           encoded_records *out) {
  cst_decoder *decoder;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  FUZZ_ASSERT(
      cst_decoder_new("message",
                      &(cst_decode_options){.size = sizeof(cst_decode_options), .message = message},
                      &decoder, NULL) == CST_OK);
  cst_status status =
      cst_decoder_decode_arrow(decoder, &from->schema, &from->array, &schema, &batch, NULL);
  cst_decoder_free(decoder);
  if (status != CST_OK) {
    return false;
  }
  *out = encode_as(message, 0, &schema, &batch);
  batch.release(&batch);
  schema.release(&schema);
  return true;
}

static void check_same(const encoded_records *a, const encoded_records *b) {
  const int64_t *x = a->array.buffers[1];
  const int64_t *y = b->array.buffers[1];
  FUZZ_ASSERT(a->array.length == b->array.length);
  for (int64_t i = 0; i < a->array.length; i++) {
    FUZZ_ASSERT(x[i + 1] - x[i] == y[i + 1] - y[i]);
  }
  size_t size = (size_t)(x[a->array.length] - x[0]);
  FUZZ_ASSERT(size == 0 || memcmp((const char *)a->array.buffers[2] + x[0],
                                  (const char *)b->array.buffers[2] + y[0], size) == 0);
}

/* What was decoded can be encoded; the second time, nothing changes. */
static void check_back_again(const cst_message_options *message, encoded_records *first) {
  encoded_records second;
  encoded_records third;
  if (!encode_decoded(message, first, &second)) {
    return;
  }
  if (second.status != CST_OK) {
    fprintf(stderr, "%s: %s\n", second.error.path, second.error.message);
    abort();
  }
  FUZZ_ASSERT(encode_decoded(message, &second, &third) && third.status == CST_OK);
  check_same(&second, &third);
  release_records(&third);
  release_records(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  feed f = {data, data + size, false};
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  message.descriptors = the_types();
  message.message = types[take(&f) % (sizeof types / sizeof *types)];
  uint8_t flags = take(&f);
  message.unknown_fields = (flags & 1) != 0 ? "u" : NULL; /* the feed gives no such name */
  f.is_damaged = (flags & 2) != 0;
  make_node(&f, &schema, &array, 0);
  change_integers(&f, &schema, &array);
  encoded_records e = encode_as(&message, (flags & 4) != 0 ? CST_ENCODE_LOSSY : 0, &schema, &array);
  if (e.status == CST_OK) {
    check_back_again(&message, &e);
  }
  fuzz_outcome(cst_status_name(e.status));
  release_records(&e);
  free_blocks();
  return 0;
}
