/* Functions of queries, called with arguments and results that are texts (arrow_text.h).
 *
 * An argument is "int32: 1 null 3"; one value for all is "= int32: 1"; a literal is "5", "0.5",
 * "true", "null", "'text'", "b'bytes'" or "[1, 2]". The groups of an aggregate are the numbers of
 * their values: "2 0 null 3" (a null list has none).
 */
#ifndef TESTS_UNIT_FUNCTION_SUPPORT_H
#define TESTS_UNIT_FUNCTION_SUPPORT_H

#include <math.h>

#include "arrow/view.h"
#include "arrow_equal.h"
#include "arrow_text.h"
#include "query/run/run_function.h"

typedef struct function_case {
  const char *name;
  const char *args[CST__FUNCTION_ARGS];
  const char *expected; /* "int64: 1 null"; "error: part of the message" */
  const char *groups;
} function_case;

/* ---- arguments ---- */

typedef struct function_arg {
  cst__argument_type type;
  cst__literal literal;
  cst__literal items[16];
  bool is_one;
  struct ArrowSchema schema;
  struct ArrowArray array;
} function_arg;

/* After the type: a zone in its brackets may have colons, too. */
static inline const char *function_colon(const char *text) {
  const char *colon = strchr(text, ':');
  const char *open = strchr(text, '[');
  return open != NULL && open > text && open < colon ? strstr(open, "]:") + 1 : colon;
}

static inline void function_parse_literal(const char **at, cst__literal *out) {
  arrow_text_blanks(at);
  bool is_bytes = **at == 'b' && (*at)[1] == '\'';
  *at += is_bytes;
  if (**at == '\'') {
    const char *end = strchr(*at + 1, '\'');
    out->kind = is_bytes ? CST__LITERAL_BYTES : CST__LITERAL_STRING;
    out->bytes = (cst_bytes){(const uint8_t *)*at + 1, (size_t)(end - *at - 1)};
    *at = end + 1;
  } else if (arrow_text_starts(at, "null")) {
    out->kind = CST__LITERAL_NULL;
  } else if (arrow_text_starts(at, "true") || arrow_text_starts(at, "false")) {
    out->kind = CST__LITERAL_BOOL;
    out->integer = (*at)[-2] == 'u';
  } else {
    bool is_float = strcspn(*at, ".nae") < strcspn(*at, ",] ");
    out->kind = is_float ? CST__LITERAL_FLOAT : CST__LITERAL_INT;
    out->number = strtod(*at, NULL);
    out->integer = strtoll(*at, NULL, 10);
    *at += strcspn(*at, ",] ");
  }
}

static inline void function_parse_arg(const char *text, function_arg *arg) {
  memset(arg, 0, sizeof *arg);
  const char *colon = function_colon(text);
  if (colon == NULL || strchr(text, '\'') == text) {
    const char *at = text;
    arg->is_one = true;
    arg->type.is_literal = true;
    arg->type.literal = &arg->literal;
    if (*text == '[') {
      arg->literal.kind = CST__LITERAL_LIST;
      arg->literal.items = arg->items;
      for (at++; arrow_text_blanks(&at), *at != ']';) {
        function_parse_literal(&at, &arg->items[arg->literal.num_items++]);
      }
    } else {
      function_parse_literal(&at, &arg->literal);
    }
    arg->type.type = cst__literal_type(&arg->literal);
    return;
  }
  arg->is_one = *text == '=';
  text += arg->is_one ? 2 : 0;
  char type[64];
  snprintf(type, sizeof type, "%.*s", (int)(function_colon(text) - text), text);
  arrow_text(type, function_colon(text) + 1, &arg->schema, &arg->array);
  arg->type.type.format = arg->schema.format;
}

/* The same rows after three others, as a slice of them. */
static inline void function_shift_arg(const char *text, function_arg *arg) {
  char type[64];
  char rows[4000];
  if (arg->type.is_literal || arg->array.length == 0) return;
  text += *text == '=' ? 2 : 0;
  const char *colon = function_colon(text);
  snprintf(type, sizeof type, "%.*s", (int)(colon - text), text);
  snprintf(rows, sizeof rows, "%s %s", colon + 1, colon + 1);
  arg->schema.release(&arg->schema);
  int64_t length = arg->array.length;
  arg->array.release(&arg->array);
  arrow_text(type, rows, &arg->schema, &arg->array);
  arg->array.offset = length;
  arg->array.length = length;
  arg->array.null_count = -1;
  arg->type.type.format = arg->schema.format;
}

