/* The table of message options. */
#include "message/message_options.h"

#include <stddef.h>

#include "harness.h"
#include "message_sample.h"

TEST(every_kind_of_option) {
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  CHECK_EQ(cst_message_options_set(&options, "form", "json", NULL), CST_OK);
  CHECK_EQ(cst_message_options_set(&options, "enums", "number", NULL), CST_OK);
  CHECK_EQ(cst_message_options_set(&options, "defaults", "true", NULL), CST_OK);
  CHECK_EQ(cst_message_options_set(&options, "plain_types", "true", NULL), CST_OK);
  CHECK_EQ(cst_message_options_set(&options, "defaults", "false", NULL), CST_OK);
  CHECK_EQ(cst_message_options_set(&options, "ignore_unknown", "true", NULL), CST_OK);
  CHECK_EQ(cst_message_options_set(&options, "time_zone", "Europe/Berlin", NULL), CST_OK);
  CHECK_EQ(cst_message_options_set(&options, "time_unit", "ms", NULL), CST_OK);
  CHECK_EQ(cst_message_options_set(&options, "recursion", "0", NULL), CST_OK);
  CHECK_EQ(options.form, CST_MESSAGE_JSON);
  CHECK_EQ(options.enums, CST_ENUMS_NUMBER);
  CHECK_EQ(options.flags, CST_MESSAGE_PLAIN_TYPES | CST_MESSAGE_IGNORE_UNKNOWN);
  CHECK_STR(options.time_zone, "Europe/Berlin");
  CHECK_EQ(options.time_unit, CST_TIME_MILLISECOND);
  CHECK_EQ(options.recursion, -1);
  CHECK_EQ(cst_message_options_set(&options, "recursion", "7", NULL), CST_OK);
  CHECK_EQ(options.recursion, 7);
  CHECK_EQ(cst_message_options_set(&options, "enums", "int32", NULL), CST_OK);
  CHECK_EQ(options.enums, CST_ENUMS_NUMBER);
}

TEST(names_and_values_that_are_none) {
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_message_options_set(&options, "enum", "text", &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "message has no option 'enum'");
  CHECK_STR(error.hint, "did you mean 'enums'?");
  CHECK_EQ(cst_message_options_set(&options, "enums", "texts", &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message,
            "message option enums is 'texts': expected dictionary, text, int32 or binary");
  CHECK_STR(error.hint, "did you mean 'text'?");
  CHECK_EQ(cst_message_options_set(&options, "defaults", "1", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_message_options_set(&options, "recursion", "101", &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_message_options_set(&options, "recursion", "1x", &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "message option recursion is '1x': expected a number from 0 to 100");
}

/* Each option and each of its values: set, said again, copied; settling twice changes nothing. */
TEST(values_are_said_as_they_are_set) {
  cst_descriptors *set = sample_descriptors();
  const cst__message_option *option;
  for (size_t i = 0; (option = cst__message_option_at(i)) != NULL; i++) {
    const char *const texts[] = {"a", "", "0", "1", "7", "100"};
    bool is_text = option->own.info.kind == CST_OPTION_TEXT;
    bool is_number = option->own.info.kind == CST_OPTION_NUMBER;
    static const char *const truths[CST_OPTION_WORDS] = {"false", "true"};
    const char *const *values = is_text || is_number ? texts + 2 * is_number
                                : option->own.info.kind == CST_OPTION_SWITCH
                                    ? truths
                                    : option->own.info.words;
    size_t count = is_text ? 2 : is_number ? 4 : CST_OPTION_WORDS;
    for (size_t k = 0; k < count && values[k] != NULL; k++) {
      cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
      char room[CST_MESSAGE_OPTION_ROOM];
      options.descriptors = set;
      CHECK_EQ(cst_message_options_set(&options, option->own.info.name, values[k], NULL), CST_OK);
      CHECK_STR(cst__option_text(&option->own, &options, room), values[k]);
      const char *got;
      CHECK_EQ(cst_message_options_get(&options, option->own.info.name, room, &got, NULL), CST_OK);
      CHECK_STR(got, values[k]);
      CHECK_EQ(cst__message_options_settle(&options, NULL), CST_OK);
      CHECK_STR(cst__option_text(&option->own, &options, room), values[k]);
      const cst_message_options once = options;
      CHECK_EQ(cst__message_options_settle(&options, NULL), CST_OK);
      CHECK_EQ(memcmp(&once, &options, sizeof once), 0);
    }
  }
  cst_descriptors_release(set);
}

/* Unset options have their usual values, if there are any. */
TEST(usual_values_by_name) {
  static const char *const usual[][2] = {{"form", "binary"},    {"enums", "dictionary"},
                                         {"defaults", "false"}, {"time_zone", "UTC"},
                                         {"recursion", "2"},    {"timestamp_unit", "ns"},
                                         {"map_key", "key"},    {"unknown_fields", NULL}};
  const cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  cst_message_options wrong = CST_MESSAGE_OPTIONS_INIT;
  char room[CST_MESSAGE_OPTION_ROOM];
  const char *value;
  cst_error error = CST_ERROR_INIT;
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
    CHECK_EQ(cst_message_options_get(&options, usual[i][0], room, &value, NULL), CST_OK);
    if (usual[i][1] == NULL) {
      CHECK(value == NULL);
    } else {
      CHECK_STR(value, usual[i][1]);
    }
  }
  CHECK_EQ(cst_message_options_get(&options, "enum", room, &value, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.hint, "did you mean 'enums'?");
  CHECK(value == NULL);
  CHECK_EQ(cst_message_options_get(&options, "enums", room, NULL, &error), CST_INVALID_ARGUMENT);
  wrong.enums = (cst_message_enums)99;
  CHECK_EQ(cst_message_options_get(&wrong, "enums", room, &value, &error), CST_INVALID_ARGUMENT);
}

TEST(values_out_of_range) {
  cst_descriptors *set = sample_descriptors();
  cst_error error = CST_ERROR_INIT;
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  options.descriptors = set;
  options.recursion = CST__MOST_RECURSION + 1;
  CHECK_EQ(cst__message_options_settle(&options, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "message option recursion is out of its range: 101");
  options.recursion = 0;
  options.time_unit = (cst_time_unit)4;
  CHECK_EQ(cst__message_options_settle(&options, &error), CST_INVALID_ARGUMENT);
  cst_descriptors_release(set);
}

/* An older version's options are shorter; nothing is written behind them. */
TEST(options_of_another_version) {
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  options.size = offsetof(cst_message_options, field_number_key);
  options.field_number_key = "kept";
  CHECK_EQ(cst_message_options_set(&options, "map_key", "k", NULL), CST_OK);
  CHECK_STR(options.map_key, "k");
  CHECK_STR(options.field_number_key, "kept");
  CHECK_EQ(options.size, offsetof(cst_message_options, field_number_key));
  CHECK_EQ(cst_message_options_set(NULL, "map_key", "k", NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_message_options_set(&options, "map_key", NULL, NULL), CST_INVALID_ARGUMENT);
  CHECK_STR(cst_message_option_get(0)->name, "form");
  CHECK(cst_message_option_get(19) == NULL);
}
