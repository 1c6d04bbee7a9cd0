/* What every public function does with its arguments: structs that begin with their size, of older
 * and newer versions, and outputs, which hold nothing after a failure. */
#include "base/arguments.h"

#include <columnstone/accumulate.h>
#include <columnstone/array.h>
#include <columnstone/arrow.h>
#include <columnstone/dataset.h>
#include <columnstone/format.h>
#include <columnstone/index.h>
#include <columnstone/lineage.h>
#include <columnstone/message.h>
#include <columnstone/options.h>
#include <columnstone/query.h>
#include <columnstone/records.h>
#include <columnstone/schema.h>
#include <columnstone/sketch.h>
#include <columnstone/split.h>
#include <columnstone/statistics.h>
#include <columnstone/structured.h>
#include <columnstone/tensor.h>
#include <columnstone/validate.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "source_support.h"

/* ---- initialisers ---- */

static void check_init(const void *made, size_t size) {
  const char *all = made;
  size_t said;
  memcpy(&said, made, sizeof said);
  CHECK_EQ(said, size);
  for (size_t i = sizeof said; i < size; i++) {
    CHECK_EQ(all[i], 0);
  }
}

#define CHECK_INIT(type, init)      \
  do {                              \
    static const type made = init;  \
    check_init(&made, sizeof made); \
  } while (0)

TEST(initialisers_say_the_size_and_nothing_else) {
  CHECK_INIT(cst_allocator, CST_ALLOCATOR_INIT);
  CHECK_INIT(cst_dataset_options, CST_DATASET_OPTIONS_INIT);
  CHECK_INIT(cst_decode_options, CST_DECODE_OPTIONS_INIT);
  CHECK_INIT(cst_encode_options, CST_ENCODE_OPTIONS_INIT);
  CHECK_INIT(cst_lineage_artifact, CST_LINEAGE_ARTIFACT_INIT);
  CHECK_INIT(cst_lineage_execution, CST_LINEAGE_EXECUTION_INIT);
  CHECK_INIT(cst_lineage_gc_options, CST_LINEAGE_GC_OPTIONS_INIT);
  CHECK_INIT(cst_lineage_graph_options, CST_LINEAGE_GRAPH_OPTIONS_INIT);
  CHECK_INIT(cst_lineage_lease_options, CST_LINEAGE_LEASE_OPTIONS_INIT);
  CHECK_INIT(cst_lineage_openlineage_options, CST_LINEAGE_OPENLINEAGE_OPTIONS_INIT);
  CHECK_INIT(cst_lineage_options, CST_LINEAGE_OPTIONS_INIT);
  CHECK_INIT(cst_lineage_query, CST_LINEAGE_QUERY_INIT);
  CHECK_INIT(cst_lineage_read_options, CST_LINEAGE_READ_OPTIONS_INIT);
  CHECK_INIT(cst_lineage_trace_options, CST_LINEAGE_TRACE_OPTIONS_INIT);
  CHECK_INIT(cst_mix_options, CST_MIX_OPTIONS_INIT);
  CHECK_INIT(cst_propose_options, CST_PROPOSE_OPTIONS_INIT);
  CHECK_INIT(cst_reader, CST_READER_INIT);
  CHECK_INIT(cst_sink_options, CST_SINK_OPTIONS_INIT);
  CHECK_INIT(cst_source_options, CST_SOURCE_OPTIONS_INIT);
  CHECK_INIT(cst_specs_options, CST_SPECS_OPTIONS_INIT);
  CHECK_INIT(cst_stream_opener, CST_STREAM_OPENER_INIT);
  CHECK_INIT(cst_tensor_options, CST_TENSOR_OPTIONS_INIT);
  CHECK_INIT(cst_tree_options, CST_TREE_OPTIONS_INIT);
  CHECK_INIT(cst_validate_options, CST_VALIDATE_OPTIONS_INIT);
  CHECK_INIT(cst_writer, CST_WRITER_INIT);
}

/* ---- structs without a size ---- */

typedef struct frozen {
  const char *name;
  size_t size;
  size_t expected;
} frozen;

/* Callers walk arrays of them, and make them by value: from version 1.0 on none of these numbers
 * may change. */
