/* Statements from tokens, and the parts of statements that builders add. */
#include <string.h>

#include "query/text/query_parser.h"
#include "query/text/query_words.h"

static cst_status skip_token(cst__query_parser *parser) {
  return cst__query_lexer_next(&parser->lexer);
}

static bool sees_keyword(const cst__query_parser *parser) {
  return parser->lexer.kind == CST__QUERY_NAME &&
         cst__query_is_keyword(parser->lexer.token, parser->lexer.size);
}

static cst_status accept_word(cst__query_parser *parser, const char *word, bool *accepted) {
  *accepted = cst__query_sees_word(&parser->lexer, word);
  return *accepted ? skip_token(parser) : CST_OK;
}

/* ---- from ---- */

/* shop.Session, whose names are plain, with or without backticks. */
static cst_status read_message_name(cst__query_parser *parser, const char **out) {
  char name[CST__QUERY_MAX_NAME + 1];
  size_t used = 0;
  bool more = true;
  while (more) {
    const cst__query_lexer at = parser->lexer;
    const char *step;
    CST__TRY(cst__query_read_name(parser, "the full name of a message", &step));
    size_t size = strlen(step);
    if (!cst__query_is_plain(step, size)) {
      return cst__query_unexpected(&at, "the full name of a message", NULL);
    }
    if (used + 1 + size > CST__QUERY_MAX_NAME) {
      return cst__query_fail(&at, CST_LIMIT, NULL, "a name has more than %d bytes",
                             (int)CST__QUERY_MAX_NAME);
    }
    memcpy(name + used, step, size + 1);
    used += size;
    CST__TRY(cst__query_accept(&parser->lexer, ".", &more));
    if (more) {
      name[used++] = '.';
    }
  }
  *out = cst__arena_copy(parser->arena, name, used);
  return *out != NULL ? CST_OK : cst__fail_memory(parser->lexer.error, used);
}

/* A word, a number or a text, as its characters. */
static cst_status read_option_value(cst__query_parser *parser, const char **out) {
  cst__query_lexer *lexer = &parser->lexer;
  const char *text = lexer->token;
  cst__expr string = {0};
  if (lexer->kind == CST__QUERY_TEXT) {
    CST__TRY(cst__query_string(lexer, parser->arena, &string));
    *out = (const char *)string.bytes.data;
    if (strlen(*out) < string.bytes.size) {
      return cst__query_fail(lexer, CST_INVALID_ARGUMENT, NULL, "an option contains a NUL byte");
    }
    return skip_token(parser);
  }
  if (cst__query_sees(lexer, "-")) {
    CST__TRY(skip_token(parser));
  }
  bool is_negative = text != lexer->token;
  if (lexer->kind != CST__QUERY_NUMBER && (lexer->kind != CST__QUERY_NAME || is_negative)) {
    return cst__query_unexpected(lexer, is_negative ? "a number" : "a word, a number or a text",
                                 NULL);
  }
  char *copy = cst__arena_take(parser->arena, lexer->size + 2);
  if (copy == NULL) {
    return cst__fail_memory(lexer->error, lexer->size + 2);
  }
  copy[0] = '-';
  memcpy(copy + is_negative, lexer->token, lexer->size);
  copy[is_negative + lexer->size] = '\0';
  *out = copy;
  return skip_token(parser);
}

enum { MAX_FROM_OPTIONS = 32 };

static cst_status read_options(cst__query_parser *parser, cst__statement *out) {
  cst__from_option *options = cst__arena_take(parser->arena, MAX_FROM_OPTIONS * sizeof *options);
  if (options == NULL) {
    return cst__fail_memory(parser->lexer.error, MAX_FROM_OPTIONS * sizeof *options);
  }
  bool more = true;
  size_t count = 0;
  for (; more; count++) {
    const cst__query_lexer at = parser->lexer;
    if (count == MAX_FROM_OPTIONS) {
      return cst__query_fail(&at, CST_LIMIT, NULL, "more than %d options", (int)MAX_FROM_OPTIONS);
    }
    options[count].at = cst__query_place(parser);
    CST__TRY(cst__query_read_name(parser, "an option", &options[count].key));
    for (size_t i = 0; i < count; i++) {
      if (strcmp(options[i].key, options[count].key) == 0) {
        return cst__query_fail(&at, CST_INVALID_ARGUMENT, NULL, "duplicate option");
      }
    }
    CST__TRY(cst__query_expect(&parser->lexer, "="));
    CST__TRY(read_option_value(parser, &options[count].value));
    CST__TRY(cst__query_accept(&parser->lexer, ",", &more));
  }
  out->options = options;
  out->num_options = count;
  return CST_OK;
}

