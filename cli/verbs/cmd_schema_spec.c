/* columnstone schema spec: what each feature of a schema becomes as a tensor, and why. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "cli.h"

enum { TEXT_ROOM = 512, NUM_FIELDS = 5 };

/* ---- pieces of text ---- */

typedef struct text {
  char data[TEXT_ROOM];
  size_t size;
} text;

CLI_PRINTF(2, 3) static void add_item(text *t, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  int size = vsnprintf(t->data + t->size, sizeof t->data - t->size, fmt, args);
  va_end(args);
  if (size > 0) {
    t->size += (size_t)size;
    t->size = t->size < sizeof t->data ? t->size : sizeof t->data - 1;
  }
}

static const char *tensor_kind_name(cst_tensor_kind kind) {
  switch (kind) {
    case CST_TENSOR_DENSE:
      return "dense";
    case CST_TENSOR_VARLEN_SPARSE:
      return "varlen sparse";
    case CST_TENSOR_SPARSE:
      return "sparse";
    case CST_TENSOR_RAGGED:
      return "ragged";
    case CST_TENSOR_STRUCTURED:
      return "structured";
  }
  return "unknown";
}

/* "[rows, 3]"; '?' is an unknown extent, '*' one that differs from row to row. */
static text shape_of(const cst_tensor_spec *spec) {
  text t = {.size = 0};
  if (spec->kind == CST_TENSOR_STRUCTURED) {
    add_item(&t, "%zu field%s", spec->num_fields, spec->num_fields == 1 ? "" : "s");
    return t;
  }
  add_item(&t, "[rows");
  for (size_t i = 0; i < spec->num_dims; i++) {
    if (spec->dims[i] < 0) {
      add_item(&t, ", ?");
    } else {
      add_item(&t, ", %" PRId64, spec->dims[i]);
    }
  }
  if (spec->kind == CST_TENSOR_VARLEN_SPARSE || spec->kind == CST_TENSOR_RAGGED) {
    bool first_is_uniform =
        spec->num_partitions > 0 && spec->partitions[0].row_length_column == NULL;
    add_item(&t, first_is_uniform ? "" : ", *");
  }
  for (size_t i = 0; i < spec->num_partitions; i++) {
    if (spec->partitions[i].row_length_column == NULL) {
      add_item(&t, ", %" PRId64, spec->partitions[i].uniform_length);
    } else if (i > 0) {
      add_item(&t, ", *");
    }
  }
  add_item(&t, "]");
  return t;
}

static text path_of(const cst_tensor_spec *spec) {
  text t = {.size = 0};
  for (size_t i = 0; i < spec->num_path_steps; i++) {
    add_item(&t, "%s%s", i > 0 ? "." : "", spec->path[i]);
  }
  return t;
}

/* The value column, then index or length columns; of a structured tensor, its fields. */
static text spec_columns(const cst_tensor_spec *spec) {
  text t = path_of(spec);
  for (size_t i = 0; i < spec->num_fields; i++) {
    add_item(&t, "%s%s", i > 0 ? ", " : "", spec->fields[i].name);
  }
  for (size_t i = 0; i < spec->num_index_columns; i++) {
    add_item(&t, ", %s", spec->index_columns[i]);
  }
  for (size_t i = 0; i < spec->num_partitions; i++) {
    if (spec->partitions[i].row_length_column != NULL) {
      add_item(&t, ", %s", spec->partitions[i].row_length_column);
    }
  }
  return t;
}

/* ---- the table ---- */

typedef struct line {
  text fields[NUM_FIELDS];
  const char *why;
} line;

static text text_from(const char *string) {
  text t = {.size = 0};
  add_item(&t, "%s", string);
  return t;
}

/* The line of a tensor; `outer` is the name of the structured one that it is a field of. */
static line line_of(const cst_tensor_spec *spec, const text *outer) {
  line l = {.why = spec->reason != NULL ? spec->reason : ""};
  bool is_structured = spec->kind == CST_TENSOR_STRUCTURED;
  l.fields[0] = *outer;
  add_item(&l.fields[0], "%s%s", outer->size > 0 ? "." : "", spec->name);
  l.fields[1] = text_from(tensor_kind_name(spec->kind));
  l.fields[2] = text_from(is_structured ? "-" : cst_dtype_name(spec->dtype));
  l.fields[3] = shape_of(spec);
  l.fields[4] = spec_columns(spec);
  return l;
}

