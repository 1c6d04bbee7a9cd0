/* Bytes as a schema of Avro: a sound one has a canonical form that is a schema again, of the same
 * form, the same fingerprint and the same columns, and reads what it writes; an error says what and
 * where. What begins with a T is a table of schemas.
 */
#include <string.h>

#include "avro/avro_canonical.h"
#include "avro/avro_known.h"
#include "avro/avro_program.h"
#include "base/utf8.h"
#include "fuzz.h"

static cst_bytes bytes_of(const cst__text *text) {
  return (cst_bytes){(const uint8_t *)text->data, text->size};
}

static void check_error(cst_status status, const cst_error *error) {
  char text[4096 + 512];
  FUZZ_ASSERT(status == CST_SCHEMA || status == CST_LIMIT);
  FUZZ_ASSERT(error->code == status && error->message[0] != '\0');
  size_t size = cst_error_format(error, text, sizeof text);
  FUZZ_ASSERT(cst__utf8_valid((const uint8_t *)text, size));
}

/* The steps that read by the schema what it wrote. */
static void check_program(const cst__avro_schema *schema, const cst__avro_columns *columns) {
  cst__batch_builder *batch;
  cst__avro_program program;
  cst_error error = CST_ERROR_INIT;
  FUZZ_ASSERT(cst__batch_builder_new(&columns->arrow, NULL, &batch, NULL) == CST_OK);
  cst_status status = cst__avro_program_init(&program, schema, columns, batch, NULL, &error);
  FUZZ_ASSERT(status == CST_OK || status == CST_LIMIT);
  cst__avro_program_reset(&program);
  cst__batch_builder_free(batch);
}

static void check_columns(const cst__avro_schema *schema, const cst__avro_schema *again) {
  const cst__avro_column_options options = {.enums = CST__AVRO_ENUMS_TEXT};
  cst__avro_columns columns;
  cst__avro_columns same;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst__avro_columns_init(&columns, schema, &options, NULL, &error);
  if (status != CST_OK) {
    check_error(status, &error);
  } else {
    check_program(schema, &columns);
    FUZZ_ASSERT(cst__avro_columns_init(&same, again, &options, NULL, NULL) == CST_OK);
    FUZZ_ASSERT(same.arrow.num_children == columns.arrow.num_children);
    check_program(again, &same);
    cst__avro_columns_reset(&same);
  }
  cst__avro_columns_reset(&columns);
}

static void check_sound(const cst__avro_schema *schema) {
  cst__text form = {.allocator = cst__default_allocator};
  cst__text second = {.allocator = cst__default_allocator};
  cst__avro_schema again;
  uint64_t sum;
  FUZZ_ASSERT(cst__avro_put_canonical(schema, &form, NULL) == CST_OK);
  FUZZ_ASSERT(cst__avro_schema_parse(&again, bytes_of(&form), NULL, NULL) == CST_OK);
  FUZZ_ASSERT(cst__avro_put_canonical(&again, &second, NULL) == CST_OK);
  FUZZ_ASSERT(form.size == second.size && memcmp(form.data, second.data, form.size) == 0);
  FUZZ_ASSERT(cst__avro_fingerprint(schema, &sum, NULL) == CST_OK);
  FUZZ_ASSERT(sum == cst__avro_crc64(bytes_of(&form)));
  check_columns(schema, &again);
  cst__avro_schema_reset(&again);
  cst__text_free(&form);
  cst__text_free(&second);
}

static void check_table(cst_bytes text) {
  cst__avro_known known = {.allocator = cst__default_allocator};
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst__avro_known_add_table(&known, text, &error);
  if (status != CST_OK) {
    check_error(status, &error);
  }
  for (size_t i = 0; i < known.count && status == CST_OK; i++) {
    const cst__avro_known_schema *item = known.items[i];
    size_t found = cst__avro_known_fingerprint(&known, item->fingerprint);
    FUZZ_ASSERT(found <= i && known.items[found]->fingerprint == item->fingerprint);
  }
  fuzz_outcome(cst_status_name(status));
  cst__avro_known_reset(&known);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 0 && data[0] == 'T') {
    check_table((cst_bytes){data + 1, size - 1});
    return 0;
  }
  cst__avro_schema schema;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst__avro_schema_parse(&schema, (cst_bytes){data, size}, NULL, &error);
  if (status == CST_OK) {
    check_sound(&schema);
  } else {
    check_error(status, &error);
  }
  fuzz_outcome(cst_status_name(status));
  cst__avro_schema_reset(&schema);
  return 0;
}
