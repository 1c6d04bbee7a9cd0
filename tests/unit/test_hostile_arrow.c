/* Arrow structs that are not what they say, through every public function that takes them: parts
 * that are missing, released or their own children, and trees of 2^60 fields. Each is refused, in a
 * time that does not depend on what it claims.
 */
#include <columnstone/accumulate.h>
#include <columnstone/message.h>
#include <columnstone/query.h>
#include <columnstone/records.h>
#include <columnstone/sink.h>
#include <columnstone/source.h>
#include <columnstone/structured.h>

#include "arrow_text.h"
#include "message_sample.h"

/* ---- a tree of structs that may be changed ---- */

enum { MOST_NODES = 32, MOST_CHILDREN = 8 };

typedef struct node {
  struct ArrowSchema schema;
  struct ArrowArray array;
  struct ArrowSchema *schemas[MOST_CHILDREN];
  struct ArrowArray *arrays[MOST_CHILDREN];
} node;

typedef struct tree {
  struct ArrowSchema schema; /* what the nodes are copies of */
  struct ArrowArray array;
  struct ArrowSchema value_schema; /* a dictionary */
  struct ArrowArray values;
  node nodes[MOST_NODES];
  size_t count;
  int released; /* times that the root was */
} tree;

static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_part(struct ArrowArray *array) { array->release = NULL; }
static void release_root(struct ArrowArray *array) {
  ((tree *)array->private_data)->released++;
  array->release = NULL;
}

static node *copy_node(tree *t, const struct ArrowSchema *schema, const struct ArrowArray *array) {
  CHECK(t->count < MOST_NODES && schema->n_children <= MOST_CHILDREN);
  node *n = &t->nodes[t->count++];
  n->schema = *schema;
  n->array = *array;
  n->schema.release = release_schema;
  n->array.release = release_part;
  n->schema.children = n->schemas;
  n->array.children = n->arrays;
  for (int64_t i = 0; i < schema->n_children; i++) {
    node *child = copy_node(t, schema->children[i], array->children[i]);
    n->schemas[i] = &child->schema;
    n->arrays[i] = &child->array;
  }
  if (strncmp(schema->name != NULL ? schema->name : "", "code", 4) == 0) {
    node *values = copy_node(t, &t->value_schema, &t->values);
    n->schema.dictionary = &values->schema;
    n->array.dictionary = &values->array;
  }
  return n;
}

/* The nodes, as they were made. */
static void tree_copy(tree *t) {
  t->count = 0;
  t->released = 0;
  memset(t->nodes, 0, sizeof t->nodes);
  node *root = copy_node(t, &t->schema, &t->array);
  root->array.release = release_root;
  root->array.private_data = t;
}

static void tree_make(tree *t, const char *type, const char *rows) {
  memset(t, 0, sizeof *t);
  arrow_text(type, rows, &t->schema, &t->array);
  arrow_text("string", "'red' 'blue'", &t->value_schema, &t->values);
  tree_copy(t);
}

static void tree_free(tree *t) {
  ArrowSchemaRelease(&t->schema);
  ArrowArrayRelease(&t->array);
  ArrowSchemaRelease(&t->value_schema);
  ArrowArrayRelease(&t->values);
}

/* ---- what is done to one node ---- */

typedef enum damage {
  SCHEMA_IS_ITS_DICTIONARY, /* first those of schemas */
  SCHEMA_IS_ITS_CHILD,
  SCHEMA_HAS_THE_ROOT_IN_IT,
  SCHEMA_IS_RELEASED,
  SCHEMA_HAS_NO_FORMAT,
  SCHEMA_HAS_NO_CHILDREN,
  SCHEMA_HAS_MISSING_CHILDREN,
  SCHEMA_HAS_FEWER_THAN_NO_CHILDREN,
  SCHEMA_HAS_BAD_METADATA,
  SCHEMA_HAS_BAD_METADATA_SIZES,
  ARRAY_IS_ITS_DICTIONARY,
  ARRAY_IS_ITS_CHILD,
  ARRAY_IS_RELEASED,
  ARRAY_HAS_NO_CHILDREN,
  ARRAY_HAS_MISSING_CHILDREN,
  ARRAY_HAS_FEWER_THAN_NO_CHILDREN,
  ARRAY_HAS_NO_DICTIONARY,
  ARRAY_HAS_NO_BUFFERS,
  ARRAY_HAS_FEWER_THAN_NO_BUFFERS,
  ARRAY_IS_SHORTER_THAN_EMPTY,
  ARRAY_BEGINS_BEFORE_ITSELF,
  ARRAY_HAS_NO_END,
  NUM_DAMAGES
} damage;

