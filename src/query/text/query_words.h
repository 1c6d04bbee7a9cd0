/* The words of the language: which names need backticks, and which words begin statements. */
#ifndef QUERY_TEXT_QUERY_WORDS_H
#define QUERY_TEXT_QUERY_WORDS_H

#include "base/names.h"

static inline bool cst__query_is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static inline bool cst__query_is_digit(char c) { return c >= '0' && c <= '9'; }

/* [A-Za-z_][A-Za-z0-9_]* */
bool cst__query_is_plain(const char *name, size_t size);
/* Words that mean something inside of expressions: "and", "it", ... */
bool cst__query_is_reserved(const char *word, size_t size);
/* Words that begin a statement: "let", ... */
bool cst__query_is_keyword(const char *word, size_t size);
/* For near names. */
cst__name_list cst__query_keywords(void);

/* Whether it is a step "(shop.extra)", as an extension or a cast of an Any is written. */
bool cst__query_is_extension(const char *name, size_t size);

#endif /* QUERY_TEXT_QUERY_WORDS_H */
