/* Well-known messages that a column of another type than struct holds: points in time, durations,
 * dates, times of day, JSON; and what an Any holds.
 *
 * Sources: google/protobuf/{timestamp,duration,any,wrappers}.proto, google/type/{date,timeofday}
 * .proto.
 */
#include "message/encode/encoder_tree.h"
#include "message/text/well_known.h"
#include "proto/wire.h"

enum {
  SECONDS_OF_DAY = 86400,
  TAG_FIRST = 1 << 3 | CST__WIRE_VARINT, /* seconds, year, hours */
  KNOWN_BOUND = 48                       /* no fewer bytes than any of these messages takes */
};

/* ---- writing ---- */

/* A number as a field without presence. */
static uint8_t *encode_number_field(uint8_t *at, int place, int64_t value) {
  if (value != 0) {
    at = cst__put_varint_back(at, (uint64_t)value);
    *--at = (uint8_t)(TAG_FIRST + ((place - 1) << 3));
  }
  return at;
}

/* Numbers as the fields 1, 2, ... of a message. */
static uint8_t *encode_numbers(const cst__out_field *f, const int64_t *numbers, int count,
                               uint8_t *at, cst__out *out) {
  at = cst__out_put_end(f, at, out);
  at = at != NULL ? cst__out_room(out, at, KNOWN_BOUND) : NULL;
  if (at == NULL) {
    return NULL;
  }
  size_t before = cst__out_size(out, at);
  for (int place = count; place > 0; place--) {
    at = encode_number_field(at, place, numbers[place - 1]);
  }
  return cst__out_put_head(f, before, at, out);
}

/* ---- time ---- */

static int64_t ticks_of_second(char unit) {
  return unit == 's' ? 1 : unit == 'm' ? 1000 : unit == 'u' ? 1000000 : 1000000000;
}

static int64_t time_of_slot(const cst__view *view, int64_t slot) {
  int64_t at = view->offset + slot;
  return view->fixed_size == 8 ? ((const int64_t *)view->data)[at]
                               : ((const int32_t *)view->data)[at];
}

/* "tsu:UTC", "tDu": the third letter is the unit. Nanoseconds of a timestamp count upwards. */
static uint8_t *encode_timestamp(const cst__out_field *f, int64_t slot, uint8_t *at,
                                 cst__out *out) {
  int64_t ticks = time_of_slot(f->values.view, slot);
  int64_t each = ticks_of_second(f->values.view->format[2]);
  int64_t numbers[2] = {ticks / each, ticks % each};
  if (numbers[1] < 0) {
    numbers[0]--;
    numbers[1] += each;
  }
  numbers[1] *= 1000000000 / each;
  return encode_numbers(f, numbers, 2, at, out);
}

/* Seconds and nanoseconds of a duration have the same sign. */
static uint8_t *encode_duration(const cst__out_field *f, int64_t slot, uint8_t *at, cst__out *out) {
  int64_t ticks = time_of_slot(f->values.view, slot);
  int64_t each = ticks_of_second(f->values.view->format[2]);
  int64_t numbers[2] = {ticks / each, ticks % each * (1000000000 / each)};
  return encode_numbers(f, numbers, 2, at, out);
}

static uint8_t *encode_time_of_day(const cst__out_field *f, int64_t slot, uint8_t *at,
                                   cst__out *out) {
  int64_t ticks = time_of_slot(f->values.view, slot);
  int64_t each = ticks_of_second(f->values.view->format[2]);
  if (ticks < 0 || ticks > SECONDS_OF_DAY * each) {
    return cst__out_fail(out, cst__fail(out->error, CST_UNSUPPORTED, NULL,
                                        "a time of day before 0 or after 24 hours"));
  }
  int64_t seconds = ticks / each;
  int64_t numbers[4] = {seconds / 3600, seconds / 60 % 60, seconds % 60,
                        ticks % each * (1000000000 / each)};
  return encode_numbers(f, numbers, 4, at, out);
}

