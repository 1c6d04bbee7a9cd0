/* The options on protobuf messages: --proto-set, --message, --message-option, --message-column. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

/* ---- --message-option KEY=VALUE ---- */

enum { MOST_WORDS = 5 };

typedef enum key_type { KEY_WORD, KEY_BIT, KEY_TEXT, KEY_NUMBER } key_type;

/* The keys are those of Python. */
typedef struct message_key { /* NOLINT(clang-analyzer-optin.performance.Padding) */
  const char *name;
  key_type type;
  size_t offset;                 /* of what it sets in cli_settings */
  uint32_t bit;                  /* KEY_BIT: which the second word sets */
  const char *words[MOST_WORDS]; /* KEY_WORD, KEY_BIT: in the order of their numbers */
} message_key;

#define IN_OPTIONS(member) offsetof(cli_settings, message.options.member)
#define NO_OR_YES \
  { "false", "true" }
#define TIME_UNITS \
  { "ns", "us", "ms", "s" }

static const message_key keys[] = {
    {"form",
     KEY_WORD,
     IN_OPTIONS(form),
     0,
     {"binary", "text", "json", "confluent", "confluent_plain"}},
    {"enums", KEY_WORD, IN_OPTIONS(enums), 0, {"dictionary", "text", "int32", "binary"}},
    {"defaults", KEY_BIT, IN_OPTIONS(flags), CST_MESSAGE_DEFAULTS, NO_OR_YES},
    {"nullable_lists", KEY_BIT, IN_OPTIONS(flags), CST_MESSAGE_NULLABLE_LISTS, NO_OR_YES},
    {"nullable_items", KEY_BIT, IN_OPTIONS(flags), CST_MESSAGE_NULLABLE_ITEMS, NO_OR_YES},
    {"plain_types", KEY_BIT, IN_OPTIONS(flags), CST_MESSAGE_PLAIN_TYPES, NO_OR_YES},
    {"binary_strings", KEY_BIT, IN_OPTIONS(flags), CST_MESSAGE_BINARY_STRINGS, NO_OR_YES},
    {"maps_as_lists", KEY_BIT, IN_OPTIONS(flags), CST_MESSAGE_MAPS_AS_LISTS, NO_OR_YES},
    {"timestamp_unit", KEY_WORD, IN_OPTIONS(timestamp_unit), 0, TIME_UNITS},
    {"time_zone", KEY_TEXT, IN_OPTIONS(time_zone), 0, {NULL}},
    {"duration_unit", KEY_WORD, IN_OPTIONS(duration_unit), 0, TIME_UNITS},
    {"time_unit", KEY_WORD, IN_OPTIONS(time_unit), 0, TIME_UNITS},
    {"recursion", KEY_NUMBER, IN_OPTIONS(recursion), 0, {NULL}},
    {"unknown_fields", KEY_TEXT, IN_OPTIONS(unknown_fields), 0, {NULL}},
    {"list_item", KEY_TEXT, IN_OPTIONS(list_item), 0, {NULL}},
    {"map_key", KEY_TEXT, IN_OPTIONS(map_key), 0, {NULL}},
    {"map_value", KEY_TEXT, IN_OPTIONS(map_value), 0, {NULL}},
    {"field_number_key", KEY_TEXT, IN_OPTIONS(field_number_key), 0, {NULL}},
    {"offsets",
     KEY_BIT,
     offsetof(cli_settings, source.column_flags),
     CST_COLUMNS_OFFSETS_32,
     {"64", "32"}},
    {"binary_views", KEY_BIT, offsetof(cli_settings, source.column_flags), CST_COLUMNS_BINARY_VIEWS,
     NO_OR_YES},
};
enum { NUM_KEYS = sizeof keys / sizeof keys[0], MOST_RECURSION = 100 };

/* "a, b or c" */
static void join_words(char *out, size_t room, const char *const *words, size_t count) {
  size_t used = 0;
  out[0] = '\0';
  for (size_t i = 0; i < count && used < room; i++) {
    const char *before = i == 0 ? "" : i + 1 == count ? " or " : ", ";
    used += (size_t)snprintf(out + used, room - used, "%s%s", before, words[i]);
  }
}

void cli_print_message_keys(void) {
  for (size_t i = 0; i < NUM_KEYS; i++) {
    printf("%s%s", i == 0 ? "" : ", ", keys[i].name);
  }
}

static int unknown_key(const cli_verb *verb, const char *text, size_t size) {
  const char *names[NUM_KEYS];
  char name[64], hint[96];
  for (size_t i = 0; i < NUM_KEYS; i++) {
    names[i] = keys[i].name;
  }
  snprintf(name, sizeof name, "%.*s", (int)(size < 63 ? size : 63), text);
  const char *near = cli_nearest(name, names, NUM_KEYS);
  snprintf(hint, sizeof hint, "did you mean %s?", near != NULL ? near : "");
  return cli_usage(verb, near != NULL ? hint : NULL, "--message-option knows no '%s'", name);
}

