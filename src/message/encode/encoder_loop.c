/* The hot part of encoding: plain columns, whose slots are read from their buffers without a call.
 * Compiled once per instruction set (CST_VARIANT names it).
 */
#include "message/encode/encoder_tree.h"
#include "proto/fast_wire.h"
#include "proto/wire.h"

enum { PACKED_RUN = 1024 /* values for which room is made at once */ };

/* ---- one value ---- */

/* What a plain column is read as. */
typedef enum plain_kind {
  PLAIN_VARINT64, /* int64, uint64 */
  PLAIN_INT32,    /* int32, and enums by number: sign-extended */
  PLAIN_UINT32,
  PLAIN_SINT64,
  PLAIN_SINT32,
  PLAIN_FIXED32, /* and floats */
  PLAIN_FIXED64,
  PLAIN_BOOL,
  PLAIN_BYTES, /* by offsets of 64 bits, */
  PLAIN_BYTES4 /* or 32 */
} plain_kind;

/* The 7-bit groups of a number of up to 56 bits, each in a byte of its own. */
static inline uint64_t spread(uint64_t n) {
#if defined(__BMI2__)
  return _pdep_u64(n, UINT64_C(0x7f7f7f7f7f7f7f7f));
#else
  n = (n & UINT64_C(0x000000000fffffff)) | (n & UINT64_C(0x00fffffff0000000)) << 4;
  n = (n & UINT64_C(0x00003fff00003fff)) | (n & UINT64_C(0x0fffc0000fffc000)) << 2;
  return (n & UINT64_C(0x007f007f007f007f)) | (n & UINT64_C(0x3f803f803f803f80)) << 1;
#endif
}

/* A varint that ends at `at`, without a branch on its size; 8 bytes before `at` are overwritten. */
ALWAYS_INLINE uint8_t *put_varint(uint8_t *at, uint64_t value) {
  if (UNLIKELY(value >> 56 != 0)) {
    return cst__put_varint_back(at, value);
  }
  uint64_t groups = spread(value);
  unsigned unused = (unsigned)__builtin_clzll(groups | 1) & 0x38; /* bits of whole bytes */
  uint64_t more = UINT64_C(0x8080808080808080) << unused & UINT64_C(0x0080808080808080);
  uint64_t word = groups << unused | more;
  memcpy(at - 8, &word, 8);
  return at - 8 + unused / 8;
}

/* Bytes that end at `at`; 16 bytes before it are overwritten if they are few. */
ALWAYS_INLINE uint8_t *put_short_bytes(uint8_t *at, const uint8_t *bytes, size_t size) {
  at -= size;
  cst__copy_exact(at, bytes, size);
  return at;
}

static inline cst_bytes bytes_of_slot(const cst__out_field *f, int64_t i, plain_kind kind) {
  const cst__view *view = f->values.view;
  int64_t begin = cst__view_entry(view->offsets, kind == PLAIN_BYTES ? 8 : 4, view->offset + i);
  int64_t end = cst__view_entry(view->offsets, kind == PLAIN_BYTES ? 8 : 4, view->offset + i + 1);
  return (cst_bytes){(const uint8_t *)view->data + begin, (size_t)(end - begin)};
}

/* The most bytes of a value, without those of PLAIN_BYTES. */
ALWAYS_INLINE size_t plain_bound(plain_kind kind) {
  return kind == PLAIN_FIXED32 ? 4 : kind == PLAIN_FIXED64 ? 8 : kind == PLAIN_BOOL ? 1 : 10;
}

