/* The layouts of Arrow arrays, and which of them a format string of the C data interface means.
 *
 * Source: Apache Arrow format documentation ("Arrow columnar format", "The Arrow C data
 * interface").
 */
#ifndef ARROW_LAYOUT_H
#define ARROW_LAYOUT_H

#include <columnstone/status.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum cst__layout {
  CST__LAYOUT_NULL,
  CST__LAYOUT_BOOL,
  CST__LAYOUT_NUMBER, /* fixed width: see `dtype` */
  CST__LAYOUT_HALF,
  CST__LAYOUT_BINARY,      /* (large_)binary, (large_)string: see `offset_width` */
  CST__LAYOUT_BINARY_VIEW, /* binary_view, string_view */
  CST__LAYOUT_FIXED_BINARY,
  CST__LAYOUT_LIST, /* list, large_list, map */
  CST__LAYOUT_FIXED_LIST,
  CST__LAYOUT_LIST_VIEW, /* list_view, large_list_view */
  CST__LAYOUT_STRUCT,
  CST__LAYOUT_OPAQUE, /* dates, times, durations, intervals, decimals: see `format` */
  CST__LAYOUT_OTHER   /* dictionary, union, run-end, unknown: see `format` */
} cst__layout;

typedef struct cst__layout_info {
  const char *format;
  cst__layout layout;
  cst_dtype dtype;
  bool is_string;
  int offset_width;
  int num_buffers;  /* at least, for views: exactly otherwise */
  int num_children; /* -1: any */
  const char *name; /* "large_list", ...; "" for OPAQUE and OTHER */
} cst__layout_info;

/* What a format means; never NULL. *fixed_size is set to the items of a FIXED_LIST and the bytes of
 * a slot of FIXED_BINARY and OPAQUE, and else left as it is. */
const cst__layout_info *cst__layout_find(const char *format, int64_t *fixed_size);

/* Lists of all layouts, maps too. */
static inline bool cst__layout_is_list(cst__layout layout) {
  return layout == CST__LAYOUT_LIST || layout == CST__LAYOUT_FIXED_LIST ||
         layout == CST__LAYOUT_LIST_VIEW;
}
bool cst__format_is_list(const char *format);

/* "large_list", "timestamp", "unknown": for messages. "dictionary" is the name of itself. */
const char *cst__layout_name(const char *format);

/* The most values that indices of an integer type count in a dictionary. */
size_t cst__index_limit(cst_dtype indices);

#endif /* ARROW_LAYOUT_H */