static cst_status read_from_message(cst__query_parser *parser, cst__statement *out) {
  bool has_options;
  bool is_name = parser->lexer.kind == CST__QUERY_NAME || parser->lexer.kind == CST__QUERY_QUOTED;
  if (is_name && !sees_keyword(parser) && !cst__query_sees_word(&parser->lexer, "with")) {
    CST__TRY(read_message_name(parser, &out->message));
  }
  CST__TRY(accept_word(parser, "with", &has_options));
  return has_options ? read_options(parser, out) : CST_OK;
}

static cst_status read_from_table(cst__query_parser *parser, cst__statement *out) {
  if (!cst__query_sees(&parser->lexer, "[")) {
    return CST_OK;
  }
  const cst__query_lexer at = parser->lexer;
  cst__type_text *type = cst__arena_take_zero(parser->arena, sizeof *type);
  if (type == NULL) {
    return cst__fail_memory(parser->lexer.error, sizeof *type);
  }
  CST__TRY(cst__query_read_type(parser, type));
  if (strcmp(type->children[0].format, "+s") != 0) {
    return cst__query_fail(&at, CST_INVALID_ARGUMENT, "write [{id: int64, ...}]",
                           "a table is a list of structs");
  }
  out->type = type;
  return CST_OK;
}

static cst_status read_from(cst__query_parser *parser, cst__statement *out) {
  static const char *const sources[] = {"message", "example", "sequence_example", "table"};
  const cst__query_lexer at = parser->lexer;
  const char *name;
  CST__TRY(cst__query_read_name(parser, "message, example, sequence_example or table", &name));
  for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
    if (strcmp(name, sources[i]) == 0) {
      out->name = sources[i];
      return i == 0   ? read_from_message(parser, out)
             : i == 3 ? read_from_table(parser, out)
                      : CST_OK;
    }
  }
  cst__name_list names = cst__name_list_of(sources, sizeof sources / sizeof sources[0]);
  char hint[CST__NEAR_HINT];
  return cst__query_unexpected(&at, "message, example, sequence_example or table",
                               cst__near_hint(hint, name, &names));
}

/* ---- param, let, output, rows, rename ---- */

/* A value, or a list of values, of a type that parameters may have. */
static bool is_param_type(const cst__type_text *type) {
  static const char *const names[] = {"bool",    "int32",  "int64", "float32",
                                      "float64", "string", "bytes"};
  const cst__type_text *value = type->num_children > 0 ? type->children : type;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(value->name, names[i]) == 0) {
      return strcmp(type->format, "+s") != 0;
    }
  }
  return false;
}

static cst_status read_param_type(cst__query_parser *parser, const cst__type_text **out) {
  const cst__query_lexer at = parser->lexer;
  cst__type_text *type = cst__arena_take_zero(parser->arena, sizeof *type);
  if (type == NULL) {
    return cst__fail_memory(parser->lexer.error, sizeof *type);
  }
  CST__TRY(cst__query_read_type(parser, type));
  if (!is_param_type(type)) {
    return cst__query_fail(&at, CST_INVALID_ARGUMENT,
                           "bool, int32, int64, float32, float64, string, bytes, or a list of one",
                           "a parameter cannot have this type");
  }
  *out = type;
  return CST_OK;
}

static cst_status read_param(cst__query_parser *parser, cst__statement *out) {
  bool has_value;
  CST__TRY(cst__query_read_name(parser, "the name of a parameter", &out->name));
  CST__TRY(cst__query_expect(&parser->lexer, ":"));
  CST__TRY(read_param_type(parser, &out->type));
  CST__TRY(cst__query_accept(&parser->lexer, "=", &has_value));
  return has_value ? cst__query_read_literal(parser, &out->value) : CST_OK;
}

static cst_status read_let(cst__query_parser *parser, cst__statement *out) {
  CST__TRY(cst__query_read_path(parser, &out->path));
  CST__TRY(cst__query_expect(&parser->lexer, "="));
  return cst__query_read_expression(parser, &out->value);
}

