/* Records against a schema: the first byte chooses options, the second how to read the rest,
 * which is a schema (two bytes say its size) and records (two bytes each), as they are or made of
 * their bytes; so is what is no schema. A validation finds the same with one thread and with two.
 * The schema that is proposed for the records is one that all of them fit, and makes tensors of
 * them; the same data gets the same proposal. A schema does not differ from itself; two schemas
 * differ in both directions or in none; records that fit one schema fit the other one if no
 * difference between them breaks.
 */
#include <columnstone/tensor.h>
#include <columnstone/validate.h>
#include <stdbool.h>
#include <string.h>

#include "base/crc32c.h"
#include "fuzz.h"
#include "schema_feed.h"

enum { NUM_FILES = 2, MAX_FRAMED = 1 << 18, HEAD = 12, FOOT = 4 };

/* The bits of the first byte. */
enum {
  SEQUENCES = 1,
  RAGGED = 2,
  SMALL_DOMAINS = 4,
  NO_TENSORS = 8,
  IGNORE_UNEXPECTED = 16,
  ENVIRONMENT = 32,
  GROUP = 64,
  ONE_ROW = 128
};

/* And of the second one. */
enum { MADE_RECORDS = 1 };

typedef struct file {
  uint8_t data[MAX_FRAMED];
  size_t size;
} file;

static file files[NUM_FILES];

/* ---- two files in memory ---- */

static cst_status read_at(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                          cst_error *error) {
  const file *f = ctx;
  (void)error;
  size_t there = offset < f->size ? f->size - (size_t)offset : 0;
  *got = size < there ? size : there;
  if (*got > 0) {
    memcpy(buffer, f->data + offset, *got);
  }
  return CST_OK;
}

/* The CRC of the payload is not looked at. */
static void add_record(file *f, const uint8_t *payload, size_t size) {
  const uint64_t length = size;
  uint32_t crc = cst__crc32c(0, &length, sizeof length);
  crc = ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
  if (f->size + HEAD + size + FOOT <= MAX_FRAMED) {
    memcpy(f->data + f->size, &length, sizeof length);
    memcpy(f->data + f->size + 8, &crc, sizeof crc);
    memcpy(f->data + f->size + HEAD, payload, size);
    memset(f->data + f->size + HEAD + size, 0, FOOT);
    f->size += HEAD + size + FOOT;
  }
}

/* The next piece of the input, whose size stands in front of it; as much of it as there is. */
static cst_bytes take_piece(const uint8_t **data, size_t *size) {
  cst_bytes piece = {*data, 0};
  if (*size >= 2) {
    size_t wanted = (size_t)(*data)[0] | (size_t)(*data)[1] << 8;
    piece = (cst_bytes){*data + 2, wanted < *size - 2 ? wanted : *size - 2};
  }
  *size -= piece.size + (*size >= 2 ? 2 : *size);
  *data = piece.data + piece.size;
  return piece;
}

/* Two records to one file, the third to the other one, and so on. */
static void fill_files(const uint8_t *data, size_t size, bool are_made) {
  made_record made;
  files[0].size = 0;
  files[1].size = 0;
  for (size_t i = 0; size >= 2; i++) {
    cst_bytes record = take_piece(&data, &size);
    if (are_made) {
      record = made_example(&made, record.data, record.size);
    }
    add_record(&files[i % 3 == 2], record.data, record.size);
  }
}

static cst_source *open_files(uint8_t bits, int32_t threads, const cst_schema *schema) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_reader readers[NUM_FILES];
  cst_source *source;
  for (size_t i = 0; i < NUM_FILES; i++) {
    readers[i] = (cst_reader){.size = sizeof(cst_reader),
                              .name = i == 0 ? "a" : "b",
                              .read_at = read_at,
                              .ctx = &files[i],
                              .can_seek = true};
  }
  options.format = bits & SEQUENCES ? "sequence_example" : "example";
  options.schema = schema;
  options.batch_size = bits & ONE_ROW ? 1 : 3;
  options.threads = threads;
  options.flags = CST_SOURCE_SKIP_CRC;
  cst_error error = CST_ERROR_INIT;
  FUZZ_ASSERT(cst_source_open_readers(readers, NUM_FILES, &options, &source, &error) == CST_OK);
  return source;
}

