/* The schema message of Arrow IPC as an Arrow schema.
 *
 * nanoarrow's decoder knows no view types, and reads the tables of a damaged message too early; its
 * schema functions are used.
 */
#include "arrow/ipc/ipc_schema.h"

#include <errno.h>
#include <nanoarrow/nanoarrow.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

enum { MAX_DEPTH = 100, MAX_FIELDS = 1 << 20, MAX_FORMAT = 1024 };

enum { SCHEMA_ENDIANNESS, SCHEMA_FIELDS, SCHEMA_METADATA };
enum {
  FIELD_NAME,
  FIELD_NULLABLE,
  FIELD_TYPE_TYPE,
  FIELD_TYPE,
  FIELD_DICTIONARY,
  FIELD_CHILDREN,
  FIELD_METADATA
};
enum { DICTIONARY_ID, DICTIONARY_INDEX_TYPE, DICTIONARY_ORDERED };

enum {
  TYPE_INT = 2,
  TYPE_FLOAT = 3,
  TYPE_DECIMAL = 7,
  TYPE_DATE = 8,
  TYPE_TIME = 9,
  TYPE_TIMESTAMP = 10,
  TYPE_INTERVAL = 11,
  TYPE_UNION = 14,
  TYPE_FIXED_BINARY = 15,
  TYPE_FIXED_LIST = 16,
  TYPE_MAP = 17,
  TYPE_DURATION = 18
};

/* Types whose format has no parameter. */
static const char *const plain_formats[] = {
    [1] = "n",  [4] = "z",   [5] = "u",   [6] = "b",   [12] = "+l", [13] = "+s",  [19] = "Z",
    [20] = "U", [21] = "+L", [22] = "+r", [23] = "vz", [24] = "vu", [25] = "+vl", [26] = "+vL",
};
enum { NUM_TYPES = sizeof plain_formats / sizeof plain_formats[0] };

typedef struct reading {
  cst__dictionary_ids *ids;
  int64_t num_fields;
  cst_error *error;
} reading;

static cst_status fail_type(const reading *r, int type, const char *what) {
  return cst__fail(r->error, CST_CORRUPT, NULL, "a field of type number %d has %s", type, what);
}

static cst_status ipc_schema_check(const reading *r, int code) {
  if (code == NANOARROW_OK) {
    return CST_OK;
  }
  return code == ENOMEM
             ? cst__fail_memory(r->error, 0)
             : cst__fail(r->error, CST_CORRUPT, NULL, "a field's type is not an Arrow type");
}

/* ---- formats ---- */

static cst_status int_format(const reading *r, cst__flat_table type, char *format) {
  bool is_signed = cst__flat_u8(type, 1, 0) != 0;
  char letter = 0;
  switch (cst__flat_i32(type, 0, 0)) {
    case 8:
      letter = is_signed ? 'c' : 'C';
      break;
    case 16:
      letter = is_signed ? 's' : 'S';
      break;
    case 32:
      letter = is_signed ? 'i' : 'I';
      break;
    case 64:
      letter = is_signed ? 'l' : 'L';
      break;
    default:
      return fail_type(r, TYPE_INT, "an unknown width");
  }
  format[0] = letter;
  format[1] = '\0';
  return CST_OK;
}

/* One of the letters, by an enumeration of that many. */
static cst_status ipc_schema_pick(const reading *r, int type, const char *prefix,
                                  const char *letters, int which, const char *suffix,
                                  char *format) {
  if (which < 0 || (size_t)which >= strlen(letters)) {
    return fail_type(r, type, "an unknown unit");
  }
  (void)snprintf(format, MAX_FORMAT, "%s%c%s", prefix, letters[which], suffix);
  return CST_OK;
}

