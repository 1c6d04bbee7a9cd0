/* Executions as OpenLineage run events, version 2-0-2 of its object model.
 *
 * The job is the type of an execution, in the caller's namespace; the run is the execution, whose
 * UUID is derived from what never changes of it. A dataset is an artifact, named by where it lies
 * as OpenLineage names datasets (namespace "file", "s3://bucket", ...; name: the path), so that
 * those of other tools meet ours. What is read through a view is a dataset of its own: the path,
 * "#" and the view. Facets that OpenLineage does not have begin with "columnstone_".
 */
#ifndef LINEAGE_OPENLINEAGE_OPENLINEAGE_H
#define LINEAGE_OPENLINEAGE_OPENLINEAGE_H

#include <columnstone/lineage.h>

#include "base/alloc.h"

typedef struct cst__run_events {
  const char *jobs; /* the namespace of jobs */
  cst_findings *executions;
  cst_findings *artifacts; /* their inputs and outputs, and the views of these */
} cst__run_events;

/* The row of an artifact; SIZE_MAX: it is not there. */
size_t cst__run_events_find(const cst__run_events *events, int64_t id);
/* The row of the view that an artifact is read through; SIZE_MAX: of none. */
size_t cst__run_events_view_of(const cst__run_events *events, size_t artifact);

/* START, and what ended it, of the execution in a row: lines of JSON. */
void cst__put_run_events(cst__text *out, const cst__run_events *events, size_t execution);

/* The list of datasets of one direction, "inputs" or "outputs". */
void cst__put_datasets(cst__text *out, const cst__run_events *events, size_t execution,
                       const char *direction);

/* ---- JSON ---- */

/* Any text, as it is in UTF-8. */
void cst__put_event_text(cst__text *out, const char *text);
/* "_producer" and "_schemaURL" of a facet of OpenLineage ("1-0-1/DatasourceDatasetFacet") or of
 * ours ("ExecutionRunFacet"), without brackets. */
void cst__put_facet_source(cst__text *out, const char *version, const char *facet);
/* "properties": an object of the values, without brackets around. */
void cst__put_event_properties(cst__text *out, const cst_findings *found, size_t row);

#endif /* LINEAGE_OPENLINEAGE_OPENLINEAGE_H */
