/* The counted schema: parsing from text and binary, writing, and asking for features. */
#include "schema/schema.h"

#include "base/arguments.h"
#include "base/crc32c.h"
#include "base/utf8.h"
#include "schema/internal.h"

cst_schema *cst__schema_new(void) {
  cst_schema *schema = cst__new_zero(NULL, sizeof *schema);
  if (schema == NULL) {
    return NULL;
  }
  cst__refcount_init(&schema->owners);
  cst__arena_init(&schema->arena, NULL);
  schema->root = cst__message_new(&schema->arena, cst__schema_def);
  if (schema->root == NULL) {
    cst_schema_release(schema);
    return NULL;
  }
  return schema;
}

cst_schema *cst_schema_retain(const cst_schema *schema) {
  cst_schema *shared = (cst_schema *)(uintptr_t)schema; /* only the count changes */
  if (shared != NULL) {
    cst__refcount_up(&shared->owners);
  }
  return shared;
}

void cst_schema_release(cst_schema *schema) {
  if (schema != NULL && cst__refcount_down(&schema->owners)) {
    cst__arena_reset(&schema->arena);
    cst__delete(schema);
  }
}

size_t cst_schema_num_features(const cst_schema *schema) {
  return schema != NULL ? schema->num_features : 0;
}

const cst_feature *cst_schema_feature(const cst_schema *schema, size_t i) {
  return schema != NULL && i < schema->num_features ? &schema->features[i] : NULL;
}

size_t cst__schema_find_feature(const cst_schema *schema, const char *name, size_t size) {
  cst_bytes bytes = {(const uint8_t *)name, size};
  const cst_feature *found = cst__feature_by_name(schema->features, schema->num_features, bytes);
  return found != NULL ? (size_t)(found - schema->features) : SIZE_MAX;
}

/* ---- parsing ---- */

typedef cst_status (*merge_function)(cst__arena *arena, cst__message *message, cst_bytes bytes,
                                     int depth, cst_error *error);

/* A TFRecord file begins with a length of 8 bytes and its masked CRC. */
static bool is_tfrecord_file(const uint8_t *data, size_t size) {
  uint32_t stored;
  if (size < 16) return false;
  memcpy(&stored, data + 8, sizeof stored);
  return stored == cst__crc32c_mask(cst__crc32c(0, data, 8));
}

/* Text whose first line has cells, and nothing that a schema's text has. */
static bool is_table(const uint8_t *data, size_t size) {
  bool cells = false;
  for (size_t i = 0; i < size && data[i] != '\n'; i++) {
    if (strchr(":{<#", data[i])) return false; /* also a NUL */
    cells |= data[i] == ',' || data[i] == ';' || data[i] == '\t';
  }
  return cells;
}

/* Files that are given in place of a schema by mistake; NULL: nothing known. */
static const char *mistake_hint(const uint8_t *data, size_t size) {
  static const struct {
    const char *start;
    size_t size;
    const char *hint;
  } known[] = {
      {"version https://git-lfs", 23, "this is a git-lfs pointer: run git lfs pull"},
      {"<", 1, "this looks like HTML or XML, not like a schema"},
      {"\x1f\x8b", 2, "this is compressed with gzip: decompress it"},
      {"\x28\xb5\x2f\xfd", 4, "this is compressed with zstd: decompress it"},
      {"{", 1,
       "this looks like JSON, not like a schema: `columnstone schema infer` makes one of data"},
      {"PK\x03\x04", 4, "this is a zip archive: unpack it"},
      {"PAR1", 4,
       "this is a Parquet file, not a schema: `columnstone schema infer` makes one of data"},
      {"ARROW1", 6,
       "this is an Arrow file, not a schema: `columnstone schema infer` makes one of data"},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (size >= known[i].size && memcmp(data, known[i].start, known[i].size) == 0) {
      return known[i].hint;
    }
  }
  if (is_tfrecord_file(data, size)) {
    return "this is a TFRecord file, not a schema: `columnstone schema infer` makes one of data";
  }
  if (is_table(data, size)) {
    return "this looks like CSV, not like a schema: `columnstone schema infer` makes one of data";
  }
  return NULL;
}

/* The proto room calls malformed bytes damaged data; of a schema that is CST_SCHEMA. */
static cst_status as_schema_error(cst_status status, const uint8_t *data, size_t size,
                                  cst_error *error) {
  if (status != CST_CORRUPT) {
    return status;
  }
  if (cst__error_wanted(error)) {
    const char *hint = mistake_hint(data, size);
    error->code = CST_SCHEMA;
    if (hint != NULL) {
      cst__error_set_hint(error, hint);
    }
  }
  return CST_SCHEMA;
}

