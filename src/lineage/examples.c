/* Payloads of Examples, by TFX's properties and our own. */
#include "lineage/examples.h"

#include <inttypes.h>

#include "lineage/artifacts.h"
#include "lineage/properties.h"

static cst_status check_type(cst_lineage *store, int64_t artifact, const char *type,
                             cst_error *error) {
  sqlite3_stmt *find;
  bool is_row;
  char label[CST__LINEAGE_LABEL];
  CST__TRY(cst__lineage_check_live(store, artifact, error));
  CST__TRY(cst__lineage_prepare(
      store,
      "SELECT y.name, y.name = ? FROM artifact a JOIN type y ON y.id = a.type WHERE a.id = ?",
      &find, error));
  cst__lineage_bind_text(find, 1, type);
  sqlite3_bind_int64(find, 2, artifact);
  CST__TRY(cst__lineage_step(store, find, &is_row, error));
  if (is_row && sqlite3_column_int(find, 1) == 1) {
    (void)sqlite3_reset(find);
    return CST_OK;
  }
  char found[64] = "nothing";
  cst__escape(found, sizeof found, is_row ? cst__lineage_text(find, 0) : "",
              is_row ? (size_t)sqlite3_column_bytes(find, 0) : 0);
  (void)sqlite3_reset(find);
  CST__TRY(cst__lineage_label(store, artifact, label, error));
  return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "artifact %.80s is of type %s, not %s", label,
                   found, type);
}

cst_status cst__lineage_check_examples(cst_lineage *store, int64_t artifact, cst_error *error) {
  return check_type(store, artifact, "Examples", error);
}

/* ---- payloads ---- */

/* TFX's names of payloads, and ours. */
static const char *const payloads[][2] = {{"FORMAT_TF_EXAMPLE", "example"},
                                          {"FORMAT_TF_SEQUENCE_EXAMPLE", "sequence_example"},
                                          {"FORMAT_PROTO", "message"},
                                          {"FORMAT_PARQUET", "parquet"}};

static cst_status rename_payload(cst_lineage *store, char **format, cst_error *error) {
  for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++) {
    if (strcmp(*format, payloads[i][0]) == 0) {
      cst__delete(*format);
      *format = cst__new_copy(&store->allocator, payloads[i][1], strlen(payloads[i][1]));
      return *format != NULL ? CST_OK : cst__fail_memory(error, 16);
    }
  }
  return cst__fail(error, CST_UNSUPPORTED, "set the property read.format",
                   "unknown payload_format '%.60s'", *format);
}

static cst_status read_payload(cst_lineage *store, int64_t artifact, cst__lineage_payload *out,
                               cst_error *error) {
  CST__TRY(cst__lineage_text_property(store, artifact, "read.container", &out->container, error));
  CST__TRY(cst__lineage_text_property(store, artifact, "read.message", &out->message, error));
  CST__TRY(cst__lineage_text_property(store, artifact, "read.format", &out->format, error));
  if (out->format != NULL) {
    return CST_OK;
  }
  CST__TRY(cst__lineage_text_property(store, artifact, "payload_format", &out->format, error));
  return out->format != NULL ? rename_payload(store, &out->format, error) : CST_OK;
}

void cst__lineage_payload_reset(cst__lineage_payload *payload) {
  cst__delete(payload->format);
  cst__delete(payload->container);
  cst__delete(payload->message);
  *payload = (cst__lineage_payload){NULL, NULL, NULL};
}

cst_status cst__lineage_payload_of(cst_lineage *store, int64_t artifact, cst__lineage_payload *out,
                                   cst_error *error) {
  *out = (cst__lineage_payload){NULL, NULL, NULL};
  cst_status status = read_payload(store, artifact, out, error);
  if (status != CST_OK) {
    cst__lineage_payload_reset(out);
  }
  return status;
}

/* ---- views ---- */

static cst_status fail_view(cst_lineage *store, int64_t view, const char *reads, int64_t examples,
                            const char *holds, cst_error *error) {
  char first[CST__LINEAGE_LABEL], second[CST__LINEAGE_LABEL];
  CST__TRY(cst__lineage_label(store, view, first, error));
  CST__TRY(cst__lineage_label(store, examples, second, error));
  return cst__fail(error, CST_SCHEMA, "build the view for what they hold",
                   "view %.50s reads %.40s; %.50s holds %.40s", first, reads, second, holds);
}

/* What a view reads is said by its `input` and `message`; what is not known is not compared. */
static cst_status compare(cst_lineage *store, int64_t examples, const cst__lineage_payload *payload,
                          int64_t view, const char *const *reads, cst_error *error) {
  const char *input = reads[0], *message = reads[1];
  const char *format = payload->format;
  if (input == NULL) {
    return CST_OK;
  }
  const bool is_of_records = strcmp(input, "table") != 0;
  if (format != NULL && is_of_records && strcmp(format, input) != 0 && strcmp(format, "raw") != 0) {
    return fail_view(store, view, input, examples, format, error);
  }
  if (format != NULL && !is_of_records && strcmp(format, "message") == 0) {
    return fail_view(store, view, "a table", examples, format, error);
  }
  if (message != NULL && payload->message != NULL && strcmp(message, payload->message) != 0) {
    return fail_view(store, view, message, examples, payload->message, error);
  }
  return CST_OK;
}

cst_status cst__lineage_check_view(cst_lineage *store, int64_t examples, int64_t view,
                                   cst_error *error) {
  cst__lineage_payload payload;
  char *input = NULL, *message = NULL;
  CST__TRY(check_type(store, view, "DataView", error));
  CST__TRY(cst__lineage_payload_of(store, examples, &payload, error));
  cst_status status = cst__lineage_text_property(store, view, "input", &input, error);
  if (status == CST_OK) {
    status = cst__lineage_text_property(store, view, "message", &message, error);
  }
  if (status == CST_OK) {
    status = compare(store, examples, &payload, view, (const char *const[]){input, message}, error);
  }
  cst__delete(input);
  cst__delete(message);
  cst__lineage_payload_reset(&payload);
  return status;
}
