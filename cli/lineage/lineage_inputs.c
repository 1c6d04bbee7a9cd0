/* Inputs that are artifacts of a store: lineage:sessions@4, lineage:sessions@4#train.
 *
 * They are read by the rules of cst_lineage_read, all of one command line together. What it takes
 * to read them goes into the settings as if the user had given it; what the user gives stays. A
 * view, a schema and statistics are the files that they consist of.
 */
#include <stdlib.h>
#include <string.h>

#include "lineage/lineage.h"

struct cli_lineage_inputs {
  cst_lineage *store;
  cst_lineage_reading **readings;
  cst_findings **files; /* of artifacts that are no examples */
  char **texts;         /* options that were added */
  size_t num_readings, num_files, num_texts;
  int64_t *leased;
  size_t num_leased;
  cst_lineage_lease *lease;
  size_t *ends; /* of the paths of each argument */
  size_t num_arguments;
};

typedef struct cli_lineage_inputs inputs;

/* One command line while it is expanded. */
typedef struct expansion {
  const cli_verb *verb;
  cli_settings *settings;
  inputs *in;
  cst_lineage_choice choice;
  int64_t view;
  const char **paths; /* the new ones */
  size_t num_paths, capacity;
  bool has_view; /* of artifacts */
  bool is_told;  /* the user names the format */
} expansion;

void cli_lineage_inputs_free(inputs *in) {
  if (in == NULL) {
    return;
  }
  cst_lineage_lease_free(in->lease);
  for (size_t i = 0; i < in->num_readings; i++) {
    cst_lineage_reading_free(in->readings[i]);
  }
  for (size_t i = 0; i < in->num_files; i++) {
    cst_findings_free(in->files[i]);
  }
  for (size_t i = 0; i < in->num_texts; i++) {
    free(in->texts[i]);
  }
  cst_lineage_free(in->store);
  free(in->readings);
  free(in->files);
  free(in->texts);
  free(in->leased);
  free(in->ends);
  free(in);
}

const char *const *cli_paths_of(const cli_settings *settings, size_t argument, size_t *count) {
  const inputs *in = settings->lineage.inputs;
  const size_t begin = in == NULL ? argument : argument == 0 ? 0 : in->ends[argument - 1];
  *count = in == NULL ? 1 : in->ends[argument] - begin;
  return settings->paths + begin;
}

size_t cli_num_arguments(const cli_settings *settings) {
  const inputs *in = settings->lineage.inputs;
  return in == NULL ? settings->num_paths : in->num_arguments;
}

/* ---- lists that grow ---- */

static cst_status add_to(void *list, size_t *count, const void *item, size_t size,
                         cst_error *error) {
  void *items;
  memcpy(&items, list, sizeof items);
  char *grown = realloc(items, (*count + 1) * size);
  if (grown == NULL) {
    return cli_fail_memory(error);
  }
  memcpy(grown + *count * size, item, size);
  memcpy(list, &grown, sizeof grown);
  *count += 1;
  return CST_OK;
}

static cst_status add_path(expansion *e, const char *path, cst_error *error) {
  if (e->num_paths + 1 >= e->capacity) { /* with room for one more: see cmd_cat.c */
    const size_t capacity = 2 * e->capacity + 8;
    const char **grown = realloc((void *)e->paths, capacity * sizeof *grown);
    if (grown == NULL) {
      return cli_fail_memory(error);
    }
    e->paths = grown;
    e->capacity = capacity;
  }
  e->paths[e->num_paths++] = path;
  return CST_OK;
}

static cst_status add_leased(inputs *in, int64_t id, cst_error *error) {
  for (size_t i = 0; i < in->num_leased; i++) {
    if (in->leased[i] == id) {
      return CST_OK;
    }
  }
  return add_to((void *)&in->leased, &in->num_leased, &id, sizeof id, error);
}

/* ---- artifacts ---- */

/* "sessions@4#train" is cut at its '#'. *copy: free. */
static cst_status lookup(expansion *e, const char *text, int64_t *id, char **copy,
                         const char **split, cst_error *error) {
  *copy = strdup(text);
  if (*copy == NULL) {
    return cli_fail_memory(error);
  }
  char *hash = strchr(*copy, '#');
  *split = NULL;
  if (hash != NULL) {
    *hash = '\0';
    *split = hash + 1;
  }
  return cli_lineage_lookup(e->in->store, *copy, id, error);
}

