/* Queries in their one usual spelling: what is read from it is the same tree. */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "query/text/ast.h"
#include "query/text/query_words.h"
#include "text/number.h"

/* ---- names and literals ---- */

static void print_quoted_name(const char *name, size_t size, cst__text *out) {
  cst__text_puts(out, "`");
  for (size_t i = 0; i < size; i++) {
    cst__text_append(out, name + i, 1);
    if (name[i] == '`') {
      cst__text_puts(out, "`");
    }
  }
  cst__text_puts(out, "`");
}

/* A name, in backticks where it needs them. */
static void print_name(const char *name, cst__text *out) {
  size_t size = strlen(name);
  if (cst__query_is_plain(name, size) && !cst__query_is_reserved(name, size)) {
    cst__text_append(out, name, size);
  } else {
    print_quoted_name(name, size, out);
  }
}

/* The step of a path after a dot, or of one that can be nothing else than a path. */
static void print_step(const char *name, bool is_pattern, cst__text *out) {
  bool is_star = strcmp(name, "*") == 0 || strcmp(name, "**") == 0;
  if ((is_pattern && is_star) || cst__query_is_extension(name, strlen(name))) {
    cst__text_puts(out, name);
  } else {
    print_name(name, out);
  }
}

/* Digits with a point or an exponent, which tell a float from an integer. */
static void print_float_literal(double value, cst__text *out) {
  char text[CST__NUMBER_SIZE];
  cst__text_append(out, text, cst__print_float64(text, value, CST__FLOAT_PYTHON));
}

static void print_string(cst_bytes bytes, bool is_bytes, cst__text *out) {
  cst__text_puts(out, is_bytes ? "b\"" : "\"");
  for (size_t i = 0; i < bytes.size; i++) {
    uint8_t c = bytes.data[i];
    if (c == '"' || c == '\\') {
      cst__text_puts(out, "\\");
    }
    if (c == '\n' || c == '\t') {
      cst__text_puts(out, c == '\n' ? "\\n" : "\\t");
    } else if (c < 0x20 || c == 0x7f || (is_bytes && c > 0x7f)) {
      cst__text_printf(out, "\\x%02x", c);
    } else {
      cst__text_append(out, &c, 1);
    }
  }
  cst__text_puts(out, "\"");
}

/* ---- operators ---- */

/* How tightly what is printed holds; operands that hold less have parentheses. */
enum {
  HOLD_WHERE,
  HOLD_OR,
  HOLD_AND,
  HOLD_NOT,
  HOLD_COMPARISON,
  HOLD_SUM,
  HOLD_PRODUCT,
  HOLD_UNARY,
  HOLD_ALL
};

typedef struct spelling {
  const char *name;
  size_t num_args;
  int hold;
  int left; /* of the operands */
  int right;
  const char *token;
} spelling;

static const spelling spellings[] = {
    {"or", 2, HOLD_OR, HOLD_OR, HOLD_AND, " or "},
    {"and", 2, HOLD_AND, HOLD_AND, HOLD_NOT, " and "},
    {"not", 1, HOLD_NOT, HOLD_ALL, HOLD_NOT, "not "},
    {"eq", 2, HOLD_COMPARISON, HOLD_SUM, HOLD_SUM, " == "},
    {"ne", 2, HOLD_COMPARISON, HOLD_SUM, HOLD_SUM, " != "},
    {"lt", 2, HOLD_COMPARISON, HOLD_SUM, HOLD_SUM, " < "},
    {"le", 2, HOLD_COMPARISON, HOLD_SUM, HOLD_SUM, " <= "},
    {"gt", 2, HOLD_COMPARISON, HOLD_SUM, HOLD_SUM, " > "},
    {"ge", 2, HOLD_COMPARISON, HOLD_SUM, HOLD_SUM, " >= "},
    {"in", 2, HOLD_COMPARISON, HOLD_SUM, HOLD_SUM, " in "},
    {"is_null", 1, HOLD_COMPARISON, HOLD_SUM, HOLD_ALL, " is null"},
    {"add", 2, HOLD_SUM, HOLD_SUM, HOLD_PRODUCT, " + "},
    {"sub", 2, HOLD_SUM, HOLD_SUM, HOLD_PRODUCT, " - "},
    {"mul", 2, HOLD_PRODUCT, HOLD_PRODUCT, HOLD_UNARY, " * "},
    {"div", 2, HOLD_PRODUCT, HOLD_PRODUCT, HOLD_UNARY, " / "},
    {"floordiv", 2, HOLD_PRODUCT, HOLD_PRODUCT, HOLD_UNARY, " // "},
    {"mod", 2, HOLD_PRODUCT, HOLD_PRODUCT, HOLD_UNARY, " % "},
    {"neg", 1, HOLD_UNARY, HOLD_ALL, HOLD_UNARY, "-"},
};

