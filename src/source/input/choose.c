/* Choosing the format of a source, by its name or by the first bytes of its first file. */
#include "source/input/choose.h"

#include <string.h>

#include "format/format_options.h"
#include "format/plugin/plugin.h"
#include "message/message_options.h"

enum { HEAD_SIZE = 32 << 10 /* enough to see what the first record is */ };

/* True if the file's first bytes can be read without losing them. */
static bool can_look(const cst__file *file) {
  return file->regular || (file->is_reader && file->rereadable);
}

/* The first bytes of the first file that is not empty; none if it cannot be looked at without
 * losing them, or cannot be read (the pass will say why). */
static cst_status read_head(const cst__inputs *inputs, const cst__reading_options *options,
                            uint8_t *head, size_t *size, const char **path, cst_error *error) {
  *size = 0;
  for (size_t i = 0; i < inputs->num_files && can_look(&inputs->files[i]) && *size == 0; i++) {
    cst__file *file = &inputs->files[i];
    cst__input *input;
    *path = file->name;
    cst__input_options how = cst__inputs_read_options(inputs, options, file->name);
    cst_status status = cst__file_open(file, &how, &input, error);
    if (status == CST_OK) {
      status = cst__input_read(input, head, HEAD_SIZE, size, error);
      cst__input_close(input);
    }
    if (status != CST_OK) {
      return status == CST_NO_MEMORY ? status : CST_OK;
    }
  }
  return CST_OK;
}

/* ---- by the bytes ---- */

/* The format of the first record. TFRecords are Examples unless it tells otherwise, or is some
 * other message, which would be an Example without features; other containers hold messages of any
 * kind. */
static void choose_payload(const cst__container *container, cst_bytes record, cst__format *out) {
  bool told = cst__format_find_by_record(record, out);
  const cst__payload *usual = out->payload;
  bool is_foreign = usual != NULL && usual->is_foreign != NULL && usual->is_foreign(record);
  if (!told && record.size > 0 && (!container->sniff_proves || is_foreign)) {
    (void)cst__format_find("raw", out, NULL);
  }
}

/* True if records are the messages that are described, unless a format is named. */
static bool implies_message(const cst__reading_options *options) {
  return options->values.message != NULL && options->values.message_column == NULL;
}

/* What the container's records are when neither the caller nor a look at them tells. */
static cst_status find_usual(const cst__container *container, const cst__reading_options *options,
                             cst__format *out, cst_error *error) {
  const char *name = implies_message(options) ? cst__message_payload.name : container->info.format;
  return cst__format_find(name, out, error);
}

void cst__inputs_choose_by_record(cst__inputs *inputs, const uint8_t *record, size_t size) {
  cst__format format = inputs->format;
  if (inputs->by_record) {
    choose_payload(inputs->container, (cst_bytes){record, size}, &format);
    cst__mutex_lock(&inputs->lock);
    if (format.options != inputs->format.options) {
      inputs->format_options = NULL;
    }
    inputs->format = format;
    cst__mutex_unlock(&inputs->lock);
  }
}

/* The format of the bytes of a file: what the records of a container hold, or a tabular one. Other
 * formats are asked, and endings looked at, before the containers that do not prove themselves:
 * bytes of a format that has been added may look like those. *out stays as it is if
 * nothing is known about such bytes. */
static cst_status format_of_head(cst__inputs *inputs, const cst__reading_options *options,
                                 const char *path, const cst__chunk *head, cst__format *out,
                                 cst_error *error) {
  cst__format found = {0};
  cst_bytes record;
  if (inputs->container == NULL) {
    inputs->container = cst__container_sniff(head, true);
  }
  if (inputs->container == NULL) {
    CST__TRY(cst__format_find_by_head(head->data, head->size, &found, error));
    if (!cst__format_is_tabular(&found)) {
      CST__TRY(cst__format_find_by_ending(path, &found, error));
    }
    if (!cst__format_is_tabular(&found)) {
      inputs->container = cst__container_sniff(head, false);
    }
  }
  if (cst__format_is_tabular(&found)) {
    *out = found;
  } else if (inputs->container != NULL) {
    CST__TRY(find_usual(inputs->container, options, out, error));
    if (!implies_message(options) &&
        cst__container_first_record(inputs->container, head, &record)) {
      choose_payload(inputs->container, record, out);
    }
  }
  return CST_OK;
}

/* Where there are no bytes, the name alone tells of a table. */
static cst_status format_of_nothing(const char *path, cst__format *out, cst_error *error) {
  cst__format found;
  CST__TRY(cst__format_find_by_ending(path, &found, error));
  *out = cst__format_is_tabular(&found) ? found : *out;
  return CST_OK;
}

