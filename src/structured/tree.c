/* Types as trees: text with lines, or JSON.
 *
 * Both walk the same tree twice over: down the fields that are to be seen, and at each of them down
 * its list levels, which have no lines of their own but brackets in the shape of the field.
 */

#include <columnstone/structured.h>
#include <inttypes.h>
#include <string.h>

#include "arrow/type.h"
#include "base/arguments.h"
#include "base/utf8.h"

/* Types stand in one column, unless the name before one ends beyond this. */
enum { MOST_NAME_COLUMNS = 48, BRANCH_COLUMNS = 3 };

typedef struct tree_writer {
  const cst_tree_options *options;
  cst__arena *arena;
  cst__text out;
  size_t type_column;
  size_t depth;                          /* of the line, that of the root is 0 */
  bool is_last[CST__TYPE_MAX_DEPTH + 1]; /* of its struct: the field at each depth, from 1 on */
} tree_writer;

/* ---- the type of one field ---- */

/* What the slots hold: a dictionary stands for its values. */
static const cst__type *held(const cst__type *type) {
  return type->dictionary != NULL ? held(type->dictionary) : type;
}

/* One level further down. NULL: there are no further lists. */
static const cst__type *tree_next_level(const cst__type *type) {
  type = held(type);
  return cst__layout_is_list(type->layout) ? &type->children[0] : NULL;
}

/* Below all list levels. */
static const cst__type *tree_element(const cst__type *type) {
  for (const cst__type *next; (next = tree_next_level(type)) != NULL;) {
    type = next;
  }
  return type;
}

/* Items of each list of the level; -1: it varies. */
static int64_t level_size(const cst__type *type) {
  type = held(type);
  return type->layout == CST__LAYOUT_FIXED_LIST ? type->fixed_size : -1;
}

static void put_escaped(tree_writer *w, const char *text) {
  size_t size = strlen(text);
  size_t room = size * 4 + 1; /* \xNN */
  char *escaped = cst__arena_take(w->arena, room);
  if (escaped == NULL) {
    w->out.failed = true;
    return;
  }
  cst__escape(escaped, room, text, size);
  cst__text_puts(&w->out, escaped);
}

static const char *tree_unit(char letter) {
  return letter == 's' ? "s" : letter == 'm' ? "ms" : letter == 'u' ? "us" : "ns";
}

/* "tsu:UTC" and its like. */
static void put_temporal(tree_writer *w, const char *format) {
  char unit = format[2];
  switch (format[1]) {
    case 's':
      cst__text_printf(&w->out, "timestamp[%s%s", tree_unit(unit), format[4] != '\0' ? ", " : "");
      put_escaped(w, format + 4);
      cst__text_puts(&w->out, "]");
      break;
    case 'd':
      cst__text_puts(&w->out, unit == 'D' ? "date32" : "date64");
      break;
    case 't':
      cst__text_printf(&w->out, "time%s[%s]", unit == 's' || unit == 'm' ? "32" : "64",
                       tree_unit(unit));
      break;
    case 'D':
      cst__text_printf(&w->out, "duration[%s]", tree_unit(unit));
      break;
    default:
      cst__text_printf(&w->out, "interval[%s]",
                       unit == 'M'   ? "month"
                       : unit == 'D' ? "day_time"
                                     : "month_day_nano");
  }
}

/* The name of what is neither a list nor nested; formats have been checked. */
static void put_value_type(tree_writer *w, const cst__type *type) {
  switch (type->layout) {
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
      cst__text_puts(&w->out, type->is_string ? "string" : "binary");
      break;
    case CST__LAYOUT_FIXED_BINARY:
      cst__text_printf(&w->out, "binary(%" PRId64 ")", type->fixed_size);
      break;
    case CST__LAYOUT_OPAQUE:
      if (type->format[0] == 't') {
        put_temporal(w, type->format);
      } else {
        /* "d:10,2" and "d:10,2,256". */
        const char *precision = type->format + 2;
        const char *scale = strchr(precision, ',') + 1;
        cst__text_printf(&w->out, "decimal%" PRId64 "(%.*s, %.*s)", type->fixed_size * 8,
                         (int)(scale - 1 - precision), precision, (int)strcspn(scale, ","), scale);
      }
      break;
    default:
      cst__text_puts(&w->out, cst__layout_name(type->format));
  }
}

static void put_element_type(tree_writer *w, const cst__type *type) {
  bool is_map = false;
  for (const cst__type *next; (next = tree_next_level(type)) != NULL;) {
    is_map = cst__type_is_map(held(type));
    type = next;
  }
  if (is_map) {
    cst__text_puts(&w->out, "map");
  } else {
    put_value_type(w, held(type));
  }
}

