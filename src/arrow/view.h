/* A read-only look at Arrow data from anywhere: one struct per array, with typed access that is the
 * same for every layout, offset width and slice. The only way in which the other rooms read arrays.
 *
 * Source: Apache Arrow format documentation ("Arrow columnar format", "The Arrow C data
 * interface").
 */
#ifndef ARROW_VIEW_H
#define ARROW_VIEW_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>
#include <string.h>

#include "arrow/layout.h"
#include "base/alloc.h"
#include "base/hash.h"

/* Slots of layout OPAQUE are `fixed_size` bytes that are carried along and never looked into. What
 * lies in an array of layout OTHER is not looked at, unless it is dictionary-encoded: then dtype,
 * data and validity are those of the indices. Readers refuse the layout with CST_UNSUPPORTED. */

/* Above this, bytes of a buffer no longer fit 64 bits: no array is that long. */
#define CST__MAX_SLOTS (INT64_MAX / 64)

typedef struct cst__view cst__view;
struct cst__view {
  cst__layout layout;
  cst_dtype dtype;         /* NUMBER: the type; BINARY kinds: BYTES */
  bool is_string;          /* declared as UTF-8 */
  int offset_width;        /* 4 or 8, for BINARY, LIST and LIST_VIEW */
  int64_t length;          /* slots of this slice */
  int64_t offset;          /* first slot within the buffers (already includes parents' slices) */
  int64_t null_count;      /* exact, of this slice */
  const uint8_t *validity; /* bitmap from slot 0 of the buffers; NULL: no nulls */
  const void *data; /* NUMBER: values from slot 0; BINARY: bytes; BINARY_VIEW: the 16-byte views */
  const void *offsets;  /* BINARY, LIST, LIST_VIEW; may be NULL if length is 0 */
  const void *sizes;    /* LIST_VIEW */
  int64_t num_variadic; /* BINARY_VIEW: data buffers of the array */
  int64_t fixed_size;   /* FIXED_LIST: items a slot; FIXED_BINARY, OPAQUE: bytes a slot */
  int64_t num_children;
  cst__view *children;
  cst__view *dictionary; /* OTHER: the values that integers stand for; NULL: not encoded */
  const char *name;      /* of the field, borrowed from the schema; "" if it has none */
  const char *format;    /* borrowed from the schema; "dictionary" where it is encoded */
  const struct ArrowSchema *schema; /* what it was made of, both borrowed; NULL: it is made up, */
  const struct ArrowArray *array;   /* or a type alone */
};

/* Looks at `array`. `arena` holds the views, which borrow everything else. Unless `trusted`, the
 * data is validated fully (null counts, offsets, child lengths, UTF-8 of strings, view references;
 * how large a buffer is, Arrow's C interface does not tell): CST_CORRUPT with the column's path.
 * Wrong or released structs are CST_INVALID_ARGUMENT, buffers that are not aligned to their
 * elements CST_UNSUPPORTED, lengths without memory to back them CST_LIMIT. Depth is limited to
 * 100. Trusted views cost no time per slot, but for null counts that are not given. */
cst_status cst__view_init(cst__view *view, const struct ArrowSchema *schema,
                          const struct ArrowArray *array, bool trusted, cst__arena *arena,
                          cst_error *error);

/* Validated records: a view of a binary array without nulls, or of the only column of a struct
 * without nulls. CST_INVALID_ARGUMENT for other types, and for nulls. */
cst_status cst__view_init_records(cst__view *view, const struct ArrowSchema *schema,
                                  const struct ArrowArray *records, cst__arena *arena,
                                  cst_error *error);

/* The type alone: a view of zero slots, for checks that need no data. */
cst_status cst__view_init_schema(cst__view *view, const struct ArrowSchema *schema,
                                 cst__arena *arena, cst_error *error);

/* A view of `count` nulls of the type of another view; all its buffers are the same zeros. */
cst_status cst__view_nulls(const cst__view *like, int64_t count, cst__arena *arena, cst__view *out,
                           cst_error *error);

/* CST_UNSUPPORTED with its row if a slot is null, such as a row of a batch as a whole; `what` names
 * it. Its fields have values then that are not to be seen. */
cst_status cst__view_refuse_nulls(const cst__view *view, const char *what, cst_error *error);

static inline bool cst__view_is_null(const cst__view *v, int64_t i) {
  int64_t at = v->offset + i;
  return v->layout == CST__LAYOUT_NULL ||
         (v->validity != NULL && !((v->validity[at >> 3] >> (at & 7)) & 1));
}

/* One entry of an offsets or sizes buffer of the given width. */
static inline int64_t cst__view_entry(const void *entries, int width, int64_t at) {
  if (width == 8) {
    return ((const int64_t *)entries)[at];
  }
  return ((const int32_t *)entries)[at];
}

/* The bytes of data buffer i, and how many there are. */
static inline const void *cst__view_block(const cst__view *v, int64_t i) {
  return v->array->buffers[2 + i];
}
static inline int64_t cst__view_block_size(const cst__view *v, int64_t i) {
  return ((const int64_t *)v->array->buffers[2 + v->num_variadic])[i];
}

