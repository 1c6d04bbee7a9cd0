/* The message types of google/protobuf and google/type that are more than their fields. */
#include "message/text/well_known.h"

#include <string.h>

enum { MAX_FIELDS = 6, REPEATED = 0x80 };

/* The types of the fields 1, 2, ... */
typedef struct known_type {
  const char *name; /* without "google." */
  cst__well_known known;
  uint8_t fields[MAX_FIELDS];
} known_type;

#define WRAPPER(name, type)                                                  \
  {                                                                          \
    "protobuf." name "Value", CST__WELL_KNOWN_WRAPPER, { CST__FIELD_##type } \
  }

static const known_type known_types[] = {
    {"protobuf.Timestamp", CST__WELL_KNOWN_TIMESTAMP, {CST__FIELD_INT64, CST__FIELD_INT32}},
    {"protobuf.Duration", CST__WELL_KNOWN_DURATION, {CST__FIELD_INT64, CST__FIELD_INT32}},
    {"protobuf.FieldMask", CST__WELL_KNOWN_FIELD_MASK, {CST__FIELD_STRING | REPEATED}},
    WRAPPER("Double", DOUBLE),
    WRAPPER("Float", FLOAT),
    WRAPPER("Int64", INT64),
    WRAPPER("UInt64", UINT64),
    WRAPPER("Int32", INT32),
    WRAPPER("UInt32", UINT32),
    WRAPPER("Bool", BOOL),
    WRAPPER("String", STRING),
    WRAPPER("Bytes", BYTES),
    {"protobuf.Struct", CST__WELL_KNOWN_STRUCT, {CST__FIELD_MESSAGE | REPEATED}},
    {"protobuf.Value",
     CST__WELL_KNOWN_VALUE,
     {CST__FIELD_ENUM, CST__FIELD_DOUBLE, CST__FIELD_STRING, CST__FIELD_BOOL, CST__FIELD_MESSAGE,
      CST__FIELD_MESSAGE}},
    {"protobuf.ListValue", CST__WELL_KNOWN_LIST_VALUE, {CST__FIELD_MESSAGE | REPEATED}},
    {"protobuf.Any", CST__WELL_KNOWN_ANY, {CST__FIELD_STRING, CST__FIELD_BYTES}},
    {"type.Date", CST__WELL_KNOWN_DATE, {CST__FIELD_INT32, CST__FIELD_INT32, CST__FIELD_INT32}},
    {"type.TimeOfDay",
     CST__WELL_KNOWN_TIME_OF_DAY,
     {CST__FIELD_INT32, CST__FIELD_INT32, CST__FIELD_INT32, CST__FIELD_INT32}},
};

static bool has_fields_of(const cst__message_def *def, const known_type *type) {
  size_t count = 0;
  while (count < MAX_FIELDS && type->fields[count] != 0) {
    count++;
  }
  bool same = def->num_fields == count;
  for (size_t i = 0; same && i < count; i++) {
    const cst__field_def *field = &def->fields[i];
    same = field->number == (int32_t)i + 1 &&
           (field->type | (cst__field_is_repeated(field) ? REPEATED : 0)) == type->fields[i];
  }
  return same;
}

/* A map from text to Value. */
static bool is_struct(const cst__message_def *def) {
  const cst__message_def *entry = def->fields[0].message;
  return entry->is_map_entry && entry->fields[0].type == CST__FIELD_STRING &&
         entry->fields[1].type == CST__FIELD_MESSAGE;
}

cst__well_known cst__well_known_of(const cst__message_def *def) {
  if (strncmp(def->full_name, "google.", 7) != 0) {
    return CST__WELL_KNOWN_NONE;
  }
  for (size_t i = 0; i < sizeof known_types / sizeof known_types[0]; i++) {
    const known_type *type = &known_types[i];
    if (strcmp(def->full_name + 7, type->name) == 0) {
      bool same =
          has_fields_of(def, type) && (type->known != CST__WELL_KNOWN_STRUCT || is_struct(def));
      return same ? type->known : CST__WELL_KNOWN_NONE;
    }
  }
  return CST__WELL_KNOWN_NONE;
}
