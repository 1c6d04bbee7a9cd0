/* Base64: three bytes are four digits of six bits. */
#include "text/base64.h"

void cst__put_base64(cst__text *out, cst_bytes bytes) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t groups = bytes.size / 3 + (bytes.size % 3 != 0);
  size_t length;
  char *at = cst__mul(groups, 4, &length) ? cst__text_reserve(out, length) : NULL;
  if (at == NULL) {
    out->failed = true;
    return;
  }
  for (size_t i = 0; i < bytes.size; i += 3) {
    const uint8_t *from = bytes.data + i;
    size_t left = bytes.size - i;
    uint32_t word = (uint32_t)from[0] << 16 | (left > 1 ? (uint32_t)from[1] << 8 : 0) |
                    (left > 2 ? from[2] : 0);
    *at++ = digits[word >> 18];
    *at++ = digits[word >> 12 & 63];
    *at++ = left > 1 ? digits[word >> 6 & 63] : '=';
    *at++ = left > 2 ? digits[word & 63] : '=';
  }
  out->size += length;
}

enum { URL_DIGIT = 64, NO_DIGIT = 128 };

/* 0 to 63, and URL_DIGIT more for those of the other alphabet. */
static unsigned digit_of(char c) {
  if (c >= 'A' && c <= 'Z') {
    return (unsigned)(c - 'A');
  }
  if (c >= 'a' && c <= 'z') {
    return (unsigned)(c - 'a') + 26;
  }
  if (c >= '0' && c <= '9') {
    return (unsigned)(c - '0') + 52;
  }
  return c == '+'   ? 62
         : c == '/' ? 63
         : c == '-' ? URL_DIGIT + 62
         : c == '_' ? URL_DIGIT + 63
                    : NO_DIGIT;
}

static size_t padding_of(const char *text, size_t size) {
  size_t padding = 0;
  while (padding < 2 && padding < size && text[size - 1 - padding] == '=') {
    padding++;
  }
  return padding;
}

bool cst__base64_size(const char *text, size_t size, cst__base64_form form, size_t *out) {
  bool is_exact = form == CST__BASE64_EXACT;
  size_t padding = padding_of(text, size);
  size_t digits = size - padding;
  unsigned most = is_exact ? URL_DIGIT : NO_DIGIT;
  unsigned last = 0;
  for (size_t i = 0; i < digits; i++) {
    last = digit_of(text[i]);
    if (last >= most) {
      return false;
    }
  }
  size_t rest = digits % 4; /* digits of the last group, if it is not whole */
  *out = digits / 4 * 3 + (rest > 0 ? rest - 1 : 0);
  unsigned idle = rest == 2 ? 15 : rest == 3 ? 3 : 0;
  return rest != 1 &&
         (!is_exact || (size % 4 == 0 && padding == (4 - rest) % 4 && (last & idle) == 0));
}

void cst__base64_decode(const char *text, size_t size, uint8_t *out) {
  uint32_t word = 0;
  size_t digits = size - padding_of(text, size);
  for (size_t i = 0; i < digits; i++) {
    word = word << 6 | (digit_of(text[i]) & 63);
    if (i % 4 != 0) { /* the 2nd digit ends the 1st byte, the 3rd the 2nd, the 4th the 3rd */
      *out++ = (uint8_t)(word >> (6 - 2 * (i % 4)));
    }
  }
}