static const int32_t less_than_no_metadata[] = {-1};
static const int32_t metadata_of_bad_sizes[] = {1, -4};

/* False: this cannot be done to the node, or changes nothing. */
static bool do_damage(tree *t, node *n, damage d) {
  struct ArrowSchema *schema = &n->schema;
  struct ArrowArray *array = &n->array;
  bool has_children = schema->n_children > 0;
  switch (d) {
    case SCHEMA_IS_ITS_DICTIONARY:
      schema->dictionary = schema;
      return true;
    case SCHEMA_IS_ITS_CHILD:
      n->schemas[0] = schema;
      schema->n_children = has_children ? schema->n_children : 1;
      return true;
    case SCHEMA_HAS_THE_ROOT_IN_IT:
      n->schemas[0] = &t->nodes[0].schema;
      return has_children;
    case SCHEMA_IS_RELEASED:
      schema->release = NULL;
      return true;
    case SCHEMA_HAS_NO_FORMAT:
      schema->format = NULL;
      return true;
    case SCHEMA_HAS_NO_CHILDREN:
      schema->children = NULL;
      return has_children;
    case SCHEMA_HAS_MISSING_CHILDREN:
      n->schemas[0] = NULL;
      return has_children;
    case SCHEMA_HAS_FEWER_THAN_NO_CHILDREN:
      schema->n_children = -1;
      return true;
    case SCHEMA_HAS_BAD_METADATA:
      schema->metadata = (const char *)less_than_no_metadata;
      return true;
    case SCHEMA_HAS_BAD_METADATA_SIZES:
      schema->metadata = (const char *)metadata_of_bad_sizes;
      return true;
    case ARRAY_IS_ITS_DICTIONARY:
      array->dictionary = array;
      return schema->dictionary == NULL;
    case ARRAY_IS_ITS_CHILD:
      n->arrays[0] = array;
      array->n_children = has_children ? array->n_children : 1;
      return true;
    case ARRAY_IS_RELEASED:
      array->release = NULL;
      return n != &t->nodes[0];
    case ARRAY_HAS_NO_CHILDREN:
      array->children = NULL;
      return has_children;
    case ARRAY_HAS_MISSING_CHILDREN:
      n->arrays[0] = NULL;
      return has_children;
    case ARRAY_HAS_FEWER_THAN_NO_CHILDREN:
      array->n_children = -1;
      return true;
    case ARRAY_HAS_NO_DICTIONARY:
      array->dictionary = NULL;
      return schema->dictionary != NULL;
    case ARRAY_HAS_NO_BUFFERS:
      array->buffers = NULL;
      return array->n_buffers > 0;
    case ARRAY_HAS_FEWER_THAN_NO_BUFFERS:
      array->n_buffers = -1;
      return true;
    case ARRAY_IS_SHORTER_THAN_EMPTY:
      array->length = -1;
      return true;
    case ARRAY_BEGINS_BEFORE_ITSELF:
      array->offset = -1;
      return true;
    case ARRAY_HAS_NO_END:
      array->length = INT64_MAX;
      array->offset = INT64_MAX;
      return true;
    case NUM_DAMAGES:
      break;
  }
  return false;
}

/* ---- the functions ---- */

/* A call with the tree's structs; `sound` is the tree before it was damaged, for what a handle is
 * made with. */