/* ---- validations ---- */

static void check_error(cst_status status, const cst_error *error) {
  FUZZ_ASSERT(status != CST_OK && error->code == status && error->message[0] != '\0');
}

/* NULL: the schema cannot be used with such data. */
static cst_findings *validate(uint8_t bits, int32_t threads, const cst_schema *schema) {
  static const char *const group[] = {"", "other"};
  cst_validate_options options = CST_VALIDATE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  cst_findings *found = NULL;
  options.schema = schema;
  options.environment = bits & ENVIRONMENT ? "SERVING" : NULL;
  options.group = group;
  options.num_groups = bits & GROUP ? 2 : 1;
  options.skip_tensors = (bits & NO_TENSORS) != 0;
  options.ignore_unexpected = (bits & IGNORE_UNEXPECTED) != 0;
  options.places = 2;
  cst_source *source = open_files(bits, threads, NULL);
  cst_status status = cst_source_validate(source, &options, &found, &error);
  cst_source_release(source);
  if (status != CST_OK) {
    check_error(status, &error);
    FUZZ_ASSERT(status != CST_CORRUPT && status != CST_NO_MEMORY);
    return NULL;
  }
  return found;
}

static bool are_same_texts(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void check_anomaly(const cst_findings *all, size_t i) {
  size_t begin, end;
  const char *kind = cst_findings_text(all, "kind", i);
  int64_t count = cst_findings_number(all, "count", i);
  FUZZ_ASSERT(cst_findings_items(all, "places", i, &begin, &end));
  FUZZ_ASSERT(kind[0] != '\0' && cst_findings_text(all, "message", i)[0] != '\0' &&
              cst_findings_text(all, "hint", i)[0] != '\0');
  FUZZ_ASSERT(end - begin <= 2 && (int64_t)(end - begin) <= count);
  FUZZ_ASSERT(end - begin == 2 || (int64_t)(end - begin) == count);
  FUZZ_ASSERT(count <= cst_findings_total(all, "num_rows") || strcmp(kind, "record") == 0);
  FUZZ_ASSERT((cst_findings_text(all, "tensor", i) != NULL) ==
              (strcmp(kind, "representation") == 0));
  for (size_t k = begin; k < end; k++) {
    FUZZ_ASSERT(cst_findings_text(all, "places.file", k)[0] != '\0' &&
                cst_findings_number(all, "places.record", k) >= 0);
  }
}

static void same_texts(const cst_findings *a, const cst_findings *b, const char *column, size_t i) {
  FUZZ_ASSERT(are_same_texts(cst_findings_text(a, column, i), cst_findings_text(b, column, i)));
}

static void same_validations(const cst_findings *a, const cst_findings *b) {
  static const char *const texts[] = {"kind", "path", "tensor", "group", "message", "hint"};
  size_t begin, end, other;
  FUZZ_ASSERT((a == NULL) == (b == NULL));
  FUZZ_ASSERT(cst_findings_total(a, "num_rows") == cst_findings_total(b, "num_rows"));
  FUZZ_ASSERT(cst_findings_num_rows(a) == cst_findings_num_rows(b));
  for (size_t i = 0; i < cst_findings_num_rows(a); i++) {
    check_anomaly(a, i);
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
      same_texts(a, b, texts[k], i);
    }
    FUZZ_ASSERT(cst_findings_number(a, "count", i) == cst_findings_number(b, "count", i));
    FUZZ_ASSERT(cst_findings_items(b, "places", i, NULL, &other) &&
                cst_findings_items(a, "places", i, &begin, &end) && other == end);
    for (size_t k = begin; k < end; k++) {
      same_texts(a, b, "places.file", k);
      same_texts(a, b, "places.found", k);
      FUZZ_ASSERT(cst_findings_number(a, "places.record", k) ==
                  cst_findings_number(b, "places.record", k));
    }
  }
}