static cst_status read_output(cst__query_parser *parser, cst__statement *out) {
  CST__TRY(cst__query_read_name(parser, "the name of an output", &out->name));
  CST__TRY(cst__query_expect(&parser->lexer, "="));
  return cst__query_read_expression(parser, &out->value);
}

static cst_status read_rows_path(cst__query_parser *parser, cst__statement *out) {
  return cst__query_read_path(parser, &out->path);
}

static cst_status read_rename(cst__query_parser *parser, cst__statement *out) {
  bool has_as;
  CST__TRY(cst__query_read_path(parser, &out->path));
  CST__TRY(accept_word(parser, "as", &has_as));
  if (!has_as) {
    return cst__query_unexpected(&parser->lexer, "as", NULL);
  }
  return cst__query_read_name(parser, "a name", &out->name);
}

/* ---- keep, drop ---- */

typedef struct pattern_list {
  const cst__expr **items;
  size_t count;
  size_t capacity;
} pattern_list;

static cst_status read_pattern_list(cst__query_parser *parser, pattern_list *list) {
  bool more = true;
  while (more) {
    if (!cst__grow(&parser->arena->allocator, (void **)&list->items, &list->capacity,
                   list->count + 1, sizeof *list->items)) {
      return cst__fail_memory(parser->lexer.error, sizeof *list->items);
    }
    CST__TRY(cst__query_read_pattern(parser, &list->items[list->count]));
    list->count++;
    CST__TRY(cst__query_accept(&parser->lexer, ",", &more));
  }
  return CST_OK;
}

static cst_status read_drop(cst__query_parser *parser, cst__statement *out) {
  pattern_list list = {0};
  cst_status status = read_pattern_list(parser, &list);
  if (status == CST_OK) {
    size_t bytes = list.count * sizeof *list.items;
    out->patterns = cst__arena_take(parser->arena, bytes);
    out->num_patterns = list.count;
    if (out->patterns == NULL) {
      status = cst__fail_memory(parser->lexer.error, bytes);
    } else {
      memcpy((void *)out->patterns, (const void *)list.items, bytes);
    }
  }
  cst__delete((void *)list.items);
  return status;
}

static cst_status read_keep(cst__query_parser *parser, cst__statement *out) {
  bool has_depth;
  CST__TRY(read_drop(parser, out));
  CST__TRY(accept_word(parser, "depth", &has_depth));
  if (!has_depth) {
    return CST_OK;
  }
  const cst__query_lexer at = parser->lexer;
  const cst__expr *depth;
  CST__TRY(cst__query_read_literal(parser, &depth));
  if (depth->kind != CST__EXPR_INT || depth->integer < 1 || depth->integer > CST__QUERY_MAX_DEPTH) {
    return cst__query_fail(&at, CST_INVALID_ARGUMENT, NULL, "a depth is a number from 1 to %d",
                           (int)CST__QUERY_MAX_DEPTH);
  }
  out->depth = (int)depth->integer;
  return CST_OK;
}

/* ---- statements ---- */

static const struct {
  const char *word;
  cst__statement_kind kind;
  cst_status (*read)(cst__query_parser *parser, cst__statement *out);
} statement_readers[] = {
    {"from", CST__STATEMENT_FROM, read_from},       {"param", CST__STATEMENT_PARAM, read_param},
    {"let", CST__STATEMENT_LET, read_let},          {"rows", CST__STATEMENT_ROWS, read_rows_path},
    {"keep", CST__STATEMENT_KEEP, read_keep},       {"drop", CST__STATEMENT_DROP, read_drop},
    {"rename", CST__STATEMENT_RENAME, read_rename}, {"output", CST__STATEMENT_OUTPUT, read_output},
};

/* What stands where a statement should begin is no word of one. */
static cst_status fail_statement(const cst__query_parser *parser) {
  const cst__query_lexer *lexer = &parser->lexer;
  cst__name_list words = cst__query_keywords();
  char hint[CST__NEAR_HINT];
  char word[32] = "";
  if (cst__query_is_keyword((const char *)lexer->last.data, lexer->last.size)) {
    return cst__query_unexpected(lexer, "a statement",
                                 "is the statement before it complete? the word that begins the "
                                 "next one was read as a name");
  }
  if (lexer->kind == CST__QUERY_NAME && lexer->size < sizeof word) {
    memcpy(word, lexer->token, lexer->size);
  }
  return cst__query_unexpected(lexer, "a statement",
                               word[0] != '\0' ? cst__near_hint(hint, word, &words) : NULL);
}