typedef struct intake {
  const char *name;
  cst_status (*call)(const struct ArrowSchema *schema, struct ArrowArray *array,
                     const struct ArrowSchema *sound, cst_error *error);
  bool no_schema;    /* it takes an array only */
  bool no_array;     /* it takes a schema only */
  bool takes;        /* the array, whatever comes of it */
  cst_status status; /* of a tree that is sound */
} intake;

#define ENTRY(id)                                                                  \
  static cst_status id(const struct ArrowSchema *schema, struct ArrowArray *array, \
                       const struct ArrowSchema *sound, cst_error *error)
#define UNUSED (void)schema, (void)array, (void)sound, (void)error

ENTRY(parse_path) {
  cst_path path;
  UNUSED;
  cst_status status = cst_path_parse(schema, "id.x", &path, error);
  cst_free((void *)(uintptr_t)path.steps);
  return status;
}

ENTRY(look_at_type) {
  static const char *const steps[] = {"id"};
  const cst_path path = {steps, 1};
  const struct ArrowSchema *at;
  UNUSED;
  return cst_type_at(schema, &path, &at, error);
}

ENTRY(draw_tree) {
  char *text;
  UNUSED;
  cst_status status = cst_type_to_text(schema, NULL, &text, NULL, error);
  cst_free(text);
  return status;
}

static cst_specs *no_specs(void) {
  static const char text[] = "";
  cst_schema *schema;
  cst_specs *specs;
  CHECK_EQ(cst_schema_from_text(text, 0, &schema, NULL), CST_OK);
  CHECK_EQ(cst_specs_new(schema, NULL, &specs, NULL), CST_OK);
  cst_schema_release(schema);
  return specs;
}

ENTRY(make_adapter) {
  cst_tensor_adapter *adapter;
  cst_specs *specs = no_specs();
  UNUSED;
  cst_status status = cst_tensor_adapter_new(schema, specs, NULL, &adapter, error);
  cst_tensor_adapter_free(adapter);
  cst_specs_release(specs);
  return status;
}

ENTRY(convert_to_tensors) {
  cst_tensor_adapter *adapter;
  cst_tensors *tensors;
  cst_specs *specs = no_specs();
  UNUSED;
  CHECK_EQ(cst_tensor_adapter_new(sound, specs, NULL, &adapter, NULL), CST_OK);
  cst_status status = cst_tensor_adapter_convert(adapter, array, 0, &tensors, error);
  cst_tensors_release(tensors);
  cst_tensor_adapter_free(adapter);
  cst_specs_release(specs);
  return status;
}

ENTRY(import_array) {
  cst_array *out;
  UNUSED;
  cst_status status = cst_array_import(schema, array, 0, NULL, &out, error);
  cst_array_release(out);
  return status;
}

/* A batch for an accumulator with one option. */
static cst_status accumulate(const char *name, const cst_option *option,
                             const struct ArrowSchema *schema, const struct ArrowArray *array,
                             cst_error *error) {
  cst_accumulator *accumulator;
  CHECK_EQ(cst_accumulator_new(name, option, option != NULL, NULL, &accumulator, error), CST_OK);
  cst_status status = cst_accumulator_add(accumulator, schema, array, NULL, -1, error);
  cst_accumulator_free(accumulator);
  return status;
}

ENTRY(count_batch) {
  UNUSED;
  return accumulate("counts", NULL, schema, array, error);
}

ENTRY(measure_batch) {
  UNUSED;
  return accumulate("lengths", NULL, schema, array, error);
}

ENTRY(infer_from_batch) {
  const cst_option option = {"look_at_values", "true", NULL};
  UNUSED;
  return accumulate("inference", &option, schema, array, error);
}

ENTRY(validate_batch) {
  const cst_option option = {"schema", "feature { name: 'id' type: INT }", NULL};
  UNUSED;
  return accumulate("validation", &option, schema, array, error);
}

static void release_result(struct ArrowSchema *schema, struct ArrowArray *array) {
  if (schema->release != NULL) schema->release(schema);
  if (array->release != NULL) array->release(array);
}

