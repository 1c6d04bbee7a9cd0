/* URLs: a program that writes their bytes, and their beginning kept for the next reading. */
#include "io/url.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/url_text.h"
#include "io/process.h"

enum {
  HEAD_SIZE = 1 << 20, /* is kept: a source looks at it, and then begins to read */
  STEP_SIZE = 64 << 10,
  MOST_STEPS = 64,        /* further on than so many, the program begins anew */
  MOST_LISTED = 64 << 20, /* bytes of names */
};

enum { OPTION_ROOM = 48 };

typedef struct url_reader {
  cst_allocator allocator;
  uint64_t max_inflation;
  char *program;
  char *url;
  cst__process *process; /* NULL: not started, or at its end */
  uint64_t at;           /* where it writes on */
  bool ended;            /* at the end of the bytes, which is `at` */
  uint8_t *head;         /* NULL: nothing has been read */
  size_t head_size;
} url_reader;

/* ---- names ---- */

/* Of parts in front of a URL that have no place of their own, such as "simplecache::". */
static size_t size_before(const char *path) {
  size_t at = 0;
  for (;;) {
    size_t size = cst__url_scheme_letters(path + at);
    if (size < 2 || strncmp(path + at + size, "::", 2) != 0) {
      return at;
    }
    at += size + 2;
  }
}

bool cst__is_url(const char *path) {
  struct stat info;
  return cst__url_scheme_size(path + size_before(path)) > 0 && stat(path, &info) != 0;
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

const char *cst__url_of_file(const char *path, char *buf, size_t n) {
  for (const char *piece = path; *piece != '\0';) {
    size_t size = cst__url_piece_size(piece);
    bool more = piece[size] != '\0';
    if (cst__url_scheme_size(piece) > 0) {
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
  size_t before = size_before(url);
  const char *rest = url + before;
  size_t size = strlen(rest);
  return before + (cst__url_scheme_size(rest) > 0 ? cst__url_piece_path_size(rest, size) : size);
}

/* What servers and archives have compressed, the program inflates. */
static const char *inflation_option(uint64_t max_inflation, char option[OPTION_ROOM]) {
  uint64_t ratio = max_inflation != 0 ? max_inflation : 200;
  (void)snprintf(option, OPTION_ROOM, "--max-inflation=%" PRIu64, ratio);
  return option;
}

cst_status cst__url_refuse_database(const char *url, cst_error *error) {
  static const char *const schemes[] = {"postgresql", "postgres", "sqlite", "duckdb",
                                        "snowflake",  "bigquery", "grpc",   "grpc+tls"};
  static const char hint[] = "in Python, cst.write(cst.open(uri, query=\"select ...\"), "
                             "\"data.parquet\") makes a file of what a query gives";
  size_t size = cst__url_scheme_size(url);
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    if (size == strlen(schemes[i]) && memcmp(url, schemes[i], size) == 0) {
      (void)cst__fail(error, CST_UNSUPPORTED, hint, "it is a database, expected a file");
      cst__error_add_file(error, url);
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
      return cst__fail(error, CST_LIMIT, "name fewer files", "the pattern matches too many URLs");
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

/* The bytes of a dot, which may be coded: "%2e"; 0: there is none. */
static size_t dot_size(const char *c) {
  return c[0] == '.' ? 1 : strncasecmp(c, "%2e", 3) == 0 ? 3 : 0;
}

static bool has_parent_folder(const char *path) {
  for (const char *c = path; *c != '\0'; c++) {
    size_t one = c == path || c[-1] == '/' ? dot_size(c) : 0;
    size_t two = one > 0 ? dot_size(c + one) : 0;
    const char *end = c + one + two;
    if (two > 0 && (*end == '\0' || *end == '/' || *end == ':')) {
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

cst_status cst__url_add_listed(const char *url, const char *text, size_t size, cst__paths *paths,
                               cst_error *error) {
  const bounds in = bounds_of(url);
  for (size_t at = 0; at < size; at += strlen(text + at) + 1) {
    if (memchr(text + at, '\0', size - at) == NULL) {
      return cst__fail(error, CST_CORRUPT, NULL, "the listing ends within a name");
    }
    CST__TRY(check_listed(&in, text + at, error));
    CST__TRY(cst__paths_add(paths, text + at, error));
  }
  return CST_OK;
}

cst_status cst__url_expand(const char *program, const char *url, uint64_t max_inflation,
                           cst__paths *paths, cst_error *error) {
  if (strcspn(url, "*?[") >= cst__url_path_size(url)) {
    return cst__paths_add(paths, url, error);
  }
  char option[OPTION_ROOM];
  const char *argv[] = {program, "list", inflation_option(max_inflation, option), url, NULL};
  cst__process *process;
  char *text = NULL;
  size_t size = 0;
  CST__TRY(cst__process_start(program, argv, CST__PROCESS_READS, NULL, &process, error));
  cst_status status = read_listing(process, &text, &size, error);
  cst__process_free(process);
  if (status == CST_OK) {
    status = cst__url_add_listed(url, text, size, paths, error);
  }
  cst__delete(text);
  if (status != CST_OK) {
    cst__error_add_file(error, url);
  }
  return status;
}

/* ---- reading ---- */

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
    char at[OPTION_ROOM];
    char most[OPTION_ROOM];
    (void)snprintf(at, sizeof at, "--offset=%" PRIu64, offset);
    const char *argv[] = {
        reader->program, "read", at, inflation_option(reader->max_inflation, most),
        reader->url,     NULL};
    cst__process_free(reader->process);
    reader->process = NULL;
    reader->at = offset;
    reader->ended = false;
    return cst__process_start(reader->program, argv, CST__PROCESS_READS, &reader->allocator,
                              &reader->process, error);
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
    cst__error_add_file(error, reader->url);
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

cst_status cst__url_reader(const char *program, const char *url, uint64_t max_inflation,
                           const cst_allocator *allocator, cst_reader *out, cst_error *error) {
  url_reader *reader = cst__new_zero(allocator, sizeof *reader);
  if (reader == NULL) {
    return cst__fail_memory(error, sizeof *reader);
  }
  reader->allocator = cst__allocator_of(allocator);
  reader->max_inflation = max_inflation;
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