static const line heading = {
    .fields = {{"tensor", 6}, {"kind", 4}, {"dtype", 5}, {"shape", 5}, {"columns", 7}},
    .why = "why",
};

static void widen_column(size_t widths[NUM_FIELDS], const line *l) {
  for (size_t i = 0; i < NUM_FIELDS; i++) {
    widths[i] = l->fields[i].size > widths[i] ? l->fields[i].size : widths[i];
  }
}

static void print_spec(const line *l, const size_t widths[NUM_FIELDS]) {
  for (size_t i = 0; i < NUM_FIELDS; i++) {
    cli_print_text(stdout, l->fields[i].data);
    printf("%*s  ", (int)(widths[i] - l->fields[i].size), "");
  }
  cli_print_text(stdout, l->why);
  printf("\n");
}

/* Measures, or prints, the lines of a tensor and of its fields. */
static void each_line(const cst_tensor_spec *spec, const text *outer, size_t widths[NUM_FIELDS],
                      bool print) {
  line l = line_of(spec, outer);
  if (print) {
    print_spec(&l, widths);
  } else {
    widen_column(widths, &l);
  }
  for (size_t i = 0; i < spec->num_fields; i++) {
    each_line(&spec->fields[i], &l.fields[0], widths, print);
  }
}

static void print_table(const cst_specs *specs) {
  const text top = {.size = 0};
  size_t widths[NUM_FIELDS] = {0};
  widen_column(widths, &heading);
  for (size_t i = 0; i < cst_specs_num_specs(specs); i++) {
    each_line(cst_specs_get(specs, i), &top, widths, false);
  }
  print_spec(&heading, widths);
  for (size_t i = 0; i < cst_specs_num_specs(specs); i++) {
    each_line(cst_specs_get(specs, i), &top, widths, true);
  }
}

/* ---- literals that JSON and Python share ---- */

static void print_strings(const char *const *strings, size_t count) {
  printf("[");
  for (size_t i = 0; i < count; i++) {
    printf("%s", i > 0 ? ", " : "");
    cli_json_string(stdout, strings[i]);
  }
  printf("]");
}

static void print_dims(const cst_tensor_spec *spec, const char *unknown) {
  printf("[");
  for (size_t i = 0; i < spec->num_dims; i++) {
    printf("%s", i > 0 ? ", " : "");
    if (spec->dims[i] < 0) {
      printf("%s", unknown);
    } else {
      printf("%" PRId64, spec->dims[i]);
    }
  }
  printf("]");
}

