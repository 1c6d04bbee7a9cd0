/* Message trees from protobuf's text format. */
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/names.h"
#include "base/os.h"
#include "base/utf8.h"
#include "proto/descriptor_set.h"
#include "proto/lexer.h"
#include "proto/message.h"

typedef struct parser {
  cst__lexer lexer;
  cst__arena *arena;
  const cst_descriptors *types; /* NULL: expanded Anys stay text */
} parser;

static cst_status no_text_memory(const parser *p) { return cst__fail_memory(p->lexer.error, 64); }

static cst_status merge_fields(parser *p, cst__message *message, char close, int depth);

/* A message type without fields: it keeps all that is given by number. */
static const cst__message_def unknown_message = {.full_name = "unknown message"};
static const cst__message_def unknown_group = {.full_name = "unknown group"};

static void mark_place(cst__message *message, const cst__lexer *lexer) {
  if (message->line == 0) {
    message->line = lexer->line;
    message->column = lexer->column;
  }
}

/* Passes over the bracket that opens a message; *close is the one that ends it. */
static cst_status open_message(parser *p, char *close, int depth) {
  if (!cst__lexer_sees(&p->lexer, '{') && !cst__lexer_sees(&p->lexer, '<')) {
    return cst__lexer_unexpected(&p->lexer, "'{'");
  }
  if (depth == 0) {
    return cst__lexer_fail(&p->lexer, NULL, "messages are nested deeper than %d levels",
                           (int)CST__DEPTH_LIMIT);
  }
  *close = *p->lexer.token == '{' ? '}' : '>';
  return cst__lexer_next(&p->lexer);
}

/* ---- fields by number ---- */

/* Takes over what has been put into `out`, as fields of the message. */
static cst_status take_wire(parser *p, cst__message *message, cst__wire_out *out, int depth) {
  size_t size = cst__wire_out_size(out);
  char *copy = out->failed ? NULL : cst__arena_copy(p->arena, out->data + out->free, size);
  cst__wire_out_free(out);
  if (copy == NULL) {
    return no_text_memory(p);
  }
  return cst__message_merge(p->arena, message, (cst_bytes){(const uint8_t *)copy, size}, depth,
                            p->lexer.error);
}

static cst_status read_numbered_message(parser *p, cst__message *message, uint32_t number,
                                        int depth) {
  char close = '\0';
  CST__TRY(open_message(p, &close, depth));
  cst__message *child =
      cst__message_new(p->arena, close == '>' ? &unknown_group : &unknown_message);
  if (child == NULL) {
    return no_text_memory(p);
  }
  CST__TRY(merge_fields(p, child, close, depth - 1));
  cst__wire_out out = {0};
  if (close == '>') {
    cst__wire_put_tag(&out, number, CST__WIRE_GROUP_END);
    cst__message_put_wire(child, &out);
    cst__wire_put_tag(&out, number, CST__WIRE_GROUP);
  } else {
    cst__message_put_wire(child, &out);
    cst__wire_put_varint(&out, cst__wire_out_size(&out));
    cst__wire_put_tag(&out, number, CST__WIRE_LEN);
  }
  return take_wire(p, message, &out, depth);
}

static cst_status read_numbered_string(parser *p, cst__message *message, uint32_t number,
                                       int depth) {
  cst_bytes bytes;
  CST__TRY(cst__lexer_string(&p->lexer, p->arena, &bytes));
  cst__wire_out out = {0};
  cst__wire_put_bytes(&out, bytes.data, bytes.size);
  cst__wire_put_varint(&out, bytes.size);
  cst__wire_put_tag(&out, number, CST__WIRE_LEN);
  return take_wire(p, message, &out, depth);
}

/* 8 hexadecimal digits are a fixed32, 16 a fixed64, everything else a varint. */
static cst_status read_numbered_integer(parser *p, cst__message *message, uint32_t number,
                                        int depth) {
  bool negative;
  uint64_t value;
  int hex_digits;
  CST__TRY(cst__lexer_integer(&p->lexer, &negative, &value, &hex_digits));
  cst__wire_out out = {0};
  if (hex_digits == 8 && !negative) {
    cst__wire_put_fixed32(&out, (uint32_t)value);
    cst__wire_put_tag(&out, number, CST__WIRE_FIXED32);
  } else if (hex_digits == 16 && !negative) {
    cst__wire_put_fixed64(&out, value);
    cst__wire_put_tag(&out, number, CST__WIRE_FIXED64);
  } else {
    cst__wire_put_varint(&out, negative ? ~value + 1 : value);
    cst__wire_put_tag(&out, number, CST__WIRE_VARINT);
  }
  return take_wire(p, message, &out, depth);
}

