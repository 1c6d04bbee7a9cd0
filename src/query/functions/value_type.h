/* What the types of values are to functions: kinds, and the types that several have in common.
 */
#ifndef QUERY_FUNCTIONS_VALUE_TYPE_H
#define QUERY_FUNCTIONS_VALUE_TYPE_H

#include "query/functions/function.h"

typedef enum cst__value_kind {
  CST__VALUE_NULL,
  CST__VALUE_BOOL,
  CST__VALUE_INT,
  CST__VALUE_FLOAT,
  CST__VALUE_TEXT,
  CST__VALUE_BYTES,
  CST__VALUE_OTHER, /* times, durations, decimals: `width` bytes that are a signed integer */
  CST__VALUE_NONE   /* a struct, or what nothing is known of */
} cst__value_kind;

typedef struct cst__value_info {
  cst__value_kind kind;
  bool is_signed;  /* INT */
  bool has_order;  /* values can be compared by < */
  int width;       /* bytes of a slot; 0: BOOL, TEXT, BYTES, NULL, NONE */
  cst_dtype dtype; /* INT, FLOAT (but for float16); OTHER: the integer, NONE if it is wider */
} cst__value_info;

cst__value_info cst__value_info_of(cst__value_type type);

static inline cst__value_kind cst__value_kind_of(cst__value_type type) {
  return cst__value_info_of(type).kind;
}

static inline bool cst__value_is_number(cst__value_type type) {
  cst__value_kind kind = cst__value_kind_of(type);
  return kind == CST__VALUE_INT || kind == CST__VALUE_FLOAT;
}

bool cst__value_type_equal(cst__value_type a, cst__value_type b);

/* The one type that results have of those that differ by layout only: text "U", bytes "Z"; and "f"
 * for float16. */
cst__value_type cst__value_type_plain(cst__value_type type);

/* The type that values of both can have without a loss that the language does not want; false if
 * there is none. Either may be null. */
bool cst__value_type_common(cst__value_type a, cst__value_type b, cst__value_type *out);

/* The same of all arguments from `first` on (to `end`, exclusive), where literals take the type of
 * the others if they fit it. Sets *out, and `casts` of those arguments that are not of it. Failures
 * name the function and what was found. */
typedef struct cst__argument_range {
  size_t first;
  size_t end;
} cst__argument_range;

cst_status cst__arguments_common(const cst__function *function, const cst__argument_type *args,
                                 cst__argument_range range, cst__signature *signature,
                                 cst__value_type *out, cst_error *error);

/* Whether the value of a literal can be one of this type. */
bool cst__literal_fits(const cst__literal *literal, cst__value_type type);
/* CST_SCHEMA if it, or one of a list, is an integer that this float type would round. */
cst_status cst__literal_exact(const cst__literal *literal, cst__value_type type, cst_error *error);

/* Fails about argument `i` (from 0 on): what was found, and what was expected. */
cst_status cst__argument_fail(const cst__function *function, const cst__argument_type *args,
                              size_t i, const char *expected, const char *hint, cst_error *error);

#endif /* QUERY_FUNCTIONS_VALUE_TYPE_H */