/* There is room. */
ALWAYS_INLINE uint8_t *put_number(const cst__out_field *f, int64_t i, uint8_t *at,
                                  plain_kind kind) {
  switch (kind) {
    case PLAIN_VARINT64:
      return put_varint(at, ((const uint64_t *)f->data)[i]);
    case PLAIN_INT32:
      return put_varint(at, (uint64_t)(int64_t)((const int32_t *)f->data)[i]);
    case PLAIN_UINT32:
      return put_varint(at, ((const uint32_t *)f->data)[i]);
    case PLAIN_SINT64:
      return put_varint(at, cst__zigzag_encode(((const int64_t *)f->data)[i]));
    case PLAIN_SINT32:
      return put_varint(at, cst__zigzag_encode(((const int32_t *)f->data)[i]));
    case PLAIN_FIXED32:
      memcpy(at - 4, (const uint32_t *)f->data + i, 4);
      return at - 4;
    case PLAIN_FIXED64:
      memcpy(at - 8, (const uint64_t *)f->data + i, 8);
      return at - 8;
    default: {
      int64_t bit = f->values.view->offset + i;
      *--at = (((const uint8_t *)f->values.view->data)[bit >> 3] >> (bit & 7)) & 1;
      return at;
    }
  }
}

/* The bytes are a zero: of a number, of a bool, or of the length of an empty string. */
static inline bool is_zero(const uint8_t *at, size_t size) {
  static const uint8_t zeros[8];
  return *at == 0 && memcmp(at, zeros, size < 8 ? size : 8) == 0;
}

/* ---- one field ---- */

ALWAYS_INLINE uint8_t *put_plain(const cst__out_field *f, int64_t row, uint8_t *at, cst__out *out,
                                 plain_kind kind) {
  bool is_bytes = kind == PLAIN_BYTES || kind == PLAIN_BYTES4;
  if (f->validity != NULL && cst__view_is_null(f->values.view, row)) {
    return f->is_required ? cst__out_put_missing(f, row, at, out) : at;
  }
  cst_bytes bytes = {NULL, 0};
  if (is_bytes) {
    bytes = bytes_of_slot(f, row, kind);
    if (f->is_implicit && bytes.size == 0) {
      return at;
    }
  }
  uint8_t *end = cst__out_room(out, at, is_bytes ? bytes.size : plain_bound(kind));
  if (UNLIKELY(end == NULL)) {
    return NULL;
  }
  if (is_bytes) {
    at = cst__out_put_length(put_short_bytes(end, bytes.data, bytes.size), bytes.size);
  } else {
    at = put_number(f, row, end, kind);
    if (f->is_implicit && is_zero(at, (size_t)(end - at))) {
      return end;
    }
  }
  return cst__out_put_tag(f, at);
}

/* The items of a slot of a list by offsets. */
ALWAYS_INLINE void list_of_row(const cst__out_field *f, int64_t row, int64_t *begin, int64_t *end) {
  if (f->has_wide_offsets) {
    *begin = ((const int64_t *)f->offsets)[row];
    *end = ((const int64_t *)f->offsets)[row + 1];
  } else {
    *begin = ((const int32_t *)f->offsets)[row];
    *end = ((const int32_t *)f->offsets)[row + 1];
  }
  if (UNLIKELY(f->validity != NULL) && cst__view_is_null(f->lists.view, row)) {
    *end = *begin;
  }
}

/* Values of a packed list, for which there is room. */
ALWAYS_INLINE uint8_t *put_run(const cst__out_field *f, int64_t begin, int64_t end, uint8_t *at,
                               plain_kind kind) {
  if (kind == PLAIN_FIXED32 || kind == PLAIN_FIXED64) {
    size_t width = kind == PLAIN_FIXED32 ? 4 : 8;
    size_t size = (size_t)(end - begin) * width;
    return memcpy(at - size, (const uint8_t *)f->data + (size_t)begin * width, size);
  }
  while (end > begin) {
    at = put_number(f, --end, at, kind);
  }
  return at;
}

ALWAYS_INLINE uint8_t *put_packed_head(const cst__out_field *f, uint8_t *at, size_t size) {
  return cst__out_put_tag(f, cst__out_put_length(at, size));
}

/* However many values. */
ALWAYS_INLINE uint8_t *put_many_packed(const cst__out_field *f, int64_t row, uint8_t *at,
                                       cst__out *out, plain_kind kind) {
  int64_t begin;
  int64_t end;
  list_of_row(f, row, &begin, &end);
  if (begin == end) {
    return at;
  }
  size_t before = cst__out_size(out, at);
  while (begin < end) {
    int64_t from = end - begin > PACKED_RUN ? end - PACKED_RUN : begin;
    at = cst__out_room(out, at, (size_t)(end - from) * plain_bound(kind));
    if (UNLIKELY(at == NULL)) {
      return NULL;
    }
    at = put_run(f, from, end, at, kind);
    end = from;
  }
  return put_packed_head(f, at, cst__out_size(out, at) - before);
}

