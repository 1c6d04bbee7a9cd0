/* <columnstone/query.h>, queries: argument checks. */
#include <columnstone/query.h>

#include "base/arguments.h"
#include "io/input.h"
#include "query/query.h"

cst_status cst_query_new(const cst_allocator *allocator, cst_query **out, cst_error *error) {
  CST__CLEAR(out);
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  return cst__query_new(allocator, out, error);
}

cst_status cst_query_parse(const char *text, size_t size, const cst_allocator *allocator,
                           cst_query **out, cst_error *error) {
  cst_query *query;
  CST__CLEAR(out);
  if (out == NULL || (text == NULL && size > 0)) {
    return cst__missing(out == NULL ? "out" : "text", error);
  }
  CST__TRY(cst_query_new(allocator, &query, error));
  cst_status status = cst__query_add(query, (cst_bytes){(const uint8_t *)text, size}, error);
  if (status != CST_OK) {
    cst__query_free(query);
    return status;
  }
  *out = query;
  return CST_OK;
}

/* No more of a file than the longest query and a byte. */
static cst_status read_query_text(cst__input *input, cst__text *text, cst_error *error) {
  size_t got = 1;
  while (got > 0 && text->size <= CST__QUERY_MAX_SIZE) {
    uint8_t buffer[4096];
    CST__TRY(cst__input_read(input, buffer, sizeof buffer, &got, error));
    cst__text_append(text, buffer, got);
  }
  return text->failed ? cst__fail_memory(error, text->size) : CST_OK;
}

cst_status cst_query_read_file(const char *path, const cst_allocator *allocator, cst_query **out,
                               cst_error *error) {
  CST__CLEAR(out);
  if (path == NULL || out == NULL) {
    return cst__missing(path == NULL ? "path" : "out", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  cst__input *input;
  cst__text text = {0};
  CST__TRY(cst__input_open(path, NULL, &input, error));
  cst_status status = read_query_text(input, &text, error);
  if (status == CST_OK) {
    status = cst_query_parse(text.data, text.size, allocator, out, error);
  }
  cst__text_free(&text);
  cst__input_close(input);
  if (status != CST_OK) {
    cst__error_add_file(error, path);
  }
  return status;
}

cst_status cst_query_copy(const cst_query *query, cst_query **out, cst_error *error) {
  CST__CLEAR(out);
  if (query == NULL || out == NULL) {
    return cst__missing(query == NULL ? "query" : "out", error);
  }
  return cst__query_copy(query, out, error);
}

void cst_query_free(cst_query *query) { cst__query_free(query); }

cst_status cst_query_add(cst_query *query, const char *text, size_t size, cst_error *error) {
  if (query == NULL || (text == NULL && size > 0)) {
    return cst__missing(query == NULL ? "query" : "text", error);
  }
  return cst__query_add(query, (cst_bytes){(const uint8_t *)text, size}, error);
}

cst_status cst_query_from_message(cst_query *query, const char *message, cst_error *error) {
  return query != NULL ? cst__query_from_message(query, message, error)
                       : cst__missing("query", error);
}

cst_status cst_query_param(cst_query *query, const char *name, const char *type, const char *value,
                           cst_error *error) {
  if (query == NULL || name == NULL || type == NULL) {
    return cst__missing(query == NULL ? "query" : name == NULL ? "name" : "type", error);
  }
  return cst__query_param(query, name, type, value, error);
}

cst_status cst_query_let(cst_query *query, const char *path, const char *expression,
                         cst_error *error) {
  if (query == NULL || path == NULL || expression == NULL) {
    return cst__missing(query == NULL ? "query" : path == NULL ? "path" : "expression", error);
  }
  return cst__query_let(query, path, expression, error);
}

cst_status cst_query_rows(cst_query *query, const char *path, cst_error *error) {
  if (query == NULL || path == NULL) {
    return cst__missing(query == NULL ? "query" : "path", error);
  }
  return cst__query_rows(query, path, error);
}

static cst_status check_patterns(const cst_query *query, const char *const *patterns, size_t count,
                                 cst_error *error) {
  if (query == NULL || patterns == NULL) {
    return cst__missing(query == NULL ? "query" : "patterns", error);
  }
  for (size_t i = 0; i < count; i++) {
    if (patterns[i] == NULL) {
      return cst__missing("a pattern", error);
    }
  }
  return CST_OK;
}

cst_status cst_query_keep(cst_query *query, const char *const *patterns, size_t count, int depth,
                          cst_error *error) {
  CST__TRY(check_patterns(query, patterns, count, error));
  return cst__query_keep(query, patterns, count, depth, error);
}

cst_status cst_query_drop(cst_query *query, const char *const *patterns, size_t count,
                          cst_error *error) {
  CST__TRY(check_patterns(query, patterns, count, error));
  return cst__query_drop(query, patterns, count, error);
}

cst_status cst_query_rename(cst_query *query, const char *path, const char *name,
                            cst_error *error) {
  if (query == NULL || path == NULL || name == NULL) {
    return cst__missing(query == NULL ? "query" : path == NULL ? "path" : "name", error);
  }
  return cst__query_rename(query, path, name, error);
}

cst_status cst_query_output(cst_query *query, const char *name, const char *expression,
                            cst_error *error) {
  if (query == NULL || name == NULL || expression == NULL) {
    return cst__missing(query == NULL ? "query" : name == NULL ? "name" : "expression", error);
  }
  return cst__query_add_output(query, name, expression, error);
}

static cst_status check_function(const cst_query *query, const cst_query_function *function,
                                 cst_error *error) {
  if (query == NULL) {
    return cst__missing("query", error);
  }
  bool is_whole = function->name != NULL && function->type != NULL && function->call != NULL;
  return is_whole ? CST_OK : cst__missing("function->name, type or call", error);
}

cst_status cst_query_add_function(cst_query *query, const cst_query_function *function,
                                  cst_error *error) {
  if (function == NULL) {
    return cst__missing("function", error);
  }
  cst_status status = check_function(query, function, error);
  if (status == CST_OK) {
    status = cst__query_add_function(query, function, error);
  }
  if (status != CST_OK && function->close != NULL) {
    function->close(function->ctx);
  }
  return status;
}

cst_status cst_query_write_text(const cst_query *query, char **text, size_t *size,
                                cst_error *error) {
  CST__CLEAR(text);
  CST__CLEAR(size);
  if (query == NULL || text == NULL || size == NULL) {
    return cst__missing(query == NULL ? "query" : text == NULL ? "text" : "size", error);
  }
  return cst__query_write_text(query, text, size, error);
}
