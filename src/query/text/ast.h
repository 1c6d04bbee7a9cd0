/* The tree of a query: statements, and the expressions in them, as they were written.
 *
 * A tree lies in an arena and is not changed once it is made. Operators are calls: `a + b` is a
 * call of "add" (functions/function.h lists all), so that there is one way to name what is done.
 */
#ifndef QUERY_TEXT_AST_H
#define QUERY_TEXT_AST_H

#include <columnstone/query.h>

#include "base/alloc.h"

/* Where something stands in the text, from 1 on; line 0: in a part that a builder has added. */
typedef struct cst__text_at {
  uint32_t line;
  uint32_t column;
} cst__text_at;

typedef enum cst__expr_kind {
  CST__EXPR_NULL,
  CST__EXPR_BOOL,
  CST__EXPR_INT,
  CST__EXPR_FLOAT,
  CST__EXPR_STRING, /* text, or bytes if is_bytes */
  CST__EXPR_LIST,   /* [args...], literals */
  CST__EXPR_NAME,   /* name: the first step of a path, a let, a parameter */
  CST__EXPR_IT,
  CST__EXPR_RECORD,
  CST__EXPR_STEP,   /* args[0].name; "(shop.extra)" has its parentheses; "*" and "**" in patterns */
  CST__EXPR_AT,     /* args[0][args[1]] */
  CST__EXPR_SLICE,  /* args[0][args[1] : args[2] : args[3]]; NULL where left out */
  CST__EXPR_WHERE,  /* args[0] where args[1] */
  CST__EXPR_CALL,   /* name(args...), keys[i] the keyword of each, or NULL */
  CST__EXPR_STRUCT, /* {keys[i]: args[i]} */
  CST__EXPR_TYPE    /* name: a type, as cast(x, int64) has it */
} cst__expr_kind;

typedef struct cst__expr cst__expr;
struct cst__expr {
  cst__expr_kind kind;
  cst__text_at at;
  bool is_bytes;
  const char *name; /* NUL-terminated */
  int64_t integer;  /* INT; BOOL: 0 or 1 */
  double number;    /* FLOAT */
  cst_bytes bytes;  /* STRING; followed by a NUL */
  const cst__expr **args;
  const char **keys; /* NULL: no argument has one */
  size_t num_args;
};

typedef enum cst__statement_kind {
  CST__STATEMENT_FROM,   /* name: "message", "example", ...; message; options; type */
  CST__STATEMENT_PARAM,  /* name, type, value (NULL: none) */
  CST__STATEMENT_LET,    /* path, value */
  CST__STATEMENT_ROWS,   /* path */
  CST__STATEMENT_KEEP,   /* patterns, depth (0: not said) */
  CST__STATEMENT_DROP,   /* patterns */
  CST__STATEMENT_RENAME, /* path, name */
  CST__STATEMENT_OUTPUT  /* name, value */
} cst__statement_kind;

/* `key = value` of a from statement; the value is a literal or a name. */
typedef struct cst__from_option {
  const char *key;
  const char *value;
  cst__text_at at;
} cst__from_option;

/* A type as the language has it: "int64", [int64], {a: string}. A node of a tree. */
typedef struct cst__type_text cst__type_text;
struct cst__type_text {
  const char *name;   /* "" for lists and structs */
  const char *format; /* Arrow format of a value: "l"; "+L", "+s" */
  const char *field;  /* name as a field of a struct; NULL */
  cst__type_text *children;
  size_t num_children;
};

typedef struct cst__statement {
  cst__statement_kind kind;
  cst__text_at at;
  const char *name;
  const char *message; /* FROM message: the full name; NULL: not said */
  const cst__from_option *options;
  size_t num_options;
  const cst__type_text *type;
  const cst__expr *path; /* NAMEs and STEPs */
  const cst__expr *value;
  const cst__expr **patterns;
  size_t num_patterns;
  int depth;
} cst__statement;

/* A query: its statements in their order, and the caller's functions. */
typedef struct cst__functions_of_caller cst__functions_of_caller; /* counted; query.c */

struct cst_query {
  cst_allocator allocator;
  cst__arena arena;
  cst__statement *statements;
  size_t num_statements;
  size_t capacity;
  cst__functions_of_caller *functions; /* NULL: none */
};

/* Reads statements and appends them to those of the query (parser.c). `first`: where the text
 * begins ({1, 1}), or line 0 for a part of a builder. */
cst_status cst__query_parse_statements(cst_query *query, const char *text, size_t size,
                                       cst_error *error);
/* Reads one expression, path, pattern or literal and nothing after it. */
cst_status cst__query_parse_expression(const char *text, size_t size, cst__arena *arena,
                                       const cst__expr **out, cst_error *error);
cst_status cst__query_parse_path(const char *text, size_t size, bool is_pattern, cst__arena *arena,
                                 const cst__expr **out, cst_error *error);
cst_status cst__query_parse_type(const char *text, size_t size, cst__arena *arena,
                                 const cst__type_text **out, cst_error *error);

#endif /* QUERY_TEXT_AST_H */
