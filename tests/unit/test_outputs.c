/* What a caller's outputs hold after a failure: nothing. A handle is NULL, an Arrow struct
 * released, a number 0, so that cleaning up in one place is always right. */
#include <columnstone/accumulate.h>
#include <columnstone/array.h>
#include <columnstone/dataset.h>
#include <columnstone/index.h>
#include <columnstone/query.h>
#include <columnstone/records.h>
#include <columnstone/sink.h>
#include <columnstone/split.h>
#include <columnstone/validate.h>

#include "source_support.h"

/* Outputs full of what a stack may hold. */
typedef union output {
  void *handle;
  uint64_t number;
  struct ArrowSchema schema;
  struct ArrowArray array;
  struct ArrowArrayStream stream;
  cst_groups groups;
  cst_position position;
  char bytes[128];
} output;

static output outs[2];

static void poison(void) { memset(outs, 0x5a, sizeof outs); }

static void check_clear(int i, size_t size, int line) {
  for (size_t k = 0; k < size; k++) {
    harness_check(outs[i].bytes[k] == 0, __FILE__, line, "an output is cleared");
  }
}

/* The call fails, and the first `size` bytes of its outputs are zero then. */
#define FAILS(call, size0, size1)      \
  do {                                 \
    poison();                          \
    CHECK((call) != CST_OK);           \
    check_clear(0, (size0), __LINE__); \
    check_clear(1, (size1), __LINE__); \
  } while (0)

enum {
  HANDLE = sizeof(void *),
  ARRAY = sizeof(struct ArrowArray),
  SCHEMA = sizeof(struct ArrowSchema)
};

#define OUT(type) ((type *)(void *)&outs[0])
#define OUT2(type) ((type *)(void *)&outs[1])
#define OUT_ARRAY OUT2(struct ArrowArray)

