/* JSON for a terminal: long strings are cut, and long lists. */
#include <string.h>

#include "cli.h"

enum { MOST_CHARACTERS = 60, MOST_ITEMS = 10 };

static const char dots[] = "…";

/* One byte within a string. It is cut between two characters only, never within an escape. */
static void put_in_string(cli_shortener *s, char c) {
  bool between = s->escape == 0 && ((unsigned char)c & 0xc0) != 0x80;
  if (between && c == '"') {
    s->in_string = false;
    s->cut = false;
  } else if (between && s->characters++ == MOST_CHARACTERS) {
    s->cut = true;
    s->put(s->ctx, dots, s->skip == 0 ? strlen(dots) : 0);
  }
  if (s->escape > 0) {
    s->escape = c == 'u' && s->escape == 1 && !s->in_hex ? 4 : s->escape - 1;
    s->in_hex = s->escape > 0;
  } else if (c == '\\') {
    s->escape = 1;
    s->in_hex = false;
  }
  if (!s->cut && s->skip == 0) {
    s->put(s->ctx, &c, 1);
  }
}

static void open_level(cli_shortener *s, char c) {
  if (++s->depth < CLI_DEPTH) {
    s->items[s->depth] = c == '[' ? 1 : INT32_MIN; /* objects are whole */
  }
}

static void next_item(cli_shortener *s) {
  if (s->skip == 0 && s->depth > 0 && s->depth < CLI_DEPTH && ++s->items[s->depth] > MOST_ITEMS) {
    s->put(s->ctx, ", ", 2);
    s->put(s->ctx, dots, strlen(dots));
    s->skip = s->depth;
  }
}

static void close_level(cli_shortener *s) {
  if (s->skip == s->depth) {
    s->skip = 0;
  }
  s->depth--;
}

void cli_shorten(cli_shortener *s, const char *data, size_t size) {
  for (size_t i = 0; i < size; i++) {
    char c = data[i];
    if (s->in_string) {
      put_in_string(s, c);
      continue;
    }
    if (c == '"') {
      s->in_string = true;
      s->characters = 0;
    } else if (c == '[' || c == '{') {
      open_level(s, c);
    } else if (c == ',') {
      next_item(s);
    } else if (c == ']' || c == '}') {
      close_level(s);
    }
    if (s->skip == 0) {
      s->put(s->ctx, &c, 1);
    }
  }
}
