/* Pieces of schemas as single lines: protobuf text without its line breaks, or fewer words. */
#include "schema/diff_text.h"

#include <inttypes.h>

#include "schema/diff_breaks.h"
#include "schema/internal.h"

static bool is_diff_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/* Appends text with single spaces for all space outside of quotes. */
static void put_joined(cst__text *out, const char *text, size_t size) {
  char quote = '\0';
  while (size > 0 && is_diff_space(text[size - 1])) {
    size--;
  }
  for (size_t i = 0; i < size; i++) {
    char c = text[i];
    if (quote == '\0' && is_diff_space(c)) {
      cst__text_append(out, " ", 1);
      while (is_diff_space(text[i + 1])) i++; /* the last byte is not a space */
      continue;
    }
    cst__text_append(out, &c, 1);
    if (quote != '\0' && c == '\\' && i + 1 < size) {
      cst__text_append(out, &text[++i], 1);
    } else if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    }
  }
}

/* Appends the text of a message after its first `skipped` bytes, in one line. */
static void append_message(cst__text *out, const cst__message *message, size_t skipped) {
  cst__text text = {0};
  cst__message_put_text(message, &text);
  if (text.failed) {
    out->failed = true;
  } else if (text.size > skipped) {
    put_joined(out, text.data + skipped, text.size - skipped);
  }
  cst__text_free(&text);
}

/* One value, without the field's name and what stands between them. */
static void append_diff_value(cst__text *out, const cst__field *field, size_t i) {
  cst__value value = *cst__field_value(field, i);
  cst__field one = {.def = field->def, .count = 1};
  cst__message alone = {.first = &one, .last = &one};
  size_t skipped = strlen(field->def->name) + (cst__field_is_message(field->def) ? 1 : 2);
  if (cst__field_is_repeated(field->def)) {
    one.as.many = &value;
  } else {
    one.as.one = value;
  }
  append_message(out, &alone, skipped);
}

void cst__line_put_field(cst__text *out, const cst__field *field) {
  bool is_list = field != NULL && cst__field_is_repeated(field->def);
  cst__text_puts(out, is_list ? "[" : "");
  for (size_t i = 0; field != NULL && i < field->count; i++) {
    cst__text_puts(out, i > 0 ? ", " : "");
    append_diff_value(out, field, i);
  }
  cst__text_puts(out, is_list ? "]" : "");
}

void cst__line_put_message(cst__text *out, const cst__message *message) {
  size_t size = out->size;
  cst__text_puts(out, "{ ");
  append_message(out, message, 0);
  cst__text_puts(out, out->size > size + 2 ? " }" : "}");
}

void cst__line_put_unknown(cst__text *out, const cst__message *message) {
  cst__message unknown = {.unknown_first = message->unknown_first,
                          .unknown_last = message->unknown_last,
                          .expanded_any = message->expanded_any};
  append_message(out, &unknown, 0);
}

void cst__line_put_shape(cst__text *out, const cst__message *shape) {
  const cst__field *dims = shape != NULL ? cst__message_find(shape, SHAPE_DIM) : NULL;
  cst__text_puts(out, shape != NULL ? "[" : "");
  for (size_t i = 0; dims != NULL && i < dims->count; i++) {
    const cst__message *dim = cst__nth_message(dims, i);
    int64_t size = cst__message_int(dim, DIM_SIZE, -1);
    cst_bytes name = cst__message_bytes(dim, DIM_NAME);
    cst__text_puts(out, i > 0 ? ", " : "");
    cst__text_append(out, name.data, name.size);
    cst__text_puts(out, name.size > 0 ? ": " : "");
    if (size < 0) {
      cst__text_puts(out, "?");
    } else {
      cst__text_printf(out, "%" PRId64, size);
    }
  }
  cst__text_puts(out, shape != NULL ? "]" : "");
}

/* Values beyond these are counted, not named. */
enum { MAX_NAMED = 20 };

bool cst__line_put_strings(cst__text *out, const cst__message *domain, const cst__message *other) {
  const cst__field *values = cst__message_find(domain, STRING_DOMAIN_VALUE);
  size_t count = values != NULL ? values->count : 0;
  size_t more = 0;
  cst__name_map known = {0};
  bool ok = cst__strings_add(&known, cst__message_find(other, STRING_DOMAIN_VALUE));
  cst__text_printf(out, "%zu value%s", count, count == 1 ? "" : "s");
  for (size_t i = 0; ok && i < count; i++) {
    cst_bytes value = cst__nth_bytes(values, i);
    if (!cst__strings_has(&known, value) && ++more <= MAX_NAMED) {
      cst__text_puts(out, more == 1 ? ", with " : ", ");
      cst__text_put_quoted(out, value, true);
    }
  }
  if (more > MAX_NAMED) {
    cst__text_printf(out, " and %zu more", more - MAX_NAMED);
  }
  cst__name_map_reset(&known);
  return ok;
}

void cst__line_put_beside_strings(cst__text *out, const cst__message *domain) {
  cst__message rest = *domain;
  cst__field fields[8]; /* StringDomain has three */
  size_t count = 0;
  for (const cst__field *field = domain->first; field != NULL; field = field->next) {
    if (field->def->number != STRING_DOMAIN_VALUE && count < 8) {
      fields[count] = *field;
      fields[count].next = NULL;
      if (count > 0) {
        fields[count - 1].next = &fields[count];
      }
      count++;
    }
  }
  rest.first = count > 0 ? fields : NULL;
  if (count > 0 || rest.unknown_first != NULL) {
    cst__text_puts(out, " ");
    cst__line_put_message(out, &rest);
  }
}