static cst_status read_numbered_value(parser *p, cst__message *message, uint32_t number,
                                      int depth) {
  if (cst__lexer_sees(&p->lexer, '{') || cst__lexer_sees(&p->lexer, '<')) {
    return read_numbered_message(p, message, number, depth);
  }
  if (p->lexer.kind == CST__TOKEN_STRING) {
    return read_numbered_string(p, message, number, depth);
  }
  return read_numbered_integer(p, message, number, depth);
}

/* ---- scalars ---- */

static cst_status fail_range(const cst__lexer *place, const cst__field_def *def) {
  return cst__lexer_fail(place, NULL, "the value of '%s' is out of range for %s", def->name,
                         cst__field_type_name(def));
}

static cst_status read_signed(parser *p, const cst__field_def *def, bool is_32, int64_t *out) {
  cst__lexer place = p->lexer;
  bool negative;
  uint64_t value;
  CST__TRY(cst__lexer_integer(&p->lexer, &negative, &value, NULL));
  uint64_t most = (is_32 ? (uint64_t)INT32_MAX : (uint64_t)INT64_MAX) + (negative ? 1 : 0);
  if (value > most) {
    return fail_range(&place, def);
  }
  *out = (int64_t)(negative ? ~value + 1 : value);
  return CST_OK;
}

static cst_status read_unsigned(parser *p, const cst__field_def *def, bool is_32, uint64_t *out) {
  cst__lexer place = p->lexer;
  bool negative;
  CST__TRY(cst__lexer_integer(&p->lexer, &negative, out, NULL));
  if ((negative && *out != 0) || (is_32 && *out > UINT32_MAX)) {
    return fail_range(&place, def);
  }
  return CST_OK;
}

static bool is_one_of(const cst__lexer *lexer, const char *const *words) {
  for (; *words != NULL; words++) {
    if (strlen(*words) == lexer->size && memcmp(*words, lexer->token, lexer->size) == 0) {
      return true;
    }
  }
  return false;
}

static cst_status read_text_bool(parser *p, int64_t *out) {
  static const char *const yes[] = {"true", "True", "t", "1", "01", "0x1", NULL};
  static const char *const no[] = {"false", "False", "f", "0", "00", "0x0", NULL};
  if (!is_one_of(&p->lexer, yes) && !is_one_of(&p->lexer, no)) {
    return cst__lexer_unexpected(&p->lexer, "true or false");
  }
  *out = is_one_of(&p->lexer, yes);
  return cst__lexer_next(&p->lexer);
}

enum { MAX_NAMES = 64 };

/* "did you mean", if any of the names is near. */
static const char *near_token(char hint[CST__NEAR_HINT], const cst__lexer *lexer,
                              const char *const *names, size_t count) {
  char wanted[64];
  int size = lexer->size < sizeof wanted ? (int)lexer->size : (int)sizeof wanted - 1;
  (void)snprintf(wanted, sizeof wanted, "%.*s", size, lexer->token);
  cst__name_list list = cst__name_list_of(names, count);
  return cst__near_hint(hint, wanted, &list);
}

static __attribute__((noinline)) cst_status fail_enum(const cst__lexer *lexer,
                                                      const cst__enum_def *values) {
  const char *names[MAX_NAMES];
  char hint[160];
  size_t count = 0;
  size_t used = (size_t)snprintf(hint, sizeof hint, "use one of");
  for (; count < values->num_values && count < MAX_NAMES; count++) {
    names[count] = values->values[count].name;
    if (used < sizeof hint) {
      used += (size_t)snprintf(hint + used, sizeof hint - used, "%s %s", count > 0 ? "," : "",
                               names[count]);
    }
  }
  if (lexer->hides_tokens) {
    return cst__lexer_fail(lexer, hint, "%s has no such value", values->full_name);
  }
  (void)near_token(hint, lexer, names, count);
  return cst__lexer_fail(lexer, hint, "%s has no value '%.*s'", values->full_name,
                         lexer->size < 40 ? (int)lexer->size : 40, lexer->token);
}