static cst_status format_by_bytes(cst__inputs *inputs, const cst__reading_options *options,
                                  cst__format *out, cst_error *error) {
  const cst__container *usual =
      inputs->container != NULL ? inputs->container : cst__container_get(0);
  const char *path = NULL;
  size_t size;
  uint8_t *head = cst__new(&inputs->allocator, HEAD_SIZE);
  if (head == NULL) {
    return cst__fail_memory(error, HEAD_SIZE);
  }
  cst_status status = find_usual(usual, options, out, error);
  if (status == CST_OK) {
    status = read_head(inputs, options, head, &size, &path, error);
  }
  inputs->by_record = path == NULL && !implies_message(options); /* nothing could be looked at */
  if (status == CST_OK && size > 0) {
    const cst__chunk chunk = {head, size, size < HEAD_SIZE};
    status = format_of_head(inputs, options, path, &chunk, out, error);
    if (status != CST_OK) {
      cst__error_add_file(error, path);
    }
  } else if (status == CST_OK && path != NULL && inputs->container == NULL) {
    status = format_of_nothing(path, out, error);
  }
  cst__delete(head);
  if (out->payload != NULL && inputs->container == NULL) {
    inputs->container = usual;
  }
  return status;
}

/* The container of a format that was named: by the bytes, else the usual one; of a format of files
 * only one that proves itself, or none. */
static cst_status container_by_bytes(cst__inputs *inputs, const cst__reading_options *options,
                                     cst_error *error) {
  bool is_of_files = inputs->format.records != NULL;
  const char *path;
  size_t size;
  uint8_t *head = cst__new(&inputs->allocator, HEAD_SIZE);
  if (head == NULL) {
    return cst__fail_memory(error, HEAD_SIZE);
  }
  cst_status status = read_head(inputs, options, head, &size, &path, error);
  if (status == CST_OK && size > 0) {
    const cst__chunk chunk = {head, size, size < HEAD_SIZE};
    inputs->container = cst__container_sniff(&chunk, true);
    if (inputs->container == NULL && !is_of_files) {
      inputs->container = cst__container_sniff(&chunk, false);
    }
  }
  cst__delete(head);
  if (inputs->container == NULL && !is_of_files) {
    inputs->container = cst__container_get(0);
  }
  return status;
}

/* The values of a format of files are records where a container is named, or proves itself. */
static cst_status choose_records(cst__inputs *inputs, const cst__reading_options *options,
                                 cst_error *error) {
  if (inputs->format.records != NULL && inputs->container == NULL) {
    CST__TRY(container_by_bytes(inputs, options, error));
  }
  if (inputs->container != NULL) {
    (void)cst__format_in_container(&inputs->format);
  }
  return CST_OK;
}

/* ---- the choice ---- */

/* A plug-in opens files by itself. */
static cst_status check_files(const cst__inputs *inputs, cst_error *error) {
  const cst__format *format = &inputs->format;
  bool by_itself = format->plugin != NULL || format->program != NULL;
  for (size_t i = 0; by_itself && i < inputs->num_files; i++) {
    const cst__file *file = &inputs->files[i];
    if (!file->regular && (format->program == NULL || file->url == NULL)) {
      (void)cst__fail(error, CST_UNSUPPORTED, "give the path of a regular file",
                      "the format %s is read from files only", format->name);
      cst__error_add_file(error, file->name);
      return CST_UNSUPPORTED;
    }
  }
  return CST_OK;
}

/* Whether what is said of messages is complete, and there are some to be said something of. */
static cst_status check_message(const cst__format *format, const cst_source_options *values,
                                cst_error *error) {
  bool is_message = format->payload == &cst__message_payload;
  if (values->message_column != NULL && is_message) {
    return cst__fail(error, CST_INVALID_ARGUMENT,
                     "name the format of the file that has the column, or remove one of them",
                     "both the format message and a column of messages are named");
  }
  if (!is_message && values->message_column == NULL) {
    return values->message == NULL
               ? CST_OK
               : cst__fail(error, CST_INVALID_ARGUMENT,
                           "name the column that contains them (message_column), or the format "
                           "message and the container",
                           "the format %s does not contain protobuf messages", format->name);
  }
  return cst__message_options_need(values->message, "read", error);
}