/* ---- the fields below ---- */

/* The struct whose fields are those of the line; NULL: there are none. */
static const cst__type *struct_below(const cst__type *type) {
  type = held(tree_element(type));
  return type->layout == CST__LAYOUT_STRUCT ? type : NULL;
}

/* How many fields of a struct have lines. */
static size_t fields_shown(const tree_writer *w, const cst__type *fields) {
  size_t most = w->options->max_fields > 0 ? w->options->max_fields : SIZE_MAX;
  if (w->options->max_depth > 0 && w->depth + 1 >= w->options->max_depth) {
    return 0;
  }
  return fields->num_children < most ? fields->num_children : most;
}

/* ---- text ---- */

static size_t tree_text_columns(const char *utf8, size_t size) {
  size_t columns = 0;
  for (size_t i = 0; i < size; i++) {
    columns += ((unsigned char)utf8[i] & 0xc0) != 0x80;
  }
  return columns;
}

/* "│  ├─ " */
static void put_branches(tree_writer *w) {
  bool ascii = (w->options->flags & CST_TREE_ASCII) != 0;
  for (size_t i = 1; i < w->depth; i++) {
    cst__text_puts(&w->out, w->is_last[i] ? "   " : ascii ? "|  " : "│  ");
  }
  if (w->depth > 0) {
    bool last = w->is_last[w->depth];
    cst__text_puts(&w->out, ascii ? (last ? "`- " : "|- ") : last ? "└─ " : "├─ ");
  }
}

/* Gives the columns of what it puts. */
static size_t put_field_name(tree_writer *w, const char *name) {
  size_t before = w->out.size;
  if (name[0] == '\0') {
    cst__text_puts(&w->out, "\"\"");
  } else {
    put_escaped(w, name);
  }
  return w->out.failed ? 0 : tree_text_columns(w->out.data + before, w->out.size - before);
}

static void put_line(tree_writer *w, const cst__type *type, size_t shown) {
  put_branches(w);
  if (w->depth > 0) {
    size_t columns = w->depth * BRANCH_COLUMNS + put_field_name(w, type->name);
    size_t gap = columns + 2 < w->type_column ? w->type_column - columns : 2;
    cst__text_printf(&w->out, "%*s", (int)gap, "");
  }
  const cst__type *element = tree_element(type);
  for (const cst__type *level = type; level != element; level = tree_next_level(level)) {
    int64_t size = level_size(level);
    if (size < 0) {
      cst__text_puts(&w->out, "[*]");
    } else {
      cst__text_printf(&w->out, "[%" PRId64 "]", size);
    }
    cst__text_puts(&w->out, cst__type_is_nullable(level) ? "?" : "");
  }
  cst__text_puts(&w->out, element != type ? " " : "");
  put_element_type(w, type);
  cst__text_puts(&w->out, cst__type_is_nullable(element) ? "?" : "");
  const cst__type *fields = struct_below(type);
  if (fields != NULL && shown == 0) {
    size_t count = fields->num_children;
    cst__text_printf(&w->out, ", %zu field%s", count, count == 1 ? "" : "s");
  }
  cst__text_puts(&w->out, "\n");
}

/* The type of a line, and those of all below it. */
static void put_lines(tree_writer *w, const cst__type *type) {
  const cst__type *fields = struct_below(type);
  size_t shown = fields != NULL ? fields_shown(w, fields) : 0;
  put_line(w, type, shown);
  w->depth++;
  for (size_t i = 0; i < shown; i++) {
    w->is_last[w->depth] = i + 1 == fields->num_children;
    put_lines(w, &fields->children[i]);
  }
  if (shown > 0 && shown < fields->num_children) {
    w->is_last[w->depth] = true;
    size_t more = fields->num_children - shown;
    put_branches(w);
    cst__text_printf(&w->out, "%s %zu more field%s\n",
                     (w->options->flags & CST_TREE_ASCII) != 0 ? "..." : "…", more,
                     more == 1 ? "" : "s");
  }
  w->depth--;
}

/* The column after the longest name that is not too long. */
static void find_type_column(tree_writer *w, const cst__type *type) {
  const cst__type *fields = struct_below(type);
  size_t shown = fields != NULL ? fields_shown(w, fields) : 0;
  w->depth++;
  for (size_t i = 0; i < shown; i++) {
    size_t columns = w->depth * BRANCH_COLUMNS + put_field_name(w, fields->children[i].name);
    if (columns <= MOST_NAME_COLUMNS && columns + 2 > w->type_column) {
      w->type_column = columns + 2;
    }
    w->out.size = 0;
    find_type_column(w, &fields->children[i]);
  }
  w->depth--;
}

