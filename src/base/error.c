/* cst_error: status names, filling, and the one-line text. */
#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

const char *cst_status_name(cst_status status) {
  switch (status) {
#define CST__NAME(name, number, text) \
  case CST_##name:                    \
    return #name;
    CST_STATUS_MAP(CST__NAME)
#undef CST__NAME
  }
  return "UNKNOWN";
}

static const char *status_text(cst_status status) {
  switch (status) {
#define CST__TEXT(name, number, text) \
  case CST_##name:                    \
    return text;
    CST_STATUS_MAP(CST__TEXT)
#undef CST__TEXT
  }
  return "unknown status";
}

const char *cst_version(void) {
#define CST__STRING(x) #x
#define CST__VERSION(a, b, c) CST__STRING(a) "." CST__STRING(b) "." CST__STRING(c)
  return CST__VERSION(CST_VERSION_MAJOR, CST_VERSION_MINOR, CST_VERSION_PATCH);
#undef CST__VERSION
#undef CST__STRING
}

/* Appends one character of the input to buf, escaped if need be; returns the bytes that it takes.
 */
static size_t escape_one(char out[5], const char *bytes, size_t size, size_t *used) {
  unsigned char c = (unsigned char)bytes[0];
  size_t length = cst__utf8_char_size((const uint8_t *)bytes, size);
  if (length == 0 || cst__utf8_is_hidden((const uint8_t *)bytes, length)) {
    *used = 1;
    return (size_t)snprintf(out, 5, "\\x%02x", c);
  }
  memcpy(out, bytes, length);
  *used = length;
  return length;
}

size_t cst_text_escape(char *buf, size_t n, const char *bytes, size_t size) {
  size_t at = 0;
  size_t end = 0; /* of what fits */
  for (size_t i = 0; bytes != NULL && i < size;) {
    char one[5];
    size_t used;
    size_t length = escape_one(one, bytes + i, size - i, &used);
    if (end == at && at + length < n) {
      memcpy(buf + at, one, length);
      end += length;
    }
    at += length;
    i += used;
  }
  if (n > 0) {
    buf[end] = '\0';
  }
  return at;
}

void cst__escape(char *buf, size_t n, const char *bytes, size_t size) {
  size_t at = 0;
  size_t cut = 0; /* the last place where "..." still fits */
  if (n == 0) {
    return;
  }
  for (size_t i = 0; i < size;) {
    char one[5];
    size_t used;
    size_t length = escape_one(one, bytes + i, size - i, &used);
    if (at + length >= n) {
      at = cut;
      size_t dots = n - 1 - at < 3 ? n - 1 - at : 3;
      memcpy(buf + at, "...", dots);
      at += dots;
      break;
    }
    memcpy(buf + at, one, length);
    at += length;
    if (at + 3 < n) {
      cut = at;
    }
    i += used;
  }
  buf[at] = '\0';
}

/* ---- members: only as many bytes as the caller's struct has ---- */

static size_t room(const cst_error *error, size_t offset, size_t size) {
  size_t rest = error->size > offset ? error->size - offset : 0;
  return rest < size ? rest : size;
}

#define ROOM(error, member) room(error, offsetof(cst_error, member), sizeof(error)->member)
#define HAS(error, member) (ROOM(error, member) > 0 && (error)->member[0] != '\0')
#define SET(error, member, text, length) \
  cst__escape((error)->member, ROOM(error, member), text, length)

void cst__error_forget_record(cst_error *error) {
  if (cst__error_wanted(error)) {
    error->record = -1;
    error->offset = -1;
    SET(error, file, "", 0);
  }
}

cst_status(cst__fail)(cst_error *error, cst_status code, const char *hint, const char *fmt, ...) {
  if (!cst__error_wanted(error)) {
    return code;
  }
  char text[1024];
  va_list args;
  va_start(args, fmt);
  int length = vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  size_t size = length < 0 ? 0 : (size_t)length;
  if (size >= sizeof text) {
    size = sizeof text - 1;
  }
  error->code = code;
  cst__error_forget_record(error);
  error->line = 0;
  error->column = 0;
  SET(error, path, "", 0);
  SET(error, message, text, size);
  cst__error_set_hint(error, hint);
  return code;
}

