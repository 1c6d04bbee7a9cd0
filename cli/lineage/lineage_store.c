/* The store of --lineage, and the artifacts that words name. */
#include <stdlib.h>
#include <string.h>

#include "lineage/lineage.h"

static const char prefix[] = "lineage:";

bool cli_names_artifact(const char *text) {
  return text != NULL && strncmp(text, prefix, sizeof prefix - 1) == 0;
}

const char *cli_lineage_path(const cli_settings *settings) {
  const char *path = settings->lineage.store;
  path = path != NULL ? path : getenv("COLUMNSTONE_LINEAGE");
  return path != NULL && path[0] != '\0' ? path : NULL;
}

int cli_lineage_open(const cli_verb *verb, const cli_settings *settings, cst_lineage_mode mode,
                     cst_lineage **out) {
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  const char *path = cli_lineage_path(settings);
  if (path == NULL) {
    return cli_usage(verb, "--lineage FILE, or $COLUMNSTONE_LINEAGE; lineage init makes one",
                     "which store of lineage?");
  }
  options.mode = mode;
  return cst_lineage_open(path, &options, out, &error) == CST_OK ? -1 : cli_fail(&error);
}

cst_status cli_lineage_lookup(cst_lineage *store, const char *reference, int64_t *id,
                              cst_error *error) {
  const char *name = cli_names_artifact(reference) ? reference + sizeof prefix - 1 : reference;
  return cst_lineage_lookup(store, name, id, error);
}

cst_status cli_lineage_lookup_all(cst_lineage *store, const char *const *references, size_t count,
                                  int64_t **out, cst_error *error) {
  int64_t *ids = calloc(count + 1, sizeof *ids);
  cst_status status = ids != NULL ? CST_OK : cli_fail_memory(error);
  for (size_t i = 0; status == CST_OK && i < count; i++) {
    status = cli_lineage_lookup(store, references[i], &ids[i], error);
  }
  if (status != CST_OK) {
    free(ids);
    ids = NULL;
  }
  *out = ids;
  return status;
}

cst_status cli_lineage_get(cst_lineage *store, cst_lineage_kind kind, int64_t id,
                           cst_findings **out, cst_error *error) {
  cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
  query.kind = kind;
  query.ids = &id;
  query.num_ids = 1;
  query.every_state = true;
  return cst_lineage_find(store, &query, out, error);
}

cst_status cli_lineage_name(cst_lineage *store, int64_t id, char *name, size_t room,
                            cst_error *error) {
  cst_findings *found;
  cst_status status = cli_lineage_get(store, CST_LINEAGE_OF_ARTIFACTS, id, &found, error);
  if (status == CST_OK) {
    const char *reference = cst_findings_text(found, "reference", 0);
    snprintf(name, room, "%s", reference != NULL ? reference : "");
    cst_findings_free(found);
  }
  return status;
}

const char *cli_lineage_type(const char *word) {
  static const char *const types[][2] = {{"examples", "Examples"}, {"view", "DataView"},
                                         {"schema", "Schema"},     {"statistics", "Statistics"},
                                         {"stats", "Statistics"},  {"model", "Model"}};
  for (size_t i = 0; word != NULL && i < sizeof types / sizeof types[0]; i++) {
    if (strcmp(word, types[i][0]) == 0) {
      return types[i][1];
    }
  }
  return word;
}
