/* The table of formats, and what they say in public: of types and of slots. */
#include "arrow/layout.h"

#include <columnstone/arrow.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"

#define NUMBER(format, type, name) \
  { format, CST__LAYOUT_NUMBER, CST_DTYPE_##type, false, 0, 2, 0, name }
#define BINARY(format, is_string, width, name) \
  { format, CST__LAYOUT_BINARY, CST_DTYPE_BYTES, is_string, width, 3, 0, name }
#define VIEWS(format, is_string, name) \
  { format, CST__LAYOUT_BINARY_VIEW, CST_DTYPE_BYTES, is_string, 0, 3, 0, name }
#define NESTED(format, layout, width, buffers, children, name) \
  { format, CST__LAYOUT_##layout, CST_DTYPE_NONE, false, width, buffers, children, name }

/* Formats that are whole words, the usual ones first; those with a parameter are in
 * parse_parameter. */
static const cst__layout_info formats[] = {
    NESTED("+s", STRUCT, 0, 1, -1, "struct"),
    NESTED("+L", LIST, 8, 2, 1, "large_list"),
    NESTED("+l", LIST, 4, 2, 1, "list"),
    NUMBER("l", INT64, "int64"),
    NUMBER("f", FLOAT32, "float32"),
    NUMBER("g", FLOAT64, "float64"),
    BINARY("U", true, 8, "large_string"),
    BINARY("u", true, 4, "string"),
    BINARY("Z", false, 8, "large_binary"),
    BINARY("z", false, 4, "binary"),
    {"b", CST__LAYOUT_BOOL, CST_DTYPE_NONE, false, 0, 2, 0, "bool"},
    NUMBER("i", INT32, "int32"),
    NUMBER("c", INT8, "int8"),
    NUMBER("C", UINT8, "uint8"),
    NUMBER("s", INT16, "int16"),
    NUMBER("S", UINT16, "uint16"),
    NUMBER("I", UINT32, "uint32"),
    NUMBER("L", UINT64, "uint64"),
    {"n", CST__LAYOUT_NULL, CST_DTYPE_NONE, false, 0, 0, 0, "null"},
    {"e", CST__LAYOUT_HALF, CST_DTYPE_NONE, false, 0, 2, 0, "float16"},
    VIEWS("vz", false, "binary_view"),
    VIEWS("vu", true, "string_view"),
    NESTED("+m", LIST, 4, 2, 1, "map"),
    NESTED("+vl", LIST_VIEW, 4, 3, 1, "list_view"),
    NESTED("+vL", LIST_VIEW, 8, 3, 1, "large_list_view"),
};

static const cst__layout_info fixed_binary = {
    "w:", CST__LAYOUT_FIXED_BINARY, CST_DTYPE_BYTES, false, 0, 2, 0, "fixed_size_binary"};
static const cst__layout_info fixed_list = NESTED("+w:", FIXED_LIST, 0, 1, 1, "fixed_size_list");
static const cst__layout_info opaque = {"", CST__LAYOUT_OPAQUE, CST_DTYPE_NONE, false, 0, 2, 0, ""};
static const cst__layout_info other = NESTED("", OTHER, 0, 0, -1, "");

/* The number of a format such as "+w:12"; false if it is none that fits 32 bits. */
static bool layout_parse_size(const char *digits, int64_t *out) {
  int64_t value = 0;
  if (*digits == '\0') {
    return false;
  }
  for (; *digits != '\0'; digits++) {
    if (*digits < '0' || *digits > '9') {
      return false;
    }
    value = value * 10 + (*digits - '0');
    if (value > INT32_MAX) {
      return false;
    }
  }
  *out = value;
  return true;
}

typedef struct opaque_entry {
  const char *format;
  bool is_prefix; /* a time zone follows */
  int64_t width;  /* bytes of a slot */
} opaque_entry;

static const opaque_entry opaque_formats[] = {
    {"tdD", false, 4}, {"tdm", false, 8},  {"tts", false, 4}, {"ttm", false, 4}, {"ttu", false, 8},
    {"ttn", false, 8}, {"tss:", true, 8},  {"tsm:", true, 8}, {"tsu:", true, 8}, {"tsn:", true, 8},
    {"tDs", false, 8}, {"tDm", false, 8},  {"tDu", false, 8}, {"tDn", false, 8}, {"tiM", false, 4},
    {"tiD", false, 8}, {"tin", false, 16},
};

/* "d:precision,scale" of 128 bits, or "d:precision,scale,bits". */
static bool decimal_width(const char *format, int64_t *width) {
  const char *scale = strchr(format, ',');
  const char *bits = scale != NULL ? strchr(scale + 1, ',') : NULL;
  int64_t value = 128;
  if (strncmp(format, "d:", 2) != 0 || scale == NULL ||
      (bits != NULL && !layout_parse_size(bits + 1, &value)) ||
      (value != 32 && value != 64 && value != 128 && value != 256)) {
    return false;
  }
  *width = value / 8;
  return true;
}

static bool opaque_width(const char *format, int64_t *width) {
  for (size_t i = 0; i < sizeof opaque_formats / sizeof opaque_formats[0]; i++) {
    const opaque_entry *entry = &opaque_formats[i];
    if (strncmp(format, entry->format, strlen(entry->format)) == 0 &&
        (entry->is_prefix || format[strlen(entry->format)] == '\0')) {
      *width = entry->width;
      return true;
    }
  }
  return decimal_width(format, width);
}

/* Most differ in the first character, which is not worth a call of strcmp. */
static bool is_same_format(const char *a, const char *b) {
  for (; *a != '\0' && *a == *b; a++, b++) {
  }
  return *a == *b;
}

const cst__layout_info *cst__layout_find(const char *format, int64_t *fixed_size) {
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    if (is_same_format(formats[i].format, format)) {
      return &formats[i];
    }
  }
  if (strncmp(format, "w:", 2) == 0 && layout_parse_size(format + 2, fixed_size)) {
    return &fixed_binary;
  }
  if (strncmp(format, "+w:", 3) == 0 && layout_parse_size(format + 3, fixed_size)) {
    return &fixed_list;
  }
  return opaque_width(format, fixed_size) ? &opaque : &other;
}

bool cst__format_is_list(const char *format) {
  int64_t ignored;
  return cst__layout_is_list(cst__layout_find(format, &ignored)->layout);
}

typedef struct name_entry {
  const char *prefix;
  const char *name;
} name_entry;

static const name_entry other_names[] = {
    {"dictionary", "dictionary"},
    {"ts", "timestamp"},
    {"td", "date"},
    {"tt", "time"},
    {"tD", "duration"},
    {"ti", "interval"},
    {"d:", "decimal"},
    {"+ud", "dense_union"},
    {"+us", "sparse_union"},
    {"+r", "run_end_encoded"},
};

const char *cst__layout_name(const char *format) {
  int64_t ignored;
  const cst__layout_info *f = cst__layout_find(format, &ignored);
  if (f != &other && f != &opaque) {
    return f->name;
  }
  for (size_t i = 0; i < sizeof other_names / sizeof other_names[0]; i++) {
    if (strncmp(format, other_names[i].prefix, strlen(other_names[i].prefix)) == 0) {
      return other_names[i].name;
    }
  }
  return "unknown";
}

size_t cst__index_limit(cst_dtype indices) {
  static const size_t counts[] = {[CST_DTYPE_INT8] = INT8_MAX,    [CST_DTYPE_UINT8] = UINT8_MAX,
                                  [CST_DTYPE_INT16] = INT16_MAX,  [CST_DTYPE_UINT16] = UINT16_MAX,
                                  [CST_DTYPE_INT32] = INT32_MAX,  [CST_DTYPE_UINT32] = UINT32_MAX,
                                  [CST_DTYPE_INT64] = UINT32_MAX, [CST_DTYPE_UINT64] = UINT32_MAX};
  return counts[indices] + 1;
}

/* ---- types in public (columnstone/arrow.h) ---- */

static cst_arrow_kind number_kind(cst_dtype dtype) {
  switch (dtype) {
    case CST_DTYPE_INT8:
    case CST_DTYPE_INT16:
    case CST_DTYPE_INT32:
    case CST_DTYPE_INT64:
      return CST_ARROW_INT;
    case CST_DTYPE_FLOAT32:
    case CST_DTYPE_FLOAT64:
      return CST_ARROW_FLOAT;
    default:
      return CST_ARROW_UINT;
  }
}

/* Times and decimals: a format that the table has. */
static void read_opaque(const char *format, cst_arrow_type *out) {
  static const struct {
    char letter;
    cst_arrow_kind kind;
  } kinds[] = {{'d', CST_ARROW_DATE},
               {'t', CST_ARROW_TIME},
               {'s', CST_ARROW_TIMESTAMP},
               {'D', CST_ARROW_DURATION},
               {'i', CST_ARROW_INTERVAL}};
  if (format[0] == 'd') {
    char *comma;
    out->kind = CST_ARROW_DECIMAL;
    out->precision = (int32_t)strtol(format + 2, &comma, 10);
    out->scale = *comma == ',' ? (int32_t)strtol(comma + 1, NULL, 10) : 0;
    return;
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (kinds[i].letter == format[1]) {
      out->kind = kinds[i].kind;
    }
  }
  out->unit = format[2];
  out->time_zone = out->kind == CST_ARROW_TIMESTAMP ? format + 4 : NULL;
}

static cst_arrow_kind kind_of_layout(const cst__layout_info *info) {
  switch (info->layout) {
    case CST__LAYOUT_NULL:
      return CST_ARROW_NULL;
    case CST__LAYOUT_BOOL:
      return CST_ARROW_BOOL;
    case CST__LAYOUT_NUMBER:
      return number_kind(info->dtype);
    case CST__LAYOUT_HALF:
      return CST_ARROW_FLOAT;
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
      return info->is_string ? CST_ARROW_STRING : CST_ARROW_BINARY;
    case CST__LAYOUT_FIXED_BINARY:
      return CST_ARROW_FIXED_BINARY;
    case CST__LAYOUT_LIST:
      return info->format[1] == 'm' ? CST_ARROW_MAP : CST_ARROW_LIST;
    case CST__LAYOUT_LIST_VIEW:
      return CST_ARROW_LIST;
    case CST__LAYOUT_FIXED_LIST:
      return CST_ARROW_FIXED_LIST;
    case CST__LAYOUT_STRUCT:
      return CST_ARROW_STRUCT;
    case CST__LAYOUT_OPAQUE:
    case CST__LAYOUT_OTHER:
      break;
  }
  return CST_ARROW_OTHER;
}

static void read_type(const struct ArrowSchema *schema, cst_arrow_type *out) {
  int64_t size = 0;
  const cst__layout_info *info = cst__layout_find(schema->format, &size);
  *out = (cst_arrow_type){
      .kind = kind_of_layout(info),
      .offset_width = info->offset_width,
      .is_view = info->layout == CST__LAYOUT_BINARY_VIEW || info->layout == CST__LAYOUT_LIST_VIEW,
      .is_nullable = (schema->flags & ARROW_FLAG_NULLABLE) != 0,
      .num_items = info->layout == CST__LAYOUT_FIXED_LIST ? (int32_t)size : 0,
      .num_buffers = info->num_buffers,
  };
  if (info->layout == CST__LAYOUT_NUMBER) {
    out->width = (int32_t)cst_dtype_width(info->dtype);
  } else if (info->layout == CST__LAYOUT_HALF) {
    out->width = 2;
  } else if (info->layout == CST__LAYOUT_FIXED_BINARY) {
    out->width = (int32_t)size;
  } else if (info->layout == CST__LAYOUT_OPAQUE) {
    out->width = (int32_t)size;
    read_opaque(schema->format, out);
  }
}

cst_status cst_arrow_type_read(const struct ArrowSchema *schema, cst_arrow_type *out,
                               cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(schema, "schema", out, error));
  if (schema->release == NULL || schema->format == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the Arrow schema is released");
  }
  read_type(schema, out);
  return CST_OK;
}