static const frozen all_frozen[] = {
    {"cst_arrow_type", sizeof(cst_arrow_type), 40},
    {"cst_block_array", sizeof(cst_block_array), 64},
    {"cst_bytes", sizeof(cst_bytes), 16},
    {"cst_container_info", sizeof(cst_container_info), 32},
    {"cst_correlation", sizeof(cst_correlation), 80},
    {"cst_dropped", sizeof(cst_dropped), 48},
    {"cst_feature", sizeof(cst_feature), 56},
    {"cst_field_copy", sizeof(cst_field_copy), 48},
    {"cst_field_update", sizeof(cst_field_update), 24},
    {"cst_format_info", sizeof(cst_format_info), 32},
    {"cst_groups", sizeof(cst_groups), 16},
    {"cst_index_item", sizeof(cst_index_item), 56},
    {"cst_lineage_event", sizeof(cst_lineage_event), 16},
    {"cst_lineage_file", sizeof(cst_lineage_file), 24},
    {"cst_lineage_property", sizeof(cst_lineage_property), 48},
    {"cst_lineage_reference", sizeof(cst_lineage_reference), 16},
    {"cst_message_guess", sizeof(cst_message_guess), 40},
    {"cst_moments", sizeof(cst_moments), 120},
    {"cst_mutual_information", sizeof(cst_mutual_information), 72},
    {"cst_ndarray", sizeof(cst_ndarray), 48},
    {"cst_option", sizeof(cst_option), 24},
    {"cst_option_info", sizeof(cst_option_info), 120},
    {"cst_packer_place", sizeof(cst_packer_place), 16},
    {"cst_pad", sizeof(cst_pad), 72},
    {"cst_pad_sizes", sizeof(cst_pad_sizes), 16},
    {"cst_partition", sizeof(cst_partition), 16},
    {"cst_path", sizeof(cst_path), 16},
    {"cst_position", sizeof(cst_position), 48},
    {"cst_query_function", sizeof(cst_query_function), 48},
    {"cst_query_value", sizeof(cst_query_value), 16},
    {"cst_sketch_number", sizeof(cst_sketch_number), 16},
    {"cst_split", sizeof(cst_split), 48},
    {"cst_statistics_named", sizeof(cst_statistics_named), 16},
    {"cst_tensor", sizeof(cst_tensor), 192},
    {"cst_tensor_spec", sizeof(cst_tensor_spec), 160},
};

TEST(structs_without_a_size_keep_theirs) {
  for (size_t i = 0; i < sizeof all_frozen / sizeof *all_frozen; i++) {
    CHECK_EQ(all_frozen[i].size, all_frozen[i].expected);
  }
}

