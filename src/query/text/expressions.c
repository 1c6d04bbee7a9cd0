/* Expressions, paths and patterns from tokens. */
#include <stdio.h>
#include <string.h>

#include "query/text/query_parser.h"
#include "query/text/query_words.h"

enum {
  MAX_KEYWORDS = 1000, /* of a call or a struct, each compared with all others */
  MAX_RECURSION = 3 * CST__QUERY_MAX_HEIGHT /* an operator and its parentheses are a level of the
                                               tree, and two of the recursion */
};

/* One level deeper. A failure ends the parse, so that only success leaves again. */
static cst_status deepen(cst__query_parser *parser) {
  if (++parser->depth > MAX_RECURSION) {
    return cst__query_fail(&parser->lexer, CST_LIMIT, "define parts of it with let",
                           "more than %d nested levels", (int)MAX_RECURSION);
  }
  return CST_OK;
}

static void rise(cst__query_parser *parser) { parser->depth--; }

static cst_status next_token(cst__query_parser *parser) {
  return cst__query_lexer_next(&parser->lexer);
}

static bool sees(const cst__query_parser *parser, const char *symbol) {
  return cst__query_sees(&parser->lexer, symbol);
}

static bool sees_word(const cst__query_parser *parser, const char *word) {
  return cst__query_sees_word(&parser->lexer, word);
}

/* ---- nodes ---- */

static cst_status new_expr(cst__query_parser *parser, cst__expr_kind kind, cst__expr **out) {
  *out = cst__arena_take_zero(parser->arena, sizeof **out);
  if (*out == NULL) {
    return cst__fail_memory(parser->lexer.error, sizeof **out);
  }
  (*out)->kind = kind;
  (*out)->at = cst__query_place(parser);
  (*out)->height = 1;
  return CST_OK;
}

/* A node is as high as the highest of its arguments and one more. */
static cst_status set_args(cst__query_parser *parser, cst__expr *node, const cst__expr **args,
                           size_t count) {
  node->args = args;
  node->num_args = count;
  for (size_t i = 0; i < count; i++) {
    if (args[i] != NULL && args[i]->height >= node->height) {
      node->height = (uint16_t)(args[i]->height + 1);
    }
  }
  if (node->height > CST__QUERY_MAX_HEIGHT) {
    return cst__query_fail(&parser->lexer, CST_LIMIT, "define parts of it with let",
                           "an expression has more than %d levels", (int)CST__QUERY_MAX_HEIGHT);
  }
  return CST_OK;
}

/* Gives a node a copy of these arguments. */
static cst_status copy_args(cst__query_parser *parser, cst__expr *node,
                            const cst__expr *const *args, size_t count) {
  size_t bytes = count * sizeof *args; /* at most four */
  const cst__expr **copy = cst__arena_take(parser->arena, bytes);
  if (copy == NULL) {
    return cst__fail_memory(parser->lexer.error, bytes);
  }
  memcpy((void *)copy, (const void *)args, bytes);
  return set_args(parser, node, copy, count);
}

/* Arguments whose number is not known yet, with their keywords. */
typedef struct argument {
  const cst__expr *expr;
  const char *key;
  struct argument *next;
} argument;

typedef struct argument_list {
  argument *first;
  argument **end;
  size_t count;
  size_t num_keys;
} argument_list;

static cst_status add_argument(cst__query_parser *parser, argument_list *list, const char *key,
                               const cst__expr *expr) {
  if (list->num_keys + (key != NULL) > MAX_KEYWORDS) {
    return cst__query_fail(&parser->lexer, CST_LIMIT, NULL, "more than %d names before this",
                           (int)MAX_KEYWORDS);
  }
  for (const argument *other = list->first; key != NULL && other != NULL; other = other->next) {
    if (other->key != NULL && strcmp(other->key, key) == 0) {
      return cst__query_fail(&parser->lexer, CST_INVALID_ARGUMENT, NULL, "duplicate name %.40s",
                             key);
    }
  }
  argument *added = cst__arena_take(parser->arena, sizeof *added);
  if (added == NULL) {
    return cst__fail_memory(parser->lexer.error, sizeof *added);
  }
  *added = (argument){expr, key, NULL};
  argument **end = list->end != NULL ? list->end : &list->first;
  *end = added;
  list->end = &added->next;
  list->count++;
  list->num_keys += key != NULL;
  return CST_OK;
}

