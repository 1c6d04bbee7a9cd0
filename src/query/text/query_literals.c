/* The values of tokens: names, numbers, texts. */
#include <string.h>

#include "base/utf8.h"
#include "query/text/query_lexer.h"
#include "query/text/query_words.h"
#include "text/number.h"

/* ---- names ---- */

/* Two backticks in a row are one. */
static size_t undouble_backticks(char *name, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < size; i++) {
    name[used++] = name[i];
    i += name[i] == '`';
  }
  name[used] = '\0';
  return used;
}

static cst_status check_name(const cst__query_lexer *lexer, const char *bytes, size_t size) {
  if (size > CST__QUERY_MAX_NAME) {
    return cst__query_fail(lexer, CST_LIMIT, NULL, "a name has more than %d bytes",
                           (int)CST__QUERY_MAX_NAME);
  }
  if (size > 0 && memchr(bytes, '\0', size) != NULL) {
    return cst__query_fail(lexer, CST_INVALID_ARGUMENT, NULL, "a name contains a NUL byte");
  }
  return CST_OK;
}

cst_status cst__query_name(const cst__query_lexer *lexer, const char *wanted, cst__arena *arena,
                           const char **name) {
  bool is_quoted = lexer->kind == CST__QUERY_QUOTED;
  if (!is_quoted && lexer->kind != CST__QUERY_NAME) {
    bool is_other = lexer->kind == CST__QUERY_SYMBOL && (uint8_t)*lexer->token >= 0x80;
    return cst__query_unexpected(
        lexer, wanted, is_other ? "write names with other characters in backticks: `name`" : NULL);
  }
  if (!is_quoted && cst__query_is_reserved(lexer->token, lexer->size)) {
    return cst__query_unexpected(lexer, wanted,
                                 "the word is reserved; write a field of that name in backticks");
  }
  const char *bytes = lexer->token + is_quoted;
  size_t size = is_quoted ? lexer->size - 2 : lexer->size;
  CST__TRY(check_name(lexer, bytes, size));
  char *copy = cst__arena_copy(arena, bytes, size);
  if (copy == NULL) {
    return cst__fail_memory(lexer->error, size);
  }
  if (is_quoted) {
    (void)undouble_backticks(copy, size);
  }
  *name = copy;
  return CST_OK;
}

cst_status cst__query_extension(cst__query_lexer *lexer, cst__arena *arena, const char **name) {
  const char *close = lexer->token;
  while (close < lexer->end && *close != ')' && *close != '\n') {
    close++;
  }
  size_t size = (size_t)(close - lexer->token) + 1;
  if (close == lexer->end || !cst__query_is_extension(lexer->token, size)) {
    return cst__query_fail(lexer, CST_INVALID_ARGUMENT,
                           "write the full name of an extension, or of the message that an Any "
                           "holds: (shop.Event)",
                           "expected a full name in parentheses");
  }
  CST__TRY(check_name(lexer, lexer->token, size));
  *name = cst__arena_copy(arena, lexer->token, size);
  lexer->at = close + 1;
  return *name != NULL ? CST_OK : cst__fail_memory(lexer->error, size);
}

/* ---- numbers ---- */

static bool read_query_integer(const cst__query_lexer *lexer, bool is_negative, int64_t *out) {
  bool ignored;
  uint64_t value;
  if (cst__parse_whole(lexer->token, lexer->size, &ignored, &value) != CST__WHOLE_64 ||
      value > (uint64_t)INT64_MAX + is_negative) {
    return false;
  }
  *out = (int64_t)(is_negative ? 0 - value : value);
  return true;
}

