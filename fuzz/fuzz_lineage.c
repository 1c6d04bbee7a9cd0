/* Stores of lineage with whatever rows: everything that reads them says what it finds, or an error,
 * and the same twice.
 *
 * The input is rows (sql_rows.h) of the tables of a store, without their types, as whoever makes a
 * hostile file would have them.
 */
#include <string.h>

#include "base/utf8.h"
#include "fuzz.h"
#include "lineage_store.h"
#include "sql_rows.h"
#include "text/json_document.h"

enum { MOST_BYTES = 1 << 14, MOST_ROWS = 400 };

static const sql_table tables[] = {
    {"INSERT OR IGNORE INTO type VALUES(?, ?, ?)", 3},
    {"INSERT OR IGNORE INTO artifact VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", 9},
    {"INSERT OR IGNORE INTO file VALUES(?, ?)", 2},
    {"INSERT OR IGNORE INTO artifact_file VALUES(?, ?, ?, ?, ?, ?, ?, ?)", 8},
    {"INSERT OR IGNORE INTO property VALUES(?, ?, ?, ?, ?)", 5},
    {"INSERT OR IGNORE INTO reference VALUES(?, ?, ?)", 3},
    {"INSERT OR IGNORE INTO field VALUES(?, ?, ?)", 3},
    {"INSERT OR IGNORE INTO execution VALUES(?, ?, ?, ?, ?, ?)", 6},
    {"INSERT OR IGNORE INTO event VALUES(?, ?, ?, ?, ?)", 5},
    {"INSERT OR IGNORE INTO context VALUES(?, ?, ?, ?)", 4},
    {"INSERT OR IGNORE INTO member VALUES(?, ?, ?)", 3},
    {"INSERT OR IGNORE INTO lease VALUES(?, ?, ?, ?)", 4},
    {"INSERT OR IGNORE INTO leased VALUES(?, ?)", 2},
    {"INSERT OR IGNORE INTO doomed VALUES(?, ?)", 2},
    {"INSERT OR IGNORE INTO root VALUES(?)", 1},
};
enum { NUM_TABLES = sizeof tables / sizeof tables[0] };

/* ---- the store ---- */

/* The tables without their types. */
static const char *loose_tables(void) {
  static char text[8192];
  if (text[0] == '\0') {
    FUZZ_ASSERT(strlen(cst__lineage_tables) < sizeof text);
    (void)snprintf(text, sizeof text, "%s", cst__lineage_tables);
    for (char *at; (at = strstr(text, "STRICT, ")) != NULL;) {
      memmove(at, at + 8, strlen(at + 8) + 1);
    }
    for (char *at; (at = strstr(text, " STRICT")) != NULL;) {
      memmove(at, at + 7, strlen(at + 7) + 1);
    }
  }
  return text;
}

static cst_lineage *store_of(const uint8_t *data, size_t size) {
  cst_lineage *store = memory_store(loose_tables());
  insert_rows(store->db, tables, NUM_TABLES, (sql_input){data, data + size});
  return store;
}

/* ---- what reads it ---- */

static cst_status worst;

/* Findings that are used as whoever prints them does; an error says what is wrong. */
static void use(cst_status status, const cst_error *error, cst_findings *found, size_t *num_rows) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  *num_rows = 0;
  if (status != CST_OK) {
    FUZZ_ASSERT(found == NULL && error->message[0] != '\0');
    worst = worst == CST_OK ? status : worst;
    return;
  }
  *num_rows = cst_findings_num_rows(found);
  FUZZ_ASSERT(cst_findings_batch(found, &schema, &array, NULL) == CST_OK);
  FUZZ_ASSERT((size_t)array.length == *num_rows);
  schema.release(&schema);
  array.release(&array);
  cst_findings_free(found);
}

