/* columnstone._core: the module, its state and its types. */
#include <stdlib.h>
#include <unistd.h>

#include "ext/arrow/arrow.h"
#include "ext/dataset/dataset.h"
#include "ext/decode/decode.h"
#include "ext/lineage/lineage.h"
#include "ext/message/message.h"
#include "ext/query/query.h"
#include "ext/schema/schema.h"
#include "ext/sink/sink.h"
#include "ext/sketch/sketch.h"
#include "ext/source/source.h"
#include "ext/statistics/statistics.h"
#include "ext/structured/structured.h"
#include "ext/table/table.h"
#include "ext/tensor/tensor.h"

/* 0 after about a millisecond without the GIL, or -1 with an exception. */
static int nap(PyObject *time) {
  PyObject *done = PyObject_CallMethod(time, "sleep", "d", 0.001);
  Py_XDECREF(done);
  return done == NULL ? -1 : 0;
}

/* Runs by atexit, while Python still works: no callback may enter from here on, and those that are
 * inside leave. Without it a reading thread could wait for the GIL of a dead interpreter. One that
 * does not come back within seconds (a file object that waits for the network) is left behind; in a
 * forked child there is nobody to wait for, because the threads stayed in the parent. */
static PyObject *close_gate(PyObject *module, PyObject *unused) {
  (void)unused;
  cst__py_gate *gate = ((cst__py_state *)PyModule_GetState(module))->gate;
  atomic_store(&gate->closed, true);
  int naps = gate->process == getpid() ? 3000 : 0;
  PyObject *time = PyImport_ImportModule("time");
  int result = time == NULL ? -1 : 0;
  for (int i = 0; i < naps && result == 0 && atomic_load(&gate->inside) > 0; i++) {
    result = nap(time);
  }
  Py_XDECREF(time);
  return result < 0 ? NULL : Py_NewRef(Py_None);
}

static int register_close_gate(PyObject *module) {
  PyObject *atexit = PyImport_ImportModule("atexit");
  PyObject *function = atexit == NULL ? NULL : PyObject_GetAttrString(module, "_close_gate");
  PyObject *done = function == NULL ? NULL : PyObject_CallMethod(atexit, "register", "O", function);
  Py_XDECREF(atexit);
  Py_XDECREF(function);
  Py_XDECREF(done);
  return done == NULL ? -1 : 0;
}

typedef struct type_entry {
  PyType_Spec *spec;
  size_t offset; /* of its place in the state */
} type_entry;

static const type_entry types[] = {
    {&cst__py_schema_spec, offsetof(cst__py_state, schema_type)},
    {&cst__py_accumulator_spec, offsetof(cst__py_state, accumulator_type)},
    {&cst__py_sketch_spec, offsetof(cst__py_state, sketch_type)},
    {&cst__py_arrow_schema_spec, offsetof(cst__py_state, arrow_schema_type)},
    {&cst__py_batch_spec, offsetof(cst__py_state, batch_type)},
    {&cst__py_array_spec, offsetof(cst__py_state, array_type)},
    {&cst__py_tensor_spec, offsetof(cst__py_state, tensor_type)},
    {&cst__py_adapter_spec, offsetof(cst__py_state, adapter_type)},
    {&cst__py_tensor_encoder_spec, offsetof(cst__py_state, tensor_encoder_type)},
    {&cst__py_packer_spec, offsetof(cst__py_state, packer_type)},
    {&cst__py_source_spec, offsetof(cst__py_state, source_type)},
    {&cst__py_pass_spec, offsetof(cst__py_state, pass_type)},
    {&cst__py_decoder_spec, offsetof(cst__py_state, decoder_type)},
    {&cst__py_encoder_spec, offsetof(cst__py_state, encoder_type)},
    {&cst__py_descriptors_spec, offsetof(cst__py_state, descriptors_type)},
    {&cst__py_writer_spec, offsetof(cst__py_state, writer_type)},
    {&cst__py_sink_spec, offsetof(cst__py_state, sink_type)},
    {&cst__py_index_spec, offsetof(cst__py_state, index_type)},
    {&cst__py_dataset_spec, offsetof(cst__py_state, dataset_type)},
    {&cst__py_loader_spec, offsetof(cst__py_state, loader_type)},
    {&cst__py_structured_spec, offsetof(cst__py_state, structured_type)},
    {&cst__py_query_spec, offsetof(cst__py_state, query_type)},
    {&cst__py_view_spec, offsetof(cst__py_state, view_type)},
    {&cst__py_store_spec, offsetof(cst__py_state, store_type)},
    {&cst__py_lease_spec, offsetof(cst__py_state, lease_type)},
};

