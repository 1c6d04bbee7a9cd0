/* The tokens and literals of protobuf's text format.
 *
 * Source: "Text Format Language Specification" of protobuf; where its libraries read more than the
 * specification (hexadecimal escapes of one digit, "True", "t", a number as a bool), so do we.
 */
#ifndef PROTO_LEXER_H
#define PROTO_LEXER_H

#include "base/alloc.h"
#include "base/error.h"

typedef enum cst__token_kind {
  CST__TOKEN_END,
  CST__TOKEN_NAME,   /* [A-Za-z_][A-Za-z0-9_]* */
  CST__TOKEN_NUMBER, /* without its sign */
  CST__TOKEN_STRING, /* one quoted piece, with its quotes */
  CST__TOKEN_SYMBOL  /* one byte */
} cst__token_kind;

/* The current token, and where the next one is looked for. */
typedef struct cst__lexer {
  cst__token_kind kind;
  const char *token;
  size_t size;
  uint32_t line, column; /* of the token, 1-based, columns in bytes */
  const char *at;
  const char *end;
  const char *line_start;
  uint32_t next_line;
  cst_error *error;
  bool hides_tokens; /* errors do not show them: the text is a record */
} cst__lexer;

/* Reads the first token. A byte order mark is passed over. */
cst_status cst__lexer_init(cst__lexer *lexer, cst_bytes text, cst_error *error);
/* Goes on to the next token; comments and space are passed over. */
cst_status cst__lexer_next(cst__lexer *lexer);

/* True if the current token is this symbol. */
static inline bool cst__lexer_sees(const cst__lexer *lexer, char symbol) {
  return lexer->kind == CST__TOKEN_SYMBOL && *lexer->token == symbol;
}
/* Passes over the symbol if it is there. */
cst_status cst__lexer_accept(cst__lexer *lexer, char symbol, bool *accepted);
/* The symbol has to be there. */
cst_status cst__lexer_expect(cst__lexer *lexer, char symbol);

/* CST_CORRUPT with the token's place: "expected WANTED, found 'x'". */
cst_status cst__lexer_unexpected(const cst__lexer *lexer, const char *wanted);
/* CST_CORRUPT with the token's place. */
cst_status cst__lexer_fail(const cst__lexer *lexer, const char *hint, const char *fmt, ...)
    CST__PRINTF(3, 4);

/* An integer, decimal, octal or hexadecimal, with its sign. `hex_digits`: how many digits a
 * hexadecimal literal had, else 0; may be NULL. Not larger than 64 bits. */
cst_status cst__lexer_integer(cst__lexer *lexer, bool *negative, uint64_t *magnitude,
                              int *hex_digits);
/* A floating-point literal, "inf", "infinity" or "nan" with its sign. */
cst_status cst__lexer_double(cst__lexer *lexer, double *value);
/* Adjacent string literals, unescaped and put together. The bytes are borrowed from the text or lie
 * in the arena. */
cst_status cst__lexer_string(cst__lexer *lexer, cst__arena *arena, cst_bytes *bytes);

#endif /* PROTO_LEXER_H */
