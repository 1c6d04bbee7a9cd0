/* Sketches as tfx_bsl serialises its own (tfx_forms.h).
 *
 * The weight of an item of MisraGries is between its own and that + delta, and what is no item
 * weighs at most delta: that is what a counter of heavy hitters says with the error delta. Extra
 * items, which have no weight of their own, they do not keep; the sketch misra_gries keeps all.
 */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "proto/wire.h"
#include "sketch/heavy_hitters.h"
#include "sketch/kmv.h"
#include "sketch/misra_gries/misra_gries.h"
#include "sketch/tfx_forms.h"
#include "sketch/tfx_text.h"

enum { BUCKETS = CST__MG_BUCKETS, KMV_HASHES = 2, KMV_LIMIT = 3, KMV_TYPE = 4 };
enum { STRINGS = 1, FLOATS = 2, INTS = 3 };

typedef cst__tfx_sketch tfx_sketch;

/* ---- writing, back to front ---- */

void cst__tfx_put_type(cst__wire_out *out, uint32_t number, cst__family family) {
  if (family != CST__FAMILY_NONE) {
    cst__tfx_put_number(out, number,
                        family == CST__FAMILY_BYTES   ? STRINGS
                        : family == CST__FAMILY_FLOAT ? FLOATS
                                                      : INTS);
  }
}

static cst_status kmv_to(const void *state, cst__family family, char **bytes, size_t *size,
                         cst_error *error) {
  const cst__kmv *kmv = state;
  cst__wire_out out = {0};
  size_t count;
  uint64_t *hashes = cst__kmv_hashes(kmv, &count);
  if (hashes == NULL) {
    return cst__fail_memory(error, kmv->count * sizeof *hashes);
  }
  cst__tfx_put_type(&out, KMV_TYPE, family);
  cst__tfx_put_fixed(&out, KMV_LIMIT, count < kmv->buckets ? UINT64_MAX : hashes[count - 1]);
  if (count > 0) {
    cst__wire_put_bytes(&out, hashes, count * sizeof *hashes); /* little-endian */
    cst__tfx_end_bytes(&out, KMV_HASHES, count * sizeof *hashes);
  }
  cst__tfx_put_number(&out, BUCKETS, kmv->buckets);
  cst__delete(hashes);
  return cst__wire_out_finish(&out, bytes, size, error);
}

static cst_bytes text_of_item(const cst__heavy_item *item, cst__family family,
                              char room[CST__VALUE_TEXT_ROOM]) {
  const cst__value_block one = {.family = family, .count = 1, .items = &item->bits};
  return family == CST__FAMILY_BYTES ? item->bytes : cst__value_text(&one, 0, room);
}

/* No more than `size` items: of more, the next one's upper bound is the delta. */
static cst_status heavy_to(const void *state, cst__family family, char **bytes, size_t *size,
                           cst_error *error) {
  const cst__heavy *heavy = state;
  cst__wire_out out = {0};
  family = heavy->family;
  cst__heavy_item *items;
  size_t count;
  double delta = heavy->offset;
  CST__TRY(cst__heavy_items(heavy, &items, &count, error));
  if (count > heavy->options.size) {
    delta = items[heavy->options.size].upper;
  }
  while (count > 0 && items[count - 1].upper <= delta) {
    count--;
  }
  cst__tfx_put_number(&out, CST__MG_ORDER, 1); /* lexicographical */
  cst__tfx_put_type(&out, CST__MG_TYPE, family);
  cst__tfx_put_number(&out, CST__MG_THRESHOLD, UINT64_MAX); /* none */
  uint64_t bits;
  memcpy(&bits, &delta, sizeof bits);
  if (delta > 0) {
    cst__tfx_put_fixed(&out, CST__MG_DELTA, bits);
  }
  for (size_t i = count; i > 0; i--) {
    double weight = items[i - 1].upper - delta;
    memcpy(&bits, &weight, sizeof bits);
    cst__wire_put_fixed64(&out, bits);
  }
  if (count > 0) {
    cst__tfx_end_bytes(&out, CST__MG_WEIGHTS, count * sizeof(double));
  }
  for (size_t i = count; i > 0; i--) {
    char room[CST__VALUE_TEXT_ROOM];
    cst_bytes text = text_of_item(&items[i - 1], family, room);
    cst__wire_put_bytes(&out, text.data, text.size);
    cst__tfx_end_bytes(&out, CST__MG_ITEMS, text.size);
  }
  cst__tfx_put_number(&out, BUCKETS, heavy->options.size);
  cst__delete(items);
  return cst__wire_out_finish(&out, bytes, size, error);
}