static cst_status take_arguments(cst__query_parser *parser, const argument_list *list,
                                 cst__expr *node) {
  size_t bytes = list->count * sizeof(void *); /* each has a token in the text */
  const cst__expr **args = cst__arena_take(parser->arena, bytes);
  const char **keys = list->num_keys > 0 ? cst__arena_take(parser->arena, bytes) : NULL;
  if (args == NULL || (list->num_keys > 0 && keys == NULL)) {
    return cst__fail_memory(parser->lexer.error, bytes);
  }
  size_t i = 0;
  for (const argument *at = list->first; at != NULL; at = at->next, i++) {
    args[i] = at->expr;
    if (keys != NULL) {
      keys[i] = at->key;
    }
  }
  node->keys = keys;
  return set_args(parser, node, args, list->count);
}

/* ---- paths and patterns ---- */

/* The step at the current token: a name, "(shop.extra)", and in patterns "*" or "**". */
static cst_status read_step(cst__query_parser *parser, bool is_pattern, const char *wanted,
                            const char **name) {
  cst__query_lexer *lexer = &parser->lexer;
  if (sees(parser, "(")) {
    CST__TRY(cst__query_extension(lexer, parser->arena, name));
  } else if (is_pattern && (sees(parser, "*") || sees(parser, "**"))) {
    *name = lexer->size == 1 ? "*" : "**";
  } else {
    CST__TRY(cst__query_name(lexer, wanted, parser->arena, name));
    bool is_star = strcmp(*name, "*") == 0 || strcmp(*name, "**") == 0;
    if (is_pattern && is_star) {
      return cst__query_fail(lexer, CST_INVALID_ARGUMENT, "rename it in what makes the data",
                             "a field whose name is %s cannot be named in a pattern", *name);
    }
  }
  return next_token(parser);
}

static cst_status read_steps(cst__query_parser *parser, bool is_pattern, const cst__expr **out) {
  const char *wanted = is_pattern ? "a field, * or **" : "a field";
  cst__expr *node;
  CST__TRY(new_expr(parser, CST__EXPR_NAME, &node));
  bool is_star = is_pattern && (sees(parser, "*") || sees(parser, "**"));
  CST__TRY(read_step(parser, is_pattern, wanted, &node->name));
  while (sees(parser, ".")) {
    if (is_star) {
      return cst__query_fail(&parser->lexer, CST_INVALID_ARGUMENT, NULL,
                             "nothing may follow %s in a pattern", node->name);
    }
    CST__TRY(next_token(parser));
    const cst__expr *below = node;
    CST__TRY(new_expr(parser, CST__EXPR_STEP, &node));
    is_star = is_pattern && (sees(parser, "*") || sees(parser, "**"));
    CST__TRY(read_step(parser, is_pattern, wanted, &node->name));
    CST__TRY(copy_args(parser, node, &below, 1));
  }
  *out = node;
  return CST_OK;
}

cst_status cst__query_read_path(cst__query_parser *parser, const cst__expr **out) {
  return read_steps(parser, false, out);
}

cst_status cst__query_read_pattern(cst__query_parser *parser, const cst__expr **out) {
  return read_steps(parser, true, out);
}

cst_status cst__query_read_name(cst__query_parser *parser, const char *wanted, const char **name) {
  CST__TRY(cst__query_name(&parser->lexer, wanted, parser->arena, name));
  return next_token(parser);
}

/* ---- literals ---- */

static bool is_word_literal(const cst__query_parser *parser) {
  return sees_word(parser, "null") || sees_word(parser, "true") || sees_word(parser, "false");
}

static bool is_literal_kind(cst__expr_kind kind) { return kind <= CST__EXPR_LIST; }

/* The literal at the current token: a number, a text, a word. `minus`: where its sign stands. */
static cst_status read_plain_literal(cst__query_parser *parser, const cst__text_at *minus,
                                     const cst__expr **out) {
  cst__query_lexer *lexer = &parser->lexer;
  bool is_negative = minus != NULL;
  cst__expr *node;
  CST__TRY(new_expr(parser, CST__EXPR_NULL, &node));
  node->at = is_negative ? *minus : node->at;
  if (lexer->kind == CST__QUERY_NUMBER) {
    CST__TRY(cst__query_number(lexer, is_negative, node));
  } else if (lexer->kind == CST__QUERY_TEXT || lexer->kind == CST__QUERY_BYTES) {
    CST__TRY(cst__query_string(lexer, parser->arena, node));
  } else if (!sees_word(parser, "null")) {
    node->kind = CST__EXPR_BOOL;
    node->integer = sees_word(parser, "true");
  }
  *out = node;
  return next_token(parser);
}