/* One value that needs little is a usual case: nothing is called then. */
ALWAYS_INLINE uint8_t *put_plain_packed(const cst__out_field *f, int64_t row, uint8_t *at,
                                        cst__out *out, plain_kind kind, cst__put_field put_many) {
  int64_t begin;
  int64_t end;
  list_of_row(f, row, &begin, &end);
  bool has_room = at - out->begin >= CST__OUT_LEAD + (ptrdiff_t)plain_bound(kind);
  if (UNLIKELY(end - begin != 1 || !has_room)) {
    return begin == end ? at : put_many(f, row, at, out);
  }
  uint8_t *stop = at;
  at = put_number(f, begin, at, kind);
  at[-1] = (uint8_t)(stop - at); /* at most 10 */
  return cst__out_put_tag(f, at - 1);
}

ALWAYS_INLINE uint8_t *put_plain_strings(const cst__out_field *f, int64_t row, uint8_t *at,
                                         cst__out *out, plain_kind kind) {
  int64_t begin;
  int64_t end;
  list_of_row(f, row, &begin, &end);
  for (; end > begin; end--) {
    cst_bytes bytes = bytes_of_slot(f, end - 1, kind);
    at = cst__out_room(out, at, bytes.size);
    if (UNLIKELY(at == NULL)) {
      return NULL;
    }
    at = cst__out_put_length(put_short_bytes(at, bytes.data, bytes.size), bytes.size);
    at = cst__out_put_tag(f, at);
  }
  return at;
}

#define PLAIN_WRITER(name, kind)                                                                 \
  static uint8_t *put_##name(const cst__out_field *f, int64_t row, uint8_t *at, cst__out *out) { \
    return put_plain(f, row, at, out, kind);                                                     \
  }
#define NUMBER_WRITERS(name, kind)                                                               \
  PLAIN_WRITER(name, kind)                                                                       \
  static __attribute__((noinline))                                                               \
  uint8_t *put_##name##_many(const cst__out_field *f, int64_t row, uint8_t *at, cst__out *out) { \
    return put_many_packed(f, row, at, out, kind);                                               \
  }                                                                                              \
  static uint8_t *put_##name##_list(const cst__out_field *f, int64_t row, uint8_t *at,           \
                                    cst__out *out) {                                             \
    return put_plain_packed(f, row, at, out, kind, put_##name##_many);                           \
  }
#define BYTES_WRITERS(name, kind)                                                      \
  PLAIN_WRITER(name, kind)                                                             \
  static uint8_t *put_##name##_list(const cst__out_field *f, int64_t row, uint8_t *at, \
                                    cst__out *out) {                                   \
    return put_plain_strings(f, row, at, out, kind);                                   \
  }
NUMBER_WRITERS(plain_varint64, PLAIN_VARINT64)
NUMBER_WRITERS(plain_int32, PLAIN_INT32)
NUMBER_WRITERS(plain_uint32, PLAIN_UINT32)
NUMBER_WRITERS(plain_sint64, PLAIN_SINT64)
NUMBER_WRITERS(plain_sint32, PLAIN_SINT32)
NUMBER_WRITERS(plain_fixed32, PLAIN_FIXED32)
NUMBER_WRITERS(plain_fixed64, PLAIN_FIXED64)
NUMBER_WRITERS(plain_bool, PLAIN_BOOL)
BYTES_WRITERS(plain_bytes, PLAIN_BYTES)
BYTES_WRITERS(plain_bytes4, PLAIN_BYTES4)