/* ---- reading ---- */

cst_status cst__tfx_fail(const char *what, cst_error *error) {
  return cst__fail(error, CST_CORRUPT, "pass a serialised sketch of tfx_bsl",
                   "not a sketch of tfx_bsl: %s", what);
}

static cst_status end_of(const cst__wire *wire, cst_error *error) {
  return wire->fault == CST__WIRE_FAULT_NONE
             ? CST_OK
             : cst__tfx_fail(cst__wire_fault_text(wire->fault), error);
}

/* Words of 8 bytes of a repeated field, packed or one at a time. */
typedef struct words {
  uint64_t *items;
  size_t count;
} words;

static bool take_words(words *into, const cst__wire_field *field) {
  if (field->type == CST__WIRE_FIXED64) {
    into->items[into->count++] = field->value;
    return true;
  }
  if (field->type != CST__WIRE_LEN || field->bytes.size % 8 != 0) {
    return false;
  }
  if (field->bytes.size > 0) {
    memcpy(into->items + into->count, field->bytes.data, field->bytes.size);
  }
  into->count += field->bytes.size / 8;
  return true;
}

/* `least` and `most` buckets. */
static cst_status check_head(const tfx_sketch *s, uint64_t type, int64_t least, int64_t most,
                             cst_error *error) {
  if (type > INTS) {
    return cst__tfx_fail("an unknown input type", error);
  }
  if (s->buckets < least || s->buckets > most) {
    return cst__fail(error, CST_UNSUPPORTED, NULL,
                     "a sketch of tfx_bsl with %lld buckets, expected %lld to %lld",
                     (long long)s->buckets, (long long)least, (long long)most);
  }
  if (s->count > (uint64_t)s->buckets) {
    return cst__tfx_fail("it has more values than buckets", error);
  }
  return CST_OK;
}

static cst__family family_of_type(uint64_t type) {
  return type == STRINGS  ? CST__FAMILY_BYTES
         : type == FLOATS ? CST__FAMILY_FLOAT
         : type == INTS   ? CST__FAMILY_INT
                          : CST__FAMILY_NONE;
}

static cst_status kmv_parse(cst_bytes bytes, cst__arena *arena, tfx_sketch *out, cst_error *error) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  uint64_t type = 0;
  words hashes = {cst__arena_take_items(arena, (int64_t)(bytes.size / 8 + 1), 8), 0};
  *out = (tfx_sketch){.limit = UINT64_MAX};
  if (hashes.items == NULL) {
    return cst__fail_memory(error, bytes.size);
  }
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.number == BUCKETS && field.type == CST__WIRE_VARINT) {
      out->buckets = (int32_t)field.value;
    } else if (field.number == KMV_HASHES && !take_words(&hashes, &field)) {
      return cst__tfx_fail("its hashes have another type", error);
    } else if (field.number == KMV_LIMIT && field.type == CST__WIRE_FIXED64) {
      out->limit = field.value;
    } else if (field.number == KMV_TYPE && field.type == CST__WIRE_VARINT) {
      type = field.value;
    }
  }
  CST__TRY(end_of(&wire, error));
  out->hashes = hashes.items;
  out->count = hashes.count;
  CST__TRY(check_head(out, type, 1, CST__KMV_BUCKETS_MOST, error));
  out->family = family_of_type(type);
  for (size_t i = 0; i < out->count; i++) {
    if (out->hashes[i] > out->limit || (i > 0 && out->hashes[i] <= out->hashes[i - 1])) {
      return cst__tfx_fail("its hashes do not rise up to the limit", error);
    }
  }
  return CST_OK;
}

