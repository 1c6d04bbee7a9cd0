/* <columnstone/schema.h>: argument checks, and reading a schema from a file. */
#include <columnstone/schema.h>

#include "base/arguments.h"
#include "io/input.h"
#include "schema/schema.h"

static cst_status check_bytes(const void *data, size_t size, cst_schema **out, cst_error *error) {
  if (out == NULL) {
    return cst__missing("out", error);
  }
  return data != NULL || size == 0 ? CST_OK : cst__missing("data", error);
}

cst_status cst_schema_parse(const void *data, size_t size, cst_schema **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_bytes(data, size, out, error));
  return cst__schema_parse(data, size, out, error);
}

cst_status cst_schema_parse_text(const void *data, size_t size, cst_schema **out,
                                 cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_bytes(data, size, out, error));
  return cst__schema_parse_text(data, size, out, error);
}

cst_status cst_schema_parse_binary(const void *data, size_t size, cst_schema **out,
                                   cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(check_bytes(data, size, out, error));
  return cst__schema_parse_binary(data, size, out, error);
}

enum { MAX_FILE = 256 << 20, READ_STEP = 64 << 10 };

/* All of the input; the text grows with what is there, not with what a header claims. */
static cst_status read_all(cst__input *input, cst__text *text, cst_error *error) {
  static const char room[READ_STEP];
  size_t got = READ_STEP;
  while (got == READ_STEP) {
    cst__text_append(text, room, READ_STEP);
    if (text->failed) {
      return cst__fail_memory(error, text->size);
    }
    text->size -= READ_STEP;
    CST__TRY(cst__input_read(input, text->data + text->size, READ_STEP, &got, error));
    text->size += got;
    if (text->size > MAX_FILE) {
      return cst__fail(error, CST_LIMIT, "is this file a schema?",
                       "the schema has more than 256 MiB");
    }
  }
  return CST_OK;
}

static cst_status read_and_parse(cst__input *input, cst_schema **out, cst_error *error) {
  cst__text text = {0};
  cst_status status = read_all(input, &text, error);
  if (status == CST_OK) {
    status = cst__schema_parse(text.data, text.size, out, error);
  }
  cst__text_free(&text);
  return status;
}

cst_status cst_schema_read_file(const char *path, cst_schema **out, cst_error *error) {
  CST__CLEAR(out);
  if (path == NULL || out == NULL) {
    return cst__missing(path == NULL ? "path" : "out", error);
  }
  cst__input *input;
  CST__TRY(cst__input_open(path, NULL, &input, error));
  cst_status status = read_and_parse(input, out, error);
  cst__input_close(input);
  if (status != CST_OK) {
    cst__error_add_file(error, path);
  }
  return status;
}

cst_schema *cst_schema_retain(const cst_schema *schema) { return cst__schema_retain(schema); }
void cst_schema_release(cst_schema *schema) { cst__schema_release(schema); }

static cst_status check_write(const cst_schema *schema, char **out, const size_t *size,
                              cst_error *error) {
  if (schema == NULL) {
    return cst__missing("schema", error);
  }
  return out != NULL && size != NULL ? CST_OK : cst__missing(out == NULL ? "out" : "size", error);
}

cst_status cst_schema_write_text(const cst_schema *schema, char **out, size_t *size,
                                 cst_error *error) {
  CST__CLEAR(out);
  CST__CLEAR(size);
  CST__TRY(check_write(schema, out, size, error));
  return cst__schema_write_text(schema, out, size, error);
}

cst_status cst_schema_write_binary(const cst_schema *schema, char **out, size_t *size,
                                   cst_error *error) {
  CST__CLEAR(out);
  CST__CLEAR(size);
  CST__TRY(check_write(schema, out, size, error));
  return cst__schema_write_binary(schema, out, size, error);
}

size_t cst_schema_num_features(const cst_schema *schema) {
  return schema != NULL ? cst__schema_num_features(schema) : 0;
}

const cst_feature *cst_schema_feature(const cst_schema *schema, size_t i) {
  return schema != NULL ? cst__schema_feature(schema, i) : NULL;
}

cst_status cst_specs_new(const cst_schema *schema, const cst_specs_options *options,
                         cst_specs **out, cst_error *error) {
  CST__CLEAR(out);
  if (schema == NULL || out == NULL) {
    return cst__missing(schema == NULL ? "schema" : "out", error);
  }
  cst_specs_options own = CST_SPECS_OPTIONS_INIT;
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  return cst__specs_new(schema, &own, out, error);
}

cst_status cst_specs_from(const cst_tensor_spec *items, size_t count,
                          const cst_allocator *allocator, cst_specs **out, cst_error *error) {
  CST__CLEAR(out);
  if ((items == NULL && count > 0) || out == NULL) {
    return cst__missing(out == NULL ? "out" : "items", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  return cst__specs_from(items, count, allocator, out, error);
}

cst_status cst_schema_with_specs(const cst_schema *schema, const cst_specs *specs,
                                 const char *group, cst_schema **out, cst_error *error) {
  CST__CLEAR(out);
  if (specs == NULL || out == NULL) {
    return cst__missing(specs == NULL ? "the list of specs" : "out", error);
  }
  return cst__schema_with_specs(schema, specs, group, out, error);
}

cst_specs *cst_specs_retain(const cst_specs *specs) { return cst__specs_retain(specs); }
void cst_specs_release(cst_specs *specs) { cst__specs_release(specs); }

size_t cst_specs_count(const cst_specs *specs) {
  return specs != NULL ? cst__specs_count(specs) : 0;
}

const cst_tensor_spec *cst_specs_get(const cst_specs *specs, size_t i) {
  return specs != NULL ? cst__specs_get(specs, i) : NULL;
}
