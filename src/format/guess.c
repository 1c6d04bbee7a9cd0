/* Names formats by their first bytes, for hints only: nothing is ever read by such a guess. */
#include "format/guess.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

typedef struct magic {
  const char *bytes;
  size_t size;
  const char *hint;
  bool is_text; /* more text follows; else it is only believed if something else does */
} magic;

#define MAGIC(text, hint) \
  { text, sizeof(text) - 1, hint, false }
#define TEXT_MAGIC(text, hint) \
  { text, sizeof(text) - 1, hint, true }

static const magic magics[] = {
    TEXT_MAGIC("version https://git-lfs",
               "this is a Git LFS pointer: git lfs pull fetches the file"),
    MAGIC("PAR1",
          "this is a Parquet file (give its path, not a pipe): read it with the format parquet"),
    MAGIC("CSTS", "this is a saved state, such as statistics: give the path of its file"),
    MAGIC("ARROW1", "this is an Arrow file: read it with the format arrow"),
    MAGIC("\xff\xff\xff\xff", "this seems to be an Arrow stream: read it with the format arrow"),
    MAGIC("PK\x03\x04", "this is a zip archive: unpack it first"),
    MAGIC("PK\x05\x06", "this is an empty zip archive"),
    MAGIC("BZh", "this is bzip2: decompress it first (bunzip2), or use gzip or zstd"),
    MAGIC("\xfd\x37zXZ", "this is xz: decompress it first (unxz), or use gzip or zstd"),
    MAGIC("\x04\x22\x4d\x18", "this is lz4: decompress it first (unlz4), or use gzip or zstd"),
    MAGIC("\xff\x06\x00\x00sNaPpY", "this is framed snappy: decompress it first"),
    MAGIC("7z\xbc\xaf\x27\x1c", "this is a 7z archive: unpack it first"),
    MAGIC("Rar!", "this is a rar archive: unpack it first"),
    MAGIC("\x1f\x8b\x08", "this is gzip within the outer compression: decompress it once first"),
    MAGIC("\x28\xb5\x2f\xfd",
          "this is zstd within the outer compression: decompress it once first"),
    MAGIC("Obj\x01", "this is an Avro file: read it with the format avro"),
    MAGIC("ORC", "this is an ORC file"),
    MAGIC("SEQ", "this is a Hadoop sequence file"),
    MAGIC("SQLite format 3", "this is an SQLite database"),
    MAGIC("\x89HDF", "this is an HDF5 file"),
    MAGIC("\x93NUMPY", "this is a NumPy array: numpy.load reads it"),
    MAGIC("\x80\x02", "this seems to be a Python pickle"),
    MAGIC("\x80\x03", "this seems to be a Python pickle"),
    MAGIC("\x80\x04", "this seems to be a Python pickle"),
    MAGIC("\x80\x05", "this seems to be a Python pickle"),
    MAGIC("\x89PNG", "this is a PNG image"),
    MAGIC("\xff\xd8\xff", "this is a JPEG image"),
    MAGIC("RIFF", "this is a RIFF file (WAV, WebP or AVI)"),
    TEXT_MAGIC("%PDF", "this is a PDF document"),
    MAGIC("\x7f"
          "ELF",
          "this is a program or a library"),
    TEXT_MAGIC("features {", "this is a text-format Example: TFRecords hold serialized ones"),
    TEXT_MAGIC("feature {", "this seems to be a text-format protobuf, maybe a schema"),
    MAGIC("\xff\xfe", "this seems to be UTF-16 text"),
    MAGIC("\xfe\xff", "this seems to be UTF-16 text"),
};

static char lower(uint8_t c) { return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); }

static bool begins_with(const uint8_t *head, size_t size, const char *text) {
  for (size_t i = 0; text[i] != '\0'; i++) {
    if (i == size || lower(head[i]) != text[i]) {
      return false;
    }
  }
  return true;
}

static const char *guess_text(const uint8_t *head, size_t size) {
  static const char page[] = "this is an HTML or XML page, maybe the message of a failed download";
  const size_t mark = cst__utf8_mark_size(head, size);
  head += mark;
  size -= mark;
  while (size > 0 && (*head == ' ' || (*head >= '\t' && *head <= '\r'))) {
    head++;
    size--;
  }
  if (begins_with(head, size, "<!doctype") || begins_with(head, size, "<html") ||
      begins_with(head, size, "<?xml") || begins_with(head, size, "<error")) {
    return page;
  }
  if (size == 0 || !cst__is_text(head, size)) {
    return NULL;
  }
  if (*head == '{' || *head == '[') {
    return "this seems to be JSON: read it with the format json";
  }
  for (size_t i = 0; i < size && head[i] != '\n'; i++) {
    if (head[i] == ',' || head[i] == '\t' || head[i] == ';') {
      return "this seems to be CSV or another text table: read it with the format csv";
    }
  }
  return "this seems to be text: name the format (example, sequence_example, message, raw, "
         "csv, json), or the container lines";
}

/* A serialized tf.Example begins with field 1, its length, and within it field 1 again. */
static bool is_bare_example(const uint8_t *head, size_t size) {
  size_t at = 1;
  while (at < size && at < 6 && head[at] >= 0x80) {
    at++;
  }
  return size >= 8 && head[0] == 0x0a && head[at + 1] == 0x0a;
}

static bool is_zeros(const uint8_t *head, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (head[i] != 0) {
      return false;
    }
  }
  return size > 0;
}

static bool has_magic(const uint8_t *head, size_t size, const magic *m) {
  return size >= m->size && memcmp(head, m->bytes, m->size) == 0 &&
         (m->is_text || size == m->size || !cst__is_text(head, size));
}

const char *cst__guess_format(const uint8_t *head, size_t size) {
  for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
    if (has_magic(head, size, &magics[i])) {
      return magics[i].hint;
    }
  }
  if (is_bare_example(head, size)) {
    return "this seems to be one serialized Example without a TFRecord around it";
  }
  if (is_zeros(head, size)) {
    return "the file contains only zero bytes: it was allocated but never written";
  }
  return guess_text(head, size);
}