static cst_status read_enum(parser *p, const cst__field_def *def, int64_t *out) {
  cst__lexer place = p->lexer;
  const cst__enum_value *found;
  if (p->lexer.kind == CST__TOKEN_NAME) {
    found = cst__enum_by_name(def->values, place.token, place.size);
    if (found != NULL) {
      CST__TRY(cst__lexer_next(&p->lexer));
    }
  } else {
    int64_t number = 0;
    CST__TRY(read_signed(p, def, true, &number));
    found = cst__enum_by_number(def->values, number);
    if (def->values->is_open) {
      *out = number;
      return CST_OK;
    }
  }
  if (found == NULL) {
    return fail_enum(&place, def->values);
  }
  *out = found->number;
  return CST_OK;
}

static cst_status read_scalar(parser *p, const cst__field_def *def, cst__value *value) {
  double number = 0;
  switch ((cst__field_type)def->type) {
    case CST__FIELD_DOUBLE:
      return cst__lexer_double(&p->lexer, &value->d);
    case CST__FIELD_FLOAT:
      CST__TRY(cst__lexer_double(&p->lexer, &number));
      value->f = (float)number;
      return CST_OK;
    case CST__FIELD_INT64:
    case CST__FIELD_SINT64:
    case CST__FIELD_SFIXED64:
      return read_signed(p, def, false, &value->i);
    case CST__FIELD_INT32:
    case CST__FIELD_SINT32:
    case CST__FIELD_SFIXED32:
      return read_signed(p, def, true, &value->i);
    case CST__FIELD_UINT64:
    case CST__FIELD_FIXED64:
      return read_unsigned(p, def, false, &value->u);
    case CST__FIELD_UINT32:
    case CST__FIELD_FIXED32:
      return read_unsigned(p, def, true, &value->u);
    case CST__FIELD_BOOL:
      return read_text_bool(p, &value->i);
    case CST__FIELD_ENUM:
      return read_enum(p, def, &value->i);
    case CST__FIELD_STRING:
    case CST__FIELD_BYTES:
    case CST__FIELD_GROUP:
    case CST__FIELD_MESSAGE:
      break;
  }
  cst__lexer place = p->lexer;
  CST__TRY(cst__lexer_string(&p->lexer, p->arena, &value->bytes));
  if ((def->flags & CST__FIELD_UTF8) != 0 &&
      !cst__utf8_valid(value->bytes.data, value->bytes.size)) {
    return cst__lexer_fail(&place, NULL, "the value of '%s' is not valid UTF-8", def->name);
  }
  return CST_OK;
}

/* ---- fields by name ---- */

static cst_status read_child(parser *p, cst__message *message, const cst__field_def *def,
                             int depth) {
  cst__message *child = cst__message_new(p->arena, def->message);
  if (child == NULL || !cst__message_put(p->arena, message, def, (cst__value){.message = child})) {
    return no_text_memory(p);
  }
  mark_place(child, &p->lexer);
  char close = '\0';
  CST__TRY(open_message(p, &close, depth));
  return merge_fields(p, child, close, depth - 1);
}

static cst_status read_text_value(parser *p, cst__message *message, const cst__field_def *def,
                                  int depth) {
  if (cst__field_is_message(def)) {
    return read_child(p, message, def, depth);
  }
  cst__value value = {.u = 0};
  CST__TRY(read_scalar(p, def, &value));
  return cst__message_put(p->arena, message, def, value) ? CST_OK : no_text_memory(p);
}

/* One value, or [value, value, ...]. */
static cst_status read_text_values(parser *p, cst__message *message, const cst__field_def *def,
                                   uint32_t number, int depth) {
  bool more;
  bool is_list = cst__lexer_sees(&p->lexer, '[') && (def == NULL || cst__field_is_repeated(def));
  if (is_list) {
    CST__TRY(cst__lexer_next(&p->lexer));
    CST__TRY(cst__lexer_accept(&p->lexer, ']', &more));
    if (more) {
      return CST_OK;
    }
  }
  do {
    CST__TRY(def != NULL ? read_text_value(p, message, def, depth)
                         : read_numbered_value(p, message, number, depth));
    more = false;
    if (is_list) {
      CST__TRY(cst__lexer_accept(&p->lexer, ',', &more));
    }
  } while (more);
  return is_list ? cst__lexer_expect(&p->lexer, ']') : CST_OK;
}

