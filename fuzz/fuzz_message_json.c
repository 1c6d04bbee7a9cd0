/* Bytes as a message in protobuf's JSON; the same as the JSON of a Value, and as the bytes of one:
 * both ways between them give the same.
 */
#include "message/text/struct_json.h"
#include "record_feed.h"

/* A value that is in normal form: as text and back it stays the same. */
static void check_value(cst__struct_json *state, cst_bytes text) {
  cst__struct_json other;
  cst_bytes wire;
  cst_bytes again;
  cst__struct_json_init(&other, NULL);
  if (cst__struct_from_json(state, CST__STRUCT_VALUE, text, CST__DEPTH_LIMIT, &wire, NULL) ==
      CST_OK) {
    FUZZ_ASSERT(cst__struct_to_json(&other, CST__STRUCT_VALUE, wire, CST__DEPTH_LIMIT, &text,
                                    NULL) == CST_OK);
    FUZZ_ASSERT(cst__struct_from_json(&other, CST__STRUCT_VALUE, text, CST__DEPTH_LIMIT, &again,
                                      NULL) == CST_OK);
    FUZZ_ASSERT(again.size == wire.size);
    FUZZ_ASSERT(wire.size == 0 || memcmp(again.data, wire.data, wire.size) == 0);
  }
  cst__struct_json_reset(&other);
}

/* Bytes of a Value, in any form. */
static void check_value_bytes(cst__struct_json *state, cst_bytes wire) {
  cst__struct_json other;
  cst_bytes text;
  cst_bytes normal;
  cst_error error = CST_ERROR_INIT;
  cst__struct_json_init(&other, NULL);
  cst_status status =
      cst__struct_to_json(state, CST__STRUCT_VALUE, wire, CST__DEPTH_LIMIT, &text, &error);
  if (status == CST_OK) {
    FUZZ_ASSERT(cst__struct_from_json(&other, CST__STRUCT_VALUE, text, 2 * CST__DEPTH_LIMIT,
                                      &normal, NULL) == CST_OK);
  } else {
    FUZZ_ASSERT(status == CST_CORRUPT || status == CST_SCHEMA);
    check_record_error(status, &error);
  }
  cst__struct_json_reset(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  cst__struct_json state;
  cst__struct_json_init(&state, NULL);
  check_value(&state, (cst_bytes){data, size});
  check_value_bytes(&state, (cst_bytes){data, size});
  cst__struct_json_reset(&state);
  feed_record(CST_MESSAGE_JSON, data, size);
  return 0;
}
