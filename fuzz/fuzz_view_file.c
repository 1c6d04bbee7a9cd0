/* The content of a saved view, in a frame whose digest is right: it is refused, or binds; then it
 * runs over a few records in bounded memory, is described, and saved again gives the same bytes.
 */
#include "query/view/view_file.h"

#include <columnstone/query.h>
#include <string.h>

#include "base/utf8.h"
#include "fuzz.h"

static void put_frame(const uint8_t *content, size_t size, cst__text *out) {
  uint8_t head[CST__VIEW_HEAD] = "CSTVIEW\n\1";
  uint8_t digest[CST__SHA256_SIZE];
  for (int i = 0; i < 4; i++) {
    head[12 + i] = (uint8_t)(size >> (8 * i));
  }
  cst__text_append(out, head, sizeof head);
  cst__text_append(out, content, size);
  cst__sha256(out->data, out->size, digest);
  cst__text_append(out, digest, sizeof digest);
}

static void check_view_error(cst_status status, const cst_error *error) {
  char text[4096 + 512];
  FUZZ_ASSERT(error->code == status && error->message[0] != '\0');
  size_t size = cst_error_format(error, text, sizeof text);
  FUZZ_ASSERT(cst__utf8_valid((const uint8_t *)text, size));
}

static void run_fuzzed_view(const cst_view *view, const uint8_t *data, size_t size) {
  const cst_bytes records[] = {
      {(const uint8_t *)"\x08\x07\x2a\x0e\x0a\x05shoes\x18\x01\x21\0\0\0\0\0\0\x04\x40", 21},
      {NULL, 0},
      {data, size < 64 ? size : 64}};
  cst_error error = CST_ERROR_INIT;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  for (size_t count = 0; count <= 3; count++) {
    cst_status status = cst_view_run_arrow(view, records, count, NULL, &schema, &batch, &error);
    if (status == CST_OK) {
      schema.release(&schema);
      batch.release(&batch);
    } else {
      check_view_error(status, &error);
    }
  }
  cst_tensors *tensors;
  if (cst_view_run(view, records, 2, NULL, &tensors, &error) == CST_OK) {
    cst_tensors_release(tensors);
  }
}

/* Made again of what it holds, a view has the same saved form. */
static void check_saved_again(const cst_view *view) {
  void *bytes, *same;
  size_t size, same_size;
  cst_view *again;
  FUZZ_ASSERT(cst_view_to_bytes(view, &bytes, &size, NULL) == CST_OK);
  FUZZ_ASSERT(cst_view_from_bytes(bytes, size, NULL, &again, NULL) == CST_OK);
  FUZZ_ASSERT(cst_view_to_bytes(again, &same, &same_size, NULL) == CST_OK);
  FUZZ_ASSERT(size == same_size && memcmp(bytes, same, size) == 0);
  cst_free(bytes);
  cst_free(same);
  char *text;
  cst_findings *found;
  FUZZ_ASSERT(cst_view_params(again, &found, NULL) == CST_OK);
  cst_findings_free(found);
  FUZZ_ASSERT(cst_view_outputs(again, &found, NULL) == CST_OK);
  FUZZ_ASSERT(cst_findings_num_rows(found) == cst_view_num_outputs(again));
  cst_findings_free(found);
  size_t num_breaking = 1;
  size_t num_rows = 1;
  FUZZ_ASSERT(cst_view_diff(view, again, &text, &num_breaking, &num_rows, NULL) == CST_OK);
  FUZZ_ASSERT(num_breaking == 0 && num_rows == 0 && text[0] == '\0');
  cst_free(text);
  cst_view_release(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  cst_view *view;
  cst__text bytes = {0};
  options.max_elements = 1 << 12;
  put_frame(data, size, &bytes);
  cst_status status = cst_view_from_bytes(bytes.data, bytes.size, &options, &view, &error);
  fuzz_outcome(cst_status_name(status));
  if (status == CST_OK) {
    run_fuzzed_view(view, data, size);
    check_saved_again(view);
  } else {
    check_view_error(status, &error);
  }
  cst_view_release(view);
  const char *const chosen[] = {"x"}; /* what the file says of outputs does not count then */
  options.outputs = chosen;
  options.num_outputs = 1;
  if (cst_view_from_bytes(bytes.data, bytes.size, &options, &view, &error) == CST_OK) {
    run_fuzzed_view(view, data, size);
    check_saved_again(view);
    cst_view_release(view);
  }
  cst__text_free(&bytes);
  status = cst_view_from_bytes(data, size, NULL, &view, &error); /* as it is */
  FUZZ_ASSERT((status == CST_OK) == (view != NULL));
  cst_view_release(view);
  return 0;
}
