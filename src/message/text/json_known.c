/* The well-known types in protobuf's JSON. */
#include <string.h>

#include "message/text/json_read.h"
#include "proto/descriptor_set.h"
#include "text/time.h"

static cst_status fail_form(const cst__json_reading *r, const cst__message *message,
                            const char *form) {
  return cst__json_reading_fail(r, NULL, "not a %s, expected %s", message->def->full_name, form);
}

/* ---- one string ---- */

static cst_status put_moment(const cst__json_reading *r, cst__message *message,
                             cst__moment moment) {
  bool done = (moment.seconds == 0 || cst__message_put_int(r->arena, message, 1, moment.seconds)) &&
              (moment.nanos == 0 || cst__message_put_int(r->arena, message, 2, moment.nanos));
  return done ? CST_OK : cst__json_reading_no_memory(r);
}

static cst_status read_moment(const cst__json_reading *r, bool is_timestamp, yyjson_val *value,
                              cst__message *message) {
  cst__moment moment = {0, 0};
  const char *text = yyjson_get_str(value);
  size_t size = yyjson_get_len(value);
  bool sound = text != NULL && (is_timestamp ? cst__timestamp_parse(text, size, &moment)
                                             : cst__duration_parse(text, size, &moment));
  if (!sound) {
    return fail_form(r, message, is_timestamp ? "\"1972-01-01T10:00:20.021Z\"" : "\"1.5s\"");
  }
  return put_moment(r, message, moment);
}

/* "fooBar.baz" to "foo_bar.baz"; false if it is no such path. `out` has room for twice as much. */
static bool to_snake_case(const char *path, size_t size, char *out, size_t *out_size) {
  char *to = out;
  for (size_t i = 0; i < size; i++) {
    char c = path[i];
    if (c == '_') {
      return false;
    }
    if (c >= 'A' && c <= 'Z') {
      *to++ = '_';
      c = (char)(c - 'A' + 'a');
    }
    *to++ = c;
  }
  *out_size = (size_t)(to - out);
  return true;
}

static cst_status read_field_mask(const cst__json_reading *r, yyjson_val *value,
                                  cst__message *message) {
  const cst__field_def *paths = cst__field_by_number(message->def, 1);
  const char *at = yyjson_get_str(value);
  if (at == NULL) {
    return fail_form(r, message, "\"path.one,pathTwo\"");
  }
  const char *end = at + yyjson_get_len(value);
  char *to = cst__arena_take(r->arena, (size_t)(end - at) * 2);
  if (to == NULL) {
    return cst__json_reading_no_memory(r);
  }
  for (const char *stop = at; at < end || (at == end && *stop == ','); at = stop + 1) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    stop = comma != NULL ? comma : end;
    cst__value path = {.bytes = {(const uint8_t *)to, 0}};
    if (!to_snake_case(at, (size_t)(stop - at), to, &path.bytes.size)) {
      return cst__json_reading_fail(r, "write 'fooBar' for the field 'foo_bar'",
                                    "a path of a field mask has an underscore");
    }
    if (!cst__message_put(r->arena, message, paths, path)) {
      return cst__json_reading_no_memory(r);
    }
    to += path.bytes.size;
  }
  return CST_OK;
}

/* ---- values ---- */

static cst_status read_json_wrapper(cst__json_reading *r, yyjson_val *value,
                                    cst__message *message) {
  const cst__field_def *def = &message->def->fields[0];
  cst__value one = {.u = 0};
  CST__TRY(cst__json_read_scalar(r, def, value, &one));
  return cst__message_put(r->arena, message, def, one) ? CST_OK : cst__json_reading_no_memory(r);
}

/* A new message as a value of the field, read from JSON. */
static cst_status read_json_child(cst__json_reading *r, int32_t number, yyjson_val *value,
                                  cst__message *message, int depth) {
  cst__message *child = cst__message_put_child(r->arena, message, number);
  return child != NULL ? cst__json_read_message(r, value, child, depth)
                       : cst__json_reading_no_memory(r);
}

static cst_status read_json_struct(cst__json_reading *r, yyjson_val *object, cst__message *message,
                                   int depth) {
  cst__json_doc *json = &r->reader->json;
  size_t first = json->num_stack;
  size_t i;
  size_t count;
  yyjson_val *key;
  yyjson_val *value;
  if (!yyjson_is_obj(object)) {
    return fail_form(r, message, "an object");
  }
  CST__TRY(cst__json_doc_push_keys(json, object, r->error)); /* none comes twice */
  json->num_stack = first;
  yyjson_obj_foreach(object, i, count, key, value) {
    cst__message *entry = cst__message_put_child(r->arena, message, 1);
    cst__value name = {
        .bytes = {(const uint8_t *)unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key)}};
    r->place = key;
    if (entry == NULL || !cst__message_put(r->arena, entry, &entry->def->fields[0], name)) {
      return cst__json_reading_no_memory(r);
    }
    CST__TRY(read_json_child(r, 2, value, entry, depth));
  }
  return CST_OK;
}

static cst_status read_list_value(cst__json_reading *r, yyjson_val *list, cst__message *message,
                                  int depth) {
  size_t i;
  size_t count;
  yyjson_val *item;
  if (!yyjson_is_arr(list)) {
    return fail_form(r, message, "a list");
  }
  yyjson_arr_foreach(list, i, count, item) {
    CST__TRY(read_json_child(r, 1, item, message, depth));
  }
  return CST_OK;
}