ENTRY(encode_examples) {
  cst_encoder *encoder;
  struct ArrowSchema type;
  struct ArrowArray out;
  UNUSED;
  CHECK_EQ(cst_encoder_new("example", NULL, &encoder, NULL), CST_OK);
  cst_status status = cst_encoder_encode(encoder, schema, array, &type, &out, error);
  release_result(&type, &out);
  cst_encoder_free(encoder);
  return status;
}

ENTRY(encode_sequences) {
  cst_encoder *encoder;
  struct ArrowSchema type;
  struct ArrowArray out;
  UNUSED;
  CHECK_EQ(cst_encoder_new("sequence_example", NULL, &encoder, NULL), CST_OK);
  cst_status status = cst_encoder_encode(encoder, schema, array, &type, &out, error);
  release_result(&type, &out);
  cst_encoder_free(encoder);
  return status;
}

ENTRY(encode_messages) {
  cst_encoder *encoder;
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  struct ArrowSchema type;
  struct ArrowArray out;
  UNUSED;
  cst_descriptors *descriptors = sample_descriptors();
  options.descriptors = descriptors;
  options.message = "t.M";
  CHECK_EQ(
      cst_encoder_new(
          "message", &(cst_encode_options){.size = sizeof(cst_encode_options), .message = &options},
          &encoder, error),
      CST_OK);
  cst_status status = cst_encoder_encode(encoder, schema, array, &type, &out, error);
  release_result(&type, &out);
  cst_encoder_free(encoder);
  cst_descriptors_release(descriptors);
  return status;
}

ENTRY(decode_examples) {
  cst_decoder *decoder;
  struct ArrowSchema type;
  struct ArrowArray out;
  UNUSED;
  CHECK_EQ(cst_decoder_new("example", NULL, &decoder, NULL), CST_OK);
  cst_status status = cst_decoder_decode_arrow(decoder, schema, array, &type, &out, error);
  release_result(&type, &out);
  cst_decoder_free(decoder);
  return status;
}

ENTRY(decode_sequences) {
  cst_decoder *decoder;
  struct ArrowSchema type;
  struct ArrowArray out;
  UNUSED;
  CHECK_EQ(cst_decoder_new("sequence_example", NULL, &decoder, NULL), CST_OK);
  cst_status status = cst_decoder_decode_arrow(decoder, schema, array, &type, &out, error);
  release_result(&type, &out);
  cst_decoder_free(decoder);
  return status;
}

ENTRY(decode_messages) {
  cst_decoder *decoder;
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  struct ArrowSchema type;
  struct ArrowArray out;
  UNUSED;
  cst_descriptors *descriptors = sample_descriptors();
  options.descriptors = descriptors;
  options.message = "t.M";
  CHECK_EQ(
      cst_decoder_new(
          "message", &(cst_decode_options){.size = sizeof(cst_decode_options), .message = &options},
          &decoder, error),
      CST_OK);
  cst_status status = cst_decoder_decode_arrow(decoder, schema, array, &type, &out, error);
  release_result(&type, &out);
  cst_decoder_free(decoder);
  cst_descriptors_release(descriptors);
  return status;
}

ENTRY(write_records) {
  cst_tfrecord_writer *writer;
  UNUSED;
  CHECK_EQ(cst_tfrecord_writer_open(harness_temp_path("out.tfrecord"), NULL, &writer, NULL), 0);
  cst_status status = cst_tfrecord_writer_write_arrow(writer, schema, array, error);
  cst_tfrecord_writer_free(writer);
  return status;
}

static cst_status sink_open(const char *name, const struct ArrowSchema *schema, cst_sink **out,
                            cst_error *error) {
  return cst_sink_open(harness_temp_path(name), schema, NULL, out, error);
}

static cst_status sink_write(const char *name, const struct ArrowSchema *schema,
                             const struct ArrowArray *array, cst_error *error) {
  cst_sink *sink;
  CHECK_EQ(sink_open(name, schema, &sink, NULL), CST_OK);
  cst_status status = cst_sink_write(sink, array, error);
  cst_sink_free(sink);
  return status;
}

