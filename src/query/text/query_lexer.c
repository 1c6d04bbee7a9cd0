/* The tokens of a query, and what is said where one is not what was expected. */
#include "query/text/query_lexer.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "query/text/query_words.h"

/* ---- errors ---- */

cst_status(cst__query_fail)(const cst__query_lexer *lexer, cst_status code, const char *hint,
                            const char *fmt, ...) {
  char message[sizeof lexer->error->message];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(message, sizeof message, fmt, args);
  va_end(args);
  cst_status status = cst__fail(lexer->error, code, hint, "%s", message);
  cst__error_add_position(lexer->error, lexer->place.line, lexer->place.column);
  return status;
}

/* What people write who know other languages. */
static const char *habit_hint(const cst__query_lexer *lexer) {
  static const struct {
    const char *written;
    const char *hint;
  } habits[] = {{"=", "equality is =="},
                {"&", "write 'and'"},
                {"|", "write 'or'"},
                {"!", "write 'not', or != for not equal"},
                {"'", "write text in double quotes"},
                {"**", "write pow(x, y)"},
                {";", "a statement ends where the next one begins"},
                {"?", "write if(condition, this, that)"}};
  for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++) {
    if (lexer->kind == CST__QUERY_SYMBOL && strlen(habits[i].written) == lexer->size &&
        memcmp(habits[i].written, lexer->token, lexer->size) == 0) {
      return habits[i].hint;
    }
  }
  return NULL;
}

cst_status(cst__query_unexpected)(const cst__query_lexer *lexer, const char *wanted,
                                  const char *hint) {
  if (lexer->kind == CST__QUERY_END) {
    return cst__query_fail(lexer, CST_INVALID_ARGUMENT, hint,
                           "expected %s, found the end of the text", wanted);
  }
  char shown[48];
  cst__escape(shown, sizeof shown, lexer->token, lexer->size);
  return cst__query_fail(lexer, CST_INVALID_ARGUMENT, hint != NULL ? hint : habit_hint(lexer),
                         "expected %s, found %s", wanted, shown);
}

/* ---- tokens ---- */

static void skip_query_space(cst__query_lexer *lexer) {
  while (lexer->at < lexer->end) {
    char c = *lexer->at;
    if (c == '#') {
      const char *newline = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
      lexer->at = newline != NULL ? newline : lexer->end;
    } else if (c == '\n') {
      lexer->line_start = ++lexer->at;
      lexer->next_line++;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      lexer->at++;
    } else {
      return;
    }
  }
}

static const char *past_digits(const char *at, const char *end) {
  while (at < end && cst__query_is_digit(*at)) {
    at++;
  }
  return at;
}

static const char *past_name(const char *at, const char *end) {
  while (at < end && (cst__query_is_letter(*at) || cst__query_is_digit(*at))) {
    at++;
  }
  return at;
}

/* digits [. digits] [e [sign] digits]. What follows must not belong to a name. */
static const char *past_number(const char *at, const char *end) {
  at = past_digits(at, end);
  if (end - at > 1 && at[0] == '.' && cst__query_is_digit(at[1])) {
    at = past_digits(at + 1, end);
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    const char *digits = at + 1;
    digits += digits < end && (*digits == '+' || *digits == '-');
    at = digits < end && cst__query_is_digit(*digits) ? past_digits(digits, end) : at;
  }
  return at;
}

/* After the closing quote, or NULL. A backslash takes the next character along; a backtick that is
 * doubled closes nothing. */
static const char *past_quote(const char *at, const char *end) {
  char quote = *at++;
  while (at < end && *at != '\n') {
    if (*at == '\\' && quote == '"' && end - at > 1 && at[1] != '\n') {
      at += 2;
    } else if (*at == '`' && quote == '`' && end - at > 1 && at[1] == '`') {
      at += 2;
    } else if (*at++ == quote) {
      return at;
    }
  }
  return NULL;
}

static const char *past_symbol(const char *at, const char *end) {
  static const char doubles[] = "== != <= >= ** //";
  if (end - at > 1) {
    for (const char *pair = doubles; *pair != '\0'; pair += pair[2] != '\0' ? 3 : 2) {
      if (memcmp(pair, at, 2) == 0) {
        return at + 2;
      }
    }
  }
  size_t size = cst__utf8_char_size((const uint8_t *)at, (size_t)(end - at));
  return at + (size > 0 ? size : 1);
}

static cst_status take_quoted(cst__query_lexer *lexer, const char *quote) {
  const char *past = past_quote(quote, lexer->end);
  if (past == NULL) {
    bool is_name = *quote == '`';
    return cst__query_fail(
        lexer, CST_INVALID_ARGUMENT,
        is_name ? "close the name on the line on which it begins; a backtick in "
                  "a name is doubled"
                : "close the text on the line on which it begins; write \\n for "
                  "the end of a line",
        is_name ? "a name has no closing backtick" : "a text has no closing quote");
  }
  lexer->at = past;
  return CST_OK;
}