TEST(without_their_first_argument) {
  static const char *const no_path[] = {NULL};
  FAILS(cst_source_open(no_path, 1, NULL, OUT(cst_source *), NULL), HANDLE, 0);
  FAILS(cst_source_open_readers(NULL, 1, NULL, OUT(cst_source *), NULL), HANDLE, 0);
  FAILS(cst_source_open_streams(NULL, 1, NULL, OUT(cst_source *), NULL), HANDLE, 0);
  FAILS(cst_source_schema(NULL, OUT(const cst_schema *), NULL), HANDLE, 0);
  FAILS(cst_source_arrow_schema(NULL, OUT(struct ArrowSchema), NULL), SCHEMA, 0);
  FAILS(cst_source_specs(NULL, OUT(cst_specs *), NULL), HANDLE, 0);
  FAILS(cst_source_stream(NULL, OUT(struct ArrowArrayStream), NULL),
        sizeof(struct ArrowArrayStream), 0);
  FAILS(cst_source_count(NULL, NULL, NULL, OUT(cst_findings *), NULL), HANDLE, 0);
  FAILS(cst_source_verify(NULL, NULL, OUT(cst_findings *), OUT2(cst_findings *), NULL), HANDLE,
        HANDLE);
  FAILS(cst_source_infer(NULL, NULL, NULL, OUT(cst_schema *), NULL), HANDLE, 0);
  FAILS(cst_source_propose(NULL, NULL, OUT(cst_schema *), NULL), HANDLE, 0);
  FAILS(cst_source_validate(NULL, NULL, OUT(cst_findings *), NULL), HANDLE, 0);
  FAILS(cst_accumulator_new(NULL, NULL, 0, NULL, OUT(cst_accumulator *), NULL), HANDLE, 0);
  FAILS(cst_accumulator_open(NULL, NULL, OUT(cst_accumulator *), NULL), HANDLE, 0);
  FAILS(cst_accumulator_from_bytes(NULL, 0, NULL, OUT(cst_accumulator *), NULL), HANDLE, 0);
  FAILS(cst_accumulator_options(NULL, OUT(cst_findings *), NULL), HANDLE, 0);
  FAILS(cst_accumulator_to_bytes(NULL, OUT(char *), OUT2(size_t), NULL), HANDLE, 8);
  FAILS(cst_accumulator_finish_schema(NULL, OUT(cst_schema *), NULL), HANDLE, 0);
  FAILS(cst_accumulator_finish(NULL, OUT(cst_findings *), NULL), HANDLE, 0);
  FAILS(cst_findings_batch(NULL, OUT(struct ArrowSchema), OUT_ARRAY, NULL), SCHEMA, ARRAY);
  FAILS(cst_view_outputs(NULL, OUT(cst_findings *), NULL), HANDLE, 0);
  FAILS(cst_view_params(NULL, OUT(cst_findings *), NULL), HANDLE, 0);
  FAILS(cst_index_batch(NULL, OUT(struct ArrowSchema), OUT_ARRAY, NULL), SCHEMA, ARRAY);
  FAILS(cst_splits_findings(NULL, OUT(cst_findings *), NULL), HANDLE, 0);
  FAILS(cst_source_num_rows(NULL, OUT(uint64_t), NULL), 8, 0);
  FAILS(cst_source_take(NULL, NULL, 0, OUT(struct ArrowArray), NULL), ARRAY, 0);
  FAILS(cst_source_range(NULL, 0, 1, OUT(cst_source *), NULL), HANDLE, 0);
  FAILS(cst_source_split(NULL, 0, 1, OUT(cst_source *), NULL), HANDLE, 0);
  FAILS(cst_pass_new(NULL, OUT(cst_pass *), NULL), HANDLE, 0);
  FAILS(cst_pass_next(NULL, OUT(struct ArrowArray), NULL), ARRAY, 0);
  FAILS(cst_pass_next_tensors(NULL, NULL, OUT(cst_tensors *), NULL), HANDLE, 0);
  FAILS(cst_convert(NULL, "out", NULL, NULL, NULL, OUT(uint64_t), NULL), 8, 0);
  FAILS(cst_sink_open(NULL, NULL, NULL, OUT(cst_sink *), NULL), HANDLE, 0);
  FAILS(cst_sink_open_writer(NULL, NULL, NULL, OUT(cst_sink *), NULL), HANDLE, 0);
  FAILS(cst_tfrecord_writer_open(NULL, NULL, OUT(cst_tfrecord_writer *), NULL), HANDLE, 0);
  FAILS(cst_tfrecord_writer_open_writer(NULL, NULL, OUT(cst_tfrecord_writer *), NULL), HANDLE, 0);
  FAILS(cst_dataset_new(NULL, NULL, OUT(cst_dataset *), NULL), HANDLE, 0);
  FAILS(cst_dataset_shuffle(NULL, OUT(cst_shuffle), NULL), sizeof(cst_shuffle), 0);
  FAILS(cst_dataset_num_rows(NULL, OUT(uint64_t), NULL), 8, 0);
  FAILS(cst_dataset_num_batches(NULL, OUT(uint64_t), NULL), 8, 0);
  FAILS(cst_loader_new(NULL, NULL, 0, 1, OUT(cst_loader *), NULL), HANDLE, 0);
  FAILS(cst_loader_next(NULL, OUT(struct ArrowArray), OUT2(cst_position), NULL), ARRAY,
        sizeof(cst_position));
  FAILS(cst_loader_next_tensors(NULL, NULL, OUT(cst_tensors *), OUT2(cst_position), NULL), HANDLE,
        sizeof(cst_position));
  FAILS(cst_index_build(NULL, NULL, OUT(cst_index *), NULL), HANDLE, 0);
  FAILS(cst_index_open(NULL, NULL, OUT(cst_index *), NULL), HANDLE, 0);
  FAILS(cst_index_open_text(NULL, NULL, NULL, OUT(cst_index *), NULL), HANDLE, 0);
}