static PyTypeObject **type_place(cst__py_state *state, const type_entry *entry) {
  return (PyTypeObject **)((char *)state + entry->offset);
}

static int add_types(PyObject *module, cst__py_state *state) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    PyObject *type = PyType_FromModuleAndSpec(module, types[i].spec, NULL);
    *type_place(state, &types[i]) = (PyTypeObject *)type;
    if (type == NULL || PyModule_AddType(module, (PyTypeObject *)type) < 0) {
      return -1;
    }
  }
  return 0;
}

/* Takes the object over, also on failure. */
static int add_object(PyObject *module, const char *name, PyObject *object) {
  int result = object == NULL ? -1 : PyModule_AddObjectRef(module, name, object);
  Py_XDECREF(object);
  return result;
}

static int add_constants(PyObject *module) {
  static const struct {
    const char *name;
    long value;
  } constants[] = {
      {"COLUMNS_OFFSETS_32", CST_COLUMNS_OFFSETS_32},
      {"COLUMNS_BINARY_VIEWS", CST_COLUMNS_BINARY_VIEWS},
      {"COLUMNS_FIXED_SIZE", CST_COLUMNS_FIXED_SIZE},
      {"COLUMNS_NESTED", CST_COLUMNS_NESTED},
      {"ENCODE_LOSSY", CST_ENCODE_LOSSY},
      {"ON_ERROR_SKIP", CST_ON_ERROR_SKIP},
      {"ON_ERROR_NULL", CST_ON_ERROR_NULL},
      {"SPLIT_CUT_BY_BYTES", CST_SPLIT_CUT_BY_BYTES},
      {"SPLIT_CUT_BY_NAME", CST_SPLIT_CUT_BY_NAME},
      {"SPLIT_CUT_NONE", CST_SPLIT_CUT_NONE},
      {"SHUFFLE_NONE", CST_SHUFFLE_NONE},
      {"SHUFFLE_AUTO", CST_SHUFFLE_AUTO},
      {"SHUFFLE_GLOBAL", CST_SHUFFLE_GLOBAL},
      {"SHUFFLE_WINDOW", CST_SHUFFLE_WINDOW},
      {"INTERLEAVE", CST_DATASET_INTERLEAVE},
      {"MIX_FIRST", CST_MIX_FIRST},
      {"MIX_ALL", CST_MIX_ALL},
      {"MIX_REPEAT", CST_MIX_REPEAT},
  };
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
    if (PyModule_AddIntConstant(module, constants[i].name, constants[i].value) < 0) {
      return -1;
    }
  }
  return add_object(module, "SOURCE_OPTIONS", cst__py_options_told(&cst__py_source_options)) < 0 ||
                 add_object(module, "SINK_OPTIONS", cst__py_options_told(&cst__py_sink_options)) <
                     0 ||
                 add_object(module, "FORMATS", cst__py_formats()) < 0 ||
                 add_object(module, "FORMAT_OPTIONS", cst__py_format_options_told()) < 0 ||
                 add_object(module, "CONTAINERS", cst__py_containers()) < 0
             ? -1
             : PyModule_AddStringConstant(module, "__version__", cst_version());
}

static int exec_module(PyObject *module) {
  cst__py_state *state = PyModule_GetState(module);
  state->gate = calloc(1, sizeof *state->gate);
  if (state->gate == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  state->gate->process = getpid();
  if (cst__py_interrupt_init(state->gate) < 0 || cst__py_errors_init(state) < 0 ||
      add_types(module, state) < 0 || add_constants(module) < 0) {
    return -1;
  }
  return register_close_gate(module);
}

static int traverse_module(PyObject *module, visitproc visit, void *arg) {
  cst__py_state *state = PyModule_GetState(module);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    Py_VISIT(*type_place(state, &types[i]));
  }
  for (size_t i = 0; i < CST__PY_NUM_ERRORS; i++) {
    Py_VISIT(state->errors[i]);
  }
  Py_VISIT(state->index_error);
  Py_VISIT(state->field_error);
  Py_VISIT(state->structured_class);
  Py_VISIT(state->leaf_class);
  return 0;
}

