/* Bytes as the text of a query: what is read is written in its usual spelling, which is read as the
 * same tree and written as it is; a builder makes the same of the parts of each statement; an error
 * says what and where.
 */
#include <string.h>

#include "../tests/unit/query_dump.h"
#include "base/utf8.h"
#include "fuzz.h"

typedef struct query_text {
  char *data;
  size_t size;
} query_text;

static void check_error(cst_status status, const cst_error *error, size_t size) {
  FUZZ_ASSERT(status == CST_INVALID_ARGUMENT || status == CST_LIMIT);
  FUZZ_ASSERT(error->code == status && error->message[0] != '\0');
  FUZZ_ASSERT(cst__utf8_valid((const uint8_t *)error->message, strlen(error->message)));
  FUZZ_ASSERT(error->line >= 0 && error->line <= (int64_t)size + 1);
  FUZZ_ASSERT(error->column >= 0 && error->column <= (int64_t)size + 1);
}

static cst_query *read_again(query_text text) {
  cst_query *query = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_status status = cst_query_from_text(text.data, text.size, NULL, &query, &error);
  if (status != CST_OK) {
    fprintf(stderr, "%s at %lld:%lld of\n%s\n", error.message, (long long)error.line,
            (long long)error.column, text.data);
  }
  FUZZ_ASSERT(status == CST_OK);
  return query;
}

/* False for a spelling that is longer than a query may be. */
static bool write_query(const cst_query *query, query_text *out) {
  cst_status status = cst_query_to_text(query, &out->data, &out->size, NULL);
  FUZZ_ASSERT(status == CST_OK || status == CST_LIMIT);
  return status == CST_OK;
}

static void check_same(const cst_query *query, const cst_query *other) {
  cst__text a = dump_query(query);
  cst__text b = dump_query(other);
  query_text text;
  query_text other_text;
  FUZZ_ASSERT(strcmp(a.data, b.data) == 0);
  FUZZ_ASSERT(write_query(query, &text) && write_query(other, &other_text));
  FUZZ_ASSERT(text.size == other_text.size && memcmp(text.data, other_text.data, text.size) == 0);
  cst_free(text.data);
  cst_free(other_text.data);
  cst__text_free(&a);
  cst__text_free(&b);
}

/* ---- builders ---- */

static char *spelled(const cst__expr *expr) {
  cst__text out = {0};
  cst__query_print_expression(expr, &out);
  cst__text_append(&out, "", 0);
  return out.data;
}

static char *spelled_type(const cst__type_text *type) {
  cst__text out = {0};
  cst__query_print_type(type, &out);
  return out.data;
}

/* What a statement has after its word: of those that are nothing but a path or patterns. */
static const char *after_word(const cst__statement *statement, cst_query *one, query_text *line) {
  one->statements = (cst__statement *)(uintptr_t)statement;
  one->num_statements = 1;
  FUZZ_ASSERT(write_query(one, line));
  line->data[line->size - 1] = '\0'; /* the end of the line */
  return strchr(line->data, ' ') + 1;
}

/* The path of a let, a rows or a rename as text. */
static char *spelled_path(const cst__statement *statement) {
  cst__statement rows = {.kind = CST__STATEMENT_ROWS, .path = statement->path};
  cst_query one = {0};
  query_text line;
  const char *path = after_word(&rows, &one, &line);
  char *copy = malloc(strlen(path) + 1);
  FUZZ_ASSERT(copy != NULL);
  memcpy(copy, path, strlen(path) + 1);
  cst_free(line.data);
  return copy;
}

static cst_status build_patterns(cst_query *query, const cst__statement *statement) {
  const char **patterns = calloc(statement->num_patterns, sizeof *patterns);
  query_text *lines = calloc(statement->num_patterns, sizeof *lines);
  FUZZ_ASSERT(patterns != NULL && lines != NULL);
  for (size_t i = 0; i < statement->num_patterns; i++) {
    cst__statement drop = {
        .kind = CST__STATEMENT_DROP, .patterns = &statement->patterns[i], .num_patterns = 1};
    cst_query one = {0};
    patterns[i] = after_word(&drop, &one, &lines[i]);
  }
  size_t count = statement->num_patterns;
  cst_status status = statement->kind == CST__STATEMENT_DROP
                          ? cst_query_drop(query, patterns, count, NULL)
                          : cst_query_keep(query, patterns, count, statement->depth, NULL);
  for (size_t i = 0; i < count; i++) {
    cst_free(lines[i].data);
  }
  free(lines);
  free((void *)patterns);
  return status;
}

static cst_status build_statement(cst_query *query, const cst__statement *statement) {
  char *path = statement->path != NULL ? spelled_path(statement) : NULL;
  char *value = statement->value != NULL ? spelled(statement->value) : NULL;
  char *type = statement->type != NULL ? spelled_type(statement->type) : NULL;
  cst_query one = {0};
  query_text line;
  cst_status status = CST_OK;
  switch (statement->kind) {
    case CST__STATEMENT_FROM: /* options and types have no builder */
      (void)after_word(statement, &one, &line);
      status = cst_query_add(query, line.data, line.size - 1, NULL);
      cst_free(line.data);
      break;
    case CST__STATEMENT_PARAM:
      status = cst_query_param(query, statement->name, type, value, NULL);
      break;
    case CST__STATEMENT_LET:
      status = cst_query_let(query, path, value, NULL);
      break;
    case CST__STATEMENT_ROWS:
      status = cst_query_rows(query, path, NULL);
      break;
    case CST__STATEMENT_KEEP:
    case CST__STATEMENT_DROP:
      status = build_patterns(query, statement);
      break;
    case CST__STATEMENT_RENAME:
      status = cst_query_rename(query, path, statement->name, NULL);
      break;
    case CST__STATEMENT_OUTPUT:
      status = cst_query_output(query, statement->name, value, NULL);
      break;
  }
  free(path);
  cst_free(value);
  cst_free(type);
  return status;
}

static void check_built(const cst_query *query) {
  cst_query *built = NULL;
  FUZZ_ASSERT(cst_query_new(NULL, &built, NULL) == CST_OK);
  for (size_t i = 0; i < query->num_statements; i++) {
    FUZZ_ASSERT(build_statement(built, &query->statements[i]) == CST_OK);
  }
  check_same(query, built);
  cst_query_free(built);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  cst_query *query = NULL;
  cst_error error = CST_ERROR_INIT;
  query_text text;
  cst_status status = cst_query_from_text((const char *)data, size, NULL, &query, &error);
  fuzz_outcome(cst_status_name(status));
  if (status != CST_OK) {
    check_error(status, &error, size);
    return 0;
  }
  if (write_query(query, &text)) {
    cst_query *again = read_again(text);
    check_same(query, again);
    check_built(query);
    cst_query_free(again);
    cst_free(text.data);
  }
  cst_query_free(query);
  return 0;
}