static const struct plain_writers {
  cst__put_field singular;
  cst__put_field list;
} plain_writers[] = {
    [PLAIN_VARINT64] = {put_plain_varint64, put_plain_varint64_list},
    [PLAIN_INT32] = {put_plain_int32, put_plain_int32_list},
    [PLAIN_UINT32] = {put_plain_uint32, put_plain_uint32_list},
    [PLAIN_SINT64] = {put_plain_sint64, put_plain_sint64_list},
    [PLAIN_SINT32] = {put_plain_sint32, put_plain_sint32_list},
    [PLAIN_FIXED32] = {put_plain_fixed32, put_plain_fixed32_list},
    [PLAIN_FIXED64] = {put_plain_fixed64, put_plain_fixed64_list},
    [PLAIN_BOOL] = {put_plain_bool, put_plain_bool_list},
    [PLAIN_BYTES] = {put_plain_bytes, put_plain_bytes_list},
    [PLAIN_BYTES4] = {put_plain_bytes4, put_plain_bytes4_list},
};

/* ---- which columns are plain ---- */

/* The kind by which a number of a field's own type is read; false: the column has another type. */
static bool plain_number(const cst__field_def *def, cst_dtype dtype, plain_kind *kind) {
  static const struct {
    uint8_t type, dtype, kind;
  } plain[] = {
      {CST__FIELD_INT64, CST_DTYPE_INT64, PLAIN_VARINT64},
      {CST__FIELD_UINT64, CST_DTYPE_UINT64, PLAIN_VARINT64},
      {CST__FIELD_INT32, CST_DTYPE_INT32, PLAIN_INT32},
      {CST__FIELD_UINT32, CST_DTYPE_UINT32, PLAIN_UINT32},
      {CST__FIELD_SINT64, CST_DTYPE_INT64, PLAIN_SINT64},
      {CST__FIELD_SINT32, CST_DTYPE_INT32, PLAIN_SINT32},
      {CST__FIELD_FLOAT, CST_DTYPE_FLOAT32, PLAIN_FIXED32},
      {CST__FIELD_FIXED32, CST_DTYPE_UINT32, PLAIN_FIXED32},
      {CST__FIELD_SFIXED32, CST_DTYPE_INT32, PLAIN_FIXED32},
      {CST__FIELD_DOUBLE, CST_DTYPE_FLOAT64, PLAIN_FIXED64},
      {CST__FIELD_FIXED64, CST_DTYPE_UINT64, PLAIN_FIXED64},
      {CST__FIELD_SFIXED64, CST_DTYPE_INT64, PLAIN_FIXED64},
      {CST__FIELD_ENUM, CST_DTYPE_INT32, PLAIN_INT32},
  };
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
    if (plain[i].type == def->type && plain[i].dtype == dtype) {
      *kind = (plain_kind)plain[i].kind;
      return def->type != CST__FIELD_ENUM || def->values->is_open;
    }
  }
  return false;
}

static bool find_plain_kind(const cst__field_def *def, const cst__view *values, plain_kind *kind) {
  bool is_string = def->type == CST__FIELD_STRING;
  switch (values->layout) {
    case CST__LAYOUT_NUMBER:
      return plain_number(def, values->dtype, kind);
    case CST__LAYOUT_BOOL:
      *kind = PLAIN_BOOL;
      return def->type == CST__FIELD_BOOL;
    case CST__LAYOUT_BINARY: /* what is declared as UTF-8 has been found to be */
      *kind = values->offset_width == 8 ? PLAIN_BYTES : PLAIN_BYTES4;
      return (def->type == CST__FIELD_BYTES ||
              (is_string && (values->is_string || (def->flags & CST__FIELD_UTF8) == 0)));
    default:
      return false;
  }
}

cst__put_field CST__PASTE(cst__out_plain_writer_, CST_VARIANT)(const cst__out_field *field) {
  const cst__view *values = field->values.view;
  plain_kind kind;
  if (field->values.indices != NULL || !find_plain_kind(field->def, values, &kind)) {
    return NULL;
  }
  if (!cst__field_is_repeated(field->def)) {
    return plain_writers[kind].singular;
  }
  bool is_bytes = kind == PLAIN_BYTES || kind == PLAIN_BYTES4;
  bool is_usual = field->lists.indices == NULL && field->lists.view->layout == CST__LAYOUT_LIST &&
                  values->null_count == 0;
  return is_usual && (is_bytes || (field->def->flags & CST__FIELD_PACKED) != 0)
             ? plain_writers[kind].list
             : NULL;
}