static const spelling *find_spelling(const cst__expr *expr) {
  for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++) {
    if (expr->kind == CST__EXPR_CALL && expr->keys == NULL &&
        expr->num_args == spellings[i].num_args && strcmp(expr->name, spellings[i].name) == 0) {
      return &spellings[i];
    }
  }
  return NULL;
}

/* `not` of these is one operator: "not in", "is not null". */
static const cst__expr *joined_with_not(const cst__expr *expr) {
  const spelling *own = find_spelling(expr);
  const spelling *below =
      own != NULL && strcmp(own->name, "not") == 0 ? find_spelling(expr->args[0]) : NULL;
  bool is_joined =
      below != NULL && (strcmp(below->name, "in") == 0 || strcmp(below->name, "is_null") == 0);
  return is_joined ? expr->args[0] : NULL;
}

static int hold_of(const cst__expr *expr) {
  const spelling *own = find_spelling(expr);
  switch (expr->kind) {
    case CST__EXPR_WHERE:
      return HOLD_WHERE;
    case CST__EXPR_INT:
      return expr->integer < 0 ? HOLD_UNARY : HOLD_ALL;
    case CST__EXPR_FLOAT:
      return signbit(expr->number) ? HOLD_UNARY : HOLD_ALL;
    case CST__EXPR_CALL:
      return joined_with_not(expr) != NULL ? HOLD_COMPARISON : own != NULL ? own->hold : HOLD_ALL;
    default:
      return HOLD_ALL;
  }
}

static void print_operand(const cst__expr *expr, int hold, cst__text *out) {
  bool is_loose = hold_of(expr) < hold;
  cst__text_puts(out, is_loose ? "(" : "");
  cst__query_print_expression(expr, out);
  cst__text_puts(out, is_loose ? ")" : "");
}

static void print_operator(const cst__expr *expr, const spelling *own, cst__text *out) {
  const cst__expr *joined = joined_with_not(expr);
  if (joined != NULL && joined->num_args == 1) {
    print_operand(joined->args[0], HOLD_SUM, out);
    cst__text_puts(out, " is not null");
  } else if (joined != NULL) {
    print_operand(joined->args[0], HOLD_SUM, out);
    cst__text_puts(out, " not in ");
    print_operand(joined->args[1], HOLD_SUM, out);
  } else if (own->num_args == 2) {
    print_operand(expr->args[0], own->left, out);
    cst__text_puts(out, own->token);
    print_operand(expr->args[1], own->right, out);
  } else if (own->token[0] == ' ') { /* after its operand */
    print_operand(expr->args[0], own->left, out);
    cst__text_puts(out, own->token);
  } else {
    cst__text_puts(out, own->token);
    print_operand(expr->args[0], own->right, out);
  }
}

/* ---- expressions ---- */

static void print_path(const cst__expr *path, bool is_pattern, cst__text *out) {
  if (path->kind == CST__EXPR_STEP) {
    print_path(path->args[0], is_pattern, out);
    cst__text_puts(out, ".");
  }
  print_step(path->name, is_pattern, out);
}

/* Where the parser reads a pattern. */
static bool is_pattern_argument(const cst__expr *call, size_t i) {
  return call->kind == CST__EXPR_CALL && i > 0 && (call->keys == NULL || call->keys[i] == NULL) &&
         (strcmp(call->name, "only") == 0 || strcmp(call->name, "without") == 0);
}

