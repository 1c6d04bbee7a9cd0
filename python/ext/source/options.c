/* The options of a source: the one list of them on Python's side. The package checks a value by the
 * kind of its option (columnstone._api.options) before it comes here.
 */
#include "ext/arrow/arrow.h"
#include "ext/query/query.h"
#include "ext/schema/schema.h"
#include "ext/source/source.h"

typedef enum option_kind {
  OPTION_TEXT,           /* str or None */
  OPTION_COUNT,          /* int, at least 1: 64 bits */
  OPTION_THREADS,        /* int, at least 1: 32 bits */
  OPTION_LIMIT,          /* int, 0 for none: 64 bits */
  OPTION_BOOL,           /* bool */
  OPTION_FLAG,           /* bool: a bit of flags */
  OPTION_NO_FLAG,        /* bool: a bit of flags, which False sets */
  OPTION_OFFSETS,        /* True for 32 bits: a bit of flags */
  OPTION_SCHEMA,         /* Schema or None */
  OPTION_NAMES,          /* tuple of str or None: `columns` and `num_columns` */
  OPTION_FORMAT_OPTIONS, /* tuple, see _formats/options.py */
  OPTION_TYPES,          /* object with __arrow_c_schema__ or None */
  OPTION_ON_ERROR,       /* (class of the entries, function or None, cst_on_error) or None */
  OPTION_MESSAGE,        /* tuple, see _message/options.py, or None */
  OPTION_VIEW,           /* View or None */
} option_kind;

static const char *const kind_names[] = {
    "text",   "count", "threads",        "limit", "bool",     "flag",    "no_flag", "offsets",
    "schema", "names", "format_options", "types", "on_error", "message", "view",
};

typedef struct source_option {
  const char *name;
  option_kind kind;
  size_t offset; /* in cst_source_options */
  uint32_t flag;
} source_option;

