/* The table of formats. */
#include "arrow/layout.h"

#include <string.h>

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