static int64_t bits_size(int64_t slots) { return slots / 8 + (slots % 8 != 0); }

/* Bitmap, views, blocks, and the sizes of the blocks. */
static int64_t view_buffer_size(const struct ArrowArray *array, int64_t slots, int64_t buffer) {
  const int64_t *blocks = array->buffers[array->n_buffers - 1];
  return buffer == 1                      ? 16 * slots
         : buffer == array->n_buffers - 1 ? 8 * (array->n_buffers - 3)
                                          : blocks[buffer - 2];
}

int64_t cst_arrow_buffer_size(const struct ArrowSchema *schema, const struct ArrowArray *array,
                              int64_t buffer) {
  cst_arrow_type type;
  if (array == NULL || cst_arrow_type_read(schema, &type, NULL) != CST_OK ||
      type.kind == CST_ARROW_OTHER || buffer < 0 || buffer >= array->n_buffers ||
      array->n_buffers < type.num_buffers) {
    return -1;
  }
  int64_t slots = array->offset + array->length;
  bool has_bytes = type.kind == CST_ARROW_BINARY || type.kind == CST_ARROW_STRING;
  if (buffer == 0) {
    return bits_size(slots);
  }
  if (type.is_view && has_bytes) {
    return view_buffer_size(array, slots, buffer);
  }
  if (type.is_view) {
    return slots * type.offset_width;
  }
  if (type.offset_width > 0 && buffer == 1) {
    return (slots + 1) * type.offset_width;
  }
  if (has_bytes) {
    const void *offsets = array->buffers[1];
    return offsets == NULL          ? 0
           : type.offset_width == 8 ? ((const int64_t *)offsets)[slots]
                                    : ((const int32_t *)offsets)[slots];
  }
  return type.kind == CST_ARROW_BOOL ? bits_size(slots) : slots * type.width;
}