/* The proleptic Gregorian date of a day since 1970-01-01, for years from 1 on: eras of 400 years,
 * which begin in March. */
static void date_of_day(int64_t day, int64_t date[3]) {
  day += 719468; /* since 0000-03-01 */
  int64_t era = day / 146097;
  int64_t of_era = day % 146097;
  int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  int64_t month = (5 * of_year + 2) / 153; /* from March on */
  date[0] = year + era * 400 + (month >= 10);
  date[1] = month < 10 ? month + 3 : month - 9;
  date[2] = of_year - (153 * month + 2) / 5 + 1;
}

static uint8_t *encode_date(const cst__out_field *f, int64_t slot, uint8_t *at, cst__out *out) {
  const int64_t first = -719162; /* 0001-01-01 */
  const int64_t last = 2932896;  /* 9999-12-31 */
  const int64_t day_ms = (int64_t)SECONDS_OF_DAY * 1000;
  int64_t date[3];
  int64_t day = time_of_slot(f->values.view, slot);
  bool is_whole = true;
  if (f->values.view->format[2] == 'm') { /* date64: milliseconds */
    is_whole = day % day_ms == 0;
    day /= day_ms;
  }
  if (!is_whole || day < first || day > last) {
    return cst__out_fail(out, cst__fail(out->error, CST_UNSUPPORTED, NULL,
                                        is_whole ? "a date outside the years 1 to 9999"
                                                 : "a date that is not a whole day"));
  }
  date_of_day(day, date);
  return encode_numbers(f, date, 3, at, out);
}

/* ---- JSON ---- */

static uint8_t *encode_json(const cst__out_field *f, int64_t slot, uint8_t *at, cst__out *out) {
  cst__struct_kind kind = CST__STRUCT_OBJECT;
  cst_bytes text = cst__view_bytes(f->values.view, slot);
  cst_bytes wire;
  (void)cst__struct_kind_of(f->def->message, &kind);
  cst_status status =
      cst__struct_from_json(&out->json, kind, text, CST__DEPTH_LIMIT, &wire, out->error);
  if (status != CST_OK) {
    return cst__out_fail(out, status);
  }
  at = cst__out_put_end(f, at, out);
  at = at != NULL ? cst__out_room(out, at, wire.size) : NULL;
  if (at == NULL) {
    return NULL;
  }
  size_t before = cst__out_size(out, at);
  at -= wire.size;
  if (wire.size > 0) {
    memcpy(at, wire.data, wire.size);
  }
  return cst__out_put_head(f, before, at, out);
}

/* ---- which writer ---- */

static bool is_text_column(const cst__view *view) {
  return view->is_string &&
         (view->layout == CST__LAYOUT_BINARY || view->layout == CST__LAYOUT_BINARY_VIEW);
}

/* A column of layout OPAQUE whose format begins so. */
static bool is_format(const cst__view *view, const char *begin) {
  return view->layout == CST__LAYOUT_OPAQUE && strncmp(view->format, begin, strlen(begin)) == 0;
}

cst__put_value cst__out_known_writer(const cst__message_def *def, const cst__view *values) {
  switch (cst__well_known_of(def)) {
    case CST__WELL_KNOWN_TIMESTAMP:
      return is_format(values, "ts") ? encode_timestamp : NULL;
    case CST__WELL_KNOWN_DURATION:
      return is_format(values, "tD") ? encode_duration : NULL;
    case CST__WELL_KNOWN_DATE:
      return is_format(values, "td") ? encode_date : NULL;
    case CST__WELL_KNOWN_TIME_OF_DAY:
      return is_format(values, "tt") ? encode_time_of_day : NULL;
    case CST__WELL_KNOWN_STRUCT:
    case CST__WELL_KNOWN_VALUE:
    case CST__WELL_KNOWN_LIST_VALUE:
      return is_text_column(values) ? encode_json : NULL;
    default:
      return NULL;
  }
}

