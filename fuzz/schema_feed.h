/* Schemas and tf.Examples out of bytes, each of which chooses what comes next: nearly all inputs
 * make schemas that can be read and records that nearly fit them. For fuzz targets.
 */
#ifndef FUZZ_SCHEMA_FEED_H
#define FUZZ_SCHEMA_FEED_H

#include <columnstone/status.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"

enum { MADE_SCHEMA_SIZE = 1 << 14, MADE_RECORD_SIZE = 1 << 12 };

static const char *const made_names[] = {"a", "b", "p_index", "p_value", "q", "q_lengths", "s.t"};
static const char *const made_types[] = {"INT", "FLOAT", "BYTES", "INT"};
enum { MADE_NAMES = 7, MADE_TYPES = 4 };

/* Parts of a feature; of each row at most one is taken. */
enum { MADE_ROWS = 6, MADE_CHOICES = 12 };
static const char *const made_parts[MADE_ROWS][MADE_CHOICES] = {
    {"shape { }", "shape { dim { size: 1 } }", "shape { dim { size: 2 } }",
     "shape { dim { size: -1 } }", "shape { dim { } dim { size: 2 } }", "shape { dim { size: 0 } }",
     "value_count { min: 1 max: 1 }", "value_count { }", "value_count { min: 1 }",
     "value_count { max: 1 }", "value_counts { value_count { min: 1 } value_count { max: 2 } }",
     "value_counts { }"},
    {"presence { }", "presence { min_fraction: 1 }", "presence { min_fraction: 0.5 }",
     "presence { min_count: 1 }", "presence { min_count: 3 min_fraction: 1 }",
     "presence { min_fraction: nan }", "presence { min_fraction: 2 }", "presence { min_count: -1 }",
     "group_presence { required: true }", "presence { min_fraction: 0.75 }"},
    {"int_domain { }", "int_domain { min: 0 max: 2 }", "int_domain { max: 1 }",
     "float_domain { min: 0 max: 1 }", "float_domain { min: nan disallow_inf: true }",
     "float_domain { disallow_nan: true }", "string_domain { }",
     "string_domain { value: \"x\" value: \"\" value: \"x\" }", "bool_domain { }",
     "bool_domain { true_value: \"x\" false_value: \"y\" }", "domain: \"d\"",
     "natural_language_domain { }"},
    {"deprecated: true", "lifecycle_stage: PLANNED", "lifecycle_stage: PRODUCTION",
     "lifecycle_stage: VALIDATION_DERIVED"},
    {"not_in_environment: \"SERVING\"", "in_environment: \"SERVING\"",
     "in_environment: \"TRAINING\" in_environment: \"SERVING\""},
    {"distribution_constraints { min_domain_mass: 0.5 }", "distribution_constraints { }",
     "distribution_constraints { min_domain_mass: 0 }", "annotation { tag: \"x\" }"}};

#define MADE_TENSOR(key, name, body)                                                            \
  "tensor_representation_group { key: \"" key "\" value { tensor_representation { key: \"" name \
  "\" value { " body " } } } }\n"

/* What stands beside the features; each at most once. */
static const char *const made_tops[] = {
    "default_environment: \"SERVING\"\n",
    "represent_variable_length_as_ragged: true\n",
    "sparse_feature { name: \"p\" index_feature { name: \"p_index\" } value_feature { name: "
    "\"p_value\" } }\n",
    "sparse_feature { name: \"o\" index_feature { name: \"p_index\" } value_feature { name: "
    "\"p_value\" } is_sorted: true }\n",
    MADE_TENSOR("", "t", "dense_tensor { column_name: \"a\" shape { } }"),
    MADE_TENSOR("", "t",
                "dense_tensor { column_name: \"a\" shape { dim { size: 2 } } default_value { "
                "int_value: 1 } }"),
    MADE_TENSOR("", "q",
                "ragged_tensor { feature_path { step: \"q\" } partition { row_length: "
                "\"q_lengths\" } }"),
    MADE_TENSOR("", "q",
                "ragged_tensor { feature_path { step: \"q\" } partition { uniform_row_length: 2 "
                "} }"),
    MADE_TENSOR("other", "v", "varlen_sparse_tensor { column_name: \"b\" }"),
    MADE_TENSOR("other", "w", "dense_tensor { column_name: \"b\" shape { } }"),
};
enum { MADE_TOPS = sizeof made_tops / sizeof made_tops[0] };

/* One of them is there. */
static const char *const made_domains[] = {
    "string_domain { name: \"d\" value: \"y\" }\n",
    "int_domain { name: \"d\" min: 1 }\n",
    "float_domain { name: \"d\" max: 1 }\n",
};

typedef struct made_text {
  char data[MADE_SCHEMA_SIZE];
  size_t size;
} made_text;

static void made_puts(made_text *text, const char *more) {
  size_t size = strlen(more);
  if (text->size + size < MADE_SCHEMA_SIZE) {
    memcpy(text->data + text->size, more, size);
    text->size += size;
  }
}

/* Nearly always the only presence that goes with a shape. */
static size_t made_choice(size_t row, uint8_t byte, uint8_t before) {
  bool has_shape = row == 1 && before < 160 && before % MADE_CHOICES < 6;
  return has_shape && byte % 16 != 0 ? 1 : byte % MADE_CHOICES;
}

