/* The table of message options, and what is done by it. */
#include "message/message_options.h"

#include <stddef.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/sized.h"
#include "proto/descriptor_set.h"

enum { MOST_TIME_ZONE = 64 };

/* ---- the table ---- */

#define OPTION_AT(member) .offset = offsetof(cst_message_options, member)
#define FLAG_OPTION(name_, flag, in_queries_)                                                   \
  {                                                                                             \
    .own = {.info = {.name = name_, .kind = CST_OPTION_SWITCH}, OPTION_AT(flags), .bit = flag}, \
    .saved_number = 3, .in_queries = in_queries_                                                \
  }
#define TEXT_OPTION(name_, usual_, number, in_queries_)                                            \
  {                                                                                                \
    .own = {.info = {.name = #name_, .kind = CST_OPTION_TEXT, .usual = usual_}, OPTION_AT(name_)}, \
    .saved_number = number, .in_queries = in_queries_                                              \
  }
#define WORD_OPTION(name_, number, ...)                                                        \
  {                                                                                            \
    .own = {.info = {.name = #name_, .kind = CST_OPTION_WORD, __VA_ARGS__}, OPTION_AT(name_)}, \
    .saved_number = number, .in_queries = true                                                 \
  }
#define UNIT_OPTION(name, number) WORD_OPTION(name, number, .words = {"ns", "us", "ms", "s"})

/* In the order that texts have them in. Queries name the values of maps by themselves, reach what
 * is declared to any depth and nothing else, and give their outputs types of their own. */
static const cst__message_option message_options[] = {
    WORD_OPTION(form, 4, .words = {"binary", "text", "json", "confluent", "confluent_plain"}),
    WORD_OPTION(enums, 5, .words = {"dictionary", "text", "int32", "binary"}),
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
    {.own = {.info = {.name = "recursion",
                      .kind = CST_OPTION_NUMBER,
                      .most = CST__MOST_RECURSION,
                      .usual = "2"},
             OPTION_AT(recursion)},
     .saved_number = 9},
    TEXT_OPTION(unknown_fields, NULL, 11, false),
    TEXT_OPTION(list_item, "item", 12, false),
    TEXT_OPTION(map_key, "key", 13, false),
    TEXT_OPTION(map_value, "value", 14, false),
    TEXT_OPTION(field_number_key, NULL, 15, false),
};
enum { NUM_OPTIONS = sizeof message_options / sizeof *message_options };

static const cst__option_table table = {.owner = "message",
                                        .options = &message_options[0].own,
                                        .count = NUM_OPTIONS,
                                        .stride = sizeof *message_options,
                                        .size = sizeof(cst_message_options)};

const cst__message_option *cst__message_option_at(size_t i) {
  return i < NUM_OPTIONS ? &message_options[i] : NULL;
}

const cst_option_info *cst_message_option_get(size_t i) {
  return i < NUM_OPTIONS ? &message_options[i].own.info : NULL;
}

/* ---- by name ---- */

/* Enums as int32 are called "number" in C. */
static const char *word_of(const char *name, const char *value) {
  bool is_number = strcmp(name, "enums") == 0 && strcmp(value, "number") == 0;
  return is_number ? message_options[1].own.info.words[CST_ENUMS_NUMBER] : value;
}

cst_status cst_message_options_set(cst_message_options *options, const char *name,
                                   const char *value, cst_error *error) {
  cst_message_options own = CST_MESSAGE_OPTIONS_INIT;
  const cst_option given = {name, name != NULL && value != NULL ? word_of(name, value) : value,
                            NULL};
  return cst__option_set_by_name(&table, options, &own, &given, error);
}

cst_status cst_message_options_get(const cst_message_options *options, const char *name,
                                   char room[CST_MESSAGE_OPTION_ROOM], const char **value,
                                   cst_error *error) {
  cst_message_options own = CST_MESSAGE_OPTIONS_INIT;
  const cst__option *option;
  CST__CLEAR(value);
  if (options == NULL || name == NULL || room == NULL || value == NULL) {
    return cst__missing(options == NULL ? "options"
                        : name == NULL  ? "name"
                        : room == NULL  ? "room"
                                        : "value",
                        error);
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__option_known(&table, table.owner, name, &option, error));
  CST__TRY(cst__option_check(&table, option, &own, error));
  *value = cst__option_text(option, &own, room);
  *value = *value != NULL ? *value : option->info.usual;
  return CST_OK;
}

/* ---- settling ---- */

cst_status cst__message_options_need(const cst_message_options *options, const char *what,
                                     cst_error *error) {
  return options != NULL && options->descriptors != NULL
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT,
                         "give their descriptors, as protoc --include_imports -o writes them, and "
                         "the type's name: descriptors and message, or --proto-set and --message",
                         "messages can be %s only with their descriptors", what);
}

cst_status cst__message_options_settle(cst_message_options *options, cst_error *error) {
  CST__TRY(cst__message_options_need(options, "read", error));
  for (size_t i = 0; i < NUM_OPTIONS; i++) {
    CST__TRY(cst__option_check(&table, &message_options[i].own, options, error));
    cst__option_settle(&message_options[i].own, options);
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
    cst__option_settle(&message_options[i].own, &usual);
  }
  return usual;
}

void cst__message_options_settle_for_query(cst_message_options *options) {
  cst_message_options usual = cst__message_options_usual();
  for (size_t i = 0; i < NUM_OPTIONS; i++) {
    const cst__option *option = &message_options[i].own;
    if (message_options[i].in_queries) {
      continue;
    }
    if (option->info.kind == CST_OPTION_TEXT) {
      *cst__option_string(option, options) = option->info.usual;
    } else {
      (void)cst__option_set_number(option, cst__option_number(option, &usual), options);
    }
  }
  if (options->enums == CST_ENUMS_DICTIONARY) {
    options->enums = CST_ENUMS_TEXT; /* as queries see them */
  }
}

/* ---- copies ---- */

cst_status cst__message_options_copy(const cst_message_options *from, cst__arena *arena,
                                     const cst_message_options **out, cst_error *error) {
  cst_message_options own = CST_MESSAGE_OPTIONS_INIT;
  *out = NULL;
  if (from == NULL) {
    return CST_OK;
  }
  cst__sized_copy(&own, sizeof own, from);
  if (own.message != NULL) {
    size_t size = strlen(own.message);
    own.message = cst__arena_copy(arena, own.message, size);
    CST__TRY(own.message != NULL ? CST_OK : cst__fail_memory(error, size));
  }
  CST__TRY(cst__options_copy_texts(&table, arena, &own, error));
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