static bool is_frozen(const char *name) {
  for (size_t i = 0; i < sizeof all_frozen / sizeof *all_frozen; i++) {
    if (strcmp(all_frozen[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

/* How many structs of a header have no size; each has to be in the list. */
static size_t count_frozen(const char *path) {
  char line[256];
  char name[64];
  size_t count = 0;
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "typedef struct %63[a-z_] {", name) == 1 && strchr(line, '{') != NULL) {
      CHECK(fgets(line, sizeof line, file) != NULL);
      if (strncmp(line, "  size_t size; ", 15) != 0) {
        CHECK_STR(is_frozen(name) ? "" : name, "");
        count++;
      }
    }
  }
  (void)fclose(file);
  return count;
}

TEST(no_struct_without_a_size_is_forgotten) {
  glob_t headers;
  size_t count = 0;
  CHECK_EQ(glob("include/columnstone/*.h", 0, NULL, &headers), 0);
  for (size_t i = 0; i < headers.gl_pathc; i++) {
    count += count_frozen(headers.gl_pathv[i]);
  }
  globfree(&headers);
  CHECK_EQ(count, sizeof all_frozen / sizeof *all_frozen);
}

/* ---- sizes ---- */

/* Calls that take a struct with a size; `options` is of one size or another. */
typedef struct call {
  const char *name;
  size_t size; /* ours */
  cst_status (*run)(const void *options, cst_error *error);
} call;

static cst_source *open_examples(void) {
  const char *path = write_examples("rows.tfrecord", 0, 4);
  cst_source *source;
  CHECK_EQ(cst_source_open(&path, 1, NULL, &source, NULL), CST_OK);
  return source;
}

static cst_status run_source(const void *options, cst_error *error) {
  const char *path = write_examples("rows.tfrecord", 0, 4);
  cst_source *source;
  CST__TRY(cst_source_open(&path, 1, options, &source, error));
  cst_source_release(source);
  return CST_OK;
}

static cst_status run_dataset(const void *options, cst_error *error) {
  cst_source *source = open_examples();
  cst_dataset *dataset;
  cst_status status = cst_dataset_new(source, options, &dataset, error);
  cst_dataset_release(dataset);
  cst_source_release(source);
  return status;
}

static cst_status run_mix(const void *options, cst_error *error) {
  cst_source *source = open_examples();
  cst_dataset *dataset = NULL;
  cst_dataset *mix;
  CHECK_EQ(cst_dataset_new(source, NULL, &dataset, NULL), CST_OK);
  cst_status status = cst_dataset_mix(&dataset, 1, options, &mix, error);
  cst_dataset_release(mix);
  cst_dataset_release(dataset);
  cst_source_release(source);
  return status;
}

static cst_status run_example_decoder(const void *options, cst_error *error) {
  cst_decoder *decoder;
  cst_status status = cst_decoder_new("example", options, &decoder, error);
  cst_decoder_free(decoder);
  return status;
}

static cst_status run_example_encoder(const void *options, cst_error *error) {
  cst_encoder *encoder;
  cst_status status = cst_encoder_new("example", options, &encoder, error);
  cst_encoder_free(encoder);
  return status;
}

static cst_status run_sequence_decoder(const void *options, cst_error *error) {
  cst_decoder *decoder;
  cst_status status = cst_decoder_new("sequence_example", options, &decoder, error);
  cst_decoder_free(decoder);
  return status;
}

static cst_status run_sequence_encoder(const void *options, cst_error *error) {
  cst_encoder *encoder;
  cst_status status = cst_encoder_new("sequence_example", options, &encoder, error);
  cst_encoder_free(encoder);
  return status;
}

static cst_status run_tfrecord_writer(const void *options, cst_error *error) {
  cst_tfrecord_writer *writer;
  cst_status status =
      cst_tfrecord_writer_open(harness_temp_path("out.tfrecord"), options, &writer, error);
  cst_tfrecord_writer_free(writer);
  return status;
}

static cst_status run_convert(const void *options, cst_error *error) {
  (void)unlink(harness_temp_path("out.jsonl"));
  cst_source *source = open_examples();
  cst_status status =
      cst_convert(source, harness_temp_path("out.jsonl"), options, NULL, NULL, NULL, error);
  cst_source_release(source);
  return status;
}

static cst_schema *small_schema(void) {
  static const char text[] = "feature { name: 'id' type: INT }";
  cst_schema *schema;
  CHECK_EQ(cst_schema_from_text(text, sizeof text - 1, &schema, NULL), CST_OK);
  return schema;
}

static cst_status run_specs(const void *options, cst_error *error) {
  cst_schema *schema = small_schema();
  cst_specs *specs;
  cst_status status = cst_specs_new(schema, options, &specs, error);
  cst_specs_release(specs);
  cst_schema_release(schema);
  return status;
}

static cst_status run_adapter(const void *options, cst_error *error) {
  cst_source *source = open_examples();
  struct ArrowSchema schema;
  cst_specs *specs;
  cst_tensor_adapter *adapter;
  CHECK_EQ(cst_source_arrow_schema(source, &schema, NULL), CST_OK);
  CHECK_EQ(cst_source_specs(source, &specs, NULL), CST_OK);
  cst_status status = cst_tensor_adapter_new(&schema, specs, options, &adapter, error);
  cst_tensor_adapter_free(adapter);
  cst_specs_release(specs);
  schema.release(&schema);
  cst_source_release(source);
  return status;
}

static cst_status run_validate(const void *options, cst_error *error) {
  const char *path = write_examples("rows.tfrecord", 0, 4);
  cst_source_options with = CST_SOURCE_OPTIONS_INIT;
  cst_schema *schema = small_schema();
  cst_source *source;
  cst_findings *found;
  with.schema = schema;
  CHECK_EQ(cst_source_open(&path, 1, &with, &source, NULL), CST_OK);
  cst_status status = cst_source_validate(source, options, &found, error);
  cst_findings_free(found);
  cst_source_release(source);
  cst_schema_release(schema);
  return status;
}

static cst_status run_propose(const void *options, cst_error *error) {
  cst_source *source = open_examples();
  cst_schema *schema;
  cst_status status = cst_source_propose(source, options, &schema, error);
  cst_schema_release(schema);
  cst_source_release(source);
  return status;
}

static cst_status run_splits(const void *options, cst_error *error) {
  const char *path = write_examples("rows.tfrecord", 0, 4);
  cst_splits *splits;
  cst_status status = cst_splits_plan(&path, 1, options, &splits, error);
  cst_splits_free(splits);
  return status;
}

static cst_status run_index(const void *options, cst_error *error) {
  cst_index *index;
  cst_status status =
      cst_index_build(write_examples("rows.tfrecord", 0, 4), options, &index, error);
  cst_index_free(index);
  return status;
}

static cst_status run_tree(const void *options, cst_error *error) {
  cst_source *source = open_examples();
  struct ArrowSchema schema;
  char *text;
  CHECK_EQ(cst_source_arrow_schema(source, &schema, NULL), CST_OK);
  cst_status status = cst_type_to_text(&schema, options, &text, NULL, error);
  cst_free(text);
  schema.release(&schema);
  cst_source_release(source);
  return status;
}

static const call calls[] = {
    {"splits", sizeof(cst_split_options), run_splits},
    {"index", sizeof(cst_index_options), run_index},
    {"tree", sizeof(cst_tree_options), run_tree},
    {"source", sizeof(cst_source_options), run_source},
    {"dataset", sizeof(cst_dataset_options), run_dataset},
    {"mix", sizeof(cst_mix_options), run_mix},
    {"example decoder", sizeof(cst_decode_options), run_example_decoder},
    {"example encoder", sizeof(cst_encode_options), run_example_encoder},
    {"sequence decoder", sizeof(cst_decode_options), run_sequence_decoder},
    {"sequence encoder", sizeof(cst_encode_options), run_sequence_encoder},
    {"TFRecord writer", sizeof(cst_sink_options), run_tfrecord_writer},
    {"sink", sizeof(cst_sink_options), run_convert},
    {"specs", sizeof(cst_specs_options), run_specs},
    {"adapter", sizeof(cst_tensor_options), run_adapter},
    {"validate", sizeof(cst_validate_options), run_validate},
    {"propose", sizeof(cst_propose_options), run_propose},
};

/* Options of `size` bytes and no more (the sanitizers watch the end of the block), all zero but the
 * byte at `set`, if they have that. */
static cst_status run_sized(const call *c, size_t size, size_t set, cst_error *error) {
  char *options = calloc(1, size);
  CHECK(options != NULL);
  memcpy(options, &size, sizeof size);
  if (set < size) {
    options[set] = 1;
  }
  cst_status status = c->run(options, error);
  free(options);
  return status;
}

TEST(options_of_every_version) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    for (size_t size = sizeof(size_t); size <= calls[i].size + 16; size += sizeof(size_t)) {
      cst_error error = CST_ERROR_INIT;
      cst_status status = run_sized(&calls[i], size, SIZE_MAX, &error);
      CHECK_STR(error.message, "");
      CHECK_EQ(status, CST_OK);
    }
    CHECK_EQ(calls[i].run(NULL, NULL), CST_OK);
  }
}

