/* The protobuf wire format: a reader that checks everything it steps over, and a writer that fills
 * its buffer from the end, so that a nested message's length is known when it has to be written.
 *
 * Source: "Protocol Buffers: Encoding". The checks are those of the protobuf library, version 7.36
 * (see python/tests/test_protobuf.py): wire types 6 and 7, varints over ten bytes, tags over 32
 * bits, lengths over five bytes, over 2 GiB or past the end, group ends without a start, groups
 * without an end, nesting beyond a limit; and the field number 0, which upb takes inside unknown
 * groups, where the other libraries refuse it, too.
 */
#ifndef PROTO_WIRE_H
#define PROTO_WIRE_H

#include <columnstone/status.h>

#include "base/error.h"

enum { CST__DEPTH_LIMIT = 100 }; /* nested messages and groups, as the protobuf library has it */

typedef enum cst__wire_type {
  CST__WIRE_VARINT = 0,
  CST__WIRE_FIXED64 = 1,
  CST__WIRE_LEN = 2,
  CST__WIRE_GROUP = 3,
  CST__WIRE_GROUP_END = 4,
  CST__WIRE_FIXED32 = 5
} cst__wire_type;

/* What can be wrong with bytes on the wire: name and text. */
#define CST__WIRE_FAULT_MAP(XX)                          \
  XX(NONE, "nothing")                                    \
  XX(TRUNCATED, "the bytes end inside a value")          \
  XX(LONG_VARINT, "a varint has more than 10 bytes")     \
  XX(BAD_TAG, "a tag has more than 32 bits")             \
  XX(FIELD_ZERO, "a field has the number 0")             \
  XX(WIRE_TYPE, "a field has the wire type 6 or 7")      \
  XX(LENGTH, "a length points past the end")             \
  XX(LONG_LENGTH, "a length has more than 5 bytes")      \
  XX(GROUP_END, "a group ends that was never started")   \
  XX(GROUP_OPEN, "a group has no end")                   \
  XX(DEPTH, "messages are nested deeper than the limit") \
  XX(PACKED, "a packed field ends inside a value")       \
  XX(UTF8, "a string is not valid UTF-8")

typedef enum cst__wire_fault {
#define CST__WIRE_FAULT_ENUM(name, text) CST__WIRE_FAULT_##name,
  CST__WIRE_FAULT_MAP(CST__WIRE_FAULT_ENUM)
#undef CST__WIRE_FAULT_ENUM
} cst__wire_fault;

const char *cst__wire_fault_text(cst__wire_fault fault);

/* What to do about a string that is not UTF-8, which a message option takes. */
#define CST__UTF8_HINT "write valid UTF-8, or read strings as bytes: binary_strings=True"

/* A place in some bytes. The first fault stays, and every later read fails. */
typedef struct cst__wire {
  const uint8_t *at;
  const uint8_t *end;
  cst__wire_fault fault;
  const uint8_t *fault_at; /* the value or tag that is wrong */
} cst__wire;

static inline cst__wire cst__wire_of(const void *data, size_t size) {
  const uint8_t *at = data != NULL ? (const uint8_t *)data : (const uint8_t *)"";
  return (cst__wire){at, at + size, CST__WIRE_FAULT_NONE, NULL};
}

/* One field: its number, and the value as its wire type has it. */
typedef struct cst__wire_field {
  uint32_t number;
  cst__wire_type type;
  uint64_t value;  /* VARINT, FIXED64, FIXED32 */
  cst_bytes bytes; /* LEN: the payload; GROUP: what stands between start and end */
  cst_bytes raw;   /* the whole field with its tag */
} cst__wire_field;

/* Reads the next field. False at the end of the bytes (fault NONE) or at a fault. `depth` is the
 * number of levels that may still open: groups are stepped over and count against it. */
bool cst__wire_next(cst__wire *wire, int depth, cst__wire_field *field);

/* Single values, as they stand in packed fields. False: `fault` says why. */
bool cst__wire_varint(cst__wire *wire, uint64_t *value);
bool cst__wire_fixed32(cst__wire *wire, uint64_t *value);
bool cst__wire_fixed64(cst__wire *wire, uint64_t *value);
/* The same by their type: VARINT, FIXED32 or FIXED64. */
bool cst__wire_single(cst__wire *wire, cst__wire_type type, uint64_t *value);

static inline int64_t cst__zigzag_decode(uint64_t n) {
  return (int64_t)((n >> 1) ^ (~(n & 1) + 1));
}
static inline uint64_t cst__zigzag_encode(int64_t n) {
  return ((uint64_t)n << 1) ^ (uint64_t)(n >> 63);
}

/* True if the bytes are fields in the one form that a protobuf writer gives them (shortest
 * varints), so that reading and writing them again gives the same bytes. Groups are looked into,
 * payloads of LEN fields are not. */
bool cst__wire_is_canonical(cst_bytes bytes, int depth);

/* ---- writing, back to front ---- */

/* What is put later stands first. Zero-initialised storage. Once out of memory it stays `failed`
 * and ignores what is put, so that a writer checks once, at the end. */
typedef struct cst__wire_out {
  uint8_t *data;
  size_t capacity;
  size_t free; /* unused bytes at the front */
  bool failed;
} cst__wire_out;

static inline size_t cst__wire_out_size(const cst__wire_out *out) {
  return out->capacity - out->free;
}
void cst__wire_put_bytes(cst__wire_out *out, const void *bytes, size_t size);
void cst__wire_put_varint(cst__wire_out *out, uint64_t value);
void cst__wire_put_fixed32(cst__wire_out *out, uint32_t value);
void cst__wire_put_fixed64(cst__wire_out *out, uint64_t value);
void cst__wire_put_tag(cst__wire_out *out, uint32_t number, cst__wire_type type);

/* Hands the bytes over (caller: cst_free), or fails with CST_NO_MEMORY. */
cst_status cst__wire_out_finish(cst__wire_out *out, char **bytes, size_t *size, cst_error *error);
void cst__wire_out_free(cst__wire_out *out);

#endif /* PROTO_WIRE_H */