/* An item of a list: a literal, or the name of a parameter. */
static cst_status read_item(cst__query_parser *parser, const cst__expr **out) {
  const cst__query_lexer *lexer = &parser->lexer;
  bool is_negative = sees(parser, "-");
  cst__text_at at = cst__query_place(parser);
  if (is_negative) {
    CST__TRY(next_token(parser));
  }
  if (lexer->kind == CST__QUERY_NUMBER) {
    return read_plain_literal(parser, is_negative ? &at : NULL, out);
  }
  if (is_negative) {
    return cst__query_unexpected(lexer, "a number", NULL);
  }
  if (lexer->kind == CST__QUERY_TEXT || lexer->kind == CST__QUERY_BYTES ||
      is_word_literal(parser)) {
    return read_plain_literal(parser, NULL, out);
  }
  cst__expr *node;
  CST__TRY(new_expr(parser, CST__EXPR_NAME, &node));
  *out = node;
  return cst__query_read_name(parser, "a literal or the name of a parameter", &node->name);
}

static cst_status read_literal_item(cst__query_parser *parser, const cst__expr **out) {
  const cst__query_lexer at = parser->lexer;
  CST__TRY(read_item(parser, out));
  return is_literal_kind((*out)->kind) ? CST_OK : cst__query_unexpected(&at, "a literal", NULL);
}

static cst_status read_list(cst__query_parser *parser,
                            cst_status (*read)(cst__query_parser *, const cst__expr **),
                            const cst__expr **out) {
  cst__expr *node;
  argument_list items = {0};
  bool more;
  CST__TRY(new_expr(parser, CST__EXPR_LIST, &node));
  CST__TRY(next_token(parser));
  more = !sees(parser, "]");
  while (more) {
    const cst__expr *item;
    CST__TRY(read(parser, &item));
    CST__TRY(add_argument(parser, &items, NULL, item));
    CST__TRY(cst__query_accept(&parser->lexer, ",", &more));
  }
  CST__TRY(cst__query_expect(&parser->lexer, "]"));
  *out = node;
  return take_arguments(parser, &items, node);
}

cst_status cst__query_read_literal(cst__query_parser *parser, const cst__expr **out) {
  if (sees(parser, "[")) {
    return read_list(parser, read_literal_item, out);
  }
  return read_literal_item(parser, out);
}

/* ---- calls ---- */

/* Whether a positional argument is a pattern, or a type. */
static bool takes_pattern(const char *function, size_t position) {
  return position > 0 && (strcmp(function, "only") == 0 || strcmp(function, "without") == 0);
}

static bool takes_type(const char *function, size_t position, const char *key) {
  return strcmp(function, "cast") == 0 && (key != NULL ? strcmp(key, "type") == 0 : position == 1);
}

/* The name of a type of values, as an argument. */
static cst_status read_type_argument(cst__query_parser *parser, const cst__expr **out) {
  cst__expr *node;
  cst__type_text type = {0};
  cst__query_lexer at = parser->lexer;
  CST__TRY(new_expr(parser, CST__EXPR_TYPE, &node));
  CST__TRY(cst__query_read_type(parser, &type));
  if (type.name[0] == '\0') {
    return cst__query_unexpected(&at, "the name of a type", NULL);
  }
  node->name = type.name;
  *out = node;
  return CST_OK;
}

/* `key =`, if that is what comes. */
static cst_status accept_key(cst__query_parser *parser, const char **key) {
  cst__query_lexer after = parser->lexer;
  *key = NULL;
  if (after.kind != CST__QUERY_NAME && after.kind != CST__QUERY_QUOTED) {
    return CST_OK;
  }
  CST__TRY(cst__query_lexer_next(&after));
  if (!cst__query_sees(&after, "=")) {
    return CST_OK;
  }
  CST__TRY(cst__query_read_name(parser, "the name of an argument", key));
  return next_token(parser);
}

