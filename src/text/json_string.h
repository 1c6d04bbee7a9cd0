/* Strings of JSON. */
#ifndef TEXT_JSON_STRING_H
#define TEXT_JSON_STRING_H

#include "base/alloc.h"

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

/* Appends any bytes as a string that can stand in the script element of a page: `<` is escaped, and
 * what is not UTF-8 is U+FFFD. */
void cst__put_json_in_html(cst__text *out, const void *bytes, size_t size);

/* A text that a NUL ends, with few escapes. */
void cst__put_json_text(cst__text *out, const char *name);

#endif /* TEXT_JSON_STRING_H */
