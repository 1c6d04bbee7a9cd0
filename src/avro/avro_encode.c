/* Types of Arrow to a schema, and rows to bytes. */
#include "avro/avro_encode.h"

#include <string.h>

#include "arrow/type.h"
#include "avro/avro_bytes.h"
#include "text/json_string.h"

typedef enum put_kind {
  PUT_NULL,
  PUT_BOOL,
  PUT_INT,
  PUT_UINT64,
  PUT_FIXED, /* bytes as they lie there: floats, and fixed-size binary */
  PUT_BYTES,
  PUT_DECIMAL,
  PUT_TIME,
  PUT_DURATION,
  PUT_LIST,
  PUT_MAP,
  PUT_STRUCT
} put_kind;

/* How the values of a type are written; its children are those of the type. */
typedef struct put_node put_node;
struct put_node {
  put_kind kind;
  bool is_nullable;
  bool is_narrow; /* TIME: 32 bits */
  size_t width;   /* FIXED, DECIMAL */
  int64_t times;  /* TIME: the value times this, */
  int64_t over;   /* or over this, if it is more than 1 */
  put_node *children;
  const char *name; /* of the field, for errors */
};

struct cst__avro_encoder {
  cst_allocator allocator;
  cst__arena arena;
  cst__text schema;
  put_node root;
};

typedef struct planner {
  cst__avro_encoder *encoder;
  cst__text path; /* of the record at hand: its full name */
  cst_error *error;
} planner;

/* ---- the schema ---- */

static cst_status plan_type(planner *p, const cst__type *type, put_node *node);

static cst_status fail_type(const planner *p, const cst__type *type, const char *hint) {
  return cst__fail(p->error, CST_UNSUPPORTED, hint, "Avro has no type for columns of type %s",
                   cst__layout_name(type->format));
}

static void put_name(planner *p) {
  cst__put_json_string(&p->encoder->schema, p->path.data, p->path.size, CST__JSON_FEW);
}

static cst_status plan_number(planner *p, const cst__type *type, put_node *node) {
  cst__text *out = &p->encoder->schema;
  node->kind = PUT_INT;
  switch (type->dtype) {
    case CST_DTYPE_FLOAT32:
    case CST_DTYPE_FLOAT64:
      node->kind = PUT_FIXED;
      node->width = type->dtype == CST_DTYPE_FLOAT32 ? 4 : 8;
      cst__text_puts(out, node->width == 4 ? "\"float\"" : "\"double\"");
      return CST_OK;
    case CST_DTYPE_UINT64:
      node->kind = PUT_UINT64;
      cst__text_puts(out, "\"long\"");
      return CST_OK;
    case CST_DTYPE_UINT32:
    case CST_DTYPE_INT64:
      cst__text_puts(out, "\"long\"");
      return CST_OK;
    default:
      cst__text_puts(out, "\"int\"");
      return CST_OK;
  }
}

typedef struct time_row {
  const char *format; /* the begin of it */
  const char *type;
  const char *logical;
  int64_t times;
  int64_t over;
} time_row;

static const time_row time_rows[] = {
    {"tdD", "int", "date", 1, 1},
    {"tdm", "int", "date", 1, 86400000},
    {"tts", "int", "time-millis", 1000, 1},
    {"ttm", "int", "time-millis", 1, 1},
    {"ttu", "long", "time-micros", 1, 1},
    {"ttn", "long", "time-micros", 1, 1000},
    {"tss:", "long", "timestamp-millis", 1000, 1},
    {"tsm:", "long", "timestamp-millis", 1, 1},
    {"tsu:", "long", "timestamp-micros", 1, 1},
    {"tsn:", "long", "timestamp-nanos", 1, 1},
};

