/* Values on their way into a tf.Example, written back to front: when a list's values stand there,
 * its length is known and goes before them, and so on outwards. One pass, no sizes in advance.
 */
#ifndef DECODE_VALUE_WRITER_H
#define DECODE_VALUE_WRITER_H

#include "arrow/records/back.h"
#include "arrow/view.h"

/* What stops a value from being written. */
typedef enum cst__value_fault {
  CST__VALUE_OK,
  CST__VALUE_TOO_LARGE, /* an integer above 2^63 - 1 */
  CST__VALUE_INEXACT    /* a float64 that float32 does not hold */
} cst__value_fault;

/* Writes slots [begin, end) of a view before `*at`: the content of a packed or repeated field
 * of one kind. There is room for them (cst__values_bound). Null slots must have been refused
 * before. */
typedef cst__value_fault (*cst__put_values)(const cst__view *view, int64_t begin, int64_t end,
                                            bool lossy, uint8_t **at);

/* How values of this type are written: the tag of their kind in Feature, and the writer; false if a
 * tf.Example cannot hold the type. */
bool cst__value_writer(const cst__view *view, uint8_t *tag, cst__put_values *put);

/* No fewer bytes than slots [begin, end) take. False: more than can be counted. */
bool cst__any_values_bound(const cst__view *view, int64_t begin, int64_t end, size_t *bytes);

static inline bool cst__values_bound(const cst__view *view, int64_t begin, int64_t end,
                                     size_t *bytes) {
  if (view->layout == CST__LAYOUT_NUMBER) {
    return cst__mul((size_t)(end - begin), CST__MAX_VARINT, bytes);
  }
  return cst__any_values_bound(view, begin, end, bytes);
}

#endif /* DECODE_VALUE_WRITER_H */