/* ---- Any ---- */

/* The field of a number that has a value in the row, or NULL. */
static const cst__out_field *find_any_field(const cst__out_message *message, int32_t number,
                                            int64_t row, cst_bytes *value) {
  for (size_t i = 0; i < message->num_fields; i++) {
    const cst__out_field *f = &message->fields[i];
    int64_t slot = row;
    if (f->def->number == number && cst__bound_slots_find(&f->values, &slot)) {
      *value = cst__view_bytes(f->values.view, slot);
      return value->size > 0 ? f : NULL;
    }
  }
  return NULL;
}

/* "(pkg.Message)" is what the URL "host/pkg.Message" names. */
static bool is_type_url(cst_bytes url, const cst__message_def *def) {
  size_t size = strlen(def->full_name);
  return url.size > size && url.data[url.size - size - 1] == '/' &&
         memcmp(url.data + url.size - size, def->full_name, size) == 0;
}

static uint8_t *encode_type_url(const cst__out_field *f, const cst__out_field *cast, cst_bytes url,
                                uint8_t *at, cst__out *out) {
  static const char prefix[] = "type.googleapis.com/";
  size_t size = strlen(cast->message->def->full_name);
  if (f != NULL && !is_type_url(url, cast->message->def)) {
    return cst__out_fail(
        out, cst__fail(out->error, CST_UNSUPPORTED, NULL,
                       "%s has a value, but the type_url names another message", cast->name));
  }
  size_t begin = f != NULL ? url.size : size + sizeof prefix - 1;
  at = cst__out_room(out, at, begin);
  if (at == NULL) {
    return NULL;
  }
  at -= begin;
  if (f != NULL) {
    memcpy(at, url.data, url.size);
  } else {
    memcpy(at, prefix, sizeof prefix - 1);
    memcpy(at + sizeof prefix - 1, cast->message->def->full_name, size);
  }
  at = cst__out_put_length(at, begin);
  *--at = 1 << 3 | CST__WIRE_LEN;
  return at;
}

/* Of a row in which a cast has a value. */
static uint8_t *encode_cast(const cst__out_message *any, const cst__out_field *cast, int64_t row,
                            uint8_t *at, cst__out *out) {
  cst_bytes url = {NULL, 0};
  cst_bytes value = {NULL, 0};
  const cst__out_field *type_url = find_any_field(any, 1, row, &url);
  if (find_any_field(any, 2, row, &value) != NULL) {
    return cst__out_fail(out, cst__fail(out->error, CST_UNSUPPORTED, "leave out one of the columns",
                                        "both 'value' and '%s' have a value", cast->name));
  }
  int64_t slot = row;
  (void)cst__bound_slots_find(&cast->values, &slot);
  uint8_t *content = cst__out_put_struct(cast, slot, at, out);
  if (content == NULL) {
    cst__error_add_path(out->error, cast->name, strlen(cast->name));
    return NULL;
  }
  bool is_empty = *content == 0; /* its length */
  at = is_empty ? content + 1 : cst__out_put_tag(cast, content);
  return encode_type_url(type_url, cast, url, at, out);
}

uint8_t *cst__out_put_any(const cst__out_message *any, int64_t row, uint8_t *at, cst__out *out) {
  const cst__out_field *cast = NULL;
  for (size_t i = 0; i < any->num_casts; i++) {
    const cst__out_field *next = &any->casts[i];
    int64_t slot = row;
    if (!cst__bound_slots_find(&next->values, &slot)) {
      continue;
    }
    if (cast != NULL) {
      return cst__out_fail(
          out, cst__fail(out->error, CST_UNSUPPORTED, NULL,
                         "both '%s' and '%s' have a value, but an Any contains one", cast->name,
                         next->name));
    }
    cast = next;
  }
  return cast != NULL ? encode_cast(any, cast, row, at, out)
                      : cst__out_put_fields(any, row, at, out);
}
