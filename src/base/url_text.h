/* The text of URLs: their parts, and what may be shown of them. A chain has several URLs with "::"
 * between them ("zip://a.csv::https://h/z.zip").
 */
#ifndef BASE_URL_TEXT_H
#define BASE_URL_TEXT_H

#include <columnstone/status.h>

/* How many letters of a scheme the text begins with. */
size_t cst__url_scheme_letters(const char *text);
/* The size of the scheme in front of "://"; 0: there is none. */
size_t cst__url_scheme_size(const char *text);
/* The size of the first part of a chain. */
size_t cst__url_piece_size(const char *url);
/* The size of one part of a chain, which has `size` bytes, without its parameters. */
size_t cst__url_piece_path_size(const char *url, size_t size);

#endif /* BASE_URL_TEXT_H */
