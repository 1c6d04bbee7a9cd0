/* Queries as handles. What is added at once, a text or a statement of a builder, lies in a part of
 * its own, so that a failure leaves nothing behind and copies share what they have in common.
 */
#include "query/query.h"

#include <columnstone/query.h>
#include <string.h>

#include "base/arguments.h"
#include "base/utf8.h"
#include "io/input.h"
#include "query/text/query_words.h"

struct cst__query_part {
  cst__refcount refs;
  cst__arena arena;
};

/* ---- parts ---- */

static cst__query_part *part_new(const cst_allocator *allocator) {
  cst__query_part *part = cst__new(allocator, sizeof *part);
  if (part != NULL) {
    cst__refcount_init(&part->refs);
    cst__arena_init(&part->arena, allocator);
  }
  return part;
}

static void part_release(cst__query_part *part) {
  if (cst__refcount_down(&part->refs)) {
    cst__arena_reset(&part->arena);
    cst__delete(part);
  }
}

static cst_status reserve_statements(cst_query *query, size_t count, cst_error *error) {
  if (count > CST__QUERY_MAX_STATEMENTS) {
    return cst__fail(error, CST_LIMIT, NULL, "a query has more than %d statements",
                     (int)CST__QUERY_MAX_STATEMENTS);
  }
  bool has_room = cst__grow(&query->allocator, (void **)&query->statements,
                            &query->statement_capacity, count, sizeof *query->statements) &&
                  cst__grow(&query->allocator, (void **)&query->parts, &query->part_capacity,
                            query->num_parts + 1, sizeof *query->parts);
  return has_room ? CST_OK : cst__fail_memory(error, count * sizeof *query->statements);
}

/* What a query reads stands first, and once. */
static cst_status check_froms(const cst_query *query, const cst__statement_list *added,
                              cst_error *error) {
  for (size_t i = 0; i < added->count; i++) {
    const cst__statement *statement = &added->items[i];
    if (statement->kind == CST__STATEMENT_FROM && query->num_statements + i > 0) {
      bool is_second = i > 0 ? added->items[0].kind == CST__STATEMENT_FROM
                             : query->statements[0].kind == CST__STATEMENT_FROM;
      cst_status status =
          cst__fail(error, CST_INVALID_ARGUMENT, "begin the query with 'from'",
                    is_second ? "duplicate 'from'" : "'from' must be the first statement");
      if (statement->at.line > 0) {
        cst__error_add_position(error, statement->at.line, statement->at.column);
      }
      return status;
    }
  }
  return CST_OK;
}

static cst_status count_text(const cst_query *query, size_t size, cst_error *error) {
  if (size > CST__QUERY_MAX_SIZE - query->text_size) {
    return cst__fail(error, CST_LIMIT, NULL, "the text of a query is more than %d bytes",
                     (int)CST__QUERY_MAX_SIZE);
  }
  return CST_OK;
}

cst__statement *cst__query_need_from(cst_query *query) {
  if (query->num_statements > 0 && query->statements[0].kind == CST__STATEMENT_FROM) {
    return &query->statements[0];
  }
  if (!cst__grow(&query->allocator, (void **)&query->statements, &query->statement_capacity,
                 query->num_statements + 1, sizeof *query->statements)) {
    return NULL;
  }
  memmove(query->statements + 1, query->statements,
          query->num_statements * sizeof *query->statements);
  query->num_statements++;
  query->statements[0] = (cst__statement){.kind = CST__STATEMENT_FROM};
  return &query->statements[0];
}

/* Makes statements of something in the arena of a part. */
typedef struct part_maker {
  cst_status (*make)(const struct part_maker *maker, cst__arena *arena, cst__statement_list *out,
                     cst_error *error);
  size_t size; /* of its texts */
  cst_bytes text;
  cst__statement_kind kind;
  const char *path; /* or the name of a parameter */
  const char *name; /* or the type of a parameter */
  const char *value;
  const char *const *patterns;
  size_t num_patterns;
  int depth;
} part_maker;

static cst_status make_query_part(const cst_query *query, const part_maker *maker,
                                  cst__query_part *part, cst__statement_list *added,
                                  cst_error *error) {
  CST__TRY(count_text(query, maker->size, error));
  CST__TRY(maker->make(maker, &part->arena, added, error));
  return check_froms(query, added, error);
}

