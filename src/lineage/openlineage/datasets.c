/* Artifacts as datasets: how they are called, and their facets. */
#include "base/hash.h"
#include "base/url_text.h"
#include "lineage/openlineage/openlineage.h"

static const char *text_of(const cst__run_events *events, const char *column, size_t row) {
  const char *text = cst_findings_text(events->artifacts, column, row);
  return text != NULL ? text : "";
}

static void put_quoted(cst__text *out, const cst__text *text) {
  cst__put_event_text(out, text->data != NULL ? text->data : "");
  out->failed = out->failed || text->failed;
}

/* ---- names ---- */

/* Where an artifact lies, without the secrets of an address; of a chain ("zip://a.csv::https://h")
 * its last part. */
static void put_uri(cst__text *out, const cst__run_events *events, size_t row) {
  const char *uri = text_of(events, "uri", row);
  size_t size;
  while (cst__url_scheme_size(uri) > 0 && uri[size = cst__url_piece_size(uri)] != '\0') {
    uri += size + 2;
  }
  cst__text_puts(out, uri);
  if (out->data != NULL) {
    cst_url_make_printable(out->data);
    out->size = strlen(out->data);
  }
}

/* "s3://bucket" and "path/of/it", "file" and "/path/of/it" */
static void split_uri(const char *uri, cst__text *space, cst__text *name) {
  const size_t scheme = cst__url_scheme_size(uri);
  if (scheme == 0) {
    cst__text_puts(space, "file");
    cst__text_puts(name, uri);
    return;
  }
  const size_t host = scheme + 3 + strcspn(uri + scheme + 3, "/");
  const bool is_bucket = strncmp(uri, "s3", 2) == 0 || strncmp(uri, "gs:", 3) == 0;
  cst__text_append(space, uri, host);
  cst__text_puts(name, uri[host] == '\0' ? "/" : uri + host + is_bucket);
}

/* "namespace": ..., "name": ... */
static void put_name(cst__text *out, const cst__run_events *events, size_t row) {
  const size_t view = cst__run_events_view_of(events, row);
  cst__text uri = {.data = NULL}, space = {.data = NULL}, name = {.data = NULL};
  put_uri(&uri, events, row);
  if (uri.size == 0) { /* without files: as it is called here */
    cst__text_puts(&space, events->jobs);
    cst__text_puts(&name, text_of(events, "reference", row));
  } else {
    split_uri(uri.data, &space, &name);
  }
  if (view != SIZE_MAX) {
    cst__text_puts(&name, "#");
    cst__text_puts(&name, text_of(events, "reference", view));
  }
  cst__text_puts(out, "\"namespace\":");
  put_quoted(out, &space);
  cst__text_puts(out, ",\"name\":");
  put_quoted(out, &name);
  out->failed = out->failed || uri.failed;
  cst__text_free(&uri);
  cst__text_free(&space);
  cst__text_free(&name);
}

/* ---- facets ---- */