static cst_status plan_time(planner *p, const cst__type *type, put_node *node) {
  for (size_t i = 0; i < sizeof time_rows / sizeof *time_rows; i++) {
    const time_row *row = &time_rows[i];
    if (strncmp(type->format, row->format, strlen(row->format)) == 0) {
      bool is_local = type->format[1] == 's' && type->format[4] == '\0';
      *node = (put_node){.kind = PUT_TIME,
                         .is_nullable = node->is_nullable,
                         .is_narrow = type->width == 4,
                         .times = row->times,
                         .over = row->over,
                         .name = node->name};
      cst__text_printf(&p->encoder->schema, "{\"type\": \"%s\", \"logicalType\": \"%s%s\"}",
                       row->type, is_local ? "local-" : "", row->logical);
      return CST_OK;
    }
  }
  if (strcmp(type->format, "tin") != 0) {
    return fail_type(p, type, "cast the column to one of numbers or text, or leave it out");
  }
  node->kind = PUT_DURATION;
  cst__text_puts(&p->encoder->schema, "{\"type\": \"fixed\", \"name\": ");
  put_name(p);
  cst__text_puts(&p->encoder->schema, ", \"size\": 12, \"logicalType\": \"duration\"}");
  return CST_OK;
}

/* "d:precision,scale" or "d:precision,scale,bits"; Avro's scale is not negative. */
static cst_status plan_decimal(planner *p, const cst__type *type, put_node *node) {
  const char *comma = strchr(type->format, ',');
  if (comma == NULL || comma[1] == '-') {
    return fail_type(p, type, "cast the column to one with a scale of 0 or more");
  }
  const char *end = strchr(comma + 1, ',');
  int digits = (int)(comma - type->format) - 2;
  int scale = end != NULL ? (int)(end - comma) - 1 : (int)strlen(comma + 1);
  node->kind = PUT_DECIMAL;
  node->width = type->width;
  cst__text_printf(&p->encoder->schema,
                   "{\"type\": \"bytes\", \"logicalType\": \"decimal\", \"precision\": %.*s, "
                   "\"scale\": %.*s}",
                   digits, type->format + 2, scale, comma + 1);
  return CST_OK;
}