/* What the command line says wins, and verbs that look at files need none. */
static bool has_own_parts(const expansion *e) {
  const cli_settings *settings = e->settings;
  return !cli_takes(e->verb, OPTION_PROTO_SET) || settings->message.proto_set != NULL ||
         settings->query.view != NULL;
}

/* Reads artifacts, which the settings then own. */
static cst_status read_artifacts(expansion *e, const int64_t *ids, size_t count, const char *split,
                                 cst_lineage_reading **out, cst_error *error) {
  cst_lineage_reading *reading;
  const cst_lineage_read_options options = {.size = sizeof options,
                                            .choice = e->choice,
                                            .view = e->view,
                                            .splits = split != NULL ? &split : NULL,
                                            .num_splits = split != NULL,
                                            .has_own_parts = has_own_parts(e)};
  cst_status status = cst_lineage_read(e->in->store, ids, count, &options, &reading, error);
  if (status != CST_OK) {
    return status;
  }
  *out = reading;
  status = add_to((void *)&e->in->readings, &e->in->num_readings, &reading, sizeof reading, error);
  if (status != CST_OK) {
    cst_lineage_reading_free(reading);
  }
  return status;
}

/* What the artifact is, in e->in->files. */
static cst_status find_artifact(expansion *e, int64_t id, const cst_findings **out,
                                cst_error *error) {
  cst_findings *found;
  cst_status status = cli_lineage_get(e->in->store, CST_LINEAGE_OF_ARTIFACTS, id, &found, error);
  if (status != CST_OK) {
    return status;
  }
  *out = found;
  status = add_to((void *)&e->in->files, &e->in->num_files, &found, sizeof found, error);
  if (status != CST_OK) {
    cst_findings_free(found);
  }
  return status;
}

/* True for what a verb reads as it is: `view show` views, and `info` anything. */
static bool is_file_of(const cli_verb *verb, const cst_findings *found) {
  static const char *const types[][2] = {{"DataView", "view "},
                                         {"Schema", "schema "},
                                         {"Statistics", "stats"},
                                         {"Statistics", "schema infer"}};
  const char *type = cst_findings_text(found, "type", 0);
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    const bool is_type = strcmp(type, types[i][0]) == 0;
    const bool is_its_verb = strncmp(verb->name, types[i][1], strlen(types[i][1])) == 0;
    if (is_type && (is_its_verb || strcmp(verb->name, "info") == 0)) {
      return true;
    }
  }
  return false;
}

/* The i-th file that is the data of an artifact; NULL: there are no more. */
static const char *data_file(const cst_findings *found, size_t i) {
  size_t begin, end;
  (void)cst_findings_items(found, "files", 0, &begin, &end);
  for (; begin < end; begin++) {
    if (cst_findings_text(found, "files.role", begin) == NULL && i-- == 0) {
      return cst_findings_text(found, "files.path", begin);
    }
  }
  return NULL;
}

/* The file of a view or schema that an option names: *text is it then. */
static cst_status expand_option(expansion *e, const char *option, const char *type,
                                const char **text, cst_error *error) {
  char *copy = NULL;
  const char *split = NULL;
  int64_t id = 0;
  const cst_findings *found = NULL;
  cst_status status = lookup(e, *text, &id, &copy, &split, error);
  free(copy);
  if (status == CST_OK) {
    status = find_artifact(e, id, &found, error);
  }
  if (status == CST_OK && strcmp(cst_findings_text(found, "type", 0), type) != 0) {
    return cli_fail_argument(error, "columnstone lineage ls has the types",
                             "--%s takes a %s, and %.80s is a %.40s", option, type, *text,
                             cst_findings_text(found, "type", 0));
  }
  if (status == CST_OK) {
    *text = data_file(found, 0);
    status = *text != NULL ? add_leased(e->in, id, error)
                           : cli_fail_argument(error, "", "--%s: the artifact has no file", option);
  }
  return status;
}