static cst_status query_add_part(cst_query *query, const part_maker *maker, cst_error *error) {
  cst__query_part *part = part_new(&query->allocator);
  if (part == NULL) {
    return cst__fail_memory(error, sizeof *part);
  }
  cst__statement_list added = {0};
  cst_status status = make_query_part(query, maker, part, &added, error);
  if (status == CST_OK) {
    status = reserve_statements(query, query->num_statements + added.count, error);
  }
  if (status != CST_OK) {
    part_release(part);
    return status;
  }
  query->parts[query->num_parts++] = part;
  if (added.count > 0) {
    memcpy(query->statements + query->num_statements, added.items,
           added.count * sizeof *added.items);
  }
  query->num_statements += added.count;
  query->text_size += maker->size;
  return CST_OK;
}

static cst_status make_of_text(const part_maker *maker, cst__arena *arena, cst__statement_list *out,
                               cst_error *error) {
  return cst__query_parse_statements(maker->text, arena, out, error);
}

cst_status cst_query_add(cst_query *query, const char *text, size_t size, cst_error *error) {
  if (query == NULL || (text == NULL && size > 0)) {
    return cst__missing(query == NULL ? "query" : "text", error);
  }
  part_maker maker = {.make = make_of_text, .size = size, .text = {(const uint8_t *)text, size}};
  return query_add_part(query, &maker, error);
}

/* ---- statement by statement ---- */

/* A name that is taken as it is. */
static cst_status copy_query_name(const char *name, cst__arena *arena, const char **out,
                                  cst_error *error) {
  size_t size = strlen(name);
  if (size > CST__QUERY_MAX_NAME || strchr(name, '\n') != NULL ||
      !cst__utf8_valid((const uint8_t *)name, size)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "a name is UTF-8 on one line, of at most %d bytes", (int)CST__QUERY_MAX_NAME);
  }
  *out = cst__arena_copy(arena, name, size);
  return *out != NULL ? CST_OK : cst__fail_memory(error, size);
}

/* "shop.Session": names with dots between. */
static bool is_message_name(const char *name) {
  for (;;) {
    size_t size = strcspn(name, ".");
    if (!cst__query_is_plain(name, size)) {
      return false;
    }
    if (name[size] == '\0') {
      return true;
    }
    name += size + 1;
  }
}

static cst_status fill_from(const part_maker *maker, cst__arena *arena, cst__statement *out,
                            cst_error *error) {
  out->name = "message";
  if (maker->name == NULL) {
    return CST_OK;
  }
  if (!is_message_name(maker->name)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "expected the full name of a message, as shop.Session");
  }
  return copy_query_name(maker->name, arena, &out->message, error);
}

static cst_status fill_param(const part_maker *maker, cst__arena *arena, cst__statement *out,
                             cst_error *error) {
  CST__TRY(copy_query_name(maker->path, arena, &out->name, error));
  CST__TRY(cst__query_parse_param_type(maker->name, arena, &out->type, error));
  return maker->value != NULL ? cst__query_parse_literal(maker->value, arena, &out->value, error)
                              : CST_OK;
}

static cst_status fill_patterns(const part_maker *maker, cst__arena *arena, cst__statement *out,
                                cst_error *error) {
  size_t bytes;
  if (maker->num_patterns == 0 || maker->depth < 0 || maker->depth > CST__QUERY_MAX_DEPTH) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "expected at least one pattern, and a depth of at most %d",
                     (int)CST__QUERY_MAX_DEPTH);
  }
  const cst__expr **patterns = cst__mul(maker->num_patterns, sizeof *patterns, &bytes)
                                   ? cst__arena_take(arena, bytes)
                                   : NULL;
  if (patterns == NULL) {
    return cst__fail_memory(error, maker->num_patterns);
  }
  for (size_t i = 0; i < maker->num_patterns; i++) {
    CST__TRY(cst__query_parse_pattern(maker->patterns[i], arena, &patterns[i], error));
  }
  out->patterns = patterns;
  out->num_patterns = maker->num_patterns;
  out->depth = maker->depth;
  return CST_OK;
}