/* ---- JSON ---- */

static void tree_put_json_string(tree_writer *w, const char *text) {
  const uint8_t *bytes = (const uint8_t *)text;
  size_t left = strlen(text);
  cst__text_puts(&w->out, "\"");
  while (left > 0) {
    size_t size = cst__utf8_char_size(bytes, left);
    if (size == 0) {
      cst__text_puts(&w->out, "\\ufffd");
    } else if (*bytes == '"' || *bytes == '\\' || *bytes < 0x20 || *bytes == 0x7f) {
      cst__text_printf(&w->out, "\\u%04x", *bytes);
    } else {
      cst__text_append(&w->out, bytes, size);
    }
    size = size > 0 ? size : 1;
    bytes += size;
    left -= size;
  }
  cst__text_puts(&w->out, "\"");
}

static void put_json_shape(tree_writer *w, const cst__type *type) {
  const cst__type *element = tree_element(type);
  cst__text_puts(&w->out, "[");
  for (const cst__type *level = type; level != element; level = tree_next_level(level)) {
    cst__text_puts(&w->out, level != type ? ", " : "");
    if (level_size(level) < 0) {
      cst__text_puts(&w->out, "null");
    } else {
      cst__text_printf(&w->out, "%" PRId64, level_size(level));
    }
  }
  cst__text_puts(&w->out, "], \"nullable\": [");
  for (const cst__type *level = type; level != NULL; level = tree_next_level(level)) {
    cst__text_printf(&w->out, "%s%s", level != type ? ", " : "",
                     cst__type_is_nullable(level) ? "true" : "false");
  }
  cst__text_puts(&w->out, "]");
}

static void put_json(tree_writer *w, const cst__type *type) {
  const cst__type *fields = struct_below(type);
  size_t shown = fields != NULL ? fields_shown(w, fields) : 0;
  cst__text_puts(&w->out, "{");
  if (w->depth > 0) {
    cst__text_puts(&w->out, "\"name\": ");
    tree_put_json_string(w, type->name);
    cst__text_puts(&w->out, ", ");
  }
  cst__text_puts(&w->out, "\"type\": ");
  /* Escaped, for a time zone may hold anything. */
  cst__text outer = w->out;
  w->out = (cst__text){0};
  put_element_type(w, type);
  cst__text name = w->out;
  w->out = outer;
  if (name.failed) {
    w->out.failed = true;
  } else {
    tree_put_json_string(w, name.data);
  }
  cst__text_free(&name);
  cst__text_puts(&w->out, ", \"shape\": ");
  put_json_shape(w, type);
  if (fields != NULL && shown < fields->num_children) {
    cst__text_printf(&w->out, ", \"num_fields\": %zu", fields->num_children);
  }
  cst__text_puts(&w->out, fields != NULL ? ", \"fields\": [" : "");
  w->depth++;
  for (size_t i = 0; i < shown; i++) {
    cst__text_printf(&w->out, "%s\n%*s", i > 0 ? "," : "", (int)w->depth, "");
    put_json(w, &fields->children[i]);
  }
  w->depth--;
  cst__text_puts(&w->out, fields != NULL ? "]}" : "}");
}

cst_status cst_type_to_text(const struct ArrowSchema *type, const cst_tree_options *options,
                            char **text, size_t *size, cst_error *error) {
  CST__CLEAR(text);
  CST__CLEAR(size);
  if (type == NULL || text == NULL) {
    return cst__missing(type == NULL ? "type" : "text", error);
  }
  cst_tree_options own = CST_TREE_OPTIONS_INIT;
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_flags(own.flags, CST_TREE_ASCII | CST_TREE_JSON, error));
  cst__arena arena;
  cst__type root;
  cst__arena_init(&arena, NULL);
  cst_status status = cst__type_import(type, &arena, &root, error);
  if (status == CST_OK) {
    tree_writer w = {.options = &own, .arena = &arena};
    if ((own.flags & CST_TREE_JSON) != 0) {
      put_json(&w, &root);
      cst__text_puts(&w.out, "\n");
    } else {
      find_type_column(&w, &root);
      put_lines(&w, &root);
    }
    status = cst__text_finish(&w.out, text, size, error);
  }
  cst__arena_reset(&arena);
  return status;
}