static cst_status kmv_fill(void *state, const tfx_sketch *from, cst_error *error) {
  cst__kmv *kmv = state;
  for (size_t i = 0; i < from->count; i++) {
    CST__TRY(cst__kmv_add_hash(kmv, from->hashes[i], error));
  }
  kmv->limit = from->limit;
  return CST_OK;
}

static size_t count_fields(cst_bytes bytes, uint32_t number) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  size_t count = 0;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    count += field.number == number;
  }
  return count;
}

static cst_status counters_parse(cst_bytes bytes, int64_t least, int64_t most_buckets,
                                 cst__arena *arena, tfx_sketch *out, cst_error *error) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  uint64_t type = 0;
  size_t most = count_fields(bytes, CST__MG_ITEMS);
  cst_bytes *items = cst__arena_take_items(arena, (int64_t)most + 1, sizeof *items);
  words weights = {cst__arena_take_items(arena, (int64_t)(bytes.size / 8 + 1), 8), 0};
  *out = (tfx_sketch){.items = items};
  if (items == NULL || weights.items == NULL) {
    return cst__fail_memory(error, bytes.size);
  }
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.number == BUCKETS && field.type == CST__WIRE_VARINT) {
      out->buckets = (int32_t)field.value;
    } else if (field.number == CST__MG_ITEMS && field.type == CST__WIRE_LEN) {
      items[out->count++] = field.bytes;
    } else if (field.number == CST__MG_WEIGHTS && !take_words(&weights, &field)) {
      return cst__tfx_fail("its weights have another type", error);
    } else if (field.number == CST__MG_DELTA && field.type == CST__WIRE_FIXED64) {
      memcpy(&out->delta, &field.value, sizeof out->delta);
    } else if (field.number == CST__MG_TYPE && field.type == CST__WIRE_VARINT) {
      type = field.value;
    }
  }
  CST__TRY(end_of(&wire, error));
  CST__TRY(check_head(out, type, least, most_buckets, error));
  if (weights.count != out->count) {
    return cst__tfx_fail("the numbers of weights and items differ", error);
  }
  double *doubles = cst__arena_take_items(arena, (int64_t)out->count + 1, sizeof *doubles);
  if (doubles == NULL) {
    return cst__fail_memory(error, bytes.size);
  }
  memcpy(doubles, weights.items, out->count * sizeof *doubles);
  out->weights = doubles;
  out->family = out->count > 0 && type == 0 ? CST__FAMILY_BYTES : family_of_type(type);
  out->delta = out->delta > 0 && out->delta <= DBL_MAX ? out->delta : 0; /* as tfx_bsl does */
  return CST_OK;
}

static cst_status heavy_parse(cst_bytes bytes, cst__arena *arena, tfx_sketch *out,
                              cst_error *error) {
  return counters_parse(bytes, 1, CST__HEAVY_SIZE_MOST, arena, out, error);
}

static cst_status misra_parse(cst_bytes bytes, cst__arena *arena, tfx_sketch *out,
                              cst_error *error) {
  CST__TRY(counters_parse(bytes, 0, INT32_MAX, arena, out, error));
  return cst__tfx_misra_parse(bytes, arena, out, error);
}

static cst_status heavy_fill(void *state, const tfx_sketch *from, cst_error *error) {
  cst__heavy *heavy = state;
  heavy->offset = from->delta;
  for (size_t i = 0; i < from->count; i++) {
    uint64_t bits = 0;
    if (from->family != CST__FAMILY_BYTES &&
        !cst__value_of_text(from->family, from->items[i], &bits)) {
      return cst__tfx_fail("an item is not a number as it writes them", error);
    }
    const cst__value_block one = {
        .family = from->family,
        .count = 1,
        .items = from->family == CST__FAMILY_BYTES ? (const void *)&from->items[i] : &bits};
    if (!(from->weights[i] > 0 && from->weights[i] <= DBL_MAX)) {
      return cst__tfx_fail("a weight is not positive and finite", error);
    }
    CST__TRY(cst__heavy_put(heavy, &one, from->weights[i], error));
  }
  return CST_OK;
}