#define OPTION(name, kind, field) \
  { name, OPTION_##kind, offsetof(cst_source_options, field), 0 }
#define FLAG(name, kind, field, flag) \
  { name, OPTION_##kind, offsetof(cst_source_options, field), flag }

static const source_option source_options[] = {
    OPTION("format", TEXT, format),
    OPTION("schema", SCHEMA, schema),
    OPTION("columns", NAMES, columns),
    OPTION("group", TEXT, group),
    OPTION("batch_size", COUNT, batch_size),
    OPTION("batch_bytes", LIMIT, batch_bytes),
    OPTION("threads", THREADS, threads),
    FLAG("check_crc", NO_FLAG, flags, CST_SOURCE_SKIP_CRC),
    FLAG("memory_map", FLAG, flags, CST_SOURCE_MEMORY_MAP),
    FLAG("offsets", OFFSETS, column_flags, CST_COLUMNS_OFFSETS_32),
    FLAG("binary_views", FLAG, column_flags, CST_COLUMNS_BINARY_VIEWS),
    FLAG("fixed_size", FLAG, column_flags, CST_COLUMNS_FIXED_SIZE),
    FLAG("nested", FLAG, column_flags, CST_COLUMNS_NESTED),
    OPTION("max_record_size", LIMIT, max_record_size),
    OPTION("max_inflation", LIMIT, max_inflation),
    OPTION("legacy", BOOL, legacy_specs),
    OPTION("types", TYPES, types),
    OPTION("format_options", FORMAT_OPTIONS, format_options),
    OPTION("raw_column", TEXT, raw_column),
    OPTION("offset_column", TEXT, offset_column),
    OPTION("on_error", ON_ERROR, on_error),
    OPTION("max_errors", LIMIT, max_errors),
    OPTION("environment", TEXT, environment),
    OPTION("flat", BOOL, flat),
    OPTION("container", TEXT, container),
    OPTION("sample_records", LIMIT, sample_records),
    OPTION("message", MESSAGE, message),
    OPTION("message_column", TEXT, message_column),
    OPTION("view", VIEW, view),
};

enum { NUM_OPTIONS = sizeof source_options / sizeof *source_options };

PyObject *cst__py_options_kinds(void) {
  PyObject *dict = PyDict_New();
  for (size_t i = 0; dict != NULL && i < NUM_OPTIONS; i++) {
    PyObject *kind = PyUnicode_FromString(kind_names[source_options[i].kind]);
    if (kind == NULL || PyDict_SetItemString(dict, source_options[i].name, kind) < 0) {
      Py_CLEAR(dict);
    }
    Py_XDECREF(kind);
  }
  return dict;
}

static int set_text(const char **place, PyObject *value) {
  Py_ssize_t size = 0;
  *place = value == Py_None ? NULL : PyUnicode_AsUTF8AndSize(value, &size);
  if (*place != NULL && strlen(*place) != (size_t)size) {
    PyErr_SetString(PyExc_ValueError, "embedded null character");
    return -1;
  }
  return *place == NULL && value != Py_None ? -1 : 0;
}

static int set_number(const source_option *option, void *place, PyObject *value) {
  long long number = PyLong_AsLongLong(value);
  if (number == -1 && PyErr_Occurred() != NULL) {
    return -1;
  }
  if (option->kind == OPTION_THREADS) {
    *(int32_t *)place = (int32_t)number;
  } else {
    *(int64_t *)place = number;
  }
  return 0;
}

static int set_bool(const source_option *option, void *place, PyObject *value) {
  int is_true = PyObject_IsTrue(value);
  if (is_true >= 0 && option->kind == OPTION_BOOL) {
    *(bool *)place = is_true != 0;
  } else if (is_true >= 0 && (is_true != 0) != (option->kind == OPTION_NO_FLAG)) {
    *(uint32_t *)place |= option->flag;
  }
  return is_true < 0 ? -1 : 0;
}

static int set_on_error(cst__py_options *o, PyObject *value) {
  if (value == Py_None) {
    return 0;
  }
  int policy;
  if (!PyArg_ParseTuple(value, "OOi:on_error", &o->make_dropped, &o->on_dropped, &policy)) {
    return -1;
  }
  o->options.on_error = (cst_on_error)policy;
  o->options.on_dropped = cst__py_on_dropped;
  return 0;
}

static int set_types(cst__py_options *o, PyObject *value) {
  if (value == Py_None) {
    return 0;
  }
  o->options.types = &o->types;
  return cst__py_import_schema(value, &o->types);
}

static int set_columns(cst__py_options *o, PyObject *value) {
  int result = cst__py_names_init(&o->columns, value);
  o->options.columns = o->columns.names;
  o->options.num_columns = o->columns.count;
  return result;
}

static int set_format_options(cst__py_options *o, PyObject *value) {
  int result = cst__py_option_list_init(&o->format_options, value);
  o->options.format_options = o->format_options.options;
  o->options.num_format_options = o->format_options.count;
  return result;
}

static int set_message(cst__py_options *o, cst__py_state *state, PyObject *value) {
  int result = cst__py_message_init(&o->message, state, value);
  o->options.message = cst__py_message_view(&o->message);
  return result;
}

static int set_view(cst__py_options *o, cst__py_state *state, PyObject *value) {
  if (cst__py_view_arg(state, value, &o->options.view) < 0) {
    return -1;
  }
  if (value != Py_None && PyTuple_Size(cst__py_view_functions(value)) > 0) {
    o->functions = cst__py_view_functions(value);
  }
  return 0;
}

static int set_option(cst__py_options *o, cst__py_state *state, const source_option *option,
                      PyObject *value) {
  void *place = (char *)&o->options + option->offset;
  switch (option->kind) {
    case OPTION_TEXT:
      return set_text(place, value);
    case OPTION_COUNT:
    case OPTION_THREADS:
    case OPTION_LIMIT:
      return set_number(option, place, value);
    case OPTION_BOOL:
    case OPTION_FLAG:
    case OPTION_NO_FLAG:
    case OPTION_OFFSETS:
      return set_bool(option, place, value);
    case OPTION_SCHEMA:
      return cst__py_schema_arg(state, value, place);
    case OPTION_NAMES:
      return set_columns(o, value);
    case OPTION_FORMAT_OPTIONS:
      return set_format_options(o, value);
    case OPTION_TYPES:
      return set_types(o, value);
    case OPTION_ON_ERROR:
      return set_on_error(o, value);
    case OPTION_MESSAGE:
      return set_message(o, state, value);
    case OPTION_VIEW:
      return set_view(o, state, value);
  }
  return 0;
}

int cst__py_options_init(cst__py_options *o, cst__py_state *state, PyObject *dict) {
  *o = (cst__py_options){.options = CST_SOURCE_OPTIONS_INIT};
  for (size_t i = 0; i < NUM_OPTIONS; i++) {
    PyObject *value = PyMapping_GetItemString(dict, source_options[i].name);
    if (value == NULL) {
      return -1;
    }
    int result = set_option(o, state, &source_options[i], value);
    Py_DECREF(value); /* which the dict holds */
    if (result < 0) {
      return -1;
    }
  }
  if (PyDict_Size(dict) != NUM_OPTIONS) {
    PyErr_SetString(PyExc_TypeError, "there is an option that no source has");
    return -1;
  }
  return 0;
}

void cst__py_options_reset(cst__py_options *o) {
  cst__py_names_reset(&o->columns);
  cst__py_option_list_reset(&o->format_options);
  if (o->types.release != NULL) {
    o->types.release(&o->types);
  }
}
