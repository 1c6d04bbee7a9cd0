/* Decoders and encoders of records in memory, by the name of what the records hold: its entry in
 * the table of formats makes both, as it does for sources and sinks. */
#include <columnstone/records.h>

#include "arrow/records/encoder.h"
#include "base/arguments.h"
#include "format/format_options.h"
#include "format/registry.h"
#include "message/message_options.h"

/* What decoders and encoders are told alike, by options of both kinds. */
typedef struct codec {
  cst_decode_options given; /* checked */
  cst_message_options message;
  cst__format format;
  cst__arena arena; /* of its options */
  const void *format_options;
} codec;

/* That the payload takes what is given. */
static cst_status check_given(const codec *c, const char *what, cst_error *error) {
  const cst__payload *payload = c->format.payload;
  if (c->given.schema != NULL && payload->types_from != CST__TYPES_OF_DATA) {
    return cst__fail(error, CST_INVALID_ARGUMENT,
                     payload->is_described ? "remove the schema: descriptors define the types"
                                           : "leave the schema out",
                     "records of the format %s take no schema", payload->name);
  }
  if (c->given.message != NULL && !payload->is_described) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "name the format message",
                     "the format %s does not contain protobuf messages", payload->name);
  }
  return payload->is_described ? cst__message_options_need(c->given.message, what, error) : CST_OK;
}

/* Finds the payload, and reads its options, which the arena has, also after a failure. */
static cst_status codec_init(codec *c, const char *name, cst__format_use use, cst_error *error) {
  CST__TRY(cst__check_allocator(c->given.allocator, error));
  CST__TRY(cst__format_find(name, &c->format, error));
  if (!cst__format_in_container(&c->format)) {
    return cst__fail(
        error, CST_UNSUPPORTED,
        "cst_source_open_readers reads files in memory, cst_sink_open_writer writes them",
        "the format %s is one of files, not of records", c->format.name);
  }
  if (c->given.message != NULL) {
    c->message = (cst_message_options)CST_MESSAGE_OPTIONS_INIT;
    CST__TRY(cst__read_options(&c->message, sizeof c->message, c->given.message, error));
    c->given.message = &c->message;
  }
  CST__TRY(check_given(c, use == CST__FOR_READING ? "read" : "written", error));
  CST__TRY(cst__options_check_given(c->given.options, c->given.num_options, error));
  return cst__format_options_read(&c->format, use,
                                  (cst__option_list){c->given.options, c->given.num_options},
                                  &c->arena, &c->format_options, error);
}

/* That batches of the payload can look so. */
static cst_status check_flags(const codec *c, cst_error *error) {
  uint32_t others = c->given.flags & ~c->format.payload->column_flags;
  CST__TRY(cst__check_flags(c->given.flags, CST__ALL_COLUMN_FLAGS, error));
  return others == 0
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT,
                         others & CST_COLUMNS_NESTED ? "leave nested out" : "leave fixed_size out",
                         "records of the format %s have no such columns", c->format.name);
}

static cst_status new_decoder(codec *c, const char *name, cst_decoder **out, cst_error *error) {
  CST__TRY(codec_init(c, name, CST__FOR_READING, error));
  const cst_decode_options *given = &c->given;
  const cst__payload *payload = c->format.payload;
  const cst__payload_options options = {.schema = given->schema,
                                        .columns = given->columns,
                                        .num_columns = given->num_columns,
                                        .column_flags = given->flags,
                                        .format_options = c->format_options,
                                        .message = given->message,
                                        .allocator = given->allocator};
  CST__TRY(check_flags(c, error));
  CST__TRY(cst__check_columns(given->columns, given->num_columns, error));
  return payload->new_decoder(&options, out, error);
}

cst_status cst_decoder_new(const char *payload, const cst_decode_options *options,
                           cst_decoder **out, cst_error *error) {
  codec c = {.given = CST_DECODE_OPTIONS_INIT};
  CST__CLEAR(out);
  CST__TRY(cst__check_given(payload, "payload", out, error));
  CST__TRY(cst__read_options(&c.given, sizeof c.given, options, error));
  cst__arena_init(&c.arena, NULL);
  cst_status status = new_decoder(&c, payload, out, error);
  cst__arena_reset(&c.arena);
  return status;
}

static cst_status new_encoder(codec *c, const char *name, cst_encode_options *own,
                              cst_encoder **out, cst_error *error) {
  CST__TRY(codec_init(c, name, CST__FOR_WRITING, error));
  CST__TRY(cst__check_flags(own->flags, CST__ALL_ENCODE_FLAGS, error));
  if (c->format.payload->new_encoder == NULL) {
    return cst__fail(error, CST_UNSUPPORTED, "choose another one", "the format %s can only be read",
                     c->format.name);
  }
  own->message = c->given.message;
  return c->format.payload->new_encoder(own, c->format_options, out, error);
}

cst_status cst_encoder_new(const char *payload, const cst_encode_options *options,
                           cst_encoder **out, cst_error *error) {
  cst_encode_options own = CST_ENCODE_OPTIONS_INIT;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(payload, "payload", out, error));
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  codec c = {.given = {.allocator = own.allocator,
                       .schema = own.schema,
                       .message = own.message,
                       .options = own.options,
                       .num_options = own.num_options}};
  cst__arena_init(&c.arena, NULL);
  cst_status status = new_encoder(&c, payload, &own, out, error);
  cst__arena_reset(&c.arena);
  return status;
}