/* ---- what it takes to read them ---- */

static bool has_message_option(const cli_message *message, const char *name) {
  const size_t size = strlen(name);
  for (size_t i = 0; i < message->num_settings; i++) {
    if (strncmp(message->settings[i], name, size) == 0 && message->settings[i][size] == '=') {
      return true;
    }
  }
  return false;
}

static bool is_message_option(const char *name) {
  const cst_option_info *info;
  for (size_t i = 0; (info = cst_message_option_get(i)) != NULL; i++) {
    if (strcmp(info->name, name) == 0) {
      return true;
    }
  }
  return false;
}

/* A text of the input's own, which is freed with it, also if there is no room for it. */
static cst_status keep_text(inputs *in, char *text, cst_error *error) {
  char **grown = realloc(in->texts, (in->num_texts + 1) * sizeof *grown);
  if (grown == NULL) {
    free(text);
    return cli_fail_memory(error);
  }
  grown[in->num_texts++] = text;
  in->texts = grown;
  return CST_OK;
}

static cst_status add_message_option(expansion *e, const cst_option *option, cst_error *error) {
  cli_message *message = &e->settings->message;
  const size_t size = strlen(option->name) + strlen(option->value) + 2;
  if (e->has_view || !cli_takes(e->verb, OPTION_PROTO_SET) ||
      has_message_option(message, option->name)) {
    return CST_OK;
  }
  char *text = malloc(size);
  if (text == NULL) {
    return cli_fail_memory(error);
  }
  snprintf(text, size, "%s=%s", option->name, option->value);
  cst_status status = keep_text(e->in, text, error);
  const char **grown = status == CST_OK ? realloc((void *)message->settings,
                                                  (message->num_settings + 1) * sizeof *grown)
                                        : NULL;
  if (grown == NULL) {
    return status == CST_OK ? cli_fail_memory(error) : status;
  }
  grown[message->num_settings++] = text;
  message->settings = grown;
  return CST_OK;
}

/* Not of another format than that of the artifact. */
static cst_status add_format_option(expansion *e, const cst_option *option, cst_error *error) {
  const cli_format_options *formats = &e->settings->formats;
  for (size_t i = 0; i < formats->num_input; i++) {
    if (strcmp(formats->input[i].name, option->name) == 0) {
      return CST_OK;
    }
  }
  if (e->is_told ||
      (!cli_takes(e->verb, OPTIONS_FORMATS) && !cli_takes(e->verb, OPTIONS_FORMATS_BOTH))) {
    return CST_OK;
  }
  return cli_add_format_option(e->settings, option->name, option->value, error);
}

/* A text that the user has not given, of an option that the verb takes. */
static void set_text(const expansion *e, cli_option_id id, const char **place, const char *value) {
  if (*place == NULL && cli_takes(e->verb, id)) {
    *place = value;
  }
}

/* Views have the message that they read. */
static void set_unless_view(const expansion *e, cli_option_id id, const char **place,
                            const char *value) {
  if (!e->has_view && e->settings->query.view == NULL) {
    set_text(e, id, place, value);
  }
}

static cst_status apply_option(expansion *e, const cst_option *option, cst_error *error) {
  cli_settings *settings = e->settings;
  const char *name = option->name, *value = option->value;
  if (strcmp(name, "view") == 0) {
    settings->query.view = value;
  } else if (strcmp(name, "descriptors") == 0) {
    set_unless_view(e, OPTION_PROTO_SET, &settings->message.proto_set, value);
  } else if (strcmp(name, "message") == 0) {
    set_unless_view(e, OPTION_MESSAGE, &settings->message.options.message, value);
  } else if (strcmp(name, "schema") == 0) {
    set_unless_view(e, OPTION_SCHEMA, &settings->schema, value);
  } else if (strcmp(name, "message_column") == 0) {
    set_text(e, OPTION_MESSAGE_COLUMN, &settings->source.message_column, value);
  } else if (strcmp(name, "container") == 0) {
    set_text(e, OPTION_CONTAINER, &settings->source.container, value);
  } else if (strcmp(name, "format") == 0) {
    const bool needs_types = strcmp(value, "message") == 0 && !e->has_view;
    set_text(e, needs_types ? OPTION_PROTO_SET : OPTION_FORMAT, &settings->source.format, value);
  } else if (is_message_option(name)) {
    return add_message_option(e, option, error);
  } else {
    return add_format_option(e, option, error);
  }
  return CST_OK;
}

