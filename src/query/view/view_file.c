/* The saved form of a view: the frame around its content. */
#include "query/view/view_file.h"

#include <string.h>

static const char view_magic[8] = {'C', 'S', 'T', 'V', 'I', 'E', 'W', '\n'};

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

cst_status cst__query_view_file_write(const cst__message *content, char **bytes, size_t *size,
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
    return cst__fail(error, CST_CORRUPT, hint, "these bytes are not a saved view");
  }
  if (bytes.size < CST__VIEW_HEAD + CST__SHA256_SIZE) {
    return cst__fail(error, CST_CORRUPT, "the file was truncated", "a view has more than %zu bytes",
                     bytes.size);
  }
  uint32_t version = view_number(bytes.data + 8);
  if (version != CST__VIEW_VERSION) {
    return cst__fail(error, CST_UNSUPPORTED, "use a newer version of the library",
                     "the view has the format %u, expected %d", (unsigned)version,
                     CST__VIEW_VERSION);
  }
  if (bytes.size > CST__VIEW_MAX_SIZE) {
    return view_fail_size(error);
  }
  size_t rest = bytes.size - CST__VIEW_HEAD - CST__SHA256_SIZE;
  if (view_number(bytes.data + 12) != rest) {
    return cst__fail(error, CST_CORRUPT, "the file was truncated, or something was appended",
                     "the view's header says %u bytes of content, found %zu",
                     (unsigned)view_number(bytes.data + 12), rest);
  }
  cst__sha256(bytes.data, bytes.size - CST__SHA256_SIZE, digest);
  if (memcmp(digest, bytes.data + bytes.size - CST__SHA256_SIZE, sizeof digest) != 0) {
    return cst__fail(error, CST_CORRUPT, "copy it again, or build it again",
                     "the view's digest does not match its bytes");
  }
  return CST_OK;
}

cst_status cst__query_view_file_read(cst_bytes bytes, cst__arena *arena, const cst__message **out,
                                     cst_error *error) {
  CST__TRY(view_check_frame(bytes, error));
  cst_bytes content = {bytes.data + CST__VIEW_HEAD, bytes.size - CST__VIEW_HEAD - CST__SHA256_SIZE};
  cst__message *tree = cst__message_new(arena, cst__query_view_def);
  if (tree == NULL) {
    return cst__fail_memory(error, sizeof *tree);
  }
  CST__TRY(cst__message_merge(arena, tree, content, CST__DEPTH_LIMIT, error));
  *out = tree;
  return CST_OK;
}

void cst__query_view_file_digest(cst_bytes bytes, char hex[CST__SHA256_HEX]) {
  cst__sha256_hex(bytes.data + bytes.size - CST__SHA256_SIZE, hex);
}
