/* For tests of messages: descriptor sets from text, records from text, batches as JSON lines.
 */
#ifndef TESTS_UNIT_MESSAGE_BATCH_SUPPORT_H
#define TESTS_UNIT_MESSAGE_BATCH_SUPPORT_H

#include <columnstone/sink.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "message/decode/decode.h"
#include "proto/descriptor_proto.h"
#include "proto/descriptor_set.h"
#include "proto/message.h"

/* The set of one file, given in the text form of FileDescriptorProto; NULL after a failed
 * allocation. */
static inline cst_descriptors *text_descriptors(const char *file_text,
                                                const cst_allocator *allocator, cst_error *error) {
  cst_descriptors *descriptors = NULL;
  cst__arena arena;
  cst__wire_out out = {0};
  cst__arena_init(&arena, NULL);
  cst__message *file = cst__message_new(&arena, cst__file_descriptor_def);
  const cst_bytes text = {(const uint8_t *)file_text, strlen(file_text)};
  (void)cst__message_merge_text(&arena, file, text, CST__DEPTH_LIMIT, error);
  CHECK_STR(error->message, "");
  cst__message_put_wire(file, &out);
  (void)cst_descriptors_new(out.data + out.free, cst__wire_out_size(&out), allocator, &descriptors,
                            error);
  cst__wire_out_free(&out);
  cst__arena_reset(&arena);
  return descriptors;
}

/* A batch as JSON lines. */
typedef struct json_text {
  char text[8192];
  size_t size;
} json_text;

static inline cst_status write_json_text(void *ctx, const void *data, size_t size,
                                         cst_error *error) {
  json_text *out = ctx;
  (void)error;
  CHECK(out->size + size < sizeof out->text);
  memcpy(out->text + out->size, data, size);
  out->size += size;
  out->text[out->size] = '\0';
  return CST_OK;
}

/* Those outside of strings. */
static inline void remove_blanks(json_text *out) {
  size_t size = 0;
  bool in_string = false;
  for (size_t i = 0; i < out->size; i++) {
    in_string ^= out->text[i] == '"' && (i == 0 || out->text[i - 1] != '\\');
    if (in_string || out->text[i] != ' ') {
      out->text[size++] = out->text[i];
    }
  }
  out->text[size] = '\0';
  out->size = size;
}

static inline void batch_as_json(const struct ArrowSchema *schema, const struct ArrowArray *batch,
                                 json_text *out) {
  cst_error error = CST_ERROR_INIT;
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  const cst_writer writer = {sizeof writer, "test", write_json_text, NULL, out};
  cst_sink *sink = NULL;
  *out = (json_text){.size = 0};
  options.format = "json";
  (void)cst_sink_open_writer(&writer, schema, &options, &sink, &error);
  CHECK_STR(error.message, "");
  (void)cst_sink_write(sink, batch, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(cst_sink_finish(sink, &error), CST_OK);
  cst_sink_free(sink);
  remove_blanks(out);
}

#endif /* TESTS_UNIT_MESSAGE_BATCH_SUPPORT_H */