static int set_word(const cli_verb *verb, const message_key *key, const char *value, void *place) {
  size_t count = 0, found = 0;
  while (count < MOST_WORDS && key->words[count] != NULL) {
    count++;
  }
  while (found < count && strcmp(value, key->words[found]) != 0) {
    found++;
  }
  if (found == count) {
    char list[64];
    join_words(list, sizeof list, key->words, count);
    return cli_usage(verb, NULL, "--message-option %s takes %s, not '%.40s'", key->name, list,
                     value);
  }
  if (key->type == KEY_WORD) {
    int number = (int)found; /* of an enum */
    memcpy(place, &number, sizeof number);
  } else {
    uint32_t *flags = place;
    *flags = found == 1 ? *flags | key->bit : *flags & ~key->bit;
  }
  return -1;
}

static int set_recursion(const cli_verb *verb, const char *value, int32_t *place) {
  char *end;
  long number = strtol(value, &end, 10);
  if (end == value || *end != '\0' || number < 0 || number > MOST_RECURSION) {
    return cli_usage(verb, NULL,
                     "--message-option recursion takes a number from 0 to %d, not '%.40s'",
                     MOST_RECURSION, value);
  }
  *place = number == 0 ? -1 : (int32_t)number; /* 0 is the usual one there */
  return -1;
}

static int set_message_option(const cli_verb *verb, const char *text, cli_settings *settings) {
  size_t size = strcspn(text, "=");
  const message_key *key = keys;
  while (key < keys + NUM_KEYS &&
         (strlen(key->name) != size || memcmp(key->name, text, size) != 0)) {
    key++;
  }
  if (key == keys + NUM_KEYS) {
    return unknown_key(verb, text, size);
  }
  if (text[size] == '\0') {
    return cli_usage(verb, NULL, "--message-option %s needs a value: %s=...", key->name, key->name);
  }
  const char *value = text + size + 1;
  void *place = (char *)settings + key->offset;
  if (key->type == KEY_NUMBER) {
    return set_recursion(verb, value, place);
  }
  if (key->type == KEY_TEXT) {
    memcpy(place, &value, sizeof value);
    return -1;
  }
  return set_word(verb, key, value, place);
}

/* ---- --proto-set FILE ---- */

static cst_status fail_proto_set(const char *path, cst_status code, const char *message,
                                 const char *hint, cst_error *error) {
  *error = (cst_error)CST_ERROR_INIT;
  error->code = code;
  snprintf(error->message, sizeof error->message, "%s", message);
  snprintf(error->hint, sizeof error->hint, "%s", hint);
  snprintf(error->file, sizeof error->file, "%s", path);
  return code;
}

/* *bytes: free. */
static cst_status read_proto_set(const char *path, uint8_t **bytes, size_t *size,
                                 cst_error *error) {
  enum { MOST = 256 << 20 };
  size_t room = 1 << 16, got = 0;
  FILE *file = fopen(path, "rb");
  uint8_t *data = file != NULL ? malloc(room) : NULL;
  while (data != NULL && (got = fread(data + *size, 1, room - *size, file)) > 0 && *size < MOST) {
    *size += got;
    if (*size == room) {
      room *= 2;
      uint8_t *grown = realloc(data, room);
      if (grown == NULL) {
        free(data);
      }
      data = grown;
    }
  }
  *bytes = data;
  if (data != NULL && !ferror(file) && *size < MOST) {
    fclose(file);
    return CST_OK;
  }
  int number = errno;
  if (file != NULL) {
    fclose(file);
  }
  free(data);
  return *size >= MOST ? fail_proto_set(path, CST_LIMIT, "a descriptor set of 256 MiB or more",
                                        "keep the files of the message only", error)
         : file != NULL && data == NULL
             ? fail_proto_set(path, CST_NO_MEMORY, "out of memory", "", error)
         : number == ENOENT
             ? fail_proto_set(path, CST_NOT_FOUND, "no such file", "check the name", error)
             : fail_proto_set(path, CST_IO, strerror(number), "", error);
}

enum { NOT_THERE = 127 };

