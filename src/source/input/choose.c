/* Choosing the format of a source, by its name or by the first bytes of its first file. */
#include <string.h>

#include "format/plugin/plugin.h"
#include "source/input/source.h"

enum { HEAD_SIZE = 32 << 10 /* enough to see what the first record is */ };

/* True if the file's first bytes can be read without losing them. */
static bool can_look(const cst__source_file *file) {
  return file->regular || (file->is_reader && file->rereadable);
}

/* The first bytes of the first file that is not empty; none if it cannot be looked at without
 * losing them, or cannot be read (the pass will say why). */
static cst_status read_head(const cst_source *source, uint8_t *head, size_t *size,
                            const char **path, cst_error *error) {
  *size = 0;
  for (size_t i = 0; i < source->num_files && can_look(&source->files[i]) && *size == 0; i++) {
    cst__input *input;
    *path = source->files[i].name;
    cst_status status = cst__source_open_input(source, i, &input, error);
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

/* One field of a protobuf message: its number and where the next one begins; false if the bytes
 * are no such message, or end before the next field. */
static bool next_field(const uint8_t *data, size_t size, size_t *at, uint64_t *number) {
  uint64_t words[2] = {0};
  for (int i = 0; i < 2; i++) {
    for (unsigned shift = 0;; shift += 7) {
      if (*at >= size || shift > 56) {
        return false;
      }
      uint8_t byte = data[(*at)++];
      words[i] |= (uint64_t)(byte & 127) << shift;
      if (byte < 128) {
        break;
      }
    }
    if (i == 0 && (words[0] & 7) != 2) {
      return false;
    }
  }
  *number = words[0] >> 3;
  bool inside = words[1] <= size - *at;
  *at = inside ? *at + (size_t)words[1] : size;
  return true;
}

/* tensorflow/core/example/example.proto: an Example has the field 1 only, a SequenceExample with
 * feature lists the field 2 as well. record: the first bytes of one. */
static bool is_sequence(const uint8_t *record, size_t size) {
  size_t at = 0;
  uint64_t number;
  bool lists = false;
  while (at < size && next_field(record, size, &at, &number)) {
    if (number != 1 && number != 2) {
      return false;
    }
    lists = lists || number == 2;
  }
  return lists;
}

/* record: its first bytes, as many as there are. */
static void choose_payload(const uint8_t *record, size_t size, cst__format *out) {
  const cst__payload *sequence = cst__payload_find("sequence_example");
  if (sequence != NULL && is_sequence(record, size)) {
    *out = (cst__format){.name = sequence->name, .payload = sequence};
  }
}

static void payload_by_bytes(const cst_source *source, const uint8_t *head, size_t size,
                             cst__format *out) {
  size_t header = source->container->header_size;
  uint64_t length;
  if (size > header) {
    memcpy(&length, head, sizeof length);
    size_t there = size - header;
    choose_payload(head + header, length < there ? (size_t)length : there, out);
  }
}

void cst__source_choose_by_record(cst_source *source, const uint8_t *record, size_t size) {
  cst__format format = {.name = source->format, .payload = source->payload};
  if (source->by_record) {
    choose_payload(record, size, &format);
    cst__mutex_lock(&source->lock);
    source->format = format.name;
    source->payload = format.payload;
    cst__mutex_unlock(&source->lock);
  }
}

static cst_status format_by_bytes(cst_source *source, cst__format *out, cst_error *error) {
  const char *path = NULL;
  size_t size;
  uint8_t *head = cst__new(&source->allocator, HEAD_SIZE);
  if (head == NULL) {
    return cst__fail_memory(error, HEAD_SIZE);
  }
  *out = (cst__format){.name = "example", .payload = &cst__example_payload};
  cst_status status = read_head(source, head, &size, &path, error);
  source->by_record = path == NULL; /* nothing could be looked at */
  /* What is shorter than a header tells nothing: the ending of the name does. */
  bool tells = size >= source->container->header_size;
  if (status == CST_OK && tells && source->container->sniff(head, size)) {
    payload_by_bytes(source, head, size, out);
  } else if (status == CST_OK && size > 0) {
    cst__format found = {0};
    status = cst__format_find_by_head(path, head, size, &found, error);
    if (status != CST_OK) {
      cst__error_add_file(error, path);
    } else if (found.plugin != NULL || found.program != NULL || found.table != NULL) {
      *out = found;
    }
  }
  cst__delete(head);
  return status;
}

/* ---- the choice ---- */

/* A plug-in opens files by itself. */
static cst_status check_files(const cst_source *source, cst_error *error) {
  bool by_itself = source->plugin != NULL || source->program != NULL;
  for (size_t i = 0; by_itself && i < source->num_files; i++) {
    bool by_url = source->program != NULL && cst__source_opened(source, i)->url != NULL;
    if (!source->files[i].regular && !by_url) {
      (void)cst__fail(error, CST_UNSUPPORTED, "give the path of a regular file",
                      "the format %s is read from files only", source->format);
      cst__error_add_file(error, source->files[i].name);
      return CST_UNSUPPORTED;
    }
  }
  return CST_OK;
}

/* Options that mean nothing for the format are mistakes, not wishes. */
static cst_status check_meaning(const cst_source *source, cst_error *error) {
  if (source->raw_column != NULL && source->payload == NULL) {
    return cst__fail(error, CST_UNSUPPORTED, "leave raw_column out",
                     "the format %s has no records whose bytes a column could hold",
                     source->format);
  }
  if (source->types.release != NULL && source->table == NULL) {
    return cst__fail(error, CST_UNSUPPORTED, "leave the Arrow types out, or give a TFMD schema",
                     "the format %s has types of its own", source->format);
  }
  bool skips = source->payload != NULL || (source->table != NULL && !source->table->any_size);
  if (source->on_error == CST_ON_ERROR_SKIP && !skips) {
    return cst__fail(error, CST_UNSUPPORTED, "leave on_error out",
                     "the format %s has no records that could be skipped: damage ends the reading",
                     source->format);
  }
  if (source->types.release != NULL && source->schema_given) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "give one of them",
                     "both a schema and Arrow types are given");
  }
  return CST_OK;
}