#define SINK(id, file)                                         \
  ENTRY(open_##id) {                                           \
    cst_sink *sink;                                            \
    UNUSED;                                                    \
    cst_status status = sink_open(file, schema, &sink, error); \
    cst_sink_free(sink);                                       \
    return status;                                             \
  }                                                            \
  ENTRY(write_##id) {                                          \
    UNUSED;                                                    \
    return sink_write(file, sound, array, error);              \
  }
SINK(arrow, "out.arrow")
SINK(csv, "out.csv")
SINK(json, "out.jsonl")
SINK(examples, "out.tfrecord")

static cst_status new_view(const char *text, const struct ArrowSchema *type,
                           const cst_query_function *function, cst_view **out, cst_error *error) {
  cst_query *query;
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  *out = NULL;
  CHECK_EQ(cst_query_new(NULL, &query, NULL), CST_OK);
  CHECK(function == NULL || cst_query_add_function(query, function, NULL) == CST_OK);
  CHECK_EQ(cst_query_add(query, text, strlen(text), error), CST_OK);
  options.type = type;
  cst_status status = cst_view_new(query, &options, out, error);
  cst_query_free(query);
  return status;
}

ENTRY(bind_view) {
  cst_view *view;
  UNUSED;
  cst_status status = new_view("from table\nkeep id", schema, NULL, &view, error);
  cst_view_release(view);
  return status;
}

ENTRY(apply_view) {
  cst_view *view;
  struct ArrowSchema type;
  struct ArrowArray out;
  struct ArrowArray origin = {0};
  cst_view_run_options options = CST_VIEW_RUN_OPTIONS_INIT;
  UNUSED;
  CHECK_EQ(new_view("from table\nkeep id", sound, NULL, &view, NULL), CST_OK);
  options.origin = &origin;
  cst_status status = cst_view_apply(view, schema, array, &options, &type, &out, error);
  release_result(&type, &out);
  if (origin.release != NULL) origin.release(&origin);
  cst_view_release(view);
  return status;
}

ENTRY(apply_view_for_tensors) {
  cst_view *view;
  cst_tensors *tensors;
  UNUSED;
  CHECK_EQ(new_view("from table\nkeep id", sound, NULL, &view, NULL), CST_OK);
  cst_status status = cst_view_apply_tensors(view, schema, array, NULL, &tensors, error);
  cst_tensors_release(tensors);
  cst_view_release(view);
  return status;
}

ENTRY(explain_batch) {
  cst_view *view;
  char *text;
  UNUSED;
  CHECK_EQ(new_view("from table\nkeep id", sound, NULL, &view, NULL), CST_OK);
  cst_status status = cst_view_explain_batch(view, schema, array, 0, &text, error);
  cst_free(text);
  cst_view_release(view);
  return status;
}

/* A function, a stream and a stage that give what they are told to. */
typedef struct giver {
  const struct ArrowSchema *schema;
  struct ArrowArray *array;
} giver;

static cst_status give_values(void *ctx, const struct ArrowSchema *schema,
                              const struct ArrowArray *args, struct ArrowArray *out,
                              cst_error *error) {
  const giver *g = ctx;
  (void)schema, (void)args, (void)error;
  *out = *g->array;
  g->array->release = NULL;
  return CST_OK;
}

ENTRY(take_from_function) {
  struct ArrowSchema ids, type;
  struct ArrowArray rows, out;
  cst_view *view;
  giver g = {schema, array};
  const cst_query_function function = {
      .name = "given", .type = "int64", .num_args = 1, .call = give_values, .ctx = &g};
  UNUSED;
  arrow_text("struct{id: int64}", "{1} {2}", &ids, &rows);
  CHECK_EQ(new_view("from table\nlet y = given(id)\nkeep y", &ids, &function, &view, error), 0);
  cst_status status = cst_view_apply(view, &ids, &rows, NULL, &type, &out, error);
  release_result(&type, &out);
  ArrowSchemaRelease(&ids);
  cst_view_release(view);
  return status;
}

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  *out = *((giver *)stream->private_data)->schema;
  return 0;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  giver *g = stream->private_data;
  *out = *g->array;
  g->array->release = NULL;
  return 0;
}

