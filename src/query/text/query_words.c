/* The words of the language. */
#include "query/text/query_words.h"

#include <string.h>

static const char *const reserved_words[] = {"and",  "or",    "not", "in",     "is",   "null",
                                             "true", "false", "it",  "record", "where"};
static const char *const statement_words[] = {"from", "param", "let",    "rows",
                                              "keep", "drop",  "rename", "output"};
enum {
  NUM_RESERVED = sizeof reserved_words / sizeof reserved_words[0],
  NUM_STATEMENT_WORDS = sizeof statement_words / sizeof statement_words[0]
};

static bool is_word_of(const char *const *words, size_t count, const char *word, size_t size) {
  for (size_t i = 0; i < count; i++) {
    if (strlen(words[i]) == size && memcmp(words[i], word, size) == 0) {
      return true;
    }
  }
  return false;
}

bool cst__query_is_reserved(const char *word, size_t size) {
  return is_word_of(reserved_words, NUM_RESERVED, word, size);
}

bool cst__query_is_keyword(const char *word, size_t size) {
  return is_word_of(statement_words, NUM_STATEMENT_WORDS, word, size);
}

cst__name_list cst__query_keywords(void) {
  return cst__name_list_of(statement_words, NUM_STATEMENT_WORDS);
}

bool cst__query_is_plain(const char *name, size_t size) {
  if (size == 0 || !cst__query_is_letter(name[0])) {
    return false;
  }
  for (size_t i = 1; i < size; i++) {
    if (!cst__query_is_letter(name[i]) && !cst__query_is_digit(name[i])) {
      return false;
    }
  }
  return true;
}

bool cst__query_is_extension(const char *name, size_t size) {
  if (size < 3 || name[0] != '(' || name[size - 1] != ')') {
    return false;
  }
  for (size_t i = 1; i + 1 < size; i++) {
    char c = name[i];
    if (!cst__query_is_letter(c) && !cst__query_is_digit(c) && c != '-' && c != '.' && c != '/') {
      return false;
    }
  }
  return true;
}