static cst_status apply_options(expansion *e, const cst_lineage_reading *reading,
                                cst_error *error) {
  const cst_option *option;
  cst_status status = CST_OK;
  for (size_t i = 0; (option = cst_lineage_reading_option(reading, i)) != NULL; i++) {
    e->has_view = e->has_view || strcmp(option->name, "view") == 0;
  }
  for (size_t i = 0; status == CST_OK && (option = cst_lineage_reading_option(reading, i)) != NULL;
       i++) {
    status = apply_option(e, option, error);
  }
  return status;
}

/* ---- the arguments ---- */

/* Checks all examples together, by the rules, and takes their options. */
static cst_status read_together(expansion *e, const int64_t *ids, size_t count, cst_error *error) {
  cst_lineage_reading *reading;
  size_t num_needed;
  if (count == 0) {
    return CST_OK;
  }
  cst_status status = read_artifacts(e, ids, count, NULL, &reading, error);
  if (status != CST_OK) {
    return status;
  }
  const int64_t *needed = cst_lineage_reading_artifacts(reading, &num_needed);
  for (size_t i = 0; status == CST_OK && i < num_needed; i++) {
    status = add_leased(e->in, needed[i], error);
  }
  return status == CST_OK ? apply_options(e, reading, error) : status;
}

static cst_status expand_artifact(expansion *e, const char *text, cst_error *error) {
  char *copy = NULL;
  const char *split = NULL;
  int64_t id = 0;
  const cst_findings *found = NULL;
  cst_lineage_reading *reading = NULL;
  cst_status status = lookup(e, text, &id, &copy, &split, error);
  if (status == CST_OK) {
    status = find_artifact(e, id, &found, error);
  }
  if (status == CST_OK && is_file_of(e->verb, found)) {
    const char *path;
    status = add_leased(e->in, id, error);
    for (size_t i = 0; status == CST_OK && (path = data_file(found, i)) != NULL; i++) {
      status = add_path(e, path, error);
    }
  } else if (status == CST_OK) {
    status = read_artifacts(e, &id, 1, split, &reading, error);
    for (size_t i = 0; status == CST_OK && i < cst_lineage_reading_num_paths(reading); i++) {
      status = add_path(e, cst_lineage_reading_path(reading, i), error);
    }
  }
  free(copy);
  return status;
}

/* The examples among the arguments: *ids, free. */
static cst_status find_examples(expansion *e, int64_t **ids, size_t *count, cst_error *error) {
  cst_status status = CST_OK;
  *ids = NULL;
  *count = 0;
  for (size_t i = 0; status == CST_OK && i < e->settings->num_paths; i++) {
    char *copy = NULL;
    const char *split = NULL;
    int64_t id = 0;
    const cst_findings *found = NULL;
    if (!cli_names_artifact(e->settings->paths[i])) {
      continue;
    }
    status = lookup(e, e->settings->paths[i], &id, &copy, &split, error);
    free(copy);
    if (status == CST_OK) {
      status = find_artifact(e, id, &found, error);
    }
    if (status == CST_OK && !is_file_of(e->verb, found)) {
      status = add_to((void *)ids, count, &id, sizeof id, error);
    }
  }
  return status;
}

/* How the examples are read: by --view, if the verb has it. */
static cst_status choose(expansion *e, bool has_examples, cst_error *error) {
  const char **view = &e->settings->query.view;
  e->choice = CST_LINEAGE_AS_IS;
  if (!cli_takes(e->verb, OPTION_VIEW)) {
    return CST_OK;
  }
  if (*view == NULL) {
    e->choice = CST_LINEAGE_AS_BOUND;
  } else if (strcmp(*view, "none") == 0) {
    *view = NULL;
  } else if (cli_names_artifact(*view) && has_examples) {
    e->choice = CST_LINEAGE_BY_VIEW;
    return cli_lineage_lookup(e->in->store, *view, &e->view, error);
  } else if (cli_names_artifact(*view)) {
    return expand_option(e, "view", "DataView", view, error);
  }
  return CST_OK;
}

