/* Reading and writing protobuf's wire format. */
#include "proto/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

const char *cst__wire_fault_text(cst__wire_fault fault) {
  switch (fault) {
#define WIRE_FAULT_CASE(name, text) \
  case CST__WIRE_FAULT_##name:      \
    return text;
    CST__WIRE_FAULT_MAP(WIRE_FAULT_CASE)
#undef WIRE_FAULT_CASE
  }
  return "unknown fault";
}

static bool stop_reading(cst__wire *wire, cst__wire_fault fault) {
  if (wire->fault == CST__WIRE_FAULT_NONE) {
    wire->fault = fault;
    wire->fault_at = wire->at;
  }
  wire->at = wire->end;
  return false;
}

static size_t left(const cst__wire *wire) { return (size_t)(wire->end - wire->at); }

bool cst__wire_varint(cst__wire *wire, uint64_t *value) {
  uint64_t result = 0;
  size_t size = left(wire);
  for (unsigned i = 0; i < 10; i++) {
    if (i == size) {
      return stop_reading(wire, CST__WIRE_FAULT_TRUNCATED);
    }
    uint8_t byte = wire->at[i];
    result |= (uint64_t)(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      wire->at += i + 1;
      *value = result;
      return true;
    }
  }
  return stop_reading(wire, CST__WIRE_FAULT_LONG_VARINT);
}

static bool read_fixed(cst__wire *wire, size_t width, uint64_t *value) {
  if (left(wire) < width) {
    return stop_reading(wire, CST__WIRE_FAULT_TRUNCATED);
  }
  *value = 0;
  for (size_t i = 0; i < width; i++) {
    *value |= (uint64_t)wire->at[i] << (8 * i);
  }
  wire->at += width;
  return true;
}

bool cst__wire_fixed32(cst__wire *wire, uint64_t *value) { return read_fixed(wire, 4, value); }
bool cst__wire_fixed64(cst__wire *wire, uint64_t *value) { return read_fixed(wire, 8, value); }

bool cst__wire_single(cst__wire *wire, cst__wire_type type, uint64_t *value) {
  return type == CST__WIRE_VARINT    ? cst__wire_varint(wire, value)
         : type == CST__WIRE_FIXED32 ? cst__wire_fixed32(wire, value)
                                     : cst__wire_fixed64(wire, value);
}

static bool read_tag(cst__wire *wire, uint32_t *number, cst__wire_type *type) {
  const uint8_t *start = wire->at;
  uint64_t tag = 0;
  if (!cst__wire_varint(wire, &tag)) {
    return false;
  }
  if (tag > UINT32_MAX || wire->at - start > 5) {
    return stop_reading(wire, CST__WIRE_FAULT_BAD_TAG);
  }
  *number = (uint32_t)tag >> 3;
  *type = (cst__wire_type)(tag & 7);
  if (*number == 0) {
    return stop_reading(wire, CST__WIRE_FAULT_FIELD_ZERO);
  }
  return (tag & 7) < 6 || stop_reading(wire, CST__WIRE_FAULT_WIRE_TYPE);
}

static bool read_payload(cst__wire *wire, cst_bytes *bytes) {
  const uint8_t *start = wire->at;
  uint64_t size = 0;
  if (!cst__wire_varint(wire, &size)) {
    return false;
  }
  if (wire->at - start > 5) {
    return stop_reading(wire, CST__WIRE_FAULT_LONG_LENGTH);
  }
  if (size > left(wire) || size > INT32_MAX) {
    return stop_reading(wire, CST__WIRE_FAULT_LENGTH);
  }
  *bytes = (cst_bytes){wire->at, (size_t)size};
  wire->at += size;
  return true;
}

/* Reads anything but a group. */
static bool read_field_value(cst__wire *wire, cst__wire_field *field) {
  switch (field->type) {
    case CST__WIRE_VARINT:
      return cst__wire_varint(wire, &field->value);
    case CST__WIRE_FIXED64:
      return cst__wire_fixed64(wire, &field->value);
    case CST__WIRE_FIXED32:
      return cst__wire_fixed32(wire, &field->value);
    case CST__WIRE_LEN:
      return read_payload(wire, &field->bytes);
    case CST__WIRE_GROUP:
    case CST__WIRE_GROUP_END:
      break;
  }
  return stop_reading(wire, CST__WIRE_FAULT_GROUP_END);
}

/* Steps over what follows a group's start, with a stack of numbers in place of recursion.
 * *inside_end is where its end tag begins. */
static bool skip_group(cst__wire *wire, uint32_t number, int depth, const uint8_t **inside_end) {
  uint32_t open[CST__DEPTH_LIMIT];
  int levels = 0;
  cst__wire_field field = {0};
  depth = depth < CST__DEPTH_LIMIT ? depth : CST__DEPTH_LIMIT;
  if (depth < 1) {
    return stop_reading(wire, CST__WIRE_FAULT_DEPTH);
  }
  open[levels++] = number;
  while (levels > 0) {
    *inside_end = wire->at;
    if (left(wire) == 0) {
      return stop_reading(wire, CST__WIRE_FAULT_GROUP_OPEN);
    }
    if (!read_tag(wire, &field.number, &field.type)) {
      return false;
    }
    if (field.type == CST__WIRE_GROUP) {
      if (levels == depth) {
        return stop_reading(wire, CST__WIRE_FAULT_DEPTH);
      }
      open[levels++] = field.number;
    } else if (field.type == CST__WIRE_GROUP_END) {
      if (open[--levels] != field.number) {
        return stop_reading(wire, CST__WIRE_FAULT_GROUP_END);
      }
    } else if (!read_field_value(wire, &field)) {
      return false;
    }
  }
  return true;
}

