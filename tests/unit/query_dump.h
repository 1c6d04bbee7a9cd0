/* The tree of a query as text, node by node, so that two trees can be compared and a tree be
 * written down: (add (name a) 1).
 */
#ifndef TESTS_UNIT_QUERY_DUMP_H
#define TESTS_UNIT_QUERY_DUMP_H

#include <inttypes.h>

#include "query/text/ast.h"

static inline void dump_bytes(cst_bytes bytes, cst__text *out) {
  for (size_t i = 0; i < bytes.size; i++) {
    uint8_t c = bytes.data[i];
    cst__text_printf(out, c < 0x20 || c > 0x7e ? "<%02x>" : "%c", c);
  }
}

static inline const char *dump_word(const cst__expr *expr) {
  switch (expr->kind) {
    case CST__EXPR_LIST:
      return "list";
    case CST__EXPR_STEP:
      return "step";
    case CST__EXPR_AT:
      return "at";
    case CST__EXPR_SLICE:
      return "slice";
    case CST__EXPR_WHERE:
      return "where";
    case CST__EXPR_STRUCT:
      return "struct";
    default:
      return expr->name;
  }
}

static inline void dump_expr(const cst__expr *expr, cst__text *out) {
  switch (expr == NULL ? CST__EXPR_NULL : expr->kind) {
    case CST__EXPR_NULL:
      cst__text_puts(out, expr == NULL ? "-" : "null");
      return;
    case CST__EXPR_BOOL:
      cst__text_puts(out, expr->integer == 1 ? "true" : "false");
      return;
    case CST__EXPR_INT:
      cst__text_printf(out, "%" PRId64, expr->integer);
      return;
    case CST__EXPR_FLOAT:
      cst__text_printf(out, "%.17gf", expr->number);
      return;
    case CST__EXPR_STRING:
      cst__text_puts(out, expr->is_bytes ? "b'" : "'");
      dump_bytes(expr->bytes, out);
      cst__text_puts(out, "'");
      return;
    case CST__EXPR_NAME:
      cst__text_printf(out, "%s", expr->name);
      return;
    case CST__EXPR_IT:
    case CST__EXPR_RECORD:
      cst__text_puts(out, expr->kind == CST__EXPR_IT ? "<it>" : "<record>");
      return;
    case CST__EXPR_TYPE:
      cst__text_printf(out, "<%s>", expr->name);
      return;
    default:
      cst__text_printf(out, "(%s", dump_word(expr));
  }
  for (size_t i = 0; i < expr->num_args; i++) {
    cst__text_puts(out, " ");
    if (expr->keys != NULL && expr->keys[i] != NULL) {
      cst__text_printf(out, "%s=", expr->keys[i]);
    }
    dump_expr(expr->args[i], out);
  }
  if (expr->kind == CST__EXPR_STEP) {
    cst__text_printf(out, " %s", expr->name);
  }
  cst__text_puts(out, ")");
}

static inline void dump_type(const cst__type_text *type, cst__text *out) {
  cst__text_printf(out, "%s%s%s|%s", type->field != NULL ? type->field : "",
                   type->field != NULL ? ":" : "", type->name, type->format);
  for (size_t i = 0; i < type->num_children; i++) {
    cst__text_puts(out, i == 0 ? "(" : " ");
    dump_type(&type->children[i], out);
  }
  cst__text_puts(out, type->num_children > 0 ? ")" : "");
}

static inline void dump_statement(const cst__statement *statement, cst__text *out) {
  static const char *const words[] = {"from", "param", "let",    "rows",
                                      "keep", "drop",  "rename", "output"};
  cst__text_puts(out, words[statement->kind]);
  const char *names[] = {statement->name, statement->message};
  for (size_t i = 0; i < 2; i++) {
    cst__text_printf(out, names[i] != NULL ? " '%s'" : "%s", names[i] != NULL ? names[i] : "");
  }
  for (size_t i = 0; i < statement->num_options; i++) {
    cst__text_printf(out, " %s='%s'", statement->options[i].key, statement->options[i].value);
  }
  if (statement->type != NULL) {
    cst__text_puts(out, " ");
    dump_type(statement->type, out);
  }
  for (size_t i = 0; i < statement->num_patterns; i++) {
    cst__text_puts(out, " ");
    dump_expr(statement->patterns[i], out);
  }
  if (statement->path != NULL) {
    cst__text_puts(out, " ");
    dump_expr(statement->path, out);
  }
  if (statement->value != NULL) {
    cst__text_puts(out, " ");
    dump_expr(statement->value, out);
  }
  cst__text_printf(out, statement->depth > 0 ? " depth %d\n" : "\n", statement->depth);
}

/* One line for each statement; cst__text_free. */
static inline cst__text dump_query(const cst_query *query) {
  cst__text out = {0};
  for (size_t i = 0; i < query->num_statements; i++) {
    dump_statement(&query->statements[i], &out);
  }
  cst__text_append(&out, "", 0);
  return out;
}

#endif /* TESTS_UNIT_QUERY_DUMP_H */
