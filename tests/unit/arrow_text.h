/* Arrow arrays from text, for tests: a type such as "large_list<int64>" and rows such as
 * "[1, 2] null []".
 *
 * Types: null, bool, int8..uint64, float16, float32, float64, [large_]binary, [large_]string,
 * binary_view, string_view, fixed_binary[n], timestamp, date32, date64, time32, time64, duration
 * (of seconds, time64 of nanoseconds, or as in timestamp[ns] and timestamp[us, UTC]),
 * [large_]list<T>, [large_]list_view<T>, fixed_list<T>[n], struct{a: T, b: T}. Values: null,
 * numbers, true, 'text', [item, ...], and {value, ...} for a struct, in the order of its fields.
 * Commas are blanks.
 */
#ifndef TESTS_UNIT_ARROW_TEXT_H
#define TESTS_UNIT_ARROW_TEXT_H

#include <nanoarrow/nanoarrow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

typedef struct arrow_text_type {
  const char *word;
  enum ArrowType type;
} arrow_text_type;

static const arrow_text_type arrow_text_types[] = {
    {"null", NANOARROW_TYPE_NA},
    {"bool", NANOARROW_TYPE_BOOL},
    {"int8", NANOARROW_TYPE_INT8},
    {"uint8", NANOARROW_TYPE_UINT8},
    {"int16", NANOARROW_TYPE_INT16},
    {"uint16", NANOARROW_TYPE_UINT16},
    {"int32", NANOARROW_TYPE_INT32},
    {"uint32", NANOARROW_TYPE_UINT32},
    {"int64", NANOARROW_TYPE_INT64},
    {"uint64", NANOARROW_TYPE_UINT64},
    {"float16", NANOARROW_TYPE_HALF_FLOAT},
    {"float32", NANOARROW_TYPE_FLOAT},
    {"float64", NANOARROW_TYPE_DOUBLE},
    {"binary", NANOARROW_TYPE_BINARY},
    {"large_binary", NANOARROW_TYPE_LARGE_BINARY},
    {"string", NANOARROW_TYPE_STRING},
    {"large_string", NANOARROW_TYPE_LARGE_STRING},
    {"binary_view", NANOARROW_TYPE_BINARY_VIEW},
    {"string_view", NANOARROW_TYPE_STRING_VIEW},
    {"list", NANOARROW_TYPE_LIST},
    {"large_list", NANOARROW_TYPE_LARGE_LIST},
    {"list_view", NANOARROW_TYPE_LIST_VIEW},
    {"large_list_view", NANOARROW_TYPE_LARGE_LIST_VIEW},
    {"fixed_list", NANOARROW_TYPE_FIXED_SIZE_LIST},
    {"fixed_binary", NANOARROW_TYPE_FIXED_SIZE_BINARY},
    {"timestamp", NANOARROW_TYPE_TIMESTAMP},
    {"date32", NANOARROW_TYPE_DATE32},
    {"date64", NANOARROW_TYPE_DATE64},
    {"time32", NANOARROW_TYPE_TIME32},
    {"time64", NANOARROW_TYPE_TIME64},
    {"duration", NANOARROW_TYPE_DURATION},
    {"struct", NANOARROW_TYPE_STRUCT},
    {"interval_months", NANOARROW_TYPE_INTERVAL_MONTHS},
    {"interval_month_day_nano", NANOARROW_TYPE_INTERVAL_MONTH_DAY_NANO},
};

static inline void arrow_text_blanks(const char **at) { *at += strspn(*at, " ,\n"); }

static inline void arrow_text_expect(const char **at, char c) {
  arrow_text_blanks(at);
  CHECK_EQ(**at, c);
  (*at)++;
}

