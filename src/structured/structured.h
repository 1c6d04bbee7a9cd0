/* The handle of <columnstone/structured.h>, and the functions of that header without the checks of
 * arguments.
 *
 * The words: a tensor has *dimensions*; below the first, each is a *level* of lists of its array,
 * and one list of it, at one place of the dimensions above, is a *row* (so in messages and in
 * Python; the rows of an array are what Arrow calls so). *Elements* lie below all dimensions:
 * structs or values. Arrays have *slots*; a *place* is a number among what has been opened, from 0
 * on. What is not there is *null*.
 *
 * An operation is one of two things. It moves elements: dimensions are opened (levels.h), lists and
 * elements are made anew. If it chooses, it is a walk (selection.h: index_items.c, elements.c,
 * where.c); whole dimensions are arrange.c and join.c. Or it changes what lies in the structs: it
 * goes down the view of its array, puts shared parts and new ones together (made.h), and copies the
 * type once, at the end (field.c, only.c, like.c, tensor_nulls.c). Several paths are sorted first
 * (branches.h) and changed in one walk (edit.h), for which update.c makes fields of given values
 * and transfer.c promotes and broadcasts.
 *
 * st["event.query", :, 0] in Python: python/ext/structured/key.c makes a cst_index_item of each
 * part of the key; index_items.c looks up the names (field.c, only.c: no copy), and takes what is
 * left as dimensions: rows that follow each other are a slice, everything else is a walk with a
 * step per item, whose end takes the elements once, by the kernels of src/nested.
 */
#ifndef STRUCTURED_STRUCTURED_H
#define STRUCTURED_STRUCTURED_H

#include <columnstone/structured.h>

#include "nested/slots.h"
#include "table/array.h"

struct cst_structured {
  cst__refcount owners;
  bool is_row;
  bool is_struct;
  size_t num_lists; /* levels of lists at the top of the array's type */
  cst_array *array;
  cst__arena arena; /* holds the views */
  cst__view view;   /* of the array, with all that lies below */
};

/* cst_structured_new of an array that is taken over, also on failure. */
cst_status cst__structured_result(cst_array *array, bool is_row, cst_structured **out,
                                  cst_error *error);

static inline size_t cst__structured_rank(const cst_structured *tensor) {
  return tensor->num_lists + !tensor->is_row;
}

/* The elements, below all lists; slots that lists do not reach as well. */
const cst__view *cst__structured_elements(const cst_structured *tensor);

/* The place of a field in structs. CST_NOT_FOUND with near names; CST_SCHEMA if they are none. */
cst_status cst__field_find(const cst__view *structs, const char *name, int64_t *place,
                           cst_error *error);

#endif /* STRUCTURED_STRUCTURED_H */