/* nan and inf are not JSON, and names that Python does not know: quoted in both. */
static void print_float(float value) {
  if (isfinite(value)) {
    printf("%.9g", (double)value);
  } else {
    printf(isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  }
}

static void print_bytes(cst_bytes bytes, bool python) {
  printf(python ? "b\"" : "\"");
  for (size_t i = 0; i < bytes.size; i++) {
    uint8_t c = bytes.data[i];
    if (c == '"' || c == '\\') {
      printf("\\%c", c);
    } else if (c >= 0x20 && c < 0x7f) {
      putchar(c);
    } else {
      printf(python ? "\\x%02x" : "\\u%04x", c);
    }
  }
  printf("\"");
}

static void print_default(const cst_tensor_spec *spec, bool python) {
  if (!spec->has_default) {
    printf(python ? "None" : "null");
  } else if (spec->dtype == CST_DTYPE_INT64) {
    printf("%" PRId64, spec->default_int);
  } else if (spec->dtype == CST_DTYPE_FLOAT32) {
    print_float(spec->default_float);
  } else {
    print_bytes(spec->default_bytes, python);
  }
}

/* ---- JSON ---- */

static void print_json_partitions(const cst_tensor_spec *spec) {
  printf("[");
  for (size_t i = 0; i < spec->num_partitions; i++) {
    const cst_partition *partition = &spec->partitions[i];
    printf("%s", i > 0 ? ", " : "");
    if (partition->row_length_column == NULL) {
      printf("{\"uniform_length\": %" PRId64 "}", partition->uniform_length);
    } else {
      printf("{\"row_length\": ");
      cli_json_string(stdout, partition->row_length_column);
      printf("}");
    }
  }
  printf("]");
}

static void print_json_spec(const cst_tensor_spec *spec);

static void print_json_fields(const cst_tensor_spec *spec) {
  printf(", \"fields\": [");
  for (size_t i = 0; i < spec->num_fields; i++) {
    printf(i > 0 ? ", " : "");
    print_json_spec(&spec->fields[i]);
  }
  printf("]");
}

static void print_json_kind(const cst_tensor_spec *spec) {
  if (spec->kind == CST_TENSOR_DENSE) {
    printf(", \"shape\": ");
    print_dims(spec, "null");
    printf(", \"default\": ");
    print_default(spec, false);
  } else if (spec->kind == CST_TENSOR_SPARSE) {
    printf(", \"size\": ");
    print_dims(spec, "null");
    printf(", \"index_columns\": ");
    print_strings(spec->index_columns, spec->num_index_columns);
    printf(", \"already_sorted\": %s", spec->already_sorted ? "true" : "false");
  } else if (spec->kind == CST_TENSOR_RAGGED) {
    printf(", \"partitions\": ");
    print_json_partitions(spec);
    printf(", \"row_splits_dtype\": \"%s\"", cst_dtype_name(spec->row_splits_dtype));
  } else if (spec->kind == CST_TENSOR_STRUCTURED) {
    print_json_fields(spec);
  }
}

static void print_json_spec(const cst_tensor_spec *spec) {
  printf("{\"tensor\": ");
  cli_json_string(stdout, spec->name);
  printf(", \"kind\": \"%s\"", tensor_kind_name(spec->kind));
  if (spec->kind != CST_TENSOR_STRUCTURED) {
    printf(", \"dtype\": \"%s\", \"path\": ", cst_dtype_name(spec->dtype));
    print_strings(spec->path, spec->num_path_steps);
  }
  print_json_kind(spec);
  printf(", \"explicit\": %s, \"why\": ", spec->is_explicit ? "true" : "false");
  cli_json_string(stdout, spec->reason);
  printf("}");
}

static void print_specs_json(const cst_specs *specs) {
  printf("{\"tensors\": [");
  for (size_t i = 0; i < cst_specs_num_specs(specs); i++) {
    printf(i > 0 ? ",\n " : "");
    print_json_spec(cst_specs_get(specs, i));
  }
  printf("]}\n");
}

/* ---- Python ---- */

static void print_python_ragged(const cst_tensor_spec *spec) {
  printf("cst.schema.Ragged(value_key=");
  cli_json_string(stdout, path_of(spec).data);
  printf(", dtype=\"%s\", partitions=[", cst_dtype_name(spec->dtype));
  for (size_t i = 0; i < spec->num_partitions; i++) {
    const cst_partition *partition = &spec->partitions[i];
    printf("%s", i > 0 ? ", " : "");
    if (partition->row_length_column == NULL) {
      printf("%" PRId64, partition->uniform_length);
    } else {
      cli_json_string(stdout, partition->row_length_column);
    }
  }
  printf("], row_splits_dtype=\"%s\")", cst_dtype_name(spec->row_splits_dtype));
}

static void print_python_spec(const cst_tensor_spec *spec);

static void print_python_structured(const cst_tensor_spec *spec) {
  printf("cst.schema.Structured(fields={");
  for (size_t i = 0; i < spec->num_fields; i++) {
    printf(i > 0 ? ", " : "");
    cli_json_string(stdout, spec->fields[i].name);
    printf(": ");
    print_python_spec(&spec->fields[i]);
  }
  printf("})");
}

static void print_python_spec(const cst_tensor_spec *spec) {
  const char *dtype = cst_dtype_name(spec->dtype);
  switch (spec->kind) {
    case CST_TENSOR_DENSE:
      printf("cst.schema.FixedLen(shape=");
      print_dims(spec, "-1");
      printf(", dtype=\"%s\", default=", dtype);
      print_default(spec, true);
      printf(")");
      break;
    case CST_TENSOR_VARLEN_SPARSE:
      printf("cst.schema.VarLen(dtype=\"%s\")", dtype);
      break;
    case CST_TENSOR_SPARSE:
      printf("cst.schema.Sparse(index_keys=");
      print_strings(spec->index_columns, spec->num_index_columns);
      printf(", value_key=");
      cli_json_string(stdout, path_of(spec).data);
      printf(", dtype=\"%s\", size=", dtype);
      print_dims(spec, "-1");
      printf(", already_sorted=%s)", spec->already_sorted ? "True" : "False");
      break;
    case CST_TENSOR_RAGGED:
      print_python_ragged(spec);
      break;
    case CST_TENSOR_STRUCTURED:
      print_python_structured(spec);
      break;
  }
}

static void print_python(const cst_specs *specs) {
  printf("{\n");
  for (size_t i = 0; i < cst_specs_num_specs(specs); i++) {
    const cst_tensor_spec *spec = cst_specs_get(specs, i);
    printf("    ");
    cli_json_string(stdout, spec->name);
    printf(": ");
    print_python_spec(spec);
    printf(",\n");
  }
  printf("}\n");
}

/* ---- the verb ---- */

static void show_specs(const cli_settings *settings, const cst_specs *specs) {
  (settings->json ? print_specs_json : settings->python ? print_python : print_table)(specs);
}

static cst_status print_specs(const cli_settings *settings, cst_error *error) {
  cst_schema *schema;
  cst_specs *specs;
  if (settings->source.view != NULL) {
    show_specs(settings, cst_view_specs(settings->source.view));
    return CST_OK;
  }
  cst_status status = cst_schema_open(settings->paths[0], &schema, error);
  if (status != CST_OK) {
    return status;
  }
  status = cst_specs_new(schema, &settings->specs, &specs, error);
  cst_schema_release(schema);
  if (status != CST_OK) {
    if (error->file[0] == '\0') {
      snprintf(error->file, sizeof error->file, "%s", settings->paths[0]);
    }
    return status;
  }
  show_specs(settings, specs);
  cst_specs_release(specs);
  return CST_OK;
}

static int run_schema_spec(int argc, char **argv) {
  cli_settings settings;
  cst_error error = CST_ERROR_INIT;
  int status = cli_parse(&cli_schema_spec, argc, argv, &settings);
  size_t wanted = settings.query.view != NULL ? 0 : 1;
  if (status < 0 && settings.num_paths != wanted) {
    status = wanted == 0 ? cli_usage(&cli_schema_spec, NULL, "a schema, or --view, not both")
             : settings.num_paths == 0
                 ? cli_usage(&cli_schema_spec, NULL, "usage: columnstone %s %s",
                             cli_schema_spec.name, cli_schema_spec.usage)
                 : cli_usage(&cli_schema_spec, NULL, "one schema, not %zu", settings.num_paths);
  } else if (status < 0) {
    status = print_specs(&settings, &error) == CST_OK ? CLI_FINE : cli_fail(&error);
    status = cli_flush(status);
  }
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_schema_spec = {
    .name = "schema spec",
    .usage =
        "FILE | --view FILE [--group NAME] [--environment NAME] [--legacy] [--json | --python]",
    .summary = "Shows the tensor that each feature of a schema becomes, and why",
    .details =
        "Prints one line per tensor: kind, type, shape, columns, and the rule that applies. In "
        "shapes, '?' is an unknown dimension, and '*' a dimension that varies from row to row. The "
        "values column comes first, then index and length columns. The fields of a structured "
        "tensor follow it. With --view, prints the tensors of a saved query.",
    .examples = CLI_EXAMPLES(
        {"columnstone schema spec schema.pbtxt", "the tensors of a schema"},
        {"columnstone schema spec schema.pbtxt --python", "the same as a Python feature spec"},
        {"columnstone schema spec --view sessions.cstv", "the tensors of a saved query"}),
    .see = "schema infer, view show",
    .exits = "1 the schema is invalid",
    .options = CLI_OPTIONS(OPTION_GROUP, OPTION_ENVIRONMENT, OPTION_LEGACY, OPTION_JSON,
                           OPTION_PYTHON, OPTIONS_VIEW, OPTION_LINEAGE),
    .min_paths = 0,
    .run = run_schema_spec,
};
