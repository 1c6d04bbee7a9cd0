/* Tokens and literals of protobuf's text format. */
#include "proto/lexer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "text/number.h"

static bool is_text_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_lexer_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

static int hex_value(char c) {
  if (is_text_digit(c)) {
    return c - '0';
  }
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

cst_status cst__lexer_fail(const cst__lexer *lexer, const char *hint, const char *fmt, ...) {
  char message[sizeof lexer->error->message];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(message, sizeof message, fmt, args);
  va_end(args);
  cst_status status = cst__fail(lexer->error, CST_CORRUPT, hint, "%s", message);
  cst__error_add_position(lexer->error, lexer->line, lexer->column);
  return status;
}

cst_status cst__lexer_unexpected(const cst__lexer *lexer, const char *wanted) {
  int shown = lexer->size < 40 ? (int)lexer->size : 40;
  if (lexer->kind == CST__TOKEN_END) {
    return cst__lexer_fail(lexer, NULL, "expected %s, found the end of the text", wanted);
  }
  if (lexer->hides_tokens) {
    return cst__lexer_fail(lexer, NULL, "expected %s, found something else", wanted);
  }
  return cst__lexer_fail(lexer, NULL, "expected %s, found '%.*s'%s", wanted, shown, lexer->token,
                         lexer->size > 40 ? "..." : "");
}

static void skip_space(cst__lexer *lexer) {
  while (lexer->at < lexer->end) {
    if (*lexer->at == '#') {
      const char *newline = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
      lexer->at = newline != NULL ? newline : lexer->end;
    } else if (is_lexer_space(*lexer->at)) {
      if (*lexer->at++ == '\n') {
        lexer->line_start = lexer->at;
        lexer->next_line++;
      }
    } else {
      return;
    }
  }
}

static const char *end_of_name(const char *at, const char *end) {
  while (at < end && (is_letter(*at) || is_text_digit(*at))) {
    at++;
  }
  return at;
}

/* Letters are taken along: what is wrong with them is said by whoever wants a number. */
static const char *end_of_number(const char *at, const char *end) {
  bool is_hex = end - at > 1 && at[0] == '0' && (at[1] | 0x20) == 'x';
  while (at < end) {
    bool is_sign = (*at == '+' || *at == '-') && !is_hex && (at[-1] | 0x20) == 'e';
    if (!is_letter(*at) && !is_text_digit(*at) && *at != '.' && !is_sign) {
      break;
    }
    at++;
  }
  return at;
}

/* After the closing quote, or NULL. */
static const char *end_of_string(const char *at, const char *end) {
  char quote = *at++;
  while (at < end && *at != '\n' && *at != quote) {
    at += *at == '\\' && end - at > 1 && at[1] != '\n' ? 2 : 1;
  }
  return at < end && *at == quote ? at + 1 : NULL;
}

cst_status cst__lexer_next(cst__lexer *lexer) {
  skip_space(lexer);
  const char *at = lexer->at;
  const char *end = lexer->end;
  lexer->token = at;
  lexer->line = lexer->next_line;
  lexer->column = (uint32_t)(at - lexer->line_start) + 1;
  lexer->size = 0;
  if (at == end) {
    lexer->kind = CST__TOKEN_END;
    return CST_OK;
  }
  const char *past = at + 1;
  if (is_letter(*at)) {
    lexer->kind = CST__TOKEN_NAME;
    past = end_of_name(at, end);
  } else if (is_text_digit(*at) || (*at == '.' && past < end && is_text_digit(*past))) {
    lexer->kind = CST__TOKEN_NUMBER;
    past = end_of_number(at, end);
  } else if (*at == '"' || *at == '\'') {
    lexer->kind = CST__TOKEN_STRING;
    past = end_of_string(at, end);
    if (past == NULL) {
      return cst__lexer_fail(lexer, "close the string on the line on which it begins",
                             "a string has no closing quote");
    }
  } else {
    lexer->kind = CST__TOKEN_SYMBOL;
  }
  lexer->size = (size_t)(past - at);
  lexer->at = past;
  return CST_OK;
}

cst_status cst__lexer_init(cst__lexer *lexer, cst_bytes text, cst_error *error) {
  const char *start = text.data != NULL ? (const char *)text.data : "";
  *lexer = (cst__lexer){
      .at = start, .end = start + text.size, .line_start = start, .next_line = 1, .error = error};
  const size_t mark = cst__utf8_mark_size(start, text.size);
  lexer->at += mark;
  lexer->line_start += mark;
  return cst__lexer_next(lexer);
}

cst_status cst__lexer_accept(cst__lexer *lexer, char symbol, bool *accepted) {
  *accepted = cst__lexer_sees(lexer, symbol);
  return *accepted ? cst__lexer_next(lexer) : CST_OK;
}

cst_status cst__lexer_expect(cst__lexer *lexer, char symbol) {
  if (!cst__lexer_sees(lexer, symbol)) {
    char wanted[4] = {'\'', symbol, '\'', '\0'};
    return cst__lexer_unexpected(lexer, wanted);
  }
  return cst__lexer_next(lexer);
}

/* ---- numbers ---- */

static cst_status accept_sign(cst__lexer *lexer, bool *negative) {
  return cst__lexer_accept(lexer, '-', negative);
}

/* False if a byte is not a digit of the base. *overflow if the number has more than 64 bits. */
static bool parse_digits(const char *at, size_t size, unsigned base, uint64_t *value,
                         bool *overflow) {
  *value = 0;
  *overflow = false;
  for (size_t i = 0; i < size; i++) {
    int digit = hex_value(at[i]);
    if (digit < 0 || (unsigned)digit >= base) {
      return false;
    }
    *overflow |= __builtin_mul_overflow(*value, (uint64_t)base, value);
    *overflow |= __builtin_add_overflow(*value, (uint64_t)digit, value);
  }
  return size > 0;
}

cst_status cst__lexer_integer(cst__lexer *lexer, bool *negative, uint64_t *magnitude,
                              int *hex_digits) {
  CST__TRY(accept_sign(lexer, negative));
  if (lexer->kind != CST__TOKEN_NUMBER) {
    return cst__lexer_unexpected(lexer, "an integer");
  }
  const char *at = lexer->token;
  size_t size = lexer->size;
  bool is_hex = size > 1 && at[0] == '0' && (at[1] | 0x20) == 'x';
  unsigned base = is_hex ? 16 : at[0] == '0' ? 8 : 10;
  size_t skip = is_hex ? 2 : 0;
  bool overflow;
  if (!parse_digits(at + skip, size - skip, base, magnitude, &overflow)) {
    return cst__lexer_unexpected(lexer, "an integer");
  }
  if (overflow) {
    return cst__lexer_fail(lexer, NULL, "an integer has more than 64 bits");
  }
  if (hex_digits != NULL) {
    *hex_digits = is_hex && size < 100 ? (int)(size - 2) : 0;
  }
  return cst__lexer_next(lexer);
}

/* digits [. digits] [e [sign] digits] [f] */
static bool is_decimal_float(const char *at, size_t size) {
  const char *end = at + size;
  const char *start = at;
  while (at < end && is_text_digit(*at)) at++;
  bool has_digits = at > start;
  if (at < end && *at == '.') {
    const char *fraction = ++at;
    while (at < end && is_text_digit(*at)) at++;
    has_digits = has_digits || at > fraction;
  }
  if (at < end && (*at | 0x20) == 'e') {
    at++;
    at += at < end && (*at == '+' || *at == '-');
    const char *exponent = at;
    while (at < end && is_text_digit(*at)) at++;
    has_digits = has_digits && at > exponent;
  }
  at += at < end && (*at | 0x20) == 'f';
  return has_digits && at == end;
}

/* True if the token is this word of small letters, in any case. */
static bool is_text_word(const cst__lexer *lexer, const char *word) {
  if (lexer->kind != CST__TOKEN_NAME || lexer->size != strlen(word)) {
    return false;
  }
  for (size_t i = 0; i < lexer->size; i++) {
    if ((lexer->token[i] | 0x20) != word[i]) {
      return false;
    }
  }
  return true;
}

/* "07": no float, and "07.5" neither. */
static bool is_octal(const char *at, size_t size) {
  return size > 1 && at[0] == '0' && is_text_digit(at[1]);
}

cst_status cst__lexer_double(cst__lexer *lexer, double *value) {
  bool negative;
  CST__TRY(accept_sign(lexer, &negative));
  if (is_text_word(lexer, "inf") || is_text_word(lexer, "infinity")) {
    *value = (double)INFINITY;
  } else if (is_text_word(lexer, "nan")) {
    *value = (double)NAN;
  } else if (lexer->kind != CST__TOKEN_NUMBER || !is_decimal_float(lexer->token, lexer->size) ||
             is_octal(lexer->token, lexer->size)) {
    return cst__lexer_unexpected(lexer, "a number");
  } else {
    size_t size = lexer->size - ((lexer->token[lexer->size - 1] | 0x20) == 'f');
    *value = (double)INFINITY; /* what a number beyond float64 is in protobuf's parsers */
    (void)cst__parse_float64(lexer->token, size, value);
  }
  *value = negative ? -*value : *value;
  return cst__lexer_next(lexer);
}

/* ---- strings ---- */

/* Up to `most` digits of the base after *at; how many there were. */
static int lex_digits(const char **at, const char *end, int most, int base, uint32_t *value) {
  int count = 0;
  *value = 0;
  while (count < most && *at < end && hex_value(**at) >= 0 && hex_value(**at) < base) {
    *value = *value * (uint32_t)base + (uint32_t)hex_value(**at);
    (*at)++;
    count++;
  }
  return count;
}

static void put_utf8(cst__text *out, uint32_t c) {
  char bytes[4];
  size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = size; i-- > 1; c >>= 6) {
    bytes[i] = (char)(0x80 | (c & 0x3f));
  }
  bytes[0] = (char)(lead[size] | c);
  cst__text_append(out, bytes, size);
}