static cst_status timestamp_format(const reading *r, cst__flat_table type, char *format) {
  cst_bytes zone = cst__flat_string(type, 1);
  char suffix[MAX_FORMAT / 2];
  if (zone.size > 0 &&
      (zone.size > sizeof suffix - 2 || memchr(zone.data, '\0', zone.size) != NULL)) {
    return fail_type(r, TYPE_TIMESTAMP, "an invalid time zone");
  }
  (void)snprintf(suffix, sizeof suffix, ":%.*s", (int)zone.size,
                 zone.size > 0 ? (const char *)zone.data : "");
  return ipc_schema_pick(r, TYPE_TIMESTAMP, "ts", "smun", cst__flat_i16(type, 0, 0), suffix,
                         format);
}

static cst_status time_format(const reading *r, cst__flat_table type, char *format) {
  int unit = cst__flat_i16(type, 0, 1);
  if (cst__flat_i32(type, 1, 32) != (unit <= 1 ? 32 : 64)) {
    return fail_type(r, TYPE_TIME, "a width that does not fit its unit");
  }
  return ipc_schema_pick(r, TYPE_TIME, "tt", "smun", unit, "", format);
}

static cst_status decimal_format(cst__flat_table type, char *format) {
  int bits = cst__flat_i32(type, 2, 128);
  int size =
      snprintf(format, MAX_FORMAT, "d:%d,%d", cst__flat_i32(type, 0, 0), cst__flat_i32(type, 1, 0));
  if (bits != 128 && size > 0) {
    (void)snprintf(format + size, (size_t)(MAX_FORMAT - size), ",%d", bits);
  }
  return CST_OK;
}

static cst_status sized_format(const reading *r, int number, const char *prefix,
                               cst__flat_table type, char *format) {
  int size = cst__flat_i32(type, 0, 0);
  if (size < 0) {
    return fail_type(r, number, "a negative size");
  }
  (void)snprintf(format, MAX_FORMAT, "%s%d", prefix, size);
  return CST_OK;
}

static cst_status union_format(const reading *r, cst__flat_table type, size_t num_children,
                               char *format) {
  cst__flat_vector ids = cst__flat_items(type, 1, 4);
  int size = snprintf(format, MAX_FORMAT, "%s", cst__flat_i16(type, 0, 0) == 0 ? "+us:" : "+ud:");
  if (num_children > 127 || (ids.flat != NULL && ids.count != num_children)) {
    return fail_type(r, TYPE_UNION, "identifiers that do not fit its children");
  }
  for (size_t i = 0; i < num_children && size < MAX_FORMAT - 16; i++) {
    int id = ids.flat != NULL ? cst__flat_i32_at(ids, i) : (int)i;
    size += snprintf(format + size, (size_t)(MAX_FORMAT - size), i == 0 ? "%d" : ",%d", id);
  }
  return CST_OK;
}

static cst_status type_format(const reading *r, cst__flat_table field, size_t num_children,
                              char *format) {
  int number = cst__flat_u8(field, FIELD_TYPE_TYPE, 0);
  cst__flat_table type = cst__flat_child(field, FIELD_TYPE);
  switch (number) {
    case TYPE_INT:
      return int_format(r, type, format);
    case TYPE_FLOAT:
      return ipc_schema_pick(r, number, "", "efg", cst__flat_i16(type, 0, 0), "", format);
    case TYPE_DECIMAL:
      return decimal_format(type, format);
    case TYPE_DATE:
      return ipc_schema_pick(r, number, "td", "Dm", cst__flat_i16(type, 0, 1), "", format);
    case TYPE_TIME:
      return time_format(r, type, format);
    case TYPE_TIMESTAMP:
      return timestamp_format(r, type, format);
    case TYPE_INTERVAL:
      return ipc_schema_pick(r, number, "ti", "MDn", cst__flat_i16(type, 0, 0), "", format);
    case TYPE_UNION:
      return union_format(r, type, num_children, format);
    case TYPE_FIXED_BINARY:
      return sized_format(r, number, "w:", type, format);
    case TYPE_FIXED_LIST:
      return sized_format(r, number, "+w:", type, format);
    case TYPE_MAP:
      (void)snprintf(format, MAX_FORMAT, "+m");
      return CST_OK;
    case TYPE_DURATION:
      return ipc_schema_pick(r, number, "tD", "smun", cst__flat_i16(type, 0, 1), "", format);
    default:
      break;
  }
  if (number >= NUM_TYPES || plain_formats[number] == NULL) {
    return cst__fail(r->error, CST_UNSUPPORTED, "cast the column, or leave it out",
                     "a field of an unknown type, number %d", number);
  }
  (void)snprintf(format, MAX_FORMAT, "%s", plain_formats[number]);
  return CST_OK;
}