bool cst__wire_next(cst__wire *wire, int depth, cst__wire_field *field) {
  if (left(wire) == 0) {
    return false;
  }
  const uint8_t *start = wire->at;
  *field = (cst__wire_field){0};
  if (!read_tag(wire, &field->number, &field->type)) {
    return false;
  }
  if (field->type == CST__WIRE_GROUP) {
    const uint8_t *inside = wire->at;
    const uint8_t *inside_end = inside;
    if (!skip_group(wire, field->number, depth, &inside_end)) {
      return false;
    }
    field->bytes = (cst_bytes){inside, (size_t)(inside_end - inside)};
  } else if (!read_field_value(wire, field)) {
    return false;
  }
  field->raw = (cst_bytes){start, (size_t)(wire->at - start)};
  return true;
}

static size_t varint_size(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) {
    size++;
  }
  return size;
}

/* The bytes that a writer takes for what `field` holds. */
static size_t canonical_size(const cst__wire_field *field) {
  size_t tag = varint_size((uint64_t)field->number << 3);
  switch (field->type) {
    case CST__WIRE_VARINT:
      return tag + varint_size(field->value);
    case CST__WIRE_FIXED64:
      return tag + 8;
    case CST__WIRE_FIXED32:
      return tag + 4;
    case CST__WIRE_LEN:
      return tag + varint_size(field->bytes.size) + field->bytes.size;
    case CST__WIRE_GROUP:
    case CST__WIRE_GROUP_END:
      break;
  }
  return tag + field->bytes.size + tag;
}

bool cst__wire_is_canonical(cst_bytes bytes, int depth) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, depth, &field)) {
    if (field.raw.size != canonical_size(&field) ||
        (field.type == CST__WIRE_GROUP && !cst__wire_is_canonical(field.bytes, depth - 1))) {
      return false;
    }
  }
  return wire.fault == CST__WIRE_FAULT_NONE;
}

/* Makes room for `size` more bytes at the front. */
static bool reserve_back(cst__wire_out *out, size_t size) {
  size_t used = cst__wire_out_size(out);
  size_t want;
  if (out->failed || !cst__add(used, size, &want)) {
    out->failed = true;
    return false;
  }
  if (size <= out->free) {
    return true;
  }
  size_t capacity = want > SIZE_MAX / 2 ? want : want * 2;
  capacity = capacity < 256 ? 256 : capacity;
  uint8_t *fresh = malloc(capacity);
  if (fresh == NULL) {
    out->failed = true;
    return false;
  }
  if (used > 0) {
    memcpy(fresh + capacity - used, out->data + out->free, used);
  }
  free(out->data);
  *out = (cst__wire_out){fresh, capacity, capacity - used, false};
  return true;
}

void cst__wire_put_bytes(cst__wire_out *out, const void *bytes, size_t size) {
  if (size > 0 && reserve_back(out, size)) {
    out->free -= size;
    memcpy(out->data + out->free, bytes, size);
  }
}

void cst__wire_put_varint(cst__wire_out *out, uint64_t value) {
  uint8_t bytes[10];
  size_t size = 0;
  for (; value >= 0x80; value >>= 7) {
    bytes[size++] = (uint8_t)(value | 0x80);
  }
  bytes[size++] = (uint8_t)value;
  cst__wire_put_bytes(out, bytes, size);
}

static void put_fixed_bytes(cst__wire_out *out, uint64_t value, size_t width) {
  uint8_t bytes[8];
  for (size_t i = 0; i < width; i++) {
    bytes[i] = (uint8_t)(value >> (8 * i));
  }
  cst__wire_put_bytes(out, bytes, width);
}

void cst__wire_put_fixed32(cst__wire_out *out, uint32_t value) { put_fixed_bytes(out, value, 4); }
void cst__wire_put_fixed64(cst__wire_out *out, uint64_t value) { put_fixed_bytes(out, value, 8); }

void cst__wire_put_tag(cst__wire_out *out, uint32_t number, cst__wire_type type) {
  cst__wire_put_varint(out, (uint64_t)number << 3 | (uint64_t)type);
}

cst_status cst__wire_out_finish(cst__wire_out *out, char **bytes, size_t *size, cst_error *error) {
  (void)reserve_back(out, 1); /* never NULL, also for no bytes */
  if (out->failed) {
    size_t wanted = cst__wire_out_size(out);
    cst__wire_out_free(out);
    return cst__fail_memory(error, wanted);
  }
  size_t used = cst__wire_out_size(out);
  memmove(out->data, out->data + out->free, used);
  *bytes = (char *)out->data;
  *size = used;
  *out = (cst__wire_out){0};
  return CST_OK;
}

void cst__wire_out_free(cst__wire_out *out) {
  free(out->data);
  *out = (cst__wire_out){0};
}