cst_status cst__source_name_format(cst_source *source, const char *name, cst_error *error) {
  source->format = "stream";
  if (name != NULL) {
    source->format = cst__arena_copy(&source->strings, name, strlen(name));
  }
  return source->format != NULL ? check_meaning(source, error)
                                : cst__fail_memory(error, strlen(name));
}

static bool has_url(const cst_source *source) {
  for (size_t i = 0; i < source->num_files; i++) {
    if (source->files[i].url != NULL) {
      return true;
    }
  }
  return false;
}

cst_status cst__source_choose(cst_source *source, const char *name, cst_error *error) {
  cst__format format;
  if (name == NULL) {
    CST__TRY(format_by_bytes(source, &format, error));
  } else {
    CST__TRY(cst__format_find(name, &format, error));
  }
  source->format = format.name;
  source->payload = format.payload;
  source->table = format.table;
  source->is_text = name != NULL && format.table != NULL && format.table->is_text;
  source->plugin = format.plugin;
  source->program = format.program;
  if (has_url(source) && format.plugin != NULL) { /* a shared object opens files only */
    source->program = cst__program_find(format.name);
    source->plugin = source->program != NULL ? NULL : format.plugin;
  }
  if (format.payload == NULL && format.table == NULL && format.program == NULL &&
      (format.plugin == NULL || format.plugin->open == NULL)) {
    return cst__fail(error, CST_UNSUPPORTED,
                     "name a format that can be read: example, sequence_example, raw, csv, json, "
                     "arrow, parquet",
                     "the format %s can only be written", format.name);
  }
  CST__TRY(check_files(source, error));
  return check_meaning(source, error);
}