static cst_status check_on_error(const cst__format *format, const cst_source_options *values,
                                 cst_error *error) {
  bool records = format->payload != NULL || (format->table != NULL && !format->table->any_size);
  bool null_rows = format->payload != NULL && format->payload->null_rows;
  bool messages = null_rows || values->message_column != NULL;
  bool refuses = values->view != NULL; /* rows of a table */
  if (values->on_error == CST_ON_ERROR_NULL && !messages && (!refuses || format->payload != NULL)) {
    return cst__fail(
        error, CST_UNSUPPORTED, "drop such records (skip), or leave on_error out",
        "only messages and Avro records can become rows of nulls, not records of the format %s",
        format->name);
  }
  if (values->on_error == CST_ON_ERROR_SKIP && !records && !messages && !refuses) {
    return cst__fail(error, CST_UNSUPPORTED, "leave on_error out",
                     "the format %s has no records to skip: reading stops at damage", format->name);
  }
  return CST_OK;
}

/* Options that mean nothing for the format are mistakes, not wishes. */
static cst_status check_meaning(const cst__inputs *inputs, const cst__reading_options *options,
                                cst_error *error) {
  const cst__format *format = &inputs->format;
  if (inputs->container != NULL && format->payload == NULL) {
    return cst__fail(error, CST_UNSUPPORTED, "leave the container out",
                     "the format %s has no container", format->name);
  }
  if (options->values.raw_column != NULL && format->payload == NULL &&
      (format->table == NULL || !format->table->has_raw)) {
    return cst__fail(error, CST_UNSUPPORTED, "leave raw_column out",
                     "the format %s has no raw records", format->name);
  }
  if (options->values.offset_column != NULL && format->payload == NULL) {
    return cst__fail(error, CST_UNSUPPORTED, "leave offset_column out",
                     "the format %s has no record offsets", format->name);
  }
  if (options->types != NULL && format->table == NULL) {
    return cst__fail(error, CST_UNSUPPORTED, "leave the Arrow types out, or give a TFMD schema",
                     "the format %s has its own types", format->name);
  }
  CST__TRY(check_message(format, &options->values, error));
  CST__TRY(check_on_error(format, &options->values, error));
  if (options->types != NULL && options->values.schema != NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "give one of them",
                     "both a schema and Arrow types are given");
  }
  return CST_OK;
}

static cst_status name_container(cst__inputs *inputs, const char *name, cst_error *error) {
  return name != NULL ? cst__container_find(name, &inputs->container, error) : CST_OK;
}

static cst_status read_format_options(cst__inputs *inputs, const cst_source_options *from,
                                      cst_error *error) {
  return cst__format_options_read(
      &inputs->format, CST__FOR_READING,
      (cst__option_list){from->format_options, from->num_format_options}, &inputs->arena,
      &inputs->format_options, error);
}

cst_status cst__inputs_name_format(cst__inputs *inputs, const cst__reading_options *options,
                                   const cst_source_options *from, cst_error *error) {
  const char *name = from->format;
  CST__TRY(name_container(inputs, from->container, error));
  inputs->format.name = "stream";
  if (name != NULL) {
    inputs->stream_name = cst__new_copy(&inputs->allocator, name, strlen(name));
    if (inputs->stream_name == NULL) {
      return cst__fail_memory(error, strlen(name));
    }
    inputs->format.name = inputs->stream_name;
  }
  CST__TRY(read_format_options(inputs, from, error));
  return check_meaning(inputs, options, error);
}

static bool has_url(const cst__inputs *inputs) {
  for (size_t i = 0; i < inputs->num_files; i++) {
    if (inputs->files[i].url != NULL) {
      return true;
    }
  }
  return false;
}

cst_status cst__inputs_choose(cst__inputs *inputs, const cst__reading_options *options,
                              const cst_source_options *from, cst_error *error) {
  const char *name = from->format;
  cst__format format;
  CST__TRY(name_container(inputs, from->container, error));
  if (name == NULL) {
    CST__TRY(format_by_bytes(inputs, options, &format, error));
  } else {
    CST__TRY(cst__format_find(name, &format, error));
    inputs->format = format;
    CST__TRY(choose_records(inputs, options, error));
    format = inputs->format;
  }
  inputs->format = format;
  inputs->is_text = name != NULL && format.table != NULL && format.table->is_text;
  if (has_url(inputs) && format.plugin != NULL) { /* a shared object opens files only */
    inputs->format.program = cst__program_find(format.name);
    inputs->format.plugin = inputs->format.program != NULL ? NULL : format.plugin;
  }
  if (format.payload == NULL && format.table == NULL && format.program == NULL &&
      (format.plugin == NULL || format.plugin->open == NULL)) {
    return cst__fail(error, CST_UNSUPPORTED, "name a format that can be read",
                     "the format %s can only be written", format.name);
  }
  CST__TRY(read_format_options(inputs, from, error));
  CST__TRY(check_files(inputs, error));
  CST__TRY(check_meaning(inputs, options, error));
  return format.payload != NULL && inputs->container == NULL
             ? container_by_bytes(inputs, options, error)
             : CST_OK;
}