static inline void function_free_arg(function_arg *arg) {
  if (arg->array.release != NULL) arg->array.release(&arg->array);
  if (arg->schema.release != NULL) arg->schema.release(&arg->schema);
}

/* ---- calls ---- */

typedef struct function_run {
  const function_case *test;
  const cst__function *function;
  function_arg args[CST__FUNCTION_ARGS];
  size_t num_args;
  int64_t offsets[64];
  uint8_t nulls[64];
  int64_t count;
  bool has_groups;
  bool in_parts; /* each element, or group, by itself */
  cst__signature signature;
  cst_error error;
  struct ArrowArray out;
  int64_t *out_offsets; /* EXPAND */
} function_run;

static inline cst_status function_view(const function_arg *arg, cst__value_type cast,
                                       struct ArrowArray *made, cst__arena *arena, cst__view *view,
                                       cst_error *error) {
  static const char *const zeros = "n";
  cst_status status = CST_OK;
  if (arg->type.is_literal && cast.format == NULL) {
    *view = (cst__view){.layout = CST__LAYOUT_NULL, .length = 1, .format = zeros};
    return CST_OK;
  }
  if (!arg->type.is_literal) {
    status = cst__view_init(view, &arg->schema, &arg->array, false, arena, error);
    if (status != CST_OK || cast.format == NULL) return status;
    status = cst__values_cast(view, (cst__cast_way){cast, true}, NULL, made, error);
  } else {
    status = cst__literal_array(&arg->literal, cast, NULL, made, error);
  }
  if (status != CST_OK) return status;
  struct ArrowSchema schema = {.format = cast.format, .name = "", .release = arg->schema.release};
  if (schema.release == NULL) schema.release = (void (*)(struct ArrowSchema *))1;
  return cst__view_init(view, &schema, made, true, arena, error);
}

static inline cst_status function_eval(function_run *run, const cst__view *views,
                                       const bool *is_one, const cst__literal *const *literals) {
  cst__function_call call = {.args = views,
                             .is_one = is_one,
                             .num_args = run->num_args,
                             .literals = literals,
                             .count = run->count,
                             .offsets = run->has_groups ? run->offsets : NULL,
                             .null_groups = run->has_groups ? run->nulls : NULL,
                             .result = run->signature.result};
  if (run->function->kind == CST__FUNCTION_EXPAND) {
    return run->function->expand(&call, &run->out, &run->out_offsets, &run->error);
  }
  return run->in_parts ? cst__function_eval(run->function, &call, 1, &run->out, &run->error)
                       : run->function->eval(run->function, &call, &run->out, &run->error);
}

/* Types, casts, the call; for the failing of allocations, too. */
static inline int function_call(void *context) {
  function_run *run = context;
  cst__argument_type types[CST__FUNCTION_ARGS];
  const cst__literal *literals[CST__FUNCTION_ARGS] = {NULL};
  struct ArrowArray made[CST__FUNCTION_ARGS] = {{0}};
  cst__view views[CST__FUNCTION_ARGS];
  bool is_one[CST__FUNCTION_ARGS] = {false};
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  run->error = (cst_error)CST_ERROR_INIT;
  run->out.release = NULL;
  run->out_offsets = NULL;
  for (size_t i = 0; i < run->num_args; i++) {
    types[i] = run->args[i].type;
    is_one[i] = run->args[i].is_one;
    literals[i] = types[i].is_literal ? &run->args[i].literal : NULL;
  }
  cst_status status =
      run->function->type(run->function, types, run->num_args, &run->signature, &run->error);
  for (size_t i = 0; i < run->num_args && status == CST_OK; i++) {
    status = function_view(&run->args[i], run->signature.casts[i], &made[i], &arena, &views[i],
                           &run->error);
  }
  if (status == CST_OK) status = function_eval(run, views, is_one, literals);
  if (status != CST_OK) CHECK(run->out.release == NULL && run->out_offsets == NULL);
  for (size_t i = 0; i < run->num_args; i++) {
    if (made[i].release != NULL) made[i].release(&made[i]);
  }
  cst__arena_reset(&arena);
  return (int)status;
}

/* The same, and what it made is released. */
static inline int function_call_again(void *context) {
  function_run *run = context;
  int status = function_call(run);
  if (run->out.release != NULL) run->out.release(&run->out);
  cst__delete(run->out_offsets);
  run->out_offsets = NULL;
  return status;
}

