/* Message options by name. */
#include "message/message_keys.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

enum { MOST_OPTION_WORDS = 5, MOST_OPTION_RECURSION = 100 };

typedef enum option_kind { OPTION_WORD, OPTION_FLAG, OPTION_TEXT, OPTION_NUMBER } option_kind;

typedef struct option_key {
  const char *name;
  option_kind kind;
  uint32_t flag;
  size_t offset;
  const char *words[MOST_OPTION_WORDS]; /* in the order of their numbers */
} option_key;

#define OPTION_AT(member) offsetof(cst_message_options, member)
#define FLAG_KEY(name, flag)                                       \
  {                                                                \
    name, OPTION_FLAG, flag, OPTION_AT(flags), { "false", "true" } \
  }
#define TEXT_KEY(name)                               \
  {                                                  \
#name, OPTION_TEXT, 0, OPTION_AT(name), { NULL } \
  }
#define UNIT_KEY(name)                                                \
  {                                                                   \
#name, OPTION_WORD, 0, OPTION_AT(name), { "ns", "us", "ms", "s" } \
  }

static const option_key option_keys[] = {
    {"form",
     OPTION_WORD,
     0,
     OPTION_AT(form),
     {"binary", "text", "json", "confluent", "confluent_plain"}},
    {"enums", OPTION_WORD, 0, OPTION_AT(enums), {"dictionary", "text", "number", "binary"}},
    FLAG_KEY("defaults", CST_MESSAGE_DEFAULTS),
    FLAG_KEY("nullable_lists", CST_MESSAGE_NULLABLE_LISTS),
    FLAG_KEY("nullable_items", CST_MESSAGE_NULLABLE_ITEMS),
    FLAG_KEY("plain_types", CST_MESSAGE_PLAIN_TYPES),
    FLAG_KEY("binary_strings", CST_MESSAGE_BINARY_STRINGS),
    FLAG_KEY("maps_as_lists", CST_MESSAGE_MAPS_AS_LISTS),
    UNIT_KEY(timestamp_unit),
    TEXT_KEY(time_zone),
    UNIT_KEY(duration_unit),
    UNIT_KEY(time_unit),
    {"recursion", OPTION_NUMBER, 0, OPTION_AT(recursion), {NULL}},
    TEXT_KEY(unknown_fields),
    TEXT_KEY(list_item),
    TEXT_KEY(map_key),
    TEXT_KEY(map_value),
    TEXT_KEY(field_number_key),
};
enum { NUM_OPTION_KEYS = sizeof option_keys / sizeof option_keys[0] };

static const char *nth_option_name(const void *items, size_t i) {
  return ((const option_key *)items)[i].name;
}

static const char *nth_option_word(const void *items, size_t i) {
  return ((const option_key *)items)->words[i];
}

static cst_status set_option_word(const option_key *key, const char *value, void *place,
                                  cst_error *error) {
  cst__name_list words = {key, 0, nth_option_word};
  size_t found = SIZE_MAX;
  for (; words.count < MOST_OPTION_WORDS && key->words[words.count] != NULL; words.count++) {
    if (strcmp(value, key->words[words.count]) == 0) {
      found = words.count;
    }
  }
  if (found == SIZE_MAX && key->offset == OPTION_AT(enums) && strcmp(value, "int32") == 0) {
    found = CST_ENUMS_NUMBER; /* its type, as command lines say */
  }
  if (found == SIZE_MAX) {
    char hint[CST__NEAR_HINT];
    return cst__fail(error, CST_INVALID_ARGUMENT, cst__near_hint(hint, value, &words),
                     "the option %s does not take '%.40s'", key->name, value);
  }
  if (key->kind == OPTION_WORD) {
    int number = (int)found; /* of an enum */
    memcpy(place, &number, sizeof number);
  } else {
    uint32_t *flags = place;
    *flags = found == 1 ? *flags | key->flag : *flags & ~key->flag;
  }
  return CST_OK;
}

static cst_status set_option_number(const option_key *key, const char *value, int32_t *place,
                                    cst_error *error) {
  char *end;
  long number = strtol(value, &end, 10);
  if (end == value || *end != '\0' || number < 0 || number > MOST_OPTION_RECURSION) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "the option %s takes a number from 0 to %d, not '%.40s'", key->name,
                     MOST_OPTION_RECURSION, value);
  }
  *place = number == 0 ? -1 : (int32_t)number; /* 0 is the usual one there */
  return CST_OK;
}

cst_status cst__message_options_set(cst_message_options *options, const char *name,
                                    const char *value, cst_error *error) {
  const option_key *key = option_keys;
  while (key < option_keys + NUM_OPTION_KEYS && strcmp(key->name, name) != 0) {
    key++;
  }
  if (key == option_keys + NUM_OPTION_KEYS) {
    const cst__name_list names = {option_keys, NUM_OPTION_KEYS, nth_option_name};
    return cst__fail_unknown(error, CST_NOT_FOUND, "messages have no option of this name", name,
                             &names);
  }
  void *place = (char *)options + key->offset;
  if (key->kind == OPTION_NUMBER) {
    return set_option_number(key, value, place, error);
  }
  if (key->kind == OPTION_TEXT) {
    memcpy(place, &value, sizeof value);
    return CST_OK;
  }
  return set_option_word(key, value, place, error);
}