static cst_status run_message(const void *message, cst_error *error) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.message = message;
  return run_source(&options, error);
}

static cst_status run_sink_message(const void *message, cst_error *error) {
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  options.message = message;
  return cst_sink_format(harness_temp_path("out.tfrecord"), &options, NULL, error);
}

static cst_status run_message_decoder(const void *message, cst_error *error) {
  cst_decode_options options = CST_DECODE_OPTIONS_INIT;
  cst_decoder *decoder;
  options.message = message;
  return cst_decoder_new("message", &options, &decoder, error);
}

static cst_status run_message_encoder(const void *message, cst_error *error) {
  cst_encode_options options = CST_ENCODE_OPTIONS_INIT;
  cst_encoder *encoder;
  options.message = message;
  return cst_encoder_new("message", &options, &encoder, error);
}

static cst_status run_view(const void *options, cst_error *error) {
  cst_view *view;
  return cst_view_from_bytes("none", 4, options, &view, error);
}

static cst_status run_view_message(const void *message, cst_error *error) {
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  options.message = message;
  return run_view(&options, error);
}

static cst_status run_allocator(const void *allocator, cst_error *error) {
  cst_index *index;
  return cst_index_open("no file", allocator, &index, error);
}

/* Calls that look at sizes first, and then fail here. */
static const call failing[] = {
    {"message", sizeof(cst_message_options), run_message},
    {"sink message", sizeof(cst_message_options), run_sink_message},
    {"message decoder", sizeof(cst_message_options), run_message_decoder},
    {"message encoder", sizeof(cst_message_options), run_message_encoder},
    {"view", sizeof(cst_view_options), run_view},
    {"view message", sizeof(cst_message_options), run_view_message},
    {"allocator", sizeof(cst_allocator), run_allocator},
};

