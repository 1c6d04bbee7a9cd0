/* The table of message options, and what is done by it. */
#include "message/message_options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/names.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "proto/descriptor_set.h"

enum { USUAL_RECURSION = 2, MOST_TIME_ZONE = 64 };

/* ---- the table ---- */

#define OPTION_AT(member) offsetof(cst_message_options, member)
#define FLAG_OPTION(name, flag, in_queries) \
  { name, CST__OPTION_FLAG, flag, OPTION_AT(flags), {"false", "true"}, NULL, 3, in_queries }
#define TEXT_OPTION(name, usual, number, in_queries) \
  { #name, CST__OPTION_TEXT, 0, OPTION_AT(name), {NULL }, usual, number, in_queries }
#define UNIT_OPTION(name, number) \
  { #name, CST__OPTION_WORD, 0, OPTION_AT(name), {"ns", "us", "ms", "s" }, NULL, number, true }

/* In the order that texts have them in. Queries name the values of maps by themselves, reach what
 * is declared to any depth and nothing else, and give their outputs types of their own. */
static const cst__message_option message_options[] = {
    {"form",
     CST__OPTION_WORD,
     0,
     OPTION_AT(form),
     {"binary", "text", "json", "confluent", "confluent_plain"},
     NULL,
     4,
     true},
    {"enums",
     CST__OPTION_WORD,
     0,
     OPTION_AT(enums),
     {"dictionary", "text", "int32", "binary"},
     NULL,
     5,
     true},
    FLAG_OPTION("defaults", CST_MESSAGE_DEFAULTS, true),
    FLAG_OPTION("nullable_lists", CST_MESSAGE_NULLABLE_LISTS, true),
    FLAG_OPTION("nullable_items", CST_MESSAGE_NULLABLE_ITEMS, false),
    FLAG_OPTION("plain_types", CST_MESSAGE_PLAIN_TYPES, true),
    FLAG_OPTION("binary_strings", CST_MESSAGE_BINARY_STRINGS, true),
    FLAG_OPTION("maps_as_lists", CST_MESSAGE_MAPS_AS_LISTS, true),
    FLAG_OPTION("ignore_unknown", CST_MESSAGE_IGNORE_UNKNOWN, true),
    UNIT_OPTION(timestamp_unit, 6),
    TEXT_OPTION(time_zone, "UTC", 10, true),
    UNIT_OPTION(duration_unit, 7),
    UNIT_OPTION(time_unit, 8),
    {"recursion", CST__OPTION_NUMBER, 0, OPTION_AT(recursion), {NULL}, "2", 9, false},
    TEXT_OPTION(unknown_fields, NULL, 11, false),
    TEXT_OPTION(list_item, "item", 12, false),
    TEXT_OPTION(map_key, "key", 13, false),
    TEXT_OPTION(map_value, "value", 14, false),
    TEXT_OPTION(field_number_key, NULL, 15, false),
};
enum { NUM_OPTIONS = sizeof message_options / sizeof *message_options };

const cst__message_option *cst__message_option_at(size_t i) {
  return i < NUM_OPTIONS ? &message_options[i] : NULL;
}

const char *cst_message_option_name(size_t i) {
  return i < NUM_OPTIONS ? message_options[i].name : NULL;
}

static const char *nth_option_name(const void *items, size_t i) {
  return ((const cst__message_option *)items)[i].name;
}

static const char *nth_option_word(const void *items, size_t i) {
  return ((const cst__message_option *)items)->words[i];
}

static cst__name_list option_words(const cst__message_option *option) {
  cst__name_list words = {option, 0, nth_option_word};
  while (words.count < CST__OPTION_WORDS && option->words[words.count] != NULL) {
    words.count++;
  }
  return words;
}

/* ---- values ---- */

const char **cst__message_option_string(const cst__message_option *option,
                                        cst_message_options *options) {
  return (const char **)(void *)((char *)options + option->offset);
}

int64_t cst__message_option_number(const cst__message_option *option,
                                   const cst_message_options *options) {
  int32_t number; /* enums are as large */
  memcpy(&number, (const char *)options + option->offset, sizeof number);
  return option->kind == CST__OPTION_FLAG ? (int64_t)((uint32_t)number & option->flag) : number;
}

bool cst__message_option_set_number(const cst__message_option *option, int64_t number,
                                    cst_message_options *options) {
  if (option->kind == CST__OPTION_FLAG) {
    options->flags = (options->flags & ~option->flag) | ((uint32_t)number & option->flag);
    return true;
  }
  int64_t least = option->kind == CST__OPTION_NUMBER ? -1 : 0;
  int64_t most = option->kind == CST__OPTION_NUMBER ? CST__MOST_RECURSION
                                                    : (int64_t)option_words(option).count - 1;
  if (number < least || number > most) {
    return false;
  }
  int32_t own = (int32_t)number;
  memcpy((char *)options + option->offset, &own, sizeof own);
  return true;
}

const char *cst__message_option_text(const cst__message_option *option,
                                     const cst_message_options *options,
                                     char room[CST_MESSAGE_OPTION_ROOM]) {
  if (option->kind == CST__OPTION_TEXT) {
    return *(const char *const *)(const void *)((const char *)options + option->offset);
  }
  int64_t number = cst__message_option_number(option, options);
  if (option->kind == CST__OPTION_NUMBER) {
    snprintf(room, CST_MESSAGE_OPTION_ROOM, "%d",
             number < 0    ? 0
             : number == 0 ? USUAL_RECURSION
                           : (int)number);
    return room;
  }
  return option->words[option->kind == CST__OPTION_FLAG ? number != 0 : number];
}

bool cst__message_option_equal(const cst__message_option *option, const cst_message_options *a,
                               const cst_message_options *b) {
  char room_a[CST_MESSAGE_OPTION_ROOM];
  char room_b[CST_MESSAGE_OPTION_ROOM];
  const char *text_a = cst__message_option_text(option, a, room_a);
  const char *text_b = cst__message_option_text(option, b, room_b);
  return text_a == NULL || text_b == NULL ? text_a == text_b : strcmp(text_a, text_b) == 0;
}

/* ---- setting ---- */

/* "a, b or c" */
static void join_words(char *out, size_t room, const cst__name_list *words) {
  size_t used = 0;
  for (size_t i = 0; i < words->count && used < room; i++) {
    const char *before = i == 0 ? "" : i + 1 == words->count ? " or " : ", ";
    used += (size_t)snprintf(out + used, room - used, "%s%s", before, words->nth(words->items, i));
  }
}

static cst_status set_option_word(const cst__message_option *option, const char *value,
                                  cst_message_options *options, cst_error *error) {
  cst__name_list words = option_words(option);
  size_t found = 0;
  while (found < words.count && strcmp(value, option->words[found]) != 0) {
    found++;
  }
  if (option->offset == OPTION_AT(enums) && strcmp(value, "number") == 0) {
    found = CST_ENUMS_NUMBER; /* as it is called in C */
  }
  if (found == words.count) {
    char hint[CST__NEAR_HINT];
    char expected[96];
    join_words(expected, sizeof expected, &words);
    return cst__fail(error, CST_INVALID_ARGUMENT, cst__near_hint(hint, value, &words),
                     "message option %s is '%.40s': expected %s", option->name, value, expected);
  }
  int64_t number = option->kind == CST__OPTION_FLAG && found == 1 ? option->flag : (int64_t)found;
  (void)cst__message_option_set_number(option, number, options);
  return CST_OK;
}

static cst_status set_option_count(const cst__message_option *option, const char *value,
                                   cst_message_options *options, cst_error *error) {
  char *end;
  long number = strtol(value, &end, 10);
  if (end == value || *end != '\0' || number < 0 || number > CST__MOST_RECURSION) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "message option %s is '%.40s': expected a number from 0 to %d", option->name,
                     value, CST__MOST_RECURSION);
  }
  (void)cst__message_option_set_number(option, number == 0 ? -1 : number, options);
  return CST_OK;
}