static const char *stream_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return NULL;
}

static void stream_release(struct ArrowArrayStream *stream) { stream->release = NULL; }

static cst_status open_stream(void *ctx, const cst_stream_request *request,
                              struct ArrowArrayStream *out, cst_error *error) {
  (void)request, (void)error;
  *out = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, ctx};
  return CST_OK;
}

static cst_status read_all(cst_source *source, cst_error *error) {
  cst_pass *pass;
  struct ArrowArray out = {.release = NULL};
  cst_status status = cst_pass_new(source, &pass, error);
  if (status == CST_OK) status = cst_pass_next(pass, &out, error);
  if (out.release != NULL) out.release(&out);
  cst_pass_free(pass);
  return status;
}

static cst_status read_stream(giver *g, const cst_stage *stage, cst_error *error) {
  const cst_stream_opener opener = {
      .size = sizeof opener, .name = "given", .open = open_stream, .ctx = g};
  cst_source *source;
  cst_source *staged = NULL;
  cst_status status = cst_source_open_streams(&opener, 1, NULL, &source, error);
  if (status == CST_OK && stage != NULL) {
    status = cst_source_with_stage(source, stage, &staged, error);
  }
  if (status == CST_OK) status = read_all(staged != NULL ? staged : source, error);
  cst_source_release(staged);
  cst_source_release(source);
  return status;
}

ENTRY(read_from_stream) {
  giver g = {schema, array};
  UNUSED;
  return read_stream(&g, NULL, error);
}

ENTRY(read_types_of_stream) {
  giver g = {schema, array};
  struct ArrowSchema type;
  cst_source *source;
  const cst_stream_opener opener = {
      .size = sizeof opener, .name = "given", .open = open_stream, .ctx = &g};
  UNUSED;
  cst_status status = cst_source_open_streams(&opener, 1, NULL, &source, error);
  if (status == CST_OK) {
    status = cst_source_arrow_schema(source, &type, error);
    if (type.release != NULL) type.release(&type);
  }
  cst_source_release(source);
  return status;
}

static cst_status stage_bind(void *ctx, const struct ArrowSchema *input, struct ArrowSchema *output,
                             cst_error *error) {
  (void)input, (void)error;
  *output = *((giver *)ctx)->schema;
  return CST_OK;
}

static cst_status stage_run(void *ctx, struct ArrowArray *batch, struct ArrowArray *out,
                            struct ArrowArray *origin, cst_error *error) {
  giver *g = ctx;
  (void)origin, (void)error;
  batch->release(batch);
  *out = *g->array;
  g->array->release = NULL;
  return CST_OK;
}

static cst_status stage_origin(void *ctx, struct ArrowArray *batch, struct ArrowArray *out,
                               struct ArrowArray *origin, cst_error *error) {
  giver *g = ctx;
  (void)error;
  *out = *batch;
  *origin = *g->array;
  g->array->release = NULL;
  return CST_OK;
}

/* A stage of rows {1} {2}. */
static cst_status run_stage(cst_stage stage, cst_error *error) {
  struct ArrowSchema ids;
  struct ArrowArray rows;
  arrow_text("struct{id: int64}", "{1} {2}", &ids, &rows);
  struct ArrowSchema lent = ids;
  lent.release = release_schema;
  giver g = {&lent, &rows};
  cst_status status = read_stream(&g, &stage, error);
  if (rows.release != NULL) rows.release(&rows);
  ArrowSchemaRelease(&ids);
  return status;
}

ENTRY(take_from_stage) {
  giver g = {schema, array};
  UNUSED;
  return run_stage(
      (cst_stage){.size = sizeof(cst_stage), .bind = stage_bind, .run = stage_run, .ctx = &g},
      error);
}

ENTRY(take_origin_from_stage) {
  giver g = {schema, array};
  UNUSED;
  return run_stage((cst_stage){.size = sizeof(cst_stage), .run = stage_origin, .ctx = &g}, error);
}