static cst_status read_argument(cst__query_parser *parser, const char *function,
                                argument_list *list) {
  const char *key;
  const cst__expr *value;
  const cst__query_lexer at = parser->lexer;
  CST__TRY(accept_key(parser, &key));
  if (key == NULL && list->num_keys > 0) {
    return cst__query_fail(&at, CST_INVALID_ARGUMENT, NULL,
                           "an argument without a name comes after one with a name");
  }
  if (takes_type(function, list->count, key)) {
    CST__TRY(read_type_argument(parser, &value));
  } else if (key == NULL && takes_pattern(function, list->count)) {
    CST__TRY(cst__query_read_pattern(parser, &value));
  } else {
    CST__TRY(cst__query_read_expression(parser, &value));
  }
  return add_argument(parser, list, key, value);
}

/* The value of -LITERAL is a literal, however it is written; false: it does not fit into one. */
static bool negate_literal(cst__expr *literal) {
  if (literal->kind == CST__EXPR_INT && literal->integer != INT64_MIN) {
    literal->integer = -literal->integer;
  } else if (literal->kind == CST__EXPR_FLOAT) {
    literal->number = -literal->number;
  } else {
    return false;
  }
  return true;
}

static cst_status make_negative(cst__query_parser *parser, cst__text_at at, const cst__expr *value,
                                const cst__expr **out) {
  cst__expr *node;
  CST__TRY(new_expr(parser, CST__EXPR_CALL, &node));
  *out = node;
  cst__expr literal = *value;
  if (negate_literal(&literal)) {
    *node = literal;
    node->at = at;
    return CST_OK;
  }
  node->at = at;
  node->name = "neg";
  return copy_args(parser, node, &value, 1);
}

/* NAME( is the current place. */
static cst_status read_call(cst__query_parser *parser, const cst__expr **out) {
  cst__expr *node;
  argument_list list = {0};
  bool more;
  CST__TRY(new_expr(parser, CST__EXPR_CALL, &node));
  CST__TRY(cst__query_name(&parser->lexer, "a function", parser->arena, &node->name));
  CST__TRY(next_token(parser));
  CST__TRY(next_token(parser));
  more = !sees(parser, ")");
  while (more) {
    CST__TRY(read_argument(parser, node->name, &list));
    CST__TRY(cst__query_accept(&parser->lexer, ",", &more));
  }
  CST__TRY(cst__query_expect(&parser->lexer, ")"));
  if (strcmp(node->name, "neg") == 0 && list.count == 1 && list.num_keys == 0) {
    return make_negative(parser, node->at, list.first->expr, out);
  }
  *out = node;
  return take_arguments(parser, &list, node);
}

/* {a: E, b: E} */
static cst_status read_struct(cst__query_parser *parser, const cst__expr **out) {
  cst__expr *node;
  argument_list fields = {0};
  bool more = true;
  CST__TRY(new_expr(parser, CST__EXPR_STRUCT, &node));
  CST__TRY(next_token(parser));
  while (more) {
    const char *key;
    const cst__expr *value;
    CST__TRY(cst__query_read_name(parser, "the name of a field", &key));
    CST__TRY(cst__query_expect(&parser->lexer, ":"));
    CST__TRY(cst__query_read_expression(parser, &value));
    CST__TRY(add_argument(parser, &fields, key, value));
    CST__TRY(cst__query_accept(&parser->lexer, ",", &more));
  }
  CST__TRY(cst__query_expect(&parser->lexer, "}"));
  *out = node;
  return take_arguments(parser, &fields, node);
}

/* ---- primary and postfix ---- */

static cst_status read_named(cst__query_parser *parser, const cst__expr **out) {
  cst__query_lexer after = parser->lexer;
  if (after.kind == CST__QUERY_NAME) {
    CST__TRY(cst__query_lexer_next(&after));
    if (cst__query_sees(&after, "(") &&
        !cst__query_is_reserved(parser->lexer.token, parser->lexer.size)) {
      return read_call(parser, out);
    }
  }
  cst__expr *node;
  bool is_it = sees_word(parser, "it");
  CST__TRY(new_expr(parser, is_it ? CST__EXPR_IT : CST__EXPR_NAME, &node));
  *out = node;
  if (is_it || sees_word(parser, "record")) {
    node->kind = is_it ? CST__EXPR_IT : CST__EXPR_RECORD;
    return next_token(parser);
  }
  if (sees_word(parser, "not")) {
    return cst__query_unexpected(&parser->lexer, "a value", "put 'not ...' in parentheses");
  }
  return read_step(parser, false, "a value", &node->name);
}