/* ---- names and metadata ---- */

static cst_status ipc_schema_set_name(const reading *r, cst__flat_table field,
                                      struct ArrowSchema *out) {
  cst_bytes name = cst__flat_string(field, FIELD_NAME);
  if (name.size > 0 && memchr(name.data, '\0', name.size) != NULL) {
    return cst__fail(r->error, CST_UNSUPPORTED, "rename the column",
                     "a column name contains a NUL byte");
  }
  if (!cst__utf8_valid(name.data, name.size)) {
    return cst__fail(r->error, CST_CORRUPT, NULL, "a column name is not valid UTF-8");
  }
  char *copy = cst__new_copy(NULL, name.size > 0 ? (const char *)name.data : "", name.size);
  int code = copy != NULL ? ArrowSchemaSetName(out, copy) : ENOMEM;
  cst__delete(copy);
  return ipc_schema_check(r, code);
}

static struct ArrowStringView string_view(cst_bytes bytes) {
  return (struct ArrowStringView){bytes.size > 0 ? (const char *)bytes.data : "",
                                  (int64_t)bytes.size};
}

static cst_status set_metadata(const reading *r, cst__flat_vector pairs, struct ArrowSchema *out) {
  struct ArrowBuffer metadata;
  if (pairs.count == 0) {
    return CST_OK;
  }
  int code = ArrowMetadataBuilderInit(&metadata, NULL);
  for (size_t i = 0; i < pairs.count && code == NANOARROW_OK; i++) {
    cst__flat_table pair = cst__flat_table_at(pairs, i);
    code = ArrowMetadataBuilderAppend(&metadata, string_view(cst__flat_string(pair, 0)),
                                      string_view(cst__flat_string(pair, 1)));
  }
  if (code == NANOARROW_OK) {
    code = ArrowSchemaSetMetadata(out, (const char *)metadata.data);
  }
  ArrowBufferReset(&metadata);
  return ipc_schema_check(r, code);
}

/* ---- fields ---- */

static cst_status ipc_schema_read_field(reading *r, cst__flat_table field, int depth,
                                        struct ArrowSchema *out);

static cst_status read_children(reading *r, cst__flat_vector fields, int depth,
                                struct ArrowSchema *out) {
  r->num_fields += (int64_t)fields.count;
  if (depth > MAX_DEPTH || r->num_fields > MAX_FIELDS) {
    return cst__fail(r->error, CST_LIMIT, NULL, "more than %d fields, or nested deeper than %d",
                     MAX_FIELDS, MAX_DEPTH);
  }
  CST__TRY(ipc_schema_check(r, ArrowSchemaAllocateChildren(out, (int64_t)fields.count)));
  for (size_t i = 0; i < fields.count; i++) {
    ArrowSchemaInit(out->children[i]);
  }
  for (size_t i = 0; i < fields.count; i++) {
    cst__flat_table field = cst__flat_table_at(fields, i);
    cst_status status = ipc_schema_read_field(r, field, depth + 1, out->children[i]);
    if (status != CST_OK) {
      const char *name = out->children[i]->name;
      if (name != NULL) {
        cst__error_add_path(r->error, name, strlen(name));
      }
      return status;
    }
  }
  return CST_OK;
}

static cst_status add_id(reading *r, int64_t id) {
  void *items = r->ids->items;
  if (!cst__grow(NULL, &items, &r->ids->capacity, r->ids->count + 1, sizeof *r->ids->items)) {
    return cst__fail_memory(r->error, (r->ids->count + 1) * sizeof *r->ids->items);
  }
  r->ids->items = items;
  r->ids->items[r->ids->count++] = id;
  return CST_OK;
}

