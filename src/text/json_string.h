/* Strings of JSON. */
#ifndef TEXT_JSON_STRING_H
#define TEXT_JSON_STRING_H

#include "base/alloc.h"
#include "text/stride.h"

typedef enum cst__json_escapes {
  CST__JSON_FEW,   /* what JSON wants escaped, and nothing else */
  CST__JSON_SHOWN, /* also DEL, and what a terminal obeys: the text is printed, too */
} cst__json_escapes;

/* Appends UTF-8 as a string, in its quotes; its inside. */
void cst__put_json_string(cst__text *out, const void *bytes, size_t size,
                          cst__json_escapes escapes);
void cst__put_json_inside(cst__text *out, const void *bytes, size_t size,
                          cst__json_escapes escapes);

/* Copies the bytes of UTF-8 that stand for themselves where a string is shown, up to the first that
 * does not, and returns how many they are. Up to CST__STRIDE bytes more are written, and read
 * where `readable`, `size` or more, says that there are some. */
size_t cst__copy_json_plain(char *to, const uint8_t *bytes, size_t size, size_t readable);

/* The bytes of a stride that have to be escaped or, if `shown`, that begin a character which may
 * not be shown: DEL, and the first bytes of all others (cst__utf8_is_hidden). */
static inline cst__stride_bits cst__json_candidates(cst__stride stride, bool shown) {
  cst__stride found =
      cst__stride_is_control(stride) | cst__stride_is(stride, '"') | cst__stride_is(stride, '\\');
  if (shown) {
    found |= cst__stride_is(stride, 0x7f) | cst__stride_is(stride, 0xc2) |
             cst__stride_is(stride, 0xd8) | cst__stride_is(stride, 0xe2);
  }
  return cst__stride_found(found);
}

/* Copies a text of at most two strides as cst__copy_json_plain does; false if it may need escapes.
 */
static inline bool cst__copy_json_short(char *to, cst_bytes text, size_t readable) {
  if (text.size < CST__STRIDE) {
    const cst__stride stride = cst__stride_copy_last(to, text.data, text.size, readable);
    return cst__stride_within(cst__json_candidates(stride, true), text.size) == 0;
  }
  const size_t last = text.size - CST__STRIDE; /* both strides may overlap */
  return (cst__json_candidates(cst__stride_copy(to, text.data), true) |
          cst__json_candidates(cst__stride_copy(to + last, text.data + last), true)) == 0;
}

/* Appends any bytes as a string that can stand in the script element of a page: `<` is escaped, and
 * what is not UTF-8 is U+FFFD. */
void cst__put_json_in_html(cst__text *out, const void *bytes, size_t size);

/* A text that a NUL ends, with few escapes. */
void cst__put_json_text(cst__text *out, const char *name);

#endif /* TEXT_JSON_STRING_H */
