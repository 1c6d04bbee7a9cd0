/* URLs: a program that writes their bytes, and their beginning kept for the next reading. */
#include "io/url.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "io/process.h"

enum {
  HEAD_SIZE = 1 << 20, /* is kept: a source looks at it, and then begins to read */
  STEP_SIZE = 64 << 10,
  MOST_STEPS = 64,        /* further on than so many, the program begins anew */
  MOST_LISTED = 64 << 20, /* bytes of names */
};

typedef struct url_reader {
  cst_allocator allocator;
  char *program;
  char *url;
  cst__process *process; /* NULL: not started, or at its end */
  uint64_t at;           /* where it writes on */
  bool ended;            /* at the end of the bytes, which is `at` */
  uint8_t *head;         /* NULL: nothing has been read */
  size_t head_size;
} url_reader;

/* ---- names ---- */

static size_t scheme_size(const char *path) {
  size_t size = strspn(path, "abcdefghijklmnopqrstuvwxyz0123456789+.-");
  return size > 1 && strncmp(path + size, "://", 3) == 0 ? size : 0;
}

bool cst__is_url(const char *path) {
  struct stat info;
  return scheme_size(path) > 0 && stat(path, &info) != 0;
}

static int hex_digit(char c) {
  const char *digits = "0123456789abcdef";
  const char *found = c != '\0' ? strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;
  return found != NULL ? (int)(found - digits) : -1;
}

bool cst__path_of_file_url(const char *url, char *buf, size_t n) {
  static const char *const heads[] = {"file://localhost/", "file:///"};
  for (size_t i = 0; i < 2; i++) {
    size_t size = strlen(heads[i]);
    if (strncmp(url, heads[i], size) == 0) {
      size_t at = 0;
      for (const char *c = url + size - 1; *c != '\0' && at + 1 < n; c++) {
        int high = *c == '%' ? hex_digit(c[1]) : -1;
        int low = high >= 0 ? hex_digit(c[2]) : -1;
        bool coded = low >= 0 && (high | low) != 0;
        buf[at++] = coded ? (char)(high * 16 + low) : *c;
        c += coded ? 2 : 0;
      }
      buf[at] = '\0';
      return at + 1 < n;
    }
  }
  return false;
}

static bool is_web(const char *url) {
  static const char *const schemes[] = {"http://", "https://", "ftp://", "ftps://"};
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    if (strncmp(url, schemes[i], strlen(schemes[i])) == 0) {
      return true;
    }
  }
  return false;
}

/* The same of one part of a chain, which has this size. */
static size_t piece_path_size(const char *url, size_t size) {
  const char *mark = memchr(url, '?', size);
  while (mark != NULL && !is_web(url)) {
    size_t rest = size - (size_t)(mark - url);
    size_t name = strcspn(mark + 1, "?=");
    if (name + 1 < rest && mark[1 + name] == '=') {
      break;
    }
    mark = name + 1 < rest ? mark + 1 + name : NULL;
  }
  return mark != NULL ? (size_t)(mark - url) : size;
}

static size_t piece_size(const char *url) {
  const char *end = strstr(url, "::");
  return end != NULL ? (size_t)(end - url) : strlen(url);
}

const char *cst__url_of_file(const char *path, char *buf, size_t n) {
  for (const char *piece = path; *piece != '\0';) {
    size_t size = piece_size(piece);
    bool more = piece[size] != '\0';
    if (scheme_size(piece) > 0) {
      if (!more || size >= n) {
        break;
      }
      memcpy(buf, piece, size);
      buf[size] = '\0';
      return buf;
    }
    piece += size + (more ? 2 : 0);
  }
  return path;
}

size_t cst__url_path_size(const char *url) {
  return scheme_size(url) > 0 ? piece_path_size(url, strlen(url)) : strlen(url);
}

/* Writes one part of a chain to `out`, which may begin where it does or before. Returns the size.
 */
