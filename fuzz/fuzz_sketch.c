/* Saved sketches, and what tfx_bsl serialises: any bytes are refused or loaded, and what is loaded
 * can be used as what it says it is: asked, merged, and saved to the same bytes.
 *
 * The input: a byte that picks the kind, or one of tfx_bsl's messages; then the message, or the
 * options and the state of the sketch without name, version and checksum, which the target puts
 * around them.
 */
#include <string.h>

#include "base/crc32c.h"
#include "fuzz.h"
#include "sketch/correlation.h"
#include "sketch/distinct_sketch.h"
#include "sketch/heavy_hitters.h"
#include "sketch/histogram.h"
#include "sketch/kmv.h"
#include "sketch/misra_gries/misra_gries.h"
#include "sketch/moments.h"
#include "sketch/mutual_information.h"
#include "sketch/quantile_summary/summary.h"
#include "sketch/quantiles_sketch.h"

enum { MAX_INPUT = 1 << 16 };

static void append_number(cst__text *out, uint64_t value) {
  cst__archive a = cst__archive_to(out);
  cst__archive_u64(&a, &value);
}

/* The bytes as cst_sketch_to_bytes would have written them. */
static void frame(const cst__sketch_kind *kind, const uint8_t *data, size_t size, cst__text *out) {
  static const char prefix[] = "sketch.";
  cst__text_puts(out, "CSTS");
  append_number(out, strlen(prefix) + strlen(kind->name));
  cst__text_puts(out, prefix);
  cst__text_puts(out, kind->name);
  append_number(out, kind->version);
  cst__text_append(out, data, size);
  uint32_t crc = cst__crc32c(0, out->data, out->size);
  cst__text_append(out, &crc, sizeof crc);
  FUZZ_ASSERT(!out->failed);
}

/* A copy by way of its bytes, which are the same again. */
static cst_sketch *copy(const cst_sketch *sketch) {
  cst_sketch *again;
  char *first;
  char *second;
  size_t first_size;
  size_t second_size;
  FUZZ_ASSERT(cst_sketch_to_bytes(sketch, &first, &first_size, NULL) == CST_OK);
  FUZZ_ASSERT(cst_sketch_from_bytes(first, first_size, NULL, &again, NULL) == CST_OK);
  FUZZ_ASSERT(cst_sketch_to_bytes(again, &second, &second_size, NULL) == CST_OK);
  FUZZ_ASSERT(first_size == second_size && memcmp(first, second, first_size) == 0);
  cst_free(first);
  cst_free(second);
  return again;
}

static void ask_distinct(const cst_sketch *sketch) {
  double estimate;
  double lower;
  double upper;
  FUZZ_ASSERT(cst_sketch_distinct(sketch, 2, &estimate, &lower, &upper, NULL) == CST_OK);
  FUZZ_ASSERT(0 <= lower && lower <= estimate && estimate <= upper);
}

static void ask_top(const cst_sketch *sketch) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  FUZZ_ASSERT(cst_sketch_top(sketch, 1 << 20, &schema, &array, NULL) == CST_OK);
  const double *lower = array.children[1]->buffers[1];
  const double *upper = array.children[2]->buffers[1];
  const bool is_heavy = strcmp(cst_sketch_kind(sketch), "heavy_hitters") == 0;
  for (int64_t i = 0; is_heavy && i < array.length; i++) { /* of the other, weights may be < 0 */
    FUZZ_ASSERT(0 < lower[i] && lower[i] <= upper[i] && (i == 0 || upper[i] <= upper[i - 1]));
  }
  array.release(&array);
  schema.release(&schema);
}

/* Parts between the extremes have all the weight; tfx_bsl's form is read again. */
static void ask_quantiles(const cst_sketch *sketch) {
  double bounds[5];
  double parts[4];
  double weight;
  char *message;
  size_t size;
  size_t num_streams;
  cst_sketch *read;
  FUZZ_ASSERT(cst_sketch_ranked(sketch, &weight, NULL, NULL) == CST_OK);
  FUZZ_ASSERT(cst_sketch_parts(sketch, CST_PARTS_EQUAL_DEPTH, 4, bounds, parts, NULL) == CST_OK);
  for (size_t i = 0; i < 4 && weight > 0; i++) {
    FUZZ_ASSERT(bounds[i] <= bounds[i + 1] && parts[i] >= 0);
  }
  FUZZ_ASSERT(cst_sketch_to_tfx_bsl_streams(&sketch, 1, &message, &size, NULL) == CST_OK);
  FUZZ_ASSERT(cst_sketch_new("quantiles", NULL, 0, NULL, &read, NULL) == CST_OK);
  cst_status status = cst_sketch_add_tfx_bsl_stream(
      read, (cst_bytes){(const uint8_t *)message, size}, 0, &num_streams, NULL);
  FUZZ_ASSERT(status == CST_OK ? num_streams == 1 : status != CST_NO_MEMORY);
  cst_sketch_free(read);
  cst_free(message);
}