static cst_status build_schema(cst_schema *schema, merge_function merge, const void *data,
                               size_t size, cst_error *error) {
  const char *copy = cst__arena_copy(&schema->arena, data, size);
  if (copy == NULL) {
    return cst__fail_memory(error, size);
  }
  cst_bytes bytes = {(const uint8_t *)copy, size};
  cst_status status = merge(&schema->arena, schema->root, bytes, CST__DEPTH_LIMIT, error);
  if (status != CST_OK) {
    return as_schema_error(status, bytes.data, size, error);
  }
  return cst__schema_compile(schema, error);
}

static cst_status parse_with(merge_function merge, const void *data, size_t size, cst_schema **out,
                             cst_error *error) {
  cst_schema *schema = cst__schema_new();
  if (schema == NULL) {
    return cst__fail_memory(error, sizeof *schema);
  }
  cst_status status = build_schema(schema, merge, data, size, error);
  if (status != CST_OK) {
    cst_schema_release(schema);
    return status;
  }
  *out = schema;
  return CST_OK;
}

static cst_status check_bytes(const void *data, size_t size, const void *out, cst_error *error) {
  if (out == NULL) {
    return cst__missing("out", error);
  }
  return data != NULL || size == 0 ? CST_OK : cst__missing("data", error);
}

cst_status cst_schema_from_text(const void *data, size_t size, cst_schema **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_bytes(data, size, out, error));
  return parse_with(cst__message_merge_text, data, size, out, error);
}

cst_status cst_schema_from_bytes(const void *data, size_t size, cst_schema **out,
                                 cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_bytes(data, size, out, error));
  return parse_with(cst__message_merge, data, size, out, error);
}

static bool is_text_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool is_name_byte(uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* True if the bytes begin as a text does: space, then a comment, or a name before a colon or a
 * bracket. Binary schemas begin with a tag, a length, and mostly with a control character then. */
static bool begins_as_text(const uint8_t *at, const uint8_t *end) {
  while (at < end && is_text_space(*at)) at++;
  if (at == end || *at == '#' || cst__utf8_mark_size(at, (size_t)(end - at)) > 0) {
    return true;
  }
  const uint8_t *name = at;
  while (at < end && is_name_byte(*at)) at++;
  if (at == name) {
    return false;
  }
  while (at < end && is_text_space(*at)) at++;
  return at < end && (*at == ':' || *at == '{' || *at == '<' || *at == '[');
}

static bool has_control_bytes(const uint8_t *at, const uint8_t *end) {
  for (; at < end; at++) {
    if (*at < 0x20 && !is_text_space(*at)) {
      return true;
    }
  }
  return false;
}

static bool is_wire(const void *data, size_t size) {
  cst__wire wire = cst__wire_of(data, size);
  cst__wire_field field;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
  }
  return wire.fault == CST__WIRE_FAULT_NONE;
}

cst_status cst_schema_parse(const void *data, size_t size, cst_schema **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_bytes(data, size, out, error));
  const uint8_t *at = data;
  const uint8_t *end = at + size;
  bool text = size == 0 || begins_as_text(at, end);
  if (text ? has_control_bytes(at, end) && is_wire(data, size) : has_control_bytes(at, end)) {
    return cst_schema_from_bytes(data, size, out, error);
  }
  if (!text && is_wire(data, size)) {
    return cst_schema_from_bytes(data, size, out, error);
  }
  return cst_schema_from_text(data, size, out, error);
}

/* ---- writing ---- */

static cst_status check_write(const cst_schema *schema, char **out, const size_t *size,
                              cst_error *error) {
  CST__TRY(cst__check_given(schema, "schema", out, error));
  return size != NULL ? CST_OK : cst__missing("size", error);
}

cst_status cst_schema_to_text(const cst_schema *schema, char **out, size_t *size,
                              cst_error *error) {
  CST__CLEAR(out);
  CST__CLEAR(size);
  CST__TRY(check_write(schema, out, size, error));
  cst__text text = {0};
  cst__message_put_text(schema->root, &text);
  return cst__text_finish(&text, out, size, error);
}

cst_status cst_schema_to_bytes(const cst_schema *schema, char **out, size_t *size,
                               cst_error *error) {
  CST__CLEAR(out);
  CST__CLEAR(size);
  CST__TRY(check_write(schema, out, size, error));
  const cst__message *any = cst__message_find_expanded_any(schema->root);
  if (any != NULL) {
    cst_status status =
        cst__fail(error, CST_UNSUPPORTED, "write the Any with its fields type_url and value",
                  "an Any is given in its expanded form, with an unknown type");
    cst__error_add_position(error, any->line, any->column);
    return status;
  }
  cst__wire_out wire = {0};
  cst__message_put_wire(schema->root, &wire);
  return cst__wire_out_finish(&wire, out, size, error);
}

int64_t cst__feature_fixed_size(const cst_feature *feature) {
  int64_t size = 1;
  if (!feature->has_fixed_shape) {
    return -1;
  }
  for (size_t i = 0; i < feature->num_dims; i++) {
    if (__builtin_mul_overflow(size, feature->dims[i], &size)) {
      return INT64_MAX;
    }
  }
  return size;
}
