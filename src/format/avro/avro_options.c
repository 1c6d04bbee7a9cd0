/* The table of the options of Avro. */
#include "format/avro/avro_options.h"

#include <stddef.h>
#include <string.h>

#include "avro/avro_file.h"
#include "avro/avro_schema.h"
#include "base/error.h"
#include "io/input.h"

#define CODECS "deflate", "null", "zstandard", "snappy", "bzip2", "xz"
const char *const cst__avro_codec_words[] = {CODECS};

static const cst__option options[] = {
    {.info = {.name = "avro_schema",
              .kind = CST_OPTION_TEXT,
              .help = "schema to read as, or to write: JSON, or a file",
              .reads = true,
              .writes = true},
     .offset = offsetof(cst__avro_options, schema)},
    {.info = {.name = "avro_codec",
              .kind = CST_OPTION_WORD,
              .usual = "deflate",
              .words = {CODECS},
              .help = "block compression: deflate, null, zstandard, snappy, bzip2 or xz",
              .writes = true},
     .offset = offsetof(cst__avro_options, codec)},
    {.info = {.name = "avro_block_size",
              .kind = CST_OPTION_NUMBER,
              .most = 1 << 28,
              .help = "size of a block in bytes (65536)",
              .writes = true},
     .offset = offsetof(cst__avro_options, block_size),
     .is_wide = true},
    {.info = {.name = "avro_enums",
              .kind = CST_OPTION_WORD,
              .usual = "dictionary",
              .words = {"dictionary", "text", "int32", "binary"},
              .help = "type of the columns of enums",
              .reads = true},
     .offset = offsetof(cst__avro_options, enums)},
    {.info = {.name = "avro_recursion",
              .kind = CST_OPTION_NUMBER,
              .usual = "2",
              .most = CST__AVRO_MOST_RECURSION,
              .help = "how deep recursive records are decoded; deeper ones stay binary",
              .reads = true},
     .offset = offsetof(cst__avro_options, recursion)},
    {.info = {.name = "avro_framing",
              .kind = CST_OPTION_WORD,
              .usual = "auto",
              .words = {"auto", "plain", "single_object", "confluent", "apicurio"},
              .help = "header of each record in a container",
              .reads = true,
              .writes = true},
     .offset = offsetof(cst__avro_options, framing)},
    {.info = {.name = "avro_writer_schema",
              .kind = CST_OPTION_TEXT,
              .help = "writer schema of records that do not name one",
              .reads = true},
     .offset = offsetof(cst__avro_options, writer_schema)},
    {.info = {.name = "avro_schemas",
              .kind = CST_OPTION_TEXT,
              .help = "schemas that records refer to: JSON of ids to schemas, or a list; or a file",
              .reads = true},
     .offset = offsetof(cst__avro_options, schemas)},
    {.info = {.name = "avro_schema_id",
              .kind = CST_OPTION_NUMBER,
              .most = INT64_MAX,
              .help = "schema id that confluent and apicurio framing writes",
              .writes = true},
     .offset = offsetof(cst__avro_options, schema_id),
     .is_wide = true},
};

const cst__option_table cst__avro_option_table = {.owner = "avro",
                                                  .options = options,
                                                  .count = sizeof options / sizeof *options,
                                                  .stride = sizeof *options,
                                                  .size = sizeof(cst__avro_options)};

/* A schema is JSON, and begins so; all else is the path of one. */
static bool is_json(const char *given) {
  const char *at = given + strspn(given, " \t\r\n");
  return *at == '{' || *at == '[' || *at == '"';
}

static cst_status is_container(const char *path, bool *out, cst_error *error) {
  uint8_t head[4];
  size_t size = 0;
  cst__input *input;
  CST__TRY(cst__input_open(path, NULL, &input, error));
  cst_status status = cst__input_read(input, head, sizeof head, &size, error);
  cst__input_close(input);
  *out = status == CST_OK && cst__avro_sniff(head, size);
  return status;
}

/* The schema of a container file. */
static cst_status read_of_container(const char *path, cst__text *out, cst_error *error) {
  static const cst__avro_limits limits = {0, 0};
  cst__input *input;
  cst__avro_file *file = NULL;
  CST__TRY(cst__input_open(path, NULL, &input, error));
  cst_status status = cst__avro_file_open(input, &limits, &out->allocator, &file, error);
  if (status == CST_OK) {
    cst_bytes schema = cst__avro_file_schema(file);
    cst__text_append(out, schema.data, schema.size);
    status = out->failed ? cst__fail_memory(error, schema.size) : CST_OK;
  }
  cst__avro_file_close(file);
  cst__input_close(input);
  return status;
}

cst_status cst__avro_options_text(const char *given, cst__text *out, cst_error *error) {
  if (!is_json(given)) {
    bool has_values;
    CST__TRY(is_container(given, &has_values, error));
    CST__TRY(has_values ? read_of_container(given, out, error)
                        : cst__input_read_file(given, CST__AVRO_MAX_SCHEMA, out, error));
    return out->size > 0 ? CST_OK
                         : cst__fail(error, CST_SCHEMA, "a schema is JSON: {\"type\": ...}",
                                     "the file of an Avro schema is empty");
  }
  cst__text_append(out, given, strlen(given));
  return out->failed ? cst__fail_memory(error, strlen(given)) : CST_OK;
}

cst_status cst__avro_options_of_files(const cst__avro_options *given, cst_error *error) {
  const char *name = given == NULL                      ? NULL
                     : given->framing != CST__AVRO_AUTO ? "avro_framing"
                     : given->writer_schema != NULL     ? "avro_writer_schema"
                     : given->schemas != NULL           ? "avro_schemas"
                     : given->schema_id != 0            ? "avro_schema_id"
                                                        : NULL;
  return name == NULL ? CST_OK
                      : cst__fail(error, CST_INVALID_ARGUMENT,
                                  "name the container whose records are Avro, or leave it out",
                                  "files of Avro have their schema, and no option '%s'", name);
}

cst_status cst__avro_options_of_records(const cst__avro_options *given, cst_error *error) {
  const char *name = given == NULL                             ? NULL
                     : given->codec != CST__AVRO_WRITE_DEFLATE ? "avro_codec"
                     : given->block_size != 0                  ? "avro_block_size"
                                                               : NULL;
  return name == NULL ? CST_OK
                      : cst__fail(error, CST_INVALID_ARGUMENT, "leave it out",
                                  "Avro records have no blocks, and no option '%s'", name);
}
