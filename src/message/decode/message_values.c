/* Values that the loop does not write itself: enums, zigzag numbers, booleans, and messages that
 * become one value.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/civil.h"
#include "message/decode/message_loop.h"

bool cst__slot_settle(cst__builder *builder, int64_t row) {
  if (builder->length > row) {
    cst__builder_truncate(builder, row);
    return true;
  }
  return cst__builder_pad_slots(builder, row);
}

/* ---- one value at the end of a column ---- */

static bool put_width(cst__builder *values, const void *value, size_t width) {
  return cst__builder_append(values, value, width);
}

static bool put_text(cst__builder *values, cst_bytes text) {
  return cst__builder_append_bytes(values, text.data, text.size);
}

/* ---- enums ---- */

/* A number without a name, as its digits. */
static bool put_nameless(cst__loop *loop, cst__builder *values, int32_t number) {
  char digits[16];
  size_t size = (size_t)snprintf(digits, sizeof digits, "%d", (int)number);
  int64_t index;
  if (values->dictionary == NULL) {
    return put_text(values, (cst_bytes){(const uint8_t *)digits, size});
  }
  if (cst__builder_intern(values, digits, size, &index, loop->error) != CST_OK) {
    return false;
  }
  return cst__builder_append_index(values, index);
}

static bool put_enum_number(cst__loop *loop, const cst__loop_entry *entry, int32_t number) {
  cst__builder *values = entry->values;
  if (loop->plan->options.enums == CST_ENUMS_NUMBER) {
    return put_width(values, &number, sizeof number);
  }
  const cst__enum_def *def = entry->def->values;
  const cst__enum_value *found = cst__enum_by_number(def, number);
  if (found == NULL) {
    return put_nameless(loop, values, number);
  }
  if (values->dictionary != NULL) {
    return cst__builder_append_index(values, found - def->values);
  }
  return put_text(values, cst__bytes_of(found->name));
}

/* A number that a closed enum does not have makes an unknown field: of a map, the whole entry. */
static bool keep_unknown_number(cst__loop *loop, cst__node *node, cst_bytes field) {
  return node->plan->def->is_map_entry ? cst__loop_slow(loop)
                                       : cst__loop_keep_unknown(loop, node, field);
}

/* Of a packed field each such number makes a field of its own. */
static bool keep_packed_number(cst__loop *loop, cst__node *node, const cst__loop_entry *entry,
                               uint64_t raw) {
  uint8_t field[2 * 10];
  size_t size = 0;
  const uint64_t parts[2] = {(uint64_t)entry->def->number << 3, raw};
  for (size_t i = 0; i < 2; i++) {
    uint64_t rest = parts[i];
    for (; rest > 0x7f; rest >>= 7) {
      field[size++] = (uint8_t)(rest | 0x80);
    }
    field[size++] = (uint8_t)rest;
  }
  return cst__loop_keep_unknown(loop, node, (cst_bytes){field, size});
}

bool cst__is_unknown_number(const cst__loop_entry *entry, uint64_t raw) {
  return entry->kind == CST__KIND_ENUM && !entry->def->values->is_open &&
         cst__enum_by_number(entry->def->values, (int32_t)raw) == NULL;
}

/* ---- varints ---- */

/* Appends a value, for which there is room. */
static bool put_varint_value(cst__loop *loop, const cst__loop_entry *entry, uint64_t raw) {
  cst__builder *values = entry->values;
  int64_t wide;
  int32_t narrow;
  switch ((cst__message_value_kind)entry->kind) {
    case CST__KIND_ZIGZAG64:
      wide = cst__zigzag_decode(raw);
      return put_width(values, &wide, sizeof wide);
    case CST__KIND_ZIGZAG32:
      narrow = (int32_t)cst__zigzag_decode((uint32_t)raw);
      return put_width(values, &narrow, sizeof narrow);
    case CST__KIND_BOOL:
      cst__builder_put_bool(values, raw != 0);
      return true;
    case CST__KIND_ENUM:
      return put_enum_number(loop, entry, (int32_t)raw);
    case CST__KIND_VARINT32:
    case CST__KIND_FIXED32:
      return put_width(values, &raw, 4); /* little-endian: the low bytes */
    default:
      return put_width(values, &raw, 8);
  }
}

bool cst__put_varint(cst__loop *loop, cst__node *node, cst__loop_entry *entry, uint64_t raw,
                     cst_bytes field) {
  int64_t row = node->rows->length;
  if (cst__is_unknown_number(entry, raw)) {
    return keep_unknown_number(loop, node, field);
  }
  bool ok = cst__slot_begin(entry, row) && put_varint_value(loop, entry, raw) &&
            cst__slot_end(entry, row);
  return ok || cst__loop_no_memory(loop);
}