static int clear_module(PyObject *module) {
  cst__py_state *state = PyModule_GetState(module);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    Py_CLEAR(*type_place(state, &types[i]));
  }
  for (size_t i = 0; i < CST__PY_NUM_ERRORS; i++) {
    Py_CLEAR(state->errors[i]);
  }
  Py_CLEAR(state->index_error);
  Py_CLEAR(state->field_error);
  Py_CLEAR(state->structured_class);
  Py_CLEAR(state->leaf_class);
  return 0;
}

static void free_module(void *module) { clear_module(module); }

static PyObject *module_arrow_schema(PyObject *module, PyObject *object) {
  struct ArrowSchema schema;
  return cst__py_import_schema(object, &schema) < 0
             ? NULL
             : cst__py_arrow_schema_new(PyModule_GetState(module), &schema);
}

static PyMethodDef functions[] = {
    {"arrow_schema", module_arrow_schema, METH_O, NULL},
    {"array_take", cst__py_table_take, METH_VARARGS, NULL},
    {"array_filter", cst__py_table_filter, METH_VARARGS, NULL},
    {"array_concat", cst__py_table_concat, METH_O, NULL},
    {"array_column", cst__py_table_column, METH_VARARGS, NULL},
    {"array_from_parents", cst__py_table_from_parents, METH_VARARGS, NULL},
    {"array_fill_null", cst__py_table_fill_null, METH_VARARGS, NULL},
    {"array_group_by", cst__py_table_group_by, METH_VARARGS, NULL},
    {"array_import", cst__py_table_import, METH_VARARGS, NULL},
    {"plan_splits", cst__py_plan_splits, METH_VARARGS, NULL},
    {"format_options", cst__py_format_options, METH_O, NULL},
    {"sink_exists", cst__py_sink_exists, METH_VARARGS, NULL},
    {"sink_format", cst__py_sink_format, METH_VARARGS, NULL},
    {"array_of_objects", cst__py_table_of_objects, METH_VARARGS, NULL},
    {"array_of_buffer", cst__py_table_of_buffer, METH_VARARGS, NULL},
    {"array_of_lists", cst__py_table_of_lists, METH_VARARGS, NULL},
    {"nested_of_objects", cst__py_table_of_nested, METH_VARARGS, NULL},
    {"array_import_stream", cst__py_table_import_stream, METH_VARARGS, NULL},
    {"array_stream", cst__py_table_stream, METH_O, NULL},
    {"array_dump", cst__py_table_dump, METH_O, NULL},
    {"array_mask", cst__py_table_mask, METH_O, NULL},
    {"avro_canonical", cst__py_avro_canonical, METH_VARARGS, NULL},
    {"avro_fingerprint", cst__py_avro_fingerprint, METH_VARARGS, NULL},
    {"batch_from", cst__py_table_batch_from, METH_VARARGS, NULL},
    {"_close_gate", close_gate, METH_NOARGS, NULL},
    {"sketch_add_tfx_bsl_stream", cst__py_sketch_add_tfx_bsl_stream, METH_VARARGS, NULL},
    {"sketch_to_tfx_bsl_streams", cst__py_sketch_to_tfx_bsl_streams, METH_O, NULL},
    {"sketch_compact", cst__py_sketch_compact, METH_O, NULL},
    {"sketch_cuts", cst__py_sketch_cuts, METH_VARARGS, NULL},
    {"sketch_from_tfx_bsl_stream", cst__py_sketch_from_tfx_bsl_stream, METH_VARARGS, NULL},
    {"sketch_parts", cst__py_sketch_parts, METH_VARARGS, NULL},
    {"sketch_quantiles", cst__py_sketch_quantiles, METH_VARARGS, NULL},
    {"sketch_ranked", cst__py_sketch_ranked, METH_O, NULL},
    {"sketch_ranks", cst__py_sketch_ranks, METH_VARARGS, NULL},
    {"statistics_compare", cst__py_statistics_compare, METH_VARARGS, NULL},
    {"statistics_from_tfdv", cst__py_statistics_from_tfdv, METH_VARARGS, NULL},
    {"statistics_to_tfdv", cst__py_statistics_to_tfdv, METH_VARARGS, NULL},
    {"structured", cst__py_structured_new, METH_VARARGS, NULL},
    {"structured_preview", cst__py_structured_preview, METH_VARARGS, NULL},
    {"type_tree", cst__py_type_tree, METH_VARARGS, NULL},
    {"structured_classes", cst__py_structured_classes, METH_VARARGS, NULL},
    {"structured_gather", cst__py_structured_gather, METH_VARARGS, NULL},
    {"structured_gather_nd", cst__py_structured_gather_nd, METH_VARARGS, NULL},
    {"structured_boolean_mask", cst__py_structured_boolean_mask, METH_VARARGS, NULL},
    {"structured_reverse", cst__py_structured_reverse, METH_VARARGS, NULL},
    {"structured_mask", cst__py_structured_mask, METH_VARARGS, NULL},
    {"structured_where", cst__py_structured_where, METH_VARARGS, NULL},
    {"structured_true_places", cst__py_structured_true_places, METH_O, NULL},
    {"structured_concat", cst__py_structured_concat, METH_VARARGS, NULL},
    {"structured_stack", cst__py_structured_stack, METH_VARARGS, NULL},
    {"structured_tile", cst__py_structured_tile, METH_VARARGS, NULL},
    {"structured_expand_dims", cst__py_structured_expand_dims, METH_VARARGS, NULL},
    {"structured_row_lengths", cst__py_structured_row_lengths, METH_VARARGS, NULL},
    {"structured_squeeze", cst__py_structured_squeeze, METH_VARARGS, NULL},
    {"structured_merge_dims", cst__py_structured_merge_dims, METH_VARARGS, NULL},
    {"structured_partition", cst__py_structured_partition, METH_VARARGS, NULL},
    {"structured_like", cst__py_structured_like, METH_VARARGS, NULL},
    {"structured_test_null", cst__py_structured_test_null, METH_VARARGS, NULL},
    {"structured_drop_null", cst__py_structured_drop_null, METH_VARARGS, NULL},
    {"structured_fill_null", cst__py_structured_fill_null, METH_VARARGS, NULL},
    {"structured_update", cst__py_structured_update, METH_VARARGS, NULL},
    {"structured_only", cst__py_structured_only, METH_VARARGS, NULL},
    {"structured_with_elements", cst__py_structured_with_elements, METH_VARARGS, NULL},
    {"structured_steps", cst__py_structured_steps, METH_VARARGS, NULL},
    {"structured_promote", cst__py_structured_promote, METH_VARARGS, NULL},
    {"structured_broadcast", cst__py_structured_broadcast, METH_VARARGS, NULL},
    {"structured_promote_and_broadcast", cst__py_structured_promote_and_broadcast, METH_VARARGS,
     NULL},
    {"join_strings", cst__py_join_strings, METH_O, NULL},
    {"pack_arrays", cst__py_pack_arrays, METH_VARARGS, NULL},
    {"sketch_correlation", cst__py_sketch_correlation, METH_O, NULL},
    {"sketch_distinct", cst__py_sketch_distinct, METH_VARARGS, NULL},
    {"sketch_histogram", cst__py_sketch_histogram, METH_O, NULL},
    {"sketch_from_tfx_bsl", cst__py_sketch_from_tfx_bsl, METH_VARARGS, NULL},
    {"sketch_moments", cst__py_sketch_moments, METH_VARARGS, NULL},
    {"sketch_mutual_information", cst__py_sketch_mutual_information, METH_O, NULL},
    {"sketch_to_tfx_bsl", cst__py_sketch_to_tfx_bsl, METH_VARARGS, NULL},
    {"sketch_top", cst__py_sketch_top, METH_VARARGS, NULL},
    {"statistics_sketch", cst__py_statistics_sketch, METH_VARARGS, NULL},
    {"statistics_table", cst__py_statistics_table, METH_O, NULL},
    {"statistics_page", cst__py_statistics_page, METH_VARARGS, NULL},
    {"split_strings", cst__py_split_strings, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, exec_module},
    {0, NULL},
};

static PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "columnstone._core",
    .m_doc = "The compiled part of columnstone. Not a public interface: see the package.",
    .m_size = sizeof(cst__py_state),
    .m_methods = functions,
    .m_slots = module_slots,
    .m_traverse = traverse_module,
    .m_clear = clear_module,
    .m_free = free_module,
};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&definition); }
