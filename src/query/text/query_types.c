/* Types as the language has them: int64, [int64], {id: int64, event: [{query: string}]}. */
#include <string.h>

#include "arrow/type.h"
#include "base/names.h"
#include "query/text/query_parser.h"

static const struct {
  const char *name;
  const char *format;
} type_names[] = {{"bool", "b"},   {"int8", "c"},    {"int16", "s"},   {"int32", "i"},
                  {"int64", "l"},  {"uint8", "C"},   {"uint16", "S"},  {"uint32", "I"},
                  {"uint64", "L"}, {"float32", "f"}, {"float64", "g"}, {"float16", "e"},
                  {"string", "U"}, {"bytes", "Z"},   {"null", "n"}};
enum { NUM_TYPE_NAMES = sizeof type_names / sizeof type_names[0], MAX_TYPE_FIELDS = 10000 };

const char *cst__query_type_format(const char *name) {
  for (size_t i = 0; i < NUM_TYPE_NAMES; i++) {
    if (strcmp(type_names[i].name, name) == 0) {
      return type_names[i].format;
    }
  }
  return NULL;
}

static const char *nth_type_name(const void *items, size_t i) {
  (void)items;
  return type_names[i].name;
}

static cst_status read_named_type(cst__query_parser *parser, cst__type_text *out) {
  const cst__query_lexer *lexer = &parser->lexer;
  if (lexer->kind != CST__QUERY_NAME) {
    return cst__query_unexpected(lexer, "a type", NULL);
  }
  char name[16] = "";
  memcpy(name, lexer->token, lexer->size < sizeof name ? lexer->size : sizeof name - 1);
  for (size_t i = 0; i < NUM_TYPE_NAMES; i++) {
    if (cst__query_sees_word(lexer, type_names[i].name)) {
      out->name = type_names[i].name;
      out->format = type_names[i].format;
      return cst__query_lexer_next(&parser->lexer);
    }
  }
  cst__name_list names = {NULL, NUM_TYPE_NAMES, nth_type_name};
  char hint[CST__NEAR_HINT];
  return cst__query_unexpected(lexer, "a type", cst__near_hint(hint, name, &names));
}

/* The Arrow format of a type of values that has no name here: "tsu:UTC". */
static cst_status read_format_type(cst__query_parser *parser, cst__type_text *out) {
  cst__expr text = {0};
  int64_t fixed_size;
  CST__TRY(cst__query_string(&parser->lexer, parser->arena, &text));
  out->name = "";
  out->format = (const char *)text.bytes.data;
  const cst__layout_info *layout =
      strlen(out->format) == text.bytes.size ? cst__layout_find(out->format, &fixed_size) : NULL;
  if (layout == NULL || layout->layout == CST__LAYOUT_OTHER || out->format[0] == '+') {
    return cst__query_fail(&parser->lexer, CST_INVALID_ARGUMENT,
                           "the C data interface of Arrow lists them: \"tsu:UTC\"",
                           "expected the Arrow format of a type of values");
  }
  return cst__query_lexer_next(&parser->lexer);
}

static cst_status set_type_children(cst__query_parser *parser, cst__type_text *out,
                                    const cst__type_text *children, size_t count) {
  size_t bytes = count * sizeof *children; /* count is at most MAX_TYPE_FIELDS */
  out->children = cst__arena_take(parser->arena, bytes);
  if (out->children == NULL) {
    return cst__fail_memory(parser->lexer.error, bytes);
  }
  if (count > 0) {
    memcpy(out->children, children, bytes);
  }
  out->num_children = count;
  return CST_OK;
}

static cst_status read_list_type(cst__query_parser *parser, cst__type_text *out) {
  cst__type_text item = {0};
  CST__TRY(cst__query_lexer_next(&parser->lexer));
  CST__TRY(cst__query_read_type(parser, &item));
  CST__TRY(cst__query_expect(&parser->lexer, "]"));
  out->name = "";
  out->format = "+L";
  return set_type_children(parser, out, &item, 1);
}

/* The fields, which grow on the heap: how many there are is known at the end. */
typedef struct type_fields {
  cst__type_text *items;
  size_t count;
  size_t capacity;
} type_fields;

static cst_status read_type_field(cst__query_parser *parser, type_fields *fields) {
  cst__type_text field = {0};
  const char *name;
  const cst__query_lexer at = parser->lexer;
  CST__TRY(cst__query_read_name(parser, "the name of a field", &name));
  CST__TRY(cst__query_expect(&parser->lexer, ":"));
  CST__TRY(cst__query_read_type(parser, &field));
  field.field = name;
  if (fields->count == MAX_TYPE_FIELDS) {
    return cst__query_fail(&at, CST_LIMIT, NULL, "a struct has more than %d fields",
                           (int)MAX_TYPE_FIELDS);
  }
  if (!cst__grow(&parser->arena->allocator, (void **)&fields->items, &fields->capacity,
                 fields->count + 1, sizeof field)) {
    return cst__fail_memory(parser->lexer.error, sizeof field);
  }
  fields->items[fields->count++] = field;
  return CST_OK;
}

static cst_status read_type_fields(cst__query_parser *parser, type_fields *fields) {
  bool more;
  CST__TRY(cst__query_lexer_next(&parser->lexer));
  more = !cst__query_sees(&parser->lexer, "}");
  while (more) {
    CST__TRY(read_type_field(parser, fields));
    CST__TRY(cst__query_accept(&parser->lexer, ",", &more));
  }
  return cst__query_expect(&parser->lexer, "}");
}

static cst_status read_struct_type(cst__query_parser *parser, cst__type_text *out) {
  type_fields fields = {0};
  cst_status status = read_type_fields(parser, &fields);
  out->name = "";
  out->format = "+s";
  if (status == CST_OK) {
    status = set_type_children(parser, out, fields.items, fields.count);
  }
  cst__delete(fields.items);
  return status;
}

cst_status cst__query_read_type(cst__query_parser *parser, cst__type_text *out) {
  if (++parser->type_depth > CST__TYPE_MAX_DEPTH) {
    return cst__query_fail(&parser->lexer, CST_LIMIT, NULL, "a type has more than %d levels",
                           (int)CST__TYPE_MAX_DEPTH);
  }
  cst_status status = cst__query_sees(&parser->lexer, "[")    ? read_list_type(parser, out)
                      : cst__query_sees(&parser->lexer, "{")  ? read_struct_type(parser, out)
                      : parser->lexer.kind == CST__QUERY_TEXT ? read_format_type(parser, out)
                                                              : read_named_type(parser, out);
  parser->type_depth--;
  return status;
}
