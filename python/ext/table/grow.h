/* Columns that grow by one value at a time, and have a given type, or find theirs as they grow. */
#ifndef COLUMNSTONE_PY_GROW_H
#define COLUMNSTONE_PY_GROW_H

#include "ext/table/table.h"

typedef enum cst__py_kind {
  CST__PY_NULL,
  CST__PY_BOOL,
  CST__PY_INT,
  CST__PY_FLOAT,
  CST__PY_DATE,      /* days since 1970 */
  CST__PY_TIMESTAMP, /* microseconds since 1970, of no time zone */
  CST__PY_INSTANT,   /* microseconds since 1970, in UTC */
  CST__PY_DURATION,  /* microseconds */
  CST__PY_TEXT,
  CST__PY_BYTES,
  CST__PY_LIST,
  CST__PY_STRUCT,
} cst__py_kind;

/* A value that is neither null nor nested. */
typedef struct cst__py_scalar {
  cst__py_kind kind;
  char letter;    /* of BOOL, INT and FLOAT: Arrow's format of the narrowest type that it came in */
  int64_t number; /* of all kinds but FLOAT, TEXT, BYTES */
  double real;
  const char *data; /* TEXT, BYTES: borrowed */
  Py_ssize_t size;
} cst__py_scalar;

typedef struct cst__py_grown {
  uint8_t *data;
  size_t size;
  size_t capacity;
} cst__py_grown;

/* A column. Its children are a list's values or a struct's fields; a field may be shorter than its
 * struct, and the rest of it is null. */
typedef struct cst__py_column {
  cst__py_kind kind;
  char letter;
  bool has_nulls;
  bool is_required;               /* never null */
  bool is_closed;                 /* STRUCT: no field is added */
  const struct ArrowSchema *type; /* given, borrowed; NULL: it is found */
  int64_t length;
  int64_t first;      /* the row that told the kind; -1: the caller did */
  int64_t fixed_size; /* LIST: of each; -1: as long as they are */
  cst__py_grown valid;
  cst__py_grown values;  /* numbers: 8 bytes each; TEXT, BYTES: theirs */
  cst__py_grown offsets; /* TEXT, BYTES, LIST */
  struct cst__py_column *parent;
  PyObject *name; /* str; NULL: not a field */
  struct cst__py_column **children;
  size_t num_children;
  size_t guess;    /* the field that will come next, if the next row is like the last one */
  PyObject *index; /* STRUCT: name to number */
} cst__py_column;

/* Why a value is not added. */
enum {
  CST__PY_OTHER_KIND = 1, /* the column is of another kind */
  CST__PY_INEXACT = 2,    /* an int that the floats' type, or a time that the unit, does not hold */
  CST__PY_OUT_OF_RANGE = 3, /* beyond the column's given type */
};

/* A column without type and values. */
#define CST__PY_COLUMN_INIT \
  { .kind = CST__PY_NULL, .fixed_size = -1 }

/* All below: 0, or -1 with a Python exception. */

/* Gives an empty column, and those within it, a type, which is borrowed. 1: values of the type of
 * *failed cannot be made. */
int cst__py_column_set_type(cst__py_column *column, const struct ArrowSchema *type,
                            const cst__py_column **failed);
/* Brings a value into the given type of a column. Or one of the reasons. */
int cst__py_column_fit(const cst__py_column *column, cst__py_scalar *item);
/* The bits of a float of 16 bits, rounded. */
uint16_t cst__py_half_of(double real);

/* The kind of an empty column, or the same kind again. CST__PY_OTHER_KIND. */
int cst__py_column_become(cst__py_column *column, cst__py_kind kind, char letter, int64_t row);
int cst__py_column_add_null(cst__py_column *column);
/* Or one of the reasons. */
int cst__py_column_add(cst__py_column *column, const cst__py_scalar *item, int64_t row);
/* Ends a slot of a LIST or STRUCT whose values are all added. */
int cst__py_column_end(cst__py_column *column);
/* The values of a LIST. */
cst__py_column *cst__py_column_values(cst__py_column *column);
/* A new child of a LIST or STRUCT. */
cst__py_column *cst__py_column_new_child(cst__py_column *column, PyObject *name);
/* A field of a STRUCT, ready for the slot that is not ended yet. The name is a str without NUL.
 * NULL without an exception: the struct is closed, and has no such field. */
cst__py_column *cst__py_column_field(cst__py_column *column, PyObject *name);
/* The first field that has no value in the slot that is not ended yet and needs one; NULL: none. */
const cst__py_column *cst__py_column_missing(const cst__py_column *column);
/* Moves the data out as Arrow's; to be reset afterwards in any case. The schema is made of what was
 * found, or (NULL) is known. */
int cst__py_column_finish(cst__py_column *column, struct ArrowSchema *schema,
                          struct ArrowArray *array);
void cst__py_column_reset(cst__py_column *column);

#endif /* COLUMNSTONE_PY_GROW_H */