static __attribute__((noinline)) cst_status fail_field_name(const cst__lexer *lexer,
                                                            const cst__message_def *def) {
  const char *names[MAX_NAMES];
  char hint[160];
  size_t count = 0;
  for (; count < def->num_fields && count < MAX_NAMES; count++) {
    names[count] = def->fields[count].name;
  }
  return cst__lexer_fail(lexer, near_token(hint, lexer, names, count), "%s has no field '%.*s'",
                         def->full_name, lexer->size < 40 ? (int)lexer->size : 40, lexer->token);
}

/* A singular field may be given once, and one member of a oneof. */
static cst_status check_is_free(const cst__lexer *place, const cst__message *message,
                                const cst__field_def *def) {
  if (cst__field_is_repeated(def)) {
    return CST_OK;
  }
  for (const cst__field *field = message->first; field != NULL; field = field->next) {
    if (field->def == def) {
      return cst__lexer_fail(place, "remove one of them", "%s has '%s' twice",
                             message->def->full_name, def->name);
    }
    if (def->oneof != 0 && field->def->oneof == def->oneof) {
      return cst__lexer_fail(place, "only one field of a oneof can be set",
                             "'%s' and '%s' are both members of the oneof '%s'", field->def->name,
                             def->name, message->def->oneofs[def->oneof - 1]);
    }
  }
  return CST_OK;
}

/* By its name, or as a group by that of its type. */
static const cst__field_def *find_text_field(const cst__message_def *message, const char *name,
                                             size_t size) {
  const cst__field_def *def = cst__field_by_name(message, name, size);
  for (size_t i = 0; def == NULL && i < message->num_fields; i++) {
    const char *group = cst__group_name(message, &message->fields[i]);
    if (group != NULL && strlen(group) == size && memcmp(group, name, size) == 0) {
      def = &message->fields[i];
    }
  }
  return def;
}

/* Colon and values of a field whose name, at `place`, has been passed over. */
static cst_status read_field_body(parser *p, const cst__lexer *place, cst__message *message,
                                  const cst__field_def *def, int depth) {
  CST__TRY(check_is_free(place, message, def));
  bool colon;
  CST__TRY(cst__lexer_accept(&p->lexer, ':', &colon));
  if (!colon && !cst__field_is_message(def)) {
    return cst__lexer_unexpected(&p->lexer, "':'");
  }
  cst_status status = read_text_values(p, message, def, 0, depth);
  if (status == CST_CORRUPT && p->types != NULL) {
    cst__error_add_field(place->error, def);
  }
  return status;
}

static cst_status read_named_field(parser *p, cst__message *message, int depth) {
  cst__lexer place = p->lexer;
  const cst__field_def *def = find_text_field(message->def, place.token, place.size);
  if (def == NULL) {
    return fail_field_name(&place, message->def);
  }
  CST__TRY(cst__lexer_next(&p->lexer));
  return read_field_body(p, &place, message, def, depth);
}

static cst_status read_numbered_field(parser *p, cst__message *message, int depth) {
  cst__lexer place = p->lexer;
  bool negative;
  uint64_t number;
  CST__TRY(cst__lexer_integer(&p->lexer, &negative, &number, NULL));
  if (number == 0 || number >= (uint64_t)1 << 29) {
    return cst__lexer_fail(&place, NULL, "a field's number is not from 1 to 536870911");
  }
  bool colon;
  CST__TRY(cst__lexer_accept(&p->lexer, ':', &colon));
  cst_status status = read_text_values(p, message, NULL, (uint32_t)number, depth);
  if (status != CST_OK && cst__error_wanted(place.error)) {
    place.error->offset = -1; /* that of bytes that only stood in between */
    cst__error_add_position(place.error, place.line, place.column);
  }
  return status;
}

/* "[type/name] { ... }" of an Any, kept as it stands. */
static cst_status keep_expanded_any(parser *p, cst__message *message) {
  const char *start = p->lexer.token;
  const char *end;
  while (!cst__lexer_sees(&p->lexer, '{') && !cst__lexer_sees(&p->lexer, '<')) {
    if (p->lexer.kind == CST__TOKEN_END || p->lexer.kind == CST__TOKEN_STRING ||
        cst__lexer_sees(&p->lexer, '}')) {
      return cst__lexer_unexpected(&p->lexer, "'{'");
    }
    CST__TRY(cst__lexer_next(&p->lexer));
  }
  char open[CST__DEPTH_LIMIT];
  size_t levels = 0;
  do {
    char c = p->lexer.kind == CST__TOKEN_SYMBOL ? *p->lexer.token : ' ';
    if (p->lexer.kind == CST__TOKEN_END) {
      return cst__lexer_unexpected(&p->lexer, "'}'");
    }
    if (c == '{' || c == '<') {
      if (levels == sizeof open) {
        return cst__lexer_fail(&p->lexer, NULL, "messages are nested deeper than %d levels",
                               (int)CST__DEPTH_LIMIT);
      }
      open[levels++] = c == '{' ? '}' : '>';
    } else if (c == '}' || c == '>') {
      if (open[--levels] != c) {
        return cst__lexer_unexpected(&p->lexer, open[levels] == '}' ? "'}'" : "'>'");
      }
    }
    end = p->lexer.token + p->lexer.size;
    CST__TRY(cst__lexer_next(&p->lexer));
  } while (levels > 0);
  message->expanded_any = (cst_bytes){(const uint8_t *)start, (size_t)(end - start)};
  return CST_OK;
}

