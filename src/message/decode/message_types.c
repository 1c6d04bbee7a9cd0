/* What fields of messages become as Arrow types. docs/messages.md has the table. */
#include <stdio.h>
#include <string.h>

#include "message/decode/message_plan.h"
#include "message/text/well_known.h"

/* ---- kinds ---- */

static cst__message_value_kind kind_of_message(const cst__message_def *def) {
  if (def->is_message_set) {
    return CST__KIND_RAW;
  }
  switch (cst__well_known_of(def)) {
    case CST__WELL_KNOWN_TIMESTAMP:
      return CST__KIND_TIMESTAMP;
    case CST__WELL_KNOWN_DURATION:
      return CST__KIND_DURATION;
    case CST__WELL_KNOWN_WRAPPER:
      return CST__KIND_WRAPPER;
    case CST__WELL_KNOWN_STRUCT:
    case CST__WELL_KNOWN_VALUE:
    case CST__WELL_KNOWN_LIST_VALUE:
      return CST__KIND_JSON;
    case CST__WELL_KNOWN_ANY:
      return CST__KIND_ANY;
    case CST__WELL_KNOWN_DATE:
      return CST__KIND_DATE;
    case CST__WELL_KNOWN_TIME_OF_DAY:
      return CST__KIND_TIME_OF_DAY;
    case CST__WELL_KNOWN_NONE:
    case CST__WELL_KNOWN_FIELD_MASK:
      break;
  }
  return CST__KIND_MESSAGE;
}

cst__message_value_kind cst__message_kind(const cst_message_options *options,
                                          const cst__field_def *def) {
  switch ((cst__field_type)def->type) {
    case CST__FIELD_INT64:
    case CST__FIELD_UINT64:
      return CST__KIND_VARINT64;
    case CST__FIELD_INT32:
    case CST__FIELD_UINT32:
      return CST__KIND_VARINT32;
    case CST__FIELD_SINT64:
      return CST__KIND_ZIGZAG64;
    case CST__FIELD_SINT32:
      return CST__KIND_ZIGZAG32;
    case CST__FIELD_BOOL:
      return CST__KIND_BOOL;
    case CST__FIELD_ENUM:
      return CST__KIND_ENUM;
    case CST__FIELD_DOUBLE:
    case CST__FIELD_FIXED64:
    case CST__FIELD_SFIXED64:
      return CST__KIND_FIXED64;
    case CST__FIELD_FLOAT:
    case CST__FIELD_FIXED32:
    case CST__FIELD_SFIXED32:
      return CST__KIND_FIXED32;
    case CST__FIELD_STRING:
      return (options->flags & CST_MESSAGE_BINARY_STRINGS) != 0 ? CST__KIND_BYTES
                                                                : CST__KIND_STRING;
    case CST__FIELD_BYTES:
      return CST__KIND_BYTES;
    case CST__FIELD_GROUP:
    case CST__FIELD_MESSAGE:
      break;
  }
  if (def->message->is_map_entry) {
    return CST__KIND_MAP;
  }
  cst__message_value_kind kind = kind_of_message(def->message);
  bool is_plain = (options->flags & CST_MESSAGE_PLAIN_TYPES) != 0 && kind != CST__KIND_ANY &&
                  kind != CST__KIND_RAW;
  return is_plain ? CST__KIND_MESSAGE : kind;
}

/* ---- types of values ---- */

static const char *number_format(cst__field_type type) {
  switch (type) {
    case CST__FIELD_INT64:
    case CST__FIELD_SINT64:
    case CST__FIELD_SFIXED64:
      return "l";
    case CST__FIELD_UINT64:
    case CST__FIELD_FIXED64:
      return "L";
    case CST__FIELD_INT32:
    case CST__FIELD_SINT32:
    case CST__FIELD_SFIXED32:
      return "i";
    case CST__FIELD_UINT32:
    case CST__FIELD_FIXED32:
      return "I";
    case CST__FIELD_DOUBLE:
      return "g";
    case CST__FIELD_FLOAT:
      return "f";
    case CST__FIELD_BOOL:
    case CST__FIELD_STRING:
    case CST__FIELD_BYTES:
    case CST__FIELD_ENUM:
    case CST__FIELD_MESSAGE:
    case CST__FIELD_GROUP:
      break;
  }
  return "b";
}

static const char *bytes_format(uint32_t column_flags, bool is_text) {
  if ((column_flags & CST_COLUMNS_BINARY_VIEWS) != 0) {
    return is_text ? "vu" : "vz";
  }
  if ((column_flags & CST_COLUMNS_OFFSETS_32) != 0) {
    return is_text ? "u" : "z";
  }
  return is_text ? "U" : "Z";
}

static const char *enum_format(const cst_message_options *options, uint32_t column_flags) {
  switch (options->enums) {
    case CST_ENUMS_NUMBER:
      return "i";
    case CST_ENUMS_DICTIONARY:
      return bytes_format(column_flags & ~(uint32_t)CST_COLUMNS_BINARY_VIEWS, true);
    case CST_ENUMS_TEXT:
    case CST_ENUMS_BINARY:
      break;
  }
  return bytes_format(column_flags, options->enums == CST_ENUMS_TEXT);
}