static cst_status fill_statement(const part_maker *maker, cst__arena *arena, cst__statement *out,
                                 cst_error *error) {
  switch (maker->kind) {
    case CST__STATEMENT_FROM:
      return fill_from(maker, arena, out, error);
    case CST__STATEMENT_PARAM:
      return fill_param(maker, arena, out, error);
    case CST__STATEMENT_KEEP:
    case CST__STATEMENT_DROP:
      return fill_patterns(maker, arena, out, error);
    case CST__STATEMENT_OUTPUT:
      CST__TRY(copy_query_name(maker->name, arena, &out->name, error));
      return cst__query_parse_expression(maker->value, arena, &out->value, error);
    case CST__STATEMENT_LET:
    case CST__STATEMENT_ROWS:
    case CST__STATEMENT_RENAME:
      break;
  }
  CST__TRY(cst__query_parse_path(maker->path, arena, &out->path, error));
  if (maker->kind == CST__STATEMENT_RENAME) {
    return copy_query_name(maker->name, arena, &out->name, error);
  }
  return maker->kind == CST__STATEMENT_LET
             ? cst__query_parse_expression(maker->value, arena, &out->value, error)
             : CST_OK;
}

static cst_status make_of_parts(const part_maker *maker, cst__arena *arena,
                                cst__statement_list *out, cst_error *error) {
  cst__statement *statement = cst__arena_take_zero(arena, sizeof *statement);
  if (statement == NULL) {
    return cst__fail_memory(error, sizeof *statement);
  }
  statement->kind = maker->kind;
  *out = (cst__statement_list){statement, 1};
  return fill_statement(maker, arena, statement, error);
}

static cst_status add_statement(cst_query *query, part_maker maker, cst_error *error) {
  const char *texts[] = {maker.path, maker.name, maker.value};
  maker.make = make_of_parts;
  for (size_t i = 0; i < 3; i++) {
    maker.size += texts[i] != NULL ? strlen(texts[i]) : 0;
  }
  for (size_t i = 0; i < maker.num_patterns; i++) {
    maker.size += strlen(maker.patterns[i]);
  }
  return query_add_part(query, &maker, error);
}

cst_status cst_query_from_message(cst_query *query, const char *message, cst_error *error) {
  if (query == NULL) {
    return cst__missing("query", error);
  }
  part_maker maker = {.kind = CST__STATEMENT_FROM, .name = message};
  return add_statement(query, maker, error);
}

cst_status cst_query_param(cst_query *query, const char *name, const char *type, const char *value,
                           cst_error *error) {
  if (query == NULL || name == NULL || type == NULL) {
    return cst__missing(query == NULL ? "query" : name == NULL ? "name" : "type", error);
  }
  part_maker maker = {.kind = CST__STATEMENT_PARAM, .path = name, .name = type, .value = value};
  return add_statement(query, maker, error);
}

cst_status cst_query_let(cst_query *query, const char *path, const char *expression,
                         cst_error *error) {
  if (query == NULL || path == NULL || expression == NULL) {
    return cst__missing(query == NULL ? "query" : path == NULL ? "path" : "expression", error);
  }
  part_maker maker = {.kind = CST__STATEMENT_LET, .path = path, .value = expression};
  return add_statement(query, maker, error);
}

cst_status cst_query_rows(cst_query *query, const char *path, cst_error *error) {
  if (query == NULL || path == NULL) {
    return cst__missing(query == NULL ? "query" : "path", error);
  }
  part_maker maker = {.kind = CST__STATEMENT_ROWS, .path = path};
  return add_statement(query, maker, error);
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
  part_maker maker = {
      .kind = CST__STATEMENT_KEEP, .patterns = patterns, .num_patterns = count, .depth = depth};
  return add_statement(query, maker, error);
}

cst_status cst_query_drop(cst_query *query, const char *const *patterns, size_t count,
                          cst_error *error) {
  CST__TRY(check_patterns(query, patterns, count, error));
  part_maker maker = {.kind = CST__STATEMENT_DROP, .patterns = patterns, .num_patterns = count};
  return add_statement(query, maker, error);
}

