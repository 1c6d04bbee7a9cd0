/* Which message types are more than their fields. */
#include "message/text/well_known.h"

#include "harness.h"

static cst__well_known known_as(const char *name, const cst__field_def *fields, size_t count) {
  cst__message_def def = {.full_name = name, .fields = fields, .num_fields = count};
  return cst__well_known_of(&def);
}

TEST(name_and_fields) {
  const cst__field_def time[] = {{.number = 1, .type = CST__FIELD_INT64},
                                 {.number = 2, .type = CST__FIELD_INT32}};
  CHECK_EQ(known_as("google.protobuf.Timestamp", time, 2), CST__WELL_KNOWN_TIMESTAMP);
  CHECK_EQ(known_as("google.protobuf.Duration", time, 2), CST__WELL_KNOWN_DURATION);
  CHECK_EQ(known_as("google.protobuf.Timestamp", time, 1), CST__WELL_KNOWN_NONE);
  CHECK_EQ(known_as("google.protobuf.Int64Value", time, 1), CST__WELL_KNOWN_WRAPPER);
  CHECK_EQ(known_as("google.protobuf.Int32Value", time, 1), CST__WELL_KNOWN_NONE);
  CHECK_EQ(known_as("google.protobuf.Any", time, 2), CST__WELL_KNOWN_NONE);
  CHECK_EQ(known_as("google.protobuf.Empty", NULL, 0), CST__WELL_KNOWN_NONE);
  CHECK_EQ(known_as("shop.Timestamp", time, 2), CST__WELL_KNOWN_NONE);
}

TEST(lists_and_maps) {
  const cst__field_def text[] = {{.number = 1, .type = CST__FIELD_STRING}};
  const cst__field_def texts[] = {
      {.number = 1, .type = CST__FIELD_STRING, .flags = CST__FIELD_REPEATED}};
  CHECK_EQ(known_as("google.protobuf.FieldMask", texts, 1), CST__WELL_KNOWN_FIELD_MASK);
  CHECK_EQ(known_as("google.protobuf.FieldMask", text, 1), CST__WELL_KNOWN_NONE);

  const cst__message_def value = {.full_name = "google.protobuf.Value"};
  const cst__field_def entry_fields[] = {
      {.number = 1, .type = CST__FIELD_STRING},
      {.number = 2, .type = CST__FIELD_MESSAGE, .message = &value}};
  cst__message_def entry = {.fields = entry_fields, .num_fields = 2, .is_map_entry = true};
  const cst__field_def fields[] = {
      {.number = 1, .type = CST__FIELD_MESSAGE, .flags = CST__FIELD_REPEATED, .message = &entry}};
  CHECK_EQ(known_as("google.protobuf.Struct", fields, 1), CST__WELL_KNOWN_STRUCT);
  CHECK_EQ(known_as("google.protobuf.ListValue", fields, 1), CST__WELL_KNOWN_LIST_VALUE);
  entry.is_map_entry = false;
  CHECK_EQ(known_as("google.protobuf.Struct", fields, 1), CST__WELL_KNOWN_NONE);
}