TEST(schemas_and_codecs_without_their_first_argument) {
  FAILS(cst_schema_parse(NULL, 1, OUT(cst_schema *), NULL), HANDLE, 0);
  FAILS(cst_schema_open(NULL, OUT(cst_schema *), NULL), HANDLE, 0);
  FAILS(cst_schema_to_text(NULL, OUT(char *), OUT2(size_t), NULL), HANDLE, 8);
  FAILS(cst_schema_to_bytes(NULL, OUT(char *), OUT2(size_t), NULL), HANDLE, 8);
  FAILS(cst_schema_with_specs(NULL, NULL, NULL, OUT(cst_schema *), NULL), HANDLE, 0);
  FAILS(cst_schema_diff(NULL, NULL, OUT(cst_findings *), NULL), HANDLE, 0);
  FAILS(cst_schema_features(NULL, OUT(cst_findings *), NULL), HANDLE, 0);
  FAILS(cst_specs_new(NULL, NULL, OUT(cst_specs *), NULL), HANDLE, 0);
  FAILS(cst_specs_from(NULL, 1, NULL, OUT(cst_specs *), NULL), HANDLE, 0);
  FAILS(cst_specs_of_tensors(NULL, 1, NULL, OUT(cst_specs *), NULL), HANDLE, 0);
  FAILS(cst_decoder_decode(NULL, NULL, 0, OUT(struct ArrowSchema), OUT_ARRAY, NULL), SCHEMA, ARRAY);
  FAILS(cst_decoder_decode_arrow(NULL, NULL, NULL, OUT(struct ArrowSchema), OUT_ARRAY, NULL),
        SCHEMA, ARRAY);
  FAILS(cst_decoder_arrow_schema(NULL, OUT(struct ArrowSchema), NULL), SCHEMA, 0);
  FAILS(cst_encoder_encode(NULL, NULL, NULL, OUT(struct ArrowSchema), OUT_ARRAY, NULL), SCHEMA,
        ARRAY);
  FAILS(cst_decoder_decode(NULL, NULL, 0, OUT(struct ArrowSchema), OUT_ARRAY, NULL), SCHEMA, ARRAY);
  FAILS(cst_decoder_decode_arrow(NULL, NULL, NULL, OUT(struct ArrowSchema), OUT_ARRAY, NULL),
        SCHEMA, ARRAY);
  FAILS(cst_decoder_arrow_schema(NULL, OUT(struct ArrowSchema), NULL), SCHEMA, 0);
  FAILS(cst_encoder_encode(NULL, NULL, NULL, OUT(struct ArrowSchema), OUT_ARRAY, NULL), SCHEMA,
        ARRAY);
  FAILS(cst_tensor_adapter_new(NULL, NULL, NULL, OUT(cst_tensor_adapter *), NULL), HANDLE, 0);
  FAILS(cst_tensor_adapter_convert(NULL, NULL, 0, OUT(cst_tensors *), NULL), HANDLE, 0);
  FAILS(cst_tensor_encoder_new(NULL, NULL, OUT(cst_tensor_encoder *), NULL), HANDLE, 0);
  FAILS(cst_tensor_encoder_arrow_schema(NULL, OUT(struct ArrowSchema), NULL), SCHEMA, 0);
  FAILS(cst_tensor_encoder_encode(NULL, NULL, 0, OUT(struct ArrowArray), NULL), ARRAY, 0);
  FAILS(cst_ndarray_to_dlpack(NULL, NULL, false, OUT(void *), NULL), HANDLE, 0);
  FAILS(cst_ndarray_to_dlpack_unversioned(NULL, NULL, false, OUT(void *), NULL), HANDLE, 0);
  FAILS(cst_ndarray_to_arrow(NULL, NULL, OUT(struct ArrowSchema), OUT_ARRAY, NULL), SCHEMA, ARRAY);
}