static cst_status read_primary(cst__query_parser *parser, const cst__expr **out) {
  const cst__query_lexer *lexer = &parser->lexer;
  if (lexer->kind == CST__QUERY_NUMBER || lexer->kind == CST__QUERY_TEXT ||
      lexer->kind == CST__QUERY_BYTES || is_word_literal(parser)) {
    return read_plain_literal(parser, NULL, out);
  }
  if (sees(parser, "[")) {
    return read_list(parser, read_item, out);
  }
  if (sees(parser, "{")) {
    return read_struct(parser, out);
  }
  if (sees(parser, "(")) {
    CST__TRY(next_token(parser));
    CST__TRY(cst__query_read_expression(parser, out));
    return cst__query_expect(&parser->lexer, ")");
  }
  return read_named(parser, out);
}

/* E[...]: an index, a key, or a slice. */
static cst_status read_brackets(cst__query_parser *parser, const cst__expr *of,
                                const cst__expr **out) {
  const cst__expr *args[4] = {of, NULL, NULL, NULL};
  cst__expr *node;
  CST__TRY(new_expr(parser, CST__EXPR_AT, &node));
  CST__TRY(next_token(parser));
  for (size_t i = 1; i < 4; i++) {
    if (!sees(parser, ":") && (!sees(parser, "]") || i == 1)) {
      CST__TRY(cst__query_read_expression(parser, &args[i]));
    }
    bool more = false;
    if (i < 3) {
      CST__TRY(cst__query_accept(&parser->lexer, ":", &more));
    }
    if (!more) {
      break;
    }
    node->kind = CST__EXPR_SLICE;
  }
  CST__TRY(cst__query_expect(&parser->lexer, "]"));
  *out = node;
  return copy_args(parser, node, args, node->kind == CST__EXPR_SLICE ? 4 : 2);
}

static cst_status read_chain(cst__query_parser *parser, const cst__expr **out) {
  const cst__expr *expr;
  CST__TRY(read_primary(parser, &expr));
  while (sees(parser, ".") || sees(parser, "[")) {
    if (is_literal_kind(expr->kind)) {
      return cst__query_fail(&parser->lexer, CST_INVALID_ARGUMENT, NULL,
                             "a literal has no fields and no elements");
    }
    if (sees(parser, "[")) {
      CST__TRY(read_brackets(parser, expr, &expr));
      continue;
    }
    CST__TRY(next_token(parser));
    cst__expr *node;
    CST__TRY(new_expr(parser, CST__EXPR_STEP, &node));
    CST__TRY(read_step(parser, false, "a field", &node->name));
    CST__TRY(copy_args(parser, node, &expr, 1));
    expr = node;
  }
  parser->chain = expr;
  *out = expr;
  return CST_OK;
}

/* ---- operators ---- */

/* How tightly they hold: 1 or, 2 and, 3 not, 4 comparison, 5 sums, 6 products. */
enum { LEVEL_OR = 1, LEVEL_NOT = 3, LEVEL_COMPARISON = 4, LEVEL_SUM = 5 };

typedef struct binary {
  const char *token;
  int level;
  const char *name;
} binary;

static const binary binaries[] = {
    {"or", LEVEL_OR, "or"},
    {"and", 2, "and"},
    {"==", LEVEL_COMPARISON, "eq"},
    {"!=", LEVEL_COMPARISON, "ne"},
    {"<", LEVEL_COMPARISON, "lt"},
    {"<=", LEVEL_COMPARISON, "le"},
    {">", LEVEL_COMPARISON, "gt"},
    {">=", LEVEL_COMPARISON, "ge"},
    {"in", LEVEL_COMPARISON, "in"},
    {"not", LEVEL_COMPARISON, "in"},
    {"is", LEVEL_COMPARISON, "is_null"},
    {"+", LEVEL_SUM, "add"},
    {"-", LEVEL_SUM, "sub"},
    {"*", 6, "mul"},
    {"/", 6, "div"},
    {"//", 6, "floordiv"},
    {"%", 6, "mod"},
};

static const binary *find_binary(const cst__query_parser *parser) {
  for (size_t i = 0; i < sizeof binaries / sizeof binaries[0]; i++) {
    if (sees(parser, binaries[i].token) || sees_word(parser, binaries[i].token)) {
      return &binaries[i];
    }
  }
  return NULL;
}