/* \uXXXX (also two surrogates) and \UXXXXXXXX; *at stands after the letter. */
static bool unescape_unicode(const char **at, const char *end, int digits, cst__text *out) {
  uint32_t c;
  if (lex_digits(at, end, digits, 16, &c) != digits) {
    return false;
  }
  if (c >= 0xd800 && c < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
    uint32_t low;
    *at += 2;
    if (lex_digits(at, end, 4, 16, &low) != 4 || low < 0xdc00 || low > 0xdfff) {
      return false;
    }
    c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
  }
  if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
    return false;
  }
  put_utf8(out, c);
  return true;
}

static bool unescape_number(const char **at, const char *end, int most, int base, cst__text *out) {
  uint32_t c;
  if (lex_digits(at, end, most, base, &c) == 0 || c > 0xff) {
    return false;
  }
  char byte = (char)c;
  cst__text_append(out, &byte, 1);
  return true;
}

/* One escape; *at stands after the backslash. */
static bool unescape_one(const char **at, const char *end, cst__text *out) {
  static const char names[] = "abfnrtv?\\'\"";
  static const char bytes[] = "\a\b\f\n\r\t\v?\\'\"";
  if (*at == end) {
    return false;
  }
  if (**at >= '0' && **at <= '7') {
    return unescape_number(at, end, 3, 8, out);
  }
  char c = *(*at)++;
  switch (c) {
    case 'x':
    case 'X':
      return unescape_number(at, end, 2, 16, out);
    case 'u':
      return unescape_unicode(at, end, 4, out);
    case 'U':
      return unescape_unicode(at, end, 8, out);
    default:
      break;
  }
  const char *found = c != '\0' ? strchr(names, c) : NULL;
  if (found != NULL) {
    cst__text_append(out, &bytes[found - names], 1);
  }
  return found != NULL;
}