/* Whether a bool is true; not asked of null ones. */
static inline bool cst__view_bool(const cst__view *v, int64_t i) {
  int64_t at = v->offset + i;
  return (((const uint8_t *)v->data)[at >> 3] >> (at & 7)) & 1;
}

/* An integer of any width; one above INT64_MAX comes out negative. */
static inline int64_t cst__view_int(const cst__view *v, int64_t i) {
  int64_t at = v->offset + i;
  switch (v->dtype) {
    case CST_DTYPE_INT8:
      return ((const int8_t *)v->data)[at];
    case CST_DTYPE_UINT8:
      return ((const uint8_t *)v->data)[at];
    case CST_DTYPE_INT16:
      return ((const int16_t *)v->data)[at];
    case CST_DTYPE_UINT16:
      return ((const uint16_t *)v->data)[at];
    case CST_DTYPE_INT32:
      return ((const int32_t *)v->data)[at];
    case CST_DTYPE_UINT32:
      return ((const uint32_t *)v->data)[at];
    default:
      return ((const int64_t *)v->data)[at];
  }
}

/* The bytes of a BINARY, BINARY_VIEW or FIXED_BINARY slot; none for a null one. */
cst_bytes cst__view_bytes(const cst__view *v, int64_t i);

/* The items [*begin, *end) of children[0] that list slot i (of LIST, FIXED_LIST or LIST_VIEW)
 * holds, as slots of the child's view: its accessors add its own offset. An empty range for a null
 * slot, whatever lies under it. */
void cst__view_list(const cst__view *v, int64_t i, int64_t *begin, int64_t *end);

static inline bool cst__view_is_list(const cst__view *v) { return cst__layout_is_list(v->layout); }

/* The most items that the lists of a view may hold together, however often they share them: lists
 * that claim more in little memory are refused with CST_LIMIT. */
static inline int64_t cst__view_most_items(const cst__view *lists) {
  int64_t slots = lists->length + lists->children[0].length;
  return (slots < INT64_MAX / 128 ? slots * 64 : INT64_MAX / 2) + ((int64_t)1 << 22);
}

/* "large_list<int64>", "struct<2 fields>", "timestamp": for messages; at most n bytes. */
void cst__view_type_name(const cst__view *v, char *buf, size_t n);

/* The set bits among `length` from bit `offset` on. */
int64_t cst__bitmap_count(const uint8_t *bitmap, int64_t offset, int64_t length);

/* ---- schemas ---- */

/* The format of the C data interface for values of the type; for BYTES that of large_binary. */
const char *cst__dtype_format(cst_dtype dtype);

/* CST_UNSUPPORTED, with the path, if there is a union, a run-end encoded column or a type of no
 * known name at any depth: nobody looks into them, so they are let in nowhere. The schema is whole
 * (cst__schema_copy has made it, for one). */
cst_status cst__schema_check_types(const struct ArrowSchema *schema, cst_error *error);

/* All that a schema may have, at any depth: one that leads back to itself has no end. */
enum { CST__MAX_FIELDS = 1 << 20 };

/* What comes from outside is checked by these two before anything else walks through it: a part
 * that is missing or released is CST_INVALID_ARGUMENT, more than CST__MAX_FIELDS fields or
 * CST__TYPE_MAX_DEPTH levels are CST_LIMIT. An array has to have the children and dictionaries of
 * its schema, and its pointers to buffers, also where no view looks. cst__view_init does both for
 * arrays that are not trusted. */
cst_status cst__schema_check_whole(const struct ArrowSchema *schema, cst_error *error);
cst_status cst__array_check_whole(const struct ArrowSchema *schema, const struct ArrowArray *array,
                                  cst_error *error);

/* A deep copy (dictionaries and metadata included). It is made with the C library's allocator, and
 * released through its own release callback. */
cst_status cst__schema_copy(const struct ArrowSchema *schema, struct ArrowSchema *out,
                            cst_error *error);

/* Compares names, types and nullability of the children, at any depth; metadata is not compared,
 * nor the root's own name and nullability. */
bool cst__schema_equal(const struct ArrowSchema *a, const struct ArrowSchema *b);

/* CST_SCHEMA if the schemas, both whole, are not equal in this sense: the error has the path of the
 * first column that differs, and says what is there and what `expected` has. */
cst_status cst__schema_check_equal(const struct ArrowSchema *found,
                                   const struct ArrowSchema *expected, const char *hint,
                                   cst_error *error);

/* CST_INVALID_ARGUMENT, with the path, if two fields of a struct have one name. */
cst_status cst__schema_check_names(const struct ArrowSchema *schema, cst_error *error);

/* Notes the children of all structs in the view, by their structs, under the first of each name;
 * the view must outlive the map. False: no memory. */
bool cst__view_index(const cst__view *view, cst__name_map *children);

#endif /* ARROW_VIEW_H */
