/* JSON and sizes for people, as the verbs print them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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

enum { ESCAPED_CHAR = 24 /* bytes of a character, escaped */ };

/* True if a terminal would obey the character; what it is then escaped to. */
static bool is_obeyed(const unsigned char *c, size_t size, char buf[ESCAPED_CHAR]) {
  return cst_text_escape(buf, ESCAPED_CHAR, (const char *)c, size) != size;
}

static void print_char(FILE *out, const unsigned char *c, size_t size) {
  char buf[ESCAPED_CHAR];
  (void)is_obeyed(c, size > 0 ? size : 1, buf);
  fputs(buf, out);
}

void cli_print_text(FILE *out, const char *text) {
  for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
    size_t size = char_size(c);
    print_char(out, c, size);
    c += size > 0 ? size : 1;
  }
}

void cli_print_name(FILE *out, const char *name) {
  char *shown = strdup(name);
  if (shown != NULL) {
    cst_url_make_printable(shown);
    cli_print_text(out, shown);
  }
  free(shown);
}

void cli_print_lines(FILE *out, const char *text) {
  for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
    size_t size = char_size(c);
    if (*c == '\n') {
      fputc(*c, out);
    } else {
      print_char(out, c, size);
    }
    c += size > 0 ? size : 1;
  }
}

/* As \\u202e; the characters of this kind have at most three bytes. */
static void print_json_escape(FILE *out, const unsigned char *c, size_t size) {
  unsigned code = size == 1   ? c[0]
                  : size == 2 ? (c[0] & 0x1fU) << 6 | (c[1] & 0x3fU)
                              : (c[0] & 0x0fU) << 12 | (c[1] & 0x3fU) << 6 | (c[2] & 0x3fU);
  fprintf(out, "\\u%04x", code);
}

void cli_print_json(FILE *out, const char *json) {
  char buf[ESCAPED_CHAR];
  for (const unsigned char *c = (const unsigned char *)json; *c != '\0';) {
    size_t size = char_size(c);
    if (*c != '\n' && size > 0 && is_obeyed(c, size, buf)) {
      print_json_escape(out, c, size);
    } else {
      fwrite(c, 1, size > 0 ? size : 1, out);
    }
    c += size > 0 ? size : 1;
  }
}

void cli_json_string(FILE *out, const char *text) {
  if (text == NULL) {
    fputs("null", out);
    return;
  }
  char buf[ESCAPED_CHAR];
  fputc('"', out);
  for (const unsigned char *c = (const unsigned char *)text; *c != '\0';) {
    size_t size = char_size(c);
    if (size == 0) {
      fputs("\\ufffd", out);
      size = 1;
    } else if (*c == '"' || *c == '\\') {
      fprintf(out, "\\%c", *c);
    } else if (is_obeyed(c, size, buf)) {
      print_json_escape(out, c, size);
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

/* ---- tables ---- */

enum { USUAL_WIDTH = 100 /* where there is no terminal */ };

int cli_width(void) {
  struct winsize size;
  bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : USUAL_WIDTH;
}

/* "" for a variable that is not set. */
static const char *environment(const char *variable) {
  const char *value = getenv(variable);
  return value != NULL ? value : "";
}

static bool is_styled(FILE *out) {
  const char *term = environment("TERM");
  const char *force = environment("CLICOLOR_FORCE");
  if (environment("NO_COLOR")[0] != '\0') {
    return false;
  }
  if (force[0] != '\0' && strcmp(force, "0") != 0) {
    return true;
  }
  return isatty(fileno(out)) && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

const char *cli_style_code(cli_style style, FILE *out) {
  static const char *const codes[] = {"\033[0m", "\033[1m", "\033[33m", "\033[31m"};
  return is_styled(out) ? codes[style] : "";
}

void cli_set_style(cli_style style) { fputs(cli_style_code(style, stdout), stdout); }

size_t cli_cut(const char *text, int most, int *count) {
  size_t size = 0;
  *count = 0;
  while (text[size] != '\0') {
    char buf[ESCAPED_CHAR];
    const unsigned char *c = (const unsigned char *)text + size;
    const size_t bytes = char_size(c) > 0 ? char_size(c) : 1;
    const int cells = is_obeyed(c, bytes, buf) ? (int)strlen(buf) : 1;
    if (*count + cells > most) {
      break;
    }
    size += bytes;
    *count += cells;
  }
  return size;
}

void cli_print_cell(const char *value, int width, bool pad) {
  int count;
  size_t whole = strlen(value);
  size_t size = cli_cut(value, width, &count);
  if (size < whole) {
    size = cli_cut(value, width - 1, &count);
  }
  char *shown = malloc(size + 4);
  if (shown == NULL) {
    return;
  }
  snprintf(shown, size + 4, "%.*s%s", (int)size, value, size < whole ? "…" : "");
  cli_print_text(stdout, shown);
  free(shown);
  printf("%*s", pad ? width - count - (size < whole) : 0, "");
}
