/* What the files of the parser share: where it is, and the parts of statements.
 *
 * Recursive descent with one token of look-ahead. All functions begin at the first token of what
 * they read and end at the first one after it.
 */
#ifndef QUERY_TEXT_QUERY_PARSER_H
#define QUERY_TEXT_QUERY_PARSER_H

#include "query/text/query_lexer.h"

typedef struct cst__query_parser {
  cst__query_lexer lexer;
  cst__arena *arena;
  bool is_part; /* of a builder: places are those of no text */
  int depth;    /* of the recursion of expressions */
  int type_depth;
  const cst__expr *chain; /* the last expression of names, steps, indexes, calls or parentheses */
} cst__query_parser;

static inline cst__text_at cst__query_place(const cst__query_parser *parser) {
  return parser->is_part ? (cst__text_at){0, 0} : parser->lexer.place;
}

cst_status cst__query_read_expression(cst__query_parser *parser, const cst__expr **out);
/* A literal, with its sign, or a list of them. */
cst_status cst__query_read_literal(cst__query_parser *parser, const cst__expr **out);
cst_status cst__query_read_path(cst__query_parser *parser, const cst__expr **out);
cst_status cst__query_read_pattern(cst__query_parser *parser, const cst__expr **out);
cst_status cst__query_read_type(cst__query_parser *parser, cst__type_text *out);
/* A name that is no step of a path: of a parameter, an argument, a field. Goes on after it. */
cst_status cst__query_read_name(cst__query_parser *parser, const char *wanted, const char **name);

#endif /* QUERY_TEXT_QUERY_PARSER_H */