static cst_status take_number_token(cst__query_lexer *lexer) {
  const char *past = past_number(lexer->token, lexer->end);
  lexer->at = past;
  if (past < lexer->end && cst__query_is_letter(*past)) {
    return cst__query_fail(lexer, CST_INVALID_ARGUMENT, NULL, "a number ends in letters");
  }
  if (lexer->token[0] == '0' && past - lexer->token > 1 && cst__query_is_digit(lexer->token[1])) {
    return cst__query_fail(lexer, CST_INVALID_ARGUMENT, "numbers are decimal",
                           "a number begins with 0");
  }
  return CST_OK;
}

static cst_status take_token(cst__query_lexer *lexer) {
  const char *at = lexer->token;
  const char *end = lexer->end;
  if (at == end) {
    lexer->kind = CST__QUERY_END;
    return CST_OK;
  }
  if (*at == '"' || *at == '`') {
    lexer->kind = *at == '"' ? CST__QUERY_TEXT : CST__QUERY_QUOTED;
    return take_quoted(lexer, at);
  }
  if (*at == 'b' && end - at > 1 && at[1] == '"') {
    lexer->kind = CST__QUERY_BYTES;
    return take_quoted(lexer, at + 1);
  }
  if (cst__query_is_digit(*at)) {
    lexer->kind = CST__QUERY_NUMBER;
    return take_number_token(lexer);
  }
  lexer->kind = cst__query_is_letter(*at) ? CST__QUERY_NAME : CST__QUERY_SYMBOL;
  lexer->at = lexer->kind == CST__QUERY_NAME ? past_name(at, end) : past_symbol(at, end);
  return CST_OK;
}

cst_status cst__query_lexer_next(cst__query_lexer *lexer) {
  skip_query_space(lexer);
  lexer->last = (cst_bytes){(const uint8_t *)lexer->token, lexer->size};
  lexer->token = lexer->at;
  lexer->size = 0;
  lexer->place = (cst__text_at){lexer->next_line, (uint32_t)(lexer->at - lexer->line_start) + 1};
  CST__TRY(take_token(lexer));
  lexer->size = (size_t)(lexer->at - lexer->token);
  return CST_OK;
}

/* Puts the lexer's place at a byte of the text. */
static void place_at_byte(cst__query_lexer *lexer, const char *byte) {
  for (const char *at = lexer->line_start; at < byte; at++) {
    if (*at == '\n') {
      lexer->line_start = at + 1;
      lexer->next_line++;
    }
  }
  lexer->place = (cst__text_at){lexer->next_line, (uint32_t)(byte - lexer->line_start) + 1};
}

cst_status cst__query_lexer_init(cst__query_lexer *lexer, cst_bytes text, cst_error *error) {
  const char *start = text.data != NULL ? (const char *)text.data : "";
  *lexer = (cst__query_lexer){.at = start,
                              .end = start + text.size,
                              .line_start = start,
                              .next_line = 1,
                              .place = {1, 1},
                              .error = error};
  if (text.size > CST__QUERY_MAX_SIZE) {
    return cst__fail(error, CST_LIMIT, NULL, "a query has %zu bytes, more than %d", text.size,
                     (int)CST__QUERY_MAX_SIZE);
  }
  if (text.size >= 8 && memcmp(start, "CSTVIEW\n", 8) == 0) {
    return cst__query_fail(lexer, CST_INVALID_ARGUMENT,
                           "open it as a view: --view, cst.View, cst_view_open",
                           "a saved view, expected the text of a query");
  }
  size_t valid = cst__utf8_valid_prefix((const uint8_t *)start, text.size);
  if (valid < text.size) {
    place_at_byte(lexer, start + valid);
    return cst__query_fail(lexer, CST_INVALID_ARGUMENT, "save the query as UTF-8",
                           "the text of a query is not UTF-8");
  }
  const size_t mark = cst__utf8_mark_size(start, text.size);
  lexer->at += mark;
  lexer->line_start += mark;
  return cst__query_lexer_next(lexer);
}

bool cst__query_sees(const cst__query_lexer *lexer, const char *symbol) {
  return lexer->kind == CST__QUERY_SYMBOL && strlen(symbol) == lexer->size &&
         memcmp(symbol, lexer->token, lexer->size) == 0;
}

bool cst__query_sees_word(const cst__query_lexer *lexer, const char *word) {
  return lexer->kind == CST__QUERY_NAME && strlen(word) == lexer->size &&
         memcmp(word, lexer->token, lexer->size) == 0;
}

cst_status cst__query_accept(cst__query_lexer *lexer, const char *symbol, bool *accepted) {
  *accepted = cst__query_sees(lexer, symbol);
  return *accepted ? cst__query_lexer_next(lexer) : CST_OK;
}

cst_status cst__query_expect(cst__query_lexer *lexer, const char *symbol) {
  return cst__query_sees(lexer, symbol) ? cst__query_lexer_next(lexer)
                                        : cst__query_unexpected(lexer, symbol, NULL);
}
