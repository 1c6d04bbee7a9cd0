/* A schema from a file. */
#include <columnstone/schema.h>

#include "base/arguments.h"
#include "io/input.h"

enum { MAX_FILE = 256 << 20 };

static cst_status parse_file(const cst__text *text, cst_schema **out, cst_error *error) {
  if (text->size > MAX_FILE) {
    return cst__fail(error, CST_LIMIT, "check that the file is a schema",
                     "the schema has more than 256 MiB");
  }
  return cst_schema_parse(text->data, text->size, out, error);
}

cst_status cst_schema_open(const char *path, cst_schema **out, cst_error *error) {
  cst__text text = {0};
  CST__CLEAR(out);
  CST__TRY(cst__check_given(path, "path", out, error));
  cst_status status = cst__input_read_file(path, MAX_FILE, &text, error);
  if (status == CST_OK) {
    status = parse_file(&text, out, error);
  }
  cst__text_free(&text);
  if (status != CST_OK) {
    cst__error_add_file(error, path);
  }
  return status;
}
