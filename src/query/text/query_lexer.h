/* The tokens of a query.
 *
 * White space and comments (# to the end of the line) stand between tokens and mean nothing else.
 */
#ifndef QUERY_TEXT_QUERY_LEXER_H
#define QUERY_TEXT_QUERY_LEXER_H

#include "base/alloc.h"
#include "base/error.h"
#include "query/text/ast.h"

typedef enum cst__query_token {
  CST__QUERY_END,
  CST__QUERY_NAME,   /* a plain name or a word */
  CST__QUERY_QUOTED, /* a name in backticks */
  CST__QUERY_NUMBER, /* 12, 1.5, 1e3: without a sign */
  CST__QUERY_TEXT,   /* "text" */
  CST__QUERY_BYTES,  /* b"bytes" */
  CST__QUERY_SYMBOL  /* one of ( ) [ ] { } , : . = == != < <= > >= + - * ** / // % */
} cst__query_token;

/* The current token, and where the next one is looked for. A copy can be gone back to. */
typedef struct cst__query_lexer {
  cst__query_token kind;
  const char *token;
  size_t size;
  cst__text_at place; /* of the token; columns in bytes */
  cst_bytes last;     /* the token before it */
  const char *at;
  const char *end;
  const char *line_start;
  uint32_t next_line;
  cst_error *error;
} cst__query_lexer;

/* Reads the first token. A byte order mark is passed over. CST_LIMIT for a text that is too large;
 * it has to be UTF-8. */
cst_status cst__query_lexer_init(cst__query_lexer *lexer, cst_bytes text, cst_error *error);
cst_status cst__query_lexer_next(cst__query_lexer *lexer);

/* True if the current token is this symbol. */
bool cst__query_sees(const cst__query_lexer *lexer, const char *symbol);
/* True if it is this word, without backticks. */
bool cst__query_sees_word(const cst__query_lexer *lexer, const char *word);
/* Passes over the symbol if it is there. */
cst_status cst__query_accept(cst__query_lexer *lexer, const char *symbol, bool *accepted);
/* The symbol has to be there. */
cst_status cst__query_expect(cst__query_lexer *lexer, const char *symbol);

/* Failures with the place of the token. */
cst_status cst__query_fail(const cst__query_lexer *lexer, cst_status code, const char *hint,
                           const char *fmt, ...) CST__PRINTF(4, 5);
/* "expected WANTED, found 'x'". */
cst_status cst__query_unexpected(const cst__query_lexer *lexer, const char *wanted,
                                 const char *hint);

#if defined(__clang_analyzer__)
/* The analyzer sees one file at a time and has to be told that a failure is never CST_OK. */
#define cst__query_fail(lexer, code, ...) \
  ((void)(cst__query_fail)(lexer, code, __VA_ARGS__), (code))
#define cst__query_unexpected(lexer, wanted, hint) \
  ((void)(cst__query_unexpected)(lexer, wanted, hint), CST_INVALID_ARGUMENT)
#endif

/* The values of tokens. None of them goes on to the next token. */
/* A name, in backticks or not; a reserved word is no name. `wanted` is said in the error. */
cst_status cst__query_name(const cst__query_lexer *lexer, const char *wanted, cst__arena *arena,
                           const char **name);
/* "(shop.Event)", of which the current token is the parenthesis: reads to the other one, which
 * becomes the current token. */
cst_status cst__query_extension(cst__query_lexer *lexer, cst__arena *arena, const char **name);
/* Sets kind and value of `out`: INT or FLOAT. */
cst_status cst__query_number(const cst__query_lexer *lexer, bool is_negative, cst__expr *out);
/* Sets kind and value of `out`: STRING. */
cst_status cst__query_string(const cst__query_lexer *lexer, cst__arena *arena, cst__expr *out);

#endif /* QUERY_TEXT_QUERY_LEXER_H */
