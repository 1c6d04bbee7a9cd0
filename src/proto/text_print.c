/* Message trees as text, in the form that protobuf's own printers give. */
#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"
#include "proto/message.h"
#include "text/number.h"

/* ---- literals ---- */

void cst__text_put_double(cst__text *out, double value) {
  char text[CST__NUMBER_SIZE];
  cst__text_append(out, text, cst__print_float64(text, value, CST__FLOAT_PROTOBUF));
}

void cst__text_put_float(cst__text *out, float value) {
  char text[CST__NUMBER_SIZE];
  cst__text_append(out, text, cst__print_float32(text, value, CST__FLOAT_PROTOBUF));
}

static void put_escaped_byte(cst__text *out, uint8_t c) {
  static const char special[] = "\t\n\r\"'\\";
  static const char letter[] = "tnr\"'\\";
  const char *found = c != 0 ? strchr(special, c) : NULL;
  if (found != NULL) {
    cst__text_printf(out, "\\%c", letter[found - special]);
  } else if (c < 0x20 || c >= 0x7f) {
    cst__text_printf(out, "\\%03o", c);
  } else {
    char plain = (char)c;
    cst__text_append(out, &plain, 1);
  }
}

void cst__text_put_quoted(cst__text *out, cst_bytes bytes, bool is_utf8) {
  cst__text_puts(out, "\"");
  for (size_t i = 0; i < bytes.size;) {
    size_t size = is_utf8 ? cst__utf8_char_size(bytes.data + i, bytes.size - i) : 1;
    if (size > 1 && !cst__utf8_is_hidden(bytes.data + i, size)) {
      cst__text_append(out, bytes.data + i, size);
      i += size;
    } else { /* a hidden character byte by byte: the rest of one is none */
      put_escaped_byte(out, bytes.data[i++]);
    }
  }
  cst__text_puts(out, "\"");
}

/* ---- fields ---- */

static void put_indent(cst__text *out, int indent) { cst__text_printf(out, "%*s", indent, ""); }

static void print_scalar(cst__text *out, const cst__field_def *def, const cst__value *value) {
  const cst__enum_value *name;
  switch ((cst__field_type)def->type) {
    case CST__FIELD_DOUBLE:
      cst__text_put_double(out, value->d);
      return;
    case CST__FIELD_FLOAT:
      cst__text_put_float(out, value->f);
      return;
    case CST__FIELD_UINT64:
    case CST__FIELD_UINT32:
    case CST__FIELD_FIXED64:
    case CST__FIELD_FIXED32:
      cst__text_printf(out, "%" PRIu64, value->u);
      return;
    case CST__FIELD_BOOL:
      cst__text_puts(out, value->i != 0 ? "true" : "false");
      return;
    case CST__FIELD_STRING:
    case CST__FIELD_BYTES:
      cst__text_put_quoted(out, value->bytes, def->type == CST__FIELD_STRING);
      return;
    case CST__FIELD_ENUM:
      name = cst__enum_by_number(def->values, value->i);
      if (name != NULL) {
        cst__text_puts(out, name->name);
        return;
      }
      break;
    case CST__FIELD_INT64:
    case CST__FIELD_INT32:
    case CST__FIELD_SFIXED32:
    case CST__FIELD_SFIXED64:
    case CST__FIELD_SINT32:
    case CST__FIELD_SINT64:
    case CST__FIELD_GROUP:
    case CST__FIELD_MESSAGE:
      break;
  }
  cst__text_printf(out, "%" PRId64, value->i);
}

static void put_unknown(cst__text *out, cst_bytes bytes, int indent, int depth);

static void put_unknown_nested(cst__text *out, cst_bytes bytes, bool in_group, int indent,
                               int depth) {
  const char *brackets = in_group ? "<>" : "{}";
  cst__text_printf(out, " %c\n", brackets[0]);
  put_unknown(out, bytes, indent + 2, depth - 1);
  put_indent(out, indent);
  cst__text_printf(out, "%c\n", brackets[1]);
}

static void put_unknown_payload(cst__text *out, cst_bytes bytes, int indent, int depth) {
  if (bytes.size > 0 && depth > 1 && cst__wire_is_canonical(bytes, depth - 1)) {
    put_unknown_nested(out, bytes, false, indent, depth);
    return;
  }
  cst__text_puts(out, ": ");
  cst__text_put_quoted(out, bytes, false);
  cst__text_puts(out, "\n");
}

static void put_unknown_field(cst__text *out, const cst__wire_field *field, int indent, int depth) {
  put_indent(out, indent);
  cst__text_printf(out, "%" PRIu32, field->number);
  switch (field->type) {
    case CST__WIRE_VARINT:
      cst__text_printf(out, ": %" PRIu64 "\n", field->value);
      break;
    case CST__WIRE_FIXED32:
      cst__text_printf(out, ": 0x%08" PRIx64 "\n", field->value);
      break;
    case CST__WIRE_FIXED64:
      cst__text_printf(out, ": 0x%016" PRIx64 "\n", field->value);
      break;
    case CST__WIRE_LEN:
      put_unknown_payload(out, field->bytes, indent, depth);
      break;
    case CST__WIRE_GROUP:
    case CST__WIRE_GROUP_END:
      put_unknown_nested(out, field->bytes, true, indent, depth);
      break;
  }
}

static void put_unknown(cst__text *out, cst_bytes bytes, int indent, int depth) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, depth, &field)) {
    put_unknown_field(out, &field, indent, depth);
  }
}

static void print_message(cst__text *out, const cst__message *message, int indent, int depth);

static void put_text_name(cst__text *out, const cst__message *message, const cst__field_def *def) {
  const char *group = cst__group_name(message->def, def);
  if ((def->flags & CST__FIELD_EXTENSION) != 0) {
    cst__text_printf(out, "[%s]", def->name);
  } else {
    cst__text_puts(out, group != NULL ? group : def->name);
  }
}

static void print_value(cst__text *out, const cst__message *message, const cst__field *field,
                        size_t i, int indent, int depth) {
  const cst__field_def *def = field->def;
  const cst__value *value = cst__field_value(field, i);
  put_indent(out, indent);
  put_text_name(out, message, def);
  if (!cst__field_is_message(def)) {
    cst__text_puts(out, ": ");
    print_scalar(out, def, value);
    cst__text_puts(out, "\n");
    return;
  }
  cst__text_puts(out, " {\n");
  print_message(out, value->message, indent + 2, depth - 1);
  put_indent(out, indent);
  cst__text_puts(out, "}\n");
}

static void print_message(cst__text *out, const cst__message *message, int indent, int depth) {
  if (message->expanded_any.size > 0) {
    put_indent(out, indent);
    cst__text_append(out, message->expanded_any.data, message->expanded_any.size);
    cst__text_puts(out, "\n");
  }
  for (const cst__field *field = message->first; field != NULL; field = field->next) {
    for (size_t i = 0; i < field->count && !cst__field_is_left_out(field); i++) {
      print_value(out, message, field, i, indent, depth);
    }
  }
  for (const cst__unknown *u = message->unknown_first; u != NULL; u = u->next) {
    put_unknown(out, u->bytes, indent, depth);
  }
}

void cst__message_put_text(const cst__message *message, cst__text *out) {
  print_message(out, message, 0, CST__DEPTH_LIMIT);
}
