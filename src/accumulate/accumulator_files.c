/* Accumulators in files, which hold the bytes of a saved one. */
#include <columnstone/accumulate.h>

#include "base/arguments.h"
#include "io/input.h"
#include "io/output.h"

enum { MAX_FILE = 1 << 30 };

static cst_status open_text(const char *path, const cst_allocator *allocator, cst__text *text,
                            cst_accumulator **out, cst_error *error) {
  CST__TRY(cst__input_read_file(path, MAX_FILE, text, error));
  cst_status status =
      text->size <= MAX_FILE
          ? cst_accumulator_from_bytes(text->data, text->size, allocator, out, error)
          : cst__fail(error, CST_LIMIT, "was it saved by an accumulator?",
                      "the saved accumulator has more than 1 GiB");
  if (status != CST_OK) {
    cst__error_add_file(error, path);
  }
  return status;
}

cst_status cst_accumulator_open(const char *path, const cst_allocator *allocator,
                                cst_accumulator **out, cst_error *error) {
  cst__text text = {0};
  CST__CLEAR(out);
  CST__TRY(cst__check_given(path, "path", out, error));
  CST__TRY(cst__check_allocator(allocator, error));
  cst_status status = open_text(path, allocator, &text, out, error);
  cst__text_free(&text);
  return status;
}

cst_status cst_accumulator_save(const cst_accumulator *accumulator, const char *path,
                                cst_error *error) {
  char *bytes;
  size_t size;
  if (accumulator == NULL || path == NULL) {
    return cst__missing(accumulator == NULL ? "accumulator" : "path", error);
  }
  CST__TRY(cst_accumulator_to_bytes(accumulator, &bytes, &size, error));
  cst_status status = cst__output_write_file(path, bytes, size, error);
  cst_free(bytes);
  return status;
}