/* ---- slots in public: they are read one by one, so the letters decide, without the table ---- */

bool cst_arrow_is_null(const struct ArrowSchema *schema, const struct ArrowArray *array,
                       int64_t slot) {
  if (schema->format[0] == 'n') {
    return true;
  }
  const uint8_t *bits = array->n_buffers > 0 ? array->buffers[0] : NULL;
  int64_t at = array->offset + slot;
  return array->null_count != 0 && bits != NULL && (bits[at >> 3] >> (at & 7) & 1) == 0;
}

/* What lies between two offsets of 32 or 64 bits. */
static void range_at(const struct ArrowArray *array, bool large, int64_t at, int64_t *begin,
                     int64_t *end) {
  const void *offsets = array->buffers[1];
  *begin = large ? ((const int64_t *)offsets)[at] : ((const int32_t *)offsets)[at];
  *end = large ? ((const int64_t *)offsets)[at + 1] : ((const int32_t *)offsets)[at + 1];
}

/* A view: size, then the bytes if at most 12, else 4 bytes, number of the block and offset. */
static cst_bytes viewed_bytes(const struct ArrowArray *array, int64_t at) {
  const uint8_t *slot = (const uint8_t *)array->buffers[1] + at * 16;
  int32_t field[4];
  memcpy(field, slot, sizeof field);
  if (field[0] <= 12) {
    return (cst_bytes){slot + 4, (size_t)field[0]};
  }
  const uint8_t *block = array->buffers[2 + (int64_t)field[2]];
  return (cst_bytes){block + field[3], (size_t)field[0]};
}

