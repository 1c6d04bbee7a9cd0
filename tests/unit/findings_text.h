/* Findings as text: their record batch as lines of JSON, and their totals. */
#ifndef FINDINGS_TEXT_H
#define FINDINGS_TEXT_H

#include <columnstone/findings.h>
#include <columnstone/sink.h>
#include <inttypes.h>

#include "base/alloc.h"
#include "harness.h"

static cst_status findings_line(void *ctx, const void *data, size_t size, cst_error *error) {
  (void)error;
  cst__text_append(ctx, data, size);
  return CST_OK;
}

/* cst_free. */
static inline char *findings_text(const cst_findings *found) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst__text text = {0};
  cst_writer writer = {.size = sizeof writer, .name = "text", .write = findings_line, .ctx = &text};
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  cst_sink *sink;
  char *out = NULL;
  const char *total;
  options.format = "json";
  CHECK_EQ(cst_findings_batch(found, &schema, &batch, NULL), CST_OK);
  CHECK_EQ((size_t)batch.length, cst_findings_num_rows(found));
  CHECK_EQ(cst_sink_open_writer(&writer, &schema, &options, &sink, NULL), CST_OK);
  CHECK_EQ(cst_sink_write(sink, &batch, NULL), CST_OK);
  CHECK_EQ(cst_sink_finish(sink, NULL), CST_OK);
  cst_sink_free(sink);
  schema.release(&schema);
  batch.release(&batch);
  for (size_t i = 0; (total = cst_findings_total_name(found, i)) != NULL; i++) {
    cst__text_printf(&text, "%s %" PRId64 "\n", total, cst_findings_total(found, total));
  }
  CHECK_EQ(cst__text_finish(&text, &out, NULL, NULL), CST_OK);
  return out;
}

#endif /* FINDINGS_TEXT_H */