static cst_status expand_arguments(expansion *e, cst_error *error) {
  cli_settings *settings = e->settings;
  inputs *in = e->in;
  int64_t *ids = NULL;
  size_t count = 0;
  cst_status status = find_examples(e, &ids, &count, error);
  if (status == CST_OK) {
    status = choose(e, count > 0, error);
  }
  if (status == CST_OK && cli_names_artifact(settings->schema)) {
    status = expand_option(e, "schema", "Schema", &settings->schema, error);
  }
  if (status == CST_OK) {
    status = read_together(e, ids, count, error);
  }
  free(ids);
  for (size_t i = 0; status == CST_OK && i < settings->num_paths; i++) {
    const char *text = settings->paths[i];
    status = cli_names_artifact(text) ? expand_artifact(e, text, error) : add_path(e, text, error);
    if (status == CST_OK) {
      status =
          add_to((void *)&in->ends, &in->num_arguments, &e->num_paths, sizeof e->num_paths, error);
    }
  }
  return status;
}

/* Who may not write to a store can read all the same, but nobody sees it. */
static cst_status take_lease(inputs *in, cst_error *error) {
  cst_status status =
      cst_lineage_lease_new(in->store, in->leased, in->num_leased, NULL, &in->lease, error);
  if (status == CST_IO) {
    fputs("warning: ", stderr);
    cli_print_error(stderr, error);
    fputs("; nothing keeps garbage collection from deleting what is read\n", stderr);
    *error = (cst_error)CST_ERROR_INIT;
    status = CST_OK;
  }
  return status;
}

static cst_status expand(expansion *e, cst_error *error) {
  inputs *in = e->in;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  cst_status status = cst_lineage_open(cli_lineage_path(e->settings), &options, &in->store, error);
  if (status == CST_OK) {
    status = expand_arguments(e, error);
  }
  return status == CST_OK && in->num_leased > 0 ? take_lease(in, error) : status;
}

/* The place of the first word that names an artifact; NULL: none does. */
static const char *first_artifact(const cli_settings *settings) {
  for (size_t i = 0; i < settings->num_paths; i++) {
    if (cli_names_artifact(settings->paths[i])) {
      return settings->paths[i];
    }
  }
  return cli_names_artifact(settings->query.view) ? settings->query.view
         : cli_names_artifact(settings->schema)   ? settings->schema
                                                  : NULL;
}

/* Verbs whose last argument is what they write. */
static bool writes_last(const cli_verb *verb) {
  return cli_takes(verb, OPTION_FORCE) && !cli_takes(verb, OPTION_OUTPUT);
}

int cli_expand_lineage(const cli_verb *verb, cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  const char *first = cli_takes(verb, OPTION_LINEAGE) ? first_artifact(settings) : NULL;
  if (first == NULL) {
    const char *view = settings->query.view;
    settings->query.view = view != NULL && strcmp(view, "none") == 0 ? NULL : view;
    return -1;
  }
  if (cli_lineage_path(settings) == NULL) {
    return cli_usage(verb, "--lineage FILE, or $COLUMNSTONE_LINEAGE",
                     "%.80s: which store of lineage?", first);
  }
  if (writes_last(verb) && settings->num_paths > 0 &&
      cli_names_artifact(settings->paths[settings->num_paths - 1])) {
    return cli_usage(verb, "write a file, and add it: columnstone lineage add",
                     "%.80s cannot be written", settings->paths[settings->num_paths - 1]);
  }
  expansion e = {.verb = verb,
                 .settings = settings,
                 .in = calloc(1, sizeof(inputs)),
                 .is_told = settings->source.format != NULL};
  if (e.in == NULL) {
    return cli_usage(verb, NULL, "out of memory");
  }
  settings->lineage.inputs = e.in;
  if (expand(&e, &error) != CST_OK) {
    free((void *)e.paths);
    return cli_fail(&error);
  }
  free((void *)settings->paths);
  settings->paths = e.paths;
  settings->num_paths = e.num_paths;
  return -1;
}