static void show(const cst_findings *found, const cst_schema *schema) {
  char *text;
  size_t size;
  FUZZ_ASSERT(cst_schema_to_text(schema, &text, &size, NULL) == CST_OK);
  fprintf(stderr, "%s\n", text);
  cst_free(text);
  for (size_t i = 0; i < cst_findings_num_rows(found); i++) {
    fprintf(stderr, "%s %s: %s\n", cst_findings_text(found, "kind", i),
            cst_findings_text(found, "path", i), cst_findings_text(found, "message", i));
  }
}

/* ---- differences ---- */

typedef struct changes {
  size_t count, breaks;
} changes;

static changes diff(const cst_schema *before, const cst_schema *after) {
  cst_findings *found;
  FUZZ_ASSERT(cst_schema_diff(before, after, &found, NULL) == CST_OK);
  changes c = {.count = cst_findings_num_rows(found)};
  for (size_t i = 0; i < c.count; i++) {
    const char *kind = cst_findings_text(found, "kind", i);
    FUZZ_ASSERT(kind[0] != '\0');
    FUZZ_ASSERT(cst_findings_text(found, "before", i) != NULL || strcmp(kind, "removed") != 0);
    FUZZ_ASSERT(cst_findings_text(found, "after", i) != NULL || strcmp(kind, "added") != 0);
    c.breaks += cst_findings_number(found, "breaks", i) == 1;
  }
  cst_findings_free(found);
  return c;
}

static bool fits(const cst_findings *found) {
  return found != NULL && cst_findings_num_rows(found) == 0;
}

/* found: in all the records, with the one schema and with the other one. */
static void check_diff(const cst_schema *a, const cst_findings *found, const cst_schema *b,
                       const cst_findings *other) {
  FUZZ_ASSERT(diff(a, a).count == 0 && diff(b, b).count == 0);
  changes forth = diff(a, b);
  FUZZ_ASSERT((forth.count == 0) == (diff(b, a).count == 0));
  FUZZ_ASSERT(forth.count > 0 || fits(found) == fits(other));
  bool is_empty =
      found != NULL && cst_findings_total(found, "num_rows") == 0; /* nothing is in it */
  bool holds = forth.breaks > 0 || is_empty || !fits(found) || other == NULL || fits(other);
  if (!holds) {
    show(NULL, a);
    show(other, b);
  }
  FUZZ_ASSERT(holds);
}

/* ---- proposals ---- */

static cst_schema *propose(uint8_t bits, int32_t threads) {
  cst_propose_options options = CST_PROPOSE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema = NULL;
  options.ragged = (bits & RAGGED) != 0;
  options.max_domain = bits & SMALL_DOMAINS ? 2 : 0;
  cst_source *source = open_files(bits, threads, NULL);
  cst_status status = cst_source_propose(source, &options, &schema, &error);
  cst_source_release(source);
  if (status != CST_OK) {
    check_error(status, &error);
  }
  return schema;
}

/* Batches by the proposal, and its tensors of them. */
static void convert(uint8_t bits, const cst_schema *schema) {
  cst_error error = CST_ERROR_INIT;
  cst_source *source = open_files(bits, 1, schema);
  cst_specs *specs = NULL;
  cst_tensor_adapter *adapter = NULL;
  cst_pass *pass = NULL;
  cst_tensors *tensors = NULL;
  struct ArrowSchema types = {.release = NULL};
  bool ok = cst_source_specs(source, &specs, &error) == CST_OK &&
            cst_source_arrow_schema(source, &types, &error) == CST_OK &&
            cst_tensor_adapter_new(&types, specs, NULL, &adapter, &error) == CST_OK &&
            cst_pass_new(source, &pass, &error) == CST_OK;
  do {
    cst_tensors_release(tensors);
    tensors = NULL;
    ok = ok && cst_pass_next_tensors(pass, adapter, &tensors, &error) == CST_OK;
  } while (ok && tensors != NULL);
  if (!ok) {
    show(NULL, schema);
    fprintf(stderr, "%s\n", error.message);
  }
  FUZZ_ASSERT(ok);
  cst_pass_free(pass);
  cst_tensor_adapter_free(adapter);
  types.release(&types);
  cst_specs_release(specs);
  cst_source_release(source);
}