static const char unit_letters[] = {[CST_TIME_NANOSECOND] = 'n',
                                    [CST_TIME_MICROSECOND] = 'u',
                                    [CST_TIME_MILLISECOND] = 'm',
                                    [CST_TIME_SECOND] = 's'};

const char *cst__message_value_format(const cst_message_options *options, uint32_t column_flags,
                                      const cst__field_def *def, cst__message_value_kind kind,
                                      char room[CST__MESSAGE_FORMAT_SIZE]) {
  switch (kind) {
    case CST__KIND_ENUM:
      return enum_format(options, column_flags);
    case CST__KIND_STRING:
    case CST__KIND_JSON:
      return bytes_format(column_flags, true);
    case CST__KIND_BYTES:
    case CST__KIND_RAW:
      return bytes_format(column_flags, false);
    case CST__KIND_TIMESTAMP:
      snprintf(room, CST__MESSAGE_FORMAT_SIZE, "ts%c:%s", unit_letters[options->timestamp_unit],
               options->time_zone);
      return room;
    case CST__KIND_DURATION:
      snprintf(room, CST__MESSAGE_FORMAT_SIZE, "tD%c", unit_letters[options->duration_unit]);
      return room;
    case CST__KIND_TIME_OF_DAY:
      snprintf(room, CST__MESSAGE_FORMAT_SIZE, "tt%c", unit_letters[options->time_unit]);
      return room;
    case CST__KIND_DATE:
      return "tdD";
    case CST__KIND_WRAPPER:
      def = &def->message->fields[0];
      return cst__message_value_format(options, column_flags, def, cst__message_kind(options, def),
                                       room);
    default:
      return number_format((cst__field_type)def->type);
  }
}

cst_status cst__message_value_type(cst__message_plan *plan, const cst__field_def *def,
                                   cst__message_value_kind kind, cst__type *type,
                                   cst_error *error) {
  char room[CST__MESSAGE_FORMAT_SIZE];
  const char *format =
      cst__message_value_format(&plan->options, plan->column_flags, def, kind, room);
  if (kind != CST__KIND_ENUM || plan->options.enums != CST_ENUMS_DICTIONARY) {
    return cst__type_set(type, format, &plan->arena, error);
  }
  CST__TRY(cst__type_set(type, "i", &plan->arena, error));
  type->dictionary = cst__arena_take(&plan->arena, sizeof *type->dictionary);
  if (type->dictionary == NULL) {
    return cst__fail_memory(error, sizeof *type->dictionary);
  }
  *type->dictionary = (cst__type)CST__TYPE_INIT;
  return cst__type_set(type->dictionary, format, &plan->arena, error);
}

/* ---- nulls ---- */

bool cst__message_has_null(const cst_message_options *options, const cst__field_def *def) {
  if (cst__field_is_repeated(def)) {
    return (options->flags & CST_MESSAGE_NULLABLE_LISTS) != 0;
  }
  if ((def->flags & (CST__FIELD_REQUIRED | CST__FIELD_IMPLICIT)) != 0) {
    return false;
  }
  return cst__field_is_message(def) || (options->flags & CST_MESSAGE_DEFAULTS) == 0;
}

/* ---- lists and maps ---- */

static cst_status name_inner_type(cst__message_plan *plan, cst__type *type, const char *name,
                                  cst_error *error) {
  bool is_nullable = (plan->options.flags & CST_MESSAGE_NULLABLE_ITEMS) != 0;
  type->flags = is_nullable ? ARROW_FLAG_NULLABLE : 0;
  return cst__type_set_name(type, name, strlen(name), &plan->arena, error);
}

cst_status cst__message_list_type(cst__message_plan *plan, cst__type *type, cst__type **item,
                                  cst_error *error) {
  bool is_narrow = (plan->column_flags & CST_COLUMNS_OFFSETS_32) != 0;
  CST__TRY(cst__type_set(type, is_narrow ? "+l" : "+L", &plan->arena, error));
  CST__TRY(cst__type_set_children(type, 1, &plan->arena, error));
  *item = &type->children[0];
  return name_inner_type(plan, *item, plan->options.list_item, error);
}

cst_status cst__message_map_type(cst__message_plan *plan, cst__type *type, cst__type **entries,
                                 cst_error *error) {
  bool is_list = (plan->options.flags & CST_MESSAGE_MAPS_AS_LISTS) != 0;
  if (is_list) {
    CST__TRY(cst__message_list_type(plan, type, entries, error));
  } else {
    CST__TRY(cst__type_set(type, "+m", &plan->arena, error));
    CST__TRY(cst__type_set_children(type, 1, &plan->arena, error));
    *entries = &type->children[0];
    CST__TRY(cst__type_set_name(*entries, "entries", 7, &plan->arena, error));
    (*entries)->flags = 0;
  }
  cst__type *entry = *entries;
  CST__TRY(cst__type_set(entry, "+s", &plan->arena, error));
  CST__TRY(cst__type_set_children(entry, 2, &plan->arena, error));
  CST__TRY(name_inner_type(plan, &entry->children[0], plan->options.map_key, error));
  entry->children[0].flags = 0;
  return name_inner_type(plan, &entry->children[1], plan->options.map_value, error);
}
