/* TFDV's proto in files. */
#include <columnstone/statistics.h>

#include "base/arguments.h"
#include "io/input.h"
#include "io/output.h"

cst_status cst_statistics_save_tfdv(const cst_statistics_named *tables, size_t num_tables,
                                    const char *path, cst_error *error) {
  char *bytes;
  size_t size;
  if (path == NULL) {
    return cst__missing("path", error);
  }
  CST__TRY(cst_statistics_to_tfdv(tables, num_tables, &bytes, &size, error));
  cst_status status = cst__output_write_file(path, bytes, size, error);
  cst_free(bytes);
  return status;
}

static cst_status read_text(const char *path, const char *dataset, const cst_allocator *allocator,
                            cst__text *text, cst_findings **out, cst_error *error) {
  CST__TRY(cst__input_read_file(path, INT32_MAX, text, error));
  cst_status status =
      text->size <= INT32_MAX
          ? cst_statistics_from_tfdv(text->data, text->size, dataset, allocator, out, error)
          : cst__fail(error, CST_LIMIT, "was it written as a DatasetFeatureStatisticsList?",
                      "the file has more than protobuf's 2 GiB");
  if (status != CST_OK) {
    cst__error_add_file(error, path);
  }
  return status;
}

cst_status cst_statistics_open_tfdv(const char *path, const char *dataset,
                                    const cst_allocator *allocator, cst_findings **out,
                                    cst_error *error) {
  cst__text text = {0};
  CST__CLEAR(out);
  CST__TRY(cst__check_given(path, "path", out, error));
  cst_status status = read_text(path, dataset, allocator, &text, out, error);
  cst__text_free(&text);
  return status;
}