/* What the proposal for the records finds in them: nothing. */
static cst_findings *check_proposal(uint8_t bits, const cst_schema *schema) {
  cst_schema *again = propose(bits, 2);
  FUZZ_ASSERT(again != NULL && diff(schema, again).count == 0);
  cst_schema_release(again);
  cst_findings *found = validate(bits & (uint8_t) ~(ENVIRONMENT | GROUP), 1, schema);
  if (!fits(found)) {
    show(found, schema);
  }
  FUZZ_ASSERT(fits(found));
  convert(bits, schema);
  return found;
}

/* ---- the whole ---- */

/* A schema with what validations find by it. */
typedef struct judge {
  cst_schema *schema;
  cst_findings *found;
} judge;

static void judge_reset(judge *j) {
  cst_findings_free(j->found);
  cst_schema_release(j->schema);
}

/* Bytes that are none make one. */
static judge read_judge(uint8_t bits, cst_bytes text) {
  static made_text made;
  judge j = {NULL, NULL};
  cst_error error = CST_ERROR_INIT;
  const uint8_t *data = text.size > 0 ? text.data : (const uint8_t *)"";
  if (cst_schema_parse(data, text.size, &j.schema, &error) != CST_OK) {
    check_error(error.code, &error);
    text = made_schema(&made, data, text.size);
    (void)cst_schema_parse(text.data, text.size, &j.schema, &error);
  }
  if (j.schema != NULL) {
    cst_findings *again = validate(bits, 2, j.schema);
    j.found = validate(bits, 1, j.schema);
    same_validations(j.found, again);
    cst_findings_free(again);
  }
  return j;
}

static void compare(uint8_t bits, const judge *a, const judge *b) {
  if (a->schema != NULL && b->schema != NULL && !(bits & (ENVIRONMENT | GROUP))) {
    check_diff(a->schema, a->found, b->schema, b->found);
    check_diff(b->schema, b->found, a->schema, a->found);
  }
}

/* The same but for one byte. */
static cst_bytes change_byte(cst_bytes text, uint8_t ways) {
  static uint8_t changed[1 << 16];
  size_t at = text.size > 0 ? ways * 31U % text.size : 0;
  size_t size = text.size;
  memcpy(changed, text.data, size);
  if (size > 0) {
    changed[at] = (uint8_t)(changed[at] + 1 + ways % 16);
  }
  return (cst_bytes){changed, size};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  judge proposed = {NULL, NULL};
  uint8_t bits = size > 0 ? data[0] : 0;
  uint8_t ways = size > 1 ? data[1] : 0;
  size_t skipped = size < 2 ? size : 2;
  data += skipped;
  size -= skipped;
  cst_bytes text = take_piece(&data, &size);
  fill_files(data, size, (ways & MADE_RECORDS) != 0);
  proposed.schema = propose(bits, 1);
  if (proposed.schema != NULL) {
    proposed.found = check_proposal(bits, proposed.schema);
  }
  judge given = read_judge(bits, text);
  judge changed = read_judge(bits, change_byte(text, ways));
  compare(bits, &proposed, &given);
  compare(bits, &given, &changed);
  fuzz_outcome(given.schema == NULL  ? "no schema"
               : given.found == NULL ? "no use"
               : fits(given.found)   ? "OK"
                                     : "anomalies");
  judge_reset(&proposed);
  judge_reset(&given);
  judge_reset(&changed);
  return 0;
}
