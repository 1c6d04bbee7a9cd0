/* The tree of a query: statements, and the expressions in them, as they were written.
 *
 * A tree lies in an arena and is not changed once it is made. Operators are calls: `a + b` is a
 * call of "add" (functions/function.h lists all), so that there is one way to name what is done.
 */
#ifndef QUERY_TEXT_AST_H
#define QUERY_TEXT_AST_H

#include <columnstone/query.h>

#include "base/alloc.h"
#include "base/thread.h"

/* Limits of a query; what goes beyond is CST_LIMIT. */
enum {
  CST__QUERY_MAX_SIZE = 1 << 20, /* bytes of text, all parts together */
  CST__QUERY_MAX_HEIGHT = 250,   /* levels of a tree of expressions */
  CST__QUERY_MAX_NAME = 1000,    /* bytes of a name */
  CST__QUERY_MAX_DEPTH = 60,     /* of `depth` */
  CST__QUERY_MAX_STATEMENTS = 10000
};

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
  CST__EXPR_LIST,   /* [args...]: literals, and names of parameters */
  CST__EXPR_NAME,   /* name: the first step of a path, a let, a parameter */
  CST__EXPR_IT,
  CST__EXPR_RECORD,
  CST__EXPR_STEP,   /* args[0].name; "(shop.extra)" has its parentheses; "*" and "**" in patterns
                       (a pattern that is nothing else is a NAME) */
  CST__EXPR_AT,     /* args[0][args[1]] */
  CST__EXPR_SLICE,  /* args[0][args[1] : args[2] : args[3]]; NULL where left out */
  CST__EXPR_WHERE,  /* args[0] where args[1] */
  CST__EXPR_CALL,   /* name(args...), keys[i] the keyword of each, or NULL */
  CST__EXPR_STRUCT, /* {keys[i]: args[i]} */
  CST__EXPR_TYPE    /* name: a type, as cast(x, int64) has it; cst__query_type_format has more */
} cst__expr_kind;

typedef struct cst__expr cst__expr;
struct cst__expr {
  cst__expr_kind kind;
  cst__text_at at;
  bool is_bytes;
  uint16_t height;  /* levels from here down, so that whoever walks a tree knows how deep it is */
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
  const char *name;   /* "int64"; "" for lists, structs and types that are written as a format */
  const char *format; /* Arrow format: "l"; "+L", "+s" */
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

/* Where the trees of statements lie that were added together. Counted: copies of a query share it.
 */
typedef struct cst__query_part cst__query_part;

/* A function of the caller's. Counted; query.c. */
typedef struct cst__caller_function {
  cst__refcount refs;
  cst_query_function function; /* its strings are owned */
  const char *format;          /* of its type */
} cst__caller_function;

/* A query: its statements in their order, and the caller's functions. */
struct cst_query {
  cst_allocator allocator;
  cst__statement *statements;
  size_t num_statements;
  size_t statement_capacity;
  cst__query_part **parts; /* that the statements are in */
  size_t num_parts;
  size_t part_capacity;
  cst__caller_function **functions;
  size_t num_functions;
  size_t function_capacity;
  size_t text_size; /* of all parts together */
};

/* NULL if the caller has given none of this name. */
cst__caller_function *cst__query_find_function(const cst_query *query, const char *name);

/* Statements in an arena, as they are read. */
typedef struct cst__statement_list {
  cst__statement *items;
  size_t count;
} cst__statement_list;

/* Reads statements. Failures are CST_INVALID_ARGUMENT (CST_LIMIT, CST_NO_MEMORY) with line and
 * column. `is_part`: places are those of no text (line 0). */
cst_status cst__query_parse_statements(cst_bytes text, cst__arena *arena, cst__statement_list *out,
                                       cst_error *error);

/* The same for a part that a builder adds, which has to be just this and nothing after it. */
cst_status cst__query_parse_expression(const char *text, cst__arena *arena, const cst__expr **out,
                                       cst_error *error);
cst_status cst__query_parse_literal(const char *text, cst__arena *arena, const cst__expr **out,
                                    cst_error *error);
cst_status cst__query_parse_path(const char *text, cst__arena *arena, const cst__expr **out,
                                 cst_error *error);
cst_status cst__query_parse_pattern(const char *text, cst__arena *arena, const cst__expr **out,
                                    cst_error *error);
/* A type that parameters may have. */
cst_status cst__query_parse_param_type(const char *text, cst__arena *arena,
                                       const cst__type_text **out, cst_error *error);

/* The Arrow format of a type by its name ("l" for "int64"); NULL: no such type. */
const char *cst__query_type_format(const char *name);

/* An expression in its usual spelling, on one line. */
void cst__query_print_expression(const cst__expr *expr, cst__text *out);
void cst__query_print_type(const cst__type_text *type, cst__text *out);
/* All statements, each on a line of its own. */
void cst__query_print(const cst_query *query, cst__text *out);

#endif /* QUERY_TEXT_AST_H */