bool cst__put_packed(cst__loop *loop, cst__node *node, cst__loop_entry *entry, cst_bytes packed) {
  int64_t row = node->rows->length;
  cst__wire wire = cst__wire_of(packed.data, packed.size);
  bool any = false;
  while (wire.at < wire.end) {
    uint64_t raw;
    if (!cst__wire_varint(&wire, &raw)) {
      return cst__loop_slow(loop);
    }
    if (cst__is_unknown_number(entry, raw)) {
      if (!keep_packed_number(loop, node, entry, raw)) {
        return false;
      }
      continue;
    }
    any = true;
    if (!cst__slot_begin(entry, row) || !put_varint_value(loop, entry, raw)) {
      return cst__loop_no_memory(loop);
    }
  }
  return !any || cst__slot_end(entry, row) || cst__loop_no_memory(loop);
}

bool cst__put_default(cst__loop *loop, cst__node *node, cst__loop_entry *entry) {
  int64_t row = node->rows->length;
  const cst__field_def *def = entry->def;
  bool ok = cst__slot_begin(entry, row);
  if (ok && (entry->kind == CST__KIND_STRING || entry->kind == CST__KIND_BYTES)) {
    ok = put_text(entry->values, def->default_value->bytes);
  } else if (ok && entry->kind == CST__KIND_ENUM) {
    int32_t number = def->default_value != NULL ? (int32_t)def->default_value->bits
                                                : def->values->values[0].number;
    ok = put_enum_number(loop, entry, number);
  } else if (ok && entry->kind == CST__KIND_BOOL) {
    cst__builder_put_bool(entry->values, def->default_value->bits != 0);
  } else if (ok) {
    ok = put_width(entry->values, &def->default_value->bits, entry->values->type->width);
  }
  return ok || cst__loop_no_memory(loop);
}

/* ---- messages of a few numbers ---- */

enum { MAX_NUMBERS = 5 };

/* The fields 1 to 4 of a message, of which the last value counts; others are stepped over. */
static bool read_numbers(cst__loop *loop, cst_bytes message, int64_t numbers[MAX_NUMBERS]) {
  cst__wire wire = cst__wire_of(message.data, message.size);
  cst__wire_field field;
  memset(numbers, 0, MAX_NUMBERS * sizeof *numbers);
  while (cst__wire_next(&wire, loop->depth - 1, &field)) {
    if (field.number < MAX_NUMBERS && field.type == CST__WIRE_VARINT) {
      numbers[field.number] = (int64_t)field.value;
    }
  }
  return wire.fault == CST__WIRE_FAULT_NONE || cst__loop_slow(loop);
}

static int64_t unit_nanoseconds(cst_time_unit unit) {
  static const int64_t sizes[] = {[CST_TIME_NANOSECOND] = 1,
                                  [CST_TIME_MICROSECOND] = 1000,
                                  [CST_TIME_MILLISECOND] = 1000000,
                                  [CST_TIME_SECOND] = 1000000000};
  return sizes[unit];
}

/* Seconds and nanoseconds in a unit, rounded down; false: more than 64 bits. */
static bool to_unit(int64_t seconds, int32_t nanos, cst_time_unit unit, int64_t *out) {
  int64_t size = unit_nanoseconds(unit);
  __int128 total = (__int128)seconds * 1000000000 + nanos;
  __int128 whole = total / size;
  whole -= total % size < 0;
  *out = (int64_t)whole;
  return whole == *out;
}

static bool put_time(cst__loop *loop, cst__loop_entry *entry, cst_bytes message, int64_t *out) {
  const cst_message_options *options = &loop->plan->options;
  bool is_duration = entry->kind == CST__KIND_DURATION;
  int64_t numbers[MAX_NUMBERS];
  if (!read_numbers(loop, message, numbers)) {
    return false;
  }
  cst_time_unit unit = is_duration ? options->duration_unit : options->timestamp_unit;
  return to_unit(numbers[1], (int32_t)numbers[2], unit, out) ||
         cst__loop_bad_value(loop, entry,
                             is_duration
                                 ? "give a coarser duration_unit, or plain_types=True for seconds "
                                   "and nanos"
                                 : "give a coarser timestamp_unit, or plain_types=True for seconds "
                                   "and nanos",
                             is_duration ? "a duration is too long for its unit"
                                         : "a timestamp is out of the range of its unit");
}

