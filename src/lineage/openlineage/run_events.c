/* One run: its START, and its COMPLETE, FAIL or ABORT. */
#include <math.h>

#include "base/sha256.h"
#include "lineage/openlineage/openlineage.h"
#include "text/json_string.h"
#include "text/number.h"
#include "text/time.h"

#define STRING(x) #x
#define VERSION_OF(major, minor, patch) STRING(major) "." STRING(minor) "." STRING(patch)
#define VERSION VERSION_OF(CST_VERSION_MAJOR, CST_VERSION_MINOR, CST_VERSION_PATCH)
#define PRODUCER "urn:columnstone:" VERSION

/* ---- JSON ---- */

void cst__put_event_text(cst__text *out, const char *text) {
  if (text == NULL) {
    cst__text_puts(out, "null");
  } else {
    cst__put_json_in_html(out, text, strlen(text));
  }
}

void cst__put_facet_source(cst__text *out, const char *version, const char *facet) {
  cst__text_puts(out, "\"_producer\":\"" PRODUCER "\",\"_schemaURL\":\"");
  if (version != NULL) {
    cst__text_printf(out, "https://openlineage.io/spec/facets/%s/%s.json#/$defs/%s\"", version,
                     facet, facet);
  } else {
    cst__text_printf(out, "urn:columnstone:openlineage:1:%s\"", facet);
  }
}

static void put_value(cst__text *out, const cst_findings *found, size_t i) {
  const char *kind = cst_findings_text(found, "properties.kind", i);
  const char *text = cst_findings_text(found, "properties.text", i);
  const double real = cst_findings_real(found, "properties.real", i);
  char number[CST__NUMBER_SIZE];
  if (text != NULL) {
    cst__put_event_text(out, text);
  } else if (kind != NULL && strcmp(kind, "int") == 0) {
    cst__text_append(out, number,
                     cst__print_int64(number, cst_findings_number(found, "properties.number", i)));
  } else if (kind != NULL && strcmp(kind, "bool") == 0) {
    cst__text_puts(out, cst_findings_number(found, "properties.number", i) > 0 ? "true" : "false");
  } else if (kind != NULL && strcmp(kind, "real") == 0 && isfinite(real)) {
    cst__text_append(out, number, cst__print_float64(number, real, CST__FLOAT_JAVASCRIPT));
  } else {
    cst__text_puts(out, "null"); /* bytes, and what JSON does not have */
  }
}

void cst__put_event_properties(cst__text *out, const cst_findings *found, size_t row) {
  size_t begin, end;
  (void)cst_findings_items(found, "properties", row, &begin, &end);
  cst__text_puts(out, "\"properties\":{");
  for (size_t i = begin; i < end; i++) {
    cst__text_puts(out, i > begin ? "," : "");
    cst__put_event_text(out, cst_findings_text(found, "properties.name", i));
    cst__text_puts(out, ":");
    put_value(out, found, i);
  }
  cst__text_puts(out, "}");
}

/* ---- the run ---- */

/* A UUID of version 8: of a SHA-256 of what stays the same of an execution, wherever its store is
 * moved, and of nothing else. */
static void put_uuid(cst__text *out, const cst_findings *executions, size_t row) {
  char hex[CST__SHA256_HEX];
  uint8_t digest[CST__SHA256_SIZE] = {0};
  cst__text seed = {.data = NULL};
  cst__text_printf(&seed, "columnstone run\n%lld\n%lld\n",
                   (long long)cst_findings_number(executions, "id", row),
                   (long long)cst_findings_number(executions, "started", row));
  const char *type = cst_findings_text(executions, "type", row);
  cst__text_puts(&seed, type != NULL ? type : "");
  if (!seed.failed) {
    cst__sha256(seed.data, seed.size, digest);
  }
  out->failed = out->failed || seed.failed;
  cst__text_free(&seed);
  digest[6] = (uint8_t)((digest[6] & 0x0f) | 0x80);
  digest[8] = (uint8_t)((digest[8] & 0x3f) | 0x80);
  cst__sha256_hex(digest, hex);
  cst__text_printf(out, "\"%.8s-%.4s-%.4s-%.4s-%.12s\"", hex, hex + 8, hex + 12, hex + 16,
                   hex + 20);
}

static void put_time(cst__text *out, int64_t time) {
  char text[CST__TIME_SIZE];
  cst__text_puts(out, "\"");
  cst__text_append(out, text, cst__print_timestamp(text, time, 6, true));
  cst__text_puts(out, "\"");
}