cst_status cst_query_rename(cst_query *query, const char *path, const char *name,
                            cst_error *error) {
  if (query == NULL || path == NULL || name == NULL) {
    return cst__missing(query == NULL ? "query" : path == NULL ? "path" : "name", error);
  }
  part_maker maker = {.kind = CST__STATEMENT_RENAME, .path = path, .name = name};
  return add_statement(query, maker, error);
}

cst_status cst_query_output(cst_query *query, const char *name, const char *expression,
                            cst_error *error) {
  if (query == NULL || name == NULL || expression == NULL) {
    return cst__missing(query == NULL ? "query" : name == NULL ? "name" : "expression", error);
  }
  part_maker maker = {.kind = CST__STATEMENT_OUTPUT, .name = name, .value = expression};
  return add_statement(query, maker, error);
}

cst_status cst_query_to_text(const cst_query *query, char **text, size_t *size, cst_error *error) {
  CST__CLEAR(text);
  CST__CLEAR(size);
  if (query == NULL || text == NULL || size == NULL) {
    return cst__missing(query == NULL ? "query" : text == NULL ? "text" : "size", error);
  }
  cst__text out = {0};
  cst__query_print(query, &out);
  if (out.size > CST__QUERY_MAX_SIZE) {
    cst__text_free(&out);
    return cst__fail(error, CST_LIMIT, NULL, "the text of the query is more than %d bytes",
                     (int)CST__QUERY_MAX_SIZE);
  }
  return cst__text_finish(&out, text, size, error);
}

/* ---- functions of the caller's ---- */

static void caller_function_release(cst__caller_function *function) {
  if (function != NULL && cst__refcount_down(&function->refs)) {
    if (function->function.close != NULL) {
      function->function.close(function->function.ctx);
    }
    cst__delete((void *)(uintptr_t)function->function.name);
    cst__delete((void *)(uintptr_t)function->function.type);
    cst__delete(function);
  }
}

static cst__caller_function *caller_function_retain(cst__caller_function *function) {
  cst__refcount_up(&function->refs);
  return function;
}

cst__caller_function *cst__query_find_function(const cst_query *query, const char *name) {
  for (size_t i = 0; i < query->num_functions; i++) {
    if (strcmp(query->functions[i]->function.name, name) == 0) {
      return query->functions[i];
    }
  }
  return NULL;
}

static cst_status check_caller_function(const cst_query *query, const cst_query_function *function,
                                        cst_error *error) {
  const char *name = function->name;
  if (query == NULL) {
    return cst__missing("query", error);
  }
  if (name == NULL || function->type == NULL || function->call == NULL) {
    return cst__missing("function->name, type or call", error);
  }
  if (!cst__query_is_plain(name, strlen(name)) || strlen(name) > CST__QUERY_MAX_NAME ||
      cst__query_is_reserved(name, strlen(name))) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "use letters, digits and _",
                     "the function name is not a valid name");
  }
  if (cst__query_find_function(query, name) != NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a function of this name already exists");
  }
  return cst__query_type_format(function->type) != NULL
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT, "bool, int64, float32, string, ...",
                         "unknown type of a function");
}

static cst__caller_function *caller_function_new(const cst_allocator *allocator,
                                                 const cst_query_function *function) {
  cst__caller_function *made = cst__new(allocator, sizeof *made);
  if (made == NULL) {
    return NULL;
  }
  cst__refcount_init(&made->refs);
  made->function = *function;
  made->format = cst__query_type_format(function->type);
  made->function.close = NULL; /* it is the caller's until all is done */
  made->function.name = cst__new_copy(allocator, function->name, strlen(function->name));
  made->function.type = cst__new_copy(allocator, function->type, strlen(function->type));
  if (made->function.name == NULL || made->function.type == NULL) {
    caller_function_release(made);
    return NULL;
  }
  return made;
}

static cst_status add_caller_function(cst_query *query, const cst_query_function *function,
                                      cst_error *error) {
  CST__TRY(check_caller_function(query, function, error));
  cst__caller_function *made =
      cst__grow(&query->allocator, (void **)&query->functions, &query->function_capacity,
                query->num_functions + 1, sizeof *query->functions)
          ? caller_function_new(&query->allocator, function)
          : NULL;
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  made->function.close = function->close;
  query->functions[query->num_functions++] = made;
  return CST_OK;
}

