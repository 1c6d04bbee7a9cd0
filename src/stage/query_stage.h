/* The stage `query`: batches become the outputs of a view.
 */
#ifndef STAGE_QUERY_STAGE_H
#define STAGE_QUERY_STAGE_H

#include <columnstone/query.h>

#include "arrow/stage.h"

enum { CST__MOST_CARRIED = 2 };

/* Columns that the view needs are found by name; others do not matter. */
typedef struct cst__query_settings {
  const cst_view *view;
  const char *carried[CST__MOST_CARRIED]; /* columns of the batches that stand after the outputs,
                                             each of whose rows has those of the row it comes from:
                                             the raw records, their offsets */
  size_t num_carried;
  bool nulls; /* a row that the query refuses is a row of nulls (with `rows`, none), and told of,
                 instead of a failure; all columns are nullable then */
} cst__query_settings;

extern const cst__stage cst__query_stage; /* settings: cst__query_settings */

#endif /* STAGE_QUERY_STAGE_H */
