/* Misra and Gries's counters as tfx_bsl serialises its MisraGriesSketch. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "sketch/misra_gries/misra_gries.h"
#include "sketch/tfx_forms.h"
#include "sketch/tfx_text.h"

/* ---- writing, back to front ---- */

static void put_bytes(cst__wire_out *out, uint32_t number, cst_bytes bytes) {
  cst__wire_put_bytes(out, bytes.data, bytes.size);
  cst__tfx_end_bytes(out, number, bytes.size);
}

static void put_text(cst__wire_out *out, uint32_t number, const char *text) {
  if (*text != '\0') {
    put_bytes(out, number, (cst_bytes){(const uint8_t *)text, strlen(text)});
  }
}

static void put_texts(cst__wire_out *out, uint32_t number, const cst__misra *misra,
                      const cst__misra_table *table) {
  for (size_t i = table->count; i > 0; i--) {
    char room[CST__VALUE_TEXT_ROOM];
    put_bytes(out, number, cst__misra_item_text(misra, table, i - 1, room));
  }
}

static void put_placeholders(cst__wire_out *out, const cst__misra_options *options) {
  if (options->long_text != NULL) {
    put_text(out, CST__MG_LONG_TEXT, options->long_text);
  }
  if (options->long_text == NULL || options->longest > 0) {
    cst__tfx_put_number(out, CST__MG_THRESHOLD,
                        options->long_text == NULL ? UINT64_MAX : options->longest);
  }
  if (options->invalid_text != NULL) {
    put_text(out, CST__MG_INVALID_TEXT, options->invalid_text);
    cst__tfx_put_number(out, CST__MG_REPLACES_INVALID, 1);
  }
}

cst_status cst__tfx_misra_to(const void *state, cst__family family, char **bytes, size_t *size,
                             cst_error *error) {
  const cst__misra *misra = state;
  const cst__misra_table *items = &misra->items;
  cst__wire_out out = {0};
  uint64_t bits;
  cst__tfx_put_number(&out, CST__MG_ORDER, misra->options.largest_first ? 2 : 1);
  cst__tfx_put_type(&out, CST__MG_TYPE, misra->family != CST__FAMILY_NONE ? misra->family : family);
  put_texts(&out, CST__MG_EXTRAS, misra, &misra->extras);
  put_placeholders(&out, &misra->options);
  memcpy(&bits, &misra->delta, sizeof bits);
  if (bits != 0) {
    cst__tfx_put_fixed(&out, CST__MG_DELTA, bits);
  }
  for (size_t i = items->count; i > 0; i--) {
    memcpy(&bits, &items->weights[i - 1], sizeof bits);
    cst__wire_put_fixed64(&out, bits);
  }
  if (items->count > 0) {
    cst__tfx_end_bytes(&out, CST__MG_WEIGHTS, items->count * sizeof(double));
  }
  put_texts(&out, CST__MG_ITEMS, misra, items);
  if (misra->options.buckets > 0) {
    cst__tfx_put_number(&out, CST__MG_BUCKETS, misra->options.buckets);
  }
  return cst__wire_out_finish(&out, bytes, size, error);
}

/* ---- reading ---- */

/* What is said of placeholders. A message that has no threshold has the threshold 0. */
typedef struct placeholders {
  bool replaces_invalid;
  cst_bytes invalid_text, long_text;
  int32_t threshold;
  uint64_t order;
} placeholders;

static void take_field(placeholders *into, const cst__wire_field *field) {
  switch (field->number) {
    case CST__MG_REPLACES_INVALID:
      into->replaces_invalid = field->value != 0;
      break;
    case CST__MG_INVALID_TEXT:
      into->invalid_text = field->bytes;
      break;
    case CST__MG_THRESHOLD:
      into->threshold = (int32_t)field->value;
      break;
    case CST__MG_LONG_TEXT:
      into->long_text = field->bytes;
      break;
    case CST__MG_ORDER:
      into->order = field->value;
      break;
    default:
      break;
  }
}

static cst__wire_type type_of(uint32_t number) {
  return number == CST__MG_INVALID_TEXT || number == CST__MG_LONG_TEXT || number == CST__MG_EXTRAS
             ? CST__WIRE_LEN
             : CST__WIRE_VARINT;
}

static void add_option(cst__tfx_sketch *out, const char *name, const char *value) {
  out->options[out->num_options++] = (cst_option){name, value, NULL};
}

static cst_status add_text(cst__tfx_sketch *out, const char *name, cst_bytes text,
                           cst__arena *arena, cst_error *error) {
  if (!cst__utf8_valid(text.data, text.size)) {
    return cst__tfx_fail("a placeholder is not UTF-8", error);
  }
  if (text.size > 0 && memchr(text.data, 0, text.size) != NULL) {
    return cst__fail(error, CST_UNSUPPORTED, NULL, "a placeholder of tfx_bsl with a NUL in it");
  }
  const char *copy =
      cst__arena_copy(arena, text.size > 0 ? text.data : (const uint8_t *)"", text.size);
  if (copy == NULL) {
    return cst__fail_memory(error, text.size);
  }
  add_option(out, name, copy);
  return CST_OK;
}

static cst_status set_options(cst__tfx_sketch *out, const placeholders *from, cst__arena *arena,
                              cst_error *error) {
  char digits[16];
  if (from->replaces_invalid) {
    CST__TRY(add_text(out, "invalid_text", from->invalid_text, arena, error));
  }
  if (from->threshold >= 0) {
    const int size = snprintf(digits, sizeof digits, "%ld", (long)from->threshold);
    CST__TRY(
        add_text(out, "longest", (cst_bytes){(const uint8_t *)digits, (size_t)size}, arena, error));
    CST__TRY(add_text(out, "long_text", from->long_text, arena, error));
  }
  add_option(out, "ties", from->order == 2 ? "largest" : "smallest");
  return CST_OK;
}

cst_status cst__tfx_misra_parse(cst_bytes bytes, cst__arena *arena, cst__tfx_sketch *out,
                                cst_error *error) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  placeholders found = {0};
  cst_bytes *extras = cst__arena_take_items(arena, (int64_t)(bytes.size / 2 + 1), sizeof *extras);
  if (extras == NULL) {
    return cst__fail_memory(error, bytes.size);
  }
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.type != type_of(field.number)) {
      continue;
    }
    if (field.number == CST__MG_EXTRAS) {
      extras[out->num_extras++] = field.bytes;
    } else {
      take_field(&found, &field);
    }
  }
  out->extras = extras;
  if (out->family == CST__FAMILY_NONE && out->num_extras > 0) {
    out->family = CST__FAMILY_BYTES;
  }
  return set_options(out, &found, arena, error);
}

cst_status cst__tfx_misra_fill(void *state, const cst__tfx_sketch *from, cst_error *error) {
  cst__misra *misra = state;
  misra->delta = from->delta;
  for (size_t i = 0; i < from->count; i++) {
    if (!isfinite(from->weights[i])) {
      return cst__tfx_fail("a weight is not finite", error);
    }
    CST__TRY(cst__misra_put(misra, from->family, from->items[i], &from->weights[i], error));
  }
  for (size_t i = 0; i < from->num_extras; i++) {
    CST__TRY(cst__misra_put(misra, from->family, from->extras[i], NULL, error));
  }
  return CST_OK;
}