/* What stands between brackets (a name, or a URL) without spaces and comments; the closing one is
 * passed over. */
static cst_status read_bracketed(parser *p, cst__text *name) {
  CST__TRY(cst__lexer_next(&p->lexer));
  while (!cst__lexer_sees(&p->lexer, ']')) {
    char c = p->lexer.kind == CST__TOKEN_SYMBOL ? *p->lexer.token : '.';
    if (p->lexer.kind == CST__TOKEN_END || p->lexer.kind == CST__TOKEN_STRING || c == '\0' ||
        strchr("-.~!$&()*+,;=%/", c) == NULL) {
      return cst__lexer_unexpected(&p->lexer, "']'");
    }
    cst__text_append(name, p->lexer.token, p->lexer.size);
    CST__TRY(cst__lexer_next(&p->lexer));
  }
  return name->failed ? no_text_memory(p) : cst__lexer_next(&p->lexer);
}

/* The bytes of a message, as a value in the arena. */
static cst_status serialize_any_value(parser *p, cst__message *content, cst_bytes *bytes) {
  cst__wire_out out = {0};
  bool sorted = cst__message_sort_maps(p->arena, content);
  if (sorted) {
    cst__message_put_wire(content, &out);
  }
  size_t size = cst__wire_out_size(&out);
  char *copy = !sorted || out.failed
                   ? NULL
                   : cst__arena_copy(p->arena, size > 0 ? out.data + out.free : NULL, size);
  cst__wire_out_free(&out);
  *bytes = (cst_bytes){(const uint8_t *)copy, size};
  return copy != NULL ? CST_OK : no_text_memory(p);
}

static bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* What may stand before the last slash of a type's URL: after '%' two hexadecimal digits. */
static bool is_url_prefix(const char *text, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (text[i] == '%' &&
        (size - i < 3 || !is_hex_digit(text[i + 1]) || !is_hex_digit(text[i + 2]))) {
      return false;
    }
  }
  return size > 0 && text[0] != '/';
}

/* The message in braces after "[url]", as the two fields of an Any. */
static cst_status read_any_message(parser *p, const cst__lexer *place, const cst__text *url,
                                   cst__message *any, int depth) {
  const char *slash = cst__os_last_byte(url->data, '/', url->size);
  if (slash == NULL || !is_url_prefix(url->data, (size_t)(slash - url->data))) {
    return cst__lexer_fail(place, "write [type.googleapis.com/full.name]",
                           "the URL of an Any's type is not valid");
  }
  const char *name = slash + 1;
  size_t size = (size_t)(url->data + url->size - name);
  const cst__message_def *def =
      size > 0 && *name != '.' ? cst__descriptors_find(p->types, name, size) : NULL;
  if (def == NULL) {
    return cst__lexer_fail(place, "add the file of this type to the descriptors",
                           "an Any of a type that the descriptors do not have");
  }
  bool colon;
  char close = '\0';
  CST__TRY(cst__lexer_accept(&p->lexer, ':', &colon));
  CST__TRY(open_message(p, &close, depth));
  cst__message *content = cst__message_new(p->arena, def);
  const char *copy = cst__arena_copy(p->arena, url->data, url->size);
  if (content == NULL || copy == NULL) {
    return no_text_memory(p);
  }
  CST__TRY(merge_fields(p, content, close, depth - 1));
  cst__value type = {.bytes = {(const uint8_t *)copy, url->size}};
  cst__value value;
  CST__TRY(serialize_any_value(p, content, &value.bytes));
  return cst__message_put(p->arena, any, cst__field_by_number(any->def, 1), type) &&
                 cst__message_put(p->arena, any, cst__field_by_number(any->def, 2), value)
             ? CST_OK
             : no_text_memory(p);
}