cst_bytes cst_arrow_bytes_at(const struct ArrowSchema *schema, const struct ArrowArray *array,
                             int64_t slot) {
  int64_t at = array->offset + slot;
  char letter = schema->format[0];
  int64_t begin;
  int64_t end;
  switch (letter) {
    case 'z':
    case 'u':
    case 'Z':
    case 'U': {
      const uint8_t *data = array->buffers[2];
      range_at(array, letter == 'Z' || letter == 'U', at, &begin, &end);
      return (cst_bytes){data != NULL ? data + begin : NULL, (size_t)(end - begin)};
    }
    case 'v':
      return viewed_bytes(array, at);
    case 'w': {
      int64_t width = 0;
      (void)cst__layout_find(schema->format, &width);
      const uint8_t *data = array->buffers[1];
      return (cst_bytes){data != NULL ? data + at * width : NULL, (size_t)width};
    }
    default:
      return (cst_bytes){NULL, 0};
  }
}

bool cst_arrow_list_at(const struct ArrowSchema *schema, const struct ArrowArray *array,
                       int64_t slot, int64_t *begin, int64_t *end) {
  int64_t at = array->offset + slot;
  *begin = *end = 0;
  if (schema->format[0] != '+') {
    return false;
  }
  switch (schema->format[1]) {
    case 'l':
    case 'L':
    case 'm':
      range_at(array, schema->format[1] == 'L', at, begin, end);
      return true;
    case 'v': {
      bool large = schema->format[2] == 'L';
      const void *offsets = array->buffers[1];
      const void *sizes = array->buffers[2];
      *begin = large ? ((const int64_t *)offsets)[at] : ((const int32_t *)offsets)[at];
      *end = *begin + (large ? ((const int64_t *)sizes)[at] : ((const int32_t *)sizes)[at]);
      return true;
    }
    case 'w': {
      int64_t size = 0;
      (void)cst__layout_find(schema->format, &size);
      *begin = at * size;
      *end = *begin + size;
      return true;
    }
    default:
      return false;
  }
}
