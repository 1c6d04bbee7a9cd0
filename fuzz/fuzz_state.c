/* Saved states of accumulators: any bytes are refused or loaded, and what is loaded can be used as
 * what it says it is: saved again, merged, and finished.
 *
 * The input: a byte that picks the accumulator, and the state without name, version, checksum and,
 * for validation, lengths and statistics, the mark of its plan, which the target puts around it.
 */
#include <string.h>

#include "base/crc32c.h"
#include "fuzz.h"
#include "schema/inference.h"
#include "statistics/statistics.h"
#include "validate/counts.h"
#include "validate/proposal.h"
#include "validate/validation.h"

static const char schema_text[] =
    "feature { name: 'a' type: INT int_domain { min: 0 max: 9 } presence { min_fraction: 1 } }"
    "feature { name: 's' type: BYTES string_domain { value: 'x' } value_count { min: 1 max: 2 } }"
    "feature { name: 'f' type: FLOAT float_domain { max: 1 disallow_nan: true } }"
    "tensor_representation_group { key: '' value { tensor_representation { key: 'd' value {"
    "  sparse_tensor { dense_shape { dim { size: 9 } } index_column_names: 'a'"
    "  value_column_name: 'f' } } } } }";

enum { MAX_INPUT = 1 << 16 };

typedef struct target {
  const cst__accumulator *accumulator;
  const void *plan;
} target;

static void append_number(cst__text *out, uint64_t value) {
  cst__archive a = cst__archive_to(out);
  cst__archive_u64(&a, &value);
}

/* The bytes as cst__accumulator_save would have written them. */
static void frame(const target *t, const uint8_t *data, size_t size, cst__text *out) {
  size_t name_size = strlen(t->accumulator->name);
  cst__text_puts(out, "CSTS");
  append_number(out, name_size);
  cst__text_append(out, t->accumulator->name, name_size);
  append_number(out, t->accumulator->version);
  append_number(out, 0); /* options */
  if (t->accumulator == &cst__validation_accumulator) {
    append_number(out, ((const cst__validation_plan *)t->plan)->mark);
  }
  if (t->accumulator == &cst__lengths_accumulator ||
      t->accumulator == &cst__statistics_accumulator) {
    append_number(out, 0);
  }
  cst__text_append(out, data, size);
  uint32_t crc = cst__crc32c(0, out->data, out->size);
  cst__text_append(out, &crc, sizeof crc);
  FUZZ_ASSERT(!out->failed);
}

static void *load(const target *t, const char *bytes, size_t size, cst_status *status) {
  cst_error error = CST_ERROR_INIT;
  void *state = NULL;
  cst_bytes saved = {(const uint8_t *)bytes, size};
  *status = cst__accumulator_load(t->accumulator, t->plan, saved, NULL, &state, &error);
  FUZZ_ASSERT(*status != CST_OK || state != NULL);
  FUZZ_ASSERT(*status == CST_OK || (error.code == *status && error.message[0] != '\0'));
  FUZZ_ASSERT(*status == CST_OK || *status == CST_INVALID_ARGUMENT);
  return state;
}

/* Made-up counts may give a schema that does not pass, and statistics may lack columns that their
 * options name; then it has to say so. */
static void finish(const target *t, const void *state) {
  cst_error error = CST_ERROR_INIT;
  cst_findings *found = NULL;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_status status = t->accumulator->finish(state, &found, &error);
  FUZZ_ASSERT(status == CST_OK || (error.message[0] != '\0' && status != CST_NO_MEMORY));
  FUZZ_ASSERT(status == CST_OK || t->accumulator->finish_schema != NULL ||
              (t->accumulator == &cst__statistics_accumulator && status == CST_NOT_FOUND));
  if (status != CST_OK) {
    return;
  }
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    int64_t rows = cst_findings_total(found, "num_rows");
    const char *message = cst_findings_text(found, "message", i);
    FUZZ_ASSERT(cst_findings_text(found, "path", i) != NULL);
    FUZZ_ASSERT(message == NULL || message[0] != '\0');
    /* structs in lists may be more than rows */
    FUZZ_ASSERT(t->accumulator == &cst__statistics_accumulator ||
                cst_findings_number(found, "rows", i) <= rows);
    FUZZ_ASSERT(cst_findings_number(found, "empty", i) <= cst_findings_number(found, "lists", i));
  }
  FUZZ_ASSERT(cst_findings_batch(found, &schema, &batch, &error) == CST_OK);
  FUZZ_ASSERT((size_t)batch.length == cst_findings_num_rows(found));
  schema.release(&schema);
  batch.release(&batch);
  cst_findings_free(found);
}

