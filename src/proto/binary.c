/* Message trees from and to the wire format. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "proto/message.h"

/* The wire type of a single value of the field. */
cst__wire_type cst__field_wire_type(const cst__field_def *def) {
  switch ((cst__field_type)def->type) {
    case CST__FIELD_DOUBLE:
    case CST__FIELD_FIXED64:
    case CST__FIELD_SFIXED64:
      return CST__WIRE_FIXED64;
    case CST__FIELD_FLOAT:
    case CST__FIELD_FIXED32:
    case CST__FIELD_SFIXED32:
      return CST__WIRE_FIXED32;
    case CST__FIELD_STRING:
    case CST__FIELD_BYTES:
    case CST__FIELD_MESSAGE:
      return CST__WIRE_LEN;
    case CST__FIELD_GROUP:
      return CST__WIRE_GROUP;
    case CST__FIELD_INT64:
    case CST__FIELD_UINT64:
    case CST__FIELD_INT32:
    case CST__FIELD_BOOL:
    case CST__FIELD_UINT32:
    case CST__FIELD_ENUM:
    case CST__FIELD_SINT32:
    case CST__FIELD_SINT64:
      break;
  }
  return CST__WIRE_VARINT;
}

/* 64 bits from the wire as the field's type has them: numbers of 32 bits are cut, not refused. */
static cst__value packed_scalar(const cst__field_def *def, uint64_t raw) {
  cst__value value = {.u = raw};
  uint32_t low = (uint32_t)raw;
  switch ((cst__field_type)def->type) {
    case CST__FIELD_INT32:
    case CST__FIELD_ENUM:
    case CST__FIELD_SFIXED32:
      value.i = (int32_t)low;
      break;
    case CST__FIELD_UINT32:
    case CST__FIELD_FIXED32:
      value.u = low;
      break;
    case CST__FIELD_SINT32:
      value.i = (int32_t)cst__zigzag_decode(low);
      break;
    case CST__FIELD_SINT64:
      value.i = cst__zigzag_decode(raw);
      break;
    case CST__FIELD_BOOL:
      value.i = raw != 0;
      break;
    case CST__FIELD_FLOAT:
      memcpy(&value.f, &low, sizeof value.f);
      break;
    case CST__FIELD_DOUBLE:
      memcpy(&value.d, &raw, sizeof value.d);
      break;
    case CST__FIELD_INT64:
    case CST__FIELD_UINT64:
    case CST__FIELD_FIXED64:
    case CST__FIELD_SFIXED64:
    case CST__FIELD_STRING:
    case CST__FIELD_BYTES:
    case CST__FIELD_MESSAGE:
    case CST__FIELD_GROUP:
      break;
  }
  return value;
}

typedef struct reader {
  cst__arena *arena;
  const uint8_t *start; /* of the outermost bytes */
  cst_error *error;
} reader;

static cst_status no_binary_memory(const reader *r) { return cst__fail_memory(r->error, 64); }

static cst_status fail_wire(const reader *r, const cst__message *message, const cst__wire *wire) {
  int64_t offset = wire->fault_at - r->start;
  const char *hint = wire->fault == CST__WIRE_FAULT_UTF8 ? CST__UTF8_HINT : NULL;
  cst_status status = cst__fail(r->error, CST_CORRUPT, hint, "not a valid %s: %s",
                                message->def->full_name, cst__wire_fault_text(wire->fault));
  cst__error_add_record(r->error, -1, offset);
  return status;
}

/* Bytes that were written here as an unknown field; frees `out`. */
static bool keep_unknown(const reader *r, cst__message *message, cst__wire_out *out) {
  size_t size = cst__wire_out_size(out);
  char *copy = out->failed ? NULL : cst__arena_copy(r->arena, out->data + out->free, size);
  cst__wire_out_free(out);
  return copy != NULL &&
         cst__message_put_unknown(r->arena, message, (cst_bytes){(const uint8_t *)copy, size});
}

static cst_status merge(const reader *r, cst__message *message, cst_bytes bytes, int depth);

static cst_status read_binary_message(const reader *r, cst__message *message,
                                      const cst__field_def *def, cst_bytes bytes, int depth) {
  if (depth == 0) {
    cst__wire wire = {.fault = CST__WIRE_FAULT_DEPTH, .fault_at = bytes.data};
    return fail_wire(r, message, &wire);
  }
  const cst__field *have =
      cst__field_is_repeated(def) ? NULL : cst__message_find(message, def->number);
  cst__message *child =
      have != NULL ? have->as.one.message : cst__message_new(r->arena, def->message);
  if (child == NULL ||
      (have == NULL && !cst__message_put(r->arena, message, def, (cst__value){.message = child}))) {
    return no_binary_memory(r);
  }
  return merge(r, child, bytes, depth - 1);
}

