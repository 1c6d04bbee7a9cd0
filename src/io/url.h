/* Bytes behind a URL, by way of a program: `PROGRAM read [--offset=N] URL` writes them to standard
 * output, `PROGRAM list URL` the URLs that a pattern means, one a line.
 */
#ifndef IO_URL_H
#define IO_URL_H

#include <columnstone/source.h>

#include "io/input.h"

/* True for "scheme://...", if there is no file of that name. */
bool cst__is_url(const char *path);

/* The path that a URL "file://..." means, in buf; false for other names, and if it does not fit. */
bool cst__path_of_file_url(const char *url, char *buf, size_t n);

/* What errors call it: without the parameters of a web address, which may be a signature. Returns
 * its length. */
size_t cst__url_name_size(const char *url);

/* Adds the URLs that a pattern means, or the URL itself. */
cst_status cst__url_expand(const char *program, const char *url, cst__paths *paths,
                           cst_error *error);

/* A reader that seeks; starts the program with its first read, and anew where it has to go back.
 * Its close frees it. */
cst_status cst__url_reader(const char *program, const char *url, const cst_allocator *allocator,
                           cst_reader *out, cst_error *error);

#endif /* IO_URL_H */
