/* Types of Arrow to a schema, and rows to bytes. */
#include "avro/avro_encode.h"

#include <string.h>

#include "arrow/type.h"
#include "avro/avro_fit.h"
#include "text/json_string.h"

struct cst__avro_encoder {
  cst_allocator allocator;
  cst__arena arena;
  cst__text schema;
  cst__avro_schema given;     /* parsed of that; of one that is given, */
  cst__avro_symbols *symbols; /* and what stands for its enums */
  cst__avro_put root;
  cst__avro_rows rows;
};

typedef struct planner {
  cst__avro_encoder *encoder;
  cst__text path; /* of the record at hand: its full name */
  cst_error *error;
} planner;

/* ---- the schema ---- */

static cst_status plan_type(planner *p, const cst__type *type, cst__avro_put *node);

static cst_status fail_type(const planner *p, const cst__type *type, const char *hint) {
  return cst__fail(p->error, CST_UNSUPPORTED, hint, "Avro has no type for columns of type %s",
                   cst__layout_name(type->format));
}

static void put_name(planner *p) {
  cst__put_json_string(&p->encoder->schema, p->path.data, p->path.size, CST__JSON_FEW);
}

static cst_status plan_number(planner *p, const cst__type *type, cst__avro_put *node) {
  cst__text *out = &p->encoder->schema;
  node->kind = CST__AVRO_ADD_INT;
  switch (type->dtype) {
    case CST_DTYPE_FLOAT32:
    case CST_DTYPE_FLOAT64:
      node->kind = CST__AVRO_ADD_FIXED;
      node->width = type->dtype == CST_DTYPE_FLOAT32 ? 4 : 8;
      cst__text_puts(out, node->width == 4 ? "\"float\"" : "\"double\"");
      return CST_OK;
    case CST_DTYPE_UINT64:
      node->kind = CST__AVRO_ADD_UINT64;
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

static cst_status plan_time(planner *p, const cst__type *type, cst__avro_put *node) {
  for (size_t i = 0; i < sizeof time_rows / sizeof *time_rows; i++) {
    const time_row *row = &time_rows[i];
    if (strncmp(type->format, row->format, strlen(row->format)) == 0) {
      bool is_local = type->format[1] == 's' && type->format[4] == '\0';
      node->kind = CST__AVRO_ADD_TIME;
      node->width = type->width;
      node->time.times = row->times;
      node->time.over = row->over;
      cst__text_printf(&p->encoder->schema, "{\"type\": \"%s\", \"logicalType\": \"%s%s\"}",
                       row->type, is_local ? "local-" : "", row->logical);
      return CST_OK;
    }
  }
  if (strcmp(type->format, "tin") != 0) {
    return fail_type(p, type, "cast the column to one of numbers or text, or leave it out");
  }
  node->kind = CST__AVRO_ADD_DURATION;
  cst__text_puts(&p->encoder->schema, "{\"type\": \"fixed\", \"name\": ");
  put_name(p);
  cst__text_puts(&p->encoder->schema, ", \"size\": 12, \"logicalType\": \"duration\"}");
  return CST_OK;
}

/* "d:precision,scale" or "d:precision,scale,bits"; Avro's scale is not negative. */
static cst_status plan_decimal(planner *p, const cst__type *type, cst__avro_put *node) {
  const char *comma = strchr(type->format, ',');
  if (comma == NULL || comma[1] == '-') {
    return fail_type(p, type, "cast the column to one with a scale of 0 or more");
  }
  const char *end = strchr(comma + 1, ',');
  int digits = (int)(comma - type->format) - 2;
  int scale = end != NULL ? (int)(end - comma) - 1 : (int)strlen(comma + 1);
  node->kind = CST__AVRO_ADD_DECIMAL;
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

static cst_status plan_field(planner *p, const cst__type *type, cst__avro_put *node) {
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
  cst__text_puts(out, node->is_nullable ? ", \"default\": null}" : "}");
  p->path.size = before;
  return CST_OK;
}

static cst_status new_children(planner *p, size_t count, cst__avro_put *node) {
  node->children = cst__arena_take_zero(&p->encoder->arena, (count + 1) * sizeof *node->children);
  node->num_children = count;
  for (size_t i = 0; node->children != NULL && i < count; i++) {
    node->children[i].column = i;
  }
  return node->children != NULL ? CST_OK : cst__fail_memory(p->error, count);
}

static cst_status plan_struct(planner *p, const cst__type *type, cst__avro_put *node) {
  cst__text *out = &p->encoder->schema;
  node->kind = CST__AVRO_ADD_STRUCT;
  CST__TRY(new_children(p, type->num_children, node));
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
static cst_status plan_list(planner *p, const cst__type *type, cst__avro_put *node) {
  cst__text *out = &p->encoder->schema;
  const cst__type *entries = &type->children[0];
  CST__TRY(new_children(p, type->num_children, node));
  node->kind = CST__AVRO_ADD_LIST;
  if (cst__type_is_map(type) && entries->children[0].is_string) {
    cst__avro_put *entry = &node->children[0];
    entry->kind = CST__AVRO_ADD_STRUCT;
    entry->name = "";
    CST__TRY(new_children(p, 2, entry));
    entry->children[0].kind = CST__AVRO_ADD_BYTES;
    entry->children[0].name = "key";
    entry->children[1].name = "value";
    cst__text_puts(out, "{\"type\": \"map\", \"values\": ");
    CST__TRY(plan_type(p, &entries->children[1], &entry->children[1]));
  } else {
    cst__text_puts(out, "{\"type\": \"array\", \"items\": ");
    CST__TRY(plan_type(p, entries, &node->children[0]));
  }
  cst__text_puts(out, "}");
  return CST_OK;
}

static cst_status plan_kind(planner *p, const cst__type *type, cst__avro_put *node) {
  cst__text *out = &p->encoder->schema;
  switch (type->layout) {
    case CST__LAYOUT_NULL:
      node->kind = CST__AVRO_ADD_NULL;
      cst__text_puts(out, "\"null\"");
      return CST_OK;
    case CST__LAYOUT_BOOL:
      node->kind = CST__AVRO_ADD_BOOL;
      cst__text_puts(out, "\"boolean\"");
      return CST_OK;
    case CST__LAYOUT_NUMBER:
      return plan_number(p, type, node);
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
      node->kind = CST__AVRO_ADD_BYTES;
      cst__text_puts(out, type->is_string ? "\"string\"" : "\"bytes\"");
      return CST_OK;
    case CST__LAYOUT_FIXED_BINARY:
      node->kind = CST__AVRO_ADD_FIXED;
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

/* A union with null is null first, and dictionaries are their values. */
static cst_status plan_type(planner *p, const cst__type *type, cst__avro_put *node) {
  bool is_union = cst__type_is_nullable(type) && type->layout != CST__LAYOUT_NULL;
  node->is_nullable = node->has_branch = is_union;
  node->branch = 1;
  cst__text_puts(&p->encoder->schema, is_union ? "[\"null\", " : "");
  if (type->dictionary != NULL) {
    CST__TRY(new_children(p, 1, node));
    node->kind = CST__AVRO_ADD_DICTIONARY;
    CST__TRY(plan_kind(p, type->dictionary, &node->children[0]));
  } else {
    CST__TRY(plan_kind(p, type, node));
  }
  cst__text_puts(&p->encoder->schema, is_union ? "]" : "");
  return CST_OK;
}

static cst_status plan_derived(cst__avro_encoder *encoder, const cst__type *type,
                               cst_error *error) {
  planner p = {.encoder = encoder, .path.allocator = encoder->allocator, .error = error};
  cst__text_puts(&p.path, "Row");
  cst_status status = plan_type(&p, type, &encoder->root);
  if (status == CST_OK && (encoder->schema.failed || p.path.failed)) {
    status = cst__fail_memory(error, encoder->schema.size);
  }
  cst__text_free(&p.path);
  return status;
}

static cst_status plan_given(cst__avro_encoder *encoder, const cst__type *type, cst_bytes given,
                             cst_error *error) {
  cst__text_append(&encoder->schema, given.data, given.size);
  if (encoder->schema.failed) {
    return cst__fail_memory(error, given.size);
  }
  CST__TRY(cst__avro_schema_parse(&encoder->given, given, &encoder->allocator, error));
  return cst__avro_fit(type, &encoder->given, &encoder->arena, &encoder->symbols, &encoder->root,
                       error);
}

static cst_status plan_all(cst__avro_encoder *encoder, const struct ArrowSchema *schema,
                           cst_bytes given, cst_error *error) {
  cst__type type = CST__TYPE_INIT;
  CST__TRY(cst__type_import(schema, &encoder->arena, &type, error));
  type.flags = 0;
  return given.size > 0 ? plan_given(encoder, &type, given, error)
                        : plan_derived(encoder, &type, error);
}

cst_status cst__avro_encoder_new(const struct ArrowSchema *schema, cst_bytes given,
                                 const cst_allocator *allocator, cst__avro_encoder **out,
                                 cst_error *error) {
  cst__avro_encoder *encoder = cst__new_zero(allocator, sizeof *encoder);
  if (encoder == NULL) {
    return cst__fail_memory(error, sizeof *encoder);
  }
  encoder->allocator = encoder->schema.allocator = cst__allocator_of(allocator);
  encoder->given.document.allocator = encoder->allocator;
  cst__arena_init(&encoder->arena, allocator);
  cst_status status = plan_all(encoder, schema, given, error);
  if (status != CST_OK) {
    cst__avro_encoder_free(encoder);
    return status;
  }
  *out = encoder;
  return CST_OK;
}

void cst__avro_encoder_free(cst__avro_encoder *encoder) {
  if (encoder != NULL) {
    cst__avro_rows_reset(&encoder->rows);
    cst__avro_symbols_reset(encoder->symbols);
    cst__avro_schema_reset(&encoder->given);
    cst__arena_reset(&encoder->arena);
    cst__text_free(&encoder->schema);
    cst__delete(encoder);
  }
}

cst_bytes cst__avro_encoder_schema(const cst__avro_encoder *encoder) {
  return (cst_bytes){(const uint8_t *)encoder->schema.data, encoder->schema.size};
}

cst_status cst__avro_encoder_bind(cst__avro_encoder *encoder, const cst__view *batch,
                                  cst_error *error) {
  return cst__avro_rows_bind(&encoder->rows, &encoder->root, batch, &encoder->allocator, error);
}

cst_status cst__avro_encode_rows(const cst__avro_encoder *encoder, int64_t *row, int64_t end,
                                 size_t enough, cst__text *out, cst_error *error) {
  return cst__avro_rows_put(&encoder->rows, row, end, enough, out, error);
}