/* Unescapes the current piece. */
static cst_status append_piece(const cst__lexer *lexer, cst__text *out) {
  const char *at = lexer->token + 1;
  const char *end = lexer->token + lexer->size - 1;
  while (at < end) {
    const char *escape = memchr(at, '\\', (size_t)(end - at));
    const char *plain_end = escape != NULL ? escape : end;
    cst__text_append(out, at, (size_t)(plain_end - at));
    if (escape == NULL) {
      break;
    }
    at = escape + 1;
    if (!unescape_one(&at, end, out)) {
      cst__lexer place = *lexer;
      place.column += (uint32_t)(escape - lexer->token);
      return cst__lexer_fail(&place, "write a backslash as \\\\", "a string has an invalid escape");
    }
  }
  return CST_OK;
}

static cst_status append_pieces(cst__lexer *lexer, cst__text *out) {
  while (lexer->kind == CST__TOKEN_STRING) {
    CST__TRY(append_piece(lexer, out));
    CST__TRY(cst__lexer_next(lexer));
  }
  return CST_OK;
}

cst_status cst__lexer_string(cst__lexer *lexer, cst__arena *arena, cst_bytes *bytes) {
  if (lexer->kind != CST__TOKEN_STRING) {
    return cst__lexer_unexpected(lexer, "a string in quotes");
  }
  const char *plain = lexer->token + 1;
  size_t size = lexer->size - 2;
  cst__text text = {0};
  bool is_plain = memchr(plain, '\\', size) == NULL;
  if (is_plain) {
    CST__TRY(cst__lexer_next(lexer));
    if (lexer->kind != CST__TOKEN_STRING) {
      *bytes = (cst_bytes){(const uint8_t *)plain, size};
      return CST_OK;
    }
    cst__text_append(&text, plain, size);
  }
  cst_status status = append_pieces(lexer, &text);
  const char *copy = NULL;
  if (status == CST_OK && !text.failed) {
    copy = cst__arena_copy(arena, text.data, text.size);
  }
  *bytes = (cst_bytes){(const uint8_t *)copy, text.size};
  cst__text_free(&text);
  if (status != CST_OK) {
    return status;
  }
  return copy != NULL ? CST_OK : cst__fail_memory(lexer->error, bytes->size);
}
