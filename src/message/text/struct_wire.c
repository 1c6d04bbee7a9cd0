/* JSON text to the bytes of a Struct, Value or ListValue, back to front. */
#include <string.h>

#include "message/text/json_doc.h"
#include "message/text/struct_json.h"

/* One conversion. */
typedef struct struct_writer {
  cst__json_doc *json;
  cst__wire_out *out;
  yyjson_val *place; /* the innermost key */
  cst_error *error;
} struct_writer;

static cst_status fail_struct_json(const struct_writer *w, const char *hint, const char *what) {
  (void)cst__fail(w->error, CST_UNSUPPORTED, hint, "%s", what);
  return cst__json_doc_fail_at(w->json, w->place, CST_UNSUPPORTED, w->error);
}

static cst_status put_value_wire(struct_writer *w, yyjson_val *value, int depth);

/* Length and tag of what has been put since `before`. */
static void put_head(struct_writer *w, uint32_t number, size_t before) {
  cst__wire_put_varint(w->out, cst__wire_out_size(w->out) - before);
  cst__wire_put_tag(w->out, number, CST__WIRE_LEN);
}

static cst_status put_nested(struct_writer *w, yyjson_val *value, uint32_t number, int depth) {
  size_t before = cst__wire_out_size(w->out);
  if (depth == 0) {
    return fail_struct_json(w, "a Struct in a Struct counts as three levels",
                            "lists and objects nest deeper than protobuf's limit of 100 levels");
  }
  CST__TRY(put_value_wire(w, value, depth - 1));
  put_head(w, number, before);
  return CST_OK;
}

static void put_string_wire(struct_writer *w, uint32_t number, yyjson_val *string) {
  size_t size = unsafe_yyjson_get_len(string);
  cst__wire_put_bytes(w->out, unsafe_yyjson_get_str(string), size);
  cst__wire_put_varint(w->out, size);
  cst__wire_put_tag(w->out, number, CST__WIRE_LEN);
}

/* The fields of a Struct. */
static cst_status put_object_wire(struct_writer *w, yyjson_val *object, int depth) {
  cst__json_doc *json = w->json;
  size_t first = json->num_stack;
  CST__TRY(cst__json_doc_push_keys(json, object, w->error));
  while (json->num_stack > first) {
    yyjson_val *key = json->stack[--json->num_stack];
    size_t before = cst__wire_out_size(w->out);
    w->place = key;
    CST__TRY(put_nested(w, key + 1, 2, depth > 0 ? depth - 1 : 0));
    put_string_wire(w, 1, key);
    put_head(w, 1, before);
  }
  return CST_OK;
}

/* The fields of a ListValue. */
static cst_status put_list_wire(struct_writer *w, yyjson_val *list, int depth) {
  cst__json_doc *json = w->json;
  size_t first = json->num_stack;
  size_t i;
  size_t count;
  yyjson_val *item;
  yyjson_arr_foreach(list, i, count, item) { CST__TRY(cst__json_doc_push(json, item, w->error)); }
  while (json->num_stack > first) {
    CST__TRY(put_nested(w, json->stack[--json->num_stack], 1, depth));
  }
  return CST_OK;
}

static cst_status put_number_wire(struct_writer *w, yyjson_val *value) {
  double number;
  uint64_t bits;
  if (!cst__json_double(value, &number)) {
    return fail_struct_json(w, NULL, "a number is beyond the range of a double");
  }
  memcpy(&bits, &number, sizeof bits);
  cst__wire_put_fixed64(w->out, bits);
  cst__wire_put_tag(w->out, 2, CST__WIRE_FIXED64);
  return CST_OK;
}

/* The fields of a Value. */
static cst_status put_value_wire(struct_writer *w, yyjson_val *value, int depth) {
  size_t before = cst__wire_out_size(w->out);
  bool is_object = yyjson_is_obj(value);
  switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_NUM:
    case YYJSON_TYPE_RAW:
      return put_number_wire(w, value);
    case YYJSON_TYPE_STR:
      put_string_wire(w, 3, value);
      return CST_OK;
    case YYJSON_TYPE_BOOL:
    case YYJSON_TYPE_NULL:
      cst__wire_put_varint(w->out, yyjson_is_true(value));
      cst__wire_put_tag(w->out, yyjson_is_bool(value) ? 4 : 1, CST__WIRE_VARINT);
      return CST_OK;
    default:
      break;
  }
  if (depth == 0) {
    return fail_struct_json(w, NULL, "lists and objects nest deeper than protobuf's limit");
  }
  CST__TRY(is_object ? put_object_wire(w, value, depth - 1) : put_list_wire(w, value, depth - 1));
  put_head(w, is_object ? 5 : 6, before);
  return CST_OK;
}

static cst_status put_root_wire(struct_writer *w, cst__struct_kind kind, yyjson_val *root,
                                int depth) {
  if (kind == CST__STRUCT_VALUE) {
    return put_value_wire(w, root, depth);
  }
  if (kind == CST__STRUCT_OBJECT) {
    return yyjson_is_obj(root) ? put_object_wire(w, root, depth)
                               : fail_struct_json(w, NULL, "a Struct is a JSON object");
  }
  return yyjson_is_arr(root) ? put_list_wire(w, root, depth)
                             : fail_struct_json(w, NULL, "a ListValue is a JSON list");
}

cst_status cst__struct_from_json(cst__struct_json *state, cst__struct_kind kind, cst_bytes json,
                                 int depth, cst_bytes *wire, cst_error *error) {
  struct_writer w = {.json = &state->json, .out = &state->out, .error = error};
  yyjson_val *root;
  state->out.free = state->out.capacity;
  cst_status status = cst__json_doc_parse(&state->json, json, &root, error);
  status = status == CST_OK ? put_root_wire(&w, kind, root, depth) : status;
  if (status == CST_OK && state->out.failed) {
    status = cst__fail_memory(error, cst__wire_out_size(&state->out));
  }
  if (state->out.failed) {
    cst__wire_out_free(&state->out);
  }
  *wire = (cst_bytes){state->out.data + state->out.free, cst__wire_out_size(&state->out)};
  return status;
}