/* The entry as an unknown field, written as upb does: what is known of it first. */
static bool put_unknown_entry(const reader *r, cst__message *message, const cst__field_def *def,
                              const cst__message *entry) {
  cst__wire_out out = {0};
  cst__message_put_wire(entry, &out);
  cst__wire_put_varint(&out, cst__wire_out_size(&out));
  cst__wire_put_tag(&out, (uint32_t)def->number, CST__WIRE_LEN);
  return keep_unknown(r, message, &out);
}

/* An entry of a map; with anything unknown in it, all of it is an unknown field (as upb has it). */
static cst_status read_map_entry(const reader *r, cst__message *message, const cst__field_def *def,
                                 const cst__wire_field *field, int depth) {
  if (depth == 0) {
    cst__wire wire = {.fault = CST__WIRE_FAULT_DEPTH, .fault_at = field->bytes.data};
    return fail_wire(r, message, &wire);
  }
  cst__message *entry = cst__message_new(r->arena, def->message);
  if (entry == NULL) {
    return no_binary_memory(r);
  }
  CST__TRY(merge(r, entry, field->bytes, depth - 1));
  bool ok = entry->unknown_first != NULL
                ? put_unknown_entry(r, message, def, entry)
                : cst__message_put(r->arena, message, def, (cst__value){.message = entry});
  return ok ? CST_OK : no_binary_memory(r);
}

/* A value of a packed field as a field of its own, which becomes an unknown one. */
static bool put_unknown_value(const reader *r, cst__message *message, const cst__field_def *def,
                              uint64_t raw) {
  cst__wire_out out = {0};
  cst__wire_put_varint(&out, raw);
  cst__wire_put_tag(&out, (uint32_t)def->number, CST__WIRE_VARINT);
  return keep_unknown(r, message, &out);
}

static bool is_unknown_enum(const cst__field_def *def, uint64_t raw) {
  return def->type == CST__FIELD_ENUM && !def->values->is_open &&
         cst__enum_by_number(def->values, packed_scalar(def, raw).i) == NULL;
}

static cst_status put_binary_scalar(const reader *r, cst__message *message,
                                    const cst__field_def *def, uint64_t raw) {
  return cst__message_put(r->arena, message, def, packed_scalar(def, raw)) ? CST_OK
                                                                           : no_binary_memory(r);
}

static cst_status read_packed(const reader *r, cst__message *message, const cst__field_def *def,
                              cst_bytes bytes) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_type type = cst__field_wire_type(def);
  while (wire.at < wire.end) {
    uint64_t raw;
    if (!cst__wire_single(&wire, type, &raw)) {
      wire.fault = wire.fault == CST__WIRE_FAULT_TRUNCATED ? CST__WIRE_FAULT_PACKED : wire.fault;
      return fail_wire(r, message, &wire);
    }
    if (is_unknown_enum(def, raw)) {
      if (!put_unknown_value(r, message, def, raw)) {
        return no_binary_memory(r);
      }
    } else {
      CST__TRY(put_binary_scalar(r, message, def, raw));
    }
  }
  return CST_OK;
}

static cst_status read_binary_field(const reader *r, cst__message *message,
                                    const cst__field_def *def, const cst__wire_field *field,
                                    int depth) {
  cst__wire_type type = def != NULL ? cst__field_wire_type(def) : CST__WIRE_VARINT;
  if (def != NULL && cst__field_is_repeated(def) && field->type == CST__WIRE_LEN &&
      type != CST__WIRE_LEN && type != CST__WIRE_GROUP) {
    return read_packed(r, message, def, field->bytes);
  }
  if (def == NULL || type != field->type || is_unknown_enum(def, field->value)) {
    return cst__message_put_unknown(r->arena, message, field->raw) ? CST_OK : no_binary_memory(r);
  }
  if (cst__field_is_message(def)) {
    return def->message->is_map_entry ? read_map_entry(r, message, def, field, depth)
                                      : read_binary_message(r, message, def, field->bytes, depth);
  }
  if (type == CST__WIRE_LEN) {
    if ((def->flags & CST__FIELD_UTF8) != 0 &&
        !cst__utf8_valid(field->bytes.data, field->bytes.size)) {
      cst__wire wire = {.fault = CST__WIRE_FAULT_UTF8, .fault_at = field->bytes.data};
      return fail_wire(r, message, &wire);
    }
    return cst__message_put(r->arena, message, def, (cst__value){.bytes = field->bytes})
               ? CST_OK
               : no_binary_memory(r);
  }
  return put_binary_scalar(r, message, def, field->value);
}

