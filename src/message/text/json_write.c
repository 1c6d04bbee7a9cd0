/* Message trees as protobuf's JSON. */
#include "message/text/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/os.h"
#include "base/utf8.h"
#include "message/text/well_known.h"
#include "proto/descriptor_set.h"
#include "text/base64.h"
#include "text/json_string.h"
#include "text/time.h"

typedef struct json_writer {
  const cst_descriptors *descriptors;
  cst__arena *arena;
  cst__text *out;
  cst_error *error;
} json_writer;

static cst_status fail_json(const json_writer *w, const char *hint, const char *what) {
  return cst__fail(w->error, CST_UNSUPPORTED, hint, "%s", what);
}

static cst_status write_message(json_writer *w, const cst__message *message, int depth);

/* ---- strings and bytes ---- */

static void write_string(cst__text *out, cst_bytes bytes) {
  cst__put_json_string(out, bytes.data, bytes.size, CST__JSON_FEW);
}

static void write_base64(cst__text *out, cst_bytes bytes) {
  cst__text_puts(out, "\"");
  cst__put_base64(out, bytes);
  cst__text_puts(out, "\"");
}

/* ---- scalars ---- */

static void write_special(cst__text *out, double value) {
  cst__text_puts(out, isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
}

static cst_status write_enum(json_writer *w, const cst__field_def *def, int64_t number) {
  const cst__enum_value *value = cst__enum_by_number(def->values, number);
  if (strcmp(def->values->full_name, "google.protobuf.NullValue") == 0) {
    cst__text_puts(w->out, "null");
  } else if (value != NULL) {
    cst__put_json_text(w->out, value->name);
  } else {
    cst__text_printf(w->out, "%" PRId64, number);
  }
  return CST_OK;
}

static cst_status write_scalar(json_writer *w, const cst__field_def *def, const cst__value *value) {
  cst__text *out = w->out;
  switch ((cst__field_type)def->type) {
    case CST__FIELD_DOUBLE:
      if (isfinite(value->d)) {
        cst__text_put_double(out, value->d);
      } else {
        write_special(out, value->d);
      }
      return CST_OK;
    case CST__FIELD_FLOAT:
      if (isfinite(value->f)) {
        cst__text_put_float(out, value->f);
      } else {
        write_special(out, (double)value->f);
      }
      return CST_OK;
    case CST__FIELD_INT64:
    case CST__FIELD_SINT64:
    case CST__FIELD_SFIXED64:
      cst__text_printf(out, "\"%" PRId64 "\"", value->i);
      return CST_OK;
    case CST__FIELD_UINT64:
    case CST__FIELD_FIXED64:
      cst__text_printf(out, "\"%" PRIu64 "\"", value->u);
      return CST_OK;
    case CST__FIELD_UINT32:
    case CST__FIELD_FIXED32:
    case CST__FIELD_INT32:
    case CST__FIELD_SINT32:
    case CST__FIELD_SFIXED32:
      cst__text_printf(out, "%" PRId64, value->i);
      return CST_OK;
    case CST__FIELD_BOOL:
      cst__text_puts(out, value->i != 0 ? "true" : "false");
      return CST_OK;
    case CST__FIELD_ENUM:
      return write_enum(w, def, value->i);
    case CST__FIELD_BYTES:
      write_base64(out, value->bytes);
      return CST_OK;
    case CST__FIELD_STRING:
    case CST__FIELD_GROUP:
    case CST__FIELD_MESSAGE:
      break;
  }
  if (!cst__utf8_valid(value->bytes.data, value->bytes.size)) {
    return fail_json(w, NULL, "a string is not UTF-8");
  }
  write_string(out, value->bytes);
  return CST_OK;
}

static cst_status write_value(json_writer *w, const cst__field_def *def, const cst__value *value,
                              int depth) {
  return cst__field_is_message(def) ? write_message(w, value->message, depth)
                                    : write_scalar(w, def, value);
}

/* ---- fields ---- */

/* A key of a map is a string, whatever its type. */
static cst_status write_map_key(json_writer *w, const cst__field *key) {
  uint8_t type = key->def->type;
  bool is_quoted = type == CST__FIELD_STRING || type == CST__FIELD_INT64 ||
                   type == CST__FIELD_SINT64 || type == CST__FIELD_SFIXED64 ||
                   type == CST__FIELD_UINT64 || type == CST__FIELD_FIXED64;
  cst__text_puts(w->out, is_quoted ? "" : "\"");
  CST__TRY(write_scalar(w, key->def, &key->as.one));
  cst__text_puts(w->out, is_quoted ? "" : "\"");
  return CST_OK;
}

static cst_status write_entry(json_writer *w, const cst__message *entry, int depth) {
  const cst__field *key = cst__message_find(entry, 1);
  const cst__field *value = cst__message_find(entry, 2);
  CST__TRY(write_map_key(w, key));
  cst__text_puts(w->out, ":");
  return write_value(w, value->def, &value->as.one, depth);
}

static cst_status write_field_values(json_writer *w, const cst__field *field, int depth) {
  bool is_map = cst__field_is_message(field->def) && field->def->message->is_map_entry;
  if (!cst__field_is_repeated(field->def)) {
    return write_value(w, field->def, &field->as.one, depth);
  }
  cst__text_puts(w->out, is_map ? "{" : "[");
  for (size_t i = 0; i < field->count; i++) {
    if (i > 0) {
      cst__text_puts(w->out, ",");
    }
    CST__TRY(is_map ? write_entry(w, field->as.many[i].message, depth)
                    : write_value(w, field->def, &field->as.many[i], depth));
  }
  cst__text_puts(w->out, is_map ? "}" : "]");
  return CST_OK;
}

static void write_field_name(cst__text *out, const cst__field_def *def) {
  if ((def->flags & CST__FIELD_EXTENSION) != 0) {
    cst__text_printf(out, "\"[%s]\"", def->name);
  } else {
    cst__put_json_text(out, cst__field_json_name(def));
  }
}

/* The fields of an object that is open; is_first: nothing stands in it yet. */
static cst_status write_fields(json_writer *w, const cst__message *message, bool is_first,
                               int depth) {
  for (const cst__field *field = message->first; field != NULL; field = field->next) {
    if (field->count == 0 || cst__field_is_left_out(field)) {
      continue;
    }
    if (!is_first) {
      cst__text_puts(w->out, ",");
    }
    is_first = false;
    write_field_name(w->out, field->def);
    cst__text_puts(w->out, ":");
    cst_status status = write_field_values(w, field, depth);
    if (status == CST_UNSUPPORTED) {
      cst__error_add_field(w->error, field->def);
    }
    CST__TRY(status);
  }
  return CST_OK;
}

/* ---- well-known types ---- */

static cst_status write_moment(json_writer *w, const cst__message *message, bool is_timestamp) {
  char text[CST__TIME_SIZE];
  cst__moment moment = {cst__message_int(message, 1, 0), (int32_t)cst__message_int(message, 2, 0)};
  size_t size =
      is_timestamp ? cst__timestamp_print(moment, text) : cst__duration_print(moment, text);
  if (size == 0) {
    return fail_json(w, NULL,
                     is_timestamp ? "a timestamp is out of range" : "a duration is out of range");
  }
  cst__text_puts(w->out, "\"");
  cst__text_append(w->out, text, size);
  cst__text_puts(w->out, "\"");
  return CST_OK;
}

/* "foo_bar.baz" as fooBar.baz; false if that could not be read back. */
static bool write_mask_path(cst__text *out, cst_bytes path) {
  bool is_after = false; /* an underscore */
  for (size_t i = 0; i < path.size; i++) {
    char c = (char)path.data[i];
    bool is_lower = c >= 'a' && c <= 'z';
    if ((c >= 'A' && c <= 'Z') || (is_after && !is_lower)) {
      return false;
    }
    if (is_after) {
      c = (char)(c - 'a' + 'A');
    }
    is_after = c == '_';
    if (is_after) {
      continue;
    }
    cst__put_json_inside(out, &c, 1, CST__JSON_FEW);
  }
  return !is_after;
}

static cst_status write_field_mask(json_writer *w, const cst__message *message) {
  const cst__field *paths = cst__message_find(message, 1);
  cst__text_puts(w->out, "\"");
  for (size_t i = 0; paths != NULL && i < paths->count; i++) {
    if (i > 0) {
      cst__text_puts(w->out, ",");
    }
    if (!write_mask_path(w->out, paths->as.many[i].bytes)) {
      return fail_json(w, "paths are in lower_case_with_underscores",
                       "a path of a field mask cannot be written in lowerCamel");
    }
  }
  cst__text_puts(w->out, "\"");
  return CST_OK;
}

static cst_status write_wrapper(json_writer *w, const cst__message *message) {
  const cst__value zero = {.bytes = {NULL, 0}};
  const cst__field *value = cst__message_find(message, 1);
  return write_scalar(w, &message->def->fields[0], value != NULL ? &value->as.one : &zero);
}

/* A Struct or ListValue: its one field. */
static cst_status write_container(json_writer *w, const cst__message *message, const char *empty,
                                  int depth) {
  const cst__field *field = message->first;
  if (field == NULL || field->count == 0) {
    cst__text_puts(w->out, empty);
    return CST_OK;
  }
  return write_field_values(w, field, depth);
}

static cst_status write_json_value(json_writer *w, const cst__message *message, int depth) {
  const cst__field *kind = message->first;
  if (kind == NULL || kind->def->type == CST__FIELD_ENUM) {
    cst__text_puts(w->out, "null");
    return CST_OK;
  }
  if (kind->def->type == CST__FIELD_DOUBLE && !isfinite(kind->as.one.d)) {
    return fail_json(w, "JSON has no NaN and no infinity",
                     "a Value contains a number that is not finite");
  }
  return write_value(w, kind->def, &kind->as.one, depth);
}

/* What an Any holds, as a tree in the arena. */
static cst_status read_packed_message(json_writer *w, const cst__message *any, int depth,
                                      cst__message **out) {
  cst_bytes url = cst__message_bytes(any, 1);
  const uint8_t *slash = cst__os_last_byte(url.data, '/', url.size);
  const char *name = (const char *)(slash != NULL ? slash + 1 : url.data);
  size_t size = url.size - (slash != NULL ? (size_t)(slash + 1 - url.data) : 0);
  const cst__message_def *def = w->descriptors != NULL && size > 0 && *name != '.'
                                    ? cst__descriptors_find(w->descriptors, name, size)
                                    : NULL;
  if (def == NULL) {
    return fail_json(w, "add the file of this type to the descriptors",
                     "an Any of a type that the descriptors do not have");
  }
  *out = cst__message_new(w->arena, def);
  if (*out == NULL) {
    return cst__fail_memory(w->error, sizeof **out);
  }
  cst_status status =
      cst__message_merge(w->arena, *out, cst__message_bytes(any, 2), depth, w->error);
  if (status == CST_CORRUPT) {
    return fail_json(w, NULL, "the bytes of an Any do not match its type");
  }
  if (status == CST_OK && !cst__message_sort_maps(w->arena, *out)) {
    return cst__fail_memory(w->error, sizeof **out);
  }
  return status;
}

static cst_status write_any(json_writer *w, const cst__message *any, int depth) {
  cst__message *content = NULL;
  if (cst__message_bytes(any, 1).size == 0 && cst__message_bytes(any, 2).size == 0) {
    cst__text_puts(w->out, "{}");
    return CST_OK;
  }
  CST__TRY(read_packed_message(w, any, depth, &content));
  cst__text_puts(w->out, "{\"@type\":");
  write_string(w->out, cst__message_bytes(any, 1));
  if (cst__well_known_of(content->def) == CST__WELL_KNOWN_NONE) {
    CST__TRY(write_fields(w, content, false, depth));
  } else {
    cst__text_puts(w->out, ",\"value\":");
    CST__TRY(write_message(w, content, depth));
  }
  cst__text_puts(w->out, "}");
  return CST_OK;
}

/* ---- messages ---- */

static cst_status write_plain_message(json_writer *w, const cst__message *message, int depth) {
  if (message->def->is_message_set && message->unknown_first != NULL) {
    return fail_json(w, "write the wire format",
                     "a message set, whose extensions are not written to JSON");
  }
  cst__text_puts(w->out, "{");
  CST__TRY(write_fields(w, message, true, depth));
  cst__text_puts(w->out, "}");
  return CST_OK;
}

static cst_status write_message(json_writer *w, const cst__message *message, int depth) {
  if (depth == 0) {
    return fail_json(w, NULL, "messages are nested deeper than 100 levels");
  }
  depth--;
  cst__well_known known = cst__well_known_of(message->def);
  switch (known) {
    case CST__WELL_KNOWN_TIMESTAMP:
    case CST__WELL_KNOWN_DURATION:
      return write_moment(w, message, known == CST__WELL_KNOWN_TIMESTAMP);
    case CST__WELL_KNOWN_FIELD_MASK:
      return write_field_mask(w, message);
    case CST__WELL_KNOWN_WRAPPER:
      return write_wrapper(w, message);
    case CST__WELL_KNOWN_STRUCT:
      return write_container(w, message, "{}", depth);
    case CST__WELL_KNOWN_LIST_VALUE:
      return write_container(w, message, "[]", depth);
    case CST__WELL_KNOWN_VALUE:
      return write_json_value(w, message, depth);
    case CST__WELL_KNOWN_ANY:
      return write_any(w, message, depth);
    case CST__WELL_KNOWN_NONE:
    case CST__WELL_KNOWN_DATE:
    case CST__WELL_KNOWN_TIME_OF_DAY:
      break;
  }
  return write_plain_message(w, message, depth);
}

cst_status cst__message_write_json(const cst__message *message, const cst_descriptors *descriptors,
                                   cst__arena *arena, cst__text *out, cst_error *error) {
  json_writer w = {descriptors, arena, out, error};
  return write_message(&w, message, CST__DEPTH_LIMIT);
}
