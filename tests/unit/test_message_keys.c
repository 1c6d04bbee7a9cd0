/* Message options by name. */
#include "message/message_keys.h"

#include "harness.h"

TEST(every_kind_of_option) {
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  CHECK_EQ(cst__message_options_set(&options, "form", "json", NULL), CST_OK);
  CHECK_EQ(cst__message_options_set(&options, "enums", "number", NULL), CST_OK);
  CHECK_EQ(cst__message_options_set(&options, "defaults", "true", NULL), CST_OK);
  CHECK_EQ(cst__message_options_set(&options, "plain_types", "true", NULL), CST_OK);
  CHECK_EQ(cst__message_options_set(&options, "defaults", "false", NULL), CST_OK);
  CHECK_EQ(cst__message_options_set(&options, "time_zone", "Europe/Berlin", NULL), CST_OK);
  CHECK_EQ(cst__message_options_set(&options, "time_unit", "ms", NULL), CST_OK);
  CHECK_EQ(cst__message_options_set(&options, "recursion", "0", NULL), CST_OK);
  CHECK_EQ(options.form, CST_MESSAGE_JSON);
  CHECK_EQ(options.enums, CST_ENUMS_NUMBER);
  CHECK_EQ(options.flags, CST_MESSAGE_PLAIN_TYPES);
  CHECK_STR(options.time_zone, "Europe/Berlin");
  CHECK_EQ(options.time_unit, CST_TIME_MILLISECOND);
  CHECK_EQ(options.recursion, -1);
  CHECK_EQ(cst__message_options_set(&options, "recursion", "7", NULL), CST_OK);
  CHECK_EQ(options.recursion, 7);
  CHECK_EQ(cst__message_options_set(&options, "enums", "int32", NULL), CST_OK);
  CHECK_EQ(options.enums, CST_ENUMS_NUMBER);
}

TEST(names_and_values_that_are_none) {
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__message_options_set(&options, "enum", "text", &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "enum");
  CHECK_STR(error.hint, "did you mean 'enums'?");
  CHECK_EQ(cst__message_options_set(&options, "enums", "texts", &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "the option enums does not take 'texts'");
  CHECK_STR(error.hint, "did you mean 'text'?");
  CHECK_EQ(cst__message_options_set(&options, "defaults", "1", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst__message_options_set(&options, "recursion", "101", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst__message_options_set(&options, "recursion", "1x", &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "the option recursion takes a number from 0 to 100, not '1x'");
}