cst_status cst__query_number(const cst__query_lexer *lexer, bool is_negative, cst__expr *out) {
  bool is_integer = true;
  for (size_t i = 0; i < lexer->size; i++) {
    is_integer = is_integer && cst__query_is_digit(lexer->token[i]);
  }
  if (is_integer) {
    out->kind = CST__EXPR_INT;
    return read_query_integer(lexer, is_negative, &out->integer)
               ? CST_OK
               : cst__query_fail(lexer, CST_INVALID_ARGUMENT, NULL,
                                 "an integer has more than 64 bits (with its sign)");
  }
  out->kind = CST__EXPR_FLOAT;
  if (!cst__parse_float64(lexer->token, lexer->size, &out->number)) {
    return cst__query_fail(lexer, CST_INVALID_ARGUMENT, NULL, "a number is too large for float64");
  }
  out->number = is_negative ? -out->number : out->number;
  return CST_OK;
}

/* ---- texts ---- */

static int query_hex_value(char c) {
  if (cst__query_is_digit(c)) {
    return c - '0';
  }
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Up to `most` hexadecimal digits after *at; how many there were. */
static int read_hex(const char **at, const char *end, int most, uint32_t *value) {
  int count = 0;
  *value = 0;
  while (count < most && *at < end && query_hex_value(**at) >= 0) {
    *value = *value * 16 + (uint32_t)query_hex_value(**at);
    (*at)++;
    count++;
  }
  return count;
}

static char *put_query_char(char *out, uint32_t c) {
  size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = size; i-- > 1; c >>= 6) {
    out[i] = (char)(0x80 | (c & 0x3f));
  }
  out[0] = (char)(lead[size] | c);
  return out + size;
}

/* One escape, which never takes less than what it stands for; *at stands after the backslash. NULL:
 * there is no such escape. */
static char *unescape_query_one(const char **at, const char *end, char *out) {
  char c = *(*at)++;
  uint32_t value;
  switch (c) {
    case 'n':
      *out++ = '\n';
      return out;
    case 't':
      *out++ = '\t';
      return out;
    case '\\':
    case '"':
      *out++ = c;
      return out;
    case 'x':
      if (read_hex(at, end, 2, &value) != 2) {
        return NULL;
      }
      *out++ = (char)value;
      return out;
    case 'u':
      if (*at == end || *(*at)++ != '{' || read_hex(at, end, 6, &value) == 0 || *at == end ||
          *(*at)++ != '}' || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) {
        return NULL;
      }
      return put_query_char(out, value);
    default:
      return NULL;
  }
}

/* Unescapes in place; *escape is where that failed. */
static bool unescape_query_text(char *text, size_t *size, size_t *escape) {
  const char *at = text;
  const char *end = text + *size;
  char *out = text;
  while (at < end) {
    if (*at != '\\') {
      *out++ = *at++;
      continue;
    }
    *escape = (size_t)(at++ - text);
    out = at < end ? unescape_query_one(&at, end, out) : NULL;
    if (out == NULL) {
      return false;
    }
  }
  *size = (size_t)(out - text);
  *out = '\0';
  return true;
}

cst_status cst__query_string(const cst__query_lexer *lexer, cst__arena *arena, cst__expr *out) {
  bool is_bytes = lexer->kind == CST__QUERY_BYTES;
  size_t before = is_bytes ? 2 : 1; /* b" */
  size_t size = lexer->size - before - 1;
  char *text = cst__arena_copy(arena, lexer->token + before, size);
  if (text == NULL) {
    return cst__fail_memory(lexer->error, size);
  }
  size_t escape;
  if (!unescape_query_text(text, &size, &escape)) {
    cst__query_lexer place = *lexer;
    place.place.column += (uint32_t)(before + escape);
    return cst__query_fail(&place, CST_INVALID_ARGUMENT,
                           "escapes are \\n \\t \\\\ \\\" \\xNN \\u{N}; a backslash is \\\\",
                           "a text has an invalid escape");
  }
  if (!is_bytes && !cst__utf8_valid((const uint8_t *)text, size)) {
    return cst__query_fail(lexer, CST_INVALID_ARGUMENT, "write bytes as b\"...\"",
                           "a text is not UTF-8");
  }
  out->kind = CST__EXPR_STRING;
  out->is_bytes = is_bytes;
  out->bytes = (cst_bytes){(const uint8_t *)text, size};
  return CST_OK;
}
