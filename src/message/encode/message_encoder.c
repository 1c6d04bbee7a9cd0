/* The encoder of messages: which tree writes a batch, and its rows. */
#include "message/encode/message_encoder.h"

#include <string.h>

#include "base/error.h"
#include "message/encode/encoder_tree.h"
#include "message/message_options.h"
#include "message/text/record_text.h"

typedef struct message_encoder {
  cst_encoder base; /* first */
  cst_descriptors *descriptors;
  const cst__message_def *def;
  char *unknown_fields;
  cst__name_map names;       /* of fields and enum values, by their owners */
  struct ArrowSchema schema; /* of the batches that the tree is for; released: none yet */
  cst__arena tree_arena;
  cst__out_message *tree;
  cst__out out;
  cst__record_text text; /* of the text format and JSON */
} message_encoder;

/* ---- trees ---- */

static void forget_tree(message_encoder *e) {
  if (e->schema.release != NULL) {
    e->schema.release(&e->schema);
  }
  e->schema.release = NULL;
  e->tree = NULL;
  cst__arena_reset(&e->tree_arena);
}

static cst_status make_tree(message_encoder *e, const struct ArrowSchema *schema,
                            cst_error *error) {
  CST__TRY(cst__schema_copy(schema, &e->schema, error));
  cst__out_plan plan = {.descriptors = e->descriptors,
                        .unknown_fields = e->unknown_fields,
                        .arena = &e->tree_arena,
                        .names = &e->names,
                        .error = error};
  return cst__out_plan_message(&plan, e->def, &e->schema, &e->tree);
}

/* Unless it is the schema of the batch before. */
static cst_status prepare_tree(cst_encoder *encoder, const struct ArrowSchema *schema,
                               cst_error *error) {
  message_encoder *e = (message_encoder *)encoder;
  if (e->tree != NULL && cst__schema_equal(&e->schema, schema)) {
    return CST_OK;
  }
  forget_tree(e);
  cst_status status = make_tree(e, schema, error);
  if (status != CST_OK) {
    forget_tree(e);
  }
  return status;
}

static cst_status plan_messages(cst_encoder *encoding, const cst__viewed *batch, cst_error *error) {
  message_encoder *e = (message_encoder *)encoding;
  cst__out_binding binding = {.arena = &e->base.arena, .trusted = e->base.trusted, .error = error};
  CST__TRY(prepare_tree(encoding, batch->schema, error));
  return cst__out_bind_message(&binding, e->tree, batch);
}

/* ---- rows ---- */

/* The record that has just been put, in its text form. */
static cst_status put_as_text(message_encoder *e, cst__back *back) {
  size_t size = cst__back_used(back) - e->out.before;
  cst_bytes text;
  CST__TRY(cst__record_text_write(&e->text, (cst_bytes){back->at, size}, &text, e->out.error));
  back->at += size;
  if (!cst__back_room(back, text.size)) {
    return cst__fail_memory(e->out.error, text.size);
  }
  back->at -= text.size;
  if (text.size > 0) {
    memcpy(back->at, text.data, text.size);
  }
  return CST_OK;
}

static cst_status put_message_record(cst_encoder *encoding, int64_t row, cst__back *back,
                                     cst_error *error) {
  message_encoder *e = (message_encoder *)encoding;
  cst__out *out = &e->out;
  out->back = back;
  out->begin = back->buffer->data;
  out->before = cst__back_used(back);
  out->error = error;
  out->num_keys = 0;
  uint8_t *at = cst__out_put_message(e->tree, row, back->at, out);
  if (at == NULL) {
    return out->status;
  }
  back->at = at;
  return cst__form_is_text(e->text.form) ? put_as_text(e, back) : CST_OK;
}

static void free_messages(cst_encoder *encoder) {
  message_encoder *e = (message_encoder *)encoder;
  forget_tree(e);
  cst__encoder_reset(&e->base);
  cst__name_map_reset(&e->names);
  cst__struct_json_reset(&e->out.json);
  cst__record_text_reset(&e->text);
  cst__delete(e->out.keys);
  cst__delete(e->unknown_fields);
  cst_descriptors_release(e->descriptors);
  cst__delete(e);
}

static const cst__encoder_type message_type = {.prepare = prepare_tree,
                                               .plan = plan_messages,
                                               .put_record = put_message_record,
                                               .free = free_messages};

/* ---- the encoder ---- */

static cst_status check_form(const cst_message_options *message, cst_error *error) {
  if (message->form != CST_MESSAGE_BINARY && !cst__form_is_text(message->form)) {
    return cst__fail(error, CST_UNSUPPORTED, "write them in binary form",
                     "messages are not written with the prefix of a schema registry");
  }
  if (message->form == CST_MESSAGE_JSON && message->unknown_fields != NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "leave unknown_fields out",
                     "protobuf's JSON has no unknown fields");
  }
  return CST_OK;
}

cst_status cst__message_encoder_new(const cst_message_options *message,
                                    const cst_encode_options *options, cst_encoder **out,
                                    cst_error *error) {
  const cst__message_def *def;
  CST__TRY(cst__message_options_need(message, "written", error));
  CST__TRY(cst__descriptors_need(message->descriptors, message->message, &def, error));
  CST__TRY(check_form(message, error));
  message_encoder *e = cst__new_zero(options->allocator, sizeof *e);
  if (e == NULL) {
    return cst__fail_memory(error, sizeof *e);
  }
  cst_status status =
      cst__encoder_init(&e->base, &message_type, options->flags, options->allocator, error);
  if (status != CST_OK) {
    cst__delete(e);
    return status;
  }
  cst__arena_init(&e->tree_arena, &e->base.allocator);
  cst__struct_json_init(&e->out.json, &e->base.allocator);
  e->def = def;
  e->descriptors = cst_descriptors_retain(message->descriptors);
  e->out.lossy = e->base.lossy;
  e->out.allocator = &e->base.allocator;
  cst__record_text_init(&e->text, message, def, &e->base.allocator);
  if (message->unknown_fields != NULL) {
    size_t size = strlen(message->unknown_fields);
    e->unknown_fields = cst__new_copy(options->allocator, message->unknown_fields, size);
    if (e->unknown_fields == NULL) {
      free_messages(&e->base);
      return cst__fail_memory(error, size);
    }
  }
  *out = &e->base;
  return CST_OK;
}
