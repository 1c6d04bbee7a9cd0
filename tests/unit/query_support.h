/* What the tests of query texts share: what a text is read as, and what is said of a wrong one. */
#ifndef TESTS_UNIT_QUERY_SUPPORT_H
#define TESTS_UNIT_QUERY_SUPPORT_H

#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "query_dump.h"

static inline cst_query *parse_query(const char *text) {
  cst_error error = CST_ERROR_INIT;
  cst_query *query = NULL;
  if (cst_query_from_text(text, strlen(text), NULL, &query, &error) != CST_OK) {
    fprintf(stderr, "%lld:%lld: %s\n%s\n", (long long)error.line, (long long)error.column,
            error.message, text);
  }
  CHECK(query != NULL);
  return query;
}

/* The text means this tree, and has this usual spelling, which means the same tree. */
static inline void check_query(const char *text, const char *tree, const char *spelling) {
  cst_query *query = parse_query(text);
  cst__text dumped = dump_query(query);
  char *printed;
  size_t size;
  if (tree != NULL) {
    CHECK_STR(dumped.data, tree);
  }
  CHECK_EQ(cst_query_to_text(query, &printed, &size, NULL), CST_OK);
  CHECK_STR(printed, spelling);
  CHECK_EQ(strlen(printed), size);
  cst_query *again = parse_query(printed);
  cst__text dumped_again = dump_query(again);
  CHECK_STR(dumped_again.data, dumped.data);
  cst_free(printed);
  cst__text_free(&dumped);
  cst__text_free(&dumped_again);
  cst_query_free(query);
  cst_query_free(again);
}

typedef struct refusal {
  const char *text;
  int line;
  int column;
  const char *message;
  const char *hint; /* "": none */
} refusal;

static inline void check_refusals(const refusal *refusals, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const refusal *r = &refusals[i];
    cst_error error = CST_ERROR_INIT;
    cst_query *query = (cst_query *)(uintptr_t)1;
    cst_status status = cst_query_from_text(r->text, strlen(r->text), NULL, &query, &error);
    if (status == CST_OK || strcmp(error.message, r->message) != 0 || error.line != r->line ||
        error.column != r->column) {
      fprintf(stderr, "%lld:%lld of: %s\n", (long long)error.line, (long long)error.column,
              r->text);
    }
    CHECK_EQ(status, CST_INVALID_ARGUMENT);
    CHECK(query == NULL);
    CHECK_STR(error.message, r->message);
    CHECK_STR(error.hint, r->hint);
    CHECK_EQ(error.line, r->line);
    CHECK_EQ(error.column, r->column);
  }
}

#define CHECK_REFUSALS(refusals) check_refusals(refusals, sizeof refusals / sizeof *refusals)

#endif /* TESTS_UNIT_QUERY_SUPPORT_H */