static void add_field_path(cst_error *error, const cst__field_def *def) {
  if (def != NULL && (def->flags & CST__FIELD_EXTENSION) != 0) {
    char step[sizeof error->path];
    int size = snprintf(step, sizeof step, "(%s)", def->name);
    cst__error_add_path(error, step, (size_t)size < sizeof step ? (size_t)size : sizeof step - 1);
  } else if (def != NULL) {
    cst__error_add_path(error, def->name, strlen(def->name));
  }
}

static cst_status merge(const reader *r, cst__message *message, cst_bytes bytes, int depth) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, depth, &field)) {
    const cst__field_def *def = cst__field_by_number(message->def, field.number);
    cst_status status = read_binary_field(r, message, def, &field, depth);
    if (status != CST_OK) {
      add_field_path(r->error, def);
      return status;
    }
  }
  return wire.fault == CST__WIRE_FAULT_NONE ? CST_OK : fail_wire(r, message, &wire);
}

cst_status cst__message_merge(cst__arena *arena, cst__message *message, cst_bytes bytes, int depth,
                              cst_error *error) {
  reader r = {arena, bytes.data, error};
  return merge(&r, message, bytes, depth);
}

/* ---- writing ---- */

static void put_scalar_wire(cst__wire_out *out, const cst__field_def *def, cst__value value) {
  uint32_t low;
  uint64_t bits = value.u;
  switch (cst__field_wire_type(def)) {
    case CST__WIRE_FIXED64:
      cst__wire_put_fixed64(out, bits);
      return;
    case CST__WIRE_FIXED32:
      low = (uint32_t)bits;
      if (def->type == CST__FIELD_FLOAT) {
        memcpy(&low, &value.f, sizeof low);
      }
      cst__wire_put_fixed32(out, low);
      return;
    case CST__WIRE_VARINT:
    case CST__WIRE_LEN:
    case CST__WIRE_GROUP:
    case CST__WIRE_GROUP_END:
      break;
  }
  if (def->type == CST__FIELD_SINT32) {
    bits = (uint32_t)cst__zigzag_encode(value.i);
  } else if (def->type == CST__FIELD_SINT64) {
    bits = cst__zigzag_encode(value.i);
  }
  cst__wire_put_varint(out, bits);
}

/* One value with its tag. */
static void put_binary_value(cst__wire_out *out, const cst__field_def *def, cst__value value) {
  uint32_t number = (uint32_t)def->number;
  if (def->type == CST__FIELD_GROUP) {
    cst__wire_put_tag(out, number, CST__WIRE_GROUP_END);
    cst__message_put_wire(value.message, out);
  } else if (def->type == CST__FIELD_MESSAGE) {
    size_t before = cst__wire_out_size(out);
    cst__message_put_wire(value.message, out);
    cst__wire_put_varint(out, cst__wire_out_size(out) - before);
  } else if (cst__field_wire_type(def) == CST__WIRE_LEN) {
    cst__wire_put_bytes(out, value.bytes.data, value.bytes.size);
    cst__wire_put_varint(out, value.bytes.size);
  } else {
    put_scalar_wire(out, def, value);
  }
  cst__wire_put_tag(out, number, cst__field_wire_type(def));
}

static void put_packed_field(cst__wire_out *out, const cst__field *field) {
  size_t before = cst__wire_out_size(out);
  for (size_t i = field->count; i-- > 0;) {
    put_scalar_wire(out, field->def, field->as.many[i]);
  }
  cst__wire_put_varint(out, cst__wire_out_size(out) - before);
  cst__wire_put_tag(out, (uint32_t)field->def->number, CST__WIRE_LEN);
}

void cst__message_put_wire(const cst__message *message, cst__wire_out *out) {
  for (const cst__unknown *u = message->unknown_last; u != NULL; u = u->previous) {
    cst__wire_put_bytes(out, u->bytes.data, u->bytes.size);
  }
  for (const cst__field *field = message->last; field != NULL; field = field->previous) {
    if (cst__field_is_left_out(field)) {
      continue;
    }
    if ((field->def->flags & CST__FIELD_PACKED) != 0 && field->count > 0) {
      put_packed_field(out, field);
      continue;
    }
    for (size_t i = field->count; i-- > 0;) {
      put_binary_value(out, field->def, *cst__field_value(field, i));
    }
  }
}