/* Through tfx_bsl's form. */
static void exchange(const cst_sketch *sketch) {
  cst_sketch *again;
  char *message;
  size_t size;
  cst_error error = CST_ERROR_INIT;
  FUZZ_ASSERT(cst_sketch_to_tfx_bsl(sketch, &message, &size, NULL) == CST_OK);
  cst_status status =
      cst_sketch_from_tfx_bsl(cst_sketch_kind(sketch), message, size, NULL, &again, &error);
  FUZZ_ASSERT(status == CST_OK || error.message[0] != '\0');
  cst_sketch_free(again);
  cst_free(message);
}

/* Cuts rise; tfx_bsl's form says all that there is. */
static void ask_summary(const cst_sketch *sketch) {
  double values[5];
  double upto[5];
  char *messages[2];
  size_t sizes[2];
  size_t num_streams;
  cst_sketch *read;
  FUZZ_ASSERT(cst_sketch_cuts(sketch, 4, values, upto, NULL) == CST_OK);
  for (size_t i = 0; i < 4 && upto[4] > 0; i++) {
    FUZZ_ASSERT(values[i] <= values[i + 1]);
  }
  FUZZ_ASSERT(cst_sketch_to_tfx_bsl_streams(&sketch, 1, &messages[0], &sizes[0], NULL) == CST_OK);
  cst_status status = cst_sketch_from_tfx_bsl_stream(
      (cst_bytes){(const uint8_t *)messages[0], sizes[0]}, 0, NULL, &read, &num_streams, NULL);
  FUZZ_ASSERT(status == CST_OK ? num_streams == 1 : status != CST_NO_MEMORY);
  if (status == CST_OK) {
    FUZZ_ASSERT(cst_sketch_to_tfx_bsl_streams((const cst_sketch *const *)&read, 1, &messages[1],
                                              &sizes[1], NULL) == CST_OK);
    FUZZ_ASSERT(sizes[0] == sizes[1] && memcmp(messages[0], messages[1], sizes[0]) == 0);
    FUZZ_ASSERT(cst_sketch_compact(read, NULL) == CST_OK);
    cst_free(messages[1]);
  }
  cst_sketch_free(read);
  cst_free(messages[0]);
}

static void ask(const cst_sketch *sketch) {
  const char *kind = cst_sketch_kind(sketch);
  if (strcmp(kind, "distinct") == 0 || strcmp(kind, "kmv") == 0) {
    ask_distinct(sketch);
  }
  if (strcmp(kind, "quantiles") == 0) {
    ask_quantiles(sketch);
  }
  if (strcmp(kind, "quantile_summary") == 0) {
    ask_summary(sketch);
  }
  const bool has_top = strcmp(kind, "heavy_hitters") == 0 || strcmp(kind, "misra_gries") == 0;
  if (has_top) {
    ask_top(sketch);
  }
  if (has_top || strcmp(kind, "kmv") == 0) {
    exchange(sketch);
  }
}

static void use(cst_sketch *sketch) {
  ask(sketch);
  cst_sketch *other = copy(sketch);
  cst_status merged = cst_sketch_merge(sketch, other, NULL);
  FUZZ_ASSERT(merged == CST_OK || merged == CST_LIMIT); /* weights without a sum */
  if (merged == CST_OK) {
    ask(sketch);
    cst_sketch_free(copy(sketch));
  }
  cst_sketch_free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const cst__sketch_kind *const kinds[] = {
      &cst__distinct_kind, &cst__heavy_kind,     &cst__kmv_kind,
      &cst__moments_kind,  &cst__histogram_kind, &cst__correlation_kind,
      &cst__mutual_kind,   &cst__quantiles_kind, &cst__misra_kind,
  };
  static const char *const forms[] = {"kmv", "heavy_hitters", "misra_gries"};
  enum { NUM_FORMS = sizeof forms / sizeof forms[0] };
  enum { NUM_KINDS = sizeof kinds / sizeof kinds[0], SUMMARY = NUM_KINDS + NUM_FORMS, STREAM, END };
  cst_sketch *sketch = NULL;
  cst_error error = CST_ERROR_INIT;
  cst__text bytes = {0};
  cst_status status;
  if (size == 0 || size > MAX_INPUT) {
    fuzz_outcome("no use");
    return 0;
  }
  size_t pick = data[0] % END;
  if (pick < NUM_KINDS || pick == SUMMARY) {
    frame(pick < NUM_KINDS ? kinds[pick] : &cst__summary_kind, data + 1, size - 1, &bytes);
    status = cst_sketch_from_bytes(bytes.data, bytes.size, NULL, &sketch, &error);
  } else if (pick == STREAM) {
    size_t num_streams;
    status = cst_sketch_from_tfx_bsl_stream((cst_bytes){data + 1, size - 1}, 0, NULL, &sketch,
                                            &num_streams, &error);
    if (status == CST_OK && num_streams == 0) {
      fuzz_outcome("no use");
      return 0;
    }
  } else {
    status =
        cst_sketch_from_tfx_bsl(forms[pick - NUM_KINDS], data + 1, size - 1, NULL, &sketch, &error);
  }
  FUZZ_ASSERT((status == CST_OK) == (sketch != NULL));
  if (status == CST_OK) {
    use(sketch);
  } else {
    FUZZ_ASSERT(error.code == status && error.message[0] != '\0');
  }
  cst_sketch_free(sketch);
  cst__text_free(&bytes);
  fuzz_outcome(status == CST_OK ? "OK" : cst_status_name(status));
  return 0;
}
