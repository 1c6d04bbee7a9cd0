/* The options on protobuf messages: --proto-set, --message, --message-option, --message-column. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- --message-option KEY=VALUE ---- */

/* Those of the layout of columns, which are options of the source, beside these. */
static const char *const layout_keys[] = {"offsets", "binary_views"};
enum { NUM_LAYOUT_KEYS = sizeof layout_keys / sizeof layout_keys[0], MOST_KEYS = 32 };

static const char *message_key(size_t i) {
  const cst_option_info *info = cst_message_option_get(i);
  return info != NULL ? info->name : NULL;
}

static const char *key_name(size_t i) {
  return i < NUM_LAYOUT_KEYS ? layout_keys[i] : message_key(i - NUM_LAYOUT_KEYS);
}

void cli_print_message_keys(FILE *out) {
  const char *name;
  for (size_t i = NUM_LAYOUT_KEYS; (name = key_name(i)) != NULL; i++) {
    fprintf(out, "%s, ", name);
  }
  fprintf(out, "%s, %s", layout_keys[0], layout_keys[1]);
}

static int unknown_key(const cli_verb *verb, const char *option, const char *key) {
  const char *names[MOST_KEYS];
  char hint[96];
  size_t count = 0;
  while (count < MOST_KEYS && (names[count] = key_name(count)) != NULL) {
    count++;
  }
  const char *near = cli_nearest(key, names, count);
  snprintf(hint, sizeof hint, "did you mean %s?", near != NULL ? near : "");
  return cli_usage(verb, near != NULL ? hint : NULL, "--%s knows no '%s'", option, key);
}

/* option: "message-option" or "to-message-option", for what is wrong. */
static int set_message_option(const cli_verb *verb, const char *option, const char *text,
                              cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  char key[64];
  size_t size = strcspn(text, "=");
  snprintf(key, sizeof key, "%.*s", (int)(size < 63 ? size : 63), text);
  size_t i = 0;
  while (key_name(i) != NULL && strcmp(key_name(i), key) != 0) {
    i++;
  }
  if (key_name(i) == NULL) {
    return unknown_key(verb, option, key);
  }
  if (text[size] == '\0') {
    return cli_usage(verb, NULL, "--%s %s needs a value: %s=...", option, key, key);
  }
  const char *value = text + size + 1;
  cst_status status = i < NUM_LAYOUT_KEYS
                          ? cst_source_options_set(&settings->source, key, value, &error)
                          : cst_message_options_set(&settings->message.options, key, value, &error);
  return status == CST_OK
             ? -1
             : cli_usage(verb, error.hint[0] != '\0' ? error.hint : NULL, "%s", error.message);
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

static bool is_proto_text(const char *path) {
  size_t size = strlen(path);
  return size > 6 && strcmp(path + size - 6, ".proto") == 0;
}

static cst_status read_descriptor_set(const char *path, cst_descriptors **out, cst_error *error) {
  uint8_t *bytes = NULL;
  size_t size = 0;
  cst_status status = read_proto_set(path, &bytes, &size, error);
  if (status == CST_OK) {
    status = cst_descriptors_new(bytes, size, NULL, out, error);
    free(bytes);
  }
  return status;
}

static cst_status read_descriptors(cli_message *message, cst_error *error) {
  const char *path = message->proto_set;
  cst_status status = is_proto_text(path)
                          ? cst_descriptors_compile(path, NULL, &message->descriptors, error)
                          : read_descriptor_set(path, &message->descriptors, error);
  if (status != CST_OK && error->file[0] == '\0') {
    snprintf(error->file, sizeof error->file, "%s", path);
  }
  message->options.descriptors = message->descriptors;
  return status;
}

static bool names_message(const char *format) {
  return format != NULL && strcmp(format, "message") == 0;
}

/* The messages that are written are like those that are read, but for the form, which is binary
 * unless the output has its own. */
static int set_output_options(const cli_verb *verb, cli_settings *settings) {
  cli_message *message = &settings->message;
  cli_settings of_output = *settings;
  if (names_message(settings->sink.format) && cli_message_of_input(settings) == NULL &&
      message->options.form != CST_MESSAGE_BINARY) {
    return cli_usage(verb,
                     "add --format message if the input holds messages, or use "
                     "--to-message-option for the output",
                     "--message-option form is of the messages that are read");
  }
  of_output.message.options.form = CST_MESSAGE_BINARY;
  for (size_t i = 0; i < message->num_output_settings; i++) {
    const char *text = message->output_settings[i];
    if (strncmp(text, "offsets", 7) == 0 || strncmp(text, "binary_views", 12) == 0) {
      return cli_usage(verb, "give it to --message-option",
                       "--to-message-option %s is of columns that are read", text);
    }
    int status = set_message_option(verb, "to-message-option", text, &of_output);
    if (status >= 0) {
      return status;
    }
  }
  message->output = of_output.message.options;
  return -1;
}

int cli_read_messages(const cli_verb *verb, cli_settings *settings) {
  cli_message *message = &settings->message;
  cst_error error = CST_ERROR_INIT;
  bool has_view = settings->query.view != NULL; /* with descriptors of its own */
  if (message->proto_set == NULL) {
    const char *without = message->num_output_settings > 0          ? "to-message-option"
                          : message->options.message != NULL        ? "message"
                          : message->num_settings > 0 && !has_view  ? "message-option"
                          : settings->source.message_column != NULL ? "message-column"
                                                                    : NULL;
    if (without != NULL) {
      return cli_usage(verb, "it has the message types: protoc --include_imports -o FILE",
                       "--%s needs --proto-set", without);
    }
  }
  for (size_t i = 0; i < message->num_settings; i++) {
    int status = set_message_option(verb, "message-option", message->settings[i], settings);
    if (status >= 0) {
      return status;
    }
  }
  if (message->num_output_settings > 0 && !names_message(settings->sink.format)) {
    return cli_usage(verb, "add --to message",
                     "--to-message-option is of messages that are written");
  }
  if (message->proto_set != NULL && read_descriptors(message, &error) != CST_OK) {
    return cli_fail(&error);
  }
  return set_output_options(verb, settings);
}

const cst_message_options *cli_message_of_input(const cli_settings *settings) {
  bool wanted = names_message(settings->source.format) || settings->source.message_column != NULL ||
                !names_message(settings->sink.format);
  return settings->message.descriptors != NULL && wanted ? &settings->message.options : NULL;
}

const cst_message_options *cli_message_of_output(const cli_settings *settings) {
  return settings->message.descriptors != NULL && names_message(settings->sink.format)
             ? &settings->message.output
             : NULL;
}
