/* The Arrow C Data and C Stream interfaces: the only currency between Columnstone and the outside.
 *
 * Source: "The Arrow C data interface" and "The Arrow C stream interface", Apache Arrow format
 * documentation. The guards are the ones that the specification asks for, so that this header can
 * be included beside any other copy of these declarations.
 *
 * What is handed to the library need not be trusted, unless a flag says so: schemas and arrays are
 * checked before they are walked through. Missing or released parts, other children or dictionaries
 * than those of the type, and negative numbers are CST_INVALID_ARGUMENT or CST_CORRUPT; more than
 * 100 levels or 2^20 fields, as structs that contain themselves have them, are CST_LIMIT. How large
 * a buffer is, the interface does not tell.
 */
#ifndef COLUMNSTONE_ARROW_ABI_H
#define COLUMNSTONE_ARROW_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_ARROW_ABI_H */