static cst_status make_call(cst__query_parser *parser, cst__text_at at, const char *name,
                            const cst__expr *const args[], size_t count, const cst__expr **out) {
  cst__expr *node;
  CST__TRY(new_expr(parser, CST__EXPR_CALL, &node));
  node->at = at;
  node->name = name;
  CST__TRY(copy_args(parser, node, args, count));
  *out = node; /* args may lie there */
  return CST_OK;
}

static cst_status expect_word(cst__query_parser *parser, const char *word) {
  return sees_word(parser, word) ? next_token(parser)
                                 : cst__query_unexpected(&parser->lexer, word, NULL);
}

static cst_status read_level(cst__query_parser *parser, int level, const cst__expr **out);

/* The operator and what stands to its right; `left` becomes their call. */
static cst_status read_right(cst__query_parser *parser, const binary *op, const cst__expr **left) {
  cst__text_at at = cst__query_place(parser);
  bool is_not = strcmp(op->token, "not") == 0;
  const cst__expr *args[2] = {*left, NULL};
  CST__TRY(next_token(parser));
  if (strcmp(op->token, "is") == 0) {
    is_not = sees_word(parser, "not");
    if (is_not) {
      CST__TRY(next_token(parser));
    }
    CST__TRY(expect_word(parser, "null"));
    CST__TRY(make_call(parser, at, op->name, args, 1, left));
  } else {
    if (is_not) {
      CST__TRY(expect_word(parser, "in"));
    }
    CST__TRY(read_level(parser, op->level + 1, &args[1]));
    CST__TRY(make_call(parser, at, op->name, args, 2, left));
  }
  return is_not ? make_call(parser, at, "not", left, 1, left) : CST_OK;
}

static cst_status read_unary(cst__query_parser *parser, const cst__expr **out) {
  if (!sees(parser, "-")) {
    return read_chain(parser, out);
  }
  cst__text_at at = cst__query_place(parser);
  const cst__expr *value;
  CST__TRY(deepen(parser));
  CST__TRY(next_token(parser));
  if (parser->lexer.kind == CST__QUERY_NUMBER) {
    rise(parser);
    return read_plain_literal(parser, &at, out);
  }
  CST__TRY(read_unary(parser, &value));
  rise(parser);
  return make_negative(parser, at, value, out);
}

static cst_status read_not(cst__query_parser *parser, const cst__expr **out) {
  cst__text_at at = cst__query_place(parser);
  const cst__expr *value;
  CST__TRY(next_token(parser));
  CST__TRY(read_level(parser, LEVEL_NOT, &value));
  return make_call(parser, at, "not", &value, 1, out);
}

/* An expression of operators that hold at least as tightly as `level`. */
static cst_status read_level(cst__query_parser *parser, int level, const cst__expr **out) {
  CST__TRY(deepen(parser));
  bool is_not = level <= LEVEL_NOT && sees_word(parser, "not");
  CST__TRY(is_not ? read_not(parser, out) : read_unary(parser, out));
  bool is_compared = false;
  for (const binary *op; (op = find_binary(parser)) != NULL && op->level >= level;) {
    if (op->level == LEVEL_COMPARISON && is_compared) {
      return cst__query_fail(&parser->lexer, CST_INVALID_ARGUMENT,
                             "join comparisons by 'and', or use parentheses",
                             "comparisons do not chain");
    }
    is_compared = op->level == LEVEL_COMPARISON;
    CST__TRY(read_right(parser, op, out));
  }
  rise(parser);
  return CST_OK;
}

cst_status cst__query_read_expression(cst__query_parser *parser, const cst__expr **out) {
  CST__TRY(read_level(parser, LEVEL_OR, out));
  if (!sees_word(parser, "where")) {
    return CST_OK;
  }
  if (parser->chain != *out) {
    return cst__query_fail(&parser->lexer, CST_INVALID_ARGUMENT,
                           "put what comes before it in parentheses",
                           "'where' follows an expression of operators");
  }
  const cst__expr *args[2] = {*out, NULL};
  cst__expr *node;
  CST__TRY(new_expr(parser, CST__EXPR_WHERE, &node));
  CST__TRY(next_token(parser));
  CST__TRY(read_level(parser, LEVEL_OR, &args[1]));
  if (sees_word(parser, "where")) {
    return cst__query_fail(&parser->lexer, CST_INVALID_ARGUMENT,
                           "join conditions by 'and', or use parentheses",
                           "'where' follows another 'where'");
  }
  *out = node;
  return copy_args(parser, node, args, 2);
}
