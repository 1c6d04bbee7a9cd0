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

size_t cst__url_name_size(const char *url) {
  bool web = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
  return web ? strcspn(url, "?") : strlen(url);
}

static void add_listed_name(cst_error *error, const char *url) {
  char name[1024];
  size_t size = cst__url_name_size(url);
  (void)snprintf(name, sizeof name, "%.*s", (int)(size < 1000 ? size : 1000), url);
  cst__error_add_file(error, name);
}

/* ---- patterns ---- */

static cst_status add_line(cst__paths *paths, const char *line, size_t size, cst_error *error) {
  if (!cst__grow(NULL, (void **)&paths->items, &paths->capacity, paths->count + 1,
                 sizeof *paths->items)) {
    return cst__fail_memory(error, (paths->count + 1) * sizeof *paths->items);
  }
  char *copy = cst__new_copy(NULL, line, size);
  if (copy == NULL) {
    return cst__fail_memory(error, size + 1);
  }
  paths->items[paths->count++] = copy;
  return CST_OK;
}

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

static cst_status add_lines(cst__paths *paths, const char *text, size_t size, cst_error *error) {
  for (size_t at = 0; at < size;) {
    const char *end = memchr(text + at, '\n', size - at);
    size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
    if (length > 0 && memchr(text + at, '\0', length) == NULL) {
      CST__TRY(add_line(paths, text + at, length, error));
    }
    at += length + 1;
  }
  return CST_OK;
}

cst_status cst__url_expand(const char *program, const char *url, cst__paths *paths,
                           cst_error *error) {
  size_t name_size = cst__url_name_size(url);
  if (strcspn(url, "*?[") >= name_size) {
    return add_line(paths, url, strlen(url), error);
  }
  const char *argv[] = {program, "list", url, NULL};
  cst__process *process;
  char *text = NULL;
  size_t size = 0;
  CST__TRY(cst__process_start(program, argv, CST__PROCESS_READS, NULL, &process, error));
  cst_status status = read_listing(process, &text, &size, error);
  cst__process_free(process);
  if (status == CST_OK) {
    status = add_lines(paths, text, size, error);
  }
  cst__delete(text);
  if (status != CST_OK) {
    add_listed_name(error, url);
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
    add_listed_name(error, reader->url);
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