TEST(arrays_without_their_first_argument) {
  cst_array *const none = NULL;
  FAILS(cst_array_import(NULL, NULL, 0, NULL, OUT(cst_array *), NULL), HANDLE, 0);
  FAILS(cst_array_export(none, OUT(struct ArrowArray), NULL), ARRAY, 0);
  FAILS(cst_array_slice(none, 0, 1, OUT(cst_array *), NULL), HANDLE, 0);
  FAILS(cst_array_take(none, NULL, 0, OUT(cst_array *), NULL), HANDLE, 0);
  FAILS(cst_array_filter(none, NULL, OUT(cst_array *), NULL), HANDLE, 0);
  FAILS(cst_array_concat(NULL, 1, OUT(cst_array *), NULL), HANDLE, 0);
  FAILS(cst_array_column(none, NULL, OUT(cst_array *), OUT2(cst_array *), NULL), HANDLE, HANDLE);
  FAILS(cst_array_child(none, 0, OUT(cst_array *), NULL), HANDLE, 0);
  FAILS(cst_array_element_lengths(none, OUT(cst_array *), NULL), HANDLE, 0);
  FAILS(cst_array_flatten(none, -1, OUT(cst_array *), OUT2(cst_array *), NULL), HANDLE, HANDLE);
  FAILS(cst_array_from_parents(none, NULL, 0, false, OUT(cst_array *), NULL), HANDLE, 0);
  FAILS(cst_array_coordinates(none, OUT(cst_array *), NULL, 0, OUT2(size_t), NULL), HANDLE, 8);
  FAILS(cst_array_null_mask(none, OUT(cst_array *), NULL), HANDLE, 0);
  FAILS(cst_array_fill_null(none, NULL, OUT(cst_array *), NULL), HANDLE, 0);
  FAILS(cst_array_byte_size(none, OUT(int64_t), NULL), 8, 0);
  FAILS(cst_array_count_invalid_utf8(none, OUT(int64_t), NULL), 8, 0);
  FAILS(cst_array_group_by(none, NULL, 0, OUT(cst_groups), NULL), sizeof(cst_groups), 0);
}

/* Failures far inside: each allocation of a call that makes two outputs. */
static int decode(void *context) {
  const cst_bytes *record = context;
  cst_decoder *decoder;
  poison();
  cst_status status = cst_decoder_new("example", NULL, &decoder, NULL);
  if (status != CST_OK) {
    CHECK(decoder == NULL);
    return (int)status;
  }
  status = cst_decoder_decode(decoder, record, 1, OUT(struct ArrowSchema), OUT_ARRAY, NULL);
  if (status == CST_OK) {
    OUT(struct ArrowSchema)->release(OUT(struct ArrowSchema));
    OUT_ARRAY->release(OUT_ARRAY);
  } else {
    CHECK(OUT(struct ArrowSchema)->release == NULL);
    CHECK(OUT_ARRAY->release == NULL);
  }
  cst_decoder_free(decoder);
  return (int)status;
}

TEST(a_decoder_without_memory) {
  bytes record = {0};
  make_example(&record, 1);
  cst_bytes one = {record.data, record.size};
  FOR_EACH_ALLOCATION_FAILURE(decode, &one, CST_NO_MEMORY);
  bytes_free(&record);
}

/* The whole way of a pass, which has three batches. */
static int walk(void *context) {
  const char *path = context;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source;
  cst_pass *pass = NULL;
  int batches = 0;
  options.batch_size = 2;
  poison();
  cst_status status = cst_source_open(&path, 1, &options, &source, NULL);
  CHECK((status == CST_OK) == (source != NULL));
  if (status == CST_OK) {
    status = cst_source_arrow_schema(source, OUT(struct ArrowSchema), NULL);
    CHECK((status == CST_OK) == (OUT(struct ArrowSchema)->release != NULL));
  }
  if (status == CST_OK) {
    OUT(struct ArrowSchema)->release(OUT(struct ArrowSchema));
    status = cst_pass_new(source, &pass, NULL);
    CHECK((status == CST_OK) == (pass != NULL));
  }
  while (status == CST_OK) {
    memset(OUT_ARRAY, 0x5a, sizeof(struct ArrowArray));
    status = cst_pass_next(pass, OUT_ARRAY, NULL);
    CHECK(status == CST_OK || OUT_ARRAY->release == NULL);
    if (status != CST_OK || OUT_ARRAY->release == NULL) {
      break;
    }
    OUT_ARRAY->release(OUT_ARRAY);
    batches++;
  }
  CHECK(status != CST_OK || batches == 3);
  if (status == CST_OK) { /* the end comes again */
    memset(OUT_ARRAY, 0x5a, sizeof(struct ArrowArray));
    status = cst_pass_next(pass, OUT_ARRAY, NULL);
    CHECK(OUT_ARRAY->release == NULL);
  }
  cst_pass_free(pass);
  cst_source_release(source);
  return (int)status;
}

TEST(a_pass_without_memory) {
  const char *path = write_examples("outputs.tfrecord", 0, 6);
  FOR_EACH_ALLOCATION_FAILURE(walk, (void *)(uintptr_t)path, CST_NO_MEMORY);
}