static bool put_date(cst__loop *loop, cst__loop_entry *entry, cst_bytes message, int64_t *out) {
  int64_t numbers[MAX_NUMBERS];
  if (!read_numbers(loop, message, numbers)) {
    return false;
  }
  const cst__date date = {(int32_t)numbers[1], (int32_t)numbers[2], (int32_t)numbers[3]};
  if (date.year < 1 || date.year > 9999 || !cst__date_is_valid(&date)) {
    return cst__loop_bad_value(loop, entry,
                               "for dates without year, month or day give plain_types=True",
                               "a google.type.Date is not a valid date");
  }
  *out = cst__days_of_date(&date);
  return true;
}

static bool put_time_of_day(cst__loop *loop, cst__loop_entry *entry, cst_bytes message,
                            int64_t *out) {
  int64_t numbers[MAX_NUMBERS];
  if (!read_numbers(loop, message, numbers)) {
    return false;
  }
  int32_t hours = (int32_t)numbers[1];
  int32_t minutes = (int32_t)numbers[2];
  int32_t seconds = (int32_t)numbers[3];
  int32_t nanos = (int32_t)numbers[4];
  bool is_time = hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60 && seconds >= 0 &&
                 seconds < 60 && nanos >= 0 && nanos < 1000000000;
  return is_time
             ? to_unit(hours * 3600 + minutes * 60 + seconds, nanos, loop->plan->options.time_unit,
                       out)
             : cst__loop_bad_value(loop, entry, "for times such as 24:00:00 give plain_types=True",
                                   "a google.type.TimeOfDay is not a valid time of day");
}

/* ---- other messages that are one value ---- */

static bool put_wrapper(cst__loop *loop, cst__loop_entry *entry, cst_bytes message) {
  cst__wire wire = cst__wire_of(message.data, message.size);
  cst__wire_field field;
  cst__loop_entry inner = *entry;
  inner.def = &entry->def->message->fields[0];
  inner.kind = (uint8_t)cst__message_kind(&loop->plan->options, inner.def);
  bool is_bytes = inner.kind == CST__KIND_STRING || inner.kind == CST__KIND_BYTES;
  cst__wire_type type = is_bytes                          ? CST__WIRE_LEN
                        : inner.kind == CST__KIND_FIXED64 ? CST__WIRE_FIXED64
                        : inner.kind == CST__KIND_FIXED32 ? CST__WIRE_FIXED32
                                                          : CST__WIRE_VARINT;
  uint64_t number = 0;
  cst_bytes bytes = {NULL, 0};
  while (cst__wire_next(&wire, loop->depth - 1, &field)) {
    if (field.number == 1 && field.type == type) {
      number = field.value;
      bytes = field.bytes;
      if (inner.kind == CST__KIND_STRING &&
          !cst__loop_is_text(loop, &inner, bytes.data, bytes.size)) {
        return false;
      }
    }
  }
  if (wire.fault != CST__WIRE_FAULT_NONE) {
    return cst__loop_slow(loop);
  }
  bool ok = is_bytes ? put_text(entry->values, bytes) : put_varint_value(loop, &inner, number);
  return ok || cst__loop_no_memory(loop);
}

static bool put_struct_json(cst__loop *loop, cst__loop_entry *entry, cst_bytes message) {
  cst_bytes json;
  cst_status status = cst__struct_to_json(&loop->json, (cst__struct_kind)entry->struct_kind,
                                          message, loop->depth - 1, &json, loop->error);
  if (status == CST_OK) {
    return put_text(entry->values, json) || cst__loop_no_memory(loop);
  }
  return cst__loop_fail(loop, entry);
}

/* What the loop writes at the end of the slot: bytes of one message come one after the other. */
static bool put_raw(cst__loop *loop, cst__loop_entry *entry, cst_bytes message, int64_t row) {
  cst__builder *values = entry->values;
  if (entry->list != NULL || values->length <= row) {
    bool ok = cst__slot_begin(entry, row) && put_text(values, message) && cst__slot_end(entry, row);
    return ok || cst__loop_no_memory(loop);
  }
  return cst__slot_extend(values, message) || cst__loop_no_memory(loop);
}

bool cst__slot_extend(cst__builder *values, cst_bytes more) {
  if (!cst__builder_has_bytes(values, more.size)) {
    return false;
  }
  if (more.size > 0) {
    memcpy(values->values + values->num_bytes, more.data, more.size);
  }
  values->num_bytes += more.size;
  values->offsets[values->length] = (int64_t)values->num_bytes;
  return true;
}

/* ---- Any ---- */