static void print_arguments(const cst__expr *expr, const char *between, cst__text *out) {
  for (size_t i = 0; i < expr->num_args; i++) {
    cst__text_puts(out, i > 0 ? ", " : "");
    if (expr->keys != NULL && expr->keys[i] != NULL) {
      print_name(expr->keys[i], out);
      cst__text_puts(out, between);
    }
    if (is_pattern_argument(expr, i)) {
      print_path(expr->args[i], true, out);
    } else {
      cst__query_print_expression(expr->args[i], out);
    }
  }
}

static void print_index(const cst__expr *expr, cst__text *out) {
  print_operand(expr->args[0], HOLD_ALL, out);
  cst__text_puts(out, "[");
  for (size_t i = 1; i < expr->num_args; i++) {
    cst__text_puts(out, i == 2 || (i == 3 && expr->args[3] != NULL) ? ":" : "");
    if (expr->args[i] != NULL) {
      cst__query_print_expression(expr->args[i], out);
    }
  }
  cst__text_puts(out, "]");
}

static void print_call(const cst__expr *expr, cst__text *out) {
  const spelling *own = find_spelling(expr);
  if (own != NULL) {
    print_operator(expr, own, out);
    return;
  }
  cst__text_puts(out, expr->name);
  cst__text_puts(out, "(");
  print_arguments(expr, "=", out);
  cst__text_puts(out, ")");
}

void cst__query_print_expression(const cst__expr *expr, cst__text *out) {
  switch (expr->kind) {
    case CST__EXPR_NULL:
      cst__text_puts(out, "null");
      break;
    case CST__EXPR_BOOL:
      cst__text_puts(out, expr->integer != 0 ? "true" : "false");
      break;
    case CST__EXPR_INT:
      cst__text_printf(out, "%lld", (long long)expr->integer);
      break;
    case CST__EXPR_FLOAT:
      print_float_literal(expr->number, out);
      break;
    case CST__EXPR_STRING:
      print_string(expr->bytes, expr->is_bytes, out);
      break;
    case CST__EXPR_LIST:
      cst__text_puts(out, "[");
      print_arguments(expr, "", out);
      cst__text_puts(out, "]");
      break;
    case CST__EXPR_NAME:
      print_name(expr->name, out);
      break;
    case CST__EXPR_IT:
      cst__text_puts(out, "it");
      break;
    case CST__EXPR_RECORD:
      cst__text_puts(out, "record");
      break;
    case CST__EXPR_STEP:
      print_operand(expr->args[0], HOLD_ALL, out);
      cst__text_puts(out, ".");
      print_step(expr->name, false, out);
      break;
    case CST__EXPR_AT:
    case CST__EXPR_SLICE:
      print_index(expr, out);
      break;
    case CST__EXPR_WHERE:
      print_operand(expr->args[0], HOLD_ALL, out);
      cst__text_puts(out, " where ");
      print_operand(expr->args[1], HOLD_OR, out);
      break;
    case CST__EXPR_CALL:
      print_call(expr, out);
      break;
    case CST__EXPR_STRUCT:
      cst__text_puts(out, "{");
      print_arguments(expr, ": ", out);
      cst__text_puts(out, "}");
      break;
    case CST__EXPR_TYPE:
      cst__text_puts(out, expr->name);
      break;
  }
}

/* ---- types ---- */

void cst__query_print_type(const cst__type_text *type, cst__text *out) {
  bool is_list = strcmp(type->format, "+L") == 0;
  bool is_struct = strcmp(type->format, "+s") == 0;
  if (!is_list && !is_struct) {
    cst_bytes format = {(const uint8_t *)type->format, strlen(type->format)};
    if (type->name[0] != '\0') {
      cst__text_puts(out, type->name);
    } else {
      print_string(format, false, out);
    }
    return;
  }
  cst__text_puts(out, is_list ? "[" : "{");
  for (size_t i = 0; i < type->num_children; i++) {
    cst__text_puts(out, i > 0 ? ", " : "");
    if (is_struct) {
      print_name(type->children[i].field, out);
      cst__text_puts(out, ": ");
    }
    cst__query_print_type(&type->children[i], out);
  }
  cst__text_puts(out, is_list ? "]" : "}");
}