static size_t print_piece(const char *piece, size_t size, char *out) {
  size_t head = scheme_size(piece);
  head += head > 0 ? strlen("://") : 0;
  if (head == 0 || head > size) {
    memmove(out, piece, size);
    return size;
  }
  bool web = is_web(piece);
  size_t path = piece_path_size(piece, size);
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

void cst__url_make_printable(char *url) {
  char *out = url;
  for (const char *piece = url; *piece != '\0';) {
    size_t size = piece_size(piece);
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

void cst__url_add_to_error(cst_error *error, const char *url) {
  char *name = cst__new_copy(NULL, url, strlen(url));
  if (name != NULL) {
    cst__url_make_printable(name);
    cst__error_add_file(error, name);
  }
  cst__delete(name);
}

cst_status cst__url_refuse_database(const char *url, cst_error *error) {
  static const char *const schemes[] = {"postgresql", "postgres", "sqlite", "duckdb",
                                        "snowflake",  "bigquery", "grpc",   "grpc+tls"};
  static const char hint[] = "in Python, cst.write(cst.open(uri, query=\"select ...\"), "
                             "\"data.parquet\") makes a file of what a query gives";
  size_t size = scheme_size(url);
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    if (size == strlen(schemes[i]) && memcmp(url, schemes[i], size) == 0) {
      (void)cst__fail(error, CST_UNSUPPORTED, hint, "it is a database, expected a file");
      cst__url_add_to_error(error, url);
      return CST_UNSUPPORTED;
    }
  }
  return CST_OK;
}

/* ---- patterns ---- */

static cst_status read_listing(cst__process *process, char **text, size_t *size, cst_error *error) {
  size_t capacity = 0;
  size_t got = STEP_SIZE;
  while (got == STEP_SIZE) {
    if (*size > MOST_LISTED) {
      return cst__fail(error, CST_LIMIT, "name fewer files", "the pattern means too many URLs");
    }
    if (!cst__grow(NULL, (void **)text, &capacity, *size + STEP_SIZE, 1)) {
      return cst__fail_memory(error, *size + STEP_SIZE);
    }
    CST__TRY(cst__process_read(process, *text + *size, STEP_SIZE, &got, error));
    *size += got;
  }
  return cst__process_finish(process, error);
}

/* What every name that a pattern means begins and ends with. */
typedef struct bounds {
  const char *url;
  size_t prefix;    /* of url: up to the last folder before the first wildcard */
  const char *tail; /* of url: the rest of a chain */
} bounds;

static bounds bounds_of(const char *url) {
  bounds found = {.url = url, .prefix = strcspn(url, "*?[")};
  const char *chain = strstr(url + found.prefix, "::");
  found.tail = chain != NULL ? chain : "";
  while (found.prefix > 0 && url[found.prefix - 1] != '/') {
    found.prefix--;
  }
  return found;
}

static bool has_parent_folder(const char *path) {
  for (const char *c = path; (c = strstr(c, "..")) != NULL; c += 2) {
    bool begins = c == path || c[-1] == '/';
    if (begins && (c[2] == '\0' || c[2] == '/' || c[2] == ':')) {
      return true;
    }
  }
  return false;
}

static cst_status check_listed(const bounds *in, const char *name, cst_error *error) {
  static const char hint[] = "name the files one by one";
  size_t size = strlen(name);
  size_t tail = strlen(in->tail);
  for (const char *c = name; *c != '\0'; c++) {
    if ((unsigned char)*c < 0x20 || *c == 0x7f) {
      return cst__fail(error, CST_CORRUPT, hint, "the listing has a name with a control character");
    }
  }
  const char *inner = name + in->prefix;
  const char *chain = size >= in->prefix ? strstr(inner, "::") : NULL;
  if (size < in->prefix + tail || memcmp(name, in->url, in->prefix) != 0 ||
      strcmp(name + size - tail, in->tail) != 0 || (chain != NULL && chain != name + size - tail) ||
      has_parent_folder(inner)) {
    return cst__fail(error, CST_CORRUPT, hint, "the listing has a name outside of the pattern");
  }
  return CST_OK;
}

static cst_status add_listed(cst__paths *paths, const bounds *in, const char *text, size_t size,
                             cst_error *error) {
  for (size_t at = 0; at < size; at += strlen(text + at) + 1) {
    if (memchr(text + at, '\0', size - at) == NULL) {
      return cst__fail(error, CST_CORRUPT, NULL, "the listing ends within a name");
    }
    CST__TRY(check_listed(in, text + at, error));
    CST__TRY(cst__paths_add(paths, text + at, error));
  }
  return CST_OK;
}

cst_status cst__url_expand(const char *program, const char *url, cst__paths *paths,
                           cst_error *error) {
  if (strcspn(url, "*?[") >= cst__url_path_size(url)) {
    return cst__paths_add(paths, url, error);
  }
  const char *argv[] = {program, "list", url, NULL};
  cst__process *process;
  char *text = NULL;
  size_t size = 0;
  CST__TRY(cst__process_start(program, argv, CST__PROCESS_READS, NULL, &process, error));
  cst_status status = read_listing(process, &text, &size, error);
  cst__process_free(process);
  if (status == CST_OK) {
    const bounds in = bounds_of(url);
    status = add_listed(paths, &in, text, size, error);
  }
  cst__delete(text);
  if (status != CST_OK) {
    cst__url_add_to_error(error, url);
  }
  return status;
}

/* ---- reading ---- */

static cst_status start_url_program(url_reader *reader, uint64_t offset, cst_error *error) {
  char option[40];
  (void)snprintf(option, sizeof option, "--offset=%" PRIu64, offset);
  const char *argv[] = {reader->program, "read", option, reader->url, NULL};
  cst__process_free(reader->process);
  reader->process = NULL;
  reader->at = offset;
  reader->ended = false;
  return cst__process_start(reader->program, argv, CST__PROCESS_READS, &reader->allocator,
                            &reader->process, error);
}

/* Reads on; the end of the bytes is the end of a program that is content. */
static cst_status read_url_on(url_reader *reader, void *buffer, size_t size, size_t *got,
                              cst_error *error) {
  *got = 0;
  if (reader->ended) {
    return CST_OK;
  }
  CST__TRY(cst__process_read(reader->process, buffer, size, got, error));
  if (*got < size) {
    CST__TRY(cst__process_finish(reader->process, error));
    cst__process_free(reader->process);
    reader->process = NULL;
    reader->ended = true;
  }
  size_t kept = reader->head_size;
  if (reader->at == kept && kept < HEAD_SIZE) {
    size_t more = *got < HEAD_SIZE - kept ? *got : HEAD_SIZE - kept;
    memcpy(reader->head + kept, buffer, more);
    reader->head_size += more;
  }
  reader->at += *got;
  return CST_OK;
}

/* Goes to the offset: forth by reading, if that is not far, else by a new start. */
static cst_status go_to(url_reader *reader, uint64_t offset, cst_error *error) {
  uint8_t passed[4096];
  bool running =
      (reader->process != NULL && cst__process_is_ours(reader->process)) || reader->ended;
  if (!running || offset < reader->at || offset - reader->at > MOST_STEPS * STEP_SIZE) {
    return start_url_program(reader, offset, error);
  }
  while (reader->at < offset && !reader->ended) {
    uint64_t rest = offset - reader->at;
    size_t got;
    CST__TRY(read_url_on(reader, passed, rest < sizeof passed ? (size_t)rest : sizeof passed, &got,
                         error));
  }
  return CST_OK;
}

static cst_status read_url(url_reader *reader, uint64_t offset, void *buffer, size_t size,
                           size_t *got, cst_error *error) {
  *got = 0;
  if (reader->head == NULL) {
    reader->head = cst__new(&reader->allocator, HEAD_SIZE);
    if (reader->head == NULL) {
      return cst__fail_memory(error, HEAD_SIZE);
    }
  }
  if (offset < reader->head_size) {
    size_t there = reader->head_size - (size_t)offset;
    *got = size < there ? size : there;
    memcpy(buffer, reader->head + offset, *got);
    return CST_OK;
  }
  CST__TRY(go_to(reader, offset, error));
  return read_url_on(reader, buffer, size < STEP_SIZE ? size : STEP_SIZE, got, error);
}

static cst_status read_url_at(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                              cst_error *error) {
  url_reader *reader = ctx;
  cst_status status = read_url(reader, offset, buffer, size, got, error);
  if (status != CST_OK) { /* the next read begins anew */
    cst__process_free(reader->process);
    reader->process = NULL;
    reader->ended = false;
    cst__url_add_to_error(error, reader->url);
  }
  return status;
}

static void close_reader(void *ctx) {
  url_reader *reader = ctx;
  cst__process_free(reader->process);
  cst__delete(reader->program);
  cst__delete(reader->url);
  cst__delete(reader->head);
  cst__delete(reader);
}

cst_status cst__url_reader(const char *program, const char *url, const cst_allocator *allocator,
                           cst_reader *out, cst_error *error) {
  url_reader *reader = cst__new_zero(allocator, sizeof *reader);
  if (reader == NULL) {
    return cst__fail_memory(error, sizeof *reader);
  }
  reader->allocator = cst__allocator_of(allocator);
  reader->program = cst__new_copy(allocator, program, strlen(program));
  reader->url = cst__new_copy(allocator, url, strlen(url));
  if (reader->program == NULL || reader->url == NULL) {
    close_reader(reader);
    return cst__fail_memory(error, strlen(url));
  }
  *out = (cst_reader){.size = sizeof *out,
                      .read_at = read_url_at,
                      .close = close_reader,
                      .ctx = reader,
                      .can_seek = true};
  return CST_OK;
}