static cst_status set_option(const cst__message_option *option, const char *value,
                             cst_message_options *options, cst_error *error) {
  if (option->kind == CST__OPTION_TEXT) {
    *cst__message_option_string(option, options) = value;
    return CST_OK;
  }
  return option->kind == CST__OPTION_NUMBER ? set_option_count(option, value, options, error)
                                            : set_option_word(option, value, options, error);
}

/* Names go into the schema, which is UTF-8. */
static cst_status check_option(const cst__message_option *option, cst_message_options *options,
                               cst_error *error) {
  if (option->kind != CST__OPTION_TEXT) {
    int64_t number = cst__message_option_number(option, options);
    return cst__message_option_set_number(option, number, options)
               ? CST_OK
               : cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                           "message option %s is out of its range: %lld", option->name,
                           (long long)number);
  }
  const char *text = *cst__message_option_string(option, options);
  return text == NULL || cst__utf8_valid((const uint8_t *)text, strlen(text))
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT, NULL, "message option %s is not UTF-8",
                         option->name);
}

static cst_status find_option(const char *name, const cst__message_option **out, cst_error *error) {
  const cst__name_list names = {message_options, NUM_OPTIONS, nth_option_name};
  for (size_t i = 0; i < NUM_OPTIONS; i++) {
    if (strcmp(message_options[i].name, name) == 0) {
      *out = &message_options[i];
      return CST_OK;
    }
  }
  return cst__fail_unknown(error, CST_NOT_FOUND, "messages have no option of this name", name,
                           &names);
}

