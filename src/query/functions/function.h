/* The functions of queries: a table of functions per function, listed in functions.c.
 *
 * Elementwise functions see flat values side by side; aggregates see flat values and the offsets
 * that divide them into groups. Neither knows of places, paths or records: what calls them brings
 * all arguments to one place first, and adds the record to an error.
 */
#ifndef QUERY_FUNCTIONS_FUNCTION_H
#define QUERY_FUNCTIONS_FUNCTION_H

#include "arrow/owned.h"
#include "arrow/view.h"

/* The type of a value: an Arrow format of no lists and no structs. Text is "U" and bytes "Z" in all
 * results; arguments may have other layouts of them, but no dictionaries: cst__values_cast makes
 * values of these. Functions that look at no value (is_null, has, size, count) take "+s", too. */
typedef struct cst__value_type {
  const char *format; /* "n" for the literal null; static, or in the arena of the plan */
} cst__value_type;

/* One argument, when types are found. */
typedef struct cst__argument_type {
  cst__value_type type;
  bool is_literal; /* its value is known: `literal`; it takes the type of the others if it fits */
  const struct cst__literal *literal;
} cst__argument_type;

typedef enum cst__literal_kind {
  CST__LITERAL_NULL,
  CST__LITERAL_BOOL,
  CST__LITERAL_INT,
  CST__LITERAL_FLOAT,
  CST__LITERAL_STRING,
  CST__LITERAL_BYTES,
  CST__LITERAL_LIST /* of the kinds above, not null: for `in`, bucketize */
} cst__literal_kind;

typedef struct cst__literal {
  cst__literal_kind kind;
  int64_t integer; /* INT, BOOL */
  double number;
  cst_bytes bytes;
  const struct cst__literal *items;
  size_t num_items;
} cst__literal;

enum { CST__FUNCTION_ARGS = 4 };

/* What finding types gives: the result's type, and the type that each argument has to be cast to
 * before (format NULL: it stays as it is). A literal with a cast is made by cst__literal_array of
 * that type; one without is not looked at as a value (the type of cast(x, "int64"), a number of
 * buckets): any view will do. */
typedef struct cst__signature {
  cst__value_type result;
  cst__value_type casts[CST__FUNCTION_ARGS];
} cst__signature;

typedef enum cst__function_kind {
  CST__FUNCTION_ELEMENTWISE, /* one value per element */
  CST__FUNCTION_AGGREGATE,   /* one value per group: args[0] is divided, all others are literals */
  CST__FUNCTION_LISTWISE, /* one value per element of args[0], which is divided in the same way */
  CST__FUNCTION_EXPAND    /* one list per element (split): makes offsets and values */
} cst__function_kind;

/* A value that is the same for all has a view of length 1; a list of literals one slot per item. */
typedef struct cst__function_call {
  const cst__view *args; /* num_args; those with is_one[i] have one slot that stands for all */
  const bool *is_one;
  size_t num_args;
  const cst__literal *const *literals; /* of arguments that are literals, else NULL */
  int64_t count;                       /* elements; aggregates, listwise: of groups */
  const int64_t *offsets; /* aggregates, listwise: [count + 1], ascending, into args[0]; NULL, for
                             lenient ones: args[0] stands at the place itself, `count` slots */
  const uint8_t *null_groups; /* with offsets: [count], not 0 for a null list; NULL: none */
  bool flag;                  /* listwise: `option` is true */
  cst__value_type result;
  const cst_allocator *allocator;
} cst__function_call;

typedef struct cst__function {
  const char *name; /* "add", "log1p", "sum" */
  cst__function_kind kind;
  uint8_t min_args;
  uint8_t max_args;
  bool lenient;        /* CST_OK for args at the place where it is wanted: has, count */
  const char *option;  /* listwise: a bool that may be given by its name; NULL: none */
  const char *summary; /* one line for the reference: "log1p(x): log(1 + x)" */
  /* Finds the types. CST_SCHEMA with what was found and expected; arguments are named by number. */
  cst_status (*type)(const struct cst__function *function, const cst__argument_type *args,
                     size_t num_args, cst__signature *out, cst_error *error);
  /* Makes the result, an owned array of call->result with call->count slots. An error about an
   * element has its number (for aggregates and listwise ones: the group's) as its record.
   * CST_SCHEMA for values that do not fit (overflow, division by zero, lossy casts). */
  cst_status (*eval)(const struct cst__function *function, const cst__function_call *call,
                     struct ArrowArray *out, cst_error *error);
  /* EXPAND: as eval, with the offsets ([count + 1]) in *out_offsets, which cst__delete frees. A
   * null element has no values; its list is the caller's to make null. The result's type is that of
   * the values. */
  cst_status (*expand)(const cst__function_call *call, struct ArrowArray *out,
                       int64_t **out_offsets, cst_error *error);
  int op; /* of functions that share their code */
} cst__function;

/* NULL if there is no such function; `names` for near names. */
const cst__function *cst__function_find(const char *name);
const cst__function *cst__function_at(size_t i); /* NULL: no more */

/* What brings an argument to the type that its function needs: as cast(x, TYPE), but integers that
 * the float type does not hold are rounded. It is no function of the language. */
extern const cst__function cst__function_convert;

typedef struct cst__cast_way {
  cst__value_type to;
  bool rounds; /* integers that a float type does not hold; else they are errors, as all is that a
                  cast loses, but for the digits of float64 that float32 has not */
} cst__cast_way;

/* Values of one type to another. Also decodes dictionaries. */
cst_status cst__values_cast(const cst__view *from, cst__cast_way way,
                            const cst_allocator *allocator, struct ArrowArray *out,
                            cst_error *error);
/* An array of one slot (LIST: one per item) with a literal as this type; CST_SCHEMA if it does not
 * fit it. */
cst_status cst__literal_array(const cst__literal *literal, cst__value_type type,
                              const cst_allocator *allocator, struct ArrowArray *out,
                              cst_error *error);
/* The type that a literal has by itself: int64, float64, bool, text, bytes, null; of a list: one
 * that all items fit, format NULL if there is none. */
cst__value_type cst__literal_type(const cst__literal *literal);
/* "int64" for "l"; for messages and the reference. */
const char *cst__value_type_name(cst__value_type type);
/* The type of a name ("int64", "string", "bytes"), as cast(x, TYPE) has it in a STRING literal;
 * format NULL: there is none. */
cst__value_type cst__value_type_find(const char *name, size_t size);

#endif /* QUERY_FUNCTIONS_FUNCTION_H */