/* The last values of the fields 1 and 2. */
static bool read_any(cst__loop *loop, cst_bytes message, cst_bytes *type_url, cst_bytes *value) {
  cst__wire wire = cst__wire_of(message.data, message.size);
  cst__wire_field field;
  *type_url = *value = (cst_bytes){(const uint8_t *)"", 0};
  while (cst__wire_next(&wire, loop->depth - 1, &field)) {
    if (field.type == CST__WIRE_LEN && (field.number == 1 || field.number == 2)) {
      *(field.number == 1 ? type_url : value) = field.bytes;
    }
  }
  return wire.fault == CST__WIRE_FAULT_NONE || cst__loop_slow(loop);
}

/* True if an Any's URL is the name, or ends with "/" and the name. */
static bool is_url_of(cst_bytes url, const char *name) {
  size_t size = strlen(name);
  return url.size >= size && memcmp(url.data + url.size - size, name, size) == 0 &&
         (url.size == size || url.data[url.size - size - 1] == '/');
}

/* The message in an Any, which need not be in normal form even where the Any is. */
static bool put_cast(cst__loop *loop, const cst__cast *cast, cst_bytes value, int64_t row) {
  cst__builder *values = cast->values;
  if (values->length > row) {
    return cst__loop_slow(loop);
  }
  if (!cst__builder_pad(values, row)) {
    return cst__loop_no_memory(loop);
  }
  const uint8_t *at = value.data != NULL ? value.data : loop->no_bytes;
  if (loop->run(loop, cast->node, at, at + value.size)) {
    return true;
  }
  if (loop->stop != CST__STOP_SLOW || !loop->is_normal) {
    return false;
  }
  cst__builder_truncate(values, row);
  cst_bytes normal;
  if (cst__loop_normalise(loop, cast->node->plan, value, &normal) != CST_OK) {
    loop->stop = CST__STOP_FAILED;
    return false;
  }
  return loop->run(loop, cast->node, normal.data, normal.data + normal.size);
}

static bool put_any(cst__loop *loop, cst__loop_entry *entry, cst_bytes message, int64_t row) {
  cst__node *node = entry->child;
  cst_bytes type_url;
  cst_bytes value;
  if (entry->list == NULL && entry->values->length > row) {
    return cst__loop_slow(loop); /* messages merge */
  }
  bool ready =
      entry->list != NULL ? cst__slot_begin_list(entry, row) : cst__builder_pad(entry->values, row);
  if (!ready) {
    return cst__loop_no_memory(loop);
  }
  if (node->num_casts > 0 && !read_any(loop, message, &type_url, &value)) {
    return false;
  }
  for (size_t i = 0; i < node->num_casts; i++) {
    const cst__cast *cast = &node->casts[i];
    if (is_url_of(type_url, cast->node->plan->def->full_name) &&
        !put_cast(loop, cast, value, node->rows->length)) {
      return false;
    }
  }
  return loop->run(loop, node, message.data, message.data + message.size) &&
         (cst__slot_end(entry, row) || cst__loop_no_memory(loop));
}

bool cst__put_other(cst__loop *loop, cst__node *node, cst__loop_entry *entry, cst_bytes message) {
  int64_t row = node->rows->length;
  int64_t number = 0;
  bool ok;
  if (entry->kind == CST__KIND_RAW) {
    return put_raw(loop, entry, message, row);
  }
  if (entry->kind == CST__KIND_ANY) {
    return put_any(loop, entry, message, row);
  }
  if (entry->list == NULL && entry->values->length > row) {
    return cst__loop_slow(loop); /* messages merge */
  }
  if (!cst__slot_begin(entry, row)) {
    return cst__loop_no_memory(loop);
  }
  switch ((cst__message_value_kind)entry->kind) {
    case CST__KIND_WRAPPER:
      ok = put_wrapper(loop, entry, message);
      break;
    case CST__KIND_JSON:
      ok = put_struct_json(loop, entry, message);
      break;
    case CST__KIND_DATE:
      ok = put_date(loop, entry, message, &number);
      break;
    case CST__KIND_TIME_OF_DAY:
      ok = put_time_of_day(loop, entry, message, &number);
      break;
    default:
      ok = put_time(loop, entry, message, &number);
      break;
  }
  if (!ok) {
    return false;
  }
  if (entry->kind != CST__KIND_WRAPPER && entry->kind != CST__KIND_JSON) {
    cst__builder *values = entry->values;
    ok = put_width(values, &number, values->type->width);
  }
  return (ok && cst__slot_end(entry, row)) || cst__loop_no_memory(loop);
}