/* A feature by the next bytes; the number of them that it took. */
static size_t made_feature(made_text *text, const uint8_t *data, size_t size, unsigned *seen) {
  unsigned name = data[0] % MADE_NAMES;
  size_t at = 1;
  if (*seen & 1U << name) {
    return 1;
  }
  *seen |= 1U << name;
  made_puts(text, "feature { name: \"");
  made_puts(text, made_names[name]);
  made_puts(text, "\" type: ");
  made_puts(text, made_types[data[0] / MADE_NAMES % MADE_TYPES]);
  for (size_t row = 0; row < MADE_ROWS && at < size; row++, at++) {
    const char *part = made_parts[row][made_choice(row, data[at], data[at - 1])];
    if (part != NULL && (data[at] < 160 || row == 1)) {
      made_puts(text, " ");
      made_puts(text, part);
    }
  }
  made_puts(text, " }\n");
  return at;
}

static inline cst_bytes made_schema(made_text *text, const uint8_t *data, size_t size) {
  unsigned names = 0;
  unsigned tops = 0;
  text->size = 0;
  made_puts(text, made_domains[size % 3]);
  for (size_t at = 0; at < size;) {
    unsigned top = data[at] % MADE_TOPS;
    if (data[at] < 128) {
      at += made_feature(text, data + at, size - at, &names);
      continue;
    }
    made_puts(text, tops & 1U << top ? "" : made_tops[top]);
    tops |= 1U << top;
    at++;
  }
  return (cst_bytes){(const uint8_t *)text->data, text->size};
}

/* ---- records ---- */

typedef struct made_record {
  uint8_t data[MADE_RECORD_SIZE];
  size_t size;
} made_record;

static void made_field(made_record *out, unsigned number, const uint8_t *payload, size_t size) {
  if (out->size + size + 3 <= MADE_RECORD_SIZE) {
    out->data[out->size++] = (uint8_t)(number << 3 | 2);
    out->data[out->size++] = (uint8_t)(size & 127) | 128;
    out->data[out->size++] = (uint8_t)(size >> 7);
    if (size > 0) {
      memcpy(out->data + out->size, payload, size);
    }
    out->size += size;
  }
}

static void made_float(made_record *list, uint8_t byte) {
  static const float values[] = {0, 1, -1, 0.5F, 1e30F, __builtin_inff(), __builtin_nanf("")};
  uint8_t bytes[5] = {0x0d};
  memcpy(bytes + 1, &values[byte % 7], 4);
  if (list->size + 5 <= MADE_RECORD_SIZE) {
    memcpy(list->data + list->size, bytes, 5);
    list->size += 5;
  }
}

/* 0 to 7, or -1, the smallest or the largest number. */
static void made_int(made_record *list, uint8_t byte) {
  static const uint64_t ends[] = {UINT64_MAX, UINT64_C(1) << 63, INT64_MAX};
  uint64_t value = byte % 11 < 8 ? byte % 11 : ends[byte % 11 - 8];
  if (list->size + 11 <= MADE_RECORD_SIZE) {
    list->data[list->size++] = 0x08;
    for (; value >= 128; value >>= 7) {
      list->data[list->size++] = (uint8_t)value | 128;
    }
    list->data[list->size++] = (uint8_t)value;
  }
}

static void made_string(made_record *list, uint8_t byte) {
  static const char *const values[] = {"x", "y", "", "\xff", "z"};
  const char *value = values[byte % 5];
  made_field(list, 1, (const uint8_t *)value, strlen(value));
}

/* A feature by the next bytes: name and kind, number of values, values. */
static size_t made_entry(made_record *out, const uint8_t *data, size_t size) {
  static void (*const put[])(made_record *, uint8_t) = {made_int, made_float, made_string};
  static const unsigned numbers[] = {3, 2, 1};
  made_record list = {.size = 0};
  made_record feature = {.size = 0};
  made_record entry = {.size = 0};
  const char *name = made_names[data[0] % MADE_NAMES];
  unsigned kind = data[0] / MADE_NAMES % 4;
  size_t count = size > 1 ? data[1] % 5 : 0;
  size_t at = size > 1 ? 2 : 1;
  for (; count > 0 && at < size; count--, at++) {
    put[kind % 3](&list, data[at]);
  }
  if (kind < 3 || list.size > 0) { /* else it has no kind */
    made_field(&feature, numbers[kind % 3], list.data, list.size);
  }
  made_field(&entry, 1, (const uint8_t *)name, strlen(name));
  made_field(&entry, 2, feature.data, feature.size);
  made_field(out, 1, entry.data, entry.size);
  return at;
}

static inline cst_bytes made_example(made_record *out, const uint8_t *data, size_t size) {
  made_record entries = {.size = 0};
  for (size_t at = 0; at < size;) {
    at += made_entry(&entries, data + at, size - at);
  }
  out->size = 0;
  made_field(out, 1, entries.data, entries.size);
  return (cst_bytes){out->data, out->size};
}

#endif /* FUZZ_SCHEMA_FEED_H */