static bool is_usual_any(const cst__message_def *def) {
  return strcmp(def->full_name, "google.protobuf.Any") == 0 && def->num_fields == 2 &&
         def->fields[0].number == 1 && def->fields[0].type == CST__FIELD_STRING &&
         def->fields[1].number == 2 && def->fields[1].type == CST__FIELD_BYTES;
}

static cst_status read_expanded_any(parser *p, cst__message *message, int depth) {
  cst__lexer place = p->lexer;
  cst__text url = {0};
  if (message->expanded_any.size > 0 || message->first != NULL) {
    return cst__lexer_fail(&place, NULL, "an Any has more than one value");
  }
  if (p->types == NULL) {
    return keep_expanded_any(p, message);
  }
  cst_status status = read_bracketed(p, &url);
  if (status == CST_OK) {
    status = read_any_message(p, &place, &url, message, depth);
  }
  cst__text_free(&url);
  return status;
}

/* "[full.name]" and its values. */
static cst_status read_extension(parser *p, cst__message *message, int depth) {
  cst__lexer place = p->lexer;
  cst__text name = {0};
  cst_status status = read_bracketed(p, &name);
  const cst__field_def *def = status == CST_OK && name.size > 0
                                  ? cst__extension_by_name(message->def, name.data, name.size)
                                  : NULL;
  if (status == CST_OK && message->def->is_message_set) {
    status = cst__lexer_fail(&place, "read the wire format",
                             "a message set, whose extensions are not read from text");
  } else if (status == CST_OK) {
    status = def != NULL
                 ? read_field_body(p, &place, message, def, depth)
                 : cst__lexer_fail(&place, "add the file that declares it to the descriptors",
                                   "%s has no extension '%.60s'", message->def->full_name,
                                   name.size > 0 ? name.data : "");
  }
  cst__text_free(&name);
  return status;
}

static __attribute__((noinline)) cst_status read_bracketed_field(parser *p, cst__message *message,
                                                                 int depth) {
  if (is_usual_any(message->def)) {
    return read_expanded_any(p, message, depth);
  }
  return p->types != NULL
             ? read_extension(p, message, depth)
             : cst__lexer_fail(&p->lexer, "give the field by its number",
                               "%s has no extensions, found '['", message->def->full_name);
}

static cst_status read_text_field(parser *p, cst__message *message, int depth) {
  bool separator;
  if (p->lexer.kind == CST__TOKEN_NAME) {
    CST__TRY(read_named_field(p, message, depth));
  } else if (p->lexer.kind == CST__TOKEN_NUMBER) {
    CST__TRY(read_numbered_field(p, message, depth));
  } else if (cst__lexer_sees(&p->lexer, '[')) {
    CST__TRY(read_bracketed_field(p, message, depth));
  } else {
    return cst__lexer_unexpected(&p->lexer, "a field's name");
  }
  CST__TRY(cst__lexer_accept(&p->lexer, ',', &separator));
  return separator ? CST_OK : cst__lexer_accept(&p->lexer, ';', &separator);
}

/* All fields up to the closing bracket, which is passed over; '\0': the end of the text. */
static cst_status merge_fields(parser *p, cst__message *message, char close, int depth) {
  while (close == '\0' ? p->lexer.kind != CST__TOKEN_END : !cst__lexer_sees(&p->lexer, close)) {
    if (p->lexer.kind == CST__TOKEN_END) {
      return cst__lexer_unexpected(&p->lexer, close == '}' ? "'}'" : "'>'");
    }
    CST__TRY(read_text_field(p, message, depth));
  }
  return close == '\0' ? CST_OK : cst__lexer_next(&p->lexer);
}

cst_status cst__message_merge_text(cst__arena *arena, cst__message *message, cst_bytes text,
                                   int depth, cst_error *error) {
  return cst__message_merge_text_of(NULL, arena, message, text, depth, error);
}

cst_status cst__message_merge_text_of(const cst_descriptors *types, cst__arena *arena,
                                      cst__message *message, cst_bytes text, int depth,
                                      cst_error *error) {
  parser p = {.arena = arena, .types = types};
  CST__TRY(cst__lexer_init(&p.lexer, text, error));
  p.lexer.hides_tokens = types != NULL;
  mark_place(message, &p.lexer);
  return merge_fields(&p, message, '\0', depth);
}