static cst_status read_statement(cst__query_parser *parser, cst__statement *out) {
  const cst__query_lexer at = parser->lexer;
  *out = (cst__statement){.at = cst__query_place(parser)};
  for (size_t i = 0; i < sizeof statement_readers / sizeof statement_readers[0]; i++) {
    if (cst__query_sees_word(&at, statement_readers[i].word)) {
      out->kind = statement_readers[i].kind;
      CST__TRY(skip_token(parser));
      return statement_readers[i].read(parser, out);
    }
  }
  return fail_statement(parser);
}

typedef struct statement_array {
  cst__statement *items;
  size_t count;
  size_t capacity;
} statement_array;

static cst_status read_statements(cst__query_parser *parser, statement_array *list) {
  while (parser->lexer.kind != CST__QUERY_END) {
    if (!cst__grow(&parser->arena->allocator, (void **)&list->items, &list->capacity,
                   list->count + 1, sizeof *list->items)) {
      return cst__fail_memory(parser->lexer.error, sizeof *list->items);
    }
    CST__TRY(read_statement(parser, &list->items[list->count]));
    list->count++;
  }
  return CST_OK;
}

cst_status cst__query_parse_statements(cst_bytes text, cst__arena *arena, cst__statement_list *out,
                                       cst_error *error) {
  cst__query_parser parser = {.arena = arena};
  statement_array list = {0};
  *out = (cst__statement_list){0};
  CST__TRY(cst__query_lexer_init(&parser.lexer, text, error));
  cst_status status = read_statements(&parser, &list);
  if (status == CST_OK) {
    size_t bytes = list.count * sizeof *list.items;
    out->items = cst__arena_take(arena, bytes);
    out->count = list.count;
    if (out->items == NULL) {
      status = cst__fail_memory(error, bytes);
    } else if (list.count > 0) {
      memcpy(out->items, list.items, bytes);
    }
  }
  cst__delete(list.items);
  return status;
}

/* ---- parts ---- */

static cst_status init_part(cst__query_parser *parser, const char *text, cst__arena *arena,
                            cst_error *error) {
  cst_bytes bytes = {(const uint8_t *)text, strlen(text)};
  *parser = (cst__query_parser){.arena = arena, .is_part = true};
  return cst__query_lexer_init(&parser->lexer, bytes, error);
}

static cst_status expect_end(const cst__query_parser *parser) {
  return parser->lexer.kind == CST__QUERY_END
             ? CST_OK
             : cst__query_unexpected(&parser->lexer, "nothing more", NULL);
}

typedef cst_status (*read_part)(cst__query_parser *parser, const cst__expr **out);

static cst_status parse_part(const char *text, read_part read, cst__arena *arena,
                             const cst__expr **out, cst_error *error) {
  cst__query_parser parser;
  *out = NULL;
  CST__TRY(init_part(&parser, text, arena, error));
  CST__TRY(read(&parser, out));
  return expect_end(&parser);
}

cst_status cst__query_parse_expression(const char *text, cst__arena *arena, const cst__expr **out,
                                       cst_error *error) {
  return parse_part(text, cst__query_read_expression, arena, out, error);
}

cst_status cst__query_parse_literal(const char *text, cst__arena *arena, const cst__expr **out,
                                    cst_error *error) {
  return parse_part(text, cst__query_read_literal, arena, out, error);
}

cst_status cst__query_parse_path(const char *text, cst__arena *arena, const cst__expr **out,
                                 cst_error *error) {
  return parse_part(text, cst__query_read_path, arena, out, error);
}

cst_status cst__query_parse_pattern(const char *text, cst__arena *arena, const cst__expr **out,
                                    cst_error *error) {
  return parse_part(text, cst__query_read_pattern, arena, out, error);
}

cst_status cst__query_parse_param_type(const char *text, cst__arena *arena,
                                       const cst__type_text **out, cst_error *error) {
  cst__query_parser parser;
  CST__TRY(init_part(&parser, text, arena, error));
  CST__TRY(read_param_type(&parser, out));
  return expect_end(&parser);
}