TEST(a_pass_over_damaged_data) {
  bytes file = {0};
  add_examples(&file, 0, 6);
  file.data[file.size - 1] ^= 1;
  const char *path = write_bytes("damaged_outputs.tfrecord", &file);
  static const char text[] = "feature { name: 'id' type: INT }";
  cst_schema *schema;
  CHECK_EQ(cst_schema_from_text(text, sizeof text - 1, &schema, NULL), CST_OK);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source;
  cst_pass *pass;
  options.schema = schema;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
  for (int i = 0; i < 3; i++) {
    FAILS(cst_pass_next(pass, OUT(struct ArrowArray), NULL), ARRAY, 0);
  }
  cst_pass_free(pass);
  FAILS(cst_source_take(source, (const uint64_t[]){5}, 1, OUT(struct ArrowArray), NULL), ARRAY, 0);
  FAILS(cst_source_take(source, (const uint64_t[]){99}, 1, OUT(struct ArrowArray), NULL), ARRAY, 0);
  cst_source_release(source);
  cst_schema_release(schema);
  bytes_free(&file);
}

/* ---- NULL ---- */

TEST(everything_that_is_given_back_may_be_null) {
  cst_array_release(NULL);
  cst_dataset_release(NULL);
  cst_loader_free(NULL);
  cst_decoder_free(NULL);
  cst_encoder_free(NULL);
  cst_decoder_free(NULL);
  cst_encoder_free(NULL);
  cst_index_free(NULL);
  cst_schema_release(NULL);
  cst_specs_release(NULL);
  cst_sink_free(NULL);
  cst_tfrecord_writer_free(NULL);
  cst_source_release(NULL);
  cst_pass_free(NULL);
  cst_tensor_adapter_free(NULL);
  cst_tensor_encoder_free(NULL);
  cst_tensors_release(NULL);
  cst_findings_free(NULL);
  cst_accumulator_free(NULL);
  cst_free(NULL);
}

TEST(there_is_nothing_in_nothing) {
  uint64_t bytes_read = 1;
  uint64_t rows = 1;
  CHECK(cst_array_retain(NULL) == NULL && cst_dataset_retain(NULL) == NULL);
  CHECK(cst_schema_retain(NULL) == NULL && cst_specs_retain(NULL) == NULL);
  CHECK(cst_source_retain(NULL) == NULL && cst_tensors_retain(NULL) == NULL);
  CHECK_EQ(cst_array_length(NULL), 0);
  CHECK(cst_array_schema(NULL) == NULL);
  CHECK_EQ(cst_source_num_files(NULL), 0);
  CHECK(cst_source_file(NULL, 0) == NULL);
  CHECK(cst_source_format(NULL) == NULL);
  CHECK_EQ(cst_source_total_bytes(NULL), -1);
  cst_pass_progress(NULL, &bytes_read, &rows);
  CHECK_EQ(bytes_read + rows, 0);
  cst_pass_progress(NULL, NULL, NULL);
  CHECK_EQ(cst_pass_dropped(NULL), 0);
  CHECK_EQ(cst_schema_num_features(NULL), 0);
  CHECK(cst_schema_feature(NULL, 0) == NULL);
  CHECK_EQ(cst_specs_num_specs(NULL), 0);
  CHECK(cst_specs_get(NULL, 0) == NULL);
  CHECK_EQ(cst_tensors_num_tensors(NULL), 0);
  CHECK(cst_tensors_get(NULL, 0) == NULL);
  CHECK(cst_tensors_find(NULL, "a") == NULL);
  CHECK_EQ(cst_index_num_records(NULL), 0);
  CHECK_EQ(cst_findings_num_rows(NULL), 0);
  CHECK(cst_findings_name(NULL) == NULL && cst_findings_total_name(NULL, 0) == NULL);
  CHECK_EQ(cst_findings_total(NULL, "a"), -1);
  CHECK(cst_findings_text(NULL, "a", 0) == NULL && !cst_findings_items(NULL, "a", 0, NULL, NULL));
  CHECK_EQ(cst_findings_number(NULL, "a", 0), -1);
}
