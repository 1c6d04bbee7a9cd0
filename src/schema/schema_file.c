/* A schema from a file. */
#include <columnstone/schema.h>

#include "base/arguments.h"
#include "io/input.h"
#include "schema/schema.h"

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
    status = cst_schema_parse(text.data, text.size, out, error);
  }
  cst__text_free(&text);
  return status;
}

cst_status cst_schema_read_file(const char *path, cst_schema **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(path, "path", out, error));
  cst__input *input;
  CST__TRY(cst__input_open(path, NULL, &input, error));
  cst_status status = read_and_parse(input, out, error);
  cst__input_close(input);
  if (status != CST_OK) {
    cst__error_add_file(error, path);
  }
  return status;
}