static void look(cst_lineage *store, size_t counts[8]) {
  cst_error error = CST_ERROR_INIT;
  cst_findings *found;
  for (int kind = 0; kind <= CST_LINEAGE_OF_CONTEXTS; kind++) {
    cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
    query.kind = (cst_lineage_kind)kind;
    query.every_state = true;
    cst_status status = cst_lineage_find(store, &query, &found, &error);
    use(status, &error, found, &counts[kind]);
  }
  const int64_t ids[] = {1};
  cst_lineage_trace_options trace = CST_LINEAGE_TRACE_OPTIONS_INIT;
  trace.artifacts = ids;
  trace.num_artifacts = 1;
  cst_status status = cst_lineage_trace(store, &trace, &found, &error);
  use(status, &error, found, &counts[3]);
  status = cst_lineage_check(store, false, &found, &error);
  use(status, &error, found, &counts[4]);
  status = cst_lineage_info(store, &found, &error);
  use(status, &error, found, &counts[5]);
  cst_lineage_gc_options gc = CST_LINEAGE_GC_OPTIONS_INIT;
  gc.keep = 1;
  gc.is_dry_run = true;
  gc.now = INT64_C(2000000000000000);
  status = cst_lineage_gc(store, &gc, &found, &error);
  use(status, &error, found, &counts[6]);
  status = cst_lineage_leases(store, &found, &error);
  use(status, &error, found, &counts[7]);
}

static void read_examples(cst_lineage *store) {
  cst_error error = CST_ERROR_INIT;
  const int64_t ids[] = {1, 2};
  for (size_t count = 1; count <= 2; count++) {
    cst_lineage_reading *reading;
    cst_status status = cst_lineage_read(store, ids, count, NULL, &reading, &error);
    FUZZ_ASSERT((status == CST_OK) == (reading != NULL));
    if (status == CST_OK) {
      FUZZ_ASSERT(cst_lineage_reading_num_paths(reading) > 0);
      cst_lineage_reading_free(reading);
    } else {
      FUZZ_ASSERT(error.message[0] != '\0');
    }
  }
  int64_t id;
  cst_status status = cst_lineage_bind(store, 1, 2, NULL, &id, &error);
  FUZZ_ASSERT((status == CST_OK) == (id != 0));
}

static void draw(cst_lineage *store) {
  static const char *const formats[] = {"dot", "svg", "html"};
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    cst_lineage_graph_options options = CST_LINEAGE_GRAPH_OPTIONS_INIT;
    char *texts[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    options.format = formats[i];
    for (int k = 0; k < 2; k++) {
      (void)cst_lineage_graph(store, &options, &texts[k], &sizes[k], NULL);
    }
    FUZZ_ASSERT(sizes[0] == sizes[1] &&
                (sizes[0] == 0 || memcmp(texts[0], texts[1], sizes[0]) == 0));
    FUZZ_ASSERT(sizes[0] == 0 || cst__utf8_valid((const uint8_t *)texts[0], sizes[0]));
    cst_free(texts[0]);
    cst_free(texts[1]);
  }
}

/* OpenLineage: each line is JSON. */
static void tell(cst_lineage *store) {
  cst__json_document document = {.allocator = cst__allocator_of(NULL)};
  char *text;
  size_t size;
  if (cst_lineage_openlineage(store, NULL, &text, &size, NULL) != CST_OK) {
    return;
  }
  for (const char *at = text; *at != '\0';) {
    const size_t line = strcspn(at, "\n");
    yyjson_val *root;
    cst__json_fault fault;
    FUZZ_ASSERT(cst__json_document_parse(&document, (cst_bytes){(const uint8_t *)at, line},
                                         CST__JSON_TEXTS, &root, &fault, NULL) == CST_OK);
    at += line + 1;
  }
  cst__json_document_reset(&document);
  cst_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MOST_BYTES) {
    return 0;
  }
  worst = CST_OK;
  cst_lineage *store = store_of(data, size);
  size_t first[8], second[8];
  look(store, first);
  look(store, second);
  FUZZ_ASSERT(memcmp(first, second, sizeof first) == 0);
  draw(store);
  tell(store);
  read_examples(store);
  cst_lineage_free(store);
  fuzz_outcome(cst_status_name(worst));
  return 0;
}