/* Runs a program of the PATH to its end: its exit status, NOT_THERE if there is none. */
static int run_program(char *const arguments[], bool is_quiet) {
  posix_spawn_file_actions_t actions;
  pid_t child = -1;
  int status = 0;
  if (posix_spawn_file_actions_init(&actions) != 0) {
    return NOT_THERE;
  }
  int failure =
      is_quiet ? posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) : 0;
  if (failure == 0) {
    failure = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
  }
  posix_spawn_file_actions_destroy(&actions);
  while (failure == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return failure != 0 ? NOT_THERE : WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* protoc, or that of grpcio-tools, which itself says what is wrong with the file, on standard
 * error. */
static cst_status run_protoc(const char *path, const char *output, cst_error *error) {
  char folder[sizeof error->file + 16], set[sizeof error->file + 32], file[sizeof error->file];
  const char *slash = strrchr(path, '/');
  int folder_size = slash == NULL ? 0 : slash == path ? 1 : (int)(slash - path);
  snprintf(folder, sizeof folder, "--proto_path=%.*s", folder_size > 0 ? folder_size : 1,
           folder_size > 0 ? path : ".");
  snprintf(set, sizeof set, "--descriptor_set_out=%s", output);
  snprintf(file, sizeof file, "%s", path);
  char protoc[] = "protoc", python[] = "python3", module[] = "-m", tools[] = "grpc_tools.protoc";
  char command[] = "-c", import[] = "import grpc_tools.protoc", include[] = "--include_imports";
  char *const ours[] = {protoc, include, folder, set, file, NULL};
  char *const asks[] = {python, command, import, NULL};
  char *const theirs[] = {python, module, tools, include, folder, set, file, NULL};
  int status = run_program(ours, false);
  if (status == NOT_THERE) {
    status = run_program(asks, true) == 0 ? run_program(theirs, false) : NOT_THERE;
  }
  if (status == NOT_THERE) {
    return fail_proto_set(path, CST_UNSUPPORTED,
                          "a .proto file needs protoc, which is not on PATH, or grpcio-tools",
                          "apt install protobuf-compiler, or pip install grpcio-tools, or give "
                          "what `protoc --include_imports -o FILE` has written",
                          error);
  }
  return status == 0 ? CST_OK
                     : fail_proto_set(path, CST_CORRUPT, "protoc cannot read it",
                                      "see above; of imports from other folders make a descriptor "
                                      "set: protoc -I FOLDER --include_imports -o FILE",
                                      error);
}

static cst_status compile_proto(const char *path, uint8_t **bytes, size_t *size, cst_error *error) {
  const char *folder = getenv("TMPDIR");
  char output[4096];
  snprintf(output, sizeof output, "%s/columnstone-XXXXXX", folder != NULL ? folder : "/tmp");
  int file = mkstemp(output);
  if (file < 0) {
    return fail_proto_set(output, CST_IO, strerror(errno), "set TMPDIR", error);
  }
  close(file);
  cst_status status = run_protoc(path, output, error);
  if (status == CST_OK) {
    status = read_proto_set(output, bytes, size, error);
  }
  unlink(output);
  return status;
}

static bool is_proto_text(const char *path) {
  size_t size = strlen(path);
  return size > 6 && strcmp(path + size - 6, ".proto") == 0;
}

static cst_status read_descriptors(cli_message *message, cst_error *error) {
  uint8_t *bytes = NULL;
  size_t size = 0;
  const char *path = message->proto_set;
  cst_status status = is_proto_text(path) ? compile_proto(path, &bytes, &size, error)
                                          : read_proto_set(path, &bytes, &size, error);
  if (status == CST_OK) {
    status = cst_descriptors_new(bytes, size, NULL, &message->descriptors, error);
    free(bytes);
    if (status != CST_OK && error->file[0] == '\0') {
      snprintf(error->file, sizeof error->file, "%s", path);
    }
  }
  message->options.descriptors = message->descriptors;
  return status;
}

int cli_read_messages(const cli_verb *verb, cli_settings *settings) {
  cli_message *message = &settings->message;
  cst_error error = CST_ERROR_INIT;
  bool has_view = settings->query.view != NULL; /* with descriptors of its own */
  if (message->proto_set == NULL) {
    const char *without = message->options.message != NULL          ? "message"
                          : message->num_settings > 0 && !has_view  ? "message-option"
                          : settings->source.message_column != NULL ? "message-column"
                                                                    : NULL;
    if (without != NULL) {
      return cli_usage(verb, "it has the message types: protoc --include_imports -o FILE",
                       "--%s needs --proto-set", without);
    }
  }
  for (size_t i = 0; i < message->num_settings; i++) {
    int status = set_message_option(verb, message->settings[i], settings);
    if (status >= 0) {
      return status;
    }
  }
  return message->proto_set == NULL || read_descriptors(message, &error) == CST_OK
             ? -1
             : cli_fail(&error);
}

static bool names_message(const char *format) {
  return format != NULL && strcmp(format, "message") == 0;
}

const cst_message_options *cli_message_of_input(const cli_settings *settings) {
  bool wanted = names_message(settings->source.format) || settings->source.message_column != NULL ||
                !names_message(settings->sink.format);
  return settings->message.descriptors != NULL && wanted ? &settings->message.options : NULL;
}

const cst_message_options *cli_message_of_output(const cli_settings *settings) {
  return settings->message.descriptors != NULL && names_message(settings->sink.format)
             ? &settings->message.options
             : NULL;
}