/* ---- handles ---- */

typedef struct tfx_form {
  const cst__sketch_kind *kind;
  const char *size_option;
  cst_status (*to)(const void *state, cst__family family, char **bytes, size_t *size,
                   cst_error *error);
  cst_status (*parse)(cst_bytes bytes, cst__arena *arena, tfx_sketch *out, cst_error *error);
  cst_status (*fill)(void *state, const tfx_sketch *from, cst_error *error);
} tfx_form;

static const tfx_form forms[] = {
    {&cst__kmv_kind, "buckets", kmv_to, kmv_parse, kmv_fill},
    {&cst__heavy_kind, "size", heavy_to, heavy_parse, heavy_fill},
    {&cst__misra_kind, "buckets", cst__tfx_misra_to, misra_parse, cst__tfx_misra_fill},
};

static cst_status find_form(const char *kind, const tfx_form **out, cst_error *error) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (strcmp(forms[i].kind->name, kind) == 0) {
      *out = &forms[i];
      return CST_OK;
    }
  }
  return cst__fail(error, CST_INVALID_ARGUMENT, "kmv, heavy_hitters and misra_gries have one",
                   "sketches of this kind have no form in tfx_bsl");
}

cst_status cst_sketch_to_tfx_bsl(const cst_sketch *sketch, char **bytes, size_t *size,
                                 cst_error *error) {
  const tfx_form *form = forms;
  const void *state;
  CST__CLEAR(bytes);
  CST__CLEAR(size);
  if (sketch == NULL || bytes == NULL || size == NULL) {
    return cst__missing(sketch == NULL ? "sketch" : bytes == NULL ? "bytes" : "size", error);
  }
  CST__TRY(find_form(cst_sketch_kind(sketch), &form, error));
  CST__TRY(cst__sketch_state(sketch, form->kind, &state, error));
  return form->to(state, cst__sketch_family(sketch), bytes, size, error);
}

static cst_status make_sketch(const tfx_form *form, const tfx_sketch *parsed,
                              const cst_allocator *allocator, cst_sketch **out, cst_error *error) {
  char digits[24];
  cst_option options[1 + CST__TFX_OPTIONS_MOST] = {{form->size_option, digits, NULL}};
  for (size_t i = 0; i < parsed->num_options; i++) {
    options[1 + i] = parsed->options[i];
  }
  (void)snprintf(digits, sizeof digits, "%lld", (long long)parsed->buckets);
  CST__TRY(
      cst_sketch_new(form->kind->name, options, 1 + parsed->num_options, allocator, out, error));
  cst_status status = form->fill(cst__sketch_fill(*out, parsed->family), parsed, error);
  if (status != CST_OK) {
    cst_sketch_free(*out);
    *out = NULL;
  }
  return status;
}

cst_status cst_sketch_from_tfx_bsl(const char *kind, const void *bytes, size_t size,
                                   const cst_allocator *allocator, cst_sketch **out,
                                   cst_error *error) {
  const tfx_form *form = forms;
  tfx_sketch parsed;
  cst__arena arena;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(kind, "kind", out, error));
  if (bytes == NULL && size > 0) {
    return cst__missing("bytes", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  CST__TRY(find_form(kind, &form, error));
  cst__arena_init(&arena, allocator);
  cst_status status = form->parse((cst_bytes){bytes, size}, &arena, &parsed, error);
  if (status == CST_OK) {
    status = make_sketch(form, &parsed, allocator, out, error);
  }
  cst__arena_reset(&arena);
  return status;
}