/* What Python's `execution` says of an exception. */
static const char *error_of(const cst_findings *executions, size_t row) {
  size_t begin, end;
  (void)cst_findings_items(executions, "properties", row, &begin, &end);
  for (size_t i = begin; i < end; i++) {
    const char *name = cst_findings_text(executions, "properties.name", i);
    if (name != NULL && strcmp(name, "error") == 0) {
      return cst_findings_text(executions, "properties.text", i);
    }
  }
  return NULL;
}

static void put_run(cst__text *out, const cst__run_events *events, size_t row, bool is_failed) {
  const cst_findings *executions = events->executions;
  const char *message = is_failed ? error_of(executions, row) : NULL;
  cst__text_puts(out, "\"run\":{\"runId\":");
  put_uuid(out, executions, row);
  cst__text_puts(out, ",\"facets\":{\"processing_engine\":{");
  cst__put_facet_source(out, "1-1-1", "ProcessingEngineRunFacet");
  cst__text_puts(out, ",\"name\":\"Columnstone\",\"version\":\"" VERSION "\"}");
  if (message != NULL) {
    cst__text_puts(out, ",\"errorMessage\":{");
    cst__put_facet_source(out, "1-0-1", "ErrorMessageRunFacet");
    cst__text_puts(out, ",\"programmingLanguage\":\"Python\",\"message\":");
    cst__put_event_text(out, message);
    cst__text_puts(out, "}");
  }
  cst__text_puts(out, ",\"columnstone_execution\":{");
  cst__put_facet_source(out, NULL, "ExecutionRunFacet");
  cst__text_printf(out,
                   ",\"id\":%lld,\"type\":", (long long)cst_findings_number(executions, "id", row));
  cst__put_event_text(out, cst_findings_text(executions, "type", row));
  cst__text_puts(out, ",\"name\":");
  cst__put_event_text(out, cst_findings_text(executions, "name", row));
  cst__text_puts(out, ",");
  cst__put_event_properties(out, executions, row);
  cst__text_puts(out, "}}}");
}

static void put_job(cst__text *out, const cst__run_events *events, size_t row) {
  const char *type = cst_findings_text(events->executions, "type", row);
  cst__text_puts(out, ",\"job\":{\"namespace\":");
  cst__put_event_text(out, events->jobs);
  cst__text_puts(out, ",\"name\":");
  cst__put_event_text(out, type != NULL ? type : "");
  cst__text_puts(out, ",\"facets\":{\"jobType\":{");
  cst__put_facet_source(out, "2-0-4", "JobTypeJobFacet");
  cst__text_puts(
      out, ",\"processingType\":\"BATCH\",\"integration\":\"COLUMNSTONE\",\"jobType\":\"TASK\"}}}");
}

static void put_event(cst__text *out, const cst__run_events *events, size_t row, const char *what) {
  const bool begins = strcmp(what, "START") == 0;
  const int64_t started = cst_findings_number(events->executions, "started", row);
  const int64_t ended = cst_findings_number(events->executions, "ended", row);
  cst__text_printf(out, "{\"eventType\":\"%s\",\"eventTime\":", what);
  put_time(out, begins || ended < 0 ? started : ended);
  cst__text_puts(out, ",\"producer\":\"" PRODUCER "\",\"schemaURL\":"
                      "\"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent\",");
  put_run(out, events, row, strcmp(what, "FAIL") == 0);
  put_job(out, events, row);
  cst__text_puts(out, ",\"inputs\":");
  cst__put_datasets(out, events, row, "inputs");
  cst__text_puts(out, ",\"outputs\":");
  if (begins) {
    cst__text_puts(out, "[]");
  } else {
    cst__put_datasets(out, events, row, "outputs");
  }
  cst__text_puts(out, "}\n");
}

void cst__put_run_events(cst__text *out, const cst__run_events *events, size_t row) {
  static const char *const ends[][2] = {
      {"complete", "COMPLETE"}, {"failed", "FAIL"}, {"canceled", "ABORT"}};
  const char *state = cst_findings_text(events->executions, "state", row);
  put_event(out, events, row, "START");
  for (size_t i = 0; state != NULL && i < sizeof ends / sizeof *ends; i++) {
    if (strcmp(state, ends[i][0]) == 0) {
      put_event(out, events, row, ends[i][1]);
    }
  }
}
