/* JSON and sizes for people, as the verbs print them. */
#include <inttypes.h>
#include <string.h>

#include "cli.h"

/* Bytes of the valid UTF-8 character at the start; 0 if there is none. Text is NUL-terminated, so
 * that a character that is cut ends at the NUL. */
static size_t char_size(const unsigned char *c) {
  size_t size = c[0] < 0x80   ? 1
                : c[0] < 0xc2 ? 0
                : c[0] < 0xe0 ? 2
                : c[0] < 0xf0 ? 3
                : c[0] < 0xf5 ? 4
                              : 0;
  for (size_t i = 1; i < size; i++) {
    if ((c[i] & 0xc0) != 0x80) {
      return 0;
    }
  }
  bool overlong = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
  bool outside = (c[0] == 0xed && c[1] >= 0xa0) || (c[0] == 0xf4 && c[1] >= 0x90);
  return overlong || outside ? 0 : size;
}

/* C1 controls are two bytes in UTF-8. */
static bool is_control(const unsigned char *c) {
  return *c < 0x20 || *c == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0);
}

void cli_print_text(FILE *out, const char *text) {
  for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
    size_t size = char_size(c);
    if (size == 0 || is_control(c)) {
      for (size_t i = 0; i < (size == 0 ? 1 : size); i++) {
        fprintf(out, "\\x%02x", c[i]);
      }
    } else {
      fwrite(c, 1, size, out);
    }
    c += size == 0 ? 1 : size;
  }
}

void cli_json_string(FILE *out, const char *text) {
  if (text == NULL) {
    fputs("null", out);
    return;
  }
  fputc('"', out);
  for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
    size_t size = char_size(c);
    if (size == 0) {
      fputs("\\ufffd", out);
      size = 1;
    } else if (*c == '"' || *c == '\\') {
      fprintf(out, "\\%c", *c);
    } else if (*c < 0x20 || *c == 0x7f) {
      fprintf(out, "\\u%04x", *c);
    } else {
      fwrite(c, 1, size, out);
    }
    c += size;
  }
  fputc('"', out);
}

static void json_place(FILE *out, const char *name, int64_t value) {
  if (value < 0) {
    fprintf(out, ", \"%s\": null", name);
  } else {
    fprintf(out, ", \"%s\": %" PRId64, name, value);
  }
}

static void json_text(FILE *out, const char *name, const char *text) {
  fprintf(out, ", \"%s\": ", name);
  cli_json_string(out, text[0] != '\0' ? text : NULL);
}

void cli_json_error(FILE *out, const cst_error *error) {
  fprintf(out, "{\"code\": \"%s\"", cst_status_name(error->code));
  json_text(out, "file", error->file);
  json_place(out, "record", error->record);
  json_place(out, "offset", error->offset);
  json_text(out, "path", error->path);
  json_text(out, "message", error->message);
  json_text(out, "hint", error->hint);
  fputs("}", out);
}

const char *cli_bytes(double bytes, char buf[32]) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  while (bytes >= 999.95 && unit + 1 < sizeof units / sizeof units[0]) {
    bytes /= 1000;
    unit++;
  }
  snprintf(buf, 32, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return buf;
}
