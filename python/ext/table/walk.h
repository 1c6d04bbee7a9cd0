/* The walk over Python's own data, which objects.c does, and its errors. */
#ifndef COLUMNSTONE_PY_WALK_H
#define COLUMNSTONE_PY_WALK_H

#include "ext/table/grow.h"

enum { CST__PY_MAX_NESTING = 60 };

typedef struct cst__py_walk {
  cst__py_state *state;
  int64_t row; /* -1: the value is in none */
  int depth;
  PyObject *name;                  /* str: what the root is called in errors; NULL: nothing */
  PyObject *dates;                 /* the module datetime */
  bool is_nested;                  /* one nested value: all dicts of a column have the same keys */
  int level;                       /* lists that the value is in, of a nested one */
  int64_t at[CST__PY_MAX_NESTING]; /* its place in each */
} cst__py_walk;

/* All set an exception about the value that was to be added to the column, and return -1. */

int cst__py_walk_fail(cst__py_walk *w, const cst__py_column *c, cst_status code,
                      const char *message, const char *hint);
/* `result`: what cst__py_column_add, or _become, has answered. */
int cst__py_walk_fail_fit(cst__py_walk *w, const cst__py_column *c, PyObject *value, int result);
int cst__py_walk_fail_null(cst__py_walk *w, const cst__py_column *c);
/* For an object of a class that has no Arrow type. */
int cst__py_walk_fail_class(cst__py_walk *w, const cst__py_column *c, PyObject *value,
                            const char *hint);
/* For an int beyond 64 bits. */
int cst__py_walk_fail_big(cst__py_walk *w, const cst__py_column *c);
/* For a list that has not as many values as its type says. */
int cst__py_walk_fail_size(cst__py_walk *w, const cst__py_column *c, int64_t found);
/* For a key that no field may have. */
int cst__py_walk_fail_key(cst__py_walk *w, const cst__py_column *c, PyObject *key);
/* For a dict that lacks the key of a field. */
int cst__py_walk_fail_missing(cst__py_walk *w, const cst__py_column *field);

#endif /* COLUMNSTONE_PY_WALK_H */