cst_status(cst__fail_memory)(cst_error *error, size_t wanted) {
  return cst__fail(error, CST_NO_MEMORY, "use smaller batches or fewer threads",
                   "could not allocate %zu bytes", wanted);
}

static void copy_text(char *to, size_t to_room, const char *from, size_t from_room) {
  cst__escape(to, to_room, from, strnlen(from, from_room));
}

#define COPY(to, from, member) \
  copy_text((to)->member, ROOM(to, member), (from)->member, ROOM(from, member))

void cst__error_copy(cst_error *to, const cst_error *from) {
  if (!cst__error_wanted(to)) {
    return;
  }
  size_t size = to->size;
  if (size >= sizeof *to && from->size >= sizeof *from) {
    *to = *from;
    to->size = size;
    return;
  }
  memcpy(&to->code, &from->code, offsetof(cst_error, path) - offsetof(cst_error, code));
  COPY(to, from, path);
  COPY(to, from, message);
  COPY(to, from, hint);
  COPY(to, from, file);
}

cst_status cst__error_take(cst_error *error, const char *call, cst_status status, cst_error *own) {
  if (status == CST_OK) {
    return CST_OK;
  }
  if (own->code == CST_OK) {
    (void)cst__fail(own, status, NULL, "the %s failed with status %d", call, (int)status);
  }
  own->code = status;
  cst__error_copy(error, own);
  return status;
}

bool cst__error_has_path(const cst_error *error) {
  return cst__error_wanted(error) && HAS(error, path);
}

void cst__error_set_hint(cst_error *error, const char *hint) {
  if (cst__error_wanted(error)) {
    SET(error, hint, hint != NULL ? hint : "", hint != NULL ? strlen(hint) : 0);
  }
}

/* Of a URL no secrets. One that is cut may have lost the mark behind its user. */
void cst__error_add_file(cst_error *error, const char *file) {
  if (!cst__error_wanted(error) || file == NULL || HAS(error, file)) {
    return;
  }
  if (strstr(file, "://") == NULL) {
    SET(error, file, file, strlen(file));
    return;
  }
  char shown[sizeof error->file];
  size_t size = strnlen(file, sizeof shown - 1);
  memcpy(shown, file, size);
  shown[size] = '\0';
  if (file[size] != '\0') {
    char *last = shown;
    for (char *mark; (mark = strstr(last, "://")) != NULL;) {
      last = mark + 3;
    }
    last[strchr(last, '/') != NULL ? strlen(last) : 0] = '\0';
  }
  cst_url_make_printable(shown);
  SET(error, file, shown, strlen(shown));
}

void cst__error_add_record(cst_error *error, int64_t record, int64_t offset) {
  if (!cst__error_wanted(error)) {
    return;
  }
  if (error->record < 0) {
    error->record = record;
  }
  if (error->offset < 0) {
    error->offset = offset;
  }
}

void cst__error_add_position(cst_error *error, int64_t line, int64_t column) {
  if (cst__error_wanted(error) && error->line == 0) {
    error->line = line;
    error->column = column;
  }
}

void cst__error_add_path(cst_error *error, const char *step, size_t size) {
  if (!cst__error_wanted(error) || ROOM(error, path) == 0) {
    return;
  }
  size_t n = ROOM(error, path);
  char below[sizeof error->path];
  memcpy(below, error->path, n);
  cst__escape(error->path, n, step, size);
  size_t length = strlen(error->path);
  if (below[0] != '\0' && length + 1 < n) {
    error->path[length] = '.';
    cst__escape(error->path + length + 1, n - length - 1, below, strnlen(below, n));
  }
}

/* A buffer that counts what did not fit. */
typedef struct text_out {
  char *buf;
  size_t n;
  size_t size;
} text_out;