static void check_tails(const call *c) {
  static const size_t more[] = {8, 16, 24};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
    for (size_t set = c->size; set < c->size + more[i]; set++) {
      cst_error error = CST_ERROR_INIT;
      CHECK_EQ(run_sized(c, c->size + more[i], set, &error), CST_UNSUPPORTED);
      CHECK_CONTAINS(error.message, "is set; version");
      CHECK(error.hint[0] != '\0');
    }
  }
}

TEST(members_that_are_not_known_yet_are_not_ignored) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    check_tails(&calls[i]);
  }
  for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
    check_tails(&failing[i]);
    cst_error error = CST_ERROR_INIT;
    (void)run_sized(&failing[i], failing[i].size + 8, SIZE_MAX, &error);
    CHECK(strstr(error.message, "is set; version") == NULL);
  }
}

/* ---- flags and enumerations ---- */

/* A field of such options: flags, of which `known` are, or an enumeration, whose last value it is.
 */
typedef struct choice {
  const char *name; /* of the call */
  size_t at;        /* of the field */
  bool is_enum;
  uint32_t known;
} choice;

static const choice choices[] = {
    {"source", offsetof(cst_source_options, flags), false, 7},
    {"source", offsetof(cst_source_options, column_flags), false, 15},
    {"source", offsetof(cst_source_options, on_error), true, CST_ON_ERROR_NULL},
    {"dataset", offsetof(cst_dataset_options, shuffle), true, CST_SHUFFLE_WINDOW},
    {"example decoder", offsetof(cst_decode_options, flags), false, 15},
    {"example encoder", offsetof(cst_encode_options, flags), false, 3},
    {"sequence decoder", offsetof(cst_decode_options, flags), false, 3},
    {"sequence encoder", offsetof(cst_encode_options, flags), false, 3},
    {"TFRecord writer", offsetof(cst_sink_options, compression), true, CST_COMPRESSION_ZSTD},
    {"sink", offsetof(cst_sink_options, compression), true, CST_COMPRESSION_ZSTD},
};

static void check_refused(const choice *field, uint32_t value) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    if (strcmp(calls[i].name, field->name) == 0) {
      char options[sizeof(cst_source_options)] = {0};
      cst_error error = CST_ERROR_INIT;
      CHECK(calls[i].size <= sizeof options);
      memcpy(options, &calls[i].size, sizeof calls[i].size);
      memcpy(options + field->at, &value, sizeof value);
      CHECK_EQ(calls[i].run(options, &error), CST_INVALID_ARGUMENT);
      CHECK(error.message[0] != '\0');
    }
  }
}

TEST(flags_and_values_that_no_version_has) {
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    const choice *field = &choices[i];
    for (int bit = 0; bit < 32; bit++) {
      uint32_t value = UINT32_C(1) << bit;
      if (field->is_enum ? value > field->known : (value & field->known) == 0) {
        check_refused(field, value);
      }
    }
    check_refused(field, UINT32_MAX);
    check_refused(field, field->known + 1);
  }
}

static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_array(struct ArrowArray *array) { array->release = NULL; }

TEST(flags_of_calls_that_no_version_has) {
  for (int bit = 1; bit < 32; bit++) {
    cst_array *array;
    struct ArrowSchema schema = {.format = "+s", .release = release_schema};
    struct ArrowArray batch = {.release = release_array};
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(cst_array_import(&schema, &batch, UINT32_C(1) << bit, NULL, &array, &error),
             CST_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.message, "unknown flags");
  }
}

TEST(sizes_that_no_version_has) {
  static const size_t sizes[] = {0, 1, sizeof(size_t) - 1, sizeof(size_t) + 1, 4104, SIZE_MAX - 7};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
      cst_error error = CST_ERROR_INIT;
      CHECK_EQ(calls[i].run(&sizes[k], &error), CST_INVALID_ARGUMENT);
      CHECK_CONTAINS(error.message, "the size of the");
    }
  }
}

/* A reader of a later version: more members at the end, in each of several. */
typedef struct later_reader {
  cst_reader reader;
  int64_t more[2];
} later_reader;

