/* Writing values: a tree of what becomes of each column, as settled before there are any rows, and
 * the rows that are written by it.
 *
 * Flow: avro_encode.c makes the tree of a schema that it derives from the columns, avro_fit.c that
 * of a schema that is given. For each batch avro_rows.c lays the tree out as steps, beside the
 * buffers of the columns, and takes them for each row; avro_put.c has the values that are rare.
 */
#ifndef AVRO_AVRO_PUT_H
#define AVRO_AVRO_PUT_H

#include "arrow/view.h"
#include "avro/avro_schema.h"
#include "base/hash.h"

typedef enum cst__avro_put_kind {
  CST__AVRO_ADD_NULL,
  CST__AVRO_ADD_DEFAULT, /* `bytes`: there is no such column */
  CST__AVRO_ADD_BOOL,
  CST__AVRO_ADD_INT,
  CST__AVRO_ADD_INT_WITHIN, /* from 0 or INT32_MIN to `most` */
  CST__AVRO_ADD_UINT64,
  CST__AVRO_ADD_REAL,  /* a number of another type, if it is exact */
  CST__AVRO_ADD_FIXED, /* bytes as they lie there: floats, and fixed-size binary */
  CST__AVRO_ADD_BYTES,
  CST__AVRO_ADD_TEXT,  /* bytes, if they are UTF-8 */
  CST__AVRO_ADD_SIZED, /* bytes, if they are `width` */
  CST__AVRO_ADD_VALUE, /* bytes, if they are a value of `type` */
  CST__AVRO_ADD_ENUM,  /* text, if it is one of `symbols` */
  CST__AVRO_ADD_DECIMAL,
  CST__AVRO_ADD_DECIMAL_FIXED, /* in `size` bytes */
  CST__AVRO_ADD_TIME,
  CST__AVRO_ADD_DURATION,
  CST__AVRO_ADD_DICTIONARY, /* the value that the index stands for, by the only child */
  CST__AVRO_ADD_LIST,       /* and maps, whose items are structs */
  CST__AVRO_ADD_STRUCT,
  CST__AVRO_ADD_UNION /* the child that is set */
} cst__avro_put_kind;

typedef struct cst__avro_put cst__avro_put;
struct cst__avro_put {
  cst__avro_put_kind kind;
  bool is_nullable; /* a null is `null_branch`; else it is an error */
  bool has_branch;  /* values of a union: `branch` is before them */
  uint32_t null_branch;
  uint32_t branch;
  size_t width; /* of the column's slots: FIXED, SIZED, DECIMAL, TIME, REAL */
  union {
    size_t size; /* that is written: DECIMAL_FIXED, REAL */
    struct {
      int64_t least, most;
    } range; /* INT_WITHIN */
    struct {
      int64_t times; /* the value times this, */
      int64_t over;  /* or over this, if it is more than 1 */
    } time;
    cst_bytes bytes;              /* DEFAULT */
    const cst__name_map *symbols; /* ENUM */
    const cst__avro_type *type;   /* VALUE */
  };
  cst__avro_put *children;
  size_t num_children;
  size_t column;    /* of a struct's child: which child of the view */
  const char *name; /* of the field, for errors */
};

/* Steps for one batch. */
typedef struct cst__avro_rows {
  struct cst__avro_put_step *steps;
  size_t count;
  size_t capacity;
} cst__avro_rows;

/* Lays out the steps for the rows of a batch, which is borrowed. */
cst_status cst__avro_rows_bind(cst__avro_rows *rows, const cst__avro_put *root,
                               const cst__view *batch, const cst_allocator *allocator,
                               cst_error *error);
void cst__avro_rows_reset(cst__avro_rows *rows);

/* Appends the rows from *row on until `end`, or until there are `enough` bytes; *row is the one
 * after them. On failure (CST_UNSUPPORTED, with row and path, for a value that Avro's type does not
 * hold; CST_NO_MEMORY) it is the one that failed, of which a part may be there. */
cst_status cst__avro_rows_put(const cst__avro_rows *rows, int64_t *row, int64_t end, size_t enough,
                              cst__text *out, cst_error *error);

/* Appends a value that is not null, without its branch, of a kind without children. */
cst_status cst__avro_put_value(const cst__avro_put *node, const cst__view *view, int64_t i,
                               cst__text *out, cst_error *error);

#endif /* AVRO_AVRO_PUT_H */
