/* The one function that makes a URL printable, and the parts of URLs. */
#include "base/url_text.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

size_t cst__url_scheme_letters(const char *text) {
  return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789+.-");
}

size_t cst__url_scheme_size(const char *text) {
  size_t size = cst__url_scheme_letters(text);
  return size > 1 && strncmp(text + size, "://", 3) == 0 ? size : 0;
}

size_t cst__url_piece_size(const char *url) {
  const char *end = strstr(url, "::");
  return end != NULL ? (size_t)(end - url) : strlen(url);
}

static bool is_web(const char *url) {
  static const char *const schemes[] = {"http://", "https://", "ftp://", "ftps://"};
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0) {
      return true;
    }
  }
  return false;
}

size_t cst__url_piece_path_size(const char *url, size_t size) {
  if (is_web(url)) {
    size_t path = strcspn(url, "?#");
    return path < size ? path : size;
  }
  const char *mark = memchr(url, '?', size);
  while (mark != NULL) {
    size_t rest = size - (size_t)(mark - url);
    size_t name = strcspn(mark + 1, "?=");
    if (name + 1 < rest && mark[1 + name] == '=') {
      return (size_t)(mark - url);
    }
    mark = name + 1 < rest ? mark + 1 + name : NULL;
  }
  return size;
}

/* The same of any scheme, as people write it, with its "://". */
static size_t head_size(const char *text, size_t size) {
  size_t letters =
      strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
  bool is_head = letters > 1 && strncmp(text + letters, "://", 3) == 0;
  return is_head && letters + 3 <= size ? letters + 3 : 0;
}

/* Writes one part of a chain to `out`, which may begin where it does or before. Returns the size.
 */
static size_t print_piece(const char *piece, size_t size, char *out) {
  size_t head = head_size(piece, size);
  if (head == 0) {
    memmove(out, piece, size);
    return size;
  }
  bool web = is_web(piece);
  size_t path = cst__url_piece_path_size(piece, size);
  size_t host = head + strcspn(piece + head, "/");
  host = host < path ? host : path;
  size_t at = host;
  while (at > head && piece[at - 1] != '@') {
    at--;
  }
  size_t user = 0;
  if (at > head && !web) {
    const char *colon = memchr(piece + head, ':', at - 1 - head);
    user = colon != NULL ? (size_t)(colon - piece) - head : at - 1 - head;
  }
  memmove(out, piece, head + user);
  size_t done = head + user;
  if (at > head && !web) {
    out[done++] = '@';
  }
  memmove(out + done, piece + at, path - at);
  return done + path - at;
}

void cst_url_make_printable(char *url) {
  char *out = url;
  for (const char *piece = url; *piece != '\0';) {
    size_t size = cst__url_piece_size(piece);
    bool more = piece[size] != '\0';
    out += print_piece(piece, size, out);
    piece += size;
    if (more) {
      memmove(out, piece, 2);
      out += 2;
      piece += 2;
    }
  }
  *out = '\0';
}
