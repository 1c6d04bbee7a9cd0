/* What the encoders of tf.Example and tf.SequenceExample share: the columns of a batch as they are
 * written, and the Features message made of them.
 *
 * The last column of the last row is written first, at the end of the buffer; every length is known
 * when its place comes. Names are sorted bytewise, so that the same batch gives the same bytes.
 */
#ifndef DECODE_ENTRY_WRITER_H
#define DECODE_ENTRY_WRITER_H

#include "arrow/records/back.h"
#include "decode/example_wire.h"
#include "decode/value_writer.h"
#include "schema/schema.h"

enum {
  CST__NAME_BLOCK = 32,
  /* Tags and lengths around a name and a list: 2 + 5 for each of entry, name, Feature, kind,
   * packed; and a block before the name that is overwritten later. */
  CST__ENTRY_OVERHEAD = 48 + CST__NAME_BLOCK
};

/* How one value of a large_list becomes bytes without a call. */
typedef enum cst__single_kind {
  CST__SINGLE_NONE,
  CST__SINGLE_INT64,
  CST__SINGLE_FLOAT32,
  CST__SINGLE_BINARY
} cst__single_kind;

struct cst__ragged_source;
typedef struct cst__out_column cst__out_column;

/* Writes the content of the column's Feature for one row: nothing for null. Leaves room for the
 * entry. */
typedef cst_status (*cst__put_content)(const cst__out_column *column, int64_t row, bool lossy,
                                       cst__back *back, cst_error *error);

/* One feature of the records, as it is written from a column of a batch. */
struct cst__out_column {
  const char *name; /* the key */
  size_t name_size;
  const cst__view *view;   /* the column */
  const cst__view *values; /* what it holds: itself, or the innermost list's items */
  cst__put_values put;     /* NULL: nothing tells the kind (type null) */
  uint8_t tag;             /* of the kind in Feature; 0: none */
  bool has_null_values;    /* the values may be null: to be refused */
  const int64_t
      *offsets; /* if a large_list holds the values: its, from its first slot; else NULL */
  /* The name's field (tag, size, bytes) at the end of a block that one store copies; 0 bytes: too
   * long. */
  uint8_t name_block[CST__NAME_BLOCK];
  size_t name_field_size;
  cst__single_kind single; /* NONE: the values take the general way */
  /* Only of a part of a nested column; else NULL. */
  cst__put_content put_part;
  const struct cst__ragged_source *ragged;
};

typedef struct cst__out_columns {
  cst__out_column *items;
  size_t count;
  size_t capacity;
  const cst_allocator *allocator;
} cst__out_columns;

/* One more column at the end, with its name and view set. */
cst_status cst__add_out_column(cst__out_columns *columns, const char *name, const cst__view *view,
                               cst__out_column **out, cst_error *error);

/* What the column holds: the values of a view that is a list, or a view as it is (or one of type
 * null). CST_UNSUPPORTED for what is not a list of integers, floats or bytes. */
cst_status cst__set_out_values(cst__out_column *column, const cst__view *view, cst_error *error);

/* The feature has the column's type, or gives it one; NULL: the schema does not have it.
 * CST_SCHEMA. */
cst_status cst__check_out_column(cst__out_column *column, const cst_feature *feature,
                                 cst_error *error);

/* The values of one slot; false: null, which has none. */
bool cst__out_values(const cst__out_column *column, int64_t row, int64_t *begin, int64_t *end);

/* Sorts by name, and refuses two columns of one name. */
cst_status cst__sort_out_columns(cst__out_columns *columns, cst_error *error);

/* Writes the Features message of a row as field 1 of the record; nothing without columns. */
cst_status cst__put_features(const cst__out_columns *columns, int64_t row, bool lossy,
                             cst__back *back, cst_error *error);

/* ---- for other writers of values ---- */

/* The kind and the values [begin, end) of a Feature. Null values are refused. Makes room, and
 * leaves CST__ENTRY_OVERHEAD and the name's size before them. */
cst_status cst__put_kind(const cst__out_column *column, int64_t begin, int64_t end, bool lossy,
                         cst__back *back, cst_error *error);
/* The values alone; as above. */
cst_status cst__put_run(const cst__out_column *column, int64_t begin, int64_t end, bool lossy,
                        cst__back *back, cst_error *error);
/* The key of a map entry; there is room. */
void cst__put_name(const cst__out_column *column, cst__back *back);
/* Adds the column's name to the error; returns `status`. */
cst_status cst__at_out_column(const cst__out_column *column, cst_status status, cst_error *error);

#endif /* DECODE_ENTRY_WRITER_H */