static cst_status read_value(cst__json_reading *r, yyjson_val *value, cst__message *message,
                             int depth) {
  const cst__field_def *fields = message->def->fields; /* 1 to 6, in order */
  cst__value one = {.u = 0};
  size_t kind = 0;
  if (yyjson_is_obj(value) || yyjson_is_arr(value)) {
    return read_json_child(r, yyjson_is_obj(value) ? 5 : 6, value, message, depth);
  }
  if (yyjson_is_num(value) || yyjson_is_raw(value)) {
    kind = 1;
  } else if (yyjson_is_str(value)) {
    kind = 2;
  } else if (yyjson_is_bool(value)) {
    kind = 3;
  }
  if (kind > 0) {
    CST__TRY(cst__json_read_scalar(r, &fields[kind], value, &one));
  }
  return cst__message_put(r->arena, message, &fields[kind], one) ? CST_OK
                                                                 : cst__json_reading_no_memory(r);
}

/* ---- Any ---- */

/* The type that a URL names. */
static const cst__message_def *find_any_type(const cst__json_reading *r, yyjson_val *url) {
  const char *text = unsafe_yyjson_get_str(url);
  size_t size = unsafe_yyjson_get_len(url);
  size_t start = size;
  while (start > 0 && text[start - 1] != '/') {
    start--;
  }
  return r->reader->descriptors != NULL && start < size && text[start] != '.'
             ? cst__descriptors_find(r->reader->descriptors, text + start, size - start)
             : NULL;
}

/* The message in an Any: its fields stand beside "@type", a special form as "value". */
static cst_status read_any_content(cst__json_reading *r, yyjson_val *object, cst__message *content,
                                   int depth) {
  if (cst__well_known_of(content->def) == CST__WELL_KNOWN_NONE) {
    return cst__json_read_fields(r, object, content, "@type", depth);
  }
  yyjson_val *value = yyjson_obj_get(object, "value");
  bool is_alone = yyjson_obj_size(object) == 2 || r->reader->ignores_unknown;
  if (value == NULL || !is_alone) {
    return cst__json_reading_fail(r, "it stands beside \"@type\", as \"value\"",
                                  "an Any that holds a %s, and not its JSON as \"value\" alone",
                                  content->def->full_name);
  }
  return cst__json_read_message(r, value, content, depth);
}

/* The bytes of a message, in the arena. */
static cst_status serialize_content(const cst__json_reading *r, cst__message *content,
                                    cst_bytes *bytes) {
  cst__wire_out out = {0};
  bool done = cst__message_sort_maps(r->arena, content);
  if (done) {
    cst__message_put_wire(content, &out);
  }
  size_t size = cst__wire_out_size(&out);
  char *copy = done && !out.failed
                   ? cst__arena_copy(r->arena, size > 0 ? out.data + out.free : NULL, size)
                   : NULL;
  cst__wire_out_free(&out);
  *bytes = (cst_bytes){(const uint8_t *)copy, size};
  return copy != NULL ? CST_OK : cst__json_reading_no_memory(r);
}

static cst_status read_json_any(cst__json_reading *r, yyjson_val *object, cst__message *message,
                                int depth) {
  const cst__field_def *fields = message->def->fields;
  if (!yyjson_is_obj(object)) {
    return fail_form(r, message, "an object");
  }
  if (yyjson_obj_size(object) == 0) {
    return CST_OK;
  }
  yyjson_val *url = yyjson_obj_get(object, "@type");
  if (!yyjson_is_str(url)) {
    return cst__json_reading_fail(r, "give the URL of the type as \"@type\"",
                                  "an Any without its type");
  }
  const cst__message_def *def = find_any_type(r, url);
  if (def == NULL) {
    return cst__json_reading_fail(r, "add the file of this type to the descriptors",
                                  "an Any of a type that the descriptors do not have");
  }
  cst__message *content = cst__message_new(r->arena, def);
  cst__value value = {
      .bytes = {(const uint8_t *)unsafe_yyjson_get_str(url), unsafe_yyjson_get_len(url)}};
  if (content == NULL || !cst__message_put(r->arena, message, &fields[0], value)) {
    return cst__json_reading_no_memory(r);
  }
  CST__TRY(read_any_content(r, object, content, depth));
  CST__TRY(serialize_content(r, content, &value.bytes));
  return cst__message_put(r->arena, message, &fields[1], value) ? CST_OK
                                                                : cst__json_reading_no_memory(r);
}

cst_status cst__json_read_known(cst__json_reading *r, cst__well_known known, yyjson_val *value,
                                cst__message *message, int depth) {
  switch (known) {
    case CST__WELL_KNOWN_TIMESTAMP:
    case CST__WELL_KNOWN_DURATION:
      return read_moment(r, known == CST__WELL_KNOWN_TIMESTAMP, value, message);
    case CST__WELL_KNOWN_FIELD_MASK:
      return read_field_mask(r, value, message);
    case CST__WELL_KNOWN_WRAPPER:
      return read_json_wrapper(r, value, message);
    case CST__WELL_KNOWN_STRUCT:
      return read_json_struct(r, value, message, depth);
    case CST__WELL_KNOWN_VALUE:
      return read_value(r, value, message, depth);
    case CST__WELL_KNOWN_LIST_VALUE:
      return read_list_value(r, value, message, depth);
    case CST__WELL_KNOWN_ANY:
      return read_json_any(r, value, message, depth);
    case CST__WELL_KNOWN_NONE:
    case CST__WELL_KNOWN_DATE:
    case CST__WELL_KNOWN_TIME_OF_DAY:
      break;
  }
  return cst__json_read_fields(r, value, message, NULL, depth);
}