/* ---- checks ---- */

static inline void function_parse_groups(function_run *run, const char *groups) {
  run->has_groups = groups != NULL;
  if (groups == NULL) return;
  run->count = 0;
  run->offsets[0] = 0;
  for (arrow_text_blanks(&groups); *groups != '\0'; arrow_text_blanks(&groups)) {
    bool is_null = arrow_text_starts(&groups, "null");
    int64_t size = is_null ? 0 : strtoll(groups, (char **)&groups, 10);
    run->nulls[run->count] = is_null;
    run->offsets[run->count + 1] = run->offsets[run->count] + size;
    run->count++;
  }
}

static inline bool function_both_nan(const cst__view *a, const cst__view *b, int64_t i) {
  if (a->dtype == CST_DTYPE_FLOAT32) {
    return isnan(((const float *)a->data)[a->offset + i]) &&
           isnan(((const float *)b->data)[b->offset + i]);
  }
  return a->dtype == CST_DTYPE_FLOAT64 && isnan(((const double *)a->data)[a->offset + i]) &&
         isnan(((const double *)b->data)[b->offset + i]);
}

static inline void function_check_result(const function_run *run, const char *expected) {
  char type[64];
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__arena arena;
  cst__view a;
  cst__view b;
  cst_error error = CST_ERROR_INIT;
  snprintf(type, sizeof type, "%.*s", (int)(function_colon(expected) - expected), expected);
  arrow_text(type, function_colon(expected) + 1, &schema, &array);
  CHECK_STR(run->signature.result.format, schema.format);
  cst__arena_init(&arena, NULL);
  cst__view_init(&a, &schema, &run->out, false, &arena, &error);
  CHECK_STR(error.message, "");
  cst__view_init(&b, &schema, &array, false, &arena, &error);
  CHECK_EQ(a.length, b.length);
  CHECK_EQ(a.null_count, b.null_count);
  for (int64_t i = 0; i < a.length; i++) {
    if (!function_both_nan(&a, &b, i)) arrow_equal_slot(&a, i, &b, i);
  }
  cst__arena_reset(&arena);
  array.release(&array);
  schema.release(&schema);
}

static inline void function_start(function_run *run, const function_case *test, bool is_shifted) {
  memset(run, 0, sizeof *run);
  run->test = test;
  run->function = cst__function_find(test->name);
  CHECK(run->function != NULL);
  run->count = 1;
  for (; run->num_args < CST__FUNCTION_ARGS && test->args[run->num_args] != NULL; run->num_args++) {
    function_arg *arg = &run->args[run->num_args];
    function_parse_arg(test->args[run->num_args], arg);
    if (is_shifted) function_shift_arg(test->args[run->num_args], arg);
    if (!arg->is_one) run->count = arg->array.length;
  }
  CHECK(run->num_args >= run->function->min_args && run->num_args <= run->function->max_args);
  function_parse_groups(run, test->groups);
}

static inline void function_stop(function_run *run) {
  for (size_t i = 0; i < run->num_args; i++) {
    function_free_arg(&run->args[i]);
  }
  if (run->out.release != NULL) run->out.release(&run->out);
  cst__delete(run->out_offsets);
}

static inline void function_check_once(const function_case *test, bool is_shifted) {
  function_run run;
  function_start(&run, test, is_shifted);
  run.in_parts = is_shifted;
  int status = function_call(&run);
  if (strncmp(test->expected, "error: ", 7) == 0) {
    CHECK_EQ(status, CST_SCHEMA);
    CHECK_CONTAINS(run.error.message, test->expected + strlen("error: "));
  } else {
    CHECK_STR(run.error.message, "");
    function_check_result(&run, test->expected);
    run.out.release(&run.out);
    cst__delete(run.out_offsets);
    run.out_offsets = NULL;
    if (!is_shifted) FOR_EACH_ALLOCATION_FAILURE(function_call_again, &run, CST_NO_MEMORY);
  }
  function_stop(&run);
}

/* As it is, as slices and in parts, and with every allocation failing in turn. */
static inline void function_check(const function_case *tests, size_t count) {
  for (size_t i = 0; i < count; i++) {
    function_check_once(&tests[i], false);
    function_check_once(&tests[i], true);
  }
}

#define FUNCTION_CHECK(tests) function_check((tests), sizeof(tests) / sizeof((tests)[0]))

#endif