ENTRY(read_csv_by_types) {
  const char *path = harness_temp_path("in.csv");
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source;
  UNUSED;
  harness_write_file(path, "id\n1\n", 5);
  options.types = schema;
  cst_status status = cst_source_open(&path, 1, &options, &source, error);
  if (status == CST_OK) status = read_all(source, error);
  cst_source_release(source);
  return status;
}

/* ---- the tests ---- */

/* Fails with the name of what went wrong. */
static void check_refused(const intake *e, tree *t, const struct ArrowSchema *sound,
                          const char *what) {
  cst_error error = CST_ERROR_INIT;
  node *root = &t->nodes[0];
  cst_status status = e->call(&root->schema, &root->array, sound, &error);
  if (status == CST_OK || t->released != (e->takes ? 1 : 0)) {
    fprintf(stderr, "%s, %s: status %d, released %d times\n", e->name, what, (int)status,
            t->released);
    CHECK(false);
  }
}

/* Every damage to every node. */
static void check_entry(const intake *e, const char *type, const char *rows) {
  tree sound, t;
  char what[64];
  cst_error error = CST_ERROR_INIT;
  tree_make(&sound, type, rows);
  tree_make(&t, type, rows);
  cst_status status =
      e->call(&t.nodes[0].schema, &t.nodes[0].array, &sound.nodes[0].schema, &error);
  if (status != e->status) fprintf(stderr, "%s: %s\n", e->name, error.message);
  CHECK_EQ(status, e->status);
  damage first = e->no_schema ? ARRAY_IS_ITS_DICTIONARY : SCHEMA_IS_ITS_DICTIONARY;
  damage end = e->no_array ? ARRAY_IS_ITS_DICTIONARY : NUM_DAMAGES;
  for (damage d = first; d < end; d++) {
    for (size_t i = 0; i < t.count; i++) {
      tree_copy(&t);
      if (!do_damage(&t, &t.nodes[i], d)) continue;
      (void)snprintf(what, sizeof what, "damage %d of node %zu", (int)d, i);
      check_refused(e, &t, &sound.nodes[0].schema, what);
    }
  }
  tree_free(&t);
  tree_free(&sound);
}

static const intake of_batches[] = {
    {"cst_path_parse", parse_path, .no_array = true},
    {"cst_type_at", look_at_type, .no_array = true},
    {"cst_type_to_text", draw_tree, .no_array = true},
    {"cst_tensor_adapter_new", make_adapter, .no_array = true},
    {"cst_tensor_adapter_convert", convert_to_tensors, .no_schema = true},
    {"cst_array_import", import_array},
    {"cst_accumulator_add, counts", count_batch},
    {"cst_accumulator_add, lengths", measure_batch},
    {"cst_accumulator_add, inference", infer_from_batch},
    {"cst_accumulator_add, validation", validate_batch},
    {"cst_encoder_encode", encode_examples, .status = CST_UNSUPPORTED},
    {"cst_encoder_encode", encode_sequences, .status = CST_UNSUPPORTED},
    {"cst_encoder_encode", encode_messages, .status = CST_NOT_FOUND},
    {"cst_sink_open, arrow", open_arrow, .no_array = true},
    {"cst_sink_write, arrow", write_arrow, .no_schema = true},
    {"cst_sink_open, csv", open_csv, .no_array = true, .status = CST_UNSUPPORTED},
    {"cst_sink_open, json", open_json, .no_array = true},
    {"cst_sink_write, json", write_json, .no_schema = true},
    {"cst_sink_open, tfrecord", open_examples, .no_array = true},
    {"cst_view_new", bind_view, .no_array = true},
    {"cst_view_apply", apply_view, .takes = true},
    {"cst_view_apply_tensors", apply_view_for_tensors, .takes = true},
    {"cst_view_explain_batch", explain_batch, .takes = true},
    {"cst_source_open_streams", read_from_stream, .no_schema = true, .takes = true},
    {"cst_source_arrow_schema", read_types_of_stream, .no_array = true},
    {"cst_source_with_stage, bind", take_from_stage, .no_array = true},
    {"cst_source_with_stage, run", take_from_stage, .no_schema = true, .takes = true},
    {"cst_source_options.types", read_csv_by_types, .no_array = true, .status = CST_SCHEMA},
};

