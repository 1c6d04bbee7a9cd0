/* Bytes as a TFMD schema, text or binary: what is read is written in both forms, and comes back
 * from each as the same; its tensor specs are derived; an error says what and where.
 */
#include <string.h>

#include "base/utf8.h"
#include "fuzz.h"
#include "schema/schema.h"

typedef struct form {
  char *bytes;
  size_t size;
} form;

static void check_error(cst_status status, const cst_error *error) {
  char text[4096 + 512];
  FUZZ_ASSERT(status != CST_OK && error->code == status);
  FUZZ_ASSERT(error->message[0] != '\0');
  size_t size = cst_error_format(error, text, sizeof text);
  FUZZ_ASSERT(size > 0 && size <= 256);
  FUZZ_ASSERT(cst__utf8_valid((const uint8_t *)text, size));
}

static form to_text(const cst_schema *schema) {
  form out;
  FUZZ_ASSERT(cst_schema_to_text(schema, &out.bytes, &out.size, NULL) == CST_OK);
  return out;
}

static cst_schema *from_text(form text) {
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_schema_from_text(text.bytes, text.size, &schema, &error);
  if (status != CST_OK) {
    fprintf(stderr, "%s at %lld:%lld of\n%s\n", error.message, (long long)error.line,
            (long long)error.column, text.bytes);
  }
  FUZZ_ASSERT(status == CST_OK);
  return schema;
}

static void check_same(form a, form b) {
  FUZZ_ASSERT(a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0);
}

/* Text to binary to text and to binary again. */
static void check_binary(const cst_schema *schema, form text) {
  form binary;
  form again;
  cst_schema *read = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_schema_to_bytes(schema, &binary.bytes, &binary.size, &error);
  if (status != CST_OK) {
    FUZZ_ASSERT(status == CST_UNSUPPORTED); /* an expanded Any */
    check_error(status, &error);
    return;
  }
  FUZZ_ASSERT(cst_schema_from_bytes(binary.bytes, binary.size, &read, NULL) == CST_OK);
  again = to_text(read);
  check_same(text, again);
  cst_free(again.bytes);
  FUZZ_ASSERT(cst_schema_to_bytes(read, &again.bytes, &again.size, NULL) == CST_OK);
  check_same(binary, again);
  cst_free(again.bytes);
  cst_free(binary.bytes);
  cst_schema_release(read);
}

static void check_forms(const cst_schema *schema) {
  form text = to_text(schema);
  cst_schema *read = from_text(text);
  form again = to_text(read);
  check_same(text, again);
  check_binary(read, text);
  cst_free(again.bytes);
  cst_free(text.bytes);
  cst_schema_release(read);
}

static void check_specs(const cst_schema *schema, bool legacy) {
  cst_specs *specs = NULL;
  cst_error error = CST_ERROR_INIT;
  const cst_specs_options options = {sizeof options, NULL, legacy};
  cst_status status = cst_specs_new(schema, &options, &specs, &error);
  if (status != CST_OK) {
    FUZZ_ASSERT(status == CST_SCHEMA || status == CST_UNSUPPORTED);
    check_error(status, &error);
    return;
  }
  for (size_t i = 0; i < cst_specs_num_specs(specs); i++) {
    const cst_tensor_spec *spec = cst_specs_get(specs, i);
    FUZZ_ASSERT(spec->num_path_steps > 0 && spec->dtype != CST_DTYPE_NONE);
    FUZZ_ASSERT(i == 0 || strcmp(cst_specs_get(specs, i - 1)->name, spec->name) < 0);
  }
  cst_specs_release(specs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  cst_schema *schema = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_schema_parse(data, size, &schema, &error);
  fuzz_outcome(cst_status_name(status));
  if (status != CST_OK) {
    FUZZ_ASSERT(status == CST_SCHEMA);
    check_error(status, &error);
    return 0;
  }
  check_forms(schema);
  check_specs(schema, false);
  check_specs(schema, true);
  cst_schema_release(schema);
  return 0;
}
