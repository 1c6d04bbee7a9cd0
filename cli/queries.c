/* Saved queries, and the parameters of queries: --view, --param. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static cst_status fail_param(const char *text, cst_error *error) {
  return cli_fail_argument(
      error, "--param longest=20, --param 'city=\"Oslo\"': the value as a query has it",
      "--param takes NAME=VALUE, not '%.60s'", text);
}

cst_status cli_query_values(const cli_settings *settings, cst_query_value **out, cst_error *error) {
  const cli_query *query = &settings->query;
  size_t size = (query->num_params + 1) * sizeof **out;
  *out = NULL;
  for (size_t i = 0; i < query->num_params; i++) {
    size += strlen(query->params[i]) + 1;
    if (strchr(query->params[i], '=') == NULL || query->params[i][0] == '=') {
      return fail_param(query->params[i], error);
    }
  }
  cst_query_value *values = malloc(size);
  if (values == NULL) {
    return cli_fail_memory(error);
  }
  char *text = (char *)(values + query->num_params);
  for (size_t i = 0; i < query->num_params; i++) {
    memcpy(text, query->params[i], strlen(query->params[i]) + 1);
    char *equals = strchr(text, '=');
    *equals = '\0';
    values[i] = (cst_query_value){.name = text, .value = equals + 1};
    text = equals + 1 + strlen(equals + 1) + 1;
  }
  *out = values;
  return CST_OK;
}

static cst_status open_view(cli_settings *settings, cst_error *error) {
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  cst_query_value *values;
  cst_view *view = NULL;
  cst_status status = cli_query_values(settings, &values, error);
  if (status != CST_OK) {
    return status;
  }
  options.message = settings->message.num_settings > 0 ? &settings->message.options : NULL;
  options.params = values;
  options.num_params = settings->query.num_params;
  options.max_elements = settings->query.max_elements;
  options.max_bytes = settings->query.max_bytes;
  options.max_work = settings->query.max_work;
  status = cst_view_open(settings->query.view, &options, &view, error);
  free(values);
  settings->source.view = view;
  return status;
}

int cli_read_view(const cli_verb *verb, cli_settings *settings) {
  cst_error error = CST_ERROR_INIT;
  if (settings->query.view != NULL) {
    return open_view(settings, &error) == CST_OK ? -1 : cli_fail(&error);
  }
  const cli_query *query = &settings->query;
  const char *given = query->num_params > 0     ? "param"
                      : query->max_elements > 0 ? "max-elements"
                      : query->max_bytes > 0    ? "max-bytes"
                      : query->max_work > 0     ? "max-work"
                                                : NULL;
  return cli_takes(verb, OPTION_VIEW) && given != NULL
             ? cli_usage(verb, NULL, "--%s goes with --view", given)
             : -1;
}
