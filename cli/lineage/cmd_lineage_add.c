/* columnstone lineage add: an artifact of files. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lineage/lineage.h"

/* What is told of the artifact. */
typedef struct adding {
  const cli_settings *settings;
  cst_lineage *store;
  const char *type;
  cli_added_files files;
  cst_lineage_property *properties; /* with room for those that are found out */
  size_t num_properties;
  cst_lineage_reference *references;
  size_t num_references;
  char **roles; /* of these */
} adding;

enum { MOST_FOUND = 6 /* properties that are found out */ };

static bool is_examples(const adding *a) { return strcmp(a->type, "Examples") == 0; }

/* ---- properties ---- */

static bool has_property(const adding *a, const char *name) {
  for (size_t i = 0; i < a->num_properties; i++) {
    if (strcmp(a->properties[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

/* What the user says comes first. */
static void add_text(adding *a, const char *name, const char *value) {
  if (value != NULL && !has_property(a, name)) {
    a->properties[a->num_properties++] = (cst_lineage_property){
        .name = name, .kind = CST_LINEAGE_TEXT, .bytes = {(const uint8_t *)value, strlen(value)}};
  }
}

/* The room for texts like "read.delimiter" and their values. */
static cst_status add_reading(adding *a, const char *name, const char *value, cst_error *error) {
  char full[160];
  snprintf(full, sizeof full, "read.%.150s", name);
  const size_t size = strlen(full) + 1;
  char *text = malloc(size + strlen(value) + 1);
  char **grown = realloc(a->files.texts, (a->files.num_texts + 1) * sizeof *grown);
  a->files.texts = grown != NULL ? grown : a->files.texts;
  if (text == NULL || grown == NULL) {
    free(text);
    return cli_fail_memory(error);
  }
  memcpy(text, full, size);
  memcpy(text + size, value, strlen(value) + 1);
  a->files.texts[a->files.num_texts++] = text;
  add_text(a, text, text + size);
  return CST_OK;
}

static cst_status add_message_settings(adding *a, cst_error *error) {
  const cli_message *message = &a->settings->message;
  cst_status status = CST_OK;
  for (size_t i = 0; status == CST_OK && i < message->num_settings; i++) {
    const char *equals = strchr(message->settings[i], '=');
    char name[80];
    snprintf(name, sizeof name, "%.*s", (int)(equals - message->settings[i]), message->settings[i]);
    status = add_reading(a, name, equals + 1, error);
  }
  return status;
}

/* All options that it takes to read the files, as the user gave them. */
static cst_status add_options(adding *a, cst_error *error) {
  const cli_settings *settings = a->settings;
  add_text(a, "read.format", settings->source.format);
  add_text(a, "read.container", settings->source.container);
  add_text(a, "read.message", settings->message.options.message);
  add_text(a, "read.message_column", settings->source.message_column);
  cst_status status = add_message_settings(a, error);
  for (size_t i = 0; status == CST_OK && i < settings->formats.num_input; i++) {
    status =
        add_reading(a, settings->formats.input[i].name, settings->formats.input[i].value, error);
  }
  return status;
}

static cst_status find_properties(adding *a, cst_error *error) {
  const cli_settings *settings = a->settings;
  const cli_artifact *artifact = &settings->lineage.artifact;
  cst_status status =
      cli_lineage_properties(artifact->properties, artifact->num_properties, &a->properties, error);
  if (status != CST_OK) {
    return status;
  }
  const size_t most = artifact->num_properties + settings->formats.num_input +
                      settings->message.num_settings + MOST_FOUND + 2;
  cst_lineage_property *list = calloc(most, sizeof *list);
  if (list == NULL) {
    return cli_fail_memory(error);
  }
  memcpy(list, a->properties, artifact->num_properties * sizeof *list);
  a->num_properties = artifact->num_properties;
  cst_lineage_property *given = a->properties; /* has the texts */
  char **grown = realloc(a->files.texts, (a->files.num_texts + 1) * sizeof *grown);
  if (grown == NULL) {
    free(list);
    return cli_fail_memory(error);
  }
  a->files.texts = grown;
  a->files.texts[a->files.num_texts++] = (char *)given;
  a->properties = list;
  add_text(a, "payload_format", a->files.payload);
  add_text(a, "file_format", a->files.file_format);
  if (artifact->span >= 0 && !has_property(a, "span")) {
    list[a->num_properties++] =
        (cst_lineage_property){.name = "span", .kind = CST_LINEAGE_INT, .number = artifact->span};
  }
  return is_examples(a) ? add_options(a, error) : CST_OK;
}

/* ---- references ---- */

static cst_status add_reference(adding *a, const char *role, size_t size, const char *reference,
                                cst_error *error) {
  int64_t id;
  cst_status status = cli_lineage_lookup(a->store, reference, &id, error);
  char *copy = status == CST_OK ? strndup(role, size) : NULL;
  if (status == CST_OK && copy == NULL) {
    return cli_fail_memory(error);
  }
  if (status == CST_OK) {
    a->roles[a->num_references] = copy;
    a->references[a->num_references++] = (cst_lineage_reference){.role = copy, .artifact = id};
  }
  return status;
}

/* --schema is a file if there is one of that name. */
static cst_status add_schema(adding *a, cst_error *error) {
  const char *schema = a->settings->lineage.artifact.schema;
  if (schema == NULL) {
    return CST_OK;
  }
  if (!cli_names_artifact(schema) && access(schema, F_OK) == 0) {
    return cli_added_files_append(&a->files, schema, NULL, "schema", error);
  }
  return add_reference(a, "schema", 6, schema, error);
}

static cst_status find_references(adding *a, cst_error *error) {
  const cli_artifact *artifact = &a->settings->lineage.artifact;
  a->references = calloc(artifact->num_references + 1, sizeof *a->references);
  a->roles = calloc(artifact->num_references + 1, sizeof *a->roles);
  if (a->references == NULL || a->roles == NULL) {
    return cli_fail_memory(error);
  }
  cst_status status = add_schema(a, error);
  for (size_t i = 0; status == CST_OK && i < artifact->num_references; i++) {
    const char *text = artifact->references[i];
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
      return cli_fail_argument(error, "as in --reference schema=schema@2",
                               "--reference takes ROLE=REF, not '%.60s'", text);
    }
    status = add_reference(a, text, (size_t)(equals - text), equals + 1, error);
  }
  return status;
}

/* ---- adding ---- */

static bool has_execution(const adding *a) {
  const cli_artifact *said = &a->settings->lineage.artifact;
  return said->num_from > 0 || said->made_by != NULL;
}

/* Begins the execution that --from and --by tell of. */
static cst_status start_execution(const adding *a, int64_t *id, cst_error *error) {
  const cli_artifact *said = &a->settings->lineage.artifact;
  cst_lineage_execution execution = CST_LINEAGE_EXECUTION_INIT;
  int64_t *ids = NULL;
  cst_status status = cli_lineage_lookup_all(a->store, said->from, said->num_from, &ids, error);
  if (status != CST_OK) {
    return status;
  }
  cst_lineage_event *inputs = calloc(said->num_from + 1, sizeof *inputs);
  status = inputs != NULL ? CST_OK : cli_fail_memory(error);
  for (size_t i = 0; ids != NULL && inputs != NULL && i < said->num_from; i++) {
    inputs[i].artifact = ids[i];
  }
  execution.type = said->made_by != NULL ? said->made_by : "run";
  execution.inputs = inputs;
  execution.num_inputs = said->num_from;
  status = status == CST_OK ? cst_lineage_start(a->store, &execution, id, error) : status;
  free(inputs);
  free(ids);
  return status;
}

static cst_status join_context(const adding *a, int64_t artifact, cst_error *error) {
  const char *text = a->settings->lineage.filter.context;
  int64_t context;
  if (text == NULL) {
    return CST_OK;
  }
  const char *equals = strchr(text, '='); /* see refuse */
  char *type = strndup(text, (size_t)(equals - text));
  if (type == NULL) {
    return cli_fail_memory(error);
  }
  cst_status status = cst_lineage_context(a->store, type, equals + 1, &context, error);
  free(type);
  return status == CST_OK
             ? cst_lineage_join(a->store, context, CST_LINEAGE_OF_ARTIFACTS, artifact, error)
             : status;
}

static cst_status add_artifact(adding *a, int64_t *id, bool *is_new, cst_error *error) {
  const cli_artifact *said = &a->settings->lineage.artifact;
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  artifact.type = a->type;
  artifact.name = said->name;
  artifact.files = a->files.list;
  artifact.num_files = a->files.count;
  artifact.properties = a->properties;
  artifact.num_properties = a->num_properties;
  artifact.references = a->references;
  artifact.num_references = a->num_references;
  artifact.state = has_execution(a) ? CST_LINEAGE_PENDING : CST_LINEAGE_LIVE;
  artifact.is_external = said->is_external;
  artifact.skips_digest = said->skips_digest;
  return cst_lineage_add(a->store, &artifact, id, is_new, error);
}

/* The artifact as what an execution has made: live when that has ended. */
static cst_status add_output(adding *a, int64_t *id, bool *is_new, cst_error *error) {
  int64_t execution;
  cst_error ignored = CST_ERROR_INIT;
  cst_status status = start_execution(a, &execution, error);
  if (status != CST_OK) {
    return status;
  }
  status = add_artifact(a, id, is_new, error);
  if (status == CST_OK) {
    status = cst_lineage_output(a->store, execution, *id, NULL, error);
  }
  if (status != CST_OK) {
    (void)cst_lineage_end(a->store, execution, CST_LINEAGE_FAILED, &ignored);
    return status;
  }
  return cst_lineage_end(a->store, execution, CST_LINEAGE_COMPLETE, error);
}

static void print_added(const adding *a, const char *name, int64_t id, bool is_new) {
  const cli_settings *settings = a->settings;
  if (settings->json) {
    printf("{\"id\": %" PRId64 ", \"reference\": ", id);
    cli_json_string(stdout, name);
    printf(", \"type\": ");
    cli_json_string(stdout, a->type);
    printf(", \"is_new\": %s}\n", is_new ? "true" : "false");
    return;
  }
  cli_set_style(CLI_BOLD);
  cli_print_text(stdout, name);
  cli_set_style(CLI_PLAIN);
  printf(": ");
  cli_print_text(stdout, a->type);
  printf("%s, %zu file%s", is_new ? "" : ", as it was there already", a->files.count,
         a->files.count == 1 ? "" : "s");
  if (a->files.payload != NULL) {
    printf(", %s in %s", a->files.payload, a->files.file_format);
  }
  printf("\n");
}

static cst_status add_and_print(adding *a, cst_error *error) {
  char name[320];
  int64_t id = 0;
  bool is_new = false;
  cst_status status = find_references(a, error);
  if (status == CST_OK) {
    status = has_execution(a) ? add_output(a, &id, &is_new, error)
                              : add_artifact(a, &id, &is_new, error);
  }
  if (status == CST_OK) {
    status = join_context(a, id, error);
  }
  if (status == CST_OK) {
    status = cli_lineage_name(a->store, id, name, sizeof name, error);
  }
  if (status == CST_OK) {
    print_added(a, name, id, is_new);
  }
  return status;
}

static bool ends_in(const char *path, const char *ending) {
  const size_t size = strlen(path), end = strlen(ending);
  return size > end && strcmp(path + size - end, ending) == 0;
}

/* What cannot be added, before anything is. */
static int refuse(const cli_settings *settings, const char *type) {
  const char *context = settings->lineage.filter.context;
  if (context != NULL && (context[0] == '=' || strchr(context, '=') == NULL)) {
    return cli_usage(&cli_lineage_add, "as in --context pipeline=weekly",
                     "--context takes TYPE=NAME, not '%.60s'", context);
  }
  for (size_t i = 1; i < settings->num_paths; i++) {
    if (strcmp(type, "DataView") == 0 && ends_in(settings->paths[i], ".cstq")) {
      return cli_usage(&cli_lineage_add,
                       "build it, and add what that writes: columnstone view build QUERY -o VIEW",
                       "%.80s is a query, which is no view yet", settings->paths[i]);
    }
    if (cli_names_artifact(settings->paths[i])) {
      return cli_usage(&cli_lineage_add, "artifacts that it needs are --reference ROLE=REF",
                       "%.80s is an artifact already", settings->paths[i]);
    }
  }
  if (strcmp(type, "DataView") == 0 && settings->num_paths != 2) {
    return cli_usage(&cli_lineage_add, NULL, "a view is one file, not %zu",
                     settings->num_paths - 1);
  }
  return -1;
}

static int add(const cli_settings *settings) {
  adding a = {.settings = settings, .type = cli_lineage_type(settings->paths[0])};
  cst_error error = CST_ERROR_INIT;
  int opened = refuse(settings, a.type);
  opened = opened < 0 ? cli_lineage_open(&cli_lineage_add, settings, CST_LINEAGE_WRITE, &a.store)
                      : opened;
  if (opened >= 0) {
    return opened;
  }
  cst_status status = cli_added_files_find(settings, is_examples(&a), &a.files, &error);
  if (status == CST_OK && is_examples(&a)) {
    status = cli_added_files_look(settings, &a.files, &error);
  }
  if (status == CST_OK && is_examples(&a) && settings->message.proto_set != NULL) {
    status =
        cli_added_files_append(&a.files, settings->message.proto_set, NULL, "descriptors", &error);
  }
  if (status == CST_OK) {
    status = find_properties(&a, &error);
  }
  if (status == CST_OK) {
    status = add_and_print(&a, &error);
  }
  for (size_t i = 0; i < a.num_references; i++) {
    free(a.roles[i]);
  }
  free(a.roles);
  free(a.references);
  free(a.properties);
  cli_added_files_reset(&a.files);
  cst_lineage_free(a.store);
  return status == CST_OK ? cli_flush(CLI_FINE) : cli_fail(&error);
}

static int run_add(int argc, char **argv) {
  cli_settings settings;
  int status = cli_parse(&cli_lineage_add, argc, argv, &settings);
  status = status < 0 ? add(&settings) : status;
  cli_settings_reset(&settings);
  return status;
}

const cli_verb cli_lineage_add = {
    .name = "lineage add",
    .usage = "TYPE FILE... [--name NAME] [--split NAME] [--span N] [--from REF]... [--json]",
    .summary = "Adds an artifact to a store: its files and their metadata",
    .details =
        "TYPE is examples, view, schema, statistics, model, or a word of your own. For examples, "
        "the payload and file format are detected and stored, along with the options needed to "
        "read them. A folder with Split-NAME subfolders, as written by TFX, is added with its "
        "splits. A view is a saved view (.cstv). Adding the same view or schema again returns the "
        "existing artifact. --from records what the artifact was made from, --by what made it.",
    .examples = CLI_EXAMPLES(
        {"columnstone lineage add examples trips.tfrecord --name trips", "add a data set"},
        {"columnstone lineage add model model.bin --name fares --from trips@1 --by train",
         "add a model trained on it"}),
    .see = "lineage show, lineage bind, lineage ls",
    .exits = "1 a file is damaged",
    .options =
        CLI_OPTIONS(OPTION_STORE, OPTION_ARTIFACT_NAME, OPTION_ARTIFACT_SPLIT, OPTION_SPAN,
                    OPTION_PROPERTY, OPTION_REFERENCE, OPTION_ARTIFACT_SCHEMA, OPTION_FROM,
                    OPTION_MADE_BY, OPTION_INTO_CONTEXT, OPTION_EXTERNAL, OPTION_NO_DIGEST,
                    OPTION_FORMAT, OPTIONS_FORMATS, OPTIONS_MESSAGE, OPTION_CONTAINER, OPTION_JSON),
    .min_paths = 1,
    .run = run_add,
};
