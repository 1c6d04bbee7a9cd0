/* The saved form of a view: the frame around its content, and the content's type. */
#include "query/view/view_file.h"

#include <string.h>

static const char view_magic[8] = {'C', 'S', 'T', 'V', 'I', 'E', 'W', '\n'};

/* ---- columnstone.View ---- */

enum {
  VIEW_ONE = CST__FIELD_IMPLICIT,
  VIEW_TEXT = CST__FIELD_IMPLICIT | CST__FIELD_UTF8,
  VIEW_TEXTS = CST__FIELD_REPEATED | CST__FIELD_UTF8,
  VIEW_MANY = CST__FIELD_REPEATED | CST__FIELD_PACKED
};

#define VIEW_FIELD(number, name, type, flags) \
  { name, number, CST__FIELD_##type, flags, 0, NULL, NULL, NULL, NULL, 0 }
#define VIEW_CHILD(number, name, def, flags) \
  { name, number, CST__FIELD_MESSAGE, flags, 0, &def, NULL, NULL, NULL, 0 }
#define VIEW_DEF(id, name)                                                                         \
  static const cst__message_def id = {name, id##_fields, sizeof id##_fields / sizeof *id##_fields, \
                                      NULL, 0,           false}

static const cst__field_def view_message_fields[] = {
    VIEW_FIELD(CST__VIEW_MESSAGE_DESCRIPTORS, "descriptors", BYTES, VIEW_ONE),
    VIEW_FIELD(CST__VIEW_MESSAGE_NAME, "message", STRING, VIEW_TEXT),
    VIEW_FIELD(3, "flags", UINT32, VIEW_ONE),
    VIEW_FIELD(4, "form", UINT32, VIEW_ONE),
    VIEW_FIELD(5, "enums", UINT32, VIEW_ONE),
    VIEW_FIELD(6, "timestamp_unit", UINT32, VIEW_ONE),
    VIEW_FIELD(7, "duration_unit", UINT32, VIEW_ONE),
    VIEW_FIELD(8, "time_unit", UINT32, VIEW_ONE),
    VIEW_FIELD(9, "recursion", SINT32, VIEW_ONE),
    VIEW_FIELD(10, "time_zone", STRING, CST__FIELD_UTF8),
    VIEW_FIELD(11, "unknown_fields", STRING, CST__FIELD_UTF8),
    VIEW_FIELD(12, "list_item", STRING, CST__FIELD_UTF8),
    VIEW_FIELD(13, "map_key", STRING, CST__FIELD_UTF8),
    VIEW_FIELD(14, "map_value", STRING, CST__FIELD_UTF8),
    VIEW_FIELD(15, "field_number_key", STRING, CST__FIELD_UTF8),
};
VIEW_DEF(view_message, "columnstone.View.Message");

static const cst__message_def view_type; /* a type has types in it */
static const cst__field_def view_type_fields[] = {
    VIEW_FIELD(CST__VIEW_TYPE_NAME, "name", STRING, VIEW_TEXT),
    VIEW_FIELD(CST__VIEW_TYPE_FORMAT, "format", STRING, VIEW_TEXT),
    VIEW_FIELD(CST__VIEW_TYPE_FLAGS, "flags", UINT32, VIEW_ONE),
    VIEW_CHILD(CST__VIEW_TYPE_CHILDREN, "children", view_type, CST__FIELD_REPEATED),
    VIEW_CHILD(CST__VIEW_TYPE_DICTIONARY, "dictionary", view_type, 0),
};
VIEW_DEF(view_type, "columnstone.View.Type");

static const cst__field_def view_param_fields[] = {
    VIEW_FIELD(CST__VIEW_PARAM_NAME, "name", STRING, VIEW_TEXT),
    VIEW_FIELD(CST__VIEW_PARAM_VALUE, "value", STRING, VIEW_TEXT),
};
VIEW_DEF(view_param, "columnstone.View.Param");

static const cst__field_def view_output_fields[] = {
    VIEW_FIELD(CST__VIEW_OUTPUT_NAME, "name", STRING, VIEW_TEXT),
    VIEW_CHILD(CST__VIEW_OUTPUT_COLUMNS, "columns", view_type, CST__FIELD_REPEATED),
    VIEW_FIELD(CST__VIEW_OUTPUT_KIND, "kind", STRING, VIEW_TEXT),
    VIEW_FIELD(CST__VIEW_OUTPUT_DTYPE, "dtype", STRING, VIEW_TEXT),
    VIEW_FIELD(CST__VIEW_OUTPUT_SHAPE, "shape", SINT64, VIEW_MANY),
    VIEW_FIELD(CST__VIEW_OUTPUT_ROW_SPLITS, "row_splits", STRING, VIEW_TEXT),
    VIEW_FIELD(CST__VIEW_OUTPUT_PATHS, "paths", STRING, VIEW_TEXTS),
};
VIEW_DEF(view_output, "columnstone.View.Output");

static const cst__field_def view_content_fields[] = {
    VIEW_FIELD(CST__VIEW_PRODUCER, "producer", STRING, VIEW_TEXT),
    VIEW_FIELD(CST__VIEW_QUERY, "query", STRING, VIEW_TEXT),
    VIEW_FIELD(CST__VIEW_FROM, "from", STRING, VIEW_TEXT),
    VIEW_CHILD(CST__VIEW_MESSAGE, "message", view_message, 0),
    VIEW_FIELD(CST__VIEW_SCHEMA, "schema", BYTES, 0),
    VIEW_CHILD(CST__VIEW_TYPE, "type", view_type, 0),
    VIEW_CHILD(CST__VIEW_PARAMS, "params", view_param, CST__FIELD_REPEATED),
    VIEW_FIELD(CST__VIEW_IS_CHOSEN, "is_chosen", BOOL, VIEW_ONE),
    VIEW_FIELD(CST__VIEW_CHOSEN, "chosen", STRING, VIEW_TEXTS),
    VIEW_CHILD(CST__VIEW_OUTPUTS, "outputs", view_output, CST__FIELD_REPEATED),
    VIEW_FIELD(CST__VIEW_PATHS, "paths", STRING, VIEW_TEXTS),
};
VIEW_DEF(view_content, "columnstone.View");

const cst__message_def *const cst__view_def = &view_content;

/* ---- the frame ---- */

static void view_put_number(char *to, uint32_t number) {
  for (int i = 0; i < 4; i++) {
    to[i] = (char)(number >> (8 * i) & 0xff);
  }
}

static uint32_t view_number(const uint8_t *from) {
  return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static cst_status view_fail_size(cst_error *error) {
  return cst__fail(error, CST_LIMIT, NULL, "a view has at most %d bytes", CST__VIEW_MAX_SIZE);
}

cst_status cst__view_file_write(const cst__message *content, char **bytes, size_t *size,
                                cst_error *error) {
  cst__wire_out wire = {0};
  cst__text text = {0};
  char head[CST__VIEW_HEAD];
  uint8_t digest[CST__SHA256_SIZE];
  cst__message_put_wire(content, &wire);
  size_t content_size = cst__wire_out_size(&wire);
  if (wire.failed || content_size > CST__VIEW_MAX_SIZE - CST__VIEW_HEAD - CST__SHA256_SIZE) {
    bool failed = wire.failed;
    cst__wire_out_free(&wire);
    return failed ? cst__fail_memory(error, content_size) : view_fail_size(error);
  }
  memcpy(head, view_magic, sizeof view_magic);
  view_put_number(head + 8, CST__VIEW_VERSION);
  view_put_number(head + 12, (uint32_t)content_size);
  cst__text_append(&text, head, sizeof head);
  cst__text_append(&text, wire.data + wire.free, content_size);
  cst__wire_out_free(&wire);
  if (!text.failed) {
    cst__sha256(text.data, text.size, digest);
    cst__text_append(&text, digest, sizeof digest);
  }
  return cst__text_finish(&text, bytes, size, error);
}

static cst_status view_check_frame(cst_bytes bytes, cst_error *error) {
  const char *hint = "`columnstone view build` writes views; a query (.cstq) is text";
  uint8_t digest[CST__SHA256_SIZE];
  if (bytes.size < sizeof view_magic || memcmp(bytes.data, view_magic, sizeof view_magic) != 0) {
    return cst__fail(error, CST_CORRUPT, hint, "these are not the bytes of a view");
  }
  if (bytes.size < CST__VIEW_HEAD + CST__SHA256_SIZE) {
    return cst__fail(error, CST_CORRUPT, "the file was cut off",
                     "a view has more than these %zu bytes", bytes.size);
  }
  uint32_t version = view_number(bytes.data + 8);
  if (version != CST__VIEW_VERSION) {
    return cst__fail(error, CST_UNSUPPORTED, "a later version of the library reads it",
                     "the view has the format %u, expected %d", (unsigned)version,
                     CST__VIEW_VERSION);
  }
  if (bytes.size > CST__VIEW_MAX_SIZE) {
    return view_fail_size(error);
  }
  size_t rest = bytes.size - CST__VIEW_HEAD - CST__SHA256_SIZE;
  if (view_number(bytes.data + 12) != rest) {
    return cst__fail(error, CST_CORRUPT, "the file was cut off, or something was appended",
                     "the view says that its content has %u bytes, and it has %zu",
                     (unsigned)view_number(bytes.data + 12), rest);
  }
  cst__sha256(bytes.data, bytes.size - CST__SHA256_SIZE, digest);
  if (memcmp(digest, bytes.data + bytes.size - CST__SHA256_SIZE, sizeof digest) != 0) {
    return cst__fail(error, CST_CORRUPT, "copy it again, or build it again",
                     "the digest of the view is not that of its bytes");
  }
  return CST_OK;
}

cst_status cst__view_file_read(cst_bytes bytes, cst__arena *arena, const cst__message **out,
                               cst_error *error) {
  CST__TRY(view_check_frame(bytes, error));
  cst_bytes content = {bytes.data + CST__VIEW_HEAD, bytes.size - CST__VIEW_HEAD - CST__SHA256_SIZE};
  cst__message *tree = cst__message_new(arena, cst__view_def);
  if (tree == NULL) {
    return cst__fail_memory(error, sizeof *tree);
  }
  CST__TRY(cst__message_merge(arena, tree, content, CST__DEPTH_LIMIT, error));
  *out = tree;
  return CST_OK;
}

void cst__view_file_digest(cst_bytes bytes, char hex[CST__SHA256_HEX]) {
  cst__sha256_hex(bytes.data + bytes.size - CST__SHA256_SIZE, hex);
}