/* The type of the values and what is below it. */
static cst_status read_type(reading *r, cst__flat_table field, int depth, struct ArrowSchema *out) {
  char format[MAX_FORMAT];
  cst__flat_vector children = cst__flat_items(field, FIELD_CHILDREN, 4);
  CST__TRY(type_format(r, field, children.count, format));
  CST__TRY(ipc_schema_check(r, ArrowSchemaSetFormat(out, format)));
  if (strcmp(format, "+m") == 0 && cst__flat_u8(cst__flat_child(field, FIELD_TYPE), 0, 0) != 0) {
    out->flags |= ARROW_FLAG_MAP_KEYS_SORTED;
  }
  return children.count > 0 ? read_children(r, children, depth, out) : CST_OK;
}

/* In IPC the field has the type of the values, in the C interface that of the indices. */
static cst_status read_encoded(reading *r, cst__flat_table field, int depth,
                               struct ArrowSchema *out) {
  cst__flat_table encoding = cst__flat_child(field, FIELD_DICTIONARY);
  cst__flat_table index = cst__flat_child(encoding, DICTIONARY_INDEX_TYPE);
  char format[MAX_FORMAT] = "i";
  if (index.flat != NULL) {
    CST__TRY(int_format(r, index, format));
  }
  if (cst__flat_u8(encoding, DICTIONARY_ORDERED, 0) != 0) {
    out->flags |= ARROW_FLAG_DICTIONARY_ORDERED;
  }
  CST__TRY(ipc_schema_check(r, ArrowSchemaSetFormat(out, format)));
  CST__TRY(ipc_schema_check(r, ArrowSchemaAllocateDictionary(out)));
  ArrowSchemaInit(out->dictionary);
  CST__TRY(add_id(r, cst__flat_i64(encoding, DICTIONARY_ID, 0)));
  out->dictionary->flags = ARROW_FLAG_NULLABLE;
  CST__TRY(ipc_schema_check(r, ArrowSchemaSetName(out->dictionary, "")));
  return read_type(r, field, depth, out->dictionary);
}

static cst_status ipc_schema_read_field(reading *r, cst__flat_table field, int depth,
                                        struct ArrowSchema *out) {
  CST__TRY(ipc_schema_set_name(r, field, out));
  out->flags = cst__flat_u8(field, FIELD_NULLABLE, 0) != 0 ? ARROW_FLAG_NULLABLE : 0;
  CST__TRY(set_metadata(r, cst__flat_items(field, FIELD_METADATA, 4), out));
  return cst__flat_has(field, FIELD_DICTIONARY) ? read_encoded(r, field, depth, out)
                                                : read_type(r, field, depth, out);
}

static cst_status read_schema(reading *r, cst__flat_table schema, struct ArrowSchema *out) {
  if (cst__flat_i16(schema, SCHEMA_ENDIANNESS, 0) != 0) {
    return cst__fail(r->error, CST_UNSUPPORTED, "write it again on a little-endian machine",
                     "big-endian Arrow data");
  }
  CST__TRY(ipc_schema_check(r, ArrowSchemaSetFormat(out, "+s")));
  CST__TRY(ipc_schema_check(r, ArrowSchemaSetName(out, "")));
  CST__TRY(set_metadata(r, cst__flat_items(schema, SCHEMA_METADATA, 4), out));
  return read_children(r, cst__flat_items(schema, SCHEMA_FIELDS, 4), 1, out);
}

cst_status cst__ipc_schema(cst__flat_table schema, struct ArrowSchema *out,
                           cst__dictionary_ids *ids, cst_error *error) {
  reading r = {ids, 0, error};
  struct ArrowSchema made;
  ArrowSchemaInit(&made);
  cst_status status = read_schema(&r, schema, &made);
  if (status == CST_OK && schema.flat != NULL && schema.flat->bad) {
    status = cst__fail(error, CST_CORRUPT, NULL, "the schema message is damaged");
  }
  if (status != CST_OK) {
    ArrowSchemaRelease(&made);
    return status;
  }
  *out = made;
  return CST_OK;
}