static inline size_t arrow_text_word(const char **at, char *out, size_t n) {
  arrow_text_blanks(at);
  size_t size = strspn(*at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$");
  CHECK(size > 0 && size < n);
  memcpy(out, *at, size);
  out[size] = '\0';
  *at += size;
  return size;
}

static inline void arrow_text_parse_type(const char **at, struct ArrowSchema *schema);

static inline int32_t arrow_text_size(const char **at) {
  arrow_text_expect(at, '[');
  int32_t size = (int32_t)strtol(*at, (char **)at, 10);
  arrow_text_expect(at, ']');
  return size;
}

static inline void arrow_text_fields(const char **at, struct ArrowSchema *schema) {
  arrow_text_expect(at, '{');
  for (arrow_text_blanks(at); **at != '}'; arrow_text_blanks(at)) {
    char name[64];
    arrow_text_word(at, name, sizeof name);
    arrow_text_expect(at, ':');
    int64_t n = schema->n_children;
    struct ArrowSchema **children = ArrowMalloc((n + 1) * (int64_t)sizeof *children);
    if (n > 0) memcpy(children, schema->children, (size_t)n * sizeof *children);
    ArrowFree(schema->children);
    schema->children = children;
    children[n] = ArrowMalloc(sizeof **children);
    children[n]->release = NULL;
    schema->n_children = n + 1;
    arrow_text_parse_type(at, children[n]);
    CHECK_EQ(ArrowSchemaSetName(children[n], name), 0);
  }
  (*at)++;
}

/* The unit, and a time zone. */
static inline void arrow_text_time(const char **at, enum ArrowType type,
                                   struct ArrowSchema *schema) {
  static const char *const units[] = {"s", "ms", "us", "ns"};
  char word[64];
  char zone[64] = "";
  size_t unit = type == NANOARROW_TYPE_TIME64 ? 3 : 0;
  if (**at == '[') {
    arrow_text_expect(at, '[');
    arrow_text_word(at, word, sizeof word);
    for (unit = 0; unit < 4 && strcmp(units[unit], word) != 0; unit++) {
    }
    CHECK(unit < 4);
    arrow_text_blanks(at);
    size_t size = strcspn(*at, "]");
    CHECK(size < sizeof zone);
    memcpy(zone, *at, size); /* it may be "+02:00" */
    zone[size] = '\0';
    *at += size;
    arrow_text_expect(at, ']');
  }
  CHECK_EQ(ArrowSchemaSetTypeDateTime(schema, type, (enum ArrowTimeUnit)unit,
                                      type == NANOARROW_TYPE_TIMESTAMP ? zone : NULL),
           0);
}

static inline void arrow_text_parse_type(const char **at, struct ArrowSchema *schema) {
  char word[64];
  arrow_text_word(at, word, sizeof word);
  enum ArrowType type = NANOARROW_TYPE_UNINITIALIZED;
  for (size_t i = 0; i < sizeof arrow_text_types / sizeof arrow_text_types[0]; i++) {
    if (strcmp(arrow_text_types[i].word, word) == 0) type = arrow_text_types[i].type;
  }
  CHECK(type != NANOARROW_TYPE_UNINITIALIZED);
  ArrowSchemaInit(schema);
  if (type == NANOARROW_TYPE_FIXED_SIZE_BINARY) {
    CHECK_EQ(ArrowSchemaSetTypeFixedSize(schema, type, arrow_text_size(at)), 0);
  } else if (type == NANOARROW_TYPE_TIMESTAMP || type == NANOARROW_TYPE_TIME32 ||
             type == NANOARROW_TYPE_TIME64 || type == NANOARROW_TYPE_DURATION) {
    arrow_text_time(at, type, schema);
  } else if (type == NANOARROW_TYPE_STRUCT) {
    CHECK_EQ(ArrowSchemaSetFormat(schema, "+s"), 0);
    arrow_text_fields(at, schema);
  } else if (**at == '<') {
    char format[16];
    struct ArrowSchema item;
    arrow_text_expect(at, '<');
    arrow_text_parse_type(at, &item);
    arrow_text_expect(at, '>');
    if (type == NANOARROW_TYPE_FIXED_SIZE_LIST) {
      CHECK_EQ(ArrowSchemaSetTypeFixedSize(schema, type, arrow_text_size(at)), 0);
    } else {
      CHECK_EQ(ArrowSchemaSetType(schema, type), 0);
    }
    snprintf(format, sizeof format, "%s", schema->format);
    ArrowSchemaRelease(schema->children[0]);
    CHECK_EQ(ArrowSchemaSetName(&item, "item"), 0);
    ArrowSchemaMove(&item, schema->children[0]);
  } else {
    CHECK_EQ(ArrowSchemaSetType(schema, type), 0);
  }
}

static inline bool arrow_text_starts(const char **at, const char *word) {
  if (strncmp(*at, word, strlen(word)) != 0) return false;
  *at += strlen(word);
  return true;
}

static inline void arrow_text_number(const char **at, struct ArrowArray *array) {
  size_t size = strcspn(*at, " ,]}\n");
  if (memchr(*at, '.', size) != NULL || memchr(*at, 'n', size) != NULL) {
    CHECK_EQ(ArrowArrayAppendDouble(array, strtod(*at, NULL)), 0);
  } else if (**at == '-') {
    CHECK_EQ(ArrowArrayAppendInt(array, strtoll(*at, NULL, 10)), 0);
  } else {
    CHECK_EQ(ArrowArrayAppendUInt(array, strtoull(*at, NULL, 10)), 0);
  }
  CHECK(size > 0);
  *at += size;
}

static inline void arrow_text_value(const char **at, struct ArrowArray *array) {
  arrow_text_blanks(at);
  if (arrow_text_starts(at, "null")) {
    CHECK_EQ(ArrowArrayAppendNull(array, 1), 0);
  } else if (arrow_text_starts(at, "true")) {
    CHECK_EQ(ArrowArrayAppendInt(array, 1), 0);
  } else if (**at == '\'') {
    const char *end = strchr(*at + 1, '\'');
    struct ArrowBufferView view = {.data.as_char = *at + 1, .size_bytes = end - *at - 1};
    CHECK_EQ(ArrowArrayAppendBytes(array, view), 0);
    *at = end + 1;
  } else if (**at == '[' || **at == '{') {
    char close = **at == '[' ? ']' : '}';
    (*at)++;
    int64_t child = 0;
    for (arrow_text_blanks(at); **at != close; arrow_text_blanks(at)) {
      arrow_text_value(at, array->children[close == '}' ? child++ : 0]);
    }
    (*at)++;
    CHECK_EQ(ArrowArrayFinishElement(array), 0);
  } else {
    arrow_text_number(at, array);
  }
}

/* Makes an array; both structs are the caller's to release. */
static inline void arrow_text(const char *type, const char *rows, struct ArrowSchema *schema,
                              struct ArrowArray *array) {
  arrow_text_parse_type(&type, schema);
  CHECK_EQ(ArrowArrayInitFromSchema(array, schema, NULL), 0);
  CHECK_EQ(ArrowArrayStartAppending(array), 0);
  for (arrow_text_blanks(&rows); *rows != '\0'; arrow_text_blanks(&rows)) {
    arrow_text_value(&rows, array);
  }
  struct ArrowError why = {""};
  CHECK_EQ(ArrowArrayFinishBuildingDefault(array, &why), 0);
}

/* Makes the slice [from, from + count) of an array's slots. */
static inline void arrow_text_slice(struct ArrowArray *array, int64_t from, int64_t count) {
  array->offset += from;
  array->length = count;
  array->null_count = -1;
}

#endif
