/* The Arrow C data and C stream interfaces, by which all data comes in and goes out.
 *
 * Source: "The Arrow C data interface" and "The Arrow C stream interface", Apache Arrow format
 * documentation. The guards are those of the specification, so that this header can be included
 * beside any other copy of these declarations.
 *
 * Schemas and arrays that the library receives may be untrusted, unless a flag says otherwise:
 * they are checked before use. Missing or released parts, children or dictionaries that do not fit
 * the type, and negative numbers are CST_INVALID_ARGUMENT or CST_CORRUPT; more than 100 levels or
 * 2^20 fields, such as structs that contain themselves, are CST_LIMIT. The interface does not
 * contain the sizes of buffers, which cannot be checked.
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