cst_status cst_message_options_set(cst_message_options *options, const char *name,
                                   const char *value, cst_error *error) {
  cst_message_options own = CST_MESSAGE_OPTIONS_INIT;
  const cst__message_option *option;
  if (options == NULL || name == NULL || value == NULL) {
    return cst__missing(options == NULL ? "options" : name == NULL ? "name" : "value", error);
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(find_option(name, &option, error));
  CST__TRY(set_option(option, value, &own, error));
  size_t size = options->size; /* of the caller's version */
  memcpy(options, &own, size < sizeof own ? size : sizeof own);
  options->size = size;
  return CST_OK;
}

cst_status cst_message_options_get(const cst_message_options *options, const char *name,
                                   char room[CST_MESSAGE_OPTION_ROOM], const char **value,
                                   cst_error *error) {
  cst_message_options own = CST_MESSAGE_OPTIONS_INIT;
  const cst__message_option *option;
  CST__CLEAR(value);
  if (options == NULL || name == NULL || room == NULL || value == NULL) {
    return cst__missing(options == NULL ? "options"
                        : name == NULL  ? "name"
                        : room == NULL  ? "room"
                                        : "value",
                        error);
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(find_option(name, &option, error));
  CST__TRY(check_option(option, &own, error));
  *value = cst__message_option_text(option, &own, room);
  *value = *value != NULL ? *value : option->usual;
  return CST_OK;
}

/* ---- settling ---- */

static void settle_option(const cst__message_option *option, cst_message_options *options) {
  if (option->kind == CST__OPTION_TEXT) {
    const char **text = cst__message_option_string(option, options);
    *text = *text != NULL ? *text : option->usual;
  } else if (option->kind == CST__OPTION_NUMBER &&
             cst__message_option_number(option, options) == 0) {
    (void)cst__message_option_set_number(option, USUAL_RECURSION, options);
  }
}

cst_status cst__message_options_settle(cst_message_options *options, cst_error *error) {
  if (options->descriptors == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT,
                     "give a FileDescriptorSet: --proto-set, or message= in Python",
                     "a message cannot be read without its description");
  }
  for (size_t i = 0; i < NUM_OPTIONS; i++) {
    CST__TRY(check_option(&message_options[i], options, error));
    settle_option(&message_options[i], options);
  }
  if (options->form == CST_MESSAGE_TEXT && (options->flags & CST_MESSAGE_IGNORE_UNKNOWN) != 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "leave ignore_unknown out, or use form json",
                     "ignore_unknown does not work for the text format");
  }
  if (strlen(options->time_zone) > MOST_TIME_ZONE) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the name of the time zone is too long");
  }
  if (strcmp(options->map_key, options->map_value) == 0) {
    cst_status status =
        cst__fail(error, CST_INVALID_ARGUMENT, "give map_key and map_value names of their own",
                  "keys and values of maps have the same name");
    cst__error_add_path(error, options->map_key, strlen(options->map_key));
    return status;
  }
  return CST_OK;
}

cst_message_options cst__message_options_usual(void) {
  cst_message_options usual = CST_MESSAGE_OPTIONS_INIT;
  for (size_t i = 0; i < NUM_OPTIONS; i++) {
    settle_option(&message_options[i], &usual);
  }
  return usual;
}

void cst__message_options_settle_for_query(cst_message_options *options) {
  cst_message_options usual = cst__message_options_usual();
  for (size_t i = 0; i < NUM_OPTIONS; i++) {
    const cst__message_option *option = &message_options[i];
    if (!option->in_queries && option->kind == CST__OPTION_TEXT) {
      *cst__message_option_string(option, options) = option->usual;
    } else if (!option->in_queries) {
      int64_t number = cst__message_option_number(option, &usual);
      (void)cst__message_option_set_number(option, number, options);
    }
  }
  if (options->enums == CST_ENUMS_DICTIONARY) {
    options->enums = CST_ENUMS_TEXT; /* as queries see them */
  }
}

/* ---- copies ---- */

static cst_status copy_text(const char **text, cst__arena *arena, cst_error *error) {
  if (*text == NULL) {
    return CST_OK;
  }
  size_t size = strlen(*text);
  *text = cst__arena_copy(arena, *text, size);
  return *text != NULL ? CST_OK : cst__fail_memory(error, size);
}

cst_status cst__message_options_copy(const cst_message_options *from, cst__arena *arena,
                                     const cst_message_options **out, cst_error *error) {
  cst_message_options own = CST_MESSAGE_OPTIONS_INIT;
  *out = NULL;
  if (from == NULL) {
    return CST_OK;
  }
  cst__sized_copy(&own, sizeof own, from);
  CST__TRY(copy_text(&own.message, arena, error));
  for (size_t i = 0; i < NUM_OPTIONS; i++) {
    if (message_options[i].kind == CST__OPTION_TEXT) {
      CST__TRY(copy_text(cst__message_option_string(&message_options[i], &own), arena, error));
    }
  }
  cst_message_options *copy = cst__arena_take(arena, sizeof *copy);
  if (copy == NULL) {
    return cst__fail_memory(error, sizeof *copy);
  }
  own.descriptors = own.descriptors != NULL ? cst_descriptors_retain(own.descriptors) : NULL;
  *copy = own;
  *out = copy;
  return CST_OK;
}

void cst__message_options_release(const cst_message_options *options) {
  if (options != NULL) {
    cst_descriptors_release((cst_descriptors *)(uintptr_t)options->descriptors);
  }
}