/* In the characters that a URI has. */
static void put_escaped(cst__text *out, const char *uri) {
  static const char plain[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/:@!$&'()*+,;=";
  const bool is_path = cst__url_scheme_size(uri) == 0;
  cst__text_puts(out, is_path ? "\"file://" : "\"");
  for (; *uri != '\0'; uri++) {
    if (strchr(plain, *uri) != NULL || (*uri == '%' && !is_path)) {
      cst__text_append(out, uri, 1);
    } else {
      cst__text_printf(out, "%%%02X", (unsigned)(uint8_t)*uri);
    }
  }
  cst__text_puts(out, "\"");
}

static void put_source(cst__text *out, const cst__run_events *events, size_t row) {
  cst__text uri = {.data = NULL};
  put_uri(&uri, events, row);
  if (uri.size > 0) {
    cst__text_puts(out, ",\"dataSource\":{");
    cst__put_facet_source(out, "1-0-1", "DatasourceDatasetFacet");
    cst__text_puts(out, ",\"name\":");
    cst__put_event_text(out, text_of(events, "reference", row));
    cst__text_puts(out, ",\"uri\":");
    put_escaped(out, uri.data);
    cst__text_puts(out, "}");
  }
  out->failed = out->failed || uri.failed;
  cst__text_free(&uri);
}

static void put_version(cst__text *out, const cst__run_events *events, size_t row) {
  cst__text_puts(out, "\"version\":{");
  cst__put_facet_source(out, "1-0-1", "DatasetVersionDatasetFacet");
  cst__text_puts(out, ",\"datasetVersion\":");
  cst__put_event_text(out, text_of(events, "reference", row));
  cst__text_puts(out, "}");
}

static void put_artifact_facet(cst__text *out, const cst__run_events *events, size_t row) {
  cst__text_puts(out, ",\"columnstone_artifact\":{");
  cst__put_facet_source(out, NULL, "ArtifactDatasetFacet");
  cst__text_printf(
      out, ",\"id\":%lld,\"type\":", (long long)cst_findings_number(events->artifacts, "id", row));
  cst__put_event_text(out, text_of(events, "type", row));
  cst__text_puts(out, ",\"reference\":");
  cst__put_event_text(out, text_of(events, "reference", row));
  cst__text_puts(out, ",\"state\":");
  cst__put_event_text(out, text_of(events, "state", row));
  cst__text_puts(out, ",\"digest\":");
  cst__put_event_text(out, cst_findings_text(events->artifacts, "digest", row));
  cst__text_puts(out, ",");
  cst__put_event_properties(out, events->artifacts, row);
  cst__text_puts(out, "}");
}

/* ---- columns ---- */

static bool is_type(const cst__run_events *events, size_t row, const char *type) {
  return strcmp(text_of(events, "type", row), type) == 0;
}

static const char *field_of(const cst__run_events *events, const char *column, size_t i) {
  const char *text = cst_findings_text(events->artifacts, column, i);
  return text != NULL ? text : "";
}

static void open_schema(cst__text *out) {
  cst__text_puts(out, ",\"schema\":{");
  cst__put_facet_source(out, "1-2-0", "SchemaDatasetFacet");
  cst__text_puts(out, ",\"fields\":[");
}

/* The outputs of a view: rows of `fields` are in the order of these. */
static void put_outputs(cst__text *out, const cst__run_events *events, size_t view) {
  size_t begin, end;
  const char *last = NULL;
  if (!cst_findings_items(events->artifacts, "fields", view, &begin, &end) || begin == end) {
    return;
  }
  open_schema(out);
  for (size_t i = begin; i < end; i++) {
    const char *output = field_of(events, "fields.output", i);
    if (last == NULL || strcmp(last, output) != 0) {
      cst__text_puts(out, last != NULL ? ",{\"name\":" : "{\"name\":");
      cst__put_event_text(out, output);
      cst__text_puts(out, "}");
      last = output;
    }
  }
  cst__text_puts(out, "]}");
}

/* The fields that a view reads, each once. */
static void put_paths(cst__text *out, const cst__run_events *events, size_t view) {
  cst__name_map seen = {.slots = NULL};
  size_t begin, end;
  if (!cst_findings_items(events->artifacts, "fields", view, &begin, &end) || begin == end) {
    return;
  }
  open_schema(out);
  for (size_t i = begin; i < end; i++) {
    const char *path = field_of(events, "fields.path", i);
    if (cst__name_map_find(&seen, path, strlen(path)) == SIZE_MAX) {
      out->failed = out->failed || !cst__name_map_add(&seen, path, strlen(path), i);
      cst__text_puts(out, i > begin ? ",{\"name\":" : "{\"name\":");
      cst__put_event_text(out, path);
      cst__text_puts(out, "}");
    }
  }
  cst__text_puts(out, "]}");
  cst__name_map_reset(&seen);
}

/* What the execution reads through a view that it puts on it: its Examples. */
typedef struct binding {
  size_t execution;
  size_t view; /* SIZE_MAX: none */
} binding;

static bool is_read(const cst__run_events *events, size_t row, const binding *of) {
  return is_type(events, row, "Examples") && cst__run_events_view_of(events, row) != of->view;
}

/* The view of the first output that is read through one, while an input is not. */
static binding binding_of(const cst__run_events *events, size_t execution) {
  size_t begin, end;
  binding found = {execution, SIZE_MAX};
  (void)cst_findings_items(events->executions, "outputs", execution, &begin, &end);
  for (size_t i = begin; i < end && found.view == SIZE_MAX; i++) {
    const size_t row =
        cst__run_events_find(events, cst_findings_number(events->executions, "outputs.id", i));
    found.view = row != SIZE_MAX ? cst__run_events_view_of(events, row) : SIZE_MAX;
  }
  return found;
}

/* A source path in each of the Examples that were read. */
static size_t put_input_fields(cst__text *out, const cst__run_events *events, const binding *of,
                               size_t field) {
  size_t begin, end, count = 0;
  (void)cst_findings_items(events->executions, "inputs", of->execution, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    const size_t row =
        cst__run_events_find(events, cst_findings_number(events->executions, "inputs.id", i));
    if (row != SIZE_MAX && is_read(events, row, of)) {
      cst__text_puts(out, count++ > 0 ? ",{" : "{");
      put_name(out, events, row);
      cst__text_puts(out, ",\"field\":");
      cst__put_event_text(out, field_of(events, "fields.path", field));
      cst__text_puts(
          out, ",\"transformations\":[{\"type\":\"DIRECT\",\"subtype\":\"TRANSFORMATION\"}]}");
    }
  }
  return count;
}

static void put_column_lineage(cst__text *out, const cst__run_events *events, const binding *of) {
  size_t begin, end;
  const char *last = NULL;
  if (!cst_findings_items(events->artifacts, "fields", of->view, &begin, &end) || begin == end) {
    return;
  }
  cst__text fields = {.data = NULL};
  size_t count = 0, of_field = 0;
  for (size_t i = begin; i < end; i++) {
    const char *output = field_of(events, "fields.output", i);
    if (last == NULL || strcmp(last, output) != 0) {
      cst__text_puts(&fields, last != NULL ? "]}," : "");
      cst__put_event_text(&fields, output);
      cst__text_puts(&fields, ":{\"inputFields\":[");
      last = output;
      of_field = 0;
    }
    cst__text_puts(&fields, of_field > 0 ? "," : "");
    of_field += put_input_fields(&fields, events, of, i);
    count += of_field;
  }
  cst__text_puts(&fields, "]}");
  if (count > 0) {
    cst__text_puts(out, ",\"columnLineage\":{");
    cst__put_facet_source(out, "1-2-0", "ColumnLineageDatasetFacet");
    cst__text_puts(out, ",\"fields\":{");
    cst__text_append(out, fields.data, fields.size);
    cst__text_puts(out, "}}");
  }
  out->failed = out->failed || fields.failed;
  cst__text_free(&fields);
}

/* ---- datasets ---- */

static void put_facets(cst__text *out, const cst__run_events *events, size_t row, const binding *of,
                       bool is_output) {
  const size_t view = cst__run_events_view_of(events, row);
  cst__text_puts(out, ",\"facets\":{");
  put_version(out, events, row);
  put_source(out, events, row);
  if (view != SIZE_MAX || is_type(events, row, "DataView")) {
    put_outputs(out, events, view != SIZE_MAX ? view : row);
  } else if (of->view != SIZE_MAX && !is_output && is_read(events, row, of)) {
    put_paths(out, events, of->view);
  }
  if (is_output && view != SIZE_MAX && view == of->view) {
    put_column_lineage(out, events, of);
  }
  put_artifact_facet(out, events, row);
  cst__text_puts(out, "}");
}

void cst__put_datasets(cst__text *out, const cst__run_events *events, size_t execution,
                       const char *direction) {
  const bool is_output = strcmp(direction, "outputs") == 0;
  const binding of = binding_of(events, execution);
  size_t begin, end;
  (void)cst_findings_items(events->executions, direction, execution, &begin, &end);
  cst__text_puts(out, "[");
  const char *before = "{";
  for (size_t i = begin; i < end; i++) {
    const size_t row = cst__run_events_find(
        events, cst_findings_number(events->executions, is_output ? "outputs.id" : "inputs.id", i));
    if (row != SIZE_MAX) { /* else a store that lacks it; `check` says so */
      cst__text_puts(out, before);
      put_name(out, events, row);
      put_facets(out, events, row, &of, is_output);
      cst__text_puts(out, "}");
      before = ",{";
    }
  }
  cst__text_puts(out, "]");
}
