/* Pictures of a store: cst_lineage_graph. */
#include "lineage/graph/graph.h"

#include "base/arguments.h"
#include "lineage/store.h"

static cst_status check_format(const char *format, cst_error *error) {
  const bool is_known =
      strcmp(format, "html") == 0 || strcmp(format, "svg") == 0 || strcmp(format, "dot") == 0;
  return is_known ? CST_OK
                  : cst__fail(error, CST_INVALID_ARGUMENT, "\"html\", \"svg\" or \"dot\"",
                              "there is no such format of pictures");
}

static cst_status put_graph(cst_lineage *store, const cst_lineage_graph_options *options,
                            cst__text *out, cst_error *error) {
  cst__graph graph = {.store = NULL};
  const cst_status status = cst__graph_gather(store, options, &graph, error);
  if (status == CST_OK) {
    if (strcmp(options->format, "dot") == 0) {
      cst__graph_put_dot(out, &graph);
    } else if (strcmp(options->format, "svg") == 0) {
      cst__graph_put_svg(out, &graph, CST__FRAME_FILE);
    } else {
      cst__graph_put_page(out, &graph);
    }
  }
  cst__graph_reset(&graph);
  return status;
}

cst_status cst_lineage_graph(cst_lineage *store, const cst_lineage_graph_options *options,
                             char **text, size_t *size, cst_error *error) {
  cst_lineage_graph_options own = CST_LINEAGE_GRAPH_OPTIONS_INIT;
  cst__text out = {.data = NULL};
  CST__CLEAR(text);
  CST__CLEAR(size);
  if (store == NULL || text == NULL || size == NULL) {
    return cst__missing(store == NULL ? "store" : text == NULL ? "text" : "size", error);
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  own.format = own.format != NULL ? own.format : "html";
  CST__TRY(check_format(own.format, error));
  CST__TRY(cst__lineage_enter(store, CST__LINEAGE_READS, error));
  const cst_status status = cst__lineage_leave(store, put_graph(store, &own, &out, error), error);
  if (status != CST_OK) {
    cst__text_free(&out);
    return status;
  }
  return cst__text_finish(&out, text, size, error);
}
