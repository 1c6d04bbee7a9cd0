/* Records in protobuf's text format or JSON, to and from the wire format. */
#include "message/text/record_text.h"

#include <inttypes.h>
#include <string.h>

#include "message/text/json_write.h"

void cst__record_text_init(cst__record_text *record, const cst_message_options *options,
                           const cst__message_def *def, const cst_allocator *allocator) {
  *record = (cst__record_text){
      .form = options->form,
      .keeps_unknown = options->unknown_fields != NULL,
      .def = def,
      .wanted = def,
      .descriptors = options->descriptors,
  };
  cst__json_reader_init(&record->json, options, allocator);
  cst__arena_init(&record->arena, allocator);
}

void cst__record_text_reset(cst__record_text *record) {
  cst__json_reader_reset(&record->json);
  cst__json_wire_free(record->direct);
  record->direct = NULL;
  cst__arena_reset(&record->arena);
  cst__wire_out_free(&record->wire);
  cst__text_free(&record->text);
}

/* The place within the record is said in words: that of the error is the record's. */
static cst_status explain_place(cst_status status, cst_error *error) {
  if (status != CST_CORRUPT || !cst__error_wanted(error)) {
    return status;
  }
  cst_error old = CST_ERROR_INIT;
  cst__error_copy(&old, error);
  if (old.line > 0) {
    (void)cst__fail(error, CST_CORRUPT, old.hint, "%s, at line %" PRId64 ", column %" PRId64,
                    old.message, old.line, old.column);
  } else {
    (void)cst__fail(error, CST_CORRUPT, old.hint, "%s, at byte %" PRId64, old.message, old.offset);
  }
  cst__error_add_path(error, old.path, strlen(old.path));
  return status;
}

static cst_status read_record_tree(cst__record_text *record, cst_bytes text, cst__message *tree,
                                   cst_error *error) {
  return record->form == CST_MESSAGE_JSON
             ? cst__message_read_json(&record->json, &record->arena, tree, text, error)
             : cst__message_merge_text_of(record->descriptors, &record->arena, tree, text,
                                          CST__DEPTH_LIMIT, error);
}

/* By the short way; *taken is false if the text does not go it. */
static cst_status read_directly(cst__record_text *record, cst_bytes text, size_t slack, bool *taken,
                                cst_bytes *wire, cst_error *error) {
  if (record->direct == NULL) {
    record->direct =
        cst__json_wire_new(record->def, record->wanted, &record->json.json.document.allocator);
  }
  return record->direct != NULL
             ? cst__json_wire_read(record->direct, text, slack, taken, wire, error)
             : cst__fail_memory(error, sizeof *record);
}

cst_status cst__record_text_read(cst__record_text *record, cst_bytes text, size_t slack,
                                 cst_bytes *wire, cst_error *error) {
  static const uint8_t zeros[64];
  cst__wire_out *out = &record->wire;
  bool taken = false;
  if (record->form == CST_MESSAGE_JSON) {
    CST__TRY(read_directly(record, text, slack, &taken, wire, error));
  }
  if (taken) {
    return CST_OK;
  }
  cst__arena_reset(&record->arena);
  cst__message *tree = cst__message_new(&record->arena, record->def);
  if (tree == NULL) {
    return cst__fail_memory(error, sizeof *tree);
  }
  cst_status status = read_record_tree(record, text, tree, error);
  if (status != CST_OK) {
    return explain_place(status, error);
  }
  bool tidy = cst__message_unique_maps(&record->arena, tree);
  out->free = out->capacity;
  cst__wire_put_bytes(out, zeros, slack < sizeof zeros ? slack : sizeof zeros);
  cst__message_put_wire(tree, out);
  if (!tidy || out->failed) {
    cst__wire_out_free(out);
    return cst__fail_memory(error, text.size);
  }
  *wire = (cst_bytes){out->data + out->free, cst__wire_out_size(out) - slack};
  return CST_OK;
}

/* ---- writing ---- */

/* Lines of the text format become one: literals have no line ends of their own. */
static void join_lines(cst__text *text) {
  size_t to = 0;
  for (size_t i = 0; i < text->size; i++) {
    if (text->data[i] != '\n') {
      text->data[to++] = text->data[i];
      continue;
    }
    while (i + 1 < text->size && text->data[i + 1] == ' ') {
      i++;
    }
    if (i + 1 < text->size) {
      text->data[to++] = ' ';
    }
  }
  text->size = to;
}

static cst_status write_record_text(cst__record_text *record, cst__message *tree,
                                    cst_error *error) {
  if (record->form == CST_MESSAGE_JSON) {
    return cst__message_write_json(tree, record->descriptors, &record->arena, &record->text, error);
  }
  if (!record->keeps_unknown) {
    cst__message_drop_unknown(tree); /* protobuf's parsers refuse fields by number */
  }
  cst__message_put_text(tree, &record->text);
  join_lines(&record->text);
  return CST_OK;
}

cst_status cst__record_text_write(cst__record_text *record, cst_bytes wire, cst_bytes *text,
                                  cst_error *error) {
  cst__text *out = &record->text;
  cst__arena_reset(&record->arena);
  out->size = 0;
  cst__message *tree = cst__message_new(&record->arena, record->def);
  if (tree == NULL) {
    return cst__fail_memory(error, sizeof *tree);
  }
  CST__TRY(cst__message_merge(&record->arena, tree, wire, CST__DEPTH_LIMIT, error));
  if (!cst__message_sort_maps(&record->arena, tree)) {
    return cst__fail_memory(error, wire.size);
  }
  cst_status status = write_record_text(record, tree, error);
  cst__text_append(out, "", 0);
  if (status == CST_OK && out->failed) {
    status = cst__fail_memory(error, out->size);
  }
  if (out->failed) {
    cst__text_free(out);
  }
  *text = (cst_bytes){(const uint8_t *)out->data, out->size};
  return status;
}
