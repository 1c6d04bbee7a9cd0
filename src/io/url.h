/* Bytes behind a URL, by way of a program: `PROGRAM read [--offset=N] URL` writes them to standard
 * output, `PROGRAM list URL` the URLs that a pattern means, each with a NUL behind it.
 */
#ifndef IO_URL_H
#define IO_URL_H

#include <columnstone/source.h>

#include "io/input.h"

/* True for "scheme://...", also behind "cache::", if there is no file of that name. */
bool cst__is_url(const char *path);

/* CST_UNSUPPORTED for the URI of a database, which no file system has. DATABASES of
 * python/columnstone/_io/urls.py lists the same. */
cst_status cst__url_refuse_database(const char *url, cst_error *error);

/* The path that a URL "file://..." means, in buf; false for other names, and if it does not fit. */
bool cst__path_of_file_url(const char *url, char *buf, size_t n);

/* The length without the parameters, one of which may be a signature: from "?" on in web addresses,
 * elsewhere if there is a "=" behind it ("?" alone is a pattern). */
size_t cst__url_path_size(const char *url);

/* The part of a chain that names the file, whose ending counts: "zip://a.csv" of
 * "zip://a.csv::https://h/z.zip", copied to buf. Other paths, and what does not fit, as they are.
 */
const char *cst__url_of_file(const char *path, char *buf, size_t n);

/* Adds the URLs that a pattern means, or the URL itself. What the program lists is not trusted:
 * CST_CORRUPT for a name outside of the pattern's folder, or with a control character.
 * max_inflation: of the program, see cst_source_options; 0: the usual one. */
cst_status cst__url_expand(const char *program, const char *url, uint64_t max_inflation,
                           cst__paths *paths, cst_error *error);

/* The part of it that looks at the names: `text` has `size` bytes. */
cst_status cst__url_add_listed(const char *url, const char *text, size_t size, cst__paths *paths,
                               cst_error *error);

/* A reader that seeks; starts the program with its first read, and anew where it has to go back.
 * Its close frees it. */
cst_status cst__url_reader(const char *program, const char *url, uint64_t max_inflation,
                           const cst_allocator *allocator, cst_reader *out, cst_error *error);

#endif /* IO_URL_H */
