/* Message types tried on records. */
#include "message/message_guess.h"

#include <string.h>

#include "base/arguments.h"
#include "base/interrupt.h"
#include "base/utf8.h"
#include "proto/descriptor_set.h"
#include "proto/message.h"

/* What a record shows; the type is credited with it if the whole record parses. */
typedef struct evidence {
  uint64_t unexplained; /* bytes */
  uint64_t opaque;
  uint64_t values;
} evidence;

/* ---- single values ---- */

/* True for a number that the field's writers write. */
static bool is_written_as(const cst__field_def *def, uint64_t raw) {
  int64_t number = (int64_t)raw;
  switch (def->type) {
    case CST__FIELD_BOOL:
      return raw <= 1;
    case CST__FIELD_UINT32:
    case CST__FIELD_SINT32:
      return raw <= UINT32_MAX;
    case CST__FIELD_INT32:
      return number >= INT32_MIN && number <= INT32_MAX;
    case CST__FIELD_ENUM:
      return number >= INT32_MIN && number <= INT32_MAX &&
             cst__enum_by_number(def->values, number) != NULL;
    default:
      return true;
  }
}

/* False: the record does not parse. */
static bool weigh_packed(const cst__field_def *def, const cst__wire_field *field, evidence *seen) {
  cst__wire wire = cst__wire_of(field->bytes.data, field->bytes.size);
  cst__wire_type type = cst__field_wire_type(def);
  bool fits = true;
  while (wire.at < wire.end) {
    uint64_t raw;
    if (!cst__wire_single(&wire, type, &raw)) {
      return false;
    }
    fits = fits && is_written_as(def, raw);
  }
  seen->unexplained += fits ? 0 : field->raw.size;
  return true;
}

/* False: the record does not parse. */
static bool weigh_text(const cst__field_def *def, const cst__wire_field *field, evidence *seen) {
  if (cst__utf8_valid(field->bytes.data, field->bytes.size)) {
    return true;
  }
  seen->unexplained += field->raw.size; /* proto2 takes it */
  return (def->flags & CST__FIELD_UTF8) == 0;
}

/* ---- messages ---- */

static bool weigh_message(const cst__message_def *type, cst_bytes bytes, int depth, evidence *seen);

/* False: the record does not parse. */
static bool weigh_field(const cst__field_def *def, const cst__wire_field *field, int depth,
                        evidence *seen) {
  cst__wire_type type = cst__field_wire_type(def);
  seen->values++;
  if (type != field->type) {
    bool packed =
        field->type == CST__WIRE_LEN && cst__field_is_repeated(def) && type != CST__WIRE_GROUP;
    if (!packed) {
      seen->values--;
      seen->unexplained += field->raw.size;
    }
    return !packed || weigh_packed(def, field, seen);
  }
  if (cst__field_is_message(def)) {
    return depth > 0 && weigh_message(def->message, field->bytes, depth - 1, seen);
  }
  if (def->type == CST__FIELD_STRING) {
    return weigh_text(def, field, seen);
  }
  if (def->type == CST__FIELD_BYTES) {
    seen->opaque += field->bytes.size;
  } else if (!is_written_as(def, field->value)) {
    seen->unexplained += field->raw.size;
  }
  return true;
}

/* `seen`: a bit per field; of messages with more than 64, required fields are not looked for. */
static bool has_required(const cst__message_def *type, uint64_t seen) {
  for (size_t i = 0; i < type->num_fields && i < 64; i++) {
    if ((type->fields[i].flags & CST__FIELD_REQUIRED) != 0 && (seen >> i & 1) == 0) {
      return type->num_fields > 64;
    }
  }
  return true;
}

static bool weigh_message(const cst__message_def *type, cst_bytes bytes, int depth,
                          evidence *seen) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  uint64_t fields = 0;
  while (cst__wire_next(&wire, depth, &field)) {
    const cst__field_def *def = cst__field_by_number(type, field.number);
    if (def == NULL) {
      seen->unexplained += field.raw.size;
    } else if (!weigh_field(def, &field, depth, seen)) {
      return false;
    } else {
      fields |= UINT64_C(1) << ((size_t)(def - type->fields) & 63);
    }
  }
  return wire.fault == CST__WIRE_FAULT_NONE && has_required(type, fields);
}

void cst__message_fit(const cst__message_def *type, const cst_bytes *records, size_t count,
                      cst_message_guess *out) {
  *out = (cst_message_guess){.message = type->full_name};
  for (size_t i = 0; i < count; i++) {
    evidence seen = {0};
    if (weigh_message(type, records[i], CST__DEPTH_LIMIT, &seen)) {
      out->records++;
      out->values += seen.values;
      out->bytes += records[i].size - seen.unexplained;
      out->opaque_bytes += seen.opaque;
    }
  }
}

/* ---- the best of many ---- */

static int descending(uint64_t a, uint64_t b) { return a > b ? -1 : a < b; }

int cst__message_fit_compare(const cst_message_guess *a, const cst_message_guess *b) {
  int order = descending(a->bytes, b->bytes);
  order = order != 0 ? order : descending(a->records, b->records);
  return order != 0 ? order : descending(b->opaque_bytes, a->opaque_bytes);
}

/* The best so far, the better ones first; of equal ones those that came first. */
typedef struct ranking {
  cst_message_guess guesses[CST_MOST_GUESSES];
  const cst__message_def *types[CST_MOST_GUESSES];
  size_t count;
} ranking;

static void rank_guess(ranking *best, const cst_message_guess *guess,
                       const cst__message_def *type) {
  size_t at = best->count;
  while (at > 0 && cst__message_fit_compare(guess, &best->guesses[at - 1]) < 0) {
    at--;
  }
  if (at == CST_MOST_GUESSES) {
    return;
  }
  best->count += best->count < CST_MOST_GUESSES;
  size_t moved = best->count - at - 1;
  memmove(&best->guesses[at + 1], &best->guesses[at], moved * sizeof best->guesses[0]);
  memmove(&best->types[at + 1], &best->types[at], moved * sizeof best->types[0]);
  best->guesses[at] = *guess;
  best->types[at] = type;
}

cst_status cst_descriptors_guess(const cst_descriptors *descriptors, const cst_bytes *records,
                                 size_t count, cst_message_guess *out, size_t *num_out,
                                 cst_error *error) {
  enum { FIRST = 10 }; /* records that choose those of many types that are tried on all */
  size_t room = num_out != NULL ? *num_out : 0;
  CST__CLEAR(num_out);
  if (descriptors == NULL || num_out == NULL) {
    return cst__missing(descriptors == NULL ? "descriptors" : "num_out", error);
  }
  if ((records == NULL && count > 0) || (out == NULL && room > 0)) {
    return cst__missing(out == NULL && room > 0 ? "out" : "records", error);
  }
  ranking first = {.count = 0}, best = {.count = 0};
  cst_message_guess guess;
  const cst__message_def *type;
  for (size_t i = 0; (type = cst__descriptors_message_def(descriptors, i)) != NULL; i++) {
    CST__TRY(cst__interrupted(error));
    cst__message_fit(type, records, count < FIRST ? count : FIRST, &guess);
    rank_guess(&first, &guess, type);
  }
  for (size_t i = 0; i < first.count; i++) {
    CST__TRY(cst__interrupted(error));
    cst__message_fit(first.types[i], records, count, &guess);
    rank_guess(&best, &guess, first.types[i]);
  }
  *num_out = room < best.count ? room : best.count;
  if (*num_out > 0) { /* out may be NULL */
    memcpy(out, best.guesses, *num_out * sizeof *out);
  }
  return CST_OK;
}