static bool is_avro_name(const char *name) {
  bool ok = *name != '\0' && !(*name >= '0' && *name <= '9');
  for (; *name != '\0' && ok; name++) {
    uint8_t c = (uint8_t)*name;
    ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  return ok;
}

static cst_status plan_field(planner *p, const cst__type *type, put_node *node) {
  cst__text *out = &p->encoder->schema;
  size_t before = p->path.size;
  node->name = type->name;
  if (!is_avro_name(type->name)) {
    return cst__fail(p->error, CST_UNSUPPORTED, "rename the column",
                     "names of Avro are letters, digits and _, and begin with no digit");
  }
  cst__text_puts(&p->path, ".");
  cst__text_puts(&p->path, type->name);
  cst__text_printf(out, "{\"name\": \"%s\", \"type\": ", type->name);
  CST__TRY(plan_type(p, type, node));
  cst__text_puts(out, node->is_nullable && node->kind != PUT_NULL ? ", \"default\": null}" : "}");
  p->path.size = before;
  return CST_OK;
}

static cst_status new_children(planner *p, const cst__type *type, put_node *node) {
  node->children =
      cst__arena_take_zero(&p->encoder->arena, (type->num_children + 1) * sizeof *node->children);
  return node->children != NULL ? CST_OK : cst__fail_memory(p->error, type->num_children);
}

static cst_status plan_struct(planner *p, const cst__type *type, put_node *node) {
  cst__text *out = &p->encoder->schema;
  node->kind = PUT_STRUCT;
  CST__TRY(new_children(p, type, node));
  cst__text_puts(out, "{\"type\": \"record\", \"name\": ");
  put_name(p);
  cst__text_puts(out, ", \"fields\": [");
  for (size_t i = 0; i < type->num_children; i++) {
    const cst__type *child = &type->children[i];
    cst__text_puts(out, i > 0 ? ", " : "");
    cst_status status = plan_field(p, child, &node->children[i]);
    if (status != CST_OK) {
      cst__error_add_path(p->error, child->name, strlen(child->name));
      return status;
    }
  }
  cst__text_puts(out, "]}");
  return CST_OK;
}

/* A map whose keys are no strings is a list of records. */
static cst_status plan_list(planner *p, const cst__type *type, put_node *node) {
  cst__text *out = &p->encoder->schema;
  const cst__type *entries = &type->children[0];
  CST__TRY(new_children(p, type, node));
  if (cst__type_is_map(type) && entries->children[0].is_string) {
    node->kind = PUT_MAP;
    CST__TRY(new_children(p, entries, &node->children[0]));
    node->children[0].children[0] = (put_node){.kind = PUT_BYTES, .name = "key"};
    node->children[0].children[1].name = "value";
    cst__text_puts(out, "{\"type\": \"map\", \"values\": ");
    CST__TRY(plan_type(p, &entries->children[1], &node->children[0].children[1]));
  } else {
    node->kind = PUT_LIST;
    cst__text_puts(out, "{\"type\": \"array\", \"items\": ");
    CST__TRY(plan_type(p, entries, &node->children[0]));
  }
  cst__text_puts(out, "}");
  return CST_OK;
}

static cst_status plan_kind(planner *p, const cst__type *type, put_node *node) {
  cst__text *out = &p->encoder->schema;
  switch (type->layout) {
    case CST__LAYOUT_NULL:
      node->kind = PUT_NULL;
      cst__text_puts(out, "\"null\"");
      return CST_OK;
    case CST__LAYOUT_BOOL:
      node->kind = PUT_BOOL;
      cst__text_puts(out, "\"boolean\"");
      return CST_OK;
    case CST__LAYOUT_NUMBER:
      return plan_number(p, type, node);
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
      node->kind = PUT_BYTES;
      cst__text_puts(out, type->is_string ? "\"string\"" : "\"bytes\"");
      return CST_OK;
    case CST__LAYOUT_FIXED_BINARY:
      node->kind = PUT_FIXED;
      node->width = (size_t)type->fixed_size;
      cst__text_puts(out, "{\"type\": \"fixed\", \"name\": ");
      put_name(p);
      cst__text_printf(out, ", \"size\": %zu}", node->width);
      return CST_OK;
    case CST__LAYOUT_OPAQUE:
      return type->format[0] == 'd' ? plan_decimal(p, type, node) : plan_time(p, type, node);
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_LIST_VIEW:
    case CST__LAYOUT_FIXED_LIST:
      return plan_list(p, type, node);
    case CST__LAYOUT_STRUCT:
      return plan_struct(p, type, node);
    case CST__LAYOUT_HALF:
      return fail_type(p, type, "cast the column to float32");
    case CST__LAYOUT_OTHER:
      break;
  }
  return fail_type(p, type, "leave the column out");
}

static cst_status plan_type(planner *p, const cst__type *type, put_node *node) {
  node->is_nullable = cst__type_is_nullable(type);
  bool is_union = node->is_nullable && type->layout != CST__LAYOUT_NULL;
  cst__text_puts(&p->encoder->schema, is_union ? "[\"null\", " : "");
  CST__TRY(plan_kind(p, type, node));
  cst__text_puts(&p->encoder->schema, is_union ? "]" : "");
  return CST_OK;
}

static cst_status plan_all(cst__avro_encoder *encoder, const struct ArrowSchema *schema,
                           cst_error *error) {
  planner p = {.encoder = encoder, .path.allocator = encoder->allocator, .error = error};
  cst__type type = CST__TYPE_INIT;
  CST__TRY(cst__type_import(schema, &encoder->arena, &type, error));
  type.flags = 0;
  cst__text_puts(&p.path, "Row");
  cst_status status = plan_type(&p, &type, &encoder->root);
  if (status == CST_OK && (encoder->schema.failed || p.path.failed)) {
    status = cst__fail_memory(error, encoder->schema.size);
  }
  cst__text_free(&p.path);
  return status;
}

cst_status cst__avro_encoder_new(const struct ArrowSchema *schema, const cst_allocator *allocator,
                                 cst__avro_encoder **out, cst_error *error) {
  cst__avro_encoder *encoder = cst__new_zero(allocator, sizeof *encoder);
  if (encoder == NULL) {
    return cst__fail_memory(error, sizeof *encoder);
  }
  encoder->allocator = encoder->schema.allocator = cst__allocator_of(allocator);
  cst__arena_init(&encoder->arena, allocator);
  cst_status status = plan_all(encoder, schema, error);
  if (status != CST_OK) {
    cst__avro_encoder_free(encoder);
    return status;
  }
  *out = encoder;
  return CST_OK;
}

void cst__avro_encoder_free(cst__avro_encoder *encoder) {
  if (encoder != NULL) {
    cst__arena_reset(&encoder->arena);
    cst__text_free(&encoder->schema);
    cst__delete(encoder);
  }
}

cst_bytes cst__avro_encoder_schema(const cst__avro_encoder *encoder) {
  return (cst_bytes){(const uint8_t *)encoder->schema.data, encoder->schema.size};
}

/* ---- values ---- */

typedef struct putter {
  cst__text *out;
  cst_error *error;
} putter;

static cst_status put_value(const putter *p, const put_node *node, const cst__view *view,
                            int64_t i);

static inline void put_long(cst__text *out, int64_t value) {
  uint8_t *to = (uint8_t *)cst__text_reserve(out, 10);
  if (to != NULL) {
    uint64_t rest = ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
    uint8_t *at = to;
    for (; rest >= 0x80; rest >>= 7) {
      *at++ = (uint8_t)(rest | 0x80);
    }
    *at++ = (uint8_t)rest;
    out->size += (size_t)(at - to);
  }
}

static inline void put_bytes(cst__text *out, const void *bytes, size_t size) {
  char *to = cst__text_reserve(out, size);
  if (to != NULL && size > 0) {
    memcpy(to, bytes, size);
    out->size += size;
  }
}

static cst_status fail_value(const putter *p, const char *what) {
  return cst__fail(p->error, CST_UNSUPPORTED, "change the value, or cast the column", "%s", what);
}

static const uint8_t *slot_of(const cst__view *view, int64_t i, size_t width) {
  return (const uint8_t *)view->data + (size_t)(view->offset + i) * width;
}

static cst_status put_time(const putter *p, const put_node *node, const cst__view *view,
                           int64_t i) {
  int64_t value = 0;
  const uint8_t *at = slot_of(view, i, node->is_narrow ? 4 : 8);
  if (node->is_narrow) {
    int32_t narrow;
    memcpy(&narrow, at, sizeof narrow);
    value = narrow;
  } else {
    memcpy(&value, at, sizeof value);
  }
  if (value % node->over != 0) {
    return fail_value(p, "a time that is not exact in the unit that Avro has");
  }
  if (__builtin_mul_overflow(value / node->over, node->times, &value)) {
    return fail_value(p, "a time that is not among those that Avro's type holds");
  }
  put_long(p->out, value);
  return CST_OK;
}

/* As few bytes as the number takes, from its highest one on. */
static void put_decimal(cst__text *out, const uint8_t *value, size_t width) {
  uint8_t bytes[32];
  uint8_t sign = (value[width - 1] & 0x80) != 0 ? 0xff : 0;
  size_t size = width;
  while (size > 1 && value[size - 1] == sign && ((value[size - 2] ^ sign) & 0x80) == 0) {
    size--;
  }
  for (size_t k = 0; k < size; k++) {
    bytes[k] = value[size - 1 - k];
  }
  put_long(out, (int64_t)size);
  put_bytes(out, bytes, size);
}

static cst_status put_duration(const putter *p, const uint8_t *value) {
  int32_t parts[2];
  int64_t nanos;
  memcpy(parts, value, sizeof parts);
  memcpy(&nanos, value + sizeof parts, sizeof nanos);
  int64_t millis = nanos / 1000000;
  if (parts[0] < 0 || parts[1] < 0 || nanos < 0 || nanos % 1000000 != 0 || millis > UINT32_MAX) {
    return fail_value(p, "an interval that is negative, finer than milliseconds, or too long");
  }
  const uint32_t made[3] = {(uint32_t)parts[0], (uint32_t)parts[1], (uint32_t)millis};
  put_bytes(p->out, made, sizeof made);
  return CST_OK;
}

static cst_status put_list(const putter *p, const put_node *node, const cst__view *view,
                           int64_t i) {
  int64_t begin;
  int64_t end;
  cst__view_list(view, i, &begin, &end);
  if (begin < end) {
    put_long(p->out, end - begin);
  }
  for (int64_t k = begin; k < end; k++) {
    CST__TRY(put_value(p, &node->children[0], &view->children[0], k));
  }
  put_long(p->out, 0);
  return CST_OK;
}

static cst_status put_map(const putter *p, const put_node *node, const cst__view *view, int64_t i) {
  const cst__view *entries = &view->children[0];
  const put_node *kinds = node->children[0].children;
  int64_t begin;
  int64_t end;
  cst__view_list(view, i, &begin, &end);
  if (begin < end) {
    put_long(p->out, end - begin);
  }
  for (int64_t k = begin; k < end; k++) {
    CST__TRY(put_value(p, &kinds[0], &entries->children[0], k));
    CST__TRY(put_value(p, &kinds[1], &entries->children[1], k));
  }
  put_long(p->out, 0);
  return CST_OK;
}

static cst_status put_struct(const putter *p, const put_node *node, const cst__view *view,
                             int64_t i) {
  for (int64_t k = 0; k < view->num_children; k++) {
    const put_node *child = &node->children[k];
    cst_status status = put_value(p, child, &view->children[k], i);
    if (status != CST_OK) {
      cst__error_add_path(p->error, child->name, strlen(child->name));
      return status;
    }
  }
  return CST_OK;
}

static cst_status put_value(const putter *p, const put_node *node, const cst__view *view,
                            int64_t i) {
  if (node->kind == PUT_NULL) {
    return CST_OK;
  }
  bool is_null = cst__view_is_null(view, i);
  if (node->is_nullable) {
    put_bytes(p->out, is_null ? "\0" : "\2", 1);
  }
  if (is_null) {
    return node->is_nullable ? CST_OK : fail_value(p, "a null where the type has none");
  }
  cst_bytes bytes;
  int64_t number;
  switch (node->kind) {
    case PUT_BOOL:
      number = view->offset + i;
      put_bytes(p->out,
                ((const uint8_t *)view->data)[number >> 3] >> (number & 7) & 1 ? "\1" : "\0", 1);
      return CST_OK;
    case PUT_INT:
      put_long(p->out, cst__view_int(view, i));
      return CST_OK;
    case PUT_UINT64:
      number = cst__view_int(view, i);
      put_long(p->out, number);
      return number >= 0 ? CST_OK
                         : fail_value(p, "an integer that is larger than 9223372036854775807");
    case PUT_FIXED:
      put_bytes(p->out, slot_of(view, i, node->width), node->width);
      return CST_OK;
    case PUT_BYTES:
      bytes = cst__view_bytes(view, i);
      put_long(p->out, (int64_t)bytes.size);
      put_bytes(p->out, bytes.data, bytes.size);
      return CST_OK;
    case PUT_DECIMAL:
      put_decimal(p->out, slot_of(view, i, node->width), node->width);
      return CST_OK;
    case PUT_TIME:
      return put_time(p, node, view, i);
    case PUT_DURATION:
      return put_duration(p, slot_of(view, i, 16));
    case PUT_LIST:
      return put_list(p, node, view, i);
    case PUT_MAP:
      return put_map(p, node, view, i);
    case PUT_STRUCT:
      return put_struct(p, node, view, i);
    case PUT_NULL:
      break;
  }
  return CST_OK;
}

cst_status cst__avro_encode_row(const cst__avro_encoder *encoder, const cst__view *batch,
                                int64_t row, cst__text *out, cst_error *error) {
  const putter p = {out, error};
  cst_status status = put_struct(&p, &encoder->root, batch, row);
  if (status != CST_OK) {
    cst__error_add_record(error, row, -1);
    return status;
  }
  return out->failed ? cst__fail_memory(error, out->capacity) : CST_OK;
}