/* ---- statements ---- */

/* The full name of a message. Its first name must not look as if the next statement began. */
static void print_message_name(const char *name, cst__text *out) {
  for (bool is_first = true;; is_first = false) {
    size_t size = strcspn(name, ".");
    bool is_word = is_first && (cst__query_is_keyword(name, size) ||
                                (size == 4 && memcmp(name, "with", 4) == 0));
    if (is_word || cst__query_is_reserved(name, size)) {
      print_quoted_name(name, size, out);
    } else {
      cst__text_append(out, name, size);
    }
    if (name[size] == '\0') {
      return;
    }
    cst__text_puts(out, ".");
    name += size + 1;
  }
}

/* True for what is read as a number. */
static bool is_number_text(const char *text) {
  size_t digits = strspn(text + (*text == '-'), "0123456789");
  const char *first = text + (*text == '-');
  return digits > 0 && first[digits] == '\0' && (digits == 1 || first[0] != '0');
}

static void print_from(const cst__statement *statement, cst__text *out) {
  cst__text_puts(out, statement->name);
  if (statement->message != NULL) {
    cst__text_puts(out, " ");
    print_message_name(statement->message, out);
  }
  if (statement->type != NULL) {
    cst__text_puts(out, " ");
    cst__query_print_type(statement->type, out);
  }
  for (size_t i = 0; i < statement->num_options; i++) {
    const char *value = statement->options[i].value;
    size_t size = strlen(value);
    cst__text_puts(out, i == 0 ? " with " : ", ");
    print_name(statement->options[i].key, out);
    cst__text_puts(out, " = ");
    if (cst__query_is_plain(value, size) || is_number_text(value)) {
      cst__text_puts(out, value);
    } else {
      print_string((cst_bytes){(const uint8_t *)value, size}, false, out);
    }
  }
}

static void print_patterns(const cst__statement *statement, cst__text *out) {
  for (size_t i = 0; i < statement->num_patterns; i++) {
    cst__text_puts(out, i > 0 ? ", " : "");
    print_path(statement->patterns[i], true, out);
  }
  if (statement->depth > 0) {
    cst__text_printf(out, " depth %d", statement->depth);
  }
}

/* PATH = VALUE, NAME = VALUE, NAME: TYPE = VALUE, PATH as NAME: what there is of it. */
static void print_let(const cst__statement *statement, cst__text *out) {
  if (statement->path != NULL) {
    print_path(statement->path, false, out);
  }
  cst__text_puts(out, statement->kind == CST__STATEMENT_RENAME ? " as " : "");
  if (statement->name != NULL) {
    print_name(statement->name, out);
  }
  if (statement->type != NULL) {
    cst__text_puts(out, ": ");
    cst__query_print_type(statement->type, out);
  }
  if (statement->value != NULL) {
    cst__text_puts(out, " = ");
    cst__query_print_expression(statement->value, out);
  }
}

static void print_statement(const cst__statement *statement, cst__text *out) {
  static const char *const words[] = {"from", "param", "let",    "rows",
                                      "keep", "drop",  "rename", "output"};
  cst__text_puts(out, words[statement->kind]);
  cst__text_puts(out, " ");
  switch (statement->kind) {
    case CST__STATEMENT_FROM:
      print_from(statement, out);
      break;
    case CST__STATEMENT_KEEP:
    case CST__STATEMENT_DROP:
      print_patterns(statement, out);
      break;
    case CST__STATEMENT_PARAM:
    case CST__STATEMENT_LET:
    case CST__STATEMENT_ROWS:
    case CST__STATEMENT_RENAME:
    case CST__STATEMENT_OUTPUT:
      print_let(statement, out);
      break;
  }
  cst__text_puts(out, "\n");
}

void cst__query_print(const cst_query *query, cst__text *out) {
  for (size_t i = 0; i < query->num_statements; i++) {
    print_statement(&query->statements[i], out);
  }
}