TEST(readers_of_a_later_version) {
  static const char text[] = "{\"a\": 1}\n";
  memory files[3];
  later_reader readers[3];
  for (int i = 0; i < 3; i++) {
    files[i] = (memory){.data = (const uint8_t *)text, .size = sizeof text - 1};
    readers[i] = (later_reader){memory_reader(&files[i], true), {0, 0}};
    readers[i].reader.size = sizeof readers[i];
  }
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source;
  uint64_t rows;
  options.format = "json";
  CHECK_EQ(cst_source_open_readers(&readers[0].reader, 3, &options, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_num_rows(source, &rows, NULL), CST_OK);
  CHECK_EQ(rows, 3);
  cst_source_release(source);
  options.size = 3; /* refused: every reader is closed all the same */
  CHECK_EQ(cst_source_open_readers(&readers[0].reader, 3, &options, &source, NULL),
           CST_INVALID_ARGUMENT);
  CHECK(source == NULL);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(files[i].closed, 2);
  }
  options.size = sizeof options;
  cst_error error = CST_ERROR_INIT;
  readers[2].more[1] = 1; /* asks for something that nobody knows */
  CHECK_EQ(cst_source_open_readers(&readers[0].reader, 3, &options, &source, &error),
           CST_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "of the reader is set");
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(files[i].closed, 3);
  }
  readers[2].reader.size = sizeof(cst_reader);
  CHECK_EQ(cst_source_open_readers(&readers[0].reader, 3, &options, &source, &error),
           CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "different sizes");
}

/* One of an earlier version, which had no close, no ctx and no can_seek yet. */
TEST(a_reader_of_an_earlier_version) {
  size_t size = offsetof(cst_reader, close);
  const cst_reader whole = {.size = size, .name = "old"};
  void *reader = malloc(size);
  cst_source *source;
  CHECK(reader != NULL);
  memcpy(reader, &whole, size);
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_source_open_readers(reader, 1, NULL, &source, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "reader 0 has no read_at");
  free(reader);
}

/* A writer and a stage of a later version. */
typedef struct later_writer {
  cst_writer writer;
  int64_t more;
} later_writer;

typedef struct later_stage {
  cst_stage stage;
  int64_t more;
} later_stage;

static void count_close(void *ctx) { ++*(int *)ctx; }

TEST(writers_and_stages_of_a_later_version_are_closed) {
  memory_sink sink = {.fail_at = 0};
  later_writer writer = {memory_writer(&sink), 1};
  cst_tfrecord_writer *records;
  cst_sink *out;
  writer.writer.size = sizeof writer;
  CHECK_EQ(cst_tfrecord_writer_open_writer(&writer.writer, NULL, &records, NULL), CST_UNSUPPORTED);
  CHECK_EQ(sink.closed, 1);
  CHECK_EQ(cst_sink_open_writer(&writer.writer, NULL, NULL, &out, NULL), CST_UNSUPPORTED);
  CHECK_EQ(sink.closed, 2);
  CHECK_EQ(sink.committed, 0);
  int closed = 0;
  later_stage stage = {CST_STAGE_INIT, 1};
  stage.stage.size = sizeof stage;
  stage.stage.ctx = &closed;
  stage.stage.close = count_close;
  cst_source *source = open_examples();
  cst_source *staged;
  CHECK_EQ(cst_source_with_stage(source, &stage.stage, &staged, NULL), CST_UNSUPPORTED);
  CHECK_EQ(closed, 1);
  cst_source_release(source);
}

TEST(writers_that_are_refused_are_closed) {
  memory_sink sink = {.fail_at = 0};
  cst_writer writer = memory_writer(&sink);
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  cst_sink *out;
  cst_tfrecord_writer *records;
  options.size = 3;
  CHECK_EQ(cst_tfrecord_writer_open_writer(&writer, &options, &records, NULL),
           CST_INVALID_ARGUMENT);
  CHECK_EQ(sink.closed, 1);
  CHECK_EQ(cst_sink_open_writer(&writer, NULL, &options, &out, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(sink.closed, 2);
  CHECK_EQ(sink.committed, 0);
  writer.size = 3; /* nothing of it can be trusted */
  CHECK_EQ(cst_sink_open_writer(&writer, NULL, NULL, &out, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(sink.closed, 2);
}

TEST(allocators_without_functions) {
  cst_allocator allocator = CST_ALLOCATOR_INIT;
  cst_index_options options = CST_INDEX_OPTIONS_INIT;
  cst_index *index;
  cst_error error = CST_ERROR_INIT;
  options.allocator = &allocator;
  CHECK_EQ(cst_index_build("no file", &options, &index, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "the allocator has no functions");
  allocator.size = 0;
  CHECK_EQ(cst_index_build("no file", &options, &index, &error), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "the size of the allocator is 0");
}
