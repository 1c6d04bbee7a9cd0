/* Texts of a store in pictures: escaped, and cut. */
#include "lineage/graph/graph_text.h"

#include "base/utf8.h"

/* One character: its size, and what stands for it; NULL: itself. */
static size_t escape(const uint8_t *at, size_t left, cst__graph_escapes escapes,
                     const char **instead) {
  static const char unknown[] = "\xef\xbf\xbd";
  const size_t size = cst__utf8_char_size(at, left);
  *instead = NULL;
  if (size == 0) {
    *instead = unknown;
    return 1;
  }
  /* XML has no U+FFFE and U+FFFF. */
  if (cst__utf8_is_hidden(at, size) || (at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe)) {
    *instead = unknown;
  } else if (at[0] == '&') {
    *instead = "&amp;"; /* in DOT, too */
  } else if (at[0] == '"') {
    *instead = escapes == CST__GRAPH_QUOTED ? "\\\"" : "&quot;";
  } else if (at[0] == '\\' && escapes == CST__GRAPH_QUOTED) {
    *instead = "\\\\";
  } else if (at[0] == '<' && escapes == CST__GRAPH_SHOWN) {
    *instead = "&lt;";
  } else if (at[0] == '>' && escapes == CST__GRAPH_SHOWN) {
    *instead = "&gt;";
  }
  return size;
}

static void put_range(cst__text *out, const char *text, size_t size, cst__graph_escapes escapes) {
  const uint8_t *at = (const uint8_t *)text;
  while (size > 0) {
    const char *instead;
    const size_t taken = escape(at, size, escapes, &instead);
    if (instead != NULL) {
      cst__text_puts(out, instead);
    } else {
      cst__text_append(out, at, taken);
    }
    at += taken;
    size -= taken;
  }
}

void cst__graph_put_xml(cst__text *out, const char *text, cst__graph_escapes escapes) {
  put_range(out, text, strlen(text), escapes);
}

/* About as wide as the character is, in tenths of a pixel, at 12 px and bold. */
static int width_of(const uint8_t *at, size_t size) {
  if (size <= 1) {
    return strchr("ijl.,:;'|!()[]ftrI", at[0]) != NULL ? 48
           : strchr("mwMW@%", at[0]) != NULL           ? 118
           : at[0] >= 'A' && at[0] <= 'Z'              ? 90
                                                       : 79;
  }
  return size == 2 ? 82 : 125;
}

static int width_of_text(const char *text) {
  const uint8_t *at = (const uint8_t *)text;
  int width = 0;
  for (size_t left = strlen(text); left > 0 && width < 100000;) {
    const size_t size = cst__utf8_char_size(at, left);
    width += width_of(at, size);
    at += size > 0 ? size : 1;
    left -= size > 0 ? size : 1;
  }
  return width;
}

void cst__graph_put_cut(cst__text *out, const char *text, int room) {
  const char *version = strrchr(text, '@');
  int left = 10 * room;
  if (width_of_text(text) <= left) {
    cst__graph_put_xml(out, text, CST__GRAPH_SHOWN);
    return;
  }
  if (version != NULL && width_of_text(version) > left / 2) {
    version = NULL;
  }
  left -= 110 + (version != NULL ? width_of_text(version) : 0); /* the ellipsis, and that */
  const uint8_t *at = (const uint8_t *)text;
  size_t rest = strlen(text), taken = 0;
  while (rest > taken) {
    const size_t size = cst__utf8_char_size(at + taken, rest - taken);
    left -= width_of(at + taken, size);
    if (left < 0) {
      break;
    }
    taken += size > 0 ? size : 1;
  }
  put_range(out, text, taken, CST__GRAPH_SHOWN);
  cst__text_puts(out, "…");
  cst__graph_put_xml(out, version != NULL ? version : "", CST__GRAPH_SHOWN);
}

const char *cst__graph_state_class(const char *state) {
  static const char *const states[] = {"live",    "pending",  "marked", "deleted", "abandoned",
                                       "running", "complete", "failed", "canceled"};
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
    if (strcmp(state, states[i]) == 0) {
      return states[i];
    }
  }
  return "";
}