static const char batch_type[] =
    "struct{id: int64, list: list<struct{x: int32, s: string}>, fixed: fixed_list<int8>[2],"
    " v: string_view, n: null, t: timestamp, code: int32}";
static const char batch_rows[] =
    "{1, [{1, 'a'}], [1, 2], 'b', null, 1, 0} {2, [], [3, 4], null, null, 2, 1}";

TEST(batches_are_checked_before_they_are_walked_through) {
  for (size_t i = 0; i < sizeof of_batches / sizeof *of_batches; i++) {
    check_entry(&of_batches[i], batch_type, batch_rows);
  }
}

static const intake of_flat[] = {
    {"cst_sink_write, csv", write_csv, .no_schema = true},
    {"cst_sink_write, tfrecord", write_examples, .no_schema = true},
    {"cst_encoder_encode", encode_examples},
    {"cst_source_options.types", read_csv_by_types, .no_array = true},
};

TEST(flat_batches_are_checked_before_they_are_walked_through) {
  for (size_t i = 0; i < sizeof of_flat / sizeof *of_flat; i++) {
    check_entry(&of_flat[i], "struct{id: int64}", "{1} {2}");
  }
}

static const intake of_records[] = {
    {"cst_decoder_decode_arrow", decode_examples},
    {"cst_decoder_decode_arrow", decode_sequences},
    {"cst_decoder_decode_arrow", decode_messages},
    {"cst_tfrecord_writer_write_arrow", write_records},
};

TEST(records_are_checked_before_they_are_walked_through) {
  for (size_t i = 0; i < sizeof of_records / sizeof *of_records; i++) {
    check_entry(&of_records[i], "binary", "'' ''");
    check_entry(&of_records[i], "struct{r: large_binary}", "{''} {''}");
  }
}

static const intake of_numbers[] = {
    {"cst_query_function", take_from_function, .no_schema = true, .takes = true},
    {"cst_stage.run, origin", take_origin_from_stage, .no_schema = true, .takes = true},
};

TEST(what_callbacks_give_is_checked) {
  for (size_t i = 0; i < sizeof of_numbers / sizeof *of_numbers; i++) {
    check_entry(&of_numbers[i], "int64", "0 1");
  }
}

/* Each of 60 structs has the next one twice: 2^60 fields in 60 structs. */
TEST(trees_without_an_end_are_refused) {
  enum { LEVELS = 60 };
  static node levels[LEVELS + 1];
  tree sound;
  tree_make(&sound, batch_type, batch_rows);
  for (size_t k = 0; k < sizeof of_batches / sizeof *of_batches; k++) {
    const intake *e = &of_batches[k];
    tree t = {.count = 0};
    if (e->no_schema) continue;
    memset(levels, 0, sizeof levels);
    for (int i = 0; i <= LEVELS; i++) {
      static const void *no_buffers[] = {NULL};
      int64_t children = i < LEVELS ? 2 : 0;
      levels[i].schema = (struct ArrowSchema){.format = "+s",
                                              .name = "s",
                                              .n_children = children,
                                              .children = levels[i].schemas,
                                              .release = release_schema};
      levels[i].array = (struct ArrowArray){.n_buffers = 1,
                                            .buffers = no_buffers,
                                            .n_children = children,
                                            .children = levels[i].arrays,
                                            .release = release_part};
      for (int64_t c = 0; c < children; c++) {
        levels[i].schemas[c] = &levels[i + 1].schema;
        levels[i].arrays[c] = &levels[i + 1].array;
      }
    }
    t.nodes[0] = levels[0];
    t.nodes[0].array.release = release_root;
    t.nodes[0].array.private_data = &t;
    check_refused(e, &t, &sound.nodes[0].schema, "2^60 fields");
  }
  tree_free(&sound);
}