cst_status cst_query_add_function(cst_query *query, const cst_query_function *function,
                                  cst_error *error) {
  if (function == NULL) {
    return cst__missing("function", error);
  }
  cst_status status = add_caller_function(query, function, error);
  if (status != CST_OK && function->close != NULL) {
    function->close(function->ctx);
  }
  return status;
}

/* ---- handles ---- */

cst_status cst_query_new(const cst_allocator *allocator, cst_query **out, cst_error *error) {
  CST__CLEAR(out);
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(cst__check_allocator(allocator, error));
  cst_query *query = cst__new_zero(allocator, sizeof *query);
  if (query == NULL) {
    return cst__fail_memory(error, sizeof *query);
  }
  query->allocator = cst__allocator_of(allocator);
  *out = query;
  return CST_OK;
}

cst_status cst_query_from_text(const char *text, size_t size, const cst_allocator *allocator,
                               cst_query **out, cst_error *error) {
  cst_query *query;
  CST__CLEAR(out);
  if (out == NULL || (text == NULL && size > 0)) {
    return cst__missing(out == NULL ? "out" : "text", error);
  }
  CST__TRY(cst_query_new(allocator, &query, error));
  cst_status status = cst_query_add(query, text, size, error);
  if (status != CST_OK) {
    cst_query_free(query);
    return status;
  }
  *out = query;
  return CST_OK;
}

cst_status cst_query_open(const char *path, const cst_allocator *allocator, cst_query **out,
                          cst_error *error) {
  cst__text text = {0};
  CST__CLEAR(out);
  CST__TRY(cst__check_given(path, "path", out, error));
  CST__TRY(cst__check_allocator(allocator, error));
  cst_status status = cst__input_read_file(path, CST__QUERY_MAX_SIZE, &text, error);
  if (status == CST_OK) {
    status = cst_query_from_text(text.data, text.size, allocator, out, error);
  }
  cst__text_free(&text);
  if (status != CST_OK) {
    cst__error_add_file(error, path);
  }
  return status;
}

/* Room for all that another one has. */
static bool reserve_like(cst_query *query, const cst_query *other) {
  const cst_allocator *allocator = &query->allocator;
  return cst__grow(allocator, (void **)&query->statements, &query->statement_capacity,
                   other->num_statements, sizeof *query->statements) &&
         cst__grow(allocator, (void **)&query->parts, &query->part_capacity, other->num_parts,
                   sizeof *query->parts) &&
         cst__grow(allocator, (void **)&query->functions, &query->function_capacity,
                   other->num_functions, sizeof *query->functions);
}

cst_status cst_query_copy(const cst_query *query, cst_query **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(query, "query", out, error));
  cst_query *copy = NULL;
  CST__TRY(cst_query_new(&query->allocator, &copy, error));
  if (!reserve_like(copy, query)) {
    cst_query_free(copy);
    return cst__fail_memory(error, query->num_statements * sizeof *query->statements);
  }
  for (; copy->num_statements < query->num_statements; copy->num_statements++) {
    copy->statements[copy->num_statements] = query->statements[copy->num_statements];
  }
  for (; copy->num_parts < query->num_parts; copy->num_parts++) {
    cst__refcount_up(&query->parts[copy->num_parts]->refs);
    copy->parts[copy->num_parts] = query->parts[copy->num_parts];
  }
  for (; copy->num_functions < query->num_functions; copy->num_functions++) {
    copy->functions[copy->num_functions] =
        caller_function_retain(query->functions[copy->num_functions]);
  }
  copy->text_size = query->text_size;
  *out = copy;
  return CST_OK;
}

void cst_query_free(cst_query *query) {
  if (query == NULL) {
    return;
  }
  for (size_t i = 0; i < query->num_parts; i++) {
    part_release(query->parts[i]);
  }
  for (size_t i = 0; i < query->num_functions; i++) {
    caller_function_release(query->functions[i]);
  }
  cst__delete(query->statements);
  cst__delete((void *)query->parts);
  cst__delete((void *)query->functions);
  cst__delete(query);
}
