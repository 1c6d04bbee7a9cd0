/* Arrow types and values: parses a format string of the Arrow C data interface, and finds the
 * value of a row, for programs that read batches without an Arrow library.
 *
 * Nothing here allocates, and all results are borrowed from the schema or the array. Arrays are
 * trusted: those that this library has made or checked are valid.
 */
#ifndef COLUMNSTONE_ARROW_H
#define COLUMNSTONE_ARROW_H

#include <columnstone/arrow_abi.h>
#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cst_arrow_kind {
  CST_ARROW_OTHER = 0, /* unions, run-end encoded arrays, formats that are not known */
  CST_ARROW_NULL = 1,
  CST_ARROW_BOOL = 2,
  CST_ARROW_INT = 3,
  CST_ARROW_UINT = 4,
  CST_ARROW_FLOAT = 5,
  CST_ARROW_BINARY = 6,
  CST_ARROW_STRING = 7,
  CST_ARROW_FIXED_BINARY = 8,
  CST_ARROW_LIST = 9,
  CST_ARROW_FIXED_LIST = 10,
  CST_ARROW_MAP = 11,
  CST_ARROW_STRUCT = 12,
  CST_ARROW_DATE = 13,
  CST_ARROW_TIME = 14, /* of the day */
  CST_ARROW_TIMESTAMP = 15,
  CST_ARROW_DURATION = 16,
  CST_ARROW_INTERVAL = 17,
  CST_ARROW_DECIMAL = 18
} cst_arrow_kind;

/* One type. Its children are those of the schema; a type that is dictionary-encoded is that of its
 * indices, and the type of the values is that of schema->dictionary. Members that a kind does not
 * have are 0. */
typedef struct cst_arrow_type {
  cst_arrow_kind kind;
  int32_t width;        /* bytes a slot takes in the values, where it is fixed; bools are bits: 0 */
  int32_t offset_width; /* 4 or 8: of strings, lists and maps, whether by offsets or by views */
  bool is_view;         /* binary_view, string_view, list_view, large_list_view */
  bool is_nullable;     /* as the schema says */
  char unit;            /* times: 's', 'm', 'u' or 'n' ("seconds" to "nanoseconds"); dates: 'D' for
                           days, 'm'; intervals: 'M' for months, 'D' for days and milliseconds, 'n'
                           for months, days and nanoseconds */
  int32_t num_items;    /* of a slot of a fixed-size list */
  int32_t num_buffers;  /* of an array; binary views have more, by their blocks */
  int32_t precision;    /* decimals */
  int32_t scale;        /* decimals */
  const char *time_zone; /* timestamps; "": none */
} cst_arrow_type;

/* Takes a type apart. Formats that are not known are CST_ARROW_OTHER. */
CST_API cst_status cst_arrow_type_read(const struct ArrowSchema *schema, cst_arrow_type *out,
                                       cst_error *error);

/* Bytes of a buffer, as far as the slots up to array->offset + array->length need it: what Arrow's
 * C interface does not say. -1 for types that are CST_ARROW_OTHER, and for buffers that there are
 * not. */
CST_API int64_t cst_arrow_buffer_size(const struct ArrowSchema *schema,
                                      const struct ArrowArray *array, int64_t buffer);

/* ---- slots, counted from array->offset on ---- */

/* Whether a slot is null. */
CST_API bool cst_arrow_is_null(const struct ArrowSchema *schema, const struct ArrowArray *array,
                               int64_t slot);

/* The bytes of a slot of a (fixed-size, large) binary, string, or view of either; {NULL, 0} for
 * other types. */
CST_API cst_bytes cst_arrow_bytes_at(const struct ArrowSchema *schema,
                                     const struct ArrowArray *array, int64_t slot);

/* The items [*begin, *end) of a slot of lists of any layout, or of a map: slots of the child. False
 * for other types. */
CST_API bool cst_arrow_list_at(const struct ArrowSchema *schema, const struct ArrowArray *array,
                               int64_t slot, int64_t *begin, int64_t *end);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_ARROW_H */