static void text_add(text_out *out, const char *text, size_t size) {
  for (size_t i = 0; i < size; i++, out->size++) {
    if (out->size + 1 < out->n) {
      out->buf[out->size] = text[i];
    }
  }
}

enum { MAX_TEXT = 256 }; /* bytes of an error's text besides the file's path */

/* "record 3, byte 120: feature 'a': message (hint)", cut to MAX_TEXT bytes. */
static size_t compose(const cst_error *error, char *text, size_t n) {
  char place[128] = "";
  char path[100] = "";
  int at = 0;
  if (error->record >= 0) {
    at += snprintf(place, sizeof place, "record %" PRId64, error->record);
  }
  if (error->offset >= 0) {
    at += snprintf(place + at, sizeof place - (size_t)at, "%sbyte %" PRId64, at ? ", " : "",
                   error->offset);
  }
  if (error->line > 0) {
    at += snprintf(place + at, sizeof place - (size_t)at, "%sline %" PRId64 ", column %" PRId64,
                   at ? ", " : "", error->line, error->column);
  }
  if (error->path[0] != '\0') {
    char shown[80];
    cst__escape(shown, sizeof shown, error->path, strlen(error->path));
    snprintf(path, sizeof path, "%sfeature '%s'", at ? ", " : "", shown);
  }
  const char *message = error->message[0] ? error->message : status_text(error->code);
  char all[1024];
  int length =
      snprintf(all, sizeof all, "%s%s%s%s%s%s%s", place, path, at || path[0] ? ": " : "", message,
               error->hint[0] ? " (" : "", error->hint, error->hint[0] ? ")" : "");
  cst__escape(text, n, all, length < 0 ? 0 : (size_t)length);
  return strlen(text);
}

size_t cst_error_format(const cst_error *error, char *buf, size_t n) {
  text_out out = {buf, buf != NULL ? n : 0, 0};
  char text[MAX_TEXT];
  cst_error own = CST_ERROR_INIT; /* has all members, if the caller's has not */
  if (cst__error_wanted(error)) {
    cst__error_copy(&own, error);
  }
  if (own.file[0] != '\0') {
    text_add(&out, own.file, strlen(own.file));
    text_add(&out, ": ", 2);
  }
  size_t size = compose(&own, text, sizeof text);
  text_add(&out, text, size);
  if (buf != NULL && n > 0) {
    buf[out.size < n ? out.size : n - 1] = '\0';
  }
  return out.size;
}

const char *cst_dtype_name(cst_dtype dtype) {
  switch (dtype) {
    case CST_DTYPE_NONE:
      return "none";
#define CST__DTYPE(name, number, width, text) \
  case CST_DTYPE_##name:                      \
    return text;
      CST_DTYPE_MAP(CST__DTYPE)
#undef CST__DTYPE
  }
  return "unknown";
}

size_t cst_dtype_width(cst_dtype dtype) {
  switch (dtype) {
    case CST_DTYPE_NONE:
      return 0;
#define CST__DTYPE(name, number, width, text) \
  case CST_DTYPE_##name:                      \
    return width;
      CST_DTYPE_MAP(CST__DTYPE)
#undef CST__DTYPE
  }
  return 0;
}

bool cst__is_fault(cst_status status) {
  return status == CST_CORRUPT || status == CST_SCHEMA || status == CST_LIMIT ||
         status == CST_FORMAT || status == CST_UNSUPPORTED;
}

int cst__error_number(cst_status status) {
  switch (status) {
    case CST_OK:
      return 0;
    case CST_NO_MEMORY:
      return ENOMEM;
    case CST_IO:
    case CST_NOT_FOUND:
    case CST_CALLBACK:
      return EIO;
    case CST_UNSUPPORTED:
      return ENOTSUP;
    case CST_INTERRUPTED:
      return EINTR;
    case CST_TIMEOUT:
      return ETIMEDOUT;
    default:
      return EINVAL;
  }
}