/* Saving again gives the same from then on. */
static void save_again(const target *t, const void *state) {
  char *first = NULL;
  char *second = NULL;
  size_t first_size = 0;
  size_t second_size = 0;
  cst_status status;
  FUZZ_ASSERT(cst__accumulator_save(t->accumulator, NULL, state, &first, &first_size, NULL) ==
              CST_OK);
  void *loaded = load(t, first, first_size, &status);
  FUZZ_ASSERT(status == CST_OK);
  FUZZ_ASSERT(cst__accumulator_save(t->accumulator, NULL, loaded, &second, &second_size, NULL) ==
              CST_OK);
  FUZZ_ASSERT(first_size == second_size && memcmp(first, second, first_size) == 0);
  finish(t, loaded);
  t->accumulator->free(loaded);
  cst_free(first);
  cst_free(second);
}

static void use(const target *t, const char *bytes, size_t size, void *state) {
  cst_status status;
  void *other = load(t, bytes, size, &status);
  void *empty = NULL;
  cst_error error = CST_ERROR_INIT;
  FUZZ_ASSERT(status == CST_OK);
  FUZZ_ASSERT(t->accumulator->create(t->plan, NULL, &empty, NULL) == CST_OK);
  save_again(t, state);
  finish(t, state);
  status = t->accumulator->merge(state, other, &error);
  if (status == CST_LIMIT && t->accumulator == &cst__statistics_accumulator) { /* huge weights */
    t->accumulator->free(empty);
    t->accumulator->free(other);
    return;
  }
  FUZZ_ASSERT(status == CST_OK); /* no type differs */
  finish(t, state);
  save_again(t, state);
  FUZZ_ASSERT(t->accumulator->merge(empty, other, &error) == CST_OK);
  finish(t, empty);
  t->accumulator->free(empty);
  t->accumulator->free(other);
}

static void run(const target *t, const uint8_t *data, size_t size) {
  cst__text bytes = {0};
  cst_status status;
  frame(t, data, size, &bytes);
  void *state = load(t, bytes.data, bytes.size, &status);
  if (status == CST_OK) {
    use(t, bytes.data, bytes.size, state);
    t->accumulator->free(state);
  }
  fuzz_outcome(status == CST_OK ? "OK" : cst_status_name(status));
  cst__text_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static cst_propose_options propose_options = CST_PROPOSE_OPTIONS_INIT;
  static cst_validate_options validate_options = CST_VALIDATE_OPTIONS_INIT;
  static cst__validation_source source = {.group = ""};
  static cst__validation_plan plan;
  static const cst__inference_plan looks = {true};
  static cst__owned_plan lengths;
  static cst__owned_plan statistics;
  static cst_schema *schema;
  if (size == 0 || size > MAX_INPUT) {
    fuzz_outcome("no use");
    return 0;
  }
  if (schema == NULL) {
    propose_options.max_domain = 3;
    propose_options.group = "";
    FUZZ_ASSERT(cst_schema_from_text(schema_text, strlen(schema_text), &schema, NULL) == CST_OK);
    FUZZ_ASSERT(cst__validation_plan_init(&plan, schema, &validate_options, &source, NULL, NULL) ==
                CST_OK);
    const struct {
      const char *const *columns;
      size_t num_columns;
    } no_columns = {NULL, 0};
    FUZZ_ASSERT(cst__lengths_accumulator.plan(&no_columns, NULL, &lengths, NULL) == CST_OK);
    static const char *const by[] = {"g"};
    static const char *const pairs[] = {"*"};
    const cst__statistics_options options = {.by = by,
                                             .num_by = 1,
                                             .weight = "w",
                                             .pairs = pairs,
                                             .num_pairs = 1,
                                             .error = 0.5,
                                             .quantiles = 4,
                                             .buckets = 4,
                                             .top = 2,
                                             .counters = 2,
                                             .slices = 3,
                                             .memory = 64};
    FUZZ_ASSERT(cst__statistics_accumulator.plan(&options, NULL, &statistics, NULL) == CST_OK);
  }
  const target targets[] = {{&cst__inference_accumulator, NULL},
                            {&cst__proposal_accumulator, &propose_options},
                            {&cst__validation_accumulator, &plan},
                            {&cst__counts_accumulator, NULL},
                            {&cst__inference_accumulator, &looks},
                            {&cst__lengths_accumulator, lengths.plan},
                            {&cst__statistics_accumulator, statistics.plan}};
  run(&targets[data[0] % 7], data + 1, size - 1);
  return 0;
}
